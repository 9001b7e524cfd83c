"""Several devices, mixed precision, and refusing what this machine does not have."""

import json
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from forecast_attn.config.mechanisms import ATTENTIONS

ROOT = Path(__file__).resolve().parents[1]

SMALL = {
    "lookback": 14,
    "horizon": 3,
    "hidden_size": 4,
    "max_epochs": 1,
    "combination": "none",
    "epoch_windows": 32,
    "accelerator": "cpu",
}


@pytest.mark.slow
def test_two_processes_train_one_run(
    here: Path, forecast_fork: Callable[..., Any], write: Callable[..., str], make_table: Callable[..., Any]
) -> None:
    """Each takes half of every epoch's windows; the run is the same whenever it is repeated."""
    flags = ("--devices", "2", "--accelerator", "cpu", "--hidden-size", "4", "--max-epochs", "3", "--seed", "7")
    flags += ("--weight-averaging", "ema")
    table = write(make_table())
    for run in ("first", "second"):
        outcome = forecast_fork("train", table, *flags, "--out", run)
        assert outcome.code == 0, outcome.err
        assert "Warning" not in outcome.err
        assert "recommended" not in outcome.err
        assert len((here / run / "history.csv").read_text().splitlines()) == 4
        assert json.loads((here / run / "metrics.json").read_text())["ended"] == "max-epochs"
    assert (here / "first" / "model.safetensors").read_bytes() == (here / "second" / "model.safetensors").read_bytes()
    assert forecast_fork("predict", "first").code == 0


@pytest.mark.slow
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


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU here")
@pytest.mark.parametrize("head", [{}, {"quantiles": "0.1,0.5,0.9"}, {"distribution": "student-t"}])
@pytest.mark.parametrize("attention", list(ATTENTIONS))
def test_losses_on_a_gpu_are_those_of_a_cpu(
    attention: str, head: dict[str, str], make_table: Callable[..., Any]
) -> None:
    from forecast_attn import Forecaster

    options = SMALL | head | {"attention": attention, "dropout": 0.0, "seed": 7}
    losses = [
        Forecaster(**options | {"accelerator": name}).fit(make_table()).history[["train_loss", "validation_loss"]]
        for name in ("cuda", "cpu")
    ]
    np.testing.assert_allclose(*losses, rtol=1e-2)


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_the_benchmark_says_that_there_is_no_gpu(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It must not measure a CPU and look as if it had measured a GPU."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.setattr(sys, "argv", ["gpu.py"])
    assert runpy.run_path(str(ROOT / "benchmarks" / "gpu.py"))["main"]() == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert re.fullmatch(r"no GPU that PyTorch \S+ can use: nothing was measured\n", output.err)


@pytest.mark.slow
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


# ---------------------------------------------------------------------- several GPUs, where there is none


@pytest.fixture
def two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 2)


def test_several_gpus_are_refused_once_this_process_has_used_one(
    two_gpus: None, monkeypatch: pytest.MonkeyPatch, make_table: Callable[..., Any], tmp_path: Path
) -> None:
    """Forked processes could not use them; without a check the first of them would fail in the midst of training."""
    from forecast_attn import Forecaster
    from forecast_attn.errors import ConfigError

    monkeypatch.setattr("torch.cuda.is_initialized", lambda: True)
    options = SMALL | {"accelerator": "cuda", "devices": 2}
    with pytest.raises(ConfigError, match="this process has used a GPU already") as error:
        Forecaster(**options).fit(make_table(), out=tmp_path / "run")
    assert "--devices 1" in str(error.value.hint)
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_several_gpus_leave_this_process_without_any(
    two_gpus: None, monkeypatch: pytest.MonkeyPatch, make_table: Callable[..., Any], tmp_path: Path
) -> None:
    """Members are trained in processes of their own, and what scores them is in another: the next ones can use GPUs."""
    import os

    from forecast_attn import Forecaster

    def note(name: str) -> Callable[..., str]:
        def called(*args: object, **options: object) -> str:
            with (tmp_path / name).open("a") as file:
                file.write(f"{os.getpid()}\n")
            return "max-epochs"

        return called

    for name in ("fit", "finish", "finish_ensemble"):
        monkeypatch.setattr(f"forecast_attn.training.train.{name}", note(name))
    Forecaster(**SMALL | {"accelerator": "cuda", "devices": 2, "ensemble": 2}).fit(make_table(), out=tmp_path / "run")
    processes = {name: (tmp_path / name).read_text().split() for name in ("fit", "finish", "finish_ensemble")}
    assert processes["fit"] == [str(os.getpid())] * 2  # where Lightning forks
    scoring = [*processes["finish"], *processes["finish_ensemble"]]
    assert len(set(scoring)) == 3
    assert str(os.getpid()) not in scoring


def test_refits_use_one_gpu(two_gpus: None, run_copy: Path) -> None:
    """Between refits this process forecasts on a GPU, after which no others can be started."""
    from dataclasses import replace

    from forecast_attn.forecasting.model import read_config
    from forecast_attn.runs.run_dir import RunDir
    from forecast_attn.training.refit import Refit, refit_config

    config = read_config(RunDir(run_copy))
    config = replace(config, training=replace(config.training, devices=2))
    devices = {
        name: refit_config(config, Refit(1, None, 1, accelerator=name)).training.devices for name in ("cuda", "cpu")
    }
    assert devices == {"cuda": 1, "cpu": 2}


@pytest.mark.slow
def test_work_apart_says_how_it_ended(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    from forecast_attn.errors import DataError, RunError
    from forecast_attn.training.child_process import run_in_child_process

    def refuse() -> None:
        raise DataError("the table is empty", "add rows", row=3)

    def crash() -> None:
        raise ZeroDivisionError

    run_in_child_process((tmp_path / "done").touch)
    assert (tmp_path / "done").exists()
    with pytest.raises(DataError, match=r"^the table is empty\nhint: add rows$") as error:
        run_in_child_process(refuse)
    assert error.value.row == 3
    with pytest.raises(RunError, match="a process that scores the training failed"):
        run_in_child_process(crash)
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_a_cpu_is_chosen_without_looking_for_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """To look is to use it, as far as processes that are forked later are concerned."""
    from forecast_attn.devices import choose_device

    def looked() -> bool:
        raise AssertionError

    monkeypatch.setattr("torch.cuda.is_available", looked)
    assert choose_device("cpu").type == "cpu"
