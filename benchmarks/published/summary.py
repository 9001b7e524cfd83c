"""Scores of all finished pieces of a folder, beside published ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pandas as pd

from published.child import forecast_of
from published.pieces import with_defaults
from published.references import GOALS, PUBLISHED, Numbers


def summarise(out: Path) -> list[dict[str, Any]]:
    """One row per protocol, table and configuration, over its seeds."""
    groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for path in sorted(out.glob("*/*/seed-*/result.json")):
        result = json.loads(path.read_text(encoding="utf-8")) | {"folder": path.parent}
        groups.setdefault((result["protocol"], result["market"], _configuration_of(result)), []).append(result)
    return [_row(*key, results) for key, results in sorted(groups.items())]


def _configuration_of(result: dict[str, Any]) -> str:
    """A digest of everything but the table, what follows from it, and the seed: equal where the options are."""
    differing = ("seed", "validation", "past_covariates", "future_covariates", "ignore")
    candidates = [
        {name: value for name, value in each.items() if name not in differing}
        for each in with_defaults(result["configuration"])["candidates"]
    ]
    return hashlib.sha256(json.dumps(candidates, sort_keys=True).encode()).hexdigest()[:8]


def _row(protocol: str, market: str, configuration: str, results: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "protocol": protocol,
        "market": market,
        "configuration": configuration,
        "options": results[0]["options"],
        "seeds": [each["seed"] for each in results],
        "chosen": [each["candidates"][each["chosen"]]["options"] for each in results],
        "parameters": results[0]["training"]["parameters"],
        "training_seconds": mean(each["training"]["seconds"] for each in results),
        "training_cpu_seconds": mean(each["training"]["cpu_seconds"] for each in results),
        "peak_memory_mb": max(each["training"]["peak_memory_mb"] for each in results),
    }
    for part in ("validation", "test"):
        scored = [each[part] for each in results if part in each]
        if len(scored) == len(results):  # a mean over some of the seeds would be another one than validation's
            row[part] = {name: _over_seeds([each[name] for each in scored]) for name in ("mse", "mae")}
            row[part]["seconds"] = mean(each["seconds"] for each in scored)
            row[part]["cpu_seconds"] = mean(each["cpu_seconds"] for each in scored)
            row[part]["windows"] = scored[0]["windows"]
            row[part]["models"] = {
                model: {name: mean(each["models"][model][name] for each in scored) for name in ("mse", "mae")}
                for model in _models(scored)
            }
            if len(scored) > 1:
                row[part]["together"] = _together(results, part)
    if "test" in row:
        scores = (row["test"]["mse"]["mean"], row["test"]["mae"]["mean"])
        row["published"] = {
            name: {"mse": numbers[0], "mae": numbers[1], "distance_per_cent": distance(scores, numbers)}
            for name, numbers in PUBLISHED.get(protocol, {}).get(market, {}).items()
        }
    return row


def _together(results: list[dict[str, Any]], part: str) -> dict[str, float]:
    """MSE and MAE of the mean of the seeds' forecasts: an ensemble that costs no further training."""
    frames = [_forecasts(each, part) for each in results]
    if any((frame[["cutoff", "step"]] != frames[0][["cutoff", "step"]]).any(axis=None) for frame in frames):
        raise RuntimeError(f"the seeds of {results[0]['market']} {results[0]['protocol']} forecast other windows")
    mean_forecast = np.mean([frame["prediction"].to_numpy() for frame in frames], axis=0)
    error = (mean_forecast - frames[0]["target"].to_numpy()) / results[0][part]["scale"]
    return {"mse": float(np.mean(error**2)), "mae": float(np.mean(np.abs(error)))}


def _forecasts(result: dict[str, Any], part: str) -> pd.DataFrame:
    """The rows that were scored as ours."""
    number = result["chosen"]
    model = forecast_of({**result["options"], **result["candidates"][number]["options"]})
    return pd.read_parquet(result["folder"] / f"{part}-{number}.parquet", filters=[("model", "==", model)])


def _models(scored: list[dict[str, Any]]) -> list[str]:
    """Whose scores stand beside ours: all that every seed has, without those that are ours."""
    of_each = [each.get("models", {}) for each in scored]  # results from before have none
    shared = [name for name in of_each[0] if all(name in models for models in of_each)]
    return [name for name in shared if name != "combination" and not (name == "ours" and "combination" not in shared)]


def _over_seeds(values: list[float]) -> dict[str, Any]:
    return {"mean": mean(values), "sd": stdev(values) if len(values) > 1 else None, "seeds": values}


def distance(scores: tuple[float, float], published: Numbers) -> list[float | None]:
    """Differences of our MSE and MAE from theirs, in per cent: below 0 is better."""
    return [None if b is None else 100 * (a / b - 1) for a, b in zip(scores, published, strict=True)]


def lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    """The table that is printed."""
    for row in rows:
        seeds = f"{len(row['seeds'])} seed{'s' if len(row['seeds']) > 1 else ''}"
        yield ""
        yield (
            f"{row['protocol']} {row['market']} · {seeds} · configuration {row['configuration']} · "
            f"{row['parameters']:,} parameters · {row['training_seconds']:,.0f} s of training "
            f"({row['training_cpu_seconds']:,.0f} s of CPU) · {row['peak_memory_mb']:,} MB"
        )
        yield f"  {'':<28}{'MSE':>9}{'MAE':>9}{'distance %':>20}"
        for part in ("validation", "test"):
            if part in row:
                yield _scores_line(f"ours, {part}", row[part])
                if "together" in row[part]:
                    yield _line(f"seeds together, {part}", (row[part]["together"]["mse"], row[part]["together"]["mae"]))
                if row["protocol"] == "D":
                    yield f"  {'':<28}a day: {_a_day(row[part])}"
                for model, numbers in row[part]["models"].items():
                    name = "network alone" if model == "ours" else model
                    yield _line(f"{name}, {part}", (numbers["mse"], numbers["mae"]))
        goal = GOALS.get(row["protocol"], {}).get(row["market"])
        scores = (row["test"]["mse"]["mean"], row["test"]["mae"]["mean"]) if "test" in row else None
        for name, numbers in PUBLISHED.get(row["protocol"], {}).get(row["market"], {}).items():
            yield _line(name, numbers, scores)
        if goal is not None:
            yield _line("goal", goal, scores)
    yield from _warnings(rows)


def _a_day(part: dict[str, Any]) -> str:
    """Cost of a day's forecast, refits included."""
    return f"{part['seconds'] / part['windows']:.2f} s ({part['cpu_seconds'] / part['windows']:.2f} s of CPU)"


def _scores_line(name: str, part: dict[str, Any]) -> str:
    line = _line(name, (part["mse"]["mean"], part["mae"]["mean"]))
    spread = part["mae"]["sd"]
    return line if spread is None else f"{line}{'':>20}  MAE sd over seeds {spread:.4f}"


def _line(name: str, numbers: Numbers, scores: tuple[float, float] | None = None) -> str:
    cells = [f"{'' if value is None else format(value, '.3f'):>9}" for value in numbers]
    line = f"  {name:<28}{''.join(cells)}"
    if scores is None:
        return line
    apart = ["" if value is None else f"{value:+.1f}" for value in distance(scores, numbers)]
    return line + f"{' / '.join(part for part in apart if part):>20}"


def _warnings(rows: list[dict[str, Any]]) -> Iterator[str]:
    for protocol in dict.fromkeys(row["protocol"] for row in rows):
        of_protocol = [row for row in rows if row["protocol"] == protocol]
        if len({row["configuration"] for row in of_protocol}) > 1:
            yield f"\nnote: {protocol} was run with more than one configuration; all markets should share one"
    if any("test" not in row for row in rows):
        yield "\nThe test part is scored with --test only, once everything is decided."
