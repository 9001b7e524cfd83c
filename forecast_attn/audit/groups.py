"""Does the forecast need these weights everywhere? Equal weights once more, step by step, series by series, regime by
regime: a mean over all of them can hide one in which the weights do not matter.

A regime is a value of a category, or of a column of few numbers, that is known of the target's time or of the cut-off;
and the clock of the target: the part of the day, and weekday or weekend.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.audit.audit_results import Check, GroupNeed, Statistic
from forecast_attn.audit.chance import chance_of_rise, stretches_of
from forecast_attn.audit.subject import Floats, Reference, Subject
from forecast_attn.audit.wording import beside_chance, change_of, share_of, why_untested
from forecast_attn.data.panel import Panel
from forecast_attn.forecasting.weight_need import SHARE_THAT_MATTERS
from forecast_attn.inspection.statistics import distinct_texts, steps_text

FEWEST_WINDOWS = 8
"""Windows of a group below which nothing is said of it."""
MOST_BANDS = 6
"""Groups of steps ahead."""
MOST_VALUES = 8
"""Different values of a column that are groups; a column of more has too few windows for each."""
PARTS_OF_DAY = {
    "00:00 to 05:59": (0, 6), "06:00 to 11:59": (6, 12), "12:00 to 17:59": (12, 18), "18:00 to 23:59": (18, 24),
}  # fmt: skip


class ForecastGroup(NamedTuple):
    """Some of the forecast values."""

    kind: str
    """step, series or regime."""
    name: str
    """In words."""
    chosen: NDArray[np.bool_]
    """(num_windows, horizon)"""


def need_by_group(subject: Subject, panel: Panel, reference: Reference, equal: Floats) -> Check:
    """Effect of equal weights on the MAE of each group, and the group they harm least.

    Args:
        subject: the model and its windows.
        panel: their rows.
        reference: the forecasts as they are.
        equal: the forecasts with equal weights (num_windows, horizon).
    """
    errors, errors_equal = (np.abs(each - subject.actual) for each in (reference.prediction, equal))
    draws = stretches_of(subject)
    needs = [
        need for cells in groups_of(subject, panel) if (need := _need(cells, errors, errors_equal, draws)) is not None
    ]
    if not needs:
        verdict = f"no group has {FEWEST_WINDOWS} windows: look at more of them with --windows"
        return Check("groups", "In every group", None, verdict, [])
    statistics = [_worst_of(kind, needs) for kind in dict.fromkeys(need.kind for need in needs)]
    passed, verdict = groups_verdict(needs)
    return Check("groups", "In every group", passed, verdict, statistics, groups=needs)


def groups_of(subject: Subject, panel: Panel) -> Iterator[ForecastGroup]:
    """Groups that leave some values out, those of steps first."""
    rows = subject.cutoffs[:, None] + np.arange(1, subject.actual.shape[1] + 1)
    for cells in (
        *_by_step(subject),
        *_by_series(subject, panel),
        *_by_column(subject, panel, rows),
        *_by_clock(panel, rows),
    ):
        chosen = np.broadcast_to(cells.chosen, rows.shape)
        if chosen.any() and not chosen.all():
            yield cells._replace(chosen=chosen)


def _by_step(subject: Subject) -> Iterator[ForecastGroup]:
    """Each step of the decoder, or bands of them where there are many."""
    horizon, patches = subject.actual.shape[1], subject.patches
    steps, ahead = np.arange(patches.num_steps), np.arange(horizon)
    for band in np.array_split(steps, min(len(steps), MOST_BANDS)):
        first, last = band[0] * patches.length, min((band[-1] + 1) * patches.length, horizon) - 1
        name = steps_text(first + 1, last + 1)
        yield ForecastGroup("step", f"at {name} ahead", ((ahead >= first) & (ahead <= last))[None])


def _by_series(subject: Subject, panel: Panel) -> Iterator[ForecastGroup]:
    for series in np.unique(subject.series):
        yield ForecastGroup("series", f"for series '{panel.item_ids[series]}'", (subject.series == series)[:, None])


def _by_column(subject: Subject, panel: Panel, rows: NDArray[np.int64]) -> Iterator[ForecastGroup]:
    """The values of every column that has few: known ones of the target's time, past ones of the cut-off."""
    roles, cutoffs, series = panel.roles, subject.cutoffs[:, None], subject.series[:, None]
    categories = (
        (roles.future_categories, panel.future_categories, rows),
        (roles.past_categories, panel.past_categories, cutoffs),
        (roles.static_categories, panel.static_categories, series),
    )
    for names, values, indices in categories:
        for column, name in enumerate(names):
            yield from _values_of(name, values[indices, column], dict(enumerate(panel.categories[name])))
    numbers = (
        (roles.future_covariates, panel.future_covariates, rows),
        (roles.past_covariates, panel.past_covariates, cutoffs),
        (roles.static_covariates, panel.static_covariates, series),
    )
    for names, amounts, indices in numbers:
        for column, name in enumerate(names):
            yield from _values_of(name, amounts[indices, column])


def _values_of(
    name: str, values: NDArray[np.float64 | np.int32], texts: dict[int, str] | None = None
) -> Iterator[ForecastGroup]:
    """A group for each value of a column, where they are few; what is missing is in none."""
    different = np.unique(values[~np.isnan(values)] if texts is None else values[values >= 0])
    if not 2 <= len(different) <= MOST_VALUES:
        return
    names = distinct_texts(different) if texts is None else [f"'{texts[int(value)]}'" for value in different]
    for value, text in zip(different, names, strict=True):
        yield ForecastGroup("regime", f"where '{name}' is {text}", values == value)


def _by_clock(panel: Panel, rows: NDArray[np.int64]) -> Iterator[ForecastGroup]:
    """The part of the day and of the week of the target, on the clock that people read; nothing of whole numbers."""
    stamps = panel.timestamps
    if stamps.dtype.kind != "M" or not (panel.frequency.is_within_day or panel.frequency.base == "D"):
        return
    local = panel.zone.local(stamps[rows])
    days = local.astype("datetime64[D]").astype(np.int64)
    weekend = (days + 3) % 7 >= 5  # 1 January 1970 was a Thursday
    yield ForecastGroup("regime", "on weekdays", ~weekend)
    yield ForecastGroup("regime", "at weekends", weekend)
    if panel.frequency.is_within_day:
        hours = local.astype("datetime64[h]").astype(np.int64) % 24
        for name, (first, stop) in PARTS_OF_DAY.items():
            yield ForecastGroup("regime", f"from {name}", (hours >= first) & (hours < stop))


def _need(cells: ForecastGroup, errors: Floats, errors_equal: Floats, draws: NDArray[np.int64]) -> GroupNeed | None:
    """Cost of equal weights in a group; None where it has too few windows."""
    chosen = cells.chosen & ~np.isnan(errors)
    counts = chosen.sum(axis=1)
    within = counts > 0
    if within.sum() < FEWEST_WINDOWS:
        return None
    before, after = (float(np.where(chosen, each, 0).sum() / counts.sum()) for each in (errors, errors_equal))
    rise = after - before
    return GroupNeed(
        cells.kind,
        cells.name,
        int(within.sum()),
        before,
        after,
        share_of(rise, before),
        chance_of_rise(errors[within], errors_equal[within], chosen[within], draws[within]),
        rise >= SHARE_THAT_MATTERS * before,
    )


def _worst_of(kind: str, needs: list[GroupNeed]) -> Statistic:
    worst = min((need for need in needs if need.kind == kind), key=lambda need: need.rise_relative)
    return Statistic(f"worst_{kind}", f"smallest rise of the MAE, {worst.name}", worst.rise_relative, "share")


def groups_verdict(needs: list[GroupNeed]) -> tuple[bool | None, str]:
    """Return whether every group needs the weights (None where chance may do it), and a sentence on the worst group."""
    worst = min(needs, key=lambda need: (need.needed, need.beyond_chance, need.rise_relative))
    rise = beside_chance(worst.rise, worst.chance)
    change = f"{worst.name} the MAE {change_of(worst.rise_relative)} with equal weights ({rise})"
    if not worst.needed:
        best = max(needs, key=lambda need: need.rise_relative)
        well = "better" if worst.rise_relative < -SHARE_THAT_MATTERS else "about as well"
        other = f"{best.name} it {change_of(best.rise_relative)}"
        return False, f"{change}: in these {worst.windows} windows equal weights do {well}; {other}"
    if not worst.beyond_chance:
        return None, f"{change} in {worst.windows} windows: {why_untested(worst.chance)}"
    fewest = min(need.windows for need in needs)
    return True, f"{change}: the smallest rise of all groups; each has at least {fewest} windows and is beyond chance"
