"""Scores compare queries with keys: dot, general, scaled, location, multi-head and additive ones.

Every score follows one protocol, `Score`: it prepares the keys once per window and scores queries against them.
"""

import math
from typing import Any, Generic, NamedTuple, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from forecast_attn.errors import ConfigError, did_you_mean
from forecast_attn.nn.additive_kernel import additive_scores, exponential
from forecast_attn.nn.precision import full_precision, widened

__all__ = [
    "SCORES",
    "AdditiveScore",
    "ConcatScore",
    "DotScore",
    "GeneralScore",
    "KerasAdditiveScore",
    "LocationScore",
    "MultiHeadScore",
    "ProductScore",
    "ScaledDotScore",
    "Score",
    "make_score",
]

SCORES = (
    "dot",
    "general",
    "additive",
    "additive-normed",
    "concat",
    "location",
    "scaled",
    "scaled-dot",
    "multi-head",
    "keras-additive",
    "keras-dot",
)

Queries = Float[Tensor, "batch query_len query_size"]
Keys = Float[Tensor, "batch key_len key_size"]
HeadKeys = Float[Tensor, "batch_heads key_len size"]
ScoresOfHeads = Float[Tensor, "batch_heads query_len key_len"]
Factors = tuple[Float[Tensor, "batch_heads query_len width"], Float[Tensor, "batch_heads key_len width"]]

PreparedKey = TypeVar("PreparedKey")
"""Keys as a score prepares them: a tensor, (batch_heads, key_len, size), or an `AdditiveKey`."""


class Score(nn.Module, Generic[PreparedKey]):
    """Scores of queries against keys. Keeps no tensor between calls.

    Where a score has several heads, they are folded into the batch axis: head h of window b is row b * heads + h. With
    one head, which most have, that costs nothing.

    Attributes:
        heads: how many rows of weights a query gets.
        context_size: width of the context vectors it leads to.
    """

    heads = 1

    def __init__(self, context_size: int) -> None:
        super().__init__()
        self.context_size = context_size

    def prepare_key(self, key: Keys) -> PreparedKey:
        """Do what depends on the keys alone, once per window."""
        raise NotImplementedError

    def prepare_value(self, value: Float[Tensor, "batch key_len value_size"]) -> HeadKeys:
        return value

    def forward(self, query: Queries, key: PreparedKey) -> ScoresOfHeads:
        """Compare every query with every prepared key, in float32 or wider."""
        raise NotImplementedError

    def merge_heads(
        self, context_vector: Float[Tensor, "batch_heads query_len size"]
    ) -> Float[Tensor, "batch query_len context_size"]:
        """Make one context vector of those of the heads."""
        return context_vector


def bias_free(input_size: int, output_size: int) -> nn.Linear:
    """A projection as the papers draw it: a matrix, no bias."""
    layer = nn.Linear(input_size, output_size, bias=False)
    nn.init.xavier_uniform_(layer.weight)
    return layer


# --------------------------------------------------------------------------- product scores
# Scores that are one product of the transformed query and key.


class ProductScore(Score[Tensor]):
    """A score that is a plain product of the transformed query and key."""

    scale = 1.0

    def prepare_key(self, key: Keys) -> HeadKeys:
        return key

    def operands(self, query: Queries, key: HeadKeys) -> Factors:
        """The two factors, such that scores = scale * query @ key^T."""
        return query, key

    def forward(self, query: Queries, key: HeadKeys) -> ScoresOfHeads:
        left, right = self.operands(query, key)
        return _wide_product(left if self.scale == 1 else left * self.scale, right)


def _wide_product(
    left: Float[Tensor, "batch_heads query_len width"], right: Float[Tensor, "batch_heads key_len width"]
) -> ScoresOfHeads:
    left, right = widened(left), widened(right)
    with full_precision(left):
        return torch.bmm(left, right.mT)


class DotScore(ProductScore):
    """h · h̄ (Luong et al. 2015, §3.1, "dot"), and the score of Keras `Attention`.

    Args:
        learned_scale: multiply by one learned scalar that starts at 1 (TensorFlow Addons `LuongAttention(scale=True)`,
            Keras `Attention(use_scale=True)`); it is no 1/√d.
    """

    def __init__(self, size: int, *, learned_scale: bool = False, value_size: int | None = None) -> None:
        super().__init__(value_size or size)
        self.factor = nn.Parameter(torch.ones(())) if learned_scale else None

    def operands(self, query: Queries, key: HeadKeys) -> Factors:
        return query if self.factor is None else query * self.factor, key

    def forward(self, query: Queries, key: HeadKeys) -> ScoresOfHeads:
        scores = _wide_product(query, key)  # scaled after the product, as Keras does, to the last bit
        return scores if self.factor is None else scores * self.factor


class GeneralScore(ProductScore):
    """h · W_a h̄ (Luong et al. 2015, §3.1, "general"); `weight` is W_a, (query_size, key_size)."""

    def __init__(self, query_size: int, key_size: int, *, value_size: int | None = None) -> None:
        super().__init__(value_size or key_size)
        self.weight = nn.Parameter(torch.empty(query_size, key_size))
        nn.init.xavier_uniform_(self.weight)

    def operands(self, query: Queries, key: HeadKeys) -> Factors:
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

    def prepare_key(self, key: Keys) -> HeadKeys:
        projected: Tensor = self.key_projection(key)
        return projected

    def operands(self, query: Queries, key: HeadKeys) -> Factors:
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

    def prepare_key(self, key: Keys) -> HeadKeys:
        return self._split(self.key_projection(key))

    def prepare_value(self, value: Float[Tensor, "batch key_len value_size"]) -> HeadKeys:
        return self._split(self.value_projection(value))

    def operands(self, query: Queries, key: HeadKeys) -> Factors:
        return self._split(self.query_projection(query)), key

    def merge_heads(
        self, context_vector: Float[Tensor, "batch_heads query_len size"]
    ) -> Float[Tensor, "batch query_len context_size"]:
        by_head = context_vector.view(-1, self.heads, *context_vector.shape[1:])
        merged: Tensor = self.output_projection(by_head.transpose(1, 2).flatten(2))
        return merged

    def _split(self, projected: Float[Tensor, "batch length width"]) -> Float[Tensor, "batch_heads length size"]:
        return projected.view(*projected.shape[:2], self.heads, -1).transpose(1, 2).flatten(0, 1)


class LocationScore(Score[Tensor]):
    """W_a h, one row of W_a per position of the keys, which are not looked at (Luong et al. 2015, eq. 8)."""

    def __init__(self, query_size: int, key_size: int, key_length: int, *, value_size: int | None = None) -> None:
        super().__init__(value_size or key_size)
        self.weight = bias_free(query_size, key_length).weight

    def prepare_key(self, key: Keys) -> HeadKeys:
        return key[:, :, :0]

    def forward(self, query: Queries, key: HeadKeys) -> ScoresOfHeads:
        length, rows = key.shape[1], self.weight.shape[0]
        if length > rows:
            raise ConfigError(
                f"luong-location knows {rows} positions; got {length} keys",
                f"train with --lookback {length}, or choose an attention that compares keys, such as luong-general",
            )
        weight = self.weight if length == rows else self.weight[:length]
        return widened(query @ weight.T)


# --------------------------------------------------------------------------- additive scores
# Scores of the form v · tanh(q + k), which differ in how q, k and v are made.

ProjectedQueries = Float[Tensor, "batch query_len size"]
ProjectedKeys = Float[Tensor, "batch key_len size"]


class AdditiveKey(NamedTuple):
    """Projected keys, with what is cheaper to compute once per window than at every step."""

    projected: ProjectedKeys
    exponential: ProjectedKeys | None  # e^{2k}, see `additive_kernel.exponential`


class PairScore(Score[AdditiveKey]):
    """v · tanh(q + k): a subclass defines q, k and v."""

    def prepare_key(self, key: Keys) -> AdditiveKey:
        projected = widened(self.project_key(key))
        return AdditiveKey(projected, exponential(projected))

    def project_key(self, key: Keys) -> ProjectedKeys:
        """Return k."""
        return key

    def project_query(self, query: Queries) -> ProjectedQueries:
        return query

    def direction(self) -> Float[Tensor, " size"]:
        """v."""
        raise NotImplementedError

    def forward(self, query: Queries, key: AdditiveKey) -> Float[Tensor, "batch query_len key_len"]:
        projected, direction = widened(self.project_query(query)), widened(self.direction())
        return additive_scores(projected, key.projected, direction, key.exponential)


class AdditiveScore(PairScore):
    """v_a · tanh(W_a s + U_a h) (Bahdanau et al. 2015, appendix A.1.2), without biases, as in the paper.

    Args:
        normed: v = g · v_a / ‖v_a‖ and a bias inside the tanh (TensorFlow Addons `BahdanauAttention(normalize=True)`).
    """

    def __init__(
        self, query_size: int, key_size: int, size: int, *, normed: bool = False, value_size: int | None = None
    ) -> None:
        super().__init__(value_size or key_size)
        self.query_projection = bias_free(query_size, size)
        self.key_projection = bias_free(key_size, size)
        self.vector = _vector(size)
        self.gain = nn.Parameter(torch.tensor(math.sqrt(1 / size))) if normed else None
        self.bias = nn.Parameter(torch.zeros(size)) if normed else None

    def project_key(self, key: Keys) -> ProjectedKeys:
        return self.key_projection(key)  # type: ignore[no-any-return]

    def project_query(self, query: Queries) -> ProjectedQueries:
        projected: Tensor = self.query_projection(query)
        return projected if self.bias is None else projected + self.bias

    def direction(self) -> Float[Tensor, " size"]:
        return self.vector if self.gain is None else self.gain * self.vector / self.vector.norm()


class ConcatScore(PairScore):
    """v_a · tanh(W_a [h; h̄]) (Luong et al. 2015, §3.1, "concat"), with the whole W_a, (size, query_size + key_size).

    W_a [h; h̄] = W_q h + W_k h̄ with the two blocks of columns, so the concatenation is never built. (The authors' own
    program fixes the key half to the identity; the equation does not.)
    """

    def __init__(self, query_size: int, key_size: int, size: int, *, value_size: int | None = None) -> None:
        super().__init__(value_size or key_size)
        self.query_size = query_size
        self.weight = bias_free(query_size + key_size, size).weight
        self.vector = _vector(size)

    def project_key(self, key: Keys) -> ProjectedKeys:
        return key @ self.weight[:, self.query_size :].T

    def project_query(self, query: Queries) -> ProjectedQueries:
        return query @ self.weight[:, : self.query_size].T

    def direction(self) -> Float[Tensor, " size"]:
        return self.vector


class KerasAdditiveScore(PairScore):
    """Keras `AdditiveAttention`: scale · tanh(q + k), no projections.

    Args:
        use_scale: learn `scale`, one number per feature (Keras' default); otherwise it is 1.
    """

    ones: Tensor

    def __init__(self, size: int, *, use_scale: bool = True, value_size: int | None = None) -> None:
        super().__init__(value_size or size)
        limit = math.sqrt(3 / size)  # Keras' glorot_uniform for a vector
        self.vector = nn.Parameter(torch.empty(size).uniform_(-limit, limit)) if use_scale else None
        self.register_buffer("ones", None if use_scale else torch.ones(size), persistent=False)

    def direction(self) -> Float[Tensor, " size"]:
        return self.ones if self.vector is None else self.vector


def _vector(size: int) -> nn.Parameter:
    """v_a, drawn so that scores have the same spread for every size; the paper's zeros would stop W_a at first."""
    limit = 1 / math.sqrt(size)
    return nn.Parameter(torch.empty(size).uniform_(-limit, limit))


# --------------------------------------------------------------------------- by name


def make_score(
    name: str,
    *,
    query_size: int,
    key_size: int,
    attention_size: int,
    heads: int,
    key_length: int,
    value_size: int | None = None,
) -> Score[Any]:
    """Make a score by its name, for sizes that make sense together.

    Args:
        attention_size: width of the projected queries and keys.
        heads: multi-head only.
        key_length: most keys of a window, for location only.
        value_size: width of the values where it is not that of the keys.

    Raises:
        ConfigError: no such name, or sizes that this score cannot compare.
    """
    match name:
        case "dot" | "scaled" | "keras-dot":
            _require_equal_sizes(name, query_size, key_size)
            return DotScore(key_size, learned_scale=name == "scaled", value_size=value_size)
        case "keras-additive":
            _require_equal_sizes(name, query_size, key_size)
            return KerasAdditiveScore(key_size, value_size=value_size)
        case "general":
            return GeneralScore(query_size, key_size, value_size=value_size)
        case "additive" | "additive-normed":
            normed = name == "additive-normed"
            return AdditiveScore(query_size, key_size, attention_size, normed=normed, value_size=value_size)
        case "concat":
            return ConcatScore(query_size, key_size, attention_size, value_size=value_size)
        case "location":
            return LocationScore(query_size, key_size, key_length, value_size=value_size)
        case "scaled-dot":
            return ScaledDotScore(query_size, key_size, attention_size, value_size=value_size)
        case "multi-head":
            _require_divisible(attention_size, heads)
            return MultiHeadScore(query_size, key_size, attention_size, heads, value_size=value_size)
    raise ConfigError(f"there is no score '{name}'", did_you_mean(name, SCORES))


def _require_equal_sizes(name: str, query_size: int, key_size: int) -> None:
    mechanism = {"dot": "luong-dot", "scaled": "luong-scaled"}.get(name, name)
    if query_size != key_size:
        raise ConfigError(
            f"{mechanism} needs equal encoder and decoder sizes; got {key_size} and {query_size}",
            f"use luong-general, or --decoder-size {key_size}",
        )


def _require_divisible(attention_size: int, heads: int) -> None:
    if attention_size % heads:
        raise ConfigError(
            f"multi-head needs an attention size that is a multiple of the heads; got {attention_size} and {heads}",
            f"use --attention-size {math.ceil(attention_size / heads) * heads}, or other --heads",
        )
