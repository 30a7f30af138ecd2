"""Least squares with HC3 standard errors and p-values: the fit and its inference together.

    F = 1 + max_j |se_j/se*_j − 1|,   se*² = diag(A⁻¹Φᵀ diag(e_i²/(1 − h_i)²) ΦA⁻¹),  A = ΦᵀΦ

with Φ = [1 X] and se* by plain NumPy (A⁻¹Φᵀ = R⁻¹Qᵀ, h_i = ‖q_i‖², for Φ = QR): an excess is the
relative error of a standard error.
"""

import numpy as np

from benchmarks import libraries
from benchmarks.generators import gaussian
from benchmarks.harness import Row, Suite


def hc3_standard_errors(X, y):
    Q, R = np.linalg.qr(np.column_stack([np.ones(len(X)), X]))
    e = y - Q @ (Q.T @ y)
    e /= 1 - np.einsum("ij,ij->i", Q, Q)
    Q *= e[:, None]
    root = np.linalg.solve(R, np.linalg.qr(Q, mode="r").T)
    return np.sqrt(np.sum(root**2, axis=1))


def standard_error_objective(row, X, y):
    true = hc3_standard_errors(X.astype(np.float64), y.astype(np.float64))
    return lambda model: 1 + np.max(np.abs(model.standard_errors_ / true - 1))


def hc3(name, n, p, **settings):
    return Row(name, "HC3Inference", n, p, standard_error_objective, gaussian, **settings)


SUITE = Suite(
    name="inference",
    contestants=(libraries.certus_inference(), libraries.statsmodels()),
    rows=(
        hc3("HC3 inference", n=1_000_000, p=32, excess_limit=1e-8),
        hc3("HC3 inference 1 thread", n=1_000_000, p=32, excess_limit=1e-8, threads=1),
        hc3("HC3 inference tiny", n=100, p=5, excess_limit=1e-8, repeats=200),
    ),
)
