"""The keys a query may see: all of them, or those near a centre that is predicted or given by the season."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from forecast_attn.errors import ConfigError, did_you_mean
from forecast_attn.nn.precision import full_precision, widened
from forecast_attn.nn.scores import Queries

KeyMask = Bool[Tensor, "batch key_len"]


class WindowView(NamedTuple):
    """The keys each query may see, and the factors that a window puts on its weights."""

    mask: Bool[Tensor, "#batch query_len key_len"]  # True inside the window
    gain: Float[Tensor, "batch query_len key_len"] | None  # multiplies the weights, after the normaliser


class AttentionWindow(nn.Module):
    """Restricts every query to `2 * radius + 1` neighbouring keys (Luong et al. 2015, §3.2)."""

    def __init__(self, radius: int) -> None:
        super().__init__()
        self.radius = radius

    def forward(self, query: Queries, key_mask: KeyMask, first_step: int) -> WindowView:
        """Place the window of each query.

        Args:
            query: the queries, of which the first is asked at decoder step `first_step` (0-based).
            key_mask: True where a key exists.
        """
        raise NotImplementedError

    def extra_repr(self) -> str:
        return f"radius={self.radius}"


class PredictiveWindow(AttentionWindow):
    """local-p: the query predicts its centre, and weights fall off around it (Luong et al. 2015, eq. 9 and 10).

    p_t = S · sigmoid(v_p · tanh(W_p h_t)), a gaussian of deviation D / 2 around p_t *after* the normaliser, and no
    renormalisation: rows sum to at most 1. What the paper leaves open is read as the authors' code has it: positions
    count from 0 and the window is floor(p_t) - D … floor(p_t) + D. S is the true length, from the first to the last key
    that exists; where the padding stands on the left, p_t counts from the first key that exists.
    """

    def __init__(self, query_size: int, radius: int) -> None:
        super().__init__(radius)
        self.projection = nn.Linear(query_size, query_size, bias=False)
        limit = 1 / math.sqrt(query_size)
        self.vector = nn.Parameter(torch.empty(query_size).uniform_(-limit, limit))

    def forward(self, query: Queries, key_mask: KeyMask, first_step: int) -> WindowView:
        centre = self._centre(query, key_mask)
        positions = torch.arange(key_mask.shape[-1], device=query.device)
        # The hard edge has no gradient: the centre learns through the gaussian alone.
        mask = (positions - centre.detach().floor()).abs() <= self.radius
        gain = torch.exp(-((positions - centre) ** 2) / (2 * (self.radius / 2) ** 2))
        return WindowView(mask, gain)

    def _centre(self, query: Tensor, key_mask: Tensor) -> Tensor:
        """p_t, shape (batch, query_len, 1)."""
        exists = key_mask.int()
        # argmax finds the first of equal values, here the first key that exists, and from the back the last one.
        first = exists.argmax(dim=-1)
        length = key_mask.shape[-1] - exists.flip(-1).argmax(dim=-1) - first
        hidden = widened(torch.tanh(self.projection(query)))
        with full_precision(hidden):  # eight bits of bfloat16 cannot tell the positions of a long lookback apart
            share = torch.sigmoid(hidden @ widened(self.vector))[:, :, None]
        return first[:, None, None] + length[:, None, None] * share


class SeasonalWindow(AttentionWindow):
    """local-m for forecasting: centred on the key a whole number of seasons before the step's target.

    Luong et al. (2015, §3.2) centre the window of target word t on source word t. A forecast's step t (0-based) has
    its target at position key_len + t; the nearest key of the same phase is at
    key_len + t - season * ceil((t + 1) / season) = key_len - season + t mod season.
    """

    def __init__(self, season: int, radius: int) -> None:
        super().__init__(radius)
        self.season = season

    def forward(self, query: Queries, key_mask: KeyMask, first_step: int) -> WindowView:
        key_len = key_mask.shape[-1]
        if self.season > key_len:
            raise ConfigError(
                f"local-m looks one season back and needs at least {self.season} keys; got {key_len}",
                f"use --lookback {self.season} or more, or --attention-window local-p",
            )
        steps = torch.arange(first_step, first_step + query.shape[1], device=query.device)
        centre = key_len - self.season + steps % self.season
        distance = torch.arange(key_len, device=query.device) - centre[:, None]
        return WindowView((distance.abs() <= self.radius)[None], None)

    def extra_repr(self) -> str:
        return f"season={self.season}, {super().extra_repr()}"


def make_window(name: str, *, query_size: int, radius: int, season: int) -> AttentionWindow | None:
    """Make a window by its name: `local-p`, `local-m`, or `global`, which is no restriction.

    Args:
        query_size: width of the queries.
        radius: half width D, in keys.
        season: steps after which the series repeats; local-m only.

    Raises:
        ConfigError: there is no window of that name.
    """
    match name:
        case "global":
            return None
        case "local-p":
            return PredictiveWindow(query_size, radius)
        case "local-m":
            return SeasonalWindow(season, radius)
    raise ConfigError(f"there is no attention window '{name}'", did_you_mean(name, ("global", "local-p", "local-m")))
