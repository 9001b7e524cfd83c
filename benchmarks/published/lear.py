"""LEAR: a lasso per hour of the day on the prices and covariates of the days before (Lago et al., Applied Energy 293,
2021). As published: inputs, scaling, windows. Other than published: estimated weekly instead of daily, and penalties
chosen by cross-validation, which had smaller errors before the scored days than Akaike's criterion.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from published import protocols
from published.fev import QUANTILES
from published.protocols import DAY, TARGET, TIME, Stage, TableError

WINDOWS = (56, 84, 1092, 1456)
"""Days that a lasso is estimated from; the forecast is the mean over the windows."""
LAGS = (1, 2, 3, 7)
EVERY = 7
"""Days from one estimation to the next."""


def forecast_days(table: pd.DataFrame, stage: Stage) -> np.ndarray:
    """Forecast the days of a stage, one after the other.

    Returns:
        Quantiles of shape (days, hours, quantiles). The median is the forecast itself; the others are as far from it as
        quantiles of the absolute errors of the same hour on the 91 days before.

    Raises:
        TableError: the table begins too late.
    """
    values = table.drop(columns=TIME).iloc[stage.end % DAY : stage.end]
    days = {name: column.to_numpy(np.float64).reshape(-1, DAY) for name, column in values.items()}
    prices = days.pop(TARGET)
    inputs = np.hstack(
        [_shifted(prices, lag) for lag in LAGS] + [_shifted(each, lag) for each in days.values() for lag in (0, 1, 7)]
    )
    weekdays = np.eye(7)[np.arange(len(prices)) % 7]
    first = len(prices) - (stage.end - stage.first) // DAY
    if first - protocols.INNER_DAYS < max(WINDOWS) + max(LAGS):
        raise TableError(f"LEAR needs {max(WINDOWS) + max(LAGS) + protocols.INNER_DAYS} days before the 364")
    points = np.full_like(prices, np.nan)
    for day in range(first - protocols.INNER_DAYS, len(prices), EVERY):
        week = slice(day, day + EVERY)
        of_windows = [_lasso(inputs, weekdays, prices, slice(day - length, day), week) for length in WINDOWS]
        points[week] = np.mean(of_windows, axis=0)
    errors = np.abs(prices - points)
    shares = np.array([float(name) for name in QUANTILES])
    spread = [
        np.quantile(errors[day - protocols.INNER_DAYS : day], np.abs(2 * shares - 1), axis=0).T
        for day in range(first, len(prices))
    ]
    return np.asarray(points[first:, :, None] + np.sign(shares - 0.5) * np.array(spread))


def _shifted(days: np.ndarray, lag: int) -> np.ndarray:
    """The values `lag` days before each day; not a number in the first days."""
    return np.vstack([np.full((lag, days.shape[1]), np.nan), days[: len(days) - lag]])


def _lasso(inputs: np.ndarray, weekdays: np.ndarray, prices: np.ndarray, past: slice, week: slice) -> np.ndarray:
    """Forecasts of a week's days from the days of `past`; everything is scaled by their medians."""
    from sklearn.linear_model import LassoCV

    (scaled, _, _), (target, centre, spread) = _scaled(inputs, past), _scaled(prices, past)
    both = np.hstack([scaled, weekdays])
    forecast = np.empty_like(prices[week])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the smallest penalties, where there are more inputs than days
        for hour in range(DAY):
            of_hour = target[past, hour]
            largest = np.abs((of_hour - of_hour.mean()) @ (both[past] - both[past].mean(axis=0))).max() / len(of_hour)
            lasso = LassoCV(alphas=largest * np.geomspace(1, 0.01, 10), cv=5, max_iter=200, tol=0.01)
            forecast[:, hour] = lasso.fit(both[past], of_hour).predict(both[week])
    return np.asarray(np.sinh(forecast) * spread + centre)


def _scaled(values: np.ndarray, past: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """arcsinh of the values in units of the median absolute deviation, with centre and unit."""
    centre = np.median(values[past], axis=0)
    spread = 1.4826 * np.median(np.abs(values[past] - centre), axis=0)
    spread[spread == 0] = 1
    return np.arcsinh((values - centre) / spread), centre, spread
