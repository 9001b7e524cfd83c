"""A panel and the options -> what training needs: sizes, split, scaler, windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.options import DataConfig
from forecast_attn.data.calendar import calendar_of
from forecast_attn.data.categories import fit_vocabulary
from forecast_attn.data.cleaning import sees_later_values, without_later_values
from forecast_attn.data.findings import Finding, coded
from forecast_attn.data.outliers import outlier_findings
from forecast_attn.data.panel import Panel
from forecast_attn.data.scaling import Scaler, fit_scaler, negative_targets
from forecast_attn.data.schema import Schema
from forecast_attn.data.split import Split, choose_sizes, split_panel, training_cutoffs, validation_cutoffs
from forecast_attn.errors import DataError


@dataclass(frozen=True)
class Preparation:
    """Everything fixed before the first step, from training rows alone."""

    panel: Panel
    schema: Schema
    split: Split
    training_cutoffs: NDArray[np.int32]
    """Half as wide as elsewhere: there are nearly as many as rows."""
    validation_cutoffs: NDArray[np.int64]
    findings: tuple[Finding, ...] = ()
    """Findings about the windows."""


@coded("FA403")
def prepare(panel: Panel, config: DataConfig) -> Preparation:
    """Choose the sizes, cut validation off, fit the scaler and list the windows.

    Raises:
        DataError: the series are too short for the sizes.
    """
    lookback, horizon, fitted = choose_sizes(panel, config)
    split = split_panel(
        panel,
        validation=config.validation,
        horizon=horizon,
        lookback=lookback,
        short_series=config.short_series,
    )
    panel = without_later_values(panel, split.boundary)
    schema = Schema(
        roles=panel.roles,
        frequency=panel.frequency,
        lookback=lookback,
        horizon=horizon,
        calendar=calendar_of(config, panel.frequency),
        scaler=fit_scaler(panel, split, config.scaling, config.transform),
        vocabulary=fit_vocabulary(panel, split),
        zone=panel.zone,
        masked=config.missing == "mask",
        padded=config.short_series == "pad",
        date_order=panel.date_order,
    )
    findings = negative_targets(panel) if config.non_negative else []
    findings += [fitted] if fitted is not None else []
    _refuse_tiny_targets(panel, split, schema.scaler)
    findings += outlier_findings(panel, split.training_rows(panel), schema.scaler)
    return _with_windows(panel, schema, split, findings)


SMALLEST_TARGET = 1e-30
"""Below it errors of errors vanish, as above 1e30 they overflow."""


def _refuse_tiny_targets(panel: Panel, split: Split, scaler: Scaler) -> None:
    """Refuse series whose values are all next to nothing, and not all 0.

    Raises:
        DataError: names the first one.
    """
    suspects = np.flatnonzero((np.abs(scaler.target.loc) < SMALLEST_TARGET) & (scaler.target.scale == 1))
    rows = split.training_rows(panel)
    for index in suspects:
        largest = np.nanmax(np.abs(panel.target[panel.starts[index] :][: rows[index]]), initial=0)
        if 0 < largest < SMALLEST_TARGET:
            name = panel.item_ids[index]
            raise DataError(
                f"column '{panel.roles.target}' of series '{name}' is below {SMALLEST_TARGET:g} everywhere",
                "write it in a smaller unit",
                code="FA303",
                column=panel.roles.target,
                item_id=name,
            )


def prepare_again(panel: Panel, schema: Schema, boundary: Any) -> Preparation:
    """The windows of a panel for a model that exists: nothing is fitted, and a series without windows is no error.

    Args:
        panel: read with the model's roles, of series that its scaler knows.
        schema: of the model.
        boundary: last training time; validation is the rest.

    Raises:
        DataError: there is a table of forecasts, and none of the windows had been forecast in time.
    """
    return _with_windows(panel, schema, Split(boundary), [])


def _with_windows(panel: Panel, schema: Schema, split: Split, findings: list[Finding]) -> Preparation:
    lookback, horizon = schema.lookback, schema.horizon
    training, validation = (
        _forecast_by_then(schema, panel, choose(panel, split, lookback, horizon, pad=schema.padded), what, findings)
        for choose, what in ((training_cutoffs, "training"), (validation_cutoffs, "validation"))
    )
    # A forecast from within an interpolated hole would see the value after it.
    validation = validation[~sees_later_values(panel)[validation]]
    return Preparation(panel, schema, split, training.astype(np.int32), validation, tuple(findings))


def _forecast_by_then(
    schema: Schema, panel: Panel, cutoffs: NDArray[np.int64], what: str, findings: list[Finding]
) -> NDArray[np.int64]:
    """The cut-offs at which forecasts of the horizon existed, where there is a table of forecasts."""
    if panel.issued is None:
        return cutoffs
    from forecast_attn.data.vintages import Vintages, covered_cutoffs  # with torch

    steps = schema.forecast_steps(panel.issued.columns)
    return covered_cutoffs(panel, Vintages.build(panel, panel.issued), cutoffs, steps, findings.append, what)
