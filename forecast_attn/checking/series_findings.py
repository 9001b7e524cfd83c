"""What is worth knowing about the series of a table that can be read: constant, short, without a future."""

from __future__ import annotations

import numpy as np

from forecast_attn.data.future import future_stamps
from forecast_attn.data.panel import Panel
from forecast_attn.data.problems import Finding, Report, counted
from forecast_attn.data.scaling import constant_series
from forecast_attn.data.split import report_short_series
from forecast_attn.preparation import Preparation


def report_constants(panel: Panel, report: Report) -> None:
    """Report targets and covariates that are one number throughout."""
    constant = constant_series(panel, panel.known)
    for name in constant[:1]:
        said = (
            f"'{name}' never changes" if len(constant) == 1 else f"'{name}' and {len(constant) - 1} more never change"
        )
        hint = "the forecast will be that value; leave it out if that is no help"
        report(Finding("FA401", "warning", f"target of series {said}", hint, item_id=name, column=panel.roles.target))
    groups = (
        (panel.roles.past_covariates, panel.past_covariates),
        (panel.roles.future_covariates, panel.future_covariates),
    )
    for names, values in groups:
        for position, name in enumerate(names):
            column = values[:, position]
            if np.nanmin(column, initial=np.inf) == np.nanmax(column, initial=-np.inf):
                report(Finding("FA404", "warning", f"column '{name}' never changes", f"--ignore '{name}'", column=name))


def report_preparation(preparation: Preparation, report: Report) -> None:
    """Report series too short to learn from, windows left out, and what is not known of the future."""
    report_short_series(preparation.split, report)
    panel, horizon, holidays = preparation.panel, preparation.schema.horizon, preparation.schema.calendar.holidays
    ahead_of_dates = () if holidays is None else holidays.notes(panel.zone.local(future_stamps(panel, horizon).ravel()))
    for finding in (*preparation.findings, *ahead_of_dates):
        report(finding)
    ahead = panel.starts[1:] - panel.ends
    if panel.roles.future and (ahead < horizon).any():
        at = int(np.argmax(ahead < horizon))
        message = (
            f"series '{panel.item_ids[at]}' has {counted(int(ahead[at]), 'future row')}; the horizon needs {horizon}"
        )
        hint = "predict will need --future FILE with the future covariates"
        report(Finding("FA405", "note", message, hint, item_id=panel.item_ids[at]))
