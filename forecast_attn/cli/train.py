"""`forecast train`: a CSV in, a run directory out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
from forecast_attn.cli.next_commands import naming_commands
from forecast_attn.cli.signals import with_resume_hint
from forecast_attn.config.mechanisms import ATTENTIONS
from forecast_attn.config.options import RunConfig, find_option
from forecast_attn.config.requests import TRAINING, TrackingRequest
from forecast_attn.config.values import PRESETS, flag_name
from forecast_attn.errors import INTERRUPTED, ConfigError
from forecast_attn.urls import url_of


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
        with naming_commands(_named(data), options, named):
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
            with naming_commands(_named(data), options, named):
                forecaster.fit(data, out=out, listener=display, **tracking.to_options())  # type: ignore[arg-type]
    if follows:
        return
    show_summary(forecaster, as_json=json)
    if forecaster.metrics["ended"] == "interrupted":
        raise SystemExit(INTERRUPTED)


def _named(data: Path | None) -> str:
    """The table as it was named: a path of a URL is that URL."""
    return url_of(data) or str(data)


def _resume_command(path: Path) -> str | None:
    from forecast_attn.runs.run_dir import RunDir

    run = RunDir(path)
    return f"continue with: {run.resume_command}" if run.config.is_file() and not run.is_finished else None


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
