"""Partial dependence on a column known in advance, against forecasts of a table in which it has the value."""

from typing import Any

import numpy as np
import pytest
import torch

from forecast_attn.audit.dependence import partial_dependence
from forecast_attn.audit.subject import Subject
from forecast_attn.data.panel import Panel
from forecast_attn.forecasting.inference import forecast_windows
from forecast_attn.forecasting.model import Model

from .test_every_kind import CPU, untrained

pytestmark = pytest.mark.slow


def subject_of(**options: Any) -> tuple[Subject, Model, Panel]:
    model, preparation = untrained(**options)
    cutoffs = preparation.validation_cutoffs[:1]
    return Subject.of(model, preparation, cutoffs, CPU), model, preparation.panel


@pytest.mark.parametrize("options", [{"attention": "luong-general"}, {"attention": "luong-dot", "missing": "mask"}])
def test_a_value_is_that_of_a_table_which_has_it(options: dict[str, Any]) -> None:
    subject, model, panel = subject_of(**options)
    (row,) = subject.cutoffs
    for column, values in (("c", [4_000.0, 4_123.0]), ("d", [5_050.0]), ("plan", ["no", "yes"])):
        for value, mean in zip(values, partial_dependence(subject, column, values), strict=True):
            changed, unchanged = ahead_of(panel, column, int(row), model.schema.horizon), {}
            unchanged["values"] = changed.copy()
            changed[:] = value if column != "plan" else panel.categories["plan"].index(str(value))
            (batch,) = forecast_windows(model, panel, subject.cutoffs, need_weights=False)
            changed[:] = unchanged["values"]
            assert mean == pytest.approx(float(batch.prediction.mean()), rel=1e-6)


def ahead_of(panel: Panel, column: str, row: int, horizon: int) -> np.ndarray[Any, Any]:
    """A column's values of the horizon, to be changed."""
    steps = slice(row + 1, row + 1 + horizon)
    if column == "plan":
        return panel.future_categories[steps, 0]
    return panel.future_covariates[steps, panel.roles.future_covariates.index(column)]


def test_the_windows_stay_as_they_were() -> None:
    subject, _, _ = subject_of(attention="luong-general")
    before = subject.arrays.gather(torch.from_numpy(subject.cutoffs)).future_covariates
    list(partial_dependence(subject, "c", [0.0]))
    assert torch.equal(subject.arrays.gather(torch.from_numpy(subject.cutoffs)).future_covariates, before)
