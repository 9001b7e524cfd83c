"""Files as markets, offices and instruments export them: `forecast check` prints what reads them, at the first try."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

pytestmark = pytest.mark.slow


def values(rows: int, level: float = 50.0) -> np.ndarray:
    noise = np.random.default_rng(0).normal(scale=0.1, size=rows)
    return (level + 5 * np.sin(2 * np.pi * np.arange(rows) / 24) + noise).round(3)


def comma(number: float, digits: int = 1) -> str:
    return f"{number:.{digits}f}".replace(".", ",")


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
    return "\n".join(
        [",".join(["year", "artist", "track", "date.entered", *(f"wk{at}" for at in range(1, 41))]), *lines]
    )


def of_shops() -> str:
    """As the sales of the M5: the days beside five names, none of them a date."""
    days = [f"d_{at}" for at in range(1, 61)]
    rows = [
        f"{name}_{store},{name},{store}," + ",".join(map(str, np.arange(60) % 7)) for name in "abc" for store in "xy"
    ]
    return "\n".join([",".join(["id", "item_id", "store_id", *days]), *rows])


def of_meat() -> str:
    """Columns that begin many rows below the others: no row without them is a title."""
    days, numbers = pd.date_range("2020-01-01", periods=100, freq="MS"), values(100)
    rows = [
        f"{day:%Y-%m-%d},{numbers[at]},{numbers[-at]}" + (",3.5" if at >= 40 else ",") for at, day in enumerate(days)
    ]
    return "\n".join(["date,beef,pork,turkey", *rows])


def of_features() -> str:
    """Weeks before as covariates of weeks: the date is the time."""
    demand = values(160)
    dates = pd.date_range("2020-01-06", periods=150, freq="7D")
    rows = [
        f"{day:%Y-%m-%d},{demand[at + 10]}," + ",".join(map(str, demand[at : at + 10])) for at, day in enumerate(dates)
    ]
    return "\n".join([",".join(["date", "demand", *(f"week_{at}" for at in range(10, 0, -1))]), *rows])


def of_flights() -> str:
    at = np.sort(np.random.default_rng(2).integers(0, 90 * 86_400, 3000))
    times = pd.Timestamp("2013-01-01") + pd.to_timedelta(at, unit="s")
    numbers = np.random.default_rng(3).integers(1, 6000, 3000)
    rows = [f"{t:%Y-%m-%d %H:%M:%S},{n},{d}" for t, n, d in zip(times, numbers, values(3000), strict=True)]
    return "\n".join(["time_hour,flight,air_time", *rows])


def of_stores() -> str:
    """As Rossmann's: the kinds of holidays are words among zeros."""
    days = pd.date_range("2014-07-31", "2013-10-01", freq="-1D")
    kinds = {1: "a", 11: "b", 25: "c"}
    rows = [
        f"{store},{day:%Y-%m-%d},{100 * store + day.day},{kinds.get(day.day, '0')}" for day in days for store in (1, 2)
    ]
    return "\n".join(["Store,Date,Sales,StateHoliday", *rows])


def of_an_american_grid() -> str:
    """An hour stands twice on the day in November."""
    hours = pd.date_range("2022-10-20", periods=24 * 30, freq="h", tz="America/New_York")
    rows = [f"{hour:%m/%d/%Y %H:%M},{value}" for hour, value in zip(hours, values(len(hours)), strict=True)]
    return "\n".join(["Time Stamp,Load", *rows])


def of_settlement_periods() -> str:
    """As Elexon's: half-hours of a day from 1 to 48, and 50 of them on the day in October."""
    days = pd.date_range("2022-10-20", periods=20)
    rows = [
        f"{day:%Y-%m-%d},{period},{30_000 + 100 * period + day.day % 3}"
        for day in days
        for period in range(1, 51 if day == pd.Timestamp("2022-10-30") else 49)
    ]
    return "\n".join(["Settlement Date,Settlement Period,Demand", *rows])


def of_fuel_prices() -> str:
    days = pd.date_range("2019-01-07", periods=120, freq="7D")
    rows = [f"{day:%d/%m/%Y};{comma(1 + at % 7 / 100, 3)};" for at, day in enumerate(days)]
    return "\n".join(["Data;Prezzo medio;Note", *rows])


def of_air_quality() -> str:
    """As the UCI's: -200 is no value, delimiters stand behind the last cell, and empty rows below the others."""
    hours = pd.date_range("2004-03-10 18:00", periods=400, freq="h")
    rows = []
    for at, (hour, value) in enumerate(zip(hours, values(400, 10.0), strict=True)):
        cells = ["-200", "-200"] if 50 <= at < 60 else [comma(value), comma(value / 2)]
        rows.append(f"{hour:%d/%m/%Y};{hour:%H.%M.%S};" + ";".join(cells) + ";;")
    return "\n".join(["Date;Time;CO;T;;", *rows, *[";;;;;"] * 30])


def of_a_central_bank() -> str:
    """As the Bundesbank's older files: what the column is stands between its code and its rows."""
    head = [";BBK01.WT5511;FLAGS", ";Preis des Goldes;", ";Kein Wert vorhanden;", "Einheit;USD;", "Dimension;Eins;"]
    days = pd.bdate_range("2021-01-04", periods=200)
    rows = [f"{day:%Y-%m-%d};{comma(value)};" for day, value in zip(days, values(200, 1800.0), strict=True)]
    return "\n".join([*head, "Stand vom;02.05.2023 12:00:00 Uhr;", *rows])


def of_a_statistical_office() -> str:
    """As INSEE's: lines of two fields above rows of three."""
    head = ['"Libellé";"Indice"', '"idBank";"001759970"', '"Période";""']
    months = pd.date_range("2005-01-01", periods=120, freq="MS")
    rows = [f'"{month:%Y-%m}";"{value}";"A"' for month, value in zip(months, values(120), strict=True)]
    return "\n".join([*head, *rows[::-1]])


def of_a_weather_service() -> str:
    """As the German Weather Service's: days as eight digits, in a column that is not called a time."""
    days = pd.date_range("2019-01-01", periods=200)
    rows = [f"        433;{day:%Y%m%d};   10;{value:6.1f};eor" for day, value in zip(days, values(200), strict=True)]
    return "\n".join(["STATIONS_ID;MESS_DATUM;QN_4; TMK;eor", *rows])


def of_a_broker() -> str:
    """As Stooq's: date and clock are digits."""
    days = pd.bdate_range("2023-01-02", periods=60)
    rows = [f"A.US,{day:%Y%m%d},{hour:02d}0000,{100 + hour + day.day}" for day in days for hour in range(9, 17)]
    return "\n".join(["<TICKER>,<DATE>,<TIME>,<CLOSE>", *rows])


def of_a_trading_program() -> str:
    """As MetaTrader's: no header, and the first row has a price twice."""
    hours = pd.date_range("2023-01-02", periods=300, freq="h")
    rows = [f"{hour:%Y.%m.%d},{hour:%H:%M},{v},{v},{v + 1}" for hour, v in zip(hours, values(300), strict=True)]
    return "\n".join(rows)


def of_a_spreadsheet() -> str:
    """Titles as wide as the rows, marks of thousands, and sums below the rows."""
    days = pd.date_range("2021-01-01", periods=200)
    rows = [f'{day:%d.%m.%Y},"{1200 + at % 50:,}","{2400 + at % 30:,}"' for at, day in enumerate(days)]
    return "\n".join(["Sales report,,", ",,", "Date,Store A,Store B", *rows, 'Total,"300,000","1,000,000"'])


def of_a_consumer_price_index() -> str:
    """As GENESIS writes it: titles with some delimiters, names in two lines, sources below the rows."""
    head = ["Tabelle: 61111-0002", "Verbraucherpreisindex: Deutschland, Monate;;;", "Deutschland;;;"]
    names = [";;Verbraucherpreisindex;Veränderung", ";;2020=100;in (%)"]
    months = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November")
    months += ("Dezember",)
    rows = [f"{2010 + at // 12};{months[at % 12]};{comma(v)};{comma(v % 3)}" for at, v in enumerate(values(120))]
    return "\n".join([*head, *names, *rows, "__________", "© Statistisches Bundesamt (Destatis), 2023"])


def of_cost_centres() -> str:
    """Months with slashes as columns beside numbers that count the rows."""
    months = [f"{month:%m/%Y}" for month in pd.date_range("2020-01-01", periods=40, freq="MS")]
    rows = [f"{4100 + at};Unit {at};" + ";".join(map(str, values(40, 10.0 * at).round())) for at in range(1, 7)]
    return "\n".join([";".join(["Centre", "Name", *months]), *rows])


def of_censuses() -> str:
    """A value of several years, ten apart, beside other numbers."""
    names = ",".join(f"gdp{year}" for year in range(1930, 2020, 10))
    rows = [f"state {at}," + ",".join(map(str, values(9, 9.0 * at))) + f",{at % 4}" for at in range(1, 9)]
    return "\n".join([f"State,{names},zone", *rows])


def of_a_heart_monitor() -> str:
    """A clock in milliseconds, and a heart rate whose name is short for the hour."""
    return "\n".join(["timer,hr", *(f"{8.5479 * at:.4f},{int(value)}" for at, value in enumerate(values(300, 80.0)))])


def of_an_ocean_index() -> str:
    """A title as wide as the rows, of which the first one has a whole year."""
    months = pd.date_range("1951-01-01", periods=120, freq="MS")
    rows = [f"{m:%Y%m},{m.year + (m.month - 1) / 12:.6g},{v}" for m, v in zip(months, values(120, 0.0), strict=True)]
    return "\n".join(["Ocean Index (OI),,", "Date,Year,Value", *rows])


def of_a_price_index() -> str:
    """Titles as wide as the rows, of which the first one is nearly empty."""
    months = "JAN,FEB,MAR,APR,MAY,JUNE,JULY,AUG,SEP,OCT,NOV,DEC"
    rows = [f"{1978 + at}," + ",".join(map(str, values(12, 100.0 + at))) + ",99.5" for at in range(20)]
    head = ["Price Index,,,,,,,,,,,,,", "All items,,,,,,,,,,,,,", f"YEAR,{months},AVG", "1977,,,,,,,,,,,,100.1,"]
    return "\n".join([*head, *rows])


def of_a_solar_portal() -> str:
    """The delimiter is named first, and lines without it follow."""
    days = pd.date_range("2021-01-01", periods=100)
    rows = [f"{day:%d.%m.%Y};{comma(value, 3)}" for day, value in zip(days, values(100), strict=True)]
    return "\n".join(["sep=;", "Version CSV|Tool PORTAL|Delimiter semicolon", "", "Period;Yield [kWh]", *rows])


def of_an_exchange_rate_service() -> str:
    """A title and a source around columns between blanks, one of them the number of the day."""
    days = pd.bdate_range("1997-01-02", periods=120)
    rows = [f"{int(d.to_julian_date())} {d:%Y/%m/%d} {d:%a} {v}" for d, v in zip(days, values(120), strict=True)]
    return "\n".join(
        ["PACIFIC Exchange Rate Service", "Jul.Day YYYY/MM/DD Wdy GBP/USD", *rows, "(C) 2015 by a professor"]
    )


def of_a_wristband() -> str:
    """Settings as wide as the rows stand above them, among them the names of their columns."""
    seconds = pd.date_range("2000-01-27 19:00", periods=200, freq="s")
    rows = [f"{second},{value},5{at % 3}" for at, (second, value) in enumerate(zip(seconds, values(200), strict=True))]
    head = ["Start: 2000-01-27 19:00:00", "", "Serial number:,my,my", "Name:,Acceleration,Light", "Group:,0,1"]
    head += ["Type:,0+1,3", "Sample rate:,10,10", "Store rate:,1,1", "Binning mode:,Sum,Average", "Bins:,0,0", ""]
    return "\n".join([*head, *rows])


def of_a_sensor_network() -> str:
    """Names between blanks above rows between tabs."""
    return "\n".join(["Reading# Mote-ID Humidity", *(f"{at}\t3\t{v}" for at, v in enumerate(values(90), 1))])


def of_a_customer_database() -> str:
    """Quoted amounts with a mark of thousands, and notes below them."""
    days = pd.date_range("2022-01-03", periods=60, freq="7D")
    rows = [f'"Deal {at}","{1000 + 37 * at:,}.00","{d.month}/{d.day}/{d.year}"' for at, d in enumerate(days)]
    return "\n".join(
        ['"Name","Amount","Close Date"', *rows, "", '"All deals"', '"Confidential"', '"By:  Jane  1/5/2023"']
    )


def of_a_resource_plan() -> str:
    """A title above lines that are drawn with dashes alone, and bars at both ends of the rows."""
    months = pd.date_range("2018-01-01", periods=40, freq="MS")
    rows = [f"|{name}|{m:%m.%Y}| 1.{500 + 9 * m.month:03d},000|" for m in months for name in ("100-200", "100-300")]
    rule = "-" * 30
    return "\n".join(["Consumption", "", rule, "|Material|Month|Quantity|", rule, *rows, rule])


def of_a_hospital() -> str:
    """Patients are numbered, and each came at some minute."""
    at = np.cumsum(np.random.default_rng(4).integers(2, 38, 600))
    times = pd.Timestamp("2023-01-01") + pd.to_timedelta(at, unit="min")
    rows = [
        f"{1000 + at};{t:%d.%m.%Y %H:%M};{value}" for at, (t, value) in enumerate(zip(times, values(600), strict=True))
    ]
    return "\n".join(["Case;Admitted;Pulse", *rows])


def of_a_call_centre() -> str:
    """Half-hours from one time of day to the next."""
    rows = [
        f"{queue},{day:%d-%b-%y},{hour:02d}:{minute:02d}-{hour + minute // 30:02d}:{30 - minute:02d},{hour + day.day}"
        for day in pd.bdate_range("2023-02-01", periods=20)
        for hour in range(8, 18)
        for minute in (0, 30)
        for queue in ("Billing", "Support")
    ]
    return "\n".join(["Queue,Date,Interval,Offered", *rows])


def of_a_development_bank() -> str:
    """Empty rows and a source below the others, as wide as they."""
    years = ",".join(f"{year} [YR{year}]" for year in range(2000, 2020))
    rows = [f"land {at},L{at}," + ",".join(map(str, values(20, 5.0 * at))) for at in range(1, 9)]
    return "\n".join(
        [f"Country Name,Country Code,{years}", *rows, *["," * 21] * 2, "Last Updated: 04/09/2020" + "," * 21]
    )


def of_a_crop_model() -> str:
    """Years and days of the year, without names."""
    days = pd.date_range("1981-05-20", periods=400)
    return "\n".join(f"{d.year}\t{d.day_of_year}\t{v}" for d, v in zip(days, values(400), strict=True))


def of_a_catchment() -> str:
    """As Fortran writes it: day, month and year without names, all with an exponent."""
    days = pd.date_range("1952-01-01", periods=500)
    return "\n".join(
        " ".join(f"{number:.7e}" for number in (day.day, day.month, day.year, value))
        for day, value in zip(days, values(len(days)), strict=True)
    )


def of_a_greenhouse_gas() -> str:
    """Year, month and day of weeks between blanks below comments, without names."""
    days = pd.date_range("2001-01-07", periods=120, freq="7D")
    rows = [
        f"  {d:%Y  %m  %d}  {d.year + d.day_of_year / 365:.4f}  {v}" for d, v in zip(days, values(120), strict=True)
    ]
    return "\n".join(["# USE OF DATA", "#", "# The week, with its middle, in ppm", *rows])


def of_an_exchange() -> str:
    """Days with nothing but their year: no other column may name the rows of a panel."""
    lagged = values(600)
    rows = [f"{2001 + at // 200},{lagged[at - 1]},{lagged[at]},{'Up' if at % 3 else 'Down'}" for at in range(600)]
    return "\n".join(["Year,Lag1,Today,Direction", *rows])


def of_a_climate_laboratory() -> str:
    """The first and the last year above rows of years and twelve months without names, the mark of no value below."""
    rows = [f" {1960 + at} " + " ".join(f"{v:8.2f}" for v in values(12, at)) for at in range(45)]
    rows[-1] = rows[-1][:-8] + "  -99.99"
    rows[-1] = rows[-1].replace(rows[-1].split()[-2], "-99.99")
    return "\n".join(["  1960  2004", *rows, "  -99.99", "  An index of the sea", "  https://example.org/index"])


def of_a_rota() -> str:
    """Days of the week as columns, of which the first one is short for a month, too."""
    weeks = pd.date_range("2022-01-03", periods=60, freq="7D")
    rows = [f"{week:%d/%m/%Y}," + ",".join(map(str, values(7, at))) for at, week in enumerate(weeks)]
    return "\n".join(["Week starting,Mon,Tue,Wed,Thu,Fri,Sat,Sun", *rows])


def of_a_database() -> str:
    """A table drawn with dashes and bars, and the number of its rows below."""
    hours = pd.date_range("2023-01-01", periods=90, freq="h")
    rows = [f" {hour:%Y-%m-%d %H:%M:%S} | {value:7.2f} " for hour, value in zip(hours, values(90), strict=True)]
    return "\n".join(["        day          |  min    ", "---------------------+---------", *rows, "(90 rows)"])


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
    return "\n".join([*titles, '"date/time","type","sku","total"', *rows])


def of_a_sensor_in_india() -> str:
    """Hours with the name of a zone that means several offsets, but one in all rows."""
    hours = pd.date_range("2024-01-01", periods=400, freq="h")
    rows = [f"{hour:%d/%m/%Y %H:%M} IST,{value}" for hour, value in zip(hours, values(400), strict=True)]
    return "\n".join(["when,level", *rows])


def of_r() -> str:
    """As R writes a table: the numbers of the rows have no name, and names may be numbers."""
    rows = [f'"{at}" {value} {value / 2:.3f}' for at, value in enumerate(values(90), 1)]
    return "\n".join(['"8336" "8337"', *rows])


def of_a_meteorological_institute() -> str:
    """As KNMI's: names stand in the last comment but for a mark alone."""
    rows = [
        f"  260,{day:%Y%m%d},{value:5.0f}"
        for day, value in zip(pd.date_range("2022-01-01", periods=90), values(90), strict=False)
    ]
    return "\n".join(["# Source: institute", "#", "# FG : speed", "# STN,YYYYMMDD,   FG", "#", *rows])


def of_a_swedish_station() -> str:
    """As SMHI's: tables of a row each above the names, of which one is empty, and remarks behind the first rows."""
    hours = pd.date_range("2023-01-01", periods=400, freq="h")
    rows = [f"{hour:%Y-%m-%d;%H:%M:%S};{value};G;;" for hour, value in zip(hours, values(400), strict=True)]
    rows[:3] = [row + remark for row, remark in zip(rows, ("Kontrollerade data", "Tid = UTC", "Timme"), strict=False)]
    above = [
        *("Stationsnamn;Stationsnummer;Nät;Höjd", "Stockholm;98230;SMHI;2.0", ""),
        *("Parameternamn;Beskrivning;Enhet", "Lufttemperatur;momentan;celsius", ""),
        *("Tid (fr.o.m);Tid (t.o.m);Latitud", "1996-10-01 00:00:00;2025-12-01 06:00:00;59.34", ""),
    ]
    return "\n".join([*above, "Datum;Tid (UTC);Lufttemperatur;Kvalitet;;Tidsutsnitt:", *rows])


def of_an_actigraph() -> str:
    """Settings in two cells far above the names, a delimiter behind each row, and no score in the first minutes."""
    times = pd.date_range("2015-07-24 09:45", periods=300, freq="30s")
    settings = [f'"Setting {at}:","{at * 7}"' for at in range(30)]
    names = '"Line","Date","Time","Activity","Sleep","Interval",'
    rows = [
        f'"{at}","{time:%d/%m/%Y}","{time:%H:%M:%S}","{value}","{"NaN" if at < 6 else at % 2}","ACTIVE",'
        for at, (time, value) in enumerate(zip(times, values(300), strict=True), 1)
    ]
    return "\n".join([*settings, "", names, "", *rows])


def of_national_accounts() -> str:
    """As the BEA's: titles, years above quarters as columns, and notes that are many for so few rows."""
    years, quarters = (",".join(map(str, each)) for each in (np.repeat(range(2010, 2020), 4), ["Q1,Q2,Q3,Q4"] * 10))
    names = ("Product", "Consumption", "  Goods", "  Services", "Investment", "Exports", "Government")
    rows = [f"{at},{name}," + ",".join(map(str, values(40, 50 * at))) for at, name in enumerate(names, 1)]
    titles = ["Table 1.1.5. Product", "[Billions of dollars]", '"Last Revised on: May 1, 2025 - Next: June 1"']
    return "\n".join([*titles, f"Line,,{years}", f",,{quarters}", *rows, "Legend / Footnotes:", "Note. Revised."])


def of_a_market_operator() -> str:
    """As AEMO's: records of a comment, of names and of rows, which begin alike."""
    stamps = pd.date_range("2024-08-01", periods=150, freq="5min").strftime("%Y/%m/%d %H:%M:%S")
    rows = [
        f'D,DISPATCH,PRICE,5,"{stamp}",{region},{value}'
        for stamp, value in zip(stamps, values(150), strict=False)
        for region in ("NSW1", "QLD1")
    ]
    names = "I,DISPATCH,PRICE,5,SETTLEMENTDATE,REGIONID,RRP"
    return "\n".join(["C,NEMP,DISPATCHIS,2024/08/02", names, *rows, 'C,"END OF REPORT",302'])


def of_sea_ice() -> str:
    """As the NSIDC's: units of year, month and day below their names."""
    days = pd.date_range("2020-01-01", periods=400)
    rows = [f"{day:%Y,    %m,  %d},     {value:.3f},  0.000" for day, value in zip(days, values(400, 14), strict=False)]
    return "\n".join(["Year, Month, Day, Extent, Missing", "YYYY, MM, DD, 10^6 sq km, 10^6 sq km", *rows])


def of_a_power_exchange() -> str:
    """As Nord Pool's: titles in the first cell, and the first column without a name."""
    hours = pd.date_range("2020-01-01", periods=120, freq="h")
    rows = [
        f"{hour:%d-%m-%Y;%H} - {(hour.hour + 1) % 24:02d};{comma(value, 2)};{comma(value + 3, 2)}"
        for hour, value in zip(hours, values(120), strict=False)
    ]
    return "\n".join(["Prices in EUR/MWh;;;", "Hourly;;;", ";Hours;SE3;FI", *rows])


def of_network_traffic() -> str:
    """As PRTG's: from one time of day to the next, with halves of the day, and sums below."""
    hours = pd.date_range("2024-02-01", periods=97, freq="h")
    rows = [
        f'"{start:%-m/%-d/%Y %-I:%M:%S %p} - {end:%-I:%M:%S %p}","{value * 100:,.2f} MB","0 %"'
        for start, end, value in zip(hours, hours[1:], values(96), strict=False)
    ]
    return "\n".join(['"Date Time","Traffic","Downtime"', *rows, '"Sums (of 96 values)","480,000.00 MB",""'])


def of_turbulence() -> str:
    """As EddyPro's: groups above the names and units below them; names of files begin with a date."""
    stamps = pd.date_range("2023-07-01 00:30", periods=200, freq="30min")
    rows = [
        f"{'not_enough_data' if at < 3 else f'{stamp:%Y-%m-%dT%H%M%S}_AIU-1.ghg'},{stamp:%Y-%m-%d,%H:%M},{value},0"
        for at, (stamp, value) in enumerate(zip(stamps, values(200), strict=False))
    ]
    return "\n".join(["file_info,,,fluxes,", "filename,date,time,H,qc_H", ",[yyyy-mm-dd],[HH:MM],[W+1m-2],[#]", *rows])


READ: dict[Callable[[], str], tuple[dict[str, object], str]] = {
    of_charts: (
        {"layout": "rows", "item_id": "artist,track"},
        "the rows as 60 series, 12 steps of 1 row ahead",
    ),
    of_shops: ({"layout": "rows", "season": "7"}, "the rows as 6 series, 12 steps of 1 row ahead"),
    of_meat: ({"target": "beef", "missing": "mask"}, "'beef', 12 steps of 1 month ahead"),
    of_features: ({}, "'demand', 13 steps of 1 week ahead"),
    of_flights: (
        {"target": "air_time", "resample": "D"},
        "'air_time', mean of each 1 day, 7 steps of 1 day ahead",
    ),
    of_stores: (
        {"item_id": "Store", "categorical": ("StateHoliday",)},
        "'Sales' of 2 series told apart by 'Store', 7 steps of 1 day ahead",
    ),
    of_an_american_grid: (
        {"tz": "America/New_York"},
        "'Load', 24 steps of 1 hour ahead, if America/New_York is the zone, not that of Chicago, Denver or Los_Angeles",
    ),
    of_settlement_periods: (
        {"time": "Settlement Date,Settlement Period", "tz": "Europe/London"},
        "'Demand', 48 steps of 30 minutes ahead",
    ),
    of_fuel_prices: (
        {"decimal": ","},
        "'Prezzo medio', 13 steps of 1 week ahead, with ',' before decimals",
    ),
    of_air_quality: (
        {"skip_footer": 30, "na": ("-200",), "time": "Date,Time", "target": "CO"},
        "'CO', 24 steps of 1 hour ahead, with '-200' as no value",
    ),
    of_a_central_bank: (
        {"skip_rows": 6, "header": False, "delimiter": "semicolon"},
        "'column_2', 5 steps of 1 business day ahead",
    ),
    of_a_statistical_office: ({"skip_rows": 3, "header": False}, "'column_2', 12 steps of 1 month ahead"),
    of_a_weather_service: ({"time": "MESS_DATUM", "target": "TMK"}, "'TMK', 7 steps of 1 day ahead"),
    of_a_broker: ({"time": "<DATE>,<TIME>"}, "'<CLOSE>', 8 steps of 1 hour ahead"),
    of_a_trading_program: (
        {"header": False, "time": "column_1,column_2", "wide": True},
        "3 columns as one series each ('column_3', 'column_4', 'column_5'), 24 steps of 1 hour ahead",
    ),
    of_a_spreadsheet: (
        {"skip_rows": 2, "decimal": ".", "skip_footer": 1, "wide": True},
        "2 columns as one series each ('Store A', 'Store B'), 7 steps of 1 day ahead, with '.' before decimals",
    ),
    of_a_consumer_price_index: (
        {
            "skip_rows": 3,
            "skip_footer": 2,
            "header_rows": 2,
            "time": "Unnamed: 0,Unnamed: 1",
            "target": "Verbraucherpreisindex 2020=100",
        },
        "'Verbraucherpreisindex 2020=100', 12 steps of 1 month ahead",
    ),
    of_cost_centres: ({"layout": "rows"}, "the rows as 6 series, 12 steps of 1 month ahead"),
    of_censuses: ({"layout": "rows"}, "the rows as 8 series, 3 steps of 10 years ahead"),
    of_a_heart_monitor: (
        {"time": "timer", "date_format": "8.5479"},
        "'hr', 12 steps of 1 row ahead, with 'timer' counted in steps of 8.5479",
    ),
    of_an_ocean_index: ({"skip_rows": 1, "date_format": "%Y%m"}, "'Value', 12 steps of 1 month ahead"),
    of_a_price_index: (
        {"skip_rows": 2, "layout": "calendar"},
        "the cells as one series, 12 steps of 1 month ahead",
    ),
    of_a_solar_portal: (
        {"skip_rows": 2, "decimal": ","},
        "'Yield [kWh]', 7 steps of 1 day ahead, with ',' before decimals",
    ),
    of_an_exchange_rate_service: (
        {"delimiter": "blanks", "skip_rows": 1, "skip_footer": 1, "target": "GBP/USD"},
        "'GBP/USD', 5 steps of 1 business day ahead",
    ),
    of_a_wristband: (
        {"skip_rows": 3, "undated_rows": "drop", "target": "Acceleration"},
        "'Acceleration', 47 steps of 1 second ahead, without the rows that have no time",
    ),
    of_a_sensor_network: (
        {"delimiter": "blanks", "time": "Reading#", "target": "Humidity"},
        "'Humidity', 12 steps of 1 row ahead, if 'Reading#' counts time",
    ),
    of_a_customer_database: (
        {"skip_footer": 3, "decimal": "."},
        "'Amount', 13 steps of 1 week ahead, with '.' before decimals",
    ),
    of_a_resource_plan: (
        {"skip_rows": 3, "comment": "--", "decimal": ",", "item_id": "Material"},
        "'Quantity' of 2 series told apart by 'Material', 12 steps of 1 month ahead, with ',' before decimals",
    ),
    of_a_hospital: (
        {"target": "Pulse", "date_format": "day-first", "resample": "30min", "missing": "mask"},
        "'Pulse', mean of each 30 minutes, 48 steps of 30 minutes ahead",
    ),
    of_a_call_centre: (
        {"time": "Date,Interval", "item_id": "Queue"},
        "'Offered' of 2 series told apart by 'Queue', 20 steps of 30 minutes ahead",
    ),
    of_a_climate_laboratory: (
        {
            "delimiter": "blanks",
            "header": False,
            "skip_rows": 1,
            "skip_footer": 3,
            "na": ("-99.99",),
            "layout": "calendar",
        },
        "the cells as one series, 12 steps of 1 month ahead, with '-99.99' as no value",
    ),
    of_a_rota: ({"layout": "calendar"}, "the cells as one series, 7 steps of 1 day ahead"),
    of_a_database: ({"comment": "--", "skip_footer": 1}, "'min', 22 steps of 1 hour ahead"),
    of_an_exchange: (
        {"time": "row-number", "target": "Today"},
        "'Today', 12 steps of 1 row ahead, if the rows are in the order of time",
    ),
    of_a_crop_model: (
        {"header": False, "time": "column_1,column_2"},
        "'column_3', 7 steps of 1 day ahead",
    ),
    of_a_catchment: (
        {"delimiter": "blanks", "header": False, "time": "column_3,column_2,column_1"},
        "'column_4', 7 steps of 1 day ahead",
    ),
    of_a_greenhouse_gas: (
        {
            "delimiter": "blanks",
            "header": False,
            "comment": "#",
            "time": "column_1,column_2,column_3",
            "target": "column_5",
        },
        "'column_5', 13 steps of 1 week ahead",
    ),
    of_a_seller: (
        {"skip_rows": 3, "resample": "D", "aggregate": "sum", "missing": "zero"},
        "'total', sum of each 1 day, 7 steps of 1 day ahead",
    ),
    of_a_sensor_in_india: ({"date_format": "%d/%m/%Y %H:%M IST"}, "'level', 24 steps of 1 hour ahead"),
    of_r: (
        {"delimiter": "blanks", "time": "Unnamed: 0", "target": "8336"},
        "'8336', 12 steps of 1 row ahead, if the rows are in the order of time",
    ),
    of_a_meteorological_institute: (
        {"skip_rows": 3, "header_rows": 2, "time": "YYYYMMDD", "target": "FG"},
        "'FG', 7 steps of 1 day ahead",
    ),
    of_a_swedish_station: (
        {"skip_rows": 9, "time": "Datum,Tid (UTC)"},
        "'Lufttemperatur', 24 steps of 1 hour ahead",
    ),
    of_an_actigraph: (
        {"skip_rows": 31, "time": "Date,Time", "target": "Activity"},
        "'Activity', 12 steps of 30 seconds ahead",
    ),
    of_national_accounts: (
        {"skip_rows": 3, "skip_footer": 2, "header_rows": 2, "layout": "rows"},
        "the rows as 7 series, 4 steps of 1 quarter ahead",
    ),
    of_a_market_operator: (
        {"skip_rows": 1, "skip_footer": 1, "item_id": "REGIONID", "target": "RRP"},
        "'RRP' of 2 series told apart by 'REGIONID', 37 steps of 5 minutes ahead",
    ),
    of_sea_ice: (
        {"undated_rows": "drop", "time": "Year,Month,Day", "target": "Extent"},
        "'Extent', 7 steps of 1 day ahead, without the rows that have no time",
    ),
    of_a_power_exchange: (
        {"skip_rows": 2, "time": "Unnamed: 0,Hours", "target": "SE3", "date_format": "day-first"},
        "'SE3', 24 steps of 1 hour ahead",
    ),
    of_network_traffic: (
        {"decimal": ".", "skip_footer": 1, "target": "Traffic", "date_format": "month-first"},
        "'Traffic', 24 steps of 1 hour ahead, with '.' before decimals",
    ),
    of_turbulence: (
        {"skip_rows": 1, "undated_rows": "drop", "time": "date,time", "target": "H"},
        "'H', 48 steps of 30 minutes ahead, without the rows that have no time",
    ),
    of_a_development_bank: (
        {"skip_footer": 3, "layout": "rows"},
        "the rows as 8 series, 3 steps of 1 year ahead",
    ),
}


@pytest.mark.parametrize("make", READ, ids=lambda make: make.__name__)
def test_the_first_command_reads_an_export(tmp_path: Path, make: Callable[[], str]) -> None:
    path = tmp_path / "table.csv"
    path.write_text(make() + "\n", encoding="utf-8")
    proposal = find_proposals(path, DataConfig())[0]
    assert (dict(proposal.options), proposal.forecasts) == READ[make]


def of_a_weather_agency() -> str:
    days, numbers = pd.date_range("2023-01-01", periods=200), values(200)
    rows = [f"{day.year}/{day.month}/{day.day},{number},8,1" for day, number in zip(days, numbers, strict=True)]
    titles = ["ダウンロードした時刻：2025/02/03 10:12:44", "", ",東京,東京,東京"]
    return "\r\n".join([*titles, "年月日,平均気温(℃),平均気温(℃),平均気温(℃)", ",,品質情報,均質番号", *rows])


def of_an_exchange_in_taiwan() -> str:
    days, numbers = pd.bdate_range("2024-01-02", periods=200), values(200)
    rows = [
        f'"{day.year - 1911}/{day:%m/%d}","26,{at:03d},273","{numbers[at]:.2f}","+{at}.00",'
        for at, day in enumerate(days)
    ]
    notes = [
        '"說明:"',
        '"符號說明:+/-/X表示漲/跌/不比價"',
        '"當日統計資訊含一般、零股、盤後定價、鉅額交易，不含拍賣、標購。"',
    ]
    titles = ['"113年01月 2330 台積電           各日成交資訊"', '"日期","成交股數","收盤價","漲跌價差",']
    return "\r\n".join([*titles, *rows, *notes])


@pytest.mark.parametrize(
    ("make", "encoding", "options"),
    [
        (of_a_weather_agency, "cp932", {"skip_rows": 2, "header_rows": 3, "target": "東京 平均気温(℃)"}),
        (of_an_exchange_in_taiwan, "cp950", {"skip_rows": 1, "skip_footer": 3, "decimal": ".", "target": "收盤價"}),
    ],
    ids=["cp932", "cp950"],
)
def test_an_export_in_an_encoding_of_east_asia_is_read_as_in_utf_8(
    tmp_path: Path, make: Callable[[], str], encoding: str, options: dict[str, object]
) -> None:
    path = tmp_path / "table.csv"
    for each in ("utf-8", encoding):
        path.write_bytes((make() + "\r\n").encode(each))
        proposal = find_proposals(path, DataConfig())[0]
        assert dict(proposal.options) == options, each
    assert proposal.forecasts.startswith(f"'{options['target']}'")


def test_training_says_that_whole_numbers_may_be_days_of_a_spreadsheet(forecast: Callable, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("Date,y\n" + "\n".join(f"{44_000 + at},{value}" for at, value in enumerate(values(90))))
    notes = json.loads(forecast("check", path, "--json").out)["findings"]
    message = "column 'Date' may hold days of a spreadsheet, from 2020-06-18 on; it is read as steps"
    assert [note["message"] for note in notes if note["code"] == "FA212"] == [message]


@pytest.mark.parametrize(
    ("head", "row"),
    [
        (
            '# Downloaded on 2020-02-05\n\n"Date","Price"',
            '"{day:%Y-%m-%d}",25,{at}525',
        ),  # decimal commas without quotes: the cents are no column
        ("Date,SPX,,Date,VIX", "{day:%Y-%m-%d},{at},,{later:%Y-%m-%d},{at}.5"),  # two tables, each with its dates
        ("Country,1990 [YR1990],2000 [YR2000],2010 [YR2010],2013 [YR2013]", "land {at},{at},{at}.5,{at}.7,{at}.1"),
    ],
)
def test_what_would_be_read_wrong_is_refused(tmp_path: Path, head: str, row: str) -> None:
    path = tmp_path / "table.csv"
    days = pd.date_range("2008-04-07", periods=130, freq="7D")
    later = days + pd.Timedelta(days=1)
    rows = [
        row.format(day=days[at], later=later[at], at=at, year=2000 + at // 13, month=at % 13 + 1) for at in range(130)
    ]
    path.write_text("\n".join([head, *rows]) + "\n")
    assert find_proposals(path, DataConfig()) == ()


def test_lines_below_the_rows_of_utf_16_are_counted(tmp_path: Path) -> None:
    rows = [f"L{at}\t" + "\t".join(f"1,{at}00.{year % 100:02d}" for year in range(1990, 2020)) for at in range(1, 6)]
    lines = ["ISO\t" + "\t".join(map(str, range(1990, 2020))), *rows, "", "A source, April 2024"]
    path = tmp_path / "table.xls"
    path.write_text("\n".join(lines) + "\n", encoding="utf-16")
    assert find_proposals(path, DataConfig())[0].num_series == 5


@pytest.mark.parametrize(
    ("lines", "options"),
    [
        (["Settings", "", "Date,Line,y", "", *(f"2015-07-0{at},{at},NaN" for at in range(1, 7))], {"skip_rows": 2}),
        (["Sensitivity is 1.5", "", "Date; Line; y"], {"skip_rows": 2}),
        (["Date,Line,y"], {}),
    ],
)
def test_rows_are_no_lines_around_them(tmp_path: Path, lines: list[str], options: dict[str, object]) -> None:
    """Neither first rows without a value below a blank line, nor rows between blanks, nor last dates without values."""
    mark, days = ("; " if "; " in lines[-1] else ","), pd.date_range("2015-07-07", periods=62)
    cells = [*zip(range(7, 67), values(60), strict=True), ("", ""), ("", "")]
    rows = [mark.join((f"{day:%Y-%m-%d}", *map(str, row))) for day, row in zip(days, cells, strict=True)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join([*lines, *rows]) + "\n")
    around = ("skip_rows", "skip_footer", "header", "delimiter")
    proposed = find_proposals(path, DataConfig())[0].options
    assert {name: proposed[name] for name in around if name in proposed} == options
