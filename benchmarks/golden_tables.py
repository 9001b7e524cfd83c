"""The tables of the golden runs: made up by formula and a seeded generator, the same at every call."""

from __future__ import annotations

import csv
import math
import random
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo


def write_tables() -> None:
    """Write the tables of all cases into the current folder."""
    rows = list(_hourly(440))
    _write("hourly.csv", ("time", "y", "load", "wind"), rows[:420])
    _write("hourly-coming.csv", ("time", "wind"), [(stamp, wind) for stamp, _, _, wind in rows[420:]])
    gaps = [(stamp, "" if n % 23 == 5 else y, load) for n, (stamp, y, load, _) in enumerate(rows[:300]) if n % 37 != 11]
    _write("gaps.csv", ("time", "y", "load"), gaps)
    bad = [(stamp, "n/a?" if n == 50 else y) for n, (stamp, y, _, _) in enumerate(rows[:120]) if n != 70]
    _write("bad.csv", ("time", "y"), [*bad, bad[20]])
    _write("vintages.csv", ("time", "issued_at", "wind"), list(_vintages(rows)))
    _write_panel()
    _write("wide.csv", ("date", "north", "south", "west"), list(_wide(150)))
    _write("zone.csv", ("time", "y"), list(_zone(24 * 24)))
    _write("holidays.csv", ("date", "name"), [("2024-03-29", "Good Friday"), ("2024-04-01", "Easter Monday")])
    _write_messy()
    options = (
        'target = "y"',
        'past = "load,wind"',
        "lookback = 16",
        "horizon = 4",
        "hidden-size = 8",
        "max-epochs = 1",
    )
    Path("options.toml").write_text("\n".join([*options, "seed = 5", ""]), encoding="utf-8")


def _hourly(steps: int) -> Iterator[tuple[str, float, float, float]]:
    noise = random.Random(1)
    for n in range(steps):
        stamp = (datetime(2024, 1, 1) + timedelta(hours=n)).strftime("%Y-%m-%d %H:%M")
        wind = round(5 + 3 * math.sin(n / 17) + noise.gauss(0, 0.5), 3)
        load = round(40 + 10 * math.sin(n * math.tau / 24) + noise.gauss(0, 1), 3)
        yield stamp, round(0.5 * load - wind + 4 * math.cos(n * math.tau / 24) + noise.gauss(0, 1), 3), load, wind


def _vintages(rows: list[tuple[str, float, float, float]]) -> Iterator[tuple[str, str, float]]:
    noise = random.Random(2)
    for n in range(0, 424, 4):
        issued = datetime(2024, 1, 1) + timedelta(hours=n - 1)
        for stamp, _, _, wind in rows[n : n + 8]:
            yield stamp, issued.strftime("%Y-%m-%d %H:%M"), round(wind + noise.gauss(0, 0.4), 3)


def _write_panel() -> None:
    noise, past, coming = random.Random(3), [], []
    for item, region, importance in (("a", "east", 1), ("b", "west", 2), ("c", "east", 1)):
        for n in range(134):
            date = (datetime(2023, 5, 1) + timedelta(days=n)).strftime("%Y-%m-%d")
            price, promotion = round(3 + noise.random(), 2), noise.choice(("none", "flyer", "display"))
            y = 30 + 8 * math.sin(n * math.tau / 7) - 4 * price + 6 * (promotion != "none") + noise.gauss(0, 1)
            if n < 130:
                temperature = round(15 + noise.gauss(0, 5), 1)
                past.append((item, date, round(y, 3), price, promotion, temperature, region, importance))
            else:
                coming.append((item, date, price, promotion))
    header = ("item_id", "date", "y", "price", "promotion", "temperature", "region", "importance")
    _write("panel.csv", header, past)
    _write("panel-coming.csv", ("item_id", "date", "price", "promotion"), coming)


def _wide(days: int) -> Iterator[tuple[str | float, ...]]:
    noise = random.Random(4)
    for n in range(days):
        date = (datetime(2023, 1, 1) + timedelta(days=n)).strftime("%Y-%m-%d")
        yield date, *(round(math.exp(1 + k / 2 + 0.3 * math.sin(n) + noise.gauss(0, 0.2)), 3) for k in range(3))


def _zone(hours: int) -> Iterator[tuple[str, float]]:
    """Hours on the wall clock of Berlin, across the change to summer time."""
    noise, begin = random.Random(5), datetime(2024, 3, 15, tzinfo=ZoneInfo("UTC"))
    for n in range(hours):
        wall = (begin + timedelta(hours=n)).astimezone(ZoneInfo("Europe/Berlin"))
        yield wall.strftime("%Y-%m-%d %H:%M"), round(20 + 5 * math.sin(wall.hour / 4) + noise.gauss(0, 1), 3)


def _write_messy() -> None:
    """Write monthly tables with semicolons, decimal commas, Latin-1 and days first: long, short and repeated rows."""
    noise = random.Random(6)
    lines = ["Datum;Ort;Wert"]
    for city, months in (("Köln", 72), ("Zürich", 60), ("Ulm", 20)):
        for n in range(72 - months, 72):
            value = f"{50 + 12 * math.sin(n * math.tau / 12) + noise.gauss(0, 2):.2f}".replace(".", ",")
            lines.append(f"01.{n % 12 + 1:02d}.{2018 + n // 12};{city};{value}")
    newcomer = [lines[0], *(line.replace("Köln", "Bern") for line in lines[40:73])]
    lines.insert(11, lines[10])
    for name, text in (("messy.csv", lines), ("newcomer.csv", newcomer)):
        Path(name).write_text("\n".join(text) + "\n", encoding="latin-1")


def _write(name: str, header: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> None:
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])
