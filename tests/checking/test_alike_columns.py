"""Columns of one kind, which are a series each, and columns that only look alike."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, date_column, days, months, noise, values
from .first_commands import FirstCommand, check_first_command, each_case, first_of


def shares_with_the_name_of_a_month() -> pd.DataFrame:
    shares = {name: values(120) for name in ("AMZN", "APA", "JPM", "MO", "SPY", "TGT")}
    return pd.DataFrame({"Date": pd.bdate_range("2020-01-01", periods=120).strftime("%Y-%m-%d"), **shares})


def many_of_one_kind() -> pd.DataFrame:
    columns = {f"meter_{at}": values(90) for at in range(9)}
    return pd.DataFrame({"date": date_column(90), **columns})


def returns_beside_cash() -> pd.DataFrame:
    """The cash earns far less than shares move."""
    names = ("AAPL", "AXP", "BA", "CAT", "CVX", "DD", "DIS", "GS", "HD", "IBM", "KO", "V")
    shares = {name: RNG.normal(0, 0.01, 90).round(5) for name in names}
    return pd.DataFrame({"Date": days(90), **shares, "cash": 1e-5 + RNG.uniform(0, 1e-6, 90).round(8)})


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


def prices_of_a_bank() -> pd.DataFrame:
    """The four prices of a day end alike, and are no series of one kind."""
    prices = {f"{name} Price": 100 + noise(200) for name in ("Open", "High", "Low", "Close")}
    return pd.DataFrame({"Date": pd.bdate_range("2020-01-01", periods=200).strftime("%Y-%m-%d"), **prices})


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


def temperatures_in_two_units() -> pd.DataFrame:
    """Both columns hold the same temperature."""
    celsius = 20 + noise(120)
    return pd.DataFrame({"Day": days(120), "TempC": celsius, "TempF": celsius * 1.8 + 32})


def noise_beside_its_place() -> pd.DataFrame:
    """A ship measures where it is."""
    return pd.DataFrame({"lat": noise(90).cumsum() / 10, "lon": noise(90).cumsum() / 10, "salt": noise(90), "o2": 1})


def flu_of_regions() -> str:
    """The first letters of a region are those of wind speed."""
    names = ["NE", "MidAtl", "ENCentral", "WNCentral", "SAtl", "WSCentral", "Mtn", "Pac"]
    weeks = pd.date_range("2005-10-09", periods=90, freq="W")
    lines = [f"{week:%m/%d/%Y}," + ",".join(f"{number / 50:.3f}" for number in noise(8)) for week in weeks]
    return "\n".join([",".join(["Date", *names]), *lines])


def crises_of_countries() -> pd.DataFrame:
    """A switch for each country and year."""
    countries = {
        name: RNG.choice([0, 1], 60, p=[0.7, 0.3]) for name in ("Angola", "Chad", "Fiji", "Mali", "Oman", "Peru")
    }
    return pd.DataFrame({"year": range(1950, 2010), **countries})


def meters_of_clients() -> pd.DataFrame:
    """Clients differ by a number, and in size by more than countries do."""
    loads = {f"MT_{client:03}": 10.0 ** (client % 5) + noise(120) for client in range(60)}
    return pd.DataFrame({"": pd.date_range("2011-01-01", periods=120, freq="h").astype(str), **loads})


def rain_without_names() -> str:
    """Most days are dry at each of five stations, and of some days nobody knows."""
    rain = np.where(RNG.random((200, 5)) < 0.8, 0, RNG.gamma(1, 6, (200, 5)).round(1))
    rain[RNG.random((200, 5)) < 0.05] = -9999
    return "\n".join(f"{day},{','.join(f'{cell:g}' for cell in row)}" for day, row in zip(days(200), rain, strict=True))


CASES = (
    FirstCommand(
        "a share called MO",
        shares_with_the_name_of_a_month,
        {"wide": True},
        "6 columns as one series each ('AMZN', 'APA', 'JPM', …), 5 steps of 1 business day ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "many of one kind",
        many_of_one_kind,
        {"wide": True},
        "9 columns as one series each ('meter_0', 'meter_1', 'meter_2', …), 7 steps of 1 day ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand("cash", returns_beside_cash, {"wide": True}),
    FirstCommand("letters", shares_called_by_letters, {"time": "row-number", "wide": True, "target": None}),
    FirstCommand("factors", factors_of_an_exchange, {"wide": True}),
    FirstCommand("counties", cases_by_counties, {"wide": True}),
    FirstCommand("shares of a bank", prices_of_a_bank, {"target": "Close Price", "wide": None}),
    FirstCommand("countries", products_of_countries, {"wide": True}),
    FirstCommand("an economy", products_of_an_economy, {"wide": None}),
    FirstCommand("units", prices_of_zones, {"wide": True}),
    FirstCommand("wells", depths_of_two_wells, {"wide": True}),
    FirstCommand("gauges", gauges_of_a_river, {"wide": None, "target": "USGS:01632000:00060"}),
    FirstCommand("two units", temperatures_in_two_units, {"wide": None}),
    FirstCommand("a ship", noise_beside_its_place, {"time": "row-number", "item_id": None, "target": "salt"}),
    FirstCommand("flu", flu_of_regions, {"wide": True}, quick=True),
    FirstCommand("crises", crises_of_countries, {"wide": True}),
    FirstCommand("meters", meters_of_clients, {"wide": True}),
    FirstCommand("rain", rain_without_names, {"header": False, "na": ("-9999",), "wide": True}, num_series=5),
)


@each_case(CASES)
def test_the_first_command_reads_alike_columns_as_series(
    forecast: Callable, tmp_path: Path, case: FirstCommand
) -> None:
    check_first_command(case, tmp_path, forecast)


def test_columns_without_names_are_not_alike_by_the_names_they_get(tmp_path: Path) -> None:
    """As the purchases of customers: the number of the customer, the date, pieces, dollars."""
    days = np.sort(RNG.integers(0, 400, 2000))
    dates = (pd.Timestamp("2022-01-01") + pd.to_timedelta(days, unit="D")).strftime("%Y%m%d")
    rows = zip(RNG.integers(1, 300, 2000), dates, RNG.geometric(0.5, 2000), RNG.lognormal(3, 1, 2000), strict=True)
    path = tmp_path / "purchases.txt"
    path.write_text("\n".join(f" {who:05d} {date} {pieces:2d} {paid:7.2f}" for who, date, pieces, paid in rows))
    assert "wide" not in find_proposals(path, DataConfig())[0].options


def test_text_in_a_column_of_a_wide_table_leaves_the_column_out(tmp_path: Path) -> None:
    columns = {f"sensor_{name}": values(60) for name in "abcdefg"}
    frame = pd.DataFrame({"date": date_column(60), **columns}).astype({"sensor_a": object})
    frame.loc[[3, 9], "sensor_a"] = ["M10", "K7"]
    assert first_of(tmp_path, frame)["ignore"] == ("sensor_a",)


def test_a_place_is_no_series_of_a_wide_table(tmp_path: Path) -> None:
    noise_beside_its_place().assign(o2=noise(90)).to_csv(tmp_path / "cruise.csv", index=False)
    wide = [each for each in find_proposals(tmp_path / "cruise.csv", DataConfig()) if dict(each.options).get("wide")]
    assert [dict(each.options)["ignore"] for each in wide] == [("lat", "lon")]


def test_parts_of_a_server_are_series(tmp_path: Path) -> None:
    """A file without names holds how busy each of them is."""
    frame = pd.DataFrame(1 / (1 + np.exp(-RNG.normal(0, 0.3, (300, 14)).cumsum(axis=0))).round(4))
    frame.to_csv(tmp_path / "machine.txt", header=False, index=False)
    assert dict(find_proposals(tmp_path / "machine.txt", DataConfig())[0].options).get("wide") is True
