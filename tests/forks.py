"""Processes of the command line with their imports done: a server imports once, and every process is its fork.

The server computes nothing itself, so a fork is as good as a process from nothing, four seconds of imports earlier.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

IMPORTED = ["torch", "pandas", "pytorch_lightning", "forecast_attn.cli", "forecast_attn.training.train"]


TERMINAL = ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE")
"""Settings of whoever runs the tests."""


class Strike(NamedTuple):
    """The moment of a process at which it sends itself a signal."""

    owner: str
    """`module`, or `module:class`."""
    function: str
    call: int
    """Which call of the function, from 1."""
    when: str
    """`before` or `after` it."""
    kind: str = "SIGKILL"


class Ended(NamedTuple):
    """What a process left behind."""

    returncode: int
    stdout: str
    stderr: str


def run_forked(words: Sequence[object], strike: Strike | None = None, timeout: float = 600) -> Ended:
    """Run `forecast …` in a process of its own, in this working directory; a negative code is a signal's."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("out", "err")]
        context = multiprocessing.get_context("forkserver" if sys.platform != "win32" else "spawn")
        if sys.platform != "win32":
            context.set_forkserver_preload(IMPORTED)
        given = ([str(word) for word in words], strike, str(Path.cwd()), [str(path) for path in paths])
        process = context.Process(target=_run, args=given)
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"forecast {words} did not end in {timeout} s")
        return Ended(process.exitcode, *(path.read_text(encoding="utf-8") for path in paths))


def _run(words: list[str], strike: Strike | None, folder: str, paths: list[str]) -> None:
    for number, path in enumerate(paths, start=1):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(folder)
    for name in TERMINAL:
        os.environ.pop(name, None)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in a shell's background
    if strike is not None:
        _prepare(strike)
    from forecast_attn.cli import main

    main(words)


def _prepare(strike: Strike) -> None:
    """Replace the function by one that sends this process the signal: always at the same moment."""
    module, _, type_name = strike.owner.partition(":")
    place = importlib.import_module(module)
    place = getattr(place, type_name) if type_name else place
    step, calls = getattr(place, strike.function), []

    def struck(*args: object, **options: object) -> object:
        calls.append(1)
        now = len(calls) == strike.call
        if now and strike.when == "before":
            os.kill(os.getpid(), getattr(signal, strike.kind))
        result = step(*args, **options)
        if now and strike.when == "after":
            os.kill(os.getpid(), getattr(signal, strike.kind))
        return result

    setattr(place, strike.function, struck)
