"""Batches smaller than `predict`'s whose forecasts have the same bits, for a server that forecasts one series at once.

A forecast's last bits depend on the order in which a matrix product adds up its terms. That order depends on the shapes
of the matrices and on the processor, never on the numbers. So a size is tried with random numbers on the machine that
uses it: where every bit of every output is that of a full batch, the order is the same.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from forecast_attn.data.panel import Panel
from forecast_attn.data.windows import Window
from forecast_attn.forecasting.inference import BATCH_SIZE, inference
from forecast_attn.forecasting.model import Model
from forecast_attn.nn.network import ForecastOutput

CANDIDATES = (8, 32)
"""Sizes worth a trial: up to 8 windows cost hardly more than one."""


def stable_sizes(model: Model, panel: Panel) -> tuple[int, ...]:
    """Sizes of batches that give the bits of a full one on this machine, ascending; the last one is the full size.

    Args:
        model: on the CPU.
        panel: some of its series, whose windows are replaced by random numbers.
    """
    arrays = model.schema.windows_of(panel)
    # The future need not be known: the last row stands in for it.
    arrays = replace(arrays, future_steps=torch.zeros_like(arrays.future_steps))
    rows = torch.full((BATCH_SIZE,), int(panel.ends[0]) - 1)
    with inference():
        window = _randomised(arrays.gather(rows))
        full = forecast_outputs(model, window)
        return (*(size for size in CANDIDATES if _agrees(model, window, full, size)), BATCH_SIZE)


def _randomised(window: Window) -> Window:
    """The window with random numbers in the place of all that are real."""
    generator = torch.Generator().manual_seed(0)
    parts = [
        torch.randn(part.shape, generator=generator) if isinstance(part, Tensor) and part.is_floating_point() else part
        for part in window
    ]
    return Window._make(parts)


def _agrees(model: Model, window: Window, full: list[ForecastOutput], size: int) -> bool:
    for first in range(0, BATCH_SIZE, size):
        rows = slice(first, first + size)
        for alone, together in zip(forecast_outputs(model, part_of(window, rows)), full, strict=True):
            for one, other in zip(alone, together, strict=True):
                if one is not None and other is not None and not torch.equal(one, other[rows]):
                    return False
    return True


def forecast_outputs(model: Model, window: Window) -> list[ForecastOutput]:
    """Output of every network for a batch as it is, with weights where there are any, as `predict` computes it."""
    with inference():
        return [network(window, need_weights=model.has_attention) for network in model.networks]


def forecast_padded(model: Model, window: Window, sizes: tuple[int, ...]) -> list[ForecastOutput]:
    """Output of every network for up to a full batch of windows, with the bits of `predict`.

    Args:
        model: on the CPU.
        window: (batch, …), at most the largest of the sizes.
        sizes: as `stable_sizes` found them.
    """
    num_windows = len(window.past_target)
    size = next(each for each in sizes if each >= num_windows)
    outputs = forecast_outputs(model, part_of(window, torch.arange(size).clamp(max=num_windows - 1)))
    return [part_of_output(output, slice(num_windows)) for output in outputs]


def joined(windows: list[Window]) -> Window:
    """Windows of the same model as one batch."""
    if len(windows) == 1:
        return windows[0]
    parts = [None if group[0] is None else torch.cat(group) for group in zip(*windows, strict=True)]
    return Window._make(parts)


def part_of(window: Window, rows: slice | Tensor) -> Window:
    """Some windows of a batch."""
    return Window._make(None if part is None else part[rows] for part in window)


def part_of_output(output: ForecastOutput, rows: slice) -> ForecastOutput:
    """The outputs of some windows."""
    weights = None if output.weights is None else output.weights[rows].float()
    return ForecastOutput(output.prediction[rows], weights, output.parameters[rows])
