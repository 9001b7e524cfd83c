"""A line chart for the terminal: braille dots in true colour with bands as shading, plain characters elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from forecast_attn.inspection.terminal_heatmap import has_rich_colours
from forecast_attn.plotting.ticks import number_text, number_ticks

Floats = NDArray[np.float64]

NARROWEST = 8  # characters of the plot itself, however small the terminal
ROWS_PER_TICK = 4
BETWEEN = "   "  # entries of a legend
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])  # of a braille cell, by row and column
_BRAILLE = 0x2800
FAINT = "#8a8a94"
MARK = {True: "┊", False: "|"}


@dataclass(frozen=True, eq=False)
class Line:
    """A line through points; NaN ends it. `sign` is what it is drawn with where there are no colours."""

    name: str
    x: Floats
    y: Floats
    sign: str
    colour: str


@dataclass(frozen=True, eq=False)
class Band:
    """The area between two lines."""

    name: str
    x: Floats
    lower: Floats
    upper: Floats
    sign: str
    colour: str


@dataclass(frozen=True, eq=False)
class Chart:
    """Content of a chart, later items above earlier ones; x in any unit, y in the unit of its axis.

    Attributes:
        x_ticks: place and text, the most important first: crowded ones give way.
        marks: places of vertical lines.
        zero: whether the y axis starts at 0.
        x_name: written before the labels of the x axis.
    """

    lines: list[Line]
    bands: list[Band] = field(default_factory=list)
    x_ticks: list[tuple[float, str]] = field(default_factory=list)
    marks: list[float] = field(default_factory=list)
    zero: bool = False
    x_name: str = ""

    @property
    def x_span(self) -> Span:
        return Span.of(*(line.x for line in self.lines), *(band.x for band in self.bands))

    @property
    def y_span(self) -> Span:
        edges = (edge for band in self.bands for edge in (band.lower, band.upper))
        return Span.of(*(line.y for line in self.lines), *edges, zero=self.zero)


def chart_text(chart: Chart, console: Console, rows: int) -> Text:
    """Draw a chart for this console's width and colours: `rows` lines of plot, the axis, the legend.

    Raises:
        ValueError: fewer than two rows.
    """
    if rows < 2:
        raise ValueError(f"a chart needs two rows; got {rows}")
    span = chart.y_span
    ticks = _y_ticks(span, rows)
    gutter = max([*map(len, ticks.values()), len(chart.x_name)], default=0) + 1
    width = max(console.width - gutter - 2, NARROWEST)
    colour = has_rich_colours(console)
    cells = _Cells(width, rows, colour)
    for band in chart.bands:
        cells.shade(band, chart.x_span, span)
    for index in chart.marks:
        cells.mark(float(chart.x_span.positions(np.array([index]), width)[0]))
    for line in chart.lines:
        cells.draw(line, chart.x_span, span)
    lines = []
    for row, drawn in enumerate(cells.rows()):
        label = Text().append(f"{ticks.get(row, ''):>{gutter}}", FAINT if colour else None)
        lines.append(label.append_text(_edge(colour, row in ticks)).append_text(drawn))
    labels = _x_labels(chart, width)
    lines.append(Text(f"{chart.x_name:>{gutter}} {labels}".rstrip()))
    lines += [Text(" " * (gutter + 1)).append_text(line) for line in _legend(chart, width, colour)]
    return Text("\n", no_wrap=True).join(lines)


class _Cells:
    """The characters of a plot: what each shows, in which colour, on which ground."""

    def __init__(self, width: int, rows: int, colour: bool) -> None:
        self.width, self.height, self.colour = width, rows, colour
        self.across, self.down = (2, 4) if colour else (1, 1)
        self.signs = np.full((rows, width), " ", dtype="<U1")
        self.dots = np.zeros((rows, width), np.int64)
        self.ink = np.full((rows, width), "", dtype="<U7")
        self.ground = np.full((rows, width), "", dtype="<U7")

    def shade(self, band: Band, x_span: Span, y_span: Span) -> None:
        x = x_span.positions(band.x, self.width)
        lower, upper = (y_span.positions(edge, self.height) for edge in (band.lower, band.upper))
        inside = fill_between(x, lower, upper, self.width, self.height)[::-1]
        self.ground[inside] = band.colour
        if not self.colour:
            self.signs[inside] = band.sign

    def mark(self, column: float) -> None:
        """A vertical line, below everything but the bands."""
        if np.isfinite(column) and 0 <= round(column) < self.width:
            self.signs[:, round(column)] = MARK[self.colour]
            self.ink[:, round(column)] = FAINT

    def draw(self, line: Line, x_span: Span, y_span: Span) -> None:
        width, height = self.width * self.across, self.height * self.down
        drawn = draw_line(x_span.positions(line.x, width), y_span.positions(line.y, height), width, height)[::-1]
        touched = _by_cell(drawn, self.down, self.across).any(axis=(2, 3))
        if self.colour:
            self.dots |= _braille(drawn)
            self.ink[touched] = line.colour
        else:
            self.signs[touched] = line.sign

    def rows(self) -> list[Text]:
        signs = np.where(self.dots > 0, np.vectorize(chr, otypes="U")(_BRAILLE + self.dots), self.signs)
        if not self.colour:
            return [Text("".join(row).rstrip()) for row in signs]
        return [self._coloured(signs[row], row) for row in range(self.height)]

    def _coloured(self, signs: NDArray[np.str_], row: int) -> Text:
        text = Text()
        styles = zip(self.ink[row].tolist(), self.ground[row].tolist(), strict=True)
        for (ink, ground), group in groupby(zip(styles, signs.tolist(), strict=True), key=itemgetter(0)):
            text.append("".join(sign for _, sign in group), _style(ink, ground))
        return text


def _by_cell(dots: Dots, down: int, across: int) -> Dots:
    """(rows, columns, down, across): the dots of each character."""
    rows, columns = dots.shape[0] // down, dots.shape[1] // across
    return dots.reshape(rows, down, columns, across).swapaxes(1, 2)


def _braille(dots: Dots) -> NDArray[np.int64]:
    """(rows, columns) the offsets of braille characters with these dots."""
    return np.asarray((_by_cell(dots, 4, 2) * _DOTS).sum(axis=(2, 3)))


def _style(ink: str, ground: str) -> Style:
    return Style(color=Color.parse(ink) if ink else None, bgcolor=Color.parse(ground) if ground else None)


# --------------------------------------------------------------------------- axes and legend


def _y_ticks(span: Span, rows: int) -> dict[int, str]:
    """Row -> label."""
    values = number_ticks(span.low, span.high, max(rows // ROWS_PER_TICK, 2))
    spacing = values[1] - values[0] if len(values) > 1 else span.high - span.low
    rows_of_ticks = np.floor(span.positions(np.array(values), rows) + 0.5).astype(int)
    return {rows - 1 - int(row): number_text(value, spacing) for row, value in zip(rows_of_ticks, values, strict=True)}


def _edge(colour: bool, ticked: bool) -> Text:
    if not colour:
        return Text("+" if ticked else "|")
    return Text("┤" if ticked else "│", FAINT)


def _x_labels(chart: Chart, width: int) -> str:
    """Centre each label on its position; later labels give way."""
    line = [" "] * width
    columns = chart.x_span.positions(np.array([column for column, _ in chart.x_ticks], np.float64), width)
    for column, (_, text) in zip(columns, chart.x_ticks, strict=True):
        start = min(max(round(column) - len(text) // 2, 0), width - len(text))
        if start >= 0 and not "".join(line[max(start - 1, 0) : start + len(text) + 1]).strip():
            line[start : start + len(text)] = text
    return "".join(line)


def _legend(chart: Chart, room: int, colour: bool) -> list[Text]:
    """Legend of lines and bands, the topmost first; on as many rows as needed."""
    entries = [
        _entry(line.name, "⣀⣤" if colour else line.sign * 2, line.colour, "", colour) for line in chart.lines[::-1]
    ]
    entries += [
        _entry(band.name, "  " if colour else band.sign * 2, "", band.colour, colour) for band in chart.bands[::-1]
    ]
    lines = [entries[0]]
    for entry in entries[1:]:
        if lines[-1].cell_len + len(BETWEEN) + entry.cell_len <= room:
            lines[-1].append(BETWEEN).append_text(entry)
        else:
            lines.append(entry)
    return lines


def _entry(name: str, sign: str, ink: str, ground: str, colour: bool) -> Text:
    return Text().append(sign, _style(ink, ground) if colour else None).append(f" {name}")


# --------------------------------------------------------------------------- raster
# Lines as dots on a grid of pixels, and values as positions on it.


Dots = NDArray[np.bool_]

_FLAT = 1e-12
"""A span smaller than this part of its values is rounding: it is drawn as a constant."""


class Span(NamedTuple):
    """Range of an axis, from end to end; `low` < `high`."""

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

    def positions(self, values: Floats, size: int) -> Floats:
        """Positions between the middles of the first and the last of `size` pixels; NaN where not finite."""
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
    for index in np.flatnonzero(known[:-1] & known[1:]):
        width_of_part, height_of_part = x[index + 1] - x[index], y[index + 1] - y[index]
        # As many dots as the longer side has pixels: no gaps, whatever the slope.
        share = np.linspace(0, 1, int(np.ceil(max(abs(width_of_part), abs(height_of_part)))) + 1)
        _set(dots, x[index] + share * width_of_part, y[index] + share * height_of_part)
    return dots


def _set(dots: Dots, x: Floats, y: Floats) -> None:
    rows, columns = (np.floor(axis + 0.5).astype(np.int64) for axis in (y, x))
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
