"""A bad table gets the code and the sentence of the command line through every interface.

Only the name of the table and the lines of a text file, which the others do not have, differ.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from forecast_attn import Forecaster, tune
from forecast_attn.errors import UserError
from forecast_attn.forecasting.mlflow_model import MlflowModel
from forecast_attn.runs.run_dir import RunDir

from .serving.test_serve import ARROW, CSV, JSON, Client, as_arrow, panel_table, serving

pytestmark = pytest.mark.slow

Change = Callable[[pd.DataFrame], pd.DataFrame]


def with_cell(column: str, value: object, row: int = 40) -> Change:
    """One cell of a table changed."""
    return lambda frame: frame.astype({column: object}).where(
        (frame.index != row)[:, None] | (frame.columns != column)[None, :], value
    )


BAD: dict[str, Change] = {
    "no target": lambda frame: frame.drop(columns="sales"),
    "no covariate": lambda frame: frame.drop(columns="offer"),
    "no series": lambda frame: frame.drop(columns="shop"),
    "two rows of a time": lambda frame: pd.concat([frame, frame.head(1)]),
    "a gap": lambda frame: frame.drop(index=20),
    "text in the target": with_cell("sales", "many"),
    "text in a covariate": with_cell("offer", "much"),
    "an infinite target": with_cell("sales", np.inf),
    "no date": with_cell("date", "yesterday"),
    "no known format": lambda frame: frame.assign(date="day " + frame["date"].str[-2:]),
    "an empty date": with_cell("date", None),
    "too short": lambda frame: frame.groupby("shop").tail(8),
    "empty": lambda frame: frame.head(0),
    "a new series": lambda frame: frame.replace({"shop": {"a": "zebra"}}),
    "no future": lambda frame: frame[frame["sales"].notna()],
}
ONLY_OF_A_HISTORY = ("no covariate", "no series", "a gap", "a new series", "no future")
"""Mistakes of a table that a run forecasts; it can be trained on."""


class Refusal(dict[str, Any]):
    """The parts of an error that do not depend on how the table was handed over."""

    def __init__(self, error: dict[str, Any]) -> None:
        message = re.sub(r"'[^']*\.(csv|parquet)'|the DataFrame|'DataFrame'|'history'", "TABLE", error["message"])
        super().__init__(code=error.get("code"), message=re.sub(r" \(lines? [^)]*\)", "", message))


def refusal(call: Callable[[], object]) -> Refusal:
    with pytest.raises(UserError) as caught:
        call()
    assert caught.value.exit_code == 1
    return Refusal(caught.value.to_dict())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    small = {"hidden_size": 4, "max_epochs": 1, "epoch_windows": 16, "validation_windows": 8, "combination": "none"}
    forecaster = Forecaster(item_id="shop", lookback=14, horizon=3, calendar="none", accelerator="cpu", **small)
    panel_table().to_csv(folder / "data.csv", index=False)
    forecaster.fit(folder / "data.csv", out=folder / "shops")
    return folder / "shops"


@pytest.fixture(scope="module")
def ask(run: Path) -> Iterator[Client]:
    with serving(run) as client:
        yield client


def from_server(ask: Client, body: Any, kind: str) -> Refusal:
    answer = ask("/forecast", body, kind)
    assert answer.status == 422
    return Refusal(answer.error)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_history_gets_the_same_sentence_everywhere(
    name: str, forecast: Callable[..., Any], run: Path, ask: Client, here: Path
) -> None:
    BAD[name](panel_table()).to_csv("history", index=False)
    done = forecast("predict", run, "--data", "history", "--json")
    assert done.code == 1
    error = json.loads(done.out)["error"]
    assert error["commands"]  # to type in a shell, which the other interfaces are not
    error["commands"] = []
    assert ask("/forecast", Path("history").read_bytes(), CSV).error == error  # the hint and the place, too
    expected = Refusal(error)
    assert expected["code"]
    frame, read = BAD[name](panel_table()), pd.read_csv("history")  # of which one may have numbers beside text
    forecaster, model = Forecaster.load(run), MlflowModel(RunDir.open_finished(run))
    Path("parts").mkdir()
    read.to_parquet("parts/part.parquet")
    answers = {
        "Forecaster": refusal(lambda: forecaster.predict(frame)),
        "pyfunc": refusal(lambda: model.predict(frame)),
        "partitioned": refusal(lambda: forecaster.predict_parts("parts", out="out")),
        "arrow": from_server(ask, as_arrow(read), ARROW),
    }
    if name != "an infinite target":  # which JSON does not have
        records = json.loads(frame.to_json(orient="records"))
        answers["json"] = from_server(ask, {"history": records}, JSON)
    assert answers == dict.fromkeys(answers, expected)


@pytest.mark.parametrize("name", [name for name in BAD if name not in ONLY_OF_A_HISTORY])
def test_a_bad_table_gets_the_same_sentence_from_all_that_trains(
    name: str, forecast: Callable[..., Any], here: Path
) -> None:
    BAD[name](panel_table()).to_csv("table.csv", index=False)
    words = (
        "table.csv",
        "--id",
        "shop",
        "--target",
        "sales",
        "--future",
        "offer",
        "--lookback",
        "14",
        "--horizon",
        "3",
    )

    def of_command(command: str, *more: str) -> Refusal:
        done = forecast(command, *words, *more, "--json")
        assert done.code == 1
        return Refusal(json.loads(done.out)["error"])

    expected = of_command("train", "--out", "out")
    assert expected["code"]
    options = {"item_id": "shop", "target": "sales", "future_covariates": ["offer"], "lookback": 14, "horizon": 3}
    estimator = clone(Forecaster(**options))
    answers = {
        "fit": refusal(lambda: estimator.fit(BAD[name](panel_table()))),
        "tune": of_command("tune", "--trials", "1", "--out", "out"),
        "tune in Python": refusal(lambda: tune("table.csv", trials=1, out="out", **options)),
        "compare": of_command("compare", "--attention", "none,bahdanau", "--out", "out"),
    }
    if name != "too short":  # then the rows before the first cut-off are counted
        answers["backtest"] = of_command("backtest", "--cutoffs", "1", "--out", "scores.csv")
    assert answers == dict.fromkeys(answers, expected)
    assert [path.name for path in here.iterdir()] == ["table.csv"]
