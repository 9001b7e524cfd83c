"""A forecast of the network and one of a baseline as one: their mean.

Sources: Bates and Granger 1969, "The combination of forecasts". Weights that are estimated hardly ever beat equal
ones, which cost nothing: Clemen 1989, "Combining forecasts: a review and annotated bibliography".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

COMBINATION = "combination"
"""The model's name in tables."""


def combined(
    prediction: Floats, levels: dict[str, Floats], other: Floats, *, non_negative: bool = False
) -> tuple[Floats, dict[str, Floats]]:
    """The mean of two point forecasts, and the levels of the first moved by as much as it moved.

    Args:
        prediction: of the network, of any shape.
        levels: of the network, of the same shape.
        other: of the baseline, of the same shape; where it is NaN the network's forecast stands alone.
        non_negative: cut the results off at 0.
    """
    mean = np.where(np.isnan(other), prediction, (prediction + other) / 2)
    moved = {name: values + (mean - prediction) for name, values in levels.items()}
    if non_negative:
        mean, moved = np.maximum(mean, 0), {name: np.maximum(values, 0) for name, values in moved.items()}
    return mean, moved
