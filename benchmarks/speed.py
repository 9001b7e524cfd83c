"""All benchmarks of speed and memory, and one table of their bounds; fails when one is broken.

    python benchmarks/speed.py [startup training backtest …] [--keep FILE]

With --keep, the bounds of each benchmark are kept in a file when it ends, and a call that was cut short goes on with
the ones that are left; the file is deleted when all are done. What was measured of other code is measured again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from bounds import MARK

SCRIPTS = ("startup", "training", "backtest", "dump", "memory", "loading", "growth")
PACKAGE = Path(__file__).resolve().parent.parent / "forecast_attn"


class Archive:
    """The bounds of the benchmarks that have ended, by name; on disk where there is a file."""

    def __init__(self, path: Path | None, code: str) -> None:
        self.path, self.code = path, code
        saved = json.loads(path.read_text()) if path is not None and path.is_file() else {}
        self.bounds: dict[str, list[str]] = saved["bounds"] if saved.get("code") == code else {}

    def add(self, name: str, lines: list[str]) -> None:
        """Keep the bounds of a benchmark that has ended."""
        self.bounds[name] = lines
        if self.path is not None:
            content: dict[str, Any] = {"code": self.code, "bounds": self.bounds}
            self.path.write_text(json.dumps(content, indent=1))

    def forget(self) -> None:
        """Delete the file, once there is nothing left to do."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def digest(*folders: Path) -> str:
    """Digest of the code that is measured, and of what measures it."""
    files = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def lines_of(script: Path) -> tuple[list[str], bool]:
    """Run a benchmark, show what it prints, and return its bounds and whether it went to its end."""
    bounds = []
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith(MARK):
                bounds.append(line.removeprefix(MARK).strip())
    return bounds, process.returncode == int(any(map(is_broken, bounds)))


def is_broken(bound: str) -> bool:
    """Return whether a figure is beyond its bound."""
    return bound.endswith("BROKEN")


def table(bounds: dict[str, list[str]]) -> str:
    """The bounds of every benchmark as rows of equal width."""
    rows = [(name, *line.split(" | ")) for name, lines in bounds.items() for line in lines]
    rows = [("benchmark", "what", "figure", "bound", ""), *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main(names: list[str], folder: Path, keep: Path | None = None) -> int:
    """Run the benchmarks in a folder; 1 where a bound is broken or a script fails."""
    archive, failed = Archive(keep, digest(folder, PACKAGE)), []
    scripts = names or list(SCRIPTS)
    for name in scripts:
        print(f"== {name}{': measured before' if name in archive.bounds else ''}", flush=True)
        if name in archive.bounds:
            continue
        bounds, ended = lines_of(folder / f"{name}.py")
        if ended:
            archive.add(name, bounds)
        else:
            failed.append(name)
    measured = {name: archive.bounds[name] for name in scripts if name in archive.bounds}
    failed += [name for name, bounds in measured.items() if any(map(is_broken, bounds))]
    print(f"\n{table(measured)}")
    if failed:
        print(f"\nbroken or failed: {', '.join(failed)}")
    if len(measured) == len(scripts):
        archive.forget()
    return int(bool(failed))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SCRIPTS))
    parser.add_argument("--keep", type=Path, help="file of what is done so far")
    given = parser.parse_args()
    sys.exit(main(given.names, Path(__file__).parent, given.keep))
