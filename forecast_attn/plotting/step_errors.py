"""Mean absolute error of each model by step ahead."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.evaluation.scoring import score
from forecast_attn.plotting.forecasts import Forecasts
from forecast_attn.plotting.scene import numbers

Floats = NDArray[np.float64]

FAR = 6
"""A model with this many times the error of the best is left out: beside it all others would be one line."""


@dataclass(frozen=True, eq=False)
class ModelErrors:
    """Errors of one model by step.

    Attributes:
        mae: per step, in the target's units; NaN where nothing was scored (steps,).
        rows: values that were scored per step (steps,).
    """

    name: str
    mae: Floats
    rows: NDArray[np.int64]

    @property
    def overall(self) -> float:
        """Mean absolute error of all scored values."""
        known = self.rows > 0
        return float(np.average(self.mae[known], weights=self.rows[known])) if known.any() else float("nan")

    def is_far_from(self, other: ModelErrors) -> bool:
        """Return whether a chart with both would make one line of all that is near the other."""
        return self.overall > FAR * other.overall > 0


@dataclass(frozen=True, eq=False)
class StepErrors:
    """Errors by step, the models in the order of their table.

    Attributes:
        steps: ascending (steps,).
        num_items, num_cutoffs: series and cut-offs that were scored.
        first_cutoff, last_cutoff: in words.
    """

    steps: NDArray[np.int64]
    models: tuple[ModelErrors, ...]
    target: str
    num_items: int
    num_cutoffs: int
    first_cutoff: str
    last_cutoff: str
    notes: list[str] = field(default_factory=list)

    def without_far(self) -> StepErrors:
        """Leave out the models whose error is more than `FAR` times the smallest; a note lists them."""
        nearest = min(self.models, key=lambda model: model.overall)
        far = [model for model in self.models if model.is_far_from(nearest)]
        if not far:
            return self
        models = ", ".join(f"{model.name} ({model.overall:.4g})" for model in far)
        note = f"not drawn, far off: {models}; --model NAME draws the models that are named"
        near = tuple(model for model in self.models if model not in far)
        return replace(self, models=near, notes=[*self.notes, note])

    def to_dict(self) -> dict[str, Any]:
        """JSON-able: every number that is drawn."""
        return {
            "kind": "error-by-step",
            "metric": "mae",
            "target": self.target,
            "notes": self.notes,
            "series": self.num_items,
            "cutoffs": self.num_cutoffs,
            "first_cutoff": self.first_cutoff,
            "last_cutoff": self.last_cutoff,
            "step": self.steps.tolist(),
            "models": [
                {"model": model.name, "mae": numbers(model.mae), "rows": model.rows.tolist(), "overall": model.overall}
                for model in self.models
            ],
        }


def step_errors(forecasts: Forecasts) -> StepErrors:
    """Score forecasts that have targets, by step.

    Args:
        forecasts: at least one row with a target and a prediction.
    """
    scored = forecasts.where(forecasts.frame["target"].notna() & forecasts.frame["prediction"].notna())
    table = score(scored.frame, ["mae"], by="step")
    steps = np.unique(table["step"].to_numpy(np.int64))
    models = []
    for name in scored.models:
        of_model = table[table["model"] == name].set_index("step").reindex(steps)
        rows = of_model["rows"].fillna(0).to_numpy(np.int64)
        models.append(ModelErrors(name, of_model["mae"].to_numpy(np.float64), rows))
    return StepErrors(steps, tuple(models), forecasts.target or "target", *extent(scored))


def extent(forecasts: Forecasts) -> tuple[int, int, str, str]:
    """Series, cut-offs, the first and the last of them in words."""
    cutoffs = np.unique(forecasts.frame["cutoff"].to_numpy())
    first, last = (forecasts.zone.stamp_text(cutoffs[index]) for index in (0, -1))
    return len(forecasts.item_ids), len(cutoffs), first, last
