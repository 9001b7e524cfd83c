"""Tables that are too large to be read at once: the same panel and run as in memory, or a refusal."""

from __future__ import annotations

import dataclasses
import errno
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.config.options import RunConfig
from forecast_attn.data import panel_parts, row_storage, segments
from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError, RunError
from forecast_attn.memory import machine_memory
from forecast_attn.runs.training_table import read_panel

FILES = (("s4", "s1", "s2"), ("s3", "s0"), ("s6", "s5"))
"""Series of each file: not in the order of their names."""
SIZES: dict[str, Any] = {"lookback": 14, "horizon": 7}


def series(name: str, number: int) -> pd.DataFrame:
    """Daily values of one series with holes, absent rows and a week of future rows; categories differ by file."""
    random, rows = np.random.default_rng(number), 120 + 10 * number
    frame = pd.DataFrame(
        {
            "item_id": name,
            "timestamp": pd.date_range("2024-01-01", periods=rows),
            "target": 50 + number + random.normal(0, 2, rows).cumsum(),
            "price": random.normal(5, 1, rows),
            "kind": random.choice(list("abc" if number < 3 else "bcd"), rows),
            "size": float(number),
        }
    )
    frame.loc[40:42, "target"] = np.nan
    frame.loc[60 + number, "price"] = np.nan
    frame.loc[rows - 7 :, "target"] = np.nan
    return frame.drop(index=[30, 31] if number % 2 else [])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table in three files."""
    table = tmp_path / "table"
    table.mkdir()
    for at, names in enumerate(FILES):
        frame = pd.concat([series(name, int(name[1:])) for name in names])
        frame.to_parquet(table / f"{at}.parquet", index=False)
    return table


@pytest.fixture
def by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every table in several files too large, and blocks of rows smaller than a series."""
    monkeypatch.setattr(panel_parts, "SHARE", 0)
    monkeypatch.setattr(row_storage, "ROWS_AT_ONCE", 50)
    monkeypatch.setattr(segments, "ROWS_AT_ONCE", 50)


def options(missing: str = "mask") -> dict[str, Any]:
    columns = {"future_covariates": ["price"], "static_covariates": ["size"], "categorical": ["kind"]}
    return {**SIZES, **columns, "missing": missing}


def panel_of(folder: Path, rows_in: Path | None, **given: Any) -> Panel:
    return read_panel(folder, RunConfig.from_options(given), rows_in=rows_in)[0]


@pytest.mark.parametrize("missing", ["mask", "ffill", "interpolate", "zero"])
@pytest.mark.usefixtures("by_parts")
def test_the_panel_is_that_of_the_table_read_at_once(folder: Path, tmp_path: Path, missing: str) -> None:
    whole, parts = (panel_of(folder, rows_in, **options(missing)) for rows_in in (None, tmp_path))
    assert isinstance(parts.target.base, np.memmap)
    assert not isinstance(whole.target.base, np.memmap)
    for field in dataclasses.fields(Panel):
        expected, value = getattr(whole, field.name), getattr(parts, field.name)
        if isinstance(expected, np.ndarray):
            assert value.dtype == expected.dtype, field.name
            np.testing.assert_array_equal(value, expected, field.name)
        elif field.name == "filled":
            assert value.policy == expected.policy
            np.testing.assert_equal(value.rows, expected.rows)
        elif field.name not in ("storage", "repairs"):
            assert value == expected, field.name
    assert set(parts.repairs) == set(whole.repairs)
    assert len(parts.repairs) == len(whole.repairs)


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["mask", "interpolate"])
def test_the_run_has_the_bytes_of_one_in_memory(
    folder: Path, tmp_path: Path, missing: str, request: pytest.FixtureRequest
) -> None:
    runs = {}
    for way in ("whole", "parts"):
        if way == "parts":
            request.getfixturevalue("by_parts")
        forecaster = Forecaster(**options(missing), seed=3, max_epochs=2, hidden_size=8, accelerator="cpu")
        forecaster.fit(folder, out=tmp_path / way)
        files = {path.name: path.read_bytes() for path in (tmp_path / way).iterdir()}
        runs[way] = {name: content for name, content in files.items() if name not in ("history.csv", "manifest.json")}
    assert runs["parts"] == runs["whole"]
    assert {path.name for path in tmp_path.iterdir()} == {"table", "whole", "parts"}


def test_a_table_is_read_by_parts_where_it_needs_more_memory_than_there_is(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = sum(len(pd.read_parquet(file)) for file in folder.iterdir()) * 6
    for memory, is_on_disk in ((cells * 21, False), (cells * 19, True)):
        monkeypatch.setattr(panel_parts, "machine_memory", lambda memory=memory: memory)
        assert isinstance(panel_of(folder, tmp_path, **options()).target.base, np.memmap) == is_on_disk


def test_the_limit_of_a_container_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "limit").write_text("12345\n")
    (tmp_path / "none").write_text("max\n")
    monkeypatch.setattr("forecast_attn.memory.LIMITS", (str(tmp_path / "none"), str(tmp_path / "limit")))
    assert machine_memory() == 12345


def rewrite(folder: Path, number: int, **columns: Any) -> None:
    path = folder / f"{number}.parquet"
    pd.read_parquet(path).assign(**columns).to_parquet(path, index=False)


@pytest.mark.usefixtures("by_parts")
class TestRefusals:
    def test_a_series_in_two_files(self, folder: Path, tmp_path: Path) -> None:
        (folder / "3.parquet").write_bytes((folder / "1.parquet").read_bytes())
        with pytest.raises(DataError, match=r"series 's0' is in two files, '.*1\.parquet' and '.*3\.parquet'"):
            panel_of(folder, tmp_path, **options())

    def test_another_column(self, folder: Path, tmp_path: Path) -> None:
        rewrite(folder, 1, more=1.0)
        with pytest.raises(DataError, match=r"in '.*1\.parquet' column 'more' is a .* covariate, unlike in '.*0"):
            panel_of(folder, tmp_path, **options())

    def test_another_step(self, folder: Path, tmp_path: Path) -> None:
        rewrite(folder, 2, timestamp=lambda frame: frame["timestamp"] + 6 * (frame["timestamp"] - START))
        with pytest.raises(DataError, match=r"in '.*2\.parquet' the time step is W-MON, unlike in '.*0\.parquet'"):
            panel_of(folder, tmp_path, **options())

    def test_a_disk_without_room(self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("os.posix_fallocate", full)
        forecaster = Forecaster(**options(), seed=3, max_epochs=1)
        with pytest.raises(RunError, match="No space left"):
            forecaster.fit(folder, out=tmp_path / "run")
        assert {path.name for path in tmp_path.iterdir()} == {"table"}


START = pd.Timestamp("2024-01-01")


def test_memory_is_unlimited_where_python_cannot_ask_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("os.sysconf")
    assert machine_memory() == sys.maxsize
