"""A user's table -> a frame: CSV of any kind, Parquet, Feather, DataFrames. The only place that reads a user's CSV."""

from forecast_attn.data.reading.columns import require_column
from forecast_attn.data.reading.table import Progress, read_table

__all__ = ["Progress", "read_table", "require_column"]
