"""One trial: a training with some options, ended early where it validates badly, and its score."""

from __future__ import annotations

import functools
import math
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import optuna
from numpy.typing import NDArray

from forecast_attn.backtest.backtest_options import BacktestOptions
from forecast_attn.backtest.backtest_result import run_backtest
from forecast_attn.backtest.job import BacktestListener
from forecast_attn.backtest.new_run import TableBeforeCutoffs
from forecast_attn.config.options import RunConfig
from forecast_attn.config.requests import TuneRequest
from forecast_attn.data.panel import Panel
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.runs.run_dir import SCRATCH, DataSource
from forecast_attn.training.preparation import Preparation, prepare
from forecast_attn.training.progress import EpochRecord, TrainingListener
from forecast_attn.training.schedule import TrainingPlan
from forecast_attn.training.train import resolved, train_prepared
from forecast_attn.training.validation import validation_rows

if TYPE_CHECKING:
    from optuna.trial import Trial

STAGES = 20
"""Stages of a training at which it is compared with others, which may have more epochs or fewer."""


class RefusedTrialError(Exception):
    """Options that do not go together, or not with the table."""


class TimeIsUpError(Exception):
    """Raised when the time of the search ends within a trial."""


@dataclass(eq=False)
class TrialListener(TrainingListener):
    """Reports the validation loss of a trial at each stage, and ends its training if it is pruned or out of time."""

    trial: Trial
    deadline: float | None
    """On the clock of `time.monotonic`."""
    prunes: bool
    epochs: int = 0
    best: float = math.inf
    stage: int = 0

    def training_started(self, plan: TrainingPlan, first_epoch: int, device: str) -> None:
        self.planned = plan.max_epochs

    def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
        self.epochs = record.epoch
        self.best = min(self.best, record.validation_loss)
        if self.deadline is not None and time.monotonic() > self.deadline and record.epoch < self.planned:
            raise TimeIsUpError
        stage = STAGES * record.epoch // self.planned
        if not self.prunes or stage == self.stage:
            return
        self.stage = stage
        self.trial.report(self.best, stage)
        if self.trial.should_prune():
            raise optuna.TrialPruned


@dataclass(frozen=True)
class TrialScore:
    """Errors of a trial."""

    value: float
    """The error to minimise."""
    epochs: int
    """Epochs that were trained."""
    errors: dict[str, float]
    """All errors on the same windows."""


@dataclass(eq=False)
class Objective:
    """Scores options on the table; every trial on the same windows."""

    data: Any
    """The table: a file or a DataFrame."""
    vintages: Any
    panel: Panel
    request: TuneRequest
    shared: dict[str, Any]
    """Options of all trials."""
    horizon: int
    _prepared: dict[str, Preparation] = field(default_factory=dict)

    def config_of(self, params: dict[str, Any]) -> RunConfig:
        """Return the options of a trial: one network, without the steps after training that its score does not need.

        Raises:
            ConfigError: options contradict each other.
        """
        options = {**self.shared, **params, "horizon": self.horizon, "seed": self.request.seed}
        few = {} if options.get("attention") == "none" else {"attention_windows": "1"}
        options = {name: value for name, value in options.items() if name not in OF_THE_WINNER}
        return RunConfig.from_options({**options, **few, **ALONE})

    def score(self, params: dict[str, Any], listener: TrainingListener) -> TrialScore:
        """Train with some options and score the network.

        Raises:
            RefusedTrialError: the options do not go together, or leave other windows to score.
            RunError: the loss became non-finite.
        """
        with tempfile.TemporaryDirectory(prefix=SCRATCH) as folder:
            out = Path(folder) / "run"
            if self.request.backtest is None:
                errors = self._on_validation(params, out, listener)
            else:
                errors = self._in_backtest(params, out, listener)
        value = errors.get(self.request.metric)
        if value is None:
            raise RefusedTrialError(f"{self.request.metric} is not defined on these windows")
        return TrialScore(value, getattr(listener, "epochs", 0), errors)

    def _on_validation(self, params: dict[str, Any], out: Path, listener: TrainingListener) -> dict[str, float]:
        try:
            config = self.config_of(params)
            preparation = self.prepared(config)
            config = resolved(preparation, config)
            self._check_windows(validation_rows(preparation, config))
        except (ConfigError, DataError) as error:
            raise RefusedTrialError(error.message) from None
        run = train_prepared(preparation, config, out, DataSource("trial", None), listener)
        if run.was_interrupted:
            raise KeyboardInterrupt
        scored = run.read_json(run.metrics)["validation"]
        return _defined_errors(scored, (scored.get("pinball") or {}).values())

    def _in_backtest(self, params: dict[str, Any], out: Path, listener: TrainingListener) -> dict[str, float]:
        options = self._backtest_options
        try:
            before_cutoffs = self._before_cutoffs(self.config_of(params))
            self._check_windows(before_cutoffs.folds(options).windows)
            run = before_cutoffs.train(out, listener)
        except (ConfigError, DataError) as error:
            raise RefusedTrialError(error.message) from None
        if run.was_interrupted:
            raise KeyboardInterrupt
        plan = before_cutoffs.plan(run, options)
        scores = run_backtest(plan, out / "scored.parquet", BacktestListener()).metrics
        pinball = scores.filter(like="pinball@").iloc[0]
        return _defined_errors(scores.iloc[0].to_dict(), pinball)

    @property
    def _backtest_options(self) -> BacktestOptions:
        options: dict[str, Any] = {"cutoffs": self.request.backtest, "baselines": "none", "combine_with": "none"}
        options |= {"metrics": tuple(dict.fromkeys(("mae", "rmse", self.request.metric)))}
        options |= {"accelerator": self.shared.get("accelerator", "auto")}
        return BacktestOptions.from_options(options)

    def _before_cutoffs(self, config: RunConfig) -> TableBeforeCutoffs:
        return TableBeforeCutoffs.read(self.data, config, self._backtest_options, vintages=self.vintages)

    def prepared(self, config: RunConfig) -> Preparation:
        """The windows of a trial, made once for all trials with the same options of the table."""
        key = repr(config.data)
        if key not in self._prepared:
            # Several are kept, and the windows of each would take as much memory as the table.
            self._prepared[key] = replace(prepare(self.panel, config.data), arrays=None)
        return self._prepared[key]

    @functools.cached_property
    def windows(self) -> NDArray[np.int64]:
        """Rows of the last known values of the windows that are scored with the default options."""
        return self._windows_of(self.config_of({}))

    def _windows_of(self, config: RunConfig) -> NDArray[np.int64]:
        if self.request.backtest is not None:
            return self._before_cutoffs(config).folds(self._backtest_options).windows
        preparation = self.prepared(config)
        return validation_rows(preparation, resolved(preparation, config))

    def _check_windows(self, windows: NDArray[np.int64]) -> None:
        """Refuse options with which other windows would be scored: their errors cannot be compared."""
        if not np.array_equal(windows, self.windows):
            raise RefusedTrialError("other windows would be scored than with the default options")

    def scores_same_windows(self, params: dict[str, Any]) -> bool:
        """Tell whether options go with the table and leave the same windows to score."""
        try:
            windows = self._windows_of(self.config_of(params))
        except (ConfigError, DataError):
            return False
        return np.array_equal(windows, self.windows)


ALONE: dict[str, Any] = {"ensemble": 1, "final_fit": "none", "combination": "none"}
"""Options of every trial: its network alone, trained once."""
OF_THE_WINNER = ("combine", "attention_windows", "attention_dtype", "attention_top")
"""Options that only the winner's run has."""


def _defined_errors(scored: Mapping[Any, Any], pinball: Iterable[float | None]) -> dict[str, float]:
    """The errors that a search may minimise, without those that are not defined."""
    losses = [loss for loss in pinball if loss is not None]
    errors = {name: scored.get(name) for name in ("mae", "rmse", "mase")}
    errors["pinball"] = np.mean(losses) if losses else None
    return {name: float(error) for name, error in errors.items() if error is not None and math.isfinite(error)}
