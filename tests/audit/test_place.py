"""Where the audit stands in the house: above inference and networks, below the Forecaster, and without Lightning."""

import subprocess
import sys
from pathlib import Path

import pytest

from ..test_architecture import files_importing, imported_names

pytestmark = pytest.mark.slow

PACKAGE = Path(__file__).resolve().parents[2] / "forecast_attn"


def test_an_audit_does_not_load_lightning_or_captum() -> None:
    code = "import forecast_attn.audit, forecast_attn.audit.render, sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PACKAGE.parent)
    loaded = set(done.stdout.split())
    assert "torch" in loaded
    assert loaded.isdisjoint(("pytorch_lightning", "lightning", "captum", "scipy"))


def test_nobody_below_knows_the_audit() -> None:
    knowing = {name for name in files_importing("forecast_attn.audit") if not name.startswith("audit/")}
    drawing = {name for name in knowing if name.startswith(("plotting/", "reporting/"))}  # attributions
    assert knowing - drawing == {"forecaster.py", "result_pictures.py", "cli/audit.py"}


def test_the_audit_knows_no_training() -> None:
    known = {name for path in (PACKAGE / "audit").glob("*.py") for name in imported_names(path)}
    above = {name for name in known if name.startswith(("forecast_attn.training", "forecast_attn.cli"))}
    assert above == {"forecast_attn.training.preparation"}  # the windows and scales, not the fit
    assert "forecast_attn.forecasting.model" in known
