"""Attention weights as a picture: a heat map of step × lag under the series it looks at, the forecast beside it.

All axes are in time steps; a key or a step of the decoder that is a patch is as wide as the time steps it covers.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.inspection.figures import LABEL, TICK, empty_figure, named_mechanism, step_ticks, write_heading
from forecast_attn.inspection.results import Inspection, InspectionHeader
from forecast_attn.inspection.series_lines import SeriesLines
from forecast_attn.inspection.statistics import has_time_distances, time_distance
from forecast_attn.inspection.terminal_heatmap import tick_lags
from forecast_attn.notebook import ACCENT, FORECAST, GRID, HEAT, INK, SOFT, darkest_weight

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

HEIGHTS = {"series": 1.15, "profile": 0.95, "weights": 3.0, "step": 0.45}
"""Inches of each row of panels; `step` is the heat map of a single step."""
MARGINS = 1.1  # inches for axis labels and the space between
MOST_TICKS, MOST_STAMPS = 9, 7
MOST_PATCHES = 12  # of the horizon that are labelled


class Panels(NamedTuple):
    """Axes of a picture; None for those it does not have."""

    series: "Axes | None"
    forecast: "Axes | None"
    profile: "Axes"
    weights: "Axes"
    effective: "Axes"
    colour_bar: "Axes"


def draw_heatmap(inspection: Inspection, lines: SeriesLines | None = None, *, name: str = "") -> "Figure":
    """The picture as a matplotlib figure.

    Args:
        inspection: of one window, or of several, whose mean is drawn.
        lines: the series above the weights, and the forecast; left out when None.
        name: of the run or file, for the title.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    rows = _row_heights(inspection, lines)
    figure = empty_figure(sum(rows) + MARGINS)
    panels = _panels(figure, rows, inspection, with_series=lines is not None)
    if lines is not None and panels.series is not None and panels.forecast is not None:
        _draw_series(panels.series, panels.forecast, inspection, lines)
    _draw_profile(panels.profile, inspection)
    _draw_weights(panels.weights, panels.colour_bar, inspection, lines)
    _draw_effective(panels.effective, inspection)
    title = f"Where the forecast looks: {named_mechanism(name, inspection.header.mechanism)}"
    write_heading(figure, title, sentence=inspection.reading.text, about=_about(inspection))
    return figure


def heat_colours() -> "Colormap":
    """Colours of weights from none to the largest: even steps in brightness, for colour-blind eyes and print."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("page", list(HEAT))


# --------------------------------------------------------------------------- layout


def _row_heights(inspection: Inspection, lines: SeriesLines | None) -> list[float]:
    last = "weights" if len(inspection.steps) > 1 else "step"
    names = ["profile", last] if lines is None else ["series", "profile", last]
    return [HEIGHTS[name] for name in names]


def _panels(figure: "Figure", rows: list[float], inspection: Inspection, *, with_series: bool) -> Panels:
    """The lookback's panels on one axis of lags; to their right what belongs to the steps, on the same time scale."""
    header = inspection.header
    beside = float(np.clip(header.horizon / header.lookback, 0.16, 0.5 if with_series else 0.2))
    grid = figure.add_gridspec(len(rows), 3, height_ratios=rows, width_ratios=[1, beside, 0.02])
    last = len(rows) - 1
    weights = figure.add_subplot(grid[last, 0], label="weights")
    series = figure.add_subplot(grid[0, 0], sharex=weights, label="series") if with_series else None
    return Panels(
        series=series,
        forecast=figure.add_subplot(grid[0, 1], sharey=series, label="forecast") if with_series else None,
        profile=figure.add_subplot(grid[last - 1, 0], sharex=weights, label="profile"),
        weights=weights,
        effective=figure.add_subplot(grid[last, 1], sharey=weights, label="effective"),
        colour_bar=figure.add_subplot(grid[last, 2], label="colour bar"),
    )


# --------------------------------------------------------------------------- panels


def _draw_series(series: "Axes", forecast: "Axes", inspection: Inspection, lines: SeriesLines) -> None:
    """The lookback above its weights, and the steps ahead to the right of the cut-off, on the same scale."""
    lags = np.arange(inspection.header.lookback)[::-1]
    if lines.spread is not None:
        series.fill_between(lags, *lines.spread, color=INK, alpha=0.14, linewidth=0, label="middle half")
    series.plot(lags, lines.past, color=INK, linewidth=1.3, label="lookback")
    series.set_ylabel(lines.label, color=INK, fontsize=LABEL, parse_math=False)
    _dress(series, inspection, ticks=False)
    steps = inspection.target_steps
    marker = "o" if len(steps) == 1 else None
    if not np.isnan(lines.actual).all():
        forecast.plot(
            steps, lines.actual, color=SOFT, linewidth=1.2, linestyle=(0, (3, 2)), marker=marker, label="actual"
        )
    if not np.isnan(lines.forecast).all():
        forecast.plot(steps, lines.forecast, color=FORECAST, linewidth=1.8, marker=marker, label=lines.forecast_name)
    if forecast.lines:
        figure = forecast.get_figure(root=True)
        assert figure is not None
        legend = figure.legend(handles=forecast.lines, loc="upper right", ncols=2, fontsize=TICK, frameon=False)
        legend.set_in_layout(False)  # it stands beside the title, where there is room
    forecast.tick_params(labelleft=False, labelsize=TICK, colors=INK, length=3)
    forecast.set_xlabel("step ahead", color=INK, fontsize=LABEL)
    forecast.set_xlim(min(steps) - 0.5, max(steps) + 0.5)
    if len(steps) == 1:
        forecast.set_xticks(steps)
    else:
        forecast.locator_params(axis="x", nbins=4, integer=True)
    forecast.xaxis.set_in_layout(False)  # below it there is room
    forecast.spines[["top", "right", "bottom"]].set_visible(False)
    forecast.spines["left"].set_color(SOFT)


def _draw_profile(axes: "Axes", inspection: Inspection) -> None:
    """Draw the mean weight by lag, uniform weights for comparison, and marks at whole seasons before the cut-off."""
    header, profile = inspection.header, inspection.profile
    lags, largest = _middles(header.num_keys, header.patch_length)[::-1], float(profile.max())
    width = header.patch_length * (1.0 if header.num_keys > 60 else 0.8)
    axes.bar(lags, profile, width=width, color=ACCENT, linewidth=0)
    axes.axhline(1 / header.num_keys, color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    label = axes.annotate(
        "uniform", (1, 1 / header.num_keys), (5, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
        va="center", fontsize=TICK, color=INK
    )  # fmt: skip
    label.set_in_layout(False)  # to its right there is room
    top = max(largest * 1.18, 2.2 / header.num_keys)
    if _has_seasons(header) and header.season < header.lookback:
        seasons = np.arange(header.season, header.lookback, header.season)
        axes.plot(seasons, np.full(len(seasons), top * 0.95), "v", color=SOFT, markersize=5, clip_on=False)
    axes.set_ylabel("mean weight", color=INK, fontsize=LABEL)
    axes.set_ylim(0, top)
    label_shares(axes)
    _dress(axes, inspection, ticks=False)


def _draw_weights(axes: "Axes", colour_bar: "Axes", inspection: Inspection, lines: SeriesLines | None) -> None:
    header, steps = inspection.header, inspection.target_steps
    several = len(inspection.steps) > 1
    image = draw_rows(axes, inspection, darkest_weight(inspection.mean_weights))
    draw_colour_bar(colour_bar, image, "weight (square-root scale)" if several else "weight")
    axes.set_ylabel("step ahead" if several else "step", color=INK, fontsize=LABEL)
    seasonal = _has_seasons(header) and several
    if seasonal:
        _mark_seasons(axes, header, steps)
    _dress(axes, inspection, ticks=True)
    axes.spines[:].set(visible=True, color=GRID)  # where the map ends: no weight is white
    marks = ["▼ whole seasons before the cut-off"] if _has_seasons(header) and header.season < header.lookback else []
    marks += ["dotted: before the target" if marks else "dotted: whole seasons before the target"] if seasonal else []
    patches = "" if header.patch_length == 1 else f"; a weight belongs to a patch of {header.patch_length} of them"
    words = [f"lag (time steps before the cut-off{patches})", "; ".join(marks)]
    words += ["shaded: middle half of the windows"] if lines is not None and lines.spread is not None else []
    axes.set_xlabel("\n".join(filter(None, words)), color=INK, fontsize=LABEL)


def draw_rows(axes: "Axes", inspection: Inspection, darkest: float) -> "AxesImage":
    """Draw the weights of each step and key, of which one of `darkest` has the darkest colour."""
    from matplotlib.colors import PowerNorm

    header, steps = inspection.header, inspection.target_steps
    below = steps[0] + len(inspection.steps) * header.patch_length
    extent = (header.lookback - 0.5, -0.5, below - 0.5, steps[0] - 0.5)
    # The square root shows what one peak would else leave in the dark; the colour bar's ticks are true weights.
    norm = PowerNorm(0.5, vmin=0, vmax=darkest)
    image = axes.imshow(
        inspection.mean_weights, cmap=heat_colours(), norm=norm, extent=extent, aspect="auto", interpolation="nearest"
    )
    axes.set_ylim(steps[-1] + 0.5, steps[0] - 0.5)  # the part of the last patch beyond the horizon is not shown
    axes.set_yticks(*labelled_steps(inspection))
    return image


def draw_colour_bar(axes: "Axes", image: "AxesImage", label: str) -> None:
    """Draw the scale of `draw_rows` into axes of its own."""
    bar = axes.figure.colorbar(image, cax=axes)
    bar.set_label(label, color=INK, fontsize=LABEL)
    bar.ax.tick_params(labelsize=TICK, colors=INK)
    bar.ax.yaxis.set_major_formatter(_per_cent)
    bar.outline.set_visible(False)


def label_shares(axes: "Axes") -> None:
    """Label the y axis in per cent, as sentences and pages give weights."""
    axes.locator_params(axis="y", nbins=3)
    axes.yaxis.set_major_formatter(_per_cent)


def _per_cent(weight: float, _: object = None) -> str:
    return f"{100 * weight:.3g} %"


def _draw_effective(axes: "Axes", inspection: Inspection) -> None:
    """Draw the number of time steps that each step's weights are spread over."""
    patch_length, count = inspection.header.patch_length, len(inspection.steps)
    middles = inspection.steps[0].step + _middles(count, patch_length)
    values = [step.effective_steps for step in inspection.steps]
    height = patch_length * (0.8 if count < 40 else 1.0)
    axes.barh(middles, values, height=height, color=ACCENT, alpha=0.55, linewidth=0)
    axes.set_xlim(0, max(*values, 1) * 1.05)
    axes.set_xlabel("effective\nsteps" if patch_length == 1 else "effective\npatches", color=INK, fontsize=LABEL)
    axes.tick_params(labelleft=False, labelsize=TICK, colors=INK, length=3)
    axes.tick_params(axis="y", length=0)
    axes.locator_params(axis="x", nbins=3, integer=True)
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.spines["left"].set_color(SOFT)


# --------------------------------------------------------------------------- axes


def _middles(count: int, patch_length: int) -> NDArray[np.float64]:
    """(count,) the middle of each patch, from the first, whose first time step is at 0."""
    return np.asarray(np.arange(count) * patch_length + (patch_length - 1) / 2, np.float64)


def _has_seasons(header: InspectionHeader) -> bool:
    """Return whether there are seasons to mark; those of one patch, or of parts of one, are not marked."""
    return header.key_season > 1


def labelled_steps(inspection: Inspection) -> tuple[list[float], list[str] | None]:
    """Positions and labels of the steps: patches in their middle, with the steps they cover."""
    patch_length = inspection.header.patch_length
    if patch_length == 1:
        return list(step_ticks([step.step for step in inspection.steps])), None
    every = -(-len(inspection.steps) // MOST_PATCHES)
    texts = [step.step_text for step in inspection.steps]
    middles = inspection.steps[0].step + _middles(len(texts), patch_length)
    return middles[::every].tolist(), texts[::every]


def _mark_seasons(axes: "Axes", header: InspectionHeader, steps: list[int]) -> None:
    """A thin dotted line along each whole season before the target."""
    ends = np.array([steps[0] - 0.5, steps[-1] + 0.5])
    for seasons in range(1, (header.lookback + steps[-1]) // header.season + 1):
        axes.plot(seasons * header.season - ends, ends, color=INK, linewidth=0.8, linestyle=":", alpha=0.65)
    axes.set_ylim(steps[-1] + 0.5, steps[0] - 0.5)


def _dress(axes: "Axes", inspection: Inspection, *, ticks: bool) -> None:
    """The lag axis, the most recent on the right, labelled in lags and in time."""
    most = MOST_TICKS if inspection.lookback_timestamps is None else MOST_STAMPS
    text = partial(_tick_text, inspection) if ticks else None
    draw_lag_axis(axes, inspection.header.lookback, inspection.header.season, most, text)


def draw_lag_axis(axes: "Axes", lookback: int, season: int, most: int, text: Callable[[int], str] | None) -> None:
    """Draw the lag axis, the cut-off on the right, with at most `most` ticks; `text` labels a lag."""
    every = tick_lags(lookback, season)
    shown = every[:: -(-len(every) // most)]
    axes.set_xlim(lookback - 0.5, -0.5)
    axes.set_xticks(shown, None if text is None else [text(lag) for lag in shown])
    axes.tick_params(labelsize=TICK, colors=INK, length=0)
    axes.tick_params(axis="x", length=0 if text is None else 3, labelbottom=text is not None)
    axes.spines[:].set_visible(False)


def _tick_text(inspection: Inspection, lag: int) -> str:
    """The lag, and below it its time: of one window the time stamp, of several the distance."""
    header, stamps = inspection.header, inspection.lookback_timestamps
    if stamps is not None:
        return f"{lag}\n" + stamps[-1 - lag].replace(" ", "\n")
    if not has_time_distances(header.frequency):
        return str(lag)
    return f"{lag}\n{'−' + time_distance(header.frequency, lag) if lag else 'cut-off'}"


def _about(inspection: Inspection) -> str:
    header = inspection.header
    items = f"series {header.items_text}" if len(header.item_ids) == 1 else header.items_text
    chosen = inspection.steps[0]
    step = "" if len(inspection.target_steps) == header.horizon else f", step {chosen.step_text}"
    heads = f", mean of {len(header.heads)} heads" if len(header.heads) > 1 else ""
    if header.num_windows == 1:
        return f"one window of {items}, cut-off {header.first_cutoff}{step}{heads}"
    return f"mean of {header.num_windows:,} windows of {items}, cut-offs {header.cutoffs_text}{step}{heads}"
