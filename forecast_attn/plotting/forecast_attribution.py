"""The attribution of one forecast to its inputs, with their times, of a run and its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from forecast_attn.audit.attribution import Attributions, InputAttribution, attribute
from forecast_attn.config.values import NETWORK, percent
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.reading import table_name
from forecast_attn.data.zones import Zone
from forecast_attn.devices import cpu_threads
from forecast_attn.errors import ConfigError, DataError, shell_command
from forecast_attn.forecasting.inference import load_model
from forecast_attn.forecasting.predict import kept_combination, read_beyond
from forecast_attn.plotting.forecasts import check_known
from forecast_attn.plotting.past import Past, Rows, newest_validation, read_past
from forecast_attn.plotting.scene import numbers
from forecast_attn.runs.run_dir import RunDir

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attribution:
    """Integrated gradients of one forecast by input and time.

    Attributes:
        target: what is forecast.
        item_id: its series.
        cutoff: last known time.
        step: the step ahead that is explained; None for the mean of all.
        result: forecast, baseline and attributions, in the target's units.
        past_stamps: of the lookback, as far as the series reaches back (lookback,).
        past: the target there, NaN where not observed (lookback,).
        stamps: of the horizon (horizon,).
        zone: how stamps are shown.
        network_share: weight of the network in what `predict` forecasts: 1 for a run that is not combined.
        notes: in words, to be shown with the result.
    """

    target: str
    item_id: str
    cutoff: Any
    step: int | None
    result: Attributions
    past_stamps: Stamps
    past: Floats
    stamps: Stamps
    zone: Zone
    network_share: float
    notes: list[str]

    @property
    def inputs(self) -> tuple[InputAttribution, ...]:
        """Inputs, the largest first."""
        return self.result.inputs

    @property
    def covariates(self) -> tuple[InputAttribution, ...]:
        """All inputs but the target's own past."""
        return tuple(each for each in self.inputs if each.kind != "target")

    def parts(self, most: int) -> list[tuple[str, tuple[InputAttribution, ...]]]:
        """The largest inputs by their names, and the others together."""
        parts, rest = [(each.name, (each,)) for each in self.inputs[:most]], self.inputs[most:]
        others = rest[0].name if len(rest) == 1 else f"{len(rest)} others"
        return [*parts, *([(others, rest)] if rest else [])]

    def by_time(self, inputs: tuple[InputAttribution, ...]) -> Floats:
        """Sum over some inputs at each step of lookback and horizon (lookback + horizon,)."""
        lines = [np.concatenate([each.past, each.future]) for each in inputs]
        return np.asarray(np.sum(lines, axis=0) if lines else np.zeros(len(self.past) + len(self.stamps)))

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: every number that is drawn, null where there is none."""
        result = self.result
        return {
            "kind": "attribution",
            "method": "integrated gradients",
            "target": self.target,
            "zone": self.zone.describe(),
            "notes": self.notes,
            "item_id": self.item_id,
            "cutoff": self.zone.stamp_text(self.cutoff),
            "step": self.step,
            "forecast": result.forecast,
            "baseline_forecast": result.baseline,
            "residual": result.residual,
            "points": result.points,
            "network_share": self.network_share,
            "past_timestamp": self.zone.text(self.past_stamps).tolist(),
            "past_target": numbers(self.past),
            "timestamp": self.zone.text(self.stamps).tolist(),
            "inputs": [
                {
                    "input": each.name,
                    "kind": each.kind,
                    "value": each.value,
                    "baseline": each.baseline,
                    "attribution": each.total,
                    "static": each.static,
                    "past": each.past.tolist(),
                    "future": each.future.tolist(),
                }
                for each in self.inputs
            ],
        }


def attribution_of(
    run: RunDir | None,
    *,
    items: Sequence[str],
    cutoff: str | None = None,
    step: int | None = None,
    data: pd.DataFrame | Path | None = None,
    future: pd.DataFrame | Path | None = None,
    training: Path | None = None,
) -> Attribution:
    """Attribute one forecast of a run to its inputs.

    Args:
        run: finished.
        items: the series, where there are several.
        cutoff: as the user writes a time; when None the end of the table, or the last validation window where the
            covariates are not known beyond it.
        step: ahead; the mean of all when None.
        data: a table of the series; found through the run when None.
        future: values of covariates beyond it.
        training: the table of training, where it is not where the run recorded it.

    Raises:
        ConfigError: an ensemble, several series, or no such step.
        DataError, RunError: nothing matches the choice, or a file cannot be read.
    """
    if run is None:
        raise ConfigError("--kind attribution asks the network of a run; a table of forecasts has none", "name a run")
    horizon = _check(run, items, step)
    if future is not None and cutoff is not None:
        raise ConfigError(
            "--future is for the forecast beyond the end of the table; --cutoff explains one within it",
            "leave one of them out",
        )
    past, rows, notes = _window(run, items, cutoff, data, future, training)
    if len(rows) > 1:
        names = [past.panel.item_ids[index] for index in past.panel.series_of(rows[:2])]
        raise ConfigError(
            f"--kind attribution explains one forecast; this cut-off has {len(rows):,} series, such as '{names[0]}'",
            f"--item {quote(names[0])}",
        )
    steps = range(horizon) if step is None else [step - 1]
    with cpu_threads(past.model.config.training.threads):
        return _attribution(past, int(rows[0]), step, list(steps), notes)


def _check(run: RunDir, items: Sequence[str], step: int | None) -> int:
    """Return the horizon of a run, or raise if its forecasts have no attribution.

    Raises:
        ConfigError: an ensemble, several series, or a step beyond the horizon.
    """
    model = load_model(run)
    if model.is_ensemble:
        raise ConfigError(
            f"'{run.path}' is an ensemble: an attribution is of one network, and this has {len(model.networks)}",
            f"explain a member: {shell_command('plot', run.path / 'members/0', '--kind', 'attribution')}",
        )
    if len(items) > 1:
        raise ConfigError("--kind attribution explains one forecast, of one series", f"--item {quote(items[0])}")
    if step is not None and not 1 <= step <= model.schema.horizon:
        raise ConfigError(
            f"--step {step} is not among the {model.schema.horizon} steps of the forecast",
            f"--step 1 to {model.schema.horizon}",
        )
    return model.schema.horizon


def _window(
    run: RunDir,
    items: Sequence[str],
    cutoff: str | None,
    data: pd.DataFrame | Path | None,
    future: pd.DataFrame | Path | None,
    training: Path | None,
) -> tuple[Past, Rows, list[str]]:
    """The table that a forecast reads, the row of its cut-off in it, and what to say about it."""
    if cutoff is not None:
        past = read_past(run, data)
        rows = past.rows_at(cutoff, items)
        return past.newest(rows), rows, []
    try:
        past = _beyond(run, data, future)
    except DataError as error:
        if data is not None or future is not None:
            raise
        past, rows = newest_validation(run, training, items)
        note = f"the last validation window is explained: {error.message.splitlines()[0]}"
        return past, rows, [f"{note}; `forecast plot --kind attribution --future FILE` explains the forecast itself"]
    names = list(past.panel.item_ids)
    check_known(items, names, "series", past.name)
    return past, (past.panel.ends - 1)[np.isin(names, items or names)], []


def _beyond(run: RunDir, data: pd.DataFrame | Path | None, future: pd.DataFrame | Path | None) -> Past:
    """The table with the rows that `predict` would forecast, and the network that would.

    Raises:
        DataError: a covariate is not known there.
    """
    model, _, panel, _ = read_beyond(load_model(run), run, data, future)
    return Past(run, model, panel, table_name(data) or f"'{run.path}'")


def _attribution(past: Past, row: int, step: int | None, steps: list[int], notes: list[str]) -> Attribution:
    panel = past.panel
    model = past.model.of_series(panel.item_ids)
    series = int(panel.series_of(row))
    window = model.schema.windows_of(panel).gather(torch.tensor([row]))
    result = attribute(model, window, series, steps)
    lookback, horizon = model.schema.lookback, model.schema.horizon
    known = min(lookback, row + 1 - int(panel.starts[series]))
    behind, ahead = slice(row + 1 - known, row + 1), slice(row + 1, row + 1 + horizon)
    inputs = tuple(replace(each, past=each.past[lookback - known :]) for each in result.inputs)
    combination = kept_combination(RunDir(past.run.home))
    share = combination.of(panel.item_ids[series]).get(NETWORK, 0.0) if combination.weights else 1.0
    return Attribution(
        target=panel.roles.target,
        item_id=panel.item_ids[series],
        cutoff=panel.timestamps[row],
        step=step,
        result=replace(result, inputs=inputs),
        past_stamps=panel.timestamps[behind],
        past=panel.target[behind],
        stamps=panel.timestamps[ahead],
        zone=panel.zone,
        network_share=share,
        notes=[*notes, *_notes(past, result, row, share)],
    )


def _notes(past: Past, result: Attributions, row: int, share: float) -> list[str]:
    notes = []
    if share < 1:
        part = f"is {percent(share)} of" if share else "has no part in"
        notes.append(f"this is about the network, which {part} what `predict` forecasts; the rest are baselines")
    if past.is_in_training(np.array([row])):
        notes.append("the cut-off lies in the training rows: the network was trained on the values after it")
    if past.model.config.data.non_negative and result.forecast < 0:
        notes.append("`predict` clips this forecast at 0; the attributions are of the value before")
    if not result.adds_up:
        notes.append(f"the attributions miss {result.residual:.3g} of the change of the forecast: read them roughly")
    return notes
