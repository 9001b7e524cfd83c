"""Copies of runs with something changed by hand."""

from __future__ import annotations

import json
from pathlib import Path

from forecast_attn import Forecaster


def with_combination(run: Forecaster, copy: Path, **entries: object) -> Path:
    """Copy a run, with other entries of its combination in metrics.json."""
    copy.mkdir()
    for file in run.run_path.iterdir():
        if file.name != "manifest.json":
            (copy / file.name).write_bytes(file.read_bytes())
    metrics = json.loads((copy / "metrics.json").read_text())
    del metrics["manifest"]  # else the altered file is refused for its digest
    metrics["combination"] |= entries
    (copy / "metrics.json").write_text(json.dumps(metrics))
    return copy
