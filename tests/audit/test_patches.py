"""Audits of attention over patches: a planted lag of whole patches is found, believed, and named in time steps."""

import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn.attention_file import read_attention
from forecast_attn.audit import Audit, audit_attention
from forecast_attn.audit.importance import input_occlusion, varying_columns
from forecast_attn.audit.subject import Subject
from forecast_attn.audit.wording import plural, the_steps
from forecast_attn.config.requests import AuditRequest
from forecast_attn.errors import RunError
from forecast_attn.forecaster import Forecaster
from forecast_attn.inspection.audit_section import audit_section
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.patterns import MeanWeights, looks_words
from forecast_attn.runs.run_dir import RunDir

from .conftest import Trained
from .test_every_kind import CPU, audited, untrained

LENGTH, LAG, HORIZON = 4, 8, 6  # the second patch of the horizon has two steps
PLANTED = "mostly at values 8 hours before the time it forecasts ("
OPTIONS: dict[str, Any] = {
    "patch_length": LENGTH,
    "lookback": 20,
    "horizon": HORIZON,
    "hidden_size": 16,
    "max_epochs": 12,
    "combination": "none",
    "learning_rate": 0.008,
    # No way past the attention to the planted patches.
    "bidirectional": False,
    "projection_size": 0,
    "temporal_decoder_size": 0,
    "lags": (),
}


def planted_patches(rows: int = 600) -> pd.DataFrame:
    """A target that is its driver of two patches of hours ago."""
    random = np.random.default_rng(0)
    driver = random.normal(size=rows + LAG)
    return pd.DataFrame(
        {
            "date": pd.date_range("2020-01-01", periods=rows, freq="h"),
            "target": (driver[:rows] + 0.02 * random.normal(size=rows)).round(4),
            "driver": driver[LAG:].round(4),
        }
    )


@pytest.fixture(scope="module")
def trained(train_on: Callable[..., Trained]) -> Trained:
    return train_on(planted_patches(), "luong-general", **OPTIONS)


@pytest.fixture(scope="module")
def audit(trained: Trained) -> Audit:
    return trained.audit()


@pytest.mark.slow
def test_an_inspection_names_the_planted_patches(trained: Trained) -> None:
    inspection = inspect_attention(read_attention(RunDir(trained.run).validation_attention))
    assert [step.step_text for step in inspection.steps] == ["1–4", "5–6"]
    assert [step.top[0].lag_text for step in inspection.steps] == ["4–7", "0–3"]
    assert min(step.top[0].weight for step in inspection.steps) > 0.8
    assert looks_words(MeanWeights.of(inspection)).startswith(PLANTED)


@pytest.mark.slow
def test_an_audit_believes_them_and_names_them(audit: Audit) -> None:
    assert audit.verdict is not None
    assert audit.verdict.level == "faithful"
    assert "deleting the patch with the most weight" in audit.verdict.sentence
    assert audit.verdict.caveats[0].startswith("A weight belongs to the encoder state of a patch of 4 time steps")
    assert audit.header.looks.startswith(PLANTED)
    header = json.loads(json.dumps(audit.to_dict(), allow_nan=False))["header"]
    assert (header["patch_length"], header["looks"]) == (LENGTH, audit.header.looks)


@pytest.mark.slow
def test_every_explanation_points_at_the_planted_patches(audit: Audit) -> None:
    """Steps 1 to 4 need the patch before the last, steps 5 and 6 the last; each is explained in turn."""
    for name, profile in audit.profiles.items():
        assert len(profile) == 5, name
        assert sum(profile) == pytest.approx(1), name
        assert set(np.argsort(profile)[-2:]) == {3, 4}, name
    agreement = audit.check("rank_agreement")
    assert agreement["state_occlusion_overlap"].value > 0.9
    assert agreement["input_occlusion_overlap"].value > 0.9
    assert agreement["convergence_delta"].value < 1e-3


@pytest.mark.slow
def test_the_page_says_patches(audit: Audit) -> None:
    html = audit_section(json.loads(json.dumps(audit.to_dict(), allow_nan=False)))
    assert audit.verdict is not None
    assert audit.verdict.sentence.replace("'", "&#x27;") in audit._repr_html_()
    assert repr(audit) == f"<Audit of luong-general, {audit.header.windows} windows: {audit.verdict.level}>"
    assert "% of the patches" in html
    assert "lag 19" in html


@pytest.mark.slow
def test_a_notebook_draws_the_curves_of_an_audit_as_the_page_does(audit: Audit) -> None:
    """It has no style sheet of ours: lines without a rule would be filled black."""
    html = audit._repr_html_()
    drawn = {name for names in re.findall('<(?:path|rect)[^>]* class="([^"]+)"', html) for name in names.split()}
    assert {"area", "curve", "axis"} <= drawn
    assert {name for name in drawn if f".{name}{{" not in html} <= {"random"}  # drawn as any other curve


@pytest.mark.slow
def test_runs_of_other_patches_are_not_compared(trained: Trained, train_on: Callable[..., Trained]) -> None:
    other = train_on(planted_patches(200), "luong-general", **(OPTIONS | {"patch_length": 5, "max_epochs": 1}))
    with pytest.raises(RunError) as error:
        Forecaster.load(trained.run).audit(windows=4, draws=10, seeds=[other.run], accelerator="cpu")
    assert error.value.message.endswith("its patch length is 5, not 4")
    assert "--patch-length" in str(error.value.hint)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {"attention": "bahdanau", "missing": "mask", "bidirectional": True},
        {"attention": "multi-head", "heads": 2, "attention_window": "local-p", "window_radius": 2, "missing": "mask"},
        {"attention": "luong-location", "normaliser": "sparsemax", "short_series": "pad"},
    ],
    ids=lambda options: options["attention"],
)
def test_every_kind_of_network_over_patches_can_be_audited(options: dict[str, Any]) -> None:
    audit = audited(**options, lookback=8, patch_length=2)
    json.dumps(audit.to_dict(), allow_nan=False)
    assert np.isfinite(audit.header.mae)
    assert audit.header.looks
    for name, profile in audit.profiles.items():
        assert sum(profile) == pytest.approx(1), name


@pytest.mark.slow
def test_too_few_patches_to_rank_do_not_count_against_the_weights() -> None:
    model, preparation = untrained(attention="luong-general", lookback=4, patch_length=2)
    audit = audit_attention(model, preparation, AuditRequest(windows=4, draws=10), device=CPU)
    check = audit.check("rank_agreement")
    assert check.passed is None
    assert check.verdict == "a lookback of fewer than 3 patches leaves nothing to rank"


@pytest.mark.slow
def test_an_audit_of_time_steps_says_nothing_of_patches() -> None:
    model, preparation = untrained(attention="luong-general")
    audit = audit_attention(model, preparation, AuditRequest(windows=4, draws=10), device=CPU)
    assert "patch" not in json.dumps(audit.to_dict())


@pytest.mark.parametrize(("count", "words"), [(1, "the patch"), (2.2, "the 2 patches")])
def test_patches_in_sentences(count: float, words: str) -> None:
    assert the_steps(count, "patch") == words
    assert plural("step") == "steps"


@pytest.mark.slow
def test_what_reaches_the_forecast_past_the_weights_is_said() -> None:
    model, preparation = untrained(attention="luong-general", lookback=8, lags="2,4", linear_path=True)
    audit = audit_attention(model, preparation, AuditRequest(windows=4, draws=10), device=CPU)
    assert audit.verdict is not None
    caveats = " ".join(audit.verdict.caveats)
    assert "Each step also reads what lay 2, 4 steps before it (--lags)" in caveats
    assert "adds to the forecast (--linear-path)" in caveats


def test_inputs_are_explained_before_they_are_projected() -> None:
    """Projected, every number mixes columns and position: there would be nothing to leave out."""
    model, preparation = untrained(attention="luong-general", lookback=8, patch_length=2, projection_size=5)
    subject = Subject.of(model, preparation, preparation.validation_cutoffs[:4], CPU)
    varying = varying_columns(subject)
    position = model.network.past_position.shape[1]
    assert len(varying) > 5 + position
    assert not varying[-position:].any()
    assert varying[0]  # the target of the first step of a patch
    reference = subject.reference_forecasts()
    assert (input_occlusion(subject, reference, np.zeros(4, np.int64), varying) > 0).any()
