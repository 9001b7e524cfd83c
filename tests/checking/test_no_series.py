"""Tables without a series that could be forecast: no command is printed, and why."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, date_column, noise, uneven_days, values


def lives_of_patients() -> pd.DataFrame:
    """The only number of a row, the days since something, is no target."""
    return pd.DataFrame({"rownames": range(1, 61), "years.after.birth": noise(60).round(1)})


def bakes_of_episodes() -> pd.DataFrame:
    """Several bakers have a row in each episode of a season."""
    episodes = np.tile(np.repeat(np.arange(1, 9), 6), 5)
    seasons, baker = np.repeat(np.arange(1, 6), 48), RNG.choice([*"abcdefgh"], 240)
    return pd.DataFrame({"series": seasons, "episode": episodes, "baker": baker, "rank": RNG.integers(1, 7, 240)})


def schools_of_some_years() -> pd.DataFrame:
    """The earnings are known of few rows, which is no reason to forecast a code."""
    frame = pd.DataFrame({"unitid": np.repeat(np.arange(500, 540), 8), "year": np.tile(np.arange(2007, 2015), 40)})
    frame["degree_type"] = RNG.integers(1, 4, 320)
    return frame.assign(earnings=np.where(frame["year"] % 4 == 0, noise(320), np.nan))


def wars_of_states() -> pd.DataFrame:
    """The days of some dates are unknown, and the rows are in no order of time."""
    starts = np.repeat(RNG.integers(0, 60000, 50), 4)  # one for each side of a war
    stamps = pd.Series(pd.Timestamp("1816-01-01") + pd.to_timedelta(starts, "D"))
    dates = stamps.dt.strftime("%m/%d/%Y").where(np.arange(200) % 9 > 0, "-9/-9/1900")
    lengths = {"mindur": noise(200).cumsum().round(2), "maxdur": noise(200)}
    return pd.DataFrame({"rownames": range(1, 201), "stdate": dates, **lengths})


def visits_without_patients() -> pd.DataFrame:
    """The month of a visit goes up within a patient, whom no column names; rows are no steps of one series."""
    lengths = np.tile([7, 9, 8], 12)
    visits = np.concatenate([np.arange(length) * 2 for length in lengths])
    return pd.DataFrame({"Fup": visits, "RNA": noise(len(visits)).cumsum().round(2), "cd4": noise(len(visits))})


def holidays_of_years() -> pd.DataFrame:
    """The only numbers are parts of the date, and none of them is a target."""
    stamps = pd.to_datetime([f"{year}-{day}" for day in ("01-01", "07-04", "12-25") for year in range(2004, 2022)])
    parts = {"Month": stamps.month, "Day": stamps.day, "Year": stamps.year}
    return pd.DataFrame({"Date": stamps.strftime("%Y-%m-%d"), "Holiday": np.repeat([*"abc"], 18), **parts})


def hours_after_doses() -> pd.DataFrame:
    """The hours are no even steps, so rows are none either."""
    hours = np.tile([0.25, 0.5, 0.75, 1, 1.25, 2, 3, 4, 5, 6, 8], 20)
    return pd.DataFrame({"id": np.repeat(np.arange(20), 11), "after": hours, "conc": noise(220)})


def places_in_no_order() -> pd.DataFrame:
    """Places are no steps, however their numbers follow each other."""
    coordinates = {"latitude_deg": RNG.uniform(25, 49, 90), "longitude_deg": RNG.uniform(-120, -70, 90)}
    return pd.DataFrame({"code": [f"K{at}" for at in range(90)], **coordinates, "elevation": noise(90).cumsum()})


def workers_of_provinces() -> pd.DataFrame:
    """Each combination of names has one row; neighbours are alike, for they are of one province."""
    names = pd.MultiIndex.from_product([["north", "south"], ["men", "women"], ["young", "old"], [*"abcdefghij"]])
    frame = names.to_frame(index=False, name=["province", "sex", "age", "status"])
    return frame.assign(persons=noise(80).cumsum(), rate=noise(80).cumsum())


def birds_of_islands() -> pd.DataFrame:
    """Birds stand island by island and year by year, males and females in turn; the sizes of neighbours are unlike."""
    island, year = np.repeat([*"abc"], 80), np.tile(np.repeat([2007, 2008], 40), 3)
    sex, size = np.tile([0.0, 9.0], 120), np.repeat([0.0, 20.0, 50.0], 80)
    frame = pd.DataFrame({"ring": np.arange(240) + 100, "island": island, "year": year, "sex": sex.astype(int)})
    return frame.assign(bill=noise(240) + size + sex, weight=noise(240) + 3 * size + sex)


def turbines_by_size() -> pd.DataFrame:
    """Codes of several shapes are names of things."""
    codes = [form.format(at) for at in range(10, 20) for form in ("V{}/2000", "E-{}", "N{}")]
    return pd.DataFrame({"turbine": codes, "height": noise(30).cumsum(), "power": noise(30).cumsum()})


def shares_of_one_year() -> pd.DataFrame:
    """States of one election: their numbers, from 1 to 50, and the ages of who answered are no days of the year."""
    return pd.DataFrame(
        {"rownames": np.arange(1, 51), "year": 2016, "age": RNG.permutation(50) + 18, "share": noise(50)}
    )


def patients_by_survival() -> pd.DataFrame:
    """How long each patient lived is no time of the table, nor are its rows steps."""
    frame = pd.DataFrame({"time": RNG.integers(5, 220, 60), "event": RNG.integers(0, 2, 60), "grade": [*"ab"] * 30})
    return frame.sort_values(["grade", "time"]).assign(size=noise(60))


def countries_asked_twice() -> pd.DataFrame:
    """Two years of each country are too few for a series, and the rows are no events."""
    names = [f"{a}{b}" for a in "abcdefg" for b in "hijklmn"]
    years = np.concatenate([np.sort(RNG.choice(np.arange(1990, 2010), 2, replace=False)) for _ in names])
    frame = pd.DataFrame({"country": np.repeat(names, 2), "year": years, "litres": noise(2 * len(names))})
    return frame.sort_values("year", kind="stable")


def visits_of_patients() -> pd.DataFrame:
    """All numbers are properties of a patient: nothing that could be forecast."""
    centre, answer = np.repeat(RNG.integers(1, 3, 40), 5), RNG.choice(["good", "poor"], 200)
    return pd.DataFrame(
        {"month": np.tile(np.arange(5), 40), "subject": np.repeat(np.arange(40), 5), "centre": centre}
    ).assign(status=answer)


def weekdays_in_turn() -> pd.DataFrame:
    """The same with weekdays, which are no series."""
    return pd.DataFrame({"name": ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"] * 60, "volume": noise(420) * 50})


def jobs_of_persons() -> pd.DataFrame:
    """Switches that are numbered are no steps."""
    return pd.DataFrame(
        {"id": [f"p{at}" for at in range(40)], **{f"reg{at}": RNG.integers(0, 2, 40) for at in range(661, 685)}}
    )


def goods_of_markets() -> pd.DataFrame:
    """The rows of a market are its goods, which come again in other markets, and no steps."""
    goods = np.tile([f"good {name}" for name in "abcdefghijkl"], 20)
    return pd.DataFrame({"market_id": np.repeat(np.arange(20), 12), "good": goods, "share": noise(240)})


def blood_of_patients() -> pd.DataFrame:
    """Several tests on a day of each patient, one below the other."""
    visits = [(person, day) for person in range(60) for day in np.sort(RNG.integers(-500, 500, 8))]
    rows = [(person, day, test) for person, day in visits for test in ("hdl", "chol")]
    frame = pd.DataFrame(rows, columns=["id", "days", "test"])
    return frame.assign(value=frame["test"].map({"hdl": 60, "chol": 200}) + RNG.integers(-9, 9, len(frame)))


def seeds_in_dishes() -> pd.DataFrame:
    """What germinated in each interval of each dish, until the dish was thrown away."""
    starts = [start for dish in range(20) for start in (0, 2, 3, 5, 8, 9, 12, 14, 15)[: 5 + dish % 5]]
    return pd.DataFrame({"start": starts, "germinated": np.clip(noise(len(starts)) - 9, 0, 9).round().astype(int)})


def records_of_a_century() -> pd.DataFrame:
    """Each distance has a record, and the distance is no outcome."""
    held = RNG.permutation(uneven_days(40, 700))
    return pd.DataFrame({"Distance": np.arange(1, 41) ** 2 / 10, "Time": np.arange(1, 41) ** 2 / 60.0, "Date": held})


SLOW_TABLES = (
    lives_of_patients,
    bakes_of_episodes,
    schools_of_some_years,
    wars_of_states,
    visits_without_patients,
    holidays_of_years,
    hours_after_doses,
    places_in_no_order,
    workers_of_provinces,
    birds_of_islands,
    turbines_by_size,
    shares_of_one_year,
    patients_by_survival,
    countries_asked_twice,
    visits_of_patients,
    weekdays_in_turn,
    jobs_of_persons,
    goods_of_markets,
)
QUICK_TABLES = (blood_of_patients, seeds_in_dishes, records_of_a_century)


@pytest.mark.parametrize(
    "make",
    [
        *(pytest.param(make, marks=pytest.mark.slow) for make in SLOW_TABLES),
        *QUICK_TABLES,
        pytest.param(
            lambda: pd.DataFrame({"date": date_column(90), "note": ["a", "b"] * 45}), id="no numbers, one row a day"
        ),
        pytest.param(lambda: pd.DataFrame({"date": date_column(2), "y": values(2)}), id="two rows"),
        pytest.param(
            lambda: pd.DataFrame({"date": np.repeat(date_column(4).to_numpy(), 30), "y": values(120)}),
            id="four days, thirty rows each",
        ),
        pytest.param(
            lambda: pd.DataFrame(
                {"years": RNG.integers(1, 15, 60), "price": RNG.normal(9, 2, 60), "km": RNG.normal(90, 9, 60)}
            ),
            id="cars for sale",
        ),
        pytest.param(
            lambda: pd.DataFrame(
                {"species": ["a"] * 30 + ["b"] * 30, "length": np.repeat([4.0, 6.0], 30) + RNG.normal(size=60)}
            ),
            id="flowers of two species",
        ),
        pytest.param(
            lambda: pd.DataFrame(
                {"plant": [f"plant of {a}{b}{c}" for a in "xyz" for b in "xyz" for c in "xy"], "y": values(18)}
            ),
            id="things with names",
        ),
        pytest.param(lambda: pd.DataFrame({"age": np.arange(20, 80), "deaths": np.arange(60) ** 2}), id="a life table"),
    ],
    ids=lambda make: make.__name__,
)
def test_what_is_no_series_gets_no_command(tmp_path: Path, make: Callable[[], pd.DataFrame]) -> None:
    make().to_csv(tmp_path / "table.csv", index=False)
    assert find_proposals(tmp_path / "table.csv", DataConfig()) == ()


def test_times_of_events_alone_are_no_series_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    happened = 1851.2 + np.cumsum(RNG.exponential(0.5, size=190))
    pd.DataFrame({"date": happened}).to_csv(path, index=False)
    assert find_proposals(path, DataConfig()) == ()
    pd.DataFrame({"level": happened}).to_csv(path, index=False)
    assert [each.target for each in find_proposals(path, DataConfig())] == ["level"]


def years_of_days_of_sites() -> pd.DataFrame:
    """As the temperatures of the aspen: the sites of each day stand together, and days begin in the autumn before."""
    grid = [(year, day, site) for year in (2009, 2010, 2012) for day in range(-65, 366) for site in (48, 183)]
    return pd.DataFrame(grid, columns=["year", "doy", "site_id"]).assign(temperature=values(len(grid)))


def test_days_of_years_of_several_sites_are_not_put_together_by_year(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    frame = years_of_days_of_sites()
    for first in (2009, 1):
        frame.assign(year=frame["year"] - 2009 + first).to_csv(path, index=False)
        assert find_proposals(path, DataConfig()) == ()


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            lambda: {"Event": [*"ab"] * 30, "Year": np.repeat(np.arange(1900, 1930), 2), "Time": ["02:55:10"] * 60},
            "--time Year --id Event",
            "has no numeric column to forecast",
        ),
        (
            lambda: {"year": 88, "brand": [*range(30)] * 2, "price": values(60)},
            "--target price",
            "column 'year' is 88 in all 60 rows: no row follows another in time",
        ),
    ],
    ids=["durations", "one year"],
)
def test_a_table_without_a_series_in_it_is_told_why(
    forecast: Callable, tmp_path: Path, columns: Callable[[], dict[str, object]], options: str, message: str
) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame(columns()).to_csv(path, index=False)
    obstacle = json.loads(forecast("check", path, "--json").out)["obstacle"]
    assert obstacle["command"] == f"forecast check {path} {options}"
    assert message in obstacle["message"]


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "row"),
    [
        (
            '# Downloaded on 2020-02-05\n\n"Date","Price"',
            '"{day:%Y-%m-%d}",25,{at}525',
        ),  # decimal commas without quotes: the cents are no column
        ("Date,SPX,,Date,VIX", "{day:%Y-%m-%d},{at},,{later:%Y-%m-%d},{at}.5"),  # two tables, each with its dates
        ("Country,1990 [YR1990],2000 [YR2000],2010 [YR2010],2013 [YR2013]", "land {at},{at},{at}.5,{at}.7,{at}.1"),
    ],
)
def test_what_would_be_read_wrong_is_refused(tmp_path: Path, head: str, row: str) -> None:
    path = tmp_path / "table.csv"
    days = pd.date_range("2008-04-07", periods=130, freq="7D")
    later = days + pd.Timedelta(days=1)
    rows = [
        row.format(day=days[at], later=later[at], at=at, year=2000 + at // 13, month=at % 13 + 1) for at in range(130)
    ]
    path.write_text("\n".join([head, *rows]) + "\n")
    assert find_proposals(path, DataConfig()) == ()
