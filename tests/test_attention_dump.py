"""The attention file: what is written is what is read, whole or not at all."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from forecast_attn.attention_file import AttentionMetadata, AttentionWriter, read_attention, writer
from forecast_attn.attention_file.attention_schema import METADATA_KEY
from forecast_attn.errors import ConfigError, DataError, RunError

HOUR = np.timedelta64(1, "h")


def metadata_for(weights, **changes):
    _, heads, horizon, lookback = weights.shape
    names = {"mechanism": "luong-general", "order": "luong", "score": "general", "normaliser": "softmax"}
    sizes = {"heads": heads, "lookback": lookback, "horizon": horizon, "frequency": "h", "season": 24}
    return AttentionMetadata(**{**names, "window": "global", **sizes, **changes})


def hourly(weights, item_ids, cutoffs):
    """The arguments of `write` for windows on an hourly axis."""
    cutoffs = np.asarray(cutoffs, "datetime64[ns]")
    return {
        "item_ids": item_ids,
        "cutoffs": cutoffs,
        "timestamps": cutoffs[:, None] + np.arange(1, weights.shape[2] + 1) * HOUR,
        "lookback_starts": cutoffs - (weights.shape[3] - 1) * HOUR,
        "weights": weights,
    }


def softmax_weights(*shape, seed=0):
    weights = np.exp(np.random.default_rng(seed).normal(size=shape))
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "attention.parquet"


@pytest.fixture
def weights():
    """2 series x 2 cut-offs, 2 heads, 3 steps, 5 lags."""
    return softmax_weights(4, 2, 3, 5)


@pytest.fixture
def dump(path, weights):
    cutoffs = ["2026-01-05T14", "2026-01-05T15"] * 2
    with AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**hourly(weights, ["north", "north", "south", "south"], cutoffs))
    return read_attention(path)


# --------------------------------------------------------------------------- round trip


def test_reading_gives_back_what_was_written(dump, weights):
    assert dump.metadata == metadata_for(weights)
    assert dump.weights.dtype == np.float32
    assert np.array_equal(dump.weights, weights)
    assert dump.item_ids == ["north", "south"]
    assert dump.window_item_ids == ("north", "north", "south", "south")
    assert [str(cutoff)[:13] for cutoff in dump.cutoffs] == ["2026-01-05T14", "2026-01-05T15"]
    assert np.array_equal(dump.timestamps[1], dump.window_cutoffs[1] + np.arange(1, 4) * HOUR)
    assert dump.steps.tolist() == [1, 2, 3]
    assert dump.heads.tolist() == [0, 1]
    assert dump.lags.tolist() == [4, 3, 2, 1, 0]


sizes = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.integers(1, 6))


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), shape=sizes, integer_time=st.booleans())
def test_any_sizes_names_and_values_come_back_bit_for_bit(path, data, shape, integer_time):
    weights = data.draw(st_numpy.arrays(np.float32, shape, elements=st.floats(width=32)))
    names = st.text(st.characters(exclude_categories=["Cs"]))
    item_ids = data.draw(st.lists(names, min_size=shape[0], max_size=shape[0]))
    windows = hourly(weights, item_ids, np.arange(shape[0]))
    if integer_time:
        times = ("cutoffs", "timestamps", "lookback_starts")
        windows |= {name: windows[name].astype(np.int64) for name in times}
    with AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**windows)
    dump = read_attention(path)
    assert dump.weights.tobytes() == weights.tobytes()
    assert list(dump.window_item_ids) == item_ids
    for name, read in (
        ("cutoffs", dump.window_cutoffs),
        ("timestamps", dump.timestamps),
        ("lookback_starts", dump.lookback_starts),
    ):
        assert read.dtype == windows[name].dtype
        assert np.array_equal(read, windows[name])


def test_batches_and_row_groups_do_not_show(path, monkeypatch):
    weights = softmax_weights(20, 2, 3, 7)
    monkeypatch.setattr(writer, "ROW_GROUP_BYTES", 100)
    windows = hourly(
        weights, [f"series {i}" for i in range(20)], np.arange("2026-01-01T00", "2026-01-01T20", dtype="M8[h]")
    )
    with AttentionWriter(path, metadata_for(weights)) as file:
        for first, last in ((0, 1), (1, 9), (9, 9), (9, 20)):
            file.write(**{name: values[first:last] for name, values in windows.items()})
    assert pq.ParquetFile(path).num_row_groups == 3
    dump = read_attention(path)
    assert np.array_equal(dump.weights, weights)
    later = dump.select(cutoff="2026-01-01 13:00")
    assert later.item_ids == ["series 13"]
    assert np.array_equal(later.weights, weights[13:14])


def test_a_buffer_may_be_reused_between_batches(path, weights):
    buffer = np.empty_like(weights[:2])
    with AttentionWriter(path, metadata_for(weights)) as file:
        for first in (0, 2):
            buffer[:] = weights[first : first + 2]
            file.write(**hourly(buffer, ["a", "b"], np.arange(2)))
        buffer[:] = 0
    assert np.array_equal(read_attention(path).weights, weights)


def test_the_order_of_the_axes_in_memory_does_not_matter(path, weights):
    with AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**hourly(np.asfortranarray(weights), list("abcd"), np.arange(4)))
    assert np.array_equal(read_attention(path).weights, weights)


def test_the_file_can_be_read_without_this_package(dump, weights, path):
    frame = pd.read_parquet(path)
    assert list(frame) == ["item_id", "cutoff", "step", "head", "timestamp", "lookback_start", "weights"]
    row = frame.query("item_id == 'south' and step == 2 and head == 1").iloc[1]
    assert row["cutoff"] == pd.Timestamp("2026-01-05 15:00")
    assert row["timestamp"] == pd.Timestamp("2026-01-05 17:00")
    assert row["lookback_start"] == pd.Timestamp("2026-01-05 11:00")
    assert np.array_equal(row["weights"], weights[3, 1, 1])
    about = json.loads(pq.read_schema(path).metadata[METADATA_KEY])
    assert (about["format_version"], about["mechanism"], about["lookback"]) == (1, "luong-general", 5)
    assert "cutoff" in about["conventions"]["lag"]


def test_a_file_without_windows_is_a_file(path, weights):
    with AttentionWriter(path, metadata_for(weights)):
        pass
    dump = read_attention(path)
    assert dump.num_windows == 0
    assert dump.weights.shape == (0, 2, 3, 5)
    assert dump.to_frame().empty


# --------------------------------------------------------------------------- selection and time


def test_select_narrows_every_axis(dump, weights):
    part = dump.select(item="south", cutoff="2026-01-05T15:00", step=3, head=1)
    assert np.array_equal(part.weights, weights[3:4, 1:2, 2:3])
    assert part.timestamps[0, 0] == np.datetime64("2026-01-05T18")
    assert np.array_equal(part.select(head=1).weights, part.weights)
    assert np.array_equal(dump.select(cutoff=dump.cutoffs[0]).weights, weights[::2])


@pytest.mark.parametrize(
    "cutoff", ["2026-01-05 15:00", "2026-01-05T15:00:00Z", "2026-01-05 17:00+02:00", pd.Timestamp("2026-01-05 15:00")]
)
def test_a_cutoff_may_be_said_in_many_ways(dump, weights, cutoff):
    assert np.array_equal(dump.select(cutoff=cutoff).weights, weights[1::2])


@pytest.mark.parametrize(
    ("choice", "kind", "text"),
    [
        ({"item": "nort"}, DataError, "did you mean 'north'"),
        ({"item": "berlin"}, DataError, "known: north, south"),
        ({"cutoff": "2026-01-06"}, DataError, "known: 2026-01-05 14:00, 2026-01-05 15:00"),
        ({"cutoff": "noon"}, ConfigError, "time stamp"),
        ({"step": 4}, ConfigError, "it has 1 to 3"),
        ({"step": 0}, ConfigError, "it has 1 to 3"),
        ({"head": 2}, ConfigError, "it has 0 to 1"),
    ],
)
def test_selecting_what_is_not_there_says_what_is(dump, choice, kind, text):
    with pytest.raises(kind, match=text):
        dump.select(**choice)


@pytest.mark.parametrize(
    ("frequency", "cutoff", "expected"),
    [
        ("h", "2026-03-01T01", ["2026-02-28T22", "2026-02-28T23", "2026-03-01T00", "2026-03-01T01"]),
        ("15min", "2026-01-01T00", ["2025-12-31T23:15", "2025-12-31T23:30", "2025-12-31T23:45", "2026-01-01T00:00"]),
        ("D", "2024-03-01", ["2024-02-27", "2024-02-28", "2024-02-29", "2024-03-01"]),
        ("MS", "2026-02-01", ["2025-11-01", "2025-12-01", "2026-01-01", "2026-02-01"]),
        ("ME", "2024-03-31", ["2023-12-31", "2024-01-31", "2024-02-29", "2024-03-31"]),
        ("B", "2026-01-06", ["2026-01-01", "2026-01-02", "2026-01-05", "2026-01-06"]),
        ("W-MON", "2026-01-19", ["2025-12-29", "2026-01-05", "2026-01-12", "2026-01-19"]),
        ("QE-DEC", "2025-12-31", ["2025-03-31", "2025-06-30", "2025-09-30", "2025-12-31"]),
    ],
)
def test_lookback_stamps_follow_the_calendar(path, frequency, cutoff, expected):
    weights = softmax_weights(1, 1, 1, 4)
    windows = hourly(weights, ["a"], [cutoff]) | {"lookback_starts": np.array(expected[:1], "datetime64[ns]")}
    with AttentionWriter(path, metadata_for(weights, frequency=frequency)) as file:
        file.write(**windows)
    dump = read_attention(path)
    assert dump.lookback_timestamps(0).tolist() == np.array(expected, "datetime64[ns]").tolist()
    assert dump.to_frame()["lookback_timestamp"].tolist() == [pd.Timestamp(stamp) for stamp in expected]


def test_whole_number_times_step_by_their_frequency(path):
    weights = softmax_weights(1, 1, 2, 3)
    times = {"cutoffs": np.array([40]), "timestamps": np.array([[50, 60]]), "lookback_starts": np.array([20])}
    with AttentionWriter(path, metadata_for(weights, frequency="10", season=1)) as file:
        file.write(item_ids=["a"], weights=weights, **times)
    dump = read_attention(path)
    assert dump.lookback_timestamps(0).tolist() == [20, 30, 40]
    assert dump.select(cutoff="40").num_windows == dump.select(cutoff=40.0).num_windows == 1
    for cutoff in ("2026-01-01", 40.7, str(10**20), float("inf")):
        with pytest.raises(ConfigError, match="whole number"):
            dump.select(cutoff=cutoff)


def test_stamps_that_contradict_the_frequency_are_refused(path):
    weights = softmax_weights(1, 1, 1, 4)
    with AttentionWriter(path, metadata_for(weights, frequency="D")) as file:
        file.write(**hourly(weights, ["a"], ["2026-01-05"]))
    with pytest.raises(RunError, match="4 steps of 'D' up to 2026-01-05 do not start at 2026-01-04 21:00"):
        read_attention(path).lookback_timestamps(0)


# --------------------------------------------------------------------------- export


def test_the_long_frame_names_every_weight(dump, weights):
    frame = dump.to_frame()
    assert list(frame) == ["item_id", "cutoff", "step", "head", "timestamp", "lag", "lookback_timestamp", "weight"]
    assert len(frame) == weights.size
    for window, head, step, lag in ((0, 0, 1, 0), (2, 1, 3, 4), (3, 0, 2, 2)):
        item_id, cutoff = dump.window_item_ids[window], pd.Timestamp(dump.window_cutoffs[window])
        keys = {"item_id": item_id, "cutoff": cutoff, "step": step, "head": head, "lag": lag}
        (row,) = frame[(frame[list(keys)] == pd.Series(keys)).all(axis=1)].itertuples()
        assert row.weight == weights[window, head, step - 1, 4 - lag]
        assert row.timestamp == cutoff + pd.Timedelta(hours=step)
        assert row.lookback_timestamp == cutoff - pd.Timedelta(hours=lag)


def test_csv_holds_the_long_frame_exactly(dump, tmp_path):
    dump.export_csv(tmp_path / "weights.csv")
    read = pd.read_csv(
        tmp_path / "weights.csv",
        dtype={"weight": np.float32},
        parse_dates=["cutoff", "timestamp", "lookback_timestamp"],
    )
    expected = dump.to_frame()
    assert list(read) == list(expected)
    for name in expected:
        assert (read[name] == expected[name]).all()
    assert "2026-01-05 14:00:00," in (tmp_path / "weights.csv").read_text()


def test_csv_keeps_fractions_of_a_second(path, tmp_path):
    weights = softmax_weights(1, 1, 1, 2)
    with AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**hourly(weights, ["a"], ["2026-01-01T00:00:00.5"]))
    read_attention(path).export_csv(tmp_path / "weights.csv")
    assert "2026-01-01 00:00:00.500000000" in (tmp_path / "weights.csv").read_text()


def test_npz_holds_every_array_without_pickle(dump, weights, tmp_path):
    dump.export_npz(tmp_path / "weights.npz")
    with np.load(tmp_path / "weights.npz", allow_pickle=False) as arrays:
        assert np.array_equal(arrays["weights"], weights)
        assert arrays["window_item_ids"].tolist() == list(dump.window_item_ids)
        assert np.array_equal(arrays["timestamps"], dump.timestamps)
        assert AttentionMetadata.from_json(str(arrays["metadata"])) == dump.metadata


# --------------------------------------------------------------------------- whole or not at all


def test_a_failure_leaves_neither_file_nor_part(path, weights, monkeypatch):
    monkeypatch.setattr(writer, "ROW_GROUP_BYTES", 0)
    with pytest.raises(KeyboardInterrupt), AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**hourly(weights, list("abcd"), np.arange(4)))
        assert len(list(path.parent.iterdir())) == 1
        raise KeyboardInterrupt
    assert not list(path.parent.iterdir())


def test_a_failure_leaves_the_older_file_as_it_was(dump, path, weights):
    before = path.read_bytes()
    with pytest.raises(OSError, match="the data went away"), AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**hourly(weights * 0, list("abcd"), np.arange(4)))
        raise OSError("the data went away")
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_the_file_appears_only_when_it_is_complete(path, weights):
    with AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**hourly(weights, list("abcd"), np.arange(4)))
        assert not path.exists()
    assert read_attention(path).num_windows == 4
    assert list(path.parent.iterdir()) == [path]


KILLED_WHILE_WRITING = """
import os, signal, sys
import numpy as np
from forecast_attn.attention_file import AttentionWriter, read_attention, writer
path = sys.argv[1]
writer.ROW_GROUP_BYTES = 0
dump = read_attention(path)
with AttentionWriter(path, dump.metadata) as file:
    file.write(item_ids=dump.window_item_ids, cutoffs=dump.window_cutoffs, timestamps=dump.timestamps,
               lookback_starts=dump.lookback_starts, weights=dump.weights * 0)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a matter of Unix")
def test_a_killed_process_leaves_the_older_file_as_it_was(dump, path):
    before = path.read_bytes()
    root = Path(__file__).parents[1]
    ended = subprocess.run([sys.executable, "-c", KILLED_WHILE_WRITING, str(path)], cwd=root, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    assert [entry.suffix for entry in path.parent.iterdir() if entry != path] == [".partial"]


# Files of that process may not grow beyond 2 kB, which is how a full disk looks from inside. Never in this process: the
# limit would hold for pytest's own output too.
SMALL_DISK = """
import resource, sys
import numpy as np
from forecast_attn.attention_file import AttentionWriter, read_attention, writer
from forecast_attn.errors import RunError

dump = read_attention(sys.argv[1])
windows = {"item_ids": dump.window_item_ids, "cutoffs": dump.window_cutoffs, "timestamps": dump.timestamps,
           "lookback_starts": dump.lookback_starts, "weights": dump.weights}
sys.dont_write_bytecode = True  # a file of bytecode, too, would end after 2 kB
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
"""
WRITE_ON_A_SMALL_DISK = """
writer.ROW_GROUP_BYTES = int(sys.argv[3])
try:
    with AttentionWriter(sys.argv[2], dump.metadata) as file:
        for _ in range(3):
            file.write(**windows)
except RunError as error:
    print(error.message)
"""
EXPORT_ON_A_SMALL_DISK = """
try:
    getattr(dump, sys.argv[3])(sys.argv[2])
except RunError as error:
    print(error.message)
"""


@pytest.fixture
def on_a_small_disk(path):
    """Run a script on an attention file of 100 lags, in a process whose disk is full after 2 kB; return its output."""
    pytest.importorskip("resource", reason="file size limits are a matter of Unix")
    weights = softmax_weights(4, 2, 5, 100)
    with AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**hourly(weights, list("abcd"), np.arange(4)))

    def run(script, target, argument):
        words = [sys.executable, "-c", SMALL_DISK + script, str(path), str(target), str(argument)]
        ended = subprocess.run(words, cwd=Path(__file__).parents[1], check=False, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return run


@pytest.mark.slow
@pytest.mark.parametrize("row_group_bytes", [0, 2**20])
def test_a_full_disk_is_said_so_and_leaves_nothing(on_a_small_disk, tmp_path, row_group_bytes):
    target = tmp_path / "full" / "attention.parquet"
    target.parent.mkdir()
    assert "cannot write" in on_a_small_disk(WRITE_ON_A_SMALL_DISK, target, row_group_bytes)
    assert not list(target.parent.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("export", ["export_csv", "export_npz"])
def test_an_export_that_fails_leaves_the_older_file(on_a_small_disk, tmp_path, export):
    target = tmp_path / "full" / "export"
    target.parent.mkdir()
    target.write_text("older")
    assert "cannot write" in on_a_small_disk(EXPORT_ON_A_SMALL_DISK, target, export)
    assert target.read_text() == "older"
    assert list(target.parent.iterdir()) == [target]


def test_a_missing_folder_is_said_before_any_work(tmp_path, weights):
    with (
        pytest.raises(RunError, match=r"cannot write .*No such file"),
        AttentionWriter(tmp_path / "no" / "a", metadata_for(weights)),
    ):
        pytest.fail("the block must not be entered")


@pytest.mark.parametrize("name", ["weights", "cutoffs", "lookback_starts", "timestamps", "item_ids"])
def test_arrays_that_do_not_fit_are_refused(path, weights, name):
    windows = hourly(weights, list("abcd"), np.arange(4))
    with pytest.raises(ValueError, match="must have shape"), AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**windows | {name: windows[name][:-1]})


def test_times_beyond_nanoseconds_are_refused(path, weights):
    windows = hourly(weights, list("abcd"), np.arange(4))
    windows["cutoffs"] = np.array(["1500-01-01"] * 4, "datetime64[s]")
    with pytest.raises(DataError, match="1678"), AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**windows)


# --------------------------------------------------------------------------- the documentation


@pytest.mark.slow
def test_the_code_in_the_documentation_runs(path, monkeypatch):
    weights = softmax_weights(2, 1, 24, 168)
    with AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**hourly(weights, ["city", "city"], ["2026-01-05T14", "2026-01-05T15"]))
    monkeypatch.chdir(path.parent)
    text = (Path(__file__).parents[1] / "docs" / "attention-file.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 6
    results = []
    for block in blocks:
        names: dict[str, object] = {}
        exec(block, names)
        results += [list(names["frame"]["strongest_lag"])] if "frame" in names else []
    assert results == [(167 - weights.reshape(-1, 168).argmax(-1)).tolist()] * 3  # pandas, polars, DuckDB
    assert [len(block.splitlines()) for block in blocks[:3]] == [3, 3, 3]
    assert {entry.suffix for entry in path.parent.iterdir()} == {".parquet", ".csv", ".npz"}


def test_every_column_and_key_is_documented(dump, path):
    text = (Path(__file__).parents[1] / "docs" / "attention-file.md").read_text(encoding="utf-8")
    names = [*pq.read_schema(path).names, *json.loads(pq.read_schema(path).metadata[METADATA_KEY])]
    assert [name for name in names if f"`{name}`" not in text] == []


# --------------------------------------------------------------------------- files that are none


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RunError, match="there is no file"):
        read_attention(tmp_path / "attention.parquet")


def test_what_is_not_parquet_is_refused(path):
    path.write_text("item_id,weight\na,1\n")
    with pytest.raises(RunError, match="not an attention file, or is damaged"):
        read_attention(path)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(RunError, match="not a regular file"):
        read_attention(tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_truncated_file_is_refused(dump, path, share):
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])
    with pytest.raises(RunError, match="damaged"):
        read_attention(path)


def test_damaged_weights_are_noticed(path):
    weights = softmax_weights(50, 1, 4, 30)
    with AttentionWriter(path, metadata_for(weights)) as file:
        file.write(**hourly(weights, ["a"] * 50, np.arange(50)))
    offset = pq.ParquetFile(path).metadata.row_group(0).column(6).data_page_offset
    content = bytearray(path.read_bytes())
    content[offset : offset + 400] = bytes(400)
    path.write_bytes(content)
    with pytest.raises(RunError, match="damaged"):
        _ = read_attention(path).weights


def test_another_parquet_file_is_refused(path):
    pq.write_table(pa.table({"a": [1]}), path)
    with pytest.raises(RunError, match="does not hold attention weights"):
        read_attention(path)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda about: about | {"format_version": 4}, "format 4; this version reads up to 3"),
        (lambda about: {name: about[name] for name in about if name != "mechanism"}, "mechanism"),
        (lambda about: about | {"heads": 0}, "from 1 to 1,024"),
        (lambda about: about | {"lookback": 6}, "other columns"),
        (lambda about: about | {"horizon": 2}, "rearranged"),
    ],
)
def test_metadata_that_does_not_fit_is_refused(dump, path, change, text):
    table = pq.read_table(path)
    about = change(json.loads(table.schema.metadata[METADATA_KEY]))
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: json.dumps(about)}), path)
    with pytest.raises(RunError, match=text):
        read_attention(path)


def test_names_of_a_later_package_are_passed_over(dump, path, weights):
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[METADATA_KEY]) | {"colour": "blue"}
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: json.dumps(about)}), path)
    assert np.array_equal(read_attention(path).weights, weights)


def test_rearranged_rows_are_refused(dump, path):
    table = pq.read_table(path)
    pq.write_table(table.sort_by([("step", "descending")]), path)
    with pytest.raises(RunError, match="rearranged"):
        read_attention(path)
