"""`forecast evaluate`: any table of forecasts, from files and frames, and the day-ahead protocol on real prices."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import forecast_attn
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.evaluation.significance import diebold_mariano, giacomini_white

pytestmark = pytest.mark.slow


def actuals_table(days: int = 60, series: tuple[str, ...] = ("a",)) -> pd.DataFrame:
    parts = []
    for number, name in enumerate(series):
        stamps = pd.date_range("2024-01-01", periods=24 * days, freq="h")
        rng = np.random.default_rng(number)
        price = 30 + 5 * np.sin(np.arange(len(stamps)) * 2 * np.pi / 24) + rng.normal(size=len(stamps))
        parts.append(pd.DataFrame({"item_id": name, "date": stamps, "price": price.round(3)}))
    return pd.concat(parts, ignore_index=True)


def others_table(actuals: pd.DataFrame, days: int = 20) -> pd.DataFrame:
    """Two models' forecasts, one value per stamp, as people publish them."""
    rows, rng = actuals.tail(24 * days), np.random.default_rng(5)
    noise = rng.normal(size=(2, len(rows))) * [[0.5], [0.9]]
    return pd.DataFrame(
        {
            "Date": rows["date"].dt.strftime("%Y-%m-%d %H:%M:%S").to_numpy(),
            "LEAR 56": rows["price"].to_numpy() + noise[1],
            "DNN Ensemble": rows["price"].to_numpy() + noise[0],
        }
    )


def our_table(actuals: pd.DataFrame, cutoffs: tuple[str, ...], horizon: int = 24) -> pd.DataFrame:
    parts = []
    for name, series in actuals.groupby("item_id"):
        for cutoff in map(pd.Timestamp, cutoffs):
            rows = series[(series["date"] > cutoff) & (series["date"] <= cutoff + pd.Timedelta(hours=horizon))]
            part = pd.DataFrame({"item_id": name, "cutoff": cutoff, "timestamp": rows["date"]})
            part = part.assign(step=np.arange(1, len(rows) + 1), prediction=rows["price"] + 1)
            parts.append(part.assign(**{"0.1": rows["price"] - 1, "0.9": rows["price"] + 2}))
    return pd.concat(parts, ignore_index=True)


CUTOFFS = tuple(str(stamp) for stamp in pd.date_range("2024-02-10 23:00", periods=8, freq="24h"))

# --------------------------------------------------------------------------- ours


def test_beside_a_run_the_actuals_are_read_as_its_table(forecast, small, write) -> None:
    """Nothing in the table says which column is the series, and which number the target."""
    days = pd.date_range("2024-01-01", periods=70)
    parts = [
        pd.DataFrame({"Day": days.strftime("%d.%m.%Y"), "Shop": name, "Sold": np.arange(70.0) % 7 + at, "Left": 1.0})
        for at, name in enumerate(("Nord", "Ost"))
    ]
    table = pd.concat(parts).sort_values("Day")
    known = table[pd.to_datetime(table["Day"], dayfirst=True) < days[60]]
    words = ("--target", "Sold", "--id", "Shop", "--ignore", "Left")
    assert forecast("train", write(known, "known.csv"), *small, *words, "--out", "run", "--quiet").code == 0
    assert forecast("predict", "run", "--quiet").code == 0
    outcome = forecast("evaluate", "run/predictions.csv", "--actuals", write(table, "table.csv"), "--json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert document["rows"] == 2 * 2 * 3
    assert document["notes"][0] == "the actuals are read as the table of 'run' was"
    other = forecast("evaluate", "run/predictions.csv", "--actuals", "table.csv", "--target", "Left", "--json")
    assert json.loads(other.out)["scores"][0]["mae"] != document["scores"][0]["mae"]


@pytest.mark.parametrize("joins", [True, False], ids=["region and store", "ignored id"])
def test_forecasts_of_joined_and_of_ignored_identifiers(joins: bool, forecast, small, write) -> None:
    days = pd.date_range("2024-01-01", periods=70)
    parts = [
        pd.DataFrame({"day": days, "region": region, "store": store, "y": np.arange(70.0) % 7 + store})
        for region in "ab"
        for store in (1, 2)
    ]
    table = pd.concat(parts if joins else parts[:1])
    table = table if joins else table.rename(columns={"store": "item_id"}).assign(item_id=np.arange(70) % 3)
    words = ("--target", "y", "--id", "region,store") if joins else ("--target", "y", "--ignore", "region,item_id")
    known = table[table["day"] < days[60]]
    assert forecast("train", write(known, "known.csv"), *small, *words, "--out", "run", "--quiet").code == 0
    assert forecast("predict", "run", "--quiet").code == 0
    outcome = forecast("evaluate", "run/predictions.csv", "--actuals", write(table, "table.csv"), "--json")
    assert outcome.code == 0, outcome.err
    [score] = [each for each in json.loads(outcome.out)["scores"] if each["model"] != "seasonal-naive"]
    predicted = pd.read_csv("run/predictions.csv", parse_dates=["timestamp"])
    names = table["region"] + "/" + table["store"].astype(str) if joins else "y"
    merged = predicted.merge(table.assign(item_id=names), left_on=["item_id", "timestamp"], right_on=["item_id", "day"])
    assert len(merged) == 3 * (4 if joins else 1)
    assert score["mae"] == pytest.approx((merged["prediction"] - merged["y"]).abs().mean(), rel=1e-6)
    if joins:
        published = merged[["region", "store", "timestamp", "prediction"]]
        again = forecast_attn.evaluate(published, table, target="y", item_id="region,store")
        assert again.scores["mae"][0] == pytest.approx(score["mae"], rel=1e-6)


@pytest.mark.parametrize("how", ["mean", "sum"])
def test_forecasts_of_a_resampled_table_are_scored_on_its_steps(how: str, forecast, small, write) -> None:
    """A day, and not its midnight; a day on which nothing was sold is zero, and the last one is not over."""
    rng = np.random.default_rng(0)
    hours = pd.date_range("2024-01-01 08:00", periods=24 * 100, freq="h")
    sold = pd.DataFrame({"time": hours, "y": rng.integers(1, 9, len(hours)).astype(float)})
    sold = sold[(sold["time"] < "2024-03-30 11:00") & ~sold["time"].dt.strftime("%m-%d").isin(["03-29"])]
    known = sold[sold["time"] < "2024-03-28"]
    words = ("--target", "y", "--resample", "D", "--aggregate", how)
    words += ("--missing", "zero") if how == "sum" else ()
    assert forecast("train", write(known, "known.csv"), *small, *words, "--out", "run", "--quiet").code == 0
    assert forecast("predict", "run", "--quiet").code == 0
    outcome = forecast("evaluate", "run/predictions.csv", "--actuals", write(sold, "sold.csv"), "--json")
    assert outcome.code == 0, outcome.err
    score = next(each for each in json.loads(outcome.out)["scores"] if each["model"] != "seasonal-naive")
    days = sold.resample("D", on="time")["y"].agg(how)
    days = days.iloc[:-1] if how == "sum" else days
    predicted = pd.read_csv("run/predictions.csv", index_col="timestamp", parse_dates=True)["prediction"]
    errors = (predicted - days.reindex(predicted.index)).abs().dropna()
    assert len(errors) == 2
    assert score["mae"] == pytest.approx(errors.mean(), rel=1e-6)


def test_rows_that_are_counted_are_read_as_such_without_a_run() -> None:
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta([1, 5, 30, 31, 80, 90, 99, 130, 140], "h")
    forecasts = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=5), "other": [2.0, 2, 1, 3, 0]})
    options = {"target": "row-count", "resample": "D", "aggregate": "sum"}
    evaluation = forecast_attn.evaluate(forecasts, pd.DataFrame({"time": stamps}), **options)
    assert evaluation.forecasts.set_index("timestamp")["target"].tolist() == [2, 2, 0, 2, 1]


def test_our_predictions_are_scored_with_their_quantiles_and_seasonal_naive() -> None:
    actuals = actuals_table(series=("a", "b"))
    result = forecast_attn.evaluate(our_table(actuals, CUTOFFS), actuals, target="price", by="item_id")
    scores = result.scores.set_index(["model", "item_id"])
    assert scores.index.tolist() == [(model, name) for name in "ab" for model in ("DataFrame", "seasonal-naive")]
    assert (scores.loc["DataFrame", "mae"] - 1).abs().max() < 1e-9
    assert (scores.loc["DataFrame", "coverage@0.8"] == 1).all()
    assert scores.loc["seasonal-naive", "coverage@0.8"].isna().all()
    for name, rows in actuals.groupby("item_id"):
        price = rows.set_index("date")["price"]
        stamps = [stamp for cutoff in CUTOFFS for stamp in pd.date_range(cutoff, periods=25, freq="h")[1:]]
        error = np.mean([abs(price[stamp] - price[stamp - pd.Timedelta("24h")]) for stamp in stamps])
        assert scores.loc[("seasonal-naive", name), "mae"] == pytest.approx(error)
        before = price[: CUTOFFS[0]].to_numpy()
        scale = np.abs(before[24:] - before[:-24]).mean()
        assert scores.loc[("DataFrame", name), "mase"] == pytest.approx(1 / scale)
    skill = 100 * (1 - 1 / scores.loc[("seasonal-naive", "a"), "mae"])
    assert scores.loc[("DataFrame", "a"), "skill_per_cent"] == pytest.approx(skill)
    assert set(result.tests["test"]) == {"DM", "GW"}


def test_a_column_of_models_tells_them_apart() -> None:
    actuals = actuals_table()
    forecasts = our_table(actuals, CUTOFFS)
    both = pd.concat(
        [forecasts.assign(model="one"), forecasts.assign(model="two", prediction=forecasts["prediction"] + 1)]
    )
    result = forecast_attn.evaluate(both, actuals, target="price", reference="one", metrics=["mae", "rmae"])
    assert result.scores["model"].tolist() == ["one", "two", "seasonal-naive"]
    assert result.scores["rmae"].iloc[:2].tolist() == pytest.approx([1, 2])


def test_tables_of_nixtla_with_bounds() -> None:
    actuals = actuals_table(series=("a", "b"))
    forecasts = our_table(actuals, CUTOFFS).rename(columns={"item_id": "unique_id", "timestamp": "ds"})
    forecasts = forecasts.rename(columns={"prediction": "ETS", "0.1": "ETS-lo-80", "0.9": "ETS-hi-80"}).assign(
        y=0.0, Naive=30.0
    )
    result = forecast_attn.evaluate(forecasts.drop(columns="step"), actuals, target="price")
    scores = result.scores.set_index("model")
    assert list(scores.index) == ["ETS", "Naive", "seasonal-naive"]
    assert scores.loc["ETS", "mae"] == pytest.approx(1)
    assert scores.loc["ETS", "width@0.8"] == pytest.approx(3)
    assert math.isnan(scores.loc["Naive", "width@0.8"])
    assert result.forecasts["step"].max() == 24
    assert "columns that are not forecasts: y" not in result.notes


def test_bounds_of_nixtla_beside_a_median() -> None:
    """NHITS has quantiles alone; GRU has the names of `to_nixtla`."""
    actuals = actuals_table()
    forecasts = our_table(actuals, CUTOFFS)[["cutoff", "timestamp"]].merge(
        actuals, left_on="timestamp", right_on="date"
    )
    columns = {"NHITS-lo-80": 0, "NHITS-median": 1, "NHITS-hi-80": 2, "GRU": 1, "GRU-median": 1, "GRU-q-0.3": 0}
    forecasts = forecasts.assign(**{name: forecasts["price"] + more for name, more in columns.items()})
    scores = forecast_attn.evaluate(forecasts.drop(columns=["date", "price"]), actuals, target="price").scores
    scores = scores.set_index("model").loc[["NHITS-median", "GRU"]]
    assert scores["mae"].tolist() == pytest.approx([1, 1])
    assert scores["width@0.8"].iloc[0] == pytest.approx(2)
    assert scores[["pinball@0.3", "pinball@0.5"]].notna().to_numpy().tolist() == [[False, False], [True, True]]


def test_predictions_of_a_run_are_scored(forecast, finished_run: Path, here: Path, make_table, write) -> None:
    table = make_table(123)
    data = write(table.iloc[:120], "history.csv")
    predicted = forecast("predict", finished_run, "--data", data, "--out", "p.csv", "--quiet")
    assert predicted.code == 0, predicted.err
    outcome = forecast("evaluate", "p.csv", "--actuals", write(table, "actuals.csv"), "--json")
    assert outcome.code == 0, outcome.err
    (network, naive) = json.loads(outcome.out)["scores"]
    assert (network["model"], naive["model"]) == ("p", "seasonal-naive")
    predictions = pd.read_csv("p.csv")
    error = predictions["prediction"].to_numpy() - table["target"].iloc[120:].to_numpy()
    assert network["mae"] == pytest.approx(np.abs(error).mean())
    assert network["rows"] == 3


# --------------------------------------------------------------------------- others'


def test_others_without_cutoffs_are_scored_stamp_by_stamp() -> None:
    actuals = actuals_table()
    result = forecast_attn.evaluate(others_table(actuals), actuals, target="price", metrics=["mae"])
    assert result.scores["model"].tolist() == ["LEAR 56", "DNN Ensemble"]
    assert "cutoff" not in result.forecasts
    assert (result.reference, len(result.tests)) == (None, 0)
    assert "--block 24" in result.notes[0]


@pytest.mark.parametrize("options", [{"block": 24}, {"season": 24}])
def test_blocks_are_forecasts_made_right_before_them(options: dict[str, int]) -> None:
    actuals = actuals_table()
    result = forecast_attn.evaluate(others_table(actuals), actuals, target="price", **options)
    first = result.forecasts.iloc[0]
    assert (first["timestamp"] - first["cutoff"], first["step"]) == (pd.Timedelta("1h"), 1)
    assert sorted(result.forecasts["step"].unique()) == list(range(1, 25))
    assert result.forecasts.groupby("model")["cutoff"].nunique().eq(20).all()
    errors = others_table(actuals).drop(columns="Date").to_numpy() - actuals["price"].tail(480).to_numpy()[:, None]
    daily = np.abs(errors).reshape(20, 24, 2).sum(axis=1)
    tests = result.tests.set_index(["model_a", "model_b", "test"])
    for name, test in (("DM", diebold_mariano), ("GW", giacomini_white)):
        expected = test(daily[:, 0], daily[:, 1])
        row = tests.loc[("LEAR 56", "DNN Ensemble", name)]
        np.testing.assert_allclose((row["statistic"], row["p_value"]), (expected.statistic, expected.p_value))
        assert row["better"] == "DNN Ensemble"


def by_hour(others: pd.DataFrame, model: str) -> pd.DataFrame:
    """One row per day and a column per hour, as epftoolbox writes the forecasts of one model."""
    days = others[model].to_numpy().reshape(-1, 24)
    frame = pd.DataFrame(days, columns=[f"h{hour}" for hour in range(24)])
    frame.insert(0, "Date", others["Date"].iloc[::24].str[:10].to_numpy())
    return frame


@pytest.mark.parametrize("time", ["Date", ""])
def test_a_column_per_hour_is_one_forecast_per_row(time: str, here: Path, write) -> None:
    actuals = actuals_table()
    others = others_table(actuals)
    files = [write(by_hour(others, name).rename(columns={"Date": time}), f"{name}.csv") for name in others.columns[1:]]
    result = forecast_attn.evaluate([Path(name) for name in files], actuals, target="price")
    long = forecast_attn.evaluate(others, actuals, target="price", block=24)
    pd.testing.assert_frame_equal(result.scores, long.scores)
    pd.testing.assert_frame_equal(result.tests, long.tests)
    assert result.notes[0] == "each row of 'LEAR 56.csv' is one forecast made right before it, h0 its first step"


def test_rows_that_overlap_are_forecasts_of_their_own() -> None:
    actuals = actuals_table()
    price = actuals["price"].to_numpy()
    rows = [1_200, 1_201, 1_210]
    frame = pd.DataFrame({"timestamp": actuals["date"].iloc[rows], "h0": price[rows] + 1, "h1": price[rows] + 2})
    scores = forecast_attn.evaluate(frame, actuals, target="price", metrics=["mae"], by="step").scores
    by_step = scores[scores["model"] == "DataFrame"].set_index("step")["mae"]
    second = np.abs(price[rows] + 2 - price[np.array(rows) + 1]).mean()
    assert by_step.tolist() == pytest.approx([1, second])


def test_the_actuals_among_the_forecasts_are_no_model() -> None:
    actuals = actuals_table()
    others = others_table(actuals)
    others.insert(1, "Real price", actuals["price"].tail(480).to_numpy())
    result = forecast_attn.evaluate(others, actuals, target="price", block=24)
    assert result.scores["model"].tolist() == ["LEAR 56", "DNN Ensemble", "seasonal-naive"]
    assert any(note.startswith("'Real price' equals the actual values") for note in result.notes)
    chosen = forecast_attn.evaluate(others, actuals, target="price", block=24, model_columns=["Real price", "LEAR 56"])
    assert chosen.scores["model"].tolist() == ["Real price", "LEAR 56", "seasonal-naive"]


def test_tables_that_do_not_go_together_are_refused() -> None:
    actuals = actuals_table()
    others, forecasts = others_table(actuals), our_table(actuals, CUTOFFS)
    with pytest.raises(DataError, match="both have a model 'LEAR 56'"):
        forecast_attn.evaluate([others, others], actuals, target="price")
    with pytest.raises(DataError, match="has no column cutoff; other tables have one"):
        forecast_attn.evaluate([others, forecasts], actuals, target="price")
    together = forecast_attn.evaluate([others, forecasts], actuals, target="price", block=24)
    assert together.scores["model"].tolist() == ["LEAR 56", "DNN Ensemble", "DataFrame", "seasonal-naive"]


def test_a_single_cutoff_has_scores_and_no_tests() -> None:
    actuals = actuals_table(series=("a", "b"))
    result = forecast_attn.evaluate(our_table(actuals, CUTOFFS[:1]), actuals, target="price", by="step")
    assert not len(result.tests)
    assert result.scores["rows"].sum() == 2 * 48


def test_model_columns_are_chosen_and_others_stay_out() -> None:
    actuals = actuals_table()
    table = others_table(actuals).assign(hour=1, remark="x")
    result = forecast_attn.evaluate(table, actuals, target="price", model_columns=["LEAR 56"], metrics=["mae"])
    assert result.scores["model"].tolist() == ["LEAR 56"]
    assert result.notes[0] == "columns that are not forecasts: DNN Ensemble, hour, remark"


def test_stamps_that_the_actuals_lack_are_named_and_counted() -> None:
    actuals = actuals_table()
    result = forecast_attn.evaluate(others_table(actuals), actuals.iloc[:-30], target="price", metrics=["mae"])
    assert result.scores["rows"].tolist() == [450, 450]
    assert result.scores["no_target"].tolist() == [30, 30]
    assert result.notes[-1] == (
        "the actuals of series 'a' lack 30 time stamps of the forecasts, the first 2024-02-28 18:00"
    )


def test_a_hole_in_the_actuals_is_no_error_of_anybody() -> None:
    actuals = actuals_table()
    holed = actuals.drop(index=[1300, 1301]).assign(price=lambda frame: frame["price"].where(frame.index != 1310))
    result = forecast_attn.evaluate(others_table(actuals), holed, target="price", block=24)
    assert result.scores["no_target"].tolist() == [3, 3, 3]
    assert result.scores["mae"].notna().all()
    assert result.tests["n"].tolist() == [20, 19] * 3


def test_the_order_of_rows_does_not_matter() -> None:
    actuals = actuals_table()
    others = others_table(actuals)
    sorted_scores, shuffled_scores = (
        forecast_attn.evaluate(each, actuals, target="price", block=24)
        for each in (others, others.sample(frac=1, random_state=0))
    )
    pd.testing.assert_frame_equal(sorted_scores.scores, shuffled_scores.scores)
    pd.testing.assert_frame_equal(sorted_scores.tests, shuffled_scores.tests)


def test_zones_are_joined_as_instants_and_grouped_by_the_clock_of_the_actuals() -> None:
    actuals = actuals_table().drop(columns="item_id")
    zoned = actuals.assign(date=actuals["date"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    others = others_table(actuals)
    others["Date"] = pd.to_datetime(others["Date"]).dt.strftime("%Y-%m-%d %H:%M:%S+00:00")
    result = forecast_attn.evaluate(others, zoned, target="price", metrics=["mae"], by="hour")
    plain = forecast_attn.evaluate(others_table(actuals), actuals, target="price", metrics=["mae"], by="hour")
    per_hour = [each.scores[each.scores["model"] == "LEAR 56"]["mae"].to_numpy() for each in (result, plain)]
    np.testing.assert_allclose(per_hour[0], np.roll(per_hour[1], 9))


def test_midnights_of_a_zone_do_not_overlap_though_a_day_has_23_hours() -> None:
    stamps = pd.date_range("2024-03-01", "2024-04-10", freq="h", tz="Europe/Berlin")
    actuals = pd.DataFrame({"date": stamps, "y": np.random.default_rng(0).normal(size=len(stamps))})
    parts = []
    for midnight in pd.date_range("2024-03-20", periods=15, freq="D", tz="Europe/Berlin"):
        rows = actuals[actuals["date"] >= midnight].head(24)
        part = pd.DataFrame({"timestamp": rows["date"], "cutoff": midnight - pd.Timedelta("1h")})
        parts.append(part.assign(prediction=rows["y"] + 0.5))
    result = forecast_attn.evaluate(pd.concat(parts), actuals)
    assert result.scores["rows"].tolist() == [360, 360]
    assert result.tests["lags"].tolist() == [0, 0]
    assert result.tests["p_value"].notna().all()
    assert str(result.forecasts["timestamp"].dtype) == "datetime64[ns, Europe/Berlin]"


def test_steps_as_a_time_axis() -> None:
    actuals = pd.DataFrame({"step": range(300), "y": np.arange(300.0) % 12})
    forecasts = pd.DataFrame({"step": range(200, 300), "m": 1.0})
    result = forecast_attn.evaluate(forecasts, actuals, block=10, season=12, by="step", metrics=["mae"])
    naive = result.scores[result.scores["model"] == "seasonal-naive"]
    assert naive["mae"].tolist() == [0] * 10
    assert result.tests["step"].dropna().unique().tolist() == list(range(1, 11))


def test_wide_actuals_and_a_file_that_names_the_model(here: Path, write) -> None:
    actuals = actuals_table(series=("a", "b"))
    wide = actuals.pivot(index="date", columns="item_id", values="price").reset_index()
    forecasts = write(our_table(actuals, CUTOFFS), "v1.2.csv")
    result = forecast_attn.evaluate(forecasts, write(wide, "wide.csv"), wide=True, by="item_id")
    long = forecast_attn.evaluate(forecasts, actuals, target="price", by="item_id")
    pd.testing.assert_frame_equal(result.scores, long.scores)
    assert result.scores["model"].tolist() == ["v1.2", "seasonal-naive"] * 2


# --------------------------------------------------------------------------- the command


def test_the_command_prints_scores_skill_and_tests(forecast, here: Path, write) -> None:
    actuals = actuals_table()
    forecasts, data = write(others_table(actuals), "forecasts.csv"), write(actuals, "actuals.csv")
    outcome = forecast("evaluate", forecasts, "--actuals", data, "--target", "price", "--block", 24)
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert lines[0].split()[:5] == ["model", "rows", "mae", "rmse", "bias"]
    assert [line.split("  ")[0] for line in lines[1:4]] == ["LEAR 56", "DNN Ensemble", "seasonal-naive"]
    assert "DNN Ensemble  LEAR 56         DM" in outcome.out
    assert lines[-1] == "skill: against seasonal-naive, 24 steps back"
    assert "every 24 steps count as one forecast" in outcome.err
    quiet = forecast("evaluate", forecasts, "--actuals", data, "--target", "price", "--block", 24, "--quiet")
    assert (quiet.out, quiet.err) == (outcome.out, "")


def test_json_and_files_hold_the_same(forecast, here: Path, write, files_in) -> None:
    actuals = actuals_table()
    words = ("evaluate", write(others_table(actuals), "f.csv"), "--actuals", write(actuals, "a.csv"))
    words = (*words, "--target", "price", "--season", 24, "--by", "weekday,hour", "--metrics", "mae,wape")
    outcome = forecast(*words, "--json", "--out", "scores.json")
    document = json.loads(outcome.out)
    assert document == json.loads(Path("scores.json").read_text())
    assert document["season"] == 24
    assert [row["step"] for row in document["tests"]] == [None] * 6
    assert len(document["scores"]) == 3 * 7 * 24
    assert {"model", "weekday", "hour", "rows", "mae", "wape"} <= set(document["scores"][0])
    assert forecast(*words, "--out", "scores.csv").code == 0
    written = pd.read_csv("scores.csv")
    np.testing.assert_allclose(written["mae"], [row["mae"] for row in document["scores"]])
    assert sorted(files_in()) == ["a.csv", "f.csv", "scores.csv", "scores.json"]


def test_actuals_are_read_as_training_reads_them(forecast, here: Path, write) -> None:
    actuals = actuals_table()
    words = ("evaluate", write(others_table(actuals), "f.csv"), "--target", "price", "--metrics", "mae", "--json")
    plain = forecast(*words, "--actuals", write(actuals, "a.csv"))
    titled = write("prices of a year\n" + actuals.to_csv(index=False) + "source: the exchange\n", "titled.csv")
    outcome = forecast(*words, "--actuals", titled, "--skip-rows", 1, "--skip-footer", 1)
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["scores"] == json.loads(plain.out)["scores"]


def test_parquet_and_stdin(forecast_process, here: Path, write) -> None:
    actuals = actuals_table()
    others_table(actuals).to_parquet("f.parquet")
    words = ("evaluate", "f.parquet", "--actuals", "-", "--target", "price", "--metrics", "mae", "--json")
    outcome = forecast_process(*words, input=actuals.to_csv(index=False))
    assert outcome.code == 0, outcome.err
    assert [row["rows"] for row in json.loads(outcome.out)["scores"]] == [480, 480]


@pytest.mark.parametrize(
    ("words", "message", "hint", "code"),
    [
        (("--metrics", "mae,rmes"), "there is no metric 'rmes'", "did you mean 'rmse'", 2),
        (("--by", "weakday"), "grouped by 'weakday'", "did you mean 'weekday'", 2),
        (("--reference", "DNN"), "no model 'DNN' to compare with", "DNN Ensemble", 2),
        (("--reference", "seasonal-naive"), "needs to know when the forecasts were made", "--block 24", 2),
        (("--norm", "2"), "--norm 2 is for tests", "--block 24", 2),
        (("--model-columns", "LEAR"), "has no column 'LEAR' .--model-columns.", "did you mean 'LEAR 56'", 1),
        (("--metrics", "coverage"), "'coverage' needs a symmetric pair of quantiles", "--quantiles", 2),
        (("--out", "scores.txt"), "neither .csv nor .json", "scores.csv", 2),
        (("--out", "f.csv"), "a file that is read", "another file", 2),
        (("--target", "prise"), "has no column 'prise'", "did you mean 'price'", 1),
    ],
)
def test_mistakes_are_told_with_what_to_type(refused, here, write, words, message, hint, code) -> None:
    actuals = actuals_table()
    given = ("evaluate", write(others_table(actuals), "f.csv"), "--actuals", write(actuals, "a.csv"))
    target = () if "--target" in words else ("--target", "price")
    refused(*given, *target, *words, message=message, hint=hint, code=code)


def test_forecasts_of_other_times_or_series_are_refused() -> None:
    actuals = actuals_table(series=("a", "b"))
    forecasts = our_table(actuals, CUTOFFS)
    later = forecasts.assign(timestamp=forecasts["timestamp"] + pd.Timedelta("9000D"), cutoff=forecasts["cutoff"])
    with pytest.raises(DataError, match=r"none of the time stamps.*they cover 2024-01-01 to 2024-02-29 23:00"):
        forecast_attn.evaluate(later, actuals, target="price")
    with pytest.raises(DataError, match="no series 'c', which 'DataFrame' forecasts"):
        forecast_attn.evaluate(forecasts.replace({"item_id": {"b": "c"}}), actuals, target="price")
    with pytest.raises(DataError, match="has no identifier column, and the actuals have 2"):
        forecast_attn.evaluate(forecasts.drop(columns="item_id"), actuals, target="price")
    with pytest.raises(DataError, match="two forecasts of 2024-02-11 made at 2024-02-10 23:00, series 'a'"):
        forecast_attn.evaluate(pd.concat([forecasts, forecasts.head(1)]), actuals, target="price")
    early = forecasts.assign(cutoff=forecasts["timestamp"])
    with pytest.raises(DataError, match="forecast of 2024-02-11 whose cut-off, 2024-02-11, is not before it"):
        forecast_attn.evaluate(early, actuals, target="price")
    with pytest.raises(DataError, match="column 'model' of 'DataFrame' is empty in row 2"):
        forecast_attn.evaluate(forecasts.assign(model=["m", None] * 192), actuals, target="price")
    with pytest.raises(ConfigError, match="there is no table of forecasts"):
        forecast_attn.evaluate([], actuals, target="price")
    with pytest.raises(DataError, match="holds whole numbers, the actuals dates"):
        forecast_attn.evaluate(forecasts.assign(timestamp=range(len(forecasts))), actuals, target="price")
    with pytest.raises(ConfigError, match="--block 24: 'DataFrame' has a column cutoff"):
        forecast_attn.evaluate(forecasts, actuals, target="price", block=24)
    with pytest.raises(ConfigError, match="there is no option 'horizon'"):
        forecast_attn.evaluate(forecasts, actuals, target="price", horizon=3)


def test_forecasts_between_the_steps_of_the_actuals_have_no_target() -> None:
    actuals = actuals_table()
    hours = our_table(actuals, CUTOFFS)
    both = pd.concat([hours, hours.assign(timestamp=hours["timestamp"] - pd.Timedelta("30min"))])
    result = forecast_attn.evaluate(both, actuals, target="price")
    assert result.scores[["rows", "no_target"]].to_numpy().tolist() == [[192, 192], [192, 192]]
    whole = forecast_attn.evaluate(hours, actuals, target="price")
    pd.testing.assert_frame_equal(result.tests, whole.tests)
    early = hours.assign(cutoff=(hours["cutoff"] - pd.Timedelta("30min")))
    assert forecast_attn.evaluate(early, actuals, target="price").forecasts["step"].max() == 25


def test_columns_that_cannot_be_told_apart_are_refused() -> None:
    actuals = actuals_table()
    forecasts = our_table(actuals, CUTOFFS)
    with pytest.raises(DataError, match="has no column of forecasts"):
        forecast_attn.evaluate(forecasts[["item_id", "cutoff", "timestamp", "step"]], actuals, target="price")
    with pytest.raises(DataError, match="column 'model' and several columns of forecasts"):
        others = forecasts.rename(columns={"prediction": "ETS"}).assign(model="m", ARIMA=1.0)
        forecast_attn.evaluate(others, actuals, target="price")
    with pytest.raises(DataError, match="column 'remark' of 'DataFrame' does not hold numbers"):
        forecast_attn.evaluate(forecasts.assign(remark="x"), actuals, target="price", model_columns=["remark"])


def test_dates_mean_what_they_mean_in_the_actuals() -> None:
    days = pd.date_range("2024-01-01", periods=300, freq="D")
    actuals = pd.DataFrame({"date": days.strftime("%d/%m/%Y"), "y": np.arange(300.0)})
    some = days[60:72]  # 1 to 12 March: both orders are dates
    forecasts = pd.DataFrame({"date": some.strftime("%d/%m/%Y"), "m": np.arange(60.0, 72.0)})
    result = forecast_attn.evaluate(forecasts, actuals, metrics=["mae"])
    assert result.scores["mae"].tolist() == [0]


# --------------------------------------------------------------------------- protocol D on real prices


def prices(real_data: Path) -> list[float]:
    with (real_data / "NP.csv").open(newline="") as file:
        return [float(row[3]) for row in list(csv.reader(file))[1:]]


FIRST_DAY = 1_456
"""2016-12-27 among the days from 2013-01-01 on; every day of the file has 24 hours."""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, real_data: Path) -> Path:
    """A file of the shape in which Lago et al. publish their forecasts, with errors drawn here."""
    truth = np.array(prices(real_data)[24 * FIRST_DAY :])
    assert len(truth) == 24 * 728
    rng = np.random.default_rng(0)
    stamps = pd.date_range("2016-12-27", periods=len(truth), freq="h").strftime("%Y-%m-%d %H:%M:%S")
    frame = pd.DataFrame({"": stamps, "Real price": truth})  # their first column has no name
    for name, size in (("LEAR 56", 2.0), ("LEAR Ensemble", 1.74), ("DNN Ensemble", 1.68)):
        frame[name] = (truth + rng.laplace(0, size, len(truth))).round(3)
    path = tmp_path_factory.mktemp("published") / "Forecasts_NP.csv"
    frame.to_csv(path, index=False)
    return path


def test_protocol_d_on_nord_pool(forecast, published: Path, real_data: Path) -> None:
    words = ("evaluate", published, "--actuals", real_data / "NP.csv", "--block", 24, "--season", 24)
    outcome = forecast(*words, "--json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    scores = {row["model"]: row for row in document["scores"]}
    assert all(row["rows"] == 17_472 for row in scores.values())

    # Seasonal-naive day by day from the file itself: yesterday's prices.
    price = prices(real_data)
    errors = [
        abs(price[24 * day + hour] - price[24 * (day - 1) + hour])
        for day in range(FIRST_DAY, FIRST_DAY + 728)
        for hour in range(24)
    ]
    assert scores["seasonal-naive"]["mae"] == pytest.approx(math.fsum(errors) / len(errors), rel=1e-12)

    # LEAR against DNN as the papers do: MAE, and both tests on the norms of the days.
    frame = pd.read_csv(published)
    truth = np.array(price[24 * FIRST_DAY :])
    daily = {name: np.abs(frame[name] - truth).to_numpy().reshape(728, 24).sum(axis=1) for name in frame.columns[2:]}
    for name, losses in daily.items():
        assert scores[name]["mae"] == pytest.approx(losses.sum() / 17_472, rel=1e-12)
    tests = {(row["model_a"], row["model_b"], row["test"]): row for row in document["tests"]}
    for label, test in (("DM", diebold_mariano), ("GW", giacomini_white)):
        expected = test(daily["LEAR Ensemble"], daily["DNN Ensemble"])
        row = tests["LEAR Ensemble", "DNN Ensemble", label]
        assert row["better"] == "DNN Ensemble"
        np.testing.assert_allclose(
            (row["statistic"], row["p_value"]), (expected.statistic, expected.p_value), rtol=1e-7
        )
