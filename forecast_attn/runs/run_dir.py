"""A run directory: the names of its files, whether it is finished, and how it is found. Nobody else knows these.

config.json                    what was asked, the seed that was drawn, the data file's name and sha256
schema.json                    what the data taught: roles, frequency, sizes, scalers
model.safetensors              weights of the best validation epoch so far
history.csv                    one row per epoch
calibration.json               how far the quantiles of a forecast are moved, where they are calibrated
metrics.json                   written last: a directory without it is an unfinished run
tail.parquet                   the end of every series, so that a bare `forecast predict` works
validation_attention.parquet   attention over windows of the validation stretch
predictions.csv                forecasts of `forecast predict`
attention.parquet              the attention behind them
samples.parquet                paths drawn by `forecast predict --samples`
backtest.parquet               forecasts of past cut-offs beside what came, by `forecast backtest`
backtest.json                  what they say: scores, skill, tests, folds
audit.json                     whether that attention can be believed, by `forecast audit`
last.ckpt                      state for `train --resume`, deleted when training ends
members/0/, members/1/, …      the members of an ensemble: each a run of its own, which shares the ensemble's
                               config.json, schema.json and tail.parquet
"""

import contextlib
import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from forecast_attn.errors import RunError
from forecast_attn.runs.atomic import PARTIAL_SUFFIX, replacing, write_atomically, write_errors_of
from forecast_attn.runs.formats import FORMAT_VERSION, upgraded

RUNS = Path("runs")
SCRATCH = "forecast-attn-"
"""Prefix of the names of temporary directories."""
MEMBERS = "members"
CONFIG = "config.json"
DAMAGED_HINT = "restore the run from a copy, or train again"


@dataclass(frozen=True)
class DataSource:
    """Origin of a table; digests are None where there is no file."""

    name: str
    sha256: str | None
    vintages_sha256: str | None = None
    """Digest of the table of future covariates as they were forecast."""


class RunDir:
    """One run's folder."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.home = _home_of(self.path)
        """Where what was asked and what the data taught are: of a member, the ensemble's folder."""
        self.config = self.home / CONFIG
        self.schema = self.home / "schema.json"
        self.model = self.path / "model.safetensors"
        self.history = self.path / "history.csv"
        self.calibration = self.path / "calibration.json"
        self.metrics = self.path / "metrics.json"
        self.tail = self.home / "tail.parquet"
        self.validation_attention = self.path / "validation_attention.parquet"
        self.predictions = self.path / "predictions.csv"
        self.attention = self.path / "attention.parquet"
        self.samples = self.path / "samples.parquet"
        self.backtest = self.path / "backtest.parquet"
        self.backtest_scores = self.path / "backtest.json"
        self.audit = self.path / "audit.json"
        self.checkpoint = self.path / "last.ckpt"

    # ------------------------------------------------------------------ finding and making

    @classmethod
    def create(cls, path: Path) -> Self:
        """Make a new, empty run directory.

        Raises:
            RunError: the folder holds something already, or cannot be made.
        """
        check_is_free(path)
        with write_errors_of(path):
            path.mkdir(parents=True, exist_ok=True)
        return cls(path)

    @classmethod
    def open_finished(cls, path: Path | None) -> Self:
        """The named run, or the newest finished one under runs/.

        Raises:
            RunError: no such run, an unfinished one, or one of a newer format.
        """
        run = cls(path) if path is not None else cls.newest()
        run.check_is_run()
        weights = [part.model for part in run.parts]
        missing = [file.name for file in (run.schema, *weights, run.metrics, run.tail) if not file.is_file()]
        if missing and run.is_finished:
            raise RunError(f"'{run.path}' is damaged: missing {', '.join(missing)}", DAMAGED_HINT)
        if missing:
            raise RunError(
                f"'{run.path}' is an unfinished run: missing {', '.join(missing)}",
                f"continue it with: forecast train --resume {run.home}",
            )
        return run

    @classmethod
    def newest(cls) -> Self:
        """The finished run under runs/ that was completed last."""
        finished = [path.parent for path in RUNS.glob("*/metrics.json")]
        if not finished:
            raise RunError("there is no finished run under runs/", "train one: forecast train data.csv")
        return cls(max(finished, key=lambda path: ((path / "metrics.json").stat().st_mtime_ns, path.name)))

    def check_is_run(self) -> None:
        """Raise RunError unless this is a run directory this version can read."""
        if not self.path.is_dir():
            raise RunError(f"there is no run '{self.path}'", _known_runs())
        if not self.config.is_file():
            raise RunError(f"'{self.path}' is not a run: it has no config.json", _known_runs())
        self.read_json(self.config)

    @property
    def is_finished(self) -> bool:
        return self.metrics.is_file()

    # ------------------------------------------------------------------ members of an ensemble

    @property
    def is_member(self) -> bool:
        """Return whether this is a member of an ensemble."""
        return self.home != self.path

    @property
    def number(self) -> int:
        """Number of a member, from 0."""
        return int(self.path.name)

    def member(self, number: int) -> Self:
        """One of an ensemble's members, counted from 0; its folder need not exist yet."""
        return type(self)(self.path / MEMBERS / str(number))

    @property
    def members(self) -> list[Self]:
        """Those that have a folder; none where the run is no ensemble."""
        there = itertools.takewhile(lambda member: member.path.is_dir(), map(self.member, itertools.count()))
        return list(there)

    @property
    def parts(self) -> list[Self]:
        """Directories of the networks: the members, or the run itself."""
        return self.members or [self]

    def make_member(self, number: int) -> Self:
        """The member with a folder, which may be there already.

        Raises:
            RunError: it cannot be made.
        """
        member = self.member(number)
        with write_errors_of(member.path):
            member.path.mkdir(parents=True, exist_ok=True)
        return member

    # ------------------------------------------------------------------ reading and writing

    def read_json(self, path: Path) -> dict[str, Any]:
        """One of the run's JSON files.

        Raises:
            RunError: missing, damaged, or from a newer version.
        """
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            version = content["format"]
        except OSError as error:
            raise RunError(f"cannot read '{path}': {error.strerror}", DAMAGED_HINT) from None
        except (ValueError, KeyError, TypeError, RecursionError):
            version = None
        if not isinstance(version, int):
            raise RunError(f"'{path}' is damaged: it is not the JSON this tool writes", DAMAGED_HINT)
        if version > FORMAT_VERSION:
            raise RunError(
                f"'{path}' has format {version}; this version reads up to {FORMAT_VERSION}",
                "update with: pip install --upgrade forecast-attn",
            )
        try:
            return upgraded(content)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RunError(f"'{path}' is damaged: {error!r}", DAMAGED_HINT) from None

    def write_json(self, path: Path, content: dict[str, Any]) -> None:
        text = json.dumps({"format": FORMAT_VERSION, **content}, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(path, text + "\n")

    @contextlib.contextmanager
    def writing(self, path: Path) -> Iterator[Any]:
        """A stream to one of the run's files, which appears whole or not at all."""
        with write_errors_of(path), replacing(path) as stream:
            yield stream

    def remove_leftovers(self) -> None:
        """Delete what a killed process left half-written."""
        for folder in (self.path, *(member.path for member in self.members)):
            for partial in folder.glob(f".*{PARTIAL_SUFFIX}"):
                partial.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """Hexadecimal digest of a file, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def fresh_path(attention: str) -> Path:
    """runs/<time>-<mechanism>, numbered when two runs start within a second."""
    stem = f"{datetime.now():%Y-%m-%dT%H-%M-%S}-{attention}"
    names = [stem, *(f"{stem}-{count}" for count in range(2, 1000))]
    return next(RUNS / name for name in names if not (RUNS / name).exists())


def check_is_free(path: Path) -> None:
    """Raise RunError unless a run directory may be made at this path."""
    if _home_of(path) != path:
        raise RunError(f"'{path}' belongs to the run '{_home_of(path)}'", "choose another --out")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        run = RunDir(path)
        unfinished = run.config.is_file() and not run.is_finished
        or_continue = f", or continue the run with: forecast train --resume {path}" if unfinished else ""
        raise RunError(f"'{path}' exists and is not an empty folder", f"choose another --out{or_continue}")


def _home_of(path: Path) -> Path:
    """The folder of the ensemble that a path is a member of; else the path itself."""
    home = path.parent.parent
    is_member = path.parent.name == MEMBERS and path.name.isdecimal() and not (path / CONFIG).is_file()
    return home if is_member and (home / CONFIG).is_file() else path


def _known_runs() -> str:
    finished = sorted(str(path.parent) for path in RUNS.glob("*/metrics.json"))
    if not finished:
        return "there is no finished run under runs/; train one: forecast train data.csv"
    return f"finished runs: {', '.join(finished[-5:])}"
