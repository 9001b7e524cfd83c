"""A panel and the options -> what training needs: sizes, split, scaler, windows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.config.defaults import SIZES_WITHOUT_SEASON
from forecast_attn.config.options import DataConfig
from forecast_attn.data.calendar_features import Calendar, calendar_of
from forecast_attn.data.categories import fit_vocabulary
from forecast_attn.data.cleaning import sees_later_values, without_later_values
from forecast_attn.data.findings import Finding, coded
from forecast_attn.data.frequency import with_season
from forecast_attn.data.gross_errors import windows_without_gross_errors
from forecast_attn.data.outliers import outlier_findings
from forecast_attn.data.panel import Panel
from forecast_attn.data.scaling import Scaler, fit_scaler, negative_targets
from forecast_attn.data.schema import Schema
from forecast_attn.data.seasons import season_by_evidence
from forecast_attn.data.split import Split, split_panel, training_cutoffs, validation_cutoffs
from forecast_attn.data.window_sizes import choose_sizes
from forecast_attn.errors import DataError

if TYPE_CHECKING:
    from forecast_attn.baselines.window_features import BaselineSetup
    from forecast_attn.data.windows import WindowArrays


@dataclass(frozen=True)
class Preparation:
    """State of a training before its first step, computed from training rows alone."""

    panel: Panel
    table: Panel
    """The panel as read; training sees nothing that was interpolated across the boundary."""
    schema: Schema
    split: Split
    training_cutoffs: NDArray[np.int32]
    validation_cutoffs: NDArray[np.int64]
    findings: tuple[Finding, ...] = ()
    """Findings about the windows."""
    scaled_rows: NDArray[np.int64] | None = None
    """How many of each series' first rows the scaler was fitted on (num_series,); None where it came with the model."""
    unmoved_windows: int = 0
    """Windows that are not trained on, for their target has not moved by their cut-offs on the scale it ends with."""
    arrays: WindowArrays | None = None
    """The windows, where they have been made."""

    def windows(self) -> WindowArrays:
        """The windows to train on: where the scaler was fitted here, each is scaled by the rows up to its cut-off."""
        return self.schema.windows_of(self.panel, self.scaled_rows) if self.arrays is None else self.arrays

    def baseline_setup(self) -> BaselineSetup:
        """Windows that baselines learn from, and the run's scales where a baseline would fit the same."""
        from forecast_attn.baselines.window_features import BaselineSetup

        scaler, split = self.schema.scaler, self.split
        standard = scaler.method == "standard" and scaler.transform.kind == "none"
        setup = BaselineSetup.of(self.schema, split.boundary)
        setup = replace(setup, training_rows=split.rows_by_series, cutoffs=self.training_cutoffs)
        return replace(setup, scaler=scaler if standard else None)


def prepare(panel: Panel, config: DataConfig, calendar: Calendar | None = None) -> Preparation:
    """List the windows, and keep those to train on that have a scale by their cut-off; see `list_windows`."""
    return _with_scale(list_windows(panel, config, calendar))


@coded("FA403")
def list_windows(panel: Panel, config: DataConfig, calendar: Calendar | None = None) -> Preparation:
    """Choose the sizes, cut validation off, fit the scaler and list the windows, whose scales are not measured yet.

    Args:
        panel: the validated table.
        config: the options.
        calendar: that of the run that the table belongs to; made from the options and the user's file of dates when
            None. A run keeps its days: the file may have changed since.

    Raises:
        DataError: the series are too short for the sizes.
    """
    lookback, horizon, fitted = choose_sizes(panel, config)
    split = _split(panel, config, lookback, horizon)
    panel, seasons = _with_season_of_rows(panel, split, config)
    # A season found in the rows changes the default sizes, and with them where validation begins.
    if seasons:
        lookback, horizon, fitted = choose_sizes(panel, config)
        split = _split(panel, config, lookback, horizon)
    table, panel = panel, without_later_values(panel, split.boundaries(panel))
    schema = Schema(
        roles=panel.roles,
        frequency=panel.frequency,
        lookback=lookback,
        horizon=horizon,
        calendar=calendar or calendar_of(config, panel.frequency),
        scaler=fit_scaler(panel, split, config.scaling, config.transform),
        vocabulary=fit_vocabulary(panel, split),
        zone=panel.zone,
        masked="mask" in (config.missing, panel.filled.policy),
        padded=split.pads,
        date_order=panel.date_order,
    )
    findings = negative_targets(panel) if config.non_negative else []
    findings += [*seasons, *([fitted] if fitted is not None else [])]
    _refuse_tiny_targets(panel, split, schema.scaler)
    findings += outlier_findings(panel, split.training_rows(panel), schema.scaler)
    preparation = _with_windows(panel, schema, split, findings)
    return replace(preparation, table=table, scaled_rows=split.training_rows(panel))


def _split(panel: Panel, config: DataConfig, lookback: int, horizon: int) -> Split:
    return split_panel(
        panel, validation=config.validation, horizon=horizon, lookback=lookback, short_series=config.short_series
    )


def _with_season_of_rows(panel: Panel, split: Split, config: DataConfig) -> tuple[Panel, list[Finding]]:
    """The panel with the season that its training rows show, where its step says none.

    Years are steps without a season, too, and their cycles come at no fixed length.
    """
    frequency = panel.frequency
    has_none = frequency.season == 1 and frequency.default_horizon == SIZES_WITHOUT_SEASON.horizon
    if config.season is not None or not has_none:
        return panel, []
    season = season_of_rows(panel, split)
    if season is None:
        return panel, []
    steps, strength = season
    many = f"median of {panel.num_series:,} series" if panel.num_series > 1 else "of the series"
    repeat = f"the training rows repeat after {steps} steps (autocorrelation {strength:.2f}, {many})"
    message = f"{repeat}, which is taken as the season"
    finding = Finding("FA216", "note", message, "--season N takes another one, --season 1 none", options=("season",))
    return replace(panel, frequency=with_season(frequency, str(steps))), [finding]


def season_of_rows(panel: Panel, split: Split) -> tuple[int, float] | None:
    """The season that training rows show, and the autocorrelation at it: the median of those of the series."""
    return season_by_evidence(training_values(panel, split))


def training_values(panel: Panel, split: Split) -> list[NDArray[np.float64]]:
    """The target of each series in its training rows."""
    starts, rows = panel.starts[:-1].tolist(), split.training_rows(panel).tolist()
    return [panel.target[start : start + count] for start, count in zip(starts, rows, strict=True)]


def _with_scale(preparation: Preparation) -> Preparation:
    """The same with the training windows that have a scale by their cut-off; with all of them where none has."""
    import torch

    arrays = preparation.windows()
    preparation = replace(preparation, arrays=arrays)  # their scales take longer to measure than the table to read
    cutoffs, scales = preparation.training_cutoffs, arrays.causal_scales
    if scales is None:
        return preparation
    panel, unmoved = preparation.panel, 0

    def has_scale(some: NDArray[np.int32]) -> NDArray[np.bool_]:
        nonlocal unmoved
        series = panel.series_of(some)
        rows = torch.from_numpy(some - panel.starts[series] + 1)
        has_moved = scales.has_moved(rows, torch.from_numpy(series))
        unmoved += int((~has_moved).sum())
        return np.asarray((has_moved & scales.has_settled(rows, torch.from_numpy(series))).numpy())

    scaled = panel.storage.chosen(cutoffs, has_scale)
    return replace(preparation, training_cutoffs=scaled, unmoved_windows=unmoved) if len(scaled) else preparation


def on_all_rows(preparation: Preparation) -> Preparation:
    """The same with the windows of all rows to train on, and none to validate on; the scales stay as they are."""
    panel, schema = preparation.panel, preparation.schema
    again = _with_windows(panel, schema, replace(preparation.split, rows_by_series=panel.num_known), [])
    again = replace(again, table=preparation.table, scaled_rows=preparation.scaled_rows, arrays=preparation.arrays)
    return _with_scale(replace(again, validation_cutoffs=again.validation_cutoffs[:0]))


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
    training: NDArray[Any] = training_cutoffs(panel, split, schema.lookback, schema.horizon, pad=schema.padded)
    training = _forecast_by_then(schema, panel, training, "training", findings)
    validation: NDArray[Any] = validation_cutoffs(panel, split, schema.lookback, schema.horizon, pad=schema.padded)
    validation = _forecast_by_then(schema, panel, validation, "validation", findings)
    if panel.filled.policy == "interpolate":  # a window that begins within a hole would see the value after it
        training, validation = (
            panel.storage.chosen(cutoffs, lambda some: ~sees_later_values(panel, some))
            for cutoffs in (training, validation)
        )
    if schema.scaler.transform.kind != "log":  # which brings them near
        sizes = schema.lookback, schema.horizon
        training = windows_without_gross_errors(panel, training, split.training_rows(panel), *sizes)
        validation = windows_without_gross_errors(panel, validation, panel.num_known, *sizes)
    return Preparation(panel, panel, schema, split, training, validation, tuple(findings))


def _forecast_by_then(
    schema: Schema, panel: Panel, cutoffs: NDArray[Any], what: str, findings: list[Finding]
) -> NDArray[Any]:
    """The cut-offs at which forecasts of the horizon existed, where there is a table of forecasts."""
    if panel.issued is None:
        return cutoffs
    from forecast_attn.data.vintages import Vintages, covered_cutoffs  # with torch

    steps = schema.forecast_steps(panel.issued.columns)
    return covered_cutoffs(panel, Vintages.build(panel, panel.issued), cutoffs, steps, findings.append, what)
