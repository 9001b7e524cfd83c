"""A panel and the options -> what training needs: sizes, split, scaler, windows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config import DataConfig
from forecast_attn.data.calendar import Calendar
from forecast_attn.data.categories import fit_vocabulary
from forecast_attn.data.cutoffs import training_cutoffs, validation_cutoffs
from forecast_attn.data.panel import Panel
from forecast_attn.data.scaling import fit_scaler
from forecast_attn.data.schema import Schema
from forecast_attn.data.split import Split, split_panel


@dataclass(frozen=True)
class Preparation:
    """What is fixed before the first step, from training rows alone."""

    panel: Panel
    schema: Schema
    split: Split
    training_cutoffs: NDArray[np.int64]
    validation_cutoffs: NDArray[np.int64]


def prepare(panel: Panel, config: DataConfig) -> Preparation:
    """Choose the sizes, cut validation off, fit the scaler and list the windows.

    Raises:
        DataError: the series are too short for the sizes.
    """
    lookback = config.lookback or panel.frequency.default_lookback
    horizon = config.horizon or panel.frequency.default_horizon
    split = split_panel(
        panel,
        validation=config.validation,
        horizon=horizon,
        lookback=lookback,
        short_series=config.short_series,
    )
    schema = Schema(
        roles=panel.roles,
        frequency=panel.frequency,
        lookback=lookback,
        horizon=horizon,
        calendar=Calendar.build(config.calendar, panel.frequency),
        scaler=fit_scaler(panel, split, config.scaling, config.transform),
        vocabulary=fit_vocabulary(panel, split),
        masked=config.missing == "mask",
        padded=config.short_series == "pad",
    )
    return Preparation(
        panel=panel,
        schema=schema,
        split=split,
        training_cutoffs=training_cutoffs(panel, split, lookback, horizon, pad=schema.padded),
        validation_cutoffs=validation_cutoffs(panel, split, lookback, horizon, pad=schema.padded),
    )
