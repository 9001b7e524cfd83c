"""`forecast serve`: the numbers and the sentences of `forecast predict` over HTTP."""

from __future__ import annotations

import asyncio
import csv
import http.client
import io
import json
import logging
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from forecast_attn import Forecaster
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.forecasting.prediction_table import predictions_csv, with_written_times

from ..forks import Conditions, start_forked

for package in ("fastapi", "uvicorn", "prometheus_client"):
    pytest.importorskip(package, reason="the extra serve is not installed")

JSON, CSV, ARROW = "application/json", "text/csv", "application/vnd.apache.arrow.stream"


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        return dict(self.document["error"])


class Client:
    """Asks a server, each time over a new connection."""

    def __init__(self, port: int) -> None:
        self.port = port

    def __call__(self, path: str, body: Any = None, kind: str = JSON, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        content = json.dumps(body).encode() if isinstance(body, dict | list) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("GET" if body is None else "POST", path, content, {"Content-Type": kind, **named})
        answer = connection.getresponse()
        read = Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        connection.close()
        return read


@contextmanager
def serving(*runs: object, **options: Any) -> Iterator[Client]:
    """A server of these runs in a thread of this process."""
    import uvicorn

    from forecast_attn import create_app

    app = create_app([str(run) for run in runs], **{"reload": 0, **options})
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.005)
    client = Client(server.servers[0].sockets[0].getsockname()[1])
    client.service = app.state.service  # type: ignore[attr-defined]
    try:
        yield client
    finally:
        server.should_exit = True
        thread.join()


def panel_table(names: tuple[str, ...] = ("b", "a", "c"), rows: int = 60) -> pd.DataFrame:
    """Days of some series with a covariate known three days ahead."""
    rng, steps = np.random.default_rng(5), np.arange(rows)
    parts = []
    for number, name in enumerate(names):
        target = 10 * (number + 1) + np.sin(steps * 2 * np.pi / 7) + rng.normal(scale=0.1, size=rows)
        days = pd.date_range("2024-01-01", periods=rows).strftime("%Y-%m-%d")
        part = pd.DataFrame({"shop": name, "date": days, "sales": target.round(3), "offer": rng.normal(size=rows)})
        part.loc[part.index[-3:], "sales"] = np.nan
        parts.append(part)
    return pd.concat(parts, ignore_index=True).round(3)


@pytest.fixture(scope="module")
def panel_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three series with quantiles and a known future."""
    folder = tmp_path_factory.mktemp("served")
    small = {
        "hidden_size": 8,
        "max_epochs": 1,
        "combination": "none",
        "epoch_windows": 16,
        "validation_windows": 8,
        "seed": 1,
    }
    sizes = {"item_id": "shop", "lookback": 14, "horizon": 3, "quantiles": "0.1,0.9", "calendar": "none"}
    forecaster = Forecaster(**sizes, accelerator="cpu", **small)
    panel_table().to_csv(folder / "data.csv", index=False)
    forecaster.fit(folder / "data.csv", out=folder / "shops")
    return folder / "shops"


@pytest.fixture(scope="module")
def ask(panel_run: Path, finished_run: Path) -> Iterator[Client]:
    with serving(panel_run, f"days={finished_run}", max_bytes=100_000) as client:
        yield client


def as_arrow(frame: pd.DataFrame) -> bytes:
    stream, table = io.BytesIO(), pa.Table.from_pandas(frame, preserve_index=False)
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue()


def records_of(predictions: pd.DataFrame) -> list[dict[str, Any]]:
    return with_written_times(predictions).to_dict("records")


@pytest.fixture(scope="module")
def expected(panel_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """`predict` from the table that the requests send."""
    path = tmp_path_factory.mktemp("sent") / "history"
    panel_table().to_csv(path, index=False)
    return Forecaster.load(panel_run).predict(path)


@pytest.mark.slow
def test_every_form_of_a_request_has_the_numbers_of_predict(ask: Client, expected: Any) -> None:
    table = panel_table()
    expected_records = records_of(expected.predictions)
    assert {"0.1", "0.9"} <= set(expected_records[0])
    records = json.loads(table.to_json(orient="records"))
    columns = {name: [record[name] for record in records] for name in table.columns}
    for body in ({"history": records}, {"history": columns}):
        assert ask("/runs/shops/forecast", body).document["predictions"] == expected_records
    past, known = table[table["sales"].notna()], table[table["sales"].isna()].drop(columns="sales")
    apart = {"history": past.to_dict("records"), "future": known.to_dict("records")}
    assert ask("/runs/shops/forecast", apart).document["predictions"] == expected_records
    as_csv = ask("/runs/shops/forecast", table.to_csv(index=False).encode(), CSV, Accept=CSV)
    assert as_csv.body == predictions_csv(expected.predictions).encode()
    assert as_csv.headers["content-type"].startswith(CSV)
    in_arrow = ask("/runs/shops/forecast", as_arrow(table), ARROW, Accept=f"text/html, {ARROW}")
    read = pa.ipc.open_stream(in_arrow.body).read_all().to_pandas()
    assert (read["prediction"] == expected.predictions["prediction"]).all()
    assert (read["timestamp"] == expected.predictions["timestamp"]).all()


def test_one_series_alone_has_the_bits_it_has_among_others(ask: Client, expected: Any) -> None:
    table, expected_records = panel_table(), records_of(expected.predictions)
    for name in ("a", "b", "c"):
        alone = ask("/runs/shops/forecast", table[table["shop"] == name].to_csv(index=False).encode(), CSV)
        assert alone.document["predictions"] == [record for record in expected_records if record["item_id"] == name]


def test_attention_is_returned_when_asked_for(ask: Client, expected: Any) -> None:
    body = panel_table().to_csv(index=False).encode()
    assert "attention" not in ask("/runs/shops/forecast", body, CSV).document
    document = ask("/runs/shops/forecast?attention=true", body, CSV).document
    assert [each["item_id"] for each in document["attention"]] == ["a", "b", "c"]
    assert {each["cutoff"] for each in document["attention"]} == {"2024-02-26"}
    weights = np.array([each["weights"] for each in document["attention"]], np.float32)
    assert np.array_equal(weights[:, 0], expected.attention.weights.reshape(weights[:, 0].shape))


def test_without_a_history_the_end_of_the_training_table_is_forecast(ask: Client, finished_run: Path) -> None:
    expected_records = records_of(Forecaster.load(finished_run).predict().predictions)
    for body in ({}, b""):
        document = ask("/runs/days/forecast", body).document
        assert (document["predictions"], document["run"]) == (expected_records, str(finished_run))


@pytest.mark.parametrize(
    ("body", "kind", "status", "message"),
    [
        (b"{", JSON, 422, "the body is not valid JSON: Expecting property name"),
        (b"[1]", JSON, 422, "the body is not a JSON object"),
        (b"[" * 100_000, JSON, 422, "the body is nested too deeply"),
        (b'{"history": [{"a": NaN}]}', JSON, 422, "NaN is no JSON number"),
        ({"history": 3}, JSON, 422, "'history' is neither a list of records nor an object of columns"),
        ({"history": []}, JSON, 422, "'history' has no rows"),
        ({"history": {"a": [1], "b": []}}, JSON, 422, "'history' has columns of different lengths"),
        ({"history": [{"sales": 1}, {"sales": True}]}, JSON, 422, "column 'sales' has values of several types"),
        ({"history": [{"sales": 10**400}]}, JSON, 422, "column 'sales' has values of several types, or beyond 64 bits"),
        ({"history": [{"sales": {"a": 1}}]}, JSON, 422, "column 'sales'"),
        ({"horizon": 3}, JSON, 400, "there is no option 'horizon'"),
        ({"attention": "yes"}, JSON, 400, "attention must be true or false; got 'yes'"),
        ({"cold_start": "perhaps"}, JSON, 400, "--cold-start must be true or false; got 'perhaps'"),
        (b'{"history": [{"\\ud800": 1}]}', JSON, 422, "the body has a lone surrogate"),
        (b'{"\\ud800": 1}', JSON, 422, "the body has a lone surrogate"),
        (b'{"history": [{"\\ud83d\\ude00": 1}]}', JSON, 422, "no column"),
        ({"combine_with": [1, 2]}, JSON, 400, "--combine-with needs names of baselines; got '1,2'"),
        (b"", CSV, 422, "'history' is empty"),
        (b"", ARROW, 422, "'history' is empty"),
        (b"PAR1 and more", CSV, 422, "the body is parquet, not text as its content type says"),
        (b"\xff\xff\xff\xff and more", ARROW, 422, "'history' is a damaged arrow stream file"),
        (b"x" * 100_001, CSV, 413, "the body is larger than 100,000 bytes"),
        (b"a", "text/html", 415, "content type 'text/html' is not read"),
    ],
)
def test_a_bad_body_is_refused_with_a_sentence(ask: Client, body: Any, kind: str, status: int, message: str) -> None:
    answer = ask("/runs/shops/forecast", body, kind)
    assert answer.status == status, answer.body
    assert message in answer.error["message"]
    assert b"Traceback" not in answer.body


@pytest.mark.parametrize("table", ["history", "future"])
def test_a_table_in_the_address_is_refused(ask: Client, table: str) -> None:
    answer = ask(f"/runs/shops/forecast?{table}=x", b"shop,day,sales\n", CSV)
    assert (answer.status, answer.error["message"]) == (400, f"'{table}' is a table, which belongs in the body")
    assert answer.error["hint"].startswith(f'{{"{table}": [')


def test_a_column_of_nothing_cannot_be_longer_than_a_table_may_be(ask: Client) -> None:
    schema = pa.schema([("sales", pa.null())])
    stream = io.BytesIO()
    with pa.ipc.new_stream(stream, schema) as writer:
        writer.write_batch(pa.record_batch([pa.nulls(6_000_000)], schema=schema))
    assert "more than 5,000,000 rows" in ask("/runs/shops/forecast", stream.getvalue(), ARROW).error["message"]


def test_pages_beside_the_forecasts(ask: Client) -> None:
    assert ask("/health").document == {"status": "ok"}
    assert ask("/ready").document == {"ready": True, "runs": ["shops", "days"]}
    about = ask("/runs").document["shops"]
    assert (about["lookback"], about["horizon"], about["columns"]["future"]) == (14, 3, ["offer"])
    assert ask("/forecast", {}).error["hint"] == "name one: shops, days"
    unknown = ask("/runs/shop/forecast", {})
    assert (unknown.status, unknown.error["hint"]) == (404, "did you mean 'shops'?")
    nowhere = ask("/nowhere")
    assert (nowhere.status, nowhere.error["message"]) == (404, "GET /nowhere: not found")
    assert ask("/health", b"").status == 405
    response = ask("/health", X_Request_Id="mine-1")
    assert response.headers["x-request-id"] == "mine-1"
    assert len(ask("/health", X_Request_Id="not a word").headers["x-request-id"]) == 32


def test_the_examples_of_the_openapi_document_are_what_the_server_reads(ask: Client) -> None:
    route = ask("/openapi.json").document["paths"]["/runs/{name}/forecast"]["post"]
    bodies = route["requestBody"]["content"]
    assert list(bodies) == [JSON, CSV, ARROW]
    for example in bodies[JSON]["examples"].values():
        answer = ask("/runs/days/forecast", example["value"])
        assert answer.status == 200 or "the lookback needs 14, the longest series has 2" in answer.error["message"]
    answer = ask("/runs/days/forecast", bodies[CSV]["example"].encode(), CSV)
    assert "the lookback needs 14, the longest series has 2" in answer.error["message"]
    answers = route["responses"]["200"]["content"]
    real = ask("/runs/days/forecast", {}).document["predictions"][0]
    for example in (answers[JSON]["example"]["predictions"][0], next(csv.DictReader(answers[CSV]["example"].split()))):
        assert (list(example), example["item_id"]) == (list(real), real["item_id"])
    refused = ask("/runs/days/forecast", {}, Accept="text/html").status
    assert refused == 406
    assert str(refused) in route["responses"]


def test_metrics_count_requests_series_and_batches(ask: Client) -> None:
    def value(line: str) -> float:
        lines = ask("/metrics").body.decode().splitlines()
        return next((float(each.rpartition(" ")[2]) for each in lines if each.startswith(line)), 0.0)

    names = ('forecast_requests_total{run="days",status="200"}', 'forecast_series_total{run="days"}')
    before = [value(name) for name in (*names, "forecast_batch_windows_count")]
    ask("/runs/days/forecast", {})
    assert [value(name) for name in (*names, "forecast_batch_windows_count")] == [each + 1 for each in before]
    ask("/runs/never-heard-of/forecast", {})
    assert value('forecast_requests_total{run="",status="404"}') >= 1
    assert "never-heard-of" not in ask("/metrics").body.decode()


def test_a_token_is_needed_for_all_but_the_state(finished_run: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret\n")
    with serving(finished_run, token_file=tmp_path / "token") as ask:
        assert [ask(path).status for path in ("/health", "/ready", "/metrics", "/runs")] == [200, 200, 401, 401]
        refused = ask("/forecast", {}, Authorization="Bearer secre")
        assert (refused.status, refused.error["message"]) == (401, "the token is missing or wrong")
        assert ask("/forecast", {}, Authorization="Bearer secret").status == 200


def test_a_newer_run_of_a_folder_is_served_and_a_damaged_one_is_not(
    finished_run: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.copytree(finished_run, tmp_path / "runs" / "old")
    with serving(f"days={tmp_path / 'runs'}") as ask, caplog.at_level(logging.INFO):
        service = ask.service  # type: ignore[attr-defined]

        def served() -> str:
            service.refresh(service.runs["days"])
            return Path(ask("/forecast", {}).document["run"]).name

        assert served() == "old"
        shutil.copytree(finished_run, tmp_path / "runs" / "new")
        os.utime(tmp_path / "runs" / "new" / "metrics.json", ns=(2**61, 2**61))
        assert served() == "new"
        shutil.copytree(finished_run, tmp_path / "runs" / "newest")
        (tmp_path / "runs" / "newest" / "model.safetensors").write_bytes(b"damaged")
        os.utime(tmp_path / "runs" / "newest" / "metrics.json", ns=(2**62, 2**62))
        assert served() == "new"
        assert 'forecast_reload_failures_total{run="days"} 1.0' in ask("/metrics").body.decode()
    assert [record.message.partition(":")[0] for record in caplog.records if record.levelno == logging.WARNING] == [
        "no newer run"
    ]


async def many(port: int, bodies: list[bytes]) -> list[tuple[int, bytes]]:
    """Send all bodies at once."""

    async def one(body: bytes) -> tuple[int, bytes]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST /forecast HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: {CSV}\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.read()
        writer.close()
        return int(answer.split(b" ", 2)[1]), answer.partition(b"\r\n\r\n")[2]

    return await asyncio.gather(*map(one, bodies))


@pytest.mark.slow
def test_good_and_bad_requests_at_once_get_their_own_answers(panel_run: Path, expected: Any) -> None:
    table, expected_records = panel_table(), records_of(expected.predictions)
    bodies, right = [], []
    for name in ("a", "b", "c"):
        bodies.append(table[table["shop"] == name].to_csv(index=False).encode())
        right.append([record for record in expected_records if record["item_id"] == name])
    bodies.append(b"not,a,table\n1,2,3\n")
    with serving(panel_run, max_waiting=1000) as ask:
        answers = asyncio.run(many(ask.port, bodies * 10))
        batches = ask("/metrics").body.decode()
    for number, (status, body) in enumerate(answers):
        document = json.loads(body)
        if number % 4 == 3:
            assert (status, document["error"]["kind"]) == (422, "DataError")
        else:
            assert (status, document["predictions"]) == (200, right[number % 4])
    assert 'forecast_series_total{run="shops"} 30.0' in batches


def test_too_many_and_too_slow_requests_are_sent_away(finished_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here waits for a clock: a request is read when the test says so."""
    from forecast_attn.serving.bodies import read_body

    go_on = threading.Event()

    def when_told(*inputs: Any) -> Any:
        assert go_on.wait(60)
        return read_body(*inputs)

    monkeypatch.setattr("forecast_attn.serving.app.read_body", when_told)

    async def three_at_once(port: int) -> list[tuple[int, bytes]]:
        requests = [asyncio.create_task(many(port, [b"a,b\n1,2\n"])) for _ in range(3)]
        while sum(task.done() for task in requests) < 2:
            await asyncio.sleep(0.01)
        go_on.set()
        return [(await task)[0] for task in requests]

    with serving(finished_run, max_waiting=1, timeout=60) as ask:
        answers = asyncio.run(three_at_once(ask.port))
        assert sorted(status for status, _ in answers) == [422, 503, 503]
        messages = [json.loads(body)["error"]["message"] for status, body in answers if status == 503]
        assert messages == ["1 requests are under way already"] * 2
        assert ask("/forecast", {}).status == 200
    go_on.clear()
    with serving(finished_run, timeout=0.01) as ask:
        answer = ask("/forecast", {})
        go_on.set()
    assert (answer.status, json.loads(answer.body)["error"]["message"]) == (503, "this took longer than 0.01 s")


def test_an_error_of_the_server_shows_in_its_log_alone(
    finished_run: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from forecast_attn.serving.logs import JsonLines

    def fail(*inputs: Any) -> Any:
        raise ZeroDivisionError("an error nobody thought of")

    # The line may come after the answer: the server ends before its lines are left out.
    with caplog.at_level(logging.INFO), serving(finished_run) as ask:
        for function in ("bodies.read_body", "batching.forecast_padded"):
            name = "forecast_attn.serving." + function.replace("bodies", "app")
            with monkeypatch.context() as patch:
                patch.setattr(name, fail)
                answer = ask("/forecast", {}, X_Request_Id="mine")
            assert (answer.status, answer.error["hint"]) == (500, "its log says more about mine")
            assert b"nobody thought" not in answer.body
        assert ask("/forecast", {}).status == 200
    lines = [json.loads(JsonLines().format(record)) for record in caplog.records if record.name.endswith("serving")]
    failed = [line for line in lines if "nobody thought" in line.get("traceback", "")]
    assert [line["request_id"] for line in failed] == ["mine", "mine"]
    answered = [line for line in lines if line.get("status") == 200]
    assert [(each["path"], each["series"], each["level"]) for each in answered] == [("/forecast", 1, "info")]


@pytest.mark.parametrize(
    ("runs", "error", "message"),
    [
        ([], ConfigError, "there is no run to serve"),
        (["a=nowhere"], RunError, "there is no run 'nowhere'"),
        (["a b=nowhere"], ConfigError, "'a b' cannot stand in an address"),
    ],
)
def test_runs_that_cannot_be_served(runs: list[str], error: type[Exception], message: str, here: Path) -> None:
    from forecast_attn import create_app

    with pytest.raises(error, match=message):
        create_app(runs)


@pytest.mark.parametrize("host", ["a..b", "x" * 64])
def test_a_name_that_is_no_host_is_refused_in_a_sentence(host: str, finished_run: Path, forecast: Callable) -> None:
    outcome = forecast("serve", finished_run, "--host", host, "--port", "0")
    assert outcome.code == 2
    assert outcome.error.startswith(f"cannot listen at {host}:0: ")


def test_small_batches_that_round_differently_are_not_used(finished_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from forecast_attn.forecasting import small_batches
    from forecast_attn.serving.runs import ServedRun

    whole = small_batches.forecast_outputs

    def rounded(model: Any, window: Any) -> Any:
        outputs = whole(model, window)
        few = len(window.past_target) == 8
        return [output._replace(prediction=output.prediction * (1 + few * 2**-23)) for output in outputs]

    monkeypatch.setattr(small_batches, "forecast_outputs", rounded)
    assert 8 not in ServedRun("days", finished_run).current.sizes
    assert ServedRun("days", finished_run).current.sizes[-1] == 128


@pytest.mark.integration
def test_the_command_serves_until_it_is_told_to_stop(finished_run: Path, here: Path) -> None:
    reader, writer = os.pipe()
    words = ["serve", finished_run, "--port", "0"]
    process = start_forked(words, [os.devnull, Connection(writer, readable=False)], Conditions())
    with os.fdopen(reader, encoding="utf-8") as stream:
        line = stream.readline()
        assert line.startswith("serving at http://127.0.0.1:"), line
        ask = Client(int(line.rpartition(":")[2]))
        while True:
            try:
                assert ask("/ready").status == 200
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        assert ask("/forecast", {}).status == 200
        assert process.pid is not None
        os.kill(process.pid, signal.SIGINT)
        process.join(60)
        assert process.exitcode == 0
        assert json.loads(stream.readlines()[-2])["status"] == 200
