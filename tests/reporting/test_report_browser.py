"""The report in real Chromium: what its words call shaded is shaded."""

import pytest

from forecast_attn.inspection.html_report import page_of_parts
from forecast_attn.inspection.page_figures import figure

pytestmark = pytest.mark.integration


def test_intervals_and_ranges_are_shaded_and_lines_are_not(browser, tmp_path):
    paths = [f'<path class="{name}" d="M0 0H9V9Z"/>' for name in ("interval", "band", "forecast")]
    page = tmp_path / "report.html"
    page.write_text(page_of_parts("a", "b", figure("label", "caption", paths, 640, 100)), encoding="utf-8")
    browser.open(page)
    fills = browser.ask("Array.from(document.querySelectorAll('.wide path'), (each) => getComputedStyle(each).fill)")
    assert [fill == "none" for fill in fills] == [False, False, True]
