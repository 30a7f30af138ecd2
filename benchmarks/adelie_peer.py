"""adelie behind scikit-learn's parameters.

    1/(2n) ‖y − z‖² + λ Σ_j l1 |w_j| + (1 − l1)/2 w_j²

is the group elastic net with groups of one column: scikit-learn's objective, λ being its alpha. A
single fit is a path of one λ. Left to itself, adelie ends a path early, at 90 % of the variance.
"""

import adelie
import numpy as np
from scipy import sparse

from benchmarks.fresh_process import available_cpus


class LassoPath:
    """All λ of one call, without an intercept."""

    def __init__(self, alphas, tol=1e-7):
        self.alphas, self.tol = alphas, tol

    def fit(self, X, y):
        self.coefs_ = solve(X, y, self.alphas, self.tol, intercept=False).betas.toarray().T
        return self


class ElasticNet:
    def __init__(self, alpha=1.0, l1_ratio=0.5, fit_intercept=True, tol=1e-7):
        self.alpha, self.l1_ratio = alpha, l1_ratio
        self.fit_intercept, self.tol = fit_intercept, tol

    def fit(self, X, y):
        found = solve(X, y, [self.alpha], self.tol, self.fit_intercept, self.l1_ratio)
        self.coef_, self.intercept_ = found.betas.toarray()[0], found.intercepts[0]
        return self


class Lasso(ElasticNet):
    def __init__(self, alpha=1.0, fit_intercept=True, tol=1e-7):
        super().__init__(alpha, 1.0, fit_intercept, tol)


def solve(X, y, alphas, tol, intercept, l1_ratio=1.0):
    threads = len(available_cpus())
    if sparse.issparse(X):
        X = adelie.matrix.sparse(sparse.csc_matrix(X), n_threads=threads)
    return adelie.grpnet(
        X,
        adelie.glm.gaussian(y=y, dtype=np.float64),
        alpha=l1_ratio,
        lmda_path=np.asarray(alphas),
        tol=tol,
        intercept=intercept,
        early_exit=False,
        n_threads=threads,
        progress_bar=False,
    )
