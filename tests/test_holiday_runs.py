"""A run keeps its own dates, computes public holidays anew, and says where either may differ."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.slow
VERSION = pytest.importorskip("holidays").__version__


def test_dates_live_in_the_run_and_their_end_is_told(
    forecast: Callable, write: Callable, small: tuple[str, ...], make_table: Callable, without_manifest: Callable
) -> None:
    table = make_table(120).assign(date=pd.date_range("2024-09-02", periods=120).strftime("%Y-%m-%d"))
    table["target"] += table["date"].isin(["2024-10-03", "2024-12-24"]) * 5
    dates = write("date,name\n2024-10-03,a\n2024-12-24,b\n", "closed.csv")
    flags = (*small, "--holidays", "DE", "--holiday-dates", dates)
    assert forecast("train", write(table), *flags, "--out", "run", "--quiet").code == 0
    Path(dates).unlink()
    calendar = json.loads(Path("run/schema.json").read_text())["calendar"]["holidays"]
    assert calendar == {"regions": ["DE"], "package_version": VERSION, "dates": ["2024-10-03", "2024-12-24"]}

    outcome = forecast("predict", "run")
    assert outcome.code == 0
    messages = " ".join(outcome.err.split())
    assert (
        "the holiday dates of the run end with 2024-12-24; 2 steps to forecast from 2025-01-01 on count as none"
        in messages
    )
    assert "public holidays come from" not in messages

    without_manifest(Path("run"))
    path = Path("run/schema.json")
    path.write_text(path.read_text().replace(f'"{VERSION}"', '"0.1"'))
    messages = " ".join(forecast("predict", "run").err.split())
    assert f"public holidays come from holidays {VERSION}; the run was trained with 0.1" in messages


def test_a_file_of_dates_that_changed_changes_nothing_of_a_run(
    forecast: Callable, write: Callable, small: tuple[str, ...], make_table: Callable, files_in: Callable
) -> None:
    """An audit and a training that is resumed go by the days of the training's beginning."""
    table, dates = write(make_table(120)), write("date\n2024-01-20\n2024-02-20\n2024-04-20\n", "closed.csv")
    words = ("train", table, *small, "--holiday-dates", dates, "--quiet")
    assert forecast(*words, "--out", "run").code == 0
    shutil.copytree("run", "again")
    for name in ("metrics.json", "manifest.json"):
        Path("again", name).unlink()
    audit = ("audit", "run", "--json", "--windows", 2, "--draws", 10)
    before = forecast(*audit)
    assert before.code == 0, before.err
    Path(dates).write_text("date\n2024-03-01\n2024-04-25\n")
    assert forecast("train", table, "--resume", "again", "--quiet").code == 0
    assert files_in("again")["model.safetensors"] == files_in("run")["model.safetensors"]
    Path(dates).unlink()
    assert forecast(*audit).out == before.out
