"""Other weights in an attention's place, and other inputs in an encoder's: for the length of a block.

Every `Reweigh` here keeps two rules: what may not be attended to never gets weight, and a row keeps the sum that its
weights had (1, but for local-p windows), so that only the distribution is experimented with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from forecast_attn.nn.attention import Attention, Reweigh, Weigh
from forecast_attn.nn.network import ForecastNetwork

Steps = Bool[Tensor, "batch num_steps num_keys"]


@contextmanager
def reweighing(attention: Attention, reweigh: Reweigh | None) -> Iterator[None]:
    """Let the attention use other weights inside the block."""
    before, attention.reweigh = attention.reweigh, reweigh
    try:
        yield
    finally:
        attention.reweigh = before


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


class Observed:
    """Changes nothing, and takes down which keys each step may attend to."""

    def __init__(self, heads: int) -> None:
        self.heads = heads
        self._visible: list[Tensor] = []

    def __call__(self, weigh: Weigh, mask: Tensor, first_step: int) -> Tensor:
        self._visible.append(mask[:: self.heads])  # the heads of a window see the same keys
        return weigh(mask)

    def visible(self) -> Steps:
        return torch.cat(self._visible, dim=1)


def uniform(weigh: Weigh, mask: Tensor, first_step: int) -> Tensor:
    """The same weight for every key that may be attended."""
    return _spread(weigh(mask).sum(dim=-1, keepdim=True), mask)


class Shuffled:
    """The weights of each row in random order among the keys that may be attended."""

    def __init__(self, generator: torch.Generator) -> None:
        self.generator = generator

    def __call__(self, weigh: Weigh, mask: Tensor, first_step: int) -> Tensor:
        weights = weigh(mask)
        # Drawn where the generator lives: the same order on every device.
        order = torch.rand(mask.shape, generator=self.generator).to(mask.device)
        taken = order.masked_fill(~mask, 2).argsort(dim=-1)  # visible keys first, in random order
        given = mask.to(torch.uint8).argsort(dim=-1, descending=True, stable=True)  # visible keys first, as they stand
        return torch.zeros_like(weights).scatter(-1, given, weights.gather(-1, taken))


class Without:
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
        return torch.where(some, kept / torch.where(some, rest, 1) * total, _spread(total, left))


class Hidden:
    """Some keys cannot be seen: the normaliser never meets their scores."""

    def __init__(self, hidden: Steps) -> None:
        self.hidden = hidden

    def __call__(self, weigh: Weigh, mask: Tensor, first_step: int) -> Tensor:
        return weigh(mask & ~_of_rows(self.hidden, mask, first_step))


def _of_rows(chosen: Steps, mask: Tensor, first_step: int) -> Bool[Tensor, "batch_heads query_len key_len"]:
    """The chosen keys of the steps that ask now, for every head."""
    steps = chosen[:, first_step : first_step + mask.shape[1]]
    return steps.repeat_interleave(len(mask) // len(chosen), dim=0)


def _spread(
    total: Float[Tensor, "batch_heads query_len 1"], mask: Bool[Tensor, "batch_heads query_len key_len"]
) -> Float[Tensor, "batch_heads query_len key_len"]:
    """`total` in equal parts over the keys of the mask; zeros where there are none."""
    return total * mask / mask.sum(dim=-1, keepdim=True).clamp(min=1)
