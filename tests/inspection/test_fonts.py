"""Letters that the default font lacks: drawn with an installed font, or named in one note."""

import logging

import pytest
from matplotlib import get_data_path
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager

from forecast_attn.inspection.figures import save_figure
from forecast_attn.inspection.fonts import installed_fonts

IN_ANOTHER_FONT, IN_NO_FONT = "\u2315", "\u58f2\u4e0a"
"""A letter of DejaVu Sans Mono, which matplotlib brings along, and two of Japanese."""


@pytest.fixture(autouse=True)
def only_fonts_of_matplotlib(monkeypatch):
    bundled = [entry for entry in fontManager.ttflist if entry.fname.startswith(get_data_path())]
    monkeypatch.setattr(fontManager, "ttflist", bundled)


def titled(name):
    figure = Figure(figsize=(3, 2))
    figure.add_subplot().set_title(name, fontweight="bold")
    return figure


def test_a_letter_is_drawn_with_an_installed_font_that_has_it():
    figure = titled(f"Caf\u00e9 {IN_ANOTHER_FONT}")
    with installed_fonts(figure) as notes:
        assert notes == []
    assert figure.axes[0].title.get_fontfamily()[-1] == "DejaVu Sans Mono"


def test_a_name_of_plain_letters_keeps_its_font():
    figure = titled("caf\u00e9 \u041c\u043e\u0441\u043a\u0432\u0430 \ufe0f")  # a variation selector is no letter
    before = figure.axes[0].title.get_fontfamily()
    with installed_fonts(figure) as notes:
        assert notes == []
    assert figure.axes[0].title.get_fontfamily() == before


def test_letters_without_any_font_are_named_once_and_without_warnings(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        (note,) = save_figure(titled(f"{IN_NO_FONT} {IN_ANOTHER_FONT}"), tmp_path / "boxes.png")
    assert note.startswith("no installed font has 2 letters of the picture (\u4e0a \u58f2)")
    assert caplog.records == []


def test_an_svg_keeps_the_letters_for_the_fonts_of_its_reader(tmp_path):
    assert save_figure(titled(IN_NO_FONT), tmp_path / "text.svg") == []
    assert IN_NO_FONT in (tmp_path / "text.svg").read_text(encoding="utf-8")
