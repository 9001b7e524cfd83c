"""Scores of the form v · tanh(q + k), which differ in where q, k and v come from."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from forecast_attn.nn.additive import additive_scores, exponential
from forecast_attn.nn.precision import widened
from forecast_attn.nn.score import Score, bias_free


class PairScore(Score):
    """v · tanh(q + k): a subclass says what q, k (in `prepare_key`) and v are."""

    def project_query(
        self, query: Float[Tensor, "batch query_len query_size"]
    ) -> Float[Tensor, "batch query_len size"]:
        return query

    def direction(self) -> Float[Tensor, " size"]:
        """v."""
        raise NotImplementedError

    def key_exponential(
        self, prepared_key: Float[Tensor, "batch_heads key_len size"]
    ) -> Float[Tensor, "batch_heads key_len size"] | None:
        return exponential(prepared_key)

    def forward(
        self,
        query: Float[Tensor, "batch query_len query_size"],
        key: Float[Tensor, "batch_heads key_len size"],
        key_exponential: Float[Tensor, "batch_heads key_len size"] | None = None,
    ) -> Float[Tensor, "batch_heads query_len key_len"]:
        projected, direction = widened(self.project_query(query)), widened(self.direction())
        return additive_scores(projected, key, direction, key_exponential)


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

    def prepare_key(self, key: Float[Tensor, "batch key_len key_size"]) -> Float[Tensor, "batch_heads key_len size"]:
        return widened(self.key_projection(key))

    def project_query(
        self, query: Float[Tensor, "batch query_len query_size"]
    ) -> Float[Tensor, "batch query_len size"]:
        projected: Tensor = self.query_projection(query)
        return projected if self.bias is None else projected + self.bias

    def direction(self) -> Float[Tensor, " size"]:
        return self.vector if self.gain is None else self.gain * self.vector / self.vector.norm()


class ConcatScore(PairScore):
    """v_a · tanh(W_a [h; h̄]) (Luong et al. 2015, eq. 7, "concat"), with the whole W_a, (size, query_size + key_size).

    W_a [h; h̄] = W_q h + W_k h̄ with the two blocks of columns, so the concatenation is never built. (The authors' own
    program fixes the key half to the identity; the equation does not.)
    """

    def __init__(self, query_size: int, key_size: int, size: int, *, value_size: int | None = None) -> None:
        super().__init__(value_size or key_size)
        self.query_size = query_size
        self.weight = bias_free(query_size + key_size, size).weight
        self.vector = _vector(size)

    def prepare_key(self, key: Float[Tensor, "batch key_len key_size"]) -> Float[Tensor, "batch_heads key_len size"]:
        return widened(key @ self.weight[:, self.query_size :].T)

    def project_query(
        self, query: Float[Tensor, "batch query_len query_size"]
    ) -> Float[Tensor, "batch query_len size"]:
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

    def prepare_key(self, key: Float[Tensor, "batch key_len key_size"]) -> Float[Tensor, "batch_heads key_len size"]:
        return widened(key)

    def direction(self) -> Float[Tensor, " size"]:
        return self.ones if self.vector is None else self.vector


def _vector(size: int) -> nn.Parameter:
    """v_a, drawn so that scores have the same spread for every size; the paper's zeros would stop W_a at first."""
    limit = 1 / math.sqrt(size)
    return nn.Parameter(torch.empty(size).uniform_(-limit, limit))
