"""Training and forecasting on a GPU, where there is none: whole runs on a simulated one give what a CPU gives."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.errors import RunError

from .simulated_gpu import SimulatedGpu, simulated_gpu

pytestmark = pytest.mark.slow

OPTIONS: dict[str, Any] = {
    "lookback": 7,
    "horizon": 3,
    "hidden_size": 4,
    "max_epochs": 1,
    "combination": "none",
    "epoch_windows": 16,
    "batch_size": 8,
    "validation_windows": 8,
    "seed": 7,
}

STUDENT_T, GAUSSIAN = {"distribution": "student-t"}, {"distribution": "gaussian"}
QUANTILES = {"quantiles": "0.1,0.5,0.9"}
TRUE_VALUES = {"decoding": "autoregressive", "teacher_forcing": "1", "dropout": 0.0}
NETWORKS: dict[str, dict[str, Any]] = {
    "none": {"cell": "lstm", "num_layers": 2, "bidirectional": True, "dropout": 0.2},
    "bahdanau": {"decoding": "autoregressive", "teacher_forcing": "1..0", "dropout": 0.0},
    "bahdanau-normed": TRUE_VALUES,
    "luong-dot": {"attention_window": "local-m"} | STUDENT_T,
    "luong-general": {"input_feeding": True} | QUANTILES,
    "luong-concat": {"linear_path": True, "lags": "7", "temporal_decoder_size": 8, "projection_size": 4},
    "luong-location": {"weight_averaging": "ema"},
    "luong-scaled": {"attention_window": "local-p"} | GAUSSIAN,
    "scaled-dot": {"patch_length": 7, "lookback": 14},
    "multi-head": {"cell": "lstm", "num_layers": 2, "bidirectional": True, "dropout": 0.2},
    "keras-additive": {"normaliser": "sparsemax"},
    "keras-dot": {"normaliser": "entmax15"} | QUANTILES,
}
"""Every mechanism, each with a part of the network or a head of its own: all parts and heads are among them."""


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedGpu]:
    for size in ("BATCH_SIZE", "GPU_BATCH_SIZE"):
        monkeypatch.setattr(f"forecast_attn.forecasting.inference.{size}", 8)
    monkeypatch.setattr("forecast_attn.training.module.LOSSES_PER_READ", 4)
    monkeypatch.setattr("forecast_attn.forecasting.weight_need.RANDOM_ORDERS", 1)
    with simulated_gpu() as simulated:
        yield simulated


@pytest.fixture(scope="session")
def awkward(make_table: Callable[..., pd.DataFrame]) -> pd.DataFrame:
    """Two series of unequal length with holes, categories of all roles, a covariate known in advance, a static one."""
    tables = []
    for number, rows in enumerate((90, 70)):
        table = make_table(rows, seed=number)
        days = np.arange(rows)
        table["weekday"] = np.array(["mo", "tu", "we", "th", "fr", "sa", "su"])[days % 7]
        table["state"] = np.where(days % 5 < 2, "on", "off")
        table["size"] = [3.0, 8.0][number]
        table["kind"] = ["shop", "bank"][number]
        table.loc[20:23, "target"] = np.nan
        table.loc[rows - 3 :, ["target", "temperature"]] = np.nan  # to forecast
        table.loc[rows - 3 :, "state"] = None
        tables.append(table.assign(item_id=f"series {number}"))
    return pd.concat(tables)


AWKWARD = {
    "future_covariates": "weekday",
    "static_covariates": "size,kind",
    "missing": "mask",
    "categorical": "weekday,state,kind",
}


def assert_as_on_a_cpu(table: pd.DataFrame, **options: Any) -> None:
    """Both train and forecast to the same numbers."""
    runs = {name: Forecaster(**OPTIONS | options, accelerator=name).fit(table) for name in ("cuda", "cpu")}
    on_gpu, on_cpu = (run.history[["train_loss", "validation_loss"]] for run in runs.values())
    np.testing.assert_allclose(on_gpu, on_cpu, rtol=1e-4)
    on_gpu, on_cpu = (run.predict(accelerator=name) for name, run in runs.items())
    for name in on_cpu.predictions.columns[4:]:
        np.testing.assert_allclose(on_gpu.predictions[name], on_cpu.predictions[name], rtol=1e-3)
    assert (on_cpu.attention is None) == (on_gpu.attention is None)
    if on_cpu.attention is not None:
        np.testing.assert_allclose(on_gpu.attention.weights, on_cpu.attention.weights, atol=1e-4)


@pytest.mark.parametrize("attention", list(ATTENTIONS))
def test_every_mechanism_part_and_head(
    gpu: SimulatedGpu, attention: str, make_table: Callable[..., pd.DataFrame]
) -> None:
    assert_as_on_a_cpu(make_table(60), attention=attention, **NETWORKS[attention])


@pytest.mark.parametrize("attention", ["luong-general", "bahdanau"])
def test_holes_and_categories(gpu: SimulatedGpu, attention: str, awkward: pd.DataFrame) -> None:
    assert_as_on_a_cpu(awkward, attention=attention, **AWKWARD)


def test_a_calibrated_ensemble(gpu: SimulatedGpu, make_table: Callable[..., pd.DataFrame]) -> None:
    options = {"calibration": "adaptive", "validation": 30, "validation_windows": 32}
    assert_as_on_a_cpu(make_table(75), ensemble=2, **QUANTILES, **options)


@pytest.mark.parametrize("distribution", ["negative-binomial", "tweedie"])
def test_counts(gpu: SimulatedGpu, distribution: str, make_table: Callable[..., pd.DataFrame]) -> None:
    table = make_table(60)
    table["target"] = (table["target"] / 4).round()
    assert_as_on_a_cpu(table, distribution=distribution)


# ---------------------------------------------------------------------- what a GPU must not be made to do


def waits_of_training(gpu: SimulatedGpu, table: pd.DataFrame, steps: int, **options: Any) -> int:
    gpu.waits.clear()
    windows = {"epoch_windows": steps * OPTIONS["batch_size"]}
    forecaster = Forecaster(**OPTIONS | windows | options, accelerator="cuda").fit(table)
    assert len(forecaster.history) == 1
    return len(gpu.waits)


@pytest.mark.parametrize("options", [{"attention": "bahdanau"} | QUANTILES, TRUE_VALUES | {"weight_averaging": "ema"}])
def test_training_waits_only_to_read_many_losses(
    gpu: SimulatedGpu, options: dict[str, Any], make_table: Callable[..., pd.DataFrame]
) -> None:
    """Each further step adds none; the last batch of the epoch reads those that are left."""
    table = make_table(240)
    few, many = (waits_of_training(gpu, table, steps, **options) for steps in (2, 10))
    assert many - few == 2


def test_losses_that_are_read_together_are_those_of_a_cpu(
    gpu: SimulatedGpu, make_table: Callable[..., pd.DataFrame]
) -> None:
    options = OPTIONS | {"epoch_windows": 7 * OPTIONS["batch_size"], "max_epochs": 2}
    histories = [Forecaster(**options, accelerator=name).fit(make_table()).history for name in ("cuda", "cpu")]
    columns = ["train_loss", "validation_loss"]
    np.testing.assert_allclose(histories[0][columns], histories[1][columns], rtol=1e-4)


def test_a_loss_that_is_not_finite_names_its_step_and_windows_though_read_later(
    gpu: SimulatedGpu, make_table: Callable[..., pd.DataFrame]
) -> None:
    options = OPTIONS | {"lookback": 14, "epoch_windows": 80, "learning_rate": 1e30, "schedule": "constant"}
    options["gradient_clip"] = 0
    messages = []
    for name in ("cuda", "cpu"):
        with pytest.raises(RunError, match=r"the loss became .* in epoch 1, step 2: series 'target', windows") as error:
            Forecaster(**options, accelerator=name).fit(make_table())
        # Which of the step's windows overflow first is a matter of the processor's rounding.
        messages.append(error.value.message.partition(", windows")[0])
    assert messages[0] == messages[1]


def test_forecasting_waits_once_for_each_result_of_a_batch(
    gpu: SimulatedGpu, run_on_gpu: Forecaster, make_table: Callable[..., pd.DataFrame]
) -> None:
    waits = []
    for cutoffs in (16, 48):
        gpu.waits.clear()
        run_on_gpu.backtest(make_table(), cutoffs=cutoffs, stride=1, baselines=["naive"], accelerator="cuda")
        waits.append(len(gpu.waits))
    batches = (48 - 16) / 8
    assert (waits[1] - waits[0]) / batches == 4  # series, forecast, parameters, weights


def test_the_table_is_copied_to_the_device_once(gpu: SimulatedGpu, make_table: Callable[..., pd.DataFrame]) -> None:
    table = make_table()
    gpu.uploads.clear()
    forecaster = Forecaster(**OPTIONS, accelerator="cuda").fit(table)
    # Once to train, once to score: in between the device has its memory back.
    assert [shape for shape in gpu.uploads if shape == (len(table),)] == [(len(table),)] * 2
    gpu.uploads.clear()
    forecaster.predict(accelerator="cuda")
    assert [shape for shape in gpu.uploads if shape == (OPTIONS["lookback"] + OPTIONS["horizon"],)] == [(10,)]


# ---------------------------------------------------------------------- the other commands


@pytest.fixture
def run_on_gpu(gpu: SimulatedGpu, make_table: Callable[..., pd.DataFrame]) -> Forecaster:
    options = OPTIONS | {"decoding": "autoregressive", "validation": 60} | QUANTILES
    return Forecaster(**options, accelerator="cuda").fit(make_table())


def test_paths_are_drawn_as_on_a_cpu(run_on_gpu: Forecaster) -> None:
    drawn = [run_on_gpu.predict(samples=9, seed=3, accelerator=name).samples for name in ("cuda", "cpu")]
    np.testing.assert_allclose(drawn[0]["value"], drawn[1]["value"], rtol=1e-3)


def test_an_audit_is_that_of_a_cpu(gpu: SimulatedGpu, make_table: Callable[..., pd.DataFrame]) -> None:
    table = make_table()
    forecaster = Forecaster(**OPTIONS, accelerator="cuda").fit(table)
    options = {"windows": 2, "draws": 10, "repeats": 2, "covariates": True}
    audits = [forecaster.audit(table, **options, accelerator=name).to_dict() for name in ("cuda", "cpu")]
    assert audits[0]["covariates"]["mae"] == pytest.approx(audits[1]["covariates"]["mae"])
    assert [check["name"] for check in audits[0]["checks"]] == [check["name"] for check in audits[1]["checks"]]


def test_a_backtest_with_refits_is_that_of_a_cpu(
    run_on_gpu: Forecaster, make_table: Callable[..., pd.DataFrame], tmp_path: Path
) -> None:
    frames = []
    for name in ("cuda", "cpu"):
        options = {"refit": 2, "refit_epochs": 1, "baselines": ["naive"], "attention_out": tmp_path / f"{name}.parquet"}
        frames.append(run_on_gpu.backtest(make_table(), cutoffs=4, **options, accelerator=name).frame)
    np.testing.assert_allclose(frames[0]["prediction"], frames[1]["prediction"], rtol=1e-3)


def test_an_update_is_that_of_a_cpu(gpu: SimulatedGpu, make_table: Callable[..., pd.DataFrame]) -> None:
    table = make_table(75)
    old, new = table[:60], table[60:]
    forecasts = []
    for name in ("cuda", "cpu"):
        forecaster = Forecaster(**OPTIONS, accelerator=name).fit(old)
        updated = forecaster.update(new, history=old, epochs=1, validation=6, accelerator=name)
        forecasts.append(updated.predict(accelerator=name).predictions["prediction"])
    np.testing.assert_allclose(*forecasts, rtol=1e-3)
