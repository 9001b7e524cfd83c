"""`forecast backtest DATA`: a new run, trained on the rows before the first stamp that is forecast, and no others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forecast_attn.backtest.backtest_plan import plan_on_panel
from forecast_attn.backtest.backtest_table import actuals_of, rows_until, trained_series
from forecast_attn.backtest.folds import Folds, make_folds
from forecast_attn.config.options import RunConfig
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.reading import read_table
from forecast_attn.data.roles import resolve_roles
from forecast_attn.data.window_sizes import choose_sizes
from forecast_attn.forecasting.inference import load_model
from forecast_attn.runs.run_dir import DataSource, RunDir
from forecast_attn.runs.training_table import Table, name_of, with_vintages
from forecast_attn.training.preparation import prepare

if TYPE_CHECKING:
    import pandas as pd

    from forecast_attn.backtest.backtest_options import BacktestOptions
    from forecast_attn.backtest.job import Backtest
    from forecast_attn.data.frequency import Stamps
    from forecast_attn.data.reading import Progress
    from forecast_attn.training.progress import TrainingListener


@dataclass(frozen=True, eq=False)
class TableBeforeCutoffs:
    """A table, and the part of it that ends at the first cut-off."""

    frame: pd.DataFrame
    """The whole table as it was read."""
    source: str
    config: RunConfig
    panel: Panel
    """Panel of the whole table."""
    known: Panel
    """Panel of the rows up to the first cut-off, read as if there were no others."""
    cutoffs: Stamps
    vintages: pd.DataFrame | Path | str | None = None
    """Future covariates as they were forecast; the file that the options name when None."""

    @classmethod
    def read(
        cls,
        data: pd.DataFrame | Table,
        config: RunConfig,
        options: BacktestOptions,
        progress: Progress | None = None,
        vintages: pd.DataFrame | Path | str | None = None,
    ) -> TableBeforeCutoffs:
        """Read a table and cut it at the first cut-off.

        Args:
            data: the table.
            config: how it is read, and what will be trained.
            options: of the backtest.
            progress: called with the bytes read so far and the bytes there are.
            vintages: future covariates as they were forecast; the file that the options name when None.

        Raises:
            DataError: what is wrong with the table, or it has no such cut-off.
            ConfigError: options that contradict each other.
        """
        source = name_of(data)
        frame = read_table(data, config.data, progress=progress)
        whole, reading, table = with_vintages(frame, config.data, vintages)
        panel = build_panel(whole, resolve_roles(whole, reading, source), reading, source=source, vintages=table)
        _, horizon, fitted = choose_sizes(panel, config.data)
        if fitted is not None:  # the part that is known at the first cut-off is shorter still
            config = replace(config, data=replace(config.data, horizon=horizon))
        cutoffs = options.schedule.cutoff_stamps(panel, horizon)
        part = rows_until(whole, panel, reading, cutoffs[0])
        reading = replace(reading, freq=panel.frequency.alias, date_format=reading.date_format or panel.date_order)
        known = build_panel(part, resolve_roles(part, reading, source), reading, source=source, vintages=table)
        return cls(frame, source, config, panel, known, cutoffs, vintages)

    def folds(self, options: BacktestOptions) -> Folds:
        """The fold table, without training anything.

        Raises:
            DataError: there is too little to train on before the first cut-off.
        """
        preparation = prepare(self.known, self.config.data)
        panel, _ = trained_series(preparation.schema.scaler, self.panel)
        return make_folds(
            panel,
            preparation.schema,
            self.cutoffs,
            trained_until=preparation.split.boundary,
            refit_every=options.refits.every,
        )

    def train(self, out: Path, listener: TrainingListener) -> RunDir:
        """Train a run on the part that is known at the first cut-off, or what is left to train of it.

        Raises:
            RunError: there is another run, or something else, in the folder.
        """
        from forecast_attn.training.resume import train_or_go_on

        until: Any = self.panel.zone.stamp_text(self.cutoffs[0])
        # Without a digest: the run was not trained on the whole file, and must not take it for its table.
        source = DataSource(f"{self.source} up to {until}", None)
        return train_or_go_on(self.known, self.config, out, source, listener)

    def plan(self, run: RunDir, options: BacktestOptions) -> Backtest:
        """The backtest of a run that was trained on the part, over the whole table."""
        model = load_model(run)
        panel = actuals_of(model, self.frame, self.source, self.vintages, weighted=options.refits.every > 0)
        return plan_on_panel(run, model, panel, options)
