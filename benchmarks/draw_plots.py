"""Draws the pictures of `forecast plot` that docs/plots.md shows, from a run trained and backtested here on a sample.

    python benchmarks/draw_plots.py          writes docs/images/plot-*.png

The commands are those a reader would type; the run is made in a temporary folder and thrown away.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES, TABLE = ROOT / "docs" / "images", ROOT / "data" / "city_load.csv"
QUANTILES = ("--quantiles", "0.05,0.25,0.5,0.75,0.95", "--calibration", "cqr")
TRAINING = ("--attention", "luong-general", *QUANTILES, "--max-epochs", "4", "--seed", "1", "--combination", "none")
BACKTEST = ("--cutoffs", "60", "--stride", "24")
PICTURES = {
    "plot-forecast": ("--cutoff", "2024-06-26 23:00", "--history", "48"),
    "plot-errors": ("--kind", "error-by-step"),
    "plot-calibration": ("--kind", "calibration"),
    "plot-attribution": ("--kind", "attribution", "--cutoff", "2024-06-26 23:00"),
    "plot-by-value": ("--kind", "by-value", "--column", "temperature", "--column", "hour", "--column", "weekday"),
}


def forecast(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "forecast_attn", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as name:
        run = Path(name) / "city-load"
        forecast("train", TABLE, *TRAINING, "--out", run, "--quiet")
        forecast("backtest", run, *BACKTEST, "--quiet")
        for picture, options in PICTURES.items():
            path = IMAGES / f"{picture}.png"
            forecast("plot", run, *options, "--png", path)
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
