"""Permutation importance: which places of a window a column has, and what a column of noise may be worth."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from forecast_attn.audit.covariates import Columns, columns_and_groups, noise_interval
from forecast_attn.config.options import RunConfig
from forecast_attn.data.windows import Window, WindowArrays
from forecast_attn.runs.training_table import read_panel
from forecast_attn.training.preparation import Preparation, prepare

ROWS, LOOKBACK, HORIZON = 60, 7, 3
OPTIONS: dict[str, Any] = {
    "lookback": LOOKBACK,
    "horizon": HORIZON,
    "past_covariates": ["a", "b", "kind"],
    "future_covariates": ["c", "d:2", "plan"],
    "static_covariates": ["size", "type"],
    "scaling": "none",
}


def table(*, holes: bool) -> pd.DataFrame:
    """Two series in which every number tells its column and its row."""
    parts = []
    for series in (0, 1):
        steps = np.arange(ROWS, dtype=float)
        part = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=ROWS), "id": f"s{series}"})
        for place, name in enumerate(("target", "a", "b", "c", "d")):
            part[name] = 1_000.0 * (place + 1) + 100 * series + steps
        part["kind"], part["plan"] = np.where(steps % 2, "odd", "even"), np.where(steps % 3, "yes", "no")
        part["size"], part["type"] = series + 0.5, f"t{series}"
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    if holes:
        frame.loc[[5, 70], "b"] = np.nan
    return frame


def prepared(*, holes: bool) -> Preparation:
    config = RunConfig.from_options(OPTIONS | ({"missing": "mask"} if holes else {}))
    panel, _ = read_panel(table(holes=holes), config)
    return prepare(panel, config.data)


def windows(preparation: Preparation) -> tuple[WindowArrays, Window, Window]:
    """All validation windows, and the same in another order."""
    arrays = preparation.schema.windows_of(preparation.panel)
    index = torch.from_numpy(preparation.validation_cutoffs)
    return arrays, arrays.gather(index), arrays.gather(index.flip(0))


def by_name(preparation: Preparation) -> dict[str, Columns]:
    return {columns.name: columns for columns in columns_and_groups(preparation.schema)}


@pytest.mark.parametrize("holes", [False, True])
def test_every_place_of_a_window_belongs_to_exactly_one_column(holes: bool) -> None:
    preparation = prepared(holes=holes)
    _, window, _ = windows(preparation)
    taken: dict[str, list[int]] = {}
    for columns in columns_and_groups(preparation.schema):
        if not columns.is_group or columns.group == "calendar":
            for field, places in columns.places.items():
                taken.setdefault(field, []).extend(places)
    for field in ("past_covariates", "future_covariates", "static_covariates", *CATEGORIES):
        assert sorted(taken[field]) == list(range(getattr(window, field).shape[-1])), field


CATEGORIES = ("past_categories", "future_categories", "static_categories")


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize(("name", "number"), [("a", 2_000), ("b", 3_000), ("c", 4_000), ("d", 5_000)])
def test_a_column_is_where_its_numbers_are(name: str, number: int, holes: bool) -> None:
    preparation = prepared(holes=holes)
    _, window, _ = windows(preparation)
    for field, (place, *indicator) in by_name(preparation)[name].places.items():
        values = getattr(window, field)[..., place]
        known = values[values != 0]  # a number that is missing, or not known so far ahead, is 0
        assert len(known) > 0
        assert ((known >= number) & (known < number + 1_000)).all()
        assert len(indicator) == holes
        if holes:
            assert torch.equal(getattr(window, field)[..., indicator[0]], (values != 0).float())


@pytest.mark.parametrize(
    "name", ["a", "kind", "c", "plan", "size", "type", "past", "future", "static", "calendar", "target"]
)
@pytest.mark.slow
def test_a_column_comes_from_the_other_window_and_the_rest_stays(name: str) -> None:
    preparation = prepared(holes=True)
    _, window, other = windows(preparation)
    columns = by_name(preparation)[name]
    mixed = columns.taken_from(other, window)
    for field in Window._fields:
        ours, theirs, found = (getattr(each, field) for each in (window, other, mixed))
        if ours is None:  # a part that these windows do not have
            assert found is None
            continue
        if field in columns.whole:
            assert torch.equal(found, theirs)
            continue
        places = columns.places.get(field, [])
        for place in range(ours.shape[-1]) if field.endswith(("covariates", "categories")) else ():
            assert torch.equal(found[..., place], (theirs if place in places else ours)[..., place]), (field, place)
        if not places:
            assert torch.equal(found, ours)


def test_what_is_known_ahead_is_moved_in_one_piece() -> None:
    """Lookback and horizon of a future covariate come from the same other window."""
    preparation = prepared(holes=False)
    _, window, other = windows(preparation)
    columns = by_name(preparation)["c"]
    mixed = columns.taken_from(other, window)
    behind, ahead = columns.places["past_covariates"][0], columns.places["future_covariates"][0]
    assert torch.equal(mixed.future_covariates[:, 0, ahead], mixed.past_covariates[:, -1, behind] + 1)
    assert not torch.equal(mixed.future_covariates[..., ahead], window.future_covariates[..., ahead])


def test_the_noise_interval_is_that_of_coin_tosses() -> None:
    rises = np.random.default_rng(0).normal(0.3, 1, size=400)
    low, high = noise_interval(rises, seed=1)
    expected = 1.645 * np.sqrt((rises**2).sum()) / len(rises)
    assert high == pytest.approx(expected, rel=0.1)
    assert low == pytest.approx(-expected, rel=0.1)


@pytest.mark.slow
def test_noise_exceeds_its_interval_in_one_case_of_twenty() -> None:
    random, outside = np.random.default_rng(0), 0
    for seed in range(400):
        rises = np.abs(random.normal(size=50)) - np.abs(random.normal(size=50))  # error with another noise, minus error
        outside += rises.mean() > noise_interval(rises, seed)[1]
    assert 8 <= outside <= 34
