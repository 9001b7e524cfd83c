"""Reads a sheet of a workbook (.xlsx, .xls, .ods) as the CSV that it would be saved as, with dates in ISO form."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

from forecast_attn.data.findings import quoted
from forecast_attn.data.reading.source import CHUNK, Source
from forecast_attn.errors import DataError, did_you_mean

PROGRAM = Path(__file__).with_name("sheet_process.py")
MEMORY = 4 << 30
"""Bytes that reading a workbook may take: forty million cells, or all rows of Excel in forty columns."""
SECONDS = 4
"""Processor time that reading a workbook may take, so that a damaged one is answered within ten seconds."""
BYTES_PER_SECOND = 1_000_000
"""Bytes of a workbook that are read in a second at least, beyond `SECONDS`: a core reads eight times as many."""
PATIENCE = 1 if sys.platform == "win32" else 4
"""Times as long on the clock, for a process that others keep from the processor; Windows limits no processor time."""
MOST_KEPT = 4, 16 << 20
"""Answers, and the bytes of each, that are kept: `check` reads one table in many ways."""
MOST_UNPACKED = 100
"""Bytes of CSV out of one byte of a workbook; a tenth of that where all cells are zero."""
CPU_LIMIT = getattr(signal, "SIGXCPU", 0)
INSTALL = 'pip install "forecast-attn[excel]", or save the sheet as CSV'


class _Sheets(NamedTuple):
    names: list[str]
    cells: dict[str, int]
    """Number of cells of the sheets that were read and have rows."""
    text: bytes
    """The rows of the chosen one as CSV."""


def workbook_sheet_as_text(source: Source, sheet: str | None) -> Source:
    """The rows of a sheet as UTF-8 text with commas; empty rows and columns around them are left out.

    Args:
        source: a workbook.
        sheet: its name; the only visible one with rows when None.

    Raises:
        DataError: no reader is installed, the file is damaged or too large, or the sheet is not there or cannot be
            chosen.
    """
    sheets = _read(source, sheet)
    if sheet is not None and sheet not in sheets.names:
        hint = did_you_mean(sheet, sheets.names)
        raise DataError(f"{source.label} has no sheet '{sheet}'", hint, code="FA108", options=("sheet",))
    if sheet is None and len(sheets.cells) != 1:
        raise _no_choice(source, list(sheets.cells))
    return Source(source.label, None, sheets.text)


def sheets_with_rows(source: Source) -> list[str]:
    """Names of the visible sheets that hold anything, the largest first."""
    cells = _read(source, None).cells
    return sorted(cells, key=lambda name: -cells[name])


_kept: dict[Any, _Sheets | DataError] = {}


def _read(source: Source, sheet: str | None) -> _Sheets:
    """Read a workbook, or remember what came of it.

    Raises:
        DataError: no reader is installed, or the file is damaged, behind a password, or beyond the limits.
    """
    status = None if source.path is None else source.path.stat()
    file = source.content if status is None else (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    key = file, source.label, sheet
    if key not in _kept:
        try:
            answer: _Sheets | DataError = _read_in_process(source, sheet)
        except DataError as error:
            answer = error
        if isinstance(answer, _Sheets) and len(answer.text) > MOST_KEPT[1]:
            return answer
        while len(_kept) >= MOST_KEPT[0]:
            del _kept[next(iter(_kept))]
        _kept[key] = answer
    answer = _kept[key]
    if isinstance(answer, DataError):
        raise answer.with_traceback(None)
    return answer


def _read_in_process(source: Source, sheet: str | None) -> _Sheets:
    """Read a workbook in a process of its own, which a hostile file may end or keep busy.

    Raises:
        DataError: as `_read`.
    """
    if importlib.util.find_spec("python_calamine") is None:
        raise DataError(f"{source.label} is a spreadsheet, which needs a reader of its own", INSTALL)
    seconds, start = SECONDS + source.size / BYTES_PER_SECOND, time.monotonic()
    command = [sys.executable, "-P", str(PROGRAM), str(MEMORY), str(math.ceil(seconds)), json.dumps(sheet)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with _stored(source) as stored, tempfile.TemporaryFile() as errors:
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=stored, stdout=pipe, stderr=errors, env=environment) as process:
            answer = _answer(source, process, PATIENCE * seconds)
        if process.returncode:
            errors.seek(0)
            is_late = time.monotonic() - start > PATIENCE * seconds or process.returncode == -CPU_LIMIT
            raise _late(source, seconds) if is_late else _failure(source, errors.read().decode(errors="replace"))
    sheets = json.loads(answer.readline())
    return _Sheets(sheets["names"], sheets["cells"], answer.read())


@contextlib.contextmanager
def _stored(source: Source) -> Iterator[IO[bytes]]:
    """The bytes of a workbook as a file that another process can read."""
    if source.content is None:
        with source.open() as stream:
            yield stream
    else:
        with tempfile.TemporaryFile() as copy:
            copy.write(source.content)
            copy.seek(0)
            yield copy


def _answer(source: Source, process: subprocess.Popen[bytes], seconds: float) -> io.BytesIO:
    """All that the process writes in its time, after which it has ended.

    Raises:
        DataError: it is more than a table would be.
    """
    assert process.stdout is not None
    answer, late = io.BytesIO(), threading.Timer(seconds, process.kill)
    late.start()
    try:
        while chunk := process.stdout.read(CHUNK):
            answer.write(chunk)
            source.check_unpacked(answer.tell(), source.size, MOST_UNPACKED)
        process.wait()
    finally:
        late.cancel()
        process.kill()
    answer.seek(0)
    return answer


def _late(source: Source, seconds: float) -> DataError:
    message = f"{source.label} is a spreadsheet of {source.size:,} bytes that is not read within {seconds:.0f} s"
    return DataError(message, "save the sheet as CSV, which is read in blocks")


def _failure(source: Source, errors: str) -> DataError:
    """The error for a process that failed, by what it or its reader wrote to stderr."""
    if "MemoryError" in errors or "memory allocation of" in errors:
        message = f"{source.label} is a spreadsheet that needs more than {MEMORY >> 30} GiB of memory to be read"
        hint = "Ctrl+End goes to a sheet's last cell: delete what stands far from the table, or save the sheet as CSV"
        return DataError(message, hint)
    reason = errors.strip().splitlines()[-1] if errors.strip() else "its reader died"
    if "PasswordError" in reason:
        return DataError(f"{source.label} is protected by a password", "save it without one")
    reason = reason.partition(": ")[2] or reason  # without the name of the exception
    return DataError(f"{source.label} is a damaged spreadsheet: {reason}", "copy or save it again")


def _no_choice(source: Source, filled: list[str]) -> DataError:
    if not filled:
        return DataError(f"{source.label} has no rows in any visible sheet", "expected a line with names, then rows")
    message = f"{source.label} has {len(filled)} sheets with rows: {quoted(filled)}"
    hint = " or ".join(f"--sheet '{name}'" for name in filled[:3])
    return DataError(message, hint, code="FA108", options=("sheet",))
