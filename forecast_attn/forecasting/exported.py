"""Forecasts of windows with the ONNX file that `forecast export RUN` left in a run: onnxruntime, and no torch."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel
from forecast_attn.data.schema import Schema
from forecast_attn.errors import ConfigError, RunError, UserError, needing, shell_command
from forecast_attn.forecasting.model import Model, WindowForecasts, read_config, read_schema
from forecast_attn.forecasting.quantiles import cut_off
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.telemetry import switch_off_reports

if TYPE_CHECKING:
    from forecast_attn.config.options import RunConfig
    from forecast_attn.config.requests import PredictRequest

METADATA = "forecast_attn"
"""Key of the metadata in the file: one JSON document."""
WINDOWS_AT_ONCE = 128

Arrays = dict[str, NDArray[Any]]


def open_session(content: bytes, threads: int = 1) -> Any:
    """Return a file's content as a session of onnxruntime on the CPU."""
    switch_off_reports("onnxruntime")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


@dataclass(frozen=True)
class ExportedRun:
    """The network of a run as an ONNX file, which forecasts windows as `forecast_windows` does, up to rounding."""

    model: Model
    """Without networks and calibration, which the file contains."""
    session: Any
    value_rank: int | None
    """Rank of the values that the attention weighs, as far as the export measured it."""

    path: Path

    @classmethod
    def load(cls, run: RunDir) -> Self:
        """Open the file of a finished run.

        Raises:
            ConfigError: onnxruntime is not installed.
            RunError: there is no file, it was exported from other weights, or it or the run is damaged.
        """
        config, schema = read_config(run), read_schema(run)
        export = shell_command("export", run.path)
        if not run.exported.is_file():
            raise RunError(f"'{run.path}' has no ONNX file to forecast with", export)
        if not run.lists(run.exported):
            raise RunError(f"'{run.exported}' is not the file that was exported from these weights", export)
        with needing("--runtime onnx", "onnx"), damage_of(run.exported):
            session = open_session(run.exported.read_bytes(), config.training.threads)
            about = json.loads(session.get_modelmeta().custom_metadata_map[METADATA])
            return cls(Model(config, schema, ()), session, about["value_rank"], run.exported)

    def __call__(
        self, model: Model, panel: Panel, cutoffs: NDArray[np.int64], *, need_weights: bool = True
    ) -> Iterator[WindowForecasts]:
        """Forecast every cut-off, a batch at a time, always with the weights that there are."""
        if panel.issued is not None:
            raise ConfigError("covariates from a table with issued_at need --runtime torch", "leave out --runtime onnx")
        for first in range(0, len(cutoffs), WINDOWS_AT_ONCE):
            rows = cutoffs[first : first + WINDOWS_AT_ONCE]
            with damage_of(self.path):
                outputs = self._outputs(model, panel, rows)
            prediction, quantiles = outputs["prediction"], outputs.get("quantiles")
            if model.config.data.non_negative:  # asked for now, if not in training
                prediction, quantiles = cut_off(prediction), None if quantiles is None else cut_off(quantiles)
            yield WindowForecasts(rows, panel.series_of(rows), prediction, outputs.get("attention"), None, quantiles)

    def _outputs(self, model: Model, panel: Panel, rows: NDArray[np.int64]) -> Arrays:
        """Outputs of a batch by name.

        Raises:
            ValueError: they are not those of the run.
        """
        horizon, options = model.schema.horizon, model.config.model
        shapes: dict[str, tuple[int, ...]] = {"prediction": (len(rows), horizon)}
        if model.quantiles:
            shapes["quantiles"] = (len(rows), horizon, len(model.quantiles))
        if model.has_attention:
            heads = options.heads if options.attention == "multi-head" else 1
            shapes["attention"] = (len(rows), heads, -(-horizon // model.patch_length), model.num_keys)
        names = tuple(each.name for each in self.session.get_inputs())
        values = self.session.run([*shapes], window_inputs(model.schema, panel, rows, names))
        outputs: Arrays = dict(zip(shapes, values, strict=True))
        for name, shape in shapes.items():
            if outputs[name].shape != shape:
                raise ValueError(f"{name} of another shape")
        return outputs


@contextlib.contextmanager
def damage_of(path: Path) -> Iterator[None]:
    """Report as damage of the file whatever onnxruntime, which documents no errors, says of it in the block."""
    try:
        yield
    except (ImportError, UserError):
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise RunError(f"cannot forecast with '{path}': {reason}", shell_command("export", path.parent)) from None


def check_exported(config: RunConfig, request: PredictRequest) -> None:
    """Refuse what needs the network itself.

    Raises:
        ConfigError: names the option.
    """
    needing_network = {
        "--samples": request.samples is not None,
        "--attention-members": request.attention_members,
        "--cold-start": request.cold_start,
        "--engine ray": request.engine != "local",
        "--no-non-negative": request.non_negative is False and config.data.non_negative,
        f"--accelerator {request.accelerator}": request.accelerator not in ("auto", "cpu"),
    }
    for option, is_given in needing_network.items():
        if is_given:
            raise ConfigError(f"{option} does not go with --runtime onnx", "leave one of them out")


def window_inputs(schema: Schema, panel: Panel, cutoffs: NDArray[np.int64], names: tuple[str, ...]) -> Arrays:
    """Raw values of the windows whose last known rows are `cutoffs`, by the names of the graph's inputs.

    Args:
        schema: of the run.
        panel: with the rows of the windows' horizons.
        cutoffs: (batch,).
        names: inputs to make, see `export.graph.inputs_of`.
    """
    series = panel.series_of(cutoffs)
    past, future = (
        cutoffs[:, None] + steps for steps in (np.arange(1 - schema.lookback, 1), np.arange(1, schema.horizon + 1))
    )
    firsts = panel.starts[series][:, None]
    inside, past = past >= firsts, np.maximum(past, firsts)
    whole = np.concatenate([past, future], axis=1)
    known = {item_id: index for index, item_id in enumerate(schema.scaler.item_ids)}
    roles = panel.roles
    made: dict[str, NDArray[Any]] = {
        "series": np.array([known[panel.item_ids[index]] for index in series], np.int64),
        "past_target": np.where(inside, panel.target[past], np.nan),
        "past_covariates": panel.past_covariates[past],
        "future_covariates": panel.future_covariates[whole],
        "static_covariates": panel.static_covariates[series],
        "past_categories": _codes(schema, panel, roles.past_categories, panel.past_categories[past]),
        "future_categories": _codes(schema, panel, roles.future_categories, panel.future_categories[whole]),
        "static_categories": _codes(schema, panel, roles.static_categories, panel.static_categories[series]),
        "history_length": inside.sum(axis=1),
    }
    if schema.calendar.names:
        local = panel.zone.local(panel.timestamps)[whole]
        made["local_seconds"] = local.astype("datetime64[s]").astype(np.int64)
        if schema.calendar.holidays is not None:
            counts = schema.calendar.holidays.counts(local.ravel(), panel.frequency)
            made["holidays"] = counts.reshape(*local.shape, -1).astype(np.float64)
    return {name: made[name] for name in names}


def _codes(schema: Schema, panel: Panel, columns: tuple[str, ...], codes: NDArray[np.int32]) -> NDArray[np.int64]:
    return schema.vocabulary.encode(panel, columns, codes).astype(np.int64)
