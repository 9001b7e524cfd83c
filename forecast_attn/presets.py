"""`--preset`: named sets of options. The standard library only, so that `forecast --help` stays fast.

A preset fills in options that were not given; one that is given wins. So an option belongs here only if it goes with
whatever a user may give besides: a preset that named a loss would make `--quantiles` an error.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Preset(NamedTuple):
    """One row of the table."""

    options: dict[str, Any]
    """By field name; everything else is as the options' own defaults say."""
    cost: str
    """What it takes, for the help text."""


# Measured in docs/training.md.
PRESETS: dict[str, Preset] = {
    "fast": Preset(
        {"hidden_size": 32, "max_epochs": 6},
        "six epochs of a smaller network: a third of the time on long tables, too few for short ones",
    ),
    "default": Preset({}, "one network"),
    "accurate": Preset(
        {"ensemble": 4, "weight_averaging": "ema"},
        "four networks with averaged weights, four to five times the time of one",
    ),
}


def with_preset(options: dict[str, Any], name: str) -> dict[str, Any]:
    """The options that were given, and those of the preset that were not, or were given as None.

    Args:
        options: by field name.
        name: of `PRESETS`.
    """
    return {**options, **{key: value for key, value in PRESETS[name].options.items() if options.get(key) is None}}


def preset_help() -> str:
    """What `--preset` says of itself: every preset and its cost."""
    costs = "; ".join(f"{name} ({preset.cost})" for name, preset in PRESETS.items())
    return f"a set of options, of which those that are given win: {costs}; `help` lists them"
