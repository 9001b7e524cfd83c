"""Figures of matplotlib: made as objects, so that no backend or global state is touched, headed and written.

matplotlib comes with the extra [plot].
"""

import re
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from forecast_attn.errors import ConfigError, needing
from forecast_attn.inspection.fonts import installed_fonts
from forecast_attn.notebook import INK, SOFT
from forecast_attn.runs.atomic import replacing, write_errors_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, DOTS_PER_INCH = 9.0, 160
TITLE, LABEL, TICK = 14, 10, 9  # points; at a page's 800 pixels the last two are 12 and 11 pixels
TITLE_HEIGHT, LINE_HEIGHT, EDGE = 0.36, 0.18, 0.09  # inches of the heading's lines, and of the space around it
MOST_LETTERS = {LABEL: 118, TICK: 132}  # in a line of the heading, by its size
LONGEST_TITLE = 72  # letters


def kind_of(path: Path) -> str:
    """png or svg, by a picture's name.

    Raises:
        ConfigError: the name ends otherwise.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("png", "svg"):
        raise ConfigError(f"a picture is a .png or a .svg; got '{path.name}'", f"--png {path.stem}.png")
    return kind


def check_pictures(*, png: Path | None = None, svg: Path | None = None) -> None:
    """Refuse, before any work, a picture of another kind than its option writes.

    Raises:
        ConfigError: names it.
    """
    for name, path in (("png", png), ("svg", svg)):
        if path is not None and path.suffix.lower() != f".{name}":
            raise ConfigError(f"--{name} writes a .{name}; got '{path.name}'", f"--{name} {path.stem}.{name}")


def empty_figure(height: float) -> "Figure":
    """A white figure as wide as all of them, and of this height in inches.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    with needing("a picture", "plot"):
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    layout = ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.05, wspace=0.01, hspace=0.01)
    return Figure(figsize=(WIDTH, height), facecolor="white", layout=layout)


def write_heading(figure: "Figure", title: str, *, sentence: str = "", about: str = "") -> None:
    """Write a title above all panels, below it a conclusion and in grey what is drawn, and make room for them."""
    lines = [(line, size, colour) for text, size, colour in ((sentence, LABEL, INK), (about, TICK, SOFT))
             for line in wrapped(text, MOST_LETTERS[size])]  # fmt: skip
    width, height = figure.get_size_inches()
    top = height + TITLE_HEIGHT + LINE_HEIGHT * len(lines)
    figure.set_size_inches(width, top)
    layout: Any = figure.get_layout_engine()
    layout.set(rect=(0, 0, 1, height / top))
    anchor: dict[str, Any] = {"x": EDGE / width, "ha": "left", "va": "top", "in_layout": False}
    figure.suptitle(shortened(title, LONGEST_TITLE), y=1 - EDGE / top, fontsize=TITLE, fontweight="bold", color=INK,
                    **anchor)  # fmt: skip
    for index, (line, size, colour) in enumerate(lines):
        y = 1 - (TITLE_HEIGHT + index * LINE_HEIGHT) / top
        figure.text(s=line, y=y, fontsize=size, color=colour, parse_math=False, **anchor)


def named_mechanism(name: str, mechanism: str) -> str:
    """A run's name and its mechanism; one of them where they are the same."""
    return ", ".join(dict.fromkeys(filter(None, (name, mechanism))))


def shortened(text: str, most: int) -> str:
    """Shorten a text to at most this many characters: names of series can be of any length."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def wrapped(text: str, most: int) -> list[str]:
    """Lines that break neither within a command nor before a per cent; without the backquotes of commands."""
    whole = re.sub("`([^`]+)`", lambda command: command[1].replace(" ", "\u00a0"), text)
    return [line for part in whole.replace(" %", "\u00a0%").splitlines() for line in wrap(part, most)]


def step_ticks(steps: list[int], most: int = 12) -> list[int]:
    """The first step and round ones, about `most` at the most: 1, 6, 12, 18, 24 are what people count hours in."""
    spacing = next(size for size in (1, 2, 3, 4, 6, 12, 24, 48, 96, len(steps)) if len(steps) <= most * size)
    return sorted({steps[0], *(step for step in steps if step % spacing == 0 and step - steps[0] > spacing / 2)})


def save_figure(figure: "Figure", target: Path) -> list[str]:
    """Write a figure as .png or .svg, whole or not at all.

    Returns:
        Notes on letters of a .png that no installed font has; a .svg is drawn with the fonts of its reader.

    Raises:
        ConfigError: the name ends otherwise.
        RunError: the file cannot be written.
    """
    kind = kind_of(target)
    from matplotlib import rc_context

    # The same picture is the same bytes: no date, and names that are not drawn by chance. Words stay words, to be
    # searched, copied and read aloud.
    about = {"Date": None, "Title": figure.get_suptitle()}
    options: dict[str, Any] = {"metadata": about} if kind == "svg" else {"dpi": DOTS_PER_INCH}
    drawing = rc_context({"svg.hashsalt": "forecast-attn", "svg.fonttype": "none"})
    with drawing, installed_fonts(figure) as notes, write_errors_of(target), replacing(target) as stream:
        figure.savefig(stream, format=kind, **options)
    return notes if kind == "png" else []
