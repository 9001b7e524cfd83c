"""Attention as retrieval: queries ask, keys are compared, values come back weighted.

A score, a normaliser and a window are three choices; this module is where they meet.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Protocol

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from forecast_attn.nn.attention_window import AttentionWindow
from forecast_attn.nn.normalisers import Normaliser, find_normaliser, masked_weights, softmax
from forecast_attn.nn.scores import Keys, ProductScore, Queries, Score

Values = Float[Tensor, "batch key_len value_size"]
Mask = Bool[Tensor, "batch key_len"] | Bool[Tensor, "batch query_len key_len"]
"""True where a key may be attended, by all queries or by each."""


class AttentionOutput(NamedTuple):
    """The context vectors and weights of some queries; always both, unless the weights were declined."""

    context_vector: Float[Tensor, "batch query_len context_size"]
    weights: Float[Tensor, "batch heads query_len key_len"] | None  # after the normaliser and window, before dropout


class Memory(NamedTuple):
    """Projections computed once per window and passed to every step; no module keeps them."""

    key: Any  # the keys as the score's `prepare_key` returns them
    value: Float[Tensor, "batch_heads key_len width"]  # zeroed where the mask is False, then projected
    mask: Mask | None  # True = may be attended
    not_finite: Bool[Tensor, "batch key_len"] | None = None  # zeroed too; queries that may attend to it get NaN


Weigh = Callable[[Tensor | None], Tensor]
"""A mask, broadcastable to the scores, or None -> the weights of the scores under it."""


class Reweigh(Protocol):
    """Replaces the weights of an attention, to measure the effect on the forecast."""

    def __call__(
        self, weigh: Weigh, mask: Bool[Tensor, "batch_heads query_len key_len"], first_step: int
    ) -> Float[Tensor, "batch_heads query_len key_len"]:
        """Weights to use instead of `weigh(mask)`.

        Args:
            weigh: the attention's own function from a mask to weights.
            mask: True where a key may be attended, window included; head h of window b is row b * heads + h.
            first_step: which decoder step (0-based) the first query belongs to.
        """
        ...


class Attention(nn.Module):
    """One attention layer: `Attention(score)(query, value, key=None, mask=None)`.

    Args:
        score: compares queries with keys; see `make_score`.
        normaliser: turns scores into weights: softmax, sparsemax or entmax15.
        window: which keys a query may see; all of them when None.
        dropout: share of the weights dropped in training, after they were recorded in the output.

    Attributes:
        context_size: width of the context vector.
        reweigh: replaces the weights during an experiment; None otherwise.

    Raises:
        ConfigError: there is no such normaliser.
    """

    def __init__(
        self,
        score: Score[Any],
        *,
        normaliser: str = "softmax",
        window: AttentionWindow | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.score = score
        self.normaliser = find_normaliser(normaliser)
        self.window = window
        self.dropout = dropout
        self.context_size = score.context_size
        self.reweigh: Reweigh | None = None

    def forward(
        self, query: Queries, value: Values, key: Keys | None = None, mask: Mask | None = None
    ) -> AttentionOutput:
        """Ask all queries at once.

        Args:
            query: decoder states.
            value: encoder states.
            key: compared with the queries; the values when None.
            mask: True where a key may be attended, for all queries or for each.
        """
        return self.attend(query, self.prepare(value, key, mask))

    def prepare(self, value: Values, key: Keys | None = None, mask: Mask | None = None) -> Memory:
        """Do, once per window, everything that does not depend on a query."""
        if mask is not None:
            # Zero what nobody may attend to: its weight is 0, but 0 * NaN is NaN, in the sum and in every gradient.
            absent = ~_exists(mask)[:, :, None]
            value = value.masked_fill(absent, 0)
            key = None if key is None else key.masked_fill(absent, 0)
        not_finite = None
        if self.window is not None or (mask is not None and mask.ndim == 3):
            not_finite = ~(value.isfinite().all(dim=-1) & (value if key is None else key).isfinite().all(dim=-1))
            value = value.masked_fill(not_finite[:, :, None], 0)
            key = None if key is None else key.masked_fill(not_finite[:, :, None], 0)
        prepared = self.score.prepare_key(value if key is None else key)
        return Memory(prepared, self.score.prepare_value(value), mask, not_finite)

    def attend(
        self, query: Queries, memory: Memory, *, first_step: int = 0, need_weights: bool = True
    ) -> AttentionOutput:
        """Ask some queries; those of a decoder that steps, or all at once.

        Args:
            query: consecutive queries.
            memory: keys and values as `prepare` returns them.
            first_step: which decoder step (0-based) the first query belongs to.
            need_weights: False allows a fused kernel that never has the weights.
        """
        mask, gain = self._visible(query, memory, first_step)
        plain = gain is None and self.normaliser is softmax and self.reweigh is None
        if plain and not need_weights and isinstance(self.score, ProductScore):
            fused = _fused(self.score, query, memory, mask, self._dropped)
            return AttentionOutput(self._context_vector(fused, memory, mask), None)
        weights = self._weights(self.score(query, memory.key), mask, gain, first_step)
        kept = F.dropout(weights, self._dropped) if self._dropped else weights
        context_vector = self._context_vector(torch.bmm(kept.to(memory.value.dtype), memory.value), memory, mask)
        if not need_weights:
            return AttentionOutput(context_vector, None)
        weights = _unfolded(weights, self.score.heads)
        unknown = self._unknown(memory, mask)
        return AttentionOutput(context_vector, weights if unknown is None else weights.masked_fill(unknown, torch.nan))

    def _context_vector(self, by_head: Tensor, memory: Memory, mask: Tensor | None) -> Tensor:
        """The heads' context vectors as one, NaN where it is unknown.

        Merged first: of a NaN, the projection's gradient would be NaN for the other queries too.
        """
        merged = self.score.merge_heads(by_head)
        unknown = self._unknown(memory, mask)
        return merged if unknown is None else merged.masked_fill(unknown[:, 0], torch.nan)

    def _unknown(self, memory: Memory, mask: Tensor | None) -> Bool[Tensor, "batch 1 query_len 1"] | None:
        """Queries that may attend to a key that is no number; None where there can be none.

        Such a key and its value were zeroed for all queries: to the others it is as if it did not exist. A mask is the
        same for every head.
        """
        if memory.not_finite is None or mask is None:
            return None
        by_window = mask[:: self.score.heads]
        return (by_window & memory.not_finite[:, None]).any(dim=-1, keepdim=True)[:, None]

    def _weights(self, scores: Tensor, mask: Tensor | None, gain: Tensor | None, first_step: int) -> Tensor:
        weigh = partial(_gained_weights, scores, gain=gain, normaliser=self.normaliser)
        if self.reweigh is None:
            return weigh(mask)
        every = torch.ones_like(scores, dtype=torch.bool)
        return self.reweigh(weigh, every if mask is None else every & mask, first_step)

    @property
    def _dropped(self) -> float:
        return self.dropout if self.training else 0.0

    def _visible(self, query: Tensor, memory: Memory, first_step: int) -> tuple[Tensor | None, Tensor | None]:
        """The mask and the window as one mask and one gain, as broad as the scores or broadcastable to them."""
        mask = memory.mask
        if mask is not None:
            mask = mask[:, None] if mask.ndim == 2 else mask[:, first_step : first_step + query.shape[1]]
        if self.window is None:
            return _folded(mask, self.score.heads), None
        num_keys = memory.value.shape[1]
        exists = query.new_ones(query.shape[0], num_keys).bool() if memory.mask is None else _exists(memory.mask)
        inside, gain = self.window(query, exists, first_step)
        mask = inside if mask is None else inside & mask
        return _folded(mask, self.score.heads), _folded(gain, self.score.heads)


def _gained_weights(scores: Tensor, mask: Tensor | None, *, gain: Tensor | None, normaliser: Normaliser) -> Tensor:
    weights = masked_weights(scores, mask, normaliser)
    return weights if gain is None else weights * gain


def _folded(tensor: Tensor | None, heads: int) -> Tensor | None:
    """The same for every head of a window, where heads are folded into the batch axis."""
    return tensor if tensor is None or heads == 1 or tensor.shape[0] == 1 else tensor.repeat_interleave(heads, dim=0)


def _unfolded(
    tensor: Shaped[Tensor, "batch_heads length size"], heads: int
) -> Shaped[Tensor, "batch heads length size"]:
    return tensor.view(-1, heads, *tensor.shape[1:])


def _fused(score: ProductScore, query: Tensor, memory: Memory, mask: Tensor | None, dropped: float) -> Tensor:
    """Context vectors by one kernel; a query that may attend to nothing gets zeros."""
    factors = (*score.operands(query, memory.key), memory.value)
    left, right, value = (_unfolded(factor, score.heads) for factor in factors)
    allowed, none = None, None
    if mask is not None:
        none = ~mask.any(dim=-1, keepdim=True)
        allowed = _unfolded(mask | none, score.heads if mask.shape[0] > 1 else 1)
    fused = F.scaled_dot_product_attention(
        left, right, value, attn_mask=allowed, dropout_p=dropped, scale=score.scale
    ).flatten(0, 1)
    return fused if none is None else fused.masked_fill(none, 0)


def _exists(mask: Bool[Tensor, "batch *query_len key_len"]) -> Bool[Tensor, "batch key_len"]:
    """True where some query may attend."""
    return mask if mask.ndim == 2 else mask.any(dim=1)
