"""Numbers in cells of text: plain ones, their decimal mark, and those with a unit, a footnote or a code around them.

Nothing is guessed without evidence: where cells contradict each other about the decimal mark, that is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from forecast_attn.errors import ConfigError, DataError

MISSING_WORDS = ["", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "None", "#N/A", ".", ":"]
"""Cells that mean no value."""

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
_NUMBER = re.compile("|".join(f"(?:{kind.pattern})" for kind in (_PLAIN, _COMMA, _BOTH_MARKS)), re.IGNORECASE)
"""A number of any of these kinds; only `inf` and the exponent, which both have in either case, are letters."""


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, whatever its marks."""
    return _NUMBER.fullmatch(cell) is not None


def parse_texts(texts: Iterable[str | None], decimal: str, *, grouped: bool) -> NDArray[np.float64]:
    """The number in each cell of text (num_cells,), NaN where it is not a number.

    Args:
        texts: cells without blanks around them.
        decimal: the decimal mark.
        grouped: whether the other mark may stand between thousands: only when the user named the decimal mark.
    """
    cells = [_plain_number(cell, decimal, grouped) for cell in texts]
    return np.asarray(pc.cast(pa.array(cells, pa.string()), pa.float64()).to_numpy(zero_copy_only=False))


def _plain_number(cell: str | None, decimal: str, grouped: bool) -> str | None:
    """The cell as a number with a decimal point and nothing else, None where it is not a number."""
    if cell is None:
        return None
    grouping = "," if decimal == "." else "."
    if grouped and _GROUPED[decimal].fullmatch(cell):
        cell = cell.replace(grouping, "")
    elif grouping in cell:
        return None
    plain = cell.replace(decimal, ".")
    return plain if plain.isascii() and _PLAIN.fullmatch(plain) else None


def are_parts_of_a_number(whole: str, fraction: str) -> bool:
    """Return whether two cells may be one number with a decimal comma, and no date in digits and a number."""
    return whole.isdecimal() and fraction.isdecimal() and len(whole) < len("20240131")


# --------------------------------------------------------------------------- the decimal mark


def checked_decimal(mark: str) -> str:
    """The mark of `--decimal`.

    Raises:
        ConfigError: neither a point nor a comma.
    """
    decimal = {"point": ".", "comma": ","}.get(mark.lower(), mark)
    if decimal not in (".", ","):
        raise ConfigError(f"--decimal must be a point or a comma; got {mark!r}", "--decimal . or --decimal ,")
    return decimal


def find_decimal(columns: dict[str, list[str]], label: str) -> str | None:
    """The decimal mark of the cells of a table, None when no cell tells.

    A column is evidence for the comma when it has more numbers with a comma than with a point.

    Args:
        columns: cells by column name; text that is no number does not matter.
        label: the table's name, for messages.

    Raises:
        DataError: the evidence contradicts itself, or a comma may be a thousands mark.
    """
    commas: dict[str, list[str]] = {}
    points: dict[str, list[str]] = {}
    for name, cells in columns.items():
        if sum(map(is_number, cells)) <= len(cells) / 2 or have_codes(cells):
            continue
        both = next(filter(_BOTH_MARKS.fullmatch, cells), None)
        if both is not None:
            raise _undecided(label, name, f"{both!r} has a mark of thousands")
        comma, point = (list(filter(kind.fullmatch, cells)) for kind in (_COMMA, _POINT))
        if len(comma) > len(point):
            commas[name] = comma
        elif point:
            points[name] = point
    if not commas:
        return "." if points else None
    name, cells = next(iter(commas.items()))
    if points:
        other_column, example = next(iter(points.items()))
        raise _undecided(
            label, name, f"{cells[0]!r} suggests a comma, but {example[0]!r} in column '{other_column}' a point"
        )
    if all(_THOUSANDS.fullmatch(cell) for cells_with_comma in commas.values() for cell in cells_with_comma):
        whole = cells[0].replace(",", "")
        raise _undecided(label, name, f"{cells[0]!r} may be {whole} or {cells[0].replace(',', '.')}")
    return ","


def _undecided(label: str, column: str, evidence: str) -> DataError:
    return DataError(
        f"{label}: the decimal mark is not certain: in column '{column}' {evidence}",
        "--decimal , or --decimal . decides",
        code="FA108",
        options=("decimal",),
        column=column,
    )


# --------------------------------------------------------------------------- numbers among other signs

_UNIT = r"(?:[$€£¥₹%]|EUR|USD|GBP|CHF|JPY)"
_NO_UNIT = r"(?!(?i:EUR|USD|GBP|CHF|JPY|UTC|GMT|[AP]M\b|Q\d|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec))"
_PER = r"(?i: ?/ ?(?:[kmg]?g|t|ton|tonne|lb|l|ltr|litre|liter|unit|pcs?|dozen|bag|qtl|quintal|head|[km]wh|m[23²³]))"
"""What a price is of, also without a blank: `54.67/Kg`, and no `10/Ene`."""
_UNIT_BEHIND = rf"(?:[ \u00a0]{_NO_UNIT}[^\W\d_][\w²³°·%]{{0,9}}(?:/[^\W\d_]\w{{0,5}})?|[ \u00a0]?°[CFK]?|{_PER})"
_DRESSED = re.compile(
    rf"(?P<minus>[-−])?\+?(?P<open>\()?{_UNIT}? ?"
    r"(?P<number>\d{1,3}(?:[ \u00a0\u202f\u2009'’]\d{3})+(?:[.,]\d+)?|\d[\d.,]*|[.,]\d+)"
    rf"(?:[ \u00a0]?{_UNIT}|{_UNIT_BEHIND}|[ \u00a0])?(?P<close>\))?(?P<behind>-)?"
)
_WITH_FOOTNOTE = re.compile(r"([-+]?\d[\d.,]*)(?:[*†#]|[prbx]| ?\([a-zA-Z]\)| ?\[\w{1,2}\]| (?![km]\b)[a-z]{1,2})")
"""`e`, `p`, `b` and their like say that a value is estimated, provisional or the first of a new method."""
_WITH_CODE = re.compile(r"([-+]?\d+),([0-9A-Z])")
MOST_CODES = 6
"""Different codes behind the numbers of a column."""
FEWEST_CODED = 5
"""Different numbers for each code."""


def shows_number(cell: str) -> bool:
    """Return whether a cell is a number, with blanks, a currency or a unit around it or not."""
    return is_number(bare_number(cell.strip()))


def bare_number(cell: str) -> str:
    """The number of a cell without what people write around it; the cell as it is where that is no number.

    A currency, a percent sign or a unit behind a blank, brackets or a minus behind it for below zero, and blanks or
    apostrophes between thousands: `$ 1,234.50`, `12.5 %`, `3.1 kW`, `(3.20)`, `3.20-`, `1 234`, `1'234`.
    """
    if not cell.strip("0123456789.,") or ":" in cell:  # most cells: a plain number, or a time
        return cell
    match = _DRESSED.fullmatch(cell)
    if match is None:
        return cell
    minus = "-" if (match["open"] and match["close"]) or match["behind"] or match["minus"] else ""
    if bool(match["open"]) != bool(match["close"]) or (match["minus"] and match["behind"]):
        return cell
    return minus + re.sub(r"[ \u00a0\u202f\u2009'’]", "", match["number"])


def unit_around(cell: str) -> str:
    """The currency, the percent sign or the unit of a cell; nothing for a plain number."""
    match = re.search(rf"{_UNIT}|{_UNIT_BEHIND}", cell)
    return match[0].strip() if match is not None else ""


def without_footnote(cell: str) -> str:
    """The number of a cell without the mark of a footnote behind it, `150.1*`, `97.3 p`; else the cell as it is."""
    match = _WITH_FOOTNOTE.fullmatch(cell)
    return match[1] if match is not None else cell


def without_code(cell: str) -> str:
    """The number of a cell without the code of its quality behind it: `+0011,5`; else the cell as it is."""
    match = _WITH_CODE.fullmatch(cell)
    return match[1] if match is not None else cell


def have_codes(cells: list[str]) -> bool:
    """Return whether cells are whole numbers of one width, each with one of a few codes of its quality behind it.

    Decimal numbers have no leading zeros.
    """
    matches = [_WITH_CODE.fullmatch(cell) for cell in cells if cell]
    parts = {(match[1].lstrip("+-"), match[2]) for match in matches if match is not None}
    codes = {code for _, code in parts}
    if None in matches or len(codes) > MOST_CODES or len(parts) < FEWEST_CODED * len(codes):
        return False
    is_padded = any(number.startswith("0") and len(number) > 1 for number, _ in parts)
    return is_padded and len({len(number) for number, _ in parts}) == 1
