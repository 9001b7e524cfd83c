"""What counts as a number in a cell of text, and which mark its decimals have. Nothing is guessed without evidence."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from forecast_attn.errors import ConfigError, DataError

MISSING_WORDS = ["", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "#N/A"]
"""Cells that mean: no value."""

_EXPONENT = r"([eE][+-]?\d+)?"
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
_COMMA = re.compile(rf"[+-]?(\d+,\d+|,\d+){_EXPONENT}")
_POINT = re.compile(rf"[+-]?(\d+\.\d+|\.\d+){_EXPONENT}")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_GROUPED = {
    ",": re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d+)?"),
    ".": re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?"),
}
_BOTH_MARKS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d+|[+-]?\d{1,3}(,\d{3})+\.\d+|[+-]?\d{1,3}(,\d{3}){2,}")


def checked_decimal(mark: str) -> str:
    """The mark of `--decimal`.

    Raises:
        ConfigError: neither a point nor a comma.
    """
    found = {"point": ".", "comma": ","}.get(mark.lower(), mark)
    if found not in (".", ","):
        raise ConfigError(f"--decimal must be a point or a comma; got {mark!r}", "--decimal . or --decimal ,")
    return found


def find_decimal(columns: dict[str, list[str]], label: str) -> str | None:
    """The decimal mark of the cells of a table, None when no cell tells.

    A column speaks for the comma when it has more numbers with a comma than with a point.

    Args:
        columns: cells by column name; text that is no number does not matter.
        label: the table's name, for messages.

    Raises:
        DataError: the evidence contradicts itself, or a comma may be a thousands mark.
    """
    commas: dict[str, list[str]] = {}
    points: dict[str, list[str]] = {}
    for name, cells in columns.items():
        if not _mostly_numbers(cells):
            continue
        both = _first(_BOTH_MARKS, cells)
        if both is not None:
            raise _undecided(label, name, f"{both!r} has a mark of thousands")
        comma, point = _all(_COMMA, cells), _all(_POINT, cells)
        if len(comma) > len(point):
            commas[name] = comma
        elif point:
            points[name] = point
    if not commas:
        return "." if points else None
    name, cells = next(iter(commas.items()))
    if points:
        other, example = next(iter(points.items()))
        raise _undecided(
            label, name, f"{cells[0]!r} speaks for a comma, in column '{other}' {example[0]!r} for a point"
        )
    if all(_THOUSANDS.fullmatch(cell) for found in commas.values() for cell in found):
        whole = cells[0].replace(",", "")
        raise _undecided(label, name, f"{cells[0]!r} may be {whole} or {cells[0].replace(',', '.')}")
    return ","


def parse_texts(texts: Iterable[str | None], decimal: str, *, grouped: bool) -> NDArray[np.float64]:
    """The number in each cell of text (num_cells,), NaN where it is none.

    Args:
        texts: cells without blanks around them.
        decimal: the decimal mark.
        grouped: whether the other mark may stand between thousands: only when the user named the decimal mark.
    """
    cells = [_plain_number(cell, decimal, grouped) for cell in texts]
    return np.asarray(pc.cast(pa.array(cells, pa.string()), pa.float64()).to_numpy(zero_copy_only=False))


def _plain_number(cell: str | None, decimal: str, grouped: bool) -> str | None:
    """The cell as a number with a decimal point and nothing else, None when it is none."""
    if cell is None:
        return None
    other = "," if decimal == "." else "."
    if grouped and _GROUPED[decimal].fullmatch(cell):
        cell = cell.replace(other, "")
    elif other in cell:
        return None
    plain = cell.replace(decimal, ".")
    return plain if plain.isascii() and _PLAIN.fullmatch(plain) else None


def _mostly_numbers(cells: list[str]) -> bool:
    kinds = (_PLAIN, _COMMA, _BOTH_MARKS)
    return sum(any(kind.fullmatch(cell) for kind in kinds) for cell in cells) > len(cells) / 2


def _first(kind: re.Pattern[str], cells: Iterable[str]) -> str | None:
    return next((cell for cell in cells if kind.fullmatch(cell)), None)


def _all(kind: re.Pattern[str], cells: Iterable[str]) -> list[str]:
    return [cell for cell in cells if kind.fullmatch(cell)]


def _undecided(label: str, column: str, said: str) -> DataError:
    return DataError(
        f"{label}: the decimal mark is not certain: in column '{column}' {said}",
        "--decimal , or --decimal . says which one it is",
        code="FA108",
        column=column,
    )
