"""A real Ray of two workers on this machine, started once. Skipped where Ray is not installed."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from forecast_attn import compare, tune
from forecast_attn.cluster import NO_WARNING, RETRIES, Cluster
from forecast_attn.config.requests import ENGINES
from forecast_attn.errors import DataError, RunError
from forecast_attn.forecaster import Forecaster

from .shops import shops

pytest.importorskip("ray", reason="Ray is not installed: make test-services")
# Ray's own warnings are about Ray.
pytestmark = [pytest.mark.integration, pytest.mark.services, pytest.mark.filterwarnings("ignore")]

PATIENCE = {"RAY_gcs_server_port_wait_time_s": "300", "RAY_worker_register_timeout_seconds": "300"}
"""Seconds that Ray waits for its own processes; a machine may be busy."""
FILES = 6
OPTIONS: dict[str, Any] = {
    "target": "sold", "time": "day", "item_id": "shop", "lookback": 8, "horizon": 3, "hidden_size": 4,
    "max_epochs": 1, "epoch_windows": 32, "validation_windows": 16, "accelerator": "cpu",
}  # fmt: skip


def names(number: int) -> list[str]:
    return [f"s{number}-{index:03}" for index in range(120)]


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("RAY_USAGE_STATS_ENABLED", "0"), NO_WARNING, *PATIENCE.items()):
            patch.setenv(name, value)
        import ray

        begin(ray)
        yield ray
        ray.shutdown()
        gc.collect()  # here, where nobody minds that Ray does not wait for the end of its processes


def begin(ray: Any) -> None:
    """Start Ray, again where the machine is so busy that parts of Ray give each other up: no setting has them wait."""
    for attempt in range(4):
        try:
            ray.init(
                address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=2**27
            )
        except Exception:
            ray.shutdown()
            if attempt == 3:
                raise
        else:
            return


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in several files, and a run trained on one of them."""
    folder = tmp_path_factory.mktemp("ray")
    (folder / "table").mkdir()
    for number in range(FILES):
        shops(number, names(number)).to_parquet(folder / "table" / f"{number}.parquet", index=False)
    Forecaster(**OPTIONS, seed=1, quantiles=[0.1, 0.5, 0.9]).fit(shops(0, names(0)), out=folder / "run")
    return folder


def predicted(folder: Path, engine: str) -> tuple[bytes, bytes]:
    out, weights = folder / f"{engine}.csv", folder / f"{engine}.parquet"
    Forecaster.load(folder / "run").predict(
        folder / "table", cold_start=True, engine=engine, out=out, attention_out=weights, accelerator="cpu"
    )
    return out.read_bytes(), weights.read_bytes()


def test_one_table_has_the_bytes_of_one_process(two_workers: Any, folder: Path) -> None:
    assert predicted(folder, "local") == predicted(folder, "ray")


def test_files_have_the_bytes_of_one_process_though_a_worker_is_killed(
    two_workers: Any, folder: Path, files_in: Any
) -> None:
    # As the workers name themselves: Ray's own agents are called ray::… too, and without one the whole node ends, this
    # process included.
    workers = set(Cluster(two_workers, use_gpu=False).in_order(number_of_process, 0.2, range(8)))
    killed: list[int] = []

    def kill_one(_: object) -> None:
        for worker in sorted(workers, key=is_at_work, reverse=True):
            with contextlib.suppress(ProcessLookupError):  # Ray ends workers that it does not need
                if not killed:
                    os.kill(worker, signal.SIGKILL)
                    killed.append(worker)

    options = {"cold_start": True, "accelerator": "cpu"}
    forecaster = Forecaster.load(folder / "run")
    for engine, listener in (("local", None), ("ray", kill_one)):
        out, weights = folder / f"{engine}-out", folder / f"{engine}-weights"
        result = forecaster.predict_parts(
            folder / "table", out=out, attention_out=weights, engine=engine, on_part=listener, **options
        )
        assert (result.series, len(result.parts)) == (120 * FILES, FILES)
    assert killed
    for kind in ("out", "weights"):
        assert files_in(folder / f"ray-{kind}") == files_in(folder / f"local-{kind}")


def test_files_at_urls_have_the_bytes_of_one_process(two_workers: Any, folder: Path, files_in: Any) -> None:
    """Each worker reads and writes its files at the URL; memory:// would be another memory in every process."""
    forecaster, table = Forecaster.load(folder / "run"), (folder / "table").as_uri()
    for engine in ("local", "ray"):
        out, weights = folder / f"{engine}-url", folder / f"{engine}-url-weights"
        result = forecaster.predict_parts(
            table,
            out=out.as_uri(),
            attention_out=weights.as_uri(),
            engine=engine,
            cold_start=True,
            accelerator="cpu",
        )
        assert (result.series, len(result.parts)) == (120 * FILES, FILES)
    for kind in ("url", "url-weights"):
        files = files_in(folder / f"ray-{kind}")
        assert files == files_in(folder / f"local-{kind}")
        assert len(files) == FILES + 1  # and _SUCCESS


def number_of_process(wait: float, _: int) -> int:
    time.sleep(wait)
    return os.getpid()


def is_at_work(process: int) -> bool:
    """Tell by a worker's title, which Ray changes with its task."""
    try:
        return not Path(f"/proc/{process}/cmdline").read_text().startswith("ray::IDLE")
    except OSError:
        return False


def test_a_task_whose_process_dies_is_done_again(two_workers: Any, tmp_path: Path) -> None:
    def twice(folder: str, number: int) -> int:
        mark = Path(folder) / str(number)
        if number == 3 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 2 * number

    cluster = Cluster(two_workers, use_gpu=False)
    assert list(cluster.in_order(twice, str(tmp_path), range(8))) == [2 * number for number in range(8)]
    assert (tmp_path / "3").exists()


def test_a_task_that_always_kills_its_process_ends_the_work(two_workers: Any, tmp_path: Path) -> None:
    def deadly(folder: str, number: int) -> None:
        if number == 1:
            with (Path(folder) / "attempts").open("a") as attempts:
                attempts.write("x")
            os.kill(os.getpid(), signal.SIGKILL)

    cluster = Cluster(two_workers, use_gpu=False)
    with pytest.raises(RunError, match=f"a piece of the work died {RETRIES + 1} times"):
        list(cluster.in_order(deadly, str(tmp_path), range(3)))
    assert (tmp_path / "attempts").read_text() == "x" * (RETRIES + 1)


def test_results_come_in_the_order_of_tasks_and_work_ends_where_nobody_asks_for_more(
    two_workers: Any, tmp_path: Path
) -> None:
    def slower_at_first(folder: str, number: int) -> tuple[int, None]:
        (Path(folder) / str(number)).touch()
        time.sleep(1.0 if number % 2 == 0 else 0.1)
        return number, None

    cluster = Cluster(two_workers, use_gpu=False)
    with contextlib.closing(cluster.in_order(slower_at_first, str(tmp_path), range(40))) as results:
        assert [next(results) for _ in range(4)] == [(number, None) for number in range(4)]
    time.sleep(3)
    assert len(list(tmp_path.iterdir())) < 20


def refuse_the_second(_: None, number: int) -> int:
    if number == 1:
        raise DataError("the second piece of work")
    return number


def test_this_process_survives_a_refusal(two_workers: Any) -> None:
    # Ray ended it, once in sixty times, when a task was cancelled whose result had just come.
    cluster = Cluster(two_workers, use_gpu=False)
    for _ in range(60):
        with pytest.raises(DataError, match="the second piece of work"):
            list(cluster.in_order(refuse_the_second, None, range(2)))


def bad_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Files that a run cannot forecast, each with a part of the sentence that says why."""
    good = shops(1, names(1))
    yield "1.parquet' is a damaged parquet file", (folder / "table" / "1.parquet").read_bytes()[:2000]
    yield "has no column 'sold'", good.drop(columns="sold").to_parquet()
    yield "twice, at row", pd.concat([good, good.tail(1)]).to_parquet()
    yield "has too few rows", good.groupby("shop").tail(4).to_parquet()
    yield "not seen in training", good.to_parquet()


def test_what_is_wrong_with_a_file_is_said_as_on_one_machine(two_workers: Any, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    shops(0, names(0)).to_parquet(tmp_path / "t" / "0.parquet", index=False)
    for sentence, content in bad_files(folder):
        (tmp_path / "t" / "1.parquet").write_bytes(content)
        messages = []
        for engine in ("local", "ray"):
            with pytest.raises(DataError) as refused:
                Forecaster.load(folder / "run").predict_parts(tmp_path / "t", out=tmp_path / "out", engine=engine)
            messages.append((refused.value.message, refused.value.hint, refused.value.code))
        assert messages[0] == messages[1]
        assert sentence in messages[0][0]
        assert messages[0][2]
        assert sorted(path.name for path in tmp_path.iterdir()) == ["t"]


def test_trainings_of_a_comparison_are_those_of_one_process(
    two_workers: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)  # workers know the folder
    options = {**OPTIONS, "seeds": 1, "combination": "none"}
    for engine in ENGINES:
        compare("table/0.parquet", "none,luong-general", out=f"{engine}-compared", engine=engine, **options)
    for run in ("none-seed0", "luong-general-seed0"):
        local, ray = (folder / f"{engine}-compared" / run / "model.safetensors" for engine in ENGINES)
        assert local.read_bytes() == ray.read_bytes()


def test_a_backtest_has_the_bytes_of_one_process(two_workers: Any, folder: Path) -> None:
    """Windows and baselines are shared out, and the refits too, each of which begins with the weights of the run."""
    options: dict[str, Any] = {
        "cutoffs": 4,
        "refit": "2",
        "refit_from": "run",
        "baselines": "seasonal-naive,theta",
        "accelerator": "cpu",
    }
    for engine in ENGINES:
        Forecaster.load(folder / "run").backtest(
            folder / "table" / "0.parquet", out=folder / f"{engine}-backtest.csv", engine=engine, **options
        )
    local, ray = ((folder / f"{engine}-backtest.csv").read_bytes() for engine in ENGINES)
    assert local == ray
    assert local.count(b"\n") > 120 * 3


def test_a_search_is_done_by_workers_alone_and_finds_what_one_process_finds(
    two_workers: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    optuna = pytest.importorskip("optuna")
    monkeypatch.chdir(folder)
    (folder / "space.toml").write_text("learning_rate = [0.001, 0.01]\n")
    results = {}
    for engine in ENGINES:
        results[engine] = tune(
            "table/0.parquet", trials=4, space="space.toml", storage=f"{engine}.db", out=f"{engine}-tuned",
            engine=engine, **OPTIONS,
        )  # fmt: skip
    local, ray = (folder / f"{engine}-tuned" / "model.safetensors" for engine in ENGINES)
    assert local.read_bytes() == ray.read_bytes()
    assert results["local"].best_value == results["ray"].best_value
    assert {results[engine].leaderboard["learning_rate"].nunique() for engine in ENGINES} == {2}
    trials = optuna.load_study(study_name="forecast-attn", storage="sqlite:///ray.db").trials
    processes = {trial.user_attrs["process"][1] for trial in trials if trial.params}
    assert processes and os.getpid() not in processes
