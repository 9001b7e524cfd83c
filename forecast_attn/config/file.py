"""Reads the TOML file of `--config`: the same options as on the command line. The standard library only."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import forecast_attn.pipes as pipes
from forecast_attn.config.options import SECTIONS, by_field
from forecast_attn.config.requests import REQUESTS
from forecast_attn.errors import ConfigError, did_you_mean

LARGEST = 2**16
"""Bytes of a file that people write by hand: /dev/zero never ends."""
_MOST_DOTS = 2000
"""In a line of TOML: the parser's time and memory grow with the square of a dotted key's length."""


class FileOptions(NamedTuple):
    """The options of a file for one command, by the names of fields."""

    training: dict[str, Any]
    """Options of training, and `out`."""
    command: dict[str, Any]
    """Options in the command's own table."""


def read_config_file(path: Path, command: str | None = None) -> FileOptions:
    """Read the options of a TOML file.

    Options of training stand in the tables [data], [model] and [training], or in none; those of another command in a
    table of its name, such as [backtest], which the other commands pass over.

    Raises:
        ConfigError: no such file, not TOML, an unknown key, or an option that is there twice.
    """
    training: dict[str, Any] = {}
    of_command: dict[str, Any] = {}
    for name, value in read_toml(path).items():
        if isinstance(value, dict) and name not in (*SECTIONS, *REQUESTS):
            raise ConfigError(f"'{path}' has an unknown table [{name}]", did_you_mean(name, (*SECTIONS, *REQUESTS)))
        try:
            if name in REQUESTS and isinstance(value, dict):
                checked = REQUESTS[name].checked(value)
                of_command |= checked if name == command else {}
            elif name == "out" and isinstance(value, str):
                training[name] = value  # where a command writes is no option of the model, but has a flag all the same
            else:
                keys = by_field(value if isinstance(value, dict) else {name: value})
                if repeated := training.keys() & keys:
                    raise ConfigError(f"'{min(repeated)}' is there twice", "give it once")
                training |= keys
        except ConfigError as error:
            is_of_command = command is not None and name.replace("-", "_") in REQUESTS[command].names()
            hint = f"write it below a line [{command}]" if is_of_command else None
            raise error.reworded(f"'{path}': {error.message}", hint) from None
    return FileOptions(training, of_command)


def read_toml(
    path: Path, kind: str = "configuration", hint: str = "a TOML file of options, with lines such as horizon = 24"
) -> dict[str, Any]:
    """Read a TOML file.

    Args:
        path: the file.
        kind: its name in messages.
        hint: of a file that cannot be read.

    Raises:
        ConfigError: no such file, or not TOML.
    """
    import tomllib  # few commands read a file, and every help page would wait for its patterns

    content = read_small(path, kind, hint)
    try:
        if any(line.count(b".") > _MOST_DOTS for line in content.splitlines()):
            raise RecursionError
        return tomllib.loads(content.decode("utf-8-sig").replace("\r\n", "\n"))
    except RecursionError:
        raise ConfigError(f"'{path}' is no {kind}: its values are nested too deeply") from None
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise ConfigError(f"'{path}' is not valid TOML: {str(error).partition(';')[0]}") from None


def read_small(path: Path, kind: str, hint: str) -> bytes:
    """Read a file that people write by hand.

    Args:
        path: the file.
        kind: its name in messages.
        hint: of a file that cannot be read.

    Raises:
        ConfigError: it cannot be read, or is too large to be one.
    """
    try:
        content = pipes.read(path, LARGEST + 1)
    except OSError as error:
        raise ConfigError(f"cannot read the {kind} '{path}': {error.strerror}", hint) from None
    if len(content) > LARGEST:
        raise ConfigError(f"'{path}' is no {kind}: it has more than {LARGEST:,} bytes", hint)
    return content
