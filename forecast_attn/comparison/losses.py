"""Whether mechanisms forecast differently well by more than chance: tests on the windows that all have forecast."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.evaluation.model_comparison import compare_models
from forecast_attn.preparation import Preparation

Floats = NDArray[np.float64]
TESTED_ON = (
    "the mean absolute error of each validation cut-off over all series and steps, averaged over the seeds; each "
    "mechanism against the winner, not corrected for the number of tests"
)


@dataclass(frozen=True)
class Tests:
    """A mechanism against the winner; NaN where a test is not defined."""

    __test__ = False  # pytest would collect it

    dm_statistic: float = math.nan
    """Of Diebold–Mariano; positive where the mechanism loses more than the winner."""
    dm_p_value: float = math.nan
    gw_statistic: float = math.nan
    """Of Giacomini–White."""
    gw_p_value: float = math.nan
    tested_cutoffs: int = 0
    note: str = ""


def tests_against(
    winner: str, losses: dict[str, Floats], preparation: Preparation, cutoffs: NDArray[np.int64]
) -> dict[str, Tests]:
    """Test every mechanism against one of them.

    Args:
        winner: its name.
        losses: absolute errors of each mechanism, averaged over its seeds (num_windows, horizon); NaN where the target
            is missing.
        preparation: whose panel the windows are of.
        cutoffs: rows of the last known values, (num_windows,).
    """
    coordinates = _coordinates(preparation, cutoffs)
    return {
        name: Tests() if name == winner else _tests(coordinates, loss, losses[winner]) for name, loss in losses.items()
    }


def _coordinates(preparation: Preparation, cutoffs: NDArray[np.int64]) -> pd.DataFrame:
    """One row per window and step: item_id, cutoff, timestamp, step."""
    panel, horizon = preparation.panel, preparation.schema.horizon
    series = np.searchsorted(panel.starts, cutoffs, side="right") - 1
    steps = np.arange(1, horizon + 1)
    return pd.DataFrame(
        {
            "item_id": np.repeat(np.array(panel.item_ids, object)[series], horizon),
            "cutoff": np.repeat(panel.timestamps[cutoffs], horizon),
            "timestamp": panel.timestamps[cutoffs[:, None] + steps].ravel(),
            "step": np.tile(steps, len(cutoffs)),
        }
    )


def _tests(coordinates: pd.DataFrame, loss: Floats, winner: Floats) -> Tests:
    # As forecasts of a target of 0, whose absolute errors are the losses.
    models = [
        coordinates.assign(model=name, target=0.0, prediction=values.ravel())
        for name, values in (("mechanism", loss), ("winner", winner))
    ]
    found = compare_models(pd.concat(models, ignore_index=True))
    if not len(found):
        return Tests(note="too few cut-offs to test")
    rows: dict[str, dict[Any, Any]] = {str(row["test"]): row for row in found.to_dict("records")}
    dm, gw = rows["DM"], rows["GW"]
    return Tests(
        dm["statistic"],
        dm["p_value"],
        gw["statistic"],
        gw["p_value"],
        dm["n"],
        "; ".join(f"{name}: {row['note']}" for name, row in rows.items() if row["note"]),
    )
