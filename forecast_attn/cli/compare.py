"""`forecast compare`: several attention mechanisms trained alike, and a leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import INTERRUPTED, ConfigFile, Json, Quiet, given_options, with_options
from forecast_attn.config.options import all_options
from forecast_attn.config.requests import TRAINING
from forecast_attn.errors import ConfigError

if TYPE_CHECKING:
    from forecast_attn.comparison.leaderboard import Comparison

OWN = ("attention", "seed")
"""Options that mean something else here than in train."""


@with_options(*TRAINING, only=tuple(name for name in all_options() if name not in OWN))
def compare(
    data: Annotated[Path | None, typer.Argument(help="CSV file: one row per time step.", show_default=False)] = None,
    attention: Annotated[
        str | None,
        typer.Option(
            "--attention", metavar="NAMES", help="Mechanisms to compare, with commas; `forecast train` lists them."
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", metavar="N", help="Trainings of each mechanism. \\[default: 3]")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", metavar="N", min=0, help="Seed of the first; the others follow. \\[default: 0]"),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Folder of all runs; in runs/ when absent."),
    ] = None,
    resume: Annotated[
        Path | None,
        typer.Option("--resume", metavar="DIR", help="Continue a comparison cut short; takes no other option."),
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    """Train attention mechanisms with the same data, budget and seeds, and rank them with their spread."""
    own = {"attention": attention, "seeds": seeds, "seed": seed}
    if resume is not None:
        _refuse_with_resume({**own, "out": out, "config": config, **options})
    else:
        given = {name: value for name, value in own.items() if value is not None}
        options, out = _checked(data, given_options(config, {**options, **given}), out)

    from forecast_attn.cli.comparison_display import ComparisonDisplay, show_comparison

    display = ComparisonDisplay(quiet=quiet)
    display.say("loading" if resume is None else f"resuming {resume}")
    from forecast_attn.comparison.compare import compare as compare_mechanisms
    from forecast_attn.comparison.compare import resume_comparison

    folder = out if resume is None else resume
    assert folder is not None
    with display:
        try:
            if resume is not None:
                comparison = resume_comparison(resume, data, listener=display)
            else:
                assert data is not None
                comparison = compare_mechanisms(data, out=folder, listener=display, **options)
        except KeyboardInterrupt:
            _say_how_to_go_on(folder)
            raise SystemExit(INTERRUPTED) from None
    _show(comparison, folder, as_json=json, show=show_comparison)


def _checked(data: Path | None, options: dict[str, Any], out: Path | None) -> tuple[dict[str, Any], Path]:
    """The options and the folder; a wrong one is said before anything heavy is loaded."""
    from forecast_attn.comparison.plan import ComparisonPlan
    from forecast_attn.runs.run_dir import fresh_path

    if data is None:
        raise ConfigError("there is no table to train on", "forecast compare data.csv --attention none,luong-general")
    named = out or options.pop("out", None)
    ComparisonPlan.of(**{"attention": "", **options})
    folder = Path(named) if named else fresh_path("comparison")
    return options, folder


def _refuse_with_resume(options: dict[str, Any]) -> None:
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ConfigError(
            f"--resume continues a comparison as it was started; it cannot change --{given[0].replace('_', '-')}",
            "leave the other options out",
        )


def _say_how_to_go_on(folder: Path) -> None:
    from forecast_attn.comparison.plan import ComparisonDir

    if ComparisonDir(folder).plan.is_file():
        printing.say(f"hint: continue with: forecast compare --resume {folder}", err=True)


def _show(comparison: Comparison, folder: Path, *, as_json: bool, show: Any) -> None:
    if not as_json:
        show(comparison, folder)
        return

    document = {"comparison": str(folder), **comparison.to_dict()}
    printing.write_json(document)
