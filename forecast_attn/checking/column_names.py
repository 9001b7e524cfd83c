"""The meaning of a column by its name: the year, a unit of the calendar, the number of a row, an identifier."""

from __future__ import annotations

import re

import pandas as pd

from forecast_attn.data.reading.joined import ROW_NUMBER
from forecast_attn.data.reading.time_parts import unit_of, unit_of_column
from forecast_attn.data.roles import TIME_NAMES, is_numeric

COUNTERS = ("no", "no.", "nr", "obs", "rownames", "row", "n", "number", "instant", "index")
"""Names of columns that number the rows."""
STEP_WORDS = ("t", "step")
"""Names of whole numbers that count the steps of a series."""
_CALENDAR = (
    *("weekday", "dayofweek", "day_of_week", "dow", "wday", "weekofyear", "week_of_year", "dayofyear", "yday"),
    *("season", "holiday", "workingday", "weekend", "time_idx"),
)
_NAMING_WORDS = (
    *("id", "no", "nr", "num", "number", "code", "zip", "zipcode", "postcode", "phone", "fips", "sku", "account"),
    *("flight", "customer", "invoice", "name", "country", "region", "city", "channel", "category", "type", "class"),
)
"""Last word of a column of whole numbers that are names: `InvoiceNo`, `Postal Code`."""
_MONEY_WORDS = {
    *("amount", "price", "cost", "costs", "fee", "fees", "fare", "tip", "payment", "paid"),
    *("revenue", "sales", "spend", "spent", "income", "expense", "expenses", "turnover", "betrag", "umsatz"),
    *("preis", "kosten", "montant", "prix", "importe", "precio", "bedrag", "valor", "importo", "prezzo"),
}
_INTENSITY_WORDS = {
    *("share", "rate", "ratio", "pct", "percent", "percentage", "score", "rating", "temperature", "temp", "speed"),
    *("age", "level", "index", "priority", "rank"),
}
"""Words of numbers that are averaged, never summed."""
_CURRENCY = r"[$€£¥₹]|\b(EUR|USD|GBP|CHF|JPY)\b"
_UNIT_WORDS = ("age", "year", "month", "week", "day", "hour", "minute", "min", "second", "sec")
_MOST_LETTERS = 3
"""Longest name that may be short for a unit of time, or for anything else."""
_MOST_OF_UNITS = {"quarter": 4, "month": 12, "hour": 24, "day": 366, "week": 53, "minute": 59}


def words_of(name: str) -> set[str]:
    """Return the words of a name in lower case."""
    return set(re.findall("[a-z]+", name.lower()))


def is_called_year(name: str) -> bool:
    """Return whether the word year is in a name: `iyear`, `year of sale`."""
    return unit_of(name) == "year" or "year" in name.lower()


def is_called_time(name: str) -> bool:
    """Return whether the last word of a name is a time, an age or a unit of it: `time`, `pan_day`, `Weeks`."""
    words = re.findall("[A-Z]?[a-z]+|[A-Z]+", name)
    last = words[-1].lower() if words else ""
    return last in TIME_NAMES or last in _UNIT_WORDS or last.removesuffix("s") in _UNIT_WORDS


def is_called_age(name: str) -> bool:
    """Return whether a column is the age of somebody by its name, and no `gas age` of ice."""
    return words_of(name) == {"age"}


def is_unnamed_counter(name: str) -> bool:
    """Return whether a column has no name, as the numbers of the rows that pandas writes."""
    return name.lower().startswith("unnamed: ")


def counts_rows(name: str) -> bool:
    """Return whether a column is the number of the row, counted here or in the file."""
    plain = name.lower().strip("# ")
    return name == ROW_NUMBER or plain in COUNTERS or not plain or is_unnamed_counter(name)


def is_called_id(name: str) -> bool:
    """Return whether a column is an identifier of something by its name: `customer_id`, `storeId`."""
    return re.search(r"[_ .-](id|ID|Id)$|[a-z]I[dD]$", name) is not None


def is_called_a_name(name: str) -> bool:
    """Return whether numbers are names of something by the name of their column: `flight`, `InvoiceNo`, `Zip`."""
    words = re.findall("[A-Z]?[a-z]+|[A-Z]+", name)
    return bool(words) and words[-1].lower() in _NAMING_WORDS


def is_called_money(name: str) -> bool:
    """Return whether a column is an amount of money by its name: `total_amount`, `Umsatz in €`."""
    is_sum = re.search(r"(total|sum)$", name.lower()) is not None  # and no `total_of_requests`
    return is_sum or not _MONEY_WORDS.isdisjoint(words_of(name)) or re.search(_CURRENCY, name) is not None


def is_called_intensity(name: str) -> bool:
    """Return whether a column is averaged, never summed, by its name: `share_of_votes`, `Moisture [%]`."""
    return not _INTENSITY_WORDS.isdisjoint(words_of(name)) or "%" in name


def is_of_the_calendar(column: pd.Series) -> bool:
    """Return whether a column says when its row is, by its name; where that is short, `MO`, by its cells too."""
    plain = str(column.name).lower()
    unit = (unit_of(plain) if len(plain) > _MOST_LETTERS else None) or unit_of_column(column)
    if unit in _MOST_OF_UNITS and len(plain) <= _MOST_LETTERS and is_numeric(column):  # `hr` may be a heart rate
        unit = unit if pd.to_numeric(column, errors="coerce").max() <= _MOST_OF_UNITS[unit] else None
    is_part = re.match(r"(minute|hour|day|week|month)s? of (the )?", plain) is not None
    return unit is not None or is_part or plain in _CALENDAR or plain in COUNTERS
