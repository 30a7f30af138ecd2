r"""Mixture of Bernoulli, Poisson or multinomial components: what one more EM step gains.

    F(π, θ) = Σ_i s_i log Σ_k π_k p(x_i | θ_k) + a Σ_k log q(x̄ | θ_k)

The family of p is a term of terms/counts.py; q is p without the factors that do not depend on θ.
The prior acts as ``a`` pseudo-rows in each component at x̄ = Σ_i s_i x_i / Σ_i s_i.

*EM step.* With w_ik = s_i π_k p(x_i | θ_k) / Σ_l π_l p(x_i | θ_l) and n_k = Σ_i w_ik,

    π'_k = n_k / Σ_i s_i        θ'_k = (Σ_i w_ik x_i + a x̄) / (n_k + a)

(multinomial: over the sum of its entries) maximises

    Σ_i Σ_k w_ik (log π'_k + log p(x_i | θ'_k) − log(w_ik/s_i)) + a Σ_k log q(x̄ | θ'_k),

which is at most F(π', θ') (Jensen), and equals F if nothing changed. So F never decreases, and
where it does not rise it is stationary: a local optimum, or a saddle point. ``miss`` is |F' − F|,
plus what Σ_k π_k ≠ 1 adds to F, and is compared with Σ_i s_i: nats per unit of weight.

Memory: two arrays as large as X, four of n by K.
"""

from math import fsum, inf, log, nan

import numpy as np

from certus.definitions.terms.claim import Claim


def check(X, y, s, *, pi, theta, family, a=0.0, tol=1e-6):
    """Check pi (K,) and theta (K, p) on counts X (n, p) and weights s (n,)."""
    X, s, S = X[s > 0], s[s > 0], fsum(s)
    if not ((pi >= 0).all() and pi.any() and family.allows(X, theta)):
        return Claim("stationary", nan, inf, S, tol)
    mean = np.average(X, axis=0, weights=s)
    base = fsum(s * family.base(X))
    F, w = expectation(X, s, pi, theta, family, a, mean)
    n = w.sum(axis=0)
    theta1 = family.fitted(w.T @ X + a * mean, np.maximum(n + a, 1e-300))
    F1, _ = expectation(X, s, n / n.sum(), theta1, family, a, mean)
    return Claim("stationary", F + base, abs(F1 - F) + S * abs(log(fsum(pi))), S, tol)


def expectation(X, s, pi, theta, family, a, mean):
    """Return F without the factors that do not depend on θ, and w."""
    J = family.scores(X, theta) + np.log(pi, out=np.full(len(pi), -inf), where=pi > 0)
    log_p = np.logaddexp.reduce(J, axis=1)
    prior = a * fsum(family.scores(mean[None], theta)[0])
    return fsum(s * log_p) + prior, s[:, None] * np.exp(J - log_p[:, None])
