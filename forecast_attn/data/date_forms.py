"""Forms of written dates, and the evidence that tells day first from month first."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from forecast_attn.data.frequency import are_regular
from forecast_attn.errors import DataError

NaiveStamps = NDArray[np.datetime64]

_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %H:%M:%S.%f")
_HALF_DAYS = (" %I:%M %p", " %I:%M:%S %p", " %I:%M:%S.%f %p", " %I %p")
_NUMERIC = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_ABOVE_12 = r"(?:1[3-9]|[2-9]\d)"
_COULD_BE_DATE = re.compile(
    r"\d{4}|\d{1,2}[/.-]\d{1,2}[/.-](?:\d{4}|\d{2})(?!\d)|(?=.*\d{4}).*[A-Za-z]{3}|[Qq][1-4]|\d{1,2}[- ][A-Za-z]{3}"
    r"|[A-Za-z]{3,9}[- ]\d{2}(?!\d)"
)
_MONTHS = (
    *(
        "%d %b %Y",
        "%d-%b-%Y",
        "%b %d, %Y",
        "%b %d %Y",
        "%b-%d-%Y",
        "%b-%d-%y",
        "%b %Y",
        "%b-%Y",
        "%Y-%b-%d",
        "%Y %b",
        "%Y-%b",
    ),
    *("%d-%b-%y", "%d %b %y", "%b-%y", "%b %y"),
)
_MONTH_NAMES = (*_MONTHS, *(form.replace("%b", "%B") for form in _MONTHS))
_WEEK = r"^(\d{4})[- ]?W(\d{2})(?:-?([1-7]))?$"
_QUARTER = r"^(?:(\d{4})[- ]?[Qq]([1-4])|[Qq]([1-4])[- /]?(\d{4}))$"
_MONTH_NUMBER = r"^\d{4}[- ]?[Mm](?:0?[1-9]|1[0-2])$"
"""`2024M01`, as statistical offices write it."""
DIGIT_FORMS = {10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
_DIGITS = {8: "%Y%m%d", **DIGIT_FORMS}
"""Number of digits -> what they are. Six could be a month or a day of two-digit years, so they are neither."""

FIRST_YEAR, LAST_YEAR = 1678, 2261
"""Years that 64-bit nanoseconds cover fully."""
FIRST_SHORT_YEAR = 50
"""Years of two digits from this one on are those of the last century."""
_FIRST, _END = np.datetime64(f"{FIRST_YEAR}", "s"), np.datetime64(f"{LAST_YEAR + 1}", "s")

CDC_WEEKS = "cdc-weeks"
DATE_ORDERS = {
    "day-first": ("%d/%m/%Y", "%d/%m/%y"),
    "month-first": ("%m/%d/%Y", "%m/%d/%y"),
    "year-first": ("%Y/%m/%d", "%y/%m/%d"),
    "year-month": (),
    "year-quarter": (),
    CDC_WEEKS: (),
}
"""`--date-format` of dates of three numbers -> their strptime formats, with years of four digits and of two.

year-month is that of months of numbered years, `1-01` to `3-12`, which are steps and no dates; year-quarter that of
`2024:01` to `2024:04`; cdc-weeks that of weeks from Sunday on, as the CDC counts them (MMWR).
"""

_TWO_DIGIT_ORDERS = ("%d/%m/%y", "%m/%d/%y", "%y/%m/%d")


def parse_forms(text: pd.Series, name: str, order: str | None) -> tuple[NaiveStamps, str | None]:
    """Dates without offsets, in the first form that fits, and what it leaves over in the next ones (num_cells,).

    Args:
        text: stripped cells, each once.
        name: the column's, for messages.
        order: of `DATE_ORDERS`, for dates of three numbers; found when None.

    Returns:
        The dates, and the order in which three numbers are one, where they are.

    Raises:
        DataError: every date reads in more than one way.
    """
    stamps = np.full(len(text), np.datetime64("NaT"), "datetime64[ns]")
    text = _plain_clocks(text)
    first = next((cell for cell in text.head(100) if _COULD_BE_DATE.match(cell)), "")
    if not first and len(text) <= 100:
        return stamps, None
    if re.match(_WEEK, first):
        return _weeks(text, order)
    if re.match(_QUARTER, first):
        return _quarters(text), None
    if re.match(_MONTH_NUMBER, first):
        text = text.where(matches(text, _MONTH_NUMBER))  # a cell of another form is no month
        return parse_form(replaced(text, r"[- ]?[Mm]", "-"), "%Y-%m"), None
    numeric = _NUMERIC.match(first)
    date = _order(text, name, numeric[2], order, short=len(numeric[4]) == 2) if numeric else None
    left = np.arange(len(text))
    for form in _forms(first, date):
        stamps[left] = parse_form(text.iloc[left], form)
        left = left[np.isnat(stamps[left])]
        if not len(left):
            break
    return stamps, next((order for order, dates in DATE_ORDERS.items() if date in dates), None)


def matches(text: pd.Series, pattern: str) -> NDArray[np.bool_]:
    """Cells in which a pattern is found (num_cells,); by Arrow, without a Python call for each."""
    hits = pc.match_substring_regex(pa.array(text, pa.string(), from_pandas=True), pattern)
    return np.asarray(pd.Series(hits.to_pandas()).fillna(False).to_numpy(), np.bool_)


def replaced(text: pd.Series, pattern: str, by: str) -> pd.Series:
    """The cells with every match of a pattern replaced."""
    cells = pc.replace_substring_regex(pa.array(text, pa.string(), from_pandas=True), pattern, by)
    return pd.Series(cells.to_pandas(), dtype="string")


def parse_form(text: pd.Series, form: str) -> NaiveStamps:
    """Cells of one form, NaT where they are not or where nanoseconds cannot hold them (num_cells,)."""
    if form == "ISO8601":  # pandas takes +1, +010 and the Z of 1:00:0Z for offsets, which were taken off where they are
        text = text.mask(matches(text, r"[T ]\d.*[+Z-]"))
    return in_form(text, form)


def in_form(text: pd.Series, form: str) -> NaiveStamps:
    """Cells of one form as pandas reads it, NaT where they are not in range (num_cells,).

    Years of two digits are 1950 to 2049, where pandas and strptime would read 1969 to 2068: there are more records from
    the fifties and sixties than plans for them.
    """
    stamps = in_range(pd.to_datetime(text, format=form, errors="coerce").to_numpy())
    return _before_2050(stamps) if "%y" in form else stamps


def _before_2050(stamps: NaiveStamps) -> NaiveStamps:
    """The stamps, those from 2050 on a century earlier: their leap years are the same."""
    months = stamps.astype("datetime64[M]")
    earlier = (months - np.timedelta64(1200, "M")).astype("datetime64[ns]") + (stamps - months)
    return np.where(stamps >= np.datetime64(f"20{FIRST_SHORT_YEAR}"), earlier, stamps)


def in_range(stamps: NDArray[np.datetime64]) -> NaiveStamps:
    """Convert to datetime64[ns], NaT in years that nanoseconds do not cover fully."""
    if len(stamps) and stamps.min() >= _FIRST and stamps.max() < _END:  # never true of NaT
        return stamps.astype("datetime64[ns]", copy=False)
    years = stamps.astype("datetime64[Y]").astype(np.int64) + 1970
    bad = np.isnat(stamps) | (years < FIRST_YEAR) | (years > LAST_YEAR)
    return np.where(bad, np.datetime64("NaT"), stamps).astype("datetime64[ns]")


def brought_near(column: pd.Series) -> pd.Series | None:
    """Dates of which some lie outside the years that nanoseconds cover, with the years of those changed (num_cells,).

    They move by multiples of 400 years, after which the Gregorian calendar repeats, weekdays and all. None where no
    cell is such a date.
    """
    if not isinstance(column.dtype, pd.CategoricalDtype | pd.StringDtype):
        return None
    codes, cells = pd.factorize(column)
    text = pd.Series(cells).astype("string")
    years = pd.to_numeric(text.str.extract(r"^(\d{4})-\d", expand=False))
    is_far = ((years < FIRST_YEAR) | (years > LAST_YEAR)).fillna(False).astype(bool)
    if not is_far.any():
        return None
    near = (FIRST_YEAR + (years[is_far] - FIRST_YEAR) % 400).astype("Int64").astype("string")
    moved = text.mask(is_far, near + text[is_far].str.slice(4))
    return pd.Series(moved.array.take(codes, allow_fill=True), column.index, name=column.name)


def _plain_clocks(text: pd.Series) -> pd.Series:
    """Normalise clock times: `1:05pm` to `1:05 PM`, and nothing between digits of a date and of its clock time."""
    if matches(text, r"([AaPp]\.? ?[Mm]\.?|\d:\d{2} ?[ap])$").any():
        text = text.str.replace(r"\s*([AaPp])(\.? ?[Mm]\.?)?$", lambda half: f" {half[1].upper()}M", regex=True)
    if text.str.contains(",", regex=False).any():
        text = replaced(text, r",\s*(\d{1,2}:)", r" \1")
    if matches(text.head(100), r"^\d{8}:\d{4}$").any():  # 20160101:0010, as the solar archive PVGIS writes it
        text = replaced(text, r"^(\d{8}):(\d{4})$", r"\1\2")
    return text


def _forms(first: str, date: str | None) -> Iterator[str]:
    """The forms worth trying, judged by the first cell that could be a date; `date` is of three numbers."""
    known = _HALF_DAYS if first.endswith(("AM", "PM")) else _CLOCKS
    clocks = tuple(sorted(known, key=lambda clock: clock.count(":") != first.count(":")))
    numeric = _NUMERIC.match(first)
    if numeric and date is not None:
        yield from (date.replace("/", numeric[2]) + clock for clock in clocks)
    elif re.match(r"\d{4}", first):
        yield from _year_first(first, clocks)
    else:
        yield from (date + clock for clock in clocks for date in _MONTH_NAMES)


def _year_first(first: str, clocks: tuple[str, ...]) -> Iterator[str]:
    if first.isdecimal() and len(first) in _DIGITS:
        yield _DIGITS[len(first)]
        return
    if re.match(r"\d{4}[ -][A-Za-z]{3}", first):
        yield from (date + clock for clock in clocks for date in _MONTH_NAMES)
    if re.fullmatch(r"\d{4}-[0-3]\d{2}", first):  # the day of the year
        yield "%Y-%j"
        return
    mark = "." if "." in first[:8] else "/" if "/" in first else "-"
    if mark == "-":
        yield "ISO8601"
    dates = (f"%Y{mark}%m{mark}%d", f"%Y{mark}%m")
    yield from (date + clock for date in dates for clock in clocks)
    if mark != "-":
        yield "ISO8601"


# --------------------------------------------------------------------------- weeks and quarters


def _weeks(text: pd.Series, order: str | None) -> tuple[NaiveStamps, str | None]:
    """ISO weeks as their Monday, or the day named; those of the CDC as their Sunday, where a 53rd is of no ISO year.

    The order is that of the CDC then, so that another table of the same series is read alike.
    """
    parts = text.str.extract(_WEEK)
    stamps = parse_form(parts[0] + "-W" + parts[1] + "-" + parts[2].fillna("1"), "%G-W%V-%u")
    # pandas 2 reads week 53 of a year that has 52 as the first week of the next year.
    week = pd.Series(stamps).dt.isocalendar().week.fillna(0).to_numpy(np.int64)
    is_bad = parts[1].str.fullmatch("53", na=False).to_numpy(bool) & (week != 53)
    stamps[is_bad] = np.datetime64("NaT")
    if order != CDC_WEEKS and (not is_bad.any() or parts[2].notna().any()):
        return stamps, None
    sundays = _weeks_from_sunday(parts[0], parts[1])
    is_of_cdc = order == CDC_WEEKS or not np.isnat(sundays[is_bad]).any()
    return (sundays, CDC_WEEKS) if is_of_cdc else (stamps, None)


def _weeks_from_sunday(year: pd.Series, week: pd.Series) -> NaiveStamps:
    """The Sundays of weeks of the CDC (MMWR), of which the first one of a year has four days of it or more."""

    def first_sunday(years: NDArray[np.int64]) -> NDArray[np.int64]:
        """The day of it, from 1 January 1970 on, which was a Thursday."""
        fourth = (years - 1970).astype("datetime64[Y]").astype("datetime64[D]").astype(np.int64) + 3
        return fourth - (fourth + 4) % 7

    known = (year.notna() & week.notna()).to_numpy(bool)
    years = np.asarray(year.fillna("1970").astype(np.int64), np.int64)
    days = first_sunday(years) + 7 * (np.asarray(week.fillna("1").astype(np.int64), np.int64) - 1)
    is_of_year = known & (days < first_sunday(years + 1))
    return np.where(is_of_year, days.astype("datetime64[D]"), np.datetime64("NaT")).astype("datetime64[ns]")


def _quarters(text: pd.Series) -> NaiveStamps:
    """Quarters as their first day."""
    parts = text.str.extract(_QUARTER)
    year, quarter = parts[0].fillna(parts[3]), parts[1].fillna(parts[2])
    month = quarter.map({"1": "01", "2": "04", "3": "07", "4": "10"}).astype("string")
    return parse_form(year + "-" + month, "%Y-%m")


# --------------------------------------------------------------------------- day first or month first


def _order(text: pd.Series, name: str, mark: str, given: str | None, *, short: bool) -> str:
    """The strptime format of a date of three numbers, with `/` between them, as given or by evidence.

    Raises:
        DataError: there is none.
    """
    if given is not None and DATE_ORDERS[given]:
        return DATE_ORDERS[given][short]
    orders = _possible_orders(text, mark) if short else _orders_of_long_years(text)
    if len(orders) == 1:
        return orders[0]
    first = next((cell for cell in text if _NUMERIC.match(cell)), text.iloc[0])
    names = [order for order, formats in DATE_ORDERS.items() if set(formats) & set(orders)]
    readings = " or ".join(names).replace("-", " ")
    hint = f"--date-format {' or '.join(names)} decides; or write ISO dates (YYYY-MM-DD)"
    message = f"the dates of column '{name}' are ambiguous: '{first}' may be {readings}, and no value decides"
    raise DataError(message, hint, code="FA201", column=name, value=str(first), options=("date_format",))


def _orders_of_long_years(text: pd.Series) -> tuple[str, ...]:
    """Day first or month first, by a field above 12. Evidence for both is a bad cell: the first order counts."""
    if matches(text, rf"^{_ABOVE_12}[/.-]\d").any():
        return ("%d/%m/%Y",)
    is_month_first = matches(text, rf"^\d{{1,2}}[/.-]{_ABOVE_12}[/.-]").any()
    return ("%m/%d/%Y",) if is_month_first else ("%d/%m/%Y", "%m/%d/%Y")


def _possible_orders(text: pd.Series, mark: str) -> tuple[str, ...]:
    """The orders of day, month and two-digit year in which all are dates; of those, the ones with a regular step."""
    dates = text.str.extract(rf"^(\d{{1,2}}{re.escape(mark)}\d{{1,2}}{re.escape(mark)}\d{{2}})(?!\d)")[0].dropna()
    dates = dates.drop_duplicates()
    readings = {order: parse_form(dates, order.replace("/", mark)) for order in _TWO_DIGIT_ORDERS}
    fewest = min((int(np.isnat(stamps).sum()) for stamps in readings.values()), default=0)
    if fewest > len(dates) / 2:  # of no order: the codes of doors, 02-00-00 beside 01-03-02
        return _TWO_DIGIT_ORDERS[:1]
    possible = tuple(order for order, stamps in readings.items() if np.isnat(stamps).sum() == fewest)
    regular = tuple(order for order in possible if are_regular(readings[order]))
    return regular or possible
