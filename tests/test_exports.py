"""Files as markets, offices and instruments export them: `forecast check` prints what reads them, at the first try."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading.joined import with_joined
from forecast_attn.data.timestamps import parse_timestamps

pytestmark = pytest.mark.slow


def values(rows: int, level: float = 50.0) -> np.ndarray:
    noise = np.random.default_rng(0).normal(scale=0.1, size=rows)
    return (level + 5 * np.sin(2 * np.pi * np.arange(rows) / 24) + noise).round(3)


def comma(number: float, digits: int = 1) -> str:
    return f"{number:.{digits}f}".replace(".", ",")


def of_charts() -> str:
    """As billboard: the weeks of a song beside the date of the first one; most songs leave early."""
    rng = np.random.default_rng(1)
    entered = pd.date_range("2000-01-01", periods=40, freq="7D")
    lines = []
    for song in range(60):
        weeks = rng.integers(1, 100, 30 - song % 9).astype(str).tolist()
        cells = [*weeks, *[""] * (40 - len(weeks))]
        lines.append(
            ",".join(["2000", f"artist {song // 2}", f"track {song % 2}", str(entered[song % 40].date()), *cells])
        )
    return "\n".join(
        [",".join(["year", "artist", "track", "date.entered", *(f"wk{at}" for at in range(1, 41))]), *lines]
    )


def of_shops() -> str:
    """As the sales of the M5: the days beside five names, none of them a date."""
    days = [f"d_{at}" for at in range(1, 61)]
    rows = [
        f"{name}_{store},{name},{store}," + ",".join(map(str, np.arange(60) % 7)) for name in "abc" for store in "xy"
    ]
    return "\n".join([",".join(["id", "item_id", "store_id", *days]), *rows])


def of_meat() -> str:
    """Columns that begin many rows below the others: no row without them is a title."""
    days, numbers = pd.date_range("2020-01-01", periods=100, freq="MS"), values(100)
    rows = [
        f"{day:%Y-%m-%d},{numbers[at]},{numbers[-at]}" + (",3.5" if at >= 40 else ",") for at, day in enumerate(days)
    ]
    return "\n".join(["date,beef,pork,turkey", *rows])


def of_features() -> str:
    """Weeks before as covariates of weeks: the date is the time."""
    demand = values(160)
    dates = pd.date_range("2020-01-06", periods=150, freq="7D")
    rows = [
        f"{day:%Y-%m-%d},{demand[at + 10]}," + ",".join(map(str, demand[at : at + 10])) for at, day in enumerate(dates)
    ]
    return "\n".join([",".join(["date", "demand", *(f"week_{at}" for at in range(10, 0, -1))]), *rows])


def of_flights() -> str:
    at = np.sort(np.random.default_rng(2).integers(0, 90 * 86_400, 3000))
    times = pd.Timestamp("2013-01-01") + pd.to_timedelta(at, unit="s")
    numbers = np.random.default_rng(3).integers(1, 6000, 3000)
    rows = [f"{t:%Y-%m-%d %H:%M:%S},{n},{d}" for t, n, d in zip(times, numbers, values(3000), strict=True)]
    return "\n".join(["time_hour,flight,air_time", *rows])


def of_stores() -> str:
    """As Rossmann's: the kinds of holidays are words among zeros."""
    days = pd.date_range("2014-07-31", "2013-10-01", freq="-1D")
    kinds = {1: "a", 11: "b", 25: "c"}
    rows = [
        f"{store},{day:%Y-%m-%d},{100 * store + day.day},{kinds.get(day.day, '0')}" for day in days for store in (1, 2)
    ]
    return "\n".join(["Store,Date,Sales,StateHoliday", *rows])


def of_an_american_grid() -> str:
    """An hour stands twice on the day in November."""
    hours = pd.date_range("2022-10-20", periods=24 * 30, freq="h", tz="America/New_York")
    rows = [f"{hour:%m/%d/%Y %H:%M},{value}" for hour, value in zip(hours, values(len(hours)), strict=True)]
    return "\n".join(["Time Stamp,Load", *rows])


def of_settlement_periods() -> str:
    """As Elexon's: half-hours of a day from 1 to 48, and 50 of them on the day in October."""
    days = pd.date_range("2022-10-20", periods=20)
    rows = [
        f"{day:%Y-%m-%d},{period},{30_000 + 100 * period + day.day % 3}"
        for day in days
        for period in range(1, 51 if day == pd.Timestamp("2022-10-30") else 49)
    ]
    return "\n".join(["Settlement Date,Settlement Period,Demand", *rows])


def of_fuel_prices() -> str:
    days = pd.date_range("2019-01-07", periods=120, freq="7D")
    rows = [f"{day:%d/%m/%Y};{comma(1 + at % 7 / 100, 3)};" for at, day in enumerate(days)]
    return "\n".join(["Data;Prezzo medio;Note", *rows])


def of_air_quality() -> str:
    """As the UCI's: -200 is no value, delimiters stand behind the last cell, and empty rows below the others."""
    hours = pd.date_range("2004-03-10 18:00", periods=400, freq="h")
    rows = []
    for at, (hour, value) in enumerate(zip(hours, values(400, 10.0), strict=True)):
        cells = ["-200", "-200"] if 50 <= at < 60 else [comma(value), comma(value / 2)]
        rows.append(f"{hour:%d/%m/%Y};{hour:%H.%M.%S};" + ";".join(cells) + ";;")
    return "\n".join(["Date;Time;CO;T;;", *rows, *[";;;;;"] * 30])


def of_a_central_bank() -> str:
    """As the Bundesbank's older files: what the column is stands between its code and its rows."""
    head = [";BBK01.WT5511;FLAGS", ";Preis des Goldes;", ";Kein Wert vorhanden;", "Einheit;USD;", "Dimension;Eins;"]
    days = pd.bdate_range("2021-01-04", periods=200)
    rows = [f"{day:%Y-%m-%d};{comma(value)};" for day, value in zip(days, values(200, 1800.0), strict=True)]
    return "\n".join([*head, "Stand vom;02.05.2023 12:00:00 Uhr;", *rows])


def of_a_statistical_office() -> str:
    """As INSEE's: lines of two fields above rows of three."""
    head = ['"Libellé";"Indice"', '"idBank";"001759970"', '"Période";""']
    months = pd.date_range("2005-01-01", periods=120, freq="MS")
    rows = [f'"{month:%Y-%m}";"{value}";"A"' for month, value in zip(months, values(120), strict=True)]
    return "\n".join([*head, *rows[::-1]])


def of_a_weather_service() -> str:
    """As the German Weather Service's: days as eight digits, in a column that is not called a time."""
    days = pd.date_range("2019-01-01", periods=200)
    rows = [f"        433;{day:%Y%m%d};   10;{value:6.1f};eor" for day, value in zip(days, values(200), strict=True)]
    return "\n".join(["STATIONS_ID;MESS_DATUM;QN_4; TMK;eor", *rows])


def of_a_broker() -> str:
    """As Stooq's: date and clock are digits."""
    days = pd.bdate_range("2023-01-02", periods=60)
    rows = [f"A.US,{day:%Y%m%d},{hour:02d}0000,{100 + hour + day.day}" for day in days for hour in range(9, 17)]
    return "\n".join(["<TICKER>,<DATE>,<TIME>,<CLOSE>", *rows])


def of_a_trading_program() -> str:
    """As MetaTrader's: no header, and the first row has a price twice."""
    hours = pd.date_range("2023-01-02", periods=300, freq="h")
    rows = [f"{hour:%Y.%m.%d},{hour:%H:%M},{v},{v},{v + 1}" for hour, v in zip(hours, values(300), strict=True)]
    return "\n".join(rows)


def of_a_spreadsheet() -> str:
    """Titles as wide as the rows, marks of thousands, and sums below the rows."""
    days = pd.date_range("2021-01-01", periods=200)
    rows = [f'{day:%d.%m.%Y},"{1200 + at % 50:,}","{2400 + at % 30:,}"' for at, day in enumerate(days)]
    return "\n".join(["Sales report,,", ",,", "Date,Store A,Store B", *rows, 'Total,"300,000","1,000,000"'])


def of_a_consumer_price_index() -> str:
    """As GENESIS writes it: titles with some delimiters, names in two lines, sources below the rows."""
    head = ["Tabelle: 61111-0002", "Verbraucherpreisindex: Deutschland, Monate;;;", "Deutschland;;;"]
    names = [";;Verbraucherpreisindex;Veränderung", ";;2020=100;in (%)"]
    months = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November")
    months += ("Dezember",)
    rows = [f"{2010 + at // 12};{months[at % 12]};{comma(v)};{comma(v % 3)}" for at, v in enumerate(values(120))]
    return "\n".join([*head, *names, *rows, "__________", "© Statistisches Bundesamt (Destatis), 2023"])


READ: dict[Callable[[], str], tuple[dict[str, object], str]] = {
    of_charts: (
        {"layout": "rows", "item_id": "artist,track"},
        "the rows as 60 series, 12 steps of 1 row ahead",
    ),
    of_shops: ({"layout": "rows", "season": "7"}, "the rows as 6 series, 12 steps of 1 row ahead"),
    of_meat: ({"target": "beef", "missing": "mask"}, "'beef', 12 steps of 1 month ahead"),
    of_features: ({}, "'demand', 13 steps of 1 week ahead"),
    of_flights: (
        {"target": "air_time", "resample": "D"},
        "'air_time', mean of each 1 day, 7 steps of 1 day ahead",
    ),
    of_stores: (
        {"item_id": "Store", "categorical": ("StateHoliday",)},
        "'Sales' of 2 series told apart by 'Store', 7 steps of 1 day ahead",
    ),
    of_an_american_grid: (
        {"tz": "America/New_York"},
        "'Load', 24 steps of 1 hour ahead, if America/New_York is the zone, not that of Chicago, Denver or Los_Angeles",
    ),
    of_settlement_periods: (
        {"time": "Settlement Date,Settlement Period", "tz": "Europe/London"},
        "'Demand', 48 steps of 30 minutes ahead",
    ),
    of_fuel_prices: (
        {"decimal": ","},
        "'Prezzo medio', 13 steps of 1 week ahead, with ',' before decimals",
    ),
    of_air_quality: (
        {"skip_footer": 30, "na": ("-200",), "time": "Date,Time", "target": "CO"},
        "'CO', 24 steps of 1 hour ahead, with '-200' as no value",
    ),
    of_a_central_bank: (
        {"skip_rows": 6, "header": False, "delimiter": "semicolon"},
        "'column_2', 5 steps of 1 business day ahead",
    ),
    of_a_statistical_office: ({"skip_rows": 3, "header": False}, "'column_2', 12 steps of 1 month ahead"),
    of_a_weather_service: ({"time": "MESS_DATUM", "target": "TMK"}, "'TMK', 7 steps of 1 day ahead"),
    of_a_broker: ({"time": "<DATE>,<TIME>"}, "'<CLOSE>', 8 steps of 1 hour ahead"),
    of_a_trading_program: (
        {"header": False, "time": "column_1,column_2", "wide": True},
        "3 columns as one series each ('column_3', 'column_4', 'column_5'), 24 steps of 1 hour ahead",
    ),
    of_a_spreadsheet: (
        {"skip_rows": 2, "decimal": ".", "skip_footer": 1, "target": "Store A"},
        "'Store A', 7 steps of 1 day ahead, with '.' before decimals",
    ),
    of_a_consumer_price_index: (
        {
            "skip_rows": 3,
            "skip_footer": 2,
            "header_rows": 2,
            "time": "row-number",
            "target": "Verbraucherpreisindex 2020=100",
        },
        "'Verbraucherpreisindex 2020=100', 12 steps of 1 row ahead, if the rows are in the order of time",
    ),
}


@pytest.mark.parametrize("make", READ, ids=lambda make: make.__name__)
def test_the_first_command_reads_an_export(tmp_path: Path, make: Callable[[], str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text(make() + "\n", encoding="utf-8")
    proposal = find_proposals(path, DataConfig())[0]
    assert (dict(proposal.options), proposal.forecasts) == READ[make]


def test_training_says_that_whole_numbers_may_be_days_of_a_spreadsheet(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("Date,y\n" + "\n".join(f"{44_000 + at},{value}" for at, value in enumerate(values(90))))
    notes = json.loads(forecast("check", path, "--json").out)["findings"]
    message = "column 'Date' may hold days of a spreadsheet, from 2020-06-18 on; it is read as steps"
    assert [note["message"] for note in notes if note["code"] == "FA212"] == [message]


def test_half_hours_of_a_day_in_march_leave_the_skipped_hour_out() -> None:
    day = ["2023-03-26"] * 46 + ["2023-03-27"] * 48
    frame = pd.DataFrame({"date": day, "period": [*range(1, 47), *range(1, 49)], "y": 1.0})
    joined = with_joined(frame, DataConfig(time="date,period"), "")["date,period"]
    assert joined.iloc[[1, 2, 45, 46, 48]].tolist() == [
        *("2023-03-26 00:30", "2023-03-26 02:00", "2023-03-26 23:30", "2023-03-27 00:00", "2023-03-27 01:00")
    ]


def test_a_month_that_is_an_english_word_is_one_beside_others() -> None:
    stamps, bad = parse_timestamps(pd.Series(["jul-05", "ago-05", "ene-06"], dtype="str"))
    assert (stamps[1], bad.any()) == (np.datetime64("2005-08-01"), False)
    assert parse_timestamps(pd.Series(["ago-05", "ago-06"], dtype="str"))[1].all()
