"""`forecast score`: each row against the forecast made before it was known, and against rows known to be normal."""

import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn import Forecaster
from forecast_attn.backtest.anomalies import AnomalyScores, interval_scores, most_above, numbers_above
from forecast_attn.backtest.backtest import rows_as_forecast
from forecast_attn.backtest.job import Backtest
from forecast_attn.cli.score import flagged_share
from forecast_attn.errors import ConfigError, DataError, RunError

from .conftest import HORIZON, OPTIONS, SALES

pytestmark = pytest.mark.slow

NEW, SPIKE = 12, 4
"""Days behind the table of the training, and the one of `north` that is far too high."""
END = SALES["day"].max()


def new_rows() -> pd.DataFrame:
    """Twelve days more of both shops; then the promotions of two days more, which are known already."""
    rng, days = np.random.default_rng(9), pd.date_range(END + pd.Timedelta("1D"), periods=NEW + HORIZON - 1)
    parts = []
    for name, first in (("north", days[0]), ("south", SALES.loc[SALES["shop"] == "south", "day"].max())):
        stamps = days if name == "north" else pd.date_range(first + pd.Timedelta("1D"), days[-1])
        week = 3 * np.sin(2 * np.pi * ((stamps - pd.Timestamp("2024-01-01")).days.to_numpy()) / 7)
        promotion = rng.integers(0, 2, len(stamps))
        sales = (10 + week + 2 * promotion + rng.normal(size=len(stamps))).round(3)
        sales[-(HORIZON - 1) :] = np.nan
        if name == "north":
            sales[SPIKE] += 60
        parts.append(pd.DataFrame({"shop": name, "day": stamps, "sales": sales, "promotion": promotion}))
    return pd.concat(parts, ignore_index=True)


TABLE = pd.concat([SALES, new_rows()], ignore_index=True)
RATE = 0.05


@pytest.fixture(scope="module")
def forecaster(shop_run: Path) -> Forecaster:
    return Forecaster.load(shop_run)


@pytest.fixture(scope="module")
def scores(forecaster: Forecaster) -> AnomalyScores:
    return forecaster.anomalies(TABLE, rate=RATE)


numbers = st.floats(-5, 5).map(lambda value: round(value, 2))


@settings(max_examples=30)
@given(st.lists(st.tuples(numbers, numbers, st.floats(0, 3).map(lambda width: round(width, 2))), min_size=1))
def test_a_score_is_the_distance_in_widths(rows: list[tuple[float, float, float]]) -> None:
    actual, lower, width = (np.array(column) for column in zip(*rows, strict=True))
    scores = {side: interval_scores(actual, lower, lower + width, side) for side in ("both", "above", "below")}
    for at in range(len(rows)):
        upper = lower[at] + width[at]
        for side in scores:
            beyond = {"above": actual[at] - upper, "below": lower[at] - actual[at]}
            distance = max(beyond.values()) if side == "both" else beyond[side]
            scale = upper - lower[at]
            expected = 0.0 if distance == 0 else distance / scale if scale else math.copysign(math.inf, distance)
            assert scores[side][at] == expected


@settings(max_examples=30)
@given(st.lists(numbers, min_size=1, max_size=30), st.lists(numbers, min_size=1, max_size=30), st.integers(1, 500))
def test_a_row_is_flagged_where_its_p_value_is_at_most_the_rate(
    new: list[float], reference: list[float], thousandths: int
) -> None:
    above = numbers_above(np.array(new), np.array(reference))
    assert above.tolist() == [sum(other >= score for other in reference) for score in new]
    rate = thousandths / 1000
    flagged = above <= most_above(rate, len(reference))
    p_values = [Fraction(1 + int(count), 1 + len(reference)) for count in above]
    assert flagged.tolist() == [p_value <= Fraction(thousandths, 1000) for p_value in p_values]


def test_of_exchangeable_rows_no_more_than_the_rate_are_flagged() -> None:
    """Each of the reference, left out in turn, is as likely as any other to be the new row."""
    rng = np.random.default_rng(0)
    for count, rate in ((40, 0.05), (99, 0.01), (200, 0.1)):
        every = rng.normal(size=count + 1)
        flags = [
            numbers_above(every[[at]], np.delete(every, at))[0] <= most_above(rate, count) for at in range(count + 1)
        ]
        assert sum(flags) == math.floor(Fraction(str(rate)) * (count + 1))


def test_every_new_row_is_scored_and_the_spike_is_found(scores: AnomalyScores) -> None:
    frame, days = scores.frame, pd.date_range(END + pd.Timedelta("1D"), periods=NEW)
    assert frame.columns.tolist() == [
        *("item_id", "timestamp", "cutoff", "step", "target", "prediction"),
        *("lower", "upper", "score", "p_value", "flagged"),
    ]
    assert frame.groupby("item_id")["timestamp"].apply(list).to_dict() == {"north": list(days), "south": list(days)}
    assert (frame["cutoff"] == frame["timestamp"] - pd.Timedelta("1D")).all()
    spike = scores.flagged.iloc[0]
    assert (spike["item_id"], spike["timestamp"]) == ("north", days[SPIKE])
    assert spike["p_value"] == 1 / (1 + scores.summary["reference"]["rows"])
    assert scores.summary["rows"] == 2 * NEW
    assert scores.summary["not_scored"] == 0
    assert scores.summary["from"] == str(days[0].date())


def test_each_row_has_the_forecast_of_a_table_that_ends_before_it(
    scores: AnomalyScores, forecaster: Forecaster
) -> None:
    for day in (END + pd.Timedelta(days=SPIKE + 2), END + pd.Timedelta(days=NEW)):
        known = TABLE.assign(sales=TABLE["sales"].where(TABLE["day"] < day))
        forecast = forecaster.predict(known).predictions
        expected = forecast[forecast["timestamp"] == day]
        scored = scores.frame[scores.frame["timestamp"] == day]
        for score_column, forecast_column in (("prediction", "prediction"), ("lower", "0.1"), ("upper", "0.9")):
            assert scored[score_column].to_numpy().tobytes() == expected[forecast_column].to_numpy().tobytes()


def test_a_score_depends_on_no_later_row(scores: AnomalyScores, forecaster: Forecaster) -> None:
    last = END + pd.Timedelta(days=7)
    until = scores.frame[scores.frame["timestamp"] <= last].reset_index(drop=True)
    shorter = TABLE[TABLE["day"] <= last + pd.Timedelta(days=HORIZON - 1)]
    ended = shorter.assign(sales=shorter["sales"].where(shorter["day"] <= last))
    others = TABLE.assign(sales=TABLE["sales"].where(TABLE["day"] <= last, TABLE["sales"] * -7))
    for table in (ended, others):
        frame = forecaster.anomalies(table, rate=RATE).frame
        pd.testing.assert_frame_equal(frame[frame["timestamp"] <= last].reset_index(drop=True), until, check_exact=True)
    earlier = TABLE.assign(sales=TABLE["sales"].where(TABLE["day"] != last, 99.0))
    assert not forecaster.anomalies(earlier, rate=RATE).frame["score"].equals(scores.frame["score"])


@pytest.mark.parametrize(("step", "side"), [(1, "both"), (HORIZON, "below")])
def test_p_values_are_ranks_among_the_rows_that_validated_the_run(step: int, side: str, forecaster: Forecaster) -> None:
    frame = forecaster.anomalies(TABLE, rate=RATE, step=step, side=side).frame
    normal = forecaster.backtest(stride=1, baselines="none").frame
    normal = normal[normal["step"] == step]
    high, low = (normal["target"] - normal["0.9"]), (normal["0.1"] - normal["target"])
    distance = low if side == "below" else pd.concat([high, low], axis=1).max(axis=1)
    reference = (distance / (normal["0.9"] - normal["0.1"])).to_numpy()
    for row in frame.itertuples():
        assert row.p_value == (1 + sum(reference >= row.score)) / (1 + len(reference))
        assert row.flagged == (row.p_value <= RATE)
    assert (frame["step"] == step).all()
    assert not frame[(frame["timestamp"] == END + pd.Timedelta(days=SPIKE + 1))]["flagged"].all() or side == "both"


def test_the_last_rows_are_scored_without_the_covariates_after_them(
    forecaster: Forecaster, scores: AnomalyScores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forecast of one step reads no covariate of a later one; two guesses are made for the last windows alone."""
    windows = list[int]()

    def counted(backtest: Backtest, folder: Path) -> pd.DataFrame:
        windows.append(len(backtest.folds.windows))
        return rows_as_forecast(backtest, folder)

    monkeypatch.setattr("forecast_attn.backtest.anomalies.rows_as_forecast", counted)
    ended = forecaster.anomalies(TABLE[TABLE["sales"].notna()], rate=RATE)
    assert ended.summary["not_scored"] == 0
    pd.testing.assert_frame_equal(ended.frame, scores.frame, check_exact=True)
    assert windows[2] == windows[1] * (HORIZON - 1) // NEW


def test_rows_whose_forecast_reads_unknown_covariates_are_not_scored(tmp_path: Path) -> None:
    """The linear path maps the covariates of the whole horizon to each step."""
    SALES.to_csv(tmp_path / "sales.csv", index=False)
    forecaster = Forecaster(**{**OPTIONS, "linear_path": True}).fit(tmp_path / "sales.csv", out=tmp_path / "run")
    known = forecaster.anomalies(TABLE, rate=RATE)
    ended = forecaster.anomalies(TABLE[TABLE["sales"].notna()], rate=RATE)
    assert ended.summary["not_scored"] == 2 * (HORIZON - 1)
    assert "promotion" in ended.summary["unknown_future"]
    last = END + pd.Timedelta(days=NEW - HORIZON + 1)
    expected = known.frame[known.frame["timestamp"] <= last].reset_index(drop=True)
    pd.testing.assert_frame_equal(ended.frame, expected, check_exact=True)


def test_the_command_writes_what_python_gives(
    forecast, shop_run: Path, scores: AnomalyScores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("new.csv", index=False)
    words = ("score", shop_run, "new.csv", "--rate", RATE)
    outcome = forecast(*words, "--out", "scores.csv", "--json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert document["flagged"] == len(document["flagged_rows"]) == scores.summary["flagged"]
    assert document["flagged_rows"][0]["item_id"] == "north"
    written = pd.read_csv("scores.csv", parse_dates=["timestamp", "cutoff"])
    pd.testing.assert_frame_equal(written, scores.frame, rtol=1e-9, check_dtype=False)
    shown = forecast(*words, "--out", "scores.parquet")
    assert "24 rows from 2024-04-20" in shown.out
    assert "scores: scores.parquet" in shown.out
    pd.testing.assert_frame_equal(pd.read_parquet("scores.parquet"), scores.frame, check_exact=True, check_dtype=False)


def test_what_cannot_be_scored_is_refused(
    forecaster: Forecaster, finished_run: Path, shop_run: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError, match="no intervals"):
        Forecaster.load(finished_run).anomalies(TABLE)
    with pytest.raises(ConfigError, match=r"--step 4 lies behind the horizon of the run, 3 steps"):
        forecaster.anomalies(TABLE, step=4)
    with pytest.raises(DataError, match=r"a rate of 0.001 takes 999 rows of reference; there are \d+") as raised:
        forecaster.anomalies(TABLE, rate=0.001)
    smallest = float((raised.value.hint or "").split()[1])
    assert forecaster.anomalies(TABLE, rate=smallest).summary["rate"] == smallest
    with pytest.raises(DataError, match=r"no value at or after 2024-04-20, where the reference ends"):
        forecaster.anomalies(SALES, rate=RATE)
    with pytest.raises(ConfigError, match="--start 'soon'"):
        forecaster.anomalies(TABLE, rate=RATE, start="soon")
    with pytest.raises(ConfigError, match="read or belongs to a run"):
        forecaster.anomalies(TABLE, rate=RATE, out=shop_run.parent / "sales.csv")
    with pytest.raises(ConfigError, match=r"neither \.parquet nor \.csv"):
        forecaster.anomalies(TABLE, rate=RATE, out=tmp_path / "scores.txt")


def test_a_command_without_a_table_says_which_one_it_needs(refused, shop_run: Path, here: Path) -> None:
    refused("score", shop_run, message="^there is no table to score$", hint="^forecast score .* new.csv, with", code=2)


def test_another_table_may_be_the_reference(scores: AnomalyScores, tmp_path: Path, options: dict[str, object]) -> None:
    """Also of a run that was trained on a DataFrame, whose table nobody else has."""
    unnamed = Forecaster(**{**options, "max_epochs": 1, "epoch_windows": 16}).fit(SALES)
    with pytest.raises(RunError, match="the rows that validated the run cannot be read"):
        unnamed.anomalies(TABLE, rate=RATE)
    SALES.to_csv(tmp_path / "normal.csv", index=False)
    frame = unnamed.anomalies(TABLE, rate=RATE, reference=tmp_path / "normal.csv")
    assert frame.summary["reference"] == scores.summary["reference"]
    assert frame.flagged["item_id"][0] == "north"


@pytest.mark.parametrize(
    ("flagged", "share"), [(0, "0 %"), (1, "0.5 %"), (30, "15 %"), (199, "over 99 %"), (200, "100 %")]
)
def test_the_share_of_flagged_rows_is_written_in_full(flagged, share):
    assert flagged_share(flagged, 200) == share
