"""Windows in pieces of work have the bits of one process, whatever is sent where; files are forecast one by one."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forecast_attn.cluster import Cluster
from forecast_attn.data.split import forecast_cutoffs
from forecast_attn.errors import ConfigError
from forecast_attn.forecaster import Forecaster
from forecast_attn.forecasting.engine import RayEngine
from forecast_attn.forecasting.history import future_panel, read_history, table_beside, with_cold_series
from forecast_attn.forecasting.inference import forecast_windows, load_model
from forecast_attn.runs.run_dir import RunDir

pytestmark = pytest.mark.slow

SERIES, ROWS, LOOKBACK = 300, 40, 8


def shops() -> pd.DataFrame:
    """Series that begin on different days, with a covariate, a category, and a size of each."""
    rng = np.random.default_rng(3)
    parts = []
    for number in range(SERIES):
        rows = ROWS - number % 5
        days = pd.date_range("2024-01-01", periods=ROWS, freq="D")[ROWS - rows :]
        sold = 20 + number % 7 + 5 * np.sin(np.arange(rows)) + rng.normal(size=rows)
        parts.append(
            pd.DataFrame(
                {
                    "shop": f"s{number:03}",
                    "day": days,
                    "sold": sold.round(2),
                    "promo": rng.integers(0, 2, rows),
                    "region": "north" if number % 3 else "south",
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trained on a few of the series; the others are cold. Quantiles follow errors."""
    table, out = shops(), tmp_path_factory.mktemp("engines") / "run"
    few = table[table["shop"] < "s012"]
    forecaster = Forecaster(
        target="sold", time="day", item_id="shop", past_covariates=["promo"], static_covariates=["region"],
        lookback=LOOKBACK, horizon=3, hidden_size=4, max_epochs=1, epoch_windows=32, validation_windows=16, seed=1,
        quantiles=[0.1, 0.5, 0.9], calibration="adaptive", combination="none", accelerator="cpu",
    )  # fmt: skip
    forecaster.fit(few, out=out)
    return out


def sent(value: Any) -> Any:
    """What another process would get."""
    return pickle.loads(pickle.dumps(value))


def in_order(function: Any, shared: Any, tasks: Iterable[Any]) -> Iterator[Any]:
    """A cluster of one worker, which gets copies."""
    return (sent(function(*sent((shared, task)))) for task in tasks)


def test_pieces_of_work_have_the_bits_and_batches_of_one_process(run: Path) -> None:
    directory = RunDir(run)
    model = load_model(directory)
    frame = table_beside(shops(), model)
    history = read_history(model, directory, frame, "table", cold_start=True).panel
    model = with_cold_series(model, history)
    panel, _ = future_panel(model, history, None, "")
    cutoffs = forecast_cutoffs(panel, model.schema.lookback, model.schema.horizon)
    here = list(forecast_windows(model, panel, cutoffs))
    engine = RayEngine(in_order, 1, "cpu")
    there = list(engine(model, panel, cutoffs))
    assert len(here) == 3 and len(there) == 3
    for one, other in zip(here, there, strict=True):
        for name, values in one._asdict().items():
            assert values is not None
            np.testing.assert_array_equal(values, getattr(other, name), err_msg=name)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The series in three files, one of them in a folder of its own."""
    table, folder = shops(), tmp_path_factory.mktemp("tables") / "sales"
    (folder / "late").mkdir(parents=True)
    groups = table["shop"].str[1:].astype(int) // 100
    for number, name in enumerate(("a.parquet", "b.parquet", "late/c.parquet")):
        table[groups == number].to_parquet(folder / name, index=False)
    return folder


def test_files_are_forecast_as_tables_of_their_own(run: Path, folder: Path, here: Path, forecast: Any) -> None:
    """The forecasts of the files together are those of the whole table, and each file's weights those of the file."""
    done = forecast(
        "predict", run, "--data", folder, "--cold-start", "--partitioned", "--out", "f", "--attention-out", "w"
    )
    assert done.code == 0, done.err
    assert "300 series, 3 files" in done.out
    assert "late/c.parquet: 100 series, 300 rows" in done.err
    whole = Forecaster.load(run).predict(folder, cold_start=True)
    names = ("a.parquet", "b.parquet", "late/c.parquet")
    parts = pd.concat([pd.read_parquet(Path("f") / name) for name in names], ignore_index=True)
    pd.testing.assert_frame_equal(parts, whole.predictions, check_exact=True, check_dtype=False)
    Forecaster.load(run).predict(folder / "b.parquet", cold_start=True, attention_out="alone.parquet")
    assert Path("w/b.parquet").read_bytes() == Path("alone.parquet").read_bytes()
    assert sorted(path.name for path in here.iterdir()) == ["alone.parquet", "f", "w"]


def test_a_series_in_two_files_and_a_folder_that_exists_are_refused(
    run: Path, folder: Path, here: Path, forecast: Any
) -> None:
    Path("t").mkdir()
    table = shops()
    table[table["shop"] == "s001"].to_parquet("t/1.parquet", index=False)
    table[table["shop"].isin(["s001", "s002"])].to_parquet("t/2.parquet", index=False)
    done = forecast("predict", run, "--data", "t", "--partitioned", "--out", "f")
    assert done.error == "series 's001' is in 2 files: '1.parquet', '2.parquet'"
    assert not Path("f").exists() and not list(here.glob(".*"))
    done = forecast("predict", run, "--data", "t", "--partitioned", "--out", "t")
    assert done.error == "'t' exists already"
    done = forecast("predict", run, "--data", "t/1.parquet", "--partitioned", "--out", "f")
    assert done.error == "'t/1.parquet' is not a table in several Parquet files"
    assert forecast("predict", run, "--partitioned", "--out", "f").hint == "--data FOLDER"
    assert forecast("predict", run, "--data", "t", "--partitioned").hint == "--out FOLDER"


@pytest.mark.parametrize(
    "words",
    [("--samples", 5), ("--samples-out", "s.parquet"), ("--seed", 3), ("--attention-top", 1), ("--attention-members",)],
)
def test_options_that_nothing_would_come_of_are_refused(
    run: Path, folder: Path, here: Path, forecast: Any, words: tuple
) -> None:
    done = forecast("predict", run, "--data", folder, "--cold-start", "--partitioned", "--out", "f", *words)
    assert done.code == 2
    assert words[0][:8] in done.error + done.hint
    assert not Path("f").exists()


def test_ray_is_named_where_it_is_not_installed(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(ConfigError, match="needs the package 'ray'") as refused:
        Forecaster.load(run).predict(engine="ray")
    assert refused.value.hint == 'pip install "forecast-attn[ray]"'


class StandIn:
    """Of the package ray: two tasks, of which the first has ended."""

    def __init__(self) -> None:
        self.cancelled: list[str] = []

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2}

    def nodes(self) -> list[dict[str, bool]]:
        return [{"Alive": True}]

    def wait(self, sent: list[str], num_returns: int, timeout: float) -> tuple[list[str], list[str]]:
        assert num_returns == len(sent)
        return sent[:1], sent[1:]

    def cancel(self, task: str, *, force: bool) -> None:
        self.cancelled.append(task)


@pytest.mark.parametrize(("ends_here", "cancelled"), [(False, ["under way"]), (True, [])])
def test_no_task_that_has_ended_is_cancelled(ends_here: bool, cancelled: list[str]) -> None:
    ray = StandIn()
    Cluster(ray, use_gpu=False, ends_here=ends_here).cancel(["done", "under way"])
    assert ray.cancelled == cancelled
