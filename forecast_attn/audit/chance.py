"""Distance of a mean over windows from zero that chance may make.

Windows that overlap read the same values and are wrong together, so chance is estimated from stretches of time that
do not overlap.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forecast_attn.audit.audit_results import HIGH_QUANTILE
from forecast_attn.audit.subject import Floats, Subject

FEWEST_STRETCHES = 4
"""Stretches of time below which each series of a panel counts as a draw of its own."""


def stretches_of(subject: Subject) -> NDArray[np.int64]:
    """The stretch of time of each window (num_windows,): none shorter than a window, the same for all series.

    Where windows lie within fewer than `FEWEST_STRETCHES` of them, series are the draws, if there are more.
    """
    schema = subject.model.schema
    ahead = subject.steps_from_first
    count = max(1, int((ahead.max() + 1) // (schema.lookback + schema.horizon)))
    if count < min(FEWEST_STRETCHES, len(np.unique(subject.series))):
        return subject.series
    return np.asarray(ahead * count // (ahead.max() + 1), np.int64)


def clustered_error(values: Floats, draws: NDArray[np.int64]) -> tuple[float, int]:
    """Standard error of the mean of values (num_values,), NaN of one draw, and the number of draws.

    Args:
        values: of which those of a draw may be wrong together.
        draws: the draw of each value (num_values,).

    Source: Liang and Zeger 1986, "Longitudinal data analysis using generalized linear models".
    """
    _, index = np.unique(draws, return_inverse=True)
    count = int(index.max()) + 1
    if count < 2:
        return float("nan"), count
    # The draws, not the values, are independent.
    sums = np.bincount(index, values - values.mean())
    return float(np.sqrt(count / (count - 1) * np.square(sums).sum()) / len(values)), count


def noise_bound(by_window: Floats, draws: NDArray[np.int64]) -> float:
    """Return what the mean of the windows' rises (num_windows,) exceeds by chance in one case of 20; NaN of one draw.

    Student's t of the sums over draws (num_windows,), each the windows of one stretch of time or of one series.
    """
    from scipy.special import stdtrit

    error, count = clustered_error(by_window, draws)
    return float(stdtrit(count - 1, HIGH_QUANTILE) * error)


def chance_of_rise(
    errors: Floats, errors_changed: Floats, chosen: NDArray[np.bool_], draws: NDArray[np.int64]
) -> float:
    """Return what the rise of an MAE exceeds by chance in one case of 20; NaN of one draw.

    Args:
        errors: of the forecasts as they are (num_windows, horizon).
        errors_changed: of other forecasts.
        chosen: the values that the MAE is over; in every window at least one.
        draws: the stretch of each window (num_windows,).
    """
    before, after = (np.where(chosen, each, 0).sum(axis=1) for each in (errors, errors_changed))
    if not before.any():
        return float("nan")
    # Windows hold different numbers of values and more or less difficult ones: the rise is a ratio of two sums.
    off = after - before * (after.sum() / before.sum())
    return noise_bound(off, draws) * len(off) / int(chosen.sum())
