"""Runs of older versions: the content of their files is upgraded to the present format as it is read."""

from __future__ import annotations

from typing import Any

FORMAT_VERSION = 2
"""Format of the JSON files that this version writes."""

_BEFORE: dict[str, dict[str, Any]] = {
    "model": {"patch_length": 1, "projection_size": 0, "lags": (), "temporal_decoder_size": 0, "linear_path": False},
    "training": {
        "combination": "none",
        "final_fit": "none",
        "preset": "default",
        "warmup": None,
        "weight_averaging": "none",
    },
}
"""Behaviour of runs trained before an option existed, whatever its default is now."""


def upgraded(content: dict[str, Any]) -> dict[str, Any]:
    """The content of a run's JSON file in the present format; files themselves are left as they are.

    Raises:
        KeyError, TypeError, ValueError: it is not what its format says.
    """
    if content["format"] == 1:
        content = _from_1(content)
    if "options" in content:
        # Those of a comparison have no parts: they are what was given, and nothing is left out.
        options = {
            part: _in_todays_words(_BEFORE.get(part, {}) | given) if isinstance(given, dict) else given
            for part, given in content["options"].items()
        }
        content = {**content, "options": _in_todays_words(options)}
    return content


def _in_todays_words(options: dict[str, Any]) -> dict[str, Any]:
    """`always` combined one long series, which `auto` did not; now it does."""
    return options | {"combination": "auto"} if options.get("combination") == "always" else options


def _from_1(content: dict[str, Any]) -> dict[str, Any]:
    """Format 1 knew no zones, categories, holidays, vintages, missing values or padding."""
    if "scaler" in content:
        return _schema_from_1(content)
    if "data" in content:
        return {**content, "data": {"vintages_sha256": None, **content["data"]}}
    return content


def _schema_from_1(content: dict[str, Any]) -> dict[str, Any]:
    from forecast_attn.data.calendar_features import Calendar
    from forecast_attn.data.frequency import Frequency
    from forecast_attn.data.zones import Zone

    frequency = Frequency(**content["frequency"])
    scaler = dict(content["scaler"])
    for group in ("past", "future"):  # one list per series then, one per column now
        scaler[group] = {
            name: [list(column) for column in zip(*rows, strict=True)] for name, rows in scaler[group].items()
        }
    return {
        **content,
        "roles": {**{f"{kind}_categories": [] for kind in ("past", "future", "static")}, **content["roles"]},
        "calendar": Calendar.build(content["calendar"], frequency).to_dict(),
        "scaler": scaler,
        "zone": Zone().to_dict(),
        "date_order": None,
        "vocabulary": {},
        "masked": False,
        "padded": False,
    }
