"""Where a step lies relative to the cut-off, as sinusoids that an attention score can shift by a lag."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

NUM_WAVELENGTHS = 8
SHORTEST_WAVELENGTH = 4.0


def position_features(
    lookback: int, horizon: int
) -> tuple[Float[Tensor, "lookback size"], Float[Tensor, "horizon size"]]:
    """Sine and cosine of the time to the cut-off, at wavelengths from 4 steps to twice the window.

    Lookback steps lie at -(lookback - 1) … 0 and horizon steps at 1 … horizon, so a fixed lag between a step and
    the past step it needs is a rotation, which a bilinear or additive score can learn. The recurrent cells alone
    would have to count. (Vaswani et al. 2017, section 3.5, with relative positions and fewer wavelengths.)
    """
    longest = 2.0 * (lookback + horizon)
    wavelengths = torch.logspace(math.log10(SHORTEST_WAVELENGTH), math.log10(longest), NUM_WAVELENGTHS)
    steps = torch.arange(1 - lookback, horizon + 1, dtype=torch.float32)
    angles = 2 * math.pi * steps[:, None] / wavelengths
    features = torch.cat([angles.sin(), angles.cos()], dim=-1)
    return features[:lookback], features[lookback:]
