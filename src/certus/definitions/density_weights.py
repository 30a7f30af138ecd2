r"""Density weights of rows: whether the stated values follow from the rows.

    d_i = 1 − r_i / max_j r_j        r_i = the distance of row i to its k-th nearest other row

Distances are Euclidean. 0 ≤ d ≤ 1, and the row with the largest r has d = 0. Where all r are equal,
d = 1. By class, the other rows and the maximum are those of the row's class. Every row counts once,
whatever its weight.

The claim is exact: the miss is the largest difference from the stated weights. Memory: as much as
X.
"""

from math import fsum

import numpy as np

from certus.definitions.terms.claim import Claim
from certus.definitions.terms.density_weights import DensityWeights


def check(X, y, s, *, d, k, by_class=False, tol=1e-6):
    """Check d (n,) on X (n, p); y (n,) are the classes, or None."""
    true = DensityWeights(k, by_class)(X, y)
    return Claim("exact", fsum(true), float(np.abs(d - true).max()), 1.0, tol)
