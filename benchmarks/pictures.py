"""Draws the pictures of `forecast inspect --png` that the documents show, from runs trained here on the sample tables.

    python benchmarks/pictures.py            writes docs/images/attention-played.png, city-load-*.png, planted-lag-*.png

The commands are those a reader would type; the runs are made in a temporary folder and thrown away.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IMAGES, SAMPLES = ROOT / "docs" / "images", ROOT / "data"
RUNS = {
    "city-load": ("city_load.csv", "--attention", "luong-general", "--max-epochs", "6"),
    "city-load-hours": ("city_load.csv", "--attention", "luong-general", "--patch-length", "1", "--max-epochs", "6"),
    "planted-lag": ("planted_lag.csv", "--attention", "bahdanau", "--max-epochs", "30"),
}
PLAYED = ("city-load-hours", "--quantiles", "0.1,0.5,0.9")
"""Run, and further options of training, of the animation in the README."""
PICTURES = {
    "city-load-attention": ("city-load-hours",),
    "city-load-validation": ("city-load-hours", "--validation"),
    "city-load-patches": ("city-load",),
    "planted-lag-attention": ("planted-lag", "--validation", "--cutoff", "2024-05-12"),
}


def forecast(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "forecast_attn", *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for run, (table, *options) in RUNS.items():
            forecast("train", SAMPLES / table, *options, "--seed", 1, "--out", folder / run, "--quiet")
            forecast("predict", folder / run, "--quiet")
        run, *more = PLAYED
        table, *options = RUNS[run]
        forecast("train", SAMPLES / table, *options, *more, "--seed", 1, "--out", folder / "played", "--quiet")
        forecast("plot", folder / "played", "--animate", IMAGES / "attention-played.png")
        for picture, (run, *options) in PICTURES.items():
            path = IMAGES / f"{picture}.png"
            forecast("inspect", folder / run, *options, "--png", path)
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
