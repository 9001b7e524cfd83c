"""Likelihoods and quantiles of counts against scipy: the negative binomial, and Tweedie as a sum of a Poisson number of
exponential amounts."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from forecast_attn.forecasting.quantiles import quantiles_of
from forecast_attn.nn.heads import NegativeBinomialHead, TweedieHead
from forecast_attn.training.loss import loss_of, mean_loss

MEANS, DISPERSIONS = st.floats(0.01, 1e4), st.floats(0.005, 50)
LEVELS = (0.05, 0.3, 0.5, 0.9, 0.99)


def numpy_loss(head: torch.nn.Module, mean: float, dispersion: float, value: float) -> float:
    parameters = torch.tensor([mean, dispersion], dtype=torch.float64)
    return float(loss_of(head, "")(parameters, torch.tensor(value, dtype=torch.float64), "none"))


def amounts(mean: float, dispersion: float) -> tuple[float, float]:
    """Expected number of amounts, and the mean of each, by the moments: mean and variance dispersion · mean^1.5."""
    size = dispersion * mean**1.5 / (2 * mean)  # the variance of such a sum is 2 · number · size²
    return mean / size, size


def tweedie_density(value: float, mean: float, dispersion: float) -> float:
    number, size = amounts(mean, dispersion)
    if value == 0:
        return float(np.exp(-number))
    counts = np.arange(1, 20_000)
    return float((stats.poisson.pmf(counts, number) * stats.gamma.pdf(value, counts, scale=size)).sum())


def tweedie_below(value: float, mean: float, dispersion: float) -> float:
    number, size = amounts(mean, dispersion)
    counts = np.arange(1, 20_000)
    return float(
        np.exp(-number) + (stats.poisson.pmf(counts, number) * stats.gamma.cdf(value, counts, scale=size)).sum()
    )


@pytest.mark.slow
@given(MEANS, DISPERSIONS, st.integers(0, 5000))
def test_the_likelihood_of_a_negative_binomial(mean: float, dispersion: float, value: int) -> None:
    number = 1 / dispersion
    expected = -stats.nbinom.logpmf(value, number, number / (number + mean))
    assert numpy_loss(NegativeBinomialHead(4), mean, dispersion, value) == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("value", [0.0, 0.25, 1.0, 7.0, 130.0])
@pytest.mark.parametrize(("mean", "dispersion"), [(0.05, 3.0), (1.0, 1.0), (6.0, 0.4), (100.0, 2.0)])
def test_the_likelihood_of_tweedie(mean: float, dispersion: float, value: float) -> None:
    density = tweedie_density(value, mean, dispersion)
    if density > 1e-280:
        assert numpy_loss(TweedieHead(4), mean, dispersion, value) == pytest.approx(-np.log(density), rel=1e-7)


@pytest.mark.slow
@given(MEANS, DISPERSIONS)
def test_quantiles_of_a_negative_binomial(mean: float, dispersion: float) -> None:
    number = 1 / dispersion
    actual = quantiles_of("negative-binomial", np.array([[[mean, dispersion]]]), LEVELS)[0, 0]
    below = stats.nbinom.cdf(actual, number, number / (number + mean))
    assert (below >= np.array(LEVELS) * (1 - 1e-9)).all()
    assert (stats.nbinom.cdf(actual - 1, number, number / (number + mean)) <= np.array(LEVELS) * (1 + 1e-9)).all()
    assert (np.diff(actual) >= 0).all()
    assert (actual == np.round(actual)).all()


@pytest.mark.parametrize(("mean", "dispersion"), [(0.01, 3.0), (0.1, 2.0), (1.0, 1.0), (6.0, 0.4), (900.0, 0.1)])
def test_quantiles_of_tweedie(mean: float, dispersion: float) -> None:
    actual = quantiles_of("tweedie", np.array([[[mean, dispersion]]]), LEVELS)[0, 0]
    zero = tweedie_below(0, mean, dispersion)
    for level, value in zip(LEVELS, actual, strict=True):
        if level <= zero:
            assert value == 0
        else:
            assert tweedie_below(value, mean, dispersion) == pytest.approx(level, abs=1e-6)


@pytest.mark.parametrize("head", [NegativeBinomialHead(4), TweedieHead(4)])
def test_parameters_in_another_unit_are_those_of_the_values_in_it(head: NegativeBinomialHead | TweedieHead) -> None:
    """Mean and deviation of a Tweedie variable change with the unit; a negative binomial one keeps its dispersion."""
    parameters = head.parameters_of(torch.tensor([[0.3, -0.5]]))
    scaled = head.restore(parameters, torch.zeros(1, 1), torch.full((1, 1), 7.0))
    assert scaled[0, 0] == pytest.approx(7 * parameters[0, 0])
    if head.kind == "tweedie":
        deviation = (parameters[0, 1] * parameters[0, 0] ** 1.5).sqrt()
        assert (scaled[0, 1] * scaled[0, 0] ** 1.5).sqrt() == pytest.approx(7 * deviation)
    else:
        assert scaled[0, 1] == parameters[0, 1]


@pytest.mark.parametrize("head", [NegativeBinomialHead(4), TweedieHead(4)])
def test_gradients_are_finite_far_out_and_where_values_are_missing(head: NegativeBinomialHead | TweedieHead) -> None:
    outputs = torch.tensor([[-60.0, -60.0], [80.0, 3.0], [0.0, 0.0]], requires_grad=True)
    target = torch.tensor([[0.0], [5000.0], [torch.nan]])
    parameters = head.parameters_of(outputs)[:, None]
    loss = mean_loss(loss_of(head, ""), parameters, target, torch.ones(3))
    loss.backward()
    assert torch.isfinite(loss)
    assert outputs.grad is not None
    assert torch.isfinite(outputs.grad).all()
    assert (outputs.grad[2] == 0).all()


@pytest.mark.parametrize("head", [NegativeBinomialHead(4), TweedieHead(4)])
def test_the_likelihood_finds_the_mean_again(head: NegativeBinomialHead | TweedieHead) -> None:
    """Of 400 draws: the best parameters are near those that made them."""
    rng = np.random.default_rng(3)
    draws = rng.negative_binomial(2, 2 / (2 + 3.0), 400).astype(float)  # mean 3, dispersion 0.5
    if head.kind == "tweedie":
        number, size = amounts(3.0, 1.0)
        draws = np.array([rng.exponential(size, count).sum() for count in rng.poisson(number, 400)])
    outputs = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([outputs], max_iter=60)
    target, loss = torch.from_numpy(draws), loss_of(head, "")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        value = loss(head.parameters_of(outputs).expand(len(draws), 2), target, "mean")
        value.backward()
        return value

    optimiser.step(closure)
    mean, dispersion = head.parameters_of(outputs).detach().numpy()
    assert mean == pytest.approx(draws.mean(), rel=0.02)
    assert dispersion == pytest.approx(1.0 if head.kind == "tweedie" else 0.5, rel=0.2)
