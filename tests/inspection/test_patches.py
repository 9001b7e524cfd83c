"""Attention over patches: statistics in patches, and what is said of them in the time steps that people count."""

import io
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from forecast_attn.errors import DataError
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.differences import compare_attention
from forecast_attn.inspection.grouping import GROUPINGS
from forecast_attn.inspection.heatmap import draw_heatmap
from forecast_attn.inspection.html_report import make_page
from forecast_attn.inspection.interpretation import Evidence
from forecast_attn.inspection.page_data import PageWindows, page_document
from forecast_attn.inspection.series_lines import SeriesLines
from forecast_attn.inspection.statistics import (
    distance_span,
    lookback_time_steps,
    span_text,
    target_steps,
    target_timestamps,
    time_span,
)
from forecast_attn.inspection.terminal import render
from forecast_attn.inspection.window_values import WindowValues

LENGTH, KEYS, HORIZON = 8, 6, 20  # three patches of the horizon, the last of four steps


@pytest.fixture
def patched(make_dump):
    """Weights that lie, for decoder step d (from 0), on key lag 3 - d: 32 hours before what is forecast."""

    def make(windows=3, **options):
        rows = np.full((windows, 1, 3, KEYS), 0.02)
        for step in range(3):
            rows[:, :, step, KEYS - 1 - (3 - step)] = 0.9
        return make_dump(rows, patch_length=LENGTH, horizon=HORIZON, start="2026-01-05T23", **options)

    return make


def of_hours(rows):
    """The same weights as a dump of time steps would have them: each patch's in equal parts, for each of its steps."""
    spread = np.repeat(rows, LENGTH, axis=-1) / LENGTH
    return np.repeat(spread, LENGTH, axis=-2)[..., :HORIZON, :]


def test_a_patch_is_named_by_the_time_steps_it_covers(patched):
    inspection = inspect_attention(patched(), top=1)
    assert [step.step_text for step in inspection.steps] == ["1–8", "9–16", "17–20"]
    assert [step.top[0].lag_text for step in inspection.steps] == ["24–31", "16–23", "8–15"]
    assert [step.top[0].distance for step in inspection.steps] == ["1d … 1d 7h", "16h … 23h", "8h … 15h"]
    assert inspection.target_steps == list(range(1, HORIZON + 1))


def test_of_one_window_the_times_are_said_from_when_to_when(patched):
    first = inspect_attention(patched(windows=1)).steps[0]
    assert first.time_text == "2026-01-06 00:00 … 07:00"
    assert first.top[0].time_text == "2026-01-04 16:00 … 23:00"


def test_statistics_are_those_of_the_same_weights_over_time_steps(patched, make_dump):
    dump = patched()
    rows, patches = dump.weights, inspect_attention(dump)
    hours = inspect_attention(make_dump(of_hours(rows), season=24))
    for step in patches.steps:
        hour = hours.steps[step.step - 1]
        assert step.effective_steps * LENGTH == pytest.approx(hour.effective_steps, rel=1e-5)
        assert step.max_weight / LENGTH == pytest.approx(hour.max_weight)
        assert patches.header.lag_in_steps(step.centroid_lag) == pytest.approx(hour.centroid_lag, rel=1e-5)
    assert patches.profile == pytest.approx(rows.mean((0, 1, 2)))


def test_the_mean_lag_is_in_the_steps_of_the_table_above_it(patched, make_dump):
    dump = patched()
    patches, hours = inspect_attention(dump), inspect_attention(make_dump(of_hours(dump.weights), season=24))
    console = Console(width=100, record=True, file=io.StringIO())
    render(patches, console)
    shown = re.search(r"mean lag ([\d.]+) steps before the cut-off", " ".join(console.export_text().split()))
    assert shown is not None
    mean = np.mean([hours.steps[step.step - 1].centroid_lag for step in patches.steps])
    assert float(shown[1]) == pytest.approx(mean, abs=0.06)


@pytest.mark.parametrize(("season", "seen"), [(24, True), (8, False), (12, False), (1, False)])
def test_seasons_count_where_they_are_several_patches(patched, season, seen):
    inspection = inspect_attention(patched(season=season))
    assert (inspection.uniform_season_mass is not None) is seen
    if seen:  # decoder step d (from 1) looks d + 3 - (d - 1) = 4 patches back, a day is 3
        assert [step.target_season_mass for step in inspection.steps] == pytest.approx([0.02 * n for n in (2, 2, 2)])


def test_the_document_says_both_patches_and_time_steps(patched):
    document = json.loads(json.dumps(inspect_attention(patched(windows=1)).to_dict(), allow_nan=False))
    assert document["header"]["patch_length"] == LENGTH
    assert document["header"]["lookback"] == KEYS * LENGTH == len(document["lookback_timestamps"])
    assert len(document["profile"]) == KEYS
    last = document["steps"][-1]
    assert (last["step"], last["last_step"], last["timestamp"]) == (17, 20, "2026-01-06 16:00")
    assert last["last_timestamp"] == "2026-01-06 19:00"
    top = last["top"][0]
    assert (top["lag"], top["first_lag"], top["last_lag"]) == (1, 8, 15)


def test_the_document_of_time_steps_says_nothing_of_patches(make_dump):
    text = json.dumps(inspect_attention(make_dump(windows=1)).to_dict())
    assert not [name for name in ("patch", "first_lag", "last_lag", "last_step", "last_timestamp") if name in text]


def test_the_terminal_counts_time_steps_and_names_patches(patched, page):
    text = page(inspect_attention(patched(), evidence=Evidence(needed=True, rise=0.4, windows=9)), width=200)
    assert "lookback 48 (2d) in 6 patches of 8 time steps, horizon 20" in text
    for label in ("40–47", "32–39", "24–31", "16–23", "8–15", "0–7", " 17–20 ", "24–31:90%"):
        assert label in text
    assert "it looks mostly at values 32 hours before the time it forecasts (90 % of the weight" in text
    assert "effective patches of 6" in text
    assert "on patches whole seasons before the target" in text


@pytest.mark.parametrize("by", GROUPINGS)
def test_groups_name_patches_too(patched, page, by):
    assert "24–31:" in page(inspect_attention(patched(windows=30), by=by))


def test_a_patch_that_gets_everything_is_said_to_be_one(make_dump, one_hot):
    dump = make_dump(np.tile(one_hot([1], 4), (2, 1, 1, 1)), patch_length=6, value_rank=2)
    first, *_, last = inspect_attention(dump).warnings
    assert "over 99 % of the weight lies on a single patch of 6 time steps" in first
    assert last.startswith("not identifiable: the 4 patches weigh states of rank 2")


def test_files_of_other_patches_are_not_compared(patched, make_dump, tmp_path):
    first = patched()
    path = tmp_path / "patches.parquet"
    first.path.rename(path)
    second = make_dump(horizon=20, lookback=48)
    with pytest.raises(DataError, match=r"a patch of 8 time steps, one of .* that of a time step") as error:
        compare_attention(first, second, names=("a", "b"))
    assert "--patch-length" in str(error.value.hint)


def test_a_file_of_patches_compares_with_itself(patched):
    comparison = compare_attention(patched(), patched(), names=("a", "b"))
    assert comparison.matched_windows == 3
    assert [step.step for step in comparison.steps] == [1, 9, 17]
    assert comparison.distance == pytest.approx(0, abs=1e-6)


def test_the_time_steps_of_patches(patched):
    dump = patched()
    assert target_steps(dump).tolist() == list(range(1, 21))
    assert target_steps(dump.select(step=18)).tolist() == [17, 18, 19, 20]
    hours = np.timedelta64(1, "h") * np.arange(-47, 21)
    expected = dump.window_cutoffs[:, None] + hours
    assert (np.concatenate([lookback_time_steps(dump), target_timestamps(dump)], axis=1) == expected).all()


# --------------------------------------------------------------------------- pictures


def values_of(dump):
    rng = np.random.default_rng(0)
    past, ahead = rng.normal(size=(dump.num_windows, 48)), rng.normal(size=(dump.num_windows, len(target_steps(dump))))
    return WindowValues(past, ahead, ahead + 0.1, [], "load")


def test_a_picture_is_in_time_steps(patched):
    inspection, values = inspect_attention(patched()), values_of(patched())
    figure = draw_heatmap(inspection, SeriesLines(values.past[0], values.forecast[0], values.actual[0], "load"))
    axes = {each.get_label(): each for each in figure.axes}
    image = axes["weights"].images[0]
    assert image.get_extent() == [47.5, -0.5, 24.5, 0.5]  # three whole patches, of which the last reaches beyond
    assert axes["weights"].get_ylim() == (20.5, 0.5)  # the horizon
    bars = axes["profile"].patches
    assert [bar.get_x() + bar.get_width() / 2 for bar in bars] == pytest.approx([43.5, 35.5, 27.5, 19.5, 11.5, 3.5])
    assert [tick.get_text() for tick in axes["weights"].get_yticklabels()] == ["1–8", "9–16", "17–20"]
    assert len(axes["series"].lines[0].get_xdata()) == 48
    assert axes["forecast"].lines[0].get_xdata().tolist() == list(range(1, 21))


def test_the_page_has_the_weights_of_patches_and_the_series_of_time_steps(patched):
    dump = patched()
    document = page_document(dump, PageWindows.all_of(dump), values_of(dump))
    assert (document["lookback"], document["patchLength"], document["numTargets"]) == (KEYS, LENGTH, HORIZON)
    assert document["stepTexts"] == ["1–8", "9–16", "17–20"]
    assert document["distances"][3] == "1d … 1d 7h"
    assert document["windows"][0]["times"] == 0
    assert (document["times"][0], document["times"][48]) == ("2026-01-04 00:00", "2026-01-06 00:00")
    assert "48 in 6 patches of 8 time steps" in make_page(dump, PageWindows.all_of(dump), values_of(dump))


def test_a_page_of_time_steps_says_nothing_of_patches(make_dump):
    dump = make_dump(windows=1)
    document = page_document(dump, PageWindows.all_of(dump), WindowValues.unknown(dump))
    assert not {"patchLength", "stepTexts", "numTargets"} & set(document)


# --------------------------------------------------------------------------- words


def test_words_for_a_single_step():
    assert (span_text(7, 7), span_text(0, 23)) == ("7", "0–23")
    assert distance_span("h", 30, 30) == "1d 6h"
    assert distance_span("B", 5, 9) == "5–9 steps"


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        ("2026-01-05", "2026-01-05 23:00", "2026-01-05 00:00 … 23:00"),
        ("2026-01-05 12:00", "2026-01-06", "2026-01-05 12:00 … 2026-01-06 00:00"),
        ("2026-01-05", "2026-01-11", "2026-01-05 … 2026-01-11"),
        ("2026-01-05 12:00", "2026-01-05 12:00", "2026-01-05 12:00"),
        ("17", "24", "17 … 24"),
    ],
)
def test_from_when_to_when(first, last, text):
    assert time_span(first, last) == text


@pytest.mark.slow
@given(length=st.integers(2, 30), keys=st.integers(1, 12), horizon=st.integers(1, 60), step=st.integers(1, 60))
def test_every_time_step_belongs_to_one_patch(length, keys, horizon, step):
    from forecast_attn.attention_file import AttentionMetadata

    names = {"mechanism": "m", "order": "luong", "score": "general", "normaliser": "softmax", "window": "global"}
    sizes = AttentionMetadata(
        **names, heads=1, lookback=keys * length, horizon=horizon, frequency="h", season=24, patch_length=length
    )
    lags = [lag for key in range(sizes.num_keys) for lag in range(sizes.lags_of(key)[0], sizes.lags_of(key)[1] + 1)]
    assert lags == list(range(sizes.lookback))
    spans = [sizes.steps_of(each) for each in range(1, sizes.num_steps + 1)]
    assert [at for first, last in spans for at in range(first, last + 1)] == list(range(1, horizon + 1))
