"""The command line itself: help, exit codes, what goes where, --json, --quiet, --config, colours."""

import dataclasses
import errno
import json
import os
import re
import subprocess
import sys
from multiprocessing import Pipe
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import forecast_attn
from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.options import SECTIONS, RunConfig, all_options, find_option
from forecast_attn.config.requests import REQUESTS
from forecast_attn.config.values import checked_value, flag_name, names_text

from .forks import Conditions, on_terminal, start_forked

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = ("check", "train", "predict", "inspect", "info")
ESCAPE = "\x1b["
TERMINAL = {"TERM": "xterm-256color", "COLUMNS": "100"}


# --------------------------------------------------------------------------- help


def test_help_lists_every_command(forecast):
    for flag in ("--help", "-h"):
        outcome = forecast(flag)
        assert (outcome.code, outcome.err) == (0, "")
        assert all(re.search(rf"\b{command}\b", outcome.out) for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_of_a_command(forecast, command, flag):
    outcome = forecast(command, flag)
    assert (outcome.code, outcome.err) == (0, "")
    assert f"forecast {command}" in outcome.out
    assert "--json" in outcome.out


def test_every_option_of_the_configuration_is_a_flag_with_its_default(forecast, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    page = forecast("train", "--help-all").out
    for name, (_, option) in all_options().items():
        entry = re.search(rf"\n  --{flag_name(option)}\b.*?(?=\n  -|\n\n|$)", page, re.DOTALL)
        assert entry is not None, name
        if option.default not in (None, ()) and not isinstance(option.default, bool):
            assert f"[default: {option.default}]" in entry[0], name
        choices = option.metadata["choices"]
        if name != "attention":
            assert all(choice in entry[0] for choice in choices), name


@pytest.mark.parametrize("command", ["check", "train", "compare", "tune", "backtest"])
@pytest.mark.slow
def test_a_short_help_page_shows_the_essential_options(forecast, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "200")
    named = REQUESTS[command].names() if command in REQUESTS else frozenset()
    sections = {"data"} if command == "check" else {"data", "model", "training"}
    pages = {flag: forecast(command, flag) for flag in ("--help", "--help-all")}
    assert {(page.code, page.err) for page in pages.values()} == {(0, "")}
    shown = {flag: set(re.findall(r"--([a-z][a-z-]*)", page.out)) for flag, page in pages.items()}
    for name, (section, option) in all_options().items():
        if section in sections and name not in named:
            assert flag_name(option) in shown["--help-all"], name
            assert (flag_name(option) in shown["--help"]) == option.metadata["essential"], name
    assert {"help", "help-all", "config", "json", "quiet"} <= shown["--help"]


def test_most_people_need_about_25_options():
    assert sum(option.metadata["essential"] for _, option in all_options().values()) == 25


def test_help_lists_choices_unless_its_words_name_them_all(forecast, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    page = " ".join(forecast("train", "--help-all").out.replace("│", " ").split())
    assert "(bahdanau) or after it (luong)." in page
    assert "(softmax, sparsemax, entmax15)" in page


def test_no_command_shows_the_help(forecast):
    outcome = forecast()
    assert outcome.code == 2
    assert "Usage: forecast" in outcome.out + outcome.err
    assert "error:" not in outcome.err


def test_version(forecast):
    outcome = forecast("--version")
    assert outcome.code == 0
    assert re.fullmatch(r"forecast-attn \d+\.\d+\.\d+\S*\n", outcome.out)
    assert outcome.out.split() == ["forecast-attn", forecast_attn.__version__]


def test_attention_help_lists_the_mechanisms(forecast):
    outcome = forecast("train", "--attention", "help")
    assert outcome.code == 0
    assert [line.split()[0] for line in outcome.out.splitlines()] == list(ATTENTIONS)
    page = (ROOT / "docs" / "attention.md").read_text(encoding="utf-8")
    numbers = re.compile(r"(?:eq\. |§)[\d.]+\d|eq\. \d")
    for line in outcome.out.splitlines():
        row = re.search(rf"^\| `{line.split()[0]}` .*$", page, re.MULTILINE)[0]
        cited = numbers.findall(line)
        assert not cited or cited == numbers.findall(row), "the paper's numbers are the page's"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", [[str(ROOT / "cli.py")], ["-m", "forecast_attn"]], ids=["python cli.py", "python -m forecast_attn"]
)
def test_other_ways_to_start_it(process_environment, here, command):
    done = subprocess.run(
        [sys.executable, *command, "train", "-h"], capture_output=True, text=True, env=process_environment, check=True
    )
    assert "Usage: forecast train" in done.stdout
    assert not list(here.iterdir())


# --------------------------------------------------------------------------- a wrong command line


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("trian", "data.csv"), "no such command 'trian'", "did you mean 'train'?"),
        (("train", "data.csv", "--horizn", "3"), "no such option '--horizn'", "did you mean '--horizon'?"),
        (("inspect", "--series", "a"), "no such option '--series'", "did you mean '--item'?"),
        (("train", "data.csv", "--output", "run"), "no such option '--output'", "did you mean '--out'?"),
        (("train", "data.csv", "--out"), "option '--out' requires an argument", "forecast train --help"),
        (
            ("train", "data.csv", "--future-covariates", "x"),
            "no such option '--future-covariates'",
            "did you mean '--future'?",
        ),
        (("export", "--out", "x"), "no such option '--out'", "did you mean '--onnx'?"),
        (("plot", "--out", "x.png"), "no such option '--out'", "did you mean '--png'?"),
        (("check", "data.csv", "--date", "day"), "no such option '--date'", "did you mean '--time'?"),
        (("predict", "--run", "run"), "no such option '--run'", "forecast predict RUN: RUN is written without --run"),
        (("inspect", "--run", "run"), "no such option '--run'", "forecast inspect RUN: RUN is written without --run"),
        (("train", "data.csv", "--qqqqqqqq"), "no such option: --qqqqqqqq", "forecast train --help"),
        (("train", "data.csv", "other.csv"), "got unexpected extra argument", "forecast train --help"),
        (("train",), "there is no table to train on", "forecast train data.csv"),
        (("check",), "missing argument 'data'", "forecast check --help"),
        (("inspect", "--step"), "option '--step' requires an argument", "forecast inspect --help"),
        (("train", "data.csv", "--quiet=3"), "option '--quiet' does not take a value", "forecast train --help"),
        (("train", "data.csv", "--attention", "luong"), "--attention has no value 'luong'", "'luong-"),
        (("predict", "--accelerator", "gpuu"), "--accelerator has no value 'gpuu'", "did you mean 'gpu'?"),
        (("predict", "--out", "-", "--json"), "--out - and --json both want stdout", "choose one"),
        (
            ("predict", "--data", "-", "--future", "-"),
            "--data and --future cannot both come from stdin",
            "--future FILE",
        ),
        (("train", "--resume", "run", "--horizon", "3"), "--resume continues .* cannot change --horizon", "leave"),
        (("train", "--resume", "run", "--out", "other"), "--resume continues .* cannot change --out", "leave"),
    ],
)
def test_exit_code_2(forecast, here, words, message, hint):
    outcome = forecast(*words)
    assert outcome.code == 2
    assert outcome.out == "" or "--json" in words
    assert re.match(message, outcome.error, re.IGNORECASE), outcome.error
    assert hint in outcome.hint
    assert not list(here.iterdir())


@pytest.mark.slow
def test_debug_shows_the_traceback(forecast_fork, here):
    outcome = forecast_fork("--debug", "train", "nowhere.csv")
    assert outcome.code == 1
    assert "Traceback" in outcome.err
    assert "DataError: there is no file 'nowhere.csv'" in outcome.err


# --------------------------------------------------------------------------- what goes where


@pytest.mark.slow
def test_train_says_its_result_on_stdout_and_the_rest_on_stderr(forecast, write, make_table, small):
    outcome = forecast("train", write(make_table()), *small)
    assert outcome.code == 0
    first, *table, run = outcome.out.splitlines()
    assert first.startswith("validation, 16 of 22 windows after 2024-04-05; best epoch ")
    assert table[0].split() == ["MAE", "RMSE", "MASE", "skill", "against"]
    names = ["forecast", "naive", "seasonal-naive", "mean", "median", "drift", "linear"]
    assert [line.split()[0] for line in table[1:8]] == names
    assert re.match(r"skill -?\d+\.\d %: ", table[8])
    assert run.startswith("run: runs/")
    for text in ("target", "past covariate", "numeric, not declared", "step D", "epoch   1/2", "epoch   2/2"):
        assert text in outcome.err
    assert "runs/" not in outcome.err


@pytest.mark.slow
def test_a_model_worse_than_naive_is_called_so(forecast, write, make_table, small):
    assert "this model is WORSE than " in forecast("train", write(make_table()), *small).out


@pytest.mark.slow
def test_a_combination_worse_than_a_baseline_is_told_so(forecast, write, make_table):
    """On noise the mean is better than whatever of season and trend is mixed with the network."""
    noise = make_table(220).assign(target=np.random.default_rng(1).normal(10, 1, 220))[["date", "target"]]
    outcome = forecast("train", write(noise), "--max-epochs", 1, "--hidden-size", 4, "--seed", 1)
    assert re.search("predict will forecast with .* on these windows, WORSE than (mean|median) with", outcome.out)


@pytest.mark.slow
def test_quiet_leaves_the_result_alone(forecast, write, make_table, small):
    trained = forecast("train", write(make_table()), *small, "--quiet")
    assert (trained.code, trained.err) == (0, "")
    assert "skill" in trained.out
    predicted = forecast("predict", "--quiet")
    assert (predicted.code, predicted.err) == (0, "")
    assert predicted.out.startswith("item_id,cutoff,timestamp,step,prediction\n")


@pytest.mark.slow
def test_a_history_that_ends_before_the_training_is_told_so(forecast, write, make_table, small):
    table = make_table()
    forecast("train", write(table), *small, "--quiet")
    table.iloc[:-40].to_csv("short.csv", index=False)
    assert "note: the history ends at " in forecast("predict", "--data", "short.csv").err
    assert "note: the history ends at " not in forecast("predict", "--data", write(table)).err


def test_quiet_does_not_silence_errors(forecast, here):
    outcome = forecast("train", "nowhere.csv", "--quiet")
    assert outcome.code == 1
    assert outcome.err.startswith("error: there is no file 'nowhere.csv'\n")


@pytest.mark.slow
def test_json_is_one_document(forecast, write, make_table, small):
    trained = json.loads(forecast("train", write(make_table()), *small, "--out", "run", "--json").out)
    assert trained["run"] == "run"
    assert set(trained) >= {"validation", "seasonal_naive", "skill_per_cent", "baselines", "best_epoch", "ended"}
    assert set(trained["validation"]) >= {"mae", "rmse", "mase", "windows"}
    predicted = json.loads(forecast("predict", "run", "--json").out)
    assert (predicted["rows"], predicted["series"]) == (3, 1)
    assert json.loads(forecast("info", "run", "--json").out)["finished"] is True
    assert "torch" in json.loads(forecast("info", "--json").out)["versions"]
    assert json.loads(forecast("inspect", "run", "--json").out)
    assert json.loads(forecast("check", "data.csv", "--json").out)["findings"] == []


def test_a_wrong_command_line_is_json_too(forecast):
    outcome = forecast("check", "data.csv", "--tarjet", "y", "--json")
    assert outcome.code == 2
    error = json.loads(outcome.out)["error"]
    assert (error["kind"], error["code"]) == ("ConfigError", None)
    assert error["message"] == "no such option '--tarjet'"
    assert error["hint"] == "did you mean '--target'?"


@pytest.mark.slow
def test_check_in_json_says_every_error_and_exits_with_1(forecast, write, make_table):
    table = make_table().astype({"target": object})
    table.loc[3, "target"], table.loc[9, "temperature"] = "unknown", None
    outcome = forecast("check", write(table), "--missing", "error", "--json")
    assert outcome.code == 1
    findings = json.loads(outcome.out)["findings"]
    assert {(finding["column"], finding["row"]) for finding in findings} == {("target", 4), ("temperature", 10)}
    assert forecast("check", "data.csv").code == 1


@pytest.mark.slow
def test_no_colour_where_there_is_no_terminal(forecast, run_copy, write, make_table, small):
    for words in (
        ("train", write(make_table()), *small),
        ("predict", "run"),
        ("inspect", "run"),
        ("check", "data.csv"),
        ("info", "run"),
        ("train", "--help"),
    ):
        outcome = forecast(*words)
        assert ESCAPE not in outcome.out + outcome.err, words


@pytest.mark.slow
def test_names_are_text_and_no_markup(forecast, write, make_table, small):
    """`[kW]` is a unit, `[/x]` no closing tag, `:cat:` no picture."""
    table = make_table().assign(item_id="[/x] :cat:").rename(columns={"temperature": "load [kw]"})
    path = write(table, "[red].csv")
    checked = forecast("check", path)
    assert checked.code == 0
    for name in ("[red].csv", "load [kw]", "[/x] :cat:"):
        assert name in checked.out
    trained = forecast("train", path, *small, "--out", "[bold]")
    assert "load [kw]" in trained.err
    assert trained.out.endswith("run: [bold]\n")
    assert forecast("predict", "[bold]").code == 0
    assert "[/x] :cat:" in forecast("inspect", "[bold]").out


@pytest.mark.slow
def test_colours_on_a_terminal_unless_no_color(run_copy):
    assert re.search(r"\x1b\[[\d;]*3[0-9]|\x1b\[38;", on_terminal(["inspect", "run"], **TERMINAL))
    plain = on_terminal(["inspect", "run"], **TERMINAL, NO_COLOR="1")
    assert not re.search(r"\x1b\[[\d;]*(3[0-7]|38;|4[0-7]|48;)[\d;]*m", plain)


@pytest.mark.slow
def test_a_live_bar_on_a_terminal(write, make_table, small):
    shown = on_terminal(["train", write(make_table()), *small], **TERMINAL)
    assert "windows/s" in shown
    assert "loss" in shown
    assert "epoch 2/2" in shown
    assert "epoch   1/2" not in shown  # the plain line of a file or pipe


# --------------------------------------------------------------------------- --config


@pytest.mark.slow
def test_a_configuration_file_and_flags_that_win_over_it(forecast, write, make_table, small):
    write(
        'out = "from-file"\n[data]\nhorizon = 5\nlookback = 10\npast = ["temperature"]\n[model]\nhidden-size = 3\n',
        "run.toml",
    )
    flags = ("--horizon", "2", "--max-epochs", "1", "--epoch-windows", "8")
    outcome = forecast("train", write(make_table()), "--config", "run.toml", *flags, "--out", "run")
    assert outcome.code == 0, outcome.err
    options = json.loads(Path("run/config.json").read_text())["options"]
    assert (options["data"]["horizon"], options["data"]["lookback"], options["model"]["hidden_size"]) == (2, 10, 3)
    assert options["data"]["past_covariates"] == ["temperature"]


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        ("horizn = 3\n", "^'run.toml': there is no option 'horizn'$", "did you mean 'horizon'"),
        ("[model]\nhiden_size = 3\n", "^'run.toml': there is no option 'hiden_size'$", "did you mean 'hidden_size'"),
        ("[modell]\nhorizon = 3\n", r"^'run.toml' has an unknown table \[modell\]$", "did you mean 'model'"),
        ("horizon = \n", "^'run.toml' is not valid TOML: ", ""),
        ('horizon = "many"\n', "^--horizon must be a whole number; got 'many'$", ""),
        ("horizon = true\n", "^--horizon must be a whole number; got True$", ""),
        ("bidirectional = 1\n", "^--bidirectional must be true or false; got 1$", ""),
        ("max_epochs = 2.5\n", "^--max-epochs must be a whole number; got 2.5$", ""),
        ("past = 3\n", "^--past must be column names; got 3$", ""),
        ('past = ",,"\n', "^--past must be column names; got ',,'$", ""),
        ('attention = "luong-genral"\n', "^--attention has no value 'luong-genral'$", "did you mean 'luong-general'"),
        (None, "^cannot read the configuration 'run.toml': No such file", "horizon = 24"),
    ],
)
def test_a_wrong_configuration_file(forecast, write, make_table, here, content, message, hint):
    if content is not None:
        write(content, "run.toml")
    outcome = forecast("train", write(make_table()), "--config", "run.toml")
    assert (outcome.code, outcome.out) == (2, "")
    assert re.search(message, outcome.error), outcome.error
    assert hint in outcome.hint
    assert not Path("runs").exists()


def test_every_default_survives_the_way_through_config_json():
    config = RunConfig()
    assert RunConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_every_option_can_be_written_in_a_configuration_file(tmp_path):
    from forecast_attn.config.file import read_config_file

    lines = []
    for section, part in SECTIONS.items():
        lines.append(f"[{section}]")
        for option in dataclasses.fields(part):
            if option.default is not None:
                value = list(option.default) if isinstance(option.default, tuple) else option.default
                lines.append(f"{flag_name(option)} = {json.dumps(value)}")
    (tmp_path / "run.toml").write_text("\n".join(lines))
    assert RunConfig.from_options(read_config_file(tmp_path / "run.toml").training) == RunConfig()


# --------------------------------------------------------------------------- info, pipes


def test_info_about_this_machine(forecast):
    outcome = forecast("info")
    assert outcome.code == 0
    assert re.search(r"^versions\.torch +\d", outcome.out, re.MULTILINE)


def test_info_about_a_run(forecast, finished_run):
    outcome = forecast("info", finished_run)
    assert outcome.code == 0
    for text in (
        "options.model.attention",
        "luong-general",
        "metrics.validation.mae",
        "schema.lookback",
        "data.sha256",
    ):
        assert text in outcome.out


def test_info_begins_with_the_scores_and_ends_with_options_at_their_defaults(forecast, finished_run):
    first, last = forecast("info", finished_run).out.split("\n\noptions at their defaults:\n")
    first, last = ([line.split()[0] for line in part.splitlines()] for part in (first, last))
    assert list(dict.fromkeys(name.split(".")[0] for name in first)) == [
        *("run", "finished", "trained", "data", "metrics", "schema", "files", "options")
    ]
    assert {"options.data.horizon", "options.model.hidden_size"} <= set(first)
    assert {"options.data.duplicates", "options.model.cell"} <= set(last)


@pytest.mark.slow
@pytest.mark.parametrize("words", [["info"], ["inspect", "--validation"]])
def test_a_reader_that_has_had_enough(finished_run, words):
    """`forecast info RUN | head -1` ends quietly; at tables rich would end with 1."""
    (reader, stdout), (messages, stderr) = (Pipe(duplex=False) for _ in range(2))
    reader.close()
    process = start_forked([words[0], finished_run, *words[1:]], [stdout, stderr], Conditions())
    stderr.close()
    assert os.read(messages.fileno(), 1) == b""
    process.join()
    assert process.exitcode == 0


def test_ctrl_c_is_told(forecast, monkeypatch):
    """Typer ends with 130 and says nothing."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("importlib.metadata.version", interrupted)
    outcome = forecast("info")
    assert (outcome.code, outcome.err) == (130, "error: interrupted\n")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ImportError("libtorch_cpu.so: failed to map segment from shared object"),
        OSError("libtorch_cpu.so: failed to map segment from shared object"),
        OSError(errno.ENOMEM, os.strerror(errno.ENOMEM)),
        RuntimeError("can't start new thread"),
        pa.ArrowException("Unknown error: Failed to launch worker thread: Resource temporarily unavailable"),
    ],
)
def test_a_lack_of_memory_is_one_sentence(forecast, monkeypatch, error):
    """As under `ulimit -v`, where the loader of libraries is refused memory as Python is."""

    import torch  # noqa: F401 - which half an import leaves unusable for the other tests

    def refused(*_: object) -> None:
        raise error

    monkeypatch.setattr("importlib.metadata.version", refused)
    outcome = forecast("info")
    assert (outcome.code, outcome.error) == (1, "this needs more memory than there is"), outcome.err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="no such limit")
def test_linear_algebra_has_its_memory_before_the_limit_is_reached(process_environment):
    """OpenBLAS waits for ever for memory that it cannot have: a training under `ulimit -v` never ended."""
    program = (
        "import resource; set_limit = lambda most: resource.setrlimit(resource.RLIMIT_AS, (most, -1)); "
        "set_limit(1 << 36); import forecast_attn.cli.library, numpy; from scipy.linalg.lapack import dpotrf; "
        "used = int(open('/proc/self/status').read().split('VmSize:')[1].split()[0]); set_limit(used + 1024 << 10); "
        "print(numpy.linalg.cholesky(numpy.eye(3)).sum() + dpotrf(numpy.eye(3))[1])"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=process_environment, capture_output=True, text=True, timeout=120)
    assert done.stdout == "3.0\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", [("--help",), ("info", "--json"), ("inspect",), ("predict", "--out", "-")])
@pytest.mark.skipif(sys.platform == "win32", reason="no such shell")
def test_a_closed_stdout(process_environment, finished_run, words):
    """As `forecast info >&-` closes it: Python then has no stdout at all."""
    run = () if words == ("--help",) else (str(finished_run),)
    command = [sys.executable, "-m", "forecast_attn", *words[:1], *run, *words[1:]]
    closed = ["sh", "-c", 'exec "$@" <&- >&-', "sh", *command]
    done = subprocess.run(closed, env=process_environment, stderr=subprocess.PIPE, text=True, timeout=600)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


@pytest.mark.slow
def test_a_pipe_that_closes_between_lines(process_environment, finished_run):
    """Lines are flushed one by one, and the first of them is read: the pipe closes inside the command."""
    slow = (
        "import time, typer; from forecast_attn.cli import main\n"
        "echo = typer.echo\n"
        "typer.echo = lambda *words, **how: (echo(*words, **how), time.sleep(0.2))\n"
        f"main(['info', {str(finished_run)!r}])"
    )
    command = [sys.executable, "-c", slow]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=process_environment) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.slow
def test_nothing_is_written_but_what_was_named(forecast_fork, write, make_table, small, here, tmp_path):
    """Home, cache and temporary folder are watched too."""
    folders = {name: tmp_path / name.lower() for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    for folder in folders.values():
        folder.mkdir()
    environment = tuple((name, str(folder)) for name, folder in folders.items())
    path = write(make_table())
    named = tmp_path / "named"
    for words in (
        ("check", path),
        ("train", path, *small, "--out", named / "run"),
        ("predict", named / "run", "--out", named / "forecast.csv", "--attention-out", named / "weights.parquet"),
        ("inspect", named / "weights.parquet", "--export", named / "weights.csv", "--png", named / "weights.png"),
        ("info", named / "run"),
    ):
        outcome = forecast_fork(*words, environment=environment)
        assert outcome.code == 0, outcome.err
    assert [entry.name for entry in here.iterdir()] == [path]
    left = [entry for folder in folders.values() for entry in folder.rglob("*") if entry.is_file()]
    assert not [entry for entry in left if "fontconfig" not in str(entry)]
    assert not [*folders["HOME"].iterdir(), *folders["XDG_CONFIG_HOME"].iterdir()]
    written = {entry.name for entry in named.iterdir()}
    assert written == {"run", "forecast.csv", "weights.parquet", "weights.csv", "weights.png"}


@pytest.mark.slow
def test_a_configuration_file_may_name_the_run_directory(here, forecast, write, make_table):
    write('\ufeffout = "named"\n[model]\nhidden_size = 3\n[training]\nmax_epochs = 1\nepoch_windows = 32\n', "run.toml")
    assert forecast("train", write(make_table()), "--config", "run.toml").code == 0
    assert (here / "named" / "metrics.json").is_file()
    assert forecast("check", "data.csv", "--config", "run.toml").code == 0


@given(st.lists(st.text(), unique=True))
def test_names_in_one_text_are_read_as_they_are(names: list[str]) -> None:
    ignore = find_option("ignore")[1]
    assert checked_value(ignore, names_text(names)) == checked_value(ignore, names) == tuple(names)


def test_several_names_are_given_in_one_flag_or_in_several(forecast, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text('day,y,a,"b, c"\n' + "\n".join(f"2024-01-{day:02},{day % 3},{day % 4},1" for day in range(1, 31)))
    for flags in (("--ignore", 'a,"b, c"'), ("--ignore", "a", "--ignore", '"b, c"')):
        report = json.loads(forecast("check", table, *flags, "--json").out)
        assert [finding["column"] for finding in report["findings"] if finding["code"] == "FA404"] == []
    warned = json.loads(forecast("check", table, "--json").out)["findings"]
    assert [each["fix"] for each in warned if each["column"] == "b, c"] == ["""--ignore '"b, c"'"""]
