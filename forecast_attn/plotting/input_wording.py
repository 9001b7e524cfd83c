"""Titles of attributions and of means by value, the same in pictures and in the terminal."""

from __future__ import annotations

from forecast_attn.audit.wording import signed
from forecast_attn.data.findings import counted
from forecast_attn.plotting.by_value import INTERVAL, ByValue
from forecast_attn.plotting.forecast_attribution import Attribution

DEPENDENCE = "mean forecast of the network with this value throughout the horizon, all else as it was"


def attribution_title(shown: Attribution) -> str:
    return f"{shown.target}: attribution of one forecast to its inputs"


def attribution_subtitle(shown: Attribution) -> str:
    steps = len(shown.stamps)
    if shown.step is not None:
        what = f"step {shown.step} ahead, {shown.zone.stamp_text(shown.stamps[shown.step - 1])}"
    else:
        what = "1 step" if steps == 1 else f"mean of {steps} steps"
    item = "" if shown.item_id == shown.target else f"{shown.item_id}, "
    return f"{item}cut-off {shown.zone.stamp_text(shown.cutoff)}, {what}; integrated gradients"


def completeness(shown: Attribution) -> str:
    """The sum of the attributions, beside what it should be."""
    change, missing = shown.result.forecast - shown.result.baseline, shown.result.residual
    rest = f"; missing: {signed(missing)}" if abs(missing) > 1e-4 * abs(change) else ""
    return f"the attributions add up to {signed(change - missing)}, the difference from the baseline{rest}"


def by_value_title(shown: ByValue) -> str:
    return f"{shown.target}: mean forecast by the value of a column"


def by_value_subtitle(shown: ByValue) -> str:
    cutoffs = " to ".join(dict.fromkeys((shown.first_cutoff, shown.last_cutoff)))
    series = "" if shown.num_items == 1 else f" of {shown.num_items:,} series"
    return (
        f"{shown.model}, {counted(shown.num_cutoffs, 'cut-off')}{series}, {cutoffs}; {100 * INTERVAL:.0f} % intervals"
    )
