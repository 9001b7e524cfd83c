"""All benchmarks of speed and memory, and one table of their bounds; fails when one is broken.

python benchmarks/speed.py [startup training backtest …]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bounds import MARK

SCRIPTS = ("startup", "training", "backtest", "dump", "memory", "loading")


def lines_of(script: Path) -> tuple[list[str], bool]:
    """Run a benchmark, show what it prints, and return its bounds and whether it went well."""
    bounds = []
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            if line.startswith(MARK):
                bounds.append(line.removeprefix(MARK).strip())
    return bounds, process.returncode == 0


def table(bounds: dict[str, list[str]]) -> str:
    """The bounds of every benchmark as rows of equal width."""
    rows = [(name, *line.split(" | ")) for name, lines in bounds.items() for line in lines]
    rows = [("benchmark", "what", "figure", "bound", ""), *rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def main(names: list[str], folder: Path) -> int:
    """Run the benchmarks in a folder; 1 where a bound is broken or a script fails."""
    bounds, failed = {}, []
    for name in names or SCRIPTS:
        print(f"== {name}", flush=True)
        bounds[name], good = lines_of(folder / f"{name}.py")
        if not good:
            failed.append(name)
    print(f"\n{table(bounds)}")
    if failed:
        print(f"\nbroken or failed: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path(__file__).parent))
