"""Forecasts of cut-offs in the past, made by a run's network once more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.attention_file.times import parse_time
from forecast_attn.baselines.registry import BaselineSetup, baseline_forecasts
from forecast_attn.config.values import NETWORK
from forecast_attn.data.panel import Panel
from forecast_attn.data.reading import table_name
from forecast_attn.data.split import spread_evenly
from forecast_attn.devices import cpu_threads
from forecast_attn.errors import DataError, RunError
from forecast_attn.evaluation.quantile_scores import quantile_columns
from forecast_attn.forecasting.history import read_history, table_beside
from forecast_attn.forecasting.inference import forecast_windows, load_model
from forecast_attn.forecasting.model import Model, trained_until
from forecast_attn.forecasting.predict import kept_weights
from forecast_attn.forecasting.prediction_table import prediction_columns
from forecast_attn.inspection.interpretation import best_of_baselines
from forecast_attn.plotting.forecasts import Forecasts, check_known, label_of
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import panel_of_run
from forecast_attn.training.preparation import Preparation, prepare

SEASONAL_NAIVE = "seasonal-naive"
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Past:
    """A run and a table that its network can forecast again.

    Attributes:
        run: the run.
        model: its network.
        panel: the table.
        name: what messages call the table.
    """

    run: RunDir
    model: Model
    panel: Panel
    name: str

    def forecasts(self, cutoffs: Rows) -> Forecasts:
        """Forecast these rows of the panel, beside the actual values: by the run, or by the network where `predict`
        combines it with baselines.
        """
        model, panel = self.model, self.panel
        with cpu_threads(model.config.training.threads):
            batches = forecast_windows(model, panel, cutoffs, need_weights=False)
            frame = pd.concat([pd.DataFrame(prediction_columns(panel, model, batch)) for batch in batches])
        targets = panel.target[cutoffs[:, None] + np.arange(1, model.schema.horizon + 1)].ravel()
        name = NETWORK if kept_weights(RunDir(self.run.home)) else self.run.title
        frame = frame.assign(target=targets, model=name).reset_index(drop=True)
        return Forecasts(frame, panel.zone, f"'{self.run.path}'", panel.roles.target)

    def beside(self, forecasts: Forecasts, names: list[str], cutoffs: Rows, setup: BaselineSetup) -> Forecasts:
        """The network's forecasts of these rows, followed by those of baselines."""
        parts = [forecasts.frame]
        without_quantiles = dict.fromkeys(quantile_columns(forecasts.frame.columns), np.nan)
        for name in names:
            prediction = baseline_forecasts(name, self.panel, cutoffs, setup).ravel()
            parts.append(forecasts.frame.assign(prediction=prediction, model=name, **without_quantiles))
        return replace(forecasts, frame=pd.concat(parts).reset_index(drop=True))

    def rows_at(self, cutoff: str, items: Sequence[str]) -> Rows:
        """The rows of one cut-off, of series whose lookback and horizon lie in the table.

        Raises:
            ConfigError: the cut-off is no time.
            DataError: no such series, or none has the window.
        """
        panel, schema = self.panel, self.model.schema
        stamp = parse_time(cutoff, panel.timestamps.dtype, panel.zone)
        rows = np.flatnonzero(panel.timestamps == stamp)
        series = panel.series_of(rows)
        begins = schema.padded | (rows - schema.lookback + 1 >= panel.starts[series])
        # Its horizon must end within the series, and the cut-off's own target be known.
        whole = begins & (rows + schema.horizon < panel.starts[series + 1]) & (rows < panel.ends[series])
        check_known(items, list(panel.item_ids), "series", self.name)
        selected = np.isin(np.array(panel.item_ids, object)[series], items) if items else True
        rows = rows[whole & selected]
        if not len(rows):
            raise self._no_window(cutoff)
        return rows

    def _no_window(self, cutoff: str) -> DataError:
        panel, schema = self.panel, self.model.schema
        ends = [panel.zone.stamp_text(stamp) for stamp in (panel.timestamps.min(), panel.timestamps.max())]
        return DataError(
            f"{self.name} has no window with the cut-off {cutoff}: it goes from {ends[0]} to {ends[1]}",
            f"a cut-off needs {schema.lookback} rows up to it and {schema.horizon} after it",
        )

    def is_in_training(self, rows: Rows) -> bool:
        """Return whether training saw the values after one of these cut-offs."""
        return self._before(rows, validated=True)

    def newest(self, rows: Rows) -> Past:
        """The same with the network that was trained on all rows, if it saw none of the values after these cut-offs."""
        return self if self._before(rows, validated=False) else replace(self, model=load_model(self.run))

    def _before(self, rows: Rows, *, validated: bool) -> bool:
        """Return whether one of the cut-offs lies before the end of a training; True where nobody knows that end."""
        end = trained_until(self.run, validated=validated)
        if end is None:
            return True
        return bool((self.panel.timestamps[rows] < parse_time(end, self.panel.timestamps.dtype, self.panel.zone)).any())


def read_past(run: RunDir, data: pd.DataFrame | Path | None) -> Past:
    """The table of training, or another one that continues it.

    Raises:
        RunError: the run is damaged, or its table is not where it was or has changed.
        DataError: what is wrong with the table.
    """
    model = load_model(run, validated=True)
    if data is None or model.config.data.vintages is not None:
        panel = _panel_of_training(run, model, data)
        return Past(run, model, prepare(panel, model.config.data, model.schema.calendar).panel, _table_of(run))
    history = read_history(model, run, table_beside(data, model), table_name(data))
    return Past(run, model, history.panel, label_of(data))


def validation_forecasts(run: RunDir, data: pd.DataFrame | Path | None) -> Forecasts:
    """Forecasts of the validation windows that training scored, beside the best baseline and seasonal-naive.

    Args:
        run: a finished run.
        data: the table of training; where the run recorded it when None.

    Raises:
        RunError: the run is damaged, or this is not the table of training.
        DataError: what is wrong with the table.
    """
    return forecasts_of_validation(*prepared_past(run, data))


def forecasts_of_validation(past: Past, preparation: Preparation) -> Forecasts:
    """The same of a table that is read already."""
    cutoffs = spread_evenly(preparation.validation_cutoffs, past.model.config.training.validation_windows)
    best, _ = best_of_baselines(past.run.read_json(past.run.metrics))
    names = list(dict.fromkeys([best, SEASONAL_NAIVE]))
    return past.beside(past.forecasts(cutoffs), names, cutoffs, preparation.baseline_setup())


def newest_validation(run: RunDir, data: pd.DataFrame | Path | None, items: Sequence[str]) -> tuple[Past, Rows]:
    """The table of training, and the last validation window of every series; raises as `validation_forecasts`."""
    past, preparation = prepared_past(run, data)
    cutoffs = np.sort(preparation.validation_cutoffs)
    series = past.panel.series_of(cutoffs)
    newest = np.append(np.diff(series) > 0, True)
    check_known(
        items, [past.panel.item_ids[index] for index in series[newest]], "validation window of series", past.name
    )
    selected = np.isin(np.array(past.panel.item_ids, object)[series], items) if items else True
    return past, cutoffs[newest & selected]


def prepared_past(run: RunDir, data: pd.DataFrame | Path | None) -> tuple[Past, Preparation]:
    """The table of training, and its validation windows; raises as `validation_forecasts`."""
    model = load_model(run, validated=True)
    preparation = prepare(_panel_of_training(run, model, data), model.config.data, model.schema.calendar)
    return Past(run, model, preparation.panel, _table_of(run)), preparation


def _table_of(run: RunDir) -> str:
    return f"'{run.read_json(run.config)['data']['file']}'"


def _panel_of_training(run: RunDir, model: Model, data: pd.DataFrame | Path | None) -> Panel:
    """The table of training.

    Raises:
        RunError: it is not where it was, or is another one.
    """
    recorded: dict[str, Any] = run.read_json(run.config)["data"]
    if data is None and recorded["sha256"] is not None and not Path(recorded["file"]).is_file():
        raise RunError(
            f"the table of training, '{recorded['file']}', is not where it was: past forecasts need it",
            "pass it with --data FILE",
        )
    return panel_of_run(run, model.config, data)
