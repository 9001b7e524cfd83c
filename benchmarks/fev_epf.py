"""Day-ahead prices by the protocol of fev-bench, beside its published rows: docs/accuracy.md.

    python benchmarks/fev_epf.py DATA_DIR                  choose on the 364 days before the last 20, for each market
    python benchmarks/fev_epf.py DATA_DIR --test           and score the last 20 days, once, with what was chosen

One forecast of 24 hours at each midnight, quantiles 0.1 to 0.9; the covariates are known in the horizon, everything
before a cut-off may be used. A market is a CSV with the columns `date`, `OT` (the price) and forecasts that are known
the day before. For both stretches a network is trained on the rows before; what differs between the candidates is what
it is averaged with, and whether it is trained further as days pass. Pieces that are finished are not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from epf import markets_in
from published.child import forecast_of
from published.fev import GOALS, PUBLISHED, QUANTILES, day_scores
from published.pieces import ChangedError, Piece, run_piece, write_json
from published.protocols import FEV, TARGET, TableError, read_table

from forecast_attn.errors import UserError

NETWORK: dict[str, Any] = {"quantiles": ",".join(QUANTILES), "calibration": "adaptive"}
WEEKLY: dict[str, Any] = {"refit": 7, "refit_epochs": 1, "refit_half_life": 1344, "refit_validation": 0}
BOTH = {"combine_with": "quantile-regression,regression"}
CANDIDATES: tuple[dict[str, Any], ...] = (
    NETWORK,
    NETWORK | {"combine_with": "regression,median-regression"},
    NETWORK | {"combine_with": "quantile-regression"},
    NETWORK | BOTH,
)
"""The one with the smallest SQL on the 364 days is taken, for each market."""


def main() -> int:
    arguments = _parser().parse_args()
    tables = markets_in(arguments.data, arguments.markets)
    options = {"max_epochs": arguments.max_epochs} if arguments.max_epochs else {}
    candidates = (*CANDIDATES, NETWORK | WEEKLY | BOTH) if arguments.weekly else CANDIDATES
    results, failed = [], 0
    for table in tables:
        piece = Piece(table, FEV["FEV"], arguments.seed, options, candidates, arguments.out)
        try:
            result = run_piece(piece, test=arguments.test, again=arguments.again, say=_say)
        except (ChangedError, TableError, RuntimeError, UserError) as error:
            _say(f"error: {error}")
            failed += 1
            continue
        results.append(_summary(piece, result))
    if results:
        write_json(arguments.out / "fev.json", results)
    for line in _lines(results):
        print(line)
    return 1 if failed else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA_DIR", help="folder of market files")
    parser.add_argument("--markets", nargs="+", metavar="NAME", help="files without .csv; all but ETT* when absent")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="[default: 1]")
    parser.add_argument("--weekly", action="store_true", help="a candidate more: trained further every seven days")
    parser.add_argument("--max-epochs", type=int, metavar="N", help="shorter trainings, to try the command")
    parser.add_argument("--out", type=Path, default=Path("runs/fev"), metavar="DIR", help="[default: runs/fev]")
    parser.add_argument("--test", action="store_true", help="score the last 20 days, with what the days before chose")
    parser.add_argument("--again", action="store_true", help="throw away what is finished")
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _summary(piece: Piece, result: dict[str, Any]) -> dict[str, Any]:
    """What fev.json says of a market."""
    chosen = result["chosen"]
    summary = {
        "market": result["market"],
        "chosen": result["candidates"][chosen]["options"],
        "candidates": [
            {"options": each["options"], "sql": each["validation"]["sql"], "mase": each["validation"]["mase"]}
            for each in result["candidates"]
        ],
        "validation": _part(result["validation"]),
        "halves": _halves(piece, result),
        "cpu_seconds": _cpu_seconds(result, chosen),
    }
    if "test" in result:
        summary |= {"test": _part(result["test"])}
    return summary


def _part(scores: dict[str, Any]) -> dict[str, Any]:
    names = ("sql", "mase", "coverage", "width", "mae", "cpu_seconds")
    models = {name: each for name, each in scores["models"].items() if "sql" in each}
    return {name: scores[name] for name in names} | {"models": models}


def _halves(piece: Piece, result: dict[str, Any]) -> dict[str, Any]:
    """Scores of the later 182 days by the candidate that the earlier 182 days would have chosen."""
    table = read_table(piece.table)
    target = table[TARGET].to_numpy()[: piece.protocol.stages(len(table))[0].end]
    of_each = []
    for number, candidate in enumerate(result["candidates"]):
        model = forecast_of(candidate["options"])
        rows = pd.read_parquet(piece.folder / f"validation-{number}.parquet", filters=[("model", "==", model)])
        of_each.append(day_scores(rows, target))
    half = len(of_each[0]["sql"]) // 2
    chosen = int(np.argmin([scores["sql"][:half].mean() for scores in of_each]))
    return {"chosen": chosen, **{name: float(values[half:].mean()) for name, values in of_each[chosen].items()}}


def _cpu_seconds(result: dict[str, Any], chosen: int) -> dict[str, float]:
    """Seconds of the last training and of everything: all candidates and both trainings."""
    tried = sum(each["validation"]["cpu_seconds"] for each in result["candidates"])
    trainings = {json.dumps(each["training"], sort_keys=True) for each in [*result["candidates"], result]}
    trained = sum(json.loads(each)["cpu_seconds"] for each in trainings)
    tested = result["test"]["cpu_seconds"] if "test" in result else 0.0
    return {"training": result["training"]["cpu_seconds"], "everything": round(tried + trained + tested, 1)}


def _lines(results: list[dict[str, Any]]) -> Iterator[str]:
    """The table that is printed."""
    for result in results:
        market, seconds = result["market"], result["cpu_seconds"]
        yield ""
        yield f"{market} · {seconds['everything']:,.0f} s of CPU, choices and all trainings included"
        yield f"  {'':<46}{'SQL':>8}{'MASE':>8}{'80 % holds':>12}"
        for each in result["candidates"]:
            mark = "*" if each["options"] == result["chosen"] else " "
            name = f"364 days, {_name(each['options'])}"
            yield f" {mark}{name:<46}{each['sql']:>8.3f}{each['mase']:>8.3f}"
        yield _line("364 days, chosen", result["validation"])
        yield _line("their later half, chosen on the earlier one", result["halves"])
        if "test" not in result:
            continue
        yield _line("last 20 days, OURS", result["test"])
        if "ours" in result["test"]["models"]:
            yield _line("last 20 days, network alone", result["test"]["models"]["ours"])
        for name, (sql, mase) in PUBLISHED.get(market, {}).items():
            yield _line(name, {"sql": sql, "mase": mase})
        if market in GOALS:
            yield _line("goal", dict(zip(("sql", "mase"), GOALS[market], strict=True)))
    if any("test" not in result for result in results):
        yield "\nThe last 20 days are scored with --test only, once everything is decided."


def _line(name: str, scores: dict[str, Any]) -> str:
    line = f"  {name:<46}{scores['sql']:>8.3f}{scores['mase']:>8.3f}"
    return f"{line}{100 * scores['coverage']:>11.1f}%" if "coverage" in scores else line


def _name(options: dict[str, Any]) -> str:
    """The candidate, as the table calls it."""
    others = options.get("combine_with", "network alone").replace(",", ", ")
    return f"{others}{', weekly refits' if 'refit' in options else ''}"


if __name__ == "__main__":
    sys.exit(main())
