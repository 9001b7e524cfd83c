"""Ending before the work is done: SIGTERM, which schedulers and `docker stop` send, is handled as Ctrl-C is, and so is
SIGHUP of a closed terminal, unless nohup has it ignored.

Python raises KeyboardInterrupt at Ctrl-C; `cli.main` gives it its exit code, and a training catches it to end after its
step (`training/callbacks`).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from forecast_attn.errors import INTERRUPTED, RunError, TerminatedError

MESSAGE = "terminated (SIGTERM)"
IMPORTING = "<frozen importlib._bootstrap>"
"""A file whose callbacks swallow exceptions: Python prints them and continues."""


class _InterruptedError(RunError):
    """Ctrl-C."""

    exit_code = INTERRUPTED


class _Terminated(KeyboardInterrupt):
    """SIGTERM."""


@contextmanager
def ending_at_sigterm() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a command as Ctrl-C does, instead of killing it without a word.

    Raises:
        TerminatedError: one of them arrived.
    """
    previous = signal.getsignal(signal.SIGTERM)
    # A handler that is set already, or SIG_IGN, stays; only the main thread may set one.
    if threading.current_thread() is not threading.main_thread() or previous is not signal.SIG_DFL:
        yield
        return

    def end(signum: int, frame: FrameType | None) -> None:
        if signal.getsignal(signal.SIGTERM) is not end:  # Lightning listens, and ends after the current step
            return
        if frame is not None and frame.f_code.co_filename == IMPORTING:
            threading.Timer(0.01, os.kill, (os.getpid(), signum)).start()
            return
        raise _Terminated

    signal.signal(signal.SIGTERM, end)
    try:
        with _hearing_sighup():
            yield
    except _Terminated:
        raise TerminatedError(MESSAGE) from None
    finally:
        signal.signal(signal.SIGTERM, previous)


@contextmanager
def _hearing_sighup() -> Iterator[None]:
    """Give SIGHUP to whoever listens to SIGTERM: to us, or to Lightning, a search or a server."""
    if sys.platform == "win32" or signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL:
        yield
        return

    def end(signum: int, frame: FrameType | None) -> None:
        listener = signal.getsignal(signal.SIGTERM)
        if callable(listener):
            listener(signal.SIGTERM, frame)

    signal.signal(signal.SIGHUP, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@contextmanager
def with_resume_hint(hint: Callable[[], str | None]) -> Iterator[None]:
    """Print how to resume after Ctrl-C or SIGTERM.

    Args:
        hint: gives the command to type next; None where nothing is kept.

    Raises:
        RunError: the block was terminated or interrupted.
    """
    try:
        yield
    except _Terminated:
        raise TerminatedError(MESSAGE, hint()) from None
    except TerminatedError as error:  # from a training, which listens for itself
        raise error.reworded(hint=hint()) from None
    except KeyboardInterrupt:
        raise _InterruptedError("interrupted", hint()) from None
