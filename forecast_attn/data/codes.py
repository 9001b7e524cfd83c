"""What every finding's code stands for: title, severity, meaning, and an example with its correction.

The texts live in codes.toml. Reading them loads the standard library only, so that `forecast explain` is instant.
"""

from __future__ import annotations

import functools
import shlex
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from forecast_attn.errors import ConfigError, did_you_mean

EXAMPLE_OPTIONS = "--lookback 2 --horizon 1"
"""Sizes that fit the few rows of an example."""

GROUPS = {
    "FA1": "the file and its columns",
    "FA2": "the time axis",
    "FA3": "cells",
    "FA4": "series",
    "FA5": "covariates and the future",
}


@dataclass(frozen=True)
class Example:
    """A table, the options it is checked with, and the files that those name."""

    table: str
    options: tuple[str, ...]
    files: dict[str, str]
    encoding: str
    """How the table is saved."""


@dataclass(frozen=True)
class Code:
    """One kind of finding."""

    code: str
    title: str
    severity: str
    """`error` stops training; `warning` and `note` do not."""
    means: str
    matters: str
    fix: str
    bad: Example | None
    """Has a finding of this code; None where only a forecast can have one."""
    good: Example | None
    """The same, put right: no finding of this code, and no error."""


@functools.cache
def all_codes() -> dict[str, Code]:
    """Every code, in order."""
    text = files("forecast_attn.data").joinpath("codes.toml").read_text(encoding="utf-8")
    return {name: _code(name, entry) for name, entry in sorted(tomllib.loads(text).items())}


def find_code(name: str) -> Code:
    """The code of that name, in any case, with or without `FA`.

    Raises:
        ConfigError: there is none; with the nearest one.
    """
    known = all_codes()
    wanted = name.strip().upper()
    code = known.get(wanted) or known.get(f"FA{wanted}")
    if code is None:
        raise ConfigError(f"there is no finding '{name}'", _nearest(wanted))
    return code


def _nearest(wanted: str) -> str | None:
    group = [code for code in all_codes() if wanted.startswith(code[:3])]
    return did_you_mean(wanted, group or list(all_codes()))


def _code(name: str, entry: dict[str, Any]) -> Code:
    texts = {key: entry[key] for key in ("title", "severity", "means", "matters", "fix")}
    return Code(name, **texts, bad=_example(entry, "bad"), good=_example(entry, "good"))


def _example(entry: dict[str, Any], which: str) -> Example | None:
    if which not in entry:
        return None
    options = (EXAMPLE_OPTIONS, entry.get("options", ""), entry.get(f"{which}_options", ""))
    return Example(
        entry[which],
        tuple(shlex.split(" ".join(options))),
        entry.get(f"{which}_files", {}),
        entry.get(f"{which}_encoding", "utf-8"),
    )
