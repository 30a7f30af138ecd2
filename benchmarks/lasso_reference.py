"""The lasso by an active set, in plain NumPy: what a path and a search for α should find.

    min  1/(2n) ‖y − Xw − b‖² + α‖w‖₁

On the columns A that are not 0, with their signs s, the optimum solves G_AA w_A = c_A − α s, with
G = XᵀX/n and c = Xᵀy/n of centred columns. It is optimal for all if |c − G w|_j ≤ α elsewhere.
"""

import numpy as np
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

SLACK = 1e-9  # of α: how far a column may pass it; the excess is of its square
AT_ONCE = 10  # columns that enter together
ROUNDS = 10_000  # a path of 50 α on 500 × 20,000 takes 300


def lasso_path(X, y, alphas, fit_intercept=True):
    """(W of one row per α, b); the α from the largest down, each begun at the one before."""
    center = X.mean(axis=0) if fit_intercept else np.zeros(X.shape[1])
    mean = y.mean() if fit_intercept else 0.0
    rank = min(X.shape[1], len(y) - fit_intercept)
    with threadpool_limits(1):  # small systems: on a busy machine two threads took 30 times as long
        active = ActiveSet(X - center, y - mean, rank)
        W = np.array([active.solve(alpha).copy() for alpha in alphas])
    return W, mean - W @ center


class ActiveSet:
    """w and, of the columns A that may be other than 0, their signs and G_AA."""

    def __init__(self, X, y, rank):
        n = len(y)
        if n > X.shape[1]:  # the triangle of X = QR has the same G, and Qᵀy the same c
            Q, X = np.linalg.qr(X)
            y = Q.T @ y
        self.X, self.y, self.n, self.rank = np.asfortranarray(X), y, n, rank
        self.c = X.T @ y / n
        self.w, self.sign = np.zeros(X.shape[1]), np.zeros(X.shape[1])
        self.A, self.G = np.empty(0, dtype=int), np.empty((0, 0))

    def solve(self, alpha):
        for _ in range(ROUNDS):
            self.solve_active(alpha)
            g = self.X.T @ (self.y - self.X[:, self.A] @ self.w[self.A]) / self.n
            excess = np.abs(g) - alpha
            excess[self.A] = 0.0
            room = max(1, min(AT_ONCE, self.rank - len(self.A)))
            worst = np.argsort(-excess)[:room]
            worst = worst[excess[worst] > SLACK * alpha]
            if not len(worst):
                return self.w
            self.enter(worst, np.sign(g[worst]))
        raise RuntimeError(f"no optimum after {ROUNDS} rounds")

    def solve_active(self, alpha):
        """Go to the optimum for these signs; a coefficient that reaches 0 on the way leaves."""
        while len(self.A):
            w, signs = self.w[self.A], self.sign[self.A]
            towards, limit = self.direction(alpha)
            t = np.full(len(w), np.inf)
            falling = towards * signs < 0
            t[falling] = np.abs(w[falling] / towards[falling])
            first = int(np.argmin(t))
            step = min(t[first], limit)
            self.w[self.A] = w + step * towards
            if step == limit:
                return
            self.leave(first)

    def direction(self, alpha):
        """(where to go, how far at most): the optimum for these signs at a step of 1."""
        signs = self.sign[self.A]
        if len(self.A) > self.rank:  # along X_A d = 0 the fit stays and ‖w‖₁ falls to a zero
            d = np.linalg.eigh(self.G)[1][:, 0]
            return -d * np.sign(signs @ d), np.inf
        target = np.linalg.solve(self.G, self.c[self.A] - alpha * signs)
        return target - self.w[self.A], 1.0

    def enter(self, columns, signs):
        self.sign[columns] = signs
        entering = self.X[:, columns]
        across = self.X[:, self.A].T @ entering / self.n
        self.G = np.block([[self.G, across], [across.T, entering.T @ entering / self.n]])
        self.A = np.append(self.A, columns)

    def leave(self, place):
        self.w[self.A[place]] = 0.0
        self.A = np.delete(self.A, place)
        self.G = np.delete(np.delete(self.G, place, axis=0), place, axis=1)


def cross_validated_errors(X, y, alphas, folds):
    """Mean over the folds of the mean squared error on the rows left out, per α."""
    errors = np.zeros(len(alphas))
    for train, test in KFold(folds).split(X):
        W, b = lasso_path(X[train], y[train], alphas)
        errors += np.mean((y[test, None] - X[test] @ W.T - b) ** 2, axis=0) / folds
    return errors
