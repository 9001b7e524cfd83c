"""Writes the simulated samples of data/, byte for byte from a seed.

    python benchmarks/make_samples.py                            writes city_load.csv and planted_lag.csv into data/
    python benchmarks/make_samples.py --check                    compares data/ with what would be written
    python benchmarks/make_samples.py --lag 14 --out other.csv   writes a planted-lag table with another lag

The random numbers come from RandomState, whose streams numpy has frozen; values are rounded before they are written, so
that the last bit of a sine on another machine does not matter.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DATA_DIR = Path(__file__).resolve().parent.parent / "data"
SEED = 20_240_701
LAG = 10

CITY_START, CITY_DAYS, FUTURE_DAYS = np.datetime64("2022-07-01"), 731, 2
HOLIDAYS = (
    *("2022-10-03", "2022-12-25", "2022-12-26"),
    *("2023-01-01", "2023-04-07", "2023-04-10", "2023-05-01", "2023-05-18", "2023-05-29", "2023-10-03"),
    *("2023-12-25", "2023-12-26", "2024-01-01", "2024-03-29", "2024-04-01", "2024-05-01", "2024-05-09", "2024-05-20"),
)
# Share of the day's swing above the night, by hour.
WORKDAY = (4, 1, 0, 0, 3, 14, 38, 68, 82, 80, 76, 74, 73, 70, 66, 65, 69, 82, 96, 100, 90, 68, 42, 18)
DAY_OFF = (12, 6, 2, 0, 0, 2, 6, 14, 28, 42, 51, 57, 60, 55, 49, 46, 49, 59, 72, 77, 70, 55, 37, 20)


def planted_lag(lag: int, rows: int = 2_000) -> str:
    """A target that is its driver of `lag` days ago, with 2 % noise."""
    random = np.random.RandomState(SEED + lag)
    driver = random.standard_normal(rows + lag)
    target = driver[:rows] + 0.02 * random.standard_normal(rows)
    days = np.datetime64("2019-01-01") + np.arange(rows)
    lines = [f"{day},{_rounded(y, 4)},{_rounded(x, 4)}" for day, y, x in zip(days, target, driver[lag:], strict=True)]
    return _table("date,target,driver", lines)


def city_load() -> str:
    """Hourly demand of a city, with two days at the end of which only temperature, holiday and price are known."""
    random = np.random.RandomState(SEED)
    hours = np.arange(24 * (CITY_DAYS + FUTURE_DAYS))
    holiday = np.isin(CITY_START + hours // 24, np.array(HOLIDAYS, "datetime64[D]"))
    temperature = np.round(_temperature(hours, random), 1)
    price = np.round(_price(hours, holiday, temperature, random), 2)
    demand = _demand(hours, holiday, temperature, price, random)
    stamps = CITY_START.astype("datetime64[h]") + hours
    lines = []
    for at, stamp in enumerate(stamps):
        load = _rounded(demand[at], 1) if at < 24 * CITY_DAYS else ""
        time = str(stamp).replace("T", " ") + ":00"
        lines.append(f"{time},{load},{_rounded(temperature[at], 1)},{int(holiday[at])},{_rounded(price[at], 2)}")
    return _table("timestamp,demand,temperature,holiday,price", lines)


def _temperature(hours: Ints, random: np.random.RandomState) -> Floats:
    """Degrees Celsius: the year, the day (wider in summer), and weather that lasts for days."""
    year = -np.cos(2 * np.pi * (_day_of_year(hours) - 20) / 365.25)
    day = np.cos(2 * np.pi * (hours % 24 - 15) / 24) * (3.2 + 1.6 * year)
    weather = _persistent(len(hours), 0.988, 3.6, random) + _persistent(len(hours), 0.9, 0.7, random)
    return np.asarray(10.8 + 10.2 * year + day + weather, np.float64)


def _price(hours: Ints, holiday: NDArray[np.bool_], temperature: Floats, random: np.random.RandomState) -> Floats:
    """EUR/MWh, published the day before: the hour, the cold, the wind, and a rare scarcity."""
    shape = _swing(hours, holiday)
    wind = _persistent(len(hours), 0.97, 16.0, random)
    noon_sun = np.clip(np.cos(2 * np.pi * (hours % 24 - 13) / 24), 0, None) * np.clip(temperature - 5, 0, 25)
    scarce = np.repeat(random.uniform(size=len(hours) // 24) < 0.012, 24) * (shape > 0.75) * 110.0
    return 52 + 42 * shape + 0.9 * np.clip(12 - temperature, 0, None) - 1.5 * noon_sun + wind + scarce


def _demand(
    hours: Ints,
    holiday: NDArray[np.bool_],
    temperature: Floats,
    price: Floats,
    random: np.random.RandomState,
) -> Floats:
    """Megawatts: habits, heating and cooling of houses that warm slowly, and a little that yields to the price."""
    indoors = _smoothed(temperature, 0.85)
    heating = 7.5 * np.clip(15.5 - indoors, 0, None)
    cooling = 10.0 * np.clip(indoors - 21.5, 0, None)
    dark = 22 * ((hours % 24 >= 17) | (hours % 24 <= 7)) * np.cos(2 * np.pi * (_day_of_year(hours) - 355) / 365.25)
    yields = -0.35 * np.clip(price - 80, -40, None)
    noise = _persistent(len(hours), 0.93, 7.0, random) + 2.5 * random.standard_normal(len(hours))
    habits = 410 + 340 * _swing(hours, holiday) + 0.0012 * hours
    return np.asarray(habits + heating + cooling + dark + yields + noise, np.float64)


def _swing(hours: Ints, holiday: NDArray[np.bool_]) -> Floats:
    """Height of each hour above the night, 0 to 1; Saturdays lie between workdays and Sundays."""
    weekday = ((CITY_START.astype(np.int64) + 3) % 7 + hours // 24) % 7
    work, off = (np.array(day, np.float64)[hours % 24] / 100 for day in (WORKDAY, DAY_OFF))
    mixed = np.where(weekday == 5, 0.3 * work + 0.7 * off, np.where(weekday == 6, off, work))
    return np.where(holiday, 0.92 * off, mixed)


def _day_of_year(hours: Ints) -> Ints:
    days = CITY_START + hours // 24
    return np.asarray((days - days.astype("datetime64[Y]")).astype(np.int64), np.int64)


def _persistent(length: int, memory: float, deviation: float, random: np.random.RandomState) -> Floats:
    """Noise of the given deviation that remembers its last value, without its first thousand unsettled values."""
    settled = _smoothed(random.standard_normal(length + 1_000), memory)[1_000:]
    return np.asarray(settled * deviation * np.sqrt((1 + memory) / (1 - memory)), np.float64)


def _smoothed(values: Floats, memory: float) -> Floats:
    smooth, level = np.empty_like(values), values[0]
    for at, value in enumerate(values):
        level = memory * level + (1 - memory) * value
        smooth[at] = level
    return smooth


def _rounded(value: float, digits: int) -> str:
    return f"{round(float(value), digits) + 0.0:.{digits}f}"  # + 0.0 turns -0.0 into 0.0


def _table(header: str, lines: list[str]) -> str:
    return "\n".join([header, *lines, ""])


def _differing() -> list[str]:
    return [name for name, text in SAMPLES.items() if (DATA_DIR / name).read_bytes() != text().encode("ascii")]


SAMPLES: dict[str, Callable[[], str]] = {"city_load.csv": city_load, "planted_lag.csv": lambda: planted_lag(LAG)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, write nothing; exit code 1 when a file differs")
    parser.add_argument("--lag", type=int, default=LAG, help="days between driver and target (with --out)")
    parser.add_argument("--out", type=Path, help="write one planted-lag table here")
    arguments = parser.parse_args()
    if arguments.check:
        differing = _differing()
        print("differ: " + ", ".join(differing) if differing else "the simulated samples are up to date")
        return 1 if differing else 0
    if arguments.out is not None:
        arguments.out.write_bytes(planted_lag(arguments.lag).encode("ascii"))
        return 0
    for name, text in SAMPLES.items():
        (DATA_DIR / name).write_bytes(text().encode("ascii"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
