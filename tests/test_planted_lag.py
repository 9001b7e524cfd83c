"""The truth of the attention: a target that copies a driver from a known lag, so the right weights are known.

The tables come from benchmarks/make_samples.py, the networks from the command line with its default settings.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from forecast_attn.attention_dump import read_attention
from forecast_attn.config import ATTENTIONS

ROOT = Path(__file__).resolve().parent.parent
LAGS = (8, 14, 21)

pytestmark = pytest.mark.slow


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done


def train_on_planted_lag(attention: str, lag: int, folder: Path, *options: str) -> Path:
    run(str(ROOT / "benchmarks" / "make_samples.py"), "--lag", str(lag), "--out", str(folder / "table.csv"), cwd=folder)
    words = ("train", "table.csv", "--attention", attention, "--seed", "1", "--out", "run", "--quiet", *options)
    run("-m", "forecast_attn", *words, cwd=folder)
    return folder / "run"


def share_on(attention_path: Path, lag: int) -> float:
    """Share of all weight on time stamps that lie `lag` days before the step's target, give or take one day."""
    weights = read_attention(attention_path).to_frame()
    distance = (weights["timestamp"] - weights["lookback_timestamp"]).dt.days
    near = (distance - lag).abs() <= 1
    return float(weights["weight"][near].sum() / weights["weight"].sum())


@pytest.mark.parametrize("lag", LAGS)
@pytest.mark.parametrize("attention", ["bahdanau", "luong-dot", "luong-general", "luong-concat"])
def test_the_weight_lies_on_the_planted_lag(attention: str, lag: int, tmp_path: Path) -> None:
    directory = train_on_planted_lag(attention, lag, tmp_path)
    assert share_on(directory / "validation_attention.parquet", lag) >= 0.8
    run("-m", "forecast_attn", "predict", "run", cwd=tmp_path)
    assert share_on(directory / "attention.parquet", lag) >= 0.8


@pytest.mark.parametrize(
    "attention",
    sorted(set(ATTENTIONS) - {"none", "bahdanau", "luong-dot", "luong-general", "luong-concat"}),
)
def test_every_other_mechanism_finds_it_too(attention: str, tmp_path: Path) -> None:
    directory = train_on_planted_lag(attention, 14, tmp_path)
    assert share_on(directory / "validation_attention.parquet", 14) >= 0.8


def test_none_has_no_weights_to_show(tmp_path: Path) -> None:
    directory = train_on_planted_lag("none", 14, tmp_path, "--max-epochs", "1")
    assert not list(directory.glob("*attention*"))
    run("-m", "forecast_attn", "predict", "run", cwd=tmp_path)
    assert not list(directory.glob("*attention*"))
    done = subprocess.run(
        [sys.executable, "-m", "forecast_attn", "inspect", "run"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "has no attention to show" in done.stderr


def test_the_bundled_table_has_the_lag_its_readme_tells() -> None:
    table = np.genfromtxt(ROOT / "data" / "planted_lag.csv", delimiter=",", names=True, usecols=(1, 2))
    assert np.corrcoef(table["target"][10:], table["driver"][:-10])[0, 1] > 0.99
