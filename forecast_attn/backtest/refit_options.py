"""The options of refits: `--refit` and those that begin with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from forecast_attn.backtest.cutoffs import Axis, Stride
from forecast_attn.backtest.folds import parse_refit
from forecast_attn.errors import ConfigError, did_you_mean

ORIGINS = ("last", "run")
EPOCHS = 2
"""Default number of epochs of each refit."""


@dataclass(frozen=True)
class RefitOptions:
    """Schedule and settings of refits. None takes the default of `training.refit`."""

    refit: str | int = "never"
    """never, every, or cut-offs from one refit to the next."""
    epochs: int | None = None
    learning_rate: float | None = None
    """Peak learning rate."""
    window: str | int | None = None
    """Steps or time before the cut-off; only windows whose horizon lies there are trained and validated on."""
    validation: int | None = None
    """Last steps before the cut-off that choose the best epoch; with 0 the last epoch is kept and none is left out."""

    origin: str | None = None
    """Weights that a refit begins with: those of the refit before it (last, which None is), or the run's (run)."""

    def __post_init__(self) -> None:
        every = parse_refit(self.refit)
        if self.origin is not None:
            if not every:
                raise ConfigError("--refit-from is for refits", "add --refit every, or --refit 7")
            if self.origin not in ORIGINS:
                raise ConfigError(f"--refit-from has no value '{self.origin}'", did_you_mean(self.origin, ORIGINS))
        for name in ("epochs", "learning_rate", "window", "validation"):
            if getattr(self, name) is not None and not every:
                raise ConfigError(f"--refit-{name.replace('_', '-')} is for refits", "add --refit every, or --refit 7")
        if self.epochs is not None and self.epochs < 1:
            raise ConfigError(f"--refit-epochs must be at least 1; got {self.epochs}", "such as --refit-epochs 2")
        rate = self.learning_rate
        if rate is not None and not 0 < rate < float("inf"):
            raise ConfigError(f"--refit-learning-rate must be above 0; got {rate:g}", "such as 0.001")
        if self.window is not None:
            Stride.parse(self.window, "--refit-window")
        if self.validation is not None and self.validation < 0:
            raise ConfigError(
                f"--refit-validation must be at least 0; got {self.validation}", "0 trains on all rows, without any"
            )

    @property
    def every(self) -> int:
        """Cut-offs from one refit to the next; 0 for no refits."""
        return parse_refit(self.refit)

    def check(self, axis: Axis, horizon: int) -> None:
        """Refuse what does not fit the series or the run.

        Raises:
            ConfigError: a window that leaves the grid of the time axis, or a validation shorter than the horizon.
        """
        if self.window is not None:
            Stride.parse(self.window, "--refit-window").check(axis.frequency, "--refit-window")
        if self.validation and self.validation < horizon:
            raise ConfigError(
                f"--refit-validation {self.validation} is shorter than the horizon, {horizon}",
                f"--refit-validation {horizon}, or 0 for none",
            )

    def since(self, cutoff: Any, axis: Axis) -> Any | None:
        """The stamp after which the steps to train on lie; None for all of them."""
        if self.window is None:
            return None
        return Stride.parse(self.window, "--refit-window").from_stamp(cutoff, np.array([-1]), axis)[0]

    def to_dict(self) -> dict[str, Any]:
        """JSON-able, by the names of backtest.json."""
        return {
            "refit_every": self.every,
            "refit_epochs": (self.epochs or EPOCHS) if self.every else None,
            "refit_learning_rate": self.learning_rate,
            "refit_window": None if self.window is None else str(self.window),
            "refit_validation": self.validation,
            "refit_from": (self.origin or ORIGINS[0]) if self.every else None,
        }
