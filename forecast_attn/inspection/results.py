"""Results of an inspection, as plain data that turns into JSON."""

import dataclasses
import math
from dataclasses import dataclass, field
from html import escape
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file.attention_schema import season_in_keys
from forecast_attn.config.values import percent
from forecast_attn.data.findings import counted
from forecast_attn.inspection.statistics import span_text, time_span
from forecast_attn.notebook import Drawn, words

Matrix = NDArray[np.floating[Any]]


LEAST_SHOWN = 0.001
InterpretationKind = Literal["nothing", "not needed", "looks", "not tested"]


@dataclass(frozen=True)
class Interpretation:
    """A sentence about the weights, and its kind. Commands in it stand between backquotes."""

    kind: InterpretationKind
    text: str


@dataclass(frozen=True)
class InspectionHeader:
    """Description of the inspected file.

    `lookback`, `horizon` and `season` are in time steps; a weight belongs to a key of `patch_length` of them.
    """

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
    patch_length: int = 1
    network_share: float | None = None
    """Weight of the network in the forecasts that the file belongs to, smallest of these series; None where it is not
    known."""

    @property
    def num_keys(self) -> int:
        """Weights of a row."""
        return self.lookback // self.patch_length

    def lag_in_steps(self, lag: float | None) -> float:
        """Time steps back from the cut-off of a lag in keys: of a patch, to its middle; NaN for None."""
        return math.nan if lag is None else lag * self.patch_length + (self.patch_length - 1) / 2

    @property
    def key_season(self) -> int:
        """Keys in a season; see `season_in_keys`."""
        return season_in_keys(self.season, self.patch_length)

    @property
    def items_text(self) -> str:
        """The series, or how many there are."""
        return self.item_ids[0] if len(self.item_ids) == 1 else f"{len(self.item_ids)} series"

    @property
    def cutoffs_text(self) -> str:
        """From the first cut-off to the last one."""
        return " to ".join(dict.fromkeys((self.first_cutoff, self.last_cutoff)))

    @property
    def mechanism_text(self) -> str:
        """The mechanism and its parts."""
        return f"{self.mechanism}: {self.score} score, {self.order} order, {self.normaliser}, {self.window} window"

    @property
    def keys_text(self) -> str:
        """Number and kind of keys: `7 patches of 24 time steps`, or `168 lags`."""
        if self.patch_length == 1:
            return f"{self.num_keys} lags"
        return f"{self.num_keys} patch{'' if self.num_keys == 1 else 'es'} of {self.patch_length} time steps"

    @property
    def identifiable(self) -> bool | None:
        """Return whether these weights can be the only ones for this forecast; None where the file lacks the rank."""
        return None if self.value_rank is None else self.num_keys <= self.value_rank + 1


class _Timed:
    """A step or a key, with its times where a single window is inspected."""

    timestamp: str | None
    last_timestamp: str | None

    @property
    def time_text(self) -> str | None:
        """The time, or from when to when a patch is."""
        return self.timestamp and time_span(self.timestamp, self.last_timestamp or self.timestamp)


@dataclass(frozen=True)
class TopLag(_Timed):
    """One of the lags a step looks at most, with its time where a single window is inspected.

    Attributes:
        lag: keys back from the cut-off: time steps, or patches.
        weight: on it.
        distance: how far back that is in time; of a patch, from where to where.
        timestamp: its time; of a patch, that of its first time step.
        first_lag: of a patch, the smallest lag of its time steps; None where keys are time steps, as the next two.
        last_lag: the largest.
        last_timestamp: the time of its last time step.
    """

    lag: int
    weight: float
    distance: str
    timestamp: str | None
    first_lag: int | None = None
    last_lag: int | None = None
    last_timestamp: str | None = None

    @property
    def lag_text(self) -> str:
        """The lag in time steps: `24`, or `24–47` of a patch."""
        first, last = (self.lag if lag is None else lag for lag in (self.first_lag, self.last_lag))
        return span_text(first, last)


def noticeable(top: list[TopLag]) -> list[TopLag]:
    """The first, and the others with a thousandth of the weight or more: the rest are as good as none."""
    return [each for index, each in enumerate(top) if index == 0 or each.weight >= LEAST_SHOWN]


@dataclass(frozen=True)
class StepStatistics(_Timed):
    """One step ahead: means over windows and heads of what is computed per row of weights.

    Attributes:
        step: steps ahead of the cut-off; of a patch, the first.
        timestamp: its target time, where a single window is inspected.
        entropy: nats.
        normalised_entropy: as a share of a uniform row's.
        effective_steps: exp(entropy), in keys.
        max_weight: largest weight.
        centroid_lag: weighted mean of the lags, in keys.
        recent_season_mass: weight within a step of lags m, 2m, … from the cut-off; None without a season.
        target_season_mass: weight within a step of whole seasons before the target; None without a season.
        top: the lags with the largest mean weight.
        last_step: of a patch, its last step ahead; None where the decoder's steps are time steps.
        last_timestamp: its target time, where a single window is inspected.
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
    last_step: int | None = None
    last_timestamp: str | None = None

    @property
    def span(self) -> tuple[int, int]:
        """The first and the last time step ahead, the same where it is no patch."""
        return self.step, self.step if self.last_step is None else self.last_step

    @property
    def step_text(self) -> str:
        """`7`, or `1–24` of a patch."""
        return span_text(*self.span)


@dataclass(frozen=True)
class GroupStatistics:
    """One series, head, hour or weekday: means over its windows, heads and the steps.

    Attributes:
        name: of the group, in words.
        num_windows: windows in it.
        entropy: nats.
        normalised_entropy: as a share of a uniform row's.
        effective_steps: exp(entropy), in keys.
        max_weight: largest weight.
        centroid_lag: weighted mean of the lags, in keys.
        target_season_mass: weight within a step of whole seasons before the target; None without a season.
        distance: Jensen-Shannon distance of its profile from that of all windows, 0 to 1.
        top: the lags with the largest mean weight.
        profile: (num_keys,) mean weight, oldest position first.
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
class Inspection(Drawn):
    """Everything `forecast inspect` shows.

    Attributes:
        header: what was inspected.
        steps: one entry per step ahead.
        profile: (num_keys,) mean weight over windows, heads and steps, oldest position first.
        mean_weights: (steps, num_keys) mean over windows and heads, oldest position first.
        uniform_season_mass: what `target_season_mass`, averaged over the steps, would be for uniform weights.
        warnings: in words, why the weights show less than they seem to.
        top: the lags with the largest mean weight over all steps.
        by: what the groups are groups of: item, head, hour or weekday; None without groups.
        groups: each of them.
        left_out: in words, which hours or weekdays have no window.
        missing_steps: how many keys of a lookback are missing, on average; None where none can be.
        lookback_timestamps: (lookback,) the time of each time step, where a single window is inspected.
        reading: the conclusion that these weights support, in one sentence.
    """

    header: InspectionHeader
    steps: list[StepStatistics]
    profile: Matrix
    mean_weights: Matrix
    uniform_season_mass: float | None
    warnings: list[str]
    top: list[TopLag]
    by: str | None = None
    groups: list[GroupStatistics] = field(default_factory=list)
    left_out: str = ""
    missing_steps: float | None = None
    lookback_timestamps: list[str] | None = None
    reading: Interpretation = field(default_factory=lambda: Interpretation("not tested", ""))

    @property
    def target_steps(self) -> list[int]:
        """The time steps ahead that `steps` stand for."""
        return [step for first, last in (each.span for each in self.steps) for step in range(first, last + 1)]

    def mean(self, name: str) -> float | None:
        """The mean over steps of one of their numbers; None where it is not defined."""
        values = [getattr(step, name) for step in self.steps]
        return None if None in values else float(np.mean(values))

    def __repr__(self) -> str:
        header = self.header
        return f"<Inspection of {header.mechanism}, {counted(header.num_windows, 'window')}: {self.reading.text}>"

    def _repr_html_(self) -> str:
        """The sentence, the top lags of every step and of every group, and the warnings, for a notebook."""
        tables = _rows_html("step", [(step.step_text, step) for step in self.steps])
        if self.by is not None:
            tables += _rows_html(self.by, [(group.name, group) for group in self.groups])
        warnings = "".join(f"<li>{words(warning)}</li>" for warning in self.warnings)
        return f"<p><b>{words(self.reading.text)}</b></p>{tables}<ul>{warnings}</ul>"

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON, but `mean_weights` (export the file for those); what is not finite becomes None."""
        document = dataclasses.asdict(self)
        del document["mean_weights"]
        document["header"]["identifiable"] = self.header.identifiable
        plain: dict[str, Any] = without_nan(document)
        return plain if self.header.patch_length > 1 else _without_patches(plain)


def _rows_html(of: str, entries: list[tuple[str, StepStatistics | GroupStatistics]]) -> str:
    """A table of HTML with the effective steps and the top lags of each entry, by its name."""
    rows = [
        f"<tr><th>{escape(name)}</th><td>{each.effective_steps:.1f}</td><td>"
        + ", ".join(f"{top.lag_text} ({percent(top.weight, 1)})" for top in noticeable(each.top))
        + "</td></tr>"
        for name, each in entries
    ]
    head = f"<thead><tr><th>{escape(of)}</th><th>effective</th><th>top lags (weight)</th></tr></thead>"
    return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>"


def _without_patches(value: Any) -> Any:
    """Return the document without the entries that only patches have."""
    if isinstance(value, dict):
        return {name: _without_patches(entry) for name, entry in value.items() if name not in _OF_PATCHES}
    return [_without_patches(entry) for entry in value] if isinstance(value, list) else value


_OF_PATCHES = {"patch_length", "first_lag", "last_lag", "last_timestamp", "last_step"}


def without_nan(value: Any) -> Any:
    """Plain lists and numbers for JSON; what is not finite becomes None."""
    if isinstance(value, dict):
        return {name: without_nan(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [without_nan(entry) for entry in value]
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else None
    return value
