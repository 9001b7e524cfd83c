"""Words on where weights lie, seen from the target: each pattern planted, and none where there is none."""

import numpy as np
import pytest

from forecast_attn.config.values import percent
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.interpretation import Evidence
from forecast_attn.inspection.patterns import LIFT, MOST, MeanWeights, looks_words

NEEDED = Evidence(needed=True, rise=0.5, windows=64)


@pytest.fixture
def words_of(make_dump):
    """`words_of(weight_of, steps, keys)`: the words on weights that are a function of the step ahead and the lag."""

    def words(weight_of, *, steps=24, keys=168, noise=0.0, **sizes):
        ahead, lag = np.arange(1, steps + 1)[:, None], np.arange(keys)[::-1]
        weights = weight_of(ahead, lag) + noise + np.zeros((steps, keys))
        rows = weights / weights.sum(axis=1, keepdims=True)
        dump = make_dump(np.broadcast_to(rows, (2, 1, steps, keys)), **sizes)
        return looks_words(MeanWeights.of(inspect_attention(dump)))

    return words


def distance(*allowed):
    """Weight on these numbers of keys before the target."""
    return lambda ahead, lag: np.isin(ahead + lag, allowed).astype(float)


def test_the_same_hour_of_the_day_before(words_of):
    text = words_of(distance(24), noise=0.001)
    assert text.startswith("mostly at the same hour of the day before, give or take 1 hour (")
    share = (1 + 3 * 0.001) / (1 + 168 * 0.001)
    assert f"({100 * share:.0f} % of the weight; equal weights: 2 %)" in text


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ((24, 48, 72, 96), "mostly at the same hour of the days before, give or take 1 hour (100 %"),
        ((48,), "mostly at the same hour 2 days before, give or take 1 hour (100 %"),
        ((60,), "mostly at values 60 hours before the time it forecasts (100 %"),
        ((60, 61), "mostly at values 60 hours before the time it forecasts, give or take 1 hour (100 %"),
    ],
)
def test_distances_from_the_target(words_of, keys, expected):
    assert words_of(distance(*keys)).startswith(expected)


@pytest.mark.parametrize(
    ("patch_length", "far", "expected"),
    [
        (6, 4, "mostly at the same hours of the day before (100 %"),
        (6, 5, "mostly at values 30 hours before the time it forecasts (100 %"),
        (24, 10, "mostly at values 10 days before the time it forecasts (100 %"),
    ],
)
def test_patches_are_told_in_their_time(words_of, patch_length, far, expected):
    text = words_of(distance(far), steps=4 if patch_length == 6 else 1, keys=14, patch_length=patch_length)
    assert text.startswith(expected)


@pytest.mark.parametrize(
    ("frequency", "season", "far", "expected"),
    [
        ("D", 7, 7, "mostly at the same weekday of the week before, give or take 1 day (100 %"),
        ("D", 7, 10, "mostly at values 10 days before the time it forecasts (100 %"),
        ("MS", 12, 12, "mostly at the same month of the year before, give or take 1 month (100 %"),
        ("15min", 96, 96, "mostly at the same time of day of the day before, give or take 15 minutes (100 %"),
        ("h", 1, 30, "mostly at values 30 hours before the time it forecasts (100 %"),
    ],
)
def test_seasons_have_their_names(words_of, frequency, season, far, expected):
    keys = 120 if far > 50 else 40
    assert words_of(distance(far), steps=3, keys=keys, frequency=frequency, season=season).startswith(expected)


def test_the_last_hours(words_of):
    assert words_of(lambda ahead, lag: lag < 2.0).startswith("mostly at the last 2 hours before the cut-off (100 %")
    first = words_of(lambda ahead, lag: np.where(ahead <= 2, lag < 3, ahead + lag == 24) + 0.0)
    assert first.startswith("mostly at the same hour of the day before")
    assert first.endswith("; in steps 1–2 at the last 3 hours (100 % of their weight)")


def test_what_is_not_all_is_never_100_per_cent_and_what_is_there_never_0(words_of):
    text = words_of(lambda ahead, lag: np.where(lag == 100, 0.998, 0.002 / 167))
    assert "100 hours before the cut-off (over 99 % of the weight; equal weights: under 1 %)" in text
    cases = {0: "0.0 %", 1e-9: "under 0.1 %", 0.35: "35.0 %", 0.9982: "99.8 %", 0.9998: "over 99.9 %", 1: "100.0 %"}
    assert {share: percent(share, 1) for share in cases} == cases
    assert percent(float(np.full(168, 1 / 168, np.float32).sum())) == "100 %", "a sum of float32"


def test_one_time_for_every_step(words_of):
    text = words_of(lambda ahead, lag: lag == 100.0)
    assert text.startswith("mostly at the same time for every step: 100 hours before the cut-off (100 %")


def test_what_stands_out_nowhere_is_not_named(words_of):
    equal = words_of(lambda ahead, lag: 1.0)
    assert equal == "at no time in particular (the largest mean weight is 0.6 %, equal ones are 0.6 %)"
    rng = np.random.default_rng(3)
    scattered = words_of(lambda ahead, lag: rng.permuted(np.tile(np.arange(168) < 4, (24, 1)), axis=1) + 0.0)
    assert scattered == (
        "at no time in particular (the largest mean weight is 25.0 %, equal ones are 0.6 %; many are nearly as large "
        "as the largest)"
    )


def test_the_largest_weights_are_counted_from_the_time_to_forecast(words_of):
    """Each step has a distance of its own, so that no pattern holds for all; a tenth of the weight lies there."""
    far = np.array([[30], [50], [90]])
    text = words_of(lambda ahead, lag: np.where(ahead + lag == far, 0.1, 0.9 / 167), steps=3)
    assert text == (
        "at no particular distance, with the largest weights on values 30 hours before the time it forecasts in "
        "step 1 (10 % of the weight; equal weights: 0.6 %), 50 hours in step 2 (10 %), 90 hours in step 3 (10 %)"
    )
    patches = words_of(lambda ahead, lag: np.where(lag == 4, 0.2, 0.8 / 27), steps=2, keys=28, patch_length=6)
    assert patches.startswith(
        "at no particular distance, with the largest weights on values 30 hours before the time it forecasts in "
        "steps 1–6 (20 % of the weight; equal weights: 3.6 %)"
    )


def rows_of(first, second, keys=168):
    """Weights of two steps: some distances with a weight, all others alike."""

    def weights(ahead, lag):
        rows = []
        for step, named in enumerate((first, second), start=1):
            rest = (1 - sum(named.values())) / (keys - len(named))
            rows.append([named.get(step + each, rest) for each in lag])
        return np.array(rows)

    return weights


def test_distances_that_tie_are_named_together(words_of):
    """Which of 47, 48 and 49 hours is the largest by a hair says nothing; 72 hours stands alone, 30 and 60 are two."""
    text = words_of(rows_of({47: 0.09, 48: 0.1, 49: 0.085, 50: 0.02}, {72: 0.12}), steps=2)
    assert text == (
        "at no particular distance, with the largest weights on values 47 to 49 hours before the time it forecasts "
        "in step 1 (28 % of the weight; equal weights: 1.8 %), 3 days in step 2 (12 %; equal weights: 0.6 %)"
    )
    text = words_of(rows_of({30: 0.1, 60: 0.095}, {90: 0.05, 91: 0.05}), steps=2)
    assert "30 and 60 hours before the time it forecasts in step 1 (20 % of the weight; equal" in text
    assert text.endswith("equal weights: 1.2 %), 90 to 91 hours in step 2 (10 %)")


def test_where_many_distances_tie_none_is_named(words_of):
    many = {30: 0.05, 40: 0.05, 50: 0.049, 60: 0.048}
    text = words_of(rows_of(many, many), steps=2)
    assert text.startswith("at no time in particular (the largest mean weight is 5.0 %, equal ones are 0.6 %; many are")
    text = words_of(rows_of(many, {72: 0.12}), steps=2)
    assert "weights on values 3 days before the time it forecasts in step 2 (12 % of the weight; equal" in text


@pytest.mark.parametrize("noise", [0.0, 0.003, 0.01, 0.03])
def test_a_share_that_is_named_is_there_and_is_much(words_of, make_dump, noise):
    """The share is that of the file, summed here once more; a pattern of little weight is not named."""
    text = words_of(distance(24), noise=noise)
    inside = 24 + 24 * 3 * noise - 0  # every step has three keys within an hour of the day before
    inside -= noise  # but the last, whose third one would lie after the cut-off
    share = inside / (24 * (1 + 168 * noise))
    if share >= MOST and share >= LIFT * 71 / (24 * 168):
        assert f"({100 * share:.0f} % of the weight" in text
    else:
        assert "of the day before" not in text


def test_the_sentence_is_kept_back_without_the_evidence(make_dump):
    dump = make_dump(np.eye(168)[None, None, 167 - np.arange(23, -1, -1)], windows=1)
    assert "the same hour of the day before" in inspect_attention(dump, evidence=NEEDED).reading.text
    for evidence in (None, Evidence(needed=False, rise=0.001, windows=64)):
        assert "hour of the day" not in inspect_attention(dump, evidence=evidence).reading.text
