"""`forecast tune`: search the options, then train a run with the best ones."""

from __future__ import annotations

import contextlib
import functools
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from forecast_attn.cluster import check_sharing, connected
from forecast_attn.config.options import ATTENTION_FILE_OPTIONS, RunConfig, by_field
from forecast_attn.config.requests import TRAINING, TuneRequest, takes
from forecast_attn.config.values import parse_duration
from forecast_attn.data.panel import Panel
from forecast_attn.data.reading import fetched
from forecast_attn.errors import ConfigError, RunError, TerminatedError
from forecast_attn.runs.run_dir import DataSource, RunDir, check_is_free, fresh_path
from forecast_attn.runs.training_table import STDIN, Table, name_of, read_panel
from forecast_attn.training.fit import check_hardware
from forecast_attn.training.preparation import Preparation, prepare
from forecast_attn.training.progress import TrainingListener
from forecast_attn.training.resume import train_or_go_on
from forecast_attn.training.train import resolved
from forecast_attn.tuning.space import CHANGE_THE_LOSS, Space, TableShape, check_free, default_space, read_space
from forecast_attn.tuning.study import (
    ERROR,
    SAME,
    check_installed,
    close_storage,
    counts,
    mark_interrupted,
    mark_started,
    open_storage,
    open_study,
    quiet_optuna,
    refusing_damage,
    release_dead_trials,
    restart_trial,
    running,
    storage_url,
)
from forecast_attn.tuning.tuning_result import TuningResult, result_of

if TYPE_CHECKING:
    import pandas as pd
    from optuna.storages import RDBStorage
    from optuna.study import Study
    from optuna.trial import FrozenTrial, Trial

    from forecast_attn.config.keywords import TuneKeywords
    from forecast_attn.tuning.objective import Objective

POLL = 0.5
"""Seconds between looks at the trials of other processes."""


class TuningListener(TrainingListener):
    """Listener of a search and of the training of its winner."""

    def search_started(self, space: Space, finished: int, trials: int) -> None:
        """Called once the study is open, with the finished trials and the requested number."""

    def trial_ended(self, trial: FrozenTrial, best: FrozenTrial | None) -> None:
        """Called after each trial, also of other processes, with the best one so far."""

    def waiting(self, number: int) -> None:
        """Called when all trials are finished or begun: other processes work on this number of them."""

    def search_ended(self, reason: str) -> None:
        """Called at the end of the search; the reason is `trials` or `max-time`."""


@takes([TuneRequest, *TRAINING])
def tune(
    data: pd.DataFrame | Table,
    *,
    vintages: pd.DataFrame | Table | None = None,
    listener: TuningListener | None = None,
    **options: Unpack[TuneKeywords],
) -> TuningResult:
    """Search the options that forecast a table best, and train a run with them.

    Repeat the call to go on with a search that was cut short, or to add trials. Calls at the same time, on this
    machine or others, share the work through the storage.

    Args:
        data: a DataFrame or a file, as for `Forecaster.fit`.
        vintages: future covariates as they were forecast.
        listener: called with the progress.
        **options: listed below; those of training are the same for all trials, and are not searched.

    Raises:
        ConfigError: optuna is missing, options contradict each other or the study was started with others.
        DataError: what is wrong with the table.
        RunError: the storage cannot be opened, the run cannot be written, or no trial could be scored.
        KeyboardInterrupt: Ctrl-C; call again to go on.
    """
    check_installed()
    listener = listener or TuningListener()
    choices = {name: value for name, value in options.items() if name in TuneRequest.names()}
    request = TuneRequest.from_options(choices)
    shared = by_field({name: value for name, value in options.items() if name not in choices and value is not None})
    check_sharing(request.engine, request.jobs)
    if (request.jobs > 1 or request.engine != "local") and str(data) == STDIN:
        raise ConfigError("--jobs and --engine: several processes cannot read one stdin", "save the table to a file")
    if request.out is not None and not RunDir(request.out).config.is_file():  # the winner's training may have begun
        check_is_free(request.out)
    with quiet_optuna(), refusing_damage():
        search = Search.prepare(data, vintages, request, shared, listener)
        try:
            if not search.winner_is_training():
                listener.search_ended(search.run(listener))
            result = search.result()
        finally:
            search.close()
        return search.train_winner(result, listener) if request.winner else result


@dataclass(frozen=True, eq=False)
class Search:
    """A search on a table that was read."""

    data: Any
    vintages: Any
    request: TuneRequest
    shared: dict[str, Any]
    """Options of training that all trials share."""
    panel: Panel
    source: DataSource
    space: Space
    objective: Objective
    study: Study
    storage: RDBStorage

    @classmethod
    def prepare(
        cls, data: Any, vintages: Any, request: TuneRequest, shared: dict[str, Any], listener: TrainingListener
    ) -> Search:
        """Read the table, lay out the space, and open the study.

        Raises:
            ConfigError, DataError, RunError: as `tune`.
        """
        from forecast_attn.tuning.objective import Objective

        base = RunConfig.from_options(shared)
        given = None if request.space is None else read_space(request.space)
        if given is not None:
            check_free(given, shared)
        check_hardware(base.training)
        if request.metric == "pinball" and not base.model.forecast_quantiles:
            raise ConfigError("--metric pinball needs quantiles", "add --quantiles 0.1,0.5,0.9")
        table = fetched(data)  # by each process
        panel, source = read_panel(table, base, vintages, listener.reading)
        preparation = prepare(panel, base.data)
        config = resolved(preparation, replace(base, training=replace(base.training, seed=request.seed)))
        listener.prepared(preparation, config)
        objective = Objective(table, vintages, panel, request, shared, preparation.schema.horizon)
        if given is None:
            given, first = default_space(_shape(preparation, config, objective), shared)
        else:
            first = _defaults_in(given, config)
        plan = {
            "table": {"sha256": source.sha256, "vintages_sha256": source.vintages_sha256},
            "space": {name: dimension.to_document() for name, dimension in given.items()},
            "options": _asked_for(shared, base),
            **{name: getattr(request, name) for name in ("metric", "backtest", "pruner", "seed")},
        }
        url = storage_url(request.storage, name_of(data))
        storage = open_storage(url)
        study = open_study(storage, request.study, plan, first, request.seed)
        return cls(data, vintages, request, shared, panel, source, given, objective, study, storage)

    def close(self) -> None:
        """Close the database."""
        close_storage(self.storage)

    # ------------------------------------------------------------------ trials

    def run(self, listener: TuningListener) -> str:
        """Run trials until their number or the time is reached; return which one ended the search.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        request = self.request
        deadline = time.monotonic() + parse_duration(request.max_time) if request.max_time else None
        trials = self._finished()
        listener.search_started(self.space, len(trials), request.trials)
        if request.engine == "ray":
            return self._run_on_cluster(deadline, listener, request.trials - len(trials))
        helpers = [self._helper(deadline) for _ in range(min(request.jobs, request.trials - len(trials)) - 1)]
        for helper in helpers:
            helper.start()
        try:
            with _putting_off_interrupts() as raise_heard:
                reason = self.work(deadline, listener, raise_heard)
        except BaseException:
            for helper in helpers:
                helper.terminate()
            raise
        finally:
            for helper in helpers:
                helper.join()
        failed = [helper.exitcode for helper in helpers if helper.exitcode]
        if failed:  # what they did is kept, and their trials were taken over
            listener.noted(f"{len(failed)} of {request.jobs} processes of the search failed")
        return reason

    def _run_on_cluster(self, deadline: float | None, listener: TuningListener, trials: int) -> str:
        """Run trials on each core or GPU of a Ray cluster, and none in this process."""
        with connected(str(self.shared.get("accelerator") or "auto")) as cluster:
            if cluster.num_machines > 1 and self.storage.url.startswith("sqlite"):
                raise ConfigError(
                    f"an SQLite file cannot be shared by the {cluster.num_machines} machines of the cluster",
                    "--storage with the URL of a database, such as postgresql://user@host/name",
                )
            send = cluster.sender(_help, self._work_of_helper(deadline))
            helpers = [send(number) for number in range(min(cluster.num_workers, trials))]
            try:
                with _putting_off_interrupts() as raise_heard:
                    return self.work(deadline, listener, raise_heard, lambda: cluster.check(helpers))
            finally:
                cluster.cancel(helpers)

    def work(
        self,
        deadline: float | None,
        listener: TuningListener,
        raise_heard: Callable[[], None],
        check_helpers: Callable[[], None] | None = None,
    ) -> str:
        """Run trials in this process, alongside others.

        Args:
            deadline: on the clock of `time.monotonic`.
            listener: called with the progress.
            raise_heard: raises Ctrl-C or SIGTERM where one was put off.
            check_helpers: raises where others have failed, who alone try options; None where this process does too.
        """
        known = {trial.number for trial in self._finished()}
        is_waiting = False
        while True:
            raise_heard()
            release_dead_trials(self.study)
            finished = self._finished()
            for trial in finished:
                if trial.number not in known:
                    listener.trial_ended(trial, best_of(finished))
            known = {trial.number for trial in finished}
            if len(finished) >= self.request.trials:
                return "trials"
            if deadline is not None and time.monotonic() > deadline:
                return "max-time"
            if check_helpers is not None:
                check_helpers()
                time.sleep(POLL)
                continue
            others = len(running(self.study.get_trials(deepcopy=False)))
            if len(finished) + others >= self.request.trials:
                if not is_waiting:
                    listener.waiting(others)
                is_waiting = True
                time.sleep(POLL)
                continue
            is_waiting = False
            self._try_next(deadline)

    def _try_next(self, deadline: float | None) -> None:
        from forecast_attn.tuning.objective import RefusedTrialError, TimeIsUpError

        objective = functools.partial(self._score, deadline=deadline)
        self.study.optimize(objective, n_trials=1, catch=(RefusedTrialError, TimeIsUpError, RunError))

    def _score(self, trial: Trial, *, deadline: float | None) -> float:
        """Score a trial; if it fails or is pruned, its attributes say why."""
        from forecast_attn.tuning.objective import RefusedTrialError, TimeIsUpError, TrialListener

        mark_started(trial)
        params = {name: dimension.suggest(trial, name) for name, dimension in self.space.items()}
        same = self._same(params)
        if same is not None:
            trial.set_user_attr(SAME, same.number)
            return float(same.values[0])
        started = time.monotonic()
        prunes = self.request.pruner != "none" and not CHANGE_THE_LOSS & self.space.keys()
        watch = TrialListener(trial, deadline, prunes)
        try:
            scored = self.objective.score(params, watch)
        except RefusedTrialError as error:
            trial.set_user_attr(ERROR, str(error))
            raise
        except (KeyboardInterrupt, TimeIsUpError, TerminatedError):
            mark_interrupted(trial)
            restart_trial(self.study, self.study.get_trials(deepcopy=False)[trial.number])
            raise
        except RunError as error:
            trial.set_user_attr(ERROR, error.message)
            raise
        finally:
            trial.set_user_attr("epochs", watch.epochs)
            trial.set_user_attr("seconds", round(time.monotonic() - started, 3))
        trial.set_user_attr("errors", scored.errors)
        return scored.value

    def _same(self, params: dict[str, Any]) -> FrozenTrial | None:
        """Return a scored trial with the same options; training is repeatable, so the score would be the same."""
        from optuna.trial import TrialState

        scored = self.study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return next((trial for trial in scored if trial.params == params), None)

    def _finished(self) -> list[FrozenTrial]:
        return [trial for trial in self.study.get_trials(deepcopy=False) if counts(trial)]

    def _work_of_helper(self, deadline: float | None) -> _HelpersWork:
        left = None if deadline is None else f"{max(deadline - time.monotonic(), 1.0):.0f}s"
        request = replace(self.request, jobs=1, engine="local", winner=False, out=None, png=None, max_time=left)
        return _HelpersWork(self.data, self.vintages, request, self.shared)

    def _helper(self, deadline: float | None) -> Any:
        context = multiprocessing.get_context("spawn")
        return context.Process(target=_help, args=(self._work_of_helper(deadline), 0))

    # ------------------------------------------------------------------ the end

    def result(self) -> TuningResult:
        """The leaderboard and the importance of each option.

        Raises:
            RunError: no trial was scored.
        """
        return result_of(self.study, self.request, self.space)

    def winner_is_training(self) -> bool:
        """Return whether the search was over before, and the training of its winner had begun.

        Raises:
            RunError: the folder of the winner's run holds another one, which is finished, or trials are missing.
        """
        out = self.request.out
        if out is None or not self.request.winner or not RunDir(out).config.is_file():
            return False
        run, is_over = RunDir(out), self.request.max_time is not None or len(self._finished()) >= self.request.trials
        if not is_over or (run.search.is_file() and run.is_complete):
            check_is_free(out)  # which it is not
        return True

    def train_winner(self, result: TuningResult, listener: TuningListener) -> TuningResult:
        """Train a run with the best options, or finish its training, and record the search in it."""
        options = {**self.shared, **result.best_options, "horizon": self.objective.horizon, "seed": self.request.seed}
        if options.get("attention") == "none":
            options = {name: value for name, value in options.items() if name not in ATTENTION_FILE_OPTIONS}
        config = RunConfig.from_options(options)
        out = self.request.out or fresh_path(config.model.attention)
        run = train_or_go_on(self.panel, config, out, self.source, listener)
        run.write_json(run.search, result.to_dict())
        if run.was_interrupted:
            raise KeyboardInterrupt
        return replace(result, run=run.path)


@contextlib.contextmanager
def _putting_off_interrupts() -> Iterator[Callable[[], None]]:
    """Put off the first Ctrl-C, or SIGTERM where it would raise, until the function that is given is called.

    Raised within a commit it would leave the database locked. A training that hears it ends after its step, as always;
    a second one raises.
    """
    handlers = {signum: signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM)}
    previous = {int(signum): handler for signum, handler in handlers.items() if callable(handler)}
    signals: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return

    def note(signum: int, frame: object) -> None:
        signals.append(signum)
        if len(signals) > 1:
            raise_heard()

    def raise_heard() -> None:
        if signals:
            signal.signal(signals[0], previous[signals[0]])
            signal.raise_signal(signals[0])

    for signum in previous:
        signal.signal(signum, note)
    try:
        yield raise_heard
    finally:
        for signum, handler in previous.items():
            signal.signal(signum, handler)
    raise_heard()


def best_of(trials: list[FrozenTrial]) -> FrozenTrial | None:
    """The scored trial with the smallest error; the first of several."""
    from optuna.trial import TrialState

    scored = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    return min(scored, key=lambda trial: (trial.values[0], trial.number), default=None)


class _HelpersWork(NamedTuple):
    """Settings that a process needs to join a search."""

    data: Any
    vintages: Any
    request: TuneRequest
    shared: dict[str, Any]


def _help(work: _HelpersWork, _: int) -> None:
    """Work on the trials of a study that another process began, in a process of its own."""
    listener = TuningListener()
    with contextlib.suppress(KeyboardInterrupt), quiet_optuna():  # the process that began it says so
        search = Search.prepare(*work, listener)
        try:
            search.run(listener)
        finally:
            search.close()


def _shape(preparation: Preparation, config: RunConfig, objective: Objective) -> TableShape:
    """The defaults of a table; lookbacks beside the default one where the same windows can be scored."""
    lookback, model = preparation.schema.lookback, config.model
    assert model.patch_length is not None and model.hidden_size is not None
    assert config.training.learning_rate is not None
    near = [lookback // 2, lookback, 2 * lookback]
    near = [each for each in near if each == lookback or (each and each % model.patch_length == 0)]
    kept = [each for each in near if each == lookback or objective.scores_same_windows({"lookback": each})]
    return TableShape(lookback, model.patch_length, model.hidden_size, config.training.learning_rate, tuple(kept))


def _defaults_in(space: Space, config: RunConfig) -> dict[str, Any]:
    """The defaults that are values of a space."""
    values = config.to_options()
    kept = {name: values[name] for name in space if isinstance(values[name], bool | int | float | str)}
    return {name: value for name, value in kept.items() if value in space[name]}


def _asked_for(shared: dict[str, Any], base: RunConfig) -> dict[str, Any]:
    """The options that the user has set, as config.json would have them."""
    values = base.to_options()
    return {name: values[name] for name in sorted(shared)}
