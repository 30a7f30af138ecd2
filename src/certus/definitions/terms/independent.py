"""Which columns the other columns do not make up."""

from typing import NamedTuple

import numpy as np


class Independent(NamedTuple):
    """The rule by which columns are left out where nothing penalises their coefficients.

    Column x = Σ_k c_k x_k + r of later columns is left out if ‖r‖ ≤ 4 eps ‖|x| + Σ_k |c_k| |x_k|‖:
    rounding the columns once could have made all of r. ``eps`` is that of the data's floats.
    """

    eps: float = 2.0**-52

    def columns(self, X, center):
        """Numbers of the columns that are kept, the last first, and r of the others (n, p).

        X + center are the columns as they were given.
        """
        size, kept, rest = np.abs(X + center), list[int](), 0 * X
        for j in reversed(range(X.shape[1])):
            c, r, unit = 0.0, X[:, j], np.linalg.norm(X[:, kept], axis=0)
            for _ in range(2):  # the second time for the digits that the first has lost
                c = c + np.linalg.lstsq(X[:, kept] / unit, r, rcond=None)[0] / unit
                r = X[:, j] - X[:, kept] @ c
            most = 4 * self.eps * np.linalg.norm(size[:, j] + size[:, kept] @ np.abs(c))
            rest[:, j] = r if np.linalg.norm(r) <= most else 0.0
            if np.linalg.norm(r) > most:
                kept.append(j)
        return kept, rest
