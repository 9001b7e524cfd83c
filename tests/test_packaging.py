"""The wheel, installed into an empty environment without the test extras, is all a user needs."""

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent


class Builder(NamedTuple):
    """The tools that pyproject.toml names for building, in a folder of their own."""

    tools: Path

    def build(self, tree: Path, kind: str, folder: Path) -> Path:
        """The wheel or sdist of a tree."""
        words = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
        environment = {**os.environ, "PYTHONPATH": str(self.tools)}
        done = subprocess.run(words, cwd=tree, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        (path,) = folder.iterdir()
        return path


PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    folder = tmp_path_factory.mktemp("tools")
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    done = subprocess.run(
        [*PIP, "install", "-q", "--target", str(folder), *needed], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return Builder(folder)


@pytest.fixture(scope="module")
def sdist(builder: Builder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return builder.build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by pip out of the sdist, as where a registry has no wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [*PIP, "wheel", "--no-deps", "-w", str(folder), str(sdist)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("forecast_attn-*.whl")
    return path


def contents_of(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.integration
def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in contents_of(wheel)}
    assert tops == {"forecast_attn", wheel.name.split("-py3")[0] + ".dist-info"}


@pytest.mark.integration
def test_the_wheel_of_the_sdist_is_that_of_the_tree(builder: Builder, sdist: Path, wheel: Path, tmp_path: Path) -> None:
    """Also its version, which the sdist has to remember: it has no git to ask."""
    of_tree = builder.build(ROOT, "wheel", tmp_path)
    assert of_tree.name == wheel.name
    assert contents_of(of_tree) == contents_of(wheel)
    with tarfile.open(sdist) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()}
    code = {name for name in contents_of(wheel) if name.startswith("forecast_attn/")}
    assert code | {"LICENSE", "README.md", "pyproject.toml", "tests/conftest.py", "PKG-INFO"} <= files


@pytest.mark.integration
@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_the_version_is_that_of_the_tag(builder: Builder, tmp_path: Path) -> None:
    """Before the first tag, at a tag, after it, and without git."""
    tree = tmp_path / "tree"
    (tree / "forecast_attn").mkdir(parents=True)
    (tree / "forecast_attn" / "__init__.py").touch()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)

    def git(*words: str) -> None:
        who = ("-c", "user.name=somebody", "-c", "user.email=nobody@example.org")
        subprocess.run(["git", *who, *words], cwd=tree, check=True, capture_output=True)

    def version(name: str) -> str:
        return builder.build(tree, "wheel", tmp_path / name).name.split("-")[1]

    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    assert version("untagged") == "0.1.0.dev1"
    git("tag", "v0.2.0")
    assert version("tagged") == "0.2.0"
    git("commit", "--allow-empty", "-m", "second")
    assert version("later") == "0.2.1.dev1"
    shutil.rmtree(tree / ".git")
    assert version("archive") == "0.1.0.dev0"


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
