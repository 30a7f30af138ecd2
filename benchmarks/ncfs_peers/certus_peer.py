import numpy as np

from certus.feature_selection import NCFSClassifier
from certus.solvers.ncfs import ClassGains, NCFSProblem


class Fit:
    """With validation, scaling (of columns that are scaled) and the certificate."""

    def __init__(self, sigma, lam, steps=None):
        self.sigma, self.lam = sigma, lam

    def fit(self, X, y):
        model = NCFSClassifier(self.lam, sigma=self.sigma).fit(X, y)
        self.weights_, self.n_iter_ = model.weights_, model.n_iter_
        return self


class Evaluations:
    def __init__(self, sigma, lam, count):
        self.sigma, self.lam, self.count = sigma, lam, count

    def fit(self, X, y):
        ones = np.ones(X.shape[1])
        problem = NCFSProblem(X, ClassGains(y, np.eye(2)), np.ones(len(X)), self.sigma, self.lam)
        for _ in range(self.count):
            value = problem.value_and_slope(ones)
        self.F_, self.slope_ = value.F, 2 * value.slope  # ∂F/∂w = 2w ∂F/∂W
        return self
