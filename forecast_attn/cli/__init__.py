"""The command line: `app` with one file per command, and `main`, the only place that prints errors and exits.

Command files import typer and configuration only; everything heavy is imported inside a command's body, so that a help
page waits for neither torch nor pandas.
"""

from __future__ import annotations

import errno
import functools
import os
import re
import sys
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

import forecast_attn.cli.printing as printing
from forecast_attn.cli.help_page import print_page
from forecast_attn.cli.pictures_home import matplotlib_out_of_home
from forecast_attn.errors import INTERRUPTED, ConfigError, DataError, UserError

COMMANDS = {
    "check": "Show how a table is understood and what is wrong with it. Exits with 1 if training would refuse it.",
    "explain": "Explain a finding of `forecast check`: what it means, why it matters, and how to fix it.",
    "train": "Train a network on a table and compare its error with baselines.",
    "compare": "Train attention mechanisms with the same data, budget and seeds, and rank them with their spread.",
    "tune": "Search for the options that forecast a table best, and train a run with them; repeat to continue.",
    "future-template": "Write the CSV of future covariates that predict needs, with empty cells for you to fill in.",
    "predict": "Forecast the steps after the end of the data; write predictions and attention.\n\n"
    "Files go into the run, unless you name one: then only the files you name are written.",
    "backtest": "Forecast from many past cut-offs, with or without refits, and measure the errors.",
    "score": "Flag anomalies: rows outside the interval that was forecast for them, with a p-value for every row.",
    "reconcile": "Make forecasts of series that are sums of each other add up: bottom-up, "
    "top-down or by minimal variance.",
    "update": "Continue training on new rows, in seconds, and write a new run; "
    "keeps the old weights if the new ones are no better.",
    "evaluate": "Score forecasts from any source: errors, skill, and whether differences are significant.",
    "plot": "Draw forecasts with intervals, the error by step, the calibration of quantiles, or attributions.",
    "inspect": "Show what a forecast looked at: heat map, top lags, entropy and warnings.",
    "audit": "Test whether the attention weights of a run can be believed.",
    "report": "Write one printable page on a run: accuracy, calibration, attention, its audit and the worst windows.",
    "export": "Write a run as an ONNX file: raw values in, forecasts and attention weights out, without torch.",
    "serve": "Serve forecasts of runs over HTTP: history in, forecasts, quantiles and attention out.",
    "ui": "Show the runs of a folder in a browser on this machine: losses as they train, weights, reports.",
    "info": "Show versions and hardware, or how a run was trained and how good it is.",
}
"""Commands in the order of the help page, each with its text; its options stand in the file of its name."""


class Commands(TyperGroup):
    """The commands by name. The options of one are built when it is asked for: those of all take long."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {name: TyperCommand(name, help=summary) for name, summary in COMMANDS.items()}

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the page."""
        print_page(self, ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Name, command and its words, also for a shell that completes them."""
        name, _, words = super().resolve_command(ctx, args)
        return name, name and _load(name), words


@functools.cache
def _load(name: str) -> Any:
    """Build a command, with its options, from the function of its file."""
    from forecast_attn.cli.flags import Command

    function = name.replace("-", "_")
    alone = typer.Typer(add_completion=False)
    alone.command(name, cls=Command, help=COMMANDS[name])(getattr(import_module(f"{__name__}.{function}"), function))
    return typer.main.get_command(alone)


app = typer.Typer(
    name="forecast",
    cls=Commands,
    help="Forecast a table with an encoder-decoder network and the attention mechanism of your choice, and see which "
    "past values the forecast looked at.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

NO_MEMORY = re.compile("allocate memory|out of memory|failed to map segment|start new thread|launch worker thread")
"""Words of errors of any type that mean a lack of memory, also under `ulimit -v`."""

LONGEST_WORD = 1000
"""Characters of a word of an error; a path has fewer."""

# Typer does not export the base of its usage errors.
USAGE_ERROR: Any = typer.BadParameter.__mro__[2]


def _show_version(given: bool) -> None:
    if given:
        from forecast_attn.version import package_version

        printing.say(f"forecast-attn {package_version()}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Global options."""


@matplotlib_out_of_home()
def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 bad data or bad run, 2 bad command line, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    printing.accept_any_text()
    _keep_completions_on_one_line()
    try:
        sys.exit(_run([word for word in given if word != "--debug"]))
    except UserError as error:
        if debug:
            raise
        if not error.is_told_elsewhere:
            _print_user_error(error, as_json="--json" in given)
        sys.exit(error.exit_code)
    except USAGE_ERROR as error:
        if error.format_message():  # empty where the help was shown instead
            message, hint = _usage_error(error, given)
            _print_user_error(ConfigError(message, hint), as_json="--json" in given)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _print_error("interrupted", None)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        _abandon_stdout()  # the reader of a pipe (head, less) has closed it
        sys.exit(0)
    except Exception as error:
        if debug or not (isinstance(error, OSError) or _lacks_memory(error)):
            raise
        _print_error(*_system_error(error))
        sys.exit(1)


def _run(words: list[str]) -> int:
    """Run a command; a closed pipe and Ctrl-C, which Typer turns into exit codes, are raised again."""
    try:
        code = _program()(args=words, prog_name=app.info.name, standalone_mode=False)
        sys.stdout.flush()  # here, where a full disk or a closed pipe can still be reported
    except SystemExit as ending:
        if isinstance(ending.__context__, BrokenPipeError):
            raise ending.__context__ from None
        raise
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


@functools.cache
def _program() -> Any:
    return typer.main.get_command(app)


def _keep_completions_on_one_line() -> None:
    """Make the terminal wide where a shell asks for completions: Typer wraps their explanations at its width, and a
    shell takes every line for a completion.
    """
    if "_FORECAST_COMPLETE" in os.environ:
        os.environ["COLUMNS"] = "1000"


def _lacks_memory(error: Exception) -> bool:
    """Return whether the system refused memory: to Python, numpy, torch or Arrow, to a library or to a thread."""
    return isinstance(error, MemoryError) or NO_MEMORY.search(str(error)) is not None


def _system_error(error: Exception) -> tuple[str, str | None]:
    """A message and a hint for an error of the operating system."""
    if _lacks_memory(error) or not isinstance(error, OSError):
        return "this needs more memory than there is", "smaller sizes, or fewer windows at once: --batch-size"
    if error.filename is not None:
        return f"{error.strerror or error}: '{error.filename}'", "run it again with --debug to see where"
    _abandon_stdout()
    if error.errno not in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return f"reading or writing a file failed: {error.strerror or error}", "run it again with --debug to see which"
    return f"cannot write the output: {error.strerror or error}", "check that its disk is not full"


def _abandon_stdout() -> None:
    """Point stdout at the null device, so that flushing its buffer at exit cannot fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_error(message: str, hint: str | None) -> None:
    for kind, text in (("error", message), ("hint", hint)):
        if text is not None:
            printing.say_error(f"{kind}: {printing.shortened(printing.one_line(text), LONGEST_WORD)}")


def _print_user_error(error: UserError, *, as_json: bool) -> None:
    """Print an error with the commands that avoid it; under --json as one document on stdout, too."""
    _print_error(error.message, _full_hint(error))
    for command in error.commands:
        printing.say(f"try: {printing.one_line(command)}", err=True)
    if as_json:
        try:
            printing.write_json({"error": error.to_dict()})
            sys.stdout.flush()
        except OSError:  # the disk of stdout may be the one that is full
            _abandon_stdout()


def _full_hint(error: UserError) -> str | None:
    """The hint, and for a problem with a code the command that explains it."""
    code = error.code if isinstance(error, DataError) else None
    if code is None or error.hint is None:
        return error.hint
    return f"{error.hint}{'' if error.hint.endswith('?') else ';'} `forecast explain {code}` says more"


OTHER_NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("--mechanism", "--attention-mechanism", "--mechanisms"), ("--attention",)),
    **dict.fromkeys(("--epochs", "--n-epochs", "--num-epochs"), ("--max-epochs",)),
    **dict.fromkeys(("--lr", "--rate"), ("--learning-rate",)),
    **dict.fromkeys(("--steps", "--prediction-length", "--h"), ("--horizon",)),
    **dict.fromkeys(("--context-length", "--input-size", "--window"), ("--lookback",)),
    **dict.fromkeys(("--series", "--item-id"), ("--item",)),
    **dict.fromkeys(
        ("--out", "--output", "--output-dir", "--run", "--run-dir"), ("--out", "--png", "--html", "--onnx")
    ),
    **dict.fromkeys(("--date", "--time-col", "--time-column", "--timestamp"), ("--time",)),
    **dict.fromkeys(("--future-covariates", "--known-covariates", "--futr-exog"), ("--future",)),
    **dict.fromkeys(("--past-covariates", "--hist-exog"), ("--past",)),
    **dict.fromkeys(("--static-covariates", "--stat-exog"), ("--static",)),
    **dict.fromkeys(("--target-col", "--target-column"), ("--target",)),
    **dict.fromkeys(("--id-col", "--id-column", "--group", "--group-by"), ("--id",)),
}
"""Names of our options in other tools or commands, which no search by spelling would find: the first that there is."""


def _argument_called(option: str, context: Any) -> str | None:
    """The argument of a command that somebody wrote as an option: RUN of `--run`."""
    arguments = (each for each in context.command.params if each.param_type_name == "argument")
    names = [name for each in arguments for name in re.findall("[A-Z]+", each.metavar or each.name.upper())]
    return next((name for name in names if option == f"--{name.lower()}"), None)


def _usage_error(error: Any, words: list[str]) -> tuple[str, str | None]:
    """Turn Typer's message about a command line into one sentence and a hint."""
    message, _, guess = error.format_message().partition(" Did you mean ")
    near, context = getattr(error, "possibilities", None), getattr(error, "ctx", None)
    name = getattr(error, "option_name", None)
    if name is not None and context is not None and (argument := _argument_called(name, context)) is not None:
        return f"no such option '{name}'", f"{context.command_path} {argument}: {argument} is written without {name}"
    if context is not None:
        options = {option for each in context.command.params for option in each.opts}
        if name not in options:
            near = [known_as for known_as in OTHER_NAMES.get(name or "", ()) if known_as in options] or near
    if near:
        message, guess = f"no such option '{name}'", f"'{near[0]}'?"
    # An error about the value of an option does not name the command that was being read.
    command = next((word for word in words if not word.startswith("-")), "")
    path = f"{app.info.name} {command}" if command in COMMANDS else app.info.name
    page = f"{path if context is None else context.command_path} --help"
    return message[:1].lower() + message[1:].rstrip("."), f"did you mean {guess}" if guess else page
