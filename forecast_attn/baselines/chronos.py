"""The baseline `chronos`: a pretrained Chronos model, which forecasts series that it was not trained on.

Sources: Ansari et al. 2024, "Chronos: learning the language of time series"; Ansari et al. 2025, "Chronos-2: from
univariate to universal forecasting". The weights are read from the user's disk; nothing is downloaded.
"""

from __future__ import annotations

import functools
import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.baselines.window_features import BaselineSetup
from forecast_attn.data.panel import Panel
from forecast_attn.errors import ConfigError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Window = dict[str, Any]
"""A window as Chronos-2 takes it: `target`, `past_covariates` and `future_covariates`."""

NAME = "chronos"
WINDOWS_AT_ONCE = 64
HINT = 'pip install "forecast-attn[chronos]"'


def check_chronos(folder: Path | None) -> None:
    """Refuse the baseline without its package or its weights, before anything is computed.

    Raises:
        ConfigError: the package is not installed, or the folder is absent or holds no model in safetensors.
    """
    if folder is None:
        raise ConfigError("the baseline 'chronos' needs a folder of weights", "forecast backtest --chronos-model DIR")
    if not _is_chronos(folder):
        raise ConfigError(
            f"--chronos-model: '{folder}' does not hold a Chronos model: its config.json and weights in safetensors",
            "download a model such as amazon/chronos-2 on a machine with internet access, and name its folder",
        )
    try:
        importlib.import_module("chronos")
    except ImportError:
        raise ConfigError("the baseline 'chronos' needs chronos-forecasting, which is not installed", HINT) from None


def chronos_forecasts(panel: Panel, cutoffs: Ints, setup: BaselineSetup, quantiles: tuple[float, ...]) -> Floats:
    """Forecast with pretrained weights, from all rows up to each cut-off that the model can read.

    Chronos-2 also reads the past covariates, and those known ahead as far as all steps of the horizon are known; the
    other models read the target alone. Static covariates are not read.

    Args:
        panel: with the rows of each horizon.
        cutoffs: rows of the last known values, (num_cutoffs,).
        setup: the horizon, and the folder of the weights.
        quantiles: ascending, (num_quantiles,).

    Returns:
        (num_cutoffs, horizon, num_quantiles) in the target's units, NaN where a series has no value yet.

    Raises:
        ConfigError: the package or the weights are absent, or the folder holds no Chronos model.
    """
    import torch

    check_chronos(setup.chronos_model)
    pipeline = _pipeline(setup.chronos_model)
    reads_covariates = type(pipeline).__name__ == "Chronos2Pipeline"
    forecasts = np.full((len(cutoffs), setup.horizon, len(quantiles)), np.nan)
    windows = _Windows(panel, setup.horizon, pipeline.model_context_length)
    known = np.array([windows.has_values(cutoff) for cutoff in cutoffs], dtype=bool)
    # The first Chronos models draw their quantiles from sample paths, and each path of a batch depends on the others.
    at_once = 1 if type(pipeline).__name__ == "ChronosPipeline" else WINDOWS_AT_ONCE
    with torch.random.fork_rng(devices=[]):
        for first in range(0, int(known.sum()), at_once):
            rows = np.flatnonzero(known)[first : first + at_once]
            torch.manual_seed(0)
            inputs = [windows.at(cutoff) for cutoff in cutoffs[rows]]
            batch = inputs if reads_covariates else [torch.from_numpy(window["target"]) for window in inputs]
            predicted, _ = pipeline.predict_quantiles(
                batch, prediction_length=setup.horizon, quantile_levels=list(quantiles)
            )
            values = torch.stack(list(predicted)).reshape(len(rows), setup.horizon, len(quantiles))
            forecasts[rows] = np.sort(values.double().numpy(), axis=-1)
    return forecasts


def _is_chronos(folder: Path) -> bool:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(config, dict) and "chronos_config" in config and any(folder.glob("*.safetensors"))


@functools.cache
def _pipeline(folder: Path) -> Any:
    import torch
    from chronos import BaseChronosPipeline
    from transformers.utils import logging

    logging.disable_progress_bar()
    options: dict[str, Any] = {"local_files_only": True, "use_safetensors": True, "dtype": torch.float32}
    try:
        return BaseChronosPipeline.from_pretrained(folder, **options)
    except (OSError, ValueError, KeyError, AttributeError, AssertionError, RuntimeError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise ConfigError(f"--chronos-model: '{folder}' cannot be loaded: {reason}", "download it again") from None


class _Windows:
    """Rows up to a cut-off, as Chronos-2 takes them."""

    def __init__(self, panel: Panel, horizon: int, most: int) -> None:
        self._panel, self._horizon, self._most = panel, horizon, most
        roles = panel.roles
        self._numbers = dict(zip(roles.past_covariates, panel.past_covariates.T, strict=True))
        self._numbers |= dict(zip(roles.future_covariates, panel.future_covariates.T, strict=True))
        codes = dict(zip(roles.past_categories, panel.past_categories.T, strict=True))
        self._codes = codes | dict(zip(roles.future_categories, panel.future_categories.T, strict=True))
        ahead = (*roles.future_covariates, *roles.future_categories)
        self._known_ahead = [name for name in ahead if roles.known_steps.get(name, horizon) >= horizon]
        self._vintages = None
        if panel.issued is not None:
            from forecast_attn.data.vintages import Vintages

            self._vintages = Vintages.build(panel, panel.issued)

    def has_values(self, cutoff: int) -> bool:
        return bool(np.isfinite(self._panel.target[self._past(cutoff)]).any())

    def at(self, cutoff: int) -> Window:
        past = self._past(cutoff)
        ahead = slice(cutoff + 1, cutoff + 1 + self._horizon)
        future = {name: self._column(name, ahead) for name in self._known_ahead} | self._as_forecast(cutoff)
        names = [*self._numbers, *self._codes]
        return {
            "target": self._panel.target[past].astype(np.float32),
            "past_covariates": {name: self._column(name, past) for name in names},
            "future_covariates": {name: future[name] for name in self._known_ahead},
        }

    def _past(self, cutoff: int) -> slice:
        start = self._panel.starts[self._panel.series_of(cutoff)]
        return slice(max(int(start), int(cutoff) + 1 - self._most), int(cutoff) + 1)

    def _column(self, name: str, rows: slice) -> NDArray[Any]:
        if name in self._numbers:
            return np.asarray(self._numbers[name][rows], np.float32)
        texts: NDArray[Any] = np.array([*self._panel.categories[name], ""])[self._codes[name][rows]]
        return texts

    def _as_forecast(self, cutoff: int) -> dict[str, NDArray[Any]]:
        """Covariates of the horizon as they had been forecast at the cut-off."""
        if self._vintages is None:
            return {}
        import torch

        rows = torch.arange(cutoff + 1, cutoff + 1 + self._horizon)[None]
        values = self._vintages.values(rows, torch.tensor([cutoff]))[0].numpy().astype(np.float32)
        names = [self._panel.roles.future_covariates[column] for column in self._vintages.columns]
        return dict(zip(names, values.T, strict=True))
