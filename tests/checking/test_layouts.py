"""A year, month or day in each row, cells merged over several rows, and names above dates."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table

from ..made_columns import MONTHS, RNG, SIXTY_DAYS, SIXTY_VALUES, date_column, hourly_wave, noise, values
from .first_commands import FirstCommand, check_first_command, each_case


def years_by_months() -> pd.DataFrame:
    months = pd.DataFrame(values(360).reshape(30, 12), columns=[f"{at}" for at in range(1, 13)])
    months.insert(0, "Year", range(1980, 2010))
    return months.assign(Annual=1.5)


def of_a_day_in_288_columns() -> str:
    rows = [f"{t.year},{t.month},{t.day}," + ",".join(map(str, values(288))) for t in pd.to_datetime(date_column(12))]
    return "\n".join([f"Year,Month,Day,{','.join(map(str, range(1, 289)))}", *rows])


HOURS_ACROSS = (
    "Date,"
    + ",".join(f"H{hour:02d}" for hour in range(1, 25))
    + "\n"
    + "".join(f"{day:%Y-%m-%d}," + ",".join(map(str, SIXTY_VALUES[:24])) + "\n" for day in SIXTY_DAYS)
)


def wages_in_russian() -> str:
    """Months down, years across, for each of several regions."""
    names = [
        "январь",
        "февраль",
        "март",
        "апрель",
        "май",
        "июнь",
        "июль",
        "август",
        "сентябрь",
        "октябрь",
        "ноябрь",
        "декабрь",
    ]
    rows = [
        ";".join([region, name, *map(str, RNG.integers(20_000, 90_000, 6))])
        for region in ("Томск", "Тула", "Чита")
        for name in names
    ]
    return "\n".join([";".join(["Территория", "Период", *map(str, range(2014, 2020))]), *rows])


def temperatures_in_czech() -> str:
    names = [
        "leden",
        "únor",
        "březen",
        "duben",
        "květen",
        "červen",
        "červenec",
        "srpen",
        "září",
        "říjen",
        "listopad",
        "prosinec",
    ]
    rows = [
        ",".join([station, str(year), *map(str, noise(12))])
        for station in ("Brno", "Praha")
        for year in range(1990, 2000)
    ]
    return "\n".join([",".join(["Stanice", "Rok", *names]), *rows])


def plants_by_trading_period() -> str:
    lines = [
        f"ARA,{plant},Hydro,{day:%Y-%m-%d}," + ",".join(f"{number * 100:.3f}" for number in noise(48))
        for plant in ("Aratiatia", "Aviemore")
        for day in pd.date_range("2023-05-01", periods=31)
    ]
    return "\n".join(
        [",".join(["Site", "Gen_Code", "Fuel", "Trading_Date", *(f"TP{at}" for at in range(1, 49))]), *lines]
    )


def air_in_taiwan() -> str:
    """A day of each pollutant has a column for each hour, and numbers have the mark of an instrument behind them."""
    days = pd.date_range("2024-01-01", periods=40)
    rows = [
        f"二林,{day:%Y/%m/%d},{name}," + ",".join(f"{value / 30:.2f}{'x' if value > 12 else ''}" for value in noise(24))
        for day in days
        for name in ("CO", "SO2")
    ]
    return "\n".join(["測站,日期,測項," + ",".join(f"{hour:02}" for hour in range(24)), *rows])


def of_a_price_index() -> str:
    """Titles as wide as the rows, of which the first one is nearly empty."""
    months = "JAN,FEB,MAR,APR,MAY,JUNE,JULY,AUG,SEP,OCT,NOV,DEC"
    rows = [f"{1978 + at}," + ",".join(map(str, hourly_wave(12, 100.0 + at))) + ",99.5" for at in range(20)]
    head = ["Price Index,,,,,,,,,,,,,", "All items,,,,,,,,,,,,,", f"YEAR,{months},AVG", "1977,,,,,,,,,,,,100.1,"]
    return "\n".join([*head, *rows]) + "\n"


def of_a_climate_laboratory() -> str:
    """The first and the last year above rows of years and twelve months without names, the mark of no value below."""
    rows = [f" {1960 + at} " + " ".join(f"{v:8.2f}" for v in hourly_wave(12, at)) for at in range(45)]
    rows[-1] = rows[-1][:-8] + "  -99.99"
    rows[-1] = rows[-1].replace(rows[-1].split()[-2], "-99.99")
    return "\n".join(["  1960  2004", *rows, "  -99.99", "  An index of the sea", "  https://example.org/index"]) + "\n"


def of_a_rota() -> str:
    """Days of the week as columns, of which the first one is short for a month, too."""
    weeks = pd.date_range("2022-01-03", periods=60, freq="7D")
    rows = [f"{week:%d/%m/%Y}," + ",".join(map(str, hourly_wave(7, at))) for at, week in enumerate(weeks)]
    return "\n".join(["Week starting,Mon,Tue,Wed,Thu,Fri,Sat,Sun", *rows]) + "\n"


def merged_days() -> pd.DataFrame:
    """As a sheet whose days are merged over the rows of three goods."""
    day = date_column(60).repeat(3).reset_index(drop=True)
    first = np.arange(180) % 3 == 0
    return pd.DataFrame({"Date": day.where(first), "Product": ["A", "B", "C"] * 60, "Units": values(180)})


def merged_years() -> pd.DataFrame:
    time, first = pd.date_range("2014-01-01", periods=96, freq="MS"), np.arange(96) % 12 == 0
    return pd.DataFrame({"Year": pd.Series(time.year).where(first), "Month": time.strftime("%b"), "Sales": values(96)})


def guests_in_hungarian() -> str:
    """The year stands in the row of January, with the point of an ordinal."""
    names = [
        "január",
        "február",
        "március",
        "április",
        "május",
        "június",
        "július",
        "augusztus",
        "szeptember",
        "október",
        "november",
        "december",
    ]
    rows = [
        f"{'' if at else f'{year}.'};{name};{RNG.integers(500, 999)} {RNG.integers(100, 999)}"
        for year in range(2012, 2020)
        for at, name in enumerate(names)
    ]
    return "\n".join(["Vendégforgalom havonta", "Év;Hónap;Vendégek", *rows])


def report_of_groups() -> str:
    """Codes of offices and their names are merged over groups of goods, and these over months."""
    rows = []
    for code, office in (("1000", "North"), ("2000", "South")):
        for at, good in enumerate(("Pumps", "Valves")):
            for month in range(1, 25):
                first = [code, office] if at == 0 and month == 1 else ["", ""]
                day = f"{month % 12 + 1:02}.{2021 + (month - 1) // 12}"
                rows.append(";".join([*first, good if month == 1 else "", day, str(RNG.integers(100, 900))]))
    return "\n".join(["Org;Office;Group;Month;Sales", *rows])


def market_of_merged_hours() -> str:
    """A day and an hour stand once, above their quarters; sums and a note stand below."""
    lines = ["Date,Hour,Time Block,MCV (MW)"]
    for stamp in pd.date_range("2024-05-01", periods=480, freq="15min"):
        day = f"{stamp:%d-%m-%Y}" if stamp.hour == stamp.minute == 0 else ""
        hour = stamp.hour + 1 if stamp.minute == 0 else ""
        lines.append(f"{day},{hour},{stamp:%H:%M} - {stamp + pd.Timedelta(15, 'min'):%H:%M},{RNG.integers(4000, 9000)}")
    return "\n".join([*lines, "Total (MWh),,,3892993", ",,Max.,9000", ",,Min.,4000", "* Unconstrained,,,"])


def lines_of_orders() -> str:
    """The order's total stands beside its first line."""
    lines = []
    for at, day in enumerate(pd.date_range("2023-01-01", periods=260, freq="2D")):
        pieces = RNG.integers(1, 9, RNG.integers(2, 5))
        for line, (count, number) in enumerate(zip(pieces, noise(len(pieces)), strict=True)):
            order = f"S{at:05d},{day:%Y-%m-%d},Azure" if not line else ",,"
            total = f"{pieces.sum() * 10:.2f}" if not line else ""
            lines.append(f"{order},Lamp {RNG.integers(4)},{count},{count * number:.2f},{total}")
    return "\n".join(["Order,Order Date,Customer,Lines/Product,Lines/Quantity,Lines/Subtotal,Total", *lines])


def pivot_in_polish() -> str:
    """Months below shops, years across, sums at the right and at the end."""
    names, rows = ["sty", "lut", "mar", "kwi", "maj", "cze", "lip", "sie", "wrz", "paź", "lis", "gru"], []
    for shop in ("Gdańsk", "Kraków", "Łódź"):
        rows.append(";".join([shop, *["99000"] * 5]))
        rows += [";".join([name, *map(str, RNG.integers(1000, 9000, 4)), "24000"]) for name in names]
    years = ";".join(["Etykiety wierszy", "2018", "2019", "2020", "2021", "Suma końcowa"])
    return "\n".join([years, *rows, ";".join(["Suma końcowa", *["297000"] * 5])])


FRENCH = [
    "janvier",
    "février",
    "mars",
    "avril",
    "mai",
    "juin",
    "juillet",
    "août",
    "septembre",
    "octobre",
    "novembre",
    "décembre",
]


def teams_below_months() -> str:
    """Dates above names, below a total."""
    rows = ["Total;53004"]
    for month in pd.date_range("2019-01-01", periods=30, freq="MS"):
        rows.append(f"{FRENCH[month.month - 1]} {month.year};{RNG.integers(500, 900)}")
        rows += [f"     {team};{RNG.integers(100, 300)}" for team in ("Ventes", "Site web", "Boutique")]
    return "\n".join(["Étiquettes;Total HT", *rows])


def days_below_machines() -> str:
    """Names above dates, with a sum of each and of all."""
    rows = []
    for machine in ("Press A", "Press B"):
        rows.append(f"{machine},{RNG.integers(5000, 9000)}")
        rows += [f"{day:%d.%m.%Y},{RNG.integers(50, 99)}" for day in pd.date_range("2024-03-01", periods=60)]
    return "\n".join(["Row Labels,Sum of Units", *rows, "Grand Total,16000"])


def detectors_of_sites() -> str:
    """A row for each detector of a site and day, and a column for each quarter of an hour, from V00 to V95."""
    lines = [
        f"{site},{day:%Y-%m-%d 00:00:00},{detector}," + ",".join(map(str, RNG.poisson(30, 96)))
        for site in (100, 101)
        for day in pd.date_range("2019-06-03", periods=10)
        for detector in (1, 2, 3)
    ]
    return "\n".join([",".join(["site", "day", "detector", *(f"V{at:02}" for at in range(96))]), *lines])


def hours_in_korean() -> pd.DataFrame:
    load = {f"{hour}시": (60_000 + 900 * noise(60)).round() for hour in range(1, 25)}
    return pd.DataFrame({"날짜": date_column(60), **load})


CASES = (
    FirstCommand("hours in Korean", hours_in_korean, {"layout": "calendar"}, step="h", no_others=True),
    FirstCommand(
        "a year per row",
        years_by_months,
        {"layout": "calendar"},
        "the cells as one series, 12 steps of 1 month ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "a day in 288 columns",
        of_a_day_in_288_columns,
        {"layout": "calendar"},
        "the cells as one series, 288 steps of 5 minutes ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand("hours across", HOURS_ACROSS, {"layout": "calendar"}, step="h", no_others=True),
    FirstCommand(
        "hours across, of several zones",
        "zone_id,year,month,day,"
        + ",".join(f"h{hour}" for hour in range(1, 25))
        + "\n"
        + "".join(
            f"{zone},{day.year},{day.month},{day.day}," + ",".join(map(str, SIXTY_VALUES[zone : zone + 24])) + "\n"
            for zone in (1, 2)
            for day in SIXTY_DAYS
        ),
        {"layout": "calendar", "item_id": "zone_id"},
        step="h",
        no_others=True,
    ),
    FirstCommand(
        "months across, of several places",
        "Country,Year,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec\n"
        + "".join(
            f"{country},{year}," + ",".join(map(str, SIXTY_VALUES[:12])) + "\n"
            for country in "AB"
            for year in range(2001, 2009)
        ),
        {"layout": "calendar", "item_id": "Country"},
        step="MS",
        no_others=True,
    ),
    FirstCommand(
        "years across",
        "Month,"
        + ",".join(map(str, range(2005, 2020)))
        + "\n"
        + "".join(
            f"{month}," + ",".join(map(str, SIXTY_VALUES[:15])) + "\n"
            for month in ["Jan", "Feb", "Mar", "April", "May", "June", "July", "Aug", "Sept", "Oct", "Nov", "Dec"]
        ),
        {"layout": "calendar"},
        step="MS",
        no_others=True,
    ),
    FirstCommand("wages", wages_in_russian, {"layout": "calendar", "item_id": "Территория"}, num_series=3),
    FirstCommand("climate", temperatures_in_czech, {"layout": "calendar", "item_id": "Stanice"}, num_series=2),
    FirstCommand(
        "plants",
        plants_by_trading_period,
        {"layout": "calendar", "item_id": "Gen_Code"},
        mentions="48 steps of 30 minutes",
        quick=True,
    ),
    FirstCommand("Taiwan", air_in_taiwan, {"layout": "calendar", "item_id": "測項"}, encoding="cp950", quick=True),
    FirstCommand(
        "a price index",
        of_a_price_index,
        {"skip_rows": 2, "layout": "calendar"},
        "the cells as one series, 12 steps of 1 month ahead",
        no_others=True,
    ),
    FirstCommand(
        "a climate laboratory",
        of_a_climate_laboratory,
        {
            "delimiter": "blanks",
            "header": False,
            "skip_rows": 1,
            "skip_footer": 3,
            "na": ("-99.99",),
            "layout": "calendar",
        },
        "the cells as one series, 12 steps of 1 month ahead, with '-99.99' as no value",
        no_others=True,
    ),
    FirstCommand(
        "a rota", of_a_rota, {"layout": "calendar"}, "the cells as one series, 7 steps of 1 day ahead", no_others=True
    ),
    FirstCommand("merged days", merged_days, {"layout": "merged", "item_id": "Product"}),
    FirstCommand("merged years", merged_years, {"layout": "merged", "time": "Year,Month"}),
    FirstCommand(
        "months below their years",
        "Row Labels,Sum of y\n"
        + "\n".join(f"{2012 + at // 13 if at % 13 == 0 else MONTHS[at % 13 - 1]},{at % 13 * 5}" for at in range(130))
        + "\nGrand Total,7800\n",
        {"layout": "merged"},
        file="table.txt",
        no_others=True,
        quick=True,
    ),
    FirstCommand(
        "years named once, with a sum below each",
        "Year,Month,Sales\n"
        + "".join(
            f"{month.year if month.month == 1 else ''},{month:%B},{SIXTY_VALUES[at]:.0f}\n"
            + (f"{month.year} Total,,{SIXTY_VALUES[at] * 12:.0f}\n" if month.month == 12 else "")
            for at, month in enumerate(pd.date_range("2015-01-01", periods=60, freq="MS"))
        ),
        {"layout": "merged", "undated_rows": "drop", "time": "Year,Month"},
        step="MS",
        no_others=True,
    ),
    FirstCommand("guests", guests_in_hungarian, {"skip_rows": 1, "layout": "merged", "time": "Év,Hónap"}, num_series=1),
    FirstCommand("report", report_of_groups, {"layout": "merged", "item_id": "Office,Group"}),
    FirstCommand(
        "market", market_of_merged_hours, {"layout": "merged", "time": "Date,Time Block", "undated_rows": "drop"}
    ),
    FirstCommand("orders", lines_of_orders, {"layout": "merged", "target": "Lines/Subtotal"}, quick=True),
    FirstCommand("pivot", pivot_in_polish, {"layout": "calendar", "item_id": "item_id"}, num_series=3),
    FirstCommand("teams", teams_below_months, {"layout": "merged"}, num_series=3),
    FirstCommand("machines", days_below_machines, {"layout": "merged"}, num_series=2),
    FirstCommand(
        "detectors",
        detectors_of_sites,
        {"layout": "calendar", "item_id": "site,detector"},
        "the rows as 6 series, 96 steps of 15 minutes ahead",
    ),
)


@each_case(CASES)
def test_the_first_command_reads_a_layout(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


def test_an_outline_is_read_as_its_table(tmp_path: Path) -> None:
    """Each value stands at its date, of its name; sums are left out."""
    (tmp_path / "outline.csv").write_text(days_below_machines(), encoding="utf-8")
    frame = read_table(tmp_path / "outline.csv", DataConfig(layout="merged"))
    assert len(frame) == 120
    assert frame["Sum of Units"].max() < 100
    assert [*frame["item_id"].iloc[[0, 60]]] == ["Press A", "Press B"]


def test_months_below_names_are_those_of_the_years_beside_them(tmp_path: Path) -> None:
    text = pivot_in_polish()
    (tmp_path / "pivot.csv").write_text(text, encoding="utf-8")
    frame = read_table(tmp_path / "pivot.csv", DataConfig(layout="calendar", item_id="item_id"))
    cells = {line.split(";")[0]: line.split(";")[1:5] for line in text.splitlines()[15:27]}  # of Kraków
    row = frame[(frame["item_id"] == "Kraków") & (frame["timestamp"] == "2020-10-01")]
    assert [str(int(value)) for value in row["target"]] == [cells["paź"][2]]
