"""Panels of test windows, to compare the forecasts of a file and of `predict` on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from forecast_attn.data.panel import Panel, ranges


def trial_panels(history: Panel, lookback: int, horizon: int, count: int) -> Iterator[Panel]:
    """Panels to compare forecasts on: the end of every series, then the same values in random orders.

    The rows of the horizon take the covariates of random rows of the lookback, so that they need not be known.

    Args:
        history: the end of every series.
        lookback: steps of a window.
        horizon: steps to forecast.
        count: number of panels; each has one window per series.
    """
    generator = np.random.default_rng(0)
    lengths = np.minimum(history.num_known, lookback)
    ends, frequency = history.ends, history.frequency
    steps = [np.arange(1 - length, horizon + 1) for length in lengths]
    stamps = [
        frequency.shift(np.repeat(history.timestamps[end - 1 : end], len(each)), each)
        for end, each in zip(ends, steps, strict=True)
    ]
    for number in range(count):
        rows = []
        for end, length in zip(ends, lengths, strict=True):
            past = np.arange(end - length, end)
            rows += [past if number == 0 else generator.permutation(past), generator.choice(past, horizon)]
        panel = history.with_rows(np.concatenate(rows), lengths + horizon, lengths)
        target = panel.target.copy()
        target[ranges(panel.ends, np.full(len(lengths), horizon))] = np.nan
        yield replace(panel, target=target, timestamps=np.concatenate(stamps), issued=None)
