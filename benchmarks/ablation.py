"""Effect of each option of the network: the defaults with one of them changed, without touching any test part.

    python benchmarks/ablation.py DATA_DIR --markets NP PJM --seeds 1 2 --jobs 2

The first four fifths of a market's rows are taken for a market of their own, split by protocol F or P: 56 % of all
rows train, 8 % validate, and the 16 % that are scored end where the test part of the whole begins. Trainings that are
finished are not run again. It prints the table of docs/accuracy-tried.md.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean
from typing import Any

from epf import markets_in
from published.pieces import OF_BACKTEST, Piece, run_piece, write_json
from published.protocols import EPF, Protocol

LAGS = "24,48,168"
ROWS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "--attention none": {"attention": "none"},
    "--attention bahdanau": {"attention": "bahdanau"},
    f"--lags {LAGS}": {"lags": LAGS},
    f"--lags {LAGS} --attention none": {"lags": LAGS, "attention": "none"},
    "--temporal-decoder-size 0": {"temporal_decoder_size": 0},
    "--projection-size 0": {"projection_size": 0},
    "--no-bidirectional": {"bidirectional": False},
    "--no-skip": {"skip": False},
    "--hidden-size 32": {"hidden_size": 32},
    "--hidden-size 128": {"hidden_size": 128},
    "--patch-length 1": {"patch_length": 1},
    "--patch-length 12": {"patch_length": 12},
    "--patch-length 24": {"patch_length": 24},
    "--dropout 0.2": {"dropout": 0.2},
    "--weight-decay 0.1": {"weight_decay": 0.1},
    "--learning-rate 0.002": {"learning_rate": 0.002},
    "--max-epochs 6": {"max_epochs": 6},
    "--max-epochs 24": {"max_epochs": 24},
    "--schedule cosine": {"schedule": "cosine"},
    "--lookback 336": {"lookback": 336},
    "--weight-averaging ema": {"weight_averaging": "ema"},
    "--linear-path": {"linear_path": True},
    "--transform arcsinh": {"transform": "arcsinh"},
    "--loss huber": {"loss": "huber"},
    "--loss mse": {"loss": "mse"},
    "--window-normalisation standard": {"window_normalisation": "standard"},
    "--combine-with median-regression": {"combine_with": "median-regression"},
}
"""Rows of the table, by what a user would type with `--combination none`: networks are compared."""
DEVELOPMENT = 0.8
"""Share of the rows that are looked at."""


def main() -> int:
    arguments = _parser().parse_args()
    tables = [_shortened(path, arguments.out) for path in markets_in(arguments.data, arguments.markets)]
    protocol, names = EPF[arguments.protocol], arguments.rows or list(ROWS)
    pieces = {
        (name, table.stem, seed): _piece(name, table, protocol, seed, arguments.out)
        for name in names
        for table in tables
        for seed in arguments.seeds
    }

    def run(piece: Piece) -> dict[str, Any]:
        return run_piece(piece, test=True, again=False, say=lambda text: print(text, file=sys.stderr, flush=True))

    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = dict(zip(pieces, pool.map(run, pieces.values()), strict=True))
    scores_by_name = {
        name: {
            table.stem: _over_seeds([results[name, table.stem, seed] for seed in arguments.seeds]) for table in tables
        }
        for name in names
    }
    write_json(arguments.out / f"ablation-{arguments.protocol}.json", scores_by_name)
    for line in _table(scores_by_name, [table.stem for table in tables]):
        print(line)
    return 0


def _piece(name: str, table: Path, protocol: Protocol, seed: int, out: Path) -> Piece:
    options = {"combination": "none", **ROWS[name]}
    of_training = {option: value for option, value in options.items() if not option.startswith(OF_BACKTEST)}
    of_backtest = {option: value for option, value in options.items() if option.startswith(OF_BACKTEST)}
    return Piece(table, protocol, seed, of_training, (of_backtest,), out / _folder(name))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA_DIR", help="folder of market files")
    parser.add_argument("--markets", nargs="+", metavar="NAME", help="files without .csv; all but ETT* when absent")
    parser.add_argument("--protocol", choices=("F", "P"), default="F")
    parser.add_argument("--rows", nargs="+", choices=list(ROWS), metavar="ROW", help="of the table; all when absent")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1], metavar="N")
    parser.add_argument("--out", type=Path, default=Path("runs/ablation"), metavar="DIR")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="trainings at a time")
    return parser


def _shortened(path: Path, out: Path) -> Path:
    """The first rows of a market, in a file of the same name."""
    header, *rows = path.read_text(encoding="utf-8").splitlines(keepends=True)
    short = out / "markets" / path.name
    short.parent.mkdir(parents=True, exist_ok=True)
    short.write_text(header + "".join(rows[: int(DEVELOPMENT * len(rows))]), encoding="utf-8")
    return short


def _folder(name: str) -> str:
    return name.replace("--", "").replace(" ", "-")


def _over_seeds(results: list[dict[str, Any]]) -> dict[str, float]:
    return {
        "mse": mean(each["test"]["mse"] for each in results),
        "mae": mean(each["test"]["mae"] for each in results),
        "cpu_seconds": mean(each["training"]["cpu_seconds"] for each in results),
    }


def _table(scores_by_name: dict[str, dict[str, dict[str, float]]], markets: list[str]) -> list[str]:
    """Markdown: MSE / MAE, and the change of the MAE against the first row."""
    first = next(iter(scores_by_name.values()))
    lines = [
        f"| | {' | '.join(markets)} | MAE, mean change | CPU seconds |",
        f"|---|{'---|' * len(markets)}---|---|",
    ]
    for name, scores in scores_by_name.items():
        cells = [f"{scores[market]['mse']:.4f} / {scores[market]['mae']:.4f}" for market in markets]
        change = mean(scores[market]["mae"] / first[market]["mae"] - 1 for market in markets)
        seconds = mean(scores[market]["cpu_seconds"] for market in markets)
        lines.append(f"| `{name}` | {' | '.join(cells)} | {change:+.1%} | {seconds:.0f} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
