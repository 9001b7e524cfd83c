"""Object stores on this machine, each a server of its own: S3 as moto makes it, and an emulator of Google's store.

`make test-services` installs both, with s3fs and gcsfs; skipped where they are not installed.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
import pytest

from .shops import shops
from .training.test_process_group import free_port

# Warnings of the stores' packages are about them.
pytestmark = [pytest.mark.integration, pytest.mark.services, pytest.mark.filterwarnings("ignore")]

PATIENCE = 120
"""Seconds that a server may take to start; a machine may be busy."""
SMALL = [
    *("--target", "sold", "--time", "day", "--id", "shop"),
    *("--lookback", "8", "--horizon", "3", "--hidden-size", "4", "--max-epochs", "1", "--epoch-windows", "32"),
    *("--validation-windows", "16", "--combination", "none", "--final-fit", "none"),
    *("--accelerator", "cpu", "--seed", "1"),
]


@contextmanager
def serving(words: list[str], port: int, log: Path) -> Iterator[None]:
    """A server in a process of its own, from when it listens on."""
    with log.open("w") as stream:
        process = subprocess.Popen([sys.executable, *words], stdout=stream, stderr=stream)
    try:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert process.poll() is None and time.monotonic() < end, log.read_text()
                time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`s3` or `gs`: a store with an empty bucket `shop`, which this process and those it starts find by themselves."""
    folder, port = tmp_path_factory.mktemp("store"), free_port()
    address = f"http://127.0.0.1:{port}"
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "s3":
            pytest.importorskip("moto", reason="moto is not installed: make test-services")
            pytest.importorskip("s3fs", reason="s3fs is not installed: make test-services")
            words = ["-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
            names = {"ACCESS_KEY_ID": "somebody", "SECRET_ACCESS_KEY": "secret", "DEFAULT_REGION": "us-east-1"}
            for name, value in {**names, "ENDPOINT_URL": address}.items():
                patch.setenv(f"AWS_{name}", value)
        else:
            pytest.importorskip("gcp_storage_emulator", reason="no emulator of gs:// is installed: make test-services")
            pytest.importorskip("gcsfs", reason="gcsfs is not installed: make test-services")
            words = ["-m", "gcp_storage_emulator", "start", "--host", "127.0.0.1", "--port", str(port), "--in-memory"]
            patch.setenv("STORAGE_EMULATOR_HOST", address)
            patch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # asks a server that the emulator has not
        with serving(words, port, folder / "log"):
            fsspec.filesystem(request.param).mkdir("shop")
            yield str(request.param)
        fsspec.filesystem(request.param).clear_instance_cache()


@pytest.fixture(scope="module")
def tables(store: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in three files, here and in the store."""
    folder, files = tmp_path_factory.mktemp("tables"), fsspec.filesystem(store)
    (folder / "sales").mkdir()
    for number in range(3):
        shops(number, [f"s{number}-{shop}" for shop in range(4)]).to_parquet(
            folder / "sales" / f"{number}.parquet", index=False
        )
        files.put_file(str(folder / "sales" / f"{number}.parquet"), f"shop/sales/{number}.parquet")
    return folder


def content(store: str, folder: str) -> dict[str, bytes]:
    """Files of a folder of the bucket."""
    files = fsspec.filesystem(store)
    files.invalidate_cache()
    return {path.rpartition("/")[2]: files.cat_file(path) for path in files.find(f"shop/{folder}")}


@pytest.mark.parametrize("store", ["s3", "gs"], indirect=True, scope="module")
def test_every_command_reads_a_store_and_predict_writes_there(
    store: str, tables: Path, here: Path, forecast: Callable[..., Any], files_in: Callable[..., dict[str, bytes]]
) -> None:
    def both(*words: str) -> None:
        """Give a command the table of the store and the one of this disk."""
        for name, table in (("remote", f"{store}://shop/sales/*.parquet"), ("local", str(tables / "sales"))):
            done = forecast(*(word.format(table=table, name=name) for word in words))
            assert done.code == 0, done.err

    both("train", "{table}", *SMALL, "--out", "{name}")
    both("backtest", "local", "--data", "{table}", "--cutoffs", "3", "--out", "{name}.csv")
    assert Path("remote.csv").read_bytes() == Path("local.csv").read_bytes()
    both("evaluate", "local.csv", "--actuals", "{table}", *SMALL[:6], "--out", "{name}-scores.csv")
    assert Path("remote-scores.csv").read_bytes() == Path("local-scores.csv").read_bytes()
    both("compare", "{table}", "--attention", "none,luong-general", "--seeds", "1", *SMALL[:-2], "--out", "{name}-two")
    for run in ("none-seed0", "luong-general-seed0"):
        assert (Path("remote-two") / run / "model.safetensors").read_bytes() == (
            Path("local-two") / run / "model.safetensors"
        ).read_bytes()
    words = ["predict", "local", "--partitioned", "--quiet"]
    done = forecast(
        *words, "--data", f"{store}://shop/sales", "--out", f"{store}://shop/f", "--attention-out", f"{store}://shop/w"
    )
    assert done.code == 0, done.err
    assert forecast(*words, "--data", tables / "sales", "--out", "f", "--attention-out", "w").code == 0
    for folder in ("f", "w"):
        assert content(store, folder) == {**files_in(folder), "_SUCCESS": b""}
    done = forecast(*words, "--data", f"{store}://shop/sales", "--out", f"{store}://shop/f")
    assert (done.code, done.error) == (1, f"'{store}://shop/f' exists already")
    done = forecast("train", f"{store}://no-such-bucket/sales/*.parquet", *SMALL)
    assert done.code == 1 and done.hint, done.err
