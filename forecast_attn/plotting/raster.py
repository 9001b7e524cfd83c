"""Lines as dots on a grid of pixels, and values as places on it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Dots = NDArray[np.bool_]

_FLAT = 1e-12
"""A span smaller than this part of its values is rounding: it is drawn as a constant."""


class Span(NamedTuple):
    """What an axis shows, from end to end; `low` < `high`."""

    low: float
    high: float

    @classmethod
    def of(cls, *values: Floats, zero: bool = False) -> Span:
        """The smallest span that holds every finite value; a constant stands in the middle; 0 to 1 where there is none.

        Args:
            values: of any shape.
            zero: whether the axis starts at 0, where no value is negative.
        """
        known = [each[np.isfinite(each)] for each in values]
        merged = np.concatenate([each.ravel() for each in known]) if known else np.zeros(0)
        if not len(merged):
            return cls(0.0, 1.0)
        low, high = float(merged.min()), float(merged.max())
        low = min(low, 0.0) if zero else low
        size = max(abs(low), abs(high))
        if high / 2 - low / 2 <= _FLAT * size:
            margin = min(size * 0.05 or 0.5, np.finfo(float).max / 4)
            limit = np.finfo(float).max
            low, high = max(low - margin, -limit), min(high + margin, limit)
        return cls(low, high) if low < high else cls(low - 0.5, low + 0.5)

    def places(self, values: Floats, size: int) -> Floats:
        """Where values lie between the middles of the first and the last of `size` pixels; NaN where not finite."""
        # Halved first: the distance between two floats may be more than any float.
        half = self.high / 2 - self.low / 2
        with np.errstate(invalid="ignore", over="ignore"):
            share = (np.where(np.isfinite(values), values, np.nan) / 2 - self.low / 2) / half
        return np.asarray(share * (size - 1))


def draw_line(x: Floats, y: Floats, width: int, height: int) -> Dots:
    """Dots of a line through points, (height, width), row 0 at y = 0.

    Args:
        x: places in pixels, (num_points,).
        y: places in pixels, (num_points,); NaN ends the line, a point between two NaN is a dot.
        width: pixels.
        height: pixels.
    """
    dots = np.zeros((height, width), np.bool_)
    known = np.isfinite(x) & np.isfinite(y)
    _set(dots, x[known], y[known])
    for at in np.flatnonzero(known[:-1] & known[1:]):
        length = max(abs(x[at + 1] - x[at]), abs(y[at + 1] - y[at]))
        share = np.linspace(0, 1, int(np.ceil(length)) + 1)
        _set(dots, x[at] + share * (x[at + 1] - x[at]), y[at] + share * (y[at + 1] - y[at]))
    return dots


def _set(dots: Dots, x: Floats, y: Floats) -> None:
    rows, columns = (np.floor(places + 0.5).astype(np.int64) for places in (y, x))
    inside = (rows >= 0) & (rows < dots.shape[0]) & (columns >= 0) & (columns < dots.shape[1])
    dots[rows[inside], columns[inside]] = True


def fill_between(x: Floats, lower: Floats, upper: Floats, width: int, height: int) -> Dots:
    """Pixels between two lines and on them, (height, width); arguments as for `draw_line`."""
    dots = np.zeros((height, width), np.bool_)
    columns = np.arange(width)
    known = np.isfinite(x) & np.isfinite(lower) & np.isfinite(upper)
    for first, stop in _runs(known):
        inside = columns[(columns >= np.floor(x[first] + 0.5)) & (columns <= np.floor(x[stop - 1] + 0.5))]
        ends = [np.interp(inside, x[first:stop], edge[first:stop]) for edge in (lower, upper)]
        low, high = (np.floor(edge + 0.5) for edge in (np.minimum(*ends), np.maximum(*ends)))
        rows = np.arange(height)[:, None]
        dots[:, inside] |= (rows >= low) & (rows <= high)
    return dots


def _runs(known: Dots) -> list[tuple[int, int]]:
    """First and stop of every stretch of True."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], known, [False])).astype(np.int8)))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
