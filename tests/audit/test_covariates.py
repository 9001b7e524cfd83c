"""Permutation importance: which places of a window a column has, and what a column of noise may be worth."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats

from forecast_attn.audit.audit_results import CovariateImportance, Importance
from forecast_attn.audit.chance import noise_bound
from forecast_attn.audit.covariates import Columns, columns_and_groups, covariate_verdict
from forecast_attn.config.options import RunConfig
from forecast_attn.data.windows import Window, WindowArrays
from forecast_attn.forecaster import Forecaster
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
        for position, name in enumerate(("target", "a", "b", "c", "d")):
            part[name] = 1_000.0 * (position + 1) + 100 * series + steps
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
            for field, positions in columns.positions.items():
                taken.setdefault(field, []).extend(positions)
    for field in ("past_covariates", "future_covariates", "static_covariates", *CATEGORIES):
        assert sorted(taken[field]) == list(range(getattr(window, field).shape[-1])), field


CATEGORIES = ("past_categories", "future_categories", "static_categories")


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize(("name", "number"), [("a", 2_000), ("b", 3_000), ("c", 4_000), ("d", 5_000)])
def test_a_column_is_where_its_numbers_are(name: str, number: int, holes: bool) -> None:
    preparation = prepared(holes=holes)
    _, window, _ = windows(preparation)
    for field, (position, *indicator) in by_name(preparation)[name].positions.items():
        values = getattr(window, field)[..., position]
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
        before, donor, after = (getattr(each, field) for each in (window, other, mixed))
        if before is None:  # a part that these windows do not have
            assert after is None
            continue
        if field in columns.whole:
            assert torch.equal(after, donor)
            continue
        positions = columns.positions.get(field, [])
        for position in range(before.shape[-1]) if field.endswith(("covariates", "categories")) else ():
            assert torch.equal(after[..., position], (donor if position in positions else before)[..., position]), (
                field,
                position,
            )
        if not positions:
            assert torch.equal(after, before)


def test_what_is_known_ahead_is_moved_in_one_piece() -> None:
    """Lookback and horizon of a future covariate come from the same other window."""
    preparation = prepared(holes=False)
    _, window, other = windows(preparation)
    columns = by_name(preparation)["c"]
    mixed = columns.taken_from(other, window)
    behind, ahead = columns.positions["past_covariates"][0], columns.positions["future_covariates"][0]
    assert torch.equal(mixed.future_covariates[:, 0, ahead], mixed.past_covariates[:, -1, behind] + 1)
    assert not torch.equal(mixed.future_covariates[..., ahead], window.future_covariates[..., ahead])


# --------------------------------------------------------------------------- what noise may be worth


def test_the_noise_bound_is_that_of_batch_means() -> None:
    """Of stretches of the same size: Student's t on their means, by scipy."""
    rises = np.random.default_rng(0).normal(0.3, 1, size=60)
    means = rises.reshape(6, 10).mean(axis=1)
    _, high = stats.t.interval(0.9, df=5, loc=0, scale=stats.sem(means))
    assert noise_bound(rises, np.repeat(np.arange(6) * 7, 10)) == pytest.approx(high)
    assert np.isnan(noise_bound(rises, np.zeros(60, np.int64)))


@pytest.mark.parametrize("stretches", [2, 4, 12])
@pytest.mark.slow
def test_noise_in_overlapping_windows_exceeds_its_bound_in_one_case_of_twenty(stretches: int) -> None:
    """Rises of windows that share most of their steps; as if they were independent, a third would exceed."""
    random, length = np.random.default_rng(0), 30
    outside, as_if_independent = 0, 0
    for _ in range(600):
        rises = np.convolve(random.normal(size=length * (stretches + 1)), np.ones(length), "valid")[:-1]
        outside += rises.mean() > noise_bound(rises, np.repeat(np.arange(stretches), length))
        as_if_independent += rises.mean() > 1.645 * rises.std() / np.sqrt(len(rises))
    assert 0.02 <= outside / 600 <= 0.1
    assert as_if_independent / 600 > 0.3


def importance(name: str, change: float, *, noise: float = 0.2, group: str = "past") -> Importance:
    """Of a column whose shuffling costs so much of an MAE of 10."""
    matters = change > noise and change >= 0.1
    return Importance(name, group, [name], change, change / 10, change, change, -noise, noise, matters)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (
            [importance("a", 5.0), importance("b", 0.05, noise=0.01), importance("c", 0.1)],
            "with 'a' shuffled the MAE of 'y' rises by 50 % (+5; noise: up to +0.2), the most of all covariates; "
            "beyond noise, but under 1 %: 'b'; indistinguishable from noise: 'c'",
        ),
        (
            [importance("a", 5.0, noise=6.0), importance("b", 3.0)],
            "with 'b' shuffled the MAE of 'y' rises by 30 % (+3; noise: up to +0.2); indistinguishable from noise: 'a'",
        ),
        ([importance("a", 0.1), importance("b", -0.1)], "no covariate is distinguishable from noise"),
        (
            [importance("a", 0.05, noise=0.01), importance("b", 0.0)],
            "no covariate is worth 1 % of the MAE; beyond noise, but under 1 %: 'a'; indistinguishable from noise: 'b'",
        ),
        (
            [importance("a", 5.0, noise=float("nan"))],
            "no covariate can be told from noise: the windows span less than two stretches of lookback and horizon",
        ),
    ],
)
def test_the_verdict_names_what_matters_and_why_the_rest_does_not(columns: list[Importance], expected: str) -> None:
    assert covariate_verdict([], columns, "y") == expected


def test_without_covariates_the_verdict_is_about_what_the_network_reads() -> None:
    groups = [importance("calendar", 5.0, group="calendar"), importance("y", 0.1, group="target")]
    assert covariate_verdict(groups, [], "y") == (
        "there are no covariates; with the calendar shuffled the MAE of 'y' rises by 50 % (+5; noise: up to +0.2), the "
        "most of all that it reads"
    )


def audited_columns(table: pd.DataFrame, folder: Path, **options: Any) -> CovariateImportance:
    """Importance of the columns of a quick run without attention."""
    table.to_csv(folder / "table.csv", index=False)
    settings = {"lookback": 24, "horizon": 6, "attention": "none", "hidden_size": 16, "epoch_windows": 512}
    settings |= {"max_epochs": 3, "combination": "none", "calendar": "none", "seed": 1, "accelerator": "cpu", **options}
    Forecaster(**settings).fit(folder / "table.csv", out=folder / "run")
    audit = Forecaster.load(folder / "run").audit(windows=64, covariates=True, repeats=3, accelerator="cpu")
    assert audit.covariates is not None
    return audit.covariates


@pytest.mark.slow
def test_columns_of_noise_do_not_matter(tmp_path: Path) -> None:
    """Half of them change slowly, so that neighbouring windows read nearly the same."""
    random, rows = np.random.default_rng(7), 2_000
    table = pd.DataFrame({"time": pd.date_range("2022-01-01", periods=rows, freq="h").strftime("%Y-%m-%d %H:%M")})
    table["y"] = np.sin(np.arange(rows) * 2 * np.pi / 24) + random.normal(size=rows)
    for number in range(5):
        table[f"quick_{number}"] = random.normal(size=rows)
        table[f"slow_{number}"] = random.normal(size=rows).cumsum() / 40
    result = audited_columns(table, tmp_path, past_covariates=list(table.columns[2:]))
    assert len(result.columns) == 10
    assert not any(each.matters for each in result.columns)
    assert {each.name: each.matters for each in result.groups}["target"]


@pytest.mark.slow
def test_of_a_short_validation_nothing_can_be_said(tmp_path: Path) -> None:
    rows = np.arange(150)
    table = pd.DataFrame({"date": pd.date_range("2022-01-01", periods=150).astype(str), "y": np.sin(rows / 3)})
    result = audited_columns(table.assign(x=np.cos(rows / 3)), tmp_path, past_covariates=["x"], max_epochs=1)
    assert result.columns[0].conclusion == "untested"
    assert "no covariate can be told from noise" in result.verdict
