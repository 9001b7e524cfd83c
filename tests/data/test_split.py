"""Where validation begins."""

from collections.abc import Callable
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forecast_attn.config.options import DataConfig
from forecast_attn.data.findings import Finding
from forecast_attn.data.panel import Panel
from forecast_attn.data.split import (
    Split,
    report_short_series,
    split_panel,
    training_cutoffs,
    validation_cutoffs,
)
from forecast_attn.data.window_sizes import choose_sizes
from forecast_attn.errors import DataError

AsPanel = Callable[..., Panel]


def daily(rows: int, first: str = "2024-01-01", name: str = "a") -> pd.DataFrame:
    return pd.DataFrame({"id": name, "date": pd.date_range(first, periods=rows), "y": np.arange(float(rows))})


@pytest.mark.parametrize(("validation", "steps"), [(0.2, 20), (0.25, 25), (30, 30), (1, 5), (0, 5), (0.01, 5)])
def test_share_or_steps_and_at_least_one_horizon(as_panel: AsPanel, validation: float, steps: int) -> None:
    panel = as_panel(daily(100))
    split = split_panel(panel, validation=validation, horizon=5, lookback=10)
    assert split.boundary == panel.timestamps[99 - steps]
    assert split.training_rows(panel).tolist() == [100 - steps]


def test_one_boundary_for_all_series(as_panel: AsPanel) -> None:
    panel = as_panel(pd.concat([daily(100), daily(90, "2024-01-11", "b"), daily(40, "2024-01-01", "c")]))
    split = split_panel(panel, validation=0.2, horizon=5, lookback=10)
    assert str(split.boundary)[:10] == "2024-03-20"
    assert split.training_rows(panel).tolist() == [80, 70, 40]
    assert split.skipped == ()


@pytest.mark.slow
@given(lengths=st.lists(st.integers(1, 20), min_size=1, max_size=6), day=st.integers(-3, 40), ends=st.integers(0, 20))
def test_training_rows_are_those_up_to_the_boundary(lengths: list[int], day: int, ends: int) -> None:
    days = np.concatenate([np.arange(length) + 2 * index for index, length in enumerate(lengths)])
    known = np.array([min(length, ends) for length in lengths])
    starts = np.cumsum([0, *lengths])
    panel = Mock(timestamps=days, starts=starts, num_known=known, ends=starts[:-1] + known, num_rows=len(days))
    expected = [int((days[start : start + rows] <= day).sum()) for start, rows in zip(starts, known, strict=False)]
    assert Split(np.int64(day)).training_rows(panel).tolist() == expected


def test_future_rows_are_no_part_of_the_span(as_panel: AsPanel) -> None:
    frame = daily(100).assign(price=1.0)
    frame.loc[90:, "y"] = np.nan
    panel = as_panel(frame)
    assert split_panel(panel, validation=10, horizon=5, lookback=10).boundary == panel.timestamps[79]


def test_short_series_among_long_ones_are_named(as_panel: AsPanel) -> None:
    panel = as_panel(pd.concat([daily(100), daily(25, "2024-03-16", "short"), daily(10, "2024-03-31", "new")]))
    split = split_panel(panel, validation=0.2, horizon=5, lookback=10)
    assert split.skipped == (("new", 0, 15), ("short", 5, 15))


def test_short_series_are_padded(as_panel: AsPanel) -> None:
    panel = as_panel(pd.concat([daily(100), daily(30, "2024-03-11", "b"), daily(25, "2024-03-16", "c")]))
    split = split_panel(panel, validation=0.2, horizon=5, lookback=10, short_series="pad")
    assert split.padded == (("b", 10, 15),)
    assert split.skipped == (("c", 5, 6),)  # one row and a horizon
    assert [repair.message for repair in split.repairs] == ["short series: padded, series 'b': 5 times"]
    assert split.short_series() == [
        {"item_id": "c", "rows": 5, "needed": 6, "action": "skip"},
        {"item_id": "b", "rows": 10, "needed": 15, "action": "pad"},
    ]


def test_padding_lets_a_table_of_short_series_train(as_panel: AsPanel) -> None:
    panel = as_panel(pd.concat([daily(20, name=name) for name in "ab"]))
    with pytest.raises(DataError, match="the longest series has 20 rows; lookback 28"):
        split_panel(panel, validation=4, horizon=4, lookback=28)
    split = split_panel(panel, validation=4, horizon=4, lookback=28, short_series="pad")
    assert [short.item_id for short in split.padded] == ["a", "b"]
    assert len(training_cutoffs(panel, split, 28, 4, pad=True)) == 24


def test_short_series_are_refused_in_one_sentence(as_panel: AsPanel) -> None:
    frames = [daily(100), *(daily(25 + at, "2024-03-16", f"short{at}") for at in range(7))]
    panel = as_panel(pd.concat(frames))
    with pytest.raises(DataError) as caught:
        split_panel(panel, validation=20, horizon=5, lookback=30, short_series="error")
    assert caught.value.message == (
        "7 series are too short: lookback 30 + horizon 5 need 35 training rows; "
        "'short0' has 11, 'short1' has 11, 'short2' has 11, and 4 more"
    )
    assert "--short-series pad" in str(caught.value.hint)
    assert caught.value.code == "FA407"


@pytest.mark.parametrize(
    ("short_series", "expected"),
    [
        ("skip", [("FA402", "warning", "b"), ("FA402", "warning", "c")]),
        ("pad", [("FA402", "warning", "c"), ("FA406", "note", "b")]),
    ],
)
def test_every_short_series_is_a_finding(
    as_panel: AsPanel, short_series: str, expected: list[tuple[str, str, str]]
) -> None:
    panel = as_panel(pd.concat([daily(100), daily(30, "2024-03-11", "b"), daily(25, "2024-03-16", "c")]))
    split = split_panel(panel, validation=0.2, horizon=5, lookback=10, short_series=short_series)
    findings: list[Finding] = []
    report_short_series(split, findings.append)
    assert [(each.code, each.severity, each.item_id) for each in findings] == expected
    needed = [each.message.rpartition(" ")[2] for each in findings]
    assert needed == (["15", "15"] if short_series == "skip" else ["6", "15"])


def test_a_series_without_a_value_in_training_is_skipped(as_panel: AsPanel) -> None:
    panel = as_panel(pd.concat([daily(100), daily(100, name="b")]))
    empty = replace(panel, target=np.where((panel.series_of_rows == 1) & (panel.target < 95), np.nan, panel.target))
    split = split_panel(empty, validation=0.2, horizon=5, lookback=10)
    assert split.skipped == (("b", 0, 15),)


def test_long_series_in_the_wrong_place(as_panel: AsPanel) -> None:
    panel = as_panel(pd.concat([daily(130), daily(100, "2025-01-01", "b")]))
    with pytest.raises(
        DataError, match=r"no series has values for a window of lookback 10 \+ horizon 5 before 2024-12-2"
    ):
        split_panel(panel, validation=110, horizon=5, lookback=10)


def test_padding_cannot_make_up_a_horizon(as_panel: AsPanel) -> None:
    with pytest.raises(DataError, match=r"has 12 rows; one row \+ horizon 7 \+ 7 for validation need 15") as caught:
        split_panel(as_panel(daily(12)), validation=0.2, horizon=7, lookback=28, short_series="pad")
    assert caught.value.hint == "--horizon 5"
    split_panel(as_panel(daily(12)), validation=0.2, horizon=5, lookback=28, short_series="pad")


@pytest.mark.slow
@pytest.mark.parametrize("rows", range(3, 60))
@pytest.mark.parametrize("validation", [0.2, 6])
def test_the_sizes_of_the_hint_fit(as_panel: AsPanel, rows: int, validation: float) -> None:
    panel = as_panel(daily(rows))
    try:
        split_panel(panel, validation=validation, horizon=7, lookback=28)
    except DataError as error:
        assert f"the longest series has {rows} rows; lookback 28 + horizon 7" in error.message
        assert error.hint is not None
        words = error.hint.split()
        if words[0] != "--lookback":
            assert rows < 9
            return
        lookback, horizon = int(words[1]), int(words[3])
        assert horizon <= 7
        assert lookback <= 28
        split = split_panel(panel, validation=validation, horizon=horizon, lookback=lookback)
        assert len(training_cutoffs(panel, split, lookback, horizon))
        assert len(validation_cutoffs(panel, split, lookback, horizon))
    else:
        assert rows >= 42


def test_months_and_steps_have_boundaries_too(as_panel: AsPanel) -> None:
    months = as_panel(pd.DataFrame({"date": pd.date_range("2020-01-31", periods=50, freq="ME"), "y": np.arange(50.0)}))
    assert str(split_panel(months, validation=10, horizon=3, lookback=6).boundary)[:10] == "2023-04-30"
    steps = as_panel(pd.DataFrame({"step": np.arange(0, 100, 2), "y": np.arange(50.0)}))
    assert split_panel(steps, validation=10, horizon=3, lookback=6).boundary == 78


@pytest.mark.slow
@pytest.mark.parametrize("rows", range(11, 60))  # of 10 rows, a horizon of 3 leaves a shorter lookback: refused
@pytest.mark.parametrize("given", [{}, {"horizon": 3}, {"lookback": 2}, {"short_series": "pad"}, {"validation": 3.0}])
def test_sizes_that_nobody_gave_fit_the_table(as_panel: AsPanel, rows: int, given: dict) -> None:
    panel, config = as_panel(daily(rows)), DataConfig(**given)
    lookback, horizon, finding = choose_sizes(panel, config)
    split = split_panel(
        panel,
        validation=config.validation,
        horizon=horizon,
        lookback=lookback,
        short_series=config.short_series,
    )
    pad = config.short_series == "pad"
    assert len(training_cutoffs(panel, split, lookback, horizon, pad=pad))
    assert len(validation_cutoffs(panel, split, lookback, horizon, pad=pad))
    assert horizon == config.horizon or horizon <= 7
    assert lookback == config.lookback or lookback <= 28
    sizes = (config.lookback or 28, config.horizon or 7)
    assert (finding is None) == ((lookback, horizon) == sizes)


def test_sizes_that_were_given_are_kept_and_few_rows_are_refused(as_panel: AsPanel) -> None:
    assert choose_sizes(as_panel(daily(20)), DataConfig(lookback=28, horizon=7)) == (28, 7, None)
    assert choose_sizes(as_panel(daily(9)), DataConfig()) == (28, 7, None)
    assert choose_sizes(as_panel(daily(20)), DataConfig(horizon=15)) == (28, 15, None)


def test_a_season_is_kept_in_the_lookback_where_it_can_be(as_panel: AsPanel) -> None:
    months = pd.DataFrame({"id": "a", "date": pd.date_range("2020-01-01", periods=36, freq="MS"), "y": 1.0})
    lookback, horizon, finding = choose_sizes(as_panel(months), DataConfig())
    assert lookback >= 12
    assert horizon < 12
    assert finding is not None
    assert finding.code == "FA408"
    assert "has 36 rows" in finding.message


def ragged() -> pd.DataFrame:
    """`new` begins in the last fifth of `old`; `tiny` has six rows."""
    spans = {"old": ("2023-01-01", 200), "new": ("2023-06-20", 30), "tiny": ("2023-03-01", 6)}
    parts = [
        pd.DataFrame({"id": name, "date": pd.date_range(start, periods=rows), "y": np.arange(rows) % 7.0})
        for name, (start, rows) in spans.items()
    ]
    return pd.concat(parts, ignore_index=True)


def test_auto_learns_from_every_series(as_panel: AsPanel) -> None:
    """Each series' own last fifth, at least a horizon, is cut off; the tiny one has room for one window."""
    panel = as_panel(ragged(), target="y", item_id="id")
    split = split_panel(panel, validation=0.2, horizon=5, lookback=10, short_series="auto")
    assert panel.item_ids == ("new", "old", "tiny")
    assert split.training_rows(panel).tolist() == [24, 160, 6]
    assert split.pads
    assert [short.item_id for short in split.padded] == ["tiny"]
    assert not split.skipped
    assert validation_cutoffs(panel, split, 10, 5, pad=True).tolist() == [23, 24, *range(30 + 159, 30 + 195)]
    trained = training_cutoffs(panel, split, 10, 5, pad=True)
    assert trained.max() == 230  # the first row of `tiny`
    assert (panel.timestamps[trained + 5] <= split.boundaries(panel)[panel.series_of(trained)]).all()


def test_auto_refuses_a_validation_that_no_series_has_room_for(as_panel: AsPanel) -> None:
    panel = as_panel(pd.concat([daily(90, name=name) for name in "ab"]))
    with pytest.raises(DataError, match=r"the longest series has 90 rows; one row \+ horizon 5 \+ \d+ for validation"):
        split_panel(panel, validation=200, horizon=5, lookback=10, short_series="auto")


def test_auto_pads_rather_than_validate_on_fewer_steps_than_given(as_panel: AsPanel) -> None:
    panel = as_panel(pd.concat([daily(90, name=name) for name in "ab"]))
    split = split_panel(panel, validation=80, horizon=5, lookback=10, short_series="auto")
    assert split.training_rows(panel).tolist() == [10, 10]
    assert split.rows_by_series is None
    assert split.pads


def test_auto_keeps_one_time_where_every_series_has_windows(as_panel: AsPanel) -> None:
    table = ragged()
    panel = as_panel(table[table["id"] == "old"].reset_index(drop=True), target="y", item_id="id")
    auto, skip = (
        split_panel(panel, validation=0.2, horizon=5, lookback=10, short_series=how) for how in ("auto", "skip")
    )
    assert auto == skip
    assert auto.rows_by_series is None
