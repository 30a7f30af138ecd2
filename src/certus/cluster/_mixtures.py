"""BIC of Gaussian mixtures: how likely the rows are, less a price for each number that was fitted.

    BIC(k) = min over shapes of Σ of −2L + m log n        L = Σ s_i log p(x_i),  n = Σ s_i
    m      = (numbers in all Σ) + kp + k − 1

A mixture with a collapsed component has whatever likelihood its prior allows, and one with n ≤ m
follows the rows: neither has a BIC.
"""

from typing import NamedTuple

import numpy as np

from ..mixture import GaussianMixture
from ..solvers.gaussian_covariances import COVARIANCES

# Ellipsoids, and balls for few rows of many columns: "full" alone saw 2 of 3 blobs in 8 columns
# (150 rows). With "tied" and "diag", 4 of 3 parallel strips: their fits end in poor local optima.
SHAPES = ("full", "spherical")
# From five starts of k-means a few steps each; the best goes on. As good on strips and on nine
# blobs as three fits to the end, in a third of the time; one start missed some of the nine.
STARTS, FEW_STEPS, STEPS = 5, 10, 1000


class Bic(NamedTuple):
    value: float  # NaN: none
    shape: str  # of Σ


NONE = Bic(np.nan, "")


def bic_of(X: np.ndarray, k: int, s: np.ndarray | None, seed: int) -> Bic:
    """The least of the shapes; NaN where none has a BIC."""
    n = len(X) if s is None else float(s.sum())
    varying = int((np.ptp(X, axis=0) > 0).sum())  # the others have no density
    found = []
    for shape in SHAPES:
        m = COVARIANCES[shape].numbers(k, varying) + k * varying + k - 1
        if n > m:
            what = _mixture(X, k, s, shape, seed).certificate_.found
            if not what["degenerate"]:
                found.append(Bic(-2 * what["likelihood"] + m * np.log(n), shape))
    return min(found, key=lambda bic: bic.value, default=NONE)


def _mixture(X: np.ndarray, k: int, s: np.ndarray | None, shape: str, seed: int) -> GaussianMixture:
    model = GaussianMixture(
        k, covariance_type=shape, n_init=STARTS if k > 1 else 1, max_iter=FEW_STEPS,
        random_state=seed,
    ).fit(X, sample_weight=s)  # fmt: skip
    if not model.converged_:
        model.set_params(max_iter=STEPS, warm_start=True).fit(X, sample_weight=s)
    return model
