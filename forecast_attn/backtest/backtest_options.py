"""The options of a backtest, and those of its refits, which `forecast update` shares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from forecast_attn.attention_file import DumpChoice
from forecast_attn.backtest.cutoffs import Axis, Schedule, Stride
from forecast_attn.backtest.folds import parse_refit
from forecast_attn.baselines.registry import DEFAULT_BASELINES, check_baselines
from forecast_attn.cluster import check_sharing
from forecast_attn.config.requests import BacktestRequest
from forecast_attn.errors import ConfigError

if TYPE_CHECKING:
    from forecast_attn.training.refit import Refit

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

    half_life: str | int | None = None
    """Steps or time before the cut-off at which a window is drawn half as often; all are drawn alike when None."""
    keep: str | None = None
    """The weights that go on: the refitted ones (new, which None is), or the better ones on held-out steps (best)."""
    final_fit: bool = False
    """Train on the held-out steps too, where the refitted weights go on."""
    prefix: str = "--refit-"
    """Beginning of the flags in messages."""
    otherwise: str = "a later --start, or --refit never"
    """Hint where there is too little to train on, beside the window and the held-out steps."""

    def __post_init__(self) -> None:
        every = parse_refit(self.refit)
        for name in ("epochs", "learning_rate", "window", "validation", "half_life", "keep", "final_fit", "origin"):
            value = getattr(self, name)
            if value is not None and value is not False and not every:
                flag = "from" if name == "origin" else name.replace("_", "-")
                raise ConfigError(f"{self.prefix}{flag} is for refits", "add --refit every, or --refit 7")
        for name in ("window", "half_life"):
            if getattr(self, name) is not None:
                self._span(name)
        if self.validation == 0 and self.chooses:
            raise ConfigError(
                f"{self.prefix}validation 0 holds no steps out to score on",
                f"leave it out, or {self.prefix}keep and {self.prefix}final-fit",
            )

    def _span(self, name: str) -> Stride:
        """Steps or time of the field of that name.

        Raises:
            ConfigError: it is neither.
        """
        return Stride.parse(getattr(self, name), f"{self.prefix}{name.replace('_', '-')}")

    @property
    def every(self) -> int:
        """Cut-offs from one refit to the next; 0 for no refits."""
        return parse_refit(self.refit)

    @property
    def chooses(self) -> bool:
        """True where held-out steps decide about the weights, and are trained on in the end."""
        return self.keep == "best" or self.final_fit

    def check(self, axis: Axis, horizon: int) -> None:
        """Refuse what does not fit the series or the run.

        Raises:
            ConfigError: a window that leaves the grid of the time axis, or a validation shorter than the horizon.
        """
        if self.window is not None:
            self._span("window").check(axis.frequency, f"{self.prefix}window")
        if self.half_life is not None:
            self._span("half_life").check(axis.frequency, f"{self.prefix}half-life")
        if self.validation and self.validation < horizon:
            raise ConfigError(
                f"{self.prefix}validation {self.validation} is shorter than the horizon, {horizon}",
                f"{self.prefix}validation {horizon}, or 0 for none",
            )

    def since(self, cutoff: Any, axis: Axis) -> Any | None:
        """The stamp after which the steps to train on lie; None for all of them."""
        if self.window is None or not self._span("window").most_between(axis.stamps[0], cutoff, axis):
            return None
        return self._span("window").from_stamp(cutoff, np.array([-1]), axis)[0]

    def request(self, number: int, cutoff: Any, axis: Axis, accelerator: str) -> Refit:
        """The refit of a number at a cut-off."""
        from forecast_attn.training.refit import Refit  # with Lightning

        half_life = None
        if self.half_life is not None:
            half_life = self._span("half_life").from_stamp(cutoff, np.array([-1]), axis)[0]
        window = "" if self.window is None else f"a longer {self.prefix}window, "
        validation = f"a smaller {self.prefix}validation, " if self.validation else ""
        return Refit(
            number,
            cutoff,
            self.epochs or EPOCHS,
            accelerator,
            learning_rate=self.learning_rate,
            since=self.since(cutoff, axis),
            validation=self.validation,
            half_life=half_life,
            keep=self.keep or "new",
            final_fit=self.final_fit,
            hint=f"{window}{validation}{self.otherwise}",
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-able, by the names of backtest.json."""
        return {
            "refit_every": self.every,
            "refit_epochs": (self.epochs or EPOCHS) if self.every else None,
            "refit_learning_rate": self.learning_rate,
            "refit_window": None if self.window is None else str(self.window),
            "refit_validation": self.validation,
            "refit_from": (self.origin or "last") if self.every else None,
            "refit_half_life": None if self.half_life is None else str(self.half_life),
            "refit_keep": (self.keep or "new") if self.every else None,
            "refit_final_fit": self.final_fit,
        }


@dataclass(frozen=True, kw_only=True)
class BacktestOptions(BacktestRequest):
    """The options of `Forecaster.backtest`, which go together.

    Raises:
        ConfigError: options contradict each other.
    """

    def __post_init__(self) -> None:
        _ = self.schedule, self.refits, self.weights_to_write  # each checks its own
        check_sharing(self.engine, self.jobs)
        check_baselines(self.compared, self.chronos_model)

    @cached_property
    def schedule(self) -> Schedule:
        """Cut-offs to forecast from."""
        return Schedule(self.cutoffs, self.start, self.end, self.stride)

    @cached_property
    def refits(self) -> RefitOptions:
        """Refits between the cut-offs."""
        return RefitOptions(
            self.refit,
            epochs=self.refit_epochs,
            learning_rate=self.refit_learning_rate,
            window=self.refit_window,
            validation=self.refit_validation,
            origin=self.refit_from,
            half_life=self.refit_half_life,
            keep=self.refit_keep,
            final_fit=self.refit_final_fit,
        )

    @cached_property
    def weights_to_write(self) -> DumpChoice:
        """Attention weights that go to a file, where one is named."""
        return DumpChoice.of(self.attention_windows, self.attention_dtype, self.attention_top)

    @property
    def named_baselines(self) -> tuple[str, ...] | None:
        """Baselines that the user named; None for the default ones."""
        return () if self.baselines == ("none",) else self.baselines

    @property
    def compared(self) -> tuple[str, ...]:
        """Names of all baselines to compute, each once."""
        baselines = DEFAULT_BASELINES if self.named_baselines is None else self.named_baselines
        chronos = () if self.chronos_model is None else ("chronos",)
        return tuple(dict.fromkeys((*baselines, *(self.combine_with or ()), *chronos)))
