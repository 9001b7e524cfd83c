"""Rows to be forecast: joined on series and time, never on position."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding
from forecast_attn.data.future import extend, join_future
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.reading import read_beside
from forecast_attn.data.reading.joined import with_joined
from forecast_attn.data.roles import resolve_roles
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
    assert longer.num_known.tolist() == [30, 20]
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
        "the data has no 'ahead' for 4 of the 7 steps to forecast of series 'a': 2024-02-03, 2024-02-04, "
        "2024-02-05, 2024-02-06; and for 4 steps of 1 more series"
    )
    assert error.value.hint == (
        "--future FILE with columns 'ahead' for 2024-01-31 … 2024-02-06; forecast future-template writes it, "
        "to be filled"
    )


def test_join_takes_values_from_the_file(panel: Panel, future: pd.DataFrame) -> None:
    longer = join_future(panel, future, 5, "future.csv")
    assert ahead(longer, 0) == [1000, 1001, 1002, 1003, 1004]
    assert ahead(longer, 1) == [2000, 2001, 2002, 2003, 2004]
    assert longer.future_covariates[:30].tobytes() == panel.future_covariates[:30].tobytes()


def test_join_fills_from_the_panel_what_the_file_lacks(panel: Panel, future: pd.DataFrame) -> None:
    longer = join_future(panel, future.drop(index=[0, 6]), 5, "future.csv")
    assert ahead(longer, 0) == [300, 1001, 1002, 1003, 1004]
    assert ahead(longer, 1) == [2000, 210, 2002, 2003, 2004]


@pytest.mark.parametrize(("step", "is_finer"), [("6h", True), ("D", False)])
def test_a_file_of_finer_steps_says_which_of_its_rows_count(
    panel: Panel, future: pd.DataFrame, step: str, is_finer: bool
) -> None:
    """The weather of each hour beside a daily history: the value at midnight is not the day's."""
    stamps = pd.date_range("2024-01-21", "2024-02-10", freq=step)
    hourly = pd.DataFrame({"item_id": ["a", "b"] * len(stamps), "date": stamps.repeat(2)})
    findings: list[Finding] = []
    join_future(panel, hourly.assign(ahead=1.0), 5, "future.csv", findings.append)
    (note,) = [each for each in findings if each.code == "FA510"]
    assert ("between the steps" in note.message, note.hint is not None) == (is_finer, is_finer)


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
        "'future.csv' has no 'ahead' for 1 of the 5 steps to forecast of series 'b': 2024-01-25; "
        "it has 9 rows, from 2024-01-21 to 2024-02-04"
    )


def test_a_misaligned_file(panel: Panel, future: pd.DataFrame) -> None:
    late = future.assign(date=future["date"] + pd.Timedelta("1h"))
    with pytest.raises(DataError, match="for 2 of the 5 steps to forecast of series 'a': 2024-02-03, 2024-02-04;"):
        join_future(panel, late, 5, "future.csv")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ahead": np.nan}, "has no 'ahead' for 2 of the 5 steps"),
        ({"ahead": "warm"}, "'ahead' must be numeric; row 1 is 'warm'"),
        ({"ahead": np.inf}, "'ahead' is infinite at row 1"),
        ({"date": "soon"}, "'date' is 'soon' at row 1"),
        ({"date": 5}, "has whole numbers in 'date', the history dates"),
        (
            {"item_id": "a", "date": pd.Timestamp("2024-01-31")},
            "has 2024-01-31 of series 'a' twice, the second at row 2",
        ),
    ],
)
def test_bad_files(panel: Panel, future: pd.DataFrame, change: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=message):
        join_future(panel, future.assign(**change), 5, "future.csv")


@pytest.mark.parametrize("column", ["ahead", "date", "item_id"])
def test_a_file_that_lacks_a_column(panel: Panel, future: pd.DataFrame, column: str) -> None:
    with pytest.raises(DataError, match=f"'future.csv' has no column '{column}'; its columns are"):
        join_future(panel, future.drop(columns=column), 5, "future.csv")


def test_a_file_whose_covariate_has_another_name(panel: Panel, future: pd.DataFrame) -> None:
    """The message lists the columns as the file has them, also where its dates were recognised."""
    renamed = future.rename(columns={"ahead": "t2m", "date": "when"})
    with pytest.raises(DataError, match="no column 'ahead'; its columns are 'item_id', 'when', 't2m'") as error:
        join_future(panel, renamed, 5, "future.csv")
    assert error.value.hint.startswith("call 't2m' 'ahead', if that is what it holds")


@pytest.mark.parametrize("columns", [["year", "month"], ["date"]])
def test_dates_in_one_column_beside_a_history_of_several(columns: list[str]) -> None:
    config = DataConfig(time="year,month", future_covariates=("promo",))
    months = pd.date_range("2020-01-01", periods=24, freq="MS")
    rows = pd.DataFrame({"year": months.year, "month": months.month, "date": months.strftime("%Y-%m-%d"), "promo": 1.0})
    data = with_joined(rows[:20].drop(columns="date").assign(y=np.arange(20.0)), config, "data.csv")
    panel = build_panel(data, resolve_roles(data, config, "data.csv"), config, source="data.csv")
    beside = read_beside(rows.loc[20:, [*columns, "promo"]].reset_index(drop=True), config)
    longer = join_future(panel, beside, 4, "future.csv", lambda finding: None, options=config)
    assert [str(stamp)[:7] for stamp in longer.timestamps[20:]] == ["2021-09", "2021-10", "2021-11", "2021-12"]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"resample": "D"}, [2, 12]),
        ({"resample": "D", "aggregate": "sum"}, [2, 12]),  # amounts are summed, what is known ahead is not
        ({"resample": "D", "aggregate": "last"}, [3, 13]),
        ({"duplicates": "mean"}, [2, 12]),
        ({"duplicates": "first"}, [1, 11]),
        ({"duplicates": "last"}, [3, 13]),
    ],
)
def test_rows_of_one_step_become_one_as_those_of_the_history(
    as_panel: AsPanel, two_series: pd.DataFrame, options: dict[str, str], expected: list[float]
) -> None:
    only_a = as_panel(two_series[two_series["item_id"] == "a"], ignore=("size",), **options)
    stamps = ["2024-01-31 00:00", "2024-01-31 18:00", "2024-02-01 06:00", "2024-02-01 07:00"]
    rows = pd.DataFrame({"date": stamps, "ahead": [1.0, 3, 11, 13]})
    if "duplicates" in options:
        rows["date"] = rows["date"].str[:10]
    findings: list[Finding] = []
    longer = join_future(only_a, rows, 2, "future.csv", findings.append, options=DataConfig(**options))  # type: ignore[arg-type]
    assert ahead(longer, 0) == expected
    option, value = next(iter(options.items()))
    how = "last" if "last" in options.values() else "first" if value == "first" else "mean"
    message = f"'future.csv': 4 of 4 rows are used, as the {how} of each step (--{option} {value})"
    assert findings[-1].message == message


def test_the_column_of_names_of_a_wide_tables_series_may_have_any_name(as_panel: AsPanel) -> None:
    days = pd.date_range("2024-01-01", periods=9).repeat(2)
    table = pd.DataFrame({"timestamp": days, "item_id": ["a", "b"] * 9, "target": 1.0, "ahead": 1.0})
    panel = as_panel(table, future_covariates=("ahead",))
    rows = pd.DataFrame({"timestamp": pd.Timestamp("2024-01-10"), "shop": ["b", "a"], "ahead": [7.0, 5.0]})
    longer = join_future(panel, rows, 1, "future.csv", options=DataConfig(wide=True))
    assert ahead(longer, 0) + ahead(longer, 1) == [5, 7]


def test_without_covariates_known_in_advance_a_file_is_refused(as_panel: AsPanel) -> None:
    panel = as_panel(pd.DataFrame({"step": np.arange(5), "y": np.arange(5.0)}))
    with pytest.raises(DataError, match="would not be used"):
        join_future(panel, pd.DataFrame({"step": [5]}), 2, "future.csv")


def test_a_single_series_needs_no_identifier(as_panel: AsPanel, two_series: pd.DataFrame, future: pd.DataFrame) -> None:
    only_a = as_panel(two_series[two_series["item_id"] == "a"], ignore=("size",))
    longer = join_future(only_a, future.head(5).drop(columns="item_id"), 5, "future.csv")
    assert ahead(longer, 0) == [1000, 1001, 1002, 1003, 1004]


def test_of_many_missing_stamps_the_first_and_the_last_are_named(panel: Panel, future: pd.DataFrame) -> None:
    with pytest.raises(DataError) as error:
        join_future(panel, future[future["item_id"] == "b"], 12, "future.csv")
    assert (
        "for 9 of the 12 steps to forecast of series 'a': 2024-02-03, 2024-02-04, 2024-02-05, 2024-02-06, 2024-02-07, "
        "…, 2024-02-11; and for 7 steps of 1 more series; it has 5 rows"
    ) in error.value.message


# --------------------------------------------------------------------------- known for some steps, or missing


def test_a_covariate_known_for_two_steps_is_needed_for_two(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    panel = as_panel(two_series.dropna(subset="target"), future_covariates=("ahead:2",), ignore=("size",))
    days = pd.date_range("2024-01-21", periods=20).repeat(2)
    future = pd.DataFrame({"item_id": ["a", "b"] * 20, "date": days, "ahead": 7.0})
    shortened = future[~((future["item_id"] == "a") & (future["date"] > "2024-02-01"))]
    longer = join_future(panel, shortened, 4, "future.csv")
    np.testing.assert_array_equal(ahead(longer, 0), [7, 7, np.nan, np.nan])
    assert ahead(longer, 1) == [7, 7, 7, 7]
    with pytest.raises(DataError, match="for 1 of the 4 steps to forecast of series 'a': 2024-02-01; it has"):
        join_future(panel, shortened[shortened["date"] != "2024-02-01"].assign(), 4, "future.csv")


def test_with_masks_a_cell_may_be_empty_but_no_row_may_be_absent(panel: Panel, future: pd.DataFrame) -> None:
    empty = future.assign(ahead=future["ahead"].where(future["date"] != "2024-02-04"))
    with pytest.raises(DataError, match="2024-02-04"):
        join_future(panel, empty, 5, "future.csv")
    np.testing.assert_array_equal(
        ahead(join_future(panel, empty, 5, "future.csv", masked=True), 0), [1000, 1001, 1002, 1003, np.nan]
    )
    with pytest.raises(DataError, match="2024-02-04"):
        join_future(panel, empty[empty["date"] != "2024-02-04"], 5, "future.csv", masked=True)
    with pytest.raises(DataError, match="2024-02-03"):
        extend(panel, 4, masked=True)


def test_a_few_empty_cells_of_the_future_are_a_warning(panel: Panel, future: pd.DataFrame) -> None:
    empty = future.assign(ahead=future["ahead"].where((future["date"] < "2024-02-04") | (future["item_id"] == "b")))
    findings: list[Finding] = []
    join_future(panel, empty, 5, "future.csv", findings.append, masked=True)
    message = (
        "'future.csv' has no 'ahead' for 1 of the 10 steps to forecast, first 2024-02-04 of 'a': forecast without it"
    )
    assert [(each.code, each.severity, each.message) for each in findings if each.code != "FA510"] == [
        ("FA512", "warning", message)
    ]
    findings.clear()
    join_future(panel, future, 5, "future.csv", findings.append, masked=True)
    assert "FA512" not in [each.code for each in findings]


def test_a_column_that_was_not_filled_in_is_refused_with_masks_too(
    as_panel: AsPanel, two_series: pd.DataFrame, future: pd.DataFrame
) -> None:
    panel = as_panel(two_series.dropna(subset="target"), future_covariates=("ahead",), ignore=("size",))
    template = pd.DataFrame({"item_id": ["a", "b"] * 20, "date": pd.date_range("2024-01-21", periods=20).repeat(2)})
    with pytest.raises(
        DataError, match=r"no 'ahead' for 5 of the 5 steps .* and for 5 steps of 1 more series"
    ) as error:
        join_future(panel, template.assign(ahead=np.nan), 5, "future.csv", masked=True)
    assert error.value.hint == "fill in the empty cells of 'ahead'"


# --------------------------------------------------------------------------- categories


@pytest.fixture
def promotions(as_panel: AsPanel) -> Panel:
    """Five days of one series; the promotions of the next two are known."""
    frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=7), "y": [*np.arange(5.0), np.nan, np.nan]})
    return as_panel(frame.assign(promo=["none", "half", "none", "none", "half", "none", "half"]),
                    future_covariates=("promo",), categorical=("promo",))  # fmt: skip


def texts(panel: Panel) -> list[str | None]:
    """The categories of all rows."""
    categories: tuple[str | None, ...] = (*panel.categories["promo"], None)
    return [categories[code] for code in panel.future_categories[:, 0]]


def test_categories_of_the_panels_own_future(promotions: Panel) -> None:
    assert texts(extend(promotions, 2)) == ["none", "half", "none", "none", "half", "none", "half"]
    with pytest.raises(DataError, match="has no 'promo' for 1 of the 3 steps to forecast of series 'y': 2024-01-08"):
        extend(promotions, 3)


def test_categories_of_a_file_even_new_ones(promotions: Panel) -> None:
    future = pd.DataFrame({"date": pd.date_range("2024-01-06", periods=3), "promo": ["free gift", None, "none"]})
    longer = join_future(promotions, future, 3, "future.csv")
    assert longer.categories["promo"] == ("free gift", "half", "none")
    assert texts(longer) == ["none", "half", "none", "none", "half", "free gift", "half", "none"]
    assert promotions.categories["promo"] == ("half", "none")


# --------------------------------------------------------------------------- forecasts with their issue


def issued(panel: Panel, *issues: tuple[str, float]) -> pd.DataFrame:
    """For each issue a forecast of the next five days of both series."""
    rows = [
        (name, day, pd.Timestamp(at), value)
        for at, value in issues
        for name, first in (("a", "2024-01-31"), ("b", "2024-01-21"))
        for day in pd.date_range(first, periods=5)
    ]
    return pd.DataFrame(rows, columns=["item_id", "date", "issued_at", "ahead"])


def test_the_newest_issue_by_the_last_known_target_counts_per_series(panel: Panel) -> None:
    notes: list[Finding] = []
    frame = issued(panel, ("2024-01-10", 1.0), ("2024-01-25", 2.0), ("2024-02-05", 3.0))
    longer = join_future(panel, frame.sample(frac=1, random_state=1), 5, "wind.csv", report=notes.append)
    assert (ahead(longer, 0), ahead(longer, 1)) == ([2] * 5, [1] * 5)
    assert [(note.code, note.severity, note.message) for note in notes] == [
        (
            "FA509",
            "note",
            "'wind.csv': the forecasts of 'ahead' issued at 2024-01-10 to 2024-01-25 are used; those issued later, "
            "up to 2024-02-05, are not",
        )
    ]


def test_forecasts_issued_too_late_are_refused(panel: Panel) -> None:
    frame = issued(panel, ("2024-01-25", 2.0))
    with pytest.raises(DataError) as error:
        join_future(panel, frame, 5, "wind.csv")
    assert error.value.message == (
        "every forecast of series 'b' in 'wind.csv' was issued after its last known target, at 2024-01-20; the first "
        "at 2024-01-25"
    )


def test_steps_that_were_not_forecast_are_named(panel: Panel) -> None:
    frame = issued(panel, ("2024-01-10", 2.0))
    with pytest.raises(DataError, match="for 1 of the 5 steps to forecast of series 'a': 2024-02-04; it has 9 rows"):
        join_future(panel, frame[frame["date"] != "2024-02-04"], 5, "wind.csv")


def test_with_masks_a_column_that_nobody_has_is_missing(as_panel: AsPanel, two_series: pd.DataFrame) -> None:
    frame = two_series.dropna(subset="target").assign(plan=1.0)
    panel = as_panel(frame, future_covariates=("ahead", "plan"), ignore=("size",))
    with pytest.raises(DataError, match="has no 'plan' for 5 of the 5 steps"):
        join_future(panel, issued(panel, ("2024-01-10", 2.0)), 5, "wind.csv", masked=True)


# --------------------------------------------------------------------------- size


@pytest.mark.slow
def test_each_of_ten_thousand_series_gets_its_own_rows(as_panel: AsPanel) -> None:
    num_series, rows, horizon = 10_000, 6, 24
    names = np.repeat([f"s{index:05d}" for index in range(num_series)], rows)
    stamps = np.tile(pd.date_range("2024-01-01", periods=rows, freq="h"), num_series)
    panel = as_panel(pd.DataFrame({"item_id": names, "date": stamps, "y": 1.0, "x": 2.0}), future_covariates=("x",))
    future = pd.DataFrame(
        {
            "item_id": np.repeat(panel.item_ids, horizon),
            "date": np.tile(pd.date_range("2024-01-01 06:00", periods=horizon, freq="h"), num_series),
            "x": np.arange(num_series * horizon),
        }
    ).sample(frac=1, random_state=0)
    longer = join_future(panel, future, horizon, "future.csv")
    assert longer.future_covariates[:, 0].reshape(num_series, -1)[:, rows:].ravel().tolist() == list(range(240_000))
