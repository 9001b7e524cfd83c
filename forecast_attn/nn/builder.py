"""The one place where a ModelConfig becomes a network. Every other file of nn/ knows plain sizes only."""

import functools
from dataclasses import dataclass
from typing import Any

from forecast_attn.config.defaults import Shape, shape_of
from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.options import ModelConfig
from forecast_attn.errors import ConfigError
from forecast_attn.nn.attention import Attention
from forecast_attn.nn.attention_window import make_window
from forecast_attn.nn.decoder import BahdanauDecoder, DecoderSizes, LuongDecoder
from forecast_attn.nn.encoder import Encoder
from forecast_attn.nn.heads import (
    GaussianHead,
    MakeHead,
    NegativeBinomialHead,
    PointHead,
    QuantileHead,
    StudentTHead,
    TweedieHead,
)
from forecast_attn.nn.inputs import NUM_WAVELENGTHS, Embeddings, InputProjection, LagFeatures, Patches
from forecast_attn.nn.network import ForecastNetwork
from forecast_attn.nn.residual_paths import LinearPath, TemporalDecoder
from forecast_attn.nn.scores import make_score
from forecast_attn.nn.window_normalisation import NUM_SCALE_FEATURES, WindowNormalisation

SCORES_WITH_SIZE = ("additive", "additive-normed", "concat", "scaled-dot", "multi-head")


ATTENTION_SIZE = 128
"""Width of additive and projected scores where the user names none. At half of it the weights of `bahdanau` stayed
blurred on planted lags (0.6 of the weight on the lag instead of 0.99): a wide score grows sharp in fewer steps."""


@dataclass(frozen=True)
class WindowSizes:
    """Sizes of the network's inputs, as the data gives them."""

    lookback: int
    horizon: int
    season: int
    num_past_inputs: int
    num_future_inputs: int
    num_static: int
    num_calendar: int = 0
    """Number of calendar features among the past inputs; they are the last ones."""
    may_have_holes: bool = False
    """True when steps of the lookback may be unobserved; the encoder then gets an indicator of them."""
    past_codes: tuple[int, ...] = ()
    """Codes of each categorical past covariate, the unknown one included."""
    future_codes: tuple[int, ...] = ()
    static_codes: tuple[int, ...] = ()


def build_network(model: ModelConfig, sizes: WindowSizes) -> ForecastNetwork:
    """Build the network, with PyTorch's random initial weights.

    Raises:
        ConfigError: options that contradict each other, such as luong-dot with unequal sizes, or a lookback that is not
            made up of patches.
    """
    shape = shape_of(model, lookback=sizes.lookback, horizon=sizes.horizon, season=sizes.season)
    _check(model, shape)
    patches = Patches(sizes.lookback, sizes.horizon, shape.patch_length)
    embeddings = Embeddings(sizes.past_codes, sizes.future_codes, sizes.static_codes)
    shared_size = sizes.num_static + embeddings.static_size + NUM_SCALE_FEATURES + 2 * NUM_WAVELENGTHS
    of_step = 1 + int(sizes.may_have_holes) + sizes.num_past_inputs
    lag_size = of_step - sizes.num_calendar
    future_size = sizes.num_future_inputs + embeddings.future_size + len(shape.lags) * lag_size
    encoder_projection, decoder_projection = (
        InputProjection(patches.length * size + shared_size, shape.projection_size, model.dropout)
        for size in (of_step + embeddings.past_size, future_size)
    )
    encoder = Encoder(
        encoder_projection.size,
        shape.hidden_size,
        cell=model.cell,
        num_layers=model.num_layers,
        bidirectional=shape.bidirectional,
        dropout=model.dropout,
        skip=model.skip and model.attention != "none",  # nothing else reads the outputs that it is added to
    )
    decoder_sizes = DecoderSizes(
        input_size=decoder_projection.size + int(_is_autoregressive(model)),
        memory_size=encoder.memory_size,
        decoder_size=model.decoder_size or encoder.memory_size,
        num_layers=model.num_layers,
    )
    decoder = _build_decoder(model, shape, decoder_sizes, _build_attention(model, decoder_sizes, patches, sizes.season))
    return ForecastNetwork(
        encoder,
        decoder,
        WindowNormalisation(model.window_normalisation, sizes.season),
        embeddings,
        patches,
        lags=LagFeatures(sizes.lookback, sizes.horizon, shape.lags),
        lag_size=lag_size,
        encoder_projection=encoder_projection,
        decoder_projection=decoder_projection,
        temporal_decoder=_build_temporal_decoder(shape, decoder, future_size, model.dropout),
        linear_path=LinearPath(sizes.lookback, lag_size, sizes.horizon, future_size) if model.linear_path else None,
    )


def _build_temporal_decoder(
    shape: Shape, decoder: BahdanauDecoder | LuongDecoder, known_size: int, dropout: float
) -> TemporalDecoder | None:
    if not shape.temporal_decoder_size:
        return None
    return TemporalDecoder(
        decoder.feature_size,
        known_size,
        shape.temporal_decoder_size,
        output_size=decoder.head.output_size,
        patch_length=shape.patch_length,
        dropout=dropout,
    )


def _build_attention(model: ModelConfig, decoder: DecoderSizes, patches: Patches, season: int) -> Attention | None:
    if model.attention == "none":
        return None
    score = make_score(
        ATTENTIONS[model.attention].score,
        query_size=decoder.decoder_size,
        key_size=decoder.memory_size,
        attention_size=model.attention_size or ATTENTION_SIZE,
        heads=model.heads,
        key_length=patches.num_keys,
    )
    if model.attention_window == "local-m":
        _check_season(season, patches)
    local = make_window(
        model.attention_window,
        query_size=decoder.decoder_size,
        radius=model.window_radius,
        season=max(season // patches.length, 1),
    )
    return Attention(score, normaliser=model.normaliser, window=local)


def _check_season(season: int, patches: Patches) -> None:
    """local-m counts whole seasons in keys."""
    if season > patches.lookback:
        raise ConfigError(
            f"local-m looks one season ({season} steps) back; the lookback is {patches.lookback}",
            f"--lookback {season}, or --attention-window local-p",
        )
    if season % patches.length:
        raise ConfigError(
            f"local-m looks whole seasons back; a season of {season} steps is not a whole number of patches of "
            f"{patches.length}",
            "leave --patch-length out, or take --attention-window local-p",
        )


def _build_decoder(
    model: ModelConfig, shape: Shape, sizes: DecoderSizes, attention: Attention | None
) -> BahdanauDecoder | LuongDecoder:
    options: dict[str, Any] = {
        "cell": model.cell,
        "dropout": model.dropout,
        "autoregressive": _is_autoregressive(model),
        "make_head": _head_maker(model, shape.patch_length),
    }
    if attention is not None and model.order == "bahdanau":
        return BahdanauDecoder(sizes, attention, **options)
    return LuongDecoder(sizes, attention, **options, input_feeding=model.input_feeding)


def _head_maker(model: ModelConfig, patch_length: int) -> MakeHead:
    if model.head == "quantile":
        return functools.partial(QuantileHead, model.forecast_quantiles, patch_length=patch_length)
    kinds = {head.kind: head for head in (PointHead, GaussianHead, StudentTHead, NegativeBinomialHead, TweedieHead)}
    return functools.partial(kinds[model.head], patch_length=patch_length)


def _is_autoregressive(model: ModelConfig) -> bool:
    return model.decoding == "autoregressive"


def _check(model: ModelConfig, shape: Shape) -> None:
    """Refuse combinations that would be accepted and ignored."""
    order = model.order
    if model.input_feeding and order == "bahdanau":
        raise ConfigError(
            "--input-feeding belongs to the luong order: the bahdanau order feeds the context vector itself",
            "leave --input-feeding out, or choose --attention-order luong",
        )
    if shape.patch_length > 1 and _is_autoregressive(model):
        raise ConfigError(
            "--decoding autoregressive feeds every step the one before it; the steps of a patch are forecast at once",
            "leave --patch-length out, or take --decoding direct",
        )
    for flag, given in (("temporal-decoder-size", shape.temporal_decoder_size), ("linear-path", model.linear_path)):
        if given and _is_autoregressive(model):
            raise ConfigError(
                f"--{flag} adds to forecasts that are made; --decoding autoregressive feeds each of them on",
                f"leave --{flag} out, or take --decoding direct",
            )
    if model.attention == "none":
        _check_without_attention(model)
    defaults = ModelConfig()
    if model.attention != "multi-head" and model.heads != defaults.heads:
        raise ConfigError(
            f"--heads is for multi-head attention; {model.attention} has one head", "use --attention multi-head"
        )
    if model.attention_size is not None and ATTENTIONS[model.attention].score not in SCORES_WITH_SIZE:
        raise ConfigError(
            f"--attention-size is for additive and projected scores; {model.attention} has no such size",
            "leave --attention-size out",
        )
    if model.attention_window == "global" and model.window_radius != defaults.window_radius:
        raise ConfigError("--window-radius needs a local window", "add --attention-window local-p or local-m")


def _check_without_attention(model: ModelConfig) -> None:
    defaults = ModelConfig()
    needing = {
        "attention-order": model.attention_order is not None,
        "attention-size": model.attention_size is not None,
        "heads": model.heads != defaults.heads,
        "normaliser": model.normaliser != defaults.normaliser,
        "attention-window": model.attention_window != defaults.attention_window,
        "window-radius": model.window_radius != defaults.window_radius,
        "input-feeding": model.input_feeding,
    }
    for flag, given in needing.items():
        if given:
            raise ConfigError(
                f"--{flag} needs an attention mechanism; --attention none has none", f"leave --{flag} out"
            )
