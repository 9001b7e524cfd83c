"""Everything a user can get wrong: a sentence that says what and where, a hint, an exit code, and nothing lost.

Each case goes through the command line. `refused` checks what holds for all of them.
"""

import json
import os
import pickle
import re
import resource
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

DAILY = pd.date_range("2024-01-01", periods=120, freq="D").strftime("%Y-%m-%d")


@pytest.fixture
def refused(forecast, files_in) -> Callable[..., None]:
    """`refused(words, message=…, hint=…, code=1)`: one sentence, one hint, and every file as it was before."""

    def check(*words: object, message: str, hint: str | None, code: int = 1) -> None:
        before = files_in()
        outcome = forecast(*words)
        assert outcome.code == code, outcome.err
        assert outcome.out == ""
        assert re.search(message, outcome.error), outcome.error
        assert "Traceback" not in outcome.err
        assert len([line for line in outcome.err.splitlines() if line.startswith(("error:", "hint:"))]) <= 2
        assert outcome.err.splitlines()[-1].startswith("hint: " if hint else "error: ")
        if hint:
            assert re.search(hint, outcome.hint), outcome.hint
        assert outcome.error[0] == outcome.error[0].lower()
        assert not outcome.error.endswith(".")
        assert files_in() == before
        assert not Path("runs").exists()

    return check


# --------------------------------------------------------------------------- the file


def test_no_such_file(refused, write):
    write("date,target\n", "other.csv")
    refused("train", "data.csv", message="^there is no file 'data.csv'$", hint="CSV files there: 'other.csv'")


def test_a_directory(refused, here):
    refused("train", ".", message="^'.' is a directory, not a CSV file$", hint=None)


@pytest.mark.parametrize("content", ["", "\n \n\n", "\ufeff"])
def test_an_empty_file(refused, write, content):
    refused("train", write(content), message="^'data.csv' is empty$", hint="header line")


def test_only_a_header(refused, write):
    refused("train", write("date,target\n"), message="^'data.csv' has a header and no rows$", hint="add rows")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "binary data"),
        ("date,target\n2024-01-01,1\n".encode("utf-16"), "binary data"),
        ("date,größe\n2024-01-01,1\n".encode("latin-1"), "not UTF-8"),
        ("date,target,place\n2024-01-01,1,Köln\n".encode("latin-1"), "not UTF-8"),
        (b"Dear Sir,\nhow are you\nfine, thanks, a, b\n", "fields"),
    ],
)
def test_not_a_csv(refused, write, content, reason):
    refused("train", write(content), message=f"^'data.csv' is not a CSV: .*{reason}", hint="UTF-8")


@pytest.mark.parametrize(("delimiter", "name"), [(";", "';'"), ("\t", r"'\\t'"), ("|", r"'\|'")])
def test_wrong_delimiter(refused, forecast, write, make_table, small, delimiter, name):
    path = write(make_table().to_csv(index=False, sep=delimiter))
    refused("train", path, *small, message=f"one column; its header holds {name}", hint=f"^--delimiter {name}$")


def test_the_hint_about_the_delimiter_helps(forecast, write, make_table):
    path = write(make_table().to_csv(index=False, sep="\t"))
    word, value = forecast("check", path, "--json").out and forecast("train", path).hint.split()
    assert forecast("check", path, word, value.strip("'")).code == 0


# --------------------------------------------------------------------------- columns


def test_no_time_column(refused, write, make_table):
    path = write(make_table().drop(columns="date"))
    refused("train", path, message="^'data.csv' has no column of time stamps; .*'target'", hint="--time NAME")


def test_two_columns_that_could_be_the_target(refused, write, make_table):
    path = write(make_table().rename(columns={"target": "load"}))
    refused("train", path, message="^'data.csv' has 2 .* target: 'load', 'temperature'$", hint="--target ")


@pytest.mark.parametrize(("content", "holds"), [(np.nan, "no value"), ("unknown", "text")])
def test_a_target_without_numbers_is_not_replaced_by_another_column(refused, write, make_table, content, holds):
    path = write(make_table().assign(target=content))
    refused("train", path, message=f"'data.csv': column 'target' .* holds {holds}", hint="--target NAME")


@pytest.mark.parametrize(
    ("flag", "hint"), [("--target", "'temperature'"), ("--past", "'temperature'"), ("--id", "'temperature'")]
)
def test_a_declared_column_that_is_missing(refused, write, make_table, flag, hint):
    path = write(make_table())
    refused("train", path, flag, "temprature", message=rf"no column 'temprature' \({flag}\)", hint=hint)


def test_a_column_declared_twice(refused, write, make_table):
    words = ("--past", "temperature", "--future", "temperature")
    refused("train", write(make_table()), *words, message="declared twice", hint="one of the two", code=2)


# --------------------------------------------------------------------------- cells

PLACE = r"row 17 \(line 18\)"


@pytest.mark.parametrize("cell", ["yesterday", "2024-02-31", ""])
def test_a_cell_that_is_no_time(refused, write, make_table, small, cell):
    table = make_table()
    table.loc[16, "date"] = cell
    refused("train", write(table), *small, message=f"^'data.csv': column 'date' .* {PLACE}$", hint="YYYY-MM-DD")


@pytest.mark.parametrize("column", ["target", "temperature"])
@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("unknown", "must be numeric; {place} is 'unknown'"),
        ("1,5", "must be numeric; {place} is '1,5'"),
        ("", "has no value at {place}, series 'target', 2024-01-17"),
        ("inf", "is infinite at {place}"),
        ("-inf", "is infinite at {place}"),
        ("1e300", "is 1e\\+300 at {place}; expected a finite number below 1e\\+30"),
    ],
)
def test_a_cell_that_is_no_number(refused, write, make_table, small, column, cell, message):
    table = make_table().astype({column: object})
    table.loc[16, column] = cell
    expected = f"^'data.csv': column '{column}' {message.format(place=PLACE)}"
    refused("train", write(table), *small, message=expected, hint="correct|fill|point")


def test_the_target_is_not_advised_to_be_ignored(forecast, write, make_table, small):
    table = make_table().astype({"target": object})
    table.loc[16, "target"] = "unknown"
    assert "--ignore" not in forecast("train", write(table), *small).hint


def test_text_far_down_a_long_table(refused, write):
    """Beyond the part by which a reader guesses a column's type."""
    stamps = pd.date_range("2000-01-01", periods=300_000, freq="h").astype(str)
    values = np.arange(300_000).astype(str)
    values[280_000] = "unknown"
    path = write(pd.DataFrame({"date": stamps, "target": values}))
    refused("train", path, message=r"'target' must be numeric; row 280001 \(line 280002\) is 'unknown'", hint="correct")


# --------------------------------------------------------------------------- the time axis


def test_duplicate_time_stamps(refused, write, make_table, small):
    table = make_table()
    path = write(pd.concat([table[:20], table[19:]]))
    refused("train", path, *small, message=r"2024-01-20 twice, at row 20 \(line 21\) and row 21", hint="--id")


def test_gaps(refused, write, make_table, small):
    path = write(make_table().drop(index=[30, 31]))
    message = (
        r"'data.csv': series 'target' has a gap of 2 rows: after 2024-01-30 comes 2024-02-02 at row 31 \(line 32\)"
    )
    refused("train", path, *small, message=message, hint="add the missing rows")


def test_mixed_frequencies_within_a_series(refused, write, make_table, small):
    hours = make_table().assign(date=pd.date_range("2024-04-30", periods=120, freq="h").astype(str))
    path = write(pd.concat([make_table(), hours]))
    refused("train", path, *small, message=r"jumps from .* at row 122 \(line 123\); expected 2024-05-01", hint="--freq")


def test_mixed_frequencies_between_series(refused, write, make_table, small):
    hours = make_table().assign(date=pd.date_range("2024-01-01", periods=120, freq="h").astype(str))
    path = write(pd.concat([make_table().assign(item_id="a"), hours.assign(item_id="b")]))
    message = "series 'b' steps by 1 hour, series 'a' by 1 day"
    refused("train", path, *small, message=message, hint="one frequency")


def test_unsorted_rows_are_accepted(forecast, write, make_table, small):
    path = write(make_table().sample(frac=1, random_state=0))
    assert forecast("train", path, *small).code == 0


@pytest.mark.parametrize(
    ("rows", "flags"), [(25, ()), (8, ()), (30, ("--lookback", "30")), (40, ("--validation", "30", "--horizon", "3"))]
)
def test_too_few_rows_name_the_largest_sizes_and_these_fit(forecast, write, make_table, here, rows, flags):
    path = write(make_table(rows))
    first = forecast("train", path, *flags)
    assert (first.code, Path("runs").exists()) == (1, False)
    assert f"has {rows} rows; lookback" in first.error
    tiny = ("--hidden-size", "4", "--max-epochs", "1", "--quiet")
    words = first.hint.split()
    assert words[::2] == ["--lookback", "--horizon"]
    assert forecast("train", path, *flags, *words, *tiny).code == 0
    words[1] = str(int(words[1]) + 1)
    larger = forecast("train", path, *flags, *words, *tiny)
    assert larger.code == 1 or int(words[1]) > int(
        dict(zip(flags[::2], flags[1::2], strict=True)).get("--lookback", 28)
    )


@pytest.mark.parametrize("rows", [1, 2])
def test_too_few_rows_to_know_the_step(refused, write, make_table, rows):
    refused("train", write(make_table(rows)), message=f"has {rows} row.*infer the time step", hint="--freq")


# --------------------------------------------------------------------------- the future


@pytest.fixture
def with_future(forecast, write, make_table, small) -> pd.DataFrame:
    """A run called `run` that needs temperatures, and a table of the coming ones."""
    table = make_table(130)
    path = write(table[:120])
    assert forecast("train", path, *small, "--future", "temperature", "--out", "run", "--quiet").code == 0
    return table[120:].drop(columns="target")


NEEDED = "--future FILE with columns 'temperature' for 2024-04-30 … 2024-05-02"


def test_future_covariates_are_needed(with_future, refused):
    message = "no 'temperature' for 3 of the 3 steps to forecast of series 'target', from 2024-04-30 to 2024-05-02"
    refused("predict", "run", message=message, hint=NEEDED)


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        (lambda f: f[:2], "no 'temperature' for 1 of the 3 steps .* 2024-05-02", NEEDED),
        (lambda f: f[4:], "no 'temperature' for 3 of the 3 steps .* from 2024-04-30 to 2024-05-02", NEEDED),
        (lambda f: f.assign(date=f["date"] + " 01:00"), "no 'temperature' for 3 of the 3 steps", NEEDED),
        (lambda f: f.drop(columns="temperature"), "no column 'temperature'; its columns are 'date'", "add the column"),
        (lambda f: f.drop(columns="date"), "no column 'date'; its columns are 'temperature'", "add the column"),
        (lambda f: f.assign(temperature="warm"), r"'temperature' must be numeric; row 1 \(line 2\)", "as in training"),
        (lambda f: f.assign(temperature=[1, np.nan, *range(8)]), "for 1 of the 3 steps .* 2024-05-01", NEEDED),
        (lambda f: f.assign(temperature=np.inf), r"'temperature' is infinite at row 1 \(line 2\)", "correct"),
        (lambda f: pd.concat([f, f[:1]]), r"2024-04-30 .* twice, the second at row 11 \(line 12\)", "one of the rows"),
        (lambda f: f.assign(date="soon"), r"'date' is 'soon' at row 1 \(line 2\); expected a time stamp", None),
    ],
)
def test_a_future_file_that_does_not_do(with_future, refused, write, change, message, hint):
    path = write(change(with_future), "future.csv")
    refused(
        "predict", "run", "--future", path, message=f"^'future.csv'.* {message}|^'future.csv' has {message}", hint=hint
    )


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        (lambda f: f[-5:], "'history.csv' has too few rows: the lookback needs 14, the longest series has 5", "older"),
        (lambda f: f.drop(columns="temperature"), "'history.csv' has no column 'temperature'", "add the column"),
        (lambda f: f.drop(index=[50]), "'history.csv': series 'target' has a gap of 1 row", "add the missing rows"),
        (
            lambda f: f.assign(temperature="warm"),
            "'history.csv': column 'temperature' must be numeric",
            "as in training",
        ),
        (
            lambda f: f.assign(date=pd.date_range("2024-01-01", periods=120, freq="h").astype(str)),
            "'history.csv': series 'target' jumps from 2024-01-01 to 2024-01-01 01:00 .*step 1 day",
            "as in training",
        ),
    ],
)
def test_a_history_that_does_not_do(finished_run, refused, write, make_table, change, message, hint):
    path = write(change(make_table()), "history.csv")
    refused("predict", finished_run, "--data", path, message=message, hint=hint)


def test_a_series_that_was_not_trained_on(forecast, refused, write, make_table, small):
    path = write(make_table().assign(item_id="a"))
    assert forecast("train", path, *small, "--out", "run", "--quiet").code == 0
    other = write(make_table().assign(item_id="b"), "other.csv")
    refused("predict", "run", "--data", other, message="not seen in training: series 'b'", hint="trained on 'a'")


# --------------------------------------------------------------------------- the network


def test_unknown_mechanism(refused, write, make_table):
    words = ("--attention", "luong-genral")
    message = "--attention has no value 'luong-genral'"
    refused("train", write(make_table()), *words, message=message, hint="^did you mean 'luong-general'", code=2)


def test_luong_dot_with_unequal_sizes(refused, write, make_table, small):
    words = (*small, "--attention", "luong-dot", "--decoder-size", "5")
    message = "^luong-dot needs equal encoder and decoder sizes; got 4 and 5$"
    refused("train", write(make_table()), *words, message=message, hint="luong-general", code=2)


@pytest.mark.parametrize("loss", ["mae", "mse", "huber"])
def test_a_loss_that_becomes_infinite(forecast, write, make_table, small, loss):
    words = ("--learning-rate", "1e30", "--gradient-clip", "0", "--loss", loss, "--out", "run")
    outcome = forecast("train", write(make_table()), *small, *words)
    assert outcome.code == 1
    assert re.search("^the loss became (nan|inf) in epoch 1, step 2: series 'target', windows with", outcome.error)
    assert re.search("cut-offs from 2024-01-1. to 2024-04-0.$", outcome.error)
    assert outcome.hint.startswith("try --learning-rate 0.001")
    assert not Path("run/metrics.json").exists()


def test_a_validation_loss_that_becomes_infinite(forecast, write, make_table, small):
    """One step per epoch: the step that ruins the weights is the last one before validation."""
    words = ("--learning-rate", "1e35", "--gradient-clip", "0", "--batch-size", "64", "--loss", "mse")
    outcome = forecast("train", write(make_table()), *small, *words, "--schedule", "constant", "--out", "run")
    assert outcome.code == 1
    assert re.search("^the validation loss became (nan|inf) in epoch 1, step 1: series 'target'", outcome.error)
    assert not Path("run/metrics.json").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--max-time", "soon"), "--max-time must be a time such as"),
        (("--teacher-forcing", "2"), "--teacher-forcing must be a share"),
        (("--validation", "1.5"), "--validation must be a fraction below 1 or a whole number"),
        (("--validation", "-1"), "--validation must be at least 0"),
        (("--hidden-size", "0"), "--hidden-size must be at least 1; got 0"),
        (("--dropout", "1"), "--dropout must be between 0 and 0.95"),
        (("--learning-rate", "nan"), "--learning-rate must be a number"),
        (("--seed", "-1"), "--seed must be between 0"),
        (("--horizon", "many"), "'--horizon'.* 'many'"),
        (("--loss", "mape"), "--loss has no value 'mape'"),
        (("--devices", "99", "--accelerator", "cuda"), "--accelerator cuda: this machine has none|GPU"),
    ],
)
def test_an_option_out_of_range(forecast, write, make_table, files_in, words, message):
    path = write(make_table())
    before = files_in()
    outcome = forecast("train", path, *words)
    assert outcome.code == 2
    assert re.search(message, outcome.error), outcome.error
    assert files_in() == before
    assert not Path("runs").exists()


# --------------------------------------------------------------------------- run directories

COMMANDS = [("predict",), ("inspect",), ("info",), ("train", "--resume")]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_that_is_not_there(refused, here, command):
    refused(*command, "nowhere", message="^there is no run 'nowhere'|^there is no file 'nowhere'", hint=".")


@pytest.mark.parametrize("command", COMMANDS)
def test_a_directory_that_is_no_run(refused, write, command):
    write("hello", "note.txt")
    refused(*command, ".", message="^'.' is not a run: it has no config.json$", hint="forecast train")


def test_no_run_at_all(refused, here):
    refused("predict", message="^there is no finished run under runs/$", hint="forecast train data.csv")


@pytest.mark.parametrize("command", [("predict",), ("inspect",)])
def test_an_unfinished_run(refused, run_copy, command):
    (run_copy / "metrics.json").unlink()
    message = "^'run' is an unfinished run: missing metrics.json$"
    refused(*command, run_copy, message=message, hint="^continue it with: forecast train --resume run$")


@pytest.mark.parametrize("name", ["schema.json", "model.safetensors", "tail.parquet"])
def test_a_finished_run_that_lacks_a_file_is_damaged_not_unfinished(refused, run_copy, name):
    """Advice to resume it would be answered with `nothing to resume`."""
    (run_copy / name).unlink()
    refused("predict", run_copy, message=f"^'run' is damaged: missing {name}$", hint="restore it")


def test_a_finished_run_is_not_resumed(refused, run_copy):
    refused("train", "--resume", run_copy, message="'run' is finished", hint="forecast predict run")


@pytest.mark.parametrize("name", ["config.json", "schema.json", "metrics.json"])
def test_a_newer_format(refused, run_copy, name):
    content = json.loads((run_copy / name).read_text())
    (run_copy / name).write_text(json.dumps({**content, "format": 99}))
    refused(
        "predict", run_copy, message=f"^'run/{name}' has format 99; this version reads up to 1$", hint="pip install"
    )


@pytest.mark.parametrize("name", ["config.json", "schema.json", "metrics.json"])
@pytest.mark.parametrize(
    "content", [b"", b'{"format": 1, "opt', b"[]", b'{"format": "1"}', b"\xff\xfe", b"[" * 100_000]
)
def test_damaged_json(refused, run_copy, name, content):
    (run_copy / name).write_bytes(content)
    refused("predict", run_copy, message=f"^'run/{name}' is damaged", hint="restore it")


@pytest.mark.parametrize("name", ["config.json", "schema.json"])
def test_json_that_says_nothing(forecast, run_copy, name):
    (run_copy / name).write_text('{"format": 1}')
    for command in ("predict", "info"):
        outcome = forecast(command, run_copy)
        if (command, name) != ("info", "config.json"):
            assert outcome.code == 1
            assert outcome.error.startswith(f"'run/{name}' is damaged")


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("lookback",), -1),
        (("horizon",), 0),
        (("scaler", "target", "scale"), []),
        (("scaler", "past", "loc"), [[1.0, 2.0]]),
        (("scaler", "target", "loc"), ["many"]),
        (("roles",), None),
        (("frequency", "alias"), None),
    ],
)
def test_an_altered_schema(refused, run_copy, keys, value):
    content = json.loads((run_copy / "schema.json").read_text())
    part = content
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    (run_copy / "schema.json").write_text(json.dumps(content))
    refused("predict", run_copy, message="'run/schema.json' is damaged", hint="restore it")


def test_weights_of_another_network(refused, run_copy):
    content = json.loads((run_copy / "config.json").read_text())
    content["options"]["model"]["hidden_size"] = 5
    (run_copy / "config.json").write_text(json.dumps(content))
    refused("predict", run_copy, message="does not fit config.json and schema.json: size mismatch", hint="restore")


class Bomb:
    """Writes a file when it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return Path.write_text, (Path("exploded"), "boom")


@pytest.mark.parametrize("harm", ["truncated", "empty", "one bit", "pickle", "torch"])
def test_an_altered_weight_file(refused, run_copy, harm):
    import torch

    path = run_copy / "model.safetensors"
    whole = path.read_bytes()
    contents = {
        "truncated": whole[: len(whole) // 2],
        "empty": b"",
        "one bit": whole[:-1] + bytes([whole[-1] ^ 1]),
        "pickle": pickle.dumps(Bomb()),
    }
    if harm == "torch":
        torch.save({"weights": Bomb()}, path)
    else:
        path.write_bytes(contents[harm])
    message = "^'run/model.safetensors' was altered or cut short since training$"
    refused("predict", run_copy, message=message, hint="restore it")
    assert not Path("exploded").exists()


@pytest.mark.parametrize("harm", ["pickle", "truncated", "safetensors"])
def test_a_weight_file_whose_digest_was_altered_too(refused, run_copy, harm):
    """Made by someone else, not merely damaged: still no code runs, and still a sentence."""
    import hashlib

    path = run_copy / "model.safetensors"
    whole = path.read_bytes()
    content = {"pickle": pickle.dumps(Bomb()), "truncated": whole[:200], "safetensors": b"\xff" * 7 + b"\x7f{}"}[harm]
    path.write_bytes(content)
    metrics = json.loads((run_copy / "metrics.json").read_text())
    metrics["model_sha256"] = hashlib.sha256(content).hexdigest()
    (run_copy / "metrics.json").write_text(json.dumps(metrics))
    refused("predict", run_copy, message="^cannot read 'run/model.safetensors'", hint="restore it")
    assert not Path("exploded").exists()


@pytest.mark.parametrize("content", [b"", b"PAR1 and nothing else", pickle.dumps(Bomb())])
def test_a_damaged_tail(refused, run_copy, content):
    (run_copy / "tail.parquet").write_bytes(content)
    refused("predict", run_copy, message="^cannot read 'run/tail.parquet': [^.]*$", hint="--data FILE")
    assert not Path("exploded").exists()


@pytest.mark.parametrize("content", [b"", b"PAR1 and nothing else", pickle.dumps(Bomb())])
def test_a_damaged_attention_file(forecast, run_copy, content):
    (run_copy / "attention.parquet").write_bytes(content)
    outcome = forecast("inspect", run_copy)
    assert outcome.code == 1
    assert outcome.error.startswith("'run/attention.parquet' is ")
    assert not Path("exploded").exists()


@pytest.mark.parametrize("maker", ["pickle", "torch", "lightning"])
def test_a_malicious_checkpoint(forecast, run_copy, write, make_table, maker):
    """Somebody else's unfinished run: resuming it must not run their code."""
    import torch

    write(make_table())
    config = json.loads((run_copy / "config.json").read_text())
    config["data"]["file"] = "data.csv"
    (run_copy / "config.json").write_text(json.dumps(config))
    (run_copy / "metrics.json").unlink()
    checkpoint = run_copy / "last.ckpt"
    if maker == "pickle":
        checkpoint.write_bytes(pickle.dumps(Bomb()))
    else:
        content = {"state_dict": {}, "callbacks": {"Recorder": Bomb()}, "pytorch-lightning_version": "2.6.0"}
        torch.save(content if maker == "lightning" else Bomb(), checkpoint)
    outcome = forecast("train", "--resume", run_copy)
    assert outcome.code == 1, outcome.err
    assert "run/last.ckpt" in outcome.error
    assert outcome.hint
    assert not Path("exploded").exists()


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut short"])
def test_a_damaged_checkpoint(forecast, run_copy, write, make_table, content):
    write(make_table())
    (run_copy / "metrics.json").unlink()
    (run_copy / "last.ckpt").write_bytes(content)
    outcome = forecast("train", "data.csv", "--resume", run_copy)
    assert outcome.code == 1, outcome.err
    assert "run/last.ckpt" in outcome.error
    assert outcome.hint


def test_resuming_with_another_table(forecast, run_copy, write, make_table):
    (run_copy / "metrics.json").unlink()
    outcome = forecast("train", write(make_table(seed=1)), "--resume", run_copy)
    assert outcome.code == 1
    assert outcome.error == "'data.csv' is not the table that 'run' was started with"


# --------------------------------------------------------------------------- writing


def test_an_existing_run_is_not_written_over(refused, run_copy, write, make_table, small):
    path = write(make_table())
    refused(
        "train", path, *small, "--out", "run", message="^'run' exists and is not an empty", hint="^name another --out$"
    )


def test_an_unfinished_run_is_not_written_over_either(refused, run_copy, write, make_table, small):
    (run_copy / "metrics.json").unlink()
    hint = "^name another --out, or continue the run with: forecast train --resume run$"
    refused("train", write(make_table()), *small, "--out", "run", message="^'run' exists", hint=hint)


@pytest.mark.parametrize("out", ["data.csv", "data.csv/run"])
def test_a_run_cannot_be_made_inside_a_file(forecast, write, make_table, small, files_in, out):
    path = write(make_table())
    before = files_in()
    outcome = forecast("train", path, *small, "--out", out)
    assert outcome.code == 1
    assert outcome.error.startswith((f"'{out}' exists and is not", f"cannot write '{out}': Not a directory"))
    assert outcome.hint
    assert files_in() == before


@pytest.mark.parametrize("out", ["missing/forecast.csv", "run/config.json/forecast.csv", ".", "run"])
@pytest.mark.parametrize("flag", ["--out", "--attention-out"])
def test_a_forecast_that_cannot_be_written_leaves_the_older_one(refused, forecast, run_copy, flag, out):
    assert forecast("predict", run_copy).code == 0
    refused("predict", run_copy, flag, out, message=f"^cannot write '{re.escape(out)}': ", hint="check that the folder")


@pytest.mark.parametrize(
    "words", [("--export", "missing/w.csv"), ("--export", "run/w.txt"), ("--png", "missing/w.png")]
)
def test_an_export_that_cannot_be_written(forecast, run_copy, words, files_in):
    before = files_in()
    outcome = forecast("inspect", run_copy, *words)
    assert (outcome.code, outcome.out) == (1 if "missing" in words[1] else 2, "")
    assert outcome.hint
    assert files_in() == before


@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        (("--data", "data.csv", "--out", "data.csv"), "--data", "--out"),
        (("--future", "data.csv", "--out", "./data.csv"), "--future", "--out"),
        (("--out", "same", "--attention-out", "same"), "--out", "--attention-out"),
        (("--data", "data.csv", "--out", "link.csv"), "--data", "--out"),
    ],
)
def test_a_table_that_is_read_is_not_written_over(refused, run_copy, write, make_table, words, first, second):
    write(make_table())
    Path("link.csv").symlink_to("data.csv")
    refused("predict", run_copy, *words, message=f"^{first} and {second} name the same file", hint="own", code=2)


def test_a_link_is_followed_and_a_pipe_is_not_replaced(forecast, run_copy):
    Path("target.csv").write_text("old")
    Path("link.csv").symlink_to("target.csv")
    assert forecast("predict", run_copy, "--out", "link.csv").code == 0
    assert Path("link.csv").is_symlink()
    assert Path("target.csv").read_text().startswith("item_id,")

    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        assert forecast("predict", run_copy, "--out", "pipe").code == 0
        assert reader.stdout is not None
        assert reader.stdout.read() == Path("target.csv").read_text()
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


def limited_to(size: int) -> Callable[[], None]:
    """For a child process: no file may grow beyond so many bytes, as on a disk that is full."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 100, 3000])
def test_a_full_disk_during_predict_leaves_the_older_forecast(forecast, forecast_process, run_copy, files_in, size):
    """100 bytes hold neither file, 3000 the forecast but not its attention."""
    assert forecast("predict", run_copy).code == 0
    (run_copy / "predictions.csv").write_text("the older forecast")
    before = files_in()
    outcome = forecast_process("predict", "run", preexec_fn=limited_to(size), env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert outcome.code == 1
    assert re.search(r"^cannot write 'run/(predictions.csv|attention.parquet)': File too large$", outcome.error)
    assert "is not full" in outcome.hint
    assert "Traceback" not in outcome.err
    assert files_in() == before


@pytest.mark.slow
@pytest.mark.parametrize("size", [500, 5000, 15_000])
def test_a_full_disk_during_training_leaves_an_unfinished_run(
    forecast, forecast_process, write, make_table, small, size
):
    """500 bytes hold not even the table's tail, 5000 no weights, 15000 no checkpoint."""
    path = write(make_table())
    words = ("train", path, *small, "--out", "run")
    outcome = forecast_process(*words, preexec_fn=limited_to(size), env={"PYTHONDONTWRITEBYTECODE": "1"})
    assert outcome.code == 1
    assert re.search("^cannot write 'run/.*': File too large$", outcome.error), outcome.err
    assert "Traceback" not in outcome.err
    assert not [path.name for path in Path("run").iterdir() if ".partial" in path.name]
    assert forecast("predict", "run").code == 1
    if Path("run/config.json").exists():
        assert forecast("train", "--resume", "run", "--quiet").code == 0


def test_a_full_disk_behind_stdout(forecast_process, finished_run, here):
    full = Path("/dev/full")
    if not (full.exists() and stat.S_ISCHR(full.stat().st_mode)):
        pytest.skip("this system has no /dev/full")
    import sys

    with full.open("w") as stdout:
        command = [sys.executable, "-m", "forecast_attn", "info", str(finished_run)]
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("error: cannot write the output: No space left on device\nhint: ")
    assert "Exception ignored" not in done.stderr


# --------------------------------------------------------------------------- inspect


@pytest.mark.parametrize(
    ("words", "code", "message", "hint"),
    [
        (("--item", "targte"), 1, "has no series 'targte'", "did you mean 'target'"),
        (("--cutoff", "2020-01-01"), 1, "has no cut-off 2020-01-01", "known"),
        (("--cutoff", "someday"), 2, "the cut-off must be a time stamp such as .*; got 'someday'", None),
        (("--step", "9"), 2, "--step 9 is not in", "1 to 3"),
        (("--head", "1"), 2, "--head 1 is not in", "0 to 0"),
        (("--top", "0"), 2, "'--top'", "forecast inspect --help"),
    ],
)
def test_a_selection_that_is_not_there(refused, finished_run, here, words, code, message, hint):
    run = finished_run / "validation_attention.parquet"
    refused("inspect", run, *words, message=message, hint=hint, code=code)


def test_inspecting_something_else(refused, write, make_table):
    refused("inspect", write(make_table()), message="'data.csv' is not an attention file", hint="predict")
