"""The first line of a file: names of columns, or the first row."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table
from forecast_attn.data.reading.table import read_beside
from forecast_attn.errors import DataError


@pytest.mark.parametrize(
    ("names", "row"),
    [
        ("2019,2020,Jan-2021", "1,2,3"),
        ("Date,1,2", "1,2,3"),
        ("2020-01,2020-02,2020", "1,2,3"),
        ("2001,2002,2003", "41,12,3"),
        ("region,2001,2002", "north,5,6"),
        ("x,2024-01-05,2024-01-06", "north,yes,no"),
        ("day,08:00,09:00", "2024-01-05,7.5,8.1"),
        ("item,0.1,0.5", "a,7.5,8.1"),
        ("0,1,2,3", "4,5,1,2"),
        ("0", "7.5"),
    ],
)
def test_names_of_steps_are_a_header(tmp_path: Path, names: str, row: str) -> None:
    path = tmp_path / "named.csv"
    path.write_text("\n".join([names, *(row,) * 12]))
    assert list(read_table(path, DataConfig()).columns) == names.split(",")


@pytest.mark.slow
@pytest.mark.parametrize("first", ["1,234.5", "1.234,5", "1,234,567.5", "1.234.567,5", ".5"])
def test_a_first_number_with_both_marks_is_that_of_a_row(tmp_path: Path, first: str) -> None:
    rows = [f"{at % 7 + 1},23{at % 10}.5".join('""') + f";{at}" for at in range(40)]
    (tmp_path / "table.csv").write_text("\n".join([f'"{first}";3', *rows]))
    with pytest.raises(DataError, match="has no header"):
        read_table(tmp_path / "table.csv", DataConfig(delimiter=";"))


def test_a_header_that_names_the_rows_or_their_years_stays_as_it_is(tmp_path: Path) -> None:
    """A field too many behind each row is an error, and no reason to move years below another name."""
    lines = [f"{year},{at},{at % 3}" for at, year in enumerate(range(1960, 2000))]
    for first in ("year", "id", "week"):
        (tmp_path / "table.csv").write_text("\n".join([f"{first},load", *lines]))
        with pytest.raises(Exception, match="3 fields"):
            read_table(tmp_path / "table.csv", DataConfig())


def test_a_table_beside_another_begins_at_the_line_with_most_of_its_names(tmp_path: Path) -> None:
    """A title of a sheet may hold the name of the time, too."""
    lines = [",,Date,Price", "Date,Price,Dividend,CAPE", *(f"1871.{at:02d},{at},{at},{at}" for at in range(1, 13))]
    (tmp_path / "table.csv").write_text("\n".join(lines))
    frame = read_beside(tmp_path / "table.csv", DataConfig(skip_rows=1), time="Date", names=("Date", "Price", "CAPE"))
    assert [*frame.columns] == ["Date", "Price", "Dividend", "CAPE"]


@pytest.mark.parametrize(
    ("rows", "kept"),
    [
        (["2024-01,1", "2024-02,2", "2024-03,3"], 3),
        (["2024-03,1", "2024-02,2", "2024-01,3"], 3),
        (["2024-01,1", "2024-02,2", "Total,3"], 2),
        (["2023-12,1", "2024-01,1", "2023,1"], 2),  # a year below its months
    ],
)
def test_lines_that_go_on_in_time_are_no_footer_of_another_table(
    write_csv: Callable, rows: list[str], kept: int
) -> None:
    path = write_csv("\n".join(["month,y", *rows]))
    assert len(read_beside(path, DataConfig(skip_footer=1), time="month")) == kept
