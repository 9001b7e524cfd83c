"""What the numbers of a comparison allow to say, in sentences."""

from __future__ import annotations

from typing import Any

import pandas as pd

SIGNIFICANT = 0.05
_IN_WORDS = {
    "naive": "repeating the last value",
    "seasonal-naive": "repeating the last season",
    "linear": "the linear network",
}


def notes_of(table: pd.DataFrame, baselines: dict[str, dict[str, Any]]) -> tuple[str, ...]:
    """The sentences that belong to a leaderboard.

    Args:
        table: see `Comparison.leaderboard`.
        baselines: errors of each baseline on the same windows.
    """
    winner, others = str(table["attention"].iloc[0]), table.iloc[1:]
    notes = [*_spread(winner, table, others), *_significance(winner, others)]
    notes += [
        f"no mechanism is better than {_IN_WORDS.get(name, name)}: use that instead"
        for name, errors in baselines.items()
        if table["mae"].iloc[0] >= errors["mae"]
    ]
    return tuple(notes)


def _spread(winner: str, table: pd.DataFrame, others: pd.DataFrame) -> list[str]:
    """Of differences that another seed may turn round."""
    if int(table["seeds"].iloc[0]) == 1:
        return ["one seed each: how far a seed alone moves the errors is not known; --seeds 3 shows it"]
    near = others[others["within_spread"]]
    if not len(near):
        return []
    notes = [
        f"within the spread of the seeds: {_listed(near)} cannot be told from '{winner}'; "
        "another seed may well turn the order round"
    ]
    significant = near[near["dm_p_value"] < SIGNIFICANT]
    if len(significant):
        notes.append(
            f"p below {SIGNIFICANT:g} of {_listed(significant)} is about the networks that were trained: "
            "it knows nothing of other seeds"
        )
    return notes


def _significance(winner: str, others: pd.DataFrame) -> list[str]:
    """Of tests that were made, and why others were not: a p-value that is not defined says nothing."""
    alike, untested = others[others["dm_p_value"] >= SIGNIFICANT], others[others["dm_p_value"].isna()]
    notes = []
    if len(alike):
        notes.append(f"not significantly worse than '{winner}' (p of {SIGNIFICANT:g} or more): {_listed(alike)}")
    if len(untested):
        notes.append(f"not tested: {_listed(untested)}; {untested['note'].iloc[0] or 'a test is not defined'}")
    return notes


def _listed(rows: pd.DataFrame) -> str:
    return ", ".join(f"'{name}'" for name in rows["attention"])
