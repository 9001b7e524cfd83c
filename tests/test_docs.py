"""What the documents say is so."""

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.options import all_options
from forecast_attn.config.values import flag_name

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "data").glob("*.md")])


def test_every_option_is_on_the_command_page() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    missing = [name for name, (_, option) in all_options().items() if f"--{flag_name(option)}" not in page]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
        if not target.startswith(("http://", "https://", "mailto:")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_in_the_pages_exists(page: Path) -> None:
    """Each `forecast …` line of a code block is parsed by the command line itself, with its flags."""
    known = {f"--{flag_name(option)}" for _, option in all_options().values()}
    known |= {f"--no-{flag_name(option)}" for _, option in all_options().values()}
    help_page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for line in re.findall(r"^(?:\$ )?(forecast [a-z].*)$", "\n".join(blocks), flags=re.MULTILINE):
        words = line.split()
        assert f"## forecast {words[1]}\n" in help_page, line
        for flag in [word for word in words if word.startswith("--")]:
            assert flag in known or re.search(rf"{flag}\b", help_page), line


def test_the_readme_names_every_mechanism() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert not [name for name in ATTENTIONS if f"`{name}`" not in readme]


def test_the_readme_gives_the_command_that_ci_runs() -> None:
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def examples_of_tables() -> list[tuple[str, str, str, str]]:
    """Table, what it is, options and outcome of every row of the examples in docs/data-format.md."""
    page = (ROOT / "docs" / "data-format.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| [\w ]+ \| \[(.+?)\]\(\.\./tests/corpus/\1\) \| (.+?) \| (.*?) ?\| (.+?) \|$", page, re.MULTILINE
    )
    return [(table, about, options.strip("` "), says) for table, about, options, says in rows]


@pytest.mark.parametrize(("table", "about", "options", "says"), examples_of_tables())
def test_the_examples_of_tables_are_what_the_page_says(
    forecast: Callable, monkeypatch: pytest.MonkeyPatch, table: str, about: str, options: str, says: str
) -> None:
    monkeypatch.chdir(ROOT / "tests" / "corpus")
    sizes = [] if "--horizon" in options else ["--horizon", "1"]
    sizes += [] if "--lookback" in options else ["--lookback", "3"]
    findings = json.loads(forecast("check", table, *shlex.split(options), *sizes, "--json").out)["findings"]
    assert (findings[0]["code"] if findings else "nothing") == says


def test_the_page_has_examples_for_every_section() -> None:
    page = (ROOT / "docs" / "data-format.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^## (.+)$", page, flags=re.MULTILINE))
    assert headings >= {
        "Reading",
        "Time axis",
        "Missing values",
        "Covariates",
        "Vintages",
        "Panels and scaling",
        "Checking",
    }
    sections = set(re.findall(r"^\| ([\w ]+) \| \[.*tests/corpus/", page, flags=re.MULTILINE))
    assert sections >= headings & {
        "Reading",
        "Time axis",
        "Missing values",
        "Covariates",
        "Vintages",
        "Panels and scaling",
    }
    assert len(examples_of_tables()) >= 60


def test_the_readme_stays_short() -> None:
    assert (ROOT / "README.md").stat().st_size <= 6_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_tests_that_a_page_names_exist(page: Path) -> None:
    for path in re.findall(r"`(tests/[\w/]+\.py)`", page.read_text(encoding="utf-8")):
        assert (ROOT / path).is_file(), path
