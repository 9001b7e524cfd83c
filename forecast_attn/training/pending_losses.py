"""Losses whose values are still on the device: a GPU is asked for many at once, since each question waits for it."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

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
