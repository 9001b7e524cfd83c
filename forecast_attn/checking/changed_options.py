"""Other values for the options of a table on which nothing trains: mistakes in cells as no value, options withdrawn."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from forecast_attn.checking.examination import Examination
from forecast_attn.config.options import DataConfig, find_option
from forecast_attn.config.values import flag_name
from forecast_attn.data.findings import Finding
from forecast_attn.errors import nearest

MOST_MISTAKES = 3
"""Different cells that may be read as no value."""
_CELL_CODES = ("FA103", "FA303")
_MEANING = ("time", "target", "item_id", "wide", "layout", "na", "ignore")
"""Options that say what is meant by a table, never withdrawn unless they name a column that it lacks."""
_COLUMNS = ("static_covariates", "weight", "past_covariates", "future_covariates", "categorical")
SMALLEST_SIZES = ((3, 3), (2, 2), (2, 1), (1, 1))
"""Lookback and horizon of tables of fewer than ten rows, which get none by default."""
Changes = dict[str, Any]


def possible_changes(config: DataConfig, examination: Examination) -> Iterator[Changes]:
    """Options, by field name, that may read a table which those given do not, the likeliest first.

    Args:
        config: the options that were given.
        examination: of the table with them.
    """
    errors = [finding for finding in examination.findings if finding.severity == "error"]
    if not errors:
        return
    cells = dict.fromkeys(f.value for f in errors if f.code in _CELL_CODES and f.value is not None)
    if 0 < len(cells) <= MOST_MISTAKES and all(error.code in _CELL_CODES for error in errors):
        yield {"na": (*config.na, *cells)}
    named = [change for name in _COLUMNS if (change := _without_column(config, name, errors[0]))]
    spelt = _spelt_right(config, errors[0], examination)
    if spelt:
        yield spelt
        return
    yield from named
    given = _given_names(config)
    first = [name for name in given if any(name in error.options for error in errors)]
    for name in dict.fromkeys((*first, *(name for name in given if name not in (*_MEANING, *_COLUMNS)))):
        yield {name: getattr(DataConfig, name)}
    if all(error.code == "FA403" for error in errors):
        yield from ({"lookback": lookback, "horizon": horizon} for lookback, horizon in SMALLEST_SIZES)


def named_in(message: str, config: DataConfig) -> Changes:
    """The given options that an error names, with their defaults."""
    named = [name for name in _given_names(config) if re.search(rf"--{flag_name(find_option(name)[1])}\b", message)]
    return {name: getattr(DataConfig, name) for name in named}


def _given_names(config: DataConfig) -> list[str]:
    """The fields that differ from their defaults, in the order of `DataConfig`."""
    names = (field.name for field in dataclasses.fields(DataConfig))
    return [name for name in names if getattr(config, name) != getattr(DataConfig, name)]


def _without_column(config: DataConfig, name: str, error: Finding) -> Changes:
    """The option without the column of an error; {} where it does not name that column."""
    value = getattr(config, name)
    if error.column is None or value is None:
        return {}
    if isinstance(value, str):
        return {name: None} if value == error.column else {}
    others = tuple(each for each in value if each != error.column)
    return {name: others} if len(others) < len(value) else {}


def _spelt_right(config: DataConfig, error: Finding, examination: Examination) -> Changes:
    """The option that misspells a column, with the name that the table has; {} for other errors."""
    frame, wrong = examination.frame, error.column
    if error.code != "FA102" or frame is None or wrong is None or wrong in frame.columns:
        return {}
    right = nearest(wrong, [str(name) for name in frame.columns])
    for field in dataclasses.fields(DataConfig):
        value = getattr(config, field.name)
        if value == wrong:
            return {field.name: right}
        if isinstance(value, tuple) and wrong in value:
            return {field.name: tuple(right if each == wrong else each for each in value if each != wrong or right)}
    return {}
