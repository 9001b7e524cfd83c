"""Reading text: the delimiter, the decimal mark and the encoding by evidence, and what is no table."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding
from forecast_attn.data.reading import file_positions, parts, read_table, source
from forecast_attn.errors import ConfigError, DataError

from ..made_columns import SIXTY_DAYS, SIXTY_VALUES, date_column, values

Write = Callable[..., Path]


def lists(frame: pd.DataFrame) -> dict[str, list[Any]]:
    """Cells by column, None where empty."""
    return {name: [None if pd.isna(cell) else cell for cell in column] for name, column in frame.items()}


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("date, load ,OT\n2024-01-01,1,2\n", {"date": ["2024-01-01"], "load": [1], "OT": [2]}),
        (b"\xef\xbb\xbfdate,y\n2024-01-01,1\n", {"date": ["2024-01-01"], "y": [1]}),
        ("date,y\r\n2024-01-01,1\r\n\r\n", {"date": ["2024-01-01"], "y": [1]}),
        ("date,y\r2024-01-01,1\r", {"date": ["2024-01-01"], "y": [1]}),
        ("\n\ndate,y\n\n2024-01-01,1\n   \n2024-01-02,2", {"date": ["2024-01-01", "2024-01-02"], "y": [1, 2]}),
        ('date,"load, MW"\n2024-01-01,1\n', {"date": ["2024-01-01"], "load, MW": [1]}),
        (",y\n2024-01-01,1\n", {"Unnamed: 0": ["2024-01-01"], "y": [1]}),
        ("y\n1\n2\n", {"y": [1, 2]}),
        ('a,b\n"x\ny, z",1\n"say ""no""",2\n', {"a": ["x\ny, z", 'say "no"'], "b": [1, 2]}),
        ('a,b\n5" pipe,1\n', {"a": ['5" pipe'], "b": [1]}),
        ('a,b\n1, "x, y"\n', {"a": [1], "b": ["x, y"]}),
        ("a,b\n 1 ,  x \nNA, null\n", {"a": [1, None], "b": ["x", None]}),
        ("a,b\n,\n1,\n", {"a": [None, 1], "b": [None, None]}),
        ("a,b\ntrue,FALSE\nfalse,\n", {"a": [True, False], "b": [0, None]}),
        ("a,b\n+5,-.5e3\n7,2.\n", {"a": [5, 7], "b": [-500, 2]}),
        ("a,b\n1,x\n0x10,y\n", {"a": ["1", "0x10"], "b": ["x", "y"]}),
        ("a,b\n1,x\n2,y\nthree,z\n", {"a": ["1", "2", "three"], "b": ["x", "y", "z"]}),
        ("a,b\n1,99999999999999999999\n2,3\n", {"a": [1, 2], "b": [1e20, 3]}),
    ],
)
def test_text(write_csv: Write, content: str | bytes, expected: dict[str, list[Any]]) -> None:
    assert lists(read_table(write_csv(content), DataConfig())) == expected


def test_identifiers_keep_their_zeros(write_csv: Write) -> None:
    path = write_csv("id,store,date,y\n007,01,2024-01-01,1\n")
    assert read_table(path, DataConfig())["id"].tolist() == ["007"]
    assert read_table(path, DataConfig())["store"].tolist() == [1]
    assert read_table(path, DataConfig(item_id="store"))["store"].tolist() == ["01"]


# --------------------------------------------------------------------------- the delimiter


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(write_csv: Write, mark: str) -> None:
    rows = [("date", "y", "note"), ("2024-01-01", "1", '"a, b; c"'), ("2024-01-02", "2.5", '"d\te|f"')]
    frame = read_table(write_csv("\n".join(mark.join(row) for row in rows)), DataConfig())
    assert lists(frame) == {"date": ["2024-01-01", "2024-01-02"], "y": [1, 2.5], "note": ["a, b; c", "d\te|f"]}


@pytest.mark.parametrize(("name", "mark"), [("tab", "\t"), ("\\t", "\t"), (":", ":"), ("semicolon", ";"), (" ", " ")])
def test_the_delimiter_is_named(write_csv: Write, name: str, mark: str) -> None:
    path = write_csv(f"day{mark}y\n1{mark}5\n2{mark}6\n")
    assert lists(read_table(path, DataConfig(delimiter=name))) == {"day": [1, 2], "y": [5, 6]}


def test_two_delimiters_are_not_guessed(write_csv: Write) -> None:
    path = write_csv("a,b;c\n1,2;3\n4,5;6\n")
    with pytest.raises(DataError, match="2 columns with ',' and 2 columns with ';'") as error:
        read_table(path, DataConfig())
    assert error.value.hint == "--delimiter ',' or ';'"
    assert list(read_table(path, DataConfig(delimiter=";"))) == ["a,b", "c"]


@pytest.mark.parametrize("name", [";;", '"', "\n", ""])
def test_a_delimiter_is_one_character(write_csv: Write, name: str) -> None:
    with pytest.raises(ConfigError, match="--delimiter must be one character"):
        read_table(write_csv("date,y\n2024-01-01,1\n"), DataConfig(delimiter=name))


# --------------------------------------------------------------------------- the decimal mark


@pytest.mark.parametrize(
    ("content", "decimal", "expected"),
    [
        ("a;b\n1,5;2\n2;3,25\n", None, {"a": [1.5, 2], "b": [2, 3.25]}),
        ('a,b\n"1,5",2\n"2,25",3\n', None, {"a": [1.5, 2.25], "b": [2, 3]}),
        ("a;b\n0,125;1\n", None, {"a": [0.125], "b": [1]}),
        ("a;b\n1.234;1\n", None, {"a": [1.234], "b": [1]}),
        ("a;b\n1,234;1\n", ",", {"a": [1.234], "b": [1]}),
        ("a;b\n1,234;1\n", ".", {"a": [1234], "b": [1]}),
        ("a;b\n1.234,5;1\n12,5;2\n", "comma", {"a": [1234.5, 12.5], "b": [1, 2]}),
        ('a,b\n"1,234.5",1\n', "point", {"a": [1234.5], "b": [1]}),
        ("a;b\nsee 1,5;1\nx;2\n", None, {"a": ["see 1,5", "x"], "b": [1, 2]}),
    ],
)
def test_decimal_marks(write_csv: Write, content: str, decimal: str | None, expected: dict[str, list[Any]]) -> None:
    assert lists(read_table(write_csv(content), DataConfig(decimal=decimal))) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a;b\n1.234,5;1\n2.000,5;1\n", "'1.234,5' has a mark of thousands"),
        ("a;b\n1,234;1\n2,345;1\n", "'1,234' may be 1234 or 1.234"),
        ("a;b\n1,25;1.5\n", "'1,25' suggests a comma, but '1.5' in column 'b' a point"),
        ('a,b\n"1,234,567",1\n', "has a mark of thousands"),
    ],
)
def test_a_decimal_mark_is_not_guessed(write_csv: Write, content: str, message: str) -> None:
    with pytest.raises(DataError, match="the decimal mark is not certain") as error:
        read_table(write_csv(content), DataConfig())
    assert message in error.value.message
    assert error.value.column == "a"
    assert "--decimal" in str(error.value.hint)


@pytest.mark.slow
def test_a_decimal_comma_behind_the_first_rows(write_csv: Write) -> None:
    rows = [f"{row};{row}" for row in range(300_000)] + ["1,5;1"]
    frame = read_table(write_csv("a;b\n" + "\n".join(rows) + "\n"), DataConfig())
    assert frame["a"].dtype == np.float64
    assert frame["a"].iloc[-1] == 1.5
    np.testing.assert_array_equal(frame["a"][:-1], np.arange(300_000))


def test_another_decimal_mark_is_refused(write_csv: Write) -> None:
    with pytest.raises(ConfigError, match="--decimal must be a point or a comma"):
        read_table(write_csv("a,b\n1,2\n"), DataConfig(decimal="x"))


# --------------------------------------------------------------------------- the encoding

TABLE = "größe,straße\n1,ö\n2,€\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_is_recognised(write_csv: Write, encoding: str) -> None:
    notes: list[Finding] = []
    frame = read_table(write_csv(TABLE.encode(encoding)), DataConfig(), report=notes.append)
    assert lists(frame) == {"größe": [1, 2], "straße": ["ö", "€"]}
    assert notes == []


def test_latin_1_is_assumed_and_said(write_csv: Write) -> None:
    notes: list[Finding] = []
    frame = read_table(write_csv(TABLE.encode("cp1252")), DataConfig(), report=notes.append)
    assert lists(frame) == {"größe": [1, 2], "straße": ["ö", "€"]}
    assert [(note.code, note.severity) for note in notes] == [("FA105", "note")]
    read_table(write_csv(TABLE.encode("cp1252")), DataConfig(encoding="cp1252"), report=notes.append)
    assert len(notes) == 1


def test_latin_1_far_down(write_csv: Write) -> None:
    content = b"a,b\n" + b"1,x\n" * 600_000 + "2,ö\n".encode("cp1252")
    assert read_table(write_csv(content), DataConfig())["b"].iloc[-1] == "ö"


def test_an_encoding_is_given(write_csv: Write) -> None:
    path = write_csv("名,y\nア,1\n".encode("shift_jis"))
    assert lists(read_table(path, DataConfig(encoding="shift_jis"))) == {"名": ["ア"], "y": [1]}


@pytest.mark.parametrize("name", ["nope", "hex", "rot13"])
def test_there_is_no_such_encoding(write_csv: Write, name: str) -> None:
    with pytest.raises(ConfigError, match=f"there is no encoding '{name}'"):
        read_table(write_csv("a,b\n1,2\n"), DataConfig(encoding=name))


def test_the_text_is_not_of_the_given_encoding(write_csv: Write) -> None:
    with pytest.raises(DataError, match="is not ascii text: byte 0xc3") as error:
        read_table(write_csv(TABLE), DataConfig(encoding="ascii"))
    assert "--encoding" in str(error.value.hint)


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("date,y,y,y", "date,y,y.1,y.2"),
        ("date,y, y,y.1", "date,y,y.2,y.1"),
        ("date,,y,y", "date,Unnamed: 1,y,y.1"),
    ],
)
def test_columns_of_one_name_are_numbered_and_told(write_csv: Write, header: str, names: str) -> None:
    findings: list[Finding] = []
    frame = read_table(write_csv(f"{header}\n2024-01-01,1,2,3\n"), DataConfig(), report=findings.append)
    assert list(frame.columns) == names.split(",")
    assert [finding.code for finding in findings] == ["FA112"]


# --------------------------------------------------------------------------- what is no table


@pytest.mark.parametrize(
    ("content", "message", "row"),
    [
        ("", "is empty", None),
        ("\n \n", "is empty", None),
        ("date,y\n", "has no rows", None),
        (
            "date,y,date\n2024-01-01,1,2024-02-01\n2024-01-02,1,2024-02-02\n",
            "more than one column called 'date'",
            None,
        ),
        ("2024-01-01,5\n2024-01-02,6\n", "has no header: its first line is '2024-01-01,5'", None),
        (b"PK\x03\x04\x00\x00\x08\x00", "is a damaged or incomplete zip archive", None),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "it holds binary data", None),
        (b"a,b\n\x81\x01,2\n", "it holds binary data", None),
        ("date,y\n2024-01-01,1\n2024-01-02,1,2\n", "row 2 (line 3) has 3 fields, the header 2", 2),
        ("date,y\n2024-01-01,1\n2024-01-02\n", "row 2 (line 3) has 1 field, the header 2", 2),
        ('date,y\n2024-01-01,"1\n', "a quote is never closed in row 1", 1),
        ('date,y\n2024-01-01,1\n"2024-01-02"x,1\n', "text follows a closing quote in row 2", 2),
        ("Title\na;b\n1;2\n3;4\n", "row 1 (line 2) has 2 fields, the header 1", 1),
    ],
)
def test_what_is_no_table(write_csv: Write, content: str | bytes, message: str, row: int | None) -> None:
    with pytest.raises(DataError) as error:
        read_table(write_csv(content), DataConfig())
    assert message in error.value.message
    assert "table.csv" in error.value.message
    assert error.value.row == row
    assert error.value.hint


def test_rows_may_end_at_their_last_value(write_csv: Write) -> None:
    """As tools write them that know nothing of the columns behind; a few fields that are lacking are a mistake."""
    days = [f"2024-01-{day:02d},{day}" for day in range(1, 31)]
    path = write_csv("\n".join(["date,y,rain", *(day + ",0.5" * (at % 3 > 0) for at, day in enumerate(days))]))
    findings: list[Finding] = []
    frame = read_table(path, DataConfig(), report=findings.append)
    assert list(frame["y"]) == list(range(1, 31))
    assert list(frame["rain"].isna()) == [at % 3 == 0 for at in range(30)]
    assert [finding.code for finding in findings] == ["FA111"]
    for lacking in ((5,), range(0, 30, 3)):
        rows = [f"{day},{'' if at == 10 else 1}" if at not in lacking else day for at, day in enumerate(days)]
        with pytest.raises(DataError, match=rf"row {lacking[0] + 1} .* has 2 fields, the header 3"):
            read_table(write_csv("\n".join(["date,y,rain", *rows])), DataConfig())


def test_blanks_may_stand_behind_a_closing_quote(write_csv: Write) -> None:
    frame = read_table(
        write_csv('"date" ,"name", "y" \n"2024-01-01" ,"a ""b"" , c" , "1.5"  \n"2024-01-02","d\n" ,"2" \n'),
        DataConfig(),
    )
    assert list(frame["name"]) == ['a "b" , c', "d"]
    assert list(frame["y"]) == [1.5, 2.0]


def test_a_backslash_before_a_quote_within_a_field_is_none(write_csv: Write) -> None:
    content = r"""date,name,y
"2024-01-01","a \"b\"",1
"2024-01-02","\"c\" \"d\" , e",2
"2024-01-03","C:\logs\",3
"""
    frame = read_table(write_csv(content), DataConfig())
    assert list(frame["name"]) == ['a "b"', '"c" "d" , e', "C:\\logs\\"]
    assert list(frame["y"]) == [1, 2, 3]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_quoted_cell_may_hold_line_ends(write_csv: Write, end: str) -> None:
    """A lone carriage return too: old spreadsheets end lines with one."""
    content = f'time,note,y{end}1,"a{end}b",2{end}2,c,3{end}'
    assert lists(read_table(write_csv(content), DataConfig()))["note"] == [f"a{end}b", "c"]


@pytest.mark.slow
def test_a_ragged_row_far_down_a_long_file(write_csv: Write) -> None:
    """Behind quotes with line feeds, and behind many blocks."""
    rows = ["1,x"] * 1_500_000 + ['2,"y\nz"', "3,x,"]
    with pytest.raises(DataError, match=r"row 1500002 \(line 1500004\) has 3 fields"):
        read_table(write_csv("a,b\n" + "\n".join(rows) + "\n"), DataConfig())


@pytest.mark.slow
def test_a_ragged_row_behind_plain_blocks(write_csv: Write) -> None:
    rows = ["1,x"] * 1_500_000 + ["3,x,"]
    with pytest.raises(DataError, match=r"row 1500001 \(line 1500002\) has 3 fields"):
        read_table(write_csv("a,b\n" + "\n".join(rows) + "\n"), DataConfig())


def test_no_such_file_names_the_tables_there(tmp_path: Path) -> None:
    (tmp_path / "other.parquet").write_text("")
    with pytest.raises(DataError, match="there is no file") as error:
        read_table(tmp_path / "missing.csv", DataConfig())
    assert "other.parquet" in str(error.value.hint)


def test_a_directory(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a directory"):
        read_table(tmp_path, DataConfig())


# --------------------------------------------------------------------------- archives, stdin, progress


def zipped(*files: tuple[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return target.getvalue()


def zstandard(text: bytes) -> bytes:
    return pa.compress(text, "zstd", asbytes=True)


@pytest.mark.parametrize(
    "compress", [gzip.compress, zstandard, bz2.compress, lzma.compress, lambda text: zipped(("a.csv", text))]
)
def test_archives_are_read_and_damage_is_said(write_csv: Write, compress: Callable[[bytes], bytes]) -> None:
    text = "".join(["a,b\n", *(f"{row},{row * row}\n" for row in range(5000))]).encode()
    archive = compress(text)
    frame = read_table(write_csv(archive, "table.data"), DataConfig())
    np.testing.assert_array_equal(frame["b"], np.arange(5000) ** 2)
    for damaged in (archive[:-20], archive[: len(archive) // 2], archive[:6]):
        with pytest.raises(DataError, match=r"damaged or incomplete (gzip|zstd|bzip2|xz|zip) archive"):
            read_table(write_csv(damaged), DataConfig())


class CountedReads(io.BytesIO):
    """Bytes that count how often they are read from."""

    reads = 0

    def read(self, size: int | None = -1) -> bytes:
        self.reads += 1
        return super().read(size)


def test_a_name_of_megabytes_in_an_archive_is_not_read_byte_by_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = gzip.compress(b"a,b\n1,2\n3,4\n")
    stream = CountedReads(archive[:3] + b"\x08" + archive[4:10] + b"x" * 1_000_000 + b"\0" + archive[10:])
    table = source.Source("'table.gz'", None, stream.getvalue())
    assert table.kind == "gzip"
    monkeypatch.setattr(source.Source, "open", lambda self: stream)
    assert b"".join(table.chunks()) == b"a,b\n1,2\n3,4\n"
    assert stream.reads < 100


@pytest.mark.parametrize(
    "compress", [gzip.compress, zstandard, bz2.compress, lzma.compress, lambda text: zipped(("a.csv", text))]
)
def test_an_archive_that_unpacks_to_far_more_than_a_table_would_is_refused(
    write_csv: Write, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(source, "FREE", 1 << 16)
    table = "".join(["a,b\n", *(f"{row},{row % 7}\n" for row in range(20_000))]).encode()
    assert len(read_table(write_csv(compress(table)), DataConfig())) == 20_000
    bomb = compress(b"a,b\n" + b"\n" * 20_000_000)
    with pytest.raises(DataError, match=rf"of {len(bomb):,} bytes unpacks to more than 300 times as many") as error:
        read_table(write_csv(bomb), DataConfig())
    assert "unpack it" in str(error.value.hint)


def test_a_zip_archive_that_says_it_unpacks_to_far_more_is_not_read(
    write_csv: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "FREE", 1 << 16)
    bomb = write_csv(zipped(("a.csv", b"a,b\n" + b"\n" * 1_000_000)))
    monkeypatch.delattr(zipfile.ZipFile, "open")
    with pytest.raises(DataError, match="unpacks to more than 300 times as many"):
        read_table(bomb, DataConfig())


def test_parquet_of_more_rows_than_its_bytes_can_tell_apart_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lengths of runs cost nothing: a million rows of one value fit into a kilobyte."""
    monkeypatch.setattr(parts, "FREE_ROWS", 1000)
    (tmp_path / "t").mkdir()
    rows = np.arange(20_000)
    pd.DataFrame({"a": rows, "b": rows % 7}).to_parquet(tmp_path / "t" / "a.parquet")
    assert len(read_table(tmp_path / "t", DataConfig())) == 20_000
    pd.DataFrame({"a": np.zeros(1_000_000), "b": 1}).to_parquet(tmp_path / "t" / "b.parquet")
    for path in (tmp_path / "t", tmp_path / "t" / "b.parquet"):
        with pytest.raises(DataError, match=r"bytes hold 1,000,000 rows"):
            read_table(path, DataConfig())
    pd.DataFrame({"id": ["a"], "y": [np.zeros(1_000_000)]}).to_parquet(tmp_path / "lists.parquet")
    with pytest.raises(DataError, match=r"bytes hold 1,000,000 rows"):
        read_table(tmp_path / "lists.parquet", DataConfig())


def test_an_archive_must_hold_one_text(write_csv: Write) -> None:
    text = b"a,b\n1,2\n"
    locked = bytearray(zipped(("a.csv", text)))
    for at in (6, locked.index(b"PK\x01\x02") + 8):  # the mark of a password, in both headers
        locked[at] |= 1
    for archive, message in (
        (zipped(("a.csv", text), ("b.csv", text)), "is a zip archive of 2 files ('a.csv', 'b.csv'); expected one"),
        (zipped(("folder/", b"")), "is a zip archive of no file"),
        (zipped(("a.parquet", b"PAR1" + bytes(20))), "'a.parquet' in '"),
        (bytes(locked), "cannot be unpacked"),
    ):
        with pytest.raises(DataError) as error:
            read_table(write_csv(archive), DataConfig())
        assert message in error.value.message
        assert error.value.hint


def test_standard_input_is_read_once_and_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a;b\n1;2\n")))
    for _ in range(2):
        assert lists(read_table("-", DataConfig())) == {"a": [1], "b": [2]}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(DataError, match="'stdin' is empty"):
        read_table("-", DataConfig())


@pytest.mark.slow
def test_progress_counts_stored_bytes(write_csv: Write) -> None:
    text = b"a,b\n" + b"123456,x\n" * 1_000_000
    for content in (text, gzip.compress(text, 1)):
        seen: list[tuple[int, int]] = []
        read_table(write_csv(content), DataConfig(), progress=lambda *bytes_: seen.append(bytes_))  # noqa: B023
        assert len(seen) > 1
        assert seen == sorted(seen)
        assert {total for _, total in seen} == {len(content)}
        assert seen[-1][0] == len(content)


def test_rows_of_a_long_table_are_the_rows_of_its_file(write_csv: Write) -> None:
    positions = file_positions(read_table(write_csv("a,b\n1,2\n3,4\n"), DataConfig()))
    assert positions.rows().tolist() == [1, 2]
    assert (positions.row(1), positions.column("a", 1)) == (2, "a")


def test_a_source_that_keeps_frames_is_read_once_for_all_options_of_other_things(tmp_path: Path) -> None:
    """The file changes after the first reading, so that it shows which readings are new ones."""
    path = tmp_path / "table.csv"
    text = "date,größe\n2024-01-01,1.5\n2024-01-02,2.5\n"
    path.write_bytes(text.encode("latin-1"))
    kept, notes = source.Source.of(path).keeping_frames(), []
    first = read_table(kept, DataConfig(), report=notes.append)
    first["größe"] = 0.0
    path.write_bytes(text.replace("2.5", "7.5").encode("latin-1"))
    again = read_table(kept, DataConfig(target="größe", missing="mask"), report=notes.append)
    assert again["größe"].tolist() == [1.5, 2.5]
    assert [note.code for note in notes] == ["FA105", "FA105"]
    assert read_table(kept, DataConfig(na=("n.a.",)))["größe"].tolist() == [1.5, 7.5]


def test_blank_lines_are_no_rows_beside_an_identifier(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("item_id,y\nNA,1\n\nb,2\n,3\n\n")
    frame = read_table(path, DataConfig())
    assert frame["y"].tolist() == [1, 2, 3]
    assert frame["item_id"].isna().tolist() == [False, False, True]


@pytest.mark.slow
def test_large_text_with_comments_is_read_whole(tmp_path: Path) -> None:
    """In blocks: a line that two of them share, and comments behind the first."""
    path = tmp_path / "table.csv"
    stamps = pd.date_range("2000-01-01", periods=300_000, freq="min").strftime("%Y-%m-%d %H:%M")
    lines = [f"{stamp},{at % 1000}" for at, stamp in enumerate(stamps)]
    lines.insert(250_000, "# pause")
    path.write_text("# log\nno,title\ndate,y\n" + "\n".join(lines))
    frame = read_table(path, DataConfig(skip_rows=2, comment="#"))
    assert len(frame) == 300_000
    assert frame["y"].sum() == sum(range(1000)) * 300


def test_options_of_text_are_refused_for_frames() -> None:
    frame = pd.DataFrame({"date": date_column(20), "y": values(20)})
    with pytest.raises(ConfigError, match="which has no --skip-rows"):
        read_table(frame, DataConfig(skip_rows=1))


@pytest.mark.slow
def test_marks_of_missing_values_count_in_every_form(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"date": SIXTY_DAYS, "y": [-999.0, *SIXTY_VALUES[1:]], "n": [*range(59), -999], "kind": ["-", "a"] * 30}
    )
    path = tmp_path / "table.parquet"
    frame.to_parquet(path)
    config = DataConfig(na=("-", "-999"), target="y")
    for table in (frame, path):
        read = read_table(table, config)
        assert read["y"].isna().tolist() == [True] + [False] * 59
        assert read["n"].isna().sum() == 1
        assert read["kind"].isna().sum() == 30
    assert not read_table(frame, DataConfig())["y"].isna().any()
