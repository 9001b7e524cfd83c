"""The end of training and the start of validation, chosen before anything is fitted.

One time for all series, so that no series is trained on rows later than those another one is validated on. Under
`--short-series auto`, where that would leave series untrained that are long enough (they begin later than others), each
series has its own last stretch; rows of one series may then be later than another's validation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from forecast_attn.data.findings import MOST_PLACES, Finding, Repair, Report, Severity, counted, report_each
from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.segments import blocks
from forecast_attn.errors import DataError


class ShortSeries(NamedTuple):
    """A series with fewer training rows than a window has."""

    item_id: str
    rows: int
    """Training rows of the series that have a value."""
    needed: int
    """Number of rows that would be enough."""


@dataclass(frozen=True)
class Split:
    """Rows with timestamp <= boundary are training, unless each series has its own number of them."""

    boundary: np.datetime64 | np.int64
    """Last training time; of the series that is trained on longest where each has its own."""
    skipped: tuple[ShortSeries, ...] = ()
    """Series without a training window."""
    padded: tuple[ShortSeries, ...] = ()
    """Series whose windows begin before they do."""
    rows_by_series: NDArray[np.int64] | None = None
    """Training rows of each series of the panel (num_series,), where every series has its own last stretch."""
    pads: bool = False
    """True where windows may begin before their series."""

    def training_rows(self, panel: Panel) -> NDArray[np.int64]:
        """Number of each series' first rows that are training (num_series,)."""
        if self.rows_by_series is not None:
            return self.rows_by_series
        # A binary search in all series at once: a dozen comparisons for each instead of one for every row.
        low, high = panel.starts[:-1].copy(), panel.ends
        while (open_ := low < high).any():
            middle = (low + high) // 2
            inside = open_ & (panel.timestamps[np.minimum(middle, panel.num_rows - 1)] <= self.boundary)
            low, high = np.where(inside, middle + 1, low), np.where(open_ & ~inside, middle, high)
        return low - panel.starts[:-1]

    def boundaries(self, panel: Panel) -> NDArray[Any]:
        """The last training time of each series (num_series,); that of its first row where it has none."""
        if self.rows_by_series is None:
            return np.full(panel.num_series, self.boundary)
        return panel.timestamps[panel.starts[:-1] + np.maximum(self.rows_by_series, 1) - 1]

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """Rows that padding adds to each short series."""
        kind = "short series: padded"
        return tuple(Repair(kind, short.item_id, count=short.needed - short.rows) for short in self.padded)

    def short_series(self) -> list[dict[str, Any]]:
        """Treatment of every short series, "skip" or "pad"; ready for JSON."""
        groups = {"skip": self.skipped, "pad": self.padded}
        return [{**short._asdict(), "action": action} for action, group in groups.items() for short in group]


def split_panel(panel: Panel, *, validation: float, horizon: int, lookback: int, short_series: str = "skip") -> Split:
    """Cut off the last stretch of time for validation.

    Args:
        panel: the validated table.
        validation: a fraction below 1 of the known span, or a number of steps; at least `horizon` are cut.
        horizon: steps to forecast.
        lookback: past steps the model sees.
        short_series: treatment of series with fewer than lookback + horizon training rows. "skip": left out of
            training. "pad": their windows begin before they do; one row and a horizon are enough. "error": refused.
            "auto": every series is learned from; of several series the short ones are padded, and each is validated on
            its own last stretch where one time for all would leave some out.

    Raises:
        DataError: no series has a training window, or none a validation window; the hint names sizes that fit. Or
            short series are refused; the message lists the first of them.
    """
    several = short_series == "auto" and panel.num_series > 1
    sizes = _Sizes(validation, horizon, lookback, pad=short_series == "pad", each_alone=several)
    bare, windows = _bare_split(panel, sizes)
    if several and not windows.all():
        sizes = sizes._replace(pad=True)
        bare, windows = _bare_split(panel, sizes)
    if not windows.any() or not len(validation_cutoffs(panel, bare, lookback, horizon, pad=sizes.pad)):
        raise _too_short(panel, validation, known_span(panel), horizon, lookback, sizes.pad)
    whole = bare.training_rows(panel) >= lookback + horizon
    skipped = _short(panel, bare, windows == 0, sizes.least)
    padded = _short(panel, bare, ~whole & (windows > 0), lookback + horizon)
    if skipped and short_series == "error":
        raise _refused(skipped, lookback, horizon)
    return replace(bare, skipped=skipped, padded=padded)


class _Sizes(NamedTuple):
    validation: float
    horizon: int
    lookback: int
    pad: bool
    each_alone: bool
    """True where each series may have its own last stretch."""

    @property
    def least(self) -> int:
        """Rows of a training window."""
        return self.horizon + (1 if self.pad else self.lookback)


def _bare_split(panel: Panel, sizes: _Sizes) -> tuple[Split, NDArray[np.int64]]:
    """At one time, or where that leaves out series that are long enough, each series by itself; and the windows of
    each series (num_series,)."""
    last = panel.timestamps[panel.ends - 1].max()
    steps = steps_cut_off(sizes.validation, known_span(panel), sizes.horizon)
    split = Split(panel.frequency.shift(np.array([last]), -steps)[0], pads=sizes.pad)
    windows = _training_windows(panel, split, sizes)
    left_out = (windows == 0) & (panel.num_known >= sizes.least + sizes.horizon)
    # Steps that somebody gave are those of some series at least; a fraction may be a horizon in all of them.
    has_room = sizes.validation < 1 or panel.num_known.max() >= sizes.least + sizes.validation
    if not (sizes.each_alone and left_out.any() and has_room):
        return split, windows
    rows = _rows_by_series(panel, sizes)
    boundary = panel.timestamps[(panel.starts[:-1] + rows - 1)[rows > 0]].max()
    split = replace(split, boundary=boundary, rows_by_series=rows)
    return split, _training_windows(panel, split, sizes)


def _training_windows(panel: Panel, split: Split, sizes: _Sizes) -> NDArray[np.int64]:
    cutoffs = training_cutoffs(panel, split, sizes.lookback, sizes.horizon, pad=sizes.pad)
    return windows_per_series(panel, cutoffs)


def _rows_by_series(panel: Panel, sizes: _Sizes) -> NDArray[np.int64]:
    """Training rows of each series: all but its own last stretch, but for a horizon, or all where it is too short."""
    share = sizes.validation * panel.num_known if sizes.validation < 1 else np.full(panel.num_series, sizes.validation)
    steps = np.maximum(np.round(share).astype(np.int64), sizes.horizon)
    rows = panel.num_known
    for cut in (sizes.horizon, steps):
        rows = np.where(panel.num_known - cut >= sizes.least, panel.num_known - cut, rows)
    return rows


def validation_steps(panel: Panel, validation: float, horizon: int) -> int:
    """Number of a panel's last steps that `split_panel` cuts off."""
    return steps_cut_off(validation, known_span(panel), horizon)


def report_short_series(split: Split, report: Report) -> None:
    """Report short series: FA402 where they are left out of training, FA406 where they are padded."""
    left_out: tuple[str, Severity, str] = ("FA402", "warning", "it is left out of training")
    padded: tuple[str, Severity, str] = ("FA406", "note", "its lookback is padded, and the padding is masked")
    for group, (code, severity, hint) in ((split.skipped, left_out), (split.padded, padded)):
        findings = [Finding(code, severity, _lacking(short), hint, item_id=short.item_id) for short in group]
        report_each(report, range(len(findings)), findings.__getitem__)


def _short(panel: Panel, split: Split, chosen: NDArray[np.bool_], needed: int) -> tuple[ShortSeries, ...]:
    """The chosen series (num_series,), with the values they have in training."""
    rows = split.training_rows(panel)
    return tuple(
        ShortSeries(
            panel.item_ids[index],
            int(np.count_nonzero(~np.isnan(panel.target[panel.starts[index] :][: rows[index]]))),
            needed,
        )
        for index in np.flatnonzero(chosen)
    )


def _lacking(short: ShortSeries) -> str:
    rows = counted(short.rows, "row")
    return f"series '{short.item_id}' has {rows} for training; a window needs {short.needed}"


def _refused(short: tuple[ShortSeries, ...], lookback: int, horizon: int) -> DataError:
    """Error that lists the first few short series: one error per series would take many runs to fix."""
    first = ", ".join(f"'{each.item_id}' has {each.rows}" for each in short[:MOST_PLACES])
    more = f", and {len(short) - MOST_PLACES:,} more" if len(short) > MOST_PLACES else ""
    needed = f"lookback {lookback} + horizon {horizon} need {lookback + horizon} training rows"
    return DataError(
        f"{len(short):,} series {'is' if len(short) == 1 else 'are'} too short: {needed}; {first}{more}",
        "--short-series skip leaves them out, --short-series pad uses them; or a smaller --lookback",
        code="FA407",
        item_id=short[0].item_id,
    )


def known_span(panel: Panel) -> int:
    """Steps from the first to the last known target of any series."""
    has_target = panel.num_known > 0
    first = panel.timestamps[panel.starts[:-1][has_target]].min()
    last = panel.timestamps[panel.ends[has_target] - 1].max()
    return int(np.floor(panel.frequency.steps_between(np.array([first]), np.array([last]))[0])) + 1


def steps_cut_off(validation: float, span: int, horizon: int) -> int:
    """Number of the last of so many steps that are cut off: at least a horizon."""
    return max(horizon, round(validation * span) if validation < 1 else int(validation))


def _too_short(panel: Panel, validation: float, span: int, horizon: int, lookback: int, pad: bool) -> DataError:
    steps = steps_cut_off(validation, span, horizon)
    longest, past = int(panel.num_known.max()), "one row" if pad else f"lookback {lookback}"
    lookback = 1 if pad else lookback
    if longest >= lookback + horizon + steps:
        return _no_window_there(panel, steps, horizon, past)
    message = (
        f"the longest series has {counted(longest, 'row')}; {past} + horizon {horizon} + {steps} for "
        f"validation need {lookback + horizon + steps}"
    )
    for shorter in range(horizon, 0, -1):
        room = longest - steps_cut_off(validation, span, shorter) - shorter
        if room >= (1 if pad else shorter):
            flags = f"--horizon {shorter}" if pad else f"--lookback {min(lookback, room)} --horizon {shorter}"
            return DataError(message, flags)
    return DataError(message, "add rows, or give validation fewer steps with --validation")


def _no_window_there(panel: Panel, steps: int, horizon: int, past: str) -> DataError:
    """Error for series that are long enough but hold values in the wrong rows: early, late or sparse."""
    last = panel.timestamps[panel.ends - 1].max()
    boundary = panel.zone.stamp_text(panel.frequency.shift(np.array([last]), -steps)[0])
    return DataError(
        f"no series has values for a window of {past} + horizon {horizon} before {boundary}, "
        "or none for one after it, where validation lies",
        "another stretch with --validation STEPS, or a smaller --lookback",
    )


# --------------------------------------------------------------------------- cutoffs
# Rows that may be cut-offs: for training, for validation and for the forecast.


Ints = NDArray[np.int64]


def training_cutoffs(
    panel: Panel, split: Split, lookback: int, horizon: int, *, pad: bool = False
) -> NDArray[np.int32]:
    """Cut-off rows whose whole horizon lies in training, ascending (num_windows,).

    Half as wide as elsewhere: there are nearly as many as rows.

    Args:
        panel: the validated table.
        split: where training ends.
        lookback: past steps of a window.
        horizon: future steps of a window.
        pad: series with fewer training rows than a window have windows too, which begin before them.
    """
    rows = split.training_rows(panel)
    first = panel.starts[:-1] + _least_past(rows, lookback, horizon, pad) - 1
    return _cutoffs(panel, first, panel.starts[:-1] + rows - horizon - first, (lookback, horizon), np.int32)


def validation_cutoffs(panel: Panel, split: Split, lookback: int, horizon: int, *, pad: bool = False) -> Ints:
    """Every cut-off from the boundary on whose horizon is known, ascending (num_windows,); lookbacks may reach into
    training.
    """
    rows = split.training_rows(panel)
    first = panel.starts[:-1] + np.maximum(rows, _least_past(rows, lookback, horizon, pad)) - 1
    # A series without training rows has no scale of its own to be judged in.
    number = np.where(rows > 0, panel.ends - horizon - first, 0)
    return _cutoffs(panel, first, number, (lookback, horizon), np.int64)


def _cutoffs(panel: Panel, firsts: Ints, numbers: Ints, sizes: tuple[int, int], dtype: DTypeLike) -> NDArray[Any]:
    """Cut-offs with values among the rows firsts[i], firsts[i] + 1, … of each series, numbers[i] of them."""
    return panel.storage.joined(
        with_values(panel, ranges(firsts[series], numbers[series]), *sizes).astype(dtype)
        for series in blocks(panel.starts[:-1])
    )


def forecast_cutoffs(panel: Panel, lookback: int, horizon: int, *, pad: bool = False) -> Ints:
    """The last known row of every series (num_series,). The panel must have `horizon` future rows (see `extend`).

    Args:
        panel: the history and the rows to forecast.
        lookback: past steps of a window.
        horizon: steps to forecast.
        pad: a single known row is enough.

    Raises:
        DataError: a series has fewer rows than the lookback, or none.
    """
    if (panel.starts[1:] - panel.ends < horizon).any():
        raise ValueError("the panel has too few future rows; extend it by the horizon first")
    needed = 1 if pad else lookback
    for index in np.flatnonzero(panel.num_known < needed)[:1]:
        raise DataError(
            f"series '{panel.item_ids[index]}' has {counted(int(panel.num_known[index]), 'row')} with a target; "
            f"the lookback needs {needed}",
            "add older rows of this series, or leave it out",
        )
    return panel.ends - 1


def windows_per_series(panel: Panel, cutoffs: Ints | NDArray[np.int32]) -> Ints:
    """Number of these ascending cut-offs in each series (num_series,)."""
    starts = panel.starts.astype(cutoffs.dtype)  # of another type the cut-offs would be copied
    number: Ints = np.diff(np.searchsorted(cutoffs, starts))
    return number


def _least_past(rows: Ints, lookback: int, horizon: int, pad: bool) -> Ints | int:
    """Number of rows up to the cut-off that a window of each series needs."""
    return np.where(rows < lookback + horizon, 1, lookback) if pad else lookback


def with_values(panel: Panel, cutoffs: Ints, lookback: int, horizon: int) -> Ints:
    """Keep the ascending cut-offs with a target value in the lookback and one in the horizon."""
    if not len(cutoffs):
        return cutoffs
    first, stop = panel.starts[panel.series_of(cutoffs[0])], cutoffs[-1] + 1 + horizon
    observed = ~np.isnan(panel.target[first:stop])
    if observed.all():
        return cutoffs
    # Differences of running counts say how many values a stretch of rows has, whatever its length.
    before = np.concatenate(([0], np.cumsum(observed, dtype=np.int32)))
    starts, now = panel.starts[panel.series_of(cutoffs)] - first, cutoffs + 1 - first
    past = before[now] > before[np.maximum(now - lookback, starts)]
    future = before[now + horizon] > before[now]
    kept: Ints = cutoffs[past & future]
    return kept


# --------------------------------------------------------------------------- weights
# Weights of the series in the loss.


def series_weights(panel: Panel, training_cutoffs: NDArray[np.int32]) -> NDArray[np.float32]:
    """The panel's weights, divided by their mean over the training windows (num_series,).

    The mean of 1 keeps the size of the loss, and so the effect of the learning rate, independent of the weights' unit.
    Equal weights become exactly 1.

    Args:
        panel: with a positive, finite weight per series.
        training_cutoffs: ascending, (num_windows,); at least one.
    """
    windows = windows_per_series(panel, training_cutoffs)
    relative = panel.weights / panel.weights.max()  # no product of a weight and a count overflows
    factor = windows.sum() / (relative * windows).sum()
    return np.asarray(relative * factor, np.float32)


def spread_evenly(cutoffs: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Select at most `most` cut-offs, evenly spread from the first to the last; all of them when `most` is 0."""
    if not most or len(cutoffs) <= most:
        return cutoffs
    return cutoffs[np.linspace(0, len(cutoffs) - 1, most).round().astype(np.int64)]
