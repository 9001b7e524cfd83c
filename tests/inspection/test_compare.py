"""Two attention files side by side, against scipy and by hand."""

import io
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy
from rich.console import Console
from scipy.spatial.distance import jensenshannon

from forecast_attn.errors import DataError
from forecast_attn.inspection import statistics
from forecast_attn.inspection.differences import compare_attention
from forecast_attn.inspection.terminal import render_comparison

NAMES = ("one", "other")


@pytest.fixture
def two(make_dump, tmp_path):
    """`two(first, second)`: two attention files of these arguments of `make_dump`."""

    def make(first, second):
        dumps = []
        for name, options in zip(NAMES, (first, second), strict=True):
            dump = make_dump(**options)
            moved = dump.path.rename(tmp_path / f"{name}.parquet")
            dumps.append(type(dump)(**{**vars(dump), "path": moved}))
        return dumps

    return make


weight = st.one_of(st.just(0.0), st.floats(1e-9, 1))
rows = st_numpy.arrays(np.float64, (2, 7), elements=weight).filter(lambda rows: (rows.sum(-1) > 0).all())


@pytest.mark.slow
@given(rows)
def test_the_distance_is_that_of_scipy(rows):
    expected = jensenshannon(rows[0], rows[1], base=2)
    # Near equal rows scipy's own rounding is under a root: 1e-16 becomes 1e-8.
    assert statistics.jensen_shannon_distance(rows[0], rows[1]) == pytest.approx(np.nan_to_num(expected), abs=1e-7)


def test_the_distance_of_a_row_of_zeros_is_unknown():
    assert np.isnan(statistics.jensen_shannon_distance(np.zeros(3), np.ones(3)))


def test_matched_windows_are_compared_one_by_one(two, monkeypatch):
    monkeypatch.setattr("forecast_attn.attention_file.writer.ROW_GROUP_BYTES", 3000)
    random = np.random.default_rng(1)
    weights = [random.dirichlet(np.ones(20), size=(12, 2, 3)).astype(np.float32) for _ in NAMES]
    first, second = two(
        {"weights": weights[0], "items": ("a", "b"), "season": 5},
        {"weights": weights[1], "items": ("b", "c"), "season": 5},
    )
    comparison = compare_attention(first, second, names=NAMES)
    assert comparison.matched_windows == 6
    means = [each.astype(float).mean(axis=1) for each in weights]
    pairs = means[0][1::2], means[1][0::2]  # series b, at the same six cut-offs
    expected = jensenshannon(pairs[0], pairs[1], base=2, axis=-1)
    assert [step.distance for step in comparison.steps] == pytest.approx(expected.mean(axis=0), abs=1e-6)
    same = (pairs[0].argmax(-1) == pairs[1].argmax(-1)).mean(axis=0)
    assert [step.same_top_lag for step in comparison.steps] == same.tolist()
    profiles = [each.astype(float).mean(axis=(0, 1, 2)) for each in weights]
    assert comparison.profile_distance == pytest.approx(jensenshannon(*profiles, base=2), abs=1e-6)
    assert comparison.distance == pytest.approx(expected.mean(), abs=1e-6)


def test_a_file_is_like_itself(make_dump):
    dump = make_dump(windows=4)
    comparison = compare_attention(dump, dump, names=NAMES)
    assert (comparison.distance, comparison.profile_distance, comparison.matched_windows) == (0, 0, 4)
    assert {step.same_top_lag for step in comparison.steps} == {1}


def test_lags_are_aligned_at_the_cutoff(two, one_hot):
    """The same lag, seen from a lookback of 10 and one of 30, is no difference; common steps only."""
    short, long = one_hot([[[3, 2]]], 10), one_hot([[[3, 2, 1]]], 30)
    first, second = two({"weights": short, "season": 1}, {"weights": long, "season": 1})
    comparison = compare_attention(first, second, names=NAMES)
    assert [(step.step, step.distance) for step in comparison.steps] == [(1, 0), (2, 0)]


def test_nothing_in_common_is_said(two):
    first, second = two({"windows": 2, "items": ("a",)}, {"windows": 2, "items": ("b",)})
    comparison = compare_attention(first, second, names=NAMES)
    assert (comparison.matched_windows, comparison.distance) == (0, None)
    assert "no window is in both" in page(comparison)


def test_other_time_steps_cannot_be_compared(two):
    first, second = two({"windows": 1}, {"windows": 1, "frequency": "D", "season": 7})
    with pytest.raises(DataError, match=r"a step of 'h', one of .* a step of 'D'"):
        compare_attention(first, second, names=NAMES)


def page(comparison, width=120):
    stream = io.StringIO()
    render_comparison(comparison, Console(file=stream, width=width))
    return stream.getvalue()


@pytest.mark.parametrize("width", [50, 80, 120])
@pytest.mark.slow
def test_the_page_puts_both_side_by_side(two, width):
    first, second = two({"windows": 3}, {"windows": 3, "heads": 2, "mechanism": "multi-head"})
    comparison = compare_attention(first, second, names=NAMES)
    text = page(comparison, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert "A  one" in text
    assert "B  other" in text
    assert "multi-head" in text
    assert "3 windows in both" in " ".join(text.split())
    first_step = comparison.inspections[0].steps[0]
    assert f"{first_step.effective_steps:.1f}" in text


@pytest.mark.parametrize("width", [80, 110, 115, 120, 160, 200])
@pytest.mark.parametrize("patch_length", [1, 6])
@pytest.mark.slow
def test_no_lag_of_the_table_is_cut_off(two, width, patch_length):
    """Lags of patches are broad: as many are shown as fit, whole."""
    sizes = {"windows": 3, "lookback": 168 // patch_length, "horizon": 24 // patch_length, "patch_length": patch_length}
    first, second = two(sizes, {**sizes, "mechanism": "multi-head"})
    comparison = compare_attention(first, second, names=NAMES)
    lines = page(comparison, width).splitlines()
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
    for step in comparison.steps:
        tops = [
            next(each for each in inspection.steps if each.step == step.step).top[0]
            for inspection in comparison.inspections
        ]
        (row,) = [
            line
            for line in lines
            if line.split()[:1]
            == [next(each.step_text for each in comparison.inspections[0].steps if each.step == step.step)]
            and "%" in line
        ][:1]
        assert all(f"{top.lag_text}:" in row for top in tops)


def test_the_dictionary_is_json(two):
    first, second = two({"windows": 3}, {"windows": 2})
    document = json.loads(json.dumps(compare_attention(first, second, names=NAMES).to_dict(), allow_nan=False))
    assert document["names"] == ["one", "other"]
    assert [part["header"]["num_windows"] for part in document["inspections"]] == [3, 2]
    assert len(document["steps"]) == 24
