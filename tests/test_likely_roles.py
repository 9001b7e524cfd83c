"""`forecast check` finds the target and the identifier of a table by the evidence of its cells."""

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


def prices_of_several_goods() -> pd.DataFrame:
    """The prices of four fuels stand beside how much is consumed."""
    frame = pd.DataFrame({"state": np.repeat([*"abc"], 20), "year": np.tile(np.arange(1960, 1980), 3)})
    prices = {name: noise(60) for name in ("price", "eprice", "oprice", "lprice")}
    return frame.assign(**prices, consumption=noise(60))


def shots_of_a_game() -> pd.DataFrame:
    """`y` is how far from the side a shot was taken."""
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 90, 900)), "D")
    shots = {"x": RNG.integers(0, 50, 900), "y": RNG.integers(0, 90, 900)}
    return pd.DataFrame({"date": stamps.strftime("%Y-%m-%d"), "player": RNG.choice([*"abcd"], 900), **shots})


def regions_of_three_periods() -> pd.DataFrame:
    """The numbers of regions go up by one in each row, and are no time; three periods are too few."""
    growth = pd.DataFrame({"region": np.tile(np.arange(1, 22), 3), "y": noise(63)})
    return growth.assign(period=np.repeat(np.arange(1, 4), 21))


def pupils_by_half_years() -> pd.DataFrame:
    """Years from the middle of primary school begin again with each pupil."""
    lengths = np.tile([5, 6], 60)
    years = np.concatenate([np.arange(length) - 2.5 for length in lengths])
    frame = pd.DataFrame({"school": np.repeat(np.arange(12), len(years) // 12), "year": years, "math": noise(660)})
    return frame.assign(child=np.repeat(np.arange(2000, 2120), lengths))


def harvests_of_farms() -> pd.DataFrame:
    """The seasons of each farm stand in their order, and no column counts them."""
    return pd.DataFrame({"id": np.repeat(np.arange(101, 161), 8), "output": noise(480), "labour": noise(480)})


def hours_after_doses() -> pd.DataFrame:
    """The hours are no even steps, so rows are none either."""
    hours = np.tile([0.25, 0.5, 0.75, 1, 1.25, 2, 3, 4, 5, 6, 8], 20)
    return pd.DataFrame({"id": np.repeat(np.arange(20), 11), "after": hours, "conc": noise(220)})


def careers_of_players() -> pd.DataFrame:
    """Players come and go: each has a row in every year of his career, an eighth of all years."""
    starts = np.repeat(np.sort(RNG.integers(1900, 2012, 60)), 14)
    frame = pd.DataFrame({"player": np.repeat(np.arange(60), 14).astype(str), "year": starts + np.tile(range(14), 60)})
    frame["player"] = "p" + frame["player"]
    return frame.assign(games=RNG.integers(3, 99, 840)).sort_values(["year", "player"])


def a_column_of_few_rows() -> pd.DataFrame:
    """Sales of discs are known of a third of the weeks."""
    discs = np.where(np.arange(90) % 3, np.nan, noise(90))
    week = pd.date_range("2020-01-06", periods=90, freq="W-MON").strftime("%Y-%m-%d")
    return pd.DataFrame({"week": week, "discs": discs, "tickets": noise(90), "staff": noise(90)})


def quarters_written_twice() -> pd.DataFrame:
    """As gretl writes them: 1964Q1, and once more as a number that goes up by 0.1, or by 0.7 to the next year."""
    years, quarters = np.repeat(np.arange(1964, 1984), 4), np.tile(np.arange(1, 5), 20)
    obs = [f"{year}Q{quarter}" for year, quarter in zip(years, quarters, strict=True)]
    return pd.DataFrame({"obs": obs, "period": years + quarters / 10, "rate": noise(80), "money": noise(80)})


def years_beside_a_trend() -> pd.DataFrame:
    return pd.DataFrame({"obs": np.arange(1922, 1962), "trend": np.arange(1, 41), "q": noise(40), "p": noise(40)})


CASES: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, object]]] = {
    "prices": (prices_of_several_goods, {"item_id": "state", "target": "consumption"}),
    "shots": (shots_of_a_game, {"target": "row-count"}),
    "regions": (regions_of_three_periods, {"time": "period", "item_id": "region"}),
    "pupils": (
        pupils_by_half_years,
        {"time": "year", "item_id": "child", "date_format": "0.5", "target": "math"},
    ),
    "harvests": (harvests_of_farms, {"time": "row-number", "item_id": "id", "target": "output"}),
    "careers": (careers_of_players, {"item_id": "player", "freq": None}),
    "few rows": (a_column_of_few_rows, {"target": "tickets"}),
    "quarters": (quarters_written_twice, {"time": None, "target": "money"}),
    "a trend": (years_beside_a_trend, {"time": "obs", "target": "q"}),
    "doses": (hours_after_doses, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_first_command_names_target_and_series(tmp_path: Path, name: str) -> None:
    make, expected = CASES[name]
    make().to_csv(tmp_path / "table.csv", index=False)
    proposals = find_proposals(tmp_path / "table.csv", DataConfig())
    options = dict(proposals[0].options) if proposals else {}
    assert {key: options.get(key) for key in expected or options} == expected
