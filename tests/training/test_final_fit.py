"""The last training on all rows: what is replaced, and what is not."""

import numpy as np
import pandas as pd
import pytest
import torch

from forecast_attn import Forecaster
from forecast_attn.errors import ConfigError
from forecast_attn.forecasting.inference import load_model
from forecast_attn.runs.run_dir import RunDir

pytestmark = pytest.mark.slow

SERIES, ROWS, HORIZON, LOOKBACK = 20, 24, 3, 6
OPTIONS = {
    "horizon": HORIZON,
    "lookback": LOOKBACK,
    "validation": HORIZON,
    "hidden_size": 4,
    "max_epochs": 2,
    "seed": 1,
}


def make_panel(series: int = SERIES) -> pd.DataFrame:
    stamps = pd.date_range("2010-01-01", periods=ROWS, freq="QS")
    rng = np.random.default_rng(2)
    parts = [
        pd.DataFrame({"item_id": f"s{number:02d}", "date": stamps, "y": 50 + np.cumsum(rng.normal(1, 2, ROWS))})
        for number in range(series)
    ]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Forecaster]:
    folder = tmp_path_factory.mktemp("final")
    return {
        how: Forecaster(**OPTIONS, final_fit=how, accelerator="cpu").fit(make_panel(), out=folder / how)
        for how in ("auto", "none")
    }


def test_all_rows_are_trained_on(runs: dict[str, Forecaster]) -> None:
    """Every series has ROWS - LOOKBACK - HORIZON + 1 windows in all, HORIZON fewer before validation."""
    final = runs["auto"].metrics["final_fit"]
    assert final["windows"] == SERIES * (ROWS - LOOKBACK - HORIZON + 1)
    assert final["epochs"] == runs["auto"].metrics["best_epoch"]
    assert "final_fit" not in runs["none"].metrics


def test_scores_are_those_of_the_validated_network(runs: dict[str, Forecaster]) -> None:
    assert runs["auto"].metrics["validation"] == runs["none"].metrics["validation"]
    assert (runs["auto"].run_path / "history.csv").is_file()
    assert not (runs["auto"].run_path / "final_fit").exists()


def test_the_weights_are_others_and_load(runs: dict[str, Forecaster]) -> None:
    first, second = (load_model(RunDir(run.run_path)).network.state_dict() for run in runs.values())
    assert any(not torch.equal(first[name], second[name]) for name in first)


def test_the_newest_rows_count(runs: dict[str, Forecaster], tmp_path) -> None:
    """Other values in the rows of validation change the weights of a last training, and of no other."""
    table = make_panel()
    last = table.groupby("item_id").cumcount() >= ROWS - HORIZON
    changed = table.assign(y=table["y"].where(~last, table["y"] + 10))
    again = Forecaster(**OPTIONS, final_fit="auto", accelerator="cpu").fit(changed, out=tmp_path / "run")
    if again.metrics["best_epoch"] == runs["auto"].metrics["best_epoch"]:
        before, after = (load_model(RunDir(run.run_path)).network.state_dict() for run in (runs["auto"], again))
        assert any(not torch.equal(before[name], after[name]) for name in before)


def test_few_series_have_none(tmp_path) -> None:
    few = Forecaster(**OPTIONS, accelerator="cpu").fit(make_panel(3), out=tmp_path / "few")
    assert "final_fit" not in few.metrics
    forced = Forecaster(**OPTIONS, final_fit="always", accelerator="cpu").fit(make_panel(3), out=tmp_path / "asked")
    assert "final_fit" in forced.metrics
    assert "fewer than 20 series" in few.metrics["no_final_fit"]


def test_the_validated_network_stays_in_the_run(runs: dict[str, Forecaster]) -> None:
    again, before = (load_model(RunDir(runs[how].run_path), validated=True) for how in ("auto", "none"))
    for name, values in before.network.state_dict().items():
        assert torch.equal(values, again.network.state_dict()[name])
    assert runs["auto"].metrics["final_fit"]["until"] == "2015-10-01"


def test_what_looks_at_past_windows_takes_the_validated_network(runs: dict[str, Forecaster], tmp_path) -> None:
    """The MAE of the audit is that of training's scores, which the other network, having seen the values, does not
    have."""
    table = make_panel()
    scored = runs["auto"].metrics["validation"]["mae"]
    assert runs["auto"].audit(table, windows=1000).header.mae == pytest.approx(scored, rel=1e-6)


def test_members_are_trained_again_once_they_were_scored_together(runs: dict[str, Forecaster], tmp_path) -> None:
    """The first member has the bytes of the run without an ensemble, before and after."""
    ensemble = Forecaster(**OPTIONS, ensemble=2, accelerator="cpu").fit(make_panel(), out=tmp_path / "run")
    alone, member = RunDir(runs["auto"].run_path), RunDir(tmp_path / "run" / "members" / "0")
    assert member.model.read_bytes() == alone.model.read_bytes()
    assert member.validated.read_bytes() == alone.validated.read_bytes()
    assert ensemble.metrics["final_fit"]["windows"] == runs["auto"].metrics["final_fit"]["windows"]
    assert load_model(RunDir(tmp_path / "run")).is_ensemble
    assert Forecaster.load(member.path).metrics["final_fit"] == runs["auto"].metrics["final_fit"]


def test_calibrated_runs_have_none(tmp_path) -> None:
    """Offsets belong to the errors of the network that was validated."""
    options = OPTIONS | {"quantiles": "0.3,0.5,0.7", "calibration": "cqr", "accelerator": "cpu"}
    run = Forecaster(**options).fit(make_panel(), out=tmp_path / "run")
    assert "--calibration" in run.metrics["no_final_fit"]
    with pytest.raises(ConfigError, match="--final-fit always is not possible: --calibration"):
        Forecaster(**options, final_fit="always").fit(make_panel(), out=tmp_path / "refused")
    assert not (tmp_path / "refused").exists()
