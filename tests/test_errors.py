"""Errors carry fields: what a program needs to know about a problem is never read from its message."""

from __future__ import annotations

import re
from collections.abc import Callable

import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.checking import check_table
from forecast_attn.config.options import RunConfig, find_option
from forecast_attn.config.values import flag_name
from forecast_attn.data.findings import Code, all_codes
from forecast_attn.errors import DataError, RunError

FLAG = re.compile(r"--([a-z][a-z-]*)")
BAD = "timestamp,target\n2024-01-01,1\n2024-01-02,two\n2024-01-03,3\n"


@pytest.mark.parametrize("name", ["target", "target.csv", "timestamp", "two", "column", "table.csv"])
def test_a_bad_table_is_named_whatever_its_file_is_called(write: Callable, name: str) -> None:
    """A file called as a column, or as a word of the message, is named as any other."""
    with pytest.raises(DataError) as caught:
        Forecaster(lookback=1, horizon=1).fit(write(BAD, name))
    assert caught.value.message == f"'{name}': column 'target' must be numeric; row 2 (line 3) is 'two'"
    assert caught.value.file == name


def test_an_error_says_its_place_in_fields(write: Callable) -> None:
    with pytest.raises(DataError) as caught:
        Forecaster(lookback=1, horizon=1).fit(write(BAD, "data.csv"))
    error = caught.value
    assert (error.code, error.column, error.row, error.value) == ("FA103", "target", 2, "two")


def test_a_series_is_named_in_a_field(write: Callable) -> None:
    table = "timestamp,item_id,target\n2024-01-01,a,1\n2024-01-01,b,1\n2024-01-02,b,2\n2024-01-02,b,3\n"
    with pytest.raises(DataError) as caught:
        Forecaster(lookback=1, horizon=1).fit(write(table, "data.csv"))
    error = caught.value
    assert (error.code, error.item_id, error.row, error.value) == ("FA202", "b", 4, "2024-01-02")
    assert error.options == ("duplicates",)


def test_another_hint_keeps_the_place() -> None:
    error = DataError("bad", "do this", code="FA103", file="a.csv", row=3, column="x", item_id="s", value="7")
    other = error.reworded(hint="do that")
    assert (other.message, other.hint) == ("bad", "do that")
    assert vars(other) == {**vars(error), "hint": "do that"}
    assert type(RunError("bad").reworded("worse")) is RunError


@pytest.mark.parametrize("code", [code for code in all_codes().values() if code.bad is not None], ids=lambda c: c.code)
@pytest.mark.slow
def test_a_finding_lists_the_options_that_its_hint_names(write: Callable, code: Code) -> None:
    """A trained model has settled them: it replaces the hint by what the fields say, not by what the text does."""
    assert code.bad is not None
    for name, text in code.bad.files.items():
        write(text, name)
    table = write(code.bad.table.encode(code.bad.encoding), "bad.csv")
    config = RunConfig.from_options(_options(code.bad.options)).data
    settled = {flag_name(find_option(name)[1]) for name in SETTLED}
    for finding in check_table(table, config).findings:
        named = {flag for flag in FLAG.findall(finding.hint or "") if flag in settled}
        assert named <= {flag_name(find_option(name)[1]) for name in finding.options}, finding


SETTLED = (
    "ignore",
    "freq",
    "time",
    "tz",
    "date_format",
    "missing",
    "duplicates",
    "delimiter",
    "decimal",
    "encoding",
    "past_covariates",
    "static_covariates",
    "categorical",
)


def _options(words: tuple[str, ...]) -> dict[str, str | bool]:
    """The options that a command line of an example names."""
    options: dict[str, str | bool] = {}
    for at, word in enumerate(words):
        if word.startswith("--"):
            value = words[at + 1] if at + 1 < len(words) and not words[at + 1].startswith("--") else True
            options[find_option(word[2:])[1].name] = value
    return options


@pytest.mark.slow
def test_a_forecast_does_not_propose_options_of_training() -> None:
    """What cannot be changed any more is not proposed: the gap of a history is filled, not hidden by an option."""
    hours = pd.date_range("2024-01-01", periods=60, freq="D").astype(str)
    frame = pd.DataFrame({"timestamp": hours, "target": range(60)})
    model = Forecaster(lookback=4, horizon=2, max_epochs=1, hidden_size=2, seed=0, accelerator="cpu").fit(frame)
    with pytest.raises(DataError) as caught:
        model.predict(frame.drop(index=[40, 41]))
    assert caught.value.code == "FA204"
    assert caught.value.hint.startswith("add the missing rows; forecast check FILE --missing ffill")
