"""What one forecast owes to each input, against captum, against the network's own forecast, and by hand."""

import copy
import dataclasses
from typing import Any

import captum.attr
import numpy as np
import pytest
import torch
from torch import Tensor

from forecast_attn.audit import attribution
from forecast_attn.audit.attribution import NetworkInputs, attribute
from forecast_attn.audit.importance import integrate
from forecast_attn.data.windows import Window
from forecast_attn.forecasting.inference import forecast_windows
from forecast_attn.forecasting.model import Model
from forecast_attn.nn.network import ForecastNetwork

from .test_every_kind import KINDS, untrained

MORE: list[dict[str, Any]] = [
    {"attention": "none", "transform": "log", "linear_path": True, "lags": (3, 7)},
    {
        "attention": "multi-head",
        "heads": 2,
        "patch_length": 7,
        "quantiles": (0.1, 0.5, 0.9),
        "temporal_decoder_size": 4,
    },
    {"attention": "luong-concat", "distribution": "student-t", "window_normalisation": "last-season"},
]
pytestmark = pytest.mark.slow


def explained(**options: Any) -> tuple[Model, Window, int, int, Any]:
    """An untrained network, one of its validation windows, the window's row and series, and the table."""
    model, preparation = untrained(**options)
    panel = preparation.panel
    row = int(preparation.validation_cutoffs[3])
    window = model.schema.windows_of(panel).gather(torch.tensor([row]))
    return model, window, row, int(panel.series_of_rows[row]), panel


def precise(model: Model, window: Window) -> tuple[Model, Window]:
    """Both in float64, so that two integrals agree in many digits."""
    network: ForecastNetwork = copy.deepcopy(model.network).double()
    wide = [each.double() if isinstance(each, Tensor) and each.is_floating_point() else each for each in window]
    return dataclasses.replace(model, networks=(network,)), Window(*wide)


@pytest.mark.parametrize("options", [*KINDS, *MORE], ids=lambda options: "-".join(map(str, options.values())))
def test_integrated_gradients_are_captum_s(options: dict[str, Any]) -> None:
    model, window, _, series, _ = explained(**options)
    model, window = precise(model, window)
    scale, inputs = attribution.read_inputs(model.network, window)
    baseline = attribution.baseline_of(inputs, model.schema)
    function = attribution.forecast_function(model, window, scale, series, [0, 2])

    def of_parts(*parts: Tensor) -> Tensor:
        return function(NetworkInputs(*parts))

    integrals = integrate(of_parts, inputs, baseline, 32, attribution.POINTS_AT_ONCE)
    expected = captum.attr.IntegratedGradients(of_parts).attribute(
        tuple(inputs), baselines=tuple(baseline), n_steps=32, method="gausslegendre"
    )
    assert sum(each.abs().sum() for each in integrals) > 0
    for actual, reference in zip(integrals, expected, strict=True):
        torch.testing.assert_close(actual, reference.detach().double(), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("options", [*KINDS, *MORE], ids=lambda options: "-".join(map(str, options.values())))
def test_attributions_add_up_to_the_forecast_that_predict_makes(options: dict[str, Any]) -> None:
    model, window, row, series, panel = explained(**options)
    embeddings = model.network.embeddings
    result = attribute(model, window, series, [1])
    (batch,) = forecast_windows(model, panel, np.array([row]), need_weights=False)
    assert result.forecast == pytest.approx(batch.prediction[0, 1], rel=1e-5)
    assert result.adds_up
    total = sum(each.total for each in result.inputs)
    assert result.baseline + total + result.residual == pytest.approx(result.forecast, rel=1e-12)
    assert {each.name for each in result.inputs} >= {"target", "a", "b", "kind", "c", "d", "plan", "size", "type"}
    assert [abs(each.total) for each in result.inputs] == sorted(
        (abs(each.total) for each in result.inputs), reverse=True
    )
    assert model.network.embeddings is embeddings
    assert not model.network.normalisation._forward_hooks


def test_what_is_missing_or_not_known_gets_nothing() -> None:
    model, window, _, series, _ = explained(attention="luong-general", missing="mask")
    hidden = window.past_covariates.clone()
    hidden[0, 4, [0, 2]] = 0  # column a at one step, and its indicator
    target, observed = window.past_target.clone(), torch.ones_like(window.past_target, dtype=torch.bool)
    target[0, 2], observed[0, 2] = 0, False
    seen = window._replace(past_covariates=hidden, past_target=target, past_observed=observed)
    inputs = {each.name: each for each in attribute(model, seen, series, [0, 1, 2]).inputs}
    assert inputs["a"].past[4] == inputs["target"].past[2] == 0
    assert inputs["a"].past[3] != 0 != inputs["target"].past[3]
    assert (inputs["d"].future[2:] == 0).all()  # known for two steps only
    assert (inputs["d"].future[:2] != 0).all()


def test_baselines_are_the_level_of_the_window_and_the_means_of_training() -> None:
    model, window, row, series, panel = explained(attention="luong-general")
    inputs = {each.name: each for each in attribute(model, window, series, [0]).inputs}
    lookback, horizon = model.schema.lookback, model.schema.horizon
    past, ahead = slice(row + 1 - lookback, row + 1), slice(row + 1, row + 1 + horizon)
    assert inputs["target"].value == pytest.approx(panel.target[past].mean(), rel=1e-6)
    assert inputs["target"].baseline == pytest.approx(panel.target[past].mean(), rel=1e-6)
    assert inputs["a"].value == pytest.approx(panel.past_covariates[past, 0].mean(), rel=1e-6)
    assert inputs["c"].value == pytest.approx(panel.future_covariates[ahead, 0].mean(), rel=1e-6)
    assert inputs["c"].baseline == model.schema.scaler.future.loc[series, 0]
    assert inputs["size"].value == pytest.approx(panel.static_covariates[series, 0], rel=1e-6)
    assert inputs["kind"].value is inputs["plan"].baseline is None


@pytest.mark.parametrize("transform", ["none", "arcsinh", "log"])
def test_units_are_the_scaler_s(transform: str) -> None:
    model, _ = untrained(transform=transform)
    scaled = torch.linspace(-3, 3, 7, dtype=torch.float64)[None]
    actual = attribution.in_units(scaled, model.schema.scaler, 1)
    expected = model.schema.scaler.target_in_units(scaled.numpy(), np.array([1]))
    np.testing.assert_allclose(actual.numpy(), expected, rtol=1e-12)


def test_memory_does_not_grow_with_the_points() -> None:
    sizes = []

    def function(target: Tensor, static: Tensor, *_: Tensor) -> Tensor:
        sizes.append(len(target))
        return (target**2).sum(dim=1) + 3 * static[:, 0]

    ends = [torch.tensor([[1.0, 2.0], [0.0, 1.0]]), torch.ones(2, 1), torch.ones(2, 1, 3), torch.ones(2, 0)]
    target, static, unread, none = integrate(function, ends, [torch.zeros_like(each) for each in ends], 100, 32)
    np.testing.assert_allclose(target, [[1, 4], [0, 1]], rtol=1e-6)
    np.testing.assert_allclose(static, [[3], [3]], rtol=1e-6)
    assert (unread == 0).all() and none.shape == (2, 0)
    assert max(sizes) == 2 * 32
