"""What a notebook shows of results: their words and numbers, escaped, and pictures as PNG."""

import pytest

from forecast_attn.inspection.differences import compare_attention
from forecast_attn.inspection.reading import Evidence
from forecast_attn.inspection.report import inspect_attention
from forecast_attn.plotting.picture import Picture
from forecast_attn.plotting.step_errors import ModelErrors, StepErrors


def test_an_inspection_shows_its_sentence_and_top_lags(make_dump):
    found = inspect_attention(make_dump(), evidence=Evidence(needed=True, rise=0.5, windows=9))
    html = found._repr_html_()
    assert f"<b>{found.reading.text}</b>" in html
    assert html.count("<tr>") == 1 + len(found.steps)
    top = found.steps[3].top[0]
    assert f"{top.lag} ({100 * top.weight:.1f} %)" in html
    assert repr(found).startswith("<Inspection of luong-general, 3 windows: it looks ")


def test_a_comparison_shows_both_with_escaped_names(make_dump):
    dump = make_dump()
    pair = compare_attention(dump, dump, names=("<b>", "two"))
    assert "<h4>&lt;b&gt;</h4>" in pair._repr_html_()
    assert pair._repr_html_().count("<table>") == 2
    assert repr(pair) == "<WeightComparison of <b> and two: 3 windows in both>"


def test_a_picture_is_a_png():
    pytest.importorskip("matplotlib")
    import numpy as np

    errors = StepErrors(
        np.array([1, 2]), (ModelErrors("m", np.array([1.0, 2]), np.array([3, 3])),), "y", 1, 3, "a", "b"
    )
    picture = Picture("error-by-step", errors)
    assert (picture._repr_png_() or b"").startswith(b"\x89PNG")
    assert repr(picture) == "<Picture: error-by-step>"
