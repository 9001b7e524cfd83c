"""The columns a forecast needs: permutation importance on the validation metric (Breiman 2001; Fisher et al. 2019).

A column is permuted over windows, whole windows at a time: what a window reads there comes from another window, in one
piece, lookback and horizon together. The rise of the MAE is what the column is worth. Attention says when, not which.

The yardstick is a column of noise that the network heeds as much as this one: its rise is zero but for chance.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from forecast_attn.audit.audit_results import (
    HIGH_QUANTILE,
    LOW_QUANTILE,
    SMALLEST_IMPORTANCE,
    CovariateImportance,
    Importance,
)
from forecast_attn.audit.chance import noise_bound, stretches_of
from forecast_attn.audit.subject import Floats, Subject
from forecast_attn.audit.wording import change_of, per_cent, signed
from forecast_attn.data.schema import Schema
from forecast_attn.data.windows import Window
from forecast_attn.forecasting.model import Model


def num_permuted(model: Model) -> int:
    """Number of columns and groups of columns to permute."""
    return len(columns_and_groups(model.schema))


def covariate_importance(subject: Subject, repeats: int, seed: int) -> CovariateImportance:
    """Permute every column and every group, `repeats` times each.

    Args:
        subject: the model and its windows; attention is not needed.
        repeats: permutations of each.
        seed: of the permutations and of the yardstick.
    """
    random = np.random.default_rng(seed)
    orders = [random.permutation(subject.num_windows) for _ in range(repeats)]
    before = subject.window_errors(subject.forecast())
    stretches, importances = stretches_of(subject), []
    for columns in columns_and_groups(subject.model.schema):
        rises = np.stack([_errors(subject, columns, order) - before for order in orders])
        draws = subject.series if columns.group == "static" else stretches
        importances.append((columns, _importance(columns, rises, float(before.mean()), draws)))
    importances.sort(key=lambda each: -each[1].mae_change)
    groups = [importance for columns, importance in importances if columns.is_group]
    singles = [importance for columns, importance in importances if not columns.is_group]
    verdict = covariate_verdict(groups, singles, subject.model.schema.roles.target)
    return CovariateImportance(subject.num_windows, repeats, float(before.mean()), verdict, groups, singles)


def _errors(subject: Subject, columns: Columns, order: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Floats:
    """Errors of the windows (num_windows,) when each reads these columns in another one."""

    def rewindow(rows: slice, window: Window) -> Window:
        cutoffs = torch.from_numpy(subject.cutoffs[order[rows]]).to(subject.device)
        return columns.taken_from(subject.arrays.gather(cutoffs), window)

    return subject.window_errors(subject.forecast(rewindow=rewindow))


def _importance(columns: Columns, rises: Floats, mae: float, draws: NDArray[np.int64]) -> Importance:
    """Importance from the increases of the windows' errors (repeats, num_windows)."""
    by_repeat, by_window = rises.mean(axis=1), rises.mean(axis=0)
    change = float(by_repeat.mean())
    relative = change / mae if mae > 0 else float("nan")
    noise = noise_bound(by_window, draws) if (rises != 0).any() else float("nan")
    return Importance(
        name=columns.name,
        group=columns.group,
        columns=list(columns.columns),
        mae_change=change,
        relative=relative,
        low=float(np.quantile(by_repeat, LOW_QUANTILE)),
        high=float(np.quantile(by_repeat, HIGH_QUANTILE)),
        noise_low=-noise,
        noise_high=noise,
        matters=change > noise and relative >= SMALLEST_IMPORTANCE,
    )


LEFT = {
    "small": f"beyond noise, but under {per_cent(SMALLEST_IMPORTANCE)}",
    "noise": "indistinguishable from noise",
    "untested": "untested, for the windows overlap too much",
}
"""Conclusion -> words on the columns that do not matter."""
NONE = {
    "small": f"is worth {per_cent(SMALLEST_IMPORTANCE)} of the MAE",
    "noise": "is distinguishable from noise",
    "untested": "can be told from noise: the windows span less than two stretches of lookback and horizon",
}
"""The same where nothing matters, of the best of them."""


def covariate_verdict(groups: list[Importance], singles: list[Importance], target: str) -> str:
    """The most important one, and those that a column of noise could be."""
    if not singles:
        return f"there are no covariates; {_most(groups, target, 'nothing that it reads', 'all that it reads')}"
    parts = [_most(singles, target, "no covariate", "all covariates")]
    conclusions = {each.conclusion for each in singles}
    for conclusion, words in LEFT.items() if len(conclusions) > 1 else ():
        names = [f"'{each.name}'" for each in singles if each.conclusion == conclusion]
        parts += [f"{words}: {', '.join(names)}"] if names else []
    return "; ".join(parts)


def _most(importances: list[Importance], target: str, none: str, every: str) -> str:
    """The most important of those that matter; `importances` are sorted."""
    first = next((each for each in importances if each.matters), None)
    if first is None:
        conclusions = {each.conclusion for each in importances}
        return f"{none} {next(words for conclusion, words in NONE.items() if conclusion in conclusions)}"
    what = {"target": "its own past", "calendar": "the calendar"}.get(first.group, f"'{first.name}'")
    rise = f"{change_of(first.relative)} ({signed(first.mae_change)}; noise: up to {signed(first.noise_high)})"
    most = f", the most of {every}" if len(importances) > 1 and first is importances[0] else ""
    return f"with {what} shuffled the MAE of '{target}' {rise}{most}"


# --------------------------------------------------------------------------- columns
# The columns of a table as a network reads them: which places of a window's tensors belong to which.


Positions = dict[str, list[int]]
"""Field of `Window` -> columns on its last axis."""


@dataclass(frozen=True)
class Columns:
    """One column, or a group of them, among a window's inputs.

    Attributes:
        name: of the column, or of the group.
        group: past, future, static, calendar or target.
        columns: names of all columns.
        positions: where they stand.
        whole: fields of `Window` that are theirs altogether.
        is_group: whether it stands for a kind of column.
    """

    name: str
    group: str
    columns: tuple[str, ...]
    positions: Positions = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    is_group: bool = False

    def taken_from(self, other: Window, window: Window) -> Window:
        """A batch of windows with these columns of another batch."""
        replaced: dict[str, Any] = {name: getattr(other, name) for name in self.whole}
        for name, indices in self.positions.items():
            index = torch.tensor(indices, device=getattr(window, name).device)
            replaced[name] = getattr(window, name).index_copy(-1, index, getattr(other, name).index_select(-1, index))
        return window._replace(**replaced)


def columns_and_groups(schema: Schema) -> list[Columns]:
    """Every column by itself, and the columns of every kind together."""
    singles = [*_past(schema), *_future(schema), *_static(schema)]
    target = Columns("target", "target", (schema.roles.target,), {}, ("past_target", "past_observed"), is_group=True)
    return [*singles, *_grouped(singles), *_calendar(schema), target]


def _past(schema: Schema) -> list[Columns]:
    layout, roles = schema.layout, schema.roles
    numeric = [
        Columns(name, "past", (name,), {"past_covariates": _with_indicator(index, layout.num_past, layout.masked)})
        for index, name in enumerate(roles.past_covariates)
    ]
    categories = [
        Columns(name, "past", (name,), {"past_categories": [index]}) for index, name in enumerate(roles.past_categories)
    ]
    return numeric + categories


def _future(schema: Schema) -> list[Columns]:
    """Future columns; their lookback part stands behind the past columns."""
    layout, roles = schema.layout, schema.roles
    columns = []
    for index, name in enumerate(roles.future_covariates):
        ahead = _with_indicator(index, layout.num_future, layout.masked)
        behind = [layout.num_past_columns + column for column in ahead]
        columns.append(Columns(name, "future", (name,), {"past_covariates": behind, "future_covariates": ahead}))
    for index, name in enumerate(roles.future_categories):
        behind = [layout.num_past_categories + index]
        columns.append(Columns(name, "future", (name,), {"past_categories": behind, "future_categories": [index]}))
    return columns


def _static(schema: Schema) -> list[Columns]:
    roles = schema.roles
    kinds = (("static_covariates", roles.static_covariates), ("static_categories", roles.static_categories))
    return [
        Columns(name, "static", (name,), {kind: [index]}) for kind, names in kinds for index, name in enumerate(names)
    ]


def _calendar(schema: Schema) -> list[Columns]:
    """The features of the calendar belong together: the sine of the hour says nothing without its cosine."""
    names, layout = schema.calendar.names, schema.layout
    if not names:
        return []
    ahead = [layout.num_future_columns + index for index in range(len(names))]
    behind = [layout.num_past_columns + column for column in ahead]
    positions = {"past_covariates": behind, "future_covariates": ahead}
    return [Columns("calendar", "calendar", tuple(names), positions, is_group=True)]


def _grouped(singles: list[Columns]) -> list[Columns]:
    groups = []
    for kind in ("past", "future", "static"):
        members = [columns for columns in singles if columns.group == kind]
        positions: Positions = {}
        for columns in members:
            for name, indices in columns.positions.items():
                positions[name] = positions.get(name, []) + indices
        if members:
            groups.append(Columns(kind, kind, tuple(columns.name for columns in members), positions, is_group=True))
    return groups


def _with_indicator(index: int, number: int, masked: bool) -> list[int]:
    """A covariate, and where values may be missing its indicator, which stands behind all covariates of its kind."""
    return [index, number + index] if masked else [index]
