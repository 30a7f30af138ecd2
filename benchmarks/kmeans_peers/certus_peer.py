import numpy as np

from benchmarks.kmeans_peers import SEED, at_most, start
from certus.cluster import KMeans
from certus.data.rows import Rows
from certus.solvers.kmeans import starts


class Lloyd:
    def __init__(self, k, max_iter=300, tol=0.0):
        self.k, self.max_iter, self.tol = k, max_iter, tol

    def fit(self, X, y):
        first = start(X, y, self.k)
        model = KMeans(
            len(first),
            init=first,
            n_init=1,
            max_iter=self.max_iter,
            tol=self.tol,
            single_moves=False,
        )
        return keep(self, model.fit(X))


class Default:
    def __init__(self, k):
        self.k = k

    def fit(self, X, y):
        return keep(self, KMeans(at_most(self.k, X), random_state=SEED).fit(X))


class PlusPlus:
    def __init__(self, k):
        self.k = k

    def fit(self, X, y):
        rng = np.random.RandomState(SEED)
        self.centers_, _ = starts.plus_plus(Rows(X), at_most(self.k, X), rng)
        return self


class Parallel:
    def __init__(self, k):
        self.k = k

    def fit(self, X, y):
        self.centers_ = starts.parallel(Rows(X), at_most(self.k, X), np.random.RandomState(SEED))
        return self


def keep(self, model):
    self.centers_, self.n_iter_ = model.cluster_centers_, model.n_iter_
    return self
