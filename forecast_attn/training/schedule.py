"""The length of training, its learning rate and its teacher forcing; the defaults depend on the number of windows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, OneCycleLR

from forecast_attn.config.defaults import FEWEST_SERIES, learning_rate_of, weight_decay_of
from forecast_attn.config.options import TrainingConfig

TARGET_STEPS = 2_000
"""Optimiser steps a default training lasts: enough for the attention to settle on every bundled series."""

TARGET_STEPS_OVER_PATCHES = 1_200
"""Over patches longer training gains nothing."""

TARGET_STEPS_OF_PANELS = 600
"""Many short series are learnt by heart after more; their validation loss is smallest before."""

MIN_EPOCHS, MAX_EPOCHS = 10, 200
MIN_BATCH, MAX_BATCH = 16, 128
BATCHES_PER_PASS = 40
"""Small tables get small batches, so that one pass over them is still this many steps."""


@dataclass(frozen=True)
class TrainingPlan:
    """Steps of an epoch, and number of epochs."""

    windows_per_epoch: int
    steps_per_epoch: int
    max_epochs: int

    @property
    def total_steps(self) -> int:
        return self.steps_per_epoch * self.max_epochs


def resolve_training(
    config: TrainingConfig, num_windows: int, seed: int, patch_length: int, num_series: int
) -> TrainingConfig:
    """Fill in batch size, epochs, patience, learning rate and seed where the user left them open."""
    batch_size = config.batch_size or _batch_size(num_windows)
    steps = math.ceil(_windows_per_epoch(config, num_windows) / batch_size)
    of_steps = TARGET_STEPS_OF_PANELS if num_series >= FEWEST_SERIES else TARGET_STEPS
    target = TARGET_STEPS_OVER_PATCHES if patch_length > 1 else of_steps
    # An epoch of a large panel has so many steps that ten of them would be too long.
    fewest = min(MIN_EPOCHS, math.ceil(target / steps)) if num_series >= FEWEST_SERIES else MIN_EPOCHS
    max_epochs = config.max_epochs or min(max(math.ceil(target / steps), fewest), MAX_EPOCHS)
    patience = config.patience or max(5, max_epochs // 4)
    return replace(
        config,
        batch_size=batch_size,
        max_epochs=max_epochs,
        patience=patience,
        learning_rate=learning_rate_of(config, patch_length, num_series),
        weight_decay=weight_decay_of(config, patch_length),
        seed=seed,
    )


def make_plan(config: TrainingConfig, num_windows: int, num_devices: int) -> TrainingPlan:
    """The plan of a resolved configuration; every device takes its share of an epoch's windows."""
    assert config.batch_size is not None
    assert config.max_epochs is not None
    windows = _windows_per_epoch(config, num_windows)
    steps = math.ceil(windows / (config.batch_size * num_devices))
    return TrainingPlan(windows, steps, config.max_epochs)


def _windows_per_epoch(config: TrainingConfig, num_windows: int) -> int:
    return min(num_windows, config.epoch_windows or num_windows)


def _batch_size(num_windows: int) -> int:
    """The power of two that gives about 40 steps per pass, between 16 and 128."""
    ideal = max(num_windows / BATCHES_PER_PASS, 1)
    nearest: int = 2 ** round(math.log2(ideal))
    return min(max(nearest, MIN_BATCH), MAX_BATCH)


# --------------------------------------------------------------------------- learning rate
# The course of the learning rate from the first step to the last.


WARMUP_SHARES = {"one-cycle": 0.3, "cosine": 0.05}
"""Share of the steps in which the rate rises, by schedule, where `--warmup` does not say; no other schedule has one."""


def scheduler_of(
    schedule: str, optimiser: Optimizer, *, highest: float, total_steps: int, warmup: float | None
) -> LRScheduler | None:
    """Scheduler that changes the learning rate after every step; None where it stays constant.

    one-cycle is PyTorch's with its defaults: half a cosine up from highest / 25, half a cosine down to
    highest / 250,000, and AdamW's beta1 the other way, from 0.95 to 0.85 and back. (Smith and Topin 2019,
    "Super-convergence"; the cosine and these numbers are the fastai library's.) cosine is `cosine_share`.

    Args:
        schedule: constant, one-cycle or cosine.
        optimiser: with the rate `highest`.
        highest: learning rate at the peak.
        total_steps: steps of the whole training.
        warmup: share of the steps in which the rate rises, from 0 to below 1; the schedule's own when None.
    """
    if schedule == "constant":
        return None
    rising = WARMUP_SHARES[schedule] if warmup is None else warmup
    if schedule == "one-cycle":
        return OneCycleLR(optimiser, highest, total_steps, pct_start=rising)
    warmup_steps = min(round(rising * total_steps), total_steps - 1)
    return LambdaLR(optimiser, lambda step: cosine_share(step, warmup_steps=warmup_steps, total_steps=total_steps))


def moved_on(step: float, share_done: float, total_steps: int) -> float:
    """Step from which a schedule takes its next one where time is short; it never passes its last step.

    Args:
        step: the last one taken; not whole where the clock was ahead of the steps.
        share_done: of training.
        total_steps: of the schedule.
    """
    return min(max(step, share_done * (total_steps - 1) - 1), total_steps - 2)


def cosine_share(step: int, *, warmup_steps: int, total_steps: int) -> float:
    """Share of the highest learning rate at a step, counted from 0: a line up, then half a cosine down.

    The line reaches 1 at step `warmup_steps`; the cosine would reach 0 at step `total_steps`, which is not taken.
    (Loshchilov and Hutter 2017, "SGDR", eq. 5, without restarts; the linear warm-up of Goyal et al. 2017, "Accurate,
    large minibatch SGD", section 2.2.)
    """
    if step < warmup_steps:
        return (step + 1) / (warmup_steps + 1)
    done = (step - warmup_steps) / max(total_steps - warmup_steps, 1)
    return 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))


# --------------------------------------------------------------------------- teacher forcing
# The course of the teacher forcing ratio.


def share_left(decay: str, done: float) -> float:
    """Value on the way from 1 to 0 after a part `done` (0 … 1) of training.

    Exactly 1 at the start and 0 at the end. (Bengio et al. 2015, section 2.4, whose three courses these are,
    stretched to the length of training.)
    """
    if decay == "linear":
        return 1 - done
    if decay == "exponential":
        return (math.exp(-5 * done) - math.exp(-5)) / (1 - math.exp(-5))
    start, end = _sigmoid(6), _sigmoid(-6)
    return (_sigmoid(6 - 12 * done) - end) / (start - end)


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))
