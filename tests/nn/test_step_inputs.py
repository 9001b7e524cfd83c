"""Lag features, projections and the temporal decoder, against plain loops over the same equations."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from forecast_attn.config.options import ModelConfig
from forecast_attn.errors import ConfigError
from forecast_attn.nn.builder import WindowSizes, build_network
from forecast_attn.nn.encoder import EncoderOutput
from forecast_attn.nn.inputs import InputProjection, LagFeatures, lag_positions
from forecast_attn.nn.residual_paths import TemporalDecoder

from .small_networks import make_batch


@pytest.mark.slow
@given(lookback=st.integers(1, 40), horizon=st.integers(1, 30), data=st.data())
def test_a_lag_is_the_latest_known_step_in_phase(lookback, horizon, data):
    lags = tuple(data.draw(st.lists(st.integers(1, lookback), max_size=3)))
    positions = lag_positions(lookback, horizon, lags)
    assert positions.shape == (horizon, len(lags))
    for step in range(1, horizon + 1):
        for column, lag in enumerate(lags):
            time = step  # the last known step is time 0
            while time > 0:
                time -= lag
            assert positions[step - 1, column] == lookback - 1 + time


def test_lag_features_stand_behind_what_is_known():
    known, past = torch.randn(2, 5, 3), torch.randn(2, 8, 2)
    with_lags = LagFeatures(8, 5, (2, 7))(known, past)
    assert with_lags.shape == (2, 5, 3 + 2 * 2)
    for step in range(5):
        of_2, of_7 = past[:, 6 + step % 2], past[:, 1 + step]
        torch.testing.assert_close(with_lags[:, step], torch.cat([known[:, step], of_2, of_7], dim=-1))


def test_no_lags_change_nothing():
    known = torch.randn(2, 5, 3)
    assert LagFeatures(8, 5)(known, torch.randn(2, 8, 2)) is known


def test_a_lag_behind_the_lookback_is_refused():
    with pytest.raises(ConfigError, match="--lags 9 reaches behind the lookback of 8"):
        LagFeatures(8, 5, (9,))


def test_projection_is_gelu_of_a_linear_map():
    projection = InputProjection(4, 6)
    inputs = torch.randn(3, 2, 4)
    x = inputs @ projection.linear.weight.T + projection.linear.bias
    torch.testing.assert_close(projection(inputs), x * 0.5 * (1 + torch.erf(x / math.sqrt(2))))
    assert projection.size == 6
    none = InputProjection(4, 0)
    assert none(inputs) is inputs
    assert none.size == 4
    assert not list(none.parameters())


def _erf_gelu(x):
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


@pytest.mark.parametrize(("steps", "patch_length", "horizon"), [(2, 3, 6), (2, 3, 5), (4, 1, 4)])
def test_temporal_decoder_against_a_loop(steps, patch_length, horizon):
    decoder = TemporalDecoder(5, 4, 7, output_size=2, patch_length=patch_length)
    for parameter in decoder.parameters():
        torch.nn.init.normal_(parameter)
    features, known = torch.randn(3, steps, 5), torch.randn(3, horizon, 4)
    output = decoder(features, known)
    for step in range(horizon):
        patch, offset = divmod(step, patch_length)
        first = features[:, patch] @ decoder.of_patch.weight.T + decoder.of_patch.bias + decoder.place[offset]
        first = _erf_gelu(first + known[:, step] @ decoder.of_step.weight.T)
        second = _erf_gelu(first @ decoder.hidden.weight.T + decoder.hidden.bias)
        torch.testing.assert_close(output[:, step], second @ decoder.output.weight.T + decoder.output.bias)


SIZES = WindowSizes(lookback=12, horizon=5, season=4, num_past_inputs=2, num_future_inputs=1, num_static=3)
OPTIONS = {
    "lags": {"lags": (1, 4)},
    "projection": {"projection_size": 6},
    "temporal decoder": {"temporal_decoder_size": 5},
    "linear path": {"linear_path": True},
    "all, in patches": {
        "lags": (3, 11),
        "projection_size": 6,
        "temporal_decoder_size": 5,
        "linear_path": True,
        "patch_length": 4,
    },
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("attention", ["bahdanau", "luong-general", "none"])
@pytest.mark.parametrize("quantiles", [(), (0.1, 0.5, 0.9)])
@pytest.mark.slow
def test_networks_with_these_parts_learn_in_all_of_them(name, attention, quantiles):
    network = build_network(
        ModelConfig(attention=attention, hidden_size=4, quantiles=quantiles, dropout=0.0, **OPTIONS[name]), SIZES
    )
    if network.temporal_decoder is not None:
        torch.nn.init.normal_(network.temporal_decoder.output.weight)  # from zero, nothing before it has a gradient
    output = network(make_batch(SIZES, 3, torch.float32))
    assert output.parameters.shape == (3, SIZES.horizon, len(quantiles) or 1)
    output.parameters.square().sum().backward()
    silent = [key for key, value in network.named_parameters() if value.grad is None or not value.grad.abs().sum()]
    assert silent == []


@pytest.mark.parametrize("past_the_attention", [{}, {"lags": (24,)}, {"linear_path": True}])
def test_what_leads_past_the_attention_is_asked_for(past_the_attention):
    """With an encoder that says nothing, hours read in patches by default say nothing of the past."""
    sizes = WindowSizes(lookback=48, horizon=24, season=24, num_past_inputs=2, num_future_inputs=1, num_static=0)
    torch.manual_seed(0)
    options = {"hidden_size": 4, "dropout": 0.0, "window_normalisation": "none", **past_the_attention}
    network = build_network(ModelConfig(**options), sizes)
    torch.nn.init.normal_(network.temporal_decoder.output.weight)
    for path in [] if network.linear_path is None else network.linear_path.parameters():
        torch.nn.init.normal_(path)
    network.encoder.register_forward_hook(lambda _, __, output: EncoderOutput(*(part * 0 for part in output)))
    window, other = (make_batch(sizes, 3, torch.float32) for _ in range(2))
    other = window._replace(past_target=other.past_target, past_covariates=other.past_covariates)
    assert network.patches.length == 6
    assert torch.equal(network(window).prediction, network(other).prediction) == (past_the_attention == {})


def test_lags_read_neither_calendar_nor_the_future():
    sizes = WindowSizes(
        lookback=6, horizon=3, season=3, num_past_inputs=4, num_future_inputs=3, num_static=0, num_calendar=2
    )
    network = build_network(ModelConfig(lags=(3,), hidden_size=4), sizes)
    assert network.lag_size == 1 + 4 - 2
    assert (
        network.decoder.layers.input_size
        == build_network(ModelConfig(hidden_size=4), sizes).decoder.layers.input_size + 3
    )


def test_an_untrained_temporal_decoder_says_nothing():
    torch.manual_seed(0)
    plain = build_network(ModelConfig(hidden_size=4, dropout=0.0), SIZES)
    with_perceptron = build_network(ModelConfig(hidden_size=4, dropout=0.0, temporal_decoder_size=5), SIZES)
    with_perceptron.load_state_dict(plain.state_dict(), strict=False)
    window = make_batch(SIZES, 3, torch.float32)
    assert torch.equal(plain(window).prediction, with_perceptron(window).prediction)


@pytest.mark.parametrize("option", [{"temporal_decoder_size": 5}, {"linear_path": True}])
def test_autoregressive_decoding_takes_nothing_that_is_added_afterwards(option):
    with pytest.raises(ConfigError, match=f"--{next(iter(option)).replace('_', '-')}"):
        build_network(ModelConfig(decoding="autoregressive", **option), SIZES)


@pytest.mark.parametrize("quantiles", [(), (0.1, 0.5, 0.9)])
def test_the_linear_path_moves_the_forecast_and_its_quantiles_with_it(quantiles):
    network = build_network(ModelConfig(hidden_size=4, dropout=0.0, linear_path=True, quantiles=quantiles), SIZES)
    window = make_batch(SIZES, 3, torch.float32)
    before = network(window)
    with torch.no_grad():
        network.linear_path.linear.weight.normal_()
        network.linear_path.linear.bias.normal_()
    after = network(window)
    scale = network.normalisation(window.past_target)
    past = torch.cat([scale.normalise(window.past_target)[..., None], window.past_covariates], dim=-1)
    rows = []
    for row in range(3):
        seen = [*past[row].reshape(-1), *window.future_covariates[row].reshape(-1)]
        weight, bias = network.linear_path.linear.weight, network.linear_path.linear.bias
        rows.append(torch.stack([sum(w * x for w, x in zip(line, seen, strict=True)) for line in weight]) + bias)
    moved = (torch.stack(rows) * scale.scale)[..., None].expand_as(after.parameters)
    torch.testing.assert_close(after.parameters - before.parameters, moved, rtol=1e-4, atol=1e-4)


def test_a_temporal_decoder_of_steps_that_nothing_is_known_of():
    sizes = WindowSizes(lookback=12, horizon=5, season=4, num_past_inputs=0, num_future_inputs=0, num_static=0)
    network = build_network(ModelConfig(hidden_size=4, patch_length=4, temporal_decoder_size=5, lags=()), sizes)
    assert network(make_batch(sizes, 3, torch.float32)).prediction.shape == (3, 5)
