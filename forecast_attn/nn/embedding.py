"""Learned vectors for categories, and where they stand among the inputs."""

from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from forecast_attn.nn.window import WindowTensors

LARGEST_SIZE = 16
"""Widest embedding: beyond it a category would weigh more than the recurrent state it feeds."""


class CategoryEmbedding(nn.Module):
    """One table per categorical covariate; their vectors are joined.

    A column with n categories gets vectors of ceil(n / 2), at most 16, numbers. Code 0, the unknown category, is the
    zero vector and stays it: it says nothing in either direction.

    Args:
        num_codes: codes of each column, the unknown one included.

    Attributes:
        size: width of the joined vectors.
    """

    def __init__(self, num_codes: Sequence[int]) -> None:
        super().__init__()
        widths = [min(LARGEST_SIZE, codes // 2 or 1) for codes in num_codes]
        self.tables = nn.ModuleList(
            nn.Embedding(codes, width, padding_idx=0) for codes, width in zip(num_codes, widths, strict=True)
        )
        self.size = sum(widths)

    def forward(
        self, numbers: Float[Tensor, "*batch num_numbers"], codes: Int[Tensor, "*batch num_columns"]
    ) -> Float[Tensor, "*batch size"]:
        """The numbers, and behind them the vectors of the categories."""
        vectors = [table(codes[..., column]) for column, table in enumerate(self.tables)]
        return torch.cat([numbers, *vectors], dim=-1) if vectors else numbers


class Embeddings(nn.Module):
    """Covariates with their categories embedded: along the lookback, along the horizon, and per series.

    A future category has one table for lookback and horizon: its levels mean the same before and after the cut-off.

    Args:
        past_codes: codes of each past category, the unknown one included.
        future_codes: of each future category.
        static_codes: of each static category.
    """

    def __init__(
        self, past_codes: Sequence[int] = (), future_codes: Sequence[int] = (), static_codes: Sequence[int] = ()
    ) -> None:
        super().__init__()
        self.num_past = len(past_codes)
        self.past_only = CategoryEmbedding(past_codes)
        self.shared = CategoryEmbedding(future_codes)
        self.per_series = CategoryEmbedding(static_codes)
        self.past_size = self.past_only.size + self.shared.size
        self.future_size = self.shared.size
        self.static_size = self.per_series.size

    def past(self, window: WindowTensors) -> Float[Tensor, "batch lookback past_size"]:
        with_past = self.past_only(window.past_covariates, window.past_categories[..., : self.num_past])
        embedded: Tensor = self.shared(with_past, window.past_categories[..., self.num_past :])
        return embedded

    def future(self, window: WindowTensors) -> Float[Tensor, "batch horizon future_size"]:
        embedded: Tensor = self.shared(window.future_covariates, window.future_categories)
        return embedded

    def static(self, window: WindowTensors) -> Float[Tensor, "batch static_size"]:
        embedded: Tensor = self.per_series(window.static_covariates, window.static_categories)
        return embedded
