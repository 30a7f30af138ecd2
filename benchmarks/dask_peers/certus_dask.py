"""certus on Dask's workers."""

from benchmarks.dask_peers import client, persisted, start
from certus import cluster, linear_model


class Lloyd:
    def __init__(self, k, max_iter=20):
        self.k, self.max_iter = k, max_iter

    def fit(self, X, y):
        first, (dX, _) = start(X, y, self.k), persisted(X, y)
        with client().as_current():
            model = cluster.KMeans(
                len(first), init=first, n_init=1, max_iter=self.max_iter, tol=0, single_moves=False
            )
            model.fit(dX)
        self.centers_ = model.cluster_centers_
        return self


class Logistic:
    def __init__(self, C=1.0):
        self.C = C

    def fit(self, X, y):
        with client().as_current():
            model = linear_model.LogisticRegression(C=self.C).fit(*persisted(X, y))
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        return self


class Ridge:
    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y):
        with client().as_current():
            model = linear_model.Ridge(alpha=self.alpha).fit(*persisted(X, y))
        self.coef_, self.intercept_ = model.coef_, model.intercept_
        return self
