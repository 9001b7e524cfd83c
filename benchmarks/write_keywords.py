"""Writes forecast_attn/config/keywords.py from the options; with --check, fails when it is out of date."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from forecast_attn.config.requests import (
    READING,
    TRAINING,
    AttentionFile,
    AuditRequest,
    BacktestRequest,
    CompareRequest,
    Computing,
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
    Sharing,
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


class Keywords(NamedTuple):
    """A class to write: the fields of some classes of options, without those that its bases have."""

    name: str
    parts: tuple[Any, ...]
    summary: str
    bases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    """The options of training among its fields; all when empty."""

    def fields(self) -> dict[str, Any]:
        """Its fields by name; one that stands in several parts is as the first one has it."""
        inherited = {name for base in self.bases for name in KEYWORDS[base].all_names()}
        return {name: field for name, field in self._all_fields().items() if name not in inherited}

    def all_names(self) -> set[str]:
        """Names of its fields and of those of its bases."""
        return set(self._all_fields()) | {name for base in self.bases for name in KEYWORDS[base].all_names()}

    def _all_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for part in self.parts:
            for field in fields_of(part):
                if field.name not in self.without and (
                    part not in TRAINING or not self.only or field.name in self.only
                ):
                    fields.setdefault(field.name, field)
        return fields

    def source(self) -> str:
        bases = ", ".join(self.bases) or "TypedDict"
        lines = [f"    {field.name}: {accepted(field)}\n{explained(field)}" for field in self.fields().values()]
        return f'class {self.name}({bases}, total=False):\n    """{self.summary}"""\n\n' + "\n".join(lines) + "\n"


OF_FILE, OF_DEVICE, OF_SHARING = "AttentionFileKeywords", "ComputingKeywords", "SharingKeywords"
OF_READING, OF_EVERY_TRAINING = "ReadingKeywords", "SharedKeywords"
KEYWORDS = {
    each.name: each
    for each in (
        Keywords(OF_DEVICE, (Computing,), "The device of a command."),
        Keywords(OF_SHARING, (Sharing,), "The processes among which a command shares out its work."),
        Keywords(OF_FILE, (AttentionFile,), "The file of attention weights that a command writes."),
        Keywords(OF_READING, TRAINING, "Reading of a table.", only=READING),
        Keywords(
            OF_EVERY_TRAINING,
            TRAINING,
            "Options of every training, of one network or of many.",
            (OF_READING,),
            OF_ONE_TRAINING,
        ),
        Keywords("TrainKeywords", TRAINING, "Options of `forecast train`.", (OF_EVERY_TRAINING,), only=OF_ONE_TRAINING),
        Keywords(
            "CompareKeywords",
            (CompareRequest,),
            "Options of `compare` but its mechanisms and folder.",
            (OF_EVERY_TRAINING, OF_SHARING),
            ("attention", "out"),
        ),
        Keywords(
            "TuneKeywords",
            (TuneRequest, *TRAINING),
            "Options of `tune`.",
            (OF_EVERY_TRAINING, OF_SHARING),
            only=("attention",),
        ),
        Keywords("PredictKeywords", (PredictRequest,), "Options of `forecast predict`.", (OF_FILE, OF_DEVICE)),
        Keywords(
            "BacktestKeywords", (BacktestRequest,), "Options of `forecast backtest`.", (OF_FILE, OF_SHARING, OF_DEVICE)
        ),
        Keywords("ScoreKeywords", (ScoreRequest,), "Options of `forecast score`.", (OF_DEVICE,)),
        Keywords("ReconcileKeywords", (ReconcileRequest,), "Options of `forecast reconcile`.", (OF_DEVICE,)),
        Keywords("UpdateKeywords", (UpdateRequest,), "Options of `forecast update`.", (OF_DEVICE,)),
        Keywords("AuditKeywords", (AuditRequest,), "Options of `forecast audit`.", (OF_DEVICE,)),
        Keywords("InspectKeywords", (InspectRequest,), "Options of `forecast inspect`."),
        Keywords("PlotKeywords", (PlotRequest,), "Options of `forecast plot` but its kind.", without=("kind",)),
        Keywords("ReportKeywords", (ReportRequest,), "Options of `forecast report`."),
        Keywords("ExportKeywords", (ExportRequest,), "Options of `forecast export` but its file.", without=("onnx",)),
        Keywords("ServingKeywords", (ServingRequest,), "Options of `create_app`."),
        Keywords("ServeKeywords", (ServeRequest,), "Options of `serve`.", ("ServingKeywords",)),
        Keywords("UiKeywords", (UiRequest,), "Options of `ui`."),
        Keywords("EvaluateKeywords", (EvaluateRequest,), "Options of `forecast evaluate`.", (OF_READING,)),
    )
}


def document() -> str:
    """The whole module."""
    return "\n\n".join([OPENING, *(each.source() for each in KEYWORDS.values())])


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
