"""The whole network: normalise the window, encode its past, decode its horizon, restore the units."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from forecast_attn.nn.decoder import BahdanauDecoder, Feedback, LuongDecoder
from forecast_attn.nn.encoder import Encoder
from forecast_attn.nn.inputs import (
    Embeddings,
    InputProjection,
    LagFeatures,
    Patches,
    WindowTensors,
    last_observed,
    observed_only,
    position_features,
)
from forecast_attn.nn.precision import widened
from forecast_attn.nn.residual_paths import LinearPath, TemporalDecoder
from forecast_attn.nn.window_normalisation import WindowNormalisation, WindowScale


class ForecastOutput(NamedTuple):
    """Forecast on the series' scale, its attention weights where there are any, and the head's parameters."""

    prediction: Float[Tensor, "batch horizon"]
    """The point forecast; a drawn path where numbers to draw it with were given."""
    weights: Float[Tensor, "batch heads num_steps num_keys"] | None
    """Steps and keys are patches of time steps."""
    parameters: Float[Tensor, "batch horizon output_size"]
    """Parameters of the head: quantiles, or those of a distribution; the point forecast is among them."""


class ForecastNetwork(nn.Module):
    """Encoder-decoder over a window.

    The encoder reads, per lookback step: target, whether it was observed (where it may be missing), covariates, what is
    constant, position. The decoder knows, per horizon step: future covariates, what is constant, position. Constant are
    the static covariates and the level and scale that normalising the window took away. Categories are embedded and
    stand beside the covariates. Steps that were not observed have no attention weight.

    Several time steps may be one step of encoder and decoder, see `Patches`: it reads what is its own of each of them,
    then once what is constant, and its position among the patches.

    Optional parts: a step of the horizon also reads what was seen a lag before it (`LagFeatures`), steps enter the
    cells projected (`InputProjection`), and a perceptron per time step adds to what the head says (`TemporalDecoder`),
    or a linear map of the whole window (`LinearPath`).
    """

    past_position: Tensor
    future_position: Tensor

    def __init__(
        self,
        encoder: Encoder,
        decoder: BahdanauDecoder | LuongDecoder,
        normalisation: WindowNormalisation,
        embeddings: Embeddings,
        patches: Patches,
        *,
        lags: LagFeatures,
        lag_size: int,
        encoder_projection: InputProjection,
        decoder_projection: InputProjection,
        temporal_decoder: TemporalDecoder | None = None,
        linear_path: LinearPath | None = None,
    ) -> None:
        """
        Args:
            lag_size: how many of a lookback step's inputs are read at a lag and by the linear path: all but calendar
                and categories.
        """
        super().__init__()
        self.normalisation = normalisation
        self.embeddings = embeddings
        self.encoder = encoder
        self.decoder = decoder
        self.patches = patches
        self.lags = lags
        self.lag_size = lag_size
        self.encoder_projection = encoder_projection
        self.decoder_projection = decoder_projection
        self.temporal_decoder = temporal_decoder
        self.linear_path = linear_path
        past, future = position_features(patches.num_keys, patches.num_steps)
        self.register_buffer("past_position", past, persistent=False)
        self.register_buffer("future_position", future, persistent=False)

    def forward(
        self,
        window: WindowTensors,
        *,
        teacher_forcing: float | None = None,
        need_weights: bool = True,
        uniform: Float[Tensor, "batch horizon 2"] | None = None,
    ) -> ForecastOutput:
        """Forecast a batch of windows.

        Args:
            window: the batch; `future_target` is read under teacher forcing only.
            teacher_forcing: share of true previous values fed in training; None at prediction.
            need_weights: False lets the attention use a kernel that never has them.
            uniform: numbers between 0 and 1; with them every step's value is drawn, and feeds the next one.
        """
        observed = window.past_observed
        scale = self.normalisation(window.past_target, observed)
        past_target = observed_only(scale.normalise(window.past_target), observed)
        constant = torch.cat([self.embeddings.static(window), scale.features()], dim=-1)
        indicator = () if observed is None else (observed[..., None].to(past_target.dtype),)
        past = torch.cat([past_target[..., None], *indicator, self.embeddings.past(window)], dim=-1)
        encoder_inputs = _complete(self.patches.of_past(past), constant, self.past_position)
        encoded = self.encoder(self.encoder_projection(encoder_inputs))
        lagged = past[..., : self.lag_size]
        future = self.lags(self.embeddings.future(window), lagged)
        decoder_inputs = _complete(self.patches.of_future(future), constant, self.future_position)
        decoder_inputs = self.decoder_projection(decoder_inputs)
        feedback = self._feedback(last_observed(past_target, observed), scale, window, teacher_forcing)
        feedback = feedback._replace(uniform=uniform)
        mask = self.patches.observed(observed)
        decoded = self.decoder(encoded, decoder_inputs, feedback, mask=mask, need_weights=need_weights)
        head = self.decoder.head
        outputs = self._added(widened(self.patches.in_steps(decoded.outputs)), decoded.features, lagged, future)
        on_window = head.parameters_of(outputs)
        parameters = head.restore(on_window, scale.loc[..., None], scale.scale[..., None])
        prediction = head.point(parameters) if uniform is None else scale.restore(head.sample(on_window, uniform))
        return ForecastOutput(prediction, decoded.weights, parameters)

    def _added(
        self,
        outputs: Float[Tensor, "batch horizon output_size"],
        features: Float[Tensor, "batch num_steps feature_size"],
        past: Float[Tensor, "batch lookback lag_size"],
        future: Float[Tensor, "batch horizon known_size"],
    ) -> Float[Tensor, "batch horizon output_size"]:
        """The head's outputs plus those of the optional parts."""
        if self.temporal_decoder is not None:
            outputs = outputs + widened(self.temporal_decoder(features, future))
        if self.linear_path is not None:
            index = self.decoder.head.point_index
            forecast = widened(self.linear_path(past, future))[..., None]
            outputs = torch.cat(
                [outputs[..., :index], outputs[..., index : index + 1] + forecast, outputs[..., index + 1 :]], -1
            )
        return outputs

    def _feedback(
        self,
        last_value: Float[Tensor, "batch"],
        scale: WindowScale,
        window: WindowTensors,
        teacher_forcing: float | None,
    ) -> Feedback:
        if teacher_forcing is None or not self.decoder.autoregressive:
            return Feedback(last_value)
        truth = scale.normalise(window.future_target)
        if teacher_forcing >= 1 and window.past_observed is None and truth.device.type != "cpu":
            return Feedback(last_value, truth)  # known without reading the truth, which would wait for a GPU
        # Where the truth is missing the decoder goes on with its own value.
        use_truth: Bool[Tensor, "batch horizon"] = (torch.rand_like(truth) < teacher_forcing) & ~truth.isnan()
        return Feedback(last_value, truth.nan_to_num(), use_truth)


def _complete(
    varying: Float[Tensor, "batch length num_varying"],
    constant: Float[Tensor, "batch num_constant"],
    position: Float[Tensor, "length position_size"],
) -> Float[Tensor, "batch length size"]:
    """Each step's own inputs, what is constant over the window, and where the step lies."""
    batch, length, _ = varying.shape
    return torch.cat([varying, constant[:, None].expand(-1, length, -1), position.expand(batch, -1, -1)], dim=-1)
