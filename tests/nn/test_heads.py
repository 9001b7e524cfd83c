"""Heads: quantiles in order whatever the numbers, distributions and draws as scipy has them."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from forecast_attn.nn.heads import (
    SMALLEST_DEVIATION,
    GaussianHead,
    Head,
    PointHead,
    QuantileHead,
    StudentTHead,
    centre_of,
)

from .small_networks import assert_equal, make_batch, make_network

QUANTILES = (0.05, 0.1, 0.4, 0.9, 0.99)
HEADS: dict[str, Any] = {
    "point": {},
    "quantile": {"quantiles": QUANTILES},
    "gaussian": {"distribution": "gaussian"},
    "student-t": {"distribution": "student-t"},
}

BOTH_ORDERS = pytest.mark.parametrize("name", ["bahdanau", "luong-general"])

quantiles = st.lists(st.floats(0.001, 0.999), min_size=1, max_size=7, unique=True).map(
    lambda drawn: tuple(sorted(drawn))
)
anything = st.floats(-1e6, 1e6, width=32)


def softplus(x: np.ndarray) -> np.ndarray:
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)


def uniforms(number: int, seed: int = 0) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).random((number, 2)))


# --------------------------------------------------------------------------- parameters


@pytest.mark.slow
@given(data=st.data(), quantiles=quantiles, loc=anything, scale=st.floats(2**-7, 1e6, width=32))
def test_quantiles_never_cross_in_float32(
    data: st.DataObject, quantiles: tuple[float, ...], loc: float, scale: float
) -> None:
    head = QuantileHead(quantiles, 3)
    drawn = data.draw(arrays(np.float32, (2, 4, len(quantiles)), elements=anything))
    forecast = head.parameters_of(torch.from_numpy(drawn))
    assert (forecast.diff(dim=-1) >= 0).all()
    restored = head.restore(forecast, torch.full((2, 1, 1), loc), torch.full((2, 1, 1), scale))
    assert (restored.diff(dim=-1) >= 0).all()
    torch.testing.assert_close(head.point(forecast), torch.from_numpy(drawn)[..., centre_of(quantiles)], rtol=0, atol=0)


def test_quantiles_may_be_as_close_as_two_floats_are() -> None:
    head = QuantileHead((0.1, np.nextafter(0.1, 1), 0.9), 3)
    assert torch.isfinite(head.linear.bias).all()


def test_quantiles_lie_softplus_steps_from_their_neighbours() -> None:
    head, outputs = QuantileHead(QUANTILES, 3).double(), torch.randn(6, 5, dtype=torch.float64)
    raw, quantiles = outputs.numpy(), head.parameters_of(outputs).numpy()
    centre, steps = raw[:, 2], softplus(raw)
    expected = [
        centre - steps[:, 1] - steps[:, 0],
        centre - steps[:, 1],
        centre,
        centre + steps[:, 3],
        centre + steps[:, 3] + steps[:, 4],
    ]
    np.testing.assert_allclose(quantiles, np.stack(expected, axis=-1), rtol=1e-12)


def test_an_untrained_head_has_the_distances_of_a_normal_distribution() -> None:
    torch.manual_seed(0)
    plain = torch.nn.Linear(3, 5).bias.detach()
    torch.manual_seed(0)
    bias = QuantileHead(QUANTILES, 3).linear.bias.detach()
    gaps = np.diff(stats.norm.ppf(QUANTILES))
    added = (bias - plain).numpy()
    np.testing.assert_allclose(softplus(np.delete(added, 2)), gaps, rtol=1e-5)
    assert added[2] == 0


@pytest.mark.parametrize(("quantiles", "centre"), [((0.1,), 0), ((0.1, 0.5, 0.9), 1), ((0.4, 0.6), 0), ((0.7, 0.9), 0)])
def test_the_point_is_the_quantile_nearest_the_median(quantiles: tuple[float, ...], centre: int) -> None:
    assert centre_of(quantiles) == QuantileHead(quantiles, 3).point_index == centre


@pytest.mark.slow
@given(arrays(np.float64, (5, 3), elements=st.floats(-300, 300)))
def test_distributions_are_proper(outputs: np.ndarray) -> None:
    drawn = torch.from_numpy(outputs)
    loc, scale, freedom = StudentTHead(3).parameters_of(drawn).numpy().T
    np.testing.assert_allclose(loc, outputs[:, 0], rtol=0)
    np.testing.assert_allclose(scale, SMALLEST_DEVIATION + softplus(outputs[:, 1]), rtol=1e-9)
    np.testing.assert_allclose(freedom, 2 + SMALLEST_DEVIATION + softplus(outputs[:, 2]), rtol=1e-9)
    assert (scale > 0).all()
    assert (freedom > 2).all()
    np.testing.assert_allclose(GaussianHead(3).parameters_of(drawn[:, :2]).numpy(), np.stack([loc, scale], axis=-1))


@pytest.mark.parametrize("make", [GaussianHead, StudentTHead])
def test_restoring_a_distribution_is_that_of_what_is_restored(make: type[Head]) -> None:
    head = make(3)
    parameters = head.parameters_of(torch.randn(4, 6, head.output_size, dtype=torch.float64))
    loc, scale = torch.randn(4, 1, 1, dtype=torch.float64), torch.rand(4, 1, 1, dtype=torch.float64) + 0.1
    restored = head.restore(parameters, loc, scale)
    draw = uniforms(24).reshape(4, 6, 2)
    expected = head.sample(parameters, draw) * scale[..., 0] + loc[..., 0]
    torch.testing.assert_close(head.sample(restored, draw), expected)


# --------------------------------------------------------------------------- draws


def test_a_point_has_no_draws() -> None:
    with pytest.raises(ValueError, match="point head has no distribution"):
        PointHead(3).sample(torch.zeros(4, 1), torch.zeros(4, 2))
    with pytest.raises(ValueError, match="one quantile"):
        QuantileHead((0.5,), 3).sample(torch.zeros(4, 1), torch.zeros(4, 2))


def test_draws_have_the_distribution_of_the_parameters() -> None:
    number, draw = 20_000, uniforms(20_000)
    normal = GaussianHead(3).sample(torch.tensor([2.0, 3.0], dtype=torch.float64).expand(number, 2), draw)
    assert stats.kstest(normal.numpy(), stats.norm(2, 3).cdf).pvalue > 0.01
    student = torch.tensor([-1.0, 0.5, 3.5], dtype=torch.float64).expand(number, 3)
    drawn = StudentTHead(3).sample(student, draw).numpy()
    assert stats.kstest(drawn, stats.t(3.5, -1, 0.5).cdf).pvalue > 0.01


@pytest.mark.slow
@given(st.floats(0.0, 1.0), st.floats(-5, 5), arrays(np.float64, 4, elements=st.floats(0.01, 5)))
def test_a_quantile_head_draws_by_its_inverse(share: float, first: float, gaps: np.ndarray) -> None:
    quantiles = first + np.concatenate([[0.0], np.cumsum(gaps)])
    head = QuantileHead(QUANTILES, 3).double()
    head.quantiles = torch.tensor(QUANTILES, dtype=torch.float64)
    draw = torch.tensor([[share, 0.3]], dtype=torch.float64)
    drawn = head.sample(torch.from_numpy(quantiles)[None], draw).item()
    share = min(max(share, 1e-7), 1 - 1e-7)
    if QUANTILES[0] <= share <= QUANTILES[-1]:
        np.testing.assert_allclose(drawn, np.interp(share, QUANTILES, quantiles), rtol=1e-9, atol=1e-9)
    elif share < QUANTILES[0]:  # a + b log(u) through the two lowest quantiles
        slope = (quantiles[1] - quantiles[0]) / (np.log(QUANTILES[1]) - np.log(QUANTILES[0]))
        np.testing.assert_allclose(
            drawn, quantiles[0] + slope * (np.log(share) - np.log(QUANTILES[0])), rtol=1e-9, atol=1e-9
        )
    else:
        slope = (quantiles[-1] - quantiles[-2]) / (np.log(1 - QUANTILES[-2]) - np.log(1 - QUANTILES[-1]))
        expected = quantiles[-1] - slope * (np.log(1 - share) - np.log(1 - QUANTILES[-1]))
        np.testing.assert_allclose(drawn, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", ["quantile", "gaussian", "student-t"])
def test_draws_stay_finite_at_the_ends(kind: str) -> None:
    heads: dict[str, Head] = {
        "quantile": QuantileHead(QUANTILES, 3),
        "gaussian": GaussianHead(3),
        "student-t": StudentTHead(3),
    }
    head = heads[kind]
    parameters = head.parameters_of(torch.randn(4, head.output_size))
    ends = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert torch.isfinite(head.sample(parameters, ends)).all()


# --------------------------------------------------------------------------- in a network


@pytest.mark.parametrize("kind", HEADS)
@pytest.mark.parametrize("decoding", ["direct", "autoregressive"])
@BOTH_ORDERS
def test_the_point_is_among_the_parameters(name: str, kind: str, decoding: str) -> None:
    network, batch = make_network(name, decoding=decoding, **HEADS[kind]), make_batch()
    output = network(batch)
    torch.testing.assert_close(output.prediction, network.decoder.head.point(output.parameters), rtol=0, atol=0)
    if kind == "quantile":
        assert (output.parameters.diff(dim=-1) >= 0).all()


@pytest.mark.parametrize("kind", ["quantile", "gaussian", "student-t"])
@BOTH_ORDERS
def test_the_head_changes_no_first_weights(name: str, kind: str) -> None:
    """What is looked at before anything is answered does not depend on what is answered."""
    network, plain = make_network(name, **HEADS[kind]), make_network(name)
    same = {key: value for key, value in plain.state_dict().items() if "head" not in key}
    network.load_state_dict(same, strict=False)
    batch = make_batch()
    torch.testing.assert_close(network(batch).weights, plain(batch).weights, rtol=0, atol=0)


@pytest.mark.parametrize("kind", ["quantile", "gaussian", "student-t"])
@BOTH_ORDERS
def test_a_path_is_drawn_step_by_step(name: str, kind: str) -> None:
    """Each value drawn is what teacher forcing with that value would have fed, and is the head's of that step."""
    network, batch = make_network(name, decoding="autoregressive", **HEADS[kind]), make_batch()
    number, horizon = batch.future_target.shape
    draw = uniforms(number * horizon, seed=5).reshape(number, horizon, 2)
    drawn = network(batch, uniform=draw)
    forced = network(batch._replace(future_target=drawn.prediction.detach()), teacher_forcing=1.0)
    torch.testing.assert_close(drawn.parameters, forced.parameters)
    expected = network.decoder.head.sample(forced.parameters, draw)
    assert_equal(drawn.prediction, expected.detach().numpy())
    free = network(batch)
    torch.testing.assert_close(drawn.parameters[:, 0], free.parameters[:, 0], rtol=0, atol=1e-12)
    assert not torch.allclose(drawn.parameters[:, 1:], free.parameters[:, 1:])
