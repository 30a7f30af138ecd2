"""BIC of Gaussian mixtures: minus twice the log-likelihood, plus a penalty for each parameter.

    BIC(k) = min over shapes of Σ of −2L + m log n        L = Σ s_i log p(x_i),  n = Σ s_i
    m      = (parameters of all Σ) + kp + k − 1

The likelihood of a mixture with a collapsed component is determined by its prior, and one with
n ≤ m overfits: neither has a BIC. A single group is one Gaussian or a uniform density
(``solvers/n_clusters/one_group.py``), whichever has the lower BIC; what k components gain is

    BIC(one group) − BIC(k)
"""

from typing import NamedTuple

import numpy as np

from ..certificate.findings import MixtureFinding, finding_of
from ..mixture import GaussianMixture
from ..runtime.pool import blas_limiter
from ..solvers.mixture.covariances import COVARIANCES
from ..solvers.n_clusters.one_group import (
    MIN_RELATIVE_VARIANCE,
    GroupBic,
    better,
    least_uniform_bic,
)

# Ellipsoids, and spheres for few rows with many columns: "full" alone found 2 of 3 blobs in 8
# columns (2 of 2 samples of 150 rows). With "tied" and "diag" as well, 4 components were found for
# 3 strips (2 of 2 samples of 180 rows, one k-means start): their fits ended in poor local optima.
SHAPES = ("full", "spherical")
# Five k-means starts with a few steps each; the best is continued. With full Σ this reached the
# lowest known BIC in 8 of 8 runs on three strips and on nine blobs, as three complete fits do (one
# complete fit: 7 of 8 on the nine blobs); on one blob with five components in 1 of 8 runs, where
# three complete fits reach it in 7, at five times the cost.
N_STARTS, SHORT_RUN_STEPS, MAX_STEPS = 5, 10, 1000
MAX_FALLS = 2  # numbers of components in a row that gain less, after which more are not tried


class Bic(NamedTuple):
    """The least BIC over covariance types."""

    value: float  # NaN: there is none
    shape: str  # covariance_type
    overlap: float = np.nan  # mean over rows of 1 − the largest responsibility


MISSING_BIC = Bic(np.nan, "")


def single_group(X: np.ndarray, s: np.ndarray | None, gaussian: Bic) -> GroupBic:
    """Return the density of one group with the least BIC; ``gaussian``: that of one component."""
    uniform = least_uniform_bic(X, s)
    return better(GroupBic(gaussian.value, "Gaussian"), uniform)


def largest_gain(X: np.ndarray, ks: list[int], s: np.ndarray | None, seeds: np.ndarray) -> float:
    """Return the largest gain of several components over one group, for a sample of one group.

    ks, ascending, are tried until two in a row have gained less: each further component of one
    group costs more than it gains. −∞ if no k has a BIC.
    """
    with_bic = (bic_of(X, k, s, int(seed)) for k, seed in zip(ks, seeds, strict=True))
    one = single_group(X, s, next(with_bic)).value
    best, fell = -np.inf, 0
    for bic in with_bic:
        gain = one - bic.value
        fell = 0 if gain > best else fell + 1  # NaN is no gain
        best = max(best, gain) if gain == gain else best
        if fell == MAX_FALLS:
            break
    return best


def bic_of(X: np.ndarray, k: int, s: np.ndarray | None, seed: int) -> Bic:
    """Return the least BIC over the shapes of k components; NaN if none has a BIC."""
    n = len(X) if s is None else float(s.sum())
    varying = int((np.ptp(X, axis=0) > 0).sum())  # constant columns have no density
    candidates = []
    for shape in SHAPES:
        Z, log_volume = sphered(X, s) if shape == "full" else (X, 0.0)
        m = COVARIANCES[shape].n_parameters(k, varying) + k * varying + k - 1
        if n > m:
            model = _mixture(Z, k, s, shape, seed)
            finding = finding_of(model.certificate_, MixtureFinding)
            if not finding.degenerate:
                value = -2 * (finding.likelihood - n * log_volume) + m * np.log(n)
                candidates.append((Bic(value, shape), model, Z))
    if not candidates:
        return MISSING_BIC
    least, model, Z = min(candidates, key=lambda one: one[0].value)
    doubt = 1 - model.predict_proba(Z).max(axis=1) if k > 1 else np.zeros(len(X))
    return least._replace(overlap=float(np.average(doubt, weights=s)))


def sphered(X: np.ndarray, s: np.ndarray | None) -> tuple[np.ndarray, float]:
    """Return the varying columns in units of their covariance, and log det of these units.

    Mixtures with full Σ are the same in all linear units, but k-means, from which they start, is
    not: it cuts long strips across in their own units, and between them in these. X itself, and 0,
    if the columns depend on each other.
    """
    x = X.astype(np.float64)[:, np.ptp(X, axis=0) > 0]
    if len(x) <= x.shape[1] or not x.shape[1]:
        return X, 0.0
    x -= x[0] + np.average(x - x[0], axis=0, weights=s)
    sizes = np.abs(x).max(axis=0)
    x /= sizes
    with blas_limiter:  # the bits of a product depend on how many threads share it
        weighted = x if s is None else s[:, None] * x
        variance, axes = np.linalg.eigh(np.dot(weighted.T, x) / (len(x) if s is None else s.sum()))
        if not variance[0] > MIN_RELATIVE_VARIANCE * variance[-1]:
            return X, 0.0
        log_volume = float(np.log(sizes).sum() + np.log(variance).sum() / 2)
        return np.dot(x, axes) / np.sqrt(variance), log_volume


def _mixture(X: np.ndarray, k: int, s: np.ndarray | None, shape: str, seed: int) -> GaussianMixture:
    model = GaussianMixture(
        k, covariance_type=shape, n_init=N_STARTS if k > 1 else 1, max_iter=SHORT_RUN_STEPS,
        random_state=seed,
    ).fit(X, sample_weight=s)  # fmt: skip
    if not model.converged_:
        model.set_params(max_iter=MAX_STEPS, warm_start=True).fit(X, sample_weight=s)
    return model
