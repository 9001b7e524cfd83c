"""Tables made in code, and the way from a table to a panel."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.roles import resolve_roles
from forecast_attn.data.split import Split, split_panel


@pytest.fixture
def write_csv(tmp_path: Path) -> Callable[[str], Path]:
    """Write text to a CSV of its own and return the path."""

    def write(text: str | bytes, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
        return path

    return write


@pytest.fixture
def as_panel() -> Callable[..., Panel]:
    """From a frame to a panel, as training goes."""

    def build(frame: pd.DataFrame, freq: str | None = None, **declared: object) -> Panel:
        config = DataConfig(freq=freq, **declared)  # type: ignore[arg-type]
        return build_panel(frame, resolve_roles(frame, config, "table.csv"), config, source="table.csv")

    return build


@pytest.fixture
def two_series() -> pd.DataFrame:
    """Series a (30 days) and b (20 days): targets 0, 1, … and 100, 101, …; the last three rows of both are future."""
    parts = []
    for name, first, rows in (("a", 0, 30), ("b", 100, 20)):
        days = pd.date_range("2024-01-01", periods=rows + 3, freq="D")
        target = np.append(np.arange(first, first + rows, dtype=float), [np.nan] * 3)
        past = np.append(np.arange(rows) * 2.0, [np.nan] * 3)
        parts.append(
            pd.DataFrame(
                {
                    "item_id": name,
                    "date": days,
                    "target": target,
                    "past": past,
                    "ahead": np.arange(rows + 3) * 10.0,
                    "size": 1.0 if name == "a" else 5.0,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


@pytest.fixture
def panel(as_panel: Callable[..., Panel], two_series: pd.DataFrame) -> Panel:
    return as_panel(two_series, static_covariates=("size",))


@pytest.fixture
def split(panel: Panel) -> Split:
    return split_panel(panel, validation=12, horizon=3, lookback=5)  # training ends on January 18th
