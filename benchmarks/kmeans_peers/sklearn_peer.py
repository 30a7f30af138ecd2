from sklearn.cluster import KMeans, kmeans_plusplus

from benchmarks.kmeans_peers import SEED, at_most, start


class Lloyd:
    """algorithm: "lloyd" or "elkan", which walk the same way."""

    def __init__(self, k, max_iter=300, tol=0.0, algorithm="lloyd"):
        self.k, self.max_iter, self.tol, self.algorithm = k, max_iter, tol, algorithm

    def fit(self, X, y):
        first = start(X, y, self.k)
        model = KMeans(
            len(first), init=first, n_init=1, max_iter=self.max_iter, tol=self.tol,
            algorithm=self.algorithm,
        ).fit(X)  # fmt: skip
        self.centers_, self.n_iter_ = model.cluster_centers_, model.n_iter_
        return self


class Default:
    def __init__(self, k, algorithm="lloyd"):
        self.k, self.algorithm = k, algorithm

    def fit(self, X, y):
        model = KMeans(at_most(self.k, X), algorithm=self.algorithm, random_state=SEED).fit(X)
        self.centers_, self.n_iter_ = model.cluster_centers_, model.n_iter_
        return self


class PlusPlus:
    def __init__(self, k, algorithm="lloyd"):
        self.k = k

    def fit(self, X, y):
        self.centers_, _ = kmeans_plusplus(X, at_most(self.k, X), random_state=SEED)
        return self
