"""The baseline `chronos`, with models of random weights: the real ones are not downloaded by any test."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from forecast_attn.baselines.chronos import chronos_forecasts
from forecast_attn.baselines.registry import check_baselines, quantile_forecasts
from forecast_attn.errors import ConfigError

from .test_registry import late_cutoffs, panel_of, setup_of

QUANTILES = (0.1, 0.5, 0.9)
LEVELS = [round(0.1 * number, 1) for number in range(1, 10)]
SIZES = {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2}
PATCHES = {"context_length": 64, "input_patch_size": 8, "input_patch_stride": 8, "quantiles": LEVELS}


def with_chronos(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that needs chronos-forecasting; transformers' warnings are about transformers."""
    return pytest.mark.integration(pytest.mark.services(pytest.mark.filterwarnings("ignore")(test)))


@pytest.mark.parametrize("content", [None, "{", "[]", '{"model_type": "t5"}'])
def test_a_folder_without_a_model_is_refused_before_any_work(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "config.json").write_text(content)
        (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(ConfigError, match="does not hold a Chronos model"):
        check_baselines(["chronos"], tmp_path)


def test_the_baseline_needs_a_folder() -> None:
    with pytest.raises(ConfigError, match="needs a folder of weights") as raised:
        check_baselines(["chronos"])
    assert "--chronos-model" in str(raised.value.hint)


@pytest.fixture(scope="module")
def chronos_2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("chronos", reason="chronos-forecasting is not installed: make test-services")
    from chronos.chronos2 import Chronos2Model
    from chronos.chronos2.config import Chronos2CoreConfig

    shape = {**PATCHES, "output_patch_size": 8, "max_output_patches": 8, "use_reg_token": True}
    config = Chronos2CoreConfig(**SIZES, chronos_config={**shape, "use_arcsinh": True, "time_encoding_scale": 64})
    config.architectures, config.chronos_pipeline_class = ["Chronos2Model"], "Chronos2Pipeline"
    return saved(Chronos2Model, config, tmp_path_factory.mktemp("chronos") / "2")


@pytest.fixture(scope="module")
def chronos_bolt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("chronos", reason="chronos-forecasting is not installed: make test-services")
    from chronos.chronos_bolt import ChronosBoltModelForForecasting
    from transformers import T5Config

    config = T5Config(
        **SIZES,
        vocab_size=2,
        pad_token_id=0,
        decoder_start_token_id=0,
        chronos_config={**PATCHES, "prediction_length": 24, "use_reg_token": True},
    )
    config.architectures, config.chronos_pipeline_class = ["ChronosBoltModelForForecasting"], "ChronosBoltPipeline"
    return saved(ChronosBoltModelForForecasting, config, tmp_path_factory.mktemp("chronos") / "bolt")


def saved(kind: Callable[..., torch.nn.Module], config: object, folder: Path) -> Path:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = kind(config)
        for parameter in model.parameters():  # so large that every input moves the forecast
            torch.nn.init.normal_(parameter, std=0.3)
    model.save_pretrained(folder)  # type: ignore[operator]
    return folder


class ChronosPipeline:
    """Draws as the first models do: for a whole batch at once."""

    model_context_length = 64

    def predict_quantiles(
        self, batch: list[torch.Tensor], prediction_length: int, quantile_levels: list[float]
    ) -> tuple[torch.Tensor, None]:
        return torch.rand(len(batch), prediction_length, len(quantile_levels)), None


def test_drawn_paths_of_a_window_depend_on_no_other_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forecast_attn.baselines.chronos.check_chronos", lambda folder: None)
    monkeypatch.setattr("forecast_attn.baselines.chronos._pipeline", lambda folder: ChronosPipeline())
    panel = panel_of()
    setup, cutoffs = setup_of(panel, chronos_model=Path("model")), late_cutoffs(panel)[:3]
    together = chronos_forecasts(panel, cutoffs, setup, QUANTILES)
    for index, cutoff in enumerate(cutoffs):
        np.testing.assert_array_equal(
            chronos_forecasts(panel, np.array([cutoff]), setup, QUANTILES)[0], together[index]
        )


@with_chronos
def test_chronos_2_reads_rows_up_to_the_cutoff_and_what_is_known_ahead(chronos_2: Path) -> None:
    from chronos import BaseChronosPipeline

    panel = panel_of()
    setup, cutoffs = replace(setup_of(panel), chronos_model=chronos_2), late_cutoffs(panel)[:3]
    points, quantiles = quantile_forecasts("chronos", panel, cutoffs, setup, QUANTILES)
    assert quantiles is not None
    pipeline = BaseChronosPipeline.from_pretrained(chronos_2)
    cutoff, wind = int(cutoffs[0]), panel.future_covariates[:, 0].astype(np.float32)
    past, ahead = slice(cutoff + 1 - 64, cutoff + 1), slice(cutoff + 1, cutoff + 25)
    window = {"target": panel.target[past].astype(np.float32)}
    window |= {"past_covariates": {"wind": wind[past]}, "future_covariates": {"wind": wind[ahead]}}
    expected, _ = pipeline.predict_quantiles([window], prediction_length=24, quantile_levels=list(QUANTILES))
    np.testing.assert_allclose(quantiles[0], np.sort(expected[0][0].numpy(), axis=-1), rtol=1e-4)
    np.testing.assert_array_equal(points, quantiles[..., 1])

    target, later = panel.target.copy(), wind.astype(np.float64)[:, None].copy()
    target[cutoff + 1 :] = 0
    np.testing.assert_array_equal(forecast_at(replace(panel, target=target), cutoff, setup), quantiles[0])
    later[cutoff + 25 :] = 9
    np.testing.assert_array_equal(forecast_at(replace(panel, future_covariates=later), cutoff, setup), quantiles[0])
    later[ahead] = 9
    assert not np.allclose(forecast_at(replace(panel, future_covariates=later), cutoff, setup), quantiles[0], rtol=1e-3)


def forecast_at(panel: object, cutoff: int, setup: object) -> np.ndarray:
    return quantile_forecasts("chronos", panel, np.array([cutoff]), setup, QUANTILES)[1][0]  # type: ignore[arg-type,index]


@with_chronos
def test_models_before_chronos_2_read_the_target_alone(chronos_bolt: Path) -> None:
    panel = panel_of()
    target = panel.target.copy()
    target[: panel.starts[1]] = np.nan
    panel, cutoffs = replace(panel, target=target), np.array([panel.starts[1] - 25, late_cutoffs(panel)[-1]])
    setup = replace(setup_of(panel), chronos_model=chronos_bolt)
    points, quantiles = quantile_forecasts("chronos", panel, cutoffs, setup, QUANTILES)
    assert quantiles is not None
    assert np.isnan(points[0]).all() and np.isfinite(quantiles[1]).all()
    assert (np.diff(quantiles[1]) >= 0).all()


@with_chronos
def test_a_backtest_compares_with_chronos(
    forecast: Callable[..., object], write: Callable[..., str], small: tuple[str, ...], chronos_2: Path
) -> None:
    rng, rows = np.random.default_rng(0), 120
    table = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=rows), "target": rng.normal(size=rows)})
    table["weather"] = rng.choice(["rain", "sun"], rows)
    data = write(table, "data.csv")
    assert forecast("train", data, *small, "--quantiles", "0.1,0.9", "--out", "run").code == 0  # type: ignore[attr-defined]
    words = ("backtest", "run", "--cutoffs", "3", "--baselines", "naive", "--chronos-model", chronos_2, "--json")
    outcome = forecast(*words)
    assert outcome.code == 0, outcome.err  # type: ignore[attr-defined]
    models = {row["model"]: row for row in json.loads(outcome.out)["metrics"]}  # type: ignore[attr-defined]
    assert models["chronos"]["mae"] > 0 and models["chronos"]["crps"] > 0
