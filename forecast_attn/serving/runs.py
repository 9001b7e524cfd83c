"""Served runs by name, and their replacement by newer ones."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forecast_attn.errors import ConfigError, RunError, UserError, did_you_mean, shell_command
from forecast_attn.forecasting.history import read_history
from forecast_attn.forecasting.inference import load_model
from forecast_attn.forecasting.predict import ForecastRequest, LoadedRun, PreparedForecast
from forecast_attn.forecasting.small_batches import stable_sizes
from forecast_attn.runs.run_dir import RunDir


@dataclass(frozen=True, eq=False)
class LoadedVersion:
    """A loaded run; a newer one under the same name is another version."""

    loaded: LoadedRun
    sizes: tuple[int, ...]
    """Sizes of batches with the bits of `predict`."""
    identity: tuple[str, int]
    """Path and time of completion."""
    loaded_at: float
    """Seconds since 1970."""

    @classmethod
    def load(cls, run: RunDir) -> LoadedVersion:
        """Load a finished run and try small batches.

        Raises:
            RunError: it is unfinished or damaged.
        """
        identity = _identity(run)
        loaded = LoadedRun(run, load_model(run))
        tail = read_history(loaded.model, run, None, run.tail.name)
        sizes = stable_sizes(loaded.model, tail.panel)
        with contextlib.suppress(UserError):  # once, so that the first request is not slow; it may lack a future
            PreparedForecast.of(loaded, ForecastRequest())
        return cls(loaded, sizes, identity, time.time())

    @property
    def path(self) -> str:
        """The run directory."""
        return str(self.loaded.run.path)

    def describe(self) -> dict[str, Any]:
        """JSON-able: columns, sizes and series that a request must fit."""
        schema, config = self.loaded.model.schema, self.loaded.model.config
        roles = schema.roles
        return {
            "run": self.path,
            "attention": config.model.attention,
            "lookback": schema.lookback,
            "horizon": schema.horizon,
            "frequency": schema.frequency.alias,
            "zone": schema.zone.type_name,
            "columns": {
                "time": roles.time,
                "target": roles.target,
                "item_id": roles.item_id,
                "past": [*roles.past_covariates, *roles.past_categories],
                "future": [*roles.future_covariates, *roles.future_categories],
                "static": [*roles.static_covariates, *roles.static_categories],
            },
            "quantiles": list(self.loaded.model.quantiles),
            "series": len(schema.scaler.item_ids),
            "loaded_at": self.loaded_at,
        }


def _identity(run: RunDir) -> tuple[str, int]:
    try:
        return str(run.path), run.metrics.stat().st_mtime_ns
    except OSError as error:
        raise RunError(f"cannot read '{run.metrics}': {error.strerror}") from None


class ServedRun:
    """A run, or the newest finished one of a folder, under a name.

    Args:
        name: in addresses.
        path: run directory, or a folder of runs.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name, self.path = name, path
        self.current = LoadedVersion.load(self._newest())
        self._refreshing = threading.Lock()

    def _newest(self) -> RunDir:
        is_folder = self.path.is_dir() and not os.path.lexists(RunDir(self.path).config)
        return RunDir.open_finished(RunDir.newest(self.path).path if is_folder else self.path)

    def refresh(self) -> bool:
        """Load a newer run, if there is one; requests in progress keep the run they started with.

        Returns:
            True where another run is served now.

        Raises:
            UserError: it cannot be loaded; the old one stays.
        """
        with self._refreshing:
            run = self._newest()
            if _identity(run) == self.current.identity:
                return False
            self.current = LoadedVersion.load(run)
            return True


def served_runs(runs: Sequence[Path | str]) -> dict[str, ServedRun]:
    """Load runs by name.

    Args:
        runs: `path`, called after its folder, or `name=path`; a path is a run or a folder of runs.

    Raises:
        ConfigError: no run, two of one name, or a name that cannot stand in an address.
        RunError: a run is unfinished or damaged.
    """
    if not runs:
        raise ConfigError("there is no run to serve", "forecast serve RUN")
    served: dict[str, ServedRun] = {}
    for given in runs:
        name, path = _named(given)
        if name in served:
            raise ConfigError(f"two runs are called '{name}'", "forecast serve one=RUN other=RUN")
        served[name] = ServedRun(name, path)
    return served


def _named(given: Path | str) -> tuple[str, Path]:
    name, equals, path = str(given).partition("=")
    if not equals or Path(given).exists():
        name, path = Path(given).resolve().name, str(given)
    if not name or not all(letter.isalnum() or letter in "-_." for letter in name) or not name.isascii():
        raise ConfigError(f"'{name}' cannot stand in an address", shell_command("serve", f"NAME={path}"))
    return name, Path(path)


def served_run(name: str | None, served: dict[str, ServedRun]) -> ServedRun:
    """Return the run that a request names.

    Args:
        name: None for the only one.
        served: by name.

    Raises:
        RunError: there is none of that name.
        ConfigError: there are several and none is named.
    """
    if name is None and len(served) > 1:
        raise ConfigError("several runs are served", f"name one: {', '.join(served)}")
    if name is None:
        return next(iter(served.values()))
    if name not in served:
        raise RunError(f"there is no run '{name}'", did_you_mean(name, tuple(served)))
    return served[name]
