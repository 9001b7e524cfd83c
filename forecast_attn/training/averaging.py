"""The average of the weights along training: steps go back and forth around what they average to."""

from __future__ import annotations

import copy

import torch
from torch import Tensor

from forecast_attn.nn.network import ForecastNetwork

WARMUP_STEPS = 10
"""Warm-up of the decay: see `decay_at`."""


class WeightAverage(torch.nn.Module):
    """An exponential moving average of a network's weights, as a network of its own.

    average ← d · average + (1 - d) · weights after every step, with d of `decay_at`. (Polyak and Juditsky 1992,
    "Acceleration of stochastic approximation by averaging"; exponential, of deep networks: Morales-Brogueira et al.
    2024, "Exponential moving average of weights in deep learning: dynamics and benefits".)

    A module, so that it moves to the network's device and lies in a checkpoint with it; its weights want no gradient,
    so that neither optimiser nor several devices take them for trained ones.
    """

    def __init__(self, network: ForecastNetwork, decay: float) -> None:
        """Begin with the network's own weights.

        Args:
            network: as it is before the first step.
            decay: the highest, from 0 to below 1.
        """
        super().__init__()
        self.network = copy.deepcopy(network).requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, network: ForecastNetwork, step: int) -> None:
        """Take in the weights after a step; on a GPU nothing waits for it.

        Args:
            network: the one that is trained.
            step: how many steps it has made, at least 1.
        """
        averaged: list[Tensor] = list(self.network.parameters())
        weights: list[Tensor] = list(network.parameters())
        torch._foreach_lerp_(averaged, weights, 1 - decay_at(step, self.decay))
        for buffer, current in zip(self.network.buffers(), network.buffers(), strict=True):
            buffer.copy_(current)


def decay_at(step: int, highest: float) -> float:
    """The decay after a number of steps: min(highest, (1 + step) / (10 + step)).

    It grows with the steps, so that early on the first weights, which are random, are soon forgotten: the average then
    reaches back over a tenth of the steps so far. (`num_updates` of TensorFlow's ExponentialMovingAverage.)
    """
    return min(highest, (1 + step) / (WARMUP_STEPS + step))
