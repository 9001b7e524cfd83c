"""The part of the HTML page that says whether the attention can be believed: audit.json in words, tables and curves."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from forecast_attn.inspection.page_curves import curve_figure, profile_figure
from forecast_attn.inspection.page_sections import bullets, paragraph, section, show, table, words

LEVELS = {"faithful": "pass", "partly faithful": "unclear", "not faithful": "fail"}
MARKS = {True: ("pass", "passed"), False: ("fail", "failed"), None: ("unclear", "worth knowing")}


def audit_section(audit: dict[str, Any] | None) -> str:
    """What `forecast audit` found, as it wrote it; nothing for a run that was not audited."""
    if audit is None:
        return ""
    verdict, header = audit.get("verdict"), audit.get("header", {})
    patch_length = header.get("patch_length", 1)
    keys = "steps" if patch_length == 1 else "patches"
    checks = "".join(_check(check, header.get("target"), keys) for check in audit.get("checks", ()))
    return section(
        "Can it be believed?",
        "audit",
        _verdict(verdict) if verdict else "",
        _windows_words(header),
        profile_figure(audit.get("profiles") or {}, patch_length),
        checks,
        _covariates(audit.get("covariates"), header.get("target")),
    )


def _verdict(verdict: dict[str, Any]) -> str:
    kind = LEVELS.get(verdict["level"], "unclear")
    level = f'<span class="verdict {kind}">{escape(verdict["level"])}</span>'
    return f"<p>{level}: {words(verdict['sentence'])}</p>" + bullets(verdict.get("caveats", ()))


def _windows_words(header: dict[str, Any]) -> str:
    if "windows" not in header:
        return ""
    looks = f" It looks most {header['most_weighted']}." if header.get("most_weighted") else ""
    return paragraph(f"Audited on {show(header['windows'])} of {show(header.get('windows_available'))} windows.{looks}")


def _check(check: dict[str, Any], target: str | None, keys: str) -> str:
    kind, word = MARKS[check["passed"]]
    heading = f'<h3>{escape(check["title"])} <span class="verdict {kind}">{word}</span></h3>'
    figures = "".join(curve_figure(curve, target, keys) for curve in check.get("curves", ()))
    rows = [_statistic(statistic, target) for statistic in check.get("statistics", ())]
    numbers = table(f"{check['title']}: numbers beside what chance gives", ["number", "value", "by chance"], rows)
    folded = f"<details><summary>Numbers</summary>{numbers}</details>" if numbers else ""
    return f"<article>{heading}{paragraph(check['verdict'])}{figures}{folded}</article>"


def _statistic(statistic: dict[str, Any], target: str | None) -> Sequence[Any]:
    value, yardstick, unit = statistic["value"], statistic.get("yardstick"), statistic.get("unit", "")
    chance = "–"
    if yardstick:
        low, high = (_in_unit(yardstick[name], unit, target) for name in ("low", "high"))
        chance = f"{low} to {high} ({yardstick.get('of') or 'chance'})"
    return [statistic["label"], _in_unit(value, unit, target), chance]


def _in_unit(value: float | None, unit: str, target: str | None) -> str:
    if value is None:
        return "–"
    if unit == "share":
        return f"{100 * value:.1f} %"
    return f"{show(float(value))} {target}" if unit == "target" and target else show(float(value))


def _covariates(covariates: dict[str, Any] | None, target: str | None) -> str:
    """Permutation importance: how much worse the forecast is with a column's values shuffled."""
    if covariates is None:
        return ""
    headings = ["name", f"MAE change ({target or 'target'})", "relative", "5–95 %", "matters"]
    tables = "".join(
        table(caption, headings, [_importance(entry) for entry in covariates.get(key) or ()])
        for key, caption in (("groups", "Groups of covariates"), ("columns", "Single columns"))
    )
    return f"<article><h3>Which covariates matter</h3>{paragraph(covariates.get('verdict') or '')}{tables}</article>"


def _importance(entry: dict[str, Any]) -> Sequence[Any]:
    relative = entry.get("relative")
    span = f"{show(entry.get('low'))} to {show(entry.get('high'))}"
    share = "–" if relative is None else f"{100 * relative:.0f} %"
    return [entry["name"], entry["mae_change"], share, span, "yes" if entry.get("matters") else "no"]
