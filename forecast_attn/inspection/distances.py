"""Lags said as distances in time: 30 steps of an hour are `1d 6h`."""

from forecast_attn.data.frequency import MONTH_UNITS, UNITS, parse_frequency

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
