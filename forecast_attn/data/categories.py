"""The vocabulary of categorical covariates: the categories of the training rows, and one entry for all others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.findings import listed
from forecast_attn.data.panel import Panel, ranges
from forecast_attn.data.segments import blocks
from forecast_attn.data.split import Split
from forecast_attn.errors import nearest

UNKNOWN = 0
"""Code of a category that training did not see, and of an empty cell."""


@dataclass(frozen=True)
class UnknownCategory:
    """A category of a table that training did not see."""

    column: str
    category: str
    count: int
    """Rows, or series for a static covariate."""
    hint: str
    """The categories that training saw, ten at most, and the one that looks like this one."""


@dataclass(frozen=True)
class Vocabulary:
    """Column -> its categories, sorted as text. The first has code 1; 0 is unknown."""

    categories: dict[str, tuple[str, ...]]

    def size(self, column: str) -> int:
        """Number of codes, the unknown one included."""
        return len(self.categories[column]) + 1

    def sizes(self, columns: tuple[str, ...]) -> tuple[int, ...]:
        return tuple(self.size(column) for column in columns)

    def encode(self, panel: Panel, columns: tuple[str, ...], codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """The vocabulary's codes of a panel's codes (…, num_columns)."""
        encoded = np.empty_like(codes)
        for position, column in enumerate(columns):
            encoded[..., position] = self._lookup(panel, column)[codes[..., position]]
        return encoded

    def unknown(self, panel: Panel) -> tuple[UnknownCategory, ...]:
        """The panel's categories that training did not see, most frequent first within a column."""
        roles = panel.roles
        groups = (
            (roles.past_categories, panel.past_categories),
            (roles.future_categories, panel.future_categories),
            (roles.static_categories, panel.static_categories),
        )
        unknown = [
            UnknownCategory(column, category, int(count), _hint(category, self.categories[column]))
            for columns, codes in groups
            for position, column in enumerate(columns)
            for category, count in self._unknown_of(panel, column, codes[:, position])
        ]
        return tuple(sorted(unknown, key=lambda each: (each.column, -each.count, each.category)))

    def _unknown_of(self, panel: Panel, column: str, codes: NDArray[np.int32]) -> list[tuple[str, np.int64]]:
        present, counts = np.unique(codes[codes >= 0], return_counts=True)
        unseen = self._lookup(panel, column)[present] == UNKNOWN
        names = [panel.categories[column][code] for code in present[unseen]]
        return list(zip(names, counts[unseen], strict=True))

    def _lookup(self, panel: Panel, column: str) -> NDArray[np.int32]:
        """Code of each category of the panel's column; the last entry is for -1, which stands for an empty cell."""
        codes = {category: code for code, category in enumerate(self.categories[column], start=1)}
        return np.array([*(codes.get(category, UNKNOWN) for category in panel.categories[column]), UNKNOWN], np.int32)

    def to_dict(self) -> dict[str, Any]:
        return {column: list(categories) for column, categories in self.categories.items()}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        return cls({column: tuple(map(str, categories)) for column, categories in content.items()})


def _hint(category: str, known: tuple[str, ...]) -> str:
    near = nearest(category, known)
    guess = f"did you mean '{near}'? " if near is not None else ""
    return f"{guess}known: {listed(known)}"


def fit_vocabulary(panel: Panel, split: Split) -> Vocabulary:
    """The categories of the training rows, and of the series that have any; no later row is read."""
    rows, roles = split.training_rows(panel), panel.roles
    seen = {column: np.zeros(len(panel.categories[column]) + 1, np.bool_) for column in roles.categorical}
    for series in blocks(panel.starts[:-1]) if roles.past_categories or roles.future_categories else ():
        training = ranges(panel.starts[:-1][series], rows[series])
        _mark(seen, roles.past_categories, panel.past_categories[training])
        _mark(seen, roles.future_categories, panel.future_categories[training])
    _mark(seen, roles.static_categories, panel.static_categories[rows > 0])
    names = panel.categories
    return Vocabulary(
        {column: tuple(names[column][code] for code in np.flatnonzero(used[:-1])) for column, used in seen.items()}
    )


def _mark(seen: dict[str, NDArray[np.bool_]], columns: tuple[str, ...], codes: NDArray[np.int32]) -> None:
    """Mark the codes (num_rows, num_columns) as seen; -1, of an empty cell, is the last one of a column."""
    for position, column in enumerate(columns):
        seen[column][codes[:, position]] = True
