"""Display of a comparison: progress on stderr, the leaderboard at the end on stdout."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from forecast_attn.cli.tables import make_console, number_text, p_value_text, plain_table
from forecast_attn.cli.training_display import ENDINGS, TrainingDisplay
from forecast_attn.comparison.compare import ComparisonListener
from forecast_attn.errors import shell_command

if TYPE_CHECKING:
    from forecast_attn.comparison.comparison_plan import Entry
    from forecast_attn.comparison.leaderboard import Comparison
    from forecast_attn.training.progress import EpochRecord
    from forecast_attn.training.schedule import TrainingPlan


class ComparisonDisplay(TrainingDisplay, ComparisonListener):
    """A live bar for each training on a terminal, one plain line per training elsewhere, nothing when quiet."""

    def run_started(self, number: int, runs: int, entry: Entry) -> None:
        self.run = f"run {number} of {runs}, {entry.attention}, seed {entry.seed}, "
        self.on_bar = f"{number}/{runs} {entry.name}, "  # short: there is a bar beside it
        self.member, self.best = self.on_bar, float("inf")

    def member_started(self, number: int, members: int) -> None:
        self.member, self.best = f"{self.on_bar}member {number}/{members}, ", float("inf")

    def training_started(self, plan: TrainingPlan, first_epoch: int, device: str) -> None:
        if self.is_live:
            super().training_started(plan, first_epoch, device)

    def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
        if self.is_live:
            super().epoch_done(record, is_best)

    def training_ended(self, reason: str) -> None:
        if self._progress is not None:
            self._progress.stop()

    def run_ended(self, metrics: dict[str, Any], *, kept: bool) -> None:
        from forecast_attn.data.findings import counted  # with numpy

        epochs = sum(part["epochs"] for part in metrics.get("members", [metrics]))
        how = "trained before" if kept else f"{counted(epochs, 'epoch')}, {ENDINGS[metrics['ended']]}"
        self.say(f"{self.run}MAE {number_text(metrics['validation']['mae'], 4)} ({how})")


def show_comparison(comparison: Comparison, folder: Path) -> None:
    """The leaderboard, what it allows to say, and the winner's run with the next command to type."""
    console, windows = make_console(), comparison.validation
    count = f"{windows['windows']:,} of {windows['windows_available']:,} windows after {windows['after']}"
    seeds = int(comparison.leaderboard["seeds"].iloc[0])
    spread = f"mean ± standard deviation of {seeds} seeds" if seeds > 1 else "one seed"
    console.say(f"validation, {count}; {spread}")
    console.print(_errors(comparison))
    console.print()
    console.print(_cost(comparison))
    console.print()
    if comparison.baselines:
        best = min(comparison.baselines, key=lambda name: comparison.baselines[name]["mae"])
        console.say(f"skill: against {best}, the best of these baselines")
    if comparison.leaderboard["dm_p_value"].notna().any():
        console.print("p: of Diebold–Mariano against the winner, on errors per cut-off averaged over the seeds")
    for note in comparison.notes:
        console.say(f"note: {note}")
    console.say(f"winner: '{comparison.winner}', run {comparison.winner_run}")
    console.say(f"predict with it: {shell_command('predict', comparison.winner_run)}")
    judge = shell_command("backtest", comparison.winner_run, "--data", "LATER.csv")
    console.say(f"these windows chose it and its epochs; judge it on later data: {judge}")
    console.say(f"comparison: {folder}")


def _errors(comparison: Comparison) -> Table:
    """Ranks, errors with their spread, skill and tests; baselines below."""
    errors = {"mae": "MAE", "rmse": "RMSE", "mase": "MASE", **_quantile_headings(comparison)}
    names = ("", "attention")
    table = plain_table(*names, *errors.values(), "skill", "p", left=names, whole=names)
    for row in comparison.leaderboard.to_dict("records"):
        skill = f"{row['skill_per_cent']:+.1f} %" if math.isfinite(row["skill_per_cent"]) else "–"
        numbers = (_with_spread(name, row) for name in errors)
        table.add_row(str(row["rank"]), row["attention"], *numbers, skill, p_value_text(row["dm_p_value"], 3))
    for name, scored in comparison.baselines.items():
        shown = f"{name} ({comparison.seasonal_naive['season']})" if name == "seasonal-naive" else name
        table.add_row("", shown, *(number_text(scored.get(error), 4) for error in errors))
    return table


def _cost(comparison: Comparison) -> Table:
    """Table of each mechanism's cost and its best run."""
    names = ("", "attention")
    table = plain_table(*names, "seconds", "windows/s", "parameters", "best run", left=(*names, "best run"))
    for row in comparison.leaderboard.to_dict("records"):
        seconds, speed = f"{row['seconds']:.1f}", f"{row['windows_per_second']:,.0f}"
        table.add_row(str(row["rank"]), row["attention"], seconds, speed, f"{row['parameters']:,}", row["run"])
    return table


def _quantile_headings(comparison: Comparison) -> dict[str, str]:
    """Headings of the quantile columns that exist."""
    interval = comparison.validation["interval"]
    headings = {"pinball": "pinball"} if "pinball" in comparison.leaderboard else {}
    return headings | ({} if interval is None else {"coverage": f"in {100 * interval['nominal']:g} %"})


def _with_spread(name: str, row: dict[Any, Any]) -> str:
    """A mean and, where there are several seeds, its standard deviation."""
    scale, unit = (100, " %") if name == "coverage" else (1, "")
    mean, spread = scale * row[name], scale * row[f"{name}_std"]
    return number_text(mean, 4) + unit if not math.isfinite(spread) else f"{number_text(mean, 4)} ± {spread:.2g}{unit}"
