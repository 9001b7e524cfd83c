"""The rows of a backtest, read again a part at a time."""

import numpy as np
import pyarrow as pa

from forecast_attn.backtest import forecast_rows
from forecast_attn.backtest.forecast_rows import RowsFile, write_parquet


def test_the_rows_that_are_scored_are_never_all_in_memory(tmp_path, monkeypatch):
    """Parquet read ahead would be: each file's bytes stay until its reader is closed."""
    monkeypatch.setattr(forecast_rows, "ROWS_AT_ONCE", 40_000)
    random, names, groups, rows = np.random.default_rng(0), ("run", "naive"), 50, 20_000
    schema = pa.schema([("model", pa.string()), ("prediction", pa.float64())])
    path = tmp_path / "bt.parquet"
    tables = (pa.table([[name] * rows, random.normal(size=rows)], schema) for name in names for _ in range(groups))
    write_parquet(path, tables, schema)

    before, most, count = pa.total_allocated_bytes(), 0, 0
    for part in RowsFile(path, names).parts():
        most, count = max(most, pa.total_allocated_bytes() - before), count + len(part)
    assert count == len(names) * groups * rows
    assert most < path.stat().st_size / 3
