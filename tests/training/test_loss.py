"""The loss over what is known, against loops in numpy."""

import numpy as np
import pytest
import torch

from forecast_attn.training.loss import LOSSES, mean_loss, window_losses


def loss_of(name: str, error: float) -> float:
    if name == "mae":
        return abs(error)
    if name == "mse":
        return error**2
    return 0.5 * error**2 if abs(error) < 1 else abs(error) - 0.5


@pytest.fixture
def batch() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    prediction = torch.randn(6, 4, generator=generator, dtype=torch.float64, requires_grad=True)
    target = 2 * torch.randn(6, 4, generator=generator, dtype=torch.float64)
    target[0, 1] = target[2, 3] = target[5, 0] = torch.nan
    weight = torch.tensor([1.0, 0.5, 2.0, 1.0, 0.0, 1.5], dtype=torch.float64)
    return prediction, target, weight


@pytest.mark.parametrize("name", LOSSES)
def test_missing_steps_do_not_count_and_weights_do(name: str, batch: tuple[torch.Tensor, ...]) -> None:
    prediction, target, weight = batch
    losses = [
        weight[w].item() * loss_of(name, prediction[w, h].item() - target[w, h].item())
        for w in range(6)
        for h in range(4)
        if not np.isnan(target[w, h].item())
    ]
    np.testing.assert_allclose(mean_loss(name, prediction, target, weight).item(), np.mean(losses), rtol=1e-12)


@pytest.mark.parametrize("name", LOSSES)
def test_without_holes_and_weights_it_is_the_plain_loss(name: str, batch: tuple[torch.Tensor, ...]) -> None:
    prediction, target, _ = batch
    target = target.nan_to_num()
    plain = mean_loss(name, prediction, target, None)
    torch.testing.assert_close(plain, mean_loss(name, prediction, target, torch.ones(6, dtype=torch.float64)))
    torch.testing.assert_close(plain * 24, window_losses(name, prediction, target).sum())


@pytest.mark.parametrize("name", LOSSES)
def test_a_missing_step_has_no_gradient(name: str, batch: tuple[torch.Tensor, ...]) -> None:
    prediction, target, weight = batch
    mean_loss(name, prediction, target, weight).backward()
    assert prediction.grad is not None
    assert torch.isfinite(prediction.grad).all()
    assert (prediction.grad[target.isnan()] == 0).all()
    assert (prediction.grad[4] == 0).all()
    assert (prediction.grad[1][~target[1].isnan()] != 0).all()
