"""The season of rows whose time step implies none, found by autocorrelation; see `config.defaults` for the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_ROWS = 20_000
"""Most recent rows that are looked at."""
MOST_SERIES = 200
"""Series that are looked at, spread over the panel."""
FEWEST_CYCLES = 4
SHORTEST = 3
CLEAR = 0.4
"""Smallest autocorrelation at a season that makes it one."""
DEEP = 0.3
"""By how much the autocorrelation falls before it rises to a season: one that only decays has none."""
AGAIN = 0.7
"""Share of it that is left two seasons back; a random walk does not come back."""
NEARLY = 0.8
"""Share of the highest peak that the shortest season may have: two weeks are no season where one is."""


def autocorrelation(values: Floats) -> Floats:
    """Autocorrelation by lag (num_values,) without a straight trend; NaN counts as the mean."""
    steps = np.arange(len(values), dtype=np.float64)
    known = ~np.isnan(values)
    slope, level = np.polyfit(steps[known], values[known], 1)
    rest = np.where(known, values - slope * steps - level, 0.0)
    size = 1 << (2 * len(values) - 1).bit_length()
    power = np.abs(np.fft.rfft(rest, size)) ** 2
    products = np.fft.irfft(power, size)[: len(values)]
    if products[0] <= 0:
        return np.zeros(len(values))
    pairs = np.arange(len(values), 0, -1) / len(values)
    return np.asarray(products / products[0] / pairs, np.float64)


def season_by_evidence(series: Sequence[Floats]) -> tuple[int, float] | None:
    """The shortest season that series clearly have, and the autocorrelation at it; None where they have none.

    The median over the series decides: a cycle of one of them is no season of a panel.

    Args:
        series: targets in the order of time, of training rows only, (num_rows,) each.
    """
    known = _long_and_varying(series)
    return _season_of(_median_autocorrelation(known)) if known else None


def autocorrelation_at(series: Sequence[Floats], season: int) -> float:
    """The median autocorrelation of series a season back; 0 where they are too short for it."""
    known = _long_and_varying(series)
    correlation = _median_autocorrelation(known) if known else np.zeros(0)
    return float(correlation[season]) if season < len(correlation) else 0.0


def _long_and_varying(series: Sequence[Floats]) -> list[Floats]:
    """The last rows of series that are long enough and vary, some of many, spread over the panel."""
    at = np.linspace(0, len(series) - 1, min(len(series), MOST_SERIES)).astype(np.int64)
    last = (series[index][-MOST_ROWS:] for index in at)
    return [v for v in last if len(v) >= SHORTEST * FEWEST_CYCLES and np.isnan(v).mean() <= 0.5 and np.nanstd(v) > 0]


def _median_autocorrelation(series: Sequence[Floats]) -> Floats:
    """Median autocorrelation by lag, up to half of the length that half of the series have."""
    length = int(np.median([len(values) for values in series])) // 2 + 1
    rows = np.full((len(series), length), np.nan)
    for row, values in zip(rows, series, strict=True):
        correlation = autocorrelation(values)[: min(length, len(values) // 2 + 1)]
        row[: len(correlation)] = correlation
    return np.asarray(np.nanmedian(rows, axis=0), np.float64)


def _season_of(r: Floats) -> tuple[int, float] | None:
    """The season of a curve of autocorrelations (half of the rows,)."""
    longest = min((len(r) - 1) // 2, len(r) - 2)
    lags = np.arange(SHORTEST, longest + 1)
    peaks = lags[(r[lags] > r[lags - 1]) & (r[lags] >= r[lags + 1])]
    lowest = np.minimum.accumulate(r)
    good = [s for s in peaks if r[s] >= CLEAR and lowest[s] <= r[s] - DEEP and _comes_again(r, int(s))]
    if not good:
        return None
    best = max(r[s] for s in good)
    season = _refined(r, next(int(s) for s in good if r[s] >= NEARLY * best))
    return season, float(r[season])


def _refined(r: Floats, season: int) -> int:
    """The length near by that fits several seasons back best: noise moves a single broad peak."""
    near = range(season - season // 10, season + season // 10 + 1)
    cycles = min(FEWEST_CYCLES, (len(r) - 1) // (season + season // 10))
    return max(near, key=lambda length: sum(r[length * cycle] for cycle in range(1, cycles + 1)))


def _comes_again(r: Floats, season: int) -> bool:
    """Return whether there is a peak near two seasons back, too, with a trough between."""
    near = max(1, season // 10)
    twice = r[2 * season - near : 2 * season + near + 1]
    between = r[season : 2 * season]
    return bool(twice.max() >= AGAIN * r[season] and between.min() <= r[season] - DEEP)
