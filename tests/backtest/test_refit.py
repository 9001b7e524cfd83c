"""Refits: what they may see, that they repeat, what they change; and backtests that are killed in the middle of one."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn import Forecaster
from forecast_attn.backtest.backtest_options import BacktestOptions
from forecast_attn.backtest.backtest_plan import plan_backtest
from forecast_attn.backtest.finished_parts import Parts
from forecast_attn.backtest.job import BacktestListener
from forecast_attn.backtest.refits import Refits
from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.baselines.registry import BaselineSetup, baseline_forecasts
from forecast_attn.config.options import RunConfig
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import read_panel
from forecast_attn.training.refit import panel_until

pytestmark = pytest.mark.slow

FITTED = ["linear", "median-regression"]
BASELINES = ["seasonal-naive", *FITTED]
OPTIONS = {"cutoffs": 6, "stride": 2, "refit": 2, "refit_epochs": 1, "baselines": BASELINES}
"""Cut-offs on rows 96, 98, … 106 of 110; refits at the first, third and fifth."""


@pytest.mark.parametrize(("origin", "weights"), [("last", {"network": 0.2, "linear": 0.8}), ("run", {"network": 1.0})])
def test_a_refit_that_was_no_better_has_the_weights_of_the_model_it_began_with(
    origin: str, weights: dict[str, float], tmp_path: Path
) -> None:
    parts = Parts(tmp_path / "bt.parquet", {})
    first = Combination({"network": 0.2, "linear": 0.8}, {"a": {"linear": 1.0}})
    parts.combination(1).write_text(json.dumps(first.to_dict()))  # the second refit wrote none
    options = SimpleNamespace(refits=SimpleNamespace(origin=origin))
    job: Any = SimpleNamespace(model=None, start=None, combination=Combination({"network": 1.0}), options=options)
    refits = Refits(job, parts, BacktestListener())
    assert refits.combination_of(1) == first
    assert refits.combination_of(2).weights == weights


def backtest(run: Path, data: pd.DataFrame, out: Path, **options: object) -> pd.DataFrame:
    keywords = {**OPTIONS, **options}
    return Forecaster.load(run).backtest(data, out=out, **keywords).frame  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def expected(shop_run: Path, sales: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an uninterrupted backtest with three refits."""
    out = tmp_path_factory.mktemp("refit") / "bt.parquet"
    backtest(shop_run, sales, out)
    return out


def test_nothing_after_a_cutoff_changes_a_forecast_from_it(
    shop_run: Path, sales: pd.DataFrame, expected: Path, tmp_path: Path
) -> None:
    before = pd.read_parquet(expected)
    cutoff = np.sort(before["cutoff"].unique())[2]  # of the second refit
    late = sales["day"] > cutoff
    changed = sales.assign(sales=sales["sales"].where(~late, sales["sales"] * -3 + 50))
    frame = backtest(shop_run, changed, tmp_path / "bt.parquet")
    seen = frame["cutoff"] <= cutoff
    assert frame.loc[seen, "cutoff"].nunique() == 3
    forecasts = ["item_id", "cutoff", "timestamp", "model", "prediction", "0.1", "0.5", "0.9"]
    pd.testing.assert_frame_equal(frame.loc[seen, forecasts], before.loc[seen, forecasts], check_exact=True)
    rows = (frame["cutoff"] > cutoff) & frame["model"].isin(["run", *FITTED])
    assert (frame.loc[rows, "prediction"] != before.loc[rows, "prediction"]).all()


def test_a_value_before_a_refit_changes_it(shop_run: Path, sales: pd.DataFrame, expected: Path, tmp_path: Path) -> None:
    """A value that only training can see: 30 rows before the cut-offs, in no lookback."""
    before = pd.read_parquet(expected)
    old = (sales["shop"] == "north") & (sales["day"] == "2024-02-25")
    frame = backtest(shop_run, sales.assign(sales=sales["sales"].mask(old, 30.0)), tmp_path / "bt.parquet")
    rows = (frame["model"] == "run") | (frame["model"].isin(FITTED) & (frame["item_id"] == "north"))
    assert (
        frame.loc[rows, "prediction"] != before.loc[rows, "prediction"]
    ).mean() > 0.99  # a bound or a median may hold
    rows |= frame["model"].isin(FITTED)
    assert (frame.loc[~rows, "prediction"] == before.loc[~rows, "prediction"]).all()


@pytest.mark.parametrize("name", FITTED)
def test_what_is_fitted_is_estimated_when_the_network_is(
    name: str, shop_run: Path, sales: pd.DataFrame, expected: Path
) -> None:
    options = BacktestOptions(cutoffs=6, stride="2", refit="2", refit_epochs=1, baselines=tuple(BASELINES))
    planned = plan_backtest(RunDir(shop_run), sales, options)
    values = pd.read_parquet(expected).query("model == @name")["prediction"].to_numpy().reshape(-1, 3)
    assert len({fold.model for fold in planned.folds.folds}) == 3
    once = baseline_forecasts(
        name, planned.panel, planned.folds.windows, BaselineSetup.of(planned.model.schema, planned.trained_until)
    )
    assert (values != once).mean() > 0.9
    for first in (0, 2, 4):
        windows = slice(planned.folds.starts[first], planned.folds.starts[first + 2])
        setup = BaselineSetup.of(planned.model.schema, planned.folds.folds[first].cutoff)
        of_fold = baseline_forecasts(name, planned.panel, planned.folds.windows[windows], setup)
        np.testing.assert_array_equal(values[windows], of_fold)


def test_what_is_fitted_sees_nothing_drawn_from_later_values(sales: pd.DataFrame, tmp_path: Path) -> None:
    """A hole across a refit's cut-off, interpolated: the south shares the weights of `linear` with the north."""
    options = {
        "lookback": 14,
        "horizon": 3,
        "hidden_size": 4,
        "max_epochs": 1,
        "combination": "none",
        "epoch_windows": 16,
        "validation": 40,
    }
    options |= {"future_covariates": "promotion", "target": "sales", "item_id": "shop", "missing": "interpolate"}
    forecaster = Forecaster(**options, seed=1, accelerator="cpu").fit(sales, out=tmp_path / "run")
    day = pd.Timestamp("2024-04-06")  # row 96, the cut-off of the first refit
    north = sales["shop"] == "north"
    holed = sales.assign(sales=sales["sales"].mask(north & sales["day"].between(day - pd.Timedelta("2D"), day)))
    after = north & (sales["day"] == day + pd.Timedelta("1D"))
    forecasts = [
        forecaster.backtest(table, **{**OPTIONS, "baselines": FITTED[:1]}, out=tmp_path / "bt.parquet").frame
        for table in (holed, holed.assign(sales=holed["sales"].mask(after, 90.0)))
    ]
    first, second = (
        each.query("model == 'linear' and item_id == 'south' and cutoff < '2024-04-10'")["prediction"]
        for each in forecasts
    )
    assert len(first) == 2 * 3
    np.testing.assert_array_equal(first, second)


def test_refits_repeat_and_differ_from_the_run(
    shop_run: Path, sales: pd.DataFrame, expected: Path, tmp_path: Path
) -> None:
    backtest(shop_run, sales, tmp_path / "again.parquet", attention_out=tmp_path / "attention.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == expected.read_bytes()
    never = backtest(shop_run, sales, tmp_path / "never.parquet", refit="never", refit_epochs=None)
    before = pd.read_parquet(expected)
    rows = before["model"] == "run"
    assert (never.loc[rows, "prediction"] != before.loc[rows, "prediction"]).all()
    with_refits, without = before[rows], never[never["model"] == "run"]
    assert not np.allclose(with_refits["prediction"], without["prediction"], rtol=1e-4)
    folds = json.loads(expected.with_suffix(".json").read_text())["folds"]
    assert [fold["model"] for fold in folds] == [1, 1, 2, 2, 3, 3]
    assert [fold["trained_until"] for fold in folds] == [folds[index]["cutoff"] for index in (0, 0, 2, 2, 4, 4)]


def test_a_refit_goes_on_from_the_one_before(
    shop_run: Path, sales: pd.DataFrame, expected: Path, tmp_path: Path
) -> None:
    """The second model of two refits is not the first model of a backtest that begins there."""
    chained = pd.read_parquet(expected)
    alone = backtest(shop_run, sales, tmp_path / "alone.parquet", cutoffs=4)
    shared = chained.merge(alone, on=["model", "item_id", "cutoff", "step"])
    rows = shared[shared["model"] == "run"]
    assert len(rows)
    assert (rows["prediction_x"] != rows["prediction_y"]).all()


@pytest.mark.parametrize("origin", ["last", "run"])
def test_processes_write_the_same_bytes(
    origin: str, shop_run: Path, sales: pd.DataFrame, expected: Path, tmp_path: Path
) -> None:
    listener, alone = RecordingListener(), expected
    if origin == "run":
        alone = tmp_path / "alone.parquet"
        backtest(shop_run, sales, alone, refit_from=origin)
    (tmp_path / "shared").mkdir()
    shared = tmp_path / "shared" / alone.name
    backtest(shop_run, sales, shared, refit_from=origin, jobs=2, listener=listener)
    assert listener.refits == 0  # all were done elsewhere
    for suffix in (".parquet", ".json"):
        assert shared.with_suffix(suffix).read_bytes() == alone.with_suffix(suffix).read_bytes()


def test_the_rows_up_to_a_stamp_hold_nothing_drawn_from_later_ones() -> None:
    days = pd.date_range("2024-01-01", periods=30)
    table = pd.DataFrame({"day": days, "y": np.arange(30.0) ** 2, "x": 1.0})
    table.loc[9:11, "y"] = np.nan
    config = RunConfig.from_options({"target": "y", "missing": "interpolate"})
    panel, _ = read_panel(table, config)
    known = panel_until(panel, days[10].to_datetime64())
    assert known.num_rows == known.num_known.sum() == 11
    assert known.target.tolist() == [*(np.arange(9.0) ** 2), 64.0, 64.0]
    changed, _ = read_panel(table.assign(y=table["y"].mask(table["day"] > days[11], -5.0)), config)
    assert panel_until(changed, days[10].to_datetime64()).target.tolist() == known.target.tolist()


def test_too_little_to_refit_on_is_said(shop_run: Path, sales: pd.DataFrame, tmp_path: Path) -> None:
    from forecast_attn.errors import DataError

    with pytest.raises(DataError, match="no window to train on up to 2024-01-15"):
        Forecaster.load(shop_run).backtest(sales, start="2024-01-16", refit="every", out=tmp_path / "bt.parquet")


# --------------------------------------------------------------------------- killed

KILLED = """
import json, os, signal, sys
from pathlib import Path
import pandas as pd
sys.path.insert(0, {tests!r})
from forecast_attn import Forecaster
from forecast_attn.backtest.finished_parts import Parts
from forecast_attn.backtest.job import BacktestListener

class Killer(BacktestListener):
    refits = 0
    def refitting(self, number, cutoff):
        self.refits = number
    def epoch_done(self, record):
        if self.refits == 2:
            os.kill(os.getpid(), signal.SIGKILL)

sales = pd.read_csv({table!r}, parse_dates=["day"])
Forecaster.load({run!r}).backtest(sales, out={out!r}, listener=Killer(), **json.loads({options!r}))
"""


class RecordingListener(BacktestListener):
    """What a resumed backtest said, and how many refits it did."""

    def __init__(self) -> None:
        self.resumed_parts, self.refits, self.other = 0, 0, ""

    def resumed(self, parts: int) -> None:
        self.resumed_parts = parts

    def refitting(self, number: int, cutoff: object) -> None:
        self.refits += 1

    def restarted(self, changed: str) -> None:
        self.other = changed


@pytest.fixture(scope="module")
def killed_once(shop_run: Path, tmp_path_factory: pytest.TempPathFactory, process_environment: dict[str, str]) -> Path:
    """A folder in which a process was killed in the middle of its second refit."""
    folder = tmp_path_factory.mktemp("killed")
    out = folder / "bt.parquet"
    names = {"tests": str(Path(__file__).parent), "table": str(shop_run.parent / "sales.csv"), "run": str(shop_run)}
    code = KILLED.format(**names, out=str(out), options=json.dumps(OPTIONS))
    done = subprocess.run([sys.executable, "-c", code], env=process_environment, capture_output=True, timeout=600)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert [path.name for path in folder.iterdir()] == [".bt.parquet.parts"]
    return folder


@pytest.fixture
def killed(killed_once: Path, tmp_path: Path) -> Path:
    """The file that such a process was to write."""
    shutil.copytree(killed_once, tmp_path / "copy")
    return tmp_path / "copy" / "bt.parquet"


def test_killed_and_run_again_it_gives_the_same_bytes(
    killed: Path, shop_run: Path, sales: pd.DataFrame, expected: Path
) -> None:
    listener = RecordingListener()
    backtest(shop_run, sales, killed, listener=listener)
    assert listener.resumed_parts == 1
    assert listener.refits == 2  # the second again, and the third
    assert killed.read_bytes() == expected.read_bytes()
    assert killed.with_suffix(".json").read_bytes() == expected.with_suffix(".json").read_bytes()
    assert sorted(path.name for path in killed.parent.iterdir()) == ["bt.json", "bt.parquet"]


def test_another_option_or_another_value_begins_afresh(
    killed: Path, shop_run: Path, sales: pd.DataFrame, expected: Path
) -> None:
    listener = RecordingListener()
    with pytest.raises(KeyboardInterrupt):
        backtest(shop_run, sales, killed, refit_epochs=2, listener=Interrupting(listener))
    assert listener.other == "--refit-epochs"
    listener = RecordingListener()
    other = sales.assign(sales=sales["sales"].where(sales.index != 3, 11.0))
    with pytest.raises(KeyboardInterrupt):
        backtest(shop_run, other, killed, refit_epochs=2, listener=Interrupting(listener))
    assert listener.other == "table"
    listener = RecordingListener()
    backtest(shop_run, sales, killed, listener=listener)
    assert listener.other
    assert listener.refits == 3
    assert killed.read_bytes() == expected.read_bytes()


class Interrupting(BacktestListener):
    """Ctrl-C as soon as something is computed."""

    def __init__(self, listener: RecordingListener) -> None:
        self.restarted = listener.restarted  # type: ignore[method-assign]

    def refitting(self, number: int, cutoff: object) -> None:
        raise KeyboardInterrupt

    def forecasting(self, windows: int, model: int) -> None:
        raise KeyboardInterrupt


def test_ctrl_c_keeps_what_is_finished_and_says_how_to_go_on(
    shop_run: Path, forecast: Callable, here: Path, monkeypatch: pytest.MonkeyPatch, expected: Path
) -> None:
    words = ("backtest", shop_run, "--data", shop_run.parent / "sales.csv", "--out", "bt.parquet", "--cutoffs", 6,
             "--stride", 2, "--refit", 2, "--refit-epochs", 1, "--baselines", ",".join(BASELINES))  # fmt: skip
    from forecast_attn.cli.backtest_display import BacktestDisplay

    def interrupt(self: object, record: object) -> None:
        if Path(".bt.parquet.parts/part-000001.arrow").exists():
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    with monkeypatch.context() as patched:
        patched.setattr(BacktestDisplay, "epoch_done", interrupt)
        stopped = forecast(*words)
    signal.signal(signal.SIGINT, before)
    assert stopped.code == 130
    assert stopped.err.endswith("hint: what is finished is kept; go on with the same command\n")
    assert [path.name for path in here.iterdir()] == [".bt.parquet.parts"]
    whole = forecast(*words)
    assert whole.code == 0, whole.err
    assert "going on: 2 parts of this backtest finished before" in whole.err
    assert "refit 3: rows up to 2024-04-14" in whole.err
    assert "refit 1" not in whole.err.split("going on")[1]
    actual, uninterrupted = pd.read_parquet("bt.parquet"), pd.read_parquet(expected)
    pd.testing.assert_frame_equal(actual, uninterrupted, check_exact=True)
