"""Where one thread compares rows with centres (``assignment.py``)."""

import numpy as np

from certus.kernels.kmeans.assignment import BLAS, BY_ROWS, LANES, LOOP


class Scratch:
    """Tiles that one thread works in: k centres (filled up) of p columns (a multiple of eight) in t
    groups, up to n rows at a time, compared as ``how`` says."""

    def __init__(self, n, k, p, t, how) -> None:
        self.rows = np.empty(n, dtype=np.intp)
        self.least = np.empty(n, dtype=np.float32)
        shape = {LOOP: (p, LANES), BLAS: (LANES, p), BY_ROWS: (0, 0)}[how]
        self.Z = np.zeros(shape, dtype=np.float32)
        self.z = np.zeros(2 * p if how != LOOP else 0, dtype=np.float32)
        self.T = np.zeros((0 if how == LOOP else k, LANES), dtype=np.float32)
        self.G1, self.G2 = (np.empty(t * LANES, dtype=np.float32) for _ in range(2))
        self.label = np.zeros(t * LANES, dtype=np.int32)
        self.best = np.empty(LANES, dtype=np.int32)
        self.sure, self.upper = (np.empty(LANES, dtype=np.float32) for _ in range(2))
        self.low = np.empty(2 * LANES, dtype=np.float32)
        self.lengths = np.empty(LANES)

    def fits(self, F, how) -> bool:
        if how == BY_ROWS:
            return len(self.z) == 2 * F.shape[1] and len(self.T) == len(F)
        columns, lines = self.Z.shape[how == BLAS], 0 if how == LOOP else len(F)
        return columns == F.shape[1] and len(self.T) == lines

    @property
    def arrays(self):
        return (
            self.Z, self.z, self.T, self.G1, self.G2, self.label, self.best,
            self.sure, self.upper, self.low, self.lengths,
        )  # fmt: skip
