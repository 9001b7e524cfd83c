"""No value that could not be known at a cut-off changes a forecast: past covariates, `:k` columns, vintages.

Every test has its counterpart: the same change to what could be known does change the forecast.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn import Forecaster
from forecast_attn.forecasting.inference import forecast_windows, load_model
from forecast_attn.forecasting.model import Model
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import read_panel

pytestmark = pytest.mark.slow

ROWS, HORIZON, LOOKBACK = 90, 4, 14
DAYS = pd.date_range("2024-01-01", periods=ROWS + HORIZON)
STEPS = np.arange(len(DAYS))
PLAN_STEPS = 2
"""For how many steps the column `plan` is known."""


def make_data() -> pd.DataFrame:
    """`price` is a past covariate, `plan` and the category `shift` are known two steps ahead, `wind` was forecast.

    The last rows have no target.
    """
    rng = np.random.default_rng(5)
    values = {name: rng.normal(size=len(DAYS)).round(3) for name in ("price", "plan", "wind")}
    target = (5 + values["price"] + values["plan"] + 2 * values["wind"]).round(3)
    known = {"date": DAYS, "y": np.where(STEPS < ROWS, target, np.nan), **values}
    return pd.DataFrame({**known, "shift": rng.choice(["early", "late"], len(DAYS))})


def make_issues(data: pd.DataFrame) -> pd.DataFrame:
    """Every day at noon and at midnight the wind of the next five days is forecast, worse the further ahead."""
    rng = np.random.default_rng(6)
    parts = [
        pd.DataFrame(
            {
                "date": DAYS[day + 1 : day + 6],
                "issued_at": DAYS[day] + pd.Timedelta(hours=hour),
                "wind": data["wind"][day + 1 : day + 6].to_numpy() + rng.normal(size=5)[: len(DAYS) - day - 1],
            }
        )
        for day in range(len(DAYS) - 1)
        for hour in (0, 12)
    ]
    return pd.concat(parts, ignore_index=True)


DATA = make_data()
ISSUES = make_issues(DATA)


@pytest.fixture(scope="module", params=[1, 7], ids=["steps", "patches"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny network trained on both tables."""
    forecaster = Forecaster(
        horizon=HORIZON,
        lookback=LOOKBACK,
        target="y",
        past_covariates=["price"],
        future_covariates=[f"plan:{PLAN_STEPS}", f"shift:{PLAN_STEPS}"],
        patch_length=request.param,
        hidden_size=8,
        max_epochs=2,
        combination="none",
        seed=1,
        accelerator="cpu",
    )
    forecaster.fit(DATA[:ROWS], vintages=ISSUES, out=tmp_path_factory.mktemp("leaks") / "run")
    return forecaster.run_path


@pytest.fixture(scope="module")
def model(run: Path) -> Model:
    return load_model(RunDir(run))


def forecast_at(model: Model, cutoff: int, data: pd.DataFrame, issues: pd.DataFrame) -> np.ndarray:
    """The forecast from a row of the middle of the data, as a backtest makes it."""
    panel, _ = read_panel(data, model.config, issues)
    (batch,) = forecast_windows(model, panel, np.array([cutoff]))
    return batch.prediction[0]


def changed(frame: pd.DataFrame, column: str, rows: "pd.Series[bool] | np.ndarray") -> pd.DataFrame:
    """Other values in some rows of a column."""
    other = frame[column].map({"early": "late", "late": "early"}) if column == "shift" else frame[column] * -3 + 7
    return frame.assign(**{column: frame[column].where(~np.asarray(rows), other)})


CUTOFFS = st.integers(LOOKBACK - 1, ROWS - HORIZON - 1)


@settings(max_examples=8)
@given(cutoff=CUTOFFS)
def test_nothing_later_than_allowed_changes_a_backtest(model: Model, cutoff: int) -> None:
    expected = forecast_at(model, cutoff, DATA, ISSUES)
    late = STEPS - cutoff > 0
    issued_late = ISSUES["issued_at"] > DAYS[cutoff]
    for column in ("price", "wind", "y"):  # the wind that came true is not what had been forecast
        forecasts = forecast_at(model, cutoff, changed(DATA, column, late), ISSUES)
        assert forecasts.tobytes() == expected.tobytes(), column
    for column in ("plan", "shift"):
        forecasts = forecast_at(model, cutoff, changed(DATA, column, STEPS - cutoff > PLAN_STEPS), ISSUES)
        assert forecasts.tobytes() == expected.tobytes(), column
    for issues in (changed(ISSUES, "wind", issued_late), ISSUES[~issued_late]):
        assert forecast_at(model, cutoff, DATA, issues).tobytes() == expected.tobytes()


@settings(max_examples=4)
@given(cutoff=CUTOFFS)
def test_what_is_known_in_time_does_change_a_backtest(model: Model, cutoff: int) -> None:
    expected = forecast_at(model, cutoff, DATA, ISSUES)
    newest = ISSUES["issued_at"] == DAYS[cutoff]
    others = [
        *((changed(DATA, column, STEPS - cutoff == 0), ISSUES) for column in ("price", "plan", "wind", "y")),
        *((changed(DATA, column, STEPS - cutoff == PLAN_STEPS), ISSUES) for column in ("plan", "shift")),
        (DATA, changed(ISSUES, "wind", newest)),
    ]
    for data, issues in others:
        assert forecast_at(model, cutoff, data, issues).tobytes() != expected.tobytes()


def test_only_the_newest_forecast_known_in_time_counts(model: Model) -> None:
    """At midnight of the cut-off the forecasts of noon are of the day before: those of midnight replaced them."""
    expected = forecast_at(model, 50, DATA, ISSUES)
    replaced = ISSUES["issued_at"] < DAYS[50]
    assert forecast_at(model, 50, DATA, changed(ISSUES, "wind", replaced)).tobytes() == expected.tobytes()


# --------------------------------------------------------------------------- predict


def predict(run: Path, future: pd.DataFrame, data: pd.DataFrame = DATA[:ROWS]) -> np.ndarray:
    return Forecaster.load(run).predict(data, future=future).predictions["prediction"].to_numpy()


FUTURE = ISSUES[(ISSUES["date"] >= DAYS[ROWS]) & (ISSUES["issued_at"] <= DAYS[ROWS] + pd.Timedelta("36h"))]
"""Forecasts of the days to forecast, some of them issued after the last known target."""


def with_plan(data: pd.DataFrame = DATA) -> pd.DataFrame:
    """A history that knows the plan of the next two days; the wind of its future rows is in FUTURE."""
    known = data[: ROWS + PLAN_STEPS]
    after = np.arange(len(known)) >= ROWS
    return known.assign(wind=known["wind"].mask(after, 0.0), price=known["price"].mask(after))


def test_predict_uses_the_newest_issue_by_the_cutoff(run: Path) -> None:
    expected = predict(run, FUTURE, with_plan())
    late = FUTURE["issued_at"] > DAYS[ROWS - 1]
    assert late.any()
    assert (~late).any()
    for future in (changed(FUTURE, "wind", late), FUTURE[~late]):
        assert predict(run, future, with_plan()).tobytes() == expected.tobytes()
    assert predict(run, changed(FUTURE, "wind", ~late), with_plan()).tobytes() != expected.tobytes()


def test_predict_agrees_with_a_backtest_of_the_same_day(model: Model, run: Path) -> None:
    as_backtest = forecast_at(model, ROWS - 1, DATA.assign(y=DATA["y"].fillna(1.0)), ISSUES)
    np.testing.assert_allclose(predict(run, FUTURE, with_plan()), as_backtest, rtol=1e-5)


def test_a_history_without_the_forecast_column_holds_what_had_been_forecast(run: Path) -> None:
    """As in training: for each row the newest forecast issued by its own time, and nothing known later."""
    in_time = ISSUES[ISSUES["issued_at"] <= ISSUES["date"]].sort_values("issued_at")
    newest = in_time.groupby("date")["wind"].last().reindex(DAYS[: ROWS + PLAN_STEPS])
    history = with_plan()[1:]  # nothing was forecast for the first day
    forecasts = ISSUES[ISSUES["issued_at"] <= DAYS[ROWS - 1]]
    filled = history.assign(wind=newest.to_numpy()[1:]).assign(
        wind=lambda f: f["wind"].mask(f["date"] >= DAYS[ROWS], 0)
    )
    forecast_values = predict(run, forecasts, history.drop(columns="wind"))
    assert forecast_values.tobytes() == predict(run, forecasts, filled).tobytes()
    assert forecast_values.tobytes() != predict(run, forecasts, history).tobytes()


def test_predict_with_a_plain_file_needs_the_plan_for_two_days_only(run: Path) -> None:
    plain = DATA[ROWS:].drop(columns=["y", "price"])
    known = np.arange(HORIZON) < PLAN_STEPS
    short = plain.assign(plan=plain["plan"].where(known), shift=plain["shift"].where(known))
    assert predict(run, plain).tobytes() == predict(run, short).tobytes()


def test_a_run_with_vintages_says_which_issue_it_used(forecast: Callable, run: Path, here: Path) -> None:
    with_plan().to_csv("history.csv", index=False)
    FUTURE.to_csv("issued.csv", index=False)
    outcome = forecast("predict", run, "--data", "history.csv", "--future", "issued.csv", "--out", "forecast.csv",
                       "--attention-out", "attention.parquet")  # fmt: skip
    assert outcome.code == 0, outcome.err
    messages = " ".join(outcome.err.split())
    assert (
        "note: 'issued.csv': the forecasts of 'wind' issued at 2024-03-30 are used; those issued later, up to "
        "2024-04-01 12:00, are not"
    ) in messages
    FUTURE[FUTURE["issued_at"] > DAYS[ROWS - 1]].to_csv("late.csv", index=False)
    refused = forecast("predict", run, "--data", "history.csv", "--future", "late.csv", "--out", "forecast.csv")
    assert refused.code == 1
    assert "every forecast of series 'y' in 'late.csv' was issued after its last known target, at 2024-03-30" in (
        refused.error
    )
