"""The series behind attention windows, in the target's units: lookback, forecast and actual values.

An attention file holds weights and times only. The values come from the table the run was trained on (when it is where
it was, unchanged), from the run's own tail of it, or from a table the user names; the forecasts from predictions.csv,
or, for windows in the past, from the run's network once more.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from forecast_attn.attention_file import AttentionDump
from forecast_attn.config.values import NETWORK, percent, quantile_name
from forecast_attn.inspection.grouping import Grouping, group_by_value
from forecast_attn.inspection.statistics import distinct_texts, target_steps
from forecast_attn.runs.run_dir import RunDir

if TYPE_CHECKING:
    from forecast_attn.data.panel import Panel
    from forecast_attn.forecasting.model import Model

Values = NDArray[np.float64]

AT_CUTOFF, OF_SERIES = "at the cut-off", "of the series"
BY_NETWORK = "forecast of the network"
"""Name of forecasts that are the network's alone, where `predict` combines them with baselines."""
MOST_REGIMES = 8
"""Values of a column that stand side by side; the audit has as many groups of a column."""
NUM_BINS = 4
"""Bins of a column of more numbers."""
MOST_COVARIATES = 4
"""Columns that a page can show under the series."""


@dataclass(frozen=True, eq=False)
class WindowValues:
    """Values of attention windows in the target's units, NaN where not known.

    Attributes:
        past: (windows, lookback), oldest time step first.
        forecast: (windows, target_steps), the time steps that the dump's steps stand for.
        actual: (windows, target_steps)
        notes: in words, why something is not there.
        target: the target's name, where the run is known.
        quantiles: quantile -> (windows, target_steps) of the forecast; empty where there are none.
        covariates: name -> (windows, lookback + target_steps), numeric ones, the most important first where an audit
            has ranked them, else those of most different values; at most `MOST_COVARIATES`.
        forecast_name: what the forecasts are called: those of the network, where `predict` combines it with baselines.
        regimes: column and whose values they are -> windows of a whole file by its value, or by bins of its numbers.
    """

    past: Values
    forecast: Values
    actual: Values
    notes: list[str] = field(default_factory=list)
    target: str | None = None
    quantiles: dict[float, Values] = field(default_factory=dict)
    covariates: dict[str, Values] = field(default_factory=dict)
    forecast_name: str = "forecast"
    regimes: dict[str, Grouping] = field(default_factory=dict)

    @classmethod
    def unknown(cls, dump: AttentionDump, *notes: str) -> WindowValues:
        """Values that are all unknown, with the reason."""
        sizes = dump.metadata.lookback, len(target_steps(dump))
        past, ahead = (np.full((dump.num_windows, size), np.nan) for size in sizes)
        return cls(past, ahead, ahead.copy(), list(notes))


def values_of_windows(
    run: RunDir, dump: AttentionDump, table: Path | None = None, every: AttentionDump | None = None
) -> WindowValues:
    """Values that the windows of a run's attention file read and forecast.

    Args:
        run: whose attention file it is.
        dump: few windows of it (one row of values each is held in memory).
        table: the table the windows come from; found through the run when None.
        every: the windows that are grouped by regime, where there are any.

    Raises:
        DataError: `table` cannot be read, or has not the columns of training.
        RunError: the run is damaged.
    """
    from forecast_attn.forecasting.inference import load_model

    model = load_model(run, validated=True)
    values = _unknown_of(model, run, dump)
    complete, steps = np.zeros(dump.num_windows, bool), target_steps(dump)
    back, regimes = np.arange(1 - dump.metadata.lookback, 1), dict[str, Grouping]()
    for panel in _panels(model, run, table, values.notes):
        rows, series = _rows_of_cutoffs(panel, dump)
        whole = _hold_whole_lookbacks(panel, rows, series, dump.metadata.lookback)
        _fill(values.past, panel.target, panel, rows, series, back)
        _fill(values.actual, panel.target, panel, rows, series, steps)
        for name, into in values.covariates.items():
            _fill(into, _column(panel, name), panel, rows, series, np.concatenate([back, steps]))
        _forecast_again(values, model, panel, np.where(whole, rows, -1), series, steps)
        regimes = regimes or _regimes(panel, every)
        complete |= whole
        if complete.all():
            break
    by_network = ~np.isnan(values.forecast).all(axis=1) & ~_take_written_forecasts(values, run, dump)
    _say_what_is_missing(values, complete)
    name = _forecast_name(values, run, by_network)
    return replace(values, forecast_name=name, covariates=_most_important(values.covariates, run), regimes=regimes)


def _forecast_name(values: WindowValues, run: RunDir, by_network: NDArray[np.bool_]) -> str:
    """Name of the forecasts; adds a note where some are the network's, which `predict` would combine."""
    from forecast_attn.forecasting.predict import kept_weights

    weights = kept_weights(RunDir(run.home))
    if not weights or not by_network.any():
        return "forecast"
    part = f"is {percent(weights[NETWORK])} of" if NETWORK in weights else "has no part in"
    which = "" if by_network.all() else f" of {by_network.sum()} of {len(by_network)} windows"
    values.notes.append(
        f"the forecasts drawn{which} are those of the network alone, which {part} what `predict` forecasts"
    )
    return BY_NETWORK if by_network.all() else "forecast"


def _unknown_of(model: Model, run: RunDir, dump: AttentionDump) -> WindowValues:
    """Values of a run's windows that are all unknown: its quantiles and covariates by name."""
    unknown, roles = WindowValues.unknown(dump), model.schema.roles
    names = [*roles.future_covariates, *roles.past_covariates]
    both = np.concatenate([unknown.past, unknown.actual], axis=1)
    return replace(
        unknown,
        target=roles.target,
        quantiles={quantile: unknown.forecast.copy() for quantile in model.quantiles},
        covariates={name: both.copy() for name in names},
    )


def _most_important(covariates: dict[str, Values], run: RunDir) -> dict[str, Values]:
    """Select covariates by an audit's permutation importance, then by their number of values: flags come last."""
    audit = run.read_json(run.audit) if run.audit.is_file() else {}
    entries = (audit.get("covariates") or {}).get("columns") or ()
    rises = {entry["name"]: entry["mae_change"] for entry in entries}
    different = {name: len(np.unique(column)) for name, column in covariates.items()}
    order = sorted(covariates, key=lambda name: (-rises.get(name, -np.inf), -different[name]))
    return {name: covariates[name] for name in order[:MOST_COVARIATES]}


def _column(panel: Panel, name: str) -> Values:
    """(num_rows,) a numeric covariate of the panel."""
    roles = panel.roles
    if name in roles.future_covariates:
        return panel.future_covariates[:, roles.future_covariates.index(name)]
    return panel.past_covariates[:, roles.past_covariates.index(name)]


def _regimes(panel: Panel, dump: AttentionDump | None) -> dict[str, Grouping]:
    """Windows by the value of each column at the cut-offs or of the series; none unless the panel has all cut-offs."""
    if dump is None:
        return {}
    rows, series = _rows_of_cutoffs(panel, dump)
    if (rows < 0).any():
        return {}
    roles, regimes = panel.roles, {}
    for names, numbers, index, whose in (
        (roles.future_covariates, panel.future_covariates, rows, AT_CUTOFF),
        (roles.past_covariates, panel.past_covariates, rows, AT_CUTOFF),
        (roles.static_covariates, panel.static_covariates, series, OF_SERIES),
    ):
        for column, name in enumerate(names):
            regimes[f"{name} {whose}"] = _by_number(dump, numbers[index, column])
    for names, codes, index, whose in (
        (roles.future_categories, panel.future_categories, rows, AT_CUTOFF),
        (roles.past_categories, panel.past_categories, rows, AT_CUTOFF),
        (roles.static_categories, panel.static_categories, series, OF_SERIES),
    ):
        for column, name in enumerate(names):
            words = {**dict(enumerate(panel.categories[name])), -1: "unknown"}
            regimes[f"{name} {whose}"] = group_by_value(dump, codes[index, column], words.__getitem__)
    return {name: groups for name, groups in regimes.items() if 2 <= len(groups.names) <= MOST_REGIMES}


def _by_number(dump: AttentionDump, values: Values) -> Grouping:
    """Windows by a number of each (num_windows,), or by bins of about equally many windows where there are many."""
    if len(np.unique(values)) <= MOST_REGIMES:
        known = np.unique(values[~np.isnan(values)])
        names = dict(zip(known.tolist(), distinct_texts(known), strict=True))
        return group_by_value(dump, values, lambda value: names.get(value, "missing"))
    # Edges that are values themselves: no window lies between two bins.
    edges = np.unique(np.nanquantile(values, np.arange(1, NUM_BINS) / NUM_BINS, method="inverted_cdf"))
    bins = np.where(np.isnan(values), -1, np.searchsorted(edges, values))
    words = {-1: "missing"}
    for each in np.unique(bins[bins >= 0]).tolist():
        inside = values[bins == each]
        words[each] = " to ".join(dict.fromkeys(map(_four_digits, (inside.min(), inside.max()))))
    return group_by_value(dump, bins, words.__getitem__)


def _four_digits(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 9_999.5 else f"{value:,.0f}"


# --------------------------------------------------------------------------- where values may be


def _panels(model: Model, run: RunDir, table: Path | None, notes: list[str]) -> Any:
    """The tables that may hold the windows, the likeliest first; adds a note where the table of training is gone."""
    from forecast_attn.forecasting.history import read_history, table_beside
    from forecast_attn.runs.training_table import table_of_training

    if table is not None:
        yield read_history(model, run, table_beside(table, model), table.name).panel
        return
    yield read_history(model, run, None, "").panel
    recorded, path = run.read_json(run.config)["data"], table_of_training(run)
    if path is not None:
        yield read_history(model, run, table_beside(path, model), path.name).panel
    elif recorded["sha256"] is None:
        notes.append("the run was not trained on a file: name its table with --data FILE")
    else:
        notes.append(
            f"the table of training, '{recorded['file']}', is not where it was or has changed: name it with --data FILE"
        )


def _rows_of_cutoffs(panel: Panel, dump: AttentionDump) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The panel's row of each window's cut-off, and its series, (windows,); -1 where the panel does not have it."""
    index_of = {name: index for index, name in enumerate(panel.item_ids)}
    series = np.array([index_of.get(name, -1) for name in dump.window_item_ids], np.int64)
    rows = np.full(dump.num_windows, -1, np.int64)
    for window in np.flatnonzero(series >= 0):
        first, stop = panel.starts[series[window] : series[window] + 2]
        row = first + np.searchsorted(panel.timestamps[first:stop], dump.window_cutoffs[window])
        if row < stop and panel.timestamps[row] == dump.window_cutoffs[window]:
            rows[window] = row
    return rows, series


def _hold_whole_lookbacks(
    panel: Panel, rows: NDArray[np.int64], series: NDArray[np.int64], lookback: int
) -> NDArray[np.bool_]:
    """(windows,) whether the panel has all that a window looked at, not the end of it only.

    A series shorter than the lookback (`--short-series pad`) has no more to show, neither in the table nor in the tail.
    """
    longer = panel.num_known[series] >= lookback
    return (rows >= 0) & (~longer | (rows - lookback + 1 >= panel.starts[series]))


# --------------------------------------------------------------------------- what is filled in


def _fill(
    into: Values,
    column: Values,
    panel: Panel,
    rows: NDArray[np.int64],
    series: NDArray[np.int64],
    offsets: NDArray[Any],
) -> None:
    """Values of a column at offsets from the cut-offs, where they lie in the series and nothing is known yet."""
    wanted_rows = rows[:, None] + offsets  # the row before a series belongs to another one
    starts, stops = panel.starts[series][:, None], panel.starts[series + 1][:, None]
    missing = (rows >= 0)[:, None] & (wanted_rows >= starts) & (wanted_rows < stops) & np.isnan(into)
    into[missing] = column[wanted_rows[missing]]


def _forecast_again(
    values: WindowValues,
    model: Model,
    panel: Panel,
    rows: NDArray[np.int64],
    series: NDArray[np.int64],
    steps: NDArray[Any],
) -> None:
    """The network's forecasts of the windows whose whole horizon lies in the panel; rows of -1 are left out."""

    from forecast_attn.forecasting.inference import forecast_windows

    ends = (rows >= 0) & (rows + model.schema.horizon < panel.starts[series + 1])
    chosen = np.flatnonzero(ends & np.isnan(values.forecast).all(axis=1))
    if not len(chosen):
        return
    batches = list(forecast_windows(model, panel, rows[chosen], need_weights=False))
    values.forecast[chosen] = np.concatenate([batch.prediction for batch in batches])[:, steps - 1]
    known = [batch.quantiles for batch in batches if batch.quantiles is not None]
    if known:
        for index, quantile in enumerate(model.quantiles):
            values.quantiles[quantile][chosen] = np.concatenate(known)[:, steps - 1, index]


def _take_written_forecasts(values: WindowValues, run: RunDir, dump: AttentionDump) -> NDArray[np.bool_]:
    """The forecasts in predictions.csv with their quantiles, where it holds these series, cut-offs and steps.

    Returns:
        (windows,) whether it holds all of a window.
    """
    taken = np.zeros(dump.num_windows, bool)
    if not run.predictions.is_file():
        return taken
    written = _written_forecasts(run.predictions, list(values.quantiles))
    cutoffs = _as_numbers(dump.window_cutoffs)
    lines = [values.forecast, *values.quantiles.values()]
    for window, (name, cutoff) in enumerate(zip(dump.window_item_ids, cutoffs, strict=True)):
        steps = target_steps(dump)
        taken[window] = all((name, cutoff, int(step)) in written for step in steps)
        for index, step in enumerate(steps):
            for line, value in zip(lines, written.get((name, cutoff, int(step)), ()), strict=False):
                line[window, index] = value
    return taken


def _written_forecasts(path: Path, quantiles: list[float]) -> dict[tuple[str, int, int], tuple[float, ...]]:
    """(series, cut-off, step) -> the forecast and its quantiles; nothing where the file is not `forecast predict`'s."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    values = ["prediction", *(quantile_name(quantile) for quantile in quantiles)]
    columns = {"item_id": pa.string(), "cutoff": pa.string(), "step": pa.int64()}
    columns |= dict.fromkeys(values, pa.float64())
    parsing = pa_csv.ParseOptions(newlines_in_values=True)  # the names of series may hold them
    options = pa_csv.ConvertOptions(column_types=columns, include_columns=list(columns), strings_can_be_null=False)
    try:
        table = pa_csv.read_csv(path, parse_options=parsing, convert_options=options).to_pydict()
        cutoffs = _numbers_of_texts(table["cutoff"])
    except (pa.ArrowException, OSError, KeyError, ValueError):
        return {}  # the user has replaced the file: the page leaves the forecasts out
    keys = zip(table["item_id"], cutoffs, table["step"], strict=True)
    return dict(zip(keys, zip(*(table[name] for name in values), strict=True), strict=True))


def _numbers_of_texts(times: list[str]) -> list[int]:
    """Times of predictions.csv as the numbers of the attention file's axis; with an offset they are moved to UTC."""
    import pandas as pd

    known = dict.fromkeys(times, 0)
    if all(text.lstrip("-").isdigit() for text in known):
        return [int(text) for text in times]
    stamps = pd.to_datetime(list(known), utc=True, format="ISO8601").tz_localize(None)
    known = dict(zip(known, _as_numbers(stamps.to_numpy()), strict=True))
    return [known[text] for text in times]


def _as_numbers(times: NDArray[Any]) -> list[int]:
    """Whole numbers, or nanoseconds since 1970."""
    if np.issubdtype(times.dtype, np.datetime64):
        times = times.astype("datetime64[ns]")
    numbers: list[int] = times.astype(np.int64).tolist()
    return numbers


def _say_what_is_missing(values: WindowValues, complete: NDArray[np.bool_]) -> None:
    """Keep the notes only where something is missing, and add how much."""
    if complete.all():
        values.notes.clear()
        return
    without = int(np.isnan(values.past).all(axis=1).sum())
    kinds = [
        (without, "without their series"),
        (int((~complete).sum()) - without, "without the older part of their series"),
    ]
    parts = [f"{count} of {len(complete)} windows are drawn {how}" for count, how in kinds if count]
    values.notes.insert(0, ", ".join(parts))
