"""`forecast backtest`: what a run would have forecast in the past, beside what came and beside the baselines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import INTERRUPTED, ConfigFile, Json, Quiet, given_options, with_options
from forecast_attn.config.options import RunConfig, all_options
from forecast_attn.errors import ConfigError, RunError

if TYPE_CHECKING:
    from forecast_attn.backtest.job import Backtest
    from forecast_attn.backtest.plan import BacktestOptions
    from forecast_attn.runs.run_dir import RunDir

OF_TRAINING = tuple(name for name in all_options() if not name.startswith("attention_") or name == "attention_order")
"""Options of the run that a table is trained to; the other ones of attention have a meaning of their own here."""
OF_TRAINING += ("attention_size", "attention_window")
OF_RUN = ("accelerator", "vintages", "non_negative")
"""Those that a finished run takes too."""


@with_options("data", "model", "training", only=OF_TRAINING)
def backtest(
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN|DATA]",
            help="A finished run, the newest when absent; or a table, on whose rows before --start a run is trained.",
            show_default=False,
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="Table to forecast; the one the run was trained on when absent."),
    ] = None,
    cutoffs: Annotated[
        int | None, typer.Option("--cutoffs", metavar="N", help="The last N cut-offs whose horizon is in the data.")
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--start", metavar="DATE", help="First stamp to forecast; the end of training when absent."),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option("--end", metavar="DATE", help="Last stamp a forecast may start at; a date covers its whole day."),
    ] = None,
    stride: Annotated[
        str | None,
        typer.Option(
            "--stride",
            metavar="STEP",
            help="Distance between cut-offs: steps (24), exact time (24h), or days on the wall clock (7D); the "
            "horizon when absent.",
        ),
    ] = None,
    refit: Annotated[
        str,
        typer.Option("--refit", metavar="never|every|K", help="Train further every K cut-offs, on rows up to there."),
    ] = "never",
    refit_epochs: Annotated[
        int | None, typer.Option("--refit-epochs", metavar="N", help="Epochs of each refit; 2 when absent.")
    ] = None,
    refit_learning_rate: Annotated[
        float | None,
        typer.Option(
            "--refit-learning-rate",
            metavar="X",
            help="Peak learning rate of each refit; a fifth of the run's when absent.",
        ),
    ] = None,
    refit_window: Annotated[
        str | None,
        typer.Option(
            "--refit-window",
            metavar="STEPS|TIME",
            help="Refit on the newest steps only: 1344, or 8W; on all rows when absent.",
        ),
    ] = None,
    refit_validation: Annotated[
        int | None,
        typer.Option(
            "--refit-validation",
            metavar="N",
            help="Last steps before a refit's cut-off, which choose its best epoch and are not trained on; 7 horizons "
            "when absent, 0 for none.",
        ),
    ] = None,
    refit_from: Annotated[
        str | None,
        typer.Option(
            "--refit-from", metavar="NAME", help="Weights that a refit starts from (last, run); last when absent."
        ),
    ] = None,
    baselines: Annotated[
        str | None,
        typer.Option(
            "--baselines",
            metavar="NAMES",
            help="Models to compare with, or none; naive,seasonal-naive,mean,median,drift,linear when absent; "
            "also regression, median-regression, boosted-trees, auto-ets, auto-arima.",
        ),
    ] = None,
    combine_with: Annotated[
        str | None,
        typer.Option(
            "--combine-with",
            metavar="NAMES",
            help="Score the mean of the model's forecast and baselines' (regression,median-regression) too, as "
            "combination.",
        ),
    ] = None,
    metrics: Annotated[
        str | None, typer.Option("--metrics", metavar="NAMES", help="Metrics, such as mae,rmse; all when absent.")
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="GROUPS", help="Score by step, item_id, hour, weekday or cutoff too.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the cut-offs and stop.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Parquet or CSV of the forecasts. \\[default: in the run]"),
    ] = None,
    out_run: Annotated[
        Path | None,
        typer.Option("--out-run", metavar="DIR", help="Run directory of a table's training; runs/<time>-<attention>."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of the model in the file; the run's when absent.")
    ] = None,
    attention_out: Annotated[
        Path | None,
        typer.Option("--attention-out", metavar="FILE", help="Parquet file of the weights; none if absent."),
    ] = None,
    attention_windows: Annotated[
        str, typer.Option("--attention-windows", metavar="N|all", help="Windows whose weights are written.")
    ] = "all",
    attention_dtype: Annotated[
        str, typer.Option("--attention-dtype", metavar="NAME", help="Type of the written weights (float32, float16).")
    ] = "float32",
    attention_top: Annotated[
        int | None, typer.Option("--attention-top", metavar="K", help="Write only the K largest weights of each row.")
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Forecast from many past cut-offs, with or without refits, and say how good that would have been."""
    is_table = source is not None and not source.is_dir()
    _check_use(source, data, out_run, config, options, is_table=is_table)
    options = given_options(config, options)
    from_file = options.pop("out", None)  # of a file for `forecast train`: where the run is written
    out_run = out_run or (Path(from_file) if from_file else None)
    from forecast_attn.attention_file import DumpChoice
    from forecast_attn.backtest.cutoffs import Schedule
    from forecast_attn.backtest.plan import BacktestOptions
    from forecast_attn.backtest.refit_options import RefitOptions
    from forecast_attn.baselines.combination import combined_names
    from forecast_attn.config.values import check_choice

    wanted = BacktestOptions(
        schedule=Schedule(cutoffs, start, end, stride),
        refit=RefitOptions(refit, refit_epochs, refit_learning_rate, refit_window, refit_validation, refit_from),
        baselines=None if baselines is None else () if baselines == "none" else _names(baselines),
        combine_with=combined_names(combine_with),
        metrics=_names(metrics) or None,
        by=_names(by),
        attention_out=attention_out,
        attention=DumpChoice.of(attention_windows, attention_dtype, attention_top),
        accelerator=check_choice("accelerator", options.get("accelerator", "auto")),
        non_negative=None if is_table else options.get("non_negative"),
        name=name,
    )
    command = _Command(wanted, out, dry_run=dry_run, json=json, quiet=quiet)
    if is_table:
        assert source is not None
        command.of_table(source, RunConfig.from_options(options), out_run)
    else:
        command.of_run(source, data, options.get("vintages"))


class _Command:
    """The command's two uses, and what they share."""

    def __init__(self, wanted: BacktestOptions, out: Path | None, *, dry_run: bool, json: bool, quiet: bool) -> None:
        self.wanted, self.out, self.dry_run, self.json, self.quiet = wanted, out, dry_run, json, quiet

    def of_run(self, source: Path | None, data: Path | None, vintages: Any) -> None:
        """`forecast backtest RUN`."""
        from forecast_attn.backtest.plan import plan_backtest
        from forecast_attn.cli.tables import make_console, reading_progress
        from forecast_attn.runs.run_dir import RunDir

        run = RunDir.open_finished(source)
        with reading_progress(make_console(stderr=True, quiet=self.quiet)) as progress:
            planned = plan_backtest(run, data, self.wanted, vintages=vintages, progress=progress)
        self._finish(planned, [data] if data is not None else [], f"forecast backtest {run.path}")

    def of_table(self, table: Path, config: RunConfig, out_run: Path | None) -> None:
        """`forecast backtest DATA`."""
        from forecast_attn.backtest.fresh import TableBeforeCutoffs
        from forecast_attn.cli.training_display import TrainingDisplay
        from forecast_attn.runs.run_dir import check_is_free, fresh_path

        if out_run is not None:
            check_is_free(out_run)
        display = TrainingDisplay(quiet=self.quiet)
        with display:
            beginning = TableBeforeCutoffs.read(table, config, self.wanted, display.reading)
            folds = beginning.folds(self.wanted)
            if self.dry_run:
                self._show_folds(folds, beginning.panel)
                return
            run = beginning.train(out_run or fresh_path(config.model.attention), display)
        again = f"forecast backtest {run.path} --data {table}"
        if run.read_json(run.metrics)["ended"] == "interrupted":
            display.say(f"hint: backtest the weights so far with: {again} …; or begin again")
            raise SystemExit(INTERRUPTED)
        self._finish(beginning.plan(run, self.wanted), [table], again)

    def _finish(self, planned: Backtest, tables: list[Path], again: str) -> None:
        from forecast_attn.backtest.result import run_backtest
        from forecast_attn.cli.backtest_display import BacktestDisplay, show_result

        if self.dry_run:
            self._show_folds(planned.folds, planned.panel, planned)
            return
        out = self.out or planned.run.backtest
        _refuse_shared_files(planned.run, out, self.wanted.attention_out, tables)
        with BacktestDisplay(quiet=self.quiet) as display:
            try:
                result = run_backtest(planned, out, self.wanted, display)
            except KeyboardInterrupt:
                display.console.print(f"interrupted: what is finished is kept; go on with the same options: {again} …")
                raise SystemExit(INTERRUPTED) from None
        if not self.json:
            show_result(result, all_metrics=self.wanted.metrics is not None, quiet=self.quiet)
            return

        from json import loads

        printing.write_json(loads(out.with_suffix(".json").read_text(encoding="utf-8")))

    def _show_folds(self, folds: Any, panel: Any, planned: Backtest | None = None) -> None:

        from forecast_attn.backtest.result import describe, fold_records
        from forecast_attn.cli.backtest_display import print_folds
        from forecast_attn.cli.tables import make_console

        if self.json:
            document = {"folds": fold_records(folds, panel.zone)} if planned is None else describe(planned)
            printing.write_json(document)
        else:
            print_folds(make_console(), folds, panel.zone)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip()) if text else ()


def _check_use(
    source: Path | None,
    data: Path | None,
    out_run: Path | None,
    config: Path | None,
    options: dict[str, Any],
    *,
    is_table: bool,
) -> None:
    """Refuse options of the command's other use."""
    if is_table:
        if not source.exists() and str(source) != "-":  # type: ignore[union-attr]
            raise RunError(f"there is no run or table '{source}'", "forecast backtest RUN, or forecast backtest DATA")
        if data is not None:
            raise ConfigError(
                f"'{source}' is a table already, and --data names another one",
                "forecast backtest RUN --data FILE, or the table alone",
            )
        return
    given = {"out_run": out_run, "config": config, **{n: v for n, v in options.items() if n not in OF_RUN}}
    for option, value in given.items():
        if value is not None:
            raise ConfigError(
                f"--{option.replace('_', '-')} is for training, and a run is trained already",
                "leave it out, or give the table instead of the run",
            )


def _refuse_shared_files(run: RunDir, out: Path, attention_out: Path | None, tables: list[Path]) -> None:
    """Refuse to write over a table, a file that the run owns, or two results into one."""
    written = [out, out.with_suffix(".json"), *([] if attention_out is None else [attention_out])]
    if len({path.resolve() for path in written}) < len(written):
        raise ConfigError(f"--out and --attention-out both write '{attention_out}'", "give each a file of its own")
    recorded = run.read_json(run.config)["data"]["file"]
    owned = {path for path in run.path.iterdir() if path not in (run.backtest, run.backtest_scores)}
    for path in written:
        for needed in (*tables, Path(recorded), *owned):
            if path.exists() and needed.exists() and path.samefile(needed):
                raise ConfigError(f"'{path}' is a table that is read, or belongs to the run", "choose another --out")
