"""Metrics of a server for Prometheus."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
WINDOWS = (1, 2, 4, 8, 16, 32, 64, 128)


class ServerMetrics:
    """Counters of one server; a label is the name of a run that is served, never a text of a request."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self, runs: Iterable[str]) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "forecast_requests", "Requests by run and status", ("run", "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "forecast_request_seconds",
            "Time from the head of a request to the end of its answer",
            ("run",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.series = Counter("forecast_series", "Series that were forecast", ("run",), registry=self.registry)
        self.windows = Histogram(
            "forecast_batch_windows", "Windows in a batch of the network", buckets=WINDOWS, registry=self.registry
        )
        self.waiting = Gauge("forecast_waiting_requests", "Requests under way", registry=self.registry)
        self.loaded = Gauge(
            "forecast_run_loaded_timestamp_seconds", "Time at which a run was loaded", ("run",), registry=self.registry
        )
        self.failures = Counter(
            "forecast_reload_failures", "Newer runs that could not be loaded", ("run",), registry=self.registry
        )
        for run in runs:  # from the start, so that a rate has a beginning
            self.series.labels(run)
            self.failures.labels(run)

    def text(self) -> bytes:
        """Return the page that Prometheus reads."""
        return generate_latest(self.registry)
