"""tail.parquet: the end of the table of training."""

import io
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.config.options import DataConfig
from forecast_attn.data.panel import Panel, tail
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.roles import resolve_roles
from forecast_attn.forecasting import tail as written

from ..conftest import SMALL_OPTIONS


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


@pytest.mark.slow
def test_a_hole_across_the_boundary_of_validation_is_as_in_the_table(make_table: Callable[..., pd.DataFrame]) -> None:
    """Training sees nothing after the boundary, a forecast does."""
    table = make_table(60)
    table.loc[48:51, "target"] = np.nan
    options = SMALL_OPTIONS | {"max_epochs": 1, "missing": "interpolate", "validation": 10}
    forecaster = Forecaster(**options).fit(table)
    pd.testing.assert_frame_equal(forecaster.predict().predictions, forecaster.predict(table).predictions)
    kept = pd.read_parquet(forecaster.run_path / "tail.parquet")["target"]
    np.testing.assert_allclose(kept, table["target"].interpolate()[-len(kept) :])
