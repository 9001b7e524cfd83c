"""`predict --runtime onnx`: the file that `export` left in a run forecasts as the network does, without torch."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from benchmarks.export import EVERY_COLUMN, panel, table
from forecast_attn import Forecaster, read_attention
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.runs.run_dir import RunDir

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
pytest.importorskip("onnxscript", reason="the extra onnx is not installed")
pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")
pytestmark = pytest.mark.slow

TINY: dict[str, Any] = {"hidden_size": 4, "max_epochs": 1, "epoch_windows": 32, "seed": 7, "accelerator": "cpu"}


@pytest.fixture(scope="module")
def daily(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An exported run of one series, which forecasts together with a baseline, and its quantiles are calibrated."""
    run = tmp_path_factory.mktemp("exported") / "run"
    options = {"lookback": 7, "horizon": 2, "calibration": "cqr"}
    Forecaster(**TINY, **options, quantiles=(0.1, 0.5, 0.9), validation=30).fit(
        table()[["date", "target"]], out=run
    ).export()
    return run


@pytest.fixture
def copied(daily: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(daily, tmp_path / "run"))


def assert_same(first: pd.DataFrame, second: pd.DataFrame, names: tuple[str, ...]) -> None:
    """Equal tables but for the rounding of forecasts."""
    pd.testing.assert_frame_equal(first.drop(columns=[*names]), second.drop(columns=[*names]))
    np.testing.assert_allclose(first[[*names]], second[[*names]], rtol=1e-5)


def test_forecasts_with_baselines_quantiles_and_weights_are_those_of_torch(daily: Path) -> None:
    forecaster = Forecaster.load(daily)
    expected, result = forecaster.predict(), forecaster.predict(runtime="onnx")
    assert expected.weights == result.weights != {}
    assert_same(expected.predictions, result.predictions, ("prediction", "0.1", "0.5", "0.9"))
    assert expected.attention is not None and result.attention is not None
    assert expected.attention.metadata == result.attention.metadata
    np.testing.assert_allclose(expected.attention.weights, result.attention.weights, atol=1e-5)


def test_a_panel_with_holes_categories_and_known_covariates_is_forecast_as_with_torch(tmp_path: Path) -> None:
    options = {**EVERY_COLUMN, "horizon": 3, "validation": 30, "patch_length": 7}
    forecaster = Forecaster(**TINY, **options).fit(panel(), out=tmp_path / "run")
    forecaster.export()
    last = {name: rows.iloc[-1] for name, rows in panel().groupby("item")}
    ahead = [
        {**row, "date": row["date"] + pd.Timedelta(days=days), "wind": 4.0 + days, "weather": "sun", "target": None}
        for row in last.values()
        for days in (1, 2, 3)
    ]
    future = pd.DataFrame(ahead)[["date", "item", "wind", "weather"]]
    expected, result = (forecaster.predict(panel(), future=future, runtime=runtime) for runtime in ("torch", "onnx"))
    assert_same(expected.predictions, result.predictions, ("prediction",))
    assert expected.attention is not None and result.attention is not None
    assert expected.attention.metadata == result.attention.metadata
    np.testing.assert_array_equal(expected.attention.observed_steps, result.attention.observed_steps)


def test_the_command_writes_the_same_files_and_imports_no_torch(daily: Path, tmp_path: Path) -> None:
    out, weights = tmp_path / "forecast.csv", tmp_path / "weights.parquet"
    words = ["predict", str(daily), "--runtime", "onnx", "--out", str(out), "--attention-out", str(weights)]
    program = f"import sys\nsys.modules['torch'] = None\nfrom forecast_attn.cli import main\nmain({words!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert_same(
        Forecaster.load(daily).predict().predictions,
        pd.read_csv(out).astype({"cutoff": "datetime64[ns]", "timestamp": "datetime64[ns]"}),
        ("prediction", "0.1", "0.9"),
    )
    assert len(read_attention(weights).weights) == 1


def test_forecasts_are_cut_off_at_zero_where_that_is_asked_for(daily: Path) -> None:
    low = table()[["date", "target"]].assign(target=lambda frame: frame["target"] - 1_000)
    result = Forecaster.load(daily).predict(low, non_negative=True, runtime="onnx", combine_with=())
    assert (result.predictions[["prediction", "0.1", "0.9"]] == 0).all(axis=None)


def test_a_run_without_its_file_names_the_command_that_writes_it(forecast: Callable, finished_run: str) -> None:
    done = forecast("predict", finished_run, "--runtime", "onnx")
    assert (done.code, done.error) == (1, f"'{finished_run}' has no ONNX file to forecast with")
    assert done.hint == f"forecast export {finished_run}"


def test_another_file_than_the_one_exported_is_refused(copied: Path) -> None:
    content = (copied / "model.onnx").read_bytes()
    (copied / "model.onnx").write_bytes(content[:-1] + b"x")
    with pytest.raises(RunError, match="is not the file that was exported from these weights"):
        Forecaster.load(copied).predict(runtime="onnx")


@pytest.mark.parametrize(
    "options", [{"cold_start": True}, {"engine": "ray"}, {"accelerator": "gpu"}, {"samples": 3}], ids=str
)
def test_what_needs_the_network_is_refused_by_its_name(daily: Path, options: dict[str, Any]) -> None:
    name = next(iter(options)).replace("_", "-")
    with pytest.raises(ConfigError, match=f"--{name}.* does not go with --runtime onnx"):
        Forecaster.load(daily).predict(runtime="onnx", **options)


def test_files_of_a_folder_are_forecast_with_torch(daily: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--runtime onnx"):
        table().to_parquet(tmp_path / "part.parquet")
        Forecaster.load(daily).predict_parts(tmp_path, out=tmp_path / "out", runtime="onnx")


def test_a_damaged_file_that_the_manifest_lists_is_an_error_in_a_sentence(copied: Path) -> None:
    run = RunDir(copied)
    run.exported.write_bytes(run.exported.read_bytes()[:1000])
    run.list_file(run.exported)
    with pytest.raises(RunError, match="cannot forecast with"):
        Forecaster.load(copied).predict(runtime="onnx")


def test_a_file_with_other_inputs_is_an_error_in_a_sentence(daily: Path, copied: Path) -> None:
    run = RunDir(copied)
    document = onnx.load(run.exported)
    document.graph.input[1].name = "something_else"
    run.exported.write_bytes(document.SerializeToString())
    run.list_file(run.exported)
    with pytest.raises(RunError, match="cannot forecast with"):
        Forecaster.load(copied).predict(runtime="onnx")
