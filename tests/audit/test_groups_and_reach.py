"""What a mean over all windows hides: groups that need no weights, inputs that no weight shows, tiny errors."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from forecast_attn.audit import Audit
from forecast_attn.audit.audit_results import GroupNeed
from forecast_attn.audit.chance import chance_of_rise, stretches_of
from forecast_attn.audit.groups import groups_of, groups_verdict
from forecast_attn.audit.ranking import Explained, chance_overlap, explain
from forecast_attn.audit.reach import reach_check, reach_of, shown_by, state_gradients
from forecast_attn.audit.subject import Subject
from forecast_attn.audit.swaps import shuffled_forecasts, uniform_swap
from forecast_attn.audit.wording import signed

from .conftest import LAG, Trained, planted_table, prepared

pytestmark = pytest.mark.slow


def table_of_two_regimes() -> pd.DataFrame:
    """The target is its driver of some days ago while a category that is known ahead is `on`; else it is noise."""
    table, random = planted_table(600), np.random.default_rng(1)
    regime = np.repeat(random.integers(0, 2, size=60), 10)
    noise = (5 * random.normal(size=600)).round(4)
    target = np.where(regime == 1, 5 * table["target"], noise).round(4)
    return table.assign(target=target, regime=np.where(regime == 1, "on", "off")).drop(columns="noise")


@pytest.fixture(scope="module")
def two_regimes(train_on: Callable[..., Trained]) -> Audit:
    return train_on(table_of_two_regimes(), "luong-general", future_covariates=["regime"]).audit(windows=96)


def test_weights_that_one_regime_does_not_need_are_not_faithful(two_regimes: Audit) -> None:
    assert two_regimes.check("uniform_swap").passed, "in the mean of both they matter"
    check = two_regimes.check("groups")
    assert check.passed is False
    groups = {group.name: group for group in check.groups}
    on, off = (groups[f"where 'regime' is '{name}'"] for name in ("on", "off"))
    assert off.needed is False
    assert on.needed is True
    assert on.rise_relative > 0.5 > 0.05 > off.rise_relative
    assert "where 'regime' is 'off'" in check.verdict
    assert f"in these {off.windows} windows equal weights do" in check.verdict
    assert two_regimes.verdict is not None
    assert two_regimes.verdict.level == "partly faithful"
    assert check.verdict in two_regimes.verdict.sentence
    assert {group.kind for group in check.groups} == {"step", "regime"}


def test_codes_keep_the_digits_in_which_they_differ(planted: Trained, subject: Subject) -> None:
    panel = prepared(planted).panel
    codes = 1_000_001.0 + np.arange(panel.num_rows)[:, None] % [2, 1]
    names = [group.name for group in groups_of(subject, replace(panel, past_covariates=codes))]
    assert names[-4:-2] == ["where 'driver' is 1000001", "where 'driver' is 1000002"]


def test_the_groups_are_means_over_their_values(two_regimes: Audit) -> None:
    """Both regimes together are all values, so that their means with their counts are the whole's."""
    check = two_regimes.check("groups")
    steps = [group for group in check.groups if group.kind == "step"]
    assert np.mean([group.mae for group in steps]) == pytest.approx(two_regimes.header.mae)
    rise = two_regimes.check("uniform_swap")["mae_change"].value
    assert np.mean([group.rise for group in steps]) == pytest.approx(rise)


def test_a_group_that_equal_weights_forecast_better_is_said_to_be_better() -> None:
    worst = GroupNeed("step", "at step 3 ahead", 64, 1.0, 0.9, -0.1, 0.2, needed=False)
    best = GroupNeed("step", "at step 1 ahead", 64, 1.0, 1.5, 0.5, 0.2, needed=True)
    assert groups_verdict([worst, best]) == (
        False,
        "at step 3 ahead the MAE falls by 10 % with equal weights (−0.1; chance: up to +0.2): in these 64 windows "
        "equal weights do better; at step 1 ahead it rises by 50 %",
    )
    assert groups_verdict([replace(best, windows=9), replace(best, rise_relative=0.7)]) == (
        True,
        "at step 1 ahead the MAE rises by 50 % with equal weights (+0.5; chance: up to +0.2): the smallest rise of "
        "all groups; each has at least 9 windows and is beyond chance",
    )
    little = replace(worst, mae_equal=0.97, rise_relative=-0.03)
    assert "in these 64 windows equal weights do about as well" in groups_verdict([little, best])[1]


def test_a_rise_that_may_be_chance_is_no_need_of_a_group() -> None:
    """The group that cannot be told from chance is named, though another one rises less."""
    least = GroupNeed("step", "at step 1 ahead", 64, 1.0, 1.2, 0.2, 0.1, needed=True)
    unsure = GroupNeed("series", "for series 'a'", 9, 1.0, 1.5, 0.5, 0.6, needed=True)
    assert groups_verdict([least, unsure]) == (
        None,
        "for series 'a' the MAE rises by 50 % with equal weights (+0.5; chance: up to +0.6) in 9 windows: this may be "
        "chance",
    )
    passed, verdict = groups_verdict([least, replace(unsure, chance=float("nan"))])
    assert passed is None
    assert verdict.endswith("(+0.5) in 9 windows: the windows overlap too much to tell this from chance")


def test_the_chance_of_a_rise_is_that_of_the_means_of_stretches() -> None:
    """Of stretches that weigh the same: Student's t on the mean differences, by scipy; a ratio where they do not."""
    random = np.random.default_rng(0)
    errors, draws = np.ones((60, 3)), np.repeat(np.arange(6), 10)
    changed = errors + random.normal(0.3, 1, size=(60, 3))
    everywhere = np.ones(errors.shape, bool)
    means = (changed - errors).reshape(6, -1).mean(axis=1)
    _, high = stats.t.interval(0.9, df=5, loc=0, scale=stats.sem(means))
    assert chance_of_rise(errors, changed, everywhere, draws) == pytest.approx(high)
    harder = np.arange(1, 61)[:, None] * errors
    assert chance_of_rise(harder, 1.5 * harder, everywhere, draws) == pytest.approx(0), "all rise by the same share"
    assert np.isnan(chance_of_rise(errors, changed, everywhere, np.zeros(60, np.int64)))


def test_no_group_is_left_out_where_the_weights_are_right(planted_audit: Audit) -> None:
    check = planted_audit.check("groups")
    assert check.passed
    assert all(group.needed for group in check.groups)
    assert all(group.beyond_chance for group in check.groups)
    assert {group.name for group in check.groups} >= {"at step 1 ahead", "on weekdays", "at weekends"}


def test_the_verdict_says_how_much_the_rise_is_and_how_much_chance_may_do(planted_audit: Audit) -> None:
    assert planted_audit.verdict is not None
    rise, chance = (planted_audit.check("uniform_swap")[name].value for name in ("mae_change", "mae_change_chance"))
    assert rise > chance > 0
    assert planted_audit.verdict.sentence.endswith(f"({signed(rise)}; chance: up to {signed(chance)})")


def test_equal_weights_whose_cost_may_be_chance_are_no_evidence(subject: Subject) -> None:
    """The MAE rises by half, all of it in one of five stretches."""
    subject = replace(subject, steps_from_first=subject.steps_from_first * 1_000)
    reference = subject.reference_forecasts()
    stretches = stretches_of(subject)
    assert len(np.unique(stretches)) >= 5
    first = stretches == 0
    errors = np.abs(reference.prediction - subject.actual)
    cost = 0.5 * np.nansum(errors) / np.isfinite(errors[first]).sum()
    equal = np.where(first[:, None], subject.actual + errors + cost, reference.prediction)
    check = uniform_swap(
        subject, reference, equal, np.repeat(equal[None] + 1e9, 5, axis=0), subject.mae(reference.prediction)
    )
    assert check["mae_change_relative"].value == pytest.approx(0.5)
    assert not check.passed
    assert check.verdict.endswith("): this may be chance")


def test_a_need_that_cannot_be_told_from_chance_is_one_on_these_windows(subject: Subject) -> None:
    subject = replace(subject, steps_from_first=np.zeros_like(subject.steps_from_first))
    reference = subject.reference_forecasts()
    equal = subject.actual + 2 * np.abs(reference.prediction - subject.actual)
    check = uniform_swap(
        subject, reference, equal, np.repeat(equal[None] + 1e9, 5, axis=0), subject.mae(reference.prediction)
    )
    assert np.isnan(check["mae_change_chance"].value)
    assert check.passed
    assert check.verdict.endswith(": on these windows the forecast needs these weights")


# --------------------------------------------------------------------------- around the key weighted most


def explained_by(weights: np.ndarray, importance: np.ndarray) -> Explained:
    rows = len(weights)
    steps = np.zeros(rows, np.int64)
    visible = np.ones(weights.shape, bool)
    return Explained(steps, steps, weights, visible, {"input_occlusion": importance}, 0.0)


def test_a_driver_that_no_weight_shows_is_no_part_of_what_they_show() -> None:
    """Two drivers of the same force at lags 8 and 19: all weight is on the first."""
    weights, importance, gradient = np.full((3, 4, 28), 1e-9)
    weights[:, -9], importance[:, [-9, -20]], gradient[:, [-9, -20]] = 1, 1, (0.6, 0.4)
    reach = reach_of(explained_by(weights, importance), gradient, near=2)
    assert reach.shown == pytest.approx(0.5)
    assert reach.before == 11
    assert reach.after == 0
    assert shown_by(weights, explained_by(weights, importance), near=11) == pytest.approx(1)
    local = explained_by(weights, importance)
    local.visible[:, :-11], local.weights[:, :-11] = False, 0
    assert shown_by(local.weights, local, near=2) == pytest.approx(0.5), "no weight can lie outside a local window"
    near = np.full((4, 28), 1e-9)
    near[:, [-8, -18]] = 0.5
    assert shown_by(near, explained_by(near, importance), near=2) == pytest.approx(1)


def test_what_any_weights_would_show_is_not_shown_by_these(subject: Subject) -> None:
    """Equal weights lie around everything, in any order: three quarters alone are no test."""
    explained = explain(subject, subject.reference_forecasts())
    passed = reach_check(subject, explained, seed=0)
    assert passed.passed
    blind = replace(explained, weights=explained.visible / explained.visible.sum(axis=1, keepdims=True))
    check = reach_check(subject, blind, seed=0)
    assert check["shown"].value == pytest.approx(1)
    assert check.passed is False
    assert "in random order up to 100 % does: it need not be these weights that show it" in check.verdict


def test_chance_of_the_overlap_is_exact() -> None:
    """The mean of hypergeometric means: half of the windows may look at 10 keys, half at 40."""
    visible = np.zeros((4, 40), bool)
    visible[:2, -10:] = visible[2:] = True
    expected = np.mean([stats.hypergeom.mean(seen, 2, 2) / 2 for seen in (10, 10, 40, 40)])
    assert chance_overlap(visible, 2) == pytest.approx(expected)


def test_a_state_reads_what_stands_before_it_and_nothing_after(subject: Subject) -> None:
    reference = subject.reference_forecasts()
    explained = explain(subject, reference)
    gradients = state_gradients(subject, explained)
    tops = explained.weights.argmax(axis=1)
    for gradient, top in zip(gradients, tops, strict=True):
        assert (gradient[top + 1 :] == 0).all()
        assert gradient[: top + 1].argmax() == top, "what the planted lag needs is read at its own step"
        assert (gradient[:top] > 0).any()


def test_the_caveat_says_how_far(planted_audit: Audit) -> None:
    check = planted_audit.check("reach")
    assert check.passed
    assert check["reach_after"].value == 0
    assert check["shown"].beats_chance
    before = round(check["reach_before"].value)
    assert before < LAG
    assert planted_audit.verdict is not None
    words = f"and up to {before} step{'s' * (before != 1)} before it: read" if before else "lie at the step itself."
    assert words in planted_audit.verdict.caveats[0]


# --------------------------------------------------------------------------- in the target's units


def test_a_rise_that_nobody_would_notice_is_no_need(subject: Subject) -> None:
    reference = subject.reference_forecasts()
    shuffled = shuffled_forecasts(subject, 10, seed=0)
    equal = reference.prediction + 3 * subject.mae(reference.prediction)
    mae = subject.mae(equal)
    small, large = (uniform_swap(subject, reference, equal, shuffled * 0 + 1e9, naive) for naive in (mae, 1_000 * mae))
    assert "next to nothing" in large.verdict
    assert not large.passed
    assert large["mae_change_relative"].value == small["mae_change_relative"].value > 0.05


def test_equal_weights_that_forecast_better_are_said_to_be_better(subject: Subject) -> None:
    reference = subject.reference_forecasts()
    shuffled = shuffled_forecasts(subject, 5, seed=0)
    check = uniform_swap(subject, reference, np.nan_to_num(subject.actual), shuffled, subject.mae(reference.prediction))
    assert not check.passed
    assert check.verdict.startswith("with equal weights the MAE falls by 100 %")
    assert check.verdict.endswith(": equal weights do better")
