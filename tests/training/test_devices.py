"""Two processes train as one does with their batches together: the same windows, losses and weights."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.training.sampling import EpochSampler, share_of_step

from ..forks import Strike

TRAINING = (
    *("--lookback", "14", "--horizon", "3", "--hidden-size", "4", "--max-epochs", "2", "--validation", "30"),
    *("--dropout", "0", "--patience", "9", "--seed", "7", "--accelerator", "cpu"),
)


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(1, 12), st.integers(1, 5), st.integers(1, 60))
def test_the_devices_together_see_the_batches_of_one(rows: int, batch_size: int, devices: int, epoch: int) -> None:
    def batches_of(rank: int, num_devices: int, size: int) -> list[list[int]]:
        sampler = EpochSampler(
            np.arange(rows, dtype=np.int32),
            windows_per_epoch=min(epoch, rows),
            batch_size=size,
            seed=3,
            rank=rank,
            num_devices=num_devices,
        )
        batches = [batch.tolist() for batch in sampler]
        assert len(batches) == len(sampler)
        return batches

    together = batches_of(0, 1, batch_size * devices)
    shares = [batches_of(rank, devices, batch_size) for rank in range(devices)]
    for step, batch in enumerate(together):
        counted = [share_of_step(len(batch), rank, devices) for rank in range(devices)]
        seen = [share[step][:count] for share, count in zip(shares, counted, strict=True)]
        assert sorted(window for windows in seen for window in windows) == sorted(batch)
        assert all(len(share[step]) == max(count, 1) for share, count in zip(shares, counted, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "strategy"), [("whole", "ddp"), ("missing-values", "ddp"), ("whole", "fsdp")])
def test_two_processes_have_the_losses_of_one(
    kind: str,
    strategy: str,
    forecast,
    forecast_fork,
    make_table: Callable[..., pd.DataFrame],
    write: Callable[..., str],
) -> None:
    """49 windows of an epoch in steps of 16: of the last step one process has a window, the other one none."""
    table, masked = make_table(120), tuple[str, ...]()
    if kind == "missing-values":  # then a process's own mean is not its part of the whole
        table.loc[np.arange(20, 110, 4), "target"] = np.nan
        masked = ("--missing", "mask")
    name = write(table)
    words = ("train", name, *TRAINING, *masked, "--epoch-windows", "49", "--gradient-clip", "0.1", "--quiet")
    words += ("--weight-averaging", "ema" if kind == "whole" else "none")
    outcome = forecast(*words, "--batch-size", "16", "--out", "one")
    assert outcome.code == 0, outcome.err
    ended = forecast_fork(*words, "--batch-size", "8", "--devices", "2", "--strategy", strategy, "--out", "two")
    assert ended.code == 0, ended.err
    assert {path.name for path in Path("one").iterdir()} == {path.name for path in Path("two").iterdir()}
    one, two = (pd.read_csv(Path(run) / "history.csv") for run in ("one", "two"))
    for column in ("epoch", "train_loss", "validation_loss", "learning_rate"):
        np.testing.assert_allclose(two[column], one[column], rtol=1e-5)
    weights, others = (safetensors.numpy.load_file(Path(run) / "model.safetensors") for run in ("one", "two"))
    assert set(weights) == set(others)
    for each, values in weights.items():
        np.testing.assert_allclose(others[each], values, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
def test_a_training_whose_process_was_killed_resumes_to_the_same_bytes(
    here: Path, forecast_fork, make_table: Callable[..., pd.DataFrame], write: Callable[..., str]
) -> None:
    words = ("train", write(make_table(120)), *TRAINING, "--max-epochs", "4", "--weight-averaging", "ema", "--quiet")
    words += ("--devices", "2", "--strategy", "fsdp", "--epoch-windows", "49", "--batch-size", "8")
    whole = forecast_fork(*words, "--out", "whole")
    assert whole.code == 0, whole.err
    strike = Strike("forecast_attn.training.callbacks:Recorder", "_write_checkpoint", 2, "after")
    killed = forecast_fork(*words, "--out", "run", strike=strike)
    assert killed.code == 1
    assert killed.error.startswith("a training process ended before its work was done: process ")
    assert killed.error.endswith("terminated with signal SIGKILL")
    assert "forecast train --resume RUN" in killed.hint
    resumed = forecast_fork("train", "--resume", "run", "--quiet")
    assert resumed.code == 0, resumed.err
    assert Path("run/model.safetensors").read_bytes() == Path("whole/model.safetensors").read_bytes()


COUNT_WEIGHTS = """
import pathlib
from forecast_attn.training.callbacks import Recorder
def count(self, trainer, module):
    tensors = [*module.network.parameters(), *module.average.network.parameters()]
    tensors += [state["exp_avg"] for state in trainer.optimizers[0].state.values()]
    pathlib.Path(f"rank-{trainer.global_rank}").write_text(str(sum(tensor.numel() for tensor in tensors)))
Recorder._keep_epoch, keep = lambda self, *of: (count(self, *of), keep(self, *of)), Recorder._keep_epoch
from forecast_attn.cli import main
main()
"""


@pytest.mark.slow
def test_each_process_of_fsdp_keeps_half_of_the_weights(
    here: Path, make_table: Callable[..., pd.DataFrame], write: Callable[..., str], process_environment: dict[str, str]
) -> None:
    """Of the network, of its average and of what the optimiser remembers."""
    words = ("train", write(make_table(60)), *TRAINING, "--max-epochs", "1", "--weight-averaging", "ema")
    words += ("--devices", "2", "--strategy", "fsdp", "--out", "run", "--quiet")
    subprocess.run([sys.executable, "-c", COUNT_WEIGHTS, *words], check=True, env=process_environment)
    weights = sum(array.size for array in safetensors.numpy.load_file("run/model.safetensors").values())
    counts = [int(Path(f"rank-{rank}").read_text()) for rank in range(2)]
    assert sum(counts) == pytest.approx(3 * weights, abs=6)
    assert max(counts) <= 1.5 * weights + 3
