"""Python refuses to write over what it reads or what belongs to the run, as the commands do."""

from pathlib import Path

import pytest

from forecast_attn.errors import ConfigError, RunError
from forecast_attn.forecaster import Forecaster


def test_inspect_writes_over_no_file_of_the_run(run_copy: Path) -> None:
    before = (run_copy / "history.csv").read_bytes()
    with pytest.raises(ConfigError, match="belongs to a run"):
        Forecaster.load(run_copy).inspect(export=run_copy / "history.csv")
    assert (run_copy / "history.csv").read_bytes() == before


def test_audit_writes_over_no_file_of_the_run(run_copy: Path) -> None:
    before = (run_copy / "config.json").read_bytes()
    with pytest.raises(ConfigError, match="belongs to a run"):
        Forecaster.load(run_copy).audit(out=run_copy / "config.json")
    with pytest.raises(RunError, match="no folder"):
        Forecaster.load(run_copy).audit(out=run_copy / "none" / "audit.json")
    assert (run_copy / "config.json").read_bytes() == before
