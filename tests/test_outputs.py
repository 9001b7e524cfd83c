"""Where commands write: into the run, or into the files that the user names, and nowhere else."""

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn.backtest.finished_parts import Parts

pytestmark = pytest.mark.slow


def test_without_names_everything_goes_into_the_run(forecast, run_copy, files_in):
    before = set(files_in())
    assert forecast("predict", run_copy).code == 0
    assert set(files_in()) - before == {"run/predictions.csv", "run/attention.parquet"}


@pytest.mark.parametrize(
    "named",
    [
        ("--out", "f.csv"),
        ("--attention-out", "w.parquet"),
        ("--out", "f.csv", "--attention-out", "w.pq"),
        ("--out", "-"),
    ],
)
def test_with_a_name_only_named_files_are_written(forecast, run_copy, files_in, named):
    """`inspect` and `plot` show files of the run, which belong together."""
    assert forecast("predict", run_copy).code == 0
    before = files_in()
    outcome = forecast("predict", run_copy, *named)
    assert outcome.code == 0, outcome.err
    after = files_in()
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {name for name in named if not name.startswith("-")}


@pytest.mark.parametrize(
    "option", [("--attention-top", "3"), ("--attention-dtype", "float16"), ("--attention-windows", "1")]
)
def test_options_of_weights_that_are_not_written_are_refused(refused, run_copy, option):
    message = f"^{option[0]} is about weights, which are not written$"
    refused("predict", run_copy, "--out", "f.csv", *option, message=message, hint="add --attention-out", code=2)


@pytest.mark.parametrize(
    ("words", "named", "form"),
    [
        (("predict", "run"), ("--out", "f.parquet"), ".csv"),
        (("predict", "run"), ("--out", "f.pq"), ".csv"),
        (("predict", "run"), ("--attention-out", "w.csv"), ".parquet"),
        (("predict", "run", "--samples", "3"), ("--samples-out", "s.csv"), ".parquet"),
        (("backtest", "run"), ("--attention-out", "w.CSV"), ".parquet"),
        (("reconcile", "run", "--hierarchy", "h.csv"), ("--out", "r.parquet"), ".csv"),
        (("audit", "run"), ("--out", "a.csv"), ".json"),
        (("check", "data.csv", "--fix"), ("--out", "clean.parquet"), ".csv"),
    ],
)
def test_a_name_of_another_form_is_refused(refused, run_copy, write, make_table, words, named, form):
    write(make_table())
    option, name = named
    hint = f"^{option} {Path(name).with_suffix(form)}$"
    refused(*words, *named, message=f"^{option} writes a {form}; got '{name}'$", hint=hint, code=2)


def test_forecasts_do_not_depend_on_what_is_written(forecast, run_copy):
    assert forecast("predict", run_copy).code == 0
    assert forecast("predict", run_copy, "--out", "f.csv").code == 0
    assert Path("f.csv").read_bytes() == (run_copy / "predictions.csv").read_bytes()


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_times_keep_the_fractions_of_their_seconds(forecast, write, small, zone):
    stamps = pd.date_range("2024-01-01 10:00", periods=125, freq="100ms", tz=zone)
    write(pd.DataFrame({"date": stamps[:120], "target": np.arange(120) % 7}))
    assert forecast("train", "data.csv", *small, "--out", "run").code == 0
    until = json.loads(Path("run/metrics.json").read_text())["validation"]["after"]
    assert pd.Timestamp(until) == stamps[95], "backtests begin here"
    assert forecast("predict", "run").code == 0
    written = pd.read_csv("run/predictions.csv", parse_dates=["cutoff", "timestamp"])
    assert (written["cutoff"] == stamps[119]).all()
    assert list(written["timestamp"]) == list(stamps[120 : 120 + len(written)])


def test_a_run_that_may_not_be_written_to(forecast, refused, run_copy):
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    run_copy.chmod(0o555)
    try:
        assert forecast("predict", run_copy, "--out", "f.csv").code == 0
        refused("predict", run_copy, message="^cannot write 'run/", hint="elsewhere")
    finally:
        run_copy.chmod(0o755)


def test_the_help_states_the_rule(forecast):
    text = " ".join(forecast("predict", "--help").out.replace("│", " ").split())
    assert "Files go into the run, unless you name one: then only the files you name are written." in text


@pytest.mark.parametrize("kind", ["folder", "link", "file"])
def test_what_stands_where_a_backtest_would_work_is_left_alone(refused, finished_run, run_copy, kind):
    folder, elsewhere = Path(".bt.parquet.parts"), Path("mine")
    elsewhere.mkdir()
    (elsewhere / "thesis.txt").write_text("all of it")
    {"folder": elsewhere.rename, "link": lambda folder: folder.symlink_to(elsewhere), "file": Path.touch}[kind](folder)
    table = finished_run.parent / "data.csv"
    words = ("backtest", run_copy, "--data", table, "--cutoffs", 2, "--baselines", "none", "--out", "bt.parquet")
    refused(*words, message="'.bt.parquet.parts' is in the way", hint="another --out")
    assert [path.read_text() for path in Path().glob("**/thesis.txt")] == ["all of it"]
    assert os.path.lexists(folder)


FORECAST = ("predict", "run")
WRITERS = {
    "predict --out": (*FORECAST, "--out", "x.csv"),
    "predict --attention-out": (*FORECAST, "--attention-out", "x.parquet"),
    "check": ("check", "data.csv", "--fix", "--out", "x.csv"),
    "backtest": ("backtest", "run", "--out", "x.csv"),
    "backtest --attention-out": ("backtest", "run", "--attention-out", "x.parquet"),
    "evaluate": ("evaluate", "run/predictions.csv", "--actuals", "data.csv", "--out", "x.csv"),
    "plot": ("plot", "run", "--png", "x.png"),
    "inspect": ("inspect", "run", "--html", "x.html"),
    "audit": ("audit", "run", "--out", "x.json"),
    "report": ("report", "run", "--html", "x.html"),
    "tune": ("tune", "data.csv", "--trials", "1", "--png", "x.png"),
}
"""Commands that write a file, whose name is the last word."""


@pytest.fixture
def run_and_table(run_copy, finished_run):
    """A run and its table in the working directory, where the run finds it."""
    Path("data.csv").symlink_to(finished_run.parent / "data.csv")
    return run_copy


@pytest.mark.parametrize("words", WRITERS.values(), ids=WRITERS)
def test_an_output_that_cannot_be_one_is_refused_before_the_work(refused, run_and_table, monkeypatch, words):
    monkeypatch.setattr("forecast_attn.data.panel_building.build_panel", None)  # no table becomes a panel
    *words, name = words
    folder, suffix = Path(f"folder{Path(name).suffix}"), Path(name).suffix
    folder.mkdir()
    option = words[-1]
    refused(*words, folder, message=f"^cannot write '{folder}': it is a folder$", hint="name a file")
    refused(*words, "", message=f"^{option} is empty$", hint="FILE", code=2)
    refused(*words, f"none{suffix}/", message=f"^{option} 'none{suffix}/' is no file", hint="FILE", code=2)
    refused(*words, f"none/x{suffix}", message="there is no folder 'none'$", hint="mkdir -p 'none'")


@pytest.mark.parametrize("words", [WRITERS["backtest --attention-out"], WRITERS["predict --attention-out"]])
def test_a_parquet_file_is_not_written_to_stdout(refused, run_and_table, words):
    refused(*words[:-1], "-", message="^'-' is stdout, and this is a file$", hint="name a file", code=2)


@pytest.mark.parametrize("target", ["run/schema.json", "table"])
def test_a_forecast_does_not_replace_its_run_or_the_table_of_the_training(refused, finished_run, run_copy, target):
    if target == "table":
        target = finished_run.parent / "data.csv"
    refused(*FORECAST, "--out", target, message="belongs to a run$", hint="another", code=2)


@pytest.mark.parametrize("command", ["check", "evaluate"])
def test_no_command_writes_over_a_run_that_it_does_not_read(refused, forecast, run_and_table, command):
    assert forecast(*FORECAST).code == 0
    name = {"check": "run/schema.json", "evaluate": "run/history.csv"}[command]
    refused(*WRITERS[command][:-1], name, message="belongs to a run$", hint="another", code=2)


@pytest.mark.parametrize(
    "words",
    [
        *(FORECAST, ("backtest", "run"), ("audit", "run"), ("report", "run")),
        *(("reconcile", "run", "--hierarchy", "data.csv"), ("train", "--resume", "run")),
    ],
)
def test_a_read_only_run_is_refused_before_the_work(refused, run_and_table, monkeypatch, words):
    if "--resume" in words:
        Path("run/metrics.json").unlink()
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or Path(path).name != "run")  # may be root
    monkeypatch.setattr("forecast_attn.nn.network.ForecastNetwork.forward", None)
    refused(*words, message="^(cannot write 'run/.*)?'run' may not be written to$", hint="elsewhere|copy the run")


@pytest.mark.parametrize("words", [("backtest", "run", "--out"), ("score", "run", "data.csv", "--out")])
@pytest.mark.parametrize("name", [".", "/", "rows.txt"])
def test_rows_go_into_a_parquet_or_csv_file(refused, run_and_table, words, name):
    refused(*words, name, message=f"^--out '{name}' is neither .parquet nor .csv$", hint="s.parquet$", code=2)


def test_a_run_is_a_folder_and_not_stdout(refused, run_and_table):
    refused("train", "data.csv", "--out", "-", message="^'-' is stdout, and a run is a folder$", hint="--out DIR")


def test_a_backtest_goes_on_with_options_whose_paths_are_no_utf8(here):
    options = {"vintages": os.fsdecode(b"\xff.csv")}
    Parts(Path("rows.parquet"), options)
    assert Parts(Path("rows.parquet"), options).changed is None
