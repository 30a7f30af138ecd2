"""Distances between boolean rows, from the counts of agreeing and differing features.

    tt = Σ w·1[a and b],  tf = Σ w·1[a and not b],  ft, ff alike;   d = formula(tt, tf, ft, ff)

Products of matrices count them for all pairs; without weights one product is enough.
"""

from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning

from ..runtime.user_frame import warn_user
from . import blocks
from .reading import two_sides
from .shares import _Share


class Boolean(_Share):
    """A distance between boolean rows, by scikit-learn's name.

    =============== =====================================
    dice            (tf + ft) / (2tt + tf + ft)
    jaccard         (tf + ft) / (tt + tf + ft)
    rogerstanimoto  2(tf + ft) / (tt + ff + 2(tf + ft))
    russellrao      (tf + ft + ff) / (tt + tf + ft + ff)
    sokalsneath     2(tf + ft) / (tt + 2(tf + ft))
    yule            2·tf·ft / (tt·ff + tf·ft)
    =============== =====================================

    tt counts the features that are true in both rows, tf those true in a alone, and so on; 0/0 is
    0. Nonzero values are true; numbers other than 0 and 1 cause a warning.

    Parameters
    ----------
    name : str
        One of the above; "sokalmichener" is "rogerstanimoto".
    w : array-like of shape (n_features,), optional
        Feature weights in the counts. None: all 1.

    Examples
    --------
    >>> import numpy as np
    >>> from certus.distances import Boolean
    >>> a, b = np.array([[True, True, False]]), np.array([[True, False, False]])
    >>> Boolean("jaccard").pairwise(a, b)
    array([[0.5]])
    """

    def __init__(self, name: str = "jaccard", w: object = None):
        if name not in FORMULAS:
            raise ValueError(f"name={name!r}: give one of {', '.join(map(repr, FORMULAS))}")
        super().__init__(w)
        self.name = name

    def _given(self) -> dict[str, Any]:
        return {"w": self.w}

    def __repr__(self) -> str:
        given = super().__repr__().removeprefix("Boolean(").removesuffix(")")
        return f"Boolean({', '.join([repr(self.name), *([given] if given else [])])})"

    def pairwise(
        self, A: np.ndarray, B: np.ndarray | None = None, *, threads: int | None = None
    ) -> np.ndarray:
        rows, others = two_sides(A, B)
        if not (_is_boolean(rows) and (rows is others or _is_boolean(others))):
            message = f"Data was converted to boolean for metric {self.name}"
            warn_user(message, DataConversionWarning)
        return self.compare(rows, others, threads)

    def compare(self, A: np.ndarray, B: np.ndarray, threads: int | None = None) -> np.ndarray:
        w = self._weights(A.shape[1])
        a, b = (A != 0).astype(float), (B != 0).astype(float)

        def count_pairs(x: np.ndarray, z: np.ndarray) -> np.ndarray:
            return blocks.sums_of_pairs(blocks.PRODUCT, x * w, z, threads=threads)

        tt = count_pairs(a, b)
        if self.w is None:  # counts are exact, so the other three follow
            tf, ft = a.sum(axis=1)[:, None] - tt, b.sum(axis=1)[None, :] - tt
            return self._from(tt, tf, ft, len(w) - tt - tf - ft)
        return self._from(
            tt, count_pairs(a, 1 - b), count_pairs(1 - a, b), count_pairs(1 - a, 1 - b)
        )

    def _paired(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        w = self._weights(A.shape[1])
        a, b = A != 0, B != 0
        return self._from(*((w * x).sum(axis=1) for x in (a & b, a & ~b, ~a & b, ~a & ~b)))

    def _from(self, tt: object, tf: object, ft: object, ff: object) -> np.ndarray:
        above, below = FORMULAS[self.name](tt, tf, ft, ff)
        return np.divide(above, below, out=np.zeros_like(above), where=(above > 0) & (below > 0))


def _is_boolean(X: np.ndarray) -> bool:
    return bool(((X == 0) | (X == 1)).all())


# tf + ft in parentheses: the same bits for (a, b) and (b, a)
FORMULAS = {
    "dice": lambda tt, tf, ft, ff: (tf + ft, 2 * tt + (tf + ft)),
    "jaccard": lambda tt, tf, ft, ff: (tf + ft, tt + (tf + ft)),
    "rogerstanimoto": lambda tt, tf, ft, ff: (2 * (tf + ft), tt + ff + 2 * (tf + ft)),
    "russellrao": lambda tt, tf, ft, ff: (tf + ft + ff, tt + (tf + ft + ff)),
    "sokalsneath": lambda tt, tf, ft, ff: (2 * (tf + ft), tt + 2 * (tf + ft)),
    "yule": lambda tt, tf, ft, ff: (2 * tf * ft, tt * ff + tf * ft),
}
