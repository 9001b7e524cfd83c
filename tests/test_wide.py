"""A wide table from training to forecast: the same bytes as the long one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.data.roles import MOST_UNDECLARED

pytestmark = pytest.mark.slow


def test_wide_and_long_give_the_same_run_and_forecast(forecast, small, here):
    random, days = np.random.default_rng(0), pd.date_range("2024-01-01", periods=90).astype(str)
    wide = pd.DataFrame({"date": days, "south": random.normal(size=90), "north": random.normal(size=90)})
    wide["wind"] = random.normal(size=90).round(3)
    long = pd.concat([wide[["date", "wind"]].assign(item_id=name, target=wide[name]) for name in ("north", "south")])
    future = pd.DataFrame({"date": pd.date_range("2024-03-31", periods=3).astype(str), "wind": [0.1, 0.2, 0.3]})
    wide.to_csv("wide.csv", index=False, sep=";", decimal=",")
    long.sample(frac=1, random_state=1).to_parquet("long.parquet")
    future.to_csv("shared.csv", index=False)
    pd.concat([future.assign(item_id=name) for name in ("north", "south")]).to_csv("each.csv", index=False)

    for run, table, known, flags in (
        ("wide", "wide.csv", "shared.csv", ["--wide"]),
        ("long", "long.parquet", "each.csv", []),
    ):
        trained = forecast("train", table, *flags, *small, "--future", "wind", "--out", run, "--quiet")
        assert trained.code == 0, trained.err
        predicted = forecast("predict", run, "--future", known, "--quiet")
        assert predicted.code == 0, predicted.err
    for name in ("model.safetensors", "predictions.csv", "schema.json"):
        left, right = ((Path(run) / name).read_bytes() for run in ("wide", "long"))
        assert left == right, name
    short = forecast("predict", "wide", "--data", "wide.csv", "--future", "shared.csv", "--quiet")
    assert short.code == 0, short.err
    assert Path("wide/predictions.csv").read_bytes() == Path("long/predictions.csv").read_bytes()
    future[:2].to_csv("two.csv", index=False)
    refused = forecast("predict", "wide", "--future", "two.csv", "--quiet")
    assert refused.error.endswith("; it has 2 rows, from 2024-03-31 to 2024-04-01")
    long.to_csv("again.csv", index=False)
    again = forecast("predict", "wide", "--data", "again.csv", "--future", "each.csv", "--quiet")
    assert again.code == 0, again.err
    assert Path("wide/predictions.csv").read_bytes() == Path("long/predictions.csv").read_bytes()


def many_columns(kind: str, number: int = MOST_UNDECLARED) -> pd.DataFrame:
    """A day's date and target beside columns of numbers, of words, or of nothing."""
    days, random = pd.date_range("2024-01-01", periods=60).astype(str), np.random.default_rng(0)
    cells = {
        "numbers": random.random((60, number)).round(3),
        "words": random.choice(["left", "right"], (60, number)),
        "nothing": np.full((60, number), np.nan),
    }
    beside = pd.DataFrame(cells[kind], columns=[f"c{at}" for at in range(number)])
    return pd.concat([pd.DataFrame({"date": days, "celsius": random.random(60).round(3)}), beside], axis=1)


@pytest.mark.parametrize("kind", ["numbers", "words"])
def test_a_table_of_too_many_columns_is_read_once(forecast, write, monkeypatch, kind):
    from forecast_attn.checking import examination

    read: list[object] = []
    read_table = examination.read_table
    monkeypatch.setattr(examination, "read_table", lambda *a, **k: read.append(a) or read_table(*a, **k))
    outcome = forecast("check", write(many_columns(kind)), "--json")
    assert len(read) == 1
    report = json.loads(outcome.out)
    assert [each["options"] for each in report["commands"]] == ([{"wide": True}] if kind == "numbers" else [])
    assert "columns that no option names" in report["findings"][0]["message"]


@pytest.mark.parametrize(("options", "header"), [(["--wide"], None), ([], None), ([], "c")])
def test_columns_of_numbers_are_not_looked_at_one_by_one(forecast, write, monkeypatch, options, header):
    """Nor those of a table whose columns have all one name, which is read without its header."""
    table = many_columns("numbers")
    path = write(table if header is None else table.to_csv(index=False, header=[header] * len(table.columns)))
    looked_at: list[object] = []
    get_column = pd.DataFrame.__getitem__
    monkeypatch.setattr(pd.DataFrame, "__getitem__", lambda *a: looked_at.append(a[1]) or get_column(*a))
    outcome = forecast("check", path, *options, "--json")
    assert json.loads(outcome.out)["commands"]
    columns = [name for name in looked_at if isinstance(name, str) and name.startswith("c")]
    assert len(columns) <= 20, columns[:40]


def test_series_that_stand_in_another_order_are_not_sorted_row_by_row(monkeypatch):
    from forecast_attn.config.options import DataConfig
    from forecast_attn.data import cells
    from forecast_attn.data.reading import read_table
    from forecast_attn.data.roles import resolve_roles

    table = many_columns("numbers", 12).drop(columns="celsius")
    table.loc[:20, "c2"] = np.nan  # begins later
    long = read_table(table, DataConfig(wide=True))
    roles = resolve_roles(long, DataConfig(), "t")
    monkeypatch.setattr(np, "lexsort", lambda _: pytest.fail("all rows were sorted"))
    read = cells.parse_cells(long, roles, pytest.fail, "t")
    assert read.item_ids[:4] == ("c0", "c1", "c10", "c11")
    assert (np.diff(read.series) >= 0).all()
    for index, name in enumerate(read.item_ids):
        of_series = read.series == index
        assert (np.diff(read.stamps[of_series]).astype(int) > 0).all()
        assert read.columns["target"][of_series].tolist() == table[name].dropna().tolist()


def test_a_block_of_rows_grows_with_the_columns(write, monkeypatch):
    """Each block costs something for each column: in small ones a table of 100,000 columns took a minute to read."""
    from forecast_attn.config.options import DataConfig
    from forecast_attn.data.reading import csv_file, read_table

    blocks: list[object] = []
    add = csv_file._Columns.add
    monkeypatch.setattr(csv_file._Columns, "add", lambda *a: blocks.append(a) or add(*a))
    monkeypatch.setattr(csv_file, "CHUNK", 1 << 16)
    path = write(many_columns("numbers"))
    assert Path(path).stat().st_size > 5 * csv_file.CHUNK
    assert read_table(path, DataConfig()).shape == (60, MOST_UNDECLARED + 2)
    assert len(blocks) == 1


@pytest.mark.parametrize("first", ["V1", "id"])
def test_one_series_per_row_may_have_thousands_of_steps(forecast, write, first):
    """As M4's own files have, and days as columns."""
    number = MOST_UNDECLARED + 1
    days = pd.date_range("2018-01-01", periods=number).astype(str)
    steps = [f"V{at + 2}" for at in range(number)] if first == "V1" else days
    values = pd.DataFrame(np.random.default_rng(0).integers(0, 9, (3, number)), columns=steps)
    outcome = forecast("check", write(pd.concat([pd.Series(["a", "b", "c"], name=first), values], axis=1)), "--json")
    assert [each["options"] for each in json.loads(outcome.out)["commands"]] == [{"layout": "rows"}]


def test_the_numbers_of_a_parquet_file_are_held_in_few_arrays(here):
    """Taking 20,000 columns one by one out of its table took a minute, and so did each look at all of them."""
    from forecast_attn.config.options import DataConfig
    from forecast_attn.data.reading import read_table

    table = many_columns("numbers").assign(whole=1)
    table.to_parquet("wide.parquet")
    frame = read_table("wide.parquet", DataConfig())
    assert len(frame._mgr.blocks) == 3  # text, numbers, whole numbers
    pd.testing.assert_frame_equal(frame.astype({"date": "str"}), table)


def test_too_many_columns_beside_a_named_target_have_no_command(forecast, write):
    outcome = forecast("check", write(many_columns("numbers")), "--target", "celsius", "--json")
    assert outcome.code == 1
    assert json.loads(outcome.out)["commands"] == []


def test_training_refuses_too_many_columns_that_nobody_declared(refused, write, small, monkeypatch):
    from forecast_attn.checking import commands

    monkeypatch.delattr(commands, "find_proposals")  # they would read the table again
    path = write(many_columns("numbers"))
    message = "'data.csv' has 2,002 columns that no option names; at most 2,000 get a role by themselves"
    refused("train", path, *small, message=message, hint="^--wide, if every column is a series")


def test_columns_of_nothing_are_not_counted(forecast, write):
    table = many_columns("nothing").drop(index=30)  # a problem: the date that is not there
    outcome = forecast("check", write(table), "--json")
    assert [each["target"] for each in json.loads(outcome.out)["commands"]] == ["celsius"]


def test_a_table_is_emptied_at_once(monkeypatch):
    """Deleting one column moves all others: two thousand of them took a minute."""
    from forecast_attn.config.options import DataConfig
    from forecast_attn.data.panel_building import build_panel
    from forecast_attn.data.roles import resolve_roles

    table, config = many_columns("numbers", 40), DataConfig(target="celsius")
    monkeypatch.setattr(pd.DataFrame, "__delitem__", lambda *_: pytest.fail("a column was deleted"))
    panel = build_panel(table, resolve_roles(table, config, "t"), config, source="t", emptied=True)
    assert panel.past_covariates.shape == (60, 40)
    assert table.shape == (60, 0)


@pytest.mark.parametrize("name", ["item_id", "unique_id"])
def test_a_long_table_is_not_taken_for_a_wide_one(refused, write, name):
    days = pd.date_range("2024-01-01", periods=40).astype(str)
    path = write(pd.concat([pd.DataFrame({"date": days, name: series, "target": range(40)}) for series in "ab"]))
    message = f"'data.csv' has a column '{name}': one row per series and step"
    refused("train", path, "--wide", message=message, hint=f"^leave --wide out, or --ignore '{name}'; ")


def test_the_forecasts_of_a_wide_table_belong_to_all_its_series(here):
    from forecast_attn.config.options import DataConfig, RunConfig
    from forecast_attn.runs.training_table import read_panel

    random, days = np.random.default_rng(0), pd.date_range("2024-01-01", periods=40)
    values = {name: random.normal(size=40) for name in ("south", "north", "wind")}
    wide = pd.DataFrame({"date": days, **values})
    issues = [
        pd.DataFrame({"date": day + pd.to_timedelta(range(1, 4), "D"), "issued_at": day, "wind": random.normal(size=3)})
        for day in days
    ]
    shared = pd.concat(issues, ignore_index=True)
    each = pd.concat([shared.assign(item_id=name) for name in ("south", "north")])
    config = RunConfig(data=DataConfig(wide=True, future_covariates=("wind",)))
    panels = [read_panel(wide, config, table)[0] for table in (shared, each)]
    series, stamps = np.array([[0], [1]]), np.array([[np.datetime64("2024-01-20", "ns")]] * 2)
    for cutoff in ("2024-01-18", "2024-01-19"):
        cutoffs = np.array([[np.datetime64(cutoff, "ns")]] * 2)
        forecasts = [panel.issued.newest_values(series, stamps, cutoffs).ravel() for panel in panels]
        expected = shared[(shared["date"] == "2024-01-20") & (shared["issued_at"] == cutoff)]["wind"].iloc[0]
        np.testing.assert_array_equal(forecasts, np.full((2, 2), expected))
