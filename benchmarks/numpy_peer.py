"""What a NumPy user would write, behind scikit-learn's interface.

Its module imports NumPy only, so its cold start is NumPy's.
"""

import numpy as np


class LinearRegression:
    """numpy.linalg.lstsq on [X 1]."""

    def fit(self, X, y):
        ones = np.ones((len(X), 1), dtype=X.dtype)
        solution = np.linalg.lstsq(np.hstack([X, ones]), y)[0]
        self.coef_, self.intercept_ = solution[:-1], solution[-1]
        return self


class FirthLogisticRegression:
    """Scoring steps with the modified score, halved until the penalised likelihood rises."""

    def fit(self, X, y):
        A = np.hstack([X, np.ones((len(X), 1))])
        theta = np.zeros(A.shape[1])
        F, step = self._evaluate(A, y, theta)
        for _ in range(200):
            if np.max(np.abs(step)) < 1e-8:
                break
            step *= min(1.0, 5.0 / np.max(np.abs(step)))
            for _ in range(40):
                new = self._evaluate(A, y, theta + step)
                if new[0] <= F:
                    break
                step = step / 2
            theta, (F, step) = theta + step, new
        self.coef_, self.intercept_ = theta[None, :-1], theta[-1:]
        return self

    @staticmethod
    def _evaluate(A, y, theta):
        z = A @ theta
        p = 1 / (1 + np.exp(-z))
        v = p * (1 - p)
        information = A.T @ (v[:, None] * A)
        inverse = np.linalg.inv(information)
        h = v * np.einsum("ij,ij->i", A @ inverse, A)
        loss = np.logaddexp(0, np.where(y == 1, -z, z)).sum()
        F = loss - np.linalg.slogdet(information)[1] / 2
        return F, inverse @ (A.T @ (y - p + h * (0.5 - p)))
