"""Numbers that count time, and rows in their order where there is no time: their steps and seasons."""

import calendar
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import (
    MONTHS,
    RNG,
    hourly_wave,
    noise,
    values,
)
from .first_commands import FirstCommand, check_first_command, each_case, first_of


def no_time_at_all() -> pd.DataFrame:
    return pd.DataFrame({"CO2": values(200), "gas": values(200)})


def weeks_of_years(rows: int = 156, season: float = 52) -> pd.DataFrame:
    """As R writes them: 1980.0, 1980.01923, …"""
    time = 1980 + np.arange(rows) / season
    return pd.DataFrame({"rownames": range(1, rows + 1), "time": time, "value": values(rows)})


def seconds_of_a_recorder() -> pd.DataFrame:
    return pd.DataFrame({"timer": np.arange(200) * 8.5479, "hr": RNG.integers(400, 600, 200)})


def seconds_of_a_logger() -> pd.DataFrame:
    """Every seventh was written a bit later."""
    late = np.arange(200) % 7 == 3
    return pd.DataFrame({"seconds": (np.arange(200) * 0.25 + 0.1 * late).round(2), "force": values(200)})


def months_without_a_year() -> pd.DataFrame:
    return pd.DataFrame({"month": MONTHS * 8, "y": values(96)})


def hours_of_numbered_days() -> pd.DataFrame:
    cells = [f"{day}:{hour:02d}" for day in range(1, 32) for hour in range(1, 25)]
    return pd.DataFrame({"obs": cells, "load": values(744)})


def seasons_of_years() -> pd.DataFrame:
    cells = [f"{name}-{year}" for year in range(1990, 2010) for name in ("Winter", "Spring", "Summer", "Fall")]
    return pd.DataFrame({"season": cells, "y": values(80)})


def months_of_a_series_without_a_start() -> pd.DataFrame:
    """As M3: the months of series that begin nobody knows when are those of the years 1 to 5."""
    near = [str(month) for month in pd.period_range("1990-01", periods=60, freq="M")]
    far = [f"{1 + at // 12:04}-{1 + at % 12:02}" for at in range(60)]
    names = np.repeat(["a", "b", "c"], 60)
    return pd.DataFrame({"item_id": names, "timestamp": [*near, *near, *far], "target": values(180)})


def sieves() -> pd.DataFrame:
    """`mm` is a unit of length where it is not the whole name."""
    openings = np.round(np.geomspace(0.02, 125, 30)[::-1], 4)
    return pd.DataFrame({"Designation": [f"no {at}" for at in range(30)], "opening, mm": openings, "wire": noise(30)})


def pupils_by_half_years() -> pd.DataFrame:
    """Years from the middle of primary school begin again with each pupil."""
    lengths = np.tile([5, 6], 60)
    years = np.concatenate([np.arange(length) - 2.5 for length in lengths])
    frame = pd.DataFrame({"school": np.repeat(np.arange(12), len(years) // 12), "year": years, "math": noise(660)})
    return frame.assign(child=np.repeat(np.arange(2000, 2120), lengths))


def spikes_at_uneven_times() -> pd.DataFrame:
    """A unit of time in the plural is a time, though no two steps are equal."""
    return pd.DataFrame({"milliseconds": 50 + np.cumsum(RNG.integers(1, 30, 300)), "rate": noise(300)})


def returns_of_shares() -> pd.DataFrame:
    """They follow no others, as the rows of no series do, but lie around zero."""
    return pd.DataFrame({"no": range(1, 121), **{name: noise(120) / 10 - 1 for name in ("bank", "oil", "steel")}})


def scenarios_by_an_index() -> pd.DataFrame:
    """`idx` counts the steps of each scenario, and is no number of a row."""
    frame = pd.DataFrame({"scenario": np.repeat(np.arange(4), 30), "idx": np.tile(np.arange(30), 4)})
    return frame.assign(trend=noise(120), season=noise(120))


def forces_at_uneven_times() -> pd.DataFrame:
    """As laboratories name columns: with their units."""
    return pd.DataFrame({"Time (s)": RNG.uniform(0.05, 0.15, 400).cumsum().round(3), "Force [N]": noise(400).cumsum()})


def children_at_three_ages() -> pd.DataFrame:
    """Half years are the time of a few rows of each child."""
    frame = pd.DataFrame({"id": np.repeat(np.arange(60), 3) + 70, "age": np.tile([1.0, 1.5, 2.0], 60)})
    return frame.assign(score=noise(180))


def fluxes_by_day_and_hour() -> pd.DataFrame:
    """Units stand in the names; the day of the year and the hour are no date without a year, and no series either."""
    hours = {"Day --": np.repeat(np.arange(1, 61), 48), "Hour --": np.tile(np.arange(1, 49) / 2, 60)}
    return pd.DataFrame({**hours, "NEE umol": noise(2880), "Tair degC": 10 * noise(2880)})


def ages_of_a_core() -> pd.DataFrame:
    """Ages have five decimals, and rise by no equal steps."""
    ages = (RNG.choice(np.arange(1, 90_000), 300, replace=False) / 1e5).round(5)
    return pd.DataFrame({"Age [kyr BP]": np.sort(ages), "CO2 [ppm]": noise(300)})


def plots_of_a_field() -> pd.DataFrame:
    """Numbers of plots may count time, or not."""
    return pd.DataFrame({"plot": np.tile(np.arange(1, 37), 4), "site": np.repeat([*"abcd"], 36), "ears": noise(144)})


def index_after_the_start_of_a_period() -> str:
    """As pandas writes the time since a start."""
    lines = [
        f"{period},{pd.Timedelta(hour, 'h')},{number:.0f}"
        for period, rows in (("a", 400), ("b", 300))
        for hour, number in zip(range(rows), noise(rows), strict=True)
    ]
    return "\n".join(["period,timedelta,dst", *lines])


def of_batteries() -> str:
    """Cycles of each battery, from its first measured one on, some of them left out."""
    cycles = [(name, at) for name, first in (("B5", 1), ("B6", 3), ("B7", 1)) for at in range(first, 60) if at != 30]
    rows = [f"{name},{at},{v}" for (name, at), v in zip(cycles, values(len(cycles)), strict=True)]
    return "\n".join(["battery,cycle,capacity", *rows])


def of_a_pulse() -> str:
    rows = [f"{8.5 * at + 0.3 * (at % 3)},{v}" for at, v in enumerate(values(200))]
    return "\n".join(["timer,hr", *rows])


def of_a_beaver() -> str:
    """Days of a year and clocks of digits."""
    rows = [f"{346 + at // 90},{at // 6 % 24 * 100 + at % 6 * 10},{v}" for at, v in enumerate(values(114), 84)]
    return "\n".join(['"",day,time,temp', *(f"{at},{row}" for at, row in enumerate(rows, 1))])


def of_a_heart_monitor() -> str:
    """A clock in milliseconds, and a heart rate whose name is short for the hour."""
    return (
        "\n".join(["timer,hr", *(f"{8.5479 * at:.4f},{int(value)}" for at, value in enumerate(hourly_wave(300, 80.0)))])
        + "\n"
    )


def of_an_exchange() -> str:
    """Days with nothing but their year: no other column may name the rows of a panel."""
    lagged = hourly_wave(600)
    rows = [f"{2001 + at // 200},{lagged[at - 1]},{lagged[at]},{'Up' if at % 3 else 'Down'}" for at in range(600)]
    return "\n".join(["Year,Lag1,Today,Direction", *rows]) + "\n"


def climate_of_cities(*, by_month: bool) -> pd.DataFrame:
    """The months of a typical year, by words, one city below the other or all of them for each month."""
    months = [calendar.month_abbr[month] for month in range(1, 13)]
    cells = pd.MultiIndex.from_product([["Oslo", "Rome", "Lima", "Bonn"], months], names=["city", "month"])
    frame = cells.to_frame(index=False).assign(rain=RNG.integers(10, 99, 48))
    return frame.iloc[np.argsort(np.tile(np.arange(12), 4), kind="stable")] if by_month else frame


def riders_of_a_typical_week() -> pd.DataFrame:
    """Hours of weekdays of several cities, one below the other."""
    parts = [["Oslo", "Rome"], list(calendar.day_abbr), range(24)]
    cells = pd.MultiIndex.from_product(parts, names=["city", "weekday", "hour"])
    return cells.to_frame(index=False).assign(riders=RNG.integers(10, 99, 336))


def hours_of_a_building() -> str:
    """As EnergyPlus writes them: the last hour of a day is called 24, and no year stands before the month."""
    rows = [
        f" {day:%m/%d}  {hour:02d}:00:00,{number * 4:.3f}"
        for day in pd.date_range("2001-01-20", periods=20)
        for hour, number in enumerate(noise(24), 1)
    ]
    return "\n".join(["Date/Time,Electricity:Facility [kW](Hourly)", *rows])


CASES = (
    FirstCommand(
        "row numbers",
        no_time_at_all,
        {"time": "row-number", "target": "CO2"},
        "'CO2', 12 steps of 1 row ahead, if the rows are in the order of time",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "weeks of decimal years",
        weeks_of_years,
        {"date_format": "0.0192307692", "season": "52"},
        "'value', 12 steps of 1 row ahead, with 'time' counted in steps of 0.0192307692",
        no_others=True,
        trains=True,
    ),
    FirstCommand("seconds of a recorder", seconds_of_a_recorder, {"time": "timer", "date_format": "8.5479"}),
    FirstCommand(
        "seconds of a logger", seconds_of_a_logger, {"time": "seconds", "date_format": "0.05", "resample": "5"}
    ),
    FirstCommand("months without a year", months_without_a_year, {"time": "row-number", "season": "12"}),
    FirstCommand("hours of numbered days", hours_of_numbered_days, {"time": "row-number", "season": "24"}),
    FirstCommand("seasons of years", seasons_of_years, {"time": "row-number", "season": "4"}),
    FirstCommand(
        "months of a series without a start",
        months_of_a_series_without_a_start,
        {"time": "row-number", "ignore": ("timestamp",), "season": "12"},
    ),
    FirstCommand(
        "days that are counted, with several eggs each",
        "day,weight\n" + "".join(f"{1 + at // 4},{50 + at * at % 11}\n" for at in range(240)),
        {"time": "day", "season": "7", "resample": "1"},
        step="1",
        no_others=True,
    ),
    FirstCommand("sieves", sieves, {"time": "row-number"}),
    FirstCommand(
        "pupils", pupils_by_half_years, {"time": "year", "item_id": "child", "date_format": "0.5", "target": "math"}
    ),
    FirstCommand("spikes", spikes_at_uneven_times, {"time": "milliseconds", "target": None}),
    FirstCommand("returns", returns_of_shares, {"time": "no", "target": "bank"}),
    FirstCommand("scenarios", scenarios_by_an_index, {"time": "idx", "item_id": "scenario"}),
    FirstCommand("seconds", forces_at_uneven_times, {"time": "Time (s)", "target": None}),
    FirstCommand("children", children_at_three_ages, {"time": "age", "item_id": "id", "date_format": "0.5"}),
    FirstCommand("hours of days", fluxes_by_day_and_hour, {"time": "row-number", "item_id": None, "season": "48"}),
    FirstCommand("a core", ages_of_a_core, {"time": "Age [kyr BP]", "date_format": "0.00001", "target": None}),
    FirstCommand("plots", plots_of_a_field, {"time": "plot", "item_id": "site"}),
    FirstCommand(
        "elapsed",
        index_after_the_start_of_a_period,
        {"time": "row-number", "item_id": "period", "ignore": ("timedelta",), "season": "24"},
        quick=True,
    ),
    FirstCommand(
        "batteries",
        of_batteries,
        {"time": "cycle", "item_id": "battery"},
        "'capacity' of 3 series told apart by 'battery', 12 steps of 1 row ahead, if 'cycle' counts time",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "a pulse",
        of_a_pulse,
        {"time": "row-number", "target": "hr"},
        "'hr', 12 steps of 1 row ahead, if the rows are in the order of time",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "a beaver",
        of_a_beaver,
        {"time": "Unnamed: 0", "target": "temp"},
        "'temp', 12 steps of 1 row ahead, if the rows are in the order of time",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "a heart monitor",
        of_a_heart_monitor,
        {"time": "timer", "date_format": "8.5479"},
        "'hr', 12 steps of 1 row ahead, with 'timer' counted in steps of 8.5479",
        no_others=True,
    ),
    FirstCommand(
        "an exchange",
        of_an_exchange,
        {"time": "row-number", "target": "Today"},
        "'Today', 12 steps of 1 row ahead, if the rows are in the order of time",
        no_others=True,
    ),
    FirstCommand(
        "climate", lambda: climate_of_cities(by_month=False), {"time": "row-number", "item_id": "city", "season": "12"}
    ),
    FirstCommand("months", lambda: climate_of_cities(by_month=True), {"item_id": "city", "season": "12"}),
    FirstCommand("riders", riders_of_a_typical_week, {"item_id": "city", "season": "24", "target": "riders"}),
    FirstCommand("hours of a building", hours_of_a_building, {"time": "row-number", "season": "24"}),
)


@each_case(CASES)
def test_the_first_command_counts_steps(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


def test_a_season_longer_than_the_table_is_not_asked_for() -> None:
    (proposal,) = find_proposals(weeks_of_years(rows=90, season=365), DataConfig())
    assert proposal.options == {"date_format": "0.002739726027"}


def test_returns_follow_each_other_by_their_spread(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    spread = np.where(np.arange(400) % 100 < 50, 1, 5)
    frame = pd.DataFrame({"": np.arange(1, 401), "one": spread * RNG.normal(size=400), "two": RNG.normal(size=400)})
    frame.to_csv(path, index=False)
    assert find_proposals(path, DataConfig())[0].options["time"] == "Unnamed: 0"


@pytest.mark.slow
def test_months_of_many_years_are_rows_in_their_order(tmp_path: Path) -> None:
    """A typical meteorological year: each month is that of another year, so its dates are no axis."""
    years = [1997, 1991, 1994, 1990, 1996, 1991, 1995, 1992, 1999, 1993, 1998, 1990]
    hours = [pd.date_range(f"{year}-{month:02d}-01", periods=600, freq="h") for month, year in enumerate(years, 1)]
    stamps = hours[0].append(hours[1:])
    path = tmp_path / "table.csv"
    dates, clocks = stamps.strftime("%m/%d/%Y"), stamps.strftime("%H:%M")
    pd.DataFrame({"Date": dates, "Time": clocks, "GHI": values(len(stamps))}).to_csv(path, index=False)
    assert [proposal.time for proposal in find_proposals(path, DataConfig())] == ["row-number"]


def test_a_column_that_counts_the_rows_of_each_series_is_its_time_unless_there_are_dates(tmp_path: Path) -> None:
    """As the days of a study beside its patients; the lines of invoices, which have a date, are counted by day."""
    lengths = np.tile([8, 9, 10, 11], 15)
    patients = np.repeat(np.arange(308, 308 + len(lengths)), lengths)
    counted = np.concatenate([np.arange(length) for length in lengths])
    frame = pd.DataFrame({"": np.arange(len(counted)) + 1, "reaction": values(len(counted)), "visit": counted})
    first = first_of(tmp_path, frame.assign(patient=patients))
    assert (first["time"], first["item_id"]) == ("visit", "patient")
    invoices = frame.assign(patient=patients, date=pd.Timestamp("2024-01-01") + pd.to_timedelta(patients, unit="D"))
    assert first_of(tmp_path, invoices.drop(columns=""), "invoices.csv").get("time") in (None, "date")


def test_decimal_times_that_start_again_in_each_block_are_put_on_a_step(tmp_path: Path) -> None:
    """As the concentrations of drugs in each subject, at 0.25, 0.5, 2 hours."""
    times = np.tile([0.25, 0.5, 0.75, 1, 1.25, 2, 3, 4, 5, 6, 8], 6)
    frame = pd.DataFrame({"rownames": np.arange(1, 67), "Subject": np.repeat(np.arange(6), 11), "time": times})
    first = first_of(tmp_path, frame.assign(conc=RNG.normal(size=66).round(2)))
    expected = {"item_id": "Subject", "date_format": "0.25", "resample": "4", "missing": "mask"}
    assert first | expected == first
    assert first["forecasts"].startswith("'conc' of 6 series told apart by 'Subject', mean of each step of 4, ")


@pytest.mark.parametrize(("name", "season"), [("week", "52"), ("month", "12"), ("hour", "24"), ("year_no", None)])
def test_a_column_that_counts_weeks_has_their_season(tmp_path: Path, name: str, season: str | None) -> None:
    assert (
        first_of(tmp_path, pd.DataFrame({name: np.arange(1, 121), "y": RNG.normal(size=120)})).get("season") == season
    )


def prices_by_week(first: int = 11101, weeks: int = 120) -> pd.DataFrame:
    """Prices of three items in two shops, in weeks counted as M5 does: 11152 comes before 11201."""
    codes = [first + 100 * (at // 52) + at % 52 for at in range(weeks)]
    frames = [
        pd.DataFrame({"store": store, "item": item, "week_code": codes[item * 7 :], "price": values(weeks - item * 7)})
        for store in ("CA_1", "TX_1")
        for item in range(3)
    ]
    return pd.concat(frames)


def test_weeks_of_a_calendar_of_its_own_are_rows_without_gaps(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    prices_by_week().to_csv(path, index=False)
    first = find_proposals(path, DataConfig())[0]
    assert first.options["item_id"] == "store,item"
    assert first.options["time"] == "row-number"
    assert (first.options["ignore"], first.options["season"]) == (("week_code",), "52")
    assert first.forecasts.startswith("'price' of 6 series")
    assert find_proposals(path, DataConfig(time="week_code")) == ()  # 48 rows of each year would be hidden


def test_weeks_of_the_calendar_stay_dates(tmp_path: Path) -> None:
    frame = prices_by_week(first=201101)
    assert first_of(tmp_path, frame)["date_format"] == "%G%V"


@pytest.mark.parametrize(
    ("make", "condition"),
    [(plots_of_a_field, "if 'plot' counts time"), (children_at_three_ages, "if 'age' counts time")],
)
def test_numbers_that_no_name_calls_a_time_are_said_to_be_taken_for_one(
    tmp_path: Path, make: Callable[[], pd.DataFrame], condition: str
) -> None:
    make().to_csv(tmp_path / "table.csv", index=False)
    assert ("counts time" in find_proposals(tmp_path / "table.csv", DataConfig())[0].forecasts) == bool(condition)


def test_a_typical_year_without_names_is_one_series(tmp_path: Path) -> None:
    """As EnergyPlus writes the weather: each month is that of another year."""
    stamps = pd.date_range("2001-01-01", periods=8760, freq="h")
    years = np.array([1986, 1979, 1992, 1980, 1991, 1977, 1988, 1985, 1990, 1983, 1989, 1982])[stamps.month - 1]
    frame = pd.DataFrame([years, stamps.month, stamps.day, stamps.hour + 1, noise(8760)]).T
    path = tmp_path / "chicago.epw"
    frame.astype(dict.fromkeys(range(4), int)).to_csv(path, header=False, index=False)
    options = find_proposals(path, DataConfig())[0].options
    assert dict(options) == {"header": False, "time": "row-number", "season": "24", "target": "column_5"}
