"""Conformal offsets against loops, what they promise, and what they refuse."""

import json
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast_attn.errors import DataError
from forecast_attn.forecasting.calibration import (
    Calibration,
    check_enough_values,
    conformal_rank,
    fit_calibration,
    values_needed,
)

QUANTILES = (0.1, 0.25, 0.5, 0.9)
written = st.integers(1, 999).map(lambda thousandths: thousandths / 1000)


@given(quantile=written, count=st.integers(1, 5_000))
def test_ranks_are_counted_exactly(quantile: float, count: int) -> None:
    exact = Decimal(str(quantile)) * (count + 1)
    assert conformal_rank(quantile, count) == (math.ceil(exact) if quantile >= 0.5 else math.floor(exact))


@given(quantiles=st.lists(written, min_size=1, max_size=4, unique=True))
def test_values_needed_is_the_fewest_that_have_every_rank(quantiles: list[float]) -> None:
    def enough(count: int) -> bool:
        return all(1 <= conformal_rank(quantile, count) <= count for quantile in quantiles)

    needed = values_needed(tuple(quantiles))
    assert enough(needed)
    assert not enough(needed - 1)
    assert all(enough(needed + more) for more in (1, 7, 1_000))


def test_offsets_are_order_statistics_of_what_was_observed() -> None:
    rng = np.random.default_rng(0)
    actual, base = rng.normal(size=(60, 3)), rng.normal(size=(60, 3, 4))
    actual[rng.random(actual.shape) < 0.2] = np.nan
    calibration = fit_calibration("cqr", QUANTILES, actual, base)
    for step in range(3):
        for index, quantile in enumerate(QUANTILES):
            above = sorted(
                y - b for y, b in zip(actual[:, step], base[:, step, index], strict=True) if not math.isnan(y)
            )
            rank = (math.ceil if quantile >= 0.5 else math.floor)(Decimal(str(quantile)) * (len(above) + 1))
            assert calibration.offsets[step, index] == above[rank - 1]
            assert calibration.values[step] == len(above)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["split", "cqr"])
def test_new_values_lie_below_as_often_as_promised(kind: str) -> None:
    """Of 39 exchangeable values and a new one, whose place among 40 the quantiles name exactly; 2,000 times."""
    rng, quantiles, count, times = np.random.default_rng(1), (0.1, 0.5, 0.9), 39, 2_000
    below = np.zeros(3)
    for _ in range(times):
        noise, spread = rng.normal(size=count + 1), rng.gamma(2, size=count + 1)
        actual = (spread * noise)[:, None]
        base = np.zeros((count + 1, 1, 3)) if kind == "split" else (spread[:, None] * [-0.3, 0.2, 2.0])[:, None]
        calibration = fit_calibration(kind, quantiles, actual[:-1], base[:-1])
        below += actual[-1] <= calibration.apply(base[-1:])[0, 0]
    np.testing.assert_allclose(below / times, quantiles, atol=0.035)


def test_too_few_windows_are_refused_with_what_it_takes() -> None:
    check_enough_values((0.1, 0.9), np.array([9, 12]))
    with pytest.raises(DataError, match=r"quantiles 0\.1, 0\.9 takes 9 validation windows; step 2 has 8") as caught:
        check_enough_values((0.1, 0.9), np.array([9, 8]))
    assert "--validation" in str(caught.value.hint)
    with pytest.raises(DataError, match="takes 99 validation windows"):
        fit_calibration("split", (0.99,), np.zeros((98, 1)), np.zeros((98, 1, 1)))


def test_a_calibration_survives_its_file() -> None:
    rng = np.random.default_rng(2)
    calibration = fit_calibration("split", QUANTILES, rng.normal(size=(30, 2)), rng.normal(size=(30, 2, 4)))
    again = Calibration.from_dict(json.loads(json.dumps(calibration.to_dict())))
    assert (again.kind, again.quantiles) == ("split", QUANTILES)
    assert (again.offsets == calibration.offsets).all()
    assert (again.values == calibration.values).all()
    with pytest.raises(ValueError, match="cannot be"):
        Calibration.from_dict(calibration.to_dict() | {"levels": [0.1, 0.5]})


@pytest.mark.parametrize("offset", [1e308, -1e31, np.nan, np.inf])
def test_offsets_with_which_no_forecast_is_finite_are_refused(offset: float) -> None:
    """As scales are: a run of somebody else's may say anything."""
    document = {"kind": "split", "levels": [0.1, 0.9], "offsets": [[0.0, offset]], "values": [30]}
    with pytest.raises(ValueError, match="cannot be"):
        Calibration.from_dict(document)
