"""Lag features: what was seen a season, two seasons, a week before a step of the horizon is an input of that step."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from forecast_attn.errors import ConfigError


def lag_positions(lookback: int, horizon: int, lags: tuple[int, ...]) -> Int64[Tensor, "horizon num_lags"]:
    """Which step of the lookback (0-based) lies the lag before each step of the horizon.

    Where that step is not known yet, it is the one twice the lag before, and so on: as a seasonal-naive forecast
    repeats its last season.

    Raises:
        ConfigError: a lag reaches behind the lookback.
    """
    for lag in lags:
        if lag > lookback:
            raise ConfigError(
                f"--lags {lag} reaches behind the lookback of {lookback} steps", f"--lookback {lag}, or shorter lags"
            )
    steps, back = torch.arange(1, horizon + 1)[:, None], torch.tensor(lags, dtype=torch.long)
    before = -(-steps // back) * back if lags else back.expand(horizon, 0)
    return lookback - 1 + steps - before if lags else before


class LagFeatures(nn.Module):
    """Values of the lookback as inputs of the horizon.

    The attention has to find out which past step resembles one to be forecast; of some of them it is known beforehand.
    (As the lag features of GluonTS's DeepAR: Alexandrov et al. 2020, "GluonTS", JMLR 21.)
    """

    positions: Tensor

    def __init__(self, lookback: int, horizon: int, lags: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.lags = lags
        self.register_buffer("positions", lag_positions(lookback, horizon, lags), persistent=False)

    def forward(
        self, known: Float[Tensor, "batch horizon known_size"], past: Float[Tensor, "batch lookback size"]
    ) -> Float[Tensor, "batch horizon size_with_lags"]:
        """What is known of each step, and behind it what is read of the steps a lag before.

        Args:
            known: of the horizon.
            past: of the lookback, 0 where not observed.
        """
        if not self.lags:
            return known
        return torch.cat([known, past[:, self.positions].flatten(2)], dim=-1)
