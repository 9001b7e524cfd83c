"""Processes that torchrun or SLURM started, on one machine or several, and that train one run together.

All of them read the table and take part in every step. The first one alone draws the seed, writes the run, scores it
and speaks; the others ask it (`broadcast`) for what only it can know. Without a launcher this process is the first and
only one, and nothing here does anything.
"""

from __future__ import annotations

import gc
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple, TypeVar

import torch.distributed as distributed

from forecast_attn.config.options import TrainingConfig
from forecast_attn.errors import ConfigError, RunError, UserError

T = TypeVar("T")

PATIENCE = timedelta(days=1)
"""How long a process waits for another one: the others wait while the first one scores a run."""
CONNECTING = timedelta(minutes=10)
"""How long the tasks of srun, which begin together, wait to meet."""


class Launch(NamedTuple):
    """The group that a process is in, as its launcher describes it."""

    launcher: str
    """torchrun or srun."""
    rank: int
    """Number of this process, from 0."""
    per_node: int
    nodes: int

    @property
    def size(self) -> int:
        return self.per_node * self.nodes


@dataclass
class _Group:
    launch: Launch
    has_met: bool = False


_joined: _Group | None = None


def launch_of_this_process() -> Launch | None:
    """The group that torchrun or srun made this process a part of; None where neither did.

    A task that srun started alone is in no group.

    Raises:
        ConfigError: srun was not told how many tasks a machine has.
    """
    environment = os.environ
    if "TORCHELASTIC_RUN_ID" in environment:
        size, per_node = int(environment["WORLD_SIZE"]), int(environment["LOCAL_WORLD_SIZE"])
        return Launch("torchrun", int(environment["RANK"]), per_node, size // per_node)
    # The script of a job has the numbers of the job too; a step's number is there for what srun started alone.
    size = int(environment.get("SLURM_NTASKS", 1)) if "SLURM_STEP_ID" in environment else 1
    if size == 1:
        return None
    nodes = int(environment.get("SLURM_NNODES", 1))
    return Launch("srun", int(environment["SLURM_PROCID"]), size // nodes, nodes)


def launch_of(config: TrainingConfig) -> Launch | None:
    """The group that trains together; None where this process trains alone, or starts the others itself.

    Tasks of srun with the default of one device train a run each.

    Raises:
        ConfigError: the options ask for other processes than a launcher started, or for machines that no launcher did.
    """
    launch, configured = launch_of_this_process(), (config.devices, config.num_nodes)
    if launch is None:
        _refuse_nodes(config)
        return None
    if configured == (launch.per_node, launch.nodes):
        if launch.launcher == "srun" and "SLURM_NTASKS_PER_NODE" not in os.environ:
            raise ConfigError(
                "srun did not say how many tasks each machine has",
                f"srun --nodes {launch.nodes} --ntasks-per-node {launch.per_node} forecast train …",
            )
        return None if launch.size == 1 else launch
    if launch.launcher == "srun" and config.num_processes == 1:
        return None
    raise ConfigError(
        f"{launch.launcher} started {launch.size} processes on {launch.nodes} machine(s); --devices {config.devices} "
        f"--num-nodes {config.num_nodes} is {config.num_processes}",
        f"add --devices {launch.per_node} --num-nodes {launch.nodes}",
    )


def _refuse_nodes(config: TrainingConfig) -> None:
    if config.num_nodes > 1:
        raise ConfigError(
            f"--num-nodes {config.num_nodes}: nothing has started this training on other machines",
            f"on each machine: torchrun --nnodes {config.num_nodes} --nproc-per-node {config.devices} --node-rank RANK "
            "--master-addr HOST -m forecast_attn train …; with SLURM: srun forecast train …",
        )


def check_alone(config: TrainingConfig) -> None:
    """Refuse several machines where no group has been joined.

    Raises:
        ConfigError: says which command trains on several machines.
    """
    if config.num_nodes > 1 and _joined is None:
        raise ConfigError(
            f"--num-nodes {config.num_nodes}: several machines train one run with `forecast train` alone",
            "leave --num-nodes out; --engine ray shares out whole trainings where a command has it",
        )


def is_follower(config: TrainingConfig | None) -> bool:
    """Return whether another process speaks for this one.

    Args:
        config: of the training; None for a run that is resumed, which several processes do together or not at all.

    Raises:
        ConfigError: as `launch_of`.
    """
    launch = launch_of_this_process() if config is None else launch_of(config)
    return launch is not None and launch.rank > 0


@contextmanager
def joined(config: TrainingConfig) -> Iterator[None]:
    """Train with the other processes of this one's group in the block, where it is in one.

    Raises:
        ConfigError: as `launch_of`.
        UserError: another process failed before training began; see `meet`.
    """
    global _joined
    launch = launch_of(config)
    if launch is None:
        yield
        return
    was_there = distributed.is_initialized()
    if not was_there:
        _connect(launch)
    group = _joined = _Group(launch)
    try:
        yield
    except UserError as error:
        if not group.has_met:
            meet(None, None, error)
        raise
    finally:
        _joined = None
        if not was_there:
            gc.collect()  # the distributed model refers to itself, and to the group
            distributed.destroy_process_group()


def _connect(launch: Launch) -> None:
    # Imported while there is a group, they keep it in the defaults of their functions. The threads of the group would
    # then outlive `destroy_process_group`, and now and then abort the process at its end.
    import torch.distributed.fsdp.sharded_grad_scaler
    import torch.distributed.nn.functional  # noqa: F401

    shared: dict[str, Any] = {"rank": launch.rank, "world_size": launch.size, "timeout": PATIENCE}
    if launch.launcher == "torchrun":  # whose processes have met already
        distributed.init_process_group(**shared)
        return
    environment = cluster_environment(launch)
    host, port = environment.main_address, environment.main_port
    try:
        socket.getaddrinfo(host, port)  # torch would look for the name again and again
        store = distributed.TCPStore(host, port, launch.size, launch.rank == 0, timeout=CONNECTING)
    except (OSError, RuntimeError) as error:
        raise RunError(
            f"process {launch.rank + 1} of {launch.size} has not met the others at '{host}', port {port}: {error}",
            "every machine must reach the first one by that name; MASTER_ADDR and MASTER_PORT name another",
        ) from None
    distributed.init_process_group(store=store, **shared)


def cluster_environment(launch: Launch | None) -> Any:
    """Lightning's description of the processes: of torchrun, of SLURM, or of those that it starts itself."""
    from forecast_attn.training.lightning import LightningEnvironment, SLURMEnvironment, TorchElasticEnvironment

    if launch is None:
        return LightningEnvironment()
    return TorchElasticEnvironment() if launch.launcher == "torchrun" else SLURMEnvironment(auto_requeue=False)


def joined_launch() -> Launch | None:
    """The group that this process has joined."""
    return None if _joined is None else _joined.launch


def is_first() -> bool:
    """Return whether this process writes the run."""
    return _joined is None or _joined.launch.rank == 0


def broadcast(value: T) -> T:
    """Return the first process's value. All must ask, and wait for it.

    Raises:
        RunError: the first process is gone.
    """
    if _joined is None:
        return value
    values = [value]
    try:
        distributed.broadcast_object_list(values, src=0)
    except RuntimeError:
        raise RunError("the first process of this training has ended before its end") from None
    return values[0]


class _Report(NamedTuple):
    """Message of a process where all of them meet before training."""

    host: str
    reads: object
    error: UserError | None


def meet(value: T, reads: object, error: UserError | None = None) -> T:
    """Wait until all processes are ready to train, and return the first one's value.

    Args:
        value: decided by the first process.
        reads: facts that must be the same in all processes.
        error: why this process cannot train.

    Raises:
        UserError: why a process cannot train, or that two have read different tables. The first process says it, for
            itself or another one; what the others raise is marked as said.
    """
    if _joined is None:
        return value
    launch, _joined.has_met = _joined.launch, True
    reports: list[Any] = [None] * launch.size
    try:
        distributed.all_gather_object(reports, _Report(socket.gethostname(), reads, error))
    except RuntimeError:
        raise RunError("another process of this training has ended before it began") from None
    problem = _first_problem(reports)
    if problem is None:
        return broadcast(value)
    problem.is_told_elsewhere = launch.rank > 0
    raise problem from None


def _first_problem(reports: list[_Report]) -> UserError | None:
    for rank, report in enumerate(reports):
        where = f"process {rank + 1} of {len(reports)}, on {report.host}"
        if report.error is not None:
            return report.error if rank == 0 else report.error.reworded(f"{where}: {report.error.message}")
        if report.reads != reports[0].reads:
            return RunError(
                f"{where} has read another table than the first one",
                "the same file and the same version of forecast-attn on every machine",
            )
    return None
