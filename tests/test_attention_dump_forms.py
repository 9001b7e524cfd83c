"""Smaller forms of the attention file, its size told beforehand, and other formats: what is read is what was meant."""

import json

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forecast_attn.attention_file import (
    AttentionMetadata,
    AttentionWriter,
    DumpChoice,
    DumpSize,
    WindowCoordinates,
    estimate_size,
    read_attention,
    writer,
)
from forecast_attn.attention_file.attention_schema import METADATA_KEY
from forecast_attn.attention_file.size import WINDOWS_TO_ESTIMATE_SIZE, size_text
from forecast_attn.attention_file.writer import check_top, windows_per_group
from forecast_attn.errors import ConfigError
from forecast_attn.inspection.describe import inspect_attention

pytestmark = pytest.mark.slow

HOUR = np.timedelta64(1, "h")


def hourly_windows(weights):
    """The arguments of `write`: two series in turn, a window an hour."""
    count, _, horizon, lookback = weights.shape
    cutoffs = np.datetime64("2026-01-05T14", "ns") + np.arange(count) * HOUR
    return {
        "item_ids": [("north", "south")[window % 2] for window in range(count)],
        "cutoffs": cutoffs,
        "timestamps": cutoffs[:, None] + np.arange(1, horizon + 1) * HOUR,
        "lookback_starts": cutoffs - (lookback - 1) * HOUR,
        "weights": weights,
    }


def metadata_of(weights, **changes):
    _, heads, horizon, lookback = weights.shape
    names = {"mechanism": "multi-head", "order": "luong", "score": "multi-head", "normaliser": "softmax"}
    sizes = {"heads": heads, "lookback": lookback, "horizon": horizon, "frequency": "h", "season": 24}
    return AttentionMetadata(**{**names, "window": "global", **sizes, **changes})


@pytest.fixture
def write(tmp_path):
    """`write(weights, dtype=…, top=…)` writes them in batches of five windows and opens the file."""

    def make(weights, **form):
        path = tmp_path / "attention.parquet"
        windows = hourly_windows(weights)
        with AttentionWriter(path, metadata_of(weights, **form)) as file:
            for first in range(0, len(weights), 5):
                file.write(**{name: values[first : first + 5] for name, values in windows.items()})
        return read_attention(path)

    return make


def random_weights(*shape, seed=0, spread=2.0):
    weights = np.exp(np.random.default_rng(seed).normal(size=shape, scale=spread))
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


# --------------------------------------------------------------------------- half precision


def test_half_precision_keeps_three_digits_and_halves_the_file(write):
    weights = random_weights(40, 2, 6, 48)
    whole = write(weights).path.stat().st_size
    dump = write(weights, dtype="float16")
    assert dump.weights.dtype == np.float32
    assert np.array_equal(dump.weights, weights.astype(np.float16).astype(np.float32))
    assert dump.weights == pytest.approx(weights, rel=5e-4, abs=6e-5)
    assert dump.path.stat().st_size < 0.6 * whole
    assert inspect_attention(dump).warnings == []  # rounded sums are no damage


# --------------------------------------------------------------------------- the largest weights


shapes = st.tuples(st.integers(1, 6), st.integers(1, 3), st.integers(1, 4), st.integers(1, 9))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shape=shapes, seed=st.integers(0, 1000), data=st.data())
def test_the_largest_weights_are_kept_with_their_lags(write, shape, seed, data):
    top = data.draw(st.integers(1, shape[-1]))
    weights = random_weights(*shape, seed=seed)
    dump = write(weights, top=top)
    order = np.argsort(-weights, axis=-1)[..., :top]
    expected = np.zeros_like(weights)
    np.put_along_axis(expected, order, np.take_along_axis(weights, order, axis=-1), axis=-1)
    assert np.array_equal(dump.weights, expected)
    assert dump.remaining == pytest.approx(weights.sum(-1) - expected.sum(-1), abs=1e-6)
    raw = pd.read_parquet(dump.path)
    lags, largest = np.stack(raw["lags"]), np.stack(raw["weights"])
    assert lags.shape == largest.shape == (np.prod(shape[:3]), top)
    assert (np.diff(largest, axis=1) <= 0).all()  # largest first
    assert np.array_equal(lags.reshape(-1), shape[-1] - 1 - order.reshape(-1))


def test_of_equal_weights_the_more_recent_is_kept_first(write):
    raw = pd.read_parquet(write(np.full((1, 1, 1, 4), 0.25, np.float32), top=4).path)
    assert raw["lags"][0].tolist() == [0, 1, 2, 3]


def test_a_selection_of_a_sparse_file_has_its_own_remaining_mass(write, monkeypatch):
    monkeypatch.setattr(writer, "ROW_GROUP_BYTES", 0)
    weights = random_weights(12, 2, 3, 20)
    dump = write(weights, top=4).select(item="south", step=2, head=1)
    rows = np.sort(weights[1::2, 1:2, 1:2], axis=-1)[..., :-4].sum(-1)
    assert dump.remaining == pytest.approx(rows, abs=1e-6)


def test_a_sparse_file_says_so_and_bounds_the_entropy_from_below(write):
    weights = random_weights(12, 1, 3, 48)
    whole, sparse = inspect_attention(write(weights)), inspect_attention(write(weights, top=8))
    (warning,) = sparse.warnings
    left_out = np.sort(weights, axis=-1)[..., :-8].sum(-1).mean()
    assert warning.startswith(f"the file keeps the 8 largest weights of each row; {100 * left_out:.0f} % of the weight")
    for part, all_of_it in zip(sparse.steps, whole.steps, strict=True):
        assert part.entropy < all_of_it.entropy
        assert part.max_weight == pytest.approx(all_of_it.max_weight)


def test_rows_of_a_sparse_file_that_do_not_add_up_are_noticed(write):
    warnings = inspect_attention(write(0.5 * random_weights(4, 1, 2, 10), top=3)).warnings
    assert "100 % of the rows do not add up to 1" in warnings[0]


def test_the_long_form_of_a_sparse_file_has_only_what_it_keeps(write, tmp_path):
    dump = write(random_weights(4, 2, 3, 20), top=5)
    frame = dump.to_frame()
    assert len(frame) == 4 * 2 * 3 * 5
    dump.export_csv(tmp_path / "weights.csv")
    assert len(pd.read_csv(tmp_path / "weights.csv")) == len(frame)


def test_both_forms_go_together_and_say_what_they_are(write):
    weights = random_weights(4, 1, 3, 20)
    dump = write(weights, top=5, dtype="float16")
    about = json.loads(pq.read_schema(dump.path).metadata[METADATA_KEY])
    assert (about["format_version"], about["top"], about["dtype"]) == (2, 5, "float16")
    assert dump.weights[dump.weights > 0].size == 4 * 3 * 5
    assert dump.weights.max(-1) == pytest.approx(weights.max(-1), rel=1e-3)


def test_files_of_all_weights_in_single_precision_stay_of_format_1(write):
    about = json.loads(pq.read_schema(write(random_weights(2, 1, 1, 3)).path).metadata[METADATA_KEY])
    assert about["format_version"] == 1


def test_metadata_of_the_first_format_has_no_form(write):
    """Files written before there were forms: their metadata lacks these names."""
    dump = write(random_weights(2, 1, 1, 3))
    about = json.loads(pq.read_schema(dump.path).metadata[METADATA_KEY])
    old = {name: value for name, value in about.items() if name not in ("dtype", "top", "value_rank", "zone")}
    assert AttentionMetadata.from_json(json.dumps(old)) == dump.metadata


@pytest.mark.parametrize("form", [{"top": 0}, {"top": 4}, {"dtype": "float64"}])
def test_forms_that_cannot_be_are_refused(form):
    with pytest.raises(ValueError, match="weights"):
        metadata_of(np.zeros((1, 1, 1, 3)), **form)


# --------------------------------------------------------------------------- missing time steps


@pytest.fixture
def masked(tmp_path):
    """`masked(weights, observed, **form)`: a file of windows some of whose time steps are missing."""

    def make(weights, observed, **form):
        path = tmp_path / "masked.parquet"
        with AttentionWriter(path, metadata_of(weights, masked=True, **form)) as file:
            file.write(**hourly_windows(weights), observed=observed)
        return read_attention(path)

    return make


@pytest.fixture
def hidden():
    """Weights that are zero where `observed` is False."""
    observed = np.random.default_rng(1).random((8, 20)) < 0.7
    weights = random_weights(8, 2, 3, 20) * observed[:, None, None]
    return weights / weights.sum(-1, keepdims=True), observed


@pytest.mark.parametrize("form", [{}, {"top": 4}, {"dtype": "float16"}])
def test_missing_steps_are_counted_and_have_no_weight(masked, hidden, form):
    weights, observed = hidden
    dump = masked(weights, observed, **form)
    counts = np.broadcast_to(observed.sum(axis=1)[:, None, None], (8, 2, 3))
    assert np.array_equal(dump.observed_steps, counts)
    assert not dump.missing_weight.any()
    part = dump.select(item="south", step=2, head=1)
    assert np.array_equal(part.observed_steps, counts[1::2, 1:, 1:2])
    inspection = inspect_attention(dump)
    assert inspection.missing_steps == pytest.approx(20 - observed.sum(axis=1).mean())
    assert not [warning for warning in inspection.warnings if "missing" in warning]


def test_weight_on_missing_steps_is_said(masked, hidden):
    weights, observed = hidden
    weights = 0.9 * weights + 0.1 / 20
    expected = np.where(observed[:, None, None], 0, weights).sum(-1)
    dump = masked(weights.astype(np.float32), observed)
    assert dump.missing_weight == pytest.approx(expected, rel=1e-5)
    text = f"{100 * expected.mean():.0f} % of the weight lies on missing time steps, where it must be 0"
    assert any(warning.startswith(text) for warning in inspect_attention(dump).warnings)


def test_uniform_means_over_what_is_known(masked, hidden):
    """Equal weights on the known steps carry no information, and their entropy is all there can be."""
    _, observed = hidden
    weights = np.tile((observed / observed.sum(axis=1, keepdims=True))[:, None, None], (1, 1, 3, 1))
    inspection = inspect_attention(masked(weights.astype(np.float32), observed))
    assert inspection.reading.kind == "nothing"
    assert "the weights are nearly equal (entropy 1.00 of uniform" in inspection.reading.text
    assert [step.normalised_entropy for step in inspection.steps] == pytest.approx([1, 1, 1], abs=1e-5)


def test_a_window_of_which_nothing_is_known_is_no_damage(masked):
    """It has no weights at all: there is nothing to attend to."""
    weights, observed = random_weights(3, 1, 2, 6), np.ones((3, 6), bool)
    weights[1], observed[1] = 0, False
    assert not [text for text in inspect_attention(masked(weights, observed)).warnings if "add up" in text]


def test_masked_files_need_to_know_what_is_observed(tmp_path, hidden):
    weights, observed = hidden
    for masked, observed_given in ((True, None), (False, observed)):
        metadata = metadata_of(weights, masked=masked)
        with (
            pytest.raises(ValueError, match="which steps are observed"),
            AttentionWriter(tmp_path / "masked.parquet", metadata) as file,
        ):
            file.write(**hourly_windows(weights), observed=observed_given)


# --------------------------------------------------------------------------- what is written


@pytest.mark.parametrize(("windows", "expected"), [("all", range(10)), (3, [0, 4, 9]), ("10", range(10)), (1, [0])])
def test_windows_are_chosen_evenly(windows, expected):
    chosen = DumpChoice.of(windows).of_cutoffs(np.arange(10))
    assert chosen.tolist() == list(expected)


@given(st.integers(1, 500), st.integers(1, 500))
def test_never_more_windows_than_asked_for_and_each_once(count, windows):
    chosen = DumpChoice(windows=windows).of_cutoffs(np.arange(count))
    assert len(chosen) == len(set(chosen.tolist())) == min(count, windows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"windows": "some"}, "--attention-windows must be a number of windows, or all; got 'some'"),
        ({"windows": 0}, "--attention-windows must be a number"),
    ],
)
def test_choices_that_are_none_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        DumpChoice.of(**options)


def test_more_weights_than_the_lookback_has_are_refused():
    check_top(12, 12)
    with pytest.raises(ConfigError, match="--attention-top 13 keeps more weights than the 12 of the lookback"):
        check_top(13, 12)


# --------------------------------------------------------------------------- the size beforehand


def nearly_one_hot(*shape):
    weights = random_weights(*shape, spread=30)
    weights[weights < 1e-3] = 0
    return weights


@pytest.mark.parametrize(
    "form", [{}, {"dtype": "float16"}, {"top": 8}, {"top": 3, "dtype": "float16"}], ids=["all", "half", "top", "both"]
)
@pytest.mark.parametrize(
    "make",
    [random_weights, nearly_one_hot, lambda *shape: np.full(shape, 1 / shape[-1], np.float32)],
    ids=["softmax", "sparse", "uniform"],
)
def test_the_size_told_beforehand_is_right_within_15_per_cent(write, make, form):
    weights = make(900, 2, 12, 96)
    tried = DumpChoice(windows=WINDOWS_TO_ESTIMATE_SIZE).of_cutoffs(np.arange(len(weights)))
    metadata, windows = metadata_of(weights, **form), hourly_windows(weights)
    first = WindowCoordinates(*(windows[name][: windows_per_group(metadata)] for name in WindowCoordinates._fields))
    size = estimate_size(metadata, len(weights), first, weights[tried])
    real = write(weights, **form).path.stat().st_size
    assert size.windows == 900
    assert size.estimated_bytes == pytest.approx(real, rel=0.15)


def test_the_size_is_told_in_words():
    metadata = metadata_of(np.zeros((1, 4, 24, 168)))
    assert str(DumpSize(10_000, metadata, 600 * 2**20)) == (
        "10,000 windows × 4 heads × 24 steps × 168 lags, float32: about 600 MiB"
    )
    sparse = metadata_of(np.zeros((1, 1, 24, 168)), top=8, dtype="float16")
    assert str(DumpSize(1, sparse, 900)) == (
        "1 window × 24 steps × the 8 largest of 168 lags, float16: about 900 bytes"
    )
    assert size_text(3.2 * 2**40) == "3.2 TiB"
    assert (size_text(999), size_text(999.4 * 2**10), size_text(999.7 * 2**10)) == ("999 bytes", "999 KiB", "0.976 MiB")


# --------------------------------------------------------------------------- other formats


@pytest.mark.parametrize("form", [{}, {"dtype": "float16"}, {"top": 5}])
def test_npz_gives_back_the_weights_and_their_coordinates(write, tmp_path, monkeypatch, form):
    monkeypatch.setattr(writer, "ROW_GROUP_BYTES", 0)
    dump = write(random_weights(12, 2, 3, 20), **form).select(item="south", step=2)
    dump.export_npz(tmp_path / "weights.npz")
    with np.load(tmp_path / "weights.npz", allow_pickle=False) as arrays:
        assert arrays["weights"].dtype == np.float32
        assert np.array_equal(arrays["weights"], dump.weights)
        assert np.array_equal(arrays["timestamps"], dump.timestamps)
        assert arrays["steps"].tolist() == [2]
