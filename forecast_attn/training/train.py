"""A training run from start to end; `resume` goes on with one that was cut short."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from forecast_attn.attention_file.size import size_text
from forecast_attn.attention_file.writer import check_top
from forecast_attn.baselines.registry import CachedBaselines
from forecast_attn.config.defaults import patches_note, shape_of
from forecast_attn.config.options import COUNT_DISTRIBUTIONS, RunConfig
from forecast_attn.data.panel import Panel
from forecast_attn.data.schema import Schema
from forecast_attn.data.split import series_weights
from forecast_attn.devices import cpu_threads
from forecast_attn.errors import ConfigError
from forecast_attn.forecasting.calibration import check_enough_values
from forecast_attn.forecasting.ensemble import member_config
from forecast_attn.forecasting.inference import number_of_weights, window_sizes
from forecast_attn.forecasting.tail import write_tail
from forecast_attn.memory import machine_memory, release_memory
from forecast_attn.nn.builder import build_network
from forecast_attn.nn.network import ForecastNetwork
from forecast_attn.runs.atomic import held
from forecast_attn.runs.run_dir import DataSource, RunDir
from forecast_attn.training.child_process import run_in_child_process
from forecast_attn.training.choose_combination import rows_to_keep
from forecast_attn.training.final_fit import check_final_fit, config_of_final_fit, fit_on_all_rows, no_final_fit
from forecast_attn.training.fit import check_hardware, fit, uses_several_gpus
from forecast_attn.training.loss import check_counts
from forecast_attn.training.module import ForecastModule, TrainingData
from forecast_attn.training.preparation import Preparation, on_all_rows, prepare
from forecast_attn.training.process_group import broadcast, is_first, joined_launch, meet
from forecast_attn.training.progress import TrainingListener
from forecast_attn.training.sampling import mix_seed
from forecast_attn.training.schedule import make_plan, resolve_training
from forecast_attn.training.validation import (
    FinalFit,
    actual_values,
    finish,
    finish_ensemble,
    validation_baselines,
    validation_rows,
)
from forecast_attn.version import package_version


def train(panel: Panel, config: RunConfig, out: Path, source: DataSource, listener: TrainingListener) -> RunDir:
    """Train a new run.

    Everything that can be refused is refused before the run directory is made.

    Args:
        panel: the validated table.
        config: the options; open choices are filled in and recorded.
        out: the run directory to make.
        source: recorded, and checked when the run is resumed.
        listener: called with the progress of the training.

    Raises:
        DataError: the series are too short, or the validation windows too few to calibrate with.
        ConfigError: options contradict each other, or this machine lacks the device.
        RunError: the directory cannot be made or written, or the loss became non-finite.
    """
    check_hardware(config.training)
    preparation = prepare(panel, config.data)
    given, config = config, resolved(preparation, config)
    listener.prepared(preparation, config)
    schema = preparation.schema
    of_patches = patches_note(
        given.model,
        lookback=schema.lookback,
        horizon=schema.horizon,
        season=schema.frequency.season,
        within_day=schema.frequency.is_within_day,
    )
    if of_patches is not None:
        listener.noted(of_patches)
    config, out = meet((config, out), facts_of(preparation, source))
    note_group(listener)
    return train_prepared(preparation, config, out, source, listener)


def resolved(preparation: Preparation, config: RunConfig) -> RunConfig:
    """The options with the open choices filled in, once nothing about them can be refused any more.

    Raises:
        DataError: the validation windows are too few to calibrate with.
        ConfigError: options contradict each other.
    """
    seed = config.training.seed if config.training.seed is not None else secrets.randbelow(2**31)
    schema = preparation.schema
    shape = shape_of(
        config.model,
        lookback=schema.lookback,
        horizon=schema.horizon,
        season=schema.frequency.season,
        within_day=schema.frequency.is_within_day,
        num_series=preparation.panel.num_series,
    )
    training = resolve_training(
        config.training,
        len(preparation.training_cutoffs),
        seed,
        shape.patch_length,
        preparation.panel.num_series,
    )
    data = config.data
    if data.missing == "auto":  # as it was decided, so that later tables of the run are read alike
        data = replace(data, missing=preparation.panel.filled.policy)
    config = replace(config, data=data, model=replace(config.model, **shape._asdict()), training=training)
    check_memory(number_of_weights(config.model, schema))
    initial_network(config, schema)
    check_top(config.training.attention_top, schema.lookback, shape.patch_length)
    if config.model.distribution in COUNT_DISTRIBUTIONS:
        check_counts(preparation.panel, config.model.distribution)
    _check_calibration(preparation, config)
    check_final_fit(preparation, config)
    return config


def train_prepared(
    preparation: Preparation, config: RunConfig, out: Path, source: DataSource, listener: TrainingListener
) -> RunDir:
    """Train a new run on windows that are there.

    Args:
        preparation: of the table, with the data options of `config`.
        config: as `resolved` gives it.
        out: the run directory to make.
        source: recorded, and checked when the run is resumed.
        listener: called with the progress of the training, not with the preparation.

    Raises:
        RunError: the directory cannot be made or written, or the loss became non-finite.
    """
    if is_first():
        _write_start(RunDir.create(out), preparation, config, source)
    run = RunDir(broadcast(out))
    with held_by_first(run):
        return fit_and_finish(run, preparation, config, listener)


def held_by_first(run: RunDir) -> AbstractContextManager[None]:
    """Keep other trainings out of a run, but not the processes that train it together."""
    return held(run.config) if is_first() else nullcontext()


def facts_of(preparation: Preparation, source: DataSource) -> object:
    """Facts that all processes of one training must agree on."""
    counts = len(preparation.training_cutoffs), len(preparation.validation_cutoffs)
    return source.sha256, source.vintages_sha256, preparation.schema.to_dict(), counts


def note_group(listener: TrainingListener) -> None:
    launch = joined_launch()
    if launch is not None:
        listener.noted(
            f"{launch.size} processes train together, {launch.per_node} on each of {launch.nodes} machine(s)"
        )


def initial_network(config: RunConfig, schema: Schema) -> ForecastNetwork:
    """The untrained network of a seed. The caller's random state is left as it was.

    Raises:
        ConfigError: options that contradict each other.
    """
    assert config.training.seed is not None
    with torch.random.fork_rng(devices=()):
        torch.manual_seed(mix_seed(config.training.seed))
        return build_network(config.model, window_sizes(schema))


BYTES_PER_WEIGHT = 16
"""A number of 32 bits, its gradient, and AdamW's two means."""


def check_memory(number: int) -> None:
    """Refuse a network too large for this machine to train.

    Raises:
        ConfigError: says what it needs and what there is.
    """
    needed, present = BYTES_PER_WEIGHT * number, machine_memory()
    if needed > present:
        raise ConfigError(
            f"a network of {number:,} numbers needs {size_text(needed)} to train; this machine has "
            f"{size_text(present)}",
            "a smaller --hidden-size, or fewer --num-layers",
        )


def _check_calibration(preparation: Preparation, config: RunConfig) -> None:
    """Refuse before training what the validation windows will be too few for."""
    if config.model.calibration != "none":
        actual = actual_values(preparation, validation_rows(preparation, config))
        check_enough_values(config.model.forecast_quantiles, (~np.isnan(actual)).sum(axis=0))


def _write_start(run: RunDir, preparation: Preparation, config: RunConfig, source: DataSource) -> None:
    run.write_json(run.schema, preparation.schema.to_dict())
    write_tail(run, preparation.table, rows_to_keep({}, preparation, config))
    # Last, because a directory is a run once it has a config.json.
    run.write_json(
        run.config,
        {
            "package_version": package_version(),
            "data": source.to_dict(),
            "options": config.to_dict(),
        },
    )


def fit_and_finish(run: RunDir, preparation: Preparation, config: RunConfig, listener: TrainingListener) -> RunDir:
    number, baselines = config.training.ensemble, validation_baselines(preparation, config)
    if number == 1:
        _fit_one(run, preparation, config, baselines, listener)
        return run
    reason = ""
    for member in range(number):
        listener.member_started(member + 1, number)
        folder = run.make_member(member) if is_first() else run.member(member)
        reason = _fit_member(folder, preparation, member_config(config, member), baselines, listener)
        if reason == "interrupted":
            break
    with cpu_threads(config.training.threads), torch.random.fork_rng(devices=()):
        final = _final_fit_of(preparation, config)
        if is_first():
            _score(config, lambda: finish_ensemble(run, preparation, config, baselines, reason, final))
        elif final is not None and reason != "interrupted":
            for member in range(number):
                final(run.member(member), member_config(config, member), None)
    return run


def _fit_member(
    member: RunDir,
    preparation: Preparation,
    config: RunConfig,
    baselines: CachedBaselines,
    listener: TrainingListener,
) -> str:
    """Train one member, or what is left to train of it, and say why it ended; a finished one stays as it is."""
    is_done = is_first() and member.is_complete
    reason = broadcast(str(member.read_json(member.metrics)["ended"]) if is_done else None)
    if reason is not None:
        listener.training_ended(reason)
        return reason
    if is_first():
        member.metrics.unlink(missing_ok=True)
    return _fit_one(member, preparation, config, baselines, listener)


def _fit_one(
    run: RunDir, preparation: Preparation, config: RunConfig, baselines: CachedBaselines, listener: TrainingListener
) -> str:
    """Train one network in its folder, and say why training ended."""
    module = module_of(initial_network(config, preparation.schema), preparation, config)
    checkpoint = run.checkpoint if broadcast(run.checkpoint.is_file()) else None
    release_memory()
    # Training seeds the global generator at every step, which must not change the caller's random numbers.
    with cpu_threads(config.training.threads), torch.random.fork_rng(devices=()):
        reason = fit(module, run, listener, checkpoint=checkpoint)
        # Those of an ensemble are trained again once it has been scored.
        final = None if run.is_member else _final_fit_of(preparation, config)
        if is_first():
            _score(config, lambda: finish(run, preparation, config, module.data.arrays, baselines, reason, final))
        elif final is not None and reason != "interrupted":
            final(run, config, None)
    listener.training_ended(reason)
    return reason


def _score(config: RunConfig, work: Callable[[], None]) -> None:
    """Do the work that ends a training on the device so that the next training can still start processes on it."""
    if uses_several_gpus(config.training):
        run_in_child_process(work)
    else:
        work()


def _final_fit_of(preparation: Preparation, config: RunConfig) -> FinalFit | None:
    """The training on all rows with which a run ends; None where it has none."""
    return functools.partial(_final_fit, preparation) if no_final_fit(preparation, config) is None else None


def _final_fit(preparation: Preparation, run: RunDir, config: RunConfig, epochs: int | None) -> dict[str, Any]:
    """Replace a run's weights by those of a training on all rows, and say what was trained on.

    Args:
        preparation: of the table.
        run: whose weights are replaced.
        config: of the run.
        epochs: to train for, which the first process knows and broadcasts; None in the others.
    """
    epochs = broadcast(epochs)
    assert epochs is not None
    everything, config = on_all_rows(preparation), config_of_final_fit(config, epochs)
    fit_on_all_rows(run, module_of(initial_network(config, everything.schema), everything, config))
    panel = preparation.panel
    until = panel.zone.stamp_text(panel.timestamps[panel.ends[panel.num_known > 0] - 1].max())
    return {"epochs": epochs, "windows": len(everything.training_cutoffs), "until": until}


def module_of(network: ForecastNetwork, preparation: Preparation, config: RunConfig) -> ForecastModule:
    """A network with the windows it is trained on, as a resolved configuration says."""
    panel = preparation.panel
    weights = torch.from_numpy(series_weights(panel, preparation.training_cutoffs))
    data = TrainingData(
        panel=panel,
        arrays=replace(preparation.windows(), weights=weights),
        training_cutoffs=preparation.training_cutoffs,
        validation_cutoffs=validation_rows(preparation, config),
    )
    plan = make_plan(config.training, len(data.training_cutoffs), config.training.num_processes)
    return ForecastModule(network, data, config.training, plan)
