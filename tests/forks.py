"""Processes of the command line with their imports done: a server imports once, and every process is its fork.

The server computes nothing itself, so a fork is as good as a process from nothing, four seconds of imports earlier.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import pty
import select
import signal
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import NamedTuple

IMPORTED = ["torch", "pandas", "forecast_attn.cli", "forecast_attn.training.train"]
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


class Conditions(NamedTuple):
    """Under which a process runs."""

    strike: Strike | None = None
    encoding: str = "utf-8"
    """Of what it prints, as PYTHONIOENCODING sets it."""
    file_limit: int | None = None
    """Bytes after which no file can grow, as on a full disk."""
    environment: tuple[tuple[str, str], ...] = ()


DEFAULT = Conditions()


class Ended(NamedTuple):
    """What a process left behind."""

    returncode: int
    stdout: str
    stderr: str


def run_forked(words: Sequence[object], conditions: Conditions = DEFAULT, timeout: float = 600) -> Ended:
    """Run `forecast …` in a process of its own, in this working directory; a negative code is a signal's."""
    pipes = [multiprocessing.Pipe(duplex=False) for _ in range(2)]
    process = start_forked(words, [writer for _, writer in pipes], conditions)
    with ThreadPoolExecutor(2) as readers:
        results = [readers.submit(_read, reader) for reader, _ in pipes]
        for _, writer in pipes:
            writer.close()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            raise TimeoutError(f"forecast {words} did not end in {timeout} s")
    return Ended(process.exitcode, *(each.result().decode(conditions.encoding, "replace") for each in results))


def start_forked(words: Sequence[object], outputs: Sequence[str | Connection], conditions: Conditions) -> BaseProcess:
    """Start `forecast …` with its stdout and stderr into these pipes, or on the terminals or files of these names."""
    # Windows has neither forks nor kills.
    context = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
    context.set_forkserver_preload(IMPORTED)
    process = context.Process(target=_run, args=([str(word) for word in words], str(Path.cwd()), outputs, conditions))
    process.start()
    return process


def on_terminal(words: Sequence[object], **environment: str) -> str:
    """What a terminal receives of `forecast …`, which must end well."""
    leader, follower = pty.openpty()
    name = os.ttyname(follower)
    process = start_forked(words, [name, name], Conditions(environment=tuple(environment.items())))
    parts = []
    while process.is_alive() or select.select([leader], [], [], 0)[0]:
        if select.select([leader], [], [], 0.05)[0]:
            parts.append(os.read(leader, 65_536))
    os.close(follower)
    os.close(leader)
    shown = b"".join(parts).decode().replace("\r\n", "\n")
    assert process.exitcode == 0, shown
    return shown


def _read(reader: Connection) -> bytes:
    parts = []
    while part := os.read(reader.fileno(), 65_536):
        parts.append(part)
    reader.close()
    return b"".join(parts)


def _run(words: list[str], folder: str, outputs: Sequence[str | Connection], conditions: Conditions) -> None:
    for number, output in enumerate(outputs, start=1):
        opened = os.open(output, os.O_WRONLY | os.O_NOCTTY) if isinstance(output, str) else output.fileno()
        os.dup2(opened, number)
    encoding = conditions.encoding
    sys.stdout = open(1, "w", encoding=encoding, closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding=encoding, errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    os.chdir(folder)
    for name in TERMINAL:
        os.environ.pop(name, None)
    os.environ.update(conditions.environment)
    tempfile.tempdir = None  # look for it anew
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in a shell's background
    if sys.platform != "win32":
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored where the tests run under nohup
    if conditions.file_limit is not None:
        _limit_files(conditions.file_limit)
    if conditions.strike is not None:
        _prepare(conditions.strike)
    from forecast_attn.cli import main

    main(words)


def _limit_files(size: int) -> None:
    import resource

    sys.dont_write_bytecode = True  # Python leaves half a file of bytecode behind, at which later processes end
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def _prepare(strike: Strike) -> None:
    """Replace the function by one that sends this process the signal: always at the same moment."""
    module, _, type_name = strike.owner.partition(":")
    holder = importlib.import_module(module)
    holder = getattr(holder, type_name) if type_name else holder
    step, calls = getattr(holder, strike.function), []

    def struck(*args: object, **options: object) -> object:
        calls.append(1)
        now = len(calls) == strike.call
        if now and strike.when == "before":
            os.kill(os.getpid(), getattr(signal, strike.kind))
        result = step(*args, **options)
        if now and strike.when == "after":
            os.kill(os.getpid(), getattr(signal, strike.kind))
        return result

    setattr(holder, strike.function, struck)
