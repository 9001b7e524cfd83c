"""The commands of docs/data-format.md on the tables of tests/examples."""

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "tests" / "examples"
TINY = "--lookback 8 --horizon 4 --hidden-size 4 --max-epochs 1 --epoch-windows 16 --seed 1 --accelerator cpu"

pytestmark = pytest.mark.slow


def commands_of(section: str) -> list[str]:
    """The command lines in a section of the page."""
    page = (ROOT / "docs" / "data-format.md").read_text(encoding="utf-8")
    text = re.search(rf"^## {section}\n(.*?)(?=^## )", page, flags=re.MULTILINE | re.DOTALL)
    assert text is not None
    return re.findall(r"^forecast (.*)$", text[1], flags=re.MULTILINE)


def run_in(forecast: Callable, folder: str, line: str) -> None:
    for file in (EXAMPLES / folder).iterdir():
        shutil.copy(file, file.name)
    words = shlex.split(line)
    outcome = forecast(*words, *(shlex.split(TINY) if words[0] == "train" else []))
    assert outcome.code == 0, f"forecast {line}\n{outcome.err}"


def test_covariates(forecast: Callable, here: Path) -> None:
    lines = commands_of("Covariates")
    assert [line.split()[0] for line in lines] == ["train", "predict", "train"]
    for line in lines:
        run_in(forecast, "covariates", line)


def test_vintages(forecast: Callable, here: Path) -> None:
    lines = commands_of("Vintages")
    assert [line.split()[0] for line in lines] == ["train", "predict"]
    for line in lines:
        run_in(forecast, "vintages", line)
    (predictions,) = here.glob("runs/*/predictions.csv")
    assert pd.read_csv(predictions)["timestamp"].iloc[0] == "2024-05-19 00:00:00"
