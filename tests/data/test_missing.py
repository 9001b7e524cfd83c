"""Missing values by policy, against pandas series by series; nothing crosses a series, nothing later is trained on."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forecast_attn.config.options import DataConfig
from forecast_attn.data.cells import Cells, parse_cells
from forecast_attn.data.cleaning import fill_missing, sees_later_values, without_later_values
from forecast_attn.data.findings import Repair, stop_at_errors
from forecast_attn.data.panel import Panel
from forecast_attn.data.roles import Roles, resolve_roles
from forecast_attn.errors import DataError
from forecast_attn.training.preparation import prepare

AsPanel = Callable[..., Panel]
POLICIES = ("mask", "ffill", "interpolate", "zero")
nan = np.nan


def parsed(frame: pd.DataFrame, **options: object) -> tuple[Cells, Roles]:
    roles = resolve_roles(frame, DataConfig(**options), "table")  # type: ignore[arg-type]
    return parse_cells(frame, roles, stop_at_errors, "table"), roles


def hours(target: list[float], freq: str = "h", **columns: object) -> pd.DataFrame:
    stamps = pd.date_range("2024-01-01", periods=len(target), freq=freq)
    return pd.DataFrame({"time": stamps, "y": target}).assign(**columns)


# --------------------------------------------------------------------------- values

VALUES = st.lists(st.floats(-1e3, 1e3, width=32) | st.just(nan), min_size=3, max_size=12)


def reference(values: pd.Series, policy: str) -> pd.Series:
    """What pandas makes of one series, up to its last known value."""
    known = values.loc[: values.last_valid_index()] if values.notna().any() else values.iloc[:0]
    filled = {
        "mask": known,
        "zero": known.fillna(0.0),
        "ffill": known.ffill(),
        "interpolate": known.interpolate("index", limit_area="inside"),
    }[policy]
    return filled.reindex(values.index)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(VALUES, min_size=1, max_size=4), st.sampled_from(POLICIES), st.sampled_from(["h", "MS"]))
def test_targets_are_filled_as_pandas_fills_each_series(series: list[list[float]], policy: str, freq: str) -> None:
    frame = pd.concat([hours(values, freq, item_id=f"s{at}") for at, values in enumerate(series)])
    cells, roles = parsed(frame, target="y")
    filled, _ = fill_missing(cells, roles, policy)
    for index, name in enumerate(filled.item_ids):
        rows = slice(filled.starts[index], filled.starts[index + 1])
        one = frame[frame["item_id"] == name].set_index(frame.loc[frame["item_id"] == name, "time"].astype("int64"))
        np.testing.assert_allclose(filled.columns["y"][rows], reference(one["y"], policy), rtol=1e-6, atol=1e-6)


def test_interpolation_is_linear_in_time_and_not_in_rows() -> None:
    cells, roles = parsed(hours([0, nan, nan, 91], "MS"))
    filled, _ = fill_missing(cells, roles, "interpolate")
    assert filled.columns["y"].tolist() == [0, 31, 60, 91]  # 2024-01 has 31 days, 2024-02 has 29


@pytest.mark.parametrize(
    ("policy", "past"),
    [
        ("mask", [nan, 1, nan, 3, nan, 9]),
        ("ffill", [nan, 1, 1, 3, 3, 9]),
        ("interpolate", [nan, 1, 2, 3, nan, 9]),
        ("zero", [0, 1, 0, 3, 0, 9]),
    ],
)
def test_covariates_are_filled_up_to_the_last_target(policy: str, past: list[float]) -> None:
    frame = hours([5, 5, 5, 5, 5, nan], x=[nan, 1, nan, 3, nan, 9])
    cells, roles = parsed(frame, past_covariates=("x",))
    filled, cells_filled = fill_missing(cells, roles, policy)
    np.testing.assert_array_equal(filled.columns["x"], past)
    assert np.isnan(filled.columns["y"][5])
    assert (
        cells_filled.rows.get("x", np.array([])).tolist()
        == {
            "mask": [],
            "ffill": [2, 4],
            "interpolate": [2],
            "zero": [0, 2, 4],
        }[policy]
    )


@pytest.mark.parametrize(
    ("policy", "codes"),
    [("mask", [-1, 0, -1, 1]), ("zero", [-1, 0, -1, 1]), ("ffill", [-1, 0, 0, 1]), ("interpolate", [-1, 0, 0, 1])],
)
def test_categories_repeat_or_stay_unknown(policy: str, codes: list[int]) -> None:
    frame = hours([1, 2, 3, 4], kind=[None, "a", None, "b"])
    cells, roles = parsed(frame, categorical=("kind",), past_covariates=("kind",))
    repairs: list[Repair] = []
    result, filled = fill_missing(cells, roles, policy, repairs)
    assert result.category_codes["kind"].tolist() == codes
    assert "kind" not in filled.rows  # what is carried forward depends on nothing later
    carries = policy in ("ffill", "interpolate")
    assert repairs[-1].kind == ("missing: ffill" if carries else "missing: unknown category")
    assert repairs[-1].count == (1 if carries else 2)


def test_repairs_count_every_series_and_column() -> None:
    frames = [
        hours([1, nan, nan, 4], item_id="a", x=[1, nan, 3, 4]),
        hours([1, 2, 3, 4], item_id="b", x=[1, 2, nan, 4]),
    ]
    cells, roles = parsed(pd.concat(frames), target="y")
    repairs: list[Repair] = []
    fill_missing(cells, roles, "interpolate", repairs)
    assert repairs == [
        Repair("missing: interpolate", "a", "y", 2, "2024-01-01 01:00"),
        Repair("missing: interpolate", "a", "x", 1, "2024-01-01 01:00"),
        Repair("missing: interpolate", "b", "x", 1, "2024-01-01 02:00"),
    ]
    masked: list[Repair] = []
    fill_missing(cells, roles, "mask", masked)
    assert [(repair.item_id, repair.column, repair.count) for repair in masked] == [
        (repair.item_id, repair.column, repair.count) for repair in repairs
    ]
    assert {repair.kind for repair in masked} == {"missing: masked"}


def test_error_changes_nothing_and_says_nothing() -> None:
    cells, roles = parsed(hours([1, nan, 3]))
    repairs: list[Repair] = []
    assert fill_missing(cells, roles, "error", repairs)[0] is cells
    assert repairs == []


@pytest.mark.parametrize(
    ("policy", "x", "row", "hint"),
    [
        ("ffill", [nan, 2, 3, 4], 1, "no value before it"),
        ("interpolate", [nan, 2, 3, 4], 1, "no value on both sides"),
        ("interpolate", [1, 2, 3, nan], 4, "no value on both sides"),
    ],
)
def test_outer_holes_stay_errors(as_panel: AsPanel, policy: str, x: list[float], row: int, hint: str) -> None:
    frame = hours([1, 2, 3, 4], x=x)
    with pytest.raises(DataError, match=rf"column 'x' has no value at row {row}\b") as error:
        as_panel(frame, missing=policy)
    assert hint in str(error.value.hint)
    assert "--missing mask" in str(error.value.hint)
    with pytest.raises(DataError, match=r"column 'y' has no value at row 1\b"):
        as_panel(hours([nan, 2, 3, 4]), missing=policy)


def test_ten_thousand_series_are_filled_at_once() -> None:
    rng = np.random.default_rng(0)
    values = np.where(rng.random((10_000, 40)) < 0.2, nan, np.arange(40.0))
    values[:, [0, -1]] = [0, 39]
    frame = pd.DataFrame({"step": np.tile(np.arange(40), 10_000), "y": values.ravel()})
    frame.insert(0, "item_id", np.repeat(np.arange(10_000), 40))
    cells, roles = parsed(frame, time="step")
    filled, _ = fill_missing(cells, roles, "interpolate")
    np.testing.assert_allclose(filled.columns["y"], np.tile(np.arange(40.0), 10_000), rtol=1e-12)


# --------------------------------------------------------------------------- nothing later in training


def with_hole(first: int, last: int, after: float, rows: int = 200) -> pd.DataFrame:
    target = np.sin(np.arange(rows) / 4) + np.arange(rows) / 50
    target[first : last + 1] = nan
    target[last + 1 :] += after
    return hours(target.tolist(), x=np.where(np.isnan(target), nan, target * 2))


OPTIONS = {"horizon": 6, "lookback": 24, "missing": "interpolate"}


@pytest.mark.parametrize(("first", "last"), [(150, 165), (159, 160), (100, 190), (140, 159)])
def test_training_rows_know_nothing_of_what_comes_after_the_boundary(as_panel: AsPanel, first: int, last: int) -> None:
    """The boundary is row 159: whatever a hole ends in behind it, training is bit-equal."""
    prepared = []
    for after in (0.0, 1000.0):
        panel = as_panel(with_hole(first, last, after), missing="interpolate")
        config = DataConfig(**OPTIONS)  # type: ignore[arg-type]
        prepared.append(prepare(panel, config))
    one, other = prepared
    rows = one.split.training_rows(one.panel)[0]
    assert rows == 160
    assert one.panel.target[:rows].tobytes() == other.panel.target[:rows].tobytes()
    assert one.panel.past_covariates[:rows].tobytes() == other.panel.past_covariates[:rows].tobytes()
    assert one.schema.scaler.to_dict() == other.schema.scaler.to_dict()
    np.testing.assert_array_equal(one.panel.target[first:rows], one.panel.target[first - 1])


def test_a_hole_before_the_boundary_is_interpolated(as_panel: AsPanel) -> None:
    panel = as_panel(with_hole(100, 104, 0.0), missing="interpolate")
    assert without_later_values(panel, panel.timestamps[159]).target.tobytes() == panel.target.tobytes()
    steps = np.diff(panel.target[99:106])
    np.testing.assert_allclose(steps, steps[0])


def test_holes_one_after_the_other_are_told_apart(as_panel: AsPanel) -> None:
    frame = with_hole(100, 104, 0.0)
    frame.loc[106:110, ["y", "x"]] = nan
    panel = as_panel(frame, missing="interpolate")
    cut = without_later_values(panel, panel.timestamps[107])
    assert cut.target[:106].tobytes() == panel.target[:106].tobytes()
    assert cut.target[106:108].tolist() == [panel.target[105]] * 2
    assert cut.target[108:].tobytes() == panel.target[108:].tobytes()


def test_no_validation_from_within_an_interpolated_hole(as_panel: AsPanel) -> None:
    panel = as_panel(with_hole(170, 175, 0.0), missing="interpolate")
    assert np.flatnonzero(sees_later_values(panel, np.arange(panel.num_rows))).tolist() == list(range(170, 176))
    prepared = prepare(panel, DataConfig(**OPTIONS))  # type: ignore[arg-type]
    assert not set(prepared.validation_cutoffs) & set(range(170, 176))
    assert {169, 176} <= set(prepared.validation_cutoffs)
    for policy in ("mask", "ffill", "zero"):
        other = as_panel(with_hole(170, 175, 0.0), missing=policy)
        assert not sees_later_values(other, np.arange(other.num_rows)).any()
        assert without_later_values(other, panel.timestamps[172]) is other


def test_selected_rows_have_no_list_of_filled_ones(as_panel: AsPanel) -> None:
    panel = as_panel(with_hole(170, 175, 0.0), missing="interpolate")
    half = panel.with_rows(np.arange(100), np.array([100]), np.array([100]))
    assert not sees_later_values(half, np.arange(half.num_rows)).any()
    assert replace(panel, filled=half.filled).filled.rows == {}
