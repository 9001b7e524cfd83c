"""Files of Stata: labels are names where all numbers have one, dates are dates; those of SPSS and SAS are refused."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table
from forecast_attn.errors import ConfigError, DataError

from ..made_columns import noise


def written(path: Path, frame: pd.DataFrame, **options: Any) -> Path:
    frame.to_stata(path, write_index=False, version=118, **options)
    return path


def test_labels_are_names_unless_some_numbers_have_none(tmp_path: Path) -> None:
    frame = pd.DataFrame({"region": [1, 2, 1], "grade": [1, 2, -9], "y": [1.5, 2.5, 3.5]})
    labels = {"region": {1: "north", 2: "south"}, "grade": {-9: "refused"}}
    read = read_table(written(tmp_path / "panel.dta", frame, value_labels=labels), DataConfig())
    assert list(read["region"].astype(str)) == ["north", "south", "north"]
    assert list(read["grade"]) == [1, 2, -9]


def test_two_numbers_of_one_label_are_numbers(tmp_path: Path) -> None:
    frame = pd.DataFrame({"region": [1, 2, 1], "y": [1.5, 2.5, 3.5]})
    path = written(tmp_path / "panel.dta", frame, value_labels={"region": {1: "north", 2: "north"}})
    assert list(read_table(path, DataConfig())["region"]) == [1, 2, 1]


def test_the_first_command_takes_quarters_of_stata_as_they_are(tmp_path: Path) -> None:
    quarters = pd.date_range("1990-01-01", periods=60, freq="QS")
    frame = pd.DataFrame({"quarter": quarters, "gdp": noise(60).cumsum(), "rate": noise(60)})
    path = written(tmp_path / "macro.dta", frame, convert_dates={"quarter": "tq"})
    proposal = find_proposals(path, DataConfig(target="gdp"))[0]
    assert (proposal.time, proposal.step) == ("quarter", "QS-JAN")


def test_options_of_text_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "table.dta", pd.DataFrame({"y": [1.0, 2.0]}))
    with pytest.raises(ConfigError, match="is a Stata file, which has no --decimal"):
        read_table(path, DataConfig(decimal=","))


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"$FL2@(#) IBM SPSS", "is an SPSS file"), (bytes(12) + b"\xc2\xea\x81\x60" + bytes(9), "is a SAS file")],
)
def test_files_of_other_packages_say_what_to_save(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "table").write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_table(tmp_path / "table", DataConfig())
    assert str(caught.value.hint).startswith("save the table as CSV")


def test_a_cut_file_is_said_to_be_damaged(tmp_path: Path) -> None:
    content = io.BytesIO()
    pd.DataFrame({"y": noise(40)}).to_stata(content, write_index=False, version=118)
    (tmp_path / "table.dta").write_bytes(content.getvalue()[:700])
    with pytest.raises(DataError, match="damaged or incomplete Stata file"):
        read_table(tmp_path / "table.dta", DataConfig())
