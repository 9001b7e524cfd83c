"""Figures of pages without a script, and the heat map among them: SVG that takes the page's colours and prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import numpy as np

from forecast_attn.config.values import percent
from forecast_attn.inspection.results import Inspection
from forecast_attn.inspection.statistics import span_text
from forecast_attn.notebook import darkest_weight, heat_image

LEFT, RIGHT, TOP, BOTTOM = 52, 14, 14, 24
"""Pixels around the values of a chart."""
WIDE, NARROW = 640, 340
"""Pixels of a figure on a page or on paper, and on a phone."""
LABEL_ROOM = 62
"""Pixels that a label of the axis of lags has to itself."""


def on_any_screen(draw: Callable[[int], str]) -> str:
    """A figure that is drawn for pages and for phones, whose letters would be too small in a wide one made narrow.

    Args:
        draw: width in pixels -> the figure.
    """
    return draw(WIDE) + draw(NARROW)


def weights_figure(inspection: Inspection, *, darkest: float | None = None) -> str:
    """Heat map of the mean weights, step ahead by lag; colours follow the square root."""
    return on_any_screen(lambda width: _weights_figure(inspection, darkest, width))


def _weights_figure(inspection: Inspection, darkest: float | None, width: int) -> str:
    header, weights = inspection.header, inspection.mean_weights
    tall = int(np.clip(round(180 / len(weights)), 4, 22)) * len(weights)
    height = TOP + tall + BOTTOM + 4
    room = width - LEFT - RIGHT
    darkest = darkest or darkest_weight(weights)
    image = heat_image(weights, darkest)
    parts = [
        f'<image x="{LEFT}" y="{TOP}" width="{room}" height="{tall}" preserveAspectRatio="none" class="cells" '
        f'href="data:image/png;base64,{image}"/>',
        text(2, 10, "start", "step"),
    ]
    every = max(1, -(-len(weights) // 8))
    for row in range(0, len(weights), every):
        middle = TOP + (row + 0.5) * tall / len(weights)
        parts.append(text(LEFT - 5, middle + 4, "end", inspection.steps[row].step_text))
    keys = header.num_keys
    spacing = header.key_season if header.key_season > 1 else max(1, keys // 7)
    spacing *= max(1, -(-keys // (room // LABEL_ROOM * spacing)))
    for lag in range(0, keys, spacing):
        x = LEFT + room * (keys - lag - 0.5) / keys
        lags = span_text(lag * header.patch_length, (lag + 1) * header.patch_length - 1)
        parts.append(text(x, TOP + tall + 15, "middle", lags))
    words = f"Mean weight by step ahead and lag (steps before the cut-off); darkest: {percent(darkest, 1)}"
    return figure("Heat map of the mean weights by step ahead and lag", words, parts, width, height)


def figure(label: str, caption: str, parts: Sequence[str], width: int, height: int, kind: str = "") -> str:
    """A figure with a caption and a label for screen readers."""
    kind = kind or ("wide phone" if width == NARROW else "wide")
    return (
        f'<figure class="{kind}"><svg role="img" aria-label="{escape(label)}" viewBox="0 0 {width} {height}">'
        f"{''.join(parts)}</svg><figcaption>{escape(caption)}</figcaption></figure>"
    )


def text(x: float, y: float, anchor: str, words: str, kind: str = "") -> str:
    of_kind = f' class="{kind}"' if kind else ""
    return f'<text{of_kind} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
