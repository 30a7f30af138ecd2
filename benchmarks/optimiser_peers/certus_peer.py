"""certus."""

import warnings

from certus.linear_model import LogisticRegression
from certus.solvers import SAGA, SGD


class _Passes:
    def fit(self, X, y):
        C = 1 / (self.alpha * X.shape[0])
        model = LogisticRegression(C=C, tol=0, max_iter=self.passes, solver=self.solver)
        with warnings.catch_warnings(action="ignore"):  # it is not asked to arrive
            model.fit(X, y)
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        return self


class SGDLogistic(_Passes):
    def __init__(self, alpha, step, passes):
        self.alpha, self.passes = alpha, passes
        self.solver = SGD(step, schedule="constant")


class SAGALogistic(_Passes):
    def __init__(self, alpha, passes):
        self.alpha, self.passes, self.solver = alpha, passes, SAGA()
