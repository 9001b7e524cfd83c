"""`forecast explain`: what a code of `forecast check` means, offline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import Json
from forecast_attn.errors import shell_command

if TYPE_CHECKING:
    from forecast_attn.data.findings import Code, Example


def explain(
    code: Annotated[
        str | None, typer.Argument(metavar="[CODE]", help="Code such as FA204 (default: all).", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    from forecast_attn.data.findings import all_codes, find_code

    codes = list(all_codes().values()) if code is None else [find_code(code)]
    if json:
        from dataclasses import asdict

        content = asdict(codes[0]) if code is not None else [asdict(one) for one in codes]
        printing.write_json(content)
    elif code is None:
        _list(codes)
    else:
        _print_code(codes[0])


def _list(codes: list[Code]) -> None:
    from forecast_attn.data.findings import GROUPS

    for group, name in GROUPS.items():
        members = [one for one in codes if one.code.startswith(group)]
        if members:
            printing.say(f"{name}:")
        for one in members:
            printing.say(f"  {one.code}  {one.severity:<8} {one.title}")


def _print_code(code: Code) -> None:
    import textwrap

    width = min(printing.line_length(), 100)
    printing.say(f"{code.code} ({code.severity}): {code.title}\n")
    for heading, text in (("means", code.means), ("matters", code.matters), ("fix", code.fix)):
        printing.say(textwrap.fill(text, width, initial_indent=f"{heading + ':':<9}", subsequent_indent=" " * 9))
    for heading, name, example in (("found in", "bad.csv", code.bad), ("put right", "good.csv", code.good)):
        if example is not None:
            _show(heading, name, example)


def _show(heading: str, name: str, example: Example) -> None:
    printing.say(f"\n{heading}:  {shell_command('check', name, *example.options)}")
    if example.encoding != "utf-8":
        printing.say(f"  {name} is saved as {example.encoding}")
    for file, text in {name: example.table, **example.files}.items():
        printing.say(f"\n  {file}\n" if example.files else "")
        for line in text.splitlines():
            printing.say(f"    {line}")
