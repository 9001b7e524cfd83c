"""Runs Lightning's Trainer, quietly, and inside the run directory only."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch.multiprocessing.spawn import ProcessExitedException, ProcessRaisedException

from forecast_attn.config.options import TrainingConfig
from forecast_attn.config.values import parse_duration
from forecast_attn.devices import choose_device
from forecast_attn.errors import ConfigError, RunError, TerminatedError
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.training.callbacks import ENDING_REASONS, REASON_METRIC, Recorder
from forecast_attn.training.lightning import SIGTERMException, pl
from forecast_attn.training.module import ForecastModule
from forecast_attn.training.process_group import check_alone, cluster_environment, joined_launch
from forecast_attn.training.progress import TrainingListener

PRECISIONS: dict[str, Any] = {"32": "32-true", "bf16": "bf16-mixed", "16": "16-mixed"}


def check_hardware(config: TrainingConfig) -> None:
    """Refuse a device, a number of devices or a precision that this machine does not have.

    Raises:
        ConfigError: naming what it has.
    """
    device = choose_device(config.accelerator)
    if device.type == "cuda" and config.devices > torch.cuda.device_count():
        raise ConfigError(f"--devices {config.devices}: this machine has {torch.cuda.device_count()} GPU(s)")
    check_alone(config)
    if uses_several_gpus(config) and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        raise ConfigError(
            f"--devices {config.devices}: this process has used a GPU already, and new ones cannot share it",
            "train in a process of its own, as `forecast train` does, or with --devices 1",
        )
    if device.type == "mps" and config.devices > 1:
        raise ConfigError(f"--devices {config.devices}: this machine has one GPU")
    if device.type == "cpu" and config.precision == "16":
        raise ConfigError("--precision 16 needs a GPU", "on a CPU use --precision bf16 or 32")


def uses_several_gpus(config: TrainingConfig) -> bool:
    """Return whether training starts a process per GPU, which this process must not have used before."""
    return config.devices > 1 and joined_launch() is None and choose_device(config.accelerator).type == "cuda"


def fit(
    module: ForecastModule,
    run: RunDir,
    listener: TrainingListener,
    *,
    checkpoint: Path | None = None,
    resumable: bool = True,
) -> str:
    """Train until epochs, patience, time or the user end it; the run's files hold the outcome.

    Args:
        module: the network and its windows.
        run: the folder.
        listener: called with the progress of the training.
        checkpoint: where to go on from; from the beginning when None.
        resumable: write a checkpoint after every epoch.

    Returns:
        Why training ended: one of `ENDING_REASONS`.

    Raises:
        RunError: the loss became non-finite, the checkpoint is damaged, or the disk is full.
        TerminatedError: SIGTERM ended it.
    """
    config = module.config
    assert config.patience is not None
    seconds = parse_duration(config.max_time) if config.max_time else None
    recorder = Recorder(
        run,
        listener,
        patience=config.patience,
        anneals=config.schedule != "constant",
        max_seconds=seconds,
        resumable=resumable,
    )
    with _quiet():
        trainer = _make_trainer(config, run, recorder, validates=module.validates)
        if checkpoint is not None:
            _check_checkpoint(trainer, checkpoint)
        with recorder.stopping_on_interrupt():
            _run(trainer, module, checkpoint)
    if recorder.interrupted:
        listener.interrupted()
    reported = trainer.callback_metrics.get(REASON_METRIC)  # None where every epoch had been done before the kill
    return recorder.reason if reported is None else ENDING_REASONS[int(reported.item())]


def _make_trainer(config: TrainingConfig, run: RunDir, recorder: Recorder, *, validates: bool) -> pl.Trainer:
    return pl.Trainer(
        accelerator=choose_device(config.accelerator).type,
        devices=config.devices,
        num_nodes=config.num_nodes,
        strategy=_strategy(config),
        plugins=[cluster_environment(joined_launch())],
        precision=PRECISIONS[config.precision],
        max_epochs=config.max_epochs,
        gradient_clip_val=config.gradient_clip or None,
        callbacks=[recorder],
        default_root_dir=run.path,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        # A refit may train on everything it knows, and has then nothing to choose an epoch by.
        limit_val_batches=1.0 if validates else 0,
        use_distributed_sampler=False,
    )


def _strategy(config: TrainingConfig) -> Any:
    """Lightning's strategy, or its name: a launcher's processes are there, others begin now."""
    if config.strategy == "fsdp":
        from forecast_attn.training.fsdp import AnyDeviceFSDP

        return AnyDeviceFSDP()
    if joined_launch() is not None:
        return "ddp"
    # Forked processes keep this process's state: nothing is pickled, and no script is run a second time.
    return "auto" if config.devices == 1 else "ddp_fork"


def _run(trainer: pl.Trainer, module: ForecastModule, checkpoint: Path | None) -> None:
    try:
        trainer.fit(module, ckpt_path=checkpoint, weights_only=True)
    except SIGTERMException:  # Lightning's is a SystemExit that says all went well
        raise TerminatedError("training was terminated (SIGTERM)") from None
    except ProcessRaisedException as error:
        raise RunError(f"a training process failed: {str(error).strip().splitlines()[-1]}") from None
    except ProcessExitedException as error:
        hint = "after `forecast train`: forecast train --resume RUN continues it"
        raise RunError(f"a training process ended before its work was done: {error}", hint) from None


def _check_checkpoint(trainer: pl.Trainer, path: Path) -> None:
    """Refuse a checkpoint that is damaged, or that would have to run code to be read.

    Raises:
        RunError: with the only way on, which is to start again.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch, about pickles it then refuses
            content = trainer.strategy.checkpoint_io.load_checkpoint(path, weights_only=True)
        if not set(content) >= {"state_dict", "callbacks", "loops", "optimizer_states"}:
            raise ValueError("parts are missing")
    except Exception:  # whatever a foreign file makes torch raise
        hint = "delete it and resume again: training starts from its first epoch"
        raise RunError(f"'{path}' is damaged, or is not a checkpoint of this tool", hint) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Lightning's banners and its advice, which does not apply: windows are gathered, not loaded."""
    loggers = [logging.getLogger(name) for name in ("pytorch_lightning", "lightning_fabric")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*does not have many workers.*")
            warnings.filterwarnings("ignore", message=".*GPU available but not used.*")
            warnings.filterwarnings("ignore", message=".*`srun` command is available.*")  # for trainings of their own
            # Lightning 2.6 uses what PyTorch 2.13 deprecates.
            warnings.filterwarnings("ignore", message=".*isinstance\\(treespec, LeafSpec\\).*")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
