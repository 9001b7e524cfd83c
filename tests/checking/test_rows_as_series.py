"""A series in each row, with its steps as columns."""

import calendar
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import (
    NUMBERS,
    RNG,
    SIXTY_VALUES,
    comma,
    hourly_wave,
    noise,
    values,
)
from .first_commands import FirstCommand, check_first_command, each_case, first_of


def countries_by_years() -> pd.DataFrame:
    years = pd.DataFrame(values(240).reshape(4, 60), columns=[f"{year}" for year in range(1960, 2020)])
    years.insert(0, "Country", ["Aruba", "Chad", "Cuba", "Fiji"])
    return years


def months_of_one_year() -> pd.DataFrame:
    """As districts beside the months of a year that the table does not name; one stands twice."""
    names = ["jan", "feb", "mar", "apr", "may", "june", "july", "aug", "sept", "oct", "nov", "dec"]
    cells = {name: 100 + at + np.arange(12) for at, name in enumerate(names)}
    return pd.DataFrame({"": range(1, 13), "district": [*"ABCDEFGHIJK", "A"], **cells})


def countries_with_two_unknown() -> pd.DataFrame:
    """Nothing tells the last row apart from the first, and a comma stands between thousands."""
    rows = pd.DataFrame({str(year): [f"{year - 1000 + at:,}" for at in range(4)] for year in range(2000, 2012)})
    return rows.assign(country=["Unknown", "Asia", "Europe", "Unknown"])


def sales_of_numbered_clients() -> pd.DataFrame:
    """Each row is a series, and three numbers together name it."""
    keys = [(client, house, 1000 + product) for client in range(4) for house in (1, 2) for product in range(client, 9)]
    weeks = pd.date_range("2022-07-04", periods=60, freq="7D").strftime("%Y-%m-%d")
    sold = RNG.poisson(2, (len(keys), 60)).astype(float)
    names = pd.DataFrame(keys, columns=["Client", "Warehouse", "Product"])
    return pd.concat([names, pd.DataFrame(sold, columns=weeks)], axis=1)


def gases_of_scenarios() -> pd.DataFrame:
    """Years up to 2500 are the names of columns, and two columns those of a row."""
    years = {str(year): noise(12) for year in range(2000, 2501)}
    names = {"scenario": np.repeat([*"ab"], 6), "gas": np.tile([*"cdefgh"], 2), "unit": "Mt"}
    return pd.DataFrame({**names, **years})


def correlations() -> pd.DataFrame:
    """The names of the rows are those of the columns."""
    names = [f"V{at}" for at in range(1, 14)]
    return pd.DataFrame(RNG.uniform(0, 1, (13, 13)).round(3), columns=names).assign(of=names)


def profit_and_loss() -> str:
    """Accountants write the currency of sums alone, and sections without numbers."""
    months = pd.date_range("2022-01-01", periods=30, freq="MS")
    names = ["   Design", "   Pest Control", "   Labor", "Total Income", "Net Income"]
    rows = [[f'"{sign}{4000 + 100 * number:,.2f}"' for number in noise(30)] for sign in ("", "", "", "$", "$")]
    lines = (",".join([name, *cells]) for name, cells in zip(names, rows, strict=True))
    head = ["Profit and Loss", "Greenline LLC", "", "," + ",".join(f"{month:%b %Y}" for month in months)]
    return "\n".join([*head, "Income" + "," * 30, *lines])


def nights_by_month_across() -> str:
    months = ",".join(f'"Nights {month:%YM%m}"' for month in pd.date_range("2015-01-01", periods=60, freq="MS"))
    rows = [
        f'"{region}","{kind}",' + ",".join(map(str, RNG.integers(100, 999, 60)))
        for region in ("01 Stockholm", "03 Uppsala")
        for kind in ("hotel", "hostel")
    ]
    return "\n".join(['"Nights by region, kind and month"', "", f'"region","kind",{months}', *rows])


def births_in_korean() -> str:
    months = [f'"{month:%Y.%m} 월"' for month in pd.date_range("2016-01-01", periods=47, freq="MS")]
    rows = [
        f'"{city}","{item}",' + ",".join(f'"{number}"' for number in RNG.integers(100, 900, 48))
        for city in ("서울", "부산")
        for item in ("출생", "사망")
    ]
    return "\n".join([",".join(['"행정구역별"', '"항목"', *months, '"2019.12 p) 월"']), *rows])


def power_in_chinese() -> str:
    """Years stand from the newest to the oldest, titles above and sources below."""
    rows = [",".join([province, *map(str, noise(20))]) for province in "京津冀晋辽吉黑沪"]
    years = ",".join(["地区", *(f"{year}年" for year in range(2023, 2003, -1))])
    return "\n".join(
        ["数据库：分省年度数据", "指标：全社会用电量", "时间：最近20年", years, *rows, "数据来源：国家统计局"]
    )


def turnover_in_south_africa() -> str:
    months = [f"MO{month:%m%Y}" for month in pd.date_range("2008-01-01", periods=40, freq="MS")]
    rows = [",".join([code, name, *map(str, noise(40))]) for code, name in (("FB1", "Food"), ("FB2", "Bars"))]
    return "\n".join([",".join(["H03", "H05", *months]), *rows])


def prices_with_the_mean_of_years() -> str:
    """A column for each year stands behind its months, and a title above all."""
    months = [f"{year} {month}" for year in range(2014, 2020) for month in (*calendar.month_name[1:], "Annual")]
    rows = [f'"Luzon","RICE {kind}",' + ",".join(map(str, noise(len(months)))) for kind in range(4)]
    return "\n".join(
        ['"Retail prices by place, kind, year and month"', "", ",".join(["Place", "Kind", *months]), *rows]
    )


def accounts_below_a_title() -> str:
    """The first row is the title of those below it, and no second line of names."""
    months = [f"{month:%Y/%m}" for month in pd.date_range("2021-04-01", periods=24, freq="MS")]
    rows = [
        ",".join([name, shop, *map(str, RNG.integers(1000, 9999, 24))]) for name in ("Sales", "Rent") for shop in "ab"
    ]
    return "\n".join([",".join(["Account", "Branch", *months]), "Total sales" + "," * 25, *rows])


def crimes_with_months_across() -> str:
    months = [f"{month:%Y%m}" for month in pd.date_range("2021-11", periods=24, freq="MS")]
    lines = [
        f"{kind},{borough}," + ",".join(str(number) for number in RNG.integers(1, 90, 24))
        for kind in ("Arson", "Burglary")
        for borough in ("Barnet", "Bexley", "Brent")
    ]
    return "\n".join([",".join(["MinorText", "BoroughName", *months]), *lines])


def readers_of_news() -> str:
    """A row for each piece of news, in no order, and a column for each twenty minutes since it was written."""
    counts = np.cumsum(RNG.poisson(RNG.uniform(0.2, 9, 60)[:, None], (60, 40)), axis=1)
    links = RNG.permutation(90_000)[:60]
    lines = [f"{link}," + ",".join(map(str, row)) for link, row in zip(links, counts.tolist(), strict=True)]
    return "\n".join([",".join(["IDLink", *(f"TS{at}" for at in range(1, 41))]), *lines])


def sales_with_russian_months_across() -> str:
    months = ["Январь", "Февраль", "Март", "Апрель", "Май", "Июнь", "Июль", "Август", "Сентябрь", "Октябрь", "Ноябрь"]
    names = [f"{month} {year} г." for year in (2021, 2022) for month in (*months, "Декабрь")]
    lines = [f"Валик {size} кг;" + ";".join(f"{number * 900:.2f}" for number in noise(24)) for size in range(1, 9)]
    return "\n".join([";".join(["Номенклатура", *names]), *lines])


def prices_of_indonesia() -> str:
    """Blanks stand in the dates, and all numbers have thousands."""
    dates = [f"{day:%d/ %m/ %Y}" for day in pd.bdate_range("2022-01-03", periods=40)]
    lines = [f'{name},"' + '","'.join(f"{1000 * value:,.0f}" for value in noise(40)) + '"' for name in "abcd"]
    return "\n".join([",".join(["Komoditas (Rp)", *dates]), *lines])


def unemployment_of_poland() -> str:
    """The month, the year and the unit are one name; the same months of all years stand together."""
    months = ("styczeń", "luty", "marzec", "kwiecień", "maj", "czerwiec", "lipiec", "sierpień", "wrzesień")
    months = (*months, "październik", "listopad", "grudzień")
    names = [f'"{month};{year};[%]"' for month in months for year in (2021, 2022)]
    lines = [f"{name};" + ";".join(comma(value) for value in noise(24)) for name in ("POLSKA", "ŚLĄSKIE", "LUBELSKIE")]
    return "\n".join([";".join(["Nazwa", *names]), *lines])


def lambs_by_weeks() -> pd.DataFrame:
    """Each second week has a column, and each lamb a number."""
    weights = {f"Wk{week}": (4 + week * 2 + noise(40)).round(1) for week in range(0, 24, 2)}
    return pd.DataFrame({"Ear tag": np.arange(1200, 1240), "Breed": RNG.choice(["Mule", "Tex"], 40), **weights})


def load_and_temperatures() -> pd.DataFrame:
    """Stamps have no marks, and the stations are no weeks."""
    stamps = [f"{at.month}{at:%d%Y} {at.hour}:00" for at in pd.date_range("2005-01-01 01:00", periods=600, freq="h")]
    stations = {f"w{number}": RNG.integers(30, 70, 600) for number in range(1, 26)}
    return pd.DataFrame({"ZONEID": 1, "TIMESTAMP": stamps, "LOAD": noise(600), **stations})


def of_a_statistical_office() -> str:
    """As Eurostat: keys with commas, dates between tabs, footnotes behind numbers."""
    months = pd.date_range("2015-01-01", periods=80, freq="MS").strftime("%Y-%m")
    rows = [f"M,PC,{country}\t" + "\t".join(map(str, values(79))) + "\t97.3 p" for country in ("AT", "BE", "DE")]
    return "\n".join(["freq,unit,geo\\TIME_PERIOD\t" + " \t".join(months), *rows])


def of_another_office() -> str:
    """As INSEE: when each series was last changed stands beside its months."""
    months = pd.date_range("2015-01-01", periods=80, freq="MS").strftime('"%Y-%m"')
    rows = [f'"Indice {at}";"2021-03-15";' + ";".join(f'"{value}"' for value in values(80)) for at in range(3)]
    return "\n".join(['"name";"changed";' + ";".join(months), *rows])


def of_an_epidemic() -> str:
    """As Johns Hopkins: dates as columns, provinces of some countries, coordinates."""
    names = ",".join(f"{day.month}/{day.day}/{day:%y}" for day in pd.date_range("2020-01-22", periods=60))
    regions = [",Japan", "Hubei,China", "Hebei,China"]
    rows = [f"{country},36,138,{','.join(map(str, values(60)))}" for country in regions]
    return "\n".join([f"Province/State,Country/Region,Lat,Long,{names}", *rows])


def of_charts() -> str:
    """As billboard: the weeks of a song beside the date of the first one; most songs leave early."""
    rng = np.random.default_rng(1)
    entered = pd.date_range("2000-01-01", periods=40, freq="7D")
    lines = []
    for song in range(60):
        weeks = rng.integers(1, 100, 30 - song % 9).astype(str).tolist()
        cells = [*weeks, *[""] * (40 - len(weeks))]
        lines.append(
            ",".join(["2000", f"artist {song // 2}", f"track {song % 2}", str(entered[song % 40].date()), *cells])
        )
    return (
        "\n".join([",".join(["year", "artist", "track", "date.entered", *(f"wk{at}" for at in range(1, 41))]), *lines])
        + "\n"
    )


def of_shops() -> str:
    """As the sales of the M5: the days beside five names, none of them a date."""
    days = [f"d_{at}" for at in range(1, 61)]
    rows = [
        f"{name}_{store},{name},{store}," + ",".join(map(str, np.arange(60) % 7)) for name in "abc" for store in "xy"
    ]
    return "\n".join([",".join(["id", "item_id", "store_id", *days]), *rows]) + "\n"


def of_features() -> str:
    """Weeks before as covariates of weeks: the date is the time."""
    demand = hourly_wave(160)
    dates = pd.date_range("2020-01-06", periods=150, freq="7D")
    rows = [
        f"{day:%Y-%m-%d},{demand[at + 10]}," + ",".join(map(str, demand[at : at + 10])) for at, day in enumerate(dates)
    ]
    return "\n".join([",".join(["date", "demand", *(f"week_{at}" for at in range(10, 0, -1))]), *rows]) + "\n"


def of_cost_centres() -> str:
    """Months with slashes as columns beside numbers that count the rows."""
    months = [f"{month:%m/%Y}" for month in pd.date_range("2020-01-01", periods=40, freq="MS")]
    rows = [f"{4100 + at};Unit {at};" + ";".join(map(str, hourly_wave(40, 10.0 * at).round())) for at in range(1, 7)]
    return "\n".join([";".join(["Centre", "Name", *months]), *rows]) + "\n"


def of_censuses() -> str:
    """A value of several years, ten apart, beside other numbers."""
    names = ",".join(f"gdp{year}" for year in range(1930, 2020, 10))
    rows = [f"state {at}," + ",".join(map(str, hourly_wave(9, 9.0 * at))) + f",{at % 4}" for at in range(1, 9)]
    return "\n".join([f"State,{names},zone", *rows]) + "\n"


def of_shares() -> str:
    """Numbered features behind a target, a row for each share and time."""
    header = ",".join(["row_id", "time_id", "investment_id", "target", *(f"f_{at}" for at in range(12))])
    rows = [
        f"{time}_{share},{time},{share}," + ",".join(f"{number - 10:.4f}" for number in noise(13))
        for time in range(40)
        for share in (12, 47, 353)
    ]
    return "\n".join([header, *rows]) + "\n"


CASES = (
    FirstCommand("Indonesia", prices_of_indonesia, {"layout": "rows", "decimal": "."}, step="B"),
    FirstCommand("Poland", unemployment_of_poland, {"layout": "rows"}, step="MS"),
    FirstCommand(
        "a series per row",
        countries_by_years,
        {"layout": "rows"},
        "the rows as 4 series, 3 steps of 1 year ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "months of one year", months_of_one_year, {"layout": "rows"}, "the rows as 12 series, 3 steps of 1 row ahead"
    ),
    FirstCommand(
        "countries with two unknown",
        countries_with_two_unknown,
        {"decimal": ".", "layout": "rows", "item_id": "row-number"},
    ),
    FirstCommand(
        "a series in each of two lines",
        "\n".join("   ".join(NUMBERS[first : first + 120]) for first in (0, 120)),
        {"delimiter": "blanks", "header": False, "layout": "rows", "item_id": "row-number"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "years beside their quarters across",
        "item,"
        + ",".join(f"{part} {year}" for year in range(2012, 2022) for part in ("Q1", "Q2", "Q3", "Q4", "FY"))
        + "\n"
        + "".join(f"{name}," + ",".join(map(str, SIXTY_VALUES[:50])) + "\n" for name in ("costs", "profit")),
        {"layout": "rows"},
        step="QS-JAN",
        no_others=True,
    ),
    FirstCommand(
        "one line of numbers",
        ",".join("nan" if at == 30 else str(value) for at, value in enumerate(SIXTY_VALUES * 10)) + "\n",
        {"header": False, "layout": "rows"},
        step="1",
        no_others=True,
    ),
    FirstCommand("clients", sales_of_numbered_clients, {"layout": "rows", "item_id": "Client,Warehouse,Product"}),
    FirstCommand("gases", gases_of_scenarios, {"layout": "rows", "item_id": "scenario,gas"}),
    FirstCommand("correlations", correlations, {"layout": None}),
    FirstCommand("profit", profit_and_loss, {"skip_rows": 3, "layout": "rows"}),
    FirstCommand(
        "nights", nights_by_month_across, {"skip_rows": 2, "layout": "rows", "item_id": "region,kind"}, num_series=4
    ),
    FirstCommand("births", births_in_korean, {"layout": "rows", "item_id": "행정구역별,항목"}, num_series=4),
    FirstCommand("power", power_in_chinese, {"skip_rows": 3, "skip_footer": 1, "layout": "rows"}, num_series=8),
    FirstCommand("turnover", turnover_in_south_africa, {"layout": "rows"}, num_series=2),
    FirstCommand("prices", prices_with_the_mean_of_years, {"skip_rows": 2, "layout": "rows"}),
    FirstCommand(
        "accounts", accounts_below_a_title, {"header_rows": None, "layout": "rows", "item_id": "Account,Branch"}
    ),
    FirstCommand(
        "crimes",
        crimes_with_months_across,
        {"layout": "rows", "item_id": "MinorText,BoroughName"},
        mentions="the rows as 6 series, 4 steps of 1 month",
        quick=True,
    ),
    FirstCommand("news", readers_of_news, {"layout": "rows"}, mentions="the rows as 60 series", quick=True),
    FirstCommand(
        "goods",
        sales_with_russian_months_across,
        {"layout": "rows"},
        mentions="the rows as 8 series, 4 steps of 1 month",
        quick=True,
    ),
    FirstCommand("lambs", lambs_by_weeks, {"layout": "rows"}),
    FirstCommand("load", load_and_temperatures, {"layout": None, "target": "LOAD"}),
    FirstCommand(
        "a statistical office",
        of_a_statistical_office,
        {"delimiter": "tab", "layout": "rows"},
        "the rows as 3 series, 12 steps of 1 month ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "another office",
        of_another_office,
        {"layout": "rows"},
        "the rows as 3 series, 12 steps of 1 month ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "an epidemic",
        of_an_epidemic,
        {"layout": "rows", "item_id": "Province/State,Country/Region"},
        "the rows as 3 series, 7 steps of 1 day ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "charts",
        of_charts,
        {"layout": "rows", "item_id": "artist,track"},
        "the rows as 60 series, 12 steps of 1 row ahead",
        no_others=True,
    ),
    FirstCommand(
        "shops",
        of_shops,
        {"layout": "rows", "season": "7"},
        "the rows as 6 series, 12 steps of 1 row ahead",
        no_others=True,
    ),
    FirstCommand("features", of_features, {}, "'demand', 13 steps of 1 week ahead", no_others=True),
    FirstCommand(
        "cost centres",
        of_cost_centres,
        {"layout": "rows"},
        "the rows as 6 series, 12 steps of 1 month ahead",
        no_others=True,
    ),
    FirstCommand(
        "censuses", of_censuses, {"layout": "rows"}, "the rows as 8 series, 3 steps of 10 years ahead", no_others=True
    ),
    FirstCommand(
        "shares",
        of_shares,
        {"layout": None, "time": "time_id", "item_id": "investment_id"},
        "'target' of 3 series told apart by 'investment_id', 12 steps of 1 row ahead",
    ),
)


@each_case(CASES)
def test_the_first_command_reads_a_series_per_row(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


def test_columns_called_after_years_are_years(tmp_path: Path) -> None:
    years = {f"year_{year}": RNG.normal(size=4).round(2) for year in range(1960, 2000)}
    frame = pd.DataFrame({"rownames": [1, 2, 3, 4], "country": [*"abcd"], **years})
    assert first_of(tmp_path, frame)["forecasts"] == "the rows as 4 series, 3 steps of 1 year ahead"


def test_columns_that_count_days_have_weeks(tmp_path: Path) -> None:
    frame = pd.DataFrame({"item": [*"abc"], **{f"d_{at}": RNG.normal(size=3).round(2) for at in range(1, 61)}})
    assert first_of(tmp_path, frame)["season"] == "7"


def classes(rows: int, steps: int, *, noisy: bool) -> np.ndarray:
    """Smooth curves, or noise, each at a height of its own, behind a class (num_rows, 1 + num_steps)."""
    curves = np.sin(np.linspace(0, 6, steps) + RNG.uniform(0, 6, (rows, 1)))
    values = RNG.normal(size=(rows, steps)) if noisy else curves + RNG.normal(size=(rows, 1))
    return np.hstack([RNG.integers(0, 3, (rows, 1)), values.round(4)])


@pytest.mark.parametrize(
    ("noisy", "across", "expected"),
    [
        (False, False, {"layout": "rows", "ignore": ("column_1",), "item_id": "row-number", "header": False}),
        (False, True, {"layout": None}),
        (True, False, {"layout": None}),
    ],
)
def test_rows_without_names_are_series_where_their_numbers_go_on(
    tmp_path: Path, noisy: bool, across: bool, expected: dict[str, object]
) -> None:
    """As in the archive of UCR, whose files begin each row with a class."""
    values = classes(40, 30, noisy=noisy)
    frame = pd.DataFrame(values[:, 1:].T) if across else pd.DataFrame(values).astype({0: int})
    frame.to_csv(tmp_path / "GunPoint.tsv", sep="\t", header=False, index=False)
    proposals = find_proposals(tmp_path / "GunPoint.tsv", DataConfig())
    options = dict(proposals[0].options) if proposals else {}
    assert {key: options.get(key) for key in expected} == expected


def test_each_variable_that_has_a_column_for_each_year_gets_a_command(tmp_path: Path) -> None:
    names = [f"{variable}{year}" for variable in ("Population", "Cases") for year in range(2007, 2020)]
    frame = pd.DataFrame(RNG.integers(1, 999, (30, 26)), columns=names)
    frame.insert(0, "Municipality", [f"town {at}" for at in range(30)])
    frame.to_csv(tmp_path / "dengue.csv", index=False)
    proposals = find_proposals(tmp_path / "dengue.csv", DataConfig())
    assert [dict(each.options) for each in proposals] == [
        {"layout": "rows", "target": "Cases"},
        {"layout": "rows", "target": "Population"},
    ]
    assert proposals[0].forecasts == "'Cases' of the rows as 30 series, 3 steps of 1 year ahead"
    given = find_proposals(tmp_path / "dengue.csv", DataConfig(layout="rows"))
    assert [dict(each.options) for each in given] == [{"target": "Cases"}, {"target": "Population"}]
