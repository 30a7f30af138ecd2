"""celer's logistic regression behind scikit-learn's parameters: L1 only, and no intercept."""

import celer


class LogisticRegression:
    def __init__(self, C=1.0, l1_ratio=0.0, fit_intercept=True, tol=1e-4):
        if l1_ratio != 1 or fit_intercept:
            raise ValueError("celer has L1 without an intercept only")
        self.model = celer.LogisticRegression(C=C, tol=tol, max_iter=1_000)

    def fit(self, X, y):
        self.model.fit(X, y)
        self.coef_, self.intercept_ = self.model.coef_, 0.0
        return self
