"""The module that is exported: from raw values to forecasts in the target's units, as one tensor function.

Everything that `data` and `forecasting` do in numpy around the network is here once more in torch, in float64 as there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.polynomial import chebyshev
from torch import Tensor, nn

from forecast_attn.data.schema import Schema
from forecast_attn.data.transforms import LARGEST_EXPONENT, Affine
from forecast_attn.data.windows import Window, known_ahead, zero_outside
from forecast_attn.export.clock import clock_features
from forecast_attn.forecasting.model import Model
from forecast_attn.nn.network import ForecastOutput


@dataclass(frozen=True)
class GraphInput:
    """One input of the graph."""

    name: str
    dtype: str
    """float64 or int64."""
    shape: tuple[int, ...]
    """Without the batch."""
    columns: tuple[str, ...] = ()
    """Names along the last axis."""
    meaning: str = ""


def inputs_of(schema: Schema) -> tuple[GraphInput, ...]:
    """Inputs of a run's graph, in their order; those without columns are left out."""
    roles, past, whole = schema.roles, schema.lookback, schema.lookback + schema.horizon
    holidays = schema.calendar.holidays
    holes = "; NaN where missing" if schema.masked else ""
    candidates = [
        GraphInput("series", "int64", (), meaning="index into item_ids of the metadata"),
        GraphInput("past_target", "float64", (past,), (roles.target,), f"raw values of the lookback{holes}"),
        GraphInput("past_covariates", "float64", (past, len(roles.past_covariates)), roles.past_covariates, "raw"),
        GraphInput(
            "future_covariates",
            "float64",
            (whole, len(roles.future_covariates)),
            roles.future_covariates,
            "raw, of lookback and horizon",
        ),
        GraphInput("static_covariates", "float64", (len(roles.static_covariates),), roles.static_covariates, "raw"),
        GraphInput("past_categories", "int64", (past, len(roles.past_categories)), roles.past_categories, _CODES),
        GraphInput(
            "future_categories",
            "int64",
            (whole, len(roles.future_categories)),
            roles.future_categories,
            f"{_CODES}; of lookback and horizon",
        ),
        GraphInput("static_categories", "int64", (len(roles.static_categories),), roles.static_categories, _CODES),
    ]
    kept = [each for each in candidates if each.columns or each.name == "series"]
    if schema.calendar.features_chosen:
        kept.append(GraphInput("local_seconds", "int64", (whole,), meaning="wall clock since 1970-01-01 00:00"))
    if holidays is not None:
        kept.append(
            GraphInput("holidays", "float64", (whole, len(holidays.names)), holidays.names, "days of each step")
        )
    if schema.padded:
        kept.append(GraphInput("history_length", "int64", (), meaning="last steps of the lookback that exist"))
    return tuple(kept)


EXPORTED_HEADS = ("point", "quantile", "gaussian", "student-t")
"""Heads whose quantiles are arithmetic that a graph has; those of counts are searched for."""
_CODES = "1 + index into categories of the metadata; 0: none of them"


class RunGraph(nn.Module):
    """Raw windows in, forecasts in the target's units out: prediction, quantiles, attention weights.

    Args:
        model: on the CPU, in evaluation mode.

    Attributes:
        inputs: in the order of the arguments of `forward`.
        outputs: names, in the order of its results.
    """

    static_loc: Tensor
    static_scale: Tensor
    target_loc: Tensor
    target_scale: Tensor
    unit_loc: Tensor
    unit_scale: Tensor
    offsets: Tensor | None
    known: Tensor | None
    known_categories: Tensor | None

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.schema, self.config = model.schema, model.config
        self.networks = nn.ModuleList(model.networks)
        self.quantiles = model.quantiles
        self.inputs = inputs_of(model.schema)
        self.outputs = ("prediction", *(["quantiles"] * bool(model.quantiles)), *(["attention"] * model.has_attention))
        self.has_attention = model.has_attention
        scaler = model.schema.scaler
        for name, affine in (
            ("target", scaler.target),
            ("past", scaler.past),
            ("future", scaler.future),
            ("static", scaler.static),
            ("unit", scaler.transform.unit),
        ):
            self._keep(name, affine)
        offsets = None if model.calibration is None else torch.from_numpy(model.calibration.offsets)
        self.register_buffer("offsets", offsets)
        layout, horizon = model.schema.layout, model.schema.horizon
        self.register_buffer("known", known_ahead(layout.known_steps, horizon))
        self.register_buffer("known_categories", known_ahead(layout.known_category_steps, horizon))

    def _keep(self, name: str, affine: Affine) -> None:
        self.register_buffer(f"{name}_loc", torch.from_numpy(np.array(affine.loc, np.float64)))
        self.register_buffer(f"{name}_scale", torch.from_numpy(np.array(affine.scale, np.float64)))

    def forward(self, *values: Tensor) -> tuple[Tensor, ...]:
        """Forecast a batch of windows.

        Args:
            values: one for each of `inputs`.
        """
        given = dict(zip((each.name for each in self.inputs), values, strict=True))
        series = given["series"]
        window = self.window(given)
        outputs: list[ForecastOutput] = [network(window, need_weights=self.has_attention) for network in self.networks]
        results = [self._in_units(self._combined([each.prediction.double() for each in outputs]), series)]
        if self.quantiles:
            results.append(self._quantiles([self._uncalibrated(each.parameters) for each in outputs], series))
        weights = [each.weights for each in outputs if each.weights is not None]
        if weights:
            results.append(weights[0] if len(weights) == 1 else torch.stack(weights).double().mean(0).float())
        return tuple(results)

    # ------------------------------------------------------------------ into the network

    def window(self, given: dict[str, Tensor]) -> Window:
        """The window as `WindowArrays.gather` makes it, from raw values."""
        schema, lookback = self.schema, self.schema.lookback
        series, raw = given["series"], given["past_target"]
        inside = self._inside(given)
        target = self._scaled("target", self._transformed(raw, series), series).float()
        observed = None
        if schema.layout.may_have_holes:
            observed = ~raw.isnan() if inside is None else ~raw.isnan() & inside
            target = target.masked_fill(~observed, 0)
        past = self._with_indicators("past", given.get("past_covariates"), series)
        future = self._with_indicators("future", given.get("future_covariates"), series)
        calendar = self._calendar(given)
        before = [past, *(each[:, :lookback] for each in (future, calendar) if each is not None)]
        ahead = None if future is None else future[:, lookback:]
        if ahead is not None and self.known is not None:
            ahead = ahead.masked_fill(~self.known, 0)
        after = [ahead, None if calendar is None else calendar[:, lookback:]]
        codes = self._codes(given, series)
        return Window(
            past_target=target,
            past_covariates=zero_outside(_joined(before, raw, lookback), inside),
            future_covariates=_joined(after, raw, schema.horizon),
            static_covariates=self._static(given, raw),
            future_target=raw.new_full((raw.shape[0], schema.horizon), torch.nan).float(),
            past_observed=observed,
            past_categories=zero_outside(codes[0], inside),
            future_categories=codes[1],
            static_categories=codes[2],
            weight=raw.new_ones(raw.shape[0]).float(),
        )

    def _inside(self, given: dict[str, Tensor]) -> Tensor | None:
        if not self.schema.padded:
            return None
        back = torch.arange(self.schema.lookback - 1, -1, -1)
        return back < given["history_length"][:, None]

    def _transformed(self, raw: Tensor, series: Tensor) -> Tensor:
        kind = self.schema.scaler.transform.kind
        if kind == "log":
            return torch.log(1 + raw)
        if kind == "arcsinh":
            ratio = self._scaled("unit", raw, series)
            size = ratio.abs()
            return ratio.sign() * torch.log(size + torch.sqrt(size * size + 1))
        return raw

    def _scaled(self, name: str, values: Tensor, series: Tensor) -> Tensor:
        """Values (batch, length[, columns]) on the scale of their series."""
        loc, scale = (getattr(self, f"{name}_{part}")[series][:, None] for part in ("loc", "scale"))
        scaled: Tensor = (values - loc) / scale
        return scaled

    def _with_indicators(self, name: str, raw: Tensor | None, series: Tensor) -> Tensor | None:
        if raw is None:
            return None
        values = self._scaled(name, raw, series).float()
        if not self.schema.masked:
            return values
        return torch.cat([values.masked_fill(raw.isnan(), 0), (~raw.isnan()).float()], dim=-1)

    def _calendar(self, given: dict[str, Tensor]) -> Tensor | None:
        parts = []
        if "local_seconds" in given:
            parts.append(clock_features(given["local_seconds"], self.schema.calendar.features_chosen))
        if "holidays" in given:
            parts.append(given["holidays"].float())
        return torch.cat(parts, dim=-1) if parts else None

    def _static(self, given: dict[str, Tensor], raw: Tensor) -> Tensor:
        if "static_covariates" not in given:
            return raw.new_zeros(raw.shape[0], 0).float()
        scaled = (given["static_covariates"] - self.static_loc) / self.static_scale
        return torch.where(scaled.isnan(), torch.zeros_like(scaled), scaled).float()

    def _codes(self, given: dict[str, Tensor], series: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Codes along the lookback, along the horizon, and of the series."""
        schema, none = self.schema, series.new_zeros(series.shape[0], 0)
        lookback, horizon = schema.lookback, schema.horizon
        empty = none[:, None].expand(-1, lookback + horizon, -1)
        past = given.get("past_categories", empty[:, :lookback])
        future = given.get("future_categories", empty)
        ahead = future[:, lookback:]
        if self.known_categories is not None:
            ahead = ahead.masked_fill(~self.known_categories, 0)
        return torch.cat([past, future[:, :lookback]], dim=-1), ahead, given.get("static_categories", none)

    # ------------------------------------------------------------------ out of the network

    def _combined(self, values: list[Tensor]) -> Tensor:
        if len(values) == 1:
            return values[0]
        together = torch.stack(values)
        if self.config.training.combine != "median":
            return together.mean(0)
        ordered, half = together.sort(dim=0).values, len(values) // 2
        return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2

    def _uncalibrated(self, parameters: Tensor) -> Tensor:
        """Uncalibrated quantiles (batch, horizon, num_quantiles) of a head's parameters."""
        head, values = self.config.model.head, parameters.double()
        if head == "quantile":
            return values
        if head == "point":
            return values.expand(-1, -1, len(self.quantiles))
        loc, scale = values[..., :1], values[..., 1:2]
        if head == "gaussian":
            from scipy import special

            return loc + scale * torch.from_numpy(special.ndtri(np.array(self.quantiles)))
        return loc + scale * student_quantiles(values[..., 2:], self.quantiles)

    def _quantiles(self, members: list[Tensor], series: Tensor) -> Tensor:
        base = self._combined(members)
        calibrated = base if self.offsets is None else base + self.offsets
        return self._in_units(calibrated, series).sort(dim=-1).values

    def _in_units(self, scaled: Tensor, series: Tensor) -> Tensor:
        """Values (batch, horizon[, num_quantiles]) on the series' scale, in the target's units."""
        axes = (-1, *(1,) * (scaled.ndim - 1))
        values = scaled * self.target_scale[series].view(axes) + self.target_loc[series].view(axes)
        kind = self.schema.scaler.transform.kind
        if kind != "none":
            values = values.clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT)
        if kind == "log":
            values = torch.exp(values.clamp(min=0)) - 1
        if kind == "arcsinh":
            values = (torch.exp(values) - torch.exp(-values)) / 2
            values = values * self.unit_scale[series].view(axes) + self.unit_loc[series].view(axes)
        return values.clamp(min=0) if self.config.data.non_negative else values


def _joined(parts: list[Tensor | None], raw: Tensor, length: int) -> Tensor:
    """The parts that exist, along the last axis; no columns where none does."""
    existing = [part for part in parts if part is not None]
    return torch.cat(existing, dim=-1) if existing else raw.new_zeros(raw.shape[0], length, 0).float()


# --------------------------------------------------------------------------- Student's t
# Its quantiles as a polynomial, for a graph that has no such function.


CHEBYSHEV_DEGREE = 24


def student_quantiles(freedom: Tensor, quantiles: tuple[float, ...]) -> Tensor:
    """Quantiles (…, num_quantiles) of the standard t distribution with degrees of freedom (…, 1), in float64.

    A quantile is a smooth function of 1 / freedom, which lies between 0 and 1/2: interpolated at Chebyshev's nodes
    and summed by Clenshaw's recurrence. The largest error is below 1e-10 of the quantile (a test measures it).
    """
    coefficients = torch.from_numpy(_coefficients(quantiles))
    x = 4 / freedom - 1  # from 1 / freedom in 0 … 1/2 to -1 … 1
    above, here = torch.zeros_like(coefficients[0] * x), torch.zeros_like(coefficients[0] * x)
    for row in range(CHEBYSHEV_DEGREE, 0, -1):
        above, here = here, 2 * x * here - above + coefficients[row]
    return x * here - above + coefficients[0]


def _coefficients(quantiles: tuple[float, ...]) -> np.ndarray:
    """Chebyshev coefficients (CHEBYSHEV_DEGREE + 1, num_quantiles)."""
    from scipy import special

    nodes = chebyshev.chebpts1(CHEBYSHEV_DEGREE + 1)
    share = np.array(quantiles)
    inverse = (nodes[:, None] + 1) / 4
    values = special.stdtrit(1 / inverse, share)
    return np.asarray(chebyshev.chebfit(nodes, values, CHEBYSHEV_DEGREE))
