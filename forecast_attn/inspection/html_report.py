"""`forecast inspect --html`: one page that holds its data, its styles and its script, and makes no network requests.

The page's content security policy forbids every request and every script but its own, by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from forecast_attn.attention_file import AttentionDump
from forecast_attn.data.sessions import base_alias
from forecast_attn.inspection.audit_section import audit_section
from forecast_attn.inspection.describe import inspect_attention
from forecast_attn.inspection.interpretation import Evidence, evidence_of
from forecast_attn.inspection.page_data import PageWindows, choose_windows, default_windows, page_document, script_json
from forecast_attn.inspection.page_sections import (
    findings_section,
    reading_words,
    run_section,
    words,
)
from forecast_attn.inspection.results import InspectionHeader
from forecast_attn.inspection.window_values import WindowValues, values_of_windows
from forecast_attn.runs.atomic import write_atomically
from forecast_attn.runs.run_dir import RunDir

SCRIPTS = ("model.js", "drawing.js", "charts.js", "tables.js", "tiles.js", "saving.js", "main.js")
"""Scripts in order: each uses the ones before it."""


@dataclass(frozen=True)
class HtmlReport:
    """A page, ready to be written.

    Attributes:
        html: all of it.
        num_windows: how many windows are on it with weights of their own.
        windows_in_file: how many the means are taken over.
        left_out: in words, which series have no such window; empty where all have one.
    """

    html: str
    num_windows: int
    windows_in_file: int
    left_out: str = ""

    @property
    def num_bytes(self) -> int:
        return len(self.html.encode())

    def size_words(self) -> str:
        """Description of the page to be written, with its size."""
        size = self.num_bytes
        text = f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
        text = f"{text} with {self.num_windows:,} of {self.windows_in_file:,} windows"
        return f"{text}; {self.left_out}" if self.left_out else text

    def write(self, path: Path) -> None:
        """Write the page whole or not at all.

        Raises:
            RunError: the folder is missing, may not be written to, or is full.
        """
        write_atomically(path, self.html)


def build_report(
    dump: AttentionDump,
    run: RunDir | None = None,
    *,
    num_windows: int | None = None,
    table: Path | None = None,
    by: str | None = None,
) -> HtmlReport:
    """Make the page of an attention file, or of a part of it.

    Args:
        dump: the windows the page is about.
        run: whose file it is: adds the series, the metrics, the configuration and the audit.
        num_windows: how many windows can be chosen, evenly spread; as many as keep the page small when None.
        table: the table the windows come from; found through the run when None.
        by: groups that stand side by side at first, such as `hour`.

    Raises:
        DataError: the file holds no windows, or the table cannot be read.
        RunError: the file or the run is damaged.
    """
    drawn = choose_windows(dump, num_windows or default_windows(dump))
    valued = drawn.dump.take(np.flatnonzero(drawn.valued))
    if run is None:
        values = WindowValues.unknown(valued, "The series is not drawn: name the run instead of its attention file.")
    else:
        values = values_of_windows(run, valued, table, dump)
    name = "" if run is None else run.title
    html = make_page(dump, drawn, values, **_documents_of(run), evidence=evidence_of(run), by=by, name=name)
    return HtmlReport(html, int(drawn.whole.sum()), dump.num_windows, series_with_less(dump, drawn))


def series_with_less(dump: AttentionDump, drawn: PageWindows) -> str:
    """Number of series that the page has no weights or values of, in words; empty where it has all of every series.

    Args:
        dump: the windows the page is about.
        drawn: those it draws; one without weights of its own is the only one of its series.
    """
    light, bare = int((drawn.valued & ~drawn.whole).sum()), int((~drawn.valued).sum())
    every = len(dump.item_ids)
    are = "is drawn at its newest cut-off with its" if light == 1 else "are drawn at their newest cut-off with their"
    parts = [f"{light:,} of {every:,} series {are} mean weights"] if light else []
    if bare:
        have = f"{'' if light else f' of {every:,} series'} {'has' if bare == 1 else 'have'}"
        parts.append(f"{bare:,}{have} mean weights alone, without values")
    if not parts:
        return ""
    return f"{', '.join(parts)}: see more with --html-windows {every}, or a single one with --item NAME"


def make_page(
    dump: AttentionDump,
    drawn: PageWindows,
    values: WindowValues,
    *,
    config: dict[str, Any] | None = None,
    metrics: dict[str, Any] | None = None,
    audit: dict[str, Any] | None = None,
    evidence: Evidence | None = None,
    by: str | None = None,
    name: str = "",
) -> str:
    """The page of attention windows, with what is known of them and of their run.

    Args:
        dump: the windows the means are taken over.
        drawn: those among them that can be chosen.
        values: what the valued ones of these looked at and forecast.
        config: the run's config.json; like the next two, its part of the page is left out when None.
        metrics: its metrics.json.
        audit: its audit.json.
        evidence: what is known of the need for its weights.
        by: groups that stand side by side at first.
        name: of the run.
    """
    inspection = inspect_attention(dump, evidence=evidence)
    return _fill_template(
        title=_title(inspection.header),
        subtitle=_subtitle(inspection.header, name),
        reading=reading_words(inspection.reading),
        findings=findings_section(inspection, [*filter(None, [series_with_less(dump, drawn)]), *values.notes]),
        audit=audit_section(audit),
        run=run_section(config, metrics),
        data=script_json(page_document(dump, drawn, values, by)),
    )


def _documents_of(run: RunDir | None) -> dict[str, Any]:
    """The run's documents, those it has."""
    paths = {} if run is None else {"config": run.config, "metrics": run.metrics, "audit": run.audit}
    return {name: run.read_json(path) for name, path in paths.items() if run is not None and path.is_file()}


def _title(header: InspectionHeader) -> str:
    return f"Where the forecast of {header.items_text} looks"


def _subtitle(header: InspectionHeader, name: str) -> str:
    run = f"Run {name}, " if name not in ("", header.mechanism) else ""
    heads = f", {len(header.heads)} heads" if len(header.heads) > 1 else ""
    plural = "s" if header.num_windows > 1 else ""
    season = f", season {header.season}" if header.season > 1 else ""
    patches = f" in {header.keys_text}" if header.patch_length > 1 else ""
    return (
        f"{run}{header.mechanism_text}{heads}. "
        f"{header.num_windows:,} window{plural}, cut-off{plural} {header.cutoffs_text}. "
        f"Lookback {header.lookback}{patches}, horizon {header.horizon}, step {base_alias(header.frequency)}{season}."
    )


# --------------------------------------------------------------------------- putting the page together


def page_of_parts(title: str, subtitle: str, body: str) -> str:
    """A page for paper without a script, in the styles of the interactive one and under as strict a policy."""
    style = page_styles()
    policy = f"default-src 'none'; img-src data:; style-src {policy_hash(style)}"
    return (
        '<!doctype html>\n<html lang="en" data-printing>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{escape(title)}</title>\n<link rel="icon" href="data:,">\n<style>{style}</style>\n</head>\n<body>\n'
        f"<header>\n<h1>{escape(title)}</h1>\n<p>{words(subtitle)}</p>\n</header>\n<main>\n{body}\n</main>\n"
        "<footer>\n<p>Made by forecast-attn; this page makes no network requests.</p>\n</footer>\n</body>\n</html>\n"
    )


def _fill_template(*, title: str, subtitle: str, **parts: str) -> str:
    folder, style = files("forecast_attn.inspection") / "page", page_styles()
    bodies = [(folder / name).read_text(encoding="utf-8") for name in SCRIPTS]
    script = '"use strict";\n(() => {\n' + "\n".join(bodies) + "})();\n"
    filled = {
        "title": escape(title),
        "subtitle": words(subtitle),
        "policy": f"default-src 'none'; img-src data:; style-src {policy_hash(style)}; "
        f"script-src {policy_hash(script)}",
        "style": style,
        "script": script,
        **parts,
    }
    template = (folder / "page.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda marker: filled[marker[1]], template)  # one pass: what is put in is not read


def page_styles() -> str:
    """The styles that all pages share."""
    return (files("forecast_attn.inspection") / "page" / "style.css").read_text(encoding="utf-8")


def policy_hash(text: str) -> str:
    """Hash of an inline style or script for a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
