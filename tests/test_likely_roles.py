"""`forecast check` finds the target and the identifier of a table by the evidence of its cells."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.checking.missing_marks import marks_of_missing
from forecast_attn.config.options import DataConfig

from .made_columns import RNG, days, months, noise


def prices_of_several_goods() -> pd.DataFrame:
    """The prices of four fuels stand beside how much is consumed."""
    frame = pd.DataFrame({"state": np.repeat([*"abc"], 20), "year": np.tile(np.arange(1960, 1980), 3)})
    prices = {name: noise(60) for name in ("price", "eprice", "oprice", "lprice")}
    return frame.assign(**prices, consumption=noise(60))


def shots_of_a_game() -> pd.DataFrame:
    """`y` is how far from the side a shot was taken."""
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 90, 900)), "D")
    shots = {"x": RNG.integers(0, 50, 900), "y": RNG.integers(0, 90, 900)}
    return pd.DataFrame({"date": stamps.strftime("%Y-%m-%d"), "player": RNG.choice([*"abcd"], 900), **shots})


def regions_of_three_periods() -> pd.DataFrame:
    """The numbers of regions go up by one in each row, and are no time; three periods are too few."""
    growth = pd.DataFrame({"region": np.tile(np.arange(1, 22), 3), "y": noise(63)})
    return growth.assign(period=np.repeat(np.arange(1, 4), 21))


def pupils_by_half_years() -> pd.DataFrame:
    """Years from the middle of primary school begin again with each pupil."""
    lengths = np.tile([5, 6], 60)
    years = np.concatenate([np.arange(length) - 2.5 for length in lengths])
    frame = pd.DataFrame({"school": np.repeat(np.arange(12), len(years) // 12), "year": years, "math": noise(660)})
    return frame.assign(child=np.repeat(np.arange(2000, 2120), lengths))


def harvests_of_farms() -> pd.DataFrame:
    """The seasons of each farm stand in their order, and no column counts them."""
    return pd.DataFrame({"id": np.repeat(np.arange(101, 161), 8), "output": noise(480), "labour": noise(480)})


def hours_after_doses() -> pd.DataFrame:
    """The hours are no even steps, so rows are none either."""
    hours = np.tile([0.25, 0.5, 0.75, 1, 1.25, 2, 3, 4, 5, 6, 8], 20)
    return pd.DataFrame({"id": np.repeat(np.arange(20), 11), "after": hours, "conc": noise(220)})


def careers_of_players() -> pd.DataFrame:
    """Players come and go: each has a row in every year of his career, an eighth of all years."""
    starts = np.repeat(np.sort(RNG.integers(1900, 2012, 60)), 14)
    frame = pd.DataFrame({"player": np.repeat(np.arange(60), 14).astype(str), "year": starts + np.tile(range(14), 60)})
    frame["player"] = "p" + frame["player"]
    return frame.assign(games=RNG.integers(3, 99, 840)).sort_values(["year", "player"])


def a_column_of_few_rows() -> pd.DataFrame:
    """Sales of discs are known of a third of the weeks."""
    discs = np.where(np.arange(90) % 3, np.nan, noise(90))
    week = pd.date_range("2020-01-06", periods=90, freq="W-MON").strftime("%Y-%m-%d")
    return pd.DataFrame({"week": week, "discs": discs, "tickets": noise(90), "staff": noise(90)})


def quarters_written_twice() -> pd.DataFrame:
    """As gretl writes them: 1964Q1, and once more as a number that goes up by 0.1, or by 0.7 to the next year."""
    years, quarters = np.repeat(np.arange(1964, 1984), 4), np.tile(np.arange(1, 5), 20)
    obs = [f"{year}Q{quarter}" for year, quarter in zip(years, quarters, strict=True)]
    return pd.DataFrame({"obs": obs, "period": years + quarters / 10, "rate": noise(80), "money": noise(80)})


def years_beside_a_trend() -> pd.DataFrame:
    return pd.DataFrame({"obs": np.arange(1922, 1962), "trend": np.arange(1, 41), "q": noise(40), "p": noise(40)})


def crimes_of_states() -> pd.DataFrame:
    """The number of people stands before what they did, and the table is called after the states, too."""
    frame = pd.DataFrame({"state": np.repeat([*"abc"], 20), "year": np.tile(np.arange(1960, 1980), 3)})
    return frame.assign(population=RNG.integers(500_000, 600_000, 60), thefts=RNG.integers(900, 1900, 60))


def incidents_in_words() -> pd.DataFrame:
    """What was hit, where and how is said in words; a few were reported long before the others."""
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 900, 3000), "D")
    stamps = stamps.where(np.arange(3000) % 500 > 0, stamps - pd.Timedelta("4000D"))
    words = {name: RNG.choice([*"abcd"], 3000) for name in ("operator", "phase", "sky", "species")}
    return pd.DataFrame({"date": stamps.strftime("%Y-%m-%d"), **words, "height": RNG.integers(0, 9000, 3000)})


def clicks_of_visitors() -> pd.DataFrame:
    """Each visitor comes on a few days, so that the clicks of all are counted together."""
    days = np.sort(RNG.integers(0, 300, (300, 9)), axis=1).ravel()
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(days * 86_400 + np.arange(2700) % 9, "s")
    frame = pd.DataFrame({"visitor": np.repeat(np.arange(300), 9), "event": RNG.choice([*"abc"], 2700)})
    frame["julian.date"] = 2_460_311 + days  # of which no sum is wanted
    return frame.assign(timestamp=stamps.strftime("%Y-%m-%d %H:%M:%S"))


def houses_sold() -> pd.DataFrame:
    """Bedrooms belong to a house, and the next one sold has others: their sum says nothing."""
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 400, 900)), "D")
    houses = {"bedrooms": RNG.integers(1, 9, 900), "baths": RNG.integers(1, 4, 900), "built": RNG.choice([*"abc"], 900)}
    return pd.DataFrame({"sold": stamps.strftime("%Y-%m-%d"), **houses})


def discs_ordered() -> pd.DataFrame:
    """What a name calls a number of something is summed."""
    return houses_sold().rename(columns={"bedrooms": "number_of_discs"})


def flows_on_some_days() -> pd.DataFrame:
    """Measured on uneven days: each value is like the one before it."""
    frame = houses_sold().drop_duplicates("sold")
    return frame.assign(bedrooms=1e3 * np.exp(np.sin(np.arange(len(frame)) / 9)), built=None, baths=noise(len(frame)))


def spikes_at_uneven_times() -> pd.DataFrame:
    """A unit of time in the plural is a time, though no two steps are equal."""
    return pd.DataFrame({"milliseconds": 50 + np.cumsum(RNG.integers(1, 30, 300)), "rate": noise(300)})


def visits_after_a_therapy() -> pd.DataFrame:
    """Days since something are a time, wherever the word stands in the name."""
    days = np.concatenate([np.cumsum(RNG.integers(20, 40, 12)) for _ in range(30)])
    return pd.DataFrame({"patient": np.repeat(np.arange(30), 12), "Days.after.start": days, "viruses": noise(360)})


def returns_of_shares() -> pd.DataFrame:
    """They follow no others, as the rows of no series do, but lie around zero."""
    return pd.DataFrame({"no": range(1, 121), **{name: noise(120) / 10 - 1 for name in ("bank", "oil", "steel")}})


def ratings_since_1996() -> pd.DataFrame:
    """Seconds since 1970 have nine digits until 2001; two stand at one time."""
    stamps = np.sort(RNG.integers(830_000_000, 1_480_000_000, 1500)).repeat(2)
    return pd.DataFrame({"user": RNG.permutation(3000), "stars": RNG.integers(1, 6, 3000), "timestamp": stamps})


def scores_of_some_seasons() -> pd.DataFrame:
    """Whole numbers beside years are no months where some are empty."""
    scores = np.where(np.arange(120) % 7, 1 + np.arange(120) % 12, np.nan)
    return pd.DataFrame({"season_start": 1900 + np.arange(120), "score": scores, "y": noise(120)})


def ammonium_below_limits() -> pd.DataFrame:
    """As laboratories write it: below what the instrument shows, and once more with a number instead."""
    clean = np.where(np.arange(90) % 7, noise(90), 0.006)
    return pd.DataFrame({"date": months(90), "raw": np.where(clean > 1, clean.astype(str), "<0.006"), "clean": clean})


def tracks_of_storms() -> pd.DataFrame:
    """Names come again after six years; several storms blow at a time."""
    starts = [pd.Timestamp(f"{year}-08-{day:02d}") for year in range(2000, 2012) for day in (1, 3, 5)]
    stamps = pd.DatetimeIndex(np.concatenate([pd.date_range(each, periods=20, freq="6h") for each in starts]))
    parts = {name: getattr(stamps, name) for name in ("year", "month", "day", "hour")}
    names = np.repeat([f"s{at % 18}" for at in range(36)], 20)
    return pd.DataFrame({"name": names, **parts, "wind": noise(720), "pressure": noise(720)})


def periods_of_two_years() -> pd.DataFrame:
    """A switch says the same as the year, and stands before it."""
    frame = pd.DataFrame({"late": np.repeat([0, 1], 26), "period": np.tile(np.arange(1, 27), 2), "share": noise(52)})
    return frame.assign(year=np.repeat([1998, 2000], 26))


def scenarios_by_an_index() -> pd.DataFrame:
    """`idx` counts the steps of each scenario, and is no number of a row."""
    frame = pd.DataFrame({"scenario": np.repeat(np.arange(4), 30), "idx": np.tile(np.arange(30), 4)})
    return frame.assign(trend=noise(120), season=noise(120))


def noise_by_an_index() -> pd.DataFrame:
    """pandas names an index so that has no name; rows that follow no others have their dates all the same."""
    return pd.DataFrame({"index": months(90), "a": noise(90), "b": noise(90)})


def forces_at_uneven_times() -> pd.DataFrame:
    """As laboratories name columns: with their units."""
    return pd.DataFrame({"Time (s)": RNG.uniform(0.05, 0.15, 400).cumsum().round(3), "Force [N]": noise(400).cumsum()})


def subscriptions_of_a_shop() -> pd.DataFrame:
    """Amounts of 9 to 99 are paid at any time: they add up, and 99 is no mark of a missing value."""
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.cumsum(RNG.integers(1, 200, 900)), "min")
    amounts = RNG.choice([9.0, 19.0, 29.0, 99.0], 900)
    return pd.DataFrame({"Created": stamps.strftime("%Y-%m-%d %H:%M"), "Amount": amounts, "Paid": amounts})


def ozone_in_two_zones() -> pd.DataFrame:
    """Dates and clocks stand twice, of the place and of Greenwich."""
    hours = pd.date_range("2023-06-01", periods=240, freq="h")
    stamps = {"Local": hours, "GMT": hours + pd.Timedelta("8h")}
    parts = {"Date": "%Y-%m-%d", "Time": "%H:%M"}
    columns = {f"{part} {zone}": stamps[zone].strftime(form) for zone in stamps for part, form in parts.items()}
    return pd.DataFrame({**columns, "Measurement": noise(240)})


def fluxes_of_half_hours() -> pd.DataFrame:
    """The ends of intervals are digits, and no measurement."""
    stamps = pd.date_range("2020-01-01", periods=401, freq="30min").strftime("%Y%m%d%H%M").astype("int64")
    return pd.DataFrame({"TIMESTAMP_START": stamps[:-1], "TIMESTAMP_END": stamps[1:], "NEE": noise(400)})


def vehicles_of_quarter_hours() -> pd.DataFrame:
    """The day of each row has a midnight behind it; classes of vehicles stand beside their total."""
    stamps = pd.date_range("2023-03-06 00:14", periods=960, freq="15min")
    classes = {f"{at} cm": RNG.integers(50, 90, 960) for at in (520, 660, 1160, 1800, 2500)}
    frame = pd.DataFrame({"Report Date": stamps.strftime("%Y-%m-%dT00:00:00"), "Ending": stamps.strftime("%H:%M:%S")})
    return frame.assign(Interval=np.tile(np.arange(96), 10), **classes, **{"Total Volume": sum(classes.values())})


def entries_by_doors() -> pd.DataFrame:
    """The codes of doors look like dates, but there is no day 00."""
    hours = pd.date_range("2021-04-03", periods=100, freq="4h")
    doors = np.repeat(["02-00-00", "02-00-01", "02-03-00"], 100)
    frame = pd.DataFrame({"door": doors, "time": np.tile(hours.strftime("%Y-%m-%d %H:%M"), 3)})
    return frame.assign(entries=RNG.integers(0, 400, 300))


def fires_of_some_years() -> pd.DataFrame:
    """Numbers of fires begin again each year; of some it is not known when they began, and all ended."""
    starts = pd.Timestamp("2010-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 5_000_000, 4000)), "min")
    names = "F" + pd.Series(starts.year).groupby(starts.year).cumcount().astype(str)
    frame = pd.DataFrame({"year": starts.year, "fire": names, "start": starts.strftime("%Y-%m-%d %H:%M")})
    ends = (starts + pd.to_timedelta(RNG.integers(60, 6000, 4000), "min")).strftime("%Y-%m-%d %H:%M")
    return frame.assign(
        start=frame["start"].mask(frame.index % 50 == 7), end=ends, size=RNG.integers(1, 900, 4000) / 10
    )


def shares_called_by_letters() -> pd.DataFrame:
    """`Y` is a share as the others are, and no target."""
    return pd.DataFrame({name: noise(200).cumsum() for name in "ABCDEFGWXYZ"})


def factors_of_an_exchange() -> pd.DataFrame:
    """The prices of five shares are series of one kind."""
    days = pd.bdate_range("2020-01-01", periods=300).strftime("%Y-%m-%d")
    return pd.DataFrame(
        {"Date": days, **{name: noise(300).cumsum() for name in ("MTUM", "QUAL", "SIZE", "USMV", "VLUE")}}
    )


def cases_by_counties() -> pd.DataFrame:
    """Columns are called by the numbers of counties, of which some have hardly a case."""
    return pd.DataFrame({"week": range(120), **{str(8300 + at): RNG.poisson(3 * at**2, 120) for at in range(8)}})


def issues_of_a_product() -> pd.DataFrame:
    """As ALFRED writes what was known at several days: the last one is forecast."""
    product = {f"GDP_2024{month:02d}25": noise(120) for month in (1, 4, 7, 10)}
    return pd.DataFrame({"observation_date": months(120), **product})


def charges_of_cards() -> pd.DataFrame:
    """The newest comes first, in seconds since 1970; when a card ends is no time."""
    created = np.sort(RNG.integers(1_700_000_000, 1_730_000_000, 600))[::-1]
    ends = {"exp_month": RNG.integers(1, 13, 600), "exp_year": RNG.integers(2025, 2029, 600)}
    return pd.DataFrame({"id": range(600), "amount": RNG.integers(500, 9000, 600), "created": created, **ends})


def places_in_no_order() -> pd.DataFrame:
    """Places are no steps, however their numbers follow each other."""
    coordinates = {"latitude_deg": RNG.uniform(25, 49, 90), "longitude_deg": RNG.uniform(-120, -70, 90)}
    return pd.DataFrame({"code": [f"K{at}" for at in range(90)], **coordinates, "elevation": noise(90).cumsum()})


def quotes_of_banks() -> pd.DataFrame:
    """What was bid is forecast, rather than how late the quote came."""
    stamps = pd.date_range("1997-06-01", periods=300, freq="10min").strftime("%Y%m%d%H%M").astype("int64")
    return pd.DataFrame({"XDATE": stamps, "DELAY": RNG.integers(1, 60, 300), "BID": noise(300), "ASK": noise(300)})


def orders_in_several_lines() -> pd.DataFrame:
    """The first line of an order has its number and its total, and two dates; the others repeat one of these."""
    lines = np.tile([True, False, True], 400)
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.cumsum(RNG.integers(1, 600, 1200) * lines), "min")
    frame = pd.DataFrame(
        {"Paid at": stamps.strftime("%Y-%m-%d %H:%M"), "Created at": stamps.strftime("%Y-%m-%d %H:%M")}
    )
    frame["Paid at"] = frame["Paid at"].where(lines)
    parts = {name: np.where(lines, noise(1200), np.nan) for name in ("Subtotal", "Taxes", "Shipping", "Total")}
    return frame.assign(**parts, Price=noise(1200), Id=np.where(lines, 5 * 10**9 + np.arange(1200), np.nan))


def reports_of_devices() -> pd.DataFrame:
    """Each reports every ten minutes, off by some seconds, and no two at one time."""
    steps = {name: 600 * np.arange(200) + RNG.integers(0, 20, 200) + 220 * at for at, name in enumerate("abc")}
    frame = pd.concat({name: pd.Series(each, name="at") for name, each in steps.items()}, names=["unit"])
    frame = frame.reset_index("unit").sort_values("at")
    return frame.assign(at=pd.Timestamp("2024-03-01") + pd.to_timedelta(frame["at"], "s"), volts=noise(600))


def samples_of_two_points() -> pd.DataFrame:
    """Only the name of a column says that the samples are not of one river."""
    days = pd.to_timedelta(np.sort(RNG.choice(3000, 160, replace=False)), "D")
    frame = pd.DataFrame({"sampled": pd.Timestamp("2015-01-01") + days, "Sampling point": "inlet"})
    frame.loc[RNG.permutation(160)[:80], "Sampling point"] = "outlet"
    return frame.assign(nitrate=noise(160))


def machine_at_uneven_times() -> pd.DataFrame:
    """A set point is no point where something was measured."""
    frame = samples_of_two_points().drop(columns="Sampling point")
    return frame.assign(**{"set point": RNG.integers(60, 63, 160)})


def prices_of_a_bank() -> pd.DataFrame:
    """The four prices of a day end alike, and are no series of one kind."""
    prices = {f"{name} Price": 100 + noise(200) for name in ("Open", "High", "Low", "Close")}
    return pd.DataFrame({"Date": pd.bdate_range("2020-01-01", periods=200).strftime("%Y-%m-%d"), **prices})


def flights_on_some_days() -> pd.DataFrame:
    """Each is a row a second for some minutes; the next one is days away."""
    starts = 90_000 * np.array([0, 4, 5, 9])
    seconds = (starts[:, None] + np.arange(300)).ravel()
    stamps = pd.Timestamp("2024-03-01") + pd.to_timedelta(seconds, "s")
    return pd.DataFrame({"time": stamps, "callsign": np.repeat([*"ABCD"], 300), "altitude": noise(1200).cumsum()})


def purchases_of_customers() -> pd.DataFrame:
    """Nothing but a day and a customer, most of whom came twice or three times."""
    dates = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 400, 4000)), "D")
    return pd.DataFrame({"date": dates.strftime("%Y-%m-%d"), "id": RNG.integers(0, 1500, 4000)})


def products_of_countries() -> pd.DataFrame:
    """The largest is a thousand times the smallest; all grow by like shares."""
    sizes = {f"{first}land": 10.0**power for first, power in zip("ABCDEFG", (0, 1, 1, 2, 2, 3, 3), strict=True)}
    grown = {name: size * np.exp(RNG.normal(0.01, 0.01, 120).cumsum()) for name, size in sizes.items()}
    return pd.DataFrame({"Month": months(120), **grown}).round(4)


def products_of_an_economy() -> pd.DataFrame:
    """Rates and stocks of one country move by unlike shares."""
    moves = {"output": (4000, 0.01), "deficit": (30, 0.4), "bills": (5, 0.1), "cars": (9, 0.01), "cpi": (90, 0.002)}
    series = {name: size * np.exp(RNG.normal(0, move, 120)) for name, (size, move) in moves.items()}
    return pd.DataFrame({"Month": months(120), **series, "stock": 2000 + noise(120)}).round(4)


def prices_of_zones() -> pd.DataFrame:
    """All names end in one unit."""
    zones = ("Denmark 1", "France", "Poland", "Slovenia")
    return pd.DataFrame({"Month": months(120), **{f"{zone}[€/MWh]": noise(120) for zone in zones}})


def depths_of_two_wells() -> pd.DataFrame:
    """The numbers of two stations stand in names that are else equal."""
    wells = ("USGS:380616075380701:72019:00000", "USGS:394008077005601:72019:00000")
    return pd.DataFrame({"datetimeUTC": days(120), **{well: 20 + noise(120) for well in wells}})


def gauges_of_a_river() -> pd.DataFrame:
    """The number of the station and that of what it measures differ: 60 is the discharge, 10 the temperature."""
    sizes = {"01632000:00060": 900.0, "01632000:00010": 20.0, "01634000:00060": 1900.0, "01634000:00010": 21.0}
    return pd.DataFrame(
        {"datetimeUTC": days(120), **{f"USGS:{name}": size + noise(120) for name, size in sizes.items()}}
    )


def coins_of_an_exchange() -> pd.DataFrame:
    """Each coin has the four prices of a day and a volume."""
    names = [f"{coin}:{name}" for coin in ("BTC", "ETH", "LTC") for name in ("open", "high", "low", "close", "volume")]
    sizes = {"volume": 90.0, "close": 9.0}
    return pd.DataFrame({"": days(120), **{name: sizes.get(name[4:], 9.0) + noise(120) for name in names}})


def fluxes_by_day_and_hour() -> pd.DataFrame:
    """Units stand in the names; the day of the year and the hour are no date without a year, and no series either."""
    hours = {"Day --": np.repeat(np.arange(1, 61), 48), "Hour --": np.tile(np.arange(1, 49) / 2, 60)}
    return pd.DataFrame({**hours, "NEE umol": noise(2880), "Tair degC": 10 * noise(2880)})


def bikes_at_a_station() -> pd.DataFrame:
    """Asked each minute or so, as often in every hour; the number of bikes seldom changes."""
    stamps = pd.Timestamp("2013-08-29") + pd.to_timedelta(np.cumsum(RNG.integers(55, 70, 900)), unit="s")
    bikes = np.repeat(RNG.integers(0, 20, 90), 10)
    return pd.DataFrame({"time": stamps.floor("min").strftime("%Y-%m-%d %H:%M:%S"), "bikes": bikes})


def what_came_true_beside_its_drivers() -> pd.DataFrame:
    """What was observed stands behind the radiation."""
    names = ("ghi_baseline", "ghi_reporting", "temperature", "observed_baseline")
    return pd.DataFrame({"Day": days(120), **{name: noise(120) for name in names}})


def cases_known_in_some_years() -> pd.DataFrame:
    """Cases are known of half of the years; of the last one some countries have told these, all have told relapses."""
    frame = pd.DataFrame(
        itertools.product([f"land {at}" for at in range(20)], range(1980, 2014)), columns=["land", "year"]
    )
    is_told = (frame["year"] > 1996) & ((frame["year"] < 2013) | (frame["land"] < "land 13"))
    cases, relapses = frame["year"] * 2.0 + noise(len(frame)), noise(len(frame))
    return frame.assign(cases=cases.where(is_told), relapses=pd.Series(relapses).where(frame["year"] == 2013))


def temperatures_in_two_units() -> pd.DataFrame:
    """Both columns hold the same temperature."""
    celsius = 20 + noise(120)
    return pd.DataFrame({"Day": days(120), "TempC": celsius, "TempF": celsius * 1.8 + 32})


def ages_of_a_core() -> pd.DataFrame:
    """Ages have five decimals, and rise by no equal steps."""
    ages = (RNG.choice(np.arange(1, 90_000), 300, replace=False) / 1e5).round(5)
    return pd.DataFrame({"Age [kyr BP]": np.sort(ages), "CO2 [ppm]": noise(300)})


def workers_of_provinces() -> pd.DataFrame:
    """Each combination of names has one row; neighbours are alike, for they are of one province."""
    names = pd.MultiIndex.from_product([["north", "south"], ["men", "women"], ["young", "old"], [*"abcdefghij"]])
    frame = names.to_frame(index=False, name=["province", "sex", "age", "status"])
    return frame.assign(persons=noise(80).cumsum(), rate=noise(80).cumsum())


def turbines_by_size() -> pd.DataFrame:
    """Codes of several shapes are names of things."""
    codes = [form.format(at) for at in range(10, 20) for form in ("V{}/2000", "E-{}", "N{}")]
    return pd.DataFrame({"turbine": codes, "height": noise(30).cumsum(), "power": noise(30).cumsum()})


def birds_of_islands() -> pd.DataFrame:
    """Birds stand island by island and year by year, males and females in turn; the sizes of neighbours are unlike."""
    island, year = np.repeat([*"abc"], 80), np.tile(np.repeat([2007, 2008], 40), 3)
    sex, size = np.tile([0.0, 9.0], 120), np.repeat([0.0, 20.0, 50.0], 80)
    frame = pd.DataFrame({"ring": np.arange(240) + 100, "island": island, "year": year, "sex": sex.astype(int)})
    return frame.assign(bill=noise(240) + size + sex, weight=noise(240) + 3 * size + sex)


def claims_of_cities() -> pd.DataFrame:
    """The number of the city stands behind a switch for each year."""
    years = np.tile(np.arange(1980, 1990), 12)
    switches = {f"d{year}": (years == year).astype(int) for year in range(1980, 1990)}
    return pd.DataFrame({"year": years, "claims": noise(120), **switches, "city": np.repeat(np.arange(12), 10)})


def children_at_three_ages() -> pd.DataFrame:
    """Half years are the time of a few rows of each child."""
    frame = pd.DataFrame({"id": np.repeat(np.arange(60), 3) + 70, "age": np.tile([1.0, 1.5, 2.0], 60)})
    return frame.assign(score=noise(180))


def buoys_one_below_the_other() -> pd.DataFrame:
    """Samples of a water, as a file of all buoys has them: the year is the only time, and many rows have it."""
    buoys = pd.DataFrame(itertools.product([1993, 1997], [0, -2, -5], [-110, -95]), columns=["Year", "Lat", "Lon"])
    rows = buoys.loc[buoys.index.repeat(40)].reset_index(drop=True)
    return rows.assign(sea=noise(480), air=noise(480), wind=noise(480) - 10)


def noise_beside_its_place() -> pd.DataFrame:
    """A ship measures where it is."""
    return pd.DataFrame({"lat": noise(90).cumsum() / 10, "lon": noise(90).cumsum() / 10, "salt": noise(90), "o2": 1})


def scenes_of_a_satellite() -> pd.DataFrame:
    """The date stands in one column and in three: `Y` is a year, and no target."""
    stamps = pd.Timestamp("1984-03-27") + pd.to_timedelta(16 * np.arange(200), unit="D")
    parts = {"Y": stamps.year, "M": stamps.month, "D": stamps.day}
    return pd.DataFrame({"rdate": stamps.strftime("%m/%d/%Y"), **parts, "ndvi": noise(200), "blue": noise(200) * 90})


def velocities_of_a_star() -> pd.DataFrame:
    """Nights of two telescopes, one below the other, by the day of astronomers; the error is not forecast."""
    nights = np.tile(2458378.5 + np.cumsum(RNG.uniform(0.1, 9, 60)).round(4), 2)
    return pd.DataFrame({"bjd": nights, "rv_err": noise(120), "rv": noise(120), "site": np.repeat([*"ab"], 60)})


def shares_of_one_year() -> pd.DataFrame:
    """States of one election: their numbers, from 1 to 50, and the ages of who answered are no days of the year."""
    return pd.DataFrame(
        {"rownames": np.arange(1, 51), "year": 2016, "age": RNG.permutation(50) + 18, "share": noise(50)}
    )


def survey_every_other_year() -> pd.DataFrame:
    """Persons are asked in even years, how many words they know of ten; no year between has a zero."""
    years = np.sort(RNG.choice(np.arange(1974, 2018, 2), 2000))
    return pd.DataFrame({"year": years, "words": RNG.binomial(10, 0.6, 2000), "age": RNG.integers(18, 80, 2000)})


def winners_of_a_prize() -> pd.DataFrame:
    """When a winner was born is no target, nor the year of the film."""
    years = np.repeat(np.arange(1930, 2020), 2)
    born = {f"birth_{part}": RNG.integers(1, 12, 180) for part in ("mo", "d")}
    return pd.DataFrame({"year": years, "prize": [*"ab"] * 90, **born, "yearMade": years - 1, "votes": noise(180) * 90})


def costs_of_square_feet() -> pd.DataFrame:
    """The costs of square feet do not add up."""
    stamps = pd.date_range("2010-01-01", periods=900).repeat(RNG.integers(0, 3, 900))
    return pd.DataFrame({"sold": stamps.strftime("%Y-%m-%d"), "CostPerSqFt": RNG.gamma(2, 50, len(stamps)).round(2)})


def patients_by_survival() -> pd.DataFrame:
    """How long each patient lived is no time of the table, nor are its rows steps."""
    frame = pd.DataFrame({"time": RNG.integers(5, 220, 60), "event": RNG.integers(0, 2, 60), "grade": [*"ab"] * 30})
    return frame.sort_values(["grade", "time"]).assign(size=noise(60))


def countries_asked_twice() -> pd.DataFrame:
    """Two years of each country are too few for a series, and the rows are no events."""
    names = [f"{a}{b}" for a in "abcdefg" for b in "hijklmn"]
    years = np.concatenate([np.sort(RNG.choice(np.arange(1990, 2010), 2, replace=False)) for _ in names])
    frame = pd.DataFrame({"country": np.repeat(names, 2), "year": years, "litres": noise(2 * len(names))})
    return frame.sort_values("year", kind="stable")


def visits_of_patients() -> pd.DataFrame:
    """All numbers are properties of a patient: nothing that could be forecast."""
    centre, answer = np.repeat(RNG.integers(1, 3, 40), 5), RNG.choice(["good", "poor"], 200)
    return pd.DataFrame(
        {"month": np.tile(np.arange(5), 40), "subject": np.repeat(np.arange(40), 5), "centre": centre}
    ).assign(status=answer)


def shops_week_by_week() -> pd.DataFrame:
    """The shops of a week stand below those of the week before, and no column says which week it is."""
    return pd.DataFrame({"shop": [f"shop of {name}" for name in "abcdefghi"] * 60, "volume": noise(540) * 50})


def weekdays_in_turn() -> pd.DataFrame:
    """The same with weekdays, which are no series."""
    return pd.DataFrame({"name": ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"] * 60, "volume": noise(420) * 50})


def an_economy_and_its_past() -> pd.DataFrame:
    """Changes and lags of columns are no series of their own."""
    frame = pd.DataFrame({"inf": noise(50) + 9, "unem": noise(50) / 2}, index=range(1948, 1998))
    changes = {f"c{name}": frame[name].diff() for name in frame}
    past = {f"{name}_1": frame[name].shift() for name in frame}
    return frame.assign(**changes, **past).rename_axis("year").reset_index()


def plots_of_a_field() -> pd.DataFrame:
    """Numbers of plots may count time, or not."""
    return pd.DataFrame({"plot": np.tile(np.arange(1, 37), 4), "site": np.repeat([*"abcd"], 36), "ears": noise(144)})


def jobs_of_persons() -> pd.DataFrame:
    """Switches that are numbered are no steps."""
    return pd.DataFrame(
        {"id": [f"p{at}" for at in range(40)], **{f"reg{at}": RNG.integers(0, 2, 40) for at in range(661, 685)}}
    )


def parks_of_teams() -> pd.DataFrame:
    """A team plays in several parks, in most of which but once or twice."""
    parks = [(f"team {team}", f"park {park}", 30 if park == 0 else 2) for team in "abcdefg" for park in range(4)]
    rows = [(team, park, year, year) for team, park, count in parks for year in range(1990, 1990 + count)]
    frame = pd.DataFrame(rows, columns=["team", "park", "year", "seen"]).sort_values("year", kind="stable")
    return frame.assign(seen=noise(len(frame)) * 900)


def batches_of_a_process() -> pd.DataFrame:
    """Batches stand one below the other, as many rows each as they took."""
    lengths = RNG.integers(50, 70, 12)
    return pd.DataFrame({"batch_id": np.repeat(np.arange(12) + 1, lengths), "heat": noise(lengths.sum())})


def goods_of_markets() -> pd.DataFrame:
    """The rows of a market are its goods, which come again in other markets, and no steps."""
    goods = np.tile([f"good {name}" for name in "abcdefghijkl"], 20)
    return pd.DataFrame({"market_id": np.repeat(np.arange(20), 12), "good": goods, "share": noise(240)})


def gases_of_scenarios() -> pd.DataFrame:
    """Years up to 2500 are the names of columns, and two columns those of a row."""
    years = {str(year): noise(12) for year in range(2000, 2501)}
    names = {"scenario": np.repeat([*"ab"], 6), "gas": np.tile([*"cdefgh"], 2), "unit": "Mt"}
    return pd.DataFrame({**names, **years})


def survey_of_some_years() -> pd.DataFrame:
    """Each year of a survey has many rows; in a year without one nobody was asked."""
    years = np.setdiff1d(np.arange(1972, 2008), [1979, 1981, 1992, 1995])
    stamps = np.repeat(years, RNG.integers(60, 90, len(years)))
    return pd.DataFrame({"year": stamps, "degree": RNG.choice([*"abc"], len(stamps))})


def correlations() -> pd.DataFrame:
    """The names of the rows are those of the columns."""
    names = [f"V{at}" for at in range(1, 14)]
    return pd.DataFrame(RNG.uniform(0, 1, (13, 13)).round(3), columns=names).assign(of=names)


def crash_of_a_motorcycle() -> pd.DataFrame:
    """Several rows have the same time after the crash, which is no target."""
    times = np.sort(RNG.integers(0, 50, 120)) / 5
    return pd.DataFrame({"times": times, "head": np.cumsum(RNG.normal(0, 1, 120)).round(2)})


def grid_of_a_satellite() -> pd.DataFrame:
    """`y` is the place of a cell beside its latitude."""
    cells = pd.DataFrame({"x": [1, 1, 2, 2], "y": [1, 2, 1, 2], "lat": [1.0, 2, 1, 2], "long": [5.0, 5, 6, 6]})
    frame = pd.concat([cells.assign(id=[f"{x}-{y}" for x, y in zip(cells.x, cells.y, strict=True)])] * 60)
    return frame.assign(date=np.repeat(months(60), 4), ozone=noise(240))


def patients_of_a_wave() -> pd.DataFrame:
    """Few of the patients have an order of infection, which is no reason to forecast its mean."""
    order = np.where(np.arange(900) % 20, np.nan, np.arange(900) % 6 + 1.0)
    stamps = pd.Timestamp("2020-02-01") + pd.to_timedelta(np.sort(RNG.integers(0, 60, 900)), "D")
    return pd.DataFrame({"confirmed": stamps.strftime("%Y-%m-%d"), "infection_order": order})


def path_of_a_glider() -> pd.DataFrame:
    """The direction of a course is a number of degrees, and no target."""
    stamps = pd.date_range("2021-06-01", periods=200, freq="min").strftime("%Y-%m-%d %H:%M")
    return pd.DataFrame({"stamp": stamps, "track": noise(200).cumsum() % 360, "altitude": noise(200).cumsum()})


def flow_of_a_catchment() -> pd.DataFrame:
    """Hydrologists call the observed discharge `Qo`, the last column."""
    return pd.DataFrame({"Date": days(90), "P": noise(90), "E0": noise(90), "Qo": noise(90)})


def greenness_of_a_camera() -> pd.DataFrame:
    """Photos by day; the nights have no rows, that of the change of clocks neither."""
    stamps = pd.date_range("2021-01-01", "2021-12-31 23:30", freq="30min")
    stamps = stamps[(stamps.hour > 6) & (stamps.hour < 20)]
    jitter = pd.to_timedelta(RNG.integers(31, 33, len(stamps)), "s")
    statistics = {name: noise(len(stamps)) for name in ("exposure", "ir_mean", "ir_std", "ir_5_qtl", "ir_50_qtl")}
    return pd.DataFrame({"stamp": (stamps + jitter).strftime("%Y-%m-%d %H:%M:%S"), **statistics, "elev": noise(1)[0]})


def lives_of_patients() -> pd.DataFrame:
    """The only number of a row, the days since something, is no target."""
    return pd.DataFrame({"rownames": range(1, 61), "years.after.birth": noise(60).round(1)})


def bakes_of_episodes() -> pd.DataFrame:
    """Several bakers have a row in each episode of a season."""
    episodes = np.tile(np.repeat(np.arange(1, 9), 6), 5)
    seasons, baker = np.repeat(np.arange(1, 6), 48), RNG.choice([*"abcdefgh"], 240)
    return pd.DataFrame({"series": seasons, "episode": episodes, "baker": baker, "rank": RNG.integers(1, 7, 240)})


def returns_beside_cash() -> pd.DataFrame:
    """The cash earns far less than shares move."""
    names = ("AAPL", "AXP", "BA", "CAT", "CVX", "DD", "DIS", "GS", "HD", "IBM", "KO", "V")
    shares = {name: RNG.normal(0, 0.01, 90).round(5) for name in names}
    return pd.DataFrame({"Date": days(90), **shares, "cash": 1e-5 + RNG.uniform(0, 1e-6, 90).round(8)})


def ticks_of_broods() -> pd.DataFrame:
    """Means of some broods a year are averaged, never summed."""
    years = np.repeat(np.arange(1990, 2010), RNG.integers(3, 9, 20))
    return pd.DataFrame({"YEAR": years, "meanTICKS": RNG.gamma(1, 9, len(years)).round(3)})


def sieves() -> pd.DataFrame:
    """`mm` is a unit of length where it is not the whole name."""
    openings = np.round(np.geomspace(0.02, 125, 30)[::-1], 4)
    return pd.DataFrame({"Designation": [f"no {at}" for at in range(30)], "opening, mm": openings, "wire": noise(30)})


def prices_without_names() -> pd.DataFrame:
    """As gnuplot's example: the day, the first, highest, lowest and last price, and how many shares were sold."""
    first, last = noise(90), noise(90)
    prices = {"high": np.maximum(first, last) + 1, "low": np.minimum(first, last) - 1, "last": last}
    frame = pd.DataFrame({"day": days(90), "first": first, **prices, "volume": RNG.integers(1e6, 9e6, 90)})
    return frame.T.reset_index(drop=True).T.set_axis([f"column_{at}" for at in range(1, 7)], axis=1)


def persons_asked(years_apart: bool) -> pd.DataFrame:
    """A survey numbers whom it asks from 1 on, others each year; a panel asks the same persons again."""
    years, persons = np.repeat(np.arange(1990, 2010), 40), np.tile(np.arange(1, 41), 20)
    of_person = noise(800) if years_apart else noise(40)[persons - 1] + noise(800) / 10
    return pd.DataFrame(
        {"id": persons, "year": years, "income": of_person, "hours": of_person[::-1], "sex": RNG.choice([*"fm"], 800)}
    )


def answers_of_persons() -> pd.DataFrame:
    """A survey asks other persons each year, of whom it does not say more than their number was planned."""
    years = np.repeat(np.arange(1990, 2010), RNG.integers(30, 50, 20))
    answers = {
        "realrinc": RNG.gamma(1, 9000, len(years)).round(),
        "age": RNG.integers(18, 90, len(years)),
        "gender": "f",
    }
    return pd.DataFrame({"year": years, **answers})


def flows_of_creeks() -> pd.DataFrame:
    """The only number of a row is what was measured, and no event, even if it says nothing of the next one."""
    lengths = np.sort(RNG.integers(0, 900, (4, 30))).ravel()
    stamps = pd.Timestamp("2017-01-01") + pd.to_timedelta(lengths, "D")
    return pd.DataFrame(
        {"site": np.repeat([*"abcd"], 30), "date": stamps.strftime("%Y-%m-%d"), "flow": RNG.gamma(1, 3, 120).round(2)}
    )


def schools_of_some_years() -> pd.DataFrame:
    """The earnings are known of few rows, which is no reason to forecast a code."""
    frame = pd.DataFrame({"unitid": np.repeat(np.arange(500, 540), 8), "year": np.tile(np.arange(2007, 2015), 40)})
    frame["degree_type"] = RNG.integers(1, 4, 320)
    return frame.assign(earnings=np.where(frame["year"] % 4 == 0, noise(320), np.nan))


def wars_of_states() -> pd.DataFrame:
    """The days of some dates are unknown, and the rows are in no order of time."""
    starts = np.repeat(RNG.integers(0, 60000, 50), 4)  # one for each side of a war
    stamps = pd.Series(pd.Timestamp("1816-01-01") + pd.to_timedelta(starts, "D"))
    dates = stamps.dt.strftime("%m/%d/%Y").where(np.arange(200) % 9 > 0, "-9/-9/1900")
    lengths = {"mindur": noise(200).cumsum().round(2), "maxdur": noise(200)}
    return pd.DataFrame({"rownames": range(1, 201), "stdate": dates, **lengths})


def air_of_a_street() -> pd.DataFrame:
    """The wind blows over it, and NO2 is no second number."""
    gases = {name: RNG.gamma(3, 9, 400).round() for name in ("nox", "no2", "o3")}
    wind = {"ws": RNG.gamma(2, 2, 400).round(2), "wd": RNG.integers(0, 36, 400) * 10}
    return pd.DataFrame({"date": pd.date_range("1998-01-01", periods=400, freq="h"), **wind, **gases})


def depth_of_a_well() -> pd.DataFrame:
    rain = {f"Rainfall_{town}": RNG.gamma(1, 3, 90).round(1) for town in ("Umbra", "Perugia")}
    drives = {"Temperature_Umbra": noise(90), "Volume_C10": noise(90)}
    return pd.DataFrame({"Date": days(90), **rain, **drives, "Depth_to_Groundwater_P24": noise(90)})


def scans_of_a_brain() -> pd.DataFrame:
    """Each of several regions is seen at the same points of time, in any order of rows."""
    keys = [(subject, event, region) for subject in ("s1", "s2", "s3") for event in ("cue", "stim") for region in "fp"]
    rows = [(*key, point) for key in keys for point in range(19)]
    frame = pd.DataFrame(rows, columns=["subject", "event", "region", "timepoint"]).sample(frac=1, random_state=1)
    return frame[["subject", "timepoint", "event", "region"]].assign(signal=noise(len(frame)))


def sales_of_numbered_clients() -> pd.DataFrame:
    """Each row is a series, and three numbers together name it."""
    keys = [(client, house, 1000 + product) for client in range(4) for house in (1, 2) for product in range(client, 9)]
    weeks = pd.date_range("2022-07-04", periods=60, freq="7D").strftime("%Y-%m-%d")
    sold = RNG.poisson(2, (len(keys), 60)).astype(float)
    names = pd.DataFrame(keys, columns=["Client", "Warehouse", "Product"])
    return pd.concat([names, pd.DataFrame(sold, columns=weeks)], axis=1)


def babies_by_months() -> pd.DataFrame:
    """The spread of an age, and how many there were, stand behind it."""
    return pd.DataFrame({"month": months(60), "sd": noise(60), "crawling": noise(60), "hours": noise(60)})


def visits_without_patients() -> pd.DataFrame:
    """The month of a visit goes up within a patient, whom no column names; rows are no steps of one series."""
    lengths = np.tile([7, 9, 8], 12)
    visits = np.concatenate([np.arange(length) * 2 for length in lengths])
    return pd.DataFrame({"Fup": visits, "RNA": noise(len(visits)).cumsum().round(2), "cd4": noise(len(visits))})


def birds_by_all_their_words() -> pd.DataFrame:
    """Most rows are those of short series, which are forecast, too, if one is long enough for more."""
    long = pd.DataFrame({"week": np.arange(1, 31), "nest": "a", "phase": "early", "count": noise(30)})
    rest = [pd.DataFrame({"week": [at, at + 1, at + 2], "nest": f"n{at}", "phase": "late"}) for at in range(1, 19)]
    return pd.concat([long, *(each.assign(count=noise(3)) for each in rest)])


def holidays_of_years() -> pd.DataFrame:
    """The only numbers are parts of the date, and none of them is a target."""
    stamps = pd.to_datetime([f"{year}-{day}" for day in ("01-01", "07-04", "12-25") for year in range(2004, 2022)])
    parts = {"Month": stamps.month, "Day": stamps.day, "Year": stamps.year}
    return pd.DataFrame({"Date": stamps.strftime("%Y-%m-%d"), "Holiday": np.repeat([*"abc"], 18), **parts})


def bills_of_two_months() -> pd.DataFrame:
    """Bills come every sixty days or so, and a quarter would have one or two."""
    stamps = pd.date_range("2012-01-20", periods=40, freq="2MS") + pd.to_timedelta(RNG.integers(0, 3, 40), "D")
    return pd.DataFrame({"start": stamps.strftime("%Y-%m-%d"), "value": noise(40)})


def numbers_as_stata_writes_them() -> pd.DataFrame:
    """Numbers below one have no zero before the point, and a row of them is neither a title nor a name of columns."""
    frame = pd.DataFrame({name: 1.5 + np.abs(RNG.normal(0, 0.3, 90).cumsum()) for name in ("f1", "f2", "f1b")})
    frame.loc[[6, 40]] = [[0.073, 0.313, -0.009], [0.158, 0.183, 0.211]]
    return frame.map(lambda number: f"{number:.4f}".replace("0.", ".", 1) if abs(number) < 1 else f"{number:.4f}")


def bakers_of_seasons() -> pd.DataFrame:
    """Fewer of them take part in each episode, and their names come again in other seasons."""
    rows = [
        (season, baker, episode)
        for season in range(1, 7)
        for episode in range(1, 9)
        for baker in [*"abcdefghij"][: 11 - episode]
    ]
    frame = pd.DataFrame(rows, columns=["series", "baker", "episode"]).sort_values(["series", "baker", "episode"])
    return frame.assign(technical=RNG.integers(1, 11, len(frame)))


CASES: dict[str, tuple[Callable[[], pd.DataFrame], dict[str, object]]] = {
    "catchment": (flow_of_a_catchment, {"target": "Qo"}),
    "camera": (greenness_of_a_camera, {"target": "ir_mean", "resample": "30min", "tz": None}),
    "lives": (lives_of_patients, {}),
    "episodes": (bakes_of_episodes, {}),
    "cash": (returns_beside_cash, {"wide": True}),
    "broods": (ticks_of_broods, {"target": None, "resample": "1", "aggregate": None}),
    "prices without names": (prices_without_names, {"target": "column_5"}),
    "survey": (lambda: persons_asked(years_apart=True), {"item_id": None, "ignore": ("id",)}),
    "panel": (lambda: persons_asked(years_apart=False), {"ignore": None, "target": "income"}),
    "answers": (answers_of_persons, {"target": "realrinc", "resample": "1", "aggregate": None}),
    "creeks": (flows_of_creeks, {"item_id": "site", "target": None, "aggregate": None}),
    "schools": (schools_of_some_years, {}),
    "wars": (wars_of_states, {}),
    "babies": (babies_by_months, {"target": "crawling"}),
    "visits without patients": (visits_without_patients, {}),
    "birds of nests": (birds_by_all_their_words, {"item_id": "nest", "lookback": 2, "horizon": 2}),
    "holidays": (holidays_of_years, {}),
    "bills": (bills_of_two_months, {"resample": "2MS", "missing": None}),
    "stata": (numbers_as_stata_writes_them, {"time": "row-number", "skip_footer": None, "skip_rows": None}),
    "sieves": (sieves, {"time": "row-number"}),
    "prices": (prices_of_several_goods, {"item_id": "state", "target": "consumption"}),
    "shots": (shots_of_a_game, {"target": "row-count"}),
    "regions": (regions_of_three_periods, {"time": "period", "item_id": "region"}),
    "pupils": (
        pupils_by_half_years,
        {"time": "year", "item_id": "child", "date_format": "0.5", "target": "math"},
    ),
    "harvests": (harvests_of_farms, {"time": "row-number", "item_id": "id", "target": "output"}),
    "bakers": (bakers_of_seasons, {"time": "episode", "item_id": "baker,series", "target": None}),
    "careers": (careers_of_players, {"item_id": "player", "freq": None}),
    "few rows": (a_column_of_few_rows, {"target": "tickets"}),
    "quarters": (quarters_written_twice, {"time": None, "target": "money"}),
    "a trend": (years_beside_a_trend, {"time": "obs", "target": "q"}),
    "doses": (hours_after_doses, {}),
    "crimes": (crimes_of_states, {"item_id": "state", "target": "thefts"}),
    "incidents": (incidents_in_words, {"item_id": None, "target": "row-count", "resample": "D"}),
    "clicks": (clicks_of_visitors, {"item_id": None, "target": "row-count"}),
    "houses": (houses_sold, {"target": "row-count"}),
    "discs": (discs_ordered, {"target": "number_of_discs", "aggregate": "sum"}),
    "flows": (flows_on_some_days, {"target": "bedrooms", "aggregate": None}),
    "spikes": (spikes_at_uneven_times, {"time": "milliseconds", "target": None}),
    "visits": (visits_after_a_therapy, {"time": "Days.after.start", "item_id": "patient"}),
    "returns": (returns_of_shares, {"time": "no", "target": "bank"}),
    "ratings": (ratings_since_1996, {"date_format": "s", "resample": "MS"}),
    "scores": (scores_of_some_seasons, {"time": "season_start", "target": None}),
    "ammonium": (ammonium_below_limits, {"target": "clean", "na": ("<0.006",)}),
    "storms": (tracks_of_storms, {"time": "year,month,day,hour", "item_id": "name,year", "target": "wind"}),
    "scenarios": (scenarios_by_an_index, {"time": "idx", "item_id": "scenario"}),
    "an index": (noise_by_an_index, {"target": "a"}),
    "a comma in a name": (lambda: noise_by_an_index().rename(columns={"index": "Month, local"}), {"target": "a"}),
    "periods": (periods_of_two_years, {"time": "period", "item_id": "year", "target": "share"}),
    "seconds": (forces_at_uneven_times, {"time": "Time (s)", "target": None}),
    "amounts": (subscriptions_of_a_shop, {"na": None, "target": "Amount", "resample": "D", "aggregate": "sum"}),
    "zones": (ozone_in_two_zones, {"time": "Date Local,Time Local"}),
    "intervals": (fluxes_of_half_hours, {"time": "TIMESTAMP_START", "target": "NEE"}),
    "vehicles": (vehicles_of_quarter_hours, {"time": "Report Date,Ending", "target": "Total Volume", "wide": None}),
    "doors": (entries_by_doors, {"item_id": "door"}),
    "fires": (fires_of_some_years, {"time": "start", "target": "row-count", "undated_rows": "drop"}),
    "letters": (shares_called_by_letters, {"time": "row-number", "wide": True, "target": None}),
    "factors": (factors_of_an_exchange, {"wide": True}),
    "counties": (cases_by_counties, {"wide": True}),
    "issues": (issues_of_a_product, {"target": "GDP_20241025", "wide": None}),
    "charges": (charges_of_cards, {"time": "created", "date_format": "s", "target": "amount", "resample": "D"}),
    "places": (places_in_no_order, {}),
    "claims": (claims_of_cities, {"item_id": "city", "target": "claims"}),
    "children": (children_at_three_ages, {"time": "age", "item_id": "id", "date_format": "0.5"}),
    "workers": (workers_of_provinces, {}),
    "birds": (birds_of_islands, {}),
    "turbines": (turbines_by_size, {}),
    "quotes": (quotes_of_banks, {"time": "XDATE", "target": "BID"}),
    "devices": (reports_of_devices, {"item_id": "unit", "resample": "10min"}),
    "points": (samples_of_two_points, {"item_id": "Sampling point"}),
    "settings": (machine_at_uneven_times, {"item_id": None}),
    "shares of a bank": (prices_of_a_bank, {"target": "Close Price", "wide": None}),
    "no points": (lambda: samples_of_two_points().rename(columns={"Sampling point": "mood"}), {"item_id": None}),
    "flights": (flights_on_some_days, {"item_id": "callsign", "resample": None}),
    "customers": (purchases_of_customers, {"ignore": ("id",), "target": "row-count", "resample": "D"}),
    "countries": (products_of_countries, {"wide": True}),
    "an economy": (products_of_an_economy, {"wide": None}),
    "units": (prices_of_zones, {"wide": True}),
    "wells": (depths_of_two_wells, {"wide": True}),
    "gauges": (gauges_of_a_river, {"wide": None, "target": "USGS:01632000:00060"}),
    "observed": (what_came_true_beside_its_drivers, {"target": "observed_baseline"}),
    "coins": (coins_of_an_exchange, {"target": "BTC:close"}),
    "hours of days": (fluxes_by_day_and_hour, {"time": "row-number", "item_id": None, "season": "48"}),
    "bikes": (bikes_at_a_station, {"target": None}),
    "half known": (cases_known_in_some_years, {"item_id": "land", "target": "cases", "past_covariates": ("relapses",)}),
    "two units": (temperatures_in_two_units, {"wide": None}),
    "a core": (ages_of_a_core, {"time": "Age [kyr BP]", "date_format": "0.00001", "target": None}),
    "buoys": (buoys_one_below_the_other, {"time": "row-number", "item_id": "Lat,Lon", "target": "sea"}),
    "a ship": (noise_beside_its_place, {"time": "row-number", "item_id": None, "target": "salt"}),
    "scenes": (scenes_of_a_satellite, {"time": None, "target": "ndvi"}),
    "a star": (velocities_of_a_star, {"target": "rv"}),
    "one year": (shares_of_one_year, {}),
    "the air": (air_of_a_street, {"target": "nox"}),
    "a well": (depth_of_a_well, {"target": "Depth_to_Groundwater_P24"}),
    "scans": (scans_of_a_brain, {"time": "timepoint", "item_id": "subject,event,region"}),
    "clients": (sales_of_numbered_clients, {"layout": "rows", "item_id": "Client,Warehouse,Product"}),
    "a survey": (survey_every_other_year, {"target": "words", "resample": "2", "aggregate": None}),
    "prizes": (winners_of_a_prize, {"item_id": "prize", "target": "votes"}),
    "costs": (costs_of_square_feet, {"target": None, "aggregate": None, "resample": "W-MON"}),
    "survival": (patients_by_survival, {}),
    "asked twice": (countries_asked_twice, {}),
    "patients": (visits_of_patients, {}),
    "shops in turn": (shops_week_by_week, {"time": "row-number", "item_id": "shop"}),
    "weekdays": (weekdays_in_turn, {}),
    "changes": (an_economy_and_its_past, {"target": "inf", "wide": None}),
    "plots": (plots_of_a_field, {"time": "plot", "item_id": "site"}),
    "switches": (jobs_of_persons, {"layout": None}),
    "parks": (parks_of_teams, {"item_id": "team,park"}),
    "batches": (batches_of_a_process, {"time": "row-number", "item_id": "batch_id"}),
    "goods": (goods_of_markets, {"item_id": None}),
    "gases": (gases_of_scenarios, {"layout": "rows", "item_id": "scenario,gas"}),
    "some years": (survey_of_some_years, {"target": "row-count", "resample": "1", "missing": "mask"}),
    "correlations": (correlations, {"layout": None}),
    "a crash": (crash_of_a_motorcycle, {"time": "row-number", "target": "head"}),
    "a grid": (grid_of_a_satellite, {"target": "ozone"}),
    "a wave": (patients_of_a_wave, {"target": "row-count"}),
    "a glider": (path_of_a_glider, {"target": "altitude"}),
    "orders": (orders_in_several_lines, {"time": "Created at", "ignore": ("Id",), "target": "Total"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_first_command_names_target_and_series(tmp_path: Path, name: str) -> None:
    make, expected = CASES[name]
    make().to_csv(tmp_path / "table.csv", index=False)
    proposals = find_proposals(tmp_path / "table.csv", DataConfig())
    options = dict(proposals[0].options) if proposals else {}
    assert {key: options.get(key) for key in expected or options} == expected


def test_a_year_is_no_mark_of_a_missing_value() -> None:
    frame = pd.DataFrame({"year": np.tile([92, 95, 99], 30)})
    assert marks_of_missing(frame) == ()
    assert marks_of_missing(frame.rename(columns={"year": "answers"})) == ("99",)


def test_marks_of_a_test_are_averaged(tmp_path: Path) -> None:
    survey_every_other_year().to_csv(tmp_path / "table.csv", index=False)
    words = [each for each in find_proposals(tmp_path / "table.csv", DataConfig()) if each.target == "words"]
    assert [dict(each.options).get("aggregate") for each in words] == [None]


@pytest.mark.parametrize(
    ("make", "condition"),
    [(plots_of_a_field, "if 'plot' counts time"), (children_at_three_ages, "if 'age' counts time")],
)
def test_numbers_that_no_name_calls_a_time_are_said_to_be_taken_for_one(
    tmp_path: Path, make: Callable[[], pd.DataFrame], condition: str
) -> None:
    make().to_csv(tmp_path / "table.csv", index=False)
    assert ("counts time" in find_proposals(tmp_path / "table.csv", DataConfig())[0].forecasts) == bool(condition)


def test_a_place_is_no_series_of_a_wide_table(tmp_path: Path) -> None:
    noise_beside_its_place().assign(o2=noise(90)).to_csv(tmp_path / "cruise.csv", index=False)
    wide = [each for each in find_proposals(tmp_path / "cruise.csv", DataConfig()) if dict(each.options).get("wide")]
    assert [dict(each.options)["ignore"] for each in wide] == [("lat", "lon")]


def test_the_cells_of_a_cube_of_five_names_are_not_counted(tmp_path: Path) -> None:
    """Statistical offices give each number a row of names, as records have them."""
    names = ["Nationality", "Applicant", "Stage", "Duration", "Sex"]
    answers = [["Chad", "Mali"], ["new", "repeat"], ["first", "appeal"], ["short", "long"], ["men", "women"]]
    cells = pd.DataFrame(itertools.product(months(80), *answers), columns=["Date", *names])
    frame = pd.concat([cells, cells.sample(frac=0.4, random_state=1)]).sort_values("Date")  # some in two rows
    path = tmp_path / "decisions.csv"
    frame.assign(Applications=RNG.integers(0, 90, len(frame))).to_csv(path, index=False)
    assert find_proposals(path, DataConfig())[0].target == "Applications"


def test_a_typical_year_without_names_is_one_series(tmp_path: Path) -> None:
    """As EnergyPlus writes the weather: each month is that of another year."""
    stamps = pd.date_range("2001-01-01", periods=8760, freq="h")
    years = np.array([1986, 1979, 1992, 1980, 1991, 1977, 1988, 1985, 1990, 1983, 1989, 1982])[stamps.month - 1]
    frame = pd.DataFrame([years, stamps.month, stamps.day, stamps.hour + 1, noise(8760)]).T
    path = tmp_path / "chicago.epw"
    frame.astype(dict.fromkeys(range(4), int)).to_csv(path, header=False, index=False)
    options = find_proposals(path, DataConfig())[0].options
    assert dict(options) == {"header": False, "time": "row-number", "season": "24", "target": "column_5"}


def test_names_of_another_table_below_are_no_marks_of_missing_values(tmp_path: Path) -> None:
    """As CAISO reports a day: hours of some resources, a title, and hours of other ones."""
    upper = [f"\t{hour}\t\t{900 + hour}\t{313 + hour % 5}\t\t{190 + hour % 7}" for hour in range(1, 25)]
    lower = [f"\t{hour}\t\t{3000 + hour}\t{1092 + hour % 3}\t\t{6800 + hour}" for hour in range(1, 25)]
    names = "\tHour\t\tRENEWABLES\tNUCLEAR\t\tTHERMAL"
    lines = ["03/12/14\t\t\tHourly Breakdown\t\t\t", "\tHour\t\tGEOTHERMAL\tBIOMASS\t\tBIOGAS", *upper]
    path = tmp_path / "report.csv"
    path.write_text("\n".join([*lines, "\t" * 6, "\t\t\tHourly Total\t\t\t", names, *lower]))
    assert all("na" not in proposal.options for proposal in find_proposals(path, DataConfig()))
