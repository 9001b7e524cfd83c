"""Context managers that replace the weights of an attention, or the inputs of an encoder, inside a block.

Every `Reweigh` here keeps two rules: what may not be attended to never gets weight, and a row keeps the sum that its
weights had (1, but for local-p windows), so that only the distribution is experimented with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from forecast_attn.forecasting.weight_need import spread_equally
from forecast_attn.nn.attention import Weigh
from forecast_attn.nn.network import ForecastNetwork

Steps = Bool[Tensor, "batch num_steps num_keys"]


@contextmanager
def feeding(network: ForecastNetwork, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Let the encoder read `change(inputs)` inside the block; inputs are (batch, num_keys, input_size).

    They are what it reads before they are projected, each of them a column or the position.
    """

    def change_first(_: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return (change(given[0]), *given[1:])

    handle = network.encoder_projection.register_forward_pre_hook(change_first)
    try:
        yield
    finally:
        handle.remove()


class VisibleKeys:
    """Changes nothing, and records which keys each step may attend to."""

    def __init__(self, heads: int) -> None:
        self.heads = heads
        self._visible: list[Tensor] = []

    def __call__(self, weigh: Weigh, mask: Tensor, first_step: int) -> Tensor:
        self._visible.append(mask[:: self.heads])  # the heads of a window see the same keys
        return weigh(mask)

    def visible(self) -> Steps:
        return torch.cat(self._visible, dim=1)


class DeletedKeys:
    """The weights of some keys set to zero; the others share what is missing, in proportion.

    Where the others had no weight at all (a sparse normaliser), they share it equally.
    """

    def __init__(self, deleted: Steps) -> None:
        self.deleted = deleted

    def __call__(self, weigh: Weigh, mask: Tensor, first_step: int) -> Tensor:
        weights = weigh(mask)
        total = weights.sum(dim=-1, keepdim=True)
        left = mask & ~_of_rows(self.deleted, mask, first_step)
        kept = weights.masked_fill(~left, 0)
        rest = kept.sum(dim=-1, keepdim=True)
        some = rest > 0
        # First the share, which is at most 1: total / rest would be infinite where hardly any weight is left.
        return torch.where(some, kept / torch.where(some, rest, 1) * total, spread_equally(total, left))


class HiddenKeys:
    """Some keys cannot be seen: the normaliser never meets their scores."""

    def __init__(self, hidden: Steps) -> None:
        self.hidden = hidden

    def __call__(self, weigh: Weigh, mask: Tensor, first_step: int) -> Tensor:
        return weigh(mask & ~_of_rows(self.hidden, mask, first_step))


def _of_rows(chosen: Steps, mask: Tensor, first_step: int) -> Bool[Tensor, "batch_heads query_len key_len"]:
    """The chosen keys of the steps that ask now, for every head."""
    steps = chosen[:, first_step : first_step + mask.shape[1]]
    return steps.repeat_interleave(len(mask) // len(chosen), dim=0)
