"""Choose, on validation windows, what a run forecasts: the network's, a baseline's or a weighted mean.

What was chosen is kept in metrics.json, and the rows that the baselines need (`rows_to_keep`) in tail.parquet:
`predict` needs no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from forecast_attn.baselines.combination_weights import (
    PRIOR_FORMULAS,
    Combination,
    EarlierErrors,
    scaled_error,
    weighted_mean,
)
from forecast_attn.baselines.naive import Floats, Ints
from forecast_attn.baselines.registry import BaselineSetup, CachedBaselines, baseline_forecasts
from forecast_attn.baselines.theta import rows_needed
from forecast_attn.config.options import RunConfig
from forecast_attn.config.values import NETWORK
from forecast_attn.data.panel import Panel
from forecast_attn.data.split import spread_evenly
from forecast_attn.errors import DataError
from forecast_attn.evaluation.metrics import point_metrics
from forecast_attn.forecasting.adaptive_calibration import rows_followed
from forecast_attn.forecasting.calibration import ADAPTIVE
from forecast_attn.forecasting.tail import MOST_ROWS_LEARNED
from forecast_attn.training.preparation import Preparation

CANDIDATE_REGRESSIONS = ("linear", "median-regression")
"""The fitted baselines that a run could keep: they learn from the whole table at every forecast."""
MOST_SERIES, LONGEST_LOOKBACK, MOST_VALUES = 1_000, 1_000, 20_000_000
"""Of a table from which fitted baselines can learn at every forecast. Values are the rows of its longest series times
the lookback; that many cost about 7 seconds."""
MONTHS = 12
"""The season with temporal aggregation: it helps monthly panels, harms hourly ones, and of a season with few divisors
it is the damped trend again."""
CUTOFFS_A_SERIES, MOST_SERIES_SCORED, FEWEST_ROWS_BEFORE = 6, 200, 6
"""At which formulas are scored beside the validation windows, and the rows before the first one."""


def candidate_formulas(panel: Panel, season: int) -> tuple[str, ...]:
    """The formulas that a run on this panel could keep."""
    aggregates = panel.num_series > 1 and season == MONTHS
    return tuple(name for name in PRIOR_FORMULAS if aggregates or name != "temporal-aggregation")


def candidate_names(panel: Panel, lookback: int, season: int) -> tuple[str, ...]:
    """The baselines that a run on this panel could keep."""
    few = panel.num_rows <= MOST_ROWS_LEARNED and panel.num_series <= MOST_SERIES and lookback <= LONGEST_LOOKBACK
    soon = int(panel.num_known.max()) * lookback <= MOST_VALUES
    regressions = CANDIDATE_REGRESSIONS if few and soon and panel.issued is None else ()
    return (*candidate_formulas(panel, season), *regressions)


def candidates(baselines: CachedBaselines) -> dict[str, Floats]:
    """Forecasts of every baseline that a run could keep, (num_windows, horizon) each."""
    forecasts = {}
    for name in candidate_names(baselines.panel, baselines.setup.lookback, baselines.setup.season):
        try:
            forecasts[name] = baselines.of(name)
        except DataError:  # too few windows to learn from
            continue
    return forecasts


def earlier_errors(panel: Panel, setup: BaselineSetup, scale: Floats) -> EarlierErrors:
    """Errors of the formulas at `CUTOFFS_A_SERIES` cut-offs of each series, over the last two horizons that are known.

    Args:
        panel: whose known rows are all scored.
        setup: sizes and season.
        scale: of each series, (num_series,); those without one (NaN or 0) are left out.
    """
    some = spread_evenly(np.flatnonzero(scale > 0), MOST_SERIES_SCORED)
    back = np.maximum(1, np.arange(1, CUTOFFS_A_SERIES + 1) * 2 * setup.horizon // CUTOFFS_A_SERIES)
    series, back = np.repeat(some, len(back)), np.tile(back, len(some))
    long = panel.num_known[series] - back >= max(2 * setup.season + 1, FEWEST_ROWS_BEFORE)
    series, back = series[long], back[long]
    if not len(series):
        return EarlierErrors({}, 0)
    ends = panel.ends[series]
    targets = ends[:, None] - back[:, None] + np.arange(setup.horizon)
    actual = np.where(targets < ends[:, None], panel.target[np.minimum(targets, len(panel.target) - 1)], np.nan)
    names = candidate_formulas(panel, setup.season)
    forecasts = {name: baseline_forecasts(name, panel, ends - 1 - back, setup) for name in names}
    for forecast in forecasts.values():  # none where nothing was observed up to the cut-off
        actual = np.where(np.isnan(forecast), np.nan, actual)
    errors = {name: scaled_error(actual, forecast, scale[series]) for name, forecast in forecasts.items()}
    return EarlierErrors(errors, 2 * len(series) // CUTOFFS_A_SERIES)


def scored_combination(
    combination: Combination,
    forecasts: dict[str, Floats],
    actual: Floats,
    scale: Floats,
    *,
    item_ids: Sequence[str],
    series: Ints,
) -> dict[str, Any]:
    """The combination as metrics.json holds it: its weights, and errors on the windows.

    Args:
        combination: of the network and of candidates.
        forecasts: of the network and of the candidates, (num_windows, horizon) each.
        actual: actual values, NaN where not observed.
        scale: in-sample error of seasonal-naive, of each window's series (num_windows,).
        item_ids: names of series.
        series: of each window, an index into them, (num_windows,).
    """
    network = forecasts[NETWORK]
    unknown = np.full(network.shape, np.nan)
    named = {name: forecasts.get(name, unknown) for name in combination.weights}
    mean = unknown.copy()
    for rows, weights in combination.rows_by_weights(item_ids, series):
        mean[rows] = weighted_mean({name: named[name][rows] for name in weights}, weights)
    combined = np.where(np.isnan(mean), network, mean)
    alone = {
        name: point_metrics(actual, forecast, scale)
        for name, forecast in named.items()
        if name != NETWORK and not np.isnan(forecast).any()
    }
    return {**combination.to_dict(), "validation": point_metrics(actual, combined, scale), "alone": alone}


def rows_to_keep(weights: dict[str, float], preparation: Preparation, config: RunConfig) -> int:
    """Return the number of last rows of each series that a forecast with these weights reads."""
    schema, panel = preparation.schema, preparation.panel
    follows = config.model.calibration == ADAPTIVE
    network_rows = rows_followed(schema.lookback, schema.horizon) if follows else schema.lookback
    season, rows = schema.frequency.season, [network_rows]
    for name in weights:
        if name in CANDIDATE_REGRESSIONS:
            rows.append(int(panel.num_known.max()))
        elif name != NETWORK:
            rows.append(2 * season if name == "seasonal-naive" else rows_needed(season))
    return max(rows)
