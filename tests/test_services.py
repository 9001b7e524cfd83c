"""A real MLflow server on this machine, started once: `make test-services`. Skipped where MLflow is not installed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.errors import DataError

from .conftest import SMALL_OPTIONS
from .training.test_tracking import Killed

mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed: make test-services")
# MLflow's own warnings are about MLflow.
pytestmark = [pytest.mark.integration, pytest.mark.services, pytest.mark.filterwarnings("ignore")]

PATIENCE = 300
"""Seconds that a server may take to start; a machine may be busy."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a server that keeps runs in a database and hands out the artefacts itself."""
    pytest.importorskip("flask", reason="a server of MLflow needs more than mlflow-skinny: make test-services")
    folder = tmp_path_factory.mktemp("mlflow")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    stores = ("--backend-store-uri", f"sqlite:///{folder}/runs.db", "--artifacts-destination", f"{folder}/artifacts")
    words = [sys.executable, "-m", "mlflow", "server", "--port", str(port), "--workers", "1", *stores]
    environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(words, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        wait_for(f"http://127.0.0.1:{port}", process, folder / "log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=60):
                return
        except (urllib.error.URLError, OSError):
            assert process.poll() is None and time.monotonic() < end, log.read_text()
            time.sleep(0.2)


@pytest.fixture(params=["files", "server"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of a folder, and of a server."""
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    return str(request.getfixturevalue("server")) if request.param == "server" else (tmp_path / "store").as_uri()


def test_a_resumed_training_is_one_run_with_a_model_that_forecasts(
    make_table: Callable, here: Path, address: str
) -> None:
    table = make_table()
    table.to_csv("data.csv", index=False)
    with pytest.raises(ZeroDivisionError):
        Forecaster(**SMALL_OPTIONS).fit("data.csv", out="run", logger="mlflow", log_to=address, listener=Killed())
    forecaster = Forecaster.resume("run", log_to=address)
    client = mlflow.MlflowClient(address)
    (experiment,) = [each for each in client.search_experiments() if each.name == "forecast-attn"]
    (run,) = client.search_runs([experiment.experiment_id])
    assert (run.info.status, run.data.params["model/attention"]) == ("FINISHED", "luong-general")
    curve = client.get_metric_history(run.info.run_id, "validation_loss")
    history = pd.read_csv("run/history.csv")
    losses = zip(history["epoch"], history["validation_loss"], strict=True)
    assert [(each.step, each.value) for each in curve] == list(losses)
    assert run.data.metrics["validation/mae"] == forecaster.metrics["validation"]["mae"]

    mlflow.set_tracking_uri(address)
    model = mlflow.pyfunc.load_model(f"runs:/{run.info.run_id}/model")
    pd.testing.assert_frame_equal(model.predict(table), forecaster.predict(table).predictions)
    below = table.assign(target=table["target"] - 1000)
    for params in ({"non_negative": True}, {"combine_with": "naive"}):
        expected = forecaster.predict(below, **params).predictions
        pd.testing.assert_frame_equal(model.predict(below, params=params), expected)
    with pytest.raises(DataError, match="no column 'target'"):
        model.predict(table.drop(columns="target"))
    assert [each.path for each in client.list_artifacts(run.info.run_id, "pictures")] == ["pictures/attention.png"]
    saved = Path(client.download_artifacts(run.info.run_id, "model"))
    assert (saved / "MLmodel").is_file() and not list(saved.rglob("*.pkl"))
