"""`forecast inspect --compare OTHER --html`: two files on one page that prints, without a script."""

from __future__ import annotations

from forecast_attn.config.values import percent
from forecast_attn.inspection.differences import WeightComparison
from forecast_attn.inspection.html_report import page_of_parts
from forecast_attn.inspection.page_figures import weights_figure
from forecast_attn.inspection.page_sections import bullets, paragraph, reading_words, section, sentence, table
from forecast_attn.inspection.results import Inspection, StepStatistics
from forecast_attn.notebook import darkest_weight


def comparison_page(comparison: WeightComparison) -> str:
    """The sentences, the heat maps and the warnings of both, and each step beside the other's."""
    darkest = max(darkest_weight(each.mean_weights) for each in comparison.inspections)
    parts = [
        _inspection_section(sign, name, each, darkest)
        for sign, name, each in zip("AB", comparison.names, comparison.inspections, strict=True)
    ]
    steps = section("Step by step", "steps", _steps_table(comparison))
    body = "".join([section("How far apart", "apart", paragraph(sentence(comparison.sentence))), *parts, steps])
    mechanisms = " and ".join(each.header.mechanism for each in comparison.inspections)
    return page_of_parts("Two attentions side by side", mechanisms, body)


def _inspection_section(sign: str, name: str, inspection: Inspection, darkest: float) -> str:
    figure = weights_figure(inspection, darkest=darkest)
    identity = f"file-{sign.lower()}"
    warnings = bullets(inspection.warnings, "warnings")
    return section(f"{sign}: {name}", identity, reading_words(inspection.reading), figure, warnings)


def _steps_table(comparison: WeightComparison) -> str:
    first, second = ({step.step: step for step in each.steps} for each in comparison.inspections)
    rows = []
    for step in comparison.steps:
        pair = first[step.step], second[step.step]
        same = None if step.same_top_lag is None else percent(step.same_top_lag)
        spread = [each.effective_steps for each in pair]
        rows.append([pair[0].step_text, step.distance, same, *spread, *map(_top_words, pair)])
    headings = ["step", "apart", "same top", "effective A", "effective B", "top lags A", "top lags B"]
    return table("Steps that both have", headings, rows)


def _top_words(step: StepStatistics) -> str:
    return ", ".join(f"{top.lag_text}: {percent(top.weight)}" for top in step.top[:2])
