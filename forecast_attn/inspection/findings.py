"""What an inspection found, as plain data that turns into JSON."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Header:
    """What was inspected."""

    mechanism: str
    order: str
    score: str
    normaliser: str
    window: str
    heads: list[int]
    item_ids: list[str]
    num_windows: int
    first_cutoff: str
    last_cutoff: str
    lookback: int
    horizon: int
    frequency: str
    season: int


@dataclass(frozen=True)
class TopLag:
    """One of the lags a step looks at most, with its time where a single window is inspected."""

    lag: int
    weight: float
    distance: str
    timestamp: str | None


@dataclass(frozen=True)
class StepStatistics:
    """One step ahead: means over windows and heads of what is computed per row of weights.

    Attributes:
        step: steps ahead of the cut-off.
        timestamp: its target time, where a single window is inspected.
        entropy: nats.
        normalised_entropy: as a share of a uniform row's.
        effective_steps: exp(entropy).
        max_weight: largest weight.
        centroid_lag: weighted mean of the lags.
        recent_season_mass: weight within a step of lags m, 2m, … from the cut-off; None without a season.
        target_season_mass: weight within a step of whole seasons before the target; None without a season.
        top: the lags with the largest mean weight.
    """

    step: int
    timestamp: str | None
    entropy: float
    normalised_entropy: float
    effective_steps: float
    max_weight: float
    centroid_lag: float
    recent_season_mass: float | None
    target_season_mass: float | None
    top: list[TopLag]


@dataclass(frozen=True)
class Inspection:
    """Everything `forecast inspect` shows.

    Attributes:
        header: what was inspected.
        steps: one entry per step ahead.
        profile: (lookback,) mean weight over windows, heads and steps, oldest position first.
        mean_weights: (steps, lookback) mean over windows and heads, oldest position first.
        uniform_season_mass: what `target_season_mass`, averaged over the steps, would be for uniform weights.
        warnings: in words, what makes the weights say less than they seem to.
    """

    header: Header
    steps: list[StepStatistics]
    profile: Matrix
    mean_weights: Matrix
    uniform_season_mass: float | None
    warnings: list[str]

    def mean(self, name: str) -> float | None:
        """The mean over steps of one of their numbers; None where it is not defined."""
        values = [getattr(step, name) for step in self.steps]
        return None if None in values else float(np.mean(values))

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON, but `mean_weights` (export the file for those); what is not finite becomes None."""
        document = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del document["mean_weights"]
        document["header"] = dataclasses.asdict(self.header)
        document["steps"] = [dataclasses.asdict(step) for step in self.steps]
        plain: dict[str, Any] = _without_nan(document)
        return plain


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(entry) for name, entry in value.items()}
    if isinstance(value, list | np.ndarray):
        return [_without_nan(entry) for entry in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value
