"""A bar that shows how much of a large file has been read."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

from rich.console import Console

ReadingProgress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes there are."""

PATIENCE = 1.0
"""Seconds without a bar: most files are read by then."""


@contextlib.contextmanager
def reading_progress(console: Console) -> Iterator[ReadingProgress | None]:
    """What `read_table` calls as it reads, shown as a bar that comes after a second and vanishes; None where there is
    no terminal."""
    if not console.is_terminal or console.quiet:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=console, transient=True)
    task, begin = bar.add_task("reading", total=None), time.monotonic()

    def show(done: int, total: int) -> None:
        if not bar.live.is_started and time.monotonic() - begin >= PATIENCE:
            bar.start()
        bar.update(task, completed=done, total=total)

    try:
        yield show
    finally:
        if bar.live.is_started:
            bar.stop()
