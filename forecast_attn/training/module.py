"""The Lightning side of the network: one training step, one validation step, the optimiser."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import DataLoader

from forecast_attn.config.options import TrainingConfig
from forecast_attn.config.values import parse_duration, parse_share_range
from forecast_attn.data.panel import Panel
from forecast_attn.data.windows import Window, WindowArrays
from forecast_attn.errors import RunError
from forecast_attn.forecasting.inference import windows_at_once
from forecast_attn.nn.network import ForecastNetwork
from forecast_attn.training.averaging import WeightAverage
from forecast_attn.training.lightning import AdamW, OptimizerLRScheduler, pl
from forecast_attn.training.loss import loss_of, mean_loss, window_losses
from forecast_attn.training.sampling import EpochSampler, WindowBatches, mix_seed, share_of_step
from forecast_attn.training.schedule import TrainingPlan, moved_on, scheduler_of, share_left

Batch = tuple[Tensor, Window]


@dataclass(frozen=True)
class TrainingData:
    """The windows to train and to validate on; the panel is kept to name series and dates in errors."""

    panel: Panel
    arrays: WindowArrays
    training_cutoffs: NDArray[np.int32]
    validation_cutoffs: NDArray[np.int64]


# --------------------------------------------------------------------------- losses on a device
# A GPU is asked for many losses at once, since each question waits for it.


LOSSES_PER_READ = 16
"""Losses of a GPU that are read together."""


class BatchLoss(NamedTuple):
    """The loss of one batch, and what is needed to say which of its windows made it infinite or NaN."""

    loss: Tensor
    """A single number."""
    step: int
    """Optimiser steps so far, this one included."""
    cutoffs: Tensor
    """Rows of the windows' last known values, (batch,)."""
    parameters: Tensor
    """Of the head, (batch, horizon, size)."""
    target: Tensor
    """On the same scale, (batch, horizon)."""
    windows: int
    """Number of windows that the loss counts for: in training those of all devices."""


class PendingLosses:
    """The losses since the last read, in the order of their batches."""

    def __init__(self) -> None:
        self._batches: list[BatchLoss] = []

    def add(self, batch: BatchLoss) -> None:
        self._batches.append(batch)

    @property
    def is_time_to_read(self) -> bool:
        """Return whether to read losses now: on a CPU at every batch; else when enough have accumulated."""
        batches = self._batches
        return bool(batches) and (batches[0].loss.device.type == "cpu" or len(batches) >= LOSSES_PER_READ)

    def read(self) -> list[tuple[BatchLoss, float]]:
        """The batches and the values of their losses; there are no unread ones afterwards."""
        batches, self._batches = self._batches, []
        values = torch.stack([batch.loss for batch in batches]).cpu().tolist() if batches else []
        return list(zip(batches, values, strict=True))


# --------------------------------------------------------------------------- the module


class ForecastModule(pl.LightningModule):
    """Trains a network on the windows of a panel."""

    def __init__(
        self, network: ForecastNetwork, data: TrainingData, config: TrainingConfig, plan: TrainingPlan
    ) -> None:
        super().__init__()
        self.network = network
        averaged = config.weight_averaging == "ema"
        self.average = WeightAverage(network, config.averaging_decay) if averaged else None
        self.data = data
        self.config = config
        self.plan = plan
        self._loss_of_steps = loss_of(network.decoder.head, config.loss)
        arrays = data.arrays
        self._weighted = arrays.layout.may_have_holes or bool((arrays.weights != 1).any())
        self.validation_loss = math.nan
        self._shares = parse_share_range(config.teacher_forcing)
        self._seconds = parse_duration(config.max_time) if config.max_time else None
        self._clock: tuple[float, float] | None = None
        self._arrays = arrays
        self._training_losses, self._validation_losses = PendingLosses(), PendingLosses()
        self._validation_sum = 0.0

    # ------------------------------------------------------------------ windows

    def on_fit_start(self) -> None:
        self._arrays = self.data.arrays.to(self.device)

    def on_fit_end(self) -> None:
        self._arrays = self.data.arrays  # the device has its memory back

    def train_dataloader(self) -> DataLoader[Batch]:
        assert self.config.batch_size is not None
        sampler = EpochSampler(
            self.data.training_cutoffs,
            windows_per_epoch=self.plan.windows_per_epoch,
            batch_size=self.config.batch_size,
            seed=self._seed,
            rank=self.trainer.global_rank,
            num_devices=self.trainer.world_size,
            device=self.device,
        )
        return self._loader(sampler)

    def val_dataloader(self) -> DataLoader[Batch]:
        return self._loader([cutoffs.to(self.device) for cutoffs in self._validation_batches()])

    def _validation_batches(self) -> list[Tensor]:
        """The cut-offs that this device validates on, in batches: all of them where there are too few to share.

        Where values are missing or series weigh differently, the loss depends on which windows a batch holds, and whole
        batches are shared out.
        """
        cutoffs, size = self.data.validation_cutoffs, windows_at_once(self.device, self.network.patches.num_keys)
        every_nth = slice(self.trainer.global_rank, None, self.trainer.world_size)
        if self._weighted:
            batches = list(torch.split(torch.from_numpy(cutoffs), size))
            return batches[every_nth] if len(batches) >= self.trainer.world_size else batches
        cutoffs_here = cutoffs[every_nth] if len(cutoffs) >= self.trainer.world_size else cutoffs
        return list(torch.split(torch.from_numpy(np.ascontiguousarray(cutoffs_here)), size))

    def _loader(self, sampler: EpochSampler | list[Tensor]) -> DataLoader[Batch]:
        return DataLoader(WindowBatches(self._arrays), batch_size=None, sampler=sampler)

    # ------------------------------------------------------------------ steps

    def training_step(self, batch: Batch, batch_index: int) -> Tensor:
        cutoffs, window = batch
        # Dropout and teacher forcing depend on seed and step alone, so that a resumed run repeats them.
        self._draw_from(mix_seed(self._seed, self.global_step, self.global_rank + 1))
        output = self.network(window, teacher_forcing=self.teacher_forcing, need_weights=False)
        windows = self._windows_of_step(batch_index)
        loss = self._share_of_loss(output.parameters, window, windows)
        parameters, target = output.parameters.detach(), window.future_target
        self._training_losses.add(BatchLoss(loss.detach(), self.global_step + 1, cutoffs, parameters, target, windows))
        return loss

    def _windows_of_step(self, batch_index: int) -> int:
        """Number of windows of a training step on all devices together; the last step of an epoch may have fewer."""
        assert self.config.batch_size is not None
        whole = self.config.batch_size * self.trainer.world_size
        return min(whole, self.plan.windows_per_epoch - batch_index * whole)

    def _share_of_loss(self, parameters: Tensor, window: Window, windows: int) -> Tensor:
        """This device's part of a step's loss, such that the mean over the devices is the loss of all its windows.

        A device's own mean would do only where every device has as many known values as the others.

        Args:
            parameters: of the head.
            window: this device's windows; of a step with fewer windows than devices, one that does not count.
            windows: of all devices.
        """
        devices = self.trainer.world_size
        if devices == 1:
            return self._loss(parameters, window)
        num_windows = share_of_step(windows, self.trainer.global_rank, devices)
        if not self._weighted:
            return self._loss(parameters, window) * (num_windows * devices / windows)
        restored, target = self._in_units_of_series(parameters, window)
        total = (window_losses(self._loss_of_steps, restored, target) * window.weight).sum()
        known = (~torch.isnan(target)).sum().to(total.dtype)
        counts = float(num_windows > 0)
        everywhere = self.trainer.strategy.reduce(known * counts, reduce_op="sum")
        return total * (counts * devices) / everywhere

    def _draw_from(self, seed: int) -> None:
        # Without a GPU torch.manual_seed notes a seed, and where it was asked for, for each kind that there might be.
        if self.device.type == "cpu":
            torch.default_generator.manual_seed(seed)
        else:
            torch.manual_seed(seed)

    def read_losses(self, *, at_once: bool) -> list[tuple[float, int]]:
        """The losses of the training steps since the last call, and the windows of each on all devices.

        Args:
            at_once: False leaves them on a GPU until there are enough.

        Raises:
            RunError: a loss is infinite or NaN.
        """
        unread = self._training_losses
        read = unread.read() if at_once or unread.is_time_to_read else []
        return [(self._finite(loss, batch, "loss"), batch.windows) for batch, loss in read]

    def on_train_batch_end(self, outputs: object, batch: Batch, batch_idx: int) -> None:
        if self.average is not None:
            self.average.update(self.network, self.global_step)

    @property
    def result(self) -> ForecastNetwork:
        """The network to validate and write: the averaged one, or the trained one where nothing is averaged."""
        return self.network if self.average is None else self.average.network

    def result_weights(self) -> dict[str, Tensor]:
        """Copies of the weights of `result` on the CPU. Every device must ask: each may have only a part of them."""
        prefix = "network." if self.average is None else "average.network."
        state = self.trainer.strategy.lightning_module_state_dict()
        whole = {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}
        return {name: value.detach().to("cpu", copy=True) for name, value in whole.items()}

    def configure_gradient_clipping(
        self, optimizer: Optimizer, gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None
    ) -> None:
        """Clip by the norm of all gradients, of which FSDP's devices have a part each."""
        clip_grad_norm = getattr(self.trainer.model, "clip_grad_norm_", None)
        if gradient_clip_val and clip_grad_norm is not None:
            clip_grad_norm(gradient_clip_val)
        else:
            self.clip_gradients(optimizer, gradient_clip_val, gradient_clip_algorithm)

    def _loss(self, parameters: Tensor, window: Window) -> Tensor:
        weight = window.weight if self._weighted else None
        return mean_loss(self._loss_of_steps, *self._in_units_of_series(parameters, window), weight)

    def _in_units_of_series(self, parameters: Tensor, window: Window) -> tuple[Tensor, Tensor]:
        """The head's output and the target on one scale for all windows of a series: that of the scaler."""
        if window.units is None:
            return parameters, window.future_target
        loc, scale, _ = window.units
        restored = self.network.decoder.head.restore(parameters, loc[..., None], scale[..., None])
        return restored, window.future_target * scale + loc

    def on_validation_epoch_start(self) -> None:
        self._validation_sum = 0.0

    def validation_step(self, batch: Batch, batch_index: int) -> None:
        cutoffs, window = batch
        output = self.result(window, need_weights=False)
        loss = self._loss(output.parameters, window)
        parameters, target = output.parameters, window.future_target
        self._validation_losses.add(BatchLoss(loss, self.global_step, cutoffs, parameters, target, len(cutoffs)))
        if self._validation_losses.is_time_to_read:
            self._read_validation()

    def _read_validation(self) -> None:
        for batch, loss in self._validation_losses.read():
            self._validation_sum += self._finite(loss, batch, "validation loss") * batch.windows

    def on_validation_epoch_end(self) -> None:
        self._read_validation()
        # The loss decides when to stop, and must be the same number on every device.
        self.validation_loss = self.mean_over_devices(self._validation_sum, sum(map(len, self._validation_batches())))

    def mean_over_devices(self, total: float, count: int) -> float:
        """Mean of what all devices counted; every one of them must ask.

        Args:
            total: this device's sum.
            count: what it is the sum of.
        """
        if self.trainer.world_size == 1:
            return total / count
        sums = torch.tensor([total, count], dtype=torch.float64, device=self.device)
        total, count = self.trainer.strategy.reduce(sums, reduce_op="sum").tolist()
        return total / count

    @property
    def validates(self) -> bool:
        """Return whether a validation loss chooses the best epoch; else the last epoch is taken."""
        return len(self.data.validation_cutoffs) > 0

    @property
    def teacher_forcing(self) -> float:
        """Share of true previous values at this step, along its course from first to last step."""
        first, last = self._shares
        return last + (first - last) * share_left(self.config.teacher_forcing_decay, self.share_done)

    @property
    def share_done(self) -> float:
        """Share of training that is done (0 … 1): by its steps, or by the clock where --max-time ends it earlier."""
        done = min(self.global_step / max(self.plan.total_steps - 1, 1), 1.0)
        if self._seconds is None or self._clock is None:
            return done
        started, before = self._clock
        by_clock = before + (1 - before) * min((time.monotonic() - started) / self._seconds, 1.0)
        # All devices must go the same way: one clock counts.
        by_clock = by_clock if self.trainer.world_size == 1 else self.trainer.strategy.broadcast(by_clock)
        return max(done, by_clock)

    def on_train_start(self) -> None:
        """Start the clock; a resumed training has the time anew, for what it has not done yet."""
        scheduler = self.lr_schedulers()
        step = max(self.global_step, scheduler.last_epoch) if isinstance(scheduler, LRScheduler) else self.global_step
        self._clock = time.monotonic(), min(step / max(self.plan.total_steps - 1, 1), 1.0)

    def lr_scheduler_step(self, scheduler: LRScheduler, metric: object) -> None:
        """Move the rate on; where time is short, by more than a step, so that its whole course fits into the time."""
        if self._seconds is not None:
            due = moved_on(scheduler.last_epoch, self.share_done, self.plan.total_steps)
            scheduler.last_epoch = due  # type: ignore[assignment]  # between steps, too
        scheduler.step()

    @property
    def _seed(self) -> int:
        assert self.config.seed is not None
        return self.config.seed

    def _finite(self, loss: float, batch: BatchLoss, name: str) -> float:
        """The loss; RunError, which says what series and dates made it so, where it is infinite or NaN."""
        if math.isfinite(loss):
            return loss
        cutoffs = batch.cutoffs.cpu()
        losses = window_losses(self._loss_of_steps, batch.parameters, batch.target)
        finite = torch.isfinite(losses).cpu()
        guilty = cutoffs[~finite] if not bool(finite.all()) else cutoffs
        panel = self.data.panel
        names = [panel.item_ids[index] for index in np.unique(panel.series_of(guilty.numpy()))]
        stamps = np.sort(panel.timestamps[guilty.numpy()])
        first, last = panel.zone.stamp_text(stamps[0]), panel.zone.stamp_text(stamps[-1])
        shown = ", ".join(f"'{name}'" for name in names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        assert self.config.learning_rate is not None
        rate = min(self.config.learning_rate / 10, 0.001)
        raise RunError(
            f"the {name} became {loss} in epoch {self.current_epoch + 1}, step {batch.step}: series {shown}, "
            f"windows with cut-offs from {first} to {last}",
            f"try --learning-rate {rate:g}, or look at these values with `forecast check`",
        )

    # ------------------------------------------------------------------ optimiser

    def configure_optimizers(self) -> OptimizerLRScheduler:
        config = self.config
        assert config.learning_rate is not None
        assert config.weight_decay is not None
        optimiser = AdamW(self.network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
        scheduler = scheduler_of(
            config.schedule,
            optimiser,
            highest=config.learning_rate,
            total_steps=self.plan.total_steps,
            warmup=config.warmup,
        )
        if scheduler is None:
            return optimiser
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}
