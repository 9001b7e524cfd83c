"""The pictures of inputs: what one forecast owes to each, and mean forecasts by the value of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forecast_attn.audit.wording import number, signed
from forecast_attn.inspection.figures import LABEL, TICK, empty_figure, shortened, write_heading
from forecast_attn.notebook import FORECAST, INK, SOFT
from forecast_attn.plotting import input_wording as wording
from forecast_attn.plotting.by_value import ByValue, ColumnValues
from forecast_attn.plotting.forecast_attribution import Attribution
from forecast_attn.plotting.forecast_pictures import (
    MODEL_COLOURS,
    PANEL_TITLE,
    add_legend,
    dates_of,
    dress,
    label_time,
    lightened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

MOST_BARS = 10
"""Inputs with a bar of their own; the others share one."""
MOST_COLOURS = 4
"""Inputs with a colour of their own over time; the others share one."""
PAST_COLOUR, OTHERS_COLOUR = SOFT, "#c9c9d1"
BAR_HEIGHT, TIME_HEIGHT, PAST_HEIGHT, MARGINS = 0.27, 2.0, 0.9, 1.4  # inches
PANEL_HEIGHT = 2.1
TITLE_ROOM = 105
"""Characters above all panels of a row."""
MOST_NAMES = 8
"""Categories whose names stand side by side; more stand upright."""


def draw_attribution(shown: Attribution) -> Figure:
    """Bars from the baseline to the forecast, input by input, and below them the same by time.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    bars = len(shown.parts(MOST_BARS)) + 2
    figure = empty_figure(bars * BAR_HEIGHT + PAST_HEIGHT + TIME_HEIGHT + MARGINS)
    heights = (bars * BAR_HEIGHT, PAST_HEIGHT, TIME_HEIGHT)
    grid = figure.add_gridspec(3, 1, height_ratios=heights)
    names = ("by input", "past", "by time")
    by_input, past, by_time = (figure.add_subplot(grid[index, 0], label=name) for index, name in enumerate(names))
    _draw_bars(by_input, shown)
    _draw_past(past, shown)
    _draw_times(by_time, shown)
    write_heading(figure, wording.attribution_title(shown), about=wording.attribution_subtitle(shown))
    by_time.set_xlabel(wording.completeness(shown), fontsize=TICK, color=SOFT, loc="left")
    return figure


def input_colours(shown: Attribution) -> dict[str, str]:
    """Colours of the largest inputs: the target's own past has that of the past, none has that of forecasts."""
    palette = iter(MODEL_COLOURS[1:])
    return {each.name: PAST_COLOUR if each.kind == "target" else next(palette) for each in shown.inputs[:MOST_COLOURS]}


def _draw_bars(axes: Axes, shown: Attribution) -> None:
    """Draw the bars from the baseline's forecast to the forecast: each begins where the one above it ended."""
    colours, index = input_colours(shown), shown.result.baseline
    rows = [(name, sum(each.total for each in inputs), colours.get(name, OTHERS_COLOUR))
            for name, inputs in shown.parts(MOST_BARS)]  # fmt: skip
    names = [f"baseline {number(index)}", *(shortened(name, 32) for name, _, _ in rows)]
    names.append(f"forecast {number(shown.result.forecast)}")
    ends = [index, *(index + np.cumsum([total for _, total, _ in rows]))]
    span = float(max(ends) - min(ends)) or 1.0
    room = 0.012 * span
    axes.set_xlim(min(ends) - 0.02 * span, max(ends) + 0.1 * span)
    axes.set_ylim(len(names) - 0.5, -0.5)
    for position, (_, total, colour) in enumerate(rows, start=1):
        start, end = ends[position - 1], ends[position]
        axes.barh(position, total, left=start, height=0.68, color=colour)
        axes.vlines(end, position - 0.34, position + 1.34, color=SOFT, linewidth=0.7)
        axes.text(max(start, end) + room, position, signed(total), va="center", fontsize=TICK, color=INK)
    axes.vlines(ends[0], -0.34, 1.34, color=SOFT, linewidth=0.7)
    axes.plot([ends[0]], [0], marker="D", markersize=5, color=SOFT)
    axes.plot([shown.result.forecast], [len(names) - 1], marker="D", markersize=5, color=FORECAST)
    axes.set_yticks(range(len(names)), names)
    dress(axes)
    axes.grid(False)
    axes.grid(axis="x", color=SOFT, alpha=0.18, linewidth=0.7)


def _draw_past(axes: Axes, shown: Attribution) -> None:
    """The target as the network read it, on the axis of the attributions."""
    axes.plot(dates_of(shown.past_stamps), shown.past, color=INK, linewidth=1.2)
    axes.set_ylabel(shortened(shown.target, 14), fontsize=LABEL, color=INK)
    _share_axis(axes, shown)
    axes.tick_params(labelbottom=False)


def _draw_times(axes: Axes, shown: Attribution) -> None:
    """Stacked bars at each time: upwards what raises the forecast, downwards what lowers it."""
    stamps = np.concatenate([shown.past_stamps, shown.stamps])
    positions, colours = dates_of(stamps), input_colours(shown)
    width = float(np.diff(positions).min()) if len(positions) > 1 else 1.0
    above, below = np.zeros(len(positions)), np.zeros(len(positions))
    for name, inputs in shown.parts(MOST_COLOURS):  # in the colours of the bars above
        values, colour = shown.by_time(inputs), colours.get(name, OTHERS_COLOUR)
        bottom = np.where(values >= 0, above, below)
        axes.bar(positions, values, width=width, bottom=bottom, color=colour, linewidth=0)
        above += np.maximum(values, 0)
        below += np.minimum(values, 0)
    axes.axhline(0, color=SOFT, linewidth=0.7)
    axes.set_ylabel("attribution", fontsize=LABEL, color=INK)
    _share_axis(axes, shown)


def _share_axis(axes: Axes, shown: Attribution) -> None:
    label_time(axes, np.concatenate([shown.past_stamps, shown.stamps]), shown.zone, 11)
    axes.axvline(dates_of(shown.past_stamps)[-1], color=SOFT, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
    dress(axes)


# --------------------------------------------------------------------------- by value


def draw_by_value(shown: ByValue) -> Figure:
    """A panel per column: mean forecast and mean actual value with their intervals, and how many there are.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    across = min(len(shown.columns), 2 if len(shown.columns) <= 4 else 3)
    rows = -(-len(shown.columns) // across)
    figure = empty_figure(rows * (PANEL_HEIGHT if rows > 1 else 1.4 * PANEL_HEIGHT) + 0.5)
    grid = figure.add_gridspec(rows, across)
    for index, column in enumerate(shown.columns):
        axes = figure.add_subplot(grid[index // across, index % across], label=column.name)
        _draw_column(axes, column, across)
        if index % across == 0:
            axes.set_ylabel(f"mean of {shortened(shown.target, 16)}", fontsize=LABEL, color=INK)
    about = f"{wording.by_value_subtitle(shown)}; grey bars: number of values"
    write_heading(figure, wording.by_value_title(shown), about=about)
    panels = [axes for axes in figure.axes if axes.get_label()]
    add_legend(figure, max(panels, key=lambda axes: len(axes.get_legend_handles_labels()[1])))
    return figure


def _draw_column(axes: Axes, column: ColumnValues, across: int) -> None:
    """The two means over the bins, on bars that show how many values there are."""
    positions = _bin_positions(column)
    counts = np.array([each.count for each in column.bins], np.float64)
    behind = axes.twinx()
    width = 0.8 * (float(np.diff(positions).min()) if len(positions) > 1 else 1.0)
    behind.bar(positions, counts, width=width, color=lightened(SOFT, 0.16), linewidth=0)
    behind.set_ylim(0, 4 * counts.max())  # the lowest quarter of the panel
    behind.set_axis_off()
    axes.set_zorder(behind.get_zorder() + 1)
    axes.patch.set_visible(False)
    aside = 0.0 if column.is_number else 0.12 * width
    for name, label, colour, marker, shift in (
        ("actual", "mean actual value", INK, "s", aside),
        ("forecast", "mean forecast", MODEL_COLOURS[0], "o", -aside),
    ):
        means = [getattr(each, name) for each in column.bins]
        middle = np.array([each.mean for each in means])
        margins = np.nan_to_num([each.margin for each in means])
        axes.errorbar(
            positions + shift, middle, yerr=margins, color=colour, marker=marker, markersize=4, linewidth=1.3,
            elinewidth=1.1, linestyle="-" if column.is_number else "none", label=label
        )  # fmt: skip
    if column.bins[0].dependence is not None:
        dependence = np.array([each.dependence for each in column.bins], np.float64)
        axes.plot(
            positions, dependence, color=MODEL_COLOURS[1], marker="^", markersize=5, linewidth=1.3,
            label="forecast if set to it", linestyle=(0, (4, 2)) if column.is_number else "none",
        )  # fmt: skip
    axes.set_title(
        shortened(f"{column.name}, {column.known}", TITLE_ROOM // across), loc="left", fontsize=PANEL_TITLE, color=INK
    )
    if not column.is_number:
        names = [shortened(each.label, 14) for each in column.bins]
        axes.set_xticks(positions, names, rotation=90 if len(names) > MOST_NAMES else 0)
    dress(axes)


def _bin_positions(column: ColumnValues) -> Floats:
    if column.is_number:
        return np.array([each.position for each in column.bins])
    return np.arange(len(column.bins), dtype=np.float64)
