"""celer behind scikit-learn's parameters; its logistic regression has L1 only, and no intercept.

Its lasso, elastic net and LassoCV minimise what scikit-learn's do.
"""

import celer
from sklearn import linear_model

ITERATIONS = 1_000  # max_iter: outer steps, each on a working set


class Lasso(celer.Lasso):
    def __init__(self, alpha=1.0, fit_intercept=True, tol=1e-4):
        super().__init__(alpha, fit_intercept=fit_intercept, tol=tol, max_iter=ITERATIONS)


class ElasticNet(celer.ElasticNet):
    def __init__(self, alpha=1.0, l1_ratio=0.5, tol=1e-4):
        super().__init__(alpha, l1_ratio=l1_ratio, tol=tol, max_iter=ITERATIONS)


class LassoCV(linear_model.LassoCV):
    """celer's is scikit-learn's with a path and a last fit of its own.

    The constructor of celer 0.7.4 passes on n_alphas, which scikit-learn 1.9 does not know.
    """

    path, _get_estimator = celer.LassoCV.path, celer.LassoCV._get_estimator
    max_epochs, p0, prune = 50_000, 10, True  # celer's defaults


class LassoPath:
    def __init__(self, alphas, tol=1e-4):
        self.alphas, self.tol = alphas, tol

    def fit(self, X, y):
        _, self.coefs_, _ = celer.celer_path(
            X, y, "lasso", alphas=self.alphas, tol=self.tol, max_iter=ITERATIONS
        )
        return self


class LogisticRegression:
    def __init__(self, C=1.0, l1_ratio=0.0, fit_intercept=True, tol=1e-4):
        if l1_ratio != 1 or fit_intercept:
            raise ValueError("celer has L1 without an intercept only")
        self.model = celer.LogisticRegression(C=C, tol=tol, max_iter=1_000)

    def fit(self, X, y):
        self.model.fit(X, y)
        self.coef_, self.intercept_ = self.model.coef_, 0.0
        return self
