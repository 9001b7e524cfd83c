"""Writes a run as one ONNX file, unless its forecasts in onnxruntime differ from those of `predict`."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from forecast_attn.config.values import NETWORK
from forecast_attn.data.panel import Panel
from forecast_attn.errors import ConfigError, RunError, needing
from forecast_attn.export.graph import EXPORTED_HEADS, RunGraph
from forecast_attn.export.trials import trial_panels
from forecast_attn.forecasting.calibration import ADAPTIVE
from forecast_attn.forecasting.exported import METADATA, Arrays, open_session, window_inputs
from forecast_attn.forecasting.history import read_history, select_series
from forecast_attn.forecasting.identifiability import rank_of_run
from forecast_attn.forecasting.inference import forecast_windows, load_model
from forecast_attn.forecasting.model import Model, attention_metadata
from forecast_attn.forecasting.predict import kept_weights
from forecast_attn.runs.atomic import write_atomically
from forecast_attn.runs.output_paths import check_folder
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.telemetry import switch_off_reports
from forecast_attn.version import package_version

FORMAT = 1
"""Version of the inputs, outputs and metadata."""
OPSET = 20
TOLERANCE = 1e-5
"""Largest relative difference between the file's forecasts and those of `predict`."""
TRIAL_SERIES = 64
"""Most series whose windows are compared."""
TRIAL_WINDOWS = 32
"""Fewest windows that are compared."""


@dataclass(frozen=True)
class OnnxExport:
    """The file that was written, and how far it is from `predict`."""

    path: Path
    bytes: int
    nodes: int
    windows: int
    """Windows compared."""
    difference: dict[str, float]
    """Output -> largest difference from the forecasts of `predict`, relative; of attention weights absolute."""
    metadata: dict[str, Any]
    """Document in the file: inputs, outputs, series, categories, versions."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {
            "path": str(self.path),
            "bytes": self.bytes,
            "nodes": self.nodes,
            "windows": self.windows,
            "difference": self.difference,
            "metadata": self.metadata,
        }


def check_installed() -> None:
    """Refuse to export without the packages of the extra.

    Raises:
        ConfigError: with the command that installs them.
    """
    switch_off_reports("onnxruntime")
    with needing("an ONNX file", "onnx"):
        for name in ("onnx", "onnxscript", "onnxruntime"):
            importlib.import_module(name)


def export_onnx(run: RunDir, path: Path | None, *, network_alone: bool) -> OnnxExport:
    """Write a finished run as an ONNX file that has been compared with `predict`.

    Args:
        run: finished.
        path: file to write, whole or not at all; when None, that of `predict --runtime onnx` in the run.
        network_alone: leave out the baselines that validation combined the network with; `predict` adds them itself.

    Raises:
        ConfigError: a package of the extra is missing, the run's forecasts are combined with baselines, or its
            distribution is one of counts.
        RunError: the run is damaged, the file cannot be written, or its forecasts differ.
    """
    check_installed()
    if path is None and not run.has_manifest:
        raise ConfigError("a run of an earlier version has no manifest to list the file in", "--onnx model.onnx")
    check_folder(path or run.exported)
    weights = {} if network_alone or path is None else kept_weights(run)
    if weights:
        raise ConfigError(
            f"the forecasts of '{run.path}' are a mean with baselines, which an ONNX file cannot hold: "
            f"{', '.join(name for name in weights if name != NETWORK)}",
            "--network-alone exports the network without them, as predict --combine-with none forecasts",
        )
    model = load_model(run)
    if model.config.model.calibration == ADAPTIVE:
        raise ConfigError(
            "--calibration adaptive follows the errors of earlier forecasts, which one window does not show",
            "train with --calibration cqr to export it; forecast predict and serve follow them",
        )
    if model.config.model.head not in EXPORTED_HEADS:
        raise ConfigError(
            f"the quantiles of --distribution {model.config.model.head} have no form in ONNX",
            "train with --quantiles, or --distribution gaussian or student-t; forecast predict has all of them",
        )
    graph = RunGraph(model).eval()
    panels = list(trials(model, run))
    metadata = _metadata(model, graph, run)
    document = _converted(graph, _inputs(graph, model, panels[0]), metadata)
    content = document.SerializeToString(deterministic=True)
    difference = difference_from_predict(model, panels, graph, lambda given: run_onnx(content, given, graph.outputs))
    _refuse_difference(difference)
    write_atomically(path or run.exported, content)
    if path is None:
        run.list_file(run.exported)
    return OnnxExport(
        path=path or run.exported,
        bytes=len(content),
        nodes=len(document.graph.node),
        windows=sum(panel.num_series for panel in panels),
        difference=difference,
        metadata=metadata,
    )


def trials(model: Model, run: RunDir) -> Iterator[Panel]:
    """Panels of windows to compare: the last ones of the run, and others with their values."""
    history = read_history(model, run, None, "").panel
    keep = np.zeros(history.num_series, bool)
    keep[np.unique(np.linspace(0, history.num_series - 1, TRIAL_SERIES).round().astype(np.int64))] = True
    history = select_series(history, keep)
    count = max(2, -(-TRIAL_WINDOWS // history.num_series))
    return trial_panels(history, model.schema.lookback, model.schema.horizon, count)


def _inputs(graph: RunGraph, model: Model, panel: Panel) -> Arrays:
    return window_inputs(model.schema, panel, panel.ends - 1, tuple(each.name for each in graph.inputs))


# --------------------------------------------------------------------------- conversion


def _converted(graph: RunGraph, example: Arrays, metadata: dict[str, Any]) -> Any:
    """Convert a graph to an ONNX model for batches of any size, with metadata and without paths of this machine."""
    names = [each.name for each in graph.inputs]
    two = [torch.from_numpy(np.repeat(example[name][:1], 2, axis=0)) for name in names]
    try:
        converted = _converted_program(graph, two, names)
    except Exception as error:  # the converter documents no errors of its own
        reason = str(error).strip().splitlines() or [type(error).__name__]
        raise RunError(
            f"torch {torch.__version__} cannot convert this network to ONNX: {reason[0]}",
            "please report it with the run's config.json; forecast predict still works",
        ) from error
    assert converted is not None
    document = converted.model_proto
    _without_traces(document)
    document.producer_name, document.producer_version = METADATA.replace("_", "-"), package_version()
    document.metadata_props.add(key=METADATA, value=json.dumps(metadata, ensure_ascii=False, sort_keys=True))
    return document


def _converted_program(graph: RunGraph, example: list[torch.Tensor], names: list[str]) -> Any:
    batch = torch.export.Dim("batch", min=1)
    with _quiet(), _cache_of_its_own(), torch.inference_mode():
        # By itself, because the converter would rather fix the batch than fail.
        program = torch.export.export(
            graph, tuple(example), dynamic_shapes=(tuple({0: batch} for _ in names),), strict=False
        )
        return torch.onnx.export(
            program,
            dynamo=True,
            input_names=names,
            output_names=list(graph.outputs),
            opset_version=OPSET,
            verbose=False,
        )


def _without_traces(document: Any) -> None:
    """Remove notes of the converter, which name files of this machine."""
    graph = document.graph
    del document.metadata_props[:]
    for part in (document, graph, *graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer):
        part.doc_string = ""
    for part in (graph, *graph.node, *graph.input, *graph.output, *graph.value_info, *graph.initializer):
        del part.metadata_props[:]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence the converter's prints, logs and warnings, which are about its own code."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def _cache_of_its_own() -> Iterator[None]:
    """Give the converter a temporary folder for its cache: it makes one as it is imported, and leaves it there."""
    name = "TORCHINDUCTOR_CACHE_DIR"
    if name in os.environ:
        yield
        return
    with TemporaryDirectory() as folder:
        os.environ[name] = folder
        try:
            yield
        finally:
            os.environ.pop(name, None)


def _metadata(model: Model, graph: RunGraph, run: RunDir) -> dict[str, Any]:
    schema, roles = model.schema, model.schema.roles
    return {
        "format": FORMAT,
        "run": run.path.resolve().name,
        "versions": _versions(),
        "time": roles.time,
        "target": roles.target,
        "item_id": roles.item_id,
        "item_ids": list(schema.scaler.item_ids),
        "frequency": schema.frequency.alias,
        "zone": schema.zone.describe(),
        "lookback": schema.lookback,
        "horizon": schema.horizon,
        "quantiles": list(model.quantiles),
        "inputs": [
            {
                "name": each.name,
                "dtype": each.dtype,
                "shape": ["batch", *each.shape],
                "columns": list(each.columns),
                "meaning": each.meaning,
            }
            for each in graph.inputs
        ],
        "outputs": list(graph.outputs),
        "categories": schema.vocabulary.to_dict(),
        "members": len(model.networks),
        "value_rank": rank_of_run(run),
        "attention": _attention(model) if model.has_attention else None,
    }


def _attention(model: Model) -> dict[str, Any]:
    """Origin of the weights; key k of a row is the patch that begins k * patch_length steps after the lookback."""
    known = asdict(attention_metadata(model))
    return {name: known[name] for name in ("mechanism", "order", "score", "normaliser", "heads", "patch_length")}


def _versions() -> dict[str, str]:
    import onnx

    return {"forecast-attn": package_version(), "torch": torch.__version__, "onnx": onnx.__version__}


# --------------------------------------------------------------------------- comparison


def run_onnx(content: bytes, inputs: Arrays, names: tuple[str, ...]) -> Arrays:
    """Outputs of a file's content by name, computed by onnxruntime on one thread."""
    return dict(zip(names, open_session(content).run(list(names), inputs), strict=True))


def difference_from_predict(
    model: Model, panels: list[Panel], graph: RunGraph, forecast: Callable[[Arrays], Arrays]
) -> dict[str, float]:
    """Largest difference of each output from the forecasts of `predict`, over all windows and two sizes of batch.

    Args:
        model: of the run.
        panels: with windows to compare.
        graph: of the model, for its inputs and outputs.
        forecast: outputs of a batch of inputs, by name.
    """
    largest = dict.fromkeys(graph.outputs, 0.0)
    for panel in panels:
        given = _inputs(graph, model, panel)
        expected = _forecasts(model, panel)
        size = _sizes(given["past_target"], expected["prediction"])
        for count in {1, panel.num_series}:
            got = forecast({name: values[:count] for name, values in given.items()})
            for name, values in got.items():
                apart = np.abs(values - expected[name][:count])
                if name != "attention":
                    apart = apart / size[:count].reshape(-1, *(1,) * (apart.ndim - 1))
                largest[name] = float(np.maximum(largest[name], apart.max()))  # a NaN stays one
    return largest


def _forecasts(model: Model, panel: Panel) -> Arrays:
    batches = list(forecast_windows(model, panel, panel.ends - 1))
    named = {"prediction": "prediction", "quantiles": "quantiles", "attention": "weights"}
    return {
        name: np.concatenate([getattr(batch, field) for batch in batches])
        for name, field in named.items()
        if getattr(batches[0], field) is not None
    }


def _sizes(past: NDArray[np.float64], forecast: NDArray[np.float64]) -> NDArray[np.float64]:
    """Size of each window (batch,): the largest distance of its values and forecasts from the mean of its lookback.

    A difference relative to the values themselves would be nothing on a high level, and endless near zero.
    """
    mean = np.nanmean(past, axis=1, keepdims=True)
    together = np.abs(np.concatenate([past, forecast], axis=1) - mean)
    return np.asarray(np.maximum(np.nanmax(together, axis=1), np.finfo(np.float64).tiny), np.float64)


def _refuse_difference(difference: dict[str, float]) -> None:
    """Refuse a file whose forecasts differ from those of `predict`.

    Raises:
        RunError: with the output and the difference.
    """
    for name, largest in difference.items():
        if not largest <= TOLERANCE:  # NaN is refused too
            raise RunError(
                f"no ONNX file was written: '{name}' differs from predict by {largest:.1e}, more than {TOLERANCE:g}",
                "please report it with the run's config.json; forecast predict still works",
            )
