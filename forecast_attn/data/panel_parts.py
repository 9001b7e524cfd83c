"""The panel of a table in several files that takes too much memory as a whole: read file by file, its rows on a disk.

Each series is in one file. What is found in the rows, such as roles and the time step, must be the same in all files:
it is then that of the whole table, and the panel has the same bytes as one that is read at once.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.axis import joined_evidence
from forecast_attn.data.findings import Repair, option_for
from forecast_attn.data.panel import Filled, Panel
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.reading import Progress, Source, read_table
from forecast_attn.data.reading.parts import TablePart
from forecast_attn.data.roles import Roles, resolve_roles
from forecast_attn.data.row_storage import RowStorage, RowWriter, row_blocks
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError
from forecast_attn.memory import machine_memory, release_memory

SHARE = 0.75
"""Share of the machine's memory that a table may take that is read at once."""
BYTES_A_CELL = 15
"""Memory that reading takes: 42 bytes a row of a name, a time stamp and a number, 71 with two covariates (measured)."""

Ints = NDArray[np.int64]

_OF_ROWS = ("timestamps", "target", "past_covariates", "future_covariates", "past_categories", "future_categories")
_OF_SERIES = ("num_known", "static_covariates", "static_categories", "weights")


def is_too_large(parts: Sequence[TablePart], config: DataConfig) -> bool:
    """Return whether a table in several files takes too much memory to be read at once."""
    if len(parts) < 2 or config.wide or config.vintages is not None:
        return False
    return sum(part.cells for part in parts) * BYTES_A_CELL > SHARE * machine_memory()


def read_by_parts(
    parts: Sequence[TablePart],
    config: DataConfig,
    storage: RowStorage,
    progress: Progress | None = None,
    zone: Zone | None = None,
) -> Panel:
    """Read and validate a table in the memory of one of its files.

    Args:
        parts: the files of the table, each with whole series.
        config: what its columns mean, and how it is read.
        storage: holds the rows.
        progress: called with the bytes read so far and the bytes there are.
        zone: as of `build_panel`.

    Raises:
        DataError: what is wrong with a file; a series is in two of them, or they differ in what is found in their rows.
        ConfigError: declared columns contradict each other.
        RunError: the disk has no room for the rows.
    """
    sizes = list(itertools.accumulate(part.path.stat().st_size for part in parts))
    files: list[_File] = []
    with contextlib.ExitStack() as closing:
        columns = {name: closing.enter_context(RowWriter(storage.folder)) for name in _OF_ROWS}
        for part, done in zip(parts, sizes, strict=True):
            files.append(_read(part, config, columns, zone))
            _check_same(files[0], files[-1])
            release_memory()
            if progress is not None:
                progress(done, sizes[-1])
        return _joined(files, {name: column.array() for name, column in columns.items()}, storage)


class _File(NamedTuple):
    name: str
    panel: Panel
    """Without its rows."""


def _read(part: TablePart, config: DataConfig, columns: dict[str, RowWriter], zone: Zone | None) -> _File:
    """Read a file, and move its rows behind those of the files before it."""
    name = part.shown
    frame = read_table(Source(f"'{name}'", part.path, None, (part,)), config)
    panel = build_panel(frame, resolve_roles(frame, config, name), config, source=name, zone=zone, emptied=True)
    nothing: dict[str, Any] = {}
    for column, rows in columns.items():
        values = getattr(panel, column)
        rows.write(values)
        nothing[column] = values[:0].copy()
    return _File(name, replace(panel, **nothing))


# --------------------------------------------------------------------------- what must be the same in all files


def _check_same(first: _File, file: _File) -> None:
    """Refuse a file in whose rows something else is found than in those of the first one.

    Raises:
        DataError: names both files.
    """
    expected, panel = first.panel, file.panel
    if expected.roles != panel.roles:
        column, role = _other_role(expected.roles, panel.roles)
        difference, hint = f"column '{column}' is {role}", f"name its role in both, or {option_for('ignore', column)}"
    elif expected.date_order != panel.date_order:
        difference, hint = f"dates are written {panel.date_order}", "--date-format says how"
    elif replace(expected.frequency, evidence="") != replace(panel.frequency, evidence=""):
        difference, hint = f"the time step is {panel.frequency.alias}", f"--freq {expected.frequency.alias}"
    elif expected.zone != panel.zone:
        difference, hint = f"time stamps are in the zone {panel.zone.name}", "write them in one zone"
    else:
        return
    message = f"in '{file.name}' {difference}, unlike in '{first.name}', and the table is too large to be read at once"
    raise DataError(message, hint)


def _other_role(first: Roles, roles: Roles) -> tuple[str, str]:
    """A column with another role than in the first file, and that role."""
    before, now = _names_of_roles(first), _names_of_roles(roles)
    column = min((name for name in {*before, *now} if before.get(name) != now.get(name)), default=roles.target)
    return column, now.get(column, "not there")


def _names_of_roles(roles: Roles) -> dict[str, str]:
    named = {name: f"left out ({why})" for name, why in roles.ignored.items()}
    for kind in ("past", "future", "static"):
        for name in (*getattr(roles, f"{kind}_covariates"), *getattr(roles, f"{kind}_categories")):
            named[name] = f"a {kind} covariate"
    return named | {roles.time: "the time", roles.target: "the target"}


# --------------------------------------------------------------------------- the files as one table


@dataclass(frozen=True)
class _Order:
    """The order of the files' series in the table, which is sorted by their names."""

    series: Ints
    """Number of each series in the order of the files (num_series,)."""
    starts: Ints
    """First row of each series in the order of the files, and the number of rows (num_series + 1,)."""

    @property
    def starts_in_table(self) -> Ints:
        """First row of each series in the table, and the number of rows (num_series + 1,)."""
        return np.concatenate([[0], np.cumsum(np.diff(self.starts)[self.series])])

    def rows(self, rows: Ints) -> Ints:
        """Rows of the files as rows of the table, ascending."""
        in_table = np.empty_like(self.series)
        in_table[self.series] = np.arange(len(in_table))
        series = np.searchsorted(self.starts, rows, side="right") - 1
        return np.sort(rows - self.starts[series] + self.starts_in_table[in_table[series]])

    def array(self, values: NDArray[Any], storage: RowStorage) -> NDArray[Any]:
        """Put values of the rows of the files into the order of the table."""
        if (np.diff(self.series) == 1).all():
            return values
        edges = self.starts.tolist()
        return storage.joined(values[edges[index] : edges[index + 1]] for index in self.series.tolist())


def _joined(files: list[_File], rows: dict[str, Any], storage: RowStorage) -> Panel:
    item_ids, panels = _series_in_one_file(files), [file.panel for file in files]
    series = np.array(sorted(range(len(item_ids)), key=item_ids.__getitem__), np.int64)
    lengths = np.concatenate([np.diff(panel.starts) for panel in panels])
    order, categories = _Order(series, np.concatenate([[0], np.cumsum(lengths)])), _all_categories(panels)
    panels = [_recoded(panel, categories, rows, at) for panel, at in zip(panels, _first_rows(panels), strict=True)]
    for name in _OF_ROWS:  # one after the other: each is on the disk twice while it is put in order
        rows[name] = order.array(rows[name], storage)
    for name in _OF_SERIES:
        rows[name] = np.concatenate([getattr(panel, name) for panel in panels])[series]
    return replace(
        panels[0],
        **rows,
        item_ids=tuple(item_ids[index] for index in series),
        starts=order.starts_in_table,
        frequency=joined_evidence([panel.frequency for panel in panels]),
        categories=categories,
        repairs=_repairs(panels),
        filled=_filled(panels, order),
        storage=storage,
    )


def _series_in_one_file(files: list[_File]) -> list[str]:
    """The series in the order of the files.

    Raises:
        DataError: one is in two of them.
    """
    holders: dict[str, str] = {}
    for file in files:
        for item in file.panel.item_ids:
            if item in holders:
                message = f"series '{item}' is in two files, '{holders[item]}' and '{file.name}'"
                hint = "write each series into one file: the table is too large to be read at once"
                raise DataError(message, hint, item_id=item)
            holders[item] = file.name
    return list(holders)


def _first_rows(panels: list[Panel]) -> list[int]:
    """Number of rows in the files before each one."""
    return list(itertools.accumulate((int(panel.starts[-1]) for panel in panels[:-1]), initial=0))


def _all_categories(panels: list[Panel]) -> dict[str, tuple[str, ...]]:
    columns = panels[0].categories
    return {name: tuple(sorted({each for panel in panels for each in panel.categories[name]})) for name in columns}


def _recoded(panel: Panel, categories: dict[str, tuple[str, ...]], rows: dict[str, Any], first: int) -> Panel:
    """A panel whose static categories are numbered as in the table; so are, in place, those of its rows."""
    lookups = {}
    for column, names in categories.items():
        number = {name: code for code, name in enumerate(names)}
        lookups[column] = np.array([*(number[name] for name in panel.categories[column]), -1], np.int32)
    for group in ("past_categories", "future_categories"):
        for index, column in enumerate(getattr(panel.roles, group)):
            codes = rows[group][first : first + panel.starts[-1], index]
            for block in row_blocks(len(codes)):
                codes[block] = lookups[column][codes[block]]
    static = panel.static_categories.copy()
    for index, column in enumerate(panel.roles.static_categories):
        static[:, index] = lookups[column][static[:, index]]
    return replace(panel, static_categories=static)


def _filled(panels: list[Panel], order: _Order) -> Filled:
    """The filled cells of all files. Under `auto` files that miss nothing have no policy, and need none."""
    policy = next((panel.filled.policy for panel in panels if panel.filled.policy != "error"), "error")
    rows: dict[str, list[Ints]] = {}
    for panel, first in zip(panels, _first_rows(panels), strict=True):
        for column, filled in panel.filled.rows.items():
            rows.setdefault(column, []).append(filled + first)
    return Filled(policy, {column: order.rows(np.concatenate(each)) for column, each in rows.items()})


def _repairs(panels: list[Panel]) -> tuple[Repair, ...]:
    """The repairs of all files, those of one kind together, by the names of the series."""
    repairs = [repair for panel in panels for repair in panel.repairs]
    kinds = {kind: index for index, kind in enumerate(dict.fromkeys((each.kind, each.column) for each in repairs))}
    return tuple(sorted(repairs, key=lambda each: (kinds[each.kind, each.column], each.item_id or "")))
