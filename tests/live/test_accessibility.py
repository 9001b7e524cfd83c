"""Every page in real Chromium under axe-core: nothing that a screen reader or weak eyes would stumble over."""

import shutil
import threading

import pytest

from forecast_attn.live.runs_server import RunsServer

from ..chromium import AXE

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def pages(browser, finished_run, forecast, tmp_path_factory):
    """Address of each kind of page, of an audited run with a forecast."""
    if not AXE.is_file():
        pytest.skip("no axe-core: `make` installs it with npm, which this machine lacks or which failed")
    folder = tmp_path_factory.mktemp("pages")
    run, table = shutil.copytree(finished_run, folder / "runs" / "first"), finished_run.parent / "data.csv"
    inspect = ("inspect", run, "--validation")
    for words in (
        ("predict", run, "--quiet"),
        ("audit", run, "--data", table, "--windows", "8", "--draws", "20"),
        (*inspect, "--by", "weekday", "--html", folder / "by.html"),
        (*inspect, "--compare", finished_run, "--html", folder / "compare.html"),
    ):
        outcome = forecast(*words)
        assert outcome.code == 0, outcome.err
    with RunsServer(folder / "runs") as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        addresses = {"list": "", "forecast": "runs/first/forecast", "report": "runs/first/report"}
        made = {name: folder / f"{name}.html" for name in ("by", "compare")}
        yield {name: f"{server.url}{path}" for name, path in addresses.items()} | made
        server.shutdown()
        thread.join()


ON_PAPER = ("report", "compare")
"""Pages that are white on a dark screen too."""


@pytest.mark.parametrize(
    ("page", "dark"),
    [("list", False), ("list", True), ("forecast", False), ("forecast", True), ("by", False)]
    + [(page, False) for page in ON_PAPER],
)
def test_no_page_has_a_barrier(browser, pages, page, dark):
    browser.open(pages[page], dark=dark)
    assert (browser.ask("getComputedStyle(document.body).backgroundColor") == "rgb(246, 246, 248)") is not dark
    if page == "list":
        browser.wait("document.querySelector('#runs svg') !== null")
    browser.ask("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    browser.ask("document.querySelector('#side-by-side:not([hidden])')?.scrollIntoView()")
    assert browser.barriers() == []


def test_the_checker_finds_a_barrier(browser, pages):
    browser.open(pages["compare"])
    browser.ask("document.querySelector('h1').style.color = '#ddd'")
    assert [name for name, *_ in browser.barriers()] == ["color-contrast"]
