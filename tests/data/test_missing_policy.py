"""`--missing auto`: a few missing values are hidden with a note, many are refused."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.checking import examine
from forecast_attn.checking.examination import Examination
from forecast_attn.config.options import DataConfig


def days(rows: int = 100, freq: str = "D", **columns: object) -> pd.DataFrame:
    stamps = pd.date_range("2024-01-01", periods=rows, freq=freq)
    return pd.DataFrame({"date": stamps, "y": 10.0 + np.arange(rows) % 7}).assign(**columns)


def auto(frame: pd.DataFrame, **options: object) -> Examination:
    return examine(frame, DataConfig(target="y", **options))  # type: ignore[arg-type]


def codes(report: Examination) -> list[str]:
    return [finding.code for finding in report.findings]


@pytest.mark.parametrize(
    ("dropped", "message"),
    [
        ([40], "1 absent row of 100 steps"),
        ([40, 41, 70], "3 absent rows of 100 steps"),
        ([3, 9, 20, 50, 90], "5 absent"),
    ],
)
def test_a_few_absent_rows_are_hidden(dropped: list[int], message: str) -> None:
    report = auto(days().drop(index=dropped))
    assert codes(report) == ["FA214"]
    assert report.findings[0].message.startswith(message)
    assert report.panel is not None
    assert report.panel.num_rows == 100
    assert report.preparation is not None
    assert report.preparation.schema.masked
    same = auto(days().drop(index=dropped), missing="mask")
    assert same.panel is not None
    np.testing.assert_array_equal(same.panel.target, report.panel.target)
    assert same.panel.repairs == report.panel.repairs


def test_a_few_empty_cells_are_hidden_together_with_absent_rows() -> None:
    frame = days(wind=np.arange(100.0))
    frame.loc[[10, 11], "y"] = np.nan
    frame.loc[[11, 50], "wind"] = np.nan
    report = auto(frame.drop(index=[80]))
    assert report.findings[0].message.startswith("1 absent row and 3 rows with empty cells of 100 steps")


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        pytest.param(days().drop(index=range(40, 46)), "FA204", id="more than one in twenty"),
        pytest.param(days(49).drop(index=[20]), "FA204", id="of a short table"),
        pytest.param(days(400).drop(index=[*range(9, 20)]).iloc[:80], "FA204", id="a long gap of a short stretch"),
        pytest.param(days().assign(y=lambda frame: frame["y"].where(frame.index % 10 > 0)), "FA301", id="cells"),
    ],
)
def test_many_missing_values_are_refused(frame: pd.DataFrame, code: str) -> None:
    report = auto(frame)
    assert code in codes(report)
    assert "FA214" not in codes(report)


def test_a_table_without_holes_is_what_it_was() -> None:
    report = auto(days())
    assert codes(report) == []
    assert report.preparation is not None
    assert not report.preparation.schema.masked


def test_error_is_still_an_error() -> None:
    assert codes(auto(days().drop(index=[40]), missing="error")) == ["FA204"]


def test_an_open_future_is_never_hidden() -> None:
    frame = days(wind=np.arange(100.0))
    frame.loc[93:, "y"] = np.nan
    frame.loc[95, "wind"] = np.nan
    frame = frame.drop(index=[40])
    assert "FA204" in codes(auto(frame, future_covariates=("wind",)))


def test_an_hour_that_the_clock_may_have_skipped_is_for_a_zone_to_explain() -> None:
    hours = pd.date_range("2024-03-20", periods=400, freq="h", tz="Europe/Berlin").tz_localize(None)
    report = auto(pd.DataFrame({"date": hours, "y": np.arange(400) % 24}))
    assert codes(report) == ["FA204"]
    assert "--tz" in str(report.findings[0].hint)


def test_a_few_business_days_lost_by_chance_are_hidden() -> None:
    report = auto(days(1040, "B").drop(index=[40, 41, 200, 477, 760]))
    assert codes(report) == ["FA214"]
    assert "5 absent rows" in report.findings[0].message


@pytest.mark.slow
def test_a_run_records_what_was_decided(forecast: Callable, small: tuple[str, ...], tmp_path: Path) -> None:
    frame = days(150)
    frame.to_csv(tmp_path / "whole.csv", index=False)
    frame.drop(index=[40]).to_csv(tmp_path / "gap.csv", index=False)
    for name, missing in (("whole", "error"), ("gap", "mask")):
        run = tmp_path / name
        assert forecast("train", tmp_path / f"{name}.csv", *small, "--out", run, "--quiet").code == 0
        assert f'"missing": "{missing}"' in (run / "config.json").read_text()
        assert forecast("predict", run, "--out", tmp_path / f"{name}-f.csv").code == 0
