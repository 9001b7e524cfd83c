"""Random tables: plain blocks and records give the same, pandas agrees, and nothing ends in another error."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table, records, source
from forecast_attn.errors import DataError

WORDS = st.sampled_from(["x", "north", 'a "b"', "c, d", "e\nf", " g", "h ", "ö€", "NA", "", "true", "1;2", "it's", '"'])
WHOLE = st.integers(-(2**62), 2**62).map(str)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False).map(repr)
CELLS = st.one_of(
    WORDS, WHOLE, NUMBERS, st.sampled_from(["007", "+5", "1e5", "-0", "0x1F", "1_0", "inf", "2024-01-02"])
)
COLUMN = st.one_of(*(st.lists(kind, min_size=7, max_size=7) for kind in (WORDS, WHOLE, NUMBERS, CELLS)))
TABLES = st.lists(COLUMN, min_size=2, max_size=4)


def written(columns: list[list[str]], quoting: Any, end: str) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=quoting, lineterminator=end)
    writer.writerow([f"column {at}" for at in range(len(columns))])
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue().encode()


def outcome(path: Path) -> Any:
    try:
        return read_table(path, DataConfig(delimiter=",", decimal="."))
    except DataError as error:
        return error.message


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=TABLES, quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]), end=st.sampled_from(["\n", "\r\n"]))
def test_blocks_and_records_agree(
    columns: list[list[str]], quoting: Any, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one block, in many small ones that end anywhere, and record by record."""
    path = tmp_path / "table.csv"
    path.write_bytes(written(columns, quoting, end))
    whole = outcome(path)
    with monkeypatch.context() as patched:
        patched.setattr(source.Source.chunks, "__defaults__", (11, None))
        small = outcome(path)
    with monkeypatch.context() as patched:
        patched.setattr(records, "is_plain", lambda text, layout: False)
        patched.setattr(records, "RECORDS_AT_ONCE", 2)
        exact = outcome(path)
    assert isinstance(whole, pd.DataFrame)
    pd.testing.assert_frame_equal(whole, small, check_exact=True, check_categorical=False)
    pd.testing.assert_frame_equal(whole, exact, check_exact=True, check_categorical=False)
    assert whole.shape == (7, len(columns))


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=st.lists(NUMBERS | WHOLE, min_size=3, max_size=30), missing=st.integers(0, 10))
def test_numbers_are_the_ones_that_python_reads(cells: list[str], missing: int, tmp_path: Path) -> None:
    cells = [*cells, *[""] * missing]
    path = tmp_path / "table.csv"
    path.write_bytes(written([cells, ["x"] * len(cells)], csv.QUOTE_MINIMAL, "\n"))
    expected = np.array([float(cell) if cell else np.nan for cell in cells])
    actual = read_table(path, DataConfig())["column 0"].to_numpy(np.float64)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(columns=TABLES)
def test_pandas_reads_the_same_text(columns: list[list[str]], tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(written(columns, csv.QUOTE_ALL, "\n"))
    actual = read_table(path, DataConfig(delimiter=",", decimal="."))
    expected = pd.read_csv(path, dtype=str, keep_default_na=False)
    for name in actual:
        cells = [cell.strip() for cell in expected[name]]
        if isinstance(actual[name].dtype, pd.CategoricalDtype):
            assert ["" if pd.isna(cell) else cell for cell in actual[name]] == [
                "" if cell == "NA" else cell for cell in cells
            ]
        else:
            assert actual[name].isna().tolist() == [cell in ("", "NA") for cell in cells]


@pytest.mark.slow
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.binary(min_size=1, max_size=200) | st.text(alphabet='ab,;\t|"\r\n 1.,xé\0', max_size=80).map(str.encode)
)
def test_any_bytes_are_a_table_or_a_data_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "table"
    path.write_bytes(content)
    for options in ({}, {"wide": True}):
        try:
            frame = read_table(path, DataConfig(**options))
        except DataError as error:
            assert "\n" not in error.message
        else:
            assert len(frame) > 0
