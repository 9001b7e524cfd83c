"""Several tables in one file, one below the other: the first command reads the largest."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import SIXTY_DAYS, csv_rows, hourly_wave, noise
from .first_commands import FirstCommand, check_first_command, each_case

TWO_TABLES = (
    "date,open\n"
    + csv_rows(lambda day, value: f"{day:%Y-%m-%d},{value}", SIXTY_DAYS[:20])
    + "date,close,volume\n"
    + csv_rows(lambda day, value: f"{day:%Y-%m-%d},{value},{day.day}")
)


def returns_of_months_above_those_of_years() -> str:
    """The table of the years has the same names."""
    months = pd.date_range("1926-07-01", periods=400, freq="MS")
    monthly = [
        f"{month:%Y%m},{one:8.2f},{two:8.2f}" for month, one, two in zip(months, noise(400), noise(400), strict=True)
    ]
    yearly = [
        f"  {year},{one:8.2f},{two:8.2f}"
        for year, one, two in zip(range(1927, 1960), noise(33), noise(33), strict=True)
    ]
    titles = [
        "This file was created using the 201912 database.",
        "The return is from Ibbotson and Associates, Inc.",
        "",
    ]
    names = ",Mkt-RF,SMB"
    return "\n".join([*titles, names, *monthly, "", " Annual Factors: January-December ", names, *yearly])


def an_index_and_its_standard() -> str:
    """Two tables of one header, whose last row has no blanks between its numbers."""
    names = "YEAR   JAN   FEB   MAR   APR   MAY   JUN   JUL   AUG   SEP   OCT   NOV   DEC"
    lines = []
    for title in ("ANOMALY", "STANDARDIZED    DATA"):
        rows = [f"{year}" + "".join(f"{number - 10:6.1f}" for number in noise(12)) for year in range(1980, 2010)]
        lines += [" SEA LEVEL PRESS", f"      {title}", "", names, *rows, "2010   0.3" + "-999.9" * 11, "", ""]
    return "\n".join(lines)


def heads_below_the_wells_properties() -> str:
    """Two tables in one file, each line as wide as the wider one."""
    days = [
        day
        for month in pd.date_range("1980-01", periods=120, freq="MS")
        for day in (month.replace(day=14), month.replace(day=28))
    ]
    rows = [f"B33F0080,001,{day:%d-%m-%Y},{number * 20:.0f},,,," for day, number in zip(days, noise(240), strict=True)]
    return "\n".join(
        [
            "Titel:,,,,,,,",
            "Periode aangevraagd:,01-01-1800,tot:,17-09-2019,,,,",
            "Referentie:,NAP,,,,,,",
            "",
            "NAP:,Normaal Amsterdams Peil,,,,,,",
            "MV:,Maaiveld,,,,,,",
            "",
            "Locatie,Filternummer,X-coordinaat,Y-coordinaat,Maaiveld,Startdatum,Einddatum,Meetpunt,Filter",
            "B33F0080,001,213260,473900,1020,14-01-1972,28-02-1989,1075,796",
            "B33F0080,001,213260,473900,1020,28-02-1989,28-05-2006,1075,796",
            "",
            "Locatie,Filternummer,Peildatum,Stand (cm),Bijzonderheid,,,",
            *rows,
        ]
    )


def of_a_market_operator() -> str:
    """As AEMO's: records of a comment, of names and of rows, which begin alike."""
    stamps = pd.date_range("2024-08-01", periods=150, freq="5min").strftime("%Y/%m/%d %H:%M:%S")
    rows = [
        f'D,DISPATCH,PRICE,5,"{stamp}",{region},{value}'
        for stamp, value in zip(stamps, hourly_wave(150), strict=False)
        for region in ("NSW1", "QLD1")
    ]
    names = "I,DISPATCH,PRICE,5,SETTLEMENTDATE,REGIONID,RRP"
    return "\n".join(["C,NEMP,DISPATCHIS,2024/08/02", names, *rows, 'C,"END OF REPORT",302']) + "\n"


def quarters_of_two_kinds_of_series() -> str:
    """Rows of amounts with marks of thousands, and no other number, follow those of percentages."""
    quarters = [f"{year}Q{quarter}" for year in range(1980, 2005) for quarter in range(1, 5)]
    percentages = [f"A191RL,{quarter},{number - 8:.1f}" for quarter, number in zip(quarters, noise(100), strict=True)]
    amounts = [
        f'{code},{quarter},"{number * size:,.0f}"'
        for code, size in (("A191RX", 234_567), ("A822RC", 23_456))
        for quarter, number in zip(quarters, noise(100), strict=True)
    ]
    return "\n".join(["SeriesCode,Period,Value", *percentages, *amounts])


CASES = (
    FirstCommand(
        "one table",
        quarters_of_two_kinds_of_series,
        {"skip_footer": None, "item_id": "SeriesCode"},
        mentions="of 3 series",
    ),
    FirstCommand(
        "three tables below each other",
        "Body\nDate,Weight\n"
        + csv_rows(lambda day, value: f'"{day:%Y-%m-%d}","{value}"', SIXTY_DAYS[:20])
        + "\nActivities\nDate,Steps,Floors\n"
        + csv_rows(lambda day, value: f'"{day:%Y-%m-%d}","{value:,.1f}","{day.day % 7}"')
        + "\nSleep\nStart,Minutes\n"
        + csv_rows(lambda day, value: f'"{day:%Y-%m-%d}","{value}"', SIXTY_DAYS[:20]),
        {"skip_rows": 24, "skip_footer": 22, "decimal": ".", "target": "Steps"},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "two tables of one width below each other",
        "date,open\n"
        + csv_rows(lambda day, value: f"{day:%Y-%m-%d},{value}", SIXTY_DAYS[:20])
        + "\ndate,close\n"
        + csv_rows(lambda day, value: f"{day:%Y-%m-%d},{value}"),
        {"skip_rows": 22},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "two tables without a line between them",
        TWO_TABLES,
        {"skip_rows": 21, "target": "close"},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "returns",
        returns_of_months_above_those_of_years,
        {"skip_rows": 3, "skip_footer": 35, "date_format": "%Y%m"},
        quick=True,
    ),
    FirstCommand(
        "index",
        an_index_and_its_standard,
        {"skip_rows": 3, "skip_footer": 34, "delimiter": "blanks", "layout": "calendar", "na": ("-999.9",)},
    ),
    FirstCommand(
        "heads", heads_below_the_wells_properties, {"skip_rows": 11, "header": None, "resample": "MS"}, quick=True
    ),
    FirstCommand(
        "a market operator",
        of_a_market_operator,
        {"skip_rows": 1, "skip_footer": 1, "item_id": "REGIONID", "target": "RRP"},
        "'RRP' of 2 series told apart by 'REGIONID', 37 steps of 5 minutes ahead",
        no_others=True,
    ),
)


@each_case(CASES)
def test_the_first_command_reads_one_of_several_tables(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


@pytest.mark.slow
def test_each_of_several_tables_gets_a_command_that_names_its_lines(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(TWO_TABLES)
    tried = [line for line in forecast("train", path).err.splitlines() if line.startswith("try: ")]
    assert tried[0].endswith(", of the table in lines 22 to 82")
    assert tried[-1].endswith(", of the table in lines 1 to 21")


def test_names_of_another_table_below_are_no_marks_of_missing_values(tmp_path: Path) -> None:
    """As CAISO reports a day: hours of some resources, a title, and hours of other ones."""
    upper = [f"\t{hour}\t\t{900 + hour}\t{313 + hour % 5}\t\t{190 + hour % 7}" for hour in range(1, 25)]
    lower = [f"\t{hour}\t\t{3000 + hour}\t{1092 + hour % 3}\t\t{6800 + hour}" for hour in range(1, 25)]
    names = "\tHour\t\tRENEWABLES\tNUCLEAR\t\tTHERMAL"
    lines = ["03/12/14\t\t\tHourly Breakdown\t\t\t", "\tHour\t\tGEOTHERMAL\tBIOMASS\t\tBIOGAS", *upper]
    path = tmp_path / "report.csv"
    path.write_text("\n".join([*lines, "\t" * 6, "\t\t\tHourly Total\t\t\t", names, *lower]))
    assert all("na" not in proposal.options for proposal in find_proposals(path, DataConfig()))
