"""A table of shops whose sales go up and down over the days, for tests with several series in several files."""

from collections.abc import Iterable

import numpy as np
import pandas as pd


def shops(seed: int, names: Iterable[str], rows: int = 30) -> pd.DataFrame:
    """One row per shop and day, the shops one after the other."""
    rng, steps = np.random.default_rng(seed), np.arange(rows)
    days = pd.date_range("2024-01-01", periods=rows, freq="D")
    parts = [
        pd.DataFrame({"shop": name, "day": days, "sold": (20 + 5 * np.sin(steps) + rng.normal(size=rows)).round(2)})
        for name in names
    ]
    return pd.concat(parts, ignore_index=True)
