"""The repairs of `forecast check --fix`: those that an option chose, and those that need no choice.

The table is written as training sees it: UTF-8, commas, decimal points, ISO stamps, sorted, complete. What cannot be
repaired without a choice stays an error, and then nothing is written.
"""

from __future__ import annotations

import codecs
import csv
import io
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.checking.examination import CheckReport, Examination, examine
from forecast_attn.config.options import DataConfig
from forecast_attn.config.values import names_text
from forecast_attn.data.cells import Cells
from forecast_attn.data.cleaning import rows_that_stay
from forecast_attn.data.csv_text import csv_text
from forecast_attn.data.findings import Repair, quoted, row_and_line, with_line_numbers
from forecast_attn.data.panel import ARRAYS, Panel, panel_to_frame
from forecast_attn.data.reading.columnar import TEXT_OPTIONS
from forecast_attn.data.reading.dialect import Plan, TextOptions, assumed_encoding, first_plan, is_blank
from forecast_attn.data.reading.encoding import NotUtf8Error, as_utf8
from forecast_attn.data.reading.extra_lines import naming_line, without_extra_lines
from forecast_attn.data.reading.positions import LAYOUT_ROWS, WIDE_ROWS, file_positions
from forecast_attn.data.reading.source import TEXT_KINDS, Source
from forecast_attn.data.roles import Roles
from forecast_attn.errors import ConfigError, DataError

LAYOUT_OPTIONS = ("wide", "layout", "sheet")
SETTLED = (
    *(*TEXT_OPTIONS, *LAYOUT_OPTIONS, "na", "date_format", "duplicates", "undated_rows"),
    *("resample", "aggregate", "partial_steps"),
)
"""Options that say how the original is read, which the repaired table no longer needs."""
NOT_KEPT = ("index without a name", "numbers of rows", "differs in every row", "empty")
"""Reasons for which a column without a role is not written: it would be none, or another, beside added rows."""


@dataclass(frozen=True)
class Fixed:
    """A table that can be trained on."""

    csv: str
    repairs: tuple[Repair, ...]
    """Everything in which it differs from the original."""
    report: CheckReport
    """Report of the check on it."""


def fix_table(table: Path | str | pd.DataFrame, config: DataConfig) -> tuple[CheckReport, Fixed | None]:
    """Repair a table.

    Args:
        table: a file, `-` for standard input, or a DataFrame.
        config: the options it would be trained with; --duplicates and --missing choose repairs.

    Returns:
        The check of the original, without its rows that have no value; and the repaired table, None while an error
        is left that no option chose a repair for.

    Raises:
        ConfigError: the options contradict each other.
    """
    original = examine(table, config)
    is_long = not config.wide and config.layout == "long"
    dropped = _rows_of_nothing(original) if is_long else np.empty(0, np.int64)
    repaired = examine(_without(original, dropped), config_after_reading(config)) if len(dropped) else original
    report = _without_findings(original, dropped).to_report() if repaired.has_errors else repaired.to_report()
    if repaired.has_errors or repaired.panel is None:
        return report, None
    rows = _source_rows(repaired, config.duplicates)
    clean = _clean_frame(repaired, rows, has_merged_rows=config.resample is not None)
    text = csv_text(clean)
    repairs = (
        *_form_repairs(table, config),
        *_row_repairs(original.frame, original, repaired, dropped, clean, rows),
        *repaired.panel.repairs,
    )
    left = config_of_fixed(config, repaired.panel, tuple(map(str, clean.columns)))
    return report, Fixed(text, repairs, _checked(text, original.path, repaired.panel, left))


def config_after_reading(config: DataConfig) -> DataConfig:
    """The options for a table that has been read already: a frame is neither wide nor delimited."""
    defaults = DataConfig()
    return replace(config, **{name: getattr(defaults, name) for name in (*TEXT_OPTIONS, *LAYOUT_OPTIONS)})


def config_of_fixed(config: DataConfig, panel: Panel, columns: tuple[str, ...]) -> DataConfig:
    """The options that a repaired table still needs: those about meaning, not about reading.

    No cell can be filled with "masked" or "an unknown category": those stay empty, and --missing stays needed. Days on
    which a market was closed stay absent, and are gaps under --missing error alone.
    """
    defaults = DataConfig()
    stay_empty = any(repair.kind in ("missing: masked", "missing: unknown category") for repair in panel.repairs)
    ignore = tuple(name for name in config.ignore if name in columns)
    has_closed_days = panel.frequency.sessions is not None
    missing = config.missing if stay_empty or has_closed_days else "error"
    return replace(config, **{name: getattr(defaults, name) for name in SETTLED}, missing=missing, ignore=ignore)


# --------------------------------------------------------------------------- rows of nothing


def _rows_of_nothing(examination: Examination) -> NDArray[np.int64]:
    """Data rows, from 1, with neither stamp nor target, or only a stamp after the last known target of their series."""
    if examination.frame is None:
        return np.empty(0, np.int64)
    roles = examination.roles
    needed = examination.frame if roles is None else examination.frame[[roles.time, roles.target]]
    empty = np.flatnonzero(needed.isna().all(axis=1).to_numpy()) + 1
    if examination.cells is None or roles is None:
        return np.asarray(empty, np.int64)
    return np.union1d(empty, _rows_after_the_end(examination.cells, roles)).astype(np.int64)


def _rows_after_the_end(cells: Cells, roles: Roles) -> NDArray[np.int64]:
    """Data rows after the last known target of their series in which no covariate is known either."""
    target = cells.columns[roles.target]
    positions = np.arange(len(target))
    last = np.maximum.reduceat(np.where(np.isnan(target), -1, positions), cells.starts[:-1])[cells.series]
    covariates = (*roles.past_covariates, *roles.future_covariates)
    unknown = [np.isnan(cells.columns[name]) for name in covariates]
    unknown += [cells.category_codes[name] < 0 for name in (*roles.past_categories, *roles.future_categories)]
    nothing = (last >= 0) & (positions > last) & np.all([np.ones(len(target), np.bool_), *unknown], axis=0)
    return np.asarray(cells.rows[nothing], np.int64)


def _without(examination: Examination, rows: NDArray[np.int64]) -> pd.DataFrame:
    assert examination.frame is not None
    kept = np.delete(np.arange(len(examination.frame)), rows - 1)
    return examination.frame.iloc[kept].reset_index(drop=True)


def _without_findings(examination: Examination, rows: NDArray[np.int64]) -> Examination:
    """Drop the findings about rows that a repair drops."""
    left = [finding for finding in examination.findings if finding.row is None or finding.row not in rows]
    return replace(examination, findings=left)


# --------------------------------------------------------------------------- the repaired table


def _clean_frame(examination: Examination, rows: NDArray[np.int64], *, has_merged_rows: bool) -> pd.DataFrame:
    """The panel as text and numbers, its columns in the order of the original, those without a role among them.

    Args:
        examination: of the table, without errors.
        rows: as `_source_rows`.
        has_merged_rows: a row stands for several ones, which each had a value in the columns without a role.
    """
    panel = examination.panel
    assert panel is not None
    frame = panel_to_frame(panel)
    frame[panel.roles.time] = panel.zone.text(panel.timestamps)
    for name in frame.columns:
        frame[name] = _whole(frame[name])
    kept = [] if has_merged_rows else _kept_columns(examination)
    for name in kept:
        frame[name] = pd.Series(_cells_at(examination.frame, name, rows), frame.index, dtype=object)
    assert examination.frame is not None
    order = {name: at for at, name in enumerate(map(str, examination.frame.columns))}
    return frame[sorted(frame.columns, key=lambda name: order.get(str(name), len(order)))]


def _was_made_long(examination: Examination) -> bool:
    """Return whether the frame's rows differ from those of the file, which held several series or steps each."""
    return examination.frame is not None and examination.frame.index.name in (WIDE_ROWS, LAYOUT_ROWS)


def _whole(column: pd.Series) -> pd.Series:
    """Numbers without a fraction as whole numbers: 5, not 5.0."""
    if column.dtype.kind != "f":
        return column
    values = column.to_numpy()
    known = values[~np.isnan(values)]
    whole = len(known) and (known == np.round(known)).all() and (np.abs(known) < 2**53).all()
    return column.astype("Int64") if whole else column


def _kept_columns(examination: Examination) -> list[str]:
    """Columns without a role that are written as they are."""
    assert examination.roles is not None
    if _was_made_long(examination):  # all that is left has a role
        return []
    return [name for name, reason in examination.roles.ignored.items() if reason not in NOT_KEPT]


def _source_rows(examination: Examination, duplicates: str) -> NDArray[np.int64]:
    """Position in the frame of the row that stays of each series and stamp, -1 for added rows (num_rows,)."""
    panel, cells, frame = examination.panel, examination.cells, examination.frame
    assert panel is not None
    assert cells is not None
    assert frame is not None
    kept = rows_that_stay(cells, duplicates)
    index = pd.MultiIndex.from_arrays([cells.series[kept], cells.stamps[kept]])
    at = index.get_indexer(pd.MultiIndex.from_arrays([panel.series_of_rows, panel.timestamps]))
    return np.append(np.searchsorted(file_positions(frame).rows(), cells.rows[kept]), -1)[at]


def _cells_at(frame: pd.DataFrame | None, name: str, rows: NDArray[np.int64]) -> list[object]:
    assert frame is not None
    cells = [*frame[name].astype(object).where(frame[name].notna(), None), None]
    return [cells[row] for row in rows]


def _checked(text: str, path: str, panel: Panel, config: DataConfig) -> CheckReport:
    """Check the repaired table, which must equal the repaired panel, with the options that it still needs.

    Raises:
        ConfigError: roles that were found in the original are not found in it.
        DataError: it cannot be written so that it reads as the same series.
    """
    written = Source("'the repaired table'", None, text.encode("utf-8"))
    again = examine(written, config)
    report = again.to_report()
    if report.errors or again.panel is None:
        first = report.errors[0]
        raise DataError(f"'{path}' cannot be repaired completely: {first.message}", first.fix, code=first.code)
    only_here = [name for name in panel.roles.future if name not in again.panel.roles.future]
    if only_here:
        raise ConfigError(
            f"only rows that the repair leaves out show that {quoted(only_here)} is known in advance",
            f"--future {names_text(only_here)}",
        )
    others = sorted({*panel.roles.varying} ^ {*again.panel.roles.varying})
    if others:
        raise ConfigError(
            f"{quoted(others)} would be read otherwise after the repair, which moves rows or leaves some out",
            f"--ignore {shlex.quote(names_text(others))}",
        )
    if not same_values(again.panel, panel):
        raise DataError(
            f"'{path}' would be read as different series after the repair",
            "name the columns with --time, --target and --id",
        )
    return report


def same_values(one: Panel, other: Panel) -> bool:
    """Return whether two panels hold the same values; a category of which the repair left no row may be absent."""
    categories = ("past_categories", "future_categories", "static_categories")
    return (
        one.item_ids == other.item_ids
        and all(
            np.array_equal(getattr(one, name), getattr(other, name), equal_nan=name != "timestamps") for name in ARRAYS
        )
        and all(_category_names(one, kind) == _category_names(other, kind) for kind in categories)
    )


def _category_names(panel: Panel, kind: str) -> dict[str, list[str | None]]:
    """The category of every row, None where it is missing, by column."""
    columns, codes = getattr(panel.roles, kind), getattr(panel, kind)
    return {
        name: np.array([*panel.categories[name], None], dtype=object)[codes[:, index]].tolist()
        for index, name in enumerate(columns)
    }


# --------------------------------------------------------------------------- what was done


def _repairs_of_options(config: DataConfig) -> Iterator[Repair]:
    if config.na:
        yield Repair(f"{quoted(list(config.na))}: no value")
    if config.undated_rows == "drop":
        yield Repair("rows without a time stamp: left out")
    if config.wide or config.layout != "long":
        yield Repair(f"{'wide' if config.wide else f'layout {config.layout}'}: one row per series and step")


def _form_repairs(table: Path | str | pd.DataFrame, config: DataConfig) -> Iterator[Repair]:
    """Changes of encoding, delimiter and decimal mark, where the file differs from the repaired one."""
    form = None if isinstance(table, pd.DataFrame) else text_form(table, config)
    yield from _repairs_of_options(config)
    if form is None:
        return
    if form.encoding != "utf-8":
        yield Repair(f"encoding: {form.encoding} to utf-8")
    if form.has_mark:
        yield Repair("byte order mark: removed")
    if form.names_delimiter:
        yield Repair("line that names the delimiter: removed")
    yield from _repairs_around_the_rows(config)
    if form.delimiter != ",":
        yield Repair(f"delimiter: {'tab' if form.delimiter == chr(9) else form.delimiter} to comma")
    if form.decimal != ".":
        yield Repair("decimal mark: comma to point")
    blanks = [name for name in form.header if name != name.strip()]
    if blanks:
        yield Repair("names: blanks removed", column=blanks[0].strip(), count=len(blanks))
    names = [name.strip() for name in form.header if name.strip()]
    if len({*names}) < len(names):
        yield Repair("names that stand before: numbered", count=len(names) - len({*names}))


def _repairs_around_the_rows(config: DataConfig) -> Iterator[Repair]:
    """Repairs of lines that are not rows, and of a missing header."""
    if config.skip_rows:
        yield Repair("lines above the header: removed", count=config.skip_rows)
    if config.comment is not None:
        yield Repair("comments: removed")
    if config.skip_footer:
        yield Repair("lines below the rows: removed", count=config.skip_footer)
    if not config.header:
        yield Repair("header: added")
    elif config.header_rows > 1:
        yield Repair("names in several lines: joined", count=config.header_rows)


@with_line_numbers
def _row_repairs(
    frame: pd.DataFrame | None,
    original: Examination,
    repaired: Examination,
    dropped: NDArray[np.int64],
    clean: pd.DataFrame,
    rows: NDArray[np.int64],
) -> list[Repair]:
    """Rows dropped and moved, stamps written anew, columns left out; `frame` is the table as it was read."""
    return list(_changes_of_rows(original, repaired, dropped, clean, rows))


def _changes_of_rows(
    original: Examination,
    repaired: Examination,
    dropped: NDArray[np.int64],
    clean: pd.DataFrame,
    rows: NDArray[np.int64],
) -> Iterator[Repair]:
    if len(dropped):
        yield Repair("rows without a value: dropped", count=len(dropped), first=row_and_line(int(dropped[0])))
    unsorted = next((finding.row for finding in original.findings if finding.code == "FA207"), None)
    if unsorted is not None:
        yield Repair("rows: sorted by series and time", first=row_and_line(unsorted))
    yield from _stamp_repairs(repaired, clean, rows)
    for finding in original.findings:
        if finding.code == "FA109":
            yield Repair("numbers: signs removed", column=finding.column)
    ignored = repaired.roles.ignored if repaired.roles is not None else {}
    for name, reason in {**_left_out_by_layout(original), **ignored}.items():
        if name not in clean:
            yield Repair(f"column left out: {reason}", column=name)


def _left_out_by_layout(original: Examination) -> dict[str, str]:
    """Column beside the steps of `--layout`, which the frame no longer holds -> why it was left out."""
    assert original.frame is not None
    left_out = (each for each in original.findings if each.code == "FA104" and each.column not in original.frame)
    return {str(each.column): each.message.rpartition(": ")[2] for each in left_out}


def _stamp_repairs(examination: Examination, clean: pd.DataFrame, rows: NDArray[np.int64]) -> Iterator[Repair]:
    assert examination.frame is not None
    assert examination.roles is not None
    if _was_made_long(examination):
        return
    name = examination.roles.time
    had = examination.frame[name].astype(str).str.strip().to_numpy()[rows]
    changed = np.flatnonzero((had != clean[name].astype(str).to_numpy()) & (rows >= 0))
    if len(changed) and not pd.api.types.is_datetime64_any_dtype(examination.frame[name]):
        first = f"{had[changed[0]]} to {clean[name].iloc[changed[0]]}"
        yield Repair("stamps: written as ISO 8601", column=name, count=len(changed), first=first)


# --------------------------------------------------------------------------- text form
# The form of a text file: encoding, delimiter, decimal mark, header.


_MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


@dataclass(frozen=True)
class TextForm:
    """Form of a CSV, as detected or given by options."""

    text: str
    """All of it, without a byte order mark."""
    encoding: str
    has_mark: bool
    """True when the file starts with a byte order mark."""
    names_delimiter: bool
    """True when a line above the header names the delimiter, as Excel's `sep=;` does."""
    delimiter: str
    decimal: str
    header: tuple[str, ...]
    """Names of the columns, with the blanks around them."""


def text_form(table: Path | str, config: DataConfig) -> TextForm | None:
    """Text format of the table; None for tables that are not text.

    Raises:
        ConfigError: an impossible delimiter, decimal mark or encoding.
        DataError: the file cannot be read as a table.
    """
    source = Source.of(table)
    if source.kind not in TEXT_KINDS:
        return None
    plan = first_plan(source, TextOptions.of(config))
    encoding = _encoding(source, plan)
    start = next(source.chunks(64), b"")
    text = _text(source, encoding)
    line, _ = naming_line(text.encode())
    body = b"".join(without_extra_lines([text.encode()], plan.extra_lines)).decode()
    below = io.StringIO(body, newline="")
    header = next(record for record in csv.reader(below, delimiter=plan.delimiter) if not is_blank(record))
    return TextForm(text, encoding, start.startswith(_MARKS), bool(line), plan.delimiter, plan.decimal, tuple(header))


def _encoding(source: Source, plan: Plan) -> str:
    """The encoding that holds for the whole file; the plan has seen its start only."""
    if not plan.encoding_is_assumed:
        return plan.encoding
    try:
        for _ in as_utf8(source.chunks(), plan.encoding, source.label, assumed=True):
            pass
    except NotUtf8Error:
        return assumed_encoding(source)
    return plan.encoding


def _text(source: Source, encoding: str) -> str:
    return b"".join(as_utf8(source.chunks(), encoding, source.label, assumed=False)).decode("utf-8")
