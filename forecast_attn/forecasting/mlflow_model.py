"""A run as a model of MLflow: `mlflow.pyfunc.load_model(uri).predict(history)`.

No pickle is written: MLflow keeps the name of this module and a copy of the run, whose path `_load_pyfunc` gets.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forecast_attn.config.requests import PredictRequest
from forecast_attn.errors import ConfigError
from forecast_attn.forecasting.model import read_config
from forecast_attn.forecasting.predict import ForecastRequest, forecast_run
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.version import package_version

if TYPE_CHECKING:
    import pandas as pd


class MlflowModel:
    """A run as MLflow asks it."""

    def __init__(self, run: RunDir) -> None:
        self.run = run

    def predict(self, history: pd.DataFrame, params: dict[str, Any] | None = None) -> pd.DataFrame:
        """Forecast the steps after the last known target of every series; the table of `Forecaster.predict`.

        Args:
            history: as for `Forecaster.predict`; rows after the last target hold the known future.
            params: options of `forecast predict`, such as cold_start.

        Raises:
            UserError: as `Forecaster.predict`.
        """
        request = ForecastRequest(data=history, **PredictRequest.checked(params or {}))
        with tempfile.TemporaryDirectory() as folder:
            return forecast_run(self.run, read_config(self.run), request, lambda: Path(folder)).predictions


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
    try:
        import mlflow.pyfunc
    except ImportError:
        raise ConfigError(
            "a model of MLflow needs the package 'mlflow'", 'pip install "forecast-attn[mlflow]"'
        ) from None
    directory = RunDir.open_finished(Path(run))
    mlflow.pyfunc.save_model(
        str(path),
        loader_module=__name__,
        data_path=str(directory.path),
        pip_requirements=[f"forecast-attn=={package_version()}"],
    )
