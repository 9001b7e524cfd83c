"""Scores and tests as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from forecast_attn.cli.tables import number_text, p_value_text, plain_table
from forecast_attn.config.values import percent

if TYPE_CHECKING:
    import pandas as pd

_PER_CENT = ("mape", "smape", "wape")
_COUNTS = ("rows", "no_target", "no_forecast")
_OF_QUANTILES = ("pinball", "wql", "crps", "coverage", "width", "winkler")
_ABREAST = 8
"""Scores of quantiles in one table; more would not fit a line."""
DIGITS = 5
"""Significant digits, more than any of these numbers is precise to."""
_HEADINGS = {"skill_per_cent": "skill", "no_target": "no target", "no_forecast": "no forecast"}


def score_tables(scores: pd.DataFrame) -> list[Table]:
    """Scores of points, and of quantiles where there are any, one line per model and group.

    Counts of rows that a metric leaves out are no columns: see `left_out_lines`.
    """
    keys = _keys(scores)
    shown = [name for name in map(str, scores.columns[len(keys) :]) if not name.endswith("_left_out")]
    quantiles = [name for name in shown if name.partition("@")[0] in _OF_QUANTILES]
    nothing = [name for name in ("no_target", "no_forecast") if not scores[name].any()]
    points = [name for name in shown if name not in (*quantiles, *nothing)]
    tables = [_table(scores, [*keys, *points])] if set(points) - set(_COUNTS) or not quantiles else []
    # Models without quantiles have nothing to show among those that have them.
    with_quantiles = scores[scores[quantiles].notna().any(axis=1)] if quantiles else scores[:0]
    if not len(with_quantiles):
        return tables
    parts = [quantiles[first : first + _ABREAST] for first in range(0, len(quantiles), _ABREAST)]
    return [*tables, *(_table(with_quantiles, [*keys, *part]) for part in parts)]


def left_out_lines(scores: pd.DataFrame) -> list[str]:
    """Sentences on the rows that each metric leaves out, with the largest number over models and groups."""
    reasons = {
        "mape": "where the target is 0",
        "smape": "where target and forecast are 0",
        "mase": "of series without a scale",
        "rmsse": "of series without a scale",
        "rmae": "that the reference did not forecast",
    }
    lines = []
    for name, why in reasons.items():
        most = int(scores[f"{name}_left_out"].max()) if f"{name}_left_out" in scores and len(scores) else 0
        if most:
            more = "up to " if len(scores) > 1 else ""
            lines.append(f"{name} leaves out {more}{most:,} row{'s' if most > 1 else ''} {why}")
    return lines


def tests_table(tests: pd.DataFrame) -> Table:
    """Every test, the better model first."""
    names = ("better", "than", "test")
    table = plain_table(*names, "statistic", "p-value", "cut-offs", left=names)
    for row in tests.astype({"step": object}).to_dict("records"):
        first, second = row["model_a"], row["model_b"]
        if row["better"] == second:
            first, second = second, first
        name = f"{row['test']}, step {row['step']}" if isinstance(row["step"], int) else row["test"]
        note = f"  {row['note']}" if row["note"] else ""
        statistic = number_text(abs(row["statistic"]), DIGITS)  # its sign is what the order says
        table.add_row(str(first), str(second), name, statistic, p_value_text(row["p_value"], 4), f"{row['n']:,}{note}")
    return table


def against_table(skills: pd.DataFrame, tests: pd.DataFrame) -> Table:
    """Table of a model's skill against each baseline, with tests of the difference.

    Args:
        skills: baseline, skill_per_cent; and model, where there are several.
        tests: of the model with each of them, all steps together.
    """
    names = [name for name in ("model", "baseline") if name in skills]
    headings = (*names[:-1], "against", "skill", "DM p-value", "GW p-value", "cut-offs")
    table = plain_table(*headings, left=("model", "against"))
    for *pair, skill in skills[[*names, "skill_per_cent"]].itertuples(index=False):
        matching = tests[["model_a", "model_b"]].isin(pair).sum(axis=1)
        of_pair = tests[matching == len(pair)].set_index("test")
        p_values = dict(zip(of_pair.index, of_pair["p_value"], strict=True))
        p_texts = [p_value_text(p_values[test], 4) if test in p_values else "–" for test in ("DM", "GW")]
        notes = sorted({note for note in of_pair["note"] if note})
        number = f"{of_pair['n'].max():,}" if len(of_pair) else "–"
        table.add_row(*map(str, pair), _cell("skill_per_cent", skill, False), *p_texts, "  ".join([number, *notes]))
    return table


def _keys(scores: pd.DataFrame) -> list[str]:
    """The model and the groups: what stands before the counts."""
    names = [str(name) for name in scores.columns]
    return names[: names.index("rows")]


def _table(scores: pd.DataFrame, names: list[str]) -> Table:
    keys = _keys(scores)
    table = plain_table(*(_HEADINGS.get(name, name) for name in names), left=keys)
    for row in scores.to_dict("records"):
        table.add_row(*(_cell(name, row[name], name in keys) for name in names))
    return table


def _cell(name: str, value: Any, is_key: bool) -> str:
    if is_key:
        return str(value)
    if name in _COUNTS:
        return f"{int(value):,}"
    if value != value:
        return "–"
    if name in _PER_CENT or name.startswith("coverage@"):
        return percent(value, 2)
    return f"{value:+.1f} %" if name == "skill_per_cent" else number_text(value, DIGITS)
