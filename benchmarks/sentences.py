"""Lists every sentence that the tool says about the attention of ten runs, good and bad, with the evidence beside it.

    python benchmarks/sentences.py                       writes docs/sentences.md
    python benchmarks/sentences.py --runs panel,noise --keep runs/sentences --out sentences.md

The ten tables are made here, and what a right answer may be is known of each. A run takes seconds: small networks, few
epochs, `forecast audit` on 64 windows. Sentences are collected from what the commands print and write: the terminal,
the page of `inspect --html`, the page of `report`, and the JSON documents.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "sentences.md"
WIDE = "5000"  # columns of a terminal on which no sentence is wrapped
COMMON = ("--seed", "1", "--validation-windows", "128", "--accelerator", "cpu", "--quiet")
HEADINGS = ("attention ", "windows ", "sizes ", "weight 0 [")
"""Beginnings of lines of `inspect` that name what is shown."""
CAPTION = re.compile(
    r"(Best|Worst|Run): |Mean weight by |Mean absolute error of |Made by |Save these |Point at |The charts of |"
    r"[\w-]+(: [\w-]+ score,|, [\d,]+ of [\d,]+ validation windows \()"
)
"""Captions of pictures, headers, and how a page is used: nothing that could be true or false of the attention."""
SHARED = 3
"""A sentence of at least so many runs is listed once, above them."""

Table = Callable[[], pd.DataFrame]


class Example(NamedTuple):
    """A table, how it is trained on, and what is true of it."""

    name: str
    table: Table
    options: tuple[str, ...]
    truth: str


# --------------------------------------------------------------------------- ten tables


def _sample(name: str, rows: int) -> pd.DataFrame:
    table = pd.read_csv(ROOT / "data" / name)
    known = table[table[table.columns[1]].notna()]
    return known.tail(rows)


def _city() -> pd.DataFrame:
    return _sample("city_load.csv", 4_000)


def _prices() -> pd.DataFrame:
    return _city()[["timestamp", "price"]]


def _noise() -> pd.DataFrame:
    values = np.random.default_rng(1).normal(size=2_000).round(3)
    return pd.DataFrame({"timestamp": _stamps(2_000, "h"), "value": values})


def _walk() -> pd.DataFrame:
    values = np.random.default_rng(2).normal(size=1_500).cumsum().round(3)
    return pd.DataFrame({"date": _stamps(1_500, "D"), "value": values})


def _regimes() -> pd.DataFrame:
    """A driver of 3 days ago where 'shift' is 0, of 9 days ago where it is 1; shifts change every 20 days or so."""
    random = np.random.default_rng(3)
    driver, shift = random.normal(size=2_009), (np.cumsum(random.random(2_000) < 0.05) % 2).astype(int)
    rows = np.arange(2_000)
    value = np.where(shift == 1, driver[rows], driver[rows + 6]) + random.normal(scale=0.05, size=2_000)
    ahead = rows >= 1_997  # of the steps to forecast, shift alone is known
    columns = {"value": np.where(ahead, np.nan, value.round(4)), "driver": np.where(ahead, np.nan, driver[9:].round(4))}
    columns["shift"] = shift
    return pd.DataFrame({"date": _stamps(2_000, "D"), **columns})


def _panel() -> pd.DataFrame:
    """Six shops: four with a week of their own, two of pure noise."""
    random, rows = np.random.default_rng(4), np.arange(600)
    parts = []
    for shop in range(6):
        week = random.normal(size=7) * (8 if shop < 4 else 0)
        sales = 50 + 10 * shop + week[rows % 7] + random.normal(scale=2, size=600)
        parts.append(pd.DataFrame({"shop": f"shop {shop}", "date": _stamps(600, "D"), "sales": sales.round(2)}))
    return pd.concat(parts)


def _months() -> pd.DataFrame:
    random, rows = np.random.default_rng(5), np.arange(360)
    value = 100 + 0.1 * rows + 20 * np.sin(2 * np.pi * rows / 12) + random.normal(scale=3, size=360)
    return pd.DataFrame({"month": _stamps(360, "MS"), "value": value.round(2)})


def _stamps(count: int, frequency: str) -> pd.Series[str]:
    stamps = pd.Series(
        pd.date_range("1994-01-01" if frequency == "MS" else "2020-01-01", periods=count, freq=frequency)
    )
    return stamps.dt.strftime("%Y-%m-%d %H:%M" if frequency == "h" else "%Y-%m-%d")


DAILY = ("--lookback", "28", "--horizon", "3", "--hidden-size", "16", "--epoch-windows", "1024")
HOURLY = ("--horizon", "24", "--hidden-size", "16", "--epoch-windows", "1024")
EXAMPLES = (
    Example("patches", _city, (*HOURLY, "--max-epochs", "6"), "hourly demand with a daily and a weekly pattern"),
    Example(
        "single hours", _city, (*HOURLY, "--patch-length", "1", "--lookback", "96", "--max-epochs", "6"),
        "the same, with a weight per hour",
    ),
    Example(
        "one epoch", _city, (*HOURLY, "--patch-length", "1", "--lookback", "96", "--max-epochs", "1",
                             "--epoch-windows", "128"),
        "the same, trained for a single epoch",
    ),
    Example("noise", _noise, (*HOURLY, "--max-epochs", "4"), "white noise: the past is of no use"),
    Example(
        "planted lag", lambda: _sample("planted_lag.csv", 2_000),
        (*DAILY, "--attention", "bahdanau", "--max-epochs", "25", "--learning-rate", "0.01"),
        "the target is its driver of 10 days before",
    ),
    Example(
        "two regimes", _regimes, (*DAILY, "--future", "shift", "--max-epochs", "25", "--learning-rate", "0.01"),
        "the driver of 3 days before if shift is 0, of 9 days before if it is 1",
    ),
    Example(
        "prices", _prices, (*HOURLY, "--attention", "multi-head", "--max-epochs", "5"),
        "hourly prices: a daily pattern, wind that lasts for hours, rare spikes",
    ),
    Example(
        "panel", _panel, (*DAILY, "--id", "shop", "--max-epochs", "6"),
        "four shops with a weekly pattern, two of noise",
    ),
    Example("random walk", _walk, (*DAILY, "--max-epochs", "6"), "the last value is the best forecast"),
    Example(
        "months", _months, ("--horizon", "12", "--lookback", "48", "--hidden-size", "16", "--max-epochs", "20"),
        "a yearly pattern and a trend",
    ),
)  # fmt: skip


# --------------------------------------------------------------------------- what is said


class RunSentences(NamedTuple):
    """Sentences about a run, and the evidence behind them."""

    sentences: dict[str, list[str]]
    """Sentence -> where it is shown."""
    evidence: list[str]


def say(example: Example, folder: Path) -> RunSentences:
    """Train, audit, and collect."""
    folder.mkdir(parents=True, exist_ok=True)
    table, run = folder / "table.csv", folder / "run"
    if not (run / "metrics.json").is_file():
        example.table().to_csv(table, index=False)
        _forecast("train", table, *example.options, *COMMON, "--out", run)
    _forecast("predict", run, "--quiet")
    (run / "audit.json").unlink(missing_ok=True)
    plain = _terminal_lines(_forecast("inspect", run, "--validation"))  # with the quick form of the audit alone
    audit = _forecast("audit", run, "--windows", 64, "--draws", 50, "--covariates")
    document = json.loads(_forecast("inspect", run, "--validation", "--json"))
    page, report = folder / "page.html", folder / "report.html"
    terminal = _forecast("inspect", run, "--validation", "--html", page)
    _forecast("report", run, "--html", report)
    sentences: dict[str, list[str]] = {}
    for surface, texts in (
        ("before the audit", plain),
        ("terminal", [*_terminal_lines(terminal), *_terminal_lines(audit)]),
        ("page", _html_sentences(page)),
        ("report", _html_sentences(report)),
        ("json", _json_sentences(document, json.loads((run / "audit.json").read_text()))),
    ):
        for sentence in texts:
            surfaces = sentences.setdefault(sentence, [])
            if surface not in surfaces:
                surfaces.append(surface)
    return RunSentences(sentences, list(_evidence(run, document)))


def _forecast(*words: object) -> str:
    """Output of a command on a very wide terminal."""
    from forecast_attn.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(word) for word in words])
        except SystemExit as ended:
            if ended.code:
                raise SystemExit(f"{' '.join(map(str, words))}\n{err.getvalue()}") from None
    return out.getvalue()


def _terminal_lines(text: str) -> Iterator[str]:
    """Lines with a clause in them, and the sentences in a table's last column."""
    for line in text.splitlines():
        last = re.split(r"\s{2,}", line.strip())[-1]
        if _is_sentence(last) and not line.strip().startswith(HEADINGS):
            yield _plain(last)


def _html_sentences(path: Path) -> Iterator[str]:
    html = re.sub(r"<(script|style|svg|table)\b.*?</\1>", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for part in re.findall(r"<(?:p|li|figcaption)\b[^>]*>(.*?)</(?:p|li|figcaption)>", html, re.DOTALL):
        text = unescape(re.sub(r"<[^>]+>", "", re.sub(r"</?code>", "`", part)))
        if _is_sentence(text):
            yield _plain(text)


def _json_sentences(inspection: dict[str, Any], audit: dict[str, Any]) -> Iterator[str]:
    yield from map(_plain, (inspection["reading"]["text"], *inspection["warnings"]))
    yield from map(
        _plain, (f"{audit['verdict']['level']}: {audit['verdict']['sentence']}", *audit["verdict"]["caveats"])
    )
    yield from (_plain(check["verdict"]) for check in audit["checks"])
    yield _plain(audit["covariates"]["verdict"])


def _is_sentence(text: str) -> bool:
    return len(text.split()) >= 5 and bool(re.search("[a-z]{3}", text)) and not CAPTION.match(_plain(text))


def _plain(text: str) -> str:
    """Normalise a sentence, so that the same one in two places counts once."""
    text = re.sub(r"\s+", " ", text.replace("\u00a0", " ")).strip().removeprefix("- ").removeprefix("warning: ")
    text = text.removeprefix("covariates: ")
    return text[:1].upper() + text[1:].rstrip(".")


def _evidence(run: Path, document: dict[str, Any]) -> Iterator[str]:
    """Numbers that the sentences must agree with."""
    metrics, audit = json.loads((run / "metrics.json").read_text()), json.loads((run / "audit.json").read_text())
    need = metrics.get("weight_need")
    yield f"validation MAE {metrics['validation']['mae']:.4g}; " + ", ".join(
        f"{name} {errors['mae']:.4g}" for name, errors in metrics["baselines"].items()
    )
    if need:
        yield (f"quick form: MAE {need['mae']:.4g}, with equal weights {need['mae_equal']:.4g}, "
               f"{need['windows']} windows, needed: {need['needed']}")  # fmt: skip
    combined = metrics.get("combination")
    if combined:
        yield f"combination: MAE {combined['validation']['mae']:.4g}"
    first = pd.read_csv(run / "predictions.csv", dtype=str)["item_id"].iloc[0]
    explained = json.loads(_forecast("plot", run, "--kind", "attribution", "--item", first, "--json"))
    yield (f"attribution: forecast {explained['forecast']:.4g}, baseline {explained['baseline_forecast']:.4g}; "
           + ", ".join(f"{each['input']} {each['attribution']:+.3g}" for each in explained["inputs"]))  # fmt: skip
    yield f"reading: {document['reading']['kind']}; entropy " + ", ".join(
        f"{step['normalised_entropy']:.2f}" for step in document["steps"][:6]
    )
    yield "largest mean weights: " + "; ".join(
        f"step {step['step']}: " + ", ".join(f"lag {top['lag']} {100 * top['weight']:.0f} %" for top in step["top"][:3])
        for step in document["steps"][:: max(1, len(document["steps"]) // 4)]
    )
    yield f"verdict: {audit['verdict']['level']}; " + ", ".join(
        f"{check['name']} {({True: 'passed', False: 'failed', None: 'note'})[check['passed']]}"
        for check in audit["checks"]
    )


# --------------------------------------------------------------------------- the page


def write_page(results: dict[str, RunSentences]) -> str:
    examples = {example.name: example for example in EXAMPLES}
    runs = Counter(sentence for each in results.values() for sentence in each.sentences)
    shared: dict[str, list[str]] = {sentence: [] for sentence, count in runs.items() if count >= SHARED}
    for name, each in results.items():
        for sentence in shared.keys() & each.sentences.keys():
            shared[sentence].append(name)
    parts = [HEAD, *(f"| {_cell(sentence)} | {_names(names, results)} |\n" for sentence, names in shared.items()), "\n"]
    for name, each in results.items():
        parts.append(f"## {name[:1].upper()}{name[1:]}\n\n*{examples[name].truth}*: "
                     f"`forecast train table.csv {' '.join(examples[name].options)}`\n\nMeasured:\n")  # fmt: skip
        parts.append("".join(f"\n- {fact}" for fact in each.evidence) + "\n\n| sentence | shown in |\n|---|---|")
        single = {sentence: surfaces for sentence, surfaces in each.sentences.items() if sentence not in shared}
        rows = (f"| {_cell(sentence)} | {', '.join(surfaces)} |" for sentence, surfaces in single.items())
        parts.append("\n" + "\n".join(rows) + "\n\n")
    return "".join(parts).rstrip("\n") + "\n"


def _cell(sentence: str) -> str:
    return sentence.replace("|", "/")


def _names(names: list[str], results: dict[str, RunSentences]) -> str:
    """The runs in their order; all of them in a word."""
    return "all" if len(names) == len(results) else ", ".join(name for name in results if name in names)


HEAD = """# Every sentence, and its evidence

After this page you can judge whether the tool says more about attention than it has measured. It lists
every sentence about the attention of ten small runs, good and bad, on tables whose truth is known, after
the numbers that the sentences must agree with. Captions and headers are left out.

| shown in | command |
|---|---|
| before the audit | `forecast inspect`, with the evidence of the training alone |
| terminal | `forecast inspect` after the audit, and `forecast audit` |
| page | `forecast inspect --html` |
| report | `forecast report` |
| json | `forecast inspect --json`, and audit.json |

`python benchmarks/sentences.py` trains, audits and writes this page again; another machine may change a
digit.

## Sentences of several runs

| sentence | runs |
|---|---|
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", help="names of examples, separated by commas; all when absent")
    parser.add_argument("--keep", type=Path, help="folder for tables and runs; runs that are there are used again")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page to write")
    arguments = parser.parse_args()
    names = arguments.runs.split(",") if arguments.runs else [example.name for example in EXAMPLES]
    os.environ["COLUMNS"] = WIDE
    results: dict[str, RunSentences] = {}
    with tempfile.TemporaryDirectory() as folder:
        for example in EXAMPLES:
            if example.name in names:
                results[example.name] = say(example, (arguments.keep or Path(folder)) / example.name.replace(" ", "-"))
                print(f"{example.name}: {len(results[example.name].sentences)} sentences", flush=True)
    arguments.out.write_text(write_page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
