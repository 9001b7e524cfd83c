"""The same table in any format and any order gives the same panel, to the bit."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.reading import file_positions, parts, read_beside, read_table, source
from forecast_attn.data.reading.source import Source
from forecast_attn.data.roles import resolve_roles
from forecast_attn.errors import ConfigError, DataError

LONG = {"future_covariates": ("wind",)}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Three series of hours with numbers of all sizes, the last four rows without a target."""
    random, hours = np.random.default_rng(3), pd.date_range("2024-02-28 22:00", periods=40, freq="h")
    parts = []
    for name, first in (("north", 0), ("south", 7), ("007", 3)):
        target = random.normal(size=40) * 10.0 ** random.integers(-3, 9)
        parts.append(
            pd.DataFrame(
                {
                    "item_id": name,
                    "timestamp": hours.strftime("%Y-%m-%d %H:%M:%S"),
                    "target": np.where(np.arange(40) < 36, target, np.nan),
                    "wind": random.normal(size=40),
                    "count": random.integers(0, 9, 40),
                }
            )[first:]
        )
    return pd.concat(parts, ignore_index=True).assign(count=lambda frame: frame["count"].where(frame["target"].notna()))


def panel_of(table: Any, **options: Any) -> Panel:
    config = DataConfig(**{**LONG, **options})
    frame = read_table(table, config)
    return build_panel(frame, resolve_roles(frame, config, "table"), config, source="table")


def assert_same(panel: Panel, expected: Panel, *, roles: bool = True) -> None:
    assert panel.item_ids == expected.item_ids
    if roles:
        assert panel.roles == expected.roles
    for name in ("starts", "num_known", "timestamps", "target", "past_covariates", "future_covariates"):
        left, right = getattr(panel, name), getattr(expected, name)
        assert left.dtype == right.dtype
        assert left.tobytes() == right.tobytes(), name


def csv(table: pd.DataFrame, **options: Any) -> bytes:
    return table.to_csv(index=False, **options).encode()


FORMATS: dict[str, tuple[Callable[[pd.DataFrame], bytes], dict[str, Any]]] = {
    "semicolons": (lambda table: csv(table, sep=";"), {}),
    "tabs": (lambda table: csv(table, sep="\t"), {}),
    "bars": (lambda table: csv(table, sep="|"), {}),
    "decimal commas": (lambda table: csv(table, sep=";", decimal=","), {}),
    "decimal commas in quotes": (lambda table: csv(table, decimal=",", quoting=1), {}),
    "decimal commas, named": (lambda table: csv(table, sep=";", decimal=","), {"decimal": ",", "delimiter": ";"}),
    "all in quotes": (lambda table: csv(table, quoting=1), {}),
    "Windows line ends": (lambda table: csv(table, lineterminator="\r\n"), {}),
    "old Mac line ends": (lambda table: csv(table, lineterminator="\r"), {}),
    "blanks": (lambda table: csv(table).replace(b",", b" ,  "), {}),
    "byte order mark": (lambda table: b"\xef\xbb\xbf" + csv(table), {}),
    "UTF-16": (lambda table: csv(table).decode().encode("utf-16"), {}),
    "UTF-16, named": (lambda table: csv(table).decode().encode("utf-16-be"), {"encoding": "utf-16-be"}),
    "words for missing": (lambda table: csv(table, na_rep="NA"), {}),
    "gzip": (lambda table: gzip.compress(csv(table)), {}),
    "gzip in two parts": (lambda table: gzip.compress(csv(table)[:700]) + gzip.compress(csv(table)[700:]), {}),
    "zstd": (lambda table: pa.compress(csv(table), "zstd", asbytes=True), {}),
    "bzip2": (lambda table: bz2.compress(csv(table)), {}),
    "xz": (lambda table: lzma.compress(csv(table)), {}),
    "zip": (lambda table: zipped({"folder/": b"", "folder/table.csv": csv(table), "__MACOSX/._table.csv": b"x"}), {}),
    "Parquet": (lambda table: table.to_parquet(index=False), {}),
    "Parquet with the time as its index": (lambda table: indexed_by_time(table).to_parquet(), {}),
    "Parquet in groups": (lambda table: table.to_parquet(index=False, row_group_size=11), {}),
    "Feather": (lambda table: feather(table, "zstd"), {}),
    "Feather, uncompressed": (lambda table: feather(table, "uncompressed"), {}),
    "Arrow stream": (lambda table: stream(table), {}),
    "Stata": (lambda table: stata(table, 118), {}),
    "Stata of 2005": (lambda table: stata(table, 114), {}),
    "shuffled rows": (lambda table: csv(table.sample(frac=1, random_state=1)), {}),
    "shuffled columns": (lambda table: csv(table[["wind", "target", "count", "timestamp", "item_id"]]), {}),
    "shuffled Parquet": (lambda table: table.sample(frac=1, random_state=2)[table.columns[::-1]].to_parquet(), {}),
}


def indexed_by_time(table: pd.DataFrame) -> pd.DataFrame:
    return table.set_index(pd.DatetimeIndex(table["timestamp"], name=None)).drop(columns="timestamp")


def zipped(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


def feather(table: pd.DataFrame, compression: str) -> bytes:
    target = io.BytesIO()
    pyarrow.feather.write_feather(table, target, compression=compression)
    return target.getvalue()


def stata(table: pd.DataFrame, version: Any) -> bytes:
    target = io.BytesIO()
    table.to_stata(target, write_index=False, version=version)
    return target.getvalue()


def stream(table: pd.DataFrame) -> bytes:
    target = io.BytesIO()
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    with pa.ipc.new_stream(target, arrow.schema) as writer:
        writer.write_table(arrow, max_chunksize=13)
    return target.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_panel(table: pd.DataFrame, name: str, tmp_path: Path) -> None:
    """By content: the file's name never says what it is."""
    write, options = FORMATS[name]
    path = tmp_path / "table.csv"
    path.write_bytes(csv(table))
    other = tmp_path / "table"
    other.write_bytes(write(table))
    assert_same(panel_of(other, **options), panel_of(path))


@pytest.mark.parametrize("has_stamps", [True, False])
def test_lists_of_parquet_are_a_row_for_each_value(has_stamps: bool, tmp_path: Path) -> None:
    """As Hugging Face keeps series; without stamps, their positions are the steps."""
    stamps = [list(pd.date_range("2020-01-01", periods=rows)) for rows in (3, 2)]
    lists = {"timestamp": stamps} if has_stamps else {}
    pd.DataFrame({"id": ["a", "b"], **lists, "target": [[1.0, 2.0, 3.0], [4.0, 5.0]]}).to_parquet(
        tmp_path / "t.parquet"
    )
    frame = read_table(tmp_path / "t.parquet", DataConfig())
    assert frame["id"].tolist() == [*"aaabb"]
    assert frame["target"].tolist() == [1, 2, 3, 4, 5]
    times = frame["timestamp"].tolist() if has_stamps else frame["step"].tolist()
    assert times == ([*stamps[0], *stamps[1]] if has_stamps else [1, 2, 3, 1, 2])


def test_lists_of_other_lengths_stay_and_are_refused(tmp_path: Path) -> None:
    table = pd.DataFrame({"date": ["2020-01-01", "2020-01-02"], "y": [[1.0], [2.0, 3.0]], "x": [[1.0], [2.0]]})
    table.to_parquet(tmp_path / "t.parquet")
    with pytest.raises(DataError, match="column 'y' holds list"):
        read_table(tmp_path / "t.parquet", DataConfig())


@pytest.mark.parametrize("name", ["semicolons", "gzip", "Parquet", "Feather", "Stata"])
def test_standard_input(table: pd.DataFrame, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FORMATS[name][0](table))))
    assert_same(panel_of("-"), panel_of(table))


FRAMES: dict[str, Callable[[pd.DataFrame], Any]] = {
    "datetimes": lambda table: table.assign(timestamp=pd.to_datetime(table["timestamp"])),
    "datetimes in seconds": lambda table: table.assign(timestamp=pd.to_datetime(table["timestamp"]).dt.as_unit("s")),
    "object": lambda table: table.astype(object),
    "string[pyarrow]": lambda table: table.astype({"item_id": "string[pyarrow]", "timestamp": "string[python]"}),
    "category": lambda table: table.astype({"item_id": "category", "timestamp": "category", "count": "category"}),
    "Int64 and Float64": lambda table: table.astype({"count": "Int64", "wind": "Float64", "target": "Float64"}),
    "Int8": lambda table: table.astype({"count": "Int8"}),
    "Arrow": lambda table: table.convert_dtypes(dtype_backend="pyarrow"),
    "decimal": lambda table: table.assign(
        wind=[Decimal(repr(float(value))) for value in table["wind"]], target=table["target"].astype(object)
    ),
    "sparse": lambda table: table.assign(wind=pd.arrays.SparseArray(table["wind"])),
    "periods": lambda table: table.assign(timestamp=pd.PeriodIndex(table["timestamp"], freq="h")),
    "other index": lambda table: table.set_index(pd.Index(np.arange(len(table)) * 7 % 1000, name="row")),
    "shuffled": lambda table: table.sample(frac=1, random_state=5),
    "time in the index": lambda table: table.assign(timestamp=pd.to_datetime(table["timestamp"])).set_index(
        "timestamp"
    ),
    "identifier and time in the index": lambda table: table.set_index(["item_id", "timestamp"]),
    "polars": lambda table: pl.from_pandas(table),
    "polars, other types": lambda table: pl.from_pandas(table).with_columns(
        pl.col("item_id").cast(pl.Categorical),
        pl.col("timestamp").str.to_datetime(),
        pl.col("count").cast(pl.Int16),
    ),
    "lazy polars": lambda table: pl.from_pandas(table).lazy(),
    "Arrow table": lambda table: pa.Table.from_pandas(table),
}


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.slow
def test_every_frame_gives_the_same_panel(table: pd.DataFrame, name: str) -> None:
    given = FRAMES[name](table)
    before = given.copy() if isinstance(given, pd.DataFrame) else None
    assert_same(panel_of(given), panel_of(table))
    if before is not None:
        pd.testing.assert_frame_equal(given, before)


DAYS = pd.date_range("2024-01-01", periods=40)
VALUES = pd.DataFrame({"sales": np.arange(40.0) % 7}, index=DAYS)
SHOPS = pd.concat({"a": VALUES, "b": VALUES * 2})


@pytest.mark.parametrize(
    ("frame", "columns"),
    [
        (VALUES, ["timestamp", "sales"]),
        (VALUES.rename_axis("when"), ["when", "sales"]),
        (VALUES.to_period("D"), ["timestamp", "sales"]),
        (VALUES.tz_localize("UTC"), ["timestamp", "sales"]),
        (VALUES["sales"], ["timestamp", "sales"]),
        (VALUES["sales"].rename(None), ["timestamp", "value"]),
        (VALUES.assign(day=DAYS), ["sales", "day"]),
        (SHOPS, ["item_id", "timestamp", "sales"]),
        (SHOPS.rename_axis(["shop", None]), ["shop", "timestamp", "sales"]),
        (SHOPS.rename_axis(["item_id", None]), ["item_id", "timestamp", "sales"]),
        (SHOPS.rename_axis(["shop", "date"]), ["shop", "date", "sales"]),
        (pd.concat({"a": SHOPS}), ["item_id_0", "item_id_1", "timestamp", "sales"]),
        (pd.concat({"Close": VALUES}, axis=1), ["timestamp", "Close sales"]),
    ],
)
def test_time_in_the_index_needs_no_name(frame: pd.DataFrame | pd.Series, columns: list[str]) -> None:
    """As pandas users have it; what a name says, or a column of dates, goes first."""
    read = read_table(frame, DataConfig())
    assert list(read) == columns
    time = "day" if "day" in columns else columns[-2]
    stamps = pd.DatetimeIndex(read[time].dt.tz_localize(None))
    assert stamps.tolist() == [*DAYS] * (len(read) // 40)


@pytest.mark.parametrize("width", ["float32", "Float32", "float16"])
def test_narrow_numbers_are_the_numbers_they_hold(table: pd.DataFrame, width: str) -> None:
    narrow = table.assign(wind=table["wind"].astype(width), target=np.round(table["target"] % 100))
    wide = narrow.assign(wind=narrow["wind"].astype("float64"))
    assert_same(panel_of(narrow), panel_of(wide))
    if width == "float32":
        assert_same(panel_of(pl.from_pandas(narrow)), panel_of(wide))


def test_whole_numbers_of_any_width() -> None:
    days = pd.date_range("2024-01-01", periods=30)
    frame = pd.DataFrame({"date": days, "target": np.arange(30), "wind": 1.5})
    expected = panel_of(frame)
    for width in ("int8", "int16", "int32", "uint8", "uint64", "float32", "float64", "UInt16", "bool"):
        given = frame.assign(target=frame["target"].astype(width))
        if width == "bool":
            expected = panel_of(frame.assign(target=(frame["target"] > 0) * 1))
        assert_same(panel_of(given), expected)


LONG_NAMES = {
    "of 64 bits": pa.array([2**63 + 1, 2**63 + 2], pa.uint64()),
    "with a hole": pa.array([2**60 + 1, 2**60 + 2, None], pa.int64()),
    "decimals": pa.array([Decimal(2**63 + 1), Decimal(2**63 + 2)], pa.decimal128(20, 0)),
    "dictionary": pa.array([2**60 + 1, 2**60 + 2, None], pa.int64()).dictionary_encode(),
}


@pytest.mark.parametrize("name", LONG_NAMES)
@pytest.mark.parametrize("form", ["parquet", "Arrow", "pandas of Arrow", "pandas"])
def test_names_of_series_keep_all_their_digits(name: str, form: str, tmp_path: Path) -> None:
    """As float64 they would be other names, one for both series, or a covariate."""
    keys = LONG_NAMES[name]
    table = pa.table({
        "item_id": pa.chunked_array([keys]).take(pa.array(np.repeat(np.arange(len(keys)), 30))),
        "date": pa.array([*pd.date_range("2024-01-01", periods=30)] * len(keys)), "y": np.arange(30.0 * len(keys)),
    })  # fmt: skip
    given: Any = table
    if form == "parquet":
        given = tmp_path / "t.parquet"
        pyarrow.parquet.write_table(table, given)
    elif form == "pandas of Arrow":
        given = table.to_pandas(types_mapper=pd.ArrowDtype)
    elif form == "pandas":  # Int64, UInt64, Decimal, categories
        given = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype(), pa.uint64(): pd.UInt64Dtype()}.get)
    expected = tuple(str(key) for key in keys.to_pylist() if key is not None)
    assert panel_of(given, undated_rows="drop", item_id="item_id", future_covariates=()).item_ids == expected


# --------------------------------------------------------------------------- wide tables


@pytest.fixture(scope="module")
def wide() -> pd.DataFrame:
    """Two series of 40 days; `b` starts on the 6th day, both end before the table does."""
    random, days = np.random.default_rng(0), pd.date_range("2024-01-01", periods=40)
    frame = pd.DataFrame({"date": days.astype(str), "b": random.normal(size=40), "a": random.normal(size=40)})
    frame.loc[:4, "b"], frame.loc[37:, "b"], frame.loc[35:, "a"] = np.nan, np.nan, np.nan
    return frame.assign(wind=random.normal(size=40), note="x", empty=np.nan)


def made_long(wide: pd.DataFrame) -> pd.DataFrame:
    """The same table, row by row."""
    parts = []
    for name in ("b", "a"):
        part = wide.rename(columns={name: "target"})[["date", "target", "wind"]].assign(item_id=name)
        parts.append(part[part["target"].notna().cumsum() > 0])
    return pd.concat(parts)


@pytest.mark.parametrize("form", ["frame", "csv", "parquet", "shuffled", "polars"])
def test_wide_is_long(wide: pd.DataFrame, form: str, tmp_path: Path) -> None:
    path = tmp_path / "wide"
    given: Any = path
    if form == "csv":
        wide.to_csv(path, index=False)
    elif form == "parquet":
        wide.to_parquet(path)
    else:
        shuffled = wide.sample(frac=1, random_state=4)[wide.columns[::-1]]
        given = {"frame": wide, "shuffled": shuffled, "polars": pl.from_pandas(wide)}[form]
    assert_same(panel_of(given, wide=True), panel_of(made_long(wide)), roles=False)


def test_a_wide_series_ends_with_its_last_value_where_nothing_of_the_future_is_known(wide: pd.DataFrame) -> None:
    panel = panel_of(wide, wide=True, future_covariates=(), ignore=("wind",))
    assert panel.item_ids == ("a", "b")
    assert np.diff(panel.starts).tolist() == [35, 32]
    assert panel.num_known.tolist() == [35, 32]


def test_what_is_left_out_of_a_wide_table_is_said(wide: pd.DataFrame) -> None:
    notes: list[Finding] = []
    read_table(wide, DataConfig(wide=True, ignore=("wind",)), report=notes.append)
    assert {(note.code, note.column) for note in notes} == {("FA104", "note"), ("FA104", "empty")}


def test_wide_rows_are_the_rows_of_the_file(wide: pd.DataFrame) -> None:
    frame = read_table(wide, DataConfig(wide=True, **LONG))
    positions = file_positions(frame)
    assert [(positions.row(at), positions.column("target", at)) for at in (0, 34, 35, 74)] == [
        (6, "b"), (40, "b"), (1, "a"), (40, "a"),
    ]  # fmt: skip
    for at in range(0, 75, 5):
        cell = wide[positions.column("target", at)][positions.row(at) - 1]
        assert frame["target"].iloc[at] == cell or (np.isnan(cell) and np.isnan(frame["target"].iloc[at]))


@pytest.mark.slow
def test_a_mistake_in_a_wide_table_is_found_where_it_is(wide: pd.DataFrame) -> None:
    for order in (wide, wide.sample(frac=1, random_state=4).reset_index(drop=True)):
        text = order.astype({"a": object})
        at = int(text.index[text["date"] == "2024-01-11"][0])
        text.loc[at, "a"] = "oops"
        with pytest.raises(
            DataError, match=rf"column 'a' must be numeric; row {at + 1}( \(line {at + 2}\))? is 'oops'"
        ):
            panel_of(text, wide=True)
        empty = order.copy()
        empty.loc[at, "a"] = np.nan
        with pytest.raises(DataError, match=rf"column 'a' has no value at row {at + 1}, series 'a'"):
            panel_of(empty, wide=True, missing="error")
        bad = order.copy()
        bad.loc[at, "date"] = "soon"
        with pytest.raises(DataError, match=rf"column 'date' is 'soon'.* row {at + 1}\b"):
            panel_of(bad, wide=True)


@pytest.mark.parametrize("option", [{"target": "a"}, {"item_id": "a"}])
def test_wide_and_a_target_contradict_each_other(wide: pd.DataFrame, option: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"--wide and --(target|id) contradict"):
        read_table(wide, DataConfig(wide=True, **option))


def test_a_wide_table_cannot_have_the_new_names(wide: pd.DataFrame) -> None:
    with pytest.raises(DataError, match="cannot have a column called 'target'"):
        read_table(wide.rename(columns={"wind": "target"}), DataConfig(wide=True, past_covariates=("target",)))


# --------------------------------------------------------------------------- what cannot be read


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Parquet", "Feather", "Arrow stream", "Stata"])
def test_damaged_files(table: pd.DataFrame, name: str, tmp_path: Path) -> None:
    content, random = FORMATS[name][0](table), np.random.default_rng(0)
    cases = [content[:-9], content[: len(content) // 2], content[:30] + bytes(200) + content[230:]]
    for _ in range(100):  # Arrow itself would crash on some of these
        letters = bytearray(content)
        letters[random.integers(8, len(letters))] = random.integers(256)
        cases.append(bytes(letters))
    for damaged in cases:
        (tmp_path / "table").write_bytes(damaged)
        try:
            frame = read_table(tmp_path / "table", DataConfig())
        except DataError as error:
            assert error.message.startswith(f"'{tmp_path / 'table'}'")
        else:
            assert list(frame.index) == list(range(len(frame)))


@pytest.mark.parametrize("option", [{"delimiter": ","}, {"decimal": "."}, {"encoding": "utf-8"}])
def test_options_of_text_are_refused_elsewhere(table: pd.DataFrame, option: dict[str, str], tmp_path: Path) -> None:
    table.to_parquet(tmp_path / "table")
    for given in (tmp_path / "table", table, pl.from_pandas(table)):
        with pytest.raises(ConfigError, match=f"has no --{next(iter(option))}"):
            read_table(given, DataConfig(**option))
        assert len(read_beside(given, DataConfig(**option))) == len(table)


def test_a_frame_has_no_sheets(table: pd.DataFrame) -> None:
    with pytest.raises(ConfigError, match="the table is a DataFrame, which has no --sheet"):
        read_table(table, DataConfig(sheet="Prices"))
    assert len(read_beside(table, DataConfig(sheet="Prices"))) == len(table)


def test_names_of_series_are_those_of_a_csv(tmp_path: Path) -> None:
    """An integer column that had an empty cell holds floats."""
    frame = pd.DataFrame({"shop": [1.0, 2.0, np.nan], "item": ["x", "y", "x"]})
    frame.astype({"shop": "Int64"}).to_csv(tmp_path / "table.csv", index=False)
    config = DataConfig(item_id="shop,item")
    tables = read_table(frame, config), read_table(tmp_path / "table.csv", config)
    assert [list(each["shop,item"]) for each in tables] == [["1/x", "2/y", "/x"]] * 2


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": []}), "has no rows"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "more than one column called 'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "more than one column called '1'"),
        (
            pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a b", "")])),
            "more than one column called 'a b'",
        ),
        (pd.DataFrame({"a": [1j]}), "complex numbers"),
        (pd.DataFrame({"a": [[1, 2]]}), "lists"),
        (pd.DataFrame({"a": [VALUES, 1]}), "lists"),
        (pl.DataFrame({"a": [[1, 2]]}), "which is neither numbers, text nor time stamps"),
        (pa.table({"a": [b"x"]}), "which is neither numbers, text nor time stamps"),
    ],
)
def test_frames_that_are_no_tables(frame: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(frame, DataConfig())
    if "columns" not in message and "rows" not in message and "column called" not in message:
        assert list(read_table(frame, DataConfig(ignore=("a",)))) == ["a"]


def test_not_a_table_at_all() -> None:
    with pytest.raises(TypeError, match="expected a path"):
        read_table(5, DataConfig())


def arrow_file(columns: dict[str, pa.Array], kind: str, compression: str | None) -> bytes:
    """An Arrow table as a file or a stream."""
    target, table = io.BytesIO(), pa.table(columns)
    new = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}[kind]
    with new(target, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return target.getvalue()


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_an_arrow_file_that_unpacks_to_far_more_than_a_table_would_is_refused(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "FREE", 1 << 16)
    columns = {"a": np.random.default_rng(0).normal(size=20_000), "b": np.zeros(20_000)}
    for compression in ("lz4", "zstd"):
        whole = Source("'table'", None, arrow_file(columns, kind, compression))
        pd.testing.assert_frame_equal(read_table(whole, DataConfig()), pd.DataFrame(columns))
    for columns in ({"a": np.zeros(500_000)}, {"a": np.zeros(400), "b": ["x" * 10_000] * 400}):
        bomb = Source("'table'", None, arrow_file(columns, kind, "zstd"))
        with pytest.raises(DataError, match="unpacks to more than 300 times as many"):
            read_table(bomb, DataConfig())


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_an_arrow_file_that_repeats_its_bytes_in_every_column_is_refused(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "FREE_CELLS", 600_000)
    columns = {f"column {number}": pa.nulls(50_000) for number in range(50)}
    whole = Source("'table'", None, arrow_file(dict(list(columns.items())[:10]), kind, None))
    assert read_table(whole, DataConfig()).shape == (50_000, 10)
    with pytest.raises(DataError, match=r"hold 50,000 rows of 50 columns, as a table of constants would"):
        read_table(Source("'table'", None, arrow_file(columns, kind, None)), DataConfig())
