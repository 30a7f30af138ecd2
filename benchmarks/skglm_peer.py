"""skglm's sparse logistic regression behind scikit-learn's parameters.

(1/n) Σ log(1 + exp(−y_i z_i)) + α (l1 ‖w‖₁ + (1 − l1)/2 ‖w‖²),   α = 1/(nC)
"""

from skglm import SparseLogisticRegression


class LogisticRegression:
    def __init__(self, C=1.0, l1_ratio=0.0, fit_intercept=True, tol=1e-4):
        self.C = C
        self.settings = {"l1_ratio": l1_ratio, "fit_intercept": fit_intercept, "tol": tol}

    def fit(self, X, y):
        alpha = 1 / (len(y) * self.C)
        model = SparseLogisticRegression(alpha, max_iter=1_000, **self.settings).fit(X, y)
        self.coef_, self.intercept_, self.n_iter_ = model.coef_, model.intercept_, model.n_iter_
        return self
