"""`forecast train`: a CSV in, a run directory out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.completion import resumable_runs
from forecast_attn.cli.flags import (
    ConfigFile,
    Json,
    Quiet,
    TableArgument,
    given_options,
    refuse_with_resume,
    with_options,
)
from forecast_attn.cli.signals import with_resume_hint
from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.options import DataConfig, RunConfig, find_option
from forecast_attn.config.requests import TRAINING, TrackingRequest
from forecast_attn.config.values import PRESETS, flag_name
from forecast_attn.errors import INTERRUPTED, ConfigError, DataError
from forecast_attn.urls import url_of

if TYPE_CHECKING:
    from forecast_attn.forecaster import Forecaster


# Most flags and their help stand in config/options.py (TRAINING), those of --logger in config/requests.py.
@with_options(*TRAINING, TrackingRequest)
def train(
    data: TableArgument = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Run directory (default: runs/<time>-<attention>).")
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option(
            "--resume",
            metavar="RUN",
            help="Continue an interrupted run; takes no other option but --log-to.",
            autocompletion=resumable_runs,
        ),
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    if options.get("attention") == "help":
        _list_mechanisms()
        return
    if options.get("preset") == "help":
        _list_presets()
        return
    if resume is not None:
        refuse_with_resume({"out": out, "config": config, **options}, "a run", ("log_to",))
    elif data is None:
        raise ConfigError("there is no table to train on", "forecast train data.csv")
    else:
        from forecast_attn.runs.run_dir import check_is_free, fresh_path

        tracking = TrackingRequest.from_options(
            {name: options.pop(name) for name in TrackingRequest.names() if name in options}
        )
        options = given_options(config, options)
        from_file = options.pop("out", None)
        named = out or from_file
        # A wrong option or directory is reported before anything heavy is loaded.
        checked = RunConfig.from_options(options)
        out = Path(named) if named else fresh_path(checked.model.attention)
        check_is_free(out)

    from forecast_attn.cli.training_display import TrainingDisplay, show_summary
    from forecast_attn.training.process_group import is_follower

    run = resume or out
    assert run is not None
    follows = is_follower(None if resume is not None else checked.training)
    display = TrainingDisplay(quiet=quiet or follows)
    display.say("loading" if resume is None else f"resuming {resume}")
    with with_resume_hint(lambda: _resume_command(run)), display:
        from forecast_attn.cli.library import Forecaster

        if resume is not None:
            forecaster = Forecaster.resume(resume, data, listener=display, log_to=options.get("log_to"))
        else:
            forecaster = Forecaster(**options)
            with _naming_commands(data, options, named, forecaster):
                forecaster.fit(data, out=out, listener=display, **tracking.to_options())  # type: ignore[arg-type]
    if follows:
        return
    show_summary(forecaster, as_json=json)
    if forecaster.metrics["ended"] == "interrupted":
        raise SystemExit(INTERRUPTED)


def _resume_command(path: Path) -> str | None:
    from forecast_attn.runs.run_dir import RunDir

    run = RunDir(path)
    return f"continue with: {run.resume_command}" if run.config.is_file() and not run.is_finished else None


@contextmanager
def _naming_commands(data: Any, options: dict[str, Any], out: object, forecaster: Forecaster) -> Iterator[None]:
    """Add the commands to type instead to an error of the table."""
    try:
        yield
    except DataError as error:
        from forecast_attn.checking.proposal import command_text
        from forecast_attn.data.roles import TooManyColumnsError

        if error.code == "FA101" and error.value is not None:  # there is no such file, but another one
            error.commands = (command_text(error.value, options if out is None else {**options, "out": out}, {}),)
        elif not error.is_told_elsewhere and not isinstance(error, TooManyColumnsError):
            error.commands = _commands(url_of(data) or str(data), options, out, forecaster.config.data)
        raise


def _commands(data: str, options: dict[str, Any], out: object, config: DataConfig) -> tuple[str, ...]:
    """The commands that train on a table which these options do not train on, each with what it forecasts."""
    from forecast_attn.checking import examine
    from forecast_attn.checking.commands import find_obstacle, find_proposals
    from forecast_attn.checking.proposal import check_command_text, command_text
    from forecast_attn.data.reading import fetched

    given = options if out is None else {**options, "out": out}
    table = fetched(data)
    examination = examine(table, config)
    proposals = find_proposals(table, config, examination)
    obstacle = None if proposals else find_obstacle(table, config, examination)
    if obstacle is not None:
        return (f"{obstacle.command(data, options)}  # {obstacle.finding.message}",)
    if not proposals and examination.table is not None:
        return (f"{check_command_text(data, options)}  # lists all that is wrong, for you to correct",)
    return tuple(
        f"{command_text(data, given, proposal.options)}  # {proposal.forecasts}"
        for proposal in proposals
        if proposal.options
    )


def _list_mechanisms() -> None:
    width = max(map(len, ATTENTIONS))
    for name, mechanism in ATTENTIONS.items():
        printing.say(f"{name:<{width}}  {mechanism.order:<8}  {mechanism.summary}")


def _list_presets() -> None:
    for name, preset in PRESETS.items():
        flags = [_as_flag(option, value) for option, value in preset.options.items()]
        printing.say(f"{name:<10}{preset.cost}\n{'':<10}{' '.join(flags) or 'the defaults'}")


def _as_flag(option: str, value: Any) -> str:
    flag = flag_name(find_option(option)[1])
    return f"--{'' if value else 'no-'}{flag}" if isinstance(value, bool) else f"--{flag} {value}"
