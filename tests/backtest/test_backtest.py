"""Forecasts of a backtest against single predictions, its actuals and its scores against the table."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster, read_attention
from forecast_attn.backtest.backtest_options import BacktestOptions
from forecast_attn.backtest.backtest_plan import plan_backtest
from forecast_attn.backtest.backtest_result import BacktestResult
from forecast_attn.backtest.backtest_scores import score_backtest
from forecast_attn.errors import ConfigError, DataError, RunError
from forecast_attn.evaluation.significance import compare_models
from forecast_attn.runs.run_dir import RunDir

pytestmark = pytest.mark.slow

HORIZON = 3
QUANTILES = ["0.1", "0.5", "0.9"]


@pytest.fixture(scope="module")
def result(shop_run: Path, tmp_path_factory: pytest.TempPathFactory) -> BacktestResult:
    """Every third day from the end of training on."""
    folder = tmp_path_factory.mktemp("result")
    return Forecaster.load(shop_run).backtest(out=folder / "bt.parquet", attention_out=folder / "attention.parquet")


def cut(sales: pd.DataFrame, cutoff: pd.Timestamp) -> pd.DataFrame:
    """What is known at a cut-off: nothing later but the promotions of the horizon."""
    ahead = sales["day"] <= cutoff + pd.Timedelta(days=HORIZON)
    return sales[ahead].assign(sales=sales["sales"].where(sales["day"] <= cutoff))


def test_it_equals_a_loop_of_single_predictions_bit_for_bit(
    shop_run: Path, result: BacktestResult, sales: pd.DataFrame
) -> None:
    forecaster = Forecaster.load(shop_run)
    selected = result.frame[result.frame["model"] == "run"]
    assert selected["cutoff"].nunique() > 10
    compared = 0
    for cutoff, rows in selected.groupby("cutoff"):
        for shop, expected in rows.groupby("item_id"):
            history = cut(sales[sales["shop"] == shop], cutoff)
            predictions = forecaster.predict(history).predictions
            assert predictions["timestamp"].tolist() == expected["timestamp"].tolist()
            for name in ("prediction", *QUANTILES):
                assert predictions[name].to_numpy().tobytes() == expected[name].to_numpy().tobytes(), (
                    cutoff,
                    shop,
                    name,
                )
            compared += 1
    assert compared == len(selected) / HORIZON
    assert selected["item_id"].nunique() == 2


def test_weights_are_those_of_the_single_prediction(
    shop_run: Path, result: BacktestResult, sales: pd.DataFrame
) -> None:
    attention = read_attention(result.path.with_name("attention.parquet"))
    assert len(attention.weights) == len(result.frame[result.frame["model"] == "run"]) / HORIZON
    frame = attention.to_frame()
    cutoff = frame["cutoff"].unique()[4]
    history = cut(sales[sales["shop"] == "north"], cutoff)
    single = Forecaster.load(shop_run).predict(history).attention
    assert single is not None
    chosen = (frame["cutoff"] == cutoff) & (frame["item_id"] == "north")
    assert frame[chosen]["weight"].to_numpy().tobytes() == single.to_frame()["weight"].to_numpy().tobytes()


def test_rows_are_tidy_and_hold_what_came(result: BacktestResult, sales: pd.DataFrame) -> None:
    frame = result.frame
    assert list(frame.columns) == [
        "item_id",
        "cutoff",
        "timestamp",
        "step",
        "target",
        "prediction",
        *QUANTILES,
        "model",
    ]
    assert list(frame["model"].unique()) == ["run", "naive", "seasonal-naive", "mean", "median", "drift", "linear"]
    assert not frame.duplicated(["model", "item_id", "cutoff", "step"]).any()
    assert (frame["timestamp"] - frame["cutoff"] == pd.to_timedelta(frame["step"], "D")).all()
    truth = sales.rename(columns={"shop": "item_id", "day": "timestamp"})
    joined = frame.merge(truth, on=["item_id", "timestamp"], how="left")
    assert joined["target"].tolist() == joined["sales"].tolist()
    assert frame[frame["model"] != "run"][QUANTILES].isna().all().all()
    assert frame[frame["model"] == "run"][QUANTILES].notna().all().all()
    pd.testing.assert_frame_equal(pd.read_parquet(result.path), frame)


def test_cutoffs_begin_at_the_end_of_training_a_horizon_apart(result: BacktestResult) -> None:
    """The last 40 of 110 days are validation: 70 days up to 2024-03-10 were trained on."""
    folds = result.folds
    assert folds["cutoff"].iloc[0] == pd.Timestamp("2024-03-10")
    assert (folds["cutoff"].diff().dropna() == pd.Timedelta(days=HORIZON)).all()
    assert folds["last"].iloc[-1] <= pd.Timestamp("2024-04-19")
    assert (folds["trained_until"] == pd.Timestamp("2024-03-10")).all()
    # The second series ends 2024-04-14: the cut-offs of its last days have no whole horizon.
    whole = folds["last"] <= pd.Timestamp("2024-04-14")
    assert folds["series"].tolist() == [2 if each else 1 for each in whole]
    assert result.left_out == {"horizon": int((~whole).sum())}


def test_scores_are_those_of_the_rows(result: BacktestResult, sales: pd.DataFrame) -> None:
    selected = result.frame[result.frame["model"] == "run"]
    scores = result.metrics.set_index("model")
    error = (selected["prediction"] - selected["target"]).to_numpy()
    assert scores.loc["run", "mae"] == pytest.approx(np.abs(error).mean())
    assert scores.loc["run", "rmse"] == pytest.approx(np.sqrt((error**2).mean()))
    inside = (selected["target"] >= selected["0.1"]) & (selected["target"] <= selected["0.9"])
    assert scores.loc["run", "coverage@0.8"] == pytest.approx(inside.mean())
    value = sales.set_index(["shop", "day"])["sales"]
    week_before = [
        value[shop, day - pd.Timedelta(days=7)]
        for shop, day in zip(selected["item_id"], selected["timestamp"], strict=True)
    ]
    naive = np.abs(np.array(week_before) - selected["target"].to_numpy()).mean()
    assert scores.loc["seasonal-naive", "mae"] == pytest.approx(naive)
    best = result.scores.best_baseline
    assert best == scores.loc[scores.index != "run", "mae"].idxmin()
    assert scores.loc["run", "skill_per_cent"] == pytest.approx(
        100 * (1 - np.abs(error).mean() / scores.loc[best, "mae"])
    )
    trained = sales[sales["day"] <= pd.Timestamp("2024-03-10")]
    scale = {shop: rows["sales"].diff(7).abs().mean() for shop, rows in trained.groupby("shop")}
    assert scores.loc["run", "mase"] == pytest.approx((np.abs(error) / selected["item_id"].map(scale)).mean())
    tests, skills = result.scores.tests, result.scores.skills.set_index("baseline")["skill_per_cent"]
    assert set(tests["test"]) == {"DM", "GW"}
    overall = result.scores.overall.set_index("model")
    name = overall.index[0]
    assert set(skills.index) == set(overall.index[1:])
    for baseline in skills.index:
        selected = tests[(tests["model_a"] == name) & (tests["model_b"] == baseline)]
        assert selected["step"].isna().sum() == 2, "DM and GW of all steps together"
        np.testing.assert_allclose(
            skills[baseline], 100 * (1 - overall.loc[name, "mae"] / overall.loc[baseline, "mae"]), rtol=1e-9
        )
    steps = result.scores.by_step
    assert steps[steps["model"] == "run"]["mae"].mean() == pytest.approx(scores.loc["run", "mae"])


def test_scores_do_not_depend_on_the_parts_that_are_read(
    shop_run: Path, result: BacktestResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    backtest = plan_backtest(RunDir(shop_run), None, BacktestOptions(by=("item_id",)))
    models, frame, expected = result.rows.models, result.frame, result.scores
    most = 11 * len(models)  # which ends within windows, and within cut-offs
    monkeypatch.setattr("forecast_attn.backtest.forecast_rows.ROWS_AT_ONCE", most)
    parts = list(result.rows.parts())
    assert max(map(len, parts)) == most
    assert sum(map(len, parts)) == len(frame)
    scores = score_backtest(parts, backtest)
    pd.testing.assert_frame_equal(scores.overall, expected.overall, check_exact=True)
    pd.testing.assert_frame_equal(scores.by_step, expected.by_step, check_exact=True)
    pd.testing.assert_frame_equal(scores.skills, expected.skills, check_exact=True)
    pd.testing.assert_frame_equal(scores.tests, expected.tests, rtol=1e-12)
    pairs = [frame[frame["model"].isin(["run", name])] for name in models[1:]]
    of_the_whole = pd.concat([compare_models(pair, by_step=True) for pair in pairs], ignore_index=True)
    pd.testing.assert_frame_equal(expected.tests, of_the_whole, check_exact=True)


def test_rows_are_read_from_their_file_and_from_no_other(shop_run: Path, tmp_path: Path) -> None:
    options = {"cutoffs": 2, "baselines": "none", "metrics": ["mae"]}
    result = Forecaster.load(shop_run).backtest(**options)  # in a temporary file, whose Forecaster is gone
    first = Forecaster.load(shop_run).backtest(**options, out=tmp_path / "bt.parquet")
    assert repr(first).startswith("<BacktestResult: 2 cut-offs of ")
    Forecaster.load(shop_run).backtest(cutoffs=1, baselines="none", out=tmp_path / "bt.parquet")
    with pytest.raises(RunError, match="not the file that the backtest wrote"):
        _ = first.frame
    assert result.frame["cutoff"].nunique() == 2


def test_the_document_beside_it_says_what_the_rows_say(result: BacktestResult) -> None:
    content = json.loads(result.path.with_suffix(".json").read_text())
    scores = {entry["model"]: entry["mae"] for entry in content["metrics"]}
    assert scores == pytest.approx(dict(zip(result.metrics["model"], result.metrics["mae"], strict=True)))
    assert len(content["folds"]) == len(result.folds)
    assert content["folds"][0]["cutoff"] == "2024-03-10"
    assert content["left_out"] == result.left_out
    assert sorted(path.name for path in result.path.parent.iterdir()) == ["attention.parquet", "bt.json", "bt.parquet"]


def test_several_parts_make_the_same_rows(
    shop_run: Path, result: BacktestResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forecast_attn.backtest.job.ROWS_PER_PART", 1)
    monkeypatch.setattr("forecast_attn.backtest.job.BATCH_SIZE", 5)
    in_parts = Forecaster.load(shop_run).backtest(out=tmp_path / "bt.csv", by=["item_id"], metrics=["mae"])
    frame = pd.read_csv(tmp_path / "bt.csv", parse_dates=["cutoff", "timestamp"])
    pd.testing.assert_frame_equal(frame, result.frame, check_dtype=False, rtol=1e-9)
    pd.testing.assert_frame_equal(in_parts.frame, result.frame)
    assert in_parts.scores.by is not None
    assert list(in_parts.scores.by["item_id"].unique()) == ["north", "south"]
    assert "rmse" not in in_parts.metrics


def test_another_table_is_forecast_without_series_that_training_did_not_see(
    shop_run: Path, sales: pd.DataFrame, tmp_path: Path
) -> None:
    other = pd.concat([sales, sales[sales["shop"] == "north"].assign(shop="west")])
    result = Forecaster.load(shop_run).backtest(other, cutoffs=4, stride=1, out=tmp_path / "bt.parquet", baselines=[])
    assert result.frame["item_id"].unique().tolist() == ["north"]  # the other one ends five days earlier
    assert len(result.frame) == 4 * HORIZON
    assert "west" in json.loads((tmp_path / "bt.json").read_text())["unseen_series"]
    with pytest.raises(DataError, match="not seen in training: series 'west'"):
        Forecaster.load(shop_run).backtest(other[other["shop"] == "west"], cutoffs=4)


def test_filled_values_are_no_actuals_and_interpolated_holes_no_cutoffs(
    sales: pd.DataFrame, options: dict, tmp_path: Path
) -> None:
    north = sales[sales["shop"] == "north"].reset_index(drop=True)
    holes = north.assign(sales=north["sales"].mask(north.index.isin([90, 91, 97])))
    for missing, cutoffs_lost in (("interpolate", 3), ("ffill", 0), ("mask", 0)):
        run = tmp_path / missing
        Forecaster(**{**options, "max_epochs": 1, "missing": missing, "validation": 25}).fit(holes, out=run)
        result = Forecaster.load(run).backtest(holes, cutoffs=20, stride=1, baselines=["naive"], out=run / "bt.parquet")
        assert len(result.folds) == 20 - cutoffs_lost
        target = result.frame[result.frame["model"] == missing].groupby("timestamp")["target"].first()
        hidden = set(north["day"][[90, 91, 97]])
        assert set(target[target.isna()].index) == hidden & set(target.index)
        assert not hidden & set(result.folds["cutoff"]) or not cutoffs_lost


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"cutoffs": 3, "start": "2024-04-01"}, ConfigError, "--cutoffs counts back"),
        ({"cutoffs": 0}, ConfigError, "--cutoffs must be at least 1"),
        ({"cutoffs": 500}, DataError, "the data has 36 cut-offs of that stride; --cutoffs asks for 500"),
        ({"start": "2025-01-01"}, DataError, "the last one begins at 2024-04-17"),
        ({"start": "soon"}, ConfigError, "--start 'soon': it is not a date"),
        ({"start": "2024-01-05", "end": "2024-01-08"}, DataError, "no series can be forecast at 2 cut-offs"),
        ({"stride": "3x"}, ConfigError, "--stride has no unit 'x'"),
        ({"stride": "0"}, ConfigError, "--stride must be"),
        ({"refit": "sometimes"}, ConfigError, "--refit must be never, every"),
        ({"refit_epochs": 2}, ConfigError, "--refit-epochs is for refits"),
        ({"refit": 1, "refit_epochs": 0}, ConfigError, "--refit-epochs must be at least 1"),
        ({"metrics": ["maee"]}, ConfigError, "there is no metric 'maee'"),
        ({"metrics": ["rmae"], "baselines": []}, ConfigError, "the metric 'rmae' needs"),
        ({"by": ["colour"]}, ConfigError, "cannot be grouped by 'colour'"),
        ({"baselines": ["prophet"]}, ConfigError, "there is no baseline 'prophet'"),
        ({"name": "naive"}, ConfigError, "the model cannot be called 'naive'"),
        ({"attention_top": 3}, ConfigError, "are for a file of attention"),
        ({"out": "bt.xlsx"}, ConfigError, "neither .parquet nor .csv"),
        ({"out": "no/such/bt.parquet"}, RunError, "cannot write 'no/such/bt.parquet'"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(shop_run: Path, here: Path, keywords: dict, error: type, message: str) -> None:
    with pytest.raises(error, match=message.replace(".", r"\.").replace("'", ".")):
        Forecaster.load(shop_run).backtest(**keywords)
    assert not list(here.iterdir())


def test_the_recorded_table_must_be_the_same(
    shop_run: Path, tmp_path: Path, sales: pd.DataFrame, without_manifest: Callable
) -> None:
    shutil.copytree(shop_run, tmp_path / "run")
    without_manifest(tmp_path / "run")
    content = json.loads((tmp_path / "run" / "config.json").read_text())
    sales[1:].to_csv(tmp_path / "other.csv", index=False)
    content["data"]["file"] = str(tmp_path / "other.csv")
    (tmp_path / "run" / "config.json").write_text(json.dumps(content))
    with pytest.raises(RunError, match="is not the table that") as caught:
        Forecaster.load(tmp_path / "run").backtest()
    assert "--data FILE" in str(caught.value.hint)


def test_recorded_forecasts_that_changed_are_refused_until_they_are_named(
    forecast: Callable, write: Callable, make_table: Callable, small: tuple[str, ...]
) -> None:
    """A backtest of new rows reads the run's table of forecasts, too, which nobody but the run has named."""
    data = make_table()
    issued = data[["date", "temperature"]].assign(issued_at="2023-01-01")
    for table, name in ((data, "data.csv"), (issued, "issued.csv")):
        write(table, name)
    assert forecast("train", "data.csv", "--vintages", "issued.csv", *small, "--out", "run", "--quiet").code == 0
    backtest = ("backtest", "run", "--data", "data.csv", "--cutoffs", 2, "--baselines", "naive")
    assert forecast(*backtest).code == 0
    write(issued.assign(temperature=issued["temperature"] + 9), "issued.csv")
    for command in (backtest, ("backtest", "run", "--cutoffs", 2)):
        refused = forecast(*command)
        assert refused.code == 1
        assert refused.error == "'issued.csv' is not the table that 'run' was started with"
        assert refused.hint == "forecast backtest run --data FILE --vintages FILE"
        assert forecast(*command, "--vintages", "issued.csv", "--baselines", "naive").code == 0


def test_the_command_says_the_folds_first(shop_run: Path, forecast: Callable, here: Path) -> None:
    dry = forecast("backtest", shop_run, "--cutoffs", 4, "--stride", 2, "--refit", 2, "--dry-run")
    assert dry.code == 0, dry.err
    assert "refit 2" in dry.out
    assert "left out: 3 windows: the series ends before the horizon does" in dry.out
    assert "4 cut-offs, 5 windows, 2 refits" in dry.out
    assert not list(here.iterdir())
    early = forecast("backtest", shop_run, "--start", "2024-03-01", "--stride", "7D", "--out", "bt.parquet", "--json")
    assert early.code == 0, early.err
    assert "WARNING: 2 of 7 cut-offs lie inside the stretch" in early.err
    assert early.err.index("cut-off") < early.err.index("forecast 14 of 14 windows")
    assert json.loads(early.out)["inside_training"] == 2
    shown = forecast("backtest", shop_run, "--cutoffs", 5, "--out", "bt.parquet", "--quiet")
    assert shown.code == 0
    assert shown.err == ""
    assert "seasonal-naive" in shown.out
    assert "MAE by step\n" in shown.out


def test_a_table_of_some_of_the_steps_says_of_how_many() -> None:
    from forecast_attn.cli.backtest_display import steps_heading, steps_shown

    few, many = steps_shown([1, 2, 3]), steps_shown(list(range(1, 25)))
    assert (few, steps_heading(few, 3)) == ([1, 2, 3], "MAE by step")
    assert many == [1, 2, 3, 4, 5, 13, 23, 24]
    assert steps_heading(many, 24) == "MAE by step (8 of 24; --json has all)"


def test_the_command_refuses_what_belongs_to_its_other_use(shop_run: Path, forecast: Callable, here: Path) -> None:
    assert forecast("backtest", shop_run, "--lookback", 7).error.startswith("--lookback is for training")
    assert forecast("backtest", "nowhere").error == "there is no run or table 'nowhere'"
    Path("t.csv").write_text("day,y\n2024-01-01,1\n")
    assert "--data names another one" in forecast("backtest", "t.csv", "--data", "t.csv").error
    assert (
        "there is no cut-off to begin with" in forecast("backtest", shop_run.parent / "sales.csv", "--id", "shop").error
    )
    file = shop_run / "metrics.parquet"
    assert "belongs to a run" in forecast("backtest", shop_run, "--cutoffs", 2, "--out", file).error


@pytest.mark.parametrize("holes", [[], [40, 90, 91]])
def test_a_market_that_was_closed_on_days_of_one_year_only(forecast, small, write, holes) -> None:
    """Closed days that came once are none by themselves; the table of a run is read as it was in training."""
    opened = pd.bdate_range("2023-01-02", periods=300)
    opened = opened.delete([30, 71, 100, 133, 180, 220, 250])
    table = pd.DataFrame({"date": opened, "close": 50 + np.sin(np.arange(len(opened)) / 3)})
    table.loc[holes, "close"] = np.nan
    table = write(table)
    assert forecast("train", table, *small, "--out", "run").code == 0
    assert "closed 2023" in Path("run/schema.json").read_text()
    for words in (("backtest", "run", "--out", "scores.csv"), ("plot", "run", "--png", "picture.png")):
        done = forecast(*words)
        assert done.code == 0, done.err
    scored = pd.read_csv("scores.csv")["timestamp"]
    assert set(scored) <= {f"{day:%Y-%m-%d}" for day in opened}  # no forecast of a closed day
