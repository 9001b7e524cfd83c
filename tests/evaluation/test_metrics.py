"""Errors over windows against slow, obvious code; a missing value or scale leaves out, and never gives infinity."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forecast_attn.evaluation.metrics import point_metrics, skill_per_cent

values = st.floats(-1e6, 1e6)
shapes = st.tuples(st.integers(1, 6), st.integers(1, 5))


def slowly(actual: np.ndarray, prediction: np.ndarray, naive_error: np.ndarray) -> dict[str, float | None]:
    errors, scaled = [], []
    for window, scale in enumerate(naive_error):
        absolute = [abs(p - a) for a, p in zip(actual[window], prediction[window], strict=True) if not math.isnan(a)]
        errors += absolute
        if scale > 0:
            scaled += [error / scale for error in absolute]
    if not errors:
        return {"mae": None, "rmse": None, "mase": None}
    return {
        "mae": sum(errors) / len(errors),
        "rmse": math.sqrt(sum(error * error for error in errors) / len(errors)),
        "mase": sum(scaled) / len(scaled) if scaled else None,
    }


@pytest.mark.slow
@given(data=st.data(), shape=shapes)
def test_against_slow_code(data: st.DataObject, shape: tuple[int, int]) -> None:
    actual = data.draw(arrays(float, shape, elements=values | st.just(math.nan)))
    prediction = data.draw(arrays(float, shape, elements=values))
    naive_error = data.draw(arrays(float, shape[0], elements=st.sampled_from([0.0, math.nan, 0.5, 3.0])))
    got, expected = point_metrics(actual, prediction, naive_error), slowly(actual, prediction, naive_error)
    for name, value in expected.items():
        if value is None:
            assert got[name] is None
        else:
            assert got[name] is not None
            np.testing.assert_allclose(got[name], value, rtol=1e-9, atol=1e-300)


def test_without_missing_values_bit_equal_to_plain_means() -> None:
    rng = np.random.default_rng(0)
    for windows, horizon in ((1, 1), (7, 24), (300, 13), (1024, 48)):
        actual, prediction = rng.normal(size=(2, windows, horizon))
        naive_error = rng.random(windows) + 0.1
        error = np.abs(prediction - actual)
        assert point_metrics(actual, prediction, naive_error) == {
            "mae": float(error.mean()),
            "rmse": math.sqrt(float(np.square(error).mean())),
            "mase": float((error / naive_error[:, None]).mean()),
        }


def test_constant_series_have_no_mase() -> None:
    got = point_metrics(np.zeros((2, 3)), np.ones((2, 3)), np.array([math.nan, 0.0]))
    assert got == {"mae": 1.0, "rmse": 1.0, "mase": None}


@pytest.mark.parametrize(
    ("error", "baseline", "skill"),
    [(1.0, 2.0, 50.0), (3.0, 2.0, -50.0), (0.0, 2.0, 100.0), (1.0, 0.0, None), (0.0, 0.0, None), (1.0, 1e-310, None)],
)
def test_skill_is_a_number_or_nothing(error: float, baseline: float, skill: float | None) -> None:
    """A metrics file is JSON, which has no infinity."""
    assert skill_per_cent(error, baseline) == skill
