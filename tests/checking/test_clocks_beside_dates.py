"""Hours, periods and times of day beside the columns of their dates."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, SIXTY_VALUES, comma, date_column, days, hourly_wave, noise, values
from .first_commands import FirstCommand, check_first_command, each_case


def hours_in_parts() -> pd.DataFrame:
    """As the pollution of Beijing: the date stands in four columns."""
    time = pd.date_range("2010-01-01", periods=400, freq="h")
    parts = {name: getattr(time, name) for name in ("year", "month", "day", "hour")}
    wind = np.where(np.arange(400) % 3, "NW", "SE")
    return pd.DataFrame({"No": np.arange(1, 401), **parts, "pm2.5": values(400), "cbwd": wind})


def hours_of_a_metro() -> pd.DataFrame:
    """It does not run from two to five; each hour of a line has a row for each ticket."""
    days = date_column(12, "2022-10-01")
    hours = [hour for hour in range(24) if not 2 <= hour <= 5]
    rows = list(itertools.product(days, hours, ["M1", "M2", "M3"], ["full", "free"]))
    frame = pd.DataFrame(rows, columns=["transition_date", "transition_hour", "line", "product"])
    return (
        frame.assign(passengers=RNG.poisson(40, len(frame)))
        .sample(frac=1, random_state=1)
        .sort_values("transition_date", kind="stable")
    )


def clocks_beside_dates() -> pd.DataFrame:
    time = pd.date_range("2024-01-01", periods=240, freq="h")
    return pd.DataFrame({"date": time.strftime("%d.%m.%Y"), "clock": time.strftime("%H:%M"), "load": values(240)})


def a_year_beside_dates_without_one() -> pd.DataFrame:
    """As the inputs of openTEPES: the areas, of which there are many, are no steps of a series for each hour."""
    time = pd.date_range("2030-01-01", periods=400, freq="h")
    areas = {f"Node_{at}": values(400) for at in range(1, 10)}
    return pd.DataFrame({"Period": 2030, "LoadLevel": time.strftime("%m-%d %H:%M:%S+01:00"), **areas})


def five_minutes_of_a_grid() -> pd.DataFrame:
    stamps = pd.date_range("2024-01-01", periods=1440, freq="5min")
    parts = {"DAY": stamps.strftime("%Y-%m-%d"), "HR": stamps.hour + 1, "INTERVAL": stamps.minute // 5 + 1}
    return pd.DataFrame(parts | {"MW": values(1440)})


def quarters_of_hours() -> pd.DataFrame:
    stamps = pd.date_range("2024-01-01", periods=960, freq="15min")
    parts = {"date": stamps.strftime("%Y-%m-%d"), "hour": stamps.hour, "minute": stamps.minute}
    return pd.DataFrame(parts | {"price": values(960)})


def half_hours_without_names() -> pd.DataFrame:
    stamps = pd.date_range("2024-01-01", periods=960, freq="30min")
    return pd.DataFrame(
        {"a": stamps.strftime("%Y%m%d"), "b": stamps.hour * 2 + stamps.minute // 30 + 1, "c": values(960)}
    )


def hours_in_japanese() -> pd.DataFrame:
    hour = pd.date_range("2024-01-01", periods=200, freq="h")
    parts = {"年": hour.year, "月": hour.month, "日": hour.day, "時": hour.hour}
    return pd.DataFrame({**parts, "電力": values(200)})


def clocks_of_a_weather_station() -> pd.DataFrame:
    time = pd.date_range("2023-05-14", periods=300, freq="30min")
    clock = [f"{each.hour % 12 or 12}:{each:%M}{'a' if each.hour < 12 else 'p'}" for each in time]
    return pd.DataFrame({"Date": time.strftime("%d/%m/%y"), "Time": clock, "Temp": values(300)})


def hours_of_a_climate_network() -> pd.DataFrame:
    """A day and four digits of its clock, in columns that are not called so."""
    time = pd.date_range("2023-01-01", periods=480, freq="h")
    day, clock = time.strftime("%Y%m%d").astype(int), time.hour * 100
    return pd.DataFrame({"STATION": 3761, "LST_DAY": day, "LST_CLK": clock, "T": values(480)})


def quarters_of_a_trading_terminal() -> pd.DataFrame:
    """Days in digits beside clocks with a colon."""
    time = pd.date_range("2024-01-01", periods=480, freq="15min")
    return pd.DataFrame({"DATE": time.strftime("%Y%m%d").astype(int), "CLK": time.strftime("%H:%M"), "P": values(480)})


def hours_of_an_old_recorder() -> pd.DataFrame:
    time = pd.date_range("1989-11-01", periods=480, freq="h")
    return pd.DataFrame({"a": time.strftime("%y%m%d").astype(int), "b": time.hour, "level": values(480)})


def hours_ending_of_a_market() -> pd.DataFrame:
    time = pd.date_range("2020-01-14", periods=480, freq="h")
    ending = [f"HE{hour + 1}" for hour in time.hour]
    return pd.DataFrame({"Delivery Date": time.strftime("%m/%d/%Y"), "Hour Ending": ending, "LMP": values(480)})


def half_hours_of_a_grid() -> pd.DataFrame:
    time = pd.date_range("2020-01-01", periods=480, freq="30min")
    return pd.DataFrame({"date": time.strftime("%Y-%m-%d"), "hour": time.hour + time.minute / 60, "MW": values(480)})


def hours_of_a_market() -> pd.DataFrame:
    time = pd.date_range("2021-01-01", periods=480, freq="h")
    hours = [f"{each.hour:02d} - {(each.hour + 1) % 24:02d}" for each in time]
    return pd.DataFrame({"": time.strftime("%d-%m-%Y"), "Hours": hours, "SYS": values(480)})


def ozone_in_two_zones() -> pd.DataFrame:
    """Dates and clocks stand twice, of the place and of Greenwich."""
    hours = pd.date_range("2023-06-01", periods=240, freq="h")
    stamps = {"Local": hours, "GMT": hours + pd.Timedelta("8h")}
    parts = {"Date": "%Y-%m-%d", "Time": "%H:%M"}
    columns = {f"{part} {zone}": stamps[zone].strftime(form) for zone in stamps for part, form in parts.items()}
    return pd.DataFrame({**columns, "Measurement": noise(240)})


def vehicles_of_quarter_hours() -> pd.DataFrame:
    """The day of each row has a midnight behind it; classes of vehicles stand beside their total."""
    stamps = pd.date_range("2023-03-06 00:14", periods=960, freq="15min")
    classes = {f"{at} cm": RNG.integers(50, 90, 960) for at in (520, 660, 1160, 1800, 2500)}
    frame = pd.DataFrame({"Report Date": stamps.strftime("%Y-%m-%dT00:00:00"), "Ending": stamps.strftime("%H:%M:%S")})
    return frame.assign(Interval=np.tile(np.arange(96), 10), **classes, **{"Total Volume": sum(classes.values())})


def clock(at: pd.Timestamp) -> str:
    return f"{at:%I:%M%p}".removeprefix("0")


def half_hours_of_a_skill() -> str:
    """Intervals have halves of the day, and a row of totals stands above them."""
    stamps = [stamp for stamp in pd.date_range("2024-01-02 08:00", "2024-02-10", freq="30min") if 8 <= stamp.hour < 18]
    half_an_hour = pd.Timedelta(30, "min")
    rows = [
        f"{at.month}/{at.day}/{at.year}\t{clock(at)}-{clock(at + half_an_hour)}\t{skill}\t{RNG.integers(5, 60)}"
        for at in stamps
        for skill in ("Billing", "Support")
    ]
    return "\n".join(["Skill Interval", "Dates:\tall", "", "Date\tTime\tSkill\tCalls", "Totals\t\t\t42765", *rows])


def air_with_quoted_hours() -> str:
    rows = [
        f"{station};{day:%d.%m.%Y};'{hour:02}:00';{RNG.integers(5, 60)}"
        for station in ("DEBE034", "DEBE051")
        for day in pd.date_range("2024-03-01", periods=20)
        for hour in range(1, 25)
    ]
    return "\n".join(["Stationscode;Datum;Uhrzeit;Feinstaub", *rows])


def load_beside_its_forecast_in_polish() -> str:
    rows = [
        f"{day:%Y-%m-%d};{hour};{RNG.integers(14_000, 19_000)};{RNG.integers(14_000, 19_000)}"
        for day in pd.date_range("2023-01-01", periods=20)
        for hour in range(1, 25)
    ]
    return "\n".join(["Data;Godzina;Dobowa prognoza KSE [MW];Rzeczywista KSE [MW]", *rows])


def hours_of_a_market_in_autumn() -> str:
    """The hour that comes again has a letter behind its number."""
    rows = []
    for day in pd.date_range("2023-10-20", periods=30):
        hours = [f"{hour:02}" for hour in range(1, 25)]
        hours = [*hours[:2], "02X", *hours[2:]] if f"{day:%m-%d}" == "11-05" else hours
        rows += [f"{day:%d-%b-%y},{hour},{RNG.integers(900, 2000)}" for hour in hours]
    return "\n".join(["Date,Hr_End,Load", *rows])


def passengers_by_time_slot() -> str:
    """A metro that rests from 2 to 5 o'clock."""
    lines = [
        f"{day:%Y-%m-%d},{hour:02d},{origin},{number}"
        for day in pd.date_range("2023-05-01", periods=14)
        for hour in (0, 1, *range(5, 24))
        for origin, number in zip(("台北車站", "西門"), RNG.integers(10, 900, 2), strict=True)
    ]
    return "\n".join(["日期,時段,進站,人次", *lines])


def logger_with_days_of_the_year() -> str:
    """A year, the day of it and a clock of digits, as older data loggers write them."""
    lines = [
        f"{2023},{100 + at // 48},{at % 48 // 2 * 100 + at % 2 * 30},{number:.2f}"
        for at, number in zip(range(48 * 30), noise(48 * 30), strict=True)
    ]
    return "\n".join(["year,doy,hhmm,soil_temp", *lines])


def detectors_by_seconds_of_the_day() -> str:
    lines = [
        f"2017-05-{day:02d},{second},{detector},{flow}"
        for detector in ("04.X-1", "04.X-2")
        for day in range(4, 9)
        for second, flow in zip(range(0, 86400, 300), RNG.integers(0, 90, 288), strict=True)
    ]
    return "\n".join(["day,interval,detid,flow", *lines])


def weather_in_brazil() -> str:
    stamps = pd.date_range("2023-01-01", periods=240, freq="h")
    rows = [
        f"{at:%Y/%m/%d};{at:%H}00 UTC;{rain:.1f}".replace(".", ",") for at, rain in zip(stamps, noise(240), strict=True)
    ]
    return "\n".join(["REGIAO:;CO", "UF:;DF", "Data;Hora UTC;PRECIPITAÇÃO TOTAL, HORÁRIO (mm)", *rows])


def of_a_grid_operator() -> str:
    """As a model of a power system: the hour of the day is called a period, of two plants."""
    hours = pd.date_range("2020-01-01", periods=300, freq="h")
    rows = [f"{t.year},{t.month},{t.day},{t.hour + 1},{v}" for t, v in zip(hours, values(300), strict=True)]
    return "\n".join(["Year,Month,Day,Period,122_HYDRO_1", *rows])


def of_a_meter() -> str:
    """As a utility: start and end of each reading."""
    hours = pd.date_range("2022-01-01", periods=300, freq="h")
    rows = [
        f"{start:%Y-%m-%d},{start:%H}:00,{start:%H}:59,{value}" for start, value in zip(hours, values(300), strict=True)
    ]
    return "\n".join(["DATE,START TIME,END TIME,USAGE", *rows])


def with_dots_in_clocks() -> str:
    hours = pd.date_range("2004-03-10 18:00", periods=300, freq="h")
    return "\n".join(
        ["Date;Time;CO", *(f"{at:%d/%m/%Y;%H.%M.%S};{v}" for at, v in zip(hours, values(300), strict=True))]
    )


def of_settlement_periods() -> str:
    """As Elexon's: half-hours of a day from 1 to 48, and 50 of them on the day in October."""
    days = pd.date_range("2022-10-20", periods=20)
    rows = [
        f"{day:%Y-%m-%d},{period},{30_000 + 100 * period + day.day % 3}"
        for day in days
        for period in range(1, 51 if day == pd.Timestamp("2022-10-30") else 49)
    ]
    return "\n".join(["Settlement Date,Settlement Period,Demand", *rows]) + "\n"


def of_a_broker() -> str:
    """As Stooq's: date and clock are digits."""
    days = pd.bdate_range("2023-01-02", periods=60)
    rows = [f"A.US,{day:%Y%m%d},{hour:02d}0000,{100 + hour + day.day}" for day in days for hour in range(9, 17)]
    return "\n".join(["<TICKER>,<DATE>,<TIME>,<CLOSE>", *rows]) + "\n"


def of_a_call_centre() -> str:
    """Half-hours from one time of day to the next."""
    rows = [
        f"{queue},{day:%d-%b-%y},{hour:02d}:{minute:02d}-{hour + minute // 30:02d}:{30 - minute:02d},{hour + day.day}"
        for day in pd.bdate_range("2023-02-01", periods=20)
        for hour in range(8, 18)
        for minute in (0, 30)
        for queue in ("Billing", "Support")
    ]
    return "\n".join(["Queue,Date,Interval,Offered", *rows]) + "\n"


def of_a_power_exchange() -> str:
    """As Nord Pool's: titles in the first cell, and the first column without a name."""
    hours = pd.date_range("2020-01-01", periods=120, freq="h")
    rows = [
        f"{hour:%d-%m-%Y;%H} - {(hour.hour + 1) % 24:02d};{comma(value, 2)};{comma(value + 3, 2)}"
        for hour, value in zip(hours, hourly_wave(120), strict=False)
    ]
    return "\n".join(["Prices in EUR/MWh;;;", "Hourly;;;", ";Hours;SE3;FI", *rows]) + "\n"


def three_minutes_of_detectors() -> pd.DataFrame:
    """The seconds of a day begin again with each detector, within the day."""
    rows = itertools.product(date_column(3), ["D1", "D2", "D3"], range(0, 86_400, 180))
    frame = pd.DataFrame(rows, columns=["day", "detid", "interval"])[["day", "interval", "detid"]]
    return frame.assign(flow=RNG.poisson(40, len(frame)))


CASES = (
    FirstCommand("seconds of detectors", three_minutes_of_detectors, {"time": "day,interval", "item_id": "detid"}),
    FirstCommand("a metro", hours_of_a_metro, {"time": "transition_date,transition_hour", "item_id": "line,product"}),
    FirstCommand(
        "year, month, day, hour",
        hours_in_parts,
        {"time": "year,month,day,hour", "target": "pm2.5"},
        "'pm2.5', 24 steps of 1 hour ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "date and clock",
        clocks_beside_dates,
        {"time": "date,clock", "date_format": "day-first"},
        "'load', 24 steps of 1 hour ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "a date in two columns",
        a_year_beside_dates_without_one,
        {"time": "Period,LoadLevel", "wide": True},
        "9 columns as one series each ('Node_1', 'Node_2', 'Node_3', …), 24 steps of 1 hour ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "five minutes of a grid",
        five_minutes_of_a_grid,
        {"time": "DAY,HR,INTERVAL"},
        "'MW', 288 steps of 5 minutes ahead",
    ),
    FirstCommand("quarters of hours", quarters_of_hours, {"time": "date,hour,minute"}),
    FirstCommand(
        "half hours without names", half_hours_without_names, {"time": "a,b"}, "'c', 48 steps of 30 minutes ahead"
    ),
    FirstCommand("hours in Japanese", hours_in_japanese, {"time": "年,月,日,時"}),
    FirstCommand("clocks of a weather station", clocks_of_a_weather_station, {"time": "Date,Time"}),
    FirstCommand("hours of a climate network", hours_of_a_climate_network, {"time": "LST_DAY,LST_CLK", "target": "T"}),
    FirstCommand("quarters of a trading terminal", quarters_of_a_trading_terminal, {"time": "DATE,CLK"}),
    FirstCommand("hours of an old recorder", hours_of_an_old_recorder, {"time": "a,b", "date_format": "%y%m%d %H:%M"}),
    FirstCommand("hours ending of a market", hours_ending_of_a_market, {"time": "Delivery Date,Hour Ending"}),
    FirstCommand("half hours of a grid", half_hours_of_a_grid, {"time": "date,hour"}),
    FirstCommand("hours of a market", hours_of_a_market, {"time": "Unnamed: 0,Hours"}),
    FirstCommand(
        "hours of one month below a title, without names",
        "PRICES;\n"
        + "".join(
            f"2023;01;{day:02d};{hour};{SIXTY_VALUES[hour] + day}\n" for day in range(1, 9) for hour in range(1, 25)
        )
        + "*\n",
        {"skip_rows": 1, "header": False, "skip_footer": 1, "time": "column_1,column_2,column_3,column_4"},
        step="h",
        no_others=True,
    ),
    FirstCommand("zones", ozone_in_two_zones, {"time": "Date Local,Time Local"}),
    FirstCommand(
        "vehicles", vehicles_of_quarter_hours, {"time": "Report Date,Ending", "target": "Total Volume", "wide": None}
    ),
    FirstCommand("skills", half_hours_of_a_skill, {"time": "Date,Time", "item_id": "Skill", "undated_rows": "drop"}),
    FirstCommand("air", air_with_quoted_hours, {"time": "Datum,Uhrzeit", "item_id": "Stationscode"}),
    FirstCommand(
        "load", load_beside_its_forecast_in_polish, {"time": "Data,Godzina", "target": "Rzeczywista KSE [MW]"}
    ),
    FirstCommand("autumn", hours_of_a_market_in_autumn, {"time": "Date,Hr_End", "tz": "America/New_York"}),
    FirstCommand(
        "metro",
        passengers_by_time_slot,
        {"time": "日期,時段", "item_id": "進站"},
        mentions="24 steps of 1 hour",
        quick=True,
    ),
    FirstCommand(
        "logger", logger_with_days_of_the_year, {"time": "year,doy,hhmm"}, mentions="48 steps of 30 minutes", quick=True
    ),
    FirstCommand(
        "detectors",
        detectors_by_seconds_of_the_day,
        {"time": "day,interval", "item_id": "detid"},
        mentions="288 steps of 5 minutes",
        quick=True,
    ),
    FirstCommand(
        "Brazil", weather_in_brazil, {"time": "Data,Hora UTC", "item_id": None}, encoding="cp1252", quick=True
    ),
    FirstCommand(
        "a grid operator",
        of_a_grid_operator,
        {"time": "Year,Month,Day,Period"},
        "'122_HYDRO_1', 24 steps of 1 hour ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "a meter",
        of_a_meter,
        {"time": "DATE,START TIME"},
        "'USAGE', 24 steps of 1 hour ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "with dots in clocks",
        with_dots_in_clocks,
        {"time": "Date,Time"},
        "'CO', 24 steps of 1 hour ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "settlement periods",
        of_settlement_periods,
        {"time": "Settlement Date,Settlement Period", "tz": "Europe/London"},
        "'Demand', 48 steps of 30 minutes ahead",
        no_others=True,
    ),
    FirstCommand(
        "a broker", of_a_broker, {"time": "<DATE>,<TIME>"}, "'<CLOSE>', 8 steps of 1 hour ahead", no_others=True
    ),
    FirstCommand(
        "a call centre",
        of_a_call_centre,
        {"time": "Date,Interval", "item_id": "Queue"},
        "'Offered' of 2 series told apart by 'Queue', 20 steps of 30 minutes ahead",
        no_others=True,
    ),
    FirstCommand(
        "a power exchange",
        of_a_power_exchange,
        {"skip_rows": 2, "time": "Unnamed: 0,Hours", "target": "SE3", "date_format": "day-first"},
        "'SE3', 24 steps of 1 hour ahead",
        no_others=True,
    ),
)


@each_case(CASES)
def test_the_first_command_puts_clocks_and_dates_together(
    forecast: Callable, tmp_path: Path, case: FirstCommand
) -> None:
    check_first_command(case, tmp_path, forecast)


@pytest.mark.parametrize("name", ["Store", "item_nbr", "Filiale", "Sensor ID"])
@pytest.mark.parametrize("count", [24, 48, 100])
def test_as_many_shops_as_a_day_has_hours_are_no_hours(tmp_path: Path, name: str, count: int) -> None:
    shops = np.tile(np.arange(1, count + 1), 40)
    frame = pd.DataFrame({"date": np.repeat(days(40), count), name: shops, "sales": noise(40 * count)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    proposal = find_proposals(tmp_path / "table.csv", DataConfig())[0]
    assert (proposal.time, proposal.item_id) == ("date", name)
