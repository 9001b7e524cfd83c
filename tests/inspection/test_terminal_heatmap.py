"""The heat map in the terminal: it fits, it puts weight where it lies, and it says what it did."""

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from forecast_attn.inspection.terminal_heatmap import (
    ASCII_RAMP,
    GUTTER,
    PROFILE_ROWS,
    fit_grid,
    heatmap_text,
    profile_text,
)


def console_of(width, colour=None):
    return Console(
        width=width,
        color_system=colour,
        force_terminal=colour is not None,
        file=io.TextIOWrapper(io.BytesIO(), "utf-8"),
    )


def drawn(weights, width=80, season=1, frequency="1", first_step=1, colour=None):
    """The lines of the map without colours, and the whole text."""
    console = console_of(width, colour)
    steps = np.arange(first_step, first_step + len(weights))
    text = heatmap_text(np.asarray(weights, float), steps, season=season, frequency=frequency, console=console)
    return text.plain.split("\n"), text


shapes = st.tuples(st.integers(1, 120), st.integers(1, 400))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    shape=shapes,
    width=st.integers(40, 200),
    season=st.sampled_from([1, 7, 24]),
    colour=st.sampled_from([None, "truecolor"]),
)
def test_every_line_fits_any_width(shape, width, season, colour):
    weights = np.random.default_rng(0).dirichlet(np.ones(shape[1]), size=shape[0])
    lines, _ = drawn(weights, width, season, "h", colour=colour)
    assert max(map(len, lines)) <= width


@settings(max_examples=60, deadline=None)
@given(shape=shapes, width=st.integers(8, 200))
def test_binning_keeps_the_mean_of_whole_bins(shape, width):
    weights = np.random.default_rng(1).random(shape)
    grid = fit_grid(weights, width)
    assert grid.width <= width
    expected = weights[: grid.steps_per_row, -grid.lags_per_column :].mean()
    assert grid.cells[0, -1] == pytest.approx(expected)
    oldest = shape[1] % grid.lags_per_column or grid.lags_per_column
    assert grid.cells[0, 0] == pytest.approx(weights[: grid.steps_per_row, :oldest].mean())


@pytest.mark.parametrize("lookback", [10, 60, 168, 336])
@pytest.mark.parametrize("lag", [0, 1, 5, 9])
def test_a_peak_is_drawn_at_its_lag(one_hot, lookback, lag):
    lines, _ = drawn(one_hot([lag], lookback))
    body = lines[0][GUTTER:]
    cells = fit_grid(np.zeros((1, lookback)), 80 - GUTTER - 1)
    column = len(body) - 1 - lag // cells.lags_per_column * cells.cell_width
    assert body[column] == ASCII_RAMP[-1]
    assert body.count(ASCII_RAMP[-1]) == cells.cell_width


def test_axis_is_labelled_in_lags_and_time_and_marks_the_season(one_hot):
    weights = one_hot([24, 48], 72)
    lines, _ = drawn(weights, width=90, season=24, frequency="h")
    rows, (season, lag, time) = lines[:2], lines[2:5]
    assert (season.split()[0], lag.split(), time.split()) == (
        "season",
        ["lag", "48", "24", "0"],
        ["time", "-2d", "-1d", "cutoff"],
    )
    peaks = [row.index("@", GUTTER) for row in rows]
    marks = [column for column, character in enumerate(season) if character == "^"]
    assert marks == sorted(peaks)
    assert lag.index("24") <= peaks[0] <= lag.index("24") + 1


def test_axes_without_time_have_no_time_line():
    lines, _ = drawn(np.full((2, 30), 1 / 30), frequency="B")
    assert not any(line.lstrip().startswith("time") for line in lines)


def test_the_caption_says_what_was_done():
    plain, _ = drawn(np.full((4, 20), 1 / 20))
    assert not any("mean of" in line for line in plain)
    binned, _ = drawn(np.full((96, 336), 1 / 336), width=80)
    assert any("a column is the mean of 5 lags" in line for line in binned)
    assert any("a row is the mean of 2 steps" in line for line in binned)
    assert any("uniform 0.00298" in line for line in binned)


def test_rows_are_labelled_with_their_steps(one_hot):
    lines, _ = drawn(one_hot([3, 2, 1], 8), first_step=10)
    assert [line[:GUTTER].split()[-1] for line in lines[:3]] == ["10", "11", "12"]


def test_without_colour_only_ascii_is_used():
    lines, _ = drawn(np.random.default_rng(0).dirichlet(np.ones(50), size=7), season=7, frequency="D")
    assert all(line.isascii() for line in lines)


def test_sixteen_colours_are_treated_as_none():
    lines, _ = drawn(np.eye(4), colour="standard")
    assert all(line.isascii() for line in lines)


def test_half_blocks_carry_two_steps_in_two_colours(one_hot):
    steps = np.arange(17)
    lines, text = drawn(one_hot(steps % 2, 2), width=40, colour="truecolor")
    assert [line[GUTTER:] for line in lines[:9]] == ["▀" * 12] * 9
    assert [int(line[:GUTTER].split()[-1]) for line in lines[:9]] == [1, 3, 5, 7, 9, 11, 13, 15, 17]
    left, right = (span.style for span in text.spans[:2])
    assert (left.color, left.bgcolor) == (right.bgcolor, right.color)
    assert left.color != left.bgcolor
    assert text.spans[16].style.bgcolor is None  # the odd last step has nothing below it


def test_few_steps_get_a_line_each(one_hot):
    lines, text = drawn(one_hot([0, 1, 0], 2), width=40, colour="truecolor")
    assert [line[GUTTER:] for line in lines[:3]] == ["▀" * 12] * 3
    assert all(span.style.color == span.style.bgcolor for span in text.spans[:6])


def test_weights_of_zero_and_missing_ones_are_drawn_as_nothing():
    lines, _ = drawn(np.array([[0.0, np.nan, 0.0]]))
    assert lines[0][GUTTER:].strip() == ""


# --------------------------------------------------------------------------- the profile


def profile_lines(profile, width=80, season=1, frequency="1", encoding="utf-8"):
    console = Console(width=width, color_system=None, file=io.TextIOWrapper(io.BytesIO(), encoding))
    return profile_text(np.asarray(profile, float), season=season, frequency=frequency, console=console).plain.split(
        "\n"
    )


@settings(max_examples=40, deadline=None)
@given(lookback=st.integers(1, 400), width=st.integers(40, 160), season=st.sampled_from([1, 7, 24]))
def test_the_profile_fits_any_width(lookback, width, season):
    profile = np.random.default_rng(0).dirichlet(np.ones(lookback))
    lines = profile_lines(profile, width, season, "h")
    assert max(map(len, lines)) <= width
    assert len(lines) >= PROFILE_ROWS + 1


def test_bars_are_as_high_as_their_weights(one_hot):
    """The largest fills all rows, half of it two of four, and nothing shows where there is nothing."""
    profile = np.zeros(10)
    profile[-1], profile[-5], profile[-8] = 0.5, 0.25, 0.125
    bars = [line[GUTTER:].ljust(60) for line in profile_lines(profile)[:PROFILE_ROWS]]
    heights = {lag: sum(line[(9 - lag) * 6] == "█" for line in bars) for lag in range(10)}
    assert heights == {**dict.fromkeys(range(10), 0), 0: 4, 4: 2, 7: 1}
    assert profile_lines(profile)[0].lstrip().startswith("0.5 ")


def test_the_profile_marks_whole_seasons(one_hot):
    lines = profile_lines(one_hot(24, 72), width=90, season=24, frequency="h")
    marks = [column for column, sign in enumerate(lines[PROFILE_ROWS]) if sign == "^"]
    assert len(marks) == 2
    assert lines[PROFILE_ROWS - 1].index("█", GUTTER) == marks[1]


def test_without_unicode_the_profile_is_ascii(one_hot):
    lines = profile_lines(one_hot(3, 12), encoding="ascii")
    assert all(line.isascii() for line in lines)
    assert "|" in lines[0]


@pytest.mark.parametrize(("colour", "end"), [(None, f"[{ASCII_RAMP}] 0.2"), ("truecolor", "█ 0.2")])
def test_nearly_equal_weights_are_pale_and_the_legend_says_where_the_scale_ends(colour, end):
    weights = np.full((3, 20), 1 / 20) + np.linspace(-1e-3, 1e-3, 20)
    lines, text = drawn(weights, colour=colour)
    assert any(line.endswith(end) for line in lines)
    if colour is None:
        assert set("".join(line[GUTTER:] for line in lines[:3])) <= set("=+")  # the middle of the ramp
    else:
        darkest = text.spans[-1].style.color
        assert all(span.style.color != darkest for span in text.spans[:60])
