"""Averaged weights: against the weighted sum written out, and what is averaged in runs, ensembles and refits."""

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from forecast_attn import Forecaster
from forecast_attn.config.options import RunConfig
from forecast_attn.errors import ConfigError
from forecast_attn.training.averaging import WeightAverage, decay_at

from ..conftest import SMALL_OPTIONS

OPTIONS = {**SMALL_OPTIONS, "max_epochs": 3, "batch_size": 8, "schedule": "constant"}


def weights_of(forecaster: Forecaster) -> dict[str, np.ndarray]:
    return safetensors.numpy.load_file(forecaster.run_path / "model.safetensors")


@pytest.fixture(scope="module")
def plain(make_table) -> Forecaster:
    return Forecaster(**OPTIONS).fit(make_table())


@pytest.fixture(scope="module")
def averaged(make_table) -> Forecaster:
    return Forecaster(**OPTIONS, weight_averaging="ema").fit(make_table())


@given(st.integers(1, 10**6), st.floats(0, 0.999999))
def test_the_decay_grows_to_its_highest(step: int, highest: float) -> None:
    assert 0 <= decay_at(step, highest) <= decay_at(step + 1, highest) <= highest
    assert decay_at(10**9, highest) == highest
    assert decay_at(1, 0.999) == 2 / 11


@pytest.mark.slow
@pytest.mark.parametrize("decay", [0.999, 0.6])
def test_what_is_written_is_the_weighted_sum_of_all_steps(decay: float, make_table, monkeypatch) -> None:
    """Written out: the first weights times all decays, and each step's times what it gave and all later decays."""
    seen: list[dict[str, np.ndarray]] = []
    begin, update = WeightAverage.__init__, WeightAverage.update

    def keep(network) -> None:
        seen.append({name: value.detach().numpy().astype(np.float64) for name, value in network.state_dict().items()})

    def begun(self, network, highest) -> None:
        keep(network)
        begin(self, network, highest)

    def updated(self, network, step) -> None:
        keep(network)
        update(self, network, step)

    monkeypatch.setattr(WeightAverage, "__init__", begun)
    monkeypatch.setattr(WeightAverage, "update", updated)
    one_epoch = {**OPTIONS, "max_epochs": 1, "averaging_decay": decay}
    weights = weights_of(Forecaster(**one_epoch, weight_averaging="ema").fit(make_table()))
    steps = len(seen) - 1
    assert steps == 4
    decays = [min(decay, (1 + step) / (10 + step)) for step in range(1, steps + 1)]
    shares = np.array([1.0, *(1 - each for each in decays)]) * [float(np.prod(decays[at:])) for at in range(steps + 1)]
    assert shares.sum() == pytest.approx(1)
    for name, value in weights.items():
        expected = sum(share * step[name] for share, step in zip(shares, seen, strict=True))
        np.testing.assert_allclose(value, expected, rtol=1e-5, atol=1e-7, err_msg=name)


@pytest.mark.slow
def test_averaging_changes_what_is_validated_and_not_the_steps(plain: Forecaster, averaged: Forecaster) -> None:
    steps = ["epoch", "train_loss", "learning_rate"]
    pd.testing.assert_frame_equal(averaged.history[steps], plain.history[steps], check_exact=True)
    assert (averaged.history["validation_loss"] != plain.history["validation_loss"]).all()
    assert weights_of(averaged).keys() == weights_of(plain).keys()
    forecasts = averaged.predict().predictions["prediction"], plain.predict().predictions["prediction"]
    assert (forecasts[0] != forecasts[1]).all()


@pytest.mark.slow
def test_an_average_that_keeps_nothing_is_the_last_weights(plain: Forecaster, make_table) -> None:
    forgetful = Forecaster(**OPTIONS, weight_averaging="ema", averaging_decay=0.0).fit(make_table())
    for name, value in weights_of(plain).items():
        np.testing.assert_array_equal(weights_of(forgetful)[name], value)


@pytest.mark.slow
def test_every_member_of_an_ensemble_is_averaged(averaged: Forecaster, make_table) -> None:
    ensemble = Forecaster(**OPTIONS, weight_averaging="ema", ensemble=2).fit(make_table())
    first = ensemble.run_path / "members" / "0" / "model.safetensors"
    assert first.read_bytes() == (averaged.run_path / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_refits_average_too(plain: Forecaster, averaged: Forecaster, make_table, tmp_path) -> None:
    """A refit of large steps moves the averaged weights less than the weights themselves, and repeats."""
    table, options = make_table(), {"cutoffs": 1, "refit": 1, "refit_learning_rate": 0.05, "baselines": ()}

    def moved(forecaster: Forecaster, name: str) -> pd.Series:
        before = forecaster.backtest(table, cutoffs=1, baselines=(), out=tmp_path / "never.parquet").frame
        return (forecaster.backtest(table, **options, out=tmp_path / name).frame - before[["prediction"]])["prediction"]

    first, again = moved(averaged, "1.parquet"), moved(averaged, "2.parquet")
    assert first.tolist() == again.tolist()
    assert first.abs().max() > 0
    assert first.tolist() != moved(plain, "3.parquet").tolist()


def test_a_decay_without_an_average_is_refused() -> None:
    with pytest.raises(ConfigError, match="--averaging-decay needs an average") as refused:
        RunConfig.from_options({"averaging_decay": 0.9})
    assert refused.value.hint == "add --weight-averaging ema"
    with pytest.raises(ConfigError, match=r"must be between 0 and 0\.999999; got 1"):
        RunConfig.from_options({"weight_averaging": "ema", "averaging_decay": 1})
