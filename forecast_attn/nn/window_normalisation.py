"""Location and scale of one window's past; the network sees the shape of a window without its level."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from forecast_attn.nn.inputs import Observed, observed_deviation, observed_mean

NUM_SCALE_FEATURES = 2
SMALLEST_SCALE = 0.01  # in units of the series' own deviation: a flat window must not blow up its noise


class WindowScale(NamedTuple):
    """Statistics of each window's past target; returned, never stored."""

    loc: Float[Tensor, "batch 1"]
    scale: Float[Tensor, "batch 1"]

    def normalise(self, values: Float[Tensor, "batch length"]) -> Float[Tensor, "batch length"]:
        return (values - self.loc) / self.scale

    def features(self) -> Float[Tensor, "batch 2"]:
        """Level and logarithm of the scale that normalising removed, as inputs of the network.

        Without them a network cannot carry a covariate's own level over to the target.
        """
        return torch.cat([self.loc, self.scale.log()], dim=1)

    def restore(self, values: Float[Tensor, "batch length"]) -> Float[Tensor, "batch length"]:
        return values * self.scale + self.loc


class WindowNormalisation(nn.Module):
    """Location and scale by a name.

    `standard`: mean and deviation of the lookback. `last-season`: mean of the last season, deviation of the lookback.
    `none`: 0 and 1. (Reversible instance normalisation without learned parameters, Kim et al. 2022.) `mean`: 0, and the
    mean size of the lookback and one further step of size 1, so that a lookback of zeros has a scale too (Salinas et
    al. 2020, "DeepAR", adds 1).
    """

    def __init__(self, kind: str, season: int) -> None:
        super().__init__()
        self.kind = kind
        self.season = season

    def forward(self, past_target: Float[Tensor, "batch lookback"], observed: Observed = None) -> WindowScale:
        """The statistics of the observed steps. A last season without any has the level of the lookback."""
        if self.kind == "none":
            zeros = past_target.new_zeros(past_target.shape[0], 1)
            return WindowScale(zeros, zeros + 1)
        if self.kind == "mean":
            zeros = past_target.new_zeros(past_target.shape[0], 1)
            return WindowScale(zeros, _mean_size(past_target, observed))
        scale = observed_deviation(past_target, observed).clamp(min=SMALLEST_SCALE)
        return WindowScale(self._level(past_target, observed), scale)

    def _level(self, past_target: Float[Tensor, "batch lookback"], observed: Observed) -> Float[Tensor, "batch 1"]:
        if self.kind != "last-season":
            return observed_mean(past_target, observed)
        recent = past_target[:, -self.season :]
        if observed is None:
            return observed_mean(recent, None)
        seen = observed[:, -self.season :]
        whole = observed_mean(past_target, observed)
        return torch.where(seen.any(dim=1, keepdim=True), observed_mean(recent, seen), whole)


def _mean_size(values: Float[Tensor, "batch lookback"], observed: Observed) -> Float[Tensor, "batch 1"]:
    """Mean absolute value of the observed steps and of one further step of size 1."""
    if observed is None:
        return (values.abs().sum(dim=1, keepdim=True) + 1) / (values.shape[1] + 1)
    sizes = torch.where(observed, values.abs(), 0)
    return (sizes.sum(dim=1, keepdim=True) + 1) / (observed.sum(dim=1, keepdim=True) + 1)
