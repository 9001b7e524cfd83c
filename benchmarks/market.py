"""Default settings on a day-ahead market file, as a user would run it: the validation errors beside seasonal-naive's.

    python benchmarks/market.py NP.csv [ATTENTION …]

The files are the hourly tables of Lago et al. 2021 (date, two day-ahead forecasts, OT = price); none is in the project.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pandas as pd

from forecast_attn import Forecaster


def main() -> None:
    path, mechanisms = Path(sys.argv[1]), sys.argv[2:] or ["luong-general"]
    columns = [name.strip() for name in pd.read_csv(path, nrows=1).columns]
    known = [name for name in columns if name not in ("date", "OT")]
    print(f"{path.name}: {', '.join(known)} known in the future; default settings")
    print(f"{'attention':<16}{'MAE':>9}{'RMSE':>9}{'MASE':>8}{'skill %':>9}{'epochs':>8}{'seconds':>9}")
    for attention in mechanisms:
        started = time.perf_counter()
        forecaster = Forecaster(attention=attention, target="OT", future_covariates=known, seed=1).fit(path)
        elapsed = time.perf_counter() - started
        metrics = forecaster.metrics
        model, naive = metrics["validation"], metrics["seasonal_naive"]
        print(
            f"{attention:<16}{model['mae']:>9.4g}{model['rmse']:>9.4g}{model['mase']:>8.3f}"
            f"{metrics['skill_per_cent']:>9.1f}{metrics['epochs']:>8}{elapsed:>9.0f}"
        )
    print(f"{'seasonal-naive':<16}{naive['mae']:>9.4g}{naive['rmse']:>9.4g}{naive['mase']:>8.3f}")


if __name__ == "__main__":
    main()
