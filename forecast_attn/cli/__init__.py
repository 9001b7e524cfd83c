"""The command line: `app` with one file per command, and `main`, the only place that prints errors and exits.

Command files import typer and configuration only; everything heavy is imported inside a command's body, so that a help
page waits for neither torch nor pandas.
"""

from __future__ import annotations

import copy
import functools
import os
import re
import sys
from typing import Annotated, Any, NoReturn

import typer

import forecast_attn.cli.completion as completion
import forecast_attn.cli.printing as printing
from forecast_attn.cli.audit import audit
from forecast_attn.cli.backtest import backtest
from forecast_attn.cli.check import check
from forecast_attn.cli.compare import compare
from forecast_attn.cli.evaluate import evaluate
from forecast_attn.cli.explain import explain
from forecast_attn.cli.export import export
from forecast_attn.cli.flags import INTERRUPTED, Command
from forecast_attn.cli.future_template import future_template
from forecast_attn.cli.info import info
from forecast_attn.cli.inspect import inspect
from forecast_attn.cli.plot import plot
from forecast_attn.cli.predict import predict
from forecast_attn.cli.reconcile import reconcile
from forecast_attn.cli.report import report
from forecast_attn.cli.score import score
from forecast_attn.cli.serve import serve
from forecast_attn.cli.train import train
from forecast_attn.cli.tune import tune
from forecast_attn.cli.ui import ui
from forecast_attn.cli.update import update
from forecast_attn.errors import ConfigError, DataError, UserError

app = typer.Typer(
    name="forecast",
    help="Forecast a CSV with an encoder-decoder whose attention you choose, and see what the forecast looked at.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    check,
    explain,
    train,
    compare,
    tune,
    future_template,
    predict,
    backtest,
    score,
    reconcile,
    update,
    evaluate,
    plot,
    inspect,
    audit,
    report,
    export,
    serve,
    ui,
    info,
):
    app.command(command.__name__.replace("_", "-"), cls=Command)(command)

# Typer does not export the base of its usage errors.
USAGE_ERROR: Any = typer.BadParameter.__mro__[2]


def _show_version(wanted: bool) -> None:
    if wanted:
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
    """Options before the command."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: 0 done, 1 bad data or bad run, 2 bad command line, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    printing.accept_any_text()
    completion.prepare()
    try:
        sys.exit(_run([word for word in given if word != "--debug"]))
    except UserError as error:
        if debug:
            raise
        _tell(error, as_json="--json" in given)
        sys.exit(error.exit_code)
    except USAGE_ERROR as error:
        if error.format_message():  # empty where the help was shown instead
            message, hint = _usage_error(error)
            _tell(ConfigError(message, hint), as_json="--json" in given)
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        _say("interrupted", None)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        _abandon_stdout()  # the reader of a pipe (head, less) has had enough
        sys.exit(0)
    except (OSError, MemoryError, RuntimeError) as error:
        if debug or not _is_of_the_system(error):
            raise
        _say(*_system_error(error))
        sys.exit(1)


def _run(words: list[str]) -> int:
    """Run a command, and make exceptions again of Typer's own answers to a closed pipe and to Ctrl-C."""
    try:
        code = _program(words[0] if words else "")(args=words, prog_name=app.info.name, standalone_mode=False)
        sys.stdout.flush()  # here, where a full disk or a closed pipe can still be told
    except SystemExit as ending:
        if isinstance(ending.__context__, BrokenPipeError):
            raise ending.__context__ from None
        raise
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


@functools.cache
def _program(word: str) -> Any:
    """Build the program with the one command that is asked for, or with all: the options of all take long."""
    program = copy.copy(app)
    asked = [each for each in app.registered_commands if each.name == word]
    program.registered_commands = asked or app.registered_commands
    return typer.main.get_command(program)


def _is_of_the_system(error: Exception) -> bool:
    """Return True where the system refused a file, or Python, numpy or torch memory."""
    if isinstance(error, RuntimeError):
        return re.search("allocate memory|out of memory", str(error)) is not None
    return True


def _system_error(error: Exception) -> tuple[str, str | None]:
    """A message and a hint for what the system refused."""
    if not isinstance(error, OSError):
        return "this needs more memory than there is", "smaller sizes, or fewer windows at once: --batch-size"
    if error.filename is not None:
        return f"{error.strerror or error}: '{error.filename}'", "run it again with --debug to see where"
    _abandon_stdout()
    return f"cannot write the output: {error.strerror or error}", "check that its disk is not full"


def _abandon_stdout() -> None:
    """Point stdout nowhere, so that what is left in its buffer cannot fail once more at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str, hint: str | None) -> None:
    printing.say(f"error: {printing.one_line(message)}", err=True)
    if hint is not None:
        printing.say(f"hint: {printing.one_line(hint)}", err=True)


def _tell(error: UserError, *, as_json: bool) -> None:
    """Print an error with the commands that avoid it; under --json as one document on stdout, too."""
    _say(error.message, _full_hint(error))
    for command in error.commands:
        printing.say(f"try: {printing.one_line(command)}", err=True)
    if as_json:
        printing.write_json({"error": error.to_dict()})


def _full_hint(error: UserError) -> str | None:
    """The hint, and where a problem of the table has a code, the command that tells more about it."""
    code = error.code if isinstance(error, DataError) else None
    return error.hint if code is None or error.hint is None else f"{error.hint}; forecast explain {code} says more"


OTHER_NAMES = {
    **dict.fromkeys(("--mechanism", "--attention-mechanism", "--mechanisms"), "--attention"),
    **dict.fromkeys(("--epochs", "--n-epochs", "--num-epochs"), "--max-epochs"),
    **dict.fromkeys(("--lr", "--rate"), "--learning-rate"),
    **dict.fromkeys(("--steps", "--prediction-length", "--h"), "--horizon"),
    **dict.fromkeys(("--context-length", "--input-size", "--window"), "--lookback"),
}
"""Names that other tools, or people, give to options of ours, which spelling would not lead to."""


def _usage_error(error: Any) -> tuple[str, str | None]:
    """Typer's own message about a command line in the shape of ours: one sentence and a hint."""
    message, _, guess = error.format_message().partition(" Did you mean ")
    near, context = getattr(error, "possibilities", None), getattr(error, "ctx", None)
    name = getattr(error, "option_name", None)
    meant = OTHER_NAMES.get(name or "")
    if meant is not None and context is not None and any(meant in each.opts for each in context.command.params):
        near = [meant]
    if near:
        message, guess = f"no such option '{name}'", f"'{near[0]}'?"
    page = f"{app.info.name if context is None else context.command_path} --help"
    return message[:1].lower() + message[1:].rstrip("."), f"did you mean {guess}" if guess else page
