"""scikit-learn."""

import warnings

from sklearn.linear_model import LogisticRegression, SGDClassifier


class _Passes:
    def fit(self, X, y):
        model = self.model(X.shape[0])
        with warnings.catch_warnings(action="ignore"):  # it is not asked to arrive
            model.fit(X, y)
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        return self


class SGDLogistic(_Passes):
    def __init__(self, alpha, step, passes):
        self.settings = {"alpha": alpha, "eta0": step, "max_iter": passes}

    def model(self, n):
        return SGDClassifier(
            "log_loss", learning_rate="constant", tol=None, random_state=0, **self.settings
        )


class SAGALogistic(_Passes):
    def __init__(self, alpha, passes):
        self.alpha, self.passes = alpha, passes

    def model(self, n):
        return LogisticRegression(
            C=1 / (self.alpha * n), solver="saga", tol=0, max_iter=self.passes, random_state=0
        )
