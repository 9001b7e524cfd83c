"""Reads .tsf files, the text format of the Monash forecasting archive: one series per line, with its start.

Godahewa, Bergmeir, Webb, Hyndman and Montero-Manso, "Monash Time Series Forecasting Archive" (2021). Lines of
attributes (`@attribute series_name string`), then `T1:1979-01-01 00-00-00:25092.2,24271.5,…` below `@data`; `?` is no
value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding, Report, option_for
from forecast_attn.data.frequency import MONTH_UNITS, UNITS, Stamps, parse_frequency, split_alias, weekday
from forecast_attn.data.reading.dialect import assumed_encoding
from forecast_attn.data.reading.encoding import ASSUMED, NotUtf8Error, as_utf8
from forecast_attn.data.reading.positions import LAYOUT_ROWS, LONG_ID, LONG_TARGET, LONG_TIME
from forecast_attn.data.reading.source import Source
from forecast_attn.errors import ConfigError, DataError

_ALIASES = {
    "second": "s",
    "minute": "min",
    "hour": "h",
    "day": "D",
    "week": "W-MON",
    "month": "MS",
    "quarter": "QS-JAN",
    "year": "YS-JAN",
    "half_hourly": "30min",
    "daily": "D",
    "annually": "YS-JAN",
}
_MARKS = ("@relation", "@attribute", "@frequency", "@horizon", "@missing", "@equallength", "@data")
_START = 1 << 16
"""Bytes that show whether a text is of this form."""


@dataclass
class _Header:
    """The lines above `@data`."""

    attributes: list[tuple[str, str]] = field(default_factory=list)
    """Name and kind: string, numeric or date."""
    frequency: str | None = None


@dataclass(frozen=True)
class _Line:
    """One series."""

    line: int
    values: dict[str, str]
    """Values of its attributes."""
    numbers: NDArray[np.float64]


def is_tsf(source: Source) -> bool:
    """Return whether a text is of this form, by its first line that is not a comment."""
    start = next(source.chunks(_START), b"").decode("utf-8", "replace").removeprefix("\ufeff")
    first = next((line.strip().lower() for line in start.splitlines() if line.strip() and line[0] != "#"), "")
    return first.startswith(_MARKS)


def read_tsf(source: Source, config: DataConfig, report: Report) -> pd.DataFrame:
    """One row per series and step, with the columns item_id, timestamp, target, and the attributes that are declared.

    Args:
        source: the file.
        config: which attributes are covariates or categories.
        report: called with what is left out or changed.

    Raises:
        DataError: what is wrong with the file, and in which line.
    """
    try:
        header, lines = _parse(source, "utf-8")
    except NotUtf8Error:
        encoding = assumed_encoding(source)
        message = f"{source.label} is not UTF-8; it is read as {ASSUMED.get(encoding, encoding)} ({encoding})"
        report(Finding("FA105", "note", message, "save the file as UTF-8 if letters look wrong"))
        header, lines = _parse(source, encoding)
    if not lines:
        raise DataError(f"{source.label} has no series below @data", "add lines such as T1:2024-01-01 00-00-00:1.5,2.5")
    lengths = np.array([len(each.numbers) for each in lines])
    kinds = dict(header.attributes)
    item_ids = _names(lines, [name for name, kind in kinds.items() if kind != "date"])
    stamps = _stamps(lines, header, next((name for name, kind in kinds.items() if kind == "date"), None), report)
    columns: dict[str, Any] = {
        LONG_ID: _repeated(item_ids, lengths),
        LONG_TIME: stamps,
        LONG_TARGET: np.concatenate([each.numbers for each in lines]),
    }
    used = set(item_ids)
    declared = {*config.static_covariates, *config.categorical, *config.ignore, config.weight}
    for name, kind in kinds.items():
        texts = [each.values[name] for each in lines]
        if name in declared:
            is_number = kind == "numeric"
            columns[name] = (
                np.repeat(_attribute(name, lines, source.label), lengths) if is_number else _repeated(texts, lengths)
            )
        elif kind != "date" and not set(texts) <= used:
            hint = f"{option_for('static', name)} if it tells the series apart"
            report(Finding("FA104", "note", f"attribute '{name}' is left out", hint, column=name))
    rows = np.repeat([each.line - 1 for each in lines], lengths)  # data rows are counted below a header line
    return pd.DataFrame(columns, index=pd.Index(rows, name=LAYOUT_ROWS), copy=False)


# --------------------------------------------------------------------------- lines


def _parse(source: Source, encoding: str) -> tuple[_Header, list[_Line]]:
    header, lines, is_data = _Header(), [], False
    for number, text in enumerate(_text_lines(source, encoding), 1):
        line = text.strip()
        if not line or line.startswith("#"):
            continue
        if is_data:
            lines.append(_series(line, number, header, source.label))
            continue
        word, _, rest = line.partition(" ")
        if word.lower() == "@data":
            is_data = True
        elif word.lower() == "@attribute":
            name, _, kind = rest.strip().rpartition(" ")
            header.attributes.append((name.strip(), kind.strip().lower()))
        elif word.lower() == "@frequency":
            header.frequency = rest.strip().lower()
    return header, lines


def _text_lines(source: Source, encoding: str) -> Iterator[str]:
    rest = b""
    for chunk in as_utf8(source.chunks(), encoding, source.label, assumed=True):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line.decode() for line in lines)
    yield rest.decode()


def _series(line: str, number: int, header: _Header, label: str) -> _Line:
    parts = line.split(":")
    if len(parts) != len(header.attributes) + 1:
        raise DataError(
            f"{label}: line {number} has {len(parts) - 1} attributes before its values; expected "
            f"{len(header.attributes)}, as @attribute lists",
            "separate attributes by ':' and values by ','",
            code="FA106",
            row=number,
        )
    cells = [cell.strip() for cell in parts[-1].split(",")]
    numbers, bad = _numbers(cells)
    if bad is not None:
        raise _no_number(f"{label}: value {bad + 1} in", number, cells[bad])
    values = {name: part.strip() for (name, _), part in zip(header.attributes, parts, strict=False)}
    return _Line(number, values, numbers.astype(np.float64))


def _attribute(name: str, lines: list[_Line], label: str) -> NDArray[Any]:
    """The values of an attribute of numbers (num_lines,).

    Raises:
        DataError: one is no number.
    """
    texts = [each.values[name] for each in lines]
    numbers, bad = _numbers(texts)
    if bad is not None:
        raise _no_number(f"{label}: attribute '{name}' of", lines[bad].line, texts[bad])
    return numbers


def _numbers(cells: list[str]) -> tuple[NDArray[Any], int | None]:
    """The numbers in cells, NaN where they hold `?` or nothing; and the index of the first cell that holds none."""
    numbers = np.asarray(pd.to_numeric(["nan" if cell in ("?", "") else cell for cell in cells], errors="coerce"))
    bad = (int(at) for at in np.flatnonzero(np.isnan(numbers)) if cells[at].lower() not in ("?", "", "nan"))
    return numbers, next(bad, None)


def _no_number(what: str, line: int, cell: str) -> DataError:
    message = f"{what} line {line} is '{cell}'; expected a number or '?'"
    return DataError(message, "correct it", code="FA103", row=line, value=cell)


def _names(lines: list[_Line], attributes: list[str]) -> list[str]:
    """The first attribute that differs in every line, else all of them joined, else numbers of the lines."""
    for name in attributes:
        texts = [each.values[name] for each in lines]
        if len(set(texts)) == len(texts):
            return texts
    joined = ["/".join(each.values[name] for name in attributes) for each in lines]
    return joined if len(set(joined)) == len(joined) else [f"T{index}" for index in range(1, len(lines) + 1)]


def _repeated(texts: list[str], lengths: NDArray[np.int64]) -> pd.Categorical:
    codes, names = pd.factorize(np.array(texts, dtype=object))
    return pd.Categorical.from_codes(np.repeat(codes, lengths), categories=pd.Index(names, dtype="str"))


# --------------------------------------------------------------------------- stamps


def _stamps(lines: list[_Line], header: _Header, start: str | None, report: Report) -> Stamps:
    """The stamp of every value: from each series' start, or steps from 1 where there is none or no step is known."""
    alias = _alias(header.frequency)
    steps = np.concatenate([np.arange(1, len(each.numbers) + 1) for each in lines])
    if alias is None or start is None:
        if header.frequency is not None and start is not None:
            message = f"@frequency {header.frequency} is no step: the values are counted from 1"
            report(Finding("FA213", "note", message))
        return steps
    texts = [re.sub(r"(\d)-(\d\d)-(\d\d)$", r"\1:\2:\3", each.values[start]) for each in lines]
    starts = pd.to_datetime(pd.Series(texts), errors="coerce", format="ISO8601").to_numpy("datetime64[s]")
    ends = [begin + _span(alias, len(each.numbers)) for begin, each in zip(starts, lines, strict=True)]
    if np.isnat(starts).any() or min(starts) < np.datetime64("1678-01-01") or max(ends) > np.datetime64("2261-12-31"):
        message = "starts of series are missing, or lead beyond the years 1678 to 2261: their values are counted from 1"
        report(Finding("FA213", "note", message))
        return steps
    anchored = _anchored(starts, alias)
    if (anchored != starts).any():
        index = int(np.argmax(anchored != starts))
        moved = f"{texts[index]} of line {lines[index].line} is read as {pd.Timestamp(anchored[index]):%Y-%m-%d}"
        message = f"{int((anchored != starts).sum())} starts are no first days of a {header.frequency} step: {moved}"
        report(Finding("FA213", "note", message))
    frequency = parse_frequency(alias)
    parts: Iterable[Stamps] = (
        np.concatenate(([begin], frequency.stamps_after(begin, len(each.numbers) - 1)))
        if split_alias(alias)[1] in MONTH_UNITS
        else begin + np.arange(len(each.numbers)) * np.timedelta64(_nanoseconds(alias), "ns")
        for begin, each in zip(anchored.astype("datetime64[ns]"), lines, strict=True)
    )
    return np.concatenate(list(parts))


def _alias(frequency: str | None) -> str | None:
    """`10_minutes`, `half_hourly`, `monthly` as an alias; None for other names."""
    if frequency is None:
        return None
    if frequency in _ALIASES:
        return _ALIASES[frequency]
    match = re.fullmatch(r"(?:(\d+)_)?([a-z]+?)(?:s|ly)?", frequency)
    number, unit = (match[1] or "", _ALIASES.get(match[2])) if match else ("", None)
    if unit is None or (number not in ("", "1") and unit == "W-MON"):
        return None
    try:
        return parse_frequency(f"{number}{unit}").alias
    except ConfigError:  # no step, or one of more than a century
        return None


def _nanoseconds(alias: str) -> int:
    number, unit, _ = split_alias(alias)
    return number * UNITS[unit]


def _span(alias: str, steps: int) -> np.timedelta64:
    number, unit, _ = split_alias(alias)
    days = number * MONTH_UNITS[unit] * 31 if unit in MONTH_UNITS else -(-number * UNITS[unit] // UNITS["D"])
    return np.timedelta64(min(days * steps, 10**9), "D")


def _anchored(starts: NDArray[np.datetime64], alias: str) -> NDArray[np.datetime64]:
    """Starts of months and longer as the first day of their month, quarter or year; of weeks as their Monday."""
    _, unit, _ = split_alias(alias)
    if unit in MONTH_UNITS:
        months = starts.astype("datetime64[M]").astype(np.int64)
        length = MONTH_UNITS[unit] if unit != "MS" else 1
        return (months // length * length).astype("datetime64[M]").astype("datetime64[s]")
    if unit == "W":
        return (starts.astype("datetime64[D]") - weekday(starts)).astype("datetime64[s]")
    return starts
