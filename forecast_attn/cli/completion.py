"""Completion in the shell: names of choices, mechanisms and presets, and run directories. Loads nothing heavy."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.values import PRESETS, option_type

Completer = Callable[[str], list[Any]]

SUMMARIES: dict[str, dict[str, str]] = {
    "attention": {name: mechanism.summary for name, mechanism in ATTENTIONS.items()},
    "preset": {name: preset.cost for name, preset in PRESETS.items()},
}
"""Explanations that a shell shows beside the choices of an option, by the name of its field."""
RUN = "RUN"
"""Beginning of the metavar of an option that takes a run directory."""


def completer_of(option_field: dataclasses.Field[Any]) -> Completer | None:
    """Return what completes the values of an option; None where the shell completes names of files."""
    choices = option_field.metadata["choices"]
    if choices:
        summaries = SUMMARIES.get(option_field.name, {})
        with_commas = option_type(option_field).flag == list[str]
        return lambda incomplete: _choices(incomplete, choices, summaries, with_commas=with_commas)
    if (option_field.metadata["metavar"] or "").startswith(RUN):
        return finished_runs
    return None


def finished_runs(incomplete: str) -> list[str]:
    """Run directories that can be forecast with."""
    from forecast_attn.runs.run_dir import runs_in

    runs = [run for folder in _folders(incomplete) for run in runs_in(folder)]
    return _names(run.path for run in runs if run.is_finished)


def resumable_runs(incomplete: str) -> list[str]:
    """Run directories whose training was cut short."""
    from forecast_attn.runs.run_dir import runs_in

    runs = [run for folder in _folders(incomplete) for run in runs_in(folder)]
    return _names(run.path for run in runs if not run.is_finished or run.checkpoint.is_file())


def resumable_comparisons(incomplete: str) -> list[str]:
    """Folders of comparisons that were cut short."""
    from forecast_attn.comparison.comparison_plan import comparisons_in

    comparisons = [comparison for folder in _folders(incomplete) for comparison in comparisons_in(folder)]
    return _names(comparison.path for comparison in comparisons if not comparison.leaderboard_json.is_file())


def _names(paths: Iterable[Path]) -> list[str]:
    """Paths as text, without those that could command a terminal."""
    return [str(path) for path in paths if str(path).isprintable()]


def _folders(incomplete: str) -> Iterator[Path]:
    """The folders to look in: the one that is being typed; before that, the working directory and runs/."""
    from forecast_attn.runs.run_dir import RUNS

    typed = Path(f"{incomplete}x").parent
    yield typed
    if typed == Path():
        yield RUNS


def _choices(incomplete: str, choices: tuple[str, ...], summaries: dict[str, str], *, with_commas: bool) -> list[Any]:
    """The choices with their explanations; in a list, those that are not typed yet, after the ones that are."""
    typed, comma, _ = incomplete.rpartition(",") if with_commas else ("", "", incomplete)
    left = [name for name in choices if name not in typed.split(",")]
    return [(f"{typed}{comma}{name}", summaries.get(name, "")) for name in left]
