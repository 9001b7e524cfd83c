"""The picture of forecasts: history, forecast, intervals and actual values, one panel per series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forecast_attn.config.values import quantile_name
from forecast_attn.inspection.plots import LABEL, TICK, WIDTH, empty_figure, shortened, write_heading
from forecast_attn.notebook import INK, SOFT
from forecast_attn.plotting import wording
from forecast_attn.plotting.pictures import (
    MODEL_COLOURS,
    PANEL_TITLE,
    add_legend,
    dates_of,
    dress,
    label_time,
    lightened,
    model_style,
)
from forecast_attn.plotting.scene import ForecastScene, ForecastView, ModelForecast

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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
    figure = empty_figure(WIDTH, height + MARGIN)
    grid = figure.add_gridspec(rows, columns)
    for at, view in enumerate(scene.views):
        axes = figure.add_subplot(grid[at // columns, at % columns], label=view.item_id)
        _draw_view(axes, scene, view, MOST_TICKS // columns)
        if len(scene.views) > 1:
            cutoff = "" if scene.common_cutoff else f", {scene.zone.stamp_text(view.cutoff)}"
            name = shortened(view.item_id, TITLE_ROOM[columns] - len(cutoff))
            axes.set_title(f"{name}{cutoff}", loc="left", fontsize=PANEL_TITLE, color=INK, pad=4)
        if at % columns == 0:
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
    for at, model in reversed(list(enumerate(view.models))):
        _draw_model(axes, view, model, at)
    stamps = np.concatenate([view.history_stamps if len(view.history_stamps) else [view.cutoff], view.stamps])
    label_time(axes, stamps, scene.zone, most_ticks)  # the days from end to end stand below all panels
    dress(axes)


def _draw_bands(axes: Axes, view: ForecastView, model: ModelForecast) -> None:
    """Draw each interval above the wider one, and darker; a single step as a bar, since an area would have no width."""
    draw, width = (axes.vlines, BAR) if len(view.stamps) == 1 else (axes.fill_between, 0)
    for at, pair in enumerate(model.intervals):
        edges = model.quantiles[pair.lower], model.quantiles[pair.upper]
        draw(
            dates_of(view.stamps), *edges, linewidth=width, label=wording.interval_name(pair), zorder=1.5 + at / 100,
            color=lightened(MODEL_COLOURS[0], BAND_DENSITIES[min(at, len(BAND_DENSITIES) - 1)]), clip_on=False
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


def _draw_model(axes: Axes, view: ForecastView, model: ModelForecast, at: int) -> None:
    axes.plot(
        dates_of(view.stamps), model.prediction, **model_style(at), linewidth=1.9 if at == 0 else 1.3,
        label=wording.model_label(model.name), marker=_marker(view), markersize=4, clip_on=False
    )  # fmt: skip


def _marker(view: ForecastView) -> str | None:
    return "o" if len(view.stamps) <= DOTS_UP_TO else None
