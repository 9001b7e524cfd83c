"""Patterns in which mean weights lie, seen from the time that is forecast: the same hour a day before, the last hours.

A pattern is named only where it holds `MOST` of the weight and `LIFT` times what equal weights would put there.
Distances count keys: key p back from the cut-off (0 is the last) is p + s keys before the target of step s, of patches
as of steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file.attention_schema import season_in_keys
from forecast_attn.config.values import percent
from forecast_attn.data.frequency import UNIT_NAMES
from forecast_attn.inspection.results import Inspection
from forecast_attn.inspection.statistics import Matrix, lags_of, number_and_unit, steps_text

MOST = 0.3
LIFT = 2.0
PART = 0.6
"""Smallest share of a pattern's weight on one distance at which that distance is named instead."""
HALF = 0.5
"""Smallest share at which "mostly" is the word."""
RECENT = 3
"""Keys before the cut-off that may be called the last ones."""
LONGER = {"min": (60, "h"), "h": (24, "D")}
"""Unit -> how many of it are one of the next longer unit."""
PERIODS = {("h", 24): "day", ("D", 7): "week", ("MS", 12): "year", ("ME", 12): "year", ("M", 12): "year"}
SAME = {"h": "hour", "min": "time of day", "D": "weekday", "MS": "month", "ME": "month", "M": "month"}

TIED = 0.8
"""Share of the largest weight at which another is as large, but for chance."""
MOST_TIED = 3
"""Stretches of keys with such weights; with more, no distance stands out."""
MOST_NAMED = 4
"""Steps whose largest weight is described in words; of more of them the first and the last."""

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class MeanWeights:
    """Mean weights of some steps, and the time that they are about.

    Attributes:
        weights: (steps, num_keys), the oldest key first.
        spans: the first and the last time step ahead of each step.
        frequency: of the time steps.
        season: in time steps; 1 for none.
        patch_length: time steps of a key.
    """

    weights: Matrix
    spans: Sequence[tuple[int, int]]
    frequency: str
    season: int
    patch_length: int

    @classmethod
    def of(cls, inspection: Inspection) -> MeanWeights:
        header = inspection.header
        spans = [step.span for step in inspection.steps]
        return cls(inspection.mean_weights, spans, header.frequency, header.season, header.patch_length)

    @property
    def num_keys(self) -> int:
        return int(self.weights.shape[1])

    @property
    def key_season(self) -> int:
        """Keys in a season; see `season_in_keys`."""
        return season_in_keys(self.season, self.patch_length)

    @property
    def distances(self) -> NDArray[np.int64]:
        """(steps, num_keys) keys from each key to each step's target."""
        ahead = np.array([-(-first // self.patch_length) for first, _ in self.spans])
        return np.asarray(ahead[:, None] + lags_of(self.num_keys))


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
        return f"{self.words} ({percent(self.share)} of the weight; equal weights: {percent(self.equal)})"


def looks_words(mean: MeanWeights) -> str:
    """Words that follow "it looks": at what, seen from the target."""
    named = _pattern_words(mean)
    if named is not None:
        return named
    largest, equal = float(mean.weights.max(initial=0.0)), 1 / mean.num_keys
    stands_out = largest >= LIFT * equal
    if stands_out and (words := _largest_words(mean)):
        return f"at no particular distance, with the largest weights on values {words}"
    sizes = f"the largest mean weight is {100 * largest:.1f} %, equal ones are {100 * equal:.1f} %"
    return f"at no time in particular ({sizes}{'; many are nearly as large as the largest' if stands_out else ''})"


def _largest_words(mean: MeanWeights) -> str:
    """Distances of each step's largest weight: `36 hours before the time it forecasts in steps 1–6 (12 % of …), …`.

    Those that tie with it are named with it, for chance decides between them: `48 to 49 hours before … (19 % …)`.
    Steps with more than `MOST_TIED` stretches of them are left out; empty where all are.
    """
    shown = range(len(mean.spans)) if len(mean.spans) <= MOST_NAMED else (0, len(mean.spans) - 1)
    parts: list[str] = []
    num_before = 0  # the equal weights of this number of keys are in the text already
    for step in shown:
        tied = _tied(mean.weights[step])
        if len(tied) > MOST_TIED:
            continue
        keys = np.concatenate(tied)
        of = " of the weight" if not parts else ""
        of += f"; equal weights: {100 * len(keys) / mean.num_keys:.2g} %" if len(keys) != num_before else ""
        before = " before the time it forecasts" if not parts else ""
        ahead = f" in {steps_text(*mean.spans[step])}" if len(mean.spans) > 1 else ""
        share = f"({percent(float(mean.weights[step, keys].sum()))}{of})"
        distances = [mean.distances[step, run] for run in reversed(tied)]  # the nearest first
        words = _spans_words(mean, [(int(each.min()), int(each.max())) for each in distances])
        parts.append(f"{words}{before}{ahead} {share}")
        num_before = len(keys)
    return ", ".join(parts)


def _tied(row: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    """Stretches of keys whose weights (num_keys,) are nearly as large as the largest."""
    keys = np.flatnonzero(row >= TIED * row.max())
    return np.split(keys, np.flatnonzero(np.diff(keys) > 1) + 1)


def _pattern_words(mean: MeanWeights) -> str | None:
    """The pattern that holds most of the weight; None where none holds enough of it."""
    total = float(mean.weights.sum())
    if not total > 0:
        return None
    patterns = [_measured(words, mask, mean.weights / total) for words, mask in _candidates(mean)]
    best = max(filter(lambda each: each.stands_out, patterns), key=lambda each: each.share - each.equal, default=None)
    first = _of_first_steps(mean)
    if best is None:
        return None if first is None else f"{first}, else at no time in particular"
    others = [each for each in patterns if each.stands_out]
    named = _named_closer(best, others)
    also = max(
        (each for each in others if not (each.mask & named.mask).any()), key=lambda each: each.share, default=None
    )
    covers_first = (best.mask[0] & _recent(mean, RECENT)).any()
    words = f"{'mostly' if named.share >= HALF else 'most'} at {named}"
    if also is not None and named.share + also.share > best.share:
        words += f" and at {_named_closer(also, others)}"
    return words + (f"; {first}" if first is not None and not covers_first else "")


def _measured(words: str, mask: Mask, weights: Matrix) -> Pattern:
    return Pattern(words, mask, float(weights[mask].sum()), float(mask.mean()))


def _named_closer(best: Pattern, others: list[Pattern]) -> Pattern:
    """The smallest part of the pattern that has most of its weight, or all of it; of equal ones the last."""
    parts = [each for each in others if not (each.mask & ~best.mask).any() and each.share >= PART * best.share]
    return min(reversed(parts), key=lambda each: each.equal)


# --------------------------------------------------------------------------- what may be looked at


def _candidates(mean: MeanWeights) -> Iterator[tuple[str, Mask]]:
    """Patterns in words, with their keys."""
    distance, near, season = mean.distances, _tolerance(mean), mean.key_season
    if season > 1:
        whole = distance % season
        seasonal = (np.minimum(whole, season - whole) <= min(near, (season - 1) // 2)) & (distance >= season - near)
        yield _seasons_words(mean), seasonal
        for count in range(1, int(distance.max()) // season + 1):
            yield _season_words(mean, count), np.abs(distance - count * season) <= near
    yield from _fixed_distances(mean, distance, near)
    yield from _fixed_lags(mean, near)


def _tolerance(mean: MeanWeights) -> int:
    """Time steps beside a distance that count as it; of patches none, they are wide enough."""
    return 1 if mean.patch_length == 1 and mean.key_season > 3 else 0


def _fixed_distances(mean: MeanWeights, distance: NDArray[np.int64], near: int) -> Iterator[tuple[str, Mask]]:
    """The two distances before every target that have the most weight."""
    sums, season = np.bincount(distance.ravel(), mean.weights.ravel()), mean.key_season
    for _ in range(2):
        best = int(sums.argmax())
        if season == 1 or best % season:
            words = f"values {span_words(mean, best)} before the time it forecasts"
            yield from _near_and_exact(mean, words, np.abs(distance - best), near)
        sums[max(0, best - 2 * near) : best + 2 * near + 1] = 0


def _fixed_lags(mean: MeanWeights, near: int) -> Iterator[tuple[str, Mask]]:
    """The last keys known, and the one lag that has the most weight in every step."""
    steps = len(mean.spans)
    if steps == 1:
        near = 0
    for count in range(1, RECENT + 1):
        yield f"the last {span_words(mean, count)} before the cut-off", np.tile(_recent(mean, count), (steps, 1))
    lag = int(np.argmax(mean.weights.mean(axis=0)[::-1]))
    if steps > 1 and lag >= RECENT:
        times = "the same time for every step: " if mean.patch_length == 1 else "the same patch for every step: "
        words = f"{times}{span_words(mean, lag)} before the cut-off"
        yield from _near_and_exact(mean, words, np.tile(np.abs(lags_of(mean.num_keys) - lag), (steps, 1)), near)


def _near_and_exact(mean: MeanWeights, words: str, apart: NDArray[np.int64], near: int) -> Iterator[tuple[str, Mask]]:
    """Keys no more than `near` from what the words name, said with that tolerance; and those right there."""
    if near:
        yield f"{words}{_near_words(mean)}", apart <= near
    yield words, apart == 0


def _of_first_steps(mean: MeanWeights) -> str | None:
    """Words on first steps that look at the last keys known, though not all steps do."""
    weights = mean.weights
    mask = _recent(mean, RECENT)
    shares = weights[:, mask].sum(axis=1) / np.maximum(weights.sum(axis=1), np.finfo(float).tiny)
    looks = shares >= max(2 * MOST, LIFT * float(mask.mean()))
    count = int(np.argmin(looks)) if not looks.all() else 0
    if not 0 < count <= len(looks) // 2:
        return None
    until = mean.spans[count - 1][1]
    words = span_words(mean, RECENT)
    steps = "step 1" if until == 1 else f"steps 1–{until}"
    return f"in {steps} at the last {words} ({percent(float(shares[:count].mean()))} of their weight)"


def _recent(mean: MeanWeights, count: int) -> Mask:
    """(num_keys,) the last of them."""
    return np.asarray(lags_of(mean.num_keys) < count)


# --------------------------------------------------------------------------- in words


def span_words(mean: MeanWeights, keys: int) -> str:
    """Length of a number of keys in time: `10 days`, `36 hours`, `1 hour`; in steps on axes without time."""
    return _spans_words(mean, [(keys, keys)])


def _spans_words(mean: MeanWeights, spans: list[tuple[int, int]]) -> str:
    """Lengths of numbers of keys, from and to, in a unit of which all are whole: `30, 48 to 49 and 60 hours`."""
    number, unit = number_and_unit(mean.frequency)
    amounts = [(low * mean.patch_length * number, high * mean.patch_length * number) for low, high in spans]
    while unit in LONGER and all(amount % LONGER[unit][0] == 0 for span in amounts for amount in span):
        size, unit = LONGER[unit]
        amounts = [(low // size, high // size) for low, high in amounts]
    name = UNIT_NAMES.get(unit) or UNIT_NAMES.get(unit[:1])
    if name is None:
        amounts, name = [(low * mean.patch_length, high * mean.patch_length) for low, high in spans], "step"
    *others, last = [f"{low}" if low == high else f"{low} to {high}" for low, high in amounts]
    every = f"{', '.join(others)} and {last}" if others else last
    return f"{every} {name}{'' if amounts[-1][1] == 1 else 's'}"


def _same(mean: MeanWeights) -> str:
    """The same hour, or hours of a patch; the same place in its season where that has no name."""
    _, unit = number_and_unit(mean.frequency)
    name = SAME.get(unit) if _period(mean) else None
    if name is None:
        return "the same place in the season" if mean.patch_length == 1 else "the same part of the season"
    return f"the same {name}" if mean.patch_length == 1 or not name.endswith("hour") else f"the same {name}s"


def _period(mean: MeanWeights) -> str | None:
    """The season by its name: day, week, year."""
    number, unit = number_and_unit(mean.frequency)
    return "day" if unit == "min" and mean.season * number == 1440 else PERIODS.get((unit, mean.season * number))


def _near_words(mean: MeanWeights) -> str:
    return f", give or take {span_words(mean, 1)}" if _tolerance(mean) else ""


def _seasons_words(mean: MeanWeights) -> str:
    period = _period(mean) or "season"
    return f"{_same(mean)} of the {period}s before{_near_words(mean)}"


def _season_words(mean: MeanWeights, count: int) -> str:
    period = _period(mean) or "season"
    before = f"the {period} before" if count == 1 else f"{count} {period}s before"
    if period == "day" and count == 7:
        before = "the week before"
    return f"{_same(mean)} {'of ' if count == 1 or before == 'the week before' else ''}{before}{_near_words(mean)}"
