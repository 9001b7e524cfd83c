"""Normalisers turn a row of scores into a row of weights: softmax, and two that give exact zeros."""

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from forecast_attn.errors import ConfigError, did_you_mean
from forecast_attn.nn.precision import widened

Normaliser = Callable[[Tensor], Tensor]

# A shifted score this far below the largest of its row is outside every support, and squares without overflow.
_BELOW_SUPPORT = -4.0


def softmax(scores: Float[Tensor, "*rows key_len"]) -> Float[Tensor, "*rows key_len"]:
    """exp(z) / sum exp(z): every key gets some weight."""
    return torch.softmax(scores, dim=-1)


def sparsemax(scores: Float[Tensor, "*rows key_len"]) -> Float[Tensor, "*rows key_len"]:
    """Project onto the simplex (Martins & Astudillo 2016, algorithm 1): far keys get exactly 0."""
    return _Sparsemax.apply(scores)  # type: ignore[no-any-return, no-untyped-call]


def entmax15(scores: Float[Tensor, "*rows key_len"]) -> Float[Tensor, "*rows key_len"]:
    """Half way from softmax to sparsemax (Peters, Niculae & Martins 2019, algorithm 2, α = 1.5)."""
    return _Entmax15.apply(scores)  # type: ignore[no-any-return, no-untyped-call]


NORMALISERS: dict[str, Normaliser] = {"softmax": softmax, "sparsemax": sparsemax, "entmax15": entmax15}


def find_normaliser(name: str) -> Normaliser:
    """Look a normaliser up by its name.

    Raises:
        ConfigError: no normaliser has that name.
    """
    if name not in NORMALISERS:
        raise ConfigError(f"there is no normaliser '{name}'", did_you_mean(name, tuple(NORMALISERS)))
    return NORMALISERS[name]


def masked_weights(
    scores: Float[Tensor, "*rows query_len key_len"],
    mask: Bool[Tensor, "*#rows #query_len key_len"] | None,
    normaliser: Normaliser,
) -> Float[Tensor, "*rows query_len key_len"]:
    """Normalise the scores of the keys that may be attended; the others get exactly 0.

    Scores of half precision are widened to float32, and so are the weights. A row without any key that may be
    attended becomes a row of zeros, with zero gradients.
    """
    scores = widened(scores)
    if mask is None:
        return normaliser(scores)
    # finfo.min and not -inf: a row of -inf is 0 / 0, and its NaN survives every later mask in the backward pass.
    excluded = ~mask
    weights = normaliser(scores.masked_fill(excluded, torch.finfo(scores.dtype).min))
    return weights.masked_fill(excluded, 0.0)


def _shifted(scores: Tensor) -> Tensor:
    """Scores below their row's maximum; those outside every support are cut to a harmless value."""
    return (scores - scores.amax(dim=-1, keepdim=True)).clamp(min=_BELOW_SUPPORT)


def _ranks(scores: Tensor) -> Tensor:
    """1, 2, …, key_len."""
    return torch.arange(1, scores.shape[-1] + 1, dtype=scores.dtype, device=scores.device)


def _at_least_one(support_size: Tensor) -> Tensor:
    """A row of NaN has no support; it shall give NaN weights, not an index error (which would bring a GPU down)."""
    return support_size.clamp(min=1)


def _centred(grad_weights: Tensor, slope: Tensor) -> Tensor:
    """Gradient of the scores: both Jacobians are diag(slope) - slope slope^T / sum(slope)."""
    mean = (grad_weights * slope).sum(dim=-1, keepdim=True) / slope.sum(dim=-1, keepdim=True)
    return slope * (grad_weights - mean)


class _Sparsemax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> Tensor:
        shifted = _shifted(scores)
        ordered = shifted.sort(dim=-1, descending=True).values
        excess = ordered.cumsum(dim=-1) - 1
        ranks = _ranks(ordered)
        support_size = _at_least_one((ranks * ordered > excess).sum(dim=-1, keepdim=True))
        threshold = excess.gather(-1, support_size - 1) / support_size
        weights = (shifted - threshold).clamp(min=0)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_weights: Tensor) -> Tensor:
        (weights,) = ctx.saved_tensors
        support = (weights > 0).to(grad_weights.dtype)
        return _centred(grad_weights, support)


class _Entmax15(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor) -> Tensor:
        shifted = _shifted(scores) / 2
        ordered = shifted.sort(dim=-1, descending=True).values
        ranks = _ranks(ordered)
        mean = ordered.cumsum(dim=-1) / ranks
        variance = ordered.square().cumsum(dim=-1) / ranks - mean.square()
        thresholds = mean - (1 / ranks - variance).clamp(min=0).sqrt()
        support_size = _at_least_one((thresholds <= ordered).sum(dim=-1, keepdim=True))
        weights = (shifted - thresholds.gather(-1, support_size - 1)).clamp(min=0).square()
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_weights: Tensor) -> Tensor:
        (weights,) = ctx.saved_tensors
        return _centred(grad_weights, weights.sqrt())
