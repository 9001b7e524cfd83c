"""The pictures of errors by step and of the calibration of quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forecast_attn.inspection.plots import LABEL, WIDTH, empty_figure, step_ticks, write_heading
from forecast_attn.notebook import INK, SOFT
from forecast_attn.plotting import wording
from forecast_attn.plotting.pictures import (
    add_legend,
    dress,
    lightened,
    model_style,
)
from forecast_attn.plotting.reliability import Reliability, band
from forecast_attn.plotting.step_errors import StepErrors

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT, SQUARE_HEIGHT = 3.9, 4.8  # inches
MARKED_UP_TO = 30
"""Steps that are few enough to be marked one by one."""


def draw_errors(errors: StepErrors) -> Figure:
    """Mean absolute error per step ahead of each model, from 0, as a matplotlib figure.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    figure = empty_figure(WIDTH, HEIGHT)
    axes = figure.add_subplot(label="errors")
    for at, model in reversed(list(enumerate(errors.models))):
        axes.plot(
            errors.steps, model.mae, **model_style(at), linewidth=2.1 if at == 0 else 1.4,
            label=f"{model.name}, mean {model.overall:.4g}",
            marker="o" if len(errors.steps) <= MARKED_UP_TO else None, markersize=4 if at == 0 else 3
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
    figure = empty_figure(WIDTH, SQUARE_HEIGHT)
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
    for at, model in reversed(list(enumerate(calibration.models))):
        axes.plot(
            model.quantiles, model.observed - away * model.quantiles, **model_style(at), linewidth=1.9,
            marker="o", markersize=5, label=model.name
        )  # fmt: skip
    axes.set_xlim(0, 1)
    axes.set_box_aspect(1)
    axes.set_xlabel("quantile", fontsize=LABEL, color=INK)
    dress(axes)
    axes.grid(axis="x", color=SOFT, alpha=0.18, linewidth=0.7)
