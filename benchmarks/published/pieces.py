"""A piece of a benchmark: one table, one protocol, one seed. What is finished of it is kept and found again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forecast_attn.config.options import RunConfig
from forecast_attn.errors import ConfigError
from forecast_attn.version import package_version
from published.child import forecast_of
from published.protocols import DAY, INNER_DAYS, Protocol, Stage, check_days, read_table

OF_BACKTEST = ("refit", "combine_with")
"""Beginnings of the names of options of a candidate that belong to the forecasts, not to the training."""
ESTIMATED_AS_TIME_PASSES = ("regression", "quantile-regression", "kernel-regression", "auto-ets", "auto-arima")
"""Baselines that learn from the rows they forecast from; others know what the network was trained on, or nothing."""


class ChangedError(Exception):
    """A folder holds a piece of another configuration."""


@dataclass(frozen=True)
class Piece:
    """One table, protocol and seed, and the options to try."""

    table: Path
    protocol: Protocol
    seed: int
    options: dict[str, Any]
    """Options of the `Forecaster` that were given."""
    candidates: tuple[dict[str, Any], ...]
    """Further options, of which the one with the best validation score is taken; at least one, which may be empty."""
    out: Path
    """Folder of all pieces."""

    @property
    def folder(self) -> Path:
        return self.out / self.table.stem / self.protocol.name / f"seed-{self.seed}"

    @property
    def result(self) -> Path:
        """Path of the finished result."""
        return self.folder / "result.json"

    def options_of(self, candidate: dict[str, Any], columns: list[str], stage: Stage) -> dict[str, Any]:
        """Options of a candidate's `Forecaster`.

        Raises:
            ConfigError: an unknown option, or one that the protocol decides.
        """
        fixed = self.protocol.fixed_options(columns, stage)
        given = {
            **self.options,
            **{name: value for name, value in candidate.items() if not name.startswith(OF_BACKTEST)},
        }
        for name in (*fixed, "item_id", "seed", "past_covariates", "future_covariates", "ignore"):
            if name in given and str(given[name]) != str(fixed.get(name)):
                raise ConfigError(
                    f"{name} is decided by protocol {self.protocol.name}, or by --seeds: {fixed.get(name, self.seed)}",
                    f"leave {name} out",
                )
        defaults: dict[str, Any] = {"accelerator": "cpu"}
        if stage.validation is None:
            defaults["validation"] = INNER_DAYS * DAY
        return {**defaults, **given, **fixed, "seed": self.seed}

    def backtest_of(self, candidate: dict[str, Any]) -> dict[str, Any]:
        """Options of `Forecaster.backtest`.

        Raises:
            ConfigError: refits where the protocol knows none, or a baseline that is estimated as days pass.
        """
        given = {name: value for name, value in candidate.items() if name.startswith(OF_BACKTEST)}
        late = [name for name in given if name.startswith("refit")]
        late += [name for name in str(given.get("combine_with", "")).split(",") if name in ESTIMATED_AS_TIME_PASSES]
        if late and not self.protocol.refits:
            raise ConfigError(
                f"protocol {self.protocol.name} trains once, on the first rows: {', '.join(late)} would go on learning",
                "leave it out; --candidate combine_with=median-regression is estimated once",
            )
        return {name: _number(value) for name, value in given.items()}

    def identity(self, columns: list[str], stage: Stage) -> dict[str, Any]:
        """Settings that the results depend on, all defaults filled in."""
        candidates = [
            {**RunConfig.from_options(self.options_of(each, columns, stage)).to_options(), **self.backtest_of(each)}
            for each in self.candidates
        ]
        return {
            "table": hashlib.sha256(self.table.read_bytes()).hexdigest(),
            "version": package_version(),
            "candidates": candidates,
        }


def run_piece(piece: Piece, *, test: bool, again: bool, say: Callable[[str], None]) -> dict[str, Any]:
    """Train, forecast and score what is not there yet.

    Args:
        piece: what to do.
        test: score the test part too, with the candidate that validation chose.
        again: throw away what is there.
        say: told what begins.

    Returns:
        What result.json holds.

    Raises:
        ChangedError: the folder holds another configuration.
        ConfigError, TableError: what cannot be run.
        RuntimeError: a process failed.
    """
    table = read_table(piece.table)
    if piece.protocol.is_daily:
        check_days(table, piece.table.name)
    columns, stages = list(table.columns), piece.protocol.stages(len(table))
    known = _prepare_folder(piece, piece.identity(columns, stages[0]), again)
    work = _Processes(piece, columns, say)
    result: dict[str, Any] = {
        "market": piece.table.stem,
        "protocol": piece.protocol.name,
        "seed": piece.seed,
        "options": piece.options,
        "configuration": known,
        "candidates": [],
    }
    for number, candidate in enumerate(piece.candidates):
        training, scores = work.stage(stages[0], number, candidate)
        result["candidates"].append({"options": candidate, "training": training, "validation": scores})
    errors = [each["validation"][piece.protocol.metric] for each in result["candidates"]]
    chosen = errors.index(min(errors))
    result |= {"chosen": chosen, "validation": result["candidates"][chosen]["validation"]}
    result["training"] = result["candidates"][chosen]["training"]
    if test or work.has_scores(stages[1], chosen):
        candidate = piece.candidates[chosen]
        last = piece.protocol.continued(len(table)) if "refit" in candidate else stages[1]
        result["training"], result["test"] = work.stage(last, chosen, candidate)
    write_json(piece.result, result)
    scored = " · ".join(f"{part} MAE {result[part]['mae']:.4f}" for part in ("validation", "test") if part in result)
    say(f"{piece.table.stem} {piece.protocol.name} seed {piece.seed}: {scored}")
    return result


class _Processes:
    """The processes of a piece, each run unless its result is there."""

    def __init__(self, piece: Piece, columns: list[str], say: Callable[[str], None]) -> None:
        self.piece, self.columns, self.say = piece, columns, say

    def stage(self, stage: Stage, number: int, candidate: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Records of a training and of the scores of its forecasts."""
        options = self.piece.options_of(candidate, self.columns, stage)
        # Candidates that differ in how they are refitted share a run; so do the stages of a protocol that trains once.
        run = self.piece.folder / f"run-{_digest({'known': stage.known, **options})}"
        record = run.with_suffix(".json")
        if not record.exists():
            shutil.rmtree(run, ignore_errors=True)  # a training that was killed
            self._child("train", record, options=options, known=stage.known, run=str(run))
        scores = self._scores(stage, number)
        if not scores.exists():
            piece = self.piece
            self._child(
                f"score {stage.name}",
                scores,
                run=str(run),
                start=stage.first if stage.start is None else stage.start,
                first=stage.first,
                end=stage.end,
                stride=stage.stride,
                horizon=piece.protocol.horizon,
                windows=stage.windows(piece.protocol.horizon),
                model=forecast_of({**piece.options, **candidate}),
                in_money=piece.protocol.in_money,
                training_rows=stage.known - (stage.validation or 0),
                backtest=piece.backtest_of(candidate),
                forecasts=str(scores.with_suffix(".parquet")),
            )
        return _read(record), _read(scores)

    def has_scores(self, stage: Stage, number: int) -> bool:
        """Return True if an earlier call scored it."""
        return self._scores(stage, number).exists()

    def _scores(self, stage: Stage, number: int) -> Path:
        return self.piece.folder / f"{stage.name}-{number}.json"

    def _child(self, what: str, out: Path, **task: Any) -> None:
        piece = self.piece
        self.say(f"{piece.table.stem} {piece.protocol.name} seed {piece.seed}: {what}")
        task_path = piece.folder / "task.json"
        write_json(task_path, {"kind": what.split()[0], "table": str(piece.table), "out": str(out), **task})
        if in_own_process(task_path, piece.folder / "log.txt"):
            lines = (piece.folder / "log.txt").read_text(encoding="utf-8").splitlines()[-12:]
            raise RuntimeError(f"{piece.folder}: {what} failed\n" + "\n".join(lines))
        task_path.unlink()


def in_own_process(task: Path, log: Path) -> int:
    """Do what a task file says, with `published.child`; its exit status."""
    home, others = str(Path(__file__).resolve().parent.parent), os.environ.get("PYTHONPATH")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([home, *([others] if others else [])])}
    environment.setdefault("OMP_NUM_THREADS", "1")
    with log.open("a", encoding="utf-8") as out:
        command = [sys.executable, "-P", "-m", "published.child", str(task)]
        return subprocess.run(command, env=environment, stdout=out, stderr=subprocess.STDOUT, check=False).returncode


def _prepare_folder(piece: Piece, identity: dict[str, Any], again: bool) -> dict[str, Any]:
    """The folder with the identity in it."""
    path = piece.folder / "configuration.json"
    identity = json.loads(json.dumps(identity))
    before = with_defaults(_read(path)) if path.exists() else None
    if before is not None and (before != identity or again):
        if not again and any(piece.folder.glob("*-*.json")):
            raise ChangedError(
                f"{piece.folder} holds another configuration ({'; '.join(_differences(before, identity))})\n"
                "hint: another --out, or --again to throw it away"
            )
        shutil.rmtree(piece.folder)
    piece.folder.mkdir(parents=True, exist_ok=True)
    write_json(path, identity)
    return identity


def with_defaults(identity: dict[str, Any]) -> dict[str, Any]:
    """An identity of before, with the options that are newer than it: their defaults mean what was done then."""
    defaults = json.loads(json.dumps(RunConfig().to_options()))
    return {**identity, "candidates": [{**defaults, **candidate} for candidate in identity["candidates"]]}


def _differences(old: Any, new: Any, name: str = "") -> Iterator[str]:
    """Differences, by name."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from _differences(old.get(key), new.get(key), key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for before, after in zip(old, new, strict=True):
            yield from _differences(before, after, name)
    elif old != new:
        yield f"{name}: {_short(old)} there, {_short(new)} asked for"


def _number(value: Any) -> Any:
    """The number that a text is, or the text."""
    for kind in (int, float):
        try:
            return kind(value) if isinstance(value, str) else value
        except ValueError:
            continue
    return value


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def write_json(path: Path, content: Any) -> None:
    """Whole or not at all."""
    part = path.with_name(path.name + ".partial")
    part.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)
