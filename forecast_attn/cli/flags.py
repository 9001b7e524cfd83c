"""Flags of a command made from the fields of the configuration, so that every option stands once."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from forecast_attn.config.file import read_config_file
from forecast_attn.config.options import SECTIONS, all_options
from forecast_attn.config.values import CHOICES, flag_name

Json = Annotated[bool, typer.Option("--json", help="Write one JSON document to stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, tables or notes on stderr.")]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="TOML file of options; flags override it.")
]

INTERRUPTED = 130
"""Exit code after Ctrl-C. A command that has told of it itself raises SystemExit with it; Typer's Exit is not told."""

_TYPES: dict[str, Any] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "tuple[str, ...]": list[str],
    "tuple[float, ...]": list[str],
    "tuple[int, ...]": list[str],
}
_PANELS = {"data": "Data", "model": "Model", "training": "Training"}


def with_options(
    *sections: str, only: tuple[str, ...] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command one flag per field of these sections of the configuration, or per field named in `only`.

    The command takes them as `**options`: only those that were given, by field name.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        known = {name: f for name, (section, f) in all_options().items() if section in sections}
        known = known if only is None else {name: known[name] for name in only}

        def wrapper(**values: Any) -> None:
            given = {name: values.pop(name) for name in known}
            command(**values, **{name: value for name, value in given.items() if value is not None})

        own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.kind is not p.VAR_KEYWORD]
        parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in own] + [_parameter(f) for f in known.values()]
        wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
        wrapper.__name__ = command.__name__
        wrapper.__doc__ = command.__doc__
        return wrapper

    return decorate


def given_options(config: Path | None, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a configuration file, overruled by those of the command line.

    Raises:
        ConfigError: the file cannot be read, or has an unknown key.
    """
    return {**(read_config_file(config) if config is not None else {}), **options}


def _parameter(option_field: dataclasses.Field[Any]) -> inspect.Parameter:
    kind = _TYPES[str(option_field.type).replace(" | None", "")]
    flag = flag_name(option_field)
    names = [f"--{flag}/--no-{flag}"] if kind is bool else [f"--{flag}"]
    section = next(part for part, class_ in SECTIONS.items() if option_field in dataclasses.fields(class_))
    information = typer.Option(
        *names,
        help=_help(option_field),
        metavar=None if kind is bool else option_field.metadata["metavar"] or _metavar(option_field, kind),
        show_default=False,
        rich_help_panel=_PANELS[section],
    )
    annotation: Any = Annotated[kind | None, information]
    return inspect.Parameter(option_field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _metavar(option_field: dataclasses.Field[Any], kind: Any) -> str:
    if option_field.name in CHOICES:
        return "NAME"
    return {int: "N", float: "X", str: "TEXT", list[str]: "NAMES"}[kind]


def _help(option_field: dataclasses.Field[Any]) -> str:
    """Help text, the choices, and the default where there is one."""
    text = option_field.metadata["help"]
    text = text[0].upper() + text[1:]
    choices = CHOICES.get(option_field.name, ())
    if choices and option_field.name not in ("attention", "preset"):  # these have a list of their own
        text += f" ({', '.join(choices)})"
    default = option_field.default
    if default is None or default == ():
        return f"{text}."
    shown = {True: "on", False: "off"}.get(default, default) if isinstance(default, bool) else default
    return f"{text}. \\[default: {shown}]"
