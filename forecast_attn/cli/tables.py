"""Tables that more than one command shows."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.segment import Segment
from rich.table import Table

from forecast_attn.cli.printing import visible

if TYPE_CHECKING:
    from forecast_attn.data.roles import Roles


WIDTH_ELSEWHERE = 120
"""Characters per line where nobody says how many there are: files and pipes."""


class _PipedConsole(Console):
    """A console that shows control characters of data, and whose reader may have had enough (head, less)."""

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Every text that is shown comes through here, that of tables and of progress bars too."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        """Go quietly: it is no error, and rich would end with 1."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0)


def make_console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """A console as wide as the terminal; no colours where there is none, or with NO_COLOR."""
    # Names of columns and series are text: "load [kW]" is no markup, ":cat:" no picture.
    console = _PipedConsole(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDTH_ELSEWHERE
    return console


def role_table(roles: Roles) -> Table:
    """Every column, its role, and why it has it."""
    table = Table(box=None, pad_edge=False)
    for heading in ("column", "role", "why"):
        table.add_column(heading, overflow="fold")
    for name, role in _named_roles(roles):
        table.add_row(name, role, roles.reasons.get(name, ""))
    for name, why in roles.ignored.items():
        table.add_row(name, "not used", why)
    return table


def _named_roles(roles: Roles) -> Iterator[tuple[str, str]]:
    """Column and role, of every column that is used."""
    yield roles.time, "time"
    yield roles.target, "target"
    if roles.item_id is not None:
        yield roles.item_id, "item_id"
    for kind in ("past", "future", "static"):
        for name in getattr(roles, f"{kind}_covariates"):
            yield name, f"{kind} covariate{_span(roles, name)}"
        for name in getattr(roles, f"{kind}_categories"):
            yield name, f"{kind} covariate, categorical{_span(roles, name)}"
    if roles.weight is not None:
        yield roles.weight, "weight of its series"


def _span(roles: Roles, name: str) -> str:
    return f", known {roles.known_steps[name]} steps ahead" if name in roles.known_steps else ""


# --------------------------------------------------------------------------- reading progress
# A bar that shows how much of a large file has been read.


ReadingProgress = Callable[[int, int], None]
"""Called with the bytes read so far and the bytes there are."""

PATIENCE = 1.0
"""Seconds without a bar: most files are read by then."""


@contextlib.contextmanager
def reading_progress(console: Console) -> Iterator[ReadingProgress | None]:
    """Progress callback for `read_table`: a bar that appears after a second and vanishes; None without a terminal."""
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
