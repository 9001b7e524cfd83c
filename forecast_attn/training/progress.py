"""What training tells whoever watches it. Nothing here prints."""

from typing import NamedTuple

from forecast_attn.training.plan import TrainingPlan


class EpochRecord(NamedTuple):
    """One row of history.csv. Losses are on the scaled target."""

    epoch: int
    """Counted from 1."""
    train_loss: float
    validation_loss: float
    learning_rate: float
    """At the end of the epoch."""
    seconds: float
    """Training and validation together."""
    windows_per_second: float
    """Of training alone."""


class TrainingListener:
    """Hears how training goes; every method may be overridden, none must be."""

    def training_started(self, plan: TrainingPlan, first_epoch: int, device: str) -> None:
        """Before the first step; `first_epoch` is above 1 when a run is resumed."""

    def batch_done(self, loss: float, num_windows: int) -> None:
        """After every optimiser step."""

    def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
        """After every epoch's validation."""

    def training_ended(self, reason: str) -> None:
        """Why training ended: `max-epochs`, `patience`, `max-time` or `interrupted`."""
