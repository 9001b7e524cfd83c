"""`forecast tune`: the options that forecast a table best, and a run with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import ConfigFile, Json, Quiet, TableArgument, search_options, with_options
from forecast_attn.cli.signals import with_resume_hint
from forecast_attn.config.options import RunConfig
from forecast_attn.config.requests import TRAINING, TuneRequest
from forecast_attn.errors import ConfigError

if TYPE_CHECKING:
    from forecast_attn.tuning.tuning_result import TuningResult


@with_options(TuneRequest, *TRAINING)
def tune(
    data: TableArgument = None,
    config: ConfigFile = None,
    json: Json = False,
    quiet: Quiet = False,
    **options: Any,
) -> None:
    request, shared = _checked(data, config, options)

    from forecast_attn.cli.tuning_display import TuningDisplay, show_search
    from forecast_attn.inspection.figures import check_pictures
    from forecast_attn.runs.output_paths import refuse_outputs

    check_pictures(png=request.png)
    refuse_outputs({"--png": request.png}, read=[data, request.space])
    display = TuningDisplay(request.metric, quiet=quiet)
    display.say("loading")
    from forecast_attn.tuning.search import tune as search

    assert data is not None
    with with_resume_hint(lambda: "what is finished is kept; go on with the same command"), display:
        result = search(data, listener=display, **shared, **request.to_options())
    if request.png is not None:
        _draw(result, request.png)
    if json:
        printing.write_json({"run": None if result.run is None else str(result.run), **result.to_dict()})
        return
    show_search(result)


def _checked(data: Path | None, config: Path | None, options: dict[str, Any]) -> tuple[TuneRequest, dict[str, Any]]:
    """The options of file and command line; a wrong one is reported before anything heavy is loaded."""
    from forecast_attn.runs.run_dir import RunDir, check_is_free

    if data is None:
        raise ConfigError("there is no table to train on", "forecast tune data.csv")
    request, shared = search_options(TuneRequest, config, options)
    RunConfig.from_options(shared)
    if request.out is not None and not RunDir(request.out).config.is_file():  # the winner's training may have begun
        check_is_free(request.out)
    return request, shared


def _draw(result: TuningResult, path: Path) -> None:
    from forecast_attn.inspection.figures import save_figure

    for note in save_figure(result.figure(), path):
        printing.say(f"note: {note}", err=True)
