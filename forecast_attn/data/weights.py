"""How much each series counts in the loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from forecast_attn.data.cutoffs import windows_per_series
from forecast_attn.data.panel import Panel


def series_weights(panel: Panel, training_cutoffs: NDArray[np.int32]) -> NDArray[np.float32]:
    """The panel's weights, divided by their mean over the training windows (num_series,).

    So the loss keeps its size, and with it the learning rate its meaning, whatever unit the weights have. Equal weights
    are 1 to the bit.

    Args:
        panel: with a positive, finite weight per series.
        training_cutoffs: ascending, (num_windows,); at least one.
    """
    windows = windows_per_series(panel, training_cutoffs)
    relative = panel.weights / panel.weights.max()  # no product of a weight and a count overflows
    factor = windows.sum() / (relative * windows).sum()
    return np.asarray(relative * factor, np.float32)
