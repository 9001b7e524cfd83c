"""The folds of a backtest: which series is forecast from which row, by which model, and what is left out and why."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.backtest.cutoffs import ENDED, rows_at
from forecast_attn.config.values import MOST_DIGITS
from forecast_attn.data.cleaning import sees_later_values
from forecast_attn.data.findings import counted
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.panel import Panel
from forecast_attn.data.schema import Schema
from forecast_attn.data.split import with_values
from forecast_attn.errors import ConfigError, DataError

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

LEFT_OUT_REASONS = {
    "lookback": "the series has not begun, or has no whole lookback yet",
    "horizon": "the series ends before the horizon does",
    "interpolated": "inside an interpolated hole, which knows a later value",
    "nothing observed": "no value in the lookback, or none in the horizon",
    "not forecast": "not all of the horizon had been forecast in --vintages",
}
"""Reasons for leaving a window out, in the order of testing."""


class Fold(NamedTuple):
    """One cut-off: a row of the fold table. Stamps are those of the axis."""

    number: int
    """Number of the fold, from 1."""
    cutoff: Any
    """Last known stamp."""
    first: Any
    """First stamp that is forecast."""
    last: Any
    series: int
    """Number of series that are forecast."""
    model: int
    """0 is the run's own; then the number of the refit."""
    trained_until: Any
    """The last stamp that the model was trained on, or that chose its weights."""


@dataclass(frozen=True, eq=False)
class Folds:
    """Windows in the order they are forecast in: by cut-off, then by series."""

    folds: tuple[Fold, ...]
    windows: Ints
    """Rows of the last known values (num_windows,)."""
    starts: Ints
    """First window of every fold, and the number of windows (num_folds + 1,)."""
    left_out: dict[str, int]
    """Reason -> windows."""
    empty: int
    """Cut-offs at which no series can be forecast, which are no folds."""

    def windows_of_model(self, number: int) -> slice:
        """The windows that a model forecasts, which are neighbours."""
        numbers = [index for index, fold in enumerate(self.folds) if fold.model == number]
        return slice(int(self.starts[numbers[0]]), int(self.starts[numbers[-1] + 1]))

    @functools.cached_property
    def models(self) -> tuple[int, ...]:
        """Numbers of the models, ascending."""
        return tuple(dict.fromkeys(fold.model for fold in self.folds))

    @property
    def inside_training(self) -> int:
        """Folds whose model was trained on what it forecasts."""
        return sum(bool(fold.first <= fold.trained_until) for fold in self.folds)


def parse_refit(text: str | int) -> int:
    """Folds from one refit to the next; 0 for `never`, 1 for `every`.

    Raises:
        ConfigError: anything else.
    """
    plain = str(text).strip().lower()
    if plain in ("never", "every"):
        return int(plain == "every")
    if not plain.isdecimal() or len(plain) > MOST_DIGITS or int(plain) < 1:
        message = f"--refit must be never, every, or a number of cut-offs; got '{plain:.40}'"
        raise ConfigError(message, "such as --refit 7")
    return int(plain)


def make_folds(panel: Panel, schema: Schema, cutoffs: Stamps, *, trained_until: Any, refit_every: int = 0) -> Folds:
    """Find the windows at the cut-offs.

    Args:
        panel: the series.
        schema: sizes, and whether windows may be padded.
        cutoffs: stamps (num_cutoffs,), ascending.
        trained_until: the last stamp the run was trained on.
        refit_every: folds from one refit to the next; 0 for none.

    Raises:
        DataError: no series can be forecast at any of them.
    """
    rows, left_out = rows_at(panel, cutoffs), dict[str, int]()
    kept = np.ones(rows.shape, np.bool_)
    for reason, good in _conditions(panel, schema):
        passed = kept.copy()
        passed[kept] = good(rows[kept])
        if (kept & ~passed).any():
            left_out[reason] = left_out.get(reason, 0) + int((kept & ~passed).sum())
        kept = passed
    counts = kept.sum(axis=1)
    used = np.flatnonzero(counts)
    if not len(used):
        raise _none_left(panel, cutoffs, left_out)
    folds = _numbered(schema, cutoffs[used], counts[used], trained_until, refit_every)
    return Folds(folds, rows[kept], np.concatenate(([0], np.cumsum(counts[used]))), left_out, len(cutoffs) - len(used))


def _numbered(schema: Schema, cutoffs: Stamps, counts: Ints, trained_until: Any, refit_every: int) -> tuple[Fold, ...]:
    firsts, lasts = (schema.frequency.shift(cutoffs, steps) for steps in (1, schema.horizon))
    models = np.arange(len(cutoffs)) // refit_every + 1 if refit_every else np.zeros(len(cutoffs), np.int64)
    return tuple(
        Fold(
            index + 1,
            cutoffs[index],
            firsts[index],
            lasts[index],
            int(counts[index]),
            int(models[index]),
            # A model is refitted at the first fold that it forecasts, and knows the rows up to that cut-off.
            max(trained_until, cutoffs[index // refit_every * refit_every]) if refit_every else trained_until,
        )
        for index in range(len(cutoffs))
    )


def _conditions(panel: Panel, schema: Schema) -> list[tuple[str, Callable[[Ints], Mask]]]:
    """Conditions on a window's row, by the name of the reason for leaving it out."""
    lookback, horizon = schema.lookback, schema.horizon
    needed = 1 if schema.padded else lookback

    def has_lookback(row: Ints) -> Mask:
        return (row >= 0) & (row - panel.starts[panel.series_of(row)] + 1 >= needed)

    def has_horizon(row: Ints) -> Mask:
        return np.asarray(row + horizon < panel.ends[panel.series_of(row)])

    def has_values(row: Ints) -> Mask:
        ascending = np.sort(row)
        return np.isin(row, with_values(panel, ascending, lookback, horizon))

    conditions: list[tuple[str, Callable[[Ints], Mask]]] = [
        ("horizon", lambda row: row != ENDED),
        ("lookback", has_lookback),
        ("horizon", has_horizon),
        ("interpolated", lambda row: ~sees_later_values(panel, row)),
        ("nothing observed", has_values),
    ]
    if panel.issued is not None:
        from forecast_attn.data.vintages import Vintages

        vintages, steps = Vintages.build(panel, panel.issued), schema.forecast_steps(panel.issued.columns)
        conditions.append(("not forecast", lambda row: vintages.covered(row, steps)))
    return conditions


def _none_left(panel: Panel, cutoffs: Stamps, left_out: dict[str, int]) -> DataError:
    if not len(cutoffs):
        return DataError("there is no row before the first stamp to forecast", "a later --start")
    first, last = panel.zone.stamp_text(cutoffs[0]), panel.zone.stamp_text(cutoffs[-1])
    why = "; ".join(f"{number:,}: {LEFT_OUT_REASONS[reason]}" for reason, number in left_out.items())
    return DataError(
        f"no series can be forecast at {counted(len(cutoffs), 'cut-off')} from {first} to {last} ({why})",
        "other dates with --start and --end, or --data FILE with more rows",
    )
