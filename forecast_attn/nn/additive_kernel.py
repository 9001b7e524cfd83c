"""The additive pair function v · tanh(q_i + k_j), without keeping a number per pair and feature.

Written naively it makes (and saves for backward) a tensor of batch × query_len × key_len × size. Here the pairs are
visited in blocks that stay in the processor's cache, and the backward pass visits them again. On a CPU

    tanh(q + k) = 1 - 2 / (1 + e^{2q} e^{2k})

with both exponentials computed once per query and once per key: two cheap operations per pair and no tanh. In windows
where e^{2q} or e^{2k} would not be exact, it is the tanh of the sum after all.
"""

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from forecast_attn.nn.precision import full_precision

# |q| and |k| up to which e^{2q} and e^{2k} are finite and not zero, so that their product is right even where it
# overflows (1 / inf is what tanh has there) or cancels.
_EXPONENT_LIMITS = {torch.float32: 43.0, torch.float64: 350.0}

# Numbers in one block. On a CPU it should stay in the second-level cache; elsewhere only memory limits it.
_BLOCK_SIZE_CPU = 3 << 16
_BLOCK_SIZE = 1 << 23

# Below this many numbers in all, the bookkeeping of blocks costs more than it saves.
_FEW = 3 << 17


def additive_scores(
    query: Float[Tensor, "batch query_len size"],
    key: Float[Tensor, "batch key_len size"],
    vector: Float[Tensor, " size"],
    key_exponential: Float[Tensor, "batch key_len size"] | None,
    *,
    block_size: int | None = None,
) -> Float[Tensor, "batch query_len key_len"]:
    """v · tanh(q_i + k_j) for every pair (i, j).

    Args:
        query: projected queries, float32 or wider like all the others.
        key: projected keys.
        vector: v.
        key_exponential: of `exponential(key)`.
        block_size: numbers (pairs × features) held at a time, chosen when None; the result does not depend on it.

    In an exported graph all pairs are one expression: it has batches of any size and can look at no value.
    """
    if torch.compiler.is_exporting() or (block_size is None and query.shape[1] * key.numel() <= _FEW):
        with full_precision(query):
            return torch.tanh(query[:, :, None] + key[:, None]) @ vector
    if block_size is None:
        block_size = _BLOCK_SIZE_CPU if query.device.type == "cpu" else _BLOCK_SIZE
    apply: Any = _AdditiveScores.apply
    if key_exponential is None:
        return apply(query, key, vector, None, block_size)  # type: ignore[no-any-return]
    inexact = ~_within_limit(query) | key_exponential[:, :1, :1].isnan()
    if inexact.any():
        exact = apply(query, key, vector, None, block_size)
        if inexact.all():
            return exact  # type: ignore[no-any-return]
        # Both forms for all: a window must not change another one's last bits, as would a batch of another shape.
        query, key_exponential = query.masked_fill(inexact, 0), key_exponential.masked_fill(inexact, 1)
        return torch.where(inexact, exact, apply(query, key, vector, key_exponential, block_size))
    return apply(query, key, vector, key_exponential, block_size)  # type: ignore[no-any-return]


def exponential(key: Float[Tensor, "batch key_len size"]) -> Float[Tensor, "batch key_len size"] | None:
    """e^{2k}, once per window for all the steps that will ask; carries no gradient.

    NaN in windows with a key too large for it to be exact. None off the CPU, where looking for the largest key would
    wait for the device and a tanh costs little, and in an exported graph.
    """
    if torch.compiler.is_exporting() or key.device.type != "cpu":
        return None
    return key.detach().mul(2).exp_().masked_fill_(~_within_limit(key), torch.nan)


def _within_limit(tensor: Float[Tensor, "batch length size"]) -> Bool[Tensor, "batch 1 1"]:
    return tensor.detach().abs().amax(dim=(1, 2), keepdim=True) <= _EXPONENT_LIMITS[tensor.dtype]


class _AdditiveScores(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, vector: Tensor, key_exponential: Tensor | None, block_size: int
    ) -> Tensor:
        ctx.multiplied, ctx.block_size = key_exponential is not None, block_size
        if key_exponential is not None:
            query, key = query.mul(2).exp_(), key_exponential
        ctx.save_for_backward(query, key, vector)
        scores = query.new_empty(query.shape[0], query.shape[1], key.shape[1])
        with full_precision(query):
            for rows, columns, tanh in _blocks(query, key, ctx.multiplied, block_size):
                scores[rows, columns] = tanh @ vector
        return scores

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        query, key, vector = ctx.saved_tensors
        grad_query, weighted = torch.empty_like(query), torch.empty_like(query)
        # A single query has as many pairs as there are keys: one block, which ends as the keys' gradient.
        grad_key = torch.zeros_like(key) if query.shape[1] > 1 else None
        block_size = max(ctx.block_size, key.numel()) if grad_key is None else ctx.block_size
        with full_precision(query):
            one = query.new_ones(query.shape[-1])
            for rows, columns, tanh in _blocks(query, key, ctx.multiplied, block_size):
                block_grad = grad[rows, columns]
                # The gradient of v reads tanh, which the slope then overwrites.
                weighted[rows, columns] = _sum_over_keys(block_grad, tanh)
                slope = torch.addcmul(one, tanh, tanh, value=-1, out=tanh).mul_(block_grad[..., None])
                grad_query[rows, columns] = slope.sum(dim=2)
                if grad_key is None:
                    grad_key = slope[:, 0]
                else:
                    grad_key[rows] += slope.sum(dim=1)
        assert grad_key is not None
        # d/dq (v · tanh(q + k)) = v (1 - tanh²): v is common to all pairs, so it multiplies the sums.
        return grad_query.mul_(vector), grad_key.mul_(vector), weighted.sum(dim=(0, 1)), None, None


def _blocks(
    query: Tensor, key: Tensor, multiplied: bool, block_size: int
) -> Iterator[tuple[slice, slice, Float[Tensor, "rows columns key_len size"]]]:
    """Visit all pairs: which batch rows, which queries, and their tanh, in memory that the next block uses again.

    Args:
        multiplied: query and key are e^{2q} and e^{2k}; otherwise q and k.
    """
    (batch, query_len, size), pair_size = query.shape, key.shape[1] * query.shape[2]
    columns = min(query_len, max(1, block_size // pair_size))
    rows = min(batch, max(1, block_size // (columns * pair_size)))
    memory, one = query.new_empty(rows * columns * pair_size), query.new_ones(size)
    for row in range(0, batch, rows):
        for column in range(0, query_len, columns):
            left = query[row : row + rows, column : column + columns, None]
            right = key[row : row + rows, None]
            tanh = memory[: left.numel() * key.shape[1]].view(left.shape[0], left.shape[1], key.shape[1], size)
            if multiplied:  # 1 - 2 / (1 + e^{2q} e^{2k})
                torch.addcmul(one, left, right, out=tanh)
                torch.addcdiv(one, one, tanh, value=-2, out=tanh)
            else:
                torch.add(left, right, out=tanh).tanh_()
            yield slice(row, row + rows), slice(column, column + columns), tanh


def _sum_over_keys(
    grad: Float[Tensor, "rows columns key_len"], tanh: Float[Tensor, "rows columns key_len size"]
) -> Float[Tensor, "rows columns size"]:
    return torch.bmm(grad.flatten(0, 1)[:, None], tanh.flatten(0, 1)).view(*tanh.shape[:2], tanh.shape[3])
