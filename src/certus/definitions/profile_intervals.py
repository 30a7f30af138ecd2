r"""Likelihood-ratio intervals of logistic, softmax, ordinal, Firth's models: is their level right?

    D_j(β) = 2(max_θ ℓ(θ) − max_{θ_j = β} ℓ(θ))        ℓ: the log-likelihood, a term

The interval of θ_j contains all β that a likelihood-ratio test does not reject: at its ends

    P(χ²₁ ≤ D_j(β)) = erf √(D_j(β)/2) = level.

θ are the coefficients of Φ = [1 X], ordered by class, relative to the first class; of ordinal
models (w, c), and Φ = [X 0] with a column of zeros for each threshold. Each maximum is computed
here, from the stated coefficients, by Newton's method with step halving. It ends when
gᵀH⁻¹g, twice the remaining gain, is below 1e-12 (g: the gradient, H: the curvature). A logistic or
softmax likelihood is concave and has no other maximum; Firth's may have.

The miss is the largest error of a level, relative to 1 − level. It is infinite if an end is on the
wrong side of the estimate, if no maximum is found, or if an end is NaN, as for repeated columns.

Memory: three arrays as large as X, K − 1 times for K > 2 classes.
"""

from math import erf, inf, sqrt

import numpy as np

from certus.definitions.terms.claim import Claim


def check(
    X, y, s, *, coef, low, high, level, likelihood, fit_intercept=True, n_thresholds=0, tol=1e-6
):
    """Check low and high, shaped as ``coef`` (K − 1, m) with b first; y: class indices."""
    X, y, s = X[s > 0], y[s > 0], s[s > 0]
    Phi = np.hstack([np.ones((len(X), int(fit_intercept))), X, np.zeros((len(X), n_thresholds))])
    coef = np.atleast_2d(coef)
    value, unit, shape = likelihood.at(Phi, y, s, coef)[0], np.sqrt(s @ Phi**2), coef.shape
    unit[unit == 0] = 1.0
    scaled = Phi / unit

    def maximum(theta, free):
        return maximizer(lambda flat: likelihood.at(scaled, y, s, flat.reshape(shape)), theta, free)

    best, top, H = maximum((coef * unit).ravel(), np.arange(coef.size))
    tangent, misses = np.linalg.pinv(H, hermitian=True), [0.0 if top > -inf else inf]
    for side, ends in ((-1, np.reshape(low, shape)), (1, np.reshape(high, shape))):
        for j, end in enumerate((ends * unit).ravel()):
            distance, deviance = end - best[j], inf
            if 0 < side * distance < inf:
                start = best + distance / tangent[j, j] * tangent[:, j]
                deviance = 2 * (top - maximum(start, np.delete(np.arange(coef.size), j))[1])
            error = abs(erf(sqrt(max(deviance, 0.0) / 2)) - level) / (1 - level)
            misses.append(error if deviance < inf else inf)
    return Claim("exact", float(value), max(misses), 1.0, tol)


def maximizer(at, theta, free):
    """θ, value and H at the maximum over free coordinates; the value is −∞ if none is found."""
    for _ in range(200):
        value, g, H = at(theta)
        step, G = np.zeros(len(theta)), H[np.ix_(free, free)]
        step[free] = np.linalg.lstsq(G, g[free])[0]
        rise, unexplained = g @ step, np.linalg.norm(G @ step[free] - g[free])
        if rise <= 1e-12 and unexplained <= 1e-9 * np.sqrt(np.trace(H)):
            return theta, value + rise / 2, H
        length = 1.0
        while not at(theta + length * step)[0] >= value + 1e-4 * length * rise and length > 1e-9:
            length /= 2
        theta = theta + length * step
    return theta, -inf, H
