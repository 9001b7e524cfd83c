"""tail.parquet: the end of the table of training."""

import io

import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.panel import Panel, tail
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.roles import resolve_roles
from forecast_attn.forecasting import tail as written


@pytest.fixture
def panel() -> Panel:
    """Three series of which the first has no weather."""
    frame = pd.DataFrame(
        {"item_id": np.repeat(["a", "b", "c"], 20), "date": [*pd.date_range("2024-01-01", periods=20)] * 3}
    )
    frame["y"], frame["weather"] = np.arange(60.0), [None] * 20 + ["wet", "dry"] * 20
    config = DataConfig(categorical=("weather",), future_covariates=("weather",), target="y", missing="mask")
    return build_panel(frame, resolve_roles(frame, config, "table"), config, source="table")


def bytes_of(panel: Panel) -> bytes:
    content = io.BytesIO()
    written._write(panel, 12, content)
    return content.getvalue()


def test_one_part_has_the_bytes_of_pandas(panel: Panel) -> None:
    (frame,) = tail(panel, 12, 1000)
    assert bytes_of(panel) == frame.to_parquet(index=False)


@pytest.mark.parametrize("rows", [1, 13, 30])
def test_many_parts_are_one_table(panel: Panel, monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """Names and stamps of all rows at once would take more memory than the panel."""
    (frame,) = tail(panel, 12, 1000)
    monkeypatch.setattr(written, "ROWS_OF_A_PART", rows)
    pd.testing.assert_frame_equal(
        pd.read_parquet(io.BytesIO(bytes_of(panel))), pd.read_parquet(io.BytesIO(frame.to_parquet()))
    )
