"""Python refuses to write over what it reads or what belongs to the run, as the commands do."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
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


@pytest.mark.parametrize("name", ["{here}/part-0", "file://{here}/part-0", "file:{here}", "file://./part-0", "*-0"])
def test_check_writes_over_no_table_however_it_is_named(forecast: Callable, here: Path, name: str) -> None:
    pd.DataFrame({"date": ["2024-01-01"], "y": [1]}).to_parquet("part-0")
    before = Path("part-0").read_bytes()
    refused = forecast("check", name.format(here=here), "--fix", "--out", "part-0")
    assert refused.error == "--out 'part-0' is a file that is read or belongs to a run"
    assert Path("part-0").read_bytes() == before
