"""Train every mechanism with every seed on the same windows, and rank them."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from forecast_attn.cluster import check_sharing, shared_out
from forecast_attn.comparison.comparison_plan import ComparisonDir, ComparisonPlan, Entry
from forecast_attn.comparison.leaderboard import Comparison, leaderboard_of
from forecast_attn.config.options import RunConfig
from forecast_attn.config.requests import TRAINING, CompareRequest, takes
from forecast_attn.data.calendar_features import Calendar
from forecast_attn.data.panel import Panel
from forecast_attn.data.reading import fetched
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.forecasting.model import read_config, read_schema
from forecast_attn.runs.run_dir import DataSource, RunDir
from forecast_attn.runs.training_table import Table, check_is_regular, check_recorded_files, read_panel
from forecast_attn.training.fit import check_hardware
from forecast_attn.training.preparation import Preparation, prepare
from forecast_attn.training.progress import TrainingListener
from forecast_attn.training.resume import resume_prepared
from forecast_attn.training.train import resolved, train_prepared

if TYPE_CHECKING:
    import pandas as pd

    from forecast_attn.config.keywords import CompareKeywords


class ComparisonListener(TrainingListener):
    """Callbacks for the progress of a comparison, and of its trainings where they run in this process."""

    def run_started(self, number: int, runs: int, entry: Entry) -> None:
        """Called before each training, counted from 1, or before waiting for its end."""

    def run_ended(self, metrics: dict[str, Any], *, kept: bool) -> None:
        """Called after each training, with its metrics.json; `kept` if an earlier call had trained it."""


@takes([CompareRequest, *TRAINING])
def compare(
    data: pd.DataFrame | Table,
    attention: str | Sequence[str],
    *,
    out: Path | str,
    vintages: pd.DataFrame | Table | None = None,
    listener: ComparisonListener | None = None,
    **options: Unpack[CompareKeywords],
) -> Comparison:
    """Train attention mechanisms with the same data, budget and seeds, and rank them by their validation error.

    Args:
        data: a DataFrame or a file, as for `Forecaster.fit`.
        attention: names of mechanisms, two or more.
        out: folder to write: a run directory for each training, and the leaderboard.
        vintages: future covariates as they were forecast.
        listener: called with the progress.
        **options: listed below; all but `seeds` and `seed` are the same for all runs.

    Raises:
        ConfigError: options contradict each other, or do not go with one of the mechanisms.
        DataError: what is wrong with the table.
        RunError: the folder holds something already or cannot be written, or a loss became non-finite.
        KeyboardInterrupt: Ctrl-C; `resume_comparison` goes on from there.
    """
    listener = listener or ComparisonListener()
    choices = {name: value for name, value in options.items() if name in CompareRequest.names()}
    shared = {name: value for name, value in options.items() if name not in choices}
    request = CompareRequest.from_options({"attention": attention, **choices})
    plan, directory = ComparisonPlan.of(request, **shared), ComparisonDir(out)
    directory.check_is_free()
    first = plan.config_of(plan.entries[0])
    _check_devices(first, request.jobs, request.engine)
    panel, source = read_panel(fetched(data), first, vintages, listener.reading)
    preparation, configs = _prepared(panel, plan, listener)
    directory.create(plan, source)
    trainings = _Trainings(directory, preparation, configs, source)
    return _train_all(trainings, listener, request.jobs, request.engine)


def resume_comparison(
    out: Path | str,
    data: pd.DataFrame | Table | None = None,
    *,
    vintages: pd.DataFrame | Table | None = None,
    listener: ComparisonListener | None = None,
    jobs: int = 1,
    engine: str = "local",
) -> Comparison:
    """Continue a comparison that was killed or interrupted: finished runs are kept, the others trained to their end.

    Args:
        out: its folder.
        data: the table it was started with; the recorded file when None.
        vintages: the table of forecasts it was started with, where that was no file.
        listener: called with the progress.
        jobs: as of `compare`.
        engine: as of `compare`.

    Raises:
        RunError: there is no comparison, it is damaged, or this is another table.
        DataError: what is wrong with the table.
        KeyboardInterrupt: Ctrl-C.
    """
    listener, directory = listener or ComparisonListener(), ComparisonDir(out)
    plan, recorded = directory.read()
    first = plan.config_of(plan.entries[0])
    _check_devices(first, jobs, engine)
    if data is None and recorded["sha256"] is None:
        raise RunError(f"'{out}' was not trained on a file; the table must be given again", "pass it as DATA")
    table = recorded["file"] if data is None else fetched(data)
    check_recorded_files(str(out), recorded, first, data=data, vintages=vintages)
    check_is_regular(str(out), first.data.holiday_dates)
    panel, source = read_panel(table, first, vintages, listener.reading)
    _check_same(directory, recorded, source)
    preparation, configs = _prepared(panel, plan, listener, _calendar_so_far(directory, plan))
    trainings = _Trainings(directory, preparation, configs, DataSource(*recorded.values()))
    return _train_all(trainings, listener, jobs, engine)


def _check_devices(config: RunConfig, jobs: int, engine: str) -> None:
    """Refuse what this machine does not have, before anything is read; a cluster's machines look for themselves."""
    check_sharing(engine, jobs)
    if engine == "local":
        check_hardware(config.training)
    if config.training.devices > 1 and (jobs > 1 or engine != "local"):
        raise ConfigError("--jobs and --engine share out whole trainings, each on one device", "leave --devices out")


def _calendar_so_far(directory: ComparisonDir, plan: ComparisonPlan) -> Calendar | None:
    """The calendar of the runs that were begun; None before the first one."""
    begun = (run for run in map(directory.run, plan.entries) if run.config.is_file())
    return next((read_schema(run).calendar for run in begun), None)


def _check_same(directory: ComparisonDir, recorded: dict[str, Any], source: DataSource) -> None:
    for was, now in ((recorded["sha256"], source.sha256), (recorded["vintages_sha256"], source.vintages_sha256)):
        if was is not None and now not in (was, None):
            raise RunError(
                f"'{source.name}' is not the table that '{directory.path}' was started with",
                "resume with the original file, or start a new comparison",
            )


def _prepared(
    panel: Panel, plan: ComparisonPlan, listener: ComparisonListener, calendar: Calendar | None = None
) -> tuple[Preparation, dict[Entry, RunConfig]]:
    """The windows that all runs share, and the options of each run, none of which can be refused any more."""
    first = plan.config_of(plan.entries[0])
    preparation = prepare(panel, first.data, calendar)
    configs = {entry: resolved(preparation, plan.config_of(entry)) for entry in plan.entries}
    listener.prepared(preparation, configs[plan.entries[0]])
    return preparation, configs


class _Trainings(NamedTuple):
    """All trainings of a comparison, as each process gets them."""

    directory: ComparisonDir
    preparation: Preparation
    configs: dict[Entry, RunConfig]
    source: DataSource
    listener: TrainingListener = TrainingListener()


def _train_all(trainings: _Trainings, listener: ComparisonListener, jobs: int, engine: str) -> Comparison:
    directory, configs = trainings.directory, trainings.configs
    if engine == "local" and jobs == 1:
        trainings = trainings._replace(listener=listener)
    accelerator = next(iter(configs.values())).training.accelerator
    with (
        shared_out(engine, min(jobs, len(configs)), accelerator) as in_order,
        contextlib.closing(in_order(_train_one, trainings, configs)) as outcomes,
    ):
        for number, entry in enumerate(configs, start=1):
            listener.run_started(number, len(configs), entry)
            kept, run = next(outcomes), directory.run(entry)
            if not run.is_finished:
                raise RunError(f"'{run.path}' is not there", "--out must be on a disk that all machines share")
            if run.was_interrupted:
                raise KeyboardInterrupt
            listener.run_ended(run.read_json(run.metrics), kept=kept)
    comparison = leaderboard_of(directory, trainings.preparation, configs)
    comparison.write(directory)
    return comparison


def _train_one(trainings: _Trainings, entry: Entry) -> bool:
    """Train a run, or what is left to train of it; True where nothing was."""
    run, config = trainings.directory.run(entry), trainings.configs[entry]
    if run.is_complete:
        _check_options(run, config)
        return True
    if run.config.is_file():
        _check_options(run, config)
        resume_prepared(trainings.preparation, run, trainings.listener)
    else:
        _discard_beginning(run)
        train_prepared(trainings.preparation, config, run.path, trainings.source, trainings.listener)
    return False


def _check_options(run: RunDir, config: RunConfig) -> None:
    """Refuse a run that is not the one this comparison has trained."""
    if read_config(run) != config:
        raise RunError(
            f"'{run.path}' was trained with other options than this comparison's", "start a new one with another --out"
        )


def _discard_beginning(run: RunDir) -> None:
    """Delete what a killed process wrote before the run was one."""
    run.remove_leftovers()
    for file in (run.schema, run.tail):
        file.unlink(missing_ok=True)
