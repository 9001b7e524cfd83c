"""Lightning and the optimiser are loaded without what training does not need, which works where somebody needs it."""

import copy
import gc
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from forecast_attn.training import lightning
from forecast_attn.training.lightning import AdamW, importing_less

TRAINING = """
import sys
import numpy as np, pandas as pd
from forecast_attn import Forecaster
table = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=60), "target": np.arange(60.0) % 7})
shared = dict(lookback=14, horizon=3, hidden_size=4, max_epochs=1, combination="none", final_fit="none")
Forecaster(**shared, accelerator="cpu", schedule="one-cycle", gradient_clip=1.0).fit(table)
print(*sys.modules)

import torch, torchmetrics, lightning_fabric.wrappers
import matplotlib
matplotlib.use("Agg")
layer = torch.nn.Linear(2, 2)
assert not lightning_fabric.wrappers.is_wrapped(layer)
assert lightning_fabric.wrappers._unwrap_compiled(torch.compile(layer))[0] is layer
metric = torchmetrics.MeanMetric()
metric.update(3.0)
figure, axes = metric.plot()
assert isinstance(axes, torchmetrics.utilities.plot._AX_TYPE)
assert isinstance(figure, matplotlib.figure.Figure)
assert torchmetrics.functional.text.bert.AutoModel.from_pretrained("name") == "name of AutoModel"
"""

TRANSFORMERS = """
import importlib.util
assert importlib.util.find_spec("matplotlib") is not None  # the real package asks this while it is imported

class AutoTokenizer:
    @classmethod
    def from_pretrained(cls, name):
        return f"{name} of {cls.__name__}"

class AutoModel(AutoTokenizer):
    pass
"""


@pytest.mark.slow
def test_a_training_loads_no_compiler_no_plots_and_no_language_models_and_all_work_after_it(
    process_environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "transformers.py").write_text(TRANSFORMERS)
    (tmp_path / "transformers-4.57.0.dist-info").mkdir()
    (tmp_path / "transformers-4.57.0.dist-info" / "METADATA").write_text("Name: transformers\nVersion: 4.57.0\n")
    path = os.pathsep.join([str(tmp_path), process_environment["PYTHONPATH"]])
    words = [sys.executable, "-c", TRAINING]
    done = subprocess.run(words, capture_output=True, text=True, env={**process_environment, "PYTHONPATH": path})
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {"pytorch_lightning", "torchmetrics"} <= loaded
    assert not loaded & {"torch._dynamo", "torch._inductor", "sympy", "matplotlib", "scipy.signal", "transformers"}


def test_the_optimiser_takes_the_steps_of_torchs_own() -> None:
    weights = [torch.nn.Parameter(torch.arange(6.0) / 7) for _ in range(2)]
    actual, expected = (
        kind([weight], lr=0.03, weight_decay=0.01)
        for kind, weight in zip((AdamW, torch.optim.AdamW), weights, strict=True)
    )
    for step in range(6):
        if step == 3:  # as a training that is resumed
            actual.load_state_dict(copy.deepcopy(expected.state_dict()))
        for optimiser, weight in zip((actual, expected), weights, strict=True):
            optimiser.zero_grad()
            assert weight.grad is None
            (weight.sin() * weight).sum().backward()
            optimiser.step()
        assert torch.equal(*weights)
    assert str(actual.state_dict()) == str(expected.state_dict())


def test_stand_ins_are_gone_when_lightning_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torchmetrics", raising=False)
    monkeypatch.delitem(sys.modules, "scipy.signal", raising=False)
    with importing_less():
        assert not gc.isenabled()
        signal = importlib.import_module("scipy.signal")
        assert hasattr(signal, "hamming")  # what torchmetrics looks for
        assert not hasattr(signal, "__file__")
        assert importlib.util.find_spec("scipy.signal") is not None
    assert gc.isenabled()
    assert "scipy.signal" not in sys.modules


def test_whoever_needs_more_of_a_module_gets_the_real_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torchmetrics", raising=False)
    real = importlib.import_module("scipy.signal")
    monkeypatch.delitem(sys.modules, "scipy.signal")
    monkeypatch.setattr(lightning, "import_module", lambda name: real)  # scipy cannot be imported a second time
    with importing_less():
        stand_in = importlib.import_module("scipy.signal")
        assert stand_in is not real
        assert stand_in.medfilt is real.medfilt
        assert "scipy.signal" not in sys.modules, "whoever imports it now gets the real one"


def test_nothing_is_replaced_that_is_loaded_already(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.import_module("scipy.signal")
    with importing_less():
        assert sys.modules["scipy.signal"] is real
    monkeypatch.delitem(sys.modules, "scipy.signal")
    monkeypatch.setitem(sys.modules, "torchmetrics", sys)
    with importing_less():
        assert "scipy.signal" not in sys.modules
