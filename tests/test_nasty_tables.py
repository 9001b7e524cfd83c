"""Tables as offices, instruments and spreadsheets write them: the options that `forecast check` finds for each."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking import examine
from forecast_attn.checking.commands import find_proposals
from forecast_attn.checking.fix import fix_table
from forecast_attn.config.options import DataConfig

pytestmark = pytest.mark.slow

DAYS = pd.date_range("2021-01-01", periods=60)
VALUES = [1500 + 10 * (at % 7) + at / 4 for at in range(60)]


def rows(line: Callable[[pd.Timestamp, float], str], stamps: pd.DatetimeIndex = DAYS) -> str:
    values = (VALUES * (len(stamps) // 60 + 1))[: len(stamps)]
    return "".join(line(stamp, value) + "\n" for stamp, value in zip(stamps, values, strict=True))


def european(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def marked(mark: str) -> str:
    cells = [mark if at in (20, 31) else f"{value}" for at, value in enumerate(VALUES)]
    return "date,y\n" + "".join(f"{day:%Y-%m-%d},{cell}\n" for day, cell in zip(DAYS, cells, strict=True))


def serial_day(stamp: pd.Timestamp) -> float:
    """The number of a day and its fraction in the cell of a spreadsheet."""
    return (stamp - pd.Timestamp("1899-12-30")) / pd.Timedelta(days=1)


HOURS = pd.date_range("2021-01-01", periods=24 * 8, freq="h")
AUTUMN = pd.date_range("2021-10-25", periods=24 * 14, freq="h", tz="Europe/Berlin")
SPRING = pd.date_range("2021-03-20", periods=24 * 14, freq="h", tz="Europe/London")
SPRING_OF_CHICAGO = pd.date_range("2021-03-01", periods=24 * 21, freq="h", tz="America/Chicago")
TABLES: dict[str, tuple[str, dict[str, Any], str]] = {
    "european thousands, a sum below": (
        "Datum;Umsatz\n" + rows(lambda day, value: f"{day:%d.%m.%Y};{european(value)}") + "Summe;90.000,00\n",
        {"decimal": ",", "skip_footer": 1},
        "D",
    ),
    "days that are counted, with several eggs each": (
        "day,weight\n" + "".join(f"{1 + at // 4},{50 + at * at % 11}\n" for at in range(240)),
        {"time": "day", "season": "7", "resample": "1"},
        "1",
    ),
    "names above units, between blanks": (
        "Test flight\nTime  Roll  Pitch  Yaw\ns     deg   deg    deg\n"
        + "".join(f"{0.02 * at:.2f}  {VALUES[at]}  {at % 7 + 0.5}  {at % 5 - 0.5}\n" for at in range(60)),
        {
            "delimiter": "blanks",
            "header_rows": 2,
            "skip_rows": 1,
            "time": "Time s",
            "date_format": "0.02",
            "season": "7",
            "target": "Roll deg",
        },
        "1",
    ),
    "american thousands": (
        "date,sales\n" + rows(lambda day, value: f'{day:%Y-%m-%d},"{value:,.2f}"'),
        {"decimal": "."},
        "D",
    ),
    "dollars": ("date,sales\n" + rows(lambda day, value: f'{day:%Y-%m-%d},"${value:,.2f}"'), {"decimal": "."}, "D"),
    "units": ("date,load\n,MW\n" + rows(lambda day, value: f"{day:%Y-%m-%d},{value}"), {"undated_rows": "drop"}, "D"),
    "names in three lines": (
        "Price,Close\nTicker,A\nDate,\n" + rows(lambda day, value: f"{day:%Y-%m-%d},{value}"),
        {"header_rows": 3},
        "D",
    ),
    "names of two levels above that of the days": (
        f",{'wind,' * 23}wind\nHour,{','.join(map(str, range(24)))}\nDay{24 * ','}\n"
        + "".join(
            f"{day}" + "".join(f",{math.sin(day * (hour + 1)) + 9:.3f}" for hour in range(24)) + "\n"
            for day in range(60)
        ),
        {"header_rows": 3, "time": "Hour Day", "wide": True},
        "1",
    ),
    "names below titles and codes": (
        "Contents,Data 1: Gas (MMcf)\nSourcekey,N9140\nDate,Gas\n" + rows(lambda day, value: f"{day:%Y-%m-%d},{value}"),
        {"skip_rows": 2},
        "D",
    ),
    "names above units and statistics, below the name of the logger": (
        "TOA5,mast,CR1000,7\nTIMESTAMP,wind,gust,rain\nTS,m/s,m/s,mm\n,Avg,Max,Tot\n"
        + rows(lambda day, value: f"{day:%Y-%m-%d},{value},{value + 2},{value % 3}"),
        {"skip_rows": 1, "undated_rows": "drop", "target": "wind"},
        "D",
    ),
    "names with a blank above thousands in quotes": (
        "Hour Ending,coast\n" + rows(lambda hour, value: f'{hour:%Y-%m-%d %H:%M},"{value:,.2f}"', HOURS),
        {"decimal": "."},
        "h",
    ),
    "blanks": ("date  y\n" + rows(lambda day, value: f"{day:%Y-%m-%d}   {value}"), {"delimiter": "blanks"}, "D"),
    "numbers between blanks": (
        "# carbon dioxide\n" + rows(lambda day, value: f"  {day.day_of_year} {value} -99.99"),
        {"delimiter": "blanks", "header": False, "comment": "#", "time": "column_1", "target": "column_2"},
        "1",
    ),
    "sums between rows": (
        "date,y\n" + rows(lambda day, v: f"{day:%Y-%m-%d},{v}" + (f"\nTotal {day:%B},{v}" if day.day == 28 else "")),
        {"undated_rows": "drop"},
        "D",
    ),
    "bank": (
        '"Source","Indicators",\n\n"Updated","2024",\n\n"Country","Indicator",'
        + ",".join(f'"{year}"' for year in range(1960, 2000))
        + ",\n"
        + "".join(f'"{name}","Population, total",' + ",".join(map(str, VALUES[:40])) + ",\n" for name in "ABC"),
        {"skip_rows": 4, "layout": "rows"},
        "YS-JAN",
    ),
    "hours across": (
        "Date,"
        + ",".join(f"H{hour:02d}" for hour in range(1, 25))
        + "\n"
        + "".join(f"{day:%Y-%m-%d}," + ",".join(map(str, VALUES[:24])) + "\n" for day in DAYS),
        {"layout": "calendar"},
        "h",
    ),
    "hours across, of several zones": (
        "zone_id,year,month,day,"
        + ",".join(f"h{hour}" for hour in range(1, 25))
        + "\n"
        + "".join(
            f"{zone},{day.year},{day.month},{day.day}," + ",".join(map(str, VALUES[zone : zone + 24])) + "\n"
            for zone in (1, 2)
            for day in DAYS
        ),
        {"layout": "calendar", "item_id": "zone_id"},
        "h",
    ),
    "months across, of several places": (
        "Country,Year,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec\n"
        + "".join(
            f"{country},{year}," + ",".join(map(str, VALUES[:12])) + "\n"
            for country in "AB"
            for year in range(2001, 2009)
        ),
        {"layout": "calendar", "item_id": "Country"},
        "MS",
    ),
    "a word behind the last values": (
        "yyyy mm tmax rain\n"
        + "".join(
            f"{month.year} {month.month} {VALUES[at]} {at % 7}{'  Provisional' if at > 54 else ''}\n"
            for at, month in enumerate(pd.date_range("2001-01-01", periods=60, freq="MS"))
        ),
        {"delimiter": "blanks", "time": "yyyy,mm", "target": "tmax"},
        "MS",
    ),
    "a remark of several words behind one row": (
        "# carbon dioxide\n# by month\n"
        + "".join(
            f"{month.year} {month.month:2d}  {VALUES[at]}{'  as of its neighbours, + 2' if at == 40 else ''}\n"
            for at, month in enumerate(pd.date_range("2001-01-01", periods=60, freq="MS"))
        ),
        {"delimiter": "blanks", "header": False, "comment": "#", "time": "column_1,column_2"},
        "MS",
    ),
    "a remark behind one row without names": (
        rows(lambda day, value: f"{day:%Y-%m-%d};{value}{';power cut' if day.day == 7 else ''}"),
        {"header": False},
        "D",
    ),
    "three tables below each other": (
        "Body\nDate,Weight\n"
        + rows(lambda day, value: f'"{day:%Y-%m-%d}","{value}"', DAYS[:20])
        + "\nActivities\nDate,Steps,Floors\n"
        + rows(lambda day, value: f'"{day:%Y-%m-%d}","{value:,.1f}","{day.day % 7}"')
        + "\nSleep\nStart,Minutes\n"
        + rows(lambda day, value: f'"{day:%Y-%m-%d}","{value}"', DAYS[:20]),
        {"skip_rows": 24, "skip_footer": 22, "decimal": ".", "target": "Steps"},
        "D",
    ),
    "two tables of one width below each other": (
        "date,open\n"
        + rows(lambda day, value: f"{day:%Y-%m-%d},{value}", DAYS[:20])
        + "\ndate,close\n"
        + rows(lambda day, value: f"{day:%Y-%m-%d},{value}"),
        {"skip_rows": 22},
        "D",
    ),
    "weeks on other weekdays in each series": (
        "show,date,viewers\n"
        + "".join(
            f"{show},{day:%Y-%m-%d},{value}\n"
            for show, first in enumerate(("2021-01-05", "2021-01-06", "2021-01-14"), 1)
            for day, value in zip(pd.date_range(first, periods=15, freq="7D"), VALUES, strict=False)
        ),
        {"item_id": "show", "resample": "W-MON"},
        "W-MON",
    ),
    "answers in words and numbers": (
        "stamp,height\n"
        + rows(
            lambda stamp, value: (
                (f"{stamp:%Y-%m-%d %H:%M},{value}\n" * (1 + stamp.day % 2)).rstrip()
                + f"\n{stamp:%Y-%m-%d %H:%M},about {value}' {stamp.day}"
            ),
            pd.date_range("2021-01-01", periods=300, freq="D"),
        ),
        {"target": "row-count", "resample": "D", "aggregate": "sum", "missing": "zero", "ignore": ("height",)},
        "D",
    ),
    "a buoy's names and units behind the mark of comments": (
        "#YY  MM DD hh mm WSPD  GST\n#yr  mo dy hr mn  m/s  m/s\n"
        + rows(lambda stamp, value: f"{stamp:%Y %m %d %H 50} {value:6.1f}   MM", HOURS),
        {"delimiter": "blanks", "comment": "#yr", "time": "#YY,MM,DD,hh,mm"},
        "h",
    ),
    "names behind a mark of comments of its own": (
        "# of a model\n# day load rain\n" + rows(lambda day, value: f"{day:%Y-%m-%d} {value:.2f} {day.day % 5}"),
        {"delimiter": "blanks", "skip_rows": 1, "target": "load"},
        "D",
    ),
    "hours of one month below a title, without names": (
        "PRICES;\n"
        + "".join(f"2023;01;{day:02d};{hour};{VALUES[hour] + day}\n" for day in range(1, 9) for hour in range(1, 25))
        + "*\n",
        {"skip_rows": 1, "header": False, "skip_footer": 1, "time": "column_1,column_2,column_3,column_4"},
        "h",
    ),
    "two tables without a line between them": (
        "date,open\n"
        + rows(lambda day, value: f"{day:%Y-%m-%d},{value}", DAYS[:20])
        + "date,close,volume\n"
        + rows(lambda day, value: f"{day:%Y-%m-%d},{value},{day.day}"),
        {"skip_rows": 21, "target": "close"},
        "D",
    ),
    "a rule with blanks below the names": (
        "DATE        TEMP   RAIN\n----------  -----  ----\n"
        + rows(lambda day, value: f"{day:%Y-%m-%d}  {value:5.1f}  {day.day % 5:4.1f}"),
        {"delimiter": "blanks", "comment": "--", "target": "TEMP"},
        "D",
    ),
    "limits of a laboratory": (
        "date,nitrate\n" + rows(lambda day, value: f"{day:%Y-%m-%d},{f'<0.{day.day}' if day.day % 6 == 0 else value}"),
        {"na": ("<0.6", "<0.12", "<0.18", "<0.24", "<0.30"), "missing": "mask"},
        "D",
    ),
    "thousands of dollars between tabs": (
        "date\tsales\n" + rows(lambda day, value: f"{day:%Y-%m-%d}\t${value * 100:,.0f}"),
        {"decimal": "."},
        "D",
    ),
    "footnotes in brackets": (
        "year,production\n"
        + "".join(f"{1950 + at},{v}{' (p)' if at > 50 else '[1]' if at == 9 else ''}\n" for at, v in enumerate(VALUES)),
        {},
        "1",
    ),
    "a row of no series": (
        "date,shop,y\n"
        + rows(lambda day, value: f"{day:%Y-%m-%d},A,{value}\n{day:%Y-%m-%d},{'' if day == DAYS[30] else 'B'},{value}"),
        {"item_id": "shop", "undated_rows": "drop"},
        "D",
    ),
    "years named once, with a sum below each": (
        "Year,Month,Sales\n"
        + "".join(
            f"{month.year if month.month == 1 else ''},{month:%B},{VALUES[at]:.0f}\n"
            + (f"{month.year} Total,,{VALUES[at] * 12:.0f}\n" if month.month == 12 else "")
            for at, month in enumerate(pd.date_range("2015-01-01", periods=60, freq="MS"))
        ),
        {"layout": "merged", "undated_rows": "drop", "time": "Year,Month"},
        "MS",
    ),
    "a day that there is none of": (
        "year,month,day,kwh\n" + rows(lambda day, value: f"{day:%Y,%-m},{36 if day == DAYS[30] else day.day},{value}"),
        {"time": "year,month,day", "undated_rows": "drop"},
        "D",
    ),
    "names below titles with numbers": (
        "Bureau of Statistics,,\nUnit,Index,Percent\nMonth,3,3\nNo. Obs,60,60\nSeries ID,A23,A25\n"
        + rows(lambda day, value: f"{day:%Y-%m-%d},{value},{value / 100}"),
        {"skip_rows": 4, "target": "A23"},
        "D",
    ),
    "years beside their quarters across": (
        "item,"
        + ",".join(f"{part} {year}" for year in range(2012, 2022) for part in ("Q1", "Q2", "Q3", "Q4", "FY"))
        + "\n"
        + "".join(f"{name}," + ",".join(map(str, VALUES[:50])) + "\n" for name in ("costs", "profit")),
        {"layout": "rows"},
        "QS-JAN",
    ),
    "one line of numbers": (
        ",".join("nan" if at == 30 else str(value) for at, value in enumerate(VALUES * 10)) + "\n",
        {"header": False, "layout": "rows"},
        "1",
    ),
    "names below a title and above units": (
        "Station A,,\nDate,Temp,Rain\n,degC,mm\n" + rows(lambda day, value: f"{day:%Y-%m-%d},{value},{day.day % 5}"),
        {"skip_rows": 1, "undated_rows": "drop", "target": "Temp"},
        "D",
    ),
    "two numbers of the row, one of them named by pandas": (
        ",Unnamed: 0,date,y\n" + rows(lambda day, value: f"{day.day_of_year},{day.day_of_year},{day:%Y-%m-%d},{value}"),
        {},
        "D",
    ),
    "years across": (
        "Month,"
        + ",".join(map(str, range(2005, 2020)))
        + "\n"
        + "".join(
            f"{month}," + ",".join(map(str, VALUES[:15])) + "\n"
            for month in ["Jan", "Feb", "Mar", "April", "May", "June", "July", "Aug", "Sept", "Oct", "Nov", "Dec"]
        ),
        {"layout": "calendar"},
        "MS",
    ),
    "seconds": (
        "time,y\n" + rows(lambda hour, value: f"{int(hour.timestamp())},{value}", HOURS),
        {"date_format": "s"},
        "h",
    ),
    "milliseconds as floats": (
        "t,y\n" + rows(lambda hour, value: f"{int(hour.timestamp()) * 1000}.0,{value}", HOURS),
        {"time": "t", "date_format": "ms"},
        "h",
    ),
    "summer time": (
        "time,y\n" + rows(lambda hour, value: f"{hour:%Y-%m-%d %H:%M},{value}", AUTUMN),
        {"tz": "Europe/Berlin"},
        "h",
    ),
    "hours of a spreadsheet": (
        "Zeit,y\n" + rows(lambda hour, value: f"{serial_day(hour):.8f},{value}", HOURS),
        {"time": "Zeit", "date_format": "excel"},
        "h",
    ),
    "dates of a spreadsheet": (
        "date,y\n" + rows(lambda day, value: f"{serial_day(day):.0f},{value}"),
        {"date_format": "excel"},
        "D",
    ),
    "months of a spreadsheet": (
        "p,y\n" + rows(lambda m, v: f"{serial_day(m):.0f},{v}", pd.date_range("2011-01-01", periods=60, freq="MS")),
        {"time": "p", "date_format": "excel"},
        "MS",
    ),
    "steps as large as the days of a spreadsheet": (
        "step,y\n" + rows(lambda day, value: f"{serial_day(day):.0f},{value}"),
        {},
        "1",
    ),
    "summer time begins": (
        "time,y\n" + rows(lambda hour, value: f"{hour:%Y-%m-%d %H:%M},{value}", SPRING),
        {"tz": "Europe/London"},
        "h",
    ),
    "summer time of one of four zones begins, and the first is named": (
        "time,y\n" + rows(lambda hour, value: f"{hour:%Y-%m-%d %H:%M},{value}", SPRING_OF_CHICAGO),
        {"tz": "America/New_York"},
        "h",
    ),
    "months as digits": (
        "yyyymm,ret\n" + rows(lambda m, value: f"{m:%Y%m},{value}", pd.date_range("2001-01-01", periods=60, freq="MS")),
        {"time": "yyyymm", "date_format": "%Y%m"},
        "MS",
    ),
    "a question mark": (marked("?"), {"na": ("?",)}, "D"),
    "a hyphen": (marked("-"), {"na": ("-",)}, "D"),
    "an error of a sheet": (marked("#DIV/0!"), {"na": ("#DIV/0!",)}, "D"),
    "nines": (marked("-9999.0"), {"na": ("-9999",)}, "D"),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_options_that_read_a_table_are_found(tmp_path: Path, name: str) -> None:
    text, options, step = TABLES[name]
    path = tmp_path / "table.csv"
    path.write_text(text)
    proposal = find_proposals(path, DataConfig(), most=2)[0]
    assert dict(proposal.options) == options
    assert proposal.step == step


def test_each_of_several_tables_gets_a_command_that_names_its_lines(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(TABLES["two tables without a line between them"][0])
    tried = [line for line in forecast("train", path).err.splitlines() if line.startswith("try: ")]
    assert tried[0].endswith(", of the table in lines 22 to 82")
    assert tried[-1].endswith(", of the table in lines 1 to 21")


@pytest.mark.parametrize(("zone", "advised"), [("Europe/London", "Europe/London"), ("America/Chicago", "America/")])
def test_a_gap_of_spring_advises_a_zone_that_has_it(tmp_path: Path, zone: str, advised: str) -> None:
    hours = pd.date_range("2021-03-01", periods=24 * 40, freq="h", tz=zone)
    path = tmp_path / "table.csv"
    path.write_text("time,y\n" + rows(lambda hour, value: f"{hour:%Y-%m-%d %H:%M},{value}", hours))
    gap = next(each for each in examine(path, DataConfig()).findings if each.code == "FA204")
    assert f"--tz {advised}" in str(gap.fix)


def test_a_gap_of_another_sunday_is_no_change_of_the_clock(tmp_path: Path) -> None:
    hours = pd.date_range("2021-05-01", periods=24 * 20, freq="h").drop(pd.Timestamp("2021-05-09 02:00"))
    path = tmp_path / "table.csv"
    path.write_text("time,y\n" + rows(lambda hour, value: f"{hour:%Y-%m-%d %H:%M},{value}", hours))
    assert [each.code for each in examine(path, DataConfig()).findings] == ["FA214"]


def test_numbers_are_those_in_the_cells(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    cells = ["$1", "($2.50)", "$3-", "-$4", "$ 5"]
    days = pd.date_range("2021-01-01", periods=5).strftime("%Y-%m-%d")
    path.write_text(
        "date;dollars;grouped;share\n"
        + "".join(
            f"{day};{cell};{group};{at}.5 %\n"
            for at, (day, cell, group) in enumerate(
                zip(days, cells, ["1 234.5", "1'000", "12", "-1\u202f000\u202f000", "7"], strict=True)
            )
        )
    )
    report = examine(path, DataConfig(target="dollars", lookback=1, horizon=1))
    frame = report.frame
    assert frame is not None
    np.testing.assert_array_equal(frame["dollars"], [1, -2.5, -3, -4, 5])
    np.testing.assert_array_equal(frame["grouped"], [1234.5, 1000, 12, -1_000_000, 7])
    np.testing.assert_array_equal(frame["share"], [0.5, 1.5, 2.5, 3.5, 4.5])
    assert [finding.column for finding in report.findings if finding.code == "FA109"] == ["dollars", "grouped", "share"]


def test_one_sign_among_plain_numbers_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("date,y\n" + "".join(f"{day:%Y-%m-%d},{at}{'%' * (at == 9)}\n" for at, day in enumerate(DAYS)))
    assert [finding.code for finding in examine(path, DataConfig()).findings if finding.severity == "error"] == [
        "FA103"
    ]


@pytest.mark.parametrize("name", ["european thousands, a sum below", "a hyphen", "hours across"])
def test_a_table_is_repaired_with_the_options_of_its_command(tmp_path: Path, name: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(TABLES[name][0])
    config = DataConfig(**find_proposals(path, DataConfig(), most=2)[0].options)
    _, fixed = fix_table(path, config)
    assert fixed is not None
    clean = tmp_path / "clean.csv"
    clean.write_text(fixed.csv)
    missing = "mask" if config.na else "auto"
    again, first = examine(clean, DataConfig(missing=missing)), examine(path, config)
    assert again.panel is not None
    assert first.panel is not None
    np.testing.assert_array_equal(again.panel.target, first.panel.target)
    np.testing.assert_array_equal(again.panel.timestamps, first.panel.timestamps)


def test_the_unit_of_times_since_1970_is_that_of_the_numbers_and_not_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    lines = "".join(f"{1_600_000_000 + 3600 * at},{value}\n" for at, value in enumerate(VALUES))
    path.write_text("milliseconds,y\n" + lines)
    first, *_ = find_proposals(path, DataConfig(time="milliseconds", lookback=4, horizon=2), most=2)
    assert first.options["date_format"] == "s"


def test_a_printed_command_forecasts_without_values_that_nobody_has(forecast: Callable, tmp_path: Path) -> None:
    """A column goes on behind the likeliest target, but with holes: it is not known ahead."""
    rows = [
        f"{region},{day:%Y-%m-%d},{100 + (7 * at + 3 * len(region)) % 23 if at < 48 else ''},"
        f"{'' if at > 48 and at % 5 == 0 else 5 * at % 11}\n"
        for region in ("north", "southern")
        for at, day in enumerate(DAYS)
    ]
    path = tmp_path / "table.csv"
    path.write_text("region,date,cases,others\n" + "".join(rows))
    first = find_proposals(path, DataConfig(), most=2)[0]
    expected = {"item_id": "region", "target": "cases", "missing": "mask", "past_covariates": ("others",)}
    assert dict(first.options) == expected
    words = ("--id", "region", "--target", "cases", "--missing", "mask", "--past", "others", "--out", tmp_path / "run")
    assert forecast("train", path, *words, "--max-epochs", "1", "--hidden-size", "4").code == 0
    assert forecast("predict", tmp_path / "run").code == 0
