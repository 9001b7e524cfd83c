"""Dates in the forms people write, and none that are guessed."""

import numpy as np
import pandas as pd
import pytest

from forecast_attn.data.timestamps import looks_like_dates, parse_timestamps
from forecast_attn.errors import DataError


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2024-01-31", "2024-01-31"),
        ("2024-01-31 13:05", "2024-01-31T13:05"),
        ("2024-01-31T13:05:07.25", "2024-01-31T13:05:07.25"),
        ("2024/1/31 0:00", "2024-01-31"),
        ("2024/1/31", "2024-01-31"),
        ("2024.01.31", "2024-01-31"),
        ("2024-01", "2024-01-01"),
        ("2024/03", "2024-03-01"),
        ("31/01/2024", "2024-01-31"),
        ("1/31/2024 13:05", "2024-01-31T13:05"),
        ("31.01.2024 13:05:07", "2024-01-31T13:05:07"),
        ("31-01-2024", "2024-01-31"),
        ("31 Jan 2024", "2024-01-31"),
        ("Jan 31, 2024", "2024-01-31"),
        ("January 2024", "2024-01-01"),
        ("2024-01-31T13:05Z", "2024-01-31T13:05"),
        ("2024-01-31T13:05+02:00", "2024-01-31T11:05"),
        (" 2024-01-31 ", "2024-01-31"),
    ],
)
def test_forms(written: str, meant: str) -> None:
    stamps, bad = parse_timestamps(pd.Series([written]))
    assert not bad.any()
    assert stamps.dtype == np.dtype("datetime64[ns]")
    assert stamps[0] == np.datetime64(meant, "ns")


@pytest.mark.parametrize("written", ["01/02/2024", "1.2.2024", "01-02-2024 10:00"])
def test_ambiguous_dates_are_refused(written: str) -> None:
    with pytest.raises(DataError, match="ambiguous"):
        parse_timestamps(pd.Series([written] * 3), "date")


def test_one_value_decides_the_order_for_all() -> None:
    assert parse_timestamps(pd.Series(["01/02/2024", "13/02/2024"]))[0][0] == np.datetime64("2024-02-01")
    assert parse_timestamps(pd.Series(["01/02/2024", "02/13/2024"]))[0][0] == np.datetime64("2024-01-02")


def test_evidence_for_both_orders_is_a_bad_cell() -> None:
    assert parse_timestamps(pd.Series(["13/02/2024", "02/13/2024"]))[1].tolist() == [False, True]


def test_dates_with_and_without_a_clock_in_one_column() -> None:
    stamps, bad = parse_timestamps(pd.Series(["2024/1/1", "2024/1/1 1:00"]))
    assert not bad.any()
    assert np.diff(stamps)[0] == np.timedelta64(1, "h")


@pytest.mark.parametrize("cell", ["", None, "soon", "2024-13-01", "2024-02-30", "12:30", "1500-01-01", "3000-01-01"])
def test_bad_cells_are_marked(cell: str | None) -> None:
    assert parse_timestamps(pd.Series(["2024-01-01", cell]))[1].tolist() == [False, True]


@pytest.mark.parametrize("first", ["YYYY-MM-DD", "n.d.", "none yet", "7"])
def test_a_bad_first_cell_spoils_no_other(first: str) -> None:
    assert parse_timestamps(pd.Series([first, "2024-01-01", "2024-01-02"]))[1].tolist() == [True, False, False]


def test_changing_offsets_are_instants() -> None:
    stamps, bad = parse_timestamps(pd.Series(["2024-03-31T01:00+01:00", "2024-03-31T03:00+02:00"]))
    assert not bad.any()
    assert np.diff(stamps)[0] == np.timedelta64(1, "h")


def test_whole_numbers_are_steps() -> None:
    stamps, bad = parse_timestamps(pd.Series([3, 4, 5]))
    assert stamps.tolist() == [3, 4, 5]
    assert stamps.dtype == np.int64
    assert not bad.any()


def test_eight_digits_are_days() -> None:
    assert parse_timestamps(pd.Series([20240131, 20240201]))[0].tolist() == [
        np.datetime64("2024-01-31", "ns").astype(int),
        np.datetime64("2024-02-01", "ns").astype(int),
    ]


@pytest.mark.parametrize("numbers", [[1.5, 2.0], [1.0, np.nan], [np.inf, 1.0]])
def test_other_numbers_are_no_steps(numbers: list[float]) -> None:
    assert parse_timestamps(pd.Series(numbers))[1].sum() == 1


def test_datetime_columns_with_a_zone_are_read_as_utc() -> None:
    column = pd.Series(pd.date_range("2024-01-01", periods=2, freq="h", tz="Europe/Berlin"))
    assert parse_timestamps(column)[0][0] == np.datetime64("2023-12-31T23:00")


@pytest.mark.parametrize(
    ("cells", "dates"),
    [
        (["2024-01-01", "2024-01-02"], True),
        (["2024-01-01", "?", "2024-01-02"], True),
        (["01/02/2024"], True),
        (["a", "b"], False),
        ([1, 2], False),
        ([None], False),
    ],
)
def test_looks_like_dates(cells: list[object], dates: bool) -> None:
    assert looks_like_dates(pd.Series(cells)) is dates
