"""`forecast update`: a backtest with refits is a sequence of updates; old weights stay where new ones are no better;
rows that do not continue the table are refused and nothing is written; a kill leaves nothing half."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster, read_attention
from forecast_attn.errors import DataError, RunError, UserError
from forecast_attn.updating.update import MARK

pytestmark = pytest.mark.slow

FIRST, SECOND, LAST = (pd.Timestamp(f"2024-04-{day:02}") for day in (5, 8, 11))
"""Last days of the table of the training, and of two updates; the last horizon ends on the 14th."""
DAY = pd.Timedelta("1D")
END = pd.Timestamp("2024-04-14")
Parts = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def parts(sales: pd.DataFrame) -> Parts:
    sales = sales[sales["day"] <= END]
    day = sales["day"]
    return {
        "whole": sales,
        "old": sales[day <= FIRST],
        "one": sales[(day > FIRST) & (day <= SECOND)],
        "two": sales[(day > SECOND) & (day <= LAST)],
        "future": sales.loc[day > SECOND, ["shop", "day", "promotion"]],
    }


@pytest.fixture(scope="module")
def old_run(parts: Parts, options: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with weights of baselines, a calibration and a training on all rows; beside it its table."""
    folder = tmp_path_factory.mktemp("update")
    parts["old"].to_csv(folder / "old.csv", index=False)
    settings = {**options, "combination": "auto", "validation_windows": 64}
    Forecaster(**settings).fit(folder / "old.csv", out=folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def new_run(old_run: Path, parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> Forecaster:
    """An update with the defaults."""
    return Forecaster.load(old_run).update(parts["one"], out=tmp_path_factory.mktemp("new") / "run")


def forecasts_of(forecaster: Forecaster, history: pd.DataFrame, future: pd.DataFrame) -> pd.DataFrame:
    return forecaster.predict(history, future=future).predictions


@pytest.mark.parametrize(
    ("given", "refits"),
    [
        ({}, {"refit_keep": "best", "refit_final_fit": True, "refit_half_life": 8 * 14}),
        ({"keep": "new", "final_fit": False, "epochs": 1, "half_life": "none"}, {"refit_epochs": 1}),
        (
            {"keep": "new", "validation": 0, "window": "40D", "half_life": 10, "learning_rate": 0.01},
            {"refit_validation": 0, "refit_window": "40D", "refit_half_life": 10, "refit_learning_rate": 0.01},
        ),
        (
            {"learning_rate": 0.5, "window": "40D"},
            {"refit_keep": "best", "refit_final_fit": True, "refit_learning_rate": 0.5, "refit_window": "40D"},
        ),
    ],
    ids=["defaults", "new", "all-rows", "old-stays"],
)
def test_a_backtest_with_refits_is_a_sequence_of_updates(
    given: dict[str, Any],
    refits: dict[str, Any],
    old_run: Path,
    parts: Parts,
    tmp_path: Path,
) -> None:
    forecaster, sales = Forecaster.load(old_run), parts["whole"]
    schedule = {"cutoffs": 2, "stride": 3, "baselines": "none", "out": tmp_path / "backtest.parquet"}
    frame = forecaster.backtest(sales, **schedule, refit="every", **refits).frame
    for name, cutoff in (("one", SECOND), ("two", LAST)):
        forecaster = forecaster.update(parts[name], **given)
        history, later = sales[sales["day"] <= cutoff], sales[sales["day"].between(cutoff + DAY, cutoff + 3 * DAY)]
        forecasts = forecasts_of(forecaster, history, later[["shop", "day", "promotion"]])
        expected = frame[(frame["model"] == "combination") & (frame["cutoff"] == cutoff)]
        forecasts = forecasts.merge(expected, on=["item_id", "cutoff", "step"])
        assert len(forecasts) == len(expected) == 6
        for column in ("prediction", "0.1", "0.9"):
            np.testing.assert_array_equal(forecasts[f"{column}_x"], forecasts[f"{column}_y"])
    assert forecaster.metrics["update"]["number"] == 2
    assert forecaster.metrics["update"]["kept"] == ("old" if given.get("learning_rate") == 0.5 else "new")


def test_both_are_scored_on_steps_that_neither_has_seen(old_run: Path, new_run: Forecaster, parts: Parts) -> None:
    """Against a backtest of both networks over the held-out days."""
    update, metrics = new_run.metrics["update"], new_run.metrics
    assert (update["held_out"], metrics["validation"]["after"]) == (21, "2024-03-18")
    table = pd.concat([parts["old"], parts["one"]])
    first = {"start": "2024-03-19", "stride": 1, "baselines": "none", "combine_with": "none"}
    validated = Forecaster.load(old_run).backtest(table, **first).frame
    actual = validated["target"].notna()
    error = (validated["target"] - validated["prediction"]).abs()[actual].groupby(validated["model"]).mean()
    assert update["old"]["mae"] == pytest.approx(error.iloc[0], rel=1e-6)
    assert update["new"]["mae"] == pytest.approx(metrics["validation"]["mae"], rel=1e-9)
    assert update["kept"] == "new"
    assert update["new"]["loss"] < update["old"]["loss"]


def test_the_attention_file_says_how_much_the_network_is(new_run: Forecaster) -> None:
    metadata = read_attention(new_run.run_path / "validation_attention.parquet").metadata
    assert metadata.network_share == new_run.metrics["combination"]["weights"].get("network", 0) < 1


def test_a_new_run_names_its_parent_and_needs_nothing_of_it(
    old_run: Path, new_run: Forecaster, parts: Parts, forecast: Callable
) -> None:
    update = new_run.metrics["update"]
    assert (update["parent"], update["rows"], update["from"], update["until"]) == (
        str(old_run),
        6,
        "2024-04-06",
        "2024-04-08",
    )
    assert new_run.metrics["final_fit"]["until"] == "2024-04-08"
    manifest = json.loads((new_run.run_path / "manifest.json").read_text())["files"]
    assert {"added.parquet", "validated.safetensors", "model.safetensors"} <= manifest.keys()
    future = parts["future"]
    alone = new_run.predict(future=future[future["day"] <= LAST]).predictions
    assert alone["cutoff"].unique() == [SECOND]
    assert forecast("info").code == 0
    refused = forecast("train", "--resume", new_run.run_path)
    assert (refused.code, refused.error) == (1, f"'{new_run.run_path}' is finished: there is nothing to resume")


def test_the_command_says_which_weights_go_on(old_run: Path, parts: Parts, tmp_path: Path, forecast: Callable) -> None:
    parts["one"].to_csv(tmp_path / "one.csv", index=False)
    done = forecast(
        "update", old_run, "--data", tmp_path / "one.csv", "--learning-rate", "0.5", "--out", tmp_path / "o"
    )
    assert done.code == 0, done.err
    assert "6 new rows, 2024-04-06 to 2024-04-08; update 1 of" in done.out
    assert "kept the OLD weights: the new ones have" in done.out
    before, after = ((path / "model.safetensors").read_bytes() for path in (old_run, tmp_path / "o"))
    assert before == after
    again = forecast(
        "update", old_run, "--data", tmp_path / "one.csv", "--keep", "new", "--out", tmp_path / "n", "--json"
    )
    assert json.loads(again.out)["update"]["kept"] == "new"
    assert "epoch 2: training loss" in again.err


WRONG: dict[str, tuple[Callable[[Parts], pd.DataFrame], str, str]] = {
    "again": (
        lambda parts: parts["old"].tail(2),
        "'DataFrame' has no row after the end of the run's table, which is 2024-04-05",
        "give the rows after that, alone or below those before them",
    ),
    "before": (
        lambda parts: pd.concat(
            [
                parts["old"].head(1).assign(day=pd.Timestamp("2023-12-31")),
                parts["whole"][(parts["whole"]["shop"] == "north") | (parts["whole"]["day"] > FIRST - 9 * DAY)],
            ]
        ),
        "'DataFrame' has a row at 2023-12-31 of series 'north', which the run's table does not have; that begins at "
        "2024-01-01 and ends at 2024-04-05",
        "or the whole table",
    ),
    "contradiction": (
        lambda parts: pd.concat([parts["old"][parts["old"]["day"] == FIRST].assign(sales=77.0), parts["one"]]),
        "'DataFrame' contradicts the run's table: at 2024-04-05 of series 'north' 'sales' is 77, and was",
        "train again",
    ),
    "gap": (
        lambda parts: parts["one"][parts["one"]["day"] > "2024-04-06"],
        "'DataFrame' begins at 2024-04-07 of series 'north', but the row after the run's table is 2024-04-06 (time "
        "step D)",
        "give every row from 2024-04-06 on",
    ),
    "column": (lambda parts: parts["one"].drop(columns="promotion"), "has no column 'promotion'", "add the column"),
    "frequency": (
        lambda parts: parts["one"].assign(day=parts["one"]["day"] + pd.Timedelta("6h")),
        "'DataFrame' begins at 2024-04-06 06:00 of series 'north', but the row after the run's table is 2024-04-06",
        "",
    ),
    "nothing": (lambda parts: parts["one"].head(0), "the DataFrame has no rows", "add rows of data"),
    "no target": (lambda parts: parts["one"].assign(sales=np.nan), "series 'north' has no value in column 'sales'", ""),
    "another series": (
        lambda parts: parts["one"][parts["one"]["shop"] == "north"].assign(shop="west"),
        "not seen in training: series 'west'",
        "",
    ),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_rows_that_do_not_continue_the_table_are_refused(
    name: str, old_run: Path, parts: Parts, tmp_path: Path
) -> None:
    make, message, hint = WRONG[name]
    with pytest.raises(UserError) as refused:
        Forecaster.load(old_run).update(make(parts), out=tmp_path / "new")
    assert message in refused.value.message
    assert hint in (refused.value.hint or "")
    assert not list(tmp_path.iterdir())


def test_a_day_may_be_closed_between_the_table_and_the_new_rows(
    options: dict[str, Any], parts: Parts, tmp_path: Path
) -> None:
    """Of a table with absent days, which the run hides. Its rows are counted, not the steps without one."""

    def without_sundays(table: pd.DataFrame) -> pd.DataFrame:
        return table[table["day"].dt.day_of_week < 6]

    old = without_sundays(parts["old"][parts["old"]["day"] < "2024-03-31"])  # a Sunday
    old.to_csv(tmp_path / "old.csv", index=False)
    forecaster = Forecaster(**{**options, "missing": "mask"}).fit(tmp_path / "old.csv", out=tmp_path / "run")
    new = parts["old"][parts["old"]["day"] >= "2024-04-01"]
    assert forecaster.update(new, epochs=1).metrics["update"]["from"] == "2024-04-01"
    whole = without_sundays(parts["old"])
    with pytest.raises(DataError) as refused:
        forecaster.update(old)
    assert "has no row after the end of the run's table, which is 2024-03-30" in refused.value.message
    whole = forecaster.update(without_sundays(parts["old"]), epochs=1).metrics["update"]
    assert (whole["repeated"], whole["from"]) == (len(old), "2024-04-01")


def test_rows_without_the_table_before_them(old_run: Path, parts: Parts, tmp_path: Path) -> None:
    table = old_run.parent / "old.csv"
    away = table.rename(tmp_path / "away.csv")
    try:
        with pytest.raises(UserError) as refused:
            Forecaster.load(old_run).update(parts["one"])
        assert "name the run's table with --history FILE" in (refused.value.hint or "")
        named = Forecaster.load(old_run).update(parts["one"], history=away, epochs=1)
        assert named.metrics["update"]["table"]["file"] == str(away)
    finally:
        away.rename(table)


def weights_of(forecaster: Forecaster) -> bytes:
    return (forecaster.run_path / "model.safetensors").read_bytes()


def table_until(parts: Parts, day: pd.Timestamp) -> pd.DataFrame:
    return parts["whole"][parts["whole"]["day"] <= day]


def test_a_table_with_its_old_rows_is_as_good_as_the_new_ones_alone(
    old_run: Path, new_run: Forecaster, parts: Parts, forecast: Callable, tmp_path: Path
) -> None:
    table_until(parts, SECOND).to_csv(tmp_path / "whole.csv", index=False)
    done = forecast("update", old_run, "--data", tmp_path / "whole.csv", "--out", tmp_path / "run")
    assert done.code == 0, done.err
    rows = f"6 new rows, 2024-04-06 to 2024-04-08 ({len(parts['old'])} rows before them as in the run's table)"
    assert f"{rows}; update 1 of" in done.out
    whole = Forecaster.load(tmp_path / "run")
    assert weights_of(whole) == weights_of(new_run)
    assert whole.metrics["update"]["table"]["file"] == str(tmp_path / "whole.csv")
    assert not (tmp_path / "run" / "added.parquet").exists()  # the run's table is the whole one now
    latest = pd.concat([parts["old"][parts["old"]["day"] > FIRST - 9 * DAY], parts["one"]])
    part = Forecaster.load(old_run).update(latest)
    assert weights_of(part) == weights_of(new_run)
    assert part.metrics["update"]["repeated"] == 18
    pd.testing.assert_frame_equal(
        *(pd.read_parquet(each.run_path / "added.parquet") for each in (part, new_run)), check_dtype=False
    )


@pytest.mark.parametrize("kind", ["file", "DataFrame"])
def test_a_table_that_grows_updates_its_run_again_and_again(
    kind: str, options: dict[str, Any], parts: Parts, tmp_path: Path
) -> None:
    """Nobody keeps the table of the training then: the end of it, which the run has, is compared with the new one."""

    def table(day: pd.Timestamp, frame: pd.DataFrame | None = None) -> Any:
        frame = table_until(parts, day) if frame is None else frame
        if kind == "DataFrame":
            return frame
        frame.to_csv(tmp_path / "sales.csv", index=False)
        return tmp_path / "sales.csv"

    alone = growing = Forecaster(**options).fit(table(FIRST))
    alone = alone.update(parts["one"], history=parts["old"], epochs=1)
    alone = alone.update(parts["two"], history=table_until(parts, SECOND), epochs=1)
    for number, day in ((1, SECOND), (2, LAST)):
        growing = growing.update(table(day), epochs=1)
        assert (growing.metrics["update"]["number"], growing.metrics["update"]["rows"]) == (number, 6)
        assert not (growing.run_path / "added.parquet").exists()
    assert weights_of(growing) == weights_of(alone)
    later = parts["whole"].copy()
    later.loc[(later["day"] == LAST - DAY) & (later["shop"] == "south"), "sales"] = 77.0
    with pytest.raises(DataError, match=r"contradicts the run's table: at 2024-04-10 of series 'south' 'sales' is 77"):
        growing.update(table(END, later))
    without_start = parts["whole"][parts["whole"]["day"] >= LAST]
    with pytest.raises(RunError) as refused:
        growing.update(table(END, without_start))
    assert "give all its rows and the new ones with --data" in (refused.value.hint or "")


def test_series_that_training_did_not_see_are_left_out_and_named(
    old_run: Path, new_run: Forecaster, parts: Parts, forecast: Callable, tmp_path: Path
) -> None:
    opened = parts["one"].drop_duplicates("day").assign(shop="west")
    pd.concat([opened, parts["one"]]).to_csv(tmp_path / "one.csv", index=False)
    done = forecast("update", old_run, "--data", tmp_path / "one.csv", "--out", tmp_path / "run")
    assert done.code == 0, done.err
    assert "left out: series 'west', which training did not see; train again to add" in done.out
    updated = Forecaster.load(tmp_path / "run")
    assert weights_of(updated) == weights_of(new_run)
    assert updated.metrics["update"]["unseen_series"] == ["west"]
    with pytest.raises(DataError, match="has no row after the end of the run's table, which is 2024-04-05"):
        Forecaster.load(old_run).update(pd.concat([opened, parts["old"]]))


def test_a_value_that_was_missing_may_have_come_since(options: dict[str, Any], parts: Parts, tmp_path: Path) -> None:
    late = (parts["whole"]["shop"] == "south") & (parts["whole"]["day"] == FIRST - 2 * DAY)
    holed = parts["old"].assign(sales=parts["old"]["sales"].mask(late[parts["old"].index]))
    forecaster = Forecaster(**{**options, "missing": "mask"}).fit(holed, out=tmp_path / "run")
    whole = table_until(parts, SECOND)
    updated = forecaster.update(whole, epochs=1)
    tail = pd.read_parquet(updated.run_path / "tail.parquet").merge(whole, on=["shop", "day"])
    np.testing.assert_array_equal(tail["sales_x"], tail["sales_y"])
    with pytest.raises(DataError, match="'sales' is missing, and was"):
        updated.update(table_until(parts, LAST).assign(sales=parts["whole"]["sales"].mask(late)))


def test_a_series_without_a_value_is_left_out(options: dict[str, Any], parts: Parts, tmp_path: Path) -> None:
    closed = parts["one"].drop_duplicates("day").assign(shop="closed", sales=np.nan)
    forecaster = Forecaster(**{**options, "missing": "mask"}).fit(parts["old"], out=tmp_path / "run")
    updated = forecaster.update(
        pd.concat([closed[closed["day"] == SECOND], parts["one"]]), history=parts["old"], epochs=1
    )
    assert updated.metrics["update"]["rows"] == 6


@pytest.mark.parametrize("zeros", [True, False], ids=["counts", "means"])
def test_the_last_step_of_a_resampled_table_may_get_more_rows(zeros: bool, tmp_path: Path) -> None:
    """Two days are read at noon, and go on in the next table; the run learns from the whole of each."""
    rng = np.random.default_rng(0)
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 120 * 24 * 60, 5000)), "min")
    events = pd.DataFrame({"time": stamps, "amount": rng.normal(50, 9, len(stamps))})
    first, second = (pd.Timestamp(f"2024-04-{day} 12:00") for day in (10, 14))
    settings: dict[str, Any] = {"horizon": 3, "lookback": 14, "max_epochs": 1, "hidden_size": 4, "seed": 1}
    settings |= {"target": "amount", "resample": "D", "aggregate": "sum" if zeros else "mean"}
    settings |= {"missing": "zero"} if zeros else {}
    events[events["time"] < first].to_csv(tmp_path / "old.csv", index=False)
    old = Forecaster(**settings).fit(tmp_path / "old.csv")
    alone = old.update(events[events["time"].between(first, second, inclusive="left")], epochs=1)
    whole = old.update(events[events["time"] < second], epochs=1)
    assert weights_of(alone) == weights_of(whole)
    # Of means a part of a day is a day; of sums it is left out until the day is over.
    assert alone.metrics["update"]["rows"] == whole.metrics["update"]["rows"] == 4
    until = [each.metrics["update"]["until"] for each in (alone, whole)]
    assert until == ["2024-04-13" if zeros else "2024-04-14"] * 2
    again = [each.update(data, epochs=1) for each, data in ((alone, events[events["time"] >= second]), (whole, events))]
    assert weights_of(again[0]) == weights_of(again[1])
    for updated, end in ((alone, second), (whole, second), *((each, pd.Timestamp.max) for each in again)):
        tail = pd.read_parquet(updated.run_path / "tail.parquet").set_index("time")["amount"]
        per_day = events[events["time"] < end].resample("D", on="time")["amount"].agg(settings["aggregate"])
        per_day = per_day.iloc[:-1] if zeros and end == second else per_day
        np.testing.assert_allclose(tail.to_numpy(), per_day.loc[tail.index[0] :].to_numpy())
    since_six = events[events["time"].between(first.normalize() + pd.Timedelta("6h"), second, inclusive="left")]
    if zeros:  # the day was not over, and its rows are known one by one
        assert weights_of(old.update(since_six, epochs=1)) == weights_of(whole)
    else:
        with pytest.raises(DataError, match="contradicts the run's table: at 2024-04-10 'amount' is"):
            old.update(since_six, epochs=1)


def test_new_rows_may_begin_within_a_day_of_sums(tmp_path: Path) -> None:
    """By themselves they would begin with a part of a day, which is left out."""
    hours = pd.date_range("2024-01-01", periods=24 * 120, freq="h")
    table = pd.DataFrame({"time": hours, "y": np.random.default_rng(0).integers(1, 9, len(hours)).astype(float)})
    settings: dict[str, Any] = {"horizon": 3, "lookback": 14, "max_epochs": 1, "hidden_size": 4, "seed": 1}
    noon = pd.Timestamp("2024-04-12 12:00")
    old = Forecaster(**settings, target="y", resample="D", aggregate="sum").fit(table[table["time"] < noon])
    new = old.update(table[table["time"] >= noon], history=table[table["time"] < noon], epochs=1)
    assert (new.metrics["update"]["from"], new.metrics["update"]["rows"]) == ("2024-04-12", 18)
    tail = pd.read_parquet(new.run_path / "tail.parquet").set_index("time")["y"]
    np.testing.assert_array_equal(tail, table.resample("D", on="time")["y"].sum().loc[tail.index[0] :])


def test_rows_of_a_table_with_a_column_per_series_keep_their_stamps(parts: Parts, tmp_path: Path) -> None:
    """They are numbered as in the file, from one on and again for each series."""
    settings: dict[str, Any] = {"horizon": 3, "lookback": 14, "max_epochs": 1, "hidden_size": 4, "seed": 1}

    def updated(form: Callable[[pd.DataFrame], pd.DataFrame], **more: Any) -> Forecaster:
        for name in ("old", "one"):
            form(parts[name]).to_csv(tmp_path / f"{name}.csv", index=False)
        old = Forecaster(**settings, **more).fit(tmp_path / "old.csv")
        return old.update(tmp_path / "one.csv", epochs=1)

    wide = updated(lambda part: part.pivot(index="day", columns="shop", values="sales").reset_index(), wide=True)
    long = updated(lambda part: part[["shop", "day", "sales"]], item_id="shop")
    assert weights_of(wide) == weights_of(long)
    added = pd.read_parquet(wide.run_path / "added.parquet").rename(columns={"item_id": "shop", "target": "sales"})
    expected = parts["one"].reset_index(drop=True)[["day", "shop", "sales"]]
    pd.testing.assert_frame_equal(added, expected, check_dtype=False, check_categorical=False)


@pytest.mark.parametrize(
    "given",
    [{"validation": 0}, {"validation": 2}, {"epochs": 0}, {"half_life": "x"}, {"window": 3}, {"validation": 5000}],
)
def test_options_that_cannot_be(given: dict[str, Any], old_run: Path, parts: Parts) -> None:
    with pytest.raises(UserError) as refused:
        Forecaster.load(old_run).update(parts["one"], **given)
    assert "refit" not in refused.value.message + (refused.value.hint or "")
    assert "--start" not in (refused.value.hint or "")


def test_a_killed_update_leaves_nothing_and_is_begun_again(
    old_run: Path, parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name: path.read_bytes() for path in old_run.iterdir()}

    def stop(*arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("forecast_attn.updating.update.score_updated", stop)
        Forecaster.load(old_run).update(parts["one"], out=tmp_path / "new", epochs=1)
    assert not list(tmp_path.iterdir())
    leftover = tmp_path / ".new.update" / "run"  # of a process that was killed
    leftover.mkdir(parents=True)
    (leftover / "config.json").write_text("{")
    with pytest.raises(RunError, match=r"\.new\.update' is in the way"):  # as long as it could be anybody's
        Forecaster.load(old_run).update(parts["one"], out=tmp_path / "new", epochs=1)
    assert (leftover / "config.json").read_text() == "{"
    (leftover.parent / MARK).touch()
    Forecaster.load(old_run).update(parts["one"], out=tmp_path / "new", epochs=1)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    assert {path.name: path.read_bytes() for path in old_run.iterdir()} == before


def test_an_ensemble_is_updated_as_a_whole(parts: Parts, options: dict[str, Any], tmp_path: Path) -> None:
    settings = {**options, "ensemble": 2, "max_epochs": 1, "attention": "none"}
    old = Forecaster(**settings).fit(parts["old"], out=tmp_path / "old")
    new = old.update(parts["one"], history=parts["old"], epochs=1, keep="new", half_life="none", out=tmp_path / "new")
    assert [member["best_epoch"] for member in new.metrics["members"]] == [1, 1]
    until = parts["whole"][parts["whole"]["day"] <= LAST]
    schedule = {"cutoffs": 1, "stride": 3, "baselines": "none", "out": tmp_path / "backtest.parquet"}
    frame = old.backtest(until, **schedule, refit="every", refit_epochs=1, refit_final_fit=True).frame
    future = parts["future"]
    forecasts = forecasts_of(new, until[until["day"] <= SECOND], future[future["day"] <= LAST])
    assert (frame["cutoff"] == SECOND).all()
    np.testing.assert_array_equal(forecasts["prediction"], frame[frame["model"] != "combination"]["prediction"])


def test_newer_windows_are_drawn_more_often(old_run: Path, parts: Parts) -> None:
    from forecast_attn.backtest.backtest_options import BacktestOptions
    from forecast_attn.backtest.backtest_plan import plan_backtest
    from forecast_attn.runs.run_dir import RunDir
    from forecast_attn.training.refit import Refit, windows_to_refit

    backtest = plan_backtest(RunDir(old_run), parts["whole"], BacktestOptions())
    cutoff = np.datetime64(LAST, "ns")
    drawn, every = (
        windows_to_refit(
            backtest.model, backtest.panel, Refit(1, cutoff, 1, validation=0, half_life=half)
        ).training_cutoffs
        for half in (cutoff - np.timedelta64(20, "D"), None)
    )
    ages = (cutoff - backtest.panel.timestamps[every]) / np.timedelta64(20, "D")
    weights = 0.5**ages
    assert len(drawn) == round(weights.sum())
    mean_age = ((cutoff - backtest.panel.timestamps[drawn]) / np.timedelta64(20, "D")).mean()
    expected = (weights * ages).sum() / weights.sum()
    assert abs(mean_age - expected) < 3 * ages.std() / np.sqrt(len(drawn))
