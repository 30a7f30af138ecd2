import numpy as np

from certus._config import effective_threads
from certus.solvers.linkage import agglomerate


class Linkage:
    """number: of the matrix of distances, where there is one."""

    def __init__(self, method, number="float64"):
        self.method, self.number = method, number

    def fit(self, X, y):
        dtype = np.dtype(self.number)
        merges = agglomerate(X, self.method, dtype=dtype, threads=effective_threads())
        self.heights_ = merges[:, 2]
        return self
