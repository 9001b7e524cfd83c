"""The whole network: the papers' loop from inputs to forecast, and what a forecast must not depend on."""

from typing import Any

import numpy as np
import pytest
import torch

from forecast_attn.nn.builder import WindowSizes, build_network
from forecast_attn.nn.network import ForecastNetwork, ForecastOutput
from forecast_attn.nn.window_normalisation import SMALLEST_SCALE

from .paper_reference import Previous, encode
from .small_networks import (
    BATCH,
    EVERY_MECHANISM,
    SIZES,
    Batch,
    assert_equal,
    make_batch,
    make_network,
    model_config,
    numpy_weights,
    paper_decoder,
)

BOTH_CELLS = pytest.mark.parametrize("cell", ["gru", "lstm"])
BOTH_DECODINGS = pytest.mark.parametrize("decoding", ["direct", "autoregressive"])


def float32_network(name: str, **options: Any) -> ForecastNetwork:
    torch.manual_seed(0)
    return build_network(model_config(name, **options), SIZES)


# --------------------------------------------------------------------------- equations

WHOLE: list[tuple[str, dict[str, Any]]] = [
    ("none", {"window_normalisation": "none", "skip": False}),
    ("bahdanau", {"decoding": "autoregressive"}),
    ("bahdanau", {"bidirectional": True, "cell": "lstm", "window_normalisation": "standard"}),
    ("luong-general", {"input_feeding": True, "num_layers": 2, "attention_window": "local-m"}),
    ("luong-location", {"decoding": "autoregressive", "attention_window": "local-p", "skip": False}),
    ("multi-head", {"bidirectional": True, "num_layers": 2, "decoding": "autoregressive"}),
]


@pytest.mark.parametrize(("name", "options"), WHOLE)
def test_equals_a_loop_from_inputs_to_forecast(name: str, options: dict[str, Any]) -> None:
    network, batch, model = make_network(name, **options), make_batch(), model_config(name, **options)
    prediction, weights, _ = network(batch)
    for b in range(BATCH):
        expected, expected_weights = paper_forecast(network, model, batch.at(b))
        assert_equal(prediction[b], expected)
        if expected_weights is None:
            assert weights is None
        else:
            assert_equal(weights[b], expected_weights)


def paper_forecast(network: ForecastNetwork, model: Any, window: Batch) -> tuple[np.ndarray, np.ndarray | None]:
    """One window: normalise, encode, decode, restore."""
    past, covariates, future, static = (tensor.numpy() for tensor in window[:4])
    loc, scale = 0.0, 1.0
    if model.window_normalisation != "none":
        recent = past[-SIZES.season :] if model.window_normalisation == "last-season" else past
        loc, scale = recent.mean(), max(past.std(), SMALLEST_SCALE)
    constant = [*static, loc, np.log(scale)]
    past_position, future_position = network.past_position.numpy(), network.future_position.numpy()
    inputs = [[(past[j] - loc) / scale, *covariates[j], *constant, *past_position[j]] for j in range(SIZES.lookback)]
    known = [[*future[t], *constant, *future_position[t]] for t in range(SIZES.horizon)]
    memory, last = encode(
        np.array(inputs),
        numpy_weights(network.encoder),
        model.cell,
        num_layers=model.num_layers,
        bidirectional=model.bidirectional,
    )
    previous = Previous((past[-1] - loc) / scale) if model.decoding == "autoregressive" else None
    outputs, weights = paper_decoder(model, network.decoder)(memory, last, np.array(known), previous)
    return outputs * scale + loc, weights


# --------------------------------------------------------------------------- what a forecast depends on


@pytest.mark.slow
@EVERY_MECHANISM
@BOTH_DECODINGS
def test_a_window_alone_equals_the_window_in_its_batch(name: str, decoding: str) -> None:
    network, batch = float32_network(name, decoding=decoding), make_batch(dtype=torch.float32)
    together = network(batch)
    for b in range(BATCH):
        alone = network(batch.at([b]))
        expected = ForecastOutput(*(None if tensor is None else tensor[[b]] for tensor in together))
        torch.testing.assert_close(alone, expected, rtol=0, atol=1e-6)


@pytest.mark.slow
@EVERY_MECHANISM
@BOTH_DECODINGS
def test_permuting_the_batch_permutes_forecasts_and_weights(name: str, decoding: str) -> None:
    network, batch, order = make_network(name, decoding=decoding), make_batch(), [2, 0, 1]
    permuted, plain = network(batch.at(order)), network(batch)
    torch.testing.assert_close(permuted.prediction, plain.prediction[order])
    if plain.weights is not None:
        torch.testing.assert_close(permuted.weights, plain.weights[order])


@pytest.mark.slow
@EVERY_MECHANISM
@BOTH_DECODINGS
def test_a_free_running_forecast_never_sees_the_future_target(name: str, decoding: str) -> None:
    network, batch = make_network(name, decoding=decoding), make_batch()
    unknown = batch._replace(future_target=torch.full_like(batch.future_target, torch.nan))
    torch.testing.assert_close(network(unknown), network(batch), rtol=0, atol=0)


@pytest.mark.slow
@EVERY_MECHANISM
def test_every_input_counts(name: str) -> None:
    """Past target and covariates, future and static covariates: each changes every step of the forecast."""
    network, batch = make_network(name), make_batch()
    before = network(batch).prediction
    for field in Batch._fields[:4]:
        values = getattr(batch, field)
        after = network(batch._replace(**{field: values + torch.randn_like(values)})).prediction
        assert ((after - before).abs() > 1e-9).all(), field


@pytest.mark.slow
@EVERY_MECHANISM
@pytest.mark.parametrize("order", [None, "bahdanau", "luong"])
def test_declining_the_weights_changes_no_forecast(name: str, order: str | None) -> None:
    options = {} if name == "none" else {"attention_order": order}
    network, batch = float32_network(name, **options), make_batch(dtype=torch.float32)
    without = network(batch, need_weights=False)
    assert without.weights is None
    torch.testing.assert_close(without.prediction, network(batch).prediction, rtol=0, atol=1e-6)


@EVERY_MECHANISM
@pytest.mark.parametrize("window", ["global", "local-p", "local-m"])
@pytest.mark.slow
def test_weights_are_shares_of_the_lookback(name: str, window: str) -> None:
    if name == "none":
        assert float32_network(name)(make_batch(dtype=torch.float32)).weights is None
        return
    network = float32_network(name, attention_window=window)
    weights = network(make_batch(dtype=torch.float32)).weights
    assert weights.shape == (BATCH, 2 if name == "multi-head" else 1, SIZES.horizon, SIZES.lookback)
    sums = weights.sum(dim=-1)
    assert (weights >= 0).all()
    if window == "local-p":
        assert (sums <= 1 + 1e-6).all()
    else:
        torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=1e-6)


@pytest.mark.slow
@EVERY_MECHANISM
@BOTH_CELLS
@BOTH_DECODINGS
def test_every_parameter_gets_a_gradient(name: str, cell: str, decoding: str) -> None:
    network, batch = make_network(name, cell=cell, decoding=decoding), make_batch()
    network(batch, teacher_forcing=0.5).prediction.square().sum().backward()
    for parameter_name, parameter in network.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.abs().sum() > 0, parameter_name


@pytest.mark.parametrize("name", ["none", "bahdanau", "luong-general"])
def test_the_smallest_window_works(name: str) -> None:
    """One step back, one ahead, no covariates, one window, several layers, both ways; and it is flat."""
    sizes = WindowSizes(lookback=1, horizon=1, season=1, num_past_inputs=0, num_future_inputs=0, num_static=0)
    network = make_network(name, sizes, num_layers=3, bidirectional=True)
    prediction, weights, _ = network(make_batch(sizes, batch=1))
    prediction.sum().backward()
    assert prediction.shape == (1, 1)
    assert weights is None or weights.tolist() == [[[[1.0]]]]
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters() if parameter.grad is not None)


@EVERY_MECHANISM
def test_flat_windows_train(name: str) -> None:
    network, batch = make_network(name), make_batch()
    prediction = network(batch._replace(past_target=torch.full_like(batch.past_target, 7.0))).prediction
    prediction.sum().backward()
    assert prediction.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in network.parameters())


def test_the_skip_is_optional() -> None:
    with_skip, without = (dict(make_network(skip=skip).named_parameters()) for skip in (True, False))
    assert set(with_skip) - set(without) == {"encoder.skip.weight"}


def test_positions_are_no_part_of_what_is_saved() -> None:
    """They follow from the sizes; a model file holds what was learned."""
    network = make_network()
    assert set(network.state_dict()) == {name for name, _ in network.named_parameters()}


@pytest.mark.slow
@EVERY_MECHANISM
@BOTH_CELLS
def test_bfloat16_keeps_forecast_and_weights_in_float32(name: str, cell: str) -> None:
    network = float32_network(name, cell=cell, decoding="autoregressive")
    batch = make_batch(dtype=torch.float32)
    plain = network(batch)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = network(batch)
    assert mixed.prediction.dtype == torch.float32
    torch.testing.assert_close(mixed, plain, rtol=0.1, atol=0.1)


# --------------------------------------------------------------------------- teacher forcing


def share_of_truth(network: ForecastNetwork, teacher_forcing: float | None) -> float | None:
    """Which share of the steps the decoder was told the true previous value of."""
    shares: list[Any] = []
    hook = network.decoder.register_forward_pre_hook(lambda _, arguments: shares.append(arguments[2]))
    network(make_batch(batch=500), teacher_forcing=teacher_forcing)
    hook.remove()
    return None if shares[0].use_truth is None else shares[0].use_truth.double().mean().item()


def test_the_share_of_true_values_is_the_one_asked_for() -> None:
    network = make_network(decoding="autoregressive")
    assert share_of_truth(network, None) is None
    assert share_of_truth(network, 0.0) == 0
    assert share_of_truth(network, 1.0) == 1
    assert share_of_truth(network, 0.5) == pytest.approx(0.5, abs=0.05)
    assert share_of_truth(make_network(decoding="direct"), 1.0) is None


@pytest.mark.slow
@EVERY_MECHANISM
def test_no_share_of_true_values_is_free_running(name: str) -> None:
    network, batch = make_network(name, decoding="autoregressive"), make_batch()
    torch.testing.assert_close(network(batch, teacher_forcing=0.0), network(batch), rtol=0, atol=0)


@EVERY_MECHANISM
def test_true_values_reach_the_steps_after_them(name: str) -> None:
    """Under full forcing the true value of a step moves all steps after it, neither itself nor those before."""
    network, batch = make_network(name, decoding="autoregressive"), make_batch()
    before = network(batch, teacher_forcing=1.0).prediction
    batch.future_target[:, 1] += 1
    moved = (network(batch, teacher_forcing=1.0).prediction - before).abs() > 1e-9
    assert moved.all(dim=0).tolist() == [False, False, True, True]
    assert moved.any(dim=0).tolist() == [False, False, True, True]


@EVERY_MECHANISM
def test_a_forecast_fed_back_as_the_truth_is_itself(name: str) -> None:
    """True values are on the series' scale, the decoder's own on the window's: both must mean the same."""
    network, batch = make_network(name, decoding="autoregressive"), make_batch()
    free = network(batch)
    forced = network(batch._replace(future_target=free.prediction.detach()), teacher_forcing=1.0)
    torch.testing.assert_close(forced, free, rtol=0, atol=1e-10)


def test_the_same_seed_forces_the_same_steps() -> None:
    network, batch = make_network(decoding="autoregressive"), make_batch()

    def forecast(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return network(batch, teacher_forcing=0.5).prediction

    assert torch.equal(forecast(1), forecast(1))
    assert not torch.equal(forecast(1), forecast(2))


# --------------------------------------------------------------------------- GPU


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@EVERY_MECHANISM
@BOTH_CELLS
@BOTH_DECODINGS
def test_a_gpu_gives_the_same(name: str, cell: str, decoding: str) -> None:
    """Forecast, weights and gradients; in training, because cuDNN has no backward pass in evaluation."""
    network, batch = float32_network(name, cell=cell, decoding=decoding), make_batch(dtype=torch.float32)
    here, gradients_here = forecast_and_gradients(network, batch)
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        there, gradients_there = forecast_and_gradients(network.cuda(), Batch(*(tensor.cuda() for tensor in batch)))
    torch.testing.assert_close(there, here, rtol=1e-4, atol=1e-4, check_device=False)
    torch.testing.assert_close(gradients_there, gradients_here, rtol=1e-4, atol=1e-4, check_device=False)


def forecast_and_gradients(network: ForecastNetwork, batch: Batch) -> tuple[ForecastOutput, list[torch.Tensor]]:
    output = network(batch, teacher_forcing=1.0)
    return output, list(torch.autograd.grad(output.prediction.square().mean(), list(network.parameters())))


@pytest.mark.parametrize("size", [1, 3, 4, 8, 9, 32])
def test_a_row_has_the_same_bits_wherever_it_stands_in_a_batch(size):
    for width in (3, 5, 9, 27, 64, 129):
        layer, row = torch.nn.Linear(width, size), torch.randn(1, width)
        with torch.inference_mode():
            outputs = layer(row.expand(128, width).contiguous())
        assert (outputs == outputs[:1]).all(), width
