"""What an inspection found, as plain data that turns into JSON."""

import dataclasses
from dataclasses import dataclass, field
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
    dtype: str
    kept_weights: int | None
    value_rank: int | None
    zone: str | None

    @property
    def identifiable(self) -> bool | None:
        """Whether these weights can be the only ones that give this forecast; None where the file does not tell."""
        return None if self.value_rank is None else self.lookback <= self.value_rank + 1


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
class GroupStatistics:
    """One series, head, hour or weekday: means over its windows, heads and the steps.

    Attributes:
        name: of the group, in words.
        num_windows: windows in it.
        entropy: nats.
        normalised_entropy: as a share of a uniform row's.
        effective_steps: exp(entropy).
        max_weight: largest weight.
        centroid_lag: weighted mean of the lags.
        target_season_mass: weight within a step of whole seasons before the target; None without a season.
        distance: Jensen-Shannon distance of its profile from that of all windows, 0 to 1.
        top: the lags with the largest mean weight.
        profile: (lookback,) mean weight, oldest position first.
    """

    name: str
    num_windows: int
    entropy: float
    normalised_entropy: float
    effective_steps: float
    max_weight: float
    centroid_lag: float
    target_season_mass: float | None
    distance: float
    top: list[TopLag]
    profile: Matrix


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
        top: the lags with the largest mean weight over all steps.
        by: what the groups are groups of: item, head, hour or weekday; None without groups.
        groups: each of them.
        missing_steps: how many time steps of a lookback are missing, on average; None where none can be.
        lookback_timestamps: (lookback,) the time of each position, where a single window is inspected.
    """

    header: Header
    steps: list[StepStatistics]
    profile: Matrix
    mean_weights: Matrix
    uniform_season_mass: float | None
    warnings: list[str]
    top: list[TopLag]
    by: str | None = None
    groups: list[GroupStatistics] = field(default_factory=list)
    missing_steps: float | None = None
    lookback_timestamps: list[str] | None = None

    def mean(self, name: str) -> float | None:
        """The mean over steps of one of their numbers; None where it is not defined."""
        values = [getattr(step, name) for step in self.steps]
        return None if None in values else float(np.mean(values))

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON, but `mean_weights` (export the file for those); what is not finite becomes None."""
        document = dataclasses.asdict(self)
        del document["mean_weights"]
        document["header"]["identifiable"] = self.header.identifiable
        plain: dict[str, Any] = without_nan(document)
        return plain


def without_nan(value: Any) -> Any:
    """Plain lists and numbers for JSON; what is not finite becomes None."""
    if isinstance(value, dict):
        return {name: without_nan(entry) for name, entry in value.items()}
    if isinstance(value, list | np.ndarray):
        return [without_nan(entry) for entry in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value
