"""`forecast plot --animate`: the forecasts of a series, one cut-off after the other, and where each of them looked.

Pillow writes the frames, which matplotlib brings along.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import AttentionDump, read_attention
from forecast_attn.attention_file.times import stamps_until
from forecast_attn.data.frequency import parse_frequency
from forecast_attn.errors import ConfigError, RunError, needing
from forecast_attn.evaluation.quantile_scores import intervals
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.figures import named_mechanism, wrapped
from forecast_attn.inspection.fonts import installed_fonts
from forecast_attn.inspection.heatmap import heat_colours
from forecast_attn.inspection.interpretation import evidence_of
from forecast_attn.inspection.window_values import WindowValues, values_of_windows
from forecast_attn.notebook import ACCENT, FORECAST, GRID, INK, SOFT, darkest_weight
from forecast_attn.plotting.ticks import number_text, number_ticks, time_ticks
from forecast_attn.runs.atomic import replacing, write_errors_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from forecast_attn.runs.run_dir import RunDir

MOST_FRAMES = 24
MILLISECONDS, REST = 550, 1_600
"""Time of a frame, and of the last one."""
SIZE, DOTS_PER_INCH = (9.0, 5.0), 100
KINDS = {".gif": "GIF", ".png": "PNG", ".apng": "PNG"}
LEFT, RIGHT = 0.065, 0.985
SERIES, WEIGHTS = (0.39, 0.345), (0.075, 0.25)
"""Bottom and height of the panels, in parts of the figure."""
LINE = 125
"""Characters that fit beside each other."""


@dataclass(frozen=True, eq=False)
class Animation:
    """Cut-offs of one series, ready to be drawn.

    Attributes:
        dump: their windows, in the order of time.
        values: what these looked at and forecast.
        sentence: what their weights say, limited by the run's evidence, as everywhere else.
        left_out: number of the series' windows that are not among them.
        name: of the run.
    """

    dump: AttentionDump
    values: WindowValues
    sentence: str
    left_out: int = 0
    name: str = ""

    @property
    def notes(self) -> list[str]:
        """Remarks about what is not shown."""
        count = self.dump.num_windows
        few = [f"the last {count} of {count + self.left_out} windows of '{self.dump.item_ids[0]}'"]
        return [*(few if self.left_out else []), *self.values.notes]

    def frame(self, window: int) -> Figure:
        """One cut-off as a figure of matplotlib, on the same axes as the others.

        Raises:
            ConfigError: matplotlib is not installed.
        """
        with needing("a picture", "plot"):
            from matplotlib.figure import Figure
        figure, sizes = Figure(figsize=SIZE, facecolor="white"), self.dump.metadata
        upper, lower = (
            figure.add_axes((LEFT, bottom, RIGHT - LEFT, height), label=name)
            for name, (bottom, height) in (("series", SERIES), ("weights", WEIGHTS))
        )
        self._draw_series(upper, window)
        self._draw_weights(lower, window)
        for axes in (upper, lower):
            axes.set_xlim(-sizes.lookback + 0.5, sizes.horizon + 0.5)
            axes.axvline(0.5, color=SOFT, linewidth=1, linestyle=(0, (2, 2)))
            axes.tick_params(length=0, labelsize=9, colors=SOFT)
            axes.spines[:].set_visible(False)
            self._label_time(axes, window, with_text=axes is lower)
        cutoff = self.dump.text(self.dump.window_cutoffs[window])
        figure.text(LEFT - 0.05, 0.955, "Where the forecast looks", fontsize=15, fontweight="bold", color=INK)
        words = f"{named_mechanism(self.name, sizes.mechanism)}, {self.dump.item_ids[0]}, cut-off {cutoff}"
        figure.text(LEFT - 0.05, 0.915, words, fontsize=10, color=SOFT, parse_math=False)
        sentence = "\n".join(wrapped(self.sentence, LINE))
        figure.text(LEFT - 0.05, 0.9, sentence, fontsize=9, color=INK, va="top", parse_math=False)
        return figure

    def save(self, path: Path) -> list[str]:
        """Write all frames as .gif, or as .png or .apng (an animated PNG); whole or not at all.

        Returns:
            Notes on letters that no installed font has.

        Raises:
            ConfigError: matplotlib is not installed, or the name ends otherwise.
            RunError: the file cannot be written.
        """
        from PIL import Image

        kind = check_name(path)
        drawn, notes = zip(*(_pixels(self.frame(window)) for window in range(self.dump.num_windows)), strict=True)
        colours = Image.fromarray(np.concatenate(drawn)).quantize(256)
        frames = [Image.fromarray(frame).quantize(palette=colours, dither=Image.Dither.NONE) for frame in drawn]
        durations = [MILLISECONDS] * (len(frames) - 1) + [REST]
        options: dict[str, Any] = {"save_all": True, "append_images": frames[1:], "duration": durations, "loop": 0}
        with write_errors_of(path), replacing(path) as stream:
            frames[0].save(stream, format=kind, **options)
        return list(dict.fromkeys(note for of_frame in notes for note in of_frame))

    # ------------------------------------------------------------------ panels

    def _draw_series(self, axes: Axes, window: int) -> None:
        """Draw the lookback and the forecast; steps with much weight have a coloured background."""
        values, sizes = self.values, self.dump.metadata
        past, ahead = np.arange(1 - sizes.lookback, 1), np.arange(1, values.forecast.shape[1] + 1)
        mean = np.nan_to_num(self.dump.weights[window]).mean(axis=(0, 1), dtype=np.float64)
        most = _darkest(np.nan_to_num(self.dump.weights).mean(axis=(1, 2)))
        for key, weight in enumerate(mean):
            start = key * sizes.patch_length - sizes.lookback + 0.5
            axes.axvspan(
                start, start + sizes.patch_length, color=ACCENT, alpha=0.45 * min(weight / most, 1), linewidth=0
            )
        for pair in intervals(values.quantiles):
            edges = (values.quantiles[each][window] for each in (pair.lower, pair.upper))
            axes.fill_between(ahead, *edges, color=FORECAST, alpha=0.18, linewidth=0)
        axes.plot(past, values.past[window], color=INK, linewidth=1.4, label="past")
        axes.plot(
            ahead, values.actual[window], color=SOFT, linewidth=1.2, linestyle=(0, (4, 3)), zorder=4, label="actual"
        )
        axes.plot(ahead, values.forecast[window], color=FORECAST, linewidth=2.2, label=values.forecast_name)
        low, high = self._range()
        axes.set_ylim(low, high)
        ticks = number_ticks(low, high, 5)
        spacing = ticks[1] - ticks[0] if len(ticks) > 1 else 0.0
        axes.set_yticks(ticks, [number_text(tick, spacing) for tick in ticks])
        axes.grid(axis="y", color=GRID)
        axes.set_axisbelow(True)
        title = self.values.target or "value"
        axes.set_title(title, loc="left", fontsize=9, color=INK, fontweight="bold", pad=3, parse_math=False)
        if np.isfinite(values.forecast[window]).any():
            ends = ((values.forecast_name, FORECAST, 0.925), ("actual", SOFT, 1.0))
            for name, colour, end in ends:
                axes.annotate(
                    name, (end, 1.0), (0, 3), "axes fraction", "offset points", ha="right", fontsize=9, color=colour
                )

    def _draw_weights(self, axes: Axes, window: int) -> None:
        """Draw a row per step, the first on top; colours follow the square root and are the same in all frames."""
        from matplotlib.colors import PowerNorm

        sizes, steps = self.dump.metadata, self.dump.steps
        darkest = _darkest(np.nan_to_num(self.dump.weights).mean(axis=1))
        norm = PowerNorm(0.5, vmin=0, vmax=darkest)
        rows = np.nan_to_num(self.dump.weights[window]).mean(axis=0)
        extent = (0.5 - sizes.lookback, 0.5, len(steps) * sizes.patch_length + 0.5, 0.5)
        axes.imshow(rows, cmap=heat_colours(), norm=norm, extent=extent, aspect="auto", interpolation="nearest")
        axes.set_ylim(sizes.horizon + 0.5, 0.5)
        axes.set_yticks(sorted({1, sizes.horizon}))
        axes.set_title("step ahead", loc="left", fontsize=9, color=INK, fontweight="bold", pad=3)
        words = f"darkest:\n{100 * darkest:.2g} % or more" if sizes.horizon / sizes.lookback > 0.1 else ""
        axes.text(0.5 + sizes.horizon / 2, (1 + sizes.horizon) / 2, words, ha="center", va="center", fontsize=9,
                  color=ACCENT)  # fmt: skip

    def _label_time(self, axes: Axes, window: int, *, with_text: bool) -> None:
        sizes = self.dump.metadata
        cutoffs = self.dump.window_cutoffs[window : window + 1]
        past = stamps_until(cutoffs, sizes.lookback, sizes.frequency)[0]
        ahead = parse_frequency(sizes.frequency).stamps_after(cutoffs[0], sizes.horizon)
        stamps = np.concatenate([past, np.asarray(ahead, past.dtype)])
        ticks = time_ticks(stamps, self.dump.zone, 9)
        positions = np.searchsorted(stamps, [tick.stamp for tick in ticks]) + 1 - sizes.lookback
        axes.set_xticks(positions.tolist(), [tick.text for tick in ticks] if with_text else [])
        axes.grid(axis="x", color=GRID)

    def _range(self) -> tuple[float, float]:
        """Lowest and highest value of all frames, with some room."""
        values = self.values
        lines = np.concatenate([values.past, values.forecast, values.actual, *values.quantiles.values()], axis=1)
        known = lines[np.isfinite(lines)]
        low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
        room = 0.06 * ((high - low) or abs(high) or 1.0)
        return low - room, high + room


def animation_of(run: RunDir | None, item: str | None = None, table: Path | None = None) -> Animation:
    """The last validation windows of a run's series, in the order of time.

    Args:
        run: has weights of its validation windows.
        item: the series; the first one when None.
        table: holds it; found through the run when None.

    Raises:
        ConfigError: no run is named.
        DataError: there is no such series, or the table cannot be read.
        RunError: the run has no attention.
    """
    if run is None:
        raise ConfigError("--animate needs a run, which has the weights", "forecast plot RUN --animate forecast.gif")
    if not run.validation_attention.is_file():
        raise RunError(f"'{run.path}' has no attention to show", "it was trained with --attention none")
    dump = read_attention(run.unaltered(run.validation_attention))
    dump = dump.select(item=item or dump.item_ids[0])
    order: NDArray[np.int64] = np.argsort(dump.window_cutoffs, kind="stable")
    shown = dump.take(order[-MOST_FRAMES:])
    sentence = inspect_attention(shown, evidence=evidence_of(run)).reading.text
    left_out = dump.num_windows - shown.num_windows
    return Animation(shown, values_of_windows(run, shown, table), sentence, left_out, run.title)


def check_name(path: Path) -> str:
    """The format of a file by its name.

    Raises:
        ConfigError: there is none.
    """
    kind = KINDS.get(path.suffix.lower())
    if kind is None:
        raise ConfigError(f"--animate writes a .gif, .png or .apng; got '{path.name}'", f"--animate {path.stem}.gif")
    return kind


def _darkest(weights: NDArray[np.floating[Any]]) -> float:
    """Weight of the darkest colour: the 99.9th percentile, so that a single peak does not fade all others."""
    return darkest_weight(np.quantile(weights, 0.999), weights.shape[-1])


def _pixels(figure: Figure) -> tuple[NDArray[np.uint8], list[str]]:
    """(height, width, 3), and notes on letters that are not drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = FigureCanvasAgg(figure)
    figure.set_dpi(DOTS_PER_INCH)
    with installed_fonts(figure) as notes:
        canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy(), notes
