"""Tables over arrays, read as files are, to compare fits on streamed rows with those on arrays."""

from collections.abc import Sequence

import numpy as np

from certus.data.streamed import RowBlock, StreamedTable


class ArrayTable(StreamedTable):
    """A table over arrays that gives copies of their rows."""

    description = "arrays read as a table"

    def __init__(
        self,
        X: np.ndarray,
        y: np.ndarray | None = None,
        s: np.ndarray | None = None,
        classes: np.ndarray | None = None,
        names: Sequence[str] | None = None,
    ):
        y = None if y is None else np.asarray(y, dtype=float).reshape(len(X), -1)
        super().__init__(X.shape, X.dtype, 0 if y is None else y.shape[1], s is not None)
        self.arrays = RowBlock(X, y, None if s is None else np.asarray(s, dtype=float))
        self.classes, self.names = classes, None if names is None else tuple(names)

    def read(self, start: int, stop: int) -> RowBlock:
        X, y, s = self.arrays
        return RowBlock(
            np.ascontiguousarray(X[start:stop]),
            None if y is None else y[start:stop],
            None if s is None else s[start:stop],
        )
