"""The values of the series that were forecast, from the tables that may hold them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.frequency import Stamps
from forecast_attn.plotting.forecasts import Forecasts

if TYPE_CHECKING:
    from forecast_attn.data.panel import Panel

Floats = NDArray[np.float64]


HORIZONS, FEWEST = 4, 24


def history_length(history: int | None, horizon: int) -> int:
    """Steps to draw before a cut-off when nobody says how many: four horizons, and at least a day of hours."""
    return max(HORIZONS * horizon, FEWEST) if history is None else history


@dataclass(frozen=True, eq=False)
class SeriesValues:
    """Series as sorted stamps of the axis and values, NaN where not observed.

    Attributes:
        stamps: series -> (length,) ascending
        values: series -> (length,)
        notes: in words, why something is not there.
    """

    stamps: dict[str, Stamps]
    values: dict[str, Floats]
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of_panel(cls, panel: Panel) -> SeriesValues:
        """The known rows of a panel."""
        parts = {
            name: slice(first, stop)
            for name, first, stop in zip(panel.item_ids, panel.starts[:-1], panel.ends, strict=True)
        }
        return cls(
            {name: panel.timestamps[part] for name, part in parts.items()},
            {name: panel.target[part] for name, part in parts.items()},
        )

    @classmethod
    def of_forecasts(cls, forecasts: Forecasts) -> SeriesValues:
        """The targets that a table of forecasts holds, with a gap where its stamps lie further apart than its steps."""
        known = forecasts.frame.dropna(subset=["target"]).drop_duplicates(["item_id", "timestamp"])
        step = _longest_step(forecasts.frame)
        stamps, values = {}, {}
        for name, rows in known.sort_values("timestamp").groupby("item_id"):
            parts = _with_gaps(rows["timestamp"].to_numpy(), rows["target"].to_numpy(np.float64), step)
            stamps[str(name)], values[str(name)] = parts
        return cls(stamps, values)

    def at(self, item_id: str, stamps: Stamps) -> Floats:
        """The values at these times, NaN where there is none, (len(stamps),)."""
        if item_id not in self.stamps:
            return np.full(len(stamps), np.nan)
        known, values = self.stamps[item_id], self.values[item_id]
        indices = np.minimum(np.searchsorted(known, stamps), len(known) - 1)
        return np.where(known[indices] == stamps, values[indices], np.nan)

    def before(self, item_id: str, cutoff: Any, length: int) -> tuple[Stamps, Floats]:
        """The last `length` times and values up to and with a cut-off, fewer where there are no more."""
        stamps = self.stamps.get(item_id, np.array([cutoff])[:0])
        stop = int(np.searchsorted(stamps, cutoff, side="right"))
        part = slice(max(stop - length, 0), stop)
        return stamps[part], self.values.get(item_id, np.zeros(0))[part]


def _longest_step(frame: pd.DataFrame) -> Any:
    """The longest distance between neighbouring steps of a forecast, None where every forecast has one step."""
    ordered = frame.sort_values(["model", "item_id", "cutoff", "step"])
    same = (ordered.groupby(["model", "item_id", "cutoff"])["step"].diff() == 1).to_numpy()
    distances = np.diff(ordered["timestamp"].to_numpy(), prepend=ordered["timestamp"].to_numpy()[:1])[same]
    return distances.max() if len(distances) else None


def _with_gaps(stamps: Stamps, values: Floats, step: Any) -> tuple[Stamps, Floats]:
    """A NaN after every value whose successor is more than one step away."""
    if step is None or len(stamps) < 2:
        return stamps, values
    gaps = np.flatnonzero(np.diff(stamps) > step) + 1
    return np.insert(stamps, gaps, stamps[gaps - 1] + step), np.insert(values, gaps, np.nan)


def first_that_reaches(candidates: Iterator[SeriesValues], forecasts: Forecasts, history: int | None) -> SeriesValues:
    """The first candidate with values of every cut-off and the history before it; else the one with the most.

    Args:
        candidates: the cheapest to read first.
        forecasts: one cut-off per series.
        history: steps wanted before each cut-off; see `history_length`.
    """
    best, most = SeriesValues({}, {}), -1
    length = history_length(history, int(forecasts.frame["step"].max()))
    firsts = forecasts.frame.drop_duplicates("item_id")
    cutoffs = list(zip(firsts["item_id"], firsts["cutoff"].to_numpy(), strict=True))
    for candidate in candidates:
        lengths = [len(candidate.before(name, index, length)[0]) for name, index in cutoffs]
        if sum(lengths) > most:
            best, most = candidate, sum(lengths)
        if min(lengths) >= length:
            break
    return best
