"""Published numbers: protocol -> table -> model -> (MSE, MAE), or (None, MAE) in money. Sources: docs/accuracy.md."""

from __future__ import annotations

Numbers = tuple[float | None, float]

PUBLISHED: dict[str, dict[str, dict[str, Numbers]]] = {
    "P": {
        "NP": {"TimeXer": (0.236, 0.268)},
        "PJM": {"TimeXer": (0.093, 0.192)},
        "FR": {"TimeXer": (0.385, 0.208)},
    },
    "F": {
        "NP": {
            "DAG": (0.202, 0.237),
            "GCGNet": (0.197, 0.233),
            "TFT": (0.219, 0.249),
            "TimeXer": (0.236, 0.266),
            "CrossLinear": (0.210, 0.266),
            "DLinear": (0.282, 0.337),
        },
        "PJM": {
            "DAG": (0.057, 0.143),
            "GCGNet": (0.058, 0.148),
            "TFT": (0.095, 0.195),
            "TimeXer": (0.075, 0.166),
            "CrossLinear": (0.088, 0.191),
            "DLinear": (0.096, 0.208),
        },
        "FR": {
            "DAG": (0.355, 0.171),
            "GCGNet": (0.332, 0.179),
            "TFT": (0.543, 0.253),
            "TimeXer": (0.366, 0.208),
            "CrossLinear": (0.390, 0.226),
            "DLinear": (0.422, 0.265),
        },
    },
    "F360": {
        "NP": {"best published": (0.496, 0.442)},
        "PJM": {"best published": (0.128, 0.218)},
        "FR": {"best published": (0.465, 0.261)},
    },
    "D": {
        "NP": {
            "LEAR ensemble": (None, 1.738),
            "DNN ensemble": (None, 1.683),
            "mean of LEAR and DNN": (None, 1.631),
            "NBEATSx": (None, 1.58),
        },
        "PJM": {
            "LEAR ensemble": (None, 3.013),
            "DNN ensemble": (None, 2.862),
            "mean of LEAR and DNN": (None, 2.787),
        },
        "FR": {
            "LEAR ensemble": (None, 3.980),
            "DNN ensemble": (None, 3.866),
            "mean of LEAR and DNN": (None, 3.785),
        },
    },
}

LTSF_LINEAR = {
    "NLinear": ((0.053, 0.177), (0.069, 0.204), (0.081, 0.226), (0.080, 0.226)),
    "DLinear": ((0.056, 0.180), (0.071, 0.204), (0.098, 0.244), (0.189, 0.359)),
    "FiLM": ((0.055, 0.178), (0.072, 0.207), (0.083, 0.229), (0.090, 0.240)),
    "FEDformer-f": ((0.079, 0.215), (0.104, 0.245), (0.119, 0.270), (0.142, 0.299)),
    "Autoformer": ((0.071, 0.206), (0.114, 0.262), (0.107, 0.258), (0.126, 0.283)),
    "Informer": ((0.193, 0.377), (0.217, 0.395), (0.202, 0.381), (0.183, 0.355)),
}
"""ETTh1, oil temperature alone, horizons 96, 192, 336 and 720."""
PUBLISHED |= {
    f"U{horizon}": {"ETTh1": {name: numbers[column] for name, numbers in LTSF_LINEAR.items()}}
    for column, horizon in enumerate((96, 192, 336, 720))
}

GOALS: dict[str, dict[str, Numbers]] = {
    "P": {"NP": (0.212, 0.241), "PJM": (0.083, 0.172), "FR": (0.346, 0.187)},
    "F": {"NP": (0.177, 0.209), "PJM": (0.051, 0.128), "FR": (0.298, 0.153)},
    "F360": {"NP": (0.496, 0.442), "PJM": (0.128, 0.218), "FR": (0.465, 0.261)},
    "D": {"NP": (None, 1.631), "PJM": (None, 2.787), "FR": (None, 3.785)},
}
"""What we want to reach: a tenth below the best rows of P and F, the best rows of F360 and D."""
