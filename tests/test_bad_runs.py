"""Run directories that are missing, unfinished, damaged or hostile, and places that cannot be written to.

Each case goes through the command line. `refused` checks what holds for all of them.
"""

import errno
import json
import os
import pickle
import re
import shutil
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from forecast_attn import Forecaster, pipes
from forecast_attn.config.options import RunConfig
from forecast_attn.errors import DataError
from forecast_attn.forecasting.model import read_config, read_schema
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import panel_of_run, read_panel

from .test_hostile_runs import change_json

pytestmark = pytest.mark.slow

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


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("predict", "my run", "--runtime", "onnx"), "forecast export 'my run'"),
        (("score", "my run"), "forecast score 'my run' new.csv, with "),
        (("reconcile", "my run", "--hierarchy", "h.csv"), "forecast predict 'my run', or --forecasts FILE"),
        (("train", "--resume", "my run"), "forecast predict 'my run'"),
        (("backtest", "my run"), "forecast backtest 'my run' --data FILE"),
        (("audit", "my run"), "forecast audit 'my run' --data FILE, if the table was moved"),
        (("predict", "dead run"), "continue it with: forecast train --resume 'dead run' --log-to 'my log'"),
    ],
)
def test_commands_to_type_next_are_quoted(forecast, run_copy, write, without_manifest, words, hint):
    write("top,bottom\nall,target\n", "h.csv")
    run = run_copy.rename("my run")
    without_manifest(run)
    shutil.copytree(run, "dead run")
    (Path("dead run") / "metrics.json").unlink()
    dead = RunDir("dead run")
    dead.write_json(dead.tracking, {"logger": "csv", "log_to": "my log", "id": None})
    change_json(run / "config.json", "data", "file", value="gone.csv")
    outcome = forecast(*words)
    assert re.match(hint, outcome.hint), outcome.err


@pytest.mark.parametrize("name", ["schema.json", "model.safetensors", "tail.parquet"])
def test_a_finished_run_that_lacks_a_file_is_damaged_not_unfinished(refused, run_copy, name):
    """Advice to resume it would be answered with `nothing to resume`."""
    (run_copy / name).unlink()
    refused("predict", run_copy, message=f"^'run' is damaged: missing {name}$", hint="restore the run")


def test_a_finished_run_is_not_resumed(refused, run_copy):
    refused("train", "--resume", run_copy, message="'run' is finished", hint="forecast predict run")


@pytest.mark.parametrize("name", ["config.json", "schema.json", "metrics.json"])
def test_a_newer_format(refused, run_copy, name):
    content = json.loads((run_copy / name).read_text())
    (run_copy / name).write_text(json.dumps({**content, "format": 99}))
    refused(
        "predict", run_copy, message=f"^'run/{name}' has format 99; this version reads up to 2$", hint="pip install"
    )


@pytest.mark.parametrize("name", ["config.json", "schema.json", "metrics.json"])
@pytest.mark.parametrize(
    "content", [b"", b'{"format": 1, "opt', b"[]", b'{"format": "1"}', b"\xff\xfe", b"[" * 100_000]
)
def test_damaged_json(refused, run_copy, name, content):
    (run_copy / name).write_bytes(content)
    refused("predict", run_copy, message=f"^'run/{name}' is damaged", hint="restore the run")


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
def test_an_altered_schema(refused, run_copy, without_manifest, keys, value):
    without_manifest(run_copy)
    change_json(run_copy / "schema.json", *keys, value=value)
    refused("predict", run_copy, message="'run/schema.json' is damaged", hint="restore the run")


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("best_epoch",), None),
        (("best_baseline",), []),
        (("best_baseline",), "another"),
        (("baselines",), {}),
        (("baselines", "naive", "mae"), None),
        (("validation", "mae"), None),
    ],
)
def test_altered_metrics(refused, run_copy, without_manifest, keys, value):
    without_manifest(run_copy)
    change_json(run_copy / "metrics.json", *keys, value=value)
    for words in (("inspect", run_copy, "--validation"), ("report", run_copy, "--html", "page.html")):
        refused(*words, message="'run/metrics.json' is damaged: ", hint="restore the run")


def test_metrics_without_a_number_that_goes_with_another(refused, run_copy, without_manifest):
    without_manifest(run_copy)
    content = json.loads((run_copy / "metrics.json").read_text())
    del content["best_epoch"]
    (run_copy / "metrics.json").write_text(json.dumps(content))
    refused("report", run_copy, "--html", "page.html", message="damaged: best_epoch is missing", hint="restore the run")


@pytest.mark.parametrize("option", ["batch_size", "max_epochs", "learning_rate", "seed"])
def test_an_option_that_training_settled_is_not_open(refused, run_copy, without_manifest, option):
    without_manifest(run_copy)
    change_json(run_copy / "config.json", "options", "training", option, value=None)
    refused("predict", run_copy, message=f"'run/config.json' is damaged: no '{option}'", hint="restore the run")


def test_a_table_whose_columns_have_other_roles_than_the_run_knows(run_copy, write, make_table, without_manifest):
    write(make_table())
    without_manifest(run_copy)
    change_json(run_copy / "config.json", "options", "data", "ignore", value=["temperature"])
    forecaster = Forecaster.load(run_copy)
    for command in (forecaster.backtest, forecaster.audit):
        with pytest.raises(DataError, match=r"columns of the table are not those .* 'temperature' has another role"):
            command()
    schema, panel = read_schema(RunDir(run_copy)), read_panel("data.csv", RunConfig())[0]
    knows_none = replace(schema, roles=replace(schema.roles, past_covariates=()))
    with pytest.raises(DataError, match=r"'temperature' has another role"):
        knows_none.check_columns(panel)


@pytest.mark.parametrize(("option", "value"), [("delimiter", ";"), ("sheet", "Prices")])
def test_a_frame_of_the_same_rows_needs_no_option_of_their_file(run_copy, make_table, without_manifest, option, value):
    without_manifest(run_copy)
    change_json(run_copy / "config.json", "options", "data", option, value=value)
    run = RunDir(run_copy)
    assert panel_of_run(run, read_config(run), make_table()).num_rows == 120


def test_weights_of_another_network(refused, run_copy, without_manifest):
    change_json(run_copy / "config.json", "options", "model", "hidden_size", value=5)
    without_manifest(run_copy)
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
    refused("predict", run_copy, message=message, hint="restore the run")
    assert not Path("exploded").exists()


@pytest.mark.parametrize("harm", ["pickle", "truncated", "safetensors"])
def test_a_weight_file_whose_digest_was_altered_too(refused, run_copy, without_manifest, harm):
    """Made by someone else, not merely damaged: still no code runs, and still a sentence."""
    import hashlib

    path = run_copy / "model.safetensors"
    whole = path.read_bytes()
    content = {"pickle": pickle.dumps(Bomb()), "truncated": whole[:200], "safetensors": b"\xff" * 7 + b"\x7f{}"}[harm]
    path.write_bytes(content)
    metrics = json.loads((run_copy / "metrics.json").read_text())
    metrics["model_sha256"] = hashlib.sha256(content).hexdigest()
    (run_copy / "metrics.json").write_text(json.dumps(metrics))
    without_manifest(run_copy)
    refused("predict", run_copy, message="^cannot read 'run/model.safetensors'", hint="restore the run")
    assert not Path("exploded").exists()


@pytest.mark.parametrize("content", [b"", b"PAR1 and nothing else", pickle.dumps(Bomb())])
def test_a_damaged_tail(refused, run_copy, without_manifest, content):
    without_manifest(run_copy)
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
        "train",
        path,
        *small,
        "--out",
        "run",
        message="^'run' exists and is not an empty",
        hint="^choose another --out$",
    )


def test_an_unfinished_run_is_not_written_over_either(refused, run_copy, write, make_table, small):
    (run_copy / "metrics.json").unlink()
    hint = "^choose another --out, or continue the run with: forecast train --resume run$"
    refused("train", write(make_table()), *small, "--out", "run", message="^'run' exists", hint=hint)


@pytest.mark.parametrize("out", ["data.csv", "data.csv/run"])
def test_a_run_cannot_be_made_inside_a_file(forecast, write, make_table, small, files_in, here, out):
    path = write(make_table())
    before = files_in()
    outcome = forecast("train", path, *small, "--out", out)
    assert outcome.code == 1
    assert outcome.error.startswith(
        (f"'{out}' exists and is not", f"cannot write '{out}': '{here / path}' is not a folder")
    )
    assert outcome.hint
    assert files_in() == before


@pytest.mark.parametrize(
    "command",
    [
        ("train",),
        ("tune", "--trials", "2"),
        ("compare", "--attention", "none,luong-dot"),
        ("backtest", "--start", "2024-04-01", "--out", "b.parquet"),
    ],
)
def test_where_a_run_may_not_be_made_is_said_before_the_work(forecast, write, make_table, monkeypatch, command):
    table = write(make_table())
    Path("locked").mkdir()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "locked")  # the tests may run as root
    monkeypatch.setattr("forecast_attn.data.reading.read_table", None)  # not even the table is read
    out = "--out-run" if command[0] == "backtest" else "--out"
    outcome = forecast(command[0], table, *command[1:], out, "locked/new/run")
    locked = Path.cwd() / "locked"
    assert (outcome.code, outcome.error) == (1, f"cannot write 'locked/new/run': '{locked}' may not be written to")
    assert not any(locked.iterdir())


@pytest.mark.parametrize("out", ["missing/forecast.csv", "run/config.json/forecast.csv", ".", "run"])
@pytest.mark.parametrize("flag", ["--out", "--attention-out"])
def test_a_forecast_that_cannot_be_written_leaves_the_older_one(refused, forecast, run_copy, flag, out):
    assert forecast("predict", run_copy).code == 0
    refused("predict", run_copy, flag, out, message=f"^cannot write '{re.escape(out)}': ", hint="mkdir -p|name a file")


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
    ("words", "message"),
    [
        (("--data", "data.csv", "--out", "data.csv"), "^--out 'data.csv' is a file that is read"),
        (("--future", "data.csv", "--out", "./data.csv"), "^--out 'data.csv' is a file that is read"),
        (("--out", "same", "--attention-out", "same"), "^--out and --attention-out both write 'same'"),
        (("--data", "data.csv", "--out", "link.csv"), "^--out 'link.csv' is a file that is read"),
    ],
)
def test_a_table_that_is_read_is_not_written_over(refused, run_copy, write, make_table, words, message):
    write(make_table())
    Path("link.csv").symlink_to("data.csv")
    refused("predict", run_copy, *words, message=message, hint="name another file|give each", code=2)


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


def test_a_pipe_that_nobody_reads_does_not_hang_a_command(forecast, run_copy, monkeypatch):
    monkeypatch.setattr(pipes, "SECONDS", 0.2)
    os.mkfifo("pipe")
    outcome = forecast("predict", run_copy, "--out", "pipe")
    assert (outcome.code, outcome.error) == (1, "cannot write 'pipe': nobody reads this pipe")
    assert "cat 'pipe' &" in outcome.hint


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 100, 3000])
def test_a_full_disk_during_predict_leaves_the_older_forecast(forecast, forecast_fork, run_copy, files_in, size):
    """100 bytes hold neither file, 3000 the forecast but not its attention."""
    assert forecast("predict", run_copy).code == 0
    (run_copy / "predictions.csv").write_text("the older forecast")
    before = files_in()
    outcome = forecast_fork("predict", "run", file_limit=size)
    assert outcome.code == 1
    assert re.search(r"^cannot write 'run/(predictions.csv|attention.parquet)': File too large$", outcome.error)
    assert "is not full" in outcome.hint
    assert "Traceback" not in outcome.err
    assert files_in() == before


@pytest.mark.slow
@pytest.mark.parametrize("size", [500, 5000, 15_000])
def test_a_full_disk_during_training_leaves_an_unfinished_run(forecast, forecast_fork, write, make_table, small, size):
    """500 bytes hold not even the table's tail, 5000 no weights, 15000 no checkpoint."""
    path = write(make_table())
    words = ("train", path, *small, "--out", "run")
    outcome = forecast_fork(*words, file_limit=size)
    assert outcome.code == 1
    assert re.search("^cannot write 'run/.*': File too large$", outcome.error), outcome.err
    assert "Traceback" not in outcome.err
    assert not [path.name for path in Path("run").iterdir() if ".partial" in path.name]
    assert forecast("predict", "run").code == 1
    if Path("run/config.json").exists():
        assert forecast("train", "--resume", "run", "--quiet").code == 0


@pytest.mark.parametrize(
    ("method", "words", "file"),
    [
        ("pytorch_lightning.Trainer.save_checkpoint", (), "run/last.ckpt"),
        ("pytorch_lightning.loggers.CSVLogger.save", ("--logger", "csv", "--log-to", "log"), "log"),
    ],
)
def test_a_full_disk_during_what_lightning_writes(forecast, write, make_table, small, monkeypatch, method, words, file):
    def write_half(_: object, path: str | None = None, *__: object) -> None:
        if path is not None:
            Path(path).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(method, write_half)
    outcome = forecast("train", write(make_table()), *small, "--out", "run", *words)
    assert (outcome.code, outcome.error) == (1, f"cannot write '{file}': No space left on device")
    assert not [path.name for path in Path("run").iterdir() if ".partial" in path.name]


@pytest.mark.parametrize(
    ("words", "message"),
    [((), "cannot write the output: No space left on device"), (("--no", "--json"), "no such option '--no'")],
)
def test_a_full_disk_behind_stdout(forecast_process, finished_run, here, words, message):
    full = Path("/dev/full")
    if not (full.exists() and stat.S_ISCHR(full.stat().st_mode)):
        pytest.skip("this system has no /dev/full")
    import sys

    with full.open("w") as stdout:
        command = [sys.executable, "-m", "forecast_attn", "info", str(finished_run), *words]
        done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == (2 if words else 1)
    assert done.stderr.startswith(f"error: {message}\nhint: ")
    assert "Traceback" not in done.stderr
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
        (("--top", "0"), 2, "--top must be at least 1; got 0", "forecast inspect --help"),
    ],
)
def test_a_selection_that_is_not_there(refused, finished_run, here, words, code, message, hint):
    run = finished_run / "validation_attention.parquet"
    refused("inspect", run, *words, message=message, hint=hint, code=code)


def test_inspecting_something_else(refused, write, make_table):
    refused("inspect", write(make_table()), message="'data.csv' is not an attention file", hint="predict")
