"""A bar that shows how much of a large file has been read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console

ReadingProgress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes there are."""


@contextlib.contextmanager
def reading_progress(console: Console) -> Iterator[ReadingProgress | None]:
    """What `read_table` calls as it reads, shown as a bar that vanishes; None where there is no terminal."""
    if not console.is_terminal or console.quiet:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("reading", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
