"""Quantiles in the target's units never cross, whatever head, parameters, scale, transform and offsets."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from forecast_attn.data.scaling import Scaler
from forecast_attn.data.transforms import Affine, Transform, identity
from forecast_attn.forecasting.calibration import Calibration
from forecast_attn.forecasting.quantiles import cut_off, in_units, quantiles_of
from forecast_attn.nn.heads import GaussianHead, Head, QuantileHead, StudentTHead

QUANTILES = (0.01, 0.1, 0.5, 0.9)
HORIZON, SERIES = 3, np.array([1, 0])
HEADS: dict[str, Any] = {
    "quantile": QuantileHead(QUANTILES, 3),
    "gaussian": GaussianHead(3),
    "student-t": StudentTHead(3),
}

numbers = st.floats(-1e4, 1e4, width=32)
units = st.tuples(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))


def scaler_of(kind: str, target: tuple[float, float], unit: tuple[float, float]) -> Scaler:
    def affine(loc: float, scale: float) -> Affine:
        return Affine(np.array([loc, -loc]), np.array([scale, 2 * scale]))

    none = identity(2, 0)
    transform = Transform(kind, affine(*unit) if kind == "arcsinh" else identity(2))
    return Scaler("standard", ("a", "b"), affine(*target), none, none, identity(0), (), transform)


@pytest.mark.slow
@given(
    data=st.data(),
    kind=st.sampled_from(list(HEADS)),
    transform=st.sampled_from(["none", "arcsinh", "log"]),
    target=units,
    unit=units,
    calibrated=st.booleans(),
    non_negative=st.booleans(),
)
def test_quantiles_never_cross(
    data: st.DataObject,
    kind: str,
    transform: str,
    target: tuple[float, float],
    unit: tuple[float, float],
    calibrated: bool,
    non_negative: bool,
) -> None:
    head: Head = HEADS[kind]
    outputs = data.draw(arrays(np.float32, (2, HORIZON, head.output_size), elements=numbers))
    base = quantiles_of(kind, head.parameters_of(torch.from_numpy(outputs)).numpy(), QUANTILES)
    assert (np.diff(base) >= 0).all()
    if calibrated:
        offsets = data.draw(arrays(np.float64, (HORIZON, len(QUANTILES)), elements=numbers))
        base = Calibration("cqr", QUANTILES, offsets, np.full(HORIZON, 200)).apply(base)
    values = in_units(base, scaler_of(transform, target, unit), SERIES, non_negative=non_negative)
    assert values.shape == (2, HORIZON, len(QUANTILES))
    assert np.isfinite(values).all()
    assert (np.diff(values) >= 0).all()
    if non_negative:
        assert (values >= 0).all()
        assert not np.signbit(values).any()


@pytest.mark.slow
@given(parameters=arrays(np.float64, (2, HORIZON, 3), elements=st.floats(-100, 100)))
def test_quantiles_of_distributions_are_those_of_scipy(parameters: np.ndarray) -> None:
    loc, scale, freedom = np.moveaxis(parameters, -1, 0)
    scale, freedom = np.abs(scale) + 0.01, np.abs(freedom) + 2.01
    normal = quantiles_of("gaussian", np.stack([loc, scale], axis=-1), QUANTILES)
    student = quantiles_of("student-t", np.stack([loc, scale, freedom], axis=-1), QUANTILES)
    for index, quantile in enumerate(QUANTILES):
        np.testing.assert_allclose(normal[..., index], stats.norm.ppf(quantile, loc, scale), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(
            student[..., index], stats.t.ppf(quantile, freedom, loc, scale), rtol=1e-9, atol=1e-9
        )


def test_a_point_stands_for_every_quantile() -> None:
    point = np.random.default_rng(0).normal(size=(2, HORIZON, 1))
    assert (quantiles_of("point", point, QUANTILES) == point).all()


@pytest.mark.parametrize("transform", ["none", "arcsinh", "log"])
def test_a_quantile_keeps_being_the_quantile(transform: str) -> None:
    """As many of the values lie below a quantile in units as lay below it on the series' scale."""
    scaler = scaler_of(transform, (1.5, 0.4), (20.0, 7.0))
    values = np.random.default_rng(0).gamma(3, 5, size=5_000)
    scaled = scaler.scale_target(values, np.zeros(5_000, np.int64))
    quantiles = np.quantile(scaled, QUANTILES)[None, None]
    restored = in_units(quantiles, scaler, np.zeros(1, np.int64), non_negative=False)[0, 0]
    np.testing.assert_allclose((values[:, None] <= restored).mean(axis=0), QUANTILES, atol=1e-3)


def test_what_is_cut_off_has_no_minus() -> None:
    assert [str(value) for value in cut_off(np.array([-0.0, -3.0, 2.0]))] == ["0.0", "0.0", "2.0"]
