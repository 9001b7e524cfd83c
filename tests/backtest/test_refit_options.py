"""What `--refit-learning-rate`, `--refit-window` and `--refit-validation` change, and what they refuse."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.forecasting.inference import load_model
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.training.progress import EpochRecord, TrainingListener
from forecast_attn.training.refit import Refit, refit

HORIZON = 3
OPTIONS: dict[str, Any] = {"cutoffs": 4, "stride": 2, "refit": 2, "refit_epochs": 1, "baselines": ()}


@pytest.fixture
def forecasts(shop_run: Path, tmp_path: Path) -> Callable[..., np.ndarray]:
    """`forecasts(table, **options)`: of a backtest with two refits, at rows 100 and 104 of 110."""
    made = iter(range(100))

    def of(table: pd.DataFrame, **options: Any) -> np.ndarray:
        result = Forecaster.load(shop_run).backtest(
            table, **{**OPTIONS, **options, "out": tmp_path / f"{next(made)}.csv"}
        )
        return result.frame["prediction"].to_numpy()

    return of


def changed(sales: pd.DataFrame, day: str) -> pd.DataFrame:
    """The sales of one day in the north are others."""
    return sales.assign(sales=sales["sales"].mask((sales["shop"] == "north") & (sales["day"] == day), 30.0))


@pytest.mark.slow
def test_steps_of_no_length_leave_the_run_as_it_is(sales: pd.DataFrame, forecasts: Callable) -> None:
    still = forecasts(sales, refit_learning_rate=1e-30)
    # Windows lie elsewhere in their batches, which on some machines moves the last bit.
    np.testing.assert_allclose(still, forecasts(sales, refit="never", refit_epochs=None), rtol=1e-6)
    assert not np.isclose(forecasts(sales, refit_learning_rate=0.01), still, rtol=1e-3).any()


@pytest.mark.slow
def test_the_learning_rate_is_the_highest_of_the_course(sales: pd.DataFrame, forecasts: Callable) -> None:
    """A fifth of the run's, 0.008, where none is named."""
    np.testing.assert_array_equal(forecasts(sales, refit_learning_rate=0.2 * 0.008), forecasts(sales))


@pytest.mark.slow
def test_nothing_before_a_window_and_its_lookback_changes_a_refit(sales: pd.DataFrame, forecasts: Callable) -> None:
    """The first cut-off is 2024-04-10; 28 days before it end on 2024-03-13, and a lookback of 14 begins 02-29."""
    before = forecasts(sales, refit_window="28D", refit_validation=0)
    early = changed(sales, "2024-02-28")
    np.testing.assert_array_equal(forecasts(early, refit_window=28, refit_validation=0), before)
    inside = changed(sales, "2024-03-01")
    assert (forecasts(inside, refit_window="4W", refit_validation=0) != before).all()
    assert (forecasts(sales) != forecasts(early)).all()  # without a window all rows count


@pytest.mark.slow
def test_refits_from_the_run_have_the_first_in_common(sales: pd.DataFrame, forecasts: Callable) -> None:
    of_last, of_run = forecasts(sales, refit_from="last"), forecasts(sales, refit_from="run")
    np.testing.assert_array_equal(of_last, forecasts(sales))
    first = of_last == of_run  # three windows of the first refit: the south ends after the first cut-off
    assert first.tolist() == [True] * 9 + [False] * 6


class Counter(TrainingListener):
    """How many windows were trained on, and the last validation loss."""

    def __init__(self) -> None:
        self.windows, self.validation_loss = 0, 0.0

    def batch_done(self, loss: float, num_windows: int) -> None:
        self.windows += num_windows

    def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
        self.validation_loss = record.validation_loss


@pytest.mark.parametrize(("steps", "validation"), [(20, 0), (20, 6), (28, 0), (28, 3)])
@pytest.mark.slow
def test_windows_are_those_whose_horizon_lies_in_the_window(
    steps: int, validation: int, shop_run: Path, sales: pd.DataFrame, tmp_path: Path
) -> None:
    """A window of n steps holds n - 3 + 1 horizons of 3 steps in each of two series, fewer by those of validation."""
    from forecast_attn.runs.training_table import read_panel

    model = load_model(RunDir(shop_run))
    panel, _ = read_panel(sales, model.config)
    cutoff, counts = np.datetime64("2024-04-09", "ns"), Counter()
    since = cutoff - np.timedelta64(steps, "D")
    settings = Refit(1, cutoff, 1, "cpu", since=since, validation=validation)
    refit(model, panel, settings, tmp_path / "refit", counts)
    assert counts.windows == 2 * (steps - HORIZON + 1 - validation)
    assert np.isnan(counts.validation_loss) == (validation == 0)
    assert not list((tmp_path / "refit").glob("*.ckpt"))


@pytest.mark.slow
def test_without_validation_the_last_epoch_is_kept(shop_run: Path, sales: pd.DataFrame, tmp_path: Path) -> None:
    from forecast_attn.runs.training_table import read_panel
    from forecast_attn.training.callbacks import best_epoch_of

    model = load_model(RunDir(shop_run))
    panel, _ = read_panel(sales, model.config)
    settings = Refit(1, np.datetime64("2024-04-09", "ns"), 3, "cpu", learning_rate=0.5, validation=0)
    refit(model, panel, settings, tmp_path / "refit", TrainingListener())
    assert best_epoch_of(RunDir(tmp_path / "refit")) == 3


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"refit": "never", "refit_window": 28}, ConfigError, "--refit-window is for refits"),
        ({"refit": "never", "refit_learning_rate": 0.1}, ConfigError, "--refit-learning-rate is for refits"),
        ({"refit": "never", "refit_validation": 0}, ConfigError, "--refit-validation is for refits"),
        ({"refit": "never", "refit_from": "run"}, ConfigError, "--refit-from is for refits"),
        ({"refit_from": "runs"}, ConfigError, "--refit-from has no value 'runs'"),
        ({"refit_learning_rate": 0.0}, ConfigError, "--refit-learning-rate must be .*; got 0"),
        ({"refit_window": "-3"}, ConfigError, "--refit-window must be a whole number of steps"),
        ({"refit_window": "5x"}, ConfigError, "--refit-window has no unit 'x'"),
        ({"refit_validation": -1}, ConfigError, "--refit-validation must be at least 0; got -1"),
        ({"refit_validation": 2}, ConfigError, "--refit-validation 2 is shorter than the horizon, 3"),
        ({"refit_window": 2}, DataError, "there is no window to train on up to 2024-04-10"),
        ({"refit_window": 21}, DataError, "there is no window to train on up to 2024-04-10"),
        ({"refit_window": 10**9, "refit_validation": 10**9}, DataError, "there is no window to train on up to 2024-04"),
    ],
)
def test_what_cannot_be_is_refused(
    options: dict[str, Any], error: type[Exception], message: str, sales: pd.DataFrame, forecasts: Callable
) -> None:
    with pytest.raises(error, match=message) as refused:
        forecasts(sales, **{"refit_epochs": None, **options})
    held_out = "a smaller --refit-validation, " if "refit_validation" in options else ""
    hint = f"a longer --refit-window, {held_out}a later --start, or --refit never"
    assert error is ConfigError or refused.value.hint == hint


@pytest.mark.slow
def test_from_the_command_line(shop_run: Path, forecast: Callable, here: Path) -> None:
    words = ("--cutoffs", 2, "--refit", "every", "--refit-epochs", 1, "--refit-window", "4W", "--refit-validation", 0)
    table = shop_run.parent / "sales.csv"
    outcome = forecast("backtest", shop_run, "--data", table, *words, "--refit-learning-rate", 0.002, "--out", "b.csv")
    assert outcome.code == 0, outcome.err
    assert "validation" not in outcome.err.split("refit 1")[1]
    result = json.loads(Path("b.json").read_text())
    refit_options = {"refit_every": 1, "refit_epochs": 1, "refit_learning_rate": 0.002, "refit_window": "4W"}
    assert {name: result[name] for name in refit_options} == refit_options
    assert result["refit_validation"] == 0
