"""Several devices, mixed precision, and refusing what this machine does not have."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

SMALL = {"lookback": 14, "horizon": 3, "hidden_size": 4, "max_epochs": 1, "epoch_windows": 32, "accelerator": "cpu"}


@pytest.mark.slow
def test_two_processes_train_one_run(
    here: Path, forecast_process: Callable[..., Any], write: Callable[..., str], make_table: Callable[..., Any]
) -> None:
    """Each takes half of every epoch's windows; the run is the same whenever it is repeated."""
    flags = ("--devices", "2", "--accelerator", "cpu", "--hidden-size", "4", "--max-epochs", "3", "--seed", "7")
    flags += ("--weight-averaging", "ema")
    table = write(make_table())
    for run in ("first", "second"):
        outcome = forecast_process("train", table, *flags, "--out", run, cwd=here)
        assert outcome.code == 0, outcome.err
        assert "Warning" not in outcome.err
        assert "recommended" not in outcome.err
        assert len((here / run / "history.csv").read_text().splitlines()) == 4
        assert json.loads((here / run / "metrics.json").read_text())["ended"] == "max-epochs"
    assert (here / "first" / "model.safetensors").read_bytes() == (here / "second" / "model.safetensors").read_bytes()
    assert forecast_process("predict", "first", cwd=here).code == 0


def test_bfloat16_trains(
    here: Path, forecast: Callable[..., Any], write: Callable[..., str], make_table: Callable[..., Any], small: Any
) -> None:
    outcome = forecast("train", write(make_table()), *small, "--precision", "bf16", "--out", "run")
    assert outcome.code == 0, outcome.err
    assert forecast("predict", "run").code == 0


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--accelerator", "gpu"), "--accelerator gpu: this machine has none; it has cpu"),
        (("--precision", "16"), "--precision 16 needs a GPU"),
    ],
)
def test_hardware_that_is_not_there_is_refused(
    flags: tuple[str, ...],
    message: str,
    here: Path,
    forecast: Callable[..., Any],
    write: Callable[..., str],
    make_table: Callable[..., Any],
) -> None:
    outcome = forecast("train", write(make_table()), *flags, "--out", "run")
    assert outcome.code == 2
    assert outcome.error == message
    assert not (here / "run").exists()


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
def test_a_gpu_trains_and_predicts_as_a_cpu_does(
    here: Path, forecast: Callable[..., Any], write: Callable[..., str], make_table: Callable[..., Any], small: Any
) -> None:
    import pandas as pd

    table, averaged = write(make_table()), ("--weight-averaging", "ema")
    assert forecast("train", table, *small[:-1], "cuda", *averaged, "--out", "run").code == 0
    for device in ("cuda", "cpu"):
        assert forecast("predict", "run", "--accelerator", device, "--out", f"{device}.csv").code == 0
    on_gpu, on_cpu = (pd.read_csv(f"{device}.csv")["prediction"] for device in ("cuda", "cpu"))
    assert (on_gpu - on_cpu).abs().max() < 1e-3 * on_cpu.abs().max()


def test_threads_are_those_asked_for_and_given_back(
    here: Path, write: Callable[..., str], make_table: Callable[..., Any]
) -> None:
    """The number of cores changes no byte, and a caller's own number of threads is left alone."""
    from forecast_attn import Forecaster
    from forecast_attn.training.progress import TrainingListener

    class Counter(TrainingListener):
        seen: set[int] = set()  # noqa: RUF012

        def batch_done(self, loss: float, num_windows: int) -> None:
            self.seen.add(torch.get_num_threads())

    before = torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(3)
        Counter.seen.clear()
        Forecaster(**SMALL, threads=threads).fit(write(make_table()), listener=Counter())
        assert Counter.seen == {threads}
        assert torch.get_num_threads() == 3
    torch.set_num_threads(before)
