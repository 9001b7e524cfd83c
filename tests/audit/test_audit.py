"""Attentions of which one knows whether they are right, through the audit's front door."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forecast_attn.audit import Audit
from forecast_attn.audit.seeds import seed_agreement
from forecast_attn.audit.subject import Subject
from forecast_attn.forecaster import Forecaster
from forecast_attn.runs.run_dir import FORMAT_VERSION

from .conftest import HORIZON, LAG, LOOKBACK, Trained, frozen_score, noise_table, planted_table

pytestmark = pytest.mark.slow


# --------------------------------------------------------------------------- attentions known to be right or wrong


def test_an_attention_known_to_be_right_passes(planted_audit: Audit) -> None:
    assert planted_audit.verdict is not None
    assert planted_audit.verdict.level == "faithful"
    outcomes = {check.name: check.passed for check in planted_audit.checks}
    assert outcomes.pop("values") is None
    assert all(outcomes.values())
    assert len(outcomes) == 7


def test_its_numbers_are_those_of_a_planted_lag(planted_audit: Audit) -> None:
    """All weight on one step: without it the forecast is lost, with it alone nothing changes."""
    assert planted_audit.check("uniform_swap")["mae_change_relative"].value > 2
    assert planted_audit.check("permutation")["as_good"].value == 0
    assert planted_audit.check("deletion")["ratio"].value > 5
    assert planted_audit.check("sufficiency")["ratio"].value < 0.2
    agreement = planted_audit.check("rank_agreement")
    for method in ("state_occlusion", "input_occlusion", "gradient_input", "integrated_gradients"):
        assert agreement[f"{method}_overlap"].value > 0.8
    assert agreement["convergence_delta"].value < 1e-3


def test_every_explanation_points_at_the_planted_lag(planted_audit: Audit) -> None:
    """Step s ahead needs the driver of 6 - s days before the cut-off; the steps are taken in turn."""
    expected = {LOOKBACK - 1 - (LAG - step) for step in range(1, HORIZON + 1)}
    assert len(planted_audit.profiles) == 7
    for name, profile in planted_audit.profiles.items():
        assert sum(profile) == pytest.approx(1), name
        assert set(np.argsort(profile)[-HORIZON:]) == expected, name


def test_a_frozen_random_attention_fails(train_on: Callable[..., Trained], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its network was trained around it on the very table on which a free attention is right."""
    monkeypatch.setattr("forecast_attn.nn.builder.make_score", frozen_score)
    audit = train_on(planted_table(), "luong-general", max_epochs=4).audit()
    assert audit.verdict is not None
    assert audit.verdict.level == "not faithful"
    assert not audit.check("uniform_swap").passed
    assert not audit.check("permutation").passed


def test_keras_dot_on_pure_noise_fails(train_on: Callable[..., Trained]) -> None:
    audit = train_on(noise_table(), "keras-dot", max_epochs=4).audit()
    assert audit.verdict is not None
    assert audit.verdict.level == "not faithful"
    assert not audit.check("uniform_swap").passed
    assert not audit.check("permutation").passed
    assert "hardly needs" in audit.verdict.sentence


# --------------------------------------------------------------------------- covariates


def test_the_driver_is_found_first_and_noise_is_noise(planted_audit: Audit) -> None:
    covariates = planted_audit.covariates
    assert covariates is not None
    assert [each.name for each in covariates.columns] == ["driver", "noise"]
    driver, noise = covariates.columns
    assert driver.matters
    assert driver.mae_change > 3 * driver.noise_high
    assert not noise.matters
    assert noise.mae_change < noise.noise_high
    assert covariates.verdict.startswith("with 'driver' shuffled the MAE of 'target' rises to ")
    assert "'noise'" in covariates.verdict
    assert {each.name for each in covariates.groups} == {"past", "target"}


# --------------------------------------------------------------------------- seeds


def test_trainings_that_found_the_lag_agree_and_others_do_not(
    planted: Trained, train_on: Callable[..., Trained], subject: Subject
) -> None:
    other = train_on(planted_table(), "luong-general", seed=2)
    check = planted.audit(seeds=[other.run], windows=12, draws=10).check("seeds")
    assert check.passed
    assert check["jensen_shannon"].value < 0.5
    weights = subject.reference_forecasts().weights
    flat = np.full_like(weights, 1 / LOOKBACK)
    check = seed_agreement(weights, [flat], seed=0)
    assert not check.passed
    assert check["jensen_shannon"].value > 0.6
    assert "elsewhere" in check.verdict


# --------------------------------------------------------------------------- the document and the command


def test_the_same_seed_gives_the_same_bytes_and_the_command_writes_them(
    planted: Trained, planted_audit: Audit, forecast: Callable[..., Any], here: Path
) -> None:
    words = ("audit", planted.run, "--windows", 48, "--draws", 20, "--covariates", "--accelerator", "cpu")
    outcome = forecast(*words, "--json", "--out", "found.json")
    assert outcome.code == 0, outcome.err
    assert json.loads(outcome.out) == json.loads(json.dumps(planted_audit.to_dict()))
    written = json.loads(Path("found.json").read_text(encoding="utf-8"))
    assert written.pop("format") == FORMAT_VERSION
    assert written == json.loads(outcome.out)
    assert "48 windows of" in outcome.err
    assert not (planted.run / "audit.json").exists()


def test_the_page_says_the_verdict_first(run_copy: Path, forecast: Callable[..., Any], finished_run: Path) -> None:
    words = ("--data", finished_run.parent / "data.csv", "--windows", 8, "--draws", 10, "--covariates", "--quiet")
    outcome = forecast("audit", run_copy, *words)
    assert outcome.code == 0, outcome.err
    assert outcome.err == ""
    assert "faithful: " in outcome.out
    assert outcome.out.index("faithful") < outcome.out.index("experiment")
    for title in (
        "Equal weights",
        "Weights in random order",
        "Deleting steps",
        "Other explanations",
        "Weighted values",
    ):
        assert title in outcome.out
    assert "temperature" in outcome.out
    assert (run_copy / "audit.json").is_file()


def test_a_run_without_attention_is_asked_for_covariates_only(
    train_on: Callable[..., Trained], refused: Callable[..., None], forecast: Callable[..., Any], here: Path
) -> None:
    run = train_on(planted_table(200).rename(columns={"noise": "past"}), "none", max_epochs=1).run
    refused("audit", run, message="--attention none: there are no weights", hint="--covariates", code=2)
    words = ("audit", run, "--covariates", "--repeats", 2, "--windows", 8)
    outcome = forecast(*words, "--json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert document["verdict"] is None
    assert document["checks"] == []
    assert len(document["covariates"]["columns"]) == 2
    assert sorted(re.findall(r"^(.+?)  +past  ", forecast(*words).out, re.M)) == ["all past", "driver", "past"]


def test_the_table_of_the_training_is_needed(
    planted: Trained,
    run_copy: Path,
    here: Path,
    refused: Callable[..., None],
    write: Callable[..., str],
    without_manifest: Callable[[Path], None],
) -> None:
    other = write(planted_table(300), "other.csv")
    refused("audit", planted.run, "--data", other, message="'other.csv' is not the table", hint="--data FILE")
    planted_table(300).rename(columns=str.upper).to_parquet("foreign.parquet")  # what is wrong with it does not matter
    refused(
        "audit",
        planted.run,
        "--data",
        "foreign.parquet",
        message="'foreign.parquet' is not the table",
        hint="--data FILE",
    )
    without_manifest(run_copy)
    config = json.loads((run_copy / "config.json").read_text())
    config["data"]["file"] = "moved.csv"
    (run_copy / "config.json").write_text(json.dumps(config))
    refused("audit", run_copy, message="moved.csv", hint="--data FILE, if the table was moved")
    config["data"] |= {"file": "DataFrame", "sha256": None}
    (run_copy / "config.json").write_text(json.dumps(config))
    refused("audit", run_copy, message="was not trained on a file", hint=r"forecast audit \S*run --data FILE")


def test_a_run_of_a_dataframe_is_audited_with_it(tmp_path: Path) -> None:
    table = noise_table(200)
    forecaster = Forecaster(
        lookback=9, horizon=2, hidden_size=4, max_epochs=1, epoch_windows=8, seed=1, accelerator="cpu"
    )
    forecaster.fit(table)
    audit = forecaster.audit(table, windows=4, draws=10)
    assert audit.header.windows == 4
    from forecast_attn.errors import DataError, RunError

    with pytest.raises(RunError, match="was not trained on a file"):
        forecaster.audit()
    with pytest.raises(DataError, match="the columns of the table are not those"):
        forecaster.audit(table.rename(columns={"other": "another"}))
    with pytest.raises(RunError, match="validation of this table begins after"):
        forecaster.audit(noise_table(150), windows=4, draws=10)


def test_runs_that_cannot_be_compared_are_refused(
    planted: Trained, finished_run: Path, here: Path, refused: Callable[..., None]
) -> None:
    refused(
        "audit",
        planted.run,
        "--seeds",
        finished_run,
        message="cannot be compared: its horizon is 3, not 4",
        hint="--lookback",
    )


def test_nothing_that_is_needed_is_written_over(planted: Trained, run_copy: Path, refused: Callable[..., None]) -> None:
    refused(
        "audit",
        planted.run,
        "--out",
        planted.table,
        message="--out .* is a file that is read",
        hint="another",
        code=2,
    )
    refused("audit", run_copy, "--out", run_copy / "schema.json", message="belongs to a run", hint="another", code=2)


def test_a_folder_that_is_not_there_is_said_before_the_work(
    planted: Trained, here: Path, refused: Callable[..., None]
) -> None:
    refused("audit", planted.run, "--out", "no/audit.json", message="there is no folder 'no'", hint="mkdir -p 'no'")


def test_a_run_is_not_compared_with_itself(
    planted: Trained, run_copy: Path, finished_run: Path, refused: Callable[..., None]
) -> None:
    words = ("audit", run_copy, "--data", finished_run.parent / "data.csv", "--windows", 2)
    for twin in (run_copy, finished_run):  # a copy is the same training, too
        refused(*words, "--seeds", twin, message="are the same training", hint="--seed N", code=2)


@pytest.mark.parametrize(
    "words", [("--windows", 1), ("--draws", 9), ("--repeats", 1), ("--seed", -1), ("--accelerator", "tpu")]
)
def test_numbers_outside_their_range_are_refused(
    words: tuple[object, ...], planted: Trained, here: Path, refused: Callable[..., None]
) -> None:
    refused("audit", planted.run, *words, message=str(words[0]).strip("-"), hint=".", code=2)
