"""Run directories altered at random, read by every command: no traceback, no hang, no forecast that is not a number.

    python benchmarks/fuzz_runs.py --cases 3000

One case is a copy of a small run with one thing changed: a value in one of its JSON files, in the metadata of its
attention file, or a forged weight file. Digests are made again, as the author of a hostile run would. Each command runs
in a process of its own with little memory and ten seconds of the processor, beside the files of a user that it may not
touch. Prints the cases that ended in anything but an answer.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import datetime
import hashlib
import io
import json
import math
import multiprocessing
import os
import random
import resource
import shutil
import signal
import struct
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

ATTENTION_KEY = b"forecast_attn.attention"
MANIFEST = "manifest.json"
SECONDS = 10
"""Processor time that a command has: other work on the machine is no hang."""
WAITING = 120
"""Seconds on the clock after which it waits for something that never comes."""
MEMORY = 6 * 2**30
"""Bytes that a command may ask for beyond what Python and torch have mapped already."""

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 10**9, 10**20, -(10**20), 0.5, -0.5, 1e-320, 1e308, -1e308, math.nan, math.inf),
    *("", "x", "1", "nan", "help", "\x1b[31mred", "a\nb", "\ud800", "\x00", "../../etc/passwd", "Europe/Nowhere"),
    *([], [None], [[]], [1, 2], ["x"], ["x", "x"], [math.nan], {}, {"x": 1}, {"x": {"y": []}}, [[[[]]]], "9" * 5000),
)
"""Replacements of a value."""


FURTHER: tuple[tuple[str, ...], ...] = (
    ("report", "run", "--html", "out/report.html"),
    ("reconcile", "run", "--hierarchy", "sums.csv", "--method", "bottom-up", "--out", "out/reconciled.csv"),
    ("score", "run", "table.csv", "--rate", "0.05", "--start", "2024-05-20", "--out", "out/scores.csv"),
    ("update", "run", "--data", "newer.csv", "--history", "table.csv", "--epochs", "1", "--out", "out/updated"),
    ("backtest", "run", "--data", "table.csv", "--out", "out/backtest.csv"),
    ("ui", "."),
)
"""Commands that take longer: each case is tried with the next one of them."""
EXPORT = ("export", "run", "--network-alone", "--onnx", "out/network.onnx")
"""One that takes seven seconds where nothing is wrong, and has its turn after every fourth round of the others."""
OUTPUTS = ("run", "out", "page.html")
"""Names that commands may write to; of `run` those that write there by default."""

_FILES = ("audit.json", "attention.parquet", "validation_attention.parquet", "backtest.json", "schema.json")
"""Files that are read by commands of their own."""


class Case(NamedTuple):
    """An altered run."""

    name: str
    alter: Callable[[Path], None]


class Failure(NamedTuple):
    """A command that did not end with an answer."""

    case: str
    command: str
    what: str


# --------------------------------------------------------------------------- alterations


def json_cases(run: Path, count: int, seed: int) -> Iterator[Case]:
    """Changes of one value each, spread over the JSON files of a run."""
    rng = random.Random(seed)
    names = sorted(path.relative_to(run).as_posix() for path in run.rglob("*.json"))
    for number in range(count):
        name = names[number % len(names)]
        content = json.loads((run / name).read_text(encoding="utf-8"))
        location, changed = altered(content, rng)
        text = json.dumps(changed)
        yield Case(f"{name}: {location}", _writer(name, text))


def metadata_cases(run: Path, count: int, seed: int) -> Iterator[Case]:
    """Changes of the metadata of a run's attention files."""
    import pyarrow.parquet as pq

    rng = random.Random(seed)
    names = sorted(path.relative_to(run).as_posix() for path in run.rglob("*attention*.parquet"))
    for number in range(count):
        name = names[number % len(names)]
        content = json.loads(pq.read_schema(run / name).metadata[ATTENTION_KEY])
        content.pop("conventions")
        location, changed = altered(content, rng)
        yield Case(f"{name}: {location}", _metadata_writer(name, json.dumps(changed)))


def weight_cases(run: Path, seed: int) -> Iterator[Case]:
    """Weight files that are well-formed for some reader, and not the run's."""
    names = sorted(path.relative_to(run).as_posix() for path in run.rglob("model.safetensors"))
    whole = (run / names[0]).read_bytes()
    size = struct.unpack("<Q", whole[:8])[0]
    header, body = json.loads(whole[8 : 8 + size]), whole[8 + size :]
    rng = random.Random(seed)
    for about, content in _forged(header, body, rng):
        yield Case(f"{names[0]}: {about}", _byte_writer(names[0], content))


def altered(content: Any, rng: random.Random) -> tuple[str, Any]:
    """A copy with one value replaced, removed, repeated or added, and where."""
    changed = copy.deepcopy(content)
    locations = list(_locations(changed))
    parent, key, location = locations[rng.randrange(len(locations))]
    how = rng.choice(("replace", "replace", "replace", "replace", "remove", "repeat", "add", "scale"))
    old = parent[key]
    if how == "remove":
        del parent[key]
    elif how == "repeat" and isinstance(old, list):
        parent[key] = old * 2
    elif how == "add" and isinstance(old, dict):
        old["more"] = rng.choice(VALUES)
    elif how == "scale" and isinstance(old, int | float) and not isinstance(old, bool):
        parent[key] = old * rng.choice((-1, 1e6, 10**9, 1e308, 0))
    else:
        how, parent[key] = "replace", rng.choice(VALUES)
        return f"{location} = {parent[key]!r:.40}", changed
    return f"{location}: {how}", changed


def _locations(content: Any, name: str = "") -> Iterator[tuple[Any, Any, str]]:
    """Yield every position in a JSON document: its container, its key, and its name."""
    keys = content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ()
    for key in list(keys):
        location = f"{name}.{key}".strip(".")
        yield content, key, location
        yield from _locations(content[key], location)


def _forged(header: dict[str, Any], body: bytes, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of forged weight files."""
    tensors = [name for name in header if name != "__metadata__"]
    one = rng.choice(tensors)
    for kind in ("F64", "F16", "BF16", "I64", "I8", "U8", "BOOL", "F8_E4M3", "F8_E5M2", "C64", "U16", "X9"):
        yield f"a tensor is {kind}", _safetensors(header | {one: header[one] | {"dtype": kind}}, body)
        width = {"F64": 8, "I64": 8, "F16": 2, "BF16": 2, "U16": 2}.get(kind, 1)
        yield f"all tensors are {kind}", _all_of(header, kind, width)
    yield "no metadata", _safetensors({name: header[name] for name in tensors}, body)
    yield "metadata of another kind", _safetensors(header | {"__metadata__": {"epoch": "many"}}, body)
    yield "metadata is a list", _safetensors(header | {"__metadata__": []}, body)
    yield "a tensor less", _safetensors({name: about for name, about in header.items() if name != one}, body)
    yield "no tensor", _safetensors({}, b"")
    yield "a tensor more", _safetensors(header | {"more": header[one]}, body)
    yield (
        "another name",
        _safetensors({name if name != one else "\x1b[2J": each for name, each in header.items()}, body),
    )
    yield "a shape of 10^18", _safetensors(header | {one: header[one] | {"shape": [10**9, 10**9]}}, body)
    yield "a negative shape", _safetensors(header | {one: header[one] | {"shape": [-1, -4]}}, body)
    yield "offsets outside", _safetensors(header | {one: header[one] | {"data_offsets": [0, 10**12]}}, body)
    yield "offsets backwards", _safetensors(header | {one: header[one] | {"data_offsets": [8, 0]}}, body)
    yield "NaN", _safetensors(header, struct.pack("<f", math.nan) * (len(body) // 4))
    yield "infinite", _safetensors(header, struct.pack("<f", math.inf) * (len(body) // 4))
    yield "a header of 2^60 bytes", struct.pack("<Q", 2**60) + b"{}"
    yield "a header that is a number", struct.pack("<Q", 1) + b"1"
    yield "nothing", b""


def _safetensors(header: dict[str, Any], body: bytes) -> bytes:
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def _all_of(header: dict[str, Any], kind: str, width: int) -> bytes:
    """Zeros of one type, with offsets that fit."""
    made: dict[str, Any] = {"__metadata__": header.get("__metadata__", {})}
    end = 0
    for name, about in header.items():
        if name != "__metadata__":
            size = width * math.prod(about["shape"])
            made[name] = {"dtype": kind, "shape": about["shape"], "data_offsets": [end, end + size]}
            end += size
    return _safetensors(made, bytes(end))


def _writer(name: str, text: str) -> Callable[[Path], None]:
    return _byte_writer(name, text.encode())


def _byte_writer(name: str, content: bytes) -> Callable[[Path], None]:
    def write(run: Path) -> None:
        (run / name).write_bytes(content)

    return write


def _metadata_writer(name: str, text: str) -> Callable[[Path], None]:
    def write(run: Path) -> None:
        import pyarrow.parquet as pq

        table = pq.read_table(run / name)
        pq.write_table(
            table.replace_schema_metadata({ATTENTION_KEY: text.encode("utf-8", "surrogatepass")}), run / name
        )

    return write


def sign_again(run: Path) -> None:
    """Make the digests that a run keeps of its files those of the files it has now."""
    metrics = run / "metrics.json"
    with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError, OSError):
        content = json.loads(metrics.read_text(encoding="utf-8"))
        before = copy.deepcopy(content)
        if "model_sha256" in content:
            content["model_sha256"] = _digest(run / "model.safetensors")
        for number, member in enumerate(content.get("members", ())):
            member["model_sha256"] = _digest(run / "members" / str(number) / "model.safetensors")
        if "calibration_sha256" in content:
            content["calibration_sha256"] = _digest(run / "calibration.json")
        if content != before:
            metrics.write_text(json.dumps(content))
    manifest = run / MANIFEST
    if manifest.is_file():
        content = json.loads(manifest.read_text(encoding="utf-8"))
        for name, entry in content["files"].items():
            entry |= {"bytes": (run / name).stat().st_size, "sha256": _digest(run / name)}
        manifest.write_text(json.dumps(content))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


# --------------------------------------------------------------------------- trying


def commands(case: str) -> list[list[str]]:
    """Command lines that read what the case has altered."""
    if case.startswith("audit.json"):
        return [["inspect", "run", "--html", "page.html"]]
    if "attention" in case.partition(":")[0]:
        validation = ["--validation"] if case.startswith("validation") else []
        return [["inspect", "run", *validation], ["inspect", "run", *validation, "--html", "page.html"]]
    if case.startswith("backtest.json"):
        return [["info", "run"]]
    listed = [["predict", "run", "--json"], ["info", "run"]]
    return [*listed, ["plot", "run"]] if case.startswith(("schema", "config", "metrics")) else listed


def failures(
    run: Path,
    cases: Iterator[Case],
    tell: Callable[[Failure], None] = lambda _: None,
    further: tuple[tuple[str, ...], ...] = (),
) -> list[Failure]:
    """The cases of a run that a command did not answer; `tell` is called with each at once.

    Args:
        further: commands of which each case is tried with one more; they read the tables that lie beside the run.
    """
    unanswered = []
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        for table in run.parent.glob("*.csv") if further else ():
            shutil.copy(table, folder)
        _warm_up(run, Path(folder), further)
        for number, case in enumerate(cases):
            for words in [*commands(case.name), *map(list, further[number % len(further) :][:1] if further else ())]:
                if what := _outcome(run, case, words, Path(folder)):
                    unanswered.append(Failure(case.name, " ".join(words), what))
                    tell(unanswered[-1])
    return unanswered


def _warm_up(run: Path, folder: Path, further: tuple[tuple[str, ...], ...]) -> None:
    """Run every command once on the run as it is: children inherit what they import, which takes longest."""
    shutil.copytree(run, folder / "run")
    (folder / "out").mkdir()
    with contextlib.chdir(folder):
        for words in sorted({*further, *(tuple(words) for name in (*_FILES, "") for words in commands(name))}):
            code, _, err = _answer(list(words))
            if code and (words in further or not err.startswith("error: ")):
                raise RuntimeError(f"forecast {' '.join(words)}: {err}")


def _outcome(run: Path, case: Case, words: list[str], folder: Path) -> str:
    """Empty where the command answered; else how it ended."""
    for name in OUTPUTS[:2]:
        shutil.rmtree(folder / name, ignore_errors=True)
    (folder / "out").mkdir()
    shutil.copytree(run, folder / "run")
    case.alter(folder / "run")
    if not case.name.startswith(MANIFEST):
        sign_again(folder / "run")
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(words, folder, sender))
    process.start()
    sender.close()
    try:
        return str(receiver.recv()) if receiver.poll(WAITING) else f"no answer within {WAITING} s"
    except EOFError:
        process.join()
        late = process.exitcode == -signal.SIGXCPU
        return "no answer in its processor time" if late else f"ended with {process.exitcode}"
    finally:
        process.kill()
        process.join()
        receiver.close()


def _child(words: list[str], folder: Path, sender: Any) -> None:
    """Run a command as a user would, and say how it ended."""
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY, mapped + MEMORY))
    seconds = SECONDS * (2 if tuple(words) == EXPORT else 1)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    os.chdir(folder)
    before = _of_the_user(folder)
    try:
        what = _judged(*_answer(words))
        changed = sorted(str(path) for path, _ in before.symmetric_difference(_of_the_user(folder)))
        what = what or (f"wrote to {', '.join(changed)}" if changed else "")
    except BaseException:
        what = traceback.format_exc().strip()
    sender.send(what)


def _of_the_user(folder: Path) -> set[tuple[Path, bytes]]:
    """The files beside the run that no command may write, with their content."""
    files = (path for path in folder.rglob("*") if path.relative_to(folder).parts[0] not in OUTPUTS)
    return {(path.relative_to(folder), path.read_bytes()) for path in files if path.is_file()}


def _pages(folder: Path) -> tuple[Any, str, str]:
    """Every page of `forecast ui` for a folder; an answer is one of the statuses that its server means to give."""
    from forecast_attn.live.runs_server import RunsServer

    server = RunsServer(folder)
    try:
        for path in ("", "runs.json", "runs/run/forecast", "runs/run/validation", "runs/run/report", "runs/%00/report"):
            reply = server.reply("localhost", f"/{server.token}/{path}")
            if reply.status not in (200, 404) and not reply.text.startswith("error: "):
                return 1, "", reply.text
            if path.endswith("json"):
                json.loads(reply.text)
    finally:
        server.server_close()
    return 0, "", ""


def _answer(words: list[str]) -> tuple[Any, str, str]:
    """Exit code, stdout and stderr of a command in this process."""
    from forecast_attn.cli import main

    if words[0] == "ui":
        return _pages(Path(words[1]))
    out, err, code = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as ended:
            code = ended.code
    return code, out.getvalue(), err.getvalue()


def _judged(code: Any, out: str, err: str) -> str:
    """Fault of an answer; empty where there is none."""
    if code not in (0, 1, 2):
        return f"exit code {code}: {err[-300:]}"
    if "Traceback" in err or (code and not err.startswith("error: ") and "\nerror: " not in err):
        return f"exit code {code} without a sentence: {err[-300:]}"
    if "\x1b" in out or "\x1b" in err:
        return "an escape sequence came through"
    if not code and Path("run/predictions.csv").is_file():
        return _judged_forecast(Path("run/predictions.csv").read_text())
    return ""


def _judged_forecast(text: str) -> str:
    rows = [line.rsplit(",", 1)[-1] for line in text.splitlines()[1:]]
    wrong = [value for value in rows if not value or not math.isfinite(float(value))]
    return f"a forecast is {wrong[0]!r}" if wrong else ""


# --------------------------------------------------------------------------- as a script


def _show(failure: Failure) -> None:
    print(f"{failure.case}\n  forecast {failure.command}\n  {failure.what[-1500:]}\n", flush=True)


def make_run(folder: Path) -> Path:
    """Train a small run with the files of the commands that read it, beside tables that continue it and sum it up."""
    rng, lines = random.Random(0), ["shop,date,sales,temperature,holiday"]
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=day) for day in range(170)]
    newer = lines.copy()
    for shop in ("north", "south"):
        for number, day in enumerate(days):
            sales = 10 + 3 * (day.weekday() < 5) + rng.random()
            row = f"{shop},{day},{sales:.3f},{20 * rng.random():.2f},{day.weekday() > 4:d}"
            (lines if number < 150 else newer).append(row)
    (folder / "table.csv").write_text("\n".join(lines) + "\n")
    (folder / "newer.csv").write_text("\n".join(newer) + "\n")
    (folder / "sums.csv").write_text("total,shop\nall,north\nall,south\n")
    train = "train table.csv --id shop --horizon 3 --lookback 14 --hidden-size 8 --max-epochs 2 --quantiles 0.1,0.5,0.9"
    with contextlib.chdir(folder):
        for command in (f"{train} --calibration split --seed 1 --out run", "predict run", "backtest run", "audit run"):
            code, _, err = _answer(command.split())
            if code:
                raise RuntimeError(f"forecast {command}: {err}")
    return folder / "run"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cases", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    third = options.cases // 3
    with tempfile.TemporaryDirectory(prefix="fuzz-run-") as folder:
        run = make_run(Path(folder))
        cases = [
            *json_cases(run, options.cases - third, options.seed),
            *metadata_cases(run, third, options.seed),
            *weight_cases(run, options.seed),
        ]
        unanswered = failures(run, iter(cases), _show, (*4 * FURTHER, EXPORT))
    print(f"{len(cases):,} altered runs, {len(unanswered)} without an answer")
    sys.exit(bool(unanswered))


if __name__ == "__main__":
    main()
