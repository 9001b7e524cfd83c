"""Names that hold line ends, quotes and delimiters, in every table that one command writes and another reads."""

import json
from pathlib import Path

import pandas as pd
import pytest


@pytest.mark.slow
def test_any_name_of_a_series_comes_back(forecast, here, small, make_table):
    """Line ends, quotes and delimiters in names: what one command writes, the others and pandas read."""
    names = ["a\rb", "c\nd", "e\r\nf", "g\th", 'i"j', "k,l", "m\u2028n", "=1+1"]
    table = pd.concat([make_table(60, seed=at).assign(item_id=name) for at, name in enumerate(names)])
    table.to_parquet("data.parquet")
    known = table[table["date"] <= "2024-02-26"]
    known.to_parquet("known.parquet")
    assert forecast("train", "known.parquet", *small, "--out", "run").code == 0
    assert forecast("predict", "run").code == 0
    assert sorted(set(pd.read_csv("run/predictions.csv")["item_id"])) == sorted(names)
    outcome = forecast("plot", "run", "--json", *(word for name in names for word in ("--item", name)))
    assert [view["item_id"] for view in json.loads(outcome.out)["views"]] == sorted(names)
    outcome = forecast(
        *("evaluate", "run/predictions.csv", "--actuals", "data.parquet", "--by", "item_id"),
        *("--metrics", "mae", "--out", "scores.csv"),
    )
    assert outcome.code == 0, outcome.err
    assert sorted(set(pd.read_csv("scores.csv")["item_id"])) == sorted(names)
    assert forecast("check", "known.parquet", "--fix", "--out", "clean.csv").code == 0
    assert sorted(set(pd.read_csv("clean.csv")["item_id"])) == sorted(names)
    page = forecast("inspect", "run", "--html", "page.html")
    assert page.code == 0, page.err


def test_the_page_reads_forecasts_of_such_names(here):
    from forecast_attn.data.csv_text import csv_text
    from forecast_attn.inspection.window_values import _written_forecasts

    rows = pd.DataFrame(
        {"item_id": ["a\rb", "c\nd"], "cutoff": ["2024-01-01"] * 2, "step": 1, "prediction": [1.5, 2.5]}
    )
    Path("predictions.csv").write_bytes(csv_text(rows).encode())
    assert sorted((name, value) for (name, _, _), value in _written_forecasts(Path("predictions.csv"), []).items()) == [
        ("a\rb", (1.5,)),
        ("c\nd", (2.5,)),
    ]


def test_a_name_with_nul_is_refused(refused, here, make_table):
    make_table().assign(item_id="a\0b").to_parquet("data.parquet")
    refused("train", "data.parquet", message=r"column 'item_id' holds the character NUL: 'a\\x00b'$", hint="without it")
