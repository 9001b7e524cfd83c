"""Lags said as distances in time (30 steps of an hour are `1d 6h`), and what a patch covers as people read it."""

from forecast_attn.data.frequency import MONTH_UNITS, UNIT_NAMES, UNITS, parse_frequency

_NAMES = {
    name: UNITS[unit] for name, unit in (("d", "D"), ("h", "h"), ("min", "min"), ("s", "s"), ("ms", "ms"), ("us", "us"))
}


def has_time_distances(frequency: str) -> bool:
    """Whether steps of this frequency have a length in time: business days and whole numbers have none."""
    return _number_and_unit(frequency)[1] in {**UNITS, **MONTH_UNITS}


def time_distance(frequency: str, lag: int) -> str:
    """How long `lag` steps last, in the two largest units that are not zero; in steps on axes without a fixed step.

    Raises:
        ConfigError: there is no such frequency.
    """
    number, unit = _number_and_unit(frequency)
    steps = lag * number
    if unit in MONTH_UNITS:
        return _text(steps * MONTH_UNITS[unit], {"y": 12, "mo": 1}) or "0mo"
    return (_text(steps * UNITS[unit], _NAMES) or "0h") if unit in UNITS else f"{lag} steps"


def distance_span(frequency: str, first: int, last: int) -> str:
    """How far back a patch lies whose time steps have these lags: `1d … 1d 23h`; of a single step `1d`.

    Raises:
        ConfigError: there is no such frequency.
    """
    near, far = time_distance(frequency, first), time_distance(frequency, last)
    if first == last:
        return near
    return f"{near} … {far}" if has_time_distances(frequency) else f"{first}–{last} steps"


def back_words(frequency: str, first: int, last: int) -> str:
    """The same in the unit of the time axis: lags 24 to 47 of hours are `24–47 hours back`.

    Raises:
        ConfigError: there is no such frequency.
    """
    number, unit = _number_and_unit(frequency)
    name = UNIT_NAMES.get(unit) or UNIT_NAMES.get(unit[:1])
    factor, name = (number, name) if name else (1, "step")
    amounts = span_text(first * factor, last * factor)
    return f"{amounts} {name}{'' if amounts == '1' else 's'} back"


def span_text(first: int, last: int) -> str:
    """Consecutive lags or steps: `24–47`; a single one as it is."""
    return str(first) if first == last else f"{first}–{last}"


def time_span(first: str, last: str) -> str:
    """From one time to another: `2018-01-01 00:00 … 23:00`; the day is said once, midnight where it is needed."""
    if first == last:
        return first
    (day, _, clock), (last_day, _, last_clock) = first.partition(" "), last.partition(" ")
    if clock or last_clock:
        clock, last_clock = clock or "00:00", last_clock or "00:00"
    if day == last_day:
        return f"{day} {clock} … {last_clock}"
    return f"{day} {clock} … {last_day} {last_clock}" if clock else f"{day} … {last_day}"


def _number_and_unit(frequency: str) -> tuple[int, str]:
    name = parse_frequency(frequency).alias.partition("-")[0]
    unit = name.lstrip("0123456789")
    return int(name.removesuffix(unit) or 1), unit


def _text(amount: int, units: dict[str, int]) -> str:
    parts = []
    for unit, size in units.items():
        count, amount = divmod(amount, size)
        parts += [f"{count}{unit}"] if count else []
    return " ".join(parts[:2])
