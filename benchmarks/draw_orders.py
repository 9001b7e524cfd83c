"""Draws the pictures of docs/attention.md: the two decoder orders, and what the normalisers and windows do.

python benchmarks/draw_orders.py          writes docs/images/attention-*.png
"""

import argparse
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import torch
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from forecast_attn.nn.normalisers import NORMALISERS

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"

# Okabe & Ito's colours, which colour-blind readers can tell apart.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#555555"

Point = tuple[float, float]


def box(axes: Axes, centre: Point, text: str, colour: str, width: float = 1.7, height: float = 0.62) -> None:
    corner = centre[0] - width / 2, centre[1] - height / 2
    style = "round,pad=0.02,rounding_size=0.1"
    axes.add_patch(FancyBboxPatch(corner, width, height, boxstyle=style, fc=colour + "22", ec=colour, lw=1.6))
    axes.text(*centre, text, ha="center", va="center", color="black")


def arrow(axes: Axes, start: Point, end: Point, colour: str, bend: float = 0.0, dashed: bool = False) -> None:
    line = {"arrowstyle": "-|>", "color": colour, "lw": 1.6, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 13}
    line |= {"connectionstyle": f"arc3,rad={bend}", "linestyle": "--" if dashed else "-"}
    axes.annotate("", xy=end, xytext=start, arrowprops=line)


def label(axes: Axes, point: Point, text: str, colour: str = "black", align: str = "center") -> None:
    axes.text(*point, text, ha=align, va="center", color=colour, fontsize=10.5)


def encoder_row(axes: Axes) -> None:
    """The memory at the bottom: one vector per lookback step."""
    for index in range(6):
        name = ("$h_1$", "$h_2$", "$h_3$", "$h_4$", "…", "$h_S$")[index]
        box(axes, (1.0 + 0.75 * index, 0.3), name, GREEN, width=0.6, height=0.5)
    label(axes, (5.25, 0.3), "encoder outputs over the lookback:\nkeys and values", GREEN, "left")


def bahdanau(axes: Axes) -> None:
    axes.set_title("bahdanau: ask, then run the cell", loc="left", fontweight="bold")
    encoder_row(axes)
    box(axes, (1.2, 3.5), "state $s_{i-1}$", BLUE)
    box(axes, (2.9, 1.7), "attention", ORANGE)
    box(axes, (5.2, 3.5), "cell", BLUE)
    box(axes, (8.3, 3.5), "state $s_i$", BLUE)
    box(axes, (8.3, 5.0), "output $y_i$", GREY)
    arrow(axes, (2.9, 0.57), (2.9, 1.37), GREEN)
    arrow(axes, (1.2, 3.17), (2.03, 1.75), ORANGE)
    label(axes, (0.95, 2.35), "1  query\n$s_{i-1}$", ORANGE)
    arrow(axes, (3.77, 1.75), (4.8, 3.17), ORANGE)
    label(axes, (4.62, 2.1), "2  context vector $c_i$\n    goes into the cell", ORANGE, "left")
    arrow(axes, (2.07, 3.5), (4.33, 3.5), BLUE)
    arrow(axes, (6.07, 3.5), (7.43, 3.5), BLUE)
    label(axes, (6.75, 3.75), "3", BLUE)
    arrow(axes, (8.3, 3.83), (8.3, 4.67), GREY)
    label(axes, (8.45, 4.25), "4  (sees $c_i$ too)", GREY, "left")
    arrow(axes, (5.2, 4.72), (5.2, 3.83), GREY)
    label(axes, (5.2, 4.95), "what is known of step $i$", GREY)


def luong(axes: Axes) -> None:
    axes.set_title("luong: run the cell, then ask", loc="left", fontweight="bold")
    encoder_row(axes)
    box(axes, (1.2, 3.5), "state $h_{t-1}$", BLUE)
    box(axes, (3.4, 3.5), "cell", BLUE, width=1.2)
    box(axes, (5.6, 3.5), "state $h_t$", BLUE)
    box(axes, (5.6, 1.7), "attention", ORANGE)
    box(axes, (8.6, 3.5), r"$\tilde{h}_t = \tanh(W_c[c_t; h_t])$", ORANGE, width=2.7)
    box(axes, (8.6, 5.0), "output $y_t$", GREY)
    arrow(axes, (4.2, 0.57), (5.0, 1.37), GREEN)
    arrow(axes, (2.07, 3.5), (2.78, 3.5), BLUE)
    arrow(axes, (4.02, 3.5), (4.73, 3.5), BLUE)
    label(axes, (4.37, 3.75), "1", BLUE)
    arrow(axes, (5.6, 3.17), (5.6, 2.03), ORANGE)
    label(axes, (5.45, 2.6), "2  query $h_t$", ORANGE, "right")
    arrow(axes, (6.47, 1.75), (8.1, 3.17), ORANGE)
    label(axes, (7.5, 2.1), "3  context vector $c_t$\n    joins the state", ORANGE, "left")
    arrow(axes, (6.47, 3.5), (7.23, 3.5), BLUE)
    arrow(axes, (8.6, 3.83), (8.6, 4.67), GREY)
    label(axes, (8.8, 4.25), "4", GREY, "left")
    arrow(axes, (2.6, 4.72), (3.2, 3.83), GREY)
    label(axes, (1.9, 4.95), "what is known of step $t$", GREY)
    arrow(axes, (7.6, 3.83), (3.7, 3.83), ORANGE, bend=0.32, dashed=True)
    label(axes, (5.55, 4.75), r"input feeding: $\tilde{h}_t$ enters" + "\nthe cell of step $t+1$", ORANGE)


def orders() -> Figure:
    figure, axes = plt.subplots(1, 2, figsize=(14.2, 4.6), layout="constrained")
    for panel, draw in zip(axes, (bahdanau, luong), strict=True):
        draw(panel)
        panel.set(xlim=(0, 10.2), ylim=(-0.2, 5.5), aspect="equal")
        panel.axis("off")
    return figure


def weights() -> Figure:
    """One row of scores through each normaliser, and softmax through each window."""
    lags = torch.arange(48)
    scores = 1.9 * torch.cos(2 * torch.pi * (lags - 23) / 24) - 0.045 * (lags - 23).abs()
    scores = scores.flip(0)[None]
    figure, axes = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained", sharey=True)
    for (name, normalise), colour in zip(NORMALISERS.items(), (BLUE, ORANGE, GREEN), strict=True):
        axes[0].plot(-lags.flip(0), normalise(scores)[0], color=colour, label=name, drawstyle="steps-mid", lw=1.8)
    axes[0].set(title="--normaliser: the same scores, three rows of weights", ylabel="weight")
    positions, radius = lags.float(), 5
    centre = 26.4
    inside = (positions - int(centre)).abs() <= radius
    local = torch.softmax(scores.masked_fill(~inside, -torch.inf), -1)[0]
    predicted = local * torch.exp(-((positions - centre) ** 2) / (2 * (radius / 2) ** 2))
    seasonal_inside = (positions - 24).abs() <= radius
    seasonal = torch.softmax(scores.masked_fill(~seasonal_inside, -torch.inf), -1)[0]
    rows = {
        "global": torch.softmax(scores, -1)[0],
        "local-m, season 24": seasonal,
        "local-p, $p_t$ at lag 20.6": predicted,
    }
    for (name, row), colour in zip(rows.items(), (BLUE, ORANGE, GREEN), strict=True):
        axes[1].plot(-lags.flip(0), row, color=colour, label=name, drawstyle="steps-mid", lw=1.8)
    axes[1].set(title="--attention-window: which keys, radius 5, step 1")
    for panel in axes:
        panel.set(xlabel="hours before the cut-off", xticks=[-47, -36, -23, -12, 0])
        panel.set_xticklabels(["47", "36", "23", "12", "0"])
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False, loc="upper left")
    return figure


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    with plt.rc_context({"font.size": 11, "font.family": "DejaVu Sans"}):
        for name, figure in (("orders", orders()), ("weights", weights())):
            figure.savefig(IMAGES / f"attention-{name}.png", dpi=130, facecolor="white", metadata={"Software": None})


if __name__ == "__main__":
    main()
