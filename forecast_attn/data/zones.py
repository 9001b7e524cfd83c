"""Time zones: the axis is computed on UTC and shown on the user's clock.

Stamps of steps below a day are instants, UTC on the axis. Days and longer steps are dates on the wall clock: a day in
Berlin is a day, whether it has 23, 24 or 25 hours. So are opening hours, which a market keeps all year. The changes of
a zone are found once, by bisection of its offsets, so that millions of stamps are converted with one search in a short
list.
"""

from __future__ import annotations

import datetime
import functools
import re
import zoneinfo
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.data.findings import clock_text, stamp_text
from forecast_attn.data.frequency import Stamps
from forecast_attn.data.timestamps import offset_name, zone_name
from forecast_attn.errors import ConfigError, nearest

_SECOND = 10**9
_DAY = 86_400
_Unit = Literal["D", "s", "ms", "us", "ns"]
WINTER_AND_SUMMER = np.array(["2024-01-01", "2024-07-01"], "datetime64[ns]")
_FIXED = re.compile(r"([+-])(\d{2}):(\d{2})(?::(\d{2}))?")


class Instants(NamedTuple):
    """The two readings of wall-clock stamps: different only in an hour that a clock change repeats or skips."""

    first: NDArray[np.datetime64]
    """Reading with the offset before the nearest change; earlier than `second` where the hour is repeated."""
    second: NDArray[np.datetime64]
    """Reading with the offset after the nearest change; earlier than `first` where the hour does not exist."""


@dataclass(frozen=True)
class Zone:
    """The zone in which the stamps of an axis are shown.

    `name` is a zone of the IANA database, or an offset such as +01:00; None for stamps without a zone. The axis holds
    UTC (`utc`), or what the clock on the wall shows (`local`): days and longer steps, steps with closed hours, and
    stamps without a zone.
    """

    name: str | None = None
    axis: Literal["utc", "local"] = "local"

    def __post_init__(self) -> None:
        if self.axis not in ("utc", "local") or (self.axis == "utc" and self.name is None):
            raise ValueError(f"no zone: {self.name!r}, axis {self.axis!r}")

    @property
    def type_name(self) -> str | None:
        """Zone of typed columns (pandas, Arrow); None where the axis holds no instants."""
        return self.name if self.axis == "utc" else None

    @property
    def is_fixed(self) -> bool:
        """Return whether the zone is a fixed offset, as stamps carried it."""
        return self.name is not None and _FIXED.fullmatch(self.name) is not None

    def describe(self) -> str | None:
        """`Europe/Berlin`, `UTC+01:00`; None for stamps without a zone."""
        return f"UTC{self.name}" if self.is_fixed else self.name

    def local(self, stamps: Stamps) -> Stamps:
        """Convert axis stamps to local wall-clock time, datetime64[ns] without a zone, of any shape."""
        if self.type_name is None:
            return stamps
        stamps = np.asarray(stamps, "datetime64[ns]")
        return stamps + self._offsets_at(stamps)

    def instants(self, wall: NDArray[np.datetime64]) -> Instants:
        """Both readings of stamps on the wall clock, as UTC."""
        changes, offsets = self.changes(wall)
        before, after = offsets[:-1], offsets[1:]
        # On the wall clock a change begins at its instant plus the smaller offset and is over at that plus the larger
        # one; between them lies the hour that is repeated or skipped, and the two searches differ.
        nanoseconds = wall.astype("datetime64[ns]").astype(np.int64)
        late = np.searchsorted(changes + np.maximum(before, after), nanoseconds, side="right")
        early = np.searchsorted(changes + np.minimum(before, after), nanoseconds, side="right")
        return Instants(*((nanoseconds - offsets[which]).astype("datetime64[ns]") for which in (late, early)))

    def ahead_of_steps(self, length: int) -> int:
        """Return by how many nanoseconds steps of a length begin earlier on this clock than in UTC.

        45 minutes of hours in Kathmandu, which is 5:45 ahead; 0 where it differs in summer, as in Lord Howe.
        """
        winter, summer = (self.local(WINTER_AND_SUMMER) - WINTER_AND_SUMMER).astype(np.int64) % length
        return int(winter) if winter == summer else 0

    def text(self, stamps: Stamps) -> NDArray[np.object_]:
        """`2024-03-31 03:00:00+02:00`, `2024-03-31 03:00:00`, `2024-03-31` if all are midnights, or numbers."""
        stamps = np.asarray(stamps)
        if stamps.dtype.kind != "M":
            return stamps.astype(str).astype(object)
        distinct, which = np.unique(stamps.astype("datetime64[ns]"), return_inverse=True)
        wall = self.local(distinct)
        # An instant has a clock, though it be midnight.
        unit = _unit_of(wall) if self.type_name is None else _unit_of(wall, ("s", "ms", "us"))
        if not len(distinct):
            return np.empty(stamps.shape, dtype=object)
        texts = np.char.replace(np.datetime_as_string(wall, unit=unit), "T", " ")
        if self.type_name is not None:
            texts = np.char.add(texts, _offset_texts(wall - distinct))
        return np.asarray(texts.astype(object)[which].reshape(stamps.shape))

    def stamp_text(self, stamp: np.datetime64 | np.int64) -> str:
        """Text of a stamp for a message: `2024-03-31 03:00+02:00`, `2024-03-31`, or the number of a step."""
        if self.type_name is None or not isinstance(stamp, np.datetime64):
            return stamp_text(stamp)
        wall = self.local(np.array([stamp]))
        return f"{clock_text(wall[0])}{_offset_texts(wall - np.array([stamp]))[0]}"

    def column(self, stamps: Stamps) -> pd.Series:
        """Stamps as a column that carries the zone, of one dimension."""
        column = pd.Series(np.asarray(stamps))
        if self.type_name is None or column.dtype.kind != "M":
            return column
        return column.dt.tz_localize("UTC").dt.tz_convert(time_zone(self.type_name))

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Read what `to_dict` gave.

        Raises:
            KeyError, TypeError, ValueError: it is something else, or a zone this machine does not know.
        """
        zone = cls(content["name"], content["axis"])
        if zone.name is not None:
            time_zone(zone.name)
        return zone

    def _offsets_at(self, instants: NDArray[np.datetime64]) -> NDArray[np.timedelta64]:
        changes, offsets = self.changes(instants)
        return offsets[np.searchsorted(changes, instants.astype(np.int64), side="right")].astype("timedelta64[ns]")

    def changes(self, stamps: NDArray[np.datetime64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the changes of the offset in the years of stamps, and the offsets around them, in nanoseconds."""
        if self.name is None:
            raise ValueError("stamps without a zone are no instants")
        years = stamps[~np.isnat(stamps)].astype("datetime64[Y]").astype(np.int64) + 1970
        return _changes_between(self.name, int(years.min(initial=2000)), int(years.max(initial=2000)))


@functools.cache
def time_zone(name: str) -> datetime.tzinfo:
    """The zone of an IANA name or of an offset such as +01:00.

    Raises:
        ValueError: there is no such zone.
    """
    offset = _FIXED.fullmatch(name)
    if offset:
        hours, minutes, seconds = (int(part or 0) for part in offset.groups()[1:])
        length = datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return datetime.timezone(-length if offset[1] == "-" else length)
    if name == "UTC":
        return datetime.UTC
    try:
        return zoneinfo.ZoneInfo(name)
    except (OSError, KeyError, ValueError):
        raise ValueError(f"this machine knows no time zone '{name}'") from None


def checked_zone(name: str) -> str:
    """The name of `--tz`, when it is one.

    Raises:
        ConfigError: there is no such zone; with the nearest one.
    """
    known = zoneinfo.available_timezones()
    if name in known:
        return name
    if not known:
        raise ConfigError(f"--tz {name}: this machine has no database of time zones", "pip install tzdata")
    near = nearest(name, sorted(known)) or _zone_of_city(name.rpartition("/")[2].replace(" ", "_"), known)
    hint = f"did you mean '{near}'?" if near is not None else "a name such as Europe/Berlin, or UTC"
    raise ConfigError(f"there is no time zone '{name}'", hint)


def _zone_of_city(city: str, known: set[str]) -> str | None:
    """Zone whose last part is most like the word, if the word is long enough."""
    zones = {zone.rpartition("/")[2]: zone for zone in sorted(known)}
    near = nearest(city, list(zones)) if len(city) > 3 else None
    return None if near is None else zones[near]


def in_zone(frame: pd.DataFrame, zone: Zone, names: tuple[str, ...] = ("cutoff", "timestamp")) -> pd.DataFrame:
    """Convert columns of axis stamps to ones that carry the zone."""
    if zone.type_name is None:
        return frame
    return frame.assign(**{name: zone.column(frame[name].to_numpy()).set_axis(frame.index) for name in names})


def zone_of(column: pd.Series) -> Zone:
    """The zone that a column of datetimes carries; none where it carries none."""
    name = zone_name(column)
    return Zone() if name is None else Zone(name, "utc")


def _offset_texts(offsets: NDArray[np.timedelta64]) -> NDArray[np.str_]:
    distinct, which = np.unique(offsets, return_inverse=True)
    return np.array([offset_name(int(offset.astype(np.int64)) // _SECOND) for offset in distinct], np.str_)[which]


def _unit_of(stamps: NDArray[np.datetime64], units: tuple[_Unit, ...] = ("D", "s", "ms", "us")) -> _Unit:
    """Coarsest unit that holds all stamps, so that texts have no trailing zeros."""
    return next((unit for unit in units if (stamps == stamps.astype(f"datetime64[{unit}]")).all()), "ns")


# --------------------------------------------------------------------------- changes of the offset


CLOCKS = (
    *("Europe/Berlin", "Europe/London", "Europe/Helsinki", "America/New_York", "Australia/Sydney", "Pacific/Auckland"),
    *("America/Sao_Paulo", "America/Santiago"),
)
"""One zone for each rule by which clocks are changed on a Sunday."""


def changes_at(name: str, wall: NDArray[np.datetime64]) -> NDArray[np.bool_]:
    """Return where a zone skips or repeats the hour of stamps on the wall clock (num_stamps,)."""
    first, second = Zone(name, "utc").instants(wall)
    return np.asarray(first != second, np.bool_)


def changed_hours(name: str, wall: NDArray[np.datetime64]) -> tuple[NDArray[np.datetime64], NDArray[np.datetime64]]:
    """Begin and end, on the wall clock, of what a zone skips or repeats in the years of stamps (num_changes,)."""
    changes, offsets = Zone(name, "utc").changes(wall)
    begin, end = (changes + edge(offsets[:-1], offsets[1:]) for edge in (np.minimum, np.maximum))
    return begin.astype("datetime64[ns]"), end.astype("datetime64[ns]")


@functools.lru_cache(maxsize=32)
def _changes_between(name: str, first_year: int, last_year: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Times of the offset changes, and the offsets around them, in nanoseconds: (n,) and (n + 1,)."""
    months = np.arange(f"{first_year - 1}-12", f"{last_year + 1}-02", dtype="datetime64[M]")
    offsets = [offset for month in months for offset in _offsets_of(name, str(month))]
    first_day = int(months[0].astype("datetime64[D]").astype(np.int64))
    # A zone changes its clocks at most once a day: where two days differ, bisection finds the second.
    changed = [index for index in range(len(offsets) - 1) if offsets[index] != offsets[index + 1]]
    seconds = [(first_day + index) * _DAY for index in changed]
    moments = [_moment_of_change(time_zone(name), second, second + _DAY) for second in seconds]
    kept = [offsets[0], *(offsets[index + 1] for index in changed)]
    return np.array(moments, np.int64) * _SECOND, np.array(kept, np.int64) * _SECOND


@functools.lru_cache(maxsize=4096)
def _offsets_of(name: str, month: str) -> list[int]:
    """The offset of a zone at each midnight of a month; kept, as `check` asks every zone about each table."""
    days = np.arange(np.datetime64(month, "D"), np.datetime64(month, "M") + 1, dtype="datetime64[D]")
    return [_offset(time_zone(name), day * _DAY) for day in days.astype(np.int64).tolist()]


def _offset(zone: datetime.tzinfo, second: int) -> int:
    """Seconds east of UTC at a second since 1970."""
    moment = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(seconds=second)
    offset = moment.astimezone(zone).utcoffset()
    return 0 if offset is None else round(offset.total_seconds())


def _moment_of_change(zone: datetime.tzinfo, before: int, after: int) -> int:
    """The first second with another offset than `before` has."""
    old = _offset(zone, before)
    while after - before > 1:
        middle = (before + after) // 2
        before, after = (middle, after) if _offset(zone, middle) == old else (before, middle)
    return after
