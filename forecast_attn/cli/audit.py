"""`forecast audit`: whether the attention weights of a run can be believed, and which columns it needs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import Json, Quiet

if TYPE_CHECKING:
    from forecast_attn.audit import AuditListener
    from forecast_attn.runs.run_dir import RunDir


def audit(
    run: Annotated[
        Path | None, typer.Argument(metavar="[RUN]", help="Run directory; the newest finished run when absent.")
    ] = None,
    windows: Annotated[
        int, typer.Option("--windows", metavar="N", min=2, help="Validation windows to look at, spread evenly.")
    ] = 128,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="The table it was trained on; the recorded file when absent."),
    ] = None,
    seeds: Annotated[
        list[Path] | None,
        typer.Option("--seeds", metavar="RUN", help="Another training on the same table to compare with; repeatable."),
    ] = None,
    covariates: Annotated[
        bool, typer.Option("--covariates", help="Measure the importance of each column too (permutation importance).")
    ] = False,
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws", metavar="N", min=10, help="Random orders of the weights; 100 for 128 windows when absent."
        ),
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", min=2, help="Permutations per column.")] = 10,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of all random draws.")] = 0,
    accelerator: Annotated[
        str, typer.Option("--accelerator", metavar="NAME", help="Where to compute (auto, cpu, gpu, cuda, mps).")
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="JSON document to write; audit.json of the run if absent."),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find out whether the attention weights of a run can be believed."""
    from forecast_attn.config.values import check_choice
    from forecast_attn.forecaster import Forecaster
    from forecast_attn.runs.run_dir import RunDir

    accelerator = check_choice("accelerator", accelerator)
    forecaster = Forecaster.load(run)
    target = _target(RunDir(forecaster.run_path), out, data)
    with _progress(quiet=quiet) as listener:
        result = forecaster.audit(
            data,
            windows=windows,
            seeds=seeds or (),
            covariates=covariates,
            draws=draws,
            repeats=repeats,
            seed=seed,
            accelerator=accelerator,
            listener=listener,
            out=target,
        )
    if json:
        printing.write_json(result.to_dict())
        return
    from forecast_attn.audit.render import render
    from forecast_attn.cli.tables import make_console

    render(result, make_console())
    printing.say(f"\naudit: {target}")


def _target(run: RunDir, out: Path | None, data: Path | None) -> Path:
    """Path to write: never over a table or another file of the run, and checked before the work."""
    from forecast_attn.cli.tables import check_folder, refuse_targets

    if out is None or out.resolve() == run.audit.resolve():
        check_folder(run.audit)
        return run.audit
    refuse_targets({"--out": out}, read=[data], runs=[run])
    return out


@contextmanager
def _progress(*, quiet: bool) -> Iterator[AuditListener]:
    """Show on stderr the amount of work and, on a terminal, the progress."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from forecast_attn.audit import AuditListener, AuditPlan
    from forecast_attn.cli.tables import make_console

    console = make_console(stderr=True, quiet=quiet)
    columns = (TextColumn("auditing"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=quiet or not console.is_terminal) as bar:
        task = bar.add_task("auditing", total=None)

        def planned(plan: AuditPlan) -> None:
            console.print(f"audit: {plan}", soft_wrap=True)
            bar.update(task, total=plan.forecasts)

        yield AuditListener(planned=planned, advanced=lambda forecasts: bar.advance(task, forecasts))
