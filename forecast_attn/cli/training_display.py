"""Display of training: progress on stderr, the final table on stdout."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Self

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

import forecast_attn.cli.printing as printing
from forecast_attn.cli.findings_display import repair_table
from forecast_attn.cli.tables import (
    bar_width,
    fitting_parts,
    make_console,
    plain_table,
    reading_progress,
    role_table,
    room_beside_bar,
)
from forecast_attn.config.options import RunConfig
from forecast_attn.config.values import NETWORK, percent, quantile_name
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.training.progress import EpochRecord, TrainingListener

if TYPE_CHECKING:
    from forecast_attn.forecaster import Forecaster
    from forecast_attn.training.preparation import Preparation
    from forecast_attn.training.schedule import TrainingPlan

ENDINGS = {
    "max-epochs": "all epochs done",
    "patience": "no better validation loss for --patience epochs",
    "max-time": "--max-time reached",
    "interrupted": "interrupted",
}
MOST_ROWS = 10
OFF = 0.03
"""Distance of a coverage from the expected one that is worth a correction."""


class TrainingDisplay(TrainingListener):
    """A live bar on a terminal, one plain line per epoch elsewhere, warnings alone when quiet."""

    def __init__(self, *, quiet: bool) -> None:
        self.console = make_console(stderr=True, quiet=quiet)
        self.is_live = self.console.is_terminal and not quiet
        self.best = float("inf")
        self.member = ""
        self._progress: Progress | None = None
        self._reading = contextlib.ExitStack()
        self._show_reading = self._reading.enter_context(reading_progress(self.console))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the progress bars."""
        self._reading.close()
        if self._progress is not None:
            self._progress.stop()

    def say(self, text: str) -> None:
        self.console.say(text)

    # ------------------------------------------------------------------ before training

    def reading(self, done: int, total: int) -> None:
        if self._show_reading is not None:
            self._show_reading(done, total)

    def prepared(self, preparation: Preparation, config: RunConfig) -> None:
        self._reading.close()
        self.console.print(role_table(preparation.panel.roles))
        schema, split = preparation.schema, preparation.split
        length = config.model.patch_length
        patches = f" in patches of {length}" if length is not None and length > 1 else ""
        self.say(
            f"step {schema.frequency.base} ({schema.frequency.evidence}), "
            f"lookback {schema.lookback}{patches}, horizon {schema.horizon}"
        )
        boundary = schema.zone.stamp_text(split.boundary)
        boundary = boundary if split.rows_by_series is None else "each series' own last stretch"
        self.say(
            f"{preparation.panel.num_series} series, {len(preparation.training_cutoffs):,} training windows up to "
            f"{boundary}, {len(preparation.validation_cutoffs):,} validation windows after it"
        )
        if preparation.unmoved_windows:
            self.noted(
                f"{preparation.unmoved_windows:,} earlier windows are not trained on: by their cut-offs the target had "
                f"not moved, on the scale that the training rows end with"
            )
        repairs = (*preparation.panel.repairs, *split.repairs)
        if repairs:
            self.console.print(repair_table(repairs))
        for finding in preparation.findings:
            self.console.tell(finding.severity, finding.message)
        self._warn(preparation)

    def noted(self, text: str) -> None:
        self.say(f"note: {text}")

    def _warn(self, preparation: Preparation) -> None:
        from forecast_attn.data.findings import counted  # with numpy

        skipped, constant = preparation.split.skipped, preparation.schema.scaler.constant
        if skipped:
            self.console.tell("warning", f"{len(skipped)} series too short to learn from are left out of training:")
            for series in skipped[:MOST_ROWS]:
                self.say(f"  '{series.item_id}': {counted(series.rows, 'training row')}, {series.needed} needed")
            if len(skipped) > MOST_ROWS:
                self.say(f"  … and {len(skipped) - MOST_ROWS} more")
        if constant:
            names = ", ".join(f"'{name}'" for name in constant[:MOST_ROWS])
            more = " …" if len(constant) > MOST_ROWS else ""
            self.console.tell("warning", f"constant in the training rows: {names}{more}")

    # ------------------------------------------------------------------ training

    def member_started(self, number: int, members: int) -> None:
        self.member, self.best = f"member {number} of {members}, ", float("inf")

    def training_started(self, plan: TrainingPlan, first_epoch: int, device: str) -> None:
        self.plan, self.epoch = plan, first_epoch
        from forecast_attn.data.findings import counted  # with numpy

        size = f"{counted(plan.max_epochs, 'epoch')} of {counted(plan.windows_per_epoch, 'window')}"
        self.say(f"{self.member}training on {device}: at most {size}")
        if not self.is_live:
            return
        width = bar_width(self.console)
        columns = ("{task.description}", BarColumn(width), TaskProgressColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, TextColumn("{task.fields[numbers]}"), console=self.console)
        done = (first_epoch - 1) * plan.steps_per_epoch
        self._task = self._progress.add_task(self._epoch_text(), total=plan.total_steps, completed=done, numbers="")
        self._loss = 0.0
        self._after_epoch: list[str] = []
        longest = f"{self.member}epoch {plan.max_epochs}/{plan.max_epochs}"
        self._room = room_beside_bar(self.console) - len(longest)
        self._progress.start()

    def batch_done(self, loss: float, num_windows: int) -> None:
        if self._progress is None:
            return
        # A moving average: single batches jump too much to be read.
        self._loss = loss if not self._loss else 0.95 * self._loss + 0.05 * loss
        numbers = fitting_parts([f"loss {self._loss:.4f}", *self._after_epoch], self._room)
        self._progress.update(self._task, advance=1, numbers=numbers)

    def epoch_done(self, record: EpochRecord, is_best: bool) -> None:
        self.epoch = record.epoch + 1
        if is_best:
            self.best = record.validation_loss
        if self._progress is not None:
            self._after_epoch = [
                f"validation {record.validation_loss:.4f}",
                f"best {self.best:.4f}",
                f"{record.windows_per_second:,.0f} windows/s",
            ]
            self._progress.update(self._task, description=self._epoch_text())
            return
        self.say(
            f"epoch {record.epoch:>3}/{self.plan.max_epochs}  loss {record.train_loss:.4f}  "
            f"validation {record.validation_loss:.4f}{' best' if is_best else '     '}  "
            f"{record.windows_per_second:>7,.0f} windows/s  {record.seconds:.1f} s"
        )

    def training_ended(self, reason: str) -> None:
        if self._progress is not None:
            self._progress.stop()
        self.say(f"{self.member}training ended: {ENDINGS[reason]}")

    def _epoch_text(self) -> str:
        return f"{self.member}epoch {min(self.epoch, self.plan.max_epochs)}/{self.plan.max_epochs}"


def show_summary(forecaster: Forecaster, *, as_json: bool) -> None:
    """The end of training on stdout: errors beside the baselines', in words and numbers."""
    metrics = forecaster.metrics
    if as_json:
        printing.write_json({"run": str(forecaster.run_path), **metrics})
        return
    console = make_console()
    validation = metrics["validation"]
    windows = f"{validation['windows']:,} of {validation['windows_available']:,} windows after {validation['after']}"
    console.say(f"validation, {windows}; {_epochs(metrics)}")
    console.print(_errors(metrics, forecaster.config.model.attention))
    console.say(_verdict(metrics))
    better = _better_baselines(metrics)
    if better:
        console.say(better)
    if "combination" in metrics:
        console.say(_combination(metrics))
    if "final_fit" in metrics:
        final = metrics["final_fit"]
        console.say(
            f"then trained again on all rows, up to {final['until']}, for {final['epochs']} epochs: predict uses that "
            "network; the scores above are those of the first one"
        )
    elif metrics.get("no_final_fit"):
        console.say(f"not trained again with the validation rows: {metrics['no_final_fit']}")
    if validation.get("interval"):
        is_calibrated = forecaster.config.model.calibration != "none"
        console.say(_coverage(validation, is_calibrated=is_calibrated))
    console.say(f"run: {forecaster.run_path}")
    if metrics["ended"] == "interrupted":
        printing.say(f"hint: continue with: {RunDir(forecaster.run_path).resume_command}", err=True)


def _errors(metrics: dict[str, Any], attention: str) -> Table:
    """The model's errors, its members', and those of each baseline with the model's skill against it."""
    from forecast_attn.evaluation.metrics import skill_per_cent
    from forecast_attn.inspection.interpretation import baseline_scores

    table = plain_table("", "MAE", "RMSE", "MASE", "skill against", left=("",))
    table.add_row(f"forecast ({attention})", *_numbers(metrics["validation"]))
    for number, member in enumerate(metrics.get("members", ())):
        table.add_row(f"  member {number}", *_numbers(member["validation"]))
    season, mae = metrics["seasonal_naive"]["season"], metrics["validation"]["mae"]
    for name, errors in baseline_scores(metrics).items():
        shown = f"{name} ({season})" if name == "seasonal-naive" else name
        table.add_row(shown, *_numbers(errors), _skill(skill_per_cent(mae, errors["mae"])))
    return table


def _skill(skill: float | None) -> str:
    """Skill in per cent with its sign; a dash where the baseline is perfect."""
    return "-" if skill is None else f"{skill:+.1f} %"


def _better_baselines(metrics: dict[str, Any]) -> str | None:
    """A sentence about the baselines that have a smaller error than the model, where there are several."""
    from forecast_attn.inspection.interpretation import baseline_scores

    mae = metrics["validation"]["mae"]
    names = [name for name, errors in baseline_scores(metrics).items() if errors["mae"] < mae]
    if len(names) < 2:
        return None  # one is named by the verdict
    return f"better than this model on these windows: {', '.join(names[:-1])} and {names[-1]}"


def _combination(metrics: dict[str, Any]) -> str:
    """Describe the forecast that validation chose."""
    from forecast_attn.baselines.combination_weights import Combination

    combination = metrics["combination"]
    weights, scores = combination["weights"], combination["validation"]
    if set(weights) == {NETWORK}:
        return "predict will forecast with the network alone: no baseline improves it on these windows"
    measure = "mae" if scores["mase"] is None else "mase"
    by_series = Combination.from_dict(combination).by_series_text()
    return (
        f"predict will forecast with {weights_text(weights)}: {measure.upper()} {scores[measure]:.4g} on these windows"
        + _better_than_combined(metrics, measure)
        + (f"; {by_series}" if by_series else "")
    )


def _better_than_combined(metrics: dict[str, Any], measure: str) -> str:
    """Name the best of the baselines where the forecast that validation chose is worse: not every one may join it."""
    from forecast_attn.inspection.interpretation import baseline_scores

    errors = {name: scores[measure] for name, scores in baseline_scores(metrics).items() if scores[measure] is not None}
    best = min(errors, key=errors.__getitem__, default=None)
    if best is None or errors[best] >= metrics["combination"]["validation"][measure]:
        return ""
    return f", WORSE than {best} with {errors[best]:.4g}"


def weights_text(weights: dict[str, float]) -> str:
    """`50 % the network, 26 % dynamic-theta and 24 % damped-trend`."""
    parts = [f"{percent(part)} {'the network' if name == NETWORK else name}" for name, part in weights.items()]
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)


def _epochs(metrics: dict[str, Any]) -> str:
    if "members" not in metrics:
        return f"best epoch {metrics['best_epoch']} of {metrics['epochs']}"
    best = ", ".join(f"{member['best_epoch']} of {member['epochs']}" for member in metrics["members"])
    return f"best epoch of each member {best}"


def _numbers(errors: dict[str, Any]) -> list[str]:
    return ["-" if errors[name] is None else f"{errors[name]:.5g}" for name in ("mae", "rmse", "mase")]


def _coverage(validation: dict[str, Any], *, is_calibrated: bool) -> str:
    interval = validation["interval"]
    quantiles = f"{quantile_name(interval['lower'])} to {quantile_name(interval['upper'])}"
    shares = f"{percent(interval['coverage'], 1)} of the values, {100 * interval['nominal']:g} % expected"
    text = f"the network's quantiles {quantiles} cover {shares}"
    if validation["calibrated_on_these_windows"]:
        return f"{text}; calibrated on these very windows"
    is_off = abs(interval["coverage"] - interval["nominal"]) > OFF
    return f"{text}; --calibration adaptive corrects them" if is_off and not is_calibrated else text


def _verdict(metrics: dict[str, Any]) -> str:
    """The skill against the best of the baselines, in words."""
    from forecast_attn.evaluation.metrics import skill_per_cent
    from forecast_attn.inspection.interpretation import best_of_baselines

    best, error = best_of_baselines(metrics)
    skill = skill_per_cent(metrics["validation"]["mae"], error)
    if skill is None:
        return f"{best} is perfect here: there is nothing to gain from a model"
    if skill < 0:
        combines = bool(set(metrics.get("combination", {}).get("weights", ())) - {NETWORK})
        instead = "" if combines else "; use that instead"
        return f"skill {skill:.1f} %: this model is WORSE than {best}, the best of the baselines{instead}"
    if skill < 1:
        return f"skill {skill:.1f} %: no better than {best}, the best of the baselines"
    return f"skill {skill:.1f} %: its MAE is {skill:.1f} % below that of {best}, the best of the baselines"
