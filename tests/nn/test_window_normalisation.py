"""Location and scale of a window, and the features that tell a network where a step lies."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.nn.inputs import NUM_WAVELENGTHS, SHORTEST_WAVELENGTH, position_features
from forecast_attn.nn.window_normalisation import SMALLEST_SCALE, WindowNormalisation

LOOKBACK, SEASON = 12, 5
KINDS = ("standard", "last-season", "none")


def make_past(batch: int = 3) -> torch.Tensor:
    return 4 + 2 * torch.randn(batch, LOOKBACK, dtype=torch.float64)


def test_statistics_are_those_of_the_window() -> None:
    past = make_past()
    values = past.numpy()
    deviation = np.sqrt(((values - values.mean(axis=1, keepdims=True)) ** 2).mean(axis=1))
    for kind, mean in {"standard": values.mean(axis=1), "last-season": values[:, -SEASON:].mean(axis=1)}.items():
        loc, scale = WindowNormalisation(kind, SEASON)(past)
        np.testing.assert_allclose(loc[:, 0], mean, rtol=0, atol=1e-12)
        np.testing.assert_allclose(scale[:, 0], deviation, rtol=0, atol=1e-12)
    loc, scale = WindowNormalisation("none", SEASON)(past)
    assert loc.tolist() == [[0.0]] * 3
    assert scale.tolist() == [[1.0]] * 3


@pytest.mark.parametrize("kind", KINDS)
def test_restoring_undoes_normalising(kind: str) -> None:
    past, horizon = make_past(), torch.randn(3, 4, dtype=torch.float64)
    scale = WindowNormalisation(kind, SEASON)(past)
    torch.testing.assert_close(scale.restore(scale.normalise(horizon)), horizon)


@pytest.mark.parametrize("kind", ["standard", "last-season"])
@settings(deadline=None, max_examples=50)
@given(factor=st.floats(0.1, 1e4), shift=st.floats(-1e4, 1e4))
def test_a_window_moved_and_stretched_looks_the_same_and_is_restored_moved_and_stretched(
    kind: str, factor: float, shift: float
) -> None:
    normalisation, past = WindowNormalisation(kind, SEASON), make_past()
    forecast = torch.randn(3, 4, dtype=torch.float64)
    before, after = normalisation(past), normalisation(past * factor + shift)
    moved = past * factor + shift
    torch.testing.assert_close(after.normalise(moved), before.normalise(past), rtol=1e-8, atol=1e-8)
    torch.testing.assert_close(after.restore(forecast), before.restore(forecast) * factor + shift, rtol=1e-8, atol=1e-8)


def test_features_tell_what_normalising_took_away() -> None:
    past = make_past()
    scale = WindowNormalisation("standard", SEASON)(past)
    level, log_scale = scale.features().T
    torch.testing.assert_close(scale.normalise(past) * log_scale.exp()[:, None] + level[:, None], past)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lookback", [1, LOOKBACK])
def test_a_flat_window_stays_finite(kind: str, lookback: int) -> None:
    past = torch.full((2, lookback), 7.0, requires_grad=True)
    scale = WindowNormalisation(kind, SEASON)(past)
    normalised = scale.normalise(past)
    assert scale.features().isfinite().all()
    assert (normalised == (7 if kind == "none" else 0)).all()
    normalised.sum().backward()
    assert past.grad.isfinite().all()
    assert (scale.scale == (1 if kind == "none" else SMALLEST_SCALE)).all()


def test_a_season_longer_than_the_lookback_is_all_of_it() -> None:
    past = make_past()
    whole = WindowNormalisation("standard", SEASON)(past)
    torch.testing.assert_close(WindowNormalisation("last-season", LOOKBACK + 3)(past), whole)


# --------------------------------------------------------------------------- position


@pytest.mark.parametrize(("lookback", "horizon", "lag"), [(24, 7, 1), (24, 7, 24), (3, 40, 5), (1, 1, 1)])
def test_a_lag_is_the_same_rotation_from_every_step(lookback: int, horizon: int, lag: int) -> None:
    """So a bilinear score can look that far back whatever the step."""
    steps = torch.cat(position_features(lookback, horizon)).double()
    longest = 2 * (lookback + horizon)
    ratio = (longest / SHORTEST_WAVELENGTH) ** (1 / (NUM_WAVELENGTHS - 1))
    angles = torch.tensor([2 * math.pi * lag / (SHORTEST_WAVELENGTH * ratio**k) for k in range(NUM_WAVELENGTHS)])
    cos, sin = torch.diag(angles.cos().double()), torch.diag(angles.sin().double())
    rotation = torch.cat([torch.cat([cos, -sin], dim=1), torch.cat([sin, cos], dim=1)])
    torch.testing.assert_close(steps[lag:] @ rotation.T, steps[:-lag], rtol=0, atol=2e-5)


def test_the_cut_off_is_the_origin() -> None:
    past, future = position_features(9, 4)
    zero, one = torch.zeros(NUM_WAVELENGTHS), torch.ones(NUM_WAVELENGTHS)
    torch.testing.assert_close(past[-1], torch.cat([zero, one]))
    assert (past.shape, future.shape) == ((9, 2 * NUM_WAVELENGTHS), (4, 2 * NUM_WAVELENGTHS))
    quarter = torch.tensor([1.0, 0.0])  # one step is a quarter of the shortest wavelength
    torch.testing.assert_close(future[0, [0, NUM_WAVELENGTHS]], quarter)


def test_no_two_steps_of_a_window_lie_at_the_same_place() -> None:
    steps = torch.cat(position_features(168, 24))
    distances = torch.cdist(steps, steps) + 10 * torch.eye(len(steps))
    assert distances.min() > 0.1
