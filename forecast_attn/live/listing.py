"""The runs of a folder as the list page shows them: state, losses by epoch, errors, and which pages they have."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from forecast_attn.config.values import NETWORK
from forecast_attn.errors import RunError
from forecast_attn.evaluation.metrics import skill_per_cent
from forecast_attn.inspection.interpretation import best_of_baselines
from forecast_attn.runs.run_dir import RunDir, runs_in

FORECAST, VALIDATION, REPORT = "forecast", "validation", "report"
"""Pages of a run: weights of its forecast, weights of its validation windows, and the report."""

Stamp = tuple[tuple[str, int, int], ...]


def list_runs(folder: Path) -> list[RunDir]:
    """The runs in a folder, the one that changed last first; none where there is no folder yet."""
    return sorted(runs_in(folder), key=lambda run: (_changed(run), run.path.name), reverse=True)


def describe(run: RunDir) -> dict[str, Any]:
    """JSON-able facts of a run; one that cannot be read has a `problem` instead."""
    name = os.fsencode(run.path.name).decode(errors="backslashreplace")
    facts: dict[str, Any] = {"name": name, "changed": _changed(run) / 1e9, "pages": []}
    try:
        config = run.read_json(run.config)
        options = config["options"]
        facts |= {
            "table": Path(config["data"]["file"]).name,
            "attention": options["model"]["attention"],
            "mostEpochs": options["training"]["max_epochs"],
            "curves": [curve for part in run.parts if (curve := list(losses(part)))],
            "finished": run.is_finished,
        }
        if run.is_finished:
            facts |= _scores(run.read_json(run.metrics))
            facts["pages"] = pages_of(run)
    except RunError as error:
        facts["problem"] = error.message
    except (OSError, KeyError, ValueError) as error:
        facts["problem"] = f"cannot be read: {error}"
    return facts


def losses(run: RunDir) -> Iterator[tuple[int, float, float]]:
    """Epoch, training loss and validation loss of the epochs so far, of a run or a member of an ensemble.

    Raises:
        OSError, ValueError: the log cannot be read, or is not one of ours.
    """
    for number, row in enumerate(run.epochs, 1):
        try:
            epoch, training, validation = int(row["epoch"]), float(row["train_loss"]), float(row["validation_loss"])
        except (KeyError, TypeError, ValueError):  # of a row that is cut off, the last cells are None
            epoch, training, validation = 0, math.nan, math.nan
        if not math.isfinite(training + validation):  # JSON has no such numbers
            raise ValueError(f"{run.history.name} has no epoch and losses in row {number}")
        yield epoch, training, validation


def pages_of(run: RunDir) -> list[str]:
    """The pages that a finished run has."""
    files = {FORECAST: run.attention, VALIDATION: run.validation_attention}
    return [*(name for name, path in files.items() if path.is_file()), REPORT]


def stamp_of(run: RunDir) -> Stamp:
    """Names, sizes and times of a run's files: a page is made anew when they change."""
    with os.scandir(run.path) as entries:
        files = [(entry.name, entry.stat()) for entry in entries if entry.is_file()]
    return tuple(sorted((name, state.st_size, state.st_mtime_ns) for name, state in files))


def _scores(metrics: dict[str, Any]) -> dict[str, Any]:
    """The validation error of the network, how far it is below the best baseline's, and with baselines mixed in."""
    combined, mae = metrics.get("combination"), metrics["validation"]["mae"]
    best, error = best_of_baselines(metrics)
    return {
        "mae": mae,
        "combined": combined["validation"]["mae"] if combined and set(combined["weights"]) - {NETWORK} else None,
        "baseline": best,
        "skill": skill_per_cent(mae, error),
    }


def _changed(run: RunDir) -> int:
    """Nanoseconds since 1970 of the last change: a configuration, an epoch or the end."""
    times = [0]
    for path in (run.config, run.metrics, *(part.history for part in run.parts)):
        try:
            times.append(path.stat().st_mtime_ns)
        except OSError:
            continue
    return max(times)
