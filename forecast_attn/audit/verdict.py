"""All checks in one word and one sentence, and what to bear in mind when reading it."""

from __future__ import annotations

from collections.abc import Iterator

from forecast_attn.audit.findings import Check, Level, Verdict
from forecast_attn.audit.subject import Subject
from forecast_attn.audit.wording import change_of, plural
from forecast_attn.inspection.identifiability import is_identifiable

FEW_WINDOWS = 30


def overall_verdict(subject: Subject, checks: list[Check], naive_mae: float) -> Verdict:
    """Judge all checks together.

    Args:
        subject: what was audited.
        checks: all that were made.
        naive_mae: of the seasonal-naive forecast on the same windows.
    """
    by_name = {check.name: check for check in checks}
    level = _level(by_name)
    sentence = {"faithful": _faithful, "partly faithful": _partly, "not faithful": _not_faithful}[level](by_name)
    return Verdict(level, sentence, list(_caveats(subject, by_name, naive_mae)))


def _level(checks: dict[str, Check]) -> Level:
    """Weights that equal ones can replace explain nothing, whatever else they do; all other tests must pass too."""
    if not checks["uniform_swap"].passed:
        return "not faithful"
    return "faithful" if all(check.passed is not False for check in checks.values()) else "partly faithful"


def _faithful(checks: dict[str, Check]) -> str:
    return f"{checks['deletion'].verdict}; {checks['uniform_swap'].verdict.partition(':')[0]}"


def _partly(checks: dict[str, Check]) -> str:
    failed = [check for check in checks.values() if check.passed is False]
    need = change_of(checks["uniform_swap"]["mae_change_relative"].value)
    return f"the forecast needs these weights (with equal ones the MAE {need}), but " + "; ".join(
        f"{check.verdict}" for check in failed
    )


def _not_faithful(checks: dict[str, Check]) -> str:
    return f"{checks['uniform_swap'].verdict}; do not read these weights as its reasons"


def _caveats(subject: Subject, checks: dict[str, Check], naive_mae: float) -> Iterator[str]:
    key, length = subject.key, subject.patches.length
    both_sides = subject.model.config.model.bidirectional
    beside = "its neighbours on both sides" if both_sides else f"all {plural(key)} before it"
    state = "an encoder state" if length == 1 else f"the encoder state of a patch of {length} time steps"
    yield (
        f"A weight belongs to {state}, and a recurrent state mixes its {key} with {beside}: "
        f"read it as 'around this {key}', not as 'this value'."
    )
    yield (
        "The network was never trained with other weights than its own: what swapping them costs is not what a network "
        "without attention would lose (train one with --attention none)."
    )
    yield from _past_the_weights(subject)
    rank, num_keys = checks["values"]["rank"].value, subject.patches.num_keys
    if not is_identifiable(num_keys, round(rank)):
        yield (
            f"The weights are not identifiable: the values have rank {rank:.0f} for {num_keys} lookback {plural(key)}, "
            "so other weights give the same forecasts."
        )
    mae = checks["permutation"]["mae"].value
    if mae >= naive_mae:
        yield "The forecast is no better than seasonal-naive on these windows: true reasons of a poor forecast."
    if "seeds" not in checks:
        yield f"One training was looked at; another seed may weigh other {plural(key)}. Compare with: --seeds OTHER_RUN"
    if subject.num_windows < FEW_WINDOWS:
        yield f"{subject.num_windows} windows are few: the numbers would differ on others."
    yield "This is about what the network does, not about what causes what in the world."


def _past_the_weights(subject: Subject) -> Iterator[str]:
    """What reaches the forecast from the lookback without the attention."""
    options = subject.model.config.model
    if options.lags:
        lags = ", ".join(map(str, options.lags))
        yield f"Each step also reads what lay {lags} steps before it (--lags): no weight shows that."
    if options.linear_path:
        yield "A linear map of the whole lookback adds to the forecast (--linear-path): the weights are about the rest."
