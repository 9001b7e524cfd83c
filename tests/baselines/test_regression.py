"""The baseline `regression` against least squares of each cut-off by itself, and that it sees nothing too early."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.baselines import regression
from forecast_attn.baselines import regression_inputs as regression_windows
from forecast_attn.baselines.registry import BaselineSetup, baseline_forecasts
from forecast_attn.baselines.regression_inputs import ArcsinhScale
from forecast_attn.config.options import RunConfig
from forecast_attn.data.calendar_features import Calendar
from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError
from forecast_attn.runs.training_table import read_panel

pytestmark = pytest.mark.slow

SEASON, ROWS = 4, 4 * 60


def panel_of(series: tuple[str, ...] = ("a", "b"), rows: int = ROWS, freq: str = "6h", **options: object) -> Panel:
    """Quarters of days with a course that a covariate known ahead and one of the past move."""
    rng, frames = np.random.default_rng(0), []
    for number, name in enumerate(series):
        steps, wind, rain = np.arange(rows), rng.normal(size=rows), rng.normal(size=rows)
        target = 50 * (1 + number) + 5 * np.sin(2 * np.pi * steps / SEASON) + 4 * wind + rng.standard_t(3, rows)
        target[SEASON:] += 2 * rain[:-SEASON]
        stamps = pd.date_range("2024-01-01", periods=rows, freq=freq)
        frames.append(pd.DataFrame({"date": stamps, "item_id": name, "target": target, "wind": wind, "rain": rain}))
    config = RunConfig.from_options({"future": ["wind"], "past": ["rain"], "freq": freq, **options})
    return read_panel(pd.concat(frames), config)[0]


def setup_of(panel: Panel, **changes: object) -> BaselineSetup:
    setup = BaselineSetup(7 * SEASON, SEASON, SEASON, Calendar.build("auto", panel.frequency), panel.timestamps[120])
    return replace(setup, **changes)  # type: ignore[arg-type]


def forecast(panel: Panel, cutoffs: list[int], setup: BaselineSetup) -> np.ndarray:
    return baseline_forecasts("regression", panel, np.array(cutoffs), setup)


def by_least_squares(panel: Panel, cutoff: int, setup: BaselineSetup, half_life: float) -> np.ndarray:
    """One series, one covariate of each kind, steps of six hours: written down from the documents alone."""
    season, horizon, known = setup.season, setup.horizon, cutoff + 1
    stop = min(known, max(known - known % (28 * season), setup.lookback))
    scale = slice(max(0, stop - 20 * season), stop)
    y, wind, rain = panel.target, panel.future_covariates[:, 0], panel.past_covariates[:, 0]
    median = np.median(y[scale])
    spread = 1.5 * 1.4826 * np.median(np.abs(y[scale] - median))
    z, wind, rain = np.arcsinh((y - median) / spread), *((x - x[scale].mean()) / x[scale].std() for x in (wind, rain))
    seasons = [back for back in (1, 2, 3, 7) if back * season <= setup.lookback]
    weekdays = pd.DatetimeIndex(panel.timestamps).day_of_week

    def inputs(t: int) -> list[float]:
        def block(values: np.ndarray, back: int) -> list[float]:
            return list(values[t + 1 - back * season : t + 1 - (back - 1) * season])

        row = [1.0, *(value for back in seasons for value in block(z, back)), *wind[t + 1 : t + 1 + horizon]]
        row += [value for back in (1, 7) if back in seasons for value in block(wind, back)]
        return [*row, *block(rain, 1), *(float(weekdays[t + 1] == day) for day in range(7))]

    reach = max(seasons) * season
    windows = [t for t in range(reach - 1, cutoff - horizon + 1) if (cutoff - t) % season == 0]
    weights = [0.5 ** ((cutoff - horizon - t) / season / half_life) for t in windows]
    x, targets = np.array([inputs(t) for t in windows]), np.array([z[t + 1 : t + 1 + horizon] for t in windows])
    penalties = np.array([0.0] + [3.0] * (x.shape[1] - 8) + [0.3] * 7)
    root = np.sqrt(weights)[:, None]
    stacked = np.vstack([x * root, np.diag(np.sqrt(penalties))])
    target = np.vstack([targets * root, np.zeros((x.shape[1], horizon))])
    solved = np.linalg.lstsq(stacked, target, rcond=None)[0]
    return np.asarray(np.sinh(np.array(inputs(cutoff)) @ solved) * spread + median)


@pytest.mark.parametrize(("lookback", "horizon"), [(7 * SEASON, SEASON), (3 * SEASON + 1, 2), (2 * SEASON, 6)])
def test_it_solves_what_least_squares_solve(lookback: int, horizon: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regression, "SCALE_OVER", 20)  # instead of a year
    panel = panel_of(("a",))
    setup = setup_of(panel, lookback=lookback, horizon=horizon)
    cutoffs = [80, 110, 111, 121, 130, 131, 135, 200, 222, 223, 230]
    forecasts = forecast(panel, cutoffs, setup)
    for index, cutoff in enumerate(cutoffs):
        of_each = [by_least_squares(panel, cutoff, setup, half_life) for half_life in (np.inf, 365.0, 90.0)]
        np.testing.assert_allclose(forecasts[index], np.mean(of_each, axis=0), rtol=1e-8)


@settings(max_examples=15, deadline=None)
@given(others=st.lists(st.integers(60, ROWS - SEASON - 1), max_size=8), tested=st.integers(60, ROWS - SEASON - 1))
def test_a_forecast_does_not_depend_on_the_other_cutoffs(others: list[int], tested: int) -> None:
    panel = panel_of()
    setup = setup_of(panel)
    alone = forecast(panel, [tested], setup)[0]
    second = [ROWS + cutoff for cutoff in others]
    among = forecast(panel, [*others, tested, *second], setup)
    np.testing.assert_allclose(among[len(others)], alone, rtol=1e-8)
    np.testing.assert_array_equal(
        np.isnan(among[: len(others)]), np.isnan(forecast(panel, [*others, tested], setup)[:-1])
    )


@pytest.mark.parametrize("cutoff", [70, 120, 121, 170, ROWS - SEASON - 1])
def test_nothing_after_a_cutoff_changes_its_forecast(cutoff: int) -> None:
    """Not even of a cut-off before the boundary; but the covariate that is known ahead may."""
    panel = panel_of(("a",))
    setup, rng = setup_of(panel), np.random.default_rng(1)
    target, rain, wind = panel.target.copy(), panel.past_covariates.copy(), panel.future_covariates.copy()
    target[cutoff + 1 :] += rng.normal(0, 100, len(target) - cutoff - 1)
    rain[cutoff + 1 :] += 50
    wind[cutoff + 1 + SEASON :] += 50
    changed = replace(panel, target=target, past_covariates=rain, future_covariates=wind)
    np.testing.assert_array_equal(forecast(changed, [cutoff], setup), forecast(panel, [cutoff], setup))
    wind[cutoff + 1] += 1
    assert (forecast(changed, [cutoff], setup) != forecast(panel, [cutoff], setup)).all()


def test_each_series_has_its_own_regression() -> None:
    both, one = panel_of(), panel_of(("a",))
    cutoffs = [150, 151, 200]
    forecasts = forecast(both, [*cutoffs, *(ROWS + each for each in cutoffs)], setup_of(both))
    np.testing.assert_allclose(forecasts[:3], forecast(one, cutoffs, setup_of(one)), rtol=1e-10)
    other = replace(both, target=np.where(both.series_of_rows == 0, both.target**2, both.target))
    np.testing.assert_array_equal(forecast(other, [ROWS + 150], setup_of(both))[0], forecasts[3])


@settings(max_examples=10, deadline=None)
@given(factor=st.floats(0.01, 100), shift=st.floats(-1000, 1000))
def test_it_scales_with_the_units(factor: float, shift: float) -> None:
    panel = panel_of(("a",))
    forecasts = forecast(panel, [150, 200], setup_of(panel))
    moved = forecast(replace(panel, target=factor * panel.target + shift), [150, 200], setup_of(panel))
    np.testing.assert_allclose(moved, factor * forecasts + shift, rtol=1e-6, atol=1e-6 * factor)


def test_it_learns_the_course_and_both_covariates() -> None:
    panel = panel_of(("a",), 4 * 200)
    cutoffs = list(range(400, 4 * 199, 4))
    forecasts = forecast(panel, cutoffs, setup_of(panel))
    actual = panel.target[np.array(cutoffs)[:, None] + np.arange(1, 5)]
    assert np.abs(forecasts - actual).mean() < 1.8  # of noise whose mean absolute value is 1.1
    naive = baseline_forecasts("seasonal-naive", panel, np.array(cutoffs), setup_of(panel))
    assert np.abs(naive - actual).mean() > 4


def test_windows_with_a_missing_value_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regression, "SCALE_OVER", 20)  # whose median does not see the hole
    panel, hole = panel_of(("a",), missing="mask"), 140
    setup = setup_of(panel)
    target = panel.target.copy()
    target[hole] = np.nan
    forecasts = forecast(replace(panel, target=target), [150, 230], setup)
    assert np.isnan(forecasts[0]).all()  # among its inputs
    every, original = np.arange(27, 231), regression.windows_of_phase
    back = every - hole  # seven seasons back, then three, then the horizon
    learnt = every[~((back >= 24) & (back < 28)) & ~((back >= -SEASON) & (back < 12))]
    monkeypatch.setattr(regression, "windows_of_phase", lambda *given: np.intersect1d(original(*given), learnt))
    np.testing.assert_allclose(forecasts[1], forecast(panel, [230], setup)[0], rtol=1e-9)


def test_what_has_too_little_behind_it() -> None:
    panel = panel_of(("a",))
    setup = setup_of(panel)
    few = regression.FEWEST_LEARNED
    first = 7 * SEASON - 1 + few * SEASON  # its horizon, and so many windows, right before it
    forecasts = forecast(panel, [5, first - 1, first, 200], setup)
    assert np.isnan(forecasts).any(axis=1).tolist() == [True, True, False, False]
    with pytest.raises(DataError, match="fewer than 4 windows"):
        forecast(panel, [5, first - 1], setup)
    assert forecast(panel, [], setup).shape == (0, SEASON)


def test_too_many_inputs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regression_windows, "MOST_INPUTS", 10)
    panel = panel_of(("a",))
    with pytest.raises(DataError, match="has 40 inputs"):
        forecast(panel, [150], setup_of(panel))


def test_covariates_are_read_as_far_as_they_are_known() -> None:
    panel = panel_of(("a",))
    roles = replace(panel.roles, known_steps={"wind": 2})
    known = replace(panel, roles=roles)
    wind = panel.future_covariates.copy()
    wind[153:] += 9
    changed = replace(known, future_covariates=wind)
    np.testing.assert_array_equal(forecast(known, [150], setup_of(panel)), forecast(changed, [150], setup_of(panel)))
    assert (forecast(panel, [150], setup_of(panel)) != forecast(known, [150], setup_of(panel))).all()


def test_forecast_covariates_are_read_as_they_had_been_issued() -> None:
    panel = panel_of(("a",))
    stamps = pd.Series(panel.timestamps)
    data = pd.DataFrame({"date": stamps, "target": panel.target, "wind": panel.future_covariates[:, 0]})
    table = pd.DataFrame({"issued_at": stamps.dt.floor("D") - pd.Timedelta("6h"), "date": stamps, "wind": data["wind"]})
    config = RunConfig.from_options({"future": ["wind"], "freq": "6h"})
    plain, issued = read_panel(data, config)[0], read_panel(data, config, table)[0]
    setup = setup_of(plain)
    midnights = [4 * day - 1 for day in range(35, 50)]
    np.testing.assert_allclose(forecast(issued, midnights, setup), forecast(plain, midnights, setup), rtol=1e-6)
    wind = issued.future_covariates.copy()
    wind[midnights[0] + 1 :] += 9  # what came true
    changed = replace(issued, future_covariates=wind)
    assert (forecast(changed, midnights[:1], setup) == forecast(issued, midnights[:1], setup)).all()
    with pytest.raises(DataError, match="fewer than 4 windows"):  # at noon nothing had been forecast of the morning
        forecast(issued, [midnights[-1] + 2], setup)


@pytest.mark.parametrize(("freq", "season", "lookback"), [("D", 7, 14), ("MS", 12, 24), ("D", 1, 30), ("h", 24, 10)])
def test_any_step_and_season(freq: str, season: int, lookback: int) -> None:
    """Days, months, no season, a lookback of less than one: better than the last value."""
    rng, rows = np.random.default_rng(2), 300
    target = 20 + 5 * np.sin(2 * np.pi * np.arange(rows) / 12) + rng.normal(size=rows) / 5
    stamps = pd.date_range("1990-01-01", periods=rows, freq=freq)
    panel = read_panel(pd.DataFrame({"date": stamps, "target": target}), RunConfig.from_options({"freq": freq}))[0]
    setup = BaselineSetup(lookback, 3, season, Calendar.build("auto", panel.frequency), panel.timestamps[200])
    cutoffs = np.arange(220, rows - 3)
    actual = target[cutoffs[:, None] + np.arange(1, 4)]
    errors = [
        np.abs(baseline_forecasts(name, panel, cutoffs, setup) - actual).mean() for name in ("regression", "naive")
    ]
    assert errors[0] < 0.8 * errors[1]


def test_midnight_stays_midnight_when_clocks_are_changed() -> None:
    stamps = pd.date_range("2024-03-01", periods=24 * 60, freq="h", tz="Europe/Berlin")
    target = np.random.default_rng(0).normal(size=len(stamps))
    frame = pd.DataFrame({"date": stamps, "target": target})
    panel = read_panel(frame, RunConfig.from_options({"freq": "h", "tz": "Europe/Berlin"}))[0]
    setup = BaselineSetup(48, 24, 24, Calendar.build("auto", panel.frequency), panel.timestamps[200])
    phases = regression_windows.phases(panel, np.arange(panel.num_rows), setup)
    np.testing.assert_array_equal(phases, stamps.hour)


def test_a_series_that_hardly_changes_has_a_scale() -> None:
    for values in ([0, 0, 0, 5], [3.0, 3, 3], [np.nan, 2], [np.nan]):
        scale = ArcsinhScale(np.array(values, float))
        assert scale.spread > 0
        np.testing.assert_allclose(scale.invert(scale.apply(np.array([1.0, -70]))), [1.0, -70])
