"""Days off as a feature: a country's public holidays, by the package `holidays`, and days of the user's own.

The user's days are kept in the run. A country's are computed anew for every forecast, for years training never saw.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.column_names import TIME_NAMES
from forecast_attn.data.findings import Finding, counted, quoted, row_and_line, stamp_text, with_line_numbers
from forecast_attn.data.frequency import Frequency, Stamps, split_alias
from forecast_attn.data.timestamps import looks_like_dates, parse_timestamps
from forecast_attn.errors import ConfigError, DataError, nearest

Days = NDArray[np.datetime64]

DATE_NAMES = (*TIME_NAMES, "day", "holiday_date")
_INSTALL = 'pip install "forecast-attn[holidays]"'


@dataclass(frozen=True)
class Holidays:
    """The days off that a run knows."""

    regions: tuple[str, ...] = ()
    """Countries and their parts as in ISO 3166, such as DE, US-CA."""
    package_version: str | None = None
    """Version of the package used in training; None without regions."""
    dates: tuple[str, ...] = ()
    """The user's own days as YYYY-MM-DD, sorted."""

    @classmethod
    def build(cls, regions: tuple[str, ...], dates: tuple[str, ...] = ()) -> Self | None:
        """The days off of these regions and dates; None where there are neither.

        Args:
            regions: `DE`, `US-CA`, … in any case.
            dates: from `read_dates`.

        Raises:
            ConfigError: an unknown region, or the package `holidays` is not installed.
        """
        if not regions and not dates:
            return None
        known = tuple(sorted({_known_region(region) for region in regions}))
        return cls(known, _package().__version__ if regions else None, dates)

    @property
    def names(self) -> tuple[str, ...]:
        """One feature per region, and one for the user's days."""
        return (*(f"holiday_{region}" for region in self.regions), *(("holiday_dates",) if self.dates else ()))

    def counts(self, local_stamps: Stamps, frequency: Frequency) -> NDArray[np.float32]:
        """Holidays in each step (num_stamps, num_names): 0 or 1 up to a day, their number beyond.

        Raises:
            ConfigError: the package `holidays` is not installed.
        """
        first, after = _days_of_steps(local_stamps, frequency)
        columns = [*self._days_of_regions(first, after), *([_as_days(self.dates)] if self.dates else [])]
        counts = np.zeros((len(local_stamps), len(columns)), np.float32)
        for position, days in enumerate(columns):
            counts[:, position] = np.searchsorted(days, after) - np.searchsorted(days, first)
        return counts

    def _days_of_regions(self, first: Days, after: Days) -> list[Days]:
        """Sorted holidays of each region over the years of these days."""
        if not self.regions or not len(first):
            return [_as_days(())] * len(self.regions)
        years = np.array([first.min(), after.max()], "datetime64[Y]").astype(int) + 1970
        return [_public_holidays(region, range(years[0], years[1] + 1)) for region in self.regions]

    def notes(self, local_stamps: Stamps) -> tuple[Finding, ...]:
        """Findings about forecasting these stamps: another package version, years beyond the user's dates."""
        return (*self._other_package(), *self._beyond_dates(local_stamps))

    def _other_package(self) -> tuple[Finding, ...]:
        if not self.regions or (version := _package().__version__) == self.package_version:
            return ()
        message = f"public holidays come from holidays {version}; the run was trained with {self.package_version}"
        return (Finding("FA521", "note", message, f"pip install holidays=={self.package_version} for the same days"),)

    def _beyond_dates(self, local_stamps: Stamps) -> tuple[Finding, ...]:
        """Warn of steps in years after the last date: the user's list says nothing about them."""
        if not self.dates or not len(local_stamps):
            return ()
        last_year, stamps = int(self.dates[-1][:4]), local_stamps.astype("datetime64[Y]").astype(int) + 1970
        late = stamps > last_year
        if not late.any():
            return ()
        message = (
            f"the holiday dates of the run end with {self.dates[-1]}; {counted(int(late.sum()), 'step')} to forecast "
            f"from {stamp_text(local_stamps[late].min())} on count as none"
        )
        return (Finding("FA522", "warning", message, "train again with dates up to the end of the forecast"),)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {
            "regions": list(self.regions),
            "package_version": self.package_version,
            "dates": list(self.dates),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Read what `to_dict` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else.
        """
        dates = tuple(content["dates"])
        if not all(re.fullmatch(r"\d{4}-\d{2}-\d{2}", date) for date in dates):
            raise ValueError("holidays that are not dates")
        _as_days(dates)
        return cls(tuple(content["regions"]), content["package_version"], dates)


# --------------------------------------------------------------------------- the user's dates


@with_line_numbers
def read_dates(frame: pd.DataFrame, source: str) -> tuple[str, ...]:
    """Read the days of a table of dates: distinct, sorted, as YYYY-MM-DD. Further columns are ignored.

    Args:
        frame: the table as read.
        source: its name, for messages.

    Raises:
        DataError: no column of dates, or a cell that is not a date.
    """
    column = _date_column(frame, source)
    stamps, bad = parse_timestamps(frame[column], column)
    for index in np.flatnonzero(bad)[:1]:
        value = frame[column].iloc[index]
        problem = "is empty" if pd.isna(value) else f"is '{value}'"
        message = f"'{source}': column '{column}' {problem} at {row_and_line(int(index) + 1)}; expected a date"
        text = None if pd.isna(value) else str(value)
        raise DataError(
            message,
            "write dates as YYYY-MM-DD",
            row=int(index) + 1,
            column=column,
            value=text,
            file=source,
            code="FA523",
        )
    days = stamps.astype("datetime64[D]")
    for index in np.flatnonzero(days != stamps)[:1]:
        text = stamp_text(stamps[index])
        where = f"'{source}': column '{column}' is {text} at {row_and_line(int(index) + 1)}"
        message, hint = f"{where}; expected a date without a time of day", "a holiday is a whole day: write YYYY-MM-DD"
        raise DataError(message, hint, row=int(index) + 1, column=column, value=text, file=source, code="FA523")
    return tuple(str(day) for day in np.unique(days))


def _date_column(frame: pd.DataFrame, source: str) -> str:
    columns = [str(name) for name in frame.columns]
    named = [name for known in DATE_NAMES for name in columns if name.lower() == known]
    dates = named or [name for name in columns if looks_like_dates(frame[name])]
    if len(named) > 1 or len(dates) == 1:
        return dates[0]
    if len(dates) > 1:
        raise DataError(
            f"'{source}' has several columns of dates: {quoted(dates)}", "name one of them date", file=source
        )
    if any(looks_like_dates(pd.Series([name])) for name in columns):
        message = f"'{source}' has no header line: its first line is {quoted(columns)}"
        raise DataError(message, "write date above it", file=source)
    message = f"'{source}' has no column of dates; its columns are {quoted(columns)}"
    raise DataError(message, "name the column date and write YYYY-MM-DD", file=source)


# --------------------------------------------------------------------------- days of a step


def _days_of_steps(stamps: Stamps, frequency: Frequency) -> tuple[Days, Days]:
    """First day of every step, and the day after its last, (num_stamps,) each.

    A stamp on a month's, quarter's or year's last day, or on a week's last (any but Monday), ends its step, as pandas
    labels them; every other stamp begins it.
    """
    days = stamps.astype("datetime64[D]")
    _, unit, anchor = split_alias(frequency.alias)
    if unit in ("ME", "BME", "QE", "YE") or (unit == "W" and anchor != "MON"):
        return frequency.shift(stamps, -1).astype("datetime64[D]") + 1, days + 1
    if unit == "B":
        return days, days + 1
    return days, np.maximum(frequency.shift(stamps, 1).astype("datetime64[D]"), days + 1)


def _as_days(dates: tuple[str, ...]) -> Days:
    return np.array(sorted(dates), "datetime64[D]")


# --------------------------------------------------------------------------- the package


def _package() -> Any:
    try:
        import holidays
    except ImportError:
        raise ConfigError("--holidays needs the package holidays, which is not installed", _INSTALL) from None
    return holidays


def _public_holidays(region: str, years: range) -> Days:
    country, _, part = region.partition("-")
    try:
        days = _package().country_holidays(country, subdiv=part or None, years=years)
    except NotImplementedError:
        raise ConfigError(f"no public holidays are known for '{region}'", _nearest_country(region)) from None
    return np.array(sorted(days), "datetime64[D]")


def _known_region(region: str) -> str:
    """The region as the package spells it."""
    country, dash, part = region.strip().partition("-")
    countries: dict[str, list[str]] = _package().list_supported_countries(include_aliases=True)
    country = country.upper()
    if country not in countries:
        raise ConfigError(f"--holidays: no public holidays are known for '{region}'", _nearest_country(region))
    if not dash:
        return country
    spelled = {name.lower(): name for name in countries[country]}
    if part.lower() not in spelled:
        known = ", ".join(f"{country}-{name}" for name in countries[country])
        raise ConfigError(
            f"--holidays: '{country}' has no region '{part}'" if part else f"--holidays: no region follows '{region}'",
            f"--holidays {country}, or one of {known}" if known else f"--holidays {country}: it has none",
        )
    return f"{country}-{spelled[part.lower()]}"


def _nearest_country(region: str) -> str:
    """Code of the country whose name is most like the text: people write Germany, or GER."""
    from importlib import import_module

    known: dict[str, tuple[str, ...]] = import_module("holidays.registry").COUNTRIES
    names = {name: codes[1] for words, codes in known.items() for name in (words.replace("_", " "), codes[2])}
    match = nearest(region, list(names))
    if match is None:
        return "use ISO 3166 codes: DE, FR, US-CA, …"
    return f"did you mean '{names[match]}' ({match.title()})?"
