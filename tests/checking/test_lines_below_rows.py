"""Lines below and between the rows: sums, notes, remarks, and rows without a time, which are left out."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, SIXTY_DAYS, SIXTY_VALUES, comma, csv_rows, date_column, hourly_wave, noise, values
from .first_commands import FirstCommand, check_first_command, each_case


def history_and_forecast_of_a_hotel() -> str:
    """Titles of sections stand between the rows, and their sums."""

    def lines(start: str) -> list[str]:
        return [f"{day:%d-%b-%y},{RNG.integers(20, 120)}".upper() for day in pd.date_range(start, periods=60)]

    return "\n".join(
        [
            "Date,Occ.",
            "History,",
            *lines("2024-05-01"),
            "Total History,4221",
            "Forecast,",
            *lines("2024-06-30"),
            "Total,9100",
        ]
    )


def steps_above_a_sum() -> str:
    """The sum has no number of a step, and no column has dates."""
    rows = [f"usage;{step};{number}" for step, number in enumerate(noise(60), start=1)]
    return "\n".join(["unique_id;ds;y", *rows, "Total;;600"])


def periods_of_cost_centres() -> str:
    """As SAP writes periods of a fiscal year, with the sum of each centre below it."""
    periods = [f"{month:03}.{year}" for year in (2022, 2023) for month in range(1, 13)]
    lines = ["Kostenstelle;Kostenart;Periode;Ist"]
    for centre in ("1110", "1210", "1220"):
        for kind in ("Löhne", "Strom"):
            lines += [
                f"{centre};{kind};{period};{number:.2f}" for period, number in zip(periods, noise(24), strict=True)
            ]
        lines.append(f"{centre};Ergebnis;;{noise(1)[0] * 48:.2f}")
    return "\n".join(line[:-3] + line[-3:].replace(".", ",") for line in lines)


def visitors_above_many_notes() -> str:
    months = pd.date_range("2004-01-01", periods=200, freq="MS")
    rows = [f'"{month:%YM%m}",{RNG.integers(100, 999)},{RNG.integers(1000, 9999)}' for month in months]
    notes = [f'"Note {number} on what was counted; and how"' for number in range(25)]
    return "\n".join(['"Visitors by country (monthly)"', '" ","Australia","TOTAL"', *rows, "", *notes])


def months_and_quarters_in_dutch() -> str:
    """Quarters and years stand between the months."""
    rows = []
    for branch in ("G47100", "G47720"):
        for month in pd.period_range("2012-01", periods=96, freq="M"):
            rows.append(f'"{branch}";"{month.year}MM{month.month:02}";{noise(1)[0]}')
            rows += [f'"{branch}";"{month.year}KW{month.quarter:02}";{noise(1)[0]}'] if month.month % 3 == 0 else []
            rows += [f'"{branch}";"{month.year}JJ00";{noise(1)[0]}'] if month.month == 12 else []
    return "\n".join(['"Branch";"Perioden";"Omzet"', *rows])


def admissions_below_their_years() -> str:
    """Each year's sum stands above its months, which have dots before them."""
    months = ["Janeiro", "Fevereiro", "Março", "Abril", "Maio", "Junho", "Julho", "Agosto", "Setembro", "Outubro"]
    months += ["Novembro", "Dezembro"]
    lines = []
    for year in range(2010, 2020):
        counts = RNG.integers(8000, 16000, (12, 2))
        sums = ";".join(map(str, counts.sum(axis=0)))
        lines += [
            f'"{year}";{sums}',
            *(f'"..{month}/{year}";{row[0]};{row[1]}' for month, row in zip(months, counts, strict=True)),
        ]
    titles = ['"Morbidade Hospitalar do SUS"', '"Internações por Região"', '"Período:Jan/2010-Dez/2019"']
    notes = ["", '" Fonte: Ministério da Saúde"', '" Notas:"', '"   Dados sujeitos a retificação."']
    header = '"Ano/mês atendimento";"Região Norte";"Total"'
    return "\n".join([*titles, header, *lines, '"Total";1706491;16702881', *notes])


def pages_of_a_host() -> str:
    """A page for each day, all below the same names and beginning with the name of the host."""
    pages = []
    for day in pd.date_range("2023-05-02", periods=5):
        stamps = day + pd.to_timedelta(np.arange(144) * 10 + 10, "min")
        pages.append("# hostname;interval;timestamp;CPU;%user")
        pages += [f"web01;600;{stamp} UTC;{cpu};{noise(1)[0]:.2f}" for stamp in stamps for cpu in (-1, 0, 1)]
    return "\n".join(pages)


def market_below_padded_titles() -> str:
    """A sheet: notes below the rows are as wide as these, and the ratio of the first years is not available."""
    months = pd.date_range("1871-01-01", periods=300, freq="MS")
    lines = [
        f"{month:%Y.%m},{price:.2f},{price / 20:.4f},{'NA' if at < 120 else round(price * 2, 2)}"
        for at, (month, price) in enumerate(zip(months, noise(300).cumsum(), strict=True))
    ]
    titles = ['"Stock Market Data, updated",,,', "A. Author,,,", ",,,", ",,,Cyclically", ",,,Adjusted", ",S&P,,P/E"]
    return "\n".join([*titles, "Date,Price,Dividend,CAPE", *lines, ",last price is Jun 1st close,,"])


def of_meat() -> str:
    """Columns that begin many rows below the others: no row without them is a title."""
    days, numbers = pd.date_range("2020-01-01", periods=100, freq="MS"), hourly_wave(100)
    rows = [
        f"{day:%Y-%m-%d},{numbers[at]},{numbers[-at]}" + (",3.5" if at >= 40 else ",") for at, day in enumerate(days)
    ]
    return "\n".join(["date,beef,pork,turkey", *rows]) + "\n"


def of_a_customer_database() -> str:
    """Quoted amounts with a mark of thousands, and notes below them."""
    days = pd.date_range("2022-01-03", periods=60, freq="7D")
    rows = [f'"Deal {at}","{1000 + 37 * at:,}.00","{d.month}/{d.day}/{d.year}"' for at, d in enumerate(days)]
    return (
        "\n".join(['"Name","Amount","Close Date"', *rows, "", '"All deals"', '"Confidential"', '"By:  Jane  1/5/2023"'])
        + "\n"
    )


def of_a_database() -> str:
    """A table drawn with dashes and bars, and the number of its rows below."""
    hours = pd.date_range("2023-01-01", periods=90, freq="h")
    rows = [f" {hour:%Y-%m-%d %H:%M:%S} | {value:7.2f} " for hour, value in zip(hours, hourly_wave(90), strict=True)]
    return "\n".join(["        day          |  min    ", "---------------------+---------", *rows, "(90 rows)"]) + "\n"


def of_a_development_bank() -> str:
    """Empty rows and a source below the others, as wide as they."""
    years = ",".join(f"{year} [YR{year}]" for year in range(2000, 2020))
    rows = [f"land {at},L{at}," + ",".join(map(str, hourly_wave(20, 5.0 * at))) for at in range(1, 9)]
    return (
        "\n".join([f"Country Name,Country Code,{years}", *rows, *["," * 21] * 2, "Last Updated: 04/09/2020" + "," * 21])
        + "\n"
    )


def slips_in_korean() -> str:
    """Dates have the numbers of slips behind them, months their sum below, and the time of printing ends all."""
    lines = ["일자-No.,품목명,수량,합 계"]
    for month in pd.date_range("2023-01-01", periods=8, freq="MS"):
        for day in pd.bdate_range(month, month + pd.offsets.MonthEnd()):
            slips = range(1, int(RNG.integers(2, 6)))
            lines += [f"{day:%Y/%m/%d} -{slip},설탕,{RNG.integers(1, 9)},{RNG.integers(9, 99)}00" for slip in slips]
        lines.append(f"{month:%Y/%m} 계,,474,12176890")
    return "\n".join([*lines, "총합계,,7454,191203320", "2024/01/03  오전 9:12:44,,,"])


def sales_in_portuguese() -> str:
    """Between quotes, those of notes included, stand more commas than there are semicolons; names have two lines."""
    names = ["janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro"]
    names += ["novembro", "dezembro"]
    rows = [
        f'"{names[at % 12]} {2000 + at // 12}";"{comma(one, 5)}";"{comma(two, 5)}"'
        for at, (one, two) in enumerate(zip(noise(96), noise(96), strict=True))
    ]
    head = ['"Índice e variação, por tipos de índice"', '"Mês";"Unidade da Federação";""', '"";"Acre";"Bahia"']
    notes = ['"Notas"', '"1 - Os dados do último mês são preliminares, os outros, definitivos."']
    return "\n".join([*head, *rows, *notes, '"2 - Não inclui veículos, motos, partes e peças, nem material."'])


CASES = (
    FirstCommand("steps", steps_above_a_sum, {"time": "ds", "undated_rows": "drop"}, trains=True),
    FirstCommand(
        "a grand total first",
        f"# Reports\n# Start: 20240101\n\nDate,Users\n,{'9' * 6}\n"
        + "\n".join(f"{day.replace('-', '')},{10 + at % 7}" for at, day in enumerate(date_column(60))),
        {"comment": "#", "undated_rows": "drop", "time": "Date"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "a sum with a word",
        "Date,Users,Cost\nTotal,999,--\n"
        + "\n".join(f"{day},{at % 7},{at}.5" for at, day in enumerate(date_column(60))),
        {"undated_rows": "drop", "target": "Cost"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "names that stand once more",
        "\n".join(f"{'Date,Users' if at % 20 == 0 else ''}\n{day},{at % 7}" for at, day in enumerate(date_column(60))),
        {"undated_rows": "drop"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "a sum beside no date",
        "date,shop,sold\n"
        + "\n".join(f"{day},a,{at % 7}\n{day},b,{at % 5}\n,Total,{at}" for at, day in enumerate(date_column(60))),
        {"undated_rows": "drop", "item_id": "shop"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "the mean of the year as a thirteenth month",
        "year,period,cpi\n" + "\n".join(f"{2000 + at // 13},M{at % 13 + 1:02d},{at}.5" for at in range(130)),
        {"undated_rows": "drop", "time": "year,period"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "months in digits, and their sum",
        "name,month,y\n"
        + "\n".join(f"{name},{2000 + at // 13}{at % 13 + 1:02d},{at}.5" for name in "AB" for at in range(130)),
        {"undated_rows": "drop", "time": "month", "item_id": "name", "date_format": "%Y%m"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "sums between rows",
        "date,y\n"
        + csv_rows(lambda day, v: f"{day:%Y-%m-%d},{v}" + (f"\nTotal {day:%B},{v}" if day.day == 28 else "")),
        {"undated_rows": "drop"},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "a word behind the last values",
        "yyyy mm tmax rain\n"
        + "".join(
            f"{month.year} {month.month} {SIXTY_VALUES[at]} {at % 7}{'  Provisional' if at > 54 else ''}\n"
            for at, month in enumerate(pd.date_range("2001-01-01", periods=60, freq="MS"))
        ),
        {"delimiter": "blanks", "time": "yyyy,mm", "target": "tmax"},
        step="MS",
        no_others=True,
    ),
    FirstCommand(
        "a remark of several words behind one row",
        "# carbon dioxide\n# by month\n"
        + "".join(
            f"{month.year} {month.month:2d}  {SIXTY_VALUES[at]}{'  as of its neighbours, + 2' if at == 40 else ''}\n"
            for at, month in enumerate(pd.date_range("2001-01-01", periods=60, freq="MS"))
        ),
        {"delimiter": "blanks", "header": False, "comment": "#", "time": "column_1,column_2"},
        step="MS",
        no_others=True,
    ),
    FirstCommand(
        "a remark behind one row without names",
        csv_rows(lambda day, value: f"{day:%Y-%m-%d};{value}{';power cut' if day.day == 7 else ''}"),
        {"header": False},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "a row of no series",
        "date,shop,y\n"
        + csv_rows(
            lambda day, value: (
                f"{day:%Y-%m-%d},A,{value}\n{day:%Y-%m-%d},{'' if day == SIXTY_DAYS[30] else 'B'},{value}"
            )
        ),
        {"item_id": "shop", "undated_rows": "drop"},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "a row of no series in a column called item_id",
        "item_id,date,y\n"
        + csv_rows(
            lambda day, value: (
                f"A,{day:%Y-%m-%d},{value}\n{'' if day == SIXTY_DAYS[30] else 'B'},{day:%Y-%m-%d},{value}"
            )
        ),
        {"item_id": "item_id", "undated_rows": "drop"},
        num_series=2,
        no_others=True,
        quick=True,
    ),
    FirstCommand("hotel", history_and_forecast_of_a_hotel, {"undated_rows": "drop"}),
    FirstCommand("centres", periods_of_cost_centres, {"undated_rows": "drop", "item_id": "Kostenart,Kostenstelle"}),
    FirstCommand("visitors", visitors_above_many_notes, {"skip_rows": 1, "skip_footer": 25, "target": "TOTAL"}),
    FirstCommand("quarters", months_and_quarters_in_dutch, {"undated_rows": "drop", "item_id": "Branch"}, num_series=2),
    FirstCommand(
        "admissions",
        admissions_below_their_years,
        {"skip_rows": 3, "undated_rows": "drop", "target": "Total"},
        mentions="12 steps of 1 month",
        quick=True,
    ),
    FirstCommand(
        "pages",
        pages_of_a_host,
        {"skip_footer": None, "undated_rows": "drop", "item_id": "CPU", "target": "%user"},
        quick=True,
    ),
    FirstCommand("market", market_below_padded_titles, {"skip_rows": 6, "skip_footer": 1}, quick=True),
    FirstCommand(
        "meat", of_meat, {"target": "beef", "missing": "mask"}, "'beef', 12 steps of 1 month ahead", no_others=True
    ),
    FirstCommand(
        "a customer database",
        of_a_customer_database,
        {"skip_footer": 3, "decimal": "."},
        "'Amount', 13 steps of 1 week ahead, with '.' before decimals",
        no_others=True,
    ),
    FirstCommand(
        "a database",
        of_a_database,
        {"comment": "--", "skip_footer": 1},
        "'min', 22 steps of 1 hour ahead",
        no_others=True,
    ),
    FirstCommand(
        "a development bank",
        of_a_development_bank,
        {"skip_footer": 3, "layout": "rows"},
        "the rows as 8 series, 3 steps of 1 year ahead",
        no_others=True,
    ),
    FirstCommand("Korean", slips_in_korean, {"undated_rows": "drop", "aggregate": "sum"}, quick=True),
    FirstCommand("Portuguese", sales_in_portuguese, {"skip_rows": 1, "skip_footer": 3, "header_rows": 2}),
)


@each_case(CASES)
def test_the_first_command_leaves_out_lines_below_rows(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


@pytest.mark.slow
def test_sums_below_rows_without_dates_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = [f"{at % 12 + 1},{value}" for at, value in enumerate(values(96))]
    path.write_text("\n".join(["month,output", *rows, "Totals,9999"]))
    assert {dict(proposal.options)["skip_footer"] for proposal in find_proposals(path, DataConfig())} == {1}


@pytest.mark.slow
def test_lines_below_the_rows_of_utf_16_are_counted(tmp_path: Path) -> None:
    rows = [f"L{at}\t" + "\t".join(f"1,{at}00.{year % 100:02d}" for year in range(1990, 2020)) for at in range(1, 6)]
    lines = ["ISO\t" + "\t".join(map(str, range(1990, 2020))), *rows, "", "A source, April 2024"]
    path = tmp_path / "table.xls"
    path.write_text("\n".join(lines) + "\n", encoding="utf-16")
    assert find_proposals(path, DataConfig())[0].num_series == 5
