"""`forecast check` reads what systems of offices and instruments write: titles, totals, units, outlines, languages."""

import calendar
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig
from forecast_attn.data.reading import read_table

from .made_columns import RNG, noise


def queues_of_a_call_centre() -> str:
    """Days stand before months, and waiting times beside dates are no clocks of them."""
    stamps = [stamp for stamp in pd.date_range("2024-03-01 08:00", "2024-05-31", freq="30min") if 8 <= stamp.hour < 18]
    half_an_hour = pd.Timedelta(30, "min")
    rows = (
        f'"{at:%d/%m/%y %H:%M}";"{at + half_an_hour:%d/%m/%y %H:%M}";"{queue}";"{number}";"00:{number:02}:{number}"'
        for at in stamps
        for queue in ("FR_SAV", "FR_Voix")
        for number in RNG.integers(10, 60, 1)
    )
    return "\n".join(['"Début d\'intervalle";"Fin d\'intervalle";"File";"Offerts";"Attente moy."', *rows])


def turbine_below_comments() -> str:
    """The last comment holds the names, of which some have a comma."""
    stamps = pd.date_range("2020-02-01", periods=600, freq="10min")
    rows = [
        f"{stamp:%Y-%m-%d %H:%M:%S},{speed},{speed / 9:.2f},{speed**3:.1f}"
        for stamp, speed in zip(stamps, noise(600), strict=True)
    ]
    names = '# Date and time,Wind speed (m/s),"Wind speed, Standard deviation (m/s)",Power (kW)'
    return "\n".join(["# This file was exported.", "#", "# No data: empty cells", names, *rows])


def rooms_with_units() -> str:
    stamps = pd.date_range("2024-05-06", periods=300, freq="10min")
    cells = zip(stamps, noise(300), noise(300), strict=True)
    return "\n".join(["Time,Store 1,Store 2", *(f"{at:%Y-%m-%d %H:%M:%S},{one} °C,{two} °C" for at, one, two in cells)])


def profit_and_loss() -> str:
    """Accountants write the currency of sums alone, and sections without numbers."""
    months = pd.date_range("2022-01-01", periods=30, freq="MS")
    names = ["   Design", "   Pest Control", "   Labor", "Total Income", "Net Income"]
    rows = [[f'"{sign}{4000 + 100 * number:,.2f}"' for number in noise(30)] for sign in ("", "", "", "$", "$")]
    lines = (",".join([name, *cells]) for name, cells in zip(names, rows, strict=True))
    head = ["Profit and Loss", "Greenline LLC", "", "," + ",".join(f"{month:%b %Y}" for month in months)]
    return "\n".join([*head, "Income" + "," * 30, *lines])


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


def half_hours_of_a_skill() -> str:
    """Intervals have halves of the day, and a row of totals stands above them."""
    stamps = [stamp for stamp in pd.date_range("2024-01-02 08:00", "2024-02-10", freq="30min") if 8 <= stamp.hour < 18]
    half_an_hour = pd.Timedelta(30, "min")
    rows = [
        f"{at.month}/{at.day}/{at.year}\t{clock(at)}-{clock(at + half_an_hour)}\t{skill}\t{RNG.integers(5, 60)}"
        for at in stamps
        for skill in ("Billing", "Support")
    ]
    return "\n".join(["Skill Interval", "Dates:\tall", "", "Date\tTime\tSkill\tCalls", "Totals\t\t\t42765", *rows])


def clock(at: pd.Timestamp) -> str:
    return f"{at:%I:%M%p}".removeprefix("0")


def nights_by_month_across() -> str:
    months = ",".join(f'"Nights {month:%YM%m}"' for month in pd.date_range("2015-01-01", periods=60, freq="MS"))
    rows = [
        f'"{region}","{kind}",' + ",".join(map(str, RNG.integers(100, 999, 60)))
        for region in ("01 Stockholm", "03 Uppsala")
        for kind in ("hotel", "hostel")
    ]
    return "\n".join(['"Nights by region, kind and month"', "", f'"region","kind",{months}', *rows])


def months_and_quarters_in_dutch() -> str:
    """Quarters and years stand between the months."""
    rows = []
    for branch in ("G47100", "G47720"):
        for month in pd.period_range("2012-01", periods=96, freq="M"):
            rows.append(f'"{branch}";"{month.year}MM{month.month:02}";{noise(1)[0]}')
            rows += [f'"{branch}";"{month.year}KW{month.quarter:02}";{noise(1)[0]}'] if month.month % 3 == 0 else []
            rows += [f'"{branch}";"{month.year}JJ00";{noise(1)[0]}'] if month.month == 12 else []
    return "\n".join(['"Branch";"Perioden";"Omzet"', *rows])


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


def pivot_in_polish() -> str:
    """Months below shops, years across, sums at the right and at the end."""
    names, rows = ["sty", "lut", "mar", "kwi", "maj", "cze", "lip", "sie", "wrz", "paź", "lis", "gru"], []
    for shop in ("Gdańsk", "Kraków", "Łódź"):
        rows.append(";".join([shop, *["99000"] * 5]))
        rows += [";".join([name, *map(str, RNG.integers(1000, 9000, 4)), "24000"]) for name in names]
    years = ";".join(["Etykiety wierszy", "2018", "2019", "2020", "2021", "Suma końcowa"])
    return "\n".join([years, *rows, ";".join(["Suma końcowa", *["297000"] * 5])])


def teams_below_months() -> str:
    """Dates above names, below a total."""
    rows = ["Total;53004"]
    for month in pd.date_range("2019-01-01", periods=30, freq="MS"):
        rows.append(f"{FRENCH[month.month - 1]} {month.year};{RNG.integers(500, 900)}")
        rows += [f"     {team};{RNG.integers(100, 300)}" for team in ("Ventes", "Site web", "Boutique")]
    return "\n".join(["Étiquettes;Total HT", *rows])


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


def days_below_machines() -> str:
    """Names above dates, with a sum of each and of all."""
    rows = []
    for machine in ("Press A", "Press B"):
        rows.append(f"{machine},{RNG.integers(5000, 9000)}")
        rows += [f"{day:%d.%m.%Y},{RNG.integers(50, 99)}" for day in pd.date_range("2024-03-01", periods=60)]
    return "\n".join(["Row Labels,Sum of Units", *rows, "Grand Total,16000"])


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


def an_index_and_its_standard() -> str:
    """Two tables of one header, whose last row has no blanks between its numbers."""
    names = "YEAR   JAN   FEB   MAR   APR   MAY   JUN   JUL   AUG   SEP   OCT   NOV   DEC"
    lines = []
    for title in ("ANOMALY", "STANDARDIZED    DATA"):
        rows = [f"{year}" + "".join(f"{number - 10:6.1f}" for number in noise(12)) for year in range(1980, 2010)]
        lines += [" SEA LEVEL PRESS", f"      {title}", "", names, *rows, "2010   0.3" + "-999.9" * 11, "", ""]
    return "\n".join(lines)


def pupils_of_school_weeks() -> str:
    """Weeks by name beside their year, without those of holidays, the newest first."""
    rows = [
        f"{year},Week {week},{region},{RNG.integers(90, 97)}"
        for year in (2025, 2024, 2023, 2022)
        for week in range(51, 0, -1)
        if week not in (7, 14, 15, 22, *range(30, 36), 43)
        for region in ("North", "South")
    ]
    return "\n".join(["time_period,time_identifier,region,attendance", *rows])


def deals_by_their_close() -> str:
    """Rows are in the order of the date on which a deal was closed, and it began before."""
    closed = pd.Timestamp("2021-01-01") + pd.to_timedelta(RNG.exponential(1.5, 400).cumsum().astype(int), "D")
    created = closed - pd.to_timedelta(RNG.integers(5, 120, 400), "D")
    rows = zip(closed, created, RNG.integers(20, 900, 400), strict=True)
    lines = [f"Deal {at},{start:%Y-%m-%d},{end:%Y-%m-%d},{sum_}00" for at, (end, start, sum_) in enumerate(rows)]
    return "\n".join(["Opportunity,Created Date,Close Date,Amount", *lines])


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


def tanks_in_hungarian() -> str:
    """Dates end in a point, and tanks are called as quarters are; the opening stock follows from the day before."""
    rows = [
        f"{day:%Y.%m.%d.};T{tank};{RNG.integers(5, 20)} 981;{RNG.integers(1, 5)} {RNG.integers(100, 999)}"
        for day in pd.date_range("2023-07-01", periods=60)
        for tank in range(1, 6)
    ]
    return "\n".join(["Dátum;Tartály;Nyitó készlet (l);Eladás (l)", *rows])


def sales_in_argentina() -> str:
    """Dates are spelled out, and the price of one piece is no amount."""
    stamps = pd.Timestamp("2024-01-01 08:00") + pd.to_timedelta(RNG.integers(0, 90 * 1440, 500), "min")
    months, prices = ("enero", "febrero", "marzo", "abril"), RNG.integers(900, 9000, 500)
    rows = []
    for at, (stamp, price) in enumerate(zip(stamps, prices, strict=True)):
        day = f"{stamp.day} de {months[stamp.month - 1]} de {stamp.year} {stamp:%H:%M} hs."
        rows.append(f"V{at},{day},{price},{price * RNG.integers(1, 9)}")
    return "\n".join(["# de venta,Fecha de venta,Precio unitario (ARS),Total (ARS)", *rows])


def index_of_three_months() -> str:
    seasons = [*zip(*("DJFMAMJJASONDJ"[month:] for month in range(3)), strict=False)]
    rows = [
        f"  {''.join(season)} {year}  {number:.2f}"
        for year in range(1990, 2002)
        for season, number in zip(seasons, noise(12), strict=True)
    ]
    return "\n".join([" SEAS  YR   TOTAL", *rows])


def rates_of_a_reserve_bank() -> str:
    """Lines that tell of each column stand above the names, and a first row without values below them."""
    head = ["Series Description,AUSTRALIA -- RATE,EURO AREA", "Unit:,Currency:_Per_AUD,Currency:_Per_EUR"]
    head += [
        "Multiplier:,1,1",
        "Currency:,USD,USD",
        "Unique Identifier: ,H10/H10/RXI,H10/H10/RXU",
        "Time Period,RXI,RXU",
    ]
    days = pd.bdate_range("2019-01-02", periods=80)
    rows = [f"{day:%Y-%m-%d},{one},{two}" for day, one, two in zip(days, noise(80), noise(80), strict=True)]
    rows[40] = f"{days[40]:%Y-%m-%d},ND,ND"
    return "\n".join([*head, "2019-01-01,ND,ND", *rows])


def boxes_of_ports_in_chinese() -> str:
    """Lines that tell of each column stand below the names, among them the day on which it was updated."""
    head = [
        "指标名称,港口:上海,港口:深圳",
        "频率,月,月",
        "单位,万TEU,万TEU",
        "指标ID,S56001,S56002",
        "来源,交通部,交通部",
    ]
    months = pd.date_range("2015-01-31", periods=90, freq="ME")
    rows = [f"{day:%Y-%m-%d},{one},{two}" for day, one, two in zip(months, noise(90), noise(90), strict=True)]
    return "\n".join([*head, "更新时间,2025-01-24,2025-01-24", *rows])


def searches_with_limits() -> str:
    """Most weeks of a term are below what is shown."""
    rows = [
        f"{day:%Y-%m-%d},{RNG.integers(20, 90)},{'<1' if at % 5 < 3 else RNG.integers(2, 60)}"
        for at, day in enumerate(pd.date_range("2019-01-06", periods=150, freq="W"))
    ]
    return "\n".join(["Category: all", "", "Week,sun cream,snow chains", *rows])


def flux_of_three_hours() -> str:
    """A counter of rotations rises evenly in each of the series whose rows stand by turns."""
    rows = [
        f"{day:%Y%m%d}    at{hour}    {2239.227 + 0.0366 * at + 0.0015 * hour:.3f}    {number:.1f}"
        for at, (day, number) in enumerate(zip(pd.date_range("2021-01-01", periods=90), noise(90), strict=True))
        for hour in (18, 20, 22)
    ]
    return "\n".join(["fluxdate    fluxtime    carrington  obsflux", *rows])


def cases_with_their_places() -> str:
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 400, 900)), "D")
    rows = [f"{day:%Y/%m/%d},{x},{y}" for day, x, y in zip(days, noise(900), noise(900), strict=True)]
    return "\n".join(["Onset,CentreX,CentreY", *rows])


def tickets_with_their_numbers() -> str:
    stamps = pd.Timestamp("2024-02-01") + pd.to_timedelta(np.sort(RNG.integers(0, 90 * 1440, 800)), "min")
    rows = [f"INC{1000 + at},{stamp:%Y-%m-%d %H:%M},{RNG.poisson(1)}" for at, stamp in enumerate(stamps)]
    return "\n".join(["number,opened_at,reassignment_count", *rows])


def weather_in_japanese() -> str:
    """Names stand in several lines, with a blank one between."""
    head = ["ダウンロード", "", ",東京,東京,東京", "年月日,平均気温,平均気温,降水量", ",,,", ",,品質情報,"]
    days = pd.date_range("2021-01-01", periods=90)
    return "\n".join(
        [*head, *(f"{day:%Y/%m/%d},{number},8,{number / 3:.1f}" for day, number in zip(days, noise(90), strict=True))]
    )


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


def hours_of_a_market_in_autumn() -> str:
    """The hour that comes again has a letter behind its number."""
    rows = []
    for day in pd.date_range("2023-10-20", periods=30):
        hours = [f"{hour:02}" for hour in range(1, 25)]
        hours = [*hours[:2], "02X", *hours[2:]] if f"{day:%m-%d}" == "11-05" else hours
        rows += [f"{day:%d-%b-%y},{hour},{RNG.integers(900, 2000)}" for hour in hours]
    return "\n".join(["Date,Hr_End,Load", *rows])


def stock_in_czech() -> str:
    rows = [
        f"{day.day}. {day.month}. {day.year};{code};{RNG.integers(500, 900)};{RNG.integers(50, 99)}"
        for day in pd.bdate_range("2024-01-02", periods=70)
        for code in ("Z1", "Z2")
    ]
    return "\n".join(["Stav zásob po dnech;;;", "Datum;Kód zboží;Počáteční stav;Výdej", *rows])


def wages_in_czech() -> str:
    """Names have no accents."""
    rows = [
        f"{year},{quarter},{kind},{RNG.integers(20_000, 40_000)}"
        for year in range(2010, 2020)
        for quarter in (1, 2, 3, 4)
        for kind in ("A", "B")
    ]
    return "\n".join(["rok,ctvrtleti,druh,hodnota", *rows])


def air_with_quoted_hours() -> str:
    rows = [
        f"{station};{day:%d.%m.%Y};'{hour:02}:00';{RNG.integers(5, 60)}"
        for station in ("DEBE034", "DEBE051")
        for day in pd.date_range("2024-03-01", periods=20)
        for hour in range(1, 25)
    ]
    return "\n".join(["Stationscode;Datum;Uhrzeit;Feinstaub", *rows])


def load_beside_its_forecast_in_polish() -> str:
    rows = [
        f"{day:%Y-%m-%d};{hour};{RNG.integers(14_000, 19_000)};{RNG.integers(14_000, 19_000)}"
        for day in pd.date_range("2023-01-01", periods=20)
        for hour in range(1, 25)
    ]
    return "\n".join(["Data;Godzina;Dobowa prognoza KSE [MW];Rzeczywista KSE [MW]", *rows])


def market_of_merged_hours() -> str:
    """A day and an hour stand once, above their quarters; sums and a note stand below."""
    lines = ["Date,Hour,Time Block,MCV (MW)"]
    for stamp in pd.date_range("2024-05-01", periods=480, freq="15min"):
        day = f"{stamp:%d-%m-%Y}" if stamp.hour == stamp.minute == 0 else ""
        hour = stamp.hour + 1 if stamp.minute == 0 else ""
        lines.append(f"{day},{hour},{stamp:%H:%M} - {stamp + pd.Timedelta(15, 'min'):%H:%M},{RNG.integers(4000, 9000)}")
    return "\n".join([*lines, "Total (MWh),,,3892993", ",,Max.,9000", ",,Min.,4000", "* Unconstrained,,,"])


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


def shares_in_french() -> str:
    rows = [
        f"{day:%d/%m/%Y};{first:.2f};{last:.2f};{number}".replace(".", ",")
        for day, first, last, number in zip(
            pd.bdate_range("2024-01-02", periods=90), noise(90), noise(90), RNG.integers(9, 99, 90), strict=True
        )
    ]
    return "\n".join(["Séance;Ouverture;Dernier Cours;Titres", *rows])


TEXTS: dict[str, tuple[Callable[[], str], dict[str, object]]] = {
    "queues": (queues_of_a_call_centre, {"time": "Début d'intervalle", "item_id": "File"}),
    "turbine": (turbine_below_comments, {"skip_rows": 3, "header": None, "target": "Power (kW)"}),
    "rooms": (rooms_with_units, {"wide": True}),
    "profit": (profit_and_loss, {"skip_rows": 3, "layout": "rows"}),
    "hotel": (history_and_forecast_of_a_hotel, {"undated_rows": "drop"}),
    "centres": (
        periods_of_cost_centres,
        {"undated_rows": "drop", "item_id": "Kostenart,Kostenstelle"},
    ),
    "visitors": (visitors_above_many_notes, {"skip_rows": 1, "skip_footer": 25, "target": "TOTAL"}),
    "skills": (half_hours_of_a_skill, {"time": "Date,Time", "item_id": "Skill", "undated_rows": "drop"}),
    "nights": (nights_by_month_across, {"skip_rows": 2, "layout": "rows", "item_id": "region,kind"}),
    "quarters": (months_and_quarters_in_dutch, {"undated_rows": "drop", "item_id": "Branch"}),
    "guests": (guests_in_hungarian, {"skip_rows": 1, "layout": "merged", "time": "Év,Hónap"}),
    "wages": (wages_in_russian, {"layout": "calendar", "item_id": "Территория"}),
    "pivot": (pivot_in_polish, {"layout": "calendar", "item_id": "item_id"}),
    "teams": (teams_below_months, {"layout": "merged"}),
    "machines": (days_below_machines, {"layout": "merged"}),
    "climate": (temperatures_in_czech, {"layout": "calendar", "item_id": "Stanice"}),
    "sheffield": (weather_between_blanks, {"comment": "degC", "na": ("---",), "time": "yyyy,mm"}),
    "report": (report_of_groups, {"layout": "merged", "item_id": "Office,Group"}),
    "autumn": (hours_of_a_market_in_autumn, {"time": "Date,Hr_End", "tz": "America/New_York"}),
    "stock": (stock_in_czech, {"skip_rows": 1, "item_id": "Kód zboží", "target": "Výdej"}),
    "quarterly": (wages_in_czech, {"time": "rok,ctvrtleti", "item_id": "druh"}),
    "air": (air_with_quoted_hours, {"time": "Datum,Uhrzeit", "item_id": "Stationscode"}),
    "load": (load_beside_its_forecast_in_polish, {"time": "Data,Godzina", "target": "Rzeczywista KSE [MW]"}),
    "births": (births_in_korean, {"layout": "rows", "item_id": "행정구역별,항목"}),
    "power": (power_in_chinese, {"skip_rows": 3, "skip_footer": 1, "layout": "rows"}),
    "turnover": (turnover_in_south_africa, {"layout": "rows"}),
    "tanks": (tanks_in_hungarian, {"item_id": "Tartály", "target": "Eladás (l)"}),
    "argentina": (sales_in_argentina, {"target": "Total (ARS)", "aggregate": "sum"}),
    "seasons": (index_of_three_months, {"time": "YR,SEAS"}),
    "rates": (rates_of_a_reserve_bank, {"skip_rows": 5, "na": ("ND",)}),
    "ports": (boxes_of_ports_in_chinese, {"undated_rows": "drop", "header": None}),
    "searches": (searches_with_limits, {"na": ("<1",), "ignore": None}),
    "flux": (flux_of_three_hours, {"time": "fluxdate", "item_id": "fluxtime", "target": "obsflux"}),
    "cases": (cases_with_their_places, {"target": "row-count"}),
    "tickets": (tickets_with_their_numbers, {"target": "row-count"}),
    "japan": (weather_in_japanese, {"skip_rows": 2, "header_rows": 4, "target": "東京 平均気温"}),
    "market": (market_of_merged_hours, {"layout": "merged", "time": "Date,Time Block", "undated_rows": "drop"}),
    "prices": (prices_with_the_mean_of_years, {"skip_rows": 2, "layout": "rows"}),
    "accounts": (accounts_below_a_title, {"header_rows": None, "layout": "rows", "item_id": "Account,Branch"}),
    "shares": (shares_in_french, {"target": "Dernier Cours"}),
    "pupils": (pupils_of_school_weeks, {"time": "time_period,time_identifier", "item_id": "region"}),
    "deals": (deals_by_their_close, {"time": "Close Date", "aggregate": "sum"}),
    "index": (
        an_index_and_its_standard,
        {"skip_rows": 3, "skip_footer": 34, "delimiter": "blanks", "layout": "calendar", "na": ("-999.9",)},
    ),
}
NUM_SERIES = {
    "births": 4,
    "power": 8,
    "turnover": 2,
    "tanks": 5,
    "flux": 3,
    "nights": 4,
    "quarters": 2,
    "guests": 1,
    "wages": 3,
    "pivot": 3,
    "teams": 3,
    "machines": 2,
    "climate": 2,
}
"""Export -> the series that its first command finds."""


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTS)
def test_an_export_of_an_office_is_read_at_the_first_try(tmp_path: Path, name: str) -> None:
    make, expected = TEXTS[name]
    (tmp_path / "export.csv").write_text(make(), encoding="utf-8")
    proposals = find_proposals(tmp_path / "export.csv", DataConfig())
    options = dict(proposals[0].options)
    assert {key: options.get(key) for key in expected} == expected
    assert proposals[0].num_series == NUM_SERIES.get(name, proposals[0].num_series)


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


def test_a_date_on_which_rows_were_written_is_a_condition(tmp_path: Path) -> None:
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(RNG.integers(0, 700, 200), "D")
    lines = [f"{day:%Y-%m-%d},2021-01-01,{price}" for day, price in zip(days, RNG.integers(10, 99, 200), strict=True)]
    (tmp_path / "articles.csv").write_text("\n".join(["changed,added,price", *lines]), encoding="utf-8")
    forecasts = find_proposals(tmp_path / "articles.csv", DataConfig())[0].forecasts
    assert forecasts.endswith("if 'changed' tells when it was, rather than when its row was written")
