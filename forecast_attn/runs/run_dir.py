"""A run directory: the names of its files, whether it is finished, and how it is found. Nobody else knows these.

config.json                    the options, the seed that was drawn, the data file's name and sha256
schema.json                    learned from the data: roles, frequency, sizes, scalers
model.safetensors              weights of the best validation epoch so far; in the end those of the training on all rows
validated.safetensors          where there was one, those of the best validation epoch
history.csv                    one row per epoch
calibration.json               how far the quantiles of a forecast are moved, where they are calibrated
metrics.json                   written last: a directory without it is an unfinished run
manifest.json                  size and SHA-256 of every file above, and of the next three, as training left them
tail.parquet                   the end of every series, so that a bare `forecast predict` works
added.parquet                  of `forecast update`: the rows behind the table of the first training
validation_attention.parquet   attention over windows of the validation stretch
predictions.csv                forecasts of `forecast predict`
reconciled.csv                 the same, made to add up by `forecast reconcile`
attention.parquet              the attention behind them
model.onnx                     the network for `forecast predict --runtime onnx`, by `forecast export`
samples.parquet                paths drawn by `forecast predict --samples`
backtest.parquet               forecasts of past cut-offs beside the actual values, by `forecast backtest`
backtest.json                  their scores, skill, tests and folds
anomalies.csv                  scores of rows by `forecast score`
audit.json                     whether that attention can be believed, by `forecast audit`
report.html                    all that is known of the run on one page, by `forecast report`
tracking.json                  logger of the training, and the number of its run there
tracking/                      files of that logger
search.json                    of the winner of `forecast tune`: the options searched, and every trial
last.ckpt                      state for `train --resume`, deleted when training ends
members/0/, members/1/, …      the members of an ensemble: each a run of its own, which shares the ensemble's
                               config.json, schema.json and tail.parquet
"""

import contextlib
import csv
import hashlib
import itertools
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from forecast_attn.errors import ConfigError, RunError, shell_command
from forecast_attn.runs import documents
from forecast_attn.runs.atomic import (
    PARTIAL_SUFFIX,
    check_name,
    is_partial,
    remove_partials,
    replacing,
    write_atomically,
    write_errors_of,
)
from forecast_attn.runs.migrations import FORMAT_VERSION, upgraded
from forecast_attn.runs.validators import ValidationError, anything, check
from forecast_attn.urls import url_of, without_secrets

RUNS = Path("runs")
SCRATCH = "forecast-attn-"
"""Prefix of the names of temporary directories."""
MEMBERS = "members"
CONFIG = "config.json"
DAMAGED_HINT = "restore the run from a copy, or train again"
_FORMS = {
    CONFIG: documents.CONFIG,
    "schema.json": documents.SCHEMA,
    "metrics.json": documents.METRICS,
    "calibration.json": documents.CALIBRATION,
    "manifest.json": documents.MANIFEST,
    "audit.json": documents.AUDIT,
    "search.json": documents.SEARCH,
    "tracking.json": documents.TRACKING,
}
"""Schemas of the JSON files by name; a file of another name is checked by its reader."""
LARGEST_JSON = 2**30
"""Bytes; a schema of a million series has a tenth of it."""


@dataclass(frozen=True)
class DataSource:
    """Origin of a table; digests are None where there is no file."""

    name: str
    sha256: str | None
    vintages_sha256: str | None = None
    """Digest of the table of future covariates as they were forecast."""

    def to_dict(self) -> dict[str, str | None]:
        """JSON-able."""
        return {"file": self.name, "sha256": self.sha256, "vintages_sha256": self.vintages_sha256}


class RunDir:
    """Folder of a run."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.home = _home_of(self.path)
        """Folder of config.json and schema.json: of a member, the ensemble's."""
        self.config = self.home / CONFIG
        self.schema = self.home / "schema.json"
        self.model = self.path / "model.safetensors"
        self.validated = self.path / "validated.safetensors"
        self.history = self.path / "history.csv"
        self.calibration = self.path / "calibration.json"
        self.metrics = self.path / "metrics.json"
        self.manifest = self.home / "manifest.json"
        self.tail = self.home / "tail.parquet"
        self.added = self.home / "added.parquet"
        self.validation_attention = self.path / "validation_attention.parquet"
        self.predictions = self.path / "predictions.csv"
        self.reconciled = self.path / "reconciled.csv"
        self.attention = self.path / "attention.parquet"
        self.exported = self.path / "model.onnx"
        self.samples = self.path / "samples.parquet"
        self.backtest = self.path / "backtest.parquet"
        self.backtest_scores = self.path / "backtest.json"
        self.anomalies = self.path / "anomalies.csv"
        self.audit = self.path / "audit.json"
        self.report = self.path / "report.html"
        self.search = self.path / "search.json"
        self.tracking = self.path / "tracking.json"
        self.tracked = self.path / "tracking"
        self.checkpoint = self.path / "last.ckpt"
        self._digests: dict[str, Any] | None = None
        self._unaltered: set[Path] = set()
        self.final_fit = self.path / "final_fit"

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
            for leftover in path.iterdir():  # of a training that was killed before it had a config.json
                leftover.unlink()
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
        if not missing and run.read_json(run.metrics).get("manifest") and not run.manifest.is_file():
            missing = [run.manifest.name]
        if missing and run.is_finished:
            raise RunError(f"'{run.path}' is damaged: missing {', '.join(missing)}", DAMAGED_HINT)
        if missing:
            raise RunError(
                f"'{run.path}' is an unfinished run: missing {', '.join(missing)}",
                f"continue it with: {run.resume_command}",
            )
        return run

    @classmethod
    def newest(cls, folder: Path = RUNS) -> Self:
        """The finished run of a folder, such as runs/, that was completed last.

        Raises:
            RunError: there is none.
        """
        finished = [path.parent for path in folder.glob("*/metrics.json")]
        if not finished:
            raise RunError(f"there is no finished run under {folder}/", "train one: forecast train data.csv")
        return cls(max(finished, key=lambda path: ((path / "metrics.json").stat().st_mtime_ns, path.name)))

    def check_is_run(self) -> None:
        """Raise RunError unless this is a run directory this version can read."""
        check_name(self.path)
        if not self.path.is_dir():
            raise RunError(f"there is no run '{self.path}'", _known_runs())
        if not os.path.lexists(self.config):
            raise RunError(f"'{self.path}' is not a run: it has no config.json", _known_runs())
        check_holds_its_own_files(self.home)
        self.read_json(self.config)

    @property
    def is_finished(self) -> bool:
        return self.metrics.is_file()

    @property
    def was_interrupted(self) -> bool:
        """True for a finished run whose training Ctrl-C ended."""
        return bool(self.read_json(self.metrics).get("ended") == "interrupted")

    @property
    def is_complete(self) -> bool:
        """True for a run that is finished and was not interrupted: there is nothing to resume."""
        return self.is_finished and not self.was_interrupted

    @property
    def epochs(self) -> list[dict[str, str]]:
        """Rows of history.csv, as far as there are."""
        if not self.history.is_file():
            return []
        with self.history.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    @property
    def is_temporary(self) -> bool:
        """Return whether the user named no folder for it."""
        folder, temporary = self.path.resolve(), Path(tempfile.gettempdir()).resolve()
        return folder.is_relative_to(temporary) and folder.relative_to(temporary).parts[0].startswith(SCRATCH)

    @property
    def title(self) -> str:
        """Name of the folder; of a temporary one, the mechanism.

        Raises:
            RunError: config.json of a temporary one cannot be read.
        """
        if self.is_temporary:
            return str(self.read_json(self.config)["options"]["model"]["attention"])
        return self.path.resolve().name

    @property
    def resume_command(self) -> str:
        """The command that goes on with this training, with the place of its log where that is not in the run."""
        log_to = None
        with contextlib.suppress(RunError):
            log_to = self.read_json(self.tracking)["log_to"]
        return shell_command("train", "--resume", self.home, *(() if log_to is None else ("--log-to", log_to)))

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
        """Return a member of an ensemble, counted from 0; its folder need not exist yet."""
        return type(self)(self.path / MEMBERS / str(number))

    @property
    def members(self) -> list[Self]:
        """Members that have a folder; none if the run is not an ensemble."""
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
        """Read one of the run's JSON files, which has the form that its name promises.

        Raises:
            RunError: missing, damaged, altered since training, or from a newer version.
        """
        try:
            if path.stat().st_size > LARGEST_JSON:
                raise RunError(f"'{path}' is damaged: it is larger than any of its kind", DAMAGED_HINT)
            text = path.read_bytes()
        except OSError as error:
            raise RunError(f"cannot read '{path}': {error.strerror}", DAMAGED_HINT) from None
        content = _parsed(path, text)
        try:
            content = upgraded(content)
            check(content, _FORMS.get(path.name, anything))
        except ValidationError as error:
            raise RunError(f"'{path}' is damaged: {error}", DAMAGED_HINT) from None
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, ConfigError) as error:
            raise RunError(f"'{path}' is damaged: {error!r}", DAMAGED_HINT) from None
        if path in (self.config, self.schema, self.metrics, self.calibration):
            self._check_digest(path, len(text), lambda: hashlib.sha256(text).hexdigest())
        return content

    def unaltered(self, path: Path) -> Path:
        """Return the path of a file that training wrote, after checking that it is unaltered.

        Raises:
            RunError: missing, or altered since training.
        """
        if path not in self._unaltered:
            if not path.is_file():
                raise RunError(f"'{self.path}' is damaged: missing {path.name}", DAMAGED_HINT)
            self._check_digest(path, path.stat().st_size, lambda: sha256_of(path))
            self._unaltered.add(path)
        return path

    def lists(self, path: Path) -> bool:
        """Return whether the manifest has a file that was made of the run, just as it is now; see `list_file`."""
        files: dict[str, Any] = self.read_json(self.manifest)["files"]
        return files.get(path.relative_to(self.home).as_posix()) == _entry(path)

    def list_file(self, path: Path) -> None:
        """Add a file made of the run to its manifest, which forgets it when the run is trained again."""
        content = self.read_json(self.manifest)
        files = {**content["files"], path.relative_to(self.home).as_posix(): _entry(path)}
        self.write_json(self.manifest, {"files": dict(sorted(files.items()))})
        self._forget_digests()

    @property
    def has_manifest(self) -> bool:
        """True where digests of the run's files are known; earlier versions kept that of the weights only."""
        return self.manifest.is_file() and (self.home / self.metrics.name).is_file()

    def _check_digest(self, path: Path, size: int, digest: Callable[[], str]) -> None:
        if not self.has_manifest:
            return
        if self._digests is None:
            self._digests = self.read_json(self.manifest)["files"]
        known = self._digests.get(path.relative_to(self.home).as_posix())
        if known is None:
            raise RunError(f"'{self.manifest}' is damaged: it does not know {path.name}", DAMAGED_HINT)
        if known["bytes"] != size or known["sha256"] != digest():
            raise RunError(f"'{path}' was altered or cut short since training", DAMAGED_HINT)

    def write_json(self, path: Path, content: dict[str, Any]) -> None:
        """Write one of the run's JSON files, whole or not at all."""
        write_atomically(path, _json_text(content))

    def finish(self, metrics: dict[str, Any]) -> None:
        """Write the manifest of all files, and then metrics.json: the run is finished."""
        text = _json_text({**metrics, "manifest": self.manifest.name})
        files = {path.relative_to(self.home).as_posix(): path for path in self._written_by_training(metrics)}
        entries = {name: _entry(path) for name, path in files.items()}
        entries[self.metrics.name] = {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
        self.write_json(self.manifest, {"files": dict(sorted(entries.items()))})
        self._forget_digests()
        write_atomically(self.metrics, text)

    def reopen(self) -> None:
        """Make a finished run an unfinished one again, which training goes on with."""
        self.metrics.unlink(missing_ok=True)
        self.manifest.unlink(missing_ok=True)
        self._forget_digests()

    def _written_by_training(self, metrics: dict[str, Any]) -> Iterator[Path]:
        """The files there are, but for metrics.json of the run itself; the checkpoint where it is kept."""
        paths = [self.config, self.schema, self.tail, self.added]
        for part in {self.path: self, **{member.path: member for member in self.members}}.values():
            paths += [part.model, part.validated, part.history, part.calibration, part.validation_attention]
            paths += [part.metrics] if part.is_member else []
            paths += [part.checkpoint] if metrics["ended"] == "interrupted" else []
        return (path for path in paths if path.is_file())

    def _forget_digests(self) -> None:
        self._digests = None
        self._unaltered.clear()

    @contextlib.contextmanager
    def writing(self, path: Path) -> Iterator[Any]:
        """A stream to one of the run's files, which appears whole or not at all."""
        with write_errors_of(path), replacing(path) as stream:
            yield stream

    def remove_leftovers(self) -> None:
        """Delete what a killed process left half-written."""
        for folder in (self.path, *(member.path for member in self.members)):
            remove_partials(folder)
            folder.joinpath(f".{self.checkpoint.name}{PARTIAL_SUFFIX}").unlink(missing_ok=True)


def runs_in(folder: Path) -> list[RunDir]:
    """The runs in a folder, finished or not, by name."""
    return [RunDir(path.parent) for path in sorted(folder.glob(f"*/{CONFIG}"))]


def check_holds_its_own_files(folder: Path) -> None:
    """Refuse a folder, which may be somebody else's, whose files lie outside it or are no files.

    Raises:
        RunError: a link leads out of it, or there is a pipe, a device or a socket.
    """
    root = os.path.realpath(folder)
    for parent, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(parent, name)  # noqa: PTH118 - faster than Path for the many files of an ensemble
            shown = folder / os.path.relpath(path, root)
            if os.path.islink(path):  # noqa: PTH114
                if not os.path.realpath(path).startswith(f"{root}{os.sep}"):
                    raise RunError(f"'{shown}' is a link out of the run", "remove it: a run holds its own files")
            elif name in files and not os.path.isfile(path):  # noqa: PTH113
                raise RunError(f"'{shown}' is not a regular file", "remove it: a run holds its own files")


def _parsed(path: Path, text: bytes) -> dict[str, Any]:
    """A JSON object with a format that this version reads.

    Raises:
        RunError: damaged, or from a newer version.
    """
    try:
        content = json.loads(text.decode(), parse_constant=_no_constant)
        version = content["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        version = None
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise RunError(f"'{path}' is damaged: it is not the JSON this tool writes", DAMAGED_HINT)
    if version > FORMAT_VERSION:
        raise RunError(
            f"'{path}' has format {version}; this version reads up to {FORMAT_VERSION}",
            "update with: pip install --upgrade forecast-attn",
        )
    return dict(content)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _json_text(content: dict[str, Any]) -> bytes:
    """A document with its format; paths that are no UTF-8 are escaped."""
    document = {"format": FORMAT_VERSION, **content}
    try:
        return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(document, indent=1, allow_nan=False) + "\n").encode()


def _entry(path: Path) -> dict[str, Any]:
    """Entry of a file in the manifest."""
    return {"bytes": path.stat().st_size, "sha256": sha256_of(path)}


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
    check_name(path)
    if (url := url_of(path)) is not None:
        raise RunError(f"'{without_secrets(url)}' is a URL, and a run is a folder", "--out DIR, and copy it there")
    if str(path) == "-":
        raise RunError("'-' is stdout, and a run is a folder", "--out DIR")
    if _home_of(path) != path:
        raise RunError(f"'{path}' belongs to the run '{_home_of(path)}'", "choose another --out")
    if path.exists() and (not path.is_dir() or any(path.iterdir())) and not was_killed_at_the_start(path):
        run = RunDir(path)
        unfinished = run.config.is_file() and not run.is_finished
        or_continue = f", or continue the run with: {run.resume_command}" if unfinished else ""
        raise RunError(f"'{path}' exists and is not an empty folder", f"choose another --out{or_continue}")
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        what = "may not be written to" if there.is_dir() else "is not a folder"
        raise RunError(f"cannot write '{path}': '{there}' {what}", "choose another --out")


def was_killed_at_the_start(path: Path) -> bool:
    """Return True for a folder that is empty, or holds only what training writes before config.json."""
    run = RunDir(path)
    if not path.is_dir():
        return False
    names = {entry.name for entry in path.iterdir()}
    written_first = {name for name in names if is_partial(name) or name in (run.schema.name, run.tail.name)}
    return names == written_first and (run.schema.name not in names or _is_schema(run.schema))


def _is_schema(path: Path) -> bool:
    """Return True for a schema.json of this tool, False for a user's file of that name."""
    try:
        content = _parsed(path, path.read_bytes())
    except (OSError, RunError):
        return False
    return {"roles", "frequency", "scaler"} <= content.keys()


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
