"""`forecast report`: all that is known of a run on one page that prints, for people without a terminal.

The page shares its styles, tables and colours with that of `forecast inspect --html`; it has no script and makes no
request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from forecast_attn.attention_file import read_attention
from forecast_attn.baselines.combination import COMBINATION
from forecast_attn.checking.examination import CheckReport, check_table
from forecast_attn.config.options import RunConfig
from forecast_attn.config.requests import PlotRequest
from forecast_attn.config.values import NETWORK, percent
from forecast_attn.data.findings import counted
from forecast_attn.data.reading import digest_of
from forecast_attn.data.roles import COVARIATE_FIELDS
from forecast_attn.errors import ConfigError, DataError, RunError
from forecast_attn.forecasting.identifiability import with_rank
from forecast_attn.forecasting.model import read_config, read_schema
from forecast_attn.forecasting.predict import kept_weights
from forecast_attn.inspection.audit_section import audit_section
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.html_report import page_of_parts
from forecast_attn.inspection.interpretation import best_of_baselines, evidence_of
from forecast_attn.inspection.page_figures import weights_figure
from forecast_attn.inspection.page_sections import (
    bullets,
    metrics_table,
    paragraph,
    reading_words,
    section,
    sentence,
    show,
    table,
)
from forecast_attn.inspection.results import Inspection
from forecast_attn.inspection.window_values import BY_NETWORK
from forecast_attn.plotting.forecast_attribution import attribution_of
from forecast_attn.plotting.forecasts import Forecasts
from forecast_attn.plotting.past import SEASONAL_NAIVE, read_past
from forecast_attn.plotting.reliability import reliability
from forecast_attn.plotting.scene import build_scene
from forecast_attn.plotting.series_values import SeriesValues
from forecast_attn.plotting.sources import PlotSource, forecast_scene, scored_forecasts
from forecast_attn.plotting.step_errors import ModelErrors, StepErrors, step_errors
from forecast_attn.reporting.drawing import (
    attribution_by_time_figure,
    attribution_figure,
    calibration_figure,
    errors_figure,
    forecast_figure,
    forecast_legend,
    small_forecast_figure,
)
from forecast_attn.runs.atomic import write_atomically
from forecast_attn.runs.run_dir import RunDir
from forecast_attn.runs.training_table import check_recorded_files, table_of_training

EXTREMES = 2
"""Windows shown of the best, and of the worst."""
MOST_FINDINGS = 12
OF_A_BACKTEST = "The chart is about the windows of the backtest"
SELECTED = (
    "These are the validation windows, used to select the model; for unseen windows, `forecast backtest` the run."
)

NETWORK_ALONE = "The network alone is shown here; it {part} what `forecast predict` forecasts."
BASELINE = (
    "The baseline is what the network would forecast from a past at the window's own level, with other numbers at "
    "their mean in training, unknown categories, and a calendar in the middle of its cycles. This describes the "
    "network, not causes in the world."
)


@dataclass(frozen=True)
class RunReport:
    """A report, ready to be written.

    Attributes:
        html: the page.
        missing: in words, what could not be shown and why.
    """

    html: str
    missing: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        """Write the page whole or not at all.

        Raises:
            RunError: the folder is missing, may not be written to, or is full.
        """
        write_atomically(path, self.html)

    def __repr__(self) -> str:
        return f"<RunReport: {len(self.html) // 1024:,} KiB of HTML, {counted(len(self.missing), 'part')} missing>"

    def _repr_html_(self) -> str:
        """The page in a frame of a notebook."""
        return f'<iframe srcdoc="{escape(self.html)}" width="100%" height="800"></iframe>'


def build_run_report(run: RunDir, data: Path | None = None) -> RunReport:
    """Make the report of a finished run.

    Args:
        run: the run.
        data: the table it was trained on; where the run recorded it when None.

    Raises:
        RunError: the run is damaged.
    """
    config, schema, metrics = read_config(run), read_schema(run), run.read_json(run.metrics)
    missing: list[str] = []
    path = _table_of_training(run, data, missing)
    scored = _or_missing(lambda: scored_forecasts(PlotSource(None, run, data), PlotRequest()), missing)
    inspection = _inspection_of(run, missing)
    alone = _network_alone(run, scored)
    sections = [
        _summary_section(run, metrics, inspection),
        _forecast_section(run, missing, path, scored),
        section("How accurate it is", "accuracy", metrics_table(metrics), *_curves(scored, run, alone)),
        section("Best and worst windows", "windows", alone, *_extreme_windows(run, path, scored, missing)),
        _attention_section(inspection),
        _attribution_section(run, path, missing),
        audit_section(run.read_json(run.audit) if run.audit.is_file() else None),
        _data_section(run, config, path, missing),
        section("What was trained", "trained", _training_table(config, metrics, schema)),
    ]
    missing += _without_audit(run, schema)
    notes = section("Not shown", "missing", bullets(missing))
    title = f"Forecast of {schema.roles.target}"
    named = ": ".join(dict.fromkeys((run.title, config.model.attention)))
    subtitle = f"{named}, {_sizes(schema)}"
    return RunReport(page_of_parts(title, subtitle, "".join([*sections, notes])), missing)


def _without_audit(run: RunDir, schema: Any) -> list[str]:
    """Say which results of an audit the run lacks."""
    columns = " --covariates" if any(getattr(schema.roles, name) for name in COVARIATE_FIELDS) else ""
    if not run.validation_attention.is_file():
        return []
    if not run.audit.is_file():
        return [f"whether the weights can be believed: `forecast audit RUN{columns}` tests it"]
    if columns and not run.read_json(run.audit).get("covariates"):
        return ["the importance of covariates: `forecast audit RUN --covariates` measures it"]
    return []


def _or_missing(make: Callable[[], Any], missing: list[str]) -> Any:
    """The value, or None and a note where the run lacks a file for it."""
    try:
        return make()
    except (DataError, RunError) as error:
        missing.append(error.message)
        return None


def _table_of_training(run: RunDir, data: Path | None, missing: list[str]) -> Path | None:
    """The table, if it is the one of the training."""
    recorded = run.read_json(run.config)["data"]
    if data is None:
        path = table_of_training(run)
    else:
        path = data if recorded["sha256"] is not None and digest_of(data) == recorded["sha256"] else None
    if path is not None:
        return path
    name = f"the table of training, '{recorded['file']}'"
    moved = f"{name}, is not where it was or has changed: --data FILE"
    missing.append(moved if data is None else f"'{data}' is not {name}")
    return None


def _sizes(schema: Any) -> str:
    return f"lookback {schema.lookback}, horizon {schema.horizon}, step {schema.frequency.alias}"


# --------------------------------------------------------------------------- sections


def _summary_section(run: RunDir, metrics: dict[str, Any], inspection: Inspection | None) -> str:
    """Three or four sentences for who reads no further."""
    validation, (best, best_error) = metrics["validation"], best_of_baselines(metrics)
    facts = [f"On {validation['windows']:,} validation windows the mean absolute error is {show(validation['mae'])}."]
    if best_error > 0:
        skill = 100 * (1 - validation["mae"] / best_error)
        side = "below" if skill >= 0 else "above"
        facts.append(f"That is {abs(skill):.1f} % {side} the error of {best}, the best of the baselines.")
    combined = metrics.get("combination")
    if combined and set(combined["weights"]) - {NETWORK}:
        facts[0] = facts[0].replace("mean absolute error", "mean absolute error of the network alone")
        parts, error = _parts(combined["weights"]), combined["validation"]["mae"]
        facts.append(f"`forecast predict` combines it with baselines ({parts}), chosen on these windows: together the "
                     f"mean absolute error is {show(error)}{_beside(error, best_error, best)}.")  # fmt: skip
    interval = validation.get("interval")
    if interval:
        covered, nominal = percent(interval["coverage"]), f"{100 * interval['nominal']:.3g} %"
        facts.append(f"{covered} of the values lie in the network's {nominal} interval.")
    if metrics.get("ended") == "interrupted":
        facts.append("The training was interrupted.")
    reading = "" if inspection is None else reading_words(inspection.reading)
    return section("In short", "summary", bullets(facts), reading)


def _beside(error: float, other: float, best: str) -> str:
    """Distance of an error from that of the best baseline, in words."""
    if not other:
        return ""
    difference = 100 * abs(error / other - 1)
    if difference < 0.05:
        return f", as large as that of {best}"
    return f", {difference:.1f} % {'below' if error < other else 'above'} that of {best}"


def _parts(weights: dict[str, float]) -> str:
    """`network 40 %, linear 60 %`; the network first, with 0 % where it has no part."""
    ordered = {NETWORK: weights.get(NETWORK, 0.0), **weights}
    return ", ".join(f"{name} {percent(weight)}" for name, weight in ordered.items())


def _forecast_section(run: RunDir, missing: list[str], path: Path | None, scored: Forecasts | None) -> str:
    written = run.predictions.is_file()
    models = (_shown_model(scored),) if scored is not None and run.backtest.is_file() and not written else ()
    source, request = PlotSource(None, run, path), PlotRequest(model=models)
    scene = _or_missing(lambda: forecast_scene(source, request, with_hints=False), missing)
    if scene is None:
        return ""
    views = scene.views[:4]
    draw = forecast_figure if len(views) == 1 else small_forecast_figure
    figures = [draw(view, scene.zone, f"{view.item_id}, cut-off {scene.zone.stamp_text(view.cutoff)}")
               for view in views]  # fmt: skip
    more = f"{len(views)} of {scene.num_items:,} series." if scene.num_items > len(views) else ""
    by_network = bool(kept_weights(RunDir(run.home))) and not written and COMBINATION not in models
    legend = paragraph(f"{forecast_legend(views[0], BY_NETWORK if by_network else 'forecast')} {more}")
    return section("The forecast", "forecast", _pairs(figures), legend, bullets(scene.notes))


def _pairs(figures: Sequence[str]) -> str:
    """Figures of half the width, side by side; a single one is as wide as the page."""
    return "".join(figures) if len(figures) < 2 else f'<div class="pairs">{"".join(figures)}</div>'


def _shown_model(scored: Forecasts) -> str:
    """Name of what `predict` forecasts, or of the network alone."""
    return COMBINATION if COMBINATION in scored.models else scored.models[0]


def _network_alone(run: RunDir, scored: Forecasts | None) -> str:
    """Say that the windows shown are the network's, where `predict` forecasts with baselines; else nothing."""
    weights = kept_weights(RunDir(run.home))
    if not weights or scored is None or COMBINATION in scored.models:
        return ""
    part = f"is {percent(weights[NETWORK])} of" if NETWORK in weights else "has no part in"
    return paragraph(NETWORK_ALONE.format(part=part))


def _curves(scored: Forecasts | None, run: RunDir, alone: str) -> Iterator[str]:
    """Error by step, and the calibration of the quantiles where there are any."""
    if scored is None:
        return
    name, combines = scored.models[0], bool(kept_weights(RunDir(run.home)))
    every = step_errors(scored)
    if len(every.steps) > 1:
        yield errors_figure(_beside_the_best(every, name), name, "the network" if combines else "this run")
    yield alone
    yield paragraph(_words_on_backtest(every, name, run) if run.backtest.is_file() else SELECTED)
    if scored.quantiles:
        yield calibration_figure(reliability(scored))


def _beside_the_best(errors: StepErrors, name: str) -> StepErrors:
    """The run's errors, those of the best other model, and of seasonal-naive unless it is far off."""
    shown = [model for model in errors.models if model.name in (name, COMBINATION)]
    others = _baselines_by_error(errors, name)
    naive = [model for model in others[1:] if model.name == SEASONAL_NAIVE and not model.is_far_from(others[0])]
    return replace(errors, models=(*shown, *others[:1], *naive))


def _baselines_by_error(errors: StepErrors, name: str) -> list[ModelErrors]:
    others = [model for model in errors.models if model.name not in (name, COMBINATION)]
    return sorted(others, key=lambda model: model.overall)


def _words_on_backtest(errors: StepErrors, name: str, run: RunDir) -> str:
    """Say which windows the chart is about, and where its best baseline is not the table's."""
    others = [model.name for model in _baselines_by_error(errors, name)]
    best, _ = best_of_baselines(run.read_json(run.metrics))
    if others[:1] == [best]:
        return f"{OF_A_BACKTEST}."
    if best not in others:
        return f"{OF_A_BACKTEST}, which has no forecasts of {best}, the best baseline of the table."
    return f"{OF_A_BACKTEST}; the best baseline there is {others[0]}, in the table {best}."


def _extreme_windows(run: RunDir, path: Path | None, scored: Forecasts | None, missing: list[str]) -> Iterator[str]:
    """The windows with the smallest and the largest error, as a table and as pictures."""
    if scored is None:
        return
    forecasts = scored.of_models([_shown_model(scored)])
    windows = window_errors(forecasts.frame)
    count = min(EXTREMES, len(windows) // 2)
    chosen = [("best", each) for each in windows[:count]]
    chosen += [("worst", each) for each in windows[len(windows) - count :][::-1]]
    rows = [[kind, each.item_id, forecasts.zone.stamp_text(each.cutoff), each.error] for kind, each in chosen]
    caption = f"Mean absolute error of single windows, of {len(windows):,}"
    yield table(caption, ["window", "series", "cut-off", "MAE"], rows)
    past = None if path is None else _or_missing(lambda: read_past(run, path), missing)
    series = SeriesValues.of_forecasts(forecasts) if past is None else SeriesValues.of_panel(past.panel)
    frame, figures, legend = forecasts.frame, [], ""
    for kind, each in chosen:
        window = forecasts.where((frame["item_id"] == each.item_id) & (frame["cutoff"] == each.cutoff))
        view = build_scene(window, series, history=None).views[0]
        words = f"{kind}: {each.item_id}, cut-off {forecasts.zone.stamp_text(each.cutoff)}, MAE {show(each.error)}"
        figures.append(small_forecast_figure(view, forecasts.zone, words))
        legend = forecast_legend(view, "forecast")
    yield paragraph(legend) + _pairs(figures)


class WindowError(NamedTuple):
    """Mean absolute error of one window, over the steps whose actual value is known."""

    item_id: str
    cutoff: Any
    error: float


def window_errors(frame: pd.DataFrame) -> list[WindowError]:
    """Errors of every window with a known value, the smallest first; equal ones by series and cut-off."""
    errors = np.abs(frame["prediction"].to_numpy(np.float64) - frame["target"].to_numpy(np.float64))
    means = pd.Series(errors).groupby([frame["item_id"].to_numpy(), frame["cutoff"].to_numpy()]).mean()
    items, cutoffs = (means.index.get_level_values(level) for level in (0, 1))
    windows = zip(items, cutoffs.to_numpy(), means.to_numpy(np.float64), strict=True)
    known = [WindowError(str(item), cutoff, float(error)) for item, cutoff, error in windows if np.isfinite(error)]
    return sorted(known, key=lambda each: each.error)


def _inspection_of(run: RunDir, missing: list[str]) -> Inspection | None:
    if not run.validation_attention.is_file():
        missing.append("the run has no attention: it was trained with --attention none")
        return None
    dump = with_rank(read_attention(run.unaltered(run.validation_attention)), run)
    return inspect_attention(dump, evidence=evidence_of(run))


def _attention_section(inspection: Inspection | None) -> str:
    if inspection is None:
        return ""
    words = f"Mean over {inspection.header.num_windows:,} validation windows."
    warnings = bullets(inspection.warnings, "warnings")
    return section("Where it looks", "attention", weights_figure(inspection), paragraph(words), warnings)


def _attribution_section(run: RunDir, path: Path | None, missing: list[str]) -> str:
    """Section on the contributions of the inputs to the newest forecast of the first series."""
    what = "contributions of the inputs to one forecast"
    weights = kept_weights(RunDir(run.home))
    if weights and NETWORK not in weights:
        missing.append(f"{what}: validation gave the network no part in the forecast")
        return ""
    try:
        first = read_schema(run).scaler.item_ids[0]
        shown = attribution_of(run, items=[first], training=path)
    except (ConfigError, DataError, RunError) as error:
        missing.append(f"{what}: {error.message}")
        return ""
    figures = (attribution_figure(shown), attribution_by_time_figure(shown))
    notes = bullets(map(sentence, shown.notes))
    return section("Contributions of the inputs to one forecast", "attribution", *figures, paragraph(BASELINE), notes)


def _data_section(run: RunDir, config: RunConfig, path: Path | None, missing: list[str]) -> str:
    """The table, and what `forecast check` finds in it."""
    if path is None:
        return ""
    checked = _or_missing(lambda: _check_of_training(run, config, path), missing)
    if checked is None:
        return ""
    facts = [["table", str(path.name)], ["rows", f"{checked.rows:,}"], ["series", f"{len(checked.series):,}"]]
    findings = [f"{finding.code} {finding.severity}: {finding.message}" for finding in checked.findings]
    more = [f"{len(findings) - MOST_FINDINGS} more: `forecast check`"] if len(findings) > MOST_FINDINGS else []
    words = paragraph("" if findings else "`forecast check` finds nothing wrong.")
    return section("The data", "data", table("The table", ["fact", "value"], facts), words,
                   bullets([*findings[:MOST_FINDINGS], *more]))  # fmt: skip


def _check_of_training(run: RunDir, config: RunConfig, path: Path) -> CheckReport:
    """Check the table of training, without opening files that only the run names.

    Raises:
        RunError: the run names a table of forecasts that is a pipe or a device, or not the one of the training.
    """
    check_recorded_files(str(run.path), run.read_json(run.config)["data"], config, data=path, vintages=None)
    return check_table(path, replace(config.data, holiday_dates=None))  # the run has these days in schema.json


def _training_table(config: RunConfig, metrics: dict[str, Any], schema: Any) -> str:
    roles = schema.roles
    patch_length = config.model.patch_length or 1
    patches = f", in patches of {patch_length}" if patch_length > 1 else ""
    rows = [
        ["attention", config.model.attention],
        ["lookback", f"{schema.lookback}{patches}"],
        ["horizon", f"{schema.horizon}"],
        ["step", schema.frequency.alias],
        ["target", roles.target],
        ["known in advance", show([*roles.future_covariates, *roles.future_categories])],
        ["known up to the cut-off", show([*roles.past_covariates, *roles.past_categories])],
        ["epochs", f"{metrics.get('epochs', '–')}, the best {metrics.get('best_epoch', '–')}"],
        ["seed", show(config.training.seed)],
    ]
    return table("The training", ["fact", "value"], rows)
