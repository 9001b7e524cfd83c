"""Brings every series to zero mean and unit deviation, as seen in its training rows and nowhere else."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel
from forecast_attn.data.problems import quoted
from forecast_attn.data.split import Split
from forecast_attn.errors import DataError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Scaler:
    """scaled = (value - loc) / scale, per series; static covariates are scaled over the series."""

    method: str
    item_ids: tuple[str, ...]
    target_loc: Floats
    """(num_series,)"""
    target_scale: Floats
    past_loc: Floats
    """(num_series, num_past)"""
    past_scale: Floats
    future_loc: Floats
    """(num_series, num_future)"""
    future_scale: Floats
    static_loc: Floats
    """(num_static,)"""
    static_scale: Floats
    constant: tuple[str, ...] = ()
    """Series whose target never changes in the training rows; their scale is 1."""

    def for_series(self, item_ids: tuple[str, ...]) -> Scaler:
        """The scaler of these series, in this order.

        Raises:
            DataError: a series was not in training.
        """
        position = {item_id: index for index, item_id in enumerate(self.item_ids)}
        unknown = [item_id for item_id in item_ids if item_id not in position]
        if unknown:
            raise DataError(f"series {quoted(unknown)} not seen in training", f"trained on {quoted(self.item_ids)}")
        chosen = [position[item_id] for item_id in item_ids]
        values = {name: getattr(self, name)[chosen] for name in _PER_SERIES}
        return Scaler(
            self.method, item_ids, **values, static_loc=self.static_loc, static_scale=self.static_scale, constant=self.constant
        )

    def target_in_units(self, scaled: NDArray[Any], series: NDArray[np.int64]) -> Floats:
        """Scaled targets (batch, …) of the series with these indices (batch,), in original units."""
        shape = (-1, *(1,) * (scaled.ndim - 1))
        return scaled.astype(np.float64) * self.target_scale[series].reshape(shape) + self.target_loc[series].reshape(shape)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; floats come back bit-equal because Python writes the shortest text that reads back the same."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        num_series = len(values["item_ids"])
        arrays = {name: np.asarray(values[name], np.float64) for name in (*_PER_SERIES, "static_loc", "static_scale")}
        matrices = {name: arrays[name].reshape(num_series, -1) for name in _PER_SERIES if not name.startswith("target")}
        named = {"item_ids": tuple(values["item_ids"]), "constant": tuple(values["constant"])}
        return cls(method=values["method"], **{**arrays, **matrices}, **named)


_PER_SERIES = ("target_loc", "target_scale", "past_loc", "past_scale", "future_loc", "future_scale")


def fit_scaler(panel: Panel, split: Split, method: str) -> Scaler:
    """Fit on training rows only.

    Args:
        panel: the validated table.
        split: where training ends; no later row is read.
        method: "standard" (mean and deviation) or "none" (0 and 1).
    """
    rows = split.training_rows(panel)
    target_loc, target_scale, flat = _fit(panel.target[:, None], panel.starts, rows)
    past_loc, past_scale, _ = _fit(panel.past_covariates, panel.starts, rows)
    future_loc, future_scale, _ = _fit(panel.future_covariates, panel.starts, rows)
    static = panel.static_covariates[rows > 0]
    static_loc, static_scale, _ = _fit(static, np.array([0, len(static)]), np.array([len(static)]))
    scaler = Scaler(
        method=method,
        item_ids=panel.item_ids,
        target_loc=target_loc[:, 0],
        target_scale=target_scale[:, 0],
        past_loc=past_loc,
        past_scale=past_scale,
        future_loc=future_loc,
        future_scale=future_scale,
        static_loc=static_loc[0],
        static_scale=static_scale[0],
        constant=tuple(panel.item_ids[index] for index in np.flatnonzero(flat[:, 0] & (rows > 0))),
    )
    return _unit(scaler) if method == "none" else scaler


def _fit(values: Floats, starts: NDArray[np.int64], rows: NDArray[np.int64]) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Mean, deviation and whether constant (num_series, num_columns), over the first rows of each series.

    A series without training rows gets the average of the others.
    """
    shape = (len(rows), values.shape[1])
    loc, scale, flat = np.zeros(shape), np.ones(shape), np.ones(shape, np.bool_)
    for index in np.flatnonzero(rows > 0):
        part = values[starts[index] : starts[index] + rows[index]]
        flat[index] = (part == part[0]).all(axis=0)
        # The mean of equal numbers may differ from them in the last bit.
        loc[index] = np.where(flat[index], part[0], part.mean(axis=0))
        scale[index] = np.where(flat[index], 1.0, part.std(axis=0))
    scale[scale == 0] = 1.0
    if (rows == 0).any() and (rows > 0).any():
        loc[rows == 0] = loc[rows > 0].mean(axis=0)
        scale[rows == 0] = scale[rows > 0].mean(axis=0)
    return loc, scale, flat


def _unit(scaler: Scaler) -> Scaler:
    values = {name: getattr(scaler, name) for name in (*_PER_SERIES, "static_loc", "static_scale")}
    units = {name: np.zeros_like(v) if name.endswith("loc") else np.ones_like(v) for name, v in values.items()}
    return Scaler(method=scaler.method, item_ids=scaler.item_ids, constant=scaler.constant, **units)
