"""The columns of an attention file, and the metadata that makes it readable alone."""

import contextlib
import dataclasses
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

import pyarrow as pa

from forecast_attn.config.options import MOST_HEADS, MOST_STEPS
from forecast_attn.data.frequency import parse_frequency
from forecast_attn.data.zones import time_zone
from forecast_attn.errors import RunError
from forecast_attn.runs.validators import check, flag, nullable, number, one_of, record, table, text, whole
from forecast_attn.version import package_version

FORMAT_VERSION = 3
"""Newest format this package reads. 1: all weights in float32; 2: other columns or types; 3: keys are patches."""
METADATA_KEY = b"forecast_attn.attention"

CONVENTIONS = {
    "step": "1 is the first time stamp after the cutoff, horizon the last",
    "lag": "0 is the cutoff itself, the last known time step; lag k is k time steps before it",
    "weights": "in time order: the first belongs to lookback_start (lag lookback - 1), the last to the cutoff (lag 0)",
    "head": "counted from 0; mechanisms without heads have head 0 alone",
    "top": "when a number: only so many weights of each row are kept, largest first, with their lags; the sum of the "
    "others is in the column remaining",
    "masked": "when true: observed_steps says how many time steps of the lookback are known, missing_weight how much "
    "weight lies on the others, which must be 0",
    "row_sum": "what each list of weights adds up to, rounding aside",
}

PATCH_CONVENTIONS = {
    "step": "a row is about the time steps from step to last_step after the cutoff, forecast at once; "
    "1 is the first time stamp after the cutoff, horizon the last",
    "lag": "counted in patches of patch_length time steps: 0 is the patch that ends with the cutoff, the last known "
    "time step; lag k is k patches before it",
    "weights": "one per patch, in time order: the first belongs to the patch that begins at lookback_start (lag "
    "lookback / patch_length - 1), the last to the one that ends with the cutoff (lag 0)",
    "masked": "when true: observed_steps says how many patches have a time step that is known, missing_weight how much "
    "weight lies on the others, which must be 0",
}
"""Conventions that differ in files whose keys are patches."""


@dataclass(frozen=True, kw_only=True)
class AttentionMetadata:
    """Origin and sizes of the weights in one file.

    `lookback`, `horizon` and `season` are in time steps. A row has a weight per key and is about one decoder step: both
    are patches of `patch_length` time steps; the last one of the horizon may be shorter.

    Attributes:
        row_sum: what a row adds up to, counting what is not kept.
        dtype: of the stored weights.
        top: how many weights of each row are kept, the largest; None for all.
        value_rank: the highest rank of the values that the weights multiply (the encoder states), over a few windows;
            None where nobody has computed it. Of more lags than that, other weights give the same context vector.
        masked: steps of the lookback may be missing; the file then says of each row how many are there, and how much
            weight lies on missing ones.
        zone: the time zone in which people read the time stamps; None for stamps without a zone.
        network_share: the weight of the network, whose attention this is, in the forecasts that the file belongs to; 1
            where it forecasts alone, None where that is not known.
        network_shares: of the series in which it has another one, by name.
    """

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
    dtype: Literal["float32", "float16"] = "float32"
    top: int | None = None
    value_rank: int | None = None
    masked: bool = False
    zone: str | None = None
    network_share: float | None = None
    network_shares: dict[str, float] = field(default_factory=dict)
    package_version: str = field(default_factory=package_version)

    def __post_init__(self) -> None:
        if min(self.heads, self.lookback, self.horizon, self.season) < 1:
            raise ValueError(f"heads, lookback, horizon and season must be at least 1: {self}")
        if self.dtype not in WEIGHT_TYPES:
            raise ValueError(f"weights are float32 or float16, not {self.dtype}")
        if self.patch_length < 1 or self.lookback % self.patch_length:
            raise ValueError(f"patches of {self.patch_length} steps do not make up a lookback of {self.lookback}")
        if self.top is not None and not 1 <= self.top <= self.num_keys:
            raise ValueError(f"of {self.num_keys} weights, 1 to {self.num_keys} can be kept, not {self.top}")

    @property
    def format_version(self) -> int:
        if self.patch_length > 1:
            return 3
        return 1 if self.dtype == "float32" and self.top is None and not self.masked else 2

    @property
    def num_keys(self) -> int:
        """Weights of a row: one per patch of the lookback, so one per time step where patches are single steps."""
        return self.lookback // self.patch_length

    @property
    def num_steps(self) -> int:
        """Decoder steps: one per patch of the horizon."""
        return -(-self.horizon // self.patch_length)

    @property
    def key_season(self) -> int:
        """Keys in a season; see `season_in_keys`."""
        return season_in_keys(self.season, self.patch_length)

    @property
    def stored_length(self) -> int:
        """Number of weights of each row in the file."""
        return self.num_keys if self.top is None else self.top

    def lags_of(self, key_lag: int) -> tuple[int, int]:
        """The time steps before the cut-off that a key covers, counted back from 0, the most recent first."""
        first = key_lag * self.patch_length
        return first, first + self.patch_length - 1

    def steps_of(self, step: int) -> tuple[int, int]:
        """The first and the last time step ahead, counted from 1, that a decoder step (counted from 1) forecasts."""
        return (step - 1) * self.patch_length + 1, min(step * self.patch_length, self.horizon)

    def to_json(self) -> str:
        conventions = CONVENTIONS | (PATCH_CONVENTIONS if self.patch_length > 1 else {})
        about = {"format_version": self.format_version, **dataclasses.asdict(self), "conventions": conventions}
        return json.dumps(about)

    @classmethod
    def from_json(cls, document: str | bytes) -> Self:
        """Read what `to_json` wrote; unknown keys of later versions of the format are ignored.

        Raises:
            ValueError: not JSON, a name is missing, a value cannot be, or the format is newer than this package.
            ConfigError: there is no such frequency.
        """
        try:
            content = json.loads(document)
        except RecursionError:
            raise ValueError("its metadata are nested too deeply") from None
        check(content, record({"format_version": whole(1, 2**31)}))
        if content["format_version"] > FORMAT_VERSION:
            raise ValueError(f"it has format {content['format_version']}; this version reads up to {FORMAT_VERSION}")
        check(content, _FORM)
        metadata = cls(**{name: content[name] for name in _REQUIRED | (_NAMES & set(content))})
        parse_frequency(metadata.frequency)
        if metadata.zone is not None:
            time_zone(metadata.zone)
        return metadata


_FORM = record(
    {
        **dict.fromkeys(("mechanism", "order", "score", "normaliser", "window", "frequency"), text),
        "heads": whole(1, MOST_HEADS),
        "lookback": whole(1, MOST_STEPS),
        "horizon": whole(1, MOST_STEPS),
        "season": whole(1),
    },
    {
        "row_sum": one_of("1", "<=1"),
        "patch_length": whole(1, MOST_STEPS),
        "dtype": text,
        "top": nullable(whole(1, MOST_STEPS)),
        "value_rank": nullable(whole()),
        "masked": flag,
        "zone": nullable(text),
        "network_share": nullable(number),
        "network_shares": table(number),
        "package_version": text,
    },
)
_NAMES = {field.name for field in dataclasses.fields(AttentionMetadata)}
_REQUIRED = {
    field.name
    for field in dataclasses.fields(AttentionMetadata)
    if field.default is field.default_factory is dataclasses.MISSING
}
WEIGHT_TYPES = {"float32": pa.float32(), "float16": pa.float16()}


def attention_schema(metadata: AttentionMetadata, *, integer_time: bool = False) -> Any:
    """The Arrow schema of an attention file."""
    kept, weight = metadata.stored_length, WEIGHT_TYPES[metadata.dtype]
    time = pa.int64() if integer_time else pa.timestamp("ns", tz=metadata.zone)
    columns = {
        "item_id": pa.string(),
        "cutoff": time,
        "step": pa.int32(),
        "head": pa.int32(),
        "timestamp": time,
        "lookback_start": time,
    }
    columns |= {"last_step": pa.int32()} if metadata.patch_length > 1 else {}
    columns |= {} if metadata.top is None else {"lags": pa.list_(pa.int32(), kept)}
    columns |= {"weights": pa.list_(weight, kept)}
    columns |= {} if metadata.top is None else {"remaining": pa.float32()}
    columns |= {"observed_steps": pa.int32(), "missing_weight": pa.float32()} if metadata.masked else {}
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


def season_in_keys(season: int, patch_length: int) -> int:
    """Return the keys in a season; 1 where no whole number of keys, or a single one, makes a season.

    Args:
        season: in time steps; 1 for none.
        patch_length: time steps of a key.
    """
    return 1 if season % patch_length else season // patch_length
