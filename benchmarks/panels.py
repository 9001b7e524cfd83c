"""Panels of many short series by the protocol of the M competitions: default settings, one command per panel.

    python benchmarks/panels.py PANEL_DIR                          every panel of the folder, seed 1
    python benchmarks/panels.py PANEL_DIR --panels m3_quarterly --seeds 1 2
    python benchmarks/panels.py PANEL_DIR --development            the end of the training rows in place of the test

A panel NAME is NAME-train.csv.gz and NAME-test.csv.gz (item_id, timestamp, target) and NAME.json with its horizon and
season. The run is trained on the training rows and forecasts the horizon behind them once. sMAPE, MASE and OWA are the
M4 competition's (Makridakis, Spiliotis and Assimakopoulos 2020), OWA against Naive2. A series without a forecast counts
as seasonal-naive, and is counted. Where statsforecast is installed, its AutoTheta and AutoETS stand in the table, each
fitted to all training rows of a series. Years before 1000 are moved by 1900: no time stamp of nanoseconds holds them.
What is finished is read again from the folder of results.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from forecast_attn import Forecaster
from forecast_attn.baselines.naive import drift, seasonal_naive
from forecast_attn.baselines.registry import FORMULAS
from forecast_attn.baselines.theta import formula_forecasts


def main() -> int:
    arguments = _parser().parse_args()
    names = arguments.panels or sorted(path.stem for path in arguments.data.glob("*.json"))
    results = [
        result
        for name in names
        for seed in arguments.seeds
        for result in [run_panel(arguments.data, name, seed, arguments.out, development=arguments.development)]
    ]
    print("\n".join(table_of(results)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="PANEL_DIR", help="folder of panels")
    parser.add_argument("--panels", nargs="+", metavar="NAME", help="some of them; all when absent")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1], metavar="N")
    parser.add_argument("--out", type=Path, default=Path("runs/panels"), metavar="DIR")
    parser.add_argument("--development", action="store_true", help="score the end of the training rows instead")
    return parser


def run_panel(data: Path, name: str, seed: int, out: Path, *, development: bool) -> dict[str, Any]:
    """Train, forecast and score one panel with one seed; what is finished is read."""
    folder = out / f"{name}{'-development' if development else ''}" / f"seed-{seed}"
    if (folder / "result.json").is_file():
        return dict(json.loads((folder / "result.json").read_text(encoding="utf-8")))
    folder.mkdir(parents=True, exist_ok=True)
    about = json.loads((data / f"{name}.json").read_text(encoding="utf-8"))
    train, test = read_panel_files(data, name, about["horizon"], development=development)
    table = folder / "train.csv"
    train.to_csv(table, index=False)
    before = _cpu_seconds()
    forecaster = Forecaster(horizon=about["horizon"], seed=seed).fit(table, out=_fresh(folder / "run"))
    trained = _cpu_seconds()
    forecasts = {
        "default": forecaster.predict().predictions,
        "network alone": forecaster.predict(combine_with="none").predictions,
    }
    result = {
        "panel": name,
        "seed": seed,
        "development": development,
        "cpu_seconds": {"training": trained - before, "two forecasts": _cpu_seconds() - trained},
        "combination": forecaster.metrics.get("combination"),
        "scores": scores_of(train, test, forecasts, about["season"]),
    }
    (folder / "result.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    return result


def read_panel_files(data: Path, name: str, horizon: int, *, development: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test rows; in development the last horizon of the training rows is the test."""
    train, test = (pd.read_csv(data / f"{name}-{part}.csv.gz", dtype={"item_id": str}) for part in ("train", "test"))
    for frame in (train, test):
        frame["item_id"] = frame["item_id"].str.strip()  # as names are read
        frame["timestamp"] = frame["timestamp"].astype(str).str.replace(r"^0(\d\d\d)-", _later, regex=True)
    if not development:
        return train, test
    left = train.groupby("item_id", sort=False).cumcount(ascending=False)
    return train[left >= horizon].reset_index(drop=True), train[left < horizon].reset_index(drop=True)


def _later(year: Any) -> str:
    return f"{int(year[1]) + 1900}-"


def scores_of(
    train: pd.DataFrame, test: pd.DataFrame, forecasts: dict[str, pd.DataFrame], season: int
) -> dict[str, dict[str, float]]:
    """sMAPE, MASE and OWA of every forecast, and of the formulas."""
    past = {str(name): rows.to_numpy(np.float64) for name, rows in train.groupby("item_id", sort=False)["target"]}
    actual = np.stack([rows.to_numpy(np.float64) for _, rows in test.groupby("item_id", sort=False)["target"]])
    names = [str(name) for name in test["item_id"].unique()]
    by_model = formulas([past[name] for name in names], actual.shape[1], season)
    scales = np.array([_scale(past[name], season) for name in names])
    for model, table in forecasts.items():
        rows = {str(name): values.to_numpy() for name, values in table.groupby("item_id")["prediction"]}
        by_model[model] = np.stack([rows.get(name, by_model["seasonal-naive"][at]) for at, name in enumerate(names)])
    scores = {model: _errors(actual, forecast, scales) for model, forecast in by_model.items()}
    reference = scores["naive2"]
    for each in scores.values():
        each["owa"] = (each["mase"] / reference["mase"] + each["smape"] / reference["smape"]) / 2
    for model, table in forecasts.items():
        scores[model]["without"] = len(set(names) - set(table["item_id"].astype(str)))
    return scores


def formulas(past: list[np.ndarray], horizon: int, season: int) -> dict[str, np.ndarray]:
    """Forecasts (num_series, horizon) behind the end of every series."""
    lengths = np.array([len(values) for values in past])
    starts = np.cumsum(lengths) - lengths
    at: tuple[Any, ...] = (np.concatenate(past), starts, starts + lengths - 1)
    return {
        "seasonal-naive": seasonal_naive(*at, season=season, horizon=horizon),
        "drift": drift(*at, horizon=horizon),
        **{name: formula_forecasts(name, *at, season=season, horizon=horizon) for name in FORMULAS},
        **statsforecast_peers(past, horizon, season),
    }


def statsforecast_peers(past: list[np.ndarray], horizon: int, season: int) -> dict[str, np.ndarray]:
    """Forecasts (num_series, horizon) of statsforecast's models; none where it is not installed."""
    if importlib.util.find_spec("statsforecast") is None:
        return {}
    models: Any = importlib.import_module("statsforecast.models")
    peers = {"AutoTheta": models.AutoTheta(season_length=season), "AutoETS": models.AutoETS(season_length=season)}
    return {
        name: np.stack([_peer_forecast(model, values, horizon) for values in past]) for name, model in peers.items()
    }


def _peer_forecast(model: Any, values: np.ndarray, horizon: int) -> np.ndarray:
    """The last value where the series is constant: neither model is defined there."""
    if np.ptp(values) == 0:
        return np.full(horizon, values[-1])
    return np.asarray(model.forecast(y=values, h=horizon)["mean"])


def _errors(actual: np.ndarray, forecast: np.ndarray, scales: np.ndarray) -> dict[str, float]:
    """sMAPE in per cent, and MASE over the series that change."""
    error = np.abs(actual - forecast)
    usable = scales > 0
    return {
        "smape": float(np.mean(200 * error / np.maximum(np.abs(actual) + np.abs(forecast), 1e-12))),
        "mase": float(np.mean(error.mean(axis=1)[usable] / scales[usable])),
    }


def _scale(values: np.ndarray, season: int) -> float:
    """Mean change over a season in the training rows; over a step where there is no more than a season."""
    lag = season if len(values) > season else 1
    return float(np.abs(values[lag:] - values[:-lag]).mean())


def _fresh(path: Path) -> Path:
    """The folder, emptied of what an interrupted training left."""
    import shutil

    shutil.rmtree(path, ignore_errors=True)
    return path


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def table_of(results: list[dict[str, Any]]) -> list[str]:
    """Markdown: MASE / sMAPE / OWA."""
    lines = [
        "| panel, seed | model | MASE | sMAPE | OWA | without a forecast | CPU s |",
        "|---|---|---|---|---|---|---|",
    ]
    for result in results:
        for model, scores in result["scores"].items():
            seconds = f"{result['cpu_seconds']['training']:.0f}" if model == "default" else ""
            numbers = f"{scores['mase']:.3f} | {scores['smape']:.2f} | {scores['owa']:.3f}"
            row = f"{result['panel']}, {result['seed']}"
            lines.append(f"| {row} | {model} | {numbers} | {scores.get('without', '')} | {seconds} |")
        weights = (result["combination"] or {}).get("weights")
        lines.append(f"| {result['panel']}, {result['seed']} | weights: {weights} | | | | | |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
