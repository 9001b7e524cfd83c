"""The corpus of bad tables: each stops training with a message that names its place; `check` lists it with a code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking import CheckReport, check_table
from forecast_attn.config.options import DataConfig
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.reading import read_table
from forecast_attn.data.roles import resolve_roles
from forecast_attn.errors import DataError

pytestmark = pytest.mark.slow

Write = Callable[..., Path]


class Case(NamedTuple):
    """A table with one mistake, and where it must be found."""

    table: str
    code: str
    row: int | None
    column: str | None
    item_id: str | None
    message: str
    hint: str


def days(rows: list[str], header: str = "date,y") -> str:
    """A header and rows; `{d}` becomes the day of the month."""
    return "\n".join([header, *(row.replace("{d}", f"{at:02d}") for at, row in enumerate(rows, 1)), ""])


GOOD = [f"2024-01-{{d}},{value}" for value in range(9)]
TWO = [f"2024-01-{{d}},{value},{value * 2}" for value in range(9)]


def with_row(rows: list[str], at: int, row: str) -> list[str]:
    """The rows with the one counted `at` from 1 replaced."""
    return [*rows[: at - 1], row, *rows[at:]]


CASES = {
    "no such column of time": Case("a,b\n1,2\n2,3\n", "FA102", None, None, None, "no column of time stamps", "--time"),
    "two possible targets": Case(
        days(TWO, "date,a,b"), "FA102", None, None, None, "2 columns that could be the target", "--target"
    ),
    "header only": Case("date,y\n", "FA101", None, None, None, "has no rows", "add rows"),
    "empty file": Case("", "FA101", None, None, None, "is empty", "header"),
    "time that is none": Case(
        days(with_row(GOOD, 5, "soon,4")),
        "FA201",
        5,
        "date",
        None,
        "'soon', which is not a time stamp at row 5 (line 6)",
        "YYYY-MM-DD",
    ),
    "time that is empty": Case(
        days(with_row(GOOD, 2, ",4")), "FA201", 2, "date", None, "column 'date' is empty at row 2", "YYYY-MM-DD"
    ),
    "ambiguous dates": Case(
        "date,y\n01/02/2024,1\n02/02/2024,2\n03/02/2024,3\n", "FA201", None, None, None, "ambiguous", "ISO"
    ),
    "text in the target": Case(
        days(with_row(GOOD, 3, "2024-01-{d},many")),
        "FA103",
        3,
        "y",
        None,
        "'y' must be numeric; row 3 (line 4) is 'many'",
        "correct",
    ),
    "text in a covariate": Case(
        days(with_row(TWO, 8, "2024-01-{d},7,?"), "date,y,x"),
        "FA103",
        8,
        "x",
        None,
        "'x' must be numeric; row 8 (line 9) is '?'",
        "--ignore",
    ),
    "empty target": Case(
        days(with_row(GOOD, 4, "2024-01-{d},")), "FA301", 4, "y", "y", "'y' has no value at row 4 (line 5)", "fill"
    ),
    "NaN in the target": Case(
        days(with_row(GOOD, 4, "2024-01-{d},NaN")), "FA301", 4, "y", "y", "'y' has no value at row 4 (line 5)", "fill"
    ),
    "empty covariate": Case(
        days(with_row(TWO, 6, "2024-01-{d},5,"), "date,y,x"),
        "FA302",
        6,
        "x",
        "y",
        "'x' has no value at row 6",
        "--ignore 'x'",
    ),
    "infinite target": Case(
        days(with_row(GOOD, 4, "2024-01-{d},inf")),
        "FA303",
        4,
        "y",
        None,
        "'y' is infinite at row 4",
        "correct the cell, or --na inf reads",
    ),
    "target of many digits beyond all": Case(
        days(with_row(GOOD, 4, "2024-01-{d},1.23456789e31")),
        "FA303",
        4,
        "y",
        None,
        "'y' is 1.23457e+31 at row 4",
        "or --na 1.23456789e+31 reads",
    ),
    "infinite covariate": Case(
        days(with_row(TWO, 4, "2024-01-{d},3,-inf"), "date,y,x"),
        "FA303",
        4,
        "x",
        None,
        "'x' is infinite at row 4",
        "correct",
    ),
    "a last row without anything": Case(
        days(with_row(GOOD, 9, "2024-01-{d},")), "FA304", 9, "y", "y", "'y' has no value at row 9", "remove the row"
    ),
    "a future row without its covariate": Case(
        days([*(f"{row},1" for row in TWO), "2024-01-{d},,1,5", "2024-01-{d},,,5"], "date,y,x,z"),
        "FA302",
        11,
        "x",
        "y",
        "has no value at row 11 (line 12)",
        "--ignore",
    ),
    "repeated stamp": Case(
        days(with_row(GOOD, 5, "2024-01-03,9")),
        "FA202",
        5,
        "date",
        "y",
        "2024-01-03 twice, at row 3 (line 4) and row 5 (line 6)",
        "--id",
    ),
    "repeated stamps and a name": Case(
        "date,city,y\n2024-01-01,a,1\n2024-01-01,b,2\n2024-01-02,a,3\n2024-01-02,b,4\n2024-01-03,a,5\n",
        "FA202",
        2,
        "date",
        "y",
        "no column identifies the series",
        "name the column of the series with --id",
    ),
    "repeated stamp in a series": Case(
        "id,date,y\na,2024-01-01,1\na,2024-01-02,2\na,2024-01-02,2\na,2024-01-03,3\n",
        "FA202",
        3,
        "date",
        "a",
        "series 'a' has 2024-01-02 twice",
        "keep one",
    ),
    "gap": Case(
        days([*GOOD[:4], "2024-01-08,1", "2024-01-09,2"]),
        "FA204",
        5,
        None,
        "y",
        "gap of 3 rows: after 2024-01-04 comes 2024-01-08 at row 5 (line 6)",
        "add the missing rows",
    ),
    "irregular": Case(
        "date,y\n2024-01-01,1\n2024-01-02,1\n2024-01-05,1\n2024-01-16,1\n",
        "FA203",
        3,
        None,
        "y",
        "no regular time step: it jumps from 2024-01-02 to 2024-01-05 at row 3",
        "--freq",
    ),
    "one stamp off": Case(
        days(with_row(GOOD, 5, "2024-01-{d} 07:00,9")),
        "FA203",
        5,
        None,
        "y",
        "jumps from 2024-01-04 to 2024-01-05 07:00 at row 5 (line 6); expected 2024-01-05",
        "--freq",
    ),
    "mixed frequencies": Case(
        "id,date,y\n" + "".join(f"a,2024-01-{d:02d},1\nb,2024-{d:02d}-01,1\n" for d in range(1, 10)),
        "FA205",
        None,
        None,
        "b",
        "series 'b' steps by 1 month",
        "one frequency",
    ),
    "too few rows to see a step": Case(
        "date,y\n2024-01-01,1\n2024-01-02,2\n", "FA206", None, None, "y", "2 rows; expected at least 3", "add rows"
    ),
    "too few rows to learn": Case(
        days(GOOD),
        "FA403",
        None,
        None,
        None,
        "the longest series has 9 rows; lookback 28 + horizon 7 + 7",
        "--lookback 3 --horizon 3",
    ),
    "no identifier": Case(
        "id,date,y\na,2024-01-01,1\n,2024-01-02,2\na,2024-01-02,2\na,2024-01-03,2\n",
        "FA208",
        2,
        "id",
        None,
        "'id' (series identifier) is empty at row 2 (line 3)",
        "name the series in every row, or --id 'id' --undated-rows drop",
    ),
    "a series without a value": Case(
        "id,date,y\n" + "".join(f"a,2024-01-{d:02d},1\nb,2024-01-{d:02d},\n" for d in range(1, 10)),
        "FA301",
        None,
        "y",
        "b",
        "series 'b' has no value in column 'y'",
        "remove its rows",
    ),
}


def is_reported(report: CheckReport, case: Case) -> bool:
    """Whether one of the findings is the case's."""
    return any(
        finding.code == case.code
        and (case.row is None or finding.row == case.row)
        and (case.column is None or finding.column == case.column)
        and (case.item_id is None or finding.item_id == case.item_id)
        and case.message in finding.message
        and case.hint in str(finding.hint)
        for finding in report.findings
    )


@pytest.mark.parametrize("name", CASES)
def test_check_finds_it(write_csv: Write, name: str) -> None:
    report = check_table(write_csv(CASES[name].table), DataConfig())
    assert is_reported(report, CASES[name]), report.findings
    assert report.errors
    json.dumps(report.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.code != "FA403"])
def test_training_stops_at_it(write_csv: Write, name: str) -> None:
    with pytest.raises(DataError) as error:
        frame = read_table(write_csv(CASES[name].table), DataConfig())
        build_panel(frame, resolve_roles(frame, DataConfig(), "table.csv"), DataConfig(), source="table.csv")
    assert CASES[name].message in error.value.message
    assert CASES[name].hint in str(error.value.hint)


def test_a_row_one_step_after_one_between_two_steps_is_between_two_steps_as_well(write_csv: Write) -> None:
    """As weeks that begin anew with every year."""
    weeks = [*pd.date_range("2015-01-01", periods=52, freq="7D"), *pd.date_range("2016-01-01", periods=3, freq="7D")]
    report = check_table(write_csv("date,y\n" + "".join(f"{week:%Y-%m-%d},1\n" for week in weeks)), DataConfig())
    first, second, *_ = report.errors
    assert "jumps from 2015-12-24 to 2016-01-01 at row 53 (line 54); expected 2015-12-31" in first.message
    assert second.message == (
        "series 'y' has 2016-01-08 at row 54 (line 55), which is between two steps of 1 week (Thu)"
    )


def test_declared_static_that_changes(write_csv: Write) -> None:
    report = check_table(write_csv(days(TWO, "date,y,s")), DataConfig(static_covariates=("s",)))
    assert (report.errors[0].code, report.errors[0].column, report.errors[0].row) == ("FA305", "s", 2)


def test_all_mistakes_are_listed_and_each_cell_once(write_csv: Write) -> None:
    rows = with_row(with_row(TWO, 3, "2024-01-{d},oops,4"), 7, "2024-01-{d},6,inf")
    report = check_table(write_csv(days([*rows, "later,9,9", "2024-01-09,1,1"], "date,y,x")), DataConfig())
    assert {(f.code, f.row) for f in report.errors} == {("FA103", 3), ("FA303", 7), ("FA201", 10), ("FA202", 11)}


def test_many_mistakes_of_a_kind_are_counted(write_csv: Write) -> None:
    table = "date,y\n" + "".join(
        f"{day.date()},{1 if day.day % 2 else 'x'}\n" for day in pd.date_range("2024-01-01", periods=59)
    )
    report = check_table(write_csv(table), DataConfig())
    texts = [f for f in report.errors if f.code == "FA103"]
    assert len(texts) == 4
    assert texts[-1].message.startswith("26 more of FA103 in column 'y'")


def test_a_mistake_far_down_a_long_file(write_csv: Write) -> None:
    """pandas reads long files in chunks, and sees numbers in one and text in the next."""
    hours = pd.date_range("2015-01-01", periods=60_000, freq="h").strftime("%Y-%m-%d %H:%M").to_numpy()
    frame = pd.DataFrame({"date": hours, "series": "01", "y": np.arange(60_000).astype(str)})
    frame.loc[49_999, "y"] = "many"
    path = write_csv(frame.to_csv(index=False))
    report = check_table(path, DataConfig())
    assert [(f.code, f.column, f.row) for f in report.findings] == [("FA103", "y", 50_000)]
    assert report.series[0].item_id == "01"


def test_unsorted_rows_are_only_noted(write_csv: Write) -> None:
    rows = [f"2024-{month:02d}-01,{month}" for month in (2, 1, *range(3, 13))]
    report = check_table(write_csv(days(rows)), DataConfig(horizon=1, lookback=2))
    assert [(f.code, f.severity, f.row) for f in report.findings] == [("FA207", "note", 2)]


def test_constant_series_are_accepted_and_told(write_csv: Write) -> None:
    table = days([f"2024-01-{{d}},5,{at % 3}" for at in range(20)], "date,y,x")
    report = check_table(write_csv(table), DataConfig(horizon=1, lookback=2))
    assert [(f.code, f.severity, f.item_id) for f in report.findings] == [("FA401", "warning", "y")]
    assert report.series[0].constant is True


def test_a_short_series_among_good_ones_is_a_warning(write_csv: Write) -> None:
    rows = [f"long,2024-01-{d:02d},{d}" for d in range(1, 31)] + [f"short,2024-01-{d:02d},{d}" for d in range(20, 31)]
    report = check_table(write_csv(days(rows, "id,date,y")), DataConfig(horizon=3, lookback=7, short_series="skip"))
    assert [(f.code, f.severity, f.item_id) for f in report.findings] == [("FA402", "warning", "short")]


def test_future_rows_short_of_the_horizon_are_noted(write_csv: Write) -> None:
    rows = [f"2024-01-{{d}},{at if at < 25 else ''},{at * at}" for at in range(28)]
    report = check_table(write_csv(days(rows, "date,y,price")), DataConfig())
    assert [(f.code, f.severity) for f in report.findings] == [("FA408", "note")]
    report = check_table(write_csv(days(rows, "date,y,price")), DataConfig(lookback=5, horizon=4))
    assert [(f.code, f.severity) for f in report.findings] == [("FA405", "note")]


def test_figures_of_each_series(write_csv: Write) -> None:
    rows = [f"a,2024-01-{d:02d},{d},1" for d in range(1, 21) if d != 7] + ["a,2024-01-20,3,1", "a,2024-01-21,,1"]
    rows += [f"b,2024-02-{d:02d},{-d if d != 3 else ''}," for d in range(1, 10)]
    report = check_table(write_csv(days(rows, "id,date,y,x")), DataConfig(future_covariates=("x",)))
    a, b = report.series
    assert (a.item_id, a.first, a.last, a.rows) == ("a", "2024-01-01", "2024-01-21", 21)
    assert (a.duplicates, a.gaps, a.future_rows, a.missing, a.lowest, a.highest) == (1, 1, 1, 0, 1, 20)
    assert (b.duplicates, b.gaps, b.future_rows, b.missing, b.lowest, b.highest) == (0, 0, 0, 10, -9, -1)
    assert report.rows == 30


def test_noise_never_ends_in_another_error(write_csv: Write) -> None:
    """Random tables of awkward cells: check lists what it finds, and nothing but a DataError stops the reader."""
    random = np.random.default_rng(0)
    cells = [
        "",
        "1",
        "-2.5",
        "inf",
        "x",
        "2024-01-01",
        "2024-01-02",
        "2024/1/3 0:00",
        "1e400",
        "01/02/2024",
        '"a,b"',
        "NaN",
        "0",
    ]
    names = ["date", "y", "id", "x", "", "value", "time"]
    for _ in range(150):
        columns = random.choice(names, size=random.integers(1, 5), replace=False)
        rows = [",".join(random.choice(cells, size=len(columns))) for _ in range(random.integers(1, 8))]
        report = check_table(write_csv("\n".join([",".join(columns), *rows])), DataConfig())
        assert report.findings
        json.dumps(report.to_dict(), allow_nan=False)
