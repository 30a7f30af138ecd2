from certus.cluster import AgglomerativeClustering


class Linkage:
    """number: of the matrix of distances, where there is one."""

    def __init__(self, method, number=None):
        self.method, self.number = method, number

    def fit(self, X, y):
        # a threshold of 0 leaves every row alone: the time is that of the tree and its certificate
        model = AgglomerativeClustering(
            None, distance_threshold=0.0, linkage=self.method, dtype=self.number
        )
        self.heights_ = model.fit(X).distances_
        return self
