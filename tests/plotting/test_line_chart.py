"""The terminal's chart: what stands where, and that no numbers break it."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rich.console import Console

from forecast_attn.plotting.line_chart import Band, Chart, Line, Span, chart_text, draw_line, fill_between

ANY = st.floats(allow_nan=True, allow_infinity=True)
PLAIN = Console(width=60, color_system=None, no_color=True)


def line(y, sign="*", x=None):
    y = np.asarray(y, float)
    return Line("y", np.arange(len(y), dtype=float) if x is None else np.asarray(x, float), y, sign, "#3d9dc0")


def rows_of(text, count):
    """The plot's characters, behind the axis: the first column that has one in every row."""
    rows = text.plain.split("\n")[:count]
    axis = next(column for column in range(40) if all(row[column : column + 1] in set("|+│┤") for row in rows))
    return [row[axis + 1 :] for row in rows]


def cells_of(text, count, sign):
    return {
        (row, column) for row, drawn in enumerate(rows_of(text, count)) for column, c in enumerate(drawn) if c == sign
    }


def test_each_value_stands_in_its_row_and_column():
    width = 60 - len("10 ") - 2
    chart = Chart([line([0, 10, 5], x=[0, 1, 2])])
    drawn = cells_of(chart_text(chart, Console(width=60, color_system=None), 11), 11, "*")
    assert {(10, 0), (0, 27), (5, 54)} <= drawn  # 0 at the bottom left, 10 on top in the middle, 5 in the middle right
    assert max(column for _, column in drawn) == 54
    assert width == 55


@pytest.mark.slow
@given(arrays(np.float64, st.integers(2, 40), elements=st.floats(-1e6, 1e6)))
def test_a_line_touches_every_value_and_nothing_beyond(values):
    rows, span = 12, Span.of(values)
    drawn = cells_of(chart_text(Chart([line(values)]), PLAIN, rows), rows, "*")
    expected_rows = {rows - 1 - int(np.floor(position + 0.5)) for position in span.positions(values, rows)}
    assert expected_rows <= {row for row, _ in drawn}
    assert min(row for row, _ in drawn) == min(expected_rows)
    assert max(row for row, _ in drawn) == max(expected_rows)


@pytest.mark.slow
@given(arrays(np.float64, st.integers(0, 30), elements=ANY), st.booleans(), st.integers(1, 200), st.booleans())
def test_no_numbers_break_a_chart(values, colour, width, zero):
    x = np.arange(len(values), dtype=float)
    band = Band("80 %", x, values, values[::-1], ".", "#4a2a33")
    chart = Chart([line(values)], [band], [(0.0, "start"), (1e300, "far")], [0.0, np.nan], zero=zero, x_name="t")
    options = {"force_terminal": True, "color_system": "truecolor"} if colour else {"color_system": None}
    text = chart_text(chart, Console(width=width, **options), 6)
    assert len(text.plain.split("\n")) >= 8


@pytest.mark.slow
@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 5))
def test_a_constant_is_one_straight_line_of_the_whole_length(value, count):
    text = chart_text(Chart([line(np.full(count, value))]), PLAIN, 7)
    drawn = cells_of(text, 7, "*")
    assert len({row for row, _ in drawn}) == 1
    width = 1 + max(column for _, column in drawn)
    assert len(drawn) == (1 if count == 1 else width)


def test_a_missing_value_is_a_gap():
    values = np.array([1.0, 1, np.nan, 1, 1])
    drawn = cells_of(chart_text(Chart([line(values)]), PLAIN, 5), 5, "*")
    columns = sorted(column for _, column in drawn)
    gaps = np.diff(columns)
    assert (gaps > 1).sum() == 1
    width = max(columns)
    assert gaps.max() == pytest.approx(width / 2, abs=1.5)  # two of the four steps


def test_without_any_value_the_axes_stand_empty():
    text = chart_text(Chart([line([np.nan, np.nan])]), PLAIN, 5)
    assert not cells_of(text, 5, "*")
    assert "** y" in text.plain


def test_a_band_is_shaded_between_its_lines_and_below_the_line():
    x = np.linspace(0, 10, 11)
    band = Band("80 %", x, np.full(11, 2.0), np.full(11, 8.0), ".", "#4a2a33")
    text = chart_text(Chart([line(np.r_[np.full(10, 5.0), 10], x=x), line([0, 0], x=[0, 10])], [band]), PLAIN, 11)
    shaded = cells_of(text, 11, ".")
    assert {row for row, _ in shaded} == set(range(2, 9))
    assert (5, 0) not in shaded
    coloured = chart_text(
        Chart([line(np.zeros(11), x=x)], [band]), Console(width=60, force_terminal=True, color_system="truecolor"), 9
    )
    grounds = {str(span.style.bgcolor.name) for span in coloured.spans if getattr(span.style, "bgcolor", None)}
    assert grounds == {"#4a2a33"}


def test_in_colour_lines_are_braille_dots_of_their_colour():
    text = chart_text(Chart([line([0, 1])]), Console(width=40, force_terminal=True, color_system="truecolor"), 4)
    assert re.search("[\u2801-\u28ff]", text.plain)
    assert {span.style.color.name for span in text.spans if getattr(span.style, "color", None)} >= {"#3d9dc0"}


def test_plain_charts_are_plain_characters():
    x = np.arange(5.0)
    chart = Chart([line(x)], [Band("80 %", x, x - 1, x + 1, ".", "#4a2a33")], [(2.0, "cut-off")], [2.0])
    assert chart_text(chart, PLAIN, 8).plain.isascii()


@pytest.mark.parametrize("width", [12, 40, 80, 200])
def test_a_chart_is_as_wide_as_the_terminal(width):
    chart = Chart([line(np.arange(500.0) % 7), line(np.arange(500.0) % 5, "o")], x_ticks=[(0, "first"), (499, "last")])
    lines = chart_text(chart, Console(width=width, color_system=None), 6).plain.split("\n")
    assert max(map(len, lines[:7])) <= max(width, 12)
    assert max(map(len, lines[:6])) >= width - 2


def test_crowded_labels_give_way_to_those_before_them():
    chart = Chart([line(np.arange(11.0))], x_ticks=[(5, "cut-off"), (5.3, "never"), (0, "a")])
    labels = chart_text(chart, PLAIN, 3).plain.split("\n")[3]
    assert labels.split() == ["a", "cut-off"]


def test_a_chart_needs_two_rows():
    with pytest.raises(ValueError, match="two rows"):
        chart_text(Chart([line([1])]), PLAIN, 1)


# --------------------------------------------------------------------------- pixels


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.floats(0, 19), st.floats(0, 9)), min_size=2, max_size=6),
)
def test_a_drawn_line_is_connected_and_passes_its_points(points):
    x, y = (np.array(values) for values in zip(*points, strict=True))
    dots = draw_line(x, y, 20, 10)
    for column, row in zip(np.floor(x + 0.5).astype(int), np.floor(y + 0.5).astype(int), strict=True):
        assert dots[row, column]
    seen, todo = set(), [next(zip(*np.nonzero(dots), strict=True))]
    while todo:
        row, column = todo.pop()
        if (row, column) not in seen:
            seen.add((row, column))
            around = [(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
            todo += [(r, c) for r, c in around if 0 <= r < 10 and 0 <= c < 20 and dots[r, c]]
    assert len(seen) == dots.sum()


def test_an_area_has_gaps_where_an_edge_is_missing():
    x = np.arange(6.0)
    lower = np.array([1, 1, np.nan, 1, 1, 1.0])
    dots = fill_between(x, lower, np.full(6, 3.0), 6, 5)
    assert dots.any(axis=0).tolist() == [True, True, False, True, True, True]
    assert dots[:, 0].tolist() == [False, True, True, True, False]


@pytest.mark.slow
@given(arrays(np.float64, st.integers(1, 20), elements=st.floats(allow_nan=False, allow_infinity=False)))
def test_a_span_holds_every_value(values):
    span = Span.of(values)
    assert span.low < span.high
    positions = span.positions(values, 10)
    assert np.isfinite(positions).all()
    assert (positions >= -1e-6).all()
    assert (positions <= 9 + 1e-6).all()
