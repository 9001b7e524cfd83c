"""A refit of a backtest, told to whoever listens to the backtest. Loads Lightning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from forecast_attn.training.progress import EpochRecord, TrainingListener
from forecast_attn.training.refit import Refit, refit

if TYPE_CHECKING:
    from forecast_attn.backtest.backtest import Backtest, BacktestListener
    from forecast_attn.inference import Model


class _Relay(TrainingListener):
    def __init__(self, listener: BacktestListener) -> None:
        self._listener = listener

    def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
        self._listener.epoch_done(record)


def refit_in(
    folder: Path, model: Model, backtest: Backtest, number: int, cutoff: Any, listener: BacktestListener
) -> Model:
    """The model, trained further on the rows up to the cut-off; its weights are in the folder. See `refit`."""
    wanted = Refit(number, cutoff, backtest.refit_epochs, backtest.accelerator)
    return refit(model, backtest.panel, wanted, folder, _Relay(listener))
