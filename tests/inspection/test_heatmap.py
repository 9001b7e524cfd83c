"""The picture: it is written whole, and what it draws is what was measured."""

import sys
import xml.etree.ElementTree
from io import BytesIO

import numpy as np
import pytest

from forecast_attn.errors import ConfigError, RunError
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.figures import save_figure
from forecast_attn.inspection.heatmap import draw_heatmap
from forecast_attn.inspection.page_figures import weights_figure
from forecast_attn.inspection.series_lines import SeriesLines, series_lines
from forecast_attn.inspection.window_values import WindowValues

pytestmark = pytest.mark.slow

CASES = [
    {"windows": 1},
    {"windows": 3, "items": ("a", "b"), "heads": 2},
    {"horizon": 7, "lookback": 28, "season": 7, "frequency": "D"},
    {"horizon": 12, "lookback": 36, "season": 12, "frequency": "MS", "start": "2026-01-01"},
    {"horizon": 5, "lookback": 9, "season": 1, "frequency": "1", "start": "100"},
    {"horizon": 1, "lookback": 1, "season": 1},
]


def panels(figure):
    return {axes.get_label(): axes for axes in figure.axes}


def lines_for(inspection, *, spread=False):
    random = np.random.default_rng(0)
    lookback, steps = inspection.header.lookback, len(inspection.steps)
    past, forecast, actual = (random.normal(size=size) for size in (lookback, steps, steps))
    return SeriesLines(past, forecast, actual, "load in MW", np.stack([past - 1, past + 1]) if spread else None)


@pytest.mark.parametrize("case", CASES, ids=["single", "mean", "daily", "monthly", "whole-numbers", "one-by-one"])
@pytest.mark.parametrize("with_series", [False, True])
def test_the_picture_draws_the_measured_weights(make_dump, case, with_series):
    inspection = inspect_attention(make_dump(**case))
    drawn = panels(draw_heatmap(inspection, lines_for(inspection, spread=True) if with_series else None))
    assert set(drawn) == {"weights", "profile", "effective", "colour bar"} | (
        {"series", "forecast"} if with_series else set()
    )
    (image,) = drawn["weights"].images
    assert np.array_equal(np.asarray(image.get_array()), inspection.mean_weights)
    left, right, *_ = image.get_extent()
    assert (left, right) == (inspection.header.lookback - 0.5, -0.5)  # lag 0 at the right edge
    bars = drawn["profile"].patches
    heights = {round(bar.get_x() + bar.get_width() / 2): bar.get_height() for bar in bars}
    assert [heights[lag] for lag in range(inspection.header.lookback)] == inspection.profile[::-1].tolist()
    widths = {round(bar.get_y() + bar.get_height() / 2): bar.get_width() for bar in drawn["effective"].patches}
    assert widths == {step.step: step.effective_steps for step in inspection.steps}
    assert "lag" in drawn["weights"].get_xlabel()
    assert "step" in drawn["weights"].get_ylabel()


def test_near_uniform_weights_are_pale_in_every_heat_map(make_dump, page):
    """A scale that ends at the largest weight would paint chance in the darkest colours."""
    random = np.random.default_rng(0)
    weights = 1 + 0.05 * random.normal(size=(2, 1, 6, 40))
    inspection = inspect_attention(make_dump(weights / weights.sum(-1, keepdims=True)))
    (image,) = panels(draw_heatmap(inspection))["weights"].images
    assert image.norm.vmax == pytest.approx(4 / 40)
    assert "darkest: 10.0 %" in weights_figure(inspection)
    assert "] 0.1\n" in page(inspection)
    peak = inspect_attention(make_dump(np.full((1, 1, 6, 40), 0.5 / 39) + np.eye(6, 40) * (0.5 - 0.5 / 39)))
    (image,) = panels(draw_heatmap(peak))["weights"].images
    assert image.norm.vmax == pytest.approx(0.5)


def test_the_series_stands_above_its_weights_and_the_forecast_on_the_same_scale(make_dump):
    inspection = inspect_attention(make_dump(windows=1, horizon=6, lookback=48))
    lines = lines_for(inspection)
    drawn = panels(draw_heatmap(inspection, lines))
    (line,) = drawn["series"].lines
    assert dict(zip(line.get_xdata(), line.get_ydata(), strict=True)) == dict(
        zip(range(47, -1, -1), lines.past, strict=True)
    )
    assert drawn["series"].get_xlim() == drawn["weights"].get_xlim() == (47.5, -0.5)
    assert drawn["series"].get_ylabel() == "load in MW"
    beside = {line.get_label(): line for line in drawn["forecast"].lines}
    assert beside["forecast"].get_xdata().tolist() == [1, 2, 3, 4, 5, 6]
    assert beside["forecast"].get_ydata().tolist() == lines.forecast.tolist()
    assert beside["actual"].get_ydata().tolist() == lines.actual.tolist()
    assert drawn["forecast"].get_ylim() == drawn["series"].get_ylim()


def test_what_is_not_known_is_not_drawn(make_dump):
    inspection = inspect_attention(make_dump(windows=1, horizon=2, lookback=8))
    unknown = np.full(2, np.nan)
    drawn = panels(draw_heatmap(inspection, SeriesLines(np.arange(8.0), np.ones(2), unknown, "y")))
    assert [line.get_label() for line in drawn["forecast"].lines] == ["forecast"]
    drawn = panels(draw_heatmap(inspection, SeriesLines(np.arange(8.0), unknown, unknown, "y")))
    assert not drawn["forecast"].lines


def test_time_is_written_below_the_lags(make_dump):
    several = panels(draw_heatmap(inspect_attention(make_dump(windows=2))))["weights"]
    assert [label.get_text() for label in several.get_xticklabels()][:3] == ["0\ncut-off", "24\n−1d", "48\n−2d"]
    one = panels(draw_heatmap(inspect_attention(make_dump(windows=1))))["weights"]
    assert [label.get_text() for label in one.get_xticklabels()][:2] == [
        "0\n2026-01-05\n14:00",
        "24\n2026-01-04\n14:00",
    ]


def test_seasons_are_marked(make_dump):
    drawn = panels(draw_heatmap(inspect_attention(make_dump(windows=1))))
    first = drawn["weights"].lines[0]
    assert np.interp([1, 10, 23], first.get_ydata(), first.get_xdata()).tolist() == [23, 14, 1]
    (marks,) = [line for line in drawn["profile"].lines if line.get_marker() == "v"]
    assert list(marks.get_xdata()) == [24, 48, 72, 96, 120, 144]


@pytest.mark.parametrize("part", [{}, {"step": 3}])
def test_the_file_is_a_picture_of_readable_size(make_dump, tmp_path, part):
    path = tmp_path / "heatmap.png"
    save_figure(draw_heatmap(inspect_attention(make_dump(windows=1).select(**part))), path)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) == 1440
    assert not [entry for entry in tmp_path.iterdir() if entry.name.endswith(".partial")]


def test_a_file_can_be_drawn_directly_as_svg_and_twice_gives_the_same_bytes(make_dump, tmp_path):
    dump = make_dump(windows=2, horizon=4, lookback=12)
    save_figure(draw_heatmap(inspect_attention(dump)), tmp_path / "first.svg")
    save_figure(draw_heatmap(inspect_attention(dump)), tmp_path / "second.svg")
    content = (tmp_path / "first.svg").read_bytes()
    drawing = xml.etree.ElementTree.fromstring(content)
    assert drawing.tag.endswith("svg")
    title = drawing.find("{*}title").text
    texts = ["".join(each.itertext()) for each in drawing.iter("{http://www.w3.org/2000/svg}text")]
    assert title.startswith("Where the forecast looks")
    assert title in texts
    assert any("Whether the forecast needs these weights is not known here" in text for text in texts)
    assert content == (tmp_path / "second.svg").read_bytes()


def test_other_kinds_of_pictures_are_refused(make_dump, tmp_path):
    with pytest.raises(ConfigError, match=r"a \.png or a \.svg; got 'heatmap\.pdf'"):
        save_figure(draw_heatmap(inspect_attention(make_dump(windows=1))), tmp_path / "heatmap.pdf")


def test_a_missing_folder_is_said(make_dump, tmp_path):
    with pytest.raises(RunError, match="cannot write"):
        save_figure(draw_heatmap(inspect_attention(make_dump(windows=1))), tmp_path / "no" / "heatmap.png")


def test_no_global_state_of_matplotlib_is_touched(make_dump, tmp_path):
    import matplotlib

    sys.modules.pop("matplotlib.pyplot", None)  # other tests' libraries may have loaded it
    before = matplotlib.rcParams["svg.hashsalt"]
    save_figure(draw_heatmap(inspect_attention(make_dump(windows=1))), tmp_path / "heatmap.svg")
    assert "matplotlib.pyplot" not in sys.modules
    assert matplotlib.rcParams["svg.hashsalt"] == before


def test_without_matplotlib_the_extra_is_named(make_dump, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ConfigError) as caught:
        save_figure(draw_heatmap(inspect_attention(make_dump(windows=1))), tmp_path / "heatmap.png")
    assert "forecast-attn[plot]" in caught.value.hint


# --------------------------------------------------------------------------- lines of several windows


def values_of(past, forecast, actual):
    return WindowValues(*(np.asarray(rows, float) for rows in (past, forecast, actual)))


def test_the_lines_of_one_window_are_its_values():
    lines = series_lines(values_of([[1, 2, np.nan]], [[3]], [[np.nan]]), num_items=1, target="load")
    assert lines.past[:2].tolist() == [1, 2]
    assert np.isnan(lines.past[2])
    assert (lines.forecast.tolist(), lines.label, lines.spread) == ([3], "load", None)


def test_several_windows_of_a_series_are_averaged_over_what_is_known():
    values = values_of([[1, 2], [3, np.nan], [np.nan, np.nan]], [[5], [7], [100]], [[np.nan], [4], [4]])
    lines = series_lines(values, num_items=1, target="load")
    assert (lines.past.tolist(), lines.forecast.tolist(), lines.actual.tolist()) == ([2, 2], [6], [4])
    assert lines.label == "load, mean"
    assert lines.spread[:, 0].tolist() == [1.5, 2.5]


def test_windows_of_several_series_are_scaled_first():
    past = np.array([[0.0, 1, 2, 3], [1000, 1100, 1200, 1300]])
    lines = series_lines(values_of(past, [[4], [1400]], [[np.nan], [np.nan]]), num_items=2, target="load")
    expected = (past[0] - past[0].mean()) / past[0].std()
    assert lines.past == pytest.approx(expected)
    assert lines.forecast == pytest.approx([(4 - 1.5) / past[0].std()])
    assert lines.label == "load, scaled"


def test_without_any_value_there_are_no_lines():
    assert series_lines(values_of([[np.nan]], [[1]], [[1]]), num_items=1, target="load") is None


def test_words_neither_cover_each_other_nor_leave_the_picture(make_dump):
    dump = make_dump(windows=2, heads=4, horizon=24, lookback=48, zone="Europe/Berlin")
    inspection = inspect_attention(dump)
    figure = draw_heatmap(inspection, lines_for(inspection, spread=True))
    figure.savefig(BytesIO())
    drawn, (legend,) = panels(figure), figure.legends
    top, below = drawn["series"].get_tightbbox(), drawn["weights"].xaxis.label.get_window_extent()
    assert legend.get_window_extent().y0 >= top.y1 - 1
    for box in (legend.get_window_extent(), below, top):
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1


def test_dollars_in_names_are_no_formulas(make_dump):
    inspection = inspect_attention(make_dump(windows=1, items=(r"$\no$ such",), horizon=2, lookback=8))
    label = r"$\price$"
    figure = draw_heatmap(inspection, SeriesLines(np.arange(8.0), np.ones(2), np.ones(2), label))
    figure.savefig(BytesIO())  # matplotlib reads a formula when it draws
    assert panels(figure)["series"].get_ylabel() == label
