"""Tables of forecasts as `forecast backtest` writes them, with numbers that tests can name."""

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def backtest_table(
    items=("city",),
    cutoffs=("2024-03-28 23:00", "2024-03-29 23:00", "2024-03-30 23:00"),
    horizon=24,
    freq="h",
    tz=None,
    models=("net", "naive"),
    quantiles=QUANTILES,
    seed=0,
):
    """One row per model, series, cut-off and step; only the first model has quantiles."""
    rng, parts, steps = np.random.default_rng(seed), [], np.arange(1, horizon + 1)
    for number, item in enumerate(items):
        for cutoff in cutoffs:
            stamps = pd.date_range(cutoff, periods=horizon + 1, freq=freq, tz=tz)
            base = 100.0 * (number + 1) + 10 * np.sin(steps)
            target = base + rng.normal(size=horizon)
            for at, model in enumerate(models):
                rows = {
                    "item_id": item,
                    "cutoff": stamps[0],
                    "timestamp": stamps[1:],
                    "step": steps,
                    "target": target,
                    "prediction": base + at * rng.normal(size=horizon),
                }
                rows |= {f"{quantile:g}": base + 4 * (quantile - 0.5) if at == 0 else np.nan for quantile in quantiles}
                parts.append(pd.DataFrame(rows | {"model": model}))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def make_backtest():
    """`make_backtest(items=…, cutoffs=…, horizon=…, freq=…, tz=…, models=…, quantiles=…)`."""
    return backtest_table


@pytest.fixture
def make_file(tmp_path):
    """`make_file(frame, name)`: a Parquet or CSV file."""

    def write(frame, name="backtest.parquet"):
        path = tmp_path / name
        if path.suffix == ".csv":
            frame.to_csv(path, index=False)
        else:
            frame.to_parquet(path)
        return path

    return write


@pytest.fixture
def make_console():
    """A console of some width, plain or in true colour, which writes into memory."""

    def make(width=100, *, colour=False):
        options = {"force_terminal": True, "color_system": "truecolor"} if colour else {"color_system": None}
        return Console(width=width, file=io.TextIOWrapper(io.BytesIO(), "utf-8"), no_color=not colour, **options)

    return make
