"""One pass over an attention file: means of all statistics of an inspection, per step and per group of windows.

It reads a row group at a time, and each row of weights few times: it costs little more than reading the file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import AttentionDump
from forecast_attn.inspection import statistics
from forecast_attn.inspection.statistics import Matrix, Weights

ROWS_AT_ONCE = 1024
"""Rows whose logarithms are taken together: they stay in the processor's cache."""
LAGS_AT_ONCE = 1024
"""Weights that are added in single precision; sums of longer rows are added in double."""

RowValues = dict[str, NDArray[Any]]
"""Name of a statistic -> (windows, heads, steps)."""


@dataclass
class Summary:
    """Means over windows and heads.

    Attributes:
        values: name of a row statistic -> (steps,) its mean, or the share of rows of a flag.
        weights: (steps, num_keys) mean weights; NaN where a file holds what is no number.
        varies_by_window: some window's weights differ from the first's, step by step.
        varies_by_step: some step's weights differ from the first's.
        groups: the same per group of windows; empty where none were asked for.
    """

    values: dict[str, Matrix]
    weights: Matrix
    varies_by_window: bool = False
    varies_by_step: bool = False
    groups: list[GroupSummary] = field(default_factory=list)


@dataclass(frozen=True)
class GroupSummary:
    """Means over the windows, heads and steps of a group.

    Attributes:
        num_windows: of the group.
        values: name of a row statistic -> its mean.
        profile: (num_keys,) mean weights.
    """

    num_windows: int
    values: dict[str, float]
    profile: Matrix


def summarise(dump: AttentionDump, groups: NDArray[np.int64] | None = None) -> Summary:
    """Read all weights once.

    Args:
        dump: with at least one window.
        groups: (num_windows, heads) the group of each row of windows, counted from 0; None for no groups.

    Raises:
        RunError: the file is damaged.
    """
    tally = _Tally(dump, groups)
    with np.errstate(invalid="ignore", over="ignore"):  # weights of a damaged file, which a finding reports
        for windows, weights in dump.blocks():
            tally.add(windows, weights)
        return tally.summary()


class _Tally:
    """Running sums over the windows."""

    def __init__(self, dump: AttentionDump, groups: NDArray[np.int64] | None) -> None:
        self._dump, self._groups = dump, groups
        self._rows = _RowStatistics(dump)
        steps, keys = len(dump.steps), dump.metadata.num_keys
        self._weights = np.zeros((steps, keys))
        self._values: dict[str, Matrix] = {}
        count = 0 if groups is None else int(groups.max()) + 1
        self._group_profiles = np.zeros((count, keys))
        self._group_values: dict[str, NDArray[Any]] = {}
        self._first: Weights | None = None
        self._varies = {"window": False, "step": False}

    def add(self, windows: slice, weights: Weights) -> None:
        count, heads, steps, keys = weights.shape
        flat = weights.reshape(count * heads, steps * keys)
        self._weights += (np.ones(len(flat), flat.dtype) @ flat).reshape(steps, keys)
        values = self._rows.values(weights, self._dump, windows)
        for name, each in values.items():
            self._values[name] = self._values.get(name, 0) + each.sum(axis=(0, 1), dtype=np.float64)
        self._look_for_change(weights)
        if self._groups is not None:
            self._add_groups(self._groups[windows].reshape(-1), weights.reshape(-1, steps, keys), values)

    def _look_for_change(self, weights: Weights) -> None:
        """Compare with the first window and the first step, until something is unlike it."""
        self._first = weights[:1].copy() if self._first is None else self._first
        others = {"window": self._first, "step": weights[:, :, :1]}
        for axis, other in others.items():
            if not self._varies[axis]:
                unlike = statistics.total_variation(weights, other) >= statistics.STATIC_DISTANCE
                self._varies[axis] = bool(unlike.any())

    def _add_groups(self, groups: NDArray[np.int64], weights: Weights, values: RowValues) -> None:
        np.add.at(self._group_profiles, groups, np.add.reduce(weights, axis=1) / weights.shape[1])
        for name, each in values.items():
            per_row = each.reshape(-1, each.shape[-1]).mean(axis=1, dtype=np.float64)
            sums = np.bincount(groups, per_row, len(self._group_profiles))
            self._group_values[name] = self._group_values.get(name, 0) + sums

    def summary(self) -> Summary:
        rows = self._dump.num_windows * len(self._dump.heads)
        return Summary(
            values={name: total / rows for name, total in self._values.items()},
            weights=self._weights / rows,
            varies_by_window=self._varies["window"],
            varies_by_step=self._varies["step"],
            groups=list(self._group_summaries()),
        )

    def _group_summaries(self) -> list[GroupSummary]:
        if self._groups is None:
            return []
        rows = np.bincount(self._groups.reshape(-1))
        # Several heads of a window may be in one group: each window counts once there.
        pairs = np.unique(self._groups + len(rows) * np.arange(len(self._groups))[:, None])
        return [
            GroupSummary(
                int(windows),
                {name: float(total[group] / rows[group]) for name, total in self._group_values.items()},
                self._group_profiles[group] / rows[group],
            )
            for group, windows in enumerate(np.bincount(pairs % len(rows)))
        ]


class _RowStatistics:
    """Statistics of every row of a file's weights."""

    def __init__(self, dump: AttentionDump) -> None:
        sizes = dump.metadata
        lags = statistics.lags_of(sizes.num_keys)
        recent = _seasons(dump, 0)
        # One product gives all sums over a row: of the weights, of weights × lags, and over the seasonal lags.
        self._sums = np.stack([np.ones(sizes.num_keys), lags, recent], axis=1).astype(np.float32)
        self._seasons = target_seasons(dump).astype(np.float32)[:, :, None]
        self._may_be_less = sizes.row_sum == "<=1"
        self._tolerance = statistics.ROW_SUM_ERROR if sizes.dtype == "float32" else statistics.HALF_ROW_SUM_ERROR
        self._logarithms = np.empty((ROWS_AT_ONCE, sizes.num_keys), np.float32)

    def values(self, weights: Weights, dump: AttentionDump, windows: slice) -> RowValues:
        """Per row (windows, heads, steps), from the weights and what else the file says of these rows."""
        remaining, observed = dump.remaining[windows], dump.observed_steps[windows]
        shape = weights.shape[:3]
        rows = weights.reshape(-1, weights.shape[-1])
        sums, lag_sums, recent = np.moveaxis(self._added(rows).reshape(*shape, 3), -1, 0)
        largest = rows.max(axis=-1).reshape(shape)
        entropy = statistics.entropy_of_sums(sums, self._weighted_logarithms(rows).reshape(shape))
        with np.errstate(invalid="ignore", divide="ignore"):
            centroid = lag_sums / sums
        # The seasonal keys differ from step to step: one product per step, for all windows and heads.
        seasonal = np.matmul(weights.reshape(-1, *weights.shape[2:]).transpose(1, 0, 2), self._seasons)[..., 0].T
        return {
            "entropy": entropy,
            "normalised_entropy": entropy / np.maximum(np.log(np.maximum(observed, 1)), np.finfo(np.float32).tiny),
            "effective_steps": np.exp(entropy),
            "max_weight": largest,
            "centroid_lag": centroid,
            "recent_season_mass": recent,
            "target_season_mass": seasonal.reshape(shape),
            "remaining": remaining,
            "missing_steps": weights.shape[-1] - observed,
            "missing_weight": dump.missing_weight[windows],
            "uniform": statistics.is_uniform(entropy, observed),
            "one_hot": (largest > statistics.ONE_HOT_WEIGHT * (sums + remaining)) & (observed > 1),
            "wrong_sum": self._wrong_sum(rows, sums + remaining) & ((observed > 0) | (sums != 0)),
        }

    def _added(self, rows: Weights) -> Matrix:
        """(rows, 3) the sums over each row."""
        parts = [rows[:, lags] @ self._sums[lags] for lags in _parts(rows.shape[1], LAGS_AT_ONCE)]
        return parts[0] if len(parts) == 1 else np.sum(parts, axis=0, dtype=np.float64)

    def _weighted_logarithms(self, rows: Weights) -> Matrix:
        """Σ w ln w of each row, with 0 ln 0 = 0."""
        total = np.zeros(len(rows))
        for part in _parts(len(rows), ROWS_AT_ONCE):
            weights = rows[part]
            logarithms = np.maximum(weights, np.finfo(np.float32).tiny, out=self._logarithms[: len(weights)])
            np.log(logarithms, out=logarithms)
            for lags in _parts(rows.shape[1], LAGS_AT_ONCE):
                total[part] += np.einsum("rl,rl->r", weights[:, lags], logarithms[:, lags])
        return total

    def _wrong_sum(self, rows: Weights, sums: Matrix) -> NDArray[np.bool_]:
        excess = sums - 1
        right = (excess <= self._tolerance) & (self._may_be_less | (excess >= -self._tolerance))
        # min is read only where it can matter: once for all rows.
        return ~right | (rows.min(axis=-1).reshape(sums.shape) < 0) if not rows.min() >= 0 else ~right


def _parts(length: int, size: int) -> list[slice]:
    return [slice(first, min(first + size, length)) for first in range(0, length, size)]


def target_seasons(dump: AttentionDump) -> NDArray[np.bool_]:
    """(steps, num_keys) which keys lie whole seasons (± a time step) before the target.

    Of patches it is those that hold the time steps whole seasons before the target's: a patch beside them is far off.
    """
    return np.stack([_seasons(dump, int(step)) for step in dump.steps])


def _seasons(dump: AttentionDump, step: int) -> NDArray[np.bool_]:
    """(num_keys,) the same for one step, or for the cut-off (0)."""
    sizes = dump.metadata
    tolerance = 1 if sizes.patch_length == 1 else 0
    return statistics.seasonal_positions(sizes.key_season, sizes.num_keys, step=step, tolerance=tolerance)
