"""The models of a backtest: the run's own, and after each refit a new one, kept with the finished parts."""

from __future__ import annotations

import copy
import json
import shutil
from dataclasses import replace
from pathlib import Path

import safetensors.torch
import torch

from forecast_attn.backtest.cutoffs import axis_of
from forecast_attn.backtest.finished_parts import Parts
from forecast_attn.backtest.job import Backtest, BacktestListener
from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.forecasting.calibration import Calibration
from forecast_attn.forecasting.model import Model
from forecast_attn.runs.atomic import write_atomically
from forecast_attn.training.judged_refit import Updated, updated
from forecast_attn.training.refit import combination_after


class Refits:
    """Models by their number, refitted when they are first asked for: from the one before, or all from the run's.

    Which cut-off has which model is decided by `folds.make_folds`.

    Args:
        backtest: with the run's own model.
        parts: where the weights of refits are kept.
        listener: called with the progress.
    """

    def __init__(self, backtest: Backtest, parts: Parts, listener: BacktestListener) -> None:
        self.backtest, self.parts, self.listener = backtest, parts, listener
        self._update, self._number = Updated(backtest.model, backtest.start or backtest.model), 0

    def model_of(self, number: int) -> Model:
        """Return the model of a number: the run's own, an earlier refit, or a new one of the model before it."""
        return self._update_of(number).model

    def _update_of(self, number: int) -> Updated:
        if number != self._number:
            self._update, self._number = self._loaded(number) or self._refitted(number), number
        return self._update

    def _loaded(self, number: int) -> Updated | None:
        base = self.backtest.model
        if number == 0:
            return Updated(base, self.backtest.start or base)
        if not self.parts.weights(number).is_file():
            return None
        calibration = self.parts.calibration(number)
        if calibration.is_file():
            base = replace(base, calibration=Calibration.from_dict(json.loads(calibration.read_text(encoding="utf-8"))))
        model = _with_weights(base, self.parts.weights(number))
        start = self.parts.start(number)
        return Updated(model, _with_weights(base, start) if start.is_file() else model)

    def _refitted(self, number: int) -> Updated:
        backtest, parts, options = self.backtest, self.parts, self.backtest.options
        before = self._update_of(0 if options.refits.origin == "run" else number - 1)
        fold = next(fold for fold in backtest.folds.folds if fold.model == number)
        self.listener.refitting(number, fold.cutoff)
        scratch = parts.scratch(number)
        request = options.refits.request(number, fold.cutoff, axis_of(backtest.panel), options.accelerator)
        update = updated(before, backtest.panel, request, scratch, backtest.device, self.listener.epoch_done)
        if backtest.chooses_weights:  # before the weights of the network, whose file says that the refit is done
            chosen = (
                combination_after(update.start, backtest.panel, request, backtest.device) if update.is_new else None
            )
            if chosen:
                write_atomically(parts.combination(number), json.dumps(chosen.to_dict()))
        if update.model.calibration is not None:
            write_atomically(parts.calibration(number), json.dumps(update.model.calibration.to_dict()))
        if update.start is not update.model:
            write_atomically(parts.start(number), safetensors.torch.save(_parameters(update.start)))
        write_atomically(parts.weights(number), safetensors.torch.save(_parameters(update.model)))
        shutil.rmtree(scratch)
        # Attention is written at the end, by the model that forecast each window; without it the last one is enough.
        if number > 1 and options.attention_out is None:
            parts.weights(number - 1).unlink(missing_ok=True)
            parts.start(number - 1).unlink(missing_ok=True)
        return update

    def combination_of(self, number: int) -> Combination:
        """Return the combination for the model of a number; empty where the network has one half.

        A refit without validation windows, or one that was no better, chooses none: it is then that of the model
        that it began with.
        """
        began_with_run = self.backtest.options.refits.origin == "run"
        numbers = [number] if began_with_run else range(number, 0, -1)
        last = next((each for each in numbers if self.parts.combination(each).is_file()), None)
        if last is None:
            return self.backtest.combination
        return Combination.from_dict(json.loads(self.parts.combination(last).read_text(encoding="utf-8")))

    def combinations(self) -> dict[int, Combination]:
        """Combinations that were chosen on validation windows, by the number of the model."""
        numbers = self.backtest.folds.models if self.backtest.combination.weights else ()
        return {number: self.combination_of(number) for number in numbers}


def _with_weights(model: Model, path: Path) -> Model:
    """The model with the weights that `_parameters` gave, from their file."""
    saved = safetensors.torch.load_file(path)
    networks = copy.deepcopy(model.networks)
    for number, network in enumerate(networks):
        prefix = f"{number}."
        parameters = {key.removeprefix(prefix): value for key, value in saved.items() if key.startswith(prefix)}
        network.load_state_dict(parameters)
    return replace(model, networks=networks)


def _parameters(model: Model) -> dict[str, torch.Tensor]:
    """Parameters of all networks of a model, by the number of the network and the name of the parameter."""
    return {
        f"{number}.{name}": value.detach().cpu().contiguous()
        for number, network in enumerate(model.networks)
        for name, value in network.state_dict().items()
    }
