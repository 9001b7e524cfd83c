"""Bounds of the benchmarks: each is printed as one line that `speed.py` gathers, and decides the exit code."""

from __future__ import annotations

import resource
import statistics
import subprocess
from collections.abc import Sequence

MARK = "bound |"
_broken: list[str] = []


def at_most(name: str, figure: float, limit: float, unit: str = "") -> None:
    """Print whether a figure stays within a limit."""
    _report(name, figure, "at most", limit, unit, held=figure <= limit)


def at_least(name: str, figure: float, limit: float, unit: str = "") -> None:
    """Print whether a figure reaches a limit."""
    _report(name, figure, "at least", limit, unit, held=figure >= limit)


def _report(name: str, figure: float, side: str, limit: float, unit: str, *, held: bool) -> None:
    if not held:
        _broken.append(name)
    shown = f"{figure:.2f}" if abs(figure) < 10 else f"{figure:,.0f}"
    print(f"{MARK} {name} | {shown}{unit} | {side} {limit:g}{unit} | {'held' if held else 'BROKEN'}", flush=True)


def exit_code() -> int:
    """1 where a bound is broken."""
    return int(bool(_broken))


def medians_of_cpu_seconds(commands: dict[str, Sequence[str]], repeats: int) -> dict[str, float]:
    """CPU seconds (user and system) of commands that must succeed, in turns: what else runs does not decide."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(repeats):
        for name, words in commands.items():
            seconds[name].append(_cpu_seconds(words))
    return {name: statistics.median(values) for name, values in seconds.items()}


def _cpu_seconds(words: Sequence[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
