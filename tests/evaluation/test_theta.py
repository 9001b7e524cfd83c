"""Formulas (Naive2, Theta, damped trend, temporal aggregation, …) against second implementations."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.baselines.autoregression import autoregression
from forecast_attn.baselines.deseasonalising import KEPT_A_SEASON, is_seasonal, shrunken
from forecast_attn.baselines.dynamic_theta import FIRST_LEVELS, RATES, THETAS
from forecast_attn.baselines.registry import FORMULAS
from forecast_attn.baselines.theta import LEVEL_RATES, TREND_BEGINS, TREND_GRID, formula_forecasts

SEASON, HORIZON = 4, 6


def forecast(name: str, *series: np.ndarray, season: int = SEASON) -> np.ndarray:
    lengths = np.array([len(values) for values in series])
    starts = np.cumsum(lengths) - lengths
    target = np.concatenate(series)
    return formula_forecasts(name, target, starts, starts + lengths - 1, season=season, horizon=HORIZON)


def smoothed(values: np.ndarray, rate: float) -> tuple[float, float]:
    level, squares = values[0], 0.0
    for value in values[1:]:
        squares += (value - level) ** 2
        level = rate * value + (1 - rate) * level
    return level, squares


def theta_of(values: np.ndarray) -> np.ndarray:
    """Simple exponential smoothing with half the slope as drift (Hyndman and Billah 2003), as the two theta lines."""
    steps = np.arange(len(values))
    slope, first = np.polyfit(steps, values, 1)
    level, _ = min((smoothed(2 * values - first - slope * steps, rate) for rate in LEVEL_RATES), key=lambda fit: fit[1])
    return (first + slope * (len(values) + np.arange(HORIZON)) + level) / 2


def damped_of(values: np.ndarray, horizon: int = HORIZON) -> np.ndarray:
    fits = []
    for rate, share, damping in zip(*TREND_GRID, strict=True):
        level, squares = values[0], 0.0
        slope = np.polyfit(np.arange(min(TREND_BEGINS, len(values))), values[:TREND_BEGINS], 1)[0]
        for value in values[1:]:
            error = value - level - damping * slope
            squares += error**2
            level, slope = level + damping * slope + rate * error, damping * slope + rate * share * error
        fits.append((squares, level + slope * np.cumsum(damping ** np.arange(1, horizon + 1))))
    return min(fits, key=lambda fit: fit[0])[1]


def aggregated_of(values: np.ndarray, season: int) -> np.ndarray:
    """Step by step: the damped trends of the means over 1, 2, 3, … steps, counted from the last value."""
    levels = []
    for width in (width for width in range(1, season + 1) if season % width == 0):
        means = [values[stop - width : stop].mean() for stop in range(len(values), width - 1, -width)][::-1]
        if width == 1 or len(means) >= 4:
            ahead = damped_of(np.array(means), HORIZON)
            levels.append([ahead[step // width] for step in range(HORIZON)])
    return np.mean(levels, axis=0)


def dynamic_theta_of(values: np.ndarray) -> np.ndarray:
    """From the definition: the line of the first t values is fitted anew by least squares at every t."""

    def mean_at(known: np.ndarray, level: float, rate: float, theta: float) -> float:
        number = len(known)
        slope, intercept = np.polyfit(np.arange(1, number + 1), known, 1) if number > 1 else (0.0, known[0])
        left = (1 - rate) ** number * intercept + (1 - (1 - rate) ** (number + 1)) / rate * slope
        return level + (1 - 1 / theta) * left

    def run(rate: float, theta: float, first: float) -> tuple[float, float]:
        level, squares = rate * values[0] + (1 - rate) * first * values[0], 0.0
        for count in range(1, len(values)):
            if count >= 2:
                squares += (values[count] - mean_at(values[:count], level, rate, theta)) ** 2
            level = rate * values[count] + (1 - rate) * level
        return squares, level

    every = list(itertools.product(RATES, THETAS, FIRST_LEVELS))
    fits = [(*run(*each), *each) for each in every]
    _, level, rate, theta, _ = min(fits, key=lambda fit: fit[0])
    known = values
    for _ in range(HORIZON):
        expected = mean_at(known, level, rate, theta)
        level, known = rate * expected + (1 - rate) * level, np.append(known, expected)
    return known[len(values) :]


def autoregression_of(values: np.ndarray) -> np.ndarray:
    """As statsmodels fits it with one lag and with none, and the criterion of its sum of squares."""
    from statsmodels.tsa.ar_model import AutoReg

    changes, fits = np.diff(values), []
    for lags in (0, 1):
        fit = AutoReg(changes, lags=lags, trend="c", hold_back=1).fit()
        rows, parameters = len(changes) - 1, lags + 2
        likelihood = rows * np.log((fit.resid**2).mean())
        fits.append((likelihood + 2 * parameters * rows / (rows - parameters - 1), fit))
    _, best = min(fits, key=lambda each: each[0])
    return values[-1] + np.cumsum(best.predict(len(changes), len(changes) + HORIZON - 1))


def seasonal_factors(values: np.ndarray) -> np.ndarray:
    """Ratios to the centred moving average of a year and a half quarter at each end, averaged by quarter."""
    ratios: dict[int, list[float]] = {}
    for middle in range(2, len(values) - 2):
        year = values[middle - 2 : middle + 3]
        ratios.setdefault(middle % 4, []).append(values[middle] / ((year.sum() - (year[0] + year[-1]) / 2) / 4))
    means = np.array([np.mean(ratios[quarter]) for quarter in range(4)])
    return means / means.mean()


def shrunken_factors(values: np.ndarray, season: int) -> np.ndarray:
    """From the definitions, value by value: newer seasons count more, and the factors are drawn towards 1."""
    half, rows = season // 2, []
    for middle in range(half, len(values) - half):
        around = np.append(values[middle - half : middle + half], values[middle + half])
        year = around[1:-1].sum() + (around[0] + around[-1]) / 2 if season % 2 == 0 else around.sum()
        rows.append((middle % season, values[middle] / (year / season)))
    parts = [[], *([] for _ in range(season - 1))]
    for age, (phase, ratio) in enumerate(reversed(rows)):
        parts[phase].append((KEPT_A_SEASON ** (age // season), ratio))
    means, errors, free, effective = [], 0.0, 0.0, []
    for part in parts:
        weights, ratios = np.array(part).T
        means.append(np.average(ratios, weights=weights))
        errors += weights @ (ratios - means[-1]) ** 2
        free += weights.sum() - (weights**2).sum() / weights.sum()
        effective.append(weights.sum() ** 2 / (weights**2).sum())
    noise = np.mean([errors / free / each for each in effective])
    factors = np.array(means) / np.mean(means)
    return 1 + max(0, 1 - noise / np.var(factors, ddof=1)) * (factors - 1)


def walk(length: int, seed: int = 1) -> np.ndarray:
    return 100 + np.cumsum(np.random.default_rng(seed).normal(0.5, 1, length))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "plain", "season"),
    [
        ("theta", theta_of, SEASON),
        ("damped-trend", damped_of, 1),
        ("dynamic-theta", dynamic_theta_of, 1),
        ("autoregression", autoregression_of, 1),
    ],
)
def test_without_a_season(name: str, plain, season: int) -> None:
    rng = np.random.default_rng(4)
    series = [100 + 0.1 * np.arange(length) + rng.normal(0, 2, length) for length in (11, 40, 23)]
    assert not any(is_seasonal(values, SEASON) for values in series)
    expected = [plain(values) for values in series]
    np.testing.assert_allclose(forecast(name, *series, season=season), expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "plain"), [("theta", theta_of), ("naive2", lambda values: np.full(HORIZON, values[-1]))]
)
@pytest.mark.parametrize("length", [24, 25, 27])
def test_with_a_season(name: str, plain, length: int) -> None:
    values = walk(length) * np.resize([0.7, 1.0, 1.3, 1.0], length)
    assert is_seasonal(values, SEASON)
    factors = seasonal_factors(values)
    expected = plain(values / np.resize(factors, length)) * np.resize(factors, length + HORIZON)[length:]
    np.testing.assert_allclose(forecast(name, values)[0], expected, rtol=1e-9)


@pytest.mark.parametrize(("name", "plain"), [("damped-trend", damped_of), ("autoregression", autoregression_of)])
@pytest.mark.parametrize(("length", "season"), [(24, 4), (23, 4), (16, 5)])
def test_with_a_season_that_is_shrunken(name: str, plain, length: int, season: int) -> None:
    values = walk(length) * np.resize([0.98, 1.0, 1.02, 1.01, 0.99][:season], length)
    factors = shrunken_factors(values, season)
    expected = plain(values / np.resize(factors, length)) * np.resize(factors, length + HORIZON)[length:]
    np.testing.assert_allclose(forecast(name, values, season=season)[0], expected, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("length", [3, 11, 13, 40, 53, 90])
def test_temporal_aggregation(length: int) -> None:
    values = walk(length) * np.resize([0.98, 1.0, 1.02, 1.01, 0.99, 1.0], length)
    factors = shrunken_factors(values, 12) if length >= 36 else np.ones(12)
    expected = aggregated_of(values / np.resize(factors, length), 12) * np.resize(factors, length + HORIZON)[length:]
    beside = [walk(4, seed=3), values, walk(60, seed=5)]
    np.testing.assert_allclose(forecast("temporal-aggregation", *beside, season=12)[1], expected, rtol=1e-9)


def test_temporal_aggregation_without_a_season_is_the_damped_trend() -> None:
    series = [walk(length, seed=length) for length in (1, 9, 40)]
    aggregated = forecast("temporal-aggregation", *series, season=1)
    np.testing.assert_array_equal(aggregated, forecast("damped-trend", *series, season=1))


def test_a_season_is_what_is_not_noise_in_it() -> None:
    rng = np.random.default_rng(2)
    noise = 100 + rng.normal(0, 5, (200, 48))
    left = np.array([np.ptp(shrunken(values, 12).values) for values in noise])
    averaged = np.array([np.ptp(values.reshape(4, 12).mean(axis=0)) / 100 for values in noise])
    assert left.mean() < 0.4 * averaged.mean()
    season = np.resize(np.linspace(0.7, 1.3, 12), 48)
    np.testing.assert_allclose(shrunken(100 * season, 12).values, season[:12], rtol=1e-6)


def test_a_season_under_a_trend_is_found_where_the_test_of_the_competitions_finds_none() -> None:
    values = (100 + 10 * np.arange(24)) * np.resize([0.95, 1.0, 1.05, 1.0], 24)
    assert not is_seasonal(values, SEASON)
    assert np.ptp(shrunken(values, SEASON).values) == pytest.approx(0.1, rel=0.05)


def test_newer_seasons_count_more() -> None:
    small, large = np.resize([0.9, 1.0, 1.1, 1.0], 20), np.resize([0.7, 1.0, 1.3, 1.0], 20)
    growing, shrinking = (shrunken(100 * np.append(*each), SEASON).values for each in ((small, large), (large, small)))
    assert np.ptp(growing) > 0.5 > 0.3 > np.ptp(shrinking)


def test_negative_values_have_a_season_that_is_added() -> None:
    values = np.resize([-2.0, 0.0, 2.0, 0.0], 32)
    np.testing.assert_allclose(forecast("naive2", values)[0], np.resize([-2.0, 0.0, 2.0, 0.0], HORIZON), atol=1e-9)


@pytest.mark.parametrize("share", [-0.8, 0.6])
def test_an_autoregression_finds_the_share_of_the_last_change(share: float) -> None:
    changes = [20.0]
    for _ in range(20 + HORIZON):
        changes.append(3 + share * changes[-1])
    values = np.cumsum(changes)
    np.testing.assert_allclose(forecast("autoregression", values[:-HORIZON], season=1)[0], values[-HORIZON:], rtol=1e-6)


def test_an_autoregression_of_few_values_is_a_drift_and_no_change_ahead_is_the_largest() -> None:
    np.testing.assert_allclose(forecast("autoregression", np.array([1.0, 5.0, 4.0]))[0], 4 + 1.5 * np.arange(1, 7))
    values = 1.3 ** np.arange(30)
    largest = np.diff(values).max()
    np.testing.assert_allclose(np.diff(forecast("autoregression", values, season=1)[0]), largest, rtol=1e-9)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_series_is_forecast_alike_alone_and_in_any_order(name: str) -> None:
    """To the bit: a forecast is that of `predict` in a backtest and among others, too."""
    series = [walk(length, seed=length) for length in (9, 40, 2, 300, *range(11, 90, 6))]
    together = forecast(name, *series)
    np.testing.assert_array_equal(forecast(name, *series[::-1])[::-1], together)
    np.testing.assert_array_equal([forecast(name, values)[0] for values in series], together)


def test_an_autoregression_has_the_same_bits_beside_a_longer_series() -> None:
    """A sum of all columns would be rounded by the longest one."""
    rng = np.random.default_rng(0)
    for length in range(8, 60):
        values = np.zeros((2, 60))
        values[:, :length] = 20 + 5 * np.sin(np.arange(length)) + rng.normal(size=length)
        alone = autoregression(values[:1, :length], np.array([length]), HORIZON)
        np.testing.assert_array_equal(autoregression(values, np.array([length, 60]), HORIZON)[:1], alone)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.sampled_from(FORMULAS))
def test_any_series_has_a_forecast(values: list[float], name: str) -> None:
    assert np.isfinite(forecast(name, np.array(values))).all()


@pytest.mark.parametrize("name", FORMULAS)
def test_missing_values_repeat_the_one_before(name: str) -> None:
    values = walk(30)
    holes, filled = values.copy(), values.copy()
    holes[[0, 12, 13]], filled[[12, 13]] = np.nan, values[11]
    np.testing.assert_array_equal(forecast(name, holes)[0], forecast(name, filled[1:])[0])
    assert np.isnan(forecast(name, np.full(5, np.nan))).all()


@pytest.mark.parametrize("name", FORMULAS)
def test_later_values_do_not_matter(name: str) -> None:
    values = walk(40)
    at = (np.array([0]), np.array([29]))
    first = formula_forecasts(name, values, *at, season=SEASON, horizon=HORIZON)
    values[30:] = 1e9
    np.testing.assert_array_equal(first, formula_forecasts(name, values, *at, season=SEASON, horizon=HORIZON))
