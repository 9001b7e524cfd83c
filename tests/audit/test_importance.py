"""Explanations by occlusion and by gradients, against captum and against what the mathematics demands."""

import copy
import dataclasses
from collections.abc import Callable

import captum.attr
import numpy as np
import pytest
import torch
from torch import Tensor

from forecast_attn.audit import importance
from forecast_attn.audit.subject import Subject
from forecast_attn.data.windows import Window

from .conftest import HORIZON, LOOKBACK
from .conftest import WINDOWS_EXPLAINED as WINDOWS

pytestmark = pytest.mark.slow
Path = tuple[Callable[[Tensor], Tensor], Tensor, Tensor]
STEPS = np.arange(WINDOWS) % HORIZON


@pytest.fixture(scope="module")
def path(subject: Subject) -> Path:
    """In float64, so that both sides of a comparison agree in many digits."""
    model = dataclasses.replace(subject.model, networks=(copy.deepcopy(subject.model.network).double(),))
    ((_, window),) = subject.batches()
    precise = (each.double() if isinstance(each, Tensor) and each.is_floating_point() else each for each in window)
    varying = torch.zeros(model.network.encoder.layers.input_size, dtype=torch.bool)
    varying[:3] = True  # target, driver, noise
    return importance.path_function(dataclasses.replace(subject, model=model), Window(*precise), STEPS, varying)


def test_integrated_gradients_are_captum_s(path: Path) -> None:
    function, inputs, baseline = path
    expected = captum.attr.IntegratedGradients(function).attribute(
        inputs, baselines=baseline, n_steps=32, method="gausslegendre", internal_batch_size=WINDOWS
    )
    (actual,) = importance.integrate(function, [inputs], [baseline], 32)
    torch.testing.assert_close(actual, expected, rtol=1e-6, atol=1e-9)


def test_integrated_gradients_add_up_to_the_change_of_the_forecast(
    path: Path,
) -> None:
    function, inputs, baseline = path
    (attribution,) = importance.integrate(function, [inputs], [baseline], 64)
    with torch.no_grad():
        change = function(inputs) - function(baseline)
    assert change.abs().min() > 1e-3
    torch.testing.assert_close(attribution.sum(dim=(1, 2)), change, rtol=1e-5, atol=1e-6)
    assert (attribution[..., 3:] == 0).all()


def test_gradient_times_input_is_captum_s(subject: Subject, path: Path) -> None:
    function, inputs, baseline = path
    shifted = captum.attr.InputXGradient(lambda distance: function(baseline + distance))
    expected = shifted.attribute((inputs - baseline).requires_grad_(True)).sum(dim=-1).abs().detach().numpy()
    actual = importance.gradient_input(subject, STEPS, importance.varying_columns(subject))
    np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-5)


def test_leaving_an_input_out_is_captum_s_ablation(subject: Subject, path: Path) -> None:
    function, inputs, baseline = path
    groups = torch.arange(LOOKBACK)[None, :, None].expand(1, LOOKBACK, inputs.shape[-1])
    expected = captum.attr.FeatureAblation(function).attribute(inputs, baselines=baseline, feature_mask=groups)
    actual = importance.input_occlusion(
        subject, subject.reference_forecasts(), STEPS, importance.varying_columns(subject)
    )
    scale = subject.scaler.target.scale[0]
    np.testing.assert_allclose(actual, scale * expected[..., 0].abs().detach().numpy(), rtol=1e-3, atol=1e-4)


def test_leaving_a_state_out_is_renormalising_by_hand(subject: Subject) -> None:
    """The decoder of this mechanism reads nothing but its context vector: W_c [c; h], c without one value."""
    reference = subject.reference_forecasts()
    actual = importance.state_occlusion(subject, reference, STEPS)
    network, ((_, window),) = subject.model.network, subject.batches()
    prepare = network.decoder.attention.prepare
    for position in (2, LOOKBACK - 4):
        seen = torch.ones(WINDOWS, LOOKBACK, dtype=torch.bool)
        seen[:, position] = False
        network.decoder.attention.prepare = lambda value, key=None, mask=None, seen=seen: prepare(value, key, seen)
        with torch.no_grad():
            prediction = network(window).prediction.numpy().astype(np.float64)
        del network.decoder.attention.prepare
        change = subject.scaler.target_in_units(prediction, subject.series) - reference.prediction
        np.testing.assert_allclose(actual[:, position], np.abs(change[np.arange(WINDOWS), STEPS]), atol=1e-6)


def test_a_step_s_own_columns_are_found(subject: Subject) -> None:
    """Target, driver and noise; not the level of the window, which is constant, and not the position."""
    varying = importance.varying_columns(subject)
    assert varying.nonzero()[:, 0].tolist() == [0, 1, 2]
