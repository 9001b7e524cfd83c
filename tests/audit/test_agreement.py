"""Agreement of rankings, against scipy."""

import warnings

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from forecast_attn.audit import agreement

ROWS = st.integers(2, 30).flatmap(
    lambda length: st.tuples(*(arrays(np.float64, length, elements=st.integers(0, 6)) for _ in range(2)))
)
"""Two rows of equal length with many ties."""


@pytest.mark.slow
@given(rows=ROWS)
def test_rankings_agree_as_scipy_says(rows: tuple[np.ndarray, np.ndarray]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", scipy.stats.ConstantInputWarning)
        tau, rho = scipy.stats.kendalltau(*rows).statistic, scipy.stats.spearmanr(*rows).statistic
    assert agreement.kendall(*rows) == pytest.approx(tau, abs=1e-6, nan_ok=True)
    assert agreement.spearman(*rows) == pytest.approx(rho, abs=1e-12, nan_ok=True)
    assert agreement.ranks(rows[0]) == pytest.approx(scipy.stats.rankdata(rows[0]))


@pytest.mark.slow
@given(rows=ROWS, data=st.data())
def test_overlap_counts_the_largest_in_common(rows: tuple[np.ndarray, np.ndarray], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, len(rows[0])))
    # Of equal values the later counts as larger.
    largest = [set(sorted(range(len(row)), key=lambda at: (row[at], at))[-count:]) for row in rows]
    assert agreement.top_overlap(*rows, count) == pytest.approx(len(largest[0] & largest[1]) / count)


def test_an_order_of_the_ranks_keeps_the_order_of_the_pairs() -> None:
    """Random rankings are made by reordering the signs of all pairs."""
    rng = np.random.default_rng(0)
    row, other, order = rng.normal(size=9), rng.normal(size=9), rng.permutation(9)
    signs = agreement.order_signs(row)[np.ix_(order, order)]
    assert agreement.tau_of_signs(signs, agreement.order_signs(other)) == pytest.approx(
        scipy.stats.kendalltau(row[order], other).statistic, abs=1e-6
    )
