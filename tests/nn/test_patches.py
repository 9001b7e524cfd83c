"""Patches: cut as loops cut them, and networks over them as the papers' loops over patches."""

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from forecast_attn.errors import ConfigError
from forecast_attn.nn.builder import WindowSizes
from forecast_attn.nn.inputs import Patches
from forecast_attn.nn.network import ForecastNetwork
from forecast_attn.nn.window_normalisation import SMALLEST_SCALE

from .paper_reference import encode
from .small_networks import (
    BATCH,
    EVERY_ATTENTION,
    EVERY_MECHANISM,
    Batch,
    assert_equal,
    make_batch,
    make_network,
    model_config,
    numpy_weights,
    other_order,
    paper_decoder,
)

LENGTH = 3
# Four keys and two steps, of which the second reaches beyond the horizon; two keys to a season.
SIZES = WindowSizes(lookback=12, horizon=5, season=6, num_past_inputs=2, num_future_inputs=1, num_static=3)
WITH_HOLES = dataclasses.replace(SIZES, may_have_holes=True)
KEYS, STEPS = 4, 2


def patched(name: str, sizes: WindowSizes = SIZES, **options: Any) -> ForecastNetwork:
    return make_network(name, sizes, patch_length=LENGTH, **options)


# --------------------------------------------------------------------------- cutting


@given(keys=st.integers(1, 6), length=st.integers(1, 5), horizon=st.integers(1, 12), size=st.integers(0, 3))
def test_patches_are_consecutive_steps(keys: int, length: int, horizon: int, size: int) -> None:
    patches = Patches(keys * length, horizon, length)
    past, future = torch.randn(2, keys * length, size), torch.randn(2, horizon, size)
    cut_past, cut_future = patches.of_past(past), patches.of_future(future)
    assert cut_past.shape == (2, keys, length * size)
    assert cut_future.shape == (2, patches.num_steps, length * size)
    assert (patches.num_steps - 1) * length < horizon <= patches.num_steps * length
    for step in range(keys * length):
        columns = slice(step % length * size, (step % length + 1) * size)
        assert torch.equal(cut_past[:, step // length, columns], past[:, step])
    for step in range(patches.num_steps * length):
        actual = cut_future[:, step // length, step % length * size : (step % length + 1) * size]
        assert torch.equal(actual, future[:, step] if step < horizon else torch.zeros(2, size))


@given(keys=st.integers(1, 6), length=st.integers(1, 5), horizon=st.integers(1, 12), size=st.integers(1, 3))
def test_what_is_said_of_patches_is_said_of_their_steps(keys: int, length: int, horizon: int, size: int) -> None:
    patches = Patches(keys * length, horizon, length)
    future = torch.randn(2, horizon, size)
    assert torch.equal(patches.in_steps(patches.of_future(future)), future)


@pytest.mark.slow
@given(data=st.data(), keys=st.integers(1, 5), length=st.integers(1, 5))
def test_a_patch_is_observed_where_any_of_its_steps_is(data: st.DataObject, keys: int, length: int) -> None:
    steps = data.draw(st.lists(st.booleans(), min_size=keys * length, max_size=keys * length))
    patches = Patches(keys * length, 1, length)
    expected = [any(steps[key * length : (key + 1) * length]) for key in range(keys)]
    assert patches.observed(torch.tensor([steps])).tolist() == [expected]
    assert patches.observed(None) is None


@pytest.mark.slow
@given(lookback=st.integers(1, 50), horizon=st.integers(1, 50))
def test_patches_of_one_step_change_nothing(lookback: int, horizon: int) -> None:
    patches, steps = Patches(lookback, horizon), torch.randn(2, lookback, 3)
    assert (patches.num_keys, patches.num_steps) == (lookback, horizon)
    assert torch.equal(patches.of_past(steps), steps)
    ahead = torch.randn(2, horizon, 3)
    assert torch.equal(patches.of_future(ahead), ahead)
    assert torch.equal(patches.in_steps(ahead), ahead)


# --------------------------------------------------------------------------- equations

WINDOWS: list[dict[str, Any]] = [
    {},
    {"attention_window": "local-m", "window_radius": 1},
    {"attention_window": "local-p", "window_radius": 1},
    {"bidirectional": True, "num_layers": 2},
    {"cell": "lstm", "skip": False, "window_normalisation": "standard"},
]


def assert_equals_a_loop(name: str, **options: Any) -> None:
    network, batch = patched(name, **options), make_batch(SIZES)
    model = model_config(name, patch_length=LENGTH, **options)
    prediction, weights, _ = network(batch)
    for b in range(BATCH):
        expected, expected_weights = paper_forecast(network, model, batch.at(b))
        assert_equal(prediction[b], expected)
        assert (weights is None) == (expected_weights is None)
        if weights is not None:
            assert_equal(weights[b], expected_weights)


@EVERY_ATTENTION
@pytest.mark.parametrize("options", WINDOWS, ids=lambda options: "-".join(map(str, options.values())))
@pytest.mark.slow
def test_equals_a_loop_over_patches(name: str, options: dict[str, Any]) -> None:
    assert_equals_a_loop(name, **options)


@EVERY_ATTENTION
def test_equals_a_loop_over_patches_in_the_other_order(name: str) -> None:
    assert_equals_a_loop(name, attention_order=other_order(name))


def test_equals_a_loop_over_patches_without_attention_and_with_input_feeding() -> None:
    assert_equals_a_loop("none", skip=False)
    assert_equals_a_loop("luong-concat", input_feeding=True)


def paper_forecast(network: ForecastNetwork, model: Any, window: Batch) -> tuple[np.ndarray, np.ndarray | None]:
    """One window: normalise its hours, write down what each patch reads, encode, decode, take patches apart."""
    past, covariates, future, static = (tensor.numpy() for tensor in window[:4])
    recent = past[-SIZES.season :] if model.window_normalisation == "last-season" else past
    loc, scale = recent.mean(), max(past.std(), SMALLEST_SCALE)
    constant = [*static, loc, np.log(scale)]
    past_position, future_position = network.past_position.numpy(), network.future_position.numpy()
    inputs, known = [], []
    for key in range(KEYS):
        row: list[float] = []
        for hour in range(key * LENGTH, (key + 1) * LENGTH):
            row += [(past[hour] - loc) / scale, *covariates[hour]]
        inputs.append([*row, *constant, *past_position[key]])
    for step in range(STEPS):
        row = []
        for hour in range(step * LENGTH, (step + 1) * LENGTH):
            row += list(future[hour]) if hour < SIZES.horizon else [0.0] * SIZES.num_future_inputs
        known.append([*row, *constant, *future_position[step]])
    memory, last = encode(
        np.array(inputs),
        numpy_weights(network.encoder),
        model.cell,
        num_layers=model.num_layers,
        bidirectional=model.bidirectional,
    )
    outputs, weights = paper_decoder(model, network.decoder, SIZES)(memory, last, np.array(known), None)
    hours = [outputs[hour // LENGTH][hour % LENGTH] for hour in range(SIZES.horizon)]
    return np.array(hours) * scale + loc, weights


def test_positions_count_patches() -> None:
    """0 is the patch that ends with the cut-off; wavelengths lie between 4 patches and twice the window."""
    network = patched("luong-general")
    angles = 2 * np.pi * np.arange(1 - KEYS, STEPS + 1)[:, None] / np.geomspace(4, 2 * (KEYS + STEPS), 8)
    positions = torch.cat([network.past_position, network.future_position]).numpy()
    np.testing.assert_allclose(positions, np.concatenate([np.sin(angles), np.cos(angles)], axis=1), atol=1e-5)


# --------------------------------------------------------------------------- what holds for every network


@EVERY_ATTENTION
@pytest.mark.parametrize("normaliser", ["softmax", "sparsemax", "entmax15"])
@pytest.mark.parametrize("order", ["bahdanau", "luong"])
@pytest.mark.slow
def test_weights_are_one_per_patch_and_sum_to_1(name: str, normaliser: str, order: str) -> None:
    batch = make_batch(WITH_HOLES)
    batch.past_observed[:, 3:6] = False
    batch.past_observed[:, 8] = True
    heads = 2 if name == "multi-head" else 1
    weights = patched(name, WITH_HOLES, normaliser=normaliser, attention_order=order)(batch).weights
    assert weights.shape == (BATCH, heads, STEPS, KEYS)
    assert (weights[..., 1] == 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))


@pytest.mark.slow
@EVERY_MECHANISM
def test_every_input_counts_for_every_step(name: str) -> None:
    """Past target and covariates, static covariates: each hour of the forecast depends on each hour of them."""
    network, batch = patched(name), make_batch(SIZES)
    before = network(batch).prediction
    for hour in range(SIZES.lookback):
        past = batch.past_covariates.clone()
        past[:, hour] += 1
        assert ((network(batch._replace(past_covariates=past)).prediction - before).abs() > 1e-12).all()
    after = network(batch._replace(static_covariates=batch.static_covariates + 1)).prediction
    assert ((after - before).abs() > 1e-12).all()


@EVERY_MECHANISM
def test_what_is_known_of_later_patches_changes_no_earlier_one(name: str) -> None:
    """The decoder goes on from patch to patch; within a patch all hours know all of it."""
    network, batch = patched(name), make_batch(SIZES)
    before = network(batch).prediction
    later = batch.future_covariates.clone()
    later[:, LENGTH:] += 1
    after = network(batch._replace(future_covariates=later)).prediction
    torch.testing.assert_close(after[:, :LENGTH], before[:, :LENGTH], rtol=0, atol=0)
    assert ((after[:, LENGTH:] - before[:, LENGTH:]).abs() > 1e-9).all()


@EVERY_MECHANISM
def test_the_future_target_is_never_seen(name: str) -> None:
    network, batch = patched(name), make_batch(SIZES)
    unknown = batch._replace(future_target=torch.full_like(batch.future_target, torch.nan))
    torch.testing.assert_close(network(unknown), network(batch), rtol=0, atol=0)


@EVERY_MECHANISM
def test_what_was_not_observed_cannot_matter(name: str) -> None:
    network, batch = patched(name, WITH_HOLES), make_batch(WITH_HOLES)
    other = torch.where(batch.past_observed, batch.past_target, torch.randn_like(batch.past_target) * 1e6)
    torch.testing.assert_close(
        network(batch._replace(past_target=other)).prediction, network(batch).prediction, rtol=0, atol=0
    )


@pytest.mark.slow
@EVERY_MECHANISM
def test_each_hour_of_a_patch_says_whether_it_was_observed(name: str) -> None:
    network, batch = patched(name, WITH_HOLES), make_batch(WITH_HOLES)
    everywhere = torch.ones_like(batch.past_observed)
    level = batch._replace(past_observed=everywhere)
    before = network(level).prediction
    for hour in range(SIZES.lookback):
        observed = everywhere.clone()
        observed[:, hour] = False
        assert not torch.allclose(network(level._replace(past_observed=observed)).prediction, before)


@EVERY_ATTENTION
def test_declining_the_weights_changes_no_forecast(name: str) -> None:
    network, batch = patched(name), make_batch(SIZES)
    without = network(batch, need_weights=False).prediction
    torch.testing.assert_close(without, network(batch).prediction, rtol=0, atol=1e-9)


@pytest.mark.parametrize("options", [{"quantiles": (0.1, 0.5, 0.9)}, {"distribution": "student-t"}])
def test_a_head_says_as_much_of_every_hour(options: dict[str, Any]) -> None:
    """The outputs of a patch are those of its hours, one hour after the other."""
    network, batch = patched("luong-general", **options), make_batch(SIZES)
    parameters, head = network(batch).parameters, network.decoder.head
    assert parameters.shape == (BATCH, SIZES.horizon, 3)
    states: list[torch.Tensor] = []
    head.linear.register_forward_hook(lambda module, given, outputs: states.append(outputs))
    network(batch)
    scale = network.normalisation(batch.past_target)
    for hour in range(SIZES.horizon):
        of_hour = states[0][:, hour // LENGTH, 3 * (hour % LENGTH) : 3 * (hour % LENGTH) + 3]
        expected = head.restore(head.parameters_of(of_hour), scale.loc, scale.scale)
        torch.testing.assert_close(parameters[:, hour], expected)
    if "quantiles" in options:
        assert (parameters.diff(dim=-1) >= 0).all()


def test_an_untrained_quantile_head_begins_with_the_normal_in_every_hour() -> None:
    from forecast_attn.nn.heads import QuantileHead

    head = QuantileHead((0.1, 0.5, 0.9), 3, patch_length=LENGTH)
    with torch.no_grad():
        head.linear.weight.zero_()
        bias = head(torch.zeros(1, 3)).view(LENGTH, 3)
        quantiles = head.parameters_of(bias - bias[:, 1:2] * torch.tensor([0.0, 1.0, 0.0]))
    assert quantiles == pytest.approx(np.tile([-1.2816, 0, 1.2816], (LENGTH, 1)), abs=0.6)  # give or take linear's bias


# --------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("lookback", "length", "hint"), [(100, 24, "--lookback 96 or 120"), (5, 24, "--lookback 24"), (7, 2, "6 or 8")]
)
def test_a_lookback_that_is_not_made_up_of_patches(lookback: int, length: int, hint: str) -> None:
    with pytest.raises(ConfigError, match=f"the lookback is {lookback}") as error:
        Patches(lookback, 24, length)
    assert hint in error.value.hint


def test_a_patch_cannot_be_fed_back() -> None:
    with pytest.raises(ConfigError, match="the steps of a patch are forecast at once") as error:
        patched("luong-general", decoding="autoregressive")
    assert "--decoding direct" in error.value.hint


def test_local_m_needs_whole_patches_in_a_season() -> None:
    with pytest.raises(ConfigError, match="a season of 6 steps is not a whole number of patches of 4"):
        make_network("luong-general", SIZES, patch_length=4, attention_window="local-m")
    make_network("luong-general", SIZES, patch_length=4)
