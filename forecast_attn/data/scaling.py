"""Brings every series to a common size, as seen in its training rows and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.options import find_option
from forecast_attn.data.findings import Finding, counted, quoted
from forecast_attn.data.gross_errors import without_gross_errors
from forecast_attn.data.panel import Panel
from forecast_attn.data.roles import Roles
from forecast_attn.data.scale_fitting import Rows, fit_affine, fit_transform
from forecast_attn.data.segments import extremes
from forecast_attn.data.settled_scales import held_rows
from forecast_attn.data.split import Split
from forecast_attn.data.transforms import Affine, Transform
from forecast_attn.errors import DataError

__all__ = ["Affine", "Scaler", "constant_series", "fit_scaler", "forbid_negative", "negative_targets"]


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
    """Series whose target never changes in the training rows."""
    transform: Transform
    """Taken of the target before it is scaled."""

    def for_series(self, item_ids: tuple[str, ...]) -> Scaler:
        """Select the scales of these series, in this order.

        Raises:
            DataError: a series was not in training.
        """
        if item_ids == self.item_ids:
            return self
        position = {item_id: index for index, item_id in enumerate(self.item_ids)}
        unknown = [item_id for item_id in item_ids if item_id not in position]
        if unknown:
            raise DataError(
                f"not seen in training: series {quoted(unknown)}",
                f"--cold-start scales them by their own lookback; trained on {quoted(self.item_ids)}",
                code="FA410",
                item_id=unknown[0],
            )
        chosen = [position[item_id] for item_id in item_ids]
        return replace(self, item_ids=item_ids, **self._groups(chosen))

    def between(self, first: int, stop: int) -> Scaler:
        """Select the scales of neighbouring series."""
        return replace(self, item_ids=self.item_ids[first:stop], **self._groups(slice(first, stop)))

    def _groups(self, chosen: list[int] | slice) -> dict[str, Any]:
        return {name: getattr(self, name).of(chosen) for name in ("target", "past", "future", "transform")}

    def unseen(self, item_ids: tuple[str, ...]) -> tuple[str, ...]:
        """Return the series that were not in training."""
        known = set(self.item_ids)
        return tuple(item_id for item_id in item_ids if item_id not in known)

    def with_cold_series(self, panel: Panel, lookback: int) -> Scaler:
        """Return this scaler extended by the panel's series that it does not know.

        Their scales come from at most `lookback` rows before the cut-off, the last known row of each; what has no value
        there gets the average of the training series. Static covariates keep the scales of training.
        """
        known = set(self.item_ids)
        cold = np.flatnonzero([item_id not in known for item_id in panel.item_ids])
        if not len(cold):
            return self
        rows = np.minimum(panel.num_known, lookback)[cold]
        fits = _fit_groups(panel, panel.ends[cold] - rows, rows, self.method, self.transform.kind, self)
        joined = {name: getattr(self, name).joined(fit) for name, fit in fits.items()}
        return replace(self, item_ids=self.item_ids + tuple(panel.item_ids[index] for index in cold), **joined)

    def scale_target(self, values: NDArray[np.float64], series: NDArray[np.int64]) -> NDArray[np.float64]:
        """Targets (num_rows,) of the series with these indices (num_rows,), transformed and scaled. NaN stays NaN."""
        return self.target.of(series).apply(self.transform.forward(values, series))

    def target_in_units(self, scaled: NDArray[Any], series: NDArray[np.int64]) -> NDArray[np.float64]:
        """Scaled targets (batch, …) of the series with these indices (batch,), in original units, in float64.

        Under a transform a median stays a median and a quantile that quantile; a mean does not stay the mean, and is
        not corrected.
        """
        values = self.target.of(series).with_axes(scaled.ndim).undo(scaled)
        return self.transform.inverse(values, series)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able form. Floats survive bit for bit: Python writes the shortest text that reads back the
        same.
        """
        groups = {name: getattr(self, name).to_dict() for name in _GROUPS}
        transform = {} if self.transform.kind == "none" else {"transform": self.transform.to_dict()}
        ends = {"method": self.method, "item_ids": list(self.item_ids)}, {"constant": list(self.constant)}
        return ends[0] | groups | ends[1] | transform

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Scaler:
        """The scaler that `to_dict` wrote.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        given, item_ids = values.get("transform"), tuple(values["item_ids"])
        return cls(
            method=values["method"],
            item_ids=item_ids,
            **{name: Affine.from_dict(values[name]) for name in ("target", "static")},
            **{name: Affine.from_dict(values[name], len(item_ids)) for name in ("past", "future")},
            constant=tuple(values["constant"]),
            transform=Transform.none(len(item_ids)) if given is None else Transform.from_dict(given),
        )

    def check(self, roles: Roles) -> None:
        """Refuse scales that no training writes.

        Raises:
            ValueError: of other series or columns than there are, or beyond what numbers of a table can have.
        """
        number = len(self.item_ids)
        shapes = {
            "target": (number,),
            "past": (number, len(roles.past_covariates)),
            "future": (number, len(roles.future_covariates)),
            "static": (len(roles.static_covariates),),
        }
        for name, shape in shapes.items():
            getattr(self, name).check(shape)
        self.transform.unit.check((number,))
        if self.method not in find_option("scaling")[1].metadata["choices"] or set(self.constant) - set(self.item_ids):
            raise ValueError("a scaling that there is not")


_GROUPS = ("target", "past", "future", "static")


def fit_scaler(panel: Panel, split: Split, method: str, transform: str = "none") -> Scaler:
    """Fit on training rows only, and only on the first ones once scales have settled (`held_rows`).

    Args:
        panel: the validated table.
        split: where training ends; no later row is read.
        method: "standard", "robust", "mean-abs", "covariates" or "none"; data/scale_fitting.py says what each means.
        transform: "none", "arcsinh" or "log", of the target; the scale is that of the transformed target.

    Raises:
        DataError: a negative target under log.
    """
    rows = split.training_rows(panel)
    if transform == "log":
        forbid_negative(panel)
    static = panel.static_covariates[rows > 0]
    one_group = Rows(static, np.zeros(1, np.int64), np.array([len(static)]))
    over_series = fit_affine(one_group, method).filled()
    fits = _fit_groups(panel, panel.starts[:-1], rows, method, transform, settled=held_rows(panel, rows))
    return Scaler(
        method=method,
        item_ids=panel.item_ids,
        **fits,
        static=Affine(*(values[0] for values in over_series)),
        constant=constant_series(panel, rows),
    )


def constant_series(panel: Panel, rows: NDArray[np.int64]) -> tuple[str, ...]:
    """Series whose first rows[i] targets, as far as there are any, are all equal (rows: (num_series,))."""
    lowest, highest = extremes(panel.target[:, None], panel.starts[:-1], rows)
    return tuple(panel.item_ids[index] for index in np.flatnonzero((lowest == highest)[:, 0]))


def forbid_negative(panel: Panel) -> None:
    """Raise DataError when a target is negative: it has no logarithm."""
    for index in panel.targets_where(lambda values: values < 0)[:1]:
        name, value = panel.item_ids[panel.series_of(index)], panel.target[index]
        when = panel.zone.stamp_text(panel.timestamps[index])
        raise DataError(
            f"series '{name}' has the negative target {value:g} at {when}; --transform log needs 0 or more",
            "use --transform arcsinh, which accepts negative values",
            code="FA307",
            column=panel.roles.target,
            item_id=name,
        )


def negative_targets(panel: Panel) -> list[Finding]:
    """A warning about targets below 0, where forecasts are to be cut off there."""
    below = panel.targets_where(lambda values: values < 0)
    if not len(below):
        return []
    name = panel.item_ids[panel.series_of(below[0])]
    message = f"{counted(len(below), 'target')} below 0, the first of series '{name}' at"
    message += f" {panel.zone.stamp_text(panel.timestamps[below[0]])}; --non-negative cuts forecasts off at 0"
    hint = "leave --non-negative out, unless these are measurement errors"
    return [Finding("FA308", "warning", message, hint, column=panel.roles.target, item_id=name)]


def _fit_groups(
    panel: Panel,
    firsts: NDArray[np.int64],
    counts: NDArray[np.int64],
    method: str,
    kind: str,
    others: Scaler | None = None,
    settled: NDArray[np.int64] | None = None,
) -> dict[str, Any]:
    """Transform and scales of the given rows of each series; what has no value gets the average of the others.

    Of target, past and future covariates the `settled` first rows count (num_series, 1 + num_columns), where given.
    """
    past, future = panel.past_covariates, panel.future_covariates
    if settled is None:
        settled = np.repeat(counts[:, None], 1 + past.shape[1] + future.shape[1], axis=1)
    target = Rows(panel.target[:, None], firsts, counts)
    transform = fit_transform(target, kind)
    target_method = "none" if method == "covariates" else method
    measured = target._replace(counts=settled[:, 0])
    if kind == "none":  # a transform brings them near
        measured = without_gross_errors(measured)
    scale = fit_affine(measured, target_method, transform)
    of_past, of_future = np.split(settled[:, 1:], [past.shape[1]], axis=1)
    fits: dict[str, Any] = {
        "target": Affine(scale.loc[:, 0], scale.scale[:, 0]),
        "past": _fit_columns(past, firsts, of_past, method),
        "future": _fit_columns(future, firsts, of_future, method),
    }
    fits = {name: fit.filled(None if others is None else getattr(others, name)) for name, fit in fits.items()}
    unit = transform.unit.filled(None if others is None else others.transform.unit)
    return {**fits, "transform": replace(transform, unit=unit)}


def _fit_columns(
    values: NDArray[np.float64], firsts: NDArray[np.int64], counts: NDArray[np.int64], method: str
) -> Affine:
    """The scales of some columns, each of its own number of first rows (num_series, num_columns)."""
    if not len(counts) or (counts == counts[:, :1]).all():
        return fit_affine(Rows(values, firsts, counts[:, 0] if counts.shape[1] else firsts * 0), method)
    each = range(values.shape[1])
    columns = [fit_affine(Rows(values[:, index : index + 1], firsts, counts[:, index]), method) for index in each]
    loc, scale = (np.concatenate([getattr(column, name) for column in columns], axis=1) for name in ("loc", "scale"))
    return Affine(loc, scale)
