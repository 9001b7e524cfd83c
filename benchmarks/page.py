"""Size, first paint and step changes of the page of `inspect --html`, in headless Chromium; and pages of real runs.

    python benchmarks/page.py
    python benchmarks/page.py --runs runs --pictures pictures

The second form looks at the list of `forecast ui` and at both pages and the report of every run in a folder: on a
phone, a tablet and a desktop, light and dark, and printed to PDF. It counts what axe-core finds, console errors and
requests to anything but the page, and what is wider than the screen; pictures of all of them are kept.

The first form: 64 windows of 24 x 168 weights to choose from, with intervals and four covariates, of a file of 200
series. Medians over loads and over key presses, of the clock and of the CPU time of the page's thread; the clock is
only worth reading on an idle machine.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import statistics
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bounds import at_most, exit_code  # noqa: E402

from forecast_attn.attention_file import AttentionDump, AttentionMetadata, AttentionWriter, read_attention  # noqa: E402
from forecast_attn.inspection.html_report import make_page  # noqa: E402
from forecast_attn.inspection.page_data import choose_windows  # noqa: E402
from forecast_attn.inspection.window_values import WindowValues  # noqa: E402
from forecast_attn.live.listing import list_runs, pages_of  # noqa: E402
from forecast_attn.live.runs_server import RunsServer  # noqa: E402

chromium: Any = importlib.import_module("tests.chromium")  # which types are not checked in

SERIES, CUTOFFS, WINDOWS, STEPS, LOOKBACK = 200, 4, 64, 24, 168
LOADS, KEYS = 11, 45
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
PRESS = """new Promise((done) => {
  const chart = document.getElementById('series'), begun = performance.now();
  chart.dispatchEvent(new KeyboardEvent('keydown', {key: '%s', bubbles: true, cancelable: true}));
  chart.getBoundingClientRect();
  const drawn = performance.now();
  requestAnimationFrame(() => setTimeout(() => done([drawn - begun, performance.now() - begun])));
})"""
"""Milliseconds until drawing and layout are done, and until the next frame is painted."""
SCREENS = {"phone": (390, 844), "tablet": (820, 1180), "desktop": (1440, 900)}
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
OPEN_ALL = """document.querySelectorAll('details').forEach((each) => { each.open = true; });
document.querySelector('#side-by-side:not([hidden])')?.scrollIntoView();
scrollTo(0, 0)"""


def attention(folder: Path) -> AttentionDump:
    """An attention file of 200 series with four cut-offs each."""
    random, hour = np.random.default_rng(0), np.timedelta64(1, "h")
    cutoffs = np.repeat(np.datetime64("2026-01-05T14", "ns") + np.arange(CUTOFFS) * 24 * hour, SERIES)
    about = AttentionMetadata(
        mechanism="luong-general",
        order="luong",
        score="general",
        normaliser="softmax",
        window="global",
        heads=1,
        lookback=LOOKBACK,
        horizon=STEPS,
        frequency="h",
        season=24,
    )
    with AttentionWriter(folder / "attention.parquet", about) as file:
        file.write(
            item_ids=[f"series {number:03d}" for number in range(SERIES)] * CUTOFFS,
            cutoffs=cutoffs,
            timestamps=cutoffs[:, None] + hour * np.arange(1, STEPS + 1),
            lookback_starts=cutoffs - (LOOKBACK - 1) * hour,
            weights=random.dirichlet(np.full(LOOKBACK, 0.3), size=(len(cutoffs), 1, STEPS)).astype(np.float32),
        )
    return read_attention(folder / "attention.parquet")


def values(windows: int) -> WindowValues:
    random = np.random.default_rng(1)
    past, ahead, noise = (random.normal(size=(windows, size)) for size in (LOOKBACK, STEPS, STEPS))
    quantiles = {quantile: ahead + 2 * quantile - 1 for quantile in (0.05, 0.25, 0.75, 0.95)}
    covariates = {f"covariate {at}": random.normal(size=(windows, LOOKBACK + STEPS)) for at in range(4)}
    return WindowValues(past, ahead, ahead + noise, [], "demand", quantiles, covariates)


def cpu_seconds(browser: Any) -> float:
    """CPU seconds that the page's thread has worked so far."""
    metrics = browser.call("Performance.getMetrics")["metrics"]
    return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


def load(browser: Any, page: Path) -> tuple[float, float, float]:
    """Milliseconds until the first paint, until all is drawn, and of CPU time."""
    browser.open(page, width=1440, height=900)
    browser.wait(f"{PAINT} !== undefined")
    cpu = 1000 * cpu_seconds(browser)
    return browser.ask(PAINT), browser.ask("performance.timing.loadEventEnd - performance.timeOrigin"), cpu


def press(browser: Any, key: str) -> tuple[float, float, float]:
    """Milliseconds until another step is drawn, until the next frame is painted, and of CPU time."""
    before = cpu_seconds(browser)
    drawn, painted = browser.ask(PRESS % key)
    return drawn, painted, 1000 * (cpu_seconds(browser) - before)


def survey(browser: Any, server: RunsServer, folder: Path, pictures: Path) -> None:
    """Look at every page of a folder of runs on every screen, and at its print."""
    kinds = {run.path.name: pages_of(run) for run in list_runs(folder) if run.is_finished}
    pages = {"list": "", **{f"{run}-{kind}": f"runs/{run}/{kind}" for run, each in kinds.items() for kind in each}}
    for name, path in pages.items():
        for screen, dark in ((screen, dark) for screen in SCREENS for dark in (False, True)):
            width, height = SCREENS[screen]
            browser.open(f"{server.url}{path}", width=width, height=height, dark=dark)
            browser.wait(f"{PAINT} !== undefined && document.querySelector('main svg') !== null")
            wide = browser.ask(TOO_WIDE)
            paint = browser.ask(PAINT)
            size = browser.ask("performance.getEntriesByType('navigation')[0].decodedBodySize")
            _keep(browser, pictures / f"{name}-{screen}{'-dark' if dark else ''}.png")
            browser.ask(f"{OPEN_ALL}; new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            barriers = [rule for rule, *_ in browser.barriers()] if chromium.AXE.is_file() else ["axe-core is missing"]
            count = len(browser.complaints()) + len(list(_foreign(browser, server)))
            about = f"{name} {screen} {'dark' if dark else 'light'}: {size / 1e3:.0f} kB, first paint {paint:.0f} ms"
            print(f"{about}, {wide} pixels too wide, {barriers or 'no barrier'}, {count} errors and foreign requests")
            at_most(f"{name} {screen}: too wide, barriers, errors", max(wide, 0) + len(barriers) + count, 0)
        pdf = browser.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
        (pictures / f"{name}.pdf").write_bytes(base64.b64decode(pdf))


def _keep(browser: Any, path: Path) -> None:
    """The screen as a picture, and the whole page."""
    for target, whole in ((path, False), (path.with_name(f"{path.stem}-whole.png"), True)):
        data = browser.call("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        target.write_bytes(base64.b64decode(data))


def _foreign(browser: Any, server: RunsServer) -> Iterator[str]:
    """Requests to another host than the server; data: is no request."""
    for address in browser.requests():
        if urlsplit(address).scheme != "data" and not address.startswith(("about:", server.url.split("?")[0])):
            yield address


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, help="folder of runs whose pages are looked at")
    parser.add_argument("--pictures", type=Path, default=Path("pictures"), help="folder for pictures and PDFs of them")
    arguments = parser.parse_args()
    binary = chromium.installed_browser()
    if binary is None:
        sys.exit("needs Chromium or Chrome")
    if arguments.runs is not None:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name, RunsServer(arguments.runs) as server:
            browser = chromium.Browser(binary, Path(name))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            survey(browser, server, arguments.runs, arguments.pictures)
            browser.close()
            server.shutdown()
        return exit_code()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder, page = Path(name), Path(name) / "page.html"
        dump = attention(folder)
        drawn = choose_windows(dump, WINDOWS)
        page.write_text(make_page(dump, drawn, values(int(drawn.valued.sum()))), encoding="utf-8")
        browser = chromium.Browser(binary, folder / "profile")
        browser.call("Performance.enable", timeDomain="threadTicks")
        loads = [load(browser, page) for _ in range(LOADS)]
        presses = [press(browser, "ArrowDown" if at % STEPS < STEPS - 1 else "Home") for at in range(KEYS)]
        browser.close()
        at_most("page of 64 windows and 200 series", page.stat().st_size / 1e6, 1.35, " MB")
    paint, drawn, cpu = map(statistics.median, zip(*loads, strict=True))
    print(f"first paint {paint:.0f} ms, all drawn {drawn:.0f} ms, CPU time until then {cpu:.0f} ms")
    at_most("first paint and all drawn", max(paint, drawn), 1000, " ms")
    drawn, painted, cpu = map(statistics.median, zip(*presses, strict=True))
    print(f"step change: drawn {drawn:.1f} ms, next frame {painted:.1f} ms, CPU time until then {cpu:.1f} ms")
    at_most("step change, drawn", drawn, 40, " ms")
    at_most("step change, next frame", painted, 40, " ms")
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
