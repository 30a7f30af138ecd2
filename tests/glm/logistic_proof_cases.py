"""Logistic problems of every kind that proofs/glm/logistic covers."""

import numpy as np

from tests.contract.classification import Case, classes, rows

S = np.random.default_rng(9).integers(0, 4, size=40).astype(float)
CLASS_WEIGHT = np.array([0.25, 3.0])
PENALTIES = {"l2": (0.0, 1.0), "l1": (1.0, 0.0), "elastic net": (0.5, 0.5)}


def problem(penalty="l2", intercept="free", weighted=False, C=0.7, seed=0, n=40, p=3):
    """A Case and the parameters of ``check`` that belong to it."""
    X, y = classes(seed, n, p, 2)
    l1, l2 = PENALTIES.get(penalty, (0.0, 0.0))
    s = S[:n] if weighted else np.ones(n)
    c = CLASS_WEIGHT if weighted else np.ones(2)
    case = Case(X, y, C * s * c[y], 1, l1, l2, intercept, 2.0)
    parameters = {
        "C": C, "l1": l1, "l2": l2, "fit_intercept": intercept != "none",
        "class_weight": CLASS_WEIGHT if weighted else None,
        "intercept_scaling": 2.0 if intercept == "penalised" else None,
    }  # fmt: skip
    return case, rows(X, y, s if weighted else None), parameters
