"""Events of training, for a listener. Nothing here prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from forecast_attn.config.options import RunConfig
    from forecast_attn.training.preparation import Preparation
    from forecast_attn.training.schedule import TrainingPlan


class EpochRecord(NamedTuple):
    """One row of history.csv. Losses are on the scaled target."""

    epoch: int
    """Counted from 1."""
    train_loss: float
    validation_loss: float
    learning_rate: float
    """Learning rate at the end of the epoch."""
    seconds: float
    """Training and validation together."""
    windows_per_second: float
    """Speed of training, without validation."""


class TrainingListener:
    """Callbacks for the progress of a training; by default they do nothing."""

    def reading(self, done: int, total: int) -> None:
        """The table is being read: bytes read so far, and bytes in all."""

    def prepared(self, preparation: Preparation, config: RunConfig) -> None:
        """Called when the table is read and split, before the run directory is made."""

    def noted(self, text: str) -> None:
        """Called with a note about the options, before training."""

    def member_started(self, number: int, members: int) -> None:
        """Called before each member of an ensemble, counted from 1; a finished one is not trained again."""

    def training_started(self, plan: TrainingPlan, first_epoch: int, device: str) -> None:
        """Called before the first step; `first_epoch` is above 1 when a run is resumed."""

    def batch_done(self, loss: float, num_windows: int) -> None:
        """Called after every optimiser step."""

    def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
        """Called after every epoch's validation."""

    def interrupted(self) -> None:
        """Called after Ctrl-C; training has ended, perhaps because all epochs were done at that very moment."""

    def training_ended(self, reason: str) -> None:
        """Training ended, for this reason: `max-epochs`, `patience`, `max-time` or `interrupted`."""
