"""A heat map of attention weights for the terminal: steps down, lags across, the most recent on the right.

Of patches a cell is a patch, and the labels are the time steps it covers.

True colour half-blocks (two steps to a line, unless there are few) where the console has colours, an ASCII ramp where
it has not. What does not fit is binned by its mean, and the caption says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.color import Color
from rich.console import Console
from rich.style import Style
from rich.text import Text

from forecast_attn.inspection.statistics import has_time_distances, span_text, time_distance
from forecast_attn.notebook import HEAT_ON_DARK, colours_between, darkest_weight

Matrix = NDArray[np.floating[Any]]

BAR_SIGNS, ASCII_BAR_SIGNS = " ▁▂▃▄▅▆▇█", " .:|"
PROFILE_ROWS = 4  # lines of the profile
ASCII_RAMP = " .:-=+*#%@"
GUTTER = 8  # characters left of the map, for the labels
MOST_CELL_WIDTH = 6  # characters per lag when the lookback is short
MOST_TALL_ROWS = 16  # steps that get a line of their own, where half a line would do
MOST_ROWS = 48  # steps drawn; more are binned


@dataclass(frozen=True)
class Grid:
    """Weights binned to what fits: (rows, columns) cells, how many steps and lags each covers, how wide it is drawn."""

    cells: Matrix
    steps_per_row: int
    lags_per_column: int
    cell_width: int

    @property
    def width(self) -> int:
        return int(self.cells.shape[1] * self.cell_width)


def fit_grid(weights: Matrix, width: int, patch_length: int = 1) -> Grid:
    """Bin (steps, num_keys) weights by mean to at most `width` characters.

    Columns are binned from the right, so that lag 0 always stands at the edge of a full bin; the oldest may hold fewer.
    """
    steps, keys = weights.shape
    lags_per_column, steps_per_row = -(-keys // width), -(-steps // MOST_ROWS)
    mirrored = _binned_means(weights[:, ::-1], lags_per_column)
    cells = _binned_means(mirrored.T, steps_per_row).T[:, ::-1]
    # The lags of a patch are a longer label; where all of them fit beside each other, none gives way.
    widest = max(MOST_CELL_WIDTH, len(_lag_text(keys - 1, patch_length)) + 1)
    return Grid(cells, steps_per_row, lags_per_column, max(1, min(widest, width // cells.shape[1])))


def _binned_means(values: Matrix, size: int) -> Matrix:
    """Means of `size` neighbours along the last axis; the last bin may hold fewer."""
    starts = np.arange(0, values.shape[-1], size)
    counts = np.diff(np.append(starts, values.shape[-1]))
    return np.asarray(np.add.reduceat(values.astype(np.float64), starts, axis=-1) / counts)


def heatmap_text(
    weights: Matrix,
    steps: NDArray[Any] | Sequence[str],
    *,
    season: int,
    frequency: str,
    console: Console,
    patch_length: int = 1,
) -> Text:
    """Draw (steps, num_keys) weights, oldest position first, for this console's width and colours.

    Args:
        weights: one row per step.
        steps: the steps ahead the rows stand for; of patches, as text.
        season: keys in a season, whose multiples are marked; 1 for none.
        frequency: of the time axis, for labels in time.
        console: where it will be printed.
        patch_length: time steps of a key.
    """
    grid = fit_grid(weights, max(console.width - GUTTER - 1, 8), patch_length)
    colour, darkest = has_rich_colours(console), darkest_weight(grid.cells, weights.shape[1])
    levels = np.sqrt(np.nan_to_num(grid.cells).clip(0) / darkest)  # else one peak leaves the rest in the dark
    rows = _block_rows(grid, levels, steps) if colour else _ascii_rows(grid, levels, steps)
    axis = _axis_lines(grid, weights.shape[1], season, frequency, patch_length)
    caption = _caption(grid, weights.shape[1], _legend(darkest, colour), patch_length)
    return Text("\n", no_wrap=True).join([*rows, *map(Text, axis), *caption])


def profile_text(profile: Matrix, *, season: int, frequency: str, console: Console, patch_length: int = 1) -> Text:
    """Draw (num_keys,) mean weights as bars above the columns of the heat map, the most recent on the right.

    Args:
        profile: oldest position first.
        season: keys in a season, whose multiples are marked; 1 for none.
        frequency: of the time axis, for labels in time.
        console: where it will be printed.
        patch_length: time steps of a key.
    """
    grid = fit_grid(profile[None], max(console.width - GUTTER - 1, 8), patch_length)
    levels = grid.cells[0] / (np.nanmax(grid.cells, initial=0) or 1)
    signs = BAR_SIGNS if console.encoding.startswith("utf") else ASCII_BAR_SIGNS
    rows = [_bar_row(levels * PROFILE_ROWS - row, signs, grid.cell_width) for row in reversed(range(PROFILE_ROWS))]
    labels = [f"{float(grid.cells.max()):.3g}".rjust(GUTTER - 1) + " ", *[" " * GUTTER] * (PROFILE_ROWS - 1)]
    lines = [label + row for label, row in zip(labels, rows, strict=True)]
    axis = _axis_lines(grid, len(profile), season, frequency, patch_length)
    return Text("\n", no_wrap=True).join(map(Text, [*lines, *axis]))


def _bar_row(heights: Matrix, signs: str, width: int) -> str:
    """One line of bars: how far each reaches into it, from 0 (nothing) to 1 (all of it)."""
    levels = np.ceil(np.clip(heights, 0, 1) * (len(signs) - 1) - 1e-9).astype(int)
    return "".join(signs[level] * width for level in levels)


def has_rich_colours(console: Console) -> bool:
    """Return whether the console draws half-blocks in enough colours for a scale (sixteen are not enough)."""
    return console.color_system in ("256", "truecolor") and not console.no_color and console.encoding.startswith("utf")


# --------------------------------------------------------------------------- rows


def _ascii_rows(grid: Grid, levels: Matrix, steps: NDArray[Any] | Sequence[str]) -> list[Text]:
    rows = []
    for row, signs in enumerate(np.round(levels * (len(ASCII_RAMP) - 1)).astype(int)):
        drawn = "".join(ASCII_RAMP[sign] * grid.cell_width for sign in signs)
        rows.append(Text(_row_label(steps[row * grid.steps_per_row], row) + drawn))
    return rows


def _block_rows(grid: Grid, levels: Matrix, steps: NDArray[Any] | Sequence[str]) -> list[Text]:
    """Two rows of cells to a line, the upper as the colour of a half-block, the lower as its background; one if few."""
    colours = _colours(levels)
    per_line = 1 if len(colours) <= MOST_TALL_ROWS else 2
    lines = []
    for row in range(0, len(colours), per_line):
        line = Text(_row_label(steps[row * grid.steps_per_row], row))
        below = colours[row + per_line - 1] if row + per_line <= len(colours) else [None] * len(colours[row])
        for upper, lower in zip(colours[row], below, strict=True):
            line.append("▀" * grid.cell_width, Style(color=upper, bgcolor=lower))
        lines.append(line)
    return lines


def _colours(levels: Matrix) -> list[list[Color]]:
    # Dark to light through violet and orange: the order survives colour blindness and grey scales.
    return [[Color.from_rgb(*cell) for cell in row] for row in colours_between(HEAT_ON_DARK, levels).tolist()]


def _row_label(step: int | str, row: int) -> str:
    if isinstance(step, str):
        return f"{step} ".rjust(GUTTER)
    return f"{'step' if row == 0 else '':4} {step:>2} ".rjust(GUTTER)


# --------------------------------------------------------------------------- axis and caption


def _axis_lines(grid: Grid, num_keys: int, season: int, frequency: str, patch_length: int) -> list[str]:
    """The lags, the same in time (of a patch, where it begins), and a mark below every whole season."""
    ticks = tick_lags(num_keys, season, patch_length)
    lags = _labelled("lag", {_column_of(lag, grid): _lag_text(lag, patch_length) for lag in ticks}, grid.width)
    back = {lag: time_distance(frequency, lag * patch_length) for lag in ticks[1:]}
    times = {_column_of(lag, grid): f"-{distance}".replace(" ", "") for lag, distance in back.items()}
    lines = [lags, _labelled("time", {_column_of(0, grid): "cutoff", **times}, grid.width)]
    if not has_time_distances(frequency):
        del lines[1]
    if 1 < season < num_keys:
        marks = {_column_of(lag, grid): "^" for lag in range(season, num_keys, season)}
        lines.insert(0, _labelled("season", marks, grid.width, gap=0))
    return lines


def _lag_text(lag: int, patch_length: int) -> str:
    """The lag of a key in time steps: of a patch, from where to where."""
    return span_text(lag * patch_length, (lag + 1) * patch_length - 1)


def tick_lags(lookback: int, season: int, patch_length: int = 1) -> list[int]:
    """Lag 0 and multiples of the season, or of a round number where there is none; crowded ones are left out later.

    Of a few patches all are labelled.
    """
    few = lookback <= 12
    spacing = season if 1 < season < lookback else 1 if few else _round_number(lookback / 6)
    spacing = 1 if few and patch_length > 1 else spacing
    return list(range(0, lookback, spacing))


def _round_number(value: float) -> int:
    power = 10 ** int(np.log10(value))
    return int(next(power * factor for factor in (1, 2, 5, 10) if power * factor >= value))


def _column_of(lag: int, grid: Grid) -> int:
    """The character in the middle of a lag's cell."""
    from_right = lag // grid.lags_per_column * grid.cell_width + (grid.cell_width - 1) // 2
    return grid.width - 1 - from_right


def _labelled(name: str, labels: dict[int, str], width: int, gap: int = 1) -> str:
    """One line with each label centred on its column; labels come most important first, and later ones give way."""
    line = [" "] * width
    for column, label in labels.items():
        start = min(max(column - len(label) // 2, 0), width - len(label))
        around = line[max(start - gap, 0) : start + len(label) + gap]
        if start >= 0 and not "".join(around).strip():
            line[start : start + len(label)] = label
    return f"{name:>{GUTTER - 1}} {''.join(line)}".rstrip()


def _legend(largest: float, colour: bool) -> Text:
    legend = Text("0 ")
    if colour:
        for shade in _colours(np.linspace(0, 1, 12)[None])[0]:
            legend.append("█", Style(color=shade))
    else:
        legend.append(f"[{ASCII_RAMP}]")
    return legend.append(f" {largest:.3g}")


def _caption(grid: Grid, num_keys: int, legend: Text, patch_length: int) -> list[Text]:
    indent = " " * GUTTER
    notes = [Text(f"{indent}weight ").append(legend)]
    notes.append(Text(f"{indent}sqrt scale; uniform {1 / num_keys:.3g}"))
    lags, steps = ("lags", "steps") if patch_length == 1 else ("patches", "patches of steps")
    if grid.lags_per_column > 1:
        notes.append(Text(f"{indent}a column is the mean of {grid.lags_per_column} {lags}"))
    if grid.steps_per_row > 1:
        notes.append(Text(f"{indent}a row is the mean of {grid.steps_per_row} {steps}"))
    return notes
