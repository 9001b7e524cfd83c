"""One problem of a table: its code, its place, its fix.

Every stage that reads a table hands what it finds to a `Report`. Training passes `stop_at_errors`, which raises at the
first error; `forecast check` passes a list's `append` and gets all of them from the same code.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.codes import all_codes
from forecast_attn.errors import DataError

MOST = 5  # places named per kind of problem

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True)
class Finding:
    """What is wrong or worth knowing, where, and what to do about it. `row` counts data rows from 1.

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

    @property
    def fix(self) -> str:
        """What to do about it: its own hint, or its code's."""
        return self.hint if self.hint is not None else all_codes()[self.code].fix

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: place, message and fix."""
        places = {name: getattr(self, name) for name in ("file", "row", "column", "item_id")}
        return {"code": self.code, "severity": self.severity, **places, "message": self.message, "fix": self.fix}

    def to_error(self) -> DataError:
        """The error that stops training, with the finding's words and place."""
        return DataError(
            self.message, self.hint, code=self.code, row=self.row, column=self.column, item_id=self.item_id
        )


def finding_of(error: DataError) -> Finding:
    """The finding that an error is.

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
    )


Report = Callable[[Finding], None]


@dataclass(frozen=True)
class Repair:
    """One change that was made to the data as it was read. Nothing is repaired without one.

    A stage makes one per kind, series and column, with how often and where first.
    """

    kind: str
    """What was done, as `duplicates: mean`, `missing: ffill`, `gap: rows added`, `short series: padded`."""
    item_id: str | None = None
    """The series; None where it concerns the table or all series."""
    column: str | None = None
    count: int = 1
    """Cells or rows changed."""
    first: str | None = None
    """Where first: the stamp's text, or `row 17 (line 18)`."""

    @property
    def message(self) -> str:
        """`missing: ffill, series 'a', column 'load': 3 times, first 2024-01-05`."""
        places = [self.kind]
        places += [f"series '{self.item_id}'"] if self.item_id is not None else []
        places += [f"column '{self.column}'"] if self.column is not None else []
        first = f", first {self.first}" if self.first is not None else ""
        return f"{', '.join(places)}: {counted(self.count, 'time')}{first}"


def stop_at_errors(finding: Finding) -> None:
    """Raise the finding when it is an error.

    Raises:
        DataError: with the finding's message and hint.
    """
    if finding.severity == "error":
        raise finding.to_error()


@contextlib.contextmanager
def coded(code: str) -> Iterator[None]:
    """Give errors that have no code this one: a stage in which nearly all that goes wrong is of one kind."""
    try:
        yield
    except DataError as error:
        error.code = error.code or code
        raise


@contextlib.contextmanager
def naming(source: str) -> Iterator[None]:
    """Name the table in errors that do not: a forecast reads two of them."""
    try:
        yield
    except DataError as error:
        if error.file is not None or any(f"{before}{source}'" in error.message for before in ("'", "/", "\\")):
            error.file = error.file or source
            raise
        raise error.saying(f"'{source}': {error.message}", source) from None


def place(row: int) -> str:
    """`row 17 (line 18)`: the data row counted from 1, and the line of a CSV with one header line."""
    return f"row {row} (line {row + 1})"


def quoted(names: list[str] | tuple[str, ...]) -> str:
    """`'a', 'b', 'c'`, shortened after twelve names."""
    shown = ", ".join(f"'{name}'" for name in names[:12])
    return shown if len(names) <= 12 else f"{shown}, … ({len(names)} in all)"


def counted(number: int, noun: str) -> str:
    """`1 row`, `8,760 rows`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def report_each(
    report: Report, places: Sequence[int] | NDArray[np.int64], finding_at: Callable[[int], Finding]
) -> None:
    """Report the finding at each place; after the first five only how many more there are."""
    for at in places[:MOST]:
        report(finding_at(int(at)))
    if len(places) > MOST:
        first = finding_at(int(places[MOST]))
        rest = f"{len(places) - MOST:,} more of {first.code}" + (f" in column '{first.column}'" if first.column else "")
        report(
            Finding(
                first.code, first.severity, f"{rest}, the first: {first.message}", column=first.column, row=first.row
            )
        )


def ended(report: Report, finding: Finding) -> DataError:
    """Report a finding that nothing can be read beyond, and return the error to raise."""
    report(finding)
    return finding.to_error()


def stamp_text(stamp: np.datetime64 | np.int64) -> str:
    """`2024-01-31`, `2024-01-31 10:00`, or the number of a step."""
    if not isinstance(stamp, np.datetime64):
        return str(stamp)
    text = str(stamp.astype("datetime64[s]")).replace("T", " ")
    return text.removesuffix(" 00:00:00").removesuffix(":00")
