"""Two attention files side by side: of two runs, two mechanisms, or the same run at two times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import AttentionDump
from forecast_attn.data.findings import counted
from forecast_attn.errors import DataError
from forecast_attn.inspection import statistics
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.grouping import indices_in
from forecast_attn.inspection.interpretation import Evidence
from forecast_attn.inspection.results import Inspection, without_nan
from forecast_attn.inspection.statistics import Weights
from forecast_attn.notebook import Drawn


@dataclass(frozen=True)
class StepComparison:
    """Difference at one step ahead, over the windows that both files have.

    Attributes:
        step: steps ahead of the cut-off; of a patch, the first.
        distance: mean Jensen-Shannon distance of the two rows of a window, 0 to 1; None without a common window.
        same_top_lag: share of the windows whose largest weight has the same lag in both; None likewise.
    """

    step: int
    distance: float | None
    same_top_lag: float | None


@dataclass(frozen=True)
class WeightComparison(Drawn):
    """The windows that two attention files share, and how their weights differ.

    Attributes:
        names: of the two files.
        inspections: of each file.
        matched_windows: windows of the same series and cut-off in both.
        steps: the steps both have.
        distance: mean of the steps' distances; None without a common window.
        profile_distance: Jensen-Shannon distance of the two mean profiles.
    """

    names: tuple[str, str]
    inspections: tuple[Inspection, Inspection]
    matched_windows: int
    steps: list[StepComparison]
    distance: float | None
    profile_distance: float

    @property
    def sentence(self) -> str:
        """The distance of the weights in words."""
        profiles = f"the mean profiles are {self.profile_distance:.2f} apart"
        if self.distance is None:
            return f"no window is in both (same series and cut-off); {profiles} (Jensen-Shannon distance, 0 to 1)"
        return (
            f"{counted(self.matched_windows, 'window')} in both (same series and cut-off): the weights are "
            f"{self.distance:.2f} apart on average, {profiles} (Jensen-Shannon distance: 0 same, 1 nothing in common)"
        )

    def __repr__(self) -> str:
        return f"<WeightComparison of {self.names[0]} and {self.names[1]}: {self.matched_windows:,} windows in both>"

    def _repr_html_(self) -> str:
        """Both inspections, for a notebook."""
        parts = zip(self.names, self.inspections, strict=True)
        return f"<p>{escape(self.sentence)}</p>" + "".join(
            f"<h4>{escape(name)}</h4>{each._repr_html_()}" for name, each in parts
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it for JSON."""
        rest: dict[str, Any] = without_nan(
            {
                "names": list(self.names),
                "matched_windows": self.matched_windows,
                "distance": self.distance,
                "profile_distance": self.profile_distance,
                "steps": [asdict(step) for step in self.steps],
            }
        )
        return {**rest, "inspections": [inspection.to_dict() for inspection in self.inspections]}


class _Pair(NamedTuple):
    """The rows of common windows and steps in both files, means over heads, of the same length."""

    first: Weights
    second: Weights


def compare_attention(
    first: AttentionDump,
    second: AttentionDump,
    *,
    names: tuple[str, str],
    top: int = 5,
    evidence: tuple[Evidence | None, Evidence | None] = (None, None),
) -> WeightComparison:
    """Compare two files, or parts of them, in constant memory.

    Lags are counted back from the cut-off in both; where one looks back further, the other has no weight there. Of
    several heads the mean is compared.

    Args:
        first: one of them.
        second: the other.
        names: of the two in texts.
        top: how many lags to list.
        evidence: on the need for the weights of each.

    Raises:
        DataError: their time steps or patches differ, so that a lag is not the same in both, or one holds no windows.
        RunError: a file is damaged.
    """
    frequencies = first.metadata.frequency, second.metadata.frequency
    if frequencies[0] != frequencies[1]:
        raise DataError(
            f"a lag of '{first.path}' is a step of '{frequencies[0]}', one of '{second.path}' a step of "
            f"'{frequencies[1]}': they cannot be compared",
            "compare runs of the same time step",
        )
    _expect_same_patches(first, second)
    inspections = (
        inspect_attention(first, top=top, evidence=evidence[0]),
        inspect_attention(second, top=top, evidence=evidence[1]),
    )
    profiles = _same_length(inspections[0].profile, inspections[1].profile)
    matched, steps = _compare_windows(first, second)
    distances = [step.distance for step in steps if step.distance is not None]
    return WeightComparison(
        names=names,
        inspections=inspections,
        matched_windows=matched,
        steps=steps,
        distance=float(np.mean(distances)) if distances else None,
        profile_distance=float(statistics.jensen_shannon_distance(*profiles)),
    )


def _expect_same_patches(first: AttentionDump, second: AttentionDump) -> None:
    """Weights of patches and of time steps, or of other patches, are weights of different things."""
    lengths = first.metadata.patch_length, second.metadata.patch_length
    if lengths[0] != lengths[1]:
        kinds = [f"a patch of {length} time steps" if length > 1 else "a time step" for length in lengths]
        raise DataError(
            f"a weight of '{first.path}' is that of {kinds[0]}, one of '{second.path}' that of {kinds[1]}: they cannot "
            "be compared",
            "compare runs of the same --patch-length",
        )


def _compare_windows(first: AttentionDump, second: AttentionDump) -> tuple[int, list[StepComparison]]:
    steps = np.intersect1d(first.steps, second.steps)
    matched, distances, same_top = 0, np.zeros(len(steps)), np.zeros(len(steps))
    for pair in _common_rows(first, second, steps):
        matched += len(pair.first)
        distances += np.nan_to_num(statistics.jensen_shannon_distance(*pair)).sum(axis=0)
        same_top += (pair.first.argmax(axis=-1) == pair.second.argmax(axis=-1)).sum(axis=0)
    return matched, [
        StepComparison(
            step=first.metadata.steps_of(int(step))[0],
            distance=float(distances[index] / matched) if matched else None,
            same_top_lag=float(same_top[index] / matched) if matched else None,
        )
        for index, step in enumerate(steps)
    ]


def _common_rows(first: AttentionDump, second: AttentionDump, steps: NDArray[Any]) -> Iterator[_Pair]:
    """(windows, steps, num_keys) of both, a part of the common windows at a time."""
    indices = indices_in(second, first)
    for windows, weights in first.blocks():
        chosen = np.flatnonzero(indices[windows] >= 0)
        matching = second.take(indices[windows][chosen])
        rows = _of_steps(first, weights[chosen], steps)
        for part, others in matching.blocks():
            yield _Pair(*_same_length(rows[part], _of_steps(second, others, steps)))


def _of_steps(dump: AttentionDump, weights: Weights, steps: NDArray[Any]) -> Weights:
    """(windows, steps, num_keys) means over heads."""
    return np.asarray(weights[:, :, np.searchsorted(dump.steps, steps)].mean(axis=1, dtype=np.float64))


def _same_length(first: Weights, second: Weights) -> tuple[Weights, Weights]:
    """Both with the longer lookback: no weight on the lags that one does not have."""
    length = max(first.shape[-1], second.shape[-1])
    padded = [np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(length - rows.shape[-1], 0)]) for rows in (first, second)]
    return padded[0], padded[1]
