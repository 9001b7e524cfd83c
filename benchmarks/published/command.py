"""The command line that epf.py and ett.py share."""

from __future__ import annotations

import argparse
import inspect
import signal
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from forecast_attn import Forecaster
from forecast_attn.config.file import read_config_file
from forecast_attn.config.options import find_option
from forecast_attn.errors import ConfigError, UserError
from published.pieces import OF_BACKTEST, ChangedError, Piece, run_piece, write_json
from published.protocols import Protocol, TableError
from published.summary import lines, summarise


def parser_of(
    description: str | None, protocols: dict[str, Protocol], default: Sequence[str]
) -> argparse.ArgumentParser:
    """Parser of the options that both commands take."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add(
        "--protocols",
        nargs="+",
        choices=list(protocols),
        default=list(default),
        metavar="NAME",
        help=", ".join(protocols),
    )
    add("--seeds", nargs="+", type=int, default=[1], metavar="N", help="one training each [default: 1]")
    add(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of the Forecaster; --set wins over --config",
    )
    add("--config", type=Path, metavar="FILE", help="TOML file of options, as `forecast train --config` reads it")
    add("--ensemble", type=int, default=1, metavar="N", help="networks that forecast together, as --set ensemble=N")
    add(
        "--candidate",
        action="append",
        metavar="'NAME=VALUE …'",
        help="options to try; the best validation MAE of each market decides; of D refit, combine_with … too",
    )
    add("--out", type=Path, default=Path("runs/published"), metavar="DIR", help="[default: runs/published]")
    add("--test", action="store_true", help="score the test part too, with what validation chose")
    add("--again", action="store_true", help="throw away what is finished of these pieces")
    add("--jobs", type=int, default=1, metavar="N", help="trainings at a time [default: 1]")
    return parser


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Options of --config, --set and --ensemble.

    Raises:
        ConfigError: an unknown option, or no NAME=VALUE.
    """
    options = read_config_file(arguments.config).training if arguments.config is not None else {}
    given = _assignments(arguments.set)
    late = [name for name in given if name.startswith(OF_BACKTEST)]
    if late:
        what = "refits are" if late[0].startswith("refit") else "a baseline to combine with is"
        raise ConfigError(f"{', '.join(late)}: {what} chosen on validation", f"--candidate '{late[0]}=…'")
    options |= given
    if arguments.ensemble != 1:
        options["ensemble"] = arguments.ensemble
    return options


def candidates_of(arguments: argparse.Namespace, built_in: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Options of --candidate; else those in the code."""
    if not arguments.candidate:
        return tuple(built_in)
    return tuple(_assignments(text.split()) for text in arguments.candidate)


def _assignments(words: Sequence[str]) -> dict[str, Any]:
    assigned: dict[str, Any] = {}
    for word in words:
        name, sign, value = word.partition("=")
        if not sign:
            raise ConfigError(f"'{word}' is not NAME=VALUE", "such as --set max_epochs=8")
        plain = name.strip().replace("-", "_")
        assigned[_checked_backtest(plain) if plain.startswith(OF_BACKTEST) else find_option(plain)[1].name] = value
    return assigned


def _checked_backtest(name: str) -> str:
    known = [each for each in inspect.signature(Forecaster.backtest).parameters if each.startswith(OF_BACKTEST)]
    if name not in known:
        raise ConfigError(f"a backtest has no option '{name}'", f"it has {', '.join(known)}")
    return name


def run_all(pieces: Sequence[Piece], arguments: argparse.Namespace) -> int:
    """Run what is not finished, several at a time; print and write what all pieces of the folder say."""

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        waiting = {
            pool.submit(run_piece, piece, test=arguments.test, again=arguments.again, say=say): piece
            for piece in pieces
        }
        try:
            for done in as_completed(waiting):
                try:
                    done.result()
                except (ChangedError, TableError, RuntimeError, UserError) as error:
                    failed += 1
                    say(f"error: {error}")
        except KeyboardInterrupt:  # the processes heard it too; what is finished is kept
            pool.shutdown(cancel_futures=True)
            return 128 + signal.SIGINT
    rows = summarise(arguments.out)
    for line in lines(rows):
        print(line)
    arguments.out.mkdir(parents=True, exist_ok=True)
    write_json(arguments.out / "summary.json", rows)
    return 1 if failed else 0
