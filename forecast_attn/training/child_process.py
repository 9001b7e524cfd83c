"""Work in a process of its own: what it does to this one's state, such as the use of a GPU, ends with it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection

import torch

from forecast_attn.errors import RunError, UserError


def run_in_child_process(work: Callable[[], None]) -> None:
    """Do something in a forked process, and wait for it.

    Args:
        work: leaves its results in files.

    Raises:
        UserError: as the work raised it.
        RunError: the process failed otherwise, and has written why to stderr.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work_and_report, args=(work, sender))
    process.start()
    sender.close()
    try:
        error: UserError | None = receiver.recv()
    except EOFError:  # it ended without a word
        error = RunError("a process that scores the training failed")
    process.join()
    if error is not None:
        raise error


def _work_and_report(work: Callable[[], None], sender: Connection) -> None:
    torch.set_num_threads(1)  # threads do not survive a fork, and those of the parent would be waited for
    try:
        work()
    except UserError as error:
        sender.send(error)
    else:
        sender.send(None)
