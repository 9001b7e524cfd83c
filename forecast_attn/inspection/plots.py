"""Attention weights as a picture: a heat map of step × lag below the mean profile by lag.

matplotlib comes with the extra [plot]; its figures are made as objects, so that no backend or global state is touched.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from forecast_attn.atomic import replacing, write_errors_of
from forecast_attn.attention_dump import AttentionDump
from forecast_attn.errors import ConfigError
from forecast_attn.inspection.distances import has_time_distances, time_distance
from forecast_attn.inspection.findings import Header, Inspection
from forecast_attn.inspection.heatmap import tick_lags
from forecast_attn.inspection.report import inspect_attention

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (10.0, 5.6)  # inches
DOTS_PER_INCH = 150
COLOURS = "magma"  # even steps in brightness, told apart by colour-blind eyes and in print
INK, FAINT, ACCENT = "#2b2b33", "#8a8a94", "#b5367a"
MOST_TICKS = 15


def save_heatmap_png(source: AttentionDump | Inspection, path: Path | str) -> None:
    """Write the picture of a file's weights, or of an inspection of a part of them.

    Raises:
        ConfigError: matplotlib is not installed.
        RunError: the file cannot be written.
    """
    inspection = inspect_attention(source) if isinstance(source, AttentionDump) else source
    figure, target = draw_heatmap(inspection), Path(path)
    with write_errors_of(target), replacing(target) as stream:
        figure.savefig(stream, format="png", dpi=DOTS_PER_INCH)


def draw_heatmap(inspection: Inspection) -> "Figure":
    """The picture as a matplotlib figure.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise ConfigError("pictures need matplotlib", "pip install 'forecast-attn[plot]'") from None
    single_step = len(inspection.steps) == 1
    figure = Figure(
        figsize=(SIZE[0], 3.4 if single_step else SIZE[1]),
        facecolor="white",
        layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08),
    )
    ratios = {"height_ratios": [1, 0.35 if single_step else 3], "width_ratios": [1, 0.018]}
    profile, corner, heatmap, colour_bar = figure.subplots(2, 2, gridspec_kw=ratios).flat
    corner.set_axis_off()
    _draw_profile(profile, inspection)
    _draw_weights(heatmap, colour_bar, inspection)
    profile.set_title(_subtitle(inspection), loc="left", fontsize=10, color=FAINT)
    profile.annotate(
        f"Where the forecast looks: {inspection.header.mechanism}",
        (0, 1), (0, 25), xycoords="axes fraction", textcoords="offset points", fontsize=13, fontweight="bold", color=INK
    )  # fmt: skip
    return figure


def _draw_profile(axes: "Axes", inspection: Inspection) -> None:
    """Mean weight by lag, against what uniform weights would be."""
    lookback = inspection.header.lookback
    lags = np.arange(lookback)[::-1]
    axes.bar(lags, inspection.profile, width=1.0 if lookback > 60 else 0.8, color=ACCENT, linewidth=0)
    axes.axhline(1 / lookback, color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
    label = axes.annotate(
        "uniform", (1, 1 / lookback), (5, 0), xycoords=("axes fraction", "data"), textcoords="offset points",
        va="center", fontsize=8, color=INK
    )  # fmt: skip
    label.set_in_layout(False)  # it stands above the colour bar, where there is room
    axes.set_ylabel("mean weight", color=INK, fontsize=9)
    axes.set_ylim(0, max(float(inspection.profile.max()) * 1.12, 1.6 / lookback))
    axes.locator_params(axis="y", nbins=4)
    _dress(axes, inspection.header, ticks=False)


def _draw_weights(axes: "Axes", colour_bar: "Axes", inspection: Inspection) -> None:
    from matplotlib.colors import PowerNorm

    header, steps = inspection.header, [step.step for step in inspection.steps]
    extent = (header.lookback - 0.5, -0.5, steps[-1] + 0.5, steps[0] - 0.5)
    # The square root shows what one peak would else leave in the dark; the colour bar's ticks are true weights.
    norm = PowerNorm(0.5, vmin=0, vmax=float(inspection.mean_weights.max()) or 1)
    image = axes.imshow(
        inspection.mean_weights, cmap=COLOURS, norm=norm, extent=extent, aspect="auto", interpolation="nearest"
    )
    bar = axes.figure.colorbar(image, cax=colour_bar)
    bar.set_label("weight (square-root scale)" if len(steps) > 1 else "weight", color=INK, fontsize=9)
    bar.ax.tick_params(labelsize=8, colors=INK)
    bar.outline.set_visible(False)
    axes.set_ylabel("step ahead" if len(steps) > 1 else "step", color=INK, fontsize=9)
    axes.set_yticks(_step_ticks(steps))
    seasonal = header.season > 1 and len(steps) > 1
    if seasonal:
        _mark_seasons(axes, header, steps)
    _dress(axes, header, ticks=True)
    dotted = "; dotted: whole seasons before the target" if seasonal else ""
    axes.set_xlabel(f"lag (time steps before the cut-off){dotted}", color=INK, fontsize=9)


def _step_ticks(steps: list[int]) -> list[int]:
    spacing = next(size for size in (1, 2, 3, 4, 6, 12, 24, 48, 96, len(steps)) if len(steps) <= 12 * size)
    return sorted({steps[0], *(step for step in steps if step % spacing == 0 and step - steps[0] > spacing / 2)})


def _mark_seasons(axes: "Axes", header: Header, steps: list[int]) -> None:
    """A thin dotted line along each whole season before the target."""
    ends = np.array([steps[0] - 0.5, steps[-1] + 0.5])
    for seasons in range(1, (header.lookback + steps[-1]) // header.season + 1):
        axes.plot(seasons * header.season - ends, ends, color="white", linewidth=0.7, linestyle=":", alpha=0.55)
    axes.set_ylim(steps[-1] + 0.5, steps[0] - 0.5)


def _dress(axes: "Axes", header: Header, *, ticks: bool) -> None:
    """The lag axis, the most recent on the right, labelled in lags and in time."""
    every = tick_lags(header.lookback, header.season)
    shown = every[:: -(-len(every) // MOST_TICKS)]
    axes.set_xlim(header.lookback - 0.5, -0.5)
    axes.set_xticks(shown, [_tick_text(header, lag) for lag in shown] if ticks else [])
    axes.tick_params(labelsize=8, colors=INK, length=3)
    axes.spines[:].set_visible(False)


def _tick_text(header: Header, lag: int) -> str:
    if not has_time_distances(header.frequency):
        return str(lag)
    return f"{lag}\n{'−' + time_distance(header.frequency, lag) if lag else 'cut-off'}"


def _subtitle(inspection: Inspection) -> str:
    header = inspection.header
    items = f"series {header.item_ids[0]}" if len(header.item_ids) == 1 else f"{len(header.item_ids)} series"
    step = f", step {inspection.steps[0].step}" if len(inspection.steps) < header.horizon else ""
    heads = f", mean of {len(header.heads)} heads" if len(header.heads) > 1 else ""
    if header.num_windows == 1:
        return f"one window of {items}, cut-off {header.first_cutoff}{step}{heads}"
    cutoffs = " to ".join(dict.fromkeys((header.first_cutoff, header.last_cutoff)))
    return f"mean of {header.num_windows} windows of {items}, cut-offs {cutoffs}{step}{heads}"
