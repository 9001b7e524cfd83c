"""The loss over what is known, of every head, against loops in numpy and scipy's densities."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from forecast_attn.nn.heads import GaussianHead, Head, PointHead, QuantileHead, StudentTHead
from forecast_attn.training.loss import POINT_LOSSES, Loss, loss_of, mean_loss, window_losses

QUANTILES = (0.05, 0.5, 0.8)
NAMES = (*POINT_LOSSES, "pinball", "gaussian", "student-t")
SIZES = {"pinball": 3, "gaussian": 2, "student-t": 3}


def make_loss(name: str) -> Loss:
    heads: dict[str, Head] = {
        "pinball": QuantileHead(QUANTILES, 4),
        "gaussian": GaussianHead(4),
        "student-t": StudentTHead(4),
    }
    return loss_of(heads.get(name, PointHead(4)), name)


def loss_by_hand(name: str, parameters: np.ndarray, target: float) -> float:
    if name == "pinball":
        each = [
            max(quantile * (target - q), (quantile - 1) * (target - q))
            for quantile, q in zip(QUANTILES, parameters, strict=True)
        ]
        return sum(each) / 3
    if name == "gaussian":
        return -stats.norm.logpdf(target, *parameters)
    if name == "student-t":
        loc, scale, freedom = parameters
        return -stats.t.logpdf(target, freedom, loc, scale)
    error = parameters[0] - target
    if name == "mae":
        return abs(error)
    if name == "mse":
        return error**2
    return 0.5 * error**2 if abs(error) < 1 else abs(error) - 0.5


def make_parameters(name: str) -> torch.Tensor:
    generator = torch.Generator().manual_seed(3)
    drawn = torch.randn(6, 4, SIZES.get(name, 1), generator=generator, dtype=torch.float64)
    if name in ("gaussian", "student-t"):
        drawn[..., 1] = drawn[..., 1].exp()
    if name == "student-t":
        drawn[..., 2] = 2.1 + 3 * drawn[..., 2].exp()
    return drawn.requires_grad_()


@pytest.fixture
def target() -> torch.Tensor:
    generator = torch.Generator().manual_seed(4)
    target = 2 * torch.randn(6, 4, generator=generator, dtype=torch.float64)
    target[0, 1] = target[2, 3] = target[5, 0] = torch.nan
    return target


@pytest.fixture
def weight() -> torch.Tensor:
    return torch.tensor([1.0, 0.5, 2.0, 1.0, 0.0, 1.5], dtype=torch.float64)


@pytest.mark.parametrize("name", NAMES)
def test_missing_steps_do_not_count_and_weights_do(name: str, target: torch.Tensor, weight: torch.Tensor) -> None:
    parameters = make_parameters(name)
    values = parameters.detach().numpy()
    losses = [
        weight[w].item() * loss_by_hand(name, values[w, h], target[w, h].item())
        for w in range(6)
        for h in range(4)
        if not math.isnan(target[w, h].item())
    ]
    actual_loss = mean_loss(make_loss(name), parameters, target, weight).item()
    np.testing.assert_allclose(actual_loss, np.mean(losses), rtol=1e-7 if name == "pinball" else 1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_without_holes_and_weights_it_is_the_plain_loss(name: str, target: torch.Tensor) -> None:
    loss, parameters, target = make_loss(name), make_parameters(name), target.nan_to_num()
    plain = mean_loss(loss, parameters, target, None)
    torch.testing.assert_close(plain, mean_loss(loss, parameters, target, torch.ones(6, dtype=torch.float64)))
    torch.testing.assert_close(plain * 24, window_losses(loss, parameters, target).sum())


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_step_has_no_gradient(name: str, target: torch.Tensor, weight: torch.Tensor) -> None:
    parameters = make_parameters(name)
    mean_loss(make_loss(name), parameters, target, weight).backward()
    assert parameters.grad is not None
    assert torch.isfinite(parameters.grad).all()
    assert (parameters.grad[target.isnan()] == 0).all()
    assert (parameters.grad[4] == 0).all()
    assert (parameters.grad[1][~target[1].isnan()] != 0).all()


@pytest.mark.slow
@given(st.floats(-50, 50), st.floats(-3, 3), st.floats(0.01, 20), st.floats(2.01, 60))
def test_likelihoods_are_those_of_scipy(target: float, loc: float, scale: float, freedom: float) -> None:
    parameters = torch.tensor([[[loc, scale, freedom]]], dtype=torch.float64)
    actual = torch.tensor([[target]], dtype=torch.float64)
    for name, size in (("gaussian", 2), ("student-t", 3)):
        actual_loss = mean_loss(make_loss(name), parameters[..., :size], actual, None).item()
        expected = loss_by_hand(name, parameters[0, 0, :size].numpy(), target)
        np.testing.assert_allclose(actual_loss, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_the_best_constant_under_the_pinball_loss_is_the_quantile() -> None:
    target = torch.from_numpy(np.random.default_rng(0).gamma(2, size=(1, 999)))
    values = torch.sort(target).values[0]
    loss = torch.stack([make_loss("pinball")(value.expand(1, 999, 3), target, "none").mean() for value in values])
    assert torch.isfinite(loss).all()
    best = torch.stack(
        [
            torch.stack([torch.maximum(quantile * (target - v), (quantile - 1) * (target - v)).mean() for v in values])
            for quantile in QUANTILES
        ]
    )
    torch.testing.assert_close(loss, best.mean(dim=0), rtol=1e-6, atol=0)
    constants = values[best.argmin(dim=1)].numpy()
    np.testing.assert_allclose(constants, np.quantile(target.numpy(), QUANTILES, method="inverted_cdf"))
