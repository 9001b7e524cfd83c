"""The parts of the exported graph beside what they repeat: the calendar, and quantiles of Student's t."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy import special

from forecast_attn.config.values import CALENDAR_FEATURES
from forecast_attn.data.calendar_features import Calendar
from forecast_attn.data.frequency import parse_frequency
from forecast_attn.export.clock import PHASES, clock_features, date_of, first_of_month
from forecast_attn.export.graph import student_quantiles


def test_the_calendar_of_tensors_is_that_of_the_data() -> None:
    """Ten thousand seconds of eight centuries, leap days and years before 1970 among them."""
    generator = np.random.default_rng(0)
    stamps = generator.integers(-8_000_000_000, 8_000_000_000, 10_000).astype("datetime64[s]")
    special_days = ["2000-02-29", "1900-02-28", "1900-03-01", "2024-12-31", "1969-12-31", "2100-03-01", "2027-01-01"]
    stamps = np.concatenate([stamps, np.array(special_days, "datetime64[s]")])
    assert set(CALENDAR_FEATURES) <= set(PHASES) | {"weekend"}
    names = (*PHASES, "weekend")
    expected = Calendar(names, parse_frequency("s")).features(stamps.astype("datetime64[ns]"))
    got = clock_features(torch.from_numpy(stamps.astype(np.int64))[None], names)[0]
    np.testing.assert_allclose(got.numpy(), expected, atol=1e-6)
    assert not np.isnan(expected).any()


def test_dates_are_those_of_pandas() -> None:
    days = np.arange(-100_000, 100_000, 37)
    dates = pd.to_datetime(days, unit="D")
    got = date_of(torch.from_numpy(days))
    for values, expected in zip(got, (dates.year, dates.month, dates.day), strict=True):
        np.testing.assert_array_equal(values.numpy(), expected)
    firsts = first_of_month(got.year, got.month + 1).numpy()
    expected = (dates + pd.offsets.MonthBegin(1)).to_numpy().astype("datetime64[D]").astype(np.int64)
    np.testing.assert_array_equal(firsts, expected)


@pytest.mark.parametrize("quantile", [0.001, 0.05, 0.3, 0.5, 0.9, 0.999])
def test_quantiles_of_students_t_are_those_of_scipy(quantile: float) -> None:
    freedom = np.concatenate([np.linspace(2.001, 3, 200), np.geomspace(3, 1e7, 400)])
    got = student_quantiles(torch.from_numpy(freedom)[:, None], (quantile,))[:, 0].numpy()
    np.testing.assert_allclose(got, special.stdtrit(freedom, quantile), rtol=1e-10, atol=1e-12)
