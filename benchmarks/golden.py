"""Golden bytes: record digests of what the command line writes, and compare them at another commit.

    python benchmarks/golden.py record before.json
    python benchmarks/golden.py compare before.json

A change that should not alter results is checked so: record at the old commit, compare at the new one, on the same
machine and with the same packages (digests differ between processors, so they are not committed). The script uses the
command line alone, so a copy of benchmarks/golden*.py works at any commit; it imports the package that Python finds
first, and says which. `--only NAME` runs some of the cases.

Everything is recorded that a case leaves in its folder: weights tensor by tensor, tables column by column, JSON
documents value by value, other files whole; and of every command the exit code and its stdout. Left out is what
differs from run to run: seconds, speed, and the version of the package.
"""

from __future__ import annotations

import os

os.environ.update(OMP_NUM_THREADS="1", COLUMNS="100", NO_COLOR="1", TERM="dumb", TZ="UTC", CUDA_VISIBLE_DEVICES="")

import argparse
import contextlib
import io
import json
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from golden_digests import Digests, digest_file, digest_text, prefixed
from golden_tables import write_tables

SHOWN_DIFFERENCES = 200

TINY = "--hidden-size 8 --max-epochs 2 --batch-size 16 --seed 7 --accelerator cpu --json --quiet"
SMALL = f"--lookback 16 --horizon 4 {TINY}"
REFUSALS = "refusals"


@dataclass(frozen=True)
class Case:
    """Commands that run one after another; `@` stands for the case's folder."""

    name: str
    commands: tuple[str, ...]


CASES = (
    Case(
        "quantiles-calibrated",
        (
            f"train hourly.csv --out @/run --past load --future wind --quantiles 0.1,0.5,0.9 --calibration cqr {SMALL}",
            "predict @/run --future hourly-coming.csv --json --quiet",
            "predict @/run --data hourly.csv --future hourly-coming.csv --combine-with regression,median-regression"
            " --out @/combined.csv --attention-out @/combined.parquet --json --quiet",
            "inspect @/run --json",
            "inspect @/run --validation --by hour --json --html @/page.html --export @/weights.csv",
            "inspect @/run",
            "audit @/run --windows 8 --draws 10 --covariates --repeats 2 --json --quiet",
            "backtest @/run --cutoffs 3 --refit 2 --refit-epochs 1 --combine-with regression --by step,hour"
            " --attention-out @/backtest-attention.parquet --json --quiet",
            "evaluate @/run/backtest.parquet --actuals hourly.csv --by overall,step --json --quiet",
            "plot @/run --svg @/forecast.svg --json",
            "plot @/run/backtest.parquet --kind calibration --json",
            "info @/run --json",
        ),
    ),
    Case(
        "panel-covariates",
        (
            "check panel.csv --future price,promotion --past temperature --static region --lookback 16 --horizon 4"
            " --json",
            "train panel.csv --out @/run --attention bahdanau --future price,promotion --past temperature"
            f" --static region --categorical promotion --calendar auto --weight importance {SMALL}",
            "future-template @/run --out @/template.csv",
            "predict @/run --future panel-coming.csv --json --quiet",
            "inspect @/run --by item --json",
            "backtest @/run --cutoffs 2 --stride 3 --baselines naive,seasonal-naive,drift,linear --by item_id"
            " --json --quiet",
        ),
    ),
    Case(
        "gaps-masked",
        (
            "check gaps.csv --missing mask --lookback 16 --horizon 4 --json",
            "train gaps.csv --out @/run --attention luong-concat --normaliser sparsemax --input-feeding --cell lstm"
            f" --attention-windows 4 --missing mask --past load {SMALL}",
            "predict @/run --json --quiet",
            "inspect @/run --json",
            "backtest @/run --cutoffs 2 --json --quiet",
        ),
    ),
    Case(
        "wide-log",
        (
            "train wide.csv --out @/run --wide --attention luong-location --transform log --non-negative"
            f" --scaling mean-abs --loss huber {SMALL}",
            "predict @/run --json --quiet",
        ),
    ),
    Case(
        "zone-gaussian",
        (
            "train zone.csv --out @/run --tz Europe/Berlin --attention multi-head --heads 2 --distribution gaussian"
            f" --holiday-dates holidays.csv --lookback 48 --horizon 24 {TINY}",
            "predict @/run --json --quiet",
            "inspect @/run --head 1 --json",
            "backtest @/run --cutoffs 2 --stride 1D --json --quiet",
        ),
    ),
    Case(
        "student-t",
        (
            "train hourly.csv --out @/run --attention keras-additive --distribution student-t --quantiles 0.05,0.5,0.95"
            f" --transform arcsinh --scaling robust --bidirectional --num-layers 2 --ignore load,wind {SMALL}",
            "predict @/run --json --quiet",
        ),
    ),
    Case(
        "no-attention",
        (
            "train hourly.csv --out @/run --attention none --patch-length 4 --linear-path --lags 12 --projection-size 6"
            f" --temporal-decoder-size 6 --no-skip --past load,wind {SMALL}",
            "predict @/run --json --quiet",
            "backtest @/run --cutoffs 2 --json --quiet",
        ),
    ),
    Case(
        "local-p",
        (
            "train hourly.csv --out @/run --attention-window local-p --window-radius 3 --attention-dtype float16"
            f" --attention-top 5 --schedule cosine --weight-averaging ema --past load,wind {SMALL}",
            "predict @/run --attention-dtype float16 --attention-top 3 --json --quiet",
            "inspect @/run --json",
        ),
    ),
    Case(
        "autoregressive-samples",
        (
            "train panel.csv --out @/run --attention luong-dot --attention-window local-m --window-radius 4"
            " --normaliser entmax15 --decoding autoregressive --quantiles 0.1,0.5,0.9 --teacher-forcing 1.0..0.5"
            f" --ignore price,promotion,temperature,region,importance --window-normalisation standard {SMALL}",
            "predict @/run --samples 20 --seed 3 --json --quiet",
            "backtest @/run --cutoffs 2 --json --quiet",
        ),
    ),
    Case(
        "vintages",
        (
            "train hourly.csv --out @/run --attention scaled-dot --attention-size 6 --future wind --ignore load"
            f" --vintages vintages.csv --window-normalisation none {SMALL}",
            "predict @/run --future hourly-coming.csv --json --quiet",
            "backtest @/run --cutoffs 2 --json --quiet",
        ),
    ),
    Case(
        "ensemble",
        (
            "train hourly.csv --out @/run --attention bahdanau-normed --ensemble 2 --combine median"
            f" --quantiles 0.1,0.5,0.9 --calibration split --past load,wind {SMALL}",
            "predict @/run --attention-members --json --quiet",
            "inspect @/run --json",
            "backtest @/run --cutoffs 2 --refit every --refit-epochs 1 --refit-window 200 --json --quiet",
        ),
    ),
    Case(
        "short-monthly",
        (
            "check messy.csv --id Ort --target Wert --duplicates mean --date-format day-first --json",
            "check messy.csv --id Ort --target Wert --duplicates mean --date-format day-first --fix"
            " --out @/fixed.csv --quiet",
            "train messy.csv --out @/run --id Ort --target Wert --attention luong-scaled --duplicates mean"
            f" --short-series pad --date-format day-first --lookback 12 --horizon 3 {TINY}",
            "predict @/run --json --quiet",
            "predict @/run --data newcomer.csv --cold-start --out @/cold.csv --attention-out @/cold.parquet"
            " --json --quiet",
        ),
    ),
    Case(
        "table-backtest",
        (
            "backtest hourly.csv --config options.toml --start 2024-01-16 --end 2024-01-17 --stride 8 --out-run @/run"
            " --json --quiet",
            "predict @/run --json --quiet",
        ),
    ),
    Case(
        "comparison",
        (
            "compare hourly.csv --attention luong-general,none --seeds 2 --out @/comparison --lookback 12 --horizon 4"
            " --past load,wind --hidden-size 8 --max-epochs 1 --batch-size 16 --accelerator cpu --json --quiet",
        ),
    ),
    Case(REFUSALS, ("check bad.csv --json", "train bad.csv --out @/run --quiet", "explain FA204 --json")),
)


def run_case(case: Case) -> Digests:
    """Run a case in its folder and digest everything it left there and said on stdout."""
    folder = Path(case.name)
    folder.mkdir()
    digests: Digests = {}
    for number, line in enumerate(case.commands):
        words = [word.replace("@", case.name) for word in line.split()]
        code, stdout, stderr = run_command(words)
        if code and case.name != REFUSALS:
            print(f"  {case.name}: exit {code} of forecast {' '.join(words)}\n{stderr}", file=sys.stderr)
        name = f"{number} {words[0]}"
        digests[f"{name}: exit code"] = str(code)
        digests.update(prefixed(f"{name}: stdout", digest_text(stdout)))
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digests.update(prefixed(str(path.relative_to(folder)), digest_file(path)))
    return prefixed(case.name, digests)


def run_command(words: list[str]) -> tuple[int, str, str]:
    """Run one command of the command line in this process; return its exit code, stdout and stderr."""
    from forecast_attn.cli import main

    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            main(words)
        except SystemExit as ending:
            code = ending.code if isinstance(ending.code, int) else int(ending.code is not None)
        except Exception:
            # A crash is a result as well: it must not hide the other cases.
            code = 70
            stderr.write(traceback.format_exc())
    return code, stdout.getvalue(), stderr.getvalue()


def run_cases(names: list[str]) -> Digests:
    """Run the named cases, all when none is named, in a folder that is removed afterwards."""
    import forecast_attn

    print(f"package: {Path(forecast_attn.__file__).parent}")
    digests: Digests = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_tables()
        for case in CASES:
            if not names or case.name in names:
                begun = time.process_time()
                digests.update(run_case(case))
                print(f"  {case.name:<24} {time.process_time() - begun:5.1f} CPU s", flush=True)
    return digests


def is_exit_code(name: str) -> bool:
    """Tell an exit code, which must be 0, from other values; that of a refusal need not be."""
    return name.endswith(": exit code") and not name.startswith(REFUSALS)


def differences(before: Digests, after: Digests) -> list[str]:
    lines = [f"gone: {name}" for name in before if name not in after]
    lines += [f"new: {name}" for name in after if name not in before]
    changed = [name for name in before if name in after and before[name] != after[name]]
    return lines + [f"changed: {name}: {before[name][:48]} -> {after[name][:48]}" for name in changed]


def arguments() -> Any:
    parser = argparse.ArgumentParser(description="Record digests of what the command line writes, or compare them.")
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path, help="JSON file of the digests")
    names = [case.name for case in CASES]
    parser.add_argument("--only", nargs="+", default=[], choices=names, metavar="NAME", help=", ".join(names))
    return parser.parse_args()


def main() -> int:
    given = arguments()
    file: Path = given.file.resolve()
    before: Digests = json.loads(file.read_text(encoding="utf-8")) if given.action == "compare" else {}
    begun = time.process_time()
    after = run_cases(given.only)
    print(f"{len(after)} digests in {time.process_time() - begun:.0f} CPU s")
    if given.action == "record":
        file.write_text(json.dumps(after, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return int(any(value != "0" for name, value in after.items() if is_exit_code(name)))
    if given.only:
        before = {name: value for name, value in before.items() if name.split(" | ")[0] in given.only}
    lines = differences(before, after)
    print("\n".join(lines[:SHOWN_DIFFERENCES]))
    if len(lines) > SHOWN_DIFFERENCES:
        print(f"… and {len(lines) - SHOWN_DIFFERENCES} more")
    print(f"{len(lines)} differences" if lines else "no difference")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
