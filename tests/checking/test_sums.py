"""Several rows of one step: amounts that are summed, and measurements that are averaged."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, comma, hourly_wave, noise, uneven_days, values
from .first_commands import SUMS, FirstCommand, check_first_command, each_case, first_of


def events() -> pd.DataFrame:
    """Many rows a day, at any time of it."""
    stamps = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(RNG.integers(0, 60 * 86_400, 4000)), unit="s")
    return pd.DataFrame({"when": stamps.strftime("%Y-%m-%d %H:%M:%S"), "amount": values(4000)})


def account() -> pd.DataFrame:
    """A statement of a bank: some bookings on most days, each unlike the one before it."""
    booked = np.sort(RNG.choice(730, 900))
    date = pd.Timestamp("2022-01-01") + pd.to_timedelta(booked, unit="D")
    amount = np.where(np.arange(900) % 30, -RNG.lognormal(3, 0.8, 900), 1500).round(2)
    return pd.DataFrame({"Date": date.strftime("%d/%m/%Y"), "Amount": amount, "Balance": amount.cumsum().round(2)})


def of_a_shop() -> str:
    """Orders of several lines: their number stands more than once, and tells no series apart."""
    at = pd.date_range("2021-01-01 12:00", periods=900, freq="h").repeat(2)
    rows = [f"o{n // 3},{t:%Y-%m-%d},{t:%H:%M:%S},{v}" for n, (t, v) in enumerate(zip(at, values(1800), strict=True))]
    return "\n".join(["id,date,time,price", *rows])


def of_flights() -> str:
    at = np.sort(np.random.default_rng(2).integers(0, 90 * 86_400, 3000))
    times = pd.Timestamp("2013-01-01") + pd.to_timedelta(at, unit="s")
    numbers = np.random.default_rng(3).integers(1, 6000, 3000)
    rows = [f"{t:%Y-%m-%d %H:%M:%S},{n},{d}" for t, n, d in zip(times, numbers, hourly_wave(3000), strict=True)]
    return "\n".join(["time_hour,flight,air_time", *rows]) + "\n"


def ticks_of_broods() -> pd.DataFrame:
    """Means of some broods a year are averaged, never summed."""
    years = np.repeat(np.arange(1990, 2010), RNG.integers(3, 9, 20))
    return pd.DataFrame({"YEAR": years, "meanTICKS": RNG.gamma(1, 9, len(years)).round(3)})


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


def survey_every_other_year() -> pd.DataFrame:
    """Persons are asked in even years, how many words they know of ten; no year between has a zero."""
    years = np.sort(RNG.choice(np.arange(1974, 2018, 2), 2000))
    return pd.DataFrame({"year": years, "words": RNG.binomial(10, 0.6, 2000), "age": RNG.integers(18, 80, 2000)})


def costs_of_square_feet() -> pd.DataFrame:
    """The costs of square feet do not add up."""
    stamps = pd.date_range("2010-01-01", periods=900).repeat(RNG.integers(0, 3, 900))
    return pd.DataFrame({"sold": stamps.strftime("%Y-%m-%d"), "CostPerSqFt": RNG.gamma(2, 50, len(stamps)).round(2)})


def bikes_at_a_station() -> pd.DataFrame:
    """Asked each minute or so, as often in every hour; the number of bikes seldom changes."""
    stamps = pd.Timestamp("2013-08-29") + pd.to_timedelta(np.cumsum(RNG.integers(55, 70, 900)), unit="s")
    bikes = np.repeat(RNG.integers(0, 20, 90), 10)
    return pd.DataFrame({"time": stamps.floor("min").strftime("%Y-%m-%d %H:%M:%S"), "bikes": bikes})


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


def cards_of_vans() -> str:
    """Litres of each filling are alike, and still add up."""
    stamps = pd.Timestamp("2021-01-04") + pd.to_timedelta(np.sort(RNG.integers(0, 300 * 1440, 1500)), "min")
    lines = [
        f"DRIVER {driver},{stamp:%d-%b-%y},{stamp:%H%M},DIESEL,{litres:.2f},{litres * 1.12:.2f}"
        for driver, stamp, litres in zip(RNG.integers(1, 9, 1500), stamps, RNG.normal(58, 6, 1500), strict=True)
    ]
    return "\n".join(["Driver,Trans Date,Time,Product,Litres,Gross", *lines])


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


def actions_of_days_by_number() -> str:
    """Lines of a shop, several on each numbered day: the revenue adds up, and prices do not."""
    days = np.sort(RNG.integers(1, 93, 4000))
    lines = [
        f"{at}|{day}|{RNG.integers(1, 900)}|{price:.2f}|{price if at % 4 == 0 else 0:.2f}"
        for at, (day, price) in enumerate(zip(days, noise(4000), strict=True), 1)
    ]
    return "\n".join(["lineID|day|pid|price|revenue", *lines])


def readings_with_keys() -> str:
    """A key of four words is no title."""
    minutes = pd.Timestamp("2018-12-08 09:30") + pd.to_timedelta(np.sort(RNG.integers(0, 60 * 24 * 90, 3000)), "min")
    lines = [
        f"__export__.temp_log_{number}_bd,{minute:%d-%m-%Y %H:%M},{heat:.1f}"
        for number, minute, heat in zip(RNG.permutation(3000), minutes, noise(3000), strict=True)
    ]
    return "\n".join(["id,noted_date,temp", *lines])


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


def crashes_of_aeroplanes() -> pd.DataFrame:
    """Few crashes come soon after each other, and those of a decade are somewhat alike."""
    level = np.linspace(20, 120, 400)
    fatalities = (level + RNG.integers(0, 150, 400)).astype(int)
    return pd.DataFrame({"date": uneven_days(400, 15), "phase": RNG.choice([*"abc"], 400), "Fatalities": fatalities})


def votes_of_states() -> pd.DataFrame:
    """The votes of large states are larger in each of their rows, from the first candidate to the last one."""
    states = pd.DataFrame({"state_code": range(40), "size": RNG.lognormal(0, 1, 40)})
    years = pd.DataFrame({"year": range(1976, 2024, 4)})
    shares = pd.DataFrame({"party": [*"abcde"], "share": [50, 40, 30, 20, 1]})
    frame = years.merge(states, how="cross").merge(shares, how="cross")
    votes = (frame.pop("size") * frame.pop("share") * RNG.uniform(900, 1100, len(frame))).astype(int)
    return frame.assign(party=RNG.choice([*"abc"], len(frame)), candidatevotes=votes)


def nests_by_all_their_marks() -> pd.DataFrame:
    """A dozen kinds of nests are seen in each week, and a hundred only once."""
    kinds = pd.DataFrame({name: RNG.choice([*"abcd"], 112) for name in ("station", "height", "density", "health")})
    kinds = kinds.drop_duplicates()
    weeks = [range(1, 11) if at < 12 else RNG.integers(1, 11, 1).tolist() for at in range(len(kinds))]
    frame = kinds.assign(week=weeks).explode("week").astype({"week": int}).sort_values("week")
    return frame.assign(count=RNG.poisson(3, len(frame)) + 1)


def polls_of_states() -> pd.DataFrame:
    """Each state has its own level, so that the mean of a week follows the states that were asked in it."""
    polls = {"state": RNG.choice([*"abcd"], 800), "date": sorted(uneven_days(800, 1))}
    frame = pd.DataFrame(polls | {"grade": RNG.choice(["good", "fair"], 800)})
    share = frame["state"].map(dict(zip("abcd", (20, 35, 50, 65), strict=True)))
    return frame.assign(approval_pct=(share + RNG.normal(0, 2, 800)).round(1))


def people_in_boats() -> pd.DataFrame:
    """Eighteen boats leave within two hours."""
    minutes = sorted([0, 10, 15, 25, 25, 25, 35, 40, 45, 45, 50, 55, 55, 60, 75, 80, 90, 95])
    launch = (pd.Timestamp("1912-04-15 00:45") + pd.to_timedelta(minutes, "min")).strftime("%Y-%m-%d %H:%M")
    men, women = RNG.integers(0, 60, 18), RNG.integers(0, 60, 18)
    return pd.DataFrame({"launch": launch, "men": men, "women": women, "total": men + women})


def answers_about_pay() -> pd.DataFrame:
    """Average hourly earnings, as the econometrician calls them."""
    years = np.repeat(np.arange(1992, 2006, 2), 60)
    return pd.DataFrame(
        {"year": years, "ahe": RNG.lognormal(2.5, 0.6, 420).round(2), "sex": RNG.choice(["female", "male"], 420)}
    )


def pieces_of_shops() -> pd.DataFrame:
    """Mostly one piece is sold at a time, and its price is no amount."""
    days = sorted(uneven_days(900, 1))
    pieces = RNG.choice([1.0, 1.0, 1.0, 1.0, 2.0, 3.0, -1.0], 900)
    return pd.DataFrame(
        {"date": days, "shop_id": RNG.integers(2, 9, 900), "item_price": noise(900), "item_cnt": pieces}
    )


def levels_of_wells() -> pd.DataFrame:
    """Each well is measured in spring and autumn, for some years; a long tape shows 300 at its upper end."""
    rows = [(well, visit) for well in range(10) for visit in range(RNG.integers(24, 60))]
    wells, visits = np.array(rows).T
    lags = 182 * visits + RNG.integers(0, 40, len(rows))
    depth = 60 + 14 * wells + pd.Series(RNG.normal(0, 3, len(rows))).groupby(wells).cumsum()
    frame = pd.DataFrame({"well": [f"MW-{well}" for well in wells], "measured": np.datetime64("1999-03-01") + lags})
    return frame.assign(tape=depth.where(RNG.random(len(rows)) < 0.6, 300).round(1), depth=depth.round(2))


def items_of_cost_centres() -> str:
    """As SAP calls amounts in the currency of a report; each is unlike the one before."""
    days = pd.Timestamp("2022-01-03") + pd.to_timedelta(np.sort(RNG.integers(0, 400, 600)), "D")
    kinds, amounts = RNG.choice([400000, 403000, 451000], 600), RNG.lognormal(6, 1, 600)
    lines = [
        f"{day:%d.%m.%Y}\t{kind}\t{comma(amount, 2)}" for day, kind, amount in zip(days, kinds, amounts, strict=True)
    ]
    return "\n".join(["Buch.dat.\tKostenart\tWert/BWähr", *lines])


def payouts_of_a_host() -> pd.DataFrame:
    """A row is a stay, which has an amount, or what was paid out for some stays."""
    amounts = np.where(RNG.random(400) < 0.5, 20 * noise(400), np.nan).round(2)
    paid = np.where(np.isnan(amounts), 40 * noise(400), np.nan).round(2)
    kinds = np.where(np.isnan(amounts), "Payout", "Reservation")
    return pd.DataFrame({"Date": uneven_days(400, 2), "Type": kinds, "Amount": amounts, "Paid out": paid})


def trades_of_a_share() -> pd.DataFrame:
    """What a share cost, beside how many were sold at this price."""
    seconds = np.sort(RNG.integers(0, 6 * 3600, 3000))
    stamps = (pd.Timestamp("2018-01-02 09:30") + pd.to_timedelta(seconds, "s")).strftime("%Y-%m-%d %H:%M:%S")
    price = (150 + 0.01 * RNG.integers(-90, 90, 3000)).round(2)
    return pd.DataFrame({"DT": stamps, "PRICE": price, "SIZE": 100 * RNG.integers(1, 9, 3000)})


CASES = (
    FirstCommand("trades", trades_of_a_share, {"target": "PRICE", "aggregate": None}),
    FirstCommand("payouts", payouts_of_a_host, {"target": "Amount", "aggregate": "sum"}),
    FirstCommand(
        "events",
        events,
        {"resample": "h", **SUMS},
        "'amount', sum of each 1 hour, 24 steps of 1 hour ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "amounts",
        account,
        {"target": "Amount", "resample": "D", **SUMS},
        "'Amount', sum of each 1 day, 7 steps of 1 day ahead",
        no_others=True,
        trains=True,
    ),
    FirstCommand(
        "a shop",
        of_a_shop,
        {"time": "date,time", "ignore": ("id",), "resample": "h", **SUMS},
        "'price', sum of each 1 hour, 24 steps of 1 hour ahead",
        file="table.txt",
        no_others=True,
    ),
    FirstCommand(
        "flights",
        of_flights,
        {"target": "air_time", "resample": "D"},
        "'air_time', mean of each 1 day, 7 steps of 1 day ahead",
        no_others=True,
    ),
    FirstCommand("broods", ticks_of_broods, {"target": None, "resample": "1", "aggregate": None}),
    FirstCommand("answers", answers_of_persons, {"target": "realrinc", "resample": "1", "aggregate": None}),
    FirstCommand("creeks", flows_of_creeks, {"item_id": "site", "target": None, "aggregate": None}),
    FirstCommand("houses", houses_sold, {"target": "row-count"}),
    FirstCommand("discs", discs_ordered, {"target": "number_of_discs", "aggregate": "sum"}),
    FirstCommand("flows", flows_on_some_days, {"target": "bedrooms", "aggregate": None}),
    FirstCommand("a survey", survey_every_other_year, {"target": "words", "resample": "2", "aggregate": None}),
    FirstCommand("costs", costs_of_square_feet, {"target": None, "aggregate": None, "resample": "W-MON"}),
    FirstCommand("bikes", bikes_at_a_station, {"target": None}),
    FirstCommand(
        "segments",
        segments_sorted_by_departures,
        {"target": "PASSENGERS", "resample": "MS", "aggregate": "sum"},
        quick=True,
    ),
    FirstCommand("cards", cards_of_vans, {"target": "Litres", "resample": "D", "aggregate": "sum"}, quick=True),
    FirstCommand(
        "payments", statement_of_payments, {"target": "金额（元）", "resample": "D", "aggregate": "sum"}, quick=True
    ),
    FirstCommand(
        "bottles",
        bottles_of_a_wholesaler,
        {"target": "Sale (Dollars)", "resample": "D", "aggregate": "sum"},
        quick=True,
    ),
    FirstCommand("litres", prices_of_a_litre, {"target": None, "item_id": "Produto", "aggregate": None}, quick=True),
    FirstCommand(
        "actions", actions_of_days_by_number, {"time": "day", "target": "revenue", "aggregate": "sum"}, quick=True
    ),
    FirstCommand("readings", readings_with_keys, {"target": None, "aggregate": None}, quick=True),
    FirstCommand(
        "sites", pollution_in_four_rows_a_day, {"item_id": "Address", "resample": "D", "aggregate": None}, quick=True
    ),
    FirstCommand("crashes", crashes_of_aeroplanes, {"aggregate": "sum", "missing": "zero"}),
    FirstCommand("votes", votes_of_states, {"target": "candidatevotes", "aggregate": "sum", "resample": "4"}),
    FirstCommand("nests", nests_by_all_their_marks, {"item_id": None, "target": None, "aggregate": "sum"}),
    FirstCommand(
        "polls", polls_of_states, {"item_id": "state", "target": None, "resample": "W-MON", "aggregate": None}
    ),
    FirstCommand("boats", people_in_boats, {"target": "total", "aggregate": "sum"}),
    FirstCommand("pay", answers_about_pay, {"target": None, "resample": "2", "aggregate": None}),
    FirstCommand("pieces", pieces_of_shops, {"target": "item_cnt", "aggregate": "sum"}),
    FirstCommand("wells", levels_of_wells, {"item_id": "well", "target": "depth", "aggregate": None}),
    FirstCommand("cost centres", items_of_cost_centres, {"target": "Wert/BWähr", "resample": "D", **SUMS}),
)


@each_case(CASES)
def test_the_first_command_sums_amounts_and_averages_others(
    forecast: Callable, tmp_path: Path, case: FirstCommand
) -> None:
    check_first_command(case, tmp_path, forecast)


def test_bookings_of_most_days_are_summed_by_day_and_rarer_ones_by_week(tmp_path: Path) -> None:
    for share, step in ((0.65, "D"), (0.4, "W-MON")):
        booked = np.sort(RNG.choice(400, int(400 * share), replace=False))
        stamps = pd.Timestamp("2023-01-02") + pd.to_timedelta(np.repeat(booked, 2), unit="D")
        frame = pd.DataFrame({"date": stamps.strftime("%Y-%m-%d"), "amount": RNG.lognormal(3, 1, len(stamps)).round(2)})
        options = first_of(tmp_path, frame)
        assert (options["resample"], options["aggregate"], options["missing"]) == (step, "sum", "zero")


def purchases(price: np.ndarray) -> pd.DataFrame:
    """Events at any second of 200 days, each with its price."""
    seconds = np.sort(RNG.uniform(0, 200 * 86400, len(price))).astype(int)
    stamps = (pd.Timestamp("2023-01-01") + pd.to_timedelta(seconds, unit="s")).strftime("%Y-%m-%d %H:%M:%S")
    return pd.DataFrame({"created": stamps, "price": price})


def test_money_at_no_regular_time_is_summed_and_the_mean_is_offered(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    purchases(RNG.lognormal(3, 1, 900).round(2)).to_csv(path, index=False)
    first, second = find_proposals(path, DataConfig())[:2]
    assert first.forecasts.startswith("'price', sum of each 1 day,")
    assert second.forecasts.startswith("'price', mean of each 1 day,")


def test_other_events_are_averaged_and_the_sum_is_offered_unless_they_are_a_level(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    purchases(RNG.lognormal(3, 1, 900).round(4)).to_csv(path, index=False)
    first, second = find_proposals(path, DataConfig())[:2]
    assert first.forecasts.startswith("'price', mean of each 1 day,")
    assert second.forecasts.startswith("'price', sum of each 1 day,")
    purchases(np.cumsum(RNG.normal(0, 1, 900)).round(2) + 100).to_csv(path, index=False)
    assert not any("'price', sum" in each.forecasts for each in find_proposals(path, DataConfig()))


def test_counts_above_zero_at_no_regular_time_are_summed(tmp_path: Path) -> None:
    """Hours without an event are left out."""
    path, hours = tmp_path / "table.csv", pd.date_range("2024-01-01", periods=24 * 60, freq="h")
    some = np.flatnonzero(np.random.default_rng(3).random(len(hours)) < 0.4)
    counts = np.random.default_rng(4).integers(1, 9, len(some))
    pd.DataFrame({"time": hours[some], "count": counts}).to_csv(path, index=False)
    options = dict(find_proposals(path, DataConfig(), most=1)[0].options)
    assert options == {"resample": "D", "aggregate": "sum", "missing": "zero"}


@pytest.mark.parametrize(
    ("name", "cells", "is_summed"),
    [
        ("remain", lambda: RNG.uniform(0.1, 0.6, 400).round(2), False),
        ("clinton", lambda: RNG.normal(45, 4, 400).round(2), False),
        ("priority", lambda: RNG.integers(1, 5, 400), False),
        ("stars", lambda: RNG.choice([1, 2, 3, 4, 5], 400, p=[0.1, 0.1, 0.2, 0.3, 0.3]), False),
        ("moisture [%]", lambda: RNG.exponential(20, 400).round(1), False),
        ("pieces", lambda: RNG.choice([1, 2, 3, 4], 400, p=[0.6, 0.2, 0.1, 0.1]), True),
        ("amount", lambda: RNG.normal(45, 4, 400).round(2), True),
        ("kilos", lambda: RNG.exponential(20, 400).round(1), True),
    ],
)
def test_shares_and_marks_are_averaged_and_amounts_are_summed(
    tmp_path: Path, name: str, cells: Callable[[], np.ndarray], is_summed: bool
) -> None:
    """Several rows of most days, at any of them."""
    booked = np.sort(np.random.default_rng(5).integers(0, 150, 400))
    stamps = pd.Timestamp("2023-01-02") + pd.to_timedelta(booked, unit="D")
    path = tmp_path / "table.csv"
    pd.DataFrame({"date": stamps.strftime("%Y-%m-%d"), name: cells()}).to_csv(path, index=False)
    proposals = [each for each in find_proposals(path, DataConfig()) if each.target == name]
    assert ("aggregate" in proposals[0].options) == is_summed
    assert is_summed or not any("aggregate" in each.options for each in proposals)


def test_marks_of_a_test_are_averaged(tmp_path: Path) -> None:
    survey_every_other_year().to_csv(tmp_path / "table.csv", index=False)
    words = [each for each in find_proposals(tmp_path / "table.csv", DataConfig()) if each.target == "words"]
    assert [dict(each.options).get("aggregate") for each in words] == [None]


def test_delays_are_no_amounts_however_their_rows_are_sorted(tmp_path: Path) -> None:
    """What is not called an amount is judged by neighbouring rows, as they stand."""
    text = segments_sorted_by_departures().replace("PASSENGERS", "delay").replace("DEPARTURES", "distance")
    (tmp_path / "table.csv").write_text(text)
    assert all("sum" not in proposal.forecasts for proposal in find_proposals(tmp_path / "table.csv", DataConfig()))
