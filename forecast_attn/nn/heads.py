"""Heads: they turn a decoder step's features into a value, its quantiles or its distribution.

A head's linear map gives outputs; `parameters_of` makes them parameters that mean something (ordered quantiles, a
deviation above 0). One of the outputs is the point forecast, at the same place in both.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from statistics import NormalDist
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import softplus

Outputs = Float[Tensor, "*batch output_size"]
"""Outputs of a head's linear map, or its parameters."""
Values = Float[Tensor, "*batch"]
PerWindow = Float[Tensor, "*#batch 1"]
Uniform = Float[Tensor, "*batch 2"]
"""Numbers between 0 and 1 that a draw is made from."""

SMALLEST_DEVIATION = 1e-3
"""Smallest deviation of a distribution, in units of the window's own: where the past is flat, the likelihood has no
bound."""

SMALLEST_MEAN = 1e-4
"""Smallest mean of a count, in units of the window's own: no value above 0 is impossible."""
MEAN_OF_ONE = math.log(math.e - 1)
"""The number whose softplus is 1."""

SMALLEST_GAP = 1e-9
"""Smallest distance at which two quantiles begin, be they as close as 0.1 and the next float."""
OUTSIDE = 1e-7
"""Distance that uniform numbers keep from 0 and 1: beyond it draws are infinite."""


class Head(nn.Module):
    """A linear map of a step's features. Subclasses say what its outputs mean.

    Args:
        output_size: numbers per time step.
        feature_size: of a decoder step.
        dropout: before the map.
        patch_length: time steps that a decoder step forecasts at once, with `output_size` numbers for each in turn.
    """

    kind: ClassVar[str]
    point_index = 0
    """Index of the output that is the point forecast, and is fed back as the step's value."""

    def __init__(self, output_size: int, feature_size: int, dropout: float = 0.0, patch_length: int = 1) -> None:
        super().__init__()
        self.output_size = output_size
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(feature_size, patch_length * output_size)

    def forward(self, features: Float[Tensor, "*batch feature_size"]) -> Float[Tensor, "*batch patch_size"]:
        output: Tensor = self.linear(self.dropout(features))
        return output

    def point(self, outputs: Outputs) -> Values:
        """The point forecast among a step's outputs, or among its parameters."""
        return outputs[..., self.point_index]

    def parameters_of(self, outputs: Outputs) -> Outputs:
        """Parameters of the forecast, on the scale of the window, from the outputs."""
        return outputs

    def restore(self, parameters: Outputs, loc: PerWindow, scale: PerWindow) -> Outputs:
        """The parameters of loc + scale · X, for X with these parameters; scale is above 0."""
        return parameters * scale + loc

    def sample(self, parameters: Outputs, uniform: Uniform) -> Values:
        """Draw a value from the distribution with these parameters.

        Args:
            parameters: of `parameters_of`.
            uniform: numbers between 0 and 1 that the draw is made from.

        Raises:
            ValueError: the head has no distribution.
        """
        raise ValueError(f"a {self.kind} head has no distribution to draw from")


MakeHead = Callable[[int, float], Head]
"""Makes a head from the size of a decoder step's features and the dropout before it."""


class PointHead(Head):
    """One number per step."""

    kind = "point"

    def __init__(self, feature_size: int, dropout: float = 0.0, patch_length: int = 1) -> None:
        super().__init__(1, feature_size, dropout, patch_length)


class QuantileHead(Head):
    """One number per quantile, in order by construction.

    The quantile nearest 0.5 is free; each other lies one softplus outwards from its neighbour. The steps are added one
    after the other and not by a cumulative sum, which a GPU computes in another order: adding a number that is not
    negative never lowers the result, even rounded, so that quantiles cannot cross. An untrained head starts at the
    quantiles of a normal distribution.
    """

    kind = "quantile"
    quantiles: Tensor

    def __init__(
        self, quantiles: tuple[float, ...], feature_size: int, dropout: float = 0.0, patch_length: int = 1
    ) -> None:
        super().__init__(len(quantiles), feature_size, dropout, patch_length)
        self.point_index = centre_of(quantiles)
        self.register_buffer("quantiles", torch.tensor(quantiles), persistent=False)
        normal = map(NormalDist().inv_cdf, quantiles)  # torch would load its compiler for them, on its device meta
        gaps = (max(high - low, SMALLEST_GAP) for low, high in itertools.pairwise(normal))
        apart = [math.log(math.expm1(gap)) for gap in gaps]
        steps = torch.tensor(apart, dtype=torch.float64)
        with torch.no_grad():
            bias = self.linear.bias.view(patch_length, self.output_size)
            bias[:, self.point_index + 1 :] += steps[self.point_index :]
            bias[:, : self.point_index] += steps[: self.point_index]

    def parameters_of(self, outputs: Outputs) -> Outputs:
        steps, centre = softplus(outputs), self.point_index
        quantiles = list(outputs.unbind(-1))
        for index in range(centre + 1, self.output_size):
            quantiles[index] = quantiles[index - 1] + steps[..., index]
        for index in range(centre - 1, -1, -1):
            quantiles[index] = quantiles[index + 1] - steps[..., index]
        return torch.stack(quantiles, dim=-1)

    def sample(self, parameters: Outputs, uniform: Uniform) -> Values:
        """Draw by inverting the distribution: linear between the quantiles, exponential tails beyond the outermost.

        Each tail goes through the two outermost quantiles of its side (as in Park et al. 2022, "Learning quantile
        functions without quantile crossing", section 3.1).
        """
        if self.output_size < 2:
            raise ValueError("one quantile has no distribution to draw from")
        share = uniform[..., 0].clamp(OUTSIDE, 1 - OUTSIDE)
        quantiles = self.quantiles.to(share.dtype)
        above = torch.searchsorted(quantiles, share.contiguous()).clamp(1, self.output_size - 1)
        low, high = quantiles[above - 1], quantiles[above]
        lower, upper = (parameters.gather(-1, index[..., None])[..., 0] for index in (above - 1, above))
        rise = upper - lower
        between = lower + rise * (share - low) / (high - low)
        left = lower + rise * (share / low).log() / (high / low).log()
        right = upper + rise * ((1 - high) / (1 - share)).log() / ((1 - low) / (1 - high)).log()
        return torch.where(share < quantiles[0], left, torch.where(share > quantiles[-1], right, between))


class GaussianHead(Head):
    """Mean and standard deviation of a normal distribution."""

    kind = "gaussian"
    num_parameters: ClassVar[int] = 2

    def __init__(self, feature_size: int, dropout: float = 0.0, patch_length: int = 1) -> None:
        super().__init__(self.num_parameters, feature_size, dropout, patch_length)

    def parameters_of(self, outputs: Outputs) -> Outputs:
        mean, deviation, *others = outputs.unbind(-1)
        return torch.stack([mean, SMALLEST_DEVIATION + softplus(deviation), *others], dim=-1)

    def restore(self, parameters: Outputs, loc: PerWindow, scale: PerWindow) -> Outputs:
        mean, deviation, *others = parameters.unbind(-1)
        return torch.stack([mean * scale[..., 0] + loc[..., 0], deviation * scale[..., 0], *others], dim=-1)

    def sample(self, parameters: Outputs, uniform: Uniform) -> Values:
        share = uniform[..., 0].clamp(OUTSIDE, 1 - OUTSIDE)
        drawn: Tensor = parameters[..., 0] + parameters[..., 1] * torch.special.ndtri(share)
        return drawn


class StudentTHead(GaussianHead):
    """Location, scale and degrees of freedom (above 2) of Student's t distribution: a normal one with heavy tails."""

    kind = "student-t"
    num_parameters = 3

    def parameters_of(self, outputs: Outputs) -> Outputs:
        loc, scale, freedom = super().parameters_of(outputs).unbind(-1)
        return torch.stack([loc, scale, 2 + SMALLEST_DEVIATION + softplus(freedom)], dim=-1)

    def sample(self, parameters: Outputs, uniform: Uniform) -> Values:
        """Draw by the polar method of Bailey 1994, "Polar generation of random variates with the t-distribution"."""
        loc, scale, freedom = parameters.unbind(-1)
        radius, turn = uniform.clamp(OUTSIDE, 1 - OUTSIDE).unbind(-1)
        squared = freedom * torch.expm1(-2 / freedom * radius.log())
        drawn: Tensor = loc + scale * squared.sqrt() * torch.cos(2 * torch.pi * turn)
        return drawn


class CountHead(Head):
    """Mean and dispersion of a distribution on the numbers from 0 on; windows must have the location 0.

    An untrained head starts at the mean of the window.
    """

    power: ClassVar[float] = 0.0
    """The dispersion grows with the unit of the values to this power."""

    def __init__(self, feature_size: int, dropout: float = 0.0, patch_length: int = 1) -> None:
        super().__init__(2, feature_size, dropout, patch_length)
        with torch.no_grad():
            self.linear.bias.view(patch_length, 2)[:, 0] += MEAN_OF_ONE

    def parameters_of(self, outputs: Outputs) -> Outputs:
        mean, dispersion = softplus(outputs).unbind(-1)
        return torch.stack([SMALLEST_MEAN + mean, SMALLEST_DEVIATION + dispersion], dim=-1)

    def restore(self, parameters: Outputs, loc: PerWindow, scale: PerWindow) -> Outputs:
        mean, dispersion = parameters.unbind(-1)
        unit = scale[..., 0]
        return torch.stack([mean * unit, dispersion * unit**self.power], dim=-1)


class NegativeBinomialHead(CountHead):
    """Whole numbers with variance mean + dispersion · mean²."""

    kind = "negative-binomial"


class TweedieHead(CountHead):
    """A sum of a Poisson number of exponential amounts (power 1.5), with variance dispersion · mean^1.5."""

    kind = "tweedie"
    power = 0.5


def centre_of(quantiles: tuple[float, ...]) -> int:
    """Index of the ascending quantile nearest 0.5, the lower one of two equally near."""
    return min(range(len(quantiles)), key=lambda index: abs(quantiles[index] - 0.5))
