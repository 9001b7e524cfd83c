"""Results of an audit, as plain data that turns into JSON."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from forecast_attn.notebook import Drawn

LOW_QUANTILE, HIGH_QUANTILE = 0.05, 0.95
"""Quantiles of a yardstick: one random explanation in twenty lies above the high one."""

SMALLEST_IMPORTANCE = 0.01
"""Share of the MAE that a column must be worth: a rise beyond noise may still be nothing anyone would notice."""

Level = Literal["faithful", "partly faithful", "not faithful"]


@dataclass(frozen=True)
class Yardstick:
    """Scores of random explanations in the same statistic: quantiles over draws, NaN where it is not defined."""

    low: float
    median: float
    high: float
    draws: int
    of: str
    """Name of the random draws."""

    @classmethod
    def of_draws(cls, draws: ArrayLike, of: str) -> Yardstick:
        values = np.asarray(draws, np.float64)
        defined = values[~np.isnan(values)]
        quantiles = np.quantile(defined, (LOW_QUANTILE, 0.5, HIGH_QUANTILE)) if len(defined) else (np.nan,) * 3
        low, median, high = (float(quantile) for quantile in quantiles)
        return cls(low, median, high, len(values), of)


@dataclass(frozen=True)
class Statistic:
    """A number of a check.

    Attributes:
        name: for programs.
        label: for people.
        value: NaN where it is not defined.
        unit: "target" (the target's own units), "scale" (deviations of its series), "share" or "".
        yardstick: what a random explanation scores; None where the number is no comparison.
        faithful_is: on which side of the yardstick a faithful attention lies.
    """

    name: str
    label: str
    value: float
    unit: str = ""
    yardstick: Yardstick | None = None
    faithful_is: Literal["above", "below"] | None = None

    @property
    def beats_chance(self) -> bool | None:
        """Return whether the value lies beyond 95 % of random explanations; None where it is no comparison."""
        if self.yardstick is None or self.faithful_is is None:
            return None
        if self.faithful_is == "above":
            return self.value > self.yardstick.high
        return self.value < self.yardstick.low


@dataclass(frozen=True)
class Curve:
    """Mean absolute change of the forecast, and change of its MAE, in the target's units, by the share of lookback
    steps that an experiment changed: those chosen by weight, and random ones.
    """

    name: str
    label: str
    share: list[float]
    steps: list[float]
    """Mean number of lookback steps, or patches, behind each share."""
    forecast_change: dict[str, list[float]]
    """`top`, `bottom`, `random`, `random_low`, `random_high`, one number per share."""
    mae_change: dict[str, list[float]]


@dataclass(frozen=True)
class GroupNeed:
    """Effect of equal weights on the MAE of a group of forecast values.

    Attributes:
        kind: step, series or regime.
        name: in words, such as `where 'holiday' is 1`.
        windows: with a value in the group.
        mae: of the model.
        mae_equal: with equal weights.
        rise_relative: of the MAE, as a share of the model's.
        chance: what the rise exceeds by chance in one case of 20; NaN where the windows overlap too much to tell.
        needed: whether the right weights are worth a twentieth of the MAE in these windows.
    """

    kind: str
    name: str
    windows: int
    mae: float
    mae_equal: float
    rise_relative: float
    chance: float
    needed: bool

    @property
    def rise(self) -> float:
        return self.mae_equal - self.mae

    @property
    def beyond_chance(self) -> bool:
        return self.rise > self.chance


@dataclass(frozen=True)
class Check:
    """An experiment: its numbers, and a sentence that sums them up.

    `passed` is None for what is worth knowing and no test.
    """

    name: str
    title: str
    passed: bool | None
    verdict: str
    statistics: list[Statistic]
    curves: list[Curve] = field(default_factory=list)
    groups: list[GroupNeed] = field(default_factory=list)

    def __getitem__(self, name: str) -> Statistic:
        return next(statistic for statistic in self.statistics if statistic.name == name)


@dataclass(frozen=True)
class Importance:
    """Effect on the MAE of permuting a covariate, or a group of them, over windows.

    Attributes:
        name: the column, or the group.
        group: past, future, static, calendar or target.
        columns: those that were permuted together.
        mae_change: mean over repeats, in the target's units.
        low, high: 5 % and 95 % of the repeats.
        noise_low, noise_high: where the change of a column lies that the network heeds as much as this one and that
            says nothing about the target, in 90 of 100 cases; NaN where there is nothing to permute, or where the
            windows overlap too much to tell.
        matters: mae_change above noise_high, and at least a hundredth of the MAE.
    """

    name: str
    group: str
    columns: list[str]
    mae_change: float
    relative: float
    low: float
    high: float
    noise_low: float
    noise_high: float
    matters: bool

    @property
    def is_untested(self) -> bool:
        """Return whether the windows overlap too much to say by how much their errors would change by chance."""
        return math.isnan(self.noise_high) and self.mae_change != 0

    @property
    def exceeds_noise(self) -> bool:
        return self.mae_change > self.noise_high

    @property
    def conclusion(self) -> str:
        """Return `matters`, or why it does not: `noise`, `small`, `untested`."""
        if self.matters:
            return "matters"
        if self.is_untested:
            return "untested"
        return "small" if self.exceeds_noise else "noise"


@dataclass(frozen=True)
class CovariateImportance:
    """Groups and single columns, the most important first."""

    windows: int
    repeats: int
    mae: float
    verdict: str
    groups: list[Importance]
    columns: list[Importance]


@dataclass(frozen=True)
class AuditHeader:
    """The audited run and windows."""

    mechanism: str
    order: str
    normaliser: str
    window: str
    heads: int
    lookback: int
    horizon: int
    frequency: str
    season: int
    target: str
    num_series: int
    windows: int
    windows_available: int
    first_cutoff: str
    last_cutoff: str
    draws: int
    seed: int
    mae: float
    """MAE of the audited windows, in the target's units."""
    scale: float
    """Mean deviation of the series in their training rows, in the target's units."""
    patch_length: int = 1
    """Time steps of a key; the document says it of patches only, as the next."""
    network_share: float | None = None
    """Weight of the network in what `predict` forecasts; None of a run that forecasts with the network alone."""
    looks: str = ""
    """Words that follow "it looks": at what, seen from the time that is forecast."""


@dataclass(frozen=True)
class Verdict:
    """The audit in one word and one sentence, and what to bear in mind when reading it."""

    level: Level
    sentence: str
    caveats: list[str]


@dataclass(frozen=True)
class Audit(Drawn):
    """Everything `forecast audit` shows.

    Attributes:
        header: what was audited.
        verdict: of all checks together; None where only covariates were asked for.
        checks: one per experiment.
        profiles: mean over windows of each explanation by lag, oldest key first, adding up to 1.
        covariates: permutation importance, where it was asked for.
    """

    header: AuditHeader
    verdict: Verdict | None
    checks: list[Check]
    profiles: dict[str, list[float]]
    covariates: CovariateImportance | None

    def check(self, name: str) -> Check:
        """The check of this name; a KeyError when it was not made."""
        for check in self.checks:
            if check.name == name:
                return check
        raise KeyError(name)

    def __repr__(self) -> str:
        verdict = "covariates only" if self.verdict is None else self.verdict.level
        return f"<Audit of {self.header.mechanism}, {self.header.windows:,} windows: {verdict}>"

    def _repr_html_(self) -> str:
        """The part of the HTML page that is about the audit, for a notebook."""
        import forecast_attn.notebook as notebook
        from forecast_attn.inspection.audit_section import audit_section

        return notebook.part_of_page(audit_section(self.to_dict()))

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON; what is not finite becomes None."""
        from forecast_attn.inspection.results import without_nan

        document: dict[str, Any] = without_nan(dataclasses.asdict(self))
        for check, entry in zip(self.checks, document["checks"], strict=True):
            for statistic, numbers in zip(check.statistics, entry["statistics"], strict=True):
                numbers["beats_chance"] = statistic.beats_chance
        if self.header.network_share is None:
            del document["header"]["network_share"]
        if self.header.patch_length == 1:
            del document["header"]["patch_length"]
        return document
