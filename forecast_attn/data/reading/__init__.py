"""Reads a user's table into a frame: any CSV, Parquet, Feather, DataFrames. The only place that reads a user's CSV."""

from forecast_attn.data.findings import require_column
from forecast_attn.data.reading.cell_numbers import parse_texts
from forecast_attn.data.reading.parts import is_crowded
from forecast_attn.data.reading.positions import LONG_TARGET, FilePositions, file_positions
from forecast_attn.data.reading.remote import fetched
from forecast_attn.data.reading.source import Progress, Source, digest_of, parts_of, table_name
from forecast_attn.data.reading.table import opened, read_beside, read_table
from forecast_attn.data.reading.wide import shared_by_all

__all__ = [
    "LONG_TARGET",
    "FilePositions",
    "Progress",
    "Source",
    "digest_of",
    "fetched",
    "file_positions",
    "is_crowded",
    "opened",
    "parse_texts",
    "parts_of",
    "read_beside",
    "read_table",
    "require_column",
    "shared_by_all",
    "table_name",
]
