r"""Columns that repeat others: which coefficients a proof may hold fixed.

Along a direction d = e_j − Σ c_i e_i that is negligible (``negligible_directions``) column j adds
nothing to the others, and every model is, up to ‖Xd‖∞|w_j|, one with w_j = 0:

    |xᵀw − xᵀ(w − w_j d)| ≤ |w_j| max_i |x_iᵀd|

So column j is left out of gradient and curvature, and that difference counts as an error of the
scores. Where the columns left are independent, this is all that a proof needs.
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import View
from certus.proofs.linalg.negligible_directions import LeftOut, negligible_in_span
from certus.proofs.types import RowData

SAME_SPAN = 1e-4  # of the largest singular value: below, directions of several classes are the same


class Repeats(NamedTuple):
    columns: list[int]  # that repeat others
    shift: float  # of a score, at most, where their coefficients are given to the others
    left_out: list[LeftOut]


def repeated_columns(
    data: RowData,
    view: View,
    dark: np.ndarray | None,
    size: np.ndarray,
    constant: float | None,
    w: np.ndarray,
) -> Repeats | None:
    """The columns that explain the directions ``dark`` (K, P, m) without curvature, of the columns
    as viewed and of norm ``size`` (p,); None where these are not negligible. w (p, K) is in the
    user's units."""
    p = len(w)
    if constant not in (None, 1.0) or dark is None:
        return None
    size = np.where(size > 0, size, 1.0)
    if constant is not None:
        size = np.append(size, np.sqrt(data.shape[0]))
    # of several classes the same directions, in other bases
    N = np.concatenate(list(dark * size[:, None]), axis=1)
    U, sigma, _ = np.linalg.svd(N, full_matrices=False)
    D = U[:, sigma > SAME_SPAN * sigma[0]] / size[:, None]
    if view.q is not None:
        D[:p] *= view.q[:, None]
        size[:p] /= view.q
    if constant is not None and view.c is not None:
        D[p] -= view.c @ D[:p]
    found = negligible_in_span(data, D, size, constant)
    columns = [one.pivot for one in found]
    if len(found) < D.shape[1] or p in columns:
        return None
    largest = np.array([one.largest for one in found])
    return Repeats(columns, float((largest @ np.abs(w[columns])).max(initial=0.0)), found)
