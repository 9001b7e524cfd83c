"""`Forecaster.backtest`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import Table

if TYPE_CHECKING:
    import pandas as pd

    from forecast_attn.backtest.job import BacktestListener
    from forecast_attn.backtest.result import BacktestResult


class Backtesting:
    """Mixin of Forecaster: forecasts of the past."""

    def backtest(
        self,
        data: pd.DataFrame | Table | None = None,
        *,
        cutoffs: int | None = None,
        start: str | None = None,
        end: str | None = None,
        stride: str | int | None = None,
        refit: str | int = "never",
        refit_epochs: int | None = None,
        refit_learning_rate: float | None = None,
        refit_window: str | int | None = None,
        refit_validation: int | None = None,
        refit_from: str | None = None,
        baselines: Sequence[str] | None = None,
        combine_with: str | Sequence[str] | None = None,
        metrics: Sequence[str] | None = None,
        by: Sequence[str] = (),
        vintages: pd.DataFrame | None = None,
        out: Path | str | None = None,
        attention_out: Path | str | None = None,
        attention_windows: str | int = "all",
        attention_dtype: str = "float32",
        attention_top: int | None = None,
        non_negative: bool | None = None,
        name: str | None = None,
        accelerator: str = "auto",
        listener: BacktestListener | None = None,
    ) -> BacktestResult:
        """Forecast from many past cut-offs, and compare with what came.

        Without refits every forecast has the bits of `predict` on a table that ends at its cut-off.

        Args:
            data: the table; the one it was trained on when None, from the end of its training rows on.
            cutoffs: forecast from the last so many cut-offs whose whole horizon is in the data.
            start: or from this stamp on: the first that is forecast.
            end: the last stamp that a forecast may begin with; a date without a clock is the whole day.
            stride: from one cut-off to the next: steps, exact time (24h), or days on the wall clock (7D); the horizon
                when None.
            refit: train further every so many cut-offs on the rows up to there; never, every, or a number.
            refit_epochs: of each refit; 2 when None.
            refit_learning_rate: of each refit, at its highest; a fifth of the run's when None.
            refit_window: each refit trains on the newest steps only: so many, or a time such as 8W; on all when None.
            refit_validation: the last so many steps before a refit's cut-off choose its best epoch and are not trained
                on; seven horizons, or as many as the run's validation has where that is shorter, when None. With 0 a
                refit trains on all rows and keeps its last epoch.
            refit_from: whose weights a refit begins with: `last`, the refit before it, also when None; or `run`.
            baselines: names of models to compare with; naive, seasonal-naive, drift and linear when None.
            combine_with: name of a baseline or of several; the mean of the model's forecast and of the mean of theirs
                becomes a further model, `combination`; the model's quantiles move by as much. Such as regression.
            metrics: names; all that there are when None.
            by: groups to score too: step, item_id, hour, weekday, cutoff.
            vintages: future covariates as they were forecast; the file that the run names when None.
            out: Parquet or CSV file of the rows, beside which the scores are written as JSON; a temporary one when
                None. A call that was cut short goes on where it was when it is repeated.
            attention_out: Parquet file of the weights; none when None.
            attention_windows: write the weights of so many windows, evenly spread; `all` for all.
            attention_dtype: of the written weights, float32 or float16.
            attention_top: write only the largest weights of each row, so many, with their lags; None for all.
            non_negative: cut forecasts and their quantiles off at 0; as in training when None.
            name: of the model in the rows; the run's folder when None.
            accelerator: where to compute.
            listener: hears how it goes.

        Raises:
            ConfigError: options that contradict each other, or do not fit the run.
            DataError: what is wrong with the table, or that it has no such cut-off.
            RunError: not fitted; the run is damaged; or a file cannot be written.
        """
        from forecast_attn.attention_file import DumpChoice
        from forecast_attn.backtest.cutoffs import Schedule
        from forecast_attn.backtest.job import BacktestListener
        from forecast_attn.backtest.plan import BacktestOptions, plan_backtest
        from forecast_attn.backtest.refit_options import RefitOptions
        from forecast_attn.backtest.result import run_backtest
        from forecast_attn.baselines.combination import combined_names

        run = self._fitted()
        options = BacktestOptions(
            schedule=Schedule(cutoffs, start, end, stride),
            refit=RefitOptions(refit, refit_epochs, refit_learning_rate, refit_window, refit_validation, refit_from),
            baselines=None if baselines is None else tuple(baselines),
            combine_with=combined_names(combine_with),
            metrics=None if metrics is None else tuple(metrics),
            by=tuple(by),
            attention_out=None if attention_out is None else Path(attention_out),
            attention=DumpChoice.of(attention_windows, attention_dtype, attention_top),
            accelerator=accelerator,
            non_negative=non_negative,
            name=name,
        )
        backtest = plan_backtest(run, data, options, vintages=vintages)
        path = Path(out) if out is not None else self._scratch_dir() / run.backtest.name
        return run_backtest(backtest, path, options, listener or BacktestListener())

    def _fitted(self) -> RunDir:
        raise NotImplementedError

    def _scratch_dir(self) -> Path:
        raise NotImplementedError
