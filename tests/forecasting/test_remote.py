"""Tables and results at URLs: the same bytes as on a disk, and no connection that a user did not ask for."""

from __future__ import annotations

import json
import shutil
import socket
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import fsspec
import pandas as pd
import pytest

from forecast_attn import Forecaster, compare, evaluate, tune
from forecast_attn.data.reading.remote import fetched, remote_parts
from forecast_attn.errors import ConfigError, DataError, RunError
from forecast_attn.urls import url_of, without_secrets

from ..shops import shops

OPTIONS: dict[str, Any] = {
    "target": "sold", "time": "day", "item_id": "shop", "lookback": 8, "horizon": 3, "hidden_size": 4, "max_epochs": 1,
    "epoch_windows": 32, "validation_windows": 16, "accelerator": "cpu", "combination": "none",
}  # fmt: skip


def names(first: int) -> list[str]:
    return [f"s{first + number}" for number in range(3)]


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in two files and in one, here and in a store, and a run trained on the store's."""
    folder = tmp_path_factory.mktemp("remote")
    store = fsspec.filesystem("memory")
    for region in ("north", "south"):
        (folder / "sales" / f"region={region}").mkdir(parents=True)
    for name, first in (("region=north/a.parquet", 0), ("region=south/b.parquet", 3)):
        shops(first, names(first)).to_parquet(folder / "sales" / name, index=False)
        store.put_file(str(folder / "sales" / name), f"/bucket/sales/{name}")
    store.pipe_file("/bucket/sales/_SUCCESS", b"")
    shops(0, names(0)).to_csv(folder / "sales.csv", index=False)
    store.put_file(str(folder / "sales.csv"), "/bucket/sales.csv")
    Forecaster(**OPTIONS, seed=1).fit("memory://bucket/sales.csv", out=folder / "run")
    return folder


@pytest.fixture
def server(bucket: Path) -> Iterator[str]:
    """Address of a web server that hands out the files."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(bucket))) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("s3://bucket/key", "s3://bucket/key"),
        (Path("s3://bucket/key"), "s3://bucket/key"),
        (Path("file:///data/x.csv"), "file:///data/x.csv"),
        ("C:/data/x.csv", None),
        ("data/x.csv", None),
        ("-", None),
        (None, None),
        (pd.DataFrame(), None),
    ],
)
def test_what_is_a_url(name: object, url: str | None) -> None:
    assert url_of(name) == url


def test_a_path_that_is_there_is_no_url(here: Path) -> None:
    Path("s3:/bucket").mkdir(parents=True)
    assert url_of(Path("s3:/bucket")) is None


def test_passwords_and_signatures_are_written_nowhere() -> None:
    assert without_secrets("https://me:secret@host/t.csv?X-Amz-Signature=1") == "https://host/t.csv"


def test_a_run_records_the_url_and_has_the_weights_of_the_file(bucket: Path, tmp_path: Path) -> None:
    Forecaster(**OPTIONS, seed=1).fit(bucket / "sales.csv", out=tmp_path / "run")
    remote, local = ((folder / "run" / "model.safetensors").read_bytes() for folder in (bucket, tmp_path))
    assert remote == local
    files = [json.loads((folder / "run" / "config.json").read_text())["data"] for folder in (bucket, tmp_path)]
    assert files[0]["file"] == "memory://bucket/sales.csv"
    assert files[0]["sha256"] == files[1]["sha256"]


@pytest.mark.parametrize("end", ["sales", "sales/", "sales/**/*.parquet"])
def test_a_folder_and_a_pattern_are_the_table_they_are_on_a_disk(bucket: Path, end: str) -> None:
    forecaster = Forecaster.load(bucket / "run")
    predict = partial(forecaster.predict, cold_start=True, accelerator="cpu")
    pd.testing.assert_frame_equal(predict(f"memory://bucket/{end}").predictions, predict(bucket / "sales").predictions)


def test_parquet_files_in_a_store_count_whatever_their_names_end_in(bucket: Path) -> None:
    store = fsspec.filesystem("memory")
    for name in ("region=a/part-0001", "region=b/x.PARQUET"):
        store.put_file(str(bucket / "sales" / "region=north" / "a.parquet"), f"/lake/{name}")
    store.pipe_file("/lake/region=a_$folder$", b"")
    store.pipe_file("/lake/README.md", b"# Sales")
    assert [part.name for part in remote_parts("memory://lake")] == ["region=a/part-0001", "region=b/x.PARQUET"]
    store.pipe_file("/lake/sales.orc", b"ORC")
    for name in ("memory://lake", "memory://lake/**"):
        with pytest.raises(DataError, match=r"has 'sales\.orc' beside its Parquet files"):
            remote_parts(name)


def test_a_table_comes_from_a_web_server(bucket: Path, server: str, forecast: Any, here: Path) -> None:
    done = forecast("predict", bucket / "run", "--data", f"{server}/sales.csv", "--out", "f.csv", "--quiet")
    assert done.code == 0, done.err
    Forecaster.load(bucket / "run").predict(bucket / "sales.csv", out="g.csv")
    assert Path("f.csv").read_bytes() == Path("g.csv").read_bytes()
    with pytest.raises(DataError, match=r"there is no file 'http://.*/no\.csv'"):
        fetched(f"{server}/no.csv")


@pytest.mark.slow
def test_a_backtest_a_comparison_and_scores_are_those_of_the_table_on_a_disk(bucket: Path, here: Path) -> None:
    forecaster, tables = (
        Forecaster.load(bucket / "run"),
        {"url": "memory://bucket/sales.csv", "disk": bucket / "sales.csv"},
    )
    scores = {}
    for name, table in tables.items():
        forecaster.backtest(table, cutoffs=3, out=f"{name}.csv", accelerator="cpu")
        compare(table, "none,bahdanau", out=name, seeds=1, **OPTIONS)
        scores[name] = evaluate(
            "disk.csv" if Path("disk.csv").exists() else "url.csv", table, time="day", item_id="shop", target="sold"
        ).scores
    assert Path("url.csv").read_bytes() == Path("disk.csv").read_bytes()
    pd.testing.assert_frame_equal(scores["url"], scores["disk"])
    url, disk = (Path(name) / "none-seed0" / "model.safetensors" for name in tables)
    assert url.read_bytes() == disk.read_bytes()


@pytest.mark.slow
def test_a_search_reads_a_url_in_each_of_its_processes(bucket: Path, here: Path) -> None:
    pytest.importorskip("optuna")
    Path("space.toml").write_text("learning_rate = [0.001, 0.01]\n")
    search = tune("file://" + str(bucket / "sales.csv"), trials=2, jobs=2, space="space.toml", storage="s.db",
                 winner=False, **OPTIONS)  # fmt: skip
    assert len(search.leaderboard) == 2


def test_files_at_a_url_are_forecast_into_files_at_a_url(bucket: Path, tmp_path: Path, files_in: Callable) -> None:
    forecaster = Forecaster.load(bucket / "run")
    predict = partial(forecaster.predict_parts, cold_start=True, accelerator="cpu")
    local = predict(bucket / "sales", out=tmp_path / "f", attention_out=tmp_path / "w")
    remote = predict("memory://bucket/sales", out="memory://bucket/f", attention_out="memory://bucket/w")
    store = fsspec.filesystem("memory")
    for folder in ("f", "w"):
        written = {
            path.removeprefix(f"/bucket/{folder}/"): store.cat_file(path) for path in store.find(f"/bucket/{folder}")
        }
        assert written.pop("_SUCCESS") == b""
        assert written == files_in(tmp_path / folder)
    assert remote.out == "memory://bucket/f"
    pd.testing.assert_frame_equal(remote.predictions, local.predictions)
    with pytest.raises(RunError, match="'memory://bucket/f' exists already"):
        predict("memory://bucket/sales", out="memory://bucket/f")


def test_nothing_stays_at_a_url_where_a_file_is_wrong(bucket: Path) -> None:
    store = fsspec.filesystem("memory")
    store.pipe_file("/broken/a.parquet", store.cat_file("/bucket/sales/region=north/a.parquet"))
    store.pipe_file("/broken/b.parquet", store.cat_file("/bucket/sales/region=north/a.parquet")[:500])
    forecaster = Forecaster.load(bucket / "run")
    with pytest.raises(DataError, match=r"'memory:///broken/b.parquet' is a damaged parquet file"):
        forecaster.predict_parts("memory://broken", out="memory://none", cold_start=True, accelerator="cpu")
    assert not store.exists("/none") or not store.find("/none")


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection that nobody asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr("forecast_attn.data.reading.remote._reaching", refuse)


def test_the_url_of_a_run_is_never_read_unasked(
    bucket: Path, here: Path, forecast: Any, without_manifest: Callable, no_network: None
) -> None:
    shutil.copytree(bucket / "run", "run")
    without_manifest(Path("run"))
    config = json.loads(Path("run/config.json").read_text())
    config["data"]["file"] = "http://stranger.example/sales.csv"
    Path("run/config.json").write_text(json.dumps(config))
    assert forecast("predict", "run", "--quiet").code == 0
    for words in (["inspect", "run"], ["info", "run"], ["plot", "run", "--png", "p.png"], ["report", "run", "--html"]):
        assert "connection" not in forecast(*words).err
    for words in (["backtest", "run"], ["audit", "run"]):
        done = forecast(*words)
        assert (done.code, done.error) == (
            1, "'run' was trained with 'http://stranger.example/sales.csv', and a URL is read only where you name it",
        )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train", "nothere://b/x.csv"], "cannot read 'nothere://b/x.csv': Protocol not known: nothere"),
        (["train", "abfs://b/x.csv"], "'abfs://b/x.csv' needs a package that is not installed: Install adlfs"),
        (["train", "memory://no/x.csv"], "there is no file 'memory://no/x.csv'"),
        (["train", "memory://bucket/x.csv", "--out", "s3://b/run"], "'s3://b/run' is a URL, and a run is a folder"),
        (
            ["compare", "memory://b/x.csv", "--attention", "none,bahdanau"],
            "there is no file 'memory://b/x.csv'",
        ),
    ],
)
def test_what_cannot_be_read_is_said(here: Path, forecast: Any, words: list[str], message: str) -> None:
    done = forecast(*words)
    assert done.error.startswith(message)
    assert done.hint
    assert done.code in (1, 2)
    assert not list(here.iterdir())


def test_folders_and_results_that_cannot_be_at_a_url_are_said(bucket: Path) -> None:
    with pytest.raises(DataError, match=r"'memory://bucket' has '.*sales\.csv' beside its Parquet files"):
        remote_parts("memory://bucket")
    with pytest.raises(ConfigError, match=r"cannot write 'memory://b/f\.csv': not to a URL"):
        Forecaster.load(bucket / "run").predict(out="memory://b/f.csv")
    with pytest.raises(DataError, match=r"'memory://bucket/sales\.csv' is a URL, which is not read here"):
        Forecaster.load(bucket / "run").audit("memory://bucket/sales.csv")
    with pytest.raises(ConfigError, match="a web server takes no files"):
        Forecaster.load(bucket / "run").predict_parts(bucket / "sales", out="https://host/f", cold_start=True)
