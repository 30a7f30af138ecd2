import daal4py
from sklearnex.cluster import KMeans

from benchmarks.kmeans_peers import SEED, at_most, start, trials


class Lloyd:
    def __init__(self, k, max_iter=300, tol=0.0):
        self.k, self.max_iter, self.tol = k, max_iter, tol

    def fit(self, X, y):
        first = start(X, y, self.k)
        model = KMeans(len(first), init=first, n_init=1, max_iter=self.max_iter, tol=self.tol)
        return keep(self, model.fit(X))


class Default:
    def __init__(self, k):
        self.k = k

    def fit(self, X, y):
        return keep(self, KMeans(at_most(self.k, X), random_state=SEED).fit(X))


class Start:
    """A start by oneDAL itself, which has nothing to fall back to."""

    def __init__(self, k):
        self.k = k

    def fit(self, X, y):
        k = at_most(self.k, X)
        fptype = {"float64": "double", "float32": "float"}[X.dtype.name]
        self._onedal_estimator = daal4py.kmeans_init(k, fptype=fptype, **self.method(k))
        self.centers_ = self._onedal_estimator.compute(X).centroids
        return self


class PlusPlus(Start):
    def method(self, k):
        return {"method": "plusPlusDense", "nTrials": trials(k)}


class Parallel(Start):
    def method(self, k):
        return {"method": "parallelPlusDense", "oversamplingFactor": 0.5, "nRounds": 5}


def keep(self, model):
    self.centers_, self.n_iter_ = model.cluster_centers_, model.n_iter_
    self._onedal_estimator = getattr(model, "_onedal_estimator", None)
    return self
