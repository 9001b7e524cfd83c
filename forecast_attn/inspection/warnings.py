"""Caveats about attention weights, as sentences."""

from collections.abc import Iterator

import numpy as np

from forecast_attn.attention_file import AttentionDump
from forecast_attn.config.values import percent
from forecast_attn.inspection.results import InspectionHeader
from forecast_attn.inspection.summary import Summary


def warnings_of(dump: AttentionDump, summary: Summary, header: InspectionHeader) -> Iterator[str]:
    """Yield the warnings, one sentence each."""
    shares = {name: float(np.mean(summary.values[name])) for name in ("uniform", "one_hot", "wrong_sum", "remaining")}
    if shares["wrong_sum"]:
        rule = "at most 1" if dump.metadata.row_sum == "<=1" else "1"
        yield f"{percent(shares['wrong_sum'])} of the rows do not add up to {rule}: the file is inconsistent"
    missing = float(np.mean(summary.values["missing_weight"]))
    if missing != 0:
        keys = "time steps" if dump.metadata.patch_length == 1 else "patches"
        yield f"{percent(missing)} of the weight lies on missing {keys}, where it must be 0: no sound weights"
    if dump.metadata.top is not None:
        yield (
            f"the file keeps the {dump.metadata.top} largest weights of each row; {percent(shares['remaining'])} of "
            "the weight is not in it, and entropy and effective steps are lower bounds"
        )
    yield from _shape_warnings(dump, summary, shares, header)
    if header.identifiable is False:
        yield identifiability_words(header)


def _shape_warnings(
    dump: AttentionDump, summary: Summary, shares: dict[str, float], header: InspectionHeader
) -> Iterator[str]:
    """Uniform, one-hot, or always the same."""
    if shares["uniform"] > 0.5:
        return  # the reading says that there is nothing to see
    if shares["one_hot"] > 0.5:
        key = "time step" if header.patch_length == 1 else f"patch of {header.patch_length} time steps"
        yield f"{_all_or_share(shares['one_hot'])} one-hot: over 99 % of the weight lies on a single {key}"
    if dump.num_windows > 1 and not summary.varies_by_window:
        yield "the weights are the same for every window: a fixed choice of lags, whatever the lookback holds"
    if len(dump.steps) > 1 and not summary.varies_by_step:
        yield "the weights are the same for every step: the step ahead does not change where the forecast looks"


def identifiability_words(header: InspectionHeader) -> str:
    """Text on whether other weights would give the same forecast, or why that is unknown."""
    if header.identifiable is None:
        return "identifiable: unknown, this file does not say the rank of the encoder states"
    lags = f"{header.num_keys} {'lags' if header.patch_length == 1 else 'patches'}"
    if header.identifiable:
        rank = f"{lags} weigh states of rank {header.value_rank}"
        return f"identifiable: {rank}, no other weights give the same context vectors"
    return (
        f"not identifiable: the {lags} weigh states of rank {header.value_rank}, so other weights of the same sum, "
        "some perhaps negative, give the very same forecast; `forecast audit` tests what the forecast depends on"
    )


def _all_or_share(share: float) -> str:
    return "the weights are" if share == 1 else f"{percent(share)} of the rows are"
