"""A finished run and a panel -> forecasts and the attention behind them. Plain torch: no Lightning here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import safetensors
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import Tensor

from forecast_attn.attention_file import AttentionMetadata
from forecast_attn.config.defaults import Shape
from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.options import ModelConfig, RunConfig
from forecast_attn.data.panel import Panel
from forecast_attn.data.schema import Schema
from forecast_attn.data.windows import WindowArrays
from forecast_attn.errors import ConfigError, RunError, UserError
from forecast_attn.forecasting.adaptive_calibration import Followed, PastForecasts, earlier_cutoffs, follow
from forecast_attn.forecasting.calibration import Calibration
from forecast_attn.forecasting.ensemble import combined, mean_weights, member_config
from forecast_attn.forecasting.quantiles import cut_off, in_units, quantiles_of
from forecast_attn.nn.builder import WindowSizes, attention_order, build_network
from forecast_attn.nn.network import ForecastNetwork, ForecastOutput
from forecast_attn.runs.run_dir import DAMAGED_HINT, RunDir, sha256_of

BATCH_SIZE = 128
"""Windows forecast together; larger batches are slower per window on a CPU (memory traffic)."""

GPU_BATCH_SIZE = 1024
"""The same on a GPU, which takes hardly longer for as many, as long as there are no more keys than `GPU_KEYS`."""
GPU_KEYS = 1 << 18
"""Most keys of all windows of a batch on a GPU; memory grows with them."""

_SETTLED = {
    "model": Shape._fields,
    "training": ("batch_size", "max_epochs", "patience", "learning_rate", "weight_decay", "seed"),
}
"""Options that a user may leave open; config.json never does."""


@dataclass(frozen=True)
class Model:
    """A network, or the several of an ensemble, with everything needed to use it."""

    config: RunConfig
    schema: Schema
    networks: tuple[ForecastNetwork, ...]
    """One for each member of an ensemble; else one."""
    calibration: Calibration | None = None
    """Calibration of the quantiles, after an ensemble's combination; None where they are not calibrated."""

    @property
    def network(self) -> ForecastNetwork:
        """The only network.

        Raises:
            ConfigError: the model is an ensemble, which has several.
        """
        if len(self.networks) > 1:
            raise ConfigError(
                f"this looks inside one network; an ensemble has {len(self.networks)}",
                "name one of its members, such as RUN/members/0",
            )
        return self.networks[0]

    @property
    def patch_length(self) -> int:
        """Time steps of a key."""
        return self.networks[0].patches.length

    @property
    def num_keys(self) -> int:
        """Keys of a window: its patches, or its time steps."""
        return self.networks[0].patches.num_keys

    def to(self, device: torch.device) -> Model:
        """This model, whose networks are moved to a device to forecast there."""
        for network in self.networks:
            network.to(device).eval()
        return self

    @property
    def is_ensemble(self) -> bool:
        return len(self.networks) > 1

    @property
    def members(self) -> tuple[Model, ...]:
        """The members of an ensemble, each as a model that is not calibrated; of any other model none."""
        return tuple(
            replace(self, config=member_config(self.config, number), networks=(network,), calibration=None)
            for number, network in enumerate(self.networks)
            if self.is_ensemble
        )

    @property
    def has_attention(self) -> bool:
        return self.config.model.attention != "none"

    @property
    def quantiles(self) -> tuple[float, ...]:
        """The quantiles that are forecast, ascending."""
        return self.config.model.forecast_quantiles

    @property
    def uncalibrated(self) -> Model:
        """This model without calibration: for points and weights, which none changes, it need not be computed."""
        return replace(self, calibration=None)

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

    def in_units(self, values: NDArray[Any], series: NDArray[np.int64]) -> NDArray[np.float64]:
        """Values (batch, horizon) on the series' scale, in original units; of series (batch,) as the schema counts."""
        restored = self.schema.scaler.target_in_units(values, series)
        return cut_off(restored) if self.config.data.non_negative else restored

    def combined(self, values: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """Combine the networks' arrays, each on the series' scale, into one of the same shape."""
        return combined(values, self.config.training.combine)

    def base_quantiles(self, parameters: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """Uncalibrated quantiles of each head's parameters, on the series' scale, (batch, horizon, num_quantiles)."""
        return self.combined([quantiles_of(self.config.model.head, each, self.quantiles) for each in parameters])

    def quantiles_in_units(
        self, base: NDArray[np.float64], series: NDArray[np.int64], offsets: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Quantiles in original units, calibrated and ascending (batch, horizon, num_quantiles).

        Args:
            base: as `base_quantiles` gives them, (batch, horizon, num_quantiles).
            series: of each window, as the schema's scaler numbers them, (batch,).
            offsets: of each window, where they followed errors.
        """
        calibrated = base if self.calibration is None else self.calibration.apply(base, offsets)
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
    """(batch, heads, num_steps, num_keys), of patches; of an ensemble the mean over its members."""
    base_quantiles: NDArray[np.float64] | None
    """Quantiles before calibration, on the series' scale, (batch, horizon, num_quantiles)."""
    quantiles: NDArray[np.float64] | None
    """(batch, horizon, num_quantiles), in original units, ascending; None where only the point is forecast."""


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


def read_config(run: RunDir) -> RunConfig:
    """Read the options of a run; those of an ensemble's member, as if it had been trained alone.

    Raises:
        RunError: config.json is damaged or from a newer version.
    """
    content = run.read_json(run.config)
    try:
        config = RunConfig.from_dict(content["options"])
        _check_is_settled(config)
        return member_config(config, run.number) if run.is_member else config
    except (KeyError, TypeError, AttributeError, ConfigError) as error:
        reason = error.message if isinstance(error, ConfigError) else f"no {error}"
        raise RunError(f"'{run.config}' is damaged: {reason}", DAMAGED_HINT) from None


def _check_is_settled(config: RunConfig) -> None:
    """Refuse options that are open, of those that training settles before it writes config.json.

    Raises:
        KeyError: names the option.
    """
    for section, names in _SETTLED.items():
        for name in names:
            if getattr(getattr(config, section), name) is None:
                raise KeyError(name)


def read_schema(run: RunDir) -> Schema:
    """Read the schema that training wrote.

    Raises:
        RunError: schema.json is damaged or from a newer version.
    """
    try:
        schema = Schema.from_dict(run.read_json(run.schema))
        schema.check()
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, ConfigError) as error:
        raise RunError(f"'{run.schema}' is damaged: {error}", DAMAGED_HINT) from None
    return schema


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
            _unaltered(part, part.model, recorded)
        networks.append(load_network(part, config, schema, validated=validated))
    calibration = None
    if config.model.calibration != "none":
        calibration = _read_calibration(run, config, schema, metrics.get("calibration_sha256"))
    return Model(config, schema, tuple(networks), calibration)


def trained_until(run: RunDir, *, validated: bool = False) -> str | None:
    """The last stamp that a run was trained on, as its metrics say; None where they do not.

    Args:
        run: finished.
        validated: of the network that validation judged, where the run was trained again on all rows.
    """
    metrics = run.read_json(run.metrics)
    if validated or "final_fit" not in metrics:
        return str(metrics["validation"]["after"])
    until = metrics["final_fit"].get("until")
    return None if until is None else str(until)


def _parts_with_weights(run: RunDir, metrics: dict[str, Any]) -> list[tuple[RunDir, Any]]:
    """Paths of the weights, with the digests that metrics.json of an earlier version holds."""
    if "members" not in metrics:
        return [(run, metrics.get("model_sha256"))]
    return [(run.member(number), entry.get("model_sha256")) for number, entry in enumerate(metrics["members"])]


def _unaltered(run: RunDir, path: Path, recorded: str | None) -> Path:
    """Return the path of a file that is as training left it, by the manifest or by what metrics.json says of it.

    Raises:
        RunError: it is not.
    """
    if run.has_manifest:
        return run.unaltered(path)
    if not path.is_file():
        raise RunError(f"'{run.path}' is damaged: missing {path.name}", DAMAGED_HINT)
    if sha256_of(path) != recorded:
        raise RunError(f"'{path}' was altered or cut short since training", DAMAGED_HINT)
    return path


def _read_calibration(run: RunDir, config: RunConfig, schema: Schema, recorded: str | None) -> Calibration:
    content = run.read_json(_unaltered(run, run.calibration, recorded))
    try:
        calibration = Calibration.from_dict(content)
        if calibration.quantiles != config.model.forecast_quantiles or len(calibration.offsets) != schema.horizon:
            raise ValueError("offsets of other quantiles or steps")
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"'{run.calibration}' is damaged: {error}", DAMAGED_HINT) from None
    return calibration


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
    *,
    device: torch.device,
    arrays: WindowArrays | None = None,
    need_weights: bool = True,
) -> Iterator[WindowForecasts]:
    """Forecast every cut-off, a batch at a time, in constant memory.

    Args:
        model: whose networks to ask; they are moved to `device`. Those of an ensemble give one forecast together.
        panel: the series, scaled here as in training.
        cutoffs: rows of the last known values, (num_windows,).
        device: where to compute.
        arrays: the panel's windows, where they exist already.
        need_weights: False leaves the weights out and may be faster.

    Raises:
        DataError: a series was not in training.
    """
    model = model.of_series(panel.item_ids).to(device)
    arrays = (arrays or model.schema.windows_of(panel)).to(device)
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
    # TensorFloat-32 would round a GPU's products to ten bits: a forecast would depend on its batch.
    with torch.inference_mode(), torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
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


def attention_metadata(model: Model) -> AttentionMetadata:
    """Metadata of an attention file of this model."""
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
        patch_length=model.patch_length,
        frequency=model.schema.frequency.alias,
        season=model.schema.frequency.season,
        zone=model.schema.zone.type_name,
        row_sum="<=1" if options.attention_window == "local-p" else "1",
    )
