"""An inspection as a page of the terminal: header, profile, heat map, tables, warnings."""

import re
import textwrap
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from forecast_attn.config.values import percent
from forecast_attn.data.sessions import base_alias
from forecast_attn.inspection.differences import WeightComparison
from forecast_attn.inspection.results import (
    GroupStatistics,
    Inspection,
    InspectionHeader,
    StepStatistics,
    TopLag,
    noticeable,
)
from forecast_attn.inspection.statistics import has_time_distances, time_distance
from forecast_attn.inspection.terminal_heatmap import heatmap_text, profile_text
from forecast_attn.inspection.warnings import identifiability_words

ROOMY_WIDTH, SPACIOUS_WIDTH = 60, 80  # characters the table of steps needs for more numbers, and for time stamps
HEADING_WIDTH = 11  # of `windows    `
TOP_WIDTH = 11  # characters of `lags:weight`, and more than a lag with its weight takes
MOST_GROUPS = 31  # groups in a table: hours of a day and weekdays always fit, of many series the most unlike


def render(inspection: Inspection, console: Console) -> None:
    """Print the inspection for this console's width and colours."""
    header = inspection.header
    for line in _header_lines(inspection):
        console.print(Text(_hanging(line, console.width)))
    console.print()
    if len(inspection.steps) > 1:
        console.print(Text("mean weight by lag"))
        console.print(_profile_text(inspection, console))
        console.print()
    console.print(_heatmap(inspection, console))
    console.print()
    several = len(inspection.steps) > 1
    console.print(_step_table(inspection, console.width) if several else _top_table(inspection.steps[0]))
    console.print()
    if inspection.groups:
        _print_groups(inspection, console)
    console.print(_summary(inspection), highlight=False)
    if header.identifiable is None or (header.identifiable and inspection.reading.kind == "looks"):
        console.print(identifiability_words(header), highlight=False, markup=False)
    for warning in inspection.warnings:
        console.print(f"warning: {warning}", style="yellow", highlight=False)


def _hanging(line: str, width: int) -> str:
    """The line wrapped under its value, which begins at `HEADING_WIDTH`; dates and shares stay whole."""
    whole = re.sub(r"(?<=\d{4}-\d\d-\d\d) (?=\d\d:)| (?=%)", "\0", line)
    lines = textwrap.wrap(
        whole, max(width, 1), subsequent_indent=" " * HEADING_WIDTH, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\0", " ")


def _heatmap(inspection: Inspection, console: Console) -> Text:
    steps: Any = np.array([step.step for step in inspection.steps])
    if inspection.header.patch_length > 1:
        steps = [step.step_text for step in inspection.steps]
    return heatmap_text(inspection.mean_weights, steps, **_axis_of(inspection.header), console=console)


def _profile_text(inspection: Inspection, console: Console) -> Text:
    return profile_text(inspection.profile, **_axis_of(inspection.header), console=console)


def _axis_of(header: InspectionHeader) -> dict[str, Any]:
    return {"season": header.key_season, "frequency": header.frequency, "patch_length": header.patch_length}


def _header_lines(inspection: Inspection) -> list[str]:
    header = inspection.header
    heads = f", head {header.heads[0]}" if header.heads != [0] and len(header.heads) == 1 else ""
    heads = f", {len(header.heads)} heads" if len(header.heads) > 1 else heads
    windows = f"one window of {header.items_text}, cut-off {header.first_cutoff}"
    if header.num_windows > 1:
        windows = f"mean of {header.num_windows} windows of {header.items_text}, cut-offs {header.cutoffs_text}"
    span = f" ({time_distance(header.frequency, header.lookback)})" if has_time_distances(header.frequency) else ""
    season = f", season {header.season}" if header.season > 1 else ""
    patches = f" in {header.keys_text}" if header.patch_length > 1 else ""
    return [
        f"attention  {header.mechanism_text}{heads}",
        f"windows    {windows}",
        f"sizes      lookback {header.lookback}{span}{patches}, horizon {header.horizon}, "
        f"step {base_alias(header.frequency)}{season}",
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
        cells = [step.step_text, f"{step.effective_steps:.1f}"]
        cells += [f"{step.normalised_entropy:.2f}"] if roomy else []
        cells += [_share(step.target_season_mass)] if roomy and seasonal else []
        cells += [step.top[0].time_text or ""] if timed else []
        table.add_row(*cells, _top_words(step.top))
    return table


def _print_groups(inspection: Inspection, console: Console) -> None:
    """One row per group, in their own order; of very many only the most unlike."""
    shown = inspection.groups
    if len(shown) > MOST_GROUPS:
        shown = sorted(shown, key=lambda group: -group.distance)[:MOST_GROUPS]
        console.print(Text(f"the {MOST_GROUPS} of {len(inspection.groups)} most unlike the mean; --json has them all"))
    sizes = ((True, 5), (True, 3), (False, 3), (False, 2), (False, 1))
    console.print(_fitting([_group_table(inspection, shown, *size) for size in sizes], console))
    if inspection.left_out:
        console.print(Text(inspection.left_out))
    console.print()


def _group_table(inspection: Inspection, groups: list[GroupStatistics], roomy: bool, tops: int) -> Table:
    """One row per group, with entropies and seasons if roomy, and this number of top lags."""
    seasonal = inspection.uniform_season_mass is not None
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(_GROUP_TITLES[str(inspection.by)])
    season = ["season"] if roomy and seasonal else []
    for name in ("windows", "effective", *(["entropy"] if roomy else []), *season, "unlike"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("top lags:weight", min_width=TOP_WIDTH)
    for group in groups:
        cells = [f"{group.num_windows:,}", f"{group.effective_steps:.1f}"]
        cells += [f"{group.normalised_entropy:.2f}"] if roomy else []
        cells += [_share(group.target_season_mass)] if season else []
        cells += [f"{group.distance:.2f}", _top_words(group.top[:tops])]
        table.add_row(Text(group.name), *cells)
    return table


_GROUP_TITLES = {"item": "series", "head": "head", "hour": "cut-off at", "weekday": "cut-off on"}


def _top_words(top: list[TopLag]) -> str:
    return ", ".join(f"{entry.lag_text}:{_share(entry.weight)}" for entry in noticeable(top))


def _top_table(step: StepStatistics) -> Table:
    """The top lags of one step, each on a line of its own."""
    title = f"step{'' if step.last_step in (None, step.step) else 's'} {step.step_text}"
    title += f", {step.time_text}" if step.time_text else ""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for name in ("lag", "weight", "before the cut-off"):
        table.add_column(name, justify="right")
    if step.timestamp:
        table.add_column("time")
    for entry in step.top:
        stamp = [entry.time_text] if entry.time_text else []
        table.add_row(entry.lag_text, _share(entry.weight), entry.distance, *stamp)
    return table


def _summary(inspection: Inspection) -> str:
    header = inspection.header
    keys = "steps" if header.patch_length == 1 else "patches"
    effective, entropy = inspection.mean("effective_steps"), inspection.mean("normalised_entropy")
    text = f"on average {effective:.1f} effective {keys} of {header.num_keys} (entropy {entropy:.2f} of uniform)"
    text += f", mean lag {header.lag_in_steps(inspection.mean('centroid_lag')):.1f} steps before the cut-off"
    if inspection.missing_steps is not None:
        text += f"; {inspection.missing_steps:.1f} {keys} of a lookback are missing"
    text = f"{inspection.reading.text}\n{text}"
    if inspection.uniform_season_mass is None:
        return text
    mass, uniform = _share(inspection.mean("target_season_mass")), _share(inspection.uniform_season_mass)
    beside = "within a step of" if header.patch_length == 1 else "on patches"
    return f"{text}; season: {mass} {beside} whole seasons before the target (uniform: {uniform})"


def _share(value: float | None) -> str:
    """`35%`, `>99%`, `0.4%`, `<0.1%`: as narrow as columns are."""
    words = "" if value is None else percent(value, 1 if value < 0.1 else 0)
    return words.replace("over ", ">").replace("under ", "<").replace(" ", "")


# --------------------------------------------------------------------------- two side by side


def render_comparison(comparison: WeightComparison, console: Console) -> None:
    """Print two inspections side by side: profiles, and per step entropies, distance and top lags."""
    for sign, name, inspection in zip("AB", comparison.names, comparison.inspections, strict=True):
        console.print(Text(f"{sign}  {name}"), style="bold")
        for line in _header_lines(inspection):
            console.print(Text(textwrap.indent(_hanging(line, console.width - 3), "   ")))
        console.print(_profile_text(inspection, console))
        console.print()
    # As many top lags of each as fit: lags of patches take more room than those of steps.
    tables = [_comparison_table(comparison, console.width, tops) for tops in (3, 2, 1)]
    console.print(_fitting(tables, console))
    console.print()
    console.print(comparison.sentence, highlight=False)
    for sign, inspection in zip("AB", comparison.inspections, strict=True):
        console.print(f"{sign}: {inspection.reading.text}", highlight=False, markup=False)
        for warning in inspection.warnings:
            console.print(f"warning: {sign}: {warning}", style="yellow", highlight=False)


def _fitting(tables: list[Table], console: Console) -> Table:
    """Return the first table that is no wider than the console, else the last one."""
    wide = console.options.update(width=1_000)
    return next((each for each in tables if console.measure(each, options=wide).maximum <= console.width), tables[-1])


def _comparison_table(comparison: WeightComparison, width: int, tops: int) -> Table:
    roomy = width >= SPACIOUS_WIDTH
    table = Table(box=None, pad_edge=False, header_style="bold")
    entropies = ("entropy\nA", "\nB") if roomy else ()
    same = ("same\ntop",) if width >= ROOMY_WIDTH else ()
    for name in ("\nstep", "effective\nA", "\nB", *entropies, "\napart", *same):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("top lags:weight\nA" if roomy else "top lag\nA", "\nB"):
        table.add_column(name, no_wrap=True)
    first, second = ({step.step: step for step in inspection.steps} for inspection in comparison.inspections)
    for step in comparison.steps:
        pair = first[step.step], second[step.step]
        table.add_row(
            pair[0].step_text,
            *(f"{each.effective_steps:.1f}" for each in pair),
            *(f"{each.normalised_entropy:.2f}" for each in pair if roomy),
            "" if step.distance is None else f"{step.distance:.2f}",
            *(_share(step.same_top_lag) for _ in same),
            *(_top_words(each.top[:tops]) for each in pair),
        )
    return table
