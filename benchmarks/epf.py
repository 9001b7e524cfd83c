"""Day-ahead electricity markets by the published protocols, beside the published numbers: docs/accuracy.md.

    python benchmarks/epf.py DATA_DIR                                 what validation says, all markets, P, F and D
    python benchmarks/epf.py DATA_DIR --seeds 1 2 3 --test            the test part too
    python benchmarks/epf.py DATA_DIR --markets NP --protocols F --set max_epochs=1

A market is a CSV with the columns `date`, `OT` (the price) and forecasts that are known the day before. Pieces that are
finished are not run again.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from published.command import candidates_of, options_of, parser_of, run_all
from published.pieces import Piece
from published.protocols import EPF

from forecast_attn.errors import ConfigError

TOGETHER: dict[str, Any] = {"combine_with": "median-regression"}
"""Half the network and half a regression that learns from the same rows, once."""
OF_RUN: dict[str, Any] = {}
"""The weighted mean that the run's own validation chose."""
MONTHLY: dict[str, Any] = {"refit": 28, "refit_epochs": 1, "refit_learning_rate": 0.001, "refit_validation": 0}
CANDIDATES: dict[str, tuple[dict[str, Any], ...]] = {
    "P": (OF_RUN, TOGETHER),
    "F": (OF_RUN, TOGETHER),
    "D": (
        MONTHLY | {"combine_with": "regression"},
        MONTHLY | {"combine_with": "regression,median-regression"},
    ),
    "F360": (OF_RUN, TOGETHER),
}
"""What may differ by market: the options with the best validation MAE are taken, for each market and seed."""


def main() -> int:
    parser = parser_of(__doc__, EPF, ("P", "F", "D"))
    parser.add_argument("data", type=Path, metavar="DATA_DIR", help="folder of market files")
    parser.add_argument("--markets", nargs="+", metavar="NAME", help="files without .csv; all but ETT* when absent")
    arguments = parser.parse_args()
    try:
        options = options_of(arguments)
        pieces = [
            Piece(table, EPF[name], seed, options, candidates_of(arguments, CANDIDATES[name]), arguments.out)
            for name in arguments.protocols
            for table in markets_in(arguments.data, arguments.markets)
            for seed in arguments.seeds
        ]
    except ConfigError as error:
        parser.error(f"{error.message}\nhint: {error.hint}")
    return run_all(pieces, arguments)


def markets_in(folder: Path, names: list[str] | None) -> list[Path]:
    """The market files, by name.

    Raises:
        ConfigError: there is none, or not one of a name.
    """
    tables = {path.stem: path for path in sorted(folder.glob("*.csv")) if not path.stem.startswith("ETT")}
    chosen = list(tables) if names is None else names
    missing = [name for name in chosen if name not in tables]
    if missing or not chosen:
        raise ConfigError(
            f"'{folder}' has no {', '.join(f'{name}.csv' for name in missing) or 'market file (*.csv)'}",
            f"it has {', '.join(tables) or 'none'}",
        )
    return [tables[name] for name in chosen]


if __name__ == "__main__":
    sys.exit(main())
