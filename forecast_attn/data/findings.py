"""Findings about a table: code, position and fix of each problem.

Every stage that reads a table hands what it finds to a `Report`. Training passes `stop_at_errors`, which raises at the
first error; `forecast check` passes a list's `append` and gets all of them from the same code.
"""

from __future__ import annotations

import contextlib
import functools
import shlex
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from forecast_attn.config.values import names_text
from forecast_attn.errors import ConfigError, DataError, did_you_mean, nearest, shortened_names

if TYPE_CHECKING:  # `forecast explain` loads neither
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

P = ParamSpec("P")
T = TypeVar("T")

MOST_PLACES = 3
"""Positions that are listed per kind of problem."""

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """One problem or remark: its position, message and fix. `row` counts data rows from 1.

    `code` is registered in `data/codes`; `forecast check` fills `file` in where a stage leaves it out.
    """

    code: str
    severity: Severity
    message: str
    hint: str | None = None
    item_id: str | None = None
    column: str | None = None
    row: int | None = None
    file: str | None = None
    value: str | None = None
    """The text of the cell that causes the problem."""
    options: tuple[str, ...] = ()
    """Options of `forecast train` that the hint suggests."""

    @property
    def fix(self) -> str:
        """Return the finding's own hint, or that of its code."""
        return self.hint if self.hint is not None else all_codes()[self.code].fix

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able form: position, message and fix."""
        position = {name: getattr(self, name) for name in ("file", "row", "column", "item_id")}
        return {"code": self.code, "severity": self.severity, **position, "message": self.message, "fix": self.fix}

    def to_error(self) -> DataError:
        """The error that stops training, with the finding's words and place."""
        # Without the file, which the message does not name: `naming` adds both.
        error = DataError(
            self.message,
            self.hint,
            code=self.code,
            row=self.row,
            column=self.column,
            item_id=self.item_id,
            value=self.value,
            options=self.options,
        )
        error.finding = self
        return error


def finding_of(error: DataError) -> Finding:
    """Convert an error to a finding.

    Raises:
        ValueError: it has no code, which is a mistake of ours.
    """
    if error.code is None:
        raise ValueError(f"an error without a code: {error.message}") from error
    return Finding(
        error.code,
        "error",
        error.message,
        error.hint,
        item_id=error.item_id,
        column=error.column,
        row=error.row,
        file=error.file,
        value=error.value,
        options=error.options,
    )


Report = Callable[[Finding], None]


@dataclass(frozen=True)
class Repair:
    """One change made to the data while reading it. Every repair is recorded.

    A stage makes one per kind, series and column, with how often and where first.
    """

    kind: str
    """Kind of change: `duplicates: mean`, `missing: ffill`, `gap: rows added`, `short series: padded`."""
    item_id: str | None = None
    """The series; None where it concerns the table or all series."""
    column: str | None = None
    count: int | None = None
    """Cells or rows changed; None where they are not counted, as those of another delimiter."""
    first: str | None = None
    """Position of the first change: the stamp's text, or `row 17 (line 18)`."""

    @property
    def message(self) -> str:
        """`missing: ffill, series 'a', column 'load': 3 times, first 2024-01-05`."""
        parts = [self.kind]
        parts += [f"series '{self.item_id}'"] if self.item_id is not None else []
        parts += [f"column '{self.column}'"] if self.column is not None else []
        first = f", first {self.first}" if self.first is not None else ""
        times = f": {counted(self.count, 'time')}" if self.count is not None else ""
        return f"{', '.join(parts)}{times}{first}"


def stop_at_errors(finding: Finding) -> None:
    """Raise the finding when it is an error.

    Raises:
        DataError: with the finding's message and hint.
    """
    if finding.severity == "error":
        raise finding.to_error()


@contextlib.contextmanager
def coded(code: str) -> Iterator[None]:
    """Give errors without a code this one, in a stage whose errors are nearly all of one kind."""
    try:
        yield
    except DataError as error:
        error.code = error.code or code
        raise


@contextlib.contextmanager
def naming(source: str) -> Iterator[None]:
    """Add the table's name to errors that lack it: a forecast reads two tables."""
    try:
        yield
    except DataError as error:
        if error.file is not None:
            raise
        named = error.reworded(f"'{source}': {error.message}")
        named.file, named.finding = source, error.finding
        raise named from None


_lines_above: ContextVar[int | None] = ContextVar("lines above the first row", default=None)
LINES_ABOVE = "lines above the first row"
"""Name under which a frame's `attrs` hold the lines of its file above the first row, where every row is one line."""


def with_line_numbers(stage: Callable[P, T]) -> Callable[P, T]:
    """Let `row_and_line` name lines of the file that the stage's frame was read from, as far as they are known."""

    @functools.wraps(stage)
    def with_lines(*args: P.args, **kwargs: P.kwargs) -> T:
        attrs = (getattr(value, "attrs", None) for value in (*args, *kwargs.values()))
        token = _lines_above.set(next((each.get(LINES_ABOVE) for each in attrs if isinstance(each, dict)), None))
        try:
            return stage(*args, **kwargs)
        finally:
            _lines_above.reset(token)

    return with_lines


def row_and_line(row: int) -> str:
    """`row 17 (line 18)`: the data row counted from 1, and its line in the file where that is known."""
    above = _lines_above.get()
    return f"row {row}" if above is None else f"row {row} (line {above + row})"


def quoted(names: list[str] | tuple[str, ...]) -> str:
    """`'a', 'b', 'c'`, shortened after twelve names."""
    shown = ", ".join(f"'{name}'" for name in names[:12])
    return shown if len(names) <= 12 else f"{shown}, … ({len(names)} in all)"


def columns_text(names: list[str] | tuple[str, ...]) -> str:
    """The names of a table's columns, quoted."""
    return quoted(shortened_names(names))


def option_for(flag: str, column: str) -> str:
    """`--ignore 'comment'`: an option that names one column, as a shell takes it."""
    text = names_text([column]).replace("'", "'\\''")
    return f"--{flag} '{text}'"


def listed(values: tuple[str, ...]) -> str:
    """`'no', 'yes'`: values of a cell, shortened after ten."""
    shown = ", ".join(f"'{value}'" for value in values[:10])
    return shown if len(values) <= 10 else f"{shown}, … ({len(values):,} in all)"


def counted(number: int, noun: str) -> str:
    """`1 row`, `8,760 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def report_each(report: Report, rows: Sequence[int] | NDArray[np.int64], finding_at: Callable[[int], Finding]) -> None:
    """Report the finding at each row; after the first five, only the number of the rest."""
    for index in rows[:MOST_PLACES]:
        report(finding_at(int(index)))
    if len(rows) > MOST_PLACES:
        first = finding_at(int(rows[MOST_PLACES]))
        column = f" in column '{first.column}'" if first.column else ""
        rest = f"{len(rows) - MOST_PLACES:,} more of {first.code}{column}"
        report(
            Finding(
                first.code,
                first.severity,
                f"{rest}, the first: {first.message}",
                column=first.column,
                row=first.row,
                value=first.value,
                options=first.options,
            )
        )


def ended(report: Report, finding: Finding) -> DataError:
    """Report a finding that stops reading, and return the error to raise."""
    report(finding)
    return finding.to_error()


def stamp_text(stamp: np.datetime64 | np.int64) -> str:
    """`2024-01-31`, `2024-01-31 10:00`, or the number of a step."""
    import numpy as np

    return clock_text(stamp).removesuffix(" 00:00") if isinstance(stamp, np.datetime64) else str(stamp)


def clock_text(stamp: np.datetime64) -> str:
    """`2024-01-31 00:00`, with seconds and their fraction where there are any."""
    exact = str(stamp)
    text = exact.rstrip("0").removesuffix(".") if "." in exact else str(stamp.astype("datetime64[s]"))
    return text.replace("T", " ").removesuffix(":00")


# --------------------------------------------------------------------------- codes
# Codes of findings: title, severity, meaning, and an example with its correction.


EXAMPLE_OPTIONS = "--lookback 2 --horizon 1"
"""Sizes that fit the few rows of an example."""

GROUPS = {
    "FA1": "the file and its columns",
    "FA2": "the time axis",
    "FA3": "cells",
    "FA4": "series",
    "FA5": "covariates and the future",
}


@dataclass(frozen=True)
class Example:
    """A table, the options it is checked with, and the files that those name."""

    table: str
    options: tuple[str, ...]
    files: dict[str, str]
    encoding: str
    """Encoding the table is saved in."""


@dataclass(frozen=True)
class Code:
    """One kind of finding."""

    code: str
    title: str
    severity: str
    """`error` stops training; `warning` and `note` do not."""
    means: str
    matters: str
    fix: str
    bad: Example | None
    """Has a finding of this code; None where only a forecast can have one."""
    good: Example | None
    """The corrected example: no finding of this code, and no error."""


@functools.cache
def all_codes() -> dict[str, Code]:
    """All codes, in order."""
    text = files("forecast_attn.data").joinpath("codes.toml").read_text(encoding="utf-8")
    return {name: _code(name, entry) for name, entry in sorted(tomllib.loads(text).items())}


def find_code(name: str) -> Code:
    """The code of that name, in any case, with or without `FA`.

    Raises:
        ConfigError: there is no such code; with the nearest one.
    """
    known = all_codes()
    requested = name.strip().upper()
    code = known.get(requested) or known.get(f"FA{requested}")
    if code is None:
        raise ConfigError(f"there is no finding '{name}'", _nearest(requested))
    return code


def _nearest(name: str) -> str | None:
    group = [code for code in all_codes() if name.startswith(code[:3])]
    return did_you_mean(name, group or list(all_codes()))


def _code(name: str, entry: dict[str, Any]) -> Code:
    texts = {key: entry[key] for key in ("title", "severity", "means", "matters", "fix")}
    return Code(name, **texts, bad=_example(entry, "bad"), good=_example(entry, "good"))


def _example(entry: dict[str, Any], which: str) -> Example | None:
    if which not in entry:
        return None
    options = (entry.get("sizes", EXAMPLE_OPTIONS), entry.get("options", ""), entry.get(f"{which}_options", ""))
    return Example(
        entry[which],
        tuple(shlex.split(" ".join(options))),
        entry.get(f"{which}_files", {}),
        entry.get(f"{which}_encoding", "utf-8"),
    )


# --------------------------------------------------------------------------- columns
# The columns a table must have.


def require_column(
    frame: pd.DataFrame,
    column: str,
    source: str,
    flag: str = "",
    *,
    code: str = "FA102",
    hint: str = "add the column, or correct its name",
) -> None:
    """Refuse a table that lacks a column.

    Raises:
        DataError: with the columns there are, and the nearest name.
    """
    if column not in frame.columns:
        names = [str(name) for name in frame.columns]
        flag_text = f" (--{flag})" if flag else ""
        message = f"'{source}' has no column '{column}'{flag_text}; its columns are {columns_text(names)}"
        near = nearest(column, names)
        raise DataError(message, f"did you mean '{near}'?" if near else hint, code=code, column=column, file=source)
