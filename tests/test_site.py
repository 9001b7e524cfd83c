"""The documentation site builds strictly, loads nothing from elsewhere, and its search works without a server."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

ROOT = Path(__file__).resolve().parent.parent
LOADED = re.compile(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"([^\"]+)\"|<link\b[^>]*\bhref=\"([^\"]+)\"")


def build(target: Path, root: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(target)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    done = build(target)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


def test_every_page_of_the_folder_is_in_the_site(site: Path) -> None:
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    pages |= {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.ipynb")}
    assert {page for page in pages if not (site / page).is_file()} == set()
    assert (site / "project" / "ARCHITECTURE.html").is_file()
    assert (site / "project" / "tests" / "corpus" / "comma.csv").is_file()


def test_no_page_loads_anything_from_another_host(site: Path) -> None:
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    foreign = {
        target
        for text in pages.values()
        for pair in LOADED.findall(text)
        for target in pair
        if "//" in target and not target.startswith("data:")
    }
    assert foreign == set()
    styles = "".join(path.read_text(encoding="utf-8") for path in site.rglob("*.css"))
    assert not re.search(r"url\([\"']?(https?:)?//|@import", styles)


def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    unneeded = shutil.ignore_patterns("__pycache__")
    for name in ("docs", "benchmarks", "data", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=unneeded)
    for path in (*ROOT.glob("*.md"), ROOT / "mkdocs.yml"):
        shutil.copy(path, tmp_path)
    page = tmp_path / "docs" / "plots.md"
    page.write_text(page.read_text(encoding="utf-8") + "\n[gone](no-such-page.md)\n", encoding="utf-8")
    done = build(tmp_path / "site", tmp_path)
    assert done.returncode != 0
    assert "no-such-page.md" in done.stdout + done.stderr


def test_the_search_finds_a_page_without_a_server(site: Path, browser) -> None:
    browser.open(site / "index.html")
    browser.ask("document.querySelector('#__search').click()")
    box = "document.querySelector('.md-search__input')"
    browser.ask(f"{box}.focus(); {box}.value = 'vintages'; {box}.dispatchEvent(new Event('keyup', {{bubbles: true}}))")
    links = "Array.from(document.querySelectorAll('.md-search-result__link'), (link) => link.href)"
    browser.wait(f"{links}.some((link) => link.includes('data-format.html'))")
    assert browser.requests() and all(url.startswith(("file:", "data:", "about:")) for url in browser.requests())


def test_a_page_of_the_site_opens_without_errors(site: Path, browser) -> None:
    browser.open(site / "notebooks" / "first-forecast.html")
    assert browser.complaints() == []
    assert browser.ask("Array.from(document.images).every((image) => image.naturalWidth > 0)")
