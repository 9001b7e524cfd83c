"""Tables that more than one command shows."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.segment import Segment
from rich.table import Table

from forecast_attn.cli.printing import visible
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.runs.run_dir import CONFIG, RunDir

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


# --------------------------------------------------------------------------- targets
# Files that a command is asked to write: refused, before any work, where that would destroy what it reads.


def refuse_targets(
    written: Mapping[str, Path | None], *, read: Iterable[Path | None], runs: Iterable[RunDir | None]
) -> None:
    """Refuse to write over a file that is read, over one of a run, two results into one, or into no folder.

    Args:
        written: option -> file; what is not asked for is None.
        read: files the command reads.
        runs: the runs it reads; their files and the tables they were trained on are kept, too.

    Raises:
        ConfigError: a file is needed, or two options name one.
        RunError: the folder of a file is missing or may not be written to.
    """
    named = {option: path for option, path in written.items() if path is not None}
    kept = [path for path in read if path is not None]
    kept += [path for run in runs if run is not None for path in files_of(run)]
    for option, path in named.items():
        if any(_same(path, other) for other in kept):
            raise ConfigError(f"{option} '{path}' is a file that is read or belongs to the run", "name another file")
        check_folder(path)
    for (option, path), (other, second) in itertools.combinations(named.items(), 2):
        if os.path.realpath(path) == os.path.realpath(second) and not _is_device(path):
            raise ConfigError(f"{option} and {other} both write '{path}'", "give each a file of its own")


def check_folder(path: Path) -> None:
    """Say before the work, not after it, that its result cannot be written.

    Raises:
        RunError: the folder is missing or may not be written to.
    """
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise RunError(f"cannot write '{path}': there is no folder '{path.parent}'", f"mkdir -p '{path.parent}'")
    if not os.access(folder, os.W_OK):
        raise RunError(f"cannot write '{path}': '{path.parent}' may not be written to", "name a file elsewhere")


def files_of(run: RunDir) -> Iterator[Path]:
    """The files a run consists of, and the table it was trained on; not what a user has drawn into its folder."""
    yield from (path for path in vars(run).values() if isinstance(path, Path) and path.is_file())
    yield from run.path.rglob("*.safetensors")
    recorded = run.read_json(run.config)["data"] if (run.home / CONFIG).is_file() else {}
    if recorded.get("sha256") is not None:
        yield Path(recorded["file"])


def _same(path: Path, other: Path) -> bool:
    return path.exists() and other.exists() and path.samefile(other) and not _is_device(path)


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()


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
