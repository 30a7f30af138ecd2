import numpy as np

from certus.distances import Manhattan
from certus.neighbors import NearestNeighbors, choose_k


class Search:
    def __init__(self, k=10):
        self.k = k

    def fit(self, X, Q):
        model = NearestNeighbors(n_neighbors=self.k).fit(X)
        self.distances_, self.indices_ = model.kneighbors(Q)
        return self


class UserMetric:
    """metric(A, B) of blocks."""

    def __init__(self, k=10):
        self.k = k

    def fit(self, X, Q):
        model = NearestNeighbors(n_neighbors=self.k, metric=self.metric).fit(X)
        self.distances_, self.indices_ = model.kneighbors(Q)
        return self

    @staticmethod
    def metric(A, B):
        return np.sqrt(np.abs(A[:, None, :] - B[None, :, :])).sum(axis=2)


class WeightedManhattan:
    """Σ w²|Δ| of all pairs of rows of X; w are the first p of y."""

    def fit(self, X, y):
        self.matrix_ = Manhattan(w=y[: X.shape[1]]).pairwise(X)
        return self


class ChooseK:
    def __init__(self, ks=(), cv=5):
        self.ks, self.cv = ks, cv

    def fit(self, X, y):
        self.best_ = choose_k(X, y, ks=self.ks, method=self.cv).best
        return self
