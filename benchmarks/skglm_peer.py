"""skglm behind scikit-learn's parameters.

logistic    (1/n) Σ log(1 + exp(−y_i z_i)) + α (l1 ‖w‖₁ + (1 − l1)/2 ‖w‖²),   α = 1/(nC)
MCP         1/(2n) ‖y − z‖² + Σ_j α|w_j| − w_j²/(2γ)   (γα²/2 beyond γα)

The lasso and the elastic net are scikit-learn's.
"""

import skglm

ITERATIONS = 1_000  # max_iter: outer steps, each on a working set


class Lasso(skglm.Lasso):
    def __init__(self, alpha=1.0, fit_intercept=True, tol=1e-4):
        super().__init__(alpha, fit_intercept=fit_intercept, tol=tol, max_iter=ITERATIONS)


class ElasticNet(skglm.ElasticNet):
    def __init__(self, alpha=1.0, l1_ratio=0.5, tol=1e-4):
        super().__init__(alpha, l1_ratio, tol=tol, max_iter=ITERATIONS)


class LassoPath:
    def __init__(self, alphas, tol=1e-4):
        self.alphas = alphas
        self.model = skglm.Lasso(tol=tol, fit_intercept=False, max_iter=ITERATIONS)

    def fit(self, X, y):
        self.coefs_ = self.model.path(X, y, self.alphas)[1]
        return self


class MCPRegression:
    """½‖y − z‖² + Σ MCP(w_j; strength, gamma) is n times skglm's at α = strength/n, γ = n gamma."""

    def __init__(self, strength=1.0, gamma=3.0, tol=1e-4):
        self.strength, self.gamma, self.tol = strength, gamma, tol

    def fit(self, X, y):
        n = len(y)
        model = skglm.MCPRegression(
            self.strength / n, self.gamma * n, tol=self.tol, max_iter=ITERATIONS
        ).fit(X, y)
        self.coef_, self.intercept_, self.n_iter_ = model.coef_, model.intercept_, model.n_iter_
        return self


class LogisticRegression:
    def __init__(self, C=1.0, l1_ratio=0.0, fit_intercept=True, tol=1e-4):
        self.C = C
        self.settings = {"l1_ratio": l1_ratio, "fit_intercept": fit_intercept, "tol": tol}

    def fit(self, X, y):
        alpha = 1 / (len(y) * self.C)
        model = skglm.SparseLogisticRegression(alpha, max_iter=ITERATIONS, **self.settings)
        model.fit(X, y)
        self.coef_, self.intercept_, self.n_iter_ = model.coef_, model.intercept_, model.n_iter_
        return self
