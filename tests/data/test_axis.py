"""One row for every step: repeats and gaps by policy, the step by evidence, and what is refused."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.config.options import DataConfig
from forecast_attn.data.axis import find_frequency, report_gaps, series_steps
from forecast_attn.data.cells import Cells, parse_cells
from forecast_attn.data.cleaning import fill_gaps, without_repeats
from forecast_attn.data.findings import Finding, Repair, stop_at_errors
from forecast_attn.data.frequency import parse_frequency
from forecast_attn.data.panel import Panel
from forecast_attn.data.roles import resolve_roles
from forecast_attn.errors import DataError

AsPanel = Callable[..., Panel]


def cells_of(frame: pd.DataFrame, **options: object) -> Cells:
    roles = resolve_roles(frame, DataConfig(**options), "table")  # type: ignore[arg-type]
    return parse_cells(frame, roles, stop_at_errors, "table")


def days(count: int, start: str = "2024-01-01", freq: str = "D", **columns: object) -> pd.DataFrame:
    frame = pd.DataFrame({"time": pd.date_range(start, periods=count, freq=freq), "y": np.arange(float(count))})
    return frame.assign(**columns)


# --------------------------------------------------------------------------- repeats


@pytest.fixture
def repeated() -> pd.DataFrame:
    """Series a with its second day twice and its third three times, b without repeats."""
    rows = [
        *(("a", 1, 1.0, 0.1, "x"), ("a", 2, 2.0, 0.1, "x"), ("a", 2, 4.0, np.nan, "y"), ("a", 3, 0.1, 7.0, None)),
        *(("a", 3, 0.1, 7.0, "z"), ("a", 3, 0.1, 8.0, "z"), ("a", 4, 9.0, 1.0, "x")),
        *(("b", day, float(day), 1.0, "x") for day in range(1, 5)),
    ]
    frame = pd.DataFrame(rows, columns=["item_id", "day", "y", "x", "kind"])
    frame.insert(1, "date", pd.Timestamp("2023-12-31") + pd.to_timedelta(frame.pop("day"), unit="D"))
    return frame


@pytest.mark.parametrize(
    ("duplicates", "target", "covariate", "kinds"),
    [
        ("first", [1, 2, 0.1, 9], [0.1, 0.1, 7, 1], ["x", "x", None, "x"]),
        ("last", [1, 4, 0.1, 9], [0.1, np.nan, 8, 1], ["x", "y", "z", "x"]),
        ("mean", [1, 3, 0.1, 9], [0.1, 0.1, 22 / 3, 1], ["x", "x", "z", "x"]),
    ],
)
def test_repeats_by_policy(
    repeated: pd.DataFrame, duplicates: str, target: list[float], covariate: list[float], kinds: list[str | None]
) -> None:
    options = {"categorical": ("kind",), "past_covariates": ("kind", "x")}
    roles = resolve_roles(repeated, DataConfig(**options), "t")  # type: ignore[arg-type]
    repairs: list[Repair] = []
    cells = without_repeats(cells_of(repeated, **options), roles, stop_at_errors, duplicates, repairs)
    assert cells.columns["y"][:4].tolist() == target
    np.testing.assert_array_equal(cells.columns["x"][:4], covariate)
    categories = [*cells.categories["kind"], None]
    assert [categories[code] for code in cells.category_codes["kind"][:4]] == kinds
    assert cells.columns["y"][4:].tolist() == [1, 2, 3, 4]
    assert repairs[0] == Repair(f"duplicates: {duplicates}", "a", None, 3, "2024-01-02")
    different = Repair("duplicates: first of different categories", "a", "kind", 1, "2024-01-02")
    assert repairs[1:] == ([different] if duplicates == "mean" else [])


def test_repeats_are_refused_unless_told(repeated: pd.DataFrame, as_panel: AsPanel) -> None:
    with pytest.raises(DataError, match=r"series .a. has 2024-01-02 twice, at row 2.* and row 3") as error:
        as_panel(repeated)
    assert "--duplicates mean, first or last" in str(error.value.hint)


def test_changes_of_the_clock_are_suspected_and_not_repaired(as_panel: AsPanel) -> None:
    for start, message in (
        ("2024-10-26", "has 2024-10-27 02:00 twice"),
        ("2024-03-30", "gap of 1 row: after 2024-03-31 01"),
    ):
        hours = pd.date_range(start, periods=60, freq="h", tz="Europe/Berlin").tz_localize(None)
        frame = pd.DataFrame({"time": hours, "y": np.arange(60.0)})
        with pytest.raises(DataError, match=message) as error:
            as_panel(frame)
        assert "--tz Europe/Berlin" in str(error.value.hint)
        assert as_panel(frame, tz="Europe/Berlin").num_rows == 60


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6), st.floats(-1e6, 1e6) | st.just(np.nan)), min_size=1),
    st.sampled_from(["mean", "first", "last"]),
)
def test_repeats_are_what_pandas_groups_give(rows: list[tuple[int, int, float]], duplicates: str) -> None:
    frame = pd.DataFrame(rows, columns=["item_id", "step", "y"]).astype({"y": float})
    cells = cells_of(frame, time="step", target="y", item_id="item_id")
    roles = resolve_roles(frame, DataConfig(time="step", target="y", item_id="item_id"), "t")
    result = without_repeats(cells, roles, stop_at_errors, duplicates, [])
    groups = frame.groupby(["item_id", "step"])["y"]
    expected = groups.mean() if duplicates == "mean" else groups.nth(0 if duplicates == "first" else -1)
    if duplicates != "mean":
        expected = frame.loc[expected.index].sort_values(["item_id", "step"])["y"]
    np.testing.assert_allclose(result.columns["y"], expected.to_numpy(), rtol=1e-12, atol=1e-9)


def test_equal_rows_keep_their_bits_in_the_mean() -> None:
    frame = pd.DataFrame({"step": [1, 2, 2, 2, 3, 4], "y": [1, 0.1, 0.1, 0.1, 2, 3]})
    roles = resolve_roles(frame, DataConfig(), "t")
    assert without_repeats(cells_of(frame), roles, stop_at_errors, "mean").columns["y"][1] == 0.1


# --------------------------------------------------------------------------- gaps


@pytest.mark.parametrize("freq", ["h", "15min", "D", "B", "W-WED", "MS", "ME", "BME", "QE-DEC", "YE-DEC", "7"])
@pytest.mark.parametrize("dropped", [[5], [1, 2, 3], [4, 9, 10, 17]])
def test_gaps_are_filled_with_the_stamps_that_are_absent(freq: str, dropped: list[int]) -> None:
    if freq == "7":
        whole = pd.DataFrame({"time": np.arange(0, 140, 7), "y": np.arange(20.0)})
    else:
        whole = days(20, "2023-12-01", freq)
    cells = cells_of(pd.concat([whole.assign(item_id="a"), whole.drop(dropped).assign(item_id="b")]), time="time")
    repairs: list[Repair] = []
    longer = fill_gaps(cells, parse_frequency(freq), stop_at_errors, "mask", repairs)
    np.testing.assert_array_equal(longer.stamps[:20], longer.stamps[20:])
    second = longer.take(np.arange(20, 40))
    assert np.flatnonzero(second.rows == 0).tolist() == dropped
    assert np.isnan(second.columns["y"]).tolist() == [at in dropped for at in range(20)]
    assert [(r.kind, r.item_id, r.count) for r in repairs] == [("gap: rows added", "b", len(dropped))]
    assert fill_gaps(cells, parse_frequency(freq), stop_at_errors, "error") is cells


def test_holidays_among_business_days_follow_the_policy(as_panel: AsPanel) -> None:
    frame = days(60, freq="B").drop([9, 30, 31])
    with pytest.raises(DataError, match="gap of 1 row") as error:
        as_panel(frame, missing="error")
    assert "--missing mask" in str(error.value.hint)
    panel = as_panel(frame, missing="ffill")
    assert panel.frequency.alias == "B"
    assert panel.num_rows == 60
    assert panel.target[[9, 30, 31]].tolist() == [8, 29, 29]
    assert [repair.kind for repair in panel.repairs] == ["gap: rows added", "missing: ffill"]


def test_the_absent_hour_of_spring_is_no_gap_and_others_are(as_panel: AsPanel) -> None:
    stamps = pd.date_range("2024-03-30", "2024-04-02", freq="h", tz="Europe/Berlin").tz_localize(None)
    frame = pd.DataFrame({"time": stamps, "y": np.arange(float(len(stamps)))}).drop(26)  # 2024-03-31 03:00
    with pytest.raises(DataError, match=r"gap of 1 row: after 2024-03-31 01:00\+01:00 comes 2024-03-31 04:00\+02:00"):
        as_panel(frame, tz="Europe/Berlin", missing="error")
    panel = as_panel(frame, tz="Europe/Berlin", missing="interpolate")
    assert panel.zone.stamp_text(panel.timestamps[26]) == "2024-03-31 03:00+02:00"
    assert panel.target[26] == 26
    assert panel.repairs[0].first == "2024-03-31 03:00+02:00"


def test_a_mistyped_year_is_no_gap(as_panel: AsPanel) -> None:
    frame = days(30, freq="h")
    frame.loc[29, "time"] = pd.Timestamp("2204-01-02 05:00")
    with pytest.raises(DataError, match=r"1,577,.* rows added .* would outweigh the 30 rows") as error:
        as_panel(frame, missing="mask", freq="h")
    assert error.value.row == 30


@pytest.mark.slow
@settings(max_examples=30)
@given(st.sets(st.integers(1, 38), max_size=25), st.sampled_from(["h", "D", "MS", "B"]), st.randoms())
def test_order_of_rows_changes_no_filled_axis(dropped: set[int], freq: str, shuffled: object) -> None:
    frame = days(40, freq=freq).drop(sorted(dropped))
    order = list(range(len(frame)))
    shuffled.shuffle(order)  # type: ignore[attr-defined]
    one, other = (
        fill_gaps(cells_of(rows), parse_frequency(freq), lambda _: None, "mask") for rows in (frame, frame.iloc[order])
    )
    np.testing.assert_array_equal(one.stamps, days(40, freq=freq)["time"].to_numpy().astype("datetime64[ns]"))
    np.testing.assert_array_equal(one.stamps, other.stamps)
    np.testing.assert_array_equal(one.columns["y"], other.columns["y"])


# --------------------------------------------------------------------------- the step


def test_every_series_gives_its_evidence() -> None:
    frames = [
        days(30, item_id="a"),
        days(20, item_id="b").drop(7),
        days(2, item_id="c"),
        days(10, freq="h", item_id="d"),
        days(1, item_id="e"),
    ]
    cells = cells_of(pd.concat(frames))
    steps = [(step.item_id, step.step, step.regular, step.steps) for step in series_steps(cells, parse_frequency("D"))]
    assert steps == [("a", "D", 29, 29), ("b", "D", 17, 18), ("c", "D", 1, 1), ("d", "h", 9, 9), ("e", None, 0, 0)]


def test_a_step_is_inferred_in_spite_of_gaps_when_they_may_be() -> None:
    cells = cells_of(days(50, freq="h").drop([7, 20, 21]))
    findings: list[Finding] = []
    assert find_frequency(cells, None, findings.append).evidence == "44 of 46 steps are 1 hour"
    assert not findings
    report_gaps(cells, parse_frequency("h"), findings.append)
    assert [finding.code for finding in findings] == ["FA204", "FA204"]


def test_an_irregular_axis_is_refused_whatever_is_missing(as_panel: AsPanel) -> None:
    frame = days(30, freq="h")
    frame.loc[12, "time"] += pd.Timedelta("7min")
    for missing in ("error", "mask", "interpolate"):
        with pytest.raises(DataError, match=r"jumps from 2024-01-01 11:00 to 2024-01-01 12:07 at row 13"):
            as_panel(frame, missing=missing)


@pytest.mark.parametrize(
    ("start", "freq", "last"),
    [
        ("2024-02-25", "D", "2024-03-05"),  # leap day
        ("2023-02-25", "D", "2023-03-06"),
        ("2023-12-27", "D", "2024-01-05"),
        ("2023-11-30", "ME", "2024-08-31"),
        ("2020-02-29", "YE-FEB", "2029-02-28"),
        ("2020-11-30", "W-MON", "2021-02-01"),  # week 53
    ],
)
def test_ends_of_months_and_years(as_panel: AsPanel, start: str, freq: str, last: str) -> None:
    panel = as_panel(days(10, start, freq).astype({"time": str}))
    assert panel.frequency.alias == freq
    assert str(panel.timestamps[-1])[:10] == last
    assert panel.frequency.evidence.startswith("9 of 9 steps")


def test_a_year_of_iso_weeks_with_week_53(as_panel: AsPanel) -> None:
    mondays = pd.date_range("2020-11-02", periods=20, freq="W-MON")
    weeks = [f"{day.isocalendar().year}-W{day.isocalendar().week:02d}" for day in mondays]
    assert "2020-W53" in weeks
    panel = as_panel(pd.DataFrame({"week": weeks, "y": np.arange(20.0)}))
    assert panel.frequency.alias == "W-MON"
    np.testing.assert_array_equal(panel.timestamps, mondays.to_numpy().astype("datetime64[ns]"))
