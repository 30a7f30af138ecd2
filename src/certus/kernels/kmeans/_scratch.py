"""Work arrays in which one thread compares rows with centres (``assignment.py``)."""

import numpy as np

from certus.kernels.kmeans.assignment import BLAS, BY_ROWS, LANES, LOOP


class Scratch:
    """Work arrays of one thread: k centres (padded) of p columns (a multiple of eight) in t groups,
    and up to n rows at a time; ``method`` is LOOP, BLAS or BY_ROWS."""

    def __init__(self, n, k, p, t, method) -> None:
        self.rows = np.empty(n, dtype=np.intp)
        self.least = np.empty(n, dtype=np.float32)
        shape = {LOOP: (p, LANES), BLAS: (LANES, p), BY_ROWS: (0, 0)}[method]
        self.Z = np.zeros(shape, dtype=np.float32)
        self.z = np.zeros(2 * p if method != LOOP else 0, dtype=np.float32)
        self.T = np.zeros((0 if method == LOOP else k, LANES), dtype=np.float32)
        self.G1, self.G2 = (np.empty(t * LANES, dtype=np.float32) for _ in range(2))
        self.label = np.zeros(t * LANES, dtype=np.int32)
        self.best = np.empty(LANES, dtype=np.int32)
        self.sure, self.upper = (np.empty(LANES, dtype=np.float32) for _ in range(2))
        self.low = np.empty(2 * LANES, dtype=np.float32)
        self.lengths = np.empty(LANES)

    def fits(self, F, method) -> bool:
        """Whether the arrays have the shapes that the centres F need."""
        if method == BY_ROWS:
            return len(self.z) == 2 * F.shape[1] and len(self.T) == len(F)
        columns, lines = self.Z.shape[method == BLAS], 0 if method == LOOP else len(F)
        return columns == F.shape[1] and len(self.T) == lines

    @property
    def arrays(self):
        """The arrays, in the order in which the kernel takes them."""
        return (
            self.Z, self.z, self.T, self.G1, self.G2, self.label, self.best,
            self.sure, self.upper, self.low, self.lengths,
        )  # fmt: skip
