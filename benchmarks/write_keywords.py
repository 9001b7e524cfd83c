"""Writes forecast_attn/config/keywords.py from the options; with --check, fails when it is out of date."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

from forecast_attn.config.requests import (
    READING,
    TRAINING,
    AuditRequest,
    BacktestRequest,
    CompareRequest,
    EvaluateRequest,
    ExportRequest,
    InspectRequest,
    PlotRequest,
    PredictRequest,
    ReconcileRequest,
    ReportRequest,
    ScoreRequest,
    ServeRequest,
    ServingRequest,
    TuneRequest,
    UiRequest,
    UpdateRequest,
    fields_of,
)
from forecast_attn.config.values import may_be_none, option_type

TARGET = Path(__file__).resolve().parent.parent / "forecast_attn" / "config" / "keywords.py"
OF_ONE_TRAINING = ("attention", "vintages", "seed")
"""Options of training that `compare` and `tune` do not take, or take themselves."""
OPENING = '''"""The keywords of functions that take options, for type checkers and editors.

Written by `make docs` from `config.options` and `config.requests`; a test fails when it is out of date.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict
'''


def accepted(field: Any) -> str:
    """The annotation of what Python code may pass."""
    metadata = field.metadata
    kind = option_type(field).accepts
    if metadata["choices"]:
        kind = "str"
    return f"{kind} | None" if may_be_none(field) else kind


def explained(field: Any) -> str:
    """The help of an option and its default, as a docstring, which editors show beside the keyword."""
    choices, default = field.metadata["choices"], field.default
    text = f"{field.metadata['help']} ({', '.join(choices)})" if choices else field.metadata["help"]
    text = f"{text[0].upper()}{text[1:]}." + ("" if default in (None, ()) else f" Default: {default!r}.")
    return textwrap.indent("\n".join(textwrap.wrap(f'"""{text}', 113, break_on_hyphens=False)) + '"""', "    ")


def class_of(
    name: str,
    parts: tuple[Any, ...],
    summary: str,
    without: tuple[str, ...] = (),
    only: tuple[str, ...] = (),
    base: str = "TypedDict",
) -> str:
    """The source of one class; a name that stands in several parts is as the first one has it."""
    fields: dict[str, Any] = {}
    for part in parts:
        for field in fields_of(part):
            if field.name not in without and (part not in TRAINING or not only or field.name in only):
                fields.setdefault(field.name, field)
    lines = [f"    {field.name}: {accepted(field)}\n{explained(field)}" for field in fields.values()]
    return f'class {name}({base}, total=False):\n    """{summary}"""\n\n' + "\n".join(lines) + "\n"


def document() -> str:
    """The whole module."""
    classes = [
        class_of("SharedKeywords", TRAINING, "Options of every training, of one network or of many.", OF_ONE_TRAINING),
        class_of("TrainKeywords", TRAINING, "Options of `forecast train`.", (), OF_ONE_TRAINING, "SharedKeywords"),
        class_of(
            "CompareKeywords",
            (CompareRequest,),
            "Options of `compare` but its mechanisms and folder.",
            ("attention", "out"),
            base="SharedKeywords",
        ),
        class_of("TuneKeywords", (TuneRequest, *TRAINING), "Options of `tune`.", (), ("attention",), "SharedKeywords"),
        class_of("PredictKeywords", (PredictRequest,), "Options of `forecast predict`."),
        class_of("BacktestKeywords", (BacktestRequest,), "Options of `forecast backtest`."),
        class_of("ScoreKeywords", (ScoreRequest,), "Options of `forecast score`."),
        class_of("ReconcileKeywords", (ReconcileRequest,), "Options of `forecast reconcile`."),
        class_of("UpdateKeywords", (UpdateRequest,), "Options of `forecast update`."),
        class_of("AuditKeywords", (AuditRequest,), "Options of `forecast audit`."),
        class_of("InspectKeywords", (InspectRequest,), "Options of `forecast inspect`."),
        class_of("PlotKeywords", (PlotRequest,), "Options of `forecast plot` but its kind.", ("kind",)),
        class_of("ReportKeywords", (ReportRequest,), "Options of `forecast report`."),
        class_of("ExportKeywords", (ExportRequest,), "Options of `forecast export` but its file.", ("onnx",)),
        class_of("ServingKeywords", (ServingRequest,), "Options of `create_app`."),
        class_of("ServeKeywords", (ServeRequest,), "Options of `serve`."),
        class_of("UiKeywords", (UiRequest,), "Options of `ui`."),
        class_of("EvaluateKeywords", (EvaluateRequest, *TRAINING), "Options of `forecast evaluate`.", only=READING),
    ]
    return "\n\n".join([OPENING, *classes])


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
