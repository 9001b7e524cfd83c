"""The windows of each epoch and their order: a function of seed and epoch alone, so that resuming repeats them."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset, Sampler

from forecast_attn.data.windows import Window, WindowArrays


class EpochSampler(Sampler[Tensor]):
    """Batches of cut-off rows on a device: a fresh shuffle per epoch, of whose batches each device takes its share.

    Together the devices see the batches that one device with their batch sizes together would see.
    """

    def __init__(
        self,
        cutoffs: NDArray[np.int32],
        *,
        windows_per_epoch: int,
        batch_size: int,
        seed: int,
        rank: int = 0,
        num_devices: int = 1,
        device: torch.device | str = "cpu",
    ) -> None:
        self.cutoffs = torch.from_numpy(cutoffs)
        self.windows_per_epoch = windows_per_epoch
        self.batch_size = batch_size
        self.seed = seed
        self.rank = rank
        self.num_devices = num_devices
        self.device = device
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Called by Lightning before each epoch."""
        self.epoch = epoch

    def __len__(self) -> int:
        share = self.batch_size * self.num_devices
        return -(-self.windows_per_epoch // share)

    def __iter__(self) -> Iterator[Tensor]:
        generator = torch.Generator().manual_seed(mix_seed(self.seed, self.epoch))
        order = first_of_shuffle(len(self.cutoffs), self.windows_per_epoch, generator)
        # Copied to the device once an epoch: a copy for every batch would hold up its GPU.
        rows = self.cutoffs[order].long().to(self.device)
        for batch in torch.split(rows, self.batch_size * self.num_devices):
            part = batch[self.rank :: self.num_devices]
            # The others wait for this device at every step: one without a window has one that does not count.
            yield part if len(part) else batch[:1]


LONG = (2**32 - 1) // 20
"""Length of a shuffle for which numbers of 32 bits are too few; torch shuffles so many in another way."""
FEW = 10
"""The first numbers of a shuffle are drawn alone where they are at most one of this many."""


def first_of_shuffle(length: int, number: int, generator: torch.Generator) -> Tensor:
    """The first numbers of a shuffle, up to `LONG` those of `torch.randperm(length)`, without making all (number,).

    A Fisher-Yates shuffle has its first numbers after as many swaps, and nearly all of what it swaps is in place.
    """
    if number * FEW > length:
        return torch.randperm(length, generator=generator, dtype=torch.int32)[:number].long()
    drawn = torch.empty(number, dtype=torch.int64).random_(-(2**63), None, generator=generator).numpy().view(np.uint64)
    if length < LONG:  # each number of 64 bits is two of 32
        drawn = np.stack([drawn >> np.uint64(32), drawn & np.uint64(2**32 - 1)], axis=1).ravel()[:number]
    steps = drawn % (length - np.arange(number)).astype(np.uint64)
    moved: dict[int, int] = {}
    shuffled = []
    for at, step in enumerate(steps.tolist()):
        shuffled.append(moved.get(at + step, at + step))
        moved[at + step] = moved.get(at, at)
    return torch.tensor(shuffled, dtype=torch.int64)


def share_of_step(windows: int, rank: int, num_devices: int) -> int:
    """Return how many of a step's windows a device has; see `EpochSampler`."""
    return -(-max(windows - rank, 0) // num_devices)


class WindowBatches(Dataset[tuple[Tensor, Window]]):
    """A batch of cut-off rows -> those rows and their windows, gathered on the arrays' own device."""

    def __init__(self, arrays: WindowArrays) -> None:
        self.arrays = arrays

    def __getitem__(self, cutoffs: Tensor) -> tuple[Tensor, Window]:
        return cutoffs, self.arrays.gather(cutoffs)


def mix_seed(seed: int, *parts: int) -> int:
    """Derive a seed from several whole numbers, such that neighbouring numbers give unrelated seeds."""
    return int(np.random.SeedSequence([seed, *parts]).generate_state(1, np.uint64)[0]) >> 1  # numpy 1 shifts no uint64
