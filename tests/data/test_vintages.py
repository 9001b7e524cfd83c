"""What had been forecast at a cut-off, and never a later forecast."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import parse_cells
from forecast_attn.data.findings import Finding, stop_at_errors
from forecast_attn.data.future import join_future
from forecast_attn.data.issued import IssuedForecasts, declare_issued, fill_absent, parse_issued
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import VintageTable, build_panel, panel_of_cells
from forecast_attn.data.roles import resolve_roles
from forecast_attn.data.transforms import Affine
from forecast_attn.data.vintages import Vintages, covered_cutoffs
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError

DAYS = pd.date_range("2024-01-01", periods=12, freq="D")
SERIES = {"a": (0, 12), "b": (3, 9)}
"""First and last day of each series."""


def make_panel() -> Panel:
    parts = [
        pd.DataFrame(
            {"item_id": name, "date": DAYS[first:last], "y": np.arange(last - first) + 1.0, "wind": 50.0 + first}
        )
        for name, (first, last) in SERIES.items()
    ]
    frame = pd.concat(parts, ignore_index=True)
    config = DataConfig(future_covariates=("wind",))
    return build_panel(frame, resolve_roles(frame, config, "data.csv"), config, source="data.csv")


PANEL = make_panel()


def issues(*rows: tuple[str, int, float, float]) -> pd.DataFrame:
    """Rows of series, day of the forecast, day of its issue (with fractions), value."""
    frame = pd.DataFrame(rows, columns=["item_id", "day", "issue", "wind"])
    frame["date"] = DAYS[0] + pd.to_timedelta(frame.pop("day"), unit="D")
    frame["issued_at"] = DAYS[0] + pd.to_timedelta(frame.pop("issue") * 24, unit="h")
    return frame


def parse(frame: pd.DataFrame, report: Callable[[Finding], None] = stop_at_errors) -> IssuedForecasts:
    return parse_issued(frame, PANEL.roles, PANEL.item_ids, "wind.csv", report, zone=Zone())


def values_at(frame: pd.DataFrame, cutoff: int, horizon: int = 2) -> list[float]:
    """Forecasts known at a row, of the rows after it."""
    rows = torch.arange(cutoff + 1, cutoff + 1 + horizon)[None]
    values = Vintages.build(PANEL, parse(frame)).values(rows, torch.tensor([cutoff]))
    assert values.shape == (1, horizon, 1)
    return values[0, :, 0].tolist()


def test_the_newest_forecast_not_issued_after_the_cutoff() -> None:
    frame = issues(
        *(("a", 5, 2, 1.0), ("a", 5, 3.5, 2.0), ("a", 5, 4, 3.0), ("a", 5, 4.5, 4.0), ("a", 6, -9, 5.0)),
        *(("b", 5, 0, 6.0), ("b", 6, 99, 7.0)),
    )
    shuffled = frame.sample(frac=1, random_state=2)
    nan = pytest.approx(np.nan, nan_ok=True)
    assert values_at(shuffled, 4) == [3, 5]  # the one of 12 o'clock is later than the stamp of day 4
    assert values_at(shuffled, 3) == [nan, 1]
    assert values_at(shuffled, 5) == [5, nan]
    assert values_at(shuffled, 12 + 1) == [6, nan]  # series b begins on day 3
    assert Vintages.build(PANEL, parse(shuffled)).covered(np.array([4, 3, 13]), 2).tolist() == [True, False, False]
    assert Vintages.build(PANEL, parse(shuffled)).covered(np.array([4, 3, 13]), 1).tolist() == [True, False, True]


def test_issues_between_two_rows_count_in_the_order_of_issue() -> None:
    assert values_at(issues(("a", 5, 3.9, 1.0), ("a", 5, 3.1, 2.0)), 4, 1) == [1]


def test_no_forecasts_at_all() -> None:
    vintages = Vintages.build(PANEL, parse(issues(("a", 5, 99, 1.0))))
    assert torch.isnan(vintages.values(torch.tensor([[5, 6]]), torch.tensor([4]))).all()
    assert vintages.covered(np.array([4]), 2).tolist() == [False]
    assert vintages.covered(np.array([], np.int64), 2).tolist() == []


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]), st.integers(0, 12), st.integers(-8, 50).map(lambda n: n / 4), st.floats(-9, 9)
    ),
    min_size=1,
    max_size=40,
    unique_by=lambda row: row[:3],
)


def one_by_one(frame: pd.DataFrame, row: int, cutoff: int) -> float:
    """The same value, found by looking at every forecast."""
    name = PANEL.item_ids[PANEL.series_of_rows[row]]
    issues = frame[(frame["item_id"] == name) & (frame["date"] == PANEL.timestamps[row])]
    issues = issues[issues["issued_at"] <= PANEL.timestamps[cutoff]].sort_values("issued_at")
    return float(issues["wind"].iloc[-1]) if len(issues) else np.nan


@pytest.mark.slow
@settings(max_examples=30)
@given(ROWS)
def test_every_cutoff_against_a_search_one_by_one(rows: list[tuple[str, int, float, float]]) -> None:
    frame = issues(*rows)
    issued = parse(frame)
    vintages = Vintages.build(PANEL, issued)
    for index in range(PANEL.num_series):
        first, stop = PANEL.starts[index : index + 2]
        cutoffs = np.arange(first, stop - 3)
        ahead = cutoffs[:, None] + np.arange(1, 4)
        expected = [
            [one_by_one(frame, row, cutoff) for row in rows] for cutoff, rows in zip(cutoffs, ahead, strict=True)
        ]
        values = vintages.values(torch.from_numpy(ahead), torch.from_numpy(cutoffs))[..., 0]
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(vintages.covered(cutoffs, 3), ~np.isnan(expected).any(axis=1))
        by_table = issued.newest_values(
            np.full(ahead.shape, index), PANEL.timestamps[ahead], PANEL.timestamps[cutoffs][:, None]
        )
        np.testing.assert_array_equal(by_table[..., 0], expected)


@pytest.mark.slow
@settings(max_examples=30)
@given(ROWS, st.integers(0, 8))
def test_what_is_issued_after_a_cutoff_changes_nothing(rows: list[tuple[str, int, float, float]], cutoff: int) -> None:
    frame = issues(*rows)
    late = frame["issued_at"] > PANEL.timestamps[cutoff]
    changed = frame.assign(wind=frame["wind"].where(~late, frame["wind"] + 1e6))
    removed = frame[~late]
    others = [changed, removed] if len(removed) else [changed]
    expected = values_at(frame, cutoff, 3)
    for other in others:
        np.testing.assert_array_equal(values_at(other, cutoff, 3), expected)


def test_forecasts_are_scaled_as_their_series() -> None:
    vintages = Vintages.build(PANEL, parse(issues(("a", 5, 0, 10.0), ("b", 5, 0, 10.0))))
    fit = Affine(np.array([[1.0], [2.0]]), np.array([[3.0], [4.0]]))
    scaled = vintages.scaled(fit, PANEL.starts[:-1])
    assert scaled.forecasts.dtype == torch.float32
    assert scaled.forecasts[:, 0].tolist() == [3, 2]


# --------------------------------------------------------------------------- the table


def test_numeric_columns_of_the_data_need_no_declaring() -> None:
    frame = issues(("a", 5, 0, 10.0)).assign(temperature=3, note="warm", y=1.0, rain=2)
    data = pd.DataFrame({"y": [1.0], "temperature": [2.0], "wind": [3.0], "other": [4.0]})
    _, config, absent = declare_issued(data, frame, DataConfig(target="y", ignore=("rain",)))
    assert (config.future_covariates, absent) == (("temperature", "wind"), ())


def test_a_misspelt_column_does_not_become_a_covariate() -> None:
    with pytest.raises(DataError) as error:
        declare_issued(pd.DataFrame({"y": [1.0], "wind": [3.0]}), issues().assign(winds=[1.0] * 0), DataConfig())
    assert error.value.message == (
        "the table of forecasts (--vintages) has a column 'winds', which the data does not have"
    )
    assert str(error.value.hint).startswith("did you mean 'wind'? or pass --future 'winds' if")


@pytest.mark.parametrize("column", ["date", "issued_at", "item_id"])
def test_a_missing_column(column: str) -> None:
    with pytest.raises(DataError, match=f"'wind.csv' has no column '{column}'; its columns are") as error:
        parse(issues(("a", 5, 0, 1.0)).drop(columns=column))
    assert error.value.code == "FA501"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"wind": np.nan}, r"^'wind\.csv': column 'wind' has no value at row 1"),
        ({"wind": "x", "date": 1}, r"^'wind\.csv' has dates in 'issued_at' and whole numbers in 'date'"),
    ],
)
def test_an_error_names_the_table_of_forecasts_and_no_other(change: dict[str, object], message: str) -> None:
    data = pd.DataFrame({"date": DAYS, "y": np.arange(12.0), "wind": 1.0})
    config = DataConfig(future_covariates=("wind",))
    table = VintageTable(issues(("a", 5, 0, 1.0)).assign(**change), "wind.csv", ())
    with pytest.raises(DataError, match=message):
        build_panel(data, resolve_roles(data, config, "data.csv"), config, source="data.csv", vintages=table)


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (
            {"issued_at": ["2024-01-01", "soon"]},
            "FA502",
            "column 'issued_at' is 'soon', which is not a time stamp at row 2",
        ),
        ({"date": ["2024-01-01", None]}, "FA502", "column 'date' is empty at row 2"),
        ({"issued_at": [1, 2]}, "FA502", "has whole numbers in 'issued_at' and dates in 'date'"),
        ({"wind": [1.0, np.nan]}, "FA503", "column 'wind' has no value at row 2"),
        ({"wind": [1.0, np.inf]}, "FA303", "column 'wind' is infinite at row 2"),
        ({"wind": ["1", "strong"]}, "FA103", "column 'wind' must be numeric; row 2 is 'strong'"),
        ({"item_id": "a"}, "FA504", "series 'a' has two forecasts of 2024-01-06 issued at 2024-01-01"),
    ],
)
def test_bad_tables(change: dict[str, object], code: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        parse(issues(("a", 5, 0, 1.0), ("b", 5, 0, 1.0)).assign(**change))
    assert message in error.value.message
    assert error.value.message.startswith("'wind.csv'")
    assert error.value.code == code


def test_a_table_without_a_future_covariate() -> None:
    with pytest.raises(DataError, match="has none of the future covariates 'wind'") as error:
        parse(issues(("a", 5, 0, 1.0)).rename(columns={"wind": "rain"}))
    assert error.value.hint == "name them with --future NAME"


def test_forecasts_of_other_series_are_left_out_and_told() -> None:
    findings: list[Finding] = []
    table = parse(issues(("z", 5, 0, 1.0), ("a", 5, 0, 2.0)), findings.append)
    assert table.values.tolist() == [[2.0]]
    assert [(finding.code, finding.severity, finding.row) for finding in findings] == [("FA505", "warning", 1)]
    assert "1 row of series that the data does not have, the first of 'z' at row 1" in findings[0].message


# --------------------------------------------------------------------------- columns that are only forecast


def build_without_wind(frame: pd.DataFrame, findings: list[Finding]) -> Panel:
    """A panel whose wind comes from forecasts alone; series a has three future rows."""
    days = pd.date_range(DAYS[0], periods=12)
    data = pd.DataFrame({"date": days, "y": [*np.arange(9.0), np.nan, np.nan, np.nan], "rain": 1.0})
    data, config, absent = declare_issued(data, frame, DataConfig(future_covariates=("rain", "wind"), missing="mask"))
    assert absent == ("wind",)
    roles = resolve_roles(data, config, "data.csv")
    cells = parse_cells(data, roles, stop_at_errors, "data.csv")
    issued = parse_issued(frame, roles, cells.item_ids, "wind.csv", stop_at_errors, zone=Zone())
    return panel_of_cells(fill_absent(cells, issued, absent, roles, findings.append), roles, config, stop_at_errors)


def test_an_absent_column_is_what_was_forecast_in_time() -> None:
    rows = [("a", day, day - 1.5, day * 10.0) for day in range(12)] + [("a", 5, 5.5, -1.0), ("a", 9, 8.5, -1.0)]
    panel = build_without_wind(issues(*rows).drop(columns="item_id"), [])
    assert panel.roles.future_covariates == ("rain", "wind")
    # Rows 10 and 11 were forecast after the last known target, on day 8: to be forecast means not to know them.
    np.testing.assert_array_equal(panel.future_covariates[:, 1], [*np.arange(0, 100, 10), np.nan, np.nan])


def test_rows_that_were_not_forecast_in_time_stay_empty_and_are_told() -> None:
    rows = [("a", day, -1.0, 1.0) for day in range(12) if day != 4] + [("a", 4, 4.5, 1.0)]
    findings: list[Finding] = []
    panel = build_without_wind(issues(*rows).drop(columns="item_id"), findings)
    assert np.flatnonzero(np.isnan(panel.future_covariates[:, 1])).tolist() == [4]
    (finding,) = findings
    assert (finding.code, finding.severity, finding.row, finding.column) == ("FA506", "error", 5, "wind")
    assert "no forecast of 'wind' for 2024-01-05 of series 'y' was issued at or before that time" in finding.message


def test_declaring_keeps_what_is_declared() -> None:
    config = DataConfig(future_covariates=("wind:2",))
    data, declared, absent = declare_issued(pd.DataFrame({"wind": [1.0]}), issues(("a", 5, 0, 1.0)), config)
    assert (list(data.columns), declared.future_covariates, absent) == (["wind"], ("wind:2",), ())


# --------------------------------------------------------------------------- windows


def test_windows_without_forecasts_are_left_out_and_told() -> None:
    frame = issues(*[("a", day, 3, 1.0) for day in range(12)])
    vintages = Vintages.build(PANEL, parse(frame))
    findings: list[Finding] = []
    assert covered_cutoffs(PANEL, vintages, np.arange(1, 9), 3, findings.append).tolist() == [3, 4, 5, 6, 7, 8]
    assert findings[0].message == (
        "2 of 8 training windows are left out: at their cut-offs not all of the next 3 steps had been forecast, "
        "first at 2024-01-02 of series 'a'"
    )
    assert covered_cutoffs(PANEL, vintages, np.arange(3, 9), 3, findings.append).tolist() == [3, 4, 5, 6, 7, 8]
    assert [finding.code for finding in findings] == ["FA507"]
    with pytest.raises(DataError) as error:
        covered_cutoffs(PANEL, vintages, np.arange(3), 3, stop_at_errors)
    assert error.value.code == "FA508"


def test_forecasts_are_put_on_the_step_of_the_data() -> None:
    """Hours of a day became one row; of the forecasts for them only the one for midnight was used."""
    hours = pd.date_range("2024-01-01", periods=96, freq="h")
    data = pd.DataFrame({"date": hours, "y": np.arange(96.0), "wind": 0.0})
    config = DataConfig(future_covariates=("wind",), resample="D")
    roles = resolve_roles(data, config, "data.csv")
    frame = pd.DataFrame({"date": hours[72:], "issued_at": hours[48], "wind": np.arange(24.0)})
    panel = build_panel(data, roles, config, source="data.csv", vintages=VintageTable(frame, "wind.csv", ()))
    assert panel.issued is not None
    assert (panel.issued.values.tolist(), len(panel.timestamps)) == ([[11.5]], 4)
    known = build_panel(data[:72].copy(), roles, config, source="data.csv")
    longer = join_future(known, frame, 1, "wind.csv", lambda finding: None, options=config)
    assert longer.future_covariates[3].tolist() == [11.5]


def test_axes_of_whole_numbers() -> None:
    data = pd.DataFrame({"step": np.arange(6), "y": 1.0 + np.arange(6), "wind": 0.0})
    config = DataConfig(future_covariates=("wind",))
    roles = resolve_roles(data, config, "data.csv")
    panel = build_panel(data, roles, config, source="data.csv")
    frame = pd.DataFrame({"step": [4, 4], "issued_at": [2, 3], "wind": [1.0, 2.0]})
    vintages = Vintages.build(
        panel, parse_issued(frame, roles, panel.item_ids, "wind.csv", stop_at_errors, zone=Zone())
    )
    values = vintages.values(torch.tensor([[4], [4], [4]]), torch.tensor([1, 2, 3]))[:, 0, 0]
    np.testing.assert_array_equal(values, [np.nan, 1, 2])


def test_hours_of_a_zone_as_local_stamps_with_a_change() -> None:
    zone = Zone("Europe/Berlin", "utc")
    hours = pd.date_range("2024-10-26 20:00", periods=12, freq="h", tz="UTC").tz_convert("Europe/Berlin")
    local = hours.strftime("%Y-%m-%d %H:%M")
    assert local.duplicated().sum() == 1  # 02:00 of the 27th comes twice
    data = pd.DataFrame({"date": local, "y": 1.0 + np.arange(12), "wind": 0.0})
    config = DataConfig(future_covariates=("wind",), tz="Europe/Berlin")
    panel = build_panel(data, resolve_roles(data, config, "data.csv"), config, source="data.csv")
    parts = [
        pd.DataFrame({"date": local[k : k + 4], "issued_at": local[k - 1], "wind": k * 100.0 + np.arange(4)})
        for k in (2, 3, 7)
    ]
    frame = pd.concat(parts, ignore_index=True)
    issued = parse_issued(frame, panel.roles, panel.item_ids, "wind.csv", stop_at_errors, zone=zone)
    rows = torch.arange(12)[None]
    values = Vintages.build(panel, issued).values(rows, torch.tensor([11]))[0, :, 0]
    nan = np.nan
    np.testing.assert_array_equal(values, [nan, nan, 200, 300, 301, 302, 303, 700, 701, 702, 703, nan])
