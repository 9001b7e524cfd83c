"""A bad table gets the same sentence and code through every way to forecast it; only its name and its lines differ."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.errors import UserError
from forecast_attn.forecasting.mlflow_model import MlflowModel
from forecast_attn.runs.run_dir import RunDir

BAD: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "no-target": lambda frame: frame.drop(columns="target"),
    "short": lambda frame: frame.tail(5),
    "repeated": lambda frame: pd.concat([frame, frame.tail(1)]),
    "gap": lambda frame: frame.drop(index=frame.index[-20]),
    "infinite": lambda frame: frame.assign(target=np.where(frame.index == frame.index[-3], np.inf, frame["target"])),
}


def plain(sentence: str) -> str:
    """The sentence without the name of the table and the lines of a text file."""
    return re.sub(r" \(line \d+\)", "", re.sub(r"'[^']*\.(csv|parquet)'|'DataFrame'", "TABLE", sentence))


def refusal(call: Callable[[], object]) -> tuple[int, str]:
    with pytest.raises(UserError) as caught:
        call()
    return caught.value.exit_code, plain(caught.value.message)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_table_gets_the_same_sentence_everywhere(
    name: str, forecast: Callable, finished_run: str, make_table: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    table = BAD[name](make_table(120))
    table.to_csv(tmp_path / "table.csv", index=False)
    done = forecast("predict", finished_run, "--data", tmp_path / "table.csv", "--out", tmp_path / "out.csv")
    expected = done.code, plain(done.error)
    assert expected[0] == 1
    read = pd.read_csv(tmp_path / "table.csv")
    forecaster = Forecaster.load(finished_run)
    assert refusal(lambda: forecaster.predict(read)) == expected
    assert refusal(lambda: MlflowModel(RunDir.open_finished(Path(finished_run))).predict(read)) == expected
    (tmp_path / "parts").mkdir()
    read.to_parquet(tmp_path / "parts" / "part.parquet")
    assert refusal(lambda: forecaster.predict_parts(tmp_path / "parts", out=tmp_path / "out")) == expected
