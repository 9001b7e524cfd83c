"""The networks of a run, and the forecasts of windows with them. Plain torch: no Lightning here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor

from forecast_attn.config.options import ModelConfig, RunConfig
from forecast_attn.data.panel import Panel
from forecast_attn.data.schema import Schema
from forecast_attn.data.windows import WindowArrays
from forecast_attn.errors import RunError, UserError
from forecast_attn.forecasting.adaptive_calibration import Followed, PastForecasts, earlier_cutoffs, follow
from forecast_attn.forecasting.ensemble import mean_weights
from forecast_attn.forecasting.model import (
    Model,
    WindowForecasts,
    read_calibration,
    read_config,
    read_schema,
    unaltered_file,
)
from forecast_attn.nn.builder import WindowSizes, build_network
from forecast_attn.nn.network import ForecastNetwork, ForecastOutput
from forecast_attn.runs.run_dir import DAMAGED_HINT, RunDir

BATCH_SIZE = 128
"""Windows forecast together; larger batches are slower per window on a CPU (memory traffic)."""

GPU_BATCH_SIZE = 1024
"""The same on a GPU, which takes hardly longer for as many, as long as there are no more keys than `GPU_KEYS`."""
GPU_KEYS = 1 << 18
"""Most keys of all windows of a batch on a GPU; memory grows with them."""


def window_sizes(schema: Schema) -> WindowSizes:
    """Sizes of the network's inputs, from the data."""
    return WindowSizes(
        lookback=schema.lookback,
        horizon=schema.horizon,
        season=schema.frequency.season,
        num_past_inputs=schema.num_past_inputs,
        num_future_inputs=schema.num_future_inputs,
        num_static=schema.num_static,
        num_calendar=len(schema.calendar.names),
        may_have_holes=schema.layout.may_have_holes,
        past_codes=schema.vocabulary.sizes(schema.roles.past_categories),
        future_codes=schema.vocabulary.sizes(schema.roles.future_categories),
        static_codes=schema.vocabulary.sizes(schema.roles.static_categories),
    )


def load_model(run: RunDir, *, validated: bool = False) -> Model:
    """Load a finished run for prediction; of an ensemble all its members, or a single member by its own folder.

    Args:
        run: finished.
        validated: where the run was trained again on all rows, take the network that validation judged, which has not
            seen the validation rows.

    Raises:
        RunError: a file is missing, damaged, altered since training, or from a newer version.
    """
    config, schema = read_config(run), read_schema(run)
    metrics = run.read_json(run.metrics)
    networks = []
    for part, recorded in _parts_with_weights(run, metrics):
        if validated and part.validated.is_file():
            part.unaltered(part.validated)
        else:
            unaltered_file(part, part.model, recorded)
        networks.append(load_network(part, config, schema, validated=validated))
    return Model(config, schema, tuple(networks), read_calibration(run, config, schema))


def _parts_with_weights(run: RunDir, metrics: dict[str, Any]) -> list[tuple[RunDir, Any]]:
    """Paths of the weights, with the digests that metrics.json of an earlier version holds."""
    if "members" not in metrics:
        return [(run, metrics.get("model_sha256"))]
    return [(run.member(number), entry.get("model_sha256")) for number, entry in enumerate(metrics["members"])]


def load_network(run: RunDir, config: RunConfig, schema: Schema, *, validated: bool = False) -> ForecastNetwork:
    """The network with the weights in model.safetensors, in evaluation mode.

    Args:
        run: whose file it is.
        config: of the run.
        schema: of the run.
        validated: take the weights in validated.safetensors where there are any.

    Raises:
        RunError: the file is damaged or belongs to another network.
    """
    path = run.validated if validated and run.validated.is_file() else run.model
    try:
        _refuse_other_sizes(path, config, schema)
        with torch.random.fork_rng(devices=()):  # building draws initial weights, which a caller must not notice
            network = build_network(config.model, window_sizes(schema))
        network.load_state_dict(_read_weights(path))
    except (RuntimeError, UserError) as error:
        if isinstance(error, RunError):
            raise
        reason = str(error).strip().splitlines()[-1].strip(" \t.")  # torch's first line is a heading
        raise RunError(f"'{path}' does not fit config.json and schema.json: {reason}", DAMAGED_HINT) from None
    return network.eval()


def _read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The tensors of a weight file: float32, and finite.

    Raises:
        RunError: the file is damaged, or has other tensors.
    """
    try:
        weights: dict[str, torch.Tensor] = safetensors.torch.load_file(path)
    except (safetensors.SafetensorError, OSError, KeyError, ValueError, RuntimeError, TypeError) as error:
        raise RunError(f"cannot read '{path}': {error}", DAMAGED_HINT) from None
    for name, tensor in weights.items():
        if tensor.dtype != torch.float32 or not tensor.isfinite().all():
            raise RunError(f"'{path}' is damaged: '{name}' does not hold finite numbers of 32 bits", DAMAGED_HINT)
    return weights


def _refuse_other_sizes(path: Path, config: RunConfig, schema: Schema) -> None:
    """Refuse to build a network that needs far more numbers than the weight file has.

    Raises:
        RunError: the file is missing, or config.json asks for another network.
    """
    expected = 4 * number_of_weights(config.model, schema)
    try:
        stored = path.stat().st_size
    except OSError as error:
        raise RunError(f"cannot read '{path}': {error.strerror}", DAMAGED_HINT) from None
    if expected > 2 * stored + 2**20:
        raise RunError(
            f"'{path}' does not fit config.json and schema.json: it holds {stored:,} bytes, they need {expected:,}",
            DAMAGED_HINT,
        )


def number_of_weights(options: ModelConfig, schema: Schema) -> int:
    """Return the number of weights of a network, without building it.

    Raises:
        ConfigError: options that contradict each other.
    """
    with torch.device("meta"):
        network = build_network(options, window_sizes(schema))
    return sum(tensor.numel() for tensor in network.state_dict().values())


def windows_at_once(device: torch.device, num_keys: int) -> int:
    """Number of windows forecast together; it depends on nothing else, because a forecast's last bits depend on it.

    Args:
        device: where.
        num_keys: steps of the encoder.
    """
    if device.type == "cpu":
        return BATCH_SIZE
    size = GPU_BATCH_SIZE
    while size > BATCH_SIZE and size * num_keys > GPU_KEYS:
        size //= 2
    return size


def forecast_windows(
    model: Model,
    panel: Panel,
    cutoffs: NDArray[np.int64],
    arrays: WindowArrays | None = None,
    *,
    need_weights: bool = True,
) -> Iterator[WindowForecasts]:
    """Forecast every cut-off, a batch at a time, in constant memory.

    Args:
        model: whose networks to ask; they are moved to the windows. Those of an ensemble give one forecast together.
        panel: the series, scaled here as in training.
        cutoffs: rows of the last known values, (num_windows,).
        arrays: the panel's windows, on the device to compute on; made on the CPU when None.
        need_weights: False leaves the weights out and may be faster.

    Raises:
        DataError: a series was not in training.
    """
    model = model.of_series(panel.item_ids)
    arrays = arrays or model.schema.windows_of(panel)
    model.to(arrays.target.device)
    followed, done = followed_errors(model, panel, cutoffs, arrays), 0
    for forecasts in _in_batches(model, cutoffs, arrays, need_weights):
        if followed is not None and forecasts.base_quantiles is not None:
            offsets = followed.offsets[done : done + len(forecasts.cutoffs)]
            quantiles = model.quantiles_in_units(forecasts.base_quantiles, forecasts.series, offsets)
            forecasts = forecasts._replace(quantiles=quantiles)
        done += len(forecasts.cutoffs)
        yield forecasts


FOLLOWED_AT_ONCE = 256
"""Windows whose earlier forecasts are in memory together."""


def followed_errors(model: Model, panel: Panel, cutoffs: NDArray[np.int64], arrays: WindowArrays) -> Followed | None:
    """Return the offsets of an adaptive calibration at cut-offs, as the errors before them made them; see `follow`.

    Args:
        model: with a scaler of the panel's series, on the device of the arrays.
        panel: the series.
        cutoffs: rows of the last known values, (num_windows,).
        arrays: the panel's windows.

    Returns:
        None where the calibration is another one.
    """
    calibration, schema = model.calibration, model.schema
    if calibration is None or calibration.tracking is None:
        return None
    lookback, horizon = schema.lookback, schema.horizon
    earlier = earlier_cutoffs(panel, cutoffs, lookback, horizon, calibration.tracking.after)
    shape = (len(cutoffs), *calibration.offsets.shape)
    followed = Followed(np.empty(shape), np.empty(shape[:2]))
    order = np.argsort(cutoffs, kind="stable")  # neighbours follow the same forecasts
    for chosen in np.split(order, range(FOLLOWED_AT_ONCE, len(order), FOLLOWED_AT_ONCE)):
        rows = np.unique(earlier[chosen][earlier[chosen] >= 0])
        batches = list(_in_batches(model.uncalibrated, rows, arrays, need_weights=False))
        base = [batch.base_quantiles for batch in batches if batch.base_quantiles is not None]
        actual = panel.target[rows[:, None] + np.arange(1, horizon + 1)]
        scaled = schema.scaler.scale_target(actual.ravel(), np.repeat(panel.series_of(rows), horizon))
        past = PastForecasts(rows, scaled.reshape(actual.shape), np.concatenate(base) if base else np.empty(0))
        chosen_followed = follow(
            calibration.offsets, calibration.tracking, calibration.quantiles, earlier[chosen], past
        )
        followed.offsets[chosen], followed.unit[chosen] = chosen_followed
    return followed


def _in_batches(
    model: Model, cutoffs: NDArray[np.int64], arrays: WindowArrays, need_weights: bool
) -> Iterator[WindowForecasts]:
    """Forecast every cut-off; quantiles with offsets that stay."""
    device, behind = arrays.target.device, None
    for batch in torch.split(torch.from_numpy(cutoffs), windows_at_once(device, model.num_keys)):
        pending = _ask(model, arrays, batch, need_weights) if len(batch) else None
        # A GPU computes the next batch while this one is read and used.
        behind, ready = (pending, behind) if device.type == "cuda" else (None, pending)
        if ready is not None:
            yield _forecasts_of(model, ready)
    if behind is not None:
        yield _forecasts_of(model, behind)


class _PendingBatch(NamedTuple):
    """A batch on its way from the device: nothing of it may be read before `wait` has come back."""

    cutoffs: Tensor
    series: Tensor
    outputs: list[ForecastOutput]
    wait: Callable[[], None]


def _ask(model: Model, arrays: WindowArrays, batch: Tensor, need_weights: bool) -> _PendingBatch:
    """Have a batch of windows forecast, without waiting for it."""
    device = arrays.target.device
    # Matrix products of another number of rows round differently: every batch is full, so that a forecast has the
    # same bits alone and among others. The last window fills the last batch, and the copies are cut off.
    missing = windows_at_once(device, model.num_keys) - len(batch)
    index = torch.cat([batch, batch[-1:].expand(missing)]).to(device)
    with inference():
        window = arrays.gather(index)
        outputs = [network(window, need_weights=need_weights) for network in model.networks]
        series = _started(arrays.series_of(index)[: len(batch)])
        outputs = [_started_output(output, len(batch)) for output in outputs]
    return _PendingBatch(batch, series, outputs, _end_of_copies(device))


@contextmanager
def inference() -> Iterator[None]:
    """Compute without gradients, in full precision."""
    with torch.inference_mode(), full_float32():
        yield


@contextmanager
def full_float32() -> Iterator[None]:
    """Compute in full precision."""
    # TensorFloat-32 would round a GPU's products to ten bits: a forecast would depend on its batch.
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        yield


def _started_output(output: ForecastOutput, size: int) -> ForecastOutput:
    weights = None if output.weights is None else _started(output.weights[:size].float())
    return ForecastOutput(_started(output.prediction[:size]), weights, _started(output.parameters[:size]))


def _started(tensor: Tensor) -> Tensor:
    """The tensor on the CPU, at some time before `_end_of_copies` says so."""
    return tensor.to("cpu", non_blocking=tensor.device.type == "cuda")


def _end_of_copies(device: torch.device) -> Callable[[], None]:
    """A function that waits for all copies from the device that were started so far."""
    if device.type != "cuda":
        return lambda: None
    event = torch.cuda.Event()  # type: ignore[no-untyped-call]
    event.record()
    return event.synchronize


def _forecasts_of(model: Model, pending: _PendingBatch) -> WindowForecasts:
    """Join the networks' forecasts of a batch, without the rows beyond it."""
    pending.wait()
    return window_forecasts(model, pending.cutoffs.numpy(), pending.series.numpy(), pending.outputs)


def window_forecasts(
    model: Model,
    cutoffs: NDArray[np.int64],
    series: NDArray[np.int64],
    outputs: list[ForecastOutput],
    offsets: NDArray[np.float64] | None = None,
) -> WindowForecasts:
    """Join the networks' outputs for the same windows, in original units.

    Args:
        model: with a scaler of these series.
        cutoffs: rows of the last known values, (batch,).
        series: of each window, as the scaler numbers them, (batch,).
        outputs: of each network, on the CPU.
        offsets: of each window, where they followed errors.
    """
    prediction = model.combined([output.prediction.numpy() for output in outputs])
    weights = [output.weights.numpy() for output in outputs if output.weights is not None]
    base, quantiles = None, None
    if model.quantiles:
        base = model.base_quantiles([output.parameters.numpy() for output in outputs])
        quantiles = model.quantiles_in_units(base, series, offsets)
    averaged = mean_weights(weights) if weights else None
    return WindowForecasts(cutoffs, series, model.in_units(prediction, series), averaged, base, quantiles)
