"""The picture: it is written whole, and what it draws is what was measured."""

import sys

import numpy as np
import pytest

from forecast_attn.errors import ConfigError, RunError
from forecast_attn.inspection.plots import draw_heatmap, save_heatmap_png
from forecast_attn.inspection.report import inspect_attention

CASES = [
    {"windows": 1},
    {"windows": 3, "items": ("a", "b"), "heads": 2},
    {"horizon": 7, "lookback": 28, "season": 7, "frequency": "D"},
    {"horizon": 12, "lookback": 36, "season": 12, "frequency": "MS", "start": "2026-01-01"},
    {"horizon": 5, "lookback": 9, "season": 1, "frequency": "1", "start": "100"},
    {"horizon": 1, "lookback": 1, "season": 1},
]


@pytest.mark.parametrize("case", CASES, ids=["single", "mean", "daily", "monthly", "whole-numbers", "one-by-one"])
def test_the_picture_draws_the_measured_weights(make_dump, tmp_path, case):
    inspection = inspect_attention(make_dump(**case))
    figure = draw_heatmap(inspection)
    profile, _, heatmap, *_ = figure.axes
    (image,) = heatmap.images
    assert np.array_equal(np.asarray(image.get_array()), inspection.mean_weights)
    left, right, *_ = image.get_extent()
    assert (left, right) == (inspection.header.lookback - 0.5, -0.5)  # lag 0 at the right edge
    heights = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in profile.patches}
    assert [heights[lag] for lag in range(inspection.header.lookback)] == inspection.profile[::-1].tolist()
    assert "lag" in heatmap.get_xlabel()
    assert "step" in heatmap.get_ylabel()


def test_time_is_written_below_the_lags(make_dump):
    heatmap = draw_heatmap(inspect_attention(make_dump(windows=1))).axes[2]
    assert [label.get_text() for label in heatmap.get_xticklabels()][:3] == ["0\ncut-off", "24\n−1d", "48\n−2d"]


def test_seasons_before_the_target_are_dotted(make_dump):
    heatmap = draw_heatmap(inspect_attention(make_dump(windows=1))).axes[2]
    first = heatmap.lines[0]
    assert np.interp([1, 10, 23], first.get_ydata(), first.get_xdata()).tolist() == [23, 14, 1]


@pytest.mark.parametrize("part", [{}, {"step": 3}])
def test_the_file_is_a_picture_of_readable_size(make_dump, tmp_path, part):
    path = tmp_path / "heatmap.png"
    save_heatmap_png(inspect_attention(make_dump(windows=1), **part), path)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) == 1500
    assert not [entry for entry in tmp_path.iterdir() if entry.name.endswith(".partial")]


def test_a_file_can_be_drawn_directly(make_dump, tmp_path):
    save_heatmap_png(make_dump(windows=2, horizon=4, lookback=12), tmp_path / "heatmap.png")
    assert (tmp_path / "heatmap.png").stat().st_size > 5_000


def test_a_missing_folder_is_said(make_dump, tmp_path):
    with pytest.raises(RunError, match="cannot write"):
        save_heatmap_png(make_dump(windows=1), tmp_path / "no" / "heatmap.png")


def test_no_global_state_of_matplotlib_is_touched(make_dump, tmp_path):
    save_heatmap_png(make_dump(windows=1), tmp_path / "heatmap.png")
    assert "matplotlib.pyplot" not in sys.modules


def test_without_matplotlib_the_extra_is_named(make_dump, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError) as caught:
        save_heatmap_png(make_dump(windows=1), tmp_path / "heatmap.png")
    assert "forecast-attn[plot]" in caught.value.hint
