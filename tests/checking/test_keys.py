"""Series of ledgers, instruments and samples, which codes and several columns together tell apart."""

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from forecast_attn.checking.commands import find_proposals
from forecast_attn.config.options import DataConfig

from ..made_columns import RNG, comma, noise
from .first_commands import FirstCommand, check_first_command, each_case


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


def sales_of_a_hundred_places() -> str:
    """A hundred numbers that begin again with each day are no quarters of an hour."""
    lines = [
        f"{day:%Y-%m-%d},{geo},{number * 100:.2f}"
        for day in pd.date_range("2015-01-05", periods=60)
        for geo, number in zip(range(1, 101), noise(100), strict=True)
    ]
    return "\n".join(["date,geo,sales", *lines])


def days_by_function() -> str:
    """Readings at hours of the day, their mean and their extremes; the names of some are clocks."""
    clocks = {"07:00": 6, "14:00": 13, "20:00": 19, "AVG": 20, "MAX": 20, "MIN": 20}
    lines = [
        f'"11518","T","{name}",{day:%Y-%m-%d}T{hour:02d}:00Z,{number:.1f}'
        for name, hour in clocks.items()
        for day, number in zip(pd.date_range("2021-01-01", periods=300), noise(300), strict=True)
    ]
    return "\n".join(["STATION,ELEMENT,TIMEFUNC,DT,VALUE", *lines])


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


def cases_of_states_by_number() -> str:
    """Rows are numbered over all states."""
    days, states = pd.date_range("2020-03-01", periods=90), ["Kerala", "Goa", "Delhi"]
    cells = [(day, state) for day in days for state in states]
    lines = [
        f"{at},{day:%Y-%m-%d},{state},{number:.0f}"
        for at, ((day, state), number) in enumerate(zip(cells, noise(270) * 10, strict=True), 1)
    ]
    return "\n".join(["Sno,Date,State,Cured", *lines])


def sprinters_of_games() -> pd.DataFrame:
    """Only few countries win the same medal again, and one medal of each colour is won every four years."""
    games = np.repeat(np.arange(1900, 2016, 4), 3)
    countries = RNG.choice([*"ABC"], len(games), p=[0.5, 0.3, 0.2])
    frame = pd.DataFrame({"Year": games, "Country": countries, "Medal": np.tile([*"gsb"], len(games) // 3)})
    shared = frame.iloc[[40]].assign(Country="D")  # a medal that two won
    return pd.concat([frame, shared]).sort_values("Year").assign(Time=noise(len(games) + 1))


def league_by_matchdays() -> pd.DataFrame:
    """One season, and a row for each team and matchday in the order of the table."""
    rows = [(day, rank) for day in range(1, 35) for rank in range(1, 13)]
    frame = pd.DataFrame(rows, columns=["Matchday", "Position"])
    teams = np.concatenate([RNG.permutation([f"team {at}" for at in range(12)]) for _ in range(34)])
    points = (frame["Matchday"] * RNG.uniform(0.8, 2.2, len(frame))).astype(int)
    return frame.assign(Team=teams, Pts=points).assign(Season="2018/19")


def tags_of_a_plant() -> pd.DataFrame:
    """Values of instruments as they change, one instrument below the other."""
    frames = []
    for tag in ("FIC1101.PV", "TI1102.PV", "PI1103.PV"):
        seconds = RNG.exponential(100, 400).astype(int).cumsum() + 1
        stamps = pd.Timestamp("2025-02-03") + pd.to_timedelta(seconds, "s")
        frames.append(pd.DataFrame({"Tag": tag, "Timestamp": stamps, "Value": noise(400).cumsum().round(2)}))
    return pd.concat(frames)


def samples_of_a_water_works() -> pd.DataFrame:
    """Samples of each point are taken once a week, on one of its days, and tested for several things."""
    frames = []
    for point in range(4):
        days = 7 * np.arange(120) + RNG.integers(0, 3, 120) + point
        dates = np.datetime64("2022-01-03") + days
        for test, level in (("pH", 7), ("Nitrati", 16), ("Cloro", 0.2)):
            frames.append(pd.DataFrame({"Data": dates, "Punto": f"p{point}", "Parametro": test, "Risultato": level}))
    frame = pd.concat(frames).sort_values("Data", kind="stable")
    return frame.assign(Risultato=(frame["Risultato"] * RNG.normal(1, 0.1, len(frame))).round(3))


def milk_of_cows() -> pd.DataFrame:
    """Days since a cow calved go up by those between two tests."""
    dates = np.datetime64("2019-01-14") + 33 * np.arange(30)
    frames = [
        pd.DataFrame(
            {"cow": f"cow {at}", "tested": dates, "LT": (at * 41 + 33 * np.arange(30)) % 400, "milk": noise(30)}
        )
        for at in range(8)
    ]
    return pd.concat(frames).sort_values("tested", kind="stable")


def seats_by_congress() -> pd.DataFrame:
    """The members of each party of each chamber."""
    keys = pd.MultiIndex.from_product([range(1, 60), ["House", "Senate"], ["A", "B"]])
    frame = keys.to_frame(index=False, name=["Congress", "Chamber", "Party"])
    return frame.assign(Count=RNG.integers(0, 200, len(frame)))


def bonds_by_their_end(name: str) -> str:
    """Two bonds have one kind, and only the date at which they end tells them apart.

    Args:
        name: of that date.
    """
    bonds = [("Fixo", "15/02/2028"), ("Fixo", "15/02/2033"), ("Indexado", "15/08/2029")]
    lines = [
        f"{kind};{end};{day:%d/%m/%Y};{comma(rate, 2)};{comma(900 + 9 * rate, 2)}"
        for day in pd.bdate_range("2022-01-03", periods=100)
        for (kind, end), rate in zip(bonds, noise(3), strict=True)
    ]
    return "\n".join([f"Titulo;{name};Data Base;Taxa;Preco", *lines])


def freight_by_codes() -> pd.DataFrame:
    """Six codes together name a flow of goods, and most of their combinations have none."""
    codes = {"trade": [1, 2], "port": [1101, 1205], "goods": [3, 40, 61], "mode": [1, 3, 5], "country": [101, 202]}
    flows = pd.DataFrame(itertools.product(*codes.values(), ["X", "1"]), columns=[*codes, "container"])
    months = pd.DataFrame({"MONTH": [*range(1, 13)] * 2, "YEAR": np.repeat([2018, 2019], 12)})
    frame = months.merge(flows.sample(28, random_state=1), how="cross")[[*flows.columns, *months.columns]]
    return frame.assign(value=RNG.lognormal(12, 1, len(frame)).astype(int))


CASES = (
    FirstCommand("rooms", rooms_and_outdoors, {"item_id": "out/in", "resample": "D", "aggregate": None}, quick=True),
    FirstCommand("stays", stays_by_minutes, {"time": "observationoffset", "item_id": "patientunitstayid"}, quick=True),
    FirstCommand("stock", stock_of_warehouses, {"item_id": "Item #,Whse", "target": "Qty Out"}, quick=True),
    FirstCommand("places", sales_of_a_hundred_places, {"time": None, "item_id": "geo"}, quick=True),
    FirstCommand("functions", days_by_function, {"item_id": "TIMEFUNC"}, quick=True),
    FirstCommand("wells", samples_of_wells, {"time": "sample_date", "item_id": "sys_loc_code,cas_rn"}, quick=True),
    FirstCommand("cells", cells_of_a_brain, {"item_id": "align,choice,coherence"}, quick=True),
    FirstCommand(
        "ledger",
        ledger_beside_its_budget,
        {"time": None, "item_id": "Cost Center,Account", "target": "Actual"},
        mentions="12 steps of 1 month",
        quick=True,
    ),
    FirstCommand("lanes", rates_of_lanes, {"item_id": "origin,destination", "target": "rate"}, quick=True),
    FirstCommand("tags of a historian", tags_of_a_historian, {"item_id": "tag", "date_format": "s"}, quick=True),
    FirstCommand("auction", shares_in_the_last_minutes, {"time": None, "item_id": "stock_id"}, quick=True),
    FirstCommand(
        "grid",
        cells_of_a_grid,
        {"time": "year,week", "item_id": "latitude,longitude", "target": "emission"},
        quick=True,
    ),
    FirstCommand("states", cases_of_states_by_number, {"item_id": "State", "target": "Cured"}, quick=True),
    FirstCommand("sprinters", sprinters_of_games, {"item_id": "Medal"}),
    FirstCommand("league", league_by_matchdays, {"time": "Matchday", "item_id": "Team"}),
    FirstCommand("tags of a plant", tags_of_a_plant, {"item_id": "Tag"}),
    FirstCommand("samples", samples_of_a_water_works, {"item_id": "Punto,Parametro"}),
    FirstCommand("milk", milk_of_cows, {"item_id": "cow", "target": "milk"}),
    FirstCommand("congress", seats_by_congress, {"time": "Congress", "item_id": "Chamber,Party"}),
    *(
        FirstCommand(
            f"bonds by {name}", lambda name=name: bonds_by_their_end(name), {"time": "Data Base", "item_id": name}
        )
        for name in ("Data Vencimento", "Maturity", "expiry_date")
    ),
    FirstCommand(
        "freight",
        freight_by_codes,
        {"time": "YEAR,MONTH", "item_id": "container,country,trade,port,goods,mode"},
        num_series=28,
    ),
)


@each_case(CASES)
def test_the_first_command_finds_the_keys_of_series(forecast: Callable, tmp_path: Path, case: FirstCommand) -> None:
    check_first_command(case, tmp_path, forecast)


def test_wells_that_are_sampled_one_after_the_other_are_told_apart(tmp_path: Path) -> None:
    """By the minute, no substance stands twice; by the day, each does, once for each well."""
    (tmp_path / "table.txt").write_text(samples_of_wells())
    proposal = find_proposals(tmp_path / "table.txt", DataConfig(time="sample_date,sample_time"))[0]
    assert proposal.item_id == "sys_loc_code,cas_rn"
