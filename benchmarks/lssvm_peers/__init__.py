"""LS-SVMs, and the machines one would otherwise take, under the names of the suite ``lssvm``.

    Fit(C, gamma).fit(X, y)               an RBF machine, y in {0, 1}
    FitAndPredict(C, gamma).fit(X, y)     the same, and its scores of NEW other rows, ``scores_``
    Grid(Cs, gammas).fit(X, y)            the best pair, ``C_`` and ``gamma_``

``beta_`` and ``b_`` are those of f(x) = Σ β_j K(x_j, x) + b; ``loss`` says what was minimised:
"squared" (½‖w‖² + C/2 Σ e²) or "hinge" (½‖w‖² + C Σ [1 − yf]₊).
"""

from functools import cache

import numpy as np

NEW = 10_000  # rows to predict


@cache
def new_rows(p):
    return np.random.default_rng(1).standard_normal((NEW, p))


def signs(y):
    return np.where(y == 1, 1.0, -1.0)
