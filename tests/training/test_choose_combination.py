"""What validation chooses to forecast a panel with: the weights against a search of its own, and what a run keeps."""

import itertools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn import Forecaster
from forecast_attn.attention_file import AttentionMetadata, read_attention
from forecast_attn.baselines.combination_weights import (
    EarlierErrors,
    choose_weights,
    independent_windows,
    scaled_error,
    weighted_mean,
)
from forecast_attn.baselines.theta import formula_forecasts
from forecast_attn.errors import RunError
from forecast_attn.forecasting import tail
from forecast_attn.forecasting.baseline_forecasts import BaselineForecasts
from forecast_attn.forecasting.forecast_result import ForecastResult
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.training import choose_combination

from ..altered_runs import with_combination

pytestmark = pytest.mark.slow

NAMES = ("network", "theta", "linear")
MANY = 10**9
"""Independent windows beside which the prior is nothing."""
UNKNOWN = EarlierErrors({}, 0)


def plain_error(actual: np.ndarray, forecast: np.ndarray, scale: np.ndarray) -> float:
    """Of every observed step of the windows that have a scale."""
    errors = [
        abs(forecast[window, step] - actual[window, step]) / scale[window]
        for window, step in itertools.product(*map(range, actual.shape))
        if not np.isnan(actual[window, step]) and scale[window] > 0
    ]
    return float(np.mean(errors))


def best_quarters(forecasts: dict[str, np.ndarray], actual: np.ndarray, scale: np.ndarray) -> np.ndarray:
    every = [np.array(parts) / 4 for parts in itertools.product(range(5), repeat=3) if sum(parts) == 4]
    stacked = np.stack([forecasts[name] for name in NAMES])
    return min(every, key=lambda parts: plain_error(actual, np.einsum("n,nws->ws", parts, stacked), scale))


def by_error(forecasts: dict[str, np.ndarray], actual: np.ndarray, scale: np.ndarray) -> np.ndarray:
    inverse = np.array([1 / plain_error(actual, forecasts[name], scale) for name in NAMES]) ** 6
    return inverse / inverse.sum()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000))
def test_the_weights_lie_between_the_best_quarters_and_those_of_each_error(seed: int) -> None:
    rng = np.random.default_rng(seed)
    actual, scale = rng.normal(size=(6, 3)), rng.uniform(0.5, 2, 6)
    actual[0, 1], scale[2] = np.nan, np.nan
    forecasts = {name: actual + rng.normal(rng.normal(), 1, (6, 3)) for name in NAMES}
    forecasts = {name: np.nan_to_num(values) for name, values in forecasts.items()}
    weights = choose_weights(forecasts, actual, scale, independent=MANY, earlier=UNKNOWN)
    assert sum(weights.values()) == pytest.approx(1)
    expected = (best_quarters(forecasts, actual, scale) + by_error(forecasts, actual, scale)) / 2
    expected = np.where(expected < 0.02, 0, expected)
    expected /= expected.sum()
    np.testing.assert_allclose([weights.get(name, 0) for name in NAMES], expected, atol=0.002)
    assert scaled_error(actual, forecasts["theta"], scale) == pytest.approx(
        plain_error(actual, forecasts["theta"], scale)
    )


FORMULAS = ("seasonal-naive", "dynamic-theta", "damped-trend", "autoregression")


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 400))
def test_few_independent_windows_leave_much_to_the_mean_of_the_formulas(seed: int, independent: int) -> None:
    rng = np.random.default_rng(seed)
    actual, scale = rng.normal(size=(6, 3)), rng.uniform(0.5, 2, 6)
    names = ("network", *FORMULAS, "linear")
    forecasts = {name: actual + rng.normal(rng.normal(), 1, (6, 3)) for name in names}
    certain = choose_weights(forecasts, actual, scale, independent=MANY, earlier=UNKNOWN)
    weights = choose_weights(forecasts, actual, scale, independent=independent, earlier=UNKNOWN)
    assert sum(weights.values()) == pytest.approx(1)
    chosen = plain_error(actual, sum(part * forecasts[name] for name, part in certain.items()), scale)
    best = min(plain_error(actual, forecasts[name], scale) for name in FORMULAS)
    power = min(6, 6 * 3 * independent / 100)
    prior = 100 / (100 + independent) * min(1, (chosen / best) ** power)
    for name in names:
        expected = (1 - prior) * certain.get(name, 0) + prior / 4 * (name in FORMULAS)
        # Weights below 0.02 go to the others.
        assert weights.get(name, 0) == pytest.approx(expected, rel=0.09, abs=0.021)


@pytest.mark.parametrize(("independent", "power"), [(20, 3), (40, 4), (20_000, 6)])
def test_of_the_formulas_those_with_less_error_before_get_more(independent: int, power: float) -> None:
    rng = np.random.default_rng(5)
    actual = rng.normal(size=(4, 3))
    forecasts = {"network": actual + 5, **dict.fromkeys(FORMULAS, actual + 1)}
    errors = dict(zip(FORMULAS, (1.5, 1.0, 1.25, 1.125), strict=True))
    weights = choose_weights(forecasts, actual, np.ones(4), independent=0, earlier=EarlierErrors(errors, independent))
    expected = np.array([error**-power for error in errors.values()])
    np.testing.assert_allclose([weights[name] for name in FORMULAS], expected / expected.sum(), atol=0.002)


@pytest.mark.parametrize("earlier", [UNKNOWN, EarlierErrors(dict.fromkeys(FORMULAS, 1.0), 40)])
def test_a_formula_that_an_outlier_misled_is_no_part_of_the_prior(earlier: EarlierErrors) -> None:
    actual = np.random.default_rng(5).normal(size=(4, 3))
    forecasts = {"network": actual + 1e7, **dict.fromkeys(FORMULAS, actual + 1), "autoregression": actual + 1e11}
    weights = choose_weights(forecasts, actual, np.ones(4), independent=4, earlier=earlier)
    assert weights.keys() == {"seasonal-naive", "dynamic-theta", "damped-trend"}


@pytest.mark.parametrize(
    ("num_series", "season", "expected"), [(2, 12, True), (1, 12, False), (2, 4, False), (2, 24, False)]
)
def test_temporal_aggregation_joins_monthly_panels(num_series: int, season: int, expected: bool) -> None:
    known = np.full(num_series, 60)
    panel = SimpleNamespace(num_series=num_series, num_rows=known.sum(), num_known=known, issued=None)
    names = choose_combination.candidate_names(panel, 2 * season, season)
    assert ("temporal-aggregation" in names) is expected
    assert set(FORMULAS) < set(names)


def test_formulas_are_scored_at_earlier_cutoffs_up_to_the_last_known_row() -> None:
    target = np.concatenate([PANEL["y"].to_numpy()[: ROWS + 10], np.full(3, np.nan), PANEL["y"].to_numpy()[-ROWS:]])
    starts, known = (
        np.array([0, ROWS, ROWS + 13, len(target)]),
        np.array([ROWS, 9, ROWS]),
    )  # one too short, one unscaled
    panel = SimpleNamespace(
        starts=starts,
        num_series=3,
        num_known=known,
        ends=starts[:-1] + known,
        target=target,
        series_of=lambda rows: np.searchsorted(starts, rows, side="right") - 1,
    )
    setup = SimpleNamespace(season=SEASON, horizon=HORIZON, chronos_model=None)
    earlier = choose_combination.earlier_errors(panel, setup, np.array([2.0, 1.0, np.nan]))
    values, errors = PANEL["y"].to_numpy()[:ROWS], []
    for back in (1, 2, 4, 5, 6, 8):
        known, actual = values[: ROWS - back], values[ROWS - back :][:HORIZON]
        errors.append(np.abs(np.resize(known[-SEASON:], HORIZON)[: len(actual)] - actual) / 2)
    assert earlier.errors["seasonal-naive"] == pytest.approx(np.concatenate(errors).mean())
    assert set(earlier.errors) == set(FORMULAS)
    assert earlier.independent == 2


@pytest.mark.parametrize(("steps", "network"), [(100, 1.0), (6, 0.4)])
def test_formulas_that_are_far_worse_get_nothing_of_one_window_if_it_is_long(steps: int, network: float) -> None:
    rng = np.random.default_rng(3)
    actual = rng.normal(size=(1, steps))
    forecasts = {name: actual + rng.choice([-1, 1], (1, steps)) for name in FORMULAS}
    forecasts["network"] = actual + 0.2
    weights = choose_weights(forecasts, actual, np.ones(1), independent=1, earlier=UNKNOWN)
    assert weights["network"] == pytest.approx(network, abs=0.06)


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1000))
def test_the_order_of_series_and_of_baselines_changes_no_weight(seed: int) -> None:
    rng = np.random.default_rng(seed)
    actual, scale = rng.normal(size=(6, 3)), rng.uniform(0.5, 2, 6)
    forecasts = {name: actual + rng.normal(rng.normal(), 1, (6, 3)) for name in ("network", *FORMULAS)}
    weights = choose_weights(forecasts, actual, scale, independent=6, earlier=UNKNOWN)
    order = rng.permutation(6)
    turned = {name: forecasts[name][order] for name in reversed(forecasts)}
    other = choose_weights(turned, actual[order], scale[order], independent=6, earlier=UNKNOWN)
    # Of those that are equally good, another may be first.
    assert {name: other.get(name, 0) for name in weights} == pytest.approx(weights, abs=0.0011)


def test_windows_are_independent_that_share_no_actual_value() -> None:
    cutoffs, series = np.array([10, 11, 13, 40, 46, 47]), np.array([0, 0, 0, 1, 1, 1])
    assert independent_windows(cutoffs, series, horizon=3) == 2 + 3
    assert independent_windows(cutoffs, series, horizon=100) == 2


def test_the_network_stands_alone_where_nothing_helps() -> None:
    actual = np.zeros((4, 2))
    forecasts = {"network": actual + 0.1, "theta": actual + 5, "linear": np.full((4, 2), np.nan)}
    assert choose_weights(forecasts, actual, np.ones(4), independent=MANY, earlier=UNKNOWN) == {"network": 1.0}


def test_a_perfect_forecast_has_all_weight() -> None:
    actual = np.arange(8.0).reshape(4, 2)
    forecasts = {"network": actual + 0.1, "theta": actual.copy(), "linear": actual - 3}
    assert choose_weights(forecasts, actual, np.ones(4), independent=MANY, earlier=UNKNOWN) == {"theta": 1.0}


def test_a_missing_forecast_leaves_its_weight_to_the_others() -> None:
    forecasts = {"network": np.array([4.0, 4.0]), "theta": np.array([np.nan, 8.0])}
    np.testing.assert_array_equal(weighted_mean(forecasts, {"network": 0.75, "theta": 0.25}), [4.0, 5.0])


SERIES, ROWS, HORIZON, SEASON = 24, 36, 4, 4


def make_panel() -> pd.DataFrame:
    """Quarterly series that grow, each with its own season."""
    rng, parts = np.random.default_rng(1), []
    for number in range(SERIES):
        level = 100 + np.cumsum(rng.normal(1, 2, ROWS))
        values = level * np.resize(rng.uniform(0.7, 1.3, SEASON), ROWS)
        stamps = pd.date_range("2010-01-01", periods=ROWS, freq="QS")
        parts.append(pd.DataFrame({"item_id": f"s{number:02d}", "date": stamps, "y": values}))
    return pd.concat(parts, ignore_index=True)


PANEL = make_panel()
OPTIONS = {"horizon": HORIZON, "hidden_size": 4, "max_epochs": 1, "seed": 1, "accelerator": "cpu"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Forecaster:
    """A network that has learned next to nothing, beside formulas that fit."""
    return Forecaster(**OPTIONS).fit(PANEL, out=tmp_path_factory.mktemp("combining") / "run")


def test_a_run_keeps_what_validation_chose(run: Forecaster) -> None:
    chosen = run.metrics["combination"]
    assert chosen["weights"].get("network", 0) < 1
    assert chosen["validation"]["mase"] < run.metrics["validation"]["mase"]
    assert set(chosen["alone"]) == set(chosen["weights"]) - {"network"}
    assert all(chosen["validation"]["mase"] < 1.2 * errors["mase"] for errors in chosen["alone"].values())
    result = run.predict()
    assert result.weights == chosen["weights"]
    assert result.combined_with == tuple(name for name in chosen["weights"] if name != "network")


def test_a_forecast_from_the_run_is_the_one_from_the_table(run: Forecaster) -> None:
    pd.testing.assert_frame_equal(run.predict().predictions, run.predict(PANEL).predictions)


def test_the_forecast_is_the_weighted_mean(run: Forecaster, tmp_path: Path) -> None:
    """Half the network alone, half Theta computed here."""
    other = Forecaster.load(with_combination(run, tmp_path / "copy", weights={"network": 0.5, "theta": 0.5}))
    alone = other.predict(PANEL, combine_with="none").predictions["prediction"].to_numpy()
    ends = np.arange(SERIES) * ROWS
    theta = formula_forecasts("theta", PANEL["y"].to_numpy(), ends, ends + ROWS - 1, season=SEASON, horizon=HORIZON)
    predictions = other.predict(PANEL).predictions["prediction"].to_numpy()
    np.testing.assert_allclose(predictions, (alone + theta.ravel()) / 2, rtol=1e-9)


@pytest.mark.parametrize("weights", [{"network": 2.0}, {"nonsense": 0.5}, [1], {"network": "1"}])
def test_weights_that_cannot_be_are_refused(run: Forecaster, tmp_path: Path, weights: object) -> None:
    copy = with_combination(run, tmp_path / "copy", weights=weights)
    with pytest.raises(RunError, match="damaged"):
        Forecaster.load(copy).predict(PANEL)


def test_none_has_the_network_alone_and_one_long_series_is_combined(
    tmp_path: Path, make_table: Callable[..., pd.DataFrame]
) -> None:
    long, options = make_table(1_001), {**OPTIONS, "lookback": 14, "epoch_windows": 8, "validation_windows": 8}
    without = Forecaster(**options, combination="none").fit(long, out=tmp_path / "none")
    assert "combination" not in without.metrics
    assert "combination" in Forecaster(**options).fit(long, out=tmp_path / "long").metrics


def test_regressions_that_would_cost_too_much_at_every_forecast_are_no_candidates(
    tmp_path: Path, make_table: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {**OPTIONS, "lookback": 14, "epoch_windows": 8, "validation_windows": 8, "horizon": 7}
    run = Forecaster(**options).fit(make_table(400), out=tmp_path / "run")
    assert {"linear", "median-regression"} & set(run.metrics["combination"]["weights"])
    monkeypatch.setattr(tail, "MOST_FUTURE_ROWS", 0)  # the run's whole table is no longer than it may be
    assert len(run.predict().predictions) == 7
    monkeypatch.setattr(choose_combination, "MOST_VALUES", 14 * 399)
    run = Forecaster(**options).fit(make_table(400), out=tmp_path / "large")
    assert {"linear", "median-regression"}.isdisjoint(run.metrics["combination"]["weights"])


def test_a_run_of_the_days_when_always_was_a_value(run: Forecaster, tmp_path: Path, without_manifest: Callable) -> None:
    copy = shutil.copytree(run.run_path, tmp_path / "run")
    without_manifest(copy)
    config = json.loads((copy / "config.json").read_text())
    config["options"]["training"]["combination"] = "always"
    (copy / "config.json").write_text(json.dumps(config))
    pd.testing.assert_frame_equal(Forecaster.load(copy).predict().predictions, run.predict().predictions)


@pytest.fixture(scope="module")
def quarter_run(run: Forecaster, tmp_path_factory: pytest.TempPathFactory) -> Forecaster:
    """The run with weights of our own, of which the network has a quarter."""
    copy = tmp_path_factory.mktemp("quarter") / "run"
    return Forecaster.load(with_combination(run, copy, weights={"network": 0.25, "theta": 0.75}))


def test_the_attention_file_says_how_much_the_network_is(run: Forecaster, quarter_run: Forecaster) -> None:
    def metadata(result: ForecastResult) -> AttentionMetadata:
        assert result.attention is not None
        return result.attention.metadata

    assert metadata(quarter_run.predict()).network_share == 0.25
    assert metadata(quarter_run.predict()).network_shares == {}
    assert metadata(quarter_run.predict(combine_with="none")).network_share == 1
    assert metadata(quarter_run.predict(PANEL, combine_with="drift")).network_share == 0.5
    share = run.metrics["combination"]["weights"].get("network", 0)
    assert read_attention(run.run_path / "validation_attention.parquet").metadata.network_share == share


def test_series_without_a_baseline_are_the_networks() -> None:
    prediction = np.array([[1.0, 2.0], [np.nan, np.nan], [3.0, np.nan]])
    forecasts = BaselineForecasts(np.array([4, 9, 14]), prediction, 0.5)
    panel = SimpleNamespace(series_of=lambda rows: rows // 5, item_ids=("a", "b", "c"))
    assert forecasts.network_share(panel) == (0.5, {"b": 1.0, "c": 0.75})


def test_inspection_and_audit_say_it_in_words(quarter_run: Forecaster) -> None:
    result = quarter_run.predict()
    assert result.attention is not None
    reading = inspect_attention(result.attention).reading
    assert "the network is 25 % of the forecast, the rest are baselines without attention" in reading.text
    audit = quarter_run.audit(PANEL, windows=8, draws=10)
    assert audit.header.network_share == 0.25
    assert audit.to_dict()["header"]["network_share"] == 0.25
    assert (
        "is 25 % of what `predict` forecasts; the rest are baselines without attention: theta 75 %"
        in (audit.verdict.caveats[0])
    )
