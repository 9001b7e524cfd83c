"""Forecasts of a table in several files, file by file: a file in, a file out, in this process or on a Ray cluster."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import secrets
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.attention_file import DumpChoice
from forecast_attn.baselines.registry import check_baselines
from forecast_attn.cluster import shared_out
from forecast_attn.data.findings import Finding, quoted
from forecast_attn.data.reading import Source, fetched, parts_of
from forecast_attn.data.reading.parts import TablePart
from forecast_attn.data.reading.remote import fetched_part, remote_parts
from forecast_attn.devices import choose_device
from forecast_attn.errors import ConfigError, DataError
from forecast_attn.forecasting.inference import load_model
from forecast_attn.forecasting.part_folders import ResultFolder, appearing, check_new
from forecast_attn.forecasting.predict import (
    ForecastRequest,
    LoadedRun,
    PreparedForecast,
    check_members,
    forecast_prepared,
)
from forecast_attn.runs.atomic import replacing, write_errors_of
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.urls import url_of


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

    out: Path | str
    """Folder of the forecasts, a path or a URL: a Parquet file for each of the table."""
    attention_out: Path | str | None
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
        files = [f"{self.out}/{part.name}" for part in self.parts]
        # Folders named `region=north` are no columns; some versions of pyarrow make them some at a URL.
        return pd.concat([pd.read_parquet(file, partitioning=None) for file in files], ignore_index=True)


def forecast_parts(
    run: RunDir, data: Path | str, request: ForecastRequest, on_part: Callable[[PartForecast], None] | None
) -> PartitionedForecast:
    """Forecast each file of a table by itself, as if it were the whole table.

    Memory is that of one file per process. The folders appear when all files are done, and not at all otherwise.

    Args:
        run: finished.
        data: a folder of Parquet files, or a pattern, here or at a URL; each series is in one of them.
        request: with the folders to write as `out` and `attention_out`; a folder as `future` has files of the names of
            those of `data`.
        on_part: called for each file when it and all before it are done.

    Raises:
        ConfigError: an option that is for one table only.
        DataError: what is wrong with a file, or a series is in two of them.
        RunError: the run is damaged, or a folder exists already or cannot be written.
    """
    parts = remote_parts(data) or parts_of(data)
    if not parts:
        raise DataError(f"'{_named(data)}' is not a table in several Parquet files", "leave --partitioned out")
    out = _checked(request)
    loaded = LoadedRun(run, load_model(run))
    check_members(loaded.model, request)
    if request.attention_out is not None and not loaded.model.has_attention:
        raise ConfigError("a model without attention has no weights to write", "leave out --attention-out")
    loaded.read_ahead()
    futures = _futures(request.future, parts)
    if request.engine == "local":
        choose_device(request.accelerator)
    done, hashes, shared = [], [], shared_out(request.engine, accelerator=request.accelerator)
    names, call = [part.name for part in parts], secrets.token_hex(4)
    with appearing(out, names) as folder, appearing(request.attention_out, names) as weights, shared as in_order:
        assert folder is not None
        part_request = replace(request, data=None, future=None, on_dump=None)
        tasks = (_Task(part, future) for part, future in zip(parts, futures, strict=True))
        for forecast, items in in_order(_forecast_part, _PartsWork(loaded, part_request, folder, weights, call), tasks):
            done.append(forecast)
            hashes.append(items)
            if on_part is not None:
                on_part(forecast)
        folder.check_has(names)
        _check_series(folder, parts, hashes)
    return PartitionedForecast(_named(out), _named(request.attention_out), tuple(done))


def _named(folder: Any) -> Any:
    """A folder as a user names it: pathlib writes URLs in another way."""
    return url_of(folder) or folder


class _Task(NamedTuple):
    part: TablePart
    future: Any
    """Future covariates of this file; None without any."""


class _PartsWork(NamedTuple):
    """Sent to every machine once."""

    loaded: LoadedRun
    request: ForecastRequest
    out: ResultFolder
    attention_out: ResultFolder | None
    call: str
    """Name of this call of `forecast_parts`."""


def _checked(request: ForecastRequest) -> Path:
    """The folder of the forecasts; refuse what is for one table, before anything is read."""
    if request.out is None or str(request.out) == "-":
        raise ConfigError("--partitioned writes a folder of forecasts", "--out FOLDER")
    if (request.samples, request.seed, request.samples_out) != (None, None, None):
        raise ConfigError(
            "--samples, --seed and --samples-out are not for a table in several files",
            "leave them or --partitioned out",
        )
    if request.runtime != "torch":
        raise ConfigError("--runtime onnx starts sooner, which files do not need", "leave it or --partitioned out")
    if request.attention_out is None and (request.attention_members or request.attention != DumpChoice()):
        raise ConfigError("--attention-… is about weights, which are not written", "add --attention-out FOLDER")
    check_baselines(request.combine_with or ())
    for path in (request.out, request.attention_out):
        if path is not None:
            check_new(path)
    if request.out == request.attention_out:
        raise ConfigError("--out and --attention-out are the same folder", "give each a folder of its own")
    return request.out


def _futures(future: Any, parts: tuple[TablePart, ...]) -> list[Any]:
    """The table of future covariates for each file: that of the same name in a folder, or the same for all."""
    is_named = isinstance(future, str | Path)
    known = {part.name: part for part in remote_parts(future) or parts_of(future)} if is_named else {}
    if not known:
        return [future] * len(parts)
    lacking = [part.name for part in parts if part.name not in known]
    if lacking:
        raise DataError(f"'{future}' has no file {quoted(lacking)}", "a file for each of the history, by its name")
    return [known[part.name] for part in parts]


@functools.lru_cache(maxsize=1)
def _fetched_once(url: str, call: str) -> Any:
    """A table at a URL, copied once by each process of a call."""
    return fetched(url)


def _source(part: TablePart, scratch: Path) -> Source:
    here = fetched_part(part, scratch)
    return Source(f"'{part.shown}'", here.path, None, (here,))


def _future_source(future: Any, scratch: Path, call: str) -> Any:
    if isinstance(future, TablePart):
        return _source(future, scratch)
    return future if (url := url_of(future)) is None else _fetched_once(url, call)


def _forecast_part(work: _PartsWork, task: _Task) -> tuple[PartForecast, NDArray[np.uint64]]:
    """Forecast one file; also gives a number for each series, by which one in two files is found."""
    device, name = choose_device(work.request.accelerator), task.part.name
    with tempfile.TemporaryDirectory(prefix="forecast-attn-") as scratch, contextlib.ExitStack() as files:
        data = _source(task.part, Path(scratch))
        future = _future_source(task.future, Path(scratch) / "future", work.call)
        ready = PreparedForecast.of(work.loaded, replace(work.request, data=data, future=future))
        out = files.enter_context(work.out.file(name))
        weights = None if work.attention_out is None else files.enter_context(work.attention_out.file(name))
        predictions = forecast_prepared(ready, device, attention_path=weights)
        with replacing(out) as stream, write_errors_of(out):
            predictions.to_parquet(stream, index=False)
    result = ready.result(predictions)
    items = ready.panel.item_ids
    forecast = PartForecast(name, len(items), len(predictions), result.skipped, result.cold, tuple(result.findings))
    return forecast, _numbers((*items, *result.skipped))


def _numbers(items: tuple[str, ...]) -> NDArray[np.uint64]:
    """A number for each name: eight bytes of its digest."""
    digests = b"".join(hashlib.blake2b(name.encode(), digest_size=8).digest() for name in items)
    return np.frombuffer(digests, np.uint64)


def _check_series(folder: ResultFolder, parts: tuple[TablePart, ...], hashes: list[NDArray[np.uint64]]) -> None:
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
            for item in folder.items(part.name):
                holders.setdefault(item, []).append(part.name)
    for item, names in holders.items():
        if len(names) > 1:
            message = f"series '{item}' is in {len(names)} files: {quoted(names)}"
            raise DataError(message, "write each series into one file, or leave --partitioned out", item_id=item)
