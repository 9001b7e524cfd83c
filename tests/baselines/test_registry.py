"""Every baseline against slow code, and that none of them sees what it must not."""

import importlib.util
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import sklearn.linear_model
from hypothesis import given
from hypothesis import strategies as st

from forecast_attn.baselines import linear
from forecast_attn.baselines import optional as optional_baselines
from forecast_attn.baselines.naive import drift, naive
from forecast_attn.baselines.registry import (
    BASELINES,
    DEFAULT_BASELINES,
    BaselineSetup,
    baseline_forecasts,
    check_baselines,
)
from forecast_attn.baselines.scales import insample_scales, seasonal_naive_error
from forecast_attn.config.options import RunConfig
from forecast_attn.data.calendar_features import Calendar
from forecast_attn.data.panel import Panel
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.runs.training_table import read_panel

pytestmark = pytest.mark.slow

NAN = math.nan
TREES = "boosted-trees"


@pytest.fixture(autouse=True)
def _small_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optional_baselines, "MOST_EXAMPLES", 4_000)
    monkeypatch.setattr(optional_baselines, "NUM_TREES", 40)


def panel_of(rows: int = 24 * 40, series: tuple[str, ...] = ("a", "b"), **options: object) -> Panel:
    """Hours with a day's course that a known covariate moves."""
    rng, frames = np.random.default_rng(0), []
    for number, name in enumerate(series):
        steps, wind = np.arange(rows), rng.normal(size=rows)
        target = 50 * (1 + number) + 10 * np.sin(2 * np.pi * steps / 24) + 4 * wind + rng.normal(size=rows)
        stamps = pd.date_range("2024-01-01", periods=rows, freq="h")
        frames.append(pd.DataFrame({"date": stamps, "item_id": name, "target": target, "wind": wind}))
    config = RunConfig.from_options({"future": ["wind"], **options})
    return read_panel(pd.concat(frames), config)[0]


def setup_of(panel: Panel, **changes: object) -> BaselineSetup:
    calendar = Calendar.build("auto", panel.frequency)
    setup = BaselineSetup(48, 24, 24, calendar, panel.timestamps[24 * 30 - 1])
    return replace(setup, **changes)  # type: ignore[arg-type]


def late_cutoffs(panel: Panel) -> np.ndarray:
    return np.concatenate([np.arange(start + 24 * 30 - 1, stop - 24, 24) for start, stop in _series(panel)])


def _series(panel: Panel) -> list[tuple[int, int]]:
    return list(zip(panel.starts[:-1].tolist(), panel.starts[1:].tolist(), strict=True))


def error_of(panel: Panel, cutoffs: np.ndarray, forecast: np.ndarray) -> float:
    actual = panel.target[cutoffs[:, None] + np.arange(1, 25)]
    return float(np.abs(forecast - actual).mean())


series = st.lists(st.floats(-1e6, 1e6) | st.just(NAN), min_size=1, max_size=12)


@given(panel=st.lists(series, min_size=1, max_size=4), horizon=st.integers(1, 5))
def test_naive_and_drift_value_by_value(panel: list[list[float]], horizon: int) -> None:
    target = np.concatenate([np.array(each) for each in panel])
    edges = np.cumsum([0, *map(len, panel)])
    flat, line = (each(target, edges[:-1], edges[1:] - 1, horizon=horizon) for each in (naive, drift))
    for index, values in enumerate(panel):
        known = [(position, value) for position, value in enumerate(values) if not math.isnan(value)]
        if not known:
            assert np.isnan(flat[index]).all()
            assert np.isnan(line[index]).all()
            continue
        (first, low), (last, high) = known[0], known[-1]
        slope = (high - low) / (last - first) if last > first else 0.0
        np.testing.assert_array_equal(flat[index], [high] * horizon)
        np.testing.assert_allclose(line[index], [high + slope * step for step in range(1, horizon + 1)], atol=1e-9)


@given(panel=st.lists(series, min_size=1, max_size=4), season=st.integers(1, 4))
def test_the_mean_square_of_one_season_back(panel: list[list[float]], season: int) -> None:
    target = np.concatenate([np.array(each) for each in panel])
    edges = np.cumsum([0, *map(len, panel)])
    actuals = SimpleNamespace(target=target, starts=edges, item_ids=range(len(panel)))
    scales = insample_scales(actuals, edges[1:], season)  # type: ignore[arg-type]
    for values, root in zip(panel, scales["rmse"], strict=True):
        back = season if len(values) > season else 1
        squares = [(now - before) ** 2 for before, now in zip(values, values[back:], strict=False)]
        squares = [square for square in squares if not math.isnan(square)]
        mean = sum(squares) / len(squares) if squares else 0
        np.testing.assert_allclose(root, math.sqrt(mean) if mean > 0 else NAN, rtol=1e-9)


def test_scales_look_at_the_first_rows_alone() -> None:
    panel = panel_of()
    stops = panel.starts[:-1] + 100
    changed = replace(panel, target=np.where(np.arange(panel.num_rows) % (24 * 40) < 100, panel.target, 1e9))
    before, after = (insample_scales(each, stops, 24) for each in (panel, changed))
    pd.testing.assert_frame_equal(before, after)
    assert before.index.tolist() == ["a", "b"]
    np.testing.assert_array_equal(
        before["mae"], seasonal_naive_error(panel.target, panel.starts[:-1], stops, season=24)
    )


@pytest.mark.parametrize("name", [*DEFAULT_BASELINES, TREES])
def test_nothing_after_a_cutoff_changes_its_forecast(name: str) -> None:
    panel = panel_of()
    setup, cutoffs = setup_of(panel), late_cutoffs(panel)[[0, 4, 12]]
    before = baseline_forecasts(name, panel, cutoffs, setup)
    assert before.shape == (3, 24)
    for index, cutoff in enumerate(cutoffs):
        target = panel.target.copy()
        # The first cut-off is the boundary, so that nothing after any of them may be learnt either.
        stop = panel.starts[np.searchsorted(panel.starts, cutoff, side="right")]
        target[cutoff + 1 : stop] += 1_000
        after = baseline_forecasts(name, replace(panel, target=target), cutoffs, setup)
        np.testing.assert_array_equal(after[index], before[index])


def test_linear_finds_the_course_of_the_day_and_the_covariate() -> None:
    panel = panel_of()
    setup, cutoffs = setup_of(panel), late_cutoffs(panel)
    errors = {name: error_of(panel, cutoffs, baseline_forecasts(name, panel, cutoffs, setup)) for name in BASELINES[:6]}
    assert errors["linear"] < 1.3  # of noise whose mean absolute value is 0.8
    assert errors["linear"] < 0.35 * min(errors["naive"], errors["seasonal-naive"], errors["drift"])


def test_trees_see_no_season_that_is_longer_than_the_lookback() -> None:
    """Their oldest value posed as the one a season before the target."""
    panel = panel_of(series=("a",))
    setup = setup_of(panel, lookback=60, season=72)
    cutoff = np.array([24 * 35])
    changed = panel.target.copy()
    changed[cutoff[0] - 59] += 1_000  # the oldest of the lookback, beyond the latest 48
    before, after = (baseline_forecasts(TREES, each, cutoff, setup) for each in (panel, replace(panel, target=changed)))
    np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("share_missing", [0, 0.3, 0.9])
def test_linear_solves_what_scikit_learn_solves(share_missing) -> None:
    """The columns have the units of all windows, also where some targets are missing."""
    rng = np.random.default_rng(0)
    past, known = rng.normal(2, 1, (60, 5)) * [1, 2, 3, 4, 0], rng.normal(3, 2, (60, 3))
    y = past[:, 0] - known[:, 1] + rng.normal(size=60)
    observed = rng.random(60) >= share_missing
    lookbacks = linear._Lookbacks.of(past).only(observed)
    layers = lookbacks.ridge(known[observed], y[observed], (0.01, 1.0))
    scaled = np.concatenate([past[:, :4] / past[:, :4].std(axis=0), known / known[observed].std(axis=0)], axis=1)
    for layer, penalty in zip(layers, (0.01, 1.0), strict=True):
        ridge = sklearn.linear_model.Ridge(alpha=observed.sum() * penalty).fit(scaled[observed], y[observed])
        forecast = np.hstack([past, known]) @ layer.weights + layer.offset
        np.testing.assert_allclose(forecast, ridge.predict(scaled), rtol=1e-8)


def test_linear_scales_with_the_units() -> None:
    panel = panel_of()
    setup, cutoffs = setup_of(panel), late_cutoffs(panel)
    before = baseline_forecasts("linear", panel, cutoffs, setup)
    after = baseline_forecasts("linear", replace(panel, target=3 * panel.target - 40), cutoffs, setup)
    np.testing.assert_allclose(after, 3 * before - 40, rtol=1e-6)


def test_linear_takes_missing_values_and_padded_windows() -> None:
    panel = panel_of(missing="mask")
    holes = np.random.default_rng(1).random(panel.num_rows) < 0.1
    holed = replace(panel, target=np.where(holes, NAN, panel.target))
    setup = setup_of(panel, padded=True)
    cutoffs = np.array([5, *late_cutoffs(panel)])
    forecast = baseline_forecasts("linear", holed, cutoffs, setup)
    assert np.isfinite(forecast).all()
    assert error_of(panel, cutoffs[1:], forecast[1:]) < 2.5


def test_linear_knows_a_covariate_as_far_as_it_is_known() -> None:
    panel = panel_of(series=("a",))
    known = replace(panel, roles=replace(panel.roles, known_steps={"wind": 3}))
    setup, cutoffs = setup_of(panel), late_cutoffs(panel)[:4]
    before = baseline_forecasts("linear", known, cutoffs, setup)
    for index, cutoff in enumerate(cutoffs):
        changed = panel.future_covariates.copy()
        changed[cutoff + 4 :] += 7
        after = baseline_forecasts("linear", replace(known, future_covariates=changed), cutoffs, setup)
        np.testing.assert_array_equal(before[index], after[index])
        changed[cutoff + 3] += 7
        after = baseline_forecasts("linear", replace(known, future_covariates=changed), cutoffs, setup)
        assert abs(after[index, 2] - before[index, 2]) > 7
    full = baseline_forecasts("linear", panel, cutoffs, setup)
    assert np.abs(full[:, 3:] - before[:, 3:]).mean() > 1


def test_linear_sees_covariates_as_they_were_forecast() -> None:
    panel = panel_of(series=("a",))
    stamps = pd.Series(panel.timestamps)
    data = pd.DataFrame({"date": stamps, "target": panel.target, "wind": panel.future_covariates[:, 0]})
    issued = stamps.dt.floor("D") - pd.Timedelta("1h")
    table = pd.DataFrame({"issued_at": issued, "date": stamps, "wind": data["wind"] * 2})
    config = RunConfig.from_options({"future": ["wind"]})
    forecast = read_panel(data, config, table)[0]
    setup, cutoffs = setup_of(panel), late_cutoffs(panel)
    learnt_on_forecasts = baseline_forecasts("linear", forecast, cutoffs, setup)
    # Twice the truth says as much as the truth; at other cut-offs than midnight's nothing had been issued.
    truth = replace(panel, future_covariates=np.zeros_like(panel.future_covariates))
    blind = error_of(panel, cutoffs, baseline_forecasts("linear", truth, cutoffs, setup))
    assert error_of(panel, cutoffs, learnt_on_forecasts) < 0.75 * blind
    changed = replace(forecast, future_covariates=forecast.future_covariates + 5)  # what came true
    changed = replace(changed, issued=forecast.issued)
    boundary = int(np.searchsorted(panel.timestamps, setup.boundary, side="right"))
    changed.future_covariates[:boundary] -= 5
    first = baseline_forecasts("linear", changed, cutoffs, setup)[0]  # later ones see it in their past
    np.testing.assert_allclose(first, learnt_on_forecasts[0])


def test_linear_sees_known_categories() -> None:
    rng, rows = np.random.default_rng(3), 24 * 40
    kind = rng.choice(["calm", "windy", "storm"], rows)
    target = 20 + pd.Series(kind).map({"calm": 0, "windy": 8, "storm": -8}).to_numpy() + rng.normal(size=rows)
    stamps = pd.date_range("2024-01-01", periods=rows, freq="h")
    frame = pd.DataFrame({"date": stamps, "target": target, "kind": kind})
    panel = read_panel(frame, RunConfig.from_options({"future": ["kind"]}))[0]
    setup, cutoffs = setup_of(panel), late_cutoffs(panel)
    assert error_of(panel, cutoffs, baseline_forecasts("linear", panel, cutoffs, setup)) < 1.5
    roles = replace(panel.roles, known_steps={"kind": 2})
    near = baseline_forecasts("linear", replace(panel, roles=roles), cutoffs, setup)
    actual = panel.target[cutoffs[:, None] + np.arange(1, 25)]
    assert np.abs(near - actual)[:, :2].mean() < 1.6
    assert np.abs(near - actual)[:, 2:].mean() > 4


def test_linear_without_a_training_window_is_refused() -> None:
    panel = panel_of()
    setup = setup_of(panel, boundary=panel.timestamps[20])
    for name in ("linear", TREES):
        with pytest.raises(DataError, match="to learn from"):
            baseline_forecasts(name, panel, late_cutoffs(panel), setup)


def test_many_windows_are_thinned_out_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    panel = panel_of()
    setup, cutoffs = setup_of(panel), late_cutoffs(panel)
    monkeypatch.setattr(linear, "MOST_WINDOWS", 300)
    few = baseline_forecasts("linear", panel, cutoffs, setup)
    assert few.tobytes() == baseline_forecasts("linear", panel, cutoffs, setup).tobytes()
    assert error_of(panel, cutoffs, few) < 2


def test_trees_learn_the_covariate() -> None:
    panel = panel_of()
    setup, cutoffs = setup_of(panel), late_cutoffs(panel)
    forecast = baseline_forecasts(TREES, panel, cutoffs, setup)
    assert error_of(panel, cutoffs, forecast) < 4  # without the covariate, 5


@pytest.mark.skipif(importlib.util.find_spec("statsforecast") is None, reason="statsforecast is not installed")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["auto-ets", "auto-theta", "auto-arima"])
def test_statistical_models_forecast_each_cutoff(name: str) -> None:
    panel = panel_of(series=("a",))
    setup, cutoffs = setup_of(panel, horizon=3, lookback=12, season=4), late_cutoffs(panel)[:2]
    forecast = baseline_forecasts(name, panel, cutoffs, setup)
    assert forecast.shape == (2, 3)
    assert np.abs(forecast - panel.target[cutoffs][:, None]).max() < 40


@pytest.mark.skipif(importlib.util.find_spec("statsforecast") is not None, reason="statsforecast is installed")
def test_what_is_not_installed_is_said_with_the_command() -> None:
    with pytest.raises(ConfigError) as caught:
        check_baselines(["naive", "auto-ets"])
    assert caught.value.hint == 'pip install "forecast-attn[baselines]"'


def test_an_unknown_baseline_is_refused() -> None:
    with pytest.raises(ConfigError, match="no baseline 'seasonal_naive'") as caught:
        check_baselines(["seasonal_naive"])
    assert caught.value.hint == "did you mean 'seasonal-naive'?"
