"""Reports as files: the page itself, and as a PDF that an installed browser prints."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from forecast_attn.config.requests import ReportRequest
from forecast_attn.errors import ConfigError, RunError
from forecast_attn.reporting.report import RunReport
from forecast_attn.runs.atomic import replacing, write_errors_of

BROWSERS = (
    *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
FLAGS = ("--headless=new", "--disable-gpu", "--no-first-run", "--disable-extensions", "--no-pdf-header-footer")
SECONDS = 120


def write_report(report: RunReport, request: ReportRequest) -> None:
    """Write the files that are asked for, which `check_targets` has seen.

    Raises:
        RunError: a file cannot be written, or the browser does not print.
        ConfigError: there is no browser for a PDF.
    """
    if request.html is not None:
        report.write(request.html)
    if request.pdf is not None:
        print_pdf(report.html, request.pdf)


def check_targets(request: ReportRequest) -> None:
    """Refuse names of other kinds, and a PDF that nobody can print, before any work.

    Raises:
        ConfigError: says which.
    """
    for name, path, endings in (("html", request.html, (".html", ".htm")), ("pdf", request.pdf, (".pdf",))):
        if path is not None and path.suffix.lower() not in endings:
            raise ConfigError(f"--{name} writes a .{name}; got '{path.name}'", f"--{name} {path.stem}.{name}")
    if request.pdf is not None:
        find_browser()


def find_browser() -> str:
    """Path of the first browser that can print.

    Raises:
        ConfigError: there is none.
    """
    for name in BROWSERS:
        path = shutil.which(name)
        if path is not None:
            return path
    raise ConfigError(
        "no Chromium or Chrome to print the PDF with was found",
        "write --html report.html, open it in any browser, and print it to a file",
    )


def print_pdf(html: str, path: Path) -> None:
    """Have the browser print a page; the file appears whole or not at all.

    Raises:
        ConfigError: there is no browser.
        RunError: it fails, or the file cannot be written.
    """
    browser = find_browser()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        page, printed = Path(folder) / "page.html", Path(folder) / "page.pdf"
        page.write_text(html, encoding="utf-8")
        # A browser that runs as root refuses its sandbox; the page is our own, without a script.
        root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        flags = [*FLAGS, *root, f"--user-data-dir={folder}/profile", f"--print-to-pdf={printed}"]
        try:
            subprocess.run([browser, *flags, page.as_uri()], capture_output=True, check=True, timeout=SECONDS)
        except (OSError, subprocess.SubprocessError) as error:
            raise RunError(f"'{browser}' could not print the report: {error}", "print --html by hand") from error
        if not printed.is_file():
            raise RunError(f"'{browser}' printed no file", "write --html report.html and print it by hand")
        with write_errors_of(path), replacing(path) as stream:
            stream.write(printed.read_bytes())
