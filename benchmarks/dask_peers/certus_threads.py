"""certus on the threads of one process, on the arrays."""

from benchmarks.dask_peers import start
from certus import cluster, linear_model


class Lloyd:
    def __init__(self, k, max_iter=20):
        self.k, self.max_iter = k, max_iter

    def fit(self, X, y):
        first = start(X, y, self.k)
        model = cluster.KMeans(
            len(first), init=first, n_init=1, max_iter=self.max_iter, tol=0, single_moves=False
        )
        self.centers_ = model.fit(X).cluster_centers_
        return self


class Logistic(linear_model.LogisticRegression):
    def __init__(self, C=1.0):
        super().__init__(C=C)


class Ridge(linear_model.Ridge):
    def __init__(self, alpha=1.0):
        super().__init__(alpha=alpha)
