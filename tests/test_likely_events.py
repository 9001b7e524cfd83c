"""`forecast check` tells what rows are by their names and dates: events that are counted or summed, or measurements."""

import calendar
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from .made_columns import RNG, days, noise


def uneven_days(rows: int, apart: int) -> list[str]:
    """Dates that are as uneven as those of events, in order."""
    lags = RNG.exponential(apart, rows).astype(int).cumsum()
    return [str(day) for day in np.datetime64("2001-01-01") + lags]


def crashes_of_aeroplanes() -> pd.DataFrame:
    """Few crashes come soon after each other, and those of a decade are somewhat alike."""
    level = np.linspace(20, 120, 400)
    fatalities = (level + RNG.integers(0, 150, 400)).astype(int)
    return pd.DataFrame({"date": uneven_days(400, 15), "phase": RNG.choice([*"abc"], 400), "Fatalities": fatalities})


def votes_of_states() -> pd.DataFrame:
    """The votes of large states are larger in each of their rows, from the first candidate to the last one."""
    states = pd.DataFrame({"state_code": range(40), "size": RNG.lognormal(0, 1, 40)})
    years = pd.DataFrame({"year": range(1976, 2024, 4)})
    shares = pd.DataFrame({"party": [*"abcde"], "share": [50, 40, 30, 20, 1]})
    frame = years.merge(states, how="cross").merge(shares, how="cross")
    votes = (frame.pop("size") * frame.pop("share") * RNG.uniform(900, 1100, len(frame))).astype(int)
    return frame.assign(party=RNG.choice([*"abc"], len(frame)), candidatevotes=votes)


def patients_of_a_trial() -> pd.DataFrame:
    """Each patient joins on a day of their own."""
    sizes = {"height": noise(200).cumsum().round(1), "weight": noise(200).cumsum().round(1)}
    persons = {"age": RNG.integers(5, 60, 200), "sex": RNG.choice(["female", "male"], 200)}
    return pd.DataFrame({"random": uneven_days(200, 4), **sizes, **persons})


def weighted_answers_of_a_year() -> pd.DataFrame:
    """What stands for whom in a survey says nothing of the years."""
    years = np.repeat(np.arange(1990, 2020), 20)
    weights = {"pspwght": noise(600), "dweight": noise(600).cumsum()}
    return pd.DataFrame({"year": years, **weights, "trust": noise(600)})


def letters_of_few_weeks() -> pd.DataFrame:
    """Thirteen weeks are enough to count, where a copied reader is no amount."""
    stamps = pd.Timestamp("2012-01-02") + pd.to_timedelta(np.sort(RNG.integers(0, 13 * 7 * 24 * 60, 60)), "min")
    copied = RNG.choice([0, 0, 0, 1, 2, 3, 7], 60)
    return pd.DataFrame({"time": stamps.strftime("%Y-%m-%dT%H:%M:00Z"), "cc": copied, "size": RNG.choice([*"ab"], 60)})


def lawsuits_by_status() -> pd.DataFrame:
    """The status of a case is a property, be it that no day has two of one status."""
    dates = np.unique(uneven_days(300, 6))
    frame = pd.DataFrame({"filed": np.repeat(dates, 2), "status": np.tile([1, 2], len(dates))})
    return frame.assign(nature=RNG.choice([190, 440, 443, 710, 895], len(frame)))


def teams_by_games() -> pd.DataFrame:
    """How often a team played is no result."""
    frame = pd.DataFrame({"year": np.tile(np.arange(1960, 2000), 6), "team": np.repeat([*"abcdef"], 40)})
    return frame.assign(games_played=RNG.integers(150, 163, 240), wins=RNG.integers(40, 110, 240))


def wages_of_persons() -> pd.DataFrame:
    """Hours come first, and wages are what persons are asked for."""
    frame = pd.DataFrame({"person": np.repeat(np.arange(20), 10), "year": np.tile(np.arange(1980, 1990), 20)})
    persons = {"age": np.tile(np.arange(20, 30), 20), "educ": RNG.integers(8, 18, 200)}
    return frame.assign(**persons, weeks=RNG.integers(20, 52, 200), ln_wage=noise(200))


def wages_of_firms() -> pd.DataFrame:
    """Those of a firm are what it pays beside what it sells."""
    frame = pd.DataFrame({"firm": np.repeat(np.arange(20), 10), "year": np.tile(np.arange(1980, 1990), 20)})
    return frame.assign(employees=noise(200), wage=noise(200), capital=noise(200))


def sprinters_of_games() -> pd.DataFrame:
    """Only few countries win the same medal again, and one medal of each colour is won every four years."""
    games = np.repeat(np.arange(1900, 2016, 4), 3)
    countries = RNG.choice([*"ABC"], len(games), p=[0.5, 0.3, 0.2])
    frame = pd.DataFrame({"Year": games, "Country": countries, "Medal": np.tile([*"gsb"], len(games) // 3)})
    shared = frame.iloc[[40]].assign(Country="D")  # a medal that two won
    return pd.concat([frame, shared]).sort_values("Year").assign(Time=noise(len(games) + 1))


def nests_by_all_their_marks() -> pd.DataFrame:
    """A dozen kinds of nests are seen in each week, and a hundred only once."""
    kinds = pd.DataFrame({name: RNG.choice([*"abcd"], 112) for name in ("station", "height", "density", "health")})
    kinds = kinds.drop_duplicates()
    weeks = [range(1, 11) if at < 12 else RNG.integers(1, 11, 1).tolist() for at in range(len(kinds))]
    frame = kinds.assign(week=weeks).explode("week").astype({"week": int}).sort_values("week")
    return frame.assign(count=RNG.poisson(3, len(frame)) + 1)


def past_of_a_series() -> pd.DataFrame:
    """As `series_to_supervised` writes it."""
    y, x = noise(120).cumsum().round(2), noise(120).cumsum().round(2)
    frame = pd.DataFrame({"time": np.arange(120) * 0.05, "V1": y, "V3": x}).round(2)
    shifted = {f"{name}(t-{lag})": frame[name].shift(lag).round(2) for lag in (3, 6) for name in ("V1", "V3")}
    return frame.assign(**shifted).iloc[6:]


def polls_of_states() -> pd.DataFrame:
    """Each state has its own level, so that the mean of a week follows the states that were asked in it."""
    polls = {"state": RNG.choice([*"abcd"], 800), "date": sorted(uneven_days(800, 1))}
    frame = pd.DataFrame(polls | {"grade": RNG.choice(["good", "fair"], 800)})
    share = frame["state"].map(dict(zip("abcd", (20, 35, 50, 65), strict=True)))
    return frame.assign(approval_pct=(share + RNG.normal(0, 2, 800)).round(1))


def people_in_boats() -> pd.DataFrame:
    """Eighteen boats leave within two hours."""
    minutes = sorted([0, 10, 15, 25, 25, 25, 35, 40, 45, 45, 50, 55, 55, 60, 75, 80, 90, 95])
    launch = (pd.Timestamp("1912-04-15 00:45") + pd.to_timedelta(minutes, "min")).strftime("%Y-%m-%d %H:%M")
    men, women = RNG.integers(0, 60, 18), RNG.integers(0, 60, 18)
    return pd.DataFrame({"launch": launch, "men": men, "women": women, "total": men + women})


def votes_and_codes() -> pd.DataFrame:
    """An equation of elections, whose incumbents are 1 and -1."""
    years = np.arange(1880, 2020, 4)
    party, share = RNG.choice([-1, 0, 1], len(years)), RNG.uniform(0.3, 0.6, len(years)).round(3)
    rates = {name: RNG.uniform(0.5, 3, len(years)).round(3) for name in ("g", "p", "growth", "gain")}
    return pd.DataFrame({"year": years, "V": share, "party": party} | rates)


def answers_about_pay() -> pd.DataFrame:
    """Average hourly earnings, as the econometrician calls them."""
    years = np.repeat(np.arange(1992, 2006, 2), 60)
    return pd.DataFrame(
        {"year": years, "ahe": RNG.lognormal(2.5, 0.6, 420).round(2), "sex": RNG.choice(["female", "male"], 420)}
    )


def seats_by_congress() -> pd.DataFrame:
    """The members of each party of each chamber."""
    keys = pd.MultiIndex.from_product([range(1, 60), ["House", "Senate"], ["A", "B"]])
    frame = keys.to_frame(index=False, name=["Congress", "Chamber", "Party"])
    return frame.assign(Count=RNG.integers(0, 200, len(frame)))


def forecasts_by_quarters() -> pd.DataFrame:
    """The counter of the rows ends before the forecasts do."""
    quarters = pd.MultiIndex.from_product([range(1960, 2010), range(1, 5)], names=["year", "quarter"])
    series = {name: noise(200).cumsum().round(2) for name in ("fc", "fcdyn", "fcdyn2", "fcdyn3", "fcdyn4")}
    counter = pd.Series(range(200), dtype="Int64").where(pd.Series(range(200)) < 180)
    return quarters.to_frame(index=False).assign(**series, orig_index=counter)


def pieces_of_shops() -> pd.DataFrame:
    """Mostly one piece is sold at a time, and its price is no amount."""
    days = sorted(uneven_days(900, 1))
    pieces = RNG.choice([1.0, 1.0, 1.0, 1.0, 2.0, 3.0, -1.0], 900)
    return pd.DataFrame(
        {"date": days, "shop_id": RNG.integers(2, 9, 900), "item_price": noise(900), "item_cnt": pieces}
    )


def meters_of_clients() -> pd.DataFrame:
    """Clients differ by a number, and in size by more than countries do."""
    loads = {f"MT_{client:03}": 10.0 ** (client % 5) + noise(120) for client in range(60)}
    return pd.DataFrame({"": pd.date_range("2011-01-01", periods=120, freq="h").astype(str), **loads})


def deaths_and_weather() -> pd.DataFrame:
    names = ("death", "cvd", "resp", "temp", "rhum", "o3")
    return pd.DataFrame({"date": days(200), **{name: noise(200).round(1) for name in names}})


def calls_and_durations() -> pd.DataFrame:
    """Durations that differ from row to row name no things."""
    waits = [f"0:{minute:02}:{second:02}" for minute, second in zip(*RNG.integers(0, 60, (2, 200)), strict=True)]
    week = 200 + 60 * np.sin(np.arange(200) * 2 * np.pi / 7)
    calls = RNG.poisson(week)
    waits[7] = ""
    return pd.DataFrame(
        {"Index": range(1, 201), "Calls": calls, "Answered": calls - 9, "Talk": waits[::-1], "Wait": waits}
    )


def shares_of_patients() -> pd.DataFrame:
    """Weeks of the CDC, of which 2014 has 53; shares stand beside the patients that they are of."""
    weeks = [(year, week) for year in range(2010, 2016) for week in range(1, 53 + (year == 2014))]
    frame = pd.DataFrame(
        [(f"Region {at}", *week) for week in weeks for at in (1, 2)], columns=["REGION", "YEAR", "WEEK"]
    )
    patients = RNG.integers(20_000, 40_000, len(frame))
    flu = (patients * RNG.uniform(0.01, 0.05, len(frame))).astype(int)
    return frame.assign(**{"% FLU": (100 * flu / patients).round(3), "TOTAL PATIENTS": patients, "FLU": flu})


def load_and_temperatures() -> pd.DataFrame:
    """Stamps have no marks, and the stations are no weeks."""
    stamps = [f"{at.month}{at:%d%Y} {at.hour}:00" for at in pd.date_range("2005-01-01 01:00", periods=600, freq="h")]
    stations = {f"w{number}": RNG.integers(30, 70, 600) for number in range(1, 26)}
    return pd.DataFrame({"ZONEID": 1, "TIMESTAMP": stamps, "LOAD": noise(600), **stations})


def river_and_rain() -> pd.DataFrame:
    names = ("precipitation", "pet", "discharge_spec", "discharge_vol")
    return pd.DataFrame({"date": days(200), **{name: noise(200) for name in names}})


def load_and_generation() -> pd.DataFrame:
    """What came true stands beside what was forecast, and beside the power that pumps take."""
    names = (
        "generation hydro pumped storage consumption",
        "generation solar",
        "total load forecast",
        "total load actual",
    )
    return pd.DataFrame({"time": days(200), **{name: noise(200) for name in names}})


def bookings_of_hotels() -> pd.DataFrame:
    """The day of the last change of a booking is of no guest."""
    arrivals = pd.Timestamp("2015-07-01") + pd.to_timedelta(np.sort(RNG.integers(0, 400, 2000)), "D")
    parts = {
        "arrival_date_year": arrivals.year,
        "arrival_date_month": arrivals.month_name(),
        "arrival_date_day_of_month": arrivals.day,
    }
    changed = arrivals + pd.to_timedelta(RNG.integers(-90, 9, 2000), "D")
    return pd.DataFrame(
        {"hotel": RNG.choice([*"ab"], 2000), **parts, "reservation_status_date": changed.strftime("%Y-%m-%d")}
    )


def cases_of_cities() -> pd.DataFrame:
    """The first days of 1993 are in week 53 of it, as of no calendar: a few rows without a time."""
    weeks = [(year, week) for year in range(1990, 1999) for week in range(1, 53)]
    weeks.insert(weeks.index((1993, 1)), (1993, 53))
    rows = [(city, *week) for city in ("sj", "iq") for week in weeks]
    frame = pd.DataFrame(rows, columns=["city", "year", "weekofyear"])
    return frame.assign(total_cases=RNG.poisson(20, len(frame)))


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


def crises_of_countries() -> pd.DataFrame:
    """A switch for each country and year."""
    countries = {
        name: RNG.choice([0, 1], 60, p=[0.7, 0.3]) for name in ("Angola", "Chad", "Fiji", "Mali", "Oman", "Peru")
    }
    return pd.DataFrame({"year": range(1950, 2010), **countries})


def orders_of_a_resource_plan() -> pd.DataFrame:
    """Numbers of orders go up, and those of devices come again."""
    dates = sorted(uneven_days(300, 3))
    numbers = 4001880 + RNG.integers(1, 9, 300).cumsum()
    devices = RNG.choice([10005120, 10004711, 10005244], 300)
    return pd.DataFrame({"Auftrag": numbers, "Equipment": devices, "Eckstart": dates, "Ort": RNG.choice([*"ab"], 300)})


def league_by_matchdays() -> pd.DataFrame:
    """One season, and a row for each team and matchday in the order of the table."""
    rows = [(day, rank) for day in range(1, 35) for rank in range(1, 13)]
    frame = pd.DataFrame(rows, columns=["Matchday", "Position"])
    teams = np.concatenate([RNG.permutation([f"team {at}" for at in range(12)]) for _ in range(34)])
    points = (frame["Matchday"] * RNG.uniform(0.8, 2.2, len(frame))).astype(int)
    return frame.assign(Team=teams, Pts=points).assign(Season="2018/19")


def tags_of_a_plant() -> pd.DataFrame:
    """Values of instruments as they change, one instrument below the other."""
    frames = []
    for tag in ("FIC1101.PV", "TI1102.PV", "PI1103.PV"):
        seconds = RNG.exponential(100, 400).astype(int).cumsum() + 1
        stamps = pd.Timestamp("2025-02-03") + pd.to_timedelta(seconds, "s")
        frames.append(pd.DataFrame({"Tag": tag, "Timestamp": stamps, "Value": noise(400).cumsum().round(2)}))
    return pd.concat(frames)


def samples_of_a_water_works() -> pd.DataFrame:
    """Samples of each point are taken once a week, on one of its days, and tested for several things."""
    frames = []
    for point in range(4):
        days = 7 * np.arange(120) + RNG.integers(0, 3, 120) + point
        dates = np.datetime64("2022-01-03") + days
        for test, level in (("pH", 7), ("Nitrati", 16), ("Cloro", 0.2)):
            frames.append(pd.DataFrame({"Data": dates, "Punto": f"p{point}", "Parametro": test, "Risultato": level}))
    frame = pd.concat(frames).sort_values("Data", kind="stable")
    return frame.assign(Risultato=(frame["Risultato"] * RNG.normal(1, 0.1, len(frame))).round(3))


def profiles_of_a_lake() -> pd.DataFrame:
    """Samples of some days of a year, at several depths."""
    cells = [(year, day, depth) for year in range(2005, 2015) for day in range(136, 300, 14) for depth in (0, 2, 4, 8)]
    frame = pd.DataFrame(cells, columns=["year4", "daynum", "depth"])
    return frame.assign(wtemp=(20 - frame["depth"] + noise(len(frame)) / 5).round(1))


def readings_of_a_meter() -> pd.DataFrame:
    """What has been counted so far, voltages and the battery stand before the power."""
    stamps = pd.date_range("2024-09-02", periods=600, freq="5min")
    power = np.abs(noise(600))
    volts = {"BattV_Min": noise(600) + 2, "V L1-N": 230 + noise(600).round(1)}
    return pd.DataFrame({"stamp": stamps, **volts, "kWh TOT": power.cumsum().round(2), "kW sys": power})


def cases_so_far() -> pd.DataFrame:
    """All cases, and those of a day."""
    new = RNG.poisson(4000, 200)
    return pd.DataFrame({"date": days(200), "all_cases": new.cumsum(), "confirmed": new, "tests": noise(200) * 900})


def milk_of_cows() -> pd.DataFrame:
    """Days since a cow calved go up by those between two tests."""
    dates = np.datetime64("2019-01-14") + 33 * np.arange(30)
    frames = [
        pd.DataFrame(
            {"cow": f"cow {at}", "tested": dates, "LT": (at * 41 + 33 * np.arange(30)) % 400, "milk": noise(30)}
        )
        for at in range(8)
    ]
    return pd.concat(frames).sort_values("tested", kind="stable")


def rides_of_an_athlete() -> pd.DataFrame:
    """Two columns have one name, as a training log has them: no two statistics of a rate."""
    rates = {"Max Heart Rate": noise(200), "Max Heart Rate.1": noise(200), "Average Heart Rate": noise(200)}
    return pd.DataFrame({"Activity Date": uneven_days(200, 2), "Distance": noise(200), **rates})


def lambs_by_weeks() -> pd.DataFrame:
    """Each second week has a column, and each lamb a number."""
    weights = {f"Wk{week}": (4 + week * 2 + noise(40)).round(1) for week in range(0, 24, 2)}
    return pd.DataFrame({"Ear tag": np.arange(1200, 1240), "Breed": RNG.choice(["Mule", "Tex"], 40), **weights})


def gas_furnace() -> pd.DataFrame:
    return pd.DataFrame({"X(t)": noise(120).cumsum().round(2), "Y(t)": noise(120).cumsum().round(2)})


CASES: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, object]]] = {
    "crashes": (crashes_of_aeroplanes, {"aggregate": "sum", "missing": "zero"}),
    "votes": (votes_of_states, {"target": "candidatevotes", "aggregate": "sum", "resample": "4"}),
    "patients": (patients_of_a_trial, {"target": "row-count"}),
    "weighted answers": (weighted_answers_of_a_year, {"target": "trust"}),
    "letters": (letters_of_few_weeks, {"target": "row-count", "resample": "W-MON"}),
    "lawsuits": (lawsuits_by_status, {"target": "row-count", "item_id": None}),
    "teams": (teams_by_games, {"target": "wins", "item_id": "team"}),
    "wages": (wages_of_persons, {"target": "ln_wage", "item_id": "person"}),
    "firms": (wages_of_firms, {"target": "employees", "item_id": "firm"}),
    "sprinters": (sprinters_of_games, {"item_id": "Medal"}),
    "nests": (nests_by_all_their_marks, {"item_id": None, "target": None, "aggregate": "sum"}),
    "orders": (orders_of_a_resource_plan, {"target": "row-count"}),
    "league": (league_by_matchdays, {"time": "Matchday", "item_id": "Team"}),
    "tags": (tags_of_a_plant, {"item_id": "Tag"}),
    "samples": (samples_of_a_water_works, {"item_id": "Punto,Parametro"}),
    "lake": (profiles_of_a_lake, {"time": "year4,daynum", "item_id": "depth"}),
    "meter": (readings_of_a_meter, {"target": "kW sys"}),
    "cases": (cases_so_far, {"target": "confirmed"}),
    "milk": (milk_of_cows, {"item_id": "cow", "target": "milk"}),
    "rides": (rides_of_an_athlete, {"target": "Distance"}),
    "lambs": (lambs_by_weeks, {"layout": "rows"}),
    "furnace": (gas_furnace, {"time": "row-number", "target": "Y(t)"}),
    "climate": (lambda: climate_of_cities(by_month=False), {"time": "row-number", "item_id": "city", "season": "12"}),
    "months": (lambda: climate_of_cities(by_month=True), {"item_id": "city", "season": "12"}),
    "riders": (riders_of_a_typical_week, {"item_id": "city", "season": "24", "target": "riders"}),
    "crises": (crises_of_countries, {"wide": True}),
    "polls": (polls_of_states, {"item_id": "state", "target": None, "resample": "W-MON", "aggregate": None}),
    "boats": (people_in_boats, {"target": "total", "aggregate": "sum"}),
    "elections": (votes_and_codes, {"target": "V", "wide": None}),
    "pay": (answers_about_pay, {"target": None, "resample": "2", "aggregate": None}),
    "congress": (seats_by_congress, {"time": "Congress", "item_id": "Chamber,Party"}),
    "quarters": (forecasts_by_quarters, {"time": "year,quarter", "target": "fc", "wide": None}),
    "pieces": (pieces_of_shops, {"target": "item_cnt", "aggregate": "sum"}),
    "meters": (meters_of_clients, {"wide": True}),
    "mortality": (deaths_and_weather, {"target": "death", "wide": None}),
    "calls": (calls_and_durations, {"target": "Calls"}),
    "flu": (shares_of_patients, {"time": "YEAR,WEEK", "item_id": "REGION", "target": "FLU"}),
    "load": (load_and_temperatures, {"layout": None, "target": "LOAD"}),
    "river": (river_and_rain, {"target": "discharge_spec"}),
    "actual": (load_and_generation, {"target": "total load actual"}),
    "hotels": (
        bookings_of_hotels,
        {"time": "arrival_date_year,arrival_date_month,arrival_date_day_of_month", "target": "row-count"},
    ),
    "dengue": (cases_of_cities, {"time": "year,weekofyear", "item_id": "city", "undated_rows": "drop"}),
    "lags": (past_of_a_series, {"target": "V1", "wide": None}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_first_command_takes_rows_for_what_they_are(tmp_path: Path, name: str) -> None:
    make, expected = CASES[name]
    make().to_csv(tmp_path / "table.csv", index=False)
    proposals = find_proposals(tmp_path / "table.csv", DataConfig())
    options = dict(proposals[0].options)
    assert {key: options.get(key) for key in expected} == expected


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


@pytest.mark.parametrize("make", [blood_of_patients, seeds_in_dishes, records_of_a_century])
def test_rows_that_are_no_steps_get_no_command(tmp_path: Path, make: Callable[[], pd.DataFrame]) -> None:
    make().to_csv(tmp_path / "table.csv", index=False)
    assert find_proposals(tmp_path / "table.csv", DataConfig()) == ()


def classes(rows: int, steps: int, *, noisy: bool) -> np.ndarray:
    """Smooth curves, or noise, each at a height of its own, behind a class (num_rows, 1 + num_steps)."""
    curves = np.sin(np.linspace(0, 6, steps) + RNG.uniform(0, 6, (rows, 1)))
    values = RNG.normal(size=(rows, steps)) if noisy else curves + RNG.normal(size=(rows, 1))
    return np.hstack([RNG.integers(0, 3, (rows, 1)), values.round(4)])


@pytest.mark.parametrize(
    ("noisy", "across", "expected"),
    [
        (False, False, {"layout": "rows", "ignore": ("column_1",), "item_id": "row-number", "header": False}),
        (False, True, {"layout": None}),
        (True, False, {"layout": None}),
    ],
)
def test_rows_without_names_are_series_where_their_numbers_go_on(
    tmp_path: Path, noisy: bool, across: bool, expected: dict[str, object]
) -> None:
    """As in the archive of UCR, whose files begin each row with a class."""
    values = classes(40, 30, noisy=noisy)
    frame = pd.DataFrame(values[:, 1:].T) if across else pd.DataFrame(values).astype({0: int})
    frame.to_csv(tmp_path / "GunPoint.tsv", sep="\t", header=False, index=False)
    proposals = find_proposals(tmp_path / "GunPoint.tsv", DataConfig())
    options = dict(proposals[0].options) if proposals else {}
    assert {key: options.get(key) for key in expected} == expected


def test_parts_of_a_server_are_series(tmp_path: Path) -> None:
    """A file without names holds how busy each of them is."""
    frame = pd.DataFrame(1 / (1 + np.exp(-RNG.normal(0, 0.3, (300, 14)).cumsum(axis=0))).round(4))
    frame.to_csv(tmp_path / "machine.txt", header=False, index=False)
    assert dict(find_proposals(tmp_path / "machine.txt", DataConfig())[0].options).get("wide") is True


def test_each_variable_that_has_a_column_for_each_year_gets_a_command(tmp_path: Path) -> None:
    names = [f"{variable}{year}" for variable in ("Population", "Cases") for year in range(2007, 2020)]
    frame = pd.DataFrame(RNG.integers(1, 999, (30, 26)), columns=names)
    frame.insert(0, "Municipality", [f"town {at}" for at in range(30)])
    frame.to_csv(tmp_path / "dengue.csv", index=False)
    proposals = find_proposals(tmp_path / "dengue.csv", DataConfig())
    assert [dict(each.options) for each in proposals] == [
        {"layout": "rows", "target": "Cases"},
        {"layout": "rows", "target": "Population"},
    ]
    assert proposals[0].forecasts == "'Cases' of the rows as 30 series, 3 steps of 1 year ahead"
    given = find_proposals(tmp_path / "dengue.csv", DataConfig(layout="rows"))
    assert [dict(each.options) for each in given] == [{"target": "Cases"}, {"target": "Population"}]
