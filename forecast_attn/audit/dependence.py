"""Partial dependence: the mean forecast if a column known in advance had a value throughout the horizon.

Friedman 2001, "Greedy function approximation: a gradient boosting machine", section 8.2. Everything else in the windows
stays as it was, also the column's own past. Steps at which the column is not known ahead keep their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from forecast_attn.audit.covariates import columns_and_groups
from forecast_attn.audit.subject import Subject
from forecast_attn.data.windows import Window


def partial_dependence(subject: Subject, column: str, values: Sequence[float | str]) -> Iterator[float]:
    """Mean forecast over windows and steps, in the target's units, with each value in turn.

    Args:
        subject: the model and its windows; attention is not needed.
        column: a future covariate of numbers or categories.
        values: numbers in the column's units, or names of categories.
    """
    schema = subject.model.schema
    singles = (each for each in columns_and_groups(schema) if not each.is_group)
    (positions,) = (each.positions for each in singles if each.name == column)
    for value in values:

        def rewindow(rows: slice, window: Window, value: float | str = value) -> Window:
            if "future_categories" in positions:
                code = schema.vocabulary.categories[column].index(str(value)) + 1
                given = torch.full_like(window.future_categories[..., 0], code)
                return window._replace(
                    future_categories=_with(window.future_categories, positions["future_categories"][0], given, subject)
                )
            position, series = schema.roles.future_covariates.index(column), subject.series[rows]
            affine = subject.scaler.future
            scaled = (float(value) - affine.loc[series, position]) / affine.scale[series, position]
            inputs = window.future_covariates
            given = torch.from_numpy(scaled).to(inputs)[:, None].expand(inputs.shape[:2])
            inputs = _with(inputs, positions["future_covariates"][0], given, subject)
            for indicator in positions["future_covariates"][1:]:
                inputs = _with(inputs, indicator, torch.ones_like(given), subject)
            return window._replace(future_covariates=inputs)

        yield float(np.mean(subject.forecast(rewindow=rewindow)))


def _with(inputs: Tensor, position: int, values: Tensor, subject: Subject) -> Tensor:
    """Inputs of the horizon with one of them replaced at the steps at which it is known."""
    is_number = inputs.is_floating_point()
    mask = subject.arrays.future_known if is_number else subject.arrays.future_categories_known
    inputs = inputs.clone()
    inputs[..., position] = values if mask is None else torch.where(mask[:, position], values, inputs[..., position])
    return inputs
