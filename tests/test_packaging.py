"""The wheel, installed into an empty environment without the test extras, is all a user needs."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    done = subprocess.run(
        [*pip, "wheel", "--no-deps", "-w", str(folder), str(ROOT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("forecast_attn-*.whl")
    return path


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {"forecast_attn", wheel.name.split("-py3")[0] + ".dist-info"}


@pytest.mark.slow
def test_the_wheel_works_without_the_test_extras(wheel: Path, tmp_path: Path) -> None:
    """Installs with all declared dependencies and no others; then help, training and prediction run."""
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True)
    binaries = tmp_path / "venv" / "bin"
    pip = [str(binaries / "python"), "-m", "pip", "--disable-pip-version-check", "install", "-q", "--no-compile"]
    done = subprocess.run(
        [*pip, "-c", str(ROOT / "constraints.txt"), str(wheel)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

    def forecast(*words: str) -> str:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        command = [str(binaries / "forecast"), *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "predict" in forecast("--help")
    assert "--attention" in forecast("train", "--help")
    table = str(ROOT / "data" / "air_passengers.csv")
    forecast("train", table, "--max-epochs", "1", "--hidden-size", "4", "--out", "run")
    assert forecast("predict", "run", "--out", "-").startswith("item_id,cutoff,timestamp,step,prediction\n")
    assert "luong-general" in forecast("inspect", "run")
