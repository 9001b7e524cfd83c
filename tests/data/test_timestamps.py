"""Dates in the forms people write, and none that are guessed."""

from datetime import datetime
from random import Random

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table
from forecast_attn.data.timestamps import looks_like_dates, parse_timestamps, read_stamps
from forecast_attn.errors import ConfigError, DataError


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2024-01-31", "2024-01-31"),
        ("2024-01-31 13:05", "2024-01-31T13:05"),
        ("2024-01-31T13:05:07.25", "2024-01-31T13:05:07.25"),
        ("2024/1/31 0:00", "2024-01-31"),
        ("2024/1/31", "2024-01-31"),
        ("2024.01.31", "2024-01-31"),
        ("2024-01", "2024-01-01"),
        ("2024/03", "2024-03-01"),
        ("31/01/2024", "2024-01-31"),
        ("1/31/2024 13:05", "2024-01-31T13:05"),
        ("31.01.2024 13:05:07", "2024-01-31T13:05:07"),
        ("31-01-2024", "2024-01-31"),
        ("31 Jan 2024", "2024-01-31"),
        ("Jan 31, 2024", "2024-01-31"),
        ("January 2024", "2024-01-01"),
        ("2024-01-31T13:05Z", "2024-01-31T13:05"),
        ("2024-01-31T13:05+02:00", "2024-01-31T11:05"),
        (" 2024-01-31 ", "2024-01-31"),
        ("2024-01-31T13:05:07.123456789", "2024-01-31T13:05:07.123456789"),
        ("2024/01/31 13:05:07.250", "2024-01-31T13:05:07.250"),
        ("20240131", "2024-01-31"),
        ("20240131T1305", "2024-01-31T13:05"),
        ("20240131 13:05", "2024-01-31T13:05"),
        ("20240131:1305", "2024-01-31T13:05"),
        ("2024013113", "2024-01-31T13"),
        ("202401311305", "2024-01-31T13:05"),
        ("20240131130507", "2024-01-31T13:05:07"),
        ("20240131T1305Z", "2024-01-31T13:05"),
        ("2024-01-31 13:05 +02", "2024-01-31T11:05"),
        ("2024-01-31T13:05-0330", "2024-01-31T16:35"),
        ("1/31/2024 13:05 +02:00", "2024-01-31T11:05"),
        ("2024-W05", "2024-01-29"),
        ("2024W05", "2024-01-29"),
        ("2024 W05", "2024-01-29"),
        ("2024-W05-1", "2024-01-29"),
        ("2024-W05-7", "2024-02-04"),
        ("2020-W53", "2020-12-28"),
        ("2021-W01", "2021-01-04"),
        ("2024Q1", "2024-01-01"),
        ("2024-Q4", "2024-10-01"),
        ("Q3 2024", "2024-07-01"),
        ("Q42010", "2010-10-01"),
        ("Jan 2024", "2024-01-01"),
        ("2024", "2024-01-01"),
        ("5 January 2024 13:05", "2024-01-05T13:05"),
        ("2024-Jan-31", "2024-01-31"),
        ("2024-01-31 1:05 pm", "2024-01-31T13:05"),
        ("2024-01-31 12:05:07AM", "2024-01-31T00:05:07"),
        ("1/31/2024, 1:05:00 PM", "2024-01-31T13:05"),
        ("31.01.2024 12:00 a.m.", "2024-01-31"),
        ("13.02.99", "1999-02-13"),
        ("2024-02-29", "2024-02-29"),
        ("2023-12-31 23:59:59", "2023-12-31T23:59:59"),
    ],
)
@pytest.mark.slow
def test_forms(written: str, expected: str) -> None:
    stamps, bad = parse_timestamps(pd.Series([written]))
    assert not bad.any()
    assert stamps.dtype == np.dtype("datetime64[ns]")
    assert stamps[0] == np.datetime64(expected, "ns")


@pytest.mark.parametrize("written", ["01/02/2024", "1.2.2024", "01-02-2024 10:00"])
def test_ambiguous_dates_are_refused(written: str) -> None:
    with pytest.raises(DataError, match="ambiguous"):
        parse_timestamps(pd.Series([written] * 3), "date")


def test_one_value_decides_the_order_for_all() -> None:
    assert parse_timestamps(pd.Series(["01/02/2024", "13/02/2024"]))[0][0] == np.datetime64("2024-02-01")
    assert parse_timestamps(pd.Series(["01/02/2024", "02/13/2024"]))[0][0] == np.datetime64("2024-01-02")


def test_evidence_for_both_orders_is_a_bad_cell() -> None:
    assert parse_timestamps(pd.Series(["13/02/2024", "02/13/2024"]))[1].tolist() == [False, True]


def test_dates_with_and_without_a_clock_in_one_column() -> None:
    stamps, bad = parse_timestamps(pd.Series(["2024/1/1", "2024/1/1 1:00"]))
    assert not bad.any()
    assert np.diff(stamps)[0] == np.timedelta64(1, "h")


@pytest.mark.parametrize("cell", ["", None, "soon", "2024-13-01", "2024-02-30", "12:30", "1500-01-01", "3000-01-01"])
def test_bad_cells_are_marked(cell: str | None) -> None:
    assert parse_timestamps(pd.Series(["2024-01-01", cell]))[1].tolist() == [False, True]


@pytest.mark.parametrize("first", ["YYYY-MM-DD", "n.d.", "none yet", "7"])
def test_a_bad_first_cell_spoils_no_other(first: str) -> None:
    assert parse_timestamps(pd.Series([first, "2024-01-01", "2024-01-02"]))[1].tolist() == [True, False, False]


def test_changing_offsets_are_instants() -> None:
    stamps, bad = parse_timestamps(pd.Series(["2024-03-31T01:00+01:00", "2024-03-31T03:00+02:00"]))
    assert not bad.any()
    assert np.diff(stamps)[0] == np.timedelta64(1, "h")


def test_whole_numbers_are_steps() -> None:
    stamps, bad = parse_timestamps(pd.Series([3, 4, 5]))
    assert stamps.tolist() == [3, 4, 5]
    assert stamps.dtype == np.int64
    assert not bad.any()


def test_decimals_are_steps_of_the_length_that_is_given() -> None:
    stamps, bad = parse_timestamps(pd.Series([-0.5, 0.25, 0.75, 1.0, np.nan]), "time", "0.25")
    assert stamps[:4].tolist() == [-2, 1, 3, 4]
    assert bad.tolist() == [False] * 4 + [True]
    assert parse_timestamps(pd.Series([0.25, 0.51, 0.6]), "time", "0.25")[1].tolist() == [False, False, True]
    with pytest.raises(ConfigError, match="is no step"):
        parse_timestamps(pd.Series([0.25]), "time", "0.0")


def test_eight_digits_are_days() -> None:
    assert parse_timestamps(pd.Series([20240131, 20240201]))[0].tolist() == [
        np.datetime64("2024-01-31", "ns").astype(int),
        np.datetime64("2024-02-01", "ns").astype(int),
    ]


@pytest.mark.parametrize("numbers", [[1.5, 2.0], [1.0, np.nan], [np.inf, 1.0]])
def test_other_numbers_are_no_steps(numbers: list[float]) -> None:
    assert parse_timestamps(pd.Series(numbers))[1].sum() == 1


def test_datetime_columns_with_a_zone_are_read_as_utc() -> None:
    column = pd.Series(pd.date_range("2024-01-01", periods=2, freq="h", tz="Europe/Berlin"))
    assert parse_timestamps(column)[0][0] == np.datetime64("2023-12-31T23:00")


@pytest.mark.parametrize(
    ("cells", "dates"),
    [
        (["2024-01-01", "2024-01-02"], True),
        (["2024-01-01", "?", "2024-01-02"], True),
        (["01/02/2024"], True),
        (["a", "b"], False),
        ([1, 2], False),
        ([None], False),
    ],
)
def test_looks_like_dates(cells: list[object], dates: bool) -> None:
    assert looks_like_dates(pd.Series(cells)) is dates


@pytest.mark.parametrize("cell", ["2021-W53", "2024-W00", "2024-W05-8", "2024-05"])
def test_weeks_that_are_none(cell: str) -> None:
    assert parse_timestamps(pd.Series(["2024-W01", cell]))[1].tolist() == [False, True]


def test_every_iso_week_is_the_one_of_pythons_calendar() -> None:
    days = pd.date_range("2014-01-01", "2029-12-31", freq="W-MON")
    written = pd.Series([f"{day.isocalendar().year}-W{day.isocalendar().week:02d}" for day in days])
    np.testing.assert_array_equal(parse_timestamps(written)[0], days.to_numpy())


@given(st.sampled_from([2003, 2008, 2014, 2025, 2031]))
def test_weeks_of_the_cdc_begin_on_sundays_where_a_53rd_one_is_of_no_iso_year(year: int) -> None:
    """Days counted one by one: the first week of a year is the first one, from Sunday on, with four days of it."""
    expected, week = {}, 0
    for sunday in pd.date_range(f"{year - 1}-12-01", f"{year}-12-31", freq="W-SUN"):
        if (pd.date_range(sunday, periods=7).year == year).sum() >= 4:
            week += 1
            expected[f"{year}-W{week:02d}"] = sunday
    assert week == 53
    stamps, bad = parse_timestamps(pd.Series(list(expected)))
    assert not bad.any()
    np.testing.assert_array_equal(stamps, pd.DatetimeIndex(list(expected.values())).to_numpy())


def test_a_newer_table_without_a_53rd_week_is_read_as_the_one_before_it() -> None:
    """A run keeps the order that its table told."""
    assert read_stamps(pd.Series(["2014-W52", "2014-W53"])).order == "cdc-weeks"
    newer = pd.Series(["2015-W52", "2016-W01"])
    assert [*read_stamps(newer, date_format="cdc-weeks").stamps.astype("datetime64[D]").astype(str)] == [
        "2015-12-27",
        "2016-01-03",
    ]
    assert [*read_stamps(newer).stamps.astype("datetime64[D]").astype(str)] == ["2015-12-21", "2016-01-04"]


# --------------------------------------------------------------------------- two-digit years


@pytest.mark.parametrize(
    ("form", "order"), [("%d.%m.%y", "day first"), ("%m/%d/%y", "month first"), ("%y/%m/%d", "year first")]
)
@pytest.mark.parametrize("freq", ["D", "W", "MS"])
def test_the_step_of_the_axis_is_evidence_for_two_digit_years(form: str, order: str, freq: str) -> None:
    days = pd.date_range("2023-11-20", periods=60, freq=freq)
    stamps, bad = parse_timestamps(pd.Series(days.strftime(form)))
    assert not bad.any(), order
    np.testing.assert_array_equal(stamps, days.to_numpy())


@pytest.mark.parametrize("cells", [["01.02.03"], ["31.01.24"], ["05/06/07", "06/06/07", "07/06/07"]])
def test_two_digit_years_without_evidence_are_refused(cells: list[str]) -> None:
    with pytest.raises(DataError, match="ambiguous") as error:
        parse_timestamps(pd.Series(cells), "date")
    assert "--date-format" in str(error.value.hint)


# --------------------------------------------------------------------------- the end of a day


def test_the_end_of_a_day_is_the_next_midnight_where_the_column_counts_so() -> None:
    hours = [f"31.12.2024 {hour:02d}:00" for hour in range(1, 25)]
    stamps, bad = parse_timestamps(pd.Series(hours))
    assert not bad.any()
    assert stamps[-1] == np.datetime64("2025-01-01")
    assert (np.diff(stamps) == np.timedelta64(1, "h")).all()


@pytest.mark.parametrize("end", ["24:00", "24:00:00"])
def test_the_end_of_a_day_beside_a_midnight_is_a_bad_cell(end: str) -> None:
    cells = pd.Series([f"2024-01-31 {end}", "2024-02-01 00:00", "2024-02-01 01:00"])
    assert parse_timestamps(cells)[1].tolist() == [True, False, False]


def test_the_end_of_a_day_with_an_offset() -> None:
    assert parse_timestamps(pd.Series(["2024-01-31T24:00+01:00"]))[0][0] == np.datetime64("2024-01-31T23:00")


# --------------------------------------------------------------------------- offsets


def test_offsets_are_told() -> None:
    parsed = read_stamps(pd.Series(["2024-03-31T01:00+01:00", "2024-03-31T03:00+02:00", None]))
    assert parsed.offsets is not None
    assert parsed.offsets[:2].tolist() == [3600, 7200]
    assert parsed.bad.tolist() == [False, False, True]


def test_dates_end_in_no_offset() -> None:
    assert read_stamps(pd.Series(["2024-01-31", "2024-02-29"])).offsets is None


def test_a_cell_without_offset_among_others_is_no_instant() -> None:
    for cells in (["2024-01-01T00:00Z", "2024-01-01T01:00"], ["2024-01-01T01:00", "2024-01-01T00:00Z"]):
        parsed = read_stamps(pd.Series(cells))
        assert parsed.bad.tolist() == [not cell.endswith("Z") for cell in cells]


@pytest.mark.parametrize(("tz", "name"), [("Europe/Berlin", "Europe/Berlin"), ("UTC", "UTC"), ("+05:30", "+05:30")])
def test_the_zone_of_a_column_of_datetimes(tz: str, name: str) -> None:
    column = pd.Series(pd.date_range("2024-01-01", periods=3, tz=tz))
    parsed = read_stamps(column)
    assert parsed.zone == name
    np.testing.assert_array_equal(parsed.stamps, column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())


@pytest.mark.parametrize("tz", [None, "Europe/Berlin"])
def test_arrow_columns_are_read_as_numpy_ones(tz: str | None) -> None:
    column = pd.Series(pd.date_range("2024-01-01", periods=3, tz=tz))
    kind = pd.ArrowDtype(pa.timestamp("us", tz=tz))
    arrow, plain = read_stamps(column.astype(kind)), read_stamps(column)
    np.testing.assert_array_equal(arrow.stamps, plain.stamps)
    assert arrow.zone == plain.zone


@pytest.mark.parametrize(
    ("tz", "name"),
    [("Z", "UTC"), ("utc", "UTC"), ("GMT+02:00", "+02:00"), ("UTC+2", "+02:00"), ("-0330", "-03:30")],
)
def test_offsets_in_the_words_of_other_programs(tz: str, name: str) -> None:
    stamps = pa.array([0, 3600], pa.timestamp("s", tz))
    for table in (
        pa.table({"t": stamps}),
        pd.DataFrame({"t": pd.arrays.ArrowExtensionArray(pa.chunked_array([stamps]))}),
    ):
        parsed = read_stamps(read_table(table, DataConfig())["t"])
        assert parsed.zone == name
        assert parsed.stamps.tolist() == [0, 3600 * 10**9]


def test_a_zone_that_is_none() -> None:
    table = pa.table({"t": pa.array([0, 3600], pa.timestamp("s", "Middle/Earth"))})
    with pytest.raises(DataError, match=r"column 't' has the zone 'Middle/Earth', which is not known"):
        read_table(table, DataConfig())


def test_periods_are_their_first_moment() -> None:
    stamps, bad = parse_timestamps(pd.Series(pd.period_range("2024-01", periods=3, freq="M")))
    assert not bad.any()
    assert stamps.astype("datetime64[D]").astype(str).tolist() == ["2024-01-01", "2024-02-01", "2024-03-01"]


# --------------------------------------------------------------------------- a format given


@pytest.mark.parametrize(
    ("written", "date_format", "expected"),
    [
        ("01/02/2024", "%d/%m/%Y", "2024-02-01"),
        ("01/02/2024", "%m/%d/%Y", "2024-01-02"),
        ("31.1.24 13h", "%d.%m.%y %Hh", "2024-01-31T13"),
        ("Jan-24", "%b-%y", "2024-01-01"),
        ("29/2/64", "%d/%m/%y", "1964-02-29"),
        ("31/12/49", "%d/%m/%y", "2049-12-31"),
        ("500101", "%y%m%d", "1950-01-01"),
        ("31/1/24 10:00 +0100", "%d/%m/%y %H:%M %z", "2024-01-31T09:00"),
        ("202401", "%Y%m", "2024-01-01"),
        ("1706705107", "s", "2024-01-31T12:45:07"),
        ("1706705107.5", "s", "2024-01-31T12:45:07.5"),
        ("1706705107250", "ms", "2024-01-31T12:45:07.250"),
        (1706705107, "s", "2024-01-31T12:45:07"),
        (1706705107250, "ms", "2024-01-31T12:45:07.250"),
        (202401, "%Y%m", "2024-01-01"),
        (2024, "%Y", "2024-01-01"),
        (1022024, "%d%m%Y", "2024-02-01"),
    ],
)
def test_a_given_format_counts(written: object, date_format: str, expected: str) -> None:
    stamps, bad = parse_timestamps(pd.Series([written]), "time", date_format)
    assert not bad.any()
    assert stamps[0] == np.datetime64(expected, "ns")


@pytest.mark.parametrize(
    ("order", "written", "expected"),
    [
        ("day-first", "01/02/2024", "2024-02-01"),
        ("month-first", "01/02/2024", "2024-01-02"),
        ("day-first", "01.02.03 10:00", "2003-02-01T10:00"),
        ("month-first", "01.02.03", "2003-01-02"),
        ("year-first", "01.02.03", "2001-02-03"),
        ("day-first", "2024-01-02", "2024-01-02"),
        ("day-first", "Jan 2, 2024", "2024-01-02"),
    ],
)
def test_a_given_order_counts(order: str, written: str, expected: str) -> None:
    parsed = read_stamps(pd.Series([written]), "time", order)
    assert parsed.stamps[0] == np.datetime64(expected, "ns")
    assert parsed.order == (order if written[2] in "./" else None)


def test_the_order_that_was_found_is_told() -> None:
    assert read_stamps(pd.Series(["13/02/2024", "01/02/2024"])).order == "day-first"
    assert read_stamps(pd.Series(["02/13/2024", "01/02/2024"])).order == "month-first"
    assert read_stamps(pd.Series(["2024-02-13"])).order is None
    assert read_stamps(pd.Series(["02/13/2024"]), "time", "day-first").bad.all()


def test_what_does_not_fit_the_format_is_a_bad_cell() -> None:
    cells = pd.Series(["31.01.2024", "2024-02-01", "1.2.2024", None])
    assert parse_timestamps(cells, "time", "%d.%m.%Y")[1].tolist() == [False, True, False, True]
    assert parse_timestamps(pd.Series([1.7e9, np.nan, 1e30]), "time", "s")[1].tolist() == [False, True, True]


@pytest.mark.parametrize("date_format", ["%Q", "%", "%z %Y"])
def test_a_format_that_is_none(date_format: str) -> None:
    with pytest.raises(ConfigError, match="--date-format"):
        parse_timestamps(pd.Series(["2024"]), "time", date_format)


def test_seconds_since_1970_are_never_guessed() -> None:
    numbers = pd.Series(np.arange(1_700_000_000, 1_700_360_000, 3600))
    assert parse_timestamps(numbers)[0].dtype == np.int64
    assert parse_timestamps(numbers * 1000)[0].dtype == np.int64


def test_ten_digits_are_hours_only_if_all_of_them_are() -> None:
    assert parse_timestamps(pd.Series([2024013122, 2024013123]))[0].dtype == np.dtype("datetime64[ns]")
    assert parse_timestamps(pd.Series([2024013123, 2024013124]))[0].dtype == np.int64


# --------------------------------------------------------------------------- properties

MOMENTS = st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1)).map(lambda moment: moment.replace(microsecond=0))
FORMS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y/%m/%d %H:%M:%S", "%Y%m%d%H%M%S", "%Y-%m-%d %I:%M:%S %p")
FORMS += ("%d %b %Y %H:%M:%S", "%B %d, %Y %H:%M:%S", "%Y.%m.%d %H:%M:%S")


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(MOMENTS, min_size=1, max_size=20), st.sampled_from(FORMS))
def test_what_strftime_writes_is_read(moments: list[datetime], form: str) -> None:
    stamps, bad = parse_timestamps(pd.Series([moment.strftime(form) for moment in moments]))
    assert not bad.any()
    np.testing.assert_array_equal(stamps, np.array(moments, "datetime64[ns]"))


@pytest.mark.slow
@settings(max_examples=30)
@given(st.lists(MOMENTS, min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_day_first_is_read_right_or_refused(moments: list[datetime], shuffled: Random) -> None:
    written = [moment.strftime("%d.%m.%Y %H:%M:%S") for moment in moments]
    shuffled.shuffle(written)
    decided = any(moment.day > 12 for moment in moments)
    try:
        stamps, bad = parse_timestamps(pd.Series(written))
    except DataError:
        assert not decided
        return
    assert decided
    assert not bad.any()
    np.testing.assert_array_equal(np.sort(stamps), np.sort(np.array(moments, "datetime64[ns]")))


@pytest.mark.slow
@settings(max_examples=50)
@given(st.text(max_size=12))
def test_no_text_breaks_the_reader(cell: str) -> None:
    stamps, bad = parse_timestamps(pd.Series(["2024-01-01", cell], dtype=object))
    assert not bad[0]
    assert bad[1] == np.isnat(stamps[1])


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["Jan-1-1995", "Feb-1-1995", "Mar-15-1995"], ["1995-01-01", "1995-02-01", "1995-03-15"]),
        (["19-Sep-03", "20-Sep-03"], ["2003-09-19", "2003-09-20"]),
        (["Sep-03", "Oct-03"], ["2003-09-01", "2003-10-01"]),
        (["1974Q1", "1974Q2"], ["1974-01-01", "1974-04-01"]),
        (["1970 Q1", "1970 Q2"], ["1970-01-01", "1970-04-01"]),
        (["1970q3", "1970q4"], ["1970-07-01", "1970-10-01"]),
        (["1995M1", "1995M12"], ["1995-01-01", "1995-12-01"]),
        (["2001 M02", "2001 M03"], ["2001-02-01", "2001-03-01"]),
    ],
)
def test_dates_of_statistical_offices_and_exchanges(cells: list[str], expected: list[str]) -> None:
    stamps, bad = parse_timestamps(pd.Series(cells))
    assert not bad.any()
    assert [str(stamp)[:10] for stamp in stamps] == expected


@pytest.mark.parametrize("digits", [2, 3, 9])
@pytest.mark.parametrize("per_year", [4, 12])
def test_years_with_a_fraction_are_months(per_year: int, digits: int) -> None:
    """As R writes the time of its monthly and quarterly series."""
    step = 12 // per_year
    months = np.arange(np.datetime64("1949-01"), np.datetime64("1961-01"), step)
    years = (1949 + np.arange(len(months)) / per_year).round(digits)
    stamps, bad = parse_timestamps(pd.Series(years))
    assert not bad.any()
    np.testing.assert_array_equal(stamps, months.astype("datetime64[ns]"))


def test_fractions_that_are_no_months_stay_bad() -> None:
    assert parse_timestamps(pd.Series([1949.0, 1949.02, 1949.04]))[1].tolist() == [False, True, True]
    assert parse_timestamps(pd.Series([0.0, 0.25, 0.5]))[1].tolist() == [False, True, True]


def test_months_of_numbered_years_are_steps() -> None:
    cells = pd.Series([f"{year}-{month:02d}" for year in (1, 2, 3) for month in range(1, 13)])
    parsed = read_stamps(cells)
    assert (parsed.stamps.tolist(), parsed.bad.any(), parsed.order) == (list(range(1, 37)), False, "year-month")
    later = read_stamps(pd.Series(["4-01", "4-02"]), date_format=parsed.order)  # as a run reads a later table
    assert later.stamps.tolist() == [37, 38]
    year = pd.date_range("2023-01-01", "2023-12-31")
    assert read_stamps(pd.Series([f"{day.day}-{day.month:02d}" for day in year])).bad.all()  # the days of a year
    assert read_stamps(pd.Series(["1-01", "1-02"])).bad.all()  # too few to tell


@pytest.mark.slow
def test_days_of_a_spreadsheet_are_read_to_the_second() -> None:
    days = pd.Series([1.0, 60.0, 45231.5, 45231.0000115741, 45231.999988426, np.nan, 1e9])
    stamps, bad = parse_timestamps(days, "t", "excel")
    expected = ["1899-12-31", "1900-02-28", "2023-11-01T12", "2023-11-01T00:00:01", "2023-11-01T23:59:59"]
    np.testing.assert_array_equal(stamps[:5], np.array(expected, "datetime64[ns]"))
    assert bad.tolist() == [False] * 5 + [True] * 2
