"""Attention files as `forecast predict` writes them, with weights that look like a trained network's."""

import io

import numpy as np
import pytest
from rich.console import Console

from forecast_attn.attention_file import AttentionMetadata, AttentionWriter, read_attention
from forecast_attn.data.frequency import parse_frequency
from forecast_attn.inspection.terminal import render


def seasonal_weights(rng, horizon, lookback, season):
    """Rows that look at whole seasons before the target, at the recent past in the first steps, and at some noise."""
    lag, step = np.arange(lookback)[::-1], np.arange(1, horizon + 1)[:, None]
    scores = 2.5 * np.cos(2 * np.pi * (lag + step) / season) - 0.75 * (lag + step) / lookback
    scores += 3 * np.exp(-lag / 2) * np.exp(-step / 6) + rng.normal(scale=0.4, size=(horizon, lookback))
    weights = np.exp(scores)
    return weights / weights.sum(-1, keepdims=True)


@pytest.fixture
def make_dump(tmp_path):
    """Build an attention file: `make_dump(weights, frequency=…)` or `make_dump(horizon=…, lookback=…, windows=…)`.

    With `patch_length` the weights are (windows, heads, patches of the horizon, patches of the lookback); `horizon`
    may end within the last patch.
    """

    def make(
        weights=None,
        *,
        windows=3,
        heads=1,
        horizon=24,
        lookback=168,
        season=24,
        frequency="h",
        start="2026-01-05T14",
        items=("city",),
        patch_length=1,
        **metadata,
    ):
        if weights is None:
            rng = np.random.default_rng(0)
            rows = [
                seasonal_weights(rng, horizon, lookback, max(season, 2)) for _ in range(windows * len(items) * heads)
            ]
            weights = np.reshape(rows, (-1, heads, horizon, lookback))
        weights = np.asarray(weights, np.float32)
        count, heads, num_steps, num_keys = weights.shape
        if patch_length == 1 or -(-horizon // patch_length) != num_steps:
            horizon = num_steps * patch_length
        lookback = num_keys * patch_length
        step = parse_frequency(frequency)
        first = np.int64(start) if step.is_integer else np.datetime64(start, "ns")
        times = np.concatenate([[first], step.stamps_after(first, count // len(items) - 1)]).astype(
            np.asarray(first).dtype
        )
        cutoffs = np.repeat(times, len(items))[:count]
        names = {"mechanism": "luong-general", "order": "luong", "score": "general", "normaliser": "softmax"}
        sizes = {"heads": heads, "lookback": lookback, "horizon": horizon, "frequency": frequency, "season": season}
        sizes["patch_length"] = patch_length
        path = tmp_path / "attention.parquet"
        with AttentionWriter(path, AttentionMetadata(**{**names, **sizes, "window": "global", **metadata})) as file:
            file.write(
                item_ids=list(items) * (count // len(items)),
                cutoffs=cutoffs,
                timestamps=np.stack(
                    [step.shift(cutoffs, ahead) for ahead in range(1, horizon + 1, patch_length)], axis=1
                ),
                lookback_starts=step.shift(cutoffs, 1 - lookback),
                weights=weights,
            )
        return read_attention(path)

    return make


@pytest.fixture
def one_hot():
    """`one_hot(lags, lookback)`: rows with all weight on a lag, shape of lags + (lookback,)."""

    def make(lags, lookback):
        return np.eye(lookback)[lookback - 1 - np.asarray(lags)]

    return make


@pytest.fixture
def page():
    """`page(inspection, width)`: the text of the terminal's page."""

    def make(inspection, width=100, **console):
        stream = io.StringIO()
        render(inspection, Console(file=stream, width=width, **console))
        return stream.getvalue()

    return make
