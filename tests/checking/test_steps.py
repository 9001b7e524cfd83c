"""The step of the time axis: rows off it, gaps, repeated stamps and the clocks of a zone."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking import examine
from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, SIXTY_VALUES, csv_rows, date_column, hourly_wave, noise, values
from .first_commands import FirstCommand, check_first_command, each_case


def weekdays_without_holidays() -> pd.DataFrame:
    stamps = pd.bdate_range("2020-01-01", periods=300).delete([20, 77, 150, 222])
    return pd.DataFrame({"Date": stamps.strftime("%m/%d/%Y"), "Open": values(296), "Close": values(296)})


def some_days_of_a_season() -> pd.DataFrame:
    """Two or three days of most weeks."""
    rows = np.flatnonzero(np.isin(np.arange(300) % 7, (1, 2, 4)) & (RNG.random(300) < 0.9))
    return pd.DataFrame(
        {"rownames": range(1, len(rows) + 1), "date": date_column(300)[rows], "riders": values(len(rows))}
    )


def half_hours_with_the_weather() -> pd.DataFrame:
    """As the traffic of Minneapolis: an hour has a row for each kind of weather, all with the same count."""
    hours = pd.date_range("2024-01-01", periods=300, freq="h").strftime("%Y-%m-%d %H:%M")
    weather = np.array(["Clear", "Rain", "Fog", "Mist"])[RNG.integers(0, 4, 300)]
    frame = pd.DataFrame({"date_time": hours, "weather": weather, "traffic_volume": values(300)})
    again = frame.iloc[::5].assign(weather="Drizzle")
    return pd.concat([frame, again]).sort_values("date_time", kind="stable")


def calls_of_cells() -> str:
    """A file without names, of one day: some cells of a city have several rows at a time, others none."""
    stamps = 1383260400000 + 600_000 * np.arange(144).repeat(RNG.integers(2, 9, 144))
    rows = [f"{stamp}\t{RNG.integers(0, 99)}\t{RNG.exponential():.14f}" for stamp in stamps]
    return "\n".join(rows) + "\n"


def car_parks() -> pd.DataFrame:
    """Some twenty rows a day of each, at odd minutes; the capacity never changes."""
    rows = []
    for at, name in enumerate(["A01", "B02", "C03"]):
        stamps = pd.date_range("2016-10-04", periods=60 * 24, freq="h") + pd.to_timedelta(
            RNG.integers(0, 900, 1440), "s"
        )
        stamps = stamps[(stamps.hour >= 8) & (stamps.hour <= 16)].strftime("%Y-%m-%d %H:%M:%S")
        rows.append(
            pd.DataFrame({"Code": name, "Capacity": 500 + at, "Occupancy": values(len(stamps)), "Updated": stamps})
        )
    return pd.concat(rows)


def closing_times() -> pd.DataFrame:
    """Business days at the end of trading, which comes sooner on a few."""
    stamps = pd.bdate_range("2020-01-01", periods=500)
    hours = np.where(np.arange(500) % 120 == 100, 13, 16)
    return pd.DataFrame({"Date": stamps + pd.to_timedelta(hours, unit="h"), "Close": values(500)})


def an_index_of_dates_with_repeats() -> pd.DataFrame:
    """As pandas writes its index, with a few days twice."""
    frame = pd.DataFrame({"": date_column(200), "Delhi": values(200), "Goa": values(200)})
    return pd.concat([frame[:104], frame[100:]])


def winners_of_games() -> pd.DataFrame:
    """Two games were left out, and one was held between two others."""
    years = [year for year in (*range(1900, 2020, 4), 1906) if year not in (1916, 1940)]
    return pd.DataFrame({"rownames": np.arange(1, len(years) + 1), "Year": sorted(years), "Gold": values(len(years))})


def sizes_of_trees() -> pd.DataFrame:
    """Trees were measured at the same ages, some years apart."""
    ages = [3, 5, 10, 15, 20, 25]
    return pd.DataFrame({"height": values(60), "age": np.tile(ages, 10), "Seed": np.repeat(np.arange(301, 311), 6)})


def surveys_of_some_years() -> pd.DataFrame:
    """Hundreds were asked in each of some years, more in some than in others."""
    years = np.repeat([*range(1974, 1988, 2), *range(1987, 2017, 3)], RNG.integers(200, 900, 17))
    return pd.DataFrame({"year": years, "sex": RNG.choice(["f", "m"], len(years)), "words": values(len(years))})


def years_of_two_presidents() -> pd.DataFrame:
    """The year of a change stands twice."""
    years = sorted([*range(1900, 1960), 1913, 1921, 1933, 1945, 1953])
    return pd.DataFrame(
        {"President": list("abcde") * 13, "Fiscal Year": years, "Pending": (np.arange(65) ** 1.3).round(1)}
    )


def seconds_of_a_clock_that_is_off() -> pd.DataFrame:
    off = np.random.default_rng(4).integers(-1, 2, 300)
    return pd.DataFrame({"ts": 1_600_000_020 + 60 * np.arange(300) + off, "v": values(300)})


def glucose_of_a_sensor() -> pd.DataFrame:
    """Five minutes but for a few seconds, in two thirds of each day; 15 minutes are no step of it."""
    minutes = np.arange(0, 7 * 1440, 5)
    minutes = minutes[minutes % 1440 >= 480]
    seconds = minutes * 60 + np.random.default_rng(3).integers(-9, 10, len(minutes)) + 100
    return pd.DataFrame({"time": pd.Timestamp("2023-03-01") + pd.to_timedelta(seconds, unit="s"), "gl": values(1344)})


def greenness_of_a_camera() -> pd.DataFrame:
    """Photos by day; the nights have no rows, that of the change of clocks neither."""
    stamps = pd.date_range("2021-01-01", "2021-12-31 23:30", freq="30min")
    stamps = stamps[(stamps.hour > 6) & (stamps.hour < 20)]
    jitter = pd.to_timedelta(RNG.integers(31, 33, len(stamps)), "s")
    statistics = {name: noise(len(stamps)) for name in ("exposure", "ir_mean", "ir_std", "ir_5_qtl", "ir_50_qtl")}
    return pd.DataFrame({"stamp": (stamps + jitter).strftime("%Y-%m-%d %H:%M:%S"), **statistics, "elev": noise(1)[0]})


def bills_of_two_months() -> pd.DataFrame:
    """Bills come every sixty days or so, and a quarter would have one or two."""
    stamps = pd.date_range("2012-01-20", periods=40, freq="2MS") + pd.to_timedelta(RNG.integers(0, 3, 40), "D")
    return pd.DataFrame({"start": stamps.strftime("%Y-%m-%d"), "value": noise(40)})


def reports_of_devices() -> pd.DataFrame:
    """Each reports every ten minutes, off by some seconds, and no two at one time."""
    steps = {name: 600 * np.arange(200) + RNG.integers(0, 20, 200) + 220 * at for at, name in enumerate("abc")}
    frame = pd.concat({name: pd.Series(each, name="at") for name, each in steps.items()}, names=["unit"])
    frame = frame.reset_index("unit").sort_values("at")
    return frame.assign(at=pd.Timestamp("2024-03-01") + pd.to_timedelta(frame["at"], "s"), volts=noise(600))


def hours_in_the_order_of_words() -> str:
    """The tenth of a month stands before its second day."""
    hours = pd.date_range("2006-03-01", periods=24 * 90, freq="h")
    lines = [
        f"{hour:%Y-%m-%d %H:%M}:00.000 +0200,{number:.3f}" for hour, number in zip(hours, noise(2160), strict=True)
    ]
    days = sorted(range(90), key=lambda day: (hours[24 * day].month, str(hours[24 * day].day)))
    return "\n".join(
        ["Formatted Date,Temperature (C)", *(line for day in days for line in lines[24 * day : 24 * day + 24])]
    )


def hours_of_a_few_days() -> pd.DataFrame:
    hours = pd.Series(pd.date_range("2024-01-01", periods=4000, freq="h"))
    few = hours[hours.dt.day_of_year % 15 == 0].reset_index(drop=True)
    return pd.DataFrame({"date": few.dt.strftime("%Y-%m-%d %H:%M"), "y": values(len(few))})


def nine_years_of_wards() -> pd.DataFrame:
    years = np.repeat(np.arange(2006, 2015), 9)
    return pd.DataFrame({"ward": RNG.choice([*"ABC"], 81), "ill": RNG.integers(1, 900, 81), "year": years})


def of_an_aid_agency() -> str:
    """Every four or eight years."""
    years = (1951, 1955, 1963, 1967, 1971, 1979, 1983, 1991, 1995, 2003, 2011)
    rows = [f"{name},{year},{v}" for name in ("Cuba", "Haiti") for year, v in zip(years, values(11), strict=True)]
    return "\n".join(["country,year,aid", *rows])


def of_a_survey() -> str:
    """Some are asked each year, some every second one."""
    answers = [(name, year) for name, step in ((1, 1), (2, 2), (3, 1)) for year in range(1984, 1994, step)]
    rows = [f"{name},{year},{v}" for (name, year), v in zip(answers, values(len(answers)), strict=True)]
    return "\n".join(["id,year,visits", *rows])


def of_a_hospital() -> str:
    """Patients are numbered, and each came at some minute."""
    at = np.cumsum(np.random.default_rng(4).integers(2, 38, 600))
    times = pd.Timestamp("2023-01-01") + pd.to_timedelta(at, unit="min")
    rows = [
        f"{1000 + at};{t:%d.%m.%Y %H:%M};{value}"
        for at, (t, value) in enumerate(zip(times, hourly_wave(600), strict=True))
    ]
    return "\n".join(["Case;Admitted;Pulse", *rows]) + "\n"


AUTUMN = pd.date_range("2021-10-25", periods=24 * 14, freq="h", tz="Europe/Berlin")
SPRING = pd.date_range("2021-03-20", periods=24 * 14, freq="h", tz="Europe/London")
SPRING_OF_CHICAGO = pd.date_range("2021-03-01", periods=24 * 21, freq="h", tz="America/Chicago")


def of_an_american_grid() -> str:
    """An hour stands twice on the day in November."""
    hours = pd.date_range("2022-10-20", periods=24 * 30, freq="h", tz="America/New_York")
    rows = [f"{hour:%m/%d/%Y %H:%M},{value}" for hour, value in zip(hours, hourly_wave(len(hours)), strict=True)]
    return "\n".join(["Time Stamp,Load", *rows]) + "\n"


CASES = (
    FirstCommand(
        "weekdays",
        weekdays_without_holidays,
        {"target": "Close"},
        "'Close', 5 steps of 1 business day ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "some days",
        some_days_of_a_season,
        {"resample": "W-MON"},
        "'riders', mean of each 1 week, 11 steps of 1 week ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "equal rows",
        half_hours_with_the_weather,
        {"duplicates": "first"},
        "'traffic_volume', 24 steps of 1 hour ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "odd minutes",
        car_parks,
        {"item_id": "Code", "target": "Occupancy", "resample": "D"},
        "'Occupancy' of 3 series told apart by 'Code', mean of each 1 day, 7 steps of 1 day ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "closing times",
        closing_times,
        {"resample": "B"},
        "'Close', mean of each 1 business day, 5 steps of 1 business day ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "an index with repeats",
        an_index_of_dates_with_repeats,
        {"target": "Delhi", "duplicates": "first"},
        "'Delhi', 7 steps of 1 day ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "winners of games",
        winners_of_games,
        {"resample": "4"},
        "'Gold', mean of each step of 4, 7 steps of 1 row ahead",
    ),
    FirstCommand("sizes of trees", sizes_of_trees, {"time": "age", "item_id": "Seed", "resample": "5"}),
    FirstCommand(
        "surveys of some years",
        surveys_of_some_years,
        {"resample": "3"},
        "'words', mean of each step of 3, 3 steps of 1 row ahead",
    ),
    FirstCommand(
        "years of two presidents",
        years_of_two_presidents,
        {"resample": "1"},
        "'Pending', mean of each 'Fiscal Year', 3 steps of 1 row ahead",
    ),
    FirstCommand(
        "seconds of a clock that is off",
        seconds_of_a_clock_that_is_off,
        {"time": "ts", "date_format": "s", "resample": "min"},
    ),
    FirstCommand("glucose of a sensor", glucose_of_a_sensor, {"resample": "5min", "missing": "mask"}),
    FirstCommand(
        "weeks on other weekdays in each series",
        "show,date,viewers\n"
        + "".join(
            f"{show},{day:%Y-%m-%d},{value}\n"
            for show, first in enumerate(("2021-01-05", "2021-01-06", "2021-01-14"), 1)
            for day, value in zip(pd.date_range(first, periods=15, freq="7D"), SIXTY_VALUES, strict=False)
        ),
        {"item_id": "show", "resample": "W-MON"},
        step="W-MON",
        no_others=True,
    ),
    FirstCommand("camera", greenness_of_a_camera, {"target": "ir_mean", "resample": "30min", "tz": None}),
    FirstCommand("bills", bills_of_two_months, {"resample": "2MS", "missing": None}),
    FirstCommand("devices", reports_of_devices, {"item_id": "unit", "resample": "10min"}),
    FirstCommand("words", hours_in_the_order_of_words, {"time": None, "missing": None}, quick=True),
    FirstCommand(
        "hours of a few days",
        hours_of_a_few_days,
        {},
        "'y', 24 steps of 1 hour ahead, where only 7% of the steps have a value",
        quick=True,
    ),
    FirstCommand(
        "nine years of wards", nine_years_of_wards, {}, "'ill', sum of each 'year', 3 steps of 1 row ahead", quick=True
    ),
    FirstCommand(
        "an aid agency",
        of_an_aid_agency,
        {"item_id": "country", "freq": "4", "missing": "mask"},
        "'aid' of 2 series told apart by 'country', 4 steps of 1 row ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "a survey",
        of_a_survey,
        {"freq": "1", "missing": "mask"},
        "'visits' of 3 series told apart by 'id', 3 steps of 1 row ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "a hospital",
        of_a_hospital,
        {"target": "Pulse", "date_format": "day-first", "resample": "30min", "missing": "mask"},
        "'Pulse', mean of each 30 minutes, 48 steps of 30 minutes ahead",
        no_others=True,
    ),
    FirstCommand(
        "summer time",
        "time,y\n" + csv_rows(lambda hour, value: f"{hour:%Y-%m-%d %H:%M},{value}", AUTUMN),
        {"tz": "Europe/Berlin"},
        step="h",
        no_others=True,
    ),
    FirstCommand("ten minutes", calls_of_cells, {"resample": "10min"}),
    FirstCommand(
        "summer time begins",
        "time,y\n" + csv_rows(lambda hour, value: f"{hour:%Y-%m-%d %H:%M},{value}", SPRING),
        {"tz": "Europe/London"},
        step="h",
        no_others=True,
    ),
    FirstCommand(
        "summer time of one of four zones begins, and the first is named",
        "time,y\n" + csv_rows(lambda hour, value: f"{hour:%Y-%m-%d %H:%M},{value}", SPRING_OF_CHICAGO),
        {"tz": "America/New_York"},
        step="h",
        no_others=True,
    ),
    FirstCommand(
        "an American grid",
        of_an_american_grid,
        {"tz": "America/New_York"},
        "'Load', 24 steps of 1 hour ahead, if America/New_York is the zone, not that of Chicago, Denver or Los_Angeles",
        no_others=True,
    ),
)


@each_case(CASES)
def test_the_first_command_puts_rows_on_a_step(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


def test_numbers_with_an_odd_last_step_are_put_on_the_usual_one(tmp_path: Path) -> None:
    """As ChickWeight: weighed every second day, and once more on the last."""
    path = tmp_path / "table.csv"
    ages = [*range(0, 21, 2), 21]
    rows = [(chick, age, 40 + age * (3 + chick % 4) + age % 3) for chick in range(20) for age in ages]
    pd.DataFrame(rows, columns=["chick", "time", "weight"]).to_csv(path, index=False)
    proposal = find_proposals(path, DataConfig())[0]
    assert dict(proposal.options) == {"item_id": "chick", "resample": "2"}
    assert proposal.forecasts.startswith("'weight' of 20 series told apart by 'chick', mean of each step of 2, ")


@pytest.mark.slow
@pytest.mark.parametrize(("zone", "advised"), [("Europe/London", "Europe/London"), ("America/Chicago", "America/")])
def test_a_gap_of_spring_advises_a_zone_that_has_it(tmp_path: Path, zone: str, advised: str) -> None:
    hours = pd.date_range("2021-03-01", periods=24 * 40, freq="h", tz=zone)
    path = tmp_path / "table.csv"
    path.write_text("time,y\n" + csv_rows(lambda hour, value: f"{hour:%Y-%m-%d %H:%M},{value}", hours))
    gap = next(each for each in examine(path, DataConfig()).findings if each.code == "FA204")
    assert f"--tz {advised}" in str(gap.fix)


@pytest.mark.slow
def test_a_gap_of_another_sunday_is_no_change_of_the_clock(tmp_path: Path) -> None:
    hours = pd.date_range("2021-05-01", periods=24 * 20, freq="h").drop(pd.Timestamp("2021-05-09 02:00"))
    path = tmp_path / "table.csv"
    path.write_text("time,y\n" + csv_rows(lambda hour, value: f"{hour:%Y-%m-%d %H:%M},{value}", hours))
    assert [each.code for each in examine(path, DataConfig()).findings] == ["FA214"]
