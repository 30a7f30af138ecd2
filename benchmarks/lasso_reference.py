"""The lasso by an active set, in plain NumPy: what a path and a search for α should find.

    min  1/(2n) ‖y − Xw − b‖² + α‖w‖₁

On the columns A that are not 0, with their signs s, the optimum solves G_AA w_A = c_A − α s, with
G = XᵀX/n and c = Xᵀy/n of centred columns. It is optimal for all if |c − G w|_j ≤ α elsewhere.
"""

import numpy as np
from sklearn.model_selection import KFold

SLACK = 1e-9  # of α: how far a column may pass it; the excess is of its square
AT_ONCE = 10  # columns that enter together
ROUNDS = 10_000  # a path of 50 α on 500 × 20,000 takes 400


def lasso_path(X, y, alphas, fit_intercept=True):
    """(W of one row per α, b); the α from the largest down, each begun at the one before."""
    centre = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
    mean = y.mean() if fit_intercept else 0.0
    active = ActiveSet(X - centre, y - mean)
    W = np.array([active.solve(alpha).copy() for alpha in alphas])
    return W, mean - W @ centre


class ActiveSet:
    """w and, of the columns A that may be other than 0, their signs and their part of G."""

    def __init__(self, X, y):
        self.X, self.n = X, len(y)
        self.c = X.T @ y / self.n
        self.w, self.sign = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        self.A, self.G = np.empty(0, dtype=int), np.empty((X.shape[1], 0))

    def solve(self, alpha):
        for _ in range(ROUNDS):
            self.solve_active(alpha)
            g = self.c - self.G @ self.w[self.A]
            excess = np.abs(g) - alpha
            excess[self.A] = 0.0
            room = 1 if len(self.A) + AT_ONCE >= self.n else AT_ONCE
            worst = np.argsort(-excess)[:room]
            worst = worst[excess[worst] > SLACK * alpha]
            if not len(worst):
                return self.w
            self.enter(worst, np.sign(g[worst]))
        raise RuntimeError(f"no optimum after {ROUNDS} rounds")

    def solve_active(self, alpha):
        """Go to the optimum for these signs; a coefficient that reaches 0 on the way leaves."""
        while len(self.A):
            A = self.A
            target = np.linalg.solve(self.G[A], self.c[A] - alpha * self.sign[A])
            leaving = target * self.sign[A] <= 0
            if not leaving.any():
                self.w[A] = target
                return
            w, towards = self.w[A], target - self.w[A]
            t = np.where(leaving, np.abs(w) / np.maximum(np.abs(towards), 1e-300), np.inf)
            first = int(np.argmin(t))
            self.w[A] = w + t[first] * towards
            self.leave(first)

    def enter(self, columns, signs):
        self.sign[columns] = signs
        self.A = np.append(self.A, columns)
        self.G = np.hstack([self.G, self.X.T @ self.X[:, columns] / self.n])

    def leave(self, place):
        self.w[self.A[place]] = 0.0
        self.A, self.G = np.delete(self.A, place), np.delete(self.G, place, axis=1)


def cross_validated_errors(X, y, alphas, folds):
    """Mean over the folds of the mean squared error on the rows left out, per α."""
    errors = np.zeros(len(alphas))
    for train, test in KFold(folds).split(X):
        W, b = lasso_path(X[train], y[train], alphas)
        errors += np.mean((y[test, None] - X[test] @ W.T - b) ** 2, axis=0) / folds
    return errors
