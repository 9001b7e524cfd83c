"""The wheel, installed into an empty environment without the test extras, is all a user needs."""

import importlib.metadata
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


@pytest.mark.integration
def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert tops == {"forecast_attn", wheel.name.split("-py3")[0] + ".dist-info"}


def needed_by(name: str) -> set[str]:
    """All distributions that one needs, as they are installed here, with the extras that are asked of them."""
    seen, left = set[tuple[str, str]](), [(name, "")]
    while left:
        name, extra = left.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for need in map(Requirement, importlib.metadata.requires(name) or ()):
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                left += [(canonicalize_name(need.name), each) for each in ("", *need.extras)]
    return {name for name, _ in seen}


def link_to(site_packages: Path, name: str) -> None:
    """Link what a distribution that is installed here holds into another environment."""
    files = importlib.metadata.files(name)
    assert files is not None
    for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
        link = site_packages / top
        if not link.exists():
            link.symlink_to(Path(str(importlib.metadata.distribution(name).locate_file(top))))


@pytest.mark.integration
def test_the_wheel_works_without_the_test_extras(wheel: Path, tmp_path: Path) -> None:
    """With all declared dependencies and no others, linked to those installed here: help, training, prediction run."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "venv")], check=True)
    binaries = tmp_path / "venv" / "bin"
    (site_packages,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    for name in needed_by("forecast-attn") - {"forecast-attn"}:
        link_to(site_packages, name)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(binaries / "python")]
    done = subprocess.run(
        [*pip, "install", "-q", "--no-index", str(wheel)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

    def run(*words: str) -> str:
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        environment.pop("PYTHONPATH", None)
        command = [str(binaries / words[0]), *words[1:]]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "--attention" in run("forecast", "train", "--help")
    table = str(ROOT / "data" / "air_passengers.csv")
    training = ["train", table, "--max-epochs", "1", "--hidden-size", "4", "--out", "run"]
    printed = run(
        "python", "-c", COMMANDS, json.dumps([training, ["predict", "run", "--out", "-"], ["inspect", "run"]])
    )
    assert "item_id,cutoff,timestamp,step,prediction\n" in printed
    assert "luong-general" in printed
    code = "import hypothesis"
    assert subprocess.run([str(binaries / "python"), "-c", code], capture_output=True, check=False).returncode == 1


COMMANDS = """
import json, sys
from forecast_attn.cli import main

for words in json.loads(sys.argv[1]):
    try:
        main(words)
    except SystemExit as ended:
        assert ended.code == 0, words
"""
