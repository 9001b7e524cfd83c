"""A table that the user names is used, or refused: never read and ignored."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(forecast, small, make_table, tmp_path_factory) -> Path:
    """A run whose own table knows three days ahead."""
    folder = tmp_path_factory.mktemp("future")
    table = make_table(rows=123)
    table.loc[120:, "target"] = None
    table.to_csv(folder / "data.csv", index=False)
    words = ("train", folder / "data.csv", *small, "--future", "temperature", "--out", folder / "run", "--quiet")
    assert forecast(*words).code == 0
    return folder / "run"


def future(first: str, days: int, **columns: object) -> pd.DataFrame:
    dates = pd.date_range(first, periods=days).strftime("%Y-%m-%d")
    return pd.DataFrame({"date": dates, "temperature": 50.0, **columns})


@pytest.mark.parametrize("first", ["2024-05-03", "2025-04-30", "2023-04-30"])
def test_a_future_file_without_a_matching_row_is_refused(refused, run, write, first):
    path = write(future(first, 3), "future.csv")
    message = (
        "^'future.csv' has no row for the steps to forecast of series 'target', 2024-04-30 to 2024-05-02: its rows go"
    )
    refused("predict", run, "--future", path, "--out", "f.csv", message=message, hint="^--data with the history")


def test_a_future_file_of_a_run_without_known_covariates_is_refused(refused, finished_run, write):
    path = write(future("2024-04-30", 3), "future.csv")
    message = "^'future.csv' would not be used: the run has no covariates that are known in advance$"
    refused("predict", finished_run, "--future", path, "--out", "f.csv", message=message, hint="^leave --future out")


def test_a_future_file_with_matching_rows_is_used(forecast, run, write):
    path = write(future("2024-04-25", 30), "future.csv")
    outcome = forecast("predict", run, "--future", path, "--out", "with.csv")
    assert outcome.code == 0
    assert (
        "'future.csv': 3 of 30 rows are used; not used: 5 up to the last known target, 22 beyond the horizon"
        in outcome.err
    )
    assert forecast("predict", run, "--out", "without.csv").code == 0
    assert Path("with.csv").read_text() != Path("without.csv").read_text()


def test_the_template_of_a_history_leads_to_the_forecast_of_it(forecast, run, write, make_table):
    table = make_table(rows=130)
    path = write(table, "newer.csv")
    outcome = forecast("future-template", run, "--data", path, "--out", "future.csv")
    hint = f"then forecast predict {run} --data newer.csv --future future.csv"
    assert hint in outcome.err
    filled = pd.read_csv("future.csv").assign(temperature=1.0)
    filled.to_csv("future.csv", index=False)
    words = hint.removeprefix("then forecast ").split()
    assert forecast(*words, "--out", "f.csv").code == 0
    refused = forecast("predict", run, "--future", "future.csv", "--out", "f.csv")
    assert refused.error.startswith("'future.csv' has no row for the steps to forecast")


def test_the_only_step_may_be_a_missing_value(forecast, small, make_table, write):
    """Of several steps a column without any value was not filled in; of a single step nobody can tell."""
    options = (*small, "--future", "temperature", "--missing", "mask", "--horizon", "1", "--out", "run", "--quiet")
    assert forecast("train", write(make_table(rows=120)), *options).code == 0
    empty = write(future("2024-04-30", 1, temperature=None), "future.csv")
    outcome = forecast("predict", "run", "--future", empty, "--out", "f.csv")
    assert outcome.code == 0, outcome.err
    assert "'future.csv' has no 'temperature' for 1 of the 1 step to forecast" in " ".join(outcome.err.split())


def test_each_series_of_a_future_file_is_used(forecast, small, make_table, write):
    parts = [make_table(rows=123, seed=seed).assign(item_id=name) for seed, name in enumerate("ab")]
    table = pd.concat(parts, ignore_index=True)
    table.loc[table["date"] >= "2024-04-30", "target"] = None
    assert forecast("train", write(table), *small, "--future", "temperature", "--out", "run", "--quiet").code == 0
    known = pd.concat([future("2024-04-30", 3, item_id="a"), future("2025-04-30", 3, item_id="b")])
    outcome = forecast("predict", "run", "--future", write(known, "future.csv"), "--out", "f.csv")
    assert outcome.code == 1
    assert "of series 'b', 2024-04-30 to 2024-05-02: its rows go from 2025-04-30 to 2025-05-02" in outcome.error
    only_a = write(known[known["item_id"] == "a"], "future.csv")
    assert forecast("predict", "run", "--future", only_a, "--out", "f.csv").code == 0
    other = write(known.assign(item_id="c"), "future.csv")
    outcome = forecast("predict", "run", "--future", other, "--out", "f.csv")
    expected = "'future.csv' has no row of the series to forecast: its series are 'c', those of the history 'a', 'b'"
    assert outcome.error == expected
    more = pd.concat([future("2024-04-30", 3, item_id=name) for name in "abc"])
    outcome = forecast("predict", "run", "--future", write(more, "future.csv"), "--out", "f.csv")
    assert outcome.code == 0
    assert "'future.csv' has 3 rows of series that the history does not have: 'c'" in outcome.err
    assert "'future.csv': 6 of 9 rows are used; not used: 3 of other series" in outcome.err


def test_a_future_file_may_write_its_names_otherwise(forecast, run, write):
    plain = write(future("2024-04-30", 3), "future.csv")
    assert forecast("predict", run, "--future", plain, "--out", "plain.csv").code == 0
    renamed = future("2024-04-30", 3).rename(columns={"date": "Valid from", "temperature": "Tempera_ture"})
    outcome = forecast("predict", run, "--future", write(renamed, "renamed.csv"), "--out", "renamed-f.csv")
    assert outcome.code == 0
    messages = " ".join(outcome.err.split())
    assert "'renamed.csv' has no column 'date'; 'Valid from' is taken for it" in messages
    assert "'renamed.csv' has no column 'temperature'; 'Tempera_ture' is taken for it" in messages
    assert Path("plain.csv").read_text() == Path("renamed-f.csv").read_text()


def test_a_future_file_may_have_titles_that_the_history_has_not(forecast, run, write):
    rows = future("2024-04-30", 3).to_csv(index=False)
    path = write(f"Weather of the next days\nissued at noon\n\n{rows}", "titled.csv")
    outcome = forecast("predict", run, "--future", path, "--out", "f.csv")
    assert outcome.code == 0, outcome.err
    assert "'titled.csv': 3 of 3 rows are used" in outcome.err


def test_two_columns_that_may_be_meant_are_not_guessed_between(refused, run, write):
    two = future("2024-04-30", 3).rename(columns={"temperature": "Temperature"}).assign(TEMPERATURE=1.0)
    path = write(two, "future.csv")
    refused("predict", run, "--future", path, "--out", "f.csv", message="no column 'temperature'", hint="did you mean")


def test_columns_that_show_what_they_are_may_have_any_name(forecast, refused, small, make_table, write):
    """Names of series and dates do; numbers do not, so that a covariate of another name is asked for."""
    parts = [make_table(rows=123, seed=seed).assign(meter=name) for seed, name in enumerate("ab")]
    table = pd.concat(parts, ignore_index=True)
    table.loc[table["date"] >= "2024-04-30", "target"] = None
    words = ("train", write(table), *small, "--id", "meter", "--future", "temperature", "--out", "run", "--quiet")
    assert forecast(*words).code == 0
    known = pd.concat([future("2024-04-30", 3, meter=name) for name in "ab"])
    assert forecast("predict", "run", "--future", write(known, "future.csv"), "--out", "plain.csv").code == 0
    names = {"meter": "station", "date": "valid", "temperature": "Forecast temperature"}
    other = write(known.rename(columns=names).assign(kind="x"), "other.csv")
    outcome = forecast("predict", "run", "--future", other, "--out", "f.csv")
    assert outcome.code == 0, outcome
    messages = " ".join(outcome.err.split())
    assert all(f"has no column '{old}'; '{new}' is taken for it" in messages for old, new in names.items())
    assert "'other.csv': 6 of 6 rows are used" in messages
    assert Path("f.csv").read_text() == Path("plain.csv").read_text()
    degrees = write(known.rename(columns={"temperature": "t2m"}), "degrees.csv")
    words = ("predict", "run", "--future", degrees, "--out", "f.csv")
    refused(*words, message="no column 'temperature'; .* 't2m'", hint="call 't2m' 'temperature', if .*future-template")


def weeks_of_shops() -> pd.DataFrame:
    """Four weeks are planned ahead, but for one shop's second one."""
    weeks = pd.date_range("2021-01-04", periods=80, freq="W-MON")
    shops = [
        pd.DataFrame(
            {"shop": name, "week": weeks, "sold": range(at, at + 80), "price": [5 + day % 3 for day in range(80)]}
        )
        for at, name in enumerate(("a", "b", "c"))
    ]
    table = pd.concat(shops).astype({"sold": float})
    table.loc[table["week"] >= weeks[76], "sold"] = None
    return table[~((table["shop"] == "b") & (table["week"] == weeks[77]))]


def test_a_forecast_reaches_as_far_as_the_rows_that_are_known_ahead(forecast, small, write):
    """No --horizon: four weeks, not the thirteen of weekly tables, and predict needs no other file."""
    table = weeks_of_shops()
    whole = [word for word in small if word not in ("--horizon", small[small.index("--horizon") + 1])]
    path = write(table[table["shop"] != "b"])
    outcome = forecast("train", path, *whole, "--target", "sold", "--id", "shop", "--out", "run")
    assert outcome.code == 0, outcome.err
    assert "the table has 4 future rows: horizon 4 (the frequency's is 13)" in outcome.err
    assert forecast("predict", "run", "--out", "f.csv").code == 0
    assert pd.read_csv("f.csv").groupby("item_id").size().to_dict() == {"a": 4, "c": 4}


def test_future_rows_behind_a_gap_are_left_out_and_asked_for(forecast, refused, small, write):
    path = write(weeks_of_shops())
    words = ("train", path, *small, "--target", "sold", "--id", "shop", "--missing", "mask", "--horizon", "4")
    outcome = forecast(*words, "--out", "run")
    assert outcome.code == 0, outcome.err
    assert "future rows behind a gap: left out  b" in outcome.err
    message = (
        "the data has no 'price' for 3 of the 4 steps to forecast of series 'b': 2022-06-27, 2022-07-04, 2022-07-11"
    )
    refused("predict", "run", "--out", "f.csv", message=message, hint="^--future FILE")


def test_a_covariate_is_known_ahead_where_it_is_in_half_of_the_series(forecast, small, write):
    """One of three targets was not reported on the last day: no reason to ask for tomorrow's prices of all."""
    days = pd.date_range("2024-01-01", periods=60)
    table = pd.concat(
        [pd.DataFrame({"shop": name, "day": days, "sold": 5.0 + days.day, "price": days.day % 5}) for name in "abc"]
    )
    table.loc[(table["shop"] == "b") & (table["day"] == days[-1]), "sold"] = None
    words = ("--target", "sold", "--id", "shop", "--quiet")
    assert forecast("train", write(table), *small, *words, "--out", "run").code == 0
    assert json.loads(Path("run/schema.json").read_text())["roles"]["past_covariates"] == ["price"]
    assert forecast("predict", "run", "--out", "f.csv").code == 0
    ends = pd.read_csv("f.csv").groupby("item_id")["cutoff"].first().to_dict()
    assert ends == {"a": "2024-02-29", "b": "2024-02-28", "c": "2024-02-29"}


def test_a_refused_forecast_prints_the_next_command(forecast, tmp_path):
    history, run, future = tmp_path / "history.csv", tmp_path / "run", tmp_path / "future.csv"
    days = pd.date_range("2024-01-01", periods=67, freq="D").strftime("%Y-%m-%d")
    frame = pd.DataFrame({"date": days, "y": [at % 7 for at in range(67)], "price": [at % 3 for at in range(67)]})
    frame[:60].to_csv(history, index=False)
    quick = ("--max-epochs", "1", "--hidden-size", "4", "--epoch-windows", "16", "--combination", "none")
    assert forecast("train", history, "--future", "price", *quick, "--out", run).code == 0
    tried = f"try: forecast future-template {run} --out future.csv  # writes the file to fill in"
    assert tried in forecast("predict", run).err
    frame[60:64][["date", "price"]].to_csv(future, index=False)
    tried = f"try: forecast predict {run} --future {future}  # when you have corrected that\n"
    assert tried in forecast("predict", run, "--future", future).err
    frame[60:][["date", "price"]].to_csv(future, index=False)
    assert forecast("predict", run, "--future", future).code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "run", "--data", "newer.csv", "--out", "f.csv"),
        ("backtest", "run", "--data", "newer.csv", "--out", "b.csv"),
        ("score", "run", "newer.csv", "--rate", "0.2", "--out", "s.csv"),
        ("update", "run", "--data", "newer.csv", "--out", "next"),
        ("plot", "run", "--data", "newer.csv", "--svg", "p.svg"),
        ("inspect", "run", "--data", "newer.csv", "--html", "w.html"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_reads_a_newer_table_alike(words: tuple[str, ...], forecast, small, here: Path) -> None:
    """It has a title, another delimiter than the training's, and kinds that are numbers."""
    days = pd.date_range("2024-01-01", periods=120)
    table = pd.DataFrame({"date": days, "kind": np.arange(120) % 3, "y": np.arange(120.0) % 7})
    table.head(100).to_csv("data.csv", index=False, sep="|")
    options = ("--delimiter", "|", "--categorical", "kind", "--past", "kind", "--target", "y")
    quantiles = ("--quantiles", "0.1,0.5,0.9")
    assert forecast("train", "data.csv", *options, *quantiles, *small, "--out", "run", "--quiet").code == 0
    Path("newer.csv").write_text("Sales of the north\n" + table.to_csv(index=False, sep=";"))
    assert forecast("predict", "run", "--quiet").code == 0
    done = forecast(*words)
    assert done.code == 0, done.err
