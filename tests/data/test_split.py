"""Where validation begins."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from forecast_attn.data.cutoffs import training_cutoffs, validation_cutoffs
from forecast_attn.data.panel import Panel
from forecast_attn.data.split import split_panel
from forecast_attn.errors import DataError

AsPanel = Callable[..., Panel]


def daily(rows: int, first: str = "2024-01-01", name: str = "a") -> pd.DataFrame:
    return pd.DataFrame({"id": name, "date": pd.date_range(first, periods=rows), "y": np.arange(float(rows))})


@pytest.mark.parametrize(("validation", "steps"), [(0.2, 20), (0.25, 25), (30, 30), (1, 5), (0, 5), (0.01, 5)])
def test_share_or_steps_and_at_least_one_horizon(as_panel: AsPanel, validation: float, steps: int) -> None:
    panel = as_panel(daily(100))
    split = split_panel(panel, validation=validation, horizon=5, lookback=10)
    assert split.boundary == panel.timestamps[99 - steps]
    assert split.training_rows(panel).tolist() == [100 - steps]


def test_one_boundary_for_all_series(as_panel: AsPanel) -> None:
    panel = as_panel(pd.concat([daily(100), daily(90, "2024-01-11", "b"), daily(40, "2024-01-01", "c")]))
    split = split_panel(panel, validation=0.2, horizon=5, lookback=10)
    assert str(split.boundary)[:10] == "2024-03-20"
    assert split.training_rows(panel).tolist() == [80, 70, 40]
    assert split.skipped == ()


def test_future_rows_are_no_part_of_the_span(as_panel: AsPanel) -> None:
    frame = daily(100).assign(price=1.0)
    frame.loc[90:, "y"] = np.nan
    panel = as_panel(frame)
    assert split_panel(panel, validation=10, horizon=5, lookback=10).boundary == panel.timestamps[79]


def test_short_series_among_long_ones_are_named(as_panel: AsPanel) -> None:
    panel = as_panel(pd.concat([daily(100), daily(25, "2024-03-16", "short"), daily(10, "2024-03-31", "new")]))
    split = split_panel(panel, validation=0.2, horizon=5, lookback=10)
    assert split.skipped == (("new", 0, 15), ("short", 5, 15))


@pytest.mark.parametrize("rows", range(3, 60))
@pytest.mark.parametrize("validation", [0.2, 6])
def test_the_sizes_of_the_hint_fit(as_panel: AsPanel, rows: int, validation: float) -> None:
    panel = as_panel(daily(rows))
    try:
        split_panel(panel, validation=validation, horizon=7, lookback=28)
    except DataError as error:
        assert f"the longest series has {rows} rows; lookback 28 + horizon 7" in error.message
        assert error.hint is not None
        words = error.hint.split()
        if words[0] != "--lookback":
            assert rows < 9
            return
        lookback, horizon = int(words[1]), int(words[3])
        assert horizon <= 7
        assert lookback <= 28
        split = split_panel(panel, validation=validation, horizon=horizon, lookback=lookback)
        assert len(training_cutoffs(panel, split, lookback, horizon))
        assert len(validation_cutoffs(panel, split, lookback, horizon))
    else:
        assert rows >= 42


def test_months_and_steps_have_boundaries_too(as_panel: AsPanel) -> None:
    months = as_panel(pd.DataFrame({"date": pd.date_range("2020-01-31", periods=50, freq="ME"), "y": np.arange(50.0)}))
    assert str(split_panel(months, validation=10, horizon=3, lookback=6).boundary)[:10] == "2023-04-30"
    steps = as_panel(pd.DataFrame({"step": np.arange(0, 100, 2), "y": np.arange(50.0)}))
    assert split_panel(steps, validation=10, horizon=3, lookback=6).boundary == 78
