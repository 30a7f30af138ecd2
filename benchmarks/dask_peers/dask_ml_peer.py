"""dask-ml on the same workers and chunks; its logistic regression penalises the intercept too."""

import warnings

from benchmarks.dask_peers import client, persisted, start


class Lloyd:
    def __init__(self, k, max_iter=20):
        self.k, self.max_iter = k, max_iter

    def fit(self, X, y):
        from dask_ml.cluster import KMeans

        first, (dX, _) = start(X, y, self.k), persisted(X, y)
        with client().as_current(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = KMeans(len(first), init=first, max_iter=self.max_iter, tol=0).fit(dX)
        self.centers_ = model.cluster_centers_
        return self


class Logistic:
    def __init__(self, C=1.0, solver="lbfgs", tol=1e-4):
        self.C, self.solver, self.tol = C, solver, tol

    def fit(self, X, y):
        from dask_ml.linear_model import LogisticRegression

        with client().as_current(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = LogisticRegression(C=self.C, solver=self.solver, tol=self.tol)
            model.fit(*persisted(X, y))
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        return self
