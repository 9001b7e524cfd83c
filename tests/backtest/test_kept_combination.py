"""A backtest scores what `predict` would have forecast: with the combination that the run keeps, and with a network
that has not seen the actual values."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from forecast_attn import Forecaster
from forecast_attn.backtest.backtest_result import BacktestResult
from forecast_attn.cli import app

pytestmark = pytest.mark.slow

SERIES, ROWS, LATER, HORIZON, SEASON = 20, 36, 8, 4, 4
OPTIONS = {
    "horizon": HORIZON,
    "hidden_size": 4,
    "max_epochs": 1,
    "seed": 1,
    "accelerator": "cpu",
    "quantiles": "0.1,0.5,0.9",
}


def make_panel(rows: int) -> pd.DataFrame:
    rng, parts = np.random.default_rng(1), []
    for number in range(SERIES):
        level = 100 + np.cumsum(rng.normal(1, 2, ROWS + LATER))
        values = level * np.resize(rng.uniform(0.7, 1.3, SEASON), ROWS + LATER)
        stamps = pd.date_range("2010-01-01", periods=ROWS + LATER, freq="QS")
        parts.append(pd.DataFrame({"item_id": f"s{number:02d}", "date": stamps, "y": values})[:rows])
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trained on the first 36 quarters, of which it has seen all; weights as below."""
    folder = tmp_path_factory.mktemp("kept")
    make_panel(ROWS).to_csv(folder / "known.csv", index=False)
    make_panel(ROWS + LATER).to_csv(folder / "whole.csv", index=False)
    Forecaster(**OPTIONS).fit(folder / "known.csv", out=folder / "run")
    return folder / "run"


WEIGHTS = {"network": 0.25, "theta": 0.5, "seasonal-naive": 0.25}
BY_SERIES = {"s01": {"theta": 1.0}, "s17": {"network": 0.5, "seasonal-naive": 0.5}}


@pytest.fixture(scope="module")
def combined_run(run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run with weights of our own."""
    copy = tmp_path_factory.mktemp("combined") / "run"
    copy.mkdir()
    for file in run.iterdir():
        if file.name != "manifest.json":
            (copy / file.name).write_bytes(file.read_bytes())
    metrics = json.loads((copy / "metrics.json").read_text())
    del metrics["manifest"]  # else the altered file is refused for its digest
    metrics["combination"] |= {"weights": WEIGHTS, "by_series": BY_SERIES}
    (copy / "metrics.json").write_text(json.dumps(metrics))
    return copy


def rows_of(result: BacktestResult, model: str) -> pd.DataFrame:
    return result.frame[result.frame["model"] == model].reset_index(drop=True)


def test_later_rows_are_forecast_as_predict_would(combined_run: Path) -> None:
    """Bit for bit, at a cut-off behind everything that the last training saw."""
    whole, known = make_panel(ROWS + LATER), make_panel(ROWS + 2)
    forecaster = Forecaster.load(combined_run)
    result = forecaster.backtest(whole, cutoffs=1 + LATER - HORIZON, stride=1, metrics=["mae"], baselines=[])
    assert result.weights == {0: WEIGHTS}
    both = rows_of(result, "combination")
    there = both[both["cutoff"] == known["date"].max()]
    expected = forecaster.predict(known).predictions
    for name in ("prediction", "0.1", "0.9"):
        np.testing.assert_array_equal(there[name].to_numpy(), expected[name].to_numpy())
    theta = rows_of(result, "theta")
    of_series = [rows.loc[(rows["item_id"] == "s01"), "prediction"].to_numpy() for rows in (both, theta)]
    np.testing.assert_allclose(*of_series, rtol=1e-12)
    assert set(result.frame["model"]) == {"run", "combination", "theta", "seasonal-naive"}


def test_none_leaves_the_network_alone(combined_run: Path) -> None:
    result = Forecaster.load(combined_run).backtest(combine_with="none", metrics=["mae"], baselines=[])
    assert set(result.frame["model"]) == {"run"}
    assert result.weights == {}


def test_rows_that_the_last_training_saw_are_forecast_by_the_network_before_it(run: Path, tmp_path: Path) -> None:
    """As by a run that ended with validation."""
    before = Forecaster(**OPTIONS, final_fit="none").fit(run.parent / "known.csv", out=tmp_path / "run")
    expected = rows_of(before.backtest(metrics=["mae"], combine_with="none"), "run")
    result = Forecaster.load(run).backtest(metrics=["mae"], combine_with="none", out=tmp_path / "bt.parquet")
    pd.testing.assert_frame_equal(rows_of(result, "run"), expected)
    document = json.loads(result.path.with_suffix(".json").read_text())
    assert document["validated_network"]
    assert document["inside_training"] == 0
    out = tmp_path / "later.parquet"
    later = Forecaster.load(run).backtest(make_panel(ROWS + LATER), cutoffs=1, metrics=["mae"], out=out)
    assert not json.loads(later.path.with_suffix(".json").read_text())["validated_network"]


def test_refits_choose_the_weights_anew(run: Path, combined_run: Path) -> None:
    """Weights of our own are replaced at the first refit; without validation rows they stay."""
    whole = make_panel(ROWS + LATER)
    options = {"cutoffs": 2, "stride": 2, "refit": "every", "refit_epochs": 1, "metrics": ["mae"], "baselines": []}
    result = Forecaster.load(combined_run).backtest(whole, **options)
    assert set(result.weights) == {1, 2}
    for number, weights in result.weights.items():
        assert sum(weights.values()) == pytest.approx(1)
        cutoff = result.folds.set_index("model").loc[number, "cutoff"]
        parts = {name: rows_of(result, "run" if name == "network" else name) for name in weights}
        parts = {name: rows.loc[rows["cutoff"] == cutoff, "prediction"].to_numpy() for name, rows in parts.items()}
        both = rows_of(result, "combination")
        of_row = [result.combinations[number].of(name) for name in both.loc[both["cutoff"] == cutoff, "item_id"]]
        expected = sum(np.array([each.get(name, 0) for each in of_row]) * parts[name] for name in weights)
        np.testing.assert_allclose(both.loc[both["cutoff"] == cutoff, "prediction"], expected, rtol=1e-9)
    fixed = Forecaster.load(combined_run).backtest(whole, **options, refit_validation=0)
    assert fixed.weights == {1: WEIGHTS, 2: WEIGHTS}
    # What came after a cut-off changes no weights chosen at it.
    changed = whole.assign(y=whole["y"].where(whole["date"] <= result.folds["cutoff"].iloc[0], whole["y"] + 50))
    assert Forecaster.load(combined_run).backtest(changed, **options).weights[1] == result.weights[1]


def test_the_command_says_what_is_scored(combined_run: Path, tmp_path: Path) -> None:
    words = ["backtest", str(combined_run), "--data", str(tmp_path / "known.csv"), "--metrics", "mae"]
    make_panel(ROWS).to_csv(tmp_path / "known.csv", index=False)
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "bt.csv")])
    assert done.exit_code == 0, done.output
    assert "combination: 25 % the network, 50 % theta and 25 % seasonal-naive, as validation chose" in done.stdout
    assert "the network that validation judged forecasts here" in done.stderr
