"""Scores that are one product of what became of the query and of the key."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from forecast_attn.nn.precision import full_precision, widened
from forecast_attn.nn.score import Score, bias_free


class ProductScore(Score):
    """A score that is a plain product of what became of the query and of the key."""

    scale = 1.0

    def operands(
        self,
        query: Float[Tensor, "batch query_len query_size"],
        key: Float[Tensor, "batch_heads key_len size"],
    ) -> tuple[Float[Tensor, "batch_heads query_len width"], Float[Tensor, "batch_heads key_len width"]]:
        """The two factors, such that scores = scale * query @ key^T."""
        return query, key

    def forward(
        self,
        query: Float[Tensor, "batch query_len query_size"],
        key: Float[Tensor, "batch_heads key_len size"],
        key_exponential: Float[Tensor, "batch_heads key_len size"] | None = None,
    ) -> Float[Tensor, "batch_heads query_len key_len"]:
        left, right = self.operands(query, key)
        return _wide_product(left if self.scale == 1 else left * self.scale, right)


def _wide_product(
    left: Float[Tensor, "batch_heads query_len width"], right: Float[Tensor, "batch_heads key_len width"]
) -> Float[Tensor, "batch_heads query_len key_len"]:
    left, right = widened(left), widened(right)
    with full_precision(left):
        return torch.bmm(left, right.mT)


class DotScore(ProductScore):
    """h · h̄ (Luong et al. 2015, eq. 7, "dot"), and the score of Keras `Attention`.

    Args:
        learned_scale: multiply by one learned scalar that starts at 1 (TensorFlow Addons `LuongAttention(scale=True)`,
            Keras `Attention(use_scale=True)`); it is no 1/√d.
    """

    def __init__(self, size: int, *, learned_scale: bool = False, value_size: int | None = None) -> None:
        super().__init__(value_size or size)
        self.factor = nn.Parameter(torch.ones(())) if learned_scale else None

    def operands(
        self,
        query: Float[Tensor, "batch query_len query_size"],
        key: Float[Tensor, "batch_heads key_len size"],
    ) -> tuple[Float[Tensor, "batch_heads query_len width"], Float[Tensor, "batch_heads key_len width"]]:
        return query if self.factor is None else query * self.factor, key

    def forward(
        self,
        query: Float[Tensor, "batch query_len query_size"],
        key: Float[Tensor, "batch_heads key_len size"],
        key_exponential: Float[Tensor, "batch_heads key_len size"] | None = None,
    ) -> Float[Tensor, "batch_heads query_len key_len"]:
        scores = _wide_product(query, key)  # scaled after the product, as Keras does, to the last bit
        return scores if self.factor is None else scores * self.factor


class GeneralScore(ProductScore):
    """h · W_a h̄ (Luong et al. 2015, eq. 7, "general"); `weight` is W_a, (query_size, key_size)."""

    def __init__(self, query_size: int, key_size: int, *, value_size: int | None = None) -> None:
        super().__init__(value_size or key_size)
        self.weight = nn.Parameter(torch.empty(query_size, key_size))
        nn.init.xavier_uniform_(self.weight)

    def operands(
        self,
        query: Float[Tensor, "batch query_len query_size"],
        key: Float[Tensor, "batch_heads key_len size"],
    ) -> tuple[Float[Tensor, "batch_heads query_len width"], Float[Tensor, "batch_heads key_len width"]]:
        if query.shape[1] <= key.shape[1]:
            return query @ self.weight, key
        return query, key @ self.weight.T


class ScaledDotScore(ProductScore):
    """W_q h · W_k h̄ / √d, one head (Vaswani et al. 2017, eq. 1); the values stay as they are."""

    def __init__(self, query_size: int, key_size: int, size: int, *, value_size: int | None = None) -> None:
        super().__init__(value_size or key_size)
        self.scale = 1 / math.sqrt(size)
        self.query_projection = bias_free(query_size, size)
        self.key_projection = bias_free(key_size, size)

    def prepare_key(self, key: Float[Tensor, "batch key_len key_size"]) -> Float[Tensor, "batch_heads key_len size"]:
        projected: Tensor = self.key_projection(key)
        return projected

    def operands(
        self,
        query: Float[Tensor, "batch query_len query_size"],
        key: Float[Tensor, "batch_heads key_len size"],
    ) -> tuple[Float[Tensor, "batch_heads query_len width"], Float[Tensor, "batch_heads key_len width"]]:
        return self.query_projection(query), key


class MultiHeadScore(ProductScore):
    """Several projected heads, concatenated and projected again (Vaswani et al. 2017, §3.2.2).

    As in the paper there are no biases; one on the keys would cancel in the softmax anyway.
    """

    def __init__(self, query_size: int, key_size: int, size: int, heads: int, *, value_size: int | None = None) -> None:
        super().__init__(size)
        self.heads = heads
        self.scale = 1 / math.sqrt(size // heads)
        self.query_projection = bias_free(query_size, size)
        self.key_projection = bias_free(key_size, size)
        self.value_projection = bias_free(value_size or key_size, size)
        self.output_projection = bias_free(size, size)

    def prepare_key(self, key: Float[Tensor, "batch key_len key_size"]) -> Float[Tensor, "batch_heads key_len size"]:
        return self._split(self.key_projection(key))

    def prepare_value(
        self, value: Float[Tensor, "batch key_len value_size"]
    ) -> Float[Tensor, "batch_heads key_len size"]:
        return self._split(self.value_projection(value))

    def operands(
        self,
        query: Float[Tensor, "batch query_len query_size"],
        key: Float[Tensor, "batch_heads key_len size"],
    ) -> tuple[Float[Tensor, "batch_heads query_len width"], Float[Tensor, "batch_heads key_len width"]]:
        return self._split(self.query_projection(query)), key

    def merge_heads(
        self, context_vector: Float[Tensor, "batch_heads query_len size"]
    ) -> Float[Tensor, "batch query_len context_size"]:
        by_head = context_vector.view(-1, self.heads, *context_vector.shape[1:])
        merged: Tensor = self.output_projection(by_head.transpose(1, 2).flatten(2))
        return merged

    def _split(self, projected: Float[Tensor, "batch length width"]) -> Float[Tensor, "batch_heads length size"]:
        return projected.view(*projected.shape[:2], self.heads, -1).transpose(1, 2).flatten(0, 1)
