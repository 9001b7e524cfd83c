"""A run whose attention is known to be right, runs whose attention says nothing, and the audits of them, made once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import torch
from torch import Tensor, nn

from forecast_attn.audit import Audit
from forecast_attn.audit.subject import Subject
from forecast_attn.forecaster import Forecaster
from forecast_attn.forecasting.inference import load_model
from forecast_attn.forecasting.model import read_config
from forecast_attn.nn.scores import Score
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import panel_of_run
from forecast_attn.training.preparation import Preparation, prepare

LAG, LOOKBACK, HORIZON = 6, 14, 4
OPTIONS: dict[str, Any] = {
    "lookback": LOOKBACK,
    "horizon": HORIZON,
    "hidden_size": 10,
    "max_epochs": 8,
    "combination": "none",
    "epoch_windows": 512,
    "batch_size": 16,
    "learning_rate": 0.01,
    "seed": 1,
    "accelerator": "cpu",
    "calendar": "none",
}
WINDOWS, DRAWS, WINDOWS_EXPLAINED = 48, 20, 6


class Trained(NamedTuple):
    """A run and the table it was trained on."""

    run: Path
    table: Path

    def audit(self, **options: Any) -> Audit:
        return Forecaster.load(self.run).audit(**{"windows": WINDOWS, "draws": DRAWS, "accelerator": "cpu", **options})


def planted_table(rows: int = 500, lag: int = LAG) -> pd.DataFrame:
    """A target that is its driver of `lag` days ago, and a column of noise."""
    random = np.random.default_rng(0)
    driver = random.normal(size=rows + lag)
    return pd.DataFrame(
        {
            "date": pd.date_range("2020-01-01", periods=rows, freq="D").strftime("%Y-%m-%d"),
            "target": (driver[:rows] + 0.02 * random.normal(size=rows)).round(4),
            "driver": driver[lag:].round(4),
            "noise": random.normal(size=rows).round(4),
        }
    )


def noise_table(rows: int = 500) -> pd.DataFrame:
    random = np.random.default_rng(1)
    columns = {name: random.normal(size=rows).round(4) for name in ("target", "other")}
    return pd.DataFrame({"date": pd.date_range("2020-01-01", periods=rows, freq="D").strftime("%Y-%m-%d"), **columns})


class FrozenScore(Score[Tensor]):
    """The same random weights in every window and every step, whatever is asked: they were never trained."""

    def __init__(self, context_size: int, key_length: int) -> None:
        super().__init__(context_size)
        self.scores = nn.Parameter(2 * torch.randn(key_length), requires_grad=False)

    def prepare_key(self, key: Tensor) -> Tensor:
        return key

    def forward(self, query: Tensor, key: Tensor) -> Tensor:
        return self.scores.to(query.dtype).expand(len(query), query.shape[1], -1)


def frozen_score(name: str, **sizes: Any) -> FrozenScore:
    return FrozenScore(sizes["key_size"], sizes["key_length"])


@pytest.fixture(scope="session")
def train_on(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Trained]:
    """`train_on(frame, attention, **options)`: a run in a folder of its own, beside its table."""

    def train(frame: pd.DataFrame, attention: str, **options: Any) -> Trained:
        folder = tmp_path_factory.mktemp("audited")
        frame.to_csv(folder / "table.csv", index=False)
        forecaster = Forecaster(attention=attention, **(OPTIONS | options))
        forecaster.fit(folder / "table.csv", out=folder / "run")
        return Trained(folder / "run", folder / "table.csv")

    return train


@pytest.fixture(scope="session")
def planted(train_on: Callable[..., Trained]) -> Trained:
    return train_on(planted_table(), "luong-general")


@pytest.fixture(scope="session")
def planted_audit(planted: Trained) -> Audit:
    return planted.audit(covariates=True)


def prepared(trained: Trained) -> Preparation:
    """The table of a run as its training had it."""
    run = RunDir(trained.run)
    config = read_config(run)
    return prepare(panel_of_run(run, config, None), config.data)


@pytest.fixture(scope="session")
def subject(planted: Trained) -> Subject:
    """The planted run on a few windows."""
    preparation = prepared(planted)
    cutoffs = preparation.validation_cutoffs[:WINDOWS_EXPLAINED]
    return Subject.of(load_model(RunDir(planted.run)), preparation, cutoffs, torch.device("cpu"))
