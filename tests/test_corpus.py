"""Tables that people have, good and broken: what check and train say of each stands in tests/corpus/expected.toml."""

import json
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forecast_attn.config.options import RunConfig
from forecast_attn.data.findings import all_codes

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).resolve().parent / "corpus"
CASES: list[dict[str, Any]] = tomllib.loads((CORPUS / "expected.toml").read_text(encoding="utf-8"))["case"]
SIZES = ("--lookback", "3", "--horizon", "1")
LOCATION = ("code", "row", "column", "item_id")

each_table = pytest.mark.parametrize("case", CASES, ids=[f"{case['file']}{case.get('options', '')}" for case in CASES])
each_refused = pytest.mark.parametrize(
    "case", [case for case in CASES if case["exit"]], ids=[case["file"] for case in CASES if case["exit"]]
)
each_accepted = pytest.mark.parametrize(
    "case", [case for case in CASES if not case["exit"]], ids=[case["file"] for case in CASES if not case["exit"]]
)


def words_of(case: dict[str, Any]) -> list[str]:
    """The table and its options, as a user in the folder of the corpus types them."""
    given = shlex.split(case.get("options", ""))
    sizes = [
        word for flag, size in zip(SIZES[::2], SIZES[1::2], strict=True) if flag not in given for word in (flag, size)
    ]
    return [case["file"], *given, *sizes]


@pytest.fixture(autouse=True)
def in_corpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the corpus is where the commands are run."""
    monkeypatch.chdir(CORPUS)


@pytest.fixture(scope="module")
def check(forecast: Callable) -> Callable[..., Any]:
    """`check(case)`: the outcome of `forecast check`, found once for all tests."""
    outcomes: dict[tuple[str, ...], Any] = {}

    def of(case: dict[str, Any]) -> Any:
        words = tuple(words_of(case))
        return outcomes.get(words) or outcomes.setdefault(words, forecast("check", *words, "--json"))

    return of


@each_table
def test_check_says_what_is_expected(check: Callable, case: dict[str, Any]) -> None:
    outcome = check(case)
    assert outcome.code == case["exit"], outcome
    if case["exit"] == 2:
        assert outcome.error
        assert outcome.hint
        return
    report = json.loads(outcome.out)
    assert bool([f for f in report["findings"] if f["severity"] == "error"]) == (case["exit"] == 1)
    first = report["findings"][0] if report["findings"] else {}
    assert {name: first.get(name) for name in ("code",)} == {"code": case.get("code")}, report["findings"]
    assert {name: first.get(name) for name in LOCATION if name in case} == {
        n: case[n] for n in LOCATION if n in case
    }, first
    for finding in report["findings"]:
        assert finding["code"] in all_codes()
        assert finding["severity"] == all_codes()[finding["code"]].severity
        assert finding["file"]
        assert finding["message"]
        assert finding["fix"]
    actual = _read_as(report)
    assert {name: actual[name] for name in actual if name in case} == {
        name: case[name] for name in actual if name in case
    }


def _read_as(report: dict[str, Any]) -> dict[str, Any]:
    """The figures of a report that the corpus knows."""
    series = report["series"]
    highest = [one["highest"] for one in series if one["highest"] is not None]
    return {
        "step": report["frequency"] and report["frequency"]["alias"],
        "series": len(series),
        "first": min((one["first"] for one in series), default=None),
        "last": max((one["last"] for one in series), default=None),
        "highest": max(highest, default=None),
        "repairs": bool(report["repairs"]),
    }


@each_refused
def test_train_stops_at_what_check_finds_first(
    forecast: Callable, check: Callable, tmp_path: Path, case: dict[str, Any]
) -> None:
    checked = check(case)
    trained = forecast("train", *words_of(case), "--out", tmp_path / "run", "--max-epochs", "1", "--quiet")
    assert (trained.code, trained.out) == (case["exit"], "")
    assert not (tmp_path / "run").exists()
    if case["exit"] == 2:
        assert (trained.error, trained.hint) == (checked.error, checked.hint)
        return
    first = json.loads(checked.out)["findings"][0]
    name = f"'{Path(first['file']).name}': "
    assert trained.error.removeprefix(name) == first["message"].removeprefix(name)
    assert trained.hint.removesuffix(f" `forecast explain {first['code']}` says more").removesuffix(";") in first["fix"]


@each_accepted
def test_train_accepts_what_check_accepts(case: dict[str, Any]) -> None:
    """Up to the first step: trainings of the corpus would all be the same training."""
    from forecast_attn.forecaster import read_panel
    from forecast_attn.training.preparation import prepare

    options = _options(words_of(case)[1:])
    config = RunConfig.from_options(options)
    panel, _ = read_panel(case["file"], config)
    preparation = prepare(panel, config.data)
    assert len(preparation.training_cutoffs) > 0
    assert panel.num_series == case["series"]


def _options(words: list[str]) -> dict[str, Any]:
    """Flags and their values as a dictionary."""
    names = [word[2:] for word in words if word.startswith("--")]
    values = [
        words[at + 1] if at + 1 < len(words) and not words[at + 1].startswith("--") else True
        for at, word in enumerate(words)
        if word.startswith("--")
    ]
    return {
        name: value if name not in ("lookback", "horizon") else int(value)
        for name, value in zip(names, values, strict=True)
    }


def test_the_corpus_is_large_and_every_file_of_it_is_used() -> None:
    assert len({case["file"] for case in CASES}) >= 100
    used = {case["file"].split("/")[0] for case in CASES} | {"expected.toml", "README.md", "holidays", "vintages"}
    assert {path.name for path in CORPUS.iterdir()} <= used
    assert all((CORPUS / case["file"]).exists() for case in CASES if case["file"] != "not-there.csv")
