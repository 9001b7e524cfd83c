"""Titles, axes, legends and models' colours that pictures of forecasts share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.frequency import Stamps
from forecast_attn.data.zones import Zone
from forecast_attn.inspection.plots import TICK, shortened
from forecast_attn.notebook import FORECAST, INK, SOFT
from forecast_attn.plotting.ticks import time_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL_TITLE = 10
# Okabe and Ito's, which colour-blind eyes tell apart, behind the colour that forecasts have in every picture here;
# every model has dashes of its own too.
MODEL_COLOURS = [FORECAST, "#e69f00", "#009e73", "#cc79a7", "#d55e00", SOFT]
MODEL_DASHES: list[Any] = ["-", (0, (5, 2)), (0, (5, 2, 1, 2)), (0, (1.5, 1.5)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1))]
LEGEND_ROOM = 125
"""Characters beside each other, of which each line's sample takes eight."""


def model_style(at: int) -> dict[str, Any]:
    """Colour and dashes of a model's line, by its place among the models."""
    return {"color": MODEL_COLOURS[at % len(MODEL_COLOURS)], "linestyle": MODEL_DASHES[at % len(MODEL_DASHES)]}


def dress(axes: Axes) -> None:
    """Quiet axes: a faint grid of values, no box."""
    axes.tick_params(labelsize=TICK, colors=INK, length=3)
    axes.grid(axis="y", color=SOFT, alpha=0.18, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(SOFT)
    axes.tick_params(axis="y", length=0)


def label_time(axes: Axes, stamps: Stamps, zone: Zone, most: int) -> None:
    """Round times on the user's clock, about `most`, and a small margin at both ends."""
    ticks = time_ticks(stamps, zone, most)
    axes.set_xticks(dates_of(np.array([tick.stamp for tick in ticks])), [tick.text for tick in ticks])
    first, last = dates_of(stamps[[0, -1]])
    margin = (last - first) * 0.01 or 0.5
    axes.set_xlim(first - margin, last + margin)


def dates_of(stamps: Stamps) -> NDArray[np.float64]:
    """Stamps as matplotlib counts them: days since 1970, or steps."""
    from matplotlib import dates

    date2num: Any = dates.date2num
    return np.asarray(date2num(stamps) if stamps.dtype.kind == "M" else stamps, np.float64)


def add_legend(figure: Figure, axes: Axes) -> None:
    """Draw the legend below the panels, where no title is in the way; the item in front first."""
    handles, labels = axes.get_legend_handles_labels()
    names = [shortened(label, 40) for label in labels[::-1]]
    longest = max(map(len, names)) + 8
    figure.legend(
        handles[::-1],
        names,
        loc="outside lower left",
        ncols=max(LEGEND_ROOM // longest, 1),
        fontsize=TICK,
        frameon=False,
        labelcolor=INK,
        handlelength=2.2,
        columnspacing=1.6,
    )


def lightened(colour: str, share: float) -> str:
    """A colour mixed with white, opaque, so that a legend shows what the picture shows."""
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - channel)):02x}" for channel in channels)
