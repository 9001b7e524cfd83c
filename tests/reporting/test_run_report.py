"""`forecast report`: what the page says is what the run holds, and it prints."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.config.requests import PlotRequest
from forecast_attn.data.roles import COVARIATE_FIELDS
from forecast_attn.errors import ConfigError
from forecast_attn.inspection.interpretation import best_of_baselines
from forecast_attn.plotting.past import validation_forecasts
from forecast_attn.plotting.sources import PlotSource, forecast_scene
from forecast_attn.reporting.report import _beside, _without_audit, window_errors
from forecast_attn.runs.run_dir import RunDir

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(forecast, small, make_table, tmp_path_factory):
    """A run with quantiles, a category and a forecast, next to its table."""
    folder = tmp_path_factory.mktemp("reported")
    make_table().assign(sky=["sun", "fog", "rain"] * 40).to_csv(folder / "data.csv", index=False)
    words = ("--past", "temperature,sky", "--quantiles", "0.1,0.5,0.9", "--out", folder / "run", "--quiet")
    assert forecast("train", folder / "data.csv", *small, *words).code == 0
    assert forecast("predict", folder / "run", "--quiet").code == 0
    return folder / "run"


@pytest.fixture(scope="module")
def html(run, forecast):
    outcome = forecast("report", run, "--html", run.parent / "report.html")
    assert outcome.code == 0, outcome.err
    assert outcome.out == f"report: {run.parent / 'report.html'}\n"
    return (run.parent / "report.html").read_text(encoding="utf-8")


def points_of(html, section, kind):
    """(points, 2) of the first path of a kind in a section, in pixels."""
    part = part_of(html, section)
    line = re.search(rf'<path class="{kind}"[^>]* d="([^"]+)"', part)[1]
    return np.array([[float(x), float(y)] for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", line)])


def part_of(html, section):
    return re.search(f'<section aria-labelledby="{section}">.*?</section>', html, re.DOTALL)[0]


def test_the_page_has_all_parts_and_asks_for_nothing(html):
    titles = re.findall(r"<h2[^>]*>([^<]+)</h2>", html)
    assert titles == [
        *("In short", "The forecast", "How accurate it is", "Best and worst windows", "Where it looks"),
        *("Contributions of the inputs to one forecast", "The data", "What was trained", "Not shown"),
    ]
    assert "<script" not in html
    assert "default-src &#x27;none&#x27;" in html or "default-src 'none'" in html
    assert not re.search(r'(?:src|href)="(?!data:)', html)


def test_categories_are_named_beside_numbers(html):
    rows = dict(re.findall(r'<th scope="row">([^<]+)</th><td>([^<]*)</td>', part_of(html, "trained")))
    assert rows["known up to the cut-off"] == "temperature, sky"
    assert rows["known in advance"] == "–"


def test_steps_ahead_are_whole_numbers(html):
    chart = re.search(r'<svg role="img" aria-label="Mean absolute error of [^"]* by step ahead".*?</svg>', html)[0]
    ticks = re.findall(r'text-anchor="middle">([^<]+)<', chart)
    assert ticks == [str(step) for step in range(1, int(ticks[-1]) + 1)]


def test_its_numbers_are_those_of_the_run(html, run):
    metrics = json.loads((run / "metrics.json").read_text())
    validation, scores = metrics["validation"], dict(metrics["baselines"])
    scores |= (metrics.get("combination") or {}).get("alone", {})
    best = min(scores, key=lambda name: scores[name]["mae"])
    skill = 100 * (1 - validation["mae"] / scores[best]["mae"])
    assert f"the mean absolute error is {validation['mae']:.4g}." in html
    side = "below" if skill >= 0 else "above"
    assert f"{abs(skill):.1f}\u00a0% {side} the error of {best}" in html
    interval = validation["interval"]
    assert f"{100 * interval['coverage']:.0f}\u00a0% of the values lie in the network&#x27;s 80\u00a0% interval" in html


def test_the_error_of_a_combination_stands_beside_that_of_the_best_baseline():
    alone = {"median-regression": {"mae": 0.8}}
    metrics = {"baselines": {"linear": {"mae": 1.2}}, "combination": {"alone": alone}}
    best, other = best_of_baselines(metrics)
    assert (best, other) == ("median-regression", 0.8), "the combination's own baselines count too"
    assert _beside(0.84, other, best) == ", 5.0 % above that of median-regression"
    assert _beside(0.6, other, best) == ", 25.0 % below that of median-regression"
    assert _beside(0.8001, other, best) == ", as large as that of median-regression"
    assert _beside(0.6, 0.0, best) == ""


def test_the_lines_are_the_forecast_and_the_errors(html, run):
    """Heights in pixels are a straight line of the values."""
    written = pd.read_csv(run / "predictions.csv")
    drawn = points_of(html, "forecast", "forecast")[:, 1]
    band = points_of(html, "forecast", "interval")[:, 1]
    values = np.concatenate([written["prediction"], written["0.9"], written["0.1"][::-1]])
    heights = np.concatenate([drawn, band])
    slope, level = np.polyfit(values, heights, 1)
    assert slope < 0
    np.testing.assert_allclose(heights, level + slope * values, atol=0.11)
    frame = validation_forecasts(RunDir(run), None).frame
    rows = frame[frame["model"] == run.name]
    by_step = (rows["prediction"] - rows["target"]).abs().groupby(rows["step"]).mean().to_numpy()
    errors = points_of(html, "accuracy", "forecast")[:, 1]
    assert len(errors) == len(by_step) == 3
    slope, level = np.polyfit(by_step, errors, 1)
    np.testing.assert_allclose(errors, level + slope * by_step, atol=0.11)


def test_no_label_is_cut_at_the_edge():
    """A day begins at the last step: its label ends where the drawing does."""
    from forecast_attn.data.zones import Zone
    from forecast_attn.reporting.drawing import Frame, _time_axis

    stamps = np.arange(
        np.datetime64("2026-03-25T00", "ns"), np.datetime64("2026-03-30T01", "ns"), np.timedelta64(1, "h")
    )
    labels = "".join(_time_axis(Frame(640, 190, (0.0, len(stamps) - 1.0), (0.0, 1.0)), stamps, Zone()))
    drawn = re.findall(r'<text x="([\d.]+)" y="[\d.]+" text-anchor="(\w+)">([^<]+)<', labels)
    assert (float(drawn[-1][0]), *drawn[-1][1:]) == (640.0, "end", "Mar 30")
    assert {anchor for _, anchor, _ in drawn[:-1]} == {"middle"}


def test_the_best_baseline_stands_beside_the_run(html, run):
    """Its line is that of the errors which metrics.json holds, named at its end; no name stands on another."""
    metrics = json.loads((run / "metrics.json").read_text())
    frame = validation_forecasts(RunDir(run), None).frame
    mae = (frame["prediction"] - frame["target"]).abs().groupby(frame["model"]).mean()
    best = metrics["best_baseline"]
    assert best != "seasonal-naive"
    assert mae[best] == pytest.approx(metrics["baselines"][best]["mae"])
    part = part_of(html, "accuracy")
    part, phones = re.subn('<figure class="wide phone">.*?</figure>', "", part)  # the same for phones
    assert phones == 1
    names = re.findall(r'<text[^>]* y="([\d.]+)" text-anchor="start">([^<]+)</text>', part)
    assert {name for _, name in names} == {"this run", best, "seasonal-naive"}
    heights = sorted(float(y) for y, _ in names)
    assert min(np.diff(heights)) >= 12.9


def test_the_bars_lead_from_the_baseline_to_the_forecast(html, run, forecast):
    """As long as the attributions of `plot`, each from where the one before it ended; blocks of time are theirs."""
    document = json.loads(forecast("plot", run, "--kind", "attribution", "--json").out)
    part = part_of(html, "attribution")
    by_input, by_time = re.findall('<figure class="wide">.*?</figure>', part, re.DOTALL)
    widths = np.array([float(each) for each in re.findall(r'<rect [^>]*width="([\d.]+)"', by_input)])
    totals = np.array([each["attribution"] for each in document["inputs"]])
    assert len(widths) == len(totals)
    unit = widths[0] / abs(totals[0])
    np.testing.assert_allclose(widths, np.maximum(abs(totals) * unit, 0.5), atol=0.11)
    ends = [float(x) for x in re.findall(r'<circle class="[a-z]+-point" cx="([\d.]+)"', by_input)]
    assert ends[1] - ends[0] == pytest.approx(unit * (document["forecast"] - document["baseline_forecast"]), abs=0.3)
    tall = [
        np.array([float(y) for y in re.findall(r"V([\d.]+)", line)])
        for line in re.findall(r'<path fill="[^"]+" d="([^"]+)"', by_time)
    ]
    values = [np.array([*each["past"], *each["future"]]) for each in document["inputs"][:4]]
    drawn = [line[len(line) // 2 :][::-1] - line[: len(line) // 2] for line in tall[: len(values)]]  # start less end
    scale = np.ptp(drawn[0]) / np.ptp(values[0])
    for blocks, known in zip(drawn, values, strict=True):
        np.testing.assert_allclose(blocks, scale * known, atol=0.2)


def test_the_best_and_worst_windows_are_those(html, run):
    frame = validation_forecasts(RunDir(run), None).frame
    of_network = frame[frame["model"] == run.name]
    expected = (
        (of_network["prediction"] - of_network["target"]).abs().groupby(of_network["cutoff"]).mean().sort_values()
    )
    rows = re.findall(r'<th scope="row">(best|worst)</th><td>[^<]*</td><td>([^<]+)</td><td[^>]*>([^<]+)<', html)
    assert [kind for kind, _, _ in rows] == ["best", "best", "worst", "worst"]
    indices = [*expected.index[:2], *expected.index[:-3:-1]]
    assert [pd.Timestamp(cutoff) for _, cutoff, _ in rows] == indices
    assert [error for *_, error in rows] == [f"{expected[cutoff]:#.4g}" for cutoff in indices]


def test_of_a_combination_it_says_that_the_windows_are_the_networks(run_copy, html, without_manifest):
    assert "The network alone is shown" not in html
    without_manifest(run_copy)
    path = run_copy / "metrics.json"
    metrics = json.loads(path.read_text())
    share = {"network": 0.4, "linear": 0.6}
    alone = {name: dict.fromkeys(("mae", "rmse", "mase"), size) for name, size in (("theta", 0.125), ("linear", 9e9))}
    together = metrics["validation"] | {"mae": 0.0625}
    metrics["combination"] = {"weights": share, "validation": together, "alone": alone}
    path.write_text(json.dumps(metrics))
    page = Forecaster.load(run_copy).report().html
    assert page.count("The network alone is shown here; it is 40\u00a0% of what") == 2
    assert ">the network</text>" in page
    part = re.search('<section aria-labelledby="accuracy">.*?</table>', page, re.DOTALL)[0]
    rows = re.findall(r'<th scope="row">([^<]+)</th><td[^>]*>([^<]+)</td>', part)
    assert rows[:3] == [
        ("network", f"{metrics['validation']['mae']:#.4g}"),
        ("combination", "0.06250"),
        ("theta", "0.1250"),
    ]
    assert {name for name, _ in rows[2:]} == {*metrics["baselines"], "theta"}
    assert rows[-1][0] == "linear"
    assert "above that of theta, the best of the baselines." in page
    assert ">this run</text>" not in page
    assert "blue: forecast of the network;" in page
    assert ">theta</text>" in part_of(page, "accuracy"), "the best baseline is the combination's"
    errors = Forecaster.load(run_copy).plot("error-by-step", model=["network"]).to_dict()
    assert [model["model"] for model in errors["models"]] == ["network"], "pictures call it so too"


def test_the_chart_of_a_backtest_says_so_and_which_baseline_it_lacks(run_copy, without_manifest):
    without_manifest(run_copy)
    frame = validation_forecasts(RunDir(run_copy), None).frame
    frame[frame["model"].isin([run_copy.name, "seasonal-naive"])].to_parquet(run_copy / "backtest.parquet")
    best = json.loads((run_copy / "metrics.json").read_text())["best_baseline"]
    part = part_of(Forecaster.load(run_copy).report().html, "accuracy")
    assert best != "seasonal-naive"
    words = f"The chart is about the windows of the backtest, which has no forecasts of {best}, the best baseline of"
    assert words in part
    assert f">{best}</text>" not in part
    assert "used to select the model" not in part


def test_what_an_audit_would_add_is_named_with_its_command(html, run_copy, without_manifest):
    assert "whether the weights can be believed: <code>forecast audit RUN" in html
    bare = SimpleNamespace(roles=SimpleNamespace(**dict.fromkeys(COVARIATE_FIELDS, ())))
    assert _without_audit(RunDir(run_copy), bare) == [
        "whether the weights can be believed: `forecast audit RUN` tests it"
    ]
    without_manifest(run_copy)
    audit = {"format": 2, "header": {"windows": 8, "windows_available": 9}, "checks": [], "covariates": None}
    (run_copy / "audit.json").write_text(json.dumps(audit))
    assert _without_audit(RunDir(run_copy), bare) == [], "no columns, whose importance could be missing"
    measured = ["the importance of covariates: `forecast audit RUN --covariates` measures it"]
    assert Forecaster.load(run_copy).report().missing == measured
    for kind in COVARIATE_FIELDS:
        one = SimpleNamespace(roles=SimpleNamespace(**{**vars(bare.roles), kind: ("a",)}))
        assert _without_audit(RunDir(run_copy), one) == measured


def test_series_that_are_left_out_are_counted_and_no_option_of_plot_is_named():
    times = pd.date_range("2026-01-05", periods=2, freq="D")
    series = [{"item_id": f"s{at:02}", "cutoff": times[0], "timestamp": times[1], "step": 1} for at in range(13)]
    table = pd.DataFrame(series).assign(prediction=1.0)
    source = PlotSource(table, None, None)
    assert "12 of 13 series are drawn; choose others with --item NAME" in forecast_scene(source, PlotRequest()).notes
    assert not [note for note in forecast_scene(source, PlotRequest(), with_hints=False).notes if "--item" in note]


def test_windows_without_a_known_value_have_no_error():
    frame = pd.DataFrame(
        {
            "item_id": list("aabb"),
            "cutoff": [1, 1, 1, 1],
            "prediction": [1.0, 2, 3, 4],
            "target": [2.0, np.nan] + 2 * [np.nan],
        }
    )
    assert [tuple(each) for each in window_errors(frame)] == [("a", 1, 1.0)]


def test_a_table_that_is_gone_leaves_its_parts_out_and_says_so(run_copy, forecast):
    config = RunDir(run_copy).read_json(RunDir(run_copy).config)
    Path(config["data"]["file"]).rename("moved.csv") if Path(config["data"]["file"]).parent == Path.cwd() else None
    report = Forecaster.load(run_copy).report("nowhere.csv")
    assert report.missing[0] == f"'nowhere.csv' is not the table of training, '{config['data']['file']}'"
    assert "The data</h2>" not in report.html
    assert "In short</h2>" in report.html
    assert "srcdoc=" in report._repr_html_()


def test_a_data_frame_is_refused_with_a_sentence(run_copy):
    with pytest.raises(ConfigError, match="takes a file of the table, not a DataFrame"):
        Forecaster.load(run_copy).report(pd.DataFrame())  # type: ignore[arg-type]


def test_without_a_name_it_is_in_the_run(run_copy, forecast):
    outcome = forecast("report", run_copy)
    assert outcome.code == 0, outcome.err
    assert outcome.out == f"report: {run_copy / 'report.html'}\n"
    assert (run_copy / "report.html").read_text(encoding="utf-8").endswith("</html>\n")


@pytest.mark.integration
def test_a_pdf_is_printed_by_a_browser(run, forecast, tmp_path):
    from forecast_attn.errors import ConfigError
    from forecast_attn.reporting.printer import find_browser

    try:
        find_browser()
    except ConfigError:
        pytest.skip("no Chromium on this machine")
    path = tmp_path / "report.pdf"
    assert forecast("report", run, "--pdf", path).code == 0
    printed = path.read_bytes()
    assert printed.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) >= 2


def test_without_a_browser_it_says_how_to_print(refused, run_copy, monkeypatch):
    monkeypatch.setattr("forecast_attn.reporting.printer.shutil.which", lambda name: None)
    refused(
        "report",
        run_copy,
        "--pdf",
        "report.pdf",
        message="no Chromium or Chrome",
        hint="open it in any browser",
        code=2,
    )


def test_a_wrong_ending_is_refused(refused, run_copy):
    refused("report", run_copy, "--pdf", "report.html", message="writes a .pdf", hint="--pdf report.pdf", code=2)
    refused("report", run_copy, "--html", "report.png", message="writes a .html", hint="--html report.html", code=2)
