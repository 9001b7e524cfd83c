"""Findings as annotations of GitHub's workflow commands, which show them beside the line of the file they are about.

https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

from collections.abc import Mapping

from forecast_attn.data.codes import all_codes
from forecast_attn.data.problems import Finding

COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}


def annotation(finding: Finding, place: tuple[int, int] | None) -> str:
    """One line that GitHub shows at the finding's place.

    Args:
        finding: its file must be named as the repository does.
        place: line and character column in the file, both from 1; None for the file as a whole.
    """
    properties = {"file": finding.file or "", "title": f"{finding.code}: {all_codes()[finding.code].title}"}
    if place is not None:
        properties |= {"line": str(place[0]), "col": str(place[1])}
    message = f"{finding.message}\n{finding.fix}"
    return f"::{COMMANDS[finding.severity]} {_properties(properties)}::{_data(message)}"


def _properties(values: Mapping[str, str]) -> str:
    order = ("file", "line", "col", "title")
    return ",".join(f"{name}={_property(values[name])}" for name in order if name in values)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
