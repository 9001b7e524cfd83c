"""One update of a model: trained further, scored beside the weights before it on steps that neither has seen, the
better ones kept, and in the end trained on those steps too.

`forecast update` does this once, a backtest with `--refit` at every K-th cut-off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from forecast_attn.baselines.combination_weights import scaled_error
from forecast_attn.baselines.naive import Floats
from forecast_attn.data.panel import Panel
from forecast_attn.evaluation.metrics import point_metrics
from forecast_attn.evaluation.quantile_scores import pinball
from forecast_attn.forecasting.calibration import Calibration
from forecast_attn.forecasting.inference import followed_errors
from forecast_attn.forecasting.model import Model
from forecast_attn.training.preparation import Preparation
from forecast_attn.training.progress import EpochRecord, TrainingListener
from forecast_attn.training.refit import Refit, held_out_steps, panel_until, refit, windows_to_refit
from forecast_attn.training.validation import ValidationForecasts, forecast_validation, naive_errors


class HeldOutScores(NamedTuple):
    """Errors on the steps that an update held out."""

    mae: float | None
    """In the target's units."""
    mase: float | None
    loss: float
    """Decides which weights stay: the mean pinball loss of a model with quantiles, else the absolute error, each
    window in units of its series' naive error."""


@dataclass(frozen=True)
class Updated:
    """A model after an update, and the start of the next one."""

    model: Model
    """Forecasts."""
    start: Model
    """Has not seen the steps that were held out last, but for those that the next update trains on."""
    before: HeldOutScores | None = None
    """Of the weights before; None where no steps were held out."""
    after: HeldOutScores | None = None
    """Of the weights that were trained further."""
    is_new: bool = True
    """False where the weights before were no worse, and stayed."""
    epochs: tuple[int, ...] = ()
    """Best epoch of each network."""
    final_epochs: int = 0
    """Epochs of the training on all rows; 0 where there was none."""


class EpochListener(TrainingListener):
    """Passes the epochs of an update on, and remembers a Ctrl-C that came as the last one ended."""

    def __init__(self, on_epoch: Callable[[EpochRecord], None]) -> None:
        self._on_epoch = on_epoch
        self._heard_interrupt = False

    def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
        self._on_epoch(record)

    def interrupted(self) -> None:
        self._heard_interrupt = True

    def check(self) -> None:
        """Raise KeyboardInterrupt where Ctrl-C was heard."""
        if self._heard_interrupt:
            raise KeyboardInterrupt


def updated(
    last: Updated,
    panel: Panel,
    request: Refit,
    folder: Path,
    device: torch.device,
    on_epoch: Callable[[EpochRecord], None] = lambda record: None,
) -> Updated:
    """Update a model with the rows up to a cut-off.

    Args:
        last: the model, and where the update begins.
        panel: the series, with rows after the cut-off too, which are cut off first.
        request: cut-off, steps held out, epochs, and what is kept.
        folder: does not exist, or is empty; holds weights and history of the training in `new`, and of the one on all
            rows in `final`.
        device: where to score.
        on_epoch: called after every epoch.

    Raises:
        DataError: there is no window up to the cut-off.
        RunError: the loss became non-finite, or the folder cannot be written.
        KeyboardInterrupt: Ctrl-C while training.
    """
    listener = EpochListener(on_epoch)
    new, epochs = refit(last.start, panel, request, folder / "new", listener)
    listener.check()
    before, after = _held_out_scores(last.start, new, panel, request, device)
    if request.keep == "best" and before is not None and after is not None and after.loss >= before.loss:
        return replace(last, before=before, after=after, is_new=False, epochs=epochs, final_epochs=0)
    calibration = _calibration_now(last.model, panel, request, device)
    new = _knowing(new, calibration, panel, request)
    result = Updated(new, new, before, after, epochs=epochs)
    if not request.final_fit or before is None:
        return result
    everything = replace(request, validation=0, epochs=max(epochs))
    model, _ = refit(last.start, panel, everything, folder / "final", listener)
    listener.check()
    return replace(result, model=_knowing(model, calibration, panel, everything), final_epochs=everything.epochs)


def _calibration_now(model: Model, panel: Panel, request: Refit, device: torch.device) -> Calibration | None:
    """The calibration of a model at the cut-off; of an adaptive one the offsets are the mean of those of the series.

    They followed the forecasts before the update: of its own, the network would have been trained on the answers.
    """
    calibration = model.calibration
    if calibration is None or calibration.tracking is None:
        return calibration
    known = panel_until(panel, request.cutoff)
    # Only series that reach the cut-off have errors up to there.
    rows = known.ends - 1
    rows = rows[known.timestamps[rows] == request.cutoff]
    model = model.of_series(known.item_ids).to(device)
    followed = followed_errors(model, known, rows, model.schema.windows_of(known).to(device))
    if followed is None or not len(rows):
        return calibration
    tracking = calibration.tracking._replace(unit=followed.unit.mean(axis=0))
    return replace(calibration, offsets=followed.offsets.mean(axis=0), tracking=tracking)


def _knowing(model: Model, calibration: Calibration | None, panel: Panel, request: Refit) -> Model:
    """The model with a calibration, which goes on with the errors after the rows that the model was trained on."""
    if calibration is None or calibration.tracking is None:
        return model
    steps = held_out_steps(model, panel_until(panel, request.cutoff), request)
    after = model.schema.frequency.shift(np.array([request.cutoff]), -steps)[0]
    tracking = calibration.tracking._replace(after=int(np.asarray(after).astype(np.int64)))
    return replace(model, calibration=replace(calibration, tracking=tracking))


def _held_out_scores(
    old: Model, new: Model, panel: Panel, request: Refit, device: torch.device
) -> tuple[HeldOutScores | None, HeldOutScores | None]:
    """Scores of both on the validation windows of a refit; None where nobody asks, or there are none."""
    if request.keep == "new" and not request.final_fit:
        return None, None
    preparation = windows_to_refit(new, panel_until(panel, request.cutoff), request)
    if not len(preparation.validation_cutoffs):
        return None, None
    arrays = preparation.windows().to(device)
    return (
        scores_of(old, forecast_validation(old.to(device), preparation, arrays), preparation),
        scores_of(new, forecast_validation(new.to(device), preparation, arrays), preparation),
    )


def scores_of(model: Model, validation: ValidationForecasts, preparation: Preparation) -> HeldOutScores:
    """Score forecasts of the validation windows."""
    scale = naive_errors(preparation)[validation.series]
    errors = point_metrics(validation.actual, validation.prediction, scale)
    if validation.base_quantiles is None:
        loss = scaled_error(validation.actual, validation.prediction, scale)
    else:
        quantiles = model.quantiles_in_units(validation.base_quantiles, validation.series)
        loss = _scaled_pinball(model.quantiles, validation.actual, quantiles, scale)
    return HeldOutScores(errors["mae"], errors["mase"], loss)


def _scaled_pinball(quantiles: tuple[float, ...], actual: Floats, forecast: Floats, scale: Floats) -> float:
    """Mean pinball loss, twice, over all quantiles: that of 0.5 alone is the absolute error."""
    # `scaled_error` scales and averages errors: it is handed a forecast that is wrong by twice the loss.
    losses = [
        scaled_error(actual, actual - 2 * pinball(actual, of_quantile, quantile), scale)
        for quantile, of_quantile in zip(quantiles, np.moveaxis(forecast, -1, 0), strict=True)
    ]
    return float(np.mean(losses))
