"""What is worth knowing about the series of a table that can be read: constant, short, without a future."""

from __future__ import annotations

import numpy as np

from forecast_attn.config import DataConfig
from forecast_attn.data.panel import Panel
from forecast_attn.data.problems import Finding, Report, counted, report_each
from forecast_attn.data.scaling import constant_series
from forecast_attn.data.split import split_panel


def report_constants(panel: Panel, report: Report) -> None:
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


def report_sizes(panel: Panel, config: DataConfig, report: Report) -> None:
    """Report series too short to learn from, and future rows that end before the horizon."""
    horizon = config.horizon or panel.frequency.default_horizon
    lookback = config.lookback or panel.frequency.default_lookback
    split = split_panel(panel, validation=config.validation, horizon=horizon, lookback=lookback)

    def short(at: int) -> Finding:
        item_id, rows, needed = split.skipped[at]
        message = f"series '{item_id}' has {counted(rows, 'row')} for training; lookback + horizon need {needed}"
        return Finding("FA402", "warning", message, "it is left out of training", item_id=item_id)

    report_each(report, range(len(split.skipped)), short)
    ahead = panel.starts[1:] - panel.ends
    if panel.roles.future_covariates and (ahead < horizon).any():
        at = int(np.argmax(ahead < horizon))
        message = (
            f"series '{panel.item_ids[at]}' has {counted(int(ahead[at]), 'future row')}; the horizon needs {horizon}"
        )
        hint = "predict will need --future FILE with the future covariates"
        report(Finding("FA405", "note", message, hint, item_id=panel.item_ids[at]))
