"""The columns of a table as a network reads them: which places of a window's tensors belong to which."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from forecast_attn.data.schema import Schema
from forecast_attn.data.windows import Window

Places = dict[str, list[int]]
"""Field of `Window` -> columns on its last axis."""


@dataclass(frozen=True)
class Columns:
    """One column, or a group of them, among a window's inputs.

    Attributes:
        name: of the column, or of the group.
        group: past, future, static, calendar or target.
        columns: names of all columns.
        places: where they stand.
        whole: fields of `Window` that are theirs altogether.
        is_group: whether it stands for a kind of column.
    """

    name: str
    group: str
    columns: tuple[str, ...]
    places: Places = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    is_group: bool = False

    def taken_from(self, other: Window, window: Window) -> Window:
        """A batch of windows with these columns of another batch."""
        replaced = {
            name: _with_places(getattr(window, name), getattr(other, name), at) for name, at in self.places.items()
        }
        return window._replace(**replaced, **{name: getattr(other, name) for name in self.whole})


def columns_and_groups(schema: Schema) -> list[Columns]:
    """Every column by itself, and the columns of every kind together."""
    singles = [*_past(schema), *_future(schema), *_static(schema)]
    target = Columns("target", "target", (schema.roles.target,), {}, ("past_target", "past_observed"), is_group=True)
    return [*singles, *_grouped(singles), *_calendar(schema), target]


def _past(schema: Schema) -> list[Columns]:
    layout, roles = schema.layout, schema.roles
    numeric = [
        Columns(name, "past", (name,), {"past_covariates": _with_indicator(place, layout.num_past, layout.masked)})
        for place, name in enumerate(roles.past_covariates)
    ]
    categories = [
        Columns(name, "past", (name,), {"past_categories": [place]}) for place, name in enumerate(roles.past_categories)
    ]
    return numeric + categories


def _future(schema: Schema) -> list[Columns]:
    """What is known of the future stands in the lookback too, behind the past columns."""
    layout, roles = schema.layout, schema.roles
    columns = []
    for place, name in enumerate(roles.future_covariates):
        ahead = _with_indicator(place, layout.num_future, layout.masked)
        behind = [layout.num_past_columns + column for column in ahead]
        columns.append(Columns(name, "future", (name,), {"past_covariates": behind, "future_covariates": ahead}))
    for place, name in enumerate(roles.future_categories):
        behind = [layout.num_past_categories + place]
        columns.append(Columns(name, "future", (name,), {"past_categories": behind, "future_categories": [place]}))
    return columns


def _static(schema: Schema) -> list[Columns]:
    roles = schema.roles
    kinds = (("static_covariates", roles.static_covariates), ("static_categories", roles.static_categories))
    return [
        Columns(name, "static", (name,), {kind: [place]}) for kind, names in kinds for place, name in enumerate(names)
    ]


def _calendar(schema: Schema) -> list[Columns]:
    """The features of the calendar belong together: the sine of the hour says nothing without its cosine."""
    names, layout = schema.calendar.names, schema.layout
    if not names:
        return []
    ahead = [layout.num_future_columns + place for place in range(len(names))]
    behind = [layout.num_past_columns + column for column in ahead]
    places = {"past_covariates": behind, "future_covariates": ahead}
    return [Columns("calendar", "calendar", tuple(names), places, is_group=True)]


def _grouped(singles: list[Columns]) -> list[Columns]:
    groups = []
    for kind in ("past", "future", "static"):
        members = [columns for columns in singles if columns.group == kind]
        places: Places = {}
        for columns in members:
            for name, at in columns.places.items():
                places[name] = places.get(name, []) + at
        if members:
            groups.append(Columns(kind, kind, tuple(columns.name for columns in members), places, is_group=True))
    return groups


def _with_indicator(place: int, number: int, masked: bool) -> list[int]:
    """A covariate, and where values may be missing its indicator, which stands behind all covariates of its kind."""
    return [place, number + place] if masked else [place]


def _with_places(tensor: Tensor, other: Tensor, places: list[int]) -> Tensor:
    index = torch.tensor(places, device=tensor.device)
    return tensor.index_copy(-1, index, other.index_select(-1, index))
