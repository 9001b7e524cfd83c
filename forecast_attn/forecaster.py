"""The Python face of the tool: the same names as the command line, which itself uses this class."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from forecast_attn.backtest.of_forecaster import Backtesting
from forecast_attn.config.options import RunConfig
from forecast_attn.errors import RunError
from forecast_attn.forecasting.predict import ForecastResult
from forecast_attn.plotting.of_forecaster import Plotting
from forecast_attn.runs.run_dir import SCRATCH, RunDir
from forecast_attn.runs.training_table import Table, name_of, panel_of_run, read_panel

if TYPE_CHECKING:
    import pandas as pd

    from forecast_attn.attention_file import AttentionDump
    from forecast_attn.audit import Audit, AuditListener
    from forecast_attn.data.template import FutureTemplate
    from forecast_attn.forecasting.attention_output import DumpListener
    from forecast_attn.training.progress import TrainingListener


class Forecaster(Backtesting, Plotting):
    """Trains on a table, forecasts it, and keeps what the forecast looked at.

        forecaster = Forecaster(horizon=24, lookback=168, attention="luong-general", future_covariates=["temperature"])
        forecaster.fit(frame)
        result = forecaster.predict(future=future_frame)

    Args:
        **options: any option of `forecast train`, by its name in `forecast_attn.config`.

    Raises:
        ConfigError: an unknown option, or a value outside its type, choices or range.
    """

    def __init__(self, **options: Any) -> None:
        self.config = RunConfig.from_options(options)
        self._run: RunDir | None = None

    # ------------------------------------------------------------------ train

    def fit(
        self,
        data: pd.DataFrame | Table,
        *,
        vintages: pd.DataFrame | None = None,
        out: Path | str | None = None,
        listener: TrainingListener | None = None,
    ) -> Self:
        """Train on a table.

        Args:
            data: a DataFrame or a CSV file: one row per time step, for several series with a column that names them.
            vintages: future covariates as they were forecast, with a column issued_at; or name a file as the option
                `vintages`.
            out: run directory to write; without it the run lives in a temporary directory until `save`.
            listener: hears how training goes.

        Raises:
            DataError: what is wrong with the table, with column, row and series.
            ConfigError: options contradict each other.
            RunError: the run directory cannot be written, or the loss became non-finite.
        """
        from forecast_attn.training.progress import TrainingListener

        listener = listener or TrainingListener()
        panel, source = read_panel(data, self.config, vintages, listener.reading)
        from forecast_attn.forecasting.model import read_config
        from forecast_attn.training.train import train

        target = Path(out) if out is not None else self._scratch_dir()
        self._run = train(panel, self.config, target, source, listener)
        self.config = read_config(self._run)
        return self

    @classmethod
    def resume(
        cls,
        run: Path | str,
        data: pd.DataFrame | Table | None = None,
        *,
        vintages: pd.DataFrame | None = None,
        listener: TrainingListener | None = None,
    ) -> Self:
        """Continue a run that was killed or interrupted, to the same bytes as an uninterrupted one.

        Args:
            run: the run directory.
            data: the table it was started with; the recorded file when None.
            vintages: the table of forecasts it was started with, where that was no file.
            listener: hears how training goes.

        Raises:
            RunError: the run is finished or damaged, or the table is another one.
            DataError: what is wrong with the table.
        """
        from forecast_attn.training.progress import TrainingListener
        from forecast_attn.training.train import check_resumable, resume

        directory = RunDir(run)
        check_resumable(directory)
        forecaster = cls._of(directory)
        listener = listener or TrainingListener()
        panel = panel_of_run(directory, forecaster.config, data, vintages, listener.reading)
        forecaster._run = resume(panel, directory, listener)
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
        forecaster._run = directory
        return forecaster

    def predict(
        self,
        data: pd.DataFrame | Table | None = None,
        *,
        future: pd.DataFrame | Table | None = None,
        out: Path | str | None = None,
        attention_out: Path | str | None = None,
        attention_windows: str | int = "all",
        attention_dtype: str = "float32",
        attention_top: int | None = None,
        attention_members: bool = False,
        on_dump: DumpListener | None = None,
        cold_start: bool = False,
        non_negative: bool | None = None,
        samples: int | None = None,
        seed: int | None = None,
        samples_out: Path | str | None = None,
        combine_with: str | Sequence[str] | None = None,
        accelerator: str = "auto",
    ) -> ForecastResult:
        """Forecast the `horizon` steps after the last known target of every series.

        Args:
            data: history; the end of the table it was trained on when None.
            future: future covariates of the steps to forecast, joined on time stamps and series; not needed where
                `data` has rows with covariates after its last target.
            out: CSV file to write the forecasts to, whole or not at all; none when None.
            attention_out: where the weights are streamed to; a temporary file when None.
            attention_windows: write the weights of so many windows, evenly spread; `all` for all.
            attention_dtype: of the written weights, float32 or float16.
            attention_top: write only the largest weights of each row, so many, with their lags; None for all.
            attention_members: of an ensemble, write the weights of each member too, beside the averaged ones:
                `attention-member-0.parquet` and so on.
            on_dump: called with the size and the path of each attention file before it is written.
            cold_start: forecast series that training did not see too, each scaled by its own lookback: at most
                `lookback` rows up to its last known target. Their categories are unknown where training saw none.
            non_negative: cut forecasts and their quantiles off at 0; as in training when None.
            samples: so many paths are drawn of every series, step by step, each value feeding the next step; of an
                autoregressive run with quantiles or a distribution.
            seed: of the paths; drawn when None, and named in the result.
            samples_out: Parquet file to write the paths to; a temporary one when None.
            combine_with: name of a baseline or of several, such as regression, which learn from `data`; forecasts are
                the mean of the model's and of the mean of theirs, and the model's quantiles move by as much. `none` for
                the model alone; when None the weights that validation chose in training, if it did.
            accelerator: where to compute.

        Raises:
            ConfigError: the run has no paths to draw or no members, or an option has nothing to act on.
            RunError: not fitted, or the run is damaged.
            DataError: history or future is too short, lacks a column or a value, or has a series that training did
                not see.
        """
        from forecast_attn.attention_file import DumpChoice
        from forecast_attn.baselines.combination import combined_names
        from forecast_attn.forecasting.predict import ForecastRequest, forecast_run

        request = ForecastRequest(
            data=data,
            future=future,
            out=None if out is None else Path(out),
            attention_out=None if attention_out is None else Path(attention_out),
            attention=DumpChoice.of(attention_windows, attention_dtype, attention_top),
            attention_members=attention_members,
            on_dump=on_dump,
            cold_start=cold_start,
            non_negative=non_negative,
            samples=samples,
            seed=seed,
            samples_out=None if samples_out is None else Path(samples_out),
            combine_with=None
            if combine_with is None
            else ()
            if combine_with == "none"
            else combined_names(combine_with),
            accelerator=accelerator,
        )
        return forecast_run(self._fitted(), self.config, request, self._scratch_dir)

    def future_template(self, data: pd.DataFrame | Table | None = None) -> FutureTemplate:
        """The table of future covariates that `predict` needs, with cells to fill in.

        Args:
            data: history; the end of the table it was trained on when None.

        Raises:
            RunError: not fitted, or the run is damaged.
            DataError: what is wrong with the history.
        """
        from forecast_attn.data.template import FutureTemplate
        from forecast_attn.forecasting.history import read_history
        from forecast_attn.forecasting.model import load_model
        from forecast_attn.forecasting.predict import table_beside

        run = self._fitted()
        model = load_model(run)
        frame = table_beside(data, self.config.data, model.schema.roles, wide=self.config.data.wide)
        panel = read_history(model, run, frame, name_of(data), cold_start=True).panel
        return FutureTemplate.of(panel, model.schema.horizon, self.config.data, panel.zone)

    def audit(
        self,
        data: pd.DataFrame | Table | None = None,
        *,
        windows: int = 128,
        seeds: Sequence[Path | str] = (),
        covariates: bool = False,
        draws: int | None = None,
        repeats: int = 10,
        seed: int = 0,
        out: Path | str | None = None,
        accelerator: str = "auto",
        listener: AuditListener | None = None,
    ) -> Audit:
        """Ask whether the attention is faithful, on validation windows of the table it was trained on.

        Args:
            data: that table; the recorded file when None.
            windows: most validation windows to look at, spread evenly.
            seeds: runs of other trainings on the same table, to compare with.
            covariates: ask too which columns the forecast needs; a model without attention is asked nothing else.
            draws: random orders of the weights; 100 for 128 windows or fewer when None, and fewer for more windows.
            repeats: permutations of each column.
            seed: of everything random: the same seed gives the same document.
            out: JSON file to write, whole or not at all; none when None.
            accelerator: where to compute.
            listener: hears how far the audit is.

        Raises:
            ConfigError: the model has no attention, or a number is out of its range.
            RunError: not fitted; another run cannot be compared with; or this is not the table of the training.
            DataError: what is wrong with the table.
        """
        from forecast_attn.audit import AuditOptions, audit_run, write_audit

        run = self._fitted()
        attention = self.config.model.attention != "none" or not covariates
        options = AuditOptions(windows, draws, seed, attention, covariates, repeats)
        audit = audit_run(run, data, options, others=seeds, accelerator=accelerator, listener=listener)
        if out is not None:
            write_audit(audit, run, Path(out))
        return audit

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
        """Validation errors of the best weights beside the baselines', in the target's units."""
        run = self._fitted()
        return run.read_json(run.metrics)

    @property
    def history(self) -> pd.DataFrame:
        """One row per epoch; of an ensemble per member and epoch, with the member in the first column."""
        import pandas as pd

        run = self._fitted()
        if not run.members:
            return pd.read_csv(run.unaltered(run.history))
        histories = {member.number: pd.read_csv(run.unaltered(member.history)) for member in run.members}
        return pd.concat(histories, names=["member", None]).reset_index("member").reset_index(drop=True)

    @property
    def validation_attention(self) -> AttentionDump | None:
        """Weights over windows of the validation stretch; None for the mechanism `none`."""
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
