"""Seasons that rows show where the step of the time axis says none."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from statsmodels.tsa.stattools import acf

from forecast_attn.checking import check_table, examine
from forecast_attn.config.options import DataConfig
from forecast_attn.data.seasons import autocorrelation, season_by_evidence
from forecast_attn.training.preparation import prepare

RNG = np.random.default_rng(0)


def wave(rows: int, season: int, noise: float = 0.3) -> np.ndarray:
    return np.sin(2 * np.pi * np.arange(rows) / season) + RNG.normal(size=rows) * noise


def test_autocorrelation_is_that_of_statsmodels() -> None:
    values = wave(300, 12)
    steps = np.arange(300)
    rest = values - np.polyval(np.polyfit(steps, values, 1), steps)
    expected = acf(rest, adjusted=True, nlags=299, fft=False)
    np.testing.assert_allclose(autocorrelation(values), expected, atol=1e-10)


@pytest.mark.parametrize("season", [5, 7, 12, 24, 48])
@pytest.mark.parametrize("trend", [0.0, 5.0])
def test_a_season_is_found_under_noise_and_trend(season: int, trend: float) -> None:
    result = season_by_evidence([wave(400, season) + trend * np.arange(400) / 400])
    assert result is not None
    assert result[0] == season


def test_chance_shows_no_season() -> None:
    for _ in range(50):
        noise = RNG.normal(size=400)
        assert season_by_evidence([noise]) is None
        assert season_by_evidence([np.cumsum(noise)]) is None
    assert season_by_evidence([np.ones(100)]) is None
    assert season_by_evidence([np.full(100, np.nan)]) is None
    assert season_by_evidence([np.arange(9.0)]) is None
    assert season_by_evidence([]) is None


def test_one_series_does_not_decide_for_a_panel() -> None:
    others = [RNG.normal(size=300) for _ in range(4)]
    assert season_by_evidence([wave(900, 24), *others]) is None
    result = season_by_evidence([wave(300, 12), wave(200, 12), wave(250, 12), wave(900, 24), others[0]])
    assert result is not None
    assert result[0] == 12


def frame(values: np.ndarray, freq: str | None = None) -> pd.DataFrame:
    time = np.arange(len(values)) if freq is None else pd.date_range("2024-01-01", periods=len(values), freq=freq)
    return pd.DataFrame({"time": time, "y": values})


@pytest.mark.parametrize(
    ("freq", "given", "season"), [(None, None, 24), ("7h", None, 24), (None, "1", 1), ("D", None, 7)]
)
def test_the_season_of_steps_that_say_none(freq: str | None, given: str | None, season: int) -> None:
    config = DataConfig(season=given)
    report = examine(frame(wave(400, 24), freq), config)
    assert report.preparation is not None
    assert report.preparation.schema.frequency.season == season
    assert ("FA216" in [finding.code for finding in report.findings]) == (season == 24)


def test_only_training_rows_count() -> None:
    values = np.concatenate([wave(320, 24), RNG.normal(size=80)])
    config = DataConfig(validation=80, horizon=12, lookback=48)
    panel = examine(frame(values), config).panel
    other = replace(panel, target=np.where(np.arange(400) < 320, panel.target, -panel.target * 9))
    first, second = (prepare(each, config) for each in (panel, other))
    assert first.schema.frequency.season == second.schema.frequency.season == 24
    assert first.findings == second.findings


def test_check_says_where_a_longer_season_is_clearer() -> None:
    hours = np.arange(24 * 7 * 8)
    load = np.sin(2 * np.pi * hours / 24) + 4 * (hours // 24 % 7 > 4) + RNG.normal(size=len(hours)) * 0.1
    report = check_table(frame(load, "h"), DataConfig())
    (note,) = [finding for finding in report.findings if finding.code == "FA216"]
    assert "after 168 steps" in note.message
    assert report.frequency.season == 24
