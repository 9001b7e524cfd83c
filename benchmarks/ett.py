"""The oil temperature of ETTh1 by the standard split, beside the published numbers: docs/accuracy.md.

    python benchmarks/ett.py ETTh1.csv                                what validation says, all horizons
    python benchmarks/ett.py ETTh1.csv --protocols U96 X96 --seeds 1 2 3 --test

U96 … U720: the temperature alone, 96 … 720 hours ahead; X96 … X720: with the past of the six loads.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from published.command import candidates_of, options_of, parser_of, run_all
from published.pieces import Piece
from published.protocols import ETT

from forecast_attn.errors import ConfigError

RUN: dict[str, Any] = {"lookback": 336}
"""As many rows as the published linear models read; validation weighs network, regressions and formulas."""
CANDIDATES: tuple[dict[str, Any], ...] = (RUN | {"combine_with": "none"}, RUN)
"""The network of a run alone, or the run's weighted mean: the better one on validation is taken."""


def main() -> int:
    parser = parser_of(__doc__, ETT, tuple(ETT))
    parser.add_argument("data", type=Path, metavar="ETTh1.csv")
    arguments = parser.parse_args()
    try:
        options, candidates = options_of(arguments), candidates_of(arguments, CANDIDATES)
    except ConfigError as error:
        parser.error(f"{error.message}\nhint: {error.hint}")
    pieces = [
        Piece(arguments.data, ETT[name], seed, options, candidates, arguments.out)
        for name in arguments.protocols
        for seed in arguments.seeds
    ]
    return run_all(pieces, arguments)


if __name__ == "__main__":
    sys.exit(main())
