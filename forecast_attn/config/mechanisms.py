"""The attention mechanisms of `--attention`: score, order and source of each."""

from __future__ import annotations

from typing import NamedTuple


class Mechanism(NamedTuple):
    """One row of the `--attention` table: which score, asked in which order, from which source."""

    score: str
    order: str
    summary: str


ATTENTIONS: dict[str, Mechanism] = {
    "none": Mechanism("none", "luong", "plain encoder-decoder, the control (Cho et al. 2014)"),
    "bahdanau": Mechanism("additive", "bahdanau", "v·tanh(W s + U h), asked before the cell (Bahdanau et al. 2015)"),
    "bahdanau-normed": Mechanism(
        "additive-normed", "bahdanau", "the same with v = g·v/‖v‖ and a bias (TensorFlow Addons)"
    ),
    "luong-dot": Mechanism("dot", "luong", "h·h̄, equal sizes needed (Luong et al. 2015, §3.1)"),
    "luong-general": Mechanism("general", "luong", "h·W h̄ (Luong et al. 2015, §3.1)"),
    "luong-concat": Mechanism("concat", "luong", "v·tanh(W [h; h̄]) (Luong et al. 2015, §3.1)"),
    "luong-location": Mechanism("location", "luong", "W h, one row per position (Luong et al. 2015, eq. 8)"),
    "luong-scaled": Mechanism("scaled", "luong", "dot times one learned scalar (TensorFlow Addons)"),
    "scaled-dot": Mechanism("scaled-dot", "luong", "projected q·k / √d, one head (Vaswani et al. 2017, eq. 1)"),
    "multi-head": Mechanism("multi-head", "luong", "several projected heads (Vaswani et al. 2017, §3.2.2)"),
    "keras-additive": Mechanism("keras-additive", "luong", "Keras AdditiveAttention: v·tanh(q + k), no projections"),
    "keras-dot": Mechanism("keras-dot", "luong", "Keras Attention: q·k, no projections"),
}
