"""The pictures of errors by step and of the calibration of levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from forecast_attn.inspection.plots import FAINT, INK, LABEL
from forecast_attn.plotting import wording
from forecast_attn.plotting.pictures import DASHES, MODELS, add_legend, dress, make_figure, write_titles
from forecast_attn.plotting.reliability import Reliability, band
from forecast_attn.plotting.step_errors import StepErrors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEIGHT, SQUARE_HEIGHT, SQUARE_WIDTH = 4.2, 5.6, 6.0  # inches
MARKED_UP_TO = 30
"""Steps that are few enough to be marked one by one."""


def draw_errors(errors: StepErrors) -> Figure:
    """Mean absolute error per step ahead of each model, from 0, as a matplotlib figure.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    figure = make_figure(HEIGHT)
    axes = figure.add_subplot(label="errors")
    for at, model in reversed(list(enumerate(errors.models))):
        axes.plot(
            errors.steps, model.mae, color=MODELS[at % len(MODELS)], linestyle=DASHES[at % len(DASHES)],
            linewidth=2.1 if at == 0 else 1.4, label=f"{model.name}, mean {model.overall:.4g}",
            marker="o" if len(errors.steps) <= MARKED_UP_TO else None, markersize=4 if at == 0 else 3
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_xlabel("step ahead", fontsize=LABEL, color=INK)
    axes.set_ylabel(f"mean absolute error of {errors.target}", fontsize=LABEL, color=INK)
    axes.locator_params(axis="x", integer=True)
    dress(axes)
    write_titles(figure, wording.errors_title(errors), wording.errors_subtitle(errors))
    add_legend(figure, axes)
    return figure


def draw_reliability(found: Reliability) -> Figure:
    """Observed share against level of each model, on the band of chance, as a matplotlib figure.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    figure = make_figure(SQUARE_HEIGHT, SQUARE_WIDTH)
    axes = figure.add_subplot(label="reliability")
    grid = np.linspace(0, 1, 201)[1:-1]
    low, high = band(grid, np.full(len(grid), found.fewest))
    axes.fill_between(grid, low, high, color=FAINT, alpha=0.22, linewidth=0, label=wording.CHANCE)
    axes.plot([0, 1], [0, 1], color=FAINT, linewidth=1, linestyle=(0, (4, 3)), label=wording.CALIBRATED)
    for at, model in reversed(list(enumerate(found.models))):
        axes.plot(
            model.levels, model.observed, color=MODELS[at % len(MODELS)], linestyle=DASHES[at % len(DASHES)],
            linewidth=1.9, marker="o", markersize=5, label=model.name
        )  # fmt: skip
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axes.set_xlabel("level", fontsize=LABEL, color=INK)
    axes.set_ylabel("share of values at or below it", fontsize=LABEL, color=INK)
    dress(axes)
    axes.grid(axis="x", color=FAINT, alpha=0.18, linewidth=0.7)
    write_titles(figure, wording.reliability_title(found), wording.reliability_subtitle(found))
    add_legend(figure, axes)
    return figure
