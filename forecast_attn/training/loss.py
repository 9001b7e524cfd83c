"""Training losses: elementwise over the known steps of the horizon, weighted by series.

A loss compares the head's parameters of each step (batch, horizon, size) with the target (batch,
horizon). A point forecast is the only parameter of its head.
"""

import functools
import math
from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError
from forecast_attn.nn.heads import Head, QuantileHead

Loss = Callable[[Tensor, Tensor, str], Tensor]
"""(parameters, target, reduction "none" or "mean") -> the loss of every step, or their mean."""

POINT_LOSSES: dict[str, Callable[..., Tensor]] = {"mae": F.l1_loss, "mse": F.mse_loss, "huber": F.huber_loss}


def loss_of(head: Head, name: str) -> Loss:
    """The loss that a head is trained on.

    Args:
        head: a point head has the loss of that name, every other one its own.
        name: mae, mse or huber.
    """
    if isinstance(head, QuantileHead):
        return functools.partial(_quantile_loss, head)
    if head.kind == "point":
        return functools.partial(_point_loss, POINT_LOSSES[name])
    return LIKELIHOODS[head.kind]


def mean_loss(
    loss: Loss,
    parameters: Float[Tensor, "batch horizon size"],
    target: Float[Tensor, "batch horizon"],
    weight: Float[Tensor, "batch"] | None,
) -> Float[Tensor, ""]:
    """Mean of the loss over the steps whose target is known.

    Args:
        loss: of `loss_of`.
        parameters: on the series' scale.
        target: the same, NaN where missing.
        weight: of each window; None where all weigh 1 and no target is missing.
    """
    if weight is None:
        return loss(parameters, target, "mean")
    known = ~torch.isnan(target)
    return (window_losses(loss, parameters, target) * weight).sum() / known.sum()


def window_losses(
    loss: Loss, parameters: Float[Tensor, "batch horizon size"], target: Float[Tensor, "batch horizon"]
) -> Float[Tensor, "batch"]:
    """Sum of the loss over the known steps of each window."""
    known = ~torch.isnan(target)
    # Filled before and blanked after: a missing step has no loss, and no gradient that is NaN.
    losses = loss(parameters, torch.where(known, target, parameters[..., 0].detach()), "none")
    return torch.where(known, losses, 0).sum(dim=1)


def _point_loss(of_point: Callable[..., Tensor], parameters: Tensor, target: Tensor, reduction: str) -> Tensor:
    return of_point(parameters[..., 0], target, reduction=reduction)


def _quantile_loss(head: QuantileHead, parameters: Tensor, target: Tensor, reduction: str) -> Tensor:
    # The head is asked at every call: its quantiles move with it to a GPU.
    return pinball_loss(parameters, target, reduction, quantiles=head.quantiles)


def pinball_loss(parameters: Tensor, target: Tensor, reduction: str, *, quantiles: Tensor) -> Tensor:
    """Mean over the quantiles of max(l · (y - q), (l - 1) · (y - q)), whose minimum is the quantile.

    Source: Koenker and Bassett 1978, "Regression quantiles".
    """
    error = target[..., None] - parameters
    shares = quantiles.to(error.dtype)
    return _reduced(torch.maximum(shares * error, (shares - 1) * error).mean(dim=-1), reduction)


def gaussian_loss(parameters: Tensor, target: Tensor, reduction: str) -> Tensor:
    """Negative log-likelihood of a normal distribution with this mean and deviation."""
    mean, deviation = parameters.unbind(-1)
    distance = (target - mean) / deviation
    return _reduced(0.5 * distance.square() + deviation.log() + 0.5 * math.log(2 * math.pi), reduction)


def student_t_loss(parameters: Tensor, target: Tensor, reduction: str) -> Tensor:
    """Negative log-likelihood of Student's t distribution with this location, scale and degrees of freedom."""
    loc, scale, freedom = parameters.unbind(-1)
    distance = (target - loc) / scale
    constant = torch.lgamma(freedom / 2) - torch.lgamma((freedom + 1) / 2) + 0.5 * (math.pi * freedom).log()
    return _reduced(constant + scale.log() + (freedom + 1) / 2 * torch.log1p(distance.square() / freedom), reduction)


def negative_binomial_loss(parameters: Tensor, target: Tensor, reduction: str) -> Tensor:
    """Negative log-likelihood of a negative binomial distribution with this mean and variance mean + d · mean²."""
    mean, dispersion = parameters.unbind(-1)
    total_count = 1 / dispersion
    counted = torch.lgamma(target + total_count) - torch.lgamma(total_count) - torch.lgamma(target + 1)
    total = (total_count + mean).log()
    likelihood = counted + total_count * (total_count.log() - total) + target * (mean.log() - total)
    return _reduced(-likelihood, reduction)


def tweedie_loss(parameters: Tensor, target: Tensor, reduction: str) -> Tensor:
    """Negative log-likelihood of a Tweedie distribution of the power 1.5, with this mean μ and dispersion φ.

    It is a Poisson number of exponential amounts: λ = 2 √μ / φ of them, each of mean γ = φ √μ / 2, so that 0 has the
    probability exp(-λ) and a value y above it the density exp(-λ - y/γ) · √(λ / (γ y)) · I₁(2 √(λ y / γ)).

    Source: Jørgensen 1987, "Exponential dispersion models"; the sum of its series at this power is the Bessel function
    I₁ (Dunn and Smyth 2005, "Series evaluation of Tweedie exponential dispersion model densities").
    """
    mean, dispersion = parameters.unbind(-1)
    rate, amount = 2 * mean.sqrt() / dispersion, dispersion * mean.sqrt() / 2
    positive = target > 0
    value = torch.where(positive, target, 1)  # whose density is not used: 0 has none
    root = 2 * (rate * value / amount).sqrt()
    density = root + torch.special.i1e(root).log() - value / amount + 0.5 * (rate / (amount * value)).log()
    return _reduced(rate - torch.where(positive, density, 0), reduction)


LIKELIHOODS: dict[str, Loss] = {
    "gaussian": gaussian_loss,
    "student-t": student_t_loss,
    "negative-binomial": negative_binomial_loss,
    "tweedie": tweedie_loss,
}


def _reduced(losses: Tensor, reduction: str) -> Tensor:
    return losses.mean() if reduction == "mean" else losses


def check_counts(panel: Panel, distribution: str) -> None:
    """Refuse a target that the distribution gives no probability.

    Args:
        panel: the table.
        distribution: negative-binomial, of whole numbers from 0 on, or tweedie, of numbers from 0 on.

    Raises:
        DataError: names the first such value.
    """
    values = panel.target
    needs, instead, are_whole = "numbers of 0 or more", "student-t", distribution == "negative-binomial"
    if are_whole:
        needs, instead = "whole numbers of 0 or more", "tweedie, which takes any numbers of 0 or more"

    def are_impossible(some: NDArray[np.float64]) -> NDArray[np.bool_]:
        broken = (some != np.round(some)) & ~np.isnan(some)
        return np.asarray((some < 0) | (broken if are_whole else False), np.bool_)

    for row in panel.targets_where(are_impossible)[:1]:
        name = panel.item_ids[panel.series_of(row)]
        when = panel.zone.stamp_text(panel.timestamps[row])
        raise DataError(
            f"series '{name}' has the target {values[row]:g} at {when}; --distribution {distribution} needs {needs}",
            f"--distribution {instead if values[row] >= 0 else 'student-t'}",
            column=panel.roles.target,
            item_id=name,
        )
