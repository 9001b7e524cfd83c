"""The windows of an epoch."""

from __future__ import annotations

import pytest
import torch

from forecast_attn.training import sampling
from forecast_attn.training.sampling import first_of_shuffle


@pytest.mark.parametrize(
    ("length", "number"), [(30, 3), (1_000, 1_000), (1_000, 99), (100_000, 12), (3_000_000, 12_800)]
)
def test_the_first_of_a_shuffle_are_those_of_torch(length: int, number: int) -> None:
    expected = torch.randperm(length, generator=torch.Generator().manual_seed(length))[:number]
    assert first_of_shuffle(length, number, torch.Generator().manual_seed(length)).equal(expected)


def test_the_first_of_a_long_shuffle_are_different_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "LONG", 100)
    first = first_of_shuffle(2_000, 200, torch.Generator().manual_seed(0))
    assert len(set(first.tolist())) == 200
    assert 0 <= first.min() < 100 < 1_900 < first.max() < 2_000
