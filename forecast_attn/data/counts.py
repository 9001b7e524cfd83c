"""Targets that a distribution of counts can have."""

from __future__ import annotations

import numpy as np

from forecast_attn.data.panel import Panel
from forecast_attn.errors import DataError


def check_counts(panel: Panel, distribution: str) -> None:
    """Refuse a target that the distribution gives no probability.

    Args:
        panel: the table.
        distribution: negative-binomial, of whole numbers from 0 on, or tweedie, of numbers from 0 on.

    Raises:
        DataError: names the first such value.
    """
    values = panel.target
    bad = values < 0
    needs, instead = "numbers of 0 or more", "student-t"
    if distribution == "negative-binomial":
        bad |= values != np.round(values)
        bad &= ~np.isnan(values)
        needs, instead = "whole numbers of 0 or more", "tweedie, which takes any numbers of 0 or more"
    for at in np.flatnonzero(bad)[:1]:
        name = panel.item_ids[panel.series_of(at)]
        when = panel.zone.stamp_text(panel.timestamps[at])
        raise DataError(
            f"series '{name}' has the target {values[at]:g} at {when}; --distribution {distribution} needs {needs}",
            f"--distribution {instead if values[at] >= 0 else 'student-t'}",
            column=panel.roles.target,
            item_id=name,
        )
