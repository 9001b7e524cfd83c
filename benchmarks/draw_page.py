"""Takes the picture of docs/report.md: the page of `forecast inspect --html` of the demo's run, in headless Chromium.

make demo && python benchmarks/draw_page.py          writes docs/images/report.png
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "report.png"
RUN = ROOT / "runs" / "demo"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZE = "1120,1330"  # pixels: to the end of the first heat map
CHOICE = "#window=21&step=7"  # a window and a step that look at several places


def write_page(path: Path) -> None:
    """The page of the demo's validation windows."""
    command = [sys.executable, "-m", "forecast_attn", "inspect", str(RUN), "--validation", "--html", str(path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)


def take_picture(page: Path, picture: Path, profile: str) -> None:
    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    if binary is None:
        sys.exit(f"needs one of {', '.join(BROWSERS)}")
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"]
    command = [binary, *flags, f"--window-size={SIZE}", f"--screenshot={picture}", page.as_uri() + CHOICE]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main() -> None:
    if not RUN.is_dir():
        sys.exit("run `make demo` first")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page = Path(folder) / "report.html"
        write_page(page)
        take_picture(page, PICTURE, f"{folder}/profile")
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
