"""The parts of the HTML page that are text and tables. Every word of the user's goes through `escape`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from forecast_attn.baselines.combination import COMBINATION
from forecast_attn.config.values import NETWORK, percent
from forecast_attn.inspection.interpretation import baseline_scores, best_of_baselines
from forecast_attn.inspection.results import Inspection, Interpretation

WHOLE = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d[\d:+.-]*)?|(?<![\w-])--[a-z-]+(?: [A-Z_]+| \d+)?")
"""Dates and options, which no line may end in."""
NUMBER = re.compile(r"[+-]?[\d.,]+ %")
METRIC_NAMES = {"mae": "MAE", "rmse": "RMSE", "mase": "MASE"}


def section(title: str, identity: str, *parts: str) -> str:
    """Return a section with its heading; an empty text where it has no content."""
    if not any(parts):
        return ""
    return f'<section aria-labelledby="{identity}"><h2 id="{identity}">{escape(title)}</h2>{"".join(parts)}</section>'


def paragraph(text: str) -> str:
    return f"<p>{words(text)}</p>" if text else ""


def sentence(text: str) -> str:
    """The text with a capital and a full stop."""
    return text and f"{text[0].upper()}{text[1:].removesuffix('.')}."


def words(text: str) -> str:
    """Escaped text with commands between backquotes as code, and no break in dates, options and before per cent."""
    whole = WHOLE.sub(r'<span class="together">\g<0></span>', escape(text)).replace(" %", "\u00a0%")
    return re.sub("`([^`]+)`", r"<code>\1</code>", whole)


def bullets(texts: Iterable[str], kind: str = "") -> str:
    items = "".join(f"<li>{words(text)}</li>" for text in texts)
    return f'<ul class="{kind}">{items}</ul>' if items else ""


def table(caption: str, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table whose first column names its rows; columns of numbers are set to the right."""
    if not rows:
        return ""
    kinds = [_kind([row[column] for row in rows]) for column in range(len(headings))]
    head = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for name, kind in zip(headings, kinds, strict=True))
    body = "".join(f"<tr>{_row(cells, kinds)}</tr>" for cells in rows)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _kind(cells: Sequence[Any]) -> str:
    return ' class="number"' if any(map(_is_number, cells)) else ""


def _is_number(cell: Any) -> bool:
    if isinstance(cell, str):
        return bool(NUMBER.fullmatch(cell))
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _row(cells: Sequence[Any], kinds: Sequence[str]) -> str:
    name, *values = (escape(_aligned(cell)).replace(" %", "\u00a0%") for cell in cells)
    return f'<th scope="row">{name}</th>' + "".join(
        f"<td{kind}>{value}</td>" for value, kind in zip(values, kinds[1:], strict=True)
    )


def _aligned(cell: Any) -> str:
    """A cell; numbers with four digits, so that those of a column end alike."""
    if isinstance(cell, float) and 1e-4 < abs(cell) < 1e3:
        return f"{cell:#.4g}".removesuffix(".")
    return show(cell)


def show(value: Any) -> str:
    """A value as people read it."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1e3 else f"{value:,.0f}"
    if isinstance(value, list | tuple):
        return ", ".join(map(show, value)) or "–"
    return str(value)


# --------------------------------------------------------------------------- what the page says


def reading_words(reading: Interpretation) -> str:
    """The sentence on the weights, above their charts."""
    return f'<p class="reading">{words(reading.text)}</p>'


def findings_section(inspection: Inspection, notes: Sequence[str]) -> str:
    """Section on the findings, and the caveats about them."""
    facts = [_spread_words(inspection), *_season_words(inspection)]
    parts = bullets(facts), bullets(inspection.warnings, "warnings"), bullets(map(sentence, notes))
    return section("In words", "in-words", *parts)


def _spread_words(inspection: Inspection) -> str:
    effective, entropy, lag = (
        inspection.mean(name) for name in ("effective_steps", "normalised_entropy", "centroid_lag")
    )
    header = inspection.header
    mean_lag = f"the mean lag is {_short(header.lag_in_steps(lag))} steps before the cut-off"
    if header.patch_length > 1:
        return (
            f"On average a step of the decoder spreads its weight over {_short(effective)} of {header.keys_text} "
            f"(effective patches; entropy {_short(entropy)} of uniform); {mean_lag}."
        )
    return (
        f"On average a step spreads its weight over {_short(effective)} of {header.lookback} past steps "
        f"(effective steps; entropy {_short(entropy)} of uniform); {mean_lag}."
    )


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3g}"


def _season_words(inspection: Inspection) -> list[str]:
    mass, uniform = inspection.mean("target_season_mass"), inspection.uniform_season_mass
    if mass is None or uniform is None:
        return []
    beside = "within a step of" if inspection.header.patch_length == 1 else "on patches"
    return [
        f"Of the weight, {percent(mass)} lies {beside} whole seasons before the target; "
        f"uniform weights would put {percent(uniform)} there."
    ]


def run_section(config: dict[str, Any] | None, metrics: dict[str, Any] | None) -> str:
    """Section on the run's errors and options; empty for an attention file without its run."""
    return section("The run", "the-run", metrics_table(metrics or {}), _config_tables(config or {}))


def metrics_table(metrics: dict[str, Any]) -> str:
    """Errors of the network, of what it is combined to and of the baselines, and the skill in words."""
    model, naive = metrics.get("validation", {}), metrics.get("seasonal_naive", {})
    names = [name for name in model if name in naive]
    combined = metrics.get("combination") or {}
    baselines = baseline_scores(metrics) if metrics else {}
    is_combined = bool(set(combined.get("weights", ())) - {NETWORK})
    scores = {NETWORK: model, **({COMBINATION: combined["validation"]} if is_combined else {})}
    scores |= dict(sorted(baselines.items(), key=lambda each: each[1].get("mae") or 0.0))
    rows = [[who, *(errors.get(name) for name in names)] for who, errors in scores.items()]
    facts = [f"Best epoch {metrics['best_epoch']} of {metrics['epochs']}."] if "epochs" in metrics else []
    if metrics.get("skill_per_cent") is not None:
        facts.insert(0, _skill_words(metrics, model["mae"]))
    count = f"{model['windows']:,}" if "windows" in model else "–"
    caption = f"Validation: {count} windows after {show(model.get('after'))}"
    headings = ["forecast by", *(METRIC_NAMES.get(name, name) for name in names)]
    return table(caption, headings, rows) + paragraph(" ".join(facts))


def _skill_words(metrics: dict[str, Any], mae: float) -> str:
    best, error = best_of_baselines(metrics)
    skill = 100 * (1 - mae / error) if error > 0 else metrics["skill_per_cent"]
    side = "below" if skill >= 0 else "above"
    return f"The network's MAE is {abs(skill):.1f} % {side} that of {best}, the best of the baselines."


def _config_tables(config: dict[str, Any]) -> str:
    data = config.get("data", {})
    facts = [
        ["table", data.get("file")],
        ["sha256", data.get("sha256")],
        ["forecast-attn", config.get("package_version")],
    ]
    tables = [table("Made from", ["fact", "value"], facts)] if config else []
    for name, options in config.get("options", {}).items():
        rows = [[key.replace("_", "-"), show(value)] for key, value in options.items()]
        tables.append(table(f"Options: {name}", ["option", "value"], rows))
    body = "".join(tables)
    return f'<details><summary>Configuration</summary><div class="columns">{body}</div></details>' if body else ""
