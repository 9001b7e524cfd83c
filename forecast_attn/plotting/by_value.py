"""Mean forecast and mean actual value by the value of a column: where the forecast follows it, and where it does not.

A column that is known ahead counts with its value at the time that is forecast, as it was known at the cut-off; one
that is not, with its value at the cut-off. Numbers of many values are cut into bins of about equally many forecasts.

Neighbouring forecasts are alike. The interval of a mean therefore counts stretches of time instead of values: its
standard error is that of cluster sampling, sqrt(G / (G - 1) · Σ_g (Σ_{i in g} (y_i - ȳ))²) / n over G stretches as long
as the horizon or a season, whichever is longer, all series together (Liang and Zeger 1986, "Longitudinal data analysis
using generalized linear models"), with Student's t of G - 1 degrees of freedom.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from forecast_attn.audit.chance import clustered_error
from forecast_attn.audit.dependence import partial_dependence
from forecast_attn.audit.subject import Subject
from forecast_attn.audit.wording import number
from forecast_attn.data.frequency import hour_of_day, weekday
from forecast_attn.data.panel import Panel
from forecast_attn.data.vintages import Vintages
from forecast_attn.errors import DataError, did_you_mean
from forecast_attn.inspection.results import without_nan
from forecast_attn.inspection.statistics import distinct_texts
from forecast_attn.plotting.forecasts import Forecasts
from forecast_attn.plotting.step_errors import extent

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

INTERVAL = 0.95
MOST_BINS = 10
"""Bins of a column of numbers."""
MOST_VALUES = 12
"""Different numbers of a column that are not put into bins."""
MOST_COLUMNS = 12
"""Columns that one picture shows."""
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
AHEAD, AT_CUTOFF, OF_SERIES = "at the time forecast", "at the cut-off", "of the series"


class Mean(NamedTuple):
    """A mean and its interval, NaN where there are too few stretches of time to know it."""

    mean: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2


@dataclass(frozen=True)
class ValueBin:
    """The forecasts of which a column has some value.

    Attributes:
        label: the value, or from where to where.
        position: the mean value of a column of numbers; of categories their number.
        count: forecast values.
        forecast: their mean.
        actual: mean actual value.
        error: the mean of forecast minus actual.
        dependence: the network's mean forecast if the column had this value throughout the horizon, whatever else
            happened (partial dependence); None for what is not known ahead.
    """

    label: str
    position: float
    count: int
    forecast: Mean
    actual: Mean
    error: Mean
    dependence: float | None = None


@dataclass(frozen=True)
class ColumnValues:
    """Forecasts by the value of one column.

    Attributes:
        name: of the column; `hour` and `weekday` are those of the time forecast.
        known: which of its values counts.
        is_number: whether its bins have places on an axis of numbers: a category and a few numbers have none.
        bins: ascending, or in the order of the categories.
    """

    name: str
    known: str
    is_number: bool
    bins: tuple[ValueBin, ...]


@dataclass(frozen=True, eq=False)
class ByValue:
    """Forecasts by the values of columns.

    Attributes:
        target: what is forecast.
        model: whose forecasts.
        columns: one after the other.
        num_items, num_cutoffs: series and cut-offs behind them.
        first_cutoff, last_cutoff: in words.
        stretch: steps of the stretches of time that intervals count.
    """

    target: str
    model: str
    columns: tuple[ColumnValues, ...]
    num_items: int
    num_cutoffs: int
    first_cutoff: str
    last_cutoff: str
    stretch: int
    notes: list[str]

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: every number that is drawn, null where there is none."""
        content = {
            "kind": "by-value",
            "interval": INTERVAL,
            **vars(self),
            "columns": [_document(c) for c in self.columns],
        }
        document: dict[str, Any] = without_nan(content)
        return document


def _document(column: ColumnValues) -> dict[str, Any]:
    content = asdict(column)
    for entry, values in zip(content["bins"], column.bins, strict=True):
        entry.update({name: getattr(values, name)._asdict() for name in ("forecast", "actual", "error")})
    return content | {"bins": list(content["bins"])}


def by_value(
    forecasts: Forecasts, panel: Panel, columns: tuple[str, ...], *, horizon: int, name: str, notes: list[str]
) -> ByValue:
    """Average one model's forecasts that have targets by the values of columns of their panel.

    Args:
        forecasts: of one model.
        panel: the series, with the columns at the times of the forecasts.
        columns: names; all when empty.
        horizon: of the forecasts.
        name: what messages call the panel.
        notes: on the forecasts.

    Raises:
        DataError: no such column, or the forecasts' times are not in the panel.
    """
    scored = forecasts.where(forecasts.frame["target"].notna() & forecasts.frame["prediction"].notna())
    positions = _positions(scored, panel, name)
    known = {each.name: each for each in _columns(panel, positions)}
    for column in columns:
        if column not in known:
            raise DataError(f"there is no column '{column}' to show forecasts by", did_you_mean(column, list(known)))
    notes = list(notes)
    shown = columns or tuple(known)[:MOST_COLUMNS]
    if not columns and len(known) > MOST_COLUMNS:
        notes.append(f"{MOST_COLUMNS} of {len(known)} columns are drawn; choose with --column NAME")
    stretch = max(horizon, panel.frequency.season)
    frame = scored.frame
    values = _Values(
        frame["prediction"].to_numpy(np.float64),
        frame["target"].to_numpy(np.float64),
        _stretches(panel, positions, stretch),
    )
    shown_columns = tuple(_column_values(known[each], values) for each in shown)
    empty = [each.name for each in shown_columns if not each.bins]
    if len(empty) == len(shown_columns):
        missing = f"no value is known of {', '.join(empty)}" if empty else "there are no columns beside the target"
        raise DataError(f"{missing} in {name}: nothing to show forecasts by", "forecast plot RUN --kind error-by-step")
    if empty:
        notes.append(f"no value is known of {', '.join(empty)}")
    return ByValue(
        scored.target or panel.roles.target, scored.models[0], tuple(each for each in shown_columns if each.bins),
        *extent(scored), stretch, notes,
    )  # fmt: skip


def with_dependence(shown: ByValue, subject: Subject) -> ByValue:
    """The same with the network's partial dependence on each column that it knows ahead."""
    roles = subject.model.schema.roles
    columns = []
    for column in shown.columns:
        bins = column.bins
        if column.name in roles.future_covariates or column.name in roles.future_categories:
            is_number = column.name in roles.future_covariates
            values = [each.position if is_number else each.label for each in bins]
            means = partial_dependence(subject, column.name, values)
            bins = tuple(replace(each, dependence=mean) for each, mean in zip(bins, means, strict=True))
        columns.append(replace(column, bins=bins))
    return replace(shown, columns=tuple(columns))


# --------------------------------------------------------------------------- the columns


class _Positions(NamedTuple):
    """Rows of forecasts in a panel, each (num_forecasts,)."""

    series: Ints
    cutoffs: Ints
    """Rows."""
    rows: Ints


class _Column(NamedTuple):
    name: str
    known: str
    values: NDArray[Any]
    """(num_forecasts,), NaN where missing; codes of categories, below 0 where missing."""
    categories: tuple[str, ...] | None
    most_values: int = MOST_VALUES


def _positions(forecasts: Forecasts, panel: Panel, name: str) -> _Positions:
    """Rows of cut-offs and targets.

    Raises:
        DataError: the panel does not have some of them.
    """
    frame, ids = forecasts.frame, {item_id: index for index, item_id in enumerate(panel.item_ids)}
    series = np.array([ids.get(item_id, -1) for item_id in frame["item_id"]], np.int64)
    rows_of_times = []
    for column in ("cutoff", "timestamp"):
        stamps, rows = frame[column].to_numpy(), np.full(len(frame), -1, np.int64)
        for index in np.unique(series[series >= 0]):
            known = panel.timestamps[panel.starts[index] : panel.starts[index + 1]]
            chosen = np.flatnonzero(series == index)
            times = stamps[chosen].astype(known.dtype)
            # A search gives a place for times that are not there, too; only an equal stamp is a row.
            position = np.searchsorted(known, times).clip(max=len(known) - 1)
            rows[chosen] = np.where(known[position] == times, panel.starts[index] + position, -1)
        rows_of_times.append(rows)
    missing = np.flatnonzero((rows_of_times[0] < 0) | (rows_of_times[1] < 0))
    if len(missing):
        first = frame.iloc[int(missing[0])]
        when = forecasts.zone.stamp_text(frame["timestamp"].to_numpy()[missing[0]])
        raise DataError(
            f"{name} does not have the time {when} of series '{first['item_id']}', which {forecasts.name} forecasts: "
            "its columns are not known there",
            "pass the table of training with --data FILE, which shows the validation windows",
        )
    return _Positions(series, *rows_of_times)


def _columns(panel: Panel, positions: _Positions) -> Iterator[_Column]:
    """Every column of the panel, those known ahead first, then the clock of the time forecast."""
    roles = panel.roles
    ahead = _known_ahead(panel, positions)
    numbers = (
        (roles.future_covariates, AHEAD, ahead),
        (roles.past_covariates, AT_CUTOFF, panel.past_covariates[positions.cutoffs]),
        (roles.static_covariates, OF_SERIES, panel.static_covariates[positions.series]),
    )
    categories = (
        (roles.future_categories, AHEAD, panel.future_categories[positions.rows]),
        (roles.past_categories, AT_CUTOFF, panel.past_categories[positions.cutoffs]),
        (roles.static_categories, OF_SERIES, panel.static_categories[positions.series]),
    )
    for (names, known, values), (kinds, _, codes) in zip(numbers, categories, strict=True):
        for index, name in enumerate(names):
            yield _Column(name, known, values[:, index], None)
        for index, name in enumerate(kinds):
            yield _Column(name, known, codes[:, index], panel.categories[name])
    yield from _clock(panel, positions.rows)


def _known_ahead(panel: Panel, positions: _Positions) -> Floats:
    """Future covariates at the times forecast; where they were forecast themselves, as known at the cut-off."""
    values = panel.future_covariates[positions.rows]
    if panel.issued is not None:
        vintages = Vintages.build(panel, panel.issued)
        rows, cutoffs = (torch.from_numpy(each) for each in (positions.rows, positions.cutoffs))
        values[:, list(vintages.columns)] = vintages.values(rows[:, None], cutoffs)[:, 0].numpy()
    for index, name in enumerate(panel.roles.future_covariates):
        known = panel.roles.known_steps.get(name)
        if known is not None:  # beyond, the network does not read it
            values[positions.rows - positions.cutoffs > known, index] = np.nan
    return values


def _clock(panel: Panel, rows: Ints) -> Iterator[_Column]:
    """Hour and weekday that people read, where the step is no longer than a day."""
    stamps = panel.timestamps
    if stamps.dtype.kind != "M" or not (panel.frequency.is_within_day or panel.frequency.base in ("D", "B")):
        return
    local = panel.zone.local(stamps[rows])
    if panel.frequency.is_within_day:
        yield _Column("hour", AHEAD, hour_of_day(local).astype(np.float64), None, most_values=24)
    yield _Column("weekday", AHEAD, weekday(local), WEEKDAYS)


# --------------------------------------------------------------------------- bins and means


class _Values(NamedTuple):
    """Values to average, each (num_forecasts,)."""

    forecast: Floats
    actual: Floats
    stretches: Ints


def _stretches(panel: Panel, positions: _Positions, length: int) -> Ints:
    """The stretch of time that each forecast lies in, the same for all series."""
    stamps = panel.timestamps[positions.rows]
    steps = panel.frequency.steps_between(np.full_like(stamps, stamps.min()), stamps)
    return np.asarray(steps // length, np.int64)


def _column_values(column: _Column, values: _Values) -> ColumnValues:
    bins = []
    for label, chosen in _bins(column):
        position = float(column.values[chosen].mean())
        sides = (values.forecast[chosen], values.actual[chosen], values.forecast[chosen] - values.actual[chosen])
        forecast, actual, error = (mean_interval(each, values.stretches[chosen]) for each in sides)
        bins.append(ValueBin(label, position, len(chosen), forecast, actual, error))
    is_number = column.categories is None and (len(bins) > MOST_VALUES or not _are_few(column))
    return ColumnValues(column.name, column.known, is_number, tuple(bins))


def _bins(column: _Column) -> Iterator[tuple[str, Ints]]:
    """Labels, and which forecasts belong to each."""
    values = column.values
    if column.categories is not None:
        for code, name in enumerate(column.categories):
            if (values == code).any():
                yield name, np.flatnonzero(values == code)
        return
    known = values[~np.isnan(values)]
    # Few different numbers are shown one by one; of more, equal quantiles give bins of about equally many forecasts.
    if _are_few(column):
        different = np.unique(known)
        for value, label in zip(different, distinct_texts(different), strict=True):
            yield label, np.flatnonzero(values == value)
        return
    edges = np.unique(np.quantile(known, np.linspace(0, 1, MOST_BINS + 1)))
    bins = np.searchsorted(edges[1:-1], values, side="right")
    bins[np.isnan(values)] = -1
    for index, (low, high) in enumerate(itertools.pairwise(edges)):
        chosen = np.flatnonzero(bins == index)
        if len(chosen):
            yield f"{number(low)} to {number(high)}", chosen


def _are_few(column: _Column) -> bool:
    """Return whether every different number is shown by itself."""
    return len(np.unique(column.values[~np.isnan(column.values)])) <= column.most_values


def mean_interval(values: Floats, stretches: Ints) -> Mean:
    """Mean of values (num_values,), and its interval of which each stretch (num_values,) counts once."""
    from scipy.special import stdtrit

    mean, (error, num_stretches) = float(values.mean()), clustered_error(values, stretches)
    margin = float(stdtrit(num_stretches - 1, (1 + INTERVAL) / 2)) * error
    return Mean(mean, mean - margin, mean + margin)
