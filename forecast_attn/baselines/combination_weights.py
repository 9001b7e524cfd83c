"""Weights of a network and some baselines in one forecast, chosen on validation windows.

Two answers are averaged. The first is the best of few weights, quarters that sum to 1: it finds what belongs together,
and follows chance where validation windows are few. The second weighs each forecast by its own error, to the power of
-6: nothing that is about as good as the best is left out. Weights that are estimated freely hardly ever beat equal
ones; shrinking them does (Clemen 1989, "Combining forecasts: a review and annotated bibliography"; Diebold and Pauly
1990, "The use of prior information in forecast combination").

Where few windows are independent of each other, all this follows chance, and favours the network, whose best epoch the
same windows have chosen. There the answer is drawn towards a mean of formulas, which have learned nothing from
them; the less so, the worse the best of the formulas is on these windows, if they hold enough values to tell. Formulas
cost little, so that the mean knows their errors at more cut-offs than the validation windows have: the more of these,
the less equal it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.values import NETWORK

Floats = NDArray[np.float64]

# docs/accuracy-tried.md ("Weights of the combination", "The prior") has the evidence for these numbers.
PARTS = 4
"""The best weights are searched among multiples of one over this."""
POWER = 6
"""Power of the error in the weights that each forecast has by itself, and in the prior."""
PRIOR_FORMULAS = ("seasonal-naive", "dynamic-theta", "damped-trend", "autoregression", "temporal-aggregation")
"""The candidates that learn from no window; their mean is the prior. The last one is none on every table."""
MISLED = 10
"""A formula whose error is this many times that of the best one is left out of the prior: an outlier has misled it."""
PRIOR_WINDOWS = 100
"""Independent windows that weigh as much as the prior, if its best formula is as good as what they chose."""
LEAST, DIGITS = 0.02, 3
"""Smallest weight, and the decimals that weights are rounded to."""
EVIDENCE = 20
"""Independent windows of the formulas of which their weights in the prior fall with half of `POWER`."""
ENOUGH_VALUES = 100
"""Actual values on independent windows from which the prior falls with all of `POWER`; with fewer in proportion."""
MOST_UNKNOWN = 0.2
"""Share of windows without a forecast above which a baseline is no candidate."""


def scaled_error(actual: Floats, forecast: Floats, scale: Floats) -> float:
    """Mean absolute error in units of each window's scale.

    Args:
        actual: NaN where not observed, (num_windows, horizon).
        forecast: the same shape.
        scale: of each window, (num_windows,); windows without one (NaN) are left out, unless none has one.
    """
    usable = scale > 0
    weight = np.where(usable, 1 / np.where(usable, scale, 1), 0.0) if usable.any() else np.ones(len(scale))
    observed = ~np.isnan(actual)
    error = np.where(observed, np.abs(forecast - actual), 0) * weight[:, None]
    return float(error.sum() / max((observed & (weight > 0)[:, None]).sum(), 1))


def independent_windows(cutoffs: NDArray[np.int64], series: NDArray[np.int64], horizon: int) -> int:
    """Return how many windows have actual values of their own, at most: those of one series lie a horizon apart.

    Args:
        cutoffs: rows of their last known values, (num_windows,).
        series: of each window, (num_windows,).
        horizon: steps of a window.
    """
    if not len(cutoffs):
        return 0
    by_series = np.argsort(series, kind="stable")
    firsts = np.flatnonzero(np.diff(series[by_series], prepend=-1))
    spans = (reduce.reduceat(cutoffs[by_series], firsts) for reduce in (np.maximum, np.minimum))
    return int((1 + np.subtract(*spans) // horizon).sum())


@dataclass(frozen=True)
class Combination:
    """Weights of the network and of baselines in one forecast; none where the network forecasts alone."""

    weights: dict[str, float] = field(default_factory=dict)
    """By name, above 0; of all series but those with weights of their own."""
    by_series: dict[str, dict[str, float]] = field(default_factory=dict)
    """By the name of the series, for those whose validation windows justify others (`weights_by_series`)."""

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Self:
        """Read what `to_dict` gave, or the entry of metrics.json."""
        by_series = document.get("by_series", {})
        return cls(dict(document.get("weights", {})), {name: dict(each) for name, each in by_series.items()})

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able form, without `by_series` where no series has weights of its own."""
        return {name: value for name, value in asdict(self).items() if value or name == "weights"}

    def of(self, item_id: str) -> dict[str, float]:
        """The weights of a series; the table's for one that training has not seen."""
        return self.by_series.get(item_id, self.weights)

    def by_series_text(self) -> str:
        """`weights by series: 20 series have their own, the network 3 to 40 %`; empty where none has."""
        if not self.by_series:
            return ""
        shares = [round(100 * weights.get(NETWORK, 0.0)) for weights in self.by_series.values()]
        have = f"{len(shares):,} series have their own" if len(shares) > 1 else "1 series has its own"
        span = f"{min(shares)} to {max(shares)}" if min(shares) < max(shares) else f"{max(shares)}"
        return f"weights by series: {have}" + (f", the network {span} %" if max(shares) else "")

    def rows_by_weights(
        self, item_ids: Sequence[str], series: NDArray[Any]
    ) -> Iterator[tuple[NDArray[Any], dict[str, float]]]:
        """Group rows by the weights that they have.

        Args:
            item_ids: names of series.
            series: of each row, an index into them, (num_rows,).

        Yields:
            Rows, and their weights; each row once.
        """
        unusual = np.array([name in self.by_series for name in item_ids], np.bool_)
        usual = np.flatnonzero(~unusual[series])
        if len(usual):
            yield usual, self.weights
        order = np.argsort(series, kind="stable")
        bounds = np.searchsorted(series[order], np.arange(len(item_ids) + 1))
        for index in np.flatnonzero(unusual).tolist():
            if bounds[index] < bounds[index + 1]:
                yield order[bounds[index] : bounds[index + 1]], self.by_series[item_ids[index]]


class EarlierErrors(NamedTuple):
    """Errors of the formulas at cut-offs up to the end of the table."""

    errors: dict[str, float]
    """`scaled_error` by name; empty where no series is long enough."""
    independent: int
    """Windows with actual values of their own."""


def choose_weights(
    forecasts: dict[str, Floats], actual: Floats, scale: Floats, *, independent: int, earlier: EarlierErrors
) -> dict[str, float]:
    """Weights of a forecast with a small `scaled_error`, those that are not 0.

    Where a baseline has no forecast, it is scored with the network's: what it is worth there is not known, and leaving
    such windows out would score it on others than the rest.

    Args:
        forecasts: of the network, which is always known, and of each baseline, NaN where it has none,
            (num_windows, horizon).
        actual: actual values, (num_windows, horizon).
        scale: of each window, (num_windows,).
        independent: windows with actual values of their own.
        earlier: errors of the formulas at more cut-offs.
    """
    network = forecasts[NETWORK]
    known = {name: ~np.isnan(values) for name, values in forecasts.items()}
    names = [NETWORK, *(name for name in forecasts if name != NETWORK and (~known[name]).mean() <= MOST_UNKNOWN)]
    stacked = np.stack([np.where(known[name], forecasts[name], network) for name in names])
    errors = np.array([scaled_error(actual, each, scale) for each in stacked])
    weights = _without_slivers((_best_quarters(stacked, actual, scale) + _weights_by_error(errors)) / 2)
    prior = _prior(names, errors, earlier)
    if prior.any():
        chosen, best = scaled_error(actual, np.tensordot(weights, stacked, axes=1), scale), errors[prior > 0].min()
        share = PRIOR_WINDOWS / (PRIOR_WINDOWS + independent)
        power = POWER * min(1.0, independent * actual.shape[1] / ENOUGH_VALUES)
        share *= (chosen / best) ** power if best > chosen else 1
        weights = _without_slivers((1 - share) * weights + share * prior)
    weights = np.round(weights, DIGITS)
    weights[weights.argmax()] += 1 - weights.sum()
    return {name: round(float(part), DIGITS) for name, part in zip(names, weights, strict=True) if part}


def _prior(names: list[str], validation_errors: Floats, earlier: EarlierErrors) -> Floats:
    """Weights (num_forecasts,) of the formulas, which sum to 1; zeros where there is none.

    Equal ones without evidence; the more of it, the more they fall with each formula's error.
    """
    kept = np.array([name in PRIOR_FORMULAS for name in names])
    best = validation_errors[kept].min(initial=np.inf)
    if best > 0:
        kept &= validation_errors <= MISLED * best
    weights = kept.astype(np.float64)
    if earlier.errors and kept.any():
        power = POWER * earlier.independent / (earlier.independent + EVIDENCE)
        errors = np.array(
            [earlier.errors.get(name, np.inf) if keep else np.inf for name, keep in zip(names, kept, strict=True)]
        )
        weights = _weights_by_error(errors, power)
    return np.asarray(weights / max(weights.sum(), 1))


def _without_slivers(weights: Floats) -> Floats:
    """Weights that sum to 1, with none so small that it hardly counts."""
    kept = np.where(weights < LEAST, 0, weights)
    return np.asarray(kept / kept.sum())


def _best_quarters(stacked: Floats, actual: Floats, scale: Floats) -> Floats:
    """The best weights (num_forecasts,) that are multiples of a quarter."""
    candidates = np.array(list(_partitions(PARTS, len(stacked)))) / PARTS
    errors = [scaled_error(actual, np.tensordot(each, stacked, axes=1), scale) for each in candidates]
    best: Floats = candidates[int(np.argmin(errors))]
    return best


def _weights_by_error(errors: Floats, power: float = POWER) -> Floats:
    """Weights (num_forecasts,) that fall with the error of each forecast alone."""
    if not errors.min() > 0:
        return np.asarray((errors == 0) / (errors == 0).sum(), np.float64)
    powers = (errors / errors.min()) ** -power
    return np.asarray(powers / powers.sum())


def _partitions(total: int, number: int) -> Iterator[tuple[int, ...]]:
    """Every way to write `total` as a sum of `number` whole numbers from 0 on, in order."""
    for bars in itertools.combinations(range(total + number - 1), number - 1):
        edges = (-1, *bars, total + number - 1)
        yield tuple(after - before - 1 for before, after in itertools.pairwise(edges))


def weighted_mean(forecasts: dict[str, Floats], weights: dict[str, float]) -> Floats:
    """The weighted mean of those forecasts that are known, by step; NaN where none is.

    Args:
        forecasts: of every name with a weight, all of one shape.
        weights: above 0.
    """
    stacked = np.stack([forecasts[name] for name in weights])
    known = ~np.isnan(stacked)
    parts = np.array(list(weights.values()))
    total = np.tensordot(parts, np.where(known, stacked, 0), axes=1)
    weight = np.tensordot(parts, known.astype(np.float64), axes=1)
    return np.asarray(np.divide(total, weight, out=np.full(weight.shape, np.nan), where=weight > 0))


def others_and_share(
    forecasts: dict[str, Floats],
    combination: Combination,
    shape: tuple[int, ...],
    *,
    item_ids: Sequence[str],
    series: NDArray[Any],
) -> tuple[Floats, Floats]:
    """The weighted mean of the baselines' forecasts, and their weight beside the network's, by step.

    Where a baseline has no forecast, the others and the network share its weight.

    Args:
        forecasts: of each baseline with a weight, NaN where it has none.
        combination: weights of the network and of each of them.
        shape: of the forecasts; rows come first.
        item_ids: names of series.
        series: of each row, an index into them, (num_rows,).
    """
    other, share = np.empty(shape), np.empty(shape)
    for rows, weights in combination.rows_by_weights(item_ids, series):
        known = {name: forecasts[name][rows] for name in weights if name in forecasts}
        other[rows], share[rows] = _others_and_share(known, weights, other[rows].shape)
    return other, share


def _others_and_share(
    forecasts: dict[str, Floats], weights: dict[str, float], shape: tuple[int, ...]
) -> tuple[Floats, Floats]:
    known = np.zeros(shape)
    for name, each in forecasts.items():
        known += weights[name] * ~np.isnan(each)
    total = known + weights.get(NETWORK, 0.0)
    share = np.divide(known, total, out=np.zeros(shape), where=total > 0)
    if not forecasts:
        return np.full(shape, np.nan), share
    return weighted_mean(forecasts, {name: weights[name] for name in forecasts}), share
