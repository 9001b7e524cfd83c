"""The last training of a panel: from the beginning again, on all rows, for as many epochs as validation found best.

Validation has by then said how good the network is and what it is combined with; the newest rows, which it had to keep
away, are worth more in the weights. `predict` forecasts with the network of this training. The validated one stays in
the run: its scores are in metrics.json, and whatever looks at past windows (backtest, audit, plot) takes it.
"""

from __future__ import annotations

import shutil
from dataclasses import replace

from forecast_attn.config.defaults import FEWEST_SERIES
from forecast_attn.config.options import RunConfig
from forecast_attn.errors import ConfigError
from forecast_attn.runs.atomic import write_atomically
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.training.fit import fit
from forecast_attn.training.module import ForecastModule
from forecast_attn.training.preparation import Preparation
from forecast_attn.training.process_group import is_first
from forecast_attn.training.progress import TrainingListener


def no_final_fit(preparation: Preparation, config: RunConfig) -> str | None:
    """The reason why a run does not end with a training on all rows; None where it does."""
    choice, obstacle = config.training.final_fit, _obstacle(preparation, config)
    if choice == "none":
        return "--final-fit none"
    if obstacle is not None:
        return obstacle
    if choice == "always":
        return None
    if preparation.panel.num_series < FEWEST_SERIES:
        return f"fewer than {FEWEST_SERIES} series; --final-fit always does it anyway"
    if config.model.patch_length != 1:
        return "with patches it would double the training time; --final-fit always does it anyway"
    return None


def _obstacle(preparation: Preparation, config: RunConfig) -> str | None:
    if config.model.calibration != "none":
        return "--calibration is fitted to the errors of the network that was validated"
    if preparation.panel.issued is not None:
        return "with --vintages only windows that had been forecast by then can be trained on"
    return None


def check_final_fit(preparation: Preparation, config: RunConfig) -> None:
    """Refuse a training on all rows where there can be none.

    Raises:
        ConfigError: says why.
    """
    obstacle = _obstacle(preparation, config)
    if config.training.final_fit == "always" and obstacle is not None:
        raise ConfigError(f"--final-fit always is not possible: {obstacle}", "--final-fit none")


def fit_on_all_rows(run: RunDir, module: ForecastModule) -> None:
    """Train a network and put its weights in the place of the run's, which are kept as the validated ones.

    Args:
        run: whose weights are replaced, once training is over; as often as it is called, by the same ones.
        module: a network at its beginning, with the windows of all rows and none to validate on.

    Raises:
        RunError: the loss became non-finite, or the folder cannot be written.
        KeyboardInterrupt: Ctrl-C while training.
    """
    if is_first():
        shutil.rmtree(run.final_fit, ignore_errors=True)
        RunDir.create(run.final_fit)
    folder = RunDir(run.final_fit)
    if fit(module, folder, TrainingListener(), resumable=False) == "interrupted":
        raise KeyboardInterrupt
    if not is_first():
        return
    if not run.validated.is_file():
        write_atomically(run.validated, run.model.read_bytes())
    write_atomically(run.model, folder.model.read_bytes())
    shutil.rmtree(run.final_fit)


def config_of_final_fit(config: RunConfig, epochs: int) -> RunConfig:
    """The options of the run, for a number of epochs without early stopping."""
    return replace(config, training=replace(config.training, max_epochs=epochs, patience=epochs, max_time=None))
