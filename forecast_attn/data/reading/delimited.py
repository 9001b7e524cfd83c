"""Reads a CSV, block by block: numbers by Arrow, text kept once per distinct cell."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv

from forecast_attn.config import DataConfig
from forecast_attn.data.problems import Finding, Report
from forecast_attn.data.reading.arrow import Column
from forecast_attn.data.reading.collected import Collected
from forecast_attn.data.reading.dialect import without_naming_line
from forecast_attn.data.reading.encoding import WESTERN, NotUtf8Error, as_utf8
from forecast_attn.data.reading.numbers import MISSING_WORDS, find_decimal
from forecast_attn.data.reading.plan import Plan, first_plan, western_encoding
from forecast_attn.data.reading.records import Block, Layout, read_records, rewrite, split_blocks
from forecast_attn.data.reading.source import Progress, Source
from forecast_attn.data.reading.texts import finish_text, stripped
from forecast_attn.errors import DataError

KINDS = {
    "empty": pa.null(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "text": pa.dictionary(pa.int32(), pa.string()),
}
"""What a column can be, each wider than the one before."""
_WIDTHS = list(KINDS)
SHARE = 1 << 20
"""Bytes that one thread converts at once."""
MOST_CELLS = 1000
_COLUMN_ERROR = re.compile(r"In CSV column #\d+")


class _ReadAgainError(Exception):
    """The plan was wrong: read again."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan


def read_delimited(source: Source, config: DataConfig, progress: Progress | None, report: Report) -> pd.DataFrame:
    """Read text with one header line.

    Args:
        source: the file.
        config: delimiter, decimal mark and encoding where they are given, and the names of identifiers.
        progress: called after every block.
        report: told when the encoding is assumed.

    Raises:
        ConfigError: an impossible delimiter, decimal mark or encoding.
        DataError: what is wrong with the file, and in which row.
    """
    plan = first_plan(source, config)
    while True:
        try:
            frame = _read(source, plan, progress)
        except NotUtf8Error:
            plan = replace(plan, encoding=western_encoding(source))
        except _ReadAgainError as changed:
            plan = changed.plan
        else:
            break
    if plan.encoding_is_assumed and plan.encoding == WESTERN:
        message = f"{source.label} is not UTF-8; it is read as Latin-1 ({WESTERN})"
        report(Finding("FA105", "note", message, "--encoding NAME if letters look wrong"))
    return frame


# --------------------------------------------------------------------------- reading


def _read(source: Source, plan: Plan, progress: Progress | None) -> pd.DataFrame:
    columns = _Columns(source.label, plan)
    chunks = as_utf8(source.chunks(progress=progress), plan.encoding, source.label, assumed=plan.encoding_is_assumed)
    for block in split_blocks(without_naming_line(chunks), columns.layout, lambda: columns.num_rows):
        columns.add(block)
    if not columns.num_rows:
        raise DataError(f"{source.label} has a header and no rows", "add rows of data below the header")
    return columns.to_frame()


class _Columns:
    """The columns read so far, in Arrow's chunks."""

    def __init__(self, label: str, plan: Plan) -> None:
        self.plan = plan
        self.layout = Layout(label, plan.delimiter, len(plan.names))
        self.num_rows = 0
        self._kinds = ["text" if name in plan.texts | plan.texts_by_content else "empty" for name in plan.names]
        self._columns = [Collected() for _ in plan.names]

    def add(self, block: Block) -> None:
        """Convert a block and keep its columns."""
        try:
            table = self._convert(block)
        except pa.ArrowInvalid:  # not as wide as the header, or longer than a block: read record by record
            if not block.plain:
                raise
            for again in rewrite(read_records([block.data], self.layout, self.num_rows + 1)):
                self.add(again)
            return
        for collected, column in zip(self._columns, table.columns, strict=True):
            for chunk in column.chunks:
                collected.append(chunk)
        self.num_rows += table.num_rows

    def to_frame(self) -> pd.DataFrame:
        """All rows as a frame."""
        columns = {name: self._finish(name, found) for name, found in zip(self.plan.names, self._columns, strict=True)}
        self._reconsider_decimal(columns)
        return pd.DataFrame(columns, copy=False)

    def _convert(self, block: Block) -> pa.Table:
        """The block as a table of the columns' kinds, which are widened where it needs them to be."""
        if "empty" in self._kinds:
            self._widen(block)
        try:
            return self._parse(block, [KINDS[kind] for kind in self._kinds])
        except pa.ArrowInvalid as error:
            if not _COLUMN_ERROR.match(str(error)):
                raise
        self._widen(block)
        return self._parse(block, [KINDS[kind] for kind in self._kinds])

    def _widen(self, block: Block) -> None:
        """Make every column's kind wide enough for a block."""
        table = self._parse(block, [KINDS[kind] if kind == "text" else None for kind in self._kinds], in_one=True)
        found = [_kind(column.type) for column in table.columns]
        wider = [max(pair, key=_WIDTHS.index) for pair in zip(self._kinds, found, strict=True)]
        late = frozenset(
            name
            for name, old, new in zip(self.plan.names, self._kinds, wider, strict=True)
            if new == "text" and old in ("whole", "number")
        )
        if late and self.num_rows:  # the spelling of its earlier cells is lost
            raise _ReadAgainError(replace(self.plan, texts_by_content=self.plan.texts_by_content | late))
        self._kinds = wider

    def _parse(self, block: Block, kinds: list[pa.DataType | None], *, in_one: bool = False) -> pa.Table:
        names = [str(at) for at in range(self.layout.width)]
        size = len(block.data) + 1
        # Plain blocks are shared by the threads; what was written anew may have line feeds within cells.
        shared = block.plain and not in_one
        return pa_csv.read_csv(
            pa.BufferReader(block.data),
            read_options=pa_csv.ReadOptions(column_names=names, block_size=min(size, SHARE) if shared else size),
            parse_options=pa_csv.ParseOptions(delimiter=block.delimiter, newlines_in_values=not block.plain),
            convert_options=pa_csv.ConvertOptions(
                column_types={name: kind for name, kind in zip(names, kinds, strict=True) if kind is not None},
                null_values=MISSING_WORDS,
                strings_can_be_null=True,
                decimal_point=self.plan.decimal,
                check_utf8=False,
            ),
        )

    def _finish(self, name: str, collected: Collected) -> Column:
        column = collected.finish()
        if isinstance(column, pd.Categorical):
            identifier = name in self.plan.texts
            return (
                stripped(column)
                if identifier
                else finish_text(column, self.plan.decimal, grouped=self.plan.decimal_is_given)
            )
        return column

    def _reconsider_decimal(self, columns: dict[str, Column]) -> None:
        """Read again with a decimal comma when only rows behind the first ones have one."""
        if self.plan.decimal_is_known or "number" in self._kinds:
            return
        texts = {name: column.categories for name, column in columns.items() if isinstance(column, pd.Categorical)}
        cells = {name: _telling(found) for name, found in texts.items() if name not in self.plan.texts}
        if find_decimal(cells, self.layout.label) == ",":
            raise _ReadAgainError(replace(self.plan, decimal=",", decimal_is_known=True))


def _telling(cells: pd.Index) -> list[str]:
    """Some of the distinct cells of a column, and some of those with a comma."""
    return [*cells[:MOST_CELLS], *cells[cells.str.contains(",", regex=False)][:MOST_CELLS]]


def _kind(found: pa.DataType) -> str:
    """The kind of a column by the type that Arrow sees in it."""
    return next((kind for kind in _WIDTHS if KINDS[kind] == found), "text")
