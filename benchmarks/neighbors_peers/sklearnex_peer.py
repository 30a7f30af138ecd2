from sklearnex.neighbors import NearestNeighbors


class Search:
    def __init__(self, k=10, algorithm="auto"):
        self.k, self.algorithm = k, algorithm

    def fit(self, X, Q):
        model = NearestNeighbors(n_neighbors=self.k, algorithm=self.algorithm, n_jobs=-1).fit(X)
        self.distances_, self.indices_ = model.kneighbors(Q)
        self._onedal_estimator = getattr(model, "_onedal_estimator", None)
        return self
