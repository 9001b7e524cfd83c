"""`forecast check` ends with the commands that train on a table, and they do."""

import itertools
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking import check_table, examine
from forecast_attn.checking.commands import find_proposals
from forecast_attn.checking.proposal import command_text
from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table

RNG = np.random.default_rng(0)
SUMS = {"aggregate": "sum", "missing": "zero"}
INITIAL_STATE = RNG.bit_generator.state
QUICK = (
    *("--max-epochs", "1", "--epoch-windows", "16", "--validation-windows", "8", "--hidden-size", "4"),
    *("--combination", "none", "--accelerator", "cpu", "--seed", "1"),
)


@pytest.fixture(autouse=True)
def the_same_tables_in_any_order_of_tests() -> None:
    RNG.bit_generator.state = INITIAL_STATE


def values(rows: int) -> np.ndarray:
    return (10 + np.arange(rows) % 7 + RNG.normal(scale=0.1, size=rows)).round(3)


def days(rows: int, first: str = "2024-01-01") -> pd.Series:
    return pd.Series(pd.date_range(first, periods=rows, freq="D").strftime("%Y-%m-%d"))


def half_hours_with_their_date() -> pd.DataFrame:
    """As vic_electricity: `Date` comes by name before the half-hourly `Time`."""
    time = pd.date_range("2014-01-01", periods=700, freq="30min")
    return pd.DataFrame(
        {"Time": time.strftime("%Y-%m-%d %H:%M"), "Demand": values(700), "Date": time.strftime("%Y-%m-%d")}
    )


def hours_in_parts() -> pd.DataFrame:
    """As the pollution of Beijing: the date stands in four columns."""
    time = pd.date_range("2010-01-01", periods=400, freq="h")
    parts = {name: getattr(time, name) for name in ("year", "month", "day", "hour")}
    wind = np.where(np.arange(400) % 3, "NW", "SE")
    return pd.DataFrame({"No": np.arange(1, 401), **parts, "pm2.5": values(400), "cbwd": wind})


def quarters_in_parts() -> pd.DataFrame:
    years = np.repeat(np.arange(1959, 1989), 4).astype(float)
    return pd.DataFrame({"year": years, "quarter": np.tile([1.0, 2.0, 3.0, 4.0], 30), "gdp": values(120)})


def states_and_regions() -> pd.DataFrame:
    """Trips by state, region and purpose; a remark that differs in every row tells no series apart."""
    months = pd.date_range("2000-01-01", periods=40, freq="MS").strftime("%Y-%m-%d")
    rows = [
        (month, state, region, f"remark {at % 3}", at)
        for state, region in (("N", "a"), ("N", "b"), ("S", "a"), ("S", "b"))
        for at, month in enumerate(months)
    ]
    return pd.DataFrame(rows, columns=["Month", "State", "Region", "Remark", "Trips"]).sample(frac=1, random_state=1)


def weekdays_without_holidays() -> pd.DataFrame:
    stamps = pd.bdate_range("2020-01-01", periods=300).delete([20, 77, 150, 222])
    return pd.DataFrame({"Date": stamps.strftime("%m/%d/%Y"), "Open": values(296), "Close": values(296)})


def first_days_of_months_by_month_first() -> pd.DataFrame:
    stamps = pd.date_range("1990-01-01", periods=90, freq="MS")
    return pd.DataFrame({"Date": [f"{day.month}/1/{day.year}" for day in stamps], "cpi": values(90)})


def years_of_days_of_sites() -> pd.DataFrame:
    """As the temperatures of the aspen: the sites of each day stand together, and days begin in the autumn before."""
    grid = [(year, day, site) for year in (2009, 2010, 2012) for day in range(-65, 366) for site in (48, 183)]
    return pd.DataFrame(grid, columns=["year", "doy", "site_id"]).assign(temperature=values(len(grid)))


def events() -> pd.DataFrame:
    """Many rows a day, at any time of it."""
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 60 * 86_400, 4000)), unit="s")
    return pd.DataFrame({"when": stamps.strftime("%Y-%m-%d %H:%M:%S"), "amount": values(4000)})


def no_time_at_all() -> pd.DataFrame:
    return pd.DataFrame({"CO2": values(200), "gas": values(200)})


def years_and_months_as_digits() -> pd.DataFrame:
    return pd.DataFrame(
        {"Date": pd.date_range("1990-01-01", periods=90, freq="MS").strftime("%Y%m"), "ret": values(90)}
    )


def points_for_missing() -> pd.DataFrame:
    cells = pd.Series(values(90)).astype(str)
    cells[[3, 40]] = "."
    return pd.DataFrame({"DATE": days(90), "VIX": cells})


def numbers_in_doubt() -> pd.DataFrame:
    """As the temperatures of Melbourne: a digitised page of which three numbers could hardly be read."""
    cells = pd.Series(values(90)).astype(str)
    cells[[3, 40, 41]] = ["?0.2", "?0.8", "?0.1"]
    return pd.DataFrame({"Date": days(90), "Temp": cells})


def decimal_years() -> pd.DataFrame:
    return pd.DataFrame({"rownames": range(1, 97), "time": 1949 + np.arange(96) / 12, "passengers": values(96)})


def weeks_of_years(rows: int = 156, season: float = 52) -> pd.DataFrame:
    """As R writes them: 1980.0, 1980.01923, …"""
    time = 1980 + np.arange(rows) / season
    return pd.DataFrame({"rownames": range(1, rows + 1), "time": time, "value": values(rows)})


def some_days_of_a_season() -> pd.DataFrame:
    """Two or three days of most weeks."""
    rows = np.flatnonzero(np.isin(np.arange(300) % 7, (1, 2, 4)) & (RNG.random(300) < 0.9))
    return pd.DataFrame({"rownames": range(1, len(rows) + 1), "date": days(300)[rows], "riders": values(len(rows))})


def clocks_beside_dates() -> pd.DataFrame:
    time = pd.date_range("2024-01-01", periods=240, freq="h")
    return pd.DataFrame({"date": time.strftime("%d.%m.%Y"), "clock": time.strftime("%H:%M"), "load": values(240)})


def many_of_one_kind() -> pd.DataFrame:
    columns = {f"meter_{at}": values(90) for at in range(9)}
    return pd.DataFrame({"date": days(90), **columns})


def half_hours_with_the_weather() -> pd.DataFrame:
    """As the traffic of Minneapolis: an hour has a row for each kind of weather, all with the same count."""
    hours = pd.date_range("2024-01-01", periods=300, freq="h").strftime("%Y-%m-%d %H:%M")
    weather = np.array(["Clear", "Rain", "Fog", "Mist"])[RNG.integers(0, 4, 300)]
    frame = pd.DataFrame({"date_time": hours, "weather": weather, "traffic_volume": values(300)})
    again = frame.iloc[::5].assign(weather="Drizzle")
    return pd.concat([frame, again]).sort_values("date_time", kind="stable")


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


def years_by_months() -> pd.DataFrame:
    months = pd.DataFrame(values(360).reshape(30, 12), columns=[f"{at}" for at in range(1, 13)])
    months.insert(0, "Year", range(1980, 2010))
    return months.assign(Annual=1.5)


def countries_by_years() -> pd.DataFrame:
    years = pd.DataFrame(values(240).reshape(4, 60), columns=[f"{year}" for year in range(1960, 2020)])
    years.insert(0, "Country", ["Aruba", "Chad", "Cuba", "Fiji"])
    return years


def months_with_switches() -> pd.DataFrame:
    """As ezanders: a column per month that says whether the row is of that month."""
    years, months = np.repeat(np.arange(1980, 1990), 12), np.tile(np.arange(1, 13), 10)
    frame = pd.DataFrame({"year": years, "month": months, "claims": values(120)})
    names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    return frame.assign(**{name: (months == at).astype(int) for at, name in enumerate(names, 1)})


def years_and_periods() -> pd.DataFrame:
    """As the Bureau of Labor Statistics writes them."""
    years, months = np.repeat(np.arange(1990, 2000), 12), np.tile(np.arange(1, 13), 10)
    return pd.DataFrame({"Year": years, "Period": [f"M{month:02d}" for month in months], "Value": values(120)})


def speed_limits() -> pd.DataFrame:
    """What stands still or is a switch comes after what moves."""
    years = np.tile(np.arange(1970, 2000), 3)
    limit = np.where(years < 1985, 0.0, np.where(years == 1985, 0.5, 1.0))
    return pd.DataFrame({"year": years, "state": np.repeat([1, 2, 3], 30), "sl55": limit, "deaths": values(90)})


def half_hours_called_y() -> pd.DataFrame:
    """As taylor: one column, whose name is short for year, too."""
    return pd.DataFrame({"Y": (20_000 + 100 * values(400)).astype(int)})


def shares_with_the_name_of_a_month() -> pd.DataFrame:
    shares = {name: values(120) for name in ("AMZN", "APA", "JPM", "MO", "SPY", "TGT")}
    return pd.DataFrame({"Date": pd.bdate_range("2020-01-01", periods=120).strftime("%Y-%m-%d"), **shares})


def ages_of_persons() -> pd.DataFrame:
    """As a panel of wages: what goes up by one each year of each person is no target."""
    person, year = np.repeat(np.arange(10), 9), np.tile(np.arange(1980, 1989), 10)
    return pd.DataFrame({"nr": person, "year": year, "age": person + year - 1950, "wage": values(90)})


def forecasts_of_somebody_else() -> pd.DataFrame:
    hours = pd.date_range("2020-01-01", periods=300, freq="h").strftime("%Y-%m-%d %H:%M")
    columns = {"total load forecast": values(300), "total load actual": values(300), "wind": 9 * values(300)}
    return pd.DataFrame({"time": hours, **columns})


def measurements_without_names() -> pd.DataFrame:
    """As observations of a star: the day in fractions, the brightness."""
    rows = pd.DataFrame({"days": 1900 + np.cumsum(1 + RNG.random(200)), "brightness": values(200)}).round(3)
    return rows[1:].set_axis(rows.iloc[0].astype(str), axis=1)  # its first row where names are expected


def account() -> pd.DataFrame:
    """A statement of a bank: some bookings on most days, each unlike the one before it."""
    booked = np.sort(RNG.choice(730, 900))
    date = pd.Timestamp("2022-01-01") + pd.to_timedelta(booked, unit="D")
    amount = np.where(np.arange(900) % 30, -RNG.lognormal(3, 0.8, 900), 1500).round(2)
    return pd.DataFrame({"Date": date.strftime("%d/%m/%Y"), "Amount": amount, "Balance": amount.cumsum().round(2)})


def closing_times() -> pd.DataFrame:
    """Business days at the end of trading, which comes sooner on a few."""
    stamps = pd.bdate_range("2020-01-01", periods=500)
    hours = np.where(np.arange(500) % 120 == 100, 13, 16)
    return pd.DataFrame({"Date": stamps + pd.to_timedelta(hours, unit="h"), "Close": values(500)})


def an_index_of_dates_with_repeats() -> pd.DataFrame:
    """As pandas writes its index, with a few days twice."""
    frame = pd.DataFrame({"": days(200), "Delhi": values(200), "Goa": values(200)})
    return pd.concat([frame[:104], frame[100:]])


def codes_beside_properties() -> pd.DataFrame:
    series = [pd.DataFrame({"date": days(60), "population": 10_000 - at, "zipcode": at}) for at in range(20)]
    return pd.concat(series).assign(orders=values(1200)).sort_values("date", kind="stable")


def a_switch_called_id() -> pd.DataFrame:
    """As votes in elections: who governs, -1 or 1, in the column Id."""
    return pd.DataFrame({"year": range(1916, 1996, 4), "vote": values(20), "Id": np.where(np.arange(20) % 3, 1, -1)})


def months_of_short_years() -> pd.DataFrame:
    months = pd.date_range("1996-01-01", periods=120, freq="MS")
    return pd.DataFrame({"month": [f"{day.month}/{day:%y}" for day in months], "sold": values(120)})


def settings_above_the_rows() -> pd.DataFrame:
    """As glucose meters write them: who wears it, in rows without a time."""
    stamps = pd.date_range("2024-01-01", periods=600, freq="5min").strftime("%Y-%m-%dT%H:%M:%S")
    settings = pd.DataFrame({"Timestamp": [None] * 3, "Event": ["FirstName", "LastName", "Device"]})
    return pd.concat([settings, pd.DataFrame({"Timestamp": stamps, "Event": "EGV", "Glucose": values(600)})])


def a_year_beside_dates_without_one() -> pd.DataFrame:
    """As the inputs of openTEPES: the areas, of which there are many, are no steps of a series for each hour."""
    time = pd.date_range("2030-01-01", periods=400, freq="h")
    areas = {f"Node_{at}": values(400) for at in range(1, 10)}
    return pd.DataFrame({"Period": 2030, "LoadLevel": time.strftime("%m-%d %H:%M:%S+01:00"), **areas})


def one_date_beside_days_of_the_year() -> pd.DataFrame:
    """As geoknife writes them: the date is that of the first row in every row."""
    return pd.DataFrame({"TIMESTEP": "1980-01-01", "time(day of year)": np.arange(365.0), "mean": values(365)})


def clubs_of_divisions() -> pd.DataFrame:
    """As the teams of Lahman: most clubs played for two years, and most rows are of those that played for long."""
    lives = [(f"F{at}", 40 if at < 8 else 2) for at in range(24)]
    rows = [
        (1900 + year, club, "WE"[year % 2 if at % 2 else 0])
        for at, (club, life) in enumerate(lives)
        for year in range(life)
    ]
    return pd.DataFrame(rows, columns=["yearID", "franchID", "divID"]).assign(W=values(len(rows)))


def seasons_of_players() -> pd.DataFrame:
    """As the statistics of a league: the year in which a season began is not called one."""
    lives = [(player, 2000 + player % 5, 15) for player in range(10)]
    rows = [(900 + player, first + at) for player, first, life in lives for at in range(life)]
    return pd.DataFrame(rows, columns=["person_id", "season_start"]).assign(stat_goals=values(len(rows)))


def visits_by_day_of_a_pandemic() -> pd.DataFrame:
    """As the samples of a hospital: rows are numbered, and several stand at each day."""
    day = np.repeat(np.arange(4, 84), 1 + np.arange(80) % 5)
    clinic = np.where(np.arange(len(day)) % 3, "ward", "laboratory")
    return pd.DataFrame(
        {"rownames": np.arange(1, len(day) + 1), "pan_day": day, "clinic": clinic, "hours": values(len(day))}
    )


CASES: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, object], str]] = {
    "the finer of two dates": (half_hours_with_their_date, {}, "'Demand', 48 steps of 30 minutes ahead"),
    "year, month, day, hour": (
        hours_in_parts,
        {"time": "year,month,day,hour", "target": "pm2.5"},
        "'pm2.5', 24 steps of 1 hour ahead",
    ),
    "year, quarter": (quarters_in_parts, {"time": "year,quarter"}, "'gdp', 4 steps of 1 quarter ahead"),
    "state and region": (
        states_and_regions,
        {"item_id": "State,Region"},
        "'Trips' of 4 series told apart by 'State,Region', 12 steps of 1 month ahead",
    ),
    "weekdays": (weekdays_without_holidays, {"target": "Close"}, "'Close', 5 steps of 1 business day ahead"),
    "month first by its step": (
        first_days_of_months_by_month_first,
        {"date_format": "month-first"},
        "'cpi', 12 steps of 1 month ahead",
    ),
    "events": (events, {"resample": "h", **SUMS}, "'amount', sum of each 1 hour, 24 steps of 1 hour ahead"),
    "row numbers": (
        no_time_at_all,
        {"time": "row-number", "target": "CO2"},
        "'CO2', 12 steps of 1 row ahead, if the rows are in the order of time",
    ),
    "a target called Y": (
        half_hours_called_y,
        {"time": "row-number"},
        "'Y', 12 steps of 1 row ahead, if the rows are in the order of time",
    ),
    "a share called MO": (
        shares_with_the_name_of_a_month,
        {"wide": True},
        "6 columns as one series each ('AMZN', 'APA', 'JPM', …), 5 steps of 1 business day ahead",
    ),
    "ages": (
        ages_of_persons,
        {"item_id": "nr", "target": "wage"},
        "'wage' of 10 series told apart by 'nr', 3 steps of 1 row ahead",
    ),
    "forecasts": (
        forecasts_of_somebody_else,
        {"target": "total load actual"},
        "'total load actual', 24 steps of 1 hour ahead",
    ),
    "no names": (
        measurements_without_names,
        {"header": False, "time": "row-number", "target": "column_2"},
        "'column_2', 12 steps of 1 row ahead, if the rows are in the order of time",
    ),
    "202401": (years_and_months_as_digits, {"date_format": "%Y%m"}, "'ret', 12 steps of 1 month ahead"),
    "points": (points_for_missing, {}, "'VIX', 7 steps of 1 day ahead"),
    "numbers in doubt": (
        numbers_in_doubt,
        {"na": ("?0.2", "?0.8", "?0.1")},
        "'Temp', 7 steps of 1 day ahead, with '?0.2', '?0.8', '?0.1' as no value",
    ),
    "decimal years": (decimal_years, {}, "'passengers', 12 steps of 1 month ahead"),
    "weeks of decimal years": (
        weeks_of_years,
        {"date_format": "0.0192307692", "season": "52"},
        "'value', 12 steps of 1 row ahead, with 'time' counted in steps of 0.0192307692",
    ),
    "some days": (
        some_days_of_a_season,
        {"resample": "W-MON"},
        "'riders', mean of each 1 week, 11 steps of 1 week ahead",
    ),
    "date and clock": (
        clocks_beside_dates,
        {"time": "date,clock", "date_format": "day-first"},
        "'load', 24 steps of 1 hour ahead",
    ),
    "equal rows": (half_hours_with_the_weather, {"duplicates": "first"}, "'traffic_volume', 24 steps of 1 hour ahead"),
    "odd minutes": (
        car_parks,
        {"item_id": "Code", "target": "Occupancy", "resample": "D"},
        "'Occupancy' of 3 series told apart by 'Code', mean of each 1 day, 7 steps of 1 day ahead",
    ),
    "a year per row": (years_by_months, {"layout": "calendar"}, "the cells as one series, 12 steps of 1 month ahead"),
    "a series per row": (countries_by_years, {"layout": "rows"}, "the rows as 4 series, 3 steps of 1 year ahead"),
    "switches of months": (
        months_with_switches,
        {"time": "year,month", "target": "claims"},
        "'claims', 12 steps of 1 month ahead",
    ),
    "year and period": (years_and_periods, {"time": "Year,Period"}, "'Value', 12 steps of 1 month ahead"),
    "what moves": (
        speed_limits,
        {"item_id": "state", "target": "deaths"},
        "'deaths' of 3 series told apart by 'state', 3 steps of 1 row ahead",
    ),
    "many of one kind": (
        many_of_one_kind,
        {"wide": True},
        "9 columns as one series each ('meter_0', 'meter_1', 'meter_2', …), 7 steps of 1 day ahead",
    ),
    "amounts": (
        account,
        {"target": "Amount", "resample": "D", **SUMS},
        "'Amount', sum of each 1 day, 7 steps of 1 day ahead",
    ),
    "closing times": (
        closing_times,
        {"resample": "B"},
        "'Close', mean of each 1 business day, 5 steps of 1 business day ahead",
    ),
    "an index with repeats": (
        an_index_of_dates_with_repeats,
        {"target": "Delhi", "duplicates": "first"},
        "'Delhi', 7 steps of 1 day ahead",
    ),
    "codes": (
        codes_beside_properties,
        {"item_id": "zipcode", "target": "orders"},
        "'orders' of 20 series told apart by 'zipcode', 7 steps of 1 day ahead",
    ),
    "a switch called Id": (a_switch_called_id, {"ignore": ("Id",)}, "'vote', 5 steps of 1 row ahead"),
    "1/96": (months_of_short_years, {}, "'sold', 12 steps of 1 month ahead"),
    "a date in two columns": (
        a_year_beside_dates_without_one,
        {"time": "Period,LoadLevel", "wide": True},
        "9 columns as one series each ('Node_1', 'Node_2', 'Node_3', …), 24 steps of 1 hour ahead",
    ),
    "one date": (one_date_beside_days_of_the_year, {"time": "time(day of year)"}, "'mean', 12 steps of 1 row ahead"),
    "clubs": (
        clubs_of_divisions,
        {"time": "yearID", "item_id": "franchID"},
        "'W' of 8 series told apart by 'franchID', 3 steps of 1 row ahead",
    ),
    "seasons of players": (
        seasons_of_players,
        {"time": "season_start", "item_id": "person_id"},
        "'stat_goals' of 10 series told apart by 'person_id', 3 steps of 1 row ahead",
    ),
    "days of a pandemic": (
        visits_by_day_of_a_pandemic,
        {"time": "pan_day", "resample": "1"},
        "'hours', mean of each 'pan_day', 12 steps of 1 row ahead",
    ),
    "settings": (settings_above_the_rows, {}, "'Glucose', 96 steps of 5 minutes ahead"),
}
each_case = pytest.mark.parametrize("name", CASES)


@pytest.mark.slow
@each_case
def test_the_first_command_says_what_the_table_means_and_trains(forecast: Callable, tmp_path: Path, name: str) -> None:
    make, options, forecasts = CASES[name]
    path = tmp_path / "table.csv"
    make().to_csv(path, index=False)
    proposal, *_ = find_proposals(path, DataConfig())
    assert (dict(proposal.options), proposal.forecasts) == (options, forecasts)
    words = shlex.split(command_text(str(path), {}, proposal.options))
    outcome = forecast(*words[1:], *QUICK, "--out", tmp_path / "run", "--quiet")
    assert outcome.code == 0, outcome


WRITTEN = pd.date_range("2019-11-04", periods=120, freq="D")
DIGITS = {
    "%y%m%d": WRITTEN.strftime("%y%m%d"),
    "%Y%j": WRITTEN.strftime("%Y%j"),
    "%d%m%Y": WRITTEN.strftime("%d%m%Y"),
    "%G%V": pd.date_range("2019-01-07", periods=120, freq="7D").strftime("%G%V"),
    "us": WRITTEN.astype("datetime64[us]").astype(np.int64),
    "ns": WRITTEN.astype("datetime64[ns]").astype(np.int64),
    "s": WRITTEN.astype("datetime64[s]").astype(np.int64) + 0.25,
}


def test_times_of_events_alone_are_no_series_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    happened = 1851.2 + np.cumsum(RNG.exponential(0.5, size=190))
    pd.DataFrame({"date": happened}).to_csv(path, index=False)
    assert find_proposals(path, DataConfig()) == ()
    pd.DataFrame({"level": happened}).to_csv(path, index=False)
    assert [each.target for each in find_proposals(path, DataConfig())] == ["level"]


def test_days_of_years_of_several_sites_are_not_put_together_by_year(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    frame = years_of_days_of_sites()
    for first in (2009, 1):
        frame.assign(year=frame["year"] - 2009 + first).to_csv(path, index=False)
        assert find_proposals(path, DataConfig()) == ()


@pytest.mark.parametrize("date_format", DIGITS)
def test_digits_that_are_dates_by_their_regular_steps_are_read_so(tmp_path: Path, date_format: str) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"d": DIGITS[date_format], "y": values(120)}).to_csv(path, index=False)
    proposal, *_ = find_proposals(path, DataConfig())
    assert proposal.options["date_format"] == date_format
    assert proposal.step == ("W-MON" if date_format == "%G%V" else "D")


@pytest.mark.slow
@pytest.mark.parametrize("columns", [["opened"], ["opened", "kind"]])
def test_events_without_a_number_are_counted(forecast: Callable, tmp_path: Path, columns: list[str]) -> None:
    """Twenty a day, at any second of it; none at all on one day."""
    seconds = np.sort(RNG.integers(0, 300 * 86400, 6000))
    seconds = seconds[seconds // 86400 != 150]
    opened = pd.Timestamp("2022-01-01") + pd.to_timedelta(seconds, unit="s")
    frame = pd.DataFrame({"opened": opened.strftime("%Y-%m-%d %H:%M:%S"), "kind": "bug"})[columns]
    path, out = tmp_path / "tickets.csv", tmp_path / "run"
    frame.to_csv(path, index=False)
    proposal = find_proposals(path, DataConfig())[0]
    assert proposal.forecasts == "the number of rows of each 1 day, 7 steps of 1 day ahead"
    words = shlex.split(command_text(str(path), {}, proposal.options))[1:]
    assert forecast(*words, *QUICK, "--out", str(out)).code == 0
    panel = examine(path, DataConfig(**proposal.options)).panel
    assert panel is not None
    np.testing.assert_array_equal(panel.target, np.bincount(seconds // 86400))
    ahead = forecast("predict", str(out), "--data", str(path), "--out", str(tmp_path / "ahead.csv"))
    assert ahead.code == 0, ahead.err


def firms_without_names(rows: int = 20) -> pd.DataFrame:
    years = np.tile(np.arange(1990, 1990 + rows), 6)
    return pd.DataFrame({"year": years, "sales": values(6 * rows)})


@pytest.mark.slow
def test_series_without_names_are_told_apart_by_where_the_time_starts_again(forecast: Callable, tmp_path: Path) -> None:
    path, out = tmp_path / "firms.csv", tmp_path / "run"
    firms_without_names().to_csv(path, index=False)
    proposal = find_proposals(path, DataConfig())[0]
    assert dict(proposal.options) == {"time": "year", "item_id": "block-number"}
    words = shlex.split(command_text(str(path), {}, proposal.options))[1:]
    assert forecast(*words, *QUICK, "--out", str(out)).code == 0
    ahead = forecast("predict", str(out), "--data", str(path), "--out", str(tmp_path / "ahead.csv"))
    assert ahead.code == 0, ahead.err
    panel = examine(path, DataConfig(**proposal.options)).panel
    assert panel is not None
    assert panel.item_ids == tuple("123456")
    assert panel.num_known.tolist() == [20] * 6


def test_blocks_of_other_years_or_of_copied_rows_are_no_evidence(tmp_path: Path) -> None:
    frame = firms_without_names()
    whole = pd.concat([frame.iloc[:20]] * 2)
    for at, table in enumerate((frame.drop(index=[25, 119]), whole)):
        path = tmp_path / f"{at}.csv"
        table.to_csv(path, index=False)
        assert not any("item_id" in proposal.options for proposal in find_proposals(path, DataConfig()))


def test_a_season_longer_than_the_table_is_not_asked_for() -> None:
    (proposal,) = find_proposals(weeks_of_years(rows=90, season=365), DataConfig())
    assert proposal.options == {"date_format": "0.002739726027"}


@pytest.mark.slow
def test_check_prints_one_command_for_each_target(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "a table.csv"
    pd.DataFrame({"date": days(90), "hydro": values(90), "solar gain": values(90)}).to_csv(path, index=False)
    outcome = forecast("check", path, "--horizon", "3")
    assert outcome.code == 1
    lines = outcome.out.splitlines()
    assert "train on it with one of:" in lines
    assert f"  forecast train '{path}' --horizon 3 --target hydro" in lines
    assert f"  forecast train '{path}' --horizon 3 --target 'solar gain'" in lines
    assert f"  forecast train '{path}' --horizon 3 --wide" in lines
    assert "      forecasts 'hydro', 3 steps of 1 day ahead" in lines
    commands = json.loads(forecast("check", path, "--json").out)["commands"]
    assert [each["options"] for each in commands] == [{"target": "hydro"}, {"target": "solar gain"}, {"wide": True}]
    assert {(each["time"], each["step"], each["num_series"]) for each in commands[:2]} == {("date", "D", 1)}


def test_check_of_a_ready_table_prints_the_bare_command(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": days(90), "y": values(90)}).to_csv(path, index=False)
    lines = forecast("check", path).out.splitlines()
    assert lines[-2:] == [f"  forecast train {path}", "      forecasts 'y', 7 steps of 1 day ahead"]


@pytest.mark.slow
def test_a_refused_training_prints_the_commands_too(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": days(90).drop(range(40, 50)), "y": values(80)}).to_csv(path, index=False)
    words = ("train", path, "--max-epochs", "1", "--out", tmp_path / "run")
    outcome = forecast(*words)
    assert outcome.code == 1
    tried = [line for line in outcome.err.splitlines() if line.startswith("try: ")]
    command = f"forecast train {path} --max-epochs 1 --out {tmp_path / 'run'} --missing mask"
    assert tried == [f"try: {command}  # 'y', 7 steps of 1 day ahead"]
    document = json.loads(forecast(*words, "--json").out)["error"]
    assert document["code"] == "FA204"
    assert (document["row"], document["item_id"], document["kind"]) == (41, "y", "DataError")
    assert document["commands"] == [tried[0].removeprefix("try: ")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "right", "without"),
    [
        (("--season", "decade"), (), ", without --season"),
        (("--tz", "Mars/Base"), (), ", without --tz"),
        (("--missing", "msk"), ("--missing", "mask"), ""),
        (("--aggregate", "sum"), (), ", without --aggregate"),
        (("--horizon", "0", "--lookback", "0"), (), ", without --horizon, without --lookback"),
        (("--missing", "msk", "--season", "decade"), ("--missing", "mask"), ", without --season"),
    ],
)
@pytest.mark.parametrize("command", ["check", "train"])
def test_an_option_with_a_wrong_value_gets_the_command_without_it(
    forecast: Callable, tmp_path: Path, command: str, given: tuple[str, ...], right: tuple[str, ...], without: str
) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": days(90), "y": values(90)}).to_csv(path, index=False)
    outcome = forecast(command, path, *given, "--target", "y")
    assert outcome.code == 2
    tried = [line for line in outcome.err.splitlines() if line.startswith("try: ")]
    words = shlex.join(["--target", "y", *right])
    assert tried == [f"try: forecast train {path} {words}  # 'y', 7 steps of 1 day ahead{without}"]


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ({"time": "dte", "target": "yy"}, {"time": "date", "target": "y"}),
        ({"target": "yy", "season": "decade"}, {"target": "y", "season": None}),
    ],
)
def test_two_wrong_options_are_answered_by_one_command(
    tmp_path: Path, given: dict[str, str], right: dict[str, str]
) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": days(90), "y": values(90)}).to_csv(path, index=False)
    (proposal,) = find_proposals(path, DataConfig(**given))
    assert proposal.options == right
    assert ("without --season" in proposal.forecasts) == ("season" in given)


def test_a_fix_stands_once_below_all_that_it_mends(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": days(90), "y": np.where(np.arange(90) < 3, np.inf, values(90))}).to_csv(path, index=False)
    lines = forecast("check", path).out.splitlines()
    fixes = [line for line in lines if line.startswith("      fix: ")]
    assert sum(line.startswith("FA303 error") for line in lines) == 3
    assert len(fixes) == len(set(fixes))


def months_of_a_series_without_a_start() -> pd.DataFrame:
    """As M3: the months of series that begin nobody knows when are those of the years 1 to 5."""
    near = [str(month) for month in pd.period_range("1990-01", periods=60, freq="M")]
    far = [f"{1 + at // 12:04}-{1 + at % 12:02}" for at in range(60)]
    names = np.repeat(["a", "b", "c"], 60)
    return pd.DataFrame({"item_id": names, "timestamp": [*near, *near, *far], "target": values(180)})


def days_of_years() -> pd.DataFrame:
    """As gauges of rivers: the day of the year beside the year."""
    time = pd.date_range("2019-01-01", periods=500)
    return pd.DataFrame({"station": "AB12", "year": time.year, "doy": time.day_of_year, "flow": values(500)})


def periods_of_accountants() -> pd.DataFrame:
    return pd.DataFrame(
        {"Jahr": np.repeat(np.arange(2015, 2023), 12), "Periode": [*range(1, 13)] * 8, "Ist": values(96)}
    )


def months_of_an_office() -> pd.DataFrame:
    """German months and their codes, beside years that are called time."""
    months = [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ]
    codes = [f"MONAT{number:02d}" for number in range(1, 13)]
    years = np.repeat(np.arange(2015, 2023), 12)
    return pd.DataFrame({"Zeit": years, "Code": codes * 8, "Label": months * 8, "Index": values(96)})


def months_in_japanese() -> pd.DataFrame:
    years = np.repeat(np.arange(2010, 2018), 12)
    return pd.DataFrame({"年": years, "月": [*range(1, 13)] * 8, "値": values(96)})


def weeks_of_epidemiologists() -> pd.DataFrame:
    years = np.repeat(np.arange(2010, 2016), 52)
    return pd.DataFrame({"MMWR_year": years, "MMWR_week": [*range(1, 53)] * 6, "cases": values(312)})


def twelve_firms() -> pd.DataFrame:
    """Their numbers go up while the years stay, and the years begin again: no months."""
    years = [*range(2005, 2025)] * 12
    return pd.DataFrame({"year": years, "unit": np.repeat(np.arange(1, 13), 20), "y": values(240)})


def firms_of_each_year() -> pd.DataFrame:
    frame = twelve_firms()
    return frame.sort_values(["year", "unit"])


def months_of_cost_centres() -> pd.DataFrame:
    frame = periods_of_accountants().rename(columns={"Jahr": "Geschäftsjahr"})
    return frame.loc[frame.index.repeat(2)].assign(Stelle=[1000, 1010] * 96, Ist=values(192))


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


def seconds_of_a_clock_that_is_off() -> pd.DataFrame:
    off = np.random.default_rng(4).integers(-1, 2, 300)
    return pd.DataFrame({"ts": 1_600_000_020 + 60 * np.arange(300) + off, "v": values(300)})


def months_without_a_year() -> pd.DataFrame:
    return pd.DataFrame({"month": MONTHS * 8, "y": values(96)})


def hours_of_numbered_days() -> pd.DataFrame:
    cells = [f"{day}:{hour:02d}" for day in range(1, 32) for hour in range(1, 25)]
    return pd.DataFrame({"obs": cells, "load": values(744)})


def seasons_of_years() -> pd.DataFrame:
    cells = [f"{name}-{year}" for year in range(1990, 2010) for name in ("Winter", "Spring", "Summer", "Fall")]
    return pd.DataFrame({"season": cells, "y": values(80)})


def ranks_of_each_day() -> pd.DataFrame:
    """From 1 to 20, as in charts: no hours."""
    return pd.DataFrame({"date": days(60).repeat(20), "rank": [*range(1, 21)] * 60, "plays": values(1200)})


def hours_of_a_market() -> pd.DataFrame:
    time = pd.date_range("2021-01-01", periods=480, freq="h")
    hours = [f"{each.hour:02d} - {(each.hour + 1) % 24:02d}" for each in time]
    return pd.DataFrame({"": time.strftime("%d-%m-%Y"), "Hours": hours, "SYS": values(480)})


def dotted_days_of_a_bank() -> pd.DataFrame:
    """06.01.21 could be a time of day, too."""
    day = pd.Series(pd.date_range("2021-01-06", periods=300).strftime("%d.%m.%y"))
    return pd.DataFrame({"Buchungstag": day, "Valutadatum": day, "Betrag": values(300)})


def seconds_of_one_morning() -> pd.DataFrame:
    time = pd.date_range("2023-03-01", periods=400, freq="10s")
    return pd.DataFrame({"Timestamp": time.strftime("%d.%m.%Y %H:%M:%S"), "FT101": values(400)})


def glucose_of_a_sensor() -> pd.DataFrame:
    """Five minutes but for a few seconds, in two thirds of each day; 15 minutes are no step of it."""
    minutes = np.arange(0, 7 * 1440, 5)
    minutes = minutes[minutes % 1440 >= 480]
    seconds = minutes * 60 + np.random.default_rng(3).integers(-9, 10, len(minutes)) + 100
    return pd.DataFrame({"time": pd.Timestamp("2023-03-01") + pd.to_timedelta(seconds, unit="s"), "gl": values(1344)})


def load_with_its_forecast() -> pd.DataFrame:
    """The forecast goes on for a day that nobody has measured."""
    frame = pd.DataFrame({"Time": pd.date_range("2022-01-01", periods=480, freq="h"), "Load Forecast": values(480)})
    return frame.assign(**{"Actual Load": frame["Load Forecast"].where(frame.index < 456)})


def merged_days() -> pd.DataFrame:
    """As a sheet whose days are merged over the rows of three goods."""
    day = days(60).repeat(3).reset_index(drop=True)
    first = np.arange(180) % 3 == 0
    return pd.DataFrame({"Date": day.where(first), "Product": ["A", "B", "C"] * 60, "Units": values(180)})


def merged_years() -> pd.DataFrame:
    time, first = pd.date_range("2014-01-01", periods=96, freq="MS"), np.arange(96) % 12 == 0
    return pd.DataFrame({"Year": pd.Series(time.year).where(first), "Month": time.strftime("%b"), "Sales": values(96)})


def days_in_spanish() -> pd.DataFrame:
    day = pd.to_datetime(days(120)).dt
    return pd.DataFrame({"Año": day.year, "Mes": day.month, "Día": day.day, "Ventas": values(120)})


def hours_in_japanese() -> pd.DataFrame:
    hour = pd.date_range("2024-01-01", periods=200, freq="h")
    parts = {"年": hour.year, "月": hour.month, "日": hour.day, "時": hour.hour}
    return pd.DataFrame({**parts, "電力": values(200)})


def seconds_of_a_logger() -> pd.DataFrame:
    """Every seventh was written a bit later."""
    late = np.arange(200) % 7 == 3
    return pd.DataFrame({"seconds": (np.arange(200) * 0.25 + 0.1 * late).round(2), "force": values(200)})


def months_of_one_year() -> pd.DataFrame:
    """As districts beside the months of a year that the table does not name; one stands twice."""
    names = ["jan", "feb", "mar", "apr", "may", "june", "july", "aug", "sept", "oct", "nov", "dec"]
    cells = {name: 100 + at + np.arange(12) for at, name in enumerate(names)}
    return pd.DataFrame({"": range(1, 13), "district": [*"ABCDEFGHIJK", "A"], **cells})


def persons_who_fell_ill() -> pd.DataFrame:
    """One row for each, with an age: their number is what is forecast."""
    weeks = np.sort(RNG.integers(1, 53, 900))
    return pd.DataFrame(
        {"ano": np.repeat([2020, 2021], 450), "semana": [*weeks[::2], *weeks[1::2]], "edad": RNG.integers(1, 90, 900)}
    )


def years_of_two_presidents() -> pd.DataFrame:
    """The year of a change stands twice."""
    years = sorted([*range(1900, 1960), 1913, 1921, 1933, 1945, 1953])
    return pd.DataFrame(
        {"President": list("abcde") * 13, "Fiscal Year": years, "Pending": (np.arange(65) ** 1.3).round(1)}
    )


def ages_and_sexes() -> pd.DataFrame:
    """15-19 is an age, and no hour of a day."""
    rows = [(age, sex, year) for age in ("15-19", "20-24", "25-29") for sex in "FM" for year in range(2000, 2022)]
    return pd.DataFrame(rows, columns=["age", "sex", "time"]).assign(divorces=values(132))


def quarters_without_a_name() -> pd.DataFrame:
    years = np.repeat(np.arange(2010, 2020), 4)
    return pd.DataFrame({"Periodo": years, "": np.tile([1, 2, 3, 4], 10), "Total": values(40), "Otros": values(40)})


def parts_of_years(name: str, parts: str) -> Callable[[], pd.DataFrame]:
    """A table of years and their parts, as called in a text with bars between them."""
    names = parts.split("|")
    rows = np.arange(10 * len(names))
    columns = {"Year": 2010 + rows // len(names), name: np.array(names)[rows % len(names)], "Sales": values(len(rows))}
    return lambda: pd.DataFrame(columns)


def days_of_short_years() -> pd.DataFrame:
    dates = pd.date_range("1961-01-01", periods=800)
    return pd.DataFrame({"year": dates.year % 100, "month": dates.month, "day": dates.day, "RPT": values(800)})


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


def trips_with_two_that_begin_together() -> pd.DataFrame:
    waits, lasts = np.random.default_rng(5).integers(20, 9_000, (2, 600))
    waits[300] = 0
    starts = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.cumsum(waits), "s")
    ends = starts + pd.to_timedelta(300 + lasts, "s")
    return pd.DataFrame({"stop": ends, "start": starts, "bike": np.arange(600) % 90})


def periods_of_an_accounting_system() -> pd.DataFrame:
    months = pd.date_range("2018-01-01", periods=60, freq="MS")
    return pd.DataFrame({"FISCPER": months.strftime("%Y0%m"), "amount": values(60)})


def quotes_of_dealers() -> pd.DataFrame:
    minutes = np.cumsum(np.random.default_rng(3).integers(0, 90, 500))
    stamps = pd.Timestamp("1997-06-01 19:28") + pd.to_timedelta(minutes, "min")
    return pd.DataFrame({"XDATE": stamps.strftime("%Y%m%d%H%M"), "bid": values(500)})


def countries_with_two_unknown() -> pd.DataFrame:
    """Nothing tells the last row apart from the first, and a comma stands between thousands."""
    rows = pd.DataFrame({str(year): [f"{year - 1000 + at:,}" for at in range(4)] for year in range(2000, 2012)})
    return rows.assign(country=["Unknown", "Asia", "Europe", "Unknown"])


QUARTERS = "'Sales', 4 steps of 1 quarter ahead"


def quarters_of_denmark() -> pd.DataFrame:
    return pd.DataFrame({"TID": [f"{at // 4}K{at % 4 + 1}" for at in range(8000, 8060)], "INDHOLD": values(60)})


def periods_of_fiscal_years() -> pd.DataFrame:
    years = [f"FY{2010 + at // 12}" for at in range(48)]
    return pd.DataFrame({"Year": years, "Period": [f"P{at % 12 + 1:02d}" for at in range(48)], "Revenue": values(48)})


def houses_sold() -> pd.DataFrame:
    """Sales stand in any order, and houses were built in some year."""
    sold = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 600, 900), unit="D"))
    parts = {"YearSold": sold.dt.year, "MonthSold": sold.dt.month, "DaySold": sold.dt.day}
    return pd.DataFrame({"YearBuilt": RNG.integers(1900, 2000, 900), **parts, "Price": values(900)})


def winners_of_games() -> pd.DataFrame:
    """Two games were left out, and one was held between two others."""
    years = [year for year in (*range(1900, 2020, 4), 1906) if year not in (1916, 1940)]
    return pd.DataFrame({"rownames": np.arange(1, len(years) + 1), "Year": sorted(years), "Gold": values(len(years))})


def sizes_of_trees() -> pd.DataFrame:
    """Trees were measured at the same ages, some years apart."""
    ages = [3, 5, 10, 15, 20, 25]
    return pd.DataFrame({"height": values(60), "age": np.tile(ages, 10), "Seed": np.repeat(np.arange(301, 311), 6)})


def visits_of_patients() -> pd.DataFrame:
    """Each was asked in several years, and is older than the others in all of them."""
    visits = pd.DataFrame({"id": np.repeat(np.arange(40), 5), "year": np.tile(np.arange(1984, 1989), 40)})
    return visits.assign(age=visits["year"] - 1920 - visits["id"], docvis=RNG.poisson(3, 200))


def surveys_of_some_years() -> pd.DataFrame:
    """Hundreds were asked in each of some years, more in some than in others."""
    years = np.repeat([*range(1974, 1988, 2), *range(1987, 2017, 3)], RNG.integers(200, 900, 17))
    return pd.DataFrame({"year": years, "sex": RNG.choice(["f", "m"], len(years)), "words": values(len(years))})


def seconds_of_a_recorder() -> pd.DataFrame:
    return pd.DataFrame({"timer": np.arange(200) * 8.5479, "hr": RNG.integers(400, 600, 200)})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("frame", "options"),
    [
        (quarters_of_denmark, {"forecasts": "'INDHOLD', 4 steps of 1 quarter ahead"}),
        (periods_of_fiscal_years, {"time": "Year,Period", "forecasts": "'Revenue', 12 steps of 1 month ahead"}),
        (houses_sold, {"time": "YearSold,MonthSold,DaySold"}),
        (winners_of_games, {"resample": "4", "forecasts": "'Gold', mean of each step of 4, 7 steps of 1 row ahead"}),
        (sizes_of_trees, {"time": "age", "item_id": "Seed", "resample": "5"}),
        (visits_of_patients, {"forecasts": "'docvis' of 40 series told apart by 'id', 1 step of 1 row ahead"}),
        (
            surveys_of_some_years,
            {"resample": "3", "forecasts": "'words', mean of each step of 3, 3 steps of 1 row ahead"},
        ),
        (seconds_of_a_recorder, {"time": "timer", "date_format": "8.5479"}),
        (seconds_of_a_logger, {"time": "seconds", "date_format": "0.05", "resample": "5"}),
        (months_of_one_year, {"layout": "rows", "forecasts": "the rows as 12 series, 3 steps of 1 row ahead"}),
        (persons_who_fell_ill, {"time": "ano,semana", "target": "row-count", "resample": "W-MON"}),
        (
            years_of_two_presidents,
            {"resample": "1", "forecasts": "'Pending', mean of each 'Fiscal Year', 3 steps of 1 row ahead"},
        ),
        (ages_and_sexes, {"item_id": "age,sex"}),
        (quarters_without_a_name, {"time": "Periodo,Unnamed: 1", "target": "Total"}),
        (
            parts_of_years("Period", "First quarter|Second quarter|Third quarter|Fourth quarter"),
            {"time": "Year,Period"},
        ),
        (parts_of_years("of", "Jan-Mar|Apr-Jun|Jul-Sep|Oct-Dec"), {"time": "Year,of", "forecasts": QUARTERS}),
        (parts_of_years("Quartal", "I|II|III|IV"), {"time": "Year,Quartal", "forecasts": QUARTERS}),
        (parts_of_years("group", "I|II|III|IV"), {"item_id": "group"}),
        (parts_of_years("Half", "H1|H2"), {"time": "Year,Half", "forecasts": "'Sales', 3 steps of 6 months ahead"}),
        (days_of_short_years, {"time": "year,month,day", "forecasts": "'RPT', 7 steps of 1 day ahead"}),
        (five_minutes_of_a_grid, {"time": "DAY,HR,INTERVAL", "forecasts": "'MW', 288 steps of 5 minutes ahead"}),
        (quarters_of_hours, {"time": "date,hour,minute"}),
        (trips_with_two_that_begin_together, {"time": "start"}),
        (periods_of_an_accounting_system, {"time": "FISCPER", "date_format": "%Y0%m"}),
        (quotes_of_dealers, {"time": "XDATE"}),
        (half_hours_without_names, {"time": "a,b", "forecasts": "'c', 48 steps of 30 minutes ahead"}),
        (countries_with_two_unknown, {"decimal": ".", "layout": "rows", "item_id": "row-number"}),
        (days_in_spanish, {"time": "Año,Mes,Día"}),
        (hours_in_japanese, {"time": "年,月,日,時"}),
        (merged_days, {"layout": "merged", "item_id": "Product"}),
        (merged_years, {"layout": "merged", "time": "Year,Month"}),
        (days_of_years, {"time": "year,doy"}),
        (periods_of_accountants, {"time": "Jahr,Periode"}),
        (months_of_an_office, {"time": "Zeit,Code"}),
        (months_in_japanese, {"time": "年,月"}),
        (weeks_of_epidemiologists, {"time": "MMWR_year,MMWR_week"}),
        (twelve_firms, {"item_id": "unit"}),
        (firms_of_each_year, {"item_id": "unit"}),
        (months_of_cost_centres, {"time": "Geschäftsjahr,Periode", "item_id": "Stelle"}),
        (clocks_of_a_weather_station, {"time": "Date,Time"}),
        (hours_of_a_climate_network, {"time": "LST_DAY,LST_CLK", "target": "T"}),
        (quarters_of_a_trading_terminal, {"time": "DATE,CLK"}),
        (hours_of_an_old_recorder, {"time": "a,b", "date_format": "%y%m%d %H:%M"}),
        (hours_ending_of_a_market, {"time": "Delivery Date,Hour Ending"}),
        (half_hours_of_a_grid, {"time": "date,hour"}),
        (seconds_of_a_clock_that_is_off, {"time": "ts", "date_format": "s", "resample": "min"}),
        (months_without_a_year, {"time": "row-number", "season": "12"}),
        (hours_of_numbered_days, {"time": "row-number", "season": "24"}),
        (seasons_of_years, {"time": "row-number", "season": "4"}),
        (ranks_of_each_day, {"item_id": "rank"}),
        (hours_of_a_market, {"time": "Unnamed: 0,Hours"}),
        (dotted_days_of_a_bank, {"time": "Buchungstag"}),
        (seconds_of_one_morning, {"date_format": "day-first"}),
        (glucose_of_a_sensor, {"resample": "5min", "missing": "mask"}),
        (load_with_its_forecast, {"target": "Actual Load"}),
        (months_of_a_series_without_a_start, {"time": "row-number", "ignore": ("timestamp",), "season": "12"}),
    ],
)
def test_times_as_machines_banks_and_markets_write_them(
    tmp_path: Path, frame: Callable[[], pd.DataFrame], options: dict[str, str]
) -> None:
    first = first_of(tmp_path, frame())
    assert {**first, **options} == first


@pytest.mark.parametrize(
    ("rule", "below", "options"),
    [
        ("+------------+------+", "60 rows in set", {"comment": "+-", "skip_footer": 1}),
        ("|-------------------|", "", {"comment": "|-"}),
    ],
)
def test_a_table_with_lines_drawn_around_it_is_read_to_its_last_row(
    tmp_path: Path, rule: str, below: str, options: dict[str, object]
) -> None:
    """As database shells and SAP print tables."""
    rows = [f"| {day} | {value} |" for day, value in zip(days(60), values(60), strict=True)]
    path = tmp_path / "table.txt"
    path.write_text("\n".join([rule, "| day        | sold |", rule, *rows, rule, below]))
    (proposal,) = find_proposals(path, DataConfig())
    assert (proposal.options, proposal.target) == (options, "sold")
    assert len(read_table(path, DataConfig(**proposal.options))) == 60


def test_marks_of_missing_values_are_seen_in_the_columns_of_three_rows(tmp_path: Path) -> None:
    """As statistical offices publish months as columns: no column has many numbers."""
    frame = pd.DataFrame(
        {f"{month:%YM%m}": values(3).astype(str) for month in pd.date_range("2015", periods=60, freq="MS")}
    )
    frame.iloc[1, [5, 9]] = ".."
    frame.insert(0, "region", ["North", "South", "East"])
    first = first_of(tmp_path, frame)
    assert {**first, "na": ("..",), "layout": "rows"} == first


def test_codes_below_the_values_of_each_series_are_no_series(tmp_path: Path) -> None:
    months = [f"{month:%Y-%m}" for month in pd.date_range("2015", periods=60, freq="MS")]
    rows = [["prices", *values(60)], ["codes", *"A" * 60], ["food", *values(60)], ["codes", *"A" * 60]]
    for size in (2, 4):
        first = first_of(tmp_path, pd.DataFrame(rows[:size], columns=["name", *months]).astype(str))
        assert {**first, "na": ("A",), "layout": "rows"} == first


def test_a_tiny_table_gets_the_command_with_sizes(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": days(6), "y": values(6)}).to_csv(path, index=False)
    proposal = find_proposals(path, DataConfig())[0]
    assert dict(proposal.options) == {"lookback": 2, "horizon": 2}


def test_series_of_a_few_rows_each_get_the_command_with_the_smallest_sizes(tmp_path: Path) -> None:
    """As the visits to herds: fifteen of them, four periods."""
    herds = [(herd, period, values(1)[0]) for herd in range(15) for period in range(1, 5)]
    first = first_of(tmp_path, pd.DataFrame(herds, columns=["herd", "period", "cases"]))
    assert {**first, "time": "period", "item_id": "herd", "lookback": 2, "horizon": 1} == first


def test_numbers_with_an_odd_last_step_are_put_on_the_usual_one(tmp_path: Path) -> None:
    """As ChickWeight: weighed every second day, and once more on the last."""
    path = tmp_path / "table.csv"
    ages = [*range(0, 21, 2), 21]
    rows = [(chick, age, 40 + age * (3 + chick % 4) + age % 3) for chick in range(20) for age in ages]
    pd.DataFrame(rows, columns=["chick", "time", "weight"]).to_csv(path, index=False)
    proposal = find_proposals(path, DataConfig())[0]
    assert dict(proposal.options) == {"item_id": "chick", "resample": "2"}
    assert proposal.forecasts.startswith("'weight' of 20 series told apart by 'chick', mean of each step of 2, ")


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(pd.DataFrame({"date": days(90), "note": ["a", "b"] * 45}), id="no numbers, one row a day"),
        pytest.param(pd.DataFrame({"date": days(2), "y": values(2)}), id="two rows"),
        pytest.param(
            pd.DataFrame({"date": np.repeat(days(4).to_numpy(), 30), "y": values(120)}),
            id="four days, thirty rows each",
        ),
        pytest.param(
            pd.DataFrame(
                {"years": RNG.integers(1, 15, 60), "price": RNG.normal(9, 2, 60), "km": RNG.normal(90, 9, 60)}
            ),
            id="cars for sale",
        ),
        pytest.param(
            pd.DataFrame(
                {"species": ["a"] * 30 + ["b"] * 30, "length": np.repeat([4.0, 6.0], 30) + RNG.normal(size=60)}
            ),
            id="flowers of two species",
        ),
        pytest.param(
            pd.DataFrame(
                {"plant": [f"plant of {a}{b}{c}" for a in "xyz" for b in "xyz" for c in "xy"], "y": values(18)}
            ),
            id="things with names",
        ),
        pytest.param(pd.DataFrame({"age": np.arange(20, 80), "deaths": np.arange(60) ** 2}), id="a life table"),
    ],
)
def test_what_cannot_be_forecast_gets_no_command(tmp_path: Path, frame: pd.DataFrame) -> None:
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    assert find_proposals(path, DataConfig()) == ()


def test_returns_follow_each_other_by_their_spread(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    spread = np.where(np.arange(400) % 100 < 50, 1, 5)
    frame = pd.DataFrame({"": np.arange(1, 401), "one": spread * RNG.normal(size=400), "two": RNG.normal(size=400)})
    frame.to_csv(path, index=False)
    assert find_proposals(path, DataConfig())[0].options["time"] == "Unnamed: 0"


@pytest.mark.slow
def test_a_column_that_leaves_stamps_twice_is_no_identifier(tmp_path: Path) -> None:
    """A mean over directions of the wind would be another series."""
    path = tmp_path / "table.csv"
    wind = np.array(["N", "S", "W"])[RNG.integers(0, 3, 240)]
    pd.DataFrame({"date": np.repeat(days(80).to_numpy(), 3), "wind": wind, "y": values(240)}).to_csv(path, index=False)
    for proposal in find_proposals(path, DataConfig()):
        assert "item_id" not in proposal.options
        assert "duplicates" not in proposal.options


def test_provinces_that_some_countries_have_tell_series_apart(tmp_path: Path) -> None:
    names = [("Germany", None), ("France", None), ("China", "Hubei"), ("China", "Beijing")]
    rows = [(day, *name, value) for day in days(60) for name, value in zip(names, values(4), strict=True)]
    frame = pd.DataFrame(rows, columns=["date", "country", "province", "cases"])
    assert first_of(tmp_path, frame)["item_id"] == "country,province"


def test_na_is_the_name_of_a_region_and_no_value_in_other_columns(forecast: Callable, tmp_path: Path) -> None:
    """Read as empty cells, three regions were added up without a word."""
    rows = [(day, name, value) for day in days(60) for name, value in zip(("NA", "EMEA"), values(2), strict=True)]
    frame = pd.DataFrame(rows, columns=["date", "region", "sales"])
    options = first_of(tmp_path, frame)
    assert options["item_id"] == "region"
    outcome = forecast("check", tmp_path / "table.csv", "--id", "region")
    assert (outcome.code, "NA      2024-01-01" in outcome.out) == (0, True)
    assert "aggregate" in first_of(tmp_path, frame.assign(region=frame["region"].replace("NA", "")))
    frame.loc[4, "sales"] = np.nan
    frame.to_csv(tmp_path / "table.csv", index=False, na_rep="NA")
    assert read_table(tmp_path / "table.csv", DataConfig(item_id="region"))["sales"].isna().sum() == 1


def test_given_options_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    frame = pd.DataFrame({"date": days(90), "a": values(90), "b": values(90)})
    frame.drop(index=range(30, 40)).to_csv(path, index=False)
    proposals = find_proposals(path, DataConfig(target="b", missing="ffill"))
    assert [dict(proposal.options) for proposal in proposals] == [{}]
    assert find_proposals(path, DataConfig(target="b"))[0].options == {"missing": "mask"}


TITLES = "Sales of the shop\n\nprinted on 1 May\n"
ROWS = "\n".join(f"{day},{value}" for day, value in zip(days(90), values(90), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "options", "target"),
    [
        pytest.param(f"{TITLES}date,y\n{ROWS}\n", {"skip_rows": 3}, "y", id="titles"),
        pytest.param(f"# made by a logger\n# 1 Hz\ndate,y\n{ROWS}\n# end\n", {"comment": "#"}, "y", id="comments"),
        pytest.param(
            "date,y\n" + ROWS.replace("\n", "\n# moved\n", 1), {"comment": "#"}, "y", id="a comment between rows"
        ),
        pytest.param(f"# a logger\n% 1 Hz\ndate,y\n{ROWS}\n", {"skip_rows": 2}, "y", id="comments of two kinds"),
        pytest.param(f"{ROWS}\n", {"header": False}, "column_2", id="no header"),
        pytest.param(f"date,y\n{ROWS}\nTotal,99\nSource: the shop\n", {"skip_footer": 2}, "y", id="sums and sources"),
        pytest.param(f"date,y\n{ROWS}\n,\n,99\n", {"skip_footer": 2}, "y", id="rows without a date"),
        pytest.param(f"{TITLES}date,y\n{ROWS}\nSource\n", {"skip_rows": 3, "skip_footer": 1}, "y", id="on both sides"),
        pytest.param(f"# a,b\n{ROWS}", {"comment": "#", "header": False}, "column_2", id="no header under a comment"),
        pytest.param(f"0,Burlington\ndate,y\n{ROWS}\n", {"skip_rows": 1}, "y", id="a title as wide as the rows"),
        pytest.param("Shop,\n" * 4 + f"date,y\n{ROWS}\n", {"skip_rows": 4}, "y", id="titles as wide as the rows"),
    ],
)
def test_what_stands_above_the_rows_is_left_out(
    forecast: Callable, tmp_path: Path, text: str, options: dict[str, object], target: str
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    report = examine(path, DataConfig(**options))
    assert not report.has_errors
    assert report.panel is not None
    assert (report.panel.num_rows, report.panel.roles.target) == (90, target)
    if len(options) == 1 or "skip_footer" in options:
        proposal = find_proposals(path, DataConfig())[0]
        assert dict(proposal.options) == options
    words = shlex.split(command_text(str(path), {}, options))
    fixed = forecast("check", *words[2:], "--fix", "--out", "-")
    assert fixed.code == 0
    assert fixed.out.splitlines()[0].split(",") == (["date", "y"] if target == "y" else ["column_1", "column_2"])
    assert len(fixed.out.splitlines()) == 91


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


def of_a_statistical_office() -> str:
    """As Eurostat: keys with commas, dates between tabs, footnotes behind numbers."""
    months = pd.date_range("2015-01-01", periods=80, freq="MS").strftime("%Y-%m")
    rows = [f"M,PC,{country}\t" + "\t".join(map(str, values(79))) + "\t97.3 p" for country in ("AT", "BE", "DE")]
    return "\n".join(["freq,unit,geo\\TIME_PERIOD\t" + " \t".join(months), *rows])


def of_another_office() -> str:
    """As INSEE: when each series was last changed stands beside its months."""
    months = pd.date_range("2015-01-01", periods=80, freq="MS").strftime('"%Y-%m"')
    rows = [f'"Indice {at}";"2021-03-15";' + ";".join(f'"{value}"' for value in values(80)) for at in range(3)]
    return "\n".join(['"name";"changed";' + ";".join(months), *rows])


def of_a_weather_office() -> str:
    """As the Met Office: lines about the station, names, units, columns of numbers, estimates with a star."""
    rows = [
        f" {2000 + at // 12}  {at % 12 + 1:2d}  {value:6.1f}{'*' if at > 90 else ''}"
        for at, value in enumerate(values(96))
    ]
    return "\n".join(["The Town (Airport)", "Lat 51.5 Lon 0.4", " yyyy  mm   tmax", "              degC", *rows])


def of_a_data_base() -> str:
    """As InfluxDB: types above the names, each line as wide as the rows."""
    hours = pd.date_range("2022-01-01", periods=300, freq="h").strftime("%Y-%m-%dT%H:%M:%SZ")
    rows = [f",,0,{stamp},{value}" for stamp, value in zip(hours, values(300), strict=True)]
    return "\n".join(["#datatype,string,long,dateTime,double", "#default,mean,,,", ",result,table,_time,_value", *rows])


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


def of_an_epidemic() -> str:
    """As Johns Hopkins: dates as columns, provinces of some countries, coordinates."""
    names = ",".join(f"{day.month}/{day.day}/{day:%y}" for day in pd.date_range("2020-01-22", periods=60))
    regions = [",Japan", "Hubei,China", "Hebei,China"]
    rows = [f"{country},36,138,{','.join(map(str, values(60)))}" for country in regions]
    return "\n".join([f"Province/State,Country/Region,Lat,Long,{names}", *rows])


def of_a_frame_of_r() -> str:
    """As write.table: numbers of rows without a name above them."""
    rows = [f'"{at}","{day}",{v}' for at, (day, v) in enumerate(zip(days(60), values(60), strict=True), 1)]
    return "\n".join(['"date","load"', *rows])


def of_a_watch() -> str:
    """As Actiware exports it: a hundred lines about the person, a delimiter behind the last cell of rows alone."""
    above = [f'"Property {at}:","{at}"' for at in range(100)]
    minutes = pd.date_range("2015-07-14 09:45", periods=400, freq="min")
    rows = [f'"{at:%d/%m/%Y}";"{at:%H:%M:%S}";"{v}";' for at, v in zip(minutes, values(400), strict=True)]
    return "\n".join([*(line.replace(",", ";") for line in above), '"Date";"Time";"Activity"', *rows])


def of_a_pulse() -> str:
    rows = [f"{8.5 * at + 0.3 * (at % 3)},{v}" for at, v in enumerate(values(200))]
    return "\n".join(["timer,hr", *rows])


def of_a_shop() -> str:
    """Orders of several lines: their number stands more than once, and tells no series apart."""
    at = pd.date_range("2021-01-01 12:00", periods=900, freq="h").repeat(2)
    rows = [f"o{n // 3},{t:%Y-%m-%d},{t:%H:%M:%S},{v}" for n, (t, v) in enumerate(zip(at, values(1800), strict=True))]
    return "\n".join(["id,date,time,price", *rows])


def of_a_police_station() -> str:
    """As Chicago's: the only numbers are districts, written `012`."""
    at = pd.Timestamp("2023-01-01") + pd.to_timedelta(RNG.uniform(0, 300 * 1440, 1500).cumsum() % (300 * 1440), "min")
    rows = [f"HZ{n},{t:%Y-%m-%d %H:%M},{RNG.integers(1, 25):03d}" for n, t in enumerate(sorted(at))]
    return "\n".join(["case,date,district", *rows])


def of_earthquakes() -> str:
    """As the USGS: places that jump, and measurements of each event with two decimals, which are no cents."""
    at = pd.Timestamp("2023-01-01") + pd.to_timedelta(np.sort(RNG.uniform(0, 300 * 1440, 1500)), "min")
    rows = [f"{t:%Y-%m-%dT%H:%M:%S},{RNG.uniform(-60, 60):.4f},{RNG.uniform(1, 300):.2f}" for t in at]
    return "\n".join(["time,latitude,depth", *rows])


def of_an_airport() -> str:
    """As NOAA's hourly files: a code of quality behind each number."""
    hours = pd.date_range("2023-01-01", periods=300, freq="h")
    rows = [f'{t:%Y-%m-%dT%H:%M:%S},40.78,"{RNG.integers(-50, 150):+05d},5"' for t in hours]
    return "\n".join(["DATE,LATITUDE,TMP", *rows])


def of_a_registrar() -> str:
    """As the CDC's births: the day of the month by another name than `day`."""
    rows = [f"{t.year},{t.month},{t.day},{v}" for t, v in zip(pd.to_datetime(days(150)), values(150), strict=True)]
    return "\n".join(["year,month,date_of_month,births", *rows])


def of_a_grid_operator() -> str:
    """As a model of a power system: the hour of the day is called a period, of two plants."""
    hours = pd.date_range("2020-01-01", periods=300, freq="h")
    rows = [f"{t.year},{t.month},{t.day},{t.hour + 1},{v}" for t, v in zip(hours, values(300), strict=True)]
    return "\n".join(["Year,Month,Day,Period,122_HYDRO_1", *rows])


def of_a_day_in_288_columns() -> str:
    rows = [f"{t.year},{t.month},{t.day}," + ",".join(map(str, values(288))) for t in pd.to_datetime(days(12))]
    return "\n".join([f"Year,Month,Day,{','.join(map(str, range(1, 289)))}", *rows])


def of_prisons() -> str:
    """Four columns tell the series apart, and small counts are no name beside them."""
    names = itertools.product("VQ", ("Female", "Male"), ("Remanded", "Sentenced"), ("ATSI", "Other"))
    quarters = [f"{2010 + at // 4} Q{at % 4 + 1}" for at in range(24)]
    rows = [f"{quarter},{','.join(name)},{RNG.integers(0, 9)}" for name in names for quarter in quarters]
    return "\n".join(["Quarter,State,Gender,Legal,Indigenous,Count", *rows])


def of_an_aid_agency() -> str:
    """Every four or eight years."""
    years = (1951, 1955, 1963, 1967, 1971, 1979, 1983, 1991, 1995, 2003, 2011)
    rows = [f"{name},{year},{v}" for name in ("Cuba", "Haiti") for year, v in zip(years, values(11), strict=True)]
    return "\n".join(["country,year,aid", *rows])


def of_batteries() -> str:
    """Cycles of each battery, from its first measured one on, some of them left out."""
    cycles = [(name, at) for name, first in (("B5", 1), ("B6", 3), ("B7", 1)) for at in range(first, 60) if at != 30]
    rows = [f"{name},{at},{v}" for (name, at), v in zip(cycles, values(len(cycles)), strict=True)]
    return "\n".join(["battery,cycle,capacity", *rows])


def of_bicycles() -> str:
    """Trips of bicycles between stations, each with a number and its place."""
    at = pd.Timestamp("2018-01-01") + pd.to_timedelta(np.sort(RNG.uniform(0, 250 * 1440, 900)), "min")
    stations = RNG.integers(0, 40, 900)
    rows = [f"{t:%Y-%m-%d %H:%M:%S},{3000 + n},{40 + n % 7 / 9:.4f}" for t, n in zip(at, stations, strict=True)]
    return "\n".join(["start_time,start_station,start_lat", *rows])


def of_a_survey() -> str:
    """Some are asked each year, some every second one."""
    answers = [(name, year) for name, step in ((1, 1), (2, 2), (3, 1)) for year in range(1984, 1994, step)]
    rows = [f"{name},{year},{v}" for (name, year), v in zip(answers, values(len(answers)), strict=True)]
    return "\n".join(["id,year,visits", *rows])


def of_a_trial() -> str:
    """As R writes a frame: the number of the row, then periods of each subject."""
    rows = [f'"{at + 1}",{at // 4 + 1},{at % 4 + 1},{v}' for at, v in enumerate(values(240))]
    return "\n".join(['"","subject","period","y"', *rows])


def of_a_beaver() -> str:
    """Days of a year and clocks of digits."""
    rows = [f"{346 + at // 90},{at // 6 % 24 * 100 + at % 6 * 10},{v}" for at, v in enumerate(values(114), 84)]
    return "\n".join(['"",day,time,temp', *(f"{at},{row}" for at, row in enumerate(rows, 1))])


def of_a_health_office() -> str:
    """The spending of the last year is known of one country only: of the others nothing is known ahead."""
    rows = [
        f"{name},{year},{v if year < 2015 or name == 'AF' else ''},{v + at}"
        for at, name in enumerate(("AF", "BE", "CH", "DE"))
        for year, v in zip(range(1990, 2016), values(26), strict=True)
    ]
    return "\n".join(["country,year,total spending,deaths", *rows])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "options", "forecasts"),
    [
        (of_a_registrar, {"time": "year,month,date_of_month"}, "'births', 7 steps of 1 day ahead"),
        (of_a_grid_operator, {"time": "Year,Month,Day,Period"}, "'122_HYDRO_1', 24 steps of 1 hour ahead"),
        (of_a_day_in_288_columns, {"layout": "calendar"}, "the cells as one series, 288 steps of 5 minutes ahead"),
        (
            of_prisons,
            {"item_id": "State,Gender,Legal,Indigenous"},
            "'Count' of 16 series told apart by 'State,Gender,Legal,Indigenous', 4 steps of 1 quarter ahead",
        ),
        (
            of_an_aid_agency,
            {"item_id": "country", "freq": "4", "missing": "mask"},
            "'aid' of 2 series told apart by 'country', 4 steps of 1 row ahead",
        ),
        (
            of_batteries,
            {"time": "cycle", "item_id": "battery"},
            "'capacity' of 3 series told apart by 'battery', 12 steps of 1 row ahead, if 'cycle' counts time",
        ),
        (
            of_bicycles,
            {"target": "row-count", "resample": "D", **SUMS},
            "the number of rows of each 1 day, 7 steps of 1 day ahead",
        ),
        (
            of_a_survey,
            {"freq": "1", "missing": "mask"},
            "'visits' of 3 series told apart by 'id', 3 steps of 1 row ahead",
        ),
        (
            of_a_trial,
            {"time": "period", "item_id": "subject"},
            "'y' of 60 series told apart by 'subject', 1 step of 1 row ahead",
        ),
        (
            of_a_beaver,
            {"time": "Unnamed: 0", "target": "temp"},
            "'temp', 12 steps of 1 row ahead, if the rows are in the order of time",
        ),
        (
            of_a_health_office,
            {"item_id": "country", "target": "deaths"},
            "'deaths' of 4 series told apart by 'country', 3 steps of 1 row ahead",
        ),
        (
            of_an_epidemic,
            {"layout": "rows", "item_id": "Province/State,Country/Region"},
            "the rows as 3 series, 7 steps of 1 day ahead",
        ),
        (
            of_a_police_station,
            {"target": "row-count", "resample": "D", **SUMS},
            "the number of rows of each 1 day, 7 steps of 1 day ahead",
        ),
        (
            of_earthquakes,
            {"target": "row-count", "resample": "D", **SUMS},
            "the number of rows of each 1 day, 7 steps of 1 day ahead",
        ),
        (of_an_airport, {"target": "TMP"}, "'TMP', 24 steps of 1 hour ahead"),
        (of_a_frame_of_r, {}, "'load', 7 steps of 1 day ahead"),
        (of_a_watch, {"skip_rows": 100, "time": "Date,Time"}, "'Activity', 60 steps of 1 minute ahead"),
        (
            of_a_pulse,
            {"time": "row-number", "target": "hr"},
            "'hr', 12 steps of 1 row ahead, if the rows are in the order of time",
        ),
        (
            of_a_shop,
            {"time": "date,time", "ignore": ("id",), "resample": "h", **SUMS},
            "'price', sum of each 1 hour, 24 steps of 1 hour ahead",
        ),
        (
            of_a_statistical_office,
            {"delimiter": "tab", "layout": "rows"},
            "the rows as 3 series, 12 steps of 1 month ahead",
        ),
        (of_another_office, {"layout": "rows"}, "the rows as 3 series, 12 steps of 1 month ahead"),
        (
            of_a_weather_office,
            {"delimiter": "blanks", "comment": "degC", "skip_rows": 2, "time": "yyyy,mm"},
            "'tmax', 12 steps of 1 month ahead",
        ),
        (of_a_data_base, {"comment": "#", "target": "_value"}, "'_value', 24 steps of 1 hour ahead"),
        (of_a_meter, {"time": "DATE,START TIME"}, "'USAGE', 24 steps of 1 hour ahead"),
        (with_dots_in_clocks, {"time": "Date,Time"}, "'CO', 24 steps of 1 hour ahead"),
    ],
)
def test_tables_as_offices_and_meters_write_them(
    tmp_path: Path, make: Callable[[], str], options: dict[str, object], forecasts: str
) -> None:
    path = tmp_path / "table.txt"
    path.write_text(make())
    proposal = find_proposals(path, DataConfig())[0]
    assert (dict(proposal.options), proposal.forecasts) == (options, forecasts)


@pytest.mark.slow
def test_numbers_with_exponents_are_no_names(tmp_path: Path) -> None:
    path = tmp_path / "values.txt"
    path.write_text("\n".join(f"   {value:.16e}" for value in values(90)))
    proposal = find_proposals(path, DataConfig())[0]
    assert (dict(proposal.options), proposal.target) == ({"header": False, "time": "row-number"}, "column_1")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["id", "customer_id", "storeId"])
def test_an_identifier_is_neither_time_nor_target(tmp_path: Path, name: str) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({name: np.arange(90) + 1, "y": values(90), "z": values(90)}).to_csv(path, index=False)
    proposals = find_proposals(path, DataConfig())
    assert proposals
    assert name not in {proposal.target for proposal in proposals}
    assert name == "id" or {proposal.time for proposal in proposals} == {"row-number"}


@pytest.mark.slow
def test_the_last_comment_may_be_the_header(tmp_path: Path) -> None:
    """As a service of satellite data writes it, with spans for stamps."""
    path = tmp_path / "table.csv"
    hours = pd.date_range("2020-01-01", periods=100, freq="h").strftime("%Y-%m-%dT%H:%M:%S.0")
    rows = [f"{start}/{end};{at % 24}" for at, (start, end) in enumerate(itertools.pairwise(hours))]
    path.write_text("\n".join(["# Title: sun", "# Period;sums", "#", "# Observation period;GHI", *rows]))
    proposal = find_proposals(path, DataConfig())[0]
    assert (dict(proposal.options), proposal.target, proposal.step) == ({"skip_rows": 3}, "GHI", "h")


@pytest.mark.slow
def test_sums_below_rows_without_dates_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = [f"{at % 12 + 1},{value}" for at, value in enumerate(values(96))]
    path.write_text("\n".join(["month,output", *rows, "Totals,9999"]))
    assert {dict(proposal.options)["skip_footer"] for proposal in find_proposals(path, DataConfig())} == {1}


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


@pytest.mark.slow
def test_what_never_changes_within_a_series_is_no_target(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    country, year = np.repeat(["A", "B", "C"], 30), np.tile(np.arange(1960, 1990), 3)
    frame = pd.DataFrame({"country": country, "number": np.repeat([4, 8, 12], 30), "year": year, "rate": values(90)})
    frame.to_csv(path, index=False)
    assert {proposal.target for proposal in find_proposals(path, DataConfig())} == {"rate"}


@pytest.mark.slow
def test_many_series_of_four_years_are_enough(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    route, year = np.repeat([f"route {at}" for at in range(40)], 4), np.tile(np.arange(1997, 2001), 40)
    pd.DataFrame({"route": route, "year": year, "fare": values(160)}).to_csv(path, index=False)
    proposal = find_proposals(path, DataConfig())[0]
    assert (proposal.item_id, proposal.num_series, proposal.horizon) == ("route", 40, 1)
    path.write_text("\n".join(path.read_text().splitlines()[:9]))  # two routes
    assert find_proposals(path, DataConfig())[0].options == {"item_id": "route", "lookback": 2, "horizon": 1}


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
    rows = [f"{day};shop;{value};EUR;{value + 5};EUR" for day, value in zip(days(90), values(90), strict=True)]
    path.write_text("\n".join(["Account;1234", "Owner;A. B.", "", "day;text;amount;unit;balance;unit", *rows]))
    options = find_proposals(path, DataConfig())[0].options
    assert options == {"skip_rows": 3, "target": "amount"}


def test_a_first_row_whose_words_stand_below_it_is_no_header(tmp_path: Path) -> None:
    path = tmp_path / "station.csv"
    rows = [
        f"N12,{day.replace('-', '')},{kind},{at + 41},,W"
        for at, day in enumerate(days(60))
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


def test_ten_digits_that_are_hours_are_no_seconds(tmp_path: Path) -> None:
    hours = pd.date_range("2022-01-01", periods=600, freq="h")
    frame = pd.DataFrame({"MESS_DATUM": hours.strftime("%Y%m%d%H"), "TT": values(600), "RF": values(600)})
    options = first_of(tmp_path, frame)
    assert (options["time"], options["target"], options.get("date_format")) == ("MESS_DATUM", "TT", None)


@pytest.mark.parametrize(
    ("above", "options", "target"),
    [
        ([["Report of sales"], [], ["date", "sales"]], {"skip_rows": 2}, "sales"),
        (
            [["Report of sales"], ["Report date", "2024-05-01"], ["date", "food", "toys"]],
            {"skip_rows": 2, "target": "food"},
            "food",
        ),
        (
            [["Report of sales"], [], ["", "north", "", "south"], ["date", "food", "toys", "food"]],
            {"skip_rows": 2, "header_rows": 2, "target": "north food"},
            "north food",
        ),
        (
            [["Report of sales"], ["date", "north", "", "south"], ["", "food", "toys", "food"]],
            {"skip_rows": 1, "header_rows": 2, "target": "north food"},
            "north food",
        ),
    ],
    ids=["names", "a title beside its value", "groups of names", "groups of names beside the date"],
)
def test_titles_above_the_header_of_a_sheet_are_left_out(
    tmp_path: Path, above: list[list[object]], options: dict[str, object], target: str
) -> None:
    from tests.data.test_layouts import write_workbook

    numbers = len(above[-1]) - 1
    rows = [*above, *([day, *(5 + at % (7 + column) for column in range(numbers))] for at, day in enumerate(days(60)))]
    path = write_workbook(tmp_path / "book.xlsx", {"Sales": rows})
    proposal = find_proposals(path, DataConfig())[0]
    assert (dict(proposal.options), proposal.target) == (options, target)


@pytest.mark.slow
def test_each_sheet_of_a_workbook_gets_its_command(tmp_path: Path) -> None:
    from tests.data.test_layouts import PRICES, write_workbook

    other = [["month", "sales"], *([f"{2001 + at // 12}-{at % 12 + 1:02d}", 5 + at % 12] for at in range(60))]
    path = write_workbook(tmp_path / "book.xlsx", {"Sales": other, "Prices": PRICES, "Empty": []})
    forecasts = {str(each.options["sheet"]): each.forecasts for each in find_proposals(path, DataConfig())}
    assert forecasts == {
        "Sales": "'sales', 12 steps of 1 month ahead",
        "Prices": "'price', 7 steps of 1 day ahead",
    }


def test_an_index_and_a_year_without_month_are_no_date_in_parts(tmp_path: Path) -> None:
    """A panel of years with an index without a name: the year is the time, the firm tells series apart."""
    path = tmp_path / "table.csv"
    years = np.tile(np.arange(1935, 1955), 6)
    firm = np.repeat(np.arange(1, 7), 20)
    frame = pd.DataFrame({"firm": firm, "year": years, "inv": values(120)})
    frame.to_csv(path)
    proposal = find_proposals(path, DataConfig())[0]
    assert (proposal.time, proposal.item_id, proposal.target, proposal.num_series) == ("year", "firm", "inv", 6)


def test_rows_above_others_are_no_title_where_no_names_follow(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("year,rate\n" + "\n".join(f"{1948 + at},{at},{at % 5}" for at in range(40)) + "\n")
    assert all("skip_rows" not in proposal.options for proposal in find_proposals(path, DataConfig()))


@pytest.mark.parametrize("spoil", ["gap", "off", "text", "ambiguous"])
@pytest.mark.slow
def test_a_time_with_a_fault_is_not_replaced_by_row_numbers(tmp_path: Path, spoil: str) -> None:
    frame = pd.DataFrame({"date": days(12), "y": values(12)})
    if spoil == "ambiguous":
        frame["date"] = [f"{at:02d}/{at:02d}/2024" for at in range(1, 13)]
    else:
        frame.loc[6, "date"] = {"gap": "2034-01-07", "off": "2024-01-07 05:00", "text": "soon"}[spoil]
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    assert all(proposal.time == "date" for proposal in find_proposals(path, DataConfig()))
    thousands = pd.DataFrame({"date": days(30), "y": [f"{at},{at + 100}" for at in range(1, 31)]})
    thousands.to_csv(path, index=False)
    both = [(proposal.options, proposal.forecasts) for proposal in find_proposals(path, DataConfig())]
    assert both == [({"decimal": mark}, f"'y', 7 steps of 1 day ahead, with '{mark}' before decimals") for mark in ".,"]


@pytest.mark.slow
def test_two_columns_of_dates_that_are_as_likely_are_both_proposed(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"ordered": days(40), "delivered": days(40, "2024-01-03"), "y": values(40)}).to_csv(path, index=False)
    assert [dict(proposal.options) for proposal in find_proposals(path, DataConfig())] == [
        {"time": "ordered"},
        {"time": "delivered"},
    ]


def orders() -> pd.DataFrame:
    """Some orders a day, shipped up to a week later; weeks and customers' birthdays are beside them."""
    ordered = pd.Timestamp("2022-01-03") + pd.to_timedelta(np.sort(RNG.integers(0, 500, 3000)), unit="D")
    born = pd.Timestamp("1960-01-01") + pd.to_timedelta(RNG.integers(0, 15_000, 3000), unit="D")
    return pd.DataFrame(
        {
            "A shipped": ordered + pd.to_timedelta(RNG.integers(0, 8, 3000), unit="D"),
            "B born": born,
            "C week": ordered - pd.to_timedelta(ordered.day_of_week, unit="D"),
            "D ordered": ordered,
            "amount": RNG.lognormal(3, 1, 3000).round(2),
        }
    )


@pytest.mark.parametrize("without", [[], ["C week"], ["B born", "C week"]])
def test_of_two_dates_what_follows_soon_after_the_other_is_not_the_time(tmp_path: Path, without: list[str]) -> None:
    assert first_of(tmp_path, orders().drop(columns=without))["time"] == "D ordered"


def test_the_time_of_an_event_counts_rather_than_the_start_of_its_session(tmp_path: Path) -> None:
    """Sessions that stand one below the other are no series: each lasts for a few minutes."""
    start = pd.Timestamp("2022-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 40 * 86_400, 600)), unit="s")
    rows = RNG.integers(2, 7, 600)
    time = start.repeat(rows) + pd.to_timedelta(RNG.integers(0, 3000, rows.sum()), unit="s")
    session = np.arange(600).repeat(rows)
    frame = pd.DataFrame({"session": [f"s{at}" for at in session], "begun": start.repeat(rows), "paid at": time})
    frame = frame.assign(amount=RNG.lognormal(3, 1, len(frame)).round(2)).sort_values(["session", "paid at"])
    options = first_of(tmp_path, frame)
    assert options["time"] == "paid at"
    assert "item_id" not in options


def test_columns_without_names_are_not_alike_by_the_names_they_get(tmp_path: Path) -> None:
    """As the purchases of customers: the number of the customer, the date, pieces, dollars."""
    days = np.sort(RNG.integers(0, 400, 2000))
    dates = (pd.Timestamp("2022-01-01") + pd.to_timedelta(days, unit="D")).strftime("%Y%m%d")
    rows = zip(RNG.integers(1, 300, 2000), dates, RNG.geometric(0.5, 2000), RNG.lognormal(3, 1, 2000), strict=True)
    path = tmp_path / "purchases.txt"
    path.write_text("\n".join(f" {who:05d} {date} {pieces:2d} {paid:7.2f}" for who, date, pieces, paid in rows))
    assert "wide" not in find_proposals(path, DataConfig())[0].options


@pytest.mark.parametrize(("counts", "target"), [((84, 5, 5, 5), "signal"), ((84, 10, 4, 2), "events")])
def test_codes_of_events_are_no_target_and_amounts_are(tmp_path: Path, counts: tuple[int, ...], target: str) -> None:
    """Codes are each as frequent as the others; of demand that is mostly zero, small amounts are the frequent ones."""
    events = RNG.permutation(np.repeat(np.arange(4), 3 * np.array(counts)))
    frame = pd.DataFrame({"events": events, "signal": RNG.normal(size=len(events)).cumsum().round(3)})
    assert first_of(tmp_path, frame)["target"] == target


def first_of(folder: Path, frame: pd.DataFrame, name: str = "table.csv") -> dict[str, object]:
    """The options of the first command, with what it forecasts."""
    frame.to_csv(folder / name, index=False)
    proposals = find_proposals(folder / name, DataConfig())
    return {**proposals[0].options, "forecasts": proposals[0].forecasts} if proposals else {}


MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
NUMBERS = [f"{value:.4f}" for value in np.sin(np.arange(240))]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("text", "options"),
    [
        (
            "\n".join("   ".join(NUMBERS[first : first + 120]) for first in (0, 120)),
            {"delimiter": "blanks", "header": False, "layout": "rows", "item_id": "row-number"},
        ),
        (
            "\n".join(["$title", "NINO3 SST", "$units", "t0", "1871.0", "$t_units", "years", "data", *NUMBERS]),
            {"skip_rows": 7, "time": "row-number"},
        ),
        (
            f"# Reports\n# Start: 20240101\n\nDate,Users\n,{'9' * 6}\n"
            + "\n".join(f"{day.replace('-', '')},{10 + at % 7}" for at, day in enumerate(days(60))),
            {"comment": "#", "undated_rows": "drop", "time": "Date"},
        ),
        (
            "Date,Users,Cost\nTotal,999,--\n" + "\n".join(f"{day},{at % 7},{at}.5" for at, day in enumerate(days(60))),
            {"undated_rows": "drop", "target": "Cost"},
        ),
        (
            "\n".join(f"{'Date,Users' if at % 20 == 0 else ''}\n{day},{at % 7}" for at, day in enumerate(days(60))),
            {"undated_rows": "drop"},
        ),
        (
            "date,shop,sold\n"
            + "\n".join(f"{day},a,{at % 7}\n{day},b,{at % 5}\n,Total,{at}" for at, day in enumerate(days(60))),
            {"undated_rows": "drop", "item_id": "shop"},
        ),
        (
            "sent,came,state,cost\n"
            + "\n".join(
                f"{day},{'' if at > 54 else day},{'open' if at > 54 else 'done'},{at % 7}.5"
                for at, day in enumerate(days(60))
            ),
            {"time": "sent"},
        ),
        (
            "Row Labels,Sum of y\n"
            + "\n".join(
                f"{2012 + at // 13 if at % 13 == 0 else MONTHS[at % 13 - 1]},{at % 13 * 5}" for at in range(130)
            )
            + "\nGrand Total,7800\n",
            {"layout": "merged"},
        ),
        (
            "year,period,cpi\n" + "\n".join(f"{2000 + at // 13},M{at % 13 + 1:02d},{at}.5" for at in range(130)),
            {"undated_rows": "drop", "time": "year,period"},
        ),
        (
            "name,month,y\n"
            + "\n".join(f"{name},{2000 + at // 13}{at % 13 + 1:02d},{at}.5" for name in "AB" for at in range(130)),
            {"undated_rows": "drop", "time": "month", "item_id": "name", "date_format": "%Y%m"},
        ),
        (
            "HDR,ROLLING\n"
            + "\n".join(f"VD,{day.replace('-', '')},{at % 7}" for at, day in enumerate(days(1100)))
            + "\nF,60",
            {"skip_rows": 1, "header": False, "skip_footer": 1, "time": "column_2"},
        ),
        ("\n".join(f'"{MONTHS[at % 12]} {1969 + at // 12}",{1500 + at}' for at in range(100)), {"header": False}),
        (
            f"region{',2012' * 12}{',2013' * 12}\n,{','.join([*MONTHS, *MONTHS])}\n"
            + "\n".join(f"{name},{','.join(NUMBERS[at : at + 24])}" for at, name in enumerate(["N", "S", "E"])),
            {"header_rows": 2, "layout": "rows"},
        ),
        ("# time load\n" + "\n".join(f"{at} {at % 7}.5" for at in range(90)), {"delimiter": "blanks"}),
    ],
    ids=[
        *("a series in each of two lines", "settings above one column", "a grand total first", "a sum with a word"),
        *("names that stand once more", "a sum beside no date", "what has not come yet", "months below their years"),
        *("the mean of the year as a thirteenth month", "months in digits, and their sum", "a short line above rows"),
        *("a month and a number that may be a year", "three rows below names"),
        "names that numpy writes in the first line",
    ],
)
def test_what_stands_around_numbers(tmp_path: Path, text: str, options: dict[str, object]) -> None:
    path = tmp_path / "table.txt"
    path.write_text(text)
    assert dict(find_proposals(path, DataConfig())[0].options) == options


def hours_of_a_few_days() -> pd.DataFrame:
    hours = pd.Series(pd.date_range("2024-01-01", periods=4000, freq="h"))
    few = hours[hours.dt.day_of_year % 15 == 0].reset_index(drop=True)
    return pd.DataFrame({"date": few.dt.strftime("%Y-%m-%d %H:%M"), "y": values(len(few))})


def nine_years_of_wards() -> pd.DataFrame:
    years = np.repeat(np.arange(2006, 2015), 9)
    return pd.DataFrame({"ward": RNG.choice([*"ABC"], 81), "ill": RNG.integers(1, 900, 81), "year": years})


@pytest.mark.parametrize(
    ("frame", "forecasts"),
    [
        (hours_of_a_few_days, "'y', 24 steps of 1 hour ahead, where only 7% of the steps have a value"),
        (nine_years_of_wards, "'ill', sum of each 'year', 3 steps of 1 row ahead"),
    ],
)
def test_a_table_with_little_to_learn_from_gets_the_command_that_trains_all_the_same(
    tmp_path: Path, frame: Callable[[], pd.DataFrame], forecasts: str
) -> None:
    assert first_of(tmp_path, frame())["forecasts"] == forecasts


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"Event": [*"ab"] * 30, "Year": np.repeat(np.arange(1900, 1930), 2), "Time": ["02:55:10"] * 60},
            "--time Year --id Event",
            "has no numeric column to forecast",
        ),
        (
            {"year": 88, "brand": [*range(30)] * 2, "price": values(60)},
            "--target price",
            "column 'year' is 88 in all 60 rows: no row follows another in time",
        ),
    ],
    ids=["durations", "one year"],
)
def test_a_table_without_a_series_in_it_is_told_why(
    forecast: Callable, tmp_path: Path, columns: dict[str, object], options: str, message: str
) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    obstacle = json.loads(forecast("check", path, "--json").out)["obstacle"]
    assert obstacle["command"] == f"forecast check {path} {options}"
    assert message in obstacle["message"]


def test_text_in_a_column_of_a_wide_table_leaves_the_column_out(tmp_path: Path) -> None:
    columns = {f"sensor_{name}": values(60) for name in "abcdefg"}
    frame = pd.DataFrame({"date": days(60), **columns}).astype({"sensor_a": object})
    frame.loc[[3, 9], "sensor_a"] = ["M10", "K7"]
    assert first_of(tmp_path, frame)["ignore"] == ("sensor_a",)


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


def test_numbers_of_rows_are_no_target(tmp_path: Path) -> None:
    frame = pd.DataFrame({"rownames": RNG.permutation(60), "month": days(60), "kind": "a"})
    assert "rownames" not in first_of(tmp_path, frame).values()


def test_decimal_times_that_start_again_in_each_block_are_put_on_a_step(tmp_path: Path) -> None:
    """As the concentrations of drugs in each subject, at 0.25, 0.5, 2 hours."""
    times = np.tile([0.25, 0.5, 0.75, 1, 1.25, 2, 3, 4, 5, 6, 8], 6)
    frame = pd.DataFrame({"rownames": np.arange(1, 67), "Subject": np.repeat(np.arange(6), 11), "time": times})
    first = first_of(tmp_path, frame.assign(conc=RNG.normal(size=66).round(2)))
    expected = {"item_id": "Subject", "date_format": "0.25", "resample": "4", "missing": "mask"}
    assert first | expected == first
    assert first["forecasts"].startswith("'conc' of 6 series told apart by 'Subject', mean of each step of 4, ")


def test_a_coordinate_called_y_is_no_target(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"Electrode": np.repeat([*"abc"], 40), "Time": np.tile(np.arange(40), 3), "volts": values(120)}
    )
    frame = frame.assign(x=np.repeat([1, 2, 3], 40), y=np.repeat([5, 3, 4], 40))
    assert first_of(tmp_path, frame)["target"] == "volts"


def test_events_with_nothing_but_ages_are_counted_first(tmp_path: Path) -> None:
    date = pd.Series(pd.to_datetime("2020-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 500, 900)), "D"))
    frame = pd.DataFrame({"date": date.dt.strftime("%Y-%m-%d"), "age": RNG.integers(10, 90, 900)})
    assert first_of(tmp_path, frame.assign(lat=RNG.normal(size=900).round(3)))["target"] == "row-count"


def test_columns_called_after_years_are_years(tmp_path: Path) -> None:
    years = {f"year_{year}": RNG.normal(size=4).round(2) for year in range(1960, 2000)}
    frame = pd.DataFrame({"rownames": [1, 2, 3, 4], "country": [*"abcd"], **years})
    assert first_of(tmp_path, frame)["forecasts"] == "the rows as 4 series, 3 steps of 1 year ahead"


def test_of_years_quarters_and_months_below_each_other_the_months_are_kept(tmp_path: Path) -> None:
    """As the Office for National Statistics publishes a series."""
    months = [
        f"{year} {month}"
        for year in range(1990, 2010)
        for month in ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
    ]
    quarters = [f"{year} Q{quarter}" for year in range(1990, 2010) for quarter in range(1, 5)]
    stamps = [*map(str, range(1990, 2010)), *quarters, *months]
    above = ['"Title","CPI INDEX"', '"CDID","D7BT"', '"Unit","2015=100"', '"Important notes",']
    rows = [f'"{stamp}","{value}"' for stamp, value in zip(stamps, values(len(stamps)), strict=True)]
    (tmp_path / "table.csv").write_text("\n".join([*above, *rows]))
    proposal, *_ = find_proposals(tmp_path / "table.csv", DataConfig())
    assert proposal.options == {"skip_rows": 4 + 20 + 80, "header": False}
    assert proposal.forecasts == "'column_2', 12 steps of 1 month ahead"


@pytest.mark.parametrize(("name", "season"), [("week", "52"), ("month", "12"), ("hour", "24"), ("year_no", None)])
def test_a_column_that_counts_weeks_has_their_season(tmp_path: Path, name: str, season: str | None) -> None:
    assert (
        first_of(tmp_path, pd.DataFrame({name: np.arange(1, 121), "y": RNG.normal(size=120)})).get("season") == season
    )


def test_columns_that_count_days_have_weeks(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": [*"abc"], **{f"d_{at}": RNG.normal(size=3).round(2) for at in range(1, 61)}})
    assert first_of(tmp_path, frame)["season"] == "7"


def test_rows_are_no_steps_where_there_are_dates(forecast: Callable, tmp_path: Path) -> None:
    """Irregular dates stop the likeliest reading, which is named with its row; the number of the row is no time."""
    path = tmp_path / "packages.csv"
    stamps = pd.Timestamp("2001-06-21") + pd.to_timedelta(np.cumsum(RNG.integers(600, 1200, 25)), unit="D")
    frame = {"rownames": range(1, 26), "Date": stamps.strftime("%Y-%m-%d"), "Count": values(25), "Size": values(25)}
    pd.DataFrame(frame).to_csv(path, index=False)
    assert find_proposals(path, DataConfig()) == ()
    outcome = forecast("check", path, "--json")
    obstacle = json.loads(outcome.out)["obstacle"]
    assert (obstacle["code"], obstacle["column"], obstacle["row"]) == ("FA203", "Date", 2)
    assert obstacle["command"] == f"forecast check {path} --target Count"
    assert obstacle["fix"].endswith("--time row-number counts them")
    assert f"fix: {obstacle['fix']}" in forecast("check", path).out
    outcome = forecast("train", path, "--hidden-size", "4")
    assert f"try: {obstacle['command']}  # {obstacle['message']}" in outcome.err


def test_years_and_quarters_in_one_column_are_no_steps(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "accounts.csv"
    period = [*map(str, range(2010, 2020)), *(f"{year}Q{quarter}" for year in range(2010, 2020) for quarter in "1234")]
    rows = [(kind, each) for kind in ("import", "export") for each in period]
    pd.DataFrame(rows, columns=["kind", "period"]).assign(amount=values(100)).to_csv(path, index=False)
    assert find_proposals(path, DataConfig()) == ()
    outcome = forecast("train", path)
    assert "--time 'period' shows which of its cells are no stamps" in outcome.err
    outcome = forecast("check", path, "--time", "period")
    assert "is '2010Q1', which is not a time stamp at row 11 (line 12)" in outcome.out


def test_a_misspelt_column_is_spelt_right_in_the_command(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    pd.DataFrame({"day": days(60), "Sales": values(60), "Promo": [0, 1] * 30}).to_csv(path, index=False)
    outcome = forecast("train", path, "--target", "Sales", "--future", "promo")
    assert "did you mean 'Promo'?" in outcome.err
    assert f"try: forecast train {path} --target Sales --future Promo  #" in outcome.err


@pytest.mark.parametrize(
    ("options", "cell", "words", "without"),
    [
        ({"encoding": "utf-16"}, "7", [], ", without --encoding"),
        ({"delimiter": ";"}, "7", [], ", without --delimiter"),
        ({"freq": "h"}, "7", [], ", without --freq"),
        ({"resample": "h"}, "7", [], ", without --resample"),
        ({"date_format": "%d.%m.%Y"}, "7", [], ", without --date-format"),
        ({"missing": "error"}, "", [], ", without --missing"),
        ({"transform": "log"}, "-7", [], ", without --transform"),
        ({"horizon": 50}, "7", [], ", without --horizon"),
        ({"static_covariates": ("x",)}, "7", [], ", without --static"),
        ({}, "4 kW", ["--na", "4 kW"], ", with '4 kW' as no value"),
        ({}, "inf", ["--na", "inf"], ", with 'inf' as no value"),
        ({"past_covariates": ("x",), "na": ("-",)}, "7 kW", ["--past", "x", "--na", "-,7 kW"], "as no value"),
    ],
)
def test_a_command_withdraws_the_option_that_does_not_fit_or_reads_a_mistake_as_no_value(
    tmp_path: Path, options: dict[str, object], cell: str, words: list[str], without: str
) -> None:
    path = tmp_path / "shop.csv"
    y = [str(value) for value in values(60)]
    y[40] = cell
    pd.DataFrame({"day": days(60), "y": y, "x": np.arange(60) % 3}).to_csv(path, index=False)
    given = {"target": "y", **options}
    proposal = find_proposals(path, DataConfig(**given))[0]
    assert proposal.forecasts.startswith("'y', 7 steps of 1 day ahead")
    assert proposal.forecasts.endswith(without)
    command = shlex.split(command_text(str(path), given, proposal.options))
    assert command == ["forecast", "train", str(path), "--target", "y", *words]


@pytest.mark.parametrize("row", ["2024-02-10,4,8", "2024-02-30,4", '2024-02-10,"4'])
def test_a_table_that_no_option_reads_names_the_command_for_the_corrected_one(
    forecast: Callable, tmp_path: Path, row: str
) -> None:
    path = tmp_path / "shop.csv"
    lines = ["day,y", *(f"{day},{value}" for day, value in zip(days(60), values(60), strict=True))]
    path.write_text("\n".join([*lines[:41], row, *lines[42:]]))
    checked = forecast("check", path, "--missing", "mask")
    assert checked.out.endswith(f"when you have corrected that:\n  forecast check {path} --missing mask\n")
    assert f"try: forecast check {path}  # lists all that is wrong" in forecast("train", path).err


def test_a_file_of_nearly_the_name_is_trained_on_by_the_command(forecast: Callable, tmp_path: Path) -> None:
    pd.DataFrame({"day": days(60), "y": values(60)}).to_csv(tmp_path / "sales.csv", index=False)
    wrong, right = tmp_path / "sale.csv", tmp_path / "sales.csv"
    assert f"try: forecast train {right} --horizon 3\n" in forecast("train", wrong, "--horizon", "3").err
    assert forecast("check", wrong).out.endswith(f"  forecast check {right}\n")
    assert "holds no table" in forecast("train", tmp_path / "nowhere" / "sales.csv").err


def test_a_single_99_is_a_value(tmp_path: Path) -> None:
    y = np.arange(60) % 7 + 10
    y[[30, 40]] = 99, 12
    path = tmp_path / "shop.csv"
    pd.DataFrame({"day": days(60), "y": y}).to_csv(path, index=False)
    assert "na" not in find_proposals(path, DataConfig())[0].options
    y[40] = 99
    pd.DataFrame({"day": days(60), "y": y}).to_csv(path, index=False)
    assert find_proposals(path, DataConfig())[0].options["na"] == ("99",)


def test_check_says_how_to_use_a_column_of_categories(tmp_path: Path) -> None:
    path = tmp_path / "shop.csv"
    frame = {"day": days(60), "Sales": values(60), "Promo": ["yes", "no"] * 30}
    frame["Remark"] = [f"order {at}" for at in range(60)]
    pd.DataFrame(frame).to_csv(path, index=False)
    fixes = {f.column: f.fix for f in check_table(path, DataConfig()).findings if f.code == "FA104"}
    assert fixes["Promo"].startswith("to use its 2 categories: --future 'Promo' if they are known ahead")
    assert "categories:" not in fixes["Remark"]


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


def test_bookings_of_most_days_are_summed_by_day_and_rarer_ones_by_week(tmp_path: Path) -> None:
    for share, step in ((0.65, "D"), (0.4, "W-MON")):
        booked = np.sort(RNG.choice(400, int(400 * share), replace=False))
        stamps = pd.Timestamp("2023-01-02") + pd.to_timedelta(np.repeat(booked, 2), unit="D")
        frame = pd.DataFrame({"date": stamps.strftime("%Y-%m-%d"), "amount": RNG.lognormal(3, 1, len(stamps)).round(2)})
        options = first_of(tmp_path, frame)
        assert (options["resample"], options["aggregate"], options["missing"]) == (step, "sum", "zero")


def purchases(price: np.ndarray) -> pd.DataFrame:
    """Events at any second of 200 days, each with its price."""
    seconds = np.sort(RNG.uniform(0, 200 * 86400, len(price))).astype(int)
    stamps = (pd.Timestamp("2023-01-01") + pd.to_timedelta(seconds, unit="s")).strftime("%Y-%m-%d %H:%M:%S")
    return pd.DataFrame({"created": stamps, "price": price})


def test_money_at_no_regular_time_is_summed_and_the_mean_is_offered(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    purchases(RNG.lognormal(3, 1, 900).round(2)).to_csv(path, index=False)
    first, second = find_proposals(path, DataConfig())[:2]
    assert first.forecasts.startswith("'price', sum of each 1 day,")
    assert second.forecasts.startswith("'price', mean of each 1 day,")


def test_other_events_are_averaged_and_the_sum_is_offered_unless_they_are_a_level(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    purchases(RNG.lognormal(3, 1, 900).round(4)).to_csv(path, index=False)
    first, second = find_proposals(path, DataConfig())[:2]
    assert first.forecasts.startswith("'price', mean of each 1 day,")
    assert second.forecasts.startswith("'price', sum of each 1 day,")
    purchases(np.cumsum(RNG.normal(0, 1, 900)).round(2) + 100).to_csv(path, index=False)
    assert not any("'price', sum" in each.forecasts for each in find_proposals(path, DataConfig()))


def test_ages_that_rise_with_every_row_are_no_target(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"Depth [m]": values(60), "Gas age [kyr]": np.cumsum(RNG.exponential(1, 60)), "CO2": values(60)}
    )
    frame["Depth [m]"] = np.cumsum(RNG.exponential(2, 60))
    assert first_of(tmp_path, frame)["target"] == "CO2"


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


COUNTS = RNG.poisson(400, 240)
MARKS = np.random.default_rng(1).integers(1, 4, 240)
DIRECTIONS = 10 * np.random.default_rng(1).integers(0, 37, 240)


@pytest.mark.parametrize(
    ("name", "columns", "target"),
    [
        pytest.param("a", {"temp": values(240), "humidity": values(240), "riders": COUNTS}, "riders", id="weather"),
        pytest.param("a", {"temp": values(240), "Zone 1 Consumption": values(240)}, "Zone 1 Consumption", id="energy"),
        pytest.param("a", {"temp": values(240), "gust": values(240)}, "temp", id="nothing but weather"),
        pytest.param("a", {"price": values(240), "income": values(240), "cars": values(240)}, "price", id="price"),
        pytest.param("a", {"price": values(240), "reskwh": values(240), "cpi": values(240)}, "reskwh", id="kilowatts"),
        pytest.param("a", {"Price": values(240), "Unit Sales": values(240)}, "Unit Sales", id="price of what is sold"),
        pytest.param("a", {"Sales change": values(240), "margin": values(240)}, "margin", id="change"),
        pytest.param("a", {"shift_hours": 8 * MARKS, "made": values(240)}, "made", id="settings before what is made"),
        pytest.param("a", {"setpoint": 60 + MARKS, "flow": values(240)}, "flow", id="plans before what is measured"),
        pytest.param(
            "a", {"rain_mm": values(240), "discharge_m3s": values(240)}, "discharge_m3s", id="rain of a river"
        ),
        pytest.param("a", {"temp": values(240), "litres": values(240)}, "litres", id="weather and a figure"),
        pytest.param("a", {"temp_c": values(240), "level_m": values(240)}, "level_m", id="a level"),
        pytest.param("a", {"Bounce rate": values(240), "Sessions": COUNTS}, "Sessions", id="rate and what it is of"),
        pytest.param("a", {"rate": values(240), "share": values(240)}, "rate", id="nothing but rates"),
        pytest.param("OECDGas", {"income": values(240), "gas": values(240)}, "gas", id="last word of the table"),
        pytest.param("a", {"samplesize": COUNTS, "approve": values(240)}, "approve", id="persons asked"),
        pytest.param(
            "a",
            {"rainfall[mm]": values(240), "PET": values(240), "Discharge[ls-1]": values(240)},
            "Discharge[ls-1]",
            id="a river",
        ),
        pytest.param("a", {"TN": values(240), "RR": values(240), "CASES": COUNTS}, "CASES", id="cases"),
        pytest.param("a", {"apertura": values(240), "precio_cierre": values(240)}, "precio_cierre", id="last price"),
        pytest.param("a", {"expected_orders": COUNTS + 1, "orders": COUNTS}, "orders", id="what was expected"),
        pytest.param("a", {"pred_load": values(240), "margin": values(240)}, "margin", id="a prediction"),
        pytest.param("a", {"ghi_clear": values(240), "ghi": values(240)}, "ghi", id="a clear sky"),
        pytest.param("a", {"WR": DIRECTIONS, "x": values(240)}, "x", id="where the wind comes from"),
        pytest.param("hseinv", {"price": values(240), "inv": values(240)}, "inv", id="short name of the table"),
        pytest.param("a", {"Fault Label": MARKS - 1, "bar": values(240)}, "bar", id="labels"),
        pytest.param(
            "steps",
            {**{f"Steps.{hour}AM": values(240) for hour in range(12)}, "Total.Steps": COUNTS, "Calories": COUNTS},
            "Total.Steps",
            id="many called as the table",
        ),
    ],
)
def test_the_target_is_what_most_evidence_speaks_for(
    tmp_path: Path, name: str, columns: dict[str, np.ndarray], target: str
) -> None:
    path = tmp_path / f"{name}.csv"
    pd.DataFrame({"date": days(240), **columns}).to_csv(path, index=False)
    assert find_proposals(path, DataConfig(), most=1)[0].target == target


def test_years_since_an_event_that_is_the_same_for_all_series_are_no_target(tmp_path: Path) -> None:
    path, years = tmp_path / "table.csv", np.arange(1990, 2020)
    frame = pd.DataFrame({"firm": np.repeat(["a", "b", "c"], 30), "year": np.tile(years, 3)})
    frame["after"] = (frame["year"] - 2000).clip(lower=0)
    frame["profit"] = values(90)
    frame.to_csv(path, index=False)
    assert find_proposals(path, DataConfig(), most=1)[0].target == "profit"


def test_counts_above_zero_at_no_regular_time_are_summed(tmp_path: Path) -> None:
    """Hours without an event are left out."""
    path, hours = tmp_path / "table.csv", pd.date_range("2024-01-01", periods=24 * 60, freq="h")
    some = np.flatnonzero(np.random.default_rng(3).random(len(hours)) < 0.4)
    counts = np.random.default_rng(4).integers(1, 9, len(some))
    pd.DataFrame({"time": hours[some], "count": counts}).to_csv(path, index=False)
    options = dict(find_proposals(path, DataConfig(), most=1)[0].options)
    assert options == {"resample": "D", "aggregate": "sum", "missing": "zero"}


@pytest.mark.parametrize(
    ("name", "cells", "is_summed"),
    [
        ("remain", RNG.uniform(0.1, 0.6, 400).round(2), False),
        ("clinton", RNG.normal(45, 4, 400).round(2), False),
        ("priority", RNG.integers(1, 5, 400), False),
        ("stars", RNG.choice([1, 2, 3, 4, 5], 400, p=[0.1, 0.1, 0.2, 0.3, 0.3]), False),
        ("moisture [%]", RNG.exponential(20, 400).round(1), False),
        ("pieces", RNG.choice([1, 2, 3, 4], 400, p=[0.6, 0.2, 0.1, 0.1]), True),
        ("amount", RNG.normal(45, 4, 400).round(2), True),
        ("kilos", RNG.exponential(20, 400).round(1), True),
    ],
)
def test_shares_and_marks_are_averaged_and_amounts_are_summed(
    tmp_path: Path, name: str, cells: np.ndarray, is_summed: bool
) -> None:
    """Several rows of most days, at any of them."""
    booked = np.sort(np.random.default_rng(5).integers(0, 150, 400))
    stamps = pd.Timestamp("2023-01-02") + pd.to_timedelta(booked, unit="D")
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": stamps.strftime("%Y-%m-%d"), name: cells}).to_csv(path, index=False)
    proposals = [each for each in find_proposals(path, DataConfig()) if each.target == name]
    assert ("aggregate" in proposals[0].options) == is_summed
    assert is_summed or not any("aggregate" in each.options for each in proposals)


@pytest.mark.parametrize(
    ("columns", "target"),
    [
        pytest.param({"priority": RNG.integers(1, 5, 2000), "agent": RNG.choice([*"abc"], 2000)}, None, id="tickets"),
        pytest.param({"tripduration": RNG.integers(60, 3000, 2000), "bike": RNG.permutation(2000)}, None, id="trips"),
        pytest.param({"title": [f"on the theory of case {at}" for at in range(2000)]}, None, id="records with titles"),
        pytest.param(
            {"interest_rate": values(2000), "amount": RNG.lognormal(8, 1, 2000).round(2)}, "amount", id="loans"
        ),
    ],
)
def test_events_are_counted_unless_something_of_them_is_an_amount(
    tmp_path: Path, columns: dict[str, np.ndarray], target: str | None
) -> None:
    seconds = np.sort(np.random.default_rng(6).integers(0, 120 * 86_400, 2000))
    stamps = (pd.Timestamp("2023-01-01") + pd.to_timedelta(seconds, unit="s")).strftime("%Y-%m-%d %H:%M:%S")
    frame = pd.DataFrame({"created": stamps, **columns})
    if "title" in columns:
        frame["page"] = RNG.normal(300, 90, 2000).round(1)
    assert first_of(tmp_path, frame)["target"] == (target or "row-count")


def test_lists_of_names_are_options_as_tuples_are(tmp_path: Path) -> None:
    """Whoever calls from Python may give lists."""
    path = tmp_path / "table.csv"
    frame = pd.DataFrame({"date": days(60), "y": values(60), "shop": ["a", "b"] * 30})
    frame.assign(y=frame["y"].astype(str).where(frame.index % 9 > 0, "-")).to_csv(path, index=False)
    listed = find_proposals(path, DataConfig(na=["-"], categorical=["shop"]))  # type: ignore[arg-type]
    assert [each.options for each in listed] == [
        each.options for each in find_proposals(path, DataConfig(na=("-",), categorical=("shop",)))
    ]
    assert listed[0].target == "y"


def test_a_mark_and_a_name_with_commas_are_typed_in_quotes(forecast, tmp_path: Path) -> None:
    """`--na '<0,2'` would be two marks; the run keeps one, too."""
    cells = [f"{number:.2f}".replace(".", ",") for number in values(90)]
    lines = [f"{day};{'<0,2' if at % 9 == 4 else cells[at]};{cells[-at]}" for at, day in enumerate(days(90))]
    table = tmp_path / "limits.csv"
    table.write_text("\n".join(["day;nitrate;rain, mm", *lines]))
    printed = json.loads(forecast("check", table, "--json").out)["commands"]
    words = next(shlex.split(each["command"]) for each in printed if each["target"] == "rain, mm")
    assert '"<0,2"' in words
    run = tmp_path / "run"
    trained = forecast(*words[1:], "--ignore", '"nitrate"', "--out", run, *QUICK)
    assert trained.code == 0, trained.err
    options = ("--na", '"<0,2"', "--ignore", '"rain, mm"', "--missing", "mask")
    again = forecast("train", table, *options, "--out", tmp_path / "other", *QUICK)
    assert again.code == 0, again.err
    assert json.loads((tmp_path / "other" / "config.json").read_text())["options"]["data"]["ignore"] == ["rain, mm"]
    assert forecast("predict", run).code == 0
