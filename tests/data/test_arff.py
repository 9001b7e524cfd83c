"""Files of Weka and OpenML are the tables that they hold."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table
from forecast_attn.errors import ConfigError, DataError

from ..made_columns import noise

HEAD = """% 1. Title: demand
@RELATION demand

@ATTRIBUTE date DATE "yyyy-MM-dd"
@attribute 'price, mean' NUMERIC
@attribute region {north,'south east'}
@attribute y real
@DATA
"""


def written(folder: Path, rows: str) -> Path:
    (folder / "demand.arff").write_text(HEAD + rows, encoding="utf-8")
    return folder / "demand.arff"


def test_names_and_cells_are_those_of_the_table(tmp_path: Path) -> None:
    rows = "2024-01-01,1.5,north,?\n% a comment\n'2024-01-02', 2.5 ,'south east',3\n"
    frame = read_table(written(tmp_path, rows), DataConfig())
    assert list(frame.columns) == ["date", "price, mean", "region", "y"]
    assert list(frame["region"].astype(str)) == ["north", "south east"]
    np.testing.assert_array_equal(frame["y"], [np.nan, 3])
    np.testing.assert_array_equal(frame["price, mean"], [1.5, 2.5])


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("'a b'", "a b"),
        ('"a b"', "a b"),
        (' "c,d"\t', "c,d"),
        ("'c,\"d'", 'c,"d'),
        (r"'it\'s'", "it's"),
        ("'it''s'", "it's"),
        ("it's", "it's"),
        (r"c\,d", "c,d"),
        ('5" pipe', '5" pipe'),
    ],
)
def test_cells_stand_between_quotes_of_either_kind(tmp_path: Path, cell: str, text: str) -> None:
    frame = read_table(written(tmp_path, f"2024-01-01,1.5,{cell},2\n2024-01-02,1.5,north,?\n"), DataConfig())
    assert list(frame["region"].astype(str)) == [text, "north"]
    np.testing.assert_array_equal(frame["y"], [2, np.nan])


def test_the_first_command_is_that_of_the_same_csv(tmp_path: Path) -> None:
    table = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=90).astype(str), "price, mean": noise(90)})
    table = table.assign(region="north", y=noise(90).cumsum())
    table.to_csv(tmp_path / "table.csv", index=False)
    path = written(tmp_path, table.to_csv(index=False, header=False))
    proposals, expected = (find_proposals(each, DataConfig()) for each in (path, tmp_path / "table.csv"))
    assert [each.options for each in proposals] == [each.options for each in expected]
    assert proposals[0].target == "y"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("2024-01-01,1,north\n", "line 9 has 3 fields; @attribute lists 4"),
        ("{0 2024-01-01, 3 1}\n", "line 9 is a sparse row"),
    ],
)
def test_other_rows_are_refused_with_their_line(tmp_path: Path, rows: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_table(written(tmp_path, rows), DataConfig())


def test_options_of_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is an \.arff file, which has no --decimal"):
        read_table(written(tmp_path, "2024-01-01,1,north,2\n"), DataConfig(decimal=","))


@pytest.mark.parametrize(("encoding", "notes"), [("utf-8", []), ("utf-8-sig", []), ("cp1250", ["FA105"])])
def test_letters_are_those_of_any_text(tmp_path: Path, encoding: str, notes: list[str]) -> None:
    """Bytes of letters that would be blanks by themselves stay, and another encoding is said."""
    head = HEAD.replace("region {north,'south east'}", "województwo {Łódź,Śląsk,à,wartość}")
    rows = "".join(f"2024-01-0{at},1,{name},{at}\n" for at, name in enumerate(("Łódź", "Śląsk", "wartość"), 1))
    (tmp_path / "demand.arff").write_bytes((head + rows).encode(encoding, "replace"))
    codes: list[str] = []
    frame = read_table(tmp_path / "demand.arff", DataConfig(), report=lambda finding: codes.append(str(finding.code)))
    assert list(frame["województwo"].astype(str)) == ["Łódź", "Śląsk", "wartość"]
    assert codes == notes


def test_a_letter_whose_last_byte_is_a_blank_stays_at_the_end(tmp_path: Path) -> None:
    head = HEAD.replace("@attribute y real\n", "").replace("north,'south east'", "à,x")
    (tmp_path / "demand.arff").write_text(head + "2024-01-01,1,à\n2024-01-02,1,x\n", encoding="utf-8")
    assert list(read_table(tmp_path / "demand.arff", DataConfig())["region"].astype(str)) == ["à", "x"]
