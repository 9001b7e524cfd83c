"""Raw windows of a panel as the inputs of an exported graph, and a panel of test windows to compare forecasts on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.schema import Schema


def window_inputs(
    schema: Schema, panel: Panel, cutoffs: NDArray[np.int64], names: tuple[str, ...]
) -> dict[str, NDArray[Any]]:
    """Raw values of the windows whose last known rows are `cutoffs`, by the names of the graph's inputs.

    Args:
        schema: of the run.
        panel: with the rows of the windows' horizons.
        cutoffs: (batch,).
        names: inputs to make, see `graph.inputs_of`.
    """
    series = panel.series_of(cutoffs)
    past, future = (
        cutoffs[:, None] + steps for steps in (np.arange(1 - schema.lookback, 1), np.arange(1, schema.horizon + 1))
    )
    firsts = panel.starts[series][:, None]
    inside, past = past >= firsts, np.maximum(past, firsts)
    whole = np.concatenate([past, future], axis=1)
    known = {item_id: index for index, item_id in enumerate(schema.scaler.item_ids)}
    roles = panel.roles
    made: dict[str, NDArray[Any]] = {
        "series": np.array([known[panel.item_ids[index]] for index in series], np.int64),
        "past_target": np.where(inside, panel.target[past], np.nan),
        "past_covariates": panel.past_covariates[past],
        "future_covariates": panel.future_covariates[whole],
        "static_covariates": panel.static_covariates[series],
        "past_categories": _codes(schema, panel, roles.past_categories, panel.past_categories[past]),
        "future_categories": _codes(schema, panel, roles.future_categories, panel.future_categories[whole]),
        "static_categories": _codes(schema, panel, roles.static_categories, panel.static_categories[series]),
        "history_length": inside.sum(axis=1),
    }
    if schema.calendar.names:
        local = panel.zone.local(panel.timestamps)[whole]
        made["local_seconds"] = local.astype("datetime64[s]").astype(np.int64)
        if schema.calendar.holidays is not None:
            counts = schema.calendar.holidays.counts(local.ravel(), panel.frequency)
            made["holidays"] = counts.reshape(*local.shape, -1).astype(np.float64)
    return {name: made[name] for name in names}


def _codes(schema: Schema, panel: Panel, columns: tuple[str, ...], codes: NDArray[np.int32]) -> NDArray[np.int64]:
    return schema.vocabulary.encode(panel, columns, codes).astype(np.int64)


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
