"""Groups of windows, or two files, as one picture: the same axes, colours and words as the picture of a single file."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.findings import counted
from forecast_attn.inspection.differences import WeightComparison
from forecast_attn.inspection.figures import LABEL, TICK, empty_figure, named_mechanism, shortened, write_heading
from forecast_attn.inspection.heatmap import draw_colour_bar, draw_lag_axis, draw_rows, label_shares
from forecast_attn.inspection.results import GroupStatistics, Inspection, InspectionHeader
from forecast_attn.inspection.statistics import has_time_distances, time_distance
from forecast_attn.notebook import ACCENT, INK, SOFT, darkest_weight

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS, MOST_TILES = 4, 24
TILE, LABEL_ROOM = 1.05, 0.6
"""Inches of a row of tiles, and of axis labels."""
LONGEST_NAME, LONGEST_PATH = 16, 24
OF_GROUPS = {"item": "series", "head": "head", "hour": "hour of the cut-off", "weekday": "weekday of the cut-off"}


def draw_groups(inspection: Inspection, *, name: str = "") -> "Figure":
    """A tile for each group: its mean weight by lag, before that of all windows as an outline.

    Of more than `MOST_TILES` groups those most unlike the mean are drawn. The title begins with `name`, of the run.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    groups = inspection.groups
    if len(groups) > MOST_TILES:
        unlike = sorted(groups, key=lambda group: -group.distance)[:MOST_TILES]
        groups = [group for group in groups if group in unlike]
    rows = -(-len(groups) // COLUMNS)
    figure = empty_figure(rows * TILE + LABEL_ROOM)
    layout: Any = figure.get_layout_engine()
    layout.set(wspace=0.05)  # a tile's title ends where the next one begins
    axes = figure.subplots(rows, COLUMNS, sharex=True, sharey=True, squeeze=False)
    most = max(max(float(group.profile.max()) for group in groups), float(inspection.profile.max()))
    for index, tile in enumerate(axes.flat):
        if index < len(groups):
            _draw_tile(tile, groups[index], inspection, most)
        else:
            tile.set_visible(False)
    for index, tile in enumerate(axes.flat):
        tile.tick_params(labelbottom=index + COLUMNS >= len(groups))
        tile.xaxis.set_in_layout(index >= COLUMNS * (rows - 1))  # elsewhere the tile below is empty, and has the room
    shown = f"the {len(groups)} of {len(inspection.groups)} most unlike the mean, " if len(groups) < len(
        inspection.groups) else ""  # fmt: skip
    named = named_mechanism(name, inspection.header.mechanism)
    title = f"Where the forecast looks, by {OF_GROUPS[str(inspection.by)]}: {named}"
    windows = counted(inspection.header.num_windows, "window")
    words = (
        f"{shown}mean weight by lag (time steps before the cut-off); line: all {windows}; unlike: 0 the same, "
        "1 nothing in common"
    )
    words = f"{words}; {inspection.left_out}" if inspection.left_out else words
    write_heading(figure, title, sentence=inspection.reading.text, about=words)
    return figure


def _draw_tile(axes: "Axes", group: GroupStatistics, inspection: Inspection, most: float) -> None:
    header = inspection.header
    edges = _edges(header)
    axes.stairs(group.profile, edges, fill=True, color=ACCENT)
    axes.stairs(inspection.profile, edges, color=INK, linewidth=0.8)
    name, unlike = shortened(group.name, LONGEST_NAME), f"unlike {group.distance:.2f}"
    axes.set_title(name, fontsize=TICK, color=INK, loc="left", pad=3, parse_math=False)
    axes.set_title(unlike, fontsize=TICK, color=SOFT, loc="right", pad=3)
    axes.set_ylim(0, 1.08 * most or 1)
    label_shares(axes)
    _dress(axes, header, 3)


def draw_comparison(comparison: WeightComparison) -> "Figure":
    """Both heat maps in the same colours on the same axis of lags, both profiles above, and how far apart each step is.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    figure = empty_figure(4.4)
    grid = figure.add_gridspec(2, 4, height_ratios=[1, 2.6], width_ratios=[1, 1, 0.34, 0.04])
    darkest = max(darkest_weight(each.mean_weights) for each in comparison.inspections)
    lookback = max(each.header.lookback for each in comparison.inspections)
    most = max(float(each.profile.max()) for each in comparison.inspections)
    for column, (sign, name, each) in enumerate(zip("AB", comparison.names, comparison.inspections, strict=True)):
        profile = figure.add_subplot(grid[0, column], label=f"profile {sign}")
        profile.stairs(each.profile, _edges(each.header), fill=True, color=ACCENT)
        profile.set_ylim(0, 1.08 * most)
        label_shares(profile)
        profile.set_title(f"{sign}  {_shortened(name)}: {each.header.mechanism}", fontsize=LABEL, color=INK, loc="left",
                          parse_math=False)  # fmt: skip
        weights = figure.add_subplot(grid[1, column], sharex=profile, label=f"weights {sign}")
        image = draw_rows(weights, each, darkest)
        _dress(profile, each.header, 5, lookback=lookback)
        _dress(weights, each.header, 5, lookback=lookback)
        profile.tick_params(labelbottom=False, labelleft=column == 0)
        weights.set_xlabel("lag (time steps before the cut-off)", fontsize=LABEL, color=INK)
        if column == 0:
            profile.set_ylabel("mean weight", fontsize=LABEL, color=INK)
            weights.set_ylabel("step ahead", fontsize=LABEL, color=INK)
    _draw_distances(figure.add_subplot(grid[1, 2], label="distances"), comparison)
    draw_colour_bar(figure.add_subplot(grid[1, 3], label="colour bar"), image, "weight (square-root scale)")
    readings = [f"{sign}: {each.reading.text}" for sign, each in zip("AB", comparison.inspections, strict=True)]
    write_heading(figure, "Two attentions side by side", sentence=comparison.sentence, about="\n".join(readings))
    return figure


def _draw_distances(axes: "Axes", comparison: WeightComparison) -> None:
    """Bars of the distance of the common windows, by step; words where no window is in both."""
    length = comparison.inspections[0].header.patch_length
    first = [step.step for step in comparison.steps]
    known = [
        (step, each.distance) for step, each in zip(first, comparison.steps, strict=True) if each.distance is not None
    ]
    if known:
        middles = [step + (length - 1) / 2 for step, _ in known]
        axes.barh(middles, [distance for _, distance in known], height=0.8 * length, color=SOFT, linewidth=0)
    else:
        axes.text(0.5, 0.5, "no window\nin both", ha="center", transform=axes.transAxes, fontsize=TICK, color=INK)
    steps = comparison.inspections[0].target_steps
    axes.set_ylim(steps[-1] + 0.5, steps[0] - 0.5)
    axes.set_xlim(0, 1)
    axes.set_xticks([0, 1])
    axes.set_xlabel("apart\n(0 to 1)", fontsize=LABEL, color=INK)
    axes.tick_params(labelleft=False, labelsize=TICK, colors=INK, length=3)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.spines["left"].set_color(SOFT)


# --------------------------------------------------------------------------- axes and words


def _edges(header: InspectionHeader) -> NDArray[np.float64]:
    """(num_keys + 1,) ends of the keys in lags of time steps, the oldest first."""
    return np.asarray(np.arange(header.num_keys, -1, -1) * header.patch_length - 0.5, np.float64)


def _dress(axes: "Axes", header: InspectionHeader, most: int, *, lookback: int | None = None) -> None:
    """The lag axis in lags and in time."""
    timed = has_time_distances(header.frequency)

    def text(lag: int) -> str:
        return f"{lag}\n−{time_distance(header.frequency, lag)}" if timed and lag else str(lag)

    draw_lag_axis(axes, lookback or header.lookback, header.season, most, text)


def _shortened(name: str) -> str:
    return name if len(name) <= LONGEST_PATH else "…" + name[1 - LONGEST_PATH :]
