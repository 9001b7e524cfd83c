"""Courses of the learning rate, against PyTorch's own schedulers and against what the documents say."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

from forecast_attn import Forecaster
from forecast_attn.config.options import RunConfig
from forecast_attn.errors import ConfigError
from forecast_attn.training.schedule import cosine_share, moved_on, scheduler_of

HIGHEST = 0.008


def course(schedule: str, total_steps: int, warmup: float | None = None) -> list[float]:
    """The learning rate of every step."""
    optimiser = torch.optim.AdamW([torch.zeros(1, requires_grad=True)], lr=HIGHEST)
    scheduler = scheduler_of(schedule, optimiser, highest=HIGHEST, total_steps=total_steps, warmup=warmup)
    rates = []
    for _ in range(total_steps):
        rates.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        if scheduler is not None:
            scheduler.step()
    return rates


@pytest.mark.slow
def test_patience_ends_no_schedule_near_its_peak(forecast, write, here) -> None:
    """Of noise the first epochs are the best ones; the rate must have come down before that is taken for an answer."""
    values = np.random.default_rng(0).normal(size=400).round(3)
    dates = pd.date_range("2020-01-01", periods=400, freq="D").strftime("%Y-%m-%d")
    write(pd.DataFrame({"date": dates, "target": values}))
    words = ("--lookback", 14, "--horizon", 3, "--hidden-size", 6, "--epoch-windows", 64, "--max-epochs", 30)
    ended, last = {}, {}
    for schedule in ("constant", "one-cycle", "cosine"):
        options = (*words, "--patience", 2, "--seed", 1, "--accelerator", "cpu", "--schedule", schedule)
        assert forecast("train", "data.csv", *options, "--out", schedule, "--quiet").code == 0
        history = pd.read_csv(f"{schedule}/history.csv")
        ended[schedule] = json.loads(Path(schedule, "metrics.json").read_text())["ended"]
        last[schedule] = history["learning_rate"].iloc[-1]
        if schedule == "constant":
            assert len(history) < 20, "patience counts from the first epoch where the rate never falls"
    assert set(ended.values()) == {"patience"}
    assert last["constant"] == pytest.approx(HIGHEST)
    assert max(last["one-cycle"], last["cosine"]) <= HIGHEST / 3


@pytest.mark.slow
@pytest.mark.parametrize("schedule", ["one-cycle", "cosine"])
@given(st.integers(2, 50), st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_a_schedule_that_the_clock_moves_on_ends_well(schedule: str, steps: int, clock: list[float]) -> None:
    """However the clock and the steps meet, and however many steps are taken when time is up."""
    optimiser = torch.optim.AdamW([torch.zeros(1, requires_grad=True)], lr=HIGHEST)
    scheduler = scheduler_of(schedule, optimiser, highest=HIGHEST, total_steps=steps, warmup=None)
    assert scheduler is not None
    for share in (*sorted(clock), 1.0, 1.0, 1.0):
        scheduler.last_epoch = moved_on(scheduler.last_epoch, share, steps)  # type: ignore[assignment]
        optimiser.step()
        scheduler.step()
    assert scheduler.last_epoch == steps - 1
    assert optimiser.param_groups[0]["lr"] == pytest.approx(course(schedule, steps)[-1])


@pytest.mark.slow
@given(st.integers(2, 60), st.integers(1, 20))
def test_cosine_is_pytorchs_linear_rise_and_cosine_fall(falling: int, rising: int) -> None:
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    rise = LinearLR(optimiser, start_factor=1 / (rising + 1), end_factor=1.0, total_iters=rising)
    fall = CosineAnnealingLR(optimiser, T_max=falling)
    both = SequentialLR(optimiser, [rise, fall], milestones=[rising])
    for step in range(rising + falling):
        share = cosine_share(step, warmup_steps=rising, total_steps=rising + falling)
        assert share == pytest.approx(optimiser.param_groups[0]["lr"], abs=1e-12)
        optimiser.step()
        both.step()


@pytest.mark.slow
@given(st.integers(1, 200), st.floats(0, 0.9))
def test_a_cosine_rises_to_the_highest_rate_and_falls_but_never_stands_still(steps: int, warmup: float) -> None:
    rates, top = course("cosine", steps, warmup), min(round(warmup * steps), steps - 1)
    assert all(0 < rate <= HIGHEST for rate in rates)
    assert rates[top] == HIGHEST
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)


def test_the_courses_are_what_the_documents_say() -> None:
    assert set(course("constant", 50)) == {HIGHEST}
    one_cycle = course("one-cycle", 1_000)
    assert one_cycle[0] == pytest.approx(HIGHEST / 25)
    assert one_cycle.index(max(one_cycle)) == 299
    assert one_cycle[-1] == pytest.approx(HIGHEST / 250_000)
    later = course("one-cycle", 1_000, warmup=0.6)
    assert later.index(max(later)) == 599
    cosine = course("cosine", 1_000)
    assert cosine.index(max(cosine)) == 50
    assert cosine[0] == pytest.approx(HIGHEST / 51)
    assert cosine[525] == pytest.approx(HIGHEST / 2)


@pytest.mark.slow
def test_a_training_follows_its_course(make_table) -> None:
    options = {"lookback": 14, "horizon": 3, "hidden_size": 4, "epoch_windows": 40, "batch_size": 4, "seed": 7}
    rates = {}
    for schedule in ("cosine", "one-cycle"):
        trained = Forecaster(**options, schedule=schedule, warmup=0.5, max_epochs=4, patience=4, accelerator="cpu")
        rates[schedule] = pd.Series(trained.fit(make_table()).history["learning_rate"])
        assert rates[schedule].idxmax() == 1  # at the end of the second of four epochs
    assert rates["cosine"].iloc[-1] == 0.0  # of the step that is not taken any more
    assert not rates["cosine"].equals(rates["one-cycle"])


@pytest.mark.parametrize("options", [{"schedule": "constant", "warmup": 0.1}, {"warmup": 0.95}, {"warmup": -0.1}])
def test_a_rise_that_cannot_be_is_refused(options) -> None:
    with pytest.raises(ConfigError, match="--warmup"):
        RunConfig.from_options(options)
