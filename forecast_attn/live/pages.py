"""The pages of `forecast ui`: the list, and what `inspect --html` and `report` make of a run, made when asked for."""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from html import escape
from importlib.resources import files
from pathlib import Path

from forecast_attn.live.listing import FORECAST, REPORT, VALIDATION, Stamp, describe, list_runs, pages_of, stamp_of
from forecast_attn.runs.run_dir import RunDir

MOST_KEPT = 16
"""Pages held in memory, of about a megabyte each."""
TITLES = {FORECAST: "Where the forecast looks", VALIDATION: "Validation windows", REPORT: "Report"}


class Pages:
    """The pages of one folder of runs. Reads only."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept: OrderedDict[tuple[str, str], tuple[Stamp, str]] = OrderedDict()
        self._making = threading.Lock()

    def list_page(self) -> str:
        """The page of the list; its script asks for `runs_json`."""
        from forecast_attn.inspection.html_report import page_styles, policy_hash

        parts = files("forecast_attn.live") / "page"
        style = page_styles() + (parts / "live.css").read_text(encoding="utf-8")
        script = (parts / "live.js").read_text(encoding="utf-8")
        policy = f"default-src 'none'; connect-src 'self'; img-src data:; style-src {policy_hash(style)}; "
        filled = {
            "folder": escape(str(self.folder)),
            "titles": escape(json.dumps(TITLES)),
            "policy": f"{policy}script-src {policy_hash(script)}",
            "style": style,
            "script": script,
        }
        template = (parts / "live.html").read_text(encoding="utf-8")
        return re.sub(r"\{\{(\w+)\}\}", lambda marker: filled[marker[1]], template)

    def runs_json(self) -> str:
        """The runs in the folder now, the one that changed last first."""
        return json.dumps([describe(run) for run in list_runs(self.folder)])

    def run_page(self, name: str, kind: str) -> str | None:
        """A page of a run, made anew where a file of the run has changed; None where there is no such page.

        Raises:
            DataError, RunError: the run is damaged.
        """
        run = next((run for run in list_runs(self.folder) if run.path.name == name), None)
        if run is None or not run.is_finished or kind not in pages_of(run):
            return None
        with self._making:  # one at a time: a page takes all of a processor
            stamp = stamp_of(run)
            kept_stamp, page = self._kept.get((name, kind), ((), ""))
            if stamp != kept_stamp:
                page = _with_links(_make(run, kind), run, kind)
            self._kept[name, kind] = stamp, page
            self._kept.move_to_end((name, kind))
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return page


def _make(run: RunDir, kind: str) -> str:
    run = RunDir.open_finished(run.path)
    if kind == REPORT:
        from forecast_attn.reporting.report import build_run_report

        return build_run_report(run).html
    from forecast_attn.attention_file import read_attention
    from forecast_attn.forecasting.identifiability import with_rank
    from forecast_attn.inspection.html_report import build_report
    from forecast_attn.inspection.inspect import find_attention

    source = find_attention(run, validation=kind == VALIDATION)
    return build_report(with_rank(read_attention(source.path), run), run).html


def _with_links(page: str, run: RunDir, kind: str) -> str:
    """The page with a way back to the list and to the run's other pages."""
    links = ['<a href="../../">All runs</a>', f"<b>{escape(run.path.name)}</b>"]
    for each in pages_of(run):
        here = f'<span aria-current="page">{TITLES[each]}</span>'
        links.append(here if each == kind else f'<a href="{each}">{TITLES[each]}</a>')
    nav = f'<nav aria-label="Runs">{" ".join(links)}</nav>'
    return page.replace("<header>", f"{nav}\n<header>", 1)
