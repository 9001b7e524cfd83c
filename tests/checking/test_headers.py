"""Names of columns: none, in several lines, behind a mark of comments, between blanks, twice."""

import itertools
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking import examine
from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import (
    EIGHT_DAYS_OF_HOURS,
    MONTHS,
    NUMBERS,
    RNG,
    ROWS,
    SIXTY_VALUES,
    comma,
    csv_rows,
    date_column,
    hourly_wave,
    noise,
    values,
)
from .first_commands import FirstCommand, check_first_command, each_case


def measurements_without_names() -> pd.DataFrame:
    """As observations of a star: the day in fractions, the brightness."""
    rows = pd.DataFrame({"days": 1900 + np.cumsum(1 + RNG.random(200)), "brightness": values(200)}).round(3)
    return rows[1:].set_axis(rows.iloc[0].astype(str), axis=1)  # its first row where names are expected


def turbine_below_comments() -> str:
    """The last comment holds the names, of which some have a comma."""
    stamps = pd.date_range("2020-02-01", periods=600, freq="10min")
    rows = [
        f"{stamp:%Y-%m-%d %H:%M:%S},{speed},{speed / 9:.2f},{speed**3:.1f}"
        for stamp, speed in zip(stamps, noise(600), strict=True)
    ]
    names = '# Date and time,Wind speed (m/s),"Wind speed, Standard deviation (m/s)",Power (kW)'
    return "\n".join(["# This file was exported.", "#", "# No data: empty cells", names, *rows])


def weather_in_japanese() -> str:
    """Names stand in several lines, with a blank one between."""
    head = ["ダウンロード", "", ",東京,東京,東京", "年月日,平均気温,平均気温,降水量", ",,,", ",,品質情報,"]
    days = pd.date_range("2021-01-01", periods=90)
    return "\n".join(
        [*head, *(f"{day:%Y/%m/%d},{number},8,{number / 3:.1f}" for day, number in zip(days, noise(90), strict=True))]
    )


def listing_of_numbered_columns() -> str:
    """Below a list of parameters, a header that numbers them, and the year, its day and the hour of each row."""
    rows = [
        f"{2018 + at // 24 // 366} {152 + at // 24:3d} {at % 24:2d} {one:5.1f} {two:8.0f}. {three:4.0f}"
        for at, one, two, three in zip(range(24 * 60), noise(1440), noise(1440) * 900, noise(1440), strict=True)
    ]
    titles = ["Browser Results", "", "Listing from 20180601 to 20180731", "", "Selected parameters:", " 1 Scalar B, nT"]
    return "\n".join([*titles, " 2 Plasma Temperature, K", " 3 Dst-index, nT", "", "YEAR DOY HR   1   2   3", *rows])


def part_of_a_frame_of_r() -> str:
    """The names of the rows have no name, and go on from those of another part."""
    stamps = pd.date_range("2015-02-02 14:19", periods=300, freq="min")
    lines = (
        f'"{at}","{stamp:%Y-%m-%d %H:%M:%S}",{number:.4f},{number / 3:.4f}'
        for at, (stamp, number) in enumerate(zip(stamps, noise(300), strict=True), 140)
    )
    return "\n".join(['"date","Temperature","Humidity"', *lines])


def trace_of_a_machine() -> str:
    """A tab stands behind each semicolon."""
    stamps = 1376314846 + 300 * np.arange(300)
    lines = (f"{stamp};\t{number:.3f};\t{number / 9:.3f}" for stamp, number in zip(stamps, noise(300), strict=True))
    return "\n".join(["Timestamp [ms];\tCPU usage [MHZ];\tCPU usage [%]", *lines])


def prices_below_two_headers() -> str:
    """The second one has the units, of which some stand several times."""
    hours = pd.date_range("2023-07-01", periods=400, freq="h")
    lines = [
        f'"D","{hour:%m/%d/%Y}","{hour.hour + 1:02d}","{name}","{price:.2f}","{price / 9:.2f}"'
        for hour, one, two in zip(hours, noise(400), noise(400), strict=True)
        for name, price in ((".Z.MAINE", one), (".Z.VERMONT", two))
    ]
    titles = [f'"C","{text}"' for text in ("Selectable Report", "Filename: da.csv", "Report for: 07/2023", "EDT")]
    heads = ['"H","Date","Hour Ending","Location","Price","Loss"', '"H","Date","Hour Ending","String","$/MWh","$/MWh"']
    return "\n".join([*titles, *heads, *lines, f'"T","{len(lines)}"'])


def of_a_frame_of_r() -> str:
    """As write.table: numbers of rows without a name above them."""
    rows = [f'"{at}","{day}",{v}' for at, (day, v) in enumerate(zip(date_column(60), values(60), strict=True), 1)]
    return "\n".join(['"date","load"', *rows])


def of_a_trading_program() -> str:
    """As MetaTrader's: no header, and the first row has a price twice."""
    hours = pd.date_range("2023-01-02", periods=300, freq="h")
    rows = [f"{hour:%Y.%m.%d},{hour:%H:%M},{v},{v},{v + 1}" for hour, v in zip(hours, hourly_wave(300), strict=True)]
    return "\n".join(rows) + "\n"


def of_a_consumer_price_index() -> str:
    """As GENESIS writes it: titles with some delimiters, names in two lines, sources below the rows."""
    head = ["Tabelle: 61111-0002", "Verbraucherpreisindex: Deutschland, Monate;;;", "Deutschland;;;"]
    names = [";;Verbraucherpreisindex;Veränderung", ";;2020=100;in (%)"]
    months = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November")
    months += ("Dezember",)
    rows = [f"{2010 + at // 12};{months[at % 12]};{comma(v)};{comma(v % 3)}" for at, v in enumerate(hourly_wave(120))]
    return "\n".join([*head, *names, *rows, "__________", "© Statistisches Bundesamt (Destatis), 2023"]) + "\n"


def of_a_sensor_network() -> str:
    """Names between blanks above rows between tabs."""
    return (
        "\n".join(["Reading# Mote-ID Humidity", *(f"{at}\t3\t{v}" for at, v in enumerate(hourly_wave(90), 1))]) + "\n"
    )


def of_r() -> str:
    """As R writes a table: the numbers of the rows have no name, and names may be numbers."""
    rows = [f'"{at}" {value} {value / 2:.3f}' for at, value in enumerate(hourly_wave(90), 1)]
    return "\n".join(['"8336" "8337"', *rows]) + "\n"


def of_a_meteorological_institute() -> str:
    """As KNMI's: names stand in the last comment but for a mark alone."""
    rows = [
        f"  260,{day:%Y%m%d},{value:5.0f}"
        for day, value in zip(pd.date_range("2022-01-01", periods=90), hourly_wave(90), strict=False)
    ]
    return "\n".join(["# Source: institute", "#", "# FG : speed", "# STN,YYYYMMDD,   FG", "#", *rows]) + "\n"


def of_national_accounts() -> str:
    """As the BEA's: titles, years above quarters as columns, and notes that are many for so few rows."""
    years, quarters = (",".join(map(str, each)) for each in (np.repeat(range(2010, 2020), 4), ["Q1,Q2,Q3,Q4"] * 10))
    names = ("Product", "Consumption", "  Goods", "  Services", "Investment", "Exports", "Government")
    rows = [f"{at},{name}," + ",".join(map(str, hourly_wave(40, 50 * at))) for at, name in enumerate(names, 1)]
    titles = ["Table 1.1.5. Product", "[Billions of dollars]", '"Last Revised on: May 1, 2025 - Next: June 1"']
    return (
        "\n".join([*titles, f"Line,,{years}", f",,{quarters}", *rows, "Legend / Footnotes:", "Note. Revised."]) + "\n"
    )


CASES = (
    FirstCommand(
        "no names",
        measurements_without_names,
        {"header": False, "time": "row-number", "target": "column_2"},
        "'column_2', 12 steps of 1 row ahead, if the rows are in the order of time",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "a month and a number that may be a year",
        "\n".join(f'"{MONTHS[at % 12]} {1969 + at // 12}",{1500 + at}' for at in range(100)),
        {"header": False},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "three rows below names",
        f"region{',2012' * 12}{',2013' * 12}\n,{','.join([*MONTHS, *MONTHS])}\n"
        + "\n".join(f"{name},{','.join(NUMBERS[at : at + 24])}" for at, name in enumerate(["N", "S", "E"])),
        {"header_rows": 2, "layout": "rows"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "names that numpy writes in the first line",
        "# time load\n" + "\n".join(f"{at} {at % 7}.5" for at in range(90)),
        {"delimiter": "blanks"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "names above units, between blanks",
        "Test flight\nTime  Roll  Pitch  Yaw\ns     deg   deg    deg\n"
        + "".join(f"{0.02 * at:.2f}  {SIXTY_VALUES[at]}  {at % 7 + 0.5}  {at % 5 - 0.5}\n" for at in range(60)),
        {
            "delimiter": "blanks",
            "header_rows": 2,
            "skip_rows": 1,
            "time": "Time s",
            "date_format": "0.02",
            "season": "7",
            "target": "Roll deg",
        },
        step="1",
        no_others=True,
    ),
    FirstCommand(
        "units",
        "date,load\n,MW\n" + csv_rows(lambda day, value: f"{day:%Y-%m-%d},{value}"),
        {"undated_rows": "drop"},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "names in three lines",
        "Price,Close\nTicker,A\nDate,\n" + csv_rows(lambda day, value: f"{day:%Y-%m-%d},{value}"),
        {"header_rows": 3},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "names of two levels above that of the days",
        f",{'wind,' * 23}wind\nHour,{','.join(map(str, range(24)))}\nDay{24 * ','}\n"
        + "".join(
            f"{day}" + "".join(f",{math.sin(day * (hour + 1)) + 9:.3f}" for hour in range(24)) + "\n"
            for day in range(60)
        ),
        {"header_rows": 3, "time": "Hour Day", "wide": True},
        step="1",
        no_others=True,
    ),
    FirstCommand(
        "names below titles and codes",
        "Contents,Data 1: Gas (MMcf)\nSourcekey,N9140\nDate,Gas\n"
        + csv_rows(lambda day, value: f"{day:%Y-%m-%d},{value}"),
        {"skip_rows": 2},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "names above units and statistics, below the name of the logger",
        "TOA5,mast,CR1000,7\nTIMESTAMP,wind,gust,rain\nTS,m/s,m/s,mm\n,Avg,Max,Tot\n"
        + csv_rows(lambda day, value: f"{day:%Y-%m-%d},{value},{value + 2},{value % 3}"),
        {"skip_rows": 1, "undated_rows": "drop", "target": "wind"},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "blanks",
        "date  y\n" + csv_rows(lambda day, value: f"{day:%Y-%m-%d}   {value}"),
        {"delimiter": "blanks"},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "numbers between blanks",
        "# carbon dioxide\n" + csv_rows(lambda day, value: f"  {day.day_of_year} {value} -99.99"),
        {"delimiter": "blanks", "header": False, "comment": "#", "time": "column_1", "target": "column_2"},
        step="1",
        no_others=True,
    ),
    FirstCommand(
        "a buoy's names and units behind the mark of comments",
        "#YY  MM DD hh mm WSPD  GST\n#yr  mo dy hr mn  m/s  m/s\n"
        + csv_rows(lambda stamp, value: f"{stamp:%Y %m %d %H 50} {value:6.1f}   MM", EIGHT_DAYS_OF_HOURS),
        {"delimiter": "blanks", "comment": "#yr", "time": "#YY,MM,DD,hh,mm"},
        step="h",
        no_others=True,
    ),
    FirstCommand(
        "names behind a mark of comments of its own",
        "# of a model\n# day load rain\n" + csv_rows(lambda day, value: f"{day:%Y-%m-%d} {value:.2f} {day.day % 5}"),
        {"delimiter": "blanks", "skip_rows": 1, "target": "load"},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "a rule with blanks below the names",
        "DATE        TEMP   RAIN\n----------  -----  ----\n"
        + csv_rows(lambda day, value: f"{day:%Y-%m-%d}  {value:5.1f}  {day.day % 5:4.1f}"),
        {"delimiter": "blanks", "comment": "--", "target": "TEMP"},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "names below titles with numbers",
        "Bureau of Statistics,,\nUnit,Index,Percent\nMonth,3,3\nNo. Obs,60,60\nSeries ID,A23,A25\n"
        + csv_rows(lambda day, value: f"{day:%Y-%m-%d},{value},{value / 100}"),
        {"skip_rows": 4, "target": "A23"},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "names below a title and above units",
        "Station A,,\nDate,Temp,Rain\n,degC,mm\n"
        + csv_rows(lambda day, value: f"{day:%Y-%m-%d},{value},{day.day % 5}"),
        {"skip_rows": 1, "undated_rows": "drop", "target": "Temp"},
        step="D",
        no_others=True,
    ),
    FirstCommand("turbine", turbine_below_comments, {"skip_rows": 3, "header": None, "target": "Power (kW)"}),
    FirstCommand("Japan", weather_in_japanese, {"skip_rows": 2, "header_rows": 4, "target": "東京 平均気温"}),
    FirstCommand(
        "listing",
        listing_of_numbered_columns,
        {"delimiter": "blanks", "skip_rows": 9, "time": "YEAR,DOY,HR"},
        mentions="24 steps of 1 hour",
        quick=True,
    ),
    FirstCommand("frame", part_of_a_frame_of_r, {"time": None, "header": None, "target": "Temperature"}, quick=True),
    FirstCommand(
        "trace",
        trace_of_a_machine,
        {"delimiter": None, "time": "Timestamp [ms]", "target": "CPU usage [MHZ]"},
        quick=True,
    ),
    FirstCommand(
        "headers", prices_below_two_headers, {"skip_rows": 4, "item_id": "Location", "target": "Price"}, quick=True
    ),
    FirstCommand(
        "a frame of R", of_a_frame_of_r, {}, "'load', 7 steps of 1 day ahead", file="table.txt", no_others=True
    ),
    FirstCommand(
        "a trading program",
        of_a_trading_program,
        {"header": False, "time": "column_1,column_2", "wide": True},
        "3 columns as one series each ('column_3', 'column_4', 'column_5'), 24 steps of 1 hour ahead",
        no_others=True,
    ),
    FirstCommand(
        "a consumer price index",
        of_a_consumer_price_index,
        {
            "skip_rows": 3,
            "skip_footer": 2,
            "header_rows": 2,
            "time": "Unnamed: 0,Unnamed: 1",
            "target": "Verbraucherpreisindex 2020=100",
        },
        "'Verbraucherpreisindex 2020=100', 12 steps of 1 month ahead",
        no_others=True,
    ),
    FirstCommand(
        "a sensor network",
        of_a_sensor_network,
        {"delimiter": "blanks", "time": "Reading#", "target": "Humidity"},
        "'Humidity', 12 steps of 1 row ahead, if 'Reading#' counts time",
        no_others=True,
    ),
    FirstCommand(
        "a table of R",
        of_r,
        {"delimiter": "blanks", "time": "Unnamed: 0", "target": "8336"},
        "'8336', 12 steps of 1 row ahead, if the rows are in the order of time",
        no_others=True,
    ),
    FirstCommand(
        "a meteorological institute",
        of_a_meteorological_institute,
        {"skip_rows": 3, "header_rows": 2, "time": "YYYYMMDD", "target": "FG"},
        "'FG', 7 steps of 1 day ahead",
        no_others=True,
    ),
    FirstCommand(
        "national accounts",
        of_national_accounts,
        {"skip_rows": 3, "skip_footer": 2, "header_rows": 2, "layout": "rows"},
        "the rows as 7 series, 4 steps of 1 quarter ahead",
        no_others=True,
    ),
)


@each_case(CASES)
def test_the_first_command_finds_the_names_of_columns(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


@pytest.mark.slow
def test_rows_below_comments_that_hold_the_names_are_read_without_names(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(f"# time,y\n# a logger in the wood\n# 1 Hz\n{ROWS}\n")
    proposal = find_proposals(path, DataConfig())[0]
    assert (dict(proposal.options), proposal.target) == ({"comment": "#", "header": False}, "column_2")


@pytest.mark.slow
def test_columns_below_a_rule_are_read_by_their_blanks(tmp_path: Path) -> None:
    """As a weather service writes a test year: forty lines of text, names, a line of stars, then numbers."""
    path = tmp_path / "year.dat"
    about = ["Station: the town", "", *(f"{name}  what it is called" for name in "abcdefgh")] * 4
    rows = [f"  {at % 12 + 1:2d}  {value:6.1f}  {value / 2:8.2f}" for at, value in enumerate(values(96))]
    path.write_text("\n".join([*about, "MM      t         p", "***", *rows]))
    proposal = find_proposals(path, DataConfig())[0]
    reading = {name: dict(proposal.options)[name] for name in ("delimiter", "comment", "skip_rows")}
    assert reading == {"delimiter": "blanks", "comment": "***", "skip_rows": len(about)}


@pytest.mark.slow
def test_numbers_with_exponents_are_no_names(tmp_path: Path) -> None:
    path = tmp_path / "values.txt"
    path.write_text("\n".join(f"   {value:.16e}" for value in values(90)))
    proposal = find_proposals(path, DataConfig())[0]
    assert (dict(proposal.options), proposal.target) == ({"header": False, "time": "row-number"}, "column_1")


@pytest.mark.slow
def test_the_last_comment_may_be_the_header(tmp_path: Path) -> None:
    """As a service of satellite data writes it, with spans for stamps."""
    path = tmp_path / "table.csv"
    hours = pd.date_range("2020-01-01", periods=100, freq="h").strftime("%Y-%m-%dT%H:%M:%S.0")
    rows = [f"{start}/{end};{at % 24}" for at, (start, end) in enumerate(itertools.pairwise(hours))]
    path.write_text("\n".join(["# Title: sun", "# Period;sums", "#", "# Observation period;GHI", *rows]))
    proposal = find_proposals(path, DataConfig())[0]
    assert (dict(proposal.options), proposal.target, proposal.step) == ({"skip_rows": 3}, "GHI", "h")


@pytest.mark.parametrize("blanks", [False, True])
def test_columns_of_one_name_keep_it_and_get_numbers(tmp_path: Path, blanks: bool) -> None:
    path = tmp_path / "table.csv"
    text = "date,level,dev,depth,dev\n" + "\n".join(
        f"{line},2,{at * at % 11},4" for at, line in enumerate(ROWS.splitlines())
    )
    path.write_text(text.replace(",", "   ") if blanks else text)
    targets = [proposal.target for proposal in find_proposals(path, DataConfig())]
    assert {"level", "depth"} <= {*targets}
    assert not any(target.startswith("column") for target in targets)


def test_a_unit_that_stands_twice_below_titles_is_numbered(tmp_path: Path) -> None:
    path = tmp_path / "bookings.csv"
    rows = [f"{day};shop;{value};EUR;{value + 5};EUR" for day, value in zip(date_column(90), values(90), strict=True)]
    path.write_text("\n".join(["Account;1234", "Owner;A. B.", "", "day;text;amount;unit;balance;unit", *rows]))
    options = find_proposals(path, DataConfig())[0].options
    assert options == {"skip_rows": 3, "target": "amount"}


def test_a_first_row_whose_words_stand_below_it_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "station.csv"
    rows = [
        f"N12,{day.replace('-', '')},{kind},{at + 41},,W"
        for at, day in enumerate(date_column(60))
        for kind in ("TMAX", "TMIN")
    ]
    path.write_text("\n".join(rows))
    proposal = find_proposals(path, DataConfig())[0]
    assert (proposal.time, proposal.item_id, proposal.target) == ("column_2", "column_3", "column_4")


def test_names_between_semicolons_above_decimal_commas_are_no_title(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    months = pd.date_range("2015-01-01", periods=60, freq="MS")
    rows = [f"{month:%B %Y};8.4{at},75 €;3.1{at},00 €" for at, month in enumerate(months, start=10)]
    path.write_text("\n".join(["month;sales in €;costs in €", *rows]))
    proposal = find_proposals(path, DataConfig())[0]
    assert (dict(proposal.options), proposal.time) == ({"decimal": ",", "target": "sales in €"}, "month")


@pytest.mark.parametrize("value", [10.5, 124])
@pytest.mark.parametrize("stamp", ["%Y-%m", "%b-%d-%Y", "%d-%b-%y"])
def test_a_first_line_of_a_date_and_a_number_is_no_header(
    forecast: Callable, tmp_path: Path, stamp: str, value: float
) -> None:
    """Taken for names, the first row was lost without a word, and the target was called 10.5."""
    path = tmp_path / "plain.csv"
    months = pd.date_range("2015-01-01", periods=60, freq="MS").strftime(stamp)
    pd.DataFrame({"month": months, "y": [value, *(values(59) * 10).astype(type(value))]}).to_csv(
        path, index=False, header=False
    )
    assert "has no header: its first line is" in forecast("check", path).out
    proposal = find_proposals(path, DataConfig())[0]
    assert proposal.options == {"header": False}
    assert (proposal.time, proposal.target, proposal.step) == ("column_1", "column_2", "MS")


@pytest.mark.parametrize("first", ["124", "124.5", "1990"])
def test_numbered_months_beside_numbers_need_no_header(tmp_path: Path, first: str) -> None:
    path = tmp_path / "plain.csv"
    rows = [f"{at // 12 + 1}-{at % 12 + 1:02d},{first if at == 0 else 100 + at % 12}" for at in range(48)]
    path.write_text("\n".join(rows))
    proposal = find_proposals(path, DataConfig())[0]
    assert (proposal.options, proposal.time, proposal.target) == ({"header": False}, "column_1", "column_2")


@pytest.mark.parametrize(
    "rows",
    [
        [f"{day:%a, %d %b %Y} 15:11:58 -0500" for day in pd.date_range("2024-01-01", periods=40)],
        [f"{day:%Y-%m-%d},shop {'AB'[at % 2]}" for at, day in enumerate(pd.date_range("2024-01-01", periods=40))],
        [f'K{at:03d},0{at % 9},town {chr(65 + at)},2009,"{9 - at % 5},{at + 300}  ",9.{at}' for at in range(26)],
        [f"{at % 24:02d}:{at % 60:02d},x{at}" for at in range(40)],
        [f"{day:%d.%m.%Y};{at},5;{1000 + at}" for at, day in enumerate(pd.date_range("2024-01-01", periods=40))],
    ],
    ids=["stamps of letters", "dates beside words", "codes and thousands", "clocks", "semicolons and decimal commas"],
)
def test_a_first_line_of_the_kinds_below_it_is_no_header(tmp_path: Path, rows: list[str]) -> None:
    path = tmp_path / "plain.csv"
    path.write_text("\n".join(rows))
    examination = examine(path, DataConfig(delimiter=";" if ";" in rows[0] else None))
    assert "has no header: its first line is" in examination.to_report().errors[0].message
    if ";" in rows[0]:
        options = {"delimiter": "semicolon", "header": False, "target": "column_2"}
        assert find_proposals(path, DataConfig())[0].options == options
