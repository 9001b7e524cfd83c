"""Lines of the file that messages name: those that an editor shows, or none where they are not known."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table
from forecast_attn.errors import ConfigError

ROWS = [f"2024-01-{day:02d},{day}" for day in range(1, 31)]


def table(*, header: str = "date,y\n", bad: str = "2024-01-05,many", end: str = "\n") -> str:
    """Rows of which the fifth is wrong."""
    return header + end.join([*ROWS[:4], bad, *ROWS[5:]]) + end


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (table(), ()),
        (table(end="\r\n"), ()),
        ("A title\nof two lines\n" + table(), ("--skip-rows", "2")),
        (table(header=""), ("--no-header", "--time", "column_1", "--target", "column_2")),
        ("sep=;\n" + table().replace(",", ";"), ()),
        (table(bad="2024-01-05,5,5"), ()),
        ("A title\n" + table(bad="2024-01-05,5,5"), ("--skip-rows", "1")),
        ("\n" + table(bad='2024-01-05,"5'), ()),
    ],
    ids=[
        "plain",
        "of Windows",
        "a title",
        "no header",
        "sep=",
        "too wide",
        "too wide, a title",
        "a quote, a blank line",
    ],
)
@pytest.mark.parametrize("command", ["train", "check"])
@pytest.mark.slow
def test_the_line_is_that_of_the_file(forecast, write, text, options, command):
    path = write(text)
    line = next(at for at, line in enumerate(text.splitlines(), 1) if line.startswith("2024-01-05"))
    outcome = forecast(command, path, *options)
    assert outcome.code == 1
    assert f"row 5 (line {line})" in outcome.out + outcome.err


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("# a comment\n" + table(), ("--comment", "#")),
        (table().replace("2024-01-03", "\n2024-01-03"), ()),
        (table(header='date,y\n"2023-12-31",\n', bad="2024-01-04,many").replace(",2\n", ',"2\n"\n'), ()),
    ],
    ids=["comments", "a blank line", "a cell of two lines"],
)
@pytest.mark.slow
def test_no_line_is_named_where_rows_are_not_lines(forecast, write, text, options):
    outcome = forecast("check", write(text), *options)
    assert outcome.code == 1
    assert "(line " not in outcome.out + outcome.err


def test_a_row_of_empty_cells_is_no_blank_line(forecast, write):
    outcome = forecast("check", write(table(header="date,y\n,\n")))
    assert outcome.code == 1
    assert "row 1 (line 2)" in outcome.out
    assert "row 6 (line 7)" in outcome.out


@pytest.mark.parametrize("name", ["data.parquet", "data.feather"])
def test_a_table_without_lines_has_rows_only(forecast, here, make_table: Callable[..., pd.DataFrame], name):
    frame = make_table()
    frame.loc[4, "target"] = np.inf
    frame.to_parquet(name) if name.endswith("parquet") else frame.to_feather(name)
    outcome = forecast("train", name)
    assert outcome.code == 1
    assert "at row 5;" in outcome.error
    assert Path(name).is_file()


@pytest.mark.slow
def test_two_tables_have_each_their_own_lines(forecast, write, make_table: Callable[..., pd.DataFrame]):
    """The table of days off has no title."""
    data = "A title\n" + make_table().to_csv(index=False).replace("2024-01-05,", "2024-01-05,many")
    days = write("date,name\n2024-01-01,New Year\nsoon,Easter\n", "days.csv")
    outcome = forecast("train", write(data), "--skip-rows", "1", "--holiday-dates", days)
    assert "row 5 (line 7)" in outcome.error
    good = write("A title\n" + make_table().to_csv(index=False), "good.csv")
    outcome = forecast("train", good, "--skip-rows", "1", "--holiday-dates", days)
    assert "row 2 (line 3)" in outcome.error


UNDATED = "date;y;place\ndd.mm.yyyy;MW;-\n01.01.2024;1,5;a\nTotal;99;-\n02.01.2024;2,5;b\n03.01.2024;many;c\n"


def test_rows_without_a_time_stamp_are_left_out_and_keep_their_lines(forecast, write, tmp_path: Path):
    days = "".join(f"{day:02d}.01.2024;{day},5;{'abc'[day % 3]}\n" for day in range(4, 31))
    read = ("--time", "date", "--target", "y", "--undated-rows", "drop")
    bad = forecast("check", write(UNDATED + days), *read)
    assert "2 rows without a time stamp in 'date' left out, the first at row 1 (line 2), 'dd.mm.yyyy'" in bad.out
    assert "column 'y' must be numeric; row 5 (line 6) is 'many'" in bad.out
    good = write((UNDATED + days).replace("many", "3,5"))
    fixed = forecast("check", good, *read, "--past", "place", "--fix", "--out", tmp_path / "fixed.csv")
    assert "rows without a time stamp: left out" in map(str.strip, fixed.err.splitlines())  # not counted: no number
    frame = pd.read_csv(tmp_path / "fixed.csv")
    assert list(frame["y"]) == [day + 0.5 for day in range(1, 31)]
    assert list(frame["place"])[:6] == [*"abc", *"bca"]


def test_rows_without_a_time_stamp_are_left_out_of_a_frame_and_a_wide_table(write):
    days = [f"2024-01-{day:02d}" for day in range(1, 31)]
    frame = pd.DataFrame({"date": ["unit", *days], "a": ["m", *map(str, range(30))], "b": ["kg", *map(str, range(30))]})
    config = DataConfig(undated_rows="drop", wide=True)
    for table in (frame, write(frame.to_csv(index=False))):
        read = read_table(table, config)
        assert list(read.index[:2]) == [2, 3]
        assert read.groupby("item_id", observed=True)["target"].sum().to_dict() == {"a": 435, "b": 435}
    with pytest.raises(ConfigError, match="--undated-rows drop needs the column of time stamps"):
        read_table(frame.drop(columns="date"), DataConfig(undated_rows="drop"))
