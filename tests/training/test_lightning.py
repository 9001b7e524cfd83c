"""Lightning is imported without what it does not need."""

import gc
import importlib
import sys

import pytest

from forecast_attn.training import lightning
from forecast_attn.training.lightning import importing_less


def test_scipy_signal_stays_out_while_lightning_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torchmetrics", raising=False)
    monkeypatch.delitem(sys.modules, "scipy.signal", raising=False)
    with importing_less():
        assert not gc.isenabled()
        signal = importlib.import_module("scipy.signal")
        assert hasattr(signal, "hamming")  # what torchmetrics looks for
        assert not hasattr(signal, "__file__")
    assert gc.isenabled()
    assert "scipy.signal" not in sys.modules


def test_whoever_needs_more_of_scipy_signal_gets_the_real_one(monkeypatch: pytest.MonkeyPatch) -> None:
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
