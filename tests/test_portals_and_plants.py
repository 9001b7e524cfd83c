"""`forecast check` reads portals, plants and rivers: months across, letters of trades, sums of sorted rows."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from .made_columns import RNG, days, noise


def segments_sorted_by_departures() -> str:
    """Each month's rows are sorted by their numbers, and carriers fly a route together."""
    lines = [
        f"{number * 40},{number},{carrier},{origin},{month.year},{month.month},{group}"
        for month in pd.date_range("2014-01", periods=30, freq="MS")
        for number, carrier, origin, group in zip(
            sorted(RNG.integers(3, 400, 40)),
            RNG.choice(["UA", "AS", "HA"], 40),
            RNG.choice(["LAX", "SFO"], 40),
            RNG.choice([1, 2], 40),
            strict=True,
        )
    ]
    return "\n".join(["PASSENGERS,DEPARTURES,CARRIER,ORIGIN,YEAR,MONTH,GROUP", *lines])


def rooms_and_outdoors() -> str:
    """Minutes of a thermometer indoors and one outdoors, some of them several times, by one column of names."""
    stamps = pd.Timestamp("2018-07-28") + pd.to_timedelta(np.sort(RNG.integers(0, 54 * 1440, 2500)), "min")
    names = RNG.choice(["In", "Out"], 2500, p=[0.3, 0.7])
    numbers = np.where(names == "In", RNG.normal(30, 2, 2500), RNG.normal(36, 4, 2500)).round()
    lines = [
        f"x{at},Room,{stamp:%d-%m-%Y %H:%M},{number:.0f},{name}"
        for at, (stamp, number, name) in enumerate(zip(stamps, numbers, names, strict=True))
    ]
    return "\n".join(["id,room,noted_date,temp,out/in", *lines])


def stays_by_minutes() -> str:
    """Each stay of a patient begins at a minute of its own, and goes on by five."""
    starts = {7001: 26, 8002: 3, 9003: 111, 4004: 5, 5005: 40}
    lines = [
        f"{stay * 1000 + 7 * at},{stay},{start + 5 * at},{heart:.0f}"
        for stay, start in starts.items()
        for at, heart in enumerate(noise(120))
    ]
    return "\n".join(["rowid,patientunitstayid,observationoffset,heartrate", *lines])


def turbines() -> str:
    """Means of each ten minutes, in the letters of electricians, with their spread."""
    letters = ["Ba", "Q", "S", "P"]
    names = [f"{letter}_{statistic}" for letter in letters for statistic in ("avg", "min", "max", "std")]
    lines = [
        f"{turbine};{stamp.isoformat()}+01:00;" + ";".join(f"{number:.2f}" for number in noise(16))
        for turbine in ("R80711", "R80721")
        for stamp in pd.date_range("2015-01-01", periods=200, freq="10min")
    ]
    return "\n".join([";".join(["Wind_turbine_name", "Date_time", *names]), *lines])


def positions_of_a_market() -> str:
    names = ["Total Reportable Positions (All)", "Noncommercial Positions (All)", "Open Interest (All)"]
    lines = [
        f"{market},{day:%Y-%m-%d}," + ",".join(str(number) for number in RNG.integers(10_000, 400_000, 3))
        for market in ("WHEAT", "CORN")
        for day in pd.date_range("2020-01-07", periods=110, freq="W-TUE")
    ]
    return "\n".join([",".join(["Market", "Date", *names]), *lines])


def basin() -> str:
    """Rain, temperature, evaporation and flow in the letters of hydrologists."""
    days = pd.date_range("1984-01-01", periods=500)
    lines = [f"{day:%Y-%m-%d},{each[0]:.1f},{each[1]:.1f},{each[2]:.1f},{each[3]:.4f}" for day, each in _days(days)]
    return "\n".join(["DatesR,P,T,E,Qmm", *lines])


def _days(days: pd.DatetimeIndex) -> list[tuple[pd.Timestamp, np.ndarray]]:
    return [(day, noise(4)) for day in days]


def flu_of_regions() -> str:
    """The first letters of a region are those of wind speed."""
    names = ["NE", "MidAtl", "ENCentral", "WNCentral", "SAtl", "WSCentral", "Mtn", "Pac"]
    weeks = pd.date_range("2005-10-09", periods=90, freq="W")
    lines = [f"{week:%m/%d/%Y}," + ",".join(f"{number / 50:.3f}" for number in noise(8)) for week in weeks]
    return "\n".join([",".join(["Date", *names]), *lines])


def channels_of_a_campaign() -> str:
    lines = [
        f"{geo},{week:%Y-%m-%d}," + ",".join(f"{number * 100:.1f}" for number in noise(4))
        for geo in ("Geo0", "Geo1")
        for week in pd.date_range("2021-01-25", periods=110, freq="W-MON")
    ]
    return "\n".join(["geo,time,Channel0_impression,Channel0_spend,conversions,price_index", *lines])


def passengers_by_time_slot() -> str:
    """A metro that rests from 2 to 5 o'clock."""
    lines = [
        f"{day:%Y-%m-%d},{hour:02d},{origin},{number}"
        for day in pd.date_range("2023-05-01", periods=14)
        for hour in (0, 1, *range(5, 24))
        for origin, number in zip(("台北車站", "西門"), RNG.integers(10, 900, 2), strict=True)
    ]
    return "\n".join(["日期,時段,進站,人次", *lines])


def plants_by_trading_period() -> str:
    lines = [
        f"ARA,{plant},Hydro,{day:%Y-%m-%d}," + ",".join(f"{number * 100:.3f}" for number in noise(48))
        for plant in ("Aratiatia", "Aviemore")
        for day in pd.date_range("2023-05-01", periods=31)
    ]
    return "\n".join(
        [",".join(["Site", "Gen_Code", "Fuel", "Trading_Date", *(f"TP{at}" for at in range(1, 49))]), *lines]
    )


def crimes_with_months_across() -> str:
    months = [f"{month:%Y%m}" for month in pd.date_range("2021-11", periods=24, freq="MS")]
    lines = [
        f"{kind},{borough}," + ",".join(str(number) for number in RNG.integers(1, 90, 24))
        for kind in ("Arson", "Burglary")
        for borough in ("Barnet", "Bexley", "Brent")
    ]
    return "\n".join([",".join(["MinorText", "BoroughName", *months]), *lines])


def days_of_a_central_bank() -> str:
    months = ["Ene", "Feb", "Mar", "Abr", "May", "Jun", "Jul", "Ago", "Set", "Oct", "Nov", "Dic"]
    days = pd.bdate_range("2022-09-01", periods=300)
    lines = [
        f'"{day:%d}{months[day.month - 1]}{day:%y}","{number:.4f}"'
        for day, number in zip(days, noise(300), strict=True)
    ]
    return "\n".join(['"Día/Mes/Año","TC Interbancario"', *lines])


def discharge_below_its_station() -> str:
    """Above rows without names stand the station's properties, two of them a table of their own."""
    station = [
        "Messstelle:;Steeg",
        "Pegelnullpunkt:",
        " gültig seit:;Höhe:;Höhensystem:",
        " 01.01.1971;1109,33;Adria",
        "Koordinaten (Bessel 1841):",
        "Einheit:;m³/s",
        "Exportzeitraum:;01.01.1998 00:00:00;31.12.1998 00:00:00",
        "Werte:",
    ]
    days = pd.date_range("1998-01-01", periods=365)
    rows = [
        f"{day:%d.%m.%Y %H:%M:%S} ;  {number:.2f};".replace(".", ",", 0)
        for day, number in zip(days, noise(365), strict=True)
    ]
    return "\n".join([*station, *(row[:20] + row[20:].replace(".", ",") for row in rows)])


def readers_of_news() -> str:
    """A row for each piece of news, in no order, and a column for each twenty minutes since it was written."""
    counts = np.cumsum(RNG.poisson(RNG.uniform(0.2, 9, 60)[:, None], (60, 40)), axis=1)
    links = RNG.permutation(90_000)[:60]
    lines = [f"{link}," + ",".join(map(str, row)) for link, row in zip(links, counts.tolist(), strict=True)]
    return "\n".join([",".join(["IDLink", *(f"TS{at}" for at in range(1, 41))]), *lines])


def stages_of_a_factory() -> str:
    names = [
        "Ambient.Humidity.U.Actual",
        "Motor.RPM.C.Actual",
        "Stage1.Output.Size.U.Actual",
        "Stage1.Output.Size.U.Setpoint",
    ]
    stamps = pd.date_range("2019-03-06 10:52:33", periods=400, freq="s")
    lines = [f"{stamp}," + ",".join(f"{number:.2f}" for number in noise(4)) for stamp in stamps]
    return "\n".join([",".join(["time_stamp", *names]), *lines])


def prices_of_materials() -> str:
    """No date but that of the last change of a row."""
    days = pd.Timestamp("2015-01-01") + pd.to_timedelta(RNG.integers(0, 3000, 400), "D")
    lines = [
        f"{1000 + at};Part {at};{day:%d.%m.%Y};{number:.2f}"
        for at, (day, number) in enumerate(zip(days, noise(400), strict=True))
    ]
    return "\n".join(["Material;Description;Last Change;Price", *lines])


def days_by_function() -> str:
    """Readings at hours of the day, their mean and their extremes; the names of some are clocks."""
    clocks = {"07:00": 6, "14:00": 13, "20:00": 19, "AVG": 20, "MAX": 20, "MIN": 20}
    lines = [
        f'"11518","T","{name}",{day:%Y-%m-%d}T{hour:02d}:00Z,{number:.1f}'
        for name, hour in clocks.items()
        for day, number in zip(pd.date_range("2021-01-01", periods=300), noise(300), strict=True)
    ]
    return "\n".join(["STATION,ELEMENT,TIMEFUNC,DT,VALUE", *lines])


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


def heads_below_the_wells_properties() -> str:
    """Two tables in one file, each line as wide as the wider one."""
    days = [
        day
        for month in pd.date_range("1980-01", periods=120, freq="MS")
        for day in (month.replace(day=14), month.replace(day=28))
    ]
    rows = [f"B33F0080,001,{day:%d-%m-%Y},{number * 20:.0f},,,," for day, number in zip(days, noise(240), strict=True)]
    return "\n".join(
        [
            "Titel:,,,,,,,",
            "Periode aangevraagd:,01-01-1800,tot:,17-09-2019,,,,",
            "Referentie:,NAP,,,,,,",
            "",
            "NAP:,Normaal Amsterdams Peil,,,,,,",
            "MV:,Maaiveld,,,,,,",
            "",
            "Locatie,Filternummer,X-coordinaat,Y-coordinaat,Maaiveld,Startdatum,Einddatum,Meetpunt,Filter",
            "B33F0080,001,213260,473900,1020,14-01-1972,28-02-1989,1075,796",
            "B33F0080,001,213260,473900,1020,28-02-1989,28-05-2006,1075,796",
            "",
            "Locatie,Filternummer,Peildatum,Stand (cm),Bijzonderheid,,,",
            *rows,
        ]
    )


def statement_of_payments() -> str:
    """Numbers of payments of 28 digits, and amounts in Chinese."""
    stamps = pd.Timestamp("2022-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 400 * 86400, 1500)), "s")
    amounts = RNG.lognormal(3, 1, 1500)
    numbers = RNG.integers(10**17, 10**18, 1500)
    lines = [
        f"2022{number}\t,{stamp:%Y-%m-%d %H:%M:%S} ,地铁 ,{amount:.2f} ,支出 ,"
        for number, stamp, amount in zip(numbers, stamps, amounts, strict=True)
    ]
    header = "交易号 ,交易创建时间 ,商品名称 ,金额（元） ,收/支 ,"
    return "\n".join(["支付宝交易记录", "账号:[li***@163.com]", header, *lines, "--------", "共1500笔记录"])


def samples_of_wells() -> str:
    """Of each well one sample a quarter, for two substances, analysed some days later; wells differ in the minute."""
    lines, substances = [], ("71-43-2", "79-01-6")
    for quarter in pd.date_range("2016-02-16", periods=24, freq="91D"):
        for well in range(6):
            day = quarter + pd.Timedelta(int(well > 3), "D")
            analysed = day + pd.Timedelta(int(RNG.integers(2, 6)), "D")
            sample = f"MW-{well}\t{day:%m/%d/%Y}\t{9 + well}:{RNG.integers(10, 59)}\t{analysed:%m/%d/%Y}"
            lines += [f"{sample}\t{name}\t{number:.2f}" for name, number in zip(substances, noise(2), strict=True)]
    return "\n".join(["sys_loc_code\tsample_date\tsample_time\tanalysis_date\tcas_rn\tresult_value", *lines])


def sales_with_russian_months_across() -> str:
    months = ["Январь", "Февраль", "Март", "Апрель", "Май", "Июнь", "Июль", "Август", "Сентябрь", "Октябрь", "Ноябрь"]
    names = [f"{month} {year} г." for year in (2021, 2022) for month in (*months, "Декабрь")]
    lines = [f"Валик {size} кг;" + ";".join(f"{number * 900:.2f}" for number in noise(24)) for size in range(1, 9)]
    return "\n".join([";".join(["Номенклатура", *names]), *lines])


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


def cells_of_a_brain() -> str:
    """How strong a stimulus is, in numbers with fractions, tells series apart beside words."""
    lines = [
        f"{align},T{choice},{time},{strength},{number:.4f}"
        for align in ("dots", "sacc")
        for choice in (1, 2)
        for time in range(-80, 720, 20)
        for strength, number in zip((0.0, 3.2, 6.4, 12.8), noise(4), strict=True)
    ]
    return "\n".join(["align,choice,time,coherence,firing_rate", *lines])


def pages_of_a_host() -> str:
    """A page for each day, all below the same names and beginning with the name of the host."""
    pages = []
    for day in pd.date_range("2023-05-02", periods=5):
        stamps = day + pd.to_timedelta(np.arange(144) * 10 + 10, "min")
        pages.append("# hostname;interval;timestamp;CPU;%user")
        pages += [f"web01;600;{stamp} UTC;{cpu};{noise(1)[0]:.2f}" for stamp in stamps for cpu in (-1, 0, 1)]
    return "\n".join(pages)


def flow_beside_spreads() -> str:
    """The flow of a river beside the means, minima and maxima of what drives it."""
    drivers = [
        f"{name}_{statistic}"
        for name in ("snow_depth", "radiation", "soil_water")
        for statistic in ("mean", "min", "max")
    ]
    lines = [f"{day}," + ",".join(f"{number:.2f}" for number in noise(10)) for day in days(400)]
    return "\n".join([",".join(["date", *drivers, "streamflow"]), *lines])


def weeks_of_seasons() -> str:
    """Each week has a number within its season, of which each begins on the same day of the year."""
    lines = []
    for year in range(1990, 1998):
        weeks = pd.date_range(f"{year}-04-30", periods=52, freq="7D")
        for week, start, number in zip(range(1, 53), weeks, RNG.integers(0, 90, 52), strict=True):
            lines.append(f"{year}/{year + 1},{week},{start:%Y-%m-%d},{number}")
    return "\n".join(["season,season_week,week_start_date,total_cases", *lines])


def index_beyond_a_thousand() -> str:
    """Months from the time when the index had two digits to that when it had a mark of thousands."""
    months = pd.date_range("1900-01", periods=1500, freq="MS")
    index = 5 * np.exp(np.cumsum(RNG.normal(0.004, 0.03, 1500)))
    lines = [
        f'{month:%Y%m},"{number:,.2f}",' + ",".join(f"{each:.4f}" for each in noise(9))
        for month, number in zip(months, index, strict=True)
    ]
    return "\n".join(["yyyymm,Index,D12,E12,b/m,tbl,AAA,BAA,lty,ntis,infl", *lines])


def bars_of_shares() -> str:
    """Bars of a minute, with the words of an exchange for the four prices."""
    stamps = pd.date_range("2021-03-02 08:00", periods=60, freq="min")
    lines = [
        f"{isin},{stamp:%Y-%m-%d},{stamp:%H:%M}," + ",".join(f"{number:.2f}" for number in noise(4)) + f",{at * 7 % 90}"
        for at, stamp in enumerate(stamps)
        for isin in ("AT0000A0E9W5", "DE000A0DJ6J9")
    ]
    return "\n".join(["ISIN,Date,Time,StartPrice,MaxPrice,MinPrice,EndPrice,TradedVolume", *lines])


def hours_of_a_magnetometer() -> str:
    """Hours with a fraction, and their middle, beside the days since 1932."""
    lines = []
    for at in range(800):
        day, hour = pd.Timestamp("2021-01-01") + pd.Timedelta(at // 8, "D"), at % 8 * 3.0
        days_since = 32508 + at / 8
        lines.append(f"{day:%Y %m %d} {hour:04.1f} {hour + 1.5:05.2f} {days_since:.5f} {RNG.integers(0, 27) / 3:.3f}")
    return "\n".join(["YYY MM DD hh.h hh._m days Kp", *lines])


def trips_of_trucks() -> str:
    """Some trips of each truck a day, and how far each went."""
    lines = []
    for truck in ("TRK-100", "TRK-101", "VAN-7"):
        odometer = 100_000.0
        for day in pd.date_range("2023-09-01", periods=90):
            starts = np.sort(RNG.integers(6 * 60, 18 * 60, RNG.integers(2, 6)))
            for start, way in zip(starts, RNG.lognormal(3, 0.7, len(starts)), strict=True):
                odometer += way
                lines.append(f"{truck},{day + pd.Timedelta(int(start), 'min')},{way:.2f},{odometer:.1f}")
    return "\n".join(["Device,Start Date,Distance (km),Odometer (km)", *lines])


def stock_of_warehouses() -> str:
    """Warehouses have numbers; when an article is ordered again happens to differ for each of them."""
    again = {
        ("01", "PK-1"): 480,
        ("01", "FG-2"): 96,
        ("01", "FG-3"): 360,
        ("02", "PK-1"): 470,
        ("02", "FG-2"): 90,
        ("02", "FG-3"): 30,
    }
    lines = [
        f"{day:%m/%d/%Y},{whse},{article},{out},{at}"
        for day in pd.date_range("2021-03-01", periods=150)
        for ((whse, article), at), out in zip(again.items(), RNG.integers(0, 90, 6), strict=True)
    ]
    return "\n".join(["Snapshot Date,Whse,Item #,Qty Out,Reorder Pt", *lines])


def pump_by_spreadsheet_days() -> str:
    """Days since 1900, and parts of them with ten digits."""
    lines = [
        f"{43891 + at // 48},{at % 48 / 48:.10g},{energy:.1f},{level:.3f}"
        for at, energy, level in zip(range(48 * 20), noise(960), noise(960), strict=True)
    ]
    return "\n".join(["Date,Time,kWh,Well lvl m", *lines])


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


def messages_of_a_broker() -> str:
    """Messages arrive in another order than that of their milliseconds."""
    lines, row = [], 0
    for minute in range(600):
        for topic in RNG.permutation(["comp1/pressure", "comp1/oil_temp", "flow/air"]):
            row += 1
            stamp = 1646092800000 + minute * 60000 + int(RNG.integers(0, 900))
            lines.append(f"{row},{stamp},plant/{topic},{noise(1)[0]:.2f},0")
    return "\n".join(["rowid,ts,topic,payload,qos", *lines])


def cards_of_vans() -> str:
    """Litres of each filling are alike, and still add up."""
    stamps = pd.Timestamp("2021-01-04") + pd.to_timedelta(np.sort(RNG.integers(0, 300 * 1440, 1500)), "min")
    lines = [
        f"DRIVER {driver},{stamp:%d-%b-%y},{stamp:%H%M},DIESEL,{litres:.2f},{litres * 1.12:.2f}"
        for driver, stamp, litres in zip(RNG.integers(1, 9, 1500), stamps, RNG.normal(58, 6, 1500), strict=True)
    ]
    return "\n".join(["Driver,Trans Date,Time,Product,Litres,Gross", *lines])


def sales_of_a_hundred_places() -> str:
    """A hundred numbers that begin again with each day are no quarters of an hour."""
    lines = [
        f"{day:%Y-%m-%d},{geo},{number * 100:.2f}"
        for day in pd.date_range("2015-01-05", periods=60)
        for geo, number in zip(range(1, 101), noise(100), strict=True)
    ]
    return "\n".join(["date,geo,sales", *lines])


def listing_of_numbered_columns() -> str:
    """Below a list of parameters, a header that numbers them, and the year, its day and the hour of each row."""
    rows = [
        f"{2018 + at // 24 // 366} {152 + at // 24:3d} {at % 24:2d} {one:5.1f} {two:8.0f}. {three:4.0f}"
        for at, one, two, three in zip(range(24 * 60), noise(1440), noise(1440) * 900, noise(1440), strict=True)
    ]
    titles = ["Browser Results", "", "Listing from 20180601 to 20180731", "", "Selected parameters:", " 1 Scalar B, nT"]
    return "\n".join([*titles, " 2 Plasma Temperature, K", " 3 Dst-index, nT", "", "YEAR DOY HR   1   2   3", *rows])


def logger_with_days_of_the_year() -> str:
    """A year, the day of it and a clock of digits, as older data loggers write them."""
    lines = [
        f"{2023},{100 + at // 48},{at % 48 // 2 * 100 + at % 2 * 30},{number:.2f}"
        for at, number in zip(range(48 * 30), noise(48 * 30), strict=True)
    ]
    return "\n".join(["year,doy,hhmm,soil_temp", *lines])


def rainfall_below_a_title() -> str:
    """One column of numbers, below a title with commas and a source."""
    title = ["Total annual rainfall in inches, London, England, 1813-1912", "#Source: Hipel and McLeod (1994)"]
    return "\n".join([*title, *(f"{number:.2f}" for number in noise(100) * 2)])


TEXTS: dict[str, tuple[Callable[[], str], dict[str, object]]] = {
    "segments": (segments_sorted_by_departures, {"target": "PASSENGERS", "resample": "MS", "aggregate": "sum"}),
    "rooms": (rooms_and_outdoors, {"item_id": "out/in", "resample": "D", "aggregate": None}),
    "stays": (stays_by_minutes, {"time": "observationoffset", "item_id": "patientunitstayid"}),
    "turbines": (turbines, {"item_id": "Wind_turbine_name", "target": "P_avg"}),
    "positions": (positions_of_a_market, {"item_id": "Market", "target": "Open Interest (All)"}),
    "basin": (basin, {"target": "Qmm"}),
    "flu": (flu_of_regions, {"wide": True}),
    "campaign": (channels_of_a_campaign, {"item_id": "geo", "target": "conversions"}),
    "metro": (passengers_by_time_slot, {"time": "日期,時段", "item_id": "進站"}),
    "plants": (plants_by_trading_period, {"layout": "calendar", "item_id": "Gen_Code"}),
    "crimes": (crimes_with_months_across, {"layout": "rows", "item_id": "MinorText,BoroughName"}),
    "bank": (days_of_a_central_bank, {"time": None, "target": None}),
    "discharge": (discharge_below_its_station, {"skip_rows": 8, "header": False}),
    "news": (readers_of_news, {"layout": "rows"}),
    "factory": (stages_of_a_factory, {"target": "Stage1.Output.Size.U.Actual"}),
    "materials": (prices_of_materials, {}),
    "pages": (pages_of_a_host, {"skip_footer": None, "undated_rows": "drop", "item_id": "CPU", "target": "%user"}),
    "spreads": (flow_beside_spreads, {"target": "streamflow"}),
    "seasons": (weeks_of_seasons, {"time": "week_start_date", "item_id": None, "target": "total_cases"}),
    "thousands": (index_beyond_a_thousand, {"decimal": ".", "time": "yyyymm"}),
    "bars": (bars_of_shares, {"time": "Date,Time", "item_id": "ISIN", "target": "EndPrice"}),
    "magnetometer": (hours_of_a_magnetometer, {"target": "Kp"}),
    "trips": (trips_of_trucks, {"target": "row-count", "resample": "D"}),
    "stock": (stock_of_warehouses, {"item_id": "Item #,Whse", "target": "Qty Out"}),
    "pump": (pump_by_spreadsheet_days, {"time": "Date,Time", "date_format": "excel", "target": "kWh"}),
    "bulan": (sales_by_indonesian_months, {"time": "Tahun,Bulan", "target": "Penjualan (pcs)"}),
    "broker": (messages_of_a_broker, {"time": "ts", "date_format": "ms", "item_id": "topic", "target": "payload"}),
    "cards": (cards_of_vans, {"target": "Litres", "resample": "D", "aggregate": "sum"}),
    "places": (sales_of_a_hundred_places, {"time": None, "item_id": "geo"}),
    "listing": (listing_of_numbered_columns, {"delimiter": "blanks", "skip_rows": 9, "time": "YEAR,DOY,HR"}),
    "logger": (logger_with_days_of_the_year, {"time": "year,doy,hhmm"}),
    "rainfall": (rainfall_below_a_title, {"skip_rows": 2, "header": False, "time": "row-number"}),
    "functions": (days_by_function, {"item_id": "TIMEFUNC"}),
    "admissions": (admissions_below_their_years, {"skip_rows": 3, "undated_rows": "drop", "target": "Total"}),
    "heads": (heads_below_the_wells_properties, {"skip_rows": 11, "header": None, "resample": "MS"}),
    "payments": (statement_of_payments, {"target": "金额（元）", "resample": "D", "aggregate": "sum"}),
    "wells": (samples_of_wells, {"time": "sample_date", "item_id": "sys_loc_code,cas_rn"}),
    "goods": (sales_with_russian_months_across, {"layout": "rows"}),
    "orders": (lines_of_orders, {"layout": "merged", "target": "Lines/Subtotal"}),
    "cells": (cells_of_a_brain, {"item_id": "align,choice,coherence"}),
}
STEPS = {
    "metro": "24 steps of 1 hour",
    "plants": "48 steps of 30 minutes",
    "crimes": "the rows as 6 series, 4 steps of 1 month",
    "bank": "5 steps of 1 business day",
    "discharge": "7 steps of 1 day",
    "news": "the rows as 60 series",
    "materials": "if 'Last Change' tells when it was",
    "admissions": "12 steps of 1 month",
    "goods": "the rows as 8 series, 4 steps of 1 month",
    "seasons": "13 steps of 1 week",
    "pump": "48 steps of 30 minutes",
    "listing": "24 steps of 1 hour",
    "logger": "48 steps of 30 minutes",
}
"""Table -> how far its first command forecasts, or on what condition."""


@pytest.mark.parametrize("name", TEXTS)
def test_a_table_of_a_portal_or_plant_is_read_at_the_first_try(tmp_path: Path, name: str) -> None:
    make, expected = TEXTS[name]
    (tmp_path / "table.csv").write_text(make(), encoding="utf-8")
    proposal = find_proposals(tmp_path / "table.csv", DataConfig())[0]
    options = dict(proposal.options)
    assert {key: options.get(key) for key in expected} == expected
    assert STEPS.get(name, "") in proposal.forecasts


def test_wells_that_are_sampled_one_after_the_other_are_told_apart(tmp_path: Path) -> None:
    """By the minute, no substance stands twice; by the day, each does, once for each well."""
    (tmp_path / "table.txt").write_text(samples_of_wells())
    proposal = find_proposals(tmp_path / "table.txt", DataConfig(time="sample_date,sample_time"))[0]
    assert proposal.item_id == "sys_loc_code,cas_rn"


def test_how_far_trucks_went_is_summed(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text(trips_of_trucks())
    proposal = find_proposals(tmp_path / "table.csv", DataConfig(target="Distance (km)"))[0]
    expected = {"item_id": "Device", "resample": "D", "aggregate": "sum", "missing": "zero"}
    assert {**dict(proposal.options), "item_id": proposal.item_id} == expected


@pytest.mark.parametrize("name", ["Store", "item_nbr", "Filiale", "Sensor ID"])
@pytest.mark.parametrize("count", [24, 48, 100])
def test_as_many_shops_as_a_day_has_hours_are_no_hours(tmp_path: Path, name: str, count: int) -> None:
    shops = np.tile(np.arange(1, count + 1), 40)
    frame = pd.DataFrame({"date": np.repeat(days(40), count), name: shops, "sales": noise(40 * count)})
    frame.to_csv(tmp_path / "table.csv", index=False)
    proposal = find_proposals(tmp_path / "table.csv", DataConfig())[0]
    assert (proposal.time, proposal.item_id) == ("date", name)


def test_the_dates_of_a_register_are_read_by_the_order_that_is_given(tmp_path: Path) -> None:
    """Day or month first, no value decides; the condition on such dates needs them, too."""
    dates = [f"{RNG.integers(1, 13)}/{RNG.integers(1, 13)}/20{RNG.integers(15, 24)}" for _ in range(400)]
    lines = [f"{date},Part {at},{number:.2f}" for at, (date, number) in enumerate(zip(dates, noise(400), strict=True))]
    (tmp_path / "table.csv").write_text("\n".join(["Last Change,Description,Price", *lines]))
    proposal = find_proposals(tmp_path / "table.csv", DataConfig(date_format="day-first"))[0]
    assert "if 'Last Change' tells when it was" in proposal.forecasts


def test_subjects_need_no_treatment_beside_their_number(tmp_path: Path) -> None:
    """The number of a subject tells the series apart by itself, whatever else each of them has."""
    lines = [
        f"{subject},{period},{'placebo' if subject % 2 else 'drug'},{number:.1f}"
        for subject in range(1, 60)
        for period, number in zip(range(1, 16), noise(15), strict=True)
    ]
    (tmp_path / "table.csv").write_text("\n".join(["subject,period,treatment,seizure_rate", *lines]))
    assert find_proposals(tmp_path / "table.csv", DataConfig())[0].item_id == "subject"


def test_delays_are_no_amounts_however_their_rows_are_sorted(tmp_path: Path) -> None:
    """What is not called an amount is judged by neighbouring rows, as they stand."""
    text = segments_sorted_by_departures().replace("PASSENGERS", "delay").replace("DEPARTURES", "distance")
    (tmp_path / "table.csv").write_text(text)
    assert all("sum" not in proposal.forecasts for proposal in find_proposals(tmp_path / "table.csv", DataConfig()))
