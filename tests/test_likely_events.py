"""`forecast check` tells what rows are by their names and dates: events that are counted or summed, or measurements."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

RNG = np.random.default_rng(0)
INITIAL_STATE = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def the_same_tables_in_any_order_of_tests() -> None:
    RNG.bit_generator.state = INITIAL_STATE


def noise(rows: int) -> np.ndarray:
    return RNG.normal(10, 1, rows).round(3)


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
    "lags": (past_of_a_series, {"target": "V1", "wide": None}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_first_command_takes_rows_for_what_they_are(tmp_path: Path, name: str) -> None:
    make, expected = CASES[name]
    make().to_csv(tmp_path / "table.csv", index=False)
    proposals = find_proposals(tmp_path / "table.csv", DataConfig())
    options = dict(proposals[0].options)
    assert {key: options.get(key) for key in expected} == expected


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
