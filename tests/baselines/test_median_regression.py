"""The baseline `median-regression` against one written down from the documents, and that it sees nothing late."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.baselines import median_regression
from forecast_attn.baselines import regression_inputs as regression_windows
from forecast_attn.baselines.registry import BaselineSetup, baseline_forecasts
from forecast_attn.config.options import RunConfig
from forecast_attn.data.calendar_features import Calendar
from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError
from forecast_attn.runs.training_table import read_panel

pytestmark = pytest.mark.slow

SEASON, ROWS, LEARNT = 4, 4 * 60, 160


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
    calendar, boundary = Calendar.build("auto", panel.frequency), panel.timestamps[LEARNT - 1]
    return replace(BaselineSetup(7 * SEASON, SEASON, SEASON, calendar, boundary), **changes)  # type: ignore[arg-type]


def forecast(panel: Panel, cutoffs: list[int], setup: BaselineSetup) -> np.ndarray:
    return baseline_forecasts("median-regression", panel, np.array(cutoffs, np.int64), setup)


def written_down(panel: Panel, cutoff: int, setup: BaselineSetup) -> np.ndarray:
    """One series, one covariate of each kind, steps of six hours: step after step, each by elimination."""
    season, horizon, learnt = setup.season, setup.horizon, slice(0, LEARNT)
    y, wind, rain = panel.target, panel.future_covariates[:, 0], panel.past_covariates[:, 0]
    median = np.median(y[learnt])
    scale = 1.5 * 1.4826 * np.median(np.abs(y[learnt] - median))
    z, wind, rain = np.arcsinh((y - median) / scale), *((x - x[learnt].mean()) / x[learnt].std() for x in (wind, rain))
    seasons = [back for back in (1, 2, 3, 7) if back * season <= setup.lookback]
    stamps = pd.DatetimeIndex(panel.timestamps)

    def of_window(t: int) -> tuple[float, float]:
        past = z[max(t + 1 - setup.lookback, 0) : t + 1]
        return float(past[-season:].mean()), float(past.std()) + 0.05

    def inputs(t: int, block: int) -> list[float]:
        quantile, spread = of_window(t)
        row = [1.0]
        for back in seasons:
            row += list((z[t + 1 - back * season : t + 1 - (back - 1) * season] - quantile) / spread)
        ahead = wind[t + 1 + block * season : t + 1 + min((block + 1) * season, horizon)]
        row += [*ahead, *(ahead**2 / 2)]
        for values in (wind, rain):
            for back in (1, 7):
                if back in seasons:
                    row += list(values[t + 1 - back * season : t + 1 - (back - 1) * season])
        first = stamps[t + 1 + block * season]
        angle = 2 * np.pi * first.day_of_year / 365.25
        calendar = [float(first.day_of_week == day) for day in range(7)]
        return [*row, quantile, np.log(spread), *calendar, np.sin(angle), np.cos(angle)]

    reach = max(seasons) * season
    windows = [t for t in range(reach - 1, LEARNT - horizon) if (cutoff - t) % season == 0]
    forecasts = []
    for step in range(1, horizon + 1):
        block = (step - 1) // season
        x = np.array([inputs(t, block) for t in windows])
        targets = np.array([(z[t + step] - of_window(t)[0]) / of_window(t)[1] for t in windows])
        penalties = np.diag([0.0] + [10.0] * (x.shape[1] - 10) + [1.0] * 9)
        weights = np.ones(len(x))
        for _ in range(4):
            solved = np.linalg.solve(x.T @ (weights[:, None] * x) + penalties, x.T @ (weights * targets))
            weights = 1 / np.maximum(np.abs(targets - x @ solved), 0.1)
            weights /= weights.mean()
        quantile, spread = of_window(cutoff)
        forecasts.append(np.sinh(np.array(inputs(cutoff, block)) @ solved * spread + quantile) * scale + median)
    room = (y[: cutoff + 1].max() - y[: cutoff + 1].min()) / 2
    return np.clip(forecasts, y[: cutoff + 1].min() - room, y[: cutoff + 1].max() + room)


@pytest.mark.parametrize(
    ("lookback", "horizon"), [(7 * SEASON, SEASON), (3 * SEASON + 1, 2), (2 * SEASON, 6), (9 * SEASON, 3 * SEASON)]
)
def test_it_is_what_the_documents_say(lookback: int, horizon: int) -> None:
    panel = panel_of(("a",))
    setup = setup_of(panel, lookback=lookback, horizon=horizon)
    cutoffs = [80, 159, 160, 161, 174, 200, 221]
    forecasts = forecast(panel, cutoffs, setup)
    for index, cutoff in enumerate(cutoffs):
        np.testing.assert_allclose(forecasts[index], written_down(panel, cutoff, setup), rtol=1e-5)


@settings(max_examples=15, deadline=None)
@given(others=st.lists(st.integers(60, ROWS - 6), max_size=8), tested=st.integers(60, ROWS - 6))
def test_a_forecast_does_not_depend_on_the_other_cutoffs(others: list[int], tested: int) -> None:
    panel = panel_of()
    setup = setup_of(panel, horizon=5)
    alone = forecast(panel, [tested], setup)[0]
    among = forecast(panel, [*others, tested, *(ROWS + cutoff for cutoff in others)], setup)
    np.testing.assert_allclose(among[len(others)], alone, rtol=1e-8)


@pytest.mark.parametrize("cutoff", [LEARNT - 1, LEARNT, 171, ROWS - 7])
def test_nothing_after_boundary_and_cutoff_changes_a_forecast(cutoff: int) -> None:
    """But the covariate that is known ahead may, of each season the one of this season."""
    panel = panel_of(("a",))
    setup, rng = setup_of(panel, horizon=6), np.random.default_rng(1)
    target, rain, wind = panel.target.copy(), panel.past_covariates.copy(), panel.future_covariates.copy()
    target[cutoff + 1 :] += rng.normal(0, 100, len(target) - cutoff - 1)
    rain[cutoff + 1 :] += 50
    wind[cutoff + 7 :] += 50
    changed = replace(panel, target=target, past_covariates=rain, future_covariates=wind)
    before = forecast(panel, [cutoff], setup)[0]
    np.testing.assert_array_equal(forecast(changed, [cutoff], setup)[0], before)
    wind[cutoff + 1] += 1
    forecasts = forecast(changed, [cutoff], setup)[0]
    assert (forecasts[:4] != before[:4]).all()
    np.testing.assert_array_equal(forecasts[4:], before[4:])


def test_it_learns_once_from_rows_up_to_the_boundary() -> None:
    panel = panel_of(("a",))
    setup, cutoffs = setup_of(panel), [220, 230]
    before = forecast(panel, cutoffs, setup)
    target = panel.target.copy()
    target[LEARNT : 220 - 7 * SEASON] -= 3  # in no lookback, and no new extreme
    np.testing.assert_array_equal(forecast(replace(panel, target=target), cutoffs, setup), before)
    later = forecast(panel, cutoffs, replace(setup, boundary=panel.timestamps[LEARNT]))
    assert (later != before).all()


def test_each_series_has_its_own_regression() -> None:
    both, one = panel_of(), panel_of(("a",))
    cutoffs = [150, 171, 200]
    forecasts = forecast(both, [*cutoffs, *(ROWS + each for each in cutoffs)], setup_of(both))
    np.testing.assert_allclose(forecasts[:3], forecast(one, cutoffs, setup_of(one)), rtol=1e-10)
    other = replace(both, target=np.where(both.series_of_rows == 0, both.target**2, both.target))
    np.testing.assert_array_equal(forecast(other, [ROWS + 150], setup_of(both))[0], forecasts[3])


@settings(max_examples=10, deadline=None)
@given(factor=st.floats(0.01, 100), shift=st.floats(-1000, 1000))
def test_it_scales_with_the_units(factor: float, shift: float) -> None:
    panel = panel_of(("a",))
    forecasts = forecast(panel, [170, 200], setup_of(panel))
    moved = forecast(replace(panel, target=factor * panel.target + shift), [170, 200], setup_of(panel))
    np.testing.assert_allclose(moved, factor * forecasts + shift, rtol=1e-5, atol=1e-5 * factor)


def test_it_learns_the_course_and_both_covariates() -> None:
    panel = panel_of(("a",), 4 * 300)
    cutoffs = list(range(4 * 250 - 1, 4 * 299, 4))
    forecasts = forecast(panel, cutoffs, setup_of(panel, boundary=panel.timestamps[4 * 250 - 1]))
    actual = panel.target[np.array(cutoffs)[:, None] + np.arange(1, 5)]
    assert np.abs(forecasts - actual).mean() < 1.8  # of noise whose mean absolute value is 1.1
    naive = baseline_forecasts("seasonal-naive", panel, np.array(cutoffs), setup_of(panel))
    assert np.abs(naive - actual).mean() > 4


def test_windows_with_a_missing_value_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among inputs or in the horizon; a hole elsewhere in the lookback is only none of the values of its spread."""
    panel, hole = panel_of(("a",), missing="mask"), 60
    setup = setup_of(panel)
    target = panel.target.copy()
    target[hole] = np.nan
    holed = replace(panel, target=target)
    forecasts, original = forecast(holed, [hole + 4, 230], setup), median_regression.windows_of_phase
    assert np.isnan(forecasts[0]).all()  # among its inputs
    seasons = (hole - np.arange(ROWS) - 1) // SEASON  # from a cut-off to the hole: 0 is the horizon, -1 the last one
    empty = np.flatnonzero(np.isin(seasons, [0, -1, -2, -3, -7]))
    elsewhere = np.flatnonzero(np.isin(seasons, [-4, -5, -6]))
    monkeypatch.setattr(median_regression, "windows_of_phase", lambda *given: np.setdiff1d(original(*given), empty))
    np.testing.assert_array_equal(forecast(holed, [230], setup)[0], forecasts[1])
    monkeypatch.setattr(median_regression, "windows_of_phase", lambda *given: np.setdiff1d(original(*given), elsewhere))
    assert (forecast(holed, [230], setup)[0] != forecasts[1]).all()


def test_what_has_too_little_behind_it() -> None:
    panel = panel_of()
    setup = setup_of(panel)
    forecasts = forecast(panel, [5, 7 * SEASON - 2, 7 * SEASON - 1, 200], setup)
    assert np.isnan(forecasts).any(axis=1).tolist() == [True, True, False, False]
    few = 7 * SEASON + SEASON + (regression_windows.FEWEST_LEARNED - 1) * SEASON
    cutoff = 7 * SEASON - 1 + 40 * SEASON
    enough, too_few = (replace(setup, boundary=panel.timestamps[few - 1 - less]) for less in (0, 1))
    assert not np.isnan(forecast(panel, [cutoff], enough)).any()
    with pytest.raises(DataError, match=r"fewer than 4 windows .* up to 2024-01-11 12:00") as caught:
        forecast(panel, [cutoff], too_few)
    assert "leave it out" in caught.value.hint
    later = panel.timestamps + np.where(panel.series_of_rows == 1, np.timedelta64(60, "D"), np.timedelta64(0, "D"))
    late = replace(panel, timestamps=later)
    forecasts = forecast(late, [200, ROWS + 200], setup)  # the second series begins after the boundary
    assert np.isnan(forecasts).any(axis=1).tolist() == [False, True]
    assert forecast(panel, [], setup).shape == (0, SEASON)


def test_too_many_inputs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regression_windows, "MOST_INPUTS", 10)
    panel = panel_of(("a",))
    with pytest.raises(DataError, match="'median-regression' has 52 inputs"):
        forecast(panel, [200], setup_of(panel))


def test_more_windows_than_it_takes_are_thinned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    panel, setup = panel_of(("a",)), setup_of(panel_of(("a",)))
    whole, original = forecast(panel, [199], setup), median_regression.windows_of_phase
    monkeypatch.setattr(median_regression, "MOST_WINDOWS_OF_PHASE", 17)  # of 33
    thinned = forecast(panel, [199], setup)
    assert (thinned != whole).all()
    monkeypatch.setattr(median_regression, "windows_of_phase", lambda *given: original(*given)[::2])
    np.testing.assert_array_equal(forecast(panel, [199], setup), thinned)


def test_covariates_are_read_as_far_as_they_are_known() -> None:
    """Two steps, of a horizon of two seasons: the second has none."""
    panel = panel_of(("a",))
    known = replace(panel, roles=replace(panel.roles, known_steps={"wind": 2}))
    setup = setup_of(panel, horizon=8)
    wind = panel.future_covariates.copy()
    wind[203:] += 9
    changed = replace(known, future_covariates=wind)
    np.testing.assert_array_equal(forecast(known, [200], setup), forecast(changed, [200], setup))
    assert (forecast(panel, [200], setup) != forecast(known, [200], setup)).all()


def test_forecast_covariates_are_read_as_they_had_been_issued() -> None:
    panel = panel_of(("a",))
    stamps = pd.Series(panel.timestamps)
    data = pd.DataFrame({"date": stamps, "target": panel.target, "wind": panel.future_covariates[:, 0]})
    table = pd.DataFrame({"issued_at": stamps.dt.floor("D") - pd.Timedelta("6h"), "date": stamps, "wind": data["wind"]})
    config = RunConfig.from_options({"future": ["wind"], "freq": "6h"})
    plain, issued = read_panel(data, config)[0], read_panel(data, config, table)[0]
    setup = setup_of(plain)
    midnights = [4 * day - 1 for day in range(45, 55)]
    np.testing.assert_allclose(forecast(issued, midnights, setup), forecast(plain, midnights, setup), rtol=1e-5)
    wind = issued.future_covariates.copy()
    wind[midnights[0] + 1 :] += 9  # what came true
    changed = replace(issued, future_covariates=wind)
    assert (forecast(changed, midnights[:1], setup) == forecast(issued, midnights[:1], setup)).all()
    with pytest.raises(DataError, match="fewer than 4 windows"):  # at noon nothing had been forecast of the morning
        forecast(issued, [midnights[-1] + 2], setup)


def test_categories_are_a_column_each() -> None:
    """A holiday that is known ahead moves the target; no square is made of it."""
    rng, rows = np.random.default_rng(0), 1400
    kind = np.where(rng.random(rows) < 0.3, "holiday", "work")
    target = 10 + 5.0 * (kind == "holiday") + rng.normal(size=rows) / 5
    table = pd.DataFrame({"date": pd.date_range("2020-01-01", periods=rows), "target": target, "kind": kind})
    errors = []
    for options in ({"future": ["kind"], "categorical": ["kind"]}, {"ignore": ["kind"]}):
        panel = read_panel(table, RunConfig.from_options({**options, "freq": "D"}))[0]
        setup = BaselineSetup(21, 3, 7, Calendar.build("none", panel.frequency), panel.timestamps[1299])
        cutoffs = np.arange(1300, rows - 3)
        forecasts = forecast(panel, list(cutoffs), setup)
        errors.append(np.abs(forecasts - panel.target[cutoffs[:, None] + np.arange(1, 4)]).mean())
        rows_of = median_regression.SeriesRows(panel, 0, slice(0, 1300), setup)
        width = 1 + 3 * 7 + 2 + 2 + (2 * 3 + 2 * 7 if len(errors) == 1 else 0)  # quantile and spread, year, kinds
        assert len(median_regression.Blocks(rows_of, setup).penalties(0)) == width
    assert errors[0] < errors[1] / 2


@pytest.mark.parametrize(
    ("freq", "season", "lookback", "horizon"),
    [("D", 7, 14, 3), ("MS", 12, 24, 3), ("D", 1, 30, 3), ("h", 24, 10, 3), ("D", 1, 5, 20), ("W", 52, 60, 8)],
)
def test_any_step_and_season(freq: str, season: int, lookback: int, horizon: int) -> None:
    """Days, months, weeks, no season, a lookback of less than one: better than the last value."""
    rng, rows = np.random.default_rng(2), 400
    target = 20 + 5 * np.sin(2 * np.pi * np.arange(rows) / 12) + rng.normal(size=rows) / 5
    stamps = pd.date_range("1990-01-01", periods=rows, freq=freq)
    panel = read_panel(pd.DataFrame({"date": stamps, "target": target}), RunConfig.from_options({"freq": freq}))[0]
    setup = BaselineSetup(lookback, horizon, season, Calendar.build("auto", panel.frequency), panel.timestamps[300])
    cutoffs = np.arange(300, rows - horizon)
    actual = target[cutoffs[:, None] + np.arange(1, horizon + 1)]
    errors = [
        np.abs(baseline_forecasts(name, panel, cutoffs, setup) - actual).mean()
        for name in ("median-regression", "naive")
    ]
    assert errors[0] < 0.8 * errors[1]


def test_an_axis_of_whole_numbers_has_no_year() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"date": np.arange(200), "target": np.sin(np.arange(200.0)) + rng.normal(size=200) / 10})
    panel = read_panel(table, RunConfig.from_options({"freq": "1"}))[0]
    setup = BaselineSetup(20, 10, 1, Calendar.build("auto", panel.frequency), panel.timestamps[150])
    forecasts = forecast(panel, [160, 170], setup)
    assert np.abs(forecasts - panel.target[np.array([[160], [170]]) + np.arange(1, 11)]).mean() < 0.3


def test_spikes_do_not_move_it_as_they_move_squares() -> None:
    """One value of twenty is ten times as far off, always upwards."""
    rng, rows = np.random.default_rng(5), 4 * 300
    course = 50 + 5 * np.sin(2 * np.pi * np.arange(rows) / SEASON) + rng.normal(size=rows)
    spikes = np.where(rng.random(rows) < 0.05, 20.0, 0.0)
    table = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=rows, freq="6h"), "target": course + spikes})
    panel = read_panel(table, RunConfig.from_options({"freq": "6h"}))[0]
    setup = BaselineSetup(7 * SEASON, SEASON, SEASON, Calendar.build("auto", panel.frequency), panel.timestamps[999])
    cutoffs = np.arange(999, rows - SEASON)
    expected = (50 + 5 * np.sin(2 * np.pi * np.arange(rows) / SEASON))[cutoffs[:, None] + np.arange(1, 5)]
    bias = {
        name: np.mean(baseline_forecasts(name, panel, cutoffs, setup) - expected)
        for name in ("median-regression", "linear")
    }
    assert abs(bias["median-regression"]) < abs(bias["linear"]) / 2
