"""The bundled samples are what their README says, and the real tables are read unedited."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from forecast_attn.checking import check_table
from forecast_attn.config.options import DataConfig
from forecast_attn.data.panel import Panel
from forecast_attn.data.panel_building import build_panel
from forecast_attn.data.reading import read_table
from forecast_attn.data.roles import resolve_roles

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def make_samples() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_samples", ROOT / "benchmarks" / "make_samples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def panel_of(path: Path) -> Panel:
    frame = read_table(path, DataConfig())
    return build_panel(frame, resolve_roles(frame, DataConfig(), path.name), DataConfig(), source=path.name)


@pytest.mark.parametrize("name", ["air_passengers.csv", "city_load.csv", "planted_lag.csv"])
def test_bare_commands_work_on_them(name: str) -> None:
    assert check_table(ROOT / "data" / name, DataConfig()).findings == ()


def test_air_passengers_are_the_published_figures() -> None:
    panel = panel_of(ROOT / "data" / "air_passengers.csv")
    assert (panel.num_rows, panel.target.sum(), panel.target[0], panel.target[-1], panel.target.max()) == (
        *(144, 40363, 112),
        *(432, 622),
    )
    assert (panel.frequency.alias, str(panel.timestamps[0])[:7], str(panel.timestamps[-1])[:7]) == (
        "MS",
        "1949-01",
        "1960-12",
    )


def test_city_load_knows_its_future() -> None:
    panel = panel_of(ROOT / "data" / "city_load.csv")
    assert panel.roles.future_covariates == ("holiday", "price", "temperature")
    assert (panel.roles.target, panel.frequency.alias) == ("demand", "h")
    assert (panel.num_known.tolist(), panel.num_rows) == ([17544], 17592)
    assert (ROOT / "data" / "city_load.csv").stat().st_size < 1_000_000


def test_the_planted_lag_is_there() -> None:
    panel = panel_of(ROOT / "data" / "planted_lag.csv")
    target, driver = panel.target, panel.past_covariates[:, 0]
    linked = [abs(np.corrcoef(target[40:], driver[40 - lag : len(driver) - lag])[0, 1]) for lag in range(40)]
    assert linked[10] > 0.999
    assert max(linked[:10] + linked[11:]) < 0.1


@pytest.mark.slow
def test_simulated_samples_come_out_byte_for_byte(make_samples: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["make_samples.py", "--check"])
    assert make_samples.main() == 0


def test_another_lag(make_samples: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "lag14.csv"
    monkeypatch.setattr(sys, "argv", ["make_samples.py", "--lag", "14", "--out", str(path)])
    assert make_samples.main() == 0
    panel = panel_of(path)
    assert np.corrcoef(panel.target[14:], panel.past_covariates[:-14, 0])[0, 1] > 0.999


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows", "past"),
    [
        ("NP.csv", 52416, ("Grid load forecast", "Wind power forecast")),
        ("PJM.csv", 52416, ("System load forecast", "Zonal COMED load foecast")),
        ("FR.csv", 52416, ("Generation forecast", "System load forecast")),
        ("ETTh1.csv", 17420, ("HUFL", "HULL", "LUFL", "LULL", "MUFL", "MULL")),
    ],
)
def test_real_tables_unedited(real_data: Path, name: str, rows: int, past: tuple[str, ...]) -> None:
    report = check_table(real_data / name, DataConfig())
    assert report.findings == ()
    assert report.roles is not None
    assert (report.roles.time, report.roles.target, report.roles.past_covariates) == ("date", "OT", past)
    assert report.frequency is not None
    assert (report.frequency.alias, report.frequency.evidence) == (
        "h",
        f"{rows - 1:,} of {rows - 1:,} steps are 1 hour",
    )


@pytest.mark.slow
def test_real_covariates_declared_as_future(real_data: Path) -> None:
    config = DataConfig(future_covariates=("Grid load forecast", "Wind power forecast"))
    report = check_table(real_data / "NP.csv", config)
    assert [finding.code for finding in report.findings] == ["FA405"]
    assert report.findings[0].message == "series 'OT' has 0 future rows; the horizon needs 24"
