"""Completion in the shell: commands, options, choices, mechanisms, presets and run directories."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.values import PRESETS


@pytest.fixture
def complete(forecast: Callable, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Return what bash offers at the end of a line."""

    def completions(line: str) -> list[str]:
        monkeypatch.setenv("_FORECAST_COMPLETE", "complete_bash")
        monkeypatch.setenv("COLUMNS", "80")  # of the terminal; put back after the test
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - (not line.endswith(" "))))
        outcome = forecast()
        assert (outcome.code, outcome.err) == (0, "")
        return outcome.out.split()

    return completions


@pytest.fixture
def folders(here: Path) -> Path:
    """Three runs, one of them in the folder itself, a table and a comparison that was cut short."""
    files = ("runs/a/config.json", "runs/a/metrics.json", "runs/b/config.json", "mine/config.json", "mine/metrics.json")
    for name in (*files, "mine/last.ckpt", "runs/no-run/notes.txt", "data.csv", "runs/c/comparison.json"):
        path = here / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return here


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("forecast pre", ["predict"]),
        ("forecast train --skip-r", ["--skip-rows"]),
        ("forecast train --attention luong-g", ["luong-general"]),
        ("forecast train --preset ", list(PRESETS)),
        ("forecast train --missing m", ["mask"]),
        ("forecast compare --attention none,luong-g", ["none,luong-general"]),
        ("forecast compare --attention luong-general,luong-g", []),
        ("forecast predict --attention-dtype float1", ["float16"]),
        ("forecast plot --kind c", ["calibration"]),
    ],
)
def test_names_are_completed(complete: Callable, line: str, expected: list[str]) -> None:
    assert complete(line) == expected


def test_every_mechanism_is_offered(complete: Callable) -> None:
    assert complete("forecast train --attention ") == list(ATTENTIONS)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("forecast predict ", ["mine", "runs/a"]),
        ("forecast backtest runs/", ["runs/a"]),
        ("forecast audit --seeds ru", ["runs/a"]),
        ("forecast inspect mine --compare ru", ["runs/a"]),
        ("forecast train --resume ", ["mine", "runs/b"]),
        ("forecast compare --resume ", ["runs/c"]),
        ("forecast train da", []),
        ("forecast predict nowhere/", []),
    ],
)
def test_runs_are_completed_and_files_are_left_to_the_shell(
    complete: Callable, folders: Path, line: str, expected: list[str]
) -> None:
    assert complete(line) == expected


def test_a_name_that_could_command_a_terminal_is_not_offered(complete: Callable, folders: Path) -> None:
    hostile = folders / "runs" / "a\x1b[31m"
    hostile.mkdir()
    for name in ("config.json", "metrics.json"):
        (hostile / name).touch()
    assert complete("forecast predict runs/") == ["runs/a"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_an_explanation_stays_on_one_line(forecast: Callable, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    monkeypatch.setenv("_FORECAST_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", "forecast train --ho")
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setenv("COLUMNS", "80")
    lines = forecast().out.splitlines()
    assert len(lines) == 3
    assert all("--ho" in line for line in lines)
