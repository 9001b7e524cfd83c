"""The whole network: normalise the window, encode its past, decode its horizon, restore the units."""

from typing import NamedTuple, Protocol

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from forecast_attn.nn.decoder import BahdanauDecoder, Feedback, LuongDecoder
from forecast_attn.nn.encoder import Encoder
from forecast_attn.nn.position import position_features
from forecast_attn.nn.window_normalisation import WindowNormalisation, WindowScale


class WindowTensors(Protocol):
    """The named tensors of a batch of windows, all on the scale of their series."""

    @property
    def past_target(self) -> Float[Tensor, "batch lookback"]: ...
    @property
    def past_covariates(self) -> Float[Tensor, "batch lookback num_past_inputs"]: ...
    @property
    def future_covariates(self) -> Float[Tensor, "batch horizon num_future_inputs"]: ...
    @property
    def static_covariates(self) -> Float[Tensor, "batch num_static"]: ...
    @property
    def future_target(self) -> Float[Tensor, "batch horizon"]: ...


class ForecastOutput(NamedTuple):
    """Forecast on the series' scale, and the attention weights behind it where there are any."""

    prediction: Float[Tensor, "batch horizon"]
    weights: Float[Tensor, "batch heads horizon lookback"] | None


class ForecastNetwork(nn.Module):
    """Encoder-decoder over a window.

    The encoder reads, per lookback step: target, covariates, static covariates, position. The decoder knows, per
    horizon step: future covariates, static covariates, position.
    """

    past_position: Tensor
    future_position: Tensor

    def __init__(
        self,
        encoder: Encoder,
        decoder: BahdanauDecoder | LuongDecoder,
        normalisation: WindowNormalisation,
        *,
        lookback: int,
        horizon: int,
    ) -> None:
        super().__init__()
        self.normalisation = normalisation
        self.encoder = encoder
        self.decoder = decoder
        past, future = position_features(lookback, horizon)
        self.register_buffer("past_position", past, persistent=False)
        self.register_buffer("future_position", future, persistent=False)

    def forward(
        self,
        window: WindowTensors,
        *,
        teacher_forcing: float | None = None,
        need_weights: bool = True,
    ) -> ForecastOutput:
        """Forecast a batch of windows.

        Args:
            window: the batch; `future_target` is read under teacher forcing only.
            teacher_forcing: share of true previous values fed in training; None at prediction.
            need_weights: False lets the attention use a kernel that never has them.
        """
        scale = self.normalisation(window.past_target)
        past_target = scale.normalise(window.past_target)
        encoded = self.encoder(self._past_inputs(past_target, window))
        feedback = self._feedback(past_target, scale, window, teacher_forcing)
        decoded = self.decoder(encoded, self._known_inputs(window), feedback, need_weights=need_weights)
        prediction = self.decoder.head.point(decoded.outputs)
        return ForecastOutput(scale.restore(prediction.float()), decoded.weights)

    def _past_inputs(
        self, past_target: Float[Tensor, "batch lookback"], window: WindowTensors
    ) -> Float[Tensor, "batch lookback input_size"]:
        static = _along_time(window.static_covariates, past_target.shape[1])
        position = self.past_position.expand(past_target.shape[0], -1, -1)
        return torch.cat([past_target[..., None], window.past_covariates, static, position], dim=-1)

    def _known_inputs(self, window: WindowTensors) -> Float[Tensor, "batch horizon known_size"]:
        known = window.future_covariates
        static = _along_time(window.static_covariates, known.shape[1])
        position = self.future_position.expand(known.shape[0], -1, -1)
        return torch.cat([known, static, position], dim=-1)

    def _feedback(
        self,
        past_target: Float[Tensor, "batch lookback"],
        scale: WindowScale,
        window: WindowTensors,
        teacher_forcing: float | None,
    ) -> Feedback:
        if teacher_forcing is None or not self.decoder.autoregressive:
            return Feedback(past_target[:, -1])
        truth = scale.normalise(window.future_target)
        use_truth: Bool[Tensor, "batch horizon"] = torch.rand_like(truth) < teacher_forcing
        return Feedback(past_target[:, -1], truth, use_truth)


def _along_time(static: Float[Tensor, "batch num_static"], length: int) -> Float[Tensor, "batch length num_static"]:
    return static[:, None].expand(-1, length, -1)
