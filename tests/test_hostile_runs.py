"""Run directories made by somebody who means harm: links, pipes, forged sizes and digests, altered documents.

Each case goes through the command line. A hostile run may be wrong in any way; it must not write anywhere else, hang,
ask for memory beyond reason, or end in a traceback.
"""

import contextlib
import hashlib
import importlib
import json
import math
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def fuzz_runs() -> ModuleType:
    """benchmarks/fuzz_runs.py: a script, not part of the package."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        return importlib.import_module("fuzz_runs")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


@pytest.fixture
def in_time() -> Iterator[None]:
    """Fail a command that waits for something that never comes."""

    def stop(signum: int, frame: object) -> None:
        raise AssertionError("no answer within 10 s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(10)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def secret(here: Path) -> Path:
    """A file of the user's, outside any run."""
    (here / "home").mkdir()
    path = here / "home" / ".bashrc"
    path.write_text("alias ls=ls\n")
    return path


@pytest.fixture
def comparison_of(here: Path) -> Callable[..., None]:
    """`comparison_of(option=value)`: a comparison of data.csv that was killed before its first training."""

    def make(**options: object) -> None:
        digest = hashlib.sha256(Path("data.csv").read_bytes()).hexdigest()
        data = {"file": "data.csv", "sha256": digest, "vintages_sha256": None}
        plan = {"format": 2, "data": data, "attention": ["none", "bahdanau"], "seeds": [0], "options": options}
        Path("compared").mkdir()
        Path("compared/comparison.json").write_text(json.dumps(plan))

    return make


def sign_again(fuzz_runs: ModuleType, run: Path) -> None:
    fuzz_runs.sign_again(run)


def change_json(path: Path, *keys: str | int, value: object) -> None:
    """Replace one value of a JSON file."""
    content = json.loads(path.read_text())
    part = content
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    path.write_text(json.dumps(content))


# --------------------------------------------------------------------------- links


@pytest.mark.parametrize("name", ["predictions.csv", "attention.parquet"])
def test_a_link_out_of_a_run_is_not_written_through(refused, run_copy, secret, name):
    (run_copy / name).symlink_to(f"../home/{secret.name}")
    refused("predict", run_copy, message=f"^'run/{name}' is a link out of the run$", hint="remove it")
    assert secret.read_text() == "alias ls=ls\n"


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (("audit", "--windows", "8"), "audit.json"),
        (("backtest", "--cutoffs", "2"), "backtest.parquet"),
        (("backtest", "--cutoffs", "2"), "backtest.json"),
        (("backtest", "--cutoffs", "2"), ".backtest.parquet.parts"),
        (("train", "--resume"), "last.ckpt"),
        (("train", "--resume"), ".last.ckpt.partial"),
        (("train", "--resume"), "history.csv"),
        (("train", "--resume"), "metrics.json"),
        (("train", "--resume"), "members"),
        (("plot",), "predictions.csv"),
        (("inspect",), "attention.parquet"),
        (("inspect",), "validation_attention.parquet"),
        (("info",), "metrics.json"),
        (("predict",), "tail.parquet"),
        (("predict",), "schema.json"),
        (("predict",), "config.json"),
        (("predict",), "model.safetensors"),
    ],
)
def test_no_command_follows_a_link_out_of_a_run(forecast, files_in, run_copy, secret, command, name):
    path = run_copy / name
    if path.exists():
        shutil.move(path, secret.parent / name)
        target = f"../home/{name}"
    else:
        target = "../home" if name in ("members", ".backtest.parquet.parts") else f"../home/{secret.name}"
    path.symlink_to(target)
    if command[0] == "train" and name != "metrics.json":
        (run_copy / "metrics.json").unlink()
    before = files_in()
    outcome = forecast(command[0], *command[1:], run_copy)
    assert outcome.code == 1, outcome.err
    assert outcome.error == f"'run/{name}' is a link out of the run"
    assert files_in() == before


def test_a_link_within_a_run_and_a_link_to_a_run_are_followed(forecast, run_copy):
    (run_copy / "kept").mkdir()
    shutil.move(run_copy / "tail.parquet", run_copy / "kept" / "end.parquet")
    (run_copy / "tail.parquet").symlink_to("kept/end.parquet")
    Path("newest").symlink_to("run")
    assert forecast("predict", "newest").code == 0
    assert (run_copy / "predictions.csv").is_file()


@pytest.mark.parametrize("name", ["predictions.csv", "attention.parquet", "tail.parquet", "notes"])
def test_a_run_holds_regular_files_only(forecast, run_copy, in_time, name):
    (run_copy / name).unlink(missing_ok=True)
    os.mkfifo(run_copy / name)
    outcome = forecast("predict", run_copy)
    assert outcome.code == 1
    assert outcome.error == f"'run/{name}' is not a regular file"


# --------------------------------------------------------------------------- recorded paths


@pytest.mark.parametrize("target", ["pipe", "/dev/zero", "."])
@pytest.mark.parametrize("command", [("train", "--resume"), ("audit",), ("backtest",), ("inspect", "--png", "w.png")])
def test_a_recorded_table_is_a_regular_file(forecast, run_copy, in_time, fuzz_runs, target, command):
    if target == "pipe":
        os.mkfifo("pipe")
    change_json(run_copy / "config.json", "data", "file", value=target)
    sign_again(fuzz_runs, run_copy)
    if command[0] == "train":
        (run_copy / "metrics.json").unlink()
    outcome = forecast(*command, run_copy)
    if command[0] != "inspect":  # a picture does without its series
        assert outcome.code == 1, outcome.err
        assert f"'{target}'" in outcome.error


def test_a_recorded_table_beside_the_data_is_a_regular_file(
    forecast, run_copy, write, make_table, in_time, without_manifest
):
    write(make_table())
    os.mkfifo("pipe")
    change_json(run_copy / "config.json", "options", "data", "vintages", value="pipe")
    without_manifest(run_copy)
    backtest = forecast("backtest", run_copy, "--data", "data.csv", "--cutoffs", "2")
    (run_copy / "metrics.json").unlink()
    for outcome in (backtest, forecast("train", "data.csv", "--resume", run_copy)):
        assert outcome.code == 1, outcome.err
        assert outcome.error == "'pipe', which 'run' was trained with, is not a regular file"


@pytest.mark.parametrize(("words", "code"), [("audit", 1), ("report", 0), ("inspect", 0), ("plot", 1)])
def test_half_a_disk_is_no_recorded_table(forecast, run_copy, in_time, fuzz_runs, monkeypatch, words, code):
    """A pattern is looked for in every folder below its first."""
    monkeypatch.setattr("forecast_attn.data.reading.parts.MOST_FILES", 20)
    for number in range(21):
        Path("many", str(number)).mkdir(parents=True)
    monkeypatch.setattr(Path, "glob", lambda *_: pytest.fail("looked for parts"))
    change_json(run_copy / "config.json", "data", "file", value="many/**/*.parquet")
    fuzz_runs.sign_again(run_copy)
    outcome = forecast(words, run_copy)
    assert outcome.code == code, outcome.err
    if words == "audit":
        message = "'many/**/*.parquet', which 'run' was trained with, is looked for in too many files"
        assert outcome.error == message


def test_a_recorded_path_that_no_file_has(refused, run_copy, fuzz_runs):
    change_json(run_copy / "config.json", "data", "file", value="a\0b")
    fuzz_runs.sign_again(run_copy)
    refused("audit", run_copy, message="^'run/config.json' is damaged: data.file must be a path", hint="restore")


def test_a_recorded_file_of_dates_is_not_read_again(forecast, run_copy, write, make_table, in_time):
    """The run has its days in schema.json."""
    write(make_table())
    os.mkfifo("pipe")
    change_json(run_copy / "config.json", "options", "data", "holiday_dates", value="pipe")
    (run_copy / "metrics.json").unlink()
    assert forecast("train", "data.csv", "--resume", run_copy).code == 0


@pytest.mark.parametrize("option", ["vintages", "holiday_dates"])
def test_a_report_opens_no_file_that_only_the_run_names(
    forecast, run_copy, write, make_table, in_time, fuzz_runs, option
):
    write(make_table())
    os.mkfifo("pipe")
    change_json(run_copy / "config.json", "options", "data", option, value="pipe")
    fuzz_runs.sign_again(run_copy)
    outcome = forecast("report", run_copy, "--data", "data.csv")
    assert outcome.code == 0, outcome.err
    assert ("'pipe', which 'run' was trained with, is not a regular file" in outcome.err) == (option == "vintages")
    assert ("The data</h2>" in (run_copy / "report.html").read_text(encoding="utf-8")) == (option != "vintages")


@pytest.mark.parametrize("option", ["vintages", "holiday_dates"])
@pytest.mark.parametrize("target", ["pipe", "/dev/zero"])
def test_a_comparison_opens_no_pipe_or_device(forecast, write, make_table, comparison_of, in_time, option, target):
    write(make_table())
    os.mkfifo("pipe")
    comparison_of(**{option: target})
    outcome = forecast("compare", "--resume", "compared")
    assert outcome.error == f"'{target}', which 'compared' was trained with, is not a regular file"


def test_a_recorded_table_without_a_digest_is_not_read(forecast, write, make_table, comparison_of, secret):
    write(make_table())
    secret.write_text("user,password\nroot,hunter2\n")
    comparison_of(vintages=str(secret))
    outcome = forecast("compare", "--resume", "compared")
    assert outcome.error == f"'{secret}' is not the table that 'compared' was started with"
    assert "password" not in outcome.err


def test_a_comparison_with_an_option_that_is_none(refused, write, make_table, comparison_of):
    """The hint on options of the command line is no part of the sentence."""
    write(make_table())
    comparison_of(colour="red")
    message = "^'compared/comparison.json' is damaged: there is no option 'colour'$"
    refused("compare", "--resume", "compared", message=message, hint="restore")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs a device without an end")
@pytest.mark.parametrize("words", ["check", "train", "predict run --data", "predict run --future"])
def test_a_device_is_no_table(forecast, run_copy, in_time, words):
    outcome = forecast(*words.split(), "/dev/zero")
    assert outcome.code == 1
    assert "'/dev/zero' is a device, not a table" in outcome.out + outcome.err


@pytest.mark.parametrize(
    "words",
    [
        ("train", "data.csv", "--config", "/dev/zero"),
        ("tune", "data.csv", "--space", "/dev/zero"),
        ("serve", "run", "--token-file", "/dev/zero"),
    ],
)
def test_a_device_is_no_file_of_options(refused, run_copy, write, make_table, in_time, words):
    write(make_table())
    refused(*words, message="'/dev/zero' is no .* more than 65,536 bytes", hint=".", code=2)


def test_another_recorded_file_is_refused_before_it_is_read(forecast, run_copy, secret):
    """Nothing of a file that the user did not name is shown."""
    secret.write_text("user,password\nroot,hunter2\n")
    change_json(run_copy / "config.json", "data", "file", value=str(secret))
    (run_copy / "metrics.json").unlink()
    outcome = forecast("train", "--resume", run_copy)
    assert outcome.code == 1
    assert outcome.error == f"'{secret}' is not the table that 'run' was started with"
    assert "password" not in outcome.err


# --------------------------------------------------------------------------- sizes


def test_a_tail_of_too_many_rows_is_not_read(forecast, run_copy, in_time, fuzz_runs):
    """A megabyte of Parquet may hold sixty million rows."""
    tail = pq.read_table(run_copy / "tail.parquet")
    rows = pa.array(np.zeros(5_000_000, np.int64))
    pq.write_table(tail.take(rows), run_copy / "tail.parquet", compression="zstd")
    sign_again(fuzz_runs, run_copy)
    outcome = forecast("predict", run_copy)
    assert outcome.code == 1
    assert outcome.error == "'run/tail.parquet' has 5,000,000 rows; the end of 1 series has at most 1,100,014"


@pytest.mark.parametrize(
    ("name", "value"),
    [("heads", 10**9), ("horizon", 10**9), ("lookback", 10**9), ("season", 10**12), ("heads", 1000), ("horizon", 9000)],
)
def test_an_attention_file_of_impossible_sizes(forecast, run_copy, in_time, fuzz_runs, name, value):
    path = run_copy / "validation_attention.parquet"
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[fuzz_runs.ATTENTION_KEY])
    metadata = {fuzz_runs.ATTENTION_KEY: json.dumps({**about, name: value})}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    sign_again(fuzz_runs, run_copy)
    for words in (("inspect", run_copy), ("inspect", path)):
        outcome = forecast(*words)
        assert outcome.code == 1
        assert "run/validation_attention.parquet'" in outcome.error


@pytest.mark.parametrize("size", [10_000, 10**9])
def test_a_network_larger_than_its_weights_is_not_built(forecast, run_copy, in_time, fuzz_runs, size):
    change_json(run_copy / "config.json", "options", "model", "hidden_size", value=size)
    sign_again(fuzz_runs, run_copy)
    outcome = forecast("predict", run_copy)
    assert outcome.code == 1
    assert "config.json" in outcome.error


# --------------------------------------------------------------------------- Arrow


def test_the_first_feather_format_is_not_read(forecast_fork, here):
    """Its reader dies of 58 bytes."""
    Path("v1.csv").write_bytes(b"FEA1" + b"\0" * 50 + b"FEA1")
    outcome = forecast_fork("train", "v1.csv")
    assert outcome.code == 1
    assert outcome.error == "'v1.csv' is a Feather file of the first version, which is not supported"
    assert outcome.hint.startswith("write it again: pyarrow.feather.write_feather(table, path)")


@pytest.mark.parametrize("compression", ["uncompressed", "zstd", "lz4"])
def test_arrow_files_are_read(forecast, here, make_table, compression):
    pa.feather.write_feather(make_table(), "data.arrow", compression=compression)
    assert forecast("check", "data.arrow").code == 0


@pytest.mark.parametrize("cut", [7, 8, 60, 500, -1])
def test_a_damaged_arrow_file(refused, here, make_table, cut):
    pa.feather.write_feather(make_table(), "data.arrow")
    whole = Path("data.arrow").read_bytes()
    Path("data.arrow").write_bytes(whole[:cut])
    refused("train", "data.arrow", message="^'data.arrow' is a damaged feather file: ", hint="copy or write it again")


# --------------------------------------------------------------------------- digests


def test_every_file_of_a_run_has_a_digest(finished_run):
    manifest = json.loads((finished_run / "manifest.json").read_text())
    files = {path.name for path in finished_run.iterdir()} - {"manifest.json"}
    assert set(manifest["files"]) == files
    for name, entry in manifest["files"].items():
        content = (finished_run / name).read_bytes()
        assert entry == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("predict", "config.json"),
        ("predict", "schema.json"),
        ("predict", "metrics.json"),
        ("predict", "model.safetensors"),
        ("predict", "tail.parquet"),
        ("info", "metrics.json"),
        ("inspect", "validation_attention.parquet"),
    ],
)
@pytest.mark.parametrize("harm", ["a byte more", "another byte"])
def test_an_altered_file_is_refused(refused, run_copy, command, name, harm):
    whole = (run_copy / name).read_bytes()
    digits = [offset for offset, byte in enumerate(whole) if chr(byte).isdigit()]
    at = digits[-1] if name.endswith(".json") else len(whole) // 2
    changed = whole + b" " if harm == "a byte more" else whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]
    (run_copy / name).write_bytes(changed)
    refused(
        command,
        run_copy,
        message=f"^'run/{name}' was altered or cut short since training$",
        hint="restore the run|--data",
    )


def test_a_history_that_was_altered_is_refused(run_copy):
    from forecast_attn import Forecaster
    from forecast_attn.errors import RunError

    forecaster = Forecaster.load(run_copy)
    (run_copy / "history.csv").write_text("epoch\n")
    with pytest.raises(RunError, match="was altered or cut short"):
        _ = forecaster.history


def test_a_run_that_lost_its_manifest_is_damaged(refused, run_copy):
    (run_copy / "manifest.json").unlink()
    refused("predict", run_copy, message="^'run' is damaged: missing manifest.json$", hint="restore")


def test_a_run_of_an_earlier_version_has_no_manifest(forecast, run_copy, finished_run, without_manifest):
    without_manifest(run_copy)
    assert forecast("predict", run_copy).code == 0
    assert forecast("predict", finished_run, "--out", "now.csv").code == 0
    assert (run_copy / "predictions.csv").read_text() == Path("now.csv").read_text()


@pytest.mark.parametrize("value", [-1.0, 0.0, math.nan, math.inf, 1e308, 1e-310])
@pytest.mark.parametrize("group", ["target", "past"])
def test_a_scale_that_cannot_be(refused, run_copy, without_manifest, group, value):
    """In a run without digests, or with digests made again."""
    without_manifest(run_copy)
    change_json(run_copy / "schema.json", "scaler", group, "scale", value=[value] if group == "target" else [[value]])
    refused("predict", run_copy, message="^'run/schema.json' is damaged: ", hint="restore")


@pytest.mark.parametrize("transform", ["log", "arcsinh"])
def test_forecasts_beyond_reason_are_scored_without_an_overflow(
    forecast, write, make_table, small, without_manifest, transform
):
    """A warning of numpy's fails this test, as any."""
    assert forecast("train", write(make_table()), *small, "--transform", transform, "--out", "run", "-q").code == 0
    without_manifest(Path("run"))
    change_json(Path("run/schema.json"), "scaler", "target", "scale", value=[1e30])
    outcome = forecast("backtest", "run", "--cutoffs", "6", "-q")
    assert outcome.code == 0, outcome.err
    forecasts = np.abs(pq.read_table("run/backtest.parquet")["prediction"].to_numpy())
    assert 1e60 < forecasts.max() < 1e150


def test_a_location_that_is_no_number(refused, run_copy, without_manifest):
    without_manifest(run_copy)
    change_json(run_copy / "schema.json", "scaler", "target", "loc", value=[math.nan])
    refused("predict", run_copy, message="^'run/schema.json' is damaged: ", hint="restore")


def test_a_backtest_of_copies_of_one_row_is_refused_unread(forecast, whole_run, here):
    """Some hundred kilobytes held thirty million rows, which kept `report` busy for more than a minute."""
    shutil.copytree(whole_run, "run")
    assert forecast("backtest", "run", "--data", whole_run.parent / "data.csv", "--cutoffs", "2").code == 0
    picture = ("plot", "run", "--kind", "error-by-step")
    assert forecast(*picture).code == 0
    path = Path("run/backtest.parquet")
    rows = pq.read_table(path).slice(0, 1)
    copies = rows.take(pa.array(np.zeros(1 << 17, np.int64)))
    with pq.ParquetWriter(path, rows.schema, compression="zstd") as writer:
        for _ in range(16):
            writer.write_table(copies)
    outcome = forecast(*picture)
    assert outcome.code == 1
    assert "is damaged: 2,097,152 forecasts do not fit into" in outcome.error
    assert forecast("report", "run", "--data", whole_run.parent / "data.csv").code == 0


# --------------------------------------------------------------------------- anything


@pytest.fixture(scope="module")
def whole_run(finished_run, tmp_path_factory, forecast) -> Path:
    """A run with what predict and audit add to it."""
    run = tmp_path_factory.mktemp("whole") / "run"
    shutil.copytree(finished_run, run)
    with contextlib.chdir(run.parent):
        shutil.copy(finished_run.parent / "data.csv", "data.csv")
        for words in (("predict", "run"), ("audit", "run", "--data", "data.csv", "--windows", "8", "--draws", "20")):
            assert forecast(*words).code == 0
    return run


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("checks", 0, "groups"), ["x"], "checks[0].groups[0] must be an object"),
        (("checks", 0, "groups"), [{"name": "x"}], "checks[0].groups[0].windows is missing"),
        (("checks", 3, "curves", 0, "share"), [0.5], "entries, share 1"),
        (("header", "windows_available"), None, "header.windows_available must be a whole number"),
        (("profiles", "weights"), [1.0], "the lists of profiles have 1 to 14 entries"),
    ],
)
def test_an_audit_that_cannot_be_drawn(forecast, whole_run, here, fuzz_runs, keys, value, message):
    shutil.copytree(whole_run, "run")
    change_json(Path("run/audit.json"), *keys, value=value)
    outcome = forecast("inspect", "run", "--html", "page.html")
    assert outcome.code == 1
    assert outcome.error.startswith("'run/audit.json' is damaged: ")
    assert message in outcome.error


def test_an_audit_of_zeros_is_shown(forecast, whole_run, here):
    shutil.copytree(whole_run, "run")
    for name in ("weights", "state_occlusion"):
        change_json(Path("run/audit.json"), "profiles", name, value=[0.0] * 14)
    assert forecast("inspect", "run", "--html", "page.html").code == 0


@pytest.mark.parametrize("kind", ["json", "metadata", "weights"])
def test_altered_runs_are_answered(fuzz_runs, whole_run, kind):
    """A few of those that benchmarks/fuzz_runs.py tries by the thousand."""
    cases = {
        "json": lambda: fuzz_runs.json_cases(whole_run, 16, seed=0),
        "metadata": lambda: fuzz_runs.metadata_cases(whole_run, 8, seed=0),
        "weights": lambda: fuzz_runs.weight_cases(whole_run, seed=0),
    }[kind]()
    failures = fuzz_runs.failures(whole_run, cases)
    assert not failures, "\n\n".join("\n".join(failure) for failure in failures)
