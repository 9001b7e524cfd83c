"""The time steps behind the keys and steps of an attention file: series have a value for each, whatever a patch is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_dump import AttentionDump
from forecast_attn.attention_dump.times import stamps_after, stamps_until


def target_steps(dump: AttentionDump) -> NDArray[np.int64]:
    """(target_steps,) the time steps ahead that the selected steps of the decoder forecast, ascending, from 1."""
    spans = [dump.metadata.steps_of(int(step)) for step in dump.steps]
    return np.concatenate([np.arange(first, last + 1) for first, last in spans])


def target_timestamps(dump: AttentionDump) -> NDArray[Any]:
    """(num_windows, target_steps) their times."""
    spans = [dump.metadata.steps_of(int(step)) for step in dump.steps]
    lengths = [last - first + 1 for first, last in spans]
    after = np.concatenate([np.arange(length) for length in lengths])
    return stamps_after(np.repeat(dump.timestamps, lengths, axis=1), after, dump.metadata.frequency)


def lookback_time_steps(dump: AttentionDump) -> NDArray[Any]:
    """(num_windows, lookback) the times of the lookback, oldest first.

    Raises:
        RunError: the frequency does not lead from the cut-off back to lookback_start.
    """
    dump.lookback_timestamps_of(slice(None))  # which looks whether they fit the file
    known, place = np.unique(dump.window_cutoffs, return_inverse=True)
    stamps: NDArray[Any] = stamps_until(known, dump.metadata.lookback, dump.metadata.frequency)[place]
    return stamps
