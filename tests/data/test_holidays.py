"""Days off: a country's by the package, the user's from a table."""

import datetime
import sys

import numpy as np
import pandas as pd
import pytest
from dateutil.easter import easter

from forecast_attn.data.frequency import parse_frequency
from forecast_attn.data.holidays import Holidays, read_dates
from forecast_attn.errors import ConfigError, DataError

VERSION = pytest.importorskip("holidays").__version__


def build(*regions: str, dates: tuple[str, ...] = ()) -> Holidays:
    holidays = Holidays.build(regions, dates)
    assert holidays is not None
    return holidays


def stamps_of(alias: str, start: str, periods: int) -> np.ndarray:
    return pd.date_range(start, periods=periods, freq=alias).to_numpy().astype("datetime64[ns]")


def german_holidays(year: int) -> set[datetime.date]:
    """By the law since 1990: six fixed days and four that follow Easter."""
    fixed = {datetime.date(year, *day) for day in ((1, 1), (5, 1), (10, 3), (12, 25), (12, 26))}
    return fixed | {easter(year) + datetime.timedelta(days) for days in (-2, 1, 39, 50)}


@pytest.mark.parametrize("year", [1999, 2016, 2024, 2031])
def test_germany_by_its_law(year: int) -> None:
    stamps = stamps_of("D", f"{year}-01-01", 365 + (year % 4 == 0))
    counts = build("DE").counts(stamps, parse_frequency("D"))[:, 0]
    assert {pd.Timestamp(stamp).date() for stamp in stamps[counts == 1]} == german_holidays(year)
    assert set(counts) == {0, 1}


def test_a_part_of_a_country_has_more_days_and_a_column_of_its_own() -> None:
    holidays = build("us-ca", "de-by", "DE")
    assert holidays.names == ("holiday_DE", "holiday_DE-BY", "holiday_US-CA")
    epiphany = holidays.counts(stamps_of("h", "2025-01-06", 24), parse_frequency("h"))
    np.testing.assert_array_equal(epiphany, np.tile([0, 1, 0], (24, 1)))


def test_years_end_inside_the_stamps() -> None:
    counts = build("DE").counts(stamps_of("D", "2024-12-30", 4), parse_frequency("D"))
    assert counts[:, 0].tolist() == [0, 0, 1, 0]


def test_no_stamps() -> None:
    assert build("DE", dates=("2024-01-01",)).counts(stamps_of("D", "2024", 0), parse_frequency("D")).shape == (0, 2)


@pytest.mark.parametrize(
    ("alias", "start", "expected"),
    [
        ("MS", "2024-05-01", [3, 0]),  # 1 and 9 and 20 May
        ("ME", "2024-05-31", [3, 0]),
        ("QS-JAN", "2024-04-01", [4, 0]),  # 1 April too
        ("QE-DEC", "2024-06-30", [4, 0]),
        ("W-SUN", "2024-05-12", [1, 0, 1]),  # the week up to the stamp
        ("W-MON", "2024-05-06", [1, 0, 1]),  # the week from the stamp on
        ("2D", "2024-04-30", [1, 0]),
        ("B", "2024-05-08", [0, 1, 0]),
        ("36h", "2024-04-30", [0, 1]),  # a day belongs to one step
    ],
)
def test_coarser_steps_count_their_holidays(alias: str, start: str, expected: list[int]) -> None:
    counts = build("DE").counts(stamps_of(alias, start, len(expected)), parse_frequency(alias))[:, 0]
    assert counts.tolist() == expected


@pytest.mark.parametrize(
    "alias", ["D", "2D", "36h", "W-MON", "W-SUN", "W-WED", "MS", "ME", "QS-FEB", "QE-NOV", "YE-DEC"]
)
def test_every_day_belongs_to_exactly_one_step(alias: str) -> None:
    days = tuple(pd.date_range("2019-06-01", "2023-06-01").strftime("%Y-%m-%d"))
    stamps = stamps_of(
        alias,
        "2018-01-01",
        3000 if alias in ("D", "36h") else 1500 if alias == "2D" else 200 if alias == "YE-DEC" else 400,
    )
    assert build(dates=days).counts(stamps, parse_frequency(alias)).sum() == len(days)


@pytest.mark.parametrize(
    ("region", "message", "hint"),
    [
        ("XX", "no public holidays are known for 'XX'", "ISO 3166"),
        ("Germany", "no public holidays are known for 'Germany'", "did you mean 'DE'"),
        ("frnce", "no public holidays are known for 'frnce'", "did you mean 'FR'"),
        ("DE-XX", "'DE' has no region 'XX'", "DE-BY"),
        ("LU-XX", "'LU' has no region 'XX'", "--holidays LU"),
        ("DE-", "no region follows 'DE-'", "--holidays DE, or one of DE-"),
    ],
)
def test_unknown_regions(region: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as error:
        Holidays.build((region,))
    assert message in error.value.message
    assert hint in str(error.value.hint)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    trained = build("DE")
    monkeypatch.setitem(sys.modules, "holidays", None)
    for use in (
        lambda: Holidays.build(("DE",)),
        lambda: trained.counts(stamps_of("D", "2024", 3), parse_frequency("D")),
    ):
        with pytest.raises(ConfigError) as error:
            use()
        assert error.value.hint == 'pip install "forecast-attn[holidays]"'
    assert Holidays.build((), ("2024-01-01",)) is not None  # dates need no package


def test_neither_regions_nor_dates() -> None:
    assert Holidays.build(()) is None


def test_written_and_read_back() -> None:
    holidays = build("DE", dates=("2024-01-02", "2024-12-24"))
    assert Holidays.from_dict(holidays.to_dict()) == holidays
    assert holidays.to_dict()["package_version"] == VERSION
    with pytest.raises(ValueError):
        Holidays.from_dict({"regions": [], "package_version": None, "dates": ["soon"]})


def test_another_version_of_the_package_is_told() -> None:
    stamps = stamps_of("D", "2024-01-01", 3)
    assert build("DE").notes(stamps) == ()
    (note,) = Holidays(("DE",), "0.1").notes(stamps)
    assert (note.code, note.severity) == ("FA521", "note")
    assert note.message == f"public holidays come from holidays {VERSION}; the run was trained with 0.1"


def test_steps_beyond_the_years_of_the_dates_are_told() -> None:
    holidays = build(dates=("2023-12-24", "2024-05-10"))
    assert holidays.notes(stamps_of("D", "2024-12-01", 31)) == ()
    (warning,) = holidays.notes(stamps_of("D", "2024-12-30", 7))
    assert (warning.code, warning.severity) == ("FA522", "warning")
    assert "end with 2024-05-10; 5 steps to forecast from 2025-01-01 on count as none" in warning.message


# --------------------------------------------------------------------------- the table of dates


@pytest.mark.parametrize("column", ["date", "Day", "closed on"])
def test_dates_are_sorted_and_each_once(column: str) -> None:
    frame = pd.DataFrame({"name": ["b", "a", "c"], column: ["2024-12-24", "2023-12-24", "2024-12-24"]})
    assert read_dates(frame, "days.csv") == ("2023-12-24", "2024-12-24")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"date": ["2024-01-01", "soon"]}, "'days.csv': column 'date' is 'soon' at row 2; expected a date"),
        ({"date": ["2024-01-01", None]}, "'days.csv': column 'date' is empty at row 2; expected a date"),
        (
            {"date": ["2024-01-01 00:00", "2024-01-02 10:00"]},
            "'days.csv': column 'date' is 2024-01-02 10:00 at row 2; expected a date without a time of day",
        ),
        ({"from": ["2024-01-01"], "to": ["2024-01-02"]}, "'days.csv' has several columns of dates: 'from', 'to'"),
        ({"name": ["Carnival"]}, "'days.csv' has no column of dates; its columns are 'name'"),
        ({"2024-01-01": ["Carnival"]}, "'days.csv' has no header line: its first line is '2024-01-01'"),
    ],
)
def test_bad_tables_of_dates(columns: dict[str, list[str]], message: str) -> None:
    with pytest.raises(DataError) as error:
        read_dates(pd.DataFrame(columns), "days.csv")
    assert error.value.message == message
