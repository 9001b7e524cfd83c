"""Takes the picture of docs/report.md: the page of `forecast inspect --html`, opened in headless Chromium.

    python benchmarks/draw_page.py           writes docs/images/report.png

The run is trained here on a sample table, in a temporary folder.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "report.png"
QUANTILES = ("--quantiles", "0.05,0.25,0.5,0.75,0.95")
OPTIONS = (
    *("--combination", "none"),
    "--attention",
    "luong-general",
    "--patch-length",
    "1",
    *QUANTILES,
    "--max-epochs",
    "6",
    "--seed",
    "1",
    "--quiet",
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = "1440,1000"  # pixels: one screen, to the end of the words under the charts
CHOICE = "#window=21&step=7"  # a window and a step that look at several places


def forecast(*words: object) -> None:
    command = [sys.executable, "-m", "forecast_attn", *map(str, words)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)


def take_picture(page: Path, picture: Path, profile: str) -> None:
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    if binary is None:
        sys.exit(f"needs one of {', '.join(BROWSERS)}")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"]
    command = [binary, *flags, f"--window-size={SIZE}", f"--screenshot={picture}", page.as_uri() + CHOICE]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        run, page = Path(name) / "run", Path(name) / "report.html"
        forecast("train", ROOT / "data" / "city_load.csv", *OPTIONS, "--out", run)
        forecast("inspect", run, "--validation", "--html", page)
        take_picture(page, PICTURE, f"{name}/profile")
    print(PICTURE.relative_to(ROOT))


if __name__ == "__main__":
    main()
