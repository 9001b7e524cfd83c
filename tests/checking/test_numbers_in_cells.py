"""Numbers as cells hold them: decimal marks, thousands, currencies, units, footnotes."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking import examine
from forecast_attn.config.options import DataConfig

from ..made_columns import EIGHT_DAYS_OF_HOURS, RNG, SIXTY_DAYS, SIXTY_VALUES, comma, csv_rows, date_column, noise
from .first_commands import FirstCommand, check_first_command, each_case


def european(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


EUROPEAN_THOUSANDS = (
    "Datum;Umsatz\n" + csv_rows(lambda day, value: f"{day:%d.%m.%Y};{european(value)}") + "Summe;90.000,00\n"
)


def rooms_with_units() -> str:
    stamps = pd.date_range("2024-05-06", periods=300, freq="10min")
    cells = zip(stamps, noise(300), noise(300), strict=True)
    return "\n".join(["Time,Store 1,Store 2", *(f"{at:%Y-%m-%d %H:%M:%S},{one} °C,{two} °C" for at, one, two in cells)])


def index_beyond_a_thousand() -> str:
    """Months from the time when the index had two digits to that when it had a mark of thousands."""
    months = pd.date_range("1900-01", periods=1500, freq="MS")
    index = 5 * np.exp(np.cumsum(RNG.normal(0.004, 0.03, 1500)))
    lines = [
        f'{month:%Y%m},"{number:,.2f}",' + ",".join(f"{each:.4f}" for each in noise(9))
        for month, number in zip(months, index, strict=True)
    ]
    return "\n".join(["yyyymm,Index,D12,E12,b/m,tbl,AAA,BAA,lty,ntis,infl", *lines])


def of_an_airport() -> str:
    """As NOAA's hourly files: a code of quality behind each number."""
    hours = pd.date_range("2023-01-01", periods=300, freq="h")
    rows = [f'{t:%Y-%m-%dT%H:%M:%S},40.78,"{RNG.integers(-50, 150):+05d},5"' for t in hours]
    return "\n".join(["DATE,LATITUDE,TMP", *rows])


def of_fuel_prices() -> str:
    days = pd.date_range("2019-01-07", periods=120, freq="7D")
    rows = [f"{day:%d/%m/%Y};{comma(1 + at % 7 / 100, 3)};" for at, day in enumerate(days)]
    return "\n".join(["Data;Prezzo medio;Note", *rows]) + "\n"


def prices_per_kilo() -> str:
    """A unit stands behind a slash, without a blank."""
    cells = zip(date_column(120), noise(120) * 5, noise(120) * 900, strict=True)
    return "\n".join(["Date,Wholesale,Supply", *(f"{day},{price:.2f}/Kg,{sold:.1f}" for day, price, sold in cells)])


CASES = (
    FirstCommand(
        "european thousands, a sum below",
        EUROPEAN_THOUSANDS,
        {"decimal": ",", "skip_footer": 1},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "American thousands",
        "date,sales\n" + csv_rows(lambda day, value: f'{day:%Y-%m-%d},"{value:,.2f}"'),
        {"decimal": "."},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "dollars",
        "date,sales\n" + csv_rows(lambda day, value: f'{day:%Y-%m-%d},"${value:,.2f}"'),
        {"decimal": "."},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "names with a blank above thousands in quotes",
        "Hour Ending,coast\n"
        + csv_rows(lambda hour, value: f'{hour:%Y-%m-%d %H:%M},"{value:,.2f}"', EIGHT_DAYS_OF_HOURS),
        {"decimal": "."},
        step="h",
        no_others=True,
    ),
    FirstCommand(
        "thousands of dollars between tabs",
        "date\tsales\n" + csv_rows(lambda day, value: f"{day:%Y-%m-%d}\t${value * 100:,.0f}"),
        {"decimal": "."},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "footnotes in brackets",
        "year,production\n"
        + "".join(
            f"{1950 + at},{v}{' (p)' if at > 50 else '[1]' if at == 9 else ''}\n" for at, v in enumerate(SIXTY_VALUES)
        ),
        {},
        step="1",
        no_others=True,
    ),
    FirstCommand("rooms", rooms_with_units, {"wide": True}),
    FirstCommand("thousands", index_beyond_a_thousand, {"decimal": ".", "time": "yyyymm"}, quick=True),
    FirstCommand(
        "an airport",
        of_an_airport,
        {"target": "TMP"},
        "'TMP', 24 steps of 1 hour ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "fuel prices",
        of_fuel_prices,
        {"decimal": ","},
        "'Prezzo medio', 13 steps of 1 week ahead, with ',' before decimals",
        no_others=True,
    ),
    FirstCommand("prices per kilo", prices_per_kilo, {"target": "Wholesale"}),
)


@each_case(CASES)
def test_the_first_command_reads_numbers(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


@pytest.mark.slow
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


@pytest.mark.slow
def test_one_sign_among_plain_numbers_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(
        "date,y\n" + "".join(f"{day:%Y-%m-%d},{at}{'%' * (at == 9)}\n" for at, day in enumerate(SIXTY_DAYS))
    )
    assert [finding.code for finding in examine(path, DataConfig()).findings if finding.severity == "error"] == [
        "FA103"
    ]
