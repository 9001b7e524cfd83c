"""Tables of hydrologists: a row for each month with its days across, or for each day of a month with the months."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table
from forecast_attn.errors import DataError

DAYS = pd.Series(np.arange(10, 10 + 3 * 365 + 1), pd.date_range("1999-01-01", "2001-12-31")).astype(float)
"""A number for each day of three years, of which one is a leap year."""


def cells_of(months: pd.PeriodIndex, filler: str) -> list[list[str]]:
    """The 31 cells of each month, in which a filler stands for the days that it does not have."""
    return [
        [
            f"{DAYS[str(month)[:7] + f'-{day:02d}']:.1f}" if day <= month.days_in_month else filler
            for day in range(1, 32)
        ]
        for month in months
    ]


def months_with_days_across(separator: str, head: Callable[[pd.Period], str], first: str, name: str) -> str:
    months = pd.period_range("1999-01", "2001-12", freq="M")
    header = separator.join([first, *(name.format(day) for day in range(1, 32))])
    lines = [separator.join([head(month), *cells]) for month, cells in zip(months, cells_of(months, ""), strict=True)]
    return "\n".join([header, *lines])


def flows_of_canada() -> str:
    return months_with_days_across(
        ",", lambda month: f"08MF005,{month.year},{month.month}", "STATION,YEAR,MONTH", "FLOW{}"
    )


def flows_of_brazil() -> str:
    head = "57830000;{:%d/%m/%Y}".format
    return months_with_days_across(";", lambda month: head(month.start_time), "EstacaoCodigo;Data", "Vazao{:02d}")


def rain_of_a_yearbook() -> str:
    return months_with_days_across(",", lambda month: f"{month.year},{month:%b}", "Year,Month", "{}")


def days_with_months_across() -> str:
    """As the temperature of Central England: no names, and -999 on the thirtieth of February."""
    lines = [
        f"{year} {day} "
        + " ".join(
            cells_of(pd.period_range(f"{year}-01", periods=12, freq="M"), "-999")[at][day - 1] for at in range(12)
        )
        for year in (1999, 2000, 2001)
        for day in range(1, 32)
    ]
    return "\n".join(lines)


def flows_at_two_gauges() -> str:
    first = flows_of_canada()
    return "\n".join([first, *first.replace("08MF005", "08NA002").splitlines()[1:]])


TABLES = {
    "Canada": (flows_of_canada, {"layout": "calendar"}),
    "Brazil": (flows_of_brazil, {"layout": "calendar"}),
    "yearbook": (rain_of_a_yearbook, {"layout": "calendar"}),
    "England": (
        days_with_months_across,
        {"delimiter": "blanks", "header": False, "na": ("-999",), "layout": "calendar"},
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_days_of_months_are_read_in_their_order(tmp_path: Path, name: str) -> None:
    make, options = TABLES[name]
    (tmp_path / "table.csv").write_text(make())
    proposal = find_proposals(tmp_path / "table.csv", DataConfig())[0]
    assert {**dict(proposal.options)} == options
    assert proposal.forecasts.startswith("the cells as one series, 7 steps of 1 day ahead")
    long = read_table(tmp_path / "table.csv", DataConfig(**options))
    read = long.set_index(pd.DatetimeIndex(long["timestamp"]))["target"].sort_index()
    pd.testing.assert_series_equal(read, DAYS, check_names=False, check_freq=False, check_index_type=False)


def test_the_gauges_of_such_a_table_are_series(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(flows_at_two_gauges())
    proposal = find_proposals(tmp_path / "table.csv", DataConfig())[0]
    assert dict(proposal.options) == {"layout": "calendar", "item_id": "STATION"}
    assert proposal.forecasts.startswith("the rows as 2 series, 7 steps of 1 day ahead")


def test_a_text_among_the_days_is_refused_with_its_place(tmp_path: Path) -> None:
    """Beside the flows stand columns of symbols, which are none."""
    lines = flows_of_canada().splitlines()
    symbols = [",".join(f"FLOW_SYMBOL{day}" for day in range(1, 32)), *[",".join(["E"] * 31)] * (len(lines) - 1)]
    text = "\n".join(",".join(pair) for pair in zip(lines, symbols, strict=True))
    (tmp_path / "table.csv").write_text(text)
    assert len(read_table(tmp_path / "table.csv", DataConfig(layout="calendar"))) == len(DAYS)
    (tmp_path / "table.csv").write_text(text.replace(",12.0,", ",ice,"))
    with pytest.raises(DataError, match=r"column 'FLOW3' has 'ice' at row 1; expected a number"):
        read_table(tmp_path / "table.csv", DataConfig(layout="calendar"))


def test_numbers_on_a_day_that_no_month_has_are_no_days(tmp_path: Path) -> None:
    """Thirty-one stations, say, of which each has a number in each month."""
    months = pd.period_range("1999-01", "2001-12", freq="M")
    numbers = np.random.default_rng(0).normal(10, 1, (len(months), 31)).round(2)
    frame = pd.DataFrame(numbers, columns=[str(number) for number in range(1, 32)])
    frame.insert(0, "month", months.strftime("%Y-%m"))
    frame.to_csv(tmp_path / "table.csv", index=False)
    assert dict(find_proposals(tmp_path / "table.csv", DataConfig())[0].options) == {"wide": True}


@given(
    first=st.integers(1900 * 12, 2090 * 12),
    gaps=st.lists(st.integers(1, 3), min_size=11, max_size=40),
    stem=st.sampled_from(["", "Day ", "FLOW", "d_", "Vazão "]),
    filler=st.sampled_from([np.nan, -999.0, 0.0]),
)
@settings(max_examples=30, deadline=None)
def test_each_day_has_the_number_of_its_cell(first: int, gaps: list[int], stem: str, filler: float) -> None:
    """Months may be missing, and whatever stands on days that a month does not have, is nothing."""
    months = np.cumsum([first, *gaps])
    frame = pd.DataFrame({"year": months // 12, "month": months % 12 + 1})
    lengths = [pd.Period(year=row.year, month=row.month, freq="M").days_in_month for row in frame.itertuples()]
    for day in range(1, 32):
        numbers = 100 * np.arange(len(frame)) + day
        frame[f"{stem}{day}"] = np.where(day <= np.array(lengths), numbers, filler)
    long = read_table(frame, DataConfig(layout="calendar"))
    stamps = pd.DatetimeIndex(long["timestamp"])
    row = pd.Series(range(len(frame)), zip(frame["year"], frame["month"], strict=True))
    expected = 100 * row[list(zip(stamps.year, stamps.month, strict=True))].to_numpy() + stamps.day
    assert len(long) == sum(lengths) and (long["target"].to_numpy() == expected).all()
