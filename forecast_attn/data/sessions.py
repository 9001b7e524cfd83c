"""Steps of a calendar of its own: business days, opening hours and trading sessions, and the days without any.

A week has a fixed set of steps (its slots); a closed day has none. Both are written behind the alias of the step, as in
`B(closed 2024-12-25)` and `30min(Mon-Fri 09:30-15:30; closed 2024-12-25)`, so that every place that knows a frequency
by its alias knows its calendar too.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.errors import ConfigError

Ints = NDArray[np.int64]
Days = NDArray[np.datetime64]

SECOND = 10**9
DAY = 86_400 * SECOND
WEEK = 7 * DAY
MONDAY = 4 * DAY
"""1970-01-05, in nanoseconds: the first Monday of the epoch."""
DAY_NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WORKING_DAYS = np.arange(5, dtype=np.int64) * DAY
MOST_CLOSED = 10_000
"""Days; more than any calendar of a table that can be read."""
EXAMPLE = "such as B(closed 2024-12-25), D(Mon-Sat) or 30min(Mon-Fri 09:30-15:30)"

_CLOCK = r"\d\d:\d\d(?::\d\d)?"
_GROUP = re.compile(rf"([A-Z][a-z]{{2}}(?:-[A-Z][a-z]{{2}})?)((?: {_CLOCK}-{_CLOCK})*)")


@dataclass(frozen=True, eq=False)
class Sessions:
    """The steps of a week, and the days on which there are none."""

    slots: Ints
    """Begin of each step, in nanoseconds after Monday 0:00, ascending."""
    closed: Days
    """Ascending, each once."""
    shut: Ints
    """Numbers of the slots of closed days, counted from the first Monday of the epoch."""

    @classmethod
    def of(cls, slots: Ints, closed: Days) -> Sessions:
        """Build them from the slots of a week and days without any."""
        closed = np.unique(closed.astype("datetime64[D]"))
        begin = closed.astype("datetime64[ns]").astype(np.int64)
        first, last = _raw(slots, begin)[0], _raw(slots, begin + DAY)[0]
        each = [np.arange(a, b, dtype=np.int64) for a, b in zip(first, last, strict=True) if b > a]
        return cls(slots, closed, np.concatenate([np.empty(0, np.int64), *each]))

    @property
    def most_per_day(self) -> int:
        """Steps of the day that has the most."""
        return int(np.bincount(self.slots // DAY).max())

    @property
    def days(self) -> int:
        """Days of a week that have steps."""
        return len(np.unique(self.slots // DAY))

    def positions(self, stamps: NDArray[Any]) -> tuple[Ints, NDArray[np.bool_]]:
        """Number of each stamp's step, or of the next one, and whether the stamp is one of a step itself."""
        raw, is_slot = _raw(self.slots, stamps.astype("datetime64[ns]").astype(np.int64))
        before = np.searchsorted(self.shut, raw)
        in_shut = np.zeros(raw.shape, np.bool_)
        if len(self.shut):
            in_shut = self.shut[np.minimum(before, len(self.shut) - 1)] == raw
        return raw - before, is_slot & ~in_shut

    def stamps(self, positions: Ints) -> NDArray[np.datetime64]:
        """Stamps of steps by their number."""
        opened = self.shut - np.arange(len(self.shut))
        raw = positions + np.searchsorted(opened, positions, side="right")
        number = len(self.slots)
        nanoseconds = MONDAY + raw // number * WEEK + self.slots[raw % number]
        return np.asarray(nanoseconds.astype("datetime64[ns]"))

    def shift(self, stamps: NDArray[Any], steps: int | Ints) -> NDArray[np.datetime64]:
        """Shift stamps by a number of steps; a stamp outside the sessions moves to the next or the previous step."""
        stamps = np.asarray(stamps, "datetime64[ns]")
        positions, is_step = self.positions(stamps)
        forward = np.asarray(steps) > 0
        moved = self.stamps(positions + steps - np.where(forward & ~is_step, 1, 0))
        return np.where(np.asarray(steps) == 0, stamps, moved)

    def steps_between(self, earlier: NDArray[Any], later: NDArray[Any]) -> NDArray[np.float64]:
        """Number of steps between stamps, elementwise; not whole where one of them is no step."""
        (first, is_first), (last, is_last) = self.positions(earlier), self.positions(later)
        steps = (last - first).astype(np.float64)
        return np.where(is_first & is_last, steps, steps + 0.5)


def _raw(slots: Ints, nanoseconds: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Slots before each time since the first Monday of the epoch, and whether one begins there."""
    week, within = np.divmod(nanoseconds - MONDAY, WEEK)
    index = np.searchsorted(slots, within)
    is_slot = slots[np.minimum(index, len(slots) - 1)] == within
    return week * len(slots) + index, is_slot


# --------------------------------------------------------------------------- to and from text


def base_alias(alias: str) -> str:
    """The alias of the step alone: 30min of `30min(Mon-Fri 09:30-15:30)`."""
    return alias.partition("(")[0]


def sessions_text(slots: Ints, closed: Days, step: int) -> str:
    """`(Mon-Fri 09:30-15:30; closed 2024-12-25)`; the week is left out where it is that of business days.

    Args:
        slots: as in `Sessions`.
        closed: days.
        step: length of a step in nanoseconds.
    """
    parts = [] if np.array_equal(slots, WORKING_DAYS) else _week_parts(slots, step)
    if len(closed):
        parts.append("closed " + " ".join(map(str, np.unique(closed.astype("datetime64[D]")))))
    return f"({'; '.join(parts)})" if parts else ""


def _week_parts(slots: Ints, step: int) -> list[str]:
    """Days with the same hours, and their hours."""
    by_day = [slots[slots // DAY == day] % DAY for day in range(7)]
    parts, day = [], 0
    while day < 7:
        end = day
        while end + 1 < 7 and np.array_equal(by_day[end + 1], by_day[day]):
            end += 1
        if len(by_day[day]):
            days = DAY_NAMES[day] if end == day else f"{DAY_NAMES[day]}-{DAY_NAMES[end]}"
            parts.append(days + _hours_text(by_day[day], step))
        day = end + 1
    return parts


def _hours_text(begins: Ints, step: int) -> str:
    """` 09:00-11:30 12:30-15:00`: first and last step of each stretch; nothing for whole days."""
    if step >= DAY:
        return ""
    ends = np.flatnonzero(np.append(np.diff(begins) != step, True))
    firsts = np.append(0, ends[:-1] + 1)
    return "".join(f" {_clock(begins[a])}-{_clock(begins[b])}" for a, b in zip(firsts, ends, strict=True))


def _clock(nanoseconds: int) -> str:
    minutes, seconds = divmod(int(nanoseconds) // SECOND, 60)
    text = f"{minutes // 60:02d}:{minutes % 60:02d}"
    return f"{text}:{seconds:02d}" if seconds else text


@functools.lru_cache(maxsize=16)
def parse_sessions(alias: str, step: int, *, is_business: bool) -> Sessions | None:
    """The calendar behind an alias; None where it has none.

    Args:
        alias: `30min(Mon-Fri 09:30-15:30)`.
        step: length of a step in nanoseconds; a day at most.
        is_business: whether the steps are business days.

    Raises:
        ConfigError: it is written otherwise.
    """
    _, mark, body = alias.partition("(")
    if not mark:
        return None
    groups, _, closed = body.removesuffix(")").partition("closed ")
    parts = [part.strip() for part in groups.split(";") if part.strip()]
    if not body.endswith(")") or step > DAY or is_business == bool(parts) or (not parts and not closed):
        raise _no_calendar(alias)
    slots = WORKING_DAYS if is_business else _slots_of(alias, parts, step)
    try:
        days = np.array(closed.split(), "datetime64[D]")
    except ValueError:
        raise _no_calendar(alias) from None
    if len(days) > MOST_CLOSED or np.isnat(days).any() or (np.abs(days.astype(np.int64)) > 106_000).any():
        raise _no_calendar(alias)
    return Sessions.of(slots, days)


def _slots_of(alias: str, parts: list[str], step: int) -> Ints:
    """The slots of `Mon-Fri 09:30-15:30` and the like."""
    slots: list[Ints] = []
    for part in parts:
        match = _GROUP.fullmatch(part)
        if match is None:
            raise _no_calendar(alias)
        first, _, last = match[1].partition("-")
        if first not in DAY_NAMES or (last or first) not in DAY_NAMES:
            raise _no_calendar(alias)
        hours = [np.zeros(1, np.int64)] if step == DAY else [_stretch(alias, each, step) for each in match[2].split()]
        days = range(DAY_NAMES.index(first), DAY_NAMES.index(last or first) + 1)
        slots += [day * DAY + each for day in days for each in hours]
        if not hours or not len(days) or (step == DAY and match[2]):
            raise _no_calendar(alias)
    joined = np.concatenate(slots)
    if (np.diff(joined) <= 0).any():
        raise _no_calendar(alias)
    return joined


def _stretch(alias: str, hours: str, step: int) -> Ints:
    """Begins of the steps of `09:30-15:30`, both of which begin one."""
    first, last = (_nanoseconds(clock) for clock in hours.split("-"))
    if first >= DAY or not first <= last < DAY or (last - first) % step:
        raise _no_calendar(alias)
    return np.arange(first, last + 1, step, dtype=np.int64)


def _nanoseconds(clock: str) -> int:
    fields = [*map(int, clock.split(":")), 0]
    return (fields[0] * 3600 + min(fields[1], 60) * 60 + fields[2]) * SECOND


def _no_calendar(alias: str) -> ConfigError:
    return ConfigError(f"'{alias:.60}' names no calendar of steps", EXAMPLE)


def calendar_words(sessions: Sessions, step: int) -> str:
    """`Mon-Fri 09:30-15:30, 5 days closed`."""
    week = [] if np.array_equal(sessions.slots, WORKING_DAYS) else _week_parts(sessions.slots, step)
    number = len(sessions.closed)
    closed = [f"{number:,} {'day' if number == 1 else 'days'} closed"] if number else []
    return ", ".join([*week, *closed])
