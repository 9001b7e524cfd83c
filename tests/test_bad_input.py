"""What a user can get wrong in a table or an option: one sentence, a hint, an exit code, and nothing lost.

Each case goes through the command line. `refused` checks what holds for all of them.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn import pipes
from forecast_attn.data.reading import source

pytestmark = pytest.mark.slow

# --------------------------------------------------------------------------- the file


def test_no_such_file(refused, write):
    write("date,target\n", "other.csv")
    refused("train", "data.csv", message="^there is no file 'data.csv'$", hint="tables there: 'other.csv'")


def test_a_slip_of_the_pen_in_a_files_name(refused, write):
    write("date,target\n", "sales.csv")
    write("pandas==2.3\n", "saless.txt")  # no table
    write("date,target\n", "other.csv")
    refused(
        "train",
        "sale.csv",
        message="^there is no file 'sale.csv'$",
        hint="^did you mean 'sales.csv'[?] `forecast explain",
    )


def test_an_option_that_other_tools_have(refused, write):
    write("date,target\n", "sales.csv")
    refused("train", "sales.csv", "--mechanism", "bahdanau", message="'--mechanism'", hint="'--attention'", code=2)


def test_a_directory(refused, write):
    write("date,target\n", "other.csv")
    refused("train", ".", message="^'.' is a directory, not a table$", hint="tables there: 'other.csv'")


@pytest.mark.parametrize(
    "words",
    [
        ("train", "pipe"),
        ("train", "data.csv", "--config", "pipe"),
        ("train", "data.csv", "--vintages", "pipe"),
        ("train", "data.csv", "--holiday-dates", "pipe"),
    ],
)
def test_a_pipe_that_nobody_writes_to(refused, write, make_table, monkeypatch, words):
    monkeypatch.setattr(pipes, "SECONDS", 0.2)
    os.mkfifo("pipe")
    write(make_table())
    code = 2 if "--config" in words else 1
    refused(*words, message="^cannot read .*'pipe': nobody writes to this pipe$", hint=".", code=code)


def test_a_pipe_is_read_whenever_its_writer_comes(forecast, write, make_table):
    os.mkfifo("pipe")
    write(make_table())
    with subprocess.Popen("exec > pipe; sleep 0.2; cat data.csv", shell=True):
        assert forecast("check", "pipe").code == 0


def test_a_pipe_without_an_end(refused, write, monkeypatch):
    monkeypatch.setattr(source, "machine_memory", lambda: 80_000)
    write("1,2\n" * 10_000)
    with subprocess.Popen(["cat", "data.csv"], stdout=subprocess.PIPE, text=True) as endless:
        monkeypatch.setattr(sys, "stdin", endless.stdout)
        refused(
            "train", "-", message="^'stdin' has more than 10,000 bytes, an eighth of this", hint="write it to a file"
        )


@pytest.mark.parametrize("content", ["", "\n \n\n", "\ufeff"])
def test_an_empty_file(refused, write, content):
    refused("train", write(content), message="^'data.csv' is empty$", hint="header line")


def test_only_a_header(refused, write):
    refused("train", write("date,target\n"), message="^'data.csv' has no rows$", hint="add rows")


@pytest.mark.parametrize(
    ("content", "reason", "hint"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00", "binary data", "--encoding"),
        (b"Dear Sir,\nhow are you\nfine, thanks, a, b\n", "row 1 .* has 1 field, the header 2", "equal fields"),
        (b'date,target\n2024-01-01,"1\n', "a quote is never closed in row 1", "quotes around whole fields"),
        (b"<html><table>\n<tr><td>date</td><td>y</td></tr>\n</table></html>", "it holds HTML or XML", "save it as CSV"),
        (b"# made today\ndate,target\n2024-01-01,1\n", "row 1 .* has 2 fields, the header 1", "--comment '#' if"),
        (b"date,target\n2024-01-01,25,5\n", "row 1 .* has 3 fields, the header 2", "numbers with decimal commas"),
        (b"0" * 200_000, "a field is longer than 131,072 characters in its first rows", "lines of fields"),
    ],
)
def test_not_a_csv(refused, write, content, reason, hint):
    refused("train", write(content), message=f"^'data.csv' is not a CSV: .*{reason}", hint=hint)


def test_a_line_of_a_million_fields_is_no_header(refused, write, monkeypatch):
    monkeypatch.setattr("forecast_attn.data.reading.dialect.MOST_COLUMNS", 3)
    refused("train", write("a,b,c,d\n1,2,3,4\n"), message="first line has more than 3 fields", hint="row .* in a line")


@pytest.mark.parametrize(("delimiter", "name"), [(";", "';'"), ("\t", "tab"), ("|", r"'\|'")])
def test_wrong_delimiter(refused, forecast, write, make_table, small, delimiter, name):
    path = write(make_table().to_csv(index=False, sep=delimiter))
    message, hint = f"one column; its header holds {name}", f"^--delimiter {name}(;|$)"
    refused("train", path, *small, "--delimiter", ",", message=message, hint=hint)


def test_the_hint_about_the_delimiter_helps(forecast, write, make_table):
    path = write(make_table().to_csv(index=False, sep="\t"))
    word, value = forecast("train", path, "--delimiter", ",").hint.split()[:2]
    assert forecast("check", path, word, value.strip(";'")).code == 0


# --------------------------------------------------------------------------- columns


def test_no_time_column(refused, write, make_table):
    path = write(make_table().drop(columns="date"))
    refused("train", path, message="^'data.csv' has no column of time stamps; .*'target'", hint="--time NAME")


def test_a_line_of_numbers_as_a_header_is_not_repeated_whole(refused, write):
    path = write(f"{' '.join(['8.9429666e+00'] * 300)}\n1\n2\n")
    refused(
        "train",
        path,
        message="^'data.csv' has no column of time stamps; its columns are '8.94.{1,80}…'$",
        hint="--time",
    )


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


@pytest.mark.parametrize("words", [("--time", ","), ("--time", "date,"), ("--id", ",target")])
def test_a_comma_beside_less_than_two_names(forecast, write, make_table, words):
    outcome = forecast("check", write(make_table()), *words)
    assert (outcome.code, f"has no column '{words[1]}' ({words[0]})" in outcome.out) == (1, True)


def test_a_column_declared_twice(refused, write, make_table):
    words = ("--past", "temperature", "--future", "temperature")
    refused("train", write(make_table()), *words, message="declared twice", hint="one of the two", code=2)


# --------------------------------------------------------------------------- cells

POSITION = r"row 17 \(line 18\)"


@pytest.mark.parametrize("cell", ["yesterday", "2024-02-31", ""])
def test_a_cell_that_is_no_time(refused, write, make_table, small, cell):
    table = make_table()
    table.loc[16, "date"] = cell
    refused("train", write(table), *small, message=f"^'data.csv': column 'date' .* {POSITION}$", hint="YYYY-MM-DD")


@pytest.mark.parametrize("column", ["target", "temperature"])
@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ("unknown", "must be numeric; {position} is 'unknown'"),
        ("1,5", "must be numeric; {position} is '1,5'"),
        ("inf", "is infinite at {position}"),
        ("-inf", "is infinite at {position}"),
        ("1e300", "is 1e\\+300 at {position}; expected a finite number below 1e\\+30"),
    ],
)
def test_a_cell_that_is_no_number(refused, write, make_table, small, column, cell, message):
    table = make_table().astype({column: object})
    table.loc[16, column] = cell
    expected = f"^'data.csv': column '{column}' {message.format(position=POSITION)}"
    refused("train", write(table), *small, message=expected, hint="correct|fill|point")


@pytest.mark.parametrize("column", ["target", "temperature"])
def test_an_empty_cell_is_masked_and_told_or_refused_on_request(forecast, refused, write, make_table, small, column):
    table = make_table()
    table.loc[16, column] = np.nan
    path = write(table)
    message = f"^'data.csv': column '{column}' has no value at {POSITION}, series 'target', 2024-01-17"
    refused("train", path, *small, "--missing", "error", message=message, hint="correct|fill|point")
    outcome = forecast("train", path, *small)
    assert outcome.code == 0
    assert re.search(rf"missing: masked +target +{column} +1  2024-01-17", outcome.err), outcome.err


def test_the_target_is_not_advised_to_be_ignored(forecast, write, make_table, small):
    table = make_table().astype({"target": object})
    table.loc[16, "target"] = "unknown"
    assert "--ignore" not in forecast("train", write(table), *small).hint


def test_a_code_among_numbers_may_be_a_category_as_advised(forecast, refused, write, make_table):
    path = write(make_table().assign(product=["4711", "0815", "4711-B"] * 40))
    hint = "or --categorical 'product' if its cells are names"
    refused("train", path, message="'product' must be numeric", hint=hint)
    assert forecast("check", path, "--categorical", "product").code == 0


def test_text_far_down_a_long_table(refused, write):
    """Beyond the part by which a reader guesses a column's type."""
    stamps = pd.date_range("2000-01-01", periods=60_000, freq="h").astype(str)
    values = np.arange(60_000).astype(str)
    values[55_000] = "unknown"
    path = write(pd.DataFrame({"date": stamps, "target": values}))
    refused("train", path, message=r"'target' must be numeric; row 55001 \(line 55002\) is 'unknown'", hint="correct")


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
    refused("train", path, *small, "--missing", "error", message=message, hint="add the missing rows")


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


@pytest.mark.parametrize(("rows", "flags"), [(8, ()), (30, ("--lookback", "30"))])
def test_too_few_rows_name_the_largest_sizes_and_these_fit(forecast, write, make_table, here, rows, flags):
    path = write(make_table(rows))
    first = forecast("train", path, *flags)
    assert (first.code, Path("runs").exists()) == (1, False)
    assert f"has {rows} rows; lookback" in first.error
    tiny = ("--hidden-size", "4", "--max-epochs", "1", "--quiet")
    words = first.hint.split(";")[0].split()
    assert words[::2] == ["--lookback", "--horizon"]
    assert forecast("train", path, *flags, *words, *tiny).code == 0
    words[1] = str(int(words[1]) + 1)
    larger = forecast("train", path, *flags, *words, *tiny)
    assert larger.code == 1 or int(words[1]) > int(
        dict(zip(flags[::2], flags[1::2], strict=True)).get("--lookback", 28)
    )


@pytest.mark.parametrize("rows", [1, 2])
def test_too_few_rows_to_know_the_step(refused, write, make_table, rows):
    refused("train", write(make_table(rows)), message=f"has {rows} row.*infer the time step", hint="add rows")


# --------------------------------------------------------------------------- the future


@pytest.fixture
def with_future(forecast, write, make_table, small) -> pd.DataFrame:
    """A run called `run` that needs temperatures, and a table of the coming ones."""
    table = make_table(130)
    path = write(table[:120])
    assert forecast("train", path, *small, "--future", "temperature", "--out", "run", "--quiet").code == 0
    return table[120:].drop(columns="target")


NEEDED = "--future FILE with columns 'temperature' for 2024-04-30 … 2024-05-02; forecast future-template writes it"


def test_future_covariates_are_needed(with_future, refused):
    message = "no 'temperature' for 3 of the 3 steps to forecast of series 'target': 2024-04-30, 2024-05-01, 2024-05-02"
    refused("predict", "run", message=message, hint=NEEDED)


@pytest.mark.parametrize(
    ("change", "message", "hint"),
    [
        (lambda f: f[:2], "no 'temperature' for 1 of the 3 steps .* 2024-05-02", NEEDED),
        (lambda f: f[4:], "2024-05-02; it has 6 rows, from 2024-05-04 to 2024-05-09", NEEDED),
        (lambda f: f.assign(date=f["date"] + " 01:00"), "no 'temperature' for 3 of the 3 steps", NEEDED),
        (lambda f: f.drop(columns="temperature"), "no column 'temperature'; its columns are 'date'", "^call it"),
        (lambda f: f.drop(columns="date"), "no column 'date'; its columns are 'temperature'", "^call it"),
        (lambda f: f.assign(temperature="warm"), r"'temperature' must be numeric; row 1 \(line 2\)", "as in training"),
        (
            lambda f: f.assign(temperature=[1, np.nan, *range(8)]),
            "for 1 of the 3 steps .* 2024-05-01",
            "^fill in the empty",
        ),
        (
            lambda f: f.assign(temperature=np.inf),
            r"'temperature' is infinite at row 1 \(line 2\)",
            "^correct the cell;",
        ),
        (lambda f: pd.concat([f, f[:1]]), r"2024-04-30 .* twice, the second at row 11 \(line 12\)", "one of the rows"),
        (
            lambda f: f.assign(date="soon"),
            r"'date' is 'soon' at row 1 \(line 2\); expected a time stamp",
            "as the history",
        ),
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
        (
            lambda f: f[-5:],
            "'history.csv' has too few rows: the lookback needs 14, the longest series has 5",
            "older rows; forecast update",
        ),
        (lambda f: f.drop(columns="temperature"), "'history.csv' has no column 'temperature'", "add the column"),
        (
            lambda f: f.drop(index=[50]),
            "'history.csv': series 'target' has a gap of 1 row",
            r"^add the missing rows; forecast check FILE --missing ffill \(interpolate, zero\) --fix --out clean.csv",
        ),
        (
            lambda f: pd.concat([f, f[:1]]),
            r"'history.csv': .*2024-01-01 twice, at row 1 \(line 2\) and row 121",
            "^keep one of the rows; forecast check FILE --duplicates mean",
        ),
        (
            lambda f: f.assign(temperature=f["temperature"].where(f.index != 7)),
            r"'history.csv': column 'temperature' has no value at row 8 \(line 9\)",
            "^fill the cell; forecast check FILE --missing ffill",
        ),
        (
            lambda f: f.assign(temperature="1,234"),
            "'history.csv': the decimal mark is not certain",
            "^write the table with the delimiter and the decimal mark of the training's",
        ),
        (
            lambda f: f.assign(temperature="warm"),
            "'history.csv': column 'temperature' must be numeric",
            "as in training",
        ),
        (
            lambda f: f.rename(columns=dict(zip(f, f.iloc[0], strict=True)))[1:],
            "'history.csv' has no header: its first line is '2024-01-01",
            "^add a line with the columns' names; .forecast explain",
        ),
        (
            lambda f: f.assign(date=f["date"].str.replace("2024", "9999")),
            "'history.csv': column 'date' is '9999-01-01', outside the years",
            "^write the stamps as YYYY-MM-DD HH:MM",
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
    assert re.search("cut-offs from 2024-01-.. to 2024-0[34]-..$", outcome.error)
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
        (("--validation", "-1"), "--validation must be between 0 and"),
        (("--hidden-size", "0"), "--hidden-size must be between 1 and 65,536; got 0"),
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


# --------------------------------------------------------------------------- sizes and numbers beyond reason

SIZES = (
    *("horizon", "lookback", "hidden-size", "decoder-size", "num-layers", "projection-size", "temporal-decoder-size"),
    *("window-radius", "batch-size", "epoch-windows", "validation-windows", "max-epochs", "patience", "devices"),
    *("threads", "ensemble", "validation", "attention-top", "lags", "patch-length", "heads", "attention-size"),
)


@pytest.mark.parametrize("size", [10**10, 10**20])
@pytest.mark.parametrize("option", SIZES)
def test_a_size_beyond_reason(refused, write, make_table, option, size):
    message = f"^--{option} must be between .* and [0-9,]+; got ({size}|{re.escape(str(float(size)))})$"
    hint = "such as" if option == "lags" else None
    refused("train", write(make_table()), f"--{option}", str(size), message=message, hint=hint, code=2)


@pytest.mark.parametrize("option", ["learning-rate", "weight-decay", "gradient-clip"])
def test_a_rate_beyond_reason(refused, write, make_table, option):
    refused("train", write(make_table()), f"--{option}", "1e308", message=f"^--{option} must be", hint=None, code=2)


def test_a_network_larger_than_the_memory(refused, write, make_table):
    words = ("--hidden-size", "65536", "--num-layers", "64", "--bidirectional")
    message = r"^a network of [\d,]+ numbers needs [\d.]+ \w+ to train; this machine has [\d.]+ \w+$"
    refused("train", write(make_table()), *words, message=message, hint="--hidden-size", code=2)


@pytest.mark.parametrize(
    "freq", ["99999999999999D", "99999999999999999999h", "9999999999W", "99999999999MS", "10" * 30]
)
def test_a_step_beyond_reason(refused, write, make_table, freq):
    refused(
        "check", write(make_table()), "--freq", freq, message="^there is no frequency|is too long", hint=".", code=2
    )


def test_too_many_quantiles(refused, write, make_table):
    many = ",".join(f"{(number + 1) / 20_001:.6f}" for number in range(20_000))
    message = "^--quantiles are 20,001 with 0.5; 1,000 are the most$"
    refused("train", write(make_table()), "--quantiles", many, message=message, hint=None, code=2)


@pytest.mark.parametrize("role", ["past", "future", "static", "weight", "id", "categorical"])
def test_the_target_in_another_role(refused, write, make_table, role):
    path = write(make_table())
    refused("train", path, f"--{role}", "target", message="column 'target' is .*the target", hint=".", code=2)


@pytest.mark.parametrize(
    "content",
    [
        *("horizon = " + "9" * 5000, "horizon = " + "[" * 2000, "horizon = " + "{a=" * 2000, "horizon = 1e999"),
        "a." * 30_000 + "a = 1",
    ],
)
def test_a_configuration_file_beyond_reason(refused, write, make_table, content):
    write(content, "run.toml")
    refused(
        "train", write(make_table()), "--config", "run.toml", message="run.toml|--horizon must be", hint=None, code=2
    )


@pytest.mark.parametrize("format_", ["%Y-%m %Y", "%d.%d", "%H:%M %H"])
def test_a_date_format_that_names_something_twice(refused, write, make_table, format_):
    message = f"^--date-format '{format_}' names %[YdH] twice$"
    refused("check", write(make_table()), "--date-format", format_, message=message, hint=".", code=2)


@pytest.mark.parametrize("format_", ["%Q", "%", "%U", "%G %j"])
def test_a_date_format_that_is_none(refused, write, make_table, format_):
    message = f"^--date-format '{format_}' is not a format: "
    refused("check", write(make_table()), "--date-format", format_, message=message, hint="such as", code=2)


def test_a_date_format_with_the_name_of_a_zone(forecast, refused, write, make_table):
    table = make_table()
    path = write(table.assign(date=table["date"] + " CET"))
    hint = "--date-format '%Y CET %m-%d' --tz CET$"
    refused("check", path, "--date-format", "%Y %Z %m-%d", message="has %Z in the middle", hint=hint, code=2)
    for options in (["%Y-%m-%d CET", "--tz", "CET"], ["%Y-%m-%d %Z"]):
        assert forecast("check", path, "--date-format", *options).code == 0


@pytest.mark.parametrize("offset", ["+25:00", "-24:00", "+99:59"])
def test_an_offset_that_no_zone_has(forecast, write, offset):
    path = write("date,target\n" + "".join(f"2024-01-01 0{hour}:00{offset},1\n" for hour in range(9)))
    outcome = forecast("train", path)
    assert outcome.code == 1
    assert f"is '2024-01-01 00:00{offset}', whose offset from UTC is a day or more at row 1" in outcome.error


@pytest.mark.parametrize("year", ["0000", "1677", "2262", "-0500"])
def test_a_year_that_time_stamps_do_not_have(refused, write, year):
    path = write("date,target\n" + "".join(f"{year}-01-{day:02d},1\n" for day in range(1, 10)))
    message = f"is '{year}-01-01', outside the years 1678 to 2261 at row 1 "
    refused("train", path, message=message, hint="--time row-number counts the rows")


@pytest.mark.parametrize(
    ("cell", "message"),
    [("2024-01-01 02:00", "without the offset that other cells have"), ("2024-13-01 02:00+01:00", "not a time stamp")],
)
def test_a_bad_stamp_among_offsets_is_told_for_what_it_is(forecast, write, cell, message):
    rows = [f"2024-01-01 {hour:02}:00+01:00,1" for hour in range(20)]
    outcome = forecast("train", write("\n".join(["date,target", *rows[:2], f"{cell},1", *rows[3:], ""])))
    assert f"is '{cell}', " in outcome.error
    assert message in outcome.error


@pytest.mark.parametrize("unit", [1e-320, 1e-310, 1e-300])
def test_a_target_of_next_to_nothing(forecast, write, make_table, small, unit):
    """Too small for float64 to divide by: refused, or forecast in its own size."""
    table = make_table()
    table["target"] = (table["target"] - 8) * unit
    outcome = forecast("train", write(table), *small, "--out", "run", "--quiet")
    assert outcome.code == 1
    assert re.search("^column 'target' of series 'target' is below .* everywhere", outcome.error), outcome.error


def test_forecasts_without_an_error_leave_no_nan(forecast, write, make_table, small):
    """A constant beside which the network's share is lost in rounding."""
    path = write(make_table().assign(target=2.0**70))
    assert forecast("train", path, *small, "--out", "run", "--quiet").code == 0
    for words in (("audit", "run", "--windows", "8", "--draws", "20"), ("backtest", "run", "--cutoffs", "2")):
        outcome = forecast(*words)
        assert outcome.code == 0, outcome.err
        assert not re.search(r"\b(nan|inf)\b", outcome.out), outcome.out


def test_answers_of_two_words_are_asked_for_as_numbers(refused, write, make_table) -> None:
    frame = make_table()
    path = write(frame.assign(headache=np.where(frame.index % 3 == 0, "yes", "no")))
    hint = "write 1 for 'yes' and 0 for 'no': their share is forecast"
    refused("train", path, "--target", "headache", message="'headache' must be numeric", hint=hint)
