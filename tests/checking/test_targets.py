"""The column that is forecast, by its name and by those beside it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, date_column, days, months, noise, uneven_days, values
from .first_commands import FirstCommand, check_first_command, each_case


def half_hours_called_y() -> pd.DataFrame:
    """As taylor: one column, whose name is short for year, too."""
    return pd.DataFrame({"Y": (20_000 + 100 * values(400)).astype(int)})


def forecasts_of_somebody_else() -> pd.DataFrame:
    hours = pd.date_range("2020-01-01", periods=300, freq="h").strftime("%Y-%m-%d %H:%M")
    columns = {"total load forecast": values(300), "total load actual": values(300), "wind": 9 * values(300)}
    return pd.DataFrame({"time": hours, **columns})


def flow_of_a_catchment() -> pd.DataFrame:
    """Hydrologists call the observed discharge `Qo`, the last column."""
    return pd.DataFrame({"Date": days(90), "P": noise(90), "E0": noise(90), "Qo": noise(90)})


def babies_by_months() -> pd.DataFrame:
    """The spread of an age, and how many there were, stand behind it."""
    return pd.DataFrame({"month": months(60), "sd": noise(60), "crawling": noise(60), "hours": noise(60)})


def prices_of_several_goods() -> pd.DataFrame:
    """The prices of four fuels stand beside how much is consumed."""
    frame = pd.DataFrame({"state": np.repeat([*"abc"], 20), "year": np.tile(np.arange(1960, 1980), 3)})
    prices = {name: noise(60) for name in ("price", "eprice", "oprice", "lprice")}
    return frame.assign(**prices, consumption=noise(60))


def crimes_of_states() -> pd.DataFrame:
    """The number of people stands before what they did, and the table is called after the states, too."""
    frame = pd.DataFrame({"state": np.repeat([*"abc"], 20), "year": np.tile(np.arange(1960, 1980), 3)})
    return frame.assign(population=RNG.integers(500_000, 600_000, 60), thefts=RNG.integers(900, 1900, 60))


def issues_of_a_product() -> pd.DataFrame:
    """As ALFRED writes what was known at several days: the last one is forecast."""
    product = {f"GDP_2024{month:02d}25": noise(120) for month in (1, 4, 7, 10)}
    return pd.DataFrame({"observation_date": months(120), **product})


def quotes_of_banks() -> pd.DataFrame:
    """What was bid is forecast, rather than how late the quote came."""
    stamps = pd.date_range("1997-06-01", periods=300, freq="10min").strftime("%Y%m%d%H%M").astype("int64")
    return pd.DataFrame({"XDATE": stamps, "DELAY": RNG.integers(1, 60, 300), "BID": noise(300), "ASK": noise(300)})


def what_came_true_beside_its_drivers() -> pd.DataFrame:
    """What was observed stands behind the radiation."""
    names = ("ghi_baseline", "ghi_reporting", "temperature", "observed_baseline")
    return pd.DataFrame({"Day": days(120), **{name: noise(120) for name in names}})


def coins_of_an_exchange() -> pd.DataFrame:
    """Each coin has the four prices of a day and a volume."""
    names = [f"{coin}:{name}" for coin in ("BTC", "ETH", "LTC") for name in ("open", "high", "low", "close", "volume")]
    sizes = {"volume": 90.0, "close": 9.0}
    return pd.DataFrame({"": days(120), **{name: sizes.get(name[4:], 9.0) + noise(120) for name in names}})


def air_of_a_street() -> pd.DataFrame:
    """The wind blows over it, and NO2 is no second number."""
    gases = {name: RNG.gamma(3, 9, 400).round() for name in ("nox", "no2", "o3")}
    wind = {"ws": RNG.gamma(2, 2, 400).round(2), "wd": RNG.integers(0, 36, 400) * 10}
    return pd.DataFrame({"date": pd.date_range("1998-01-01", periods=400, freq="h"), **wind, **gases})


def depth_of_a_well() -> pd.DataFrame:
    rain = {f"Rainfall_{town}": RNG.gamma(1, 3, 90).round(1) for town in ("Umbra", "Perugia")}
    drives = {"Temperature_Umbra": noise(90), "Volume_C10": noise(90)}
    return pd.DataFrame({"Date": days(90), **rain, **drives, "Depth_to_Groundwater_P24": noise(90)})


def tanks_in_hungarian() -> str:
    """Dates end in a point, and tanks are called as quarters are; the opening stock follows from the day before."""
    rows = [
        f"{day:%Y.%m.%d.};T{tank};{RNG.integers(5, 20)} 981;{RNG.integers(1, 5)} {RNG.integers(100, 999)}"
        for day in pd.date_range("2023-07-01", periods=60)
        for tank in range(1, 6)
    ]
    return "\n".join(["Dátum;Tartály;Nyitó készlet (l);Eladás (l)", *rows])


def shares_in_french() -> str:
    rows = [
        f"{day:%d/%m/%Y};{first:.2f};{last:.2f};{number}".replace(".", ",")
        for day, first, last, number in zip(
            pd.bdate_range("2024-01-02", periods=90), noise(90), noise(90), RNG.integers(9, 99, 90), strict=True
        )
    ]
    return "\n".join(["Séance;Ouverture;Dernier Cours;Titres", *rows])


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


def _days(days: pd.DatetimeIndex) -> list[tuple[pd.Timestamp, np.ndarray]]:
    return [(day, noise(4)) for day in days]


def basin() -> str:
    """Rain, temperature, evaporation and flow in the letters of hydrologists."""
    days = pd.date_range("1984-01-01", periods=500)
    lines = [f"{day:%Y-%m-%d},{each[0]:.1f},{each[1]:.1f},{each[2]:.1f},{each[3]:.4f}" for day, each in _days(days)]
    return "\n".join(["DatesR,P,T,E,Qmm", *lines])


def channels_of_a_campaign() -> str:
    lines = [
        f"{geo},{week:%Y-%m-%d}," + ",".join(f"{number * 100:.1f}" for number in noise(4))
        for geo in ("Geo0", "Geo1")
        for week in pd.date_range("2021-01-25", periods=110, freq="W-MON")
    ]
    return "\n".join(["geo,time,Channel0_impression,Channel0_spend,conversions,price_index", *lines])


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


def flow_beside_spreads() -> str:
    """The flow of a river beside the means, minima and maxima of what drives it."""
    drivers = [
        f"{name}_{statistic}"
        for name in ("snow_depth", "radiation", "soil_water")
        for statistic in ("mean", "min", "max")
    ]
    lines = [f"{day}," + ",".join(f"{number:.2f}" for number in noise(10)) for day in days(400)]
    return "\n".join([",".join(["date", *drivers, "streamflow"]), *lines])


def bars_of_shares() -> str:
    """Bars of a minute, with the words of an exchange for the four prices."""
    stamps = pd.date_range("2021-03-02 08:00", periods=60, freq="min")
    lines = [
        f"{isin},{stamp:%Y-%m-%d},{stamp:%H:%M}," + ",".join(f"{number:.2f}" for number in noise(4)) + f",{at * 7 % 90}"
        for at, stamp in enumerate(stamps)
        for isin in ("AT0000A0E9W5", "DE000A0DJ6J9")
    ]
    return "\n".join(["ISIN,Date,Time,StartPrice,MaxPrice,MinPrice,EndPrice,TradedVolume", *lines])


def days_of_a_weather_service() -> str:
    days = pd.date_range("2020-01-01", periods=400)
    cells = np.round(noise(400) * 10).astype(int)
    lines = (f"{day:%Y%m%d},{cell + 3},{cell},{cell - 40},{cell + 50}" for day, cell in zip(days, cells, strict=True))
    return "\n".join(["YYYYMMDD,FHVEC,TG,TN,TX", *lines])


def prices_of_a_share_in_india() -> str:
    """Shares that were delivered are an amount, and what is forecast is the last price."""
    days = pd.bdate_range("2022-01-03", periods=200)
    prices = 100 + noise(200).cumsum()
    lines = [
        f"{day:%d-%B-%Y},{price},{price + 3:.2f},{price - 3:.2f},{price + 1:.2f},{RNG.integers(9999, 99999)}"
        for day, price in zip(days, prices.round(2), strict=True)
    ]
    return "\n".join(["Date,Open Price,High Price,Low Price,Close Price,Deliverable Quantity", *lines])


def balance_of_a_grid_operator() -> str:
    """A unit stands behind the name of the demand, and a total is none of it."""
    hours = pd.date_range("2023-01-01", periods=500, freq="h")
    lines = [
        f"{hour:%Y-%m-%d %H:%M},{load:.0f},{load - 3:.0f},{RNG.integers(-90, 90)}"
        for hour, load in zip(hours, 1000 + 50 * noise(500), strict=True)
    ]
    return "\n".join(["Time,Demand Forecast (MW),Demand (MW),Total Interchange (MW)", *lines])


def teams_by_games() -> pd.DataFrame:
    """How often a team played is no result."""
    frame = pd.DataFrame({"year": np.tile(np.arange(1960, 2000), 6), "team": np.repeat([*"abcdef"], 40)})
    return frame.assign(games_played=RNG.integers(150, 163, 240), wins=RNG.integers(40, 110, 240))


def wages_of_persons() -> pd.DataFrame:
    """Hours come first, and wages are what persons are asked for."""
    frame = pd.DataFrame({"person": np.repeat(np.arange(20), 10), "year": np.tile(np.arange(1980, 1990), 20)})
    persons = {"age": np.tile(np.arange(20, 30), 20), "educ": RNG.integers(8, 18, 200)}
    return frame.assign(**persons, weeks=RNG.integers(20, 52, 200), ln_wage=noise(200))


def wages_of_firms() -> pd.DataFrame:
    """Those of a firm are what it pays beside what it sells."""
    frame = pd.DataFrame({"firm": np.repeat(np.arange(20), 10), "year": np.tile(np.arange(1980, 1990), 20)})
    return frame.assign(employees=noise(200), wage=noise(200), capital=noise(200))


def readings_of_a_meter() -> pd.DataFrame:
    """What has been counted so far, voltages and the battery stand before the power."""
    stamps = pd.date_range("2024-09-02", periods=600, freq="5min")
    power = np.abs(noise(600))
    volts = {"BattV_Min": noise(600) + 2, "V L1-N": 230 + noise(600).round(1)}
    return pd.DataFrame({"stamp": stamps, **volts, "kWh TOT": power.cumsum().round(2), "kW sys": power})


def rides_of_an_athlete() -> pd.DataFrame:
    """Two columns have one name, as a training log has them: no two statistics of a rate."""
    rates = {"Max Heart Rate": noise(200), "Max Heart Rate.1": noise(200), "Average Heart Rate": noise(200)}
    return pd.DataFrame({"Activity Date": uneven_days(200, 2), "Distance": noise(200), **rates})


def gas_furnace() -> pd.DataFrame:
    return pd.DataFrame({"X(t)": noise(120).cumsum().round(2), "Y(t)": noise(120).cumsum().round(2)})


def votes_and_codes() -> pd.DataFrame:
    """An equation of elections, whose incumbents are 1 and -1."""
    years = np.arange(1880, 2020, 4)
    party, share = RNG.choice([-1, 0, 1], len(years)), RNG.uniform(0.3, 0.6, len(years)).round(3)
    rates = {name: RNG.uniform(0.5, 3, len(years)).round(3) for name in ("g", "p", "growth", "gain")}
    return pd.DataFrame({"year": years, "V": share, "party": party} | rates)


def deaths_and_weather() -> pd.DataFrame:
    names = ("death", "cvd", "resp", "temp", "rhum", "o3")
    return pd.DataFrame({"date": days(200), **{name: noise(200).round(1) for name in names}})


def calls_and_durations() -> pd.DataFrame:
    """Durations that differ from row to row name no things."""
    waits = [f"0:{minute:02}:{second:02}" for minute, second in zip(*RNG.integers(0, 60, (2, 200)), strict=True)]
    week = 200 + 60 * np.sin(np.arange(200) * 2 * np.pi / 7)
    calls = RNG.poisson(week)
    waits[7] = ""
    return pd.DataFrame(
        {"Index": range(1, 201), "Calls": calls, "Answered": calls - 9, "Talk": waits[::-1], "Wait": waits}
    )


def shares_of_patients() -> pd.DataFrame:
    """Weeks of the CDC, of which 2014 has 53; shares stand beside the patients that they are of."""
    weeks = [(year, week) for year in range(2010, 2016) for week in range(1, 53 + (year == 2014))]
    frame = pd.DataFrame(
        [(f"Region {at}", *week) for week in weeks for at in (1, 2)], columns=["REGION", "YEAR", "WEEK"]
    )
    patients = RNG.integers(20_000, 40_000, len(frame))
    flu = (patients * RNG.uniform(0.01, 0.05, len(frame))).astype(int)
    return frame.assign(**{"% FLU": (100 * flu / patients).round(3), "TOTAL PATIENTS": patients, "FLU": flu})


def river_and_rain() -> pd.DataFrame:
    names = ("precipitation", "pet", "discharge_spec", "discharge_vol")
    return pd.DataFrame({"date": days(200), **{name: noise(200) for name in names}})


def load_and_generation() -> pd.DataFrame:
    """What came true stands beside what was forecast, and beside the power that pumps take."""
    names = (
        "generation hydro pumped storage consumption",
        "generation solar",
        "total load forecast",
        "total load actual",
    )
    return pd.DataFrame({"time": days(200), **{name: noise(200) for name in names}})


def receipts_in_polish() -> str:
    """Amounts are named after the rates of their tax, which are no shares."""
    stamps = pd.date_range("2022-01-03", periods=200) + pd.to_timedelta(RNG.integers(1200, 1300, 200), "min")
    rows = [f"{at:%Y-%m-%d %H:%M};{a};{a / 9:.3f};{a * 2}" for at, a in zip(stamps, noise(200), strict=True)]
    header = "Data i godzina;Sprzedaż brutto A (23%);Sprzedaż brutto E (zw.);Suma brutto"
    return "\n".join([header, *rows]).replace(".", ",").replace("(zw,)", "(zw.)")


def prices_in_chinese(names: str) -> pd.DataFrame:
    """The first, highest, lowest and last price of each day of a share, then how many were sold.

    Args:
        names: of the columns, with commas between them.
    """
    last = 30 + noise(90).cumsum() / 9
    prices = [last + noise(90) / 40 - 0.25, last + 1, last - 1, last]
    columns = [pd.bdate_range("2023-02-01", periods=90), *np.round(prices, 2), RNG.integers(9999, 99999, 90)]
    return pd.DataFrame(dict(zip(names.split(","), columns, strict=True)))


def quotes_beside_closing_prices() -> pd.DataFrame:
    """What was bid and asked at the end of a day stands before its prices."""
    last = (130 + noise(120).cumsum() / 9).round(2)
    prices = {"Opening price": last - 1, "Low price": last - 2, "Closing price": last}
    return pd.DataFrame(
        {"Date": pd.bdate_range("2021-01-04", periods=120), "Bid": last - 0.1, "Ask": last + 0.1, **prices}
    )


def demand_behind_generation() -> pd.DataFrame:
    """What a region needs, behind what it generates in all and by the wind."""
    stamps = pd.date_range("2020-01-01", periods=200, freq="15min")
    sizes = {"NI Generation": 80, "NI Demand": 85, "NI Wind Generation": 40}
    return pd.DataFrame({"DateTime": stamps, **{name: size * noise(200) for name, size in sizes.items()}})


def sensors_of_a_turbine() -> pd.DataFrame:
    """Means of ten minutes have numbers in their names, and reactive power does no work."""
    names = ["sensor_0_avg", "sensor_1_avg", "wind_speed_3_avg", "reactive_power_27_avg", "power_29_avg"]
    stamps = pd.date_range("2015-09-01", periods=200, freq="10min")
    return pd.DataFrame({"time_stamp": stamps, **{name: noise(200) for name in names}})


def ledger_of_a_warehouse() -> pd.DataFrame:
    """The balance at which a day starts is that at which the day before ended."""
    shipped, received = RNG.poisson(9, 120), RNG.poisson(8, 120)
    ending = 900 + (received - shipped).cumsum()
    moved = {"Receipts": received, "Customer Shipments": -shipped}
    balances = {"Starting Balance": ending - received + shipped, **moved, "Ending Balance": ending}
    return pd.DataFrame({"Date": days(120), **balances})


def deaths_of_a_population() -> pd.DataFrame:
    """A rate of so many persons is called after them, too, and is none of their numbers."""
    frame = pd.DataFrame({"country": np.repeat([*"abc"], 20), "year": np.tile(np.arange(1987, 2007), 3)})
    return frame.assign(population=RNG.integers(400_000, 500_000, 60), **{"suicides/100k pop": noise(60)})


def games_of_players() -> pd.DataFrame:
    """A share of what was thrown to somebody is called a target, too."""
    columns = {name: noise(600) for name in ("fantasy_points", "target_share", "air_yards_share")}
    players = np.repeat([f"00-00{at}" for at in range(30, 60)], 20)
    return pd.DataFrame({"player_id": players, "week": np.tile(np.arange(1, 21), 30), **columns})


def inputs_of_a_market() -> pd.DataFrame:
    """Inputs have letters and numbers for names, and what they are to tell has words."""
    inputs = {f"{letter}{at}": RNG.normal(0, 50**at, 400) for letter in "EMV" for at in range(1, 5)}
    return pd.DataFrame({"date_id": np.arange(400), **inputs, "forward_returns": RNG.normal(0, 0.01, 400)})


def signals_of_turbines() -> pd.DataFrame:
    """Means of ten minutes in the abbreviations of an operator."""
    stamps = pd.date_range("2016-01-01", periods=200, freq="10min").strftime("%Y-%m-%dT%H:%M:%S")
    names = ("Gen_RPM_Max", "Gen_RPM_Avg", "Grd_Prod_ReactPwr_Avg", "Grd_Prod_Pwr_Avg", "Amb_Temp_Avg")
    frame = pd.DataFrame({"Turbine_ID": np.tile(["T01", "T06"], 200), "Timestamp": np.repeat(stamps, 2)})
    return frame.assign(**{name: noise(400) for name in names})


def infections_and_bed_days() -> pd.DataFrame:
    """`n` is how many there were, and no number of the row; the days of all patients stand beside it."""
    return pd.DataFrame({"month": months(60), "n": RNG.poisson(9, 60), "days": 900 * noise(60)})


def prices_of_a_survey() -> pd.DataFrame:
    """The number of stations that were asked stands before their prices."""
    frame = pd.DataFrame({"DATA": days(90), "NÚMERO DE POSTOS PESQUISADOS": RNG.integers(40, 60, 90)})
    return frame.assign(**{"PREÇO MÉDIO REVENDA": noise(90) / 2})


def trains_planned_and_late() -> pd.DataFrame:
    counts = {"Nombre de circulations prévues": RNG.integers(90, 150, 60), "Nombre de trains annulés": noise(60)}
    return pd.DataFrame({"Date": months(60), **counts})


def milk_of_a_cow() -> pd.DataFrame:
    """The mean of seven days stands beside the yield, which is of a day."""
    milk = {"7 Days Average [kg]": noise(90), "Average Flow [kg/min]": noise(90), "Total Yield Per Day [kg]": noise(90)}
    return pd.DataFrame({"Date": days(90), **milk})


def a_weir() -> pd.DataFrame:
    """The level of the water has a spread, and follows the rain."""
    weather = {"AirTC_Avg": noise(90), "Rain_mm_Tot": noise(90)}
    return pd.DataFrame({"TIMESTAMP": days(90), **weather, "Lvl_m_Avg": noise(90), "Lvl_m_Std": noise(90)})


def a_shift_and_its_plan() -> pd.DataFrame:
    """The target of a shift is not what will come about."""
    return pd.DataFrame({"Date": days(90), "Target": np.repeat([420, 450, 480], 30), "Actual": 40 * noise(90)})


def fuel_of_a_car() -> pd.DataFrame:
    """What the car has driven so far stands first, and never falls."""
    driven = 98_000 + 60 * np.arange(90) + RNG.integers(0, 60, 90)
    return pd.DataFrame({"Data": uneven_days(90, 9), "Odo (km)": driven, "Fuel": 4 * noise(90), "Price": noise(90)})


def flux_of_a_soil() -> pd.DataFrame:
    soil = {"soil_temp_5cm": noise(90), "vwc": noise(90), "flux_umol_m2_s": noise(90), "r2": noise(90) / 12}
    return pd.DataFrame({"date": days(90), **soil})


def weather_with_pressure_first() -> pd.DataFrame:
    """All of it is weather; the pressure of the station is no outcome of the others."""
    return pd.DataFrame({"Date": days(90), "Temp (°C)": noise(90), "Stn Press (kPa)": 10 * noise(90)})


def a_payroll() -> pd.DataFrame:
    """What is earned in three ways, and all of it."""
    names = ("REGULAR EARNINGS", "OVERTIME EARNINGS", "OTHER EARNINGS", "GROSS PAY", "FEDERAL TAX", "STATE TAX")
    return pd.DataFrame({"PAY DATE": days(90), **{name: 90 * noise(90) for name in names}})


def prices_of_a_market() -> pd.DataFrame:
    """The smallest and the largest price of a day stand before the usual one."""
    names = ("Min Price (Rs./Quintal)", "Max Price (Rs./Quintal)", "Modal Price (Rs./Quintal)")
    return pd.DataFrame({"Price Date": days(90), **{name: noise(90) for name in names}})


def weighed_lorries() -> pd.DataFrame:
    """What a lorry weighs, empty, and what it carries; the clocks of two dates are not those of one."""
    arrivals = pd.Series(pd.date_range("2022-08-01 07:00", periods=120, freq="3h"))
    dates = {"Ing.": arrivals, "Egr.": arrivals + pd.Timedelta(minutes=20)}
    forms = {"Fecha": "%d/%m/%Y", "Hora": "%H:%M"}
    stamps = {f"{name} {of}": dates[of].dt.strftime(form) for of in dates for name, form in forms.items()}
    tare = noise(120)
    return pd.DataFrame({**stamps, "Bruto kg": 3 * noise(120), "Tara kg": tare, "Neto kg": 2 * noise(120)})


CASES = (
    FirstCommand("usual prices", prices_of_a_market, {"target": "Modal Price (Rs./Quintal)"}),
    FirstCommand("lorries", weighed_lorries, {"time": "Fecha Ing.,Hora Ing.", "target": "Neto kg"}),
    FirstCommand("players", games_of_players, {"item_id": "player_id", "target": "fantasy_points"}),
    FirstCommand("a market", inputs_of_a_market, {"time": "date_id", "target": "forward_returns"}),
    FirstCommand("an operator", signals_of_turbines, {"item_id": "Turbine_ID", "target": "Grd_Prod_Pwr_Avg"}),
    FirstCommand(
        "a target called Y",
        half_hours_called_y,
        {"time": "row-number"},
        "'Y', 12 steps of 1 row ahead, if the rows are in the order of time",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "forecasts",
        forecasts_of_somebody_else,
        {"target": "total load actual"},
        "'total load actual', 24 steps of 1 hour ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand("catchment", flow_of_a_catchment, {"target": "Qo"}),
    FirstCommand("babies", babies_by_months, {"target": "crawling"}),
    FirstCommand("prices", prices_of_several_goods, {"item_id": "state", "target": "consumption"}),
    FirstCommand("crimes", crimes_of_states, {"item_id": "state", "target": "thefts"}),
    FirstCommand("issues", issues_of_a_product, {"target": "GDP_20241025", "wide": None}),
    FirstCommand("quotes", quotes_of_banks, {"time": "XDATE", "target": "BID"}),
    FirstCommand("observed", what_came_true_beside_its_drivers, {"target": "observed_baseline"}),
    FirstCommand("coins", coins_of_an_exchange, {"target": "BTC:close"}),
    FirstCommand("the air", air_of_a_street, {"target": "nox"}),
    FirstCommand("a well", depth_of_a_well, {"target": "Depth_to_Groundwater_P24"}),
    FirstCommand("tanks", tanks_in_hungarian, {"item_id": "Tartály", "target": "Eladás (l)"}, num_series=5),
    FirstCommand("shares in French", shares_in_french, {"target": "Dernier Cours"}),
    FirstCommand("turbines", turbines, {"item_id": "Wind_turbine_name", "target": "P_avg"}, quick=True),
    FirstCommand(
        "positions", positions_of_a_market, {"item_id": "Market", "target": "Open Interest (All)"}, quick=True
    ),
    FirstCommand("basin", basin, {"target": "Qmm"}, quick=True),
    FirstCommand("campaign", channels_of_a_campaign, {"item_id": "geo", "target": "conversions"}, quick=True),
    FirstCommand("factory", stages_of_a_factory, {"target": "Stage1.Output.Size.U.Actual"}, quick=True),
    FirstCommand("spreads", flow_beside_spreads, {"target": "streamflow"}, quick=True),
    FirstCommand("bars", bars_of_shares, {"time": "Date,Time", "item_id": "ISIN", "target": "EndPrice"}, quick=True),
    FirstCommand("weather", days_of_a_weather_service, {"target": "TG"}, quick=True),
    FirstCommand("shares in India", prices_of_a_share_in_india, {"target": "Close Price"}, quick=True),
    FirstCommand("balance", balance_of_a_grid_operator, {"target": "Demand (MW)"}, quick=True),
    FirstCommand("teams", teams_by_games, {"target": "wins", "item_id": "team"}),
    FirstCommand("wages", wages_of_persons, {"target": "ln_wage", "item_id": "person"}),
    FirstCommand("firms", wages_of_firms, {"target": "employees", "item_id": "firm"}),
    FirstCommand("meter", readings_of_a_meter, {"target": "kW sys"}),
    FirstCommand("rides", rides_of_an_athlete, {"target": "Distance"}),
    FirstCommand("furnace", gas_furnace, {"time": "row-number", "target": "Y(t)"}),
    FirstCommand("elections", votes_and_codes, {"target": "V", "wide": None}),
    FirstCommand("mortality", deaths_and_weather, {"target": "death", "wide": None}),
    FirstCommand("calls", calls_and_durations, {"target": "Calls"}),
    FirstCommand("flu", shares_of_patients, {"time": "YEAR,WEEK", "item_id": "REGION", "target": "FLU"}),
    FirstCommand("river", river_and_rain, {"target": "discharge_spec"}),
    FirstCommand("actual", load_and_generation, {"target": "total load actual"}),
    FirstCommand("Polish", receipts_in_polish, {"target": "Suma brutto"}, encoding="cp1250", quick=True),
    FirstCommand("Chinese", lambda: prices_in_chinese("日期,开盘,最高,最低,收盘,成交量"), {"target": "收盘"}),
    FirstCommand(
        "Taiwan", lambda: prices_in_chinese("交易日期,開盤價,最高價,最低價,收盤價,成交量"), {"target": "收盤價"}
    ),
    FirstCommand("bids", quotes_beside_closing_prices, {"target": "Closing price"}),
    FirstCommand("demand", demand_behind_generation, {"target": "NI Demand"}),
    FirstCommand("sensors", sensors_of_a_turbine, {"target": "power_29_avg"}),
    FirstCommand("warehouse", ledger_of_a_warehouse, {"target": "Customer Shipments"}),
    FirstCommand("infections", infections_and_bed_days, {"target": "n"}),
    FirstCommand("a survey", prices_of_a_survey, {"target": "PREÇO MÉDIO REVENDA"}),
    FirstCommand("trains", trains_planned_and_late, {"target": "Nombre de trains annulés"}),
    FirstCommand("a cow", milk_of_a_cow, {"target": "Total Yield Per Day [kg]"}),
    FirstCommand("a weir", a_weir, {"target": "Lvl_m_Avg"}),
    FirstCommand("a plan", a_shift_and_its_plan, {"target": "Actual"}),
    FirstCommand("a car", fuel_of_a_car, {"target": "Fuel"}),
    FirstCommand("a soil", flux_of_a_soil, {"target": "flux_umol_m2_s"}),
    FirstCommand("a station", weather_with_pressure_first, {"target": "Temp (°C)"}),
    FirstCommand("a payroll", a_payroll, {"target": "GROSS PAY"}),
    FirstCommand("a rate", deaths_of_a_population, {"item_id": "country", "target": "suicides/100k pop"}),
)


@each_case(CASES)
def test_the_first_command_forecasts_the_column_named_best(
    forecast: Callable, tmp_path: Path, case: FirstCommand
) -> None:
    check_first_command(case, tmp_path, forecast)


COUNTS = np.random.default_rng(0).poisson(400, 240)
DIRECTIONS = 10 * np.random.default_rng(1).integers(0, 37, 240)
MARKS = np.random.default_rng(1).integers(1, 4, 240)


@pytest.mark.parametrize(
    ("name", "columns", "target"),
    [
        pytest.param(
            "a", lambda: {"temp": values(240), "humidity": values(240), "riders": COUNTS}, "riders", id="weather"
        ),
        pytest.param(
            "a", lambda: {"temp": values(240), "Zone 1 Consumption": values(240)}, "Zone 1 Consumption", id="energy"
        ),
        pytest.param("a", lambda: {"temp": values(240), "gust": values(240)}, "temp", id="nothing but weather"),
        pytest.param(
            "a", lambda: {"price": values(240), "income": values(240), "cars": values(240)}, "price", id="price"
        ),
        pytest.param(
            "a", lambda: {"price": values(240), "reskwh": values(240), "cpi": values(240)}, "reskwh", id="kilowatts"
        ),
        pytest.param(
            "a", lambda: {"Price": values(240), "Unit Sales": values(240)}, "Unit Sales", id="price of what is sold"
        ),
        pytest.param("a", lambda: {"Sales change": values(240), "margin": values(240)}, "margin", id="change"),
        pytest.param(
            "a", lambda: {"shift_hours": 8 * MARKS, "made": values(240)}, "made", id="settings before what is made"
        ),
        pytest.param(
            "a", lambda: {"setpoint": 60 + MARKS, "flow": values(240)}, "flow", id="plans before what is measured"
        ),
        pytest.param(
            "a", lambda: {"rain_mm": values(240), "discharge_m3s": values(240)}, "discharge_m3s", id="rain of a river"
        ),
        pytest.param("a", lambda: {"temp": values(240), "litres": values(240)}, "litres", id="weather and a figure"),
        pytest.param("a", lambda: {"temp_c": values(240), "level_m": values(240)}, "level_m", id="a level"),
        pytest.param(
            "a", lambda: {"Bounce rate": values(240), "Sessions": COUNTS}, "Sessions", id="rate and what it is of"
        ),
        pytest.param("a", lambda: {"rate": values(240), "share": values(240)}, "rate", id="nothing but rates"),
        pytest.param(
            "OECDGas", lambda: {"income": values(240), "gas": values(240)}, "gas", id="last word of the table"
        ),
        pytest.param("a", lambda: {"samplesize": COUNTS, "approve": values(240)}, "approve", id="persons asked"),
        pytest.param(
            "a",
            lambda: {"rainfall[mm]": values(240), "PET": values(240), "Discharge[ls-1]": values(240)},
            "Discharge[ls-1]",
            id="a river",
        ),
        pytest.param("a", lambda: {"TN": values(240), "RR": values(240), "CASES": COUNTS}, "CASES", id="cases"),
        pytest.param(
            "a", lambda: {"apertura": values(240), "precio_cierre": values(240)}, "precio_cierre", id="last price"
        ),
        pytest.param("a", lambda: {"expected_orders": COUNTS + 1, "orders": COUNTS}, "orders", id="what was expected"),
        pytest.param("a", lambda: {"pred_load": values(240), "margin": values(240)}, "margin", id="a prediction"),
        pytest.param("a", lambda: {"ghi_clear": values(240), "ghi": values(240)}, "ghi", id="a clear sky"),
        pytest.param("a", lambda: {"WR": DIRECTIONS, "x": values(240)}, "x", id="where the wind comes from"),
        pytest.param("hseinv", lambda: {"price": values(240), "inv": values(240)}, "inv", id="short name of the table"),
        pytest.param("a", lambda: {"Fault Label": MARKS - 1, "bar": values(240)}, "bar", id="labels"),
        pytest.param(
            "steps",
            lambda: {
                **{f"Steps.{hour}AM": values(240) for hour in range(12)},
                "Total.Steps": COUNTS,
                "Calories": COUNTS,
            },
            "Total.Steps",
            id="many called as the table",
        ),
    ],
)
def test_the_target_is_what_most_evidence_speaks_for(
    tmp_path: Path, name: str, columns: Callable[[], dict[str, np.ndarray]], target: str
) -> None:
    path = tmp_path / f"{name}.csv"
    pd.DataFrame({"date": date_column(240), **columns()}).to_csv(path, index=False)
    assert find_proposals(path, DataConfig(), most=1)[0].target == target
