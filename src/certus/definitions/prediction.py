r"""Predictions with intervals: are these the errors and the intervals of new rows?

    z = φᵀθ̂,   se² = φᵀ cov(θ̂) φ,   φ = (1, x)

The interval of the mean of y at a new row is z ± q·se, and that of a new observation of weight 1
z ± q·√(se² + σ²), with P(|T| ≤ q) = level for Student's t of ν degrees of freedom. Of a logistic
model (ν = ∞) the interval of the probability is σ(z ± q·se), σ(t) = 1/(1 + e^{−t}), which lies
within (0, 1); σ² does not apply. That θ̂ and its covariance are right is decided by other pages.

P(|T| ≤ q) is the integral of the density of t, by a Gaussian rule, normalised by that over all
of the line (after t = √ν tan u). The miss is the largest error of z and se, relative to se, and of
levels, relative to 1 − level.

Memory: two arrays as large as the new rows.
"""

from math import inf

import numpy as np

from certus.definitions.terms.claim import Claim

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


def check(
    X, y, s, *, X_new, coef, covariance, level, nu, fit, std_error, low, high,
    sigma2=None, new_low=None, new_high=None, fit_intercept=True, logistic=False, tol=1e-6,
):  # fmt: skip
    """Check predictions of X_new (k, p); X, y and s of the fit are not used."""
    Phi = np.column_stack([np.ones(len(X_new)), X_new]) if fit_intercept else np.asarray(X_new)
    z, se = Phi @ coef, np.sqrt(np.einsum("ij,jk,ik->i", Phi, covariance, Phi))
    scale = (lambda p: np.log(p) - np.log1p(-p)) if logistic else (lambda value: value)
    misses = [np.abs(scale(fit) - z) / se, np.abs(std_error - se) / se]
    ends = [(low, high, se)]
    if new_low is not None:
        ends.append((new_low, new_high, np.sqrt(se**2 + sigma2)))
    for lower, upper, error in ends:
        for side, end in ((-1, lower), (1, upper)):
            q = side * (scale(end) - z) / error
            misses.append(np.abs(np.array([covered(t, nu) for t in q]) - level) / (1 - level))
    miss = np.max(misses)
    return Claim("exact", 0.0, float(miss) if np.isfinite(miss) else inf, 1.0, tol)


def covered(q, nu):
    """P(|T| ≤ q) for Student's t, normal if ν = ∞."""
    if q <= 0:
        return 0.0
    if nu == inf:  # the density is below 1e-300 beyond 38
        top = min(q, 38.0)
        return integral(lambda t: np.exp(-(t**2) / 2), top) / np.sqrt(np.pi / 2)
    # t = √ν tan u: the density becomes cos^{ν−1} u on (0, π/2)
    angles = np.arctan(q / np.sqrt(nu)), np.pi / 2
    return np.divide(*(integral(lambda u: np.cos(u) ** (nu - 1), top) for top in angles))


def integral(density, top):  # over (0, top), in ten pieces
    starts = np.arange(10)[:, None] * top / 10
    return (density(starts + top / 20 * (1 + NODES)) @ WEIGHTS).sum() * top / 20
