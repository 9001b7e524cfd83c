"""One sentence on the attention weights, limited to what the evidence supports.

Weights always have a largest one. Whether it means anything is for the audit to say, or for its quick form, which
`forecast train` writes into metrics.json.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from forecast_attn.config.values import percent
from forecast_attn.inspection.patterns import MeanWeights, looks_words
from forecast_attn.inspection.results import Inspection, Interpretation
from forecast_attn.notebook import darkest_weight

if TYPE_CHECKING:
    from forecast_attn.runs.run_dir import RunDir

LEAST_ENTROPY = 0.9
"""Of weights that are nearly equal, as a share of the entropy of equal ones."""
NO_PART = (
    "do not read these weights: validation gave the network no part in the forecast, which comes from baselines alone"
)


@dataclass(frozen=True)
class Evidence:
    """Evidence on whether a run's forecasts need its weights.

    Attributes:
        needed: the forecast needs them.
        rise: of the MAE with equal weights, as a share of it; None where it is not known.
        windows: validation windows it was tested on.
        level: the verdict of `forecast audit`; None for its quick form alone.
        better: the best baseline, if its error on the validation windows is below that of the forecast.
        why_not: the rest of the sentence on weights that are not needed, as training found it.
    """

    needed: bool
    rise: float | None
    windows: int
    level: str | None = None
    better: str | None = None
    why_not: str = ""


def evidence_of(run: RunDir | None) -> Evidence | None:
    """Return a run's evidence: its audit, or else the quick test of its training; None for a file without its run.

    Raises:
        RunError: a file of the run is damaged.
    """
    if run is None:
        return None
    metrics = run.read_json(run.metrics) if run.metrics.is_file() else {}
    better = _better_baseline(metrics)
    if run.audit.is_file():
        audited = _of_audit(run.read_json(run.audit))
        if audited is not None:
            return replace(audited, better=better)
    needs = [part["weight_need"] for part in (metrics, *metrics.get("members", ())) if part.get("weight_need")]
    if not needs:
        return None
    weakest = min(needs, key=_rise)
    needed, why_not = all(need["needed"] for need in needs), _why_not(weakest, metrics["seasonal_naive"]["mae"] or 0)
    return Evidence(needed, _rise(weakest), weakest["windows"], better=better, why_not=why_not)


def _why_not(need: dict[str, Any], naive_error: float) -> str:
    """Explain why the forecast does not need its weights, although its error may rise without them."""
    if need["mae_random"] <= need["mae"]:
        return ", but the same weights in random order do as well"
    share = (need["mae_equal"] - need["mae"]) / naive_error if naive_error else 0.0
    beside = f", {percent(share)} of the error of seasonal-naive" if 0 < share < _rise(need) else ""
    return f"{beside}, so the forecast hardly needs them"


def _better_baseline(metrics: dict[str, Any]) -> str | None:
    """The best baseline, if its error is below that of what `predict` forecasts: the network, or its combination."""
    if metrics.get("best_baseline") is None:
        return None
    forecast = metrics.get("combination") or metrics
    best, error = best_of_baselines(metrics)
    return best if error < forecast["validation"]["mae"] else None


def baseline_scores(metrics: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Name -> errors of every baseline on the validation windows: of those scored in all trainings, and of those in
    the combination.
    """
    alone = (metrics.get("combination") or {}).get("alone", {})
    return {**(metrics.get("baselines") or {"seasonal-naive": metrics["seasonal_naive"]}), **alone}


def best_of_baselines(metrics: dict[str, Any]) -> tuple[str, float]:
    """Name and MAE of the best of `baseline_scores`."""
    errors = {name: float(each["mae"]) for name, each in baseline_scores(metrics).items()}
    best = min(errors, key=errors.__getitem__)
    return best, errors[best]


def _rise(need: dict[str, Any]) -> float:
    return float(need["mae_equal"] / need["mae"] - 1) if need["mae"] > 0 else 0.0


def _of_audit(audit: dict[str, Any]) -> Evidence | None:
    """The verdict of an audit of the attention; None of one that was about covariates alone."""
    verdict = audit.get("verdict")
    if not verdict:
        return None
    numbers = {
        statistic["name"]: statistic["value"]
        for check in audit.get("checks", ())
        if check["name"] == "uniform_swap"
        for statistic in check["statistics"]
    }
    level = verdict["level"]
    return Evidence(level != "not faithful", numbers.get("mae_change_relative"), audit["header"]["windows"], level)


def interpretation_of(inspection: Inspection, evidence: Evidence | None) -> Interpretation:
    """Say where the weights look, or why nothing can be said: the same words on terminal, picture, page and in JSON."""
    reading, share = _reading(inspection, evidence), inspection.header.network_share
    if share == 0:
        reading = Interpretation("not needed", NO_PART)
    elif share is not None and share < 1:
        part = f"the network is {percent(share)} of the forecast, the rest are baselines without attention"
        reading = replace(reading, text=f"{reading.text}; {part}")
    return replace(reading, text=f"{reading.text[0].upper()}{reading.text[1:]}.")


def _reading(inspection: Inspection, evidence: Evidence | None) -> Interpretation:
    if _are_nearly_equal(inspection) and not (evidence is not None and evidence.needed):
        return Interpretation("nothing", _nothing(inspection, evidence))
    if evidence is None:
        unknown = "whether the forecast needs these weights is not known here: see `forecast audit RUN`"
        return Interpretation("not tested", unknown)
    audited = f"the audit calls the weights {evidence.level}" if evidence.level else "`forecast audit RUN` tests more"
    if not evidence.needed:
        text = f"do not read these weights: {_change(evidence)}{evidence.why_not}"
        return Interpretation("not needed", f"{text} ({audited})")
    poor = f"; the forecast itself is worse than {evidence.better}'s" if evidence.better else ""
    looks = looks_words(MeanWeights.of(inspection))
    about = _over_windows(inspection)
    return Interpretation("looks", f"{about}, it looks {looks}; {_change(evidence)} ({audited}){poor}")


def _over_windows(inspection: Inspection) -> str:
    """The windows that the sentence is about: a page draws one of them below the sentence about all."""
    count = inspection.header.num_windows
    return "in this window" if count == 1 else f"on average over {count:,} windows"


def _are_nearly_equal(inspection: Inspection) -> bool:
    """Return whether the mean entropy is high and no mean weight has a heat map's darkest colour."""
    entropy, weights = inspection.mean("normalised_entropy"), inspection.mean_weights
    return entropy is not None and entropy >= LEAST_ENTROPY and float(weights.max()) < darkest_weight(weights)


def _nothing(inspection: Inspection, evidence: Evidence | None) -> str:
    """Sentence for weights that are nearly equal."""
    header, entropy = inspection.header, inspection.mean("normalised_entropy")
    largest = float(inspection.mean_weights.max())
    text = (
        f"nothing to see here: {_over_windows(inspection)}, the weights are nearly equal (entropy {entropy:.2f} of "
        f"uniform; the largest mean weight is {100 * largest:.1f} %, equal ones are {100 / header.num_keys:.1f} %)"
    )
    return text if evidence is None else f"{text}; {_change(evidence)}"


def _change(evidence: Evidence) -> str:
    """Effect of equal weights on the MAE, in words."""
    if evidence.rise is None:
        return "equal weights were tried"
    side = "rises" if evidence.rise >= 0 else "falls"
    amount = f"{100 * abs(evidence.rise):.3g} %" if evidence.rise < 1 else ""
    change = f"{side} by {amount}" if amount else f"rises to {1 + evidence.rise:.1f} times its value"
    return f"with equal weights the MAE {change} on {evidence.windows} validation windows"
