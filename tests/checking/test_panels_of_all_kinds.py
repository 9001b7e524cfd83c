"""`forecast check` finds time, series and target of tables, whatever their columns are called and sorted by."""

import itertools
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

STEPS = 120
TIMES: dict[str, dict[str, Any]] = {
    "days": {"date": pd.date_range("2019-03-01", periods=STEPS).strftime("%Y-%m-%d")},
    "days first": {"Datum": pd.date_range("2019-03-01", periods=STEPS).strftime("%d.%m.%Y")},
    "business days": {"Date": pd.bdate_range("2019-03-01", periods=STEPS).strftime("%m/%d/%Y")},
    "hours": {"timestamp": pd.date_range("2019-03-01", periods=STEPS, freq="h").strftime("%Y-%m-%dT%H:%M:%S")},
    "weeks": {"week": pd.date_range("2015-01-05", periods=STEPS, freq="7D").strftime("%Y-%m-%d")},
    "words": {"month": pd.date_range("2009-03-01", periods=STEPS, freq="MS").strftime("%b %Y")},
    "years": {"year": np.arange(1900, 1900 + STEPS)},
    "months of years": {"year": 2009 + np.arange(STEPS) // 12, "month": 1 + np.arange(STEPS) % 12},
    "quarters of years": {"year": 1990 + np.arange(STEPS) // 4, "quarter": [f"Q{at % 4 + 1}" for at in range(STEPS)]},
    "hours of days": {
        "date": pd.date_range("2019-03-01", periods=STEPS, freq="h").strftime("%Y-%m-%d"),
        "hour": np.arange(STEPS) % 24,
    },
    "clocks of days": {
        "Date": pd.date_range("2019-03-01", periods=STEPS, freq="30min").strftime("%d/%m/%Y"),
        "Time": pd.date_range("2019-03-01", periods=STEPS, freq="30min").strftime("%H:%M"),
    },
}
WORDS = {"region": ["North", "South", "East"], "channel": ["web", "shop"], "station": ["Aarau", "Bern", "Chur", "Genf"]}
NUMBERS = ("store", "item", "dept", "zone", "store_nbr", "meter_id", "code")
TARGETS = ("sales", "value", "load", "consumption_kwh", "cases", "y")
FEATURES = ("temperature", "promo", "is_holiday", "weekday", "lat", "size", "remark", "index")


def keys_of(draw: random.Random) -> dict[str, list[Any]]:
    """None, one or two columns that tell series apart, and what they hold."""
    names = draw.sample([*WORDS, *NUMBERS], draw.choice((0, 1, 1, 2)))
    return {
        name: WORDS[name] if name in WORDS else list(range(1, draw.choice((4, 6, 12, 24)) // len(names) + 1))
        for name in names
    }


def table_of(draw: random.Random, times: dict[str, Any], keys: dict[str, list[Any]], target: str) -> pd.DataFrame:
    """A panel with other columns, whose rows and columns stand in some order."""
    rng = np.random.default_rng(draw.randrange(10**6))
    series = list(itertools.product(*keys.values()))
    frame = pd.concat([pd.DataFrame(times).assign(**dict(zip(keys, each, strict=True))) for each in series])
    steps, size = np.tile(np.arange(STEPS), len(series)), len(frame)
    level = np.repeat(rng.lognormal(5, 0.8, len(series)), STEPS)
    frame[target] = (level * (1 + 0.3 * np.sin(steps / 2) + 0.1 * rng.normal(size=size))).round(draw.choice((0, 2)))
    features: dict[str, Any] = {
        "temperature": (10 + 8 * np.sin(steps / 2) + rng.normal(0, 2, size)).round(1),
        "promo": rng.integers(0, 2, size),
        "is_holiday": (steps % 30 == 0).astype(int),
        "weekday": np.array(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"])[steps % 7],
        "lat": np.repeat(rng.uniform(40, 50, len(series)).round(4), STEPS),
        "size": np.repeat(rng.choice(900, len(series), replace=False) + 100, STEPS),
        "remark": rng.choice(["", "", "checked", "late"], size),
    }
    chosen = draw.sample(FEATURES, draw.randint(0, 3))
    frame = frame.assign(**{name: features[name] for name in chosen if name in features}, step=steps)
    order = draw.choice(("series", "time", "none", "newest"))
    frame = frame.sort_values(["step", *keys], kind="stable") if order == "time" else frame
    frame = frame.sample(frac=1, random_state=1) if order == "none" else frame.iloc[:: -1 if order == "newest" else 1]
    names = [name for name in frame.columns if name != "step"]
    frame = frame[draw.sample(names, len(names)) if draw.random() < 0.3 else names]
    return frame.assign(index=np.arange(size))[["index", *frame.columns]] if "index" in chosen else frame


@pytest.mark.slow
@settings(max_examples=24, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(sorted(TIMES)), target=st.sampled_from(TARGETS))
def test_time_series_and_target_of_a_panel(tmp_path_factory: pytest.TempPathFactory, seed, kind, target) -> None:
    draw = random.Random(seed)
    keys = keys_of(draw)
    path: Path = tmp_path_factory.mktemp("panel") / "table.csv"
    table_of(draw, TIMES[kind], keys, target).to_csv(path, index=False)
    proposal = find_proposals(path, DataConfig())[0]
    series = set() if proposal.item_id is None else {*proposal.item_id.split(",")}
    assert ({*proposal.time.split(",")}, series, proposal.target) == ({*TIMES[kind]}, {*keys}, target)


NAMES = {
    "shops": [f"store_{at}" for at in range(1, 25)],
    "numbers": [str(at) for at in range(1000, 1024)],  # which may be years of the Middle Ages
    "codes": ["AZE", "BFX", "CKL", "DHA", "EJN", "FMB", "GPC", "HCD"],
    "cities": ["Berlin", "Hamburg", "Bremen", "Mainz", "Kiel", "Jena", "Trier", "Ulm"],
}


@pytest.mark.parametrize("kind", ["words", "business days", "clocks of days"])
@pytest.mark.parametrize("names", NAMES)
def test_columns_of_a_wide_table_whose_newest_row_is_the_first(tmp_path: Path, kind: str, names: str) -> None:
    rng, columns = np.random.default_rng(1), NAMES[names]
    season = 1 + 0.3 * np.sin(np.arange(STEPS) / 2)[:, None] + 0.1 * rng.normal(size=(STEPS, len(columns)))
    values = pd.DataFrame((rng.lognormal(5, 0.5, len(columns)) * season).round(1), columns=columns)
    frame = pd.concat([pd.DataFrame(TIMES[kind]), values], axis="columns")
    frame.iloc[::-1].to_csv(tmp_path / "table.csv", index=False)
    proposal = find_proposals(tmp_path / "table.csv", DataConfig())[0]
    assert proposal.options["wide"]
    assert ({*proposal.time.split(",")}, proposal.num_series) == ({*TIMES[kind]}, len(columns))


@pytest.mark.parametrize(("kind", "target"), list(zip(TIMES, itertools.cycle(TARGETS), strict=False)))
def test_target_of_one_series_beside_weather(tmp_path: Path, kind: str, target: str) -> None:
    rng, steps = np.random.default_rng(1), np.arange(STEPS)
    frame = pd.DataFrame(TIMES[kind]).assign(
        temperature=(10 + 8 * np.sin(steps / 2) + rng.normal(0, 2, STEPS)).round(1),
        wind_speed=rng.gamma(3, 2, STEPS).round(1),
        promo=rng.integers(0, 2, STEPS),
        **{target: (200 * (1 + 0.3 * np.sin(steps / 2) + 0.1 * rng.normal(size=STEPS))).round(1)},
    )
    frame.to_csv(tmp_path / "table.csv", index=False)
    proposal = find_proposals(tmp_path / "table.csv", DataConfig())[0]
    assert ({*proposal.time.split(",")}, proposal.item_id, proposal.target) == ({*TIMES[kind]}, None, target)
