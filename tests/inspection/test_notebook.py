"""What a notebook shows of results: their words and numbers, escaped, and pictures as PNG."""

import base64
import importlib
import pkgutil
import re
import sys
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import forecast_attn
from forecast_attn.backtest.anomalies import AnomalyScores
from forecast_attn.backtest.backtest_result import BacktestResult
from forecast_attn.backtest.backtest_scores import Scores
from forecast_attn.backtest.forecast_rows import RowsFile
from forecast_attn.comparison.leaderboard import Comparison
from forecast_attn.data.template import FutureTemplate
from forecast_attn.evaluation.evaluate import Evaluation
from forecast_attn.forecasting.forecast_result import ForecastResult
from forecast_attn.hierarchy.reconcile import ReconciledForecast
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.differences import compare_attention
from forecast_attn.inspection.interpretation import Evidence
from forecast_attn.notebook import Drawn
from forecast_attn.plotting.picture import Picture
from forecast_attn.plotting.step_errors import ModelErrors, StepErrors
from forecast_attn.reporting.report import RunReport
from forecast_attn.result_pictures import DRAWN


def test_an_inspection_shows_its_sentence_and_top_lags(make_dump):
    inspection = inspect_attention(make_dump(), evidence=Evidence(needed=True, rise=0.5, windows=9))
    html = inspection._repr_html_()
    assert inspection.reading.text.replace("`forecast audit RUN`", "<code>forecast audit RUN</code>") in html
    assert html.count("<tr>") == 1 + len(inspection.steps)
    top = inspection.steps[3].top[0]
    assert f"{top.lag} ({100 * top.weight:.1f} %)" in html
    assert repr(inspection).startswith("<Inspection of luong-general, 3 windows: On average over 3 windows, it looks ")


def test_groups_have_a_table_of_their_own(make_dump):
    inspection = inspect_attention(make_dump(windows=5, items=("<b>", "two")), by="item")
    html = inspection._repr_html_()
    assert html.count("<tr>") == 2 + len(inspection.steps) + len(inspection.groups)
    assert "<th>item</th>" in html
    assert "<th>&lt;b&gt;</th>" in html


def test_text_of_large_results_says_what_they_are():
    frame = pd.DataFrame({"item_id": ["a", "b"], "flagged": [True, False]})
    results = [
        (RunReport("x" * 2048, ["no table"]), "<RunReport: 2 KiB of HTML, 1 part missing>"),
        (Evaluation(frame, frame, frame, None, 7, ()), "<Evaluation: 2 rows of scores, 2 forecasts>"),
        (AnomalyScores(frame, {"flagged": 1}), "<AnomalyScores: 2 rows, 1 flagged>"),
        (ReconciledForecast(frame, frame, "ols", 9), "<ReconciledForecast by ols: 2 series>"),
        (FutureTemplate(frame, {"offer": 2}, {}, False, ""), "<FutureTemplate: 2 rows, 2 cells to fill in>"),
    ]
    assert [repr(result) for result, _ in results] == [text for _, text in results]


def test_a_comparison_shows_both_with_escaped_names(make_dump):
    dump = make_dump()
    pair = compare_attention(dump, dump, names=("<b>", "two"))
    assert pair.sentence in pair._repr_html_()
    assert "<h4>&lt;b&gt;</h4>" in pair._repr_html_()
    assert pair._repr_html_().count("<table>") == 2
    assert repr(pair) == "<WeightComparison of <b> and two: 3 windows in both>"


def test_every_result_that_notebooks_show_has_a_picture():
    """But for a report, which is a page."""
    modules = [each.name for each in pkgutil.walk_packages(forecast_attn.__path__, "forecast_attn.")]
    shown = {
        name
        for module in modules
        if not module.endswith("__main__")
        for name, each in vars(importlib.import_module(module)).items()
        if isinstance(each, type) and hasattr(each, "_repr_html_") and each.__module__ == module
    }
    assert shown - {"RunReport"} == DRAWN.keys() - {"Picture"}
    assert {each.__name__ for each in Drawn.__subclasses__()} == DRAWN.keys()


def test_weights_are_drawn_as_by_the_command(make_dump):
    pytest.importorskip("matplotlib")
    dump = make_dump(windows=300)
    figure = DRAWN["AttentionDump"](dump)
    assert "mean of 256 windows" in " ".join(text.get_text() for text in figure.texts)
    inspection = inspect_attention(dump, evidence=Evidence(needed=True, rise=0.5, windows=9))
    words = " ".join(text.get_text() for text in DRAWN["Inspection"](inspection).texts).replace("\u00a0", " ")
    assert inspection.reading.text.replace("`", "") in words
    grouped = inspect_attention(dump, by="weekday")
    assert ", by weekday" in DRAWN["Inspection"](grouped).get_suptitle()
    pair = compare_attention(dump, dump, names=("one", "two"))
    for shown in (dump, inspection, grouped, pair):
        assert (shown._repr_png_() or b"").startswith(b"\x89PNG")
    assert dump.take(np.array([], np.int64))._repr_png_() is None


def test_mechanisms_are_drawn_with_the_spread_of_their_seeds_beside_the_best_baseline():
    pytest.importorskip("matplotlib")
    table = pd.DataFrame({"attention": ["luong-dot", "none"], "mae": [1.0, 2.0], "mae_std": [0.25, np.nan]})
    baselines = {"naive": {"mae": 3.0}, "drift": {"mae": 1.5}}
    comparison = Comparison(Path("runs"), table, table, {}, {}, baselines, ("a note",))
    (axes,) = DRAWN["Comparison"](comparison).axes
    assert [bar.get_width() for bar in axes.patches] == [2.0, 1.0]
    assert axes.get_legend_handles_labels()[1] == ["drift, the best baseline"]
    assert (comparison._repr_png_() or b"").startswith(b"\x89PNG")


def test_without_matplotlib_results_are_shown_as_html_alone(make_dump, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert make_dump()._repr_png_() is None


def test_a_picture_is_a_png():
    pytest.importorskip("matplotlib")
    errors = StepErrors(
        np.array([1, 2]), (ModelErrors("m", np.array([1.0, 2]), np.array([3, 3])),), "y", 1, 3, "a", "b"
    )
    picture = Picture("error-by-step", errors)
    assert (picture._repr_png_() or b"").startswith(b"\x89PNG")
    assert repr(picture) == "<Picture: error-by-step>"


def test_a_forecast_shows_lines_with_intervals_and_an_escaped_table():
    frame = pd.DataFrame({"item_id": "<b>", "cutoff": pd.Timestamp("2024-01-01"),
                          "timestamp": ["2024-01-02", "2024-01-03"], "step": [1, 2], "prediction": [1.0, 3.0],
                          "0.1": [0.0, 2.0], "0.9": [2.0, 4.0]})  # fmt: skip
    result = ForecastResult(frame, None)
    assert repr(result) == "<ForecastResult: 2 steps of 1 series after 2024-01-01, quantiles 0.1, 0.9>"
    hourly = frame.assign(cutoff=pd.Timestamp("2024-01-01 13:00"))
    assert " after 2024-01-01 13:00, quantiles" in repr(ForecastResult(hourly, None))
    html = result._repr_html_()
    assert "<b>" not in html.replace("<p><b>Forecast", "")
    heights = [float(each) for each in re.findall(r",([\d.]+)", re.search('polyline.*points="([^"]+)"', html)[1])]
    band = [float(each) for each in re.findall(r",([\d.]+)", re.search('polygon.*?points="([^"]+)"', html)[1])]
    slope, level = np.polyfit([1.0, 3.0, 0.0, 2.0, 4.0, 2.0], heights + band, 1)
    np.testing.assert_allclose(level + slope * np.array([1.0, 3.0, 0.0, 2.0, 4.0, 2.0]), heights + band, atol=0.06)
    assert slope < 0


def test_attention_shows_its_mean_weights_pixel_by_pixel(make_dump):
    dump = make_dump(windows=2, horizon=5, lookback=30)
    assert repr(dump) == "<AttentionDump of luong-general: 2 windows of 1 series, lookback 30, horizon 5>"
    png = base64.b64decode(re.search('base64,([^"]+)', dump._repr_html_())[1])
    data = zlib.decompress(png[png.index(b"IDAT") + 4 : png.index(b"IEND") - 8])
    pixels = np.frombuffer(data, np.uint8).reshape(5, 1 + 3 * 30)[:, 1:].reshape(5, 30, 3)
    mean = dump.weights.mean(axis=(0, 1))
    assert np.unravel_index(pixels.astype(int).sum(axis=-1).argmin(), mean.shape) == np.unravel_index(
        mean.argmax(), mean.shape
    )
    assert f"darkest: {100 * mean.max():.1f} %" in dump._repr_html_()


def test_a_backtest_shows_its_scores_beside_the_best_baseline():
    rows = RowsFile(pa.py_buffer(b""), ("run", "naive"))
    folds = pd.DataFrame({"number": [0, 1], "cutoff": [1, 2]})
    overall = pd.DataFrame({"model": ["run", "naive"], "mae": [1.25, 2.0]})
    empty = pd.DataFrame()
    scores = Scores(overall, None, empty, empty, "naive", empty)
    result = BacktestResult(rows, scores, folds, {}, Path("backtest.parquet"), num_series=1)
    assert repr(result) == "<BacktestResult: 2 cut-offs of 1 series, MAE 1.25 of run, 2 of naive, the best baseline>"
    assert "<td>naive</td>" in result._repr_html_()
