"""Pictures of forecasts, of errors by step and of the calibration of quantiles, and what all pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.values import quantile_name
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.zones import Zone
from forecast_attn.inspection.figures import LABEL, TICK, empty_figure, shortened, step_ticks, write_heading
from forecast_attn.notebook import FORECAST, INK, SOFT
from forecast_attn.plotting import forecast_wording as wording
from forecast_attn.plotting.reliability import Reliability, band
from forecast_attn.plotting.scene import ForecastScene, ForecastView, ModelForecast
from forecast_attn.plotting.step_errors import StepErrors
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


def model_style(index: int) -> dict[str, Any]:
    """Colour and dashes of a model's line, by its place among the models."""
    return {"color": MODEL_COLOURS[index % len(MODEL_COLOURS)], "linestyle": MODEL_DASHES[index % len(MODEL_DASHES)]}


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
    channels = (int(colour[index : index + 2], 16) for index in (1, 3, 5))
    return "#" + "".join(f"{round(255 - share * (255 - channel)):02x}" for channel in channels)


# --------------------------------------------------------------------------- forecasts


HEIGHT, SMALL_HEIGHT, MARGIN = 4.2, 1.75, 0.5  # inches
MOST_TICKS = 11  # of a lone panel
BAND_DENSITIES = (0.18, 0.34, 0.5, 0.64)  # of the bands, the widest first
TITLE_ROOM = {1: 100, 2: 44, 3: 30}  # characters above a panel, by the number of panels side by side
BAR = 14  # points, of the intervals of a single step
DOTS_UP_TO = 8
"""Steps ahead that are few enough to be marked one by one."""


def draw_forecast(scene: ForecastScene) -> Figure:
    """The picture as a matplotlib figure; a panel's label is its series.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    columns = 1 if len(scene.views) == 1 else 2 if len(scene.views) <= 4 else 3
    rows = -(-len(scene.views) // columns)
    height = HEIGHT if len(scene.views) == 1 else rows * SMALL_HEIGHT
    figure = empty_figure(height + MARGIN)
    grid = figure.add_gridspec(rows, columns)
    for index, view in enumerate(scene.views):
        axes = figure.add_subplot(grid[index // columns, index % columns], label=view.item_id)
        _draw_view(axes, scene, view, MOST_TICKS // columns)
        if len(scene.views) > 1:
            cutoff = "" if scene.common_cutoff else f", {scene.zone.stamp_text(view.cutoff)}"
            name = shortened(view.item_id, TITLE_ROOM[columns] - len(cutoff))
            axes.set_title(f"{name}{cutoff}", loc="left", fontsize=PANEL_TITLE, color=INK, pad=4)
        if index % columns == 0:
            axes.set_ylabel(shortened(scene.target, 30 if columns == 1 else 16), fontsize=LABEL, color=INK)
    _write_words(figure, scene)
    return figure


def _write_words(figure: Figure, scene: ForecastScene) -> None:
    """Heading, legend, and the time span of panels that do not share it."""
    spans = list(dict.fromkeys(wording.time_span(scene, view) for view in scene.views))
    if len(spans) > 1:
        for axes, view in zip(figure.axes, scene.views, strict=True):
            axes.set_xlabel(wording.time_span(scene, view, zone=False), fontsize=TICK, color=SOFT)
    alone = wording.view_title(scene, scene.views[0]) if len(scene.views) == 1 else None
    cutoff = f"cut-off {scene.common_cutoff}" if scene.common_cutoff and alone is None else None
    fewer = f"{len(scene.views)} of {scene.num_items:,} series" if len(scene.views) < scene.num_items else None
    about = (fewer, alone, cutoff, spans[0] if len(spans) == 1 else None)
    write_heading(figure, wording.forecast_title(scene), about="; ".join(filter(None, about)))
    add_legend(figure, figure.axes[0])


def _draw_view(axes: Axes, scene: ForecastScene, view: ForecastView, most_ticks: int) -> None:
    front = view.models[0]
    _draw_bands(axes, view, front)
    if len(view.history):
        axes.plot(dates_of(view.history_stamps), view.history, color=INK, linewidth=1.4, label=scene.target)
    axes.axvline(dates_of(np.array([view.cutoff]))[0], color=SOFT, linewidth=0.9, linestyle=(0, (2, 2)), zorder=1)
    _draw_actual(axes, view)
    for index, model in reversed(list(enumerate(view.models))):
        _draw_model(axes, view, model, index)
    stamps = np.concatenate([view.history_stamps if len(view.history_stamps) else [view.cutoff], view.stamps])
    label_time(axes, stamps, scene.zone, most_ticks)  # the days from end to end stand below all panels
    dress(axes)


def _draw_bands(axes: Axes, view: ForecastView, model: ModelForecast) -> None:
    """Draw each interval above the wider one, and darker; a single step as a bar, since an area would have no width."""
    draw, width = (axes.vlines, BAR) if len(view.stamps) == 1 else (axes.fill_between, 0)
    for index, pair in enumerate(model.intervals):
        edges = model.quantiles[pair.lower], model.quantiles[pair.upper]
        draw(
            dates_of(view.stamps), *edges, linewidth=width, label=wording.interval_name(pair), zorder=1.5 + index / 100,
            color=lightened(MODEL_COLOURS[0], BAND_DENSITIES[min(index, len(BAND_DENSITIES) - 1)]), clip_on=False
        )  # fmt: skip
    for quantile in model.lone_quantiles:
        axes.plot(
            dates_of(view.stamps), model.quantiles[quantile], color=MODEL_COLOURS[0], linewidth=0.9, linestyle=":",
            label=f"quantile {quantile_name(quantile)}"
        )  # fmt: skip


def _draw_actual(axes: Axes, view: ForecastView) -> None:
    if np.isnan(view.actual).all():
        return
    stamps, actual = view.joined(view.actual)
    axes.plot(
        dates_of(stamps), actual, color=SOFT, linewidth=1.2, linestyle=(0, (3, 2)), label=wording.ACTUAL,
        marker=_marker(view), markersize=3.5, markevery=slice(len(stamps) - len(view.stamps), None)
    )  # fmt: skip


def _draw_model(axes: Axes, view: ForecastView, model: ModelForecast, index: int) -> None:
    axes.plot(
        dates_of(view.stamps), model.prediction, **model_style(index), linewidth=1.9 if index == 0 else 1.3,
        label=wording.model_label(model.name), marker=_marker(view), markersize=4, clip_on=False
    )  # fmt: skip


def _marker(view: ForecastView) -> str | None:
    return "o" if len(view.stamps) <= DOTS_UP_TO else None


# --------------------------------------------------------------------------- errors and quantiles


ERRORS_HEIGHT, SQUARE_HEIGHT = 3.9, 4.8  # inches
MARKED_UP_TO = 30
"""Steps that are few enough to be marked one by one."""


def draw_errors(errors: StepErrors) -> Figure:
    """Mean absolute error per step ahead of each model, from 0, as a matplotlib figure.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    figure = empty_figure(ERRORS_HEIGHT)
    axes = figure.add_subplot(label="errors")
    for index, model in reversed(list(enumerate(errors.models))):
        axes.plot(
            errors.steps, model.mae, **model_style(index), linewidth=2.1 if index == 0 else 1.4,
            label=f"{model.name}, mean {model.overall:.4g}",
            marker="o" if len(errors.steps) <= MARKED_UP_TO else None, markersize=4 if index == 0 else 3
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_xlabel("step ahead", fontsize=LABEL, color=INK)
    axes.set_ylabel(f"mean absolute error of {errors.target}", fontsize=LABEL, color=INK)
    axes.set_xticks(step_ticks(errors.steps.tolist()))
    axes.set_xlim(errors.steps[0] - 0.5, errors.steps[-1] + 0.5)
    dress(axes)
    write_heading(figure, wording.errors_title(errors), about=wording.errors_subtitle(errors))
    add_legend(figure, axes)
    return figure


def draw_reliability(calibration: Reliability) -> Figure:
    """Observed share against quantile of each model, on the band of chance, as a matplotlib figure.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    figure = empty_figure(SQUARE_HEIGHT)
    square, difference = figure.subplots(1, 2)
    square.set_label("reliability")
    difference.set_label("difference")
    _draw_shares(square, calibration, away=0)
    _draw_shares(difference, calibration, away=1)
    square.set_ylim(0, 1)
    square.set_ylabel("share of values at or below it", fontsize=LABEL, color=INK)
    difference.set_ylabel("share minus quantile", fontsize=LABEL, color=INK)
    write_heading(figure, wording.reliability_title(calibration), about=wording.reliability_subtitle(calibration))
    add_legend(figure, square)
    return figure


def _draw_shares(axes: Axes, calibration: Reliability, *, away: int) -> None:
    """Draw the shares as they are, or minus the quantile (`away` 1), which magnifies the distance from the diagonal."""
    quantiles = np.unique(np.concatenate([model.quantiles for model in calibration.models]))
    low, high = band(quantiles, np.full(len(quantiles), calibration.fewest))
    axes.vlines(
        quantiles, low - away * quantiles, high - away * quantiles,
        color=lightened(SOFT, 0.35), linewidth=9, zorder=1.5,
        label=wording.CHANCE
    )  # fmt: skip
    axes.plot([0, 1], [0, 1 - away], color=SOFT, linewidth=1, linestyle=(0, (4, 3)), label=wording.CALIBRATED)
    for index, model in reversed(list(enumerate(calibration.models))):
        axes.plot(
            model.quantiles, model.observed - away * model.quantiles, **model_style(index), linewidth=1.9,
            marker="o", markersize=5, label=model.name
        )  # fmt: skip
    axes.set_xlim(0, 1)
    axes.set_box_aspect(1)
    axes.set_xlabel("quantile", fontsize=LABEL, color=INK)
    dress(axes)
    axes.grid(axis="x", color=SOFT, alpha=0.18, linewidth=0.7)
