"""Growth of cost with lookback, width, series and windows, and the figure of docs/cost.md.

    python benchmarks/growth.py [--figure FILE]

A training step is timed as the difference of two trainings that differ only in their number of windows, so that
reading, validation and writing cancel out. All are CPU seconds. An exponent is the slope of a line through the
logarithms of all points: 1 where twice as much costs twice as much.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import torch
from bounds import at_most, exit_code

from forecast_attn import Forecaster

TURNS = 2
FEW, MANY = 512, 2_560
"""Windows of the two trainings."""
BATCHES = (32, 64, 128, 256, 512)
LOOKBACKS, WIDTHS, SERIES, WINDOWS = (
    (84, 168, 336, 672),
    (32, 64, 128, 256),
    (250, 1_000, 4_000),
    (1_000, 4_000, 16_000),
)
BLUE, GREY = "#0072B2", "#555555"


class Growth(NamedTuple):
    """Cost at a few sizes."""

    name: str
    unit: str
    sizes: tuple[int, ...]
    seconds: list[float]
    most: float
    """Bound of the exponent."""

    @property
    def exponent(self) -> float:
        """Slope of the line through the logarithms."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)[0])


def hours(rows: int) -> pd.DataFrame:
    """One hourly series with a covariate that is known ahead."""
    random, at = np.random.default_rng(0), np.arange(rows)
    known = random.normal(size=rows)
    target = np.sin(at * np.pi / 12) + known + 0.1 * random.normal(size=rows)
    stamps = pd.date_range("2020-01-01", periods=rows, freq="h")
    return pd.DataFrame({"timestamp": stamps, "target": target, "known": known})


def days(series: int, rows: int = 200) -> pd.DataFrame:
    """Many daily series."""
    values = np.random.default_rng(0).normal(100, 5, series * rows)
    stamps = np.tile(pd.date_range("2024-01-01", periods=rows, freq="D"), series)
    return pd.DataFrame({"item_id": np.repeat(np.arange(series), rows), "timestamp": stamps, "target": values})


def fitted(frame: pd.DataFrame, **options: Any) -> Forecaster:
    """A training of one epoch, without what comes beside the network."""
    shared: dict[str, Any] = {"max_epochs": 1, "combination": "none", "final_fit": "none"}
    shared |= {"accelerator": "cpu", "seed": 0, "validation_windows": 32, "batch_size": 128}
    return Forecaster(**shared | options).fit(frame)


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of this process: what else the machine does matters little."""
    started = time.process_time()
    work()
    return time.process_time() - started


def least(work: Callable[[], object]) -> float:
    """The least of a few turns: whatever disturbs only adds."""
    return min(seconds(work) for _ in range(TURNS))


def of_a_window(**options: Any) -> float:
    """CPU seconds that one more window costs in training."""
    frame = hours(4_000)
    few = least(lambda: fitted(frame, epoch_windows=FEW, **options))
    return (least(lambda: fitted(frame, epoch_windows=MANY, **options)) - few) / (MANY - FEW)


def training() -> tuple[Growth, Growth]:
    """A window's training over lookback and width, with the defaults of an hourly table."""
    of_a_window()  # what is done once
    lookback = [of_a_window(lookback=size) for size in LOOKBACKS]
    width = [of_a_window(hidden_size=size) for size in WIDTHS]
    return (
        Growth("training a window, lookback", "steps", LOOKBACKS, lookback, 1.15),
        Growth("training a window, width", "hidden size", WIDTHS, width, 1.6),
    )


def batches() -> dict[int, float]:
    """A window's training by the number of windows in a batch, with the defaults of an hourly table."""
    return {size: of_a_window(batch_size=size) for size in BATCHES}


def predicting() -> Growth:
    """`predict` with a table of more and more series."""
    forecaster = fitted(days(50), horizon=14, epoch_windows=FEW)
    tables = [days(number) for number in SERIES]
    cost = [least(lambda: forecaster.predict(table, cold_start=True)) for table in tables]  # noqa: B023  called at once
    return Growth("predict, series", "series", SERIES, cost, 1.1)


def backtesting() -> Growth:
    """`backtest` at more and more cut-offs."""
    frame = hours(max(WINDOWS) + 1_500)
    forecaster = fitted(frame[:1_200], epoch_windows=FEW, lookback=48, horizon=24)
    cost = [
        least(lambda: forecaster.backtest(frame, cutoffs=number, stride=1, accelerator="cpu"))  # noqa: B023
        for number in WINDOWS
    ]
    return Growth("backtest, windows", "windows", WINDOWS, cost, 1.1)


def draw(growths: list[Growth], path: Path) -> None:
    """One panel per size, both axes logarithmic, beside the line on which cost is proportional."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(growths), figsize=(11, 2.9), layout="constrained")
    for axis, growth in zip(axes, growths, strict=True):
        sizes, cost = np.array(growth.sizes), np.array(growth.seconds)
        axis.loglog(sizes, cost / cost[0], "o-", color=BLUE)
        axis.loglog(sizes, sizes / sizes[0], "--", color=GREY, linewidth=1)
        axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
        top = max(cost[-1] / cost[0], sizes[-1] / sizes[0])
        marks = [mark for mark in (1, 2, 4, 8, 16) if mark <= 1.1 * top]
        axis.set_yticks(marks, [str(mark) for mark in marks])
        axis.minorticks_off()
        axis.set_title(f"{growth.name.split(',')[0]}: exponent {growth.exponent:.2f}", fontsize=10)
        axis.set_xlabel(growth.unit)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("CPU seconds, smallest = 1")
    figure.savefig(path, dpi=110, metadata={"Software": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", type=Path, help="PNG to write")
    figure = parser.parse_args().figure
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder  # of the runs that are thrown away
        growths, by_batch = [*training(), predicting(), backtesting()], batches()
    for growth in growths:
        points = "  ".join(
            f"{size:,}: {second:.3g} s" for size, second in zip(growth.sizes, growth.seconds, strict=True)
        )
        print(f"{growth.name:<28} {points}")
    milliseconds = "  ".join(f"{size}: {1_000 * cost:.2f} ms" for size, cost in by_batch.items())
    print(f"{'training a window, batch':<28} {milliseconds}")
    at_most("training a window, batches of 128 against the cheapest", by_batch[128] / min(by_batch.values()), 1.2)
    for growth in growths:
        at_most(f"{growth.name}, exponent", growth.exponent, growth.most)
    if figure is not None:
        draw(growths, figure)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
