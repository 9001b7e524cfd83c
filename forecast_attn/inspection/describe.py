"""The inspection of an attention file, step by step and group by group, as data."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import AttentionDump
from forecast_attn.errors import DataError
from forecast_attn.inspection import statistics
from forecast_attn.inspection.grouping import Grouping, group_windows
from forecast_attn.inspection.interpretation import Evidence, interpretation_of
from forecast_attn.inspection.results import (
    GroupStatistics,
    Inspection,
    InspectionHeader,
    Matrix,
    StepStatistics,
    TopLag,
)
from forecast_attn.inspection.statistics import distance_span, lookback_time_steps
from forecast_attn.inspection.summary import Summary, summarise, target_seasons
from forecast_attn.inspection.warnings import warnings_of

SPREAD = ("entropy", "normalised_entropy", "effective_steps", "max_weight", "centroid_lag")
"""Statistics that steps and groups both have."""


def inspect_attention(
    dump: AttentionDump,
    *,
    top: int = 5,
    by: str | None = None,
    evidence: Evidence | None = None,
) -> Inspection:
    """Describe the weights of a file or of a selection of it, reading them once and a row group at a time.

    Args:
        dump: the file.
        top: how many lags to list.
        by: also describe groups of the windows: `item`, `head`, or `hour` or `weekday` of the cut-off.
        evidence: on the need for these weights; see `evidence_of`.

    Raises:
        DataError: a file without windows.
        ConfigError: nothing to group by.
        RunError: the file is damaged.
    """
    if not dump.num_windows:
        raise DataError(f"'{dump.path}' holds no windows", "predict again to write it anew")
    grouping = None if by is None else group_windows(dump, by)
    summary = summarise(dump, None if grouping is None else grouping.groups)
    header, weights = header_of(dump), np.nan_to_num(summary.weights)
    profile = weights.mean(axis=0)
    inspection = Inspection(
        header=header,
        steps=_step_statistics(dump, summary, weights, top),
        profile=profile,
        mean_weights=weights,
        uniform_season_mass=_uniform_season_mass(dump),
        warnings=list(warnings_of(dump, summary, header)),
        top=top_lags(dump, profile, top),
        by=by,
        groups=[] if grouping is None else _group_statistics(dump, summary, grouping, profile, top),
        left_out="" if grouping is None else grouping.left_out,
        missing_steps=float(summary.values["missing_steps"].mean()) if dump.metadata.masked else None,
        lookback_timestamps=None if dump.num_windows > 1 else list(map(dump.text, lookback_time_steps(dump)[0])),
    )
    return replace(inspection, reading=interpretation_of(inspection, evidence))


# --------------------------------------------------------------------------- parts of the inspection


def header_of(dump: AttentionDump) -> InspectionHeader:
    """Header of a file, or of a part of it."""
    sizes = dump.metadata
    return InspectionHeader(
        mechanism=sizes.mechanism,
        order=sizes.order,
        score=sizes.score,
        normaliser=sizes.normaliser,
        window=sizes.window,
        heads=dump.heads.tolist(),
        item_ids=dump.item_ids,
        num_windows=dump.num_windows,
        first_cutoff=dump.text(dump.cutoffs[0]),
        last_cutoff=dump.text(dump.cutoffs[-1]),
        lookback=sizes.lookback,
        horizon=sizes.horizon,
        frequency=sizes.frequency,
        season=sizes.season,
        dtype=sizes.dtype,
        kept_weights=sizes.top,
        value_rank=sizes.value_rank,
        zone=sizes.zone,
        patch_length=sizes.patch_length,
        network_share=None
        if sizes.network_share is None
        else min(sizes.network_shares.get(name, sizes.network_share) for name in dump.item_ids),
    )


def _step_statistics(dump: AttentionDump, summary: Summary, weights: Matrix, top: int) -> list[StepStatistics]:
    rows = summary.values
    single, seasonal = dump.num_windows == 1, _uniform_season_mass(dump) is not None
    patches = dump.metadata.patch_length > 1
    stamps = lookback_time_steps(dump)[0] if single else None
    return [
        StepStatistics(
            last_timestamp=dump.text(dump.last_timestamps[0, index]) if single and patches else None,
            timestamp=dump.text(dump.timestamps[0, index]) if single else None,
            **_step_span(dump, int(step)),
            **_spread(rows, index),
            recent_season_mass=float(rows["recent_season_mass"][index]) if seasonal else None,
            target_season_mass=float(rows["target_season_mass"][index]) if seasonal else None,
            top=top_lags(dump, weights[index], top, stamps),
        )
        for index, step in enumerate(dump.steps)
    ]


def _spread(rows: dict[str, Matrix], index: int) -> dict[str, Any]:
    return {name: float(rows[name][index]) for name in SPREAD}


def _step_span(dump: AttentionDump, step: int) -> dict[str, Any]:
    """The time steps ahead that a step of the decoder stands for."""
    first, last = dump.metadata.steps_of(step)
    return {"step": first, "last_step": last if dump.metadata.patch_length > 1 else None}


def top_lags(dump: AttentionDump, weights: Matrix, count: int, stamps: NDArray[Any] | None = None) -> list[TopLag]:
    """The lags of the largest of (num_keys,) weights, largest first.

    Args:
        dump: whose weights they are.
        weights: oldest position first.
        count: how many lags.
        stamps: (lookback,) the times of the time steps, where they are known.
    """
    return [_top_lag(dump, int(lag), float(weights[-1 - lag]), stamps) for lag in statistics.top_lags(weights, count)]


def _top_lag(dump: AttentionDump, lag: int, weight: float, stamps: NDArray[Any] | None) -> TopLag:
    first, last = dump.metadata.lags_of(lag)
    top = TopLag(
        lag=lag,
        weight=weight,
        distance=distance_span(dump.metadata.frequency, first, last),
        timestamp=None if stamps is None else dump.text(stamps[-1 - last]),
    )
    if dump.metadata.patch_length == 1:
        return top
    ends = None if stamps is None else dump.text(stamps[-1 - first])
    return replace(top, first_lag=first, last_lag=last, last_timestamp=ends)


def _uniform_season_mass(dump: AttentionDump) -> float | None:
    """The share of positions that lie whole seasons before the target; None where no step has any."""
    shares = target_seasons(dump).mean(axis=1)
    return float(np.mean(shares)) if shares.any() else None


def _group_statistics(
    dump: AttentionDump, summary: Summary, grouping: Grouping, profile: Matrix, top: int
) -> list[GroupStatistics]:
    seasonal = _uniform_season_mass(dump) is not None
    return [
        GroupStatistics(
            name=name,
            num_windows=group.num_windows,
            **{name: group.values[name] for name in SPREAD},
            target_season_mass=group.values["target_season_mass"] if seasonal else None,
            distance=float(statistics.jensen_shannon_distance(group.profile, profile)),
            top=top_lags(dump, group.profile, top),
            profile=group.profile,
        )
        for name, group in zip(grouping.names, summary.groups, strict=True)
    ]
