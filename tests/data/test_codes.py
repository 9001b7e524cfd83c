"""Every finding has a code, every code is explained, and every explanation is true."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forecast_attn.data.findings import GROUPS, Code, all_codes

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "forecast_attn"
CODES = all_codes()


def used_codes() -> set[str]:
    """Codes that stand in the package's Python files."""
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    return set(re.findall(r'"(FA\d{3})"', text))


def test_every_code_used_is_registered_and_every_registered_one_used() -> None:
    assert len(CODES) > 20
    assert used_codes() == set(CODES)


def test_every_severity_is_the_registered_one() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    severities = set(re.findall(r'"(FA\d{3})",\s*"(error|warning|note)"', text))
    assert len(severities) > 15
    assert [pair for pair in sorted(severities) if CODES[pair[0]].severity != pair[1]] == []


@pytest.mark.parametrize("code", CODES.values(), ids=list(CODES))
def test_every_text_is_a_sentence(code: Code) -> None:
    assert code.severity in ("error", "warning", "note")
    assert code.code[:3] in GROUPS
    assert code.title[0].islower()
    assert not code.title.endswith(".")
    for text in (code.means, code.matters, code.fix):
        assert re.fullmatch(r"[-A-Z].*[.]", text, flags=re.DOTALL), text
        assert len(text) <= 300
    examples = [example for example in (code.bad, code.good) if example is not None]
    options = " ".join(option for example in examples for option in example.options)
    for flag in re.findall(r"--([a-z-]+)", f"{code.fix} {options}"):
        if flag not in ("fix", "out", "future"):
            assert f"--{flag}" in (ROOT / "docs" / "cli.md").read_text(encoding="utf-8"), flag


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in CODES.items() if code.bad is not None])
def test_every_example_shows_what_it_says(forecast: Callable, write: Callable, code: Code) -> None:
    assert code.bad is not None
    assert code.good is not None
    for name, text in code.bad.files.items():
        write(text, name)
    bad = forecast("check", write(code.bad.table.encode(code.bad.encoding), "bad.csv"), *code.bad.options, "--json")
    findings = {(finding["code"], finding["severity"]) for finding in json.loads(bad.out)["findings"]}
    assert (code.code, code.severity) in findings
    assert {name for name, severity in findings if severity == "error"} <= {code.code}
    assert bad.code == (1 if code.severity == "error" else 0)
    for name, text in code.good.files.items():
        write(text, name)
    good = forecast(
        "check", write(code.good.table.encode(code.good.encoding), "good.csv"), *code.good.options, "--json"
    )
    found_again = {finding["code"] for finding in json.loads(good.out)["findings"]}
    assert good.code == 0, good.out
    assert code.code not in found_again


@pytest.mark.parametrize("name", ["FA204", "fa204", "204", " FA204 "])
def test_explain_one(forecast: Callable, name: str) -> None:
    code = CODES["FA204"]
    outcome = forecast("explain", name)
    assert outcome.code == 0
    assert outcome.out.startswith("FA204 (error): rows are missing in a series\n")
    words = " ".join(outcome.out.split())
    assert all(text in words for text in (code.means, code.matters, code.fix))
    assert "forecast check good.csv --lookback 2 --horizon 1 --missing interpolate" in outcome.out
    assert f"    {code.bad.table.splitlines()[3]}" in outcome.out.splitlines()


def test_only_findings_of_a_forecast_have_no_example() -> None:
    without = [name for name, code in CODES.items() if code.bad is None or code.good is None]
    assert without == ["FA409", "FA410", "FA509", "FA510", "FA511", "FA512", "FA513", "FA521"]


def test_explain_a_note_of_a_forecast(forecast: Callable) -> None:
    outcome = forecast("explain", "FA509")
    assert outcome.code == 0
    assert outcome.out.startswith("FA509 (note): which of the issued forecasts are used\n")
    assert "forecast check" not in outcome.out


def test_explain_all(forecast: Callable) -> None:
    lines = forecast("explain").out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith("  FA")] == sorted(CODES)
    assert [line for line in lines if not line.startswith(" ")] == [
        f"{name}:" for group, name in GROUPS.items() if any(code.startswith(group) for code in CODES)
    ]


def test_explain_as_json(forecast: Callable) -> None:
    one = json.loads(forecast("explain", "FA103", "--json").out)
    assert (one["code"], one["bad"]["table"]) == ("FA103", CODES["FA103"].bad.table)
    assert [entry["code"] for entry in json.loads(forecast("explain", "--json").out)] == sorted(CODES)


@pytest.mark.parametrize(("name", "hint"), [("FA24", "did you mean 'FA2"), ("xyz", "known: FA101")])
def test_explain_what_is_no_code(forecast: Callable, name: str, hint: str) -> None:
    outcome = forecast("explain", name)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.error == f"there is no finding '{name}'"
    assert outcome.hint.startswith(hint)


def test_explain_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom forecast_attn.cli import main\ntry: main(['explain', 'FA101'])\nfinally: print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert set(done.stdout.splitlines()[-1].split()).isdisjoint({"pandas", "numpy", "torch", "pyarrow"})


def test_the_page_about_data_lists_every_code() -> None:
    page = (ROOT / "docs" / "data-format.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| (FA\d{3}) \| (\w+) \| (.+) \|$", page, flags=re.MULTILINE)
    assert listed == [(code.code, code.severity, code.title) for code in CODES.values()]
