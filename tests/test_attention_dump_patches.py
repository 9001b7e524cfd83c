"""The attention file of a network over patches: a key and a decoder step are several time steps."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forecast_attn.attention_file import AttentionMetadata, AttentionWriter, read_attention
from forecast_attn.attention_file.attention_schema import METADATA_KEY
from forecast_attn.errors import ConfigError

HOUR = np.timedelta64(1, "h")


def metadata_of(lookback, horizon, patch_length, **changes):
    names = {"mechanism": "luong-general", "order": "luong", "score": "general", "normaliser": "softmax"}
    sizes = {"heads": 2, "lookback": lookback, "horizon": horizon, "frequency": "h", "season": 24}
    return AttentionMetadata(**{**names, "window": "global", **sizes, "patch_length": patch_length, **changes})


def weights_for(metadata, windows=3):
    weights = np.exp(np.random.default_rng(0).normal(size=(windows, 2, metadata.num_steps, metadata.num_keys)))
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


def write(path, metadata, observed=None):
    weights = weights_for(metadata)
    cutoffs = np.array(["2026-01-05T23", "2026-01-06T23", "2026-01-07T23"], "datetime64[ns]")
    steps = np.arange(1, metadata.horizon + 1, metadata.patch_length)
    with AttentionWriter(path, metadata) as file:
        file.write(
            item_ids=["a", "b", "c"],
            cutoffs=cutoffs,
            timestamps=cutoffs[:, None] + steps * HOUR,
            lookback_starts=cutoffs - (metadata.lookback - 1) * HOUR,
            weights=weights,
            observed=observed,
        )
    return weights


@pytest.fixture
def path(tmp_path):
    return tmp_path / "attention.parquet"


def test_sizes_count_patches():
    metadata = metadata_of(168, 40, 24)
    assert (metadata.num_keys, metadata.num_steps, metadata.key_season, metadata.format_version) == (7, 2, 1, 3)
    assert [metadata.steps_of(step) for step in (1, 2)] == [(1, 24), (25, 40)]
    assert [metadata.lags_of(lag) for lag in (0, 6)] == [(0, 23), (144, 167)]
    assert metadata_of(168, 24, 6).key_season == 4
    assert metadata_of(160, 24, 10).key_season == 1  # a season of 2.4 patches is none


def test_single_steps_are_as_ever():
    metadata = metadata_of(5, 3, 1)
    assert (metadata.num_keys, metadata.num_steps, metadata.key_season, metadata.format_version) == (5, 3, 24, 1)
    assert "patch" not in json.dumps(json.loads(metadata.to_json())["conventions"])


def test_patches_must_make_up_the_lookback():
    with pytest.raises(ValueError, match="patches of 5 steps do not make up a lookback of 168"):
        metadata_of(168, 24, 5)


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    keys=st.integers(1, 5),
    patch_length=st.integers(2, 6),
    horizon=st.integers(1, 14),
    top=st.integers(1, 5) | st.none(),
)
def test_what_is_written_is_what_is_read(path, keys, patch_length, horizon, top):
    metadata = metadata_of(keys * patch_length, horizon, patch_length, top=None if top is None else min(top, keys))
    weights = write(path, metadata)
    dump = read_attention(path)
    assert dump.metadata == metadata
    if metadata.top in (None, keys):
        assert np.array_equal(dump.weights, weights)
    assert dump.weights.sum(-1) + dump.remaining == pytest.approx(1, abs=1e-5)
    assert dump.lags.tolist() == list(range(keys))[::-1]
    assert dump.steps.tolist() == list(range(1, -(-horizon // patch_length) + 1))
    for window, cutoff in enumerate(dump.window_cutoffs):
        # Every time step ahead lies in exactly one patch, every lag in exactly one key.
        ahead = zip(dump.timestamps[window], dump.last_timestamps[window], strict=True)
        hours = [hour for first, last in ahead for hour in np.arange(first, last + HOUR, HOUR)]
        assert hours == [cutoff + step * HOUR for step in range(1, horizon + 1)]
        starts = dump.lookback_timestamps(window)
        assert [int((cutoff - start) / HOUR) for start in starts] == [metadata.lags_of(lag)[1] for lag in dump.lags]


def test_a_row_says_which_steps_it_is_about(path):
    write(path, metadata_of(8, 7, 4))
    frame = pd.read_parquet(path)
    assert frame["step"].tolist()[:4] == [1, 5, 1, 5]
    assert frame["last_step"].tolist()[:4] == [4, 7, 4, 7]
    assert {len(row) for row in frame["weights"]} == {2}
    about = json.loads(pq.read_schema(path).metadata[METADATA_KEY])
    assert (about["format_version"], about["patch_length"], about["lookback"], about["horizon"]) == (3, 4, 8, 7)


def test_a_step_is_selected_by_any_time_step_of_its_patch(path):
    weights = write(path, metadata_of(8, 7, 4))
    dump = read_attention(path)
    for step, patch in ((1, 0), (4, 0), (5, 1), (7, 1)):
        chosen = dump.select(step=step)
        assert np.array_equal(chosen.weights, weights[:, :, patch : patch + 1])
        assert chosen.timestamps.shape == chosen.last_timestamps.shape == (3, 1)
    with pytest.raises(ConfigError) as error:
        dump.select(step=8)
    assert error.value.hint == "it has 1 to 7"


def test_exports_name_first_and_last_steps(path, tmp_path):
    weights = write(path, metadata_of(8, 7, 4))
    dump = read_attention(path)
    frame = dump.to_frame()
    assert list(frame)[2:5] == ["step", "last_step", "head"]
    row = frame.query("item_id == 'b' and head == 1 and step == 5 and lag == 1").squeeze()
    assert row["last_step"] == 7
    assert row["weight"] == weights[1, 1, 1, 0]
    assert str(row["timestamp"]) == "2026-01-07 04:00:00"
    assert str(row["lookback_timestamp"]) == "2026-01-06 16:00:00"
    dump.export_npz(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as arrays:
        assert (arrays["steps"].tolist(), arrays["last_steps"].tolist()) == ([1, 5], [4, 7])
        assert np.array_equal(arrays["weights"], weights)


def test_observed_steps_counts_patches_with_a_known_step(path):
    observed = np.array([[True, True], [False, True], [False, False]])
    write(path, metadata_of(8, 7, 4, masked=True), observed)
    dump = read_attention(path)
    assert dump.observed_steps[:, 0, 0].tolist() == [2, 1, 0]
    assert dump.missing_weight[2] == pytest.approx(1)
