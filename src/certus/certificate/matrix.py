"""The interface of dense arrays and sparse matrices that certificates rely on."""

from typing import Protocol

import numpy as np


class Sparse(Protocol):
    """Sparse rows, of SciPy or of ``data.csr``."""

    @property
    def shape(self) -> tuple[int, int]: ...

    @property
    def dtype(self) -> np.dtype: ...

    def __getitem__(self, rows: slice, /) -> "Sparse": ...

    def toarray(self) -> np.ndarray: ...


Matrix = np.ndarray | Sparse
