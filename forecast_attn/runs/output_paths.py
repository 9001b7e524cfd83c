"""Files that somebody asks to be written: refused, before any work, where that would destroy what is read."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from forecast_attn.errors import ConfigError, RunError
from forecast_attn.runs.run_dir import CONFIG, RunDir
from forecast_attn.urls import url_of, without_secrets


def refuse_outputs(
    written: Mapping[str, Path | None], *, read: Iterable[Path | None], runs: Iterable[RunDir | None]
) -> None:
    """Refuse to write over a file that is read, over one of a run, two results into one, or into no folder.

    Args:
        written: option -> file; what is not asked for is None.
        read: files the command reads.
        runs: the runs it reads; their files and the tables they were trained on are kept, too.

    Raises:
        ConfigError: a file is needed, or two options name one.
        RunError: the folder of a file is missing or may not be written to.
    """
    named = {option: path for option, path in written.items() if path is not None}
    kept = [path for path in read if path is not None]
    kept += [path for run in runs if run is not None for path in files_of(run)]
    for option, path in named.items():
        if any(_same(path, other) for other in kept):
            raise ConfigError(f"{option} '{path}' is a file that is read or belongs to the run", "name another file")
        check_folder(path)
    for (option, path), (other, second) in itertools.combinations(named.items(), 2):
        if os.path.realpath(path) == os.path.realpath(second) and not _is_device(path):
            raise ConfigError(f"{option} and {other} both write '{path}'", "give each a file of its own")


def check_folder(path: Path) -> None:
    """Say before the work, not after it, that its result cannot be written.

    Raises:
        RunError: the folder is missing or may not be written to.
        ConfigError: a URL.
    """
    refuse_url(path)
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise RunError(f"cannot write '{path}': there is no folder '{path.parent}'", f"mkdir -p '{path.parent}'")
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
    yield from (path for path in vars(run).values() if isinstance(path, Path) and path.is_file())
    yield from run.path.rglob("*.safetensors")
    recorded = run.read_json(run.config)["data"] if (run.home / CONFIG).is_file() else {}
    if recorded.get("sha256") is not None:
        from forecast_attn.data.reading import parts_of

        yield Path(recorded["file"])
        yield from (part.path for part in parts_of(recorded["file"]))


def _same(path: Path, other: Path) -> bool:
    return path.exists() and other.exists() and path.samefile(other) and not _is_device(path)


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()
