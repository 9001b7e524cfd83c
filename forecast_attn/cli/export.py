"""`forecast export`: a finished run as one file for other runtimes."""

from __future__ import annotations

from typing import Any

import forecast_attn.cli.printing as printing
from forecast_attn.cli.flags import ConfigFile, Json, RunArgument, command_request, with_options
from forecast_attn.config.requests import ExportRequest


@with_options(ExportRequest)
def export(
    run: RunArgument = None,
    config: ConfigFile = None,
    json: Json = False,
    **options: Any,
) -> None:
    request = command_request(ExportRequest, config, options)
    from forecast_attn.cli.library import Forecaster
    from forecast_attn.runs.output_paths import refuse_outputs
    from forecast_attn.runs.run_dir import RunDir

    forecaster = Forecaster.load(run)
    refuse_outputs({"--onnx": request.onnx}, read=[], runs=[RunDir(forecaster.run_path)])
    written = forecaster.export(**request.to_options())
    if json:
        printing.write_json(written.to_dict())
        return
    for each in written.metadata["inputs"]:
        shape = ", ".join(map(str, each["shape"]))
        columns = f": {', '.join(each['columns'])}" if each["columns"] else ""
        printing.say(f"input  {each['name']:<18} {each['dtype']} ({shape}){columns}")
    for name, difference in written.difference.items():
        printing.say(
            f"output {name:<18} differs from predict by at most {difference:.1e} over {written.windows} windows"
        )
    printing.say(f"onnx: {written.path} ({written.bytes:,} bytes)")
