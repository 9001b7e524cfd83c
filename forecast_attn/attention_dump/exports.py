"""Attention weights in other forms: long tables, CSV, npz, netCDF. A row group at a time, in constant memory."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from itertools import chain, starmap
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
from numpy.typing import NDArray

from forecast_attn.atomic import replacing, write_errors_of
from forecast_attn.data.zones import Zone
from forecast_attn.errors import ConfigError

if TYPE_CHECKING:
    from forecast_attn.attention_dump.dump import AttentionDump

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
    for place, column in enumerate(table.schema):
        if pa.types.is_timestamp(column.type):
            table = table.set_column(place, column.name, _clock_times(table.column(place), zone, unit))
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


# --------------------------------------------------------------------------- netCDF


def export_netcdf(dump: AttentionDump, target: Path) -> None:
    """Write netCDF 4 with h5netcdf: weights (window, head, step, lag) as float32, the coordinates beside them."""
    try:
        import h5netcdf
    except ImportError:
        raise ConfigError("netCDF needs h5netcdf", "pip install 'forecast-attn[netcdf]'") from None
    with write_errors_of(target), replacing(target) as stream, h5netcdf.File(stream.name, "w") as file:
        file.dimensions = dict(zip(("window", "head", "step", "lag"), _shape(dump), strict=True))
        _write_coordinates(dump, file)
        _write_netcdf_weights(dump, file)
        file.attrs["forecast_attn_attention"] = dump.metadata.to_json()
        file.attrs["Conventions"] = "CF-1.8"


def _write_netcdf_weights(dump: AttentionDump, file: Any) -> None:
    _, heads, steps, keys = _shape(dump)
    weights = file.create_variable(
        "weights",
        ("window", "head", "step", "lag"),
        np.float32,
        chunks=(max(min(dump.num_windows, 64), 1), heads, steps, keys),
        compression="gzip",
        compression_opts=1,
        shuffle=True,
    )
    weights.attrs["long_name"] = "attention weight"
    weights.attrs["units"] = "1"
    weights.attrs["coordinates"] = "item_id cutoff lookback_start timestamp"
    for windows, block in dump.blocks():
        weights[windows] = block


def _write_coordinates(dump: AttentionDump, file: Any) -> None:
    import h5py

    spans = _step_spans(dump)
    for name, values in (("head", dump.heads), ("step", spans["step"]), ("lag", dump.lags)):
        file.create_variable(name, (name,), np.int32, data=values.astype(np.int32))
    if "last_step" in spans:
        file.create_variable("last_step", ("step",), np.int32, data=spans["last_step"])
    ids = np.array(dump.window_item_ids, dtype=object)
    file.create_variable("item_id", ("window",), h5py.string_dtype(), data=ids)
    for name, values, axes in (
        ("cutoff", dump.window_cutoffs, ("window",)),
        ("lookback_start", dump.lookback_starts, ("window",)),
        ("timestamp", dump.timestamps, ("window", "step")),
    ):
        variable = file.create_variable(name, axes, np.int64, data=values.astype(np.int64))
        if values.dtype.kind == "M":
            variable.attrs["units"] = "nanoseconds since 1970-01-01"
            variable.attrs["calendar"] = "proleptic_gregorian"
