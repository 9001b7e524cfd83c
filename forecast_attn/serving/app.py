"""The web application: forecasts, state and metrics of the runs that are served."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Unpack

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from forecast_attn.config.file import read_small
from forecast_attn.config.keywords import ServingKeywords
from forecast_attn.config.requests import ServingRequest, takes
from forecast_attn.errors import ConfigError, DataError, UserError
from forecast_attn.forecasting.predict import PreparedForecast
from forecast_attn.serving.answers import answer
from forecast_attn.serving.batching import Batcher, Job
from forecast_attn.serving.bodies import CONTENT_TYPES, JSON, RequestBody, read_body
from forecast_attn.serving.logs import LOG
from forecast_attn.serving.openapi import DESCRIPTION, FORECAST, TITLE
from forecast_attn.serving.prometheus import ServerMetrics
from forecast_attn.serving.runs import LoadedVersion, ServedRun, served_run, served_runs
from forecast_attn.version import package_version

TOKEN = "FORECAST_ATTN_TOKEN"
OPEN = ("/health", "/ready")
"""Paths that need no token: an orchestrator has none."""
READERS = 2
"""Threads that read tables and write answers, beside the one that forecasts."""
LONGEST_ID = 64


class RequestError(UserError):
    """A request that is refused before its table is read.

    Args:
        status: HTTP status.
        message: what is wrong.
        hint: what to do next.
    """

    def __init__(self, status: int, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.status = status


@takes([ServingRequest])
def create_app(runs: Sequence[Path | str], **options: Unpack[ServingKeywords]) -> FastAPI:
    """Load runs and build a web application that forecasts with them, for any ASGI server.

    Args:
        runs: `path`, called after its folder, or `name=path`; a path is a run or a folder of runs, of which the newest
            is served.
        **options: listed below.

    Raises:
        ConfigError: no run, two of one name, or an option outside its range.
        RunError: a run is unfinished or damaged.
    """
    return app_of(runs, ServingRequest.from_options(dict(options)))


def app_of(runs: Sequence[Path | str], request: ServingRequest) -> FastAPI:
    """Build the application of `create_app` from its options."""
    token = read_token(request.token_file)
    service = Service(served_runs(runs), request)
    app = FastAPI(
        title=TITLE,
        description=DESCRIPTION,
        version=package_version(),
        lifespan=service.lifespan,
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
    )
    app.add_exception_handler(UserError, _refusal)
    app.add_exception_handler(HTTPException, _no_such_page)
    app.add_api_route("/health", service.health, methods=["GET"], summary="The process answers")
    app.add_api_route("/ready", service.ready, methods=["GET"], summary="All runs are loaded")
    app.add_api_route("/metrics", service.metrics, methods=["GET"], summary="Metrics for Prometheus")
    app.add_api_route("/runs", service.list_runs, methods=["GET"], summary="Runs, and what a request must fit")
    app.add_api_route("/forecast", service.forecast_only, methods=["POST"], **FORECAST)
    app.add_api_route("/runs/{name}/forecast", service.forecast, methods=["POST"], **FORECAST)
    app.add_middleware(RequestLog, service=service, token=token)
    app.state.service = service
    return app


def read_token(path: Path | None) -> bytes | None:
    """Read the token from a file, or from the environment; None where there is none.

    Raises:
        ConfigError: the file cannot be read or is empty.
    """
    if path is None:
        return os.environ.get(TOKEN, "").encode() or None
    token = read_small(path, "token file", "a file with one line").strip()
    if not token:
        raise ConfigError(f"the token file '{path}' is empty", "openssl rand -hex 32 > token")
    return token


class Service:
    """The runs, threads and metrics behind the application."""

    def __init__(self, runs: dict[str, ServedRun], request: ServingRequest) -> None:
        self.runs, self.request = runs, request
        self.server_metrics = ServerMetrics(runs)
        self.under_way = 0
        self._readers: ThreadPoolExecutor | None = None
        self._batcher: Batcher | None = None
        for name, run in runs.items():
            self.server_metrics.loaded.labels(name).set(run.current.loaded_at)

    @contextlib.asynccontextmanager
    async def lifespan(self, app: FastAPI) -> AsyncIterator[None]:
        """Start the threads, look for newer runs, and end the threads."""
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="reading")
        self._batcher = Batcher(self.server_metrics.windows.observe)
        reloading = asyncio.create_task(self._reload_forever()) if self.request.reload else None
        try:
            yield
        finally:
            if reloading is not None:
                reloading.cancel()
            self._batcher.close()
            self._readers.shutdown(cancel_futures=True)
            self._readers = self._batcher = None

    # ------------------------------------------------------------------ pages

    async def health(self) -> dict[str, str]:
        """Answer: the process lives."""
        return {"status": "ok"}

    async def ready(self) -> JSONResponse:
        """Tell whether forecasts can be made now."""
        is_ready = self._batcher is not None
        return JSONResponse({"ready": is_ready, "runs": list(self.runs)}, 200 if is_ready else 503)

    async def metrics(self) -> Response:
        """Return the page that Prometheus reads."""
        return Response(self.server_metrics.text(), media_type=self.server_metrics.content_type)

    async def list_runs(self) -> dict[str, Any]:
        """Describe each run."""
        return {name: run.current.describe() for name, run in self.runs.items()}

    async def forecast_only(self, request: Request) -> Response:
        """Forecast with the only run that is served."""
        return await self._forecast(None, request)

    async def forecast(self, name: str, request: Request) -> Response:
        """Forecast with a run."""
        return await self._forecast(name, request)

    # ------------------------------------------------------------------ forecasting

    async def _forecast(self, name: str | None, request: Request) -> Response:
        run = served_run(name, self.runs)
        request.scope["run"] = run.name
        if self.under_way >= self.request.max_waiting:
            raise RequestError(503, f"{self.under_way} requests are under way already", "try again in a second")
        self.under_way += 1
        self.server_metrics.waiting.set(self.under_way)
        try:
            async with asyncio.timeout(self.request.timeout):
                return await self._answer(run, request)
        except TimeoutError:
            raise RequestError(503, f"this took longer than {self.request.timeout:g} s", "send fewer series") from None
        finally:
            self.under_way -= 1
            self.server_metrics.waiting.set(self.under_way)

    async def _answer(self, run: ServedRun, request: Request) -> Response:
        assert self._readers is not None
        assert self._batcher is not None
        content_type, accepted = _content_type(request), _accepted(request)
        content = await _read(request, self.request.max_bytes)
        version = run.current
        loop = asyncio.get_running_loop()
        query = dict(request.query_params)
        body, prepared, job = await loop.run_in_executor(
            self._readers, _read_tables, version, content, content_type, query
        )
        request.scope["series"] = len(job.cutoffs)
        forecasts = await asyncio.wrap_future(self._batcher.submit(job))
        content = await loop.run_in_executor(
            self._readers, lambda: answer(prepared, forecasts, version.path, accepted, attention=body.attention)
        )
        self.server_metrics.series.labels(run.name).inc(len(job.cutoffs))
        return Response(content, media_type=accepted)

    async def _reload_forever(self) -> None:
        while True:
            await asyncio.sleep(self.request.reload)
            for run in self.runs.values():
                await asyncio.to_thread(self.refresh, run)

    def refresh(self, run: ServedRun) -> None:
        """Serve a newer run where there is one; log a failure and keep the old one."""
        fields = {"run": run.name}
        try:
            if not run.refresh():
                return
        except Exception as error:  # a damaged run must not end the server
            self.server_metrics.failures.labels(run.name).inc()
            reason = error.message if isinstance(error, UserError) else repr(error)
            LOG.warning("no newer run: %s", reason, extra={"fields": fields})
            return
        self.server_metrics.loaded.labels(run.name).set(run.current.loaded_at)
        LOG.info("serves a newer run", extra={"fields": {**fields, "path": run.current.path}})


def _read_tables(
    version: LoadedVersion, content: bytes, content_type: str, query: dict[str, str]
) -> tuple[RequestBody, PreparedForecast, Job]:
    """Read the body of a request, as far as its windows."""
    body = read_body(content, content_type, query)
    prepared = PreparedForecast.of(version.loaded, body.request)
    return body, prepared, Job.of(version, prepared, version.sizes)


def _content_type(request: Request) -> str:
    given = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if given not in CONTENT_TYPES:
        raise RequestError(415, f"content type '{given}' is not read", f"one of {', '.join(CONTENT_TYPES)}")
    return given


def _accepted(request: Request) -> str:
    """Return the first accepted content type that we can write; JSON if the request accepts anything."""
    named = [part.partition(";")[0].strip().lower() for part in request.headers.get("accept", "*/*").split(",")]
    for name in named:
        if name in CONTENT_TYPES:
            return name
        if name in ("*/*", "application/*", ""):
            return JSON
    raise RequestError(406, "no answer has that form", f"Accept: one of {', '.join(CONTENT_TYPES)}")


async def _read(request: Request, most: int) -> bytes:
    """Read the body.

    Raises:
        RequestError: it is larger than `most` bytes.
    """
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise RequestError(413, f"the body is larger than {most:,} bytes", "send fewer series, or --max-bytes")
        parts.append(part)
    return b"".join(parts)


# --------------------------------------------------------------------------- errors


def status_of(error: UserError) -> int:
    """Return the HTTP status of an error of the user."""
    if isinstance(error, RequestError):
        return error.status
    if isinstance(error, DataError):
        return 422
    return 400 if isinstance(error, ConfigError) else 404


async def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, UserError)
    headers = {"Retry-After": "1"} if status_of(error) == 503 else None
    return JSONResponse({"error": error.to_dict()}, status_of(error), headers)


async def _no_such_page(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    pages = "GET /health /ready /metrics /runs /openapi.json, POST /forecast /runs/NAME/forecast"
    refusal = RequestError(
        error.status_code, f"{request.method} {request.url.path}: {str(error.detail).lower()}", pages
    )
    return JSONResponse({"error": refusal.to_dict()}, error.status_code, error.headers)


# --------------------------------------------------------------------------- around every request


class RequestLog:
    """Checks the token, numbers, counts and logs every request, and answers a failure without its traceback."""

    def __init__(self, app: Callable[..., Any], service: Service, token: bytes | None) -> None:
        self.app, self.service, self.token = app, service, token

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request, begin = Request(scope), time.perf_counter()
        request_id = _request_id(request.headers.get("x-request-id", ""))
        sent: dict[str, Any] = {}

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                sent["status"] = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            if self._is_authorized(request):
                await self.app(scope, receive, sending)
            else:
                refusal = RequestError(401, "the token is missing or wrong", "Authorization: Bearer TOKEN")
                response = JSONResponse({"error": refusal.to_dict()}, 401, {"WWW-Authenticate": "Bearer"})
                await response(scope, receive, sending)
        except Exception:
            LOG.exception("a request failed", extra={"fields": {"request_id": request_id}})
            if sent:
                raise
            refusal = RequestError(500, "the server failed at this request", f"its log says more about {request_id}")
            await JSONResponse({"error": refusal.to_dict()}, 500)(scope, receive, sending)
        finally:
            self._record(scope, request_id, sent.get("status", 499), time.perf_counter() - begin)

    def _is_authorized(self, request: Request) -> bool:
        if self.token is None or request.url.path in OPEN:
            return True
        given = request.headers.get("authorization", "").encode("utf-8", "replace")
        return hmac.compare_digest(given, b"Bearer " + self.token)

    def _record(self, scope: dict[str, Any], request_id: str, status: int, seconds: float) -> None:
        run = scope.get("run")
        self.service.server_metrics.requests.labels(run or "", str(status)).inc()
        if run is not None:
            self.service.server_metrics.seconds.labels(run).observe(seconds)
        fields = {
            "request_id": request_id,
            "method": scope["method"],
            "path": scope["path"],
            "status": status,
            "milliseconds": round(seconds * 1000, 1),
            "run": run,
            "series": scope.get("series"),
        }
        LOG.info("request", extra={"fields": {name: value for name, value in fields.items() if value is not None}})


def _request_id(given: str) -> str:
    """The caller's identifier of a request if it is a short word; else a new one."""
    is_word = 0 < len(given) <= LONGEST_ID and all(letter.isalnum() or letter in "-_." for letter in given)
    return given if is_word and given.isascii() else uuid.uuid4().hex
