"""The last training of a panel: from the beginning again, on all rows, for as many epochs as validation found best.

Validation has by then said how good the network is and what it is combined with; the newest rows, which it had to keep
away, are worth more in the weights. What is written is the network of this training; its scores are those of the first.
"""

from __future__ import annotations

import shutil
from dataclasses import replace

from forecast_attn.config.defaults import PANEL
from forecast_attn.config.options import RunConfig
from forecast_attn.runs.atomic import write_atomically
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.training.fit import fit
from forecast_attn.training.module import ForecastModule
from forecast_attn.training.preparation import Preparation
from forecast_attn.training.progress import TrainingListener


def is_fitted_again(run: RunDir, preparation: Preparation, config: RunConfig) -> bool:
    """Return True where a run ends with a training on all rows."""
    wanted, panel = config.training.final_fit, preparation.panel
    # Offsets were fitted to the errors of the validated network; an ensemble is validated after its members.
    possible = config.model.calibration == "none" and panel.issued is None and not run.is_member
    by_itself = panel.num_series >= PANEL and config.model.patch_length == 1
    return possible and (wanted == "always" or (wanted == "auto" and by_itself))


def fit_on_all_rows(run: RunDir, module: ForecastModule) -> None:
    """Train a network and put its weights in the place of the run's.

    Args:
        run: whose weights are replaced, once training is over.
        module: a network at its beginning, with the windows of all rows and none to validate on.

    Raises:
        RunError: the loss became non-finite, or the folder cannot be written.
        KeyboardInterrupt: Ctrl-C while training.
    """
    shutil.rmtree(run.final_fit, ignore_errors=True)
    folder = RunDir.create(run.final_fit)
    if fit(module, folder, TrainingListener(), resumable=False) == "interrupted":
        raise KeyboardInterrupt
    write_atomically(run.model, folder.model.read_bytes())
    shutil.rmtree(run.final_fit)


def config_of_final_fit(config: RunConfig, epochs: int) -> RunConfig:
    """The options of the run, for so many epochs and no early end."""
    return replace(config, training=replace(config.training, max_epochs=epochs, patience=epochs, max_time=None))
