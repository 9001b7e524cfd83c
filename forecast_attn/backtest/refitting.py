"""A refit of a backtest, told to whoever listens to the backtest. Loads Lightning."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from forecast_attn.backtest.refit_options import EPOCHS
from forecast_attn.backtest.schedule import axis_of
from forecast_attn.training.progress import EpochRecord, TrainingListener
from forecast_attn.training.refit import Refit, refit

if TYPE_CHECKING:
    from forecast_attn.backtest.backtest import Backtest, BacktestListener
    from forecast_attn.inference import Model


class _Relay(TrainingListener):
    def __init__(self, listener: BacktestListener) -> None:
        self._listener = listener
        self.heard_interrupt = False

    def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
        self._listener.epoch_done(record)

    def interrupted(self) -> None:
        self.heard_interrupt = True


def refit_in(
    folder: Path, model: Model, backtest: Backtest, number: int, cutoff: Any, listener: BacktestListener
) -> Model:
    """The model, trained further on the rows up to the cut-off. See `refit`.

    Raises:
        KeyboardInterrupt: Ctrl-C, also when it came as the last epoch ended, which training itself lets pass.
    """
    options, relay = backtest.refit, _Relay(listener)
    wanted = Refit(
        number,
        cutoff,
        options.epochs or EPOCHS,
        backtest.accelerator,
        learning_rate=options.learning_rate,
        since=options.since(cutoff, axis_of(backtest.panel)),
        validation=options.validation,
    )
    refitted = refit(model, backtest.panel, wanted, folder, relay)
    if relay.heard_interrupt:
        raise KeyboardInterrupt
    return refitted
