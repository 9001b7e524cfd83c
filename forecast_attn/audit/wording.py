"""Numbers in sentences."""

from __future__ import annotations

import math

from forecast_attn.config.values import percent

MINUS = "−"


def number(value: float) -> str:
    """Three significant digits, without an exponent where people would not write one."""
    size = abs(value)
    if size == 0 or 1e-4 <= size < 1e9:
        digits = f"{size:,.0f}" if size >= 999.5 else f"{size:.3g}"
    else:
        digits = f"{size:.2e}"
    return f"{MINUS}{digits}" if value < 0 else digits


def signed(value: float) -> str:
    """`+0.41`, `−3`."""
    return number(value) if value < 0 else f"+{number(value)}"


def change_of(share: float) -> str:
    """`rises by 12 %`, `falls by 0.3 %`, `rises to 11.6 times its value`."""
    if share == math.inf:
        return "rises from 0"
    if share >= 1:
        return f"rises to {number(1 + share)} times its value"
    return f"{'falls' if share < 0 else 'rises'} by {number(100 * abs(share))} %"


def share_of(rise: float, mae: float) -> float:
    """Rise of an MAE as a share of it; infinite where that is 0."""
    return rise / mae if mae > 0 else math.inf if rise > 0 else 0.0


def beside_chance(rise: float, chance: float) -> str:
    """`+0.41; chance: up to +0.2`; the rise alone where nothing is known of chance."""
    return signed(rise) if chance != chance else f"{signed(rise)}; chance: up to {signed(chance)}"


def why_untested(chance: float) -> str:
    """Say why a rise may be chance."""
    return "the windows overlap too much to tell this from chance" if chance != chance else "this may be chance"


def as_much(ratio: float) -> str:
    """`6.1 times as much`, `12 % as much`; just as much where random ones change nothing either."""
    if ratio != ratio:
        return "just as much"
    if ratio >= 100:
        return "over 100 times as much"
    if 0 < ratio < 0.01:
        return "under 1 % as much"
    return f"{ratio:.1f} times as much" if ratio >= 1 else f"{100 * ratio:.0f} % as much"


def plural(key: str) -> str:
    """`steps`, `patches`."""
    return f"{key}es" if key.endswith("ch") else f"{key}s"


def counted_keys(count: float, key: str) -> str:
    """`1 step`, `8 steps`, `2 patches`."""
    return f"{count:.0f} {key if round(count) == 1 else plural(key)}"


def the_steps(count: float, key: str = "step") -> str:
    """`the step`, `the 8 steps`; `the 2 patches`."""
    return f"the {key}" if round(count) == 1 else f"the {round(count)} {plural(key)}"


def random_steps(count: float) -> str:
    """`a random one`, `8 random ones`."""
    return "a random one" if round(count) == 1 else f"{round(count)} random ones"


def per_cent(share: float) -> str:
    """`88 %`; `–` where there is none."""
    if share != share:
        return "–"
    return percent(share).replace("-", MINUS)
