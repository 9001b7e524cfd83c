"""Display of a backtest: the fold table first, progress on stderr, the scores on stdout."""

from __future__ import annotations

import contextlib
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from forecast_attn.backtest.folds import LEFT_OUT_REASONS, Fold, Folds
from forecast_attn.backtest.job import Backtest, BacktestListener
from forecast_attn.cli.evaluation_display import against_table, left_out_lines, score_tables
from forecast_attn.cli.tables import bar_width, fitting_parts, make_console, plain_table, room_beside_bar
from forecast_attn.cli.training_display import weights_text
from forecast_attn.data.findings import counted, quoted

if TYPE_CHECKING:
    from forecast_attn.backtest.backtest_result import BacktestResult
    from forecast_attn.baselines.combination_weights import Combination
    from forecast_attn.cli.tables import PipedConsole
    from forecast_attn.cli.training_display import TrainingDisplay
    from forecast_attn.data.zones import Zone
    from forecast_attn.training.progress import EpochRecord

FIRST_FOLDS, LAST_FOLDS = 8, 3
FIRST_STEPS, LAST_STEPS = 6, 2
LINES = 10
"""Lines of progress where there is no terminal."""
_SHOWN = ("mae", "rmse", "bias", "smape", "mase", "crps")


def print_folds(console: PipedConsole, folds: Folds, zone: Zone) -> None:
    """Print the fold table, and the windows and cut-offs that are left out."""
    times = ("cut-off", "forecast from", "to")
    table = plain_table("fold", *times, "series", "model", "trained until", left=(*times, "model", "trained until"))
    shown: list[Fold | None] = list(folds.folds)
    hidden = len(shown) - FIRST_FOLDS - LAST_FOLDS
    if hidden > 1:
        shown[FIRST_FOLDS:-LAST_FOLDS] = [None]
    for fold in shown:
        if fold is None:
            table.add_row("…", f"{hidden:,} more")
            continue
        model = f"refit {fold.model}" if fold.model else "the run's"
        stamps = [zone.stamp_text(each) for each in (fold.cutoff, fold.first, fold.last)]
        table.add_row(f"{fold.number:,}", *stamps, f"{fold.series:,}", model, zone.stamp_text(fold.trained_until))
    console.print(table)
    refits = f", {counted(len(folds.models), 'refit')}" if folds.models[-1] else ""
    windows = counted(len(folds.windows), "window")
    console.say(f"{counted(len(folds.folds), 'cut-off')}, {windows}{refits}")
    for reason, number in folds.left_out.items():
        console.say(f"left out: {counted(number, 'window')}: {LEFT_OUT_REASONS[reason]}")
    if folds.empty:
        console.print(f"left out: {counted(folds.empty, 'cut-off')} at which no series can be forecast")
    if folds.inside_training:
        console.tell(
            "WARNING",
            f"{folds.inside_training:,} of {counted(len(folds.folds), 'cut-off')} lie inside the stretch that "
            "the run was trained on: their forecasts have seen the actual values. Take a later --start, or give "
            "the table instead of the run, which trains on the rows before --start",
        )


class BacktestDisplay(BacktestListener):
    """The folds, then a live bar on a terminal, plain lines elsewhere; warnings alone when quiet."""

    def __init__(self, *, quiet: bool, training: TrainingDisplay | None) -> None:
        self._training = training
        """The display of a training before the backtest, closed when this one begins."""
        self.console = make_console(stderr=True, quiet=quiet)
        self._live = self.console.is_terminal and not quiet
        self._stack = contextlib.ExitStack()
        self._bar: Progress | None = None
        self._done, self._lines_shown = 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def planned(self, backtest: Backtest) -> None:
        if self._training is not None:
            self._training.close()
        self._zone, self._total = backtest.panel.zone, len(backtest.folds.windows)
        self._combined = (*backtest.combine_with, *backtest.combination.weights)
        print_folds(self.console, backtest.folds, self._zone)
        if backtest.unseen:
            names = quoted(backtest.unseen)
            self._say(f"left out: {len(backtest.unseen):,} series that training did not see: {names}")
        for finding in backtest.findings:
            self.console.tell(finding.severity, finding.message)
        if backtest.is_validated:
            until = self._zone.stamp_text(backtest.trained_until)
            self._say(
                f"the network that validation judged forecasts here, trained until {until}: the one of predict was "
                "trained on all rows, including the actual values"
            )
        if self._live:
            self._bar = self._stack.enter_context(self._new_bar())
            self._task = self._bar.add_task("forecasting", total=self._total)

    def _new_bar(self) -> Progress:
        bar = BarColumn(bar_width(self.console))
        columns = (TextColumn("{task.description}"), bar, TaskProgressColumn(), TimeRemainingColumn())
        return Progress(*columns, console=self.console, transient=True)

    def restarted(self, changed: str) -> None:
        self._say(f"an unfinished backtest into this file had another {changed}: its parts are deleted")

    def resumed(self, parts: int) -> None:
        self._say(f"going on: {counted(parts, 'part')} of this backtest finished before")

    def refitting(self, number: int, cutoff: Any) -> None:
        self._refit = f"refit {number}: rows up to {self._zone.stamp_text(cutoff)}"
        self._step([self._refit])

    def epoch_done(self, record: EpochRecord) -> None:
        parts = [f"epoch {record.epoch}", f"loss {record.train_loss:.4f}"]
        if not isnan(record.validation_loss):  # a refit may have none
            parts.append(f"validation {record.validation_loss:.4f}")
        self._step(["", *parts, f"{record.seconds:.1f} s"], shown=[self._refit, *parts])

    def forecasting(self, windows: int, model: int) -> None:
        self._done += windows
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description="forecasting")
        elif self._done * LINES // self._total > self._lines_shown:
            self._lines_shown = self._done * LINES // self._total
            self._say(f"forecast {self._done:,} of {counted(self._total, 'window')}")

    def baseline_left_out(self, name: str, reason: str) -> None:
        where = ", also of the combination" if name in self._combined else ""
        self._say(f"note: the baseline '{name}' is left out{where}: {reason}")

    def comparing(self, name: str) -> None:
        self._step([f"baseline {name}"])

    def attention_planned(self, size: Any, path: Path) -> None:
        self._say(f"attention: {size}")

    def _step(self, parts: list[str], shown: list[str] | None = None) -> None:
        """Print a line, or on a terminal change the text before the bar."""
        if self._bar is None:
            self._say("  ".join(parts))
        else:
            self._bar.update(self._task, description=fitting_parts(shown or parts, room_beside_bar(self.console)))

    def _say(self, text: str) -> None:
        self.console.say(text)


def show_result(result: BacktestResult, *, all_metrics: bool, quiet: bool) -> None:
    """Scores, error by step and tests on stdout."""
    console, notes = make_console(), make_console(stderr=True, quiet=quiet)
    scores = result.scores
    for index, table in enumerate((scores.overall, scores.by)):
        if table is None:
            continue
        if index:
            console.print()
        for part in score_tables(table if all_metrics else _few(table)):
            console.print(part)
    if scores.best_baseline is not None:
        console.say(f"skill: against {scores.best_baseline}, the best of the baselines here")
    for line in _combinations(result.combinations):
        console.say(line)
    for line in left_out_lines(scores.overall if all_metrics else _few(scores.overall)):
        notes.say(f"note: {line}")
    steps = sorted(scores.by_step["step"].unique())
    shown = steps_shown(steps)
    console.print(f"\n{steps_heading(shown, len(steps))}")
    console.print(_steps_table(scores.by_step, shown))
    if len(scores.skills):
        console.print()
        console.print(against_table(scores.skills, scores.tests[scores.tests["step"].isna()]))
    console.say(f"\nbacktest: {result.path}")


def _combinations(combinations: dict[int, Combination]) -> list[str]:
    """The composition of the combination, once for neighbouring refits that have the same."""
    lines, before = [], None
    for number, each in combinations.items():
        if each != before:
            since = f" from refit {number} on" if number > 1 else ""
            parts = f"{weights_text(each.weights)}, as validation chose", each.by_series_text()
            lines.append(f"combination{since}: {'; '.join(part for part in parts if part)}")
        before = each
    return lines


def _few(table: Any) -> Any:
    """The columns that fit a terminal; the file has all."""
    keys = list(table.columns[: list(table.columns).index("rows")])
    widest = [name for name in table.columns if name.startswith(("coverage@", "width@"))]
    halves = (widest[: len(widest) // 2], widest[len(widest) // 2 :])  # all coverages, then all widths
    widest = [max(names, key=_nominal) for names in halves if names]
    columns = (*keys, "rows", "no_target", "no_forecast", *_SHOWN, *widest, "skill_per_cent")
    left_out = [f"{name}_left_out" for name in _SHOWN]
    return table[[name for name in table.columns if name in (*columns, *left_out)]]


def _nominal(name: str) -> float:
    return float(name.partition("@")[2])


def steps_shown(steps: list[int]) -> list[int]:
    """The steps of the table: all, or of long horizons the first, the middle and the last ones."""
    if len(steps) <= FIRST_STEPS + LAST_STEPS:
        return steps
    return sorted({*steps[: FIRST_STEPS - 1], steps[len(steps) // 2], *steps[-LAST_STEPS:]})


def steps_heading(shown: list[int], number: int) -> str:
    """Return the heading of the table, which says how many of the steps it shows."""
    return "MAE by step" if len(shown) == number else f"MAE by step ({len(shown)} of {number}; --json has all)"


def _steps_table(by_step: Any, steps: list[int]) -> Table:
    """One line per model, one column per step."""
    table = plain_table("model", *map(str, steps), left=("model",))
    for model, rows in by_step.groupby("model", sort=False):
        errors = rows.set_index("step")["mae"]
        table.add_row(str(model), *(f"{errors.get(step, float('nan')):.4g}" for step in steps))
    return table
