"""Batches of windows of many requests: those that arrive while a batch is computed form the next one."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from forecast_attn.data.panel import Panel
from forecast_attn.data.split import forecast_cutoffs
from forecast_attn.data.windows import WindowArrays
from forecast_attn.devices import cpu_threads
from forecast_attn.forecasting.inference import BATCH_SIZE, followed_errors, window_forecasts
from forecast_attn.forecasting.model import Model, WindowForecasts
from forecast_attn.forecasting.predict import PreparedForecast
from forecast_attn.forecasting.small_batches import forecast_padded, joined, part_of_output


@dataclass(eq=False)
class Job:
    """The windows of one request on their way through the network."""

    key: object
    """Jobs with the same key have the same networks."""
    model: Model
    sizes: tuple[int, ...]
    panel: Panel
    arrays: WindowArrays
    cutoffs: NDArray[np.int64]
    answer: Future[list[WindowForecasts]]
    done: int = 0
    parts: list[WindowForecasts] = field(default_factory=list)

    @classmethod
    def of(cls, key: object, prepared: PreparedForecast, sizes: tuple[int, ...]) -> Job:
        """Make a job for the last window of every series."""
        model, panel = prepared.model.of_series(prepared.panel.item_ids), prepared.panel
        schema = model.schema
        cutoffs = forecast_cutoffs(panel, schema.lookback, schema.horizon, pad=schema.padded)
        return cls(key, model, sizes, panel, schema.windows_of(panel), cutoffs, Future())

    def offsets_of(self, rows: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """The offsets of an adaptive calibration at these cut-offs; None for another one."""
        followed = followed_errors(self.model, self.panel, rows, self.arrays)
        return None if followed is None else followed.offsets

    @property
    def waiting(self) -> int:
        """Number of windows that are still to be forecast."""
        return len(self.cutoffs) - self.done


class _Share(NamedTuple):
    """Some windows of a job in a batch."""

    job: Job
    rows: torch.Tensor
    """Rows of their cut-offs."""


class Batcher:
    """Forecasts the windows of all requests, up to a full batch at a time, in one thread.

    Args:
        on_batch: called with the number of windows of each batch.
    """

    def __init__(self, on_batch: Callable[[int], None] = lambda number: None) -> None:
        self._on_batch = on_batch
        self._jobs: deque[Job] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="forecasting", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Future[list[WindowForecasts]]:
        """Queue a job; its forecasts are returned in batches, in order."""
        with self._changed:
            if self._closed:
                job.answer.cancel()
            else:
                self._jobs.append(job)
                self._changed.notify()
        return job.answer

    def close(self) -> None:
        """End the thread and cancel waiting jobs."""
        with self._changed:
            self._closed = True
            while self._jobs:
                self._jobs.popleft().answer.cancel()
            self._changed.notify()
        self._thread.join(timeout=60)

    def _run(self) -> None:
        while batch := self._next():
            try:
                with cpu_threads(batch[0].job.model.config.training.threads):
                    self._forecast(batch)
            except Exception as error:  # any error must reach the requests, and the thread must live on
                for share in batch:
                    self._end(share.job, error)

    def _next(self) -> list[_Share]:
        """Wait for the next batch and return it; empty after closing."""
        with self._changed:
            while not self._closed:
                if shares := self._shares():
                    return shares
                self._changed.wait()
        return []

    def _shares(self) -> list[_Share]:
        """Windows of waiting jobs of the same networks, the oldest first, up to a full batch."""
        shares: list[_Share] = []
        others: list[Job] = []
        room = BATCH_SIZE
        while self._jobs and room:
            job = self._jobs.popleft()
            if job.answer.cancelled():
                continue
            if shares and job.key != shares[0].job.key:
                others.append(job)
                continue
            num_windows = min(room, job.waiting)
            shares.append(_Share(job, torch.from_numpy(job.cutoffs[job.done : job.done + num_windows])))
            job.done += num_windows
            room -= num_windows
        self._jobs.extendleft(reversed(others))
        if shares and shares[-1].job.waiting:  # behind the others: a large request does not hold up small ones
            self._jobs.append(shares[-1].job)
        return shares

    def _forecast(self, batch: list[_Share]) -> None:
        first = batch[0].job
        windows = [share.job.arrays.gather(share.rows) for share in batch]
        outputs = forecast_padded(first.model, joined(windows), first.sizes)
        self._on_batch(sum(len(share.rows) for share in batch))
        begin = 0
        for job, rows in batch:
            parts = [part_of_output(output, slice(begin, begin + len(rows))) for output in outputs]
            begin += len(rows)
            series = job.arrays.series_of(rows).numpy()
            job.parts.append(window_forecasts(job.model, rows.numpy(), series, parts, job.offsets_of(rows.numpy())))
            if not job.waiting:
                self._end(job)

    def _end(self, job: Job, error: Exception | None = None) -> None:
        with self._changed:
            if job in self._jobs:
                self._jobs.remove(job)
        # A request that gave up has cancelled its answer.
        if job.answer.done() or not job.answer.set_running_or_notify_cancel():
            return
        if error is None:
            job.answer.set_result(job.parts)
        else:
            job.answer.set_exception(error)
