"""Patterns in which mean weights lie, seen from the time that is forecast: the same hour a day before, the last hours.

A pattern is named only where it holds `MOST` of the weight and `LIFT` times what equal weights would put there.
Distances count keys: key p back from the cut-off (0 is the last) is p + s keys before the target of step s, of patches
as of steps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.frequency import UNIT_NAMES
from forecast_attn.inspection.results import Inspection, InspectionHeader
from forecast_attn.inspection.statistics import Matrix, lags_of, number_and_unit

MOST = 0.3
LIFT = 2.0
PART = 0.6
"""Share of a pattern's weight on one distance, from which on that distance is named instead."""
RECENT = 3
"""Keys before the cut-off that may be called the last ones."""
LONGER = {"min": (60, "h"), "h": (24, "D")}
"""Unit -> how many of it are one of the next longer unit."""
PERIODS = {("h", 24): "day", ("D", 7): "week", ("MS", 12): "year", ("ME", 12): "year", ("M", 12): "year"}
SAME = {"h": "hour", "min": "time of day", "D": "weekday", "MS": "month", "ME": "month", "M": "month"}

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Pattern:
    """Keys that each step may look at, in words.

    Attributes:
        words: what they are.
        mask: (steps, num_keys)
        share: weight on them, of all.
        equal: the same of equal weights.
    """

    words: str
    mask: Mask
    share: float
    equal: float

    @property
    def stands_out(self) -> bool:
        return self.share >= MOST and self.share >= LIFT * self.equal

    def __str__(self) -> str:
        return f"{self.words} ({100 * self.share:.0f} % of the weight; equal weights: {100 * self.equal:.0f} %)"


def looks_words(inspection: Inspection) -> str:
    """Words that follow "it looks": at what, seen from the target."""
    named = _pattern_words(inspection)
    if named is not None:
        return named
    largest = max((step.top[0].weight for step in inspection.steps), default=0.0)
    if largest >= LIFT / inspection.header.num_keys:
        return f"most {inspection.most_at}"
    equal = 100 / inspection.header.num_keys
    return f"at no time in particular (the largest mean weight is {100 * largest:.1f} %, equal ones are {equal:.1f} %)"


def _pattern_words(inspection: Inspection) -> str | None:
    """The pattern that holds most of the weight; None where none holds enough of it."""
    weights = inspection.mean_weights
    total = float(weights.sum())
    if not total > 0:
        return None
    patterns = [_measured(words, mask, weights / total) for words, mask in _candidates(inspection)]
    best = max(filter(lambda each: each.stands_out, patterns), key=lambda each: each.share - each.equal, default=None)
    first = _of_first_steps(inspection)
    if best is None:
        return None if first is None else f"{first}, else at no time in particular"
    named = _named_closer(best, [each for each in patterns if each.stands_out])
    covers_first = (best.mask[0] & _recent(inspection.header, RECENT)).any()
    return f"mostly at {named}" + (f"; {first}" if first is not None and not covers_first else "")


def _measured(words: str, mask: Mask, weights: Matrix) -> Pattern:
    return Pattern(words, mask, float(weights[mask].sum()), float(mask.mean()))


def _named_closer(best: Pattern, others: list[Pattern]) -> Pattern:
    """The smallest part of the pattern that has most of its weight, or all of it; of equal ones the last."""
    parts = [each for each in others if not (each.mask & ~best.mask).any() and each.share >= PART * best.share]
    return min(reversed(parts), key=lambda each: each.equal)


# --------------------------------------------------------------------------- what may be looked at


def _candidates(inspection: Inspection) -> Iterator[tuple[str, Mask]]:
    """Patterns in words, with their keys."""
    header = inspection.header
    distance = _distances(inspection)
    near = _tolerance(header)
    season = header.key_season
    if season > 1:
        whole = distance % season
        seasonal = (np.minimum(whole, season - whole) <= min(near, (season - 1) // 2)) & (distance >= season - near)
        yield _seasons_words(header), seasonal
        for count in range(1, int(distance.max()) // season + 1):
            yield _season_words(header, count), np.abs(distance - count * season) <= near
    yield from _fixed_distances(inspection, distance, near)
    yield from _fixed_lags(inspection, near)


def _distances(inspection: Inspection) -> NDArray[np.int64]:
    """(steps, num_keys) keys from each key to each step's target."""
    header = inspection.header
    ahead = np.array([-(-step.step // header.patch_length) for step in inspection.steps])
    return ahead[:, None] + lags_of(header.num_keys)


def _tolerance(header: InspectionHeader) -> int:
    """Time steps beside a distance that count as it; of patches none, they are wide enough."""
    return 1 if header.patch_length == 1 and header.key_season > 3 else 0


def _fixed_distances(inspection: Inspection, distance: NDArray[np.int64], near: int) -> Iterator[tuple[str, Mask]]:
    """The one distance before every target that has the most weight."""
    sums = np.bincount(distance.ravel(), inspection.mean_weights.ravel())
    best, season = int(sums.argmax()), inspection.header.key_season
    if season == 1 or best % season:
        words = f"what was {span_words(inspection.header, best)} before the time to forecast"
        yield words, np.abs(distance - best) <= near


def _fixed_lags(inspection: Inspection, near: int) -> Iterator[tuple[str, Mask]]:
    """The last keys known, and the one lag that has the most weight in every step."""
    header, steps = inspection.header, len(inspection.steps)
    if steps == 1:
        near = 0
    for count in range(1, RECENT + 1):
        yield f"the last {span_words(header, count)} before the cut-off", np.tile(_recent(header, count), (steps, 1))
    lag = int(np.argmax(inspection.profile[::-1]))
    if steps > 1 and lag >= RECENT:
        times = "the same time for every step: " if header.patch_length == 1 else "the same patch for every step: "
        words = f"{times}{span_words(header, lag)} before the cut-off"
        yield words, np.tile(np.abs(lags_of(header.num_keys) - lag) <= near, (steps, 1))


def _of_first_steps(inspection: Inspection) -> str | None:
    """Words on first steps that look at the last keys known, though not all steps do."""
    header, weights = inspection.header, inspection.mean_weights
    mask = _recent(header, RECENT)
    shares = weights[:, mask].sum(axis=1) / np.maximum(weights.sum(axis=1), np.finfo(float).tiny)
    looks = shares >= max(2 * MOST, LIFT * float(mask.mean()))
    count = int(np.argmin(looks)) if not looks.all() else 0
    if not 0 < count <= len(looks) // 2:
        return None
    last = inspection.steps[count - 1]
    until = last.step if last.last_step is None else last.last_step
    words = span_words(header, RECENT)
    steps = "step 1" if until == 1 else f"steps 1–{until}"
    return f"in {steps} at the last {words} ({100 * float(shares[:count].mean()):.0f} % of their weight)"


def _recent(header: InspectionHeader, count: int) -> Mask:
    """(num_keys,) the last of them."""
    return np.asarray(lags_of(header.num_keys) < count)


# --------------------------------------------------------------------------- in words


def span_words(header: InspectionHeader, keys: int) -> str:
    """Length of so many keys in time: `10 days`, `36 hours`, `1 hour`; in steps on axes without time."""
    number, unit = number_and_unit(header.frequency)
    amount = keys * header.patch_length * number
    while unit in LONGER and amount % LONGER[unit][0] == 0:
        amount, unit = amount // LONGER[unit][0], LONGER[unit][1]
    name = UNIT_NAMES.get(unit) or UNIT_NAMES.get(unit[:1])
    if name is None:
        amount, name = keys * header.patch_length, "step"
    return f"{amount} {name}{'' if amount == 1 else 's'}"


def _same(header: InspectionHeader) -> str:
    """The same hour, or hours of a patch; the same place in its season where that has no name."""
    _, unit = number_and_unit(header.frequency)
    name = SAME.get(unit) if _period(header) else None
    if name is None:
        return "the same place in the season" if header.patch_length == 1 else "the same part of the season"
    return f"the same {name}" if header.patch_length == 1 or not name.endswith("hour") else f"the same {name}s"


def _period(header: InspectionHeader) -> str | None:
    """The season by its name: day, week, year."""
    number, unit = number_and_unit(header.frequency)
    return "day" if unit == "min" and header.season * number == 1440 else PERIODS.get((unit, header.season * number))


def _near_words(header: InspectionHeader) -> str:
    return f", give or take {span_words(header, 1)}" if _tolerance(header) else ""


def _seasons_words(header: InspectionHeader) -> str:
    period = _period(header) or "season"
    return f"{_same(header)} of the {period}s before{_near_words(header)}"


def _season_words(header: InspectionHeader, count: int) -> str:
    period = _period(header) or "season"
    before = f"the {period} before" if count == 1 else f"{count} {period}s before"
    if period == "day" and count == 7:
        before = "the week before"
    return f"{_same(header)} {'of ' if count == 1 or before == 'the week before' else ''}{before}{_near_words(header)}"
