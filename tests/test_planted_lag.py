"""The truth of the attention: a target that copies a driver from a known lag, so the right weights are known.

The tables come from benchmarks/make_samples.py, the networks from the command line with its default settings but for
the epochs, a few of which find the lag, and the baselines that would be joined with them.
"""

import io
import runpy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn.attention_file import read_attention
from forecast_attn.config.mechanisms import ATTENTIONS

ROOT = Path(__file__).resolve().parent.parent
EPOCHS = {"bahdanau-normed": "8", "luong-concat": "3", "keras-additive": "3"}
ENOUGH = "2"

pytestmark = pytest.mark.slow


@cache
def planted_lag(lag: int) -> str:
    """The table of a lag, as text."""
    script = runpy.run_path(str(ROOT / "benchmarks" / "make_samples.py"))
    return str(script["planted_lag"](lag))


@pytest.fixture
def train(here: Path, forecast_fork: Callable[..., Any]) -> Callable[..., Path]:
    """`train(attention, lag, *flags)`: the run directory of a training on a table with that lag."""

    def on_planted_lag(attention: str, lag: int, *flags: str, holes: float = 0) -> Path:
        table = pd.read_csv(io.StringIO(planted_lag(lag)))
        table.loc[np.random.default_rng(5).random(len(table)) < holes, "target"] = np.nan
        table.to_csv("table.csv", index=False)
        words = ("--attention", attention, "--seed", "1", "--out", "run", "--quiet", *flags, "--combination", "none")
        outcome = forecast_fork("train", "table.csv", *words)
        assert outcome.code == 0, outcome.err
        return here / "run"

    return on_planted_lag


def weights_of(attention_path: Path) -> pd.DataFrame:
    return read_attention(attention_path).to_frame()


def share_on(weights: pd.DataFrame, lag: int) -> float:
    """Share of all weight on time stamps that lie `lag` days before the step's target, give or take one day."""
    distance = (weights["timestamp"] - weights["lookback_timestamp"]).dt.days
    near = (distance - lag).abs() <= 1
    return float(weights["weight"][near].sum() / weights["weight"].sum())


@pytest.mark.parametrize("attention", [name for name in ATTENTIONS if name != "none"])
def test_the_weight_lies_on_the_planted_lag(
    attention: str, train: Callable[..., Path], forecast: Callable[..., Any]
) -> None:
    """Of the validation windows and of the forecast. The heads of multi-head divide the work: the best one has it."""
    lag = 8 if attention == "luong-general" else 14
    run = train(attention, lag, "--max-epochs", EPOCHS.get(attention, ENOUGH))
    assert forecast("predict", run).code == 0
    for name in ("validation_attention.parquet", "attention.parquet"):
        shares = [share_on(of_head, lag) for _, of_head in weights_of(run / name).groupby("head")]
        assert max(shares) >= 0.8


@pytest.mark.parametrize("attention", ["bahdanau", "luong-general"])
def test_a_fifth_of_the_values_may_be_missing(attention: str, train: Callable[..., Path]) -> None:
    """Where the lag's own value is missing the weight must lie elsewhere; where it is there, on the lag."""
    run = train(attention, 14, "--missing", "mask", "--max-epochs", ENOUGH, holes=0.2)
    weights = weights_of(run / "validation_attention.parquet")
    table = pd.read_csv("table.csv", parse_dates=["date"])
    missing = table["date"][table["target"].isna()]
    on_missing = weights["lookback_timestamp"].isin(missing)
    assert 0.15 < on_missing.mean() < 0.25
    assert (weights["weight"][on_missing] == 0).all()
    has_lag = ~(weights["timestamp"] - pd.Timedelta(days=14)).isin(missing)
    assert share_on(weights[has_lag], 14) >= 0.8


def test_none_has_no_weights_to_show(train: Callable[..., Path], forecast: Callable[..., Any]) -> None:
    run = train("none", 14, "--max-epochs", "1")
    assert forecast("predict", run).code == 0
    assert not list(run.glob("*attention*"))
    outcome = forecast("inspect", run)
    assert outcome.code == 1
    assert "has no attention to show" in outcome.error


def test_the_bundled_table_has_the_lag_its_readme_tells() -> None:
    table = np.genfromtxt(ROOT / "data" / "planted_lag.csv", delimiter=",", names=True, usecols=(1, 2))
    assert np.corrcoef(table["target"][10:], table["driver"][:-10])[0, 1] > 0.99
