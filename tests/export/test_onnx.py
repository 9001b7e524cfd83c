"""A run as an ONNX file: the same forecasts as `predict`, by a program that has no torch."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.export import EVERY_COLUMN, panel, table
from forecast_attn import Forecaster
from forecast_attn.config.options import COUNT_DISTRIBUTIONS
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.export import onnx_file
from forecast_attn.export.graph import RunGraph, inputs_of
from forecast_attn.export.onnx_file import TOLERANCE
from forecast_attn.forecasting.inference import load_model
from forecast_attn.runs.run_dir import RunDir

onnx = pytest.importorskip("onnx", reason="the extra onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")

ROOT = Path(__file__).resolve().parents[2]
SMALL: dict[str, Any] = {
    "lookback": 14,
    "horizon": 3,
    "hidden_size": 4,
    "max_epochs": 1,
    "combination": "none",
    "epoch_windows": 32,
    "validation": 30,
    "seed": 7,
    "accelerator": "cpu",
}


CASES: dict[str, dict[str, Any]] = {
    "additive": {"attention": "bahdanau-normed", "cell": "lstm", "distribution": "gaussian", "transform": "arcsinh"},
    "heads": {
        "attention": "multi-head",
        "normaliser": "entmax15",
        "attention_window": "local-p",
        "decoding": "autoregressive",
        "quantiles": (0.2, 0.8),
        "calibration": "split",
        "transform": "log",
    },
}
"""A few of those that benchmarks/export.py converts."""


def difference_of_graph(forecaster: Forecaster) -> dict[str, float]:
    """Largest differences of the tensor function that is converted, before it is."""
    run = RunDir(forecaster.run_path)
    model = load_model(run)
    graph = RunGraph(model).eval()

    def forecast(given: dict[str, Any]) -> dict[str, Any]:
        with torch.inference_mode():
            values = graph(*(torch.from_numpy(given[each.name]) for each in graph.inputs))
        return {name: value.numpy() for name, value in zip(graph.outputs, values, strict=True)}

    return onnx_file.difference_from_predict(model, list(onnx_file.trials(model, run)), graph, forecast)


@pytest.mark.slow
def test_onnxruntime_reports_nothing_to_its_maker(tmp_path: Path, process_environment: dict[str, str]) -> None:
    """Its reports begin with a device's id in the home folder, as soon as it is imported; CI switches them off."""
    unset = ("CI", "ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME")
    environment = {name: value for name, value in process_environment.items() if name not in unset}
    code = "from forecast_attn.export.onnx_file import check_installed; check_installed()"
    subprocess.run([sys.executable, "-c", code], env=environment | {"HOME": str(tmp_path)}, check=True)
    assert not list(tmp_path.rglob("*"))


@pytest.mark.slow
@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_the_graph_forecasts_as_predict_before_it_is_converted(options: dict[str, Any]) -> None:
    forecaster = Forecaster(**{**SMALL, **options}).fit(table()[["date", "target"]])
    assert max(difference_of_graph(forecaster).values()) < TOLERANCE


@pytest.mark.slow
def test_the_graph_of_an_ensemble_on_a_panel_with_holes_forecasts_as_predict() -> None:
    options = {"ensemble": 2, "combine": "median", "patch_length": 7}
    forecaster = Forecaster(**{**EVERY_COLUMN, **SMALL, **options}).fit(panel())
    assert max(difference_of_graph(forecaster).values()) < TOLERANCE
    names = [each.name for each in inputs_of(load_model(RunDir(forecaster.run_path)).schema)]
    assert names == [
        "series",
        "past_target",
        "past_covariates",
        "future_covariates",
        "static_covariates",
        "future_categories",
        "static_categories",
        "local_seconds",
        "history_length",
    ]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, forecast: Callable, forecast_process: Callable) -> Path:
    """A folder with the sample, a run trained on it with a covariate and quantiles, and its file.

    torch's compiler makes a cache in the temporary folder, which no one has named, and leaves it there.
    """
    folder = tmp_path_factory.mktemp("exported")
    (folder / "planted_lag.csv").write_bytes((ROOT / "data" / "planted_lag.csv").read_bytes())
    # Small, because conversion costs time for every step of a recurrent network.
    sizes = ("--lookback", "6", "--horizon", "2", "--hidden-size", "4", "--max-epochs", "1", "--epoch-windows", "64")
    words = (*sizes, "--combination", "none", "--quantiles", "0.1,0.5,0.9", "--seed", "7")
    assert forecast("train", folder / "planted_lag.csv", *words, "--out", folder / "run", "--quiet").code == 0
    (folder / "temporary").mkdir()
    environment = {"TMPDIR": str(folder / "temporary")}
    done = forecast_process("export", folder / "run", "--onnx", folder / "model.onnx", env=environment)
    assert done.code == 0, done.err
    assert not list((folder / "temporary").iterdir())
    for output in ("prediction", "quantiles", "attention"):
        assert re.search(rf"output {output} +differs from predict by at most \d.\de-\d\d over 32 windows", done.out)
    return folder


@pytest.mark.integration
def test_the_consumer_of_the_documents_forecasts_without_torch(exported: Path) -> None:
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(program.strip().splitlines()) <= 15
    blocked = "import sys\nfor name in ('torch', 'forecast_attn', 'onnx'):\n    sys.modules[name] = None\n"
    check = "np.savez('outputs.npz', prediction=prediction, quantiles=quantiles, attention=attention)"
    words = [sys.executable, "-c", f"{blocked}{program}\n{check}"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=exported, check=False)
    assert done.returncode == 0, done.stderr
    with np.load(exported / "outputs.npz") as outputs:
        expected = Forecaster.load(exported / "run").predict()
        assert expected.attention is not None
        for name, shape, values in (
            ("prediction", (1, 2), expected.predictions[["prediction"]].T),
            ("quantiles", (1, 2, 3), expected.predictions[["0.1", "0.5", "0.9"]].to_numpy()[None]),
            ("attention", (1, 1, 2, 6), expected.attention.weights),
        ):
            assert outputs[name].shape == shape
            np.testing.assert_allclose(outputs[name], values, rtol=1e-5, atol=1e-6)


@pytest.mark.integration
def test_the_file_holds_its_metadata_and_nothing_of_this_machine(exported: Path) -> None:
    content = (exported / "model.onnx").read_bytes()
    session = onnxruntime.InferenceSession(content)
    about = json.loads(session.get_modelmeta().custom_metadata_map["forecast_attn"])
    assert (about["format"], about["target"], about["item_ids"]) == (1, "target", ["target"])
    assert {each.name for each in session.get_inputs()} == {each["name"] for each in about["inputs"]}
    assert [each.name for each in session.get_outputs()] == about["outputs"]
    assert str(ROOT).encode() not in content and b"site-packages" not in content


@pytest.mark.slow
def test_another_forecast_than_that_of_predict_is_never_written(
    exported: Path, forecast: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, honest = onnx.load(exported / "model.onnx"), onnx_file.run_onnx

    def wrong(*words: Any) -> dict[str, Any]:
        outputs = honest(*words)
        return {**outputs, "prediction": outputs["prediction"] * 1.001}

    monkeypatch.setattr(onnx_file, "_converted", lambda *words: document)  # converting it again would take seconds
    monkeypatch.setattr(onnx_file, "run_onnx", wrong)
    done = forecast("export", exported / "run", "--onnx", exported / "wrong.onnx")
    assert (done.code, done.error.split(":")[0]) == (1, "no ONNX file was written")
    assert not (exported / "wrong.onnx").exists()


@pytest.mark.slow
def test_without_the_extra_the_command_says_how_to_install_it(
    forecast: Callable, finished_run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    done = forecast("export", finished_run, "--onnx", tmp_path / "model.onnx")
    assert (done.code, done.error) == (2, "an ONNX file needs the package 'onnxscript'")
    assert done.hint == 'pip install "forecast-attn[onnx]"'


def test_a_named_file_is_none_of_the_run(forecast: Callable, finished_run: str) -> None:
    over = forecast("export", finished_run, "--onnx", Path(finished_run) / "schema.json")
    assert "is a file that is read or belongs to a run" in over.error


@pytest.mark.slow
def test_a_run_combined_with_baselines_is_refused_by_their_names(
    finished_run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = {"network": 0.5, "regression": 0.5}
    monkeypatch.setattr(onnx_file, "kept_weights", lambda run: weights)
    with pytest.raises(ConfigError, match="regression") as caught:
        Forecaster.load(finished_run).export(tmp_path / "model.onnx")
    assert "--network-alone" in str(caught.value.hint)


@pytest.mark.slow
@pytest.mark.parametrize("distribution", COUNT_DISTRIBUTIONS)
def test_a_distribution_of_counts_is_refused_by_its_name(distribution: str, tmp_path: Path) -> None:
    frame = table()[["date", "target"]].round({"target": 0})
    forecaster = Forecaster(**{**SMALL, "distribution": distribution}).fit(frame)
    with pytest.raises(ConfigError, match=f"--distribution {distribution} have no form in ONNX") as caught:
        forecaster.export(tmp_path / "model.onnx")
    assert "--quantiles" in str(caught.value.hint)


def test_a_file_that_forecasts_something_else_is_not_written() -> None:
    with pytest.raises(RunError, match=r"'quantiles' differs from predict by 2.0e-05, more than 1e-05"):
        onnx_file._refuse_difference({"prediction": 1e-6, "quantiles": 2e-5})
    with pytest.raises(RunError, match="'attention' differs from predict by nan"):
        onnx_file._refuse_difference({"prediction": 1e-6, "attention": float("nan")})
