"""A baseline that nobody named and that cannot be fitted costs a note, not the backtest."""

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.fixture
def early(forecast, write, make_table, small) -> tuple[str, ...]:
    """A backtest from a cut-off before which there is no window to learn from."""
    assert forecast("train", write(make_table()), *small, "--out", "run", "--quiet").code == 0
    return ("backtest", "run", "--start", "2024-01-15", "--stride", "20")


def test_a_default_baseline_that_cannot_be_fitted_is_left_out(forecast, early):
    outcome = forecast(*early)
    assert outcome.code == 0, outcome.err
    assert "note: the baseline 'linear' is left out: there is no window of lookback 14 + horizon 3" in outcome.err
    document = json.loads(Path("run/backtest.json").read_text())
    assert document["baselines"] == ["naive", "seasonal-naive", "mean", "median", "drift"]
    assert {entry["model"] for entry in document["metrics"]} == {"run", *document["baselines"]}


def test_the_note_says_that_the_combination_lacks_it_too(forecast, early, without_manifest):
    path = Path("run/metrics.json")
    metrics = json.loads(path.read_text())
    weights = {"network": 0.5, "linear": 0.5}
    metrics["combination"] = {"weights": weights, "validation": metrics["validation"], "alone": {}}
    path.write_text(json.dumps(metrics))
    without_manifest(Path("run"))
    outcome = forecast(*early)
    assert "note: the baseline 'linear' is left out, also of the combination: there is no window" in outcome.err


def test_a_named_one_is_refused_before_anything_is_forecast(forecast, early):
    outcome = forecast(*early, "--baselines", "naive,linear")
    assert outcome.code == 1
    assert outcome.error.startswith("there is no window of lookback 14 + horizon 3")
    assert not list(Path("run").glob(".backtest.parquet.parts/part-*"))  # no forecast was made for nothing
