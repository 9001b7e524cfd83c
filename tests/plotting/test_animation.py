"""`forecast plot --animate`: frames that play over cut-offs, drawn from the run's files."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from forecast_attn.attention_file import read_attention
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.interpretation import evidence_of
from forecast_attn.plotting.animation import animation_of
from forecast_attn.runs.run_dir import RunDir

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def animation(finished_run):
    made = animation_of(RunDir(finished_run), table=finished_run.parent / "data.csv")
    windows = np.arange(made.dump.num_windows)[-3:]
    lines = {name: getattr(made.values, name)[windows] for name in ("past", "forecast", "actual")}
    values = type(made.values)(**lines, target=made.values.target)
    return type(made)(made.dump.take(windows), values, made.sentence, left_out=7, name=made.name)


def test_a_frame_draws_the_weights_and_the_values_of_its_window(animation, finished_run):
    dump = read_attention(RunDir(finished_run).validation_attention)
    last = int(np.argsort(dump.window_cutoffs)[-1])
    upper, lower = animation.frame(2).axes
    np.testing.assert_array_equal(lower.images[0].get_array(), dump.weights[last].mean(axis=0))
    past, actual, forecast = (line.get_ydata() for line in upper.lines[:3])
    np.testing.assert_array_equal(past, animation.values.past[2])
    np.testing.assert_array_equal(actual, animation.values.actual[2])
    np.testing.assert_array_equal(forecast, animation.values.forecast[2])
    assert np.isfinite(forecast).all()
    np.testing.assert_array_equal(upper.lines[0].get_xdata(), np.arange(-13, 1))


def test_frames_share_their_axes_and_colours_and_follow_the_time(animation, finished_run):
    figures = [animation.frame(window) for window in range(3)]
    assert len({(figure.axes[0].get_ylim(), figure.axes[1].images[0].norm.vmax) for figure in figures}) == 1
    words = [figure.texts[-2].get_text() for figure in figures]
    assert words == [f"{finished_run.name}, luong-general, target, cut-off 2024-04-{day}" for day in (24, 25, 26)]
    assert animation.notes == ["the last 3 of 10 windows of 'target'"]


def test_a_frame_says_what_inspect_says_of_its_windows(animation, finished_run):
    made, run = animation_of(RunDir(finished_run), table=finished_run.parent / "data.csv"), RunDir(finished_run)
    assert made.sentence == inspect_attention(made.dump, evidence=evidence_of(run)).reading.text
    drawn = animation.frame(0).texts[-1].get_text().replace("\n", " ").replace("\u00a0", " ")
    assert drawn == made.sentence
    command = replace(animation, sentence="With equal weights the MAE rises (`forecast audit RUN` tests more).")
    assert "(forecast\u00a0audit\u00a0RUN tests more)" in command.frame(0).texts[-1].get_text()


@pytest.mark.parametrize("ending", ["gif", "png"])
def test_files_play_and_have_the_same_bytes_each_time(animation, tmp_path, ending):
    from PIL import Image

    paths = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for path in paths:
        animation.save(path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    with Image.open(paths[0]) as picture:
        assert (picture.n_frames, picture.info["loop"]) == (3, 0)
        shown = []
        for frame in range(3):
            picture.seek(frame)
            shown.append(np.asarray(picture.convert("RGB"), np.int16))
    assert all((one != other).any() for one, other in pairwise(shown))


def test_the_command_writes_one(forecast, run_copy, finished_run, monkeypatch):
    monkeypatch.setattr("forecast_attn.plotting.animation.MOST_FRAMES", 2)
    outcome = forecast("plot", run_copy, "--animate", "play.gif", "--data", finished_run.parent / "data.csv")
    assert outcome.code == 0, outcome.err
    assert outcome.out == "picture: play.gif\n"
    assert "note: the last 2 of 22 windows of 'target'" in outcome.err
    assert Path("play.gif").read_bytes().startswith(b"GIF89a")


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (("--animate", "a.mp4"), "--animate writes a .gif, .png or .apng; got 'a.mp4'", "."),
        (("--animate", "a.gif", "--kind", "calibration"), "--animate does not go with --kind calibration", "."),
        (("--animate", "a.gif", "--history", "3"), "--animate does not go with --history", "."),
        (("--animate", "a.gif", "--item", "a b", "--item", "c"), "--animate shows one series", "--item 'a b'"),
        (("--kind", "attribution", "--item", "a b", "--item", "c"), "explains one forecast, of one", "--item 'a b'"),
    ],
)
def test_what_it_cannot_show_is_refused(refused, run_copy, words, message, hint):
    refused("plot", run_copy, *words, message=message, hint=hint, code=2)
