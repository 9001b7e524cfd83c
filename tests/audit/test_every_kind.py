"""A whole audit of every kind of network, on a table with holes, categories and several series; nothing is trained."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from forecast_attn.audit import Audit, AuditPlan, audit_attention
from forecast_attn.audit.subject import Subject
from forecast_attn.audit.verdict import AuditListener
from forecast_attn.config.options import RunConfig
from forecast_attn.config.requests import AuditRequest
from forecast_attn.data.split import spread_evenly
from forecast_attn.errors import ConfigError
from forecast_attn.forecasting.inference import window_sizes
from forecast_attn.forecasting.model import Model
from forecast_attn.nn.builder import build_network
from forecast_attn.runs.training_table import read_panel
from forecast_attn.training.preparation import Preparation, prepare

from .test_covariates import OPTIONS, table

CPU = torch.device("cpu")
KINDS: list[dict[str, Any]] = [
    {"attention": "bahdanau", "decoding": "autoregressive", "bidirectional": True, "missing": "mask"},
    {"attention": "luong-dot", "input_feeding": True, "normaliser": "sparsemax", "cell": "lstm", "num_layers": 2},
    {"attention": "multi-head", "heads": 2, "attention_window": "local-p", "window_radius": 2, "missing": "mask"},
    {"attention": "luong-location", "normaliser": "entmax15", "transform": "arcsinh", "short_series": "pad"},
]


def untrained(**options: Any) -> tuple[Model, Preparation]:
    config = RunConfig.from_options(OPTIONS | {"hidden_size": 8, "scaling": "standard"} | options)
    holes = config.data.missing == "mask"
    frame = table(holes=holes)
    if holes:  # a window of the validation stretch sees next to nothing, and part of another's horizon is unknown
        frame.loc[46:53, "target"] = np.nan
    panel, _ = read_panel(frame, config)
    preparation = prepare(panel, config.data)
    torch.manual_seed(0)
    network = build_network(config.model, window_sizes(preparation.schema)).eval()
    settled = replace(config, model=replace(config.model, patch_length=network.patches.length))  # as training does
    return Model(settled, preparation.schema, (network,)), preparation


def audited(**options: Any) -> Audit:
    model, preparation = untrained(**options)
    return audit_attention(
        model, preparation, AuditRequest(windows=8, draws=10, covariates=True, repeats=2), device=CPU
    )


@pytest.mark.slow
@pytest.mark.parametrize("options", KINDS, ids=lambda options: "-".join(map(str, options.values())))
def test_every_kind_of_network_can_be_audited(options: dict[str, Any]) -> None:
    audit = audited(**options)
    document = json.loads(json.dumps(audit.to_dict(), allow_nan=False))
    assert document["header"]["mechanism"] == options["attention"]
    assert [check.name for check in audit.checks] == [
        "uniform_swap",
        "groups",
        "permutation",
        "deletion",
        "sufficiency",
        "rank_agreement",
        "reach",
        "values",
    ]
    for check in audit.checks:
        for statistic in check.statistics:
            assert statistic.unit != "share" or not statistic.name.endswith("overlap") or 0 <= statistic.value <= 1
    assert np.isfinite(audit.header.mae)
    for name, profile in audit.profiles.items():
        assert sum(profile) == pytest.approx(1), name
    assert audit.covariates is not None
    assert len(audit.covariates.columns) == 8


@pytest.mark.slow
def test_an_audit_announces_what_it_computes_and_leaves_the_network_as_it_was() -> None:
    model, preparation = untrained(attention="luong-general", missing="mask")
    before = Subject.of(model, preparation, preparation.validation_cutoffs, CPU).forecast()
    plans, passes = list[AuditPlan](), list[int]()
    listener = AuditListener(planned=plans.append, advanced=passes.append)
    others = {"other": untrained(attention="bahdanau", missing="mask")[0]}
    options = AuditRequest(windows=5, draws=10, covariates=True, repeats=2)
    audit = audit_attention(model, preparation, options, device=CPU, others=others, listener=listener)
    (plan,) = plans
    assert plan.windows == audit.header.windows == 5
    assert plan.draws == audit.header.draws == 10
    assert sum(passes) == plan.forecasts
    assert f"each forecast {plan.forecasts:,} times (10 random orders)" in str(plan)
    after = Subject.of(model, preparation, preparation.validation_cutoffs, CPU).forecast()
    np.testing.assert_array_equal(before, after)
    assert all(parameter.grad is None for parameter in model.network.parameters())


@pytest.mark.slow
def test_a_network_that_ignores_its_attention_is_not_faithful() -> None:
    """The context vector's half of W_c is zero: nothing that is done to the weights changes anything."""
    model, preparation = untrained(attention="luong-general")
    decoder = model.network.decoder
    with torch.no_grad():
        decoder.combine.weight[:, : decoder.attention.context_size] = 0
    audit = audit_attention(model, preparation, AuditRequest(windows=8, draws=10), device=CPU)
    assert audit.verdict is not None
    assert audit.verdict.level == "not faithful"
    assert {check.name: check.passed for check in audit.checks} == {
        "uniform_swap": False,
        "permutation": False,
        "deletion": False,
        "sufficiency": False,
        "rank_agreement": False,
        "groups": False,
        "reach": False,
        "values": None,
    }
    for name in ("uniform_swap", "permutation"):
        assert audit.check(name)["forecast_change"].value == pytest.approx(0, abs=1e-4)


@pytest.mark.slow
def test_a_lookback_of_two_steps_has_nothing_to_rank() -> None:
    model, preparation = untrained(attention="luong-general", lookback=2)
    audit = audit_attention(model, preparation, AuditRequest(windows=4, draws=10), device=CPU)
    check = audit.check("rank_agreement")
    assert np.isnan(check["state_occlusion_tau"].value)
    assert check.passed is False
    assert "–" in check.verdict
    json.dumps(audit.to_dict(), allow_nan=False)


def test_windows_are_spread_from_the_first_to_the_last() -> None:
    cutoffs = np.arange(100, 200)
    assert spread_evenly(cutoffs, 4).tolist() == [100, 133, 166, 199]
    assert spread_evenly(cutoffs, 1_000).tolist() == cutoffs.tolist()


def test_more_windows_get_fewer_draws() -> None:
    model, preparation = untrained(attention="luong-general")
    many = replace(preparation, validation_cutoffs=np.tile(preparation.validation_cutoffs, 40))
    plans = list[AuditPlan]()

    def stop(plan: AuditPlan) -> None:
        plans.append(plan)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        audit_attention(model, many, AuditRequest(windows=400), device=CPU, listener=AuditListener(planned=stop))
    assert plans[0].draws == 12_800 // 400


@pytest.mark.parametrize("options", [{"windows": 1}, {"draws": 9}, {"repeats": 1}, {"seed": -1}])
def test_options_have_ranges(options: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=f"--{next(iter(options))} must be at least"):
        AuditRequest.from_options(options)
