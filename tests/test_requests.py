"""One request per command: its class gives flags, TOML keys, keywords, signatures and help."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster, compare, evaluate, serve, tune
from forecast_attn.config import keywords
from forecast_attn.config.file import read_config_file
from forecast_attn.config.options import all_options
from forecast_attn.config.requests import REQUESTS, fields_of
from forecast_attn.config.values import TYPES, checked_value, flag_name, option_type
from forecast_attn.errors import ConfigError

ROOT = Path(__file__).resolve().parent.parent
METHODS: dict[str, Callable[..., Any]] = {
    "predict": Forecaster.predict,
    "backtest": Forecaster.backtest,
    "audit": Forecaster.audit,
    "inspect": Forecaster.inspect,
    "plot": Forecaster.plot,
    "evaluate": evaluate,
    "compare": compare,
    "tune": tune,
    "report": Forecaster.report,
    "export": Forecaster.export,
    "serve": serve,
}
OPTIONS = [field for _, field in all_options().values()] + [f for part in REQUESTS.values() for f in fields_of(part)]

ELSEWHERE = {"predict": {"partitioned"}}
"""Options for which Python has a function of its own: `Forecaster.predict_parts`."""


def test_the_keywords_of_type_checkers_are_the_options() -> None:
    assert set(keywords.TrainKeywords.__annotations__) == set(all_options())
    for name in ("predict", "backtest", "audit", "inspect"):
        named = getattr(keywords, f"{name.title()}Keywords").__annotations__
        assert set(named) == {field.name for field in fields_of(REQUESTS[name])} - ELSEWHERE.get(name, set())
    source = Path(keywords.__file__).read_text(encoding="utf-8")  # editors show what follows a key beside the keyword
    assert '    attention: str\n    """Attention mechanism;' in source
    assert "Default: 'float32'." in source


def test_a_forecaster_shows_every_option_and_its_default() -> None:
    parameters = inspect.signature(Forecaster).parameters
    assert {name: parameters[name].default for name in all_options()} == {
        name: field.default for name, (_, field) in all_options().items()
    }
    assert "attention: attention mechanism" in (Forecaster.__init__.__doc__ or "")


NAMED_INPUTS = {"plot": {"kind"}, "compare": {"attention", "out"}, "export": {"onnx"}}
"""Options that a function takes by a parameter of its own, beside its tables."""


@pytest.mark.parametrize("command", METHODS)
def test_a_function_shows_the_options_of_its_command(command: str) -> None:
    function, named = METHODS[command], NAMED_INPUTS.get(command, set())
    parameters = inspect.signature(function).parameters
    for field in fields_of(REQUESTS[command]):
        if field.name in ELSEWHERE.get(command, set()):
            continue
        assert field.name in parameters
        if field.name not in named:
            assert parameters[field.name].default == field.default
            assert parameters[field.name].annotation == field.type
            assert f"    {field.name}: {field.metadata['help']}." in (function.__doc__ or "")


def test_files_are_forecast_with_the_options_of_one_table() -> None:
    one, many = (inspect.signature(function).parameters for function in (Forecaster.predict, Forecaster.predict_parts))
    assert set(one) - {"on_dump"} == set(many) - {"on_part"}


def test_a_comparison_shows_the_options_of_its_runs() -> None:
    parameters = inspect.signature(compare).parameters
    assert {*all_options(), "seeds", "out"} <= set(parameters)
    assert parameters["seed"].default == 0
    assert parameters["attention"].default is inspect.Parameter.empty


@pytest.mark.parametrize("command", REQUESTS)
def test_every_option_of_a_request_is_a_flag(command: str) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8").split(f"## forecast {command}\n")[1].split("\n## ")[0]
    for field in fields_of(REQUESTS[command]):
        assert re.search(rf"--{flag_name(field)}\b", page), field.name


@pytest.mark.parametrize("field", OPTIONS, ids=lambda field: field.name)
def test_every_option_has_a_type_and_a_default_of_it(field: Any) -> None:
    """The one registry knows the type, and the default survives being read as a user's value."""
    assert option_type(field) in TYPES.values()
    if field.default is not None and field.default != ():
        read = field.metadata["read"] or option_type(field).read
        assert read(field.default) == field.default


@pytest.mark.parametrize(
    ("command", "given", "message"),
    [
        ("predict", {"acelerator": "cpu"}, "there is no option 'acelerator'"),
        ("predict", {"accelerator": "abacus"}, "--accelerator has no value 'abacus'"),
        ("predict", {"attention_top": 0}, "--attention-top must be at least 1; got 0"),
        ("backtest", {"cutoffs": "many"}, "--cutoffs must be a whole number; got 'many'"),
        ("audit", {"windows": 1}, "--windows must be at least 2; got 1"),
        ("audit", {"out": 3}, "--out must be a path; got 3"),
        ("plot", {"kind": "pie"}, "--kind has no value 'pie'"),
        ("evaluate", {"norm": 3}, "--norm must be between 1 and 2; got 3"),
    ],
)
def test_a_wrong_option_is_refused_by_its_request(command: str, given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        REQUESTS[command].from_options(given)
    assert caught.value.message == message


def test_values_come_in_the_types_of_their_fields() -> None:
    request = REQUESTS["backtest"].from_options(
        {"cutoffs": "3", "stride": 24, "by": "step,hour", "out": "a.csv", "baselines": ["naive", "drift"]}
    )
    values = request.to_options()
    assert (values["cutoffs"], values["stride"], values["by"]) == (3, "24", ("step", "hour"))
    assert (values["out"], values["baselines"]) == (Path("a.csv"), ("naive", "drift"))


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("lags", np.array([24, 48])),
        ("lags", np.int64(24)),
        ("quantiles", np.float32(0.5)),
        ("quantiles", pd.Series([0.1, 0.9])),
        ("bidirectional", np.True_),
        ("stride", np.int64(2)),
        ("attention_windows", np.int64(3)),
        ("past_covariates", np.array(["a", "b"])),
    ],
)
def test_numbers_of_numpy_are_numbers(name: str, array: Any) -> None:
    field = next(field for field in OPTIONS if field.name == name)
    assert checked_value(field, array) == checked_value(field, array.tolist())


def test_the_name_of_a_series_may_hold_a_comma() -> None:
    assert REQUESTS["plot"].from_options({"item": "a,b"}).to_options()["item"] == ("a,b",)


def test_a_file_has_a_table_for_each_command(write: Callable) -> None:
    path = Path(write("horizon = 4\n[training]\nseed = 1\n[backtest]\nstride = 24\n[audit]\nwindows = 8\n", "run.toml"))
    assert read_config_file(path) == ({"horizon": 4, "seed": 1}, {})
    assert read_config_file(path, "backtest") == ({"horizon": 4, "seed": 1}, {"stride": "24"})
    assert read_config_file(path, "audit").command == {"windows": 8}


def test_a_wrong_key_of_another_command_is_refused_too(write: Callable) -> None:
    path = Path(write("[backtest]\nstrid = 24\n", "run.toml"))
    with pytest.raises(ConfigError, match=r"'run.toml': there is no option 'strid'"):
        read_config_file(path, "predict")


def test_a_command_reads_its_table_and_flags_win(forecast: Callable, finished_run: str, write: Callable) -> None:
    path = write("[inspect]\ntop = 2\nstep = 1\n", "run.toml")
    assert "--top must be at least 1; got 0" in forecast("inspect", finished_run, "--config", path, "--top", "0").err
    few = forecast("inspect", finished_run, "--config", path, "--json")
    assert few.code == 0
    assert few.out == forecast("inspect", finished_run, "--top", "2", "--step", "1", "--json").out
    assert few.out != forecast("inspect", finished_run, "--json").out


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("horizon = 4\n", "^'run.toml' has no option that forecast inspect reads$"),
        ("[backtest]\nstride = 24\n", "^'run.toml' has no option that forecast inspect reads$"),
        ("top = 2\n", "^'run.toml': there is no option 'top'$"),
    ],
)
def test_a_file_without_an_option_of_the_command_is_refused(
    refused: Callable, finished_run: str, write: Callable, content: str, message: str
) -> None:
    path = write(content, "run.toml")
    hint = r"^write (it|them) below a line \[inspect\]$"
    refused("inspect", finished_run, "--config", path, message=message, hint=hint, code=2)


def test_the_file_of_a_training_is_one_for_its_run(
    forecast: Callable, refused: Callable, finished_run: str, write: Callable
) -> None:
    path = write('target = "target"\nhorizon = 3\n[backtest]\ncutoffs = 2\n', "run.toml")
    outcome = forecast("backtest", finished_run, "--config", path, "--dry-run", "--json")
    assert outcome.code == 0, outcome.err
    assert len(json.loads(outcome.out)["folds"]) == 2
    words = ("backtest", finished_run, "--config", path)
    refused(*words, "--horizon", 3, message="^--horizon is for training", hint="^leave it out", code=2)
    write("horizon = 3\n", "run.toml")
    refused(*words, message="no option that forecast backtest reads", hint=r"a line \[backtest\]$", code=2)


def test_a_file_says_how_evaluate_reads_the_actuals(forecast: Callable, write: Callable, make_table: Callable) -> None:
    table = make_table(20)
    actuals = write(table, "actuals.csv")
    forecasts = write(table[["date"]].assign(m=table["temperature"] + 1), "forecasts.csv")
    path = write('horizon = 3\ntarget = "temperature"\n', "run.toml")
    outcome = forecast("evaluate", forecasts, "--actuals", actuals, "--config", path, "--json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out)["scores"][0]["mae"] == pytest.approx(1)
    other = forecast("evaluate", forecasts, "--actuals", actuals, "--config", path, "--target", "target", "--json")
    assert json.loads(other.out)["scores"][0]["mae"] > 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("horizon = 7\n[data]\nhorizon = 3\n", "'horizon' is there twice"),
        ('past_covariates = ["a"]\n[data]\npast = []\n', "'past_covariates' is there twice"),
        ("max_epochs = 5\nmax-epochs = 3\n", "'max_epochs' is there twice"),
        ("[training]\nmax_epochs = 5\nmax-epochs = 3\n", "'max_epochs' and 'max-epochs' are one option"),
        ("[backtest]\nrefit_epochs = 5\nrefit-epochs = 3\n", "'refit_epochs' and 'refit-epochs' are one option"),
    ],
)
def test_an_option_under_two_names_is_refused(write: Callable, content: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_config_file(Path(write(content, "run.toml")))


def test_keywords_of_one_option_are_refused() -> None:
    with pytest.raises(ConfigError, match="'future' and 'future_covariates' are one option"):
        Forecaster(future=["x"], future_covariates=["y"])  # type: ignore[call-arg]
    changed = Forecaster(past=["x"]).set_params(past_covariates=["y"])  # type: ignore[call-arg]
    assert changed.config.data.past_covariates == ("y",)


STRANGE = (
    *(None, True, -1, 10**20, -0.5, 1e308, float("nan"), float("inf"), "", ",", "x", "nan", "1.."),
    *("\ud800", "9" * 5000, [], [None], [[]], [1, 2], ["x", "x"], [float("nan")], {}, {"x": 1}, b"x", object()),
)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_a_value_of_any_type_is_taken_or_refused_with_a_sentence(option: Any) -> None:
    """What a program passes, or a request to a server: a command line passes text only."""
    for value in STRANGE:
        with contextlib.suppress(ConfigError):
            checked_value(option, value)
