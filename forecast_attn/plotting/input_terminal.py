"""Attributions and means by value as pages of the terminal."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from forecast_attn.audit.wording import number, signed
from forecast_attn.plotting import input_wording as wording
from forecast_attn.plotting.by_value import ByValue, ColumnValues, Mean
from forecast_attn.plotting.forecast_attribution import Attribution
from forecast_attn.plotting.forecast_terminal import FEW_ROWS, MODEL_COLOURS, MODEL_SIGNS, TICK_WIDTH, print_notes
from forecast_attn.plotting.line_chart import Chart, Line, chart_text
from forecast_attn.plotting.ticks import time_ticks


def render_attribution(shown: Attribution, console: Console) -> None:
    """Print the inputs, what each adds to the forecast, and a chart of when."""
    result = shown.result
    console.print(Text(wording.attribution_title(shown)), style="bold")
    console.print(Text(wording.attribution_subtitle(shown)))
    console.print()
    console.print(_input_table(shown))
    console.print()
    console.print(Text("attribution by time"))
    console.print(chart_text(attribution_chart(shown, console.width), console, FEW_ROWS))
    console.print()
    console.print(Text(f"forecast {number(result.forecast)}, from the baseline {number(result.baseline)}"))
    console.print(Text(wording.completeness(shown)))
    print_notes(shown.notes, console)


def _input_table(shown: Attribution) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("input")
    for name in ("attribution", "of its past", "ahead", "value", "baseline"):
        table.add_column(name, justify="right")
    for each in shown.inputs:
        parts = (float(each.past.sum()), float(each.future.sum()))
        table.add_row(
            Text(each.name),
            signed(each.total),
            *(signed(part) if part else "" for part in parts),
            *("" if value is None else number(value) for value in (each.value, each.baseline)),
        )
    return table


def attribution_chart(shown: Attribution, width: int) -> Chart:
    """The target's own past and all covariates together, over the time from the cut-off."""
    stamps = np.concatenate([shown.past_stamps, shown.stamps])
    x = np.asarray((stamps - shown.cutoff).astype(np.int64), np.float64)
    target = tuple(each for each in shown.inputs if each.kind == "target")
    curves = [("its own past", shown.by_time(target), slice(0, len(shown.past)))]
    if shown.covariates:
        curves.append(("covariates and calendar", shown.by_time(shown.covariates), slice(None)))
    lines = [
        Line(name, x[chosen], values[chosen], MODEL_SIGNS[index], MODEL_COLOURS[index])
        for index, (name, values, chosen) in enumerate(curves)
    ]
    ticks = time_ticks(stamps, shown.zone, max(width // TICK_WIDTH, 2))
    labels = [(float(np.asarray(tick.stamp - shown.cutoff).astype(np.int64)), tick.text) for tick in ticks]
    return Chart(lines[::-1], [], [(0.0, "cut-off"), *labels], marks=[0.0], zero=True)


# --------------------------------------------------------------------------- by value


def render_by_value(shown: ByValue, console: Console) -> None:
    """Print a table per column."""
    console.print(Text(wording.by_value_title(shown)), style="bold")
    console.print(Text(wording.by_value_subtitle(shown)))
    for column in shown.columns:
        console.print()
        console.print(_value_table(column))
    console.print()
    if any(each.dependence is not None for column in shown.columns for each in column.bins):
        console.print(Text(f"if set: {wording.DEPENDENCE}"))
    print_notes(shown.notes, console)


def _value_table(column: ColumnValues) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(Text(f"{column.name}, {column.known}"), justify="right" if column.is_number else "left")
    set_to = any(each.dependence is not None for each in column.bins)
    for name in ("count", "mean forecast", "mean actual", "difference", *(["if set"] if set_to else [])):
        table.add_column(name, justify="right")
    for each in column.bins:
        means = (_mean_text(each.forecast), _mean_text(each.actual), _mean_text(each.error, signed_mean=True))
        dependence = [] if each.dependence is None else [number(each.dependence)]
        table.add_row(Text(each.label), f"{each.count:,}", *means, *dependence)
    return table


def _mean_text(mean: Mean, *, signed_mean: bool = False) -> str:
    text = signed(mean.mean) if signed_mean else number(mean.mean)
    return text if np.isnan(mean.margin) else f"{text} ± {number(mean.margin)}"
