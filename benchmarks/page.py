"""Size, first paint and step changes of the page of `inspect --html`, in headless Chromium.

    python benchmarks/page.py

64 windows of 24 x 168 weights to choose from, with intervals and four covariates, of a file of 200 series. Medians over
loads and over key presses, of the clock and of the CPU time of the page's thread; the clock is only worth reading on an
idle machine.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bounds import at_most, exit_code  # noqa: E402

from forecast_attn.attention_file import AttentionDump, AttentionMetadata, AttentionWriter, read_attention  # noqa: E402
from forecast_attn.inspection.html_report import make_page  # noqa: E402
from forecast_attn.inspection.page_data import choose_windows  # noqa: E402
from forecast_attn.inspection.window_values import WindowValues  # noqa: E402

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


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    binary = chromium.installed_browser()
    if binary is None:
        sys.exit("needs Chromium or Chrome")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder, page = Path(name), Path(name) / "page.html"
        dump = attention(folder)
        shown, whole, valued = choose_windows(dump, WINDOWS)
        page.write_text(make_page(dump, shown, values(int(valued.sum())), whole=whole, valued=valued), encoding="utf-8")
        browser = chromium.Browser(binary, folder / "profile")
        browser.call("Performance.enable", timeDomain="threadTicks")
        loads = [load(browser, page) for _ in range(LOADS)]
        presses = [press(browser, "ArrowDown" if at % STEPS < STEPS - 1 else "Home") for at in range(KEYS)]
        browser.close()
        at_most("page of 64 windows and 200 series", page.stat().st_size / 1e6, 1.5, " MB")
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
