"""The columns of an attention file, and the metadata that makes it readable alone."""

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import pyarrow as pa

from forecast_attn.errors import RunError
from forecast_attn.version import package_version

FORMAT_VERSION = 1
METADATA_KEY = b"forecast_attn.attention"

CONVENTIONS = {
    "step": "1 is the first time stamp after the cutoff, horizon the last",
    "lag": "0 is the cutoff itself, the last known time step; lag k is k time steps before it",
    "weights": "in time order: the first belongs to lookback_start (lag lookback - 1), the last to the cutoff (lag 0)",
    "head": "counted from 0; mechanisms without heads have head 0 alone",
    "row_sum": "what each list of weights adds up to, rounding aside",
}


@dataclass(frozen=True, kw_only=True)
class AttentionMetadata:
    """What the weights of one file are: where they come from, and their sizes."""

    mechanism: str
    order: str
    score: str
    normaliser: str
    window: str
    heads: int
    lookback: int
    horizon: int
    frequency: str
    season: int
    row_sum: Literal["1", "<=1"] = "1"
    patch_length: int = 1
    package_version: str = field(default_factory=package_version)

    def __post_init__(self) -> None:
        if min(self.heads, self.lookback, self.horizon, self.season) < 1:
            raise ValueError(f"heads, lookback, horizon and season must be at least 1: {self}")

    def to_json(self) -> str:
        return json.dumps({"format_version": FORMAT_VERSION, **dataclasses.asdict(self), "conventions": CONVENTIONS})

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote; names a later version of the same format added are passed over.

        Raises:
            ValueError: not JSON, a name is missing, or the format is newer than this package.
        """
        content = json.loads(text)
        if content["format_version"] > FORMAT_VERSION:
            raise ValueError(f"it has format {content['format_version']}; this version reads up to {FORMAT_VERSION}")
        return cls(**{name.name: content[name.name] for name in dataclasses.fields(cls)})


def attention_schema(metadata: AttentionMetadata, *, integer_time: bool = False) -> Any:
    """The Arrow schema of an attention file."""
    time = pa.int64() if integer_time else pa.timestamp("ns")
    columns = {
        "item_id": pa.string(),
        "cutoff": time,
        "step": pa.int32(),
        "head": pa.int32(),
        "timestamp": time,
        "lookback_start": time,
        "weights": pa.list_(pa.float32(), metadata.lookback),
    }
    return pa.schema(columns.items(), metadata={METADATA_KEY: metadata.to_json()})


@contextlib.contextmanager
def read_errors_of(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise RunError(f"there is no file '{path}'", "`forecast predict` writes attention.parquet") from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0].partition(". ")[0]
        hint = "`forecast predict` writes attention.parquet"
        raise RunError(f"'{path}' is not an attention file, or is damaged: {reason}", hint) from None
