"""A planned backtest: its inputs, the parts in which it is computed, and its listener."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from forecast_attn.backtest.backtest_options import BacktestOptions
from forecast_attn.backtest.backtest_table import panel_digest
from forecast_attn.backtest.folds import Folds
from forecast_attn.baselines.combination import COMBINATION
from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.data.findings import Finding
from forecast_attn.data.panel import Panel
from forecast_attn.forecasting.inference import BATCH_SIZE
from forecast_attn.forecasting.model import Model
from forecast_attn.runs.run_dir import RunDir, sha256_of
from forecast_attn.version import package_version

if TYPE_CHECKING:
    from forecast_attn.training.progress import EpochRecord


@dataclass(frozen=True, eq=False)
class Backtest:
    """Inputs of a backtest: model, panel, folds, baselines and options."""

    run: RunDir
    model: Model
    panel: Panel
    folds: Folds
    name: str
    """Name of the model in the file."""
    device: torch.device
    trained_until: Any
    """The last stamp the run itself was trained on."""
    start: Model | None = None
    """The model that the first refit begins with; `model` when None."""
    unseen: tuple[str, ...] = ()
    """Series left out because training did not see them."""
    findings: tuple[Finding, ...] = ()
    """Warnings about values that these forecasts read, or are scored with."""
    baselines: tuple[str, ...] = ()
    dispensable: tuple[str, ...] = ()
    """Baselines that were not named: they are left out where there is too little to fit them on."""
    combine_with: tuple[str, ...] = ()
    """Some of the baselines; the mean of theirs and the model's forecast is a model too."""
    combination: Combination = field(default_factory=Combination)
    """Weights of the network and of those baselines, as in the run; empty where the network has one half."""
    is_validated: bool = False
    """True where the run was trained again on all rows, and its validated network forecasts here."""
    options: BacktestOptions = field(default_factory=BacktestOptions)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models that are not baselines."""
        return (self.name, COMBINATION) if self.combine_with or self.combination.weights else (self.name,)

    @property
    def chooses_weights(self) -> bool:
        """True where refits choose the weights of the combination anew."""
        return bool(self.combination.weights) and self.options.refits.every > 0

    @property
    def parts(self) -> tuple[Part, ...]:
        """All windows in parts of whole batches."""
        size = max(ROWS_PER_PART // self.model.schema.horizon // BATCH_SIZE, 1) * BATCH_SIZE
        parts: list[Part] = []
        for model in self.folds.models:
            windows = self.folds.windows_of_model(model)
            for first in range(windows.start, windows.stop, size):
                parts.append(Part(len(parts), model, slice(first, min(first + size, windows.stop))))
        return tuple(parts)

    def identity(self) -> dict[str, Any]:
        """Everything the file's bytes depend on, by the names a user knows."""
        stamps, refit = np.array([fold.cutoff for fold in self.folds.folds]), self.options.refits.to_dict()
        return {
            "version of forecast-attn": package_version(),
            "model": sha256_of(self.run.metrics),  # which holds the digest of the weights
            "options of the run": asdict(self.model.config),
            "table": panel_digest(self.panel),
            "cut-offs": hashlib.blake2b(stamps.tobytes(), digest_size=16).hexdigest(),
            "--refit": refit.pop("refit_every"),
            **{f"--{name.replace('_', '-')}": value for name, value in refit.items()},
            "--accelerator": self.device.type,
            "name": self.name,
            **self._digests_of_chronos(),
            **({"weights of the combination": self.combination.to_dict()} if self.chooses_weights else {}),
        }

    def _digests_of_chronos(self) -> dict[str, list[str]]:
        folder = self.options.chronos_model
        if folder is None:
            return {}
        return {"--chronos-model": [sha256_of(path) for path in sorted(folder.glob("*.safetensors"))]}


class BacktestListener:
    """Callbacks for the progress of a backtest; by default they do nothing."""

    def planned(self, backtest: Backtest) -> None:
        """Called before anything is computed."""

    def restarted(self, changed: str) -> None:
        """The parts of an earlier backtest with another `changed` are deleted."""

    def resumed(self, parts: int) -> None:
        """Parts of the same backtest finished before."""

    def refitting(self, number: int, cutoff: Any) -> None:
        """Called before a refit; the cut-off is an axis stamp."""

    def epoch_done(self, record: EpochRecord) -> None:
        """Called after every epoch of a refit."""

    def forecasting(self, windows: int, model: int) -> None:
        """Additional windows to forecast by the model with that number."""

    def baseline_left_out(self, name: str, reason: str) -> None:
        """A default baseline cannot be fitted."""

    def comparing(self, name: str) -> None:
        """Called before a baseline is computed."""

    def attention_planned(self, size: Any, path: Path) -> None:
        """Called before the attention file is written."""


class Part(NamedTuple):
    """Neighbouring windows of one model that are forecast and stored together."""

    number: int
    model: int
    windows: slice


ROWS_PER_PART = 1 << 18
"""Rows of a part, which is a row group too: small enough that little is lost with a kill."""
