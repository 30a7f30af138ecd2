"""BIC of Gaussian mixtures: how likely the rows are, less a price for each number that was fitted.

    BIC(k) = min over shapes of Σ of −2L + m log n        L = Σ s_i log p(x_i),  n = Σ s_i
    m      = (numbers in all Σ) + kp + k − 1

A mixture with a collapsed component has whatever likelihood its prior allows, and one with n ≤ m
follows the rows: neither has a BIC.
"""

from typing import NamedTuple

import numpy as np

from ..certificate.findings import MixtureFinding, finding_of
from ..mixture import GaussianMixture
from ..solvers.mixture.covariances import COVARIANCES

# Ellipsoids, and balls for few rows of many columns: "full" alone saw 2 of 3 blobs in 8 columns
# (2 of 2 samples of 150 rows). With "tied" and "diag" too, 4 of 3 strips (2 of 2 samples of 180
# rows, one start of k-means): their fits ended in poor local optima.
SHAPES = ("full", "spherical")
# From five starts of k-means a few steps each; the best goes on. Full Σ: on three strips and nine
# blobs the least BIC known 8 times of 8, as of three fits to the end (one: 7 of 8 on the nine). On
# one blob, cut in five, 1 time of 8 where three fits reach it 7 times, in a fifth of the time.
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
        m = COVARIANCES[shape].n_parameters(k, varying) + k * varying + k - 1
        if n > m:
            finding = finding_of(_mixture(X, k, s, shape, seed).certificate_, MixtureFinding)
            if not finding.degenerate:
                found.append(Bic(-2 * finding.likelihood + m * np.log(n), shape))
    return min(found, key=lambda bic: bic.value, default=NONE)


def _mixture(X: np.ndarray, k: int, s: np.ndarray | None, shape: str, seed: int) -> GaussianMixture:
    model = GaussianMixture(
        k, covariance_type=shape, n_init=STARTS if k > 1 else 1, max_iter=FEW_STEPS,
        random_state=seed,
    ).fit(X, sample_weight=s)  # fmt: skip
    if not model.converged_:
        model.set_params(max_iter=STEPS, warm_start=True).fit(X, sample_weight=s)
    return model
