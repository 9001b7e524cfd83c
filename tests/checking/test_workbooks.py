"""Sheets as people keep them: `forecast check` prints what reads them, at the first try."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..data.test_layouts import PRICES, write_workbook
from ..made_columns import date_column
from .first_commands import FirstCommand, check_first_command, each_case

Rows = list[list[object]]


def values(rows: int, level: float = 300.0) -> list[float]:
    noise = np.random.default_rng(0).normal(scale=2, size=rows)
    return (level + 50 * np.sin(2 * np.pi * np.arange(rows) / 12) + noise).round(1).tolist()


def sales_by_month() -> Rows:
    """Titles, one of them beside its value; years merged above months; a total and a note below."""
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    years = [year if month == 0 else "" for year in (2022, 2023, 2024) for month in range(12)]
    lines = [
        [name, *values(36, 300 + 40 * at)] for at, name in enumerate([f"Line {letter}" for letter in "ABCDEFGHIJ"])
    ]
    titles: Rows = [["Monthly net sales"], ["Prepared by", "", "", "Status: 14.01.2025"], []]
    total = ["Total", *np.sum([line[1:] for line in lines], axis=0).tolist()]
    return [*titles, ["Line", *years], ["", *months * 3], *lines, total, [], ["Beds from 2022 on"]]


def load_by_hour() -> Rows:
    """A title alone above the numbers of hours as columns."""
    days = pd.date_range("2024-02-01", periods=60).strftime("%Y-%m-%d")
    numbers = np.reshape(values(60 * 24), (60, 24)).tolist()
    return [
        ["System load (MW)"],
        [],
        ["Date", *range(1, 25)],
        *([day, *row] for day, row in zip(days, numbers, strict=True)),
    ]


def pivot_of_stores() -> Rows:
    """Filters above the names; regions and stores merged over their months; sums of both below each."""
    months = pd.date_range("2022-07-01", periods=30, freq="MS").strftime("%b %Y")
    rows: Rows = [["Channel", "(All)"], [], ["Row Labels", "Store", "Month", "Sum of Sales"]]
    for region, stores in {"North": ("Hamburg", "Bremen"), "South": ("Munich", "Passau")}.items():
        for store in stores:
            at_first = [region if store == stores[0] else "", store]
            numbers = zip(months, values(30, 900), strict=True)
            rows += [[*(at_first if month == months[0] else ["", ""]), month, value] for month, value in numbers]
            rows.append(["", f"{store} Total", "", 27_000])
        rows.append([f"{region} Total", "", "", 54_000])
    return [*rows, ["Grand Total", "", "", 108_000]]


def revenue_with_sums() -> Rows:
    """Years merged over their months, and the sum of each year below them."""
    months = pd.date_range("2018-01-01", periods=84, freq="MS")
    rows: Rows = [["Revenue of a town"], [], ["Year", "Month", "Property tax", "Fees"]]
    for month, tax in zip(months, values(84), strict=True):
        rows.append([month.year if month.month == 1 else "", month.month_name(), tax, tax / 3])
        rows += [[f"Total {month.year}", "", 3600, 1200]] if month.month == 12 else []
    return [*rows, ["Source: treasury"]]


def gauge_with_remarks() -> Rows:
    """Names and values of the gauge above the names, units below them, and a column that is mostly empty."""
    stamps = pd.date_range("2024-04-01", periods=240, freq="h").strftime("%Y-%m-%d %H:%M")
    rows = [
        [stamp, level, "A", "ice" if at == 7 else ""]
        for at, (stamp, level) in enumerate(zip(stamps, values(240), strict=True))
    ]
    return [
        ["Gauge", "4412"],
        ["Datum", "212.4"],
        [],
        ["Timestamp", "Level", "Quality", "Remarks"],
        ["UTC", "cm", "", ""],
        *rows,
    ]


def prices_above_a_legend() -> Rows:
    """A small table of words below a gap is wider than the rows, and no header below titles."""
    days = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    rows: Rows = [[day, value, value / 2] for day, value in zip(days, values(60), strict=True)]
    legend: Rows = [["Code", "Meaning", "Source", "Remark"], ["low", "at night", "meter", "none"]]
    return [["Day", "Low", "High"], *rows, [], *legend]


def tables_of_a_plant() -> Rows:
    """Tables with titles below each other."""
    months = pd.date_range("2019-01-01", periods=60, freq="MS").strftime("%Y-%m-%d")
    output = [[month, value, value / 3] for month, value in zip(months, values(60), strict=True)]
    machines = [[f"M{at:02d}", "Press", 1990 + at] for at in range(12)]
    return [
        ["Table 1: Output"],
        ["Month", "Output", "Energy"],
        *output,
        [],
        ["Table 2: Machines"],
        ["Code", "Type", "Built"],
        *machines,
    ]


CASES = (
    FirstCommand(
        "sales by month",
        sales_by_month,
        {"skip_rows": 3, "header_rows": 2, "skip_footer": 2, "layout": "rows"},
        "the rows as 11 series, 12 steps of 1 month ahead",
        no_others=True,
    ),
    FirstCommand(
        "load by hour",
        load_by_hour,
        {"skip_rows": 2, "layout": "calendar"},
        "the cells as one series, 24 steps of 1 hour ahead",
        no_others=True,
    ),
    FirstCommand(
        "pivot of stores",
        pivot_of_stores,
        {"skip_rows": 2, "layout": "merged", "undated_rows": "drop", "time": "Month", "item_id": "Store"},
        "'Sum of Sales' of 4 series told apart by 'Store', 12 steps of 1 month ahead, without the rows that have no "
        "time or no series",
        no_others=True,
    ),
    FirstCommand(
        "revenue with sums",
        revenue_with_sums,
        {
            "skip_rows": 2,
            "skip_footer": 1,
            "layout": "merged",
            "undated_rows": "drop",
            "time": "Year,Month",
            "target": "Property tax",
        },
        "'Property tax', 12 steps of 1 month ahead, without the rows that have no time",
        no_others=True,
    ),
    FirstCommand(
        "gauge with remarks",
        gauge_with_remarks,
        {"skip_rows": 3, "undated_rows": "drop"},
        "'Level', 24 steps of 1 hour ahead, without the rows that have no time",
        no_others=True,
    ),
    FirstCommand(
        "prices above a legend",
        prices_above_a_legend,
        {"skip_footer": 3, "target": "Low"},
        "'Low', 7 steps of 1 day ahead",
        no_others=True,
    ),
    FirstCommand(
        "tables of a plant",
        tables_of_a_plant,
        {"skip_rows": 1, "skip_footer": 15, "target": "Output"},
        "'Output', 12 steps of 1 month ahead",
        no_others=True,
    ),
)


@each_case(CASES)
def test_the_first_command_reads_a_sheet(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


@pytest.mark.slow
def test_each_sheet_of_a_workbook_has_a_command(tmp_path: Path) -> None:
    """The largest has several targets, and leaves room for the others."""
    days = pd.date_range("2024-01-01", periods=60).strftime("%Y-%m-%d")
    columns = {"Stage": ("level", "flow", "rain"), "Lake": ("level",), "Well": ("depth",), "Snow": ("height",)}
    sheets: dict[str, Rows] = {
        sheet: [
            ["day", *names],
            *([day, *[value + at for at in range(len(names))]] for day, value in zip(days, values(60), strict=True)),
        ]
        for sheet, names in columns.items()
    }
    proposals = find_proposals(write_workbook(tmp_path / "book.xlsx", sheets), DataConfig())
    assert {proposal.options["sheet"] for proposal in proposals} == set(columns)


@pytest.mark.parametrize(
    ("above", "options", "target"),
    [
        ([["Report of sales"], [], ["date", "sales"]], {"skip_rows": 2}, "sales"),
        (
            [["Report of sales"], ["Report date", "2024-05-01"], ["date", "food", "toys"]],
            {"skip_rows": 2, "target": "food"},
            "food",
        ),
        (
            [["Report of sales"], [], ["", "north", "", "south"], ["date", "food", "toys", "food"]],
            {"skip_rows": 2, "header_rows": 2, "target": "north food"},
            "north food",
        ),
        (
            [["Report of sales"], ["date", "north", "", "south"], ["", "food", "toys", "food"]],
            {"skip_rows": 1, "header_rows": 2, "target": "north food"},
            "north food",
        ),
    ],
    ids=["names", "a title beside its value", "groups of names", "groups of names beside the date"],
)
def test_titles_above_the_header_of_a_sheet_are_left_out(
    tmp_path: Path, above: list[list[object]], options: dict[str, object], target: str
) -> None:
    numbers = len(above[-1]) - 1
    rows = [
        *above,
        *([day, *(5 + at % (7 + column) for column in range(numbers))] for at, day in enumerate(date_column(60))),
    ]
    path = write_workbook(tmp_path / "book.xlsx", {"Sales": rows})
    proposal = find_proposals(path, DataConfig())[0]
    assert (dict(proposal.options), proposal.target) == (options, target)


@pytest.mark.slow
def test_each_sheet_of_a_workbook_gets_its_command(tmp_path: Path) -> None:
    other = [["month", "sales"], *([f"{2001 + at // 12}-{at % 12 + 1:02d}", 5 + at % 12] for at in range(60))]
    path = write_workbook(tmp_path / "book.xlsx", {"Sales": other, "Prices": PRICES, "Empty": []})
    forecasts = {str(each.options["sheet"]): each.forecasts for each in find_proposals(path, DataConfig())}
    assert forecasts == {
        "Sales": "'sales', 12 steps of 1 month ahead",
        "Prices": "'price', 7 steps of 1 day ahead",
    }
