"""The model of a finished run: its options, schema, networks and calibration, and what a batch of forecasts holds.

No torch here: a run can be read, and forecast with its ONNX file, without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import AttentionMetadata
from forecast_attn.config.defaults import Shape
from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.options import RunConfig
from forecast_attn.data.schema import Schema
from forecast_attn.errors import ConfigError, RunError, reason_of
from forecast_attn.forecasting.calibration import Calibration
from forecast_attn.forecasting.ensemble import combined, member_config
from forecast_attn.forecasting.quantiles import cut_off, in_units, quantiles_of
from forecast_attn.runs.run_dir import DAMAGED_HINT, RunDir, sha256_of

if TYPE_CHECKING:
    import torch

    from forecast_attn.nn.network import ForecastNetwork

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
        length = self.config.model.patch_length
        assert length is not None  # training settles it
        return length

    @property
    def num_keys(self) -> int:
        """Keys of a window: its patches, or its time steps."""
        return self.schema.lookback // self.patch_length

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
        raise RunError(f"'{run.schema}' is damaged: {reason_of(error)}", DAMAGED_HINT) from None
    return schema


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


def unaltered_file(run: RunDir, path: Path, recorded: str | None) -> Path:
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


def read_calibration(run: RunDir, config: RunConfig, schema: Schema) -> Calibration | None:
    """Read the calibration of a run's quantiles; None where they are not calibrated.

    Raises:
        RunError: the file is missing, damaged, or altered since training.
    """
    if config.model.calibration == "none":
        return None
    recorded = run.read_json(run.metrics).get("calibration_sha256")
    content = run.read_json(unaltered_file(run, run.calibration, recorded))
    try:
        calibration = Calibration.from_dict(content)
        if calibration.quantiles != config.model.forecast_quantiles or len(calibration.offsets) != schema.horizon:
            raise ValueError("offsets of other quantiles or steps")
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(f"'{run.calibration}' is damaged: {error}", DAMAGED_HINT) from None
    return calibration


def attention_metadata(model: Model) -> AttentionMetadata:
    """Metadata of an attention file of this model."""
    options = model.config.model
    return AttentionMetadata(
        mechanism=options.attention,
        order=options.order,
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
