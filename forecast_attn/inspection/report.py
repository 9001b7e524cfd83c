"""What the attention weights of a file say, step by step, as data and on the terminal's page."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from forecast_attn.attention_dump import AttentionDump
from forecast_attn.attention_dump.times import time_text
from forecast_attn.errors import DataError
from forecast_attn.inspection import statistics
from forecast_attn.inspection.distances import has_time_distances, time_distance
from forecast_attn.inspection.findings import Header, Inspection, Matrix, StepStatistics, TopLag
from forecast_attn.inspection.heatmap import heatmap_text

ROOMY_WIDTH, SPACIOUS_WIDTH = 60, 80  # characters the table of steps needs for more numbers, and for time stamps


def inspect_attention(
    dump: AttentionDump,
    *,
    item: str | None = None,
    cutoff: Any = None,
    step: int | None = None,
    head: int | None = None,
    top: int = 5,
) -> Inspection:
    """Describe the weights of a file or a part of it, reading them once and a row group at a time.

    Raises:
        DataError: no such series or cut-off, or a file without windows.
        ConfigError: no such step or head.
        RunError: the file is damaged.
    """
    dump = dump.select(item=item, cutoff=cutoff, step=step, head=head)
    if not dump.num_windows:
        raise DataError(f"'{dump.path}' holds no windows", "predict again to write it anew")
    rows = _summarise(dump)
    mean_weights = rows.pop("weights")
    finite = np.nan_to_num(mean_weights)
    return Inspection(
        header=_header(dump),
        steps=_step_statistics(dump, rows, finite, top),
        profile=statistics.profile(finite),
        mean_weights=finite,
        uniform_season_mass=_uniform_season_mass(dump),
        warnings=list(_warnings(dump, rows)),
    )


# --------------------------------------------------------------------------- one pass over the file


def _summarise(dump: AttentionDump) -> dict[str, Any]:
    """Per step, means over windows and heads of each row statistic and of the weights, and shares of the flags."""
    sums: dict[str, Any] = {}
    first: Matrix | None = None
    for _, weights in dump.blocks():
        first = weights[:1] if first is None else first
        for name, values in _row_values(dump, weights, first).items():
            sums[name] = sums.get(name, 0) + values.sum(axis=(0, 1), dtype=np.float64)
    rows = dump.num_windows * len(dump.heads)
    return {name: total / rows for name, total in sums.items()}


def _row_values(dump: AttentionDump, weights: Matrix, first: Matrix) -> dict[str, Matrix]:
    """(windows, heads, steps) for each statistic, and the weights themselves."""
    entropy, season = statistics.entropy(weights), dump.metadata.season
    target_season = np.stack([_season_positions(dump, int(step)) for step in dump.steps]).astype(weights.dtype)
    return {
        "weights": weights,
        "entropy": entropy,
        "effective_steps": np.exp(entropy),
        "max_weight": statistics.max_weight(weights),
        "centroid_lag": statistics.centroid_lag(weights),
        "recent_season_mass": statistics.seasonal_mass(weights, season),
        "target_season_mass": np.einsum("whsl,sl->whs", weights, target_season),
        "uniform": statistics.is_uniform(entropy, weights.shape[-1]),
        "one_hot": statistics.is_one_hot(weights),
        "wrong_sum": statistics.has_wrong_sum(weights, may_be_less=dump.metadata.row_sum == "<=1"),
        "unlike_first_window": statistics.total_variation(weights, first) >= statistics.STATIC_DISTANCE,
        "unlike_first_step": statistics.total_variation(weights, weights[:, :, :1]) >= statistics.STATIC_DISTANCE,
    }


def _season_positions(dump: AttentionDump, step: int) -> NDArray[np.bool_]:
    return statistics.seasonal_positions(dump.metadata.season, dump.metadata.lookback, step=step)


def _uniform_season_mass(dump: AttentionDump) -> float | None:
    """The share of positions that lie whole seasons before the target; None where no step has any."""
    shares = [float(_season_positions(dump, int(step)).mean()) for step in dump.steps]
    return float(np.mean(shares)) if any(shares) else None


# --------------------------------------------------------------------------- parts of the inspection


def _header(dump: AttentionDump) -> Header:
    sizes = dump.metadata
    return Header(
        mechanism=sizes.mechanism,
        order=sizes.order,
        score=sizes.score,
        normaliser=sizes.normaliser,
        window=sizes.window,
        heads=dump.heads.tolist(),
        item_ids=dump.item_ids,
        num_windows=dump.num_windows,
        first_cutoff=time_text(dump.cutoffs[0]),
        last_cutoff=time_text(dump.cutoffs[-1]),
        lookback=sizes.lookback,
        horizon=sizes.horizon,
        frequency=sizes.frequency,
        season=sizes.season,
    )


def _step_statistics(dump: AttentionDump, rows: dict[str, Any], weights: Matrix, top: int) -> list[StepStatistics]:
    single, seasonal = dump.num_windows == 1, _uniform_season_mass(dump) is not None
    stamps = dump.lookback_timestamps(0) if single else None
    most = max(np.log(dump.metadata.lookback), np.finfo(float).tiny)
    return [
        StepStatistics(
            step=int(step),
            timestamp=time_text(dump.timestamps[0, place]) if single else None,
            entropy=float(rows["entropy"][place]),
            normalised_entropy=float(rows["entropy"][place] / most),
            effective_steps=float(rows["effective_steps"][place]),
            max_weight=float(rows["max_weight"][place]),
            centroid_lag=float(rows["centroid_lag"][place]),
            recent_season_mass=float(rows["recent_season_mass"][place]) if seasonal else None,
            target_season_mass=float(rows["target_season_mass"][place]) if seasonal else None,
            top=_top_lags(weights[place], top, dump.metadata.frequency, stamps),
        )
        for place, step in enumerate(dump.steps)
    ]


def _top_lags(weights: Matrix, count: int, frequency: str, stamps: NDArray[Any] | None) -> list[TopLag]:
    return [
        TopLag(
            lag=int(lag),
            weight=float(weights[-1 - lag]),
            distance=time_distance(frequency, int(lag)),
            timestamp=None if stamps is None else time_text(stamps[-1 - lag]),
        )
        for lag in statistics.top_lags(weights, count)
    ]


def _warnings(dump: AttentionDump, rows: dict[str, Any]) -> Iterator[str]:
    shares = {name: float(np.mean(rows[name])) for name in ("uniform", "one_hot", "wrong_sum")}
    if shares["wrong_sum"]:
        rule = "at most 1" if dump.metadata.row_sum == "<=1" else "1"
        yield f"{_percent(shares['wrong_sum'])} of the rows do not add up to {rule}: these are no sound weights"
    if shares["uniform"] > 0.5:
        yield f"{_all_or_share(shares['uniform'])} uniform: they carry no information about where the forecast looks"
        return
    if shares["one_hot"] > 0.5:
        yield f"{_all_or_share(shares['one_hot'])} one-hot: over 99 % of the weight lies on a single time step"
    if dump.num_windows > 1 and not rows["unlike_first_window"].any():
        yield "the weights are the same for every window: a fixed choice of lags, whatever the lookback holds"
    if len(dump.steps) > 1 and not rows["unlike_first_step"].any():
        yield "the weights are the same for every step: the step ahead does not change where the forecast looks"


def _all_or_share(share: float) -> str:
    return "the weights are" if share > 0.999 else f"{_percent(share)} of the rows are"


def _percent(share: float) -> str:
    """Whole per cent, but never 0 for what is there."""
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"


# --------------------------------------------------------------------------- the page


def render(inspection: Inspection, console: Console) -> None:
    """Print the inspection for this console's width and colours: header, heat map, table of steps, warnings."""
    for line in _header_lines(inspection):
        console.print(Text(line))
    console.print()
    steps = np.array([step.step for step in inspection.steps])
    header = inspection.header
    console.print(
        heatmap_text(inspection.mean_weights, steps, season=header.season, frequency=header.frequency, console=console)
    )
    console.print()
    console.print(
        _step_table(inspection, console.width) if len(inspection.steps) > 1 else _top_table(inspection.steps[0])
    )
    console.print()
    console.print(_summary(inspection), highlight=False)
    for warning in inspection.warnings:
        console.print(f"warning: {warning}", style="yellow", highlight=False)


def _header_lines(inspection: Inspection) -> list[str]:
    header = inspection.header
    heads = f", head {header.heads[0]}" if header.heads != [0] and len(header.heads) == 1 else ""
    heads = f", {len(header.heads)} heads" if len(header.heads) > 1 else heads
    items = header.item_ids[0] if len(header.item_ids) == 1 else f"{len(header.item_ids)} series"
    if header.num_windows == 1:
        windows = f"one window of {items}, cut-off {header.first_cutoff}"
    else:
        cutoffs = " to ".join(dict.fromkeys((header.first_cutoff, header.last_cutoff)))
        windows = f"mean of {header.num_windows} windows of {items}, cut-offs {cutoffs}"
    span = f" ({time_distance(header.frequency, header.lookback)})" if has_time_distances(header.frequency) else ""
    season = f", season {header.season}" if header.season > 1 else ""
    return [
        f"attention  {header.mechanism}: {header.score} score, {header.order} order, {header.normaliser}, "
        f"{header.window} window{heads}",
        f"windows    {windows}",
        f"sizes      lookback {header.lookback}{span}, horizon {header.horizon}, step {header.frequency}{season}",
    ]


def _step_table(inspection: Inspection, width: int) -> Table:
    """One row per step, with what fits the width; with a single window also when the lag it looks at most was."""
    single, seasonal = inspection.header.num_windows == 1, inspection.uniform_season_mass is not None
    roomy, timed = width >= ROOMY_WIDTH, single and width >= SPACIOUS_WIDTH
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("step", "effective", *(["entropy"] if roomy else []), *(["season"] if roomy and seasonal else [])):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("most at",) if timed else ():
        table.add_column(name, no_wrap=True)
    table.add_column("top lags:weight")
    for step in inspection.steps:
        cells = [str(step.step), f"{step.effective_steps:.1f}"]
        cells += [f"{step.normalised_entropy:.2f}"] if roomy else []
        cells += [_share(step.target_season_mass)] if roomy and seasonal else []
        cells += [step.top[0].timestamp or ""] if timed else []
        table.add_row(*cells, ", ".join(f"{entry.lag}:{_share(entry.weight)}" for entry in step.top))
    return table


def _top_table(step: StepStatistics) -> Table:
    """The top lags of one step, each on a line of its own."""
    title = f"step {step.step}" + (f", {step.timestamp}" if step.timestamp else "")
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in ("lag", "weight", "before the cut-off"):
        table.add_column(name, justify="right")
    if step.timestamp:
        table.add_column("time")
    for entry in step.top:
        stamp = [entry.timestamp] if entry.timestamp else []
        table.add_row(str(entry.lag), _share(entry.weight), entry.distance, *stamp)
    return table


def _summary(inspection: Inspection) -> str:
    effective, entropy = inspection.mean("effective_steps"), inspection.mean("normalised_entropy")
    text = (
        f"on average {effective:.1f} effective steps of {inspection.header.lookback} (entropy {entropy:.2f} of uniform)"
    )
    text += f", {inspection.mean('centroid_lag'):.1f} lags back"
    if inspection.uniform_season_mass is None:
        return text
    mass, uniform = _share(inspection.mean("target_season_mass")), _share(inspection.uniform_season_mass)
    return f"{text}; season: {mass} within a step of whole seasons before the target (uniform: {uniform})"


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}%" if value < 0.1 else f"{100 * value:.0f}%"
