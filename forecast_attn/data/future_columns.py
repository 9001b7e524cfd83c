"""The columns of a table of future covariates, found by the history's names or nearly."""

from __future__ import annotations

import pandas as pd

from forecast_attn.data.findings import Finding, Report
from forecast_attn.data.panel import Panel
from forecast_attn.data.timestamps import looks_like_dates


def named_as_in_history(panel: Panel, frame: pd.DataFrame, source: str, report: Report) -> pd.DataFrame:
    """The table with the history's names for columns that differ from them in case and blanks only, or hold its dates.

    Args:
        panel: the history.
        frame: the table.
        source: its name, for messages.
        report: called with the columns that are matched.
    """
    roles = panel.roles
    identifier = (roles.item_id,) if roles.item_id is not None else ()
    lacking = [name for name in (roles.time, *roles.future, *identifier) if name not in frame.columns]
    free = [str(name) for name in frame.columns if name not in (roles.time, roles.target, *roles.future, *identifier)]
    taken = {name: near for name in lacking if (near := _like(name, free)) is not None}
    if roles.time in lacking and roles.time not in taken and panel.timestamps.dtype.kind == "M":
        dates = [name for name in free if name not in taken.values() and looks_like_dates(frame[name])]
        taken |= {roles.time: dates[0]} if len(dates) == 1 else {}
    for name, column in taken.items():
        message = f"'{source}' has no column '{name}'; '{column}' is taken for it"
        report(Finding("FA511", "note", message, f"call it '{name}' if that is so", column=column))
    return frame.rename(columns={column: name for name, column in taken.items()}) if taken else frame


def _like(name: str, names: list[str]) -> str | None:
    """The only one of the names that equals another one apart from case, blanks and underscores."""
    near = [each for each in names if _plain(each) == _plain(name)]
    return near[0] if len(near) == 1 else None


def _plain(name: str) -> str:
    return "".join(name.lower().split()).replace("_", "").replace("-", "")
