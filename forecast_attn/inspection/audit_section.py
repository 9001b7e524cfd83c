"""The part of a page about the audit: verdict, checks with their curves, and the columns that matter."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from forecast_attn.config.values import percent
from forecast_attn.inspection.page_figures import text
from forecast_attn.inspection.page_sections import bullets, paragraph, section, sentence, show, table, words

LEVELS = {"faithful": "pass", "partly faithful": "unclear", "not faithful": "fail"}
MARKS = {True: ("pass", "passed"), False: ("fail", "failed"), None: ("unclear", "worth knowing")}


def audit_section(audit: dict[str, Any] | None) -> str:
    """Section on the results of `forecast audit`; empty for a run that was not audited."""
    if audit is None:
        return ""
    verdict, header = audit.get("verdict"), audit["header"]
    patch_length = header.get("patch_length", 1)
    keys = "steps" if patch_length == 1 else "patches"
    checks = "".join(_check(check, header.get("target"), keys) for check in audit.get("checks", ()))
    return section(
        "Can it be believed?",
        "audit",
        _verdict(verdict) if verdict else "",
        paragraph(f"Audited on {header['windows']:,} of {header['windows_available']:,} validation windows."),
        profile_figure(audit.get("profiles") or {}, patch_length),
        checks,
        _covariates(audit.get("covariates"), header.get("target")),
    )


def _verdict(verdict: dict[str, Any]) -> str:
    kind = LEVELS.get(verdict["level"], "unclear")
    level = f'<span class="verdict {kind}">{escape(verdict["level"].capitalize())}</span>'
    return f"<p>{level}: {words(verdict['sentence'].removesuffix('.'))}.</p>" + bullets(verdict.get("caveats", ()))


def _check(check: dict[str, Any], target: str | None, keys: str) -> str:
    kind, word = MARKS[check["passed"]]
    heading = f'<h3>{escape(check["title"])} <span class="verdict {kind}">{word}</span></h3>'
    figures = "".join(curve_figure(curve, target, keys) for curve in check.get("curves", ()))
    rows = [_statistic(statistic, target) for statistic in check.get("statistics", ())]
    numbers = table(f"{check['title']}: numbers beside what chance gives", ["number", "value", "by chance"], rows)
    folded = f"<details><summary>Numbers</summary>{numbers}</details>" if numbers else ""
    groups = [_group(group) for group in check.get("groups") or ()]
    headings = ["group", "windows", "MAE", "equal weights", "change", "chance: up to", "needs them"]
    by_group = table(f"{check['title']}: what equal weights do", headings, groups)
    return f"<article>{heading}{paragraph(sentence(check['verdict']))}{figures}{by_group}{folded}</article>"


def _group(group: dict[str, Any]) -> Sequence[Any]:
    mae, relative, chance = group["mae"], group["rise_relative"], group.get("chance")
    shares = [relative, chance / mae if chance is not None and mae else None]
    changes = ("–" if share is None else _change(100 * share) for share in shares)
    return [group["name"], group["windows"], mae, group["mae_equal"], *changes, group.get("needed")]


def _change(percent: float) -> str:
    return f"{percent:+z.{0 if abs(percent) >= 100 else 1}f} %".replace("-", "−")


def _statistic(statistic: dict[str, Any], target: str | None) -> Sequence[Any]:
    value, yardstick, unit = statistic["value"], statistic.get("yardstick"), statistic.get("unit", "")
    chance = "–"
    if yardstick:
        low, high = (_in_unit(yardstick[name], unit, target) for name in ("low", "high"))
        draws = f", {yardstick['draws']} draws" if yardstick.get("draws") else ""
        chance = f"{low} to {high} ({yardstick.get('of') or 'chance'}{draws})"
    return [statistic["label"], _in_unit(value, unit, target), chance]


def _in_unit(value: float | None, unit: str, target: str | None) -> str:
    if value is None:
        return "–"
    if unit == "share":
        return percent(value, 1)
    return f"{show(float(value))} {target}" if unit == "target" and target else show(float(value))


def _covariates(covariates: dict[str, Any] | None, target: str | None) -> str:
    """Permutation importance: how much worse the forecast is with a column's values shuffled."""
    if covariates is None:
        return ""
    headings = ["name", f"MAE change ({target or 'target'})", "relative", "5–95 %", "noise: up to", "matters"]
    tables = "".join(
        table(caption, headings, [_importance(entry) for entry in covariates.get(key) or ()])
        for key, caption in (("groups", "Groups of covariates"), ("columns", "Single columns"))
    )
    verdict = paragraph(sentence(covariates.get("verdict") or ""))
    return f"<article><h3>Which covariates matter</h3>{verdict}{tables}</article>"


def _importance(entry: dict[str, Any]) -> Sequence[Any]:
    relative = entry.get("relative")
    span = f"{show(entry.get('low'))} to {show(entry.get('high'))}"
    share = "–" if relative is None else f"{100 * relative:.0f} %"
    noise, matters = show(entry.get("noise_high")), "yes" if entry.get("matters") else "no"
    return [entry["name"], entry["mae_change"], share, span, noise, matters]


# --------------------------------------------------------------------------- curves
# Small SVG pictures that take the page's colours.


WIDTH, HEIGHT = 460, 190
LEFT, RIGHT, TOP, BOTTOM = 52, 84, 26, 24
LINES = {"top": "largest", "random": "random", "bottom": "smallest"}
"""Lines of a curve, and their names at its right end."""
NAME_ROOM = 15
"""Pixels between two names."""

Points = list[tuple[float, float]]


def curve_figure(curve: dict[str, Any], target: str | None, keys: str) -> str:
    """Figure of the change of the forecast as more steps lose (or keep) their weight; empty without values.

    Args:
        curve: of audit.json.
        target: the name of what is forecast.
        keys: what the weights belong to: steps or patches.
    """
    changes = {name: values for name, values in curve.get("forecast_change", {}).items() if values}
    highest = max((value for values in changes.values() for value in values if value is not None), default=0)
    if highest <= 0 or not LINES.keys() & changes.keys():
        return ""
    drawn = {name: _points(curve["share"], values, highest) for name, values in changes.items()}
    parts = [_axes(curve["share"], highest, target, keys), _band(drawn)]
    parts += [f'<path class="curve {name}" d="{_path(drawn[name])}"/>' for name in LINES if drawn.get(name)]
    parts += _line_names(drawn)
    about = f"change of the forecast by the share of {keys}, for the largest, random and smallest weights"
    return _figure(f"{curve['label']}: {about}", curve["label"], parts)


def profile_figure(profiles: dict[str, list[float]], patch_length: int) -> str:
    """The mean weight by lag beside the change of the forecast without each state; nothing without these two.

    Args:
        profiles: of audit.json, one number per key.
        patch_length: time steps of a key.
    """
    weights, missed = profiles.get("weights"), profiles.get("state_occlusion")
    highest = max([*(weights or ()), *(missed or ())], default=0)
    if not weights or not missed or highest <= 0:
        return ""
    lags = [float(lag) for lag in range(len(weights))]
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    area, line = (_points(lags, values, highest) for values in (weights, missed))
    parts = [
        f'<path class="area" d="{_path([(area[0][0], bottom), *area, (area[-1][0], bottom)])}Z"/>',
        f'<path class="curve" d="{_path(line)}"/>',
        f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>',
        text(LEFT - 6, 12, "start", "share of the whole, by lag"),
        text(LEFT - 6, TOP + 4, "end", f"{100 * highest:.2g} %"),
        text(LEFT, bottom + 16, "start", f"lag {len(weights) * patch_length - 1}"),
        text(right, bottom + 16, "end", "0"),
    ]
    label = "Mean weight by lag, and how much the forecast changes when the state at that lag is left out"
    caption = "filled: mean weight; dashed: how much the forecast changes without that state; each adds up to 100 %"
    return _figure(label, caption, parts)


def _figure(label: str, caption: str, parts: list[str]) -> str:
    return (
        f'<figure class="curves"><svg role="img" aria-label="{escape(label)}" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f"{''.join(parts)}</svg><figcaption>{escape(caption)}</figcaption></figure>"
    )


def _points(shares: Sequence[float], values: Sequence[float | None], highest: float) -> Points:
    most = max(*shares, 1e-9)
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    known = [(share, value) for share, value in zip(shares, values, strict=True) if value is not None]
    return [(LEFT + width * share / most, HEIGHT - BOTTOM - height * value / highest) for share, value in known]


def _path(points: Points) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _band(drawn: dict[str, Points]) -> str:
    """Band of random choices."""
    low, high = drawn.get("random_low"), drawn.get("random_high")
    return f'<path class="band" d="{_path([*low, *reversed(high)])}Z"/>' if low and high else ""


def _axes(shares: Sequence[float], highest: float, target: str | None, keys: str) -> str:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    lines = f'<path class="axis" d="M{LEFT} {TOP}V{bottom}H{right}"/>'
    texts = [
        (LEFT - 6, TOP + 4, "end", f"{highest:.3g}"),
        (LEFT - 6, bottom, "end", "0"),
        (LEFT, bottom + 16, "start", "0 %"),
        (right, bottom + 16, "end", f"{100 * max(shares):.0f} % of the {keys}"),
        (LEFT - 6, 12, "start", f"change of the forecast{f' ({target})' if target else ''}"),
    ]
    return lines + "".join(text(*each) for each in texts)


def _line_names(drawn: dict[str, Points]) -> list[str]:
    """The lines' names at their right ends, moved apart where they would lie on each other."""
    names = sorted((name for name in LINES if drawn.get(name)), key=lambda name: drawn[name][-1][1])
    heights = np.array([drawn[name][-1][1] for name in names])
    for index in range(1, len(heights)):
        heights[index] = max(heights[index], heights[index - 1] + NAME_ROOM)
    heights -= max(heights[-1] - (HEIGHT - BOTTOM), 0)
    return [
        text(WIDTH - RIGHT + 5, height + 4, "start", LINES[name]) for name, height in zip(names, heights, strict=True)
    ]
