"""The sparse form of weights: the largest of each row with their lags, and what the others add up to."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.errors import ConfigError

Weights = NDArray[np.floating[Any]]


class LargestWeights(NamedTuple):
    """The kept weights of each row, largest first."""

    lags: NDArray[np.int32]
    """(..., top)"""
    weights: NDArray[np.float32]
    """(..., top)"""
    remaining: NDArray[np.float32]
    """(...) the sum of the weights that were left out."""


def largest_weights(weights: Weights, top: int) -> LargestWeights:
    """Keep the `top` largest weights of rows (..., num_keys), oldest position first."""
    lookback = weights.shape[-1]
    places = np.argpartition(weights, lookback - top, axis=-1)[..., lookback - top :]
    kept = np.take_along_axis(weights, places, axis=-1)
    # Of equal weights the more recent first, so that the same weights always give the same rows.
    order = np.lexsort((-places, -kept), axis=-1)
    places, kept = np.take_along_axis(places, order, axis=-1), np.take_along_axis(kept, order, axis=-1)
    remaining = weights.sum(axis=-1, dtype=np.float64) - kept.sum(axis=-1, dtype=np.float64)
    if top == lookback:
        remaining = np.zeros_like(remaining)
    return LargestWeights(
        (lookback - 1 - places).astype(np.int32), kept.astype(np.float32), np.maximum(remaining, 0).astype(np.float32)
    )


def spread_out(lags: NDArray[np.integer[Any]], weights: Weights, lookback: int) -> NDArray[np.float32]:
    """(..., lookback) the kept weights at their positions, oldest first, and zeros between them."""
    dense = np.zeros((*weights.shape[:-1], lookback), np.float32)
    np.put_along_axis(dense, lookback - 1 - lags.astype(np.int64), weights, axis=-1)
    return dense


def check_top(top: int | None, lookback: int, patch_length: int = 1) -> None:
    """Refuse to keep more weights than there are.

    Raises:
        ConfigError: `--attention-top` is larger than the lookback.
    """
    num_keys = lookback // patch_length
    if top is not None and top > num_keys:
        keys = f"the {num_keys} {'' if patch_length == 1 else 'patches '}of the lookback"
        raise ConfigError(
            f"--attention-top {top} keeps more weights than {keys}",
            "leave it out to keep them all",
        )
