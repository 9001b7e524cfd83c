"""Groups of windows: their numbers are those of the selected windows alone."""

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from scipy.spatial.distance import jensenshannon

from forecast_attn.attention_file import AttentionWriter, read_attention
from forecast_attn.errors import ConfigError
from forecast_attn.inspection.describe import inspect_attention


@pytest.fixture
def dump(make_dump, monkeypatch):
    monkeypatch.setattr("forecast_attn.attention_file.writer.ROW_GROUP_BYTES", 0)
    return make_dump(windows=30, items=("a", "b"), heads=2, horizon=3, lookback=48)


def expected_groups(dump, by):
    """Which windows belong to which group, by pandas."""
    stamps = pd.DatetimeIndex(dump.window_cutoffs)
    labels = {"item": list(dump.window_item_ids), "hour": stamps.strftime("%H:00"), "weekday": stamps.day_name()}[by]
    return {label: np.flatnonzero(np.asarray(labels) == label) for label in set(labels)}


@pytest.mark.parametrize("by", ["item", "hour", "weekday"])
def test_a_group_is_described_as_its_windows_alone_would_be(dump, by):
    inspection = inspect_attention(dump, by=by, top=2)
    groups = {group.name: group for group in inspection.groups}
    expected = expected_groups(dump, by)
    assert set(groups) == set(expected)
    for name, windows in expected.items():
        group, weights = groups[name], dump.weights[windows].astype(float)
        alone = inspect_attention(dump.take(windows), top=2)
        assert group.num_windows == len(windows)
        assert group.profile == pytest.approx(weights.mean(axis=(0, 1, 2)), abs=1e-7)
        assert group.entropy == pytest.approx(scipy.stats.entropy(weights, axis=-1).mean(), abs=1e-5)
        for number in ("effective_steps", "max_weight", "centroid_lag", "target_season_mass", "normalised_entropy"):
            assert getattr(group, number) == pytest.approx(alone.mean(number), rel=1e-5)
        assert [entry.lag for entry in group.top] == [entry.lag for entry in alone.top]
        distance = jensenshannon(weights.mean(axis=(0, 1, 2)), dump.weights.astype(float).mean(axis=(0, 1, 2)), base=2)
        assert group.distance == pytest.approx(distance, abs=1e-6)


def test_heads_are_groups_too(dump):
    inspection = inspect_attention(dump, by="head")
    assert [(group.name, group.num_windows) for group in inspection.groups] == [("head 0", 60), ("head 1", 60)]
    for head, group in enumerate(inspection.groups):
        assert group.profile == pytest.approx(dump.weights[:, head].mean(axis=(0, 1), dtype=float), abs=1e-7)
        assert group.effective_steps == pytest.approx(inspect_attention(dump.select(head=head)).mean("effective_steps"))


def test_hours_and_weekdays_stand_in_the_order_of_the_clock(dump):
    hours = [group.name for group in inspect_attention(dump, by="hour").groups]
    assert hours == sorted(hours)
    days = [group.name for group in inspect_attention(dump, by="weekday").groups]
    assert days == ["Monday", "Tuesday"]  # the windows begin on Monday, 5 January 2026, at 14:00


def test_hours_are_those_of_the_files_zone(tmp_path, make_dump):
    plain = make_dump(windows=3, horizon=2, lookback=4)
    metadata = type(plain.metadata)(**{**vars(plain.metadata), "zone": "Europe/Berlin"})
    with AttentionWriter(tmp_path / "zoned.parquet", metadata) as file:
        file.write(
            item_ids=plain.window_item_ids,
            cutoffs=plain.window_cutoffs,
            timestamps=plain.timestamps,
            lookback_starts=plain.lookback_starts,
            weights=plain.weights,
        )
    zoned = read_attention(tmp_path / "zoned.parquet")
    names = [group.name for group in inspect_attention(zoned, by="hour").groups]
    assert names == ["15:00", "16:00", "17:00"]  # 14:00 UTC in winter


def test_hours_and_weekdays_without_a_window_are_named(make_dump, page):
    inspection = inspect_attention(make_dump(windows=3, horizon=2, lookback=24), by="hour")
    words = "no window has its cut-off at 00:00 to 13:00, 17:00 to 23:00"
    assert inspection.left_out == inspection.to_dict()["left_out"] == words
    assert words in page(inspection, 100)
    days = inspect_attention(make_dump(windows=50, horizon=2, lookback=24), by="weekday")
    assert days.left_out == "no window has its cut-off on Thursday to Sunday"
    all_hours = inspect_attention(make_dump(windows=24, horizon=2, lookback=24), by="hour")
    assert (
        all_hours.left_out == inspect_attention(make_dump(windows=3, horizon=2, lookback=24), by="item").left_out == ""
    )


def test_whole_numbers_have_no_hours(make_dump):
    dump = make_dump(horizon=2, lookback=5, season=1, frequency="1", start="100")
    with pytest.raises(ConfigError, match=r"--by hour: the times of .* are whole numbers"):
        inspect_attention(dump, by="hour")
    assert len(inspect_attention(dump, by="item").groups) == 1


def test_other_groupings_are_refused(dump):
    with pytest.raises(ConfigError, match="--by has no value 'hours'"):
        inspect_attention(dump, by="hours")


def test_the_page_lists_the_groups(dump, page):
    text = page(inspect_attention(dump, by="item"), 100)
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("series "))
    assert [line.split()[:2] for line in lines[start + 1 : start + 3]] == [["a", "30"], ["b", "30"]]


@pytest.mark.parametrize("width", [50, 60, 80, 120])
@pytest.mark.parametrize("by", ["item", "hour"])
@pytest.mark.slow
def test_the_groups_fit_any_width_and_lose_no_number(dump, page, width, by):
    inspection = inspect_attention(dump, by=by)
    text = page(inspection, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for group in inspection.groups:
        assert all(f"{entry.lag}:" in text for entry in group.top)


def test_of_very_many_groups_the_most_unlike_are_listed(make_dump, page):
    items = tuple(f"series {number}" for number in range(40))
    inspection = inspect_attention(make_dump(windows=1, items=items, horizon=2, lookback=24), by="item")
    text = page(inspection, 100)
    assert "the 31 of 40 most unlike the mean" in text
    listed = [name for name in items if f"{name} " in text]
    unlike = sorted(inspection.groups, key=lambda group: -group.distance)[:31]
    assert set(listed) == {group.name for group in unlike}
