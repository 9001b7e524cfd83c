"""What `Forecaster.predict` gives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from forecast_attn.attention_dump import AttentionDump
    from forecast_attn.data.categories import UnknownCategory
    from forecast_attn.data.problems import Finding, Repair


@dataclass(frozen=True)
class ForecastResult:
    """What `predict` gives."""

    predictions: pd.DataFrame
    """item_id, cutoff, timestamp, step (1 … horizon), prediction and a column per level (`0.1`), in the target's
    units."""
    attention: AttentionDump | None
    """The weights behind them, of an ensemble averaged over its members; None for the mechanism `none`."""
    member_attention: tuple[AttentionDump, ...] = ()
    """Of an ensemble the weights of each member, where they were asked for."""
    skipped: tuple[str, ...] = ()
    """Series with fewer rows than the lookback, which have no forecast."""
    cold: tuple[str, ...] = ()
    """Series that training did not see, scaled by their own lookback."""
    unknown_categories: tuple[UnknownCategory, ...] = ()
    """Categories of the history and the future that training did not see."""
    repairs: tuple[Repair, ...] = ()
    """What was done to the history as it was read, and which cells of the future are empty and hidden."""
    findings: tuple[Finding, ...] = ()
    """Notes and warnings about what is known of the future."""
    samples_path: Path | None = None
    """Parquet file of the paths that were drawn; None where none were asked for. A temporary one lives as long as the
    Forecaster."""
    samples_seed: int | None = None
    """What they were drawn with."""
    combined_with: tuple[str, ...] = ()
    """The baselines of which the forecasts are one half, the model's the other."""
    alone: tuple[str, ...] = ()
    """The series of which none of those baselines had a forecast: the model's stands alone."""

    @property
    def samples(self) -> pd.DataFrame | None:
        """The paths, read from their file: item_id, cutoff, sample (from 0), timestamp, step, value; None without."""
        import pandas as pd

        return None if self.samples_path is None else pd.read_parquet(self.samples_path)
