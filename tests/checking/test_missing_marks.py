"""Marks of missing values, and what looks like one: names, years, small amounts."""

import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from forecast_attn.checking.commands import find_proposals
from forecast_attn.checking.missing_marks import marks_of_missing
from forecast_attn.checking.proposal import command_text
from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table

from ..made_columns import (
    RNG,
    SIXTY_DAYS,
    SIXTY_VALUES,
    comma,
    csv_rows,
    date_column,
    hourly_wave,
    months,
    noise,
    values,
)
from .first_commands import QUICK, FirstCommand, check_first_command, each_case, first_of


def points_for_missing() -> pd.DataFrame:
    cells = pd.Series(values(90)).astype(str)
    cells[[3, 40]] = "."
    return pd.DataFrame({"DATE": date_column(90), "VIX": cells})


def numbers_in_doubt() -> pd.DataFrame:
    """As the temperatures of Melbourne: a digitised page of which three numbers could hardly be read."""
    cells = pd.Series(values(90)).astype(str)
    cells[[3, 40, 41]] = ["?0.2", "?0.8", "?0.1"]
    return pd.DataFrame({"Date": date_column(90), "Temp": cells})


def marked(mark: str) -> str:
    cells = [mark if at in (20, 31) else f"{value}" for at, value in enumerate(SIXTY_VALUES)]
    return "date,y\n" + "".join(f"{day:%Y-%m-%d},{cell}\n" for day, cell in zip(SIXTY_DAYS, cells, strict=True))


def ammonium_below_limits() -> pd.DataFrame:
    """As laboratories write it: below what the instrument shows, and once more with a number instead."""
    clean = np.where(np.arange(90) % 7, noise(90), 0.006)
    return pd.DataFrame({"date": months(90), "raw": np.where(clean > 1, clean.astype(str), "<0.006"), "clean": clean})


def subscriptions_of_a_shop() -> pd.DataFrame:
    """Amounts of 9 to 99 are paid at any time: they add up, and 99 is no mark of a missing value."""
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.cumsum(RNG.integers(1, 200, 900)), "min")
    amounts = RNG.choice([9.0, 19.0, 29.0, 99.0], 900)
    return pd.DataFrame({"Created": stamps.strftime("%Y-%m-%d %H:%M"), "Amount": amounts, "Paid": amounts})


def weather_between_blanks() -> str:
    """Units below some names, `---` and marks in cells, and a remark in rows far below."""
    months = pd.date_range("1883-01-01", periods=1300, freq="MS")
    rows = [
        f"   {month.year} {month.month:3} {warm:7.1f}{'*' if at % 50 == 3 else ''} "
        f"{'---' if at < 400 else f'{sun:.1f}#'}{'  Provisional' if at > 1290 else ''}"
        for at, (month, warm, sun) in enumerate(zip(months, noise(1300), noise(1300), strict=True))
    ]
    head = ["Sheffield", "Location: 433900E 387200N", "Missing data is marked by  ---."]
    return "\n".join([*head, "   yyyy  mm   tmax   sun", "              degC  hours", *rows])


def searches_with_limits() -> str:
    """Most weeks of a term are below what is shown."""
    rows = [
        f"{day:%Y-%m-%d},{RNG.integers(20, 90)},{'<1' if at % 5 < 3 else RNG.integers(2, 60)}"
        for at, day in enumerate(pd.date_range("2019-01-06", periods=150, freq="W"))
    ]
    return "\n".join(["Category: all", "", "Week,sun cream,snow chains", *rows])


def admissions_by_codes_of_states() -> str:
    """The country has no number among codes of its states, and is no missing value."""
    days = pd.date_range("2023-01-07", periods=60, freq="7D")
    states = {"01": "Alabama", "02": "Alaska", "04": "Arizona", "US": "US"}
    states |= {f"{code:02d}": f"State {code}" for code in range(5, 20)}
    lines = [
        f"{day:%Y-%m-%d},{code},{name},{number:.2f}"
        for day in days
        for (code, name), number in zip(states.items(), noise(len(states)), strict=True)
    ]
    return "\n".join(["date,location,location_name,value", *lines])


def of_air_quality() -> str:
    """As the UCI's: -200 is no value, delimiters stand behind the last cell, and empty rows below the others."""
    hours = pd.date_range("2004-03-10 18:00", periods=400, freq="h")
    rows = []
    for at, (hour, value) in enumerate(zip(hours, hourly_wave(400, 10.0), strict=True)):
        cells = ["-200", "-200"] if 50 <= at < 60 else [comma(value), comma(value / 2)]
        rows.append(f"{hour:%d/%m/%Y};{hour:%H.%M.%S};" + ";".join(cells) + ";;")
    return "\n".join(["Date;Time;CO;T;;", *rows, *[";;;;;"] * 30]) + "\n"


def flow_with_its_status() -> str:
    """A code behind each number says how good it is, and 255 that there is none."""
    flows, codes = noise(300) * 4, RNG.choice([40, 40, 40, 200], 300)
    cells = [f"{flow:.3f} {code}" for flow, code in zip(flows, codes, strict=True)]
    cells[10::50] = ["-777 255"] * 6
    days = pd.date_range("2001-11-01", periods=300)
    return "\n".join(f"{day:%Y%m%d}000000 {cell}" for day, cell in zip(days, cells, strict=True))


CASES = (
    FirstCommand("points", points_for_missing, {}, "'VIX', 7 steps of 1 day ahead", no_others=True, trains=True),
    FirstCommand(
        "numbers in doubt",
        numbers_in_doubt,
        {"na": ("?0.2", "?0.8", "?0.1")},
        "'Temp', 7 steps of 1 day ahead, with '?0.2', '?0.8', '?0.1' as no value",
        no_others=True,
        trains=True,
    ),
    FirstCommand("a question mark", marked("?"), {"na": ("?",)}, step="D", no_others=True),
    FirstCommand("a hyphen", marked("-"), {"na": ("-",)}, step="D", no_others=True),
    FirstCommand("an error of a sheet", marked("#DIV/0!"), {"na": ("#DIV/0!",)}, step="D", no_others=True),
    FirstCommand("nines", marked("-9999.0"), {"na": ("-9999",)}, step="D", no_others=True),
    FirstCommand(
        "limits of a laboratory",
        "date,nitrate\n"
        + csv_rows(lambda day, value: f"{day:%Y-%m-%d},{f'<0.{day.day}' if day.day % 6 == 0 else value}"),
        {"na": ("<0.6", "<0.12", "<0.18", "<0.24", "<0.30"), "missing": "mask"},
        step="D",
        no_others=True,
    ),
    FirstCommand("ammonium", ammonium_below_limits, {"target": "clean", "na": ("<0.006",)}),
    FirstCommand(
        "amounts", subscriptions_of_a_shop, {"na": None, "target": "Amount", "resample": "D", "aggregate": "sum"}
    ),
    FirstCommand("Sheffield", weather_between_blanks, {"comment": "degC", "na": ("---",), "time": "yyyy,mm"}),
    FirstCommand("searches", searches_with_limits, {"na": ("<1",), "ignore": None}),
    FirstCommand(
        "admissions",
        admissions_by_codes_of_states,
        {"na": None, "item_id": "location_name", "undated_rows": None},
        quick=True,
    ),
    FirstCommand(
        "air quality",
        of_air_quality,
        {"skip_footer": 30, "na": ("-200",), "time": "Date,Time", "target": "CO"},
        "'CO', 24 steps of 1 hour ahead, with '-200' as no value",
        no_others=True,
    ),
    FirstCommand("a status", flow_with_its_status, {"na": ("-777",), "target": "column_2", "wide": None}),
)


@each_case(CASES)
def test_the_first_command_names_marks_of_missing_values(
    forecast: Callable, tmp_path: Path, case: FirstCommand
) -> None:
    check_first_command(case, tmp_path, forecast)


def test_marks_of_missing_values_are_seen_in_the_columns_of_three_rows(tmp_path: Path) -> None:
    """As statistical offices publish months as columns: no column has many numbers."""
    frame = pd.DataFrame(
        {f"{month:%YM%m}": values(3).astype(str) for month in pd.date_range("2015", periods=60, freq="MS")}
    )
    frame.iloc[1, [5, 9]] = ".."
    frame.insert(0, "region", ["North", "South", "East"])
    first = first_of(tmp_path, frame)
    assert {**first, "na": ("..",), "layout": "rows"} == first


def test_codes_below_the_values_of_each_series_are_no_series(tmp_path: Path) -> None:
    months = [f"{month:%Y-%m}" for month in pd.date_range("2015", periods=60, freq="MS")]
    rows = [["prices", *values(60)], ["codes", *"A" * 60], ["food", *values(60)], ["codes", *"A" * 60]]
    for size in (2, 4):
        first = first_of(tmp_path, pd.DataFrame(rows[:size], columns=["name", *months]).astype(str))
        assert {**first, "na": ("A",), "layout": "rows"} == first


def test_na_is_the_name_of_a_region_and_no_value_in_other_columns(forecast: Callable, tmp_path: Path) -> None:
    """Read as empty cells, three regions were added up without a word."""
    rows = [
        (day, name, value) for day in date_column(60) for name, value in zip(("NA", "EMEA"), values(2), strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["date", "region", "sales"])
    options = first_of(tmp_path, frame)
    assert options["item_id"] == "region"
    outcome = forecast("check", tmp_path / "table.csv", "--id", "region")
    assert (outcome.code, "NA      2024-01-01" in outcome.out) == (0, True)
    assert "aggregate" in first_of(tmp_path, frame.assign(region=frame["region"].replace("NA", "")))
    frame.loc[4, "sales"] = np.nan
    frame.to_csv(tmp_path / "table.csv", index=False, na_rep="NA")
    assert read_table(tmp_path / "table.csv", DataConfig(item_id="region"))["sales"].isna().sum() == 1


def test_empty_texts_of_parquet_are_named_so_that_the_command_line_reads_them(
    forecast: Callable, tmp_path: Path
) -> None:
    texts = [f"{value:.2f}" if at % 9 else "" for at, value in enumerate(values(90))]
    pd.DataFrame({"date": date_column(90), "y": texts}).to_parquet(tmp_path / "table.parquet")
    proposal, *_ = find_proposals(tmp_path / "table.parquet", DataConfig())
    words = shlex.split(command_text(str(tmp_path / "table.parquet"), {}, proposal.options))
    assert words[words.index("--na") + 1] == '""'
    assert forecast(*words[1:], *QUICK, "--out", tmp_path / "run", "--quiet").code == 0
    assert forecast("predict", tmp_path / "run", "--quiet").code == 0


def test_a_single_99_is_a_value(tmp_path: Path) -> None:
    y = np.arange(60) % 7 + 10
    y[[30, 40]] = 99, 12
    path = tmp_path / "shop.csv"
    pd.DataFrame({"day": date_column(60), "y": y}).to_csv(path, index=False)
    assert "na" not in find_proposals(path, DataConfig())[0].options
    y[40] = 99
    pd.DataFrame({"day": date_column(60), "y": y}).to_csv(path, index=False)
    assert find_proposals(path, DataConfig())[0].options["na"] == ("99",)


def test_a_year_is_no_mark_of_a_missing_value() -> None:
    frame = pd.DataFrame({"year": np.tile([92, 95, 99], 30)})
    assert marks_of_missing(frame) == ()
    assert marks_of_missing(frame.rename(columns={"year": "answers"})) == ("99",)
