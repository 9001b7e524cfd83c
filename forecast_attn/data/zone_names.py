"""Names of time zones behind time stamps, such as PST, as offsets from UTC.

A name is read where it means one offset: those of RFC 2822, section 4.3, and those that every zone of the IANA
database with that name has shared since 2000 (a test compares). Others, such as BST and IST, are refused.
"""

from __future__ import annotations

import re
import warnings

from pandas.tseries.api import guess_datetime_format

OFFSETS = {
    **dict.fromkeys(("UTC", "GMT", "UT", "WET"), "+00:00"),
    **dict.fromkeys(("CET", "MEZ", "MET", "WEST"), "+01:00"),
    **dict.fromkeys(("CEST", "MESZ", "MEST", "EET", "SAST"), "+02:00"),
    **dict.fromkeys(("EEST", "MSK"), "+03:00"),
    **dict.fromkeys(("AWST", "HKT"), "+08:00"),
    **dict.fromkeys(("JST", "KST"), "+09:00"),
    "ACST": "+09:30",
    "AEST": "+10:00",
    "ACDT": "+10:30",
    "AEDT": "+11:00",
    "NZST": "+12:00",
    "NZDT": "+13:00",
    "HST": "-10:00",
    "AKST": "-09:00",
    **dict.fromkeys(("PST", "AKDT"), "-08:00"),
    **dict.fromkeys(("MST", "PDT"), "-07:00"),
    **dict.fromkeys(("CST", "MDT"), "-06:00"),
    **dict.fromkeys(("EST", "CDT"), "-05:00"),
    "EDT": "-04:00",
}
"""CST and CDT are those of North America, as in RFC 2822, though China and Cuba have their own."""

_MOVED = re.compile(r"(?<!\d)201[1-4](?!\d).*MSK\)?$")
"""Moscow was an hour further ahead from March 2011 to October 2014."""
_NAME = re.compile(rf"(?:(?<=\d)\s*|(?<=[\d.Mm])\s+)\(?({'|'.join(OFFSETS)})\)?$")
_LONGEST = 10
"""Letters that such a name has at most, with brackets and blanks."""
_NUMBER = re.compile(r"\s*\(?(?:GMT|UTC) ?([+-])(\d{1,2})(?::?(\d{2}))?\)?(?: \([^)]*\))?$")
_IN_BRACKETS = re.compile(r"(?<=[\dZ]) ?\[[A-Za-z_]+(?:/[A-Za-z_]+)*\]$")
_UNKNOWN = re.compile(r"(.*\d:\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[AaPp]\.? ?[Mm]\.?)?) \(?(?![AP]M)([A-Z]{2,5})\)?")
_EXAMPLES = {
    **dict.fromkeys(("BST", "UK"), "Europe/London"),
    "IST": "Asia/Kolkata",
    "AST": "America/Halifax",
    **dict.fromkeys(("ET", "EPT"), "America/New_York"),
    **dict.fromkeys(("CT", "CPT"), "America/Chicago"),
    **dict.fromkeys(("MT", "MPT"), "America/Denver"),
    **dict.fromkeys(("PT", "PPT"), "America/Los_Angeles"),
    "MSK": "Europe/Moscow",
}
"""Name that is not read -> the zone it means most often."""


def has_zone_name(cell: str) -> bool:
    """Return whether a stamp ends in the name of a zone that means one offset, or in one with a number: GMT+1."""
    return any(pattern.search(cell) for pattern in (_NAME, _NUMBER, _IN_BRACKETS))


def name_of_zone(cell: str) -> str | None:
    """The name at the end of a stamp, if it is one that means one offset."""
    name = _NAME.search(cell)
    return None if name is None else name[1]


def without_zone_name(cell: str) -> str:
    """The stamp before the name of its zone."""
    return _NAME.sub("", cell)


def with_offset(cell: str) -> str:
    """`2024-01-31 13:05 PST` as `2024-01-31 13:05-08:00`; a cell without such a name as it is."""
    if "[" in cell:
        cell = _IN_BRACKETS.sub("", cell)
    if "GMT" in cell or "UTC" in cell:
        cell = _NUMBER.sub(_offset, cell)
    name = _NAME.search(cell, max(0, len(cell) - _LONGEST))  # the rest of many cells need not be looked at
    return cell if name is None or _MOVED.search(cell) else cell[: name.start()] + OFFSETS[name[1]]


def _offset(number: re.Match[str]) -> str:
    return f"{number[1]}{number[2]:0>2}:{number[3] or '00'}"


def unread_name(cell: object) -> str | None:
    """The name of a zone behind a clock that means no offset, or several: BST; None where there is none."""
    match = _UNKNOWN.fullmatch(str(cell).strip())
    return None if match is None or with_offset(match[0]) != match[0] else match[2]


def formats_of_named(cell: str) -> list[str]:
    """Each `--date-format` of a stamp with such a name, which then says nothing: `%Y-%m-%d %H:%M BST`."""
    cell = cell.strip()
    bare = without_unread_name(cell)
    orders = (False,) if re.match(r"\d{4}", bare) else (True, False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas warns where only the other order fits
        formats = [guess_datetime_format(bare, dayfirst=is_day_first) for is_day_first in orders]
    return [date_format + cell[len(bare) :] for date_format in dict.fromkeys(formats) if date_format is not None]


def without_unread_name(cell: str) -> str:
    """The stamp before such a name."""
    match = _UNKNOWN.fullmatch(cell.strip())
    return cell if match is None else match[1]


def hint_at_unread(cell: str) -> str:
    """Return what to type for stamps with the name of a zone that is not read."""
    zone = _EXAMPLES.get(str(unread_name(cell)), "Europe/Berlin")
    own_format = " or ".join(f"'{each}'" for each in formats_of_named(cell)) or "FORMAT"
    options = f"--date-format {own_format} --tz {zone}"
    return f"write the offset in its place, such as +01:00; or, if all end in it: {options}"
