"""A run as a model of MLflow: `mlflow.pyfunc.load_model(uri).predict(history)`.

No pickle is written: MLflow keeps the name of this module and a copy of the run, whose path `_load_pyfunc` gets.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from forecast_attn.baselines.registry import check_baselines
from forecast_attn.config.requests import PredictRequest
from forecast_attn.devices import choose_device
from forecast_attn.errors import needing
from forecast_attn.forecasting.inference import load_model
from forecast_attn.forecasting.predict import ForecastRequest, LoadedRun, PreparedForecast, forecast_prepared
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.telemetry import switch_off_reports
from forecast_attn.version import package_version

if TYPE_CHECKING:
    import pandas as pd

PARAMS = {
    "cold_start": "boolean",
    "non_negative": "boolean",
    "combine_with": "string",
    "accelerator": "string",
}
"""Options of `forecast predict` that a call may have, by MLflow's types. MLflow drops all others with a warning."""


class MlflowModel:
    """A run as MLflow asks it; loaded once."""

    def __init__(self, run: RunDir) -> None:
        self.loaded = LoadedRun(run, load_model(run))

    def predict(self, history: pd.DataFrame, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """Forecast the steps after the last known target of every series; the table of `Forecaster.predict`.

        Args:
            history: as for `Forecaster.predict`; rows after the last target hold the known future.
            params: those of `PARAMS`; None is an absent one.

        Raises:
            UserError: as `Forecaster.predict`.
        """
        given = {name: value for name, value in (params or {}).items() if value is not None}
        request = ForecastRequest(data=history, **PredictRequest.checked(given))
        check_baselines(request.combine_with or ())
        return forecast_prepared(PreparedForecast.of(self.loaded, request), choose_device(request.accelerator))


def _load_pyfunc(path: str) -> MlflowModel:
    """Open the run of a model; MLflow calls this."""
    return MlflowModel(RunDir.open_finished(Path(path)))


def save_mlflow_model(run: Path | str, path: Path | str) -> None:
    """Write a finished run as a model of MLflow: its folder holds the run.

    Args:
        run: run directory.
        path: folder to write, which must not exist.

    Raises:
        ConfigError: MLflow is not installed.
        RunError: the run is unfinished or damaged.
    """
    switch_off_reports("mlflow")
    with needing("a model of MLflow", "mlflow"):
        import mlflow.pyfunc
        from mlflow.models import ModelSignature
        from mlflow.types import ParamSchema, ParamSpec
    directory = RunDir.open_finished(Path(run))
    mlflow.pyfunc.save_model(
        str(path),
        loader_module=__name__,
        data_path=str(directory.path),
        signature=ModelSignature(params=ParamSchema([ParamSpec(name, kind, None) for name, kind in PARAMS.items()])),
        pip_requirements=[f"forecast-attn=={package_version()}"],
    )
