"""`forecast update`: a finished run continued on new rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import ConfigFile, Json, Quiet, RunArgument, command_request, with_options
from forecast_attn.cli.signals import with_resume_hint
from forecast_attn.config.requests import UpdateRequest
from forecast_attn.errors import ConfigError

if TYPE_CHECKING:
    from forecast_attn.cli.library import Forecaster


@with_options(UpdateRequest)
def update(
    run: RunArgument = None,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="FILE",
            help="The rows after the end of the run's table, alone or below those of the table.",
            show_default=False,
        ),
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option("--history", metavar="FILE", help="The run's table (default: the file it was trained on)."),
    ] = None,
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    if data is None:
        raise ConfigError("there are no new rows to learn from", "forecast update RUN --data new.csv")
    request = command_request(UpdateRequest, config, options)
    from forecast_attn.cli.library import Forecaster
    from forecast_attn.cli.tables import make_console
    from forecast_attn.runs.run_dir import fresh_path

    notes = make_console(stderr=True, quiet=quiet)
    forecaster = Forecaster.load(run)
    out = request.out or fresh_path(forecaster.config.model.attention)
    with with_resume_hint(lambda: "nothing is written; give the command again"):
        result = forecaster.update(
            data,
            history=history,
            on_epoch=lambda record: notes.print(
                f"epoch {record.epoch}: training loss {record.train_loss:.4g}, {record.seconds:.1f} s"
            ),
            **{**request.to_options(), "out": out},
        )
    if json:
        printing.write_json({"run": str(result.run_path), **result.metrics})
        return
    _show(result)


def _show(forecaster: Forecaster) -> None:
    from forecast_attn.cli.tables import make_console
    from forecast_attn.data.findings import counted, quoted

    console, metrics = make_console(), forecaster.metrics
    update = metrics["update"]
    rows = f"{counted(update['rows'], 'new row')}, {update['from']} to {update['until']}"
    if update["repeated"]:
        rows += f" ({counted(update['repeated'], 'row')} before them as in the run's table)"
    console.say(f"{rows}; update {update['number']} of '{update['parent']}'")
    if update["unseen_series"]:
        console.say(
            f"left out: series {quoted(update['unseen_series'])}, which training did not see; train again to add"
        )
    if "old" in update:
        console.print(_scores(update, windows=metrics["validation"]["windows"]))
    console.say(_verdict(update))
    if update["kept"] == "new" and "final_fit" in metrics and "old" in update:
        epochs = counted(metrics["final_fit"]["epochs"], "epoch")
        console.say(f"then trained on the held-out steps too, {epochs}: predict takes that network")
    console.say(f"run: {forecaster.run_path}")


def _scores(update: dict[str, Any], *, windows: int) -> Any:
    """Errors of old and new weights on the held-out steps."""
    from forecast_attn.cli.tables import plain_table

    held_out = f"newest {update['held_out']} steps, {windows:,} windows"
    table = plain_table(held_out, "MAE", "MASE", "loss", left=(held_out,))
    for name in ("old", "new"):
        shown = ["-" if update[name][key] is None else f"{update[name][key]:.5g}" for key in ("mae", "mase", "loss")]
        table.add_row(f"{name} weights", *shown)
    return table


def _verdict(update: dict[str, Any]) -> str:
    if "old" not in update:
        return "no steps were held out: the new weights are kept without a comparison"
    old, new = update["old"]["loss"], update["new"]["loss"]
    change = f"{100 * abs(new / old - 1):.1f} % {'less' if new < old else 'more'}" if old else "another"
    if update["kept"] == "old":
        return f"kept the OLD weights: the new ones have {change} loss on steps that neither was trained on"
    chosen = "" if new < old else ", and --keep new asked for them"
    return f"kept the new weights: they have {change} loss on steps that neither was trained on{chosen}"
