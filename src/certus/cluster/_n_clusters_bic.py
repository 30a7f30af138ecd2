"""BIC of Gaussian mixtures: minus twice the log-likelihood, plus a penalty for each parameter.

    BIC(k) = min over shapes of Σ of −2L + m log n        L = Σ s_i log p(x_i),  n = Σ s_i
    m      = (parameters of all Σ) + kp + k − 1

The likelihood of a mixture with a collapsed component is determined by its prior, and one with
n ≤ m overfits: neither has a BIC.
"""

from typing import NamedTuple

import numpy as np

from ..certificate.findings import MixtureFinding, finding_of
from ..mixture import GaussianMixture
from ..solvers.mixture.covariances import COVARIANCES

# Ellipsoids, and spheres for few rows with many columns: "full" alone found 2 of 3 blobs in 8
# columns (2 of 2 samples of 150 rows). With "tied" and "diag" as well, 4 components were found for
# 3 strips (2 of 2 samples of 180 rows, one k-means start): their fits ended in poor local optima.
SHAPES = ("full", "spherical")
# Five k-means starts with a few steps each; the best is continued. With full Σ this reached the
# lowest known BIC in 8 of 8 runs on three strips and on nine blobs, as three complete fits do (one
# complete fit: 7 of 8 on the nine blobs); on one blob with five components in 1 of 8 runs, where
# three complete fits reach it in 7, at five times the cost.
N_STARTS, SHORT_RUN_STEPS, MAX_STEPS = 5, 10, 1000


class Bic(NamedTuple):
    """The least BIC over covariance types."""

    value: float  # NaN: there is none
    shape: str  # covariance_type


MISSING_BIC = Bic(np.nan, "")


def bic_of(X: np.ndarray, k: int, s: np.ndarray | None, seed: int) -> Bic:
    """Return the least BIC over the shapes of k components; NaN if none has a BIC."""
    n = len(X) if s is None else float(s.sum())
    varying = int((np.ptp(X, axis=0) > 0).sum())  # constant columns have no density
    candidates = []
    for shape in SHAPES:
        m = COVARIANCES[shape].n_parameters(k, varying) + k * varying + k - 1
        if n > m:
            finding = finding_of(_mixture(X, k, s, shape, seed).certificate_, MixtureFinding)
            if not finding.degenerate:
                candidates.append(Bic(-2 * finding.likelihood + m * np.log(n), shape))
    return min(candidates, key=lambda bic: bic.value, default=MISSING_BIC)


def _mixture(X: np.ndarray, k: int, s: np.ndarray | None, shape: str, seed: int) -> GaussianMixture:
    model = GaussianMixture(
        k, covariance_type=shape, n_init=N_STARTS if k > 1 else 1, max_iter=SHORT_RUN_STEPS,
        random_state=seed,
    ).fit(X, sample_weight=s)  # fmt: skip
    if not model.converged_:
        model.set_params(max_iter=MAX_STEPS, warm_start=True).fit(X, sample_weight=s)
    return model
