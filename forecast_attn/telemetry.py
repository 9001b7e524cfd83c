"""Reports of packages to their makers: on how they are used, and on their errors. What a user logs stays as it is."""

import os

_SWITCHES = {
    "onnxruntime": ("ORT_DISABLE_TELEMETRY", "1"),
    "mlflow": ("MLFLOW_DISABLE_TELEMETRY", "true"),
    "ray": ("RAY_USAGE_STATS_ENABLED", "0"),
    "wandb": ("WANDB_ERROR_REPORTING", "false"),
}
"""Variable that each reads once, as it is imported or begins to log, and the value that means no."""


def switch_off_reports(package: str) -> None:
    """Switch off what a package reports, before it is imported; a user's own setting stays."""
    os.environ.setdefault(*_SWITCHES[package])
