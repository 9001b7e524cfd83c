"""A linear forecast beside the recurrent one."""

import torch
from jaxtyping import Float
from torch import Tensor, nn


class LinearPath(nn.Module):
    """One linear map from everything seen in a window, and known of its horizon, to all steps of the forecast.

    Prices and loads follow much of their past linearly, each hour all other hours of yesterday; the recurrent part is
    then left with the rest. Begins at zero. (The autoregressive component of Lai et al. 2018, "Modeling long- and
    short-term temporal patterns with deep neural networks", with covariates; the regression of Lago et al. 2021.)

    Args:
        past_size: numbers that are seen of a step of the lookback.
        known_size: numbers that are known of a step of the horizon.
    """

    def __init__(self, lookback: int, past_size: int, horizon: int, known_size: int) -> None:
        super().__init__()
        self.linear = nn.Linear(lookback * past_size + horizon * known_size, horizon)
        nn.init.zeros_(self.linear.weight)
        nn.init.zeros_(self.linear.bias)

    def forward(
        self, past: Float[Tensor, "batch lookback past_size"], known: Float[Tensor, "batch horizon known_size"]
    ) -> Float[Tensor, "batch horizon"]:
        forecast: Tensor = self.linear(torch.cat([past.flatten(1), known.flatten(1)], dim=-1))
        return forecast
