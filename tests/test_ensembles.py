"""Ensembles: members are runs of their own, and forecast together what a hand calculation makes of their forecasts."""

import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from forecast_attn import Forecaster
from forecast_attn.attention_file import read_attention
from forecast_attn.baselines import registry
from forecast_attn.data import causal_scales
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.forecasting.ensemble import combined, member_seed
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.training.progress import TrainingListener

from .conftest import SMALL_OPTIONS

pytestmark = pytest.mark.slow

OPTIONS = {
    **SMALL_OPTIONS,
    "batch_size": 8,
    "quantiles": "0.1,0.5,0.9",
    "decoding": "autoregressive",
    "dropout": 0.3,
}
QUANTILES = ["prediction", "0.1", "0.5", "0.9"]


@pytest.fixture(scope="module")
def table(make_table, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("ensembles") / "data.csv"
    make_table().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def trained(table):
    """`trained(name, **options)`: a run beside the table, trained once."""

    def train(name: str, **options: object) -> Path:
        folder = table.parent / name
        if not folder.exists():
            Forecaster(**OPTIONS, **options).fit(table, out=folder)
        return folder

    return train


@pytest.fixture(scope="module")
def ensemble(trained) -> Path:
    """Of three, with their mean. Look at it, do not change it."""
    return trained("ensemble", ensemble=3)


def predictions(run: Path) -> np.ndarray:
    return Forecaster.load(run).predict().predictions[QUANTILES].to_numpy()


def members(run: Path) -> list[Path]:
    return [run / "members" / str(number) for number in range(3)]


def outcome(run: Path) -> dict[str, bytes]:
    """Every file that is a function of seed and table."""
    names = ("model.safetensors", "calibration.json", "validation_attention.parquet")
    return {str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.name in names}


# --------------------------------------------------------------------------- members


def test_the_first_member_is_the_run_without_an_ensemble(trained, ensemble):
    alone = trained("alone")
    assert "members/0/model.safetensors" in outcome(ensemble)
    assert {name: (ensemble / "members/0" / name).read_bytes() for name in outcome(alone)} == outcome(alone)
    np.testing.assert_array_equal(predictions(ensemble / "members/0"), predictions(alone))


def test_members_share_what_was_asked_and_learnt(ensemble):
    names = {path.name for path in ensemble.iterdir()}
    assert names == {
        *("config.json", "schema.json", "tail.parquet", "members", "metrics.json", "validation_attention.parquet"),
        "manifest.json",
    }
    for folder in members(ensemble):
        assert {path.name for path in folder.iterdir()} == {
            *("model.safetensors", "history.csv", "metrics.json", "validation_attention.parquet"),
        }


def test_members_differ_and_say_their_seed(ensemble):
    about = json.loads((ensemble / "metrics.json").read_text())["members"]
    assert [entry["seed"] for entry in about] == [member_seed(7, number) for number in range(3)]
    assert len({entry["model_sha256"] for entry in about}) == 3
    for folder, entry in zip(members(ensemble), about, strict=True):
        metrics = Forecaster.load(folder).metrics
        assert entry["validation"] == metrics["validation"]
        assert Forecaster.load(folder).config.training.seed == entry["seed"]
    assert member_seed(7, 0) == 7


def test_what_no_network_decides_is_computed_once_for_all_members(table, tmp_path, monkeypatch):
    """Two members and the ensemble score the same baselines, as do those of an update; all train on the same windows,
    in the end on all rows, too."""
    fitted, measured = [], []
    forecasts, scales = registry.baseline_forecasts, causal_scales.causal_scales
    monkeypatch.setattr(causal_scales, "causal_scales", lambda *args: [measured.append(1), scales(*args)][1])
    monkeypatch.setattr(
        registry, "baseline_forecasts", lambda name, *args: [fitted.append(name), forecasts(name, *args)][1]
    )
    options = OPTIONS | {"combination": "auto", "max_epochs": 1, "ensemble": 2, "final_fit": "always"}
    forecaster = Forecaster(**options).fit(table, out=tmp_path / "run")
    assert fitted.count("linear") == fitted.count("median") == len(measured) == 1
    once = json.loads((tmp_path / "run" / "metrics.json").read_text())["baselines"]
    member = json.loads((tmp_path / "run" / "members" / "1" / "metrics.json").read_text())["baselines"]
    assert all(once[name]["mae"] == member[name]["mae"] for name in once)
    fitted.clear()
    rows = pd.read_csv(table)
    days = pd.to_datetime(rows["date"]).tail(3) + pd.Timedelta(days=3)
    forecaster.update(rows.tail(3).assign(date=days), epochs=1, out=tmp_path / "updated")
    assert fitted.count("median") == 1


def test_history_names_the_member(ensemble):
    history = Forecaster.load(ensemble).history
    assert list(history["member"]) == [0, 0, 1, 1, 2, 2]
    assert list(history["epoch"]) == [1, 2, 1, 2, 1, 2]
    assert "member" not in Forecaster.load(ensemble / "members/1").history


# --------------------------------------------------------------------------- together


@pytest.mark.parametrize("how", ["mean", "median"])
def test_forecasts_are_combined_quantile_by_quantile(trained, how, ensemble):
    run = ensemble if how == "mean" else trained("median", ensemble=3, combine="median")
    each = np.stack([predictions(folder) for folder in members(run)])
    expected = sum(each) / 3 if how == "mean" else np.sort(each, axis=0)[1]
    np.testing.assert_allclose(predictions(run), expected, rtol=1e-9)


def test_scores_are_those_of_the_combined_forecast(ensemble):
    """Against a loop over the validation windows, each forecast by every member from a cut-off history."""
    metrics = Forecaster.load(ensemble).metrics["validation"]
    result = Forecaster.load(ensemble).backtest(
        cutoffs=22, stride=1, baselines=(), out=ensemble.parent / "back.parquet"
    )
    rows = result.frame
    chosen = np.linspace(0, 21, 16).round().astype(int)
    rows = rows[rows["cutoff"].isin(np.sort(rows["cutoff"].unique())[chosen])]
    assert metrics["mae"] == pytest.approx((rows["target"] - rows["prediction"]).abs().mean(), rel=1e-6)


@given(
    values=arrays.arrays(
        np.float64, st.tuples(st.integers(1, 5), st.integers(1, 4), st.integers(1, 6)), elements=st.floats(-1e9, 1e9)
    ),
    how=st.sampled_from(["mean", "median"]),
)
def test_combined_quantiles_never_cross(values, how):
    ascending = np.sort(values, axis=-1)
    together = combined(list(ascending), how)
    slack = 1e-6  # a sum of numbers of 1e9 rounds at 1e-7; quantiles in units are sorted once more
    assert (np.diff(together, axis=-1) >= -slack).all()
    assert (together >= ascending.min(axis=0) - slack).all()
    assert (together <= ascending.max(axis=0) + slack).all()


def test_attention_is_averaged_and_each_member_has_its_own(ensemble, tmp_path):
    path = tmp_path / "weights.parquet"
    result = Forecaster.load(ensemble).predict(attention_out=path, attention_members=True)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        *(f"weights-member-{number}.parquet" for number in range(3)),
        "weights.parquet",
    ]
    each = [dump.weights for dump in result.member_attention]
    for folder, weights in zip(members(ensemble), each, strict=True):
        np.testing.assert_array_equal(Forecaster.load(folder).predict().attention.weights, weights)
    np.testing.assert_allclose(result.attention.weights, sum(each) / 3, atol=1e-7)
    np.testing.assert_allclose(result.attention.weights.sum(axis=-1), 1, atol=1e-6)
    assert read_attention(path).metadata.value_rank is None  # averaged weights weigh nothing of their own
    assert result.member_attention[0].metadata.value_rank is not None
    without = Forecaster.load(ensemble).predict()
    assert without.member_attention == ()
    np.testing.assert_array_equal(without.attention.weights, result.attention.weights)


def test_paths_are_drawn_by_the_members_in_turn(ensemble):
    together, alone = Forecaster.load(ensemble), [Forecaster.load(folder) for folder in members(ensemble)]
    drawn = together.predict(samples=7, seed=3).samples
    for number, member in enumerate(alone):
        paths = member.predict(samples=7, seed=3).samples
        of_member = paths["sample"] % 3 == number
        np.testing.assert_allclose(drawn.loc[of_member, "value"], paths.loc[of_member, "value"], rtol=1e-5)
        others = ~of_member
        assert not np.allclose(drawn.loc[others, "value"], paths.loc[others, "value"], rtol=1e-3)


def test_the_combined_quantiles_are_calibrated(trained):
    from forecast_attn.forecasting.inference import forecast_windows, load_model
    from forecast_attn.runs.training_table import read_panel
    from forecast_attn.training.preparation import prepare
    from forecast_attn.training.validation import validation_rows

    run = trained("calibrated", ensemble=2, calibration="cqr")
    model = load_model(RunDir(run))
    panel, _ = read_panel(run.parent / "data.csv", model.config)
    preparation = prepare(panel, model.config.data)
    cutoffs, series = validation_rows(preparation, model.config), np.zeros(16, np.int64)
    bare = replace(model, calibration=None)
    (batch,) = forecast_windows(bare, preparation.panel, cutoffs)
    scaler = model.schema.scaler
    for step in range(3):
        actual = scaler.scale_target(preparation.panel.target[cutoffs + 1 + step], series)
        for index, rank in enumerate((1, 9, 16)):  # floor(17 · 0.1), ceil(17 · 0.5), ceil(17 · 0.9)
            base = scaler.scale_target(batch.quantiles[:, step, index], series)
            offset = np.sort(actual - base)[rank - 1]
            assert model.calibration.offsets[step, index] == pytest.approx(offset, abs=1e-6)
    offsets = [json.loads((run / "members" / str(k) / "calibration.json").read_text())["offsets"] for k in range(2)]
    assert offsets[0] != offsets[1]


def test_a_refit_trains_every_member_further(ensemble, tmp_path):
    forecaster = Forecaster.load(ensemble)
    options = {"cutoffs": 2, "refit": "every", "refit_epochs": 1, "baselines": ()}
    together = forecaster.backtest(**options, out=tmp_path / "together.parquet").frame
    first = Forecaster.load(ensemble / "members/0").backtest(**options, out=tmp_path / "first.parquet").frame
    plain = forecaster.backtest(cutoffs=2, baselines=(), out=tmp_path / "plain.parquet").frame
    assert not np.allclose(together["prediction"], plain["prediction"])
    assert not np.allclose(together["prediction"], first["prediction"])


# --------------------------------------------------------------------------- cut short


class Killed(BaseException):
    """Nothing catches this: the files stay as a kill would leave them."""


class Strikes(TrainingListener):
    """Does something at a step of the second member, in its second epoch."""

    def __init__(self, strike) -> None:
        self.strike, self.member, self.batches = strike, 0, 0

    def member_started(self, number: int, members: int) -> None:
        assert members == 3
        self.member, self.batches = number, 0

    def batch_done(self, loss: float, num_windows: int) -> None:
        self.batches += 1
        if (self.member, self.batches) == (2, 6):
            self.strike()


def test_killed_in_a_member_it_resumes_to_the_same_bytes(table, ensemble, tmp_path):
    def die() -> None:
        raise Killed

    run = tmp_path / "run"
    with pytest.raises(Killed):
        Forecaster(**OPTIONS, ensemble=3).fit(table, out=run, listener=Strikes(die))
    assert (run / "members/1/last.ckpt").is_file()
    assert not (run / "members/2").exists()
    with pytest.raises(RunError, match="unfinished") as refused:
        Forecaster.load(run)
    assert refused.value.hint == f"continue it with: forecast train --resume {run}"
    written = (run / "members/0/model.safetensors").stat().st_mtime_ns
    Forecaster.resume(run)
    assert (run / "members/0/model.safetensors").stat().st_mtime_ns == written
    assert outcome(run) == outcome(ensemble)
    assert not list(run.rglob("last.ckpt"))


def test_after_ctrl_c_the_members_so_far_forecast_and_the_rest_can_follow(table, ensemble, tmp_path):
    run, before = tmp_path / "run", signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in a shell's background
    try:
        interrupt = Strikes(lambda: os.kill(os.getpid(), signal.SIGINT))
        Forecaster(**OPTIONS, ensemble=3).fit(table, out=run, listener=interrupt)
    finally:
        signal.signal(signal.SIGINT, before)
    metrics = Forecaster.load(run).metrics
    assert metrics["ended"] == "interrupted"
    assert [entry["ended"] for entry in metrics["members"]] == ["max-epochs", "interrupted"]
    assert np.isfinite(predictions(run)).all()
    Forecaster.resume(run)
    assert outcome(run) == outcome(ensemble)
    with pytest.raises(RunError, match="finished"):
        Forecaster.resume(run)


# --------------------------------------------------------------------------- refused


@pytest.fixture
def copy(ensemble, tmp_path) -> Path:
    return Path(shutil.copytree(ensemble, tmp_path / "copy"))


def test_an_audit_names_the_members(ensemble, table):
    with pytest.raises(ConfigError, match="is an ensemble") as refused:
        Forecaster.load(ensemble).audit(table)
    assert f"forecast audit {ensemble}/members/0" in refused.value.hint
    audit = Forecaster.load(ensemble / "members/0").audit(table, windows=4, draws=10, seeds=[ensemble / "members/1"])
    assert audit.verdict


def test_a_member_whose_weights_were_altered_is_refused(copy):
    model = copy / "members/1/model.safetensors"
    model.write_bytes(model.read_bytes()[:-1] + b"\0")
    with pytest.raises(RunError, match=r"members/1/model\.safetensors' was altered"):
        Forecaster.load(copy).predict()


def test_a_member_that_is_gone_is_missed(copy):
    shutil.rmtree(copy / "members/2")
    with pytest.raises(RunError, match=r"members/2' is damaged: missing model\.safetensors"):
        Forecaster.load(copy).predict()


def test_a_member_is_not_resumed_saved_or_made_alone(copy, table, tmp_path):
    with pytest.raises(RunError, match="resumed as a whole"):
        Forecaster.resume(copy / "members/1")
    with pytest.raises(RunError, match="is a member of an ensemble"):
        Forecaster.load(copy / "members/1").save(tmp_path / "saved")
    with pytest.raises(RunError, match="belongs to the run"):
        Forecaster(**OPTIONS).fit(table, out=copy / "members/7")
    Forecaster.load(copy).save(tmp_path / "saved")
    np.testing.assert_array_equal(predictions(tmp_path / "saved"), predictions(copy))


def test_options_without_an_ensemble_are_refused(trained):
    with pytest.raises(ConfigError, match="--combine needs several networks"):
        Forecaster(combine="median")
    with pytest.raises(ConfigError, match="--ensemble must be between 1 and 1,000"):
        Forecaster(ensemble=0)
    with pytest.raises(ConfigError, match="--attention-members is for ensembles"):
        Forecaster.load(trained("alone")).predict(attention_members=True)


def test_the_command_line_shows_members(forecast, table, here):
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
    shown = forecast("train", table, *flags, "--ensemble", 2, "--out", "run")
    assert shown.code == 0, shown.err
    assert "member 1 of 2, training on cpu" in shown.err
    assert "member 2 of 2, training ended: all epochs done" in shown.err
    assert "best epoch of each member" in shown.out
    assert "member 1 " in shown.out
    predicted = forecast("predict", "run", "--attention-members", "--json", "--quiet")
    assert json.loads(predicted.out)["attention_members"] == [f"run/attention-member-{k}.parquet" for k in range(2)]
    about = json.loads(forecast("info", "run", "--json").out)
    assert "members/1/model.safetensors" in about["files"]
    assert pd.read_csv("run/predictions.csv")[QUANTILES].shape == (3, 4)
