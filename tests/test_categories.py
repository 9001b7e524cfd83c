"""Categorical covariates from a CSV to a forecast: embedded, saved, and told when training did not see them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster

pytestmark = pytest.mark.slow
DECLARED = ("--past", "sky", "--future", "shift", "--static", "kind", "--categorical", "dow")


def shop_table(rows: int = 90) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    parts = []
    for kind in ("city", "village"):
        day = pd.date_range("2024-01-01", periods=rows, freq="D")
        shift = rng.choice(["long", "short"], rows)
        parts.append(
            pd.DataFrame(
                {
                    "item_id": f"shop in {kind}",
                    "date": day.strftime("%Y-%m-%d"),
                    "target": np.where(shift == "long", 12.0, 4.0) + rng.normal(scale=0.1, size=rows),
                    "sky": rng.choice(["sun", "fog", "rain"], rows),
                    "shift": shift,
                    "dow": day.day_of_week + 1,
                    "kind": kind,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


def coming(table: pd.DataFrame, shift: str = "long") -> pd.DataFrame:
    last = table.groupby("item_id")["date"].max()
    days = [pd.date_range(day, periods=8, freq="D")[1:] for day in last]
    return pd.concat(
        [pd.DataFrame({"item_id": i, "date": d, "shift": shift}) for i, d in zip(last.index, days, strict=True)]
    )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, forecast: Callable[..., Any]) -> Path:
    folder = tmp_path_factory.mktemp("shops")
    shop_table().to_csv(folder / "shops.csv", index=False)
    sizes = ("--lookback", "14", "--horizon", "7", "--hidden-size", "8", "--max-epochs", "12", "--seed", "1")
    outcome = forecast("train", folder / "shops.csv", *DECLARED, *sizes, "--out", folder / "run")
    assert outcome.code == 0, outcome.err
    assert "future covariate, categorical" in outcome.err
    return folder / "run"


def test_a_category_known_ahead_moves_the_forecast(run: Path) -> None:
    forecaster = Forecaster.load(run)
    high, low = (
        forecaster.predict(future=coming(shop_table(), shift)).predictions["prediction"] for shift in ("long", "short")
    )
    assert (high > low + 4).all()


def test_numbers_declared_categorical_are_names(run: Path) -> None:
    """`dow` is 1 … 7, and 7 is not seven times 1: it has a vector of its own."""
    from forecast_attn.forecasting.model import read_schema
    from forecast_attn.runs.run_dir import RunDir

    categories = read_schema(RunDir(run)).vocabulary.categories
    assert categories["dow"] == tuple("1234567")
    assert categories["kind"] == ("city", "village")
    assert categories["shift"] == ("long", "short")


def test_categories_that_training_did_not_see_are_counted(
    run: Path, write: Callable[..., str], forecast: Callable[..., Any]
) -> None:
    history = shop_table()
    history.loc[history.index[-3:], "sky"] = "hail"
    history.loc[history.index[-4], "sky"] = "snow"
    future = coming(history, "night")
    outcome = forecast("predict", run, "--data", write(history), "--future", write(future, "future.csv"), "--out", "-")
    assert outcome.code == 0, outcome.err
    assert "column 'shift' has a category that training did not see, 14 times: 'night'" in outcome.err
    assert "column 'sky' has a category that training did not see, 3 times: 'hail'" in outcome.err
    assert "column 'sky' has a category that training did not see, 1 time: 'snow'" in outcome.err


def test_a_missing_category_ahead_is_refused(
    run: Path, refused: Callable[..., None], write: Callable[..., str]
) -> None:
    future = coming(shop_table())
    future.iloc[3, future.columns.get_loc("shift")] = None
    refused(
        "predict",
        run,
        "--future",
        write(future, "future.csv"),
        message="has no 'shift' for 1 of the 7 steps",
        hint="^fill in the empty cells of 'shift', with one of 'long', 'short'; `forecast explain FA513`",
    )


def test_the_order_of_categories_in_the_file_changes_nothing(tmp_path: Path) -> None:
    """Vocabularies are sorted: shuffled rows give the same codes, and so the same bytes."""
    options: dict[str, Any] = {
        "past_covariates": ["sky"],
        "static_covariates": ["kind"],
        "future_covariates": ["shift"],
        "lookback": 14,
        "horizon": 7,
        "hidden_size": 4,
        "max_epochs": 1,
        "combination": "none",
        "seed": 1,
    }
    table = shop_table()
    for name, frame in (("a", table), ("b", table.sample(frac=1, random_state=1).astype({"sky": "category"}))):
        Forecaster(**options).fit(frame, out=tmp_path / name)
    assert (tmp_path / "a" / "model.safetensors").read_bytes() == (tmp_path / "b" / "model.safetensors").read_bytes()


def test_codes_keep_their_leading_zeros(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forecast: Callable[..., Any]
) -> None:
    """007, 07 and 7 are three categories, in every format of the table and when a later table has only one of them."""
    monkeypatch.chdir(tmp_path)
    table = shop_table(60).assign(sky=["7", "07", "007", "10n"] * 30)
    table.to_csv("data.csv", index=False)
    table.to_parquet("data.parquet")
    sizes = ("--lookback", "14", "--horizon", "7", "--hidden-size", "8", "--max-epochs", "1", "--seed", "1")
    declared = ("--past", "sky", "--categorical", "sky", "--ignore", "shift,dow,kind")
    for run, data in (("csv", "data.csv"), ("parquet", "data.parquet")):
        assert forecast("train", data, *declared, *sizes, "--out", run, "--quiet").code == 0
    assert Path("csv/model.safetensors").read_bytes() == Path("parquet/model.safetensors").read_bytes()
    later = table.assign(sky="007")
    later.to_csv("later.csv", index=False)
    later.to_parquet("later.parquet")
    outcomes = [forecast("predict", "csv", "--data", f"later.{kind}", "--out", "-") for kind in ("csv", "parquet")]
    assert outcomes[0].out == outcomes[1].out
    assert not any("did not see" in outcome.err for outcome in outcomes)


@pytest.mark.parametrize(
    ("one", "other"),
    [([1, 2, 1], ["1", "2", "1"]), ([1, 2, 1], ["1.0", "2.0", "1.0"]), ([True, False, True], ["true", "FALSE", "1"])],
)
def test_the_spelling_of_whole_numbers_and_of_yes_does_not_matter(one: list[Any], other: list[str]) -> None:
    from forecast_attn.data.cells import categories_as_text

    (left, names), (right, same) = (categories_as_text(pd.Series(cells)) for cells in (one, other))
    assert names == same
    np.testing.assert_array_equal(left, right)
