"""The page in real Chromium, driven over its DevTools pipe: what is drawn, and what a hand on mouse or keys does."""

import base64
import json
import re
import shutil
import subprocess
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from forecast_attn.attention_file import AttentionMetadata, AttentionWriter, read_attention
from forecast_attn.inspection.html_report import build_report, make_page, page_of_parts
from forecast_attn.inspection.page_data import PageWindows, choose_windows
from forecast_attn.inspection.page_sections import table
from forecast_attn.inspection.window_values import WindowValues

pytestmark = pytest.mark.integration

NASTY = "</script><img src=x onerror=alert(1)>"
STEPS, LOOKBACK, SEASON = 6, 40, 12


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    """Two series with different cut-offs, two heads, and two masked steps in the first window."""
    rng = np.random.default_rng(5)
    weights = rng.dirichlet(np.full(LOOKBACK, 0.2), size=(5, 2, STEPS)).astype(np.float32)
    weights[0, :, :, 7:9] = 0
    cutoffs = np.datetime64("2026-01-05T14", "ns") + np.arange(5) * np.timedelta64(1, "D")
    hours = np.arange(1 - LOOKBACK, STEPS + 1).astype("timedelta64[h]")
    names = {"mechanism": "multi-head", "order": "luong", "score": "multi-head", "normaliser": "softmax"}
    sizes = {"heads": 2, "lookback": LOOKBACK, "horizon": STEPS, "frequency": "h", "season": SEASON}
    path = tmp_path_factory.mktemp("dump") / "attention.parquet"
    with AttentionWriter(path, AttentionMetadata(**names, **sizes, window="global")) as file:
        file.write(
            item_ids=["north", "north", "north", NASTY, NASTY],
            cutoffs=cutoffs,
            timestamps=cutoffs[:, None] + hours[-STEPS:],
            lookback_starts=cutoffs + hours[0],
            weights=weights,
        )
    return read_attention(path)


@pytest.fixture(scope="module")
def values(dump):
    past = 100 + 10 * np.sin(np.arange(5)[:, None] + np.arange(LOOKBACK) * 2 * np.pi / SEASON)
    past[0, 7:9] = np.nan
    ahead = np.full((5, STEPS), 104.25)
    quantiles = {0.1: ahead - 4, 0.9: ahead + np.arange(1, STEPS + 1)}
    price = np.arange(5 * (LOOKBACK + STEPS), dtype=float).reshape(5, -1)
    return WindowValues(past, ahead, ahead + 1, [], "demand", quantiles, {"price": price})


@pytest.fixture(scope="module")
def page(dump, values, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(make_page(dump, PageWindows.all_of(dump), values), encoding="utf-8")
    return path


def drawn_weights(browser, chart):
    """The heights of a chart's bars, oldest position first, up to a factor."""
    bars = f"Array.from(document.querySelectorAll('#{chart} .weight'))"
    lags = browser.ask(f"{bars}.map((bar) => Number(bar.dataset.lag))")
    assert lags == list(range(LOOKBACK))[::-1]
    return np.array(browser.ask(f"{bars}.map((bar) => Number(bar.getAttribute('height')))"))


def points_of(browser, selector):
    """(points, 2) of a path, in the pixels of its chart."""
    drawn = browser.ask(f"document.querySelector('{selector}').getAttribute('d')")
    return np.array([list(map(float, pair)) for pair in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", drawn)])


def choose(browser, identity, value):
    """Change a select or a slider as a hand does."""
    kind = "input" if identity == "step" else "change"
    browser.ask(
        f"(() => {{ const control = document.getElementById('{identity}'); control.value = {json.dumps(value)}; "
        f"control.dispatchEvent(new Event('{kind}', {{bubbles: true}})); }})()"
    )


def readout(browser):
    return browser.ask("document.getElementById('readout').innerText").replace("\u00a0", " ")


def assert_draws(browser, row, chart="series"):
    heights = drawn_weights(browser, chart)
    np.testing.assert_allclose(heights / heights.max(), row / row.max(), rtol=4e-4, atol=1e-6)


def luminance(rgb):
    channels = np.asarray(rgb) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


# --------------------------------------------------------------------------- quiet, and right


def test_what_is_not_all_is_never_100_per_cent(browser, make_dump, tmp_path):
    dump = make_dump(np.broadcast_to([0.00001, 0.00239, 0.9976], (2, 1, 3, 3)))
    path = tmp_path / "page.html"
    past, ahead = np.ones((2, 3)), np.ones((2, 3))
    page = make_page(dump, PageWindows.all_of(dump), WindowValues(past, ahead, ahead, [], "load"))
    path.write_text(page, encoding="utf-8")
    browser.open(path)
    browser.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    words = browser.ask("document.body.innerText").replace("\u00a0", " ")
    assert "0 (>99 %), 1 (0.24 %), 2 (<0.01 %)" in words
    assert "\t99.8 %" in words
    assert "looks most at 2026-01-05 14:00 (lag 0, >99 %)" in words


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_page_opens_without_a_complaint_and_without_the_network(browser, page, width, dark):
    browser.open(page, width=width, dark=dark)
    assert browser.complaints() == []
    assert [url for url in browser.requests() if not url.startswith("data:")] == [page.as_uri()]
    assert browser.ask("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("width", "height"), [(390, 844), (390, 664), (360, 640), (1280, 720), (1440, 900)])
def test_timeline_weights_and_slider_fit_one_screen_below_a_long_sentence(browser, page, tmp_path, width, height):
    sentence = "It looks mostly at the same hours of the days before (64 % of the weight); " * 3
    text, count = re.subn('(<p class="reading">).*?</p>', rf"\g<1>{sentence}</p>", page.read_text(encoding="utf-8"))
    assert count == 1
    long = tmp_path / "long.html"
    two_lines = text.replace("Step ahead:", "Step ahead on the calendar of this table:")
    long.write_text(two_lines, encoding="utf-8")
    browser.open(long, width=width, height=height)
    box = "document.querySelector('{}').getBoundingClientRect().toJSON()"
    values, heatmap, bar = (browser.ask(box.format(part)) for part in ("#series", "#heatmap", ".bar"))
    assert values["bottom"] <= heatmap["top"] < heatmap["bottom"] <= bar["top"] < bar["bottom"] <= height


def test_the_policy_of_the_page_forbids_the_network(browser, page):
    browser.open(page)
    script = "fetch('data:text/plain,x').then(() => 'allowed', () => 'refused')"
    assert browser.ask(script) == "refused"


def test_names_are_shown_and_never_run(browser, page):
    browser.open(page)
    assert browser.ask("Array.from(document.getElementById('item').options, (each) => each.text)") == ["north", NASTY]
    assert browser.ask("document.images.length") == 0
    assert browser.complaints() == []


def test_every_choice_draws_its_weights(browser, page, dump):
    browser.open(page)
    assert_draws(browser, dump.weights[0].mean(axis=0)[0])
    for window, head, step in ((1, 0, 2), (2, 1, 5), (0, 1, 0)):
        for identity, value in (("cutoff", window), ("head", head), ("step", step)):
            choose(browser, identity, value)
        assert_draws(browser, dump.weights[window, head, step])
        assert_profile(browser, dump.weights[:, head].astype(np.float64).mean(axis=(0, 1)))
        choose(browser, "weights", "mean")
        assert_draws(browser, dump.weights[:, head, step].astype(np.float64).mean(axis=0))
        assert "mean weights of all 5 windows" in readout(browser)
        choose(browser, "weights", "window")


def assert_profile(browser, mean):
    """The line over the bars is the mean over all windows and steps, on the scale of the bars."""
    heights = points_of(browser, "#series .profile")[:, 1]
    assert len(heights) == LOOKBACK
    np.testing.assert_allclose(
        (heights.max() - heights) / np.ptp(heights), (mean - mean.min()) / np.ptp(mean), atol=4e-4
    )


def test_the_lines_the_intervals_and_the_covariate_lie_where_their_values_are(browser, page, values):
    """On one calendar axis; the heights of all lines of the series are on one scale."""
    browser.open(page)
    choose(browser, "cutoff", 1)
    past, forecast = points_of(browser, "#series .past"), points_of(browser, "#series .forecast")
    actual, interval = points_of(browser, "#series .actual"), points_of(browser, "#series .interval")
    price = points_of(browser, "#series .covariate")
    assert (len(past), len(forecast), len(interval), len(price)) == (LOOKBACK, STEPS, 2 * STEPS, LOOKBACK + STEPS)
    hours = np.diff(np.concatenate([past[:, 0], forecast[:, 0]]))
    np.testing.assert_allclose(hours, hours[0], atol=0.02)
    np.testing.assert_allclose(price[:, 0], np.concatenate([past[:, 0], forecast[:, 0]]), atol=0.02)
    np.testing.assert_allclose(interval[:, 0], [*forecast[:, 0], *forecast[::-1, 0]], atol=0.02)
    upper, lower = values.quantiles[0.9][1], values.quantiles[0.1][1]
    known = np.concatenate([values.past[1], values.forecast[1], values.actual[1], upper, lower[::-1]])
    drawn = np.concatenate([past, forecast, actual[1:], interval])[:, 1]
    slope, level = np.polyfit(known, drawn, 1)
    assert slope < 0
    np.testing.assert_allclose(drawn, level + slope * known, atol=0.02)
    assert np.ptp(np.diff(price[:, 1])) < 0.05  # a straight line
    choose(browser, "covariate", "")
    assert browser.ask("document.querySelector('#series .covariate')") is None


def test_arcs_lead_from_the_step_to_what_it_looks_at(browser, page, dump):
    browser.open(page, address="#window=2&head=1&step=3")
    row, past = dump.weights[1, 1, 2], points_of(browser, "#series .past")
    arcs = browser.ask(
        "Array.from(document.querySelectorAll('.arc'), (each) => [each.dataset.lag, each.getAttribute('d')])"
    )
    largest = np.argsort(-row, kind="stable")[:5]
    assert [int(lag) for lag, _ in arcs] == (LOOKBACK - 1 - largest).tolist()
    start = points_of(browser, "#series .forecast")[2]
    for key, (_, line) in zip(largest, arcs, strict=True):
        numbers = [float(each) for each in re.findall(r"-?[\d.]+", line)]
        assert numbers[:2] == pytest.approx(start, abs=0.02)
        assert numbers[-2:] == pytest.approx(past[key], abs=0.02)


@pytest.mark.parametrize(("weights", "wide"), [(np.full(10, 0.1), False), ([0.55, *[0.05] * 9], True)])
def test_nearly_equal_weights_are_pale_and_their_arcs_thin(browser, tmp_path, weights, wide):
    rows = np.asarray(weights, np.float32) + np.linspace(-1e-3, 1e-3, 10, dtype=np.float32)
    cutoff, day = np.datetime64("2026-01-05", "ns"), np.timedelta64(1, "D")
    about = {"mechanism": "m", "order": "luong", "score": "general", "normaliser": "softmax", "window": "global"}
    sizes = {"heads": 1, "lookback": 10, "horizon": 1, "frequency": "D", "season": 7}
    with AttentionWriter(tmp_path / "days.parquet", AttentionMetadata(**about, **sizes)) as file:
        file.write(
            item_ids=["north"],
            cutoffs=np.array([cutoff]),
            timestamps=(cutoff + day)[None, None],
            lookback_starts=np.array([cutoff - 9 * day]),
            weights=rows[None, None, None],
        )
    dump, path = read_attention(tmp_path / "days.parquet"), tmp_path / "page.html"
    path.write_text(
        make_page(
            dump, PageWindows.all_of(dump), WindowValues(np.arange(10.0)[None], np.ones((1, 1)), np.ones((1, 1)), [])
        )
    )
    browser.open(path)
    pixels = "document.querySelector('#heatmap canvas').getContext('2d').getImageData(0, 0, 10, 1).data"
    brightest = luminance(np.reshape(browser.ask(f"Array.from({pixels})"), (10, 4))[:, :3])
    assert (brightest.min() < 0.05) == wide  # the darkest colour
    ends_at = browser.ask("document.getElementById('scale').innerText").replace("\u00a0", " ")
    assert f"{'55' if wide else '40'} % (square-root scale; equal weights: 10 %)" in ends_at
    widths = "Array.from(document.querySelectorAll('.arc'), (each) => parseFloat(getComputedStyle(each).strokeWidth))"
    arcs = browser.ask(widths)
    assert (max(arcs) > 3) == wide
    assert (max(arcs) < 1.5) != wide


def test_the_axis_is_a_calendar_and_follows_the_zoom(browser, page):
    browser.open(page)
    texts = "Array.from(document.querySelectorAll('#series text'), (each) => each.textContent)"
    shown = browser.ask(texts)
    assert {"Sun 4 Jan 2026", "Mon 5 Jan", "00:00", "12:00"} <= set(shown)
    assert "13:00" not in shown
    for _ in range(2):
        browser.ask("document.getElementById('closer').click()")
    assert "13:00" in browser.ask(texts)
    assert "Sun 4 Jan 2026" not in browser.ask(texts)
    assert browser.ask("document.querySelector('#heatmap canvas').width") < LOOKBACK
    assert not browser.ask("document.getElementById('whole').disabled")
    browser.ask("document.getElementById('whole').click()")
    assert browser.ask(texts) == shown


def test_dragging_looks_at_what_lies_between(browser, page):
    browser.open(page)
    browser.drag("#series", (0.5, 0.3), (0.8, 0.3))
    assert browser.ask("document.querySelector('#heatmap canvas').width") in range(12, 18)
    assert browser.complaints() == []


def test_the_cutoffs_are_played(browser, page):
    browser.open(page)
    browser.ask("document.getElementById('play').click()")
    assert browser.ask("document.getElementById('play').getAttribute('aria-pressed')") == "true"
    browser.wait("document.getElementById('cutoff').value === '2'")
    browser.wait("document.getElementById('play').getAttribute('aria-pressed') === 'false'")


@pytest.mark.parametrize(("motion", "milliseconds"), [("no-preference", 900), ("reduce", 2500)])
def test_who_wants_less_motion_sees_the_cutoffs_played_slowly(browser, page, motion, milliseconds):
    browser.open(page)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": motion}])
    browser.ask("window.setInterval = (_, every) => { window.every = every; return 1; }; null")
    browser.ask("document.getElementById('play').click()")
    assert browser.ask("window.every") == milliseconds
    moving = "document.getAnimations().length || getComputedStyle(document.documentElement).scrollBehavior"
    assert browser.ask(moving) == "auto"


@pytest.fixture
def phone(browser, page):
    """The page on a screen that is touched."""
    browser.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    browser.open(page, width=390, height=844)
    yield browser
    browser.call("Emulation.setTouchEmulationEnabled", enabled=False)


def test_the_hint_for_a_finger_names_no_keys(phone):
    text = phone.ask("document.getElementById('keys').innerText")
    assert text == "Point at a step or a time; two fingers zoom and move the axis."


def test_a_tap_leaves_its_words_on_the_screen(phone):
    phone.touch("#series", [(0.5, 0.3)])
    assert phone.ask("document.getElementById('lag-readout').textContent").startswith("lag ")
    assert not phone.ask("document.getElementById('tooltip').hidden")
    phone.touch("#series", [(0.83, 0.3)])
    assert phone.ask("document.getElementById('tooltip').hidden")


def test_two_fingers_zoom_in_and_move_the_axis(phone):
    """The cells on the map, and the first label of the axis, follow the fingers."""
    cells = "document.querySelector('#heatmap canvas').width"
    phone.touch("#series", [(0.3, 0.3), (0.5, 0.3)], [(0.2, 0.3), (0.6, 0.3)])
    assert phone.ask(cells) in range(21, 25)  # half of the axis: the 46 steps of lookback and horizon
    lags = "Array.from(document.querySelectorAll('#heatmap text'), (each) => each.textContent).join()"
    before = phone.ask(lags)
    phone.touch("#series", [(0.6, 0.3), (0.7, 0.3)], [(0.3, 0.3), (0.4, 0.3)])
    assert phone.ask(lags) != before
    assert phone.complaints() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("weights", ["window", "mean"])
def test_more_weight_is_further_from_the_page_in_the_heat_map(browser, page, dump, weights, dark):
    browser.open(page, dark=dark)
    choose(browser, "weights", weights)
    canvas = "document.querySelector('#heatmap canvas')"
    pixels = browser.ask(
        f"Array.from({canvas}.getContext('2d').getImageData(0, 0, {LOOKBACK}, {STEPS}).data)",
    )
    brightness = luminance(np.reshape(pixels, (STEPS, LOOKBACK, 4))[..., :3])
    rows = (dump.weights[0] if weights == "window" else dump.weights.mean(axis=0)).mean(axis=0)
    level = np.sqrt(rows / rows.max())
    order = np.argsort(level, axis=None)
    contrast = (brightness if dark else -brightness).ravel()[order]
    far_apart = level.ravel()[order][None, :] - level.ravel()[order][:, None] > 0.04
    assert far_apart.any()
    assert (contrast[None, :] > contrast[:, None])[far_apart].all()


def test_the_tables_say_what_the_charts_show(browser, page, dump):
    browser.open(page)
    choose(browser, "head", 1)
    choose(browser, "step", 3)
    browser.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    browser.wait("document.querySelectorAll('#step-details tr, #lag-details tr').length > 2")
    texts = "(row) => Array.from(row.cells, (cell) => cell.textContent)"
    rows = "Array.from(document.querySelectorAll('#{} tbody tr'), " + texts + ")"
    steps, lags = (browser.ask(rows.format(name)) for name in ("step-details", "lag-details"))
    effective = np.exp(scipy.stats.entropy(dump.weights[0, 1].astype(np.float64), axis=-1))
    np.testing.assert_allclose([float(row[4]) for row in steps], effective, rtol=5e-3)
    assert steps[3][:4] == ["4", "2026-01-05 18:00", "104.3", "105.3"]
    weights = dump.weights[0, 1, 3]
    assert [int(row[0]) for row in lags[:5]] == (LOOKBACK - 1 - np.argsort(-weights, kind="stable")[:5]).tolist()
    assert len(lags) == LOOKBACK
    shown = np.array([float(row[3].removesuffix("\u00a0%")) for row in lags[:20]])
    of_file = 100 * weights[[LOOKBACK - 1 - int(row[0]) for row in lags[:20]]].astype(float)
    unit = 10.0 ** (np.floor(np.log10(shown)) - 2)  # of the third digit
    assert (abs(shown - of_file) <= 0.7 * unit).all()


# --------------------------------------------------------------------------- hands


def test_another_series_brings_its_own_cutoffs(browser, page, dump):
    browser.open(page)
    choose(browser, "item", 1)
    options = browser.ask("Array.from(document.getElementById('cutoff').options, (each) => each.text)")
    assert options == ["2026-01-08 14:00", "2026-01-09 14:00"]
    assert_draws(browser, dump.weights[3].mean(axis=0)[0])
    browser.ask("document.getElementById('later').click()")
    assert_draws(browser, dump.weights[4].mean(axis=0)[0])
    assert browser.ask("document.getElementById('later').disabled")


@pytest.mark.parametrize("width", [1280, 390])
def test_pointing_at_the_heat_map_chooses_the_step_and_tells_the_lag(browser, page, dump, width):
    browser.open(page, width=width)
    canvas = "document.querySelector('#heatmap canvas')"
    assert browser.ask(f"{canvas}.width") == LOOKBACK
    step, key = 4, 33
    browser.point("#heatmap canvas", (key + 0.5) / LOOKBACK, (step + 0.5) / STEPS)
    row = dump.weights[0].mean(axis=0)[step]
    assert_draws(browser, row)
    text = readout(browser)
    assert text.startswith("Step 5, 2026-01-05 19:00 · forecast 104.3 · actual 105.3")
    assert f"lag {LOOKBACK - 1 - key} · 2026-01-05 08:00 · 6h before the cut-off · weight" in text
    shown = float(re.search(r"weight <?([\d.]+) %", text)[1])
    assert shown == pytest.approx(100 * row[key], rel=0.06, abs=0.01)


def test_pointing_at_the_forecast_chooses_the_step(browser, page, dump):
    browser.open(page)
    browser.point("#series", 0.93, 0.3)
    assert browser.ask("document.getElementById('step').value") == str(STEPS - 1)
    assert_draws(browser, dump.weights[0].mean(axis=0)[-1])
    assert not browser.ask("document.getElementById('lag-readout').textContent")
    browser.point("#series", 0.5, 0.3)
    assert browser.ask("document.getElementById('lag-readout').textContent").startswith("lag ")
    browser.point("h1", 0.5, 0.5)
    assert not browser.ask("document.getElementById('lag-readout').textContent")


def test_the_keyboard_reaches_everything_and_moves_step_and_window(browser, page, dump):
    browser.open(page)
    reached = []
    for _ in range(12):
        browser.press("Tab")
        outlined = browser.ask("getComputedStyle(document.activeElement).outlineStyle")
        reached.append(browser.ask("document.activeElement.id || document.activeElement.tagName"))
        assert outlined != "none", reached
        if reached[-1] == "heatmap":
            break
    assert {"item", "cutoff", "weights", "head", "covariate", "series", "heatmap"} <= set(reached)
    now = "document.getElementById('heatmap').getAttribute('aria-valuetext')"
    for key, text in (("ArrowDown", "step 2"), ("End", "step 6"), ("ArrowUp", "step 5"), ("Home", "step 1")):
        browser.press(key)
        assert browser.ask(now).startswith(text)
    browser.press("ArrowRight")
    assert browser.ask("document.getElementById('cutoff').selectedOptions[0].text") == "2026-01-06 14:00"
    assert_draws(browser, dump.weights[1].mean(axis=0)[0])
    browser.press("ArrowLeft")
    assert_draws(browser, dump.weights[0].mean(axis=0)[0])
    assert browser.ask("document.activeElement.id") == "heatmap"
    browser.press(",")
    assert f"{LOOKBACK - 1} of" not in readout(browser) and "lag 0 · 2026-01-05 14:00" in readout(browser)
    browser.press("+")
    assert browser.ask("document.querySelector('#heatmap canvas').width") < LOOKBACK


def test_the_address_remembers_the_choice(browser, page, dump):
    browser.open(page, address="#window=3&head=1&step=4")
    assert_draws(browser, dump.weights[2, 1, 3])
    assert browser.ask("document.getElementById('head').value") == "1"
    choose(browser, "cutoff", 0)
    choose(browser, "step", 5)
    browser.wait("location.hash === '#window=1&step=6&head=1'")
    browser.open(page, address="#window=99&head=x&step=-1")
    assert browser.complaints() == []
    assert_draws(browser, dump.weights[0].mean(axis=0)[0])


def test_a_page_of_one_step_and_one_head(browser, dump, tmp_path):
    path = tmp_path / "page.html"
    build_report(dump.select(item="north", step=3, head=1)).write(path)
    browser.open(path)
    assert browser.complaints() == []
    assert_draws(browser, dump.weights[0, 1, 2])
    assert readout(browser).startswith("Step 3, 2026-01-05 17:00")
    assert not browser.ask("document.getElementById('head-choice').checkVisibility()")


# --------------------------------------------------------------------------- side by side


TILES = "Array.from(document.querySelectorAll('.tile:not([hidden])'))"


def show_tiles(browser):
    browser.ask("document.getElementById('side-by-side').scrollIntoView()")
    browser.wait(f"{TILES}.length > 0")


@pytest.mark.parametrize("by", ["item", "head", "weekday"])
def test_a_tile_draws_the_mean_weights_of_its_group(browser, page, dump, by):
    browser.open(page)
    show_tiles(browser)
    kinds = browser.ask("JSON.parse(document.getElementById('data').textContent).tiles.map((each) => each.kind)")
    assert kinds == ["item", "head", "weekday"], "one hour of the cut-off is no group"
    choose(browser, "tiles-by", str(kinds.index(by)))
    names = browser.ask(f"{TILES}.map((tile) => tile.querySelector('span').textContent)")
    days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]
    groups = {
        "item": {"north": dump.weights[:3], NASTY: dump.weights[3:]},
        "head": {f"head {head}": dump.weights[:, head : head + 1] for head in range(2)},
        "weekday": {day: dump.weights[at : at + 1] for at, day in enumerate(days)},
    }[by]
    assert names == list(groups)
    text = browser.ask("document.getElementById('tiles-count').textContent")
    assert text == ("no window has its cut-off on Saturday to Sunday" if by == "weekday" else "")
    lines = browser.ask(f"{TILES}.map((tile) => tile.querySelector('path').getAttribute('d'))")
    most = max(rows.mean(axis=(0, 1, 2), dtype=float).max() for rows in groups.values())
    for line, rows in zip(lines, groups.values(), strict=True):
        heights = 1 - np.array([float(y) for y in re.findall(r"L[\d.]+ ([\d.]+)", line)]) / 30
        np.testing.assert_allclose(heights, rows.mean(axis=(0, 1, 2), dtype=float) / most, atol=6e-4)


def test_tiles_are_searched_and_clicked(browser, page, dump):
    browser.open(page)
    show_tiles(browser)
    choose(browser, "search", "x")
    browser.ask("document.getElementById('search').dispatchEvent(new Event('input'))")
    assert browser.ask(f"{TILES}.length") == 1
    assert browser.ask("document.getElementById('tiles-count').textContent") == "1 of 2"
    browser.ask(f"{TILES}[0].click()")
    assert browser.ask("document.getElementById('item').value") == "1"
    assert_draws(browser, dump.weights[3].mean(axis=0)[0])
    assert browser.ask(f"{TILES}[0].getAttribute('aria-pressed')") == "true"
    assert browser.complaints() == []


@pytest.fixture
def light_page(dump, values, tmp_path):
    """The second series has no weights of its own."""
    path, whole = tmp_path / "light.html", np.array([True, True, True, False, False])
    path.write_text(make_page(dump, PageWindows.all_of(dump)._replace(whole=whole), values), encoding="utf-8")
    return path


def test_a_tile_without_a_whole_window_shows_the_series_with_its_mean_weights(browser, light_page, dump, values):
    browser.open(light_page)
    assert_draws(browser, dump.weights[0].mean(axis=0)[0])
    show_tiles(browser)
    browser.ask(f"{TILES}[1].click()")
    assert browser.ask("document.getElementById('item').value") == "1"
    mean = dump.weights[3:].mean(axis=(0, 1, 2), dtype=float)
    assert_draws(browser, mean)
    browser.ask("document.getElementById('series').dispatchEvent(new KeyboardEvent('keydown', { key: 'End' }))")
    assert_draws(browser, mean)
    heights = points_of(browser, "#series .past")[:, 1]
    slope, level = np.polyfit(values.past[3], heights, 1)
    np.testing.assert_allclose(heights, level + slope * values.past[3], atol=0.02)
    assert "mean weights of this series, over its steps and windows" in readout(browser)
    assert "effective" not in readout(browser)
    assert "not on this page" in browser.ask("document.getElementById('series').textContent")
    assert browser.ask("document.getElementById('weights').selectedOptions[0].textContent") == "mean of this series"
    choose(browser, "weights", "mean")
    assert_draws(browser, dump.weights.mean(axis=(0, 1), dtype=float)[-1])
    assert browser.complaints() == []


def test_a_series_without_values_on_the_page_is_chosen_with_its_mean_weights(browser, dump, values, tmp_path):
    path, whole = tmp_path / "bare.html", np.array([True, True, True, False, False])
    shown, of_whole = dump.take(np.array([0, 1, 2, 4])), replace(values, quantiles={}, covariates={})
    rows = {name: getattr(values, name)[:3] for name in ("past", "forecast", "actual")}
    page = make_page(dump, PageWindows(shown, whole[:4], whole[:4]), replace(of_whole, **rows))
    path.write_text(page, encoding="utf-8")
    browser.open(path)
    choose(browser, "item", 1)
    assert_draws(browser, dump.weights[3:].mean(axis=(0, 1, 2), dtype=float))
    assert "the values of this series are not on this page" in browser.ask(
        "document.getElementById('series').textContent"
    )
    choose(browser, "item", 0)
    assert_draws(browser, dump.weights[0].mean(axis=0)[0])
    heights = points_of(browser, "#series .past")[:, 1]
    known = ~np.isnan(values.past[0])
    assert len(heights) == known.sum()
    assert browser.complaints() == []


# --------------------------------------------------------------------------- what is missing, and how it looks


def test_masked_steps_are_gaps(browser, page):
    browser.open(page)
    for chart in ("series", "heatmap"):
        assert browser.ask(f"document.querySelectorAll('#{chart} .gap').length") == 2, chart
    assert drawn_weights(browser, "series")[7:9].tolist() == [0, 0]
    line = browser.ask("document.querySelector('#series .past').getAttribute('d')")
    assert line.count("M") == 2
    choose(browser, "cutoff", 1)
    assert browser.ask("document.querySelectorAll('.chart .gap').length") == 0


def test_a_page_without_the_series_still_draws_the_weights(browser, dump, tmp_path):
    path = tmp_path / "page.html"
    build_report(dump).write(path)
    browser.open(path)
    assert browser.complaints() == []
    assert "the series of this window is not known" in browser.ask("document.getElementById('series').textContent")
    shown = choose_windows(dump, 100).dump
    assert_draws(browser, shown.weights[0].mean(axis=0)[0])


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_can_be_read_in_either_theme(browser, page, dark):
    browser.open(page, dark=dark)
    colours = browser.ask(
        "(() => { const style = getComputedStyle(document.documentElement); return Object.fromEntries("
        "['page', 'card', 'ink', 'soft', 'warn', 'warn-back', 'good', 'bad', 'forecast', 'accent'].map("
        "(name) => [name, style.getPropertyValue(`--${name}`).trim()])); })()"
    )
    light = {name: luminance([int(text[at : at + 2], 16) for at in (1, 3, 5)]) for name, text in colours.items()}
    assert (light["card"] < light["ink"]) == dark
    pairs = [
        ("ink", "card"),
        ("soft", "card"),
        ("soft", "page"),
        ("warn", "warn-back"),
        ("good", "card"),
        ("bad", "card"),
    ]
    for above, below in (*pairs, ("forecast", "card"), ("accent", "card")):
        high, low = sorted((light[above], light[below]), reverse=True)
        assert (high + 0.05) / (low + 0.05) >= 4.5, (above, below)  # WCAG 2.2, 1.4.3


def test_the_theme_may_change_while_the_page_is_open(browser, page):
    browser.open(page)
    pixel = "document.querySelector('#heatmap canvas').getContext('2d').getImageData(7, 0, 1, 1).data[0]"
    assert browser.ask(pixel) > 240
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    browser.wait(f"{pixel} < 60")


# --------------------------------------------------------------------------- exact values, and a picture to keep


def test_pointing_at_a_mean_reads_off_its_value(browser, page, dump):
    browser.open(page)
    choose(browser, "weights", "mean")
    step, key = 3, 12
    browser.point("#heatmap canvas", (key + 0.5) / LOOKBACK, (step + 0.5) / STEPS)
    text = browser.ask("document.getElementById('tooltip').innerText").replace("\u00a0", " ")
    weight = float(re.search(r"mean weight ([\d.e-]+) %", text)[1])
    mean = dump.weights.astype(float).mean(axis=(0, 1))[step, key]
    assert weight == pytest.approx(100 * mean, rel=6e-3)  # three digits
    assert float(re.search(r"([\d.]+) × an equal share", text)[1]) == pytest.approx(mean * LOOKBACK, rel=0.06)


def hatched(picture, dark):
    """Whether the colour that says "missing" is on it, as more than the edge of a letter."""
    colour = (0x4A, 0x4A, 0x58) if dark else (0xC9, 0xC9, 0xD2)
    return ((picture[..., :3] * 255).round() == colour).all(axis=-1).sum() > 500


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_charts_are_saved_as_a_picture(browser, page, tmp_path, dark):
    from matplotlib.image import imread

    browser.open(page, dark=dark)
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for weights, name in (("window", "attention-window-1.png"), ("mean", "attention-mean.png")):
        choose(browser, "weights", weights)
        browser.ask("document.getElementById('save').click()")
        for _ in range(200):
            if (tmp_path / name).is_file() and b"IEND" in (tmp_path / name).read_bytes()[-12:]:  # all of it
                break
            time.sleep(0.025)
        picture = imread(tmp_path / name)
        assert picture.shape[1] > 2 * 900  # twice the screen's pixels
        assert (picture[..., 3] == 1).all()
        assert (picture[0, 0, :3].mean() < 0.5) == dark
        colours = np.unique((picture[..., :3] * 255).astype(np.int64) @ (65_536, 256, 1))
        assert hatched(picture, dark)  # the first window has missing steps
        assert len(colours) > 500  # the heat map and the letters, not the background alone
        charts = "['series', 'heatmap'].reduce((all, id) => all + document.getElementById(id).offsetHeight + 16, 0)"
        words = 16 + 18 * (2 + len(readout(browser).splitlines()))
        legend = browser.ask(f"{picture.shape[0] / 2} - {words} - ({charts})")
        assert 20 < legend < 60, "below the charts stands what their lines are"
        below = picture[-int(2 * legend) :, :, :3]
        blue = np.array([0x6D, 0xB3, 0xFF] if dark else [0x15, 0x66, 0xC0])
        assert ((below * 255).round() == blue).all(axis=-1).any(), "the line of the forecast among them"
    assert browser.complaints() == []


def test_the_words_on_a_picture_saved_on_a_phone_are_wrapped(browser, page, tmp_path):
    browser.open(page, width=390)
    browser.ask(
        "(() => { const paint = CanvasRenderingContext2D.prototype.fillText; window.painted = [];"
        "CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {"
        "window.painted.push([text, this.measureText(text).width]); return paint.call(this, text, ...place); }; })()"
    )
    browser.call("Page.setDownloadBehavior", behavior="deny")
    browser.ask("document.getElementById('save').click()")
    browser.wait("window.painted.some(([text]) => text === 'forecast')")
    painted = browser.ask("window.painted")
    assert " ".join(text for text, _ in painted).startswith("multi-head: multi-head score, luong order")
    assert max(width for _, width in painted) <= 390


# --------------------------------------------------------------------------- patches


@pytest.fixture
def patched_page(tmp_path):
    """Patches of 4 steps: 5 of the lookback, 3 of a horizon of 10, of which the first looks at the last but one."""
    rows = np.full((1, 1, 3, 5), 0.05, np.float32)
    for step in range(3):
        rows[..., step, 3 - step] = 0.8
    cutoff, hour = np.datetime64("2026-01-05T23", "ns"), np.timedelta64(1, "h")
    about = {"mechanism": "m", "order": "luong", "score": "general", "normaliser": "softmax", "window": "global"}
    sizes = {"heads": 1, "lookback": 20, "horizon": 10, "frequency": "h", "season": 24, "patch_length": 4}
    with AttentionWriter(tmp_path / "patches.parquet", AttentionMetadata(**about, **sizes)) as file:
        file.write(
            item_ids=["north"],
            cutoffs=np.array([cutoff]),
            timestamps=(cutoff + hour * np.array([1, 5, 9]))[None],
            lookback_starts=np.array([cutoff - 19 * hour]),
            weights=rows,
        )
    dump = read_attention(tmp_path / "patches.parquet")
    past, ahead = np.arange(20.0)[None], np.arange(20.0, 30)[None]
    path = tmp_path / "page.html"
    path.write_text(make_page(dump, PageWindows.all_of(dump), WindowValues(past, ahead, ahead + 1, [], "load")))
    return path


def test_a_patch_is_drawn_and_named_as_a_whole(browser, patched_page):
    browser.open(patched_page, address="#step=2")
    assert browser.complaints() == []
    text = readout(browser)
    assert text.startswith("Steps 5–8, 2026-01-06 04:00 … 07:00 · forecast 24 to 27 · actual 25 to 28")
    assert "looks most at 2026-01-05 12:00 … 15:00 (lags 8–11, 80 %)" in text
    line = browser.ask("document.querySelector('#series .past.looked-at').getAttribute('d')")
    assert len(re.findall("[ML]", line)) == 4  # its four time steps
    assert browser.ask("document.querySelectorAll('#series rect.weight').length") == 5
    assert len(re.findall("[ML]", browser.ask("document.querySelector('#series .past').getAttribute('d')"))) == 20
    box = browser.ask("(({x, width}) => [x, width])(document.querySelector('#series .target-patch').getBBox())")
    ahead = browser.ask("(({x, width}) => [x, width])(document.querySelector('#series .forecast.patch').getBBox())")
    assert box[0] < ahead[0] < ahead[0] + ahead[1] < box[0] + box[1]
    texts = browser.ask("Array.from(document.querySelectorAll('#heatmap text'), (each) => each.textContent)")
    assert {"1–4", "5–8", "9–10", "0–3", "8–11", "effective patches"} <= set(texts)


@pytest.mark.parametrize("width", [1280, 360])
def test_the_words_beside_the_mouse_are_on_the_screen(browser, patched_page, width):
    browser.open(patched_page, width=width)
    for patch in range(5):
        browser.point("#heatmap canvas", (patch + 0.5) / 5, 0.5)
        assert "on its patch of 4" in browser.ask("document.getElementById('tooltip').textContent")
        box = browser.ask("document.getElementById('tooltip').getBoundingClientRect().toJSON()")
        assert 0 <= box["left"] < box["right"] <= width


def test_tables_of_patches(browser, patched_page):
    browser.open(patched_page, address="#step=3")
    assert readout(browser).startswith("Steps 9–10, 2026-01-06 08:00 … 09:00 · forecast 28 to 29")
    for name in ("step-details", "lag-details"):
        browser.ask(f"document.getElementById('{name}').open = true")
        browser.wait(f"document.querySelectorAll('#{name} td').length > 0")
    steps, lags = (
        browser.ask(f"Array.from(document.querySelectorAll('#{name} tbody tr'), (row) => row.innerText)")
        for name in ("step-details", "lag-details")
    )
    assert steps[2].split("\t")[:4] == ["9–10", "2026-01-06 08:00 … 09:00", "28 to 29", "29 to 30"]
    assert lags[0].replace("\u00a0", " ").split("\t") == ["12–15", "2026-01-05 08:00 … 11:00", "4 to 7", "80 %"]


# --------------------------------------------------------------------------- on paper


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_on_paper_the_weights_stay_under_their_lags_and_are_dark_on_white(browser, page, dump, dark):
    """Paper is narrower than the screen, and white; printing begins with the event that the browser sends before."""
    browser.open(page, width=1280, dark=dark)
    browser.ask("dispatchEvent(new Event('beforeprint'))")
    name = "document.getElementById('window-name')"
    assert browser.ask(f"getComputedStyle({name}).display") == "none", "the controls say it on a screen"
    browser.call("Emulation.setEmulatedMedia", media="print", features=[])
    assert browser.ask(f"getComputedStyle({name}).display") == "block"
    assert browser.ask(f"{name}.textContent").startswith(f"{dump.item_ids[0]}, cut-off ")
    # All in one go: paper is laid out at once, and the page does not hear of its width.
    charts = browser.ask("""(() => {
        document.body.style.width = "540px";
        return ["heatmap"].map((name) => {
            const svg = document.querySelector(`#${name} svg`), number = (part, key) => Number(part.getAttribute(key));
            const box = (element) => element.getBoundingClientRect().toJSON();
            const ticks = Array.from(svg.querySelectorAll(".axis"), (tick) => number(tick, "x1"));
            const end = number(svg.querySelector(".ahead"), "x");
            const start = number(svg.querySelector("clipPath rect"), "x");
            const cells = box(document.querySelector(`#${name} canvas`)), drawn = svg.viewBox.baseVal;
            return {svg: box(svg), cells, ticks, start, end, drawn: [drawn.width, drawn.height]};
        });
    })()""")
    for chart in charts:
        svg, cells, scale = chart["svg"], chart["cells"], chart["svg"]["width"] / chart["drawn"][0]
        assert 0.6 < scale < 0.9, "drawn for A4, and a little smaller here"
        assert svg["height"] == pytest.approx(scale * chart["drawn"][1], abs=1)
        assert cells["left"] == pytest.approx(svg["left"] + scale * chart["start"], abs=0.5)
        assert cells["right"] == pytest.approx(svg["left"] + scale * chart["end"], abs=0.5), "at the cut-off"
        assert chart["ticks"], "lag 0 at least"
        newest = svg["left"] + scale * max(chart["ticks"])
        assert newest == pytest.approx(cells["right"] - cells["width"] / LOOKBACK / 2, abs=0.5), "lag 0 under its cell"
        assert (cells["top"] - svg["top"]) == pytest.approx(18 * scale, abs=0.5)
        assert (svg["bottom"] - cells["bottom"]) == pytest.approx(40 * scale, abs=0.5)
    canvas = "document.querySelector('#heatmap canvas')"
    data = browser.ask(f"Array.from({canvas}.getContext('2d').getImageData(0, 0, {LOOKBACK}, {STEPS}).data)")
    brightness = luminance(np.reshape(data, (STEPS, LOOKBACK, 4))[..., :3])
    weights = dump.weights[0].mean(axis=0)
    assert brightness[weights == weights.min()].mean() > 0.9, "no weight is white"
    assert brightness[weights == weights.max()].mean() < 0.1
    ink = browser.ask("getComputedStyle(document.body).color.match(/\\d+/g).map(Number)")
    assert luminance(ink[:3]) < 0.1
    browser.ask("document.getElementById('step-details').open = true")
    browser.wait("document.querySelector('#step-details table') !== null")
    cut = "[...document.querySelectorAll('#step-details table')].map((each) => each.offsetWidth - 720)"
    assert max(browser.ask(cut)) <= 0, "a table is no wider than paper"
    browser.ask("dispatchEvent(new Event('afterprint'))")
    browser.call("Emulation.setEmulatedMedia", media="", features=[])
    assert browser.complaints() == []


def middle_of(picture, colour):
    """Row and column in the middle of what has a colour, give or take the rounding of a printer."""
    rows, columns = np.nonzero((abs(picture[..., :3] * 255 - colour) < 2.5).all(axis=-1))
    assert len(rows) > 50, "the colour is not there"
    return np.median(rows), np.median(columns)


def printed(browser, page, folder, *, dark=False):
    """The first sheet of the PDF as pixels, and the colours of its heat map from no weight to the largest."""
    from matplotlib.image import imread

    if shutil.which("pdftoppm") is None:
        pytest.skip("no pdftoppm on this machine (apt-get install poppler-utils)")
    browser.open(page, width=1440, dark=dark)
    colours = "getComputedStyle(document.documentElement).getPropertyValue(`--heat-${at}`).trim()"
    browser.ask("document.documentElement.toggleAttribute('data-printing', true)")
    palette = [
        [int(text[at : at + 2], 16) for at in (1, 3, 5)]
        for text in browser.ask(f"[0,1,2,3,4,5].map((at) => {colours})")
    ]
    browser.ask("document.documentElement.toggleAttribute('data-printing', false)")
    (folder / "page.pdf").write_bytes(base64.b64decode(browser.call("Page.printToPDF", printBackground=True)["data"]))
    subprocess.run(
        ["pdftoppm", "-r", "144", "-png", "-singlefile", "-l", "1", "page.pdf", "page"], cwd=folder, check=True
    )
    return imread(folder / "page.png"), palette


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_printed_page_has_the_weights_of_the_file_at_their_places(browser, page, dump, tmp_path, dark):
    """The PDF as pixels: the largest weights have their colours, and lie as many cells apart as in the file."""
    picture, palette = printed(browser, page, tmp_path, dark=dark)
    assert picture[2, 2, :3].min() == 1, "white"
    shown = dump.weights[0].astype(float).mean(axis=0)
    levels = 5 * np.sqrt(shown / shown.max())
    alone = (abs(levels[..., None, None] - levels) < 0.1).sum(axis=(2, 3)) == 1  # no other cell has nearly its colour
    pixels = np.argwhere(alone & (levels > 1))
    assert len(pixels) >= 4
    mixed = [[np.interp(levels[*pixel], range(6), channel) for channel in np.transpose(palette)] for pixel in pixels]
    middles = np.array([middle_of(picture, np.round(colour)) for colour in mixed])
    for drawn, known in zip(middles.T, pixels.T, strict=True):
        cell, start = np.polyfit(known, drawn, 1)
        assert cell > 5
        np.testing.assert_allclose(drawn, start + cell * known, atol=0.3 * cell)


def test_the_last_column_of_a_page_for_paper_wraps_instead_of_being_cut(browser, tmp_path):
    path = tmp_path / "page.html"
    body = table("Steps", ["step", "top lags A", "top lags B"], [["1–6", "144–149: 10 %, " * 4, "48–53: 4 %, " * 8]])
    path.write_text(page_of_parts("Two attentions", "luong-dot", body), encoding="utf-8")
    browser.open(path, width=1440)
    assert (
        browser.ask("(({scrollWidth, clientWidth}) => scrollWidth - clientWidth)(document.querySelector('.scroll'))")
        == 0
    )


# --------------------------------------------------------------------------- a run, from training to paper


@pytest.fixture(scope="module")
def trained(tmp_path_factory, forecast):
    """A run on a target that repeats a driver of ten days before, its forecast, and the page of that: one window."""
    folder, rng = tmp_path_factory.mktemp("trained"), np.random.default_rng(3)
    days, driver = np.arange("2024-01-01", "2026-01-01", dtype="datetime64[D]"), rng.normal(size=731)
    target = 50 + 10 * np.concatenate([rng.normal(size=10), driver[:-10]])
    pd.DataFrame({"date": days, "target": target, "driver": driver}).to_csv(folder / "data.csv", index=False)
    sizes = ("--lookback", "20", "--horizon", "5", "--patch-length", "1", "--hidden-size", "16", "--max-epochs", "10")
    choices = ("--quantiles", "0.1,0.5,0.9", "--combination", "none", "--seed", "1")
    for words in (
        ("train", folder / "data.csv", *sizes, *choices, "--out", folder / "run", "--quiet"),
        ("predict", folder / "run", "--quiet"),
        ("inspect", folder / "run", "--html", folder / "page.html"),
    ):
        outcome = forecast(*words)
        assert outcome.code == 0, outcome.err
    return folder


def digits_of(words, before):
    """The number that follows some words on the page, and half a unit of its last digit."""
    (text,) = re.findall(rf"{before} (-?[\d.]+(?:e-\d+)?)", words)
    mantissa, _, power = text.partition("e")
    return float(text), 0.5 * 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))


def test_what_is_drawn_of_a_trained_run_is_what_its_files_hold(browser, trained):
    table, written = pd.read_csv(trained / "data.csv"), pd.read_csv(trained / "run" / "predictions.csv")
    (weights,) = read_attention(trained / "run" / "attention.parquet").weights[:, 0].astype(float)
    browser.open(trained / "page.html", width=1440, height=900)
    assert browser.complaints() == []
    past, known = points_of(browser, "#series .past"), table["target"].to_numpy()[-20:]
    forecast, interval = points_of(browser, "#series .forecast"), points_of(browser, "#series .interval")
    values = np.concatenate([known, written["prediction"], written["0.9"], written["0.1"][::-1]])
    drawn = np.concatenate([past, forecast, interval])[:, 1]
    slope, level = np.polyfit(values, drawn, 1)
    np.testing.assert_allclose(drawn, level + slope * values, atol=0.05)
    for step, row in enumerate(weights):
        choose(browser, "step", step)
        arcs = browser.ask("Array.from(document.querySelectorAll('.arc'), (each) => Number(each.dataset.lag))")
        largest = [19 - key for key in np.argsort(-row, kind="stable")[:5] if row[key] > 0]
        assert arcs == largest
        for lag in largest[:3]:
            hover(browser, 19 - lag, past)
            words = browser.ask("document.getElementById('tooltip').innerText").replace("\u00a0", " ")
            assert table["date"].iloc[-1 - lag] in words
            shown, within = digits_of(words, "target")
            assert shown == pytest.approx(known[-1 - lag], abs=within + 1e-9)
            shown, within = digits_of(words, "weight")
            assert shown == pytest.approx(100 * row[19 - lag], abs=within + 2e-4 * 100 * row[19 - lag])


def hover(browser, key, past):
    """Point at a time of the past."""
    width = browser.ask("document.getElementById('series').clientWidth")
    browser.point("#series", past[key, 0] / width, 0.3)


def test_the_printed_page_of_a_trained_run_has_the_largest_weight_of_each_step_at_its_lag(browser, trained, tmp_path):
    (weights,) = read_attention(trained / "run" / "attention.parquet").weights[:, 0].astype(float)
    assert weights.max(axis=1).min() > 0.9, "found, so that they have the darkest colour"
    picture, palette = printed(browser, trained / "page.html", tmp_path)
    rows, columns = np.nonzero((abs(picture[..., :3] * 255 - palette[-1]) < 8).all(axis=-1))
    last = rows[np.argmax(np.diff(rows) > 40)]  # of the map: further down is the end of its scale
    steps = (rows - rows[0]) * len(weights) // (last - rows[0] + 1)
    middles = [np.median(columns[steps == step]) for step in range(len(weights))]
    cell, start = np.polyfit(weights.argmax(axis=1), middles, 1)
    assert cell > 5
    np.testing.assert_allclose(middles, start + cell * weights.argmax(axis=1), atol=0.3 * cell)
