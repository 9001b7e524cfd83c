"""Reads a CSV block by block and assembles typed columns.

Arrow parses the numbers; each distinct text is stored once. The plan of the first rows may prove too narrow: then the
file is read again with a wider one.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import LINES_ABOVE, Finding, Report, option_for, quoted
from forecast_attn.data.reading.cell_numbers import MISSING_WORDS, bare_number, find_decimal
from forecast_attn.data.reading.dialect import Plan, TextOptions, assumed_encoding, first_plan
from forecast_attn.data.reading.encoding import ASSUMED, NotUtf8Error, as_utf8
from forecast_attn.data.reading.extra_lines import COMMENT_MARKS, without_extra_lines
from forecast_attn.data.reading.records import Block, Layout, read_records, rewrite, split_blocks
from forecast_attn.data.reading.source import CHUNK, Progress, Source
from forecast_attn.data.reading.text_columns import Texts, finish_text, stripped
from forecast_attn.errors import DataError

KINDS = {
    "empty": pa.null(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "text": pa.dictionary(pa.int32(), pa.string()),
}
"""Kinds of columns, each wider than the one before."""
_WIDTHS = list(KINDS)
SHARE = 1 << 20
"""Bytes that one thread converts at once, at least `SHARE_OF_COLUMN` of them for each column."""
SHARE_OF_COLUMN = 1000
MOST_AT_ONCE = 1 << 26
"""Bytes of a block at most, however many columns a table has: each block costs something for each of them."""
MANY_COLUMNS = 1000
"""Columns from which a frame holds its numbers in few arrays, though they are copied for it."""
MOST_CELLS = 1000
"""Distinct cells of a column among which a decimal comma is looked for."""
_COLUMN_ERROR = re.compile(r"In CSV column #\d+")


class _ReadAgainError(Exception):
    """The plan does not fit the file: read again with a wider one."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan


def read_delimited(source: Source, config: DataConfig, progress: Progress | None, report: Report) -> pd.DataFrame:
    """Read text with one header line.

    Args:
        source: the file.
        config: delimiter, decimal mark and encoding where they are given, and the names of identifiers.
        progress: called after every block.
        report: called when the encoding is assumed.

    Raises:
        ConfigError: an impossible delimiter, decimal mark or encoding.
        DataError: what is wrong with the file, and in which row.
    """
    options = TextOptions.of(config)
    if source.frames is None:
        return _read_by_plan(source, options, progress, report)
    kept: tuple[pd.DataFrame, list[Finding]] | None = source.frames.get(options)
    if kept is None:
        findings: list[Finding] = []
        kept = _read_by_plan(source, options, progress, findings.append), findings
        source.frames.clear()
        source.frames[options] = kept
    for finding in kept[1]:
        report(finding)
    return kept[0].copy(deep=False)


def _read_by_plan(source: Source, options: TextOptions, progress: Progress | None, report: Report) -> pd.DataFrame:
    plan = first_plan(source, options)
    while True:
        try:
            frame = _read(source, plan, progress, report)
        except NotUtf8Error:
            plan = replace(plan, encoding=assumed_encoding(source))
        except _ReadAgainError as changed:
            plan = changed.plan
        else:
            break
    if plan.encoding_is_assumed and plan.encoding in ASSUMED:
        message = f"{source.label} is not UTF-8; it is read as {ASSUMED[plan.encoding]} ({plan.encoding})"
        report(
            Finding(
                "FA105",
                "note",
                message,
                "--encoding NAME if letters look wrong, such as cp1250 or gb18030",
                options=("encoding",),
            )
        )
    return frame


# --------------------------------------------------------------------------- reading


def _read(source: Source, plan: Plan, progress: Progress | None, report: Report) -> pd.DataFrame:
    columns = _Columns(source.label, plan)
    size = min(max(CHUNK, SHARE_OF_COLUMN * len(plan.names)), MOST_AT_ONCE)
    read = source.chunks(size, progress)
    chunks = as_utf8(read, plan.encoding, source.label, assumed=plan.encoding_is_assumed)
    rows = without_extra_lines(chunks, plan.extra_lines)
    for block in split_blocks(rows, columns.layout, columns.so_far):
        columns.add(block)
    if not columns.num_rows:
        raise DataError(f"{source.label} has no rows", "add rows of data below the header")
    frame = columns.to_frame()
    if plan.ends_early:
        message = f"{source.label} has rows that end before its header does: they have no value in the columns behind"
        report(Finding("FA111", "note", message))
    if plan.renamed:
        message = f"{source.label} has columns of one name: all but the first are read as {quoted(list(plan.renamed))}"
        report(Finding("FA112", "note", message, "give every column its own name", column=plan.renamed[0]))
    for name, (cell, number) in columns.bare.items():
        message = f"column '{name}' is read as numbers without the signs in its cells: {cell!r} is {number}"
        hint = f"{option_for('ignore', name)} if they are none"
        report(Finding("FA109", "note", message, hint, column=name, options=("ignore",)))
    return frame


class _Columns:
    """The columns read so far, in Arrow's chunks."""

    def __init__(self, label: str, plan: Plan) -> None:
        self.plan = plan
        mark = next((mark for mark in COMMENT_MARKS if plan.names[0].startswith(mark)), None)
        self.layout = Layout(label, plan.delimiter, len(plan.names), plan.lines_above, mark, plan.ends_early)
        self._lines_above = plan.lines_above
        """Lines above the first row, as long as every row so far is one line."""
        self.num_rows = 0
        self._kinds = ["text" if name in plan.texts | plan.texts_by_content else "empty" for name in plan.names]
        self._columns = [Collected() for _ in plan.names]
        self._has_blank_lines = False
        self.bare: dict[str, tuple[str, str]] = {}
        """Columns whose numbers were freed of signs and units -> a cell, and the number in it."""

    def add(self, block: Block) -> None:
        """Convert a block and keep its columns."""
        try:
            table = self._without_blank_lines(block, self._convert(block))
        except pa.ArrowInvalid:  # not as wide as the header, or longer than a block: read record by record
            if not block.plain:
                raise
            layout = replace(self.layout, lines_above=self._lines_above)
            for again in rewrite(read_records([block.data], layout, self.num_rows + 1)):
                self.add(again)
            return
        if not block.plain or block.blank_above_header or self._has_blank_lines:
            self._lines_above = None
        for collected, column in zip(self._columns, table.columns, strict=True):
            for chunk in column.chunks:
                collected.append(chunk)
        self.num_rows += table.num_rows

    def so_far(self) -> tuple[int, int | None]:
        """The number of rows, and the lines above the first one where every row is one line."""
        return self.num_rows, self._lines_above

    def to_frame(self) -> pd.DataFrame:
        """All rows as a frame."""
        cells = {
            name: self._finish(name, collected) for name, collected in zip(self.plan.names, self._columns, strict=True)
        }
        self._reconsider_decimal({name: column for name, column in cells.items() if isinstance(column, Texts)})
        columns = {
            name: column.to_categorical() if isinstance(column, Texts) else column for name, column in cells.items()
        }
        frame = frame_of_columns(columns)
        frame.attrs[LINES_ABOVE] = self._lines_above
        return frame

    def _convert(self, block: Block) -> pa.Table:
        """Convert the block to the columns' kinds, widening them where needed."""
        if "empty" in self._kinds:
            self._widen(_first_rows(block))
        try:
            return self._parse(block, [KINDS[kind] for kind in self._kinds])
        except pa.ArrowInvalid as error:
            if not _COLUMN_ERROR.match(str(error)):
                raise
        self._widen(block)
        return self._parse(block, [KINDS[kind] for kind in self._kinds])

    def _without_blank_lines(self, block: Block, table: pa.Table) -> pa.Table:
        """The table without the rows of nulls that Arrow makes of blank lines: they cost no search that way."""
        if not block.plain or self._has_blank_lines or not all(map(_has_empty_cells, table.columns)):
            return table
        self._has_blank_lines = True
        rows = self._convert(block)
        self._has_blank_lines = rows.num_rows < table.num_rows
        return rows

    def _widen(self, block: Block) -> None:
        """Make every column's kind wide enough for a block."""
        table = self._parse(block, [KINDS[kind] if kind == "text" else None for kind in self._kinds], in_one=True)
        kinds = [_kind(column.type) for column in table.columns]
        wider = [max(pair, key=_WIDTHS.index) for pair in zip(self._kinds, kinds, strict=True)]
        late = frozenset(
            name
            for name, old, new in zip(self.plan.names, self._kinds, wider, strict=True)
            if new == "text" and old in ("whole", "number")
        )
        if late and self.num_rows:  # the text of its earlier cells is lost
            raise _ReadAgainError(replace(self.plan, texts_by_content=self.plan.texts_by_content | late))
        self._kinds = wider

    def _parse(self, block: Block, kinds: list[pa.DataType | None], *, in_one: bool = False) -> pa.Table:
        names = [str(index) for index in range(self.layout.width)]
        size = len(block.data) + 1
        # Plain blocks are shared by the threads; what was written anew may have line feeds within cells.
        share = max(SHARE, SHARE_OF_COLUMN * self.layout.width) if block.plain and not in_one else size
        return pa_csv.read_csv(
            pa.BufferReader(block.data),
            read_options=pa_csv.ReadOptions(column_names=names, block_size=min(size, share), use_threads=size > share),
            parse_options=pa_csv.ParseOptions(
                delimiter=block.delimiter,
                newlines_in_values=not block.plain,
                ignore_empty_lines=not block.plain or self._has_blank_lines,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types={name: kind for name, kind in zip(names, kinds, strict=True) if kind is not None},
                null_values=[*MISSING_WORDS, *self.plan.na],
                strings_can_be_null=not self.plan.identifiers,
                decimal_point=self.plan.decimal,
                check_utf8=False,
            ),
        )

    def _finish(self, name: str, collected: Collected) -> NDArray[Any] | Texts:
        cells = collected.finish()
        if not isinstance(cells, Texts):
            return cells
        missing = [word for word in MISSING_WORDS if word != "NA" or name not in self.plan.identifiers]
        texts = stripped(cells, (*missing, *self.plan.na))
        if name in self.plan.texts:
            return texts
        column, example = finish_text(texts, self.plan.decimal, grouped=self.plan.decimal_is_given)
        if example is not None:
            self.bare[name] = example
        return column

    def _reconsider_decimal(self, columns: dict[str, Texts]) -> None:
        """Start again with a decimal comma when only later rows contain one."""
        if self.plan.decimal_is_known or "number" in self._kinds:
            return
        cells = {name: _decisive_cells(texts) for name, texts in columns.items() if name not in self.plan.texts}
        if find_decimal(cells, self.layout.label) == ",":
            raise _ReadAgainError(replace(self.plan, decimal=",", decimal_is_known=True))


def _first_rows(block: Block) -> Block:
    """Rows that show the kinds of most columns: those that begin in the first CHUNK bytes of plain text."""
    end = block.data.find(b"\n", CHUNK) + 1 if block.plain else 0
    return replace(block, data=block.data[:end]) if end else block


def frame_of_columns(columns: dict[str, Any]) -> pd.DataFrame:
    """The columns as a frame; the numbers of many of them in one array for each type: pandas works on each array."""
    if len(columns) < MANY_COLUMNS:
        return pd.DataFrame(columns, copy=False)
    names: dict[Any, list[str]] = {}
    for name, column in columns.items():
        names.setdefault(column.dtype if isinstance(column, np.ndarray) else None, []).append(name)
    texts = pd.DataFrame({name: columns[name] for name in names.pop(None, [])}, copy=False)
    numbers = [pd.DataFrame(np.stack([columns[name] for name in some]).T, columns=some) for some in names.values()]
    return pd.concat([texts, *numbers], axis="columns")[list(columns)]


def _decisive_cells(texts: Texts) -> list[str]:
    """Sample of a column's distinct cells that can decide the decimal mark."""
    with_comma = texts.distinct.filter(pc.match_substring(texts.distinct, ","))
    return [bare_number(cell) for part in (texts.distinct, with_comma) for cell in part[:MOST_CELLS].to_pylist()]


def _has_empty_cells(column: pa.ChunkedArray) -> bool:
    """Return whether a column has nulls, or empty texts, which are no nulls where `NA` may be a name."""
    if not pa.types.is_dictionary(column.type):
        return bool(column.null_count)
    return bool(column.null_count) or any(pc.any(pc.equal(chunk.dictionary, "")).as_py() for chunk in column.chunks)


def _kind(arrow_type: pa.DataType) -> str:
    """Kind of a column, from its Arrow type."""
    return next((kind for kind in _WIDTHS if KINDS[kind] == arrow_type), "text")


# --------------------------------------------------------------------------- collected
# Cells of one column as they are read, in one array that grows.


class Collected:
    """One column, collected block by block. Its array doubles when it is full; untouched memory is not allocated.

    Text is kept as codes into each block's own dictionary; `finish` merges the dictionaries.
    """

    def __init__(self) -> None:
        self._values: NDArray[Any] | None = None
        self._length = 0
        self._texts: list[tuple[int, pa.Array]] = []
        """First row of each block of codes, and the block's texts."""

    def append(self, chunk: pa.Array) -> None:
        """Add cells: nothing but nulls, int64, float64, or text with its dictionary."""
        if not pa.types.is_null(chunk.type):
            self._write(self._numbers(chunk))
        self._length += len(chunk)

    def finish(self) -> NDArray[Any] | Texts:
        """All cells (num_rows,): int64 when whole and none is missing, float64, or text."""
        if self._values is None:
            return np.full(self._length, np.nan)
        values = self._values[: self._length]
        return self._merged(values) if self._texts else values

    def _numbers(self, chunk: pa.Array) -> NDArray[Any]:
        if pa.types.is_dictionary(chunk.type):
            self._texts.append((self._length, chunk.dictionary))
            chunk = chunk.indices.fill_null(-1)
        return np.asarray(chunk.to_numpy(zero_copy_only=False))  # float64 when whole numbers have nulls

    def _write(self, part: NDArray[Any]) -> None:
        end = self._length + len(part)
        if self._values is None:  # what came before was empty
            dtype = np.float64 if self._length and part.dtype == np.int64 else part.dtype
            self._values = np.empty(end, dtype)
            if self._length:
                self._values[: self._length] = -1 if dtype == np.int32 else np.nan
        if self._values.dtype == np.int64 and part.dtype == np.float64:
            self._values = self._values.astype(np.float64)
        if end > len(self._values):
            larger = np.empty(max(end, 2 * len(self._values)), self._values.dtype)
            larger[: self._length] = self._values[: self._length]
            self._values = larger
        self._values[self._length : end] = part

    def _merged(self, codes: NDArray[np.int32]) -> Texts:
        """All blocks' codes into one dictionary."""
        texts = pa.concat_arrays([texts.cast(pa.large_string()) for _, texts in self._texts]).dictionary_encode()
        common = texts.indices.to_numpy()
        ends = [start for start, _ in self._texts[1:]] + [len(codes)]
        offset = 0
        for (start, block), end in zip(self._texts, ends, strict=True):
            lookup = np.append(common[offset : offset + len(block)], -1).astype(np.int32)
            codes[start:end] = lookup[codes[start:end]]
            offset += len(block)
        self._texts = []
        return Texts(codes, texts.dictionary)
