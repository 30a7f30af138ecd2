"""Normal rows with missing entries: marginal densities and conditional moments.

With o the observed entries of x and m the missing ones, x ~ N(μ, C):

    log p(x_o) = log N(x_o; μ_o, C_oo)
    E[x_m | x_o] = μ_m + G(x_o − μ_o),   G = C_mo C_oo⁻¹,      Cov[x_m | x_o] = C_mm − G C_om

A row without observed entries has likelihood 1. NaN marks a missing entry; rows with the same
entries missing are handled together.
"""

from typing import Any, NamedTuple

import numpy as np


class Normal(NamedTuple):
    """Normal distribution N(μ, C)."""

    mean: np.ndarray
    C: np.ndarray


def complete(X: np.ndarray) -> tuple[Any, np.ndarray]:
    """Index of the rows without NaN (a slice if there are no others), and of the others."""
    with np.errstate(over="ignore"):
        finite = np.isfinite(X.sum(dtype=float))
    if finite:
        return slice(None), np.empty(0, dtype=np.intp)
    missing = np.isnan(X).any(axis=1)
    return np.flatnonzero(~missing), np.flatnonzero(missing)


def patterns(X: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Patterns of observed entries, each with the rows that have it."""
    observed, rows = np.unique(~np.isnan(X), axis=0, return_inverse=True)
    rows = rows.ravel()
    order = np.argsort(rows, kind="stable")
    edges = np.searchsorted(rows[order], np.arange(len(observed) + 1))
    return [(o, order[edges[i] : edges[i + 1]]) for i, o in enumerate(observed)]


def observed_log_density(X: np.ndarray, normal: Normal) -> np.ndarray:
    """Log density of the observed entries of each row."""
    out = np.zeros(len(X))
    for o, rows in patterns(X):
        if o.any():
            L = np.linalg.cholesky(normal.C[np.ix_(o, o)])
            Z = np.linalg.solve(L, (X[np.ix_(rows, o)] - normal.mean[o]).T)
            log_det = 2 * np.log(np.diagonal(L)).sum() + o.sum() * np.log(2 * np.pi)
            out[rows] = -0.5 * ((Z * Z).sum(axis=0) + log_det)
    return out


def expected_moments(X: np.ndarray, w: np.ndarray, normal: Normal) -> tuple[np.ndarray, np.ndarray]:
    """Expectations E[x − μ | x_o] of each row, and the sum Σ w Cov[x | x_o]."""
    D, extra = np.zeros(X.shape), np.zeros(normal.C.shape)
    for o, rows in patterns(X):
        m, D_o = ~o, X[np.ix_(rows, o)] - normal.mean[o]
        cov = normal.C[np.ix_(m, m)]
        if o.any():
            G = np.linalg.solve(normal.C[np.ix_(o, o)], normal.C[np.ix_(o, m)]).T
            D[np.ix_(rows, o)] = D_o
            D[np.ix_(rows, m)] = np.dot(D_o, G.T)
            cov = cov - np.dot(G, normal.C[np.ix_(o, m)])
        extra[np.ix_(m, m)] += w[rows].sum() * cov
    return D, extra
