"""Two series of days with a covariate that is known ahead, and a small run with quantiles trained on the first part."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster

ROWS, LOOKBACK, HORIZON = 110, 14, 3
OPTIONS = {
    "lookback": LOOKBACK,
    "horizon": HORIZON,
    "hidden_size": 8,
    "quantiles": "0.1,0.5,0.9",
    "max_epochs": 2,
    "combination": "none",
    "epoch_windows": 64,
    "validation_windows": 16,
    "batch_size": 16,
    "future_covariates": "promotion",
    "target": "sales",
    "item_id": "shop",
    "validation": 40,
    "seed": 5,
    "accelerator": "cpu",
}


def shop(name: str, first: int, rows: int, seed: int) -> pd.DataFrame:
    rng, steps = np.random.default_rng(seed), np.arange(first, first + rows)
    promotion = rng.integers(0, 2, rows)
    return pd.DataFrame(
        {
            "shop": name,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(steps, "D"),
            "sales": (10 + 3 * np.sin(2 * np.pi * steps / 7) + 2 * promotion + rng.normal(size=rows)).round(3),
            "promotion": promotion,
        }
    )


SALES = pd.concat([shop("north", 0, ROWS, 1), shop("south", 25, ROWS - 30, 2)], ignore_index=True)
"""Of 110 and of 80 days; the second series begins 25 days later and ends 5 days earlier."""


@pytest.fixture(scope="session")
def sales() -> pd.DataFrame:
    return SALES


@pytest.fixture(scope="session")
def shop_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run trained on `sales.csv` beside it; look at it, do not change it."""
    folder = tmp_path_factory.mktemp("backtest")
    SALES.to_csv(folder / "sales.csv", index=False)
    Forecaster(**OPTIONS).fit(folder / "sales.csv", out=folder / "run")
    return folder / "run"


@pytest.fixture(scope="session")
def options() -> dict[str, object]:
    """Of that run's training."""
    return OPTIONS
