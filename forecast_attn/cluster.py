"""Work that is shared out: to processes of this machine, or to a Ray cluster (extra `ray`)."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from forecast_attn.errors import ConfigError, RunError, UserError, needing
from forecast_attn.telemetry import switch_off_reports
from forecast_attn.version import package_version

Task = TypeVar("Task")
Result = TypeVar("Result")

RETRIES = 5
"""Times that a task is retried when its process dies."""
SETTLING = 1.0
"""Seconds in which tasks may end by themselves before they are interrupted."""
NO_WARNING = ("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
"""The default of later versions of Ray, which this one warns of."""


InOrder = Callable[..., Generator[Any, None, None]]
"""Calls a function for each task, and gives the results in the order of the tasks; see `Cluster.in_order`."""


@contextlib.contextmanager
def shared_out(engine: str, jobs: int = 1, accelerator: str = "cpu") -> Iterator[InOrder]:
    """Share work out: to this process, to several of this machine, or to a Ray cluster.

    Args:
        engine: `local`, or `ray`.
        jobs: processes of `local`; 1 is this one, which does a task when its result is asked for.
        accelerator: of a cluster; see `connected`.

    Raises:
        ConfigError: Ray is not installed, or the options contradict each other.
        RunError: there is no such cluster.
    """
    check_sharing(engine, jobs)
    if engine == "ray":
        with connected(accelerator) as cluster:
            yield cluster.in_order
    elif jobs > 1:
        yield Processes(jobs).in_order
    else:
        yield lambda function, shared, tasks: (function(shared, task) for task in tasks)


def check_sharing(engine: str, jobs: int) -> None:
    """Raise ConfigError where several processes are asked for on a cluster."""
    if engine == "ray" and jobs > 1:
        raise ConfigError("--jobs is for this machine; a Ray cluster works on all its cores", "leave one of them out")


class Processes:
    """Processes of this machine."""

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def in_order(
        self, function: Callable[[Any, Task], Result], shared: Any, tasks: Iterable[Task]
    ) -> Generator[Result, None, None]:
        """Call a function for each task in processes of their own; results come in the order of the tasks.

        Processes that are at work when this one ends early are terminated (SIGTERM).

        Args:
            function: of a module; called with `shared` and a task.
            shared: the same for all tasks, sent to each process once.
            tasks: all are sent at once.

        Raises:
            RunError: a process died.
        """
        # Forked from a process that has imported what it needs and computed nothing; Windows has no forks.
        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        context.set_forkserver_preload(PRELOADED)
        before = set(multiprocessing.active_children())
        work = (function, shared, Path.cwd())
        with ProcessPoolExecutor(self.jobs, context, initializer=_begin_process, initargs=work) as pool:
            try:
                for each in [pool.submit(_done_here, task) for task in tasks]:
                    yield each.result()
            except BaseException as error:
                for process in set(multiprocessing.active_children()) - before:
                    process.terminate()
                pool.shutdown(cancel_futures=True)
                if isinstance(error, BrokenProcessPool):
                    raise RunError("one of the processes of --jobs died", "fewer --jobs need less memory") from None
                raise


PRELOADED = ["torch", "pandas", "forecast_attn.training.train"]
"""Modules of the processes of --jobs, imported once for all of them."""
_work: list[Any] = []
"""In a process of --jobs: the function, and what its tasks share."""


def _begin_process(function: Callable[[Any, Any], Any], shared: Any, folder: Path) -> None:
    os.chdir(folder)
    # Ctrl-C, and a closed terminal, are for the process that shares out the work.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform != "win32":
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _work[:] = [function, shared]


def _done_here(task: Any) -> Any:
    function, shared = _work
    return function(shared, task)


class Cluster:
    """A cluster that this process is connected to.

    Args:
        ray: the package, connected.
        use_gpu: compute on GPUs where the cluster has some.
        ends_here: the connection ends with the work, and Ray then ends all tasks of it.
    """

    def __init__(self, ray: Any, *, use_gpu: bool, ends_here: bool = False) -> None:
        self._ray, self._ends_here = ray, ends_here
        resources = ray.cluster_resources()
        self.num_gpus = int(resources.get("GPU", 0)) if use_gpu else 0
        """GPUs to compute on, one piece of work each; 0 computes on cores."""
        self.num_workers = max(1, self.num_gpus or int(resources.get("CPU", 1)))
        self.num_machines = sum(node["Alive"] for node in ray.nodes())

    @property
    def device_type(self) -> str:
        """Type of the devices that work is done on."""
        return "cuda" if self.num_gpus else "cpu"

    def in_order(
        self, function: Callable[[Any, Task], Result], shared: Any, tasks: Iterable[Task]
    ) -> Generator[Result, None, None]:
        """Call a function for each task on the cluster; results come in the order of the tasks.

        Ray Data distributes them. A task whose process was killed, or whose machine is gone, is retried elsewhere.

        Args:
            function: of a module; called with `shared` and a task.
            shared: the same for all tasks, sent to each machine once.
            tasks: small ones, such as names of files: they are sent with `shared`.

        Raises:
            UserError: the first one that the function raised.
            RunError: the processes of a task died again and again.
        """
        listed = list(tasks)
        if not listed:
            return
        ray, sent = self._ray, self._ray.put((package_version(), Path.cwd(), shared, listed))

        def done(row: dict[str, Any]) -> dict[str, Any]:
            version, folder, shared, listed = ray.get(sent)
            return {"outcome": _done(function, (version, folder, shared), listed[row["item"]])}

        numbers = ray.data.from_items([*range(len(listed))], override_num_blocks=len(listed))
        options = numbers.context
        options.execution_options.preserve_order = True
        options.enable_progress_bars = options.print_on_execution_start = False
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # of max_retries, to go in Ray 2.64: unlimited otherwise
            outcomes = numbers.map(done, max_retries=RETRIES, **self._resources)
        with contextlib.closing(iter(outcomes.iter_rows())) as rows, self._deaths_reported():
            for row in rows:
                yield row["outcome"].value()

    def sender(self, function: Callable[[Any, Task], Any], shared: Any) -> Callable[[Task], Any]:
        """A function that submits a task by itself and returns a reference to its result."""
        remote = self._ray.remote(max_retries=RETRIES, **self._resources)(_done)
        common = self._ray.put((package_version(), Path.cwd(), shared))
        return lambda task: remote.remote(function, common, task)

    def check(self, sent: list[Any]) -> None:
        """Raise what any of these tasks that has ended raised."""
        for done in self._ray.wait(sent, num_returns=len(sent), timeout=0)[0]:
            with self._deaths_reported():
                self._ray.get(done).value()

    def cancel(self, sent: Iterable[Any]) -> None:
        """Interrupt tasks that have not ended.

        Never one that has: Ray aborts this process ("Tried to complete task that was not pending") where a task is
        cancelled whose end it still works on.
        """
        if self._ends_here or not (waiting := list(sent)):
            return
        _, running = self._ray.wait(waiting, num_returns=len(waiting), timeout=SETTLING)
        for each in running:
            self._ray.cancel(each, force=False)

    @property
    def _resources(self) -> dict[str, int]:
        """Resources of the cluster that a task takes."""
        return {"num_gpus": 1} if self.num_gpus else {"num_cpus": 1}

    @contextlib.contextmanager
    def _deaths_reported(self) -> Iterator[None]:
        errors = self._ray.exceptions
        try:
            yield
        except (errors.WorkerCrashedError, errors.ObjectLostError, errors.OutOfMemoryError) as error:
            reason = str(error).strip().splitlines()[0]
            raise RunError(
                f"the processes that did a piece of the work died {RETRIES + 1} times: {reason}",
                "give the workers more memory, or leave out --engine ray",
            ) from None


@dataclass(frozen=True)
class _Outcome:
    """The result of a task, or the error that a user can cause; no tuple, which Ray Data would take for a column."""

    result: Any
    error: UserError | None

    def value(self) -> Any:
        """Return the result, or raise the error."""
        if self.error is not None:
            raise self.error
        return self.result


def _done(function: Callable[[Any, Any], Any], common: tuple[str, Path, Any], task: Any) -> _Outcome:
    """Do a task in a process of the cluster."""
    (version, folder, shared), here = common, package_version()
    if version != here:
        message = f"a machine of the cluster has forecast-attn {here}, and this one {version}"
        return _Outcome(None, ConfigError(message, "install the same version on all of them"))
    with contextlib.suppress(OSError):  # a machine without that folder can do what needs no file of it
        os.chdir(folder)
    try:
        return _Outcome(function(shared, task), None)
    except UserError as error:
        return _Outcome(None, error)


@contextlib.contextmanager
def connected(accelerator: str) -> Iterator[Cluster]:
    """The cluster of RAY_ADDRESS, the one that runs on this machine, or else one that is started here and ends again.

    Args:
        accelerator: `cpu`; `gpu`; or `auto`, which takes GPUs where the cluster has some.

    Raises:
        ConfigError: Ray is not installed, or there is no such device in the cluster.
        RunError: there is no cluster at RAY_ADDRESS.
    """
    switch_off_reports("ray")
    os.environ.setdefault(*NO_WARNING)
    with needing("--engine ray", "ray"):
        import ray.data
        import ray.exceptions
    if accelerator not in ("auto", "cpu", "gpu", "cuda"):
        raise ConfigError(f"--engine ray computes on cores or on CUDA GPUs, not on {accelerator}", "--accelerator auto")
    begun = not ray.is_initialized()
    if begun:
        _begin(ray)
    try:
        cluster = Cluster(ray, use_gpu=accelerator != "cpu", ends_here=begun)
        if accelerator in ("gpu", "cuda") and not cluster.num_gpus:
            raise ConfigError(f"--accelerator {accelerator}: the cluster has no GPU", "--accelerator cpu")
        yield cluster
    finally:
        if begun:
            ray.shutdown()


def _begin(ray: Any) -> None:
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
    except Exception as error:  # a node that starts too slowly is an Exception of no kind
        where = os.environ.get("RAY_ADDRESS")
        what = "cannot start Ray here" if where is None else f"cannot reach the Ray cluster at RAY_ADDRESS={where}"
        reason = str(error).strip().splitlines()[0]
        hint = "ray status says whether it runs; without RAY_ADDRESS one is started on this machine"
        raise RunError(f"{what}: {reason}", hint) from None
