"""What training learned about the table: enough to read another table the same way. Written to schema.json."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

from forecast_attn.data.calendar import calendar_names
from forecast_attn.data.frequency import Frequency
from forecast_attn.data.panel import Panel
from forecast_attn.data.roles import Roles
from forecast_attn.data.scaling import Scaler
from forecast_attn.data.windows import WindowArrays

_ROLE_LISTS = ("past_covariates", "future_covariates", "static_covariates")


@dataclass(frozen=True, eq=False)
class Schema:
    """Roles of the columns, time step, window sizes, and the scaler fitted on the training rows."""

    roles: Roles
    frequency: Frequency
    lookback: int
    horizon: int
    calendar: str
    scaler: Scaler

    @property
    def num_calendar(self) -> int:
        return len(calendar_names(self.frequency)) if self.calendar == "auto" else 0

    @property
    def num_past_inputs(self) -> int:
        return len(self.roles.past_covariates) + self.num_future_inputs

    @property
    def num_future_inputs(self) -> int:
        return len(self.roles.future_covariates) + self.num_calendar

    @property
    def num_static(self) -> int:
        return len(self.roles.static_covariates)

    def windows_of(self, panel: Panel) -> WindowArrays:
        """The panel's rows, scaled as in training.

        Raises:
            DataError: a series was not in training.
        """
        scaler = self.scaler.for_series(panel.item_ids)
        return WindowArrays.build(panel, scaler, self.calendar, self.lookback, self.horizon)

    def to_dict(self) -> dict[str, Any]:
        return {
            "roles": asdict(self.roles),
            "frequency": asdict(self.frequency),
            "lookback": self.lookback,
            "horizon": self.horizon,
            "calendar": self.calendar,
            "scaler": self.scaler.to_dict(),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Read what `to_dict` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        roles: dict[str, Any] = dict(content["roles"])
        roles |= {name: tuple(roles[name]) for name in _ROLE_LISTS}
        return cls(
            roles=Roles(**roles),
            frequency=Frequency(**content["frequency"]),
            lookback=int(content["lookback"]),
            horizon=int(content["horizon"]),
            calendar=str(content["calendar"]),
            scaler=Scaler.from_dict(content["scaler"]),
        )
