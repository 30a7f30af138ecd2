import faiss
import numpy as np

from benchmarks.kmeans_peers import start


class Lloyd:
    """Stops by itself where the objective does not fall; tol is for the others."""

    def __init__(self, k, max_iter=300, tol=0.0):
        self.k, self.max_iter = k, max_iter

    def fit(self, X, y):
        X = np.ascontiguousarray(X, dtype=np.float32)
        first = start(X, y, self.k)
        # by default it takes a sample of 256 rows for each centre
        of_a_center = {"max_points_per_centroid": len(X), "min_points_per_centroid": 1}
        model = faiss.Kmeans(X.shape[1], len(first), niter=self.max_iter, **of_a_center)
        model.train(X, init_centroids=first)
        self.centers_, self.n_iter_ = model.centroids, len(model.obj)
        return self
