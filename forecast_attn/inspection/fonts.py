"""Fonts for letters of every script: names of series are the user's, and the default font has few scripts."""

from __future__ import annotations

import logging
import unicodedata
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.text import Text

VARIATION_SELECTORS = range(0xFE00, 0xFE10)
"""Change the look of the letter before them, and have none themselves."""
MOST_LISTED = 12
"""Letters that a note lists."""


@contextmanager
def installed_fonts(figure: Figure) -> Iterator[list[str]]:
    """Draw the letters that the texts' own font lacks with installed fonts that have them.

    Yields:
        A note on the letters that none has; nothing where all are drawn.
    """
    missing = _fall_back(figure)
    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)  # a fallback without bold letters is no news
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")  # the note names all of them
            yield [_missing_words(missing)] if missing else []
    finally:
        logger.setLevel(level)


def _missing_words(letters: set[str]) -> str:
    count = "1 letter" if len(letters) == 1 else f"{len(letters):,} letters"
    listed = " ".join(sorted(letters)[:MOST_LISTED]) + (" …" if len(letters) > MOST_LISTED else "")
    return f"no installed font has {count} of the picture ({listed}): install one, such as Noto Sans, or write a .svg"


def _fall_back(figure: Figure) -> set[str]:
    """Give every text the families that have the letters its font lacks; return the letters that none has."""
    from matplotlib.text import Text

    texts = [text for text in figure.findobj(Text) if isinstance(text, Text)]
    missing = {letter for text in texts for letter in set(text.get_text()) - _letters_of(text) if _is_drawn(letter)}
    families, missing = _families_with(missing)
    for text in texts if families else ():
        text.set_fontfamily([*text.get_fontfamily(), *families])
    return missing


def _letters_of(text: Text) -> set[str]:
    """Letters of a text that the first of its fonts has."""
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont(text.get_fontproperties()))
    return {letter for letter in set(text.get_text()) if font.get_char_index(ord(letter))}


def _is_drawn(letter: str) -> bool:
    """Return False for spaces and for marks of control, which have no look of their own."""
    category = unicodedata.category(letter)
    return category[0] not in "CZ" and ord(letter) not in VARIATION_SELECTORS


def _families_with(letters: set[str]) -> tuple[list[str], set[str]]:
    """The fewest installed families that have these letters, and the letters that none has."""
    families: list[str] = []
    coverage = _coverage(letters) if letters else {}
    while letters and coverage:
        best = max(sorted(coverage), key=lambda family: len(coverage[family] & letters))
        if not coverage[best] & letters:
            break
        families.append(best)
        letters = letters - coverage[best]
    return families, letters


def _coverage(letters: set[str]) -> dict[str, set[str]]:
    """Family -> those of the letters that its regular font has, of the fonts that matplotlib can scale."""
    from matplotlib.font_manager import fontManager
    from matplotlib.ft2font import FT2Font

    coverage: dict[str, set[str]] = {}
    for entry in fontManager.ttflist:
        if entry.name in coverage or entry.style != "normal" or entry.name.startswith("Last Resort"):
            continue  # the last resort has boxes for all of them
        try:
            font = FT2Font(entry.fname)
        except (OSError, RuntimeError):  # removed since matplotlib listed it, or of colours alone
            continue
        if font.scalable:
            coverage[entry.name] = {letter for letter in letters if font.get_char_index(ord(letter))}
    return coverage
