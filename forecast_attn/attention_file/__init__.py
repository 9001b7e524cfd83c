"""The attention file: one Parquet row per (item_id, cutoff, head, step), with the weights over the lookback as a list.

`AttentionWriter` streams windows into it, `read_attention` opens it as an `AttentionDump`. The file can be read
without this package; docs/attention-file.md describes it. No torch here.
"""

from forecast_attn.attention_file.attention_schema import AttentionMetadata
from forecast_attn.attention_file.dump import AttentionDump, read_attention
from forecast_attn.attention_file.size import DumpChoice, DumpSize, estimate_size
from forecast_attn.attention_file.writer import AttentionWriter, WindowCoordinates

__all__ = [
    "AttentionDump",
    "AttentionMetadata",
    "AttentionWriter",
    "DumpChoice",
    "DumpSize",
    "WindowCoordinates",
    "estimate_size",
    "read_attention",
]
