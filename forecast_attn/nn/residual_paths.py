"""Paths beside the decoder whose outputs are added to the forecast: a perceptron per time step, and a linear map."""

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import gelu


class TemporalDecoder(nn.Module):
    """A perceptron of two hidden layers per time step, whose output is added to the head's.

    It reads the known covariates of the step beside the decoder's output of the step, or of the patch it lies in; the
    same perceptron for every step of a patch, with its position in the patch as an input. Its output begins at zero.
    (The temporal decoder of Das et al. 2023, "Long-term forecasting with TiDE: time-series dense encoder"; there it is
    the head itself, with one hidden layer.)

    Args:
        feature_size: features of a decoder step, of a time step or a patch.
        known_size: known inputs of a time step.
        size: of the hidden layers.
        output_size: outputs per time step.
        patch_length: time steps of a decoder step.
        dropout: of the first hidden layer.
    """

    def __init__(
        self,
        feature_size: int,
        known_size: int,
        size: int,
        *,
        output_size: int = 1,
        patch_length: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.of_patch = nn.Linear(feature_size, size)
        self.of_step = nn.Linear(known_size, size, bias=False) if known_size else None
        # The position of each time step in its patch; weight files know it by this name.
        self.place = nn.Parameter(torch.zeros(patch_length, size))
        self.hidden = nn.Linear(size, size)
        self.output = nn.Linear(size, output_size)
        self.dropout = nn.Dropout(dropout)
        nn.init.zeros_(self.output.weight)
        nn.init.zeros_(self.output.bias)

    def forward(
        self, features: Float[Tensor, "batch num_steps feature_size"], known: Float[Tensor, "batch horizon known_size"]
    ) -> Float[Tensor, "batch horizon output_size"]:
        of_patches = self.of_patch(self.dropout(features))[:, :, None] + self.place
        of_steps = of_patches.flatten(1, 2)[:, : known.shape[1]]
        if self.of_step is not None:
            of_steps = of_steps + self.of_step(known)
        outputs: Tensor = self.output(gelu(self.hidden(self.dropout(gelu(of_steps)))))
        return outputs


# --------------------------------------------------------------------------- linear path
# A linear forecast beside the recurrent one.


class LinearPath(nn.Module):
    """One linear map from everything seen in a window, and known of its horizon, to all steps of the forecast.

    Prices and loads follow much of their past linearly, each hour all other hours of yesterday; the recurrent part is
    then left with the rest. Begins at zero. (The autoregressive component of Lai et al. 2018, "Modeling long- and
    short-term temporal patterns with deep neural networks", with covariates; the regression of Lago et al. 2021.)

    Args:
        past_size: inputs of a step of the lookback.
        known_size: known inputs of a step of the horizon.
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
