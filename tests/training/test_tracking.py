"""`--logger`: options, curves and scores elsewhere, and the same run as without."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.errors import ConfigError
from forecast_attn.training.progress import EpochRecord, TrainingListener

from ..conftest import SMALL_OPTIONS


class Killed(TrainingListener):
    """Ends a training after its first epoch."""

    def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
        if record.epoch == 2:
            raise ZeroDivisionError("killed")


def rows_of(path: Path) -> list[tuple[float, float]]:
    """Epoch and validation loss of every row with one."""
    table = pd.read_csv(path).dropna(subset="validation_loss")
    return list(zip(table["step"], table["validation_loss"], strict=True))


def losses_of(run: Path) -> list[tuple[float, float]]:
    history = pd.read_csv(run / "history.csv")
    return list(zip(history["epoch"], history["validation_loss"], strict=True))


def test_a_csv_holds_the_curves_the_options_and_the_scores(
    forecast: Callable, make_table: Callable, write: Callable, small: tuple[str, ...], finished_run: Path
) -> None:
    done = forecast("train", write(make_table()), *small, "--out", "run", "--logger", "csv", "--quiet")
    assert done.code == 0, done.err
    run = Path("run")
    assert rows_of(run / "tracking" / "metrics.csv") == losses_of(run)
    last = pd.read_csv(run / "tracking" / "metrics.csv").iloc[-1]
    metrics = json.loads((run / "metrics.json").read_text())
    assert last["validation/mae"] == pytest.approx(metrics["validation"]["mae"])
    assert last["baselines/seasonal-naive/mae"] == pytest.approx(metrics["baselines"]["seasonal-naive"]["mae"])
    assert "training/seed: 7\n" in (run / "tracking" / "hparams.yaml").read_text()
    for name in ("model.safetensors", "tail.parquet", "schema.json"):
        assert (run / name).read_bytes() == (finished_run / name).read_bytes()
    assert (
        json.loads((run / "config.json").read_text())["options"]
        == json.loads((finished_run / "config.json").read_text())["options"]
    )
    again = forecast("train", "--resume", "run", "--logger", "csv")
    assert (again.code, again.error) == (
        2,
        "--resume continues a run as it was started; it cannot change --logger",
    )


def test_a_resumed_run_goes_on_in_its_log(make_table: Callable, here: Path) -> None:
    make_table().to_csv("data.csv", index=False)
    with pytest.raises(ZeroDivisionError):
        Forecaster(**SMALL_OPTIONS).fit("data.csv", out="run", logger="csv", log_to="logs", listener=Killed())
    Forecaster.resume("run", log_to="logs")
    assert rows_of(Path("logs/metrics.csv")) == losses_of(Path("run"))
    assert len(losses_of(Path("run"))) == 2


@pytest.mark.parametrize("log_to", ["logs", "http://127.0.0.1:9/"])
def test_a_run_is_logged_outside_its_folder_only_where_the_user_says_so_again(
    refused: Callable, make_table: Callable, here: Path, log_to: str
) -> None:
    make_table().to_csv("data.csv", index=False)
    with pytest.raises(ZeroDivisionError):
        Forecaster(**SMALL_OPTIONS).fit("data.csv", out="run", logger="csv", listener=Killed())
    recorded = json.loads(Path("run/tracking.json").read_text())
    Path("run/tracking.json").write_text(json.dumps(recorded | {"log_to": log_to}))
    again = f"if it may: forecast train --resume run --log-to {log_to}"
    refused("train", "--resume", "run", message=f"^'run' is logged to '{log_to}'$", hint=again, code=2)
    refused("train", "--resume", "run", "--log-to", "x", message=f"is logged to '{log_to}'", hint=again, code=2)
    Path("run/tracking.json").write_text(json.dumps(recorded))
    words = ("train", "--resume", "run", "--log-to", "x")
    refused(*words, message="'run' is logged in its own folder, or not at all", hint="leave --log-to out", code=2)


def test_the_command_that_goes_on_names_the_log(make_table: Callable, here: Path, refused: Callable) -> None:
    make_table().to_csv("data.csv", index=False)
    with pytest.raises(ZeroDivisionError):
        Forecaster(**SMALL_OPTIONS).fit("data.csv", out="run", logger="csv", log_to="logs", listener=Killed())
    refused("predict", "run", message="unfinished", hint="forecast train --resume run --log-to logs$")


@pytest.mark.slow
def test_an_ensemble_has_curves_for_each_member(make_table: Callable, here: Path) -> None:
    Forecaster(**SMALL_OPTIONS, ensemble=2).fit(make_table(), out="run", logger="csv")
    names = set(pd.read_csv("run/tracking/metrics.csv").columns)
    assert {"member_1/validation_loss", "member_2/validation_loss", "validation/mae"} <= names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"log_to": "x"}, "--log-to is for a logger"),
        ({"logger": "paper"}, "--logger has no value 'paper'"),
        ({"logger": "mlflow"}, "--logger mlflow does not know the server"),
        ({"logger": "csv", "log_to": ".."}, "--log-to '..' holds something already"),
    ],
)
def test_a_logger_that_cannot_write_is_refused_before_training(
    options: dict[str, str], message: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(ConfigError, match=message):
        Forecaster(**SMALL_OPTIONS).fit("no-table.csv", **options)


def test_a_logger_without_its_package_is_refused(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="--logger wandb needs the package 'wandb'") as caught:
        Forecaster(**SMALL_OPTIONS).fit("no-table.csv", logger="wandb")
    assert caught.value.hint == 'pip install "forecast-attn[wandb]"'


@pytest.mark.integration
@pytest.mark.services
def test_tensorboard_reads_the_curves_back(make_table: Callable, here: Path) -> None:
    pytest.importorskip("tensorboard", reason="TensorBoard is not installed: make test-services")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    make_table().to_csv("data.csv", index=False)
    with pytest.raises(ZeroDivisionError):
        Forecaster(**SMALL_OPTIONS).fit("data.csv", out="run", logger="tensorboard", listener=Killed())
    Forecaster.resume("run")
    events = EventAccumulator("run/tracking").Reload()
    read = {event.step: event.value for event in events.Scalars("validation_loss")}
    assert read == {epoch: pytest.approx(loss, rel=1e-6) for epoch, loss in losses_of(Path("run"))}
    assert "baselines/seasonal-naive/mae" in events.Tags()["scalars"]
    (picture,) = events.Images("attention")
    assert picture.encoded_image_string.startswith(b"\x89PNG") and picture.width > 300


@pytest.mark.integration
@pytest.mark.services
@pytest.mark.filterwarnings("ignore")
def test_wandb_writes_an_offline_run(make_table: Callable, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb", reason="wandb is not installed: make test-services")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    Forecaster(**SMALL_OPTIONS).fit(make_table(), out="run", logger="wandb", log_to="logs")
    assert list(Path("logs").rglob("*.wandb"))
    assert list(Path("logs").rglob("attention*.png"))
    assert json.loads(Path("run/tracking.json").read_text())["id"]
