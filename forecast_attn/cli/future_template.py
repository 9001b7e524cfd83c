"""`forecast future-template`: the CSV that predict needs, with the cells to fill in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import Quiet, RunArgument
from forecast_attn.errors import ConfigError, shell_command


def future_template(
    run: RunArgument = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data", metavar="HISTORY", help="Table to forecast from (default: the end of the training data)."
        ),
    ] = None,
    out: Annotated[str, typer.Option("--out", metavar="FILE", help="CSV to write; - for stdout.")] = "-",
    quiet: Quiet = False,
) -> None:
    from forecast_attn.cli.tables import make_console
    from forecast_attn.data.findings import listed

    if out != "-" and Path(out).exists():
        raise ConfigError(f"--out '{out}' exists already, and may hold what was filled in", "choose another name")
    from forecast_attn.cli.library import Forecaster
    from forecast_attn.runs.atomic import write_atomically
    from forecast_attn.runs.output_paths import check_file

    if out != "-":
        check_file(Path(out))
    forecaster = Forecaster.load(run)
    template = forecaster.future_template(data)
    notes = make_console(stderr=True, quiet=quiet)
    if template.is_needless:
        notes.print("note: this run has no future covariates; predict needs no file of them")
        return
    if out == "-":
        printing.write_table(template.csv, template.encoding)
    else:
        write_atomically(Path(out), template.to_bytes())
    tables = () if data is None else ("--data", data)
    predict = shell_command("predict", forecaster.run_path, *tables, "--future", "FILE" if out == "-" else out)
    message = _what_next(template.to_fill, predict)
    for name, categories in template.categories.items():
        message += f"\nvalues of '{name}' that the run knows: {listed(categories)}"
    notes.say(message)


def _what_next(to_fill: dict[str, int], predict: str) -> str:
    if not to_fill:
        return "nothing is left to fill in: predict knows these values without the file"
    cells = ", ".join(f"{count:,} of '{name}'" for name, count in to_fill.items())
    return f"cells to fill in: {cells}; then {predict}"
