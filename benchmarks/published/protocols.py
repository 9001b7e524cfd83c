"""Published protocols: the rows to train on, the rows to forecast, and the scored errors.

P, F: TimeXer (Wang et al., NeurIPS 2024) and its successors: the first int(0.7 n) rows train, the last int(0.2 n) test,
those between validate. D: Lago et al. (Applied Energy 293, 2021): the last 728 days, one forecast each midnight.
ETT: Zhou et al. (Informer, AAAI 2021): 12, 4 and 4 months of 30 days. FEV: fev-bench (Shchur et al. 2025): the last 20
days, one forecast each midnight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

TIME, TARGET = "date", "OT"
DAY = 24
TEST_DAYS = 728
"""Of protocol D: 104 weeks."""
VALIDATION_DAYS = 364
"""Of protocol D: the 52 weeks before the test days, forecast as those are."""
FEV_DAYS = 20
"""Of protocol FEV: the days that are scored; those that choose are the `VALIDATION_DAYS` before."""
INNER_DAYS = 91
"""Of D and FEV: the last days of what is trained on, which choose the epoch unless `validation` says otherwise."""
ETT_MONTHS = (12, 4, 4)


class TableError(Exception):
    """A table that the protocol cannot be run on."""


@dataclass(frozen=True)
class Stage:
    """A stretch of rows to forecast, and what may be trained on for it. Rows are numbers in the table."""

    name: str
    """validation or test."""
    known: int
    """Training sees the rows before this one, and no others."""
    validation: int | None
    """How many of these, the last ones, choose the epoch; None where an option says so."""
    first: int
    """First row that is scored."""
    end: int
    """Forecasts see the rows before this one, each those up to its cut-off."""
    stride: int
    """Rows from one forecast to the next."""
    start: int | None = None
    """First row that is forecast, where it is an earlier one than the first that is scored."""

    def windows(self, horizon: int) -> int:
        """Number of forecasts whose whole horizon lies in the stage."""
        return (self.end - self.first - horizon) // self.stride + 1


@dataclass(frozen=True)
class Protocol:
    """A task on a table."""

    name: str
    horizon: int
    covariates: str
    """past, future or none: how the columns beside the target are used."""
    in_money: bool = False
    """Scored in the target's units; else standardised by the training rows."""
    lookback: int | None = None
    """Fixed by the protocol, else an option."""
    refits: bool = False
    """True where a network may be trained further as days pass."""
    kind: str = "fractions"
    """fractions, days, fev or months: how the rows are split."""
    metric: str = "mae"
    """Score of validation that chooses: mae, or sql of forecasts with quantiles."""

    @property
    def is_daily(self) -> bool:
        """Return whether there is one forecast each midnight, of the days that choose too."""
        return self.kind in ("days", "fev")

    def split(self, rows: int) -> tuple[int, int, int]:
        """First row of validation, first row of the test, and the row after the last (all numbers of rows).

        Raises:
            TableError: the table is too short.
        """
        if self.kind == "days":
            borders = (rows - (TEST_DAYS + VALIDATION_DAYS) * DAY, rows - TEST_DAYS * DAY, rows)
        elif self.kind == "fev":
            borders = (rows - (FEV_DAYS + VALIDATION_DAYS) * DAY, rows - FEV_DAYS * DAY, rows)
        elif self.kind == "months":
            first, second, third = (sum(ETT_MONTHS[:number]) * 30 * DAY for number in (1, 2, 3))
            borders = (first, second, third)
        else:
            train, test = int(0.7 * rows), int(0.2 * rows)
            borders = (train, rows - test, rows)
        if borders[0] < 4 * self.horizon or borders[2] > rows or borders[1] - borders[0] < self.horizon:
            raise TableError(f"protocol {self.name} needs more rows than the table's {rows:,}")
        return borders

    def stages(self, rows: int) -> tuple[Stage, Stage]:
        """Validation and test."""
        train, test, end = self.split(rows)
        if self.is_daily:  # what is forecast in validation must not have chosen an epoch: it stands for the test
            return (
                Stage("validation", train, None, train, test, DAY),
                Stage("test", test, None, test, end, DAY),
            )
        return (
            Stage("validation", test, test - train, train, test, 1),
            Stage("test", test, test - train, test, end, 1),
        )

    def continued(self, rows: int) -> Stage:
        """The test for a network that was trained before validation and has been trained further ever since.

        Only fev-bench's: its 20 days are too few to learn in what the days before are long enough for. In D a network
        is trained for the test days anew.
        """
        validation, test = self.stages(rows)
        return replace(test, known=validation.known, start=validation.first) if self.kind == "fev" else test

    def fixed_options(self, columns: list[str], stage: Stage) -> dict[str, Any]:
        """The options of a `Forecaster` that the protocol decides."""
        others = [name for name in columns if name not in (TIME, TARGET)]
        role = {"past": "past_covariates", "future": "future_covariates", "none": "ignore"}[self.covariates]
        fixed: dict[str, Any] = {"target": TARGET, "time": TIME, "freq": "h", "horizon": self.horizon, role: others}
        if self.lookback is not None:
            fixed["lookback"] = self.lookback
        if stage.validation is not None:
            fixed["validation"] = stage.validation
        return fixed


EPF = {
    "P": Protocol("P", 24, "past", lookback=168),
    "F": Protocol("F", 24, "future"),
    "D": Protocol("D", 24, "future", in_money=True, refits=True, kind="days"),
    "F360": Protocol("F360", 360, "future"),
}
"""By the names of docs/accuracy.md."""

FEV = {"FEV": Protocol("FEV", 24, "future", in_money=True, refits=True, kind="fev", metric="sql")}
"""Of fev-bench, whose score SQL is; see `published.fev`."""

ETT = {
    f"{name}{horizon}": Protocol(f"{name}{horizon}", horizon, covariates, kind="months")
    for name, covariates in (("U", "none"), ("X", "past"))
    for horizon in (96, 192, 336, 720)
}
"""U: the target alone. X: with the past of the other columns."""


def read_table(path: Path) -> pd.DataFrame:
    """An hourly table with the columns `date` and `OT`, time stamps parsed.

    Raises:
        TableError: it is none.
    """
    frame = pd.read_csv(path, skipinitialspace=True)
    missing = [name for name in (TIME, TARGET) if name not in frame.columns]
    if missing:
        raise TableError(f"'{path.name}' has no column {' or '.join(missing)}; it has {', '.join(frame.columns)}")
    frame[TIME] = pd.to_datetime(frame[TIME])
    if not (frame[TIME].diff().iloc[1:] == pd.Timedelta(hours=1)).all():
        raise TableError(f"'{path.name}' is not hourly from its first row to its last")
    return frame


def check_days(frame: pd.DataFrame, name: str) -> None:
    """Protocols D and FEV are made of whole days.

    Raises:
        TableError: the table does not end with the last hour of a day.
    """
    last = frame[TIME].iloc[-1]
    if last.hour != DAY - 1:
        raise TableError(f"'{name}' ends at {last}; this protocol needs a table whose last row is at 23:00")
