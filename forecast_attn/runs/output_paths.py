"""Output files, refused before any work where writing one would destroy an input."""

from __future__ import annotations

import fnmatch
import itertools
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from forecast_attn.errors import ConfigError, RunError
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.urls import url_of, without_secrets

FORMS = {".csv": ".csv", ".parquet": ".parquet", ".pq": ".parquet", ".json": ".json"}
"""Ending of a name -> that of the form that it promises."""
FREE: Mapping[str, str] = {}
"""No option that writes one form alone."""


def refuse_outputs(
    written: Mapping[str, Path | None],
    *,
    read: Iterable[object] = (),
    runs: Iterable[RunDir | None] = (),
    results: Iterable[Path] = (),
    forms: Mapping[str, str] = FREE,
) -> None:
    """Refuse to write over a file that is read, over one of a run, two results into one, or where no file can be.

    A file that is named like one of another form is refused too.

    Args:
        written: option -> file; None for an option that is not given.
        read: tables the command reads; those that are no files (a DataFrame, - for stdin) are left out.
        runs: the runs it reads; their files and the tables they were trained on are kept, too.
        results: files of a run that the command is there to write.
        forms: option -> ending of the form that it writes, such as .csv.

    Raises:
        ConfigError: a file is needed, two options name one, or a name ends as another form does.
        RunError: a file is a folder, or its folder is missing or may not be written to.
    """
    named = {option: path for option, path in written.items() if path is not None}
    tables = [_path_of(table) for table in read if isinstance(table, str | Path) and str(table) != "-"]
    kept = [file for run in runs if run is not None for file in files_of(run)]
    allowed = {os.path.realpath(result) for result in results}
    for option, path in named.items():
        check_file(path)
        needed = () if os.path.realpath(path) in allowed else (*tables, *kept, *_run_around(path))
        if any(_is_part_of(path, table) for table in needed):
            raise ConfigError(f"{option} '{path}' is a file that is read or belongs to a run", "name another file")
        if (form := forms.get(option)) is not None and FORMS.get(path.suffix.lower(), form) != form:
            hint = f"{option} {shlex.quote(str(path.with_suffix(form)))}"
            raise ConfigError(f"{option} writes a {form}; got '{path.name}'", hint)
    for (option, path), (other, second) in itertools.combinations(named.items(), 2):
        if os.path.realpath(path) == os.path.realpath(second) and not _is_device(path):
            raise ConfigError(f"{option} and {other} both write '{path}'", "give each a file of its own")


def check_file(path: Path) -> None:
    """Refuse, before the work, a file that cannot be written.

    Raises:
        RunError: the file is a folder, or its folder is missing or may not be written to.
        ConfigError: a URL, or - for stdout.
    """
    refuse_url(path)
    if str(path) == "-":
        raise ConfigError("'-' is stdout, and this is a file", "name a file")
    if path.is_dir():
        raise RunError(f"cannot write '{path}': it is a folder", "name a file in it")
    if not _is_device(path):
        check_folder(path)


def check_folder(path: Path) -> None:
    """Refuse, before the work, a folder in which the result cannot be written.

    Raises:
        RunError: the folder is missing or may not be written to.
        ConfigError: a URL.
    """
    refuse_url(path)
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        hint = "name a file elsewhere" if folder.exists() else f"mkdir -p '{path.parent}'"
        raise RunError(f"cannot write '{path}': there is no folder '{path.parent}'", hint)
    if not os.access(folder, os.W_OK):
        raise RunError(f"cannot write '{path}': '{path.parent}' may not be written to", "name a file elsewhere")


def refuse_url(path: Path | None) -> None:
    """Refuse to write a file at a URL.

    Raises:
        ConfigError: the path is one.
    """
    if (url := url_of(path)) is not None:
        hint = "write a file and copy it there; folders of predict --partitioned may be at a URL"
        raise ConfigError(f"cannot write '{without_secrets(url)}': not to a URL", hint)


def files_of(run: RunDir) -> Iterator[Path]:
    """The files a run consists of, and the table it was trained on; not what a user has drawn into its folder."""
    yield from _files_in(run)
    yield from run.path.rglob("*.safetensors")
    recorded = run.read_json(run.config)["data"] if run.config.is_file() else {}
    if recorded.get("sha256") is not None:
        yield _path_of(recorded["file"])


def _files_in(run: RunDir) -> Iterator[Path]:
    return (path for path in vars(run).values() if isinstance(path, Path) and path.is_file())


def _run_around(path: Path) -> Iterator[Path]:
    """The files of the run in whose folder a path is, whether or not the command reads that run."""
    run = RunDir(Path(os.path.realpath(path)).parent)
    return _files_in(run) if run.config.is_file() and run.model.is_file() else iter(())


def _path_of(table: str | Path) -> Path:
    """The path of a table, also of one that a URL names on this machine."""
    scheme, _, path = (url_of(table) or "").partition("://")
    return Path(path if scheme in ("file", "local") else table)


def _is_part_of(path: Path, table: Path) -> bool:
    """Tell whether a path is a table that is read: its file, or one of those in its folder or of its pattern."""
    if not path.exists() or _is_device(path):
        return False
    if table.is_file():
        return path.samefile(table)
    from forecast_attn.data.reading.parts import is_parquet

    file, name = os.path.realpath(path), os.path.realpath(table)
    return is_parquet(path) and (Path(name) in Path(file).parents or fnmatch.fnmatch(file, name))


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()
