"""From options to a network: which sizes it gets, and which combinations are refused."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import nn

from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.options import ModelConfig
from forecast_attn.errors import ConfigError
from forecast_attn.nn.builder import ATTENTION_SIZE, build_network
from forecast_attn.nn.decoder import BahdanauDecoder
from forecast_attn.nn.network import ForecastNetwork

from .small_networks import (
    EQUAL_SIZES,
    EVERY_ATTENTION,
    EVERY_MECHANISM,
    PROJECTED,
    SIZES,
    WITH_ATTENTION,
    make_batch,
    model_config,
    other_order,
)


def build(**options: Any) -> ForecastNetwork:
    return build_network(ModelConfig(**options), SIZES)


# --------------------------------------------------------------------------- sizes


@EVERY_MECHANISM
def test_every_mechanism_builds_with_the_default_sizes(name: str) -> None:
    network = build(attention=name)
    batch = make_batch(dtype=torch.float32)
    assert network(batch).prediction.shape == batch.future_target.shape
    assert network.decoder.layers.hidden_size == network.encoder.memory_size == 64


@EVERY_ATTENTION
def test_either_order_can_be_chosen_for_every_mechanism(name: str) -> None:
    for order in (ATTENTIONS[name].order, other_order(name)):
        model = model_config(name, attention_order=order)
        assert model.order == order
        assert isinstance(build_network(model, SIZES).decoder, BahdanauDecoder) is (order == "bahdanau")


def test_a_decoder_is_as_wide_as_what_the_encoder_gives() -> None:
    network = build(attention="luong-dot", hidden_size=6, bidirectional=True)
    assert network.encoder.memory_size == network.decoder.layers.hidden_size == 12


@pytest.mark.parametrize("name", PROJECTED)
def test_the_attention_size_is_the_width_of_what_is_compared(name: str) -> None:
    def widths(**options: Any) -> set[int]:
        network = build(
            attention=name, hidden_size=6, decoder_size=8, heads=2 if name == "multi-head" else 4, **options
        )
        score = network.decoder.attention.score
        return {
            parameter.shape[0] for key, parameter in score.named_parameters() if "projection" in key or key == "weight"
        }

    assert widths(attention_size=10) == {10}
    assert widths() == {ATTENTION_SIZE}


def test_every_part_hears_of_its_options() -> None:
    network = build(cell="lstm", num_layers=3, bidirectional=True, dropout=0.3, hidden_size=4)
    encoder, decoder = network.encoder.layers, network.decoder.layers
    assert isinstance(encoder, nn.LSTM)
    assert isinstance(decoder, nn.LSTM)
    assert (encoder.num_layers, decoder.num_layers) == (3, 3)
    assert (encoder.bidirectional, decoder.bidirectional) == (True, False)
    assert (encoder.dropout, decoder.dropout, network.decoder.head.dropout.p) == (0.3, 0.3, 0.3)
    assert build(window_normalisation="standard").normalisation.kind == "standard"
    assert build(normaliser="entmax15").decoder.attention.normaliser is not build().decoder.attention.normaliser
    assert build(attention_window="local-m", window_radius=3).decoder.attention.window.radius == 3
    assert build(attention_window="local-m").decoder.attention.window.season == SIZES.season


def test_without_attention_the_encoder_has_no_skip_to_leave_untrained() -> None:
    assert build(attention="none", skip=True).encoder.skip is None
    assert build(attention="bahdanau", skip=True).encoder.skip is not None


# --------------------------------------------------------------------------- refusals

REFUSED: list[tuple[dict[str, Any], str, str]] = [
    *(
        (
            {"attention": name, "hidden_size": 6, "decoder_size": 7},
            f"{name} needs equal encoder and decoder sizes; got 6 and 7",
            "use luong-general, or --decoder-size 6",
        )
        for name in EQUAL_SIZES
    ),
    (
        {"attention": "luong-dot", "hidden_size": 6, "decoder_size": 6, "bidirectional": True},
        "luong-dot needs equal encoder and decoder sizes; got 12 and 6",
        "use luong-general, or --decoder-size 12",
    ),
    (
        {"attention": "multi-head", "heads": 3, "attention_size": 10},
        "multi-head needs an attention size that is a multiple of the heads; got 10 and 3",
        "use --attention-size 12, or other --heads",
    ),
    (
        {"attention": "luong-general", "heads": 2},
        "--heads is for multi-head attention; luong-general has one head",
        "use --attention multi-head",
    ),
    *(
        (
            {"attention": name, "attention_size": 8},
            f"--attention-size is for additive and projected scores; {name} has no such size",
            "leave --attention-size out",
        )
        for name in WITH_ATTENTION
        if name not in PROJECTED
    ),
    *(
        (
            options | {"input_feeding": True},
            "--input-feeding belongs to the luong order: the bahdanau order feeds the context vector itself",
            "leave --input-feeding out, or choose --attention-order luong",
        )
        for options in (
            {"attention": "bahdanau"},
            {"attention": "bahdanau-normed"},
            {"attention": "luong-general", "attention_order": "bahdanau"},
        )
    ),
    (
        {"attention": "luong-general", "window_radius": 3},
        "--window-radius needs a local window",
        "add --attention-window local-p or local-m",
    ),
    *(
        (
            {"attention": "none"} | option,
            f"--{flag} needs an attention mechanism; --attention none has none",
            f"leave --{flag} out",
        )
        for flag, option in {
            "attention-order": {"attention_order": "luong"},
            "attention-size": {"attention_size": 8},
            "heads": {"heads": 2},
            "normaliser": {"normaliser": "sparsemax"},
            "attention-window": {"attention_window": "local-p"},
            "window-radius": {"window_radius": 3},
            "input-feeding": {"input_feeding": True},
        }.items()
    ),
]


@pytest.mark.parametrize(("options", "message", "hint"), REFUSED, ids=[str(options) for options, _, _ in REFUSED])
def test_refuses_what_contradicts_itself_or_would_be_ignored(options: dict[str, Any], message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as error:
        build(**options)
    assert (error.value.message, error.value.hint) == (message, hint)


def test_input_feeding_is_possible_where_the_order_is_luong() -> None:
    assert build(attention="bahdanau", attention_order="luong", input_feeding=True).decoder.input_feeding


def test_local_m_needs_a_lookback_of_one_season() -> None:
    season = SIZES.lookback + 1
    with pytest.raises(ConfigError) as caught:
        build_network(ModelConfig(attention="luong-general", attention_window="local-m"), replace(SIZES, season=season))
    expected = f"local-m looks one season ({season} steps) back; the lookback is {SIZES.lookback}"
    assert caught.value.message == expected
    assert caught.value.hint == f"--lookback {season}, or --attention-window local-p"
