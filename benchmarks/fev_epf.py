"""Day-ahead prices by the protocol of fev-bench, beside its published rows: docs/accuracy.md.

    python benchmarks/fev_epf.py DATA_DIR                  choose on the 364 days before the last 20, for each market
    python benchmarks/fev_epf.py DATA_DIR --test           and score the last 20 days, once, with what was chosen

One forecast of 24 hours at each midnight, quantiles 0.1 to 0.9; the covariates are known in the horizon, everything
before a cut-off may be used. A market is a CSV with the columns `date`, `OT` (the price) and forecasts that are known
the day before. What differs between the candidates is whether the network learns on: one is trained before the 364 days
and again before the 20, the other once, before the 364 days, and further every seven days to the end. Pieces that are
finished are not run again.
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

TOGETHER: dict[str, Any] = {
    "quantiles": ",".join(QUANTILES),
    "calibration": "adaptive",
    "combine_with": "quantile-regression,kernel-regression,regression",
}
"""The network and three regressions that are estimated anew as days pass."""
WEEKLY: dict[str, Any] = {"refit": 7, "refit_epochs": 1, "refit_half_life": 1344, "refit_validation": 0}
CANDIDATES: tuple[dict[str, Any], ...] = (TOGETHER, TOGETHER | WEEKLY)
"""The one with the smallest SQL on the 364 days is taken, for each market."""


def main() -> int:
    arguments = _parser().parse_args()
    tables = markets_in(arguments.data, arguments.markets)
    options = {"max_epochs": arguments.max_epochs} if arguments.max_epochs else {}
    results, failed = [], 0
    for table in tables:
        piece = Piece(table, FEV["FEV"], arguments.seed, options, CANDIDATES, arguments.out)
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
    parser.add_argument("--max-epochs", type=int, metavar="N", help="shorter trainings, to try the command")
    parser.add_argument("--out", type=Path, default=Path("runs/fev"), metavar="DIR", help="[default: runs/fev]")
    parser.add_argument("--test", action="store_true", help="score the last 20 days, with what the days before chose")
    parser.add_argument("--again", action="store_true", help="throw away what is finished")
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _summary(piece: Piece, result: dict[str, Any]) -> dict[str, Any]:
    """Entry of a market in fev.json."""
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
        yield from _network_alone("364 days", result["validation"])
        yield _line("their later half, chosen on the earlier one", result["halves"])
        if "test" not in result:
            continue
        yield _line("last 20 days, OURS", result["test"])
        yield from _network_alone("last 20 days", result["test"])
        for name, (sql, mase) in PUBLISHED.get(market, {}).items():
            yield _line(name, {"sql": sql, "mase": mase})
        if market in GOALS:
            yield _line("goal", dict(zip(("sql", "mase"), GOALS[market], strict=True)))
    if any("test" not in result for result in results):
        yield "\nThe last 20 days are scored with --test only, once everything is decided."


def _network_alone(days: str, scores: dict[str, Any]) -> Iterator[str]:
    if "ours" in scores["models"]:
        yield _line(f"{days}, network alone", scores["models"]["ours"])


def _line(name: str, scores: dict[str, Any]) -> str:
    line = f"  {name:<46}{scores['sql']:>8.3f}{scores['mase']:>8.3f}"
    return f"{line}{100 * scores['coverage']:>11.1f}%" if "coverage" in scores else line


def _name(options: dict[str, Any]) -> str:
    """The candidate, as the table calls it."""
    return f"trained {'further each week' if 'refit' in options else 'once'}"


if __name__ == "__main__":
    sys.exit(main())
