"""What the page of `forecast inspect --html` draws, as one JSON document with its arrays in base64.

Arrays are little-endian float32, so that the weights on the page are the weights of the file, bit by bit. Times are
texts: the page computes with positions only, and shows times as they were written for the user.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_dump import AttentionDump
from forecast_attn.data.zones import Zone
from forecast_attn.inspection import statistics
from forecast_attn.inspection.distances import distance_span, has_time_distances, span_text
from forecast_attn.inspection.heatmap import tick_lags
from forecast_attn.inspection.time_steps import lookback_time_steps, target_steps, target_timestamps
from forecast_attn.inspection.window_values import WindowValues

PAGE_BYTES = 1_500_000
"""What the weights of the windows on a page may take unless more are asked for."""
MOST_WINDOWS = 64
BASE64 = 4 / 3


def default_windows(dump: AttentionDump) -> int:
    """How many windows keep the page near `PAGE_BYTES`; at least one."""
    per_window = len(dump.heads) * len(dump.steps) * dump.metadata.num_keys * 4 * BASE64
    return int(np.clip(PAGE_BYTES // per_window, 1, MOST_WINDOWS))


def sample_windows(dump: AttentionDump, count: int) -> AttentionDump:
    """At most `count` windows, evenly spread over series and cut-offs; in order of series, then cut-off."""
    places = {name: place for place, name in enumerate(dump.item_ids)}
    series = np.array([places[name] for name in dump.window_item_ids])
    order = np.lexsort((dump.window_cutoffs, series))
    chosen = np.unique(np.linspace(0, len(order) - 1, min(count, len(order))).round().astype(np.int64))
    return dump.take(order[chosen])


def page_document(dump: AttentionDump, shown: AttentionDump, values: WindowValues) -> dict[str, Any]:
    """Everything the page draws.

    Args:
        dump: the windows the means are taken over.
        shown: those among them that are drawn one by one.
        values: what these looked at and forecast.
    """
    sizes = dump.metadata
    times, windows = _windows(shown)
    return {
        **_patches(dump),
        "lookback": sizes.num_keys,
        "steps": dump.steps.tolist(),
        "heads": dump.heads.tolist(),
        "season": sizes.key_season,
        "windowsInFile": dump.num_windows,
        "distances": [distance_span(sizes.frequency, *sizes.lags_of(lag)) for lag in range(sizes.num_keys)]
        if has_time_distances(sizes.frequency)
        else None,
        "tickLags": tick_lags(sizes.num_keys, sizes.key_season, sizes.patch_length),
        "target": values.target,
        "items": shown.item_ids,
        "times": times,
        "windows": windows,
        "observed": shown.observed_steps.max(axis=(1, 2)).astype(int).tolist(),
        "weights": encode(shown.weights),
        "past": encode(values.past),
        "forecast": encode(_whole_patches(dump, values.forecast)),
        "actual": encode(_whole_patches(dump, values.actual)),
        "mean": _means(dump),
    }


def _patches(dump: AttentionDump) -> dict[str, Any]:
    """What the page must know of patches; nothing where a key is a time step.

    Lags and steps on the page count patches; the series and its times have all their time steps.
    """
    sizes = dump.metadata
    if sizes.patch_length == 1:
        return {}
    texts = [span_text(*sizes.steps_of(int(step))) for step in dump.steps]
    return {"patchLength": sizes.patch_length, "stepTexts": texts, "numTargets": len(target_steps(dump))}


def _whole_patches(dump: AttentionDump, ahead: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """(windows, steps × patch_length) values of the time steps ahead, NaN beyond the horizon."""
    missing = len(dump.steps) * dump.metadata.patch_length - ahead.shape[1]
    return np.pad(ahead, ((0, 0), (0, missing)), constant_values=np.nan)


def encode(values: NDArray[np.floating[Any]]) -> str:
    """Little-endian float32 in base64."""
    return base64.b64encode(np.ascontiguousarray(values, "<f4").tobytes()).decode("ascii")


def script_json(document: Any) -> str:
    """JSON that can stand inside a <script> element: nothing in it closes the element or opens a comment."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _windows(shown: AttentionDump) -> tuple[list[str], list[dict[str, Any]]]:
    """Every time once, as text, and per window its series, its cut-off and where its times stand among them."""
    stamps = np.concatenate([lookback_time_steps(shown), target_timestamps(shown)], axis=1)
    known, places = np.unique(stamps, return_inverse=True)
    items = {name: place for place, name in enumerate(shown.item_ids)}
    windows = [
        {"item": items[name], "times": _run_or_list(row.tolist())}
        for name, row in zip(shown.window_item_ids, places.reshape(stamps.shape), strict=True)
    ]
    return _time_texts(known, shown.metadata.zone), windows


def _time_texts(stamps: NDArray[Any], zone: str | None) -> list[str]:
    """Axis times on the user's clock, all as fine as the finest of them needs."""
    texts = list(Zone(zone, "local" if zone is None else "utc").text(stamps))
    seconds = re.compile(r"(?<=\d\d:\d\d):00(?![.\d])")
    return [seconds.sub("", text) for text in texts] if all(map(seconds.search, texts)) else texts


def _run_or_list(places: list[int]) -> int | list[int]:
    """The first of consecutive places, or all of them where series on different clocks lie between each other."""
    return places[0] if places[-1] - places[0] == len(places) - 1 else places


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
        "weights": encode(weights / count),
        "entropy": encode(entropy / count),
        "effective": encode(effective / count),
    }
