"""`forecast info`: versions and hardware, or everything about a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.completion import finished_runs
from forecast_attn.cli.flags import Json
from forecast_attn.config.options import RunConfig

PACKAGES = ("forecast-attn", "torch", "pytorch-lightning", "pandas", "numpy", "pyarrow", "typer", "rich", "matplotlib")


def info(
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN]", help="Run directory to describe (default: this machine).", autocompletion=finished_runs
        ),
    ] = None,
    json: Json = False,
) -> None:
    content = _machine() if run is None else _run(run)
    if json:
        printing.write_json(content)
        return
    parts = [content] if run is None else _most_important_first(content)
    for number, part in enumerate(parts):
        if number:
            printing.say("\noptions at their defaults:")
        for name, value in _flat(part):
            printing.say_fact(name, value)


def _machine() -> dict[str, Any]:
    import os
    import platform
    from importlib.metadata import PackageNotFoundError, version

    import torch

    versions: dict[str, str] = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    hardware = {
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "torch threads": torch.get_num_threads(),
        "gpus": gpus or "none",
        "mps": torch.backends.mps.is_available(),
    }
    return {"versions": versions, "hardware": hardware}


def _run(path: Path) -> dict[str, Any]:
    from forecast_attn.runs.run_dir import RunDir

    run = RunDir(path)
    run.check_is_run()
    config = run.read_json(run.config)
    content: dict[str, Any] = {
        "run": str(path),
        "finished": run.is_finished,
        "trained with": config.get("package_version"),
        "data": config.get("data"),
        "options": config.get("options"),
    }
    if run.schema.is_file():
        from forecast_attn.forecasting.model import read_schema

        schema = read_schema(run)
        learnt = schema.to_dict()
        content["schema"] = {name: learnt[name] for name in ("lookback", "horizon", "frequency", "roles")}
        content["schema"]["series"] = len(schema.scaler.item_ids)
    if run.is_finished:
        content["metrics"] = run.read_json(run.metrics)
    files = [file for file in sorted(path.rglob("*")) if file.is_file()]
    content["files"] = {file.relative_to(path).as_posix(): file.stat().st_size for file in files}
    return content


def _most_important_first(content: dict[str, Any]) -> list[dict[str, Any]]:
    """A run's scores and data before its options; and options at their defaults."""
    options = content["options"] or {}
    known = {
        section: {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}
        for section, values in RunConfig().to_dict().items()
    }

    def of(kept: bool) -> dict[str, Any]:
        return {
            section: {name: value for name, value in values.items() if (value == known[section].get(name)) is kept}
            for section, values in options.items()
        }

    order = ("run", "finished", "trained with", "data", "metrics", "schema", "files")
    described = {name: content[name] for name in order if name in content}
    return [{**described, "options": of(False)}, {"options": of(True)}]


def _flat(content: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested names joined by dots, one line each."""
    lines: list[tuple[str, str]] = []
    for name, value in content.items():
        if isinstance(value, dict):
            lines += _flat(value, f"{prefix}{name}.")
        else:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            lines.append((f"{prefix}{name}", text))
    return lines
