"""The report of an attention file: its numbers, its words, and its page."""

import io
import json
import re

import numpy as np
import pytest
import scipy.stats
from rich.console import Console

from forecast_attn.errors import ConfigError, DataError, RunError
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.interpretation import Evidence, _why_not
from forecast_attn.inspection.terminal import render


def page(inspection, width=100, **console):
    stream = io.StringIO()
    render(inspection, Console(file=stream, width=width, **console))
    return stream.getvalue()


def test_a_planted_lag_is_found_with_its_time_stamps(make_dump, one_hot):
    lags = 30 - np.arange(1, 13)
    weights = np.tile(one_hot(lags, 48), (5, 1, 1, 1))
    inspection = inspect_attention(make_dump(weights).select(cutoff="2026-01-05 16:00"))
    assert [step.top[0].lag for step in inspection.steps] == lags.tolist()
    first = inspection.steps[0]
    assert (first.timestamp, first.top[0].timestamp, first.top[0].distance) == (
        "2026-01-05 17:00",
        "2026-01-04 11:00",
        "1d 5h",
    )
    assert (first.max_weight, first.effective_steps, first.centroid_lag) == (1, 1, 29)


def test_lags_that_are_listed_have_weight(make_dump):
    rows = np.array([0.0004, 0.0006, 0.997, 0.002])
    inspection = inspect_attention(make_dump(np.broadcast_to(rows, (2, 1, 3, 4))))
    listed = {line.split("  ")[-1].strip() for line in page(inspection).splitlines() if ":>99%" in line}
    assert listed == {"1:>99%, 0:0.2%"}
    assert "<td>1 (99.7 %), 0 (0.2 %)</td>" in inspection._repr_html_()
    assert len(inspection.to_dict()["steps"][0]["top"]) == 4


@pytest.mark.parametrize("width", [80, 120, 200])
def test_groups_with_long_names_keep_their_top_lags_on_one_line(make_dump, width):
    names = ("Berlin Alexanderplatz", "München Hauptbahnhof")
    printed = page(inspect_attention(make_dump(windows=6, items=names), by="item"), width).splitlines()
    rows = [line for line in printed if line.startswith(names)]
    assert len(rows) == 2
    assert all(line.count(":") >= 2 and not line.rstrip().endswith(",") for line in rows)


def test_monthly_top_lags_have_months_as_time_stamps(make_dump, one_hot):
    dump = make_dump(one_hot([[[11, 10, 9]]], 36), frequency="MS", season=12, start="2026-02-01")
    tops = [step.top[0].timestamp for step in inspect_attention(dump).steps]
    assert tops == ["2025-03-01", "2025-04-01", "2025-05-01"]
    assert [step.target_season_mass for step in inspect_attention(dump).steps] == [1, 1, 1]


def test_step_statistics_are_means_over_windows_and_heads(make_dump):
    dump = make_dump(windows=4, heads=2, horizon=3, lookback=48, items=("a", "b"))
    inspection = inspect_attention(dump)
    weights = dump.weights.astype(float)
    entropies = scipy.stats.entropy(weights, axis=-1).mean(axis=(0, 1))
    assert [step.entropy for step in inspection.steps] == pytest.approx(entropies, abs=1e-5)
    assert inspection.profile == pytest.approx(weights.mean(axis=(0, 1, 2)), abs=1e-7)
    assert inspection.mean_weights == pytest.approx(weights.mean(axis=(0, 1)), abs=1e-7)
    order = np.argsort(-weights[:, :, 1].mean(axis=(0, 1)))[:5]
    assert [entry.lag for entry in inspection.steps[1].top] == [47 - position for position in order]
    near = [lag for lag in range(48) if min((lag + 2) % 24, -(lag + 2) % 24) <= 1 and lag + 2 >= 23]
    mass = weights[:, :, 1, [47 - lag for lag in near]].sum(-1).mean()
    assert inspection.steps[1].target_season_mass == pytest.approx(mass, abs=1e-6)
    assert inspection.mean("entropy") == pytest.approx(entropies.mean(), abs=1e-5)


def test_row_groups_do_not_change_the_inspection(make_dump, monkeypatch):
    whole = inspect_attention(make_dump(windows=9)).to_dict()
    monkeypatch.setattr("forecast_attn.attention_file.writer.ROW_GROUP_BYTES", 0)
    assert inspect_attention(make_dump(windows=9)).to_dict() == whole


def test_selection_narrows_the_header(make_dump):
    dump = make_dump(windows=3, items=("a", "b"), heads=2)
    inspection = inspect_attention(dump.select(item="b", step=7, head=1), top=2)
    header = inspection.header
    assert (header.item_ids, header.num_windows, header.heads) == (["b"], 3, [1])
    assert (header.first_cutoff, header.last_cutoff) == ("2026-01-05 14:00", "2026-01-05 16:00")
    (step,) = inspection.steps
    assert (step.step, len(step.top), step.timestamp) == (7, 2, None)
    assert inspection.mean_weights == pytest.approx(dump.weights[1::2, 1, 6].mean(axis=0, keepdims=True), abs=1e-7)


@pytest.mark.parametrize(
    ("choice", "kind"),
    [({"item": "ciyt"}, DataError), ({"cutoff": "2030-01-01"}, DataError), ({"step": 25}, ConfigError)],
)
def test_what_is_not_there_is_refused(make_dump, choice, kind):
    with pytest.raises(kind):
        make_dump().select(**choice)


def test_a_file_without_windows_is_refused(make_dump):
    with pytest.raises(DataError, match="holds no windows"):
        inspect_attention(make_dump(np.zeros((0, 1, 2, 3))))


def test_a_file_that_went_away_in_between_is_still_read_or_said(make_dump):
    dump = make_dump(windows=2)
    size = dump.path.stat().st_size
    with dump.path.open("r+b") as file:
        file.truncate(size // 3)
    with pytest.raises(RunError, match="damaged"):
        inspect_attention(dump)


def test_numbers_that_are_none_are_told_in_words_alone(make_dump):
    weights = np.full((2, 1, 2, 8), 1 / 8, np.float32)
    weights[1, 0, 0, :3] = np.inf, -np.inf, np.nan
    inspection = inspect_attention(make_dump(weights))  # warnings of NumPy's are errors here
    assert inspection.warnings[0] == "25 % of the rows do not add up to 1: the file is inconsistent"


def test_the_only_weight_that_a_file_keeps_is_not_all_weight(make_dump):
    inspection = inspect_attention(make_dump(windows=2, horizon=4, lookback=24, top=1))
    assert not any("one-hot" in warning for warning in inspection.warnings)
    assert "the file keeps the 1 largest weights" in inspection.warnings[0]


# --------------------------------------------------------------------------- JSON


@pytest.mark.parametrize("windows", [1, 3])
def test_the_dictionary_is_json(make_dump, windows):
    inspection = inspect_attention(make_dump(windows=windows, horizon=4, lookback=48))
    document = json.loads(json.dumps(inspection.to_dict(), allow_nan=False))
    names = {"header", "steps", "profile", "uniform_season_mass", "warnings", "top", "by", "groups", "left_out"}
    assert set(document) == names | {"lookback_timestamps", "missing_steps", "reading"}
    assert len(document["profile"]) == 48
    assert (document["steps"][0]["top"][0]["timestamp"] is None) == (windows > 1)


# --------------------------------------------------------------------------- warnings


def warnings_of(dump):
    return " | ".join(inspect_attention(dump).warnings)


def test_sound_weights_give_no_warning(make_dump):
    assert warnings_of(make_dump()) == ""


def test_equal_weights_get_one_sentence(make_dump):
    dump = make_dump(np.full((3, 1, 4, 20), 1 / 20), value_rank=20)
    inspection = inspect_attention(dump, evidence=Evidence(needed=False, rise=0.0, windows=64))
    assert inspection.warnings == []
    assert inspection.reading.kind == "nothing"
    assert inspection.reading.text == (
        "Nothing to see here: on average over 3 windows, the weights are nearly equal (entropy 1.00 of uniform; the "
        "largest mean weight is 5.0 %, equal ones are 5.0 %); "
        "with equal weights the MAE rises by 0 % on 64 validation windows."
    )


def test_weights_of_which_one_has_the_darkest_colour_are_not_called_nearly_equal(make_dump):
    """An entropy of 0.97 of uniform, and a weight of four times an equal share: it is seen, so it is not denied."""
    rows = np.full((3, 1, 4, 40), (1 - 4.1 / 40) / 39)
    rows[..., 30] = 4.1 / 40
    inspection = inspect_attention(make_dump(rows), evidence=Evidence(needed=False, rise=0.0, windows=64))
    assert inspection.mean("normalised_entropy") > 0.9
    assert inspection.reading.kind == "not needed"


def test_the_sentence_names_the_windows_that_it_is_about(make_dump):
    evidence = Evidence(needed=True, rise=1.5, windows=64)
    several, one = (inspect_attention(make_dump(windows=count), evidence=evidence).reading for count in (3, 1))
    assert several.text.startswith("On average over 3 windows, it looks ")
    assert one.text.startswith("In this window, it looks ")
    assert one.text.endswith(" (`forecast audit RUN` tests more).")


@pytest.mark.parametrize(
    ("evidence", "kind", "text"),
    [
        (None, "not tested", "not known here: see `forecast audit RUN`"),
        (Evidence(needed=False, rise=0.012, windows=64), "not needed", "MAE rises by 1.2 % on 64 validation"),
        (Evidence(needed=False, rise=-0.03, windows=8), "not needed", "Do not read these weights: "),
        (Evidence(needed=True, rise=1.5, windows=64), "looks", "it looks most at the same hour of the days"),
        (Evidence(needed=True, rise=0.5, windows=6, level="partly faithful"), "looks", "the weights partly faithful"),
    ],
)  # fmt: skip
def test_where_it_looks_is_said_only_with_evidence(make_dump, evidence, kind, text):
    reading = inspect_attention(make_dump(), evidence=evidence).reading
    assert reading.kind == kind
    assert text in reading.text
    assert ("it looks most" in reading.text) == (kind == "looks")


@pytest.mark.parametrize(
    ("equal", "random", "naive", "words"),
    [
        (1.01, 1.2, 0.9, ", so the forecast hardly needs them"),
        (1.3, 1.0, 9.0, ", but the same weights in random order do as well"),
        (1.3, 1.4, 100.0, ", under 1 % of the error of seasonal-naive, so the forecast hardly needs them"),
        (0.9, 1.4, 100.0, ", so the forecast hardly needs them"),
        (1.01, 1.2, 0.0, ", so the forecast hardly needs them"),
    ],
)
def test_why_weights_are_not_needed(equal, random, naive, words):
    assert _why_not({"mae": 1.0, "mae_equal": equal, "mae_random": random}, naive) == words


def test_nearly_equal_weights_that_the_forecast_needs_are_something_to_see(make_dump):
    rows = np.full((3, 1, 4, 20), 0.9 / 19)
    rows[..., 7] = 0.1
    inspection = inspect_attention(make_dump(rows), evidence=Evidence(needed=True, rise=0.3, windows=64))
    assert inspection.mean("normalised_entropy") > 0.9
    assert inspection.reading.kind == "looks"
    assert "with equal weights the MAE rises by 30 %" in inspection.reading.text


def test_a_poor_forecast_is_called_one_beside_where_it_looks(make_dump):
    evidence = Evidence(needed=True, rise=0.3, windows=64, level="faithful", better="linear")
    reading = inspect_attention(make_dump(), evidence=evidence).reading
    assert reading.text.endswith("(the audit calls the weights faithful); the forecast itself is worse than linear's.")


@pytest.mark.parametrize(
    ("share", "kind", "text"),
    [
        (0.0, "not needed", "validation gave the network no part in the forecast"),
        (0.004, "looks", "the network is under 1 % of the forecast"),
        (0.25, "looks", "the network is 25 % of the forecast"),
    ],
)
def test_the_part_of_the_network_is_said(make_dump, share, kind, text):
    dump = make_dump(network_share=share)
    reading = inspect_attention(dump, evidence=Evidence(needed=True, rise=0.3, windows=64)).reading
    assert reading.kind == kind
    assert text in reading.text


def test_static_weights_are_told_apart_by_axis(make_dump):
    rows = np.random.default_rng(0).dirichlet(np.ones(20), size=(3, 1, 4))
    assert "same for every window" in warnings_of(make_dump(np.repeat(rows[:1], 3, axis=0)))
    assert "same for every step" in warnings_of(make_dump(np.repeat(rows[:, :, :1], 4, axis=2)))
    assert warnings_of(make_dump(rows)) == ""
    assert warnings_of(make_dump(rows[:1])) == ""


def test_one_hot_weights_are_said(make_dump, one_hot):
    lags = np.random.default_rng(0).integers(0, 20, size=(3, 1, 4))
    assert "the weights are one-hot" in warnings_of(make_dump(one_hot(lags, 20)))
    rows = one_hot(lags, 20)
    rows[0] = np.random.default_rng(0).dirichlet(np.ones(20), size=(1, 4))
    assert "67 % of the rows are one-hot" in warnings_of(make_dump(rows))


def test_rows_that_do_not_add_up_are_said_unless_they_may(make_dump):
    rows = np.random.default_rng(0).dirichlet(np.ones(20), size=(3, 1, 4)) * 0.8
    assert "100 % of the rows do not add up to 1" in warnings_of(make_dump(rows))
    assert warnings_of(make_dump(rows, row_sum="<=1")) == ""


def test_weights_that_are_no_numbers_are_said_and_do_not_break_the_page(make_dump):
    rows = np.random.default_rng(0).dirichlet(np.ones(20), size=(3, 1, 4))
    rows[1, 0, 2, 5] = np.nan
    inspection = inspect_attention(make_dump(rows))
    assert "8 % of the rows do not add up" in inspection.warnings[0]
    assert inspection.to_dict()["steps"][2]["entropy"] is None
    assert "do not add up" in page(inspection)


# --------------------------------------------------------------------------- the page


def test_the_page_has_header_map_table_and_summary(make_dump):
    text = page(inspect_attention(make_dump(windows=3, items=("a", "b"))))
    assert "luong-general: general score, luong order, softmax, global window" in text
    assert "mean of 6 windows of 2 series, cut-offs 2026-01-05 14:00 to 2026-01-05 16:00" in text
    assert "lookback 168 (7d), horizon 24, step h, season 24" in text
    assert "a column is the mean of 2 lags" in text
    narrow = page(inspect_attention(make_dump(windows=3, items=("a", "b"))), width=70)
    assert "cut-offs 2026-01-05 14:00 to\n           2026-01-05 16:00\n" in narrow
    assert "effective steps of 168" in text
    assert len(re.findall(r"^ +\d+ +\d+\.\d +0\.\d\d +\d+% ", text, re.MULTILINE)) == 24


def test_a_single_window_shows_real_times(make_dump, one_hot):
    inspection = inspect_attention(make_dump(one_hot([[[25, 26]]], 48)))
    text = page(inspection)
    assert "one window of city, cut-off 2026-01-05 14:00" in text
    assert "2026-01-04 13:00" in text
    assert "2026-01-04 12:00" in text


def test_a_single_step_lists_its_lags(make_dump):
    inspection = inspect_attention(make_dump(windows=1).select(step=3), top=4)
    lines = page(inspection).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("step 3, 2026-01-05 17:00"))
    assert [int(line.split()[0]) for line in lines[start + 2 : start + 6]] == [
        entry.lag for entry in inspection.steps[0].top
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("windows", [1, 3])
@pytest.mark.slow
def test_the_page_fits_its_width_and_loses_no_number(make_dump, width, windows):
    inspection = inspect_attention(make_dump(windows=windows))
    text = page(inspection, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    flat = " ".join(text.split())
    for step in inspection.steps:
        assert all(f"{entry.lag}:" in flat for entry in step.top)


def test_names_are_printed_as_they_are(make_dump):
    text = page(inspect_attention(make_dump(windows=1, items=("[bold]x[/bold] :smile:",))))
    assert "[bold]x[/bold] :smile:" in text


def test_colour_is_used_where_there_is_some(make_dump):
    inspection = inspect_attention(make_dump(windows=1))
    assert "\x1b[38;2;" in page(inspection, force_terminal=True, color_system="truecolor")
    assert "\x1b[" not in page(inspection, color_system=None)
