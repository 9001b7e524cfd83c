"""A finished run and a panel -> forecasts and the attention behind them. Plain torch: no Lightning here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor

from forecast_attn.attention_dump import AttentionMetadata
from forecast_attn.config import RunConfig
from forecast_attn.data.frequency import parse_frequency
from forecast_attn.data.panel import Panel
from forecast_attn.data.schema import Schema
from forecast_attn.data.windows import WindowArrays
from forecast_attn.errors import ConfigError, RunError, UserError
from forecast_attn.mechanisms import ATTENTIONS
from forecast_attn.nn.builder import WindowSizes, attention_order, build_network
from forecast_attn.nn.network import ForecastNetwork
from forecast_attn.option_values import level_name
from forecast_attn.run_dir import DAMAGED_HINT, RunDir, sha256_of
from forecast_attn.uncertainty.calibration import Calibration
from forecast_attn.uncertainty.levels import cut_off, in_units, levels_of

BATCH_SIZE = 128
"""Windows forecast together; larger batches are slower per window on a CPU (memory traffic)."""


@dataclass(frozen=True)
class Model:
    """A network with everything needed to use it."""

    config: RunConfig
    schema: Schema
    network: ForecastNetwork
    calibration: Calibration | None = None
    """Of the levels; None where they are not calibrated."""

    @property
    def has_attention(self) -> bool:
        return self.config.model.attention != "none"

    @property
    def levels(self) -> tuple[float, ...]:
        """The levels that are forecast, ascending."""
        return self.config.model.levels

    def of_series(self, item_ids: tuple[str, ...]) -> Model:
        """This model with a scaler of these series, in this order.

        Raises:
            DataError: a series was not in training.
        """
        return replace(self, schema=replace(self.schema, scaler=self.schema.scaler.for_series(item_ids)))

    def cut_off_at_zero(self, non_negative: bool) -> Model:
        """This model, whose forecasts are cut off at 0, or are not."""
        data = replace(self.config.data, non_negative=non_negative)
        return replace(self, config=replace(self.config, data=data))

    def in_units(self, values: Tensor, series: NDArray[np.int64]) -> NDArray[np.float64]:
        """Values (batch, horizon) on the series' scale, in original units; of series (batch,) as the schema counts."""
        restored = self.schema.scaler.target_in_units(values.cpu().numpy(), series)
        return cut_off(restored) if self.config.data.non_negative else restored

    def base_levels(self, parameters: NDArray[Any]) -> NDArray[np.float64]:
        """Levels on the series' scale (batch, horizon, num_levels), not calibrated, of a head's parameters."""
        return levels_of(self.config.model.head, parameters, self.levels)

    def levels_in_units(self, parameters: NDArray[Any], series: NDArray[np.int64]) -> NDArray[np.float64]:
        """Levels in original units, ascending (batch, horizon, num_levels).

        Args:
            parameters: of the head, (batch, horizon, size).
            series: of each window, as the schema's scaler numbers them, (batch,).
        """
        base = self.base_levels(parameters)
        calibrated = base if self.calibration is None else self.calibration.apply(base)
        return in_units(calibrated, self.schema.scaler, series, non_negative=self.config.data.non_negative)


class WindowForecasts(NamedTuple):
    """A batch of forecast windows."""

    cutoffs: NDArray[np.int64]
    """Rows of the last known values, (batch,)."""
    series: NDArray[np.int64]
    """(batch,)"""
    prediction: NDArray[np.float64]
    """(batch, horizon), in original units."""
    weights: NDArray[np.float32] | None
    """(batch, heads, horizon, lookback)."""
    parameters: NDArray[np.float32]
    """Of the head, on the series' scale, (batch, horizon, size)."""
    levels: NDArray[np.float64] | None
    """(batch, horizon, num_levels), in original units, ascending; None where only the point is forecast."""


def window_sizes(schema: Schema) -> WindowSizes:
    """What the data says about the network's inputs."""
    return WindowSizes(
        lookback=schema.lookback,
        horizon=schema.horizon,
        season=schema.frequency.season,
        num_past_inputs=schema.num_past_inputs,
        num_future_inputs=schema.num_future_inputs,
        num_static=schema.num_static,
        may_have_holes=schema.layout.may_have_holes,
        past_codes=schema.vocabulary.sizes(schema.roles.past_categories),
        future_codes=schema.vocabulary.sizes(schema.roles.future_categories),
        static_codes=schema.vocabulary.sizes(schema.roles.static_categories),
    )


def read_config(run: RunDir) -> RunConfig:
    """What was asked of a run.

    Raises:
        RunError: config.json is damaged or from a newer version.
    """
    content = run.read_json(run.config)
    try:
        return RunConfig.from_dict(content["options"])
    except (KeyError, TypeError, AttributeError, ConfigError) as error:
        reason = error.message if isinstance(error, ConfigError) else f"no {error}"
        raise RunError(f"'{run.config}' is damaged: {reason}", DAMAGED_HINT) from None


def read_schema(run: RunDir) -> Schema:
    """What the data taught a run.

    Raises:
        RunError: schema.json is damaged or from a newer version.
    """
    try:
        schema = Schema.from_dict(run.read_json(run.schema))
        parse_frequency(schema.frequency.alias)
        if min(schema.lookback, schema.horizon) < 1 or not _has_a_scale_per_series(schema):
            raise ValueError("sizes that cannot be")
    except (KeyError, TypeError, ValueError, AttributeError, ConfigError) as error:
        raise RunError(f"'{run.schema}' is damaged: {error!r}", DAMAGED_HINT) from None
    return schema


def _has_a_scale_per_series(schema: Schema) -> bool:
    roles, num_series = schema.roles, len(schema.scaler.item_ids)
    sizes = {
        "target": (num_series,),
        "past": (num_series, len(roles.past_covariates)),
        "future": (num_series, len(roles.future_covariates)),
        "static": (len(roles.static_covariates),),
    }
    return all(values.shape == size for name, size in sizes.items() for values in getattr(schema.scaler, name))


def load_model(run: RunDir) -> Model:
    """Load a finished run for prediction.

    Raises:
        RunError: a file is missing, damaged, altered since training, or from a newer version.
    """
    config, schema = read_config(run), read_schema(run)
    metrics = run.read_json(run.metrics)
    if sha256_of(run.model) != metrics.get("model_sha256"):
        raise RunError(f"'{run.model}' was altered or cut short since training", DAMAGED_HINT)
    calibration = None
    if config.model.calibration != "none":
        calibration = _read_calibration(run, config, schema, metrics.get("calibration_sha256"))
    return Model(config, schema, load_network(run, config, schema), calibration)


def _read_calibration(run: RunDir, config: RunConfig, schema: Schema, recorded: str | None) -> Calibration:
    content = run.read_json(run.calibration)
    if sha256_of(run.calibration) != recorded:
        raise RunError(f"'{run.calibration}' was altered or cut short since training", DAMAGED_HINT)
    try:
        calibration = Calibration.from_dict(content)
        if calibration.levels != config.model.levels or len(calibration.offsets) != schema.horizon:
            raise ValueError("offsets of other levels or steps")
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"'{run.calibration}' is damaged: {error!r}", DAMAGED_HINT) from None
    return calibration


def load_network(run: RunDir, config: RunConfig, schema: Schema) -> ForecastNetwork:
    """The network with the weights in model.safetensors, in evaluation mode.

    Raises:
        RunError: the file is damaged or belongs to another network.
    """
    try:
        with torch.random.fork_rng(devices=()):  # building draws initial weights, which a caller must not notice
            network = build_network(config.model, window_sizes(schema))
        network.load_state_dict(safetensors.torch.load_file(run.model))
    except (safetensors.SafetensorError, OSError) as error:
        raise RunError(f"cannot read '{run.model}': {error}", DAMAGED_HINT) from None
    except (RuntimeError, UserError) as error:
        reason = str(error).strip().splitlines()[-1].strip(" \t.")  # torch's first line is a heading
        raise RunError(f"'{run.model}' does not fit config.json and schema.json: {reason}", DAMAGED_HINT) from None
    return network.eval()


def choose_device(accelerator: str) -> torch.device:
    """The device of `--accelerator`; `auto` is a GPU where there is one.

    Raises:
        ConfigError: this machine has no such device.
    """
    present = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    wanted = {"auto": ("cuda", "mps", "cpu"), "gpu": ("cuda", "mps")}.get(accelerator, (accelerator,))
    for name in wanted:
        if present[name]:
            return torch.device(name)
    here = ", ".join(name for name, is_present in present.items() if is_present)
    raise ConfigError(f"--accelerator {accelerator}: this machine has none; it has {here}", "--accelerator auto")


def forecast_windows(
    model: Model,
    panel: Panel,
    cutoffs: NDArray[np.int64],
    *,
    device: torch.device,
    arrays: WindowArrays | None = None,
    need_weights: bool = True,
) -> Iterator[WindowForecasts]:
    """Forecast every cut-off, a batch at a time, in constant memory.

    Args:
        model: whose network to ask; it is moved to `device`.
        panel: the series, scaled here as in training.
        cutoffs: rows of the last known values, (num_windows,).
        device: where to compute.
        arrays: the panel's windows, where they exist already.
        need_weights: False leaves the weights out and may be faster.

    Raises:
        DataError: a series was not in training.
    """
    network = model.network.to(device).eval()
    arrays = (arrays or model.schema.windows_of(panel)).to(device)
    model = model.of_series(panel.item_ids)
    for batch in torch.split(torch.from_numpy(cutoffs), BATCH_SIZE) if len(cutoffs) else ():
        # Matrix products of another number of rows round differently: every batch is full, so that a forecast has the
        # same bits alone and among others. The last window fills the last batch, and the copies are cut off.
        index = torch.cat([batch, batch[-1:].expand(BATCH_SIZE - len(batch))]).to(device)
        # TensorFloat-32 would round a GPU's products to ten bits: a forecast would depend on its batch.
        with torch.inference_mode(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
            output = network(arrays.gather(index), need_weights=need_weights)
        series = arrays.series_of(index).cpu().numpy()[: len(batch)]
        prediction = model.in_units(output.prediction[: len(batch)], series)
        weights = None if output.weights is None else output.weights[: len(batch)].float().cpu().numpy()
        parameters = output.parameters[: len(batch)].cpu().numpy()
        levels = model.levels_in_units(parameters, series) if model.levels else None
        yield WindowForecasts(batch.numpy(), series, prediction, weights, parameters, levels)


def attention_metadata(model: Model) -> AttentionMetadata:
    """What an attention file of this model says about itself."""
    options = model.config.model
    return AttentionMetadata(
        mechanism=options.attention,
        order=attention_order(options),
        score=ATTENTIONS[options.attention].score,
        normaliser=options.normaliser,
        window=options.attention_window,
        heads=options.heads if options.attention == "multi-head" else 1,
        lookback=model.schema.lookback,
        horizon=model.schema.horizon,
        frequency=model.schema.frequency.alias,
        season=model.schema.frequency.season,
        zone=model.schema.zone.type_name,
        row_sum="<=1" if options.attention_window == "local-p" else "1",
    )


def prediction_columns(panel: Panel, model: Model, forecasts: WindowForecasts) -> dict[str, Any]:
    """The columns of predictions.csv for a batch: one row per window and step, the levels by their names."""
    horizon, batch = model.schema.horizon, len(forecasts.cutoffs)
    levels = np.empty((batch, horizon, 0)) if forecasts.levels is None else forecasts.levels
    steps = np.arange(1, horizon + 1)
    return {
        "item_id": np.repeat(np.array(panel.item_ids, dtype=object)[forecasts.series], horizon),
        "cutoff": np.repeat(panel.timestamps[forecasts.cutoffs], horizon),
        "timestamp": panel.timestamps[forecasts.cutoffs[:, None] + steps].ravel(),
        "step": np.tile(steps, batch),
        "prediction": forecasts.prediction.ravel(),
        **{level_name(level): levels[..., index].ravel() for index, level in enumerate(model.levels)},
    }
