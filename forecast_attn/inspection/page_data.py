"""Data of the page of `forecast inspect --html`: one JSON document with its arrays in base64.

Values are little-endian float32. Weights are codes of 16 bits on a logarithmic scale: half the bytes, and as exact as
the three digits that the page shows of a weight. Intervals and covariates, which are drawn and never written as
numbers, are codes of 16 bits between the ends of each line. Times are texts on the user's clock: the page computes with
positions only.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import AttentionDump
from forecast_attn.data.zones import Zone
from forecast_attn.evaluation.quantile_scores import intervals
from forecast_attn.inspection import statistics
from forecast_attn.inspection.grouping import Grouping, group_windows, indices_in, series_of_windows
from forecast_attn.inspection.statistics import (
    distance_span,
    has_time_distances,
    lookback_time_steps,
    span_text,
    target_steps,
    target_timestamps,
)
from forecast_attn.inspection.terminal_heatmap import tick_lags
from forecast_attn.inspection.window_values import WindowValues
from forecast_attn.notebook import darkest_weight

PAGE_BYTES = 1_200_000
"""Size of the windows on a page, unless more of them are requested; means, words and script come on top."""
MOST_WINDOWS = 64
"""Windows on a page; more where each series has one."""
LIGHT_BYTES = 240_000
"""Part of them for series that get no whole window: a light one each, its weights the mean of the series. The series
beyond have a bare one each: the same without values."""
MOST_COVARIATES = 4
"""Covariates that a page holds, at the most."""
CODES_PER_OCTAVE = 2048
"""Steps of a weight's code between a weight and twice as much; model.js decodes with the same number."""
LARGEST_CODE = 65535
"""The code of weight 1, and of what is not known in a line."""
LINE_STEPS = 65534
"""The code of the largest value of a line, whose smallest is 0; model.js decodes with the same number."""
BASE64 = 4 / 3
GROUPINGS = {"item": "series", "head": "heads", "hour": "hours of the cut-off", "weekday": "weekdays of the cut-off"}


def default_windows(dump: AttentionDump) -> int:
    """Number of whole windows that keeps the page near `PAGE_BYTES`; at least one."""
    sizes, num_series = dump.metadata, len(dump.item_ids)
    weights = len(dump.heads) * len(dump.steps) * sizes.num_keys
    values = (4 + 2 * MOST_COVARIATES) * (sizes.lookback + sizes.horizon)  # the series, and lines beside it
    per_window = (2 * weights + values) * BASE64
    light = 0.0 if num_series * per_window <= PAGE_BYTES else min(LIGHT_BYTES, num_series * _light_bytes(dump))
    return int(np.clip((PAGE_BYTES - light) // per_window, 1, max(MOST_WINDOWS, num_series)))


def _light_bytes(dump: AttentionDump) -> float:
    """Size of a window without weights and covariates: the series, the forecast with an interval, the actual values."""
    return 4 * (dump.metadata.lookback + 3 * dump.metadata.horizon) * BASE64  # an interval has two codes of 2 bytes


class PageWindows(NamedTuple):
    """The windows that can be chosen on a page."""

    dump: AttentionDump
    """In order of series, then cut-off."""
    whole: NDArray[np.bool_]
    """(num_windows,) those with weights and covariates of their own; others have the mean weights of their series."""
    valued: NDArray[np.bool_]
    """(num_windows,) those with the values that they looked at and forecast: all but the bare ones."""

    @classmethod
    def all_of(cls, dump: AttentionDump) -> PageWindows:
        """Every window with its weights and values."""
        return cls(dump, np.ones(dump.num_windows, bool), np.ones(dump.num_windows, bool))


def choose_windows(dump: AttentionDump, count: int) -> PageWindows:
    """At most `count` whole windows, and the newest one of every other series, a light one if `LIGHT_BYTES` hold it.

    The whole windows are spread evenly over series and cut-offs. Where `count` is enough for all series, each has one;
    then each hour and weekday of the cut-off.
    """
    series = series_of_windows(dump)
    order = np.lexsort((dump.window_cutoffs, series))
    whole = _sample(series[order], count, *(_groups(dump, by)[order] for by in _kinds(dump)))
    newest = np.flatnonzero(np.diff(series[order], append=-1))
    others = newest[~np.isin(series[order[newest]], series[order[whole]])]
    indices, light = np.union1d(whole, others), _evenly(others, int(LIGHT_BYTES // _light_bytes(dump)))
    bare = np.setdiff1d(others, light)
    return PageWindows(dump.take(order[indices]), np.isin(indices, whole), ~np.isin(indices, bare))


def _kinds(dump: AttentionDump) -> list[str]:
    """Groupings that are tiles beside series and heads: those of times of day and week, where there are any."""
    return [by for by in GROUPINGS if by not in ("item", "head") and dump.window_cutoffs.dtype.kind == "M"]


def _groups(dump: AttentionDump, by: str) -> NDArray[np.int64]:
    """(num_windows,) the number of each window's group."""
    return group_windows(dump, by).groups[:, 0]


def _sample(series: NDArray[np.int64], count: int, *groupings: NDArray[np.int64]) -> NDArray[np.int64]:
    """Places of at most `count` of the ordered windows, whose series and other groups these are (num_windows,).

    Each series has one, if `count` is enough; then each other group, if half of `count` is enough for all of them.
    """
    firsts = np.flatnonzero(np.diff(series, prepend=-1))
    if len(firsts) > count:
        return _evenly(np.arange(len(series)), count)
    for groups in groupings:
        more = np.union1d(firsts, _one_of_each(groups, np.setdiff1d(groups, groups[firsts])))
        firsts = more if len(more) <= count // 2 else firsts
    others = np.setdiff1d(np.arange(len(series)), firsts)
    return np.union1d(firsts, _evenly(others, count - len(firsts)))


def _one_of_each(groups: NDArray[np.int64], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Position of a window of each chosen group, of the first group an early one and of the last a late one."""
    members = [np.flatnonzero(groups == group) for group in chosen]
    # Always the first ones would show one season only.
    return np.array([each[rank * len(each) // len(members)] for rank, each in enumerate(members)], np.int64)


def _evenly(indices: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Select at most `count` of the indices, the first and the last among them."""
    if count >= len(indices):
        return indices
    if count <= 0:
        return indices[:0]
    return indices[np.unique(np.linspace(0, len(indices) - 1, count).round().astype(np.int64))]


def page_document(
    dump: AttentionDump, drawn: PageWindows, values: WindowValues, by: str | None = None
) -> dict[str, Any]:
    """Data of the page.

    Args:
        dump: the windows the means are taken over.
        drawn: those among them that are drawn one by one.
        values: what the valued ones of these looked at and forecast.
        by: groups that stand side by side at first.
    """
    sizes, (shown, whole, valued) = dump.metadata, drawn
    times, windows = _windows(shown)
    for index in np.flatnonzero(~whole):
        windows[index]["light" if valued[index] else "bare"] = True
    return {
        **_patches(dump),
        "lookback": sizes.num_keys,
        "steps": dump.steps.tolist(),
        "heads": dump.heads.tolist(),
        "season": sizes.key_season,
        "leastDarkest": darkest_weight(np.zeros(sizes.num_keys)),
        "windowsInFile": dump.num_windows,
        "distances": [distance_span(sizes.frequency, *sizes.lags_of(lag)) for lag in range(sizes.num_keys)]
        if has_time_distances(sizes.frequency)
        else None,
        "tickLags": tick_lags(sizes.num_keys, sizes.key_season, sizes.patch_length),
        "target": values.target,
        "forecastName": values.forecast_name,
        "items": shown.item_ids,
        "times": times,
        "windows": windows,
        "observed": shown.observed_steps.max(axis=(1, 2)).astype(int).tolist(),
        "weights": encode_weights(shown.take(np.flatnonzero(whole)).weights),
        "past": encode(values.past),
        "forecast": encode(_whole_patches(dump, values.forecast)),
        "actual": encode(_whole_patches(dump, values.actual)),
        "intervals": [
            {
                "name": f"{100 * pair.nominal:.3g} %",
                "lower": encode_lines(_whole_patches(dump, values.quantiles[pair.lower])),
                "upper": encode_lines(_whole_patches(dump, values.quantiles[pair.upper])),
            }
            for pair in intervals(values.quantiles)
        ],
        "covariates": [
            {"name": name, "lines": encode_lines(_whole_patches(dump, column[whole[valued]]))}
            for name, column in values.covariates.items()
            if not np.isnan(column).all()
        ],
        "mean": _means(dump),
        "tiles": sorted(_tiles(dump, shown, whole, values.regimes), key=lambda tiles: tiles["kind"] != by),
    }


def _patches(dump: AttentionDump) -> dict[str, Any]:
    """Data about patches for the page; empty where a key is a time step.

    Lags and steps on the page count patches; the series and its times have all their time steps.
    """
    sizes = dump.metadata
    if sizes.patch_length == 1:
        return {}
    texts = [span_text(*sizes.steps_of(int(step))) for step in dump.steps]
    return {"patchLength": sizes.patch_length, "stepTexts": texts, "numTargets": len(target_steps(dump))}


def _whole_patches(dump: AttentionDump, ahead: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """(windows, steps × patch_length) values of the time steps ahead, NaN beyond the horizon."""
    missing = len(dump.steps) * dump.metadata.patch_length - len(target_steps(dump))
    return np.pad(ahead, ((0, 0), (0, missing)), constant_values=np.nan)


def encode(values: NDArray[np.floating[Any]], kind: str = "<f4") -> str:
    """Numbers of a kind, float32 as a rule, in base64."""
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode("ascii")


def encode_weights(weights: NDArray[np.floating[Any]]) -> str:
    """Codes of weights in base64, each within 0.017 % of its weight.

    Code c > 0 is the weight 2^((c − 65535) / 2048), code 0 no weight. What is below 2^-32 gets code 1, and the page
    calls it less than 1e-7 %.
    """
    weights = np.nan_to_num(weights)
    octaves = np.log2(weights, where=weights > 0, out=np.full(weights.shape, -np.inf))
    codes = np.clip(LARGEST_CODE + np.rint(CODES_PER_OCTAVE * octaves), 1, LARGEST_CODE)
    return encode(np.where(weights > 0, codes, 0), "<u2")


def encode_lines(lines: NDArray[np.floating[Any]]) -> dict[str, str]:
    """The smallest and largest value of each line and codes between them, in base64; `LARGEST_CODE` for NaN."""
    known = np.isfinite(lines)
    low = np.where(known, lines, np.inf).min(axis=1, initial=np.inf).astype("<f4")
    high = np.where(known, lines, -np.inf).max(axis=1, initial=-np.inf).astype("<f4")
    ends = np.where(np.isfinite(low), [low, high], 0).T
    spread = np.maximum(ends[:, 1:] - ends[:, :1], np.finfo(np.float32).tiny)
    codes = np.where(known, np.rint(LINE_STEPS * np.clip((lines - ends[:, :1]) / spread, 0, 1)), LARGEST_CODE)
    return {"ends": encode(ends), "codes": encode(codes, "<u2")}


def script_json(document: Any) -> str:
    """JSON that can stand inside a <script> element: nothing in it closes the element or opens a comment."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _windows(shown: AttentionDump) -> tuple[list[str], list[dict[str, Any]]]:
    """Every time once, as text, and per window its series, its cut-off and where its times stand among them."""
    stamps = np.concatenate([lookback_time_steps(shown), target_timestamps(shown)], axis=1)
    known, indices = np.unique(stamps, return_inverse=True)
    windows = [
        {"item": item, "times": _run_or_list(row.tolist())}
        for item, row in zip(series_of_windows(shown).tolist(), indices.reshape(stamps.shape), strict=True)
    ]
    return _time_texts(known, shown.metadata.zone), windows


def _time_texts(stamps: NDArray[Any], zone: str | None) -> list[str]:
    """Axis times on the user's clock, all as fine as the finest of them needs."""
    texts = list(Zone(zone, "local" if zone is None else "utc").text(stamps))
    seconds = re.compile(r"(?<=\d\d:\d\d):00(?![.\d])")
    return [seconds.sub("", text) for text in texts] if all(map(seconds.search, texts)) else texts


def _run_or_list(indices: list[int]) -> int | list[int]:
    """The first of consecutive places, or all of them where series on different clocks lie between each other."""
    return indices[0] if indices[-1] - indices[0] == len(indices) - 1 else indices


def _means(dump: AttentionDump) -> dict[str, Any]:
    """Means over all windows per head and step: the weights, and of each row entropy and effective steps."""
    weights: Any = 0
    entropy: Any = 0
    effective: Any = 0
    for _, block in dump.blocks():
        nats = statistics.entropy(block)
        weights = weights + np.nan_to_num(block).sum(axis=0, dtype=np.float64)
        entropy = entropy + nats.sum(axis=0)
        effective = effective + np.exp(nats).sum(axis=0)
    count = dump.num_windows
    return {
        "weights": encode_weights(weights / count),
        "entropy": encode(entropy / count),
        "effective": encode(effective / count),
    }


def _tiles(
    dump: AttentionDump, shown: AttentionDump, whole: NDArray[np.bool_], regimes: dict[str, Grouping]
) -> list[dict[str, Any]]:
    """Groups of windows to put side by side: of each its mean weights by lag, and the window to show for it."""
    all_groups = {by: group_windows(dump, by) for by in ("item", "head", *_kinds(dump))}
    groups = {by: grouping for by, grouping in (all_groups | regimes).items() if len(grouping.names) > 1}
    indices = indices_in(dump, shown)
    profiles = {by: np.zeros((len(grouping.names), dump.metadata.num_keys)) for by, grouping in groups.items()}
    for windows, block in dump.blocks() if groups else ():
        by_row = np.nan_to_num(block).mean(axis=2, dtype=np.float64)  # (windows, heads, keys)
        for by, grouping in groups.items():
            np.add.at(profiles[by], grouping.groups[windows], by_row)
    return [
        {
            "by": GROUPINGS.get(by, by),
            "kind": by,
            "names": grouping.names,
            "leftOut": grouping.left_out,
            "windows": _windows_of(grouping.groups[indices], len(grouping.names), whole),
            "profiles": encode_weights(profiles[by] / np.bincount(grouping.groups.ravel())[:, None]),
        }
        for by, grouping in groups.items()
    ]


def _windows_of(groups: NDArray[np.int64], count: int, whole: NDArray[np.bool_]) -> list[int]:
    """The first window shown of each group, a whole one if there is; -1 where none is."""
    members = [(groups == group).any(axis=1) for group in range(count)]
    return [int(np.argmax(each * (1 + whole))) if each.any() else -1 for each in members]
