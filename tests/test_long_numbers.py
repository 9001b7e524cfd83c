"""Whole numbers of more digits than 64 bits hold, and than Python reads, wherever a text may be one."""

import pytest

from forecast_attn.backtest.folds import parse_refit
from forecast_attn.config.values import parse_attention_windows
from forecast_attn.errors import ConfigError

LONG = "9" * 5000


@pytest.mark.parametrize("parse", [parse_refit, parse_attention_windows])
@pytest.mark.parametrize("text", ["9" * 19, LONG])
def test_a_count_of_too_many_digits_is_refused(parse, text):
    with pytest.raises(ConfigError, match=r"got '9{19}") as error:
        parse(text)
    assert len(error.value.message) < 200


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--season", LONG), "is more than 10,000,000 steps"),
        (("--season", "1000000000"), "is more than 10,000,000 steps"),
        (("--attention-windows", LONG), "--attention-windows must be a number of windows"),
        (("--future", f"temperature:{LONG}"), "temperature:999"),
        (("--future", "temperature:100000000"), "'temperature:100000000'"),
        (("--lookback", LONG), "--lookback"),
        (("--seed", LONG), "--seed"),
    ],
)
def test_a_training_refuses_it(forecast, write, make_table, words, message):
    outcome = forecast("train", write(make_table()), *words)
    assert outcome.code in (1, 2)
    assert message in outcome.error


@pytest.mark.slow
@pytest.mark.parametrize("stamp", [LONG, "9" * 19, "--5"])
def test_a_step_that_no_axis_has(forecast, here, write, make_table, small, stamp):
    table = make_table().assign(date=range(120))
    assert forecast("train", write(table), *small, "--season", "7", "--out", "run").code == 0
    outcome = forecast("backtest", "run", "--data", "data.csv", f"--start={stamp}")
    assert outcome.code in (1, 2)
    assert "the time axis counts steps" in outcome.error
