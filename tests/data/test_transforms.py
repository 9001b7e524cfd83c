"""Transforms come back, stay medians, and are free of the unit."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forecast_attn.data.panel import Panel
from forecast_attn.data.scaling import fit_scaler
from forecast_attn.data.split import Split
from forecast_attn.data.transforms import Affine, Transform
from forecast_attn.errors import DataError

from .slow_scales import slow_fit

AsPanel = Callable[..., Panel]


TRANSFORMS = ["none", "arcsinh", "log"]


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=arrays(float, (4, 3), elements=st.floats(0, 1e9)),
    method=st.sampled_from(["standard", "robust", "mean-abs", "none"]),
    transform=st.sampled_from(TRANSFORMS),
)
def test_there_and_back_again(panel: Panel, split: Split, values: np.ndarray, method: str, transform: str) -> None:
    scaler = fit_scaler(panel, split, method, transform)
    series = np.array([0, 1, 1, 0])
    scaled = np.stack([scaler.scale_target(column, series) for column in values.T], axis=1)
    assert scaled.dtype == np.float64
    np.testing.assert_allclose(scaler.target_in_units(scaled, series), values, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("method", ["standard", "robust"])
def test_arcsinh_against_scipy(panel: Panel, split: Split, method: str) -> None:
    scaler = fit_scaler(panel, split, method, "arcsinh")
    for index, first in enumerate((0.0, 100.0)):
        training = first + np.arange(18)
        unit = scipy.stats.median_abs_deviation(training, scale="normal")
        transformed = np.arcsinh((training - np.median(training)) / unit)
        loc, scale = slow_fit(transformed, method)
        np.testing.assert_allclose([scaler.target.loc[index], scaler.target.scale[index]], [loc, scale], atol=1e-12)
        got = scaler.scale_target(training, np.full(18, index))
        np.testing.assert_allclose(got, (transformed - loc) / scale, rtol=1e-9, atol=1e-12)


def test_log_against_numpy(panel: Panel, split: Split) -> None:
    scaler = fit_scaler(panel, split, "standard", "log")
    training = np.log1p(100.0 + np.arange(18))
    np.testing.assert_allclose(
        scaler.scale_target(100.0 + np.arange(18), np.ones(18, np.int64)), (training - training.mean()) / training.std()
    )


@pytest.mark.parametrize("factor", [1e-6, 1.0, 1e6])
def test_arcsinh_does_not_depend_on_the_unit(panel: Panel, split: Split, factor: float) -> None:
    scaled = [
        fit_scaler(each, split, "standard", "arcsinh").scale_target(each.target[:18], np.zeros(18, np.int64))
        for each in (panel, replace(panel, target=panel.target * factor))
    ]
    np.testing.assert_allclose(scaled[0], scaled[1], rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@given(shares=st.lists(st.floats(-20, 20), min_size=3, max_size=9))
@pytest.mark.parametrize("transform", ["arcsinh", "log"])
def test_the_median_stays_the_median(transform: str, shares: list[float]) -> None:
    scale = Transform(transform, Affine(np.array([3.0]), np.array([2.0])))
    values = np.array([shares + shares[:1] if len(shares) % 2 == 0 else shares])
    inverse = scale.inverse(values, np.array([0]))
    assert np.median(inverse) == scale.inverse(np.array([[np.median(values)]]), np.array([0]))[0, 0]
    assert (np.diff(inverse[0][np.argsort(values[0])]) >= 0).all()


@pytest.mark.parametrize("transform", ["arcsinh", "log"])
def test_whatever_a_network_says_is_finite(panel: Panel, split: Split, transform: str) -> None:
    scaler = fit_scaler(panel, split, "standard", transform)
    outputs = scaler.target_in_units(np.array([[-1e30, 1e30, 3.0, -3.0]], np.float32), np.array([0]))
    assert np.isfinite(outputs).all()
    assert transform != "log" or (outputs >= 0).all()


def test_log_refuses_negative_targets_wherever_they_are(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    two_series.loc[29, "target"] = -1.0
    with pytest.raises(DataError, match="series 'a' has the negative target -1 at 2024-01-30") as caught:
        fit_scaler(as_panel(two_series), Split(np.datetime64("2024-01-18", "ns")), "standard", "log")
    assert "arcsinh" in str(caught.value.hint)
