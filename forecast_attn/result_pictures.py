"""Pictures of results, for programs that show a notebook without HTML: a console, LaTeX, a PDF.

Forecasts, backtests, weights, comparisons of weights and searches are drawn as the commands draw them with `--png`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from forecast_attn.errors import UserError
from forecast_attn.inspection.figures import LABEL, TICK, empty_figure, write_heading
from forecast_attn.inspection.fonts import installed_fonts
from forecast_attn.inspection.heatmap import label_shares
from forecast_attn.notebook import ACCENT, FORECAST, GAP, INK, SOFT
from forecast_attn.plotting.forecast_pictures import add_legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from forecast_attn.attention_file import AttentionDump
    from forecast_attn.audit.audit_results import Audit, Curve
    from forecast_attn.backtest.backtest_result import BacktestResult
    from forecast_attn.comparison.leaderboard import Comparison
    from forecast_attn.forecasting.forecast_result import ForecastResult
    from forecast_attn.inspection.differences import WeightComparison
    from forecast_attn.inspection.results import Inspection
    from forecast_attn.plotting.picture import Picture
    from forecast_attn.tuning.tuning_result import TuningResult

DOTS_PER_INCH = 100
AUDIT_HEIGHT, BAR_HEIGHT = 2.6, 0.34  # inches


def png_of(result: Any) -> bytes | None:
    """A result as a PNG; None for one that cannot be drawn: without matplotlib, or with nothing to draw."""
    try:
        figure = DRAWN[type(result).__name__](result)
    except UserError:
        return None
    if figure is None:
        return None
    stream = BytesIO()
    with installed_fonts(figure) as notes:
        figure.savefig(stream, format="png", dpi=DOTS_PER_INCH)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return stream.getvalue()


def _draw_forecasts(result: ForecastResult) -> Figure | None:
    return result.draw(forecasts=result.predictions).figure() if result.draw and len(result.predictions) else None


def _draw_backtest(result: BacktestResult) -> Figure | None:
    return result.draw(forecasts=result.frame).figure() if result.draw else None


def _draw_attention(dump: AttentionDump) -> Figure | None:
    from forecast_attn.inspection.describe import inspect_attention

    return _draw_inspection(inspect_attention(dump.drawn())) if dump.num_windows else None


def _draw_inspection(inspection: Inspection) -> Figure:
    from forecast_attn.inspection.heatmap import draw_heatmap
    from forecast_attn.inspection.side_by_side import draw_groups

    return draw_groups(inspection) if inspection.groups else draw_heatmap(inspection)


def _draw_weights(comparison: WeightComparison) -> Figure:
    from forecast_attn.inspection.side_by_side import draw_comparison

    return draw_comparison(comparison)


def _draw_picture(picture: Picture) -> Figure:
    return picture.figure()


def _draw_search(result: TuningResult) -> Figure | None:
    return result.figure() if result.importance else None


def _draw_leaderboard(comparison: Comparison) -> Figure:
    """The mean MAE of each mechanism, the best on top, with the spread of its seeds; lines at the baselines."""
    table = comparison.leaderboard.iloc[::-1]
    figure = empty_figure(0.8 + BAR_HEIGHT * len(table))
    axes = figure.add_subplot()
    axes.barh(table["attention"], table["mae"], xerr=table["mae_std"].fillna(0), color=FORECAST, ecolor=INK, height=0.6)
    best = min(comparison.baselines, key=lambda name: comparison.baselines[name]["mae"], default=None)
    if best is not None:
        axes.axvline(
            comparison.baselines[best]["mae"], color=SOFT, linestyle=(0, (4, 3)), label=f"{best}, the best baseline"
        )
        add_legend(figure, axes)
    axes.set_xlabel("mean absolute error", fontsize=LABEL, color=INK)
    _dress(axes)
    write_heading(figure, "Mechanisms compared", about="; ".join(comparison.notes))
    return figure


def _draw_audit(audit: Audit) -> Figure | None:
    """The mean weights beside what their states change, and how the forecast changes as weights are taken away."""
    curves = [curve for check in audit.checks for curve in check.curves]
    if audit.verdict is None or not curves:
        return None
    figure = empty_figure(AUDIT_HEIGHT)
    panels = figure.subplots(1, 1 + len(curves))
    _draw_profiles(panels[0], audit)
    for axes, curve in zip(panels[1:], curves, strict=True):
        _draw_curve(axes, curve, audit)
    sentence = f"{audit.verdict.sentence[:1].upper()}{audit.verdict.sentence[1:]}."
    about = (
        f"{audit.header.mechanism}, {audit.header.windows:,} of {audit.header.windows_available:,} validation windows"
    )
    title = f"Can the weights be believed? {audit.verdict.level.capitalize()}"
    write_heading(figure, title, sentence=sentence, about=about)
    return figure


def _draw_profiles(axes: Axes, audit: Audit) -> None:
    lags = audit.header.patch_length * np.arange(len(audit.profiles["weights"]))[::-1]
    axes.fill_between(lags, audit.profiles["weights"], color=ACCENT, alpha=0.75, linewidth=0, label="mean weight")
    axes.plot(
        lags,
        audit.profiles["state_occlusion"],
        color=INK,
        linewidth=1.4,
        linestyle=(0, (5, 4)),
        label="change without it",
    )
    axes.invert_xaxis()
    axes.set_xlabel("lag", fontsize=LABEL, color=INK)
    axes.set_title("share of the whole, by lag", fontsize=TICK, color=INK, loc="left")
    axes.set_ylim(bottom=0)
    label_shares(axes)
    axes.legend(frameon=False, fontsize=TICK, labelcolor=INK)
    _dress(axes)


def _draw_curve(axes: Axes, curve: Curve, audit: Audit) -> None:
    changes, shares = curve.forecast_change, [100 * share for share in curve.share]
    axes.fill_between(shares, changes["random_low"], changes["random_high"], color=GAP, alpha=0.45, linewidth=0)
    lines = {
        "top": ("largest", ACCENT, "-"),
        "random": ("random", SOFT, (0, (5, 4))),
        "bottom": ("smallest", FORECAST, ":"),
    }
    for name, (label, colour, dashes) in lines.items():
        axes.plot(shares, changes[name], color=colour, linewidth=1.8, linestyle=dashes, label=label)
    keys = "steps" if audit.header.patch_length == 1 else "patches"
    axes.set_xlabel(f"% of the {keys}", fontsize=LABEL, color=INK)
    axes.set_title(
        f"{curve.label}: change of {audit.header.target}", fontsize=TICK, color=INK, loc="left", parse_math=False
    )
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=TICK, labelcolor=INK)
    _dress(axes)


def _dress(axes: Axes) -> None:
    axes.tick_params(labelsize=TICK, colors=INK, length=3)
    axes.spines[["top", "right"]].set_visible(False)


DRAWN: dict[str, Callable[[Any], Figure | None]] = {
    "AttentionDump": _draw_attention,
    "Audit": _draw_audit,
    "BacktestResult": _draw_backtest,
    "Comparison": _draw_leaderboard,
    "ForecastResult": _draw_forecasts,
    "Inspection": _draw_inspection,
    "Picture": _draw_picture,
    "TuningResult": _draw_search,
    "WeightComparison": _draw_weights,
}
"""By the name of the class: importing the classes would load what a notebook has not asked for."""
