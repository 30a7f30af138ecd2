import fastcluster

from benchmarks.linkage_peers import only

OF_VECTORS = ("single", "centroid", "median", "ward")


class Linkage:
    """form: "linkage", on a matrix of distances, or "linkage_vector", without one."""

    def __init__(self, method, form="linkage"):
        self.method, self.form = method, form

    def fit(self, X, y):
        method = only(self.method, OF_VECTORS) if self.form == "linkage_vector" else self.method
        self.heights_ = getattr(fastcluster, self.form)(X, method)[:, 2]
        return self
