"""Writes forecast_attn/config/keywords.py from the options; with --check, fails when it is out of date."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

from forecast_attn.config.options import SECTIONS
from forecast_attn.config.requests import REQUESTS, fields_of
from forecast_attn.config.values import may_be_none, option_type
from forecast_attn.evaluation.evaluate import OPTIONS

TARGET = Path(__file__).resolve().parent.parent / "forecast_attn" / "config" / "keywords.py"
OPENING = '''"""The keywords of functions that take options, for type checkers and editors.

Written by `make docs` from `config.options` and `config.requests`; a test fails when it is out of date.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict
'''


def accepted(field: Any) -> str:
    """What Python code may pass, as an annotation."""
    metadata = field.metadata
    kind = option_type(field).accepts
    if metadata["choices"]:
        kind = "str"
    return f"{kind} | None" if may_be_none(field) else kind


def class_of(name: str, parts: tuple[Any, ...], summary: str, without: tuple[str, ...] = ()) -> str:
    """The source of one class."""
    fields = [field for part in parts for field in fields_of(part) if field.name not in without]
    lines = [f"    {field.name}: {accepted(field)}" for field in fields]
    return f'class {name}(TypedDict, total=False):\n    """{summary}"""\n\n' + "\n".join(lines) + "\n"


def document() -> str:
    """The whole module."""
    training = tuple(SECTIONS.values())
    classes = [
        class_of("TrainKeywords", training, "Options of `forecast train`."),
        class_of(
            "SharedKeywords",
            training,
            "Options that all runs of a comparison share.",
            ("attention", "seed", "vintages"),
        ),
        *(
            class_of(f"{command.title()}Keywords", (request,), f"Options of `forecast {command}`.")
            for command, request in REQUESTS.items()
            if command not in ("evaluate", "inspect", "plot")
        ),
        class_of("PlotKeywords", (REQUESTS["plot"],), "Options of `forecast plot` but its kind.", ("kind",)),
        class_of("EvaluateKeywords", (REQUESTS["evaluate"], *reading()), "Options of `forecast evaluate`."),
    ]
    return "\n\n".join([OPENING, *classes])


def reading() -> tuple[Any, ...]:
    """Return a class with the options that say how the actuals are read."""
    known = {field.name: field for field in fields_of(SECTIONS["data"])}
    return (make_dataclass("Reading", [(name, known[name].type, known[name]) for name in OPTIONS], kw_only=True),)


def formatted(text: str) -> str:
    """The text as ruff formats it."""
    words = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(words, input=text, capture_output=True, text=True, check=True).stdout


def main() -> int:
    text = formatted(document())
    if "--check" not in sys.argv:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text:
        return 0
    print("forecast_attn/config/keywords.py is out of date; run: make docs", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
