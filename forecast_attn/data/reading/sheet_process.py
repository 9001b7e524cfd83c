"""The program that reads a workbook, in a process of its own that `spreadsheet` starts: no module imports it.

A reader holds a sheet as a rectangle, which a single far cell makes too large for any machine, and memory that is not
there ends the process. This one has a limit. It imports nothing of the package: it starts in a twentieth of a second.

    python sheet_process.py BYTES SECONDS SHEET < book.xlsx

BYTES, SECONDS: the memory and the processor time that it may use. SHEET: a name as JSON; null chooses the only visible
sheet with rows, if there is one. stdout: a line of JSON with the names of all sheets and the number of cells of those
read that have rows; then the rows of the chosen one as CSV. stderr: in its last line why it failed, as Python writes
what nobody catches.
"""

import csv
import datetime
import io
import itertools
import json
import re
import sys
import zipfile
import zlib
from typing import Any

COLUMNS = 16_384
"""Of every spreadsheet program; the reader drops what is beyond them."""
_REPEATED = re.compile(rb'number-columns-repeated="(\d+)"')


def main(memory: int, seconds: int, name: str | None) -> None:
    if sys.platform != "win32":
        import resource

        _limit(resource.RLIMIT_CPU, seconds)
        if sys.platform == "linux":  # macOS knows no such limit
            _limit(resource.RLIMIT_AS, memory)
    import python_calamine

    sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
    content = sys.stdin.buffer.read()
    _refuse_far_cells(content)
    _write(python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content)), name)


def _limit(what: int, limit: int) -> None:
    import resource

    _, most = resource.getrlimit(what)
    resource.setrlimit(what, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


def _refuse_far_cells(content: bytes) -> None:
    """Refuse an OpenDocument sheet with a value behind the last column, which the reader would drop.

    Raises:
        ValueError: naming the limit.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            text = archive.read("content.xml")
    except (KeyError, ValueError, OSError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile, zlib.error):
        return  # another kind of workbook, or one that the reader refuses
    for row in text.split(b"<table:table-row")[1:]:
        row = row[: row.find(b">", row.rfind(b"office:value")) + 1]  # not the empty cells to its right
        cells = row.count(b"<table:table-cell") + row.count(b"<table:covered-table-cell")
        if cells + sum(int(count) - 1 for count in _REPEATED.findall(row)) > COLUMNS:
            raise ValueError(f"a row has a value behind the last column, the {COLUMNS:,}th")


def _write(book: Any, name: str | None) -> None:
    names = [each.name for each in book.sheets_metadata]
    cells: dict[str, int] = {}
    chosen = None
    for each in _visible(book) if name is None else {name}.intersection(names):
        sheet = book.get_sheet_by_name(each)
        if sheet.height:
            cells[each] = sheet.height * sheet.width
            chosen = sheet if len(cells) == 1 else None
    sys.stdout.write(json.dumps({"names": names, "cells": cells}) + "\n")
    if chosen is not None:
        rows = itertools.islice(chosen.iter_rows(), chosen.start[0], None)  # without those above the first cell
        # With both marks a cell that holds either of them is quoted.
        csv.writer(sys.stdout, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in rows)


def _visible(book: Any) -> list[str]:
    sheets = (each for each in book.sheets_metadata if str(each.typ).endswith(".WorkSheet"))
    return [each.name for each in sheets if str(each.visible).endswith(".Visible")]


def _cell(value: Any) -> Any:
    """A cell as text: whole numbers without a point, dates in ISO form without an empty clock."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, datetime.datetime):
        return value.date().isoformat() if value.time() == datetime.time() else value.isoformat(" ")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return value


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]))
