"""Time stamps as people and offices write them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from forecast_attn.data.timestamps import looks_like_dates, parse_timestamps, read_stamps

GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
FRENCH = "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc."
SPANISH = "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
ITALIAN = "gen feb mar apr mag giu lug ago set ott nov dic"
PORTUGUESE = "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
DUTCH = "januari februari maart april mei juni juli augustus september oktober november december"
SWEDISH = "januari februari mars april maj juni juli augusti september oktober november december"


@pytest.mark.parametrize("months", [GERMAN, FRENCH, SPANISH, ITALIAN, PORTUGUESE, DUTCH, SWEDISH])
@pytest.mark.parametrize("form", ["{month} {year}", "1 {month} {year}", "01-{month}-{year}", "1 de {month} de {year}"])
@pytest.mark.slow
def test_months_of_other_languages_are_months(months: str, form: str) -> None:
    cells = [form.format(month=name, year=year) for year in (2020, 2021) for name in months.split()]
    expected = pd.date_range("2020-01-01", periods=24, freq="MS")
    parsed = read_stamps(pd.Series(cells))
    assert not parsed.bad.any()
    np.testing.assert_array_equal(parsed.stamps, expected.to_numpy("datetime64[ns]"))


@pytest.mark.parametrize(
    ("cell", "stamp"),
    [
        ("Monday, January 04, 2021", "2021-01-04"),
        ("Mon 04 Jan 2021", "2021-01-04"),
        ("Montag, 4. Januar 2021", "2021-01-04"),
        ("January 4th, 2021", "2021-01-04"),
        ("lun. 18/01/2021 13:00", "2021-01-18T13:00"),
        ("Luna mai 2021", "2021-05-01"),
        ("Trimestrul II 2021", "2021-04-01"),
        ("18 01 2021 13:10", "2021-01-18T13:10"),
        ("1182021 1:00", "2021-01-18T01:00"),
        ("2021-01-18.75", "2021-01-18T18:00"),
        ("2021/01/18 -3", "2021-01-18"),
        ("2021年1月4日", "2021-01-04"),
        ("2021년 1월", "2021-01-01"),
        ("31.01.2021 00:00 - 31.01.2021 01:00", "2021-01-31"),
        ("31/01/2021 23:45 - 24:00", "2021-01-31T23:45"),
        ("2021-01-04/2021-01-10", "2021-01-04"),
        ("2021-01-04T05:00/2021-01-04T06:00", "2021-01-04T05:00"),
        ("FY2021", "2021-01-01"),
        ("FY2021 Q3", "2021-07-01"),
        ("Fiscal Year 2021", "2021-01-01"),
        ("2021-01-04 13:05:07,250", "2021-01-04T13:05:07.250"),
        ("1975/76", "1975-01-01"),
        ("1/2021", "2021-01-01"),
        ("11.2021", "2021-11-01"),
        ("2021:02", "2021-02-01"),
        ("2021:2", "2021-04-01"),
        ("2021, February", "2021-02-01"),
        ("Jan. 2021", "2021-01-01"),
        ("Jan. 4, 2021", "2021-01-04"),
        ("4 January, 2021", "2021-01-04"),
        ("Feb'21", "2021-02-01"),
        ("Jan-04-21", "2021-01-04"),
        ("2Q21", "2021-04-01"),
        ("Q2'98", "1998-04-01"),
        ("2021H2", "2021-07-01"),
        ("S1 2021", "2021-01-01"),
        ("2021-W1", "2021-01-04"),
        ("2021 week 1", "2021-01-04"),
        ("KW 1/2021", "2021-01-04"),
        ("2021-032", "2021-02-01"),
        ("Mon Jan  4 13:05:07 2021", "2021-01-04T13:05:07"),
        ("Mon Jan 4 13:05:07 UTC 2021", "2021-01-04T13:05:07"),
        ("Mon Jan 04 13:05:07 +0100 2021", "2021-01-04T12:05:07"),
        ("[04/Jan/2021:13:05:07 +0100]", "2021-01-04T12:05:07"),
        ("04JAN2021", "2021-01-04"),
        ("04JAN2021:13:05:07.5", "2021-01-04T13:05:07.5"),
        ("2021-01-04-13", "2021-01-04T13"),
        ("2021-01-04_13:05:07", "2021-01-04T13:05:07"),
        ("20210104_1305", "2021-01-04T13:05"),
        ("31.01.2021 13.05", "2021-01-31T13:05"),
        ("13:05 31/01/2021", "2021-01-31T13:05"),
        ("/Date(1609765507000)/", "2021-01-04T13:05:07"),
        ("2021年", "2021-01-01"),
        ("1975-1976", "1975-01-01"),
        ("FY1975/76", "1975-01-01"),
        ("Year 2021", "2021-01-01"),
        ("2021Jan", "2021-01-01"),
        ("2021/Feb", "2021-02-01"),
        ("FEB2021", "2021-02-01"),
        ("fév/21", "2021-02-01"),
        ("M02 2021", "2021-02-01"),
        ("2021_02", "2021-02-01"),
        ("Apr-Jun 2021", "2021-04-01"),
        ("2021 Apr - Jun", "2021-04-01"),
        ("2021-T2", "2021-04-01"),
        ("T2 2021", "2021-04-01"),
        ("2021:Q2", "2021-04-01"),
        ("2021 II", "2021-04-01"),
        ("IV/2021", "2021-10-01"),
        ("2. Quartal 2021", "2021-04-01"),
        ("2nd quarter 2021", "2021-04-01"),
        ("2e trimestre 2021", "2021-04-01"),
        ("1. KW 2021", "2021-01-04"),
        ("40/2021", "2021-10-04"),
        ("2021-40", "2021-10-04"),
        ("week ending 17/01/2021", "2021-01-17"),
        ("1 W/E 01/17/21", "2021-01-17"),
        ("Week of Jan 4, 2021", "2021-01-04"),
        ("'2021-01-04", "2021-01-04"),
        ('="2021-01-04"', "2021-01-04"),
        ("X2021.01.04", "2021-01-04"),
        ("2021_01_04", "2021-01-04"),
        ("2021-01-04+01:00", "2021-01-04"),
        ("2021-01-04Z", "2021-01-04"),
        ("2021-01-04 (Mon)", "2021-01-04"),
        ("31.01.2021 So", "2021-01-31"),
        ("20/Jan/2021", "2021-01-20"),
        ("20.Dez.2021", "2021-12-20"),
        ("20/Jan/21 1:05 PM", "2021-01-20T13:05"),
        ("20/01/2021 1:05p", "2021-01-20T13:05"),
        ("FY21-Q2", "2021-04-01"),
        ("Apr 2021 [r]", "2021-04-01"),
        ("Q2 FY2021", "2021-04-01"),
        ("January 4, 2021 at 1:05 PM", "2021-01-04T13:05"),
        ("31.01.2021 um 13:05 Uhr", "2021-01-31T13:05"),
        ("31/01/2021 13h05", "2021-01-31T13:05"),
        ("31/01/2021 13h", "2021-01-31T13"),
        ("2021-01-31 01-PM", "2021-01-31T13"),
        ("2021/01/04-13:05:07", "2021-01-04T13:05:07"),
        ("20210104 130507000", "2021-01-04T13:05:07"),
        ("04-JAN-2021 01.05.07.000000000 PM", "2021-01-04T13:05:07"),
        ("2021-01-04 13:05:07 +0000 UTC", "2021-01-04T13:05:07"),
        ("04-JAN-21 01.05.07.000000000 PM +01:00", "2021-01-04T12:05:07"),
        ("2021年1月4日 13时", "2021-01-04T13"),
        ("2021年01月04日13時05分07秒", "2021-01-04T13:05:07"),
        ("2021/1/4 下午 01:05:07", "2021-01-04T13:05:07"),
        ("2021-01-04 오전 12:05:07", "2021-01-04T00:05:07"),
        ("2021. 1. 4. 오후 1:05:07", "2021-01-04T13:05:07"),
        ("2021. 1. 4.", "2021-01-04"),
        ("2021/1/4(月)", "2021-01-04"),
        ("2021-01-04 星期一", "2021-01-04"),
        ("令和3年1月4日", "2021-01-04"),
        ("民國110年1月4日", "2021-01-04"),
        ("110年01月", "2021-01-01"),
        ("110/01/04", "2021-01-04"),
        ("110/1/4 下午 01:05", "2021-01-04T13:05"),
        ("平成元年", "1989-01-01"),
        ("2021年第2季度", "2021-04-01"),
        ("2021年四季度", "2021-10-01"),
        ("2021년 2분기", "2021-04-01"),
        ("31/01/2021 01:05:07 p. m.", "2021-01-31T13:05:07"),
        ("31/01/2021 1:05\u00a0p.\u00a0m.", "2021-01-31T13:05"),
        ("2021_01_04_13_05", "2021-01-04T13:05"),
        ("2021-01-04-13-05-07", "2021-01-04T13:05:07"),
        ("01/31/2021 1305", "2021-01-31T13:05"),
        ("4-10 January 2021", "2021-01-04"),
        ("Dec 28 - Jan 3, 2021", "2020-12-28"),
        ("FY21", "2021-01-01"),
        ("FY98/99", "1998-01-01"),
    ],
)
def test_a_written_date_is_the_day_it_names(cell: str, stamp: str) -> None:
    parsed = read_stamps(pd.Series([cell]))
    assert not parsed.bad.any()
    assert parsed.stamps[0] == np.datetime64(stamp)


@pytest.mark.parametrize(
    ("cell", "offset"),
    [
        ("2021-01-04 13:00 UTC", 0),
        ("2021-01-04 13:00 CET", 3600),
        ("2021-07-04 13:00 (MESZ)", 7200),
        ("2021-01-04 13:00:00 EST", -18000),
        ("Jan 4, 2021 1:00:00 PM PST", -28800),
        ("Jan 4, 2021, 1:00 p.m. CST", -21600),
        ("4 Jan 2021 1:00PM UT", 0),
        ("2021-01-04 13:00:00.000 NZDT", 46800),
        ("4 janv. 2021 13:00:00 UTC+1", 3600),
        ("2021-01-04 13:00 GMT-3:30", -12600),
        ("Mon, 04 Jan 2021 13:00:00 GMT", 0),
        ("Mon, 04 Jan 2021 13:00:00 +0100 (CET)", 3600),
        ("2021-01-04T13:00+01:00[Europe/Berlin]", 3600),
        ("Mon Jan 04 2021 13:00:00 GMT+0100 (Central European Standard Time)", 3600),
    ],
)
def test_names_of_zones_are_offsets(cell: str, offset: int) -> None:
    parsed = read_stamps(pd.Series([cell]))
    assert not parsed.bad.any()
    assert parsed.offsets is not None
    assert parsed.offsets[0] == offset

    local = parsed.stamps[0] + np.timedelta64(offset, "s")
    assert local == np.datetime64("2021-07-04T13" if "-07-" in cell else "2021-01-04T13")


def test_years_of_the_republic_of_two_digits_follow_those_of_three() -> None:
    """Newest first; a column that begins with 99/12/31 says nothing of such years."""
    cells = ["100/01/03", "99/12/31", "99/12/30", None, "x"]
    parsed = read_stamps(pd.Series(cells))
    assert parsed.bad.tolist() == [False, False, False, True, True]
    assert parsed.stamps[:2].astype("datetime64[D]").astype(str).tolist() == ["2011-01-03", "2010-12-31"]
    assert read_stamps(pd.Series(cells[::-1][2:])).bad.tolist()[-1]
    for cells in (["113/13/01"], ["120/80"], ["150/01/02"], ["113-01-02"]):
        assert not looks_like_dates(pd.Series(cells)), cells


def test_seasons_are_no_months() -> None:
    months = read_stamps(pd.Series([f"{year}/{month:02d}" for year in (2000, 2001) for month in range(1, 13)]))
    assert months.stamps[1] == np.datetime64("2000-02-01")
    seasons = read_stamps(pd.Series([f"{year}/{(year + 1) % 100:02d}" for year in range(1995, 2020)]))
    np.testing.assert_array_equal(seasons.stamps.astype("datetime64[Y]").astype(int) + 1970, np.arange(1995, 2020))


def test_a_number_before_a_month_is_a_year_where_months_follow_each_other() -> None:
    months = pd.date_range("2018-01-01", periods=30, freq="MS")
    np.testing.assert_array_equal(read_stamps(pd.Series(months.strftime("%y-%b"))).stamps, months.to_numpy())
    assert read_stamps(pd.Series(pd.date_range("2018-01-01", periods=60).strftime("%d-%b"))).bad.all()


@pytest.mark.parametrize("mark", [":", "-", "/", "_", "."])
def test_numbers_beside_a_year_are_quarters_where_all_years_have_four(mark: str) -> None:
    quarters = pd.date_range("1974-01-01", periods=23, freq="QS")
    cells = [f"{each.year}{mark}{each.quarter:02d}" for each in quarters]
    parsed = read_stamps(pd.Series(cells))
    np.testing.assert_array_equal(parsed.stamps, quarters.to_numpy("datetime64[ns]"))
    later = read_stamps(pd.Series(cells[-2:]), date_format=parsed.order)  # as a run reads a later table
    np.testing.assert_array_equal(later.stamps, parsed.stamps[-2:])
    months = read_stamps(pd.Series([*cells, f"1980{mark}05"])).stamps  # the fifth is a month, and so are the others
    assert (months[1], months[-1]) == (np.datetime64("1974-02-01"), np.datetime64("1980-05-01"))


@pytest.mark.parametrize("form", ["{year}/{week:02d}", "{year}-{week:02d}", "{week:02d}/{year}"])
def test_numbers_beside_a_year_are_weeks_where_some_are_no_months(form: str) -> None:
    weeks = pd.date_range("2021-01-04", periods=60, freq="7D")
    parts = [(week.isocalendar().year, week.isocalendar().week) for week in weeks]
    parsed = read_stamps(pd.Series([form.format(year=year, week=week) for year, week in parts]))
    np.testing.assert_array_equal(parsed.stamps, weeks.to_numpy("datetime64[ns]"))
    assert not parsed.bad.any()


@pytest.mark.parametrize(
    "cell",
    [
        "2021-01-04 13:00 MSKT LHR",
        "Flight 13:00 LHR",
        "Mai",
        "Montag",
        "FY",
        "1975/79",
        "set 12",
        "Total 2010",
        "A1234",
        "54-2021",
    ],
)
def test_what_names_no_day_is_no_date(cell: str) -> None:
    assert not looks_like_dates(pd.Series([cell] * 3))


def test_periods_behind_the_point_of_a_year_are_months_or_quarters() -> None:
    """As Shiller writes the S&P 500, in single precision too, and as EViews writes quarters."""
    months, quarters = pd.date_range("1947-01-01", periods=40, freq="MS"), pd.date_range("1947", periods=20, freq="QS")
    for dates, numbers in (
        (months, months.year + months.month / 100),
        (months, (months.year + months.month / 100).astype(np.float32)),
        (quarters, quarters.year + quarters.quarter / 10),
        (quarters, quarters.year + quarters.quarter / 100),
        (quarters[::2], quarters[::2].year + (quarters[::2].quarter // 2 + 1) / 10),
        (months, months.month + months.year / 10_000),  # 01.1947, as the Swiss write it
    ):
        parsed = read_stamps(pd.Series(numbers))
        np.testing.assert_array_equal(parsed.stamps, dates.to_numpy("datetime64[ns]"))
    assert read_stamps(pd.Series(1900 + np.arange(40) / 10)).bad.any()


def test_fractions_and_codes_are_no_dates() -> None:
    for cells in (["1/2", "11/12", "3/4"], ["12-3456", "11-9999"], ["AB 12.5"], ["1234-567"], ["May. be"]):
        assert not looks_like_dates(pd.Series(cells * 5)), cells


@pytest.mark.slow
def test_a_month_that_is_an_english_word_is_one_beside_others() -> None:
    stamps, bad = parse_timestamps(pd.Series(["jul-05", "ago-05", "ene-06"], dtype="str"))
    assert (stamps[1], bad.any()) == (np.datetime64("2005-08-01"), False)
    assert parse_timestamps(pd.Series(["ago-05", "ago-06"], dtype="str"))[1].all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cells", "second"),
    [
        (
            ["2014-05-07 13:29:50+0100 [Europe/London]", "2014-05-07 13:30:20+0100 [Europe/London]"],
            "2014-05-07T12:30:20",
        ),
        (["2001-02", "2002-03*"], "2002"),
        (["1998-99", "1999-00*"], "1999"),
    ],
)
def test_marks_behind_a_date_are_no_part_of_it(cells: list[str], second: str) -> None:
    stamps, bad = parse_timestamps(pd.Series(cells, dtype="str"))
    assert (stamps[1].astype(str)[: len(second)], bad.any()) == (second, False)


@pytest.mark.parametrize(
    "cells",
    [
        ["02Ene15", "03Ago15", "04Set15"],
        ["02JAN2015", "03AUG2015", "04SEP2015"],
        [
            "1/2/2015 12:00:00.000 AM",
            "8/3/2015 12:00:00.000 AM",
            "9/4/2015 12:00:00.000 AM",
            "9/30/2015 1:00:00.000 PM",
        ],
        ["02:01:2015", "03:08:2015", "04:09:2015", "31:12:2015"],
    ],
)
def test_forms_of_the_same_three_dates(cells: list[str]) -> None:
    read, bad = parse_timestamps(pd.Series(cells, dtype="str"))
    assert not bad.any()
    np.testing.assert_array_equal(read[:3], np.array(["2015-01-02", "2015-08-03", "2015-09-04"], "datetime64[ns]"))


@pytest.mark.parametrize(
    ("cells", "stamps"),
    [
        (["31/01/2024 00", "31/01/2024 23"], ["2024-01-31T00", "2024-01-31T23"]),
        (["2024 / 01", "2024 / 12"], ["2024-01-01", "2024-12-01"]),
        (["31 / 01 / 2024", "1 / 02 / 2024"], ["2024-01-31", "2024-02-01"]),
        (["ke 1 tammi 2014 00:00", "to 2 joulu 2014 13:00"], ["2014-01-01T00", "2014-12-02T13"]),
        (["пн 01.01.2024", "вт 30.01.2024"], ["2024-01-01", "2024-01-30"]),
    ],
)
def test_forms_of_dates(cells: list[str], stamps: list[str]) -> None:
    read, bad = parse_timestamps(pd.Series(cells, dtype="str"))
    assert not bad.any()
    np.testing.assert_array_equal(read, np.array(stamps, "datetime64[ns]"))


def test_dates_of_thailand_are_those_of_our_calendar() -> None:
    stamps, bad = parse_timestamps(pd.Series(["31/01/2567", "29/02/2567", "01/03/2567"]), date_format="day-first")
    assert not bad.any()
    assert [*stamps.astype("datetime64[D]").astype(str)] == ["2024-01-31", "2024-02-29", "2024-03-01"]


def test_dates_of_iran_go_on_by_a_day_from_a_new_year_that_is_known() -> None:
    """Months are counted one by one; the years of 366 days are those that the calendars of Iran had."""
    long_years = (1375, 1379, 1383, 1387, 1391, 1395, 1399, 1403)
    months = [(year, month) for year in range(1375, 1404) for month in range(1, 13)]
    lengths = [31 if month <= 6 else 30 if month < 12 or year in long_years else 29 for year, month in months]
    pairs = zip(months, lengths, strict=True)
    cells = [f"{year}/{month:02}/{day:02}" for (year, month), length in pairs for day in range(1, length + 1)]
    stamps, bad = parse_timestamps(pd.Series(cells))
    assert not bad.any()
    assert [*stamps] == [*pd.date_range("1996-03-20", periods=len(cells)).to_numpy()]


@pytest.mark.parametrize("cell", ["1402/12/30", "1402/07/31", "1402/13/01"])
def test_days_that_the_calendar_of_iran_has_not_are_no_stamps(cell: str) -> None:
    assert parse_timestamps(pd.Series(["1402/12/29", cell]))[1].tolist() == [False, True]
