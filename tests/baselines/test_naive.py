"""Seasonal-naive against slow, obvious code."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast_attn.baselines.naive import seasonal_naive
from forecast_attn.baselines.scales import seasonal_naive_error

NAN = math.nan


def naive_of(target: list[float], season: int, horizon: int) -> list[float]:
    """The forecast after the end of one series, value by value."""
    period = season if len(target) >= season else 1
    forecast = []
    for step in range(1, horizon + 1):
        row = len(target) - 1 + step
        while row >= len(target) or (row >= 0 and math.isnan(target[row])):
            row -= period
        if row < 0:
            observed = [value for value in target if not math.isnan(value)]
            forecast.append(observed[-1] if observed else NAN)
        else:
            forecast.append(target[row])
    return forecast


def error_of(target: list[float], season: int) -> float:
    """Mean absolute seasonal change of one series, pair by pair."""
    back = season if len(target) > season else 1
    changes = [abs(now - before) for before, now in zip(target, target[back:], strict=False)]
    changes = [change for change in changes if not math.isnan(change)]
    mean = math.fsum(changes) / len(changes) if changes else NAN
    return mean if mean > 0 else NAN


series = st.lists(st.floats(-1e6, 1e6) | st.just(0.0) | st.just(NAN), min_size=1, max_size=25)
panels = st.lists(series, min_size=1, max_size=5)


def behind_each_other(panel: list[list[float]]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([np.array(each) for each in panel]), np.cumsum([0, *map(len, panel)])


@pytest.mark.slow
@given(panel=panels, season=st.integers(1, 8), horizon=st.integers(1, 20))
def test_repeats_the_last_observed_value_of_the_phase(panel: list[list[float]], season: int, horizon: int) -> None:
    target, edges = behind_each_other(panel)
    got = seasonal_naive(target, edges[:-1], edges[1:] - 1, season=season, horizon=horizon)
    np.testing.assert_array_equal(got, [naive_of(each, season, horizon) for each in panel])


@pytest.mark.slow
@given(panel=panels, season=st.integers(1, 8))
def test_the_error_of_one_season_back(panel: list[list[float]], season: int) -> None:
    target, edges = behind_each_other(panel)
    got = seasonal_naive_error(target, edges[:-1], edges[1:], season=season)
    np.testing.assert_allclose(got, [error_of(each, season) for each in panel], rtol=1e-12)


def test_without_missing_values_bit_equal_to_the_mean_of_each_series() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(2, 900, 40)
    edges = np.concatenate([[0], np.cumsum(lengths)])
    target = rng.normal(size=edges[-1])
    got = seasonal_naive_error(target, edges[:-1], edges[1:], season=24)
    for index, error in enumerate(got):
        values = target[edges[index] : edges[index + 1]]
        back = 24 if len(values) > 24 else 1
        assert error == np.abs(values[back:] - values[:-back]).mean()


def test_only_rows_up_to_the_stop_count() -> None:
    target = np.array([1.0, 2.0, 4.0, 1e9, 5.0, 7.0])
    got = seasonal_naive_error(target, np.array([0, 4]), np.array([3, 6]), season=1)
    assert got.tolist() == [1.5, 2.0]


def test_long_series_span_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    edges = np.concatenate([[0], np.cumsum(rng.integers(5, 60, 30))])
    target = rng.normal(size=edges[-1])
    whole = seasonal_naive_error(target, edges[:-1], edges[1:], season=7)
    monkeypatch.setattr("forecast_attn.data.segments.ROWS_AT_ONCE", 64)
    assert seasonal_naive_error(target, edges[:-1], edges[1:], season=7).tobytes() == whole.tobytes()


@pytest.mark.parametrize("target", [[0.0] * 9, [5.0], [NAN, 3.0, NAN, NAN], [3.0, NAN, NAN, NAN]])
def test_a_series_without_changes_has_no_error(target: list[float]) -> None:
    got = seasonal_naive_error(np.array(target), np.array([0]), np.array([len(target)]), season=2)
    assert np.isnan(got).all()
