"""What to do where a value of the lookback was not observed."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

Observed = Bool[Tensor, "batch lookback"] | None  # None where every step was observed


def observed_only(values: Float[Tensor, "batch lookback"], observed: Observed) -> Float[Tensor, "batch lookback"]:
    """The values, 0 where not observed."""
    return values if observed is None else values.masked_fill(~observed, 0)


def last_observed(values: Float[Tensor, "batch lookback"], observed: Observed) -> Float[Tensor, "batch"]:
    """The latest observed value of each window; its last one, 0, where none was observed."""
    if observed is None:
        return values[:, -1]
    back = observed.flip(-1).int().argmax(dim=-1, keepdim=True)
    return values.gather(-1, values.shape[-1] - 1 - back)[:, 0]


def observed_mean(values: Float[Tensor, "batch length"], observed: Observed) -> Float[Tensor, "batch 1"]:
    """Mean of the observed values; 0 where there is none."""
    if observed is None:
        return values.mean(dim=1, keepdim=True)
    total = observed_only(values, observed).sum(dim=1, keepdim=True)
    return total / observed.sum(dim=1, keepdim=True).clamp(min=1)


def observed_deviation(values: Float[Tensor, "batch length"], observed: Observed) -> Float[Tensor, "batch 1"]:
    """Standard deviation (with n, not n - 1) of the observed values; 0 where there is none."""
    if observed is None:
        return values.std(dim=1, keepdim=True, correction=0)
    return torch.sqrt(observed_mean((values - observed_mean(values, observed)) ** 2, observed))
