"""Numbers that describe attention weights: plain functions on arrays whose last axis is the lookback, oldest first.

Position p of a row of length n has lag n - 1 - p, so the last position is lag 0, the cut-off. Rows whose sum is not 1
(a local window) are scaled to 1 where a distribution is meant: entropy, effective steps, centroid, divergence.
Source: entropy, Shannon 1948; the rest is arithmetic.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import AttentionDump
from forecast_attn.attention_file.times import stamps_after, stamps_until
from forecast_attn.data.frequency import MONTH_UNITS, UNITS, parse_frequency, split_alias

Weights = NDArray[np.floating[Any]]
Floats = NDArray[np.floating[Any]]
Matrix = Floats

UNIFORM_DIVERGENCE = 1e-3  # nats: below, a row is called uniform
ONE_HOT_WEIGHT = 0.99  # above, a row is called one-hot
STATIC_DISTANCE = 1e-3  # total variation: below, two rows are called the same
ROW_SUM_ERROR = 1e-5  # float32 rounding of some thousand weights stays well below
HALF_ROW_SUM_ERROR = 2e-3  # of weights stored in float16


def lags_of(length: int) -> NDArray[np.int64]:
    """The lag of each position: length - 1, …, 1, 0."""
    return np.arange(length)[::-1]


def row_sums(weights: Weights) -> Floats:
    """(...) what each row adds up to, added in float64."""
    return np.asarray(weights.sum(axis=-1, dtype=np.float64))


def entropy(weights: Weights) -> Floats:
    """(...) -Σ p ln p in nats, 0 for one-hot and ln(key_len) for uniform rows; NaN for a row of zeros."""
    logarithms = np.log(np.maximum(weights, np.finfo(weights.dtype).tiny))
    return entropy_of_sums(row_sums(weights), (weights * logarithms).sum(axis=-1, dtype=np.float64))


def entropy_of_sums(sums: Floats, weighted_logarithms: Floats) -> Floats:
    """(...) the entropy of rows w from s = Σ w and Σ w ln w.

    With p = w / s it is ln s - (Σ w ln w) / s, which needs no scaled copy of the weights.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.maximum(np.log(sums) - weighted_logarithms / sums, 0.0))


def seasonal_positions(season: int, length: int, *, step: int, tolerance: int) -> NDArray[np.bool_]:
    """(length,) which positions lie whole seasons (± tolerance) back, counted from the cut-off or from a step ahead.

    Args:
        season: time steps in a season; below 2 there are no seasonal positions.
        length: of the lookback.
        step: 0 counts from the cut-off (lags m, 2m, …); s counts from the target s steps ahead (lags m - s, 2m - s, …).
        tolerance: how many steps beside a whole season still count.
    """
    distance = lags_of(length) + step
    if season < 2:
        return np.zeros(length, bool)
    beside = np.minimum(distance % season, -distance % season)
    return (beside <= tolerance) & (distance >= season - tolerance)


def top_lags(weights: Weights, count: int) -> NDArray[np.int64]:
    """(..., count) the lags with the largest weights, largest first; of equal ones the more recent first."""
    return np.argsort(-weights[..., ::-1], axis=-1, kind="stable")[..., :count]


def total_variation(weights: Weights, others: Weights) -> Floats:
    """(...) half the sum of absolute differences: 0 for equal rows, 1 for rows with nothing in common."""
    return np.asarray(np.abs(weights - others).sum(axis=-1, dtype=np.float64) / 2)


def jensen_shannon_distance(weights: Weights, others: Weights) -> Floats:
    """(...) how unlike two rows are: 0 for the same, 1 for nothing in common; NaN where a row is all zeros.

    The square root of the Jensen-Shannon divergence in bits of the rows scaled to 1, a metric (Endres and Schindelin
    2003).
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        first, second = (rows / row_sums(rows)[..., None] for rows in (weights, others))
    middle = (first + second) / 2
    divergence = (_bits(middle) - (_bits(first) + _bits(second)) / 2) if first.size else np.zeros(first.shape[:-1])
    return np.sqrt(np.maximum(divergence, 0))


def _bits(rows: Floats) -> Floats:
    """(...) entropy of rows of sum 1, in bits."""
    return np.asarray(-(rows * np.log2(np.maximum(rows, np.finfo(np.float64).tiny))).sum(axis=-1))


# --------------------------------------------------------------------------- flags


def is_uniform(entropy: Floats, length: int | Floats) -> NDArray[np.bool_]:
    """(...) whether a row of this entropy is uniform: KL to uniform below 1e-3. One position is never uniform.

    Args:
        entropy: of the rows, in nats.
        length: how many positions may have weight, the same for all rows or of each.
    """
    return np.asarray((np.log(np.maximum(length, 1)) - entropy < UNIFORM_DIVERGENCE) & (np.asarray(length) > 1))


# --------------------------------------------------------------------------- time steps


def target_steps(dump: AttentionDump) -> NDArray[np.int64]:
    """(target_steps,) the time steps ahead that the selected steps of the decoder forecast, ascending, from 1."""
    spans = [dump.metadata.steps_of(int(step)) for step in dump.steps]
    return np.concatenate([np.arange(first, last + 1) for first, last in spans])


def target_timestamps(dump: AttentionDump) -> NDArray[Any]:
    """(num_windows, target_steps) their times."""
    spans = [dump.metadata.steps_of(int(step)) for step in dump.steps]
    lengths = [last - first + 1 for first, last in spans]
    after = np.concatenate([np.arange(length) for length in lengths])
    return stamps_after(np.repeat(dump.timestamps, lengths, axis=1), after, dump.metadata.frequency)


def lookback_time_steps(dump: AttentionDump) -> NDArray[Any]:
    """(num_windows, lookback) the times of the lookback, oldest first.

    Raises:
        RunError: the frequency does not lead from the cut-off back to lookback_start.
    """
    dump.lookback_timestamps_of(slice(None))  # raises where the times do not fit the file
    known, indices = np.unique(dump.window_cutoffs, return_inverse=True)
    stamps: NDArray[Any] = stamps_until(known, dump.metadata.lookback, dump.metadata.frequency)[indices]
    return stamps


# --------------------------------------------------------------------------- distances


_NAMES = {
    name: UNITS[unit] for name, unit in (("d", "D"), ("h", "h"), ("min", "min"), ("s", "s"), ("ms", "ms"), ("us", "us"))
}


def has_time_distances(frequency: str) -> bool:
    """Return whether steps of this frequency have a length in time: business days and whole numbers have none."""
    return number_and_unit(frequency)[1] in {**UNITS, **MONTH_UNITS}


def time_distance(frequency: str, lag: int) -> str:
    """Duration of `lag` steps, in the two largest non-zero units; in steps on axes without a fixed step.

    Raises:
        ConfigError: there is no such frequency.
    """
    number, unit = number_and_unit(frequency)
    steps = lag * number
    if unit in MONTH_UNITS:
        return _text(steps * MONTH_UNITS[unit], {"y": 12, "mo": 1}) or "0mo"
    return (_text(steps * UNITS[unit], _NAMES) or "0h") if unit in UNITS else f"{lag} steps"


def distance_span(frequency: str, first: int, last: int) -> str:
    """Distance of a patch whose time steps have these lags: `1d … 1d 23h`; of a single step `1d`.

    Raises:
        ConfigError: there is no such frequency.
    """
    near, far = time_distance(frequency, first), time_distance(frequency, last)
    if first == last:
        return near
    return f"{near} … {far}" if has_time_distances(frequency) else f"{first}–{last} steps"


def span_text(first: int, last: int) -> str:
    """Consecutive lags or steps: `24–47`; a single one as it is."""
    return str(first) if first == last else f"{first}–{last}"


def distinct_texts(values: NDArray[Any]) -> list[str]:
    """Different numbers with as many digits as tell them apart, six at least."""
    texts = ([f"{value:.{digits}g}" for value in values] for digits in range(6, 18))
    return next(each for each in texts if len(set(each)) == len(values))


def steps_text(first: int, last: int) -> str:
    """`step 7`, or `steps 1–24`."""
    return f"{'step' if first == last else 'steps'} {span_text(first, last)}"


def time_span(first: str, last: str) -> str:
    """Text of a span: `2018-01-01 00:00 … 23:00`; the day appears once, midnight only where needed."""
    if first == last:
        return first
    (day, _, clock), (last_day, _, last_clock) = first.partition(" "), last.partition(" ")
    if clock or last_clock:
        clock, last_clock = clock or "00:00", last_clock or "00:00"
    if day == last_day:
        return f"{day} {clock} … {last_clock}"
    return f"{day} {clock} … {last_day} {last_clock}" if clock else f"{day} … {last_day}"


def number_and_unit(frequency: str) -> tuple[int, str]:
    """The parts of a frequency: `15min` is 15 and `min`; 1 and no unit where nights lie between some of the steps.

    Raises:
        ConfigError: there is no such frequency.
    """
    step = parse_frequency(frequency)
    number, unit, _ = split_alias(step.alias)
    return (1, "") if step.sessions is not None and unit != "B" else (number, unit)


def _text(amount: int, units: dict[str, int]) -> str:
    parts = []
    for unit, size in units.items():
        count, amount = divmod(amount, size)
        parts += [f"{count}{unit}"] if count else []
    return " ".join(parts[:2])
