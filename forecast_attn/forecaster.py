"""The Python interface: the same names as the command line, which itself uses this class."""

from __future__ import annotations

import dataclasses
import importlib.util
import shutil
import tempfile
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

from forecast_attn.config.options import RunConfig, by_field
from forecast_attn.config.requests import (
    TRAINING,
    AuditRequest,
    BacktestRequest,
    ExportRequest,
    InspectRequest,
    PlotRequest,
    PredictRequest,
    ReconcileRequest,
    ReportRequest,
    ScoreRequest,
    TrackingRequest,
    UpdateRequest,
    takes,
)
from forecast_attn.data.reading import fetched
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.forecasting.forecast_result import ForecastResult
from forecast_attn.runs.run_dir import SCRATCH, RunDir, check_is_free
from forecast_attn.runs.training_table import Table, name_of, panel_of_run, read_panel

if TYPE_CHECKING:
    import pandas as pd

    from forecast_attn.attention_file import AttentionDump
    from forecast_attn.audit import Audit, AuditListener
    from forecast_attn.backtest.anomalies import AnomalyScores
    from forecast_attn.backtest.backtest_options import BacktestOptions
    from forecast_attn.backtest.backtest_result import BacktestPlan, BacktestResult
    from forecast_attn.backtest.job import Backtest, BacktestListener
    from forecast_attn.backtest.new_run import TableBeforeCutoffs
    from forecast_attn.config.keywords import (
        AuditKeywords,
        BacktestKeywords,
        ExportKeywords,
        InspectKeywords,
        PlotKeywords,
        PredictKeywords,
        ReconcileKeywords,
        ReportKeywords,
        ScoreKeywords,
        TrainKeywords,
        UpdateKeywords,
    )
    from forecast_attn.data.template import FutureTemplate
    from forecast_attn.export.onnx_file import OnnxExport
    from forecast_attn.forecasting.attention_output import DumpListener
    from forecast_attn.forecasting.partitioned import PartForecast, PartitionedForecast
    from forecast_attn.hierarchy.reconcile import ReconciledForecast
    from forecast_attn.inspection.differences import WeightComparison
    from forecast_attn.inspection.results import Inspection
    from forecast_attn.plotting.picture import Picture
    from forecast_attn.reporting.report import RunReport
    from forecast_attn.training.progress import EpochRecord, TrainingListener


class Forecaster:
    """A forecaster with attention: trains on a table, forecasts, and keeps the attention weights.

        forecaster = Forecaster(horizon=24, lookback=168, attention="luong-general", future_covariates=["temperature"])
        forecaster.fit(frame)
        result = forecaster.predict(future=future_frame)

    Args:
        **options: any option of `forecast train`, by its name; `help(Forecaster.__init__)` lists them.

    Raises:
        ConfigError: an unknown option, or a value outside its type, choices or range.
    """

    @takes(TRAINING)
    def __init__(self, **options: Unpack[TrainKeywords]) -> None:
        """Check the options."""
        self.config = RunConfig.from_options(dict(options))
        self._options: dict[str, Any] = dict(options)
        self._run: RunDir | None = None
        self._keep: Self | None = None

    def __repr__(self) -> str:
        run = self._run
        if run is None:
            return f"Forecaster({', '.join(f'{name}={value!r}' for name, value in self._options.items())})"
        from forecast_attn.forecasting.model import read_schema

        saved = "not saved" if run.is_temporary else f"run '{run.path}'"
        try:
            schema = read_schema(run)
        except RunError:
            return f"<Forecaster with {self.config.model.attention}, {saved}>"
        sizes = f"lookback {schema.lookback}, horizon {schema.horizon}"
        return (
            f"<Forecaster with {self.config.model.attention}: {len(schema.scaler.item_ids):,} series, {sizes}, {saved}>"
        )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the options that were given, by name, as scikit-learn expects; for a loaded run, all of them.

        An option that was not given is left out, because a preset or the table decides it.

        Args:
            deep: ignored, because no option holds another estimator.
        """
        return dict(self._options)

    def set_params(self, **options: Unpack[TrainKeywords]) -> Self:
        """Change options before the next training; the run that was trained or loaded is released.

        Raises:
            ConfigError: an unknown option, or a value outside its type, choices or range.
        """
        given = {**by_field(self._options), **by_field(dict(options))}
        self.config = RunConfig.from_options(given)
        self._options, self._run = given, None
        return self

    # ------------------------------------------------------------------ train

    def fit(
        self,
        data: pd.DataFrame | Table,
        *,
        vintages: pd.DataFrame | Table | None = None,
        out: Path | str | None = None,
        listener: TrainingListener | None = None,
        logger: str | None = None,
        log_to: Path | str | None = None,
    ) -> Self:
        """Train on a table.

        Args:
            data: a DataFrame or a CSV file with one row per time step, and for several series a column that names them.
                Time may be the index; a Series with such an index is a table of one column.
            vintages: past forecasts of future covariates, with a column issued_at; or name a file with the option
                `vintages`.
            out: run directory to write; without it the run lives in a temporary directory until `save`.
            listener: notified of the progress of training.
            logger: tracker that also receives options, losses and scores: csv, tensorboard, mlflow or wandb.
            log_to: folder or address of the tracker; tracking/ in the run when None.

        Raises:
            DataError: the table cannot be used; the error names column, row and series.
            ConfigError: options contradict each other, or the logger cannot write.
            RunError: the run directory cannot be written, or the loss became non-finite.
        """
        from forecast_attn.training.process_group import broadcast, is_first, joined
        from forecast_attn.training.progress import TrainingListener
        from forecast_attn.training.tracking import check_tracking, tracked
        from forecast_attn.training.train import train

        tracking = TrackingRequest.from_options({"logger": logger, "log_to": log_to})
        check_tracking(tracking)
        listener = listener or TrainingListener()
        with joined(self.config.training):
            disk = Path(tempfile.gettempdir() if out is None else out)
            panel, source = read_panel(fetched(data), self.config, vintages, listener.reading, disk)
            # All train in the folder that the first process names; one made here by another would stay behind, empty.
            target = Path(out) if out is not None else self._scratch_dir() if is_first() else Path()
            with tracked(RunDir(target), tracking, listener, _draw_weights) as hearing:
                run = train(panel, self.config, target, source, hearing)
            broadcast(None)  # the first process has written the run
        self._has_trained(run)
        return self

    def _has_trained(self, run: RunDir) -> None:
        """Take a run for this object's own; on a machine that does not see its folder, the object is not fitted."""
        from forecast_attn.forecasting.model import read_config

        if run.is_finished:
            self._run, self.config = run, read_config(run)

    @classmethod
    def resume(
        cls,
        run: Path | str,
        data: pd.DataFrame | Table | None = None,
        *,
        vintages: pd.DataFrame | Table | None = None,
        listener: TrainingListener | None = None,
        log_to: Path | str | None = None,
    ) -> Self:
        """Continue a run that was killed or interrupted, to the same bytes as an uninterrupted one.

        Args:
            run: the run directory.
            data: the table it was started with; the recorded file when None.
            vintages: the table of past forecasts it was started with, if that was not a file.
            listener: notified of the progress of training.
            log_to: the folder or address that the run is logged to, if it is outside the run.

        Raises:
            RunError: the run is finished or damaged, or the table is a different one.
            ConfigError: the run would be logged elsewhere than `log_to` says.
            DataError: the table cannot be used.
        """
        from forecast_attn.training.process_group import broadcast, joined
        from forecast_attn.training.progress import TrainingListener
        from forecast_attn.training.resume import check_resumable, resume
        from forecast_attn.training.tracking import check_resumed, tracked

        directory = RunDir(run)
        check_resumable(directory)
        request = check_resumed(directory, log_to)
        forecaster = cls._of(directory)
        listener = listener or TrainingListener()
        with joined(forecaster.config.training):
            table = fetched(data)
            panel = panel_of_run(directory, forecaster.config, table, vintages, listener.reading, directory.path)
            with tracked(directory, request, listener, _draw_weights) as hearing:
                resume(panel, directory, hearing)
            broadcast(None)  # the first process has written the run
        return forecaster

    # ------------------------------------------------------------------ use

    @classmethod
    def load(cls, run: Path | str | None = None) -> Self:
        """Open a finished run; the newest under runs/ when None.

        Raises:
            RunError: no such run, or an unfinished or damaged one.
        """
        directory = RunDir.open_finished(Path(run) if run is not None else None)
        return cls._of(directory)

    @classmethod
    def _of(cls, directory: RunDir) -> Self:
        from forecast_attn.forecasting.model import read_config

        forecaster = cls()
        forecaster.config = read_config(directory)
        forecaster._options = forecaster.config.to_options()
        forecaster._run = directory
        return forecaster

    @takes([PredictRequest])
    def predict(
        self,
        data: pd.DataFrame | Table | None = None,
        *,
        future: pd.DataFrame | Table | None = None,
        on_dump: DumpListener | None = None,
        **options: Unpack[PredictKeywords],
    ) -> ForecastResult:
        """Forecast the `horizon` steps after the last known target of every series.

        Args:
            data: history; the end of the table it was trained on when None.
            future: future covariates of the steps to forecast, joined on time stamps and series; not needed if
                `data` has rows with covariates after its last target.
            on_dump: called with the size and the path of each attention file before it is written.
            **options: listed below. Files appear whole or not at all. Without `out` no CSV is written; weights and
                paths without a named file go to a temporary one.

        Raises:
            ConfigError: an option does not apply to this run.
            RunError: not fitted, or the run is damaged.
            DataError: history or future is too short, lacks a column or a value, or has a series that training did
                not see.
        """
        from forecast_attn.forecasting.predict import ForecastRequest, forecast_run

        checked, data = PredictRequest.checked(dict(options)), fetched(data)
        request = ForecastRequest(data=data, future=fetched(future), on_dump=on_dump, **checked)
        result = forecast_run(self._fitted(), self.config, request, self._scratch_dir)
        return dataclasses.replace(result, draw=partial(self.plot, data=data))

    @takes([PredictRequest])
    def predict_parts(
        self,
        data: Path | str,
        *,
        future: pd.DataFrame | Table | None = None,
        on_part: Callable[[PartForecast], None] | None = None,
        **options: Unpack[PredictKeywords],
    ) -> PartitionedForecast:
        """Forecast each Parquet file of a table by itself, in the memory of one file.

        Args:
            data: a folder of Parquet files, or a pattern; each series is in one of them.
            future: future covariates: a folder with files of the same names, or one table for all of them.
            on_part: called for each file when it and all before it are done.
            **options: listed below. `out` and `attention_out` are new folders, which get a Parquet file for each of the
                table; they appear when all are done.

        Raises:
            ConfigError: an option that applies to one table only, or `engine` is ray and Ray is not installed.
            DataError: a file cannot be used, or a series is in two of them.
            RunError: not fitted, the run is damaged, or a folder exists already or cannot be written.
        """
        from forecast_attn.forecasting.partitioned import forecast_parts
        from forecast_attn.forecasting.predict import ForecastRequest

        request = ForecastRequest(future=future, **PredictRequest.checked(dict(options)))
        return forecast_parts(self._fitted(), data, request, on_part)

    def future_template(self, data: pd.DataFrame | Table | None = None) -> FutureTemplate:
        """Return the table of future covariates that `predict` needs, with cells to fill in.

        Args:
            data: history; the end of the table it was trained on when None.

        Raises:
            RunError: not fitted, or the run is damaged.
            DataError: the history cannot be used.
        """
        from forecast_attn.data.template import FutureTemplate
        from forecast_attn.forecasting.history import read_history, table_beside
        from forecast_attn.forecasting.inference import load_model

        run = self._fitted()
        model = load_model(run)
        table = fetched(data)
        frame = None if table is None else table_beside(table, model)
        panel = read_history(model, run, frame, name_of(data), cold_start=True).panel
        known = model.schema.vocabulary.categories
        return FutureTemplate.of(panel, model.schema.horizon, self.config.data, panel.zone, known)

    @takes([BacktestRequest])
    def backtest(
        self,
        data: pd.DataFrame | Table | None = None,
        *,
        vintages: pd.DataFrame | Table | None = None,
        listener: BacktestListener | None = None,
        training: TrainingListener | None = None,
        **options: Unpack[BacktestKeywords],
    ) -> BacktestResult:
        """Forecast from many past cut-offs, and compare with the actual values.

        Without refits, every forecast has the bits of `predict` on a table that ends at its cut-off. A forecaster that
        is not fitted is trained first, on the rows before the first time stamp that is forecast.

        Args:
            data: the table; the one it was trained on when None, from the end of its training rows on.
            vintages: past forecasts of future covariates; the file that the run names when None.
            listener: notified of the progress.
            training: notified of the progress of the training, if there is one.
            **options: listed below. Without `out` the rows are in a temporary file. An interrupted call
                continues when it is repeated.

        Raises:
            ConfigError: options that contradict each other, or do not fit the run.
            DataError: what is wrong with the table, or that it has no such cut-off.
            RunError: not fitted and no table; the run is damaged; or a file cannot be written.
            KeyboardInterrupt: Ctrl-C; what is finished is kept.
        """
        from forecast_attn.backtest.backtest_options import BacktestOptions
        from forecast_attn.backtest.backtest_plan import refuse_shared_files
        from forecast_attn.backtest.backtest_result import run_backtest
        from forecast_attn.backtest.forecast_rows import check_out
        from forecast_attn.backtest.job import BacktestListener

        request, data = BacktestOptions.from_options(dict(options)), fetched(data)
        run = self._run or RunDir(request.out_run or self._scratch_dir())
        out = request.out or self._scratch_dir() / run.backtest.name
        check_out(out)
        refuse_shared_files(run, out, request.attention_out, [data, vintages])
        if self._run is None:
            backtest = self._trained_backtest(data, vintages, request, training)
        else:
            backtest = self._backtest_of_run(data, vintages, request, training)
        result = run_backtest(backtest, out, listener or BacktestListener())
        return dataclasses.replace(result, draw=partial(self.plot, "error-by-step"))

    @takes([BacktestRequest])
    def plan_backtest(
        self,
        data: pd.DataFrame | Table | None = None,
        *,
        vintages: pd.DataFrame | Table | None = None,
        training: TrainingListener | None = None,
        **options: Unpack[BacktestKeywords],
    ) -> BacktestPlan:
        """Find the cut-offs that `backtest` would forecast from, without forecasting or training.

        Args:
            data: as for `backtest`.
            vintages: as for `backtest`.
            training: called with the progress of reading the table.
            **options: as for `backtest`.

        Raises:
            ConfigError, DataError, RunError: as `backtest`.
        """
        from forecast_attn.backtest.backtest_options import BacktestOptions
        from forecast_attn.backtest.backtest_result import BacktestPlan, describe, fold_records

        request, data = BacktestOptions.from_options(dict(options)), fetched(data)
        if self._run is not None:
            backtest = self._backtest_of_run(data, vintages, request, training)
            return BacktestPlan(backtest.folds, backtest.panel.zone, describe(backtest))
        table = self._table_before_cutoffs(data, vintages, request, training)
        folds, zone = table.folds(request), table.panel.zone
        return BacktestPlan(folds, zone, {"folds": fold_records(folds, zone)})

    def _backtest_of_run(
        self,
        data: pd.DataFrame | Table | None,
        vintages: pd.DataFrame | Table | None,
        request: BacktestOptions,
        training: TrainingListener | None,
    ) -> Backtest:
        from forecast_attn.backtest.backtest_plan import plan_backtest

        if request.out_run is not None:
            raise ConfigError(
                "--out-run is for training, and a run is trained already",
                "leave it out, or give the table instead of the run",
            )
        progress = None if training is None else training.reading
        return plan_backtest(self._fitted(), data, request, vintages=vintages, progress=progress)

    def _table_before_cutoffs(
        self,
        data: pd.DataFrame | Table | None,
        vintages: pd.DataFrame | Table | None,
        request: BacktestOptions,
        training: TrainingListener | None,
    ) -> TableBeforeCutoffs:
        """Read the table whose first part is trained on."""
        from forecast_attn.backtest.new_run import TableBeforeCutoffs

        if data is None:
            raise RunError("this Forecaster is not fitted", "give a table, call fit(table), or Forecaster.load(run)")
        return TableBeforeCutoffs.read(
            data, self.config, request, None if training is None else training.reading, vintages
        )

    def _trained_backtest(
        self,
        data: pd.DataFrame | Table | None,
        vintages: pd.DataFrame | Table | None,
        request: BacktestOptions,
        training: TrainingListener | None,
    ) -> Backtest:
        """Train on the rows before the first stamp that is forecast."""
        from forecast_attn.forecasting.model import read_config
        from forecast_attn.training.progress import TrainingListener

        out = request.out_run or self._scratch_dir()
        if not RunDir(out).config.is_file():  # a run that a call which was cut short has begun goes on
            check_is_free(out)
        table = self._table_before_cutoffs(data, vintages, request, training)
        table.folds(request)
        self._run = table.train(out, training or TrainingListener())
        self.config = read_config(self._run)
        if self._run.was_interrupted:
            raise KeyboardInterrupt
        return table.plan(self._run, request)

    @takes([ScoreRequest])
    def anomalies(self, data: pd.DataFrame | Table, **options: Unpack[ScoreKeywords]) -> AnomalyScores:
        """Score each row of a table against the interval that was forecast for it.

        Args:
            data: the rows, with at least a lookback before them.
            **options: listed below. Without `out` no file is written.

        Returns:
            One row per row of the table, with its interval, score, p-value and flag. No score depends on later rows.

        Raises:
            ConfigError: the run has no intervals, or an option is not possible with it.
            DataError: a table cannot be used, has no row to score, or the reference is too small for `rate`.
            RunError: not fitted, the run is damaged, or the file cannot be written.
        """
        from forecast_attn.backtest.anomalies import score_rows
        from forecast_attn.backtest.forecast_rows import check_out
        from forecast_attn.runs.output_paths import refuse_outputs

        request, run = ScoreRequest.from_options(dict(options)), self._fitted()
        if request.out is not None:
            check_out(request.out)
            read = [data, request.reference]
            refuse_outputs({"--out": request.out}, read=read, runs=[run], results=[run.anomalies])
        scores = score_rows(run, fetched(data), request, self._scratch_dir)
        if request.out is not None:
            scores.write(request.out)
        return scores

    @takes([ReconcileRequest])
    def reconcile(
        self,
        hierarchy: pd.DataFrame | Path | str,
        forecasts: pd.DataFrame | Path | str | None = None,
        **options: Unpack[ReconcileKeywords],
    ) -> ReconciledForecast:
        """Make forecasts of series that are sums of each other add up.

        Args:
            hierarchy: a column per level, from the top to the bottom, and a row per bottom series; cells are the names
                of the series.
            forecasts: such as `ForecastResult.predictions`; the newest in the run when None.
            **options: listed below. Without `out` no file is written.

        Raises:
            ConfigError: hierarchicalforecast is not installed, or the method does not fit the hierarchy.
            DataError: a table cannot be read, a series is missing, or there are too few errors to learn from.
            RunError: not fitted, the run is damaged, it has no forecasts, or the file cannot be written.
        """
        from forecast_attn.hierarchy.reconcile import reconcile_run
        from forecast_attn.runs.output_paths import refuse_outputs

        request, run = ReconcileRequest.from_options(dict(options)), self._fitted()
        read = [hierarchy, forecasts, request.reference]
        written, forms = {"--out": request.out}, {"--out": ".csv"}
        refuse_outputs(written, read=read, runs=[run], results=[run.reconciled], forms=forms)
        result = reconcile_run(run, hierarchy, forecasts, request, self._scratch_dir())
        if request.out is not None:
            result.write(request.out)
        return result

    @takes([UpdateRequest])
    def update(
        self,
        data: pd.DataFrame | Table,
        *,
        history: pd.DataFrame | Table | None = None,
        on_epoch: Callable[[EpochRecord], None] | None = None,
        **options: Unpack[UpdateKeywords],
    ) -> Self:
        """Continue the run on new rows, and return a forecaster of the new run; this one stays as it is.

        Old and new weights are scored on the newest steps, which neither was trained on, and the better ones are kept;
        `metrics["update"]` says which. Without `out` the new run lives in a temporary directory until `save`.

        Args:
            data: the rows after the end of the run's table, alone or below those of the table.
            history: the run's table; the file it was trained on, with the rows of earlier updates, when None. Not
                needed where `data` begins with the rows of the run's table.
            on_epoch: called after every epoch.
            **options: listed below.

        Raises:
            ConfigError: options that contradict each other, or a run that cannot be updated.
            DataError: the rows cannot be used: they contradict the table, rows in between or a column are
                missing, the time step differs, or there are none.
            RunError: not fitted, the run is damaged, its table is not known, or the new run cannot be written.
            KeyboardInterrupt: Ctrl-C; nothing is written.
        """
        from forecast_attn.updating.update import update_run

        request = UpdateRequest.from_options(dict(options))
        out = request.out or self._scratch_dir() / "run"
        written = update_run(self._fitted(), data, out, request, history=history, on_epoch=on_epoch)
        updated = type(self)._of(written)
        updated._keep = self  # whose temporary directory may hold the new run
        return updated

    @takes([PlotRequest])
    def plot(
        self,
        kind: str = "forecast",
        *,
        forecasts: pd.DataFrame | Path | str | None = None,
        data: pd.DataFrame | Path | str | None = None,
        future: pd.DataFrame | Path | str | None = None,
        **options: Unpack[PlotKeywords],
    ) -> Picture:
        """Draw forecasts: those given, or the newest that `predict` or `backtest` wrote into the run.

        Args:
            kind: `forecast`, `error-by-step`, `calibration`, `attribution` (contribution of each input) or
                `by-value` (mean forecast and actual value by the value of a column).
            forecasts: a table of forecasts, such as `ForecastResult.predictions` or `BacktestResult.frame`; those in
                the run when None.
            data: a table of the series with the actual values; the run's table when None.
            future: future covariates, for the attribution of the forecast after the end of the table.
            **options: listed below.

        Returns:
            The picture: `.print()` prints it, `.figure()` is a matplotlib figure, `.to_dict()` the numbers.

        Raises:
            ConfigError: there is no such kind, an option does not apply to it, or matplotlib is not installed.
            RunError: not fitted, or the run is damaged.
            DataError: nothing matches the choice.
        """
        from forecast_attn.plotting.picture import draw_picture
        from forecast_attn.plotting.sources import PlotSource

        request = PlotRequest.from_options({**options, "kind": kind})
        table, values, ahead = (Path(each) if isinstance(each, str) else each for each in (forecasts, data, future))
        return draw_picture(PlotSource(table, self._fitted(), values, ahead), request)

    @takes([AuditRequest])
    def audit(
        self,
        data: pd.DataFrame | Table | None = None,
        *,
        listener: AuditListener | None = None,
        **options: Unpack[AuditKeywords],
    ) -> Audit:
        """Test whether the attention is faithful, on validation windows of the table it was trained on.

        Args:
            data: that table; the recorded file when None.
            listener: called with the plan and the progress of the audit.
            **options: listed below. For a model without attention only the columns are tested. The same `seed`
                gives the same document.

        Raises:
            ConfigError: the model has no attention, a number is out of its range, or `out` is read or of the run.
            RunError: not fitted; another run cannot be compared; or the table is not the one of the training.
            DataError: the table cannot be used.
        """
        from forecast_attn.audit import audit_run
        from forecast_attn.runs.output_paths import refuse_outputs

        request, run = AuditRequest.from_options(dict(options)), self._fitted()
        written, forms = {"--out": request.out}, {"--out": ".json"}
        refuse_outputs(written, read=[data], runs=[run], results=[run.audit], forms=forms)
        audit = audit_run(run, data, request, listener)
        if request.out is not None:
            run.write_json(request.out, audit.to_dict())
        return audit

    @takes([ReportRequest])
    def report(self, data: Path | str | None = None, **options: Unpack[ReportKeywords]) -> RunReport:
        """Write one printable page on the run: accuracy, attention, its audit, the data and more.

        Args:
            data: file of the training table, whose bytes are compared; the recorded file when None.
            **options: listed below. Without any, nothing is written.

        Returns:
            The page, which a notebook shows.

        Raises:
            RunError: not fitted, the run is damaged, or a file cannot be written.
            ConfigError: there is no browser to print a PDF with, or `data` is not a file.
        """
        from forecast_attn.reporting.printer import check_targets, write_report
        from forecast_attn.reporting.report import build_run_report
        from forecast_attn.runs.output_paths import refuse_outputs

        if not isinstance(data, str | Path | None):
            raise ConfigError(f"a report takes a file of the table, not a {type(data).__name__}", "report('data.csv')")
        request, run = ReportRequest.from_options(dict(options)), self._fitted()
        check_targets(request)
        refuse_outputs({"--html": request.html, "--pdf": request.pdf}, read=[data], runs=[run], results=[run.report])
        report = build_run_report(run, None if data is None else Path(data))
        write_report(report, request)
        return report

    @takes([ExportRequest])
    def export(self, onnx: Path | str | None = None, **options: Unpack[ExportKeywords]) -> OnnxExport:
        """Write the run as one file for a runtime without torch, compared with `predict` first.

        Args:
            onnx: file to write; when None, that of `predict(runtime="onnx")` in the run, which holds the network alone.
            **options: listed below.

        Returns:
            The file's size, its largest difference from `predict`, and the document in it: inputs, outputs, series.

        Raises:
            ConfigError: a package of the extra `onnx` is missing, or a named file's forecasts would be combined with
                baselines.
            RunError: not fitted; the run is damaged; the file cannot be written, or forecasts something else.
        """
        from forecast_attn.export.onnx_file import export_onnx
        from forecast_attn.runs.output_paths import refuse_outputs

        request, run = ExportRequest.from_options({**options, "onnx": onnx}), self._fitted()
        refuse_outputs({"--onnx": request.onnx}, runs=[run])
        return export_onnx(run, request.onnx, network_alone=request.network_alone)

    @takes([InspectRequest])
    def inspect(
        self, data: Path | str | None = None, **options: Unpack[InspectKeywords]
    ) -> Inspection | WeightComparison:
        """Describe what the last forecast in the run looked at, or the validation windows if there is none yet.

        Args:
            data: table of the series to draw; the run's table when None.
            **options: listed below.

        Returns:
            Steps, lags, warnings and one sentence that the evidence supports; with `compare` the differences.

        Raises:
            ConfigError: options that do not go together, no such step or head, or a file to write that is read.
            RunError: not fitted, the run is damaged, or it has no attention.
            DataError: no such series or cut-off.
        """
        from forecast_attn.inspection.inspect import check_combination, check_targets, find_attention, inspect_source

        request = InspectRequest.from_options(dict(options))
        check_combination(request, has_table=data is not None)
        source = find_attention(self._fitted(), validation=request.validation)
        table = None if data is None else Path(data)
        check_targets(source, request, table)
        return inspect_source(source, request, table)[0]

    def save(self, path: Path | str) -> None:
        """Copy the run to a directory that `load` and the command line can open.

        Raises:
            RunError: not fitted, or the directory exists and is not empty.
        """
        source = self._fitted()
        if source.is_member:
            raise RunError(
                f"'{source.path}' is a member of an ensemble, whose files it shares", f"save '{source.home}' as a whole"
            )
        target = RunDir.create(Path(path))
        shutil.copytree(source.path, target.path, dirs_exist_ok=True)

    @property
    def run_path(self) -> Path:
        """The run directory."""
        return self._fitted().path

    @property
    def metrics(self) -> dict[str, Any]:
        """Validation errors of the best weights and of the baselines, in the target's units."""
        run = self._fitted()
        return run.read_json(run.metrics)

    @property
    def history(self) -> pd.DataFrame:
        """One row per epoch; for an ensemble one per member and epoch, with the member in the first column."""
        import pandas as pd

        run = self._fitted()
        if not run.members:
            return pd.read_csv(run.unaltered(run.history))
        histories = {member.number: pd.read_csv(run.unaltered(member.history)) for member in run.members}
        return pd.concat(histories, names=["member", None]).reset_index("member").reset_index(drop=True)

    @property
    def validation_attention(self) -> AttentionDump | None:
        """Attention weights of validation windows; None for the mechanism `none`."""
        from forecast_attn.attention_file import read_attention

        run = self._fitted()
        there = run.validation_attention.is_file()
        return read_attention(run.unaltered(run.validation_attention)) if there else None

    def _fitted(self) -> RunDir:
        if self._run is None:
            raise RunError("this Forecaster is not fitted", "call fit(table), or Forecaster.load(run)")
        return self._run

    def _scratch_dir(self) -> Path:
        """A directory that lives as long as this object."""
        path = tempfile.mkdtemp(prefix=SCRATCH)
        weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)
        return Path(path)


def _draw_weights(run: RunDir, folder: Path) -> list[Path]:
    """Draw what the validation windows of a run looked at; nothing without attention or without matplotlib."""
    picture = folder / "attention.png"
    if not run.validation_attention.is_file() or importlib.util.find_spec("matplotlib") is None:
        return []
    Forecaster._of(run).inspect(validation=True, png=picture)
    return [picture]
