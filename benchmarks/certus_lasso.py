"""certus's penalised regressions under the names of the suite lasso."""

from certus import linear_model


def __getattr__(name):
    """Lasso, ElasticNet, LassoCV: as they are."""
    return getattr(linear_model, name)


class LassoPath:
    def __init__(self, alphas, **settings):
        self.settings = {"alphas": alphas, **settings}

    def fit(self, X, y):
        _, self.coefs_, _ = linear_model.Lasso.path(X, y, **self.settings)
        return self


class MCPRegression:
    """½‖y − z‖² + Σ MCP(w_j; strength, gamma)."""

    def __init__(self, strength=1.0, gamma=3.0, **settings):
        from certus.losses import Squared
        from certus.penalties import MCP

        penalty = MCP(strength=strength, gamma=gamma)
        self.model = linear_model.PenalizedRegressor(Squared(), penalty, **settings)

    def fit(self, X, y):
        self.model.fit(X, y)
        self.coef_, self.intercept_ = self.model.coef_, self.model.intercept_
        self.n_iter_ = self.model.n_iter_
        return self
