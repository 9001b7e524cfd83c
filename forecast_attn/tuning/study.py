"""Study of a search: its database, its settings, the next trial, and the finished ones."""

from __future__ import annotations

import contextlib
import datetime
import importlib
import json
import os
import socket
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forecast_attn.errors import ConfigError, RunError, needing
from forecast_attn.runs.atomic import write_errors_of
from forecast_attn.runs.run_dir import RUNS

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial

PLAN = "plan"
"""Attribute of a study: the options it was started with."""
ATTEMPT, PROCESS, ERROR, SAME = "attempt", "process", "error", "same_as"
"""Attributes of a trial: the number of the present attempt, from 1; who works on it; why it failed; and the trial with
the same options whose score it has."""
MOST_ATTEMPTS = 3
"""Attempts at a trial whose process dies; then it is given up, for it may be what kills the process."""
GIVEN_UP = "its process died, several times"
HEARTBEAT, GRACE = 10, 60
"""Seconds between signs of life of a process, and without one until another machine takes its trial for dead."""
WAIT_FOR_PLAN = 30.0
"""Seconds to wait for the process that makes a study to write what it was started with."""
OPENING_ATTEMPTS = 5
"""Attempts at opening a database whose tables another process may be making."""
LOCKED = 60
"""Seconds to wait for another process that writes to an SQLite file."""
FEWEST_FINISHED, FEWEST_EPOCHS = 5, 4
"""Trials, and epochs of a trial, before one may be pruned: a median of fewer trials, or a loss while the learning rate
still rises, says little."""


def check_installed() -> None:
    """Refuse to search without the package of the extra.

    Raises:
        ConfigError: with the command that installs it.
    """
    with needing("a search", "tune"):
        importlib.import_module("optuna")


@contextlib.contextmanager
def quiet_optuna() -> Iterator[None]:
    """Silence what Optuna logs, and its warnings about features it calls experimental."""
    import optuna

    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(level)


def storage_url(storage: str | None, table: str) -> str:
    """Return the URL of a study's database: the one given, an SQLite file, or one in runs/ named after the table."""
    if storage is not None and "://" in storage:
        return storage
    path = RUNS / f"{Path(table).stem}.study.db" if storage is None else Path(storage)
    if storage is None:
        with write_errors_of(path):
            RUNS.mkdir(exist_ok=True)
    if not path.parent.is_dir():
        raise RunError(f"cannot write '{path}': there is no folder '{path.parent}'", f"mkdir -p '{path.parent}'")
    from sqlalchemy.engine import URL

    return URL.create("sqlite", database=str(path)).render_as_string()


def open_study(storage: RDBStorage, name: str, plan: dict[str, Any], first: dict[str, Any], seed: int) -> Study:
    """Make the study, with the defaults as its first trial, or join one that was started with the same options.

    Args:
        storage: the database.
        name: of the study in it.
        plan: the options of the search, JSON-able.
        first: values of the first trial.
        seed: of the search.

    Raises:
        ConfigError: the study was started with other options.
        RunError: the study was not made by this command, or is damaged.
    """
    import optuna

    from forecast_attn.tuning.trial_sampling import SampledByTurn

    # As it comes back from a database: tuples are lists.
    plan = json.loads(json.dumps(plan))
    pruner = optuna.pruners.MedianPruner(n_startup_trials=FEWEST_FINISHED, n_warmup_steps=FEWEST_EPOCHS)
    options: dict[str, Any] = {
        "study_name": name,
        "storage": storage,
        "sampler": SampledByTurn(seed),
        "pruner": pruner,
    }
    try:
        study = optuna.create_study(**options, direction="minimize")
    except optuna.exceptions.DuplicatedStudyError:
        study = optuna.load_study(**options)
        try:
            recorded = _plan_of(study)
            study.get_trials(deepcopy=False)
        except (KeyError, IndexError, TypeError, ValueError) as error:  # Optuna trusts what is in a database
            raise _damage(f"{type(error).__name__}, {error}") from None
        _check_same(name, recorded, plan)
        return study
    study.enqueue_trial(first)
    study.set_user_attr(PLAN, plan)
    return study


def open_storage(url: str) -> RDBStorage:
    """Open the database; wait if it is busy.

    Raises:
        RunError: it cannot be opened.
    """
    import optuna
    import sqlalchemy.exc

    waiting = {"connect_args": {"timeout": LOCKED}} if url.startswith("sqlite") else {}
    attempts = OPENING_ATTEMPTS
    while True:
        attempts -= 1
        try:
            return optuna.storages.RDBStorage(
                url,
                engine_kwargs=waiting,
                heartbeat_interval=HEARTBEAT,
                grace_period=GRACE,
                heartbeat_stale_trial_callback=restart_trial,
            )
        except (sqlalchemy.exc.OperationalError, sqlalchemy.exc.IntegrityError) as error:
            # Two processes that make the tables at once: the second finds them, and their rows, the next time.
            made_by_another = "already exists" in str(error.orig) or isinstance(error, sqlalchemy.exc.IntegrityError)
            if not attempts or not made_by_another:
                raise RunError(f"cannot open the study '{_without_password(url)}': {error.orig}") from None
            time.sleep(0.2)
        except (ImportError, ValueError, RuntimeError, sqlalchemy.exc.SQLAlchemyError) as error:
            reason = str(error).strip().splitlines()[0]
            hint = "a file, or a URL such as postgresql://user@host/database"
            raise RunError(f"cannot open the study '{_without_password(url)}': {reason}", hint) from None


@contextlib.contextmanager
def refusing_damage() -> Iterator[None]:
    """Raise an error for a database that cannot be read or changed.

    Raises:
        RunError: it is damaged, or another program's.
    """
    import optuna
    import sqlalchemy.exc

    try:
        yield
    except (optuna.exceptions.StorageInternalError, sqlalchemy.exc.SQLAlchemyError, LookupError) as error:
        if isinstance(error, KeyError | IndexError):  # of our own; SQLAlchemy raises the bare LookupError
            raise
        raise _damage(str(error.__cause__ or error).strip().splitlines()[0]) from None


def _damage(reason: str) -> RunError:
    hint = "--storage with another file begins another search; a copy of the database may go on"
    return RunError(f"the database of the search is damaged: {reason}", hint)


def close_storage(storage: RDBStorage) -> None:
    """Close the connections to a database."""
    storage.remove_session()
    storage.engine.dispose()


def _without_password(url: str) -> str:
    """Return a URL without its password."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return url.partition("://")[0] + "://…"


def _plan_of(study: Study) -> dict[str, Any]:
    until = time.monotonic() + WAIT_FOR_PLAN
    while PLAN not in study.user_attrs:
        if time.monotonic() > until:
            raise RunError(
                f"the study '{study.study_name}' was not made by forecast tune, or was killed while it was made",
                "name another one with --study or --storage",
            )
        time.sleep(0.1)
    return dict(study.user_attrs[PLAN])


def _check_same(name: str, recorded: dict[str, Any], plan: dict[str, Any]) -> None:
    for part, value in plan.items():
        if recorded.get(part) != value:
            other = "other options" if part == "options" else f"another {part}"
            raise ConfigError(
                f"the study '{name}' was started with {other}: {_difference(part, recorded.get(part), value)}",
                "go on with the same options, or begin a new study with --study NAME or --storage FILE",
            )


def _difference(name: str, was: Any, now: Any) -> str:
    """Describe the first difference of two values: `hidden_size 32, now 64`."""
    if isinstance(was, dict) and isinstance(now, dict):
        key = next(key for key in (*now, *was) if was.get(key) != now.get(key))
        return _difference(key, was.get(key), now.get(key))
    return f"{name} {was}, now {now}"


# --------------------------------------------------------------------------- trials


def counts(trial: FrozenTrial) -> bool:
    """Return True if a trial counts towards `--trials`: it is finished and was not begun again."""
    from optuna.trial import TrialState

    if trial.state == TrialState.FAIL:
        return ERROR in trial.user_attrs or trial.user_attrs.get(ATTEMPT, 0) >= MOST_ATTEMPTS
    return trial.state in (TrialState.COMPLETE, TrialState.PRUNED)


def running(trials: list[FrozenTrial]) -> list[FrozenTrial]:
    """Trials that a process works on."""
    from optuna.trial import TrialState

    return [trial for trial in trials if trial.state == TrialState.RUNNING]


def mark_started(trial: Trial) -> None:
    """Note who works on a trial, and that it was begun once more."""
    trial.set_user_attr(PROCESS, [socket.gethostname(), os.getpid()])
    trial.set_user_attr(ATTEMPT, trial.user_attrs.get(ATTEMPT, 0) + 1)


def mark_interrupted(trial: Trial) -> None:
    """Mark a trial as cut short for reasons outside its options."""
    trial.set_user_attr(ATTEMPT, trial.user_attrs.get(ATTEMPT, 1) - 1)


def restart_trial(study: Study, trial: FrozenTrial) -> None:
    """Queue the options of an interrupted trial again, first of all; after `MOST_ATTEMPTS` give it up.

    Options that were not all chosen are drawn again, all of them: from where the first one was, they are the same.
    """
    import optuna

    from forecast_attn.tuning.trial_sampling import TURN, turn_of

    attempt = trial.user_attrs.get(ATTEMPT, 1)
    if attempt >= MOST_ATTEMPTS:
        return
    is_chosen = trial.params.keys() == study.user_attrs[PLAN]["space"].keys()
    study.add_trial(
        optuna.trial.create_trial(
            state=optuna.trial.TrialState.WAITING,
            params=trial.params if is_chosen else {},
            distributions=trial.distributions if is_chosen else {},
            user_attrs={ATTEMPT: attempt, TURN: turn_of(study, trial)},
            system_attrs=trial.system_attrs,  # the first trial's values: Optuna keeps them there until they are chosen
        )
    )


def release_dead_trials(study: Study) -> None:
    """Take over trials of dead processes: at once on this machine, after missing heartbeats on others."""
    import optuna

    optuna.storages.fail_stale_trials(study)  # which calls `restart_trial`
    for trial in running(study.get_trials(deepcopy=False)):
        if not _is_dead(trial):
            continue
        try:
            failed = study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
        except (ValueError, optuna.exceptions.UpdateFinishedTrialError):
            continue  # another process was quicker
        restart_trial(study, failed)


def _is_dead(trial: FrozenTrial) -> bool:
    """Tell whether the process of a trial was on this machine and is gone, or died before it noted itself."""
    if PROCESS not in trial.user_attrs:
        start = trial.datetime_start
        return start is not None and (datetime.datetime.now() - start).total_seconds() > GRACE
    host, process = trial.user_attrs[PROCESS]
    if host != socket.gethostname():
        return False
    if sys.platform == "win32":  # where signal 0 is a Ctrl-C; heartbeats decide, as for other machines
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # another user's
        return False
    return False
