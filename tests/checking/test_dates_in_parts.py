"""Dates in several columns: years beside quarters, months, weeks and days."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, SIXTY_DAYS, csv_rows, date_column, hourly_wave, noise, values
from .first_commands import FirstCommand, check_first_command, each_case


def quarters_in_parts() -> pd.DataFrame:
    years = np.repeat(np.arange(1959, 1989), 4).astype(float)
    return pd.DataFrame({"year": years, "quarter": np.tile([1.0, 2.0, 3.0, 4.0], 30), "gdp": values(120)})


def years_and_periods() -> pd.DataFrame:
    """As the Bureau of Labor Statistics writes them."""
    years, months = np.repeat(np.arange(1990, 2000), 12), np.tile(np.arange(1, 13), 10)
    return pd.DataFrame({"Year": years, "Period": [f"M{month:02d}" for month in months], "Value": values(120)})


def periods_of_fiscal_years() -> pd.DataFrame:
    years = [f"FY{2010 + at // 12}" for at in range(48)]
    return pd.DataFrame({"Year": years, "Period": [f"P{at % 12 + 1:02d}" for at in range(48)], "Revenue": values(48)})


def houses_sold() -> pd.DataFrame:
    """Sales stand in any order, and houses were built in some year."""
    sold = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(RNG.integers(0, 600, 900), unit="D"))
    parts = {"YearSold": sold.dt.year, "MonthSold": sold.dt.month, "DaySold": sold.dt.day}
    return pd.DataFrame({"YearBuilt": RNG.integers(1900, 2000, 900), **parts, "Price": values(900)})


def quarters_without_a_name() -> pd.DataFrame:
    years = np.repeat(np.arange(2010, 2020), 4)
    return pd.DataFrame({"Periodo": years, "": np.tile([1, 2, 3, 4], 10), "Total": values(40), "Otros": values(40)})


def parts_of_years(name: str, parts: str) -> Callable[[], pd.DataFrame]:
    """A table of years and their parts, as called in a text with bars between them."""
    names = parts.split("|")
    rows = np.arange(10 * len(names))
    columns = {"Year": 2010 + rows // len(names), name: np.array(names)[rows % len(names)]}
    return lambda: pd.DataFrame({**columns, "Sales": values(len(rows))})


QUARTERS = "'Sales', 4 steps of 1 quarter ahead"


def days_of_short_years() -> pd.DataFrame:
    dates = pd.date_range("1961-01-01", periods=800)
    return pd.DataFrame({"year": dates.year % 100, "month": dates.month, "day": dates.day, "RPT": values(800)})


def days_in_spanish() -> pd.DataFrame:
    day = pd.to_datetime(date_column(120)).dt
    return pd.DataFrame({"Año": day.year, "Mes": day.month, "Día": day.day, "Ventas": values(120)})


def days_of_years() -> pd.DataFrame:
    """As gauges of rivers: the day of the year beside the year."""
    time = pd.date_range("2019-01-01", periods=500)
    return pd.DataFrame({"station": "AB12", "year": time.year, "doy": time.day_of_year, "flow": values(500)})


def periods_of_accountants() -> pd.DataFrame:
    return pd.DataFrame(
        {"Jahr": np.repeat(np.arange(2015, 2023), 12), "Periode": [*range(1, 13)] * 8, "Ist": values(96)}
    )


def months_of_cost_centres() -> pd.DataFrame:
    frame = periods_of_accountants().rename(columns={"Jahr": "Geschäftsjahr"})
    return frame.loc[frame.index.repeat(2)].assign(Stelle=[1000, 1010] * 96, Ist=values(192))


def months_of_an_office() -> pd.DataFrame:
    """German months and their codes, beside years that are called time."""
    months = [
        "Januar",
        "Februar",
        "März",
        "April",
        "Mai",
        "Juni",
        "Juli",
        "August",
        "September",
        "Oktober",
        "November",
        "Dezember",
    ]
    codes = [f"MONAT{number:02d}" for number in range(1, 13)]
    years = np.repeat(np.arange(2015, 2023), 12)
    return pd.DataFrame({"Zeit": years, "Code": codes * 8, "Label": months * 8, "Index": values(96)})


def months_in_japanese() -> pd.DataFrame:
    years = np.repeat(np.arange(2010, 2018), 12)
    return pd.DataFrame({"年": years, "月": [*range(1, 13)] * 8, "値": values(96)})


def weeks_of_epidemiologists() -> pd.DataFrame:
    years = np.repeat(np.arange(2010, 2016), 52)
    return pd.DataFrame({"MMWR_year": years, "MMWR_week": [*range(1, 53)] * 6, "cases": values(312)})


def wages_in_czech() -> str:
    """Names have no accents."""
    rows = [
        f"{year},{quarter},{kind},{RNG.integers(20_000, 40_000)}"
        for year in range(2010, 2020)
        for quarter in (1, 2, 3, 4)
        for kind in ("A", "B")
    ]
    return "\n".join(["rok,ctvrtleti,druh,hodnota", *rows])


def index_of_three_months() -> str:
    seasons = [*zip(*("DJFMAMJJASONDJ"[month:] for month in range(3)), strict=False)]
    rows = [
        f"  {''.join(season)} {year}  {number:.2f}"
        for year in range(1990, 2002)
        for season, number in zip(seasons, noise(12), strict=True)
    ]
    return "\n".join([" SEAS  YR   TOTAL", *rows])


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


def sales_by_indonesian_months() -> str:
    months = [
        "Januari",
        "Februari",
        "Maret",
        "April",
        "Mei",
        "Juni",
        "Juli",
        "Agustus",
        "September",
        "Oktober",
        "November",
    ]
    lines = [
        f"{at + 1};{[*months, 'Desember'][at % 12]};{2015 + at // 12};{number}"
        for at, number in enumerate(RNG.integers(300, 500, 72))
    ]
    return "\n".join(["No;Bulan;Tahun;Penjualan (pcs)", *lines])


def of_a_registrar() -> str:
    """As the CDC's births: the day of the month by another name than `day`."""
    rows = [
        f"{t.year},{t.month},{t.day},{v}" for t, v in zip(pd.to_datetime(date_column(150)), values(150), strict=True)
    ]
    return "\n".join(["year,month,date_of_month,births", *rows])


def of_a_crop_model() -> str:
    """Years and days of the year, without names."""
    days = pd.date_range("1981-05-20", periods=400)
    return "\n".join(f"{d.year}\t{d.day_of_year}\t{v}" for d, v in zip(days, hourly_wave(400), strict=True)) + "\n"


def of_a_catchment() -> str:
    """As Fortran writes it: day, month and year without names, all with an exponent."""
    days = pd.date_range("1952-01-01", periods=500)
    return (
        "\n".join(
            " ".join(f"{number:.7e}" for number in (day.day, day.month, day.year, value))
            for day, value in zip(days, hourly_wave(len(days)), strict=True)
        )
        + "\n"
    )


def of_a_greenhouse_gas() -> str:
    """Year, month and day of weeks between blanks below comments, without names."""
    days = pd.date_range("2001-01-07", periods=120, freq="7D")
    rows = [
        f"  {d:%Y  %m  %d}  {d.year + d.day_of_year / 365:.4f}  {v}"
        for d, v in zip(days, hourly_wave(120), strict=True)
    ]
    return "\n".join(["# USE OF DATA", "#", "# The week, with its middle, in ppm", *rows]) + "\n"


def profiles_of_a_lake() -> pd.DataFrame:
    """Samples of some days of a year, at several depths."""
    cells = [(year, day, depth) for year in range(2005, 2015) for day in range(136, 300, 14) for depth in (0, 2, 4, 8)]
    frame = pd.DataFrame(cells, columns=["year4", "daynum", "depth"])
    return frame.assign(wtemp=(20 - frame["depth"] + noise(len(frame)) / 5).round(1))


def cases_of_cities() -> pd.DataFrame:
    """The first days of 1993 are in week 53 of it, as of no calendar: a few rows without a time."""
    weeks = [(year, week) for year in range(1990, 1999) for week in range(1, 53)]
    weeks.insert(weeks.index((1993, 1)), (1993, 53))
    rows = [(city, *week) for city in ("sj", "iq") for week in weeks]
    frame = pd.DataFrame(rows, columns=["city", "year", "weekofyear"])
    return frame.assign(total_cases=RNG.poisson(20, len(frame)))


def fires_of_states_of_one_name() -> str:
    """Two states have one name; all months are there."""
    states = ["Acre", "Bahia", "Goias", "Mato Grosso", "Mato Grosso", "Para", "Piaui", "Sergipe"]
    lines = [
        f"{year},{state},{month},{number:.0f}"
        for state in states
        for month in range(1, 13)
        for year, number in zip(range(1998, 2018), noise(20) * 20, strict=True)
    ]
    return "\n".join(["year,state,month,number", *lines])


def rates_of_work_days() -> str:
    """Year and month stand only in the first row of each, and the day in a column without a name."""
    lines, before = [], (0, 0)
    for day, numbers in zip(pd.bdate_range("2021-01-04", periods=300), noise(600).reshape(300, 2), strict=True):
        year, month = (
            "" if same else text
            for same, text in zip(
                (day.year == before[0], (day.year, day.month) == before), (f"{day:%Y}", f"{day:%b}"), strict=True
            )
        )
        lines.append(f"{year},{month},{day:%d},{numbers[0]:.4f},{numbers[1]:.4f}")
        before = day.year, day.month
    return "\n".join(["End of Period,,,Euro,US Dollar", *lines])


def accidents_of_a_police() -> pd.DataFrame:
    """The parts of a date have one name before them, behind which stand wide blanks, and one letter each."""
    stamps = pd.Timestamp("2022-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 525_600, 2500)), "min")
    letters = {"年": "year", "月": "month", "日": "day", "時": "hour", "分": "minute"}
    parts = {f"発生日時\u3000\u3000{letter}": getattr(stamps, part) for letter, part in letters.items()}
    return pd.DataFrame({"事故内容": RNG.choice(["A", "B"], 2500), **parts})


def accidents_of_france() -> pd.DataFrame:
    """Of one year, in no order: its day stands before the month, and the clock behind the year."""
    stamps = pd.Timestamp("2022-01-01") + pd.to_timedelta(RNG.integers(0, 365 * 24 * 60, 2000), "min")
    parts = {"jour": stamps.day, "mois": stamps.month, "an": stamps.year, "hrmn": stamps.strftime("%H:%M")}
    return pd.DataFrame({"Accident_Id": 202200000000 + np.arange(2000), **parts, "lum": RNG.integers(1, 6, 2000)})


CASES = (
    FirstCommand("France", accidents_of_france, {"time": "an,mois,jour,hrmn", "target": "row-count"}),
    FirstCommand(
        "accidents",
        accidents_of_a_police,
        {"time": ",".join(f"発生日時\u3000\u3000{letter}" for letter in "年月日時分"), "target": "row-count"},
    ),
    FirstCommand(
        "work days",
        rates_of_work_days,
        {"layout": "merged", "time": "End of Period,Unnamed: 1,Unnamed: 2", "item_id": None},
        mentions="5 steps of 1 business day",
    ),
    FirstCommand(
        "year, quarter",
        quarters_in_parts,
        {"time": "year,quarter"},
        "'gdp', 4 steps of 1 quarter ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "year and period",
        years_and_periods,
        {"time": "Year,Period"},
        "'Value', 12 steps of 1 month ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "periods of fiscal years",
        periods_of_fiscal_years,
        {"time": "Year,Period"},
        "'Revenue', 12 steps of 1 month ahead",
    ),
    FirstCommand("houses sold", houses_sold, {"time": "YearSold,MonthSold,DaySold"}),
    FirstCommand("quarters without a name", quarters_without_a_name, {"time": "Periodo,Unnamed: 1", "target": "Total"}),
    FirstCommand(
        "quarters in words",
        parts_of_years("Period", "First quarter|Second quarter|Third quarter|Fourth quarter"),
        {"time": "Year,Period"},
    ),
    FirstCommand(
        "quarters by their months",
        parts_of_years("of", "Jan-Mar|Apr-Jun|Jul-Sep|Oct-Dec"),
        {"time": "Year,of"},
        QUARTERS,
    ),
    FirstCommand(
        "quarters in Roman numbers", parts_of_years("Quartal", "I|II|III|IV"), {"time": "Year,Quartal"}, QUARTERS
    ),
    FirstCommand("groups in Roman numbers", parts_of_years("group", "I|II|III|IV"), {"item_id": "group"}),
    FirstCommand(
        "half years", parts_of_years("Half", "H1|H2"), {"time": "Year,Half"}, "'Sales', 3 steps of 6 months ahead"
    ),
    FirstCommand(
        "days of short years", days_of_short_years, {"time": "year,month,day"}, "'RPT', 7 steps of 1 day ahead"
    ),
    FirstCommand("days in Spanish", days_in_spanish, {"time": "Año,Mes,Día"}),
    FirstCommand("days of years", days_of_years, {"time": "year,doy"}),
    FirstCommand("periods of accountants", periods_of_accountants, {"time": "Jahr,Periode"}),
    FirstCommand(
        "months of cost centres", months_of_cost_centres, {"time": "Geschäftsjahr,Periode", "item_id": "Stelle"}
    ),
    FirstCommand("months of an office", months_of_an_office, {"time": "Zeit,Code"}),
    FirstCommand("months in Japanese", months_in_japanese, {"time": "年,月"}),
    FirstCommand("weeks of epidemiologists", weeks_of_epidemiologists, {"time": "MMWR_year,MMWR_week"}),
    FirstCommand(
        "a day that there is none of",
        "year,month,day,kwh\n"
        + csv_rows(lambda day, value: f"{day:%Y,%-m},{36 if day == SIXTY_DAYS[30] else day.day},{value}"),
        {"time": "year,month,day", "undated_rows": "drop"},
        step="D",
        no_others=True,
    ),
    FirstCommand("quarterly", wages_in_czech, {"time": "rok,ctvrtleti", "item_id": "druh"}),
    FirstCommand("seasons", index_of_three_months, {"time": "YR,SEAS"}),
    FirstCommand("pupils", pupils_of_school_weeks, {"time": "time_period,time_identifier", "item_id": "region"}),
    FirstCommand("bulan", sales_by_indonesian_months, {"time": "Tahun,Bulan", "target": "Penjualan (pcs)"}, quick=True),
    FirstCommand(
        "a registrar",
        of_a_registrar,
        {"time": "year,month,date_of_month"},
        "'births', 7 steps of 1 day ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "a crop model",
        of_a_crop_model,
        {"header": False, "time": "column_1,column_2"},
        "'column_3', 7 steps of 1 day ahead",
        no_others=True,
    ),
    FirstCommand(
        "a catchment",
        of_a_catchment,
        {"delimiter": "blanks", "header": False, "time": "column_3,column_2,column_1"},
        "'column_4', 7 steps of 1 day ahead",
        no_others=True,
    ),
    FirstCommand(
        "a greenhouse gas",
        of_a_greenhouse_gas,
        {
            "delimiter": "blanks",
            "header": False,
            "comment": "#",
            "time": "column_1,column_2,column_3",
            "target": "column_5",
        },
        "'column_5', 13 steps of 1 week ahead",
        no_others=True,
    ),
    FirstCommand("lake", profiles_of_a_lake, {"time": "year4,daynum", "item_id": "depth"}),
    FirstCommand("dengue", cases_of_cities, {"time": "year,weekofyear", "item_id": "city", "undated_rows": "drop"}),
    FirstCommand(
        "fires", fires_of_states_of_one_name, {"time": "year,month", "item_id": "state", "resample": "MS"}, quick=True
    ),
    FirstCommand(
        "quarters by their first and last month",
        parts_of_years("Period", "JAN THRU MAR|APR THRU JUN|JUL THRU SEP|OCT THRU DEC"),
        {"time": "Year,Period"},
        QUARTERS,
    ),
)


@each_case(CASES)
def test_the_first_command_puts_dates_together(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


def test_an_index_and_a_year_without_month_are_no_date_in_parts(tmp_path: Path) -> None:
    """A panel of years with an index without a name: the year is the time, the firm tells series apart."""
    path = tmp_path / "table.csv"
    years = np.tile(np.arange(1935, 1955), 6)
    firm = np.repeat(np.arange(1, 7), 20)
    frame = pd.DataFrame({"firm": firm, "year": years, "inv": values(120)})
    frame.to_csv(path)
    proposal = find_proposals(path, DataConfig())[0]
    assert (proposal.time, proposal.item_id, proposal.target, proposal.num_series) == ("year", "firm", "inv", 6)
