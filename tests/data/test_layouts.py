"""Tables that are no rows of one step: sheets, .tsf files, one series or one year per row, sums below the rows."""

import datetime
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast_attn.checking import examine
from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_beside, read_table, source, spreadsheet
from forecast_attn.data.reading.outlines import without_headings
from forecast_attn.errors import ConfigError, DataError

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def write_workbook(path: Path, sheets: dict[str, list[list[object]]], hidden: tuple[str, ...] = ()) -> Path:
    """An .xlsx of the parts that every reader needs."""
    states = dict.fromkeys(hidden, ' state="hidden"')
    names = "".join(
        f'<sheet name="{name}" sheetId="{at}" r:id="rId{at}"{states.get(name, "")}/>'
        for at, name in enumerate(sheets, 1)
    )
    links = "".join(
        f'<Relationship Id="rId{at}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{at}.xml"/>'
        for at in range(1, len(sheets) + 1)
    )
    style = f'<Relationship Id="rId99" Type="{RELATIONS}/styles" Target="styles.xml"/>'
    parts = "".join(
        f'<Override PartName="/xl/worksheets/sheet{at}.xml" ContentType="{OFFICE}.worksheet+xml"/>'
        for at in range(1, len(sheets) + 1)
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" '
            f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{OFFICE}.sheet.main+xml"/>'
            f'<Override PartName="/xl/styles.xml" ContentType="{OFFICE}.styles+xml"/>{parts}</Types>',
        )
        archive.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
            f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        )
        archive.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{names}</sheets></workbook>'
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            f'<Relationships xmlns="{PACKAGE}/relationships">{links}{style}</Relationships>',
        )
        archive.writestr(
            "xl/styles.xml",
            f'<styleSheet xmlns="{MAIN}"><cellXfs count="2"><xf numFmtId="0"/>'
            '<xf numFmtId="14"/></cellXfs></styleSheet>',
        )
        for at, rows in enumerate(sheets.values(), 1):
            lines = "".join(f'<row r="{row}">{"".join(map(_cell, cells))}</row>' for row, cells in enumerate(rows, 1))
            archive.writestr(
                f"xl/worksheets/sheet{at}.xml", f'<worksheet xmlns="{MAIN}"><sheetData>{lines}</sheetData></worksheet>'
            )
    return path


def _cell(value: object) -> str:
    if isinstance(value, datetime.date):
        return f'<c s="1"><v>{(value - datetime.date(1899, 12, 30)).days}</v></c>'
    if isinstance(value, str):
        return f'<c t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return "<c/>" if value is None else f"<c><v>{value}</v></c>"


def days(count: int) -> list[datetime.date]:
    return [datetime.date(2024, 1, 1) + datetime.timedelta(days=at) for at in range(count)]


PRICES: list[list[object]] = [["date", "price"], *([day, 10.5 + at % 7] for at, day in enumerate(days(60)))]


# --------------------------------------------------------------------------- sheets


def test_a_sheet_is_read_as_the_csv_it_would_be_saved_as(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "book.xlsx", {"Prices": PRICES})
    csv = tmp_path / "book.csv"
    pd.DataFrame(PRICES[1:], columns=["date", "price"]).to_csv(csv, index=False)
    pd.testing.assert_frame_equal(read_table(path, DataConfig()), read_table(csv, DataConfig()))


def test_a_cell_may_hold_a_carriage_return(tmp_path: Path) -> None:
    """It ends a row of CSV for most readers."""
    rows: list[list[object]] = [["date", "sho\rp", "price"], *([day, "nor\rth", price] for day, price in PRICES[1:])]
    path = write_workbook(tmp_path / "book.xlsx", {"Prices": rows})
    table = read_table(rewritten(path, lambda name, part: part.replace(b"\r", b"&#13;")), DataConfig())
    assert list(table.columns) == ["date", "sho\rp", "price"]
    assert set(table["sho\rp"]) == {"nor\rth"}


def test_another_workbook_may_call_its_only_sheet_otherwise(tmp_path: Path) -> None:
    rows: list[list[object]] = [["date", "price"], ["2024-01-01", 2], ["2024-01-02", 3]]
    plan = write_workbook(tmp_path / "plan.xlsx", {"Plan": rows})
    assert read_beside(plan, DataConfig(sheet="Prices"))["price"].tolist() == [2, 3]
    plans = write_workbook(tmp_path / "plans.xlsx", {"Plan": rows, "Old plan": rows})
    with pytest.raises(DataError, match="no sheet 'Prices', as the training's table has; its sheets are 'Plan', 'Old"):
        read_beside(plans, DataConfig(sheet="Prices"))


def test_of_several_sheets_one_must_be_named(tmp_path: Path) -> None:
    other: list[list[object]] = [["a", "b"], [1, 2.5]]
    path = write_workbook(tmp_path / "book.xlsx", {"Notes": other, "Prices": PRICES, "Old": PRICES}, hidden=("Old",))
    with pytest.raises(DataError, match="2 sheets with rows: 'Notes', 'Prices'") as refused:
        read_table(path, DataConfig())
    assert refused.value.options == ("sheet",)
    assert len(read_table(path, DataConfig(sheet="Prices"))) == 60
    assert len(read_table(path, DataConfig(sheet="Old"))) == 60, "a hidden sheet can be named"
    with pytest.raises(DataError, match="no sheet 'Price'") as unknown:
        read_table(path, DataConfig(sheet="Price"))
    assert unknown.value.hint == "did you mean 'Prices'?"


def test_titles_above_a_sheets_header_are_left_out_as_in_a_text(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "book.xlsx", {"Prices": [["Prices of a shop"], ["in euro"], *PRICES]})
    assert list(read_table(path, DataConfig(skip_rows=2)).columns) == ["date", "price"]


def test_a_sheet_takes_no_delimiter_and_a_text_no_sheet(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "book.xlsx", {"Prices": PRICES})
    with pytest.raises(ConfigError, match="a spreadsheet, which has no --delimiter"):
        read_table(path, DataConfig(delimiter=";"))
    (tmp_path / "a.csv").write_text("date,y\n2024-01-01,1\n")
    with pytest.raises(ConfigError, match="is no spreadsheet"):
        read_table(tmp_path / "a.csv", DataConfig(sheet="Prices"))


def test_a_damaged_workbook_is_refused(tmp_path: Path) -> None:
    path = write_workbook(tmp_path / "book.xlsx", {"Prices": PRICES})
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "bad.xlsx", "w") as broken:
        for name in whole.namelist():
            broken.writestr(name, whole.read(name)[:40])
    with pytest.raises(DataError, match="damaged spreadsheet"):
        read_table(tmp_path / "bad.xlsx", DataConfig())


def rewritten(path: Path, change: Callable[[str, bytes], bytes]) -> Path:
    """A copy of a workbook with other parts."""
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(path.with_name("other.xlsx"), "w", 8) as copy:
        for name in whole.namelist():
            copy.writestr(name, change(name, whole.read(name)))
    return path.with_name("other.xlsx")


@pytest.mark.parametrize(
    "old, new",
    [
        (b"</sheetData>", b"</sheet"),
        (b"<v>", b"<w>"),
        (b"r=", b"r"),
        (b'<row r="2">', b'<row r="2"><c r="9"/>'),
        (b"worksheets/sheet1", b"nowhere"),
    ],
)
def test_a_damaged_sheet_is_refused(tmp_path: Path, old: bytes, new: bytes) -> None:
    path = rewritten(write_workbook(tmp_path / "book.xlsx", {"P": PRICES}), lambda name, part: part.replace(old, new))
    with pytest.raises(DataError, match="is a damaged spreadsheet"):
        read_table(path, DataConfig())


def with_last(book: Path, cell: str) -> Path:
    last = f'<row r="1048576">{cell}</row></sheetData>'.encode()
    return rewritten(book, lambda name, part: part.replace(b"</sheetData>", last))


NEEDS_MEMORY = "is a spreadsheet that needs more than 4 GiB of memory to be read"


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is limited on Linux only")
def test_a_forgotten_cell_far_away_ends_the_process_that_reads_and_not_this_one(tmp_path: Path) -> None:
    book = write_workbook(tmp_path / "book.xlsx", {"P": PRICES})
    with pytest.raises(DataError, match=NEEDS_MEMORY) as refused:
        read_table(with_last(book, '<c r="XFD1048576"><v>1</v></c>'), DataConfig())
    assert "Ctrl+End goes to a sheet's last cell" in (refused.value.hint or "")
    with pytest.raises(DataError, match="is a damaged spreadsheet: capacity overflow"):
        read_table(with_last(book, '<c r="ZZZZZZ9999999999"><v>1</v></c>'), DataConfig())
    assert len(read_table(with_last(book, '<c r="XFD1048576" s="1"/>'), DataConfig())) == 60  # formatted, not filled


def write_old_workbook(path: Path, cells: dict[tuple[int, int], float]) -> Path:
    """An .xls of one sheet: records of BIFF 8 in a compound file of a header, one sector of FAT and one directory."""

    def record(kind: int, content: bytes) -> bytes:
        return struct.pack("<HH", kind, len(content)) + content

    def begin(kind: int) -> bytes:
        return record(0x809, struct.pack("<HHHHII", 0x600, kind, 0, 1996, 0, 6))

    name, end = b"\x01\x00P", record(0x0A, b"")
    start = len(begin(5)) + 4 + 6 + len(name) + len(end)
    book = begin(5) + record(0x85, struct.pack("<IH", start, 0) + name) + end + begin(16)
    book += b"".join(record(0x203, struct.pack("<HHHd", row, column, 0, cells[row, column])) for row, column in cells)
    book = (book + end).ljust(4096, b"\0")
    book = book.ljust(-(-len(book) // 512) * 512, b"\0")
    last = len(book) // 512
    fat = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, last + 2), 0xFFFFFFFE]
    table = struct.pack("<128I", *fat, *[0xFFFFFFFF] * (128 - len(fat)))

    def entry(name: str, kind: int, child: int, sector: int, size: int) -> bytes:
        text = f"{name}\0".encode("utf-16-le")
        links = struct.pack("<HBBIII", len(text), kind, 1, 0xFFFFFFFF, 0xFFFFFFFF, child)
        return text.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", sector, size)

    directory = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0) + entry("Workbook", 2, 0xFFFFFFFF, 2, len(book))
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 62, 3, 0xFFFE, 9, 6) + bytes(10)
    head += struct.pack("<IIIIIIIII", 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0, 0) + b"\xff" * 432
    path.write_bytes(head + table + directory.ljust(512, b"\0") + book)
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is limited on Linux only")
def test_a_far_cell_of_an_old_workbook_does_not_end_this_process(tmp_path: Path) -> None:
    cells = {(row, column): 10.0 * row + column for row in range(5) for column in range(3)}
    near = write_old_workbook(tmp_path / "near.xls", cells)
    np.testing.assert_array_equal(read_table(near, DataConfig(header=False)).iloc[:, 1], [1, 11, 21, 31, 41])
    far = write_old_workbook(tmp_path / "far.xls", cells | {(65535, 65535): 1.0})
    with pytest.raises(DataError, match=NEEDS_MEMORY):
        read_table(far, DataConfig(header=False))


def test_a_workbook_that_holds_far_more_than_a_table_would_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "FREE", 1 << 16)
    book = write_workbook(tmp_path / "book.xlsx", {"P": PRICES})
    assert len(read_table(book, DataConfig())) == 60
    many = b'<row r="61">' + b"<c><v>1</v></c>" * 20_000 + b"</row></sheetData>"
    bomb = rewritten(book, lambda name, part: part.replace(b"</sheetData>", many))
    with pytest.raises(DataError, match="unpacks to more than 100 times as many"):
        read_table(bomb, DataConfig())


def test_a_workbook_that_takes_too_long_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = write_workbook(tmp_path / "book.xlsx", {"P": PRICES})
    monkeypatch.setattr(spreadsheet, "SECONDS", 0.001)
    with pytest.raises(DataError, match=r"of [\d,]+ bytes that is not read within 0 s") as refused:
        read_table(book, DataConfig())
    assert refused.value.hint == "save the sheet as CSV, which is read in blocks"


def write_opendocument(path: Path, rows: str) -> Path:
    """An .ods of one sheet."""
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table")
    )
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="S">{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of processor time")
def test_a_damaged_workbook_is_tried_once_and_in_little_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spreadsheet, "SECONDS", 0)  # a second for any workbook of less than a megabyte
    monkeypatch.setattr(spreadsheet, "PATIENCE", 1000)
    processes: list[object] = []
    popen = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **given: processes.append(words) or popen(*words, **given))
    book = write_workbook(tmp_path / "book.xlsx", {"P": PRICES})
    many = b'<row r="70">' + b'<c r="A70"/>' * 20_000_000 + b"</row></sheetData>"
    bomb = rewritten(book, lambda name, part: part.replace(b"</sheetData>", many))
    for _ in range(2):
        with pytest.raises(DataError, match="that is not read within 0 s"):
            read_table(bomb, DataConfig())
    assert len(processes) == 1


def test_a_value_behind_the_last_column_of_opendocument_is_not_dropped(tmp_path: Path) -> None:
    def row(*cells: str) -> str:
        return f"<table:table-row>{''.join(cells)}</table:table-row>"

    value = '<table:table-cell office:value-type="float" office:value="7"/>'
    far, most = (f'<table:table-cell table:number-columns-repeated="{count}"/>' for count in (16383, 16382))
    repeated = '<table:table-cell office:value-type="float" office:value="7" table:number-columns-repeated="16384"/>'
    for name, cells in {"far": (value, far, value), "repeated": (value, repeated)}.items():
        with pytest.raises(DataError, match="a row has a value behind the last column, the 16,384th"):
            read_table(write_opendocument(tmp_path / f"{name}.ods", row(*cells)), DataConfig(header=False))
    padded = write_opendocument(tmp_path / "padded.ods", row(value, value, far, far))
    assert read_table(padded, DataConfig(header=False)).shape == (1, 2)
    whole = write_opendocument(tmp_path / "whole.ods", row(value, most, value))
    assert read_table(whole, DataConfig(header=False)).shape == (1, 16384)


def test_a_workbook_of_stdin_and_an_odd_name_of_a_sheet_reach_the_process_that_reads(tmp_path: Path) -> None:
    book = write_workbook(tmp_path / "book.xlsx", {"P": PRICES, "Öl \t€": PRICES[:5]})
    piped = source.Source("'stdin'", None, book.read_bytes())
    assert len(read_table(piped, DataConfig(sheet="Öl \t€"))) == 4
    with pytest.raises(DataError, match="has no sheet"):
        read_table(piped, DataConfig(sheet="a\0b\ud800"))


def test_repeated_empty_cells_of_opendocument_are_no_rows(tmp_path: Path) -> None:
    def cell(value: object) -> str:
        return f'<table:table-cell office:value-type="float" office:value="{value}"/>'

    empty = '<table:table-cell table:number-columns-repeated="16382"/>'
    rows = "".join(f"<table:table-row>{cell(at)}{cell(at * 2)}{empty}</table:table-row>" for at in range(2000, 2050))
    rows += '<table:table-row table:number-rows-repeated="1048526"><table:table-cell/></table:table-row>'
    book = write_opendocument(tmp_path / "book.ods", f"<table:table-row>{cell(1)}{cell(2)}</table:table-row>{rows}")
    assert read_table(book, DataConfig(header=False)).shape == (51, 2)


def test_merged_cells_of_a_table_beside_another_are_filled_before_they_are_joined(tmp_path: Path) -> None:
    path = tmp_path / "later.csv"
    path.write_text("Year,Month,Sales,Note\n2024,Nov,1,\n,Dec,2,\n2025,Jan,3,x\n,Feb,4,\n")
    frame = read_beside(path, DataConfig(layout="merged", time="Year,Month"))
    assert frame["Year,Month"].tolist() == ["2024-11-01", "2024-12-01", "2025-01-01", "2025-02-01"]
    assert frame["Note"].isna().tolist() == [True, True, False, True]


@pytest.mark.parametrize(
    ("first", "problem"),
    [
        (["2024-01-01", "2024-01-02"], "has no empty cell"),
        ([None, "2024-01-02"], "is empty at row 1, below no date or name"),
        ([1.5, None], "holds numbers that are no years"),
    ],
)
def test_a_table_without_merged_cells_is_refused_and_one_beside_it_is_not(first: list[object], problem: str) -> None:
    table = pd.DataFrame({"Day": first, "Sales": [1.0, 2.0]})
    with pytest.raises(DataError, match=f"first column 'Day' {problem}"):
        read_table(table, DataConfig(layout="merged"))
    assert len(read_beside(table, DataConfig(layout="merged"))) == 2


def test_missing_values_beside_merged_cells_stay_missing() -> None:
    table = pd.DataFrame({"Day": ["2024-01-01", None, "2024-01-02", None], "Sales": [1.0, None, 3.0, 4.0]})
    frame = read_table(table, DataConfig(layout="merged"))
    assert frame["Day"].tolist() == ["2024-01-01", "2024-01-01", "2024-01-02", "2024-01-02"]
    assert frame["Sales"].isna().tolist() == [False, True, False, False]


# --------------------------------------------------------------------------- .tsf

HEADER = "# a comment\n@relation example\n@attribute series_name string\n"


TWO_SIZES = HEADER + "@attribute size numeric\n@data\nT1:5:1,2\n"


def read_text(tmp_path: Path, text: str, config: DataConfig | None = None) -> pd.DataFrame:
    path = tmp_path / "data.tsf"
    path.write_text(text, encoding="utf-8")
    return read_table(path, config or DataConfig(), report=lambda finding: None)


def test_stamps_of_a_tsf_file_go_on_from_each_series_start(tmp_path: Path) -> None:
    start = "@attribute start_timestamp date\n@frequency half_hourly\n@missing true\n@data\n"
    lines = "T1:2002-01-01 00-30-00:1,2.5,?\nT2:2003-05-05 00-00-00:7\n"
    frame = read_text(tmp_path, HEADER + start + lines)
    assert frame["item_id"].tolist() == ["T1", "T1", "T1", "T2"]
    assert frame["timestamp"].tolist() == [
        *pd.date_range("2002-01-01 00:30", periods=3, freq="30min"),
        pd.Timestamp("2003-05-05"),
    ]
    np.testing.assert_array_equal(frame["target"], [1, 2.5, np.nan, 7])


@pytest.mark.parametrize(
    ("frequency", "expected"),
    [
        ("4_seconds", ["2020-02-19 00:00:00", "2020-02-19 00:00:04"]),
        ("minutely", ["2020-02-19 00:00", "2020-02-19 00:01"]),
        ("10_minutes", ["2020-02-19 00:00", "2020-02-19 00:10"]),
        ("daily", ["2020-02-19", "2020-02-20"]),
        ("weekly", ["2020-02-17", "2020-02-24"]),
        ("monthly", ["2020-02-01", "2020-03-01"]),
        ("quarterly", ["2020-01-01", "2020-04-01"]),
        ("yearly", ["2020-01-01", "2021-01-01"]),
    ],
)
def test_the_step_of_a_tsf_file(tmp_path: Path, frequency: str, expected: list[str]) -> None:
    start = f"@attribute start_timestamp date\n@frequency {frequency}\n@data\nT1:2020-02-19 00-00-00:1,2\n"
    assert read_text(tmp_path, HEADER + start)["timestamp"].tolist() == [pd.Timestamp(text) for text in expected]


def test_a_tsf_file_that_cannot_be_read_gets_no_advice_for_csv_files(tmp_path: Path) -> None:
    path = tmp_path / "data.tsf"
    path.write_text(f"{HEADER}@data\nT1{':' * 300_000}\n", encoding="utf-8")
    assert not find_proposals(path, DataConfig(), examine(path, DataConfig()))


@pytest.mark.parametrize("frequency", ["0_minutes", "99999999999999_minutes", "9" * 5000 + "_minutes", "fortnightly"])
def test_a_tsf_file_whose_step_is_none_counts_its_values(tmp_path: Path, frequency: str) -> None:
    path, findings = tmp_path / "data.tsf", []
    start = f"@attribute start_timestamp date\n@frequency {frequency}\n@data\nT1:2020-02-19 00-00-00:1,2\n"
    path.write_text(HEADER + start, encoding="utf-8")
    assert read_table(path, DataConfig(), report=findings.append)["timestamp"].tolist() == [1, 2]
    assert [f"@frequency {frequency} is no step" in finding.message for finding in findings] == [True]


def test_a_tsf_file_without_starts_has_numbered_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pd.Series, "replace", lambda *_: pytest.fail("each line was a table: a minute for 100,000"))
    assert read_text(tmp_path, HEADER + "@data\nT1:5,6\nT2:7\n")["timestamp"].tolist() == [1, 2, 1]


def test_an_attribute_of_numbers_may_have_no_value_but_no_text(tmp_path: Path) -> None:
    config = DataConfig(static_covariates=("size",))
    frame = read_text(tmp_path, f"{TWO_SIZES}T2:?:3\n", config)
    np.testing.assert_array_equal(frame["size"], [5, 5, np.nan])
    with pytest.raises(DataError, match="attribute 'size' of line 7 is 'big'; expected a number") as error:
        read_text(tmp_path, f"{TWO_SIZES}T2:big:3\n", config)
    assert error.value.code == "FA103"


def test_letters_of_a_tsf_file_that_is_not_utf8_stay_apart(tmp_path: Path) -> None:
    path, findings = tmp_path / "data.tsf", []
    path.write_bytes(f"{HEADER}@data\nTé:1,2\nTè:3,4\n".encode("latin-1"))
    assert read_table(path, DataConfig(), report=findings.append)["item_id"].tolist() == ["Té", "Té", "Tè", "Tè"]
    assert [finding.code for finding in findings] == ["FA105"]


def test_attributes_of_a_tsf_file_can_be_static(tmp_path: Path) -> None:
    text = HEADER + "@attribute size numeric\n@attribute place string\n@data\nT1:5:a:1,2\nT2:7:b:3,4\n"
    config = DataConfig(static_covariates=("size", "place"))
    frame = read_text(tmp_path, text, config)
    assert frame["size"].tolist() == [5, 5, 7, 7]
    assert frame["place"].tolist() == ["a", "a", "b", "b"]
    assert list(read_text(tmp_path, text)) == ["item_id", "timestamp", "target"]


def test_text_among_the_values_of_a_tsf_file_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="value 2 in line 5 is 'x'"):
        read_text(tmp_path, HEADER + "@data\nT1:1,x\n")
    with pytest.raises(DataError, match="line 5 has 2 attributes before its values; expected 1"):
        read_text(tmp_path, HEADER + "@data\nT1:odd:1,2\n")


# --------------------------------------------------------------------------- one series per row


def test_rows_whose_columns_are_years_are_series(tmp_path: Path) -> None:
    path = tmp_path / "bank.csv"
    path.write_text("Country,Code,1960 [YR1960],1961 [YR1961],1962 [YR1962],\nAruba,AA,,2,3,\nChad,CH,4,,6,\n")
    notes: list[str] = []
    frame = read_table(path, DataConfig(layout="rows"), report=lambda finding: notes.append(finding.message))
    assert list(frame) == ["item_id", "timestamp", "target"]
    assert frame["item_id"].tolist() == ["Aruba", "Aruba", "Chad", "Chad", "Chad"]
    assert frame["timestamp"].dt.year.tolist() == [1961, 1962, 1960, 1961, 1962]
    np.testing.assert_array_equal(frame["target"], [2, 3, 4, np.nan, 6])
    assert frame.index.tolist() == [1, 1, 2, 2, 2], "the rows of the file"
    assert "column 'Code' is left out: not a step" in notes


@pytest.mark.parametrize("names", ["Jan-23 Feb-23 Mar-23", "mars_2023 avril_2023 mai_2023", "Q1_2023 Q2_2023 Q3_2023"])
def test_rows_whose_columns_are_months_or_quarters_are_series(tmp_path: Path, names: str) -> None:
    path = tmp_path / "costs.csv"
    path.write_text(f"metric,{names.replace(' ', ',')}\nrent,1,2,3\nwages,4,5,6\n")
    frame = read_table(path, DataConfig(layout="rows"))
    assert frame["item_id"].tolist() == ["rent"] * 3 + ["wages"] * 3
    assert frame["timestamp"].dt.year.tolist() == [2023] * 6
    assert frame["timestamp"].iloc[:3].is_monotonic_increasing


def test_numbered_columns_are_steps(tmp_path: Path) -> None:
    path = tmp_path / "m4.csv"
    path.write_text('"V1","V2","V3","V4","V5"\n"Q1",1,2,3,\n"Q2",4,5,,\n')
    frame = read_table(path, DataConfig(layout="rows"))
    assert list(zip(frame["item_id"], frame["timestamp"], frame["target"], strict=True)) == [
        ("Q1", 1, 1.0),
        ("Q1", 2, 2.0),
        ("Q1", 3, 3.0),
        ("Q2", 1, 4.0),
        ("Q2", 2, 5.0),
    ]


def test_declared_columns_go_with_their_series(tmp_path: Path) -> None:
    path = tmp_path / "m5.csv"
    path.write_text("item,shop,area,d_1,d_2,d_3\na,N,10,1,2,3\na,S,20,4,5,6\n")
    with pytest.raises(DataError, match="'a' twice, the second time at row 2"):
        read_table(path, DataConfig(layout="rows", item_id="item"), report=lambda finding: None)
    config = DataConfig(layout="rows", item_id="item,shop", static_covariates=("area",))
    frame = read_table(path, config)
    assert frame["item,shop"].unique().tolist() == ["a/N", "a/S"]
    assert frame["area"].tolist() == [10, 10, 10, 20, 20, 20]


def test_the_target_is_one_of_the_variables_that_stand_before_the_years(tmp_path: Path) -> None:
    path = tmp_path / "world.csv"
    path.write_text(
        "Country,gdp.1990,Pop 1990,gdp.1991,pop_1991,gdp.1992,pop1992\nChad,1,7,2,8,3,9\nMali,4,6,5,5,6,4\n"
    )
    notes: list[str] = []
    frame = read_table(path, DataConfig(layout="rows", target="gdp"), report=lambda each: notes.append(each.message))
    assert list(frame) == ["item_id", "timestamp", "gdp"]
    assert frame["gdp"].tolist() == [1, 2, 3, 4, 5, 6]
    assert frame["timestamp"].dt.year.tolist() == [1990, 1991, 1992] * 2
    assert notes == ["the columns of 'Pop' are left out: --target is 'gdp'"]
    assert read_table(path, DataConfig(layout="rows", target="Pop"))["Pop"].tolist() == [7, 8, 9, 6, 5, 4]


@pytest.mark.parametrize(
    ("names", "target", "message"),
    [
        ("gdp1990,gdp1991,gdp1992,pop1990,pop1991,pop1992", None, "several variables for each year: 'gdp', 'pop'\n"),
        ("gdp1990,gdp1991,gdp1992,pop1990,pop1991,pop1992", "gpd", "expected 'gpd' to be one of them"),
        ("1990,1991,1992,1993,1994,1995", "gdp", "no columns called 'gdp' and a year"),
    ],
)
def test_a_variable_that_the_columns_do_not_have_is_refused(names: str, target: str | None, message: str) -> None:
    frame = pd.DataFrame([["Chad", *range(6)], ["Mali", *range(6)]], columns=["Country", *names.split(",")])
    with pytest.raises(DataError, match=message) as refused:
        read_table(frame, DataConfig(layout="rows", target=target))
    assert (refused.value.code, refused.value.options) == ("FA102", ("target",))


def test_text_among_the_values_of_a_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bank.csv"
    path.write_text("Country,1960,1961,1962\nAruba,1,2,3\nChad,4,..,6\nCuba,7,8,9\nFiji,7,8,9\n")
    with pytest.raises(DataError, match=r"column '1961' has '\.\.' at row 2") as refused:
        read_table(path, DataConfig(layout="rows"))
    assert (refused.value.code, refused.value.row, refused.value.column) == ("FA103", 2, "1961")


def test_layouts_refuse_the_options_of_others() -> None:
    frame = pd.DataFrame({"Country": ["a"], "1960": [1], "1961": [2], "1962": [3]})
    for config in (
        DataConfig(layout="rows", wide=True),
        DataConfig(layout="rows", time="Country"),
        DataConfig(layout="calendar", target="1960"),
    ):
        with pytest.raises(ConfigError, match="contradict each other"):
            read_table(frame, config)


# --------------------------------------------------------------------------- one year per row


@pytest.mark.parametrize(
    "names",
    [
        MONTHS,
        [name.upper() for name in MONTHS],
        [str(at) for at in range(1, 13)],
        [f"M{at:02d}" for at in range(1, 13)],
    ],
)
def test_a_year_per_row_has_its_months_in_order(names: list[str]) -> None:
    values = np.arange(36.0).reshape(3, 12)
    frame = pd.DataFrame(values, columns=names)[names[::-1]]  # in any order of columns
    frame.insert(0, "Year", [1990, 1991, 1992])
    frame.loc[2, names[9:]] = np.nan
    frame["Annual"] = 7.0
    notes: list[str] = []
    long = read_table(frame, DataConfig(layout="calendar"), report=lambda finding: notes.append(finding.message))
    expected = pd.date_range("1990-01-01", periods=33, freq="MS")
    assert long["timestamp"].tolist() == list(expected)
    np.testing.assert_array_equal(long["target"], np.arange(33.0))
    assert notes == ["column 'Annual' is left out: no month or quarter"]


def test_a_year_per_row_may_have_quarters_and_several_series() -> None:
    frame = pd.DataFrame(
        {"shop": ["a", "b"], "year": [2000, 2000], "Q1": [1, 5], "Q2": [2, 6], "Q3": [3, 7], "Q4": [4, 8]}
    )
    long = read_table(frame, DataConfig(layout="calendar", item_id="shop"))
    assert long["shop"].tolist() == ["a"] * 4 + ["b"] * 4
    assert long["timestamp"].dt.month.tolist() == [1, 4, 7, 10] * 2


@pytest.mark.parametrize(
    ("label", "first", "names"),
    [
        ("Week", "2024-01-01", "Mon Tue Wed Thu Fri Sat Sun"),
        ("Week ending", "2024-01-07", "Mon Tue Wed Thu Fri Sat Sun"),
        ("Woche ab", "2024-01-01", "So Mo Di Mi Do Fr Sa"),
        ("Semaine", "2024-01-03", "lundi mardi mercredi jeudi vendredi samedi dimanche"),
    ],
)
def test_days_of_weeks_become_the_rows_of_their_dates(label: str, first: str, names: str) -> None:
    days = pd.date_range("2023-12-31", periods=16)  # the number of a day of January is its value
    weeks = pd.date_range(first, periods=2, freq="7D")
    order = [name[:2].lower() for name in names.split()]
    of_day = {"mo": 0, "lu": 0, "tu": 1, "di": 1 if "mo" in order else 6, "ma": 1, "we": 2, "mi": 2, "me": 2}
    of_day |= {"th": 3, "do": 3, "je": 3, "fr": 4, "ve": 4, "sa": 5, "su": 6, "so": 6}
    start = 6 if "ending" in label else 0
    frame = pd.DataFrame({label: weeks.strftime("%Y-%m-%d")})
    for name, key in zip(names.split(), order, strict=True):
        offset = (of_day[key] - weeks[0].day_of_week) % 7
        frame[name] = [float((week + pd.Timedelta(days=offset - 7 * bool(start and offset))).day) for week in weeks]
    long = read_table(frame, DataConfig(layout="calendar"))
    stamps = pd.to_datetime(long["timestamp"])
    assert stamps.is_monotonic_increasing
    assert (stamps.dt.day == long["target"]).all()
    assert len(long) == 14 and stamps.isin(pd.date_range(days[0], "2024-01-20")).all()


@pytest.mark.parametrize(
    ("options", "code", "message", "hint"),
    [
        (
            {"wide": True},
            "FA102",
            "has columns for the parts of 'year', such as its months",
            "--layout calendar instead",
        ),
        ({"layout": "calendar"}, "FA202", "has 2000-01-01 twice", "name the column of the series with --id, keep one"),
    ],
)
def test_errors_of_two_calendars_name_no_column_that_the_file_has_not(
    options: dict[str, object], code: str, message: str, hint: str
) -> None:
    """Neither `item_id` nor `timestamp`, which stand for others."""
    months = {month: np.arange(8.0) for month in MONTHS}
    frame = pd.DataFrame({"year": [*range(2000, 2004)] * 2, **months})
    error = examine(frame, DataConfig(**options)).to_report().errors[0]
    assert error.code == code
    assert message in error.message
    assert str(error.hint).startswith(hint)


def test_a_table_without_months_is_no_calendar() -> None:
    frame = pd.DataFrame({"year": [2000, 2001], "sales": [1, 5]})
    with pytest.raises(DataError, match="no column of years"):
        read_table(frame, DataConfig(layout="calendar"))


# --------------------------------------------------------------------------- below the rows


@pytest.mark.parametrize("end", ["", "\n", "\n\n  \n", "\r\n"])
@pytest.mark.parametrize("chunk", [7, 64, 1 << 20])
def test_last_lines_are_left_out(end: str, chunk: int) -> None:
    from forecast_attn.data.reading.extra_lines import ExtraLines, without_extra_lines

    text = ("date,y\n2024-01-01,1\n2024-01-02,2\n\nTotal,3\nSource: us" + end).encode()
    chunks = (text[at : at + chunk] for at in range(0, len(text), chunk))
    rows = b"".join(without_extra_lines(chunks, ExtraLines(skip_footer=2)))
    assert rows.strip() == b"date,y\n2024-01-01,1\n2024-01-02,2"


def test_more_lines_than_there_are_leave_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("date,y\n2024-01-01,1\n")
    with pytest.raises(DataError, match="is empty"):
        read_table(path, DataConfig(skip_footer=5))


def test_a_series_without_a_value_is_left_out_where_missing_values_are_not_errors() -> None:
    frame = pd.DataFrame(
        {"item_id": ["a"] * 60 + ["b"] * 60, "date": [*days(60), *days(60)], "y": [1.0, 2.0] * 30 + [np.nan] * 60}
    )
    frame["date"] = pd.to_datetime(frame["date"])
    assert examine(frame, DataConfig()).findings[0].code == "FA301"
    panel = examine(frame, DataConfig(missing="mask")).panel
    assert panel is not None
    assert panel.item_ids == ("a",)
    assert [repair.kind for repair in panel.repairs] == ["series without a value: left out"]


def test_columns_from_july_to_june_run_into_the_next_year() -> None:
    months = [*MONTHS[6:], *MONTHS[:6]]
    rows = [[1893 + year, *range(12 * year, 12 * year + 12)] for year in range(3)]
    frame = read_table(pd.DataFrame(rows, columns=["SeasonStart", *months]), DataConfig(layout="calendar"))
    ordered = frame.sort_values("timestamp")
    assert ordered["target"].tolist() == list(range(36))
    assert str(ordered["timestamp"].iloc[0])[:7] == "1893-07"


@given(st.integers(2, 5), st.integers(8, 20), st.booleans())
def test_an_outline_of_any_table_holds_its_values(num_names: int, num_dates: int, names_above: bool) -> None:
    days = [f"{day:%Y-%m-%d}" for day in pd.date_range("2024-01-01", periods=num_dates)]
    names = [*"abcde"[:num_names]]
    upper, lower = (names, days) if names_above else (days, names)
    labels = [label for heading in upper for label in (heading, *lower)]
    values = np.arange(len(labels))
    outline = pd.DataFrame({"label": pd.Categorical(labels), "y": values})
    read = without_headings(outline)
    assert read is not None
    cells = {(name, day, value) for name, day, value in zip(read["item_id"], read["label"], read["y"], strict=True)}
    of_lower = [(at, below) for at, _ in enumerate(upper) for below in range(len(lower))]
    pairs = [(upper[at], lower[below], at * (1 + len(lower)) + 1 + below) for at, below in of_lower]
    assert cells == {(one, two, value) if names_above else (two, one, value) for one, two, value in pairs}


def test_a_pivot_table_has_a_series_per_row() -> None:
    days = pd.date_range("2024-01-01", periods=12)
    long = pd.DataFrame({"item_id": np.repeat(["a", "b"], 12), "date": [*days, *days], "y": np.arange(24.0)})
    pivoted = long.pivot(index="item_id", columns="date", values="y")
    frame = read_table(pivoted, DataConfig(layout="rows"), report=lambda finding: None)
    np.testing.assert_array_equal(frame["timestamp"], long["date"])
    np.testing.assert_array_equal(frame["target"], long["y"])
