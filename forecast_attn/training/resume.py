"""Training that goes on where it was cut short, to the bytes of an uninterrupted one."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path

from forecast_attn.config.options import RunConfig
from forecast_attn.data.panel import Panel
from forecast_attn.errors import RunError, shell_command
from forecast_attn.forecasting.model import read_config, read_schema
from forecast_attn.forecasting.tail import has_the_same_end
from forecast_attn.runs.run_dir import DataSource, RunDir, was_killed_at_the_start
from forecast_attn.training.choose_combination import rows_to_keep
from forecast_attn.training.fit import check_hardware
from forecast_attn.training.preparation import Preparation, prepare
from forecast_attn.training.process_group import broadcast, is_first, meet
from forecast_attn.training.progress import TrainingListener
from forecast_attn.training.train import facts_of, fit_and_finish, held_by_first, note_group, resolved, train


def check_resumable(run: RunDir) -> None:
    """Raise RunError unless the run was cut short."""
    if was_killed_at_the_start(run.path):
        raise RunError(
            f"'{run.path}' was killed before its training began: there is nothing to resume",
            f"begin again: {shell_command('train', 'DATA', '--out', run.path)}",
        )
    run.check_is_run()
    if run.is_member:
        raise RunError(
            f"'{run.path}' is a member of an ensemble, which is resumed as a whole",
            run.resume_command,
        )
    if run.is_complete:
        raise RunError(f"'{run.path}' is finished: there is nothing to resume", shell_command("predict", run.path))


def resume(panel: Panel, run: RunDir, listener: TrainingListener) -> RunDir:
    """Continue an unfinished or interrupted run from its last whole epoch, to the bytes of an uninterrupted one.

    Args:
        panel: the table the run was started with.
        run: the run; its recorded options and sizes count.
        listener: called with the progress of the training.

    Raises:
        RunError: the run is finished, or its files are damaged.
    """
    config = read_config(run)
    check_hardware(config.training)
    preparation = prepare(panel, config.data, read_schema(run).calendar)
    listener.prepared(preparation, config)
    meet(None, facts_of(preparation, DataSource("", None)))
    note_group(listener)
    return resume_prepared(preparation, run, listener)


def resume_prepared(preparation: Preparation, run: RunDir, listener: TrainingListener) -> RunDir:
    """Continue a run on windows that are there; see `resume`."""
    if not os.access(run.path, os.W_OK):
        raise RunError(f"'{run.path}' may not be written to", "copy the run, and resume the copy")
    with held_by_first(run):
        if is_first():
            check_is_of_table(run, preparation)
            run.remove_leftovers()
            run.reopen()
        broadcast(None)  # the others read the run when nothing in it changes
        return fit_and_finish(run, preparation, read_config(run), listener)


def train_or_go_on(
    panel: Panel, config: RunConfig, out: Path, source: DataSource, listener: TrainingListener
) -> RunDir:
    """Train a new run, or what is left to train of one that an earlier call with the same arguments began.

    Raises:
        RunError: the folder holds another run, or as `train`.
    """
    run = RunDir(out)
    if not run.config.is_file():
        return train(panel, config, out, source, listener)
    preparation, recorded = prepare(panel, config.data), read_config(run)
    if config.training.seed is None:
        config = replace(config, training=replace(config.training, seed=recorded.training.seed))
    same_table = run.read_json(run.config)["data"] == source.to_dict()
    if not same_table or resolved(preparation, config) != recorded:
        raise RunError(f"'{out}' holds a run of other options or rows", "choose another folder for the run")
    if run.is_complete:
        check_is_of_table(run, preparation)
        listener.noted(f"'{out}' is trained already")
        return run
    listener.prepared(preparation, recorded)
    return resume_prepared(preparation, run, listener)


def check_is_of_table(run: RunDir, preparation: Preparation) -> None:
    """Refuse other rows than a run was begun with, where there is no digest of its file to tell.

    Raises:
        RunError: names the run.
    """
    if run.read_json(run.config)["data"]["sha256"] is not None:
        return
    schema = preparation.schema
    rows = rows_to_keep({}, preparation, read_config(run))
    same = read_schema(run).to_dict() == schema.to_dict()
    if not (same and has_the_same_end(run, schema, preparation.table, rows)):
        raise RunError(
            f"'{run.path}' was begun with other rows than these",
            f"give the rows it was begun with; one of `forecast backtest DATA` goes on with that command and "
            f"--out-run {shlex.quote(str(run.path))}",
        )
