"""Audits a finished run on the table it was trained on, and writes audit.json."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from forecast_attn.audit.audit_results import Audit
from forecast_attn.audit.verdict import AuditListener, audit_attention
from forecast_attn.audit.wording import per_cent
from forecast_attn.baselines.combination_weights import Combination
from forecast_attn.config.requests import AuditRequest
from forecast_attn.config.values import NETWORK
from forecast_attn.devices import choose_device
from forecast_attn.errors import ConfigError, DataError, RunError, shell_command
from forecast_attn.forecasting.inference import load_model
from forecast_attn.forecasting.model import read_config
from forecast_attn.forecasting.predict import kept_combination
from forecast_attn.runs.run_dir import RunDir, sha256_of
from forecast_attn.runs.training_table import Table, panel_of_run
from forecast_attn.training.preparation import Preparation, prepare

if TYPE_CHECKING:
    import pandas as pd

    from forecast_attn.data.panel import Panel


def audit_run(
    run: RunDir,
    data: pd.DataFrame | Table | None,
    request: AuditRequest,
    listener: AuditListener | None,
) -> Audit:
    """Audit a run on the validation windows of the table it was trained on.

    Args:
        run: finished.
        data: that table; the recorded file when None.
        request: what to audit, and where.
        listener: called with the plan and the progress.

    Raises:
        ConfigError: the run has no attention or is an ensemble, or this machine has no such accelerator.
        RunError: a run is damaged or cannot be compared; the table is not the one it was trained on, or not recorded.
        DataError: what is wrong with the table.
    """
    device, model = choose_device(request.accelerator), load_model(run, validated=True)
    others = {str(other): load_model(RunDir.open_finished(other), validated=True) for other in request.seeds}
    for name, each in {str(run.path): model, **others}.items():
        if each.is_ensemble:
            again = shell_command("audit", f"{name}/members/0", "--seeds", f"{name}/members/1")
            raise ConfigError(
                f"'{name}' is an ensemble: an audit changes the weights inside one network, and this has "
                f"{len(each.networks)}",
                f"audit a member, and compare it with another: {again}",
            )
    _refuse_the_same(run, request.seeds)
    panel = _training_table(run, data)
    model.schema.check_columns(panel)
    preparation = prepare(panel, model.config.data, model.schema.calendar)
    _check_boundary(run, preparation)
    audit = audit_attention(model, preparation, request, device=device, others=others, listener=listener)
    return _with_share(audit, kept_combination(RunDir(run.home)))


def _with_share(audit: Audit, combination: Combination) -> Audit:
    """Say how much of the forecast is the network's, where validation chose to combine it with baselines."""
    weights, by_series = combination.weights, combination.by_series_text()
    if not weights:
        return audit
    share = weights.get(NETWORK, 0.0)
    others = ", ".join(f"{name} {per_cent(part)}" for name, part in weights.items() if name != NETWORK)
    part, rest = (f"is {per_cent(share)} of", "the rest are") if share else ("has no part in", "all of that is")
    caveat = (
        f"This is about the network, which {part} what `predict` forecasts; {rest} baselines without attention: "
        f"{others}{f' ({by_series})' if by_series else ''}."
    )
    verdict = audit.verdict and replace(audit.verdict, caveats=[caveat, *audit.verdict.caveats])
    return replace(audit, header=replace(audit.header, network_share=share), verdict=verdict)


def _check_boundary(run: RunDir, preparation: Preparation) -> None:
    """Refuse another table for a run not trained on a file: without a digest, its windows may be training rows.

    Raises:
        RunError: validation began elsewhere in the training.
    """
    known = run.read_json(run.metrics).get("validation", {}).get("after")
    begins = preparation.panel.zone.stamp_text(preparation.split.boundary)
    if run.read_json(run.config)["data"]["sha256"] is None and known not in (None, begins):
        raise RunError(
            f"validation of this table begins after {begins}, that of '{run.path}' after {known}: it is another table",
            "give the table of the training",
        )


def _refuse_the_same(run: RunDir, others: Sequence[Path | str]) -> None:
    """Refuse to compare a training with itself: its weights agree, which says nothing about other seeds."""
    seen = {sha256_of(run.model): run.path}
    for other in map(RunDir, others):
        known = seen.setdefault(sha256_of(other.model), other.path)
        if known is not other.path:
            raise ConfigError(
                f"'{other.path}' and '{known}' are the same training: they agree whatever the weights mean",
                "compare with a run of another seed: forecast train DATA --seed N",
            )


def _training_table(run: RunDir, data: pd.DataFrame | Table | None) -> Panel:
    """The table of the run, with hints for an audit.

    The end of it that the run keeps (tail.parquet) has no validation windows.
    """
    again = shell_command("audit", run.path, "--data", "FILE")
    try:
        return panel_of_run(run, read_config(run), data)
    except RunError as error:
        raise error.reworded(hint=f"{again}, with the table of the training") from None
    except DataError as error:
        raise error.reworded(hint=f"{again}, if the table was moved" if data is None else None) from None
