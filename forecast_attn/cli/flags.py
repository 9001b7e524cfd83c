"""Makes the flags of a command from the classes of its options, and has those that many commands share."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand

from forecast_attn import memory
from forecast_attn.cli.completion import completer_of, finished_runs
from forecast_attn.cli.help_page import print_page
from forecast_attn.cli.signals import ending_at_sigterm
from forecast_attn.config.file import read_config_file
from forecast_attn.config.options import DataConfig, ModelConfig, TrainingConfig, all_options
from forecast_attn.config.requests import Request, fields_of
from forecast_attn.config.values import flag_name, option_type
from forecast_attn.errors import ConfigError

AnyRequest = TypeVar("AnyRequest", bound=Request)

TableArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[DATA]",
        help="Table: CSV, Parquet, Feather, JSON, Stata or spreadsheet, also at a URL; - for stdin.",
        show_default=False,
    ),
]
RunArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="[RUN]", help="Run directory (default: the newest finished run).", autocompletion=finished_runs
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON document to stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, tables or notes on stderr; warnings stay.")]
ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="TOML file of options; flags override it.")
]

_PANELS = {DataConfig: "Data", ModelConfig: "Model", TrainingConfig: "Training"}
_HELP_ALL = "help_all"
_EVERYTHING = f"{__name__}.everything"
"""Key of the mark in a context that its help page is to show every option."""


class Command(TyperCommand):
    """A command whose help page shows the essential options of training; with `--help-all`, every option."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; garbage collection, paused while the program began, is resumed."""
        memory.resume_collection()
        with ending_at_sigterm():
            return super().invoke(ctx)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        is_short = not ctx.meta.get(_EVERYTHING) and any(param.name == _HELP_ALL for param in self.params)
        left_out = [param for param in self.params if is_short and _is_uncommon(param)]
        for param in left_out:
            param.hidden = True  # type: ignore[attr-defined]
        try:
            print_page(self, ctx)
        finally:
            for param in left_out:
                param.hidden = False  # type: ignore[attr-defined]


def _is_uncommon(param: Any) -> bool:
    """Return whether this is an option of training that few people need."""
    if getattr(param, "rich_help_panel", None) not in _PANELS.values():
        return False
    return not all_options()[param.name][1].metadata["essential"]


def _show_all(context: typer.Context, given: bool) -> None:
    if not given or context.resilient_parsing:
        return
    context.meta[_EVERYTHING] = True
    context.get_help()
    raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all",
        is_eager=True,
        expose_value=False,
        callback=_show_all,
        help="Show all options, including the less common ones, and exit.",
    ),
]


def with_options(
    *parts: Any, only: tuple[str, ...] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command one flag per field of these classes; of options of training only those named in `only`.

    The command takes them as `**options`: only those that were given, by field name. A name that stands in several
    classes is one flag, as the first of them has it. A command with all options of training has `--help-all`.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        known: dict[str, tuple[Any, dataclasses.Field[Any]]] = {}
        for part in parts:
            for option_field in fields_of(part):
                if part not in _PANELS or only is None or option_field.name in only:
                    known.setdefault(option_field.name, (part, option_field))

        def wrapper(**values: Any) -> None:
            values.pop(_HELP_ALL, None)
            given = {name: _as_typed(values.pop(name), option_field) for name, (_, option_field) in known.items()}
            command(**values, **{name: value for name, value in given.items() if value is not None})

        taken = inspect.signature(command, eval_str=True).parameters.values()
        inputs = [p for p in taken if p.kind is not p.VAR_KEYWORD]
        flags = [_parameter(option_field, _PANELS.get(part)) for part, option_field in known.values()]
        if only is None and any(part in _PANELS for part in parts):
            inputs.append(
                inspect.Parameter(_HELP_ALL, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll)
            )
        parameters = [p.replace(kind=p.KEYWORD_ONLY) for p in inputs] + flags
        wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        wrapper.__annotations__ = {p.name: p.annotation for p in parameters}
        wrapper.__name__ = command.__name__
        return wrapper

    return decorate


def _as_typed(value: Any, option_field: dataclasses.Field[Any]) -> Any:
    """The texts of an option that was given several times as one with commas between them; other values as they are."""
    has_commas = option_type(option_field).flag == list[str] and option_field.metadata["read"] is None
    return ",".join(value) if has_commas and value is not None else value


def given_options(config: Path | None, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of training in a configuration file, overridden by those of the command line.

    Raises:
        ConfigError: the file cannot be read, or has an unknown key.
    """
    return {**(read_config_file(config).training if config is not None else {}), **options}


def command_options(
    command: str, config: Path | None, options: dict[str, Any], *, trains: bool = False
) -> dict[str, Any]:
    """Return the options in a command's own table of a configuration file, overridden by those of the command line.

    Args:
        command: its name.
        config: the file.
        options: of the command line.
        trains: the command reads options of training too, which stand in other tables or in none.

    Raises:
        ConfigError: the file cannot be read, has an unknown key, or none that the command reads.
    """
    if config is None:
        return options
    of_file = read_config_file(config, command).command
    if not of_file and not trains:
        raise ConfigError(
            f"'{config}' has no option that forecast {command} reads", f"write them below a line [{command}]"
        )
    return {**of_file, **options}


def command_request(request: type[AnyRequest], config: Path | None, options: dict[str, Any]) -> AnyRequest:
    """Return the request of a command, from its table of a configuration file and its command line.

    Raises:
        ConfigError: as `command_options`, or a value outside its type, choices or range.
    """
    return request.from_options(command_options(request.command, config, options))


def refuse_with_resume(options: dict[str, Any], kind: str, allowed: Collection[str]) -> None:
    """Raise ConfigError for an option that would change what `--resume` continues, `a run` or `a comparison`."""
    for name, value in options.items():
        if value is not None and name not in allowed:
            flag = f"--{name.replace('_', '-')}"
            message = f"--resume continues {kind} as it was started; it cannot change {flag}"
            raise ConfigError(message, "leave the other options out")


def search_options(
    request: type[AnyRequest], config: Path | None, options: dict[str, Any]
) -> tuple[AnyRequest, dict[str, Any]]:
    """Split the options of a command that trains many networks: its own request, and what the trainings share.

    Raises:
        ConfigError: the file cannot be read, an unknown key, or a value outside its type, choices or range.
    """
    names = request.names()
    shared = given_options(config, {name: value for name, value in options.items() if name not in names})
    values = {name: shared.pop(name) for name in names if name in shared}
    given = {name: options[name] for name in names if name in options}
    values |= command_options(request.command, config, given, trains=True)
    return request.from_options(values), shared


def _parameter(option_field: dataclasses.Field[Any], panel: str | None) -> inspect.Parameter:
    kind = option_type(option_field).flag
    flag = flag_name(option_field)
    information = typer.Option(
        f"--{flag}/--no-{flag}" if kind is bool else f"--{flag}",
        help=_help(option_field),
        metavar=_metavar(option_field),
        show_default=False,
        rich_help_panel=panel,
        autocompletion=completer_of(option_field),
    )
    annotation: Any = Annotated[kind | None, information]
    return inspect.Parameter(option_field.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _metavar(option_field: dataclasses.Field[Any]) -> str | None:
    kind = option_type(option_field)
    if kind.metavar is None:
        return None
    return option_field.metadata["metavar"] or ("NAME" if option_field.metadata["choices"] else kind.metavar)


def _help(option_field: dataclasses.Field[Any]) -> str:
    """Help text, the choices unless it names them all, and the default if there is one."""
    text = option_field.metadata["help"]
    text = text[0].upper() + text[1:]
    choices = option_field.metadata["choices"]
    has_own_list = option_field.name in ("attention", "preset")
    if not has_own_list and not set(choices) <= set(re.findall(r"[\w-]+", text)):
        text += f" ({', '.join(choices)})"
    default = option_field.default
    if default is None or default == ():
        return f"{text}."
    shown = {True: "on", False: "off"}[default] if isinstance(default, bool) else default
    return f"{text}. [default: {', '.join(shown) if isinstance(shown, tuple) else shown}]"
