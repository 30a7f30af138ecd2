"""Expectation and maximisation by hand, for a mixture of normal distributions, in plain NumPy.

    max over π, μ, C of log L = Σ_i log Σ_k π_k N(x_i; μ_k, C_k),   i = 1…n rows, k components

The hidden Z of a row is its component. For any q(Z), log L = F(q, θ) + KL(q ‖ p(Z|x, θ)).
Where the manuscript errs, the line says "corrected". Run it: python examples/em_by_hand.py
"""

import numpy as np


def log_joint(X, pi, mu, C):
    """log p(x_i, Z = k | θ) = log π_k + log N(x_i; μ_k, C_k); by differences x − μ."""
    out = np.empty((len(X), len(pi)))
    for k in range(len(pi)):
        L = np.linalg.cholesky(C[k])
        z = np.linalg.solve(L, (X - mu[k]).T)
        log_det = 2 * np.log(np.diag(L)).sum()
        out[:, k] = np.log(pi[k]) - (len(L) * np.log(2 * np.pi) + log_det + (z * z).sum(axis=0)) / 2
    return out


def log_rows(joint):
    """log p(x_i | θ), the sum over Z; the largest term goes before the exponential."""
    top = joint.max(axis=1)
    return top + np.log(np.exp(joint - top[:, None]).sum(axis=1))


def expectation(X, pi, mu, C):
    """q(Z) = p(Z | x, θ), for which KL = 0 and F = log L."""
    joint = log_joint(X, pi, mu, C)
    return np.exp(joint - log_rows(joint)[:, None])


def maximization(X, q, prior=1e-6):
    """θ = argmax F(q, θ) + log prior: shares, means and covariances of rows with weights q.

    The manuscript names MAP estimates and leaves the prior open. Without one a component on a
    single row has C = 0 and log L = ∞. Here each has ``prior`` more rows, which vary as all do.
    """
    n = q.sum(axis=0)
    mu = X[0] + q.T @ (X - X[0]) / n[:, None]
    D = prior * np.diag((X - X[0]).var(axis=0))
    S = [((X - mu[k]).T * q[:, k]) @ (X - mu[k]) for k in range(len(mu))]
    return n / n.sum(), mu, (S + D) / (n + prior)[:, None, None]


def objective(X, pi, mu, C, prior=1e-6):
    """log L + log prior, which no step lowers."""
    D, terms = np.diag((X - X[0]).var(axis=0)), 0.0
    for one in C:
        terms += np.linalg.slogdet(one)[1] + np.trace(np.linalg.solve(one, D))
    return log_rows(log_joint(X, pi, mu, C)).sum() - prior / 2 * terms


def em(X, mu, steps=1000, gain=1e-9):
    """E, then M, until a step gains next to nothing.

    Corrected: the manuscript maximises F(q⁽ᵗ⁾, θ), with the q of the step before; with that log L
    can fall. The maximum belongs to the q that was just found, F(q⁽ᵗ⁺¹⁾, θ).
    """
    k, C = len(mu), np.diag((X - X[0]).var(axis=0))
    theta = np.full(k, 1 / k), mu, np.array([C] * k)
    values = [objective(X, *theta)]
    for _ in range(steps):
        q = expectation(X, *theta)
        theta = maximization(X, q)
        values.append(objective(X, *theta))
        if values[-1] - values[-2] < gain * len(X):
            break
    return theta, values


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0], [5, 0], [0, 5]])
    X = centers[rng.integers(3, size=300)] + rng.normal(size=(300, 2))
    for attempt in range(5):  # a local maximum each: from several starts, the best one counts
        (pi, mu, C), values = em(X, X[rng.choice(len(X), size=3, replace=False)])
        print(f"start {attempt}: shares {pi.round(2)}, {len(values) - 1} steps, {values[-1]:.3f}")
