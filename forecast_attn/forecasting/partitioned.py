"""Forecasts of a table in several files, file by file: a file in, a file out, in this process or on a Ray cluster."""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray

from forecast_attn.attention_file import DumpChoice
from forecast_attn.baselines.registry import check_baselines
from forecast_attn.cluster import shared_out
from forecast_attn.data.findings import Finding, quoted
from forecast_attn.data.reading import Source, parts_of
from forecast_attn.data.reading.parts import TablePart
from forecast_attn.devices import choose_device
from forecast_attn.errors import ConfigError, DataError, RunError
from forecast_attn.forecasting.model import load_model
from forecast_attn.forecasting.predict import (
    ForecastRequest,
    LoadedRun,
    PreparedForecast,
    check_members,
    forecast_prepared,
)
from forecast_attn.runs.atomic import check_name, replacing, write_errors_of
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.targets import check_folder


@dataclass(frozen=True)
class PartForecast:
    """Outcome of one file."""

    name: str
    """Its path below the folder of the table, and below the folders that are written."""
    series: int
    """Series with a forecast."""
    rows: int
    """Rows of forecasts."""
    skipped: tuple[str, ...]
    """Series shorter than the lookback, which have no forecast."""
    cold: tuple[str, ...]
    """Series that training did not see."""
    findings: tuple[Finding, ...]
    """Notes and warnings about the file."""


@dataclass(frozen=True)
class PartitionedForecast:
    """Result of `predict_parts`."""

    out: Path
    """Folder of the forecasts: a Parquet file for each of the table."""
    attention_out: Path | None
    """Folder of the weights, where they were asked for."""
    parts: tuple[PartForecast, ...]

    @property
    def series(self) -> int:
        """Series with a forecast."""
        return sum(part.series for part in self.parts)

    @property
    def rows(self) -> int:
        """Rows of forecasts."""
        return sum(part.rows for part in self.parts)

    @property
    def skipped(self) -> tuple[str, ...]:
        """Series shorter than the lookback, which have no forecast."""
        return tuple(name for part in self.parts for name in part.skipped)

    @property
    def predictions(self) -> pd.DataFrame:
        """All forecasts, read from the files: they must fit into memory."""
        return pd.concat([pd.read_parquet(self.out / part.name) for part in self.parts], ignore_index=True)


def forecast_parts(
    run: RunDir, data: Path | str, request: ForecastRequest, on_part: Callable[[PartForecast], None] | None = None
) -> PartitionedForecast:
    """Forecast each file of a table by itself, as if it were the whole table.

    Memory is that of one file per process. The folders appear when all files are done, and not at all otherwise.

    Args:
        run: finished.
        data: a folder of Parquet files, or a pattern; each series is in one of them.
        request: with the folders to write as `out` and `attention_out`; a folder as `future` has files of the names of
            those of `data`.
        on_part: hears of each file when it and all before it are done.

    Raises:
        ConfigError: an option that is for one table only.
        DataError: what is wrong with a file, or a series is in two of them.
        RunError: the run is damaged, or a folder exists already or cannot be written.
    """
    parts = parts_of(data)
    if not parts:
        raise DataError(f"'{data}' is not a table in several Parquet files", "leave --partitioned out")
    out = _checked(request)
    loaded = LoadedRun(run, load_model(run))
    check_members(loaded.model, request)
    if request.attention_out is not None and not loaded.model.has_attention:
        raise ConfigError("a model without attention has no weights to write", "leave out --attention-out")
    _ = loaded.weights, loaded.left_out  # are kept once read: the machines of a cluster need not have the run
    futures = _futures(request.future, parts)
    if request.engine == "local":
        choose_device(request.accelerator)
    done, hashes, shared = [], [], shared_out(request.engine, accelerator=request.accelerator)
    with _appearing(out) as folder, _appearing(request.attention_out) as weights, shared as in_order:
        assert folder is not None
        wanted = replace(request, out=folder, attention_out=weights, data=None, future=None, on_dump=None)
        tasks = (_Task(part, future) for part, future in zip(parts, futures, strict=True))
        for forecast, items in in_order(_forecast_part, _PartsWork(loaded, wanted), tasks):
            done.append(forecast)
            hashes.append(items)
            if on_part is not None:
                on_part(forecast)
        _check_written(folder, parts)
        _check_series(folder, parts, hashes)
    return PartitionedForecast(out, request.attention_out, tuple(done))


class _Task(NamedTuple):
    part: TablePart
    future: Any
    """Of this file; None for none."""


class _PartsWork(NamedTuple):
    """Sent to every machine once."""

    loaded: LoadedRun
    request: ForecastRequest


def _checked(request: ForecastRequest) -> Path:
    """The folder of the forecasts; refuse what is for one table, before anything is read."""
    if request.out is None or str(request.out) == "-":
        raise ConfigError("--partitioned writes a folder of forecasts", "--out FOLDER")
    if (request.samples, request.seed, request.samples_out) != (None, None, None):
        raise ConfigError(
            "--samples, --seed and --samples-out are not for a table in several files",
            "leave them or --partitioned out",
        )
    if request.attention_out is None and (request.attention_members or request.attention != DumpChoice()):
        raise ConfigError("--attention-… is about weights, which are not written", "add --attention-out FOLDER")
    check_baselines(request.combine_with or ())
    for path in (request.out, request.attention_out):
        if path is not None:
            check_name(path)
            check_folder(path)
            if path.exists():
                raise RunError(f"'{path}' exists already", "name a new folder, or remove it")
    if request.out == request.attention_out:
        raise ConfigError("--out and --attention-out are the same folder", "give each a folder of its own")
    return request.out


def _futures(future: Any, parts: tuple[TablePart, ...]) -> list[Any]:
    """The table of future covariates for each file: that of the same name in a folder, or the same for all."""
    known = {part.name: part for part in parts_of(future)} if isinstance(future, str | Path) else {}
    if not known:
        return [future] * len(parts)
    lacking = [part.name for part in parts if part.name not in known]
    if lacking:
        raise DataError(f"'{future}' has no file {quoted(lacking)}", "a file for each of the history, by its name")
    return [known[part.name] for part in parts]


def _source(part: TablePart) -> Source:
    return Source(f"'{part.path}'", part.path, None, (part,))


def _forecast_part(shared: _PartsWork, task: _Task) -> tuple[PartForecast, NDArray[np.uint64]]:
    """Forecast one file; also gives a number for each series, by which one in two files is found."""
    loaded, request = shared
    device = choose_device(request.accelerator)
    future = _source(task.future) if isinstance(task.future, TablePart) else task.future
    ready = PreparedForecast.of(loaded, replace(request, data=_source(task.part), future=future))
    assert request.out is not None
    out, weights = _place(request.out, task.part), None
    if request.attention_out is not None:
        weights = _place(request.attention_out, task.part)
    predictions = forecast_prepared(
        ready, device, attention_path=weights, choice=request.attention, members=request.attention_members
    )
    with replacing(out) as stream, write_errors_of(out):
        predictions.to_parquet(stream, index=False)
    result = ready.result(predictions)
    items = ready.panel.item_ids
    forecast = PartForecast(
        task.part.name, len(items), len(predictions), result.skipped, result.cold, tuple(result.findings)
    )
    return forecast, _numbers((*items, *result.skipped))


def _place(folder: Path, part: TablePart) -> Path:
    path = folder / part.name
    with write_errors_of(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _numbers(items: tuple[str, ...]) -> NDArray[np.uint64]:
    """A number for each name: eight bytes of its digest."""
    digests = b"".join(hashlib.blake2b(name.encode(), digest_size=8).digest() for name in items)
    return np.frombuffer(digests, np.uint64)


def _check_written(folder: Path, parts: tuple[TablePart, ...]) -> None:
    """Refuse to go on where the machines of a cluster have written to disks of their own."""
    lost = [part.name for part in parts if not (folder / part.name).is_file()]
    if lost:
        raise RunError(
            f"of {len(parts):,} files {len(lost):,} are not in '{folder.parent}', such as '{lost[0]}'",
            "--out must be on a disk that all machines of the cluster share",
        )


def _check_series(folder: Path, parts: tuple[TablePart, ...], hashes: list[NDArray[np.uint64]]) -> None:
    """Refuse a series in two files: each forecast would have seen only a part of it.

    Raises:
        DataError: with its name, and the files.
    """
    values, counts = np.unique(np.concatenate(hashes), return_counts=True)
    twice = values[counts > 1]
    if not len(twice):
        return
    holders: dict[str, list[str]] = {}
    for part, numbers in zip(parts, hashes, strict=True):
        if np.isin(numbers, twice).any():
            for item in pq.read_table(folder / part.name, columns=["item_id"]).column(0).unique().to_pylist():
                holders.setdefault(item, []).append(part.name)
    for item, names in holders.items():
        if len(names) > 1:
            message = f"series '{item}' is in {len(names)} files: {quoted(names)}"
            raise DataError(message, "write each series into one file, or leave --partitioned out", item_id=item)


@contextlib.contextmanager
def _appearing(folder: Path | None) -> Iterator[Path | None]:
    """A folder beside another one, whose name it takes when the block ends well; else it vanishes."""
    if folder is None:
        yield None
        return
    partial = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.partial")
    with write_errors_of(folder):
        partial.mkdir()
    try:
        yield partial.absolute()
        with write_errors_of(folder):
            partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
