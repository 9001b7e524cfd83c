"""Forecast a table with an encoder-decoder whose attention you choose, and see what the forecast looked at.

    from forecast_attn import Forecaster

Importing this package imports nothing heavy; `Forecaster` is loaded when it is first asked for.
"""

import os
from typing import TYPE_CHECKING, Any

# Intel's matrix kernels, also on AMD, may round a row by its address in memory, and so by its position in a batch. In
# strict mode they do not, at the same speed. They read this once, at the first product.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

if TYPE_CHECKING:
    from forecast_attn.attention_file import AttentionDump as AttentionDump
    from forecast_attn.attention_file import read_attention as read_attention
    from forecast_attn.backtest.backtest_result import BacktestResult as BacktestResult
    from forecast_attn.comparison.compare import compare as compare
    from forecast_attn.comparison.compare import resume_comparison as resume_comparison
    from forecast_attn.comparison.leaderboard import Comparison as Comparison
    from forecast_attn.evaluation.evaluate import Evaluation as Evaluation
    from forecast_attn.evaluation.evaluate import evaluate as evaluate
    from forecast_attn.forecaster import Forecaster as Forecaster
    from forecast_attn.forecasting.forecast_result import ForecastResult as ForecastResult
    from forecast_attn.forecasting.mlflow_model import save_mlflow_model as save_mlflow_model
    from forecast_attn.live.runs_server import ui as ui
    from forecast_attn.serving.app import create_app as create_app
    from forecast_attn.serving.server import serve as serve
    from forecast_attn.tuning.search import tune as tune
    from forecast_attn.tuning.tuning_result import TuningResult as TuningResult

    __version__: str

_HOMES = {
    "AttentionDump": "attention_file",
    "BacktestResult": "backtest.backtest_result",
    "Comparison": "comparison.leaderboard",
    "ForecastResult": "forecasting.forecast_result",
    "Forecaster": "forecaster",
    "TuningResult": "tuning.tuning_result",
    "compare": "comparison.compare",
    "create_app": "serving.app",
    "evaluate": "evaluation.evaluate",
    "read_attention": "attention_file",
    "resume_comparison": "comparison.compare",
    "save_mlflow_model": "forecasting.mlflow_model",
    "serve": "serving.server",
    "tune": "tuning.search",
    "ui": "live.runs_server",
}

__all__ = [
    "AttentionDump",
    "BacktestResult",
    "Comparison",
    "Evaluation",
    "ForecastResult",
    "Forecaster",
    "TuningResult",
    "compare",
    "create_app",
    "evaluate",
    "read_attention",
    "resume_comparison",
    "save_mlflow_model",
    "serve",
    "tune",
    "ui",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first asked for (PEP 562)."""
    if name == "__version__":
        from forecast_attn.version import package_version

        return package_version()
    if name not in _HOMES:
        raise AttributeError(f"module 'forecast_attn' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"forecast_attn.{_HOMES[name]}"), name)
