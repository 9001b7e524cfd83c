"""Display of a search: a line per trial on stderr, the leaderboard at the end on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from forecast_attn.cli.tables import make_console, plain_table
from forecast_attn.cli.training_display import TrainingDisplay
from forecast_attn.config.values import percent
from forecast_attn.errors import shell_command
from forecast_attn.tuning.search import TuningListener

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

    from forecast_attn.config.options import RunConfig
    from forecast_attn.training.preparation import Preparation
    from forecast_attn.tuning.space import Space
    from forecast_attn.tuning.tuning_result import TuningResult

MOST_TRIALS = 10
"""Rows of the leaderboard that are shown."""
BAR_WIDTH = 30
"""Characters of the longest bar."""
ENDINGS = {"trials": "all trials done", "max-time": "--max-time reached; the same command goes on"}


class TuningDisplay(TrainingDisplay, TuningListener):
    """One line per trial, then the training of the winner as `forecast train` shows it; nothing when quiet."""

    def __init__(self, metric: str, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self.metric = metric
        self.is_prepared = False

    def prepared(self, preparation: Preparation, config: RunConfig) -> None:
        if not self.is_prepared:  # the winner's table is the same
            super().prepared(preparation, config)
        self.is_prepared = True

    def search_started(self, space: Space, finished: int, trials: int) -> None:
        self.trials = trials
        self.say(f"searching {', '.join(space)}: {trials} trials, {finished} of them done")

    def trial_ended(self, trial: FrozenTrial, best: FrozenTrial | None) -> None:
        options = ", ".join(f"{name} {_value(value)}" for name, value in trial.params.items())
        so_far = "none scored yet" if best is None else f"best {best.values[0]:.5g}, trial {best.number}"
        self.say(f"trial {trial.number}: {_outcome(trial, self.metric)} ({so_far})  {options}")

    def waiting(self, number: int) -> None:
        self.say(f"waiting for other processes, which work on {number} trials")

    def search_ended(self, reason: str) -> None:
        self.say(f"search ended: {ENDINGS[reason]}")


def _outcome(trial: FrozenTrial, metric: str) -> str:
    from optuna.trial import TrialState

    from forecast_attn.tuning.study import ERROR, GIVEN_UP, SAME

    if trial.state == TrialState.COMPLETE:
        same = trial.user_attrs.get(SAME)
        return f"{metric} {trial.values[0]:.5g}" + ("" if same is None else f", as trial {same}")
    if trial.state == TrialState.PRUNED:
        return f"pruned after {trial.user_attrs.get('epochs', 0)} epochs"
    return f"failed: {trial.user_attrs.get(ERROR, GIVEN_UP)}"


def show_search(result: TuningResult) -> None:
    """The best trials, the importance of each option, and the winner's run with the next command to type."""
    console = make_console()
    states = ", ".join(f"{number} {state}" for state, number in result.counts.items() if number)
    console.say(f"{len(result.leaderboard)} trials ({states}), {result.metric} on {result.scored_on}")
    console.print(_leaderboard(result))
    if result.importance:
        console.print()
        console.print("importance of each option")
        console.print(_importance(result))
    if result.run is None:
        console.say("no run was trained (--no-winner)")
        return
    console.say(f"run: {result.run}")
    judge = shell_command("backtest", result.run, "--data", "LATER.csv")
    console.say(f"the best of many is better on these windows than on others; judge it on later data: {judge}")


def _leaderboard(result: TuningResult) -> Table:
    table = plain_table("", "trial", result.metric.upper(), "epochs", *result.space, left=result.space)
    scored = result.leaderboard[result.leaderboard["state"] == "scored"]
    rows: list[dict[Any, Any]] = scored.head(MOST_TRIALS).to_dict("records")
    for row in rows:
        values = [_value(row[name]) for name in result.space]
        table.add_row(str(row["rank"]), str(row["trial"]), f"{row[result.metric]:.5g}", str(row["epochs"]), *values)
    return table


def _importance(result: TuningResult) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    largest = max(result.importance.values())
    for name, share in result.importance.items():
        bar = "█" * round(BAR_WIDTH * share / largest) if largest > 0 else ""
        table.add_row(name, percent(share), bar)
    return table


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
