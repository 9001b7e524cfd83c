"""Facts that training learned about the table: enough to read another table in the same way. Written to schema.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.calendar_features import Calendar
from forecast_attn.data.categories import UnknownCategory, Vocabulary
from forecast_attn.data.date_forms import DATE_ORDERS
from forecast_attn.data.frequency import Frequency, parse_frequency
from forecast_attn.data.number_stamps import decimal_step
from forecast_attn.data.panel import Panel
from forecast_attn.data.roles import COVARIATE_FIELDS, Roles
from forecast_attn.data.scaled_rows import RowLayout, scale_rows
from forecast_attn.data.scaling import Scaler
from forecast_attn.data.zones import Zone
from forecast_attn.errors import DataError

if TYPE_CHECKING:
    from forecast_attn.data.windows import WindowArrays

_NAMES = {kind: {each.name for each in fields(kind)} for kind in (Roles, Frequency)}


@dataclass(frozen=True, eq=False)
class Schema:
    """Roles of the columns, time step, window sizes, and the scaler fitted on the training rows."""

    roles: Roles
    frequency: Frequency
    lookback: int
    horizon: int
    calendar: Calendar
    scaler: Scaler
    vocabulary: Vocabulary
    zone: Zone
    """Zone that time stamps are shown in; the calendar uses its clock."""
    masked: bool
    """Values may be missing (`--missing mask`)."""
    padded: bool
    """Windows may begin before their series (`--short-series pad`)."""
    date_order: str | None
    """Order of dates of three numbers in the training table; decides ambiguous dates in later tables."""

    @property
    def layout(self) -> RowLayout:
        return RowLayout.of(self.roles, masked=self.masked, padded=self.padded)

    @property
    def num_past_inputs(self) -> int:
        return self.layout.num_past_columns + self.num_future_inputs

    @property
    def num_future_inputs(self) -> int:
        return self.layout.num_future_columns + len(self.calendar.names)

    @property
    def num_static(self) -> int:
        return len(self.roles.static_covariates)

    def windows_of(self, panel: Panel, training_rows: NDArray[np.int64] | None = None) -> WindowArrays:
        """The panel's rows, scaled as in a forecast; with `training_rows`, each window as known at its cut-off.

        Args:
            panel: the table.
            training_rows: how many of each series' first rows the scaler was fitted on, to train on them (num_series,).

        Raises:
            DataError: a series was not in training, or the columns are others.
        """
        self.check_columns(panel)
        # With torch, which checking a table does not need.
        from forecast_attn.data.causal_scales import causal_scales
        from forecast_attn.data.vintages import Vintages
        from forecast_attn.data.windows import WindowArrays

        scaler = self.scaler.for_series(panel.item_ids)
        rows = scale_rows(panel, scaler, self.vocabulary, self.layout, self.calendar)
        vintages = None
        if panel.issued is not None:
            vintages = Vintages.build(panel, panel.issued).scaled(scaler.future, panel.starts[:-1])
        scales = None if training_rows is None else causal_scales(panel, rows, scaler, training_rows)
        return replace(WindowArrays.build(rows, self.lookback, self.horizon, vintages), causal_scales=scales)

    def check_columns(self, panel: Panel) -> None:
        """Refuse a table whose columns have other roles than those whose scales and categories are here.

        Raises:
            DataError: names a column.
        """
        for kind in COVARIATE_FIELDS:
            here, there = getattr(self.roles, kind), getattr(panel.roles, kind)
            if here != there:
                column = min(set(here) ^ set(there) or here)
                message = f"the columns of the table are not those the run was trained on: '{column}' has another role"
                raise DataError(message, "give the table of the training, or restore the run from a copy")

    def forecast_steps(self, columns: tuple[str, ...]) -> int:
        """Number of steps ahead that forecasts of these future covariates must reach."""
        return max(min(self.roles.known_steps.get(name, self.horizon), self.horizon) for name in columns)

    def unknown_categories(self, panel: Panel) -> tuple[UnknownCategory, ...]:
        """The categories of a table that training did not see."""
        return self.vocabulary.unknown(panel)

    def to_dict(self) -> dict[str, Any]:
        return {
            "roles": asdict(self.roles),
            "frequency": asdict(self.frequency),
            "lookback": self.lookback,
            "horizon": self.horizon,
            "calendar": self.calendar.to_dict(),
            "scaler": self.scaler.to_dict(),
            "zone": self.zone.to_dict(),
            "vocabulary": self.vocabulary.to_dict(),
            "masked": self.masked,
            "padded": self.padded,
            "date_order": self.date_order,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Read what `to_dict` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        roles = {name: value for name, value in content["roles"].items() if name in _NAMES[Roles]}
        roles |= {name: tuple(roles[name]) for name in COVARIATE_FIELDS}
        frequency = Frequency(**{name: content["frequency"][name] for name in _NAMES[Frequency]})
        return cls(
            roles=Roles(**roles),
            frequency=frequency,
            lookback=int(content["lookback"]),
            horizon=int(content["horizon"]),
            calendar=Calendar.from_dict(content["calendar"], frequency),
            scaler=Scaler.from_dict(content["scaler"]),
            zone=Zone.from_dict(content["zone"]),
            vocabulary=Vocabulary.from_dict(content["vocabulary"]),
            masked=bool(content["masked"]),
            padded=bool(content["padded"]),
            date_order=content["date_order"],
        )

    def check(self) -> None:
        """Refuse what no training writes: a file may come from anywhere.

        Raises:
            ValueError: parts that do not belong together.
            ConfigError: no such frequency.
        """
        roles = self.roles
        columns = [name for name in (roles.time, roles.item_id, *roles.numeric, *roles.categorical) if name is not None]
        if len(set(columns)) < len(columns):
            raise ValueError("a column with two roles")
        if len(set(self.scaler.item_ids)) < len(self.scaler.item_ids) or not self.scaler.item_ids:
            raise ValueError("series that are not each there once")
        if parse_frequency(self.frequency.alias).alias != self.frequency.alias:
            raise ValueError(f"no step is written '{self.frequency.alias}'")
        if set(self.roles.categorical) - self.vocabulary.categories.keys():
            raise ValueError("a categorical column without categories")
        if self.date_order not in (None, *DATE_ORDERS) and decimal_step(self.date_order) is None:
            raise ValueError(f"no order of dates: {self.date_order}")
        if self.frequency.is_integer and self.calendar.names:
            raise ValueError("calendar features of an axis of whole numbers")
        self.scaler.check(self.roles)
