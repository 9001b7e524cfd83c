"""Charts of the report as SVG pictures that take the page's colours: they need no script, and print sharply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.audit.wording import number, signed
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.zones import Zone
from forecast_attn.inspection.figures import shortened, step_ticks
from forecast_attn.inspection.page_figures import BOTTOM, LEFT, NARROW, RIGHT, TOP, figure, on_any_screen, text
from forecast_attn.plotting.forecast_attribution import Attribution
from forecast_attn.plotting.forecast_wording import interval_name
from forecast_attn.plotting.input_pictures import MOST_BARS, MOST_COLOURS, OTHERS_COLOUR, input_colours
from forecast_attn.plotting.input_wording import attribution_subtitle, attribution_title, completeness
from forecast_attn.plotting.reliability import Reliability
from forecast_attn.plotting.scene import ForecastView
from forecast_attn.plotting.step_errors import StepErrors
from forecast_attn.plotting.ticks import number_text, number_ticks, time_ticks

Floats = NDArray[np.float64]

STAMP_ROOM, STEP_ROOM = 90, 28
"""Pixels that a time, or a step, has to itself."""
LETTER = 7
"""Pixels of a letter, to make room for names."""
ROW = 20
"""Pixels of a bar and the room around it."""
DASHES = ("", "6 3", "2 3", "8 3 2 3")


class Frame(NamedTuple):
    """Places of the values on a chart, in pixels."""

    width: int
    height: int
    x: tuple[float, float]
    y: tuple[float, float]
    margin: int = RIGHT
    """To the right of the values."""
    left: int = LEFT

    @property
    def right(self) -> int:
        return self.width - self.margin

    def across(self, values: Floats) -> Floats:
        return _between(values, self.x, (self.left, self.right))

    def up(self, values: Floats) -> Floats:
        return _between(values, self.y, (self.height - BOTTOM, TOP))


def _between(values: Floats, source: tuple[float, float], target: tuple[float, float]) -> Floats:
    span = source[1] - source[0] or 1.0
    return np.asarray(target[0] + (np.asarray(values, np.float64) - source[0]) * (target[1] - target[0]) / span)


def forecast_figure(view: ForecastView, zone: Zone, caption: str) -> str:
    """The history, the forecast with its intervals, and the actual values of one series."""
    return on_any_screen(lambda width: _forecast_figure(view, zone, caption, width, 220))


def small_forecast_figure(view: ForecastView, zone: Zone, caption: str) -> str:
    """The same, of half the width."""
    return _forecast_figure(view, zone, caption, NARROW, 150, "wide half")


def _forecast_figure(view: ForecastView, zone: Zone, caption: str, width: int, height: int, kind: str = "") -> str:
    model, history = view.models[0], len(view.history)
    stamps = np.concatenate([view.history_stamps, view.stamps])
    times = np.arange(len(stamps), dtype=np.float64)
    edges = [model.quantiles[quantile] for pair in model.intervals for quantile in (pair.lower, pair.upper)]
    frame = _frame(width, height, times, [view.history, view.actual, model.prediction, *edges])
    ahead = times[history:]
    parts = [_value_axis(frame), *_time_axis(frame, stamps, zone)]
    for pair in model.intervals:
        upper, lower = (_points(frame, ahead, model.quantiles[each]) for each in (pair.upper, pair.lower))
        parts.append(f'<path class="interval" d="{_path([*upper, *reversed(lower)])}Z"/>')
    parts += [
        _line(frame, "past", times[:history], view.history),
        _line(frame, "actual", ahead, view.actual),
        _line(frame, "forecast", ahead, model.prediction),
    ]
    return figure(caption, caption, parts, width, height, kind)


def forecast_legend(view: ForecastView, name: str) -> str:
    """Caption of `forecast_figure`; `name` is that of the forecast."""
    names = ", ".join(f"{interval_name(pair)} interval" for pair in view.models[0].intervals)
    actual = "; dashed: actual values" if np.isfinite(view.actual).any() else ""
    return f"Black: series; blue: {name}" + (f"; shaded: {names}" if names else "") + f"{actual}."


def errors_figure(errors: StepErrors, first: str, words: str) -> str:
    """Mean absolute error by step ahead of each model, named at its end; the first, called `words`, in blue."""
    return on_any_screen(lambda width: _errors_figure(errors, first, words, width))


def _errors_figure(errors: StepErrors, first: str, words: str, width: int) -> str:
    height = 150
    lines = {model.name: model.mae for model in errors.models}
    names = {name: words if name == first else name for name in lines}
    steps = errors.steps.astype(np.float64)
    frame = _frame(width, height, steps, [*lines.values(), np.zeros(1)])
    frame = frame._replace(margin=12 + LETTER * max(map(len, names.values())))
    room = (frame.right - frame.left) // STEP_ROOM
    parts = [_value_axis(frame), *_ticks(frame, step_ticks(errors.steps.tolist(), min(room, 12)))]
    dashes, ends = iter(DASHES[1:] * len(lines)), {}
    for name, mae in lines.items():
        kind, dash = ("forecast", "") if name == first else ("other", next(dashes))
        parts.append(_line(frame, kind, steps, mae, dash))
        known = np.flatnonzero(np.isfinite(mae))
        if len(known):
            ends[names[name]] = float(frame.up(mae)[known[-1]]) + 4
    heights = _apart(list(ends.values()), TOP + 4, height - BOTTOM)
    parts += [text(frame.right + 6, y, "start", name, "of-forecast" if name == words else "")
              for name, y in zip(ends, heights, strict=True)]  # fmt: skip
    title = f"Mean absolute error of {errors.target} by step ahead"
    return figure(title, title, parts, width, height)


def calibration_figure(calibration: Reliability) -> str:
    """Shares of values at or below each quantile, over the range that chance allows."""
    size = 240
    model, frame = calibration.models[0], Frame(size, size, (0.0, 1.0), (0.0, 1.0))
    low, high = (_points(frame, model.quantiles, edge) for edge in (model.low, model.high))
    ends = np.array([0.0, 1.0])
    parts = [
        _value_axis(frame),
        *_ticks(frame, number_ticks(*frame.x, 6)),
        text(frame.right, size - BOTTOM - 5, "end", "quantile"),
        f'<path class="band" d="{_path([*high, *reversed(low)])}Z"/>',
        _line(frame, "uniform", ends, ends),
        _line(frame, "forecast", model.quantiles, model.observed),
    ]
    parts += [f'<circle class="forecast-point" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in
              _points(frame, model.quantiles, model.observed)]  # fmt: skip
    title = "Share of actual values at or below each quantile"
    words = (
        f"{title}. On the dashed line the quantiles are calibrated; below it, fewer values than the quantile promises "
        "are lower. Shaded: what chance allows if they are calibrated and the values independent."
    )
    return figure(title, words, parts, size, size, "wide square")


def attribution_figure(shown: Attribution) -> str:
    """Bars from the forecast of the baseline to the forecast: each input's begins where the one above it ended."""
    return on_any_screen(lambda width: _attribution_figure(shown, width))


def _attribution_figure(shown: Attribution, width: int) -> str:
    inputs = [(name, sum(each.total for each in part)) for name, part in shown.parts(MOST_BARS)]
    ends = shown.result.baseline + np.cumsum([0.0, *(total for _, total in inputs)])
    names = [f"baseline {number(ends[0])}", *(name for name, _ in inputs), f"forecast {number(shown.result.forecast)}"]
    names = [shortened(name, (width // 3) // LETTER) for name in names]
    frame = Frame(width, TOP + len(names) * ROW + BOTTOM, (float(ends.min()), float(ends.max())), (0.0, 1.0),
                  margin=8 * LETTER, left=12 + LETTER * max(map(len, names)))  # fmt: skip
    x, colours = frame.across(ends).tolist(), input_colours(shown)
    middles = [TOP + (index + 0.5) * ROW for index in range(len(names))]
    parts = [text(frame.left - 8, y + 4, "end", name) for name, y in zip(names, middles, strict=True)]
    for (name, total), start, end, y in zip(inputs, x, x[1:], middles[1:], strict=False):
        bar = f'x="{min(start, end):.1f}" y="{y - 7}" width="{max(abs(end - start), 0.5):.1f}" height="14"'
        parts.append(f'<rect {bar} fill="{colours.get(name, OTHERS_COLOUR)}"/>')
        parts.append(f'<path class="axis" d="M{end:.1f} {y - 7}V{y + ROW}"/>')
        parts.append(text(max(start, end) + 5, y + 4, "start", signed(total)))
    parts.append(f'<path class="axis" d="M{x[0]:.1f} {middles[0]}V{middles[1] + 7}"/>')
    parts.append(f'<circle class="baseline-point" cx="{x[0]:.1f}" cy="{middles[0]}" r="4"/>')
    parts.append(f'<circle class="forecast-point" cx="{x[-1]:.1f}" cy="{middles[-1]}" r="4"/>')
    ticks = _ticks(frame, number_ticks(*frame.x, 4))
    words = f"{attribution_subtitle(shown)}; {completeness(shown)}"
    return figure(attribution_title(shown), words, [*parts, *ticks], width, frame.height)


def attribution_by_time_figure(shown: Attribution) -> str:
    """Blocks of what each input adds at each time: upwards what raises the forecast, downwards what lowers it."""
    return on_any_screen(lambda width: _attribution_by_time(shown, width))


def _attribution_by_time(shown: Attribution, width: int) -> str:
    height = 170
    stamps = np.concatenate([shown.past_stamps, shown.stamps])
    above, below = np.zeros(len(stamps)), np.zeros(len(stamps))
    colours, spans = input_colours(shown), []
    for name, inputs in shown.parts(MOST_COLOURS):
        values = shown.by_time(inputs)
        start = np.where(values >= 0, above, below)
        spans.append((colours.get(name, OTHERS_COLOUR), start, start + values))
        above, below = above + np.maximum(values, 0), below + np.minimum(values, 0)
    edges = np.arange(len(stamps) + 1, dtype=np.float64) - 0.5
    frame = Frame(width, height, (-0.5, len(stamps) - 0.5), (float(below.min()), float(above.max())))
    x, cutoff = frame.across(edges), float(frame.across(edges)[len(shown.past)])
    parts = [_value_axis(frame), *_time_axis(frame, stamps, shown.zone)]
    parts += [
        f'<path fill="{colour}" d="{_blocks(x, frame.up(start), frame.up(end))}"/>' for colour, start, end in spans
    ]
    parts.append(f'<path class="cutoff" d="M{cutoff:.1f} {TOP}V{height - BOTTOM}"/>')
    words = "The same by time; upwards: adds to the forecast; dotted: the cut-off"
    return figure(f"{attribution_title(shown)}, by time", words, parts, width, height)


def _blocks(edges: Floats, start: Floats, end: Floats) -> str:
    """Blocks side by side, each between two heights."""
    there = "".join(f"V{y:.1f}H{x:.1f}" for x, y in zip(edges[1:], end, strict=True))
    back = "".join(f"V{y:.1f}H{x:.1f}" for x, y in zip(edges[-2::-1], start[::-1], strict=True))
    return f"M{edges[0]:.1f} {start[0]:.1f}{there}{back}Z"


# --------------------------------------------------------------------------- parts


def _frame(width: int, height: int, x: Floats, lines: Sequence[Floats]) -> Frame:
    known = np.concatenate([line[np.isfinite(line)] for line in lines]) if lines else np.zeros(0)
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    room = 0.05 * ((high - low) or abs(high) or 1.0)
    bottom = low if low == 0 else low - room
    return Frame(width, height, (float(x.min()), float(x.max())), (bottom, high + room))


def _points(frame: Frame, x: Floats, y: Floats) -> list[tuple[float, float]]:
    return list(zip(frame.across(x).tolist(), frame.up(y).tolist(), strict=True))


def _path(points: Sequence[tuple[float, float]]) -> str:
    """A line through what is known; NaN is a gap."""
    path, drawing = "", False
    for x, y in points:
        if np.isfinite(y):
            path += f"{'L' if drawing else 'M'}{x:.1f} {y:.1f}"
        drawing = bool(np.isfinite(y))
    return path


def _apart(heights: list[float], top: float, bottom: float) -> list[float]:
    """Heights of words, in pixels, moved apart so that none overlaps another."""
    distance = 13.0
    moved, order = list(heights), sorted(range(len(heights)), key=heights.__getitem__)
    for index, label in enumerate(order):
        above = moved[order[index - 1]] + distance if index else top
        moved[label] = max(moved[label], above)
    for label in reversed(order):
        moved[label] = min(moved[label], bottom)
        bottom = moved[label] - distance
    return moved


def _line(frame: Frame, kind: str, x: Floats, y: Floats, dash: str = "") -> str:
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path class="{kind}"{dashes} d="{_path(_points(frame, x, y))}"/>'


def _value_axis(frame: Frame) -> str:
    ticks = number_ticks(*frame.y, 5)
    spacing = abs(ticks[1] - ticks[0]) if len(ticks) > 1 else 0.0
    parts = []
    for tick, y in zip(ticks, frame.up(np.array(ticks)).tolist(), strict=True):
        parts.append(f'<path class="grid" d="M{LEFT} {y:.1f}H{frame.right}"/>')
        parts.append(text(LEFT - 5, y + 4, "end", _tick_text(tick, spacing)))
    return "".join(parts)


def _tick_text(tick: float, spacing: float) -> str:
    return number_text(tick, spacing).replace("-", "−")


def _ticks(frame: Frame, ticks: Sequence[float]) -> list[str]:
    """Numbers below the chart."""
    spacing = abs(ticks[1] - ticks[0]) if len(ticks) > 1 else 1.0
    return [text(x, frame.height - BOTTOM + 14, "middle", _tick_text(tick, spacing))
            for tick, x in zip(ticks, frame.across(np.array(ticks)).tolist(), strict=True)]  # fmt: skip


def _time_axis(frame: Frame, stamps: Stamps, zone: Zone) -> list[str]:
    parts = []
    for tick in time_ticks(stamps, zone, frame.width // STAMP_ROOM):
        x = float(frame.across(np.array([np.searchsorted(stamps, tick.stamp)]))[0])
        parts.append(f'<path class="grid" d="M{x:.1f} {TOP}V{frame.height - BOTTOM}"/>')
        label, room = tick.text.replace("\n", " "), frame.width - x
        at_the_edge = len(label) * LETTER / 2 > room
        parts.append(text(frame.width if at_the_edge else x, frame.height - BOTTOM + 14,
                          "end" if at_the_edge else "middle", label))  # fmt: skip
    return parts
