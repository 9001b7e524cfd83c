"""Which patch of the past each step of the decoder weights most, in the unit of the time axis."""

from __future__ import annotations

import numpy as np

from forecast_attn.audit.subject import Sight, Subject
from forecast_attn.audit.wording import per_cent
from forecast_attn.inspection.distances import back_words, span_text
from forecast_attn.inspection.findings import MOST_NAMED


def most_weighted(subject: Subject, sight: Sight) -> str:
    """`24–47 hours back (in 96 % of the windows)`, for each patch of the horizon where there are several, of very many
    for the first and the last.

    Of heads it is their mean that counts; back is from the cut-off.
    """
    weights = sight.weights.mean(axis=1)
    num_steps = weights.shape[1]
    named = list(range(num_steps)) if num_steps <= MOST_NAMED else [0, num_steps - 1]
    steps = {step: f" for steps {span_text(*_steps_of(subject, step))}" if num_steps > 1 else "" for step in named}
    places = {step: _most_often(weights[:, step].argmax(axis=-1)) for step in named}
    return ", ".join(_words(subject, *places[step], steps[step]) for step in named)


def _most_often(places: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> tuple[int, float]:
    """The place that occurs most, and in which share of the windows; of equal ones the older."""
    counts = np.bincount(places)
    return int(counts.argmax()), float(counts.max() / len(places))


def _steps_of(subject: Subject, step: int) -> tuple[int, int]:
    patches = subject.patches
    return step * patches.length + 1, min((step + 1) * patches.length, patches.horizon)


def _words(subject: Subject, place: int, share: float, steps: str) -> str:
    first = (subject.patches.num_keys - 1 - place) * subject.patches.length
    back = back_words(subject.model.schema.frequency.alias, first, first + subject.patches.length - 1)
    return f"{back}{steps} (in {per_cent(share)} of the windows)"
