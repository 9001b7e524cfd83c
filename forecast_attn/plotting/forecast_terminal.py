"""Pictures of forecasts as pages of the terminal."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from forecast_attn.config.values import quantile_name
from forecast_attn.data.frequency import Stamps
from forecast_attn.inspection.figures import step_ticks
from forecast_attn.plotting import forecast_wording as wording
from forecast_attn.plotting.line_chart import Band, Chart, Line, chart_text
from forecast_attn.plotting.reliability import ModelReliability, Reliability, band
from forecast_attn.plotting.scene import ForecastScene, ForecastView, ModelForecast
from forecast_attn.plotting.step_errors import StepErrors
from forecast_attn.plotting.ticks import time_ticks

Floats = NDArray[np.float64]

ROWS, FEW_ROWS, ROWS_OF_MANY = 16, 11, 7
"""Lines of a chart: alone, of two or three, of more."""
TICK_WIDTH = 14  # characters that a label of an axis has to itself
SQUARE_WIDTH = 64  # of a reliability diagram
MOST_COLUMNS = 6  # steps in the table of errors

# As on the page: the past in the colour of letters, the forecast blue; light enough for a dark terminal, dark enough
# for a light one.
HISTORY_COLOUR, ACTUAL_COLOUR = "default", "#9a9aa6"
MODEL_COLOURS = ["#4a90e2", "#e69f00", "#23a884", "#b07cc6", "#e0566b", "#9a9aa6"]
BAND_COLOURS = ["#1f3350", "#2b4a76", "#38619b", "#4878bf"]
MODEL_SIGNS, BAND_SIGNS = "o#%&@$", ".:-="
HISTORY_SIGN, ACTUAL_SIGN, QUANTILE_SIGN, DIAGONAL_SIGN = "*", "x", "'", "/"


def render_forecast(scene: ForecastScene, console: Console) -> None:
    """Print every view, one below the other."""
    rows = ROWS if len(scene.views) == 1 else FEW_ROWS if len(scene.views) <= 3 else ROWS_OF_MANY
    console.print(Text(wording.forecast_title(scene)), style="bold")
    for view in scene.views:
        console.print(Text(f"{wording.view_title(scene, view)}; {wording.time_span(scene, view)}"))
        console.print(chart_text(forecast_chart(scene, view, console.width), console, rows))
        console.print()
    print_notes(scene.notes, console)


def forecast_chart(scene: ForecastScene, view: ForecastView, width: int) -> Chart:
    """A view as lines over the time from the cut-off, in nanoseconds or steps."""

    def positions(stamps: Stamps) -> Floats:
        return np.asarray((stamps - view.cutoff).astype(np.int64), np.float64)

    ahead = positions(view.stamps)
    lines = []
    if len(view.history):
        lines.append(Line(scene.target, positions(view.history_stamps), view.history, HISTORY_SIGN, HISTORY_COLOUR))
    if not np.isnan(view.actual).all():
        stamps, actual = view.joined(view.actual)
        lines.append(Line(wording.ACTUAL, positions(stamps), actual, ACTUAL_SIGN, ACTUAL_COLOUR))
    front = view.models[0]
    lines += [
        Line(f"quantile {quantile_name(quantile)}", ahead, front.quantiles[quantile], QUANTILE_SIGN, ACTUAL_COLOUR)
        for quantile in front.lone_quantiles
    ]
    lines += _curves([(wording.model_label(model.name), ahead, model.prediction) for model in view.models])
    stamps = np.concatenate([view.history_stamps, view.stamps])
    ticks = time_ticks(stamps, scene.zone, max(width // TICK_WIDTH, 2))
    labels = [(float(positions(np.array([tick.stamp]))[0]), tick.text) for tick in ticks]
    return Chart(lines, _bands(front, ahead), [(0.0, "cut-off"), *labels], marks=[0.0])


def _bands(model: ModelForecast, x: Floats) -> list[Band]:
    bands = []
    for index, pair in enumerate(model.intervals):
        shade = min(index, len(BAND_COLOURS) - 1)
        edges = model.quantiles[pair.lower], model.quantiles[pair.upper]
        bands.append(Band(wording.interval_name(pair), x, *edges, BAND_SIGNS[shade], BAND_COLOURS[shade]))
    return bands


def _curves(curves: list[tuple[str, Floats, Floats]]) -> list[Line]:
    """Names, x and y of models as lines, the first above the others."""
    lines = [
        Line(name, x, y, MODEL_SIGNS[index % len(MODEL_SIGNS)], MODEL_COLOURS[index % len(MODEL_COLOURS)])
        for index, (name, x, y) in enumerate(curves)
    ]
    return lines[::-1]


# --------------------------------------------------------------------------- errors


def render_errors(errors: StepErrors, console: Console) -> None:
    """Print the curves, and a table of a few steps."""
    console.print(Text(wording.errors_title(errors)), style="bold")
    console.print(Text(wording.errors_subtitle(errors)))
    console.print(chart_text(errors_chart(errors), console, ROWS))
    console.print()
    console.print(_error_table(errors))
    print_notes(errors.notes, console)


def errors_chart(errors: StepErrors) -> Chart:
    """Errors as lines over the step ahead, from 0."""
    steps = errors.steps.astype(np.float64)
    lines = _curves([(model.name, steps, model.mae) for model in errors.models])
    ticks = [(float(step), str(step)) for step in step_ticks(errors.steps.tolist())]
    return Chart(lines, [], ticks, zero=True, x_name="step")


def _error_table(errors: StepErrors) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    number = len(errors.steps)
    shown = np.linspace(0, number - 1, min(MOST_COLUMNS, number)).round().astype(int)
    table.add_column("MAE by step" if len(shown) == number else f"MAE by step ({len(shown)} of {number})")
    for name in (*map(str, errors.steps[shown]), "all"):
        table.add_column(name, justify="right")
    for model in errors.models:
        values = (*model.mae[shown], model.overall)
        table.add_row(Text(model.name), *(f"{value:.4g}" if np.isfinite(value) else "" for value in values))
    return table


# --------------------------------------------------------------------------- quantiles


def render_reliability(calibration: Reliability, console: Console) -> None:
    """Print the curve, and the numbers behind it."""
    console.print(Text(wording.reliability_title(calibration)), style="bold")
    square = copy(console)  # to measure by: the diagram is about square
    square.width = min(console.width, SQUARE_WIDTH)
    console.print(chart_text(reliability_chart(calibration), square, ROWS))
    console.print()
    for model in calibration.models:
        console.print(_quantile_table(model))
        console.print()
    console.print(Text(wording.reliability_subtitle(calibration)))
    print_notes(calibration.notes, console)


def reliability_chart(calibration: Reliability) -> Chart:
    """Observed shares as lines over the quantiles, on the band of chance."""
    grid = np.linspace(0, 1, 101)
    low, high = band(grid[1:-1], np.full(len(grid) - 2, calibration.fewest))
    lines = [
        Line(wording.CALIBRATED, grid, grid, DIAGONAL_SIGN, ACTUAL_COLOUR),
        *_curves([(model.name, model.quantiles, model.observed) for model in calibration.models]),
    ]
    labels = [(quantile, f"{quantile:g}") for quantile in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    shaded = Band(wording.CHANCE, grid[1:-1], low, high, BAND_SIGNS[0], BAND_COLOURS[0])
    return Chart(lines, [shaded], labels, x_name="quantile")


def _quantile_table(model: ModelReliability) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(Text(model.name), justify="right")
    for name in ("at or below it", wording.CHANCE, "values"):
        table.add_column(name, justify="right")
    table.add_column("")
    rows = zip(model.quantiles, model.observed, model.low, model.high, model.counts, model.outside, strict=True)
    for quantile, share, low, high, count, outside in rows:
        verdict = "" if not outside else "lies too low" if share < quantile else "lies too high"
        table.add_row(quantile_name(quantile), f"{share:.3f}", f"{low:.3f} to {high:.3f}", f"{count:,}", verdict)
    return table


def print_notes(notes: list[str], console: Console) -> None:
    """Print remarks about what is drawn, one below the other."""
    for note in notes:
        console.print(Text(f"note: {note}"))
