"""Brings every series to zero mean and unit deviation, as seen in its training rows and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel
from forecast_attn.data.problems import quoted
from forecast_attn.data.split import Split
from forecast_attn.errors import DataError


class Affine(NamedTuple):
    """scaled = (value - loc) / scale. The target's arrays are (num_series,), covariates' (num_series, num_columns)."""

    loc: NDArray[np.float64]
    scale: NDArray[np.float64]

    def of(self, series: NDArray[np.int64] | list[int]) -> Affine:
        """The chosen series, in the given order."""
        return Affine(self.loc[series], self.scale[series])


@dataclass(frozen=True, eq=False)
class Scaler:
    """The scale of every series and covariate; static covariates, (num_static,), are scaled over the series."""

    method: str
    item_ids: tuple[str, ...]
    target: Affine
    past: Affine
    future: Affine
    static: Affine
    constant: tuple[str, ...]
    """Series whose target never changes in the training rows; their scale is 1."""

    def for_series(self, item_ids: tuple[str, ...]) -> Scaler:
        """The scaler of these series, in this order.

        Raises:
            DataError: a series was not in training.
        """
        position = {item_id: index for index, item_id in enumerate(self.item_ids)}
        unknown = [item_id for item_id in item_ids if item_id not in position]
        if unknown:
            raise DataError(f"not seen in training: series {quoted(unknown)}", f"trained on {quoted(self.item_ids)}")
        chosen = [position[item_id] for item_id in item_ids]
        groups = {name: getattr(self, name).of(chosen) for name in ("target", "past", "future")}
        return replace(self, item_ids=item_ids, **groups)

    def target_in_units(self, scaled: NDArray[Any], series: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scaled targets (batch, …) of the series with these indices (batch,), in original units."""
        shape = (-1, *(1,) * (scaled.ndim - 1))
        loc, scale = (values.reshape(shape) for values in self.target.of(series))
        return np.add(scaled.astype(np.float64) * scale, loc)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able. Floats survive bit for bit: Python writes the shortest text that reads back the same."""
        groups = {
            name: {key: values.tolist() for key, values in getattr(self, name)._asdict().items()} for name in _GROUPS
        }
        return {"method": self.method, "item_ids": list(self.item_ids), **groups, "constant": list(self.constant)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Scaler:
        """The scaler that `to_dict` wrote."""
        groups = {name: Affine(**{key: np.array(v, np.float64) for key, v in values[name].items()}) for name in _GROUPS}
        return cls(
            method=values["method"], item_ids=tuple(values["item_ids"]), **groups, constant=tuple(values["constant"])
        )


_GROUPS = ("target", "past", "future", "static")


def fit_scaler(panel: Panel, split: Split, method: str) -> Scaler:
    """Fit on training rows only.

    Args:
        panel: the validated table.
        split: where training ends; no later row is read.
        method: "standard" (mean and deviation) or "none" (0 and 1).
    """
    rows = split.training_rows(panel)
    static = panel.static_covariates[rows > 0]
    groups = {
        "target": _fit(panel.target[:, None], panel.starts, rows),
        "past": _fit(panel.past_covariates, panel.starts, rows),
        "future": _fit(panel.future_covariates, panel.starts, rows),
        "static": _fit(static, np.array([0, len(static)]), np.array([len(static)])).of([0]),
    }
    # A target has one column, and all series share one row of static scales.
    groups["target"] = Affine(*(values[:, 0] for values in groups["target"]))
    groups["static"] = Affine(*(values[0] for values in groups["static"]))
    if method == "none":
        groups = {name: Affine(np.zeros_like(fit.loc), np.ones_like(fit.scale)) for name, fit in groups.items()}
    return Scaler(method=method, item_ids=panel.item_ids, **groups, constant=constant_series(panel, rows))


def constant_series(panel: Panel, rows: NDArray[np.int64]) -> tuple[str, ...]:
    """Series whose first rows[i] targets are all equal (rows: (num_series,))."""
    firsts = panel.target[np.minimum(panel.starts[:-1], panel.num_rows - 1)]
    changes = np.concatenate(([0], np.cumsum(panel.target != np.repeat(firsts, np.diff(panel.starts)))))
    flat = changes[panel.starts[:-1] + rows] == changes[panel.starts[:-1]]
    return tuple(panel.item_ids[index] for index in np.flatnonzero(flat & (rows > 0)))


def _fit(values: NDArray[np.float64], starts: NDArray[np.int64], rows: NDArray[np.int64]) -> Affine:
    """Mean and deviation (num_series, num_columns) of the first rows[i] rows of each series.

    Columns that never change get scale 1. Series without training rows get the average of the others.
    """
    loc, scale = np.zeros((len(rows), values.shape[1])), np.ones((len(rows), values.shape[1]))
    for index in np.flatnonzero(rows > 0):
        part = values[starts[index] : starts[index] + rows[index]]
        deviation = part.std(axis=0)
        # The mean of equal numbers may differ from them in the last bit, and then so does their deviation from zero.
        flat = (part == part[0]).all(axis=0) | (deviation == 0)
        loc[index] = np.where(flat, part[0], part.mean(axis=0))
        scale[index] = np.where(flat, 1.0, deviation)
    if (rows == 0).any() and (rows > 0).any():
        loc[rows == 0] = loc[rows > 0].mean(axis=0)
        scale[rows == 0] = scale[rows > 0].mean(axis=0)
    return Affine(loc, scale)
