"""Attribution of one forecast to its inputs: integrated gradients by column and time step.

IG_i(x) = (x_i - x'_i) · ∫ ∂F(x' + α (x - x')) / ∂x_i dα, over α from 0 to 1, for a forecast F, inputs x and a baseline
x' (Sundararajan, Taly and Yan 2017, "Axiomatic attribution for deep networks", eq. 1). They add up to F(x) - F(x').

F is the point forecast in the target's units, of one step ahead or the mean of several. The baseline is a past that
stays at the window's own level, numbers at the mean of their training rows (0 on their scale), unknown categories, and
a calendar in the middle of its cycles. Held, and so part of the baseline: the window's level and deviation, the
position of a step, and which values are missing. A baseline of zeros in the target's units would be a past that no
network has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from forecast_attn.audit.covariates import Columns, columns_and_groups
from forecast_attn.audit.importance import integrate
from forecast_attn.data.scaling import Scaler
from forecast_attn.data.schema import Schema
from forecast_attn.data.transforms import LARGEST_EXPONENT
from forecast_attn.data.windows import Window
from forecast_attn.forecasting.inference import full_float32
from forecast_attn.forecasting.model import Model
from forecast_attn.nn.inputs import CategoryEmbedding
from forecast_attn.nn.network import ForecastNetwork
from forecast_attn.nn.window_normalisation import WindowScale

Floats = NDArray[np.float64]
Function = Callable[["NetworkInputs"], Tensor]

FEWEST_POINTS, MOST_POINTS = 32, 512
"""Points of the quadrature: doubled until the attributions add up."""
POINTS_AT_ONCE = 32
"""Windows differentiated together: memory does not grow with the points."""
SMALLEST_SHARE = 1e-6
"""Share of a column's scale below which a mean is rounding."""
TOLERANCE = 1e-3
"""Residual, as a share of the sum of all attributions' sizes, that more points need not mend."""


class NetworkInputs(NamedTuple):
    """Tensors that the network reads of windows, with categories embedded: those that are attributed to."""

    target: Float[Tensor, "batch lookback"]
    """On the scale of the window: 0 is its level."""
    past: Float[Tensor, "batch lookback past_size"]
    future: Float[Tensor, "batch horizon future_size"]
    static: Float[Tensor, "batch static_size"]


@dataclass(frozen=True, eq=False)
class InputAttribution:
    """Attribution to one input, in the target's units.

    Attributes:
        name: of the column, or `calendar`.
        kind: target, past, future, static or calendar.
        past: at each step of the lookback (lookback,).
        future: at each step of the horizon (horizon,).
        static: what belongs to no step.
        value: mean of the column along the horizon where it is known there, else along the lookback, in its own units;
            None for categories and the calendar.
        baseline: the same of the baseline.
    """

    name: str
    kind: str
    past: Floats
    future: Floats
    static: float = 0.0
    value: float | None = None
    baseline: float | None = None

    @property
    def total(self) -> float:
        """Attribution of all steps together."""
        return float(self.past.sum() + self.future.sum()) + self.static


@dataclass(frozen=True, eq=False)
class Attributions:
    """Attributions of one forecast.

    Attributes:
        forecast: F(x), in the target's units.
        baseline: F(x'), the forecast from the baseline.
        inputs: the largest total first.
        points: of the quadrature.
    """

    forecast: float
    baseline: float
    inputs: tuple[InputAttribution, ...]
    points: int

    @property
    def residual(self) -> float:
        """Distance of their sum from what it should be: 0 but for the quadrature."""
        return self.forecast - self.baseline - sum(each.total for each in self.inputs)

    @property
    def adds_up(self) -> bool:
        """Return whether the residual is small beside the attributions."""
        sizes = sum(float(np.abs(part).sum()) for each in self.inputs for part in (each.past, each.future, each.static))
        return abs(self.residual) <= TOLERANCE * max(sizes, abs(self.forecast - self.baseline))


def attribute(model: Model, window: Window, series: int, steps: Sequence[int]) -> Attributions:
    """Attribute the mean of some steps of a forecast to all that the network reads.

    Args:
        model: one network, with a scaler whose series count as `series` does.
        window: a batch of one.
        series: of the window.
        steps: of the horizon, from 0.

    Raises:
        ConfigError: the model is an ensemble.
    """
    scale, inputs = read_inputs(model.network, window)
    baseline = baseline_of(inputs, model.schema)
    function = forecast_function(model, window, scale, series, steps)
    with torch.no_grad(), full_float32():
        forecast, from_baseline = (float(function(each)) for each in (inputs, baseline))
    points = FEWEST_POINTS
    while True:
        path = integrate(lambda *given: function(NetworkInputs(*given)), inputs, baseline, points, POINTS_AT_ONCE)
        attributed = [each[0].numpy() for each in path]
        attributions = _by_input(model, window, inputs, attributed, scale, series)
        result = Attributions(
            forecast, from_baseline, tuple(sorted(attributions, key=lambda each: -abs(each.total))), points
        )
        if result.adds_up or points >= MOST_POINTS:
            return result
        points *= 2


# --------------------------------------------------------------------------- the function, and the ends of the path


def read_inputs(network: ForecastNetwork, window: Window) -> tuple[WindowScale, NetworkInputs]:
    """Return the inputs of the network for a window, and the level and deviation that it subtracts first."""
    with torch.no_grad():
        scale: WindowScale = network.normalisation(window.past_target, window.past_observed)
        target = scale.normalise(window.past_target)
        if window.past_observed is not None:
            target = target.masked_fill(~window.past_observed, 0)
        embeddings = network.embeddings
        return scale, NetworkInputs(
            target, embeddings.past(window), embeddings.future(window), embeddings.static(window)
        )


def baseline_of(inputs: NetworkInputs, schema: Schema) -> NetworkInputs:
    """Return zeros, except for the indicators of observed values, which stay as they are."""
    baseline = NetworkInputs(*(torch.zeros_like(each) for each in inputs))
    layout = schema.layout
    if layout.masked:
        first = layout.num_past_columns + layout.num_future
        for held in (slice(layout.num_past, 2 * layout.num_past), slice(first, first + layout.num_future)):
            baseline.past[..., held] = inputs.past[..., held]
        held = slice(layout.num_future, 2 * layout.num_future)
        baseline.future[..., held] = inputs.future[..., held]
    return baseline


def forecast_function(model: Model, window: Window, scale: WindowScale, series: int, steps: Sequence[int]) -> Function:
    """The mean of some steps of the forecast in the target's units, as a function of what the network reads."""
    network, ahead = model.network, torch.tensor(list(steps))

    def function(inputs: NetworkInputs) -> Tensor:
        size = len(inputs.target)
        observed = window.past_observed
        held = WindowScale(*(each.expand(size, 1) for each in scale))
        batch = window._replace(
            past_target=held.restore(inputs.target),
            past_observed=None if observed is None else observed.expand(size, -1),
        )
        with _reading(network, inputs, held):
            prediction = network(batch, need_weights=False).prediction
        return in_units(prediction[:, ahead], model.schema.scaler, series).mean(dim=1)

    return function


def in_units(scaled: Tensor, scaler: Scaler, series: int) -> Tensor:
    """Targets on the scale of a series in original units, in float64: `Scaler.target_in_units` for tensors."""
    values = scaled.double() * float(scaler.target.scale[series]) + float(scaler.target.loc[series])
    if scaler.transform.kind == "none":
        return values
    bounded = values.clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT)
    if scaler.transform.kind == "log":
        return torch.expm1(bounded.clamp(min=0))
    return torch.sinh(bounded) * float(scaler.transform.unit.scale[series]) + float(scaler.transform.unit.loc[series])


class _Given(nn.Module):
    """Embedded covariates that are given instead of computed."""

    def __init__(self, inputs: NetworkInputs) -> None:
        super().__init__()
        self.inputs = inputs

    def past(self, _: Window) -> Tensor:
        return self.inputs.past

    def future(self, _: Window) -> Tensor:
        return self.inputs.future

    def static(self, _: Window) -> Tensor:
        return self.inputs.static


@contextmanager
def _reading(network: ForecastNetwork, inputs: NetworkInputs, scale: WindowScale) -> Iterator[None]:
    """Let the network read these embedded covariates, and this level and deviation, inside the block."""
    embeddings = network.embeddings
    handle = network.normalisation.register_forward_hook(lambda *_: scale)
    network._modules["embeddings"] = _Given(inputs)
    try:
        yield
    finally:
        network._modules["embeddings"] = embeddings
        handle.remove()


# --------------------------------------------------------------------------- by input


def _by_input(
    model: Model, window: Window, inputs: NetworkInputs, attributed: list[Floats], scale: WindowScale, series: int
) -> Iterator[InputAttribution]:
    """Attributions of the target and of every column; the calendar's features belong together."""
    target, past, future, static = attributed
    ahead = np.zeros(len(future))
    level = float(in_units(scale.loc[0, 0], model.schema.scaler, series))
    mean = float(in_units(window.past_target[0], model.schema.scaler, series)[_observed(window)].mean())
    yield InputAttribution(model.schema.roles.target, "target", target, ahead, value=mean, baseline=level)
    for columns in columns_and_groups(model.schema):
        if columns.group == "target" or (columns.is_group and columns.group != "calendar"):
            continue
        behind, known, constant = _positions(columns, model)
        value, baseline = _values(columns, model.schema, inputs, series)
        yield InputAttribution(
            columns.name,
            columns.group,
            past[:, behind].sum(axis=1),
            future[:, known].sum(axis=1),
            float(static[constant].sum()),
            value,
            baseline,
        )


def _observed(window: Window) -> Tensor:
    observed = window.past_observed
    return torch.ones_like(window.past_target[0], dtype=torch.bool) if observed is None else observed[0]


def _positions(columns: Columns, model: Model) -> tuple[list[int], list[int], list[int]]:
    """Positions of a column among the network's inputs of the lookback, of the horizon, and of the series."""
    schema, embeddings = model.schema, model.network.embeddings
    shared, of_series = _vectors(embeddings.shared), _vectors(embeddings.per_series)
    of_past = _vectors(embeddings.past_only)
    of_past += [[embeddings.past_only.size + position for position in positions] for positions in shared]
    return (
        _joined(columns, "past", of_past, schema.num_past_inputs),
        _joined(columns, "future", shared, schema.num_future_inputs),
        _joined(columns, "static", of_series, schema.num_static),
    )


def _vectors(embedding: CategoryEmbedding) -> list[list[int]]:
    """Places of each category's vector among all of them."""
    widths = [table.embedding_dim for table in embedding.tables if isinstance(table, nn.Embedding)]
    ends = np.cumsum([0, *widths]).tolist()
    return [list(range(first, stop)) for first, stop in pairwise(ends)]


def _joined(columns: Columns, part: str, vectors: list[list[int]], numbers: int) -> list[int]:
    """Numbers stand first, the vectors of categories behind them."""
    categories = columns.positions.get(f"{part}_categories", [])
    embedded = [numbers + position for category in categories for position in vectors[category]]
    return columns.positions.get(f"{part}_covariates", []) + embedded


def _values(columns: Columns, schema: Schema, inputs: NetworkInputs, series: int) -> tuple[float | None, float | None]:
    """Mean of a column of numbers as the network reads it, and its baseline, in the column's units."""
    scaler, field = schema.scaler, f"{columns.group}_covariates"
    if columns.is_group or field not in columns.positions:
        return None, None
    names = {"past": schema.roles.past_covariates, "future": schema.roles.future_covariates}
    if columns.group == "static":
        position = schema.roles.static_covariates.index(columns.name)
        loc, unit = float(scaler.static.loc[position]), float(scaler.static.scale[position])
        return float(inputs.static[0, position]) * unit + loc, loc
    position = names[columns.group].index(columns.name)
    affine = scaler.future if columns.group == "future" else scaler.past
    loc, unit = float(affine.loc[series, position]), float(affine.scale[series, position])
    given = (inputs.future if columns.group == "future" else inputs.past)[0]
    values = given[:, columns.positions[field][0]]
    if schema.layout.masked:
        values = values[given[:, columns.positions[field][1]] > 0]
    mean = float(values.double().mean()) * unit + loc if len(values) else None
    # Float32 leaves 3e-10 of a column's 0.
    return (0.0 if mean is not None and abs(mean) < SMALLEST_SHARE * unit else mean), loc
