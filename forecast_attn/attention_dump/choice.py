"""What of the attention is written: which windows, in which type, how many weights of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, cast

from forecast_attn.errors import ConfigError
from forecast_attn.option_values import check_choice, parse_attention_windows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class DumpChoice:
    """What to write of the weights.

    Attributes:
        windows: at most so many windows, evenly spread over the cut-offs; None for all.
        dtype: of the stored weights.
        top: keep the largest weights of each row only, so many; None for all.
    """

    windows: int | None = None
    dtype: Literal["float32", "float16"] = "float32"
    top: int | None = None

    @classmethod
    def of(cls, windows: str | int = "all", dtype: str = "float32", top: int | None = None) -> Self:
        """From the texts of `--attention-windows`, `--attention-dtype` and `--attention-top`.

        Raises:
            ConfigError: a value that is none of the option's.
        """
        if top is not None and top < 1:
            raise ConfigError(f"--attention-top must be at least 1; got {top}", "leave it out to keep all weights")
        kind = cast(Literal["float32", "float16"], check_choice("attention_dtype", dtype))
        return cls(parse_attention_windows(windows), kind, top)

    def of_cutoffs(self, cutoffs: NDArray[Any]) -> NDArray[Any]:
        """The chosen ones of some cut-offs, in their order."""
        import numpy as np

        if self.windows is None or len(cutoffs) <= self.windows:
            return cutoffs
        places: NDArray[np.int64] = np.linspace(0, len(cutoffs) - 1, self.windows).round().astype(np.int64)
        return cutoffs[places]
