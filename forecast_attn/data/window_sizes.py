"""Lookback and horizon of a table: those that were given, those of its time step, or smaller ones that fit."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding, counted
from forecast_attn.data.panel import Panel
from forecast_attn.data.split import known_span, split_panel, steps_cut_off
from forecast_attn.errors import DataError

FEWEST_ROWS = 10
"""Fewest rows of the longest series for sizes to be chosen to fit; fewer teach nothing, unless series are many."""
FEWEST_IN_ALL = 100
"""Fewest rows of all series together for short ones to teach something: four years of a thousand routes do."""


class WindowLengths(NamedTuple):
    """Steps that the model looks back, and steps that it forecasts."""

    lookback: int
    horizon: int
    finding: Finding | None = None
    """Finding on sizes that are smaller than the frequency's."""


def choose_sizes(panel: Panel, config: DataConfig) -> WindowLengths:
    """The sizes that were given, else those of the frequency, else the largest that the longest series allows.

    What was given is never changed. A table with future rows is forecast no farther than these reach. Where nothing
    fits, the sizes are those of the frequency, which `split_panel` refuses.
    """
    frequency = panel.frequency
    usual = WindowLengths(config.lookback or frequency.default_lookback, config.horizon or frequency.default_horizon)
    lengths, reach = usual, _steps_known_ahead(panel)
    if not config.horizon and 0 < reach < usual.horizon:
        lengths = WindowLengths(usual.lookback, reach, _reduced(reach, usual.horizon))
    if (config.lookback and config.horizon) or _are_long_enough(panel, config, lengths):
        return lengths
    if panel.num_known.max() < FEWEST_ROWS and panel.num_known.sum() < FEWEST_IN_ALL:
        return lengths
    pad = _may_pad(panel, config)
    for fewest in (frequency.season, 1):
        for horizon in [config.horizon] if config.horizon else range(lengths.horizon, 0, -1):
            lookback = _largest_lookback(panel, config, lengths.lookback, horizon)
            least = min(lengths.lookback, max(horizon, fewest))
            if config.lookback and lookback < config.lookback and not pad:
                continue
            sizes = WindowLengths(config.lookback or lookback, horizon)
            if (lookback >= least or (pad and config.lookback)) and _have_windows(panel, config, sizes):
                return sizes._replace(finding=_fitted(panel, usual, sizes))
    return lengths


def _steps_known_ahead(panel: Panel) -> int:
    """Future rows that most series have; 0 where no covariate is known as far ahead as rows are there."""
    roles = panel.roles
    if panel.issued is not None or set(roles.future) <= set(roles.known_steps):
        return 0
    return int(np.bincount(panel.starts[1:] - panel.ends).argmax())


def _reduced(reach: int, default: int) -> Finding:
    message = f"the table has {counted(reach, 'future row')}: horizon {reach} (the frequency's is {default})"
    hint = f"--horizon {default} forecasts farther; predict will then need --future FILE with the future covariates"
    return Finding("FA405", "note", message, hint, options=("horizon",))


def _largest_lookback(panel: Panel, config: DataConfig, most: int, horizon: int) -> int:
    """The lookback that leaves the longest series as many training windows as the horizon has steps."""
    steps = steps_cut_off(config.validation, _span(panel, config), horizon)
    return min(most, int(panel.num_known.max()) - steps - 2 * horizon + 1)


def _are_long_enough(panel: Panel, config: DataConfig, sizes: WindowLengths) -> bool:
    """Return whether the longest series has as many rows as the windows need; reads its length only."""
    steps = steps_cut_off(config.validation, _span(panel, config), sizes.horizon)
    past = 1 if _may_pad(panel, config) else sizes.lookback
    return int(panel.num_known.max()) >= past + sizes.horizon + steps


def _may_pad(panel: Panel, config: DataConfig) -> bool:
    return config.short_series == "pad" or (config.short_series == "auto" and panel.num_series > 1)


def _span(panel: Panel, config: DataConfig) -> int:
    """The steps of which validation takes a fraction: of the panel, or of its longest series where each has its own."""
    each_alone = config.short_series == "auto" and panel.num_series > 1
    return min(known_span(panel), int(panel.num_known.max())) if each_alone else known_span(panel)


def _have_windows(panel: Panel, config: DataConfig, sizes: WindowLengths) -> bool:
    """Return whether some series has a training window, and some a validation window."""
    try:
        split_panel(
            panel,
            validation=config.validation,
            horizon=sizes.horizon,
            lookback=sizes.lookback,
            short_series="pad" if config.short_series == "pad" else "skip",
        )
    except DataError:
        return False
    return True


def _fitted(panel: Panel, usual: WindowLengths, sizes: WindowLengths) -> Finding:
    rows = counted(int(panel.num_known.max()), "row")
    message = (
        f"the longest series has {rows}: lookback {sizes.lookback} and horizon {sizes.horizon} fit them "
        f"(the frequency's are {usual.lookback} and {usual.horizon})"
    )
    hint = "--lookback and --horizon choose others"
    return Finding("FA408", "note", message, hint, options=("lookback", "horizon"))
