"""A series that training never saw is forecast from its own lookback, when asked to, and only then."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.errors import DataError

pytestmark = pytest.mark.slow

LOOKBACK, HORIZON = 14, 3


def series(name: str, level: float, rows: int = 80, seed: int = 0) -> pd.DataFrame:
    steps = np.arange(rows)
    noise = np.random.default_rng(seed).normal(scale=0.1, size=rows)
    return pd.DataFrame(
        {
            "item_id": name,
            "date": pd.date_range("2024-01-01", periods=rows, freq="D"),
            "y": (level * (10 + 3 * np.sin(2 * np.pi * steps / 7) + noise)).round(3),
            "x": np.cos(2 * np.pi * steps / 7).round(3),
            "size": level,
            "kind": "shop" if level < 100 else "web",
        }
    )


@pytest.fixture(scope="module")
def forecaster() -> Forecaster:
    return Forecaster(
        lookback=LOOKBACK,
        horizon=HORIZON,
        hidden_size=8,
        max_epochs=1,
        combination="none",
        epoch_windows=32,
        validation_windows=16,
        seed=1,
        accelerator="cpu",
        scaling="robust",
        transform="arcsinh",
        static_covariates=["size", "kind"],
        categorical=["kind"],
        short_series="pad",
        weight="importance",  # which no history below has
    ).fit(pd.concat([series("a", 1.0).assign(importance=1), series("b", 10.0, seed=1).assign(importance=2)]))


def test_without_the_flag_unseen_series_are_named(forecaster: Forecaster) -> None:
    history = pd.concat([series("a", 1.0), series("new", 1000.0), series("other", 5.0)])
    with pytest.raises(DataError, match="not seen in training: series 'new', 'other'") as caught:
        forecaster.predict(history)
    assert "--cold-start" in str(caught.value.hint)


def test_cold_series_are_forecast_at_their_own_level(forecaster: Forecaster) -> None:
    history = pd.concat([series("a", 1.0), series("new", 1000.0)])
    result = forecaster.predict(history, cold_start=True)
    assert result.cold == ("new",)
    assert result.skipped == ()
    assert [(unknown.column, unknown.category) for unknown in result.unknown_categories] == [("kind", "web")]
    by_series = result.predictions.groupby("item_id")["prediction"]
    assert by_series.size().tolist() == [HORIZON, HORIZON]
    assert 5 < by_series.mean()["a"] < 15
    assert 5_000 < by_series.mean()["new"] < 15_000


def test_a_trained_series_is_forecast_as_without_the_flag(forecaster: Forecaster) -> None:
    plain = forecaster.predict(series("a", 1.0))
    among_cold = forecaster.predict(pd.concat([series("a", 1.0), series("new", 1000.0)]), cold_start=True)
    assert plain.cold == ()
    np.testing.assert_allclose(
        among_cold.predictions["prediction"][:HORIZON], plain.predictions["prediction"], rtol=1e-5
    )


def test_nothing_before_the_lookback_or_of_other_series_counts(forecaster: Forecaster) -> None:
    long, cut = series("new", 1000.0), series("new", 1000.0)[-LOOKBACK:]
    others = series("zzz", 1e6)
    expected = forecaster.predict(cut, cold_start=True).predictions["prediction"]
    for history in (long, pd.concat([long, others])):
        got = forecaster.predict(history, cold_start=True).predictions["prediction"][:HORIZON]
        np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_a_cold_series_shorter_than_the_lookback_is_padded(forecaster: Forecaster) -> None:
    result = forecaster.predict(series("new", 1000.0, rows=4), cold_start=True)
    assert (result.cold, result.skipped) == (("new",), ())
    assert result.predictions["prediction"].between(2_000, 20_000).all()


def test_the_command_says_which_series_were_cold(
    forecaster: Forecaster, forecast: Callable[..., object], here: Path
) -> None:
    forecaster.save("run")
    pd.concat([series("a", 1.0), series("new", 50.0)]).to_csv("history.csv", index=False)
    refused = forecast("predict", "run", "--data", "history.csv")
    assert (refused.code, refused.error) == (1, "not seen in training: series 'new'")
    assert refused.hint.startswith("--cold-start")
    outcome = forecast("predict", "run", "--data", "history.csv", "--cold-start", "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["cold"] == ["new"]
    assert "note: 1 series not seen in training, scaled by their own lookback: 'new'" in outcome.err
