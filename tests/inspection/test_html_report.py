"""The page as a file: what it holds is what was measured, and it names nothing outside of itself."""

import base64
import json
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from forecast_attn.attention_file import read_attention
from forecast_attn.config.requests import PlotRequest
from forecast_attn.errors import RunError
from forecast_attn.forecaster import Forecaster
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.heatmap import draw_heatmap
from forecast_attn.inspection.html_report import build_report, make_page
from forecast_attn.inspection.page_data import PAGE_BYTES, PageWindows, choose_windows, default_windows, encode_lines
from forecast_attn.inspection.series_lines import lines_of_run
from forecast_attn.inspection.window_values import WindowValues, values_of_windows
from forecast_attn.plotting.animation import animation_of
from forecast_attn.plotting.forecast_wording import model_label
from forecast_attn.plotting.sources import PlotSource, forecast_scene
from forecast_attn.runs.run_dir import RunDir

NASTY = "</script><img src=x onerror=alert(1)>&amp;\u2028'\""
VOID = {"meta", "link", "img", "input", "br"}


class Outline(HTMLParser):
    """Elements in order, with their attributes; complains about what is not closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open:
            self.texts[self.open[-1]] = self.texts.get(self.open[-1], "") + data

    def attributes(self, name):
        return [attributes[name] for _, attributes in self.elements if name in attributes]


def document_of(html):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1])


def floats_of(text, *shape):
    return np.frombuffer(base64.b64decode(text), "<f4").reshape(shape)


def lines_of(coded):
    """(lines, values) of the page, NaN where nothing is known."""
    ends = floats_of(coded["ends"], -1, 2).astype(float)
    codes = np.frombuffer(base64.b64decode(coded["codes"]), "<u2").reshape(len(ends), -1)
    return np.where(codes == 65535, np.nan, ends[:, :1] + np.diff(ends) * codes / 65534)


def weights_of(text, *shape):
    codes = np.frombuffer(base64.b64decode(text), "<u2").reshape(shape)
    return np.where(codes, 2.0 ** ((codes - 65535.0) / 2048), 0)


def audit():
    """audit.json as `forecast audit` writes it, with a check of each outcome."""
    statistic = {"name": "change", "label": "forecast change", "value": 12.5, "unit": "target", "faithful_is": "above"}
    chance = {"low": 0.25, "median": 0.4, "high": 0.9, "draws": 100, "of": "random weights"}
    lines = {"top": [3.0, 9.0], "bottom": [0.5, 1.0], "random": [1.0, 4.0], "random_low": [0.8, 3.0]}
    curve = {"name": "deletion", "label": "Weights taken away", "share": [0.1, 0.4], "steps": [2, 6]}
    importance = {"name": f"wind {NASTY}", "group": "future", "columns": ["wind"], "mae_change": 3.2, "relative": 0.37}
    return {
        "format": 1,
        "header": {"target": "demand", "windows": 64, "windows_available": 3486},
        "verdict": {"level": "not faithful", "sentence": f"Do not believe it {NASTY}.", "caveats": ["Few windows."]},
        "checks": [
            {"name": "uniform_swap", "title": "Uniform weights instead", "passed": True, "verdict": "It matters."}
            | {"statistics": [statistic | {"yardstick": chance, "beats_chance": True}], "curves": []},
            {"name": "deletion", "title": "Steps taken away", "passed": False, "verdict": "Less than chance."}
            | {"statistics": [statistic | {"value": None, "yardstick": None}]}
            | {"curves": [curve | {"forecast_change": lines | {"random_high": [1.2, 5.0]}, "mae_change": lines}]},
            {"name": "values", "title": "Rank of the values", "passed": None, "verdict": "4 of 14."}
            | {"statistics": [], "curves": []},
        ],
        "profiles": {"weights": [0.1, 0.3, 0.6], "state_occlusion": [0.2, 0.8, 0.0], "effective": [0.1, 0.3, 0.6]},
        "covariates": {"windows": 64, "repeats": 9, "mae": 8.7, "verdict": "wind matters.", "columns": []}
        | {"groups": [importance | {"low": 2.9, "high": 3.6, "noise_low": None, "noise_high": None, "matters": True}]},
    }


# --------------------------------------------------------------------------- numbers


@pytest.mark.parametrize(
    "case",
    [
        {"windows": 5, "heads": 3, "items": ("a", "b")},
        {"windows": 1, "horizon": 1, "lookback": 1, "season": 1},
        {"windows": 2, "horizon": 5, "lookback": 9, "season": 1, "frequency": "1", "start": "100"},
    ],
    ids=["heads", "one-by-one", "whole-numbers"],
)
def test_the_weights_on_the_page_are_those_of_the_file_to_three_digits(make_dump, case):
    dump = make_dump(**case)
    document = document_of(build_report(dump, num_windows=1000).html)
    shown = choose_windows(dump, 1000).dump
    shape = (dump.num_windows, len(dump.heads), dump.metadata.horizon, dump.metadata.lookback)
    np.testing.assert_allclose(weights_of(document["weights"], *shape), shown.weights, rtol=1.7e-4)
    assert [document["items"][window["item"]] for window in document["windows"]] == list(shown.window_item_ids)


def test_no_weight_appears_or_goes(make_dump):
    weights = np.array([1, 0, 1e-30, 2.4e-10, 1 + 2e-7], np.float32).reshape(1, 1, 1, 5)
    document = document_of(build_report(make_dump(weights)).html)
    assert weights_of(document["weights"], 5).tolist() == [1, 0, 2**-31.9990234375, pytest.approx(2.4e-10, 2e-4), 1]


def test_means_and_entropy_are_taken_over_all_windows_though_few_are_shown(make_dump):
    dump = make_dump(windows=7, heads=2, horizon=5, lookback=30)
    document = document_of(build_report(dump, num_windows=2).html)
    assert document["windowsInFile"] == 7
    assert len(document["windows"]) == 2
    mean = weights_of(document["mean"]["weights"], 2, 5, 30)
    np.testing.assert_allclose(mean, dump.weights.mean(axis=0, dtype=np.float64), rtol=1.7e-4)
    np.testing.assert_allclose(mean.mean(axis=0), inspect_attention(dump).mean_weights, rtol=1.7e-4)
    nats = scipy.stats.entropy(dump.weights.astype(np.float64), axis=-1)
    np.testing.assert_allclose(floats_of(document["mean"]["entropy"], 2, 5), nats.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(floats_of(document["mean"]["effective"], 2, 5), np.exp(nats).mean(axis=0), rtol=1e-5)


def test_times_are_those_of_each_window(make_dump):
    dump = make_dump(windows=3, horizon=4, lookback=10, items=("a", "b"))
    document = document_of(build_report(dump).html)
    for window, shown in enumerate(choose_windows(dump, 100).dump.window_cutoffs):
        first = document["windows"][window]["times"]
        assert document["times"][first + 9] == str(shown).replace("T", " ")[:16]
        assert document["times"][first + 13] == str(shown + np.timedelta64(4, "h")).replace("T", " ")[:16]


def test_times_of_series_on_different_clocks_are_not_mixed_up(make_dump):
    dump = make_dump(windows=1, horizon=2, lookback=3, items=("a", "b"))
    half_an_hour = np.array([0, 30]).astype("timedelta64[m]")
    moved = {name: getattr(dump, name) + half_an_hour for name in ("window_cutoffs", "lookback_starts")}
    dump = replace(dump, **moved, timestamps=dump.timestamps + half_an_hour[:, None])
    document = document_of(build_report(dump).html)
    texts = [[document["times"][index] for index in window["times"]] for window in document["windows"]]
    assert [row[2][-5:] for row in texts] == ["14:00", "14:30"]
    assert [row[4][-5:] for row in texts] == ["16:00", "16:30"]


def test_times_are_on_the_clock_of_the_zone(make_dump):
    dump = make_dump(windows=1, horizon=2, lookback=3, start="2024-03-31T00", zone="Europe/Berlin")
    document = document_of(build_report(dump).html)
    assert document["times"][1:4] == ["2024-03-31 00:00+01:00", "2024-03-31 01:00+01:00", "2024-03-31 03:00+02:00"]


def test_windows_are_spread_over_series_and_cutoffs(make_dump):
    dump = make_dump(windows=20, horizon=2, lookback=5, items=("a", "b", "c"))
    shown = choose_windows(dump, 6).dump
    assert Counter(shown.window_item_ids) == {"a": 2, "b": 2, "c": 2}
    assert {shown.window_cutoffs.min(), shown.window_cutoffs.max()} == {dump.cutoffs[0], dump.cutoffs[-1]}
    assert choose_windows(dump, 1000).dump.num_windows == 60


def test_every_hour_and_weekday_has_a_window_where_they_fit(make_dump):
    """Cut-offs every hour: an even sample of 61 of 601 would be six hours of the day."""
    dump = make_dump(windows=601, horizon=2, lookback=5)
    shown = choose_windows(dump, 61).dump
    assert shown.num_windows == 61
    hours = shown.window_cutoffs.astype("datetime64[h]").astype(int) % 24
    assert set(hours) == set(range(24))
    assert len(set(shown.window_cutoffs.astype("datetime64[D]").astype(int) % 7)) == 7
    assert {shown.window_cutoffs.min(), shown.window_cutoffs.max()} == {dump.cutoffs[0], dump.cutoffs[-1]}
    assert all(
        window >= 0
        for tiles in document_of(build_report(dump, num_windows=61).html)["tiles"]
        for window in tiles["windows"]
    )


@pytest.mark.slow
def test_a_page_stays_small_unless_more_windows_are_asked_for(make_dump):
    dump = make_dump(windows=60, horizon=24, lookback=336)
    few = build_report(dump)
    assert few.num_bytes < 1.2 * PAGE_BYTES
    assert few.num_windows == default_windows(dump) < 60
    assert build_report(dump, num_windows=60).num_windows == 60
    assert f"{few.num_windows} of 60 windows" in few.size_words()


@pytest.mark.slow
def test_even_one_window_too_large_is_shown(make_dump):
    dump = make_dump(windows=1, horizon=400, lookback=1000, season=24)
    assert build_report(dump).num_windows == 1


# --------------------------------------------------------------------------- the file itself


def test_the_page_is_well_formed(make_dump):
    html = build_report(make_dump(windows=2, heads=2)).html
    outline = Outline(html)
    assert html.startswith("<!doctype html>")
    assert not outline.open
    assert [name for name, _ in outline.elements].count("h1") == 1
    assert dict(outline.elements)["html"] == {"lang": "en"}
    assert outline.texts["title"]
    assert "width=device-width, initial-scale=1" in outline.attributes("content")
    ids = outline.attributes("id")
    assert len(ids) == len(set(ids))
    named = [*outline.attributes("for"), *outline.attributes("aria-labelledby")]
    named += [name for names in outline.attributes("aria-describedby") for name in names.split()]
    assert set(named) <= set(ids)
    controls = [attributes for tag, attributes in outline.elements if tag in ("select", "input")]
    assert {control["id"] for control in controls} <= set(outline.attributes("for"))


def test_the_page_names_no_other_address(make_dump):
    html = build_report(make_dump(windows=1)).html
    assert set(re.findall(r"\w+://[^\"'\s]+", html)) == {
        "http://www.w3.org/2000/svg"
    }  # the name of SVG, not an address
    outline = Outline(html)
    assert [*outline.attributes("src"), *outline.attributes("href")] == ["data:,"]
    assert "default-src 'none'" in html


def test_names_of_series_are_text(make_dump):
    html = build_report(make_dump(windows=2, items=(NASTY, "b"))).html
    assert document_of(html)["items"] == [NASTY, "b"]
    assert Counter(tag for tag, _ in Outline(html).elements)["img"] == 0
    alone = build_report(make_dump(windows=2, items=(NASTY,))).html
    assert Outline(alone).texts["h1"] == f"Where the forecast of {NASTY} looks"
    assert Counter(tag for tag, _ in Outline(alone).elements)["img"] == 0


def test_nothing_that_is_put_in_is_read_as_a_place_for_more(make_dump):
    assert Outline(build_report(make_dump(windows=1, items=("{{audit}}",))).html).texts["h1"].count("{{audit}}") == 1


def test_the_warnings_of_the_inspection_stand_on_the_page(make_dump):
    one_hot = np.zeros((2, 1, 3, 8))
    one_hot[..., 3] = 1
    dump = make_dump(one_hot)
    (warning, *_) = inspect_attention(dump).warnings
    assert warning in build_report(dump).html.replace("\xa0", " ")


def test_the_same_file_gives_the_same_bytes(make_dump):
    dump = make_dump(windows=2)
    assert build_report(dump).html == build_report(read_attention(dump.path)).html


# --------------------------------------------------------------------------- the audit


def test_an_audit_is_shown_with_its_verdicts_and_numbers(make_dump):
    dump = make_dump(windows=1)
    html = make_page(dump, PageWindows.all_of(dump), WindowValues.unknown(dump), audit=audit())
    outline = Outline(html)
    assert not outline.open
    assert Counter(tag for tag, _ in outline.elements)["img"] == 0
    assert "Do not believe it" in outline.texts["p"]
    assert '<span class="verdict fail">Not faithful</span>' in html
    for title, word in (("instead", "passed"), ("taken away", "failed"), ("the values", "worth knowing")):
        assert re.search(rf"{title} <span[^>]*>{word}<", html)
    assert "12.5 demand" in outline.texts["td"]
    assert "0.25 demand to 0.9 demand (random weights, 100 draws)" in outline.texts["td"]
    assert "37\u00a0%" in outline.texts["td"]


def test_the_curves_of_an_audit_are_drawn_to_scale(make_dump):
    dump = make_dump(windows=1)
    html = make_page(dump, PageWindows.all_of(dump), WindowValues.unknown(dump), audit=audit())
    points = {}
    for name in ("top", "random", "bottom"):
        path = re.search(rf'class="curve {name}" d="M([^"]+)"', html)[1]
        points[name] = np.array([pair.split() for pair in path.split("L")], float)
    bottom = (points["top"][1, 1] * 1 - points["bottom"][1, 1] * 9) / (1 - 9)  # where 0 is, from 9.0 and 1.0
    heights = {name: bottom - pairs[:, 1] for name, pairs in points.items()}
    scale = heights["top"][1] / 9.0
    np.testing.assert_allclose(heights["random"], scale * np.array([1.0, 4.0]), atol=0.11)
    np.testing.assert_allclose(heights["bottom"], scale * np.array([0.5, 1.0]), atol=0.11)


def test_the_weights_of_an_audit_stand_beside_what_the_forecast_misses(make_dump):
    dump = make_dump(windows=1)
    html = make_page(dump, PageWindows.all_of(dump), WindowValues.unknown(dump), audit=audit())
    area = re.search(r'class="area" d="M([^"]+)Z"', html)[1]
    heights = np.array([pair.split() for pair in area.split("L")], float)[:, 1]
    heights = (heights[0] - heights)[1:-1]  # without its two feet
    np.testing.assert_allclose(heights / heights.max(), np.array([0.1, 0.3, 0.6]) / 0.6, atol=2e-3)
    assert "state_occlusion" not in html
    without = make_page(dump, PageWindows.all_of(dump), WindowValues.unknown(dump), audit=audit() | {"profiles": {}})
    assert 'class="area"' not in without


def test_no_audit_no_section(make_dump):
    assert "Can it be believed" not in build_report(make_dump(windows=1)).html


# --------------------------------------------------------------------------- with its run


@pytest.fixture
def page_of(forecast):
    """`page_of(run, *flags)`: the document of the page that the command writes, and what the command said."""

    def read(*words):
        outcome = forecast("inspect", *words, "--html", "page.html")
        assert outcome.code == 0, outcome.err
        return document_of(Path("page.html").read_text(encoding="utf-8")), outcome

    return read


def test_the_size_is_told_before_and_the_page_named_after(page_of, run_copy):
    _, outcome = page_of(run_copy, "--validation", "--html-windows", "3")
    size = Path("page.html").stat().st_size
    assert f"page: {size / 1e3:.0f} kB with 3 of 22 windows" in outcome.err
    assert outcome.out.splitlines()[-1] == "page: page.html"


@pytest.mark.slow
def test_validation_windows_stand_on_their_table(page_of, run_copy, make_table):
    document, _ = page_of(run_copy, "--validation")
    table = make_table().set_index("date")["target"]
    windows = len(document["windows"])
    past, actual = floats_of(document["past"], windows, 14), floats_of(document["actual"], windows, 3)
    forecasts, forecaster = floats_of(document["forecast"], windows, 3), Forecaster.load(run_copy)
    for window, first in enumerate(entry["times"] for entry in document["windows"]):
        days = document["times"][first : first + 17]
        np.testing.assert_allclose(past[window], table[days[:14]], rtol=1e-6)
        np.testing.assert_allclose(actual[window], table[days[14:]], rtol=1e-6)
        if window in (0, windows - 1):  # what `predict` says who knows nothing after the cut-off
            known = make_table()[lambda frame, last=days[13]: frame["date"] <= last]
            expected = forecaster.predict(known).predictions["prediction"]
            np.testing.assert_allclose(forecasts[window], expected, rtol=1e-5)


def test_the_forecast_is_the_one_that_was_written(page_of, run_copy, forecast, make_table):
    assert forecast("predict", run_copy).code == 0
    document, _ = page_of(run_copy)
    written = pd.read_csv(run_copy / "predictions.csv")
    np.testing.assert_allclose(floats_of(document["forecast"], 3), written["prediction"], rtol=1e-6)
    np.testing.assert_allclose(floats_of(document["past"], 14), make_table()["target"][-14:], rtol=1e-6)
    assert np.isnan(floats_of(document["actual"], 3)).all()
    assert document["target"] == "target"


@pytest.mark.slow
def test_intervals_are_those_written_and_covariates_those_of_the_table(page_of, forecast, write, make_table, small):
    table = make_table().assign(price=lambda frame: np.arange(len(frame)) % 7, promotion=0.0)
    words = ("--quantiles", "0.1,0.5,0.9", "--out", "run", "--quiet", "--past", "price,promotion")
    assert forecast("train", write(table), *small, *words).code == 0
    assert forecast("predict", "run", "--quiet").code == 0
    document, _ = page_of("run")
    written = pd.read_csv(Path("run") / "predictions.csv")
    (interval,) = document["intervals"]
    assert interval["name"] == "80 %"
    for edge, column in (("lower", "0.1"), ("upper", "0.9")):
        np.testing.assert_allclose(lines_of(interval[edge])[0], written[column], atol=np.ptp(written[column]) / 65_000)
    price, promotion = document["covariates"][-2:]
    assert (price["name"], promotion["name"]) == ("price", "promotion"), "what hardly changes comes last"
    (line,) = lines_of(price["lines"])
    np.testing.assert_allclose(line[:14], table["price"][-14:], atol=6 / 65_000)
    assert np.isnan(line[14:]).all(), "nobody knows a past covariate ahead"
    document, _ = page_of("run", "--validation")
    edges = [lines_of(document["intervals"][0][edge]) for edge in ("lower", "upper")]
    assert (edges[0] < edges[1]).all()
    tiles, warmth = (next(each for each in document["tiles"] if column in each["by"]) for column in ("price", "temp"))
    assert (tiles["by"], tiles["names"]) == ("price at the cut-off", list("0123456")), "named by its values"
    assert not any("promotion" in each["by"] for each in document["tiles"]), "which never changes"
    assert (warmth["by"], len(warmth["names"])) == ("temperature at the cut-off", 4), "bins of many numbers"
    dump = read_attention(RunDir(Path("run")).validation_attention)
    days = (dump.window_cutoffs - np.datetime64(table["date"][0])) // np.timedelta64(1, "D")
    expected = [dump.weights[days % 7 == price].mean(axis=(0, 1, 2)) for price in range(7)]
    np.testing.assert_allclose(weights_of(tiles["profiles"], 7, 14), expected, rtol=2e-4)
    warm = table["temperature"].to_numpy()[days]
    for name, profile in zip(warmth["names"], weights_of(warmth["profiles"], 4, 14), strict=True):
        low, high = map(float, name.split(" to "))
        inside = (warm > low - 0.01) & (warm < high + 0.01)
        assert 0.2 < inside.mean() < 0.3
        np.testing.assert_allclose(profile, dump.weights[inside].mean(axis=(0, 1, 2)), rtol=2e-3)
    cutoffs = [document["times"][document["windows"][index]["times"] + 13] for index in tiles["windows"]]
    assert [table.index[table["date"] == cutoff][0] % 7 for cutoff in cutoffs] == list(range(7))


@pytest.mark.slow
def test_static_columns_are_tiles(page_of, forecast, write, make_table, small):
    shops = [
        make_table().assign(shop=f"shop {at}", region="north" if at < 2 else "south", area=100.0 * at)
        for at in range(4)
    ]
    words = ("--id", "shop", "--static", "region,area", "--out", "run", "--quiet")
    assert forecast("train", write(pd.concat(shops)), *small, *words).code == 0
    document, _ = page_of("run", "--validation")
    tiles = {each["by"]: each for each in document["tiles"]}
    assert tiles["region of the series"]["names"] == ["north", "south"]
    assert tiles["area of the series"]["names"] == ["0", "100", "200", "300"]
    dump = read_attention(RunDir(Path("run")).validation_attention)
    north = np.isin(dump.window_item_ids, ["shop 0", "shop 1"])
    expected = [dump.weights[each].mean(axis=(0, 1, 2)) for each in (north, ~north)]
    np.testing.assert_allclose(weights_of(tiles["region of the series"]["profiles"], 2, 14), expected, rtol=2e-4)


def test_a_table_that_moved_is_missed_and_can_be_named(
    page_of, run_copy, finished_run, write, make_table, without_manifest
):
    without_manifest(run_copy)
    config = RunDir(run_copy).read_json(RunDir(run_copy).config)
    config["data"]["file"] = "gone.csv"
    (run_copy / "config.json").write_text(json.dumps(config))
    document, _ = page_of(run_copy, "--validation")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "gone.csv" in page
    assert "--data FILE" in page
    known = np.isfinite(floats_of(document["past"], len(document["windows"]), 14)).all(axis=1)
    assert not known.all()
    document, _ = page_of(run_copy, "--validation", "--data", write(make_table(), "moved.csv"))
    assert np.isfinite(floats_of(document["past"], len(document["windows"]), 14)).all()
    assert "gone.csv" not in re.sub(r"<details>.*?</details>", "", Path("page.html").read_text(encoding="utf-8"))


def test_of_a_combination_the_page_says_that_the_forecasts_are_the_networks(run_copy, without_manifest):
    without_manifest(run_copy)
    path = run_copy / "metrics.json"
    metrics = json.loads(path.read_text())
    share = {"network": 0.4, "linear": 0.6}
    metrics["combination"] = {"weights": share, "validation": metrics["validation"], "alone": {}}
    path.write_text(json.dumps(metrics))
    run = RunDir(run_copy)
    dump = read_attention(run.validation_attention)
    values = values_of_windows(run, dump)
    assert values.forecast_name == "forecast of the network"
    assert values.notes[-1] == (
        "the forecasts drawn are those of the network alone, which is 40 % of what `predict` forecasts"
    )
    assert document_of(build_report(dump, run).html)["forecastName"] == "forecast of the network"
    lines = lines_of_run(run, dump)
    assert [text.get_text() for text in draw_heatmap(inspect_attention(dump), lines).legends[0].get_texts()] == [
        *("actual", "forecast of the network"),
    ]
    frame = animation_of(run).frame(0)
    assert "forecast of the network" in [text.get_text() for text in frame.axes[0].texts]
    scene = forecast_scene(PlotSource(None, run), PlotRequest())
    assert model_label(scene.views[0].models[0].name) == "forecast of the network"
    assert "`predict` combines baselines with it" in scene.notes[-1]


def test_metrics_configuration_and_audit_of_the_run_are_on_the_page(page_of, run_copy):
    RunDir(run_copy).audit.write_text(json.dumps(audit()))
    page_of(run_copy, "--validation")
    outline = Outline(Path("page.html").read_text(encoding="utf-8"))
    metrics = RunDir(run_copy).read_json(RunDir(run_copy).metrics)
    assert f"{metrics['validation']['mae']:.4g}" in outline.texts["td"]
    assert f"{metrics['seasonal_naive']['mae']:.4g}" in outline.texts["td"]
    assert "hidden-size" in outline.texts["th"]
    assert "Can it be believed?" in outline.texts["h2"]


def test_a_file_without_its_run_has_a_page_too(page_of, run_copy):
    document, _ = page_of(run_copy / "validation_attention.parquet")
    assert np.isnan(floats_of(document["past"], -1)).all()
    assert "name the run" in Path("page.html").read_text(encoding="utf-8")


def test_what_does_not_go_together_is_refused(refused, run_copy):
    refused("inspect", run_copy, "--html-windows", 3, message="--html-windows", hint="--html", code=2)
    file = run_copy / "validation_attention.parquet"
    refused("inspect", file, "--html", "p.html", "--data", "data.csv", message="--data needs a run", hint="run", code=2)


def test_a_missing_folder_is_said_and_nothing_is_left(make_dump, tmp_path):
    with pytest.raises(RunError, match="cannot write"):
        build_report(make_dump(windows=1)).write(tmp_path / "no" / "page.html")
    assert not (tmp_path / "no").exists()


def test_a_page_is_replaced_whole(make_dump, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("older")
    build_report(make_dump(windows=1)).write(path)
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    assert not list(tmp_path.glob(".*.partial"))


def test_from_python(finished_run):
    dump = Forecaster.load(finished_run).validation_attention
    assert build_report(dump, RunDir(finished_run)).num_windows == 22


@pytest.mark.slow
def test_missing_hours_of_a_zoned_table_are_gaps_with_zero_weight(page_of, forecast, write, small):
    stamps = pd.date_range("2024-03-25", "2024-04-01 23:00", freq="h", tz="Europe/Berlin")
    table = pd.DataFrame({"time": stamps.strftime("%Y-%m-%d %H:%M:%S%z"), "load": np.arange(len(stamps)) % 24 / 7})
    table.loc[180:184, "load"] = np.nan
    words = ("--tz", "Europe/Berlin", "--missing", "mask", "--out", "run", "--quiet")
    assert forecast("train", write(table), *small, *words).code == 0
    assert forecast("predict", "run", "--quiet").code == 0
    document, _ = page_of("run")
    assert document["times"][13] == "2024-04-01 23:00+02:00"
    past, weights = floats_of(document["past"], 14), weights_of(document["weights"], 3, 14)
    np.testing.assert_allclose(past, table["load"][-14:], rtol=1e-6)
    assert np.isnan(past).any()
    assert (weights[:, np.isnan(past)] == 0).all()
    assert (weights[:, ~np.isnan(past)] > 0).all()
    assert np.isfinite(floats_of(document["forecast"], 3)).all()


def test_lines_keep_their_ends_and_their_gaps():
    lines = np.array([[1.5, np.nan, -2.25, 0.1], [np.nan] * 4, [7.0] * 4, [1e6, 1e6 + 1, np.nan, 1e6 + 0.5]])
    decoded = lines_of(encode_lines(lines))
    np.testing.assert_allclose(decoded, lines, atol=3.75 / 65_534)
    assert (decoded[[0, 0, 3, 3], [0, 2, 0, 1]] == lines[[0, 0, 3, 3], [0, 2, 0, 1]]).all()


def shops(make_dump, count):
    """An hour by hour file of so many series: their whole windows are larger than a page."""
    return make_dump(windows=2, items=tuple(f"shop {number:03d}" for number in range(count)), lookback=168, horizon=24)


def test_series_without_a_whole_window_have_a_light_one(make_dump):
    dump = shops(make_dump, 200)
    report, (shown, whole) = build_report(dump), choose_windows(dump, default_windows(dump))[:2]
    assert report.num_windows == whole.sum() == default_windows(dump)
    assert set(shown.item_ids) == set(dump.item_ids)
    light = np.flatnonzero(~whole)
    assert (shown.window_cutoffs[light] == dump.cutoffs[-1]).all(), "the newest of their series"
    document = document_of(report.html)
    assert [window.get("light", False) for window in document["windows"]] == (~whole).tolist()
    expected = shown.take(np.flatnonzero(whole)).weights
    np.testing.assert_allclose(weights_of(document["weights"], *expected.shape), expected, rtol=2e-4)
    tiles = document["tiles"][0]
    assert (tiles["kind"], tiles["names"]) == ("item", dump.item_ids)
    assert [document["items"][document["windows"][index]["item"]] for index in tiles["windows"]] == tiles["names"]
    message = f"{len(light)} of 200 series are drawn at their newest cut-off with their mean weights: see more with"
    assert message in report.size_words()
    assert message in report.html
    assert report.num_bytes < 1_500_000


@pytest.mark.slow
def test_every_series_can_be_chosen_however_many_there_are(make_dump):
    dump = shops(make_dump, 300)
    report, windows = build_report(dump), choose_windows(dump, default_windows(dump))
    light, bare = int((windows.valued & ~windows.whole).sum()), int((~windows.valued).sum())
    assert windows.dump.item_ids == dump.item_ids
    assert 0 < bare < 100
    words = (
        f"{light} of 300 series are drawn at their newest cut-off with their mean weights, {bare} have mean weights "
        "alone, without values"
    )
    assert f"{words}: see more with --html-windows 300" in report.size_words()
    assert words in report.html
    document = document_of(report.html)
    assert len(floats_of(document["past"], -1, 168)) == windows.valued.sum()
    tiles = document["tiles"][0]
    assert [document["items"][document["windows"][index]["item"]] for index in tiles["windows"]] == dump.item_ids
    assert [window.get("bare", False) for window in document["windows"]] == (~windows.valued).tolist()
    assert report.num_bytes < 1_500_000


def test_where_every_series_has_a_whole_window_none_is_light(make_dump):
    names = tuple(f"shop {number}" for number in range(30))
    dump = make_dump(windows=1, items=names, lookback=24, horizon=3)
    report = build_report(dump, num_windows=30)
    assert '"light"' not in report.html
    assert report.size_words().endswith("30 of 30 windows")
