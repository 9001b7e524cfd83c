"""Differences of two models' losses at each cut-off, for the tests of a backtest; kept in a file, not in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from forecast_attn.backtest.folds import Folds
from forecast_attn.data.panel import Panel
from forecast_attn.evaluation.significance import FEWEST_LOSSES, tests_of_pair, typical_stride
from forecast_attn.runs.atomic import write_errors_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

IN_MEMORY = 1 << 25
"""Bytes of differences that need no file."""
_WINDOWS_AT_ONCE = 4_096


class _Means(NamedTuple):
    """Sums and numbers of absolute errors, of all steps and of each one (num_pairs, 2, 1 + horizon, num_cutoffs)."""

    sums: Floats
    numbers: Ints

    def part(self, cutoffs: slice) -> _Means:
        return _Means(self.sums[..., cutoffs], self.numbers[..., cutoffs])


class Differences:
    """Mean absolute error of one model minus the other's at each cut-off, on the rows that both have forecast.

    Cut-offs come in the order of time, in parts that may end within one.
    """

    def __init__(self, pairs: Sequence[tuple[str, str]], names: Sequence[str], horizon: int) -> None:
        """Begin.

        Args:
            pairs: names of two models each.
            names: of the models whose errors come.
            horizon: steps of a forecast.
        """
        self._pairs, self._horizon = pairs, horizon
        self._indices = [(names.index(a), names.index(b)) for a, b in pairs]
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115  closed at the end of the block
        self._lengths: list[int] = []
        self._open: tuple[Any, _Means] | None = None
        """The last cut-off so far, of which more rows may come."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, rows: pd.DataFrame, errors: Floats) -> None:
        """Add the next rows.

        Args:
            rows: item_id, cutoff and step (num_rows).
            errors: absolute error of each model at them, NaN where there is none (num_models, num_rows).

        Raises:
            RunError: the file cannot be written.
        """
        if not self._pairs or not len(rows):
            return
        cutoffs, stamps = pd.factorize(rows["cutoff"])
        item_ids, _ = pd.factorize(rows["item_id"], sort=True)
        steps = rows["step"].to_numpy()
        order = np.lexsort((steps, item_ids, cutoffs))
        means = self._means(cutoffs[order], steps[order], errors[:, order], len(stamps))
        if self._open is not None:
            stamp, before = self._open
            if stamp == stamps[0]:
                means.sums[..., :1] += before.sums
                means.numbers[..., :1] += before.numbers
            else:
                self._write(before)
        self._write(means.part(slice(0, -1)))
        last = means.part(slice(-1, None))
        self._open = stamps[-1], _Means(last.sums.copy(), last.numbers.copy())

    def _means(self, cutoffs: Ints, steps: Ints, errors: Floats, num_cutoffs: int) -> _Means:
        """Sums and numbers of some rows, sorted by cut-off, series and step."""
        shape = len(self._pairs), 2, 1 + self._horizon, num_cutoffs
        means, sums = _Means(np.zeros(shape), np.zeros(shape, np.int64)), dict[Any, tuple[Floats, Ints]]()
        known = ~np.isnan(errors)
        for pair, models in enumerate(self._indices):
            both = known[models[0]] & known[models[1]]
            for side, model in enumerate(models):
                key = model, both.tobytes()  # nearly always all rows, so that every model is summed once
                if key not in sums:
                    sums[key] = _sums(errors[model][both], steps[both], cutoffs[both], shape[2:])
                means.sums[pair, side], means.numbers[pair, side] = sums[key]
        return means

    def _write(self, means: _Means) -> None:
        length = means.sums.shape[-1]
        if not length:
            return
        with np.errstate(invalid="ignore"):  # a cut-off without a common row is no number
            losses = means.sums / means.numbers
        with write_errors_of(Path(tempfile.gettempdir())):
            self._file.write(np.ascontiguousarray(losses[:, 0] - losses[:, 1]).tobytes())
        self._lengths.append(length)

    def tests(self, stride: Callable[[], int]) -> list[tuple[Any, ...]]:
        """Rows of the tests of every pair, of all steps and of each; see `compare_models`.

        Args:
            stride: gives the steps between cut-offs, see `steps_between`; asked only where there is something to test.

        Raises:
            RunError: the file cannot be written.
        """
        if self._open is not None:
            self._write(self._open[1])
            self._open = None
        if sum(self._lengths) < FEWEST_LOSSES:
            return []
        between = stride()
        rows: list[tuple[Any, ...]] = []
        for pair, names in enumerate(self._pairs):
            for step in range(1 + self._horizon):
                differences = self._of(pair, step)
                differences = differences[~np.isnan(differences)]
                rows += tests_of_pair(names, differences, step or self._horizon, between, step=step or None)
        return rows

    def _of(self, pair: int, step: int) -> Floats:
        """The differences of a pair at a step, 0 for all of them (num_cutoffs,)."""
        return np.concatenate([np.zeros(0), *self._blocks(pair * (1 + self._horizon) + step)])

    def _blocks(self, row: int) -> Iterator[Floats]:
        # Each block is a table of (pair, step) rows and some cut-offs: one row of it is read at a time.
        first, rows = 0, len(self._pairs) * (1 + self._horizon)
        for length in self._lengths:
            self._file.seek(8 * (first + row * length))
            yield np.frombuffer(self._file.read(8 * length), np.float64)
            first += rows * length
        self._file.seek(8 * first)


def _sums(errors: Floats, steps: Ints, cutoffs: Ints, shape: tuple[int, ...]) -> tuple[Floats, Ints]:
    """Sums and numbers of errors of all steps and of each one (1 + horizon, num_cutoffs)."""
    sums, numbers = np.zeros(shape), np.zeros(shape, np.int64)
    series = pd.Series(errors)
    of_all = series.groupby(cutoffs).sum()  # compensated, as the mean of pandas is
    sums[0, of_all.index.to_numpy()] = of_all.to_numpy()
    codes = steps * shape[1] + cutoffs
    of_each = series.groupby(codes).sum()
    sums.ravel()[of_each.index.to_numpy()] = of_each.to_numpy()
    numbers[0] = np.bincount(cutoffs, minlength=shape[1])
    numbers[1:] = np.bincount(codes, minlength=sums.size).reshape(shape)[1:]
    return sums, numbers


def steps_between(panel: Panel, folds: Folds, horizon: int) -> int:
    """Steps between most cut-offs, at most the horizon: see `typical_stride`."""
    counts = np.zeros(horizon + 1, np.int64)
    following = np.array([fold.cutoff for fold in folds.folds[1:]])
    windows = folds.windows[: folds.starts[-2]]
    fold_of = np.repeat(np.arange(len(following)), np.diff(folds.starts)[:-1])
    for first in range(0, len(windows), _WINDOWS_AT_ONCE):
        some = slice(first, first + _WINDOWS_AT_ONCE)
        stamps = panel.timestamps[windows[some, None] + np.arange(1, horizon + 1)]
        inside = (stamps <= following[fold_of[some], None]).sum(axis=1)
        counts += np.bincount(inside, minlength=horizon + 1)
    return typical_stride(counts)
