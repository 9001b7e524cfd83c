"""A run as an ONNX file: the same forecasts as `predict`, by a program that has no torch."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jaxtyping
import numpy as np
import pandas as pd
import pytest
import torch

from forecast_attn import Forecaster
from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.options import COUNTS
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.export import onnx_file
from forecast_attn.export.graph import RunGraph
from forecast_attn.export.onnx_file import TOLERANCE
from forecast_attn.forecasting.model import load_model
from forecast_attn.runs.run_dir import RunDir

onnxruntime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")

ROOT = Path(__file__).resolve().parents[2]
SMALL: dict[str, Any] = {
    "lookback": 14,
    "horizon": 3,
    "hidden_size": 4,
    "max_epochs": 1,
    "epoch_windows": 32,
    "validation": 30,
    "seed": 7,
    "accelerator": "cpu",
}


@pytest.fixture(scope="module", autouse=True)
def unchecked_shapes() -> Iterator[None]:
    """No shape checks of tests while a graph is traced: comparing sizes would fix the batch."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


def table(rows: int = 120) -> pd.DataFrame:
    """Days with every kind of column, all above 0."""
    rng, steps = np.random.default_rng(0), np.arange(rows)
    return pd.DataFrame(
        {
            "date": pd.date_range("2024-01-01", periods=rows, freq="D"),
            "target": 100 + 30 * np.sin(2 * np.pi * steps / 7) + rng.normal(size=rows),
            "wind": rng.normal(5, 2, rows),
            "price": rng.normal(50, 9, rows),
            "weather": rng.choice(["sun", "rain"], rows),
        }
    )


def panel(rows: int = 90) -> pd.DataFrame:
    """Three series of other levels, one of them shorter than a lookback, with holes and what is constant."""
    parts = []
    for number, (name, length) in enumerate({"north": rows, "south": rows, "west": 9}.items()):
        part = table(rows).iloc[rows - length :].assign(item=name, size=10.0 * number, kind="ab"[number % 2])
        part["target"] = part["target"] * (1 + 9 * number)
        parts.append(part)
    frame = pd.concat(parts, ignore_index=True)
    frame.loc[[3, 40, rows + 20], "target"] = np.nan
    frame.loc[[5, rows + 30], "price"] = np.nan
    return frame


EVERY_COLUMN: dict[str, Any] = {
    "past_covariates": ("price",),
    "future_covariates": ("wind:2", "weather"),
    "static_covariates": ("size", "kind"),
    "item_id": "item",
    "missing": "mask",
    "short_series": "pad",
    "calendar": "day_of_week,day_of_month,week_of_year,quarter,weekend",
    "combination": "none",
    "final_fit": "none",
}

HEADS: list[dict[str, Any]] = [
    {"quantiles": (0.1, 0.5, 0.9)},
    {"distribution": "gaussian", "calibration": "cqr"},
    {"distribution": "student-t", "quantiles": (0.05, 0.5, 0.9)},
    {"quantiles": (0.2, 0.8), "calibration": "split"},
    {},
]
NORMALISERS = ("softmax", "sparsemax", "entmax15")
TRANSFORMS = ("none", "arcsinh", "log")


def options_of(number: int, mechanism: str) -> dict[str, Any]:
    """Options of a mechanism, such that together they go through every head, cell, order and normaliser."""
    options = {
        "attention": mechanism,
        "cell": ("gru", "lstm")[number % 2],
        "transform": TRANSFORMS[number % 3],
        "decoding": ("direct", "autoregressive")[number // 2 % 2],
        "num_layers": 1 + number % 2,
        "bidirectional": number % 3 == 0,
        **HEADS[number % len(HEADS)],
    }
    if mechanism != "none":
        options["attention_order"] = ("bahdanau", "luong")[number // 3 % 2]
        options["normaliser"] = NORMALISERS[number % 3]
        options["attention_window"] = ("global", "local-p", "local-m")[number // 2 % 3]
    return options


CASES = {name: options_of(number, name) for number, name in enumerate(ATTENTIONS)}


def seen(name: str) -> set[Any]:
    return {options.get(name) for options in CASES.values()}


def test_the_cases_go_through_every_choice() -> None:
    assert {"gru", "lstm"} == seen("cell")
    assert set(NORMALISERS) <= seen("normaliser")
    assert {"global", "local-p", "local-m"} <= seen("attention_window")
    assert {"direct", "autoregressive"} == seen("decoding")
    assert {"gaussian", "student-t", None} == seen("distribution")
    assert {"bahdanau", "luong"} <= seen("attention_order")


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


@pytest.mark.parametrize("mechanism", ATTENTIONS)
def test_the_graph_of_every_mechanism_head_and_cell_forecasts_as_predict(mechanism: str) -> None:
    forecaster = Forecaster(**{**SMALL, **CASES[mechanism]}).fit(table()[["date", "target"]])
    assert max(difference_of_graph(forecaster).values()) < TOLERANCE


@pytest.mark.parametrize("extra", [{}, {"ensemble": 2, "combine": "median", "patch_length": 7}], ids=str)
def test_the_graph_of_a_panel_with_holes_forecasts_as_predict(extra: dict[str, Any]) -> None:
    forecaster = Forecaster(**{**SMALL, **EVERY_COLUMN, **extra}).fit(panel())
    assert max(difference_of_graph(forecaster).values()) < TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ATTENTIONS)
def test_every_mechanism_head_and_cell_forecasts_as_predict(mechanism: str, tmp_path: Path) -> None:
    options = CASES[mechanism]
    sizes = {"lookback": 7, "horizon": 2}  # conversion costs time for every step of a decoder
    forecaster = Forecaster(**{**SMALL, **sizes, **options}).fit(table()[["date", "target"]])
    written = forecaster.export(tmp_path / "model.onnx")
    assert set(written.difference) == {
        "prediction",
        *(["quantiles"] if len(options.keys() & {"quantiles", "distribution"}) else []),
        *(["attention"] if mechanism != "none" else []),
    }
    assert max(written.difference.values()) < TOLERANCE
    assert written.windows >= 32


@pytest.mark.slow
@pytest.mark.parametrize(
    "extra", [{}, {"ensemble": 2, "combine": "median", "patch_length": 7}], ids=["one", "ensemble"]
)
def test_every_kind_of_column_of_a_panel_with_holes(extra: dict[str, Any], tmp_path: Path) -> None:
    forecaster = Forecaster(**{**SMALL, **EVERY_COLUMN, **extra}).fit(panel())
    written = forecaster.export(tmp_path / "model.onnx")
    names = [each["name"] for each in written.metadata["inputs"]]
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
    assert max(written.difference.values()) < TOLERANCE
    assert written.metadata["item_ids"] == ["north", "south", "west"]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, forecast: Callable) -> Path:
    """A folder with the sample, a run trained on it, and its file."""
    folder = tmp_path_factory.mktemp("exported")
    (folder / "air_passengers.csv").write_bytes((ROOT / "data" / "air_passengers.csv").read_bytes())
    run = folder / "run"
    words = ("--lookback", "24", "--horizon", "6", "--hidden-size", "4", "--max-epochs", "1", "--seed", "7")
    assert forecast("train", folder / "air_passengers.csv", *words, "--out", run, "--quiet").code == 0
    done = forecast("export", run, "--onnx", folder / "model.onnx")
    assert done.code == 0, done.err
    assert "output attention          differs from predict by at most" in done.out
    return folder


@pytest.mark.slow
def test_the_consumer_of_the_documents_forecasts_without_torch(exported: Path) -> None:
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(program.strip().splitlines()) <= 14
    blocked = "import sys\nfor name in ('torch', 'forecast_attn', 'onnx'):\n    sys.modules[name] = None\n"
    check = "print(prediction.shape, attention.shape, prediction[0].tolist())"
    words = [sys.executable, "-c", f"{blocked}{program}\n{check}"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=exported, check=False)
    assert done.returncode == 0, done.stderr
    shapes, _, values = done.stdout.strip().splitlines()[-1].rpartition("[")
    assert shapes.strip() == "(1, 6) (1, 1, 6, 24)"
    wanted = Forecaster.load(exported / "run").predict().predictions["prediction"]
    np.testing.assert_allclose([float(value) for value in values.rstrip("]").split(",")], wanted, rtol=1e-5)


@pytest.mark.slow
def test_the_file_holds_its_metadata_and_nothing_of_this_machine(exported: Path, forecast: Callable) -> None:
    content = (exported / "model.onnx").read_bytes()
    session = onnxruntime.InferenceSession(content)
    about = json.loads(session.get_modelmeta().custom_metadata_map["forecast_attn"])
    assert (about["format"], about["target"], about["item_ids"]) == (1, "passengers", ["passengers"])
    assert {each.name for each in session.get_inputs()} == {each["name"] for each in about["inputs"]}
    assert [each.name for each in session.get_outputs()] == about["outputs"]
    assert str(ROOT).encode() not in content and b"site-packages" not in content
    again = exported / "again.onnx"
    assert forecast("export", exported / "run", "--onnx", again, "--json").code == 0
    assert again.read_bytes() == content


@pytest.mark.slow
def test_another_forecast_than_that_of_predict_is_never_written(
    exported: Path, forecast: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = onnx_file.run_onnx

    def wrong(*words: Any) -> dict[str, Any]:
        outputs = honest(*words)
        return {**outputs, "prediction": outputs["prediction"] * 1.001}

    monkeypatch.setattr(onnx_file, "run_onnx", wrong)
    done = forecast("export", exported / "run", "--onnx", exported / "wrong.onnx")
    assert (done.code, done.error.split(":")[0]) == (1, "no ONNX file was written")
    assert not (exported / "wrong.onnx").exists()


def test_without_the_extra_the_command_says_how_to_install_it(
    forecast: Callable, finished_run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    done = forecast("export", finished_run, "--onnx", tmp_path / "model.onnx")
    assert (done.code, done.error) == (2, "an ONNX file needs the package 'onnxscript'")
    assert done.hint == 'pip install "forecast-attn[onnx]"'


def test_the_command_needs_a_file_that_is_none_of_the_run(forecast: Callable, finished_run: str) -> None:
    assert forecast("export", finished_run).error == "there is no file to write"
    over = forecast("export", finished_run, "--onnx", Path(finished_run) / "schema.json")
    assert "is a file that is read or belongs to the run" in over.error


def test_a_run_combined_with_baselines_is_refused_by_their_names(
    finished_run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = {"network": 0.5, "regression": 0.5}
    monkeypatch.setattr(onnx_file, "kept_weights", lambda run: weights)
    with pytest.raises(ConfigError, match="regression") as caught:
        Forecaster.load(finished_run).export(tmp_path / "model.onnx")
    assert "--network-alone" in str(caught.value.hint)


@pytest.mark.parametrize("distribution", COUNTS)
def test_a_distribution_of_counts_is_refused_by_its_name(distribution: str, tmp_path: Path) -> None:
    frame = table()[["date", "target"]].round()
    forecaster = Forecaster(**{**SMALL, "distribution": distribution}).fit(frame)
    with pytest.raises(ConfigError, match=f"--distribution {distribution} have no form in ONNX") as caught:
        forecaster.export(tmp_path / "model.onnx")
    assert "--quantiles" in str(caught.value.hint)


def test_a_file_that_forecasts_something_else_is_not_written() -> None:
    with pytest.raises(RunError, match=r"'quantiles' differs from predict by 2.0e-05, more than 1e-05"):
        onnx_file._refuse_difference({"prediction": 1e-6, "quantiles": 2e-5})
    with pytest.raises(RunError, match="'attention' differs from predict by nan"):
        onnx_file._refuse_difference({"prediction": 1e-6, "attention": float("nan")})
