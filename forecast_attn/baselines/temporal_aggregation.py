"""Forecasts of a series and of its means over two, three, … steps, averaged: temporal aggregation.

A mean over several steps has less noise, so that a slope shows which single steps hide; single steps show what is new.
Each level is forecast by itself, and its forecast holds for all steps of an aggregate.

Source: Kourentzes, Petropoulos and Trapero 2014, "Improving forecasting by estimating time series structural components
across multiple frequencies" (MAPA); here the forecasts are averaged, and the season has been taken out before.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FEWEST_AGGREGATES = 4
"""Values that a series must have at a level for the level to count; single steps count always."""


def aggregation_levels(season: int) -> tuple[int, ...]:
    """Return the numbers of steps that are aggregated: those that divide a season."""
    return tuple(level for level in range(1, season + 1) if season % level == 0)


def temporal_aggregation(
    series: list[Floats], season: int, horizon: int, forecast: Callable[[list[Floats], int], Floats]
) -> Floats:
    """Average the forecasts of all levels.

    Args:
        series: without a season and without holes, one value or more each.
        season: steps of one season.
        horizon: steps to forecast.
        forecast: forecasts some series, given the number of values, (num_series, number).

    Returns:
        (num_series, horizon)
    """
    total, count = np.zeros((len(series), horizon)), np.zeros((len(series), 1))
    for level in aggregation_levels(season):
        long = [row for row, values in enumerate(series) if level == 1 or len(values) // level >= FEWEST_AGGREGATES]
        if long:
            ahead = forecast([_means(series[row], level) for row in long], -(-horizon // level))
            total[long] += np.repeat(ahead, level, axis=1)[:, :horizon]
            count[long] += 1
    return total / count


def _means(values: Floats, level: int) -> Floats:
    """Means over `level` steps; what is left over is at the beginning."""
    return np.asarray(values[len(values) % level :].reshape(-1, level).mean(axis=1))
