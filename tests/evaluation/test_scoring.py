"""Metrics of a tidy table: by hand, against utilsforecast and scikit-learn, and what must hold of any table."""

import math
import re

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
import utilsforecast.losses as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.errors import ConfigError
from forecast_attn.evaluation.scoring import METRICS, RunningScores, score, scores_to_records

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
NAN = math.nan


def table_of(
    windows: int = 8, horizon: int = 6, models: tuple[str, ...] = ("a", "b"), seed: int = 0, quantiles: bool = True
) -> pd.DataFrame:
    """Two series, cut-offs every `horizon` hours, several models with quantiles."""
    rng = np.random.default_rng(seed)
    parts = []
    for model in models:
        for item_id in ("x", "y"):
            cutoffs = pd.date_range("2024-01-05 22:00", periods=windows, freq=f"{horizon}h")
            steps = np.tile(np.arange(1, horizon + 1), windows)
            cutoff = cutoffs.repeat(horizon)
            target = np.random.default_rng(len(item_id) + windows).normal(20, 5, len(steps))
            prediction = target + rng.normal(0.5, 2, len(steps))
            part = pd.DataFrame(
                {"item_id": item_id, "cutoff": cutoff, "timestamp": cutoff + steps * pd.Timedelta("1h")}
            )
            part = part.assign(step=steps, target=target, prediction=prediction, model=model)
            for quantile in QUANTILES if quantiles else ():
                part[f"{quantile:g}"] = prediction + 4 * (quantile - 0.5)
            parts.append(part)
    return pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("by", ["overall", "step", ("item_id", "weekday"), "cutoff"])
@pytest.mark.slow
def test_parts_have_the_bits_of_the_whole(by: str | tuple[str, ...]) -> None:
    whole = table_of(windows=30, models=("b", "a"))
    whole.loc[::7, "target"], whole.loc[3::11, "prediction"] = NAN, NAN
    scales = pd.DataFrame({"mae": [2.0, 3.0], "rmse": [4.0, NAN]}, index=["x", "y"])
    expected = score(whole, by=by, scales=scales, baseline="a")
    rows = len(whole) // 2
    error = (whole["prediction"] - whole["target"]).abs().to_numpy()[rows:]
    scores = RunningScores(by=by, scales=scales)
    for first in range(0, rows, 50):
        part = np.arange(first, min(first + 50, rows))
        scores.add(whole.iloc[np.concatenate([part, rows + part])], np.tile(error[part], 2))
    pd.testing.assert_frame_equal(scores.table(), expected, check_exact=True)


def test_by_hand() -> None:
    frame = pd.DataFrame(
        {
            "item_id": "s",
            "target": [2.0, 4.0, 0.0, NAN],
            "prediction": [3.0, 2.0, 1.0, 9.0],
            "0.1": [1.0, 1.0, 0.5, 0.0],
            "0.9": [5.0, 3.0, 2.0, 9.0],
            "model": "m",
        }
    )
    scales = pd.DataFrame({"mae": [2.0], "rmse": [4.0]}, index=["s"])
    (row,) = score(frame, scales=scales).to_dict("records")
    assert (row["rows"], row["no_target"], row["no_forecast"]) == (3, 1, 0)
    expected = {
        "mae": (1 + 2 + 1) / 3,
        "rmse": math.sqrt((1 + 4 + 1) / 3),
        "bias": (1 - 2 + 1) / 3,
        "mape": (1 / 2 + 2 / 4) / 2,
        "smape": (2 * 1 / 5 + 2 * 2 / 6 + 2 * 1 / 1) / 3,
        "wape": 4 / 6,
        "mase": 4 / 3 / 2,
        "rmsse": math.sqrt(6 / 3) / 4,
        "pinball@0.1": (0.1 * 1 + 0.1 * 3 + 0.9 * 0.5) / 3,
        "pinball@0.9": (0.1 * 3 + 0.9 * 1 + 0.1 * 2) / 3,
        "coverage@0.8": 1 / 3,
        "width@0.8": (4 + 2 + 1.5) / 3,
        "winkler@0.8": (4 + (2 + 10 * 1) + (1.5 + 10 * 0.5)) / 3,
    }
    for name, value in expected.items():
        assert row[name] == pytest.approx(value, rel=1e-12), name
    both = (expected["pinball@0.1"] + expected["pinball@0.9"]) / 2
    assert row["crps"] == pytest.approx(2 * both)
    assert row["wql"] == pytest.approx(2 * both * 3 / 6)
    assert (row["mape_left_out"], row["smape_left_out"], row["mase_left_out"]) == (1, 0, 0)


def test_rows_without_a_denominator_are_left_out_and_counted() -> None:
    frame = pd.DataFrame(
        {"item_id": list("aab"), "target": [0.0, 0.0, 5.0], "prediction": [0.0, 1.0, 6.0], "model": "m"}
    )
    scales = pd.DataFrame({"mae": [NAN, 2.0], "rmse": [NAN, 2.0]}, index=["a", "b"])
    (row,) = score(frame, ["mape", "smape", "mase", "rmsse"], scales=scales).to_dict("records")
    assert (row["mape"], row["mape_left_out"]) == (0.2, 2)
    assert (row["smape"], row["smape_left_out"]) == ((2 + 2 / 11) / 2, 1)
    assert (row["mase"], row["mase_left_out"]) == (0.5, 2)
    assert (row["rmsse"], row["rmsse_left_out"]) == (0.5, 2)


def test_no_target_but_zeros_has_no_wape() -> None:
    frame = pd.DataFrame({"target": [0.0, 0.0], "prediction": [1.0, 1.0], "model": "m"})
    scores = score(frame, ["wape", "mape"])
    assert scores[["wape", "mape"]].isna().all(axis=None)
    assert scores_to_records(scores)[0]["wape"] is None


@pytest.mark.slow
def test_agrees_with_utilsforecast() -> None:
    frame, train = table_of(models=("m",)), history()
    scores = score(frame, by="item_id", scales=scales_of(train)).set_index("item_id")
    wide = frame.rename(columns={"item_id": "unique_id", "target": "y", "prediction": "m", "timestamp": "ds"})
    wide = wide.rename(columns={"0.1": "m-lo-80", "0.9": "m-hi-80"}).drop(columns=["cutoff", "model", "step"])
    columns = {0.1: "m-lo-80", 0.9: "m-hi-80"}
    quantiles = {"m": [columns.get(quantile, f"{quantile:g}") for quantile in QUANTILES]}
    others = {
        "mae": reference.mae(wide, ["m"]),
        "rmse": reference.rmse(wide, ["m"]),
        "bias": reference.bias(wide, ["m"]),
        "mape": reference.mape(wide, ["m"]),
        "wape": reference.nd(wide, ["m"]),
        "mase": reference.mase(wide, ["m"], 24, train),
        "rmsse": reference.rmsse(wide, ["m"], 24, train),
        "pinball@0.1": reference.quantile_loss(wide, {"m": "m-lo-80"}, 0.1),
        "wql": reference.scaled_crps(wide, quantiles, np.array(QUANTILES)),
        "coverage@0.8": reference.coverage(wide, ["m"], 80),
        "winkler@0.8": reference.winkler_score(wide, ["m"], 80),
    }
    for name, other in others.items():
        np.testing.assert_allclose(scores[name], other.set_index("unique_id")["m"].loc[scores.index], rtol=1e-9)
    # Theirs goes from 0 to 1, ours as in the M4 competition from 0 to 2.
    np.testing.assert_allclose(scores["smape"], 2 * reference.smape(wide, ["m"])["m"], rtol=1e-12)
    mean = reference.mqloss(wide, quantiles, np.array(QUANTILES))["m"]
    np.testing.assert_allclose(scores["crps"], 2 * mean, rtol=1e-12)


def history() -> pd.DataFrame:
    rng, stamps = np.random.default_rng(9), pd.date_range("2023-12-01", periods=400, freq="h")
    return pd.concat(
        [pd.DataFrame({"unique_id": name, "ds": stamps, "y": rng.normal(20, 5, 400)}) for name in ("x", "y")]
    )


def scales_of(train: pd.DataFrame) -> pd.DataFrame:
    from forecast_attn.baselines.scales import insample_scales
    from forecast_attn.config.options import DataConfig
    from forecast_attn.evaluation.actuals import read_actuals

    panel = read_actuals(train, DataConfig())
    return insample_scales(panel, panel.ends, 24)


def test_agrees_with_scikit_learn() -> None:
    frame = table_of(models=("m",))
    (row,) = score(frame).to_dict("records")
    target, prediction = frame["target"], frame["prediction"]
    assert row["mae"] == pytest.approx(sklearn.metrics.mean_absolute_error(target, prediction), rel=1e-12)
    assert row["rmse"] == pytest.approx(sklearn.metrics.root_mean_squared_error(target, prediction), rel=1e-12)
    assert row["mape"] == pytest.approx(sklearn.metrics.mean_absolute_percentage_error(target, prediction))
    for quantile in QUANTILES:
        other = sklearn.metrics.mean_pinball_loss(target, frame[f"{quantile:g}"], alpha=quantile)
        assert row[f"pinball@{quantile:g}"] == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("by", ["step", "item_id", "cutoff", "hour", "weekday", ("step", "item_id")])
@pytest.mark.slow
def test_groups_are_those_of_a_loop(by: str | tuple[str, ...]) -> None:
    frame = table_of()
    names = [by] if isinstance(by, str) else list(by)
    stamps = frame["timestamp"].dt
    keyed = frame.assign(hour=stamps.hour, weekday=stamps.day_name())
    scores = score(frame, ["mae"], by)
    assert list(scores.columns) == ["model", *names, "rows", "no_target", "no_forecast", "mae"]
    for row in scores.to_dict("records"):
        group = keyed[(keyed[["model", *names]] == [row["model"], *(row[name] for name in names)]).all(axis=1)]
        assert row["rows"] == len(group)
        assert row["mae"] == pytest.approx((group["prediction"] - group["target"]).abs().mean())
    assert scores["rows"].sum() == len(frame)


def test_hours_are_those_of_the_zone_and_weekdays_in_order() -> None:
    frame = table_of(models=("m",))
    berlin = frame.assign(timestamp=frame["timestamp"].dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo"))
    utc_scores, berlin_scores = (score(each, ["mae"], "hour").set_index("hour")["mae"] for each in (frame, berlin))
    np.testing.assert_allclose(berlin_scores.to_numpy(), np.roll(utc_scores.to_numpy(), 9))
    assert score(frame, ["mae"], "weekday")["weekday"].tolist() == ["Friday", "Saturday", "Sunday"]


def test_rmae_compares_on_the_rows_of_both() -> None:
    frame = table_of()
    frame.loc[(frame["model"] == "b") & (frame["step"] > 2), "prediction"] = NAN
    first, second = score(frame, ["mae", "rmae"], baseline="b").to_dict("records")
    early = score(frame[frame["step"] <= 2], ["mae"])["mae"]
    assert first["rmae"] == pytest.approx(early[0] / early[1])
    assert first["rmae_left_out"] == 64
    assert (second["rmae"], second["no_forecast"], second["rmae_left_out"]) == (1.0, 64, 0)


def test_a_model_without_quantiles_has_no_scores_of_quantiles() -> None:
    frame = table_of()
    frame.loc[frame["model"] == "b", [f"{quantile:g}" for quantile in QUANTILES]] = NAN
    scores = score(frame).set_index("model")
    assert math.isnan(scores.loc["b", "crps"])
    assert math.isnan(scores.loc["b", "coverage@0.8"])
    assert scores.loc["a", "crps"] > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metrics": ["mea"]}, "no metric 'mea'.*did you mean 'mae'"),
        ({"metrics": ["mase"]}, "'mase' needs the scale of each series"),
        ({"metrics": ["rmae"]}, "'rmae' needs a model to compare with"),
        ({"metrics": ["crps"]}, "'crps' needs columns of quantiles"),
        ({"metrics": ["coverage"]}, "'coverage' needs a symmetric pair of quantiles"),
        ({"by": "weekdays"}, "grouped by 'weekdays'.*did you mean 'weekday'"),
        ({"baseline": "bb"}, "no model 'bb' to compare with.*did you mean 'b'"),
    ],
)
def test_what_is_not_there_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        score(table_of(quantiles=False), **options)  # type: ignore[arg-type]
    assert re.search(words, str(caught.value).replace("\n", " ")), str(caught.value)


def test_no_hours_on_a_time_axis_of_numbers() -> None:
    frame = table_of().assign(timestamp=1)
    with pytest.raises(ConfigError, match="no hour on a time axis of whole numbers"):
        score(frame, by="hour")
    with pytest.raises(ConfigError, match="no 'cutoff' to group by"):
        score(frame.drop(columns="cutoff"), by="cutoff")


# --------------------------------------------------------------------------- what must hold of any table

numbers = st.floats(-1e4, 1e4).map(lambda value: round(value, 3))


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    size = draw(st.integers(1, 30))
    columns = {name: draw(st.lists(numbers, min_size=size, max_size=size)) for name in ("target", "0.1", "0.9")}
    frame = pd.DataFrame(columns)
    frame["prediction"] = draw(st.lists(numbers, min_size=size, max_size=size))
    frame["step"] = draw(st.lists(st.integers(1, 3), min_size=size, max_size=size))
    frame["item_id"] = draw(st.lists(st.sampled_from("ab"), min_size=size, max_size=size))
    frame["model"] = "m"
    return frame


SCALES = pd.DataFrame({"mae": [2.0, 3.0], "rmse": [4.0, 5.0]}, index=["a", "b"])
RATIOS = ("mape", "smape", "wape", "wql", "coverage@0.8")


@pytest.mark.slow
@settings(max_examples=25)
@given(frame=tables(), seed=st.integers(0, 99))
def test_the_order_of_rows_changes_nothing(frame: pd.DataFrame, seed: int) -> None:
    shuffled = frame.sample(frac=1, random_state=seed)
    scores, shuffled_scores = (score(each, by=("item_id", "step"), scales=SCALES) for each in (frame, shuffled))
    pd.testing.assert_frame_equal(scores, shuffled_scores, rtol=1e-9, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=25)
@given(frame=tables(), factor=st.sampled_from([0.5, 3.0, 1000.0]))
def test_other_units_scale_the_errors_and_leave_the_ratios(frame: pd.DataFrame, factor: float) -> None:
    larger = frame.copy()
    larger[["target", "prediction", "0.1", "0.9"]] *= factor
    scores, scaled_scores = score(frame, scales=SCALES).iloc[0], score(larger, scales=SCALES * factor).iloc[0]
    for name in [str(name) for name in scores.index[4:] if not str(name).endswith("_left_out")]:
        same = name in (*RATIOS, "mase", "rmsse")
        np.testing.assert_allclose(float(scaled_scores[name]), float(scores[name]) * (1 if same else factor), rtol=1e-7)


@pytest.mark.slow
@settings(max_examples=25)
@given(frame=tables())
def test_a_perfect_forecast_has_no_error(frame: pd.DataFrame) -> None:
    perfect = frame.assign(prediction=frame["target"], **{"0.1": frame["target"], "0.9": frame["target"]})
    row = score(perfect, scales=SCALES).iloc[0]
    for name in [str(name) for name in row.index[4:] if not str(name).endswith("_left_out")]:
        expected = 1.0 if name == "coverage@0.8" else 0.0
        assert row[name] == expected or (name in RATIOS and math.isnan(row[name])), name


def test_every_metric_has_a_column() -> None:
    scores = score(table_of(), METRICS, scales=scales_of(history()), baseline="b")
    metrics = {str(name).partition("@")[0] for name in scores.columns}
    assert set(METRICS) <= metrics
