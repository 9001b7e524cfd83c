"""The page of `--help`: in a narrow terminal, too, no name of an option is cut and no line ends within a word.

Typer's page, drawn by rich, shortens names to `--refit-learning…` at 80 columns.
"""

from __future__ import annotations

from typing import Any

import forecast_attn.cli.printing as printing

WIDEST = 100
NAMES_END = 30
"""Column at which the explanations begin; that of a longer name begins below it."""


def print_page(command: Any, context: Any) -> None:
    """Print usage, summary, and arguments, options and commands by section."""
    width = min(printing.line_length(), WIDEST)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"Usage: {usage}", printing.broken(command.help or "", width)]
    parts += [_section(heading, rows, width) for heading, rows in _sections(command, context).items()]
    printing.say("\n\n".join(parts))


def _sections(command: Any, context: Any) -> dict[str, list[tuple[str, str]]]:
    """Names and explanations by heading."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for parameter in command.get_params(context):
        row = parameter.get_help_record(context)
        if row is not None:
            kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
            sections.setdefault(getattr(parameter, "rich_help_panel", None) or kind, []).append(row)
    for name, each in getattr(command, "commands", {}).items():
        sections.setdefault("Commands", []).append((name, (each.help or "").partition("\n")[0]))
    return sections


def _section(heading: str, rows: list[tuple[str, str]], width: int) -> str:
    begin = min(max(len(name) for name, _ in rows) + 4, NAMES_END)
    lines = [f"{heading}:"]
    for name, text in rows:
        first, *others = printing.broken(text, width - begin).split("\n")
        start = f"  {name}"
        if len(start) > begin - 2:
            lines.append(start)
            start = ""
        lines += [f"{start:<{begin}}{first}", *(f"{'':<{begin}}{line}" for line in others)]
    return "\n".join(lines)
