"""The three lists of versions agree: what pyproject.toml declares, what the project is tested with, what is locked."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = (
    "plot",
    "hierarchy",
    "holidays",
    "excel",
    "onnx",
    "serve",
    "tune",
)  # the tests do without the others


def pins(name: str) -> dict[str, Version]:
    """Version of every package in a file of constraints."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return {canonicalize_name(match[1]): Version(match[2]) for match in re.finditer(r"(?m)^([\w.-]+)==([\w.]+)", text)}


def declared() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for extra in EXTRAS for line in project["optional-dependencies"][extra]]
    return [Requirement(line) for line in project["dependencies"] + extras]


@pytest.mark.parametrize("requirement", declared(), ids=lambda requirement: requirement.name)
def test_the_lowest_version_declared_is_the_one_that_is_tested(requirement: Requirement) -> None:
    (lowest,) = [Version(bound.version) for bound in requirement.specifier if bound.operator == ">="]
    assert pins("constraints-minimum.txt")[canonicalize_name(requirement.name)] == lowest


@pytest.mark.parametrize("requirement", declared(), ids=lambda requirement: requirement.name)
def test_the_version_of_development_is_allowed(requirement: Requirement) -> None:
    assert requirement.specifier.contains(pins("constraints.txt")[canonicalize_name(requirement.name)])


def test_the_lock_has_the_versions_of_development_with_hashes() -> None:
    locked, developed = pins("requirements.lock"), pins("constraints.txt")
    assert {name for name, version in locked.items() if developed.get(name, version) != version} == set()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {canonicalize_name(Requirement(line).name) for line in project["dependencies"]} <= set(locked)
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = re.split(r"(?m)^(?=[\w.-]+==)", text)[1:]
    assert [entry.split("==")[0] for entry in entries if "--hash=sha256:" not in entry] == []


def test_the_conda_recipe_says_what_the_wheel_does() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"(?m)^ +- (.+)$", text.partition("  run:\n")[2].partition("\ntests:")[0])
    needed = {Requirement(entry.replace("pytorch >", "torch >")) for entry in entries}
    assert needed == {Requirement(line) for line in [*project["dependencies"], f"python{project['requires-python']}"]}
    commands = [f"- {name} = {function}" for name, function in project["scripts"].items()]
    about = [f"{name}: {project[name]}" for name in ("name", "license")]
    for each in (*commands, *about, f"summary: {project['description']}"):
        assert each in text


def test_the_version_without_git_is_the_same_everywhere() -> None:
    """Wheel, recipe and image are built with the same tools, and without a tag have the same version."""
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    host = recipe.partition("  host:\n")[2].partition("  run:")[0]
    assert set(document["build-system"]["requires"]) <= set(re.findall(r"- ([\w-]+)$", host, re.MULTILINE))
    fallback = document["tool"]["hatch"]["version"]["fallback-version"]
    assert f'env.get("VERSION", default="{fallback}")' in recipe
    assert f"ARG VERSION={fallback}\n" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-minimum.txt", "requirements.lock"])
def test_no_list_names_a_host(name: str) -> None:
    assert not re.search(r"://|--(extra-)?index-url|--find-links", (ROOT / name).read_text(encoding="utf-8"))
