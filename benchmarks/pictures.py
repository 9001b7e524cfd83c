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
CITY = ("city_load.csv", "--attention", "luong-general", "--max-epochs", "6")
TRAINING = ("--combination", "none", "--seed", 1, "--quiet")
RUNS = {
    "city-load": CITY,
    "city-load-hours": (*CITY, "--patch-length", "1", "--quantiles", "0.05,0.25,0.5,0.75,0.95"),
    "planted-lag": ("planted_lag.csv", "--attention", "bahdanau", "--max-epochs", "30"),
}
PLAYED = "city-load-hours"
"""Run of the animation in the README."""
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
            forecast("train", SAMPLES / table, *options, *TRAINING, "--out", folder / run)
            forecast("predict", folder / run, "--quiet")
        forecast("plot", folder / PLAYED, "--animate", IMAGES / "attention-played.png")
        for picture, (run, *options) in PICTURES.items():
            path = IMAGES / f"{picture}.png"
            forecast("inspect", folder / run, *options, "--png", path)
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
