"""scikit-learn's lasso, elastic net and LassoCV, and its path as a class."""

from sklearn.linear_model import ElasticNet, Lasso, LassoCV, lasso_path

__all__ = ["ElasticNet", "Lasso", "LassoCV", "LassoPath"]


class LassoPath:
    def __init__(self, alphas, tol=1e-4, max_iter=1_000):
        self.settings = {"alphas": alphas, "tol": tol, "max_iter": max_iter}

    def fit(self, X, y):
        _, self.coefs_, _ = lasso_path(X, y, **self.settings)
        return self
