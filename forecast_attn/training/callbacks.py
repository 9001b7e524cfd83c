"""Keeps the best weights, the history and the state to resume from; early stopping and the other ends of training."""

from __future__ import annotations

import csv
import io
import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import safetensors.torch
import torch
from torch import Tensor

from forecast_attn.runs.atomic import write_atomically, write_errors_of
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.training.lightning import pl
from forecast_attn.training.module import ForecastModule
from forecast_attn.training.progress import EpochRecord, TrainingListener

ENDING_REASONS = ("max-epochs", "patience", "max-time", "interrupted")
REASON_METRIC = "why_training_ended"

SETTLED = 1 / 3
"""Share of the highest learning rate at which a schedule may be cut off by --patience; before, it has the better part
of its course to come."""


class Recorder(pl.Callback):
    """Writes the run's files after every epoch, each whole or not at all.

    The order matters to a process that may be killed: first the weights, then the history, then the checkpoint. An
    epoch whose checkpoint is missing is trained again, to the same bytes, and overwrites both.
    """

    def __init__(
        self,
        run: RunDir,
        listener: TrainingListener,
        *,
        patience: int,
        anneals: bool = False,
        max_seconds: float | None = None,
        resumable: bool = True,
    ) -> None:
        """
        Args:
            patience: of early stopping: epochs without a better validation loss before training ends.
            anneals: the learning rate falls towards the end; patience then ends training only once it has fallen.
            max_seconds: how long training may last.
            resumable: write a checkpoint after every epoch.
        """
        self.run = run
        self.listener = listener
        self.patience = patience
        self.anneals = anneals
        self.max_seconds = max_seconds
        self.resumable = resumable
        self.best_loss = math.inf
        self.best_epoch = 0
        self.best_weights: dict[str, Tensor] = {}
        self.records: list[EpochRecord] = []
        self.reason = ENDING_REASONS[0]
        self.interrupted = False

    # ------------------------------------------------------------------ state of a resumed run

    def state_dict(self) -> dict[str, Any]:
        return {
            "best_loss": self.best_loss,
            "best_epoch": self.best_epoch,
            "best_weights": self.best_weights,
            "records": [tuple(record) for record in self.records],
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.best_loss = state_dict["best_loss"]
        self.best_epoch = state_dict["best_epoch"]
        self.best_weights = state_dict["best_weights"]
        self.records = [EpochRecord(*record) for record in state_dict["records"]]

    # ------------------------------------------------------------------ hooks

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, ForecastModule)
        self._started = time.monotonic()
        if self._has_lost_patience:  # a run that was killed between its last epoch and its scores
            self.reason, trainer.should_stop = "patience", True
        if trainer.is_global_zero:
            if self.best_weights:
                self._write_weights()
            self.listener.training_started(pl_module.plan, len(self.records) + 1, str(pl_module.device))

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self._begin_epoch()

    def _begin_epoch(self) -> None:
        self._epoch_started = time.monotonic()
        self._training_ended = self._epoch_started
        self._loss_sum, self._num_windows = 0.0, 0

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        if batch_idx == 0:  # a resumed run skips the epoch's own hook
            self._begin_epoch()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        assert isinstance(pl_module, ForecastModule)
        losses = pl_module.read_losses(at_once=trainer.is_last_batch)
        if not losses:
            return  # still on the GPU, for which nothing below may wait
        for loss, num_windows in losses:
            self._loss_sum += loss * num_windows
            self._num_windows += num_windows
            if trainer.is_global_zero:
                self.listener.batch_done(loss, num_windows)
        self._training_ended = time.monotonic()
        out_of_time = self.max_seconds is not None and time.monotonic() - self._started > self.max_seconds
        reason = "interrupted" if self.interrupted else "max-time" if out_of_time else ENDING_REASONS[0]
        agreed = ENDING_REASONS[self._highest(trainer, ENDING_REASONS.index(reason))]
        if agreed != ENDING_REASONS[0]:
            self.reason = agreed
            trainer.should_stop = True  # Lightning ends the epoch here, and validates

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        assert isinstance(pl_module, ForecastModule)
        # An interrupted epoch counts only when there is no whole one: resuming must find what it would have had.
        if not (self.reason == "interrupted" and self.records):
            self._keep_epoch(trainer, pl_module)
        if not trainer.should_stop:
            if self._has_lost_patience:
                self.reason = "patience"
                trainer.should_stop = True
            if self.resumable:
                self._write_checkpoint(trainer)
        # Logged, because metrics are all that comes back when training runs in child processes.
        pl_module.log(REASON_METRIC, float(ENDING_REASONS.index(self.reason)), reduce_fx="max", sync_dist=True)

    @property
    def _has_lost_patience(self) -> bool:
        return bool(self.records) and len(self.records) - self.best_epoch >= self.patience and self._has_settled

    @property
    def _has_settled(self) -> bool:
        """Return whether the learning rate has fallen to `SETTLED` of its peak, if it falls at all.

        At a high rate the loss jumps about, and much of what a schedule gains comes when the rate falls.
        """
        if not self.anneals:
            return True
        rates = [record.learning_rate for record in self.records]
        peak = rates.index(max(rates))
        return any(rate <= SETTLED * rates[peak] for rate in rates[peak:])

    def _keep_epoch(self, trainer: pl.Trainer, module: ForecastModule) -> None:
        ended = time.monotonic()
        record = EpochRecord(
            epoch=len(self.records) + 1,
            train_loss=module.mean_over_devices(self._loss_sum, max(self._num_windows, 1)),
            validation_loss=module.validation_loss,
            learning_rate=trainer.optimizers[0].param_groups[0]["lr"],
            seconds=round(ended - self._epoch_started, 3),
            windows_per_second=round(self._num_windows / max(self._training_ended - self._epoch_started, 1e-9), 1),
        )
        self.records.append(record)
        is_best = record.validation_loss < self.best_loss or self.best_epoch == 0 or not module.validates
        if is_best:
            self.best_loss, self.best_epoch = record.validation_loss, record.epoch
            self.best_weights = module.result_weights()
        if trainer.is_global_zero:
            if is_best:
                self._write_weights()
            write_atomically(self.run.history, history_text(self.records))
            self.listener.epoch_done(record, is_best)

    # ------------------------------------------------------------------ files

    def _write_weights(self) -> None:
        # One entry only: safetensors writes several in an order that differs from run to run.
        write_atomically(self.run.model, safetensors.torch.save(self.best_weights, {"epoch": str(self.best_epoch)}))

    def _write_checkpoint(self, trainer: pl.Trainer) -> None:
        """Every device must call this: saving waits for all of them."""
        partial = self.run.checkpoint.with_name(f".{self.run.checkpoint.name}.partial")
        try:
            with write_errors_of(self.run.checkpoint):
                trainer.save_checkpoint(partial)
                if trainer.is_global_zero:
                    partial.replace(self.run.checkpoint)
        finally:
            if trainer.is_global_zero:
                with suppress(OSError):
                    partial.unlink()

    @staticmethod
    def _highest(trainer: pl.Trainer, number: int) -> int:
        """The highest number of all devices: Ctrl-C may reach one of them only, and all must go the same way."""
        if trainer.world_size == 1:
            return number
        return int(trainer.strategy.reduce(torch.tensor(number, device=trainer.strategy.root_device), reduce_op="max"))

    # ------------------------------------------------------------------ Ctrl-C

    @contextmanager
    def stopping_on_interrupt(self) -> Iterator[None]:
        """The first Ctrl-C ends training after the current step; a second one ends the process."""
        previous = signal.getsignal(signal.SIGINT)
        # A shell ignores Ctrl-C for what it runs in the background; only a main thread may listen for it.
        if threading.current_thread() is not threading.main_thread() or previous is signal.SIG_IGN:
            yield
            return

        def stop(signum: int, frame: object) -> None:
            self.interrupted = True
            signal.signal(signal.SIGINT, previous)

        signal.signal(signal.SIGINT, stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)


def history_text(records: list[EpochRecord]) -> str:
    """history.csv."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(EpochRecord._fields)
    writer.writerows(records)
    return buffer.getvalue()


def best_epoch_of(run: RunDir) -> int:
    """The epoch whose weights model.safetensors holds."""
    with safetensors.safe_open(run.model, framework="pt") as file:
        return int(file.metadata()["epoch"])
