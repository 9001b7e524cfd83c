"""Reading a CSV, or saying why it is none."""

from collections.abc import Callable
from pathlib import Path

import pytest

from forecast_attn.data.reading.text import read_csv
from forecast_attn.errors import ConfigError, DataError

Write = Callable[..., Path]


def test_names_are_stripped(write_csv: Write) -> None:
    assert list(read_csv(write_csv("date, load ,OT\n2024-01-01,1,2\n")).columns) == ["date", "load", "OT"]


def test_byte_order_mark_is_no_part_of_a_name(write_csv: Write) -> None:
    assert list(read_csv(write_csv(b"\xef\xbb\xbfdate,y\n2024-01-01,1\n")).columns) == ["date", "y"]


def test_windows_line_ends_and_a_blank_last_line(write_csv: Write) -> None:
    assert read_csv(write_csv("date,y\r\n2024-01-01,1\r\n\r\n"))["y"].tolist() == [1]


def test_quoted_names_may_hold_the_delimiter(write_csv: Write) -> None:
    assert list(read_csv(write_csv('date,"load, MW"\n2024-01-01,1\n')).columns) == ["date", "load, MW"]


def test_identifiers_keep_their_zeros(write_csv: Write) -> None:
    path = write_csv("id,store,date,y\n007,01,2024-01-01,1\n")
    assert read_csv(path)["id"].tolist() == ["007"]
    assert read_csv(path, text_columns=("store",))["store"].tolist() == ["01"]


def test_other_delimiter(write_csv: Write) -> None:
    assert read_csv(write_csv("date;y\n2024-01-01;1\n"), delimiter=";")["y"].tolist() == [1]


def test_a_column_without_a_name_gets_one(write_csv: Write) -> None:
    assert list(read_csv(write_csv(",y\n2024-01-01,1\n")).columns) == ["Unnamed: 0", "y"]


def test_one_column_without_other_delimiters_is_a_table(write_csv: Write) -> None:
    assert read_csv(write_csv("y\n1\n2\n")).shape == (2, 1)


@pytest.mark.parametrize(
    ("content", "said", "hint"),
    [
        ("", "is empty", "header"),
        ("\n \n", "is empty", "header"),
        ("date,y\n", "has a header and no rows", "add rows"),
        ("date;y\n2024-01-01;1\n", "one column; its header holds ';'", "--delimiter ';'"),
        ("date\ty\n2024-01-01\t1\n", "one column; its header holds '\\t'", "--delimiter '\\t'"),
        ("date|y\n2024-01-01|1\n", "one column; its header holds '|'", "--delimiter '|'"),
        ("date,y,y\n2024-01-01,1,2\n", "more than one column called 'y'", "own name"),
        ("date,y, y\n2024-01-01,1,2\n", "more than one column called 'y'", "own name"),
        (b"PK\x03\x04\x00\x00\x08\x00", "is not a CSV: it holds binary data", "UTF-8"),
        (b"date,y\n2024-01-01,\xff\xfe\n", "is not a CSV", "UTF-8"),
        (b"d\xe4te,y\n2024-01-01,1\n", "is not a CSV", "UTF-8"),
        ("date,y\n2024-01-01,1\n2024-01-02,1,2\n", "is not a CSV", "equal fields"),
        ("date,y\n2024-01-01,1,2\n2024-01-02,1,2\n", "rows have more fields than the header", "equal fields"),
        ('date,y\n2024-01-01,"1\n', "is not a CSV", "equal fields"),
    ],
)
def test_what_is_no_table(write_csv: Write, content: str | bytes, said: str, hint: str) -> None:
    with pytest.raises(DataError) as error:
        read_csv(write_csv(content))
    assert said in error.value.message
    assert "table.csv" in error.value.message
    assert hint in str(error.value.hint)


@pytest.mark.parametrize("delimiter", ["", ";;", '"', "\n"])
def test_a_delimiter_is_one_character(write_csv: Write, delimiter: str) -> None:
    with pytest.raises(ConfigError, match="--delimiter must be one character"):
        read_csv(write_csv("date,y\n2024-01-01,1\n"), delimiter)


@pytest.mark.parametrize("delimiter", ["\t", "\\t", "tab"])
def test_a_tab_by_its_names(write_csv: Write, delimiter: str) -> None:
    assert read_csv(write_csv("date\ty\n2024-01-01\t1\n"), delimiter)["y"].tolist() == [1]


def test_no_such_file_names_the_files_there(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("a,b\n")
    with pytest.raises(DataError, match="there is no file") as error:
        read_csv(tmp_path / "missing.csv")
    assert "other.csv" in str(error.value.hint)


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a directory"):
        read_csv(tmp_path)
