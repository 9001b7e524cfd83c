"""The console of every command, tables that fit it, and the table of roles."""

from __future__ import annotations

import contextlib
import math
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.measure import Measurement
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from forecast_attn.cli.printing import JOINT, broken, joined, shortened, visible

if TYPE_CHECKING:
    from forecast_attn.data.roles import Roles


WIDTH_WITHOUT_TERMINAL = 120
"""Characters per line in files and pipes."""
RUN_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-)(?=\w)")
COLUMN_GAP = 2
"""Blanks between two columns."""
READABLE = 14
"""Characters of a column of sentences in a narrow terminal, at least."""


class PipedConsole(Console):
    """A console that breaks lines at blanks only, writes control characters out, and may be read by head or less."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; a table that is too wide is narrowed or taken apart, and a sentence on a terminal broken at blanks."""
        if len(objects) == 1 and isinstance(objects[0], Table):
            for table in fitting_tables(objects[0], self):
                super().print(table, **options)
            return
        for each in objects:
            if isinstance(each, Text):
                each.plain = joined(each.plain)  # replaced one for one, so that the styles stay in place
        if self.is_terminal or not options.get("soft_wrap"):  # else a pipe's reader gets whole lines
            objects = tuple(broken(each, self.width) if isinstance(each, str) else each for each in objects)
        super().print(*objects, **options)

    def say(self, text: str) -> None:
        """Print a sentence, which is whole in a pipe and broken at blanks on a terminal."""
        self.print(text, soft_wrap=True)

    def tell(self, severity: str, message: str) -> None:
        """Print a finding: a warning also on a console that is quiet, for it may change what a forecast is worth."""
        quiet, self.quiet = self.quiet, self.quiet and severity == "note"
        try:
            self.say(f"{severity}: {message}")
        finally:
            self.quiet = quiet

    def render_str(self, text: str, **options: Any) -> Text:
        """Keep dates, commands and shares whole in the cells of tables, too."""
        return super().render_str(joined(text), **options)

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Write control characters out in all text, also of tables and progress bars, and blanks for joints."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text.replace(JOINT, " ")), segment.style)

    def on_broken_pipe(self) -> None:
        """Exit without an error, where rich would exit with 1."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0)


def make_console(*, stderr: bool = False, quiet: bool = False) -> PipedConsole:
    """Make a console as wide as the terminal; without colours where there is none, or with NO_COLOR."""
    # Names of columns and series are text: "load [kW]" is no markup, ":cat:" no picture.
    console = PipedConsole(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = WIDTH_WITHOUT_TERMINAL
    elif console.width < 1:  # COLUMNS=0, which names no width
        console.width = get_terminal_size((WIDTH_WITHOUT_TERMINAL, 1)).columns
    return console


# --------------------------------------------------------------------------- tables


def plain_table(*headings: str, left: Iterable[str] = (), whole: Iterable[str] = ()) -> Table:
    """A table without lines, whose columns are set to the right.

    Args:
        headings: of the columns.
        left: those that are set to the left.
        whole: those whose cells are never broken.
    """
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right", no_wrap=heading in whole)
    return table


def number_text(value: float | None, digits: int) -> str:
    """A number with so many digits; a dash for none."""
    return f"{value:.{digits}g}" if value is not None and math.isfinite(value) else "–"


def p_value_text(value: float, decimals: int) -> str:
    """A p-value with so many decimals, those below the smallest of them as less than it; a dash for none."""
    if not math.isfinite(value):
        return "–"
    least = 10.0**-decimals
    return f"< {least:.{decimals}f}" if value < least else f"{value:.{decimals}f}"


# --------------------------------------------------------------------------- tables that are wider than the terminal


LONGEST_CELL = 200
"""Characters of a word in a table: two lines."""


def fitting_tables(table: Table, console: Console) -> list[Table]:
    """The table itself where it fits; else narrower, with cells broken at blanks; else in parts below each other.

    Each part has the first columns, which name the rows. A word that is longer than a line is broken, and a name in the
    first column that is longer than half a line: it stands in every part.
    """
    for column in table.columns:
        column._cells = [shortened(cell, LONGEST_CELL) if isinstance(cell, str) else cell for cell in column._cells]
    room, spans = console.width, [_span_of(column, console) for column in table.columns]
    if _total([span.maximum for span in spans]) <= room:
        return [table]
    parts = _parts(table, [span.minimum for span in spans], room)
    if any(_total([spans[index].minimum for index in part]) > room for part in parts):
        _break_run_names(table)
        spans = [_span_of(column, console) for column in table.columns]
        spans[0] = Measurement(min(spans[0].minimum, room // 2), spans[0].maximum)
        parts = _parts(table, [span.minimum for span in spans], room)
    return [_narrowed(table, part, [spans[index] for index in part], room) for part in parts]


def _break_run_names(table: Table) -> None:
    """Let a run's name, which is made of its time and its mechanism, be broken between them."""
    for column in table.columns:
        column._cells = [RUN_TIME.sub(r"\1 ", cell) if isinstance(cell, str) else cell for cell in column._cells]


def _span_of(column: Column, console: Console) -> Measurement:
    """Least width of a column, and that of its longest line; the same where its lines must not be broken.

    The least is its longest word, or a readable width where it has sentences: no column of one word a line.
    """
    wide = console.options.update(width=10_000)
    spans = [Measurement.get(console, wide, cell) for cell in (column.header, *column.cells)]
    longest = max(span.maximum for span in spans)
    least = max(min(longest, READABLE), *(span.minimum for span in spans))
    return Measurement(longest if column.no_wrap else least, longest)


def _total(widths: list[int]) -> int:
    return sum(widths) + COLUMN_GAP * (len(widths) - 1)


def _parts(table: Table, widths: list[int], room: int) -> list[list[int]]:
    """Numbers of the columns of each part."""
    names = next((index for index, column in enumerate(table.columns) if column.justify == "right"), 1) or 1
    first = list(range(names))
    parts = [list(first)]
    for index in range(names, len(widths)):
        if len(parts[-1]) > names and _total([widths[each] for each in (*parts[-1], index)]) > room:
            parts.append(list(first))
        parts[-1].append(index)
    return parts


def _narrowed(table: Table, part: list[int], spans: list[Measurement], room: int) -> Table:
    """Some columns of a table, each as wide as its longest word, and wider as far as there is room."""
    widths = [span.minimum for span in spans]
    # The columns with the shortest lines get the room first: most of them are whole then.
    for index in sorted(range(len(part)), key=lambda index: spans[index].maximum):
        widths[index] += min(spans[index].maximum - widths[index], max(room - _total(widths), 0))
    most = max(room - _total(widths) + max(widths), 1)
    widths = [min(width, most) for width in widths]  # one alone is wider than the line
    narrowed = Table(box=None, pad_edge=False, show_header=table.show_header)
    for number, width in zip(part, widths, strict=True):
        column = table.columns[number]
        narrowed.add_column(column.header, justify=column.justify, width=width, overflow="fold")
    for cells in zip(*(table.columns[number].cells for number in part), strict=True):
        narrowed.add_row(*cells)
    return narrowed


# --------------------------------------------------------------------------- roles


MOST_COLUMNS = 200


def role_table(roles: Roles) -> Table:
    """Every column, its role, and why it has it."""
    headings = ("column", "role", "why")
    table = plain_table(*headings, left=headings)
    rows = [(name, role, roles.reasons.get(name, "")) for name, role in _named_roles(roles)]
    rows += [(name, "not used", why) for name, why in roles.ignored.items()]
    for row in rows[:MOST_COLUMNS]:
        table.add_row(*row)
    if len(rows) > MOST_COLUMNS:
        table.add_row(f"… {len(rows) - MOST_COLUMNS:,} more")
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


# --------------------------------------------------------------------------- progress

NARROWEST_BAR, WIDEST_BAR = 8, 40
BESIDE_BAR = len("  100% 100:00:00 ")
"""Characters of a line of progress beside its bar and its words: the time left may be days."""


def bar_width(console: Console) -> int:
    """Width of the bar of a line that has words, too."""
    return max(min(WIDEST_BAR, (console.width - 70) // 3), NARROWEST_BAR)


def room_beside_bar(console: Console) -> int:
    """Characters that the words of a line of progress may have, so that the time left is not cut."""
    return console.width - bar_width(console) - BESIDE_BAR


def fitting_parts(parts: list[str], room: int) -> str:
    """Join as many of the first parts as fit into a line; none is cut."""
    fitting = (parts[:count] for count in range(len(parts), 0, -1))
    return next((text for each in fitting if len(text := "  ".join(each)) <= room), "")


ReadingProgress = Callable[[int, int], None]
"""Called with the bytes read so far and the size of the file."""

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
