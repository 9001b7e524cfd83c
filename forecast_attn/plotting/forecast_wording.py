"""Texts of the pictures, the same on paper and in the terminal."""

from __future__ import annotations

import numpy as np

from forecast_attn.config.values import NETWORK
from forecast_attn.data.findings import counted
from forecast_attn.evaluation.quantile_scores import Interval
from forecast_attn.plotting.forecasts import ONLY_MODEL
from forecast_attn.plotting.reliability import BAND, Reliability
from forecast_attn.plotting.scene import ForecastScene, ForecastView
from forecast_attn.plotting.step_errors import StepErrors

CALIBRATED = "calibrated"
ACTUAL = "actual"
CHANCE = f"{100 * BAND:.0f} % range if calibrated"


def interval_name(pair: Interval) -> str:
    """`80 %`, `95.5 %`."""
    return f"{100 * pair.nominal:.4g} %"


def view_title(scene: ForecastScene, view: ForecastView) -> str:
    """Series and cut-off: of a table of one series its name is the target's, and said once."""
    item = "" if view.item_id == scene.target else f"{view.item_id}, "
    return f"{item}cut-off {scene.zone.stamp_text(view.cutoff)}"


def forecast_title(scene: ForecastScene) -> str:
    """Title of the whole picture."""
    steps = len(scene.views[0].stamps)
    return f"{scene.target}: forecast of {counted(steps, 'step')}"


def model_label(name: str) -> str:
    """A model's name in a legend."""
    return name if name == ONLY_MODEL else f"forecast of {'the ' * (name == NETWORK)}{name}"


def time_span(scene: ForecastScene, view: ForecastView, *, zone: bool = True) -> str:
    """`2024-06-27 to 2024-07-01, Europe/Berlin`: the years that ticks leave out."""
    first = view.history_stamps[0] if len(view.history_stamps) else view.stamps[0]
    ends = np.array([first, view.stamps[-1]])
    name = scene.zone.describe() if zone else None
    if ends.dtype.kind != "M":
        return "time step"
    days = [str(stamp.astype("datetime64[D]")) for stamp in scene.zone.local(ends.astype("datetime64[ns]"))]
    return " to ".join(dict.fromkeys(days)) + (f", {name}" if name is not None else "")


def errors_title(errors: StepErrors) -> str:
    return f"{errors.target}: error by step ahead"


def errors_subtitle(errors: StepErrors) -> str:
    cutoffs = " to ".join(dict.fromkeys((errors.first_cutoff, errors.last_cutoff)))
    series = "" if errors.num_items == 1 else f" of {errors.num_items:,} series"
    return f"{counted(errors.num_cutoffs, 'cut-off')}{series}, {cutoffs}"


def reliability_title(calibration: Reliability) -> str:
    return f"{calibration.target}: calibration of the quantiles"


def reliability_subtitle(calibration: Reliability) -> str:
    most = int(max(model.counts.max() for model in calibration.models))
    values = f"{calibration.fewest:,}" if calibration.fewest == most else f"{calibration.fewest:,} to {most:,}"
    return f"{values} values; the range assumes independent values"
