"""Writes docs/cli.md from the commands' own help; with --check, fails when the file is not what would be written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from forecast_attn.cli import COMMANDS

TARGET = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
LONG = ("check", "train", "compare", "tune", "backtest")
"""Commands with all options of training, whose `--help` shows the essential ones."""
OPENING = """# Command line

Every command with all its options. For `check`, `train`, `compare`, `tune` and `backtest`, `--help` shows only the
options that most people need, and `--help-all` shows all of them. `make docs` writes this page from the commands.

`forecast --install-completion` lets the Tab key complete commands, options, mechanisms, presets and run directories, in
bash, zsh, fish and PowerShell.

Results go to stdout; progress, tables of roles, warnings and errors to stderr. Exit codes: 0 done; 1 bad data or a bad
run; 2 a bad command line; 3 some series were too short and have no forecast; 130 interrupted with Ctrl-C.
`--debug` anywhere shows the traceback of an error.
"""


def help_of(command: str) -> str:
    """The help page of one command, 100 characters wide and without colours."""
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb", "TERMINAL_WIDTH": "100"}
    page = "--help-all" if command in LONG else "--help"
    words = [sys.executable, "-m", "forecast_attn", *command.split(), page]
    page = subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout
    page = page.replace("python -m forecast_attn", "forecast")
    return "\n".join(line.rstrip() for line in re.sub(r"\x1b\[[0-9;]*m", "", page).strip("\n").splitlines())


def document() -> str:
    parts = [OPENING]
    for command in ("", *COMMANDS):
        title = f"forecast {command}".strip()
        parts.append(f"## {title}\n\n```text\n{help_of(command)}\n```\n")
    return "\n".join(parts)


def main() -> int:
    text = document()
    if "--check" not in sys.argv:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print("docs/cli.md is out of date; run: make docs", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
