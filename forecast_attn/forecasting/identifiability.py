"""Identifiability: do other attention weights give the same context vectors? The rank of the weighted values decides.

A context vector is Σ a_j v_j. With more lags than rank [V, 1], other weights, which also add up to 1, give the very
same context vector, and so the same forecast (Brunner et al. 2020, "On identifiability in transformers", section 3).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor

    from forecast_attn.attention_file import AttentionDump
    from forecast_attn.data.windows import WindowArrays
    from forecast_attn.forecasting.model import Model
    from forecast_attn.nn.attention import Memory
    from forecast_attn.runs.run_dir import RunDir


RANK_WINDOWS = 4
"""Windows whose rank is computed for an attention file: the rank hardly varies between them."""


def value_rank(model: Model, arrays: WindowArrays, cutoffs: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rank of the values of each window, as `numpy.linalg.matrix_rank` counts it in float32.

    Args:
        model: with attention.
        arrays: the windows' rows, on the network's device.
        cutoffs: rows of the last known values, (num_windows,).

    Returns:
        (num_windows, heads); masked steps count as absent.

    Raises:
        ValueError: the model has no attention.
    """
    import torch

    values = attention_values(model, arrays, cutoffs)
    return np.asarray(torch.linalg.matrix_rank(values.cpu()).numpy(), np.int64)


def rank_of_run(run: RunDir) -> int | None:
    """The highest rank at the ends of a few of a run's series, for attention files that do not say it.

    None where the run has no attention, or that of an ensemble, whose averaged weights weigh no values of their own.

    Raises:
        RunError: the run is damaged.
    """
    import torch

    from forecast_attn.forecasting.history import read_history
    from forecast_attn.forecasting.inference import load_model

    model = load_model(run)
    if not model.has_attention or model.is_ensemble:
        return None
    panel = read_history(model, run, None, run.tail.name).panel
    arrays = model.schema.windows_of(panel)
    # The rank is that of the lookback alone: the last row stands in for a future that may not be known.
    arrays = replace(arrays, future_steps=torch.zeros_like(arrays.future_steps))
    return int(value_rank(model, arrays, panel.ends[:RANK_WINDOWS] - 1).max())


def with_rank(dump: AttentionDump, run: RunDir | None) -> AttentionDump:
    """The file with its rank: from its metadata, else computed from the run it belongs to, else None."""
    if dump.metadata.value_rank is not None or run is None:
        return dump
    try:
        rank = rank_of_run(run)
    except UserError:
        return dump  # the weights can be shown without the network; a warning says that the rank is unknown
    return replace(dump, metadata=replace(dump.metadata, value_rank=rank))


def attention_values(model: Model, arrays: WindowArrays, cutoffs: NDArray[np.int64]) -> Tensor:
    """Values that the weights of some windows multiply: (num_windows, heads, num_keys, size), zeros at masked keys."""
    import torch

    attention = model.network.decoder.attention
    if attention is None:
        raise ValueError("a network without attention weighs nothing")
    with recorded_memory(attention) as memories, torch.inference_mode():
        model.network(arrays.gather(torch.from_numpy(cutoffs).to(arrays.target.device)))
    (memory,) = memories
    values: Tensor = memory.value.float()
    return values.view(len(cutoffs), attention.score.heads, *values.shape[1:])


@contextlib.contextmanager
def recorded_memory(attention: Any) -> Iterator[list[Memory]]:
    """Record the prepared memory of an attention: its values are zeroed where masked, and projected for heads."""
    prepare = attention.prepare
    memories: list[Memory] = []

    def listen(*inputs: Any, **options: Any) -> Memory:
        memories.append(prepare(*inputs, **options))
        return memories[-1]

    attention.prepare = listen
    try:
        yield memories
    finally:
        del attention.prepare  # the method of its class shows again


def is_identifiable(num_keys: int, rank: int) -> bool:
    """Return whether weights over that many keys can be unique: keys up to the rank, and one for their sum."""
    return num_keys <= rank + 1
