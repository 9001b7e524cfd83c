"""Ensembles: the seeds of their members, and the combination of their forecasts.

Quantiles are combined quantile by quantile (Vincent 1912; Ratcliff 1979, "Group reaction time distributions and an
analysis of distribution statistics"): a mean or median of ascending quantiles ascends, where a mixture of distributions
would be wider than each of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.options import RunConfig, TrainingConfig


def member_seed(seed: int, member: int) -> int:
    """The seed of a member, counted from 0: the first has the run's own, the others have nothing in common with it."""
    if member == 0:
        return seed
    return int(np.random.SeedSequence(seed, spawn_key=(member,)).generate_state(1)[0] >> 1)


def member_config(config: RunConfig, member: int) -> RunConfig:
    """The options of one member, as those of a run of its own."""
    seed = config.training.seed
    assert seed is not None
    alone = TrainingConfig()
    training = replace(config.training, ensemble=alone.ensemble, combine=alone.combine, seed=member_seed(seed, member))
    return replace(config, training=training)


def combined(values: Sequence[NDArray[Any]], how: str) -> NDArray[Any]:
    """One array of the members' arrays, which have the same shape.

    Args:
        values: of each member; of a single one they are given back as they are.
        how: mean or median.
    """
    if len(values) == 1:
        return values[0]
    together = np.stack(values).astype(np.float64)
    return np.median(together, axis=0) if how == "median" else together.mean(axis=0)


def mean_weights(weights: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Attention weights averaged over the members, however the forecasts are combined: a median would not sum to 1."""
    if len(weights) == 1:
        return weights[0]
    return np.asarray(np.mean(np.stack(weights), axis=0, dtype=np.float64), np.float32)
