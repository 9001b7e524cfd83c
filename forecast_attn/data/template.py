"""The table that a forecast still needs: a row per step, a column per future covariate, cells to be filled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.csv_text import csv_text
from forecast_attn.data.date_forms import DATE_ORDERS
from forecast_attn.data.findings import counted
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.future_rows import FutureRows, future_in_panel, missing_cells
from forecast_attn.data.number_stamps import EPOCH_UNITS, SERIAL_DAYS, decimal_step, in_serial_days
from forecast_attn.data.panel import Panel
from forecast_attn.data.reading.dialect import BLANKS
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError


@dataclass(frozen=True)
class FutureTemplate:
    """A table of the steps to forecast, with what is known of them already."""

    table: pd.DataFrame
    """The series' column if the data has one, the time column, and every future covariate; empty where not known."""
    to_fill: dict[str, int]
    """Future covariate -> cells that a forecast still needs; only those it needs any of."""
    categories: dict[str, tuple[str, ...]]
    """Categorical covariate to fill in -> the categories that training saw."""
    is_needless: bool
    """True when the run has no future covariates, so that a forecast needs no table."""
    csv: str
    """The table as text, written the way the run reads its tables."""
    encoding: str = "utf-8"
    """Encoding in which the run reads tables."""

    def __repr__(self) -> str:
        cells = counted(sum(self.to_fill.values()), "cell")
        return f"<FutureTemplate: {counted(len(self.table), 'row')}, {cells} to fill in>"

    @classmethod
    def of(
        cls, panel: Panel, horizon: int, config: DataConfig, zone: Zone, categories: dict[str, tuple[str, ...]]
    ) -> Self:
        """The template for the steps after the last known target of every series.

        Args:
            panel: the history.
            horizon: steps to forecast.
            config: how the run reads a table.
            zone: in which stamps are shown.
            categories: categorical column -> the categories that training saw.
        """
        rows = future_in_panel(panel, horizon)
        table, names = _table(panel, rows), panel.roles.future
        missing = missing_cells(panel.roles, rows, masked=False).sum(axis=(0, 1))
        to_fill = {name: int(count) for name, count in zip(names, missing, strict=True) if count}
        written = table.assign(**{panel.roles.time: _texts(rows.stamps.ravel(), zone, config.date_format)})
        return cls(
            table=table.assign(**{panel.roles.time: zone.column(rows.stamps.ravel())}),
            to_fill=to_fill,
            categories={name: categories[name] for name in to_fill if name in panel.roles.future_categories},
            is_needless=not names,
            encoding=config.encoding or "utf-8",
            csv=csv_text(written, sep=_delimiter(config), decimal=config.decimal or "."),
        )

    def to_bytes(self) -> bytes:
        """The text as a file that the run can read.

        Raises:
            DataError: a name or a category cannot be written in the run's encoding.
        """
        try:
            return self.csv.encode(self.encoding)
        except UnicodeEncodeError as error:
            letter = error.object[error.start]
            message = f"'{letter}' cannot be written in {self.encoding}, in which the run reads its tables"
            raise DataError(message, "train without --encoding, on a table in UTF-8") from None


def _table(panel: Panel, rows: FutureRows) -> pd.DataFrame:
    roles, horizon = panel.roles, rows.stamps.shape[1]
    columns: dict[str, object] = {}
    if roles.item_id is not None:
        columns[roles.item_id] = np.repeat(np.array(panel.item_ids, dtype=object), horizon)
    columns[roles.time] = rows.stamps.ravel()
    columns |= {name: rows.covariates[..., index].ravel() for index, name in enumerate(roles.future_covariates)}
    for position, name in enumerate(roles.future_categories):
        texts = np.array([*panel.categories[name], None], dtype=object)
        columns[name] = texts[rows.category_codes[..., position].ravel()]
    return pd.DataFrame(columns)


def _delimiter(config: DataConfig) -> str:
    if config.delimiter is not None and config.delimiter.lower() != BLANKS:  # they would not show an empty cell
        return "\t" if config.delimiter.lower() in ("tab", "\\t") else config.delimiter
    return ";" if config.decimal == "," else ","


def _texts(stamps: Stamps, zone: Zone, date_format: str | None) -> NDArray[np.object_]:
    step = decimal_step(date_format)
    if step is not None:
        return np.array([f"{number:.10g}" for number in (stamps * step).tolist()], dtype=object)
    if date_format is None or date_format in DATE_ORDERS or stamps.dtype.kind != "M":
        return zone.text(stamps)
    if date_format in EPOCH_UNITS:
        if zone.axis == "local" and zone.name is not None:
            stamps = Zone(zone.name, "utc").instants(stamps).first
        return np.array(stamps.astype(np.int64) // EPOCH_UNITS[date_format], dtype=object)
    if date_format == SERIAL_DAYS:
        return np.array([f"{days:.10g}" for days in in_serial_days(zone.local(stamps))], dtype=object)
    return np.array(zone.column(stamps).dt.strftime(date_format), dtype=object)
