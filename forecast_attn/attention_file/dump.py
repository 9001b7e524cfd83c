"""Reads an attention file: selection of windows, their weights and time stamps, and exports to CSV and NumPy.

`read_attention` opens a file as an `AttentionDump`; weights are read from the file when asked for. `long_tables` gives
one row per weight, which `export_csv` writes; `export_npz` streams whole arrays.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise, starmap
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from forecast_attn.attention_file.attention_schema import (
    METADATA_KEY,
    AttentionMetadata,
    attention_schema,
    read_errors_of,
)
from forecast_attn.attention_file.times import parse_time, stamps_after, stamps_until, time_text
from forecast_attn.attention_file.writer import spread_out
from forecast_attn.config.values import percent
from forecast_attn.data.findings import counted
from forecast_attn.data.zones import Zone
from forecast_attn.errors import ConfigError, DataError, RunError, did_you_mean
from forecast_attn.notebook import Drawn
from forecast_attn.runs.atomic import check_name, replacing, write_errors_of

if TYPE_CHECKING:
    import pandas as pd


DRAWN = 256
"""Windows behind the heat map in a notebook, evenly spread over all."""


@dataclass(frozen=True, eq=False)
class AttentionDump(Drawn):
    """The windows of an attention file, or a selection of them. Weights are read from the file when asked for.

    Lags count keys, steps count decoder steps. Both are patches of `metadata.patch_length` time steps, most often of 1;
    `metadata.lags_of` and `metadata.steps_of` say which time steps they cover.

    Attributes:
        metadata: what the weights are; its sizes are those of the whole file.
        window_item_ids: (num_windows,) the series of each window.
        window_cutoffs: (num_windows,) datetime64[ns], of instants in UTC, or int64.
        lookback_starts: (num_windows,) time of the first time step of the lookback.
        timestamps: (num_windows, len(steps)) the steps' target times, of a patch the first.
        steps: the selected decoder steps, counted from 1.
        heads: the selected heads, counted from 0.
    """

    metadata: AttentionMetadata
    window_item_ids: tuple[str, ...]
    window_cutoffs: NDArray[Any]
    lookback_starts: NDArray[Any]
    timestamps: NDArray[Any]
    steps: NDArray[np.int32]
    heads: NDArray[np.int32]
    path: Path
    _parquet: Any
    _positions: NDArray[np.int64]  # (num_windows, 2): the row group of each window, and its position in it

    def __repr__(self) -> str:
        about = self.metadata
        keys = f"lookback {about.lookback}" + (f" in patches of {about.patch_length}" if about.patch_length > 1 else "")
        windows = f"{counted(self.num_windows, 'window')} of {len(self.item_ids):,} series"
        return f"<AttentionDump of {about.mechanism}: {windows}, {keys}, horizon {about.horizon}>"

    def _repr_html_(self) -> str:
        """The mean weights as a heat map, for a notebook."""
        import forecast_attn.notebook as notebook

        if not self.num_windows:
            return notebook.titled(repr(self)[1:-1])
        drawn = self.drawn()
        mean = np.nan_to_num(drawn.weights).mean(axis=(0, 1), dtype=np.float64)
        kind = "patch" if self.metadata.patch_length > 1 else "lag"
        windows = counted(drawn.num_windows, "window")
        words = (
            f"Mean weight of {windows}: a row for each step, a column for each {kind}, the cut-off on the right; "
            f"darkest: {percent(float(mean.max()), 1)}. Forecaster.inspect() says what may be read off them."
        )
        return notebook.titled(repr(self)[1:-1], notebook.heat_map(mean, words), notebook.caption(words))

    def drawn(self) -> AttentionDump:
        """The windows that a notebook draws."""
        last = self.num_windows - 1
        return self.take(np.unique(np.linspace(0, last, min(self.num_windows, DRAWN)).round().astype(np.int64)))

    @property
    def num_windows(self) -> int:
        return len(self.window_item_ids)

    @property
    def item_ids(self) -> list[str]:
        """The series, each once, in the file's order."""
        return list(dict.fromkeys(self.window_item_ids))

    @property
    def cutoffs(self) -> NDArray[Any]:
        """The cut-offs, each once, ascending."""
        return np.unique(self.window_cutoffs)

    @property
    def zone(self) -> Zone:
        """Zone that the time stamps are shown in."""
        return Zone() if self.metadata.zone is None else Zone(self.metadata.zone, "utc")

    def text(self, time: Any) -> str:
        """A time of the file as people read it."""
        return time_text(time, self.zone)

    @property
    def lags(self) -> NDArray[np.int64]:
        """The lag of each position of the weights' last axis, in keys: num_keys - 1, …, 1, 0."""
        return np.arange(self.metadata.num_keys)[::-1]

    @property
    def last_timestamps(self) -> NDArray[Any]:
        """(num_windows, len(steps)) each step's last target time: `timestamps` where there are no patches."""
        firsts, lasts = np.array([self.metadata.steps_of(int(step)) for step in self.steps], np.int64).reshape(-1, 2).T
        return stamps_after(self.timestamps, lasts - firsts, self.metadata.frequency)

    @cached_property
    def weights(self) -> NDArray[np.float32]:
        """(num_windows, heads, steps, num_keys), oldest position first."""
        shape = (self.num_windows, len(self.heads), len(self.steps), self.metadata.num_keys)
        blocks = [weights for _, weights in self.blocks()]
        return np.concatenate(blocks) if blocks else np.zeros(shape, np.float32)

    def blocks(self) -> Iterator[tuple[slice, NDArray[np.float32]]]:
        """Iterate over the weights in blocks of windows, in constant memory: indices of windows, and their weights.

        Raises:
            RunError: the file is damaged.
        """
        groups = self._positions[:, 0]
        bounds: NDArray[np.int64] = np.flatnonzero(np.diff(groups, prepend=-1, append=-1))
        for start, stop in pairwise(bounds):
            block = self._read_weights(int(groups[start]))
            yield slice(int(start), int(stop)), self._selected(block, self._positions[start:stop, 1])

    def _selected(self, block: NDArray[np.float32], windows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Windows, heads and steps of a row group; no copy where all of them are wanted."""
        if len(windows) != len(block) or (windows != np.arange(len(block))).any():
            block = block[windows]
        if len(self.heads) != block.shape[1]:
            block = block[:, self.heads]
        return block if len(self.steps) == block.shape[2] else block[:, :, self.steps - 1]

    def _read_weights(self, group: int) -> NDArray[np.float32]:
        """All weights of one row group: (windows, heads, num_steps, num_keys)."""
        sizes = self.metadata
        if sizes.top is None:
            (rows,) = self._read_columns(group, "weights")
            rows = rows.astype(np.float32, copy=False)
        else:
            lags, kept = self._read_columns(group, "lags", "weights")
            if len(lags) and not 0 <= lags.min() <= lags.max() < sizes.num_keys:
                raise RunError(f"'{self.path}' is damaged: it has weights of lags beyond the lookback")
            rows = spread_out(lags.reshape(-1, sizes.top), kept.reshape(-1, sizes.top), sizes.num_keys)
        return rows.reshape(-1, sizes.heads, sizes.num_steps, sizes.num_keys)

    def _read_columns(self, group: int, *names: str) -> list[NDArray[Any]]:
        """Columns of one row group as flat arrays."""
        with read_errors_of(self.path):
            table = self._parquet.read_row_group(group, columns=[f"{name}.list.element" for name in names])
        columns = [table.column(name).combine_chunks() for name in names]
        if any(column.null_count for column in columns):
            raise RunError(f"'{self.path}' is damaged: a row has no weights")
        return [column.flatten().to_numpy(zero_copy_only=False) for column in columns]

    @cached_property
    def remaining(self) -> NDArray[np.float32]:
        """(num_windows, heads, steps) the weight of each row that a sparse file does not hold; zeros for other files.

        Raises:
            RunError: the file is damaged.
        """
        return self._row_column("remaining" if self.metadata.top is not None else None, 0)

    @cached_property
    def observed_steps(self) -> NDArray[np.float32]:
        """(num_windows, heads, steps) how many keys of the lookback are known, as the file says of each row.

        Raises:
            RunError: the file is damaged.
        """
        return self._row_column("observed_steps" if self.metadata.masked else None, self.metadata.num_keys)

    @cached_property
    def missing_weight(self) -> NDArray[np.float32]:
        """(num_windows, heads, steps) the weight on keys that are missing, where there must be none.

        Raises:
            RunError: the file is damaged.
        """
        return self._row_column("missing_weight" if self.metadata.masked else None, 0)

    def _row_column(self, name: str | None, otherwise: float) -> NDArray[np.float32]:
        """A column with one number per row: (num_windows, heads, steps); a constant for files without it."""
        sizes = self.metadata
        if name is None:
            return np.full((self.num_windows, len(self.heads), len(self.steps)), otherwise, np.float32)
        with read_errors_of(self.path):
            column = self._parquet.read(columns=[name]).column(0).to_numpy().astype(np.float32)
        per_group = [self._parquet.metadata.row_group(group).num_rows for group in range(self._num_groups)]
        first = np.cumsum([0, *per_group])
        windows = first[self._positions[:, 0]] // (sizes.heads * sizes.num_steps) + self._positions[:, 1]
        rows: NDArray[np.float32] = column.reshape(-1, sizes.heads, sizes.num_steps)[windows]
        return rows[:, self.heads][:, :, self.steps - 1]

    @property
    def _num_groups(self) -> int:
        return int(self._parquet.num_row_groups)

    def select(
        self, item: str | None = None, cutoff: Any = None, step: int | None = None, head: int | None = None
    ) -> Self:
        """The windows of one series, of one cut-off, one step or one head of them; None keeps all.

        Args:
            step: a time step ahead, from 1 to the horizon; of patches the one with this step is chosen.

        Raises:
            DataError: no such series or cut-off.
            ConfigError: no such step or head, or a cut-off that is not a time.
        """
        keep = np.ones(self.num_windows, bool)
        if item is not None:
            keep &= self._windows_of_item(item)
        if cutoff is not None:
            keep &= self._windows_of_cutoff(cutoff, keep)
        chosen_step = slice(None) if step is None else self._slice_of_step(step)
        chosen_head = slice(None) if head is None else _slice_of_head(head, self.heads)
        kept = self.take(np.flatnonzero(keep))
        return replace(
            kept,
            timestamps=kept.timestamps[:, chosen_step],
            steps=self.steps[chosen_step],
            heads=self.heads[chosen_head],
        )

    def take(self, windows: NDArray[np.int64]) -> Self:
        """Select windows by their indices in this dump, in the given order."""
        return replace(
            self,
            window_item_ids=tuple(self.window_item_ids[window] for window in windows),
            window_cutoffs=self.window_cutoffs[windows],
            lookback_starts=self.lookback_starts[windows],
            timestamps=self.timestamps[windows],
            _positions=self._positions[windows],
        )

    def _slice_of_step(self, step: int) -> slice:
        """Index of a time step ahead, as a slice that keeps the axis."""
        spans = [self.metadata.steps_of(int(known)) for known in self.steps]
        for index, (first, last) in enumerate(spans):
            if first <= step <= last:
                return slice(index, index + 1)
        raise ConfigError(f"--step {step} is not in the attention file", f"it has {spans[0][0]} to {spans[-1][1]}")

    def _windows_of_item(self, item: str) -> NDArray[np.bool_]:
        mask = np.array([known == item for known in self.window_item_ids], bool)
        if not mask.any():
            raise DataError(f"'{self.path}' has no series '{item}'", _known_names(item, self.item_ids))
        return mask

    def _windows_of_cutoff(self, cutoff: Any, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = self.window_cutoffs == parse_time(cutoff, self.window_cutoffs.dtype, self.zone)
        known = np.unique(self.window_cutoffs[among])
        if not (mask & among).any():
            span = f"{self.text(known[0])} to {self.text(known[-1])}" if len(known) else "none"
            hint = f"known: {', '.join(map(self.text, known))}" if len(known) <= 8 else f"{len(known)} known: {span}"
            raise DataError(f"'{self.path}' has no cut-off {cutoff}", hint)
        return mask

    def lookback_timestamps(self, window: int) -> NDArray[Any]:
        """(num_keys,) the time of each position of one window, of a patch the first, from lookback_start on.

        Raises:
            RunError: the frequency does not lead from the cut-off back to lookback_start.
        """
        stamps: NDArray[Any] = self.lookback_timestamps_of(slice(window, window + 1))[0]
        return stamps

    def lookback_timestamps_of(self, windows: slice) -> NDArray[Any]:
        """(windows, num_keys) the times of some windows' positions, of a patch the first."""
        cutoffs, starts = self.window_cutoffs[windows], self.lookback_starts[windows]
        known, which = np.unique(cutoffs, return_inverse=True)
        stamps = stamps_until(known, self.metadata.lookback, self.metadata.frequency)[which]
        wrong = np.flatnonzero(stamps[:, 0] != starts)
        if len(wrong):
            expected = (
                f"{self.metadata.lookback} steps of '{self.metadata.frequency}' up to {self.text(cutoffs[wrong[0]])}"
            )
            raise RunError(f"'{self.path}' is inconsistent: {expected} do not start at {self.text(starts[wrong[0]])}")
        return stamps[:, :: self.metadata.patch_length]

    def to_frame(self) -> pd.DataFrame:
        """One row per weight: item_id, cutoff, step, head, timestamp, lag, lookback_timestamp, weight.

        Of patches, `step` and both times are those of the first time step, `last_step` follows `step`, and `lag` counts
        patches.

        Of a sparse file, the rows of the weights it holds that are not zero.
        """
        frame: pd.DataFrame = pa.concat_tables(long_tables(self)).to_pandas()
        return frame

    def export_csv(self, path: Path | str) -> None:
        """Write the rows of `to_frame` as CSV, a part of the windows at a time.

        Raises:
            RunError: the file cannot be written.
        """
        export_csv(self, Path(path))

    def export_npz(self, path: Path | str) -> None:
        """Write the arrays of the same names as NumPy's .npz, with the metadata as a JSON string; no pickle.

        Raises:
            RunError: the file cannot be written.
        """
        export_npz(self, Path(path))


def _slice_of_head(head: int, known: NDArray[np.int32]) -> slice:
    """Index of a head, as a slice that keeps the axis."""
    indices = np.flatnonzero(known == head)
    if not len(indices):
        raise ConfigError(f"--head {head} is not in the attention file", f"it has {known[0]} to {known[-1]}")
    return slice(int(indices[0]), int(indices[0]) + 1)


def _known_names(word: str, known: list[str]) -> str | None:
    """Suggest the nearest name; for many unlike ones, list the first few."""
    hint = did_you_mean(word, known)
    if hint is None or hint.startswith("did") or len(known) <= 8:
        return hint
    return f"{did_you_mean(word, known[:8])} and {len(known) - 8} more"


# --------------------------------------------------------------------------- reader
# Opens an attention file and checks its form.


def read_attention(path: Path | str) -> AttentionDump:
    """Open an attention file: everything but the weights, which are read when asked for.

    Raises:
        RunError: no such file, not Parquet, cut short, not an attention file, or of a newer format.
    """
    path = Path(path)
    check_name(path)
    if path.exists() and not path.is_file():
        raise RunError(f"'{path}' is not a regular file", "`forecast predict` writes attention.parquet")
    with read_errors_of(path):
        parquet = pq.ParquetFile(path)
        metadata = _read_metadata(path, parquet.schema_arrow)
        groups = [_read_windows(path, parquet, group, metadata) for group in range(parquet.num_row_groups)]
    time = np.dtype("int64" if pa.types.is_integer(parquet.schema_arrow.field("cutoff").type) else "datetime64[ns]")
    nothing: tuple[Any, ...] = (
        [],
        np.empty(0, time),
        np.empty(0, time),
        np.empty((0, metadata.num_steps), time),
        np.empty((0, 2), np.int64),
    )
    ids, *columns = zip(nothing, *groups, strict=True)
    cutoffs, starts, timestamps, positions = (np.concatenate(parts) for parts in columns)
    return AttentionDump(
        metadata=metadata,
        window_item_ids=tuple(chain.from_iterable(ids)),
        window_cutoffs=cutoffs,
        lookback_starts=starts,
        timestamps=timestamps,
        steps=np.arange(1, metadata.num_steps + 1, dtype=np.int32),
        heads=np.arange(metadata.heads, dtype=np.int32),
        path=path,
        _parquet=parquet,
        _positions=positions,
    )


def _read_metadata(path: Path, schema: Any) -> AttentionMetadata:
    text = (schema.metadata or {}).get(METADATA_KEY)
    if text is None:
        raise RunError(
            f"'{path}' is a Parquet file, but does not hold attention weights",
            "`forecast predict` writes attention.parquet",
        )
    try:
        metadata = AttentionMetadata.from_json(text)
    except (ValueError, ConfigError) as error:
        raise RunError(f"'{path}' cannot be read as an attention file: {error}", "update forecast-attn?") from None
    is_integer = "cutoff" in schema.names and pa.types.is_integer(schema.field("cutoff").type)
    expected = attention_schema(metadata, integer_time=is_integer)
    if schema.names != expected.names or schema.types != expected.types:
        raise RunError(f"'{path}' has other columns than an attention file")
    return metadata


def _read_windows(path: Path, parquet: Any, group: int, sizes: AttentionMetadata) -> tuple[Any, ...]:
    """Series, cut-off, lookback start, target times and place of each window in a row group."""
    columns = ["item_id", "cutoff", "step", "head", "timestamp", "lookback_start"]
    table = parquet.read_row_group(group, columns=columns)
    if any(column.null_count for column in table.columns):
        raise RunError(f"'{path}' is damaged: a row has no series, time, step or head")
    steps, per_window = sizes.num_steps, sizes.heads * sizes.num_steps
    windows, rest = divmod(table.num_rows, per_window)
    step, head = (
        table.column(name).to_numpy().reshape(-1, per_window) if not rest else np.empty(0) for name in ("step", "head")
    )
    order = np.arange(per_window)
    if rest or (step != order % steps * sizes.patch_length + 1).any() or (head != order // steps).any():
        raise RunError(
            f"the rows of '{path}' were rearranged after it was written", "use the file as `forecast predict` wrote it"
        )
    first = table.take(np.arange(windows) * per_window)
    timestamps = table.column("timestamp").to_numpy().reshape(windows, per_window)[:, :steps]
    positions = np.stack([np.full(windows, group), np.arange(windows)], axis=1)
    return (
        first.column("item_id").to_pylist(),
        first.column("cutoff").to_numpy(),
        first.column("lookback_start").to_numpy(),
        timestamps,
        positions,
    )


# --------------------------------------------------------------------------- exports
# Exports of attention weights: long tables, CSV, npz. A row group at a time, in constant memory.


# --------------------------------------------------------------------------- long tables


def long_tables(dump: AttentionDump) -> Iterator[Any]:
    """Arrow tables of one row per weight: first an empty one, which carries the columns, then one per block."""
    empty = np.zeros((0, len(dump.heads), len(dump.steps), dump.metadata.num_keys), np.float32)
    blocks = chain([(slice(0, 0), empty)], dump.blocks())
    return starmap(lambda windows, weights: _long_table(dump, windows, weights), blocks)


def _long_table(dump: AttentionDump, windows: slice, weights: NDArray[np.float32]) -> Any:
    """The rows of some windows, in the order of the weights' axes."""
    shape, cutoffs = weights.shape, dump.window_cutoffs[windows]

    def spread(values: Any, *axes: int) -> NDArray[Any]:
        """Repeat values that vary along some axes over all four."""
        view = np.expand_dims(np.asarray(values), tuple(set(range(4)) - set(axes)))
        return np.broadcast_to(view, shape).reshape(-1)

    def instants(times: NDArray[Any]) -> Any:
        """Times with the zone of the file, if it has one."""
        return pa.array(times, pa.timestamp("ns", dump.metadata.zone) if times.dtype.kind == "M" else None)

    ids = pa.array(dump.window_item_ids[windows], pa.string())
    table = pa.table(
        {
            "item_id": ids.take(pa.array(spread(np.arange(shape[0]), 0))),
            "cutoff": instants(spread(cutoffs, 0)),
            **{name: spread(steps, 2) for name, steps in _step_spans(dump).items()},
            "head": spread(dump.heads, 1),
            "timestamp": instants(spread(dump.timestamps[windows], 0, 2)),
            "lag": spread(dump.lags, 3),
            "lookback_timestamp": instants(spread(dump.lookback_timestamps_of(windows), 0, 3)),
            "weight": weights.reshape(-1),
        }
    )
    return table if dump.metadata.top is None else table.filter(pa.array(weights.reshape(-1) != 0))


def _step_spans(dump: AttentionDump) -> dict[str, NDArray[np.int32]]:
    """The first time step ahead of each of the decoder's steps; of patches, the last one too."""
    spans = np.array([dump.metadata.steps_of(int(step)) for step in dump.steps], np.int32).reshape(-1, 2)
    return {"step": spans[:, 0]} | ({"last_step": spans[:, 1]} if dump.metadata.patch_length > 1 else {})


# --------------------------------------------------------------------------- CSV


def export_csv(dump: AttentionDump, target: Path) -> None:
    """Write `long_tables` as CSV."""
    unit = "s" if _has_whole_seconds(dump) else "ns"
    tables = (_with_times_as_text(table, dump.zone, unit) for table in long_tables(dump))
    with (
        write_errors_of(target),
        replacing(target) as stream,
        pa_csv.CSVWriter(stream, next(tables).schema) as writer,
    ):
        for table in tables:
            writer.write_table(table)


def _has_whole_seconds(dump: AttentionDump) -> bool:
    if dump.window_cutoffs.dtype.kind == "i":
        return True
    times = (dump.window_cutoffs, dump.lookback_starts, dump.timestamps)
    return all((stamps == stamps.astype("datetime64[s]")).all() for stamps in times)


def _with_times_as_text(table: Any, zone: Zone, unit: str) -> Any:
    """Time stamps with the offset of their zone; without a zone in another unit, so that no zeros stand behind them."""
    for index, column in enumerate(table.schema):
        if pa.types.is_timestamp(column.type):
            table = table.set_column(index, column.name, _clock_times(table.column(index), zone, unit))
    return table


def _clock_times(times: Any, zone: Zone, unit: str) -> Any:
    if zone.type_name is None:
        return times.cast(pa.timestamp(unit))
    encoded = times.combine_chunks().dictionary_encode()  # few of many millions differ
    texts = pa.array(zone.text(encoded.dictionary.to_numpy(zero_copy_only=False)), pa.string())
    return pa.DictionaryArray.from_arrays(encoded.indices, texts).cast(pa.string())


# --------------------------------------------------------------------------- npz


def export_npz(dump: AttentionDump, target: Path) -> None:
    """Write an uncompressed .npz whose weights are streamed into it."""
    arrays = {name: getattr(dump, name) for name in ("window_cutoffs", "lookback_starts", "timestamps")}
    arrays |= {f"{name}s": steps for name, steps in _step_spans(dump).items()}
    arrays |= {"heads": dump.heads, "lags": dump.lags}
    arrays |= {"window_item_ids": np.array(dump.window_item_ids, dtype=np.str_)}
    arrays |= {"metadata": np.array(dump.metadata.to_json())}
    with write_errors_of(target), replacing(target) as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        with archive.open("weights.npy", "w", force_zip64=True) as member:
            _write_weights(dump, member)


def _write_weights(dump: AttentionDump, stream: IO[bytes]) -> None:
    """The .npy form of all weights: a header of their shape, then block by block."""
    header = {"descr": "<f4", "fortran_order": False, "shape": _shape(dump)}
    np.lib.format.write_array_header_1_0(stream, header)
    for _, weights in dump.blocks():
        stream.write(np.ascontiguousarray(weights, dtype="<f4").data)


def _shape(dump: AttentionDump) -> tuple[int, int, int, int]:
    return dump.num_windows, len(dump.heads), len(dump.steps), dump.metadata.num_keys
