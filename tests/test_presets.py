"""Presets: what they fill in, that options which are given win, and what a run says of its own."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forecast_attn import Forecaster
from forecast_attn.comparison.comparison_plan import ComparisonPlan
from forecast_attn.config.options import RunConfig, all_options
from forecast_attn.config.requests import CompareRequest
from forecast_attn.config.values import PRESETS, flag_name
from forecast_attn.errors import ConfigError

CHOICES = {name: option.metadata["choices"] for name, (_, option) in all_options().items()}
GIVEN: dict[str, Any] = {
    **{f"{name}={value}": {name: value} for name, values in CHOICES.items() if name != "preset" for value in values},
    **{f"{name}=1": {name: 1} for name in ("ensemble", "hidden_size", "max_epochs", "num_layers", "epoch_windows")},
    "quantiles": {"quantiles": (0.1, 0.5, 0.9)},
    "calibrated quantiles": {"quantiles": (0.1, 0.5, 0.9), "calibration": "cqr"},
    "teacher forcing": {"decoding": "autoregressive", "teacher_forcing": "0.5"},
}


def values_of(config: RunConfig) -> dict[str, Any]:
    return {name: value for part in config.to_dict().values() for name, value in part.items()}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_its_options_and_nothing_else(name: str) -> None:
    assert PRESETS[name].options.keys() <= all_options().keys() - {"preset"}
    values, plain = values_of(RunConfig.from_options({"preset": name})), values_of(RunConfig())
    assert values == {**plain, **PRESETS[name].options, "preset": name}
    assert values_of(Forecaster(preset=name).config) == values


def test_the_default_preset_is_what_is_used_without_one() -> None:
    assert RunConfig.from_options({}) == RunConfig.from_options({"preset": "default"})


@pytest.mark.parametrize(("name", "given"), list(itertools.product(PRESETS, GIVEN)))
def test_whatever_goes_without_a_preset_goes_with_one_and_wins(name: str, given: str) -> None:
    try:
        RunConfig.from_options(GIVEN[given])
    except ConfigError:
        return  # needs another option, preset or none
    values = values_of(RunConfig.from_options({"preset": name, **GIVEN[given]}))
    for option, value in GIVEN[given].items():
        assert values[option] == value


def test_an_option_by_its_flag_wins_too() -> None:
    shorter = {flag_name(all_options()[name][1]): value for name, value in {"max_epochs": 3, "hidden_size": 7}.items()}
    values = RunConfig.from_options({"preset": "fast", **shorter})
    assert (values.training.max_epochs, values.model.hidden_size) == (3, 7)


def test_a_comparison_trains_all_with_the_preset() -> None:
    plan = ComparisonPlan.of(CompareRequest(attention=("none", "bahdanau"), seeds=1), preset="fast", hidden_size=6)
    assert {plan.config_of(entry).model.hidden_size for entry in plan.entries} == {6}
    assert {plan.config_of(entry).training.max_epochs for entry in plan.entries} == {6}


def test_a_recorded_preset_is_a_name_only() -> None:
    """What a later version means by it, and options that a run was given otherwise, change nothing."""
    recorded = RunConfig.from_options({"preset": "accurate", "ensemble": 2}).to_dict()
    del recorded["training"]["weight_averaging"]  # as an older version would have it
    read = RunConfig.from_dict(recorded).training
    assert (read.preset, read.ensemble, read.weight_averaging) == ("accurate", 2, "none")


@pytest.mark.slow
def test_a_run_records_its_preset_and_info_shows_it(
    here: Path, forecast: Callable[..., Any], write: Callable[..., str], make_table: Callable[..., Any], small: Any
) -> None:
    Path("run.toml").write_text('[training]\npreset = "fast"\nmax_epochs = 1\n')
    table, sizes = write(make_table()), [word for word in small if word not in ("--max-epochs", "2")]
    outcome = forecast("train", table, *sizes, "--config", "run.toml", "--out", "run")
    assert outcome.code == 0, outcome.err
    options = json.loads(Path("run/config.json").read_text())["options"]
    assert (options["training"]["preset"], options["training"]["max_epochs"]) == ("fast", 1)
    assert options["model"]["hidden_size"] == 4  # of the command line
    shown = forecast("info", "run").out.splitlines()
    assert ["options.training.preset", "fast"] in [line.split() for line in shown]
    assert forecast("predict", "run").code == 0


def test_presets_list_themselves(forecast: Callable[..., Any]) -> None:
    listed = forecast("train", "--preset", "help").out
    for name, preset in PRESETS.items():
        assert name in listed
        assert preset.cost in listed
    assert "--ensemble 4 --weight-averaging ema" in listed
    unknown = forecast("train", "data.csv", "--preset", "fst")
    assert (unknown.error, unknown.hint) == ("--preset has no value 'fst'", "did you mean 'fast'?")
