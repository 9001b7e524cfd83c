"""The commands to type after an error of `check` or `train`: options that read the table, or a wrong one corrected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from forecast_attn.config.options import RunConfig, find_option
from forecast_attn.config.values import flag_name
from forecast_attn.errors import ConfigError, DataError, nearest


@contextmanager
def naming_commands(data: str, options: Mapping[str, Any], out: object = None) -> Iterator[None]:
    """Add the commands to type instead to an error of the table or of an option's value.

    Args:
        data: the table, as it was named.
        options: that were given, by field name.
        out: the run directory that was named.
    """
    given = dict(options) if out is None else {**options, "out": out}
    try:
        yield
    except ConfigError as error:
        error.commands = _with_a_right_value(data, given, error.message)
        raise
    except DataError as error:
        from forecast_attn.checking.proposal import command_text
        from forecast_attn.data.roles import TooManyColumnsError

        if error.code == "FA101" and error.value is not None:  # there is no such file, but another one
            error.commands = (command_text(error.value, given, {}),)
        elif not error.is_told_elsewhere and not isinstance(error, TooManyColumnsError):
            error.commands = _that_read(data, given)
        raise


def _that_read(data: str, given: Mapping[str, Any]) -> tuple[str, ...]:
    """The commands that train on a table which these options do not train on, each with what it forecasts."""
    from forecast_attn.checking import examine
    from forecast_attn.checking.commands import find_commands
    from forecast_attn.checking.proposal import check_command_text, command_text
    from forecast_attn.data.reading import fetched

    config = _config_of(given).data
    table = fetched(data)
    examination = examine(table, config)
    proposals, obstacle = find_commands(table, config, examination)
    if obstacle is not None:
        return (f"{obstacle.command(data, given)}  # {obstacle.finding.message}",)
    if not proposals and examination.table is not None:
        return (f"{check_command_text(data, given)}  # lists all that is wrong, for you to correct",)
    return tuple(
        f"{command_text(data, given, proposal.options)}  # {proposal.forecasts}"
        for proposal in proposals
        if proposal.options
    )


def _with_a_right_value(data: str, given: Mapping[str, Any], message: str, without: str = "") -> tuple[str, ...]:
    """The command in which the wrong option has the nearest of its values, or is left out, and so has the next one."""
    from forecast_attn.checking.commands import find_proposals
    from forecast_attn.checking.proposal import command_text

    flags = {name: f"--{'out' if name == 'out' else flag_name(find_option(name)[1])}" for name in given}
    named = [name for name in given if flags[name] in message]
    for name in (*named, *(name for name in given if name not in named and repr(str(given[name])) in message)):
        right = _nearest_value(name, given[name])
        changed = {**given, name: right} if right else {other: given[other] for other in given if other != name}
        withdrawn = without if right else f"{without}, without {flags[name]}"
        try:
            proposals = find_proposals(data, _config_of(changed).data)
        except ConfigError as error:
            commands = () if error.message == message else _with_a_right_value(data, changed, error.message, withdrawn)
            if commands:
                return commands
            continue
        return tuple(
            f"{command_text(data, changed, each.options)}  # {each.forecasts}{withdrawn}" for each in proposals
        )
    return ()


def _nearest_value(name: str, value: object) -> str | None:
    """The choice of an option that looks most like a value; None where it has no choices, or none is near."""
    if name == "out":
        return None
    choices = find_option(name)[1].metadata["choices"]
    return nearest(str(value), choices) if choices and value not in choices else None


def _config_of(given: Mapping[str, Any]) -> RunConfig:
    return RunConfig.from_options({name: value for name, value in given.items() if name != "out"})
