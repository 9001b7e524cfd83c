"""Reads the TOML file of `--config`: the same options as on the command line. The standard library only."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from forecast_attn.config.options import SECTIONS, find_option
from forecast_attn.errors import ConfigError, did_you_mean


def read_config_file(path: Path) -> dict[str, Any]:
    """Flat options of a TOML file with the tables [data], [model] and [training], or with none; and `out`.

    Raises:
        ConfigError: no such file, not TOML, or an unknown key.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        hint = "a TOML file of options, with lines such as horizon = 24"
        raise ConfigError(f"cannot read the configuration '{path}': {error.strerror}", hint) from None
    except RecursionError:
        raise ConfigError(f"'{path}' is no configuration: its values are nested too deeply") from None
    except ValueError as error:  # no TOML, no UTF-8, or a number of thousands of digits
        raise ConfigError(f"'{path}' is not valid TOML: {str(error).partition(';')[0]}") from None
    flat: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, dict) and name not in SECTIONS:
            raise ConfigError(f"'{path}' has an unknown table [{name}]", did_you_mean(name, tuple(SECTIONS)))
        if name == "out" and isinstance(value, str):
            flat[name] = value  # where a command writes is no option of the model, but has a flag all the same
            continue
        for key, entry in (value if isinstance(value, dict) else {name: value}).items():
            try:
                flat[find_option(key)[1].name] = entry
            except ConfigError as error:
                raise ConfigError(f"'{path}': {error.message}", error.hint) from None
    return flat
