"""Tables in several Parquet files: the same frame as one file, and differences between the files are refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import Source, digest_of, read_table
from forecast_attn.errors import DataError

ROWS = pd.DataFrame(
    {"shop": np.repeat(["a", "b", "c"], 4), "day": pd.date_range("2024-01-01", periods=12), "sold": np.arange(12.0)}
)


def write_part(path: Path, rows: pd.DataFrame) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows.to_parquet(path, index=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files, one of them in a folder below, and what Spark and Delta write beside them."""
    write_part(tmp_path / "days" / "part-0.parquet", ROWS[:8])
    write_part(tmp_path / "days" / "part-1" / "x.snappy.parquet", ROWS[8:])
    write_part(tmp_path / "days" / "_delta_log" / "old.parquet", ROWS[:1])
    (tmp_path / "days" / "_SUCCESS").write_text("")
    (tmp_path / "days" / ".part-0.parquet.crc").write_text("x")
    return tmp_path / "days"


@pytest.mark.parametrize("pattern", ["", "**/*.parquet", "part-*/*", "part-0.parquet"])
def test_a_folder_and_a_pattern_are_one_table(folder: Path, pattern: str) -> None:
    frame = read_table(folder / pattern, DataConfig())
    rows = {"part-*/*": ROWS[8:], "part-0.parquet": ROWS[:8]}.get(pattern, ROWS)
    assert frame["shop"].tolist() == rows["shop"].tolist()
    np.testing.assert_array_equal(frame["day"].to_numpy("datetime64[ns]"), rows["day"].to_numpy("datetime64[ns]"))
    np.testing.assert_array_equal(frame["sold"], rows["sold"])


def test_values_of_folders_are_columns(tmp_path: Path) -> None:
    pq.write_to_dataset(
        pa.table({"year": [2023, 2024, 2024, None], "shop": ["b/c", "01", None, "b"], "sold": [1.0, 2.0, 3.0, 4.0]}),
        tmp_path / "t",
        partition_cols=["year", "shop"],
    )
    frame = read_table(tmp_path / "t", DataConfig()).sort_values("sold")
    assert frame["year"].tolist()[:3] == [2023, 2024, 2024] and frame["year"].isna().tolist() == [False] * 3 + [True]
    assert frame["shop"].astype(object).where(frame["shop"].notna(), None).tolist() == ["b/c", "01", None, "b"]
    part = read_table(tmp_path / "t" / "year=2024", DataConfig())
    assert "year" not in part.columns and len(part) == 2


def test_whole_numbers_and_absent_values_are_widened(tmp_path: Path) -> None:
    pq.write_table(pa.table({"y": pa.array([1, 2]), "note": pa.nulls(2)}), tmp_path / "0.parquet")
    pq.write_table(pa.table({"note": pa.array(["x"]), "y": pa.array([2.5])}), tmp_path / "1.pq")
    frame = read_table(tmp_path, DataConfig())
    assert frame["y"].tolist() == [1, 2, 2.5] and frame["note"].tolist()[-1] == "x" and frame["note"].isna().sum() == 2


def test_files_that_do_not_fit_are_refused(folder: Path) -> None:
    write_part(folder / "part-2.parquet", ROWS.drop(columns="sold").assign(price=1.0))
    with pytest.raises(DataError, match=r"part-2.parquet' has other columns .* lacks 'sold' and has 'price' too"):
        read_table(folder, DataConfig())
    write_part(folder / "part-2.parquet", ROWS.assign(sold="many"))
    with pytest.raises(DataError, match="columns of different types"):
        read_table(folder, DataConfig())
    damaged = (folder / "part-0.parquet").read_bytes()
    (folder / "part-2.parquet").write_bytes(damaged[: len(damaged) // 2])
    with pytest.raises(DataError, match=r"part-2.parquet' is a damaged parquet file"):
        read_table(folder, DataConfig())


@pytest.mark.parametrize("name", ["part-1/x.PARQUET", "x.parq", "part-0001", "x.txt"])
def test_parquet_files_of_a_folder_count_whatever_their_names_end_in(folder: Path, name: str) -> None:
    (folder / "part-1" / "x.snappy.parquet").rename(folder / name)
    (folder / "part-1_$folder$").write_text("")
    (folder / "README.md").write_text("sales")
    assert read_table(folder, DataConfig())["sold"].tolist() == ROWS["sold"].tolist()
    assert read_table(folder / "**" / Path(name).name, DataConfig())["sold"].tolist() == ROWS["sold"][8:].tolist()


@pytest.mark.parametrize("name", ["notes.csv", "part-1/x.orc", "part-2"])
def test_a_folder_with_other_files_is_none(folder: Path, name: str) -> None:
    (folder / name).write_text("a,b\n1,2\n")
    for table in (folder, folder / "**/*"):
        with pytest.raises(DataError, match=f"has '{name}' beside its Parquet files") as refused:
            Source.of(table)
        assert f"{folder}/**/*.parquet" in str(refused.value.hint)
    assert len(read_table(folder / "**/*.parquet", DataConfig())) == len(ROWS)


def test_a_pattern_of_no_parquet_file_is_none(folder: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        Source.of(folder / "*.nothing")
    with pytest.raises(DataError, match="there is no file"):
        Source.of(folder / "a**b.parquet")


def test_the_digest_is_of_names_and_contents(folder: Path) -> None:
    first = digest_of(folder)
    assert first == digest_of(shutil.copytree(folder, folder.parent / "copy"))
    assert digest_of(folder / "part-0.parquet") != first
    (folder / "part-0.parquet").rename(folder / "part-9.parquet")
    renamed = digest_of(folder)
    write_part(folder / "part-9.parquet", ROWS[:7])
    assert len({first, renamed, digest_of(folder)}) == 3
    assert digest_of(folder / "nothing.parquet") is None


@pytest.mark.slow
def test_training_and_forecasts_have_the_bytes_of_one_file(forecast, small, here, make_table, files_in) -> None:
    """From a folder, a pattern and one file; resuming and later commands find the folder again."""
    tables = [make_table(60, seed).assign(shop=f"s{seed}") for seed in range(4)]
    pd.concat(tables).to_parquet("one.parquet", index=False)
    for number, rows in enumerate((tables[:1], tables[1:])):
        write_part(Path("many") / f"part-{number}.parquet", pd.concat(rows))
    for name in ("one.parquet", "many"):
        run = f"run-{Path(name).stem}"
        options = ("--target", "target", "--id", "shop", "--out", run, "--quiet")
        assert forecast("train", name, *small, *options).code == 0
        for data, out in ((name, "end"), ("many/*.parquet", "pattern")):
            done = forecast("predict", run, "--data", data, "--out", f"{run}/{out}.csv", "--quiet")
            assert done.code == 0, done.err
    written = {run: files_in(run) for run in ("run-one", "run-many")}
    for name in ("model.safetensors", "end.csv", "pattern.csv"):
        assert written["run-one"][name] == written["run-many"][name]
    assert written["run-one"]["end.csv"] == written["run-one"]["pattern.csv"]
    assert forecast("backtest", "run-many", "--cutoffs", "2", "--quiet").code == 0
    (Path("many") / "part-1.parquet").unlink()
    refused = forecast("backtest", "run-many", "--cutoffs", "2", "--quiet", "--out", "other.parquet")
    assert refused.error == "'many' is not the table that 'run-many' was started with"
