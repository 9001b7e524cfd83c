"""How long training lasts: the defaults that depend on how many windows there are."""

import math
from dataclasses import dataclass, replace

from forecast_attn.config import TrainingConfig
from forecast_attn.model_defaults import learning_rate_of, weight_decay_of

TARGET_STEPS = 2_000
"""Optimiser steps a default training lasts: enough for the attention to settle on every bundled series."""

TARGET_STEPS_OVER_PATCHES = 1_200
"""Over patches longer training gains nothing (docs/accuracy.md)."""

MIN_EPOCHS, MAX_EPOCHS = 10, 200
MIN_BATCH, MAX_BATCH = 16, 128
BATCHES_PER_PASS = 40
"""Small tables get small batches, so that one pass over them is still this many steps."""


@dataclass(frozen=True)
class TrainingPlan:
    """What one epoch is, and how many there are."""

    windows_per_epoch: int
    steps_per_epoch: int
    max_epochs: int

    @property
    def total_steps(self) -> int:
        return self.steps_per_epoch * self.max_epochs


def resolve_training(config: TrainingConfig, num_windows: int, seed: int, patch_length: int = 1) -> TrainingConfig:
    """Fill in batch size, epochs, patience, learning rate and seed where the user left them open."""
    batch_size = config.batch_size or _batch_size(num_windows)
    steps = _steps_per_epoch(config, num_windows, batch_size)
    target = TARGET_STEPS_OVER_PATCHES if patch_length > 1 else TARGET_STEPS
    max_epochs = config.max_epochs or min(max(math.ceil(target / steps), MIN_EPOCHS), MAX_EPOCHS)
    patience = config.patience or max(5, max_epochs // 4)
    return replace(
        config,
        batch_size=batch_size,
        max_epochs=max_epochs,
        patience=patience,
        learning_rate=learning_rate_of(config, patch_length),
        weight_decay=weight_decay_of(config, patch_length),
        seed=seed,
    )


def make_plan(config: TrainingConfig, num_windows: int, num_devices: int = 1) -> TrainingPlan:
    """The plan of a resolved configuration; every device takes its share of an epoch's windows."""
    assert config.batch_size is not None
    assert config.max_epochs is not None
    windows = _windows_per_epoch(config, num_windows)
    steps = math.ceil(windows / (config.batch_size * num_devices))
    return TrainingPlan(windows, steps, config.max_epochs)


def _windows_per_epoch(config: TrainingConfig, num_windows: int) -> int:
    return min(num_windows, config.epoch_windows or num_windows)


def _steps_per_epoch(config: TrainingConfig, num_windows: int, batch_size: int) -> int:
    return math.ceil(_windows_per_epoch(config, num_windows) / batch_size)


def _batch_size(num_windows: int) -> int:
    """The power of two that gives about 40 steps per pass, between 16 and 128."""
    wanted = max(num_windows / BATCHES_PER_PASS, 1)
    nearest: int = 2 ** round(math.log2(wanted))
    return min(max(nearest, MIN_BATCH), MAX_BATCH)
