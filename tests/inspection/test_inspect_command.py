"""`forecast inspect` as a user runs it: groups, comparisons, pictures, exports and what does not go together."""

import json
import re
import shutil
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.attention_file import read_attention
from forecast_attn.errors import ConfigError

pytestmark = pytest.mark.slow


@pytest.fixture
def run(run_copy, forecast):
    """A finished run with a forecast, and the table it was trained on where it was."""
    assert forecast("predict", "run", "--quiet").code == 0
    return run_copy


@pytest.mark.parametrize("by", ["item", "head", "weekday"])
def test_groups_on_the_page_and_as_json(forecast, run, by):
    outcome = forecast("inspect", run, "--validation", "--by", by)
    assert outcome.code == 0, outcome.err
    document = json.loads(forecast("inspect", run, "--validation", "--by", by, "--json").out)
    assert document["by"] == by
    assert document["groups"]
    for group in document["groups"]:
        assert group["name"] in outcome.out
        assert sum(group["profile"]) == pytest.approx(1, abs=1e-5)


def test_two_runs_side_by_side(forecast, run):
    shutil.copytree(run, "other")
    outcome = forecast("inspect", run, "--compare", "other", "--validation")
    assert outcome.code == 0, outcome.err
    assert "A  run" in outcome.out
    assert "B  other" in outcome.out
    document = json.loads(forecast("inspect", run, "--compare", "other", "--validation", "--json").out)
    assert (document["distance"], document["profile_distance"]) == (0, 0)
    assert document["matched_windows"] == read_attention(run / "validation_attention.parquet").num_windows


@pytest.mark.parametrize("columns", ["1", "120"])
def test_a_forecast_and_a_file_side_by_side(forecast, run, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    outcome = forecast("inspect", run, "--compare", run / "validation_attention.parquet")
    assert outcome.code == 0, outcome.err
    assert "nowindowisinboth" in "".join(outcome.out.split())


def test_the_same_document_has_everything(forecast, run):
    document = json.loads(forecast("inspect", run, "--json", "--top", "2").out)
    header = document["header"]
    assert header["identifiable"] is (header["lookback"] <= header["value_rank"] + 1)
    assert len(document["top"]) == 2
    assert len(document["lookback_timestamps"]) == header["lookback"]
    assert [entry["timestamp"] for entry in document["steps"][0]["top"]] == [
        document["lookback_timestamps"][-1 - entry["lag"]] for entry in document["steps"][0]["top"]
    ]


@pytest.mark.parametrize("part", [(), ("--validation",), ("--step", "2")])
def test_pictures_of_a_run(forecast, run, part):
    outcome = forecast("inspect", run, *part, "--png", "one.png", "--svg", "one.svg")
    assert outcome.code == 0, outcome.err
    assert outcome.out.splitlines()[-2:] == ["picture: one.png", "picture: one.svg"]
    assert Path("one.png").read_bytes().startswith(b"\x89PNG")
    assert "<title>Where the forecast looks: run, luong-general</title>" in Path("one.svg").read_text()


def test_the_picture_draws_the_series_of_the_window(run):
    from forecast_attn.inspection.series_lines import lines_of_run
    from forecast_attn.runs.run_dir import RunDir

    dump = read_attention(run / "attention.parquet")
    lines = lines_of_run(RunDir(run), dump)
    tail = pd.read_parquet(run / "tail.parquet")
    assert lines.past == pytest.approx(tail["target"].dropna().to_numpy()[-dump.metadata.lookback :])
    assert lines.forecast == pytest.approx(pd.read_csv(run / "predictions.csv")["prediction"].to_numpy())
    assert np.isnan(lines.actual).all()
    assert lines.label == "target"


def test_later_rows_are_drawn_as_what_came(forecast, run, make_table):
    from forecast_attn.inspection.series_lines import lines_of_run
    from forecast_attn.runs.run_dir import RunDir

    longer = make_table(130)
    longer.to_csv("later.csv", index=False)
    lines = lines_of_run(RunDir(run), read_attention(run / "attention.parquet"), Path("later.csv"))
    assert lines.actual == pytest.approx(longer["target"].to_numpy()[120:123])
    assert forecast("inspect", run, "--png", "later.png", "--data", "later.csv").code == 0


@pytest.mark.parametrize("kind", ["csv", "npz"])
def test_exports_of_a_part(forecast, run, kind):
    outcome = forecast("inspect", run, "--validation", "--step", "2", "--export", f"weights.{kind}")
    assert outcome.code == 0, outcome.err
    expected = read_attention(run / "validation_attention.parquet").select(step=2).weights
    if kind == "csv":
        read = pd.read_csv("weights.csv", dtype={"weight": np.float32})["weight"].to_numpy().reshape(expected.shape)
    else:
        read = np.load("weights.npz")["weights"]
    assert np.array_equal(read, expected)


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--by", "month"), "--by has no value 'month'", "item, head, hour, weekday"),
        (("--compare", "run", "--by", "item"), "--compare does not go with --by", "one after the other"),
        (("--compare", "run", "--export", "a.csv"), "--compare does not go with --export", "one after the other"),
        (
            ("--compare", "run", "--html", "a.html", "--html-windows", "3"),
            "--compare does not go with --html-windows",
            "one after the other",
        ),
        (("--by", "hour", "--png", "a.png", "--data", "d.csv"), "groups and comparisons have none", "leave --data out"),
        (("--png", "a.pdf"), "--png writes a .png; got 'a.pdf'", "--png a.png"),
        (("--svg", "a.png"), "--svg writes a .svg; got 'a.png'", "--svg a.svg"),
        (("--export", "a.xlsx"), "--export writes .csv or .npz; got 'a.xlsx'", "--export a.csv"),
        (("--data", "data.csv"), "--data is for pictures", "--png"),
    ],
)
def test_what_does_not_go_together_is_refused(refused, run, words, message, hint):
    refused("inspect", "run", *words, message=message, hint=hint, code=2)


def test_a_bare_file_has_no_table(refused, run):
    words = ("inspect", run / "attention.parquet", "--png", "a.png", "--data", "data.csv")
    refused(*words, message="--data needs a run", hint="name the run", code=2)


@pytest.mark.parametrize(
    ("option", "target"),
    [
        ("--export", "data.csv"),
        ("--export", "run/predictions.csv"),
        ("--html", "run/attention.parquet"),
        ("--html", "run/model.safetensors"),
        ("--html", "data.csv"),
    ],
)
def test_nothing_that_is_read_or_belongs_to_the_run_is_written_over(refused, run, finished_run, option, target):
    if target == "data.csv":  # the table of training, under another name of the same file
        Path("data.csv").unlink(missing_ok=True)
        Path("data.csv").symlink_to(finished_run.parent / "data.csv")
    words = ("--data", "data.csv") if option == "--html" else ()
    message = f"{option} '{target}' is a file that is read or belongs to a run"
    refused("inspect", run, option, target, *words, message=message, hint="another file", code=2)


def test_two_outputs_are_two_files_in_folders_that_are_there(refused, run):
    words = ("inspect", run, "--png", "one.png", "--html", "one.png")
    refused(*words, message="--png and --html both write 'one.png'", hint="its own", code=2)
    refused("inspect", run, "--html", "no/page.html", message="there is no folder 'no'", hint="mkdir -p 'no'")


def test_a_run_that_is_not_there_is_not_called_a_file(refused, run):
    refused("inspect", "nowhere", "--validation", message="there is no file 'nowhere'", hint="forecast predict")


def test_one_window_near_the_end_is_drawn_with_all_it_looked_at(run, make_table):
    from forecast_attn.inspection.window_values import values_of_windows
    from forecast_attn.runs.run_dir import RunDir

    dump = read_attention(run / "validation_attention.parquet")
    last = dump.take(np.array([dump.num_windows - 1]))  # the end of the table that the run keeps has only part of it
    values = values_of_windows(RunDir(run), last)
    table = make_table()["target"].to_numpy()
    assert values.past[0] == pytest.approx(table[-3 - dump.metadata.lookback : -3])
    assert values.actual[0] == pytest.approx(table[-3:])
    assert values.forecast[0] == pytest.approx(values_of_windows(RunDir(run), dump).forecast[-1])
    assert not values.notes


def test_a_lookback_known_in_part_is_said_to_be(run, without_manifest):
    from forecast_attn.inspection.window_values import values_of_windows
    from forecast_attn.runs.run_dir import RunDir

    without_manifest(run)
    config = json.loads((run / "config.json").read_text())
    config["data"]["file"] = "gone.csv"
    (run / "config.json").write_text(json.dumps(config))
    dump = read_attention(run / "validation_attention.parquet")
    values = values_of_windows(RunDir(run), dump.take(np.array([dump.num_windows - 1])))
    assert values.notes[0] == "1 of 1 windows are drawn without the older part of their series"
    assert np.isnan(values.forecast).all()


def test_every_form_says_the_same_of_a_network_that_learned_nothing(forecast, write, make_table):
    """After one epoch the weights are nearly equal: no form of the inspection announces a finding."""
    words = (
        "train",
        write(make_table()),
        "--lookback",
        28,
        "--horizon",
        3,
        "--hidden-size",
        4,
        "--max-epochs",
        1,
        "--seed",
        3,
    )
    assert forecast(*words, "--epoch-windows", 16, "--combination", "none", "--out", "young", "--quiet").code == 0
    need = json.loads(Path("young/metrics.json").read_text())["weight_need"]
    assert need["needed"] is False
    assert set(need) == {"windows", "mae", "mae_equal", "mae_random", "needed"}
    text = " ".join(forecast("inspect", "young", "--svg", "young.svg", "--html", "young.html").out.split())
    reading = json.loads(forecast("inspect", "young", "--json").out)["reading"]
    assert reading["kind"] == "nothing"
    assert reading["text"] in text
    assert f"on {need['windows']} validation windows" in reading["text"]
    assert "it looks most" not in text.lower() and "above all" not in text
    assert "identifiable: " not in text.replace("not identifiable", "")
    page = Path("young.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    assert reading["text"][1:] in page
    assert "looks most" not in page.split("<script")[0] and "above all" not in page.split("<script")[0]
    assert "Nothing to see here" in Path("young.svg").read_text(encoding="utf-8")


def test_the_evidence_is_that_of_the_audit_where_there_is_one(forecast, run):
    assert forecast("audit", run, "--windows", 8, "--draws", 10, "--quiet").code == 0
    level = json.loads((run / "audit.json").read_text())["verdict"]["level"]
    reading = json.loads(forecast("inspect", run, "--json").out)["reading"]
    if reading["kind"] == "looks":
        assert f"the audit calls the weights {level}" in reading["text"]
    assert (reading["kind"] == "not needed") <= (level == "not faithful")
    assert "on 8 validation windows" in reading["text"]


def test_groups_and_comparisons_are_written_as_pictures_and_pages(forecast, run_copy):
    pytest.importorskip("matplotlib")
    outcome = forecast("inspect", run_copy, "--validation", "--by", "weekday", "--png", "a.png", "--html", "by.html")
    assert outcome.code == 0, outcome.err
    assert outcome.out.endswith("picture: a.png\npage: by.html\n")
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    data = json.loads(re.search('id="data"[^>]*>(.*?)</script>', Path("by.html").read_text(), re.DOTALL)[1])
    assert data["tiles"][0]["kind"] == "weekday"
    words = ("inspect", run_copy, "--validation", "--compare", run_copy, "--svg", "a.svg", "--html", "compare.html")
    outcome = forecast(*words)
    assert outcome.code == 0, outcome.err
    text = json.loads(forecast("inspect", run_copy, "--validation", "--json").out)["reading"]["text"]
    html = unescape(re.sub("<[^>]+>", "", Path("compare.html").read_text())).replace("\u00a0", " ")
    plain = text.replace("`", "")
    assert html.count(plain) == 2, "the evidence of both runs is heard"
    assert " ".join(outcome.out.split()).count(" ".join(text.split())) == 2
    assert Path("a.svg").read_text().startswith("<?xml")


# --------------------------------------------------------------------------- from Python


def test_a_forecaster_inspects_as_the_command_does(forecast, run_copy):
    forecaster = Forecaster.load(run_copy)
    inspection = forecaster.inspect(validation=True, by="weekday", top=2, export=Path("weights.csv"))
    document = json.loads(forecast("inspect", run_copy, "--validation", "--by", "weekday", "--top", 2, "--json").out)
    assert json.loads(json.dumps(inspection.to_dict())) == document
    assert Path("weights.csv").is_file()
    with pytest.raises(ConfigError, match="--compare does not go with --by"):
        forecaster.inspect(by="head", compare=run_copy)
    assert forecaster.inspect(compare=run_copy).to_dict()["names"] == [str(run_copy)] * 2
