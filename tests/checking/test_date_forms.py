"""Forms of dates: languages, digits, the order of day and month, days of a spreadsheet, seconds since 1970."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.checking.number_times import denser_order
from forecast_attn.config.options import DataConfig

from ..made_columns import EIGHT_DAYS_OF_HOURS, RNG, SIXTY_VALUES, csv_rows, hourly_wave, noise, values
from .first_commands import FirstCommand, check_first_command, each_case, first_of


def first_days_of_months_by_month_first() -> pd.DataFrame:
    stamps = pd.date_range("1990-01-01", periods=90, freq="MS")
    return pd.DataFrame({"Date": [f"{day.month}/1/{day.year}" for day in stamps], "cpi": values(90)})


def years_and_months_as_digits() -> pd.DataFrame:
    return pd.DataFrame(
        {"Date": pd.date_range("1990-01-01", periods=90, freq="MS").strftime("%Y%m"), "ret": values(90)}
    )


def decimal_years() -> pd.DataFrame:
    return pd.DataFrame({"rownames": range(1, 97), "time": 1949 + np.arange(96) / 12, "passengers": values(96)})


def months_of_short_years() -> pd.DataFrame:
    months = pd.date_range("1996-01-01", periods=120, freq="MS")
    return pd.DataFrame({"month": [f"{day.month}/{day:%y}" for day in months], "sold": values(120)})


def quarters_of_denmark() -> pd.DataFrame:
    return pd.DataFrame({"TID": [f"{at // 4}K{at % 4 + 1}" for at in range(8000, 8060)], "INDHOLD": values(60)})


def periods_of_an_accounting_system() -> pd.DataFrame:
    months = pd.date_range("2018-01-01", periods=60, freq="MS")
    return pd.DataFrame({"FISCPER": months.strftime("%Y0%m"), "amount": values(60)})


def quotes_of_dealers() -> pd.DataFrame:
    minutes = np.cumsum(np.random.default_rng(3).integers(0, 90, 500))
    stamps = pd.Timestamp("1997-06-01 19:28") + pd.to_timedelta(minutes, "min")
    return pd.DataFrame({"XDATE": stamps.strftime("%Y%m%d%H%M"), "bid": values(500)})


def dotted_days_of_a_bank() -> pd.DataFrame:
    """06.01.21 could be a time of day, too."""
    day = pd.Series(pd.date_range("2021-01-06", periods=300).strftime("%d.%m.%y"))
    return pd.DataFrame({"Buchungstag": day, "Valutadatum": day, "Betrag": values(300)})


def seconds_of_one_morning() -> pd.DataFrame:
    time = pd.date_range("2023-03-01", periods=400, freq="10s")
    return pd.DataFrame({"Timestamp": time.strftime("%d.%m.%Y %H:%M:%S"), "FT101": values(400)})


def serial_day(stamp: pd.Timestamp) -> float:
    """The number of a day and its fraction in the cell of a spreadsheet."""
    return (stamp - pd.Timestamp("1899-12-30")) / pd.Timedelta(days=1)


def ratings_since_1996() -> pd.DataFrame:
    """Seconds since 1970 have nine digits until 2001; two stand at one time."""
    stamps = np.sort(RNG.integers(830_000_000, 1_480_000_000, 1500)).repeat(2)
    return pd.DataFrame({"user": RNG.permutation(3000), "stars": RNG.integers(1, 6, 3000), "timestamp": stamps})


def pump_by_spreadsheet_days() -> str:
    """Days since 1900, and parts of them with ten digits."""
    lines = [
        f"{43891 + at // 48},{at % 48 / 48:.10g},{energy:.1f},{level:.3f}"
        for at, energy, level in zip(range(48 * 20), noise(960), noise(960), strict=True)
    ]
    return "\n".join(["Date,Time,kWh,Well lvl m", *lines])


def messages_of_a_broker() -> str:
    """Messages arrive in another order than that of their milliseconds."""
    lines, row = [], 0
    for minute in range(600):
        for topic in RNG.permutation(["comp1/pressure", "comp1/oil_temp", "flow/air"]):
            row += 1
            stamp = 1646092800000 + minute * 60000 + int(RNG.integers(0, 900))
            lines.append(f"{row},{stamp},plant/{topic},{noise(1)[0]:.2f},0")
    return "\n".join(["rowid,ts,topic,payload,qos", *lines])


def days_of_a_central_bank() -> str:
    months = ["Ene", "Feb", "Mar", "Abr", "May", "Jun", "Jul", "Ago", "Set", "Oct", "Nov", "Dic"]
    days = pd.bdate_range("2022-09-01", periods=300)
    lines = [
        f'"{day:%d}{months[day.month - 1]}{day:%y}","{number:.4f}"'
        for day, number in zip(days, noise(300), strict=True)
    ]
    return "\n".join(['"Día/Mes/Año","TC Interbancario"', *lines])


def tanks_by_the_hour() -> str:
    """Hours stand behind dates without minutes, and a blank behind each comma."""
    hours = pd.date_range("2016-07-04", periods=500, freq="h")
    lines = (f"{hour:%d/%m/%y %H}, {level:.2f}" for hour, level in zip(hours, noise(500), strict=True))
    return "\n".join(["DATETIME, L_T1", *lines])


def tons_by_month() -> str:
    months = pd.date_range("2018-01-01", periods=70, freq="MS")
    lines = (f"{month:%Y / %m},{number:.1f}" for month, number in zip(months, noise(70), strict=True))
    return "\n".join(["MONTH,TONS", *lines])


def bicycles_in_finnish() -> str:
    months = ["tammi", "helmi", "maalis", "huhti", "touko", "kesä", "heinä", "elo", "syys", "loka", "marras", "joulu"]
    days = ["ma", "ti", "ke", "to", "pe", "la", "su"]
    lines = [
        f"{days[hour.weekday()]} {hour.day} {months[hour.month - 1]} {hour:%Y %H:%M};{number}"
        for hour, number in zip(
            pd.date_range("2014-01-01", periods=1500, freq="h"), RNG.integers(0, 90, 1500), strict=True
        )
    ]
    return "\n".join(["Päivämäärä;Baana", *lines])


def pickups_of_a_week() -> str:
    """Whether 4/1/2014 is in April, no value says; in January, each month would have one day."""
    minutes = pd.Timestamp("2014-04-01") + pd.to_timedelta(np.sort(RNG.integers(0, 7 * 1440, 7000)), "min")
    lines = [
        f"{at.month}/{at.day}/{at.year} {at:%H:%M}:00,{40 + lat / 99:.4f},{lat / 99 - 74:.4f}"
        for at, lat in zip(minutes, noise(7000), strict=True)
    ]
    return "\n".join(["Date/Time,Lat,Lon", *lines])


def parking_of_a_morning() -> str:
    """Beside the halves of a day, months stand first."""
    minutes = pd.date_range("2020-02-03 08:00", periods=300, freq="min")
    lines = [
        f"{minute:%m/%d/%Y %I:%M}:00 AM,{block},{number:.0f}"
        for minute in minutes[:230]
        for block, number in zip(["1ST AVE", "PINE ST"], noise(2), strict=True)
    ]
    return "\n".join(["OccupancyDateTime,BlockfaceName,PaidOccupancy", *lines])


def bills_in_thai() -> str:
    """Years are those of the Buddha, 543 before ours, and a sum stands below."""
    days = pd.date_range("2023-01-02", periods=120)
    rows = [f"{day:%d/%m}/{day.year + 543},{RNG.integers(50, 250)},{RNG.integers(90, 400)}" for day in days]
    return "\n".join(["วันที่,จำนวนบิล,จำนวนลูกค้า", *rows, "รวม,17000,29000"])


def prices_in_arabic() -> str:
    """The goods of a market have codes from 101 on beside their dates, which are no clocks."""
    goods = ["طماطم", "بطاطس", "بصل أحمر", "خيار بلدي", "باذنجان"]
    rows = [
        f"{day:%d/%m/%Y},{code},{name},{price:.2f}"
        for day in pd.date_range("2023-01-02", periods=60)
        for code, (name, price) in enumerate(zip(goods, noise(5), strict=True), 101)
    ]
    return "\n".join(["التاريخ,كود الصنف,الصنف,متوسط السعر", *rows])


def tourists_in_romanian() -> str:
    names = ["ianuarie", "februarie", "martie", "aprilie", "mai", "iunie", "iulie", "august", "septembrie", "octombrie"]
    months = [f"Luna {name} {year}" for year in range(2014, 2020) for name in (*names, "noiembrie", "decembrie")]
    rows = [f"{kind}, {month}, {RNG.integers(9000, 90_000)}" for kind in ("Hoteluri", "Vile") for month in months]
    return "\n".join(["Tipuri, Luni, Valoare", *rows])


def stock_in_czech() -> str:
    rows = [
        f"{day.day}. {day.month}. {day.year};{code};{RNG.integers(500, 900)};{RNG.integers(50, 99)}"
        for day in pd.bdate_range("2024-01-02", periods=70)
        for code in ("Z1", "Z2")
    ]
    return "\n".join(["Stav zásob po dnech;;;", "Datum;Kód zboží;Počáteční stav;Výdej", *rows])


def sales_in_argentina() -> str:
    """Dates are spelled out, and the price of one piece is no amount."""
    stamps = pd.Timestamp("2024-01-01 08:00") + pd.to_timedelta(RNG.integers(0, 90 * 1440, 500), "min")
    months, prices = ("enero", "febrero", "marzo", "abril"), RNG.integers(900, 9000, 500)
    rows = []
    for at, (stamp, price) in enumerate(zip(stamps, prices, strict=True)):
        day = f"{stamp.day} de {months[stamp.month - 1]} de {stamp.year} {stamp:%H:%M} hs."
        rows.append(f"V{at},{day},{price},{price * RNG.integers(1, 9)}")
    return "\n".join(["# de venta,Fecha de venta,Precio unitario (ARS),Total (ARS)", *rows])


def of_a_weather_service() -> str:
    """As the German Weather Service's: days as eight digits, in a column that is not called a time."""
    days = pd.date_range("2019-01-01", periods=200)
    rows = [
        f"        433;{day:%Y%m%d};   10;{value:6.1f};eor" for day, value in zip(days, hourly_wave(200), strict=True)
    ]
    return "\n".join(["STATIONS_ID;MESS_DATUM;QN_4; TMK;eor", *rows]) + "\n"


def of_a_seller() -> str:
    """Orders with the names of two zones behind a clock of twelve hours, below definitions."""
    rng = np.random.default_rng(5)
    stamps = pd.date_range("2024-01-01", "2024-05-01", freq="7h", tz="America/Los_Angeles")
    stamps = stamps + pd.to_timedelta(rng.integers(0, 3600, len(stamps)), unit="s")
    titles = ['"Includes transactions of a marketplace"', '"All amounts in USD, unless specified"', '"Definitions:"']
    rows = [
        f'"{stamp:%b} {stamp.day}, {stamp:%Y %I:%M:%S %p %Z}","Order","SKU-{at % 3}","{rng.integers(500, 9000) / 100}"'
        for at, stamp in enumerate(stamps)
    ]
    return "\n".join([*titles, '"date/time","type","sku","total"', *rows]) + "\n"


def of_a_sensor_in_india() -> str:
    """Hours with the name of a zone that means several offsets, but one in all rows."""
    hours = pd.date_range("2024-01-01", periods=400, freq="h")
    rows = [f"{hour:%d/%m/%Y %H:%M} IST,{value}" for hour, value in zip(hours, hourly_wave(400), strict=True)]
    return "\n".join(["when,level", *rows]) + "\n"


def of_network_traffic() -> str:
    """As PRTG's: from one time of day to the next, with halves of the day, and sums below."""
    hours = pd.date_range("2024-02-01", periods=97, freq="h")
    rows = [
        f'"{start:%-m/%-d/%Y %-I:%M:%S %p} - {end:%-I:%M:%S %p}","{value * 100:,.2f} MB","0 %"'
        for start, end, value in zip(hours, hours[1:], hourly_wave(96), strict=False)
    ]
    return "\n".join(['"Date Time","Traffic","Downtime"', *rows, '"Sums (of 96 values)","480,000.00 MB",""']) + "\n"


def transfers_on_work_days() -> pd.DataFrame:
    """930104 is the fourth of January 1993; a third of the work days have no transfer, and most have several."""
    work_days = np.sort(RNG.choice(pd.bdate_range("1993-01-04", periods=300), 200, replace=False))
    booked = pd.DatetimeIndex(np.sort(RNG.choice(work_days, 600))).strftime("%y%m%d")
    return pd.DataFrame(
        {"account": RNG.integers(100, 9000, 600), "date": booked, "amount": RNG.lognormal(8, 1, 600).round()}
    )


CASES = (
    FirstCommand(
        "month first by its step",
        first_days_of_months_by_month_first,
        {"date_format": "month-first"},
        "'cpi', 12 steps of 1 month ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "202401",
        years_and_months_as_digits,
        {"date_format": "%Y%m"},
        "'ret', 12 steps of 1 month ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "decimal years", decimal_years, {}, "'passengers', 12 steps of 1 month ahead", no_others=True, trains=True
    ),
    FirstCommand("1/96", months_of_short_years, {}, "'sold', 12 steps of 1 month ahead", no_others=True, trains=True),
    FirstCommand("quarters of Denmark", quarters_of_denmark, {}, "'INDHOLD', 4 steps of 1 quarter ahead"),
    FirstCommand(
        "periods of an accounting system", periods_of_an_accounting_system, {"time": "FISCPER", "date_format": "%Y0%m"}
    ),
    FirstCommand("quotes of dealers", quotes_of_dealers, {"time": "XDATE"}),
    FirstCommand("dotted days of a bank", dotted_days_of_a_bank, {"time": "Buchungstag"}),
    FirstCommand("seconds of one morning", seconds_of_one_morning, {"date_format": "day-first"}),
    FirstCommand(
        "months as digits",
        "yyyymm,ret\n"
        + csv_rows(lambda m, value: f"{m:%Y%m},{value}", pd.date_range("2001-01-01", periods=60, freq="MS")),
        {"time": "yyyymm", "date_format": "%Y%m"},
        step="MS",
        no_others=True,
    ),
    FirstCommand(
        "seconds",
        "time,y\n" + csv_rows(lambda hour, value: f"{int(hour.timestamp())},{value}", EIGHT_DAYS_OF_HOURS),
        {"date_format": "s"},
        step="h",
        no_others=True,
    ),
    FirstCommand(
        "milliseconds as floats",
        "t,y\n" + csv_rows(lambda hour, value: f"{int(hour.timestamp()) * 1000}.0,{value}", EIGHT_DAYS_OF_HOURS),
        {"time": "t", "date_format": "ms"},
        step="h",
        no_others=True,
    ),
    FirstCommand(
        "hours of a spreadsheet",
        "Zeit,y\n" + csv_rows(lambda hour, value: f"{serial_day(hour):.8f},{value}", EIGHT_DAYS_OF_HOURS),
        {"time": "Zeit", "date_format": "excel"},
        step="h",
        no_others=True,
    ),
    FirstCommand(
        "dates of a spreadsheet",
        "date,y\n" + csv_rows(lambda day, value: f"{serial_day(day):.0f},{value}"),
        {"date_format": "excel"},
        step="D",
        no_others=True,
    ),
    FirstCommand(
        "months of a spreadsheet",
        "p,y\n" + csv_rows(lambda m, v: f"{serial_day(m):.0f},{v}", pd.date_range("2011-01-01", periods=60, freq="MS")),
        {"time": "p", "date_format": "excel"},
        step="MS",
        no_others=True,
    ),
    FirstCommand(
        "steps as large as the days of a spreadsheet",
        "step,y\n" + csv_rows(lambda day, value: f"{serial_day(day):.0f},{value}"),
        {},
        step="1",
        no_others=True,
    ),
    FirstCommand("ratings", ratings_since_1996, {"date_format": "s", "resample": "MS"}),
    FirstCommand(
        "pump",
        pump_by_spreadsheet_days,
        {"time": "Date,Time", "date_format": "excel", "target": "kWh"},
        mentions="48 steps of 30 minutes",
        quick=True,
    ),
    FirstCommand(
        "broker",
        messages_of_a_broker,
        {"time": "ts", "date_format": "ms", "item_id": "topic", "target": "payload"},
        quick=True,
    ),
    FirstCommand(
        "bank", days_of_a_central_bank, {"time": None, "target": None}, mentions="5 steps of 1 business day", quick=True
    ),
    FirstCommand(
        "tanks", tanks_by_the_hour, {"time": None, "date_format": None}, mentions="24 steps of 1 hour", quick=True
    ),
    FirstCommand("tons", tons_by_month, {"time": None, "layout": None}, mentions="12 steps of 1 month", quick=True),
    FirstCommand("bicycles", bicycles_in_finnish, {"time": None}, mentions="24 steps of 1 hour", quick=True),
    FirstCommand(
        "pickups",
        pickups_of_a_week,
        {"target": "row-count", "date_format": "month-first"},
        mentions="if the dates are month first",
        quick=True,
    ),
    FirstCommand(
        "parking",
        parking_of_a_morning,
        {"item_id": "BlockfaceName", "date_format": "month-first"},
        mentions="if the dates are month first",
        quick=True,
    ),
    FirstCommand("Thai", bills_in_thai, {"time": None, "skip_footer": 1}, quick=True),
    FirstCommand("Arabic", prices_in_arabic, {"time": None, "item_id": "الصنف"}, encoding="cp1256", quick=True),
    FirstCommand("Romanian", tourists_in_romanian, {"time": None, "item_id": "Tipuri"}, quick=True),
    FirstCommand("stock", stock_in_czech, {"skip_rows": 1, "item_id": "Kód zboží", "target": "Výdej"}),
    FirstCommand("Argentina", sales_in_argentina, {"target": "Total (ARS)", "aggregate": "sum"}),
    FirstCommand(
        "a weather service",
        of_a_weather_service,
        {"time": "MESS_DATUM", "target": "TMK"},
        "'TMK', 7 steps of 1 day ahead",
        no_others=True,
    ),
    FirstCommand(
        "a seller",
        of_a_seller,
        {"skip_rows": 3, "resample": "D", "aggregate": "sum", "missing": "zero"},
        "'total', sum of each 1 day, 7 steps of 1 day ahead",
        no_others=True,
    ),
    FirstCommand(
        "a sensor in India",
        of_a_sensor_in_india,
        {"date_format": "%d/%m/%Y %H:%M IST"},
        "'level', 24 steps of 1 hour ahead",
        no_others=True,
    ),
    FirstCommand(
        "network traffic",
        of_network_traffic,
        {"decimal": ".", "skip_footer": 1, "target": "Traffic", "date_format": "month-first"},
        "'Traffic', 24 steps of 1 hour ahead, with '.' before decimals",
        no_others=True,
    ),
    FirstCommand("transfers", transfers_on_work_days, {"date_format": "%y%m%d", "target": "amount"}),
)


@each_case(CASES)
def test_the_first_command_reads_the_form_of_dates(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


WRITTEN = pd.date_range("2019-11-04", periods=120, freq="D")
DIGITS = {
    "%y%m%d": WRITTEN.strftime("%y%m%d"),
    "%Y%j": WRITTEN.strftime("%Y%j"),
    "%d%m%Y": WRITTEN.strftime("%d%m%Y"),
    "%G%V": pd.date_range("2019-01-07", periods=120, freq="7D").strftime("%G%V"),
    "us": WRITTEN.astype("datetime64[us]").astype(np.int64),
    "ns": WRITTEN.astype("datetime64[ns]").astype(np.int64),
    "s": WRITTEN.astype("datetime64[s]").astype(np.int64) + 0.25,
}


@pytest.mark.parametrize("date_format", DIGITS)
def test_digits_that_are_dates_by_their_regular_steps_are_read_so(tmp_path: Path, date_format: str) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame({"d": DIGITS[date_format], "y": values(120)}).to_csv(path, index=False)
    proposal, *_ = find_proposals(path, DataConfig())
    assert proposal.options["date_format"] == date_format
    assert proposal.step == ("W-MON" if date_format == "%G%V" else "D")


def test_ten_digits_that_are_hours_are_no_seconds(tmp_path: Path) -> None:
    hours = pd.date_range("2022-01-01", periods=600, freq="h")
    frame = pd.DataFrame({"MESS_DATUM": hours.strftime("%Y%m%d%H"), "TT": values(600), "RF": values(600)})
    options = first_of(tmp_path, frame)
    assert (options["time"], options["target"], options.get("date_format")) == ("MESS_DATUM", "TT", None)


@pytest.mark.slow
def test_training_says_that_whole_numbers_may_be_days_of_a_spreadsheet(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("Date,y\n" + "\n".join(f"{44_000 + at},{value}" for at, value in enumerate(hourly_wave(90))))
    notes = json.loads(forecast("check", path, "--json").out)["findings"]
    message = "column 'Date' may hold days of a spreadsheet, from 2020-06-18 on; it is read as steps"
    assert [note["message"] for note in notes if note["code"] == "FA212"] == [message]


@pytest.mark.slow
def test_the_unit_of_times_since_1970_is_that_of_the_numbers_and_not_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    lines = "".join(f"{1_600_000_000 + 3600 * at},{value}\n" for at, value in enumerate(SIXTY_VALUES))
    path.write_text("milliseconds,y\n" + lines)
    first, *_ = find_proposals(path, DataConfig(time="milliseconds", lookback=4, horizon=2), most=2)
    assert first.options["date_format"] == "s"


@pytest.mark.parametrize(
    ("cells", "order"),
    [
        (["4/1/2014 0:02", "4/2/2014 9:00", "4/7/2014 23:00"], "month-first"),
        (["1/4/2014 0:02", "2/4/2014 9:00", "7/4/2014 23:00"], "day-first"),
        (["02/03/2020 10:11:00 AM", "02/03/2020 11:11:00 AM"], "month-first"),
        (["1/3/2019", "1/3/2019"], None),  # one day tells nothing
    ],
)
def test_the_order_of_day_and_month_makes_a_few_days_in_a_row(cells: list[str], order: str | None) -> None:
    assert denser_order(pd.Series(cells, dtype="str")) == order
