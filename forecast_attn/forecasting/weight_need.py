"""Does a forecast need its attention weights? The quick form of the audit, made of every training that has attention.

Some validation windows are forecast once more with equal weights, and some times with the model's own in random order
(Wiegreffe and Pinter 2019; Jain and Wallace 2019). `forecast audit` has the whole of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from torch import Tensor

from forecast_attn.data.split import spread_evenly
from forecast_attn.forecasting.inference import forecast_windows
from forecast_attn.forecasting.model import Model
from forecast_attn.nn.attention import Attention, Reweigh, Weigh

if TYPE_CHECKING:
    from forecast_attn.data.panel import Panel
    from forecast_attn.data.windows import WindowArrays

WINDOWS = 64
RANDOM_ORDERS = 5
SHARE_THAT_MATTERS = 0.05
"""Share of the MAE that the right weights must be worth: below, a forecast hardly needs them."""
MATTERS_IN_UNITS = 0.01
"""Share of seasonal-naive's MAE that they must be worth too: of a tiny error a share is nothing anyone would notice."""


def weight_need(
    model: Model,
    panel: Panel,
    cutoffs: NDArray[np.int64],
    actual: NDArray[np.float64],
    naive_mae: float | None,
    arrays: WindowArrays,
) -> dict[str, Any]:
    """MAE of some windows with the model's own weights, with equal ones, and with its own in random order.

    Args:
        model: a network with attention.
        panel: with the windows.
        cutoffs: rows of their last known values, (num_windows,); at most `WINDOWS` of them are taken, evenly.
        actual: actual values, NaN where it was not observed, (num_windows, horizon).
        naive_mae: of the seasonal-naive forecast; None where nothing was observed.
        arrays: the windows, on the device to compute on.

    Returns:
        windows, mae, mae_equal, mae_random (the smallest of them), and needed: whether the forecast needs its weights.
    """
    chosen = spread_evenly(np.arange(len(cutoffs)), WINDOWS)
    observed, attention = ~np.isnan(actual[chosen]), model.network.decoder.attention
    assert attention is not None

    def mae(reweigh: Reweigh | None) -> float:
        with reweighing(attention, reweigh):
            batches = forecast_windows(model.uncalibrated, panel, cutoffs[chosen], arrays, need_weights=False)
            forecast = np.concatenate([batch.prediction for batch in batches])
        return float(np.abs(forecast - actual[chosen])[observed].mean()) if observed.any() else 0.0

    generator = torch.Generator().manual_seed(0)
    learnt, equal = mae(None), mae(uniform)
    random = min(mae(Shuffled(generator)) for _ in range(RANDOM_ORDERS))
    matters = equal - learnt >= max(SHARE_THAT_MATTERS * learnt, MATTERS_IN_UNITS * (naive_mae or 0)) and equal > learnt
    return {
        "windows": len(chosen),
        "mae": learnt,
        "mae_equal": equal,
        "mae_random": random,
        "needed": bool(matters and learnt < random),
    }


@contextmanager
def reweighing(attention: Attention, reweigh: Reweigh | None) -> Iterator[None]:
    """Let the attention use other weights inside the block."""
    before, attention.reweigh = attention.reweigh, reweigh
    try:
        yield
    finally:
        attention.reweigh = before


def uniform(weigh: Weigh, mask: Tensor, first_step: int) -> Tensor:
    """The same weight for every key that may be attended."""
    return spread_equally(weigh(mask).sum(dim=-1, keepdim=True), mask)


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


def spread_equally(
    total: Float[Tensor, "batch_heads query_len 1"], mask: Bool[Tensor, "batch_heads query_len key_len"]
) -> Float[Tensor, "batch_heads query_len key_len"]:
    """`total` in equal parts over the keys of the mask; zeros where there are none."""
    return total * mask / mask.sum(dim=-1, keepdim=True).clamp(min=1)
