"""One series at a time, by scipy and numpy: what the vectorised fits must give."""

import numpy as np
import scipy.stats


def slow_fit(values: np.ndarray, method: str) -> tuple[float, float]:
    """Location and scale of one column of one series; NaN is no value."""
    values = values[~np.isnan(values)]
    deviation = 0.0 if (values == values[0]).all() else values.std()
    loc, scale = {
        "standard": (values[0] if deviation == 0 else values.mean(), deviation),
        "robust": (np.median(values), scipy.stats.iqr(values, scale="normal") or deviation),
        "mean-abs": (0.0, np.abs(values).mean()),
        "none": (0.0, 1.0),
    }[method]
    return loc, scale or 1.0
