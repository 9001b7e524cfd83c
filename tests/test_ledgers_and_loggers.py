"""`forecast check` reads ledgers, loggers and services: names before numbers, clocks of seconds, prices and pieces."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.checking.number_times import denser_order
from forecast_attn.config.options import DataConfig

from .made_columns import RNG, noise


def ledger_beside_its_budget() -> str:
    """Each account has another budget, of whole numbers, in each year."""
    months = pd.date_range("2020-01-01", periods=42, freq="MS")
    budgets = {"Wages": 9000, "Power": 2500, "Freight": 4000}
    lines = [
        f"{month.year},{month.month},{month:%Y-%m},CC{centre},{account},{number:.2f},{centre * budget + month.year}"
        for month in months
        for centre in (10, 20, 30)
        for (account, budget), number in zip(budgets.items(), noise(3), strict=True)
    ]
    return "\n".join(["Fiscal Year,Period,Posting Month,Cost Center,Account,Actual,Budget", *lines])


def rates_of_lanes() -> str:
    """The distance of a lane tells it from others, as its two ends do."""
    lanes = [("Chicago", "Atlanta", 716), ("Chicago", "Dallas", 967), ("Reno", "Dallas", 1695), ("Reno", "Boise", 422)]
    weeks = [f"{year}-W{week:02d}" for year in (2021, 2022) for week in range(1, 53)]
    lines = [
        f"{week},{origin},{destination},{miles},{rate:.2f}"
        for origin, destination, miles in lanes
        for week, rate in zip(weeks, noise(104), strict=True)
    ]
    return "\n".join(["week,origin,destination,miles,rate", *lines])


def tags_of_a_historian() -> str:
    stamps = 1693526400 + 300 * np.arange(400)
    tags = [("11FIC101.PV", "t/h"), ("11LIC110.PV", "%"), ("11PI118.PV", "bar")]
    numbers = noise(1200)
    lines = [
        f"{stamp},{tag},{numbers[at * 3 + number]:.4f},{unit}"
        for at, stamp in enumerate(stamps)
        for number, (tag, unit) in enumerate(tags)
    ]
    return "\n".join(["ts,tag,value,eng_unit", *lines])


def part_of_a_frame_of_r() -> str:
    """The names of the rows have no name, and go on from those of another part."""
    stamps = pd.date_range("2015-02-02 14:19", periods=300, freq="min")
    lines = (
        f'"{at}","{stamp:%Y-%m-%d %H:%M:%S}",{number:.4f},{number / 3:.4f}'
        for at, (stamp, number) in enumerate(zip(stamps, noise(300), strict=True), 140)
    )
    return "\n".join(['"date","Temperature","Humidity"', *lines])


def trace_of_a_machine() -> str:
    """A tab stands behind each semicolon."""
    stamps = 1376314846 + 300 * np.arange(300)
    lines = (f"{stamp};\t{number:.3f};\t{number / 9:.3f}" for stamp, number in zip(stamps, noise(300), strict=True))
    return "\n".join(["Timestamp [ms];\tCPU usage [MHZ];\tCPU usage [%]", *lines])


def detectors_by_seconds_of_the_day() -> str:
    lines = [
        f"2017-05-{day:02d},{second},{detector},{flow}"
        for detector in ("04.X-1", "04.X-2")
        for day in range(4, 9)
        for second, flow in zip(range(0, 86400, 300), RNG.integers(0, 90, 288), strict=True)
    ]
    return "\n".join(["day,interval,detid,flow", *lines])


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


def index_after_the_start_of_a_period() -> str:
    """As pandas writes the time since a start."""
    lines = [
        f"{period},{pd.Timedelta(hour, 'h')},{number:.0f}"
        for period, rows in (("a", 400), ("b", 300))
        for hour, number in zip(range(rows), noise(rows), strict=True)
    ]
    return "\n".join(["period,timedelta,dst", *lines])


def bottles_of_a_wholesaler() -> str:
    """What is paid is the price of a bottle times their number, whatever the columns are called."""
    days = pd.Timestamp("2021-01-04") + pd.to_timedelta(np.sort(RNG.integers(0, 300, 3000)), "D")
    lines = [
        f"{day:%m/%d/%Y},{price / 100:.2f},{price * 1.5 / 100:.2f},{number},{round(price * 1.5) * number / 100:.2f}"
        for day, price, number in zip(days, RNG.integers(4, 40, 3000) * 100, RNG.integers(1, 48, 3000), strict=True)
    ]
    return "\n".join(["Date,State Bottle Cost,State Bottle Retail,Bottles Sold,Sale (Dollars)", *lines])


def prices_of_a_litre() -> str:
    """A survey of stations: the sum of prices means nothing, and their mean follows the mix of goods."""
    levels = {"GASOLINA": 5.1, "ETANOL": 3.8, "GNV": 4.6}
    lines = [
        f"{day:%d/%m/%Y};{station};{good};{level + RNG.normal(0, 0.1):.2f};R$ / litro".replace(".", ",")
        for day in pd.bdate_range("2023-01-02", periods=90)
        for station in RNG.choice(["Trevo", "Sol", "Ipe", "Bravo"], 3)
        for good, level in levels.items()
    ]
    return "\n".join(["Data da Coleta;Revenda;Produto;Valor de Venda;Unidade de Medida", *lines])


def days_of_a_weather_service() -> str:
    days = pd.date_range("2020-01-01", periods=400)
    cells = np.round(noise(400) * 10).astype(int)
    lines = (f"{day:%Y%m%d},{cell + 3},{cell},{cell - 40},{cell + 50}" for day, cell in zip(days, cells, strict=True))
    return "\n".join(["YYYYMMDD,FHVEC,TG,TN,TX", *lines])


def deaths_on_all_days_of_the_week() -> str:
    """Days without any are too many, and without weekends there would be few."""
    days = pd.date_range("2020-03-21", periods=600)[RNG.random(600) < 0.77]
    days = days.repeat(1 + RNG.poisson(3, len(days)))
    lines = (
        f"{day:%Y%m%d},{age},{district}"
        for day, age, district in zip(
            days, RNG.integers(20, 99, len(days)), RNG.integers(0, 24, len(days)), strict=True
        )
    )
    return "\n".join(["FECHA_FALLECIMIENTO,EDAD,UBIGEO", *lines])


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


def cases_beside_numbered_weeks() -> str:
    weeks = [pd.Timestamp("2019-12-29") + pd.Timedelta(7 * at, "D") for at in range(150)]
    lines = [
        f"{day:%Y-%m-%d},{(day + pd.Timedelta(3, 'D')):%G%V},{cases:.0f},{27 + warm:.2f}"
        for day, cases, warm in zip(weeks, RNG.gamma(2, 40, 150), noise(150), strict=True)
    ]
    return "\n".join(["data_iniSE,SE,casos,tempmed", *reversed(lines)])


def prices_of_a_share_in_india() -> str:
    """Shares that were delivered are an amount, and what is forecast is the last price."""
    days = pd.bdate_range("2022-01-03", periods=200)
    prices = 100 + noise(200).cumsum()
    lines = [
        f"{day:%d-%B-%Y},{price},{price + 3:.2f},{price - 3:.2f},{price + 1:.2f},{RNG.integers(9999, 99999)}"
        for day, price in zip(days, prices.round(2), strict=True)
    ]
    return "\n".join(["Date,Open Price,High Price,Low Price,Close Price,Deliverable Quantity", *lines])


def actions_of_days_by_number() -> str:
    """Lines of a shop, several on each numbered day: the revenue adds up, and prices do not."""
    days = np.sort(RNG.integers(1, 93, 4000))
    lines = [
        f"{at}|{day}|{RNG.integers(1, 900)}|{price:.2f}|{price if at % 4 == 0 else 0:.2f}"
        for at, (day, price) in enumerate(zip(days, noise(4000), strict=True), 1)
    ]
    return "\n".join(["lineID|day|pid|price|revenue", *lines])


def shares_in_the_last_minutes() -> str:
    lines = [
        f"{stock},{time // 12},{time % 12 * 10},{number:.4f},{time},{time // 12}_{time % 12 * 10}_{stock}"
        for time in range(240)
        for stock, number in enumerate(noise(4))
    ]
    return "\n".join(["stock_id,date_id,seconds_in_bucket,target,time_id,row_id", *lines])


def cells_of_a_grid() -> str:
    """Latitudes and longitudes tell the rows of a week apart."""
    lines = [
        f"{year},{week},{-1.5 - cell // 4 / 7:.3f},{29.25 + cell % 4 / 9:.3f},{density:.5f},{emission:.3f}"
        for cell in range(12)
        for year in (2019, 2020)
        for week, (density, emission) in enumerate(zip(noise(52) / 1e3, noise(52), strict=True), 1)
    ]
    return "\n".join(["year,week,latitude,longitude,column_density,emission", *lines])


def returns_of_months_above_those_of_years() -> str:
    """The table of the years has the same names."""
    months = pd.date_range("1926-07-01", periods=400, freq="MS")
    monthly = [
        f"{month:%Y%m},{one:8.2f},{two:8.2f}" for month, one, two in zip(months, noise(400), noise(400), strict=True)
    ]
    yearly = [
        f"  {year},{one:8.2f},{two:8.2f}"
        for year, one, two in zip(range(1927, 1960), noise(33), noise(33), strict=True)
    ]
    titles = [
        "This file was created using the 201912 database.",
        "The return is from Ibbotson and Associates, Inc.",
        "",
    ]
    names = ",Mkt-RF,SMB"
    return "\n".join([*titles, names, *monthly, "", " Annual Factors: January-December ", names, *yearly])


def market_below_padded_titles() -> str:
    """A sheet: notes below the rows are as wide as these, and the ratio of the first years is not available."""
    months = pd.date_range("1871-01-01", periods=300, freq="MS")
    lines = [
        f"{month:%Y.%m},{price:.2f},{price / 20:.4f},{'NA' if at < 120 else round(price * 2, 2)}"
        for at, (month, price) in enumerate(zip(months, noise(300).cumsum(), strict=True))
    ]
    titles = ['"Stock Market Data, updated",,,', "A. Author,,,", ",,,", ",,,Cyclically", ",,,Adjusted", ",S&P,,P/E"]
    return "\n".join([*titles, "Date,Price,Dividend,CAPE", *lines, ",last price is Jun 1st close,,"])


def balance_of_a_grid_operator() -> str:
    """A unit stands behind the name of the demand, and a total is none of it."""
    hours = pd.date_range("2023-01-01", periods=500, freq="h")
    lines = [
        f"{hour:%Y-%m-%d %H:%M},{load:.0f},{load - 3:.0f},{RNG.integers(-90, 90)}"
        for hour, load in zip(hours, 1000 + 50 * noise(500), strict=True)
    ]
    return "\n".join(["Time,Demand Forecast (MW),Demand (MW),Total Interchange (MW)", *lines])


def cases_of_states_by_number() -> str:
    """Rows are numbered over all states."""
    days, states = pd.date_range("2020-03-01", periods=90), ["Kerala", "Goa", "Delhi"]
    cells = [(day, state) for day in days for state in states]
    lines = [
        f"{at},{day:%Y-%m-%d},{state},{number:.0f}"
        for at, ((day, state), number) in enumerate(zip(cells, noise(270) * 10, strict=True), 1)
    ]
    return "\n".join(["Sno,Date,State,Cured", *lines])


def hours_in_the_order_of_words() -> str:
    """The tenth of a month stands before its second day."""
    hours = pd.date_range("2006-03-01", periods=24 * 90, freq="h")
    lines = [
        f"{hour:%Y-%m-%d %H:%M}:00.000 +0200,{number:.3f}" for hour, number in zip(hours, noise(2160), strict=True)
    ]
    days = sorted(range(90), key=lambda day: (hours[24 * day].month, str(hours[24 * day].day)))
    return "\n".join(
        ["Formatted Date,Temperature (C)", *(line for day in days for line in lines[24 * day : 24 * day + 24])]
    )


def readings_with_keys() -> str:
    """A key of four words is no title."""
    minutes = pd.Timestamp("2018-12-08 09:30") + pd.to_timedelta(np.sort(RNG.integers(0, 60 * 24 * 90, 3000)), "min")
    lines = [
        f"__export__.temp_log_{number}_bd,{minute:%d-%m-%Y %H:%M},{heat:.1f}"
        for number, minute, heat in zip(RNG.permutation(3000), minutes, noise(3000), strict=True)
    ]
    return "\n".join(["id,noted_date,temp", *lines])


def demand_by_its_last_change() -> str:
    times = pd.date_range("2023-01-01 00:05", periods=600, freq="5min")
    lines = [
        f"{time:%Y/%m/%d %H:%M:%S},{region},{number:.2f},{time - pd.Timedelta(297, 's'):%Y/%m/%d %H:%M:%S}"
        for time in times
        for region, number in zip(["NSW1", "QLD1"], noise(2), strict=True)
    ]
    return "\n".join(["SETTLEMENTDATE,REGIONID,TOTALDEMAND,LASTCHANGED", *lines])


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


def pollution_in_four_rows_a_day() -> str:
    """Each site has as many rows each day, and nothing tells them apart."""
    days = pd.date_range("2000-01-01", periods=120)
    lines = [
        f"{day:%Y-%m-%d},{site},{level:.4f}"
        for day in days
        for site in ("ROOSEVELT ST", "BELLFLOWER", "MAIN ST")
        for level in noise(4)
    ]
    return "\n".join(["Date Local,Address,SO2 Mean", *lines])


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


def inverter_with_two_strings() -> str:
    """The newest row stands first; the meter never falls, and the power of each string is a part."""
    times = pd.date_range("2023-05-01", periods=600, freq="5min")
    parts = noise(600) * 90, noise(600) * 80
    lines = [
        f"{time:%Y-%m-%d %H:%M:%S},{one:.1f},{two:.1f},{one + two:.1f},{total:.1f}"
        for time, one, two, total in zip(times, *parts, (sum(parts) / 12000).cumsum() + 900, strict=True)
    ]
    return "\n".join(["Time,Ppv1(W),Ppv2(W),Ppv(W),EacTotal(kWh)", *reversed(lines)])


def appliances_in_tens() -> str:
    """Watt-hours in tens lie on one side of a circle, mostly."""
    times = pd.date_range("2016-01-11 17:00", periods=1500, freq="10min")
    used = (np.clip(RNG.gamma(2, 5, 1500), 1, 36).round() * 10).astype(int)
    lines = [
        f"{time:%Y-%m-%d %H:%M:%S},{use},{heat:.3f}" for time, use, heat in zip(times, used, noise(1500), strict=True)
    ]
    return "\n".join(["date,Appliances,T1", *lines])


def prices_below_two_headers() -> str:
    """The second one has the units, of which some stand several times."""
    hours = pd.date_range("2023-07-01", periods=400, freq="h")
    lines = [
        f'"D","{hour:%m/%d/%Y}","{hour.hour + 1:02d}","{name}","{price:.2f}","{price / 9:.2f}"'
        for hour, one, two in zip(hours, noise(400), noise(400), strict=True)
        for name, price in ((".Z.MAINE", one), (".Z.VERMONT", two))
    ]
    titles = [f'"C","{text}"' for text in ("Selectable Report", "Filename: da.csv", "Report for: 07/2023", "EDT")]
    heads = ['"H","Date","Hour Ending","Location","Price","Loss"', '"H","Date","Hour Ending","String","$/MWh","$/MWh"']
    return "\n".join([*titles, *heads, *lines, f'"T","{len(lines)}"'])


def customers_by_their_first_day() -> str:
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 700, 2500)), "D")
    lines = (
        f"C{at:05d},{day:%Y-%m-%d},{spent:.2f}" for at, (day, spent) in enumerate(zip(days, noise(2500), strict=True))
    )
    return "\n".join(["customer_id,signup_date,revenue_12m", *lines])


TEXTS: dict[str, tuple[Callable[[], str], dict[str, object]]] = {
    "ledger": (ledger_beside_its_budget, {"time": None, "item_id": "Cost Center,Account", "target": "Actual"}),
    "lanes": (rates_of_lanes, {"item_id": "origin,destination", "target": "rate"}),
    "tags": (tags_of_a_historian, {"item_id": "tag", "date_format": "s"}),
    "frame": (part_of_a_frame_of_r, {"time": None, "header": None, "target": "Temperature"}),
    "trace": (trace_of_a_machine, {"delimiter": None, "time": "Timestamp [ms]", "target": "CPU usage [MHZ]"}),
    "detectors": (detectors_by_seconds_of_the_day, {"time": "day,interval", "item_id": "detid"}),
    "tanks": (tanks_by_the_hour, {"time": None, "date_format": None}),
    "tons": (tons_by_month, {"time": None, "layout": None}),
    "bicycles": (bicycles_in_finnish, {"time": None}),
    "elapsed": (
        index_after_the_start_of_a_period,
        {"time": "row-number", "item_id": "period", "ignore": ("timedelta",), "season": "24"},
    ),
    "bottles": (bottles_of_a_wholesaler, {"target": "Sale (Dollars)", "resample": "D", "aggregate": "sum"}),
    "litres": (prices_of_a_litre, {"target": None, "item_id": "Produto", "aggregate": None}),
    "weather": (days_of_a_weather_service, {"target": "TG"}),
    "deaths": (deaths_on_all_days_of_the_week, {"target": "row-count", "resample": "D"}),
    "admissions": (admissions_by_codes_of_states, {"na": None, "item_id": "location_name", "undated_rows": None}),
    "weeks": (cases_beside_numbered_weeks, {"target": "casos"}),
    "shares": (prices_of_a_share_in_india, {"target": "Close Price"}),
    "actions": (actions_of_days_by_number, {"time": "day", "target": "revenue", "aggregate": "sum"}),
    "auction": (shares_in_the_last_minutes, {"time": None, "item_id": "stock_id"}),
    "grid": (cells_of_a_grid, {"time": "year,week", "item_id": "latitude,longitude", "target": "emission"}),
    "returns": (returns_of_months_above_those_of_years, {"skip_rows": 3, "skip_footer": 35, "date_format": "%Y%m"}),
    "market": (market_below_padded_titles, {"skip_rows": 6, "skip_footer": 1}),
    "balance": (balance_of_a_grid_operator, {"target": "Demand (MW)"}),
    "customers": (customers_by_their_first_day, {"target": "row-count"}),
    "states": (cases_of_states_by_number, {"item_id": "State", "target": "Cured"}),
    "words": (hours_in_the_order_of_words, {"time": None, "missing": None}),
    "readings": (readings_with_keys, {"target": None, "aggregate": None}),
    "changes": (demand_by_its_last_change, {"time": "SETTLEMENTDATE"}),
    "pickups": (pickups_of_a_week, {"target": "row-count", "date_format": "month-first"}),
    "parking": (parking_of_a_morning, {"item_id": "BlockfaceName", "date_format": "month-first"}),
    "sites": (pollution_in_four_rows_a_day, {"item_id": "Address", "resample": "D", "aggregate": None}),
    "fires": (fires_of_states_of_one_name, {"time": "year,month", "item_id": "state", "resample": "MS"}),
    "inverter": (inverter_with_two_strings, {"target": "Ppv(W)"}),
    "appliances": (appliances_in_tens, {"target": "Appliances"}),
    "headers": (prices_below_two_headers, {"skip_rows": 4, "item_id": "Location", "target": "Price"}),
}
STEPS = {
    "ledger": "12 steps of 1 month",
    "detectors": "288 steps of 5 minutes",
    "tanks": "24 steps of 1 hour",
    "tons": "12 steps of 1 month",
    "bicycles": "24 steps of 1 hour",
    "pickups": "if the dates are month first",
    "parking": "if the dates are month first",
}
"""Table -> how far its first command forecasts."""


@pytest.mark.parametrize("name", TEXTS)
def test_a_ledger_or_log_is_read_at_the_first_try(tmp_path: Path, name: str) -> None:
    make, expected = TEXTS[name]
    (tmp_path / "table.csv").write_text(make(), encoding="utf-8")
    proposal = find_proposals(tmp_path / "table.csv", DataConfig())[0]
    options = dict(proposal.options)
    assert {key: options.get(key) for key in expected} == expected
    assert STEPS.get(name, "") in proposal.forecasts


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
