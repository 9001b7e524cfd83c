"""Runs that older versions wrote: tests/runs/format-1 was trained by version 0.1.0 of the first format."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from forecast_attn.data.zones import Zone
from forecast_attn.forecasting.model import read_config
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import panel_of_run

RUNS = Path(__file__).parent / "runs"


@pytest.fixture
def old_run(here: Path) -> Path:
    shutil.copytree(RUNS / "format-1", here / "old")
    return here / "old"


def test_an_old_run_forecasts_what_it_did(
    old_run: Path, forecast: Callable[..., Any], files_in: Callable[..., dict[str, bytes]]
) -> None:
    before = files_in(old_run)
    outcome = forecast("predict", old_run, "--future", RUNS / "future.csv", "--out", "again.csv")
    assert outcome.code == 0, outcome.err
    was, now = (pd.read_csv(path) for path in (RUNS / "format-1" / "predictions.csv", "again.csv"))
    # To what float32 can mean: that version computed batches of other sizes.
    pd.testing.assert_frame_equal(now, was, rtol=1e-6)
    after = files_in(old_run)
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("command", ["inspect", "info"])
def test_an_old_run_can_be_looked_at(command: str, old_run: Path, forecast: Callable[..., Any]) -> None:
    assert forecast(command, old_run).code == 0


@pytest.mark.parametrize("key", ["scaler", "frequency", "calendar"])
def test_an_old_run_that_is_damaged_is_said_to_be(key: str, old_run: Path, forecast: Callable[..., Any]) -> None:
    schema = json.loads((old_run / "schema.json").read_text())
    schema[key] = 3 if key == "scaler" else {}
    (old_run / "schema.json").write_text(json.dumps(schema))
    outcome = forecast("predict", old_run, "--future", RUNS / "future.csv")
    assert outcome.code == 1
    assert "schema.json' is damaged" in outcome.error


def test_a_run_keeps_the_axis_of_its_training(run_copy: Path, without_manifest: Callable[[Path], None]) -> None:
    """Earlier versions put some tables on UTC that are on the wall clock now."""
    schema = json.loads((run_copy / "schema.json").read_text())
    schema["zone"] = {"name": "Asia/Tokyo", "axis": "utc"}
    (run_copy / "schema.json").write_text(json.dumps(schema))
    without_manifest(run_copy)
    run = RunDir(run_copy)
    assert panel_of_run(run, read_config(run), None).zone == Zone("Asia/Tokyo", "utc")
