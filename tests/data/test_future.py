"""Rows to be forecast: joined on series and time, never on position."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from forecast_attn.data.future import extend, join_future
from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError

AsPanel = Callable[..., Panel]


@pytest.fixture
def panel(as_panel: AsPanel, two_series: pd.DataFrame) -> Panel:
    return as_panel(two_series, static_covariates=("size",))


@pytest.fixture
def future() -> pd.DataFrame:
    """Five rows after the last known target of each series, of which the panel itself knows the first three."""
    parts = [
        pd.DataFrame({"item_id": name, "date": pd.date_range(first, periods=5), "ahead": np.arange(5.0) + offset})
        for name, first, offset in (("a", "2024-01-31", 1000), ("b", "2024-01-21", 2000))
    ]
    return pd.concat(parts, ignore_index=True)


def ahead(panel: Panel, index: int) -> list[float]:
    """Future covariates in the future rows of a series."""
    rows: list[float] = panel.future_covariates[panel.ends[index] : panel.starts[index + 1], 0].tolist()
    return rows


def test_extend_cuts_the_panels_own_future_to_the_horizon(panel: Panel) -> None:
    longer = extend(panel, 2)
    assert longer.starts.tolist() == [0, 32, 54]
    assert longer.known.tolist() == [30, 20]
    assert (ahead(longer, 0), ahead(longer, 1)) == ([300, 310], [200, 210])
    assert longer.timestamps[30:32].tolist() == panel.timestamps[30:32].tolist()
    assert np.isnan(longer.target[30:32]).all()
    assert longer.target[:30].tobytes() == panel.target[:30].tobytes()


def test_extend_makes_rows_when_no_covariate_is_needed(as_panel: AsPanel) -> None:
    frame = pd.DataFrame(
        {"month": pd.date_range("2024-01-31", periods=4, freq="ME"), "y": [1.0, 2.0, 3.0, 4.0], "x": 1.0}
    )
    longer = extend(as_panel(frame), 3)
    assert [str(stamp)[:10] for stamp in longer.timestamps[4:]] == ["2024-05-31", "2024-06-30", "2024-07-31"]
    assert np.isnan(longer.past_covariates[4:]).all()
    assert longer.past_covariates[:4].tolist() == [[1]] * 4


def test_extend_says_what_is_not_known(panel: Panel) -> None:
    with pytest.raises(DataError) as error:
        extend(panel, 7)
    assert error.value.message == (
        "the data has no 'ahead' for 4 of the 7 steps to forecast of series 'a', from 2024-02-03 to 2024-02-06"
    )
    assert error.value.hint == "--future FILE with columns 'ahead' for 2024-01-31 … 2024-02-06"


def test_join_takes_values_from_the_file(panel: Panel, future: pd.DataFrame) -> None:
    longer = join_future(panel, future, 5, "future.csv")
    assert ahead(longer, 0) == [1000, 1001, 1002, 1003, 1004]
    assert ahead(longer, 1) == [2000, 2001, 2002, 2003, 2004]
    assert longer.future_covariates[:30].tobytes() == panel.future_covariates[:30].tobytes()


def test_join_fills_from_the_panel_what_the_file_lacks(panel: Panel, future: pd.DataFrame) -> None:
    longer = join_future(panel, future.drop(index=[0, 6]), 5, "future.csv")
    assert ahead(longer, 0) == [300, 1001, 1002, 1003, 1004]
    assert ahead(longer, 1) == [2000, 210, 2002, 2003, 2004]


def test_order_extra_rows_series_and_columns_do_not_matter(panel: Panel, future: pd.DataFrame) -> None:
    extra = pd.DataFrame(
        {
            "item_id": ["a", "z", "b"],
            "date": pd.to_datetime(["2024-01-30", "2024-01-31", "2024-03-01"]),
            "ahead": [-1.0, -2.0, -3.0],
        }
    )
    mixed = pd.concat([extra, future]).sample(frac=1, random_state=3).assign(target=9.0, other="text")
    one, other = join_future(panel, mixed, 5, "future.csv"), join_future(panel, future, 5, "future.csv")
    assert one.future_covariates.tobytes() == other.future_covariates.tobytes()
    assert one.target.tobytes() == other.target.tobytes()


def test_a_short_file(panel: Panel, future: pd.DataFrame) -> None:
    with pytest.raises(DataError) as error:
        join_future(panel, future[future["date"] != "2024-01-25"], 5, "future.csv")
    assert error.value.message == (
        "'future.csv' has no 'ahead' for 1 of the 5 steps to forecast of series 'b', from 2024-01-25 to 2024-01-25; "
        "it has 9 rows, from 2024-01-21 to 2024-02-04"
    )


def test_a_misaligned_file(panel: Panel, future: pd.DataFrame) -> None:
    late = future.assign(date=future["date"] + pd.Timedelta("1h"))
    with pytest.raises(
        DataError, match="for 2 of the 5 steps to forecast of series 'a', from 2024-02-03 to 2024-02-04"
    ):
        join_future(panel, late, 5, "future.csv")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"ahead": np.nan}, "has no 'ahead' for 2 of the 5 steps"),
        ({"ahead": "warm"}, "'ahead' must be numeric; row 1 \\(line 2\\) is 'warm'"),
        ({"ahead": np.inf}, "'ahead' is infinite at row 1"),
        ({"date": "soon"}, "'date' is 'soon' at row 1"),
        ({"date": 5}, "has whole numbers in 'date', the history dates"),
        (
            {"item_id": "a", "date": pd.Timestamp("2024-01-31")},
            "has 2024-01-31 of series 'a' twice, the second at row 2",
        ),
    ],
)
def test_bad_files(panel: Panel, future: pd.DataFrame, change: dict[str, object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        join_future(panel, future.assign(**change), 5, "future.csv")


@pytest.mark.parametrize("column", ["ahead", "date", "item_id"])
def test_a_file_that_lacks_a_column(panel: Panel, future: pd.DataFrame, column: str) -> None:
    with pytest.raises(DataError, match=f"'future.csv' has no column '{column}'; its columns are"):
        join_future(panel, future.drop(columns=column), 5, "future.csv")


def test_without_future_covariates_a_file_adds_nothing(as_panel: AsPanel) -> None:
    panel = as_panel(pd.DataFrame({"step": np.arange(5), "y": np.arange(5.0)}))
    longer = join_future(panel, pd.DataFrame({"step": [5]}), 2, "future.csv")
    assert longer.timestamps.tolist() == [0, 1, 2, 3, 4, 5, 6]


def test_a_single_series_needs_no_identifier(as_panel: AsPanel, two_series: pd.DataFrame, future: pd.DataFrame) -> None:
    only_a = as_panel(two_series[two_series["item_id"] == "a"], ignore=("size",))
    longer = join_future(only_a, future.head(5).drop(columns="item_id"), 5, "future.csv")
    assert ahead(longer, 0) == [1000, 1001, 1002, 1003, 1004]
