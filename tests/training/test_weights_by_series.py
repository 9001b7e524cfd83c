"""Weights by series: against a second implementation, and everything that forecasts with them."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from forecast_attn import Forecaster
from forecast_attn.attention_file import read_attention
from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.baselines.weights_by_series import weights_by_series
from forecast_attn.cli.training_display import _combination
from forecast_attn.errors import RunError

from ..altered_runs import with_combination

WEIGHTS = {"network": 0.5, "theta": 0.3, "linear": 0.2}


def second_implementation(
    weights: dict[str, float], forecasts: dict[str, np.ndarray], actual: np.ndarray, windows: list[tuple[int, int]]
) -> dict[int, dict[str, float]]:
    """Block by block, from the definitions; `windows` are cut-offs and series."""
    horizon, names = actual.shape[1], list(weights)
    logs: dict[int, list[np.ndarray]] = {}
    for series in sorted({each for _, each in windows}):
        last = max(cutoff for cutoff, each in windows if each == series)
        blocks: dict[int, list[int]] = {}
        for row, (cutoff, each) in enumerate(windows):
            if each == series:
                blocks.setdefault((last - cutoff) // horizon, []).append(row)
        for rows in blocks.values():
            errors = np.array([np.nanmean(np.abs(forecasts[name][rows] - actual[rows])) for name in names])
            relative = np.log(np.maximum(errors, errors.mean() / 100))
            centre = np.average(relative, weights=list(weights.values()))
            logs.setdefault(series, []).append(relative - centre)
    logs = {series: each for series, each in logs.items() if len(each) > 1}
    sizes = np.array([len(each) for each in logs.values()])
    everything = np.concatenate(list(logs.values()))
    inside = between = 0.0
    for index, name in enumerate(names):
        columns = [np.array(each)[:, index] for each in logs.values()]
        mean = everything[:, index].mean()
        inside += weights[name] * sum(((each - each.mean()) ** 2).sum() for each in columns)
        between += weights[name] * sum(len(each) * (each.mean() - mean) ** 2 for each in columns)
    inside, between = inside / (sizes.sum() - len(sizes)), between / (len(sizes) - 1)
    if between <= inside or stats.f.sf(between / inside, len(sizes) - 1, sizes.sum() - len(sizes)) > 0.05:
        return {}
    variance = (between - inside) * (len(sizes) - 1) / (sizes.sum() - (sizes**2).sum() / sizes.sum())
    chosen = {}
    for series, each in logs.items():
        lasting = variance / (variance + inside / len(each)) * (np.mean(each, axis=0) - everything.mean(axis=0))
        parts = np.array([weights[name] * np.exp(-2 * value) for name, value in zip(names, lasting, strict=True)])
        chosen[series] = dict(zip(names, parts / parts.sum(), strict=True))
    return chosen


def windows_of(rng: np.random.Generator, num_series: int, difference: float) -> tuple:
    """Some windows of each series, in which each forecast has an error of its own; overlapping ones among them."""
    cutoffs = [rng.integers(10, 30, rng.integers(1, 5)) for _ in range(num_series)]
    windows = [(int(cutoff), series) for series, each in enumerate(cutoffs) for cutoff in each]
    actual = rng.normal(size=(len(windows), 4))
    actual[0, 1] = np.nan
    sizes = np.exp(difference * rng.normal(size=(num_series, len(WEIGHTS))))
    of_window = np.array([sizes[series] for _, series in windows])
    forecasts = {
        name: actual + of_window[:, [index]] * rng.normal(size=actual.shape) for index, name in enumerate(WEIGHTS)
    }
    forecasts = {name: np.nan_to_num(values) for name, values in forecasts.items()}
    return forecasts, actual, windows


def chosen_weights(forecasts: dict[str, np.ndarray], actual: np.ndarray, windows: list) -> dict[int, dict[str, float]]:
    cutoffs, series = np.array(windows).T
    return weights_by_series(WEIGHTS, forecasts, actual, cutoffs, series)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0.0, 0.3, 1.0]))
def test_weights_are_those_of_a_second_implementation(seed: int, difference: float) -> None:
    forecasts, actual, windows = windows_of(np.random.default_rng(seed), 12, difference)
    weights = chosen_weights(forecasts, actual, windows)
    expected = second_implementation(WEIGHTS, forecasts, actual, windows)
    assert weights.keys() == expected.keys()
    for series, each in weights.items():
        assert sum(each.values()) == pytest.approx(1, abs=1e-9)
        assert all(0 < part <= 1 for part in each.values())
        np.testing.assert_allclose([each.get(n, 0) for n in WEIGHTS], list(expected[series].values()), atol=0.002)


def test_series_that_do_not_differ_keep_the_weights_of_the_table() -> None:
    """By chance alone, hardly one table in twenty gets others."""
    rng = np.random.default_rng(7)
    tables = [chosen_weights(*windows_of(rng, 12, 0.0)) for _ in range(200)]
    assert sum(bool(each) for each in tables) <= 20
    assert all(chosen_weights(*windows_of(rng, 30, 1.0)) for _ in range(20))


def test_one_series_and_single_windows_have_no_evidence() -> None:
    rng = np.random.default_rng(3)
    forecasts, actual, windows = windows_of(rng, 12, 2.0)
    alone = [(cutoff, 0) for cutoff, _ in windows]
    assert chosen_weights(forecasts, actual, alone) == {}
    assert chosen_weights(forecasts, actual, [(10, index) for index in range(len(windows))]) == {}
    cutoffs, series = np.array(windows).T
    assert weights_by_series({"theta": 1.0}, forecasts, actual, cutoffs, series) == {}


def test_perfect_and_unobserved_windows_are_no_evidence() -> None:
    forecasts, actual, windows = windows_of(np.random.default_rng(3), 12, 1.0)
    before = chosen_weights(forecasts, actual, windows)
    more = {name: np.concatenate([values, values[:2]]) for name, values in forecasts.items()}
    perfect = np.stack([more["network"][-2], np.full(4, np.nan)])
    for values in more.values():
        values[-2] = perfect[0]
    assert chosen_weights(more, np.concatenate([actual, perfect]), [*windows, (900, 90), (900, 91)]) == before


SERIES, ROWS, HORIZON = 20, 150, 4
OPTIONS = {"horizon": HORIZON, "lookback": 12, "hidden_size": 4, "max_epochs": 1, "seed": 1, "accelerator": "cpu"}


def make_panel() -> pd.DataFrame:
    """Quarterly series: every other one repeats its season, the rest are random walks."""
    rng, parts = np.random.default_rng(1), []
    for number in range(SERIES):
        season = 100 + np.resize(rng.normal(0, 30, 4), ROWS) + rng.normal(0, 3, ROWS)
        values = season if number % 2 else 100 + np.cumsum(rng.normal(0, 3, ROWS))
        stamps = pd.date_range("1970-01-01", periods=ROWS, freq="QS")
        parts.append(pd.DataFrame({"item_id": f"s{number:02d}", "date": stamps, "y": values}))
    return pd.concat(parts, ignore_index=True)


PANEL = make_panel()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Forecaster:
    folder = tmp_path_factory.mktemp("by-series")
    PANEL.to_csv(folder / "panel.csv", index=False)
    return Forecaster(**OPTIONS).fit(folder / "panel.csv", out=folder / "run")


@pytest.fixture(scope="module")
def mixed(run: Forecaster, tmp_path_factory: pytest.TempPathFactory) -> Forecaster:
    """The run with weights of our own, of which the network has a part."""
    copy = with_by_series(run, tmp_path_factory.mktemp("mixed") / "run", {"s03": {"network": 0.25, "naive2": 0.75}})
    return Forecaster.load(copy)


def with_by_series(run: Forecaster, copy: Path, by_series: object) -> Path:
    """A copy of the run, which is half the network and half Naive2 but for these series."""
    return with_combination(run, copy, weights={"network": 0.5, "naive2": 0.5}, by_series=by_series)


@pytest.mark.slow
def test_training_keeps_them_and_their_score(run: Forecaster) -> None:
    combination = run.metrics["combination"]
    assert set(combination["by_series"]) == set(PANEL["item_id"])
    assert all(sum(each.values()) == pytest.approx(1) for each in combination["by_series"].values())
    seasonal = [each.get("seasonal-naive", 0) for _, each in sorted(combination["by_series"].items())]
    assert np.mean(seasonal[1::2]) > np.mean(seasonal[::2])
    assert run.predict().weights_by_series == combination["by_series"]
    shares = {name: each.get("network", 0.0) for name, each in combination["by_series"].items()}
    assert read_attention(run.run_path / "validation_attention.parquet").metadata.network_shares == shares


@pytest.mark.slow
def test_forecasts_and_attention_have_the_weights_of_their_series(mixed: Forecaster) -> None:
    alone = mixed.predict(PANEL, combine_with="none").predictions
    half = mixed.predict(PANEL, combine_with="naive2").predictions  # one half each
    naive2 = 2 * half["prediction"] - alone["prediction"]
    result = mixed.predict(PANEL)
    share = np.where(alone["item_id"] == "s03", 0.25, 0.5)
    np.testing.assert_allclose(
        result.predictions["prediction"], share * alone["prediction"] + (1 - share) * naive2, rtol=1e-9
    )
    assert result.attention is not None
    metadata = result.attention.metadata
    assert (metadata.network_share, metadata.network_shares) == (0.5, {"s03": 0.25})


@pytest.mark.slow
def test_a_series_that_training_has_not_seen_has_the_weights_of_the_table(mixed: Forecaster) -> None:
    new = PANEL[PANEL["item_id"] == "s03"].assign(item_id="new")
    result = mixed.predict(pd.concat([PANEL, new], ignore_index=True), cold_start=True)
    assert set(result.weights_by_series) == {"s03"}
    assert result.attention is not None
    assert result.attention.metadata.network_shares == {"s03": 0.25}
    rest = mixed.predict(PANEL[PANEL["item_id"] == "s00"])
    assert rest.weights_by_series == {}


@pytest.mark.slow
def test_they_are_said_in_words(mixed: Forecaster) -> None:
    words = "weights by series: 1 series has its own, the network 25 %"
    assert re.search(f"on these windows(, WORSE than [^;]+)?; {words}$", _combination(mixed.metrics))
    audit = mixed.audit(PANEL, windows=8, draws=10)
    assert audit.verdict is not None
    assert f"naive2 50 % ({words})." in audit.verdict.caveats[0]
    assert Combination({"theta": 1.0}).by_series_text() == ""
    of_two = Combination(WEIGHTS, {"a": {"network": 0.2, "theta": 0.8}, "b": {"linear": 1.0}})
    assert of_two.by_series_text() == "weights by series: 2 series have their own, the network 0 to 20 %"


@pytest.mark.slow
def test_an_update_keeps_or_chooses_them(run: Forecaster, tmp_path: Path) -> None:
    later = PANEL.groupby("item_id").tail(1)
    later = later.assign(date=later["date"] + pd.DateOffset(months=3))
    updated = run.update(later, out=tmp_path / "updated", epochs=1)
    combination = updated.metrics["combination"]
    assert set(combination["by_series"]) <= set(PANEL["item_id"])
    assert Forecaster.load(tmp_path / "updated").predict().weights_by_series == combination.get("by_series", {})


@pytest.mark.slow
@pytest.mark.parametrize(
    "by_series",
    [{"s00": {}}, {"s00": {"network": 2.0}}, {"s00": {"naive": 1.0}}, {"s00": 1.0}, [1], {"s00": {"network": "1"}}],
)
def test_weights_that_cannot_be_are_refused(run: Forecaster, tmp_path: Path, by_series: object) -> None:
    copy = with_by_series(run, tmp_path / "run", by_series)
    with pytest.raises(RunError, match="damaged"):
        Forecaster.load(copy).predict(PANEL)
