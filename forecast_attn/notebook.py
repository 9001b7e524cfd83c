"""Parts of what a notebook shows of a result: words, tables, a heat map and small lines, as HTML without a script."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

INK, SOFT, GRID, FORECAST, ACCENT = "#22222b", "#5d5d6b", "#ececf1", "#1566c0", "#b5266b"
"""The page's --ink, --soft, --grid, --forecast and --accent: of every picture, on white."""
GAP = "#c9c9d2"
"""The page's --gap."""
HEAT = ("#ffffff", "#fbd9c0", "#f08a6b", "#c93a72", "#74206f", "#1d0b33")
"""The page's --heat-0 to --heat-5, on white."""
HEAT_ON_DARK = ("#1b1b23", "#47206f", "#8f2d82", "#dd4a69", "#fb9f5c", "#fcf3b0")
"""The same on a dark screen, as terminals are."""
STANDS_OUT = 4
"""Times a uniform weight: none below it has the darkest colour, and weights below it can be called nearly equal."""
MOST_ROWS = 12

Floats = NDArray[np.floating[Any]]


class Drawn:
    """A result with a picture. A notebook shows its HTML; a console, or a PDF of the notebook, takes the picture."""

    def _repr_png_(self) -> bytes | None:
        """None without matplotlib, or with nothing to draw."""
        pictures = import_module("forecast_attn.result_pictures")  # by name: it draws all results, so it is above them
        png: bytes | None = pictures.png_of(self)
        return png


def words(text: str) -> str:
    """Escaped text, with commands between backquotes as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def titled(title: str, *parts: str) -> str:
    """The parts below a line in bold."""
    return f"<p><b>{escape(title)}</b></p>{''.join(parts)}"


def caption(text: str) -> str:
    return f'<p style="opacity:.75">{escape(text)}</p>'  # no grey, so that it is read on white and on black


def table(frame: pd.DataFrame, columns: Sequence[str] | None = None) -> str:
    """The first and the last rows; names of users are escaped.

    Args:
        frame: what is shown.
        columns: those to show, as far as it has them; all when None. A line says how many others there are.
    """
    shown = [name for name in frame.columns if columns is None or name in columns]
    others = len(frame.columns) - len(shown)
    html = frame.to_html(
        index=False, border=0, columns=shown, max_rows=MOST_ROWS, float_format="{:,.5g}".format, na_rep="–"
    )
    more = caption(f"{others} more columns in the table itself") if others else ""
    return f'<div style="overflow-x:auto">{html}</div>{more}'


def part_of_page(html: str) -> str:
    """A part of one of our HTML pages, with the rules for its figures: a notebook has no style sheet of ours."""
    rules = {
        ".curves": "margin:.4rem 0;display:inline-block;width:min(460px,100%);vertical-align:top",
        ".curves svg": "display:block;width:100%;font:12px system-ui,sans-serif",
        ".curves text": "fill:currentColor",
        ".axis": f"fill:none;stroke:{GAP}",
        ".curve": "fill:none;stroke-width:2.2;stroke:currentColor;stroke-dasharray:5 4",
        ".curve.top": f"stroke:{ACCENT};stroke-dasharray:none",
        ".curve.bottom": f"stroke:{FORECAST};stroke-dasharray:1 4;stroke-linecap:round",
        ".area": f"fill:{ACCENT};opacity:.75",
        ".band": f"fill:{GAP};opacity:.45",
        ".verdict": "font-weight:600",
        ".together": "white-space:nowrap",
    }
    style = "".join(f".forecast-attn {name}{{{rule}}}" for name, rule in rules.items())
    return f'<div class="forecast-attn"><style>{style}</style>{html}</div>'


def heat_map(weights: Floats, label: str) -> str:
    """(rows, columns) weights as an image of which each weight is a rectangle; colours follow the square root."""
    height = int(np.clip(180 / len(weights), 6, 28)) * len(weights)
    style = f"width:100%;max-width:640px;height:{height}px;image-rendering:pixelated;border:1px solid #d9d9e0"
    return f'<img alt="{escape(label)}" style="{style}" src="data:image/png;base64,{heat_image(weights)}">'


def heat_image(weights: Floats, darkest: float | None = None) -> str:
    """A PNG of (rows, columns) weights, one pixel each, in base64.

    Args:
        weights: of which none is above `darkest`.
        darkest: the weight that has the darkest colour; that of `darkest_weight` when None.
    """
    return _png(colours_between(HEAT, np.sqrt(weights / (darkest or darkest_weight(weights)))))


def darkest_weight(weights: Floats, num_keys: int | None = None) -> float:
    """The weight that has the darkest colour of a heat map.

    The largest one, but at least `STANDS_OUT` times a uniform weight: chance would else look like a pattern.

    Args:
        weights: (rows, columns), NaN where there is none.
        num_keys: that share the weight of a row; one per column when None.
    """
    return max(float(np.nanmax(weights, initial=0.0)), min(STANDS_OUT / (num_keys or weights.shape[-1]), 1.0))


def line(values: Floats, edges: Sequence[Floats], label: str, *, width: int = 320, height: int = 72) -> str:
    """A small line of values, and a band between two edges if there are any; what is not known is a gap."""
    lines = [np.asarray(each, np.float64) for each in (values, *edges)]
    known = np.concatenate([each[np.isfinite(each)] for each in lines])
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    across = np.linspace(3, width - 3, max(len(values), 2))[: len(values)]
    points = [_points(across, height - 4 - (each - low) * (height - 8) / ((high - low) or 1.0)) for each in lines]
    band = f'<polygon fill="{FORECAST}33" points="{points[1]} {_backwards(points[2])}"/>' if len(edges) == 2 else ""
    drawn = f'<polyline fill="none" stroke="{FORECAST}" stroke-width="2" points="{points[0]}"/>'
    size = f'width="{width}" height="{height}"'
    return f'<svg role="img" aria-label="{escape(label)}" {size}>{band}{drawn}</svg>'


def _points(across: Floats, up: Floats) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, up, strict=True) if np.isfinite(y))


def _backwards(points: str) -> str:
    return " ".join(points.split()[::-1])


def colours_between(colours: Sequence[str], levels: Floats) -> NDArray[np.uint8]:
    """(..., 3) red, green and blue of levels from 0, the first colour, to 1, the last."""
    stops = np.array([[int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in colours], np.float64)
    positions = np.linspace(0, 1, len(stops))
    channels = [np.interp(levels, positions, stops[:, channel]) for channel in range(3)]
    return np.stack(channels, axis=-1).round().astype(np.uint8)


def _png(pixels: NDArray[np.uint8]) -> str:
    """A PNG of (rows, columns, 3) pixels, in base64."""
    rows, columns, _ = pixels.shape
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels.reshape(rows, -1)], axis=1).tobytes()

    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    head = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b"")
    return base64.b64encode(data).decode("ascii")
