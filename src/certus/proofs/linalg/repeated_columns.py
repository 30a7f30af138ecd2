r"""Repeated columns, whose coefficients a proof may fix.

Along a negligible direction d = e_j − Σ c_i e_i (``negligible_directions``) column j adds nothing
to the others, and every model is, up to ‖Xd‖∞|w_j|, one with w_j = 0:

    |xᵀw − xᵀ(w − w_j d)| ≤ |w_j| max_i |x_iᵀd|

So column j is left out of gradient and curvature, and the difference counts as an error of the
scores. If the remaining columns are independent, this is all that a proof needs.
"""

from typing import NamedTuple

import numpy as np

from certus.proofs.linalg.linear_sums import View
from certus.proofs.linalg.negligible_directions import LeftOutDirection, negligible_in_span
from certus.proofs.types import RowData

MIN_SPAN_SINGULAR_SHARE = (
    1e-4  # of the largest singular value: below, directions of classes coincide
)


class RepeatedColumns(NamedTuple):
    columns: list[int]
    shift: float  # bound of the change of a score if their coefficients become 0
    left_out: list[LeftOutDirection]


def repeated_columns(
    data: RowData,
    view: View,
    flat_directions: np.ndarray | None,
    size: np.ndarray,
    constant: float | None,
    w: np.ndarray,
) -> RepeatedColumns | None:
    """Columns that explain the directions without curvature, ``flat_directions`` (K, P, m), of the
    viewed columns of norm ``size`` (p,); None if these directions are not negligible. w (p, K) is
    in the user's units."""
    p = len(w)
    if constant not in (None, 1.0) or flat_directions is None:
        return None
    size = np.where(size > 0, size, 1.0)
    if constant is not None:
        size = np.append(size, np.sqrt(data.shape[0]))
    # several classes have the same directions, in different bases
    N = np.concatenate(list(flat_directions * size[:, None]), axis=1)
    U, sigma, _ = np.linalg.svd(N, full_matrices=False)
    D = U[:, sigma > MIN_SPAN_SINGULAR_SHARE * sigma[0]] / size[:, None]
    if view.q is not None:
        D[:p] *= view.q[:, None]
        size[:p] /= view.q
    if constant is not None and view.c is not None:
        D[p] -= view.c @ D[:p]
    left_out = negligible_in_span(data, D, size, constant)
    columns = [direction.pivot for direction in left_out]
    if len(left_out) < D.shape[1] or p in columns:
        return None
    largest = np.array([direction.largest for direction in left_out])
    return RepeatedColumns(
        columns, float((largest @ np.abs(w[columns])).max(initial=0.0)), left_out
    )
