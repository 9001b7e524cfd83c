"""Quantiles of Student's t distribution as a polynomial, for a graph that has no such function."""

from __future__ import annotations

import numpy as np
import torch
from numpy.polynomial import chebyshev
from torch import Tensor

DEGREE = 24
SMALLEST_FREEDOM = 2.0
"""Degrees of freedom of the head lie above it."""


def student_quantiles(freedom: Tensor, quantiles: tuple[float, ...]) -> Tensor:
    """Quantiles (…, num_quantiles) of the standard t distribution with degrees of freedom (…, 1), in float64.

    A quantile is a smooth function of 1 / freedom, which lies between 0 and 1/2: interpolated at Chebyshev's nodes
    and summed by Clenshaw's recurrence. The largest error is below 1e-10 of the quantile (a test measures it).
    """
    coefficients = torch.from_numpy(_coefficients(quantiles))
    x = 4 / freedom - 1  # from 1 / freedom in 0 … 1/2 to -1 … 1
    above, here = torch.zeros_like(coefficients[0] * x), torch.zeros_like(coefficients[0] * x)
    for row in range(DEGREE, 0, -1):
        above, here = here, 2 * x * here - above + coefficients[row]
    return x * here - above + coefficients[0]


def _coefficients(quantiles: tuple[float, ...]) -> np.ndarray:
    """Chebyshev coefficients (DEGREE + 1, num_quantiles)."""
    from scipy import special

    nodes = chebyshev.chebpts1(DEGREE + 1)
    share = np.array(quantiles)
    inverse = (nodes[:, None] + 1) / 4
    values = special.stdtrit(1 / inverse, share)
    return np.asarray(chebyshev.chebfit(nodes, values, DEGREE))
