"""A new run from an old one and new rows; the old one is left as it is."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch

from forecast_attn.backtest.backtest_options import RefitOptions
from forecast_attn.backtest.backtest_table import trained_series
from forecast_attn.backtest.cutoffs import axis_of
from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.config.requests import UpdateRequest
from forecast_attn.data.panel import Panel
from forecast_attn.devices import choose_device, cpu_threads
from forecast_attn.errors import ConfigError, shell_command
from forecast_attn.forecasting.inference import load_model
from forecast_attn.forecasting.predict import kept_combination
from forecast_attn.forecasting.tail import write_tail
from forecast_attn.runs.atomic import make_scratch, remove_scratch, write_atomically, write_errors_of
from forecast_attn.runs.run_dir import RunDir, check_is_free, sha256_of
from forecast_attn.runs.training_table import Table, name_of
from forecast_attn.training.choose_combination import rows_to_keep
from forecast_attn.training.judged_refit import Updated, updated
from forecast_attn.training.refit import (
    Refit,
    combination_after,
    folder_of_network,
    held_out_steps,
    panel_until,
    windows_to_refit,
)
from forecast_attn.training.validation import UpdateMetrics, score_updated
from forecast_attn.updating.rows import ExtendedTable, read_extended
from forecast_attn.version import package_version

if TYPE_CHECKING:
    from forecast_attn.training.progress import EpochRecord


def update_run(
    run: RunDir,
    data: pd.DataFrame | Table,
    out: Path,
    request: UpdateRequest,
    *,
    history: pd.DataFrame | Table | None,
    on_epoch: Callable[[EpochRecord], None] | None,
) -> RunDir:
    """Continue a run on new rows, and write a new run.

    Args:
        run: finished; left as it is.
        data: the rows after the end of its table, alone or below those of the table.
        out: the new run directory, which appears whole or not at all.
        request: the options.
        history: the run's table, where the file that it records is gone, or was none.
        on_epoch: called after every epoch.

    Raises:
        ConfigError: options that contradict each other, or a run that cannot be updated.
        DataError: what is wrong with the new rows, or there are too few rows to train on.
        RunError: the run is damaged, its table is not known, or the new one cannot be written.
        KeyboardInterrupt: Ctrl-C; nothing is written.
    """
    check_is_free(out)
    if run.is_member:
        raise ConfigError(
            f"'{run.path}' is a member of an ensemble",
            f"update the ensemble: {shell_command('update', run.home, '--data', 'FILE')}",
        )
    device, model = choose_device(request.accelerator), load_model(run)
    options = _options(request, model.schema.lookback)
    start = load_model(run, validated=True) if options.chooses else model
    extended = read_extended(model, run, data, history)
    panel, _ = trained_series(model.schema.scaler, extended.panel)
    axis = axis_of(panel)
    options.check(axis, model.schema.horizon)
    number = int(run.read_json(run.metrics).get("update", {}).get("number", 0)) + 1
    refit_request = options.request(number, axis.stamps[-1], axis, request.accelerator)
    scratch = out.with_name(f".{out.name}.update")
    with write_errors_of(out):
        out.parent.mkdir(parents=True, exist_ok=True)
        make_scratch(scratch, MARK)
    try:
        (scratch / MARK).touch()
        with cpu_threads(model.config.training.threads):
            update = updated(
                Updated(model, start),
                panel,
                refit_request,
                scratch / "training",
                device,
                on_epoch or (lambda record: None),
            )
            child = _UpdatedRun(run, RunDir.create(scratch / "run"), update, refit_request, panel, extended, device)
            child.write(scratch / "training" / "new", name_of(data))
        with write_errors_of(out):
            child.run.path.replace(out)
    finally:
        remove_scratch(scratch, MARK)
    return RunDir(out)


MARK = "of-an-update"
"""The file that says whose folder it is."""
HALF_LIFE = 8
"""Lookbacks: of hours the windows of eight weeks ago are drawn half as often. Of a long table few are drawn then."""


def _options(request: UpdateRequest, lookback: int) -> RefitOptions:
    """The options of an update as those of one refit of a backtest.

    Raises:
        ConfigError: they contradict each other.
    """
    chooses = request.validation != 0
    if not chooses and request.keep == "best":
        raise ConfigError("--validation 0 holds no steps out to choose between old and new on", "add --keep new")
    half_life: str | int | None = request.half_life
    if half_life is None and request.window is None:
        half_life = HALF_LIFE * lookback
    return RefitOptions(
        "every",
        request.epochs,
        request.learning_rate,
        request.window,
        request.validation,
        half_life=None if half_life == "none" else half_life,
        keep=request.keep,
        final_fit=request.final_fit and chooses,
        prefix="--",
        otherwise="more rows",
    )


class _UpdatedRun:
    """The new run, while it is written."""

    def __init__(
        self,
        parent: RunDir,
        run: RunDir,
        update: Updated,
        refit_request: Refit,
        panel: Panel,
        extended: ExtendedTable,
        device: torch.device,
    ) -> None:
        self.parent, self.run, self.update, self.refit_request = parent, run, update, refit_request
        self.extended = extended
        self.panel, self.device, self.known = panel, device, panel_until(panel, refit_request.cutoff)
        self._held_out = held_out_steps(update.model, self.known, refit_request)

    def write(self, trained: Path, source: str) -> None:
        """Write all files of the run; metrics.json comes last.

        Args:
            trained: folder of the training's history.
            source: name of the new rows.
        """
        run, parent = self.run, self.parent
        run.write_json(run.schema, _without_format(parent.read_json(parent.schema)))
        config = _without_format(parent.read_json(parent.config))
        base, added = self.extended.base, self.extended.added
        table = base if added is None else {"file": f"{base['file']} and {source}", "sha256": None}
        run.write_json(
            run.config, {**config, "package_version": package_version(), "data": {**table, "vintages_sha256": None}}
        )
        if added is not None:
            buffer = io.BytesIO()
            added.to_parquet(buffer, index=False)
            write_atomically(run.added, buffer.getvalue())
        for number, (part, before) in enumerate(zip(self._parts(), parent.parts, strict=True)):
            self._write_network(part, before, folder_of_network(trained, self.update.model, number))
        calibration = self.update.model.calibration
        if calibration is not None:
            run.write_json(run.calibration, calibration.to_dict())
        combination = self._combination()
        preparation = windows_to_refit(
            self.update.start, self.known, replace(self.refit_request, since=None, half_life=None)
        )
        write_tail(run, preparation.panel, rows_to_keep(combination.weights, preparation, self.update.model.config))
        if not len(preparation.validation_cutoffs):
            self._finish_unscored()
            return
        best = self.update.epochs if self.update.is_new else (0,) * len(self.update.epochs)
        facts = UpdateMetrics(self._record(), best, self.refit_request.epochs, self._ending(), combination)
        score_updated(run, self.update.start, preparation, facts)

    def _finish_unscored(self) -> None:
        """Copy the scores of the parent run, because no steps were held out."""
        ending = self._ending()
        for part, before in zip(self._parts(), self.parent.parts, strict=True):
            if before.validation_attention.is_file():
                write_atomically(part.validation_attention, before.validation_attention.read_bytes())
            if part.is_member:
                part.write_json(part.metrics, _metrics_again(before, ending))
        if self.parent.validation_attention.is_file():
            write_atomically(self.run.validation_attention, self.parent.validation_attention.read_bytes())
        metrics = {**_metrics_again(self.parent, ending), "update": self._record()}
        if self.run.calibration.is_file():
            metrics["calibration_sha256"] = sha256_of(self.run.calibration)
        self.run.finish(metrics)

    def _parts(self) -> list[RunDir]:
        if not self.update.model.is_ensemble:
            return [self.run]
        return [self.run.make_member(number) for number in range(len(self.update.model.networks))]

    def _write_network(self, part: RunDir, before: RunDir, trained: Path) -> None:
        """The weights of one network, those that held-out steps were scored with beside them, and its history."""
        final = trained.parent.parent / "final" / trained.name if trained.name.isdecimal() else trained.parent / "final"
        write_atomically(part.history, RunDir(trained).history.read_bytes())
        if not self.update.is_new:
            sources = {part.model: before.model, part.validated: before.validated}
        elif not self._held_out:
            sources = {part.model: RunDir(trained).model, part.validated: _validated(before)}
        elif self.update.final_epochs:
            sources = {part.model: RunDir(final).model, part.validated: RunDir(trained).model}
        else:
            sources = {part.model: RunDir(trained).model}
        for target, source in sources.items():
            if source.is_file():
                write_atomically(target, source.read_bytes())

    def _combination(self) -> Combination:
        """Network and baselines: chosen anew where new weights go on; empty where the network is alone."""
        kept = kept_combination(self.parent)
        if not kept.weights or not self.update.is_new:
            return kept
        return combination_after(self.update.start, self.panel, self.refit_request, self.device) or kept

    def _record(self) -> dict[str, Any]:
        """The update as metrics.json holds it."""
        extended, text = self.extended, self.panel.zone.stamp_text
        record = {
            "parent": str(self.parent.path),
            "parent_sha256": sha256_of(self.parent.metrics),
            "number": self.refit_request.number,
            "rows": extended.rows,
            "repeated": extended.repeated,
            "unseen_series": list(extended.unseen),
            "from": text(extended.first),
            "until": text(extended.last),
            "table": {"vintages_sha256": None, **extended.base},
            "held_out": self._held_out,
            "kept": "new" if self.update.is_new else "old",
            "epochs": self.refit_request.epochs,
        }
        scores = {"old": self.update.before, "new": self.update.after}
        return record | {name: each._asdict() for name, each in scores.items() if each is not None}

    def _ending(self) -> dict[str, Any]:
        """The last training, as metrics.json tells it."""
        if not self.update.is_new:
            before = self.parent.read_json(self.parent.metrics)
            return {name: before[name] for name in ("final_fit", "no_final_fit") if name in before}
        epochs = self.update.final_epochs if self._held_out else self.refit_request.epochs
        if not epochs:
            return {"no_final_fit": "--no-final-fit"}
        everything = windows_to_refit(self.update.model, self.known, replace(self.refit_request, validation=0))
        until = self.panel.zone.stamp_text(self.refit_request.cutoff)
        windows = len(np.unique(everything.training_cutoffs))
        return {"final_fit": {"epochs": epochs, "windows": windows, "until": until}}


def _validated(run: RunDir) -> Path:
    return run.validated if run.validated.is_file() else run.model


def _metrics_again(run: RunDir, ending: dict[str, Any]) -> dict[str, Any]:
    """The metrics of a run whose network was trained on, with another ending."""
    left_out = ("format", "manifest", "final_fit", "no_final_fit", "model_sha256")
    kept = {name: value for name, value in run.read_json(run.metrics).items() if name not in left_out}
    return {**kept, **ending}


def _without_format(content: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name != "format"}
